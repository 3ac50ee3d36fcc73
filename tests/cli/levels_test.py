#!/usr/bin/env python3
"""`heddle test`: which cases it picks and which levels it takes, and what it says where there is none.

usage: levels_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import json
import sys
import unittest

from cli_test import Case, FINE, LIMIT

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
