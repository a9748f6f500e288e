#!/usr/bin/env python3
"""From a saved program's file to its first result, of GPT-2 with its weights as constants: by hand, with JAX's Python.

    loading.py [--layers=12] [--keep=FILE.heddle]

Exports the model of bench/workloads.py with its parameters inside, compiles it to a saved program, and has
build/bench/loading say what loading it and running it take: with all checksums looked at, without, and without from a
file whose pages the system has forgotten.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile

import jax
import numpy

import workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent


def export(path, layers):
    """Writes GPT-2 whose only argument are the tokens; returns the bytes of its parameters."""
    generator = numpy.random.default_rng(workloads.GENERATOR_SEED)
    parameters = workloads.gpt2_parameters(generator, layers=layers)
    model = workloads.WORKLOADS["gpt2_small"].function
    tokens = workloads.integers(0, 50257, 64)(generator)
    exported = jax.export.export(jax.jit(lambda t: model(parameters, t)))(tokens)
    path.write_bytes(exported.mlir_module_serialized)
    return sum(leaf.nbytes for leaf in jax.tree.leaves(parameters))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--keep", help="where to leave the saved program")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder, "gpt2.mlirbc")
        saved = arguments.keep or os.path.join(folder, "gpt2.heddle")
        parameters = export(module, arguments.layers)
        subprocess.run([ROOT / "build" / "bin" / "heddle", "compile", module, "-o", saved], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"parameters {parameters / 2**20:.1f} MB, module {module.stat().st_size / 2**20:.1f} MB, "
              f"saved program {os.path.getsize(saved) / 2**20:.1f} MB")
        print(f"compiled in {used.ru_utime + used.ru_stime:.1f} s of CPU time and at most {used.ru_maxrss / 2**10:.0f} MB")
        for flags in [], ["--trust-checksums"], ["--trust-checksums", "--cold"]:
            print(f"\nloading {' '.join(flags)}".rstrip(), flush=True)
            subprocess.run([ROOT / "build" / "bench" / "loading", *flags, saved], check=True)


if __name__ == "__main__":
    main()
