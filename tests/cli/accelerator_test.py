#!/usr/bin/env python3
"""A chip that nobody built (tests/accelerator): two YAML files and a script, found on a path, and Heddle as it is.

With HEDDLE_TEST_FULL in the environment all layers are tested, else a few.

usage: accelerator_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cli_test import HEDDLE, needs_pocl

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FEW = ["softmax", "matmul_bias_relu"]


class Accelerator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-chip-")
        self.addCleanup(self.folder.cleanup)
        self.chip = os.path.join(self.folder.name, "a chip")
        shutil.copytree(os.path.join(ROOT, "tests", "accelerator"), self.chip, ignore=shutil.ignore_patterns("__pycache__"))

    def heddle(self, *words, code=0):
        environment = dict(os.environ, HEDDLE_PATH=self.chip, HEDDLE=HEDDLE)
        p = subprocess.run([HEDDLE, *words], cwd=self.folder.name, capture_output=True, text=True, env=environment, timeout=3000)
        self.assertEqual(p.returncode, code, f"heddle {' '.join(words)}\n{p.stdout[-3000:]}{p.stderr[-3000:]}")
        return p

    def layer(self, name):
        return os.path.join(ROOT, "layers", name + ".tc")

    def change(self, name, old, new):
        path = os.path.join(self.chip, name)
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w") as f:
            f.write(text.replace(old, new))

    def test_two_files(self):
        files = [f for f in glob.glob(self.chip + "/**", recursive=True) if os.path.isfile(f)]
        self.assertEqual(sorted(os.path.basename(f) for f in files), ["dialect.yaml", "loom.py", "loom.yaml"])
        self.heddle("arch", "validate", self.chip + "/loom.yaml")
        self.assertIn("weave:loom", self.heddle("arch", "list").stdout)

    def test_words(self):
        """Nothing of another language is in the text, and the chip's own figures decide."""
        self.heddle("emit", self.layer("softmax"), "-s", "N=4:900,D=512", "-t", "weave:loom", "-o", "out")
        self.assertEqual(sorted(os.listdir(self.folder.name + "/out")), ["softmax.h", "softmax__weave_loom.json", "softmax__weave_loom.weave"])
        with open(self.folder.name + "/out/softmax__weave_loom.weave") as f:
            text = re.sub(r"//.*", "", f.read())
        for word in "kern softmax_0(", "r4v64", "fixed i4 block = tile_id()", "repeat (i4 ", "take_r4v64(", "far_moved(":
            self.assertIn(word, text)
        foreign = re.findall(r"\b(?:if|else|for|const|float\d*|int|double|__\w+|kernel|barrier|vload\w*|get_\w+|true|false)\b", text)
        self.assertEqual(foreign, [])

    @needs_pocl
    def test_layers(self):
        full = "HEDDLE_TEST_FULL" in os.environ
        names = [os.path.splitext(os.path.basename(f))[0] for f in sorted(glob.glob(ROOT + "/layers/*.tc"))] if full else FEW
        for name in names:
            p = self.heddle("test", self.layer(name), "-t", "weave:loom", "--cases", "given", "--timeout", "300", "--json", "--level",
                            "interpret,compile:command,device:command")
            rows = json.loads(p.stdout)["report"]["rows"]
            self.assertEqual({r["verdict"] for r in rows}, {"pass"}, name)
            self.assertEqual({r["level"] for r in rows} - {"coverage"}, {"generate", "interpret", "compile:command", "device:command"})
            for r in rows:
                self.assertNotIn("warning", r.get("message") or "")

    def test_copy(self):
        """A tile comes by the chip's own copy, because its descriptor prefers it."""
        self.heddle("emit", self.layer("matmul_bias_relu"), "-t", "weave:loom", "-o", "out", "--config", "k0.B.0: space=shared")
        with open(self.folder.name + "/out/matmul_bias_relu__weave_loom.weave") as f:
            text = f.read()
        for word in "copy=dma", "dma_start(copies, &B_tile[", "dma_finish(copies);", "scratch(256) r4 B_tile[":
            self.assertIn(word, text)

    @needs_pocl
    def test_missing_wait(self):
        """The simulator moves nothing before the wait: without it the numbers are wrong."""
        self.change("backends/weave/dialect.yaml", "wait: 'dma_finish({event});'", "wait: '/* later */'")
        p = self.heddle("test", self.layer("matmul_bias_relu"), "-t", "weave:loom", "--cases", "given", "--level", "device:command",
                        "--config", "k0.B.0: space=shared", code=1)
        self.assertIn("FAIL", p.stdout)

    @needs_pocl
    def test_wrong_word(self):
        """What the chip's own tools reject or compute wrongly is found by the levels that ask them."""
        self.change("backends/weave/dialect.yaml", "max: 'most_or_no", "max: 'least_or_no")
        p = self.heddle("test", self.layer("softmax"), "-t", "weave:loom", "--cases", "given", "--level", "device:command", code=1)
        self.assertIn("FAIL", p.stdout)
        self.change("backends/weave/dialect.yaml", "kernel: 'kern", "kernel: 'kernel")
        p = self.heddle("test", self.layer("softmax"), "-t", "weave:loom", "--level", "compile:command", code=1)
        self.assertIn("kernel is no word of weave", p.stdout)

    def test_missing_word(self):
        self.change("backends/weave/dialect.yaml", "barrier: shared_barrier();\n", "")
        p = self.heddle("emit", self.layer("softmax"), "-s", "N=4,D=64", "-t", "weave:loom", code=3)
        self.assertIn("says nothing for `barrier`", p.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
