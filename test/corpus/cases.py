"""The cases: short modules with arguments and the results that follow from the definitions of their operations.

A case is (name, format, text, inputs, outputs, tolerance); an array is (type, dims, flat values in C order).
"""
import cmath
import itertools
import math

from values import INTEGERS, SMALL_FLOATS, mlir_name, rounded, to_f32, wrapped

NARROW = (*SMALL_FLOATS, "bf16")
FLOATS = ("bf16", "f16", "f32", "f64")
# Relative: a few units in the last place of the type.
TOLERANCE = {"bf16": 0.02, "f16": 0.004, "f32": 1e-5, "f64": 1e-12, "c64": 1e-5, "c128": 1e-12}


def array(t, dims, flat):
    return t, tuple(dims), list(flat)


def shape_text(a):
    return f"{a[0]}[{','.join(map(str, a[1]))}]"


def tensor_text(t, dims):
    return f"tensor<{''.join(f'{d}x' for d in dims)}{mlir_name(t)}>"


def hlo(name, inputs, outputs, body, before="", tolerance=0):
    """`body` names the parameters p0, p1, …; its last line is the root."""
    lines = [f"p{k} = {shape_text(a)} parameter({k})" for k, a in enumerate(inputs)] + body.strip().split("\n")
    lines[-1] = "ROOT " + lines[-1].strip()
    text = f"HloModule {name}\n\n{before}\nENTRY main {{\n" + "".join(f"  {line.strip()}\n" for line in lines) + "}\n"
    return name, "hlo", text, inputs, outputs, tolerance


def mlir(name, inputs, output, body, tolerance=0):
    arguments = ", ".join(f"%p{k}: {tensor_text(*a[:2])}" for k, a in enumerate(inputs))
    result = tensor_text(*output[:2])
    text = f"func.func @main({arguments}) -> {result} {{\n" + "".join(f"  {x.strip()}\n" for x in body.split("\n"))
    return name, "mlir", text + f"  return %r : {result}\n}}\n", inputs, [output], tolerance


def both(opcode, inputs, output, tolerance=0, mlir_op=None):
    """An elementwise operation as HLO and as StableHLO."""
    name = f"{opcode.replace('-', '_')}_{inputs[-1][0]}"
    operands = ", ".join(f"p{k}" for k in range(len(inputs)))
    yield hlo(name, inputs, [output], f"r = {shape_text(output)} {opcode}({operands})", tolerance=tolerance)
    types = ", ".join(tensor_text(*a[:2]) for a in inputs)
    yield mlir(name + "_mlir", inputs, output, f'%r = "stablehlo.{mlir_op or opcode.replace("-", "_")}"('
               f'{", ".join(f"%p{k}" for k in range(len(inputs)))}) : ({types}) -> {tensor_text(*output[:2])}', tolerance)


# --- element by element

def quotient(l, r):
    return int(abs(l) // abs(r)) * (1 if (l < 0) == (r < 0) else -1)


def converts():
    numbers = (0, 1, 17, 100, 127)
    for of, to in itertools.product((*INTEGERS, "pred", "f32"), NARROW):
        flat = (False, True) if of == "pred" else tuple(map(float, numbers)) if of == "f32" else numbers
        if of in ("s32", "s64", "u32", "u64"):
            flat += (257, 70000)
        given = array(of, (len(flat),), flat)
        small = [rounded(to, float(x)) for x in flat]
        yield hlo(f"convert_{of}_{to}", [given], [array(to, given[1], small)], f"r = {to}[{len(flat)}] convert(p0)")
        yield hlo(f"convert_{of}_{to}_f32", [given], [array("f32", given[1], small)],
                  f"a = {to}[{len(flat)}] convert(p0)\nr = f32[{len(flat)}] convert(a)")


def integers():
    for t, (signed, bits) in INTEGERS.items():
        top = (1 << (bits - signed)) - 1
        l = [7, 100, top, 3, 0, 1] + ([-7, -100, -top - 1] if signed else [8, 9, top])
        r = [2, 7, 3, 1, 5, top] + ([2, -7, 3] if signed else [3, 9, top])
        x, y = array(t, (9,), l), array(t, (9,), r)
        binary = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                  "maximum": max, "minimum": min, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
                  "xor": lambda a, b: a ^ b, "divide": quotient, "remainder": lambda a, b: a - quotient(a, b) * b}
        for opcode, fn in binary.items():
            yield from both(opcode, [x, y], array(t, (9,), [wrapped(t, fn(a, b)) for a, b in zip(l, r)]))
        by = [0, 1, 2, 3, 4, 5, bits - 1, bits, bits]
        mask = (1 << bits) - 1
        shifts = {"shift-left": lambda a, s: 0 if s >= bits else a << s,
                  "shift-right-logical": lambda a, s: 0 if s >= bits else (a & mask) >> s,
                  "shift-right-arithmetic": lambda a, s: wrapped("s" + t[1:], a) >> min(s, bits - 1)}
        for opcode, fn in shifts.items():
            yield from both(opcode, [x, array(t, (9,), by)], array(t, (9,), [wrapped(t, fn(a, s)) for a, s in zip(l, by)]))
        unary = {"not": lambda a: ~a, "negate": lambda a: -a, "popcnt": lambda a: bin(a & mask).count("1"),
                 "count-leading-zeros": lambda a: bits - (a & mask).bit_length()}
        if signed:
            unary |= {"abs": abs, "sign": lambda a: (a > 0) - (a < 0)}
        for opcode, fn in unary.items():
            yield from both(opcode, [x], array(t, (9,), [wrapped(t, fn(a)) for a in l]))


