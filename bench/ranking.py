"""What bench/ranking.sh measures: see there.

usage: bench/ranking.py HEDDLE TARGET CONFIGS ROUNDS FILE.json [WORD [build|again]]
SPDX-License-Identifier: MIT
"""
import datetime
import hashlib
import json
import math
import os
import platform
import random
import re
import resource
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

heddle, target, configs, rounds, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
only, build_only, again_only = (sys.argv[6:] + [""])[0], sys.argv[7:] == ["build"], sys.argv[7:] == ["again"]

RATED, AGAIN, SPREAD = 16, 12, 2.0  # of the model's choice; measured again; least ratio of the worst to the best
OF_KERNEL = re.compile(r"k\d+(\.\w+)*")  # the head of a part that says something of one kernel
UNIFORM = 48  # drawn from the whole space and timed
VECTORS, ITEMS, ROUNDS_OF = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 6, 8, 12, 16, 32, 64), (1, 2, 4, 8, 16)  # members, items, rounds of a dimension
# runs of every config; processes that those measured again are run in, and runs of each: arrays lie elsewhere in each.  Runs are in the
# queue together, those of a process in two parts: one after a pause may take twice as long.
ONCE, CALLS, EACH, PARTS = 3, 5, 16, 2
LARGE, CALLS_OF_LARGE = 32e6, 2  # bytes that caches do not hold, wherever they are
moved = {}  # bytes of each pair, once it has run
LIMIT = 4  # seconds at least for one process, which compiles a config and runs it; many of those that are drawn exceed it and count as slower
PATIENT = 5  # seconds of the clock for one of a processor
PATIENCE = 1.5  # as long as compile's own choice takes alone, with all that is not its kernels: where there are many, compiling is long

# Pooling and permutations take more than last caches hold: what just fits into one is as fast as other programs leave room in it.
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
    ("layers/total", "total", "N=4096,M=4096"), ("layers/pool", "max_pool2d_halving", "N=32,C=64,H=112,W=112"),
    ("layers/elementwise", "add", "N=16777216"), ("layers/activations", "gelu", "N=4194304"), ("layers/chain", "chain", "N=16777216"),
    ("layers/permute", "transpose2d", "N=4096,M=4096"), ("layers/permute", "nchw_to_nhwc", "N=32,C=64,H=56,W=56"),
    ("layers/attention", "attention", "B=8,H=1,T=128,S=128,D=64"),
]


def call(*words, of_processor=None):
    """The document that the program prints; no process of it takes more than `of_processor` seconds of a processor's time."""
    limited = of_processor and (lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(of_processor), math.ceil(of_processor))))
    done = subprocess.run([heddle, *words, "--json"], capture_output=True, text=True, preexec_fn=limited)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def seconds(file, name, sizes, listed, repeat, limit, of_processor=None):
    """All measured times of each config, taking turns; none for what fails or takes longer than `limit` seconds."""
    parts = PARTS if repeat > PARTS else 1
    words = ["bench", file, "--def", name, "-s", sizes, "-t", target, "--repeat", str(repeat), "--rounds", str(parts), "--timeout", str(limit)]
    said = call(*words, *(word for config in listed for word in ("--config", config)), of_processor=of_processor)
    kernels = said["cases"][0]["kernels"] if said and said["cases"] else [{}] * len(listed)
    moved[name, sizes] = said["cases"][0]["bytes"] if said and said["cases"] else moved.get((name, sizes), 0)
    return {config: kernel.get("all", []) for config, kernel in zip(listed, kernels)}


def rated(file, name, sizes, config):
    """The model's word on a config, and the config in full; None where it is refused."""
    said = call("plan", file, "--def", name, "-s", sizes, "-t", target, "--sweep", "units=2", "--config", config)
    values = said["sweeps"][0]["values"] if said and said.get("sweeps") else []
    return values[0] if values else None


