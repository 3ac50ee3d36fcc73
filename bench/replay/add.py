#!/usr/bin/env python3
"""Adds the timed configs of result files to the table that bench/replay.sh rates: each file is one run, a column of times.

usage: bench/replay/add.py [--machine KEY] [--table FILE] RESULT.json...
RESULT.json: what bench/ranking.sh or ci/gpu.sh wrote.  KEY: the machine in one word, by default made of the file's "cpu" or "card"; describe a new
one in the table's first lines.
SPDX-License-Identifier: MIT
"""
import argparse
import glob
import json
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = ("layers", "bench/layers", "examples")  # searched for definitions in this order


def definitions():
    """The file of each definition."""
    file_of = {}
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.tc"))):
            with open(path) as file:
                for name in re.findall(r"^def (\w+)", file.read(), re.M):
                    file_of.setdefault(name, f"{folder}/{os.path.basename(path)}")
    return file_of


def timed(result):
    """(definition, sizes, seconds, config) of everything in a result file that has a config and a time, the oldest first."""
    for pair in result.get("pairs", []):
        for row in pair.get("all", []):
            yield pair["layer"], pair["sizes"], row[0], row[-1]
    before = result.get("before", {})
    for rows in (before.get("bench", []), before.get("large", []), result.get("bench", []), result.get("configs", [])):
        for row in rows:
            yield row["definition"], row["sizes"].replace(" ", ","), row["seconds"], row["config"]


def run_of(machine, path, result):
    """MACHINE/DATE, with the time of day where the file's name has it."""
    named = re.search(r"(\d{4})-?(\d{2})-?(\d{2})(?:-(\d{4}))?\.json$", os.path.basename(path))
    date = result.get("date") or ("-".join(named.groups()[:3]) if named else "unknown")
    return f"{machine}/{date}" + (f".{named[4]}" if named and named[4] else "")


def machine_of(path, result):
    name = result.get("cpu") or result.get("card")
    if not name:
        sys.exit(f"bench/replay/add.py: {path} does not name its machine: use --machine")
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def read(path):
    """The table: its comment lines, and {(target, file, definition, sizes): {config: {run: seconds}}}."""
    comments, table, rows, runs = [], {}, None, None
    for line in open(path).read().splitlines() if os.path.exists(path) else []:
        if line.startswith("#"):
            comments.append(line)
        elif line.startswith("@ "):
            *key, runs = line[2:].split(" ")
            rows, runs = table.setdefault(tuple(key), {}), runs.split(",")
        elif line:
            seconds, config = line.split("\t")
            rows.setdefault(config, {}).update({run: float(s) for run, s in zip(runs, seconds.split(",")) if s})
    return comments, table


def write(path, comments, table):
    with open(path, "w") as out:
        out.writelines(line + "\n" for line in comments)
        for key, rows in sorted(table.items()):
            runs = sorted({run for times in rows.values() for run in times}, key=lambda run: run.split("/")[::-1])
            out.write(f"@ {' '.join(key)} {','.join(runs)}\n")
            for config in sorted(rows, key=lambda config: (min(rows[config].values()), config)):
                out.write(",".join(f"{rows[config][run]:.4g}" if run in rows[config] else "" for run in runs) + f"\t{config}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine")
    parser.add_argument("--table", default=os.path.join(ROOT, "bench/replay/timings.tsv"))
    parser.add_argument("result", nargs="+")
    given = parser.parse_args()
    comments, table = read(given.table)
    file_of = definitions()
    for path in given.result:
        with open(path) as file:
            result = json.load(file)
        run, n, unknown = run_of(given.machine or machine_of(path, result), path, result), 0, set()
        for definition, sizes, seconds, config in timed(result):
            if definition not in file_of:
                unknown.add(definition)
                continue
            key = (result.get("target", "opencl:cpu"), file_of[definition], definition, sizes)
            table.setdefault(key, {}).setdefault(config, {})[run] = seconds
            n += 1
        print(f"{path}: {n} timed configs" + (f"; no definition of {', '.join(sorted(unknown))}" if unknown else ""))
    write(given.table, comments, table)
    print(f"{os.path.relpath(given.table)}: {sum(map(len, table.values()))} rows of {len(table)} layers and sizes")


if __name__ == "__main__":
    main()
