# The hand-written kernels of tests/handwritten by `heddle test --impl`: the right ones pass at every level that is here, each wrong
# one fails with a finding at a line that its source marks "found here: KINDS", and manifests are what `heddle manifest` writes.
# SPDX-License-Identifier: MIT
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HEDDLE = os.path.abspath(sys.argv.pop(1))
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/handwritten"
KERNELS = sorted(p for p in FOLDER.glob("*.json") if not p.name.startswith("softmax_"))
FINDER = {"cuda": "emulate", "hip": "emulate", "opencl": "opencl-cpu:oclgrind"}  # the level that finds and that must be there


def rows(kernel, *args):
    layer = kernel.name.split("_")[0] + ".tc"
    p = subprocess.run([HEDDLE, "test", "--json", f"tests/handwritten/{layer}", "--impl", str(kernel.relative_to(ROOT)), *args],
                       cwd=ROOT, capture_output=True, text=True, timeout=300)
    return p.returncode, json.loads(p.stdout)["report"]["rows"]


def marks(source):
    found = {}
    for number, line in enumerate(source.read_text().split("\n"), 1):
        mark = re.search(r"// found here: ([a-z, ]+)", line)
        if mark:
            found[number] = mark.group(1).split(", ")
    return found


class Handwritten(unittest.TestCase):
    def check(self, kernel):
        manifest = json.loads(kernel.read_text())
        source, backend = FOLDER / manifest["source"], manifest["backend"]
        wrong = marks(source)
        if kernel.stem.count("_") == 2:
            self.assertTrue(wrong, "a wrong kernel without a mark")
            code, found = rows(kernel, "--level", FINDER[backend])
            self.assertEqual(code, 1)
            places = {(f["file"], f["line"], f["kind"]) for r in found for f in r["findings"]}
            expected = {(f"tests/handwritten/{manifest['source']}", line, kind) for line, kinds in wrong.items() for kind in kinds}
            self.assertTrue(places & expected, f"found at {sorted(places)}, not at {sorted(expected)}")
            return
        self.assertFalse(wrong)
        code, found = rows(kernel, "--cases", "given")
        self.assertEqual(code, 0, [r for r in found if r["verdict"] != "pass"])
        if not any(r["level"].startswith(FINDER[backend]) for r in found):  # a slow simulator, which runs when it is named
            code, more = rows(kernel, "--cases", "given", "--level", FINDER[backend])
            self.assertEqual(code, 0, [r for r in more if r["verdict"] != "pass"])
            found += more
        for row in found:
            # hiprtc of this age knows few chips
            self.assertTrue(row["verdict"] == "pass" or (row["level"] == "compile:hiprtc" and row["verdict"] == "unsupported"), row)
        self.assertTrue(any(r["level"].startswith(FINDER[backend]) for r in found), "the level that finds faults is not here")

    def test_ten(self):
        right = [k for k in KERNELS if k.stem.count("_") == 1]
        self.assertEqual(len(right), 10)
        for k in right:
            self.assertTrue([w for w in KERNELS if w.stem.startswith(k.stem + "_")], f"{k.name}: no wrong one")

    def test_manifests(self):
        """What a person added to the skeletons is known: nothing else may differ."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "m.json"
            for k in (k for k in KERNELS if k.stem.count("_") == 1):
                m = json.loads(k.read_text())
                subprocess.run([HEDDLE, "manifest", f"tests/handwritten/{m['source']}", "--def", f"tests/handwritten/{k.name.split('_')[0]}.tc",
                                "-o", str(out)], cwd=ROOT, check=True, capture_output=True, timeout=60)
                s = json.loads(out.read_text())
                self.assertEqual([x["kernel"] for x in s["launches"]], [x["kernel"] for x in m["launches"]], k.name)
                self.assertEqual(sorted(s["sizes"]), sorted(m["sizes"]))
                for a, b in zip(s["launches"], m["launches"]):
                    for key in ("grid", "block", "dynamic_shared_bytes", "arguments"):
                        if "TODO" not in json.dumps(a[key]):
                            self.assertEqual(a[key], b[key], (k.name, key))
                for a, b in zip(s["arguments"], m["arguments"]):
                    for key in a:
                        if "TODO" not in json.dumps(a[key]):
                            self.assertEqual(a[key], b[key], (k.name, key))


def add(kernel):
    setattr(Handwritten, "test_" + kernel.stem, lambda self: self.check(kernel))


for k in KERNELS:
    add(k)

if __name__ == "__main__":
    unittest.main()