UNARY = {"exponential": math.exp, "exponential-minus-one": math.expm1, "log": math.log, "log-plus-one": math.log1p,
         "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x), "cbrt": lambda x: x ** (1 / 3), "tanh": math.tanh,
         "sine": math.sin, "cosine": math.cos, "tan": math.tan, "logistic": lambda x: 1 / (1 + math.exp(-x)),
         "floor": math.floor, "ceil": math.ceil, "negate": lambda x: -x, "abs": abs,
         "round-nearest-even": round, "round-nearest-afz": lambda x: math.floor(x + 0.5),
         "sign": lambda x: float((x > 0) - (x < 0))}
NAMES = {"round-nearest-even": "round_nearest_even", "cosine": "cosine", "popcnt": "popcnt"}


def floats():
    for t in FLOATS:
        flat = [0.25, 0.5, 1.0, 1.5, 2.5, 3.0]
        x = array(t, (6,), flat)
        for opcode, fn in UNARY.items():
            yield from both(opcode, [x], array(t, (6,), [rounded(t, float(fn(a))) for a in flat]), TOLERANCE[t],
                            NAMES.get(opcode))
        l, r = [1.0, -2.5, 0.0, math.inf, 7.0, math.nan], [3.0, 2.0, -1.0, 2.0, 0.5, 1.0]
        x, y = array(t, (6,), l), array(t, (6,), r)
        binary = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                  "divide": lambda a, b: a / b, "atan2": math.atan2,
                  "maximum": lambda a, b: math.nan if math.isnan(a) else max(a, b),
                  "minimum": lambda a, b: math.nan if math.isnan(a) else min(a, b),
                  "remainder": lambda a, b: math.nan if math.isinf(a) else math.fmod(a, b)}
        for opcode, fn in binary.items():
            yield from both(opcode, [x, y], array(t, (6,), [rounded(t, fn(a, b)) for a, b in zip(l, r)]), TOLERANCE[t])
        l, r = [2.0, 3.0, 0.5, 4.0], [3.0, 0.0, 2.0, -0.5]
        yield from both("power", [array(t, (4,), l), array(t, (4,), r)],
                        array(t, (4,), [rounded(t, a ** b) for a, b in zip(l, r)]), TOLERANCE[t])
        x = array(t, (4,), [1.0, math.inf, -math.inf, math.nan])
        yield hlo(f"is_finite_{t}", [x], [array("pred", (4,), [True, False, False, False])], "r = pred[4] is-finite(p0)")
    for t in NARROW:
        flat = [0.5, 1.0, 1.5, 3.0]
        x = array(t, (4,), flat)
        yield hlo(f"add_{t}_small", [x], [array(t, (4,), [rounded(t, 2 * a) for a in flat])], f"r = {t}[4] add(p0, p0)")
        yield hlo(f"multiply_{t}_small", [x], [array(t, (4,), [rounded(t, a * a) for a in flat])],
                  f"r = {t}[4] multiply(p0, p0)")


