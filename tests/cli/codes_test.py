#!/usr/bin/env python3
"""Every code that the sources report has its row in base/codes.c, so that `heddle explain` knows it.

SPDX-License-Identifier: MIT
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
known = {int(c) for c in re.findall(r"^\t\{(\d+), \"", (root / "base/codes.c").read_text(), flags=re.M)}
used = {}
for path in root.glob("*/**/*.c"):
    if path.parts[len(root.parts)] in ("build", "tests"):
        continue
    for code in re.findall(r"heddle_(?:error|warning)\([^;,]*,\s*(\d+)\s*,", path.read_text()):
        used.setdefault(int(code), path.relative_to(root))
missing = {c: p for c, p in used.items() if c and c not in known}
for code, path in sorted(missing.items()):
    print(f"{path}: code {code} has no row in base/codes.c")
if not used or not known:
    print("no codes found: this test reads the sources wrongly")
    sys.exit(1)
sys.exit(1 if missing else 0)
