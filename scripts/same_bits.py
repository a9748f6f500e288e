#!/usr/bin/env python3
"""Whether two builds give the same bits: runs programs of ../shared/corpus on the CPU with both and compares the results.

    same_bits.py OLD/bin NEW/bin [--every=N] [--exact] [--threads=2]

A program is a folder of corpus/jax with module.hlo and its arguments in0.npy, in1.npy, … Prints the programs whose
results differ in a bit, or which only one of the two runs, then the figures; exit status 3 if there are any.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "corpus" / "jax"
SECONDS = 120


def results(tools, program, options):
    """The bytes of each result, or None if the program does not run."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = sorted(program.glob("in*.npy"), key=lambda path: int(path.stem[2:]))
        outputs = [f"{folder}/{k}.npy" for k in range(len(list(program.glob("out*.npy"))))]
        command = [tools / "heddle", "run", program / "module.hlo", *(f"--input=@{path}" for path in inputs),
                   *(f"--output=@{path}" for path in outputs), *options]
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        return None if done.returncode else [pathlib.Path(path).read_bytes() for path in outputs]


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    options = [f"--threads={arguments.threads}", *(["--exact"] if arguments.exact else [])]
    programs = sorted(path.parent for path in CORPUS.glob("*/module.hlo"))[::arguments.every]
    equal = neither = differ = 0
    for program in programs:
        old, new = (results(tools, program, options) for tools in (arguments.old, arguments.new))
        equal += old is not None and old == new
        neither += old is None and new is None
        if old != new:
            differ += 1
            print(f"{program.name}: {'differs' if old and new else 'runs with one only'}")
    print(f"{len(programs)} programs: {equal} equal, {neither} run with neither, {differ} differ")
    return 3 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