def complexes():
    for t, part in (("c64", "f32"), ("c128", "f64")):
        l, r = [1 + 2j, -0.5j, 3 + 0j], [2 - 1j, 1 + 1j, 0.5 + 0.25j]
        x, y = array(t, (3,), l), array(t, (3,), r)
        for opcode, fn in {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
                           "divide": lambda a, b: a / b}.items():
            yield from both(opcode, [x, y], array(t, (3,), [fn(a, b) for a, b in zip(l, r)]), TOLERANCE[t])
        for opcode, fn in {"exponential": cmath.exp, "log": cmath.log, "sqrt": cmath.sqrt, "tanh": cmath.tanh,
                           "sine": cmath.sin, "cosine": cmath.cos, "negate": lambda a: -a}.items():
            yield from both(opcode, [x], array(t, (3,), [fn(a) for a in l]), TOLERANCE[t])
        for opcode, fn in {"real": lambda a: a.real, "imag": lambda a: a.imag, "abs": abs}.items():
            yield from both(opcode, [x], array(part, (3,), [fn(a) for a in l]), TOLERANCE[t])
        parts = [array(part, (3,), [a.real for a in l]), array(part, (3,), [a.imag for a in l])]
        yield from both("complex", parts, x)


def comparisons():
    for t in ("s32", "u8", "f32", "bf16", "pred"):
        l, r = ([False, True, True], [True, True, False]) if t == "pred" else ([1, 2, 3], [2, 2, 2])
        if t in FLOATS:
            l, r = [1.0, 2.0, math.nan], [2.0, 2.0, 2.0]
        tests = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b,
                 "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}
        for direction, fn in tests.items():
            yield hlo(f"compare_{direction.lower()}_{t}", [array(t, (3,), l), array(t, (3,), r)],
                      [array("pred", (3,), [fn(a, b) for a, b in zip(l, r)])],
                      f"r = pred[3] compare(p0, p1), direction={direction}")
    p = array("pred", (3,), [True, False, True])
    x, y = array("s16", (3,), [1, 2, 3]), array("s16", (3,), [4, 5, 6])
    yield from both("select", [p, x, y], array("s16", (3,), [1, 5, 3]))
    low, high = array("s16", (3,), [2, 2, 2]), array("s16", (3,), [2, 9, 2])
    yield from both("clamp", [low, x, high], array("s16", (3,), [2, 2, 2]))


# --- layouts

def literal(t, flat, columns):
    def one(v):
        return f"({v.real}, {v.imag})" if isinstance(v, complex) else str(v).lower()
    rows = [flat[k:k + columns] for k in range(0, len(flat), columns)]
    return "{" + ", ".join("{" + ", ".join(map(one, row)) + "}" for row in rows) + "}"


def layouts():
    """What is written in a constant does not depend on how it lies in memory."""
    values = {"pred": [True, False, False, True, True, False], "c64": [1 + 2j, 3 + 0j, 5j, 7 + 1j, 8 + 0j, 9 + 9j],
              **{t: [1, 2, 3, 4, 5, 6] for t in INTEGERS}, **{t: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] for t in FLOATS}}
    for (t, flat), order in itertools.product(values.items(), ("0,1", "1,0")):
        x = array(t, (2, 3), flat)
        zero = array(t, (2, 3), [False if t == "pred" else 0] * 6)
        opcode = "or" if t == "pred" else "add"
        name = order.replace(",", "")
        yield hlo(f"constant_{t}_{name}", [zero], [x], f"c = {t}[2,3]{{{order}}} constant({literal(t, flat, 3)})\n"
                  f"r = {t}[2,3] {opcode}(p0, c)")
        yield hlo(f"root_constant_{t}_{name}", [], [x], f"c = {t}[2,3]{{{order}}} constant({literal(t, flat, 3)})")
    x = array("f32", (2, 3), range(6))
    for order in ("0,1", "1,0"):
        yield hlo(f"copy_{order.replace(',', '')}", [x], [x], f"c = f32[2,3]{{{order}}} copy(p0)\nr = f32[2,3] copy(c)")
        fused = f"f {{\n  c = s32[2,3]{{{order}}} constant({{{{1, 2, 3}}, {{4, 5, 6}}}})\n" \
                "  p = s32[2,3] parameter(0)\n  ROOT s = s32[2,3] add(p, c)\n}\n"
        yield hlo(f"fused_constant_{order.replace(',', '')}", [array("s32", (2, 3), [0] * 6)],
                  [array("s32", (2, 3), range(1, 7))], "r = s32[2,3] fusion(p0), kind=kLoop, calls=f", fused)


# --- moves, sums, control

SUM = "add {\n  a = TYPE[] parameter(0)\n  b = TYPE[] parameter(1)\n  ROOT c = TYPE[] add(a, b)\n}\n"
LESS = "less {\n  a = TYPE[] parameter(0)\n  b = TYPE[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n"


