"""malformed.py KIND FILE: writes a module that is wrong in one way."""
import sys

DEPTH = 100_000

GOOD = """HloModule m
ENTRY main {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  ROOT r = f32[4] multiply(a, p)
}
"""


def entry(*lines):
    return "HloModule m\nENTRY main {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


KINDS = {
    "empty": "",
    "binary": "\x00\x01\x02\x7fELF\xff" * 100,
    "truncated": GOOD[:GOOD.index("multiply(a")],
    "wrong-shape": GOOD.replace("a = f32[4]", "a = f32[5]"),
    "wrong-operand-type": entry("p = f32[4] parameter(0)", "q = s32[4] parameter(1)", "ROOT r = f32[4] add(p, q)"),
    "wrong-operand-count": GOOD.replace("add(p, p)", "add(p)"),
    "unknown-op": GOOD.replace("add(", "frobnicate("),
    "unknown-operand": GOOD.replace("add(p, p)", "add(p, nobody)"),
    "unknown-type": GOOD.replace("p = f32[4]", "p = f33[4]"),
    "duplicate-name": GOOD.replace("r = f32[4] multiply", "a = f32[4] multiply"),
    "missing-parameter": GOOD.replace("parameter(0)", "parameter(1)"),
    "cycle": entry("p = f32[4] parameter(0)", "a = f32[4] add(p, b)", "b = f32[4] add(a, p)", "ROOT r = f32[4] add(a, b)"),
    "recursion": "HloModule m\nf {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] call(p), to_apply=f\n}\n"
                 "ENTRY main {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] call(p), to_apply=f\n}\n",
    "huge-product": entry("ROOT c = f32[4611686018427387904,4611686018427387904] iota(), iota_dimension=0"),
    "huge-memory": entry("c = f32[1048576,1048576,1024] iota(), iota_dimension=0",
                         "ROOT n = f32[1048576,1048576,1024] negate(c)"),
    "huge-dimension": entry("ROOT c = f32[99999999999999999999999] iota(), iota_dimension=0"),
    "negative-dimension": entry("ROOT c = f32[-4] iota(), iota_dimension=0"),
    "deep-shape": entry("ROOT p = " + "(" * DEPTH + "f32[]" + ")" * DEPTH + " parameter(0)"),
    "deep-literal": entry("ROOT c = f32[1] constant(" + "{" * DEPTH + "1" + "}" * DEPTH + ")"),
    "deep-computation": "HloModule m\nENTRY main {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply={\n"
                        + "p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply={\n" * DEPTH,
}


def main():
    kind, path = sys.argv[1:]
    with open(path, "w", encoding="utf-8") as out:
        out.write(KINDS[kind])


if __name__ == "__main__":
    main()
