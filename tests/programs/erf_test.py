"""erf and erfc of whole vectors, on this machine's OpenCL, against Python's: within 6 ulp (OpenCL C allows 16), at points of
all sizes, at the seams of the polynomials and at zeros, infinities and NaN.

usage: erf_test.py HEDDLE
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
COUNT, BOUND = 32768, 6
SEAMS = [0.5, 0.75, 1.0, 2.0, 4.0, 9.0, 10.0, 26.0, 27.0, 30.0, 1e4]


def npy(values, code):
    kind = {"f": "<f4", "d": "<f8"}[code]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values)


def rounded(value, code):
    return struct.unpack(code, struct.pack(code, value))[0]


worst, wrong = {}, 0
for name, code, bits, least in (("float", "f", 23, 2.0 ** -126), ("double", "d", 52, 2.0 ** -1022)):
    stream = random.Random(2)
    x = [0.0, -0.0, math.inf, -math.inf, math.nan]
    for seam in SEAMS:
        x += [sign * seam * (1 + step * 2.0 ** -bits) for sign in (1, -1) for step in (-1, 0, 1)]
    while len(x) < COUNT:
        x.append(stream.choice((stream.gauss(0, 1), stream.uniform(-11, 11), stream.choice((-1, 1)) * 2.0 ** stream.uniform(-100, 5))))
    x = [rounded(v, code) for v in x]
    with tempfile.TemporaryDirectory() as folder:
        def path(of):
            return os.path.join(folder, of)
        with open(path("e.tc"), "w") as file:
            file.write(f"def e({name}(N) x) -> (y, z) {{ y(i) = erf(x(i))  z(i) = erfc(x(i)) }}\n")
        with open(path("x.npy"), "wb") as file:
            file.write(npy(x, code))
        words = [heddle, "run", path("e.tc"), "-s", f"N={COUNT}", "-t", "opencl:cpu", "-i", "x=" + path("x.npy"), "-o", folder,
                 "--config", "k0.S0: tile=i:64 vector=i:16; k0.S1: tile=i:64 vector=i:16"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        for of, function in (("y", math.erf), ("z", math.erfc)):
            with open(path(of + ".npy"), "rb") as file:
                got = struct.unpack(f"<{COUNT}{code}", file.read()[-COUNT * struct.calcsize(code):])
            for v, result in zip(x, got):
                wanted = function(v)
                if math.isnan(wanted) or math.isnan(result) or math.isinf(result):
                    bad, ulp = math.isnan(wanted) != math.isnan(result), 0
                else:
                    ulp = abs(result - wanted) / (2.0 ** -bits * 2.0 ** math.floor(math.log2(max(abs(wanted), least))))
                    bad = ulp > BOUND or (wanted == 0 and math.copysign(1, wanted) != math.copysign(1, result))
                worst[name, of] = max(worst.get((name, of), 0), ulp)
                wrong += bad
                if bad and wrong <= 10:
                    print(f"{name} {function.__name__}({v!r}) is {wanted!r}, not {result!r}: {ulp:.1f} ulp")
print(", ".join(f"{name} {of}: {ulp:.2f} ulp" for (name, of), ulp in worst.items()), f"{wrong} wrong")
sys.exit(1 if wrong else 0)
