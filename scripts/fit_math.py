#!/usr/bin/env python3
"""Prints the coefficients of src/lower/approx*.c: minimax fits with relative error, made by Remez exchange.

Needs mpmath. Usage: fit_math.py [NAME...]; without names every fit is printed (a few minutes).
"""
import sys

import mpmath as mp
from mpmath import mpf

mp.mp.prec = 300
TINY = mpf(10) ** -40


def solve(points, values, weights, numerator, denominator, error):
    """Coefficients and levelled error of P/Q on the reference points (Q's constant term is 1)."""
    size = numerator + denominator + 2
    for _ in range(60 if denominator else 1):
        matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
        for i, x in enumerate(points):
            sign = (-1) ** i
            for j in range(numerator + 1):
                matrix[i, j] = x**j
            for j in range(1, denominator + 1):
                matrix[i, numerator + j] = -(values[i] - sign * error / weights[i]) * x**j
            matrix[i, size - 1] = sign / weights[i]
            right[i] = values[i]
        solution = mp.lu_solve(matrix, right)
        settled = abs(solution[size - 1] - error) < abs(error) * mpf(2) ** -40
        error = solution[size - 1]
        if settled:
            break
    p = [solution[j] for j in range(numerator + 1)]
    q = [mpf(1)] + [solution[numerator + j] for j in range(1, denominator + 1)]
    return p, q, error


def extrema(samples):
    """The largest error of each run of equal sign."""
    found = []
    for x, e in samples:
        if not found or (e > 0) != (found[-1][1] > 0):
            found.append((x, e))
        elif abs(e) > abs(found[-1][1]):
            found[-1] = (x, e)
    return found


def fit(f, low, high, numerator, denominator, weight, power):
    """Best P/Q found: (largest weighted error, p, q). Points crowd at `low` with `power` > 1."""
    size = numerator + denominator + 2

    def spread(t):
        return low + (high - low) * ((1 - mp.cos(mp.pi * t)) / 2) ** power

    points = [spread(mpf(2 * i + 1) / (2 * size)) for i in range(size)]
    grid = [spread(mpf(i) / (60 * size)) for i in range(60 * size + 1)]
    grid = [(x, f(x), weight(x)) for x in grid]
    best, error = None, mpf(0)
    for _ in range(60):
        p, q, error = solve(points, [f(x) for x in points], [weight(x) for x in points], numerator, denominator, error)
        samples = [(x, w * (y - mp.polyval(p[::-1], x) / mp.polyval(q[::-1], x))) for x, y, w in grid]
        worst = max(abs(e) for _, e in samples)
        if best is None or worst < best[0]:
            best = (worst, p, q)
        reference = extrema(samples)
        while len(reference) > size:
            reference.pop(0 if abs(reference[0][1]) < abs(reference[-1][1]) else -1)
        if len(reference) < size or worst < abs(error) * mpf("1.0005"):
            break
        points = [x for x, _ in reference]
    return best


def over_root(f, limit):
    """f(x)/x as a function of z = x*x, for odd f."""
    return lambda z: limit if z < mpf(10) ** -30 else f(mp.sqrt(z)) / mp.sqrt(z)


def relative(f):
    return lambda x: 1 / f(x)


def part(f, known, order):
    """(f(x) - known(x)) / x^order, by series near 0 to keep digits, and its weight relative to f."""

    def rest(x):
        x = x if abs(x) > mpf(10) ** -20 else mpf(10) ** -20
        return (f(x) - known(x)) / x**order

    return rest, lambda x: abs(x**order / f(x)) if x else mpf(0)


def even_part(f, known, order, relative_to):
    """(f(x) - known(x)) / x^order as a function of z = x*x."""

    def rest(z):
        x = mp.sqrt(z if z > mpf(10) ** -30 else mpf(10) ** -30)
        return (f(x) - known(x)) / x**order

    return rest, lambda z: abs(mp.sqrt(z) ** order / relative_to(mp.sqrt(z))) if z else mpf(0)


