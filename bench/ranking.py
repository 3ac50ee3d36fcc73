"""What bench/ranking.sh measures: see there.

usage: bench/ranking.py HEDDLE TARGET CONFIGS ROUNDS FILE.json [WORD]
SPDX-License-Identifier: MIT
"""
import json
import math
import random
import statistics
import subprocess
import sys

heddle, target, configs, rounds, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
only = sys.argv[6] if len(sys.argv) > 6 else ""

RATED, AGAIN, SPREAD = 16, 12, 2.0  # of the model's choice; measured again; least ratio of the worst to the best
ONCE, TURNS, LIMIT = 2, 4, 10  # runs of every config; rounds of one `heddle bench`; seconds for all runs of a config in one round

PAIRS = [
    ("layers/products", "matmul", "M=256,N=256,K=256"), ("layers/products", "matmul", "M=1024,N=1024,K=1024"),
    ("layers/products", "matmul", "M=16,N=4096,K=1024"), ("layers/products", "matmul", "M=4096,N=64,K=1024"),
    ("layers/products", "matmul_ta", "M=512,N=512,K=512"), ("layers/products", "matmul_tb", "M=512,N=512,K=512"),
    ("layers/products", "matmul_ta_tb", "M=512,N=512,K=512"), ("layers/products", "batched_matmul", "B=32,M=128,N=128,K=64"),
    ("layers/matmul_bias_relu", "matmul_bias_relu", "M=512,N=512,K=512"), ("layers/vectors", "matvec", "M=4096,K=4096"),
    ("bench/layers/conv", "conv1x1", "N=1,C=64,H=56,W=56,M=64"), ("bench/layers/conv", "conv1x1", "N=1,C=512,H=28,W=28,M=128"),
    ("bench/layers/conv", "conv3x3", "N=1,C=64,H=56,W=56,M=64"), ("bench/layers/conv", "conv3x3", "N=1,C=256,H=14,W=14,M=256"),
    ("bench/layers/conv", "conv3x3", "N=1,C=512,H=7,W=7,M=512"), ("bench/layers/conv", "conv3x3_halving", "N=1,C=128,H=56,W=56,M=128"),
    ("layers/softmax", "softmax", "N=4096,D=1024"), ("layers/softmax", "softmax", "N=512,D=16384"),
    ("layers/norm", "layernorm", "N=4096,D=1024"), ("layers/norm", "rmsnorm", "N=4096,D=1024"),
    ("layers/reductions", "sum_rows", "N=4096,D=4096"), ("layers/reductions", "sum_columns", "N=4096,D=4096"),
    ("layers/total", "total", "N=4096,M=4096"), ("layers/pool", "max_pool2d_halving", "N=8,C=64,H=112,W=112"),
    ("layers/elementwise", "add", "N=16777216"), ("layers/activations", "gelu", "N=4194304"), ("layers/chain", "chain", "N=16777216"),
    ("layers/permute", "transpose2d", "N=4096,M=4096"), ("layers/permute", "nchw_to_nhwc", "N=8,C=64,H=56,W=56"),
    ("layers/attention", "attention", "B=8,H=1,T=128,S=128,D=64"),
]