def dims_of(file, name, sizes, program):
    """Of every statement: its dimensions in order, with their extents and whether they are reductions, from `--dump extract`."""
    words = [heddle, "plan", file, "--def", name, "-s", sizes, "-t", target, "--config", program, "--dump", "extract"]
    dims, bounds, number = {}, "", ""
    for line in subprocess.run(words, capture_output=True, text=True).stdout.splitlines():
        domain, dim = re.match(r"(S\d+): \{ (.*) \}$", line), re.match(r"\t(\w+):( reduction)?$", line)
        if domain:
            number, bounds = domain.groups()
            dims[number] = {}
        elif dim and number:
            last = [int(n) for n in re.findall(rf"\bd{len(dims[number])} (?:<=|=) (\d+)(?= and|,|\]|$)", bounds)]
            dims[number][dim[1]] = (min(last, default=0) + 1, bool(dim[2]))
    return dims


def space_of(lines, dims):
    """What configs are drawn from: the choices of whole programs that these lines make (split, share, turn, fuse), and for each of
    them the dimensions of every kernel's statements (`dims(program)`), the kernels' orders, and the groups' spaces."""
    spaces = {}
    for line in lines:
        parts = [part.partition(":") for part in line.split("; ")]
        program = "; ".join(head + colon + rest for head, colon, rest in parts if not OF_KERNEL.fullmatch(head))
        if program not in spaces:
            spaces[program] = {"all": dims(program), "stmt": {}, "order": {}, "group": {}}
        space = spaces[program]
        for head, _, rest in parts:
            if not OF_KERNEL.fullmatch(head):
                continue
            words = dict(word.split("=", 1) for word in rest.split())
            if re.search(r"\.S\d+$", head):
                space["stmt"][head] = space["all"].get(head.split(".")[1], {})
            elif "." in head:
                space["group"].setdefault(head, {"": True})[rest.strip()] = True
            elif "order" in words:
                space["order"][head] = words["order"].split(",")
    return list(spaces.items())


def drawn(spaces, stream):
    """One config, every choice drawn uniformly and apart from all others: nothing in it follows what the model or the rules prefer.
    What is not legal is refused later, so that the legal ones have the same chance.  Statements of one kernel share a dimension's
    layout, as they must where they are fused."""
    program, space = stream.choice(spaces)
    parts, layouts = [program], {}
    for head, names in space["order"].items():
        parts.append(f"{head}: order={','.join(stream.sample(names, len(names)))}")
    for head, dims in space["stmt"].items():
        mine = {}
        for name, (extent, reduction) in dims.items():
            sizes = [(v, n, r) for v in VECTORS for n in ITEMS for r in (ROUNDS_OF if not reduction else (1,)) if v * n * r < 2 * extent]
            mine[name] = layouts.setdefault((head.split(".")[0], name), stream.choice(sizes))
        words = ["tile=" + ",".join(f"{name}:{v * n * r}" for name, (v, n, r) in mine.items())]
        for key, part in (("round", 2), ("vector", 0)):
            listed = ",".join(f"{name}:{layout[part]}" for name, layout in mine.items() if layout[part] > 1)
            words += [f"{key}={listed}"] if listed else []
        lanes = ",".join(f"{name}:lanes" for name, layout in mine.items() if dims[name][1] and layout[0] > 1)
        words += [f"reduce={lanes}"] if lanes else []
        parts.append(f"{head}: {' '.join(words)}")
    for head, known in space["group"].items():
        chosen = stream.choice(list(known))
        parts += [f"{head}: {chosen}"] if chosen else []
    return "; ".join(parts)


