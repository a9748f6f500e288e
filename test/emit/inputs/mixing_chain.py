"""Prints a fusion of COUNT rounds of a counter-based generator's mixing, each value read twice by the next round: five
operations a round, and a naive expansion of it doubles with each.

    mixing_chain.py COUNT
"""

import sys

SHAPE = "u32[1280]"


def main():
    count = int(sys.argv[1])
    lines = [f"x0 = {SHAPE} parameter(0)", f"y0 = {SHAPE} parameter(1)"]
    for name, value in (("left", 13), ("right", 19)):
        lines.append(f"{name}_0 = u32[] constant({value})")
        lines.append(f"{name} = {SHAPE} broadcast({name}_0), dimensions={{}}")
    for n in range(count):
        lines.append(f"x{n + 1} = {SHAPE} add(x{n}, y{n})")
        lines.append(f"l{n} = {SHAPE} shift-left(y{n}, left)")
        lines.append(f"r{n} = {SHAPE} shift-right-logical(y{n}, right)")
        lines.append(f"o{n} = {SHAPE} or(l{n}, r{n})")
        lines.append(f"y{n + 1} = {SHAPE} xor(x{n + 1}, o{n})")
    lines.append(f"ROOT sum = {SHAPE} add(x{count}, y{count})")
    print("f {\n  " + "\n  ".join(lines) + "\n}")
    print(f"ENTRY main {{\n  x = {SHAPE} parameter(0)\n  y = {SHAPE} parameter(1)")
    print(f"  ROOT r = {SHAPE} fusion(x, y), kind=kLoop, calls=f\n}}")


main()
