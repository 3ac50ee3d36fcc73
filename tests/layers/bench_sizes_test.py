"""Every definition of layers/ compiles, proved, at the sizes that its file names for benchmarks: choices that only large sizes lead
to must fit the chip like all others.

usage: bench_sizes_test.py HEDDLE LAYERS TARGET...
SPDX-License-Identifier: MIT
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

heddle, layers, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
failed = tried = 0
for path in sorted(glob.glob(os.path.join(layers, "*.tc"))):
    sizes = []
    for line in open(path):
        pragma = re.match(r"\s*#: bench (.*)", line)
        definition = re.match(r"def (\w+)", line)
        if pragma:
            sizes.append(",".join(pragma[1].split()))
        if not definition:
            continue
        for size in sizes:
            for target in targets:
                tried += 1
                with tempfile.TemporaryDirectory() as out:
                    words = [heddle, "emit", path, "--def", definition[1], "-s", size, "-t", target, "-o", out]
                    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
                    text = "".join(open(name).read() for name in glob.glob(os.path.join(out, "*")))
                if done.returncode or not re.search(r"^// proof: +proved", text, re.M):
                    failed += 1
                    print(f"{path} {definition[1]} {size} {target}: exit code {done.returncode}\n{done.stderr}")
        sizes = []
print(f"{tried} compilations, {failed} failed")
sys.exit(1 if failed or not tried else 0)
