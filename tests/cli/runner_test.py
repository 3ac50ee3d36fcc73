#!/usr/bin/env python3
"""Compilers and runners of one's own: what a descriptor names, over a folder and in lines, and heddle serve-run.

usage: runner_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import base64
import json
import os
import struct
import subprocess
import sys
import time
import unittest

from cli_test import Case, HEDDLE, FAILED, FINE, MISSING, USAGE, needs_pocl

SCALE = """def scale(float(N) A, float s) -> (C) {
	C(n) = A(n) * s
}
#: sizes N=5
#: sizes N=130
"""

# A "chip" that knows one kernel: what it does is in the environment, so that it can be wrong in every way.
FOLDER_RUNNER = r"""
import json, os, struct, sys
source, folder = sys.argv[1:3]
assert open(source).read().startswith("//") and os.path.dirname(source) == folder
manifest = json.load(open(folder + "/manifest.json"))
run = json.load(open(folder + "/run.json"))
mode = os.environ.get("MODE", "right")
def npy(name):
    data = open(f"{folder}/{name}.npy", "rb").read()
    return data[:10 + struct.unpack("<H", data[8:10])[0]], data[10 + struct.unpack("<H", data[8:10])[0]:]
head, a = npy("A")
s = struct.unpack("<f", npy("s")[1])[0]
n = len(a) // 4
assert manifest["sizes"].get("N", n) == n, (n, manifest)
values = struct.unpack(f"<{n}f", a)
if mode == "crash":
    print("simulator.c:7:1: error: the simulator fell over", file=sys.stderr)
    sys.exit(3)
result = struct.pack(f"<{n}f", *(v * s + (mode == "wrong") for v in values))
if mode != "nothing":
    open(folder + "/C.npy", "wb").write(head + result)
answer = {"verdict": "pass", "message": "simulated"}
if run["repeat"]:
    answer["seconds"] = [1e-3] * run["repeat"]
if mode == "race":
    answer = {"verdict": "fail", "message": "two threads", "findings": [{"kind": "race", "line": 12, "text": "two threads write C"}]}
if mode == "lies":
    answer = {"verdict": "pass", "findings": [{"kind": "race", "text": "x"}]}
if mode != "silent":
    json.dump(answer, open(folder + "/answer.json", "w"))
"""

LINE_RUNNER = r"""
import base64, json, os, struct, sys, time
log = open(os.path.dirname(os.path.abspath(__file__)) + "/starts", "a")
log.write("start\n"); log.close()
mode = os.environ.get("MODE", "right")
if mode == "rude":
    sys.exit("no licence for this simulator")
if mode == "mute":
    time.sleep(60)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "hello":
        print(json.dumps({"heddle": 1, "name": "abacus"}), flush=True)
        continue
    n = asked["arrays"]["A"]["shape"][0]
    a = struct.unpack(f"<{n}f", base64.b64decode(asked["arrays"]["A"]["data"]))
    s = struct.unpack("<f", base64.b64decode(asked["arrays"]["s"]["data"]))[0]
    if mode == "dies" and n == 130:
        sys.exit("beads lost")
    if mode == "hangs" and n == 130:
        time.sleep(60)
    c = dict(asked["arrays"]["C"], data=base64.b64encode(struct.pack(f"<{n}f", *(v * s for v in a))).decode())
    answer = {"heddle": 1, "request": asked["request"], "verdict": "pass", "arrays": {"C": c}}
    if asked["repeat"]:
        answer["seconds"] = [2e-3] * asked["repeat"]
    if mode == "other":
        answer["request"] += 1
    if mode == "short":
        c["shape"] = [n - 1]
    if mode == "none":
        del answer["arrays"]
    if mode == "moves":
        answer["misalign"] = asked["misalign"]
    print(json.dumps(answer), flush=True)
