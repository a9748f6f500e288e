#!/usr/bin/env python3
"""Products of matrices beside oneDNN and OpenBLAS, on one thread: every type, size and order of the sides.

    products.py [--type=f32|bf16|s8] [--cpu=LEVEL] [--save=FILE] [--minutes=12] [--rounds=15] [--filter=REGEX]
                [--only=tiles|library] [--before=BENCH_KERNEL] [--bench-kernel=BENCH_KERNEL]
    products.py --table FILE…

Types are f32, bf16 (sums in f32) and s8 (sums in s32), forms NN, NT, TN and TT, where a T says that a side lies the
other way round. Each case has a process for each contender: Heddle as it comes (with --before an older build's
bench_kernel, too), OpenBLAS, oneDNN with the same arrays, and oneDNN with a right side that it packed beforehand, which
no run of a program whose right side is a parameter may do. All are given the sides in the same form, and take turns.
oneDNN does without AMX.

Times are the least of all rounds, of the processor's time, and what is short is run many times in a row for one
measurement: so neither others on the machine nor the clock's own time are in them. All cases of a type take at most
--minutes, of which each may have an equal share of what is left: long ones have fewer rounds. --save keeps a line of
JSON for each case in FILE, in which later measurements replace earlier ones of the same case. --table prints what FILEs
have as Markdown, as doc/tiles.md has it: quantiles of how many times as fast as the best library ours is, and all that
are slower, worst first. A table of the machine's own instruction set, and one of AVX2, are made by

    for type in f32 s8 bf16; do bench/products.py --type=$type --save=$type-native.jsonl; done
    for type in f32 s8; do bench/products.py --type=$type --cpu=x86-64-v3 --save=$type-avx2.jsonl; done
    bench/products.py --table f32-native.jsonl s8-native.jsonl bf16-native.jsonl f32-avx2.jsonl s8-avx2.jsonl
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import textwrap
import time

import run
import tiles

SHAPES = (  # batch, rows, columns, depth
    *((1, n, n, n) for n in tiles.SQUARES), *((1, n, n, n) for n in (17, 31, 100, 255, 1000)),
    *((1, *sizes) for sizes in tiles.ODD), *((1, *sizes) for sizes in tiles.UNEVEN),
    (1, 1, 4096, 4096), (1, 4096, 64, 64), (1, 4096, 4096, 16), (1, 16, 16, 4096), (1, 256, 256, 8192),
    (1, 1024, 64, 1024), (1, 64, 1024, 1024), (12, 64, 64, 64), (12, 512, 64, 512), (12, 512, 512, 64), (64, 32, 32, 32))
FORMS = ("NN", "NT", "TN", "TT")
LIBRARIES = (("openblas", ()), ("onednn", ("given",)), ("packed", ()))
SHORT = 100e-6  # seconds that a measurement takes at least
TURN = 0.15  # seconds of a contender's turns, at least
LEAST_ROUNDS = 3  # of what takes longest
REST = 0.001  # seconds between turns


def all_cases():
    for kind in tiles.TYPES:
        for batch, *sizes in SHAPES:
            for form in FORMS:
                yield form, tiles.product(kind, *sizes, form, batch)


def contenders_of(form, case, folder, cpus, arguments):
    environment = {"OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}
    if arguments.cpu:
        environment |= dict(zip(("ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE"), tiles.LEVELS[arguments.cpu]))
    all_of_them = []
    for name, words in LIBRARIES:
        library = "openblas" if name == "openblas" else "onednn"
        command = [pathlib.Path(arguments.bench_kernel).parent / "peer_library", library, *case.library, form, *words]
        tiles.join(all_of_them, run.Contender(name, command, cpus, environment))
    module = folder / "module.hlo"
    module.write_text(case.text, encoding="utf-8")
    words = [module, "--threads=1", "--random", *([f"--cpu={arguments.cpu}"] if arguments.cpu else [])]
    words += [f"--codegen={arguments.only}"] if arguments.only else []
    all_of_them.append(run.Contender("ours", [arguments.bench_kernel, *words], cpus))
    if arguments.before:
        all_of_them.append(run.Contender("before", [arguments.before, *words], cpus))
    return all_of_them


def measure(form, case, cpus, arguments, seconds):
    """The least time of each contender, measured for about so many seconds, or for LEAST_ROUNDS."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        contenders = contenders_of(form, case, pathlib.Path(name), cpus, arguments)
        for contender in contenders:
            contender.compile()
            contender.run(1)
            contender.run(1 if contender.times[0] > TURN else 2)
        once = min(min(contender.times) for contender in contenders)
        repeats = max(1, int(SHORT / once))
        rounds = int(min(4 * arguments.rounds, max(arguments.rounds, TURN / (once * repeats))))
        for contender in contenders:
            contender.times.clear()
        for number in range(rounds):
            if number >= LEAST_ROUNDS and time.monotonic() > end:
                break
            for contender in contenders:
                contender.run(1, by_cpu=True, repeats=repeats)
                time.sleep(REST)
        for contender in contenders:
            contender.end()
        return {contender.name: min(contender.times) for contender in contenders}


