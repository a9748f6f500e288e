"""Every flag of every tool with values that it cannot have: exit status 2 and one error line that names the flag.

    wrong_flags.py FOLDER    (an empty one)

The flags are those that the tools' --help lists, so that a new flag is tried too.
"""
import pathlib
import re
import subprocess
import sys

TOOLS = ("heddle run", "heddle compile", "heddle convert", "heddle info", "heddle ops", "fusion_to_mlir", "hlo-opt", "run_hlo_module",
         "test_correctness", "hlo-smith")
# By what --help calls the value.
WRONG = {
    "N": ("x", "1.5", "", "99999999999"),
    "LEVEL": ("x", "1.5", "", "-1"),
    "SEED": ("x", "1.5", "", "-1"),
    "A": ("x", "-1", "nan", "1e999"),
    "R": ("x", "-1", "nan", "1e999"),
}
# By tool and flag: what else a flag refuses. Names of files and folders are read only when they are opened.
WRONG_HERE = {
    ("heddle run", "threads"): ("-1", "1025"), ("heddle run", "platform"): ("nope", "metal", ""),
    ("heddle run", "chip"): ("nope", "sm_1", ""), ("run_hlo_module", "chip"): ("nope", "sm_1", ""),
    ("heddle compile", "threads"): ("-1", "1025"), ("heddle compile", "emit"): ("nope", "", "objasm"),
    ("heddle compile", "target"): ("nope", ""), ("heddle compile", "chip"): ("nope", "sm_1", ""),
    ("heddle convert", "to"): ("nope", "", "HLO"),
    ("heddle convert", "argument_shape"): ("nope", "f32[", ""), ("heddle info", "argument_shape"): ("nope", "f32["),
    ("fusion_to_mlir", "target"): ("nope", ""),
    ("hlo-opt", "passes"): ("nope", "dead-code,nope"), ("hlo-opt", "print"): ("nope", ""),
    ("hlo-opt", "until"): ("nope", ""), ("hlo-opt", "print-after"): ("nope", "dead-code,nope", ""),
    ("hlo-opt", "bisect"): ("-2",), ("heddle run", "bisect"): ("-2",), ("heddle run", "print-after"): ("nope", "cse,"),
    ("heddle compile", "print-after"): ("nope",), ("run_hlo_module", "print-after"): ("nope",), ("hlo-opt", "target"): ("nope", ""),
    ("run_hlo_module", "platform"): ("nope", "metal", ""), ("run_hlo_module", "reference_platform"): ("nope", "metal"),
    ("run_hlo_module", "input_format"): ("nope", ""), ("run_hlo_module", "iterations"): ("0", "-1"),
    ("run_hlo_module", "threads"): ("-1", "1025"), ("test_correctness", "threads"): ("-1", "1025"),
    ("hlo-smith", "count"): ("0", "-1"), ("hlo-smith", "instructions"): ("0",), ("hlo-smith", "elements"): ("0",),
    ("hlo-smith", "rank"): ("-1", "9"), ("hlo-smith", "types"): ("nope", "f32,nope", "token"),
    ("hlo-smith", "mix"): ("nope", "dot=x", "dot=-1", "dot=1001"), ("hlo-smith", "check"): ("nope",),
}
SWITCH = ("maybe", "", "2")
# emitters_opt takes passes as flags and has a table of its own.
EMITTERS_OPT = ("--target=nope", "--target=", "--vector-bits=x", "--vector-bits=-8", "--vector-bits=7", "--vector-bits=",
                "--max-unroll=0", "--max-unroll=x", "--bisect=x", "--bisect=-2", "--print-after=nope", "--until=nope",
                "--chip=sm_1", "--nope", "--nope=1")
OTHER = ("heddle", "heddle nope", "heddle run", "heddle run m.hlo m.hlo", "heddle compile m.hlo", "heddle ops m.hlo",
         "heddle compile m.hlo --emit=ptx --target=cpu", "heddle compile m.hlo --emit=asm --target=nvptx",
         "run_hlo_module --isolate_instructions --input_literals_file=x m.hlo", "emitters_opt m.mlir m.mlir")


def flags_of(tool):
    """(name, what the help calls the value or "") of each flag."""
    text = subprocess.run([*tool.split(), "--help"], capture_output=True, text=True, check=True).stdout
    return [(m[1], m[2] or "") for m in re.finditer(r"^  --([\w-]+)(?:=(\S+))? ", text, re.M)]


def commands():
    """(command, what its error must name)"""
    for tool in TOOLS:
        yield f"{tool} --no-such-flag", "no-such-flag"
        for name, value in flags_of(tool):
            for wrong in (WRONG.get(value, ()) if value else SWITCH) + WRONG_HERE.get((tool, name), ()):
                yield f"{tool} m.hlo -o out --{name}={wrong}" if tool == "heddle compile" and name != "o" else \
                    f"{tool} --{name}={wrong}" if tool in ("heddle ops", "hlo-smith") else \
                    f"{tool} m.hlo --{name}={wrong}", name
            if value and value != "SEED":  # which may be missing
                yield f"{tool} --{name}", name
            if value in WRONG:
                yield f"{tool} --{name}=1 --{name}=2", name
            if not value:
                yield f"{tool} --{name} --no{name}", name
    for flag in EMITTERS_OPT:
        yield f"emitters_opt m.mlir {flag}", flag.strip("-").split("=")[0]
    for command in OTHER:
        yield command, ""


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.hlo").write_text("ENTRY main {\n  ROOT c = f32[3] constant({1, 2, 3})\n}\n", encoding="utf-8")
    (folder / "m.mlir").write_text("module {\n}\n", encoding="utf-8")
    listed = {(tool, name) for tool in TOOLS for name, _ in flags_of(tool)}
    wrong = [f"{tool} has no --{name}" for tool, name in sorted(set(WRONG_HERE) - listed)]
    count = 0
    for command, named in commands():
        done = subprocess.run(command.split(), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        count += 1
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        if done.returncode != 2 or (command != "heddle" and len(errors) != 1) or \
                named not in done.stderr.split("usage: ")[0]:
            wrong.append(f"{command}: exit status {done.returncode}, {done.stderr.strip()!r}")
    print("\n".join([*wrong, f"{count - len(wrong)} wrong command lines are refused, {len(wrong)} are not"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
