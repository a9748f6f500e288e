#!/usr/bin/env python3
"""Compiles modules to PTX for a GPU and has NVIDIA's assembler take it: no error, no spilled register, no stack frame.

    ptxas_corpus.py [--chip=sm_90] [--every=N] [--filter=REGEX] [--no-libdevice] [--codegen=tiles] [--worst=N]
                    [--heddle=build/bin/heddle]

The modules are those of the conformance corpus, ../shared/corpus, where it is present, else the project's own sample,
and the golden tests of emitters that run on the simulator. What only a host could do is refused by name: such modules
are counted by what they hold. Everything else must be assembled, have no function that is only declared, and keep what
it computes in registers: no spill, and no stack frame but those of KNOWN_FRAMES. With --codegen=tiles what has such a
form goes there (doc/tiles.md).
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import conformance
import corpus_sample

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("jax", "hlo")
SECONDS = 300
# What `heddle compile` says of an operation for which the chip would need a library.
REFUSED = re.compile(r"is the host's to do \(([^)]*)\)")
FRAME = re.compile(r"Function properties for (\S+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, "
                   r"(\d+) bytes spill loads")
# Frames that are as they should be: what the kernel's PTX holds, the most bytes, why.
KNOWN_FRAMES = [(re.compile(r"__cudart_i2opi_[fd]"), 72, "libdevice picks words of 2/pi for large angles by their place")]
REGISTERS = re.compile(r"Compiling entry function '([^']*)'.*?Used (\d+) registers", re.S)


class Tally:
    """What became of the modules."""

    def __init__(self):
        self.assembled = 0
        self.refused = collections.Counter()  # by what the host would do
        self.kernels = []  # (registers, name)
        self.frames = []   # (bytes, name, why)
        self.failures = []  # (name, text)


def find_ptxas():
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def golden():
    """[path]: golden tests that the simulator runs."""
    return [path for path in sorted((ROOT / "test" / "emit").glob("*.hlo"))
            if "--platform=simulator %s" in path.read_text(encoding="utf-8")]


def modules(folder):
    """[(name, path)]: the corpus, or the project's own sample, which is written to `folder`, and golden tests."""
    if conformance.CORPUS.is_dir():
        paths = sorted(p for f in FOLDERS for p in (conformance.CORPUS / f).glob("*/module.hlo"))
    else:
        corpus_sample.write_all(folder, list(corpus_sample.cases.all_cases()))
        paths = sorted(folder.glob("*/module.*"))
    return [(path.parent.name, path) for path in paths] + [(f"emit_{path.stem}", path) for path in golden()]


def run(command, **how):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=SECONDS, check=False, **how)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, f"ran out of time: {' '.join(map(str, command))}"


def assemble(arguments, ptxas, name, path, folder):
    """(exit status of the compiler, of the assembler, what was said, the PTX)."""
    ptx = pathlib.Path(folder) / f"{name}.ptx"
    environment = {**os.environ, "HEDDLE_LIBDEVICE": "none"} if arguments.no_libdevice else None
    ways = [f"--codegen={arguments.codegen}"] if arguments.codegen else []
    status, said = run([arguments.heddle, "compile", path, "--emit=ptx", f"--chip={arguments.chip}", "--threads=1", *ways,
                        "-o", ptx], env=environment)
    if status:
        return status, 0, said, ""
    text = ptx.read_text(encoding="utf-8")
    status, said = run([ptxas, f"-arch={arguments.chip}", "-v", ptx, "-o", os.devnull])
    ptx.unlink()
    return 0, status, said, text


def entry_text(ptx, kernel):
    """The kernel's part of a module's PTX."""
    start = ptx.find(f".entry {kernel}(")
    end = ptx.find(".entry ", start + 1)
    return ptx[start:end if end > 0 else len(ptx)]


def reason(ptx, kernel, size):
    """Why the kernel has a stack frame of that size; None if it should not have one."""
    text = entry_text(ptx, kernel)
    return next((why for sign, most, why in KNOWN_FRAMES if size <= most and sign.search(text)), None)


def problems(compiled, assembled, said, ptx):
    """What is wrong with a module, as text."""
    if compiled or assembled:
        return "the compiler failed" if compiled else "ptxas failed"
    found = FRAME.findall(said)
    spilled = [kernel for kernel, _, *spills in found if any(map(int, spills))]
    framed = [f"{kernel} ({size} bytes)" for kernel, size, *_ in found
              if int(size) and not reason(ptx, kernel, int(size))]
    if spilled or framed:
        return f"registers are spilled: {', '.join(spilled)}" if spilled else f"stack frames: {', '.join(framed)}"
    return "a function is only declared" if re.search(r"^\.extern \.func", ptx, re.M) else ""


def count(tally, name, compiled, assembled, said, ptx):
    refused = REFUSED.search(said) if compiled == 1 else None
    if refused:
        tally.refused[refused.group(1)] += 1
        return
    problem = problems(compiled, assembled, said, ptx)
    if problem:
        tally.failures.append((name, f"{problem}\n{said}"))
        return
    tally.assembled += 1
    tally.kernels += [(int(used), f"{name} {kernel}") for kernel, used in REGISTERS.findall(said)]
    tally.frames += [(int(size), f"{name} {kernel}", reason(ptx, kernel, int(size)))
                     for kernel, size, *_ in FRAME.findall(said) if int(size)]


def judge(arguments, ptxas):
    """Tallies the chosen modules."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = [(name, path) for name, path in modules(pathlib.Path(folder) / "sample")
                  if re.search(arguments.filter, name)][::arguments.every]
        jobs = [(name, pool.submit(assemble, arguments, ptxas, name, path, folder)) for name, path in chosen]
        for name, job in jobs:
            count(tally, name, *job.result())
    return tally


def summary(tally, chip, worst):
    """Lines: how many, who takes most registers, who has a stack frame."""
    refused = ", ".join(f"{n} {what}" for what, n in tally.refused.most_common())
    lines = [f"{chip}: {tally.assembled} modules assembled with {len(tally.kernels)} kernels, no spill, "
             f"{len(tally.frames)} known stack frames"
             + (f"; {tally.refused.total()} are the host's to do: {refused}" if refused else "")]
    lines += [f"{chip}: {used} registers: {name}" for used, name in sorted(tally.kernels, reverse=True)[:worst]]
    lines += [f"{chip}: {size} bytes of stack: {name}: {why}"
              for size, name, why in sorted(tally.frames, reverse=True)[:worst]]
    return lines


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--no-libdevice", action="store_true")
    parser.add_argument("--codegen", choices=("tiles", "emitters"))
    parser.add_argument("--worst", type=int, default=5)
    parser.add_argument("--heddle", default=str(ROOT / "build" / "bin" / "heddle"))
    return parser.parse_args(argv)


def main():
    arguments = parse()
    ptxas = find_ptxas()
    if not ptxas:
        sys.exit("there is no ptxas")
    tally = judge(arguments, ptxas)
    for name, text in tally.failures:
        print(f"FAILED {name}: {text.rstrip()}")
    print("\n".join(summary(tally, arguments.chip, arguments.worst)) + f"\n{tally.assembled} passed, "
          f"{len(tally.failures)} failed")
    return 1 if tally.failures or not tally.assembled else 0


if __name__ == "__main__":
    sys.exit(main())
