"""JAX as the other side of bench/run.py: the same programs, the same lines on standard input and output as bench_kernel.

    peer_jax.py WORKLOAD FOLDER     exports the program (FOLDER/module.mlirbc) and its arguments (FOLDER/in0000.npy, …;
                                    bf16 as uint16), then prints `ready`
    peer_jax.py --list              names of the workloads, models marked

`compile` is jit, lower and compile of a new function; `check PREFIX` compares PREFIX0000.npy … with JAX's results and
prints the largest difference, relative to the largest value of each.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy

import workloads


def save(path, value):
    bits = numpy.asarray(value)
    numpy.save(path, bits.view(numpy.uint16) if value.dtype == jnp.bfloat16 else bits)


def export(function, arguments, folder):
    exported = jax.export.export(jax.jit(function))(*arguments)
    with open(f"{folder}/module.mlirbc", "wb") as file:
        file.write(exported.mlir_module_serialized)
    kept = set(exported.module_kept_var_idx)
    number = 0
    for position, leaf in enumerate(jax.tree.leaves(arguments)):
        if position in kept:
            save(f"{folder}/in{number:04}.npy", leaf)
            number += 1


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
        jax.block_until_ready(compiled(*arguments))
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    return best


def largest_difference(prefix, wanted):
    worst = 0.0
    for number, leaf in enumerate(jax.tree.leaves(wanted)):
        found = numpy.load(f"{prefix}{number:04}.npy")
        if leaf.dtype == jnp.bfloat16:
            found = found.view(leaf.dtype)
        found, right = (numpy.asarray(x).astype(numpy.float64) for x in (found, leaf))
        if found.shape != right.shape:
            return f"shape-{found.shape}-{right.shape}"
        if found.size:
            scale = max(float(numpy.abs(right).max()), 1e-30)
            worst = max(worst, float(numpy.abs(found - right).max()) / scale)
    return f"{worst:.3g}"


def main():
    if sys.argv[1] == "--list":
        for name, workload in workloads.WORKLOADS.items():
            print(name, "model" if workload.is_model else "kernel")
        return
    name, folder = sys.argv[1:]
    function = workloads.WORKLOADS[name].function
    arguments = workloads.arguments_of(name)
    export(function, arguments, folder)
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
            print(f"differs {largest_difference(rest, compiled(*arguments))}", flush=True)


if __name__ == "__main__":
    main()
