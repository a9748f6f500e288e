#!/usr/bin/env python3
"""How near results, and the values that StableHLO's test data want, are to the true ones.

    nearer.py TESTDATA [--heddle=build/bin/heddle] [--filter=REGEX] [-- FLAGS OF heddle run]

TESTDATA is `stablehlo/testdata` of the StableHLO project. Where a module's check fails although the operation is right,
this says on which side the error lies: it computes the operation in long double (64 bits of mantissa) and prints for
both sides the largest distance in units in the last place of the type (of each part, where elements are complex), the
median of the distances, how many are more than the three units that `check.expect_close` allows, and who is nearer how
often; last the length of all errors by the length of all values, in units in the last place of 1, which says more where
single values cancel. Needs NumPy 2 and, for bf16, ml_dtypes.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

TYPES = {"f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64, "complex<f32>": numpy.complex64,
         "complex<f64>": numpy.complex128}
try:
    import ml_dtypes
    TYPES["bf16"] = ml_dtypes.bfloat16
except ImportError:
    pass
PRECISION = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022)}


def values_of(body, type_name):
    """The elements of a dense literal: hexadecimal, or numbers in brackets."""
    if body.startswith('"0x'):
        return numpy.frombuffer(bytes.fromhex(body[3:-1]), TYPES[type_name])
    numbers = [float(n) for n in re.findall(r"[-+0-9.eE]+", body) if n.strip("eE+-.")]
    if "complex" in type_name:
        return (numpy.array(numbers[0::2]) + 1j * numpy.array(numbers[1::2])).astype(TYPES[type_name])
    return numpy.array(numbers).astype(TYPES[type_name])


def arrays_of(text):
    """The module's literals that are no scalars, in order: arguments, then what is wanted."""
    found = re.finditer(r"constant dense<([^>]*)> : tensor<((?:\d+x)+)([a-z0-9<>]+?)>\s*$", text, re.M)
    arrays = [(m[1], [int(d) for d in m[2].split("x") if d], m[3]) for m in found if m[3] in TYPES]
    return [values_of(body, kind).reshape(dims) for body, dims, kind in arrays if "," in body or '"' in body]


def wide(x):
    return x.astype(numpy.clongdouble if numpy.iscomplexobj(x) else numpy.longdouble)


def fourier(text, x):
    kind, lengths = re.search(r"type =\s+(\w+), length = \[([\d, ]+)\]", text).groups()
    lengths = [int(n) for n in lengths.split(",")]
    axes = range(-len(lengths), 0)
    if kind == "IRFFT":
        return numpy.fft.irfftn(x, s=lengths, axes=axes)
    return {"FFT": numpy.fft.fftn, "IFFT": numpy.fft.ifftn, "RFFT": numpy.fft.rfftn}[kind](x, axes=axes)


def convolution(_, x, w):
    """Over one dim, three features in groups of their own, holes of one between the weights."""
    out = numpy.zeros((2, 12, 5), numpy.longdouble)
    for o in range(12):
        for k in range(3):
            out[:, o] += x[:, o // 4, 2 * k:2 * k + 5] * w[o, 0, k]
    return out


def solve_right(_, a, b):
    """x a = b for upper triangles a."""
    x = numpy.zeros_like(b)
    for j in range(a.shape[-1]):
        known = (x[:, :, :j] * a[:, None, :j, j]).sum(axis=-1)
        x[:, :, j] = (b[:, :, j] - known) / a[:, j, j, None]
    return x


TRUTH = {
    "conv_general_dilated_float32_2_3_9_float32_12_1_3": convolution,
    "cosh_float32_20_20_chlo": lambda _, x: numpy.cosh(x),
    "cumlogsumexp_float16_8_9": lambda _, x: numpy.log(numpy.cumsum(numpy.exp(x), axis=0)),
    "cumprod_complex64_8_9": lambda _, x: numpy.cumprod(x, axis=0),
    "cumsum_bfloat16_8_9": lambda _, x: numpy.cumsum(x, axis=0),
    "fft_complex128_14_15_16_17": fourier,
    "fft_complex64_14_15_16_17": fourier,
    "fft_float32_14_15_16_17": fourier,
    "fft_float64_14_15_16_17": fourier,
    "pow_complex64_20_30_complex64_20_30": lambda _, x, y: numpy.exp(y * numpy.log(x)),
    "sin_complex64_20_20": lambda _, x: numpy.sin(x),
    "sinh_float32_20_20_chlo": lambda _, x: numpy.sinh(x),
    "triangular_solve_float32_2_8_8_float32_2_10_8": solve_right,
}


def computed(heddle, flags, text):
    """What the module's main returns, the check left out and its arguments kept from being folded."""
    with tempfile.TemporaryDirectory() as folder:
        module, result = pathlib.Path(folder) / "module.mlir", pathlib.Path(folder) / "result.npy"
        module.write_text("\n".join(line for line in text.split("\n") if "@check." not in line), encoding="utf-8")
        subprocess.run([heddle, "run", module, "--no-folding", f"--output=@{result}", *flags], check=True)
        return numpy.load(result)


def distances(x, truth):
    """In units in the last place of x's type, of both parts if there are two."""
    if numpy.iscomplexobj(x):
        return numpy.concatenate([distances(x.real, truth.real), distances(x.imag, truth.imag)])
    digits, least = PRECISION[x.dtype.name]
    exponents = numpy.maximum(numpy.frexp(truth)[1] - 1, least)
    return (numpy.abs(x.astype(numpy.longdouble) - truth) / numpy.ldexp(numpy.longdouble(1), exponents - digits + 1)).ravel()


def length_of_errors(x, truth):
    """By the length of the true values, in units in the last place of 1."""
    digits = PRECISION[x.real.dtype.name][0]
    lengths = [numpy.sqrt((numpy.abs(v) ** 2).sum()) for v in (wide(x) - truth, truth)]
    return float(lengths[0] / lengths[1]) * 2.0 ** (digits - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("testdata")
    parser.add_argument("--heddle", default="build/bin/heddle")
    parser.add_argument("--filter", default="")
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    print(f"{'module':50} {'largest':>16} {'median':>14} {'beyond 3':>15} {'nearer':>15} {'length':>15}   "
          "(ours, theirs)")
    for name, function in TRUTH.items():
        path = pathlib.Path(arguments.testdata) / f"{name}.mlir"
        if not re.search(arguments.filter, name) or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        *given, wanted = arrays_of(text)
        ours = computed(arguments.heddle, arguments.flags, text).view(wanted.dtype)
        truth = function(text, *(wide(x) for x in given))
        x, y = distances(ours, truth), distances(wanted, truth)
        print(f"{name:50} {x.max():8.2f} {y.max():7.2f} {numpy.median(x):7.3f} {numpy.median(y):6.3f} "
              f"{(x > 3).mean():8.2%} {(y > 3).mean():6.2%} {(x < y).mean():8.2%} {(y < x).mean():6.2%} "
              f"{length_of_errors(ours, truth):8.3f} {length_of_errors(wanted, truth):6.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
