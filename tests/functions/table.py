#!/usr/bin/env python3
"""Prints the table of doc/functions.md from what `test_functions -m FILE` wrote.

SPDX-License-Identifier: MIT
"""
import sys

columns = ["cuda:exact", "cuda:library", "hip:library", "opencl:pocl", "opencl:pocl:vectors", "opencl:rusticl"]
order, rows = [], {}
for path in sys.argv[1:]:
    for line in open(path):
        name, backend, kind, ulp, bound, absolute, excused = line.split()
        if name not in order:
            order.append(name)
        rows[name, backend, kind] = (ulp, bound, absolute, excused)


def cell(name, backend, kind):
    if (name, backend, kind) not in rows:
        return ""
    ulp, bound, absolute, excused = rows[name, backend, kind]
    text = f"{float(ulp):.2f}"
    if float(absolute) > 0:
        text += f" (or {float(absolute):.1g} absolute)"
    elif float(bound) > 4:
        text += f" (bound {float(bound):g})"
    return text


for kind, shown in (("float32", columns), ("float64", columns[:5])):
    print(f"\n### {kind}\n\n| function | CUDA | CUDA, worst | HIP | " + " | ".join(", ".join(c.split(":")[1:]) for c in shown[3:]) + " |")
    print("|" + "---|" * (len(shown) + 1))
    for name in sorted(order):
        print(f"| `{name}` | " + " | ".join(cell(name, c, kind) for c in shown) + " |")
