# heddle manifest: what prototypes, launches and definitions give, with a C preprocessor and without one.
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HEDDLE = sys.argv.pop(1)
ROOT = Path(__file__).resolve().parents[2]

CUDA = r"""#include <cuda_runtime.h>
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
namespace ops { namespace detail {
template <typename T, int BLOCK = 256, bool RELU = false>
__global__ void __launch_bounds__(BLOCK, 2)
fused_bias(T *__restrict__ out, const T *__restrict__ in, const float4 *bias, int n, float alpha)
{
	extern __shared__ __align__(16) unsigned char raw[];
	T *s = reinterpret_cast<T *>(raw);
	int i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < n) {
		T *o = out + i;
		*o = in[i] * alpha;
	}
}
}}
__device__ void accumulate(int *h, int v) { atomicAdd(&h[v], 1); }
__global__ void hist(const uint8_t *x, int *h, size_t n) { if (blockIdx.x < n) accumulate(h, x[0]); }
#if defined(USE_TWO) && TWO_BLOCK > 32
__global__ void __launch_bounds__(TWO_BLOCK) second(float2 *a, unsigned short *b) { a[threadIdx.x].x += b[0]; }
#endif
void run(float *o, const float *i, const float4 *b, int count, cudaStream_t st) {
	dim3 block(128);
	const int blocks = CEIL_DIV(count, 128);
	size_t bytes = 128 * sizeof(float);
	ops::detail::fused_bias<float, 128><<<blocks, block, bytes, st>>>(o, i, b, count, 1.0f);
	ops::detail::fused_bias<half, 64, true><<<dim3(CEIL_DIV(count, 64), 2), 64, 0, st>>>(o, i, b, count, 1.0f);
}
"""
OPENCL = r"""#define WG 64
__kernel __attribute__((reqd_work_group_size(WG, 2, 1)))
void scale(__global const float4 *restrict x, __global float *y, __local float *tmp, const uint n, float a)
{
	tmp[get_local_id(0)] = x[0].x;
	y[get_global_id(0)] = tmp[0] * a;
}
"""


