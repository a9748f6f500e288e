"""JAX as the other side of bench/run.py: the same kernels, the same lines on standard input and output as bench_kernel.

    peer_jax.py KERNEL FOLDER

Makes the arguments (FOLDER/in0.npy, …; bf16 as uint16) and prints `ready`. `compile` is jit, lower and compile of a new
function; `check FILE` compares a result of ours with JAX's and prints the largest difference.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy


def gelu(x, root, factor):
    return x * (((jnp.tanh((x + x * x * x * x.dtype.type(factor)) * x.dtype.type(root))) + x.dtype.type(1))
                * x.dtype.type(0.5))


def exp_chain(x):
    for _ in range(3):
        x = -jnp.exp(x)
    return jnp.exp(x)


# Function, element type, shapes of the arguments.
KERNELS = {
    "gelu": (lambda x: gelu(x, 0.79785, 0.044708), jnp.bfloat16, [(6, 512, 4096)]),
    "gelu_f32": (lambda x: gelu(x, 0.79788456, 0.044715), jnp.float32, [(6, 512, 4096)]),
    "bias_gelu_bf16": (lambda x, b: gelu(x + b, 0.79785, 0.044708), jnp.bfloat16, [(3072, 4096), (4096,)]),
    "add_one_f32": (lambda x: x + 1, jnp.float32, [(16777216,)]),
    "exp_chain_f32": (exp_chain, jnp.float32, [(4194304,)]),
}


def make_arguments(dtype, shapes, folder):
    generator = numpy.random.default_rng(42)
    arguments = []
    for number, shape in enumerate(shapes):
        value = jnp.asarray(generator.standard_normal(shape, dtype=numpy.float32), dtype=dtype)
        bits = numpy.asarray(value)
        numpy.save(f"{folder}/in{number}.npy", bits.view(numpy.uint16) if dtype == jnp.bfloat16 else bits)
        arguments.append(value)
    return arguments


def compile_new(function, arguments):
    """Compiles a function JAX has not seen; returns (runnable, seconds of lowering, seconds of compiling)."""
    jax.clear_caches()
    start = time.perf_counter()
    lowered = jax.jit(lambda *x: function(*x)).lower(*arguments)
    middle = time.perf_counter()
    compiled = lowered.compile()
    return compiled, middle - start, time.perf_counter() - middle


def best_of(compiled, arguments, runs):
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        compiled(*arguments).block_until_ready()
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    return best


def largest_difference(path, wanted):
    found = numpy.load(path)
    if wanted.dtype == jnp.bfloat16:
        found = found.view(wanted.dtype)
    difference = numpy.abs(found.astype(numpy.float32) - numpy.asarray(wanted).astype(numpy.float32))
    return float(difference.max())


def main():
    kernel, folder = sys.argv[1:]
    function, dtype, shapes = KERNELS[kernel]
    arguments = make_arguments(dtype, shapes, folder)
    compiled = None
    print("ready", jax.__version__, flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "compile":
            compiled, lower, build = compile_new(function, arguments)
            print(f"compile {lower + build:.9f} lower={lower:.9f} compile={build:.9f}", flush=True)
        elif word == "run":
            print(f"run {best_of(compiled, arguments, int(rest)):.9f}", flush=True)
        elif word == "check":
            print(f"differs {largest_difference(rest, compiled(*arguments)):.3g}", flush=True)


if __name__ == "__main__":
    main()
