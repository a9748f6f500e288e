"""JAX as the other side of bench/run.py: the same programs, the same lines on standard input and output as bench_kernel.

    peer_jax.py WORKLOAD FOLDER     exports the program (FOLDER/module.mlirbc) and its arguments (FOLDER/in0000.npy, …;
                                    bf16 as uint16), then prints `ready`; with WORKLOAD:frozen its first argument,
                                    the weights, is constants of the program
    peer_jax.py --list              names of the workloads, kernel or model, and the flags that Heddle gets

Workloads are those of workloads.py; --list-tiles lists those of tile_workloads.py, --list-peers those of
peer_workloads.py.

`compile` is XLA's compilation of the exported program, the same bytes that Heddle compiles: nothing is traced, JAX's
caches have no part in it. What `run` runs is jit's own executable, made before the first run; `check PREFIX` compares
PREFIX0000.npy … with JAX's results and prints the largest difference, relative to the largest value of each.
"""
import functools
import sys
import time

import jax
import jax.numpy as jnp
import numpy
from jax._src.lib import xla_client
from jax.extend import backend

import difference
import peer_workloads
import tile_workloads
import workloads

TABLES = {"--list": workloads.WORKLOADS, "--list-tiles": tile_workloads.WORKLOADS,
          "--list-peers": peer_workloads.WORKLOADS}


def save(path, value):
    bits = numpy.asarray(value)
    numpy.save(path, bits.view(numpy.uint16) if value.dtype == jnp.bfloat16 else bits)


def export(function, arguments, folder):
    """Writes the program and its arguments; returns the bytes of the program."""
    exported = jax.export.export(jax.jit(function))(*arguments)
    with open(f"{folder}/module.mlirbc", "wb") as file:
        file.write(exported.mlir_module_serialized)
    kept = set(exported.module_kept_var_idx)
    number = 0
    for position, leaf in enumerate(jax.tree.leaves(arguments)):
        if position in kept:
            save(f"{folder}/in{number:04}.npy", leaf)
            number += 1
    return exported.mlir_module_serialized


def compile_exported(program):
    """XLA's CPU executable of an exported program."""
    client = backend.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    return client.compile_and_load(program, devices, xla_client.CompileOptions())


def seconds_to_compile(program):
    start = time.perf_counter()
    compile_exported(program)
    return time.perf_counter() - start


def best_of(compiled, arguments, runs):
    """Seconds by the clock, and that the processor worked on all threads together."""
    times = []
    for _ in range(runs):
        start, worked = time.perf_counter(), time.process_time()
        jax.block_until_ready(compiled(*arguments))
        times.append((time.perf_counter() - start, time.process_time() - worked))
    return tuple(map(min, zip(*times)))


def difference_of(path, leaf):
    found, right = numpy.load(path), numpy.asarray(leaf)
    if leaf.dtype == jnp.bfloat16:
        found = found.view(leaf.dtype)
    if found.shape != right.shape:
        sys.exit(f"peer_jax.py: {path} has the shape {found.shape}, not {right.shape}")
    return difference.relative(found, right)


def largest_difference(prefix, wanted):
    return difference.worst(difference_of(f"{prefix}{number:04}.npy", leaf)
                            for number, leaf in enumerate(jax.tree.leaves(wanted)))


def main():
    if sys.argv[1] in TABLES:
        for name, workload in TABLES[sys.argv[1]].items():
            print(name, "model" if workload.is_model else "kernel", *workload.flags)
        return
    name, _, form = sys.argv[1].partition(":")
    folder = sys.argv[2]
    among = next(table for table in TABLES.values() if name in table)
    function = among[name].function
    arguments = workloads.arguments_of(name, among)
    if form == "frozen":
        function, arguments = functools.partial(function, arguments[0]), arguments[1:]
    program = export(function, arguments, folder)
    compiled = None
    print("ready", jax.__version__, flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "compile":
            print(f"compile {seconds_to_compile(program):.9f}", flush=True)
            continue
        compiled = compiled or jax.jit(function).lower(*arguments).compile()
        if word == "run":
            print("run {:.9f} cpu={:.9f}".format(*best_of(compiled, arguments, int(rest))), flush=True)
        elif word == "check":
            print(f"differs {largest_difference(rest, compiled(*arguments)):.3g}", flush=True)


if __name__ == "__main__":
    main()
