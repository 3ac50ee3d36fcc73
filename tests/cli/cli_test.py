#!/usr/bin/env python3
"""The program as its users meet it: exit codes, messages, JSON, files written whole or not at all.

usage: cli_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "heddle"
MATMUL = """def mm(float(M,K) A, float(K,N) B) -> (C) {
	C(i,j) +=! A(i,k) * B(k,j)
}
"""
FINE, FAILED, USAGE, SOURCE, MISSING, LIMIT, SKIPPED = 0, 1, 2, 3, 4, 5, 77


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-cli-")
        self.addCleanup(self.folder.cleanup)
        self.write("mm.tc", MATMUL)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w" if isinstance(text, str) else "wb") as f:
            f.write(text)
        return path

    def heddle(self, *words, code=FINE, err=None, out=None, **keywords):
        """Run the program in the test's folder; the exit code and parts of both outputs are checked."""
        environment = dict(os.environ, **keywords.pop("env", {}))
        environment.pop("HEDDLE_PATH", None)
        p = subprocess.run([HEDDLE, *words], cwd=self.folder.name, capture_output=True, text=True, timeout=240,
                           env=environment, **keywords)
        self.assertEqual(p.returncode, code, f"heddle {' '.join(words)}\n{p.stdout}{p.stderr}")
        for part in [err] if isinstance(err, str) else err or []:
            self.assertIn(part, p.stderr)
        for part in [out] if isinstance(out, str) else out or []:
            self.assertIn(part, p.stdout)
        if code in (USAGE, SOURCE, MISSING):
            self.assertNotEqual(p.stderr.strip(), "", "a failure without a word")
        return p

    def files(self, folder="."):
        return sorted(os.listdir(os.path.join(self.folder.name, folder)))


