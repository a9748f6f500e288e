#!/usr/bin/env python3
"""Models within a part of the memory that they take: which fit, what they take, how much slower they are.

    limits.py [--heddle=build/bin/heddle] [--limits=50,25,10] [--filter=REGEX] [--folder=FOLDER] [--write=PAGE] [CORPUS]
    limits.py --export=FOLDER [--filter=REGEX]    write the models of bench/limit_workloads.py there; needs JAX
    limits.py --search        how long the search takes for chains of 250 to 2,000 operations

Programs are the models of the corpus and those of FOLDER (FOLDER/*/module.mlirbc, with in0000.npy, … beside it). Each
is run without a limit and with each limit, a percentage of its natural peak. A row says what was predicted and
measured, whether results are the same bits as without a limit (or how they are not: the largest difference, relative to
the largest value), and how many times as long a run takes: a process's first one, the best of several processes, and
one of many in a process, the fastest of several that took turns with those without a limit. What does not fit is a row
with the operation that is in the way. The exit status is 1 if a run took more than its limit, gave results that differ
by more than 1e-3, or failed for another reason than its limit.

With --write=PAGE the page's tables behind `<!-- limits: folder -->` and `<!-- limits: corpus -->` are made anew.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 2
ROUNDS = 2  # of measuring programs that run again and again, for so many seconds each
SECONDS = 0.3
TIMEOUT = 600  # seconds of one process


def call(command):
    """Returns (error line or None, standard output, standard error): a process that was killed says nothing itself."""
    try:
        done = subprocess.run([str(x) for x in command], capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"took more than {TIMEOUT} s", "", ""
    lines = done.stderr.split("\n")
    error = next((x for x in lines if "error" in x), None)
    if done.returncode < 0:
        error = f"killed by {signal.Signals(-done.returncode).name}"
    elif done.returncode and not error:
        error = " ".join([f"exit status {done.returncode}", *lines[-2:]]).strip()
    return error if done.returncode else None, done.stdout, done.stderr


def run(heddle, program, inputs, folder, limit):
    """Returns (error line or None, 'memory:' line, best milliseconds, results)."""
    error, told, _ = call([heddle, "info", program])
    if error:
        return error, None, None, None
    count = int(re.search(r"^results: (\d+)", told, re.M)[1])
    outputs = [folder / f"out{k}.npy" for k in range(count)]
    for old in folder.glob("out*.npy"):
        old.unlink()
    command = [heddle, "run", program, "--time"] + [f"--input=@{x}" for x in inputs] + \
        [f"--output=@{x}" for x in outputs] + ([f"--memory-limit={limit}%"] if limit else [])
    best = None
    for _ in range(RUNS):
        error, _, told = call(command)
        if error:
            return error, None, None, None
        took = float(re.search(r"^\s*run\s+([\d.]+) ms", told, re.M)[1])
        best = took if best is None else min(best, took)
    memory = re.search(r"limit (\d+) bytes, predicted peak (\d+), measured (\d+)", told)
    return None, memory and [int(x) for x in memory.groups()], best, [numpy.load(x) for x in outputs]


def difference(left, right):
    if all(a.tobytes() == b.tobytes() for a, b in zip(left, right)):
        return 0
    worst = 0
    for a, b in zip(left, right):
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        if a.size:
            worst = max(worst, float(numpy.nanmax(numpy.abs(a - b))) / max(float(numpy.nanmax(numpy.abs(b))), 1e-30))
    return worst


def time_again(heddle, program, inputs, limits):
    """The least seconds of a run by limit (None: without one); limits take turns."""
    best = {}
    for _ in range(ROUNDS):
        for limit in [None, *limits]:
            error, told, _ = call([heddle, "bench", program, "--json", f"--seconds={SECONDS}"] +
                                  [f"--input=@{x}" for x in inputs] +
                                  ([f"--memory-limit={limit}%"] if limit else []))
            if not error:
                best[limit] = min(best.get(limit, float("inf")), json.loads(told)["least_seconds"])
    return best


@dataclasses.dataclass
class Row:
    """What became of a program at one limit."""
    limit: int
    error: str | None = None
    memory: list | None = None  # limit, predicted, measured
    first: float = 0            # times as long, of a process's first run
    again: float = 0            # and of one of many
    off: float = 0

    def is_refused(self):
        return self.error and re.search("needs (at least|more than) ", self.error)

    def is_fine(self):
        return bool(self.is_refused()) if self.error else self.memory[2] <= self.memory[0] and self.off < 1e-3

    def text(self, name):
        if self.error:
            return f"{name:28} {self.limit:4}%  {'refused' if self.is_refused() else 'failed'}: {self.error}"
        limit, predicted, measured = self.memory
        return (f"{name:28} {self.limit:4}% {limit:12} {predicted:12} {measured:12} {self.first:8.2f} "
                f"{self.again:8.2f}  {'same bits' if self.off == 0 else f'{self.off:.1e}'}")

    def cell(self):
        if not self.error:
            return f"{self.first:.1f} / {self.again:.1f}"
        needs = re.search(r"needs (at least|more than) (\d+) bytes", self.error)
        enough = re.search(r"and (\d+) are enough", self.error)
        return f"{'needs' if needs[1] == 'at least' else 'more than'} {needs[2]}" + \
            (f"; {enough[1]} are enough" if enough else "") if needs else "failed"


def rows(heddle, name, program, inputs, limits):
    """Prints a row for each limit and returns them; none: the program does not run without a limit."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        error, _, whole, expected = run(heddle, program, inputs, folder, None)
        if error:
            print(f"{name:28} {error}")
            return found
        for limit in limits:
            error, memory, took, results = run(heddle, program, inputs, folder, limit)
            found.append(Row(limit, error) if error else
                         Row(limit, None, memory, took / whole, 0, difference(results, expected)))
        again = time_again(heddle, program, inputs, [x.limit for x in found if not x.error])
        for row in found:
            row.again = again.get(row.limit, 0) / again[None]
            print(row.text(name), flush=True)
    return found


