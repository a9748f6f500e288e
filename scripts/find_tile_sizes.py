#!/usr/bin/env python3
"""Searches the sizes of tiles of src/tile/sizes.c for the machine that it runs on.

    find_tile_sizes.py [--build=build] [--rounds=2] [--vector-bits=N]

Each column of the table's row for vectors of that width (the widest that this machine has, unless said otherwise) is
tried with values around what stands there, at that level of instructions, one column after the other. A candidate is written into the table, the
benchmark is built and runs products of several shapes on one thread beside the products of the library: what counts is
the mean of the logarithms of the ratios of the processor's time. The row that was best is printed, to be put into the table by hand; the file is left
as it was found.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(HERE, "src", "tile", "sizes.c")
COLUMNS = ["rows", "vectors", "workgroup_rows", "workgroup_columns", "elements", "terms", "column_bytes", "row_bytes",
           "near_bytes"]
# What is tried of each column, in the order in which the columns matter.
TRIED = {
    "rows": lambda x: [x - 2, x + 2, x + 4],
    "vectors": lambda x: [1, 2, 3, 4],
    "terms": lambda x: [x // 2, x * 3 // 2, x * 2],
    "column_bytes": lambda x: [x // 2, x * 3 // 2],
    "workgroup_columns": lambda x: [x // 2, x * 3 // 4, x * 2],
    "workgroup_rows": lambda x: [x // 2, x * 3 // 2, x * 2],
    "row_bytes": lambda x: [x // 2, x * 3 // 2],
    "near_bytes": lambda x: [x // 2, x * 2],
}
# Type, rows, terms, columns, whether the right side has its terms side by side.
PRODUCTS = [("f32", 64, 64, 64, False), ("f32", 256, 256, 256, False), ("f32", 509, 511, 503, False),
            ("f32", 512, 512, 512, True), ("f32", 1024, 1024, 1024, False), ("f32", 128, 768, 3072, False),
            ("bf16", 384, 384, 384, False), ("s8", 384, 384, 384, False)]
REGISTERS = {512: 32, 256: 16, 0: 16}
LEVELS = {512: "x86-64-v4", 256: "x86-64-v3", 0: "x86-64-v2"}


def module_of(t, rows, terms, columns, is_turned):
    right = [columns, terms] if is_turned else [terms, columns]
    result = "s32" if t == "s8" else t
    return f"""HloModule product
ENTRY e {{
  a = {t}[{rows},{terms}] parameter(0)
  b = {t}[{right[0]},{right[1]}] parameter(1)
  ROOT d = {result}[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{int(is_turned)}}}
}}
"""


class Measured:
    """A bench_kernel with one module, by one way."""

    def __init__(self, binary, module, codegen, level):
        self.process = subprocess.Popen([binary, module, "--random", "--threads=1", "--codegen=" + codegen, *level],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("compile")
        self.ask("run 2")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError("bench_kernel ended")
        return answer

    def seconds(self):
        return float(self.ask("run 2")[2].removeprefix("cpu="))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def score(binary, modules, level):
    """The mean logarithm of the library's time by the tiles' (larger is better); None if a module does not run."""
    total = 0.0
    for module in modules:
        pair = []
        try:
            pair = [Measured(binary, module, codegen, level) for codegen in ("library", "tiles")]
            library, tiles = (min(times) for times in zip(*[[m.seconds() for m in pair] for _ in range(8)]))
            total += math.log(library / tiles)
        except (RuntimeError, OSError):
            return None
        finally:
            for m in pair:
                m.end()
    return total / len(modules)


def value_of(text):
    number, _, shift = text.partition("<<")
    return int(number) << int(shift or 0)


def spelled(column, value):
    return f"{value >> 10} << 10" if column.endswith("_bytes") and value % 1024 == 0 else str(value)


def row_text(bits, row):
    return "{%d, %s}" % (bits, ", ".join(spelled(c, row[c]) for c in COLUMNS))


def read_row(source, bits):
    found = re.search(r"\{%d((?:, [0-9 <]+){%d})\}" % (bits, len(COLUMNS)), source)
    if not found:
        sys.exit(f"{TABLE} has no row for vectors of {bits} bits with the columns {', '.join(COLUMNS)}")
    values = [value_of(v) for v in found.group(1).split(",")[1:]]
    return found.group(0), dict(zip(COLUMNS, values))


def host_bits():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = f.read()
    return 512 if " avx512f" in flags else 256 if " avx2" in flags else 0


def fits(bits, row):
    """Whether a register tile leaves registers for a row of the right side and one element."""
    return row["rows"] > 0 and row["rows"] * row["vectors"] + row["vectors"] < REGISTERS[bits]


def search(build, rounds, bits, modules):
    with open(TABLE, encoding="utf-8") as f:
        source = f.read()
    old, best = read_row(source, bits)
    binary = os.path.join(build, "bench", "bench_kernel")
    level = ["--cpu=" + LEVELS[bits]] if bits < host_bits() else []

    def tried(row):
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write(source.replace(old, row_text(bits, row)))
        subprocess.run(["ninja", "-C", build, "bench_kernel"], check=True, stdout=subprocess.DEVNULL)
        result = score(binary, modules, level)
        shown = "does not run" if result is None else f"{math.exp(result):.3f} of the library"
        print(f"{row_text(bits, row)}: {shown}", file=sys.stderr, flush=True)
        return result

    try:
        best_score = tried(best)
        for _ in range(rounds):
            before = dict(best)
            for column, candidates in TRIED.items():
                start = dict(best)
                for value in candidates(start[column]):
                    row = dict(start, **{column: value})
                    if value < 1 or value == start[column] or not fits(bits, row):
                        continue
                    result = tried(row)
                    if result is not None and (best_score is None or result > best_score + 0.005):
                        best, best_score = row, result
            if best == before:
                break
    finally:
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write(source)
        subprocess.run(["ninja", "-C", build, "bench_kernel"], check=False, stdout=subprocess.DEVNULL)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "build"), help="a build directory of ninja")
    parser.add_argument("--rounds", type=int, default=2, help="how often all columns are gone through")
    parser.add_argument("--vector-bits", type=int, choices=sorted(REGISTERS), default=host_bits())
    parser.add_argument("--products", type=int, default=len(PRODUCTS), help="only so many of the products")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        modules = []
        for number, product in enumerate(PRODUCTS[:flags.products]):
            modules.append(os.path.join(folder, f"{number}.hlo"))
            with open(modules[-1], "w", encoding="utf-8") as f:
                f.write(module_of(*product))
        print("    " + row_text(flags.vector_bits, search(flags.build, flags.rounds, flags.vector_bits, modules)) + ",")


if __name__ == "__main__":
    main()
