"""Element types by their definitions, in plain Python: how numbers round to them, and .npy files of them.

Nothing here comes from Heddle or from a library: a format is its exponent bits, mantissa bits and bias, and the nearest
of its values, ties to even, is found by comparing with all of them.
"""
import functools
import math
import struct

# Exponent bits, mantissa bits, bias, and what there is beyond the finite values: "ieee" infinities and NaNs in the
# highest exponent, "fn" only the NaN with all bits set, "fnuz" only the NaN that would be -0.
SMALL_FLOATS = {
    "f8e5m2": (5, 2, 15, "ieee"), "f8e4m3": (4, 3, 7, "ieee"), "f8e3m4": (3, 4, 3, "ieee"), "f8e4m3fn": (4, 3, 7, "fn"),
    "f8e4m3b11fnuz": (4, 3, 11, "fnuz"), "f8e4m3fnuz": (4, 3, 8, "fnuz"), "f8e5m2fnuz": (5, 2, 16, "fnuz"),
    "f16": (5, 10, 15, "ieee"),
}
INTEGERS = {f"{sign}{bits}": (sign == "s", bits) for sign in "su" for bits in (8, 16, 32, 64)}
NPY = {"pred": ("|b1", "?"), "f16": ("<u2", "H"), "bf16": ("<u2", "H"), "f32": ("<f4", "f"), "f64": ("<f8", "d"),
       "c64": ("<c8", "ff"), "c128": ("<c16", "dd"), "s4": ("|u1", "B"), "u4": ("|u1", "B"),
       **{t: ("|u1", "B") for t in SMALL_FLOATS if t != "f16"},
       **{t: (f"{'|' if bits == 8 else '<'}{'i' if signed else 'u'}{bits // 8}",
              {8: "b", 16: "h", 32: "i", 64: "q"}[bits].upper() if not signed else {8: "b", 16: "h", 32: "i", 64: "q"}[bits])
          for t, (signed, bits) in INTEGERS.items()}}
NPY["f16"] = ("<f2", "H")
MLIR = {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>", **{t: ("i" if t[0] == "s" else "ui") + t[1:] for t in
        ("s4", "u4", *INTEGERS)}, **{t: t.replace("f8e", "f8E").replace("m", "M").replace("fn", "FN").replace(
            "FNuz", "FNUZ").replace("b11", "B11") for t in SMALL_FLOATS if t != "f16"}}


def mlir_name(t):
    return MLIR.get(t, t)


def decode(t, bits):
    """The value of the bits of a small float."""
    exponent_bits, mantissa_bits, bias, kind = SMALL_FLOATS[t]
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) else 1.0
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if kind == "ieee" and exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    if kind == "fn" and bits & ((1 << (exponent_bits + mantissa_bits)) - 1) == (1 << (exponent_bits + mantissa_bits)) - 1:
        return math.nan
    if kind == "fnuz" and bits == 1 << (exponent_bits + mantissa_bits):
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)


@functools.cache
def finite(t):
    """(value, bits) of the finite values from 0 on, rising."""
    exponent_bits, mantissa_bits, _, _ = SMALL_FLOATS[t]
    values = [(decode(t, bits), bits) for bits in range(1 << (exponent_bits + mantissa_bits))]
    return [x for x in values if math.isfinite(x[0])]


def encode_small(t, x):
    """Bits of the nearest value; what rounds beyond the last finite one is infinite, or NaN where there is none."""
    exponent_bits, mantissa_bits, _, kind = SMALL_FLOATS[t]
    sign_bit = 1 << (exponent_bits + mantissa_bits)
    nan = {"ieee": sign_bit - 1, "fn": sign_bit - 1, "fnuz": sign_bit}[kind]
    infinite = {"ieee": ((1 << exponent_bits) - 1) << mantissa_bits, "fn": nan, "fnuz": nan}[kind]
    if math.isnan(x):
        return nan
    sign = sign_bit if math.copysign(1, x) < 0 else 0
    table = finite(t)
    last, step = table[-1][0], table[-1][0] - table[-2][0]
    if abs(x) > last + step / 2 or (abs(x) == last + step / 2 and table[-1][1] & 1):
        return infinite if infinite == nan else infinite | sign
    bits = min(table, key=lambda entry: (abs(entry[0] - abs(x)), entry[1] & 1))[1]
    return bits if kind == "fnuz" and bits == 0 else bits | sign


def encode_bf16(x):
    """The upper half of the f32, rounded; x is a value that f32 has."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    if math.isnan(x):
        return 0x7fc0
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def rounded(t, x):
    """The value of x as type t has it."""
    if t in SMALL_FLOATS:
        return decode(t, encode_small(t, x))
    if t == "bf16":
        return struct.unpack("<f", struct.pack("<I", encode_bf16(to_f32(x)) << 16))[0]
    return to_f32(x) if t == "f32" else x


def to_f32(x):
    if not math.isfinite(x):
        return x
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def wrapped(t, x):
    """An integer as type t has it: modulo its range."""
    signed, bits = INTEGERS[t]
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def pack(t, x):
    code = NPY[t][1]
    if t in SMALL_FLOATS:
        return struct.pack("<" + code, encode_small(t, x))
    if t == "bf16":
        return struct.pack("<H", encode_bf16(x))
    if t in ("s4", "u4"):
        return struct.pack("B", x & 15)
    if t in ("c64", "c128"):
        return struct.pack("<" + code, complex(x).real, complex(x).imag)
    return struct.pack("<" + code, x)


def write_npy(path, t, dims, flat):
    """An array in C order; types without a NumPy name as unsigned integers of the same bits."""
    shape = "(" + "".join(f"{d}, " for d in dims) + ")"
    header = f"{{'descr': '{NPY[t][0]}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = b"".join(pack(t, x) for x in flat)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
