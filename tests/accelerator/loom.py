#!/usr/bin/env python3
"""The invented accelerator's compiler and its simulator: its language becomes OpenCL C by way of #defines.

usage: loom.py compile SOURCE OUTPUT ARCH
       loom.py run          runs requests from standard input, on an OpenCL driver for processors through `heddle serve-run`
SPDX-License-Identifier: MIT
"""
import json
import os
import re
import subprocess
import sys

SCALARS = {"i1": "char", "i2": "short", "i4": "int", "i8": "long", "u1": "uchar", "u2": "ushort", "u4": "uint", "u8": "ulong",
           "r4": "float", "r8": "double", "h2": "ushort", "b2": "ushort"}
UNSIGNED = {"i1": "u1", "i2": "u2", "i4": "u4", "i8": "u8"}
FUNCTIONS = {1: "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 "
                "log1p log2 logb rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc".split(),
             2: "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split(), 3: ["fma"]}

WORDS = """#pragma OPENCL FP_CONTRACT ON
#define kern __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
#define far __global
#define fixed const
#define scratch(n) __local __attribute__((aligned(n)))
#define repeat for
#define given if
#define otherwise else
#define unrolled _Pragma("unroll")
#define pick(c, a, b) ((c) ? (a) : (b))
#define vpick(c, a, b) ((c) ? (a) : (b))
#define yes_ true
#define no_ false
#define flag bool
#define inline static inline
#define lane(v, i) ((v)[i])
#define tile_id() ((int)get_group_id(0))
#define worker_id() ((int)get_local_id(0))
#define shared_barrier() ((void)0) // a tile has one worker
#define far_moved(p, n, t) ((__global t *)((__global uchar *)(p) + (n)))
typedef struct { __local uchar *to[64]; __global const uchar *from[64]; uint bytes[64]; int n; } channel;
#define infinite_r4 INFINITY
#define infinite_r8 ((double)INFINITY)
#define no_r4 NAN
#define no_r8 ((double)NAN)
#define least(a, b) ((a) < (b) ? (a) : (b))
#define most(a, b) ((a) > (b) ? (a) : (b))
#define least_or_no(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define most_or_no(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
channel dma_open(void) { channel c; c.n = 0; return c; }
void dma_drain(channel *c)
{
	for (int i = 0; i < c->n; i++)
		for (uint k = 0; k < c->bytes[i]; k++)
			c->to[i][k] = c->from[i][k];
	c->n = 0;
}
// Nothing is there before it is waited for, or before the channel is full.
void dma_start_(channel *c, __local void *to, __global const void *from, uint bytes)
{
	if (c->n == 64)
		dma_drain(c);
	c->to[c->n] = to;
	c->from[c->n] = from;
	c->bytes[c->n++] = bytes;
}
#define dma_start(c, to, from, n, t) dma_start_(&(c), to, from, (uint)(n) * (uint)sizeof(t))
#define dma_finish(c) dma_drain(&(c))
float h2_open(ushort h) { return vload_half(0, (const half *)&h); }
ushort h2_shut(float f) { ushort h; vstore_half_rte(f, 0, (half *)&h); return h; }
ushort h2_shut_r8(double f) { ushort h; vstore_half_rte(f, 0, (half *)&h); return h; }
float b2_open(ushort h) { return as_float((uint)h << 16); }
ushort b2_shut(float f)
{
	const uint bits = as_uint(f);
	return f != f ? (ushort)(bits >> 16 | 0x40u) : (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
"""


def loads(name, stem, width):
    """What can be done with one vector type of the language."""
    scalar = SCALARS[stem]
    lines = [f"typedef {scalar} {name} __attribute__((ext_vector_type({width})));",
             f"typedef {scalar} {name}_near __attribute__((ext_vector_type({width}), aligned({size(stem)})));",
             f"#define {name}_of(...) (({name})(__VA_ARGS__))",
             f"#define {name}_all(x) (({name})(x))",
             f"#define {name}_from(x) __builtin_convertvector(x, {name})"]
    for space in "__global", "__local", "__private":
        lines += [f"{name} __attribute__((overloadable)) take_{name}(const {space} {scalar} *p)",
                  f"{{ return *(const {space} {name}_near *)p; }}",
                  f"void __attribute__((overloadable)) give_{name}({space} {scalar} *p, {name} v)",
                  f"{{ *({space} {name}_near *)p = v; }}"]
    for what, step in ("sum", "r + v[i]"), ("product", "r * v[i]"), ("least", "least_or_no(r, v[i])"), ("most", "most_or_no(r, v[i])"):
        lines.append(f"{scalar} across_{name}_{what}({name} v) {{ {scalar} r = v[0]; for (int i = 1; i < {width}; i++) r = {step}; return r; }}")
    return lines


def size(stem):
    return int(stem[1])


def translate(source):
    """The source with what makes it OpenCL C in front of it; lines keep their numbers."""
    out = [WORDS]
    for name, scalar in SCALARS.items():
        out.append(f"#define {name} {scalar}\n#define to_{name}(x) (({scalar})(x))")
    for t, u in UNSIGNED.items():
        # Rounded toward zero; the least integer by -1 wraps around; by 0 it is 0, and a is the rest.
        out += [f"{SCALARS[t]} cut_{t}({SCALARS[t]} a, {SCALARS[t]} b) "
                f"{{ return b == 0 ? 0 : b == -1 ? ({SCALARS[t]})(0u - ({SCALARS[u]})a) : a / b; }}",
                f"{SCALARS[t]} rest_{t}({SCALARS[t]} a, {SCALARS[t]} b) {{ return b == 0 ? a : b == -1 ? 0 : a % b; }}"]
    for u in UNSIGNED.values():
        out += [f"{SCALARS[u]} cut_{u}({SCALARS[u]} a, {SCALARS[u]} b) {{ return b == 0 ? 0 : a / b; }}",
                f"{SCALARS[u]} rest_{u}({SCALARS[u]} a, {SCALARS[u]} b) {{ return b == 0 ? a : a % b; }}", f"#define floor_cut_{u}(a, b) ((a) / (b))",
                f"#define floor_rest_{u}(a, b) ((a) % (b))"]
    out += [f"#define f_{name} {name}" for names in FUNCTIONS.values() for name in names]
    for stem, width in sorted(set(re.findall(r"(?<![a-z0-9])(?:take_|give_|across_)?([iur][1248])v(\d+)", source))):
        out += loads(f"{stem}v{width}", stem, int(width))
    near = sorted(set(re.findall(r"\bwhole_(r[48])(?:v\d+)?_([iu]\d)((?:v\d+)?)\(", source)))
    for real, whole in sorted({(real, whole) for real, whole, _ in near}):
        t = SCALARS[whole]
        out.append(f"{t} near_{real}_{whole}({SCALARS[real]} x) {{ return x == x ? convert_{t}_sat(x) : ({t})0; }}")
    for real, whole, width in near:
        f, t = SCALARS[real], SCALARS[whole]
        one = f"near_{real}_{whole}"
        if not width:
            out.append(f"#define whole_{real}_{whole}(x) {one}(x)")
            continue
        out.append(f"typedef {f} y_{real}{width} __attribute__((ext_vector_type({width[1:]})));\n"
                   f"typedef {t} y_{whole}{width} __attribute__((ext_vector_type({width[1:]})));\n"
                   f"y_{whole}{width} whole_{real}{width}_{whole}{width}(y_{real}{width} x)\n"
                   f"{{ y_{whole}{width} r; for (int i = 0; i < {width[1:]}; i++) r[i] = {one}(x[i]); return r; }}")
    for call, width in sorted(set(re.findall(r"\b([hb]2_(?:open|shut|shut_r8))_x(\d+)\(", source))):
        w = int(width)
        source_stem, result = ("u2", "r4") if call.endswith("open") else ("r8" if call.endswith("r8") else "r4", "u2")
        for stem in source_stem, result:
            out.append(f"typedef {SCALARS[stem]} x_{stem}_{w} __attribute__((ext_vector_type({w})));")
        out.append(f"x_{result}_{w} {call}_x{w}(x_{source_stem}_{w} v) {{ x_{result}_{w} r; for (int i = 0; i < {w}; i++) r[i] = {call}(v[i]); return r; }}")
    for function, width in sorted(set(re.findall(r"\bf_(\w+?)_x(\d+)\(", source))):
        arity = next(n for n, names in FUNCTIONS.items() if function in names)
        for stem in "r4", "r8":
            vector = f"x_{stem}_{width}"
            out += [f"typedef {SCALARS[stem]} {vector} __attribute__((ext_vector_type({width})));",
                    f"{vector} __attribute__((overloadable)) f_{function}_x{width}({', '.join(f'{vector} {v}' for v in 'abc'[:arity])})",
                    f"{{ {vector} r; for (int i = 0; i < {width}; i++) r[i] = {function}({', '.join(f'{v}[i]' for v in 'abc'[:arity])}); return r; }}"]
    return "\n".join(out) + '\n#line 1 "kernel.weave"\n' + source


def run():
    worker = subprocess.Popen([os.environ.get("HEDDLE", "heddle"), "serve-run", "--level", "opencl-cpu:pocl"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "hello":
            print(json.dumps({"heddle": 1, "name": "the loom's simulator"}), flush=True)
            continue
        if asked["manifest"]["backend"] != "weave":
            print(json.dumps({"heddle": 1, "request": asked["request"], "verdict": "unsupported", "message": "this is no weave"}), flush=True)
            continue
        asked["source"] = translate(asked["source"])
        asked["manifest"].update(backend="opencl", arch="", options={"opencl": "-cl-std=CL1.2 -w"})
        worker.stdin.write(json.dumps(asked) + "\n")
        worker.stdin.flush()
        print(worker.stdout.readline(), end="", flush=True)


def compile_only(source, output, arch):
    text = open(source).read()
    foreign = re.findall(r"\b(?:__kernel|__global|__local|kernel|get_group_id|get_local_id|barrier|vload\d+|float|uint|ulong|uchar)\b",
                         re.sub(r"//.*", "", text))
    if foreign or arch != "l64":
        print(f"{source}:1:1: error: {foreign[0] if foreign else arch} is no word of weave")
        return 1
    with open(output, "w") as out:
        out.write(translate(text))
    for kernel in re.findall(r"^kern (\w+)\(", text, re.M):
        print(f"heddle: kernel={kernel} registers=64 spill_bytes=0 stack_bytes=0 shared_bytes=0")
    return 0


if __name__ == "__main__":
    sys.exit(compile_only(*sys.argv[2:5]) if sys.argv[1] == "compile" else run())
