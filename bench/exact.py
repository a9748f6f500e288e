#!/usr/bin/env python3
"""How far results in bf16 are from JAX's: the largest distance per function, in units in the last place of bf16.

    exact.py [--heddle=build/bin/heddle] [--filter=REGEX] [--size=ROWS,COLUMNS] [--all]

Needs JAX (build/bench-venv/bin/python has it once `make bench` was run). Each function goes through jax.export and is
compiled twice, with --exact and without it; the arguments are the same for all. Elementwise functions take every value
of bf16 from 2^-24 to 8 in size (with --all every one but NaN: there subnormal numbers count, which XLA's CPU backend
takes for zero, and what overflows between two operations); the others take ROWS,COLUMNS normally distributed numbers.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy

import difference
import peer_jax

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 42


def chain(x):
    half, third = x.dtype.type(0.5), x.dtype.type(0.3)
    return jnp.abs(((x + half) * x - third) / (x * x + half)) * third


def layer_norm(x):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


# name: (function, whether it works on each element on its own)
FUNCTIONS = {
    "add, multiply, divide": (chain, True),
    "exp": (jnp.exp, True),
    "log": (jnp.log, True),
    "tanh": (jnp.tanh, True),
    "logistic": (jax.nn.sigmoid, True),
    "erf": (jax.scipy.special.erf, True),
    "SiLU": (jax.nn.silu, True),
    "tanh-GELU": (jax.nn.gelu, True),
    "erf-GELU": (lambda x: jax.nn.gelu(x, approximate=False), True),
    "softmax": (jax.nn.softmax, False),
    "layer norm": (layer_norm, False),
    "row sum": (lambda x: x.sum(axis=-1), False),
}


def values_of_bf16(smallest, largest):
    values = numpy.arange(1 << 16, dtype=numpy.uint16).view(jnp.bfloat16)
    sizes = numpy.abs(values.astype(numpy.float32))
    return jnp.asarray(values[(sizes >= smallest) & (sizes <= largest)])


def distance(heddle, function, x, *flags):
    """The largest distance from JAX's result, in ULP."""
    with tempfile.TemporaryDirectory() as folder:
        peer_jax.export(function, (x,), folder)
        subprocess.run([heddle, "run", f"{folder}/module.mlirbc", f"--input=@{folder}/in0000.npy",
                        f"--output=@{folder}/out.npy", *flags], check=True)
        right = numpy.asarray(jax.jit(function)(x))
        found = numpy.load(f"{folder}/out.npy").view(right.dtype)
        if found.shape != right.shape:
            raise RuntimeError(f"shapes {found.shape} and {right.shape}")
        return difference.ulps(found, right)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=ROOT / "build" / "bin" / "heddle")
    parser.add_argument("--filter", default="")
    parser.add_argument("--size", default="256,512")
    parser.add_argument("--all", action="store_true", help="every value of bf16, subnormal and huge ones, too")
    arguments = parser.parse_args()
    shape = tuple(int(dim) for dim in arguments.size.split(","))
    numbers = numpy.random.default_rng(SEED).standard_normal(shape, dtype=numpy.float32)
    values = values_of_bf16(0, numpy.inf) if arguments.all else values_of_bf16(2.0 ** -24, 8)
    print(f"{'bf16':24} {'--exact':>9} {'default':>9}   ULP from JAX {jax.__version__}, at most")
    for name, (function, elementwise) in FUNCTIONS.items():
        if not re.search(arguments.filter, name):
            continue
        x = values if elementwise else jnp.asarray(numbers, dtype=jnp.bfloat16)
        exact, default = (distance(arguments.heddle, function, x, *flags) for flags in (("--exact",), ()))
        print(f"{name:24} {exact:9} {default:9}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