def moves():
    for t in ("f32", "s8", "bf16", "u64", "f16", "s32"):
        number = float if t in FLOATS else int
        flat = [number(k) for k in range(6)]
        x = array(t, (2, 3), flat)
        rows = [flat[:3], flat[3:]]
        swapped = [rows[i][j] for j in range(3) for i in range(2)]

        def case(name, body, dims, wanted, more=(), before="", t=t, x=x):
            return hlo(f"{name}_{t}", [x, *more], [array(t, dims, wanted)], body, before.replace("TYPE", t))
        scalar = array(t, (), [number(9)])
        index = array("s32", (), [1])
        yield case("transpose", f"r = {t}[3,2] transpose(p0), dimensions={{1,0}}", (3, 2), swapped)
        yield case("reverse", f"r = {t}[2,3] reverse(p0), dimensions={{1}}", (2, 3), rows[0][::-1] + rows[1][::-1])
        yield case("reshape", f"r = {t}[3,2] reshape(p0)", (3, 2), flat)
        yield case("broadcast", f"r = {t}[2,2,3] broadcast(p0), dimensions={{0,2}}", (2, 2, 3), rows[0] * 2 + rows[1] * 2)
        yield case("slice", f"r = {t}[2,2] slice(p0), slice={{[0:2], [0:3:2]}}", (2, 2), [rows[0][0], rows[0][2],
                                                                                     rows[1][0], rows[1][2]])
        yield case("pad", f"r = {t}[2,5] pad(p0, p1), padding=0_0x1_1", (2, 5),
                   [number(9), *rows[0], number(9), number(9), *rows[1], number(9)], [scalar])
        yield case("pad_between", f"r = {t}[3,2] pad(p0, p1), padding=0_0_1x0_-1", (3, 2),
                   rows[0][:2] + [number(9)] * 2 + rows[1][:2], [scalar])
        yield case("concatenate", f"r = {t}[4,3] concatenate(p0, p0), dimensions={{0}}", (4, 3), flat * 2)
        yield case("dynamic_slice", f"r = {t}[1,3] dynamic-slice(p0, p1, p1), dynamic_slice_sizes={{1,3}}", (1, 3),
                   rows[1], [index])
        yield case("dynamic_update_slice", f"r = {t}[2,3] dynamic-update-slice(p0, p2, p1, p1)", (2, 3),
                   flat[:4] + [number(9)] + flat[5:], [index, array(t, (1, 1), [number(9)])])
        yield case("gather", f"r = {t}[3,3] gather(p0, p1), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                   "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}", (3, 3), rows[1] + rows[0] + rows[1],
                   [array("s32", (3, 1), [1, 0, 5])])
        yield case("scatter", f"r = {t}[2,3] scatter(p0, p1, p2), update_window_dims={{1}}, inserted_window_dims={{0}}, "
                   "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add", (2, 3),
                   rows[0] + [number(a + 2) for a in rows[1]],
                   [array("s32", (2, 1), [1, 1]), array(t, (2, 3), [number(1)] * 6)], SUM)
        yield case("iota", f"i = {t}[2,3] iota(), iota_dimension=1\nr = {t}[2,3] add(p0, i)", (2, 3),
                   [number(a + k % 3) for k, a in enumerate(flat)])
        yield case("sort", f"n = {t}[2,3] reverse(p0), dimensions={{0,1}}\nr = {t}[2,3] sort(n), dimensions={{1}}, "
                   "to_apply=less", (2, 3), rows[1] + rows[0], before=LESS)


