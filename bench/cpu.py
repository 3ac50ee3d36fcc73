"""What bench/cpu.sh measures, once the peers are built: see there.

usage: bench/cpu.py HEDDLE PEERS ROUNDS TARGET [WORD]
SPDX-License-Identifier: MIT
"""
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys

heddle, work, rounds, target = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
only = sys.argv[5] if len(sys.argv) > 5 else ""


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench/cpu.py: {' '.join(command)}\n{done.stderr or done.stdout[-2000:]}")
    return json.loads(done.stdout)


def ours(layer, definition, sizes):
    """Seconds of one launch, the median of a run, and what it counts."""
    words = [heddle, "bench", layer, "--def", definition, "-s", sizes, "-t", target, "--json", "--repeat", "15"]
    return output(*words)["cases"][0]["kernels"][0]


def product_peer(m, n, k, form):
    def run():
        r = output(f"{work}/gemm", str(m), str(n), str(k), str(os.cpu_count()), "11", form)
        both = {"OpenBLAS": r["median_gflop_per_s"], "oneDNN": r.get("onednn_median_gflop_per_s", 0)}
        who = max(both, key=both.get)
        return both[who] * 1e9, who
    return run


def batched_peer(batch, m, n, k, form):
    def run():
        r = output(f"{work}/batched", str(batch), str(m), str(n), str(k), str(os.cpu_count()), "11", form)
        ways = {"OpenBLAS": max(r["openblas_in_turn_gflop_per_s"], r["openblas_shared_out_gflop_per_s"]), "oneDNN": r["onednn_gflop_per_s"]}
        who = max(ways, key=ways.get)
        return ways[who] * 1e9, who
    return run


def conv_peer(*shape):
    def run():
        r = output(f"{work}/conv", *map(str, shape), "11")
        return r["median_gflop_per_s"] * 1e9, f"oneDNN (blocked {r['blocked_gflop_per_s']:.0f})"
    return run


def copy_peer():
    r = output(f"{work}/stream", str(os.cpu_count()))
    return max(r["stores"]["median_gb_per_s"], r["memcpy"]["median_gb_per_s"]) * 1e9, "copy"


PRODUCT = [("matmul", "nn", n, n, n) for n in (256, 512, 1000, 1024, 2048)]
PRODUCT += [("matmul", "nn", 16, 4096, 1024), ("matmul", "nn", 4096, 64, 1024), ("matmul", "nn", 1024, 1024, 64)]
PRODUCT += [("matmul_ta", "tn", 1024, 1024, 1024), ("matmul_tb", "nt", 1024, 1024, 1024), ("matmul_ta_tb", "tt", 1024, 1024, 1024)]
# batch M N K: a batch of layers, and an attention's scores and values
BATCHED = [("batched_matmul", "nn", 128, 128, 512, 256), ("batched_matmul", "nn", 8, 512, 512, 512),
           ("batched_matmul_tb", "nt", 96, 256, 256, 64), ("batched_matmul", "nn", 96, 256, 64, 256)]
# N C H W M kernel stride padding
CONV = [("conv7x7_halving", 8, 3, 224, 224, 64, 7, 2, 3), ("conv1x1", 8, 64, 56, 56, 64, 1, 1, 0),
        ("conv3x3", 8, 64, 56, 56, 64, 3, 1, 1), ("conv1x1", 8, 64, 56, 56, 256, 1, 1, 0),
        ("conv3x3_halving", 8, 128, 56, 56, 128, 3, 2, 1), ("conv3x3", 8, 128, 28, 28, 128, 3, 1, 1),
        ("conv1x1", 8, 512, 28, 28, 128, 1, 1, 0), ("conv3x3", 8, 256, 14, 14, 256, 3, 1, 1),
        ("conv1x1", 8, 1024, 14, 14, 256, 1, 1, 0), ("conv3x3", 8, 512, 7, 7, 512, 3, 1, 1)]
MEMORY = [("softmax", "softmax", "N=4096,D=1024"), ("softmax", "softmax", "N=512,D=16384"), ("norm", "layernorm", "N=4096,D=1024"),
          ("reductions", "sum_rows", "N=4096,D=4096"), ("reductions", "sum_columns", "N=4096,D=4096"), ("total", "total", "N=4096,M=4096"),
          ("pool", "max_pool2d", "N=8,C=64,H=224,W=224"), ("elementwise", "add", "N=16777216"), ("chain", "chain", "N=16777216"),
          ("permute", "transpose2d", "N=4096,M=4096"), ("permute", "nchw_to_nhwc", "N=32,C=64,H=112,W=112")]

