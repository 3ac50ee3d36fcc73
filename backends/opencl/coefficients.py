#!/usr/bin/env python3
"""Prints the Chebyshev coefficients of the Bessel functions in prelude.cl, from mpmath at 50 digits.

Each function f is expanded on [-1, 1] as sum c[k] T[k](t), c[0] already halved:
  i0, i1 of x <= 8:   e^-x I0(x), (1 + x) e^-x I1(x) / x        t = x / 4 - 1
  i0, i1 of x > 8:    sqrt(x) e^-x In(x)                t = 16 / x - 1
  j0, y0 of x <= 8:   J0(x), Y0(x) - 2/pi log(x/2) J0(x)                          t = x^2 / 32 - 1
  j1, y1 of x <= 8:   J1(x) / x, (Y1(x) - 2/pi (log(x/2) J1(x) - 1/x)) / x        t = x^2 / 32 - 1
  of x > 8:           Pn, x Qn with  Jn = sqrt(2 / (pi x)) (Pn cos a - Qn sin a),
                      Yn = sqrt(2 / (pi x)) (Pn sin a + Qn cos a),  a = x - (2n + 1) pi/4      t = 128 / x^2 - 1
SPDX-License-Identifier: MIT
"""
from mpmath import mp, mpf, besseli, besselj, bessely, cos, exp, log, pi, sin, sqrt

mp.dps = 50


def chebyshev(f, n=64):
    nodes = [cos(pi * (k + mpf(1) / 2) / n) for k in range(n)]
    values = [f(t) for t in nodes]
    c = [2 * sum(v * cos(j * pi * (k + mpf(1) / 2) / n) for k, v in enumerate(values)) / n for j in range(n)]
    c[0] /= 2
    return c


def phase(n, x):
    a = x - (2 * n + 1) * pi / 4
    s = sqrt(pi * x / 2)
    j, y = besselj(n, x), bessely(n, x)
    return s * (j * cos(a) + y * sin(a)), s * (y * cos(a) - j * sin(a))


def near(t):
    return sqrt(32 * (t + 1))


def far(t):
    return sqrt(128 / (t + 1))


def small(t):
    return max(4 * (t + 1), mpf(10) ** -20)


functions = {
    "i0_near": lambda t: exp(-small(t)) * besseli(0, small(t)),
    "i0_far": lambda t: sqrt(16 / (t + 1)) * exp(-16 / (t + 1)) * besseli(0, 16 / (t + 1)),
    "i1_near": lambda t: (1 + small(t)) * exp(-small(t)) * besseli(1, small(t)) / small(t),
    "i1_far": lambda t: sqrt(16 / (t + 1)) * exp(-16 / (t + 1)) * besseli(1, 16 / (t + 1)),
    "j0_near": lambda t: besselj(0, near(t)),
    "y0_near": lambda t: bessely(0, near(t)) - 2 / pi * log(near(t) / 2) * besselj(0, near(t)),
    "j1_near": lambda t: besselj(1, near(t)) / near(t),
    "y1_near": lambda t: (bessely(1, near(t)) - 2 / pi * (log(near(t) / 2) * besselj(1, near(t)) - 1 / near(t))) / near(t),
    "p0": lambda t: phase(0, far(t))[0],
    "q0": lambda t: far(t) * phase(0, far(t))[1],
    "p1": lambda t: phase(1, far(t))[0],
    "q1": lambda t: far(t) * phase(1, far(t))[1],
}

for name, f in functions.items():
    c = chebyshev(f)
    for kind, u, digits, suffix in (("float", mpf(2) ** -26, 9, "f"), ("double", mpf(2) ** -55, 17, "")):
        scale = max(abs(v) for v in c)
        n = max(k for k, v in enumerate(c) if abs(v) > u * scale / 4) + 1
        words = [mp.nstr(v, digits, min_fixed=0, max_fixed=0, show_zero_exponent=True).replace("e+", "e") + suffix for v in c[:n]]
        print(f"//: heddle_{name}_{kind}")
        print(f"__constant {kind} heddle_{name}_{kind}[{n}] = {{")
        for k in range(0, n, 4):
            print("\t" + ", ".join(words[k:k + 4]) + ",")
        print("};\n")
