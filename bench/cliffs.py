#!/usr/bin/env python3
"""Looks for cliffs: programs at random on which Heddle is much slower than XLA, both on one thread of the same core.

    cliffs.py [--count=3000] [--seed=1] [--below=0.6] [--bench-kernel=build/bench/bench_kernel] [--log=FILE]

Run it with a Python that has JAX (bench/run.py --help). bench/cliff_programs.py draws the programs: each operation and
common pairs of them, from 1 to 10^7 elements, odd and prime dims, element types, layouts, batch and group counts,
windows. JAX exports each; XLA and Heddle run it in turns, the best of all turns counts. What is below the limit is
measured again with more turns; what stays is printed, worst first, with the seed that makes it again (--seed=N
--count=1). Programs of less than 20 µs on XLA's side are left out of the list: there the call is measured. Compile times
are compared too. Results have to agree; what does not is printed first, and the exit status is then 1.
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
CORE = {max(os.sched_getaffinity(0))}
os.sched_setaffinity(0, CORE)  # before XLA makes its pool

import jax  # pylint: disable=wrong-import-position
import numpy  # pylint: disable=wrong-import-position

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import cliff_programs  # pylint: disable=wrong-import-position
import difference  # pylint: disable=wrong-import-position
import peer_jax  # pylint: disable=wrong-import-position
import peer_serve  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 0.05    # of each side's turns, at most
TURNS = 4
LEAST = 20e-6
LOOSE = {"bfloat16": 0.05, "float16": 0.02}
CLOSE = 2e-3      # of the largest value: wrong is far beyond


class Ours:
    """Heddle's bench_kernel on one program."""

    def __init__(self, binary, folder):
        inputs = [f"--input=@{path}" for path in sorted(folder.glob("in*.npy"))]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([binary, folder / "module.mlirbc", "--threads=1", *inputs],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if not words:
            self.errors.seek(0)
            raise RuntimeError((self.errors.read().splitlines() or ["no answer"])[0])
        return words

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def runs_for(seconds):
    return max(1, min(50, int(SECONDS / max(seconds, 1e-6))))


def measure(function, arguments, binary, turns):
    """(seconds of XLA, of Heddle, of XLA's compilation, of Heddle's, largest difference)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = peer_jax.export(function, arguments, name)
        compile_theirs = peer_jax.seconds_to_compile(program)
        run = peer_jax.runnable(jax.jit(function).lower(*arguments).compile(), arguments)
        wanted = run()
        ours = Ours(binary, folder)
        try:
            compile_ours = float(ours.ask("compile")[1])
            first = float(ours.ask("run 1")[1])
            theirs, mine = peer_serve.best_of(run, 1)[0], first
            for _ in range(turns):
                theirs = min(theirs, peer_serve.best_of(run, runs_for(theirs))[0])
                mine = min(mine, float(ours.ask(f"run {runs_for(mine)}")[1]))
            ours.ask(f"write {folder}/out")
            apart = compare(folder, jax.tree.leaves(wanted))
        finally:
            ours.close()
    return theirs, mine, compile_theirs, compile_ours, apart


def compare(folder, leaves):
    """The largest difference, as a share of what its type allows."""
    worst = 0.0
    for number, leaf in enumerate(leaves):
        apart = peer_jax.difference_of(f"{folder}/out{number:04}.npy", leaf)
        if jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact):
            worst = difference.worst([worst, apart / LOOSE.get(str(leaf.dtype), CLOSE)])
    return worst


def say(text):
    if sys.stderr.isatty():
        print("\r\033[K" + text[:110], end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--below", type=float, default=0.6)
    parser.add_argument("--bench-kernel", default=str(ROOT / "build" / "bench" / "bench_kernel"))
    parser.add_argument("--log", help="a line for each program, as it is measured")
    arguments = parser.parse_args()
    log = open(arguments.log, "a", encoding="utf-8") if arguments.log else None
    slow, wrong, failed, ratios, compiles = [], [], [], [], []
    start = time.time()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        name, function, given = cliff_programs.program(seed)
        say(f"{seed - arguments.seed + 1} of {arguments.count}, {len(slow)} slow, {time.time() - start:.0f} s: {name}")
        try:
            found = measure(function, given, arguments.bench_kernel, TURNS)
            if found[0] / found[1] < arguments.below and found[0] >= LEAST:
                found = measure(function, given, arguments.bench_kernel, 3 * TURNS)
        except (RuntimeError, TypeError, ValueError) as error:  # of ours, or of JAX where a program is none
            failed.append(f"seed {seed}: {str(error).splitlines()[0]}: {name}")
            continue
        theirs, mine, compile_theirs, compile_ours, apart = found
        line = (f"{theirs / mine:7.2f}  {theirs * 1e3:9.3f} {mine * 1e3:9.3f} ms  compile {compile_theirs / compile_ours:5.2f}"
                f"  seed {seed}  {name}")
        if log:
            print(line, file=log, flush=True)
        compiles.append(math.log(compile_theirs / compile_ours))
        if not apart <= 1:
            wrong.append(f"{apart:.3g} times what is allowed: {line}")
        if theirs < LEAST:
            continue
        ratios.append(math.log(theirs / mine))
        if theirs / mine < arguments.below:
            slow.append((theirs / mine, line))
    say("")
    for title, lines in (("different results", wrong), ("not run", failed),
                         (f"below {arguments.below} of XLA's speed", [line for _, line in sorted(slow)])):
        print(f"{len(lines)} {title}", *lines, sep="\n  ")
    if ratios:
        print(f"{len(ratios)} programs of 20 µs and more: geometric mean {math.exp(numpy.mean(ratios)):.2f}, "
              f"{sum(r < 0 for r in ratios)} slower than XLA; compile time of all {math.exp(numpy.mean(compiles)):.2f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