"""


class Runners(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.tc", SCALE)
        self.write("run.py", FOLDER_RUNNER)
        self.write("lines.py", LINE_RUNNER)
        self.write("mine.yaml", 'name: mine\ninherits: cpu\nrunner: [python3, "{folder}/run.py", "{source}", "{output}"]\n')
        self.write("abacus.yaml", 'name: abacus\ninherits: cpu\nrunner: [python3, "{folder}/lines.py"]\nrunner_mode: lines\n')

    def run_it(self, chip, mode="right", **keywords):
        return self.heddle("test", "scale.tc", "-t", "opencl:" + chip, "--level", "device", "--path", ".", "--cases", "given",
                           env={"MODE": mode}, **keywords)

    def rows(self, p):
        return [r for r in json.loads(p.stdout)["report"]["rows"] if r["level"] == "device:command"]

    def starts(self):
        return len(self.read("starts").split())


class Folder(Runners):
    def test_right(self):
        for mode in "right", "silent":
            self.run_it("mine", mode, out="device:command")
        self.heddle("run", "scale.tc", "-s", "N=7", "-t", "opencl:mine", "--path", ".", out="float32 C(7)")
        self.heddle("bench", "scale.tc", "-s", "N=7", "-t", "opencl:mine", "--path", ".", "--repeat", "4",
                    out=["command", "1 ms"])
        self.heddle("bench", "scale.tc", "-s", "N=7", "-t", "opencl:mine", "--path", ".", env={"MODE": "silent"}, code=MISSING,
                    err="gives no times")

    def test_wrong(self):
        self.run_it("mine", "wrong", code=FAILED, out="FAIL")
        self.run_it("mine", "nothing", code=FAILED, out="FAIL")
        self.run_it("mine", "crash", code=FAILED, out=["the simulator fell over", "crash"])
        self.run_it("mine", "race", code=FAILED, out=["two threads write C", "race"])
        self.run_it("mine", "lies", code=FAILED, out="a pass with findings")

    def test_missing(self):
        self.write("mine.yaml", "name: mine\ninherits: cpu\nrunner: [no-such-simulator]\n")
        self.run_it("mine", code=MISSING, out="no-such-simulator")
        self.write("mine.yaml", "name: mine\ninherits: cpu\nrunner: [cat, '{sauce}']\n")
        self.run_it("mine", code=FAILED, out="{sauce}")
        self.write("mine.yaml", "name: mine\ninherits: cpu\nrunner: [cat]\nrunner_mode: pigeon\n")
        self.run_it("mine", code=3, err="folder or lines")


class Lines(Runners):
    def test_right(self):
        p = self.run_it("abacus", "moves", out=None)
        self.assertIn("device:command", p.stdout)
        self.assertEqual(self.starts(), 1, "it stays")
        rows = self.rows(self.heddle("test", "scale.tc", "-t", "opencl:abacus", "--level", "device", "--path", ".", "--cases", "given",
                                     "--json", env={"MODE": "moves"}))
        self.assertGreaterEqual(len(rows), 4)
        self.assertEqual({r["verdict"] for r in rows}, {"pass"})
        self.heddle("run", "scale.tc", "-s", "N=7", "-t", "opencl:abacus", "--path", ".", out="float32 C(7)")
        self.heddle("bench", "scale.tc", "-s", "N=7", "-t", "opencl:abacus", "--path", ".", "--repeat", "4", out="2 ms")

    def test_bases_not_moved(self):
        rows = self.rows(self.heddle("test", "scale.tc", "-t", "opencl:abacus", "--level", "device", "--path", ".", "--cases", "given",
                                     "--json"))
        moved = [r for r in rows if "misaligned" in r["case"]]
        self.assertTrue(moved)
        self.assertEqual({r["verdict"] for r in moved}, {"unsupported"})

    def test_dies(self):
        p = self.run_it("abacus", "dies", code=FAILED, out=["crash", "beads lost"])
        self.assertIn("pass", p.stdout, "the other case ran: it was started again")
        self.assertGreaterEqual(self.starts(), 2)

    def test_hangs(self):
        p = self.heddle("test", "scale.tc", "-t", "opencl:abacus", "--level", "device", "--path", ".", "-s", "N=130", "--timeout", "0.2",
                        "--cases", "given", env={"MODE": "hangs"}, code=FAILED, out=["timeout", "no answer after"])
        self.assertNotIn("crash", p.stdout)

    def test_liars(self):
        for mode, said in ("other", "not 1"), ("short", "base64 text of its"), ("none", "without the result `C`"):
            self.run_it("abacus", mode, code=FAILED, out=said)

    def test_mute(self):
        """--timeout bounds hello, too, and who did not say it is not asked again."""
        begin = time.monotonic()
        self.heddle("test", "scale.tc", "-t", "opencl:abacus", "--level", "device", "--path", ".", "--timeout", "0.5", env={"MODE": "mute"},
                    code=MISSING, out=["does not say hello", "no answer after 3.5 s"])
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(self.starts(), 1)

    def test_rude(self):
        self.run_it("abacus", "rude", code=MISSING, out=["does not say hello", "no licence for this simulator"])


class Serve(Runners):
    def serve(self, *lines, level=None, code=FINE):
        text = "".join((l if isinstance(l, str) else json.dumps(l)) + "\n" for l in lines)
        p = subprocess.run([HEDDLE, "serve-run"] + (["--level", level] if level else []), input=text, capture_output=True, text=True,
                           timeout=120)
        self.assertEqual(p.returncode, code, p.stderr)
        return [json.loads(l) for l in p.stdout.splitlines()]

    def request(self, **changes):
        self.heddle("emit", "scale.tc", "-t", "opencl:cpu", "-o", "out")
        manifest = json.loads(self.read("out/scale__opencl_cpu.json"))

        def array(shape, values):
            return {"type": "float32", "shape": shape, "data": base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()}
        asked = {"heddle": 1, "do": "run", "request": 7, "manifest": manifest, "source": self.read("out/scale__opencl_cpu.cl"),
                 "sizes": {"N": 3}, "arrays": {"A": array([3], [1, 2, 4]), "s": array([], [0.5]), "C": array([3], [9, 9, 9])}}
        asked.update(changes)
        return asked

    @needs_pocl
    def test_run(self):
        hello, answer = self.serve({"heddle": 1, "do": "hello"}, self.request(repeat=3, misalign=1), level="opencl-cpu:pocl")
        self.assertTrue(hello["name"].startswith("heddle"))
        self.assertEqual((answer["verdict"], answer["request"], answer["misalign"], len(answer["seconds"])), ("pass", 7, 1, 3), answer)
        self.assertEqual(struct.unpack("<3f", base64.b64decode(answer["arrays"]["C"]["data"])), (0.5, 1.0, 2.0))

    @needs_pocl
    def test_faults(self):
        source = self.request()["source"]
        bad, worse = self.serve(self.request(source=source.replace("void", "vojd")), self.request(timeout=5), level="opencl-cpu:pocl")
        self.assertEqual((bad["verdict"], bad["findings"][0]["kind"]), ("fail", "compile"))
        self.assertEqual(worse["verdict"], "pass", "one bad request does not spoil the next")

    def test_refused(self):
        r = self.request()
        few = dict(r["arrays"], A={"type": "float32", "shape": [3], "data": "AAAA"})
        huge = dict(r["arrays"], A={"type": "float32", "shape": [1 << 40, 1 << 40], "data": "AAAA"})
        other = dict(r["arrays"], A=r["arrays"]["s"])
        lines = ["nonsense", "[]", {"heddle": 2, "do": "hello"}, {"heddle": 1, "do": "dance"}, {"heddle": 1, "do": "run", "request": 3},
                 dict(r, sizes={}), dict(r, sizes={"N": -1}), dict(r, arrays={}), dict(r, arrays=few), dict(r, arrays=huge),
                 dict(r, arrays=other), dict(r, manifest={"schema": "x"}), dict(r, repeat=-1)]
        answers = self.serve(*lines)
        self.assertEqual(len(answers), len(lines))
        for line, answer in zip(lines, answers):
            self.assertTrue(answer.get("error"), (line, answer))
        self.assertEqual(answers[4]["request"], 3)

    def test_nothing_here(self):
        r = self.request()
        r["manifest"]["backend"] = "abacus"
        self.assertEqual(self.serve(r)[0]["verdict"], "missing")
        self.heddle("serve-run", "--level", "compile", code=USAGE, err="takes no level 'compile'")

    @needs_pocl
    def test_as_runner(self):
        self.write("far.yaml", f'name: far\ninherits: cpu\nrunner: ["{HEDDLE}", serve-run, --level, "opencl-cpu:pocl"]\nrunner_mode: lines\n')
        rows = self.rows(self.heddle("test", "scale.tc", "-t", "opencl:far", "--level", "device", "--path", ".", "--json"))
        self.assertEqual({r["verdict"] for r in rows}, {"pass"})
        self.assertTrue([r for r in rows if "misaligned" in r["case"]])


class Compilers(Runners):
    def compiler(self, text, *options, code=FINE, **keywords):
        self.write("cc.sh", "#!/bin/sh\n" + text)
        self.write("mine.yaml", 'name: mine\ninherits: cpu\ncompile_arch: m1\n'
                                'compiler: [sh, "{folder}/cc.sh", "{source}", -o, "{output}", "--arch={arch}", "{options}"]\n')
        return self.heddle("test", "scale.tc", "-t", "opencl:mine", "--level", "compile:command", "--path", ".", *options, code=code,
                           **keywords)

    def test_accepts(self):
        self.compiler('test -s "$1" && test "$4" = --arch=m1 && test "$5" = -cl-std=CL1.2 && test "$6" = -w && touch "$3"\n', out="compile:command")
        self.compiler('echo "heddle: kernel=scale_0 registers=40 spill_bytes=0 stack_bytes=0 shared_bytes=64"\n', out="pass")

    def test_rejects(self):
        self.compiler('echo "$1:3:5: error: no such word"; exit 1\n', code=FAILED, out="no such word")
        self.compiler('kill -SEGV $$\n', code=FAILED, out="signal")

    def test_spills(self):
        """A spill is reported; it fails only above --max-spill."""
        says = 'echo "heddle: kernel=scale_0 registers=255 spill_bytes=16 stack_bytes=8"\n'
        said = self.compiler(says, out="scale_0 on m1 spills 16 bytes")
        self.assertIn("with spills: --max-spill 0 fails them)", said.stdout)
        rows = json.loads(self.compiler(says, "--json").stdout)["report"]["rows"]
        rows = [r for r in rows if r["level"] == "compile:command"]
        self.assertEqual({r["verdict"] for r in rows}, {"pass"})
        self.assertEqual({f["kind"] for r in rows for f in r["findings"]}, {"spill"})
        self.compiler(says, "--max-spill", "16", out="scale_0 on m1 spills 16 bytes")
        self.compiler(says, "--max-spill", "15", code=FAILED, out="scale_0 on m1 spills 16 bytes")
        self.compiler(says, "--max-spill", "0", code=FAILED, out="needs a stack frame of 8 bytes")
        self.compiler(says, "--max-spill", "some", code=USAGE, err="'some' is not a number")
        self.assertNotIn("spill", self.compiler("exit 0\n", "--max-spill", "0").stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
