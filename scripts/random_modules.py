#!/usr/bin/env python3
"""Random HLO modules, run on the CPU and compared with the interpreter.

    random_modules.py --tools=build/bin [--count=N] [--seed=S] [--seconds=T] [--jobs=J] [--keep=FOLDER]

Module number K of a seed is always the same, so a failure is repeated with --seed=S --only=K. What failed stays in
--keep as module and arguments. Three families of modules:

  exact   operations whose results every platform must agree on to the bit; --exact, no tolerance
  near    transcendental functions and reductions on tame values; tolerances by type
  corner  one function on the values that go wrong: zeros of both signs, infinities, NaN, subnormals, limits
"""
import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

SIGNED = {"s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64}
UNSIGNED = {"u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
INTEGERS = {**SIGNED, **UNSIGNED}
NARROW = {"f16": 16, "bf16": 16, "f8e4m3fn": 8, "f8e5m2": 8, "f8e4m3b11fnuz": 8, "f8e5m2fnuz": 8, "f8e4m3fnuz": 8,
          "f8e4m3": 8}
FLOATS = {**NARROW, "f32": 32, "f64": 64}
COMPLEX = {"c64": 64, "c128": 128}
PART = {"c64": "f32", "c128": "f64"}
BITS = {"pred": 8, **INTEGERS, **FLOATS, **COMPLEX}
# Often used types more often.
COMMON = ["f32"] * 8 + ["bf16"] * 4 + ["f16"] * 2 + ["f64"] * 3 + ["s32"] * 4 + ["pred"] * 3
ALL_TYPES = COMMON + list(INTEGERS) + list(NARROW) + list(COMPLEX)
MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8e4m3fn": 3, "f8e5m2": 2, "f8e4m3b11fnuz": 3,
            "f8e5m2fnuz": 2, "f8e4m3fnuz": 3, "f8e4m3": 3}

EXACT_FLOAT_UNARY = ["abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even"]
FLOAT_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"]
INTEGER_UNARY = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"]
INTEGER_BINARY = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                  "shift-left", "shift-right-arithmetic", "shift-right-logical", "power"]
PRED_BINARY = ["and", "or", "xor", "maximum", "minimum", "add", "multiply"]
NEAR_UNARY = ["tanh", "logistic", "sine", "cosine", "erf", "atan"]
FUNCTIONS = ["tanh", "logistic", "sine", "cosine", "tan", "erf", "exponential", "exponential-minus-one", "log",
             "log-plus-one", "sqrt", "rsqrt", "cbrt", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"]
COMPLEX_FUNCTIONS = ["tanh", "sine", "cosine", "exponential", "log", "sqrt", "rsqrt", "log-plus-one",
                     "exponential-minus-one"]


def is_float(t):
    return t in FLOATS


def product(dims):
    return math.prod(dims)


class Value:
    def __init__(self, name, dtype, dims, layout=None):
        self.name, self.dtype, self.dims, self.layout = name, dtype, list(dims), layout

    @property
    def shape(self):
        text = f"{self.dtype}[{','.join(map(str, self.dims))}]"
        return text + "{" + ",".join(map(str, self.layout)) + "}" if self.layout else text


class Module:
    """One random module: text, arguments, flags."""

    def __init__(self, rng, family):
        self.rng, self.family = rng, family
        self.lines, self.values, self.parameters, self.computations, self.arguments = [], [], [], [], []
        self.count = 0
        self.types = rng.sample(sorted(set(ALL_TYPES)), 3) if rng.random() < 0.4 else [rng.choice(ALL_TYPES)]
        if family == "near":
            self.types = [rng.choice(["f32", "f32", "bf16", "f16", "f64"])]
        # Which zero an extremum of both gives is open: a module has extrema of floats or what shows a zero's sign.
        self.shows_zeros = family == "exact" and rng.random() < 0.5
        self.limit = rng.choice([60, 400, 3000, 3000, 20000])

    # --- text

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def emit(self, dtype, dims, text, layout="maybe"):
        if product(dims) > 300000:
            raise ValueError("too large")
        if layout == "maybe":
            layout = None
            if len(dims) > 1 and self.rng.random() < 0.06:
                layout = self.rng.sample(range(len(dims)), len(dims))
        value = Value(self.fresh(), dtype, dims, layout)
        self.lines.append(f"{value.name} = {value.shape} {text}")
        self.values.append(value)
        return value

    def parameter(self, dtype, dims):
        number = len(self.parameters)
        value = Value(f"p{number}", dtype, dims)
        if len(dims) > 1 and self.rng.random() < 0.2:
            value.layout = self.rng.sample(range(len(dims)), len(dims))
        self.parameters.append(value)
        self.values.append(value)
        self.arguments.append(self.data(dtype, dims))
        return value

    # --- data

    def number(self, t, tame):
        rng = self.rng
        if t == "pred":
            return rng.choice(["true", "false"])
        if t in INTEGERS:
            bits = INTEGERS[t]
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if t in SIGNED else (0, (1 << bits) - 1)
            kind = rng.random()
            if kind < 0.25:
                return str(rng.choice([low, high, 0, 1, max(low, -1), bits if bits <= high else high, low + 1]))
            if kind < 0.6:
                return str(rng.randint(max(low, -9), min(high, 70)))
            return str(rng.randint(low, high))
        if t in COMPLEX:
            return f"({self.number(PART[t], tame)}, {self.number(PART[t], tame)})"
        if tame:
            return f"{rng.uniform(-2, 2):.6g}"
        kind = rng.random()
        if kind < 0.25:
            choices = ["0", "-0", "1", "-1", "0.5", "-0.5", "1.5", "-2.5", "2", "3"]
            if "fnuz" not in t:
                choices += ["nan"]
            if t in ("f16", "bf16", "f32", "f64", "f8e5m2"):
                choices += ["inf", "-inf", "inf", "-inf"]
            if t in ("f32", "f64", "bf16"):
                choices += ["1e-40", "-3e-42", "3e38", "-3e38", "1.17549435e-38", "2147483648", "-2147483648", "255.5",
                            "8388609", "4294967296", "1e18", "-9.3e18", "1.8e19", "0.49999997"]
            if t == "f64":
                choices += ["1e-310", "1e300", "-5e-324", "9007199254740993", "9223372036854775807", "1e39", "65520"]
            if t == "f16":
                choices += ["6e-8", "65504", "-65504", "6.1e-5", "2049", "1e-6"]
            return rng.choice(choices)
        if kind < 0.7 or t in NARROW and t not in ("f16", "bf16"):
            return f"{rng.uniform(-4, 4):.9g}"
        if t == "f16":
            return f"{rng.uniform(-300, 300):.9g}"
        if kind < 0.85:
            return f"{rng.uniform(-1000, 1000):.9g}"
        return f"{rng.choice([-1, 1]) * 2 ** rng.uniform(-30, 60):.9g}"

    def literal(self, t, dims, tame):
        if not dims:
            return self.number(t, tame)
        size = product(dims)
        flat = [self.number(t, tame) for _ in range(min(size, 997))]
        flat = (flat * (size // max(1, len(flat)) + 1))[:size]
        for d in reversed(dims[1:]):
            if d == 0:
                flat = ["{}"] * product(dims[:1] if len(dims) < 3 else dims[:1])
                break
            flat = ["{" + ", ".join(flat[i : i + d]) + "}" for i in range(0, len(flat), d)]
        return "{" + ", ".join(flat) + "}"

    def data(self, t, dims):
        if product(dims) == 0:
            return None
        return f"{t}[{','.join(map(str, dims))}] {self.literal(t, dims, self.family == 'near')}"

    # --- choosing

    def dims(self):
        rng = self.rng
        if rng.random() < 0.04:
            return [rng.choice([5000, 70001, 4097, 8191, 33333])]
        rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6])
        dims = []
        for _ in range(rank):
            room = max(1, self.limit // max(1, product(dims)))
            choice = rng.choice([1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 97, 128, 513])
            dims.append(min(choice, room))
        if dims and rng.random() < 0.03:
            dims[rng.randrange(rank)] = 0
        return dims

    def dtype(self):
        if self.family == "near":
            return self.types[0]
        return self.rng.choice(self.types) if self.rng.random() < 0.9 else self.rng.choice(ALL_TYPES)

    def pick(self, wanted=None):
        near = self.family == "near"
        found = [v for v in self.values if (wanted is None or wanted(v)) and (is_float(v.dtype) or not near)]
        if found and self.rng.random() < 0.9:
            return self.rng.choice(found[-8:] if self.rng.random() < 0.7 else found)
        return None

    def any(self, wanted=None, types=None):
        """A value that `wanted` takes, or a new parameter of one of the types."""
        test = (lambda v: v.dtype in types) if types else wanted
        v = self.pick(test)
        if v:
            return v
        t = self.dtype()
        if types and t not in types:
            t = self.rng.choice(sorted(types))
        return self.parameter(t, self.dims())

    def like(self, v, dtype=None):
        """Another operand of v's dims."""
        t = dtype or v.dtype
        rng = self.rng
        found = [w for w in self.values if w.dtype == t and w.dims == v.dims and w is not v]
        kind = rng.random()
        if found and kind < 0.6:
            return rng.choice(found)
        if kind < 0.65 and t == v.dtype and v.name:
            return v
        if kind < 0.75 and t == v.dtype and v.name and len(v.dims) == 2 and v.dims[0] == v.dims[1]:
            return self.emit(t, v.dims, f"transpose({v.name}), dimensions={{1,0}}")
        if kind < 0.85:
            scalar = self.emit(t, [], f"constant({self.number(t, self.family == 'near')})", None)
            return self.emit(t, v.dims, f"broadcast({scalar.name}), dimensions={{}}") if v.dims else scalar
        return self.parameter(t, v.dims)

    # --- operations: each appends one value (and what it needs)

    def op_unary(self):
        v = self.any()
        t = v.dtype
        if t == "pred":
            name = "not"
        elif t in INTEGERS:
            name = self.rng.choice(INTEGER_UNARY)
        elif t in COMPLEX:
            if self.rng.random() < 0.5:
                return self.emit(PART[t], v.dims, f"{self.rng.choice(['real', 'imag'])}({v.name})")
            name = "negate"
        elif self.family == "near":
            name = self.rng.choice(NEAR_UNARY + ["negate", "abs"])
        else:
            name = self.rng.choice(EXACT_FLOAT_UNARY)
            if self.rng.random() < 0.1:
                return self.emit("pred", v.dims, f"is-finite({v.name})")
            if self.rng.random() < 0.1 and t in ("f32", "f64", "f16", "bf16"):
                exponent, mantissa = self.rng.randint(2, 8), self.rng.randint(1, 23)
                return self.emit(t, v.dims, f"reduce-precision({v.name}), exponent_bits={exponent}, "
                                            f"mantissa_bits={mantissa}")
        return self.emit(t, v.dims, f"{name}({v.name})")

    def op_binary(self):
        v = self.any()
        t = v.dtype
        w = self.like(v)
        if t == "pred":
            name = self.rng.choice(PRED_BINARY)
        elif t in INTEGERS:
            name = self.rng.choice(INTEGER_BINARY)
        elif t in COMPLEX:
            name = self.rng.choice(["add", "subtract"])
        elif self.family == "near":
            name = self.rng.choice(["add", "subtract", "multiply", "maximum", "minimum"])
            r = self.emit(t, v.dims, f"{name}({v.name}, {w.name})")
            return self.emit(t, v.dims, f"{self.rng.choice(['tanh', 'sine', 'logistic'])}({r.name})")
        else:
            banned = ["maximum", "minimum"] if self.shows_zeros else ["divide"]
            name = self.rng.choice([name for name in FLOAT_BINARY if name not in banned])
        pair = [v.name, w.name]
        self.rng.shuffle(pair)
        return self.emit(t, v.dims, f"{name}({pair[0]}, {pair[1]})")

    def op_select(self):
        v = self.any()
        w = self.like(v)
        p = self.like(v, "pred")
        return self.emit(v.dtype, v.dims, f"select({p.name}, {v.name}, {w.name})")

    def op_compare(self):
        v = self.any(wanted=lambda v: self.family == "exact")
        w = self.like(v)
        names = ["EQ", "NE"] if v.dtype in COMPLEX else ["EQ", "NE", "LT", "LE", "GT", "GE"]
        kind = ", type=TOTALORDER" if v.dtype in FLOATS and self.shows_zeros and self.rng.random() < 0.4 else ""
        return self.emit("pred", v.dims, f"compare({v.name}, {w.name}), direction={self.rng.choice(names)}{kind}")

    def op_clamp(self):
        v = self.any(types=set(INTEGERS) | (set() if self.shows_zeros else set(FLOATS)))
        bounds = [self.emit(v.dtype, [], f"constant({self.number(v.dtype, self.family == 'near')})", None)
                  for _ in range(2)] if self.rng.random() < 0.5 else [self.like(v), self.like(v)]
        return self.emit(v.dtype, v.dims, f"clamp({bounds[0].name}, {v.name}, {bounds[1].name})")

    def op_convert(self):
        v = self.any()
        if self.family == "near":
            types = ["f32", "bf16", "f16", "f64"]
        else:
            types = [t for t in ALL_TYPES if v.dtype not in COMPLEX or t in COMPLEX]
        return self.emit(self.rng.choice(types), v.dims, f"convert({v.name})")

    def op_bitcast_convert(self):
        v = self.any()
        if v.dtype == "pred" or v.dtype in COMPLEX or self.family == "near":
            return None
        bits = BITS[v.dtype]
        t = self.rng.choice([t for t in BITS if t != "pred" and t not in COMPLEX])
        # A NaN's payload need not survive arithmetic, so floats only travel to integers straight from parameters.
        if v.dtype in FLOATS and v not in self.parameters:
            return None
        dims = list(v.dims)
        if BITS[t] < bits:
            dims.append(bits // BITS[t])
        elif BITS[t] > bits:
            if not dims or dims[-1] != BITS[t] // bits:
                return None
            dims.pop()
        return self.emit(t, dims, f"bitcast-convert({v.name})", None)

    def op_complex(self):
        v = self.any(wanted=lambda v: v.dtype in ("f32", "f64"))
        if v.dtype not in ("f32", "f64"):
            return None
        return self.emit("c64" if v.dtype == "f32" else "c128", v.dims, f"complex({v.name}, {self.like(v).name})")

    def op_broadcast(self):
        v = self.any()
        rank = min(6, len(v.dims) + self.rng.randint(0, 3))
        places = sorted(self.rng.sample(range(rank), len(v.dims)))
        if self.rng.random() < 0.15:
            self.rng.shuffle(places)
        dims = [0] * rank
        for i in range(rank):
            room = max(1, self.limit * 4 // max(1, product(v.dims)))
            dims[i] = v.dims[places.index(i)] if i in places else min(self.rng.choice([1, 2, 3, 8, 11, 40]), room)
        if product(dims) > 80000:
            return None
        return self.emit(v.dtype, dims, f"broadcast({v.name}), dimensions={{{','.join(map(str, places))}}}")

    def op_reshape(self):
        v = self.any()
        n, dims = product(v.dims), []
        if n == 0:
            return None
        for _ in range(self.rng.randint(0, 4)):
            divisors = [d for d in range(1, min(n, 600) + 1) if n % d == 0]
            dims.append(self.rng.choice(divisors))
            n //= dims[-1]
        if n > 1 or self.rng.random() < 0.3:
            dims.append(n)
        self.rng.shuffle(dims)
        return self.emit(v.dtype, dims, f"reshape({v.name})")

    def op_transpose(self):
        v = self.any()
        p = self.rng.sample(range(len(v.dims)), len(v.dims))
        return self.emit(v.dtype, [v.dims[i] for i in p],
                         f"transpose({v.name}), dimensions={{{','.join(map(str, p))}}}")

    def op_copy(self):
        v = self.any()
        layout = self.rng.sample(range(len(v.dims)), len(v.dims)) if len(v.dims) > 1 else None
        return self.emit(v.dtype, v.dims, f"copy({v.name})", layout)

    def op_bitcast(self):
        v = self.any()
        n = product(v.dims)
        if v.layout or n == 0 or len(v.dims) < 2:
            return None
        p = self.rng.sample(range(len(v.dims)), len(v.dims))
        # The same memory, dims permuted along with the layout.
        dims = [v.dims[i] for i in p]
        row_major = list(reversed(range(len(dims))))
        layout = [p.index(i) for i in row_major]
        return self.emit(v.dtype, dims, f"bitcast({v.name})", layout)

    def op_slice(self):
        v = self.any()
        parts, dims = [], []
        for d in v.dims:
            if self.rng.random() < 0.4:
                low, high, step = 0, d, 1
            else:
                low = self.rng.randint(0, d)
                high = self.rng.randint(low, d)
                step = self.rng.choice([1, 1, 2, 3])
                if high == low and d and self.rng.random() < 0.9:
                    low, high = 0, d
            dims.append(-(-(high - low) // step))
            parts.append(f"[{low}:{high}:{step}]" if step > 1 else f"[{low}:{high}]")
        return self.emit(v.dtype, dims, f"slice({v.name}), slice={{{', '.join(parts)}}}")

    def op_pad(self):
        v = self.any()
        if not v.dims:
            return None
        scalar = self.like(Value("", v.dtype, []), v.dtype)
        parts, dims = [], []
        for d in v.dims:
            low, high, inner = (self.rng.choice([0, 0, 1, 3, -1, -2, 6]), self.rng.choice([0, 0, 1, 2, -1, -3, 5]),
                                self.rng.choice([0, 0, 0, 1, 2]))
            if d + max(0, d - 1) * inner + low + high < 0:
                low, high = 0, 1
            dims.append(d + max(0, d - 1) * inner + low + high)
            parts.append(f"{low}_{high}_{inner}" if inner or self.rng.random() < 0.2 else f"{low}_{high}")
        if product(dims) > 100000:
            return None
        return self.emit(v.dtype, dims, f"pad({v.name}, {scalar.name}), padding={'x'.join(parts)}")

    def op_reverse(self):
        v = self.any()
        d = self.rng.sample(range(len(v.dims)), self.rng.randint(0, len(v.dims)))
        return self.emit(v.dtype, v.dims, f"reverse({v.name}), dimensions={{{','.join(map(str, d))}}}")

    def op_concatenate(self):
        v = self.any()
        if not v.dims:
            return None
        d = self.rng.randrange(len(v.dims))
        parts = [v]
        for _ in range(self.rng.choice([0, 1, 1, 2, 3, 6])):
            other = [w for w in self.values if w.dtype == v.dtype and len(w.dims) == len(v.dims) and
                     all(a == b for i, (a, b) in enumerate(zip(w.dims, v.dims)) if i != d)]
            if self.rng.random() < 0.8:
                parts.append(self.rng.choice(other))
            else:
                dims = list(v.dims)
                dims[d] = self.rng.choice([0, 1, 2, 5, 9])
                parts.append(self.parameter(v.dtype, dims))
        dims = list(v.dims)
        dims[d] = sum(p.dims[d] for p in parts)
        if product(dims) > 100000:
            return None
        return self.emit(v.dtype, dims, f"concatenate({', '.join(p.name for p in parts)}), dimensions={{{d}}}")

    def op_iota(self):
        dims = self.dims() or [7]
        if self.family == "near":
            return None
        t = self.rng.choice(["s32", "f32", "s64", "u8", "bf16", "f64", "s16", "u4", "c64", "f16"])
        return self.emit(t, dims, f"iota(), iota_dimension={self.rng.randrange(len(dims))}")

    def op_constant(self):
        t = self.dtype()
        dims = self.dims()
        if not 0 < product(dims) <= 300:
            dims = [self.rng.choice([1, 3, 10, 33])]
        return self.emit(t, dims, f"constant({self.literal(t, dims, self.family == 'near')})", None)

    def index_scalar(self, t):
        if self.rng.random() < 0.5:
            return self.parameter(t, [])
        high = 100
        return self.emit(t, [], f"constant({self.rng.randint(0 if t in UNSIGNED else -3, high)})", None)

    def op_dynamic_slice(self):
        v = self.any()
        if not v.dims:
            return None
        t = self.rng.choice(["s32", "s64", "u32", "s8", "u8"])
        starts = [self.index_scalar(t).name for _ in v.dims]
        sizes = [self.rng.randint(min(1, d), d) for d in v.dims]
        return self.emit(v.dtype, sizes, f"dynamic-slice({v.name}, {', '.join(starts)}), "
                                         f"dynamic_slice_sizes={{{','.join(map(str, sizes))}}}")

    def op_dynamic_update_slice(self):
        v = self.any()
        if not v.dims:
            return None
        t = self.rng.choice(["s32", "s64", "u32", "u64", "s16"])
        starts = [self.index_scalar(t).name for _ in v.dims]
        update = self.like(Value("", v.dtype, [self.rng.randint(min(1, d), d) for d in v.dims]), v.dtype)
        return self.emit(v.dtype, v.dims, f"dynamic-update-slice({v.name}, {update.name}, {', '.join(starts)})")

    def reducer(self, t):
        if t in FLOATS and self.shows_zeros:
            raise ValueError("an extremum")
        if t == "pred":
            name = self.rng.choice(["and", "or", "xor"])
        elif t in INTEGERS:
            name = self.rng.choice(["add", "multiply", "maximum", "minimum", "and", "or", "xor"])
        elif t in COMPLEX:
            name = "add"
        else:
            name = self.rng.choice(["maximum", "minimum"] if self.family == "exact" else ["add", "maximum", "minimum"])
        f = self.fresh("f")
        self.computations.append(f"{f} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n"
                                 f"  ROOT r = {t}[] {name}(a, b)\n}}")
        return f

    def op_reduce(self):
        v = self.any()
        d = sorted(self.rng.sample(range(len(v.dims)), self.rng.randint(0, len(v.dims))))
        if self.family == "exact" and v.dtype in COMPLEX:
            return None
        start = self.like(Value("", v.dtype, []), v.dtype)
        dims = [n for i, n in enumerate(v.dims) if i not in d]
        return self.emit(v.dtype, dims, f"reduce({v.name}, {start.name}), dimensions={{{','.join(map(str, d))}}}, "
                                        f"to_apply={self.reducer(v.dtype)}")

    def op_argmax(self):
        v = self.any(types=(set(INTEGERS) | set(FLOATS)) if self.family == "exact" else {"s32"})
        if not v.dims:
            return None
        d = self.rng.randrange(len(v.dims))
        index = self.emit("s32", v.dims, f"iota(), iota_dimension={d}", None)
        f, t = self.fresh("f"), v.dtype
        self.computations.append(
            f"{f} {{\n  a = {t}[] parameter(0)\n  i = s32[] parameter(1)\n  b = {t}[] parameter(2)\n"
            f"  j = s32[] parameter(3)\n  c = pred[] compare(a, b), direction=GE\n  x = {t}[] select(c, a, b)\n"
            f"  y = s32[] select(c, i, j)\n  ROOT r = ({t}[], s32[]) tuple(x, y)\n}}")
        one = self.emit(t, [], f"constant({self.number(t, True)})", None)
        two = self.emit("s32", [], "constant(0)", None)
        dims = [n for i, n in enumerate(v.dims) if i != d]
        shapes = [Value("", t, dims).shape, Value("", "s32", dims).shape]
        name = self.fresh()
        self.lines.append(f"{name} = ({', '.join(shapes)}) reduce({v.name}, {index.name}, {one.name}, {two.name}), "
                          f"dimensions={{{d}}}, to_apply={f}")
        k = self.rng.randrange(2)
        return self.emit([t, "s32"][k], dims, f"get-tuple-element({name}), index={k}", None)

    def op_reduce_window(self):
        v = self.any()
        if v.dtype in COMPLEX or not v.dims or product(v.dims) > 3000:
            return None
        size, stride, pad, dilate, base, dims = [], [], [], [], [], []
        for d in v.dims:
            s, st, lo, hi, wd, bd = (self.rng.choice([1, 1, 2, 3]), self.rng.choice([1, 1, 2]),
                                     self.rng.choice([0, 0, 1, 2]), self.rng.choice([0, 0, 1]),
                                     self.rng.choice([1, 1, 2]), self.rng.choice([1, 1, 1, 2]))
            extent = (0 if d == 0 else (d - 1) * bd + 1) + lo + hi
            window = (s - 1) * wd + 1
            dims.append(0 if extent < window else (extent - window) // st + 1)
            size.append(str(s)), stride.append(str(st)), pad.append(f"{lo}_{hi}")
            dilate.append(str(wd)), base.append(str(bd))
        start = self.like(Value("", v.dtype, []), v.dtype)
        window = f"size={'x'.join(size)} stride={'x'.join(stride)} pad={'x'.join(pad)}"
        window += f" lhs_dilate={'x'.join(base)} rhs_dilate={'x'.join(dilate)}"
        return self.emit(v.dtype, dims, f"reduce-window({v.name}, {start.name}), window={{{window}}}, "
                                        f"to_apply={self.reducer(v.dtype)}")

    def op_dot(self):
        v = self.any()
        if v.dtype == "pred" or v.dtype in ("f8e4m3b11fnuz",) or len(v.dims) > 4:
            return None
        if self.family == "exact" and v.dtype not in INTEGERS:
            return None
        roles = [self.rng.choice("bcff") for _ in v.dims]
        other = [(r, d) for r, d in zip(roles, v.dims) if r != "f"] + [("f", self.rng.choice([1, 3, 8]))
                                                                        for _ in range(self.rng.randint(0, 2))]
        tags = [i for i, r in enumerate(roles) if r != "f"]
        order = list(range(len(other)))
        self.rng.shuffle(order)
        w = self.parameter(v.dtype, [other[k][1] for k in order])
        position = {tags[k]: order.index(k) for k in range(len(tags))}
        batch = [i for i in tags if roles[i] == "b"]
        contract = [i for i in tags if roles[i] == "c"]
        rhs_free = [order.index(k) for k in range(len(tags), len(other))]
        dims = ([v.dims[i] for i in batch] + [d for r, d in zip(roles, v.dims) if r == "f"] +
                [w.dims[k] for k in sorted(rhs_free)])
        if product(dims) * product([v.dims[i] for i in contract]) > 200000:
            return None
        text = lambda numbers: "{" + ",".join(map(str, numbers)) + "}"
        r = self.emit(v.dtype, dims, f"dot({v.name}, {w.name}), lhs_batch_dims={text(batch)}, "
                                     f"lhs_contracting_dims={text(contract)}, "
                                     f"rhs_batch_dims={text([position[i] for i in batch])}, "
                                     f"rhs_contracting_dims={text([position[i] for i in contract])}")
        return self.emit(v.dtype, dims, f"tanh({r.name})") if self.family == "near" else r

    def op_convolution(self):
        rng = self.rng
        t = rng.choice(["s32", "s8", "u16"] if self.family == "exact" else [self.types[0]])
        spatial, groups = rng.randint(0, 2), rng.choice([1, 1, 2, 3])
        inputs, outputs, batch = rng.choice([1, 2, 4]), groups * rng.choice([1, 2, 5]), rng.choice([1, 2, 3])
        sizes = [rng.choice([1, 4, 7, 10]) for _ in range(spatial)]
        kernel = [rng.choice([1, 2, 3]) for _ in range(spatial)]
        window, result = {k: [] for k in ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")}, []
        for d, k in zip(sizes, kernel):
            stride, low, high = rng.choice([1, 1, 2, 3]), rng.choice([0, 1, 2, -1]), rng.choice([0, 1, 2])
            base, dilation = rng.choice([1, 1, 2]), rng.choice([1, 1, 2])
            extent = (d - 1) * base + 1 + low + high
            reach = (k - 1) * dilation + 1
            result.append(0 if extent < reach else (extent - reach) // stride + 1)
            for key, text in zip(window, (k, stride, f"{low}_{high}", base, dilation, rng.randint(0, 1))):
                window[key].append(str(text))
        orders, dims = [], []
        numbers = "".join(map(str, range(spatial)))
        for letters, values in (("bf", (batch, inputs * groups)), ("io", (inputs, outputs)), ("bf", (batch, outputs))):
            extents = dict(zip(letters, values)) | dict(zip(numbers, (sizes, kernel, result)[len(orders)]))
            order = rng.sample(letters + numbers, spatial + 2)
            orders.append("".join(order))
            dims.append([extents[letter] for letter in order])
        x, k = self.parameter(t, dims[0]), self.parameter(t, dims[1])
        text = f", window={{{' '.join(key + '=' + 'x'.join(v) for key, v in window.items())}}}" if spatial else ""
        if groups > 1:
            text += f", feature_group_count={groups}"
        r = self.emit(t, dims[2], f"convolution({x.name}, {k.name}){text}, "
                                  f"dim_labels={orders[0]}_{orders[1]}->{orders[2]}")
        return self.emit(t, dims[2], f"tanh({r.name})") if self.family == "near" else r

    def op_chain(self):
        """Every step uses its operand at two index maps."""
        v = self.any()
        if v.dtype == "pred" or v.dtype in COMPLEX or v.dtype in FLOATS and self.shows_zeros:
            return None
        n = self.rng.choice([2, 3, 5, 9])
        if product(v.dims) != n * n:
            v = self.parameter(v.dtype, [n, n])
        elif v.dims != [n, n]:
            v = self.emit(v.dtype, [n, n], f"reshape({v.name})")
        for _ in range(self.rng.choice([2, 5, 9])):
            t = self.emit(v.dtype, v.dims, f"transpose({v.name}), dimensions={{1,0}}")
            other = self.emit(v.dtype, v.dims, f"reverse({v.name}), dimensions={{0}}")
            v = self.emit(v.dtype, v.dims, f"maximum({t.name}, {other.name})")
            if self.rng.random() < 0.3:
                v = self.emit(v.dtype, v.dims, f"{'tanh' if self.family == 'near' else 'negate'}({v.name})")
        return v

    def op_gather(self):
        v = self.any()
        rng = self.rng
        rank = len(v.dims)
        if rank == 0 or 0 in v.dims:
            return None
        t = rng.choice(["s32", "s64", "u32", "s8"])
        mapped = rng.sample(range(rank), rng.randint(1, rank))
        batch = [rng.choice([1, 2, 5, 9]) for _ in range(rng.randint(0, 2))]
        vector_dim = rng.randint(0, len(batch))
        index_dims = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
        if len(mapped) == 1 and rng.random() < 0.3:
            index_dims, vector_dim = batch, len(batch)
        indices = self.parameter(t, index_dims)
        sizes = [rng.randint(1, d) for d in v.dims]
        collapsed = sorted(i for i in range(rank) if rng.random() < 0.4)
        for i in collapsed:
            sizes[i] = 1
        window = [s for i, s in enumerate(sizes) if i not in collapsed]
        total = len(window) + len(batch)
        offset = sorted(rng.sample(range(total), len(window)))
        dims, w, b = [], iter(window), iter(batch)
        for i in range(total):
            dims.append(next(w) if i in offset else next(b))
        if product(dims) > 50000:
            return None
        text = lambda numbers: "{" + ",".join(map(str, numbers)) + "}"
        return self.emit(v.dtype, dims, f"gather({v.name}, {indices.name}), offset_dims={text(offset)}, "
                                        f"collapsed_slice_dims={text(collapsed)}, start_index_map={text(mapped)}, "
                                        f"index_vector_dim={vector_dim}, slice_sizes={text(sizes)}")

    def op_map(self):
        v = self.any()
        w = self.like(v)
        f, t = self.fresh("f"), v.dtype
        name = ("xor" if t == "pred" else self.rng.choice(["add", "subtract"]))
        self.computations.append(f"{f} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n"
                                 f"  c = {t}[] {name}(a, b)\n  ROOT r = {t}[] {name}(c, a)\n}}")
        d = ",".join(map(str, range(len(v.dims))))
        r = self.emit(t, v.dims, f"map({v.name}, {w.name}), dimensions={{{d}}}, to_apply={f}")
        return self.emit(t, v.dims, f"sine({r.name})") if self.family == "near" else r

    OPS = (["unary"] * 6 + ["binary"] * 9 + ["select", "select", "compare", "clamp", "convert", "convert", "convert"] +
           ["bitcast_convert", "complex"] + ["broadcast"] * 3 + ["reshape"] * 3 + ["transpose"] * 3 + ["copy"] +
           ["bitcast", "slice", "slice", "pad", "pad", "reverse", "concatenate", "concatenate", "iota", "constant"] +
           ["dynamic_slice", "dynamic_update_slice", "reduce", "reduce", "argmax", "reduce_window", "dot", "gather",
            "map", "convolution", "chain"])

    # --- whole modules

    def build(self):
        if self.family == "corner":
            self.build_corner()
        else:
            self.parameter(self.dtype(), self.dims())
            wanted = self.rng.choice([1, 2, 3, 5, 8, 12, 20, 30])
            tries = 0
            while wanted > 0 and tries < 200:
                tries += 1
                name = self.rng.choice(self.OPS)
                if self.family == "near" and name in ("compare", "select", "clamp", "argmax", "complex"):
                    continue
                mark = len(self.lines)
                try:
                    getattr(self, "op_" + name)()
                except ValueError:
                    continue
                wanted -= len(self.lines) > mark
        if not self.lines:
            return self.emit(self.values[0].dtype, self.values[0].dims, f"copy({self.values[0].name})")

    def build_corner(self):
        rng = self.rng
        t = rng.choice(["f32"] * 4 + ["f64", "f64", "bf16", "f16", "c64", "c128", "f8e4m3fn", "f8e5m2"])
        self.types = [t]
        v = self.parameter(t, [rng.choice([997, 61])])
        if t in COMPLEX:
            self.emit(t, v.dims, f"{rng.choice(COMPLEX_FUNCTIONS)}({v.name})")
        elif rng.random() < 0.25:
            w = self.parameter(t, v.dims)
            self.emit(t, v.dims, f"{rng.choice(['power', 'atan2'])}({v.name}, {w.name})")
        else:
            r = self.emit(t, v.dims, f"{rng.choice(FUNCTIONS)}({v.name})")
            if rng.random() < 0.3 and t in ("f32", "f64"):  # the sign of zero counts
                one = self.emit(t, [], "constant(1)", None)
                ones = self.emit(t, v.dims, f"broadcast({one.name}), dimensions={{}}")
                self.emit(t, v.dims, f"divide({ones.name}, {r.name})")

    def roots(self):
        used = set(re.findall(r"[vp]\d+", " ".join(line.split(" = ", 1)[1] for line in self.lines)))
        leaves = [v for v in self.values if v.name not in used and v not in self.parameters]
        extra = [v for v in self.values if v.name in used and v not in self.parameters and self.rng.random() < 0.1]
        return leaves + extra

    def text(self):
        roots = self.roots()
        body = [f"{p.name} = {p.shape} parameter({i})" for i, p in enumerate(self.parameters)] + self.lines
        if len(roots) == 1 and self.rng.random() < 0.8:
            body = ["ROOT " + line if line.startswith(roots[0].name + " = ") else line for line in body]
            result = roots[0].shape
        else:
            result = f"({', '.join(r.shape for r in roots)})"
            body.append(f"ROOT t = {result} tuple({', '.join(r.name for r in roots)})")
        parts = ["HloModule random"] + self.computations
        kind = self.rng.random()
        if kind < 0.5:
            parts.append("ENTRY e {\n  " + "\n  ".join(body) + "\n}")
        else:
            call = "fusion({}), kind=kLoop, calls=inner" if kind < 0.85 else "call({}), to_apply=inner"
            parts.append("inner {\n  " + "\n  ".join(body) + "\n}")
            outer = [f"q{i} = {p.shape} parameter({i})" for i, p in enumerate(self.parameters)]
            names = ", ".join(f"q{i}" for i in range(len(self.parameters)))
            outer.append(f"ROOT r = {result} {call.format(names)}")
            parts.append("ENTRY e {\n  " + "\n  ".join(outer) + "\n}")
        return "\n\n".join(parts) + "\n"

    def inputs(self):
        lines = []
        for p, data in zip(self.parameters, self.arguments):
            shape = Value("", p.dtype, p.dims).shape
            lines.append(data if data is not None else f"{shape} {empty(p.dims)}")
        return "\n".join(lines) + "\n"

    def flags(self):
        if self.family == "exact":
            narrow = any(t in self.text() for t in NARROW)
            mode = ["--exact"] if narrow or self.rng.random() < 0.5 else []
            return mode + ["--abs_error_bound=0", "--rel_error_bound=0"]
        types = {v.dtype for v in self.values} if self.family == "near" else set(self.types)
        types = {PART.get(t, t) for t in types}
        bits = min((MANTISSA[t] for t in types if t in MANTISSA), default=23)
        ulp = 2.0 ** -bits
        if self.family == "corner":
            scale = 64 if self.types[0] in COMPLEX else 4
            smallest = {"f64": 1e-300, "f16": 1.2e-7, "f8e4m3fn": 0.002, "f8e5m2": 1.6e-5}.get(self.types[0], 1e-37)
            exact = ["--exact"] if self.rng.random() < 0.5 else []
            return exact + [f"--rel_error_bound={scale * ulp:g}", f"--abs_error_bound={smallest:g}"]
        exact = ["--exact"] if self.rng.random() < 0.4 else []
        return exact + [f"--rel_error_bound={32 * ulp:g}", f"--abs_error_bound={32 * ulp:g}"]


def empty(dims):
    if dims[0] == 0:
        return "{}"
    return "{" + ", ".join([empty(dims[1:])] * dims[0]) + "}"


def make(seed, number, family=None):
    """Module `number` of a seed: (text, arguments, flags)."""
    for attempt in range(100):
        rng = random.Random(f"{seed}/{number}/{attempt}")
        m = Module(rng, family or rng.choice(["exact", "exact", "exact", "near", "near", "corner"]))
        try:
            m.build()
        except ValueError:
            continue
        return m.text(), m.inputs(), m.flags()
    raise RuntimeError("no module after 100 attempts")


def execute(command, seconds):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=seconds)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, "ran out of time"


def check(tools, folder, seed, number, family=None, extra=(), seconds=60):
    """None, or what is wrong with one module. Its files stay in the folder only if something is."""
    text, arguments, flags = make(seed, number, family)
    module, inputs = folder / f"{seed}-{number}.hlo", folder / f"{seed}-{number}.txt"
    module.write_text(f"// flags: {' '.join(flags)}\n{text}")
    inputs.write_text(arguments)
    status, output = execute([tools / "run_hlo_module", module, "--platform=CPU", "--threads=2",
                              f"--input_literals_file={inputs}", *flags, *extra], seconds)
    refused = status == 1 and ("unimplemented" in output or "not supported" in output)
    if status == 0 or refused:
        printed = number % 4 == 0 and check_printing(tools, folder, module)
        if not printed:
            module.unlink()
            inputs.unlink()
            return "refused" if refused else None
        return printed
    return f"{module}: status {status}: {output[-600:]}"


def check_printing(tools, folder, module):
    """The printed module prints the same again."""
    again = folder / (module.stem + "-printed.hlo")
    status, once = execute([tools / "hlo-opt", module], 60)
    if status != 0:
        return f"{module}: hlo-opt: status {status}: {once[-600:]}"
    again.write_text(once)
    status, twice = execute([tools / "hlo-opt", again], 60)
    if status != 0 or once != twice:
        return f"{module}: hlo-opt prints {again} differently: status {status}: {twice[-300:]}"
    again.unlink()
    return None


def batch(tools, keep, seed, numbers, seconds, jobs, family=None):
    """Checks modules until the time is up: (passed, [what is wrong], refused, not run for lack of time)."""
    keep.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds

    def one(number):
        return "late" if time.monotonic() > end else check(tools, keep, seed, number, family)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(zip(numbers, pool.map(one, numbers)))
    wrong = [f"seed {seed}, module {number}: {text}" for number, text in found if text not in (None, "refused", "late")]
    verdicts = [text for _, text in found]
    return verdicts.count(None), wrong, verdicts.count("refused"), verdicts.count("late")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one module, by number")
    parser.add_argument("--family", choices=["exact", "near", "corner"])
    parser.add_argument("--seconds", type=float, default=600, help="stop after this time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/random"))
    options = parser.parse_args()
    numbers = [options.only] if options.only is not None else range(options.count)
    passed, wrong, refused, late = batch(options.tools, options.keep, options.seed, numbers, options.seconds,
                                         options.jobs, options.family)
    for text in wrong:
        print(text)
    print(f"seed {options.seed}: {passed} modules passed, {len(wrong)} failed, {refused} refused, "
          f"{late} not run for lack of time")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
