#!/usr/bin/env python3
"""doc/arch.md's walk, "a chip in an hour": its commands as they stand there, then a figure filled in and one that is wrong.

usage: port_test.py PROGRAM
SPDX-License-Identifier: MIT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Walk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-port-")
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.folder.name + "/bin")
        os.symlink(HEDDLE, self.folder.name + "/bin/heddle")
        shutil.copytree(ROOT + "/layers", self.folder.name + "/layers")
        shutil.copytree(ROOT + "/tests/accelerator", self.folder.name + "/tests/accelerator")

    def run_all(self, text, code=0):
        environment = dict(os.environ, PATH=self.folder.name + "/bin:" + os.environ["PATH"])
        environment.pop("HEDDLE_PATH", None)
        p = subprocess.run(["sh", "-e", "-c", text], cwd=self.folder.name, capture_output=True, text=True, env=environment, timeout=300)
        self.assertEqual(p.returncode, code, text + p.stdout + p.stderr)
        return p.stdout + p.stderr

    def test_walk(self):
        with open(ROOT + "/doc/arch.md") as f:
            walk = f.read().split("## A chip in an hour")[1].split("## Fields")[0]
        steps = [re.sub(r"^   ", "", s, flags=re.M) for s in re.findall(r"```sh\n(.*?)```", walk, flags=re.S)]
        self.assertGreaterEqual(len(steps), 3)
        self.run_all(steps[0])
        path = self.folder.name + "/chips/mychip.yaml"
        with open(path) as f:
            text = f.read()
        # Filled in: one figure; the cost model and the manifest take it.
        line = next(l for l in text.splitlines() if l.startswith("# threads_per_block:"))
        filled = 'threads_per_block: { value: 64, unit: count, source: "the chip\'s manual, 3.2" }'
        with open(path, "w") as f:
            f.write(text.replace(line, filled))
        for step in steps[1:]:
            out = self.run_all(step)
        self.assertIn("pass", out)
        self.run_all("heddle emit layers/softmax.tc -t opencl:mychip --path chips -o out")
        with open(self.folder.name + "/out/softmax__opencl_mychip.cl") as f:
            threads = [int(n) for n in re.findall(r"reqd_work_group_size\((\d+),", f.read())]
        self.assertTrue(threads and max(threads) <= 64, threads)
        # A slip is told at its line.
        with open(path, "w") as f:
            f.write(text.replace(line, filled.replace("count", "KiB")))
        self.assertIn("mychip.yaml:", self.run_all("heddle arch validate chips/mychip.yaml", code=3))

    def test_backend(self):
        """The command of doc/backend.md, at the level that needs no driver."""
        with open(ROOT + "/doc/backend.md") as f:
            command = re.search(r"```sh\n(heddle test .*?)\n```", f.read()).group(1)
        self.assertIn("interpret,compile,device", command)
        self.assertIn("pass", self.run_all(command.replace(",device", "") + " --cases given"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
