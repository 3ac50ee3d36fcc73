# heddle test --impl without a definition: memory checks, expected files, an oracle, required levels, reports.
# SPDX-License-Identifier: MIT
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

HEDDLE = os.path.abspath(sys.argv.pop(1))
ROOT = Path(__file__).resolve().parents[2]

SOURCE = r"""__global__ void scale(const float *x, const int *which, float *y, int n, int m, float a)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[which[i]];
}
"""
MANIFEST = {
    "schema": "heddle.manifest/1", "backend": "cuda", "arch": "h100", "source": "scale.cu", "warp": 32,
    "sizes": {"n": {"min": 1}, "m": {"min": 1}},
    "arguments": [
        {"name": "x", "role": "input", "type": "float32", "shape": ["m"]},
        {"name": "which", "role": "input", "type": "int32", "shape": ["n"], "range": [0, "m-1"]},
        {"name": "y", "role": "output", "type": "float32", "shape": ["n"]},
        {"name": "a", "role": "scalar", "type": "float32", "value": 2.5}],
    "launches": [{"kernel": "scale", "grid": ["(n+31)/32"], "block": [32],
                  "arguments": ["x", "which", "y", {"size": "n", "type": "int32"}, {"size": "m", "type": "int32"}, "a"]}]}
# Reads and writes NumPy's format by itself: there may be no NumPy.
ORACLE = r'''
import json, re, struct, sys
from pathlib import Path
def load(path, code):
    data = path.read_bytes()
    n = struct.unpack("<H", data[8:10])[0]
    body = data[10 + n:]
    return struct.unpack("<%d%s" % (len(body) // 4, code), body)
def save(path, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))
folder = Path(sys.argv[-1])
case = json.loads((folder / "case.json").read_text())
assert case["schema"] == "heddle.oracle/1" and [a["role"] for a in case["arguments"]] == ["input", "input", "output", "scalar"]
x, which, (a,) = load(folder / "inputs/x.npy", "f"), load(folder / "inputs/which.npy", "i"), load(folder / "inputs/a.npy", "f")
if "refuse" in sys.argv and case["sizes"]["n"] == 7:
    print("no opinion", file=sys.stderr)
    sys.exit(77)
if "break" in sys.argv:
    raise ValueError("cannot")
if "slow" in sys.argv:
    import time
    time.sleep(30)
save(folder / "outputs/y.npy", [(a + (0.01 if "wrong" in sys.argv else 0)) * x[i] for i in which])
'''


def npy(values, kind):
    head = "{'descr': '<%s4', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), kind), *values)