class Usage(Case):
    def test_help(self):
        self.heddle("--help", out=["usage: heddle VERB", "emit", "77 everything skipped"])
        self.heddle("--version", out="heddle 0.")
        for verb in "check emit plan test run bench arch doctor explain".split():
            self.heddle(verb, "--help", out=["usage: heddle " + verb, "--json"])

    def test_nothing(self):
        self.heddle(code=USAGE, err="usage: heddle VERB")

    def test_unknown_verb(self):
        self.heddle("emti", code=USAGE, err=["no verb 'emti'", "did you mean 'emit'", "E0910"])
        self.heddle("frobnicate", code=USAGE, err="heddle --help")

    def test_unknown_option(self):
        self.heddle("check", "mm.tc", "--jsno", code=USAGE, err=["no option '--jsno'", "did you mean '--json'", "E0911"])
        self.heddle("check", "mm.tc", "--repeat=3", code=USAGE, err="no option '--repeat'")
        self.heddle("--xyz", code=USAGE, err="no option '--xyz'")

    def test_values(self):
        self.heddle("check", "mm.tc", "-s", code=USAGE, err=["needs a value", "E0912"])
        self.heddle("check", "mm.tc", "--json=1", code=USAGE, err="takes no value")
        self.heddle("check", code=USAGE, err=["needs an argument", "E0913"])
        self.heddle("emit", "mm.tc", "mm.tc", code=USAGE, err="E0914")
        self.heddle("bench", "mm.tc", "--repeat", "many", "-s", "M=8,N=8,K=8", code=USAGE, err="E0915")

    def test_order_is_free(self):
        a = self.heddle("check", "-s", "M=4", "mm.tc").stdout
        self.assertEqual(a, self.heddle("check", "mm.tc", "-sM=4").stdout)
        self.assertEqual(a, self.heddle("check", "mm.tc", "--sizes=M=4").stdout)
        self.assertEqual(a, self.heddle("check", "--sizes", "M=4", "--", "mm.tc").stdout)

    def test_unwritable_output(self):
        with open("/dev/full", "w") as full:
            p = subprocess.run([HEDDLE, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, USAGE)
        self.assertIn("No space left", p.stderr)

    def test_colours(self):
        plain = self.heddle("check", "none.tc", code=USAGE).stderr
        self.assertNotIn("\033", plain)
        self.assertIn("\033[1;31merror:", self.heddle("--colour", "check", "none.tc", code=USAGE).stderr)


class Check(Case):
    def test_fine(self):
        self.heddle("check", "mm.tc", out=["mm\n", "float32 C(M,N)"])

    def test_standard_input(self):
        self.heddle("check", "-", input=MATMUL, out="float32 C(M,N)")

    def test_json(self):
        doc = json.loads(self.heddle("check", "mm.tc", "--json", "-s", "M=8").stdout)
        self.assertEqual(doc["exit"], 0)
        d = doc["files"][0]["definitions"][0]
        self.assertEqual(d["sizes"]["M"], 8)
        self.assertEqual([t["name"] for t in d["tensors"]], ["A", "B", "C"])
        self.assertEqual(d["tensors"][2]["role"], "output")

    def test_errors(self):
        self.write("bad.tc", "def f(float(N) A) -> (B) {\n\tB(i) = A(i) +\n}\n")
        p = self.heddle("check", "bad.tc", code=SOURCE, err=["bad.tc:", "error:", "^", "[E0"])
        self.assertEqual(p.stdout, "")
        doc = json.loads(self.heddle("check", "bad.tc", "--json", code=SOURCE).stdout)
        self.assertEqual(doc["exit"], SOURCE)
        self.assertEqual(doc["diagnostics"][0]["severity"], "error")
        self.assertGreater(doc["diagnostics"][0]["line"], 0)

    def test_all_files_are_checked(self):
        self.write("bad.tc", "def f(\n")
        self.heddle("check", "bad.tc", "mm.tc", "none.tc", code=SOURCE, err=["bad.tc", "none.tc"], out="mm\n")

    def test_unreadable(self):
        self.heddle("check", "none.tc", code=USAGE, err=["none.tc", "No such file", "E0901"])
        self.heddle("check", ".", code=USAGE, err="Is a directory")

    def test_garbage(self):
        self.write("noise.tc", bytes(range(256)) * 8)
        self.heddle("check", "noise.tc", code=SOURCE, err="noise.tc")
        p = self.heddle("check", "noise.tc", "--json", code=SOURCE)
        for d in json.loads(p.stdout)["diagnostics"]:
            self.assertIn("message", d)

    def test_bad_sizes(self):
        self.heddle("check", "mm.tc", "-s", "M=", code=SOURCE, err="E03")
        self.heddle("check", "mm.tc", "-s", "Q=4", code=SOURCE, err="Q")

    def test_names(self):
        self.heddle("check", "mm.tc", "--def", "nn", code=SOURCE, err="nn")


class Arch(Case):
    def test_list(self):
        out = self.heddle("arch", "list").stdout
        self.assertGreater(len(out.splitlines()), 3)
        doc = json.loads(self.heddle("arch", "list", "--json").stdout)
        self.assertEqual(len(doc["descriptors"]), len(out.splitlines()) - 1)

    def test_show(self):
        self.heddle("arch", "show", "h200", out=["units", "132", "sm_90"])
        doc = json.loads(self.heddle("arch", "show", "h200", "--json").stdout)
        self.assertEqual(doc["descriptor"]["units"]["value"], 132)

    def test_unknown(self):
        self.heddle("arch", "show", "h20", code=USAGE, err=["h20", "did you mean"])
        self.heddle("arch", "lits", code=USAGE, err="did you mean 'list'")
        self.heddle("arch", "show", code=USAGE, err="needs a name")

    def test_diff(self):
        out = self.heddle("arch", "diff", "h100", "h200").stdout
        self.assertIn("memory.global.bandwidth", out)
        self.assertNotIn("threads_per_block", out)

    def test_new_and_validate(self):
        text = self.heddle("arch", "new", "--from", "h200", "toy").stdout
        path = self.write("toy.yaml", text)
        self.heddle("arch", "validate", path, out="toy is valid")
        self.heddle("arch", "show", "toy", "--path", self.folder.name, out="132")
        self.write("toy.yaml", text + "unitz: { value: 3, unit: count, assumed: true }\n")
        self.heddle("arch", "validate", path, code=SOURCE, err=["toy.yaml:", "unitz", "E0403"])
        self.heddle("arch", "validate", "none.yaml", code=USAGE, err="none.yaml")


class Explain(Case):
    def test_all(self):
        lines = self.heddle("explain").stdout.splitlines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            self.heddle("explain", line.split()[0], out=line.split()[0])

    def test_forms(self):
        one = self.heddle("explain", "E0918").stdout
        self.assertEqual(one, self.heddle("explain", "918").stdout)
        self.assertEqual(json.loads(self.heddle("explain", "E0918", "--json").stdout)["codes"][0]["code"], "E0918")
        self.heddle("explain", "E9999", code=USAGE, err="no code 'E9999'")
        self.heddle("explain", "", code=USAGE)


class Doctor(Case):
    def test_table(self):
        self.heddle("doctor", out=["emulate", "compile"])
        for runner in json.loads(self.heddle("doctor", "--json").stdout)["doctor"]["levels"]:
            self.assertIn("available", runner)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