def chosen(file, name, sizes):
    """What is measured of a pair: the model's choices and those that are drawn, each with the model's seconds; None where it has none."""
    top = call("plan", file, "--def", name, "-s", sizes, "-t", target, "--top", str(RATED))
    if not top or not top.get("top"):
        return None
    listed = [[choice["config"], choice["seconds"]] for choice in top["top"][0]["choices"]]
    usual = rated(file, name, sizes, "")
    found = {usual["config"]: usual["seconds"]}
    for config, rating in listed:
        found.setdefault(config, rating)
    spaces = space_of(list(found), lambda program: dims_of(file, name, sizes, program))
    stream, tries, random_ones, refused = random.Random(f"{name} {sizes}"), 0, [], 0
    wanted, together = max(UNIFORM, configs - len(found)), os.cpu_count() or 1
    with ThreadPoolExecutor(together) as pool:  # of programs that are waited for: nothing is measured here
        while tries < 100 * configs and len(random_ones) < wanted:
            tries += together
            for one in pool.map(lambda config: rated(file, name, sizes, config), [drawn(spaces, stream) for _ in range(together)]):
                refused += one is None
                if one and one["config"] not in found and len(random_ones) < wanted:
                    found[one["config"]] = one["seconds"]
                    random_ones.append(one["config"])
    return {"usual": usual["config"], "listed": [config for config, _ in listed], "found": found, "drawn": random_ones, "refused": refused}


def built(file, name, sizes, choice):
    """The configs that are compiled and run once within a limit, all processors at it: the driver keeps what it has compiled, so that
    the runs that are timed later, one process at a time, only begin.  The limit is of processor time, so that other work does not
    change what is in it."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(file, name, sizes, [choice["usual"]], 1, 60)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = max(LIMIT, PATIENCE * (end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        done = pool.map(lambda config: seconds(file, name, sizes, [config], 1, PATIENT * limit, limit), choice["found"])
    return [config for one in done for config, t in one.items() if t], limit


def one_pair(file, name, sizes, choice, runs, limit):
    """The pair's figures, from timings of `runs`, the configs that `built` has seen run."""
    found, listed = choice["found"], choice["listed"]
    once = seconds(file, name, sizes, runs, ONCE, limit) if runs else {}
    measured = {config: statistics.median(t) for config, t in once.items() if t}
    if not measured:
        return None
    order = [config for config in listed if config in measured] + sorted(set(measured) - set(listed), key=found.get)
    final = measured_again(file, name, sizes, set(sorted(measured, key=measured.get)[:AGAIN]) | set(order[:8]) | {choice["usual"]} & set(measured), 4 * limit)
    return {"layer": name, "sizes": sizes, "configs": len(found), "drawn": len(choice["drawn"]), "drawn_in_time": sum(config in measured for config in choice["drawn"]),
            "refused": choice["refused"], "slower": sorted(set(found) - set(measured)), "spread": max(measured.values()) / min(final.values()), "processes": calls_of(name, sizes),
            **reached(final, choice["usual"], order),
            "all": sorted(([final.get(c, measured[c]), found[c], c] for c in measured), key=lambda row: row[0])}


def calls_of(name, sizes):
    """Processes that a pair is measured again in, of which one has run."""
    return CALLS_OF_LARGE if moved.get((name, sizes), 0) > LARGE else CALLS