pairs = []
for name, form, m, n, k in PRODUCT:
    pairs.append(("product", f"{name} {m}x{n}x{k}", "layers/products.tc", name, f"M={m},N={n},K={k}", "flops_per_second",
                  product_peer(m, n, k, form)))
if os.path.exists(f"{work}/batched"):
    for name, form, batch, m, n, k in BATCHED:
        pairs.append(("product", f"{name} {batch}x{m}x{n}x{k}", "layers/products.tc", name, f"B={batch},M={m},N={n},K={k}",
                      "flops_per_second", batched_peer(batch, m, n, k, form)))
if os.path.exists(f"{work}/conv"):
    for name, *shape in CONV:
        n, c, h, w, m = shape[:5]
        pairs.append(("convolution", f"{name} {c}x{h}x{w} to {m}", "bench/layers/conv.tc", name, f"N={n},C={c},H={h},W={w},M={m}",
                      "flops_per_second", conv_peer(*shape)))
for file, name, sizes in MEMORY:
    pairs.append(("memory", f"{name} {sizes}", f"layers/{file}.tc", name, sizes, "bytes_per_second", copy_peer))

table = []
for group, name, layer, definition, sizes, rate, peer in pairs:
    if only not in f"{group} {name}":
        continue
    mine, theirs, who, kernel = [], [], "", {}
    for _ in range(rounds):
        value, who = peer()
        theirs.append(value)
        kernel = ours(layer, definition, sizes)
        mine.append(kernel[rate])
    ratios = sorted(a / b for a, b in zip(mine, theirs))
    row = {"group": group, "name": name, "peer": who, "unit": "flop/s" if rate.startswith("flops") else "byte/s", "ours": mine,
           "theirs": theirs, "ratio_median": statistics.median(ratios), "ratio_least": ratios[0], "ratio_most": ratios[-1],
           "flops_per_second": kernel["flops_per_second"], "bytes_per_second": kernel["bytes_per_second"]}
    table.append(row)
    print(f"{group:12} {name:36} {statistics.median(mine) / 1e9:7.1f} G{row['unit']:7} {who:24} {statistics.median(theirs) / 1e9:7.1f}   "
          f"ratio {row['ratio_median']:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)
for group in sorted({row["group"] for row in table}):
    ratios = [row["ratio_median"] for row in table if row["group"] == group]
    print(f"{group}: geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}, of {len(ratios)}")

stamp = datetime.datetime.now(datetime.timezone.utc)
path = f"bench/results/cpu-{stamp:%Y%m%d-%H%M}"
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
with open(path + ".json", "w") as f:
    json.dump({"schema": "heddle.bench/1", "date": f"{stamp:%Y-%m-%d}", "target": target, "cpu": cpu, "cores": os.cpu_count(), "rounds": rounds,
               "pairs": table}, f, indent=1)
    f.write("\n")
print(f"written to {path}.json")


def picture():
    """Each layer by its flops per byte that must move, under the roofline of the best peers."""
    flops = max([statistics.median(r["theirs"]) for r in table if r["unit"] == "flop/s"], default=0)
    bandwidth = max([statistics.median(r["theirs"]) for r in table if r["unit"] == "byte/s"], default=0)
    points = [(r["flops_per_second"] / r["bytes_per_second"], r["flops_per_second"], r["name"]) for r in table
              if r["bytes_per_second"] and r["flops_per_second"]]
    if not (flops and bandwidth and points and shutil.which("gnuplot")):
        return
    data = "\n".join(f"{x:.4g} {y:.4g}" for x, y, _ in points)
    script = f"""set terminal svg size 900,600 dynamic
set output "{path}.svg"
set logscale xy
set xlabel "flop per byte that must move"
set ylabel "flop/s"
set key top left
set xrange [0.05:1000]
roof(x) = x * {bandwidth:.4g} < {flops:.4g} ? x * {bandwidth:.4g} : {flops:.4g}
plot roof(x) title "the best peer: copy, product" lw 2, "-" using 1:2 with points pt 7 title "Heddle's layers"
{data}
e
"""
    if subprocess.run(["gnuplot"], input=script, text=True).returncode == 0:
        print(f"drawn in {path}.svg")


picture()
