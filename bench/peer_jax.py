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

import jax
import jax.numpy as jnp
import numpy
from jax._src.lib import xla_client
from jax.extend import backend

import difference
import peer_serve
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
    return peer_serve.seconds_of(compile_exported, program)


def runnable(compiled, arguments):
    return lambda: jax.block_until_ready(compiled(*arguments))


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
    compiled = functools.cache(lambda: jax.jit(function).lower(*arguments).compile())
    peer_serve.serve(jax.__version__, lambda: seconds_to_compile(program), lambda: runnable(compiled(), arguments),
                     check=lambda prefix: f"differs {largest_difference(prefix, compiled()(*arguments)):.3g}")


if __name__ == "__main__":
    main()
