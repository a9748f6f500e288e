#!/usr/bin/env python3
"""How many programs with one mistake the conformance corpus' own comparisons refuse, by folder.

    conformance_mutants.py [--cases=25] [--mutants=3]

Cases are taken evenly from each folder. A mutant counts if it runs and its results differ from the program's own by more
than two units in the last place of the case's coarsest type, or are refused; all runs are the interpreter's.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import conformance

BIN = conformance.ROOT / "build" / "bin"
# Two units in the last place, relative. What is not listed must be equal.
STRICT = {"f64": 2**-51, "c128": 2**-51, "f32": 2**-22, "c64": 2**-22, "f16": 2**-9, "bf16": 2**-6}
SECONDS = 60
COMPARED = (b"elements differ", b"the check ")  # in the message of a comparison that fails


def cases_of(folder):
    """[(module, inputs, expected outputs, tolerance flags, strict tolerance)] of a folder of the corpus."""
    manifest = folder / "manifest.tsv"
    if not manifest.exists():
        return [(module, [], None, [], STRICT["f32"]) for module in sorted(folder.glob("*.mlir"))]
    cases = []
    for line in manifest.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        name, kind, rtol, atol, inputs, outputs = line.split("\t")[:6]
        case = folder / name
        count = 0 if inputs == "-" else len(inputs.split(";"))
        results = 0 if outputs == "-" else len(outputs.split(";"))
        cases.append((case / "module.hlo", [f"--input=@{case}/in{k}.npy" for k in range(count)],
                      [f"--expected_output=@{case}/out{k}.npy" for k in range(results)],
                      [f"--rtol={rtol}", f"--atol={atol}"], STRICT.get(kind, 0)))
    return cases


def run(module, *flags):
    """(whether it passes, whether it ran: what fails has failed a comparison)"""
    command = [BIN / "heddle", "run", module, "--platform=interpreter", *flags]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        return done.returncode == 0, done.returncode == 0 or any(word in done.stdout for word in COMPARED)
    except subprocess.TimeoutExpired:
        return False, False


def passes(module, *flags):
    return run(module, *flags)[0]


def mutate(module, seed, to):
    with open(to, "wb") as out:
        return subprocess.run([BIN / "hlo-smith", f"--mutate={module}", f"--seed={seed}"], stdout=out,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode == 0


def own_outputs(module, inputs, folder):
    """Flags that compare with the program's own results; None if it has none."""
    names = [f"{folder}/own{k}.npy" for k in range(64)]
    for count in range(1, len(names) + 1):
        if not passes(module, *inputs, *(f"--output=@{name}" for name in names[:count])):
            return [f"--expected_output=@{name}" for name in names[:count - 1]]
    return None


def judge(case, mutants):
    """(mutants that count, those of them refused)"""
    module, inputs, expected, tolerance, strict = case
    counted = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        own = own_outputs(module, inputs, folder)
        if not own:
            return 0, 0
        for seed in range(1, mutants + 1):
            mutant = pathlib.Path(folder) / "mutant.hlo"
            if not mutate(module, seed, mutant):
                continue
            passed, ran = run(mutant, *inputs, *(expected or []), *tolerance)
            is_refused = ran and not passed
            counts = is_refused or ran and not passes(mutant, *inputs, *own, f"--rtol={strict}", "--atol=0")
            counted += counts
            refused += is_refused
    return counted, refused


def measure(folder, count, mutants):
    """(mutants that count, those of them refused) over `count` cases of the folder."""
    cases = cases_of(conformance.CORPUS / folder)
    chosen = cases[::max(1, len(cases) // count)][:count]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        results = list(workers.map(lambda case: judge(case, mutants), chosen))
    return sum(r[0] for r in results), sum(r[1] for r in results)


def lines(count=25, mutants=3):
    """A line for each folder."""
    found = []
    for folder in conformance.FOLDERS["cpu"]:
        counted, refused = measure(folder, count, mutants)
        share = 100 * refused / counted if counted else 0
        found.append(f"{folder}: {counted} mutants differ beyond rounding, {refused} refused: {share:.1f} %")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=25)
    parser.add_argument("--mutants", type=int, default=3)
    arguments = parser.parse_args()
    if not conformance.CORPUS.is_dir():
        sys.exit("there is no ../shared/corpus beside the repository")
    print("\n".join(lines(arguments.cases, arguments.mutants)))


if __name__ == "__main__":
    main()
