#!/usr/bin/env python3
"""Makes up convolutions and reduce-windows and compares what --codegen=tiles makes of them with the interpreter.

    tile_windows.py [--count=200] [--seed=1] [--jobs=2] [--tool=build/bin/run_hlo_module]

Borders, gaps, strides, reversal, groups, orders of dimensions, types and what is computed before and behind are drawn
by chance; the same seed draws the same. A module that differs, is refused or crashes is kept in build/tile_windows.
"""
import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "tile_windows"
SECONDS = 120


class Window:
    """One dimension of a window over `size` elements that has room for at least one position."""

    def __init__(self, rng, size, kernels, strides, lows, highs):
        self.size, self.stride = rng.choice(kernels), rng.choice(strides)
        self.low, self.high = rng.choice(lows), rng.choice(highs)
        self.base, self.dilation = rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 1, 2])
        self.reversal = rng.choice([0, 0, 0, 1])
        span = (self.size - 1) * self.dilation + 1
        whole = (size - 1) * self.base + 1 + self.low + self.high
        self.low += max(0, span - whole)
        self.positions = (max(whole, span) - span) // self.stride + 1


def text_of(windows, with_reversal):
    """window={…} of the dimensions."""
    def joined(of):
        return "x".join(of(w) for w in windows)
    parts = [f"size={joined(lambda w: str(w.size))}", f"stride={joined(lambda w: str(w.stride))}",
             f"pad={joined(lambda w: f'{w.low}_{w.high}')}", f"lhs_dilate={joined(lambda w: str(w.base))}",
             f"rhs_dilate={joined(lambda w: str(w.dilation))}"]
    if with_reversal:
        parts.append(f"rhs_reversal={joined(lambda w: str(w.reversal))}")
    return "window={" + " ".join(parts) + "}"


def shape(dtype, dims):
    """The text of an array's type."""
    return f"{dtype}[{','.join(map(str, dims))}]"


def convolution(rng):
    """A module with one convolution, perhaps with something before and behind it."""
    rank = rng.choice([1, 2, 2, 2, 3])
    dtype = rng.choice(["f32", "f32", "bf16", "f16", "f64", "s8", "s32", "u8", "c64"])
    sizes = [rng.choice({1: [5, 40, 200], 2: [1, 3, 7, 13, 28, 30], 3: [1, 5, 9]}[rank]) for _ in range(rank)]
    groups = rng.choice([1, 1, 1, 2, 4])
    batches = rng.choice([1, 1, 1, 2]) if groups == 1 else 1
    features, depth = rng.choice([1, 4, 7, 16, 40]) * groups * batches, rng.choice([1, 3, 8, 16, 33, 130])
    count = rng.choice([1, 2]) * batches
    windows = [Window(rng, s, [1, 2, 3, 3, 5], [1, 1, 2, 3], [0, 1, 2, -1, 3], [0, 1, 2, -1]) for s in sizes]
    digits = "012"[:rank]
    labels = ["b" + digits + "f", digits + "io", "b" + digits + "f"]
    if rng.random() < 0.5:
        labels = ["".join(rng.sample(text, len(text))) for text in labels]
    dims = [{"b": count, "f": depth * groups}, {"i": depth, "o": features}, {"b": count // batches, "f": features}]
    for k, w in enumerate(windows):
        for part, size in zip(dims, (sizes[k], w.size, w.positions)):
            part[str(k)] = size
    x, kernel, out = (shape(dtype, [part[c] for c in text]) for part, text in zip(dims, labels))
    before, behind = rng.random() < 0.3, rng.choice(["", "add", "scale"])
    lines = [f"  x = {x} parameter(0)", f"  k = {kernel} parameter(1)", f"  y = {x} multiply(x, x)" if before else "",
             f"  {'' if behind else 'ROOT '}c = {out} convolution({'y' if before else 'x'}, k), "
             f"{text_of(windows, True)}, dim_labels={labels[0]}_{labels[1]}->{labels[2]}, "
             f"feature_group_count={groups}, batch_group_count={batches}"]
    if behind == "add":
        lines.append(f"  ROOT r = {out} add(c, c)")
    if behind == "scale":
        lines += [f"  m = {out} parameter(2)", f"  s = {out} multiply(c, m)", f"  ROOT r = {out} add(s, m)"]
    return "HloModule convolution\n\nENTRY e {\n" + "\n".join(filter(None, lines)) + "\n}\n"


def reduction(rng):
    """A module with one reduce-window, perhaps with something before it."""
    rank = rng.choice([1, 2, 3, 4])
    dtype = rng.choice(["f32", "f32", "bf16", "s32", "u8", "f64", "pred", "s8"])
    dims = [rng.choice([1, 3, 8, 17, 40, 64]) for _ in range(rank)]
    if rank == 4:
        dims = [rng.choice([1, 2]), rng.choice([7, 20, 33]), rng.choice([8, 21, 30]), rng.choice([3, 16, 64])]
    windows = [Window(rng, d, [1, 1, 2, 3, 5], [1, 2, 3], [0, 1, 2], [0, 1, 2]) for d in dims]
    combine, init = ("or", "false") if dtype == "pred" else rng.choice(
        [("add", "0"), ("add", "3"), ("maximum", "0"), ("minimum", "9"), ("multiply", "1"), ("multiply", "2")])
    x, out = shape(dtype, dims), shape(dtype, [w.positions for w in windows])
    before = dtype != "pred" and rng.random() < 0.4
    return (f"HloModule windows\n\nf {{ a = {dtype}[] parameter(0)  b = {dtype}[] parameter(1)  "
            f"ROOT m = {dtype}[] {combine}(a, b) }}\n\nENTRY e {{\n  x = {x} parameter(0)\n"
            f"  i = {dtype}[] constant({init})\n"
            + (f"  y = {x} negate(x)\n" if before else "") +
            f"  ROOT p = {out} reduce-window({'y' if before else 'x'}, i), {text_of(windows, False)}, to_apply=f\n}}\n")


def check(tool, seed):
    """Why the module of this seed fails, or None."""
    rng = random.Random(seed)
    path = KEPT / f"{seed}.hlo"
    path.write_text(rng.choice([convolution, reduction])(rng), encoding="utf-8")
    try:
        done = subprocess.run([tool, "--codegen=tiles", "--threads=2", path], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{path}: not done in {SECONDS} s"
    if done.returncode:
        return f"{path}: status {done.returncode}: {(done.stderr.strip().splitlines() or [''])[0]}"
    path.unlink()
    return None


def judge(tool, count, seed=1, jobs=2):
    """(how many pass, what fails: one line each)"""
    KEPT.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        failures = [f for f in pool.map(lambda s: check(tool, s), range(seed, seed + count)) if f]
    return count - len(failures), failures


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tool", default=ROOT / "build" / "bin" / "run_hlo_module")
    given = parser.parse_args()
    passed, failures = judge(given.tool, given.count, given.seed, given.jobs)
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
