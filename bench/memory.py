#!/usr/bin/env python3
"""What the corpus' models take in memory, planned by Heddle and by XLA's CPU backend; `make bench` prints it at its end.

    memory.py [--heddle=build/bin/heddle] [--filter=REGEX] [--workloads] [CORPUS]

Needs JAX (build/bench-venv/bin/python has it once `make bench` was run). Compared are arguments + results + temporaries,
less what results share with donated arguments: Heddle's `lmhlo.peak_bytes` for two threads, and the same sum of what
JAX's compiled.memory_analysis() says of the same module. Neither counts constants. --workloads adds the models of
bench/workloads.py. The exit status is 0 if no program takes more than 1.1 times what XLA plans.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import peer_jax
from workloads import WORKLOADS, arguments_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 1.1


def planned_by_heddle(heddle, module):
    done = subprocess.run([heddle, "compile", "--threads=2", "--emit=lhlo", module], capture_output=True, text=True)
    found = re.search(r"lmhlo\.peak_bytes = (\d+)", done.stdout)
    if not found:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no peak"])[0])
    return int(found[1])


def sum_of(stats):
    return (stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes -
            stats.alias_size_in_bytes)


def planned_by_xla(module):
    compiled = peer_jax.compile_exported(pathlib.Path(module).read_bytes())
    return sum_of(compiled.get_compiled_memory_stats())


def corpus_models(corpus):
    for folder in sorted(corpus.glob("jax/model_*")):
        yield folder.name, folder / "module.mlirbc"


def workloads(folder):
    for name, workload in WORKLOADS.items():
        if workload.is_model:
            place = pathlib.Path(folder) / name
            place.mkdir()
            peer_jax.export(workload.function, arguments_of(name), place)
            yield name, place / "module.mlirbc"


def compare(heddle, name, module):
    """Prints a line; returns whether the ratio is as wanted."""
    ours, theirs = planned_by_heddle(heddle, module), planned_by_xla(module)
    ratio = ours / max(theirs, 1)
    print(f"{name:32} {ours:12} {theirs:12} {ratio:7.3f}{'' if ratio <= MOST else '  too much'}", flush=True)
    return ratio <= MOST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=ROOT / "build" / "bin" / "heddle")
    parser.add_argument("--filter", default="")
    parser.add_argument("--workloads", action="store_true")
    parser.add_argument("corpus", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared" / "corpus")
    flags = parser.parse_args()
    print(f"{'bytes of':32} {'Heddle':>12} {'XLA':>12}   ratio")
    are_fine = True
    with tempfile.TemporaryDirectory() as folder:
        programs = list(corpus_models(flags.corpus)) + (list(workloads(folder)) if flags.workloads else [])
        for name, module in programs:
            if re.search(flags.filter, name):
                are_fine &= compare(flags.heddle, name, module)
    sys.exit(0 if are_fine else 1)


if __name__ == "__main__":
    main()