class Manifest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.write_text(text)
        return str(path)

    def heddle(self, *args, code=0, bare=False):
        env = dict(os.environ)
        if bare:  # no preprocessor is found
            env.update(PATH="/nonexistent", CXX="")
        p = subprocess.run([HEDDLE, *args], capture_output=True, text=True, env=env, timeout=60)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout, p.stderr

    def manifest(self, *args, **more):
        return json.loads(self.heddle("manifest", *args, **more)[0])

    def test_template_instance(self):
        path = self.write("a.cu", CUDA)
        for bare in (False, True):
            m = self.manifest(path, "--instance", "fused_bias<float, 128>", bare=bare)
            self.assertEqual(m["launches"][0]["kernel"], "ops::detail::fused_bias<float, 128>")
            self.assertEqual(m["launches"][0]["grid"], ["(n+128-1)/128", 1, 1])
            self.assertEqual(m["launches"][0]["block"], [128, 1, 1])
            self.assertEqual(m["launches"][0]["dynamic_shared_bytes"], "128*4")
            self.assertEqual(m["launches"][0]["arguments"], ["out", "in", "bias", {"size": "n", "type": "int32"}, "alpha"])
            a = {x["name"]: x for x in m["arguments"]}
            self.assertEqual([a[k]["role"] for k in ("out", "in", "bias", "alpha")], ["output", "input", "input", "scalar"])
            self.assertEqual(a["bias"]["align"], 16)
            self.assertEqual(a["out"]["type"], "float32")
            m = self.manifest(path, "--instance", "fused_bias<half, 64, true>", bare=bare)
            self.assertEqual(m["launches"][0]["grid"], ["(n+64-1)/64", 2, 1])
            self.assertEqual(m["arguments"][0]["type"], "float16")
            m = self.manifest(path, "--instance", "fused_bias<__half, 32>", bare=bare)  # launched by nobody: __launch_bounds__
            self.assertEqual(m["launches"][0]["block"], [32, 1, 1])
            self.assertTrue(m["launches"][0]["grid"][0].startswith("TODO"))

    def test_candidates_and_roles(self):
        m = self.manifest(self.write("a.cu", CUDA))
        self.assertIn("one of ops::detail::fused_bias<float, 128>, ops::detail::fused_bias<half, 64, true>", m["launches"][0]["kernel"])
        self.assertTrue(m["arguments"][0]["type"].startswith("TODO"))
        self.assertEqual(m["launches"][1]["kernel"], "hist")
        a = {x["name"]: x for x in m["arguments"]}
        self.assertEqual(a["h"]["role"], "inout")  # seen through a device function
        self.assertEqual(a["x"]["type"], "uint8")
        self.assertEqual(len(m["launches"]), 2)

    def test_defines(self):
        path = self.write("a.cu", CUDA)
        for bare in (False, True):
            m = self.manifest(path, "-DUSE_TWO", "-D", "TWO_BLOCK=96", "--instance", "second", bare=bare)
            self.assertEqual(m["defines"], {"USE_TWO": 1, "TWO_BLOCK": 96})
            self.assertEqual(m["launches"][0]["block"], [96, 1, 1])
            self.assertEqual([x["align"] for x in m["arguments"] if "align" in x], [8])
            self.heddle("manifest", path, "-DUSE_TWO", "-DTWO_BLOCK=32", "--instance", "second", code=3, bare=bare)

    def test_opencl(self):
        m = self.manifest(self.write("s.cl", OPENCL))
        self.assertEqual(m["backend"], "opencl")
        self.assertEqual(m["launches"][0]["block"], [64, 2, 1])
        self.assertTrue(m["launches"][0]["arguments"][2]["local"].startswith("TODO: bytes of float* tmp") or
                        "tmp" in m["launches"][0]["arguments"][2]["local"])
        self.assertEqual(m["launches"][0]["arguments"][3], {"size": "n", "type": "uint32"})

    def test_definition(self):
        folder = ROOT / "tests/handwritten"
        out = str(Path(self.folder.name) / "m.json")
        _, said = self.heddle("manifest", str(folder / "softmax_cuda.cu"), "--def", str(folder / "softmax.tc"), "-o", out)
        m = json.loads(Path(out).read_text())
        self.assertEqual(m["definition"], "softmax")
        self.assertEqual(m["sizes"], {"N": {"min": 1}, "D": {"min": 1}})
        self.assertEqual([(x["role"], x["shape"]) for x in m["arguments"]], [("input", ["N", "D"]), ("output", ["N", "D"])])
        self.assertEqual(m["launches"][0]["grid"], ["N", 1, 1])
        self.assertIn("is complete", said)
        # and it is: the source is found from the manifest's folder
        self.heddle("test", str(folder / "softmax.tc"), "--impl", out, "--level", "emulate")

    def test_unfinished_is_refused(self):
        out = str(Path(self.folder.name) / "m.json")
        self.heddle("manifest", self.write("s.cl", OPENCL), "-o", out)
        _, said = self.heddle("test", str(ROOT / "tests/handwritten/softmax.tc"), "--impl", out, code=3)
        self.assertIn("arguments[0] (x).shape[0] is not filled in: TODO: extents of x", said)
        self.assertIn("E0786", said)

    def test_unsupported(self):
        for text, what, line in [
                ("\n__global__ void k(cudaTextureObject_t t, float *o) { o[0] = 1; }", "cudaTextureObject_t", 2),
                ("struct S { int a; };\n\n__global__ void k(S s, float *o) { o[0] = s.a; }", "S by value", 3),
                ("__global__ void k(float **o) { o[0][0] = 1; }", "a pointer to pointers", 1)]:
            path = self.write("u.cu", text)
            _, said = self.heddle("manifest", path, code=3)
            self.assertIn(f"unsupported: {what} at {path}:{line}", said)
        path = self.write("u.cu", "__global__ void k(float *o) {\n\tasm volatile(\"\");\n\to[0] = 1; }")
        self.assertIn(f"inline assembly at {path}:2", self.heddle("manifest", path)[1])
        path = self.write("u.cu", "void host() {}")
        self.assertIn("E0789", self.heddle("manifest", path, code=3)[1])
        self.assertIn("-t cuda:h100", self.heddle("manifest", self.write("u.cpp", CUDA), code=2)[1])


if __name__ == "__main__":
    unittest.main()