def fits():
    half_ln2 = mp.log(2) / 2
    root = mp.sqrt(2)
    tanh, erf = over_root(mp.tanh, mpf(1)), over_root(mp.erf, 2 / mp.sqrt(mp.pi))
    atan = over_root(mp.atan, mpf(1))
    ratio = over_root(lambda s: mp.log((1 + s) / (1 - s)), mpf(2))
    two = lambda x: mpf(2) ** x
    exp_rest = part(mp.exp, lambda r: 1 + r, 2)
    expm1_rest = part(mp.expm1, lambda r: r, 2)
    log_rest = part(lambda x: mp.log(1 + x), lambda x: x - x * x / 2, 3)
    sin_rest = even_part(mp.sin, lambda x: x, 3, mp.sin)
    cos_rest = even_part(mp.cos, lambda x: mpf(1), 2, mp.cos)
    atan_rest = even_part(mp.atan, lambda x: x, 3, mp.atan)
    late_cos_rest = even_part(mp.cos, lambda x: 1 - x * x / 2, 4, mp.cos)
    octave = lambda s: mp.log((1 + s) / (1 - s))
    octave_rest = even_part(octave, lambda s: 2 * s, 3, octave)
    quarter = (mp.pi / 4 * mpf("1.0001")) ** 2
    edge = ((root - 1) / (root + 1) * mpf("1.0001")) ** 2
    # name: function, interval, degrees of P and Q, weight, power, digits are rounded to f32?
    return {
        "tanh_narrow": (tanh, TINY, mpf(5) ** 2, 3, 2, relative(tanh), 2, True),
        "erf": (erf, TINY, mpf("3.65") ** 2, 5, 5, relative(erf), 3, True),
        "erf_narrow": (erf, TINY, mpf(3) ** 2, 3, 3, relative(erf), 2, True),
        "exp": (exp_rest[0], -2 * half_ln2 * mpf("1.0001"), 2 * half_ln2 * mpf("1.003"), 5, 0, exp_rest[1], 1, True),
        "exp_narrow": (exp_rest[0], -2 * half_ln2 * mpf("1.0001"), 2 * half_ln2 * mpf("1.003"), 3, 0, exp_rest[1], 1, True),
        "expm1": (expm1_rest[0], -half_ln2 * mpf("1.0001"), half_ln2 * mpf("1.0001"), 4, 0, expm1_rest[1], 1, True),
        "log": (log_rest[0], 1 / root - 1, root - 1, 8, 0, log_rest[1], 1, True),
        "exp2_64": (two, mpf("-0.5001"), mpf("0.5001"), 8, 0, relative(two), 1, False),
        "log_64": (ratio, TINY, edge, 6, 0, relative(ratio), 1, False),
        "sin_64": (sin_rest[0], TINY, quarter, 3, 0, sin_rest[1], 1, False),
        "cos_64": (cos_rest[0], TINY, quarter, 3, 0, cos_rest[1], 1, False),
        "atan_64": (atan, TINY, mpf(1), 11, 0, relative(atan), 1, False),
        "exp_wide": (exp_rest[0], -half_ln2 * mpf("1.0001"), half_ln2 * mpf("1.0004"), 9, 0, exp_rest[1], 1, False),
        "expm1_wide": (expm1_rest[0], -half_ln2 * mpf("1.0001"), half_ln2 * mpf("1.0004"), 9, 0, expm1_rest[1], 1, False),
        "log_wide": (octave_rest[0], TINY, edge, 6, 0, octave_rest[1], 1, False),
        "sin_wide": (sin_rest[0], TINY, quarter, 5, 0, sin_rest[1], 1, False),
        "cos_wide": (late_cos_rest[0], TINY, quarter, 5, 0, late_cos_rest[1], 1, False),
        "atan_wide": (atan_rest[0], TINY, mpf(1), 19, 0, atan_rest[1], 1, False),
    }


def as_f32(value):
    sign, mantissa, exponent, bits = mpf(value)._mpf_
    shift = bits - 24
    mantissa = int(mantissa)
    if shift > 0:
        half, low = 1 << (shift - 1), mantissa & ((1 << shift) - 1)
        mantissa = (mantissa >> shift) + (1 if low > half or (low == half and (mantissa >> shift) & 1) else 0)
        exponent += shift
    return (-1) ** sign * float(mantissa) * 2.0 ** int(exponent)


def main():
    table = fits()
    for name in sys.argv[1:] or table:
        f, low, high, n, m, weight, power, single = table[name]
        error, p, q = fit(f, low, high, n, m, weight, power)
        print(f"{name}: relative error 2^{float(mp.log(error, 2)):.2f}")
        for letter, coefficients in (("p", p), ("q", q)):
            if letter == "q" and m == 0:
                continue
            hexes = [float.hex(as_f32(c) if single else float(c)) for c in coefficients]
            print(f"  {letter}: " + ", ".join(h.replace("0000000p", "p") for h in hexes))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
