#!/usr/bin/env bash
# What compiling costs, the proof included: every definition of layers/ for three targets, and chains of element-wise
# statements. Seconds by the clock and processor seconds (user and system) of one `heddle emit` each, the least of several runs, so that
# other work on the machine hardly shows. The sorted table and the distribution by the clock are printed and written as one JSON file
# under bench/results/; the exit status is 1 if a limit of that effort (BARS) is passed or a chain is not linear.
#
# usage: bench/compile.sh [--rounds N] [--effort E] [--heddle PROGRAM] [--target T]... [--chains] [FILE...]      needs python3
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PY'
import argparse, datetime, glob, json, os, platform, shutil, subprocess, sys, tempfile, time

options = argparse.ArgumentParser(prog="bench/compile.sh")
options.add_argument("--rounds", type=int, default=3)
options.add_argument("--effort", type=int, choices=(0, 1, 2))
options.add_argument("--heddle", default="build/release/heddle")
options.add_argument("--target", action="append")
options.add_argument("--chains", action="store_true", help="the chains alone")
options.add_argument("--write", metavar="FILE", help="where the JSON goes")
options.add_argument("file", nargs="*")
given = options.parse_args()
heddle = os.path.abspath(given.heddle)
if not os.access(heddle, os.X_OK):
    sys.exit(f"bench/compile.sh: {given.heddle} is not there: run ci/build.sh release, or name it with --heddle")
targets = given.target or ["cuda:h100", "hip:mi300x", "opencl:cpu"]
files = [] if given.chains else given.file or sorted(glob.glob("layers/*.tc"))
LENGTHS = () if given.file else (10, 25, 50, 100)
# Seconds: median, nine of ten, worst; None: what is compiled without --effort.
BARS = {None: (None, 0.1, 1.0), 0: (None, 0.08, None), 1: (0.06, 0.2, 0.6), 2: (None, None, None)}
# A chain twice as long may take 2.5 times as long: what isl's hash tables and the allocator cost grows a little.
SUPERLINEAR = 1.25
work = tempfile.mkdtemp()

def seconds(path, name, target):
    """Seconds by the clock and processor seconds of one emit, the least of the rounds each; None if it fails."""
    least = (float("inf"), float("inf"))
    for _ in range(given.rounds):
        out = os.path.join(work, "out")
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        with open(os.devnull, "w") as null:
            start = time.perf_counter()
            child = subprocess.Popen([heddle, "emit", path, "--def", name, "-t", target, *(() if given.effort is None else ("--effort", str(given.effort))), "-o", out], stdout=null, stderr=null)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            return None
        least = min(least[0], wall), min(least[1], usage.ru_utime + usage.ru_stime)
    return least

def proof(target):
    """The proof and the number of launches in the manifest that the last emit left."""
    for manifest in glob.glob(os.path.join(work, "out", "*.json")):
        with open(manifest) as f:
            read = json.load(f)
        return read.get("proof", "?"), len(read.get("launches", []))
    return "?", 0

def chain(length):
    """A definition of so many element-wise statements, each from the one before and the input."""
    path = os.path.join(work, f"chain{length}.tc")
    with open(path, "w") as f:
        f.write("def chain(float(N, M) x, float(M) b) -> (y) {\n")
        for i in range(length):
            left = "y" if i == length - 1 else f"t{i}"
            right = "x" if i == 0 else f"t{i - 1}"
            f.write(f"\t{left}(n, m) = {right}(n, m) * {i + 2}.0 + b(m)\n")
        f.write("}\n")
    return path

rows, failed = [], []
for path in files:
    read = json.loads(subprocess.run([heddle, "check", path, "--json"], check=True, capture_output=True, text=True).stdout)
    for definition in read["files"][0]["definitions"]:
        for target in targets:
            used = seconds(path, definition["name"], target)
            where = {"file": os.path.basename(path), "definition": definition["name"], "target": target}
            if used is None:
                failed.append(where)
            else:
                rows.append({**where, "seconds": round(used[0], 4), "processor": round(used[1], 4), "proof": proof(target)[0]})
chains = []
for target in targets:
    for length in LENGTHS:
        path = chain(length)
        used = seconds(path, "chain", target)
        if used is None:
            failed.append({"file": os.path.basename(path), "definition": "chain", "target": target})
        else:
            chains.append({"target": target, "statements": length, "seconds": round(used[1], 4), "launches": proof(target)[1]})
shutil.rmtree(work)

right = not failed
rows.sort(key=lambda r: -r["seconds"])
for r in rows:
    print(f"{r['seconds'] * 1e3:9.1f} ms  {r['target']:12} {r['file']:24} {r['definition']:28} {r['proof']}")
summary = []
for target in targets:
    own = sorted(r["seconds"] for r in rows if r["target"] == target)
    if not own:
        continue
    figures = own[len(own) // 2], own[len(own) * 9 // 10], own[-1]
    summary.append({"target": target, "definitions": len(own), "median": figures[0], "nine_of_ten": figures[1], "worst": figures[2],
                    "total": round(sum(own), 3),
                    "processor": round(sum(r["processor"] for r in rows if r["target"] == target), 3)})
    right &= all(bar is None or figure <= bar for figure, bar in zip(figures, BARS[given.effort]))
    print(f"{target:12} {len(own)} definitions: median {figures[0] * 1e3:.1f} ms, nine of ten below {figures[1] * 1e3:.1f} ms, "
          f"worst {figures[2] * 1e3:.1f} ms, all {sum(own):.1f} s, "
          f"{summary[-1]['processor']:.1f} s of processors")
for target in targets:
    own = [c for c in chains if c["target"] == target]
    print(f"{target:12} chains: " + ", ".join(f"{c['statements']} statements {c['seconds'] * 1e3:.1f} ms, {c['launches']} launches"
                                              for c in own))
    for a, b in zip(own, own[1:]):
        right &= b["seconds"] / a["seconds"] <= SUPERLINEAR * b["statements"] / a["statements"]
    right &= all(c["launches"] == 1 for c in own)
for f in failed:
    print(f"not compiled: {f['target']} {f['file']} {f['definition']}")

stamp = datetime.datetime.now(datetime.timezone.utc)
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
path = given.write or f"bench/results/compile-{stamp:%Y%m%d-%H%M}.json"
with open(path, "w") as f:
    json.dump({"schema": "heddle.bench.compile/3", "effort": given.effort, "date": f"{stamp:%Y-%m-%d}", "cpu": cpu, "rounds": given.rounds, "summary": summary,
               "chains": chains, "failed": failed, "layers": rows}, f, indent=1)
    f.write("\n")
print(f"written to {path}")
sys.exit(0 if right else 1)
PY
