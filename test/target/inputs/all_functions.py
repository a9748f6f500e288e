"""all_functions.py TYPE: prints a module with every elementwise function of one or two values of that type, as
src/hlo/ops.def lists them. Each is a kernel of its own, since its arrays have a size of their own, and large enough for none to
share a kernel with others."""
import pathlib
import re
import sys

OPS = pathlib.Path(__file__).resolve().parents[3] / "src" / "hlo" / "ops.def"
CLASSES = {"f": "FLOAT", "b": "FLOAT", "c": "COMPLEX", "s": "INTEGER", "u": "INTEGER", "p": "PRED"}
REAL = {"maximum", "minimum", "remainder"}  # complex numbers have no order
ATTRIBUTES = {"reduce-precision": ", exponent_bits=5, mantissa_bits=7"}


def functions(kind):
    """(text, arity) of what takes the class of type and gives values of the same type."""
    for row in re.split(r"^HLO_OP\(", OPS.read_text(encoding="utf-8"), flags=re.M)[1:]:
        fact = dict(re.findall(r"\.(\w+) = ([^,)]*)", row))
        if "TRAIT_ELEMENTWISE" not in fact.get("traits", "") or fact.get("shape_rule") != "SHAPE_RULE_SAME":
            continue
        taken = set(re.findall(r"CLASS_(\w+)", fact["classes"]))
        if kind == "COMPLEX" and fact["text"].strip('"') in REAL:
            continue
        if taken & {kind, "ARRAY"} or ("NUMBER" in taken and kind != "PRED"):
            yield fact["text"].strip('"'), int(fact["arity"])


def main():
    dtype, lines, results = sys.argv[1], [], []
    for k, (text, arity) in enumerate(functions(CLASSES[dtype[0]])):
        shape = f"{dtype}[{(1 << 20) + k}]"
        for side in "xy"[:arity]:
            lines.append(f"  {side}{k} = {shape} parameter({len(lines) - k})")
        operands = ", ".join(f"{side}{k}" for side in "xy"[:arity])
        lines.append(f"  r{k} = {shape} {text}({operands}){ATTRIBUTES.get(text, '')}")
        results.append((shape, f"r{k}"))
    print("HloModule m\nENTRY e {", *lines, sep="\n")
    print(f"  ROOT r = ({', '.join(s for s, _ in results)}) tuple({', '.join(n for _, n in results)})\n}}")


if __name__ == "__main__":
    main()
