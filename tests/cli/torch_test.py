#!/usr/bin/env python3
"""emit --binding torch: the operators are built, loaded into PyTorch and compared with its own, on the CPU.

Skipped (77) without PyTorch or an OpenCL driver.
usage: torch_test.py PROGRAM SOURCE [CASE...]
SPDX-License-Identifier: MIT
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

if "--inside" not in sys.argv:
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import torch.utils.cpp_extension"], capture_output=True).returncode == 0:
            os.execv(python, [python, *sys.argv[:3], "--inside", *sys.argv[3:]])
    print("torch_test: no PyTorch here: apt-get install python3-torch libtorch-dev python3-setuptools")
    sys.exit(77)

import torch

HEDDLE, SOURCE = map(os.path.abspath, sys.argv[1:3])
DEFINITIONS = """
def product(float(B,I) X, float(O,I) W, float(O) bias) -> (Y) {
	Y(n,o) +=! X(n,i) * W(o,i)
	Y(n,o) = fmax(Y(n,o) + bias(o), 0)
}

def mixed(float(N,M) A strides (lda,1), float(2*C) two, float alpha, int32 shift, bool flip)
	-> (inout float(N,M) total strides (ldt,1), sums, largest, spread) {
	total(i,j) += A(i,j)
	sums(i) +=! alpha * A(i,j)
	largest(i) max=! A(i,j)
	spread(i,c) = (flip ? -A(i,0) : A(i,0)) + shift + two(2*c)
}