def call(*words):
    done = subprocess.run([heddle, *words, "--json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def seconds(file, name, sizes, listed, repeat):
    """All measured times of each config, taking turns; none for what fails or takes longer than LIMIT."""
    words = ["bench", file, "--def", name, "-s", sizes, "-t", target, "--repeat", str(repeat), "--timeout", str(LIMIT)]
    said = call(*words, *(word for config in listed for word in ("--config", config)))
    kernels = said["cases"][0]["kernels"] if said and said["cases"] else [{}] * len(listed)
    return {config: kernel.get("all", []) for config, kernel in zip(listed, kernels)}


def rated(file, name, sizes, config):
    """The model's word on a config, and the config in full; None where it is refused."""
    said = call("plan", file, "--def", name, "-s", sizes, "-t", target, "--sweep", "units=2", "--config", config)
    values = said["sweeps"][0]["values"] if said and said.get("sweeps") else []
    return values[0] if values else None


def drawn(line, stream):
    """Every number of every dimension drawn anew: a power of two, or one of the small numbers between."""
    parts = []
    for part in line.split("; "):
        head, _, rest = part.partition(": ")
        if ".S" not in head:
            if not head.count("."):  # spaces are placed anew
                parts.append(part)
            continue
        keys = dict(word.split("=", 1) for word in rest.split(" ") if "=" in word)
        names = list(dict.fromkeys(pair.split(":")[0] for key in ("tile", "thread", "vector") for pair in keys.get(key, "").split(",") if pair))
        lanes = {pair.split(":")[0] for pair in keys.get("reduce", "").split(",") if pair.endswith(":lanes")}
        tile, rounds_of, vector = [], [], []
        for name in names:
            v = 2 ** stream.randrange(0, 6)
            n = stream.choice([1, 2, 3, 4, 6, 8, 12, 16, 32, 64])
            r = stream.choice([1, 1, 1, 4, 16]) if name not in lanes else 1
            if stream.random() < 0.5:
                v = 1
            tile.append(f"{name}:{v * n * r}")
            if r > 1:
                rounds_of.append(f"{name}:{r}")
            if v > 1:
                vector.append(f"{name}:{v}")
        words = ["tile=" + ",".join(tile)] if tile else []
        words += ["round=" + ",".join(rounds_of)] if rounds_of else []
        words += ["vector=" + ",".join(vector)] if vector else []
        reduce = ",".join(f"{name}:lanes" for name in lanes if any(v.startswith(name + ":") for v in vector))
        words += ["reduce=" + reduce] if reduce else []
        parts.append(head + ": " + " ".join(words) if words else head + ":")
    return "; ".join(parts)


def one_pair(file, name, sizes):
    file = f"{file}.tc"
    top = call("plan", file, "--def", name, "-s", sizes, "-t", target, "--top", str(RATED))
    if not top or not top.get("top"):
        return None
    top = top["top"][0]
    usual = rated(file, name, sizes, "")
    found = {usual["config"]: usual["seconds"]}
    for choice in top["choices"]:
        found.setdefault(choice["config"], choice["seconds"])
    stream, tries = random.Random(f"{name} {sizes}"), 0
    while len(found) < configs and tries < 40 * configs:
        tries += 1
        one = rated(file, name, sizes, drawn(stream.choice([usual["config"], top["choices"][0]["config"]]), stream))
        if one:
            found.setdefault(one["config"], one["seconds"])
    once = seconds(file, name, sizes, list(found), ONCE)
    measured = {config: statistics.median(t) for config, t in once.items() if t}
    if not measured:
        return None
    order = sorted(measured, key=found.get)  # as the model ranks them
    again = set(sorted(measured, key=measured.get)[:AGAIN]) | set(order[:8]) | {usual["config"]} & set(measured)
    times = {config: [] for config in again}
    for _ in range((rounds + TURNS - 1) // TURNS):
        for config, t in seconds(file, name, sizes, list(again), 4 * TURNS).items():
            times[config] += t
    final = {config: statistics.median(t) for config, t in times.items() if t}
    best = min(final.values())
    result = {"layer": name, "sizes": sizes, "configs": len(found), "slower": sorted(set(found) - set(measured)), "spread": max(measured.values()) / best,
              "usual": best / final[usual["config"]] if usual["config"] in final else 0.0,
              "first": best / final[order[0]], "best_of_4": best / min(final[c] for c in order[:4]),
              "best_of_8": best / min(final[c] for c in order[:8]),
              "all": sorted(([final.get(c, measured[c]), found[c], c] for c in measured), key=lambda row: row[0])}
    print(f"{name} {sizes}: {len(measured)} of {len(found)} configs, worst/best {result['spread']:.1f}, usual {result['usual']:.2f}, "
          f"first {result['first']:.2f}, best of 4 {result['best_of_4']:.2f}, of 8 {result['best_of_8']:.2f}", flush=True)
    return result


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


results = []
for pair in PAIRS:
    if only in " ".join(pair):
        result = one_pair(*pair)
        if result:
            results.append(result)
        else:
            print(" ".join(pair), "is not rated")
        with open(path, "w") as file:
            json.dump({"target": target, "rounds": rounds, "pairs": results}, file, indent=1)
counted = [r for r in results if r["spread"] >= SPREAD]
print(f"{len(counted)} of {len(results)} pairs count (worst/best at least {SPREAD})")
for key in ("usual", "first", "best_of_4", "best_of_8"):
    values = [r[key] for r in counted]
    print(f"{key:10s} geometric mean {mean(values):.3f}, least {min(values, default=float('nan')):.2f}")
