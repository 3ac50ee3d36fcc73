#!/usr/bin/env python3
"""`heddle test`: which cases it picks and which levels it takes, and what it says where there is none.

usage: levels_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import json
import re
import os
import pty
import subprocess
import sys
import unittest

from cli_test import Case, HEDDLE, FAILED, LIMIT, MISSING

TWICE = """def twice(float(N) A) -> (C) {
	C(i) = A(i) * 2
}
"""
# A chip whose compiler accepts every text.
MINE = 'name: mine\ninherits: cpu\ncompile_arch: m1\ncompiler: [test, -s, "{source}"]\n'


class Levels(Case):
    def setUp(self):
        super().setUp()
        self.write("twice.tc", TWICE)
        self.write("mine.yaml", MINE)

    def verify(self, *words, **keywords):
        return self.heddle("test", *words, "--path", ".", **keywords)

    def rows(self, *words, **keywords):
        return json.loads(self.verify(*words, "--json", **keywords).stdout)["report"]["rows"]


class Manifests(Levels):
    """Cases of a hand-written kernel lie in the ranges and divisors of its manifest and of the definition together."""

    HEAD = "def rms_norm(float(N, D) x, float(D) w) -> (y)"
    BODY = """ {
	s(n) +=! x(n, d) * x(n, d)
	y(n, d) = x(n, d) * w(d) * rsqrt(s(n) / D + 0.00001)
}
"""

    # without vectors: one kernel for all pointers
    PLAIN = "fuse=0,0; k0: threads=128 stream=none; k0.S0: tile=d:128 thread=d:128 reduce=d:lanes; k0.S1: tile=d:128 thread=d:128"

    def kernel(self, given, **changes):
        """The text that emit writes for these sizes, as a kernel of one's own."""
        self.write("rms_norm.tc", self.HEAD + self.BODY)
        self.heddle("emit", "rms_norm.tc", "-t", "cuda:h100", "-s", given, "-o", ".", "--config", self.PLAIN)
        name = "rms_norm__cuda_h100.json"
        manifest = json.loads(self.read(name))
        manifest.update(changes)
        self.write(name, json.dumps(manifest))

    def sizes(self, head="", *words):
        if head:
            self.write("rms_norm.tc", head + self.BODY)
        rows = self.rows("rms_norm.tc", "--impl", "rms_norm__cuda_h100.json", "--level", "emulate", *words)
        self.assertEqual({r["verdict"] for r in rows}, {"pass"})
        cases = {r["case"].split(",")[0] for r in rows if r["level"] == "emulate:emulator"}
        return [dict((p[0], int(p[1])) for p in (word.split("=") for word in case.split())) for case in cases]

    def test_divisor(self):
        self.kernel("N=1:64,D=96*")
        d = {s["D"] for s in self.sizes()}
        self.assertTrue(all(x % 96 == 0 for x in d) and len(d - {0}) > 1, d)

    def test_fixed(self):
        self.kernel("D=4096")
        self.assertEqual({s["D"] for s in self.sizes()}, {4096})

    def test_narrow(self):
        self.kernel("N=33:35,D=1000:1010")
        for s in self.sizes():
            self.assertTrue(33 <= s["N"] <= 35 and 1000 <= s["D"] <= 1010, s)

    def test_large(self):
        self.kernel("D=1048576")
        self.assertEqual(self.sizes(), [{"N": 1, "D": 1048576}])

    def test_combined(self):
        """Multiples of 6 for the definition, of 4 for the manifest, below 100 by -s."""
        self.kernel("D=4*")
        for s in self.sizes(self.HEAD + " sizes D=6:1000*6", "-s", "D=1:100"):
            self.assertTrue(s["D"] % 12 == 0 and s["D"] <= 100, s)

    def test_lines_of_the_file(self):
        self.kernel("D=64*")
        sizes = self.sizes("#: sizes N=3 D=40\n#: sizes N=5 D=320\n" + self.HEAD)
        self.assertIn({"N": 5, "D": 320}, sizes)
        self.assertNotIn({"N": 3, "D": 40}, sizes)

    def test_variants(self):
        self.write("rms_norm.tc", self.HEAD + self.BODY)
        self.heddle("emit", "rms_norm.tc", "-t", "cuda:h100", "-s", "N=8,D=64", "-s", "N=32,D=1000", "-o", ".")
        sizes = self.sizes()
        self.assertIn({"N": 8, "D": 64}, sizes)
        self.assertIn({"N": 32, "D": 1000}, sizes)

    def test_preconditions(self):
        self.kernel("D=1:100000", preconditions=["D % 384 == 0", "N % 2 == 0"])
        sizes = self.sizes()
        self.assertTrue(sizes)
        for s in sizes:
            self.assertTrue(s["D"] % 384 == 0 and s["N"] % 2 == 0, s)

    def none(self, *says, head=HEAD, code=FAILED):
        self.write("rms_norm.tc", head + self.BODY)
        self.verify("rms_norm.tc", "--impl", "rms_norm__cuda_h100.json", "--level", "emulate", code=code, out=says)

    def test_none(self):
        self.kernel("D=1024:2048")
        self.none("E0721", "D is 1:512 for the definition and 1024:2048 for the manifest", head=self.HEAD + " sizes D=1:512")
        self.kernel("D=1024:2048", preconditions=["D % 3000 == 1"])
        self.none("E0721", "the manifest asks for D % 3000 == 1")
        self.kernel("D=1024:2048", sizes={"N": {"min": 1, "max": 9}, "D": {"min": 1, "max": 9}, "E": {"min": 1, "max": 9}})
        self.none("the manifest has a size 'E' that 'rms_norm' does not have")
        self.kernel("N=7,D=500000000")
        self.none("E0719", code=LIMIT)

    def test_other_backend(self):
        """A level that takes no text of this kind: named, it is missing, with the reason."""
        self.kernel("D=64*")
        self.verify("rms_norm.tc", "--impl", "rms_norm__cuda_h100.json", "--level", "opencl-cpu", code=MISSING,
                    out=["opencl-cpu, which is required", "it takes opencl text"])
        self.heddle("test", "mm.tc", "-t", "cuda:h100", "--level", "opencl-cpu:pocl", code=MISSING, out="it takes opencl text")


