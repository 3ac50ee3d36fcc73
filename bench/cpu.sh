#!/usr/bin/env bash
# Heddle's OpenCL kernels on this CPU beside what others reach on it: OpenBLAS for the product, a streaming copy for layers
# that only move data. Both sides of a pair run in turn, several rounds; medians, ratio and spread are printed and written
# as one JSON file under bench/results/.
#
# usage: bench/cpu.sh [--rounds N] [--heddle PROGRAM]      needs cc, libopenblas-dev, PoCL and python3
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=7
heddle=build/release/heddle
while [ $# -gt 0 ]; do
	case "$1" in
	--rounds) rounds=$2; shift 2 ;;
	--heddle) heddle=$2; shift 2 ;;
	*) echo "usage: bench/cpu.sh [--rounds N] [--heddle PROGRAM]" >&2; exit 2 ;;
	esac
done
[ -x "$heddle" ] || { echo "bench/cpu.sh: $heddle is not there: run ci/build.sh release, or name it with --heddle" >&2; exit 4; }
# An environment that pins OpenBLAS to an old processor halves its speed.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O3 -march=native -fno-tree-loop-distribute-patterns -o "$work/stream" bench/stream.c -lpthread
cc -O2 -o "$work/gemm" bench/peer_gemm.c -lopenblas -lm
mkdir -p bench/results
exec python3 - "$heddle" "$work" "$rounds" <<'PY'
import datetime, json, os, platform, statistics, subprocess, sys

heddle, work, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])

def output(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

def ours(layer, sizes):
    kernel = output(heddle, "bench", layer, "-s", sizes, "-t", "opencl:cpu", "--json", "--repeat", "20")["cases"][0]["kernels"][0]
    return kernel

def gemm_peer(n):
    return lambda: output(f"{work}/gemm", str(n), str(n), str(n))

def copy_peer():
    return output(f"{work}/stream", str(os.cpu_count()))

pairs = [("product %d" % n, "bench/layers/product.tc", f"M={n},N={n},K={n}", "flops_per_second", gemm_peer(n), "OpenBLAS", 0.5)
         for n in (512, 1024)]
pairs += [(name, layer, sizes, "bytes_per_second", copy_peer, "copy", 0.5) for name, layer, sizes in (
    ("softmax 4096x1024", "layers/softmax.tc", "N=4096,D=1024"),
    ("row sums 4096x4096", "bench/layers/rowsum.tc", "N=4096,M=4096"),
    ("sum and maximum 4096x4096", "layers/total.tc", "N=4096,M=4096"))]

def peer_value(result):
    if result["measure"] == "copy":
        return max(result["stores"]["median_gb_per_s"], result["memcpy"]["median_gb_per_s"]) * 1e9
    return result["median_gflop_per_s"] * 1e9

table, failed = [], False
for name, layer, sizes, rate, peer, who, least in pairs:
    mine, theirs = [], []
    for _ in range(rounds):
        theirs.append(peer_value(peer()))
        mine.append(ours(layer, sizes)[rate])
    ratios = sorted(a / b for a, b in zip(mine, theirs))
    row = {"name": name, "peer": who, "unit": "flop/s" if rate.startswith("flops") else "byte/s", "ours": mine, "theirs": theirs,
           "ratio_median": statistics.median(ratios), "ratio_least": ratios[0], "ratio_most": ratios[-1], "wanted": least}
    table.append(row)
    failed |= row["ratio_median"] < least
    print(f"{name:28} {statistics.median(mine) / 1e9:8.1f} G{row['unit']:7} {who:9} {statistics.median(theirs) / 1e9:8.1f}   "
          f"ratio {row['ratio_median']:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)

stamp = datetime.datetime.now(datetime.timezone.utc)
path = f"bench/results/cpu-{stamp:%Y%m%d-%H%M}.json"
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
with open(path, "w") as f:
    json.dump({"schema": "heddle.bench/1", "date": f"{stamp:%Y-%m-%d}", "cpu": cpu, "cores": os.cpu_count(), "rounds": rounds,
               "pairs": table}, f, indent=1)
    f.write("\n")
print(f"written to {path}")
sys.exit(1 if failed else 0)
PY
