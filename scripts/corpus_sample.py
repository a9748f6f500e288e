#!/usr/bin/env python3
"""Writes the project's own sample of a conformance corpus and runs it.

    corpus_sample.py [--platform=interpreter|cpu] [--heddle=build/bin/heddle] [--folder=build/corpus] [--filter=REGEX]
                     [--every=N]

test/corpus/cases.py says what the modules are and what must come out, by the definitions of the operations. Each case
becomes a folder as in a corpus with a manifest: module.hlo or module.mlir, in0.npy …, out0.npy …. A case passes when
`heddle run` ends with 0 with the expected outputs, and, for every tenth case, with 3 with the first of them spoiled.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "corpus"))
import cases  # pylint: disable=wrong-import-position
import values  # pylint: disable=wrong-import-position

SECONDS = 60
SPOIL_EVERY = 10
MISMATCH = 3  # the exit status of `heddle run` where values differ


def write(folder, case):
    name, kind, text, inputs, outputs, _ = case
    place = folder / name
    place.mkdir(parents=True)
    (place / f"module.{kind}").write_text(text, encoding="utf-8")
    for role, arrays in (("in", inputs), ("out", outputs)):
        for k, array in enumerate(arrays):
            values.write_npy(place / f"{role}{k}.npy", *array)
    spoiled = bytearray((place / "out0.npy").read_bytes())
    spoiled[-1] ^= 0x41 if outputs[0][0] not in ("pred", "s4", "u4") else 1
    (place / "spoiled.npy").write_bytes(spoiled)


def write_all(folder, chosen):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for case in chosen:
        write(folder, case)
    rows = [f"{name}\t{outputs[0][0]}\t{tolerance}\t{tolerance}\t{';'.join(map(cases.shape_text, inputs)) or '-'}\t"
            f"{';'.join(map(cases.shape_text, outputs))}\t{kind}\tby-definition"
            for name, kind, _, inputs, outputs, tolerance in chosen]
    (folder / "manifest.tsv").write_text("#name\tclass\trtol\tatol\tinputs\toutputs\tformats\ttags\n" + "\n".join(rows)
                                         + "\n", encoding="utf-8")


def heddle_run(heddle, flags, place, case, first):
    name, kind, _, inputs, outputs, tolerance = case
    expected = [first, *(f"out{k}.npy" for k in range(1, len(outputs)))]
    command = [heddle, "run", f"module.{kind}", *flags, "--threads=1", f"--rtol={tolerance}",
               f"--atol={tolerance}", *(f"--input=@in{k}.npy" for k in range(len(inputs))),
               *(f"--expected_output=@{file}" for file in expected)]
    try:
        done = subprocess.run(command, cwd=place / name, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, f"takes more than {SECONDS} s"
    return done.returncode, (done.stderr.splitlines() or [""])[0]


def judge_case(heddle, flags, folder, case, is_spoiled):
    """What is wrong, or null."""
    status, message = heddle_run(heddle, flags, folder, case, "out0.npy")
    if status != 0:
        return f"{case[0]}: exit status {status}: {message}"
    if not is_spoiled:
        return None
    status, message = heddle_run(heddle, flags, folder, case, "spoiled.npy")
    return None if status == MISMATCH and "differ" in message else f"{case[0]}: a spoiled result is accepted ({message})"


def judge(platform, heddle, folder, pattern="", every=1, flags=()):
    """Returns (number passed, lines about what failed)."""
    flags = [f"--platform={platform}", *flags]
    chosen = [case for case in cases.all_cases() if re.search(pattern, case[0])][::every]
    write_all(folder, chosen)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda k: judge_case(heddle, flags, folder, chosen[k], k % SPOIL_EVERY == 0),
                                 range(len(chosen))))
    failures = [verdict for verdict in verdicts if verdict]
    return len(chosen) - len(failures), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="interpreter", choices=["interpreter", "cpu"])
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build" / "bin" / "heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "corpus")
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="only each N-th case")
    arguments = parser.parse_args()
    passed, failures = judge(arguments.platform, arguments.heddle.resolve(), arguments.folder, arguments.filter,
                             arguments.every)
    print("\n".join([*failures, f"{passed} passed, {len(failures)} failed"]))
    return 0 if passed and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