class Defaults(Levels):
    """Without --level, what answers in seconds runs; the last line names what was left out."""

    def test_slow_is_left_out(self):
        said = self.verify("twice.tc", "-t", "opencl:cpu", "--quick").stdout
        self.assertRegex(said, r"left out, since slow: opencl-cpu:rusticl, opencl-cpu:oclgrind \(--level opencl-cpu:oclgrind runs that one, "
                               r"--thorough all\); [0-9.]+ s\n$")
        report = json.loads(self.verify("twice.tc", "-t", "opencl:cpu", "--quick", "--json").stdout)["report"]
        self.assertEqual(report["left_out"], ["opencl-cpu:rusticl", "opencl-cpu:oclgrind"])
        self.assertFalse([r for r in report["rows"] if r["level"] in report["left_out"]])

    def test_named_or_thorough(self):
        for words in ["--level", "opencl-cpu"], ["--thorough"]:
            report = json.loads(self.verify("twice.tc", "-t", "opencl:cpu", "--quick", "-s", "N=8", *words, "--json").stdout)["report"]
            self.assertEqual(report["left_out"], [])
            told = {r["level"] for r in report["rows"]} | {m["level"] for m in report["missing"]}
            self.assertLessEqual({"opencl-cpu:rusticl", "opencl-cpu:oclgrind"}, told)

    def test_others_have_none(self):
        self.assertNotIn("left out", self.verify("twice.tc", "-t", "cuda:h100", "--quick").stdout)


