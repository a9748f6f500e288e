#!/usr/bin/env python3
"""How compile time and memory grow with the size of a module: `bench/scaling.py`.

    scaling.py [--sizes=1000,5000,20000] [--families=REGEX] [--check] [--bench-kernel=PATH]

Each family of modules is made at each size, compiled in a process of its own, and shown with the time, the memory and
how the time per n log n compares with the smallest size's. With --check the exit status is 1 if that grows beyond
GROWTH times in time or memory.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROWTH = 2.0
FLOOR_SECONDS = 0.25  # times below say more about start-up than about growth


def module(body, root, before=""):
    return f"HloModule m\n{before}ENTRY e {{\n  x = f32[64,64] parameter(0)\n{body}  ROOT {root}\n}}\n"


def elementwise_chain(n):
    """One operation after the other, cheap and expensive ones in turn."""
    ops = ("add({0}, x)", "multiply({0}, x)", "tanh({0})", "negate({0})")
    lines, last = [], "x"
    for i in range(n):
        lines.append(f"  v{i} = f32[64,64] {ops[i % len(ops)].format(last)}\n")
        last = f"v{i}"
    return module("".join(lines), f"r = f32[64,64] negate({last})")


def diamonds(n):
    """x = log(x); x = x + transpose(x): every value is read at two places."""
    lines, last = [], "x"
    for i in range(n // 3):
        lines.append(f"  l{i} = f32[64,64] log({last})\n  t{i} = f32[64,64] transpose(l{i}), dimensions={{1,0}}\n"
                     f"  a{i} = f32[64,64] add(l{i}, t{i})\n")
        last = f"a{i}"
    return module("".join(lines), f"r = f32[64,64] negate({last})")


def fan_out(n):
    """One value with n users, all of them results."""
    lines = ["  s = f32[64,64] exponential(x)\n"]
    names = []
    for i in range(n // 2):
        lines.append(f"  c{i} = f32[] constant({i}.5)\n  b{i} = f32[64,64] broadcast(c{i}), dimensions={{}}\n"
                     f"  u{i} = f32[64,64] add(s, b{i})\n")
        names.append(f"u{i}")
    shape = ", ".join(["f32[64,64]"] * len(names))
    return module("".join(lines), f"r = ({shape}) tuple({', '.join(names)})")


def deep_calls(n):
    """Computations that call the one before, a few operations each."""
    before, last = [], None
    count = n // 5
    for i in range(count):
        inner = f"  c = f32[64,64] call(m), to_apply=f{last}\n" if last is not None else "  c = f32[64,64] sine(m)\n"
        before.append(f"f{i} {{\n  p = f32[64,64] parameter(0)\n  m = f32[64,64] multiply(p, p)\n{inner}"
                      f"  ROOT r = f32[64,64] add(c, p)\n}}\n")
        last = i
    return module("", f"r = f32[64,64] call(x), to_apply=f{last}", "".join(before))


def small_fusions(n):
    """Independent reductions of slices, each a kernel unless something gathers them."""
    lines, names = [], []
    lines.append("  zero = f32[] constant(0)\n")
    for i in range(n // 4):
        low = i % 48
        lines.append(f"  s{i} = f32[16,64] slice(x), slice={{[{low}:{low + 16}], [0:64]}}\n"
                     f"  k{i} = f32[] constant({i % 97}.25)\n  b{i} = f32[16,64] broadcast(k{i}), dimensions={{}}\n"
                     f"  m{i} = f32[16,64] multiply(s{i}, b{i})\n"
                     f"  q{i} = f32[16] reduce(m{i}, zero), dimensions={{1}}, to_apply=sum\n")
        names.append(f"q{i}")
    shape = ", ".join(["f32[16]"] * len(names))
    before = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
    return module("".join(lines), f"r = ({shape}) tuple({', '.join(names)})", before)


FAMILIES = {f.__name__: f for f in (elementwise_chain, diamonds, fan_out, deep_calls, small_fusions)}


def measure(bench_kernel, text, folder):
    """Seconds of one compilation and the process's peak memory in MiB."""
    path = pathlib.Path(folder) / "module.hlo"
    path.write_text(text, encoding="utf-8")
    process = subprocess.Popen([bench_kernel, path, "--unbound"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    process.stdin.write("compile\n")
    process.stdin.close()
    answer = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0 or not answer:
        return None, None
    return float(answer[1]), usage.ru_maxrss / 1024


def grows_too_much(rows):
    first = rows[0]
    for n, seconds, memory in rows[1:]:
        scale = n * math.log(n) / (first[0] * math.log(first[0]))
        if seconds > GROWTH * scale * max(first[1], FLOOR_SECONDS) or memory > GROWTH * scale * first[2]:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,5000,20000")
    parser.add_argument("--families", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bench-kernel", default=str(ROOT / "build" / "bench" / "bench_kernel"))
    arguments = parser.parse_args()
    failed = []
    print(f"{'family':20} {'instructions':>12} {'compile':>10} {'memory':>10}   per n log n")
    for name, make in FAMILIES.items():
        if not re.search(arguments.families, name):
            continue
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for n in (int(size) for size in arguments.sizes.split(",")):
                seconds, memory = measure(arguments.bench_kernel, make(n), folder)
                if seconds is None:
                    print(f"{name:20} {n:12} failed", flush=True)
                    failed.append(name)
                    break
                rows.append((n, seconds, memory))
                scale = n * math.log(n) / (rows[0][0] * math.log(rows[0][0]))
                print(f"{name:20} {n:12} {seconds:9.3f}s {memory:7.0f}MiB   {seconds / rows[0][1] / scale:.2f}x",
                      flush=True)
        if rows and grows_too_much(rows):
            failed.append(name)
    if failed:
        print("grow faster than n log n or fail:", ", ".join(failed))
    return 1 if failed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
