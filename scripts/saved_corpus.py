#!/usr/bin/env python3
"""Whether saved programs give the bits that the JIT gives: each program of a corpus is run by `heddle run`, then saved by
`heddle compile -o x.heddle` and run by heddle-run, which has no compiler.

    saved_corpus.py [--bin=build/bin] [--every=N] [--filter=REGEX] [--threads=2] [--cpu=LEVEL] FOLDER...

A program is a folder with module.hlo or module.mlir and its arguments in0.npy, in1.npy, …; there are as many results as
files out0.npy, …. Prints the programs whose results differ in a bit, or which only one of the two runs, then
`N passed, N failed`; those that neither runs count as neither. Exit status 1 if one failed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 120


def execute(command):
    """(whether it succeeded, its output)."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False, "ran out of time"
    return done.returncode == 0, done.stderr.decode(errors="replace")


def contents(paths):
    return [path.read_bytes() if path.exists() else None for path in paths]


def judge(tools, program, options, levels):
    """None: neither runs it; "" where both give the same bits; else what is wrong."""
    module = program / "module.hlo" if (program / "module.hlo").exists() else program / "module.mlir"
    inputs = sorted(program.glob("in*.npy"), key=lambda path: int(path.stem[2:]))
    given = [f"--input={path}" for path in inputs]
    count = len(list(program.glob("out*.npy")))
    with tempfile.TemporaryDirectory() as folder:
        saved = pathlib.Path(folder, "x.heddle")
        jit, loaded = ([pathlib.Path(folder, f"{which}{k}.npy") for k in range(count)] for which in ("jit", "saved"))
        runs, why_not = execute([tools / "heddle", "run", module, *given, *(f"--output={path}" for path in jit), *options,
                                 *([f"--cpu={levels}"] if levels else [])])
        made, output = execute([tools / "heddle", "compile", module, "-o", saved, *options,
                                *([f"--cpu={levels}"] if levels else [])])
        if made:
            made, output = execute([tools / "heddle-run", saved, *given, *(f"--output={path}" for path in loaded),
                                    *options, *([f"--cpu={levels}"] if levels else [])])
        if runs != made:
            return f"runs {'by the JIT only: ' + output if runs else 'saved only: ' + why_not}"
        if not runs:
            return None
        return "" if contents(jit) == contents(loaded) else "other bits than the JIT's"


def programs_of(folders, pattern, every):
    found = sorted({path.parent for folder in folders for path in pathlib.Path(folder).glob("*/module.*")
                    if path.suffix in (".hlo", ".mlir")})
    return [program for program in found if re.search(pattern, program.name)][::every]


def count(judge_one, programs):
    """(number of programs of which nothing is wrong, number that are not judged, [(name, what is wrong)])."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(judge_one, programs))
    failures = [(program.name, wrong) for program, wrong in zip(programs, found) if wrong]
    return sum(wrong == "" for wrong in found), sum(wrong is None for wrong in found), failures


def judge_all(tools, programs, options=("--threads=2",), levels=None):
    """(number of programs with the same bits, number that neither way runs, [(name, what is wrong)])."""
    return count(lambda program: judge(tools, program, options, levels), programs)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cpu")
    arguments = parser.parse_args()
    programs = programs_of(arguments.folders, arguments.filter, arguments.every)
    passed, neither, failures = judge_all(arguments.bin, programs, (f"--threads={arguments.threads}",), arguments.cpu)
    for name, wrong in failures:
        print(f"{name}: {wrong.strip()}")
    print(f"{neither} that neither way runs")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
