#!/usr/bin/env python3
"""Prints the coefficients of the special functions in prelude.cl, from mpmath at 50 digits.

Each function f is expanded on [-1, 1] in Chebyshev's polynomials, cut off, and written as sum c[k] t^k:
  i0, i1 of x <= 8:   e^-x I0(x), (1 + x) e^-x I1(x) / x        t = x / 4 - 1
  i0, i1 of x > 8:    sqrt(x) e^-x In(x)                t = 16 / x - 1
  j0, y0 of x <= 8:   J0(x), Y0(x) - 2/pi log(x/2) J0(x)                          t = x^2 / 32 - 1
  j1, y1 of x <= 8:   J1(x) / x, (Y1(x) - 2/pi (log(x/2) J1(x) - 1/x)) / x        t = x^2 / 32 - 1
  of x > 8:           Pn, x Qn with  Jn = sqrt(2 / (pi x)) (Pn cos a - Qn sin a),
                      Yn = sqrt(2 / (pi x)) (Pn sin a + Qn cos a),  a = x - (2n + 1) pi/4      t = 128 / x^2 - 1
  erf of |x| <= 3/4:  erf(x) / x                                                      t = 32/9 x^2 - 1
  erfcx of x <= 1/2:  erfcx(x)                                                        t = 4 x - 1
  erfcx of x > 1/2:   (1 + 2 x) erfcx(x)                                              t = (x - 4) / (x + 4)
  normcdf of x > 1:   (1 + x) erfcx(x / sqrt(2)) / 2                                  t = (x - 6) / (x + 6)
  normcdf of |x| < 1: (normcdf(x) - 1/2) / x                                          t = 2 x^2 - 1
  erfinv of y <= 3/4: erfinv(y) / y                                                   t = 32/9 y^2 - 1
  erfcinv of y < 1/4: v erfcinv(y) with v = 1 / sqrt(-log y), in two pieces           t = 2 (v - a) / (b - a) - 1
  gamma:              Gamma(2 + z), 0 <= z <= 1                                       t = 2 z - 1
  lgamma:             log Gamma(1 + z) / z and log Gamma(2 + z) / z, |z| <= 1/2       t = 2 z
  exp of |r| <= log 2: (e^r - 1 - r) / r^2                                            t = r / log 2, written in r
SPDX-License-Identifier: MIT
"""
from mpmath import (mp, mpf, besseli, besselj, bessely, cos, erf, erfc, erfinv, euler, exp, fac2, findroot, gamma, log, loggamma,
		    pi, sin, sqrt)

mp.dps = 50


def chebyshev(f, n=64):
    nodes = [cos(pi * (k + mpf(1) / 2) / n) for k in range(n)]
    values = [f(t) for t in nodes]
    c = [2 * sum(v * cos(j * pi * (k + mpf(1) / 2) / n) for k, v in enumerate(values)) / n for j in range(n)]
    c[0] /= 2
    return c


def powers(c):
    """The coefficients of t^k for those of T[k](t)."""
    n = len(c)
    result, before, now = [mpf(0)] * n, [mpf(1)] + [mpf(0)] * (n - 1), [mpf(0), mpf(1)] + [mpf(0)] * (n - 2)
    for k in range(n):
        result = [r + c[k] * b for r, b in zip(result, before)]
        before, now = now, [2 * a - b for a, b in zip([mpf(0)] + now[:-1], before)]
    return result


def narrow(c, width):
    """The coefficients of (width t)^k for those of t^k."""
    return [v / width ** k for k, v in enumerate(c)]


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


def erfcx(x):
    if x < 60:
        return exp(x * x) * erfc(x)
    return sum((-1) ** k * (fac2(2 * k - 1) if k else 1) / (2 * x * x) ** k for k in range(16)) / (x * sqrt(pi))


def erfcx_scaled(t):
    if t > 1 - mpf(10) ** -30:
        return 2 / sqrt(pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


def normcdf_scaled(t):
    if t > 1 - mpf(10) ** -30:
        return 1 / sqrt(2 * pi)
    x = 6 * (1 + t) / (1 - t)
    return (1 + x) * erfcx(x / sqrt(2)) / 2


def erfcinv(y):
    start = sqrt(-log(y)) * mpf("0.9")
    return findroot(lambda x: log(erfc(x)) - log(y), (start, start * mpf("1.01")))


def tail(a, b):
    def f(t):
        v = mpf(a) + (mpf(b) - mpf(a)) * (t + 1) / 2
        return erfcinv(exp(-1 / v ** 2)) * v
    return f


def around(f, at_zero):
    return lambda t: f(t / 2) / (t / 2) if abs(t) > mpf(10) ** -25 else at_zero


def exp_rest(t):
    r = t * log(2)
    return (exp(r) - 1 - r) / r ** 2 if abs(r) > mpf(10) ** -15 else mpf(1) / 2


functions = {
    "exp_table": exp_rest,
    "erf_table": lambda t: erf(sqrt((t + 1) * 9 / 32)) / sqrt((t + 1) * 9 / 32) if t > -1 + mpf(10) ** -30 else 2 / sqrt(pi),
    "erfcx_table": erfcx_scaled,
    "erfcx_near_table": lambda t: erfcx((t + 1) / 4),
    "normcdf_tail_table": normcdf_scaled,
    "normcdf_table": lambda t: erf(sqrt((t + 1) / 4)) / sqrt((t + 1) / 2) / 2 if t > -1 + mpf(10) ** -30 else 1 / sqrt(2 * pi),
    "erfinv_table": lambda t: erfinv(sqrt((t + 1) * 9 / 32)) / sqrt((t + 1) * 9 / 32) if t > -1 + mpf(10) ** -30 else sqrt(pi) / 2,
    "erfcinv_near_table": tail("0.3", "0.85"),
    "erfcinv_far_table": tail("0.0364", "0.3"),
    "gamma_table": lambda t: gamma(2 + (t + 1) / 2),
    "lgamma1_table": around(lambda z: loggamma(1 + z), -euler),
    "lgamma2_table": around(lambda z: loggamma(2 + z), 1 - euler),
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

widths = {"exp_table": log(2)}  # of the argument, where it is not 1; such a polynomial is added to 1

for name, f in functions.items():
    c = chebyshev(f)
    for kind, u, digits, suffix in (("float", mpf(2) ** -26, 9, "f"), ("double", mpf(2) ** -55, 17, "")):
        scale = 1 if name in widths else max(abs(v) for v in c)
        n = max(k for k, v in enumerate(c) if abs(v) > u * scale / 4) + 1
        words = [mp.nstr(v, digits, min_fixed=0, max_fixed=0, show_zero_exponent=True).replace("e+", "e") + suffix for v in narrow(powers(c[:n]), widths.get(name, 1))]
        print(f"//: heddle_{name}_{kind}")
        print(f"__constant {kind} heddle_{name}_{kind}[{n}] = {{")
        for k in range(0, n, 4):
            print("\t" + ", ".join(words[k:k + 4]) + ",")
        print("};\n")
