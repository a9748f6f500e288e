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
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def export(path, layers):
    """Writes GPT-2 whose only argument are the tokens, and prints the bytes of its parameters."""
    import jax  # pylint: disable=import-outside-toplevel
    import numpy  # pylint: disable=import-outside-toplevel
    import workloads  # pylint: disable=import-outside-toplevel
    generator = numpy.random.default_rng(workloads.GENERATOR_SEED)
    parameters = workloads.gpt2_parameters(generator, layers=layers)
    model = workloads.WORKLOADS["gpt2_small"].function
    tokens = workloads.integers(0, 50257, 64)(generator)
    exported = jax.export.export(jax.jit(lambda t: model(parameters, t)))(tokens)
    path.write_bytes(exported.mlir_module_serialized)
    print(sum(leaf.nbytes for leaf in jax.tree.leaves(parameters)))


def peak_of(command):
    """Runs it; returns its (CPU seconds, megabytes at most). A process counts from when it was forked, so that the one
    that forks must be small."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, used.ru_maxrss / 2**10


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--keep", help="where to leave the saved program")
    parser.add_argument("--export", help=argparse.SUPPRESS)
    parser.add_argument("--compile", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.export:
        export(pathlib.Path(arguments.export), arguments.layers)
        return
    if arguments.compile:
        module, saved = arguments.compile
        seconds, most = peak_of([ROOT / "build" / "bin" / "heddle", "compile", module, "-o", saved])
        print(f"compiled in {seconds:.1f} s of CPU time and at most {most:.0f} MB")
        return
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder, "gpt2.mlirbc")
        saved = arguments.keep or os.path.join(folder, "gpt2.heddle")
        again = [sys.executable, __file__, f"--layers={arguments.layers}"]
        done = subprocess.run([*again, f"--export={module}"], stdout=subprocess.PIPE, text=True, check=True)
        subprocess.run([*again, "--compile", module, saved], check=True)
        print(f"parameters {int(done.stdout) / 2**20:.1f} MB, module {module.stat().st_size / 2**20:.1f} MB, "
              f"saved program {os.path.getsize(saved) / 2**20:.1f} MB")
        for flags in [], ["--trust-checksums"], ["--trust-checksums", "--cold"]:
            print(f"\nloading {' '.join(flags)}".rstrip(), flush=True)
            subprocess.run([ROOT / "build" / "bench" / "loading", *flags, saved], check=True)


if __name__ == "__main__":
    main()
