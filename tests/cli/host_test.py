#!/usr/bin/env python3
"""The target `host` on processors that are not here: CPUID and /sys replaced by a folder (HEDDLE_HOST), and what each verb takes
where it is not told.

usage: host_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "heddle"
FINE, USAGE, MISSING = 0, 2, 4
MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) {\n\tC(i,j) +=! A(i,k) * B(k,j)\n}\n"
TWO = MATMUL + "def add(float(N) a, float(N) b) -> (c) { c(i) = a(i) + b(i) }\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def machine(folder, cpuid, cores, threads=1, l1="32K", l2="512K", l3="16384K", line=64):
    """A processor as CPUID and Linux show it."""
    base = folder + "/sys/devices/system/cpu/"
    write(folder + "/cpuid", cpuid + "\n")
    write(base + "online", f"0-{cores * threads - 1}\n")
    for cpu in range(cores * threads):
        first = cpu // threads * threads
        write(f"{base}cpu{cpu}/topology/thread_siblings_list", f"{first}-{first + threads - 1}\n" if threads > 1 else f"{cpu}\n")
        for index, (level, kind, size) in enumerate([(1, "Data", l1), (1, "Instruction", "64K"), (2, "Unified", l2), (3, "Unified", l3)]):
            for name, value in (("level", level), ("type", kind), ("size", size), ("coherency_line_size", line), ("ways_of_associativity", 8)):
                write(f"{base}cpu{cpu}/cache/index{index}/{name}", f"{value}\n")
    return folder


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heddle-host-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        write(self.folder + "/mm.tc", MATMUL)
        write(self.folder + "/two.tc", TWO)
        self.avx2 = machine(self.folder + "/avx2", "sse2 avx avx2", cores=8, threads=2)
        self.avx512 = machine(self.folder + "/avx512", "sse2 avx avx2 avx512f", cores=4, l1="48K", l2="2M", l3="65536K")

    def heddle(self, *words, code=FINE, out=(), err=(), host=None, **env):
        environment = dict(os.environ, XDG_CACHE_HOME=self.folder + "/cache", **env)
        environment.pop("HEDDLE_PATH", None)
        if host:
            environment["HEDDLE_HOST"] = host
        p = subprocess.run([HEDDLE, *words], cwd=self.folder, capture_output=True, text=True, timeout=240, env=environment)
        self.assertEqual(p.returncode, code, f"heddle {' '.join(words)}\n{p.stdout}{p.stderr}")
        for part in [out] if isinstance(out, str) else out:
            self.assertIn(part, p.stdout)
        for part in [err] if isinstance(err, str) else err:
            self.assertIn(part, p.stderr)
        return p

    def shown(self, name, host):
        return json.loads(self.heddle("arch", "show", name, "--json", host=host).stdout)["descriptor"]

    def has(self, name):
        levels = json.loads(self.heddle("doctor", "--json").stdout)["doctor"]["levels"]
        return any(row["name"] == name and row["available"] for row in levels)

    def needs(self, level, name):
        levels = json.loads(self.heddle("doctor", "--json").stdout)["doctor"]["levels"]
        if any(row["level"] == "device" and row["available"] for row in levels) and level == "opencl-cpu":
            self.skipTest("a GPU is here: it is the default")
        if not self.has(name):
            self.skipTest(f"no {name} here")


class Host(Case):
    def test_vectors(self):
        for host, near, bits in ((self.avx2, "cpu-avx2", 256), (self.avx512, "cpu", 512)):
            d, shipped = self.shown("host", host), self.shown(near, host)
            self.assertEqual((d["inherits"], d["vector_bytes"]["value"], d["backend"]), (near, bits // 8, "opencl"))
            self.assertEqual(d["vector_registers"], shipped["vector_registers"])
        plain = machine(self.folder + "/sse", "sse2", cores=2)
        self.assertEqual(self.shown("host", plain)["vector_bytes"]["value"], 16)

    def test_cores_and_caches(self):
        d, shipped = self.shown("host", self.avx2), self.shown("cpu-avx2", self.avx2)
        self.assertEqual(d["units"]["value"], 8)  # not the 16 threads
        memory = {name: m["size"]["value"] for name, m in d["memory"].items() if "size" in m}
        self.assertEqual((memory["l1"], memory["l2"], memory["l3"]), (32 << 10, 512 << 10, 16 << 20))
        self.assertEqual((memory["shared"], d["shared_per_block"]["value"]), (256 << 10, 256 << 10))
        self.assertEqual(d["memory"]["l1"]["ways"]["value"], 8)
        self.assertNotIn("ways", d["memory"]["l2"])
        # what cores have each is scaled, the bandwidth of global memory is not
        cores = 8 / shipped["units"]["value"]
        for part in ("rates", "memory"):
            self.assertIn("float32" if part == "rates" else "l1", d[part])
        self.assertAlmostEqual(d["rates"]["float32"]["value"], cores * shipped["rates"]["float32"]["value"])
        self.assertAlmostEqual(d["memory"]["l1"]["bandwidth"]["value"], cores * shipped["memory"]["l1"]["bandwidth"]["value"])
        self.assertEqual(d["memory"]["global"]["bandwidth"]["value"], shipped["memory"]["global"]["bandwidth"]["value"])

    def test_lines(self):
        wide = machine(self.folder + "/wide", "sse2 avx2", cores=1, line=128)
        d = self.shown("host", wide)
        self.assertEqual([d["memory"][m]["line"]["value"] for m in ("l1", "l2", "l3", "global")], [128] * 4)

    def test_nothing_shown(self):
        os.mkdir(self.folder + "/bare")
        d = self.shown("host", self.folder + "/bare")
        self.assertEqual((d["inherits"], d["units"]), ("cpu-sse", self.shown("cpu-sse", None)["units"]))
        self.heddle("arch", "show", "host", host=self.folder + "/none", code=USAGE, err=["HEDDLE_HOST", "/none", "E0901"])

    def test_is_a_descriptor(self):
        self.heddle("arch", "list", out=["opencl:host", "this machine: "])
        self.heddle("arch", "diff", "host", "cpu-avx2", host=self.avx2, out="units")
        self.heddle("arch", "show", "host", host=self.avx2, out="8 cores with 256-bit vectors, L1 32 KiB, L2 512 KiB, L3 16 MiB")
        self.heddle("doctor", host=self.avx2, out="8 cores with 256-bit vectors")
        self.heddle("plan", "mm.tc", "-s", "M=64,N=64,K=64", "-t", "host", "--sweep", "l2.size=1M", host=self.avx2, out="opencl:host")
        write(self.folder + "/chips/mine.yaml", "name: mine\ninherits: host\nunits: { value: 3, unit: count, assumed: true }\n")
        self.heddle("arch", "show", "mine", "--path", "chips", host=self.avx2, out="units                      3")
        self.heddle("arch", "show", "hots", code=USAGE, err="did you mean `host`")

    def test_own_files(self):
        """A file of the user's that is called as one that `host` begins with changes nothing of `host`; a circle is told."""
        write(self.folder + "/chips/cpu.yaml", "name: cpu\ninherits: host\nunits: { value: 3, unit: count, assumed: true }\n")
        self.heddle("arch", "show", "cpu", "--path", "chips", host=self.avx512, code=3, err="cpu -> host -> cpu")
        self.heddle("arch", "show", "host", "--path", "chips", host=self.avx512, out="units                      4")
        write(self.folder + "/chips/host.yaml", "name: host\ninherits: cpu\n")
        self.heddle("arch", "show", "host", "--path", "chips", code=3, err="inherits from itself")

    def test_emit(self):
        words = ("emit", "mm.tc", "-s", "M=64,N=64,K=64", "-t", "host", "-o", "out", "--depfile", "d")
        self.heddle(*words, host=self.avx2, out=["out/mm__opencl_host.cl", "out/mm__opencl_host.json"])
        with open(self.folder + "/out/mm__opencl_host.json") as f:
            manifest = json.load(f)
        self.assertEqual(manifest["arch"], "host")
        self.assertIn("8 cores with 256-bit vectors, L1 32 KiB", manifest["notes"][0])
        with open(self.folder + "/d") as f:
            self.assertNotIn("cpuid", f.read())

    def test_measured(self):
        """Figures of an earlier `arch probe host` count where the machine is still the same."""
        mark = "# heddle arch probe host, on 8 cores with 256-bit vectors, L1 32 KiB, L2 512 KiB, L3 16 MiB\n"
        text = mark + "name: host\ninherits: host-found\nmemory:\n  global:\n" \
            "    bandwidth: { value: 77, unit: GB/s, source: \"measured\" }\n"
        write(self.folder + "/cache/heddle/host.yaml", text)
        d = self.shown("host", self.avx2)
        self.assertEqual((d["memory"]["global"]["bandwidth"]["value"], d["units"]["value"]), (77e9, 8))
        self.assertNotEqual(self.shown("host", self.avx512)["memory"]["global"]["bandwidth"]["value"], 77e9)
        off = json.loads(self.heddle("arch", "show", "host", "--json", host=self.avx2, HEDDLE_CACHE="off").stdout)["descriptor"]
        self.assertNotEqual(off["memory"]["global"]["bandwidth"]["value"], 77e9)

    def test_default_of_run_and_bench(self):
        """Whatever the processor: the descriptor that fits it is taken without -t."""
        self.needs("opencl-cpu", "pocl")
        for host, cores, bits in ((self.avx2, 8, 256), (self.avx512, 4, 512)):
            line = f"heddle: definition 'mm', target host (opencl, {bits}-bit vectors, {cores} cores), sizes M=32,K=32,N=32"
            words = ("mm.tc", "-s", "M=32,N=32,K=32")
            self.assertNotIn("W0927", self.heddle("run", *words, host=host, err=line).stderr)
            self.heddle("bench", *words, "--repeat", "2", host=host, err=line, out="opencl:host")
            # The kernel is one for these vectors: they fill registers.
            config = json.loads(self.heddle("bench", *words, "--repeat", "1", "--json", host=host).stdout)["cases"][0]["kernels"][0]["config"]
            lengths = [int(n) for vectors in re.findall(r"vector=(\S+)", config) for n in re.findall(r":(\d+)", vectors)]
            self.assertTrue(any(n % (bits // 32) == 0 for n in lengths), config)

    def test_vectors_that_are_lacking(self):
        self.needs("opencl-cpu", "pocl")
        words = ("mm.tc", "-s", "M=32,N=32,K=32", "-t", "opencl:cpu")
        said = ["opencl:cpu has vectors of 512 bits, and this processor's have 256", "W0927", "opencl:cpu-avx2"]
        self.heddle("run", *words, host=self.avx2, err=said)
        p = self.heddle("bench", *words, "--repeat", "2", "--config", "", "--config", "k0.S0: tile=j:16 vector=j:16", host=self.avx2, err=said)
        self.assertEqual(p.stderr.count("W0927"), 1)
        for target, host in (("opencl:cpu", self.avx512), ("opencl:cpu-avx2", self.avx512), ("opencl:cpu-avx2", self.avx2)):
            self.assertNotIn("W0927", self.heddle("run", *words[:-1], target, host=host).stderr)

    def test_measured(self):
        """--effort 3: the config is one that has run here, and each of the verbs takes it; what has no device is an error."""
        self.needs("opencl-cpu", "pocl")
        words = ("mm.tc", "-s", "M=16,N=16,K=16", "-t", "host", "--effort", "3")
        self.heddle("bench", *words, "--repeat", "2", out="opencl:host")
        self.heddle("emit", *words, "-o", "out", out="out/mm__opencl_host.cl")
        with open(self.folder + "/out/mm__opencl_host.json") as f:
            manifest = json.load(f)
        self.assertEqual(manifest["proof"], "proved")
        self.assertIn("k0.S0: tile=", manifest["config"])
        words = ("mm.tc", "-s", "M=16,N=16,K=16", "-t", "cuda:h100", "--effort", "3")
        self.heddle("emit", *words, "-o", "none", code=MISSING, err=["E0810", "cuda:h100"])
        self.assertFalse(os.path.exists(self.folder + "/none"))

    def test_probe(self):
        self.needs("opencl-cpu", "pocl")
        self.heddle("arch", "probe", "host", "--level", "opencl-cpu:pocl", out="measured / stated", err="cache/heddle/host.yaml")
        d = self.shown("host", None)
        self.assertEqual(d["inherits"], "host-found")
        self.assertIn("measured by heddle arch probe", d["memory"]["global"]["bandwidth"]["source"])
        self.heddle("arch", "show", "host", host=self.avx2, out="inherits                   cpu-avx2")


class Took(Case):
    """What was not told is said; what was told is not."""

    def test_several_definitions(self):
        for verb in ("run", "bench", "plan"):
            p = self.heddle(verb, "two.tc", "-s", "N=4", code=USAGE, err=["2 definitions", "--def", "mm, add", "E0917"])
            self.assertEqual(p.stdout, "")
        # `bench` without sizes is for the lines of all definitions, each of which it names.
        add = TWO[len(MATMUL):]
        write(self.folder + "/lines.tc", f"#: bench N=64\n{add}#: bench N=32\n{add.replace('add', 'sum')}")
        if self.has("pocl"):
            self.heddle("bench", "lines.tc", "--repeat", "2", "-t", "opencl:cpu-sse", out=["add N=64", "sum N=32"],
                        err=["definition 'add', target opencl:cpu-sse, sizes N=64", "definition 'sum'"])
        self.heddle("plan", "two.tc", "--def", "add", "-s", "N=4", out="add on cuda:h100", err="heddle: definition 'add', target cuda:h100, sizes N=4")

    def test_lines(self):
        self.heddle("emit", "two.tc", "-s", "M=4", "-t", "h100", "-o", "out", err="heddle: definitions 'mm', 'add', target cuda:h100, sizes M=4, open: K,N\n")
        self.heddle("plan", "mm.tc", "-s", "M=4,K=8*", err="heddle: definition 'mm', target cuda:h100, sizes M=4,K=8*, open: N\n")
        self.heddle("emit", "mm.tc", "-o", "out", err="heddle: definition 'mm', targets cuda:h100, hip:mi300x, opencl:cpu, sizes M,K,N open\n")
        self.heddle("emit", "mm.tc", "-t", "h100", "-s", "M=8", "-s", "", "--sizes-auto", "-o", "out", code=USAGE)
        self.heddle("emit", "mm.tc", "--sizes-auto", "-t", "h100", "-o", "out", err="heddle: definition 'mm', target cuda:h100, 2 variants of sizes\n")
        self.heddle("test", "mm.tc", "--level", "interpret", "--quick", host=self.avx2,
                    err="heddle: targets cuda:h100, hip:mi300x, host (opencl, 256-bit vectors, 8 cores), every definition at the sizes of its '#: sizes' lines\n")

    def test_told(self):
        sizes = ("-s", "M=4,N=4,K=4")
        for words in (("check", "mm.tc", *sizes), ("plan", "mm.tc", *sizes, "-t", "h100"), ("emit", "mm.tc", *sizes, "-t", "h100", "-o", "out"),
                      ("emit", "mm.tc", "-s", "M=4", "-s", "", "-t", "h100", "-o", "out"), ("plan", "mm.tc", "-s", "", "-t", "h100"),
                      ("test", "mm.tc", "--def", "mm", *sizes, "-t", "h100", "--level", "interpret")):
            self.assertNotIn("heddle: ", self.heddle(*words).stderr, words)

    def test_json(self):
        took = json.loads(self.heddle("plan", "mm.tc", "-s", "M=4,K=1:8", "--json").stdout)["took"]
        self.assertEqual([t["name"] for t in took[0]["targets"]], ["cuda:h100"])
        sizes = {"M": 4, "K": {"min": 1, "max": 8, "divisor": 1}}
        self.assertEqual(took[0]["definitions"][0]["name"], "mm")
        self.assertEqual({k: v for k, v in took[0]["definitions"][0]["sizes"].items() if k != "N"}, sizes)
        took = json.loads(self.heddle("emit", "two.tc", "--json", "-o", "out").stdout)["took"]
        self.assertEqual([(len(t["definitions"]), len(t["targets"])) for t in took], [(2, 3)])

    def test_sizes_of_times(self):
        """Times at open sizes are for sizes that are named."""
        self.heddle("plan", "mm.tc", "-s", "M=4,K=1:8", out="times and traffic of the model are for K=8,N=1024, which are open")
        self.assertNotIn("which", self.heddle("plan", "mm.tc", "-s", "M=4,N=4,K=4").stdout)
        doc = json.loads(self.heddle("plan", "mm.tc", "-s", "M=4,K=1:8", "--json").stdout)
        self.assertEqual(doc["model_sizes"], {"M": 4, "K": 8, "N": 1024})

    def test_help_names_defaults(self):
        for verb, default in (("emit", "cuda:h100, hip:mi300x, opencl:cpu"), ("test", "cuda:h100, hip:mi300x, host"), ("plan", "cuda:h100"),
                              ("run", "the first GPU, else host"), ("bench", "the first GPU, else host")):
            self.heddle(verb, "--help", out=default)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
