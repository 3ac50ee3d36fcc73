"""Rows over one value each, on this machine's OpenCL, against the quotient itself: equal bit for bit where neither an operand nor the
quotient is as small as subnormal numbers, with zeros, infinities and NaN among them.

usage: quotient_test.py HEDDLE
SPDX-License-Identifier: MIT
"""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

heddle = sys.argv[1]
ROWS, COLUMNS = 256, 64
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -3.0, 1e30, -1e-30]


def npy(values, shape, code):
    kind = {"f": "<f4", "d": "<f8"}[code]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values)


def rounded(value, code):
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def quotient(x, y):
    """Of doubles; for floats rounding twice is rounding once."""
    if y == 0:
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)
    return x / y


wrong = tried = 0
for name, code, least, subnormal in (("float", "f", 1e-30, 2.0 ** -140), ("double", "d", 1e-280, 2.0 ** -1060)):
    stream, special = random.Random(1), [rounded(value, code) for value in SPECIAL]
    reach = 126 if code == "f" else 1022
    y = special + [5 * subnormal, -subnormal] + [rounded(stream.choice((-1, 1)) * stream.uniform(1, 2) * 2.0 ** stream.randint(-reach, reach), code)
                   if k % 2 else rounded(stream.uniform(-8, 8), code) for k in range(ROWS - len(SPECIAL) - 2)]
    x = []
    for row in range(ROWS):
        x += special + [rounded(stream.uniform(-2, 2) * 2.0 ** stream.randint(-reach, reach - 1), code) for _ in range(COLUMNS - len(SPECIAL))]
    with tempfile.TemporaryDirectory() as folder:
        def path(of):
            return os.path.join(folder, of)
        with open(path("q.tc"), "w") as file:
            file.write(f"def q({name}(N, D) x, {name}(N) y) -> (z) {{ z(n, d) = x(n, d) / y(n) }}\n")
        for of, values, shape in (("x", x, (ROWS, COLUMNS)), ("y", y, (ROWS,))):
            with open(path(of + ".npy"), "wb") as file:
                file.write(npy(values, shape, code))
        words = [heddle, "run", path("q.tc"), "-s", f"N={ROWS},D={COLUMNS}", "-t", "opencl:cpu", "-i", "x=" + path("x.npy"),
                 "-i", "y=" + path("y.npy"), "-o", folder]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        with open(path("z.npy"), "rb") as file:
            z = struct.unpack(f"<{ROWS * COLUMNS}{code}", file.read()[-ROWS * COLUMNS * struct.calcsize(code):])
    for i, got in enumerate(z):
        a, b = x[i], y[i // COLUMNS]
        wanted = rounded(quotient(a, b), code)
        if a and math.isfinite(a) and abs(a) < least or wanted and abs(wanted) < least:
            continue
        tried += 1
        if got != wanted and not (math.isnan(got) and math.isnan(wanted)):
            wrong += 1
            if wrong <= 10:
                print(f"{name}: {a!r} / {b!r} is {wanted!r}, not {got!r}")
print(f"{tried} quotients, {wrong} wrong")
sys.exit(1 if wrong or tried < ROWS * COLUMNS else 0)