class Progress(Levels):
    """A counter with its total: a bar on a terminal."""

    def shown(self, *words):
        main, side = pty.openpty()
        p = subprocess.Popen([HEDDLE, *words], cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=side)
        os.close(side)
        said = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        os.close(main)
        self.assertEqual(p.wait(), 0)
        return said.decode()

    def test_test(self):
        said = self.shown("test", "mm.tc", "twice.tc", "-t", "cuda:h100,opencl:cpu", "-l", "interpret")
        seen = [int(k) for k in re.findall(r"\[#*\.*\] (\d+) of 12\b", said)]  # a program that is as another one was is not tested
        self.assertTrue(seen == sorted(seen) and len(set(seen)) >= 10, seen)
        self.assertNotIn("12 of 12", said)

    def test_test_by_hand(self):
        self.heddle("emit", "twice.tc", "-t", "cuda:h100", "-o", ".")
        self.assertIn("0 of 1: twice.tc twice impl cuda:h100", self.shown("test", "twice.tc", "--impl", "twice__cuda_h100.json", "-l", "emulate"))

    def test_emit(self):
        self.write("two.tc", TWICE + TWICE.replace("twice", "again"))
        said = self.shown("emit", "two.tc", "-t", "cuda:h100,hip:mi300x", "-o", "out")
        self.assertIn("0 of 4: twice for cuda:h100", said)
        self.assertRegex(said, "3 of 4[^:]*: again for hip:mi300x")

    def test_top(self):
        self.assertRegex(self.shown("plan", "twice.tc", "-t", "cuda:h100", "-s", "N=1000", "--top", "3"), "[0-9]+ of [0-9]+[^:]*: configs of twice")

    def test_plain(self):
        """No terminal: no bar, and nothing for what is over at once."""
        said = self.heddle("test", "twice.tc", "-t", "cuda:h100", "-l", "interpret").stderr
        self.assertNotIn(" of 1", said)
        self.assertNotIn("\r", said)


class RealSizes(Levels):
    """The level compile runs nothing, so it takes all sizes; other levels say that a case is too large, at once."""

    def compiled(self, *words):
        rows = [r for r in self.rows(*words, "--level", "compile:command") if r["level"] == "compile:command"]
        self.assertEqual({r["verdict"] for r in rows}, {"pass"})

    def test_compile(self):
        self.compiled("mm.tc", "-t", "opencl:mine", "-s", "M=8192,N=8192,K=8192")
        self.compiled("twice.tc", "-t", "opencl:mine", "-s", "N=2000000000")
        self.compiled("twice.tc", "-t", "opencl:mine", "-s", "N=2000000000", "-s", "N=1000000000")

    def test_compile_by_hand(self):
        self.heddle("emit", "twice.tc", "-t", "opencl:mine", "-o", ".", "--path", ".")
        self.compiled("twice.tc", "--impl", "twice__opencl_mine.json", "-s", "N=1000000000")
        self.compiled("--impl", "twice__opencl_mine.json", "-s", "N=1000000000")

    def test_limit(self):
        self.heddle("emit", "twice.tc", "-t", "opencl:cpu,cuda:h100", "-o", ".")
        for words in (["twice.tc", "--impl", "twice__cuda_h100.json"], ["--impl", "twice__cuda_h100.json"]):
            self.verify(*words, "-s", "N=1000000000", "-l", "emulate", code=LIMIT, out=["2e+09 elements", "E0719"])
        self.verify("mm.tc", "-s", "M=8192,N=8192,K=8192", "-t", "opencl:cpu", "-l", "interpret", code=LIMIT, out="E0719")
        # With a level that runs, the text is compiled all the same.
        rows = self.rows("twice.tc", "-s", "N=1000000000", "-t", "opencl:mine", "-l", "interpret,compile:command", code=LIMIT)
        self.assertIn(("compile:command", "pass"), {(r["level"], r["verdict"]) for r in rows})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
