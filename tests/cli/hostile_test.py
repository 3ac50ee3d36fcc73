#!/usr/bin/env python3
"""Input that means no good, through the whole program: it is refused with a message and the right exit code, in at most 5 seconds
of the processor and 1 GiB of memory, or taken within them.

    hostile_test.py PROGRAM

SPDX-License-Identifier: MIT
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SECONDS, BYTES = 5, 1 << 30


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_it(self, code, *arguments):
        done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name,
                              preexec_fn=limits, stdin=subprocess.DEVNULL, timeout=300, check=False)
        text = (done.stderr + done.stdout).decode("utf-8", "replace")
        self.assertEqual(done.returncode, code, text[:600])
        if code not in (0, 1):
            self.assertIn("error", text)
            self.assertLess(len(text), 100000, "a message for a person")
        self.assertNotIn("out of memory (asked", text, "a limit should have come before")
        return text

    def emit(self, code, text, *more):
        return self.run_it(code, "emit", self.file("hostile.tc", text), "-t", "cuda:h200", "-o", "out", *more)

    def test_nesting(self):
        n = 100000
        for expression in ("(" * n + "A(i)" + ")" * n, "A(i) > 0 ? 1 : " * n + "0", "-" * n + "A(i)", "!" * n + "(A(i) > 0) ? 1 : 0",
                           "A(" * n + "i" + ")" * n, "min(" * n + "A(i)" + ", 1)" * n):
            self.emit(3, "def f(float(N) A) -> (O) { O(i) = " + expression + " }")

    def test_length(self):
        self.emit(3, "def f(float(N) A) -> (O) { O(i) = " + " + ".join(["A(i)"] * 50000) + " }")
        self.emit(3, "( " * 3000000)
        self.emit(3, b"$" * 1000000)
        self.emit(2, b"#" + b"x" * (65 << 20))
        self.emit(3, "def f(float(N) A) -> (O) { O(i) = " + "a" * 900000 + "(i) }")

    def test_one_verdict(self):
        """What check accepts is small enough to be compiled."""
        many = "def f(float(N) A) -> (O) {\n" + "".join(f"\tt{k}(i) = {' + '.join(['A(i) * 1.5'] * 1300)}\n" for k in range(100))
        text = many + "\tO(i) = t99(i)\n}\n"
        self.assertGreater(len(text), 1600000)
        self.assertIn("E0012", self.emit(3, text))
        self.assertIn("E0012", self.run_it(3, "check", self.file("hostile.tc", text)))

    def test_doubling(self):
        lets = "".join(f", v{k} = v{k + 1} + v{k + 1}" for k in range(60))
        self.emit(3, "def f(float(N) A) -> (O) { O(i) = v0 where v60 = A(i)" + lets + " }")

    def test_calls(self):
        def doubling(levels, value):
            return "def f0(float(N) A) -> (O) { O(i) = " + value + " }\n" + "".join(
                f"def f{k}(float(N) A) -> (O) {{ t = f{k - 1}(A)\nO = f{k - 1}(t) }}\n" for k in range(1, levels))

        def callers(last):
            return "".join(f"def g{k}(float(N) A) -> (O) {{ t = f{last}(A)\nO = f{last}(t) }}\n" for k in range(900))

        for text in (doubling(40, "A(i)"), doubling(9, "A(i)") + callers(8), doubling(8, "A(i)") + callers(7),
                     doubling(12, " + ".join(["A(i)"] * 400))):
            self.assertIn("E0012", self.emit(3, text))
        self.emit(0, doubling(6, "A(i)") + "def g(float(N) A, float(M) B) -> (O, P) { O = f5(A)\nP = f5(B) }\n", "--def", "g")

    def test_many(self):
        chain = "".join(f"\tt{k}(i) = t{k - 1}(i) + 1\n" for k in range(1, 120))
        self.emit(0, "def f(float(N) A) -> (t119) {\n\tt0(i) = A(i)\n" + chain + "}\n")
        self.emit(5, "def f(float(N) A) -> (O) { O +=! A(i) where i in 0:N" + "".join(f", r{k} in 0:2" for k in range(40)) + " }")
        dims = ", ".join(f"i{k}" for k in range(40))
        self.emit(5, f"def f(float({', '.join(['N'] * 40)}) A) -> (O) {{ O({dims}) = A({dims}) }}")

    def test_extents(self):
        self.emit(3, "def f(float(999999999999, 99999999) A) -> (O) { O(a, b) = A(a, b) }")
        self.emit(3, "def f(float(N) A) -> (O) { O(i) = A(i) + 99999999999999999999999 }")
        self.emit(3, "def f(float(N) A) -> (O) { O(i) = A(2147483647 * i + 2147483647) where i in 0:2147483647 }")
        copy = "def f(float(A, B, C, D) X) -> (O) { O(a, b, c, d) = X(a, b, c, d) }"
        self.emit(0, copy, "-s", "A=1:2147418112,B=1:2147418112,C=1,D=1")
        most = 2147418112  # the greatest size
        for sizes in (f"A={most},B={most},C={most},D={most}", f"A={most},B={most},C=1:9,D=1:9"):
            self.assertIn("E0613", self.emit(5, copy, "-s", sizes))
        self.emit(2, "def f(float(N) A) -> (O) { O(i) = A(i) }", "-s", "N=" + "9" * 90000)
        for size in (f"{most + 1}", "2147483613:2147483647", "1:2147483647"):
            self.assertIn("E0302", self.emit(2, "def f(float(N) A) -> (O) { O(i) = A(i) }", "-s", "N=" + size))
            self.assertIn("E0302", self.emit(3, f"def f(float(N) A) -> (O) sizes N={size} {{ O(i) = A(i) }}"))
        self.assertIn("E0302", self.emit(3, f"def f(float({most + 1}) A) -> (O) {{ O(i) = A(i) }}"))
        for size in (f"{most}", f"{most - 40}:{most}"):
            self.emit(0, "def f(float(N) A) -> (O) { O(i) = A(i) }", "-s", "N=" + size)

    def test_preconditions_that_contradict(self):
        text = self.emit(3, "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i + M) + B(i + N) where i in 0:4 }")
        self.assertIn("E0213", text)

    def test_conditions_of_many_pieces(self):
        guard = " && ".join(f"(i + {k} * j - k / {k + 1} > {k} || j < {k})" for k in range(20))
        self.emit(0, "def f(float(N, N) A) -> (O) { O(i, j) +=! (" + guard + ") ? A(i, k) : 0 where j in 0:N }")
        subscript = "i"
        for _ in range(16):
            subscript = f"min(max({subscript} + 1, 0), N - 1)"
        self.emit(0, "def f(float(N) A) -> (O) { O(i) = A(" + subscript + ") where i in 0:N }")

    def test_ranges_of_many_alternatives(self):
        def bounds(k):
            low, high = "0", "N"
            for j in range(3):
                o = (k + 1 + j) % 6
                low = f"max({low}, {f'r{o} * {j + 2} - M' if o < k else 'N - M'} * {k + j + 1})"
                high = f"min({high}, {f'r{o} * {j + 3} + M' if o < k else f'N * {j + 1}'} - {k + 1} * K)"
            return f"r{k} in {low}:{high}"

        self.emit(3, "def f(float(N, M, K) A) -> (O) { O +=! A(" + " + ".join(f"{k + 2} * r{k}" for k in range(6)) +
                  ", r0 - r1, r1 + r2) where " + ", ".join(bounds(k) for k in range(6)) + " }")
        for m in (5, 8, 16):
            sums = " + ".join(f"{k + 1} * min(i + {k} * M, max(N - {k} * i, K + {k}))" for k in range(m))
            nested = "max(M - i, " * m + "0" + ")" * m
            text = f"def f(float(N, M, K) A) -> (O) {{ O(i) = A({sums}, max(i, {nested}), min(i, K)) where i in 0:N }}\n"
            self.assertIn("E0012", self.emit(3, text))
            self.emit(3, "".join(text.replace("def f", f"def f{k}") for k in range(300)))

    def test_bytes(self):
        self.emit(3, b"def f(float(N) A) -> (O) { O(i) = A(\xff\xfe\x80i) } # \xc3\x28\n")
        self.emit(3, bytes(range(256)) * 100)
        self.emit(3, b"def f(float(N) A)\0 -> (O) { O(i) = A(i) }\n")

    def test_files(self):
        fifo = os.path.join(self.folder.name, "fifo.tc")
        os.mkfifo(fifo)
        for path in (fifo, "/dev/zero", ".", "missing.tc", ""):
            self.run_it(2, "check", path)
        self.run_it(3, "check", "/dev/null")
        good = self.file("good.tc", "def f(float(N) A) -> (O) { O(i) = A(i) }\n")
        self.run_it(2, "run", good, "-s", "N=4", "-t", "opencl:cpu", "--input", "A=" + fifo)
        self.run_it(2, "emit", good, "-t", "cuda:h200", "-o", "/dev/null")
        for path in (fifo, "/dev/zero"):
            self.run_it(2, "arch", "validate", path)

    def test_configs(self):
        product = "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }"
        for code, config in ((5, "fuse=0; k0.S0: tile=i:1073741824,j:1073741824,k:1073741824"),
                             (2, "fuse=0; k0.S0: tile=i:1024,j:4 thread=i:1024,j:4"), (2, "fuse=9"), (2, "split=0:k:1000000000000"),
                             (2, "k99999999999: threads=4"), (2, "fuse=0; k0.A.0: space=shared pad=99999999"),
                             (2, "k0: order=" + ",".join(["i"] * 20000)), (2, "fuse=" + ",".join(["0"] * 20000)),
                             (2, "fuse=0; k0.S0: tile=i:4096,j:4096,k:4096 thread=i:16,j:16; k0.A.0: space=shared")):
            self.emit(code, product, "--config", config)

    def test_descriptors(self):
        bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
        bomb += "".join(f"{chr(97 + k)}: &{chr(97 + k)} [" + ",".join([f"*{chr(96 + k)}"] * 9) + "]\n" for k in range(1, 12))
        for text in ("name: bomb\ninherits: h200\n" + bomb, "name: d\nx: " + "[" * 50000, "name: d\nx: " + "[" * 50000 + "]" * 50000,
                     "name: d\n" + "".join(" " * k + "a:\n" for k in range(2000)), "name: self\ninherits: self\n", bytes(range(256)),
                     "name: d\ninherits: h200\nshared_per_block: {value: 1e300, unit: KiB, source: x}\n",
                     "name: d\ninherits: h200\nwarp: {value: -1, unit: count, source: x}\n",
                     "name: d\ninherits: h200\nunits: {value: .nan, unit: count, source: x}\n"):
            self.run_it(3, "arch", "validate", self.file("d.yaml", text))
        self.file("a.yaml", "name: a\ninherits: b\n")
        self.file("b.yaml", "name: b\ninherits: a\n")
        self.run_it(3, "arch", "show", "a", "--path", self.folder.name)

    def test_dialects(self):
        os.makedirs(os.path.join(self.folder.name, "backends", "mine"))
        nodes = "a: &a [x]\n" + "".join(f"{chr(98 + k)}: &{chr(98 + k)} [" + ",".join([f"*{chr(97 + k)}"] * 9) + "]\n" for k in range(6))
        choices = "0" + ",1" * 200
        pieces = f"prelude: |\n  //: a_{{x}} x={choices} y={choices} z={choices}\n  int a;\n"
        for code, text in ((3, nodes), (3, pieces), (3, "".join(f"x{k}: 1\n" for k in range(100000))), (3, "type: []\n"),
                           (3, "title: " + "x" * (8 << 20) + "\n"), (0, "title: mine\n")):
            self.file("backends/mine/dialect.yaml", "name: mine\ninherits: opencl\n" + text)
            self.emit(code, "def f(float(N) A) -> (O) { O(i) = A(i) }", "--path", self.folder.name, "-t", "mine:cpu")

    def manifest(self, code, **changes):
        launch = {"kernel": "f_0", "grid": ["(N+63)/64", 1, 1], "block": [64, 1, 1], "dynamic_shared_bytes": 0,
                  "arguments": ["A", "O", {"size": "N"}]}
        base = {"schema": "heddle.manifest/1", "definition": "f", "backend": "cuda", "arch": "h200", "source": "k.cu",
                "policy": "ieee", "config": "", "sizes": {"N": {"min": 1, "max": 100}}, "warp": 32, "workspace_bytes": "0",
                "options": {}, "arguments": [{"name": "A", "type": "float32", "shape": ["N"], "role": "input"},
                                             {"name": "O", "type": "float32", "shape": ["N"], "role": "output"},
                                             {"name": "N", "role": "size", "type": "int32"}], "launches": [launch]}
        for key, value in changes.items():
            (launch if key in launch else base)[key] = value
        self.file("k.cu", 'extern "C" __global__ void f_0(const float *A, float *O, int N) { O[threadIdx.x] = A[0]; }\n')
        self.run_manifest(code, json.dumps(base))

    def run_manifest(self, code, text):
        good = self.file("good.tc", "def f(float(N) A) -> (O) { O(i) = A(i) }\n")
        self.run_it(code, "test", good, "--impl", self.file("m.json", text), "--level", "emulate", "-s", "N=64")

    def test_manifests(self):
        for grid in ("N/0", "N/(N-64)", "N*9223372036854775807*N", "0-N", "N*1000000000000"):
            self.manifest(1, grid=[grid, 1, 1])
        self.manifest(3, grid=["(" * 100000 + "N" + ")" * 100000, 1, 1])
        self.manifest(3, block=[1000000000, 1000, 1000])
        self.manifest(1, dynamic_shared_bytes="N*1000000000000")
        self.manifest(1, workspace_bytes="N*100000000000000")
        self.manifest(1, workspace_bytes="0-100")
        self.manifest(2, source="/dev/zero")
        self.manifest(3, source=None)
        self.manifest(3, sizes={"N": {"min": -5, "max": 1e30}})
        for text in ("[" * 1000000, '{"a":' * 100000, '{"schema":', b'{"schema":"\xff\xfe"}'):
            self.run_manifest(3, text)


unittest.main(verbosity=1)