class Kernel(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.write(SOURCE, MANIFEST)
        (self.folder / "oracle.py").write_text(ORACLE)

    def write(self, source, manifest):
        (self.folder / "scale.cu").write_text(source)
        (self.folder / "scale.json").write_text(json.dumps(manifest))

    def run_test(self, *args, code=0):
        p = subprocess.run([HEDDLE, "test", "--impl", "scale.json", *args], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout + p.stderr

    def rows(self, *args, code=0):
        p = subprocess.run([HEDDLE, "test", "--json", "--impl", "scale.json", "-l", "emulate", *args], cwd=self.folder,
                           capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return json.loads(p.stdout)["report"]["rows"]

    def test_memory_only(self):
        rows = self.rows()
        self.assertGreaterEqual(len({r["case"] for r in rows}), 4)  # sizes of our own, and one moved
        for row in rows:
            self.assertEqual((row["verdict"], row["message"]), ("pass", "memory checks only"))
        cases = [r["case"] for r in self.rows("-s", "n=3,m=9", "-s", "n=40,m=2")]
        self.assertEqual(cases, ["n=3 m=9", "n=3 m=9, misaligned", "n=40 m=2"])
        self.write(SOURCE.replace("i < n", "i < n - 1"), MANIFEST)
        self.assertIn("1 elements of outputs were never written, the first is y[8]", self.rows("-s", "n=9,m=9")[0]["message"])
        self.assertIn("never written, the first is y[8]", self.run_test("-l", "emulate", "-s", "n=9,m=9"))

    def test_found(self):
        self.write(SOURCE.replace("i < n", "i <= n"), MANIFEST)
        row = self.rows("-s", "n=9,m=9", code=1)[0]
        self.assertEqual([(f["kind"], f["file"], f["line"]) for f in row["findings"][:1]], [("bounds", "scale.cu", 5)])

    def test_sizes_refused(self):
        for size, says in [("n=3", "no value for m"), ("n=3,m=1,k=2", "no size 'k'"), ("n=0,m=1", "allows n from 1"),
                           ("n=1:9,m=1", "needs one value")]:
            self.assertIn(says, self.run_test("-s", size, code=2))

    def test_expect(self):
        good = self.folder / "good"
        (good / "inputs").mkdir(parents=True)
        (good / "outputs").mkdir()
        (good / "inputs/x.npy").write_bytes(npy([1, 2, 4], "f"))
        (good / "inputs/which.npy").write_bytes(npy([2, 0, 1, 2], "i"))
        (good / "outputs/y.npy").write_bytes(npy([10, 2.5, 5, 10], "f"))
        rows = self.rows("--expect", "good")
        self.assertEqual({(r["verdict"], r["message"]) for r in rows}, {("pass", None)})
        self.assertEqual(rows[0]["case"], "good: n=4 m=3")  # from the shapes
        (good / "outputs/y.npy").write_bytes(npy([10, 2.5, 5.001, 10], "f"))
        row = self.rows("--expect", "good", code=1)[0]
        self.assertIn("y[2] is 5, expected 5.001", row["message"])
        self.assertIn("1 of 4 elements", row["message"])
        self.rows("--expect", "good", "--rtol", "1e-3")
        self.rows("--expect", "good", "--atol", "0.0009", "--rtol", "0", code=1)
        self.rows("--expect", "good", "--atol", "0.0011", "--rtol", "0")
        # a folder of cases; NaN meets NaN alone
        flat = self.folder / "cases/flat"
        flat.mkdir(parents=True)
        (flat / "x.npy").write_bytes(npy([float("nan"), 1], "f"))
        (flat / "which.npy").write_bytes(npy([0, 1], "i"))
        (flat / "y.npy").write_bytes(npy([float("nan"), 2.5], "f"))
        (self.folder / "cases/other").symlink_to(good)
        self.assertEqual({r["case"] for r in self.rows("--expect", "cases", "--rtol", "1e-3") if "mis" not in r["case"]},
                         {"flat: n=2 m=2", "other: n=4 m=3"})
        (flat / "y.npy").write_bytes(npy([0, 2.5], "f"))
        self.assertIn("y[0] is nan, expected 0", self.rows("--expect", "cases/flat", code=1)[0]["message"])
        (flat / "y.npy").write_bytes(npy([0, 2.5, 1], "f"))
        self.assertIn("shape (3), but y is (n)", self.run_test("-l", "emulate", "--expect", "cases/flat", code=1))
        (flat / "y.npy").unlink()
        self.assertIn("no cases/flat/outputs/y.npy", self.run_test("-l", "emulate", "--expect", "cases/flat", code=1))

    def test_oracle(self):
        oracle = f"{sys.executable} oracle.py"
        self.assertEqual({r["verdict"] for r in self.rows("--oracle", oracle)}, {"pass"})
        rows = self.rows("--oracle", oracle + " wrong", code=1)
        self.assertIn("expected", rows[0]["message"])
        rows = self.rows("--oracle", oracle + " refuse", "-s", "n=7,m=3", "-s", "n=8,m=3")
        self.assertEqual([(r["case"], r["verdict"]) for r in rows], [("n=7 m=3", "skip"), ("n=8 m=3", "pass")])
        self.assertIn("cannot judge this case: exit code 77: no opinion", rows[0]["message"])
        rows = self.rows("--oracle", oracle + " break", "-s", "n=7,m=3", code=1)
        self.assertEqual((rows[0]["level"], rows[0]["verdict"]), ("oracle", "FAULT"))
        self.assertIn("ValueError: cannot", rows[0]["message"])
        self.assertIn("no end after 1 s", self.run_test("-l", "emulate", "--oracle", oracle + " slow", "-s", "n=7,m=3", "--timeout", "1", code=1))

    def test_usage(self):
        self.assertIn("goes with --impl and no file", self.run_test("x.tc", "--oracle", "true", code=2))
        self.assertIn("one of them", self.run_test("--expect", "a", "--oracle", "b", code=2))
        self.assertIn("go with --expect or --oracle", self.run_test("--rtol", "1", code=2))
        self.assertIn("'github' or 'plain'", self.run_test("--annotate", "x", code=2))

    def test_several(self):
        """Each of several manifests needs a definition among the files."""
        softmax = str(ROOT / "tests/handwritten/softmax.tc")
        right = str(ROOT / "tests/handwritten/softmax_cuda.json")
        (self.folder / "scale.json").write_text(json.dumps(dict(MANIFEST, definition="scale")))
        p = subprocess.run([HEDDLE, "test", softmax, "--impl", right, "--impl", "scale.json", "-l", "emulate"], cwd=self.folder,
                           capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, 2, p.stdout + p.stderr)
        self.assertIn("no file has the definition that 'scale.json' implements", p.stderr)

    def test_required(self):
        # a level that is named must run: text is not interpreted, no command is on PATH
        self.assertIn("interpret, which is required (it takes programs", self.run_test("-l", "emulate,interpret", "-s", "n=2,m=2", code=4))
        env = dict(os.environ, PATH="/nonexistent", CXX="")
        p = subprocess.run([HEDDLE, "test", "--impl", "scale.json", "-l", "emulate", "-s", "n=2,m=2"], cwd=self.folder, env=env,
                           capture_output=True, text=True, timeout=60)
        self.assertEqual(p.returncode, 4, p.stdout + p.stderr)
        self.assertIn("apt-get install -y g++", p.stdout)
        p = subprocess.run([HEDDLE, "test", "--impl", "scale.json", "-s", "n=2,m=2", "--junit", "j.xml"], cwd=self.folder, env=env,
                           capture_output=True, text=True, timeout=60)
        self.assertIn("not run: emulate:emulator (", p.stdout)
        self.assertIn("emulate:emulator", [t.get("name") for t in ET.parse(self.folder / "j.xml").getroot().iter("testcase")
                                           if t.find("skipped") is not None])

    def test_unsupported(self):
        for line, what in [('asm volatile("");', "inline assembly"), ("__builtin_nvvm_thing(1);", "__builtin_nvvm_thing"),
                           ("tex1Dfetch<float>(0, 1);", "tex1Dfetch")]:
            self.write(SOURCE.replace("\tif (i < n)\n", "\t" + line + "\n\tif (i < n)\n"), MANIFEST)
            said = self.run_test("-l", "emulate", "-s", "n=2,m=2", code=4)
            self.assertIn(f"unsupported (emulate:emulator: {what} at scale.cu:4)", said)
        for header in ("cub/cub.cuh", "cooperative_groups.h", "mma.h"):
            self.write(f"#include <{header}>\n" + SOURCE, MANIFEST)
            self.assertIn(f"header {header} at scale.cu:1", self.run_test("-l", "emulate", "-s", "n=2,m=2", code=4))

    def test_typo(self):
        """What the vendor's compiler would reject, too, is an error of the text, with what the compiler says."""
        for old, new, line, says in [
                ("a * x", "aa * x", 5, "'aa'"), ("i < n)", "i < N)", 4, "'N'"), ("float *y", "flaot *y", 1, "'flaot'"),
                ("\tif (i < n)\n", "\t__sincthreads();\n\tif (i < n)\n", 4, "did you mean '__syncthreads'"),
                ("a * x", "make_float4(1, 2, 3, 4).q * x", 5, "no member named 'q'"),
                ("\tif (i < n)\n", "\tfloat4 v = make_float5(1, 2, 3, 4);\n\tif (i < n)\n", 4, "did you mean 'make_float4'"),
                ("a * x", "__half2float(a) * x", 5, "cuda_fp16.h"),
                ("a * x", "__shfl_down(a, 1) * x", 5, "__shfl_down.*none from compute capability 7.0 on"),
                ("__global__", '#include "mine.h"\n__global__', 1, "mine.h.*include_paths"),
                ("__global__", "template <class T> __device__ T load(const T *p, int i) { return p[i]; }\n__global__", 0, None),
                ("a * x[which[i]]", "__shfl_xor_sync(0xffffffffu, pack{}, 1).v[0]", 6, "shuffles move up to 16 bytes")]:
            source = SOURCE.replace(old, new, 1)
            if line == 0:
                source, line, says = source.replace("a * x[", "load(x) + x["), 6, "no matching function for call to 'load"
            if "pack" in new:
                source = "struct pack { float v[8]; };\n" + source
            self.write(source, MANIFEST)
            row = self.rows("-s", "n=2,m=2", code=1)[0]
            self.assertEqual([(f["kind"], f["file"], f["line"]) for f in row["findings"]], [("compile", "scale.cu", line)], new)
            self.assertRegex(row["findings"][0]["text"], says)
        # the reverse: names of the languages that the shim lacks, and of libraries
        for old, new, what in [("a * x", "__vadd2(1, 2) * x", "__vadd2 at scale.cu:5"), ("a * x", "__fadd_rz(a, a) * x", "__fadd_rz at scale.cu:5"),
                               ("a * x", "__a_new_intrinsic(a) * x", "__a_new_intrinsic at scale.cu:5"),
                               ("__global__", "#include <cuda_fp8.h>\n__global__", "header cuda_fp8.h at scale.cu:1")]:
            self.write(SOURCE.replace(old, new, 1), MANIFEST)
            self.assertIn(f"unsupported (emulate:emulator: {what})", self.run_test("-l", "emulate", "-s", "n=2,m=2", code=4))
        self.write("#include <cublas_v2.h>\n" + SOURCE, MANIFEST)  # the host's alone
        self.run_test("-l", "emulate", "-s", "n=2,m=2")

    def test_chip(self):
        """The macros that the vendor's compiler defines for the manifest's chip."""
        for backend, arch, warp, condition in [
                ("hip", "mi300x", 64, "__GFX9__ && __gfx942__ && __AMDGCN__ && __AMDGCN_WAVEFRONT_SIZE__ == 64 && !defined(__gfx90a__)"),
                ("hip", "mi355x", 64, "__GFX9__ && __gfx950__ && !defined(__gfx942__)"),
                ("hip", "rx9070xt", 32, "__GFX12__ && __gfx1201__ && !defined(__GFX9__)"),
                ("cuda", "t4", 32, "__CUDA_ARCH__ == 750"), ("cuda", "b200", 32, "__CUDA_ARCH__ == 1000"),
                ("cuda", "unknown", 32, "__CUDA_ARCH__ == 900")]:
            self.write(f"#if !({condition})\n#error other macros\n#endif\n" + SOURCE, dict(MANIFEST, backend=backend, arch=arch, warp=warp))
            self.run_test("-l", "emulate", "-s", "n=2,m=2")

    def test_printed(self):
        """What kernels print is shown with its case: of a pass, of a fault, from a header, qualified or not."""
        (self.folder / "say.h").write_text('#include <stdio.h>\n__device__ void say(int i) { printf("there %d\\n", i); }\n')
        for include, call, says in [("", 'printf("here %d %.1f %s\\n", i, a, "x")', "here 2 2.5 x\n"),
                                    ("#include <cstdio>\n", 'std::printf("here\\n")', "here\n"), ('#include "say.h"\n', "say(i)", "there 2\n")]:
            self.write(include + SOURCE.replace("y[i] =", f"if (i == 2) {call};\n\t\ty[i] =").replace("(i < n)", "(i < n) {").replace("];\n}", "];\n\t}\n}"),
                       MANIFEST)
            row = self.rows("-s", "n=3,m=2")[0]
            self.assertEqual((row["verdict"], row["printed"]), ("pass", says.rstrip()))
        self.assertIn("it printed:\n       there 2\n", self.run_test("-l", "emulate", "-s", "n=3,m=2", "--junit", "j.xml"))
        self.assertEqual([t.text for t in ET.parse(self.folder / "j.xml").getroot().iter("system-out")], ["there 2", "there 2"])
        self.write(SOURCE.replace("if (i < n)", 'if (i == 2) { printf("last words"); __trap(); }\n\tif (i < n)'), MANIFEST)
        row = self.rows("-s", "n=3,m=2", code=1)[0]
        self.assertEqual((row["printed"], [(f["kind"], f["line"]) for f in row["findings"]]), ("last words", [("crash", 4)]))
        self.write(SOURCE, MANIFEST)
        self.assertNotIn("printed", self.rows("-s", "n=2,m=2")[0])

    def test_included(self):
        """A fault in an included file is told there, not at that line of the file that includes it."""
        manifest = {
            "schema": "heddle.manifest/1", "backend": "opencl", "arch": "cpu", "source": "move.cl", "warp": 1, "include_paths": ["inc"],
            "sizes": {"n": {"min": 1}},
            "arguments": [{"name": "x", "role": "input", "type": "float32", "shape": ["n"]},
                          {"name": "y", "role": "output", "type": "float32", "shape": ["n"]}],
            "launches": [{"kernel": "move", "grid": ["(n+31)/32"], "block": [32], "arguments": ["x", "y", {"size": "n", "type": "int32"}]}]}
        (self.folder / "inc").mkdir()
        (self.folder / "scale.json").write_text(json.dumps(manifest))
        (self.folder / "inc/outer.h").write_text('// deeper\n#include "inner.h"\n')
        (self.folder / "move.cl").write_text(
            '#include "outer.h"\n__kernel void move(__global const float *x, __global float *y, int n)\n{\n'
            "\t__local float s[32];\n\tint t = get_local_id(0), i = get_global_id(0);\n\ts[t] = i < n ? x[i] : 0.0f;\n"
            "\tfloat v = get(s, 31 - t);\n\tif (i < n)\n\t\tput(y, i, v);\n}\n")
        inner = "\n\nfloat get(__local float *s, int i)\n{\n\treturn s[i];\n}\nvoid put(__global float *y, int i, float v)\n{\n\ty[i] = v;\n}\n"
        (self.folder / "inc/inner.h").write_text(inner)

        def found(level):
            p = subprocess.run([HEDDLE, "test", "--json", "--impl", "scale.json", "-l", level, "-s", "n=64"], cwd=self.folder,
                               capture_output=True, text=True, timeout=120)
            if p.returncode == 4:
                self.skipTest(level)
            self.assertEqual(p.returncode, 1, p.stdout + p.stderr)
            return json.loads(p.stdout)["report"]["rows"][0]["findings"]
        races = [f for f in found("opencl-cpu:oclgrind") if f["kind"] == "race"]
        self.assertEqual({(f["file"], f["line"]) for f in races}, {("inc/inner.h", 5), ("move.cl", 6)})
        self.assertTrue(all("at inc/inner.h:5" in f["text"] and "at move.cl:6" in f["text"] for f in races), races)
        (self.folder / "inc/inner.h").write_text(inner.replace("y[i]", "y[i + 1]"))
        self.assertIn(("bounds", "inc/inner.h", 9), {(f["kind"], f["file"], f["line"]) for f in found("opencl-cpu:oclgrind")})
        (self.folder / "inc/inner.h").write_text(inner.replace("y[i]", "z[i]"))
        for level in ("opencl-cpu:oclgrind", "opencl-cpu:pocl"):
            self.assertEqual([(f["kind"], f["file"], f["line"]) for f in found(level)][:1], [("compile", "inc/inner.h", 9)], level)

    def test_typo_included(self):
        """The same of compilers' errors; at compile:clang-amd a name that HIP has not is an error, one that it has is unsupported."""
        for backend, arch, warp, level in [("cuda", "h100", 32, "compile:nvrtc"), ("hip", "mi300x", 64, "compile:clang-amd")]:
            self.write('#include "mine.h"\n' + SOURCE.replace("a * x", "mine(a) * x"), dict(MANIFEST, backend=backend, arch=arch, warp=warp))
            for name in ("value", "__vadd2(1, 2)") if backend == "hip" else ("value",):
                (self.folder / "mine.h").write_text(f"\n__device__ inline float mine(float a)\n{{\n\treturn a + {name};\n}}\n")
                p = subprocess.run([HEDDLE, "test", "--json", "--impl", "scale.json", "-l", level, "-s", "n=3,m=2"], cwd=self.folder,
                                   capture_output=True, text=True, timeout=120)
                report = json.loads(p.stdout)["report"]
                if report["missing"]:
                    continue
                row = report["rows"][0]
                if name == "value":
                    self.assertEqual([(f["kind"], f["file"], f["line"]) for f in row["findings"]], [("compile", "mine.h", 4)], row)
                else:
                    self.assertEqual((row["verdict"], row["message"]), ("unsupported", "__vadd2 at mine.h:4"))

    def test_several_blocks(self):
        """Picked sizes give each grid a second block, and reductions less than a warp: faults that one block, or full warps, hide."""
        source = """__global__ void clear(float *s) { *s = 0; }
__global__ void total(const float *x, float *s, int n)
{
	__shared__ float part[256];
	int i = 512 * blockIdx.x + threadIdx.x;
	part[threadIdx.x] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
	for (int k = 128; k > 0; k /= 2) {
		__syncthreads();
		if (threadIdx.x < k)
			part[threadIdx.x] += part[threadIdx.x + k];
	}
	if (threadIdx.x == 0)
		atomicAdd(s, part[0]);
}
"""
        size = {"size": "n", "type": "int32"}
        manifest = dict(MANIFEST, sizes={"n": {"min": 1}}, arguments=[
            {"name": "x", "role": "input", "type": "float32", "shape": ["n"]}, {"name": "s", "role": "output", "type": "float32", "shape": []}],
            launches=[{"kernel": "clear", "grid": [1], "block": [1], "arguments": ["s"]},
                      {"kernel": "total", "grid": ["(n+511)/512"], "block": [256], "arguments": ["x", "s", size]}])
        (self.folder / "total.tc").write_text("def total(float(n) x) -> (s) { s() +=! x(i) }\n")
        for right in (True, False):
            self.write(source if right else source.replace("atomicAdd(s, part[0])", "*s += part[0]"), manifest)
            for definition in ([], ["total.tc"]):
                p = subprocess.run([HEDDLE, "test", "--json", *definition, "--impl", "scale.json", "-l", "emulate"], cwd=self.folder,
                                   capture_output=True, text=True, timeout=120)
                self.assertEqual(p.returncode, 0 if right else 1, p.stdout + p.stderr)
                rows = json.loads(p.stdout)["report"]["rows"]
                self.assertTrue(any(int(re.search("n=([0-9]+)", r["case"]).group(1)) > 1024 for r in rows))
                self.assertEqual(any(f["kind"] == "race" and f["line"] == 13 for r in rows for f in r["findings"]), not right)
        self.write("""__global__ void rows(const float *x, float *y, int n, int m)
{
	if ((int)threadIdx.x >= m)
		return;
	float s = 0;
	for (int i = threadIdx.x; i < m; i += 32)
		s += x[m * blockIdx.x + i];
	for (int k = 16; k > 0; k /= 2)
		s += __shfl_xor_sync(0xffffffffu, s, k);
	if (threadIdx.x == 0)
		y[blockIdx.x] = s;
}
""", dict(MANIFEST, arguments=[{"name": "x", "role": "input", "type": "float32", "shape": ["n", "m"]},
                               {"name": "y", "role": "output", "type": "float32", "shape": ["n"]}],
          launches=[{"kernel": "rows", "grid": ["n"], "block": [32], "arguments": ["x", "y", size, dict(size, size="m")]}]))
        (self.folder / "rows.tc").write_text("def rows(float(n,m) x) -> (y) { y(i) +=! x(i,k) }\n")
        p = subprocess.run([HEDDLE, "test", "rows.tc", "--impl", "scale.json", "-l", "emulate"], cwd=self.folder, capture_output=True, text=True,
                           timeout=120)
        self.assertEqual(p.returncode, 1, p.stdout + p.stderr)
        self.assertRegex(p.stdout, r"scale\.cu:9: (barrier|uninitialised)")

    def test_hangs(self):
        """A loop without an end is told at its line: one of arithmetic, one that reads, one of barriers."""
        for loop, line in [("for (int k = 1; k != 0; k *= 3)\n\t\ta += k;", (4, 5)), ("while (((volatile const int *)which)[0] >= 0)\n\t\t;", (4, 4)),
                           ("for (int k = 1; k != 0; k += 2)\n\t\t__syncthreads();", (4, 5))]:
            self.write(SOURCE.replace("\tif (i < n)\n", "\t" + loop + "\n\tif (i < n)\n"), MANIFEST)
            (row, *_) = self.rows("-s", "n=3,m=2", "--timeout", "2", code=1)
            (f,) = row["findings"]
            self.assertEqual((f["kind"], f["file"]), ("timeout", "scale.cu"))
            self.assertIn(f["line"], range(line[0], line[1] + 1))
            self.assertRegex(f["text"], r"no end in time: after \d\.\d s thread \d+ of block 0 is here")

    def test_words(self):
        """What sources of real projects are made of: words.cu."""
        folder = ROOT / "tests/cli"
        p = subprocess.run([HEDDLE, "test", "--impl", str(folder / "words.json"), "-l", "emulate"], capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        self.write("__constant__ float w[4];\n" + SOURCE.replace("a * x", "w[0] * a * x"), MANIFEST)
        self.assertIn("constant memory that the host fills at scale.cu:1", self.run_test("-l", "emulate", "-s", "n=2,m=2", code=4))

    def test_reports(self):
        self.write(SOURCE.replace("i < n", "i <= n"), MANIFEST)
        said = self.run_test("-l", "emulate,interpret", "--sarif", "s.json", "--junit", "j.xml", "--annotate", "github", code=1)
        notes = [x for x in said.splitlines() if x.startswith("::error ")]
        self.assertTrue(notes)
        self.assertRegex(notes[0], r"^::error file=scale\.cu,line=5,title=bounds::thread \d+ of block \d+ \w+ 4 bytes, .*\[cuda:h100 emulate:emulator, .*\]$")
        self.assertEqual(len(notes), len(set(n.split("::")[1] for n in notes)))  # one per place and kind
        plain = self.run_test("-l", "emulate", "--annotate", "plain", code=1)
        self.assertRegex(plain, r"(?m)^scale\.cu:5: error: bounds: ")
        self.check_sarif(json.loads((self.folder / "s.json").read_text()))
        self.check_junit(ET.parse(self.folder / "j.xml").getroot())

    def check_keys(self, value, required, optional=()):
        self.assertLessEqual(set(required), set(value))
        self.assertLessEqual(set(value), set(required) | set(optional))

    def check_sarif(self, s):
        """The part of SARIF 2.1.0 that is used, with no other key."""
        self.check_keys(s, ["version", "runs"], ["$schema"])
        self.assertEqual(s["version"], "2.1.0")
        for run in s["runs"]:
            self.check_keys(run, ["tool"], ["results", "columnKind", "invocations"])
            self.assertIn(run["columnKind"], ("utf16CodeUnits", "unicodeCodePoints"))
            driver = run["tool"]["driver"]
            self.check_keys(driver, ["name"], ["version", "rules"])
            ids = [r["id"] for r in driver["rules"]]
            self.assertEqual(len(ids), len(set(ids)))
            for rule in driver["rules"]:
                self.check_keys(rule, ["id"], ["shortDescription"])
                self.check_keys(rule["shortDescription"], ["text"])
            self.assertTrue(run["results"])
            for r in run["results"]:
                self.check_keys(r, ["message"], ["ruleId", "ruleIndex", "level", "locations"])
                self.assertEqual(ids[r["ruleIndex"]], r["ruleId"])
                self.assertIn(r["level"], ("none", "note", "warning", "error"))
                self.check_keys(r["message"], ["text"])
                for place in r["locations"]:
                    self.check_keys(place, ["physicalLocation"])
                    self.check_keys(place["physicalLocation"], ["artifactLocation"], ["region"])
                    self.assertRegex(place["physicalLocation"]["artifactLocation"]["uri"], r"^[A-Za-z0-9._~/%:-]+$")
                    region = place["physicalLocation"].get("region", {"startLine": 1})
                    self.check_keys(region, ["startLine"], ["startColumn"])
                    self.assertGreaterEqual(region["startLine"], 1)
            for i in run["invocations"]:
                self.check_keys(i, ["executionSuccessful"], ["toolExecutionNotifications"])
                self.assertTrue(any("interpret was not run" in n["message"]["text"] for n in i["toolExecutionNotifications"]))
                for n in i["toolExecutionNotifications"]:
                    self.check_keys(n, ["message"], ["level"])

    def check_junit(self, root):
        """The common form: suites of suites, cases with at most one outcome, counts that add up."""
        self.assertEqual(root.tag, "testsuites")
        for suite in root:
            self.assertEqual(suite.tag, "testsuite")
            count = {"failure": 0, "error": 0, "skipped": 0}
            for case in suite:
                self.assertEqual(case.tag, "testcase")
                self.assertTrue(case.get("name") and case.get("classname"))
                float(case.get("time"))
                self.assertLessEqual(len(case), 1)
                for outcome in case:
                    count[outcome.tag] += 1
                    self.assertIsNotNone(outcome.get("message"))
            self.assertEqual(int(suite.get("tests")), len(suite))
            self.assertEqual([int(suite.get(k)) for k in ("failures", "errors", "skipped")],
                             [count["failure"], count["error"], count["skipped"]])
            self.assertGreaterEqual(count["failure"], 1)
            self.assertEqual(count["error"], 1)  # the level that is required


if __name__ == "__main__":
    unittest.main()