def sums():
    for t in ("f32", "s32", "f64", "u16", "bf16"):
        number = float if t in FLOATS else int
        flat = [number(k) for k in range(6)]
        x, zero, before = array(t, (2, 3), flat), array(t, (), [number(0)]), SUM.replace("TYPE", t)

        def case(name, inputs, body, dims, wanted, t=t, before=before):
            return hlo(f"{name}_{t}", inputs, [array(t, dims, [number(a) for a in wanted])], body, before)
        yield case("reduce_rows", [x, zero], f"r = {t}[2] reduce(p0, p1), dimensions={{1}}, to_apply=add", (2,), [3, 12])
        yield case("reduce_columns", [x, zero], f"r = {t}[3] reduce(p0, p1), dimensions={{0}}, to_apply=add", (3,),
                   [3, 5, 7])
        yield case("reduce_all", [x, zero], f"r = {t}[] reduce(p0, p1), dimensions={{0,1}}, to_apply=add", (), [15])
        yield case("reduce_window", [x, zero], f"r = {t}[2,2] reduce-window(p0, p1), window={{size=1x2}}, to_apply=add",
                   (2, 2), [1, 3, 7, 9])
        y = array(t, (3, 2), flat)
        yield case("dot", [x, y], f"r = {t}[2,2] dot(p0, p1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                   (2, 2), [10, 13, 28, 40])
        yield case("map", [x, x], f"r = {t}[2,3] map(p0, p1), dimensions={{0,1}}, to_apply=add", (2, 3),
                   [2 * a for a in flat])
        if t in FLOATS:
            line, kernel = array(t, (1, 1, 4), [1.0, 2.0, 3.0, 4.0]), array(t, (1, 1, 2), [1.0, 10.0])
            yield case("convolution", [line, kernel], f"r = {t}[1,1,3] convolution(p0, p1), window={{size=2}}, "
                       "dim_labels=bf0_oi0->bf0", (1, 1, 3), [21, 32, 43])


def control():
    x = array("s32", (), [5])
    body = "body {\n  s = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n" \
           "  a = s32[] get-tuple-element(s), index=1\n  o = s32[] constant(1)\n  n = s32[] subtract(i, o)\n" \
           "  m = s32[] multiply(a, i)\n  ROOT t = (s32[], s32[]) tuple(n, m)\n}\n" \
           "cond {\n  s = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n" \
           "  z = s32[] constant(0)\n  ROOT g = pred[] compare(i, z), direction=GT\n}\n"
    yield hlo("while_factorial", [x], [array("s32", (), [120])], "o = s32[] constant(1)\nt = (s32[], s32[]) tuple(p0, o)\n"
              "w = (s32[], s32[]) while(t), condition=cond, body=body\nr = s32[] get-tuple-element(w), index=1", body)
    branches = "".join(f"b{k} {{\n  p = s32[] parameter(0)\n  c = s32[] constant({k})\n  ROOT a = s32[] add(p, c)\n}}\n"
                       for k in range(3))
    for index, wanted in ((0, 5), (1, 6), (2, 7), (3, 7), (-1, 7)):
        yield hlo(f"conditional_{index}".replace("-", "m"), [array("s32", (), [index]), x], [array("s32", (), [wanted])],
                  "r = s32[] conditional(p0, p1, p1, p1), branch_computations={b0, b1, b2}", branches)
    yield hlo("call", [x], [array("s32", (), [7])], "r = s32[] call(p0), to_apply=b2", branches)
    yield hlo("tuple", [x], [x, array("s32", (), [10])], "a = s32[] add(p0, p0)\nr = (s32[], s32[]) tuple(p0, a)")
    yield hlo("nested_tuple", [x], [x, x, x], "t = (s32[], s32[]) tuple(p0, p0)\n"
              "r = ((s32[], s32[]), s32[]) tuple(t, p0)")
    yield hlo("bitcast_convert", [array("f32", (2,), [1.0, -2.0])], [array("u32", (2,), [0x3f800000, 0xc0000000])],
              "r = u32[2] bitcast-convert(p0)")
    yield hlo("reduce_precision", [array("f32", (3,), [1.0, 257.0, 1.00390625])], [array("f32", (3,), [1.0, 256.0, 1.0])],
              "r = f32[3] reduce-precision(p0), exponent_bits=8, mantissa_bits=7")
    yield hlo("s4", [array("s8", (4,), [-8, 7, 0, 3])], [array("s4", (4,), [-8, 7, 0, 3])], "r = s4[4] convert(p0)")
    yield hlo("u4", [array("u8", (4,), [15, 7, 0, 3])], [array("u4", (4,), [15, 7, 0, 3])], "r = u4[4] convert(p0)")
    yield hlo("fft", [array("c64", (4,), [1, 2, 3, 4])], [array("c64", (4,), [10, -2 + 2j, -2, -2 - 2j])],
              "r = c64[4] fft(p0), fft_type=FFT, fft_length={4}", tolerance=1e-5)
    root = to_f32(math.sqrt(2))
    yield hlo("cholesky", [array("f32", (2, 2), [4.0, 2.0, 2.0, 3.0])], [array("f32", (2, 2), [2.0, 0.0, 1.0, root])],
              "c = f32[2,2] cholesky(p0), lower=true\ni = s32[2,2] iota(), iota_dimension=0\n"
              "j = s32[2,2] iota(), iota_dimension=1\nk = pred[2,2] compare(i, j), direction=GE\nz = f32[] constant(0)\n"
              "o = f32[2,2] broadcast(z), dimensions={}\nr = f32[2,2] select(k, c, o)", tolerance=1e-5)


def all_cases():
    return [*converts(), *integers(), *floats(), *complexes(), *comparisons(), *layouts(), *moves(), *sums(), *control()]