def types(float16(N,M) register, float16 scale, int64(K) ids, uint8(V,D) table, float64(P,Q) a) -> (int_, picked, b) {
	int_(i,j) = register(i,j) * scale
	picked(i,d) = table(ids(i), d)
	b(j,i) = a(i,j)
}
"""


def build(folder, names, prefix):
    """One library of all operators; the binding, compiled by itself, names everything that it uses."""
    from torch.utils import cpp_extension

    includes = [f"-isystem{p}" for p in cpp_extension.include_paths() if os.path.exists(p)]
    objects = []
    jobs = []
    for name in names:
        for source, words in ((f"{name}__torch.cpp", ["c++", "-std=c++17", "-DHEDDLE_WITHOUT_CUDA", *includes,
                                                      f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]),
                              (f"{name}__opencl_cpu.c", ["cc", "-std=c11"])):
            objects.append(source + ".o")
            launcher = ["ccache"] if shutil.which("ccache") else []
            jobs.append(subprocess.Popen([*launcher, *words, "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-c", source, "-o", objects[-1]],
                                         cwd=folder, stderr=subprocess.PIPE, text=True))
            if len(jobs) == 2:
                wait(jobs)
    wait(jobs)
    library = os.path.join(folder, f"lib{prefix}.so")
    folders = [f"-L{p}" for p in cpp_extension.library_paths()]
    p = subprocess.run(["c++", "-shared", *objects, "-o", library, *folders, "-ltorch", "-ltorch_cpu", "-lc10", "-lOpenCL"], cwd=folder,
                       capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    torch.ops.load_library(library)


def wait(jobs):
    for job in jobs:
        text = job.communicate()[1]
        assert job.returncode == 0, text
    jobs.clear()


class Binding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="heddle-torch-")
        cls.folder = cls.temporary.name
        with open(cls.folder + "/all.tc", "w") as f:
            f.write(DEFINITIONS)
        p = subprocess.run([HEDDLE, "emit", "all.tc", "-t", "opencl:cpu,cuda:h200,hip:mi300x", "--binding", "torch", "--prefix", "t_",
                            "-o", "."], cwd=cls.folder, capture_output=True, text=True)
        assert p.returncode == 0, p.stderr
        cls.names = ["t_product", "t_mixed", "t_types"]
        build(cls.folder, cls.names, "t")
        cls.ops = torch.ops.heddle
        torch.manual_seed(1)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def refuses(self, words, call, *arguments):
        with self.assertRaises(RuntimeError) as caught:
            call(*arguments)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, str(caught.exception))

    def test_product(self):
        for b, i, o in ((1, 1, 1), (33, 70, 65), (4, 8, 3), (64, 256, 128)):
            X, W, bias = torch.randn(b, i), torch.randn(o, i), torch.randn(o)
            Y = self.ops.t_product(X, W, bias)
            torch.testing.assert_close(Y, torch.relu(torch.nn.functional.linear(X, W, bias)), rtol=1e-4, atol=1e-4)

    def test_zero_extents(self):
        self.assertEqual(tuple(self.ops.t_product(torch.randn(0, 4), torch.randn(3, 4), torch.randn(3)).shape), (0, 3))
        torch.testing.assert_close(self.ops.t_product(torch.randn(2, 0), torch.randn(3, 0), torch.ones(3)), torch.ones(2, 3))

    def test_mixed(self):
        two = torch.randn(8)
        whole = torch.randn(7, 20)
        for A, total in ((torch.randn(7, 12), torch.randn(7, 12)), (whole[:, 4:16], torch.randn(7, 31)[:, 3:15]),
                         (whole[2:3, 4:16], torch.randn(3, 12)[1:2]), (torch.randn(12, 1).t(), torch.randn(1, 12))):
            for flip in (False, True):
                # No tensor shows the size C by itself; lda and ldt are strides.
                expected = total + A
                around = total.storage().tolist() if total.numel() < total.storage().size() else None
                sums, largest, spread = self.ops.t_mixed(A, two, total, 0.5, -3, flip, 4)
                torch.testing.assert_close(total, expected)
                torch.testing.assert_close(sums, 0.5 * A.sum(1), rtol=1e-5, atol=1e-5)
                torch.testing.assert_close(largest, A.max(1).values)
                torch.testing.assert_close(spread, (-A[:, :1] if flip else A[:, :1]) - 3 + two[::2])
                if around:  # what lies between the rows stays
                    total.copy_(expected - A)
                    torch.testing.assert_close(torch.tensor(total.storage().tolist()), torch.tensor(around), rtol=1e-5, atol=1e-5)
        self.refuses("two has the shape [8], not [10]", self.ops.t_mixed, A, two, total, 0.5, -3, False, 5)
        self.refuses("A has the strides [1, 7], not [1, 1]", self.ops.t_mixed, torch.randn(12, 7).t(), two, torch.randn(7, 12), 0.5, -3, False, 4)

    def test_types(self):
        x = torch.randn(5, 9).half()
        table = torch.randint(0, 255, (11, 6), dtype=torch.uint8)
        ids = torch.tensor([3, 0, 10, 3])
        a = torch.randn(6, 35, dtype=torch.float64)
        scaled, picked, turned = self.ops.t_types(x, ids, table, a, 0.25)  # scalars come last, as in the entry
        torch.testing.assert_close(scaled, x * 0.25)
        self.assertTrue(torch.equal(picked, table[ids]))
        self.assertTrue(torch.equal(turned, a.t()))

    def test_views(self):
        """A view that lies in one piece is taken where it begins."""
        X, W, bias = torch.randn(6, 8), torch.randn(3, 8), torch.randn(3)
        torch.testing.assert_close(self.ops.t_product(X[2:5], W, bias), torch.relu(X[2:5] @ W.t() + bias), rtol=1e-4, atol=1e-4)
        X = torch.randn(1, 8, 2)[:, :, 0]  # not contiguous
        self.refuses(["X has the strides [16, 2], not [8, 1]", "call .contiguous()"], self.ops.t_product, X, W, bias)
        one = torch.randn(8, 1).t()  # strides of extents of 1 do not matter
        torch.testing.assert_close(self.ops.t_product(one, W, bias), torch.relu(one @ W.t() + bias), rtol=1e-4, atol=1e-4)

    def test_messages(self):
        X, W, bias = torch.randn(6, 8), torch.randn(3, 8), torch.randn(3)
        self.refuses("W has the shape [3, 7], not [3, 8]", self.ops.t_product, X, torch.randn(3, 7), bias)
        self.refuses("bias has the shape [4], not [3]", self.ops.t_product, X, W, torch.randn(4))
        self.refuses("X has 3 dimensions, not 2", self.ops.t_product, torch.randn(1, 6, 8), W, bias)
        self.refuses("W is Double, not Float", self.ops.t_product, X, W.double(), bias)
        self.refuses("strides", self.ops.t_product, X, torch.randn(8, 3).t(), bias)
        self.refuses("W is on meta, but the first tensor on cpu", self.ops.t_product, X, W.to("meta"), bias)
        self.refuses("SparseCPU", self.ops.t_product, X, W.to_sparse(), bias)

    def test_meta(self):
        Y = self.ops.t_product(torch.randn(6, 8, device="meta"), torch.randn(3, 8, device="meta"), torch.randn(3, device="meta"))
        self.assertEqual((Y.device.type, tuple(Y.shape), Y.dtype), ("meta", (6, 3), torch.float32))
        self.refuses("W has the shape [3, 7]", self.ops.t_product, torch.randn(6, 8, device="meta"), torch.randn(3, 7, device="meta"),
                     torch.randn(3, device="meta"))

    def test_gradients(self):
        """There is no derivative: forward works, and backward raises instead of leaving the operator out."""
        X, W, bias = torch.randn(6, 8, requires_grad=True), torch.randn(3, 8), torch.randn(3)
        expected = torch.relu(X @ W.t() + bias).detach()
        # An expression of which autograd knows a part: without the operator's own part X.grad would be W's row sums, and wrong.
        self.refuses(["t_product", "not implemented"], (self.ops.t_product(X, W, bias) + X @ W.t()).sum().backward)
        with torch.no_grad():
            Y = self.ops.t_product(X, W, bias)
        self.assertFalse(Y.requires_grad)
        torch.testing.assert_close(Y, expected, rtol=1e-4, atol=1e-4)
        for given in ((X, W, bias), (X.detach(), W, bias.clone().requires_grad_())):
            Y = self.ops.t_product(*given)
            self.assertTrue(Y.requires_grad)
            torch.testing.assert_close(Y.detach(), expected, rtol=1e-4, atol=1e-4)
            self.refuses(["t_product", "not implemented"], Y.sum().backward)
        self.assertFalse(self.ops.t_product(X.detach(), W, bias).requires_grad)
        Y = self.ops.t_product(X.detach().to("meta").requires_grad_(), W.to("meta"), bias.to("meta"))
        self.assertEqual((Y.device.type, tuple(Y.shape), Y.requires_grad), ("meta", (6, 3), True))

    def test_gradients_in_place(self):
        """A tensor that is changed in place and not returned carries no error to backward: the call itself raises."""
        A, two, total = torch.randn(7, 12), torch.randn(8), torch.zeros(7, 12)
        for given in ((A.clone().requires_grad_(), two, total), (A, two.clone().requires_grad_(), total),
                      (A, two, torch.zeros(7, 12, requires_grad=True) * 1)):
            self.refuses(["t_mixed changes tensors in place", "no_grad"], self.ops.t_mixed, *given, 0.5, -3, False, 4)
            self.assertFalse(given[2].detach().any())
            with torch.no_grad():
                self.ops.t_mixed(*given, 0.5, -3, False, 4)
            torch.testing.assert_close(given[2].detach(), A)
            given[2].detach().zero_()
        sums = self.ops.t_mixed(A.to("meta"), two.to("meta"), total.to("meta"), 0.5, -3, False, 4)[0]
        self.assertEqual((sums.device.type, tuple(sums.shape)), ("meta", (7,)))
        # Integers have no gradient, whatever else the operator returns.
        picked = self.ops.t_types(torch.randn(5, 9).half().requires_grad_(), torch.tensor([1]), torch.zeros(11, 6, dtype=torch.uint8),
                                  torch.randn(2, 2, dtype=torch.float64), 0.25)[1]
        self.assertFalse(picked.requires_grad)

    def test_threads(self):
        import concurrent.futures

        def one(seed):
            X, W, bias = (torch.randn(s, generator=torch.Generator().manual_seed(seed)) for s in ((16, 32), (8, 32), (8,)))
            return (self.ops.t_product(X, W, bias) - torch.relu(X @ W.t() + bias)).abs().max().item()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertLess(max(pool.map(one, range(40))), 1e-4)

    def test_vendors_text_compiles(self):
        """The part for CUDA against PyTorch's headers and the toolkit's, where both are here."""
        from torch.utils import cpp_extension

        toolkit = next((p for p in ("/usr/local/cuda/include", "/usr/include") if os.path.exists(p + "/cuda_runtime_api.h")), None)
        includes = [p for p in [*cpp_extension.include_paths(), "/usr/include"] if os.path.exists(p + "/c10/cuda/CUDAStream.h")]
        if not toolkit or not includes:
            self.skipTest("no CUDA toolkit, or PyTorch has no c10/cuda")
        os.makedirs(self.folder + "/stand/c10/cuda/impl", exist_ok=True)
        with open(self.folder + "/stand/c10/cuda/impl/cuda_cmake_macros.h", "w") as f:
            f.write("#pragma once\n")  # the one header that only a build with CUDA has
        for extra in (["-DHEDDLE_WITHOUT_CPU"],):
            p = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-isystem{toolkit}", "-isystemstand", *extra,
                                *[f"-isystem{i}" for i in cpp_extension.include_paths()], "t_product__torch.cpp"], cwd=self.folder,
                               capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stderr)

    def test_refused(self):
        for text, why in (("def f(uint32(N) A) -> (O) { O(i) = A(i) }", "no type for 'A', which is uint32"),
                          ("def f(float x) -> (O) { O(i) = x where i in 0:4 }", "takes no tensor")):
            with open(self.folder + "/bad.tc", "w") as f:
                f.write(text)
            p = subprocess.run([HEDDLE, "emit", "bad.tc", "-t", "opencl:cpu", "--binding", "torch", "-o", "bad"], cwd=self.folder, capture_output=True,
                               text=True)
            self.assertEqual((p.returncode, why in p.stderr, os.path.exists(self.folder + "/bad")), (2, True, False), p.stderr)
        p = subprocess.run([HEDDLE, "emit", "all.tc", "--binding", "jax"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((p.returncode, "knows 'torch'" in p.stderr), (2, True))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
