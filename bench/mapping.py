"""What bench/mapping.sh measures: see there.

usage: bench/mapping.py HEDDLE ROUNDS FILE.json TARGET [WORD]
SPDX-License-Identifier: MIT
"""
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

heddle, rounds, path, target = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
only = sys.argv[5] if len(sys.argv) > 5 else ""

# Tiles of 32 along every dimension, one element per work-item, what a block uses again in shared memory, a kernel for each statement.
PRODUCT = "split=none; fuse=0; k0.S0: tile=i:32,j:32,k:32 thread=i:32,j:32; k0.A.0: space=shared; k0.B.0: space=shared"
IMAGE = "split=none; fuse=0; k0.S0: tile=h:32,w:32,c:32{} thread=h:32,w:32"
WINDOW = ",kh:3,kw:3"
SOFTMAX = ("split=none; fuse=0,1,2; k0.S0: tile=n:32,d:32 thread=n:32; k1.S1: tile=n:32,d:32 thread=n:32; "
           "k2.S2: tile=n:32,d:32 thread=n:32,d:32")
PAIRS = [
    ("product", "layers/products", "matmul", "M=512,N=512,K=512", PRODUCT, 10),
    ("product", "layers/products", "matmul_ta", "M=512,N=512,K=512", PRODUCT, 10),
    ("product", "layers/products", "matmul_tb", "M=512,N=512,K=512", PRODUCT, 10),
    ("convolution", "bench/layers/conv", "conv1x1", "N=1,C=256,H=32,W=32,M=64", IMAGE.format(""), 10),
    ("convolution", "bench/layers/conv", "conv3x3", "N=1,C=64,H=56,W=56,M=64", IMAGE.format(WINDOW), 10),
    ("convolution", "bench/layers/conv", "conv3x3_halving", "N=1,C=64,H=56,W=56,M=64", IMAGE.format(WINDOW), 10),
    ("rows", "layers/softmax", "softmax", "N=4096,D=1024", SOFTMAX, 3),
    ("rows", "layers/reductions", "sum_rows", "N=4096,D=1024", "split=none; fuse=0; k0.S0: tile=n:32,d:32 thread=n:32", 3),
    ("rows", "layers/reductions", "max_rows", "N=4096,D=1024", "split=none; fuse=0; k0.S0: tile=n:32,d:32 thread=n:32", 3),
    ("other", "layers/reductions", "sum_columns", "N=4096,D=1024", "split=none; fuse=0; k0.S0: tile=d:32,n:32 thread=d:32", 0.95),
    ("other", "layers/elementwise", "add", "N=4194304", "fuse=0; k0.S0: tile=i:32 thread=i:32", 0.95),
    ("other", "layers/permute", "transpose2d", "N=2048,M=2048", "fuse=0; k0.S0: tile=i:32,j:32 thread=i:32,j:32; k0.I.0: space=shared",
     0.95),
]


def seconds(file, name, sizes, *words):
    done = subprocess.run([heddle, "bench", f"{file}.tc", "--def", name, "-s", sizes, "-l", "opencl-cpu", "--repeat", "5", "--json", *words],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench/mapping.py: {name}: {done.stderr.strip()}")
    return sum(kernel["seconds"] for kernel in json.loads(done.stdout)["cases"][0]["kernels"])


table = []
for group, file, name, sizes, config, wanted in PAIRS:
    if only not in f"{group} {name}":
        continue
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(seconds(file, name, sizes, "-t", "opencl:one-each", "--path", "bench/arch", "--config", config))
        ours.append(seconds(file, name, sizes, "-t", target))
    ratios = sorted(b / a for a, b in zip(ours, theirs))
    table.append({"group": group, "name": f"{name} {sizes}", "config": config, "ours_s": ours, "theirs_s": theirs, "wanted": wanted,
                  "ratio_median": statistics.median(ratios), "ratio_least": ratios[0], "ratio_most": ratios[-1]})
    print(f"{group:12} {name:16} {sizes:26} {statistics.median(ours) * 1e3:8.2f} ms, one element each {statistics.median(theirs) * 1e3:9.2f} ms: "
          f"{table[-1]['ratio_median']:6.1f} times ({ratios[0]:.1f} to {ratios[-1]:.1f}), wanted {wanted}", flush=True)
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
with open(path, "w") as f:
    json.dump({"schema": "heddle.bench/1", "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}", "cpu": cpu,
               "target": target, "cores": os.cpu_count(), "rounds": rounds, "pairs": table}, f, indent=1)
    f.write("\n")
print(f"written to {path}")