def best_of(times, names):
    return min((times[name], name) for name in names if name in times)


def has_library(times):
    return any(name in times for name, _ in LIBRARIES)


def ratios_of(times):
    """How many times as fast as the best library: with the same arrays, and with one packed beforehand."""
    own = times["ours"]
    return best_of(times, ("openblas", "onednn"))[0] / own, best_of(times, ("openblas", "onednn", "packed"))[0] / own


def line_of(name, times):
    columns = [f"{time * 1e6:10.2f}" for time in times.values()]
    given, packed = ratios_of(times) if has_library(times) else (0, 0)
    before = f"{times['before'] / times['ours']:8.2f}" if "before" in times else ""
    return f"{name:26}" + " ".join(f"{key}{value}" for key, value in zip(times, columns)) + \
        f"{given:8.2f}{packed:8.2f}{before}"


def load(path):
    rows = {}
    if path and pathlib.Path(path).exists():
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["name"]] = row["times"]
    return rows


def save(path, rows):
    pathlib.Path(path).write_text("".join(json.dumps({"name": name, "times": times}) + "\n"
                                          for name, times in rows.items()), encoding="utf-8")


def quantiles_of(values):
    """Least, tenth, quarter, middle and geometric mean."""
    ordered = sorted(values)
    picked = [ordered[int(share * (len(ordered) - 1))] for share in (0, 0.1, 0.25, 0.5)]
    return [*picked, statistics.geometric_mean(ordered)]


def types_of(paths):
    """(the file's name, rows) of each type in each file."""
    for path in paths:
        rows = {name: times for name, times in load(path).items() if has_library(times)}
        for kind in tiles.TYPES:
            some = {name: times for name, times in rows.items() if name.startswith(f"{kind} ")}
            if some:
                yield pathlib.Path(path).stem, some


def print_table(paths):
    print("| | products | least | tenth | quarter | middle | geometric mean | below 0.85 | mean beside packed | "
          "below 0.85 |\n|" + "---|" * 10)
    for title, rows in types_of(paths):
        given, packed = zip(*(ratios_of(times) for times in rows.values()))
        print(f"| {title} | {len(rows)} | " + " | ".join(f"{x:.2f}" for x in quantiles_of(given)) +
              f" | {sum(x < 0.85 for x in given)} | {quantiles_of(packed)[-1]:.2f} | {sum(x < 0.85 for x in packed)} |")
    for title, rows in types_of(paths):
        behind = sorted((ratios_of(times)[0], name) for name, times in rows.items() if ratios_of(times)[0] < 1)
        text = f"Behind in {title}, worst first: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in behind) + "."
        print("\n" + textwrap.fill(text, 120, break_on_hyphens=False))


def main():
    parser = run.parser_of(__doc__, rounds=15, runs=1)
    parser.add_argument("--type", choices=tiles.TYPES, help="of the sides; all of them where none is given")
    parser.add_argument("--minutes", type=float, default=12, help="that all cases take, about, at most")
    parser.add_argument("--cpu", choices=tiles.LEVELS, help="the instruction set that code and libraries keep to")
    parser.add_argument("--only", choices=("tiles", "library"), help="ours by this way alone")
    parser.add_argument("--save", help="where rows are kept")
    parser.add_argument("--core", type=int, default=0, help="which of the cores that there are")
    parser.add_argument("--table", nargs="+", help="print what was kept")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(arguments.table)
        return 0
    cpus = {sorted(os.sched_getaffinity(0))[arguments.core]}
    rows = load(arguments.save)
    cases = [(form, case) for form, case in all_cases()
             if case.name.startswith(arguments.type or "") and
             re.search(arguments.filter, f"{case.name}{' NN' if form == 'NN' else ''}")]
    end = time.monotonic() + 60 * arguments.minutes
    for number, (form, case) in enumerate(cases):
        share = max(0, end - time.monotonic()) / (len(cases) - number)
        rows[case.name] = measure(form, case, cpus, arguments, share)
        print(line_of(case.name, rows[case.name]), flush=True)
        if arguments.save:
            save(arguments.save, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