def table(found):
    """Markdown: a line for each program, of (name, rows)."""
    limits = [x.limit for x in found[0][1]]
    lines = ["| model | natural peak | " + " | ".join(f"{x} %" for x in limits) + " | largest difference |",
             "|" + "---|" * (3 + len(limits))]
    for name, all_rows in found:
        fit = [x for x in all_rows if not x.error]
        peak = round(fit[0].memory[0] * 100 / fit[0].limit) if fit else 0
        off = max((x.off for x in fit), default=0)
        bits = "" if not fit else "same bits" if off == 0 else f"{off:.0e}"
        size = "" if not peak else f"{peak / 1e6:.1f} MB" if peak >= 1e6 else f"{peak}"
        lines.append(f"| {name} | {size} | " + " | ".join(x.cell() for x in all_rows) + f" | {bits} |")
    return "\n".join(lines) + "\n"


def write(page, mark, found):
    """Puts the table in the place of the one behind the mark."""
    if found:
        text = page.read_text()
        pattern = rf"(<!-- limits: {mark} -->\n)(?:\|[^\n]*\n)*"
        page.write_text(re.sub(pattern, lambda x: x[1] + table(found), text))


def chain(count):
    """Products and functions of their results, one after the other."""
    lines = ["HloModule chain", "ENTRY main {", "  x = f32[256,64] parameter(0)", "  w = f32[64,64] parameter(1)"]
    last = "x"
    for k in range(count // 2):
        lines.append(f"  d{k} = f32[256,64] dot({last}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
        lines.append(f"  {'ROOT ' if k == count // 2 - 1 else ''}t{k} = f32[256,64] tanh(d{k})")
        last = f"t{k}"
    return "\n".join(lines + ["}"]) + "\n"


def search(heddle):
    """Planning with a limit, less planning without one; seconds."""
    print(f"{'operations':>10} {'limit':>6} {'seconds':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for count in (250, 500, 1000, 2000):
            program = pathlib.Path(folder) / f"chain{count}.hlo"
            program.write_text(chain(count))
            for limit in (90, 60, 40):
                times = []
                for flags in ([f"--memory-limit={limit}%"], []):
                    start = time.monotonic()
                    subprocess.run([heddle, "compile", "--emit=plan" if not flags else "--emit=tiling", "--threads=1",
                                    *flags, program], capture_output=True, check=True)
                    times.append(time.monotonic() - start)
                print(f"{count:10} {limit:5}% {times[0] - times[1]:8.2f}", flush=True)


def export(folder, among):
    import limit_workloads  # what comes with JAX is loaded for this alone
    import peer_jax
    import workloads
    for name, workload in limit_workloads.WORKLOADS.items():
        if re.search(among, name):
            (folder / name).mkdir(parents=True, exist_ok=True)
            peer_jax.export(workload.function, workloads.arguments_of(name, limit_workloads.WORKLOADS), folder / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=ROOT / "build" / "bin" / "heddle")
    parser.add_argument("--limits", default="50,25,10")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--export", type=pathlib.Path)
    parser.add_argument("corpus", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared" / "corpus")
    flags = parser.parse_args()
    if flags.export:
        export(flags.export, flags.filter)
        return
    if flags.search:
        search(flags.heddle)
        return
    print(f"{'program':28} {'limit':5} {'bytes':>12} {'predicted':>12} {'measured':>12} {'first':>8} "
          f"{'again':>8}  results")
    fine = True
    for mark, folders in (("folder", flags.folder.glob("*/") if flags.folder else []),
                          ("corpus", flags.corpus.glob("jax/model_*"))):
        found = []
        for folder in sorted(folders):
            name = folder.name.removeprefix("model_")
            if not re.search(flags.filter, folder.name):
                continue
            inputs = sorted(folder.glob("in*.npy"), key=number)
            of_program = rows(flags.heddle, name, folder / "module.mlirbc", inputs,
                              [int(x) for x in flags.limits.split(",")])
            fine &= bool(of_program) and all(x.is_fine() for x in of_program)
            if of_program:
                found.append((name, of_program))
        if flags.write:
            write(flags.write, mark, found)
    sys.exit(0 if fine else 1)


def number(path):
    return int(re.search(r"\d+", path.stem)[0])


if __name__ == "__main__":
    main()