def measured_again(file, name, sizes, again, limit):
    """Median seconds of each config, in turn in several processes."""
    times, calls = {config: [] for config in again}, 0
    while calls < calls_of(name, sizes):  # how large the tensors are the first one says
        calls += 1
        for config, t in seconds(file, name, sizes, list(again), max(EACH, -(-rounds // CALLS_OF_LARGE)), limit).items():
            times[config] += t
    return {config: statistics.median(t) for config, t in times.items() if t}


def reached(final, usual, order):
    """What choices reach of the best of all that were measured again."""
    best = min(final.values())
    return {"usual": best / final[usual] if usual in final else 0.0, "first": best / final[order[0]],
            "best_of_4": best / min(final[c] for c in order[:4]), "best_of_8": best / min(final[c] for c in order[:8])}


def timed_again(file, name, sizes, before):
    """A pair of a run that is over: those that were measured again are once more, and the 12 best of all."""
    rating, rows = {row[2]: row[1] for row in before["all"]}, [row[2] for row in before["all"]]
    top = call("plan", file, "--def", name, "-s", sizes, "-t", target, "--top", str(RATED))
    listed = [choice["config"] for choice in top["top"][0]["choices"]]
    usual = rated(file, name, sizes, "")["config"]
    order = [config for config in listed if config in rating] + sorted(set(rows) - set(listed), key=rating.get)
    final = measured_again(file, name, sizes, set(rows[:AGAIN]) | set(order[:8]) | ({usual} & set(rows)), 4 * LIMIT)
    return {**before, "processes": calls_of(name, sizes), **reached(final, usual, order),
            "all": sorted(([final.get(row[2], row[0]), row[1], row[2]] for row in before["all"]), key=lambda row: row[0])}


def report(r):
    print(f"{r['layer']} {r['sizes']}: {len(r['all'])} of {r['configs']} configs in time, {r['drawn_in_time']} of {r['drawn']} drawn ones, worst/best "
          f"{r['spread']:.1f}, usual {r['usual']:.2f}, first {r['first']:.2f}, best of 4 {r['best_of_4']:.2f}, of 8 {r['best_of_8']:.2f}", flush=True)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


with open(heddle, "rb") as file:
    program = hashlib.sha256(file.read()).hexdigest()
with open("/proc/cpuinfo") as file:
    cpu_of = dict(line.split(":", 1) for line in file.read().replace("\t", "").split("\n\n")[0].splitlines())
cpu = " ".join(cpu_of.get(key, "").strip() for key in ("model name", "cpu family", "model")).strip() or platform.machine()
kept, ready = {}, {}
if os.path.exists(path):  # of the same program and by the same rules: a run that was cut off goes on
    with open(path) as file:
        before = json.load(file)
    if (before.get("program"), before.get("rounds"), before.get("least_configs")) == (program, rounds, configs):
        kept = {(r["layer"], r["sizes"]): r for r in before["pairs"]}
        ready = {(r["layer"], r["sizes"]): r for r in before.get("ready", [])}


def write():
    rest = [r for r in ready.values() if (r["layer"], r["sizes"]) not in kept]
    with open(path, "w") as out:
        json.dump({"date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}", "cpu": cpu, "target": target, "rounds": rounds, "least_configs": configs, "program": program,
                   "pairs": [kept[pair[1:]] for pair in PAIRS if pair[1:] in kept], **({"ready": rest} if rest else {})}, out, indent=1)


if again_only and not kept:
    sys.exit(f"bench/ranking.py: {path} is no run of this program with these options: there is nothing to time again")
wanted = [pair for pair in PAIRS if only in " ".join(pair) or pair[1:] in kept]
for layers, name, sizes in wanted if not again_only else []:  # first everything is compiled, which may be disturbed; then everything is timed, which may not
    if (name, sizes) in kept or (name, sizes) in ready:
        continue
    choice = chosen(f"{layers}.tc", name, sizes)
    if not choice:
        print(layers, name, sizes, "is not rated")
        continue
    runs, limit = built(f"{layers}.tc", name, sizes, choice)
    ready[name, sizes] = {"layer": name, "sizes": sizes, "choice": choice, "runs": runs, "limit": limit}
    print(f"{name} {sizes}: {len(runs)} of {len(choice['found'])} configs compiled and run in time", flush=True)
    write()
for layers, name, sizes in wanted if again_only else []:
    if (name, sizes) in kept and only in f"{layers} {name} {sizes}":
        kept[name, sizes] = timed_again(f"{layers}.tc", name, sizes, kept[name, sizes])
        report(kept[name, sizes])
        write()
results = []
for layers, name, sizes in wanted if not build_only else []:
    if (name, sizes) not in kept and (name, sizes) in ready:
        part = ready[name, sizes]
        result = one_pair(f"{layers}.tc", name, sizes, part["choice"], part["runs"], part["limit"])
        if result:
            kept[name, sizes] = result
            write()
    if (name, sizes) in kept:
        report(kept[name, sizes])
        results.append(kept[name, sizes])
counted = [r for r in results if r["spread"] >= SPREAD]
print(f"{len(counted)} of {len(results)} pairs count (worst/best at least {SPREAD})")
for key in ("usual", "first", "best_of_4", "best_of_8"):
    values = [r[key] for r in counted]
    print(f"{key:10s} geometric mean {mean(values):.3f}, least {min(values, default=float('nan')):.2f}")
