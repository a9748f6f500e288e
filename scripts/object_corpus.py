#!/usr/bin/env python3
"""Whether objects of `heddle compile --emit=object`, linked into C programs, give the bits that the JIT gives.

    object_corpus.py [--bin=build/bin] [--every=N] [--filter=REGEX] [--cc="cc"] [--run="qemu-aarch64 -L ..."]
                     [--target=TRIPLE] FOLDER...

A program is a folder as saved_corpus.py takes it. For each a main function is written that reads the arguments, calls the
object's function once and writes the results; it is linked with libm, and with libheddle-runtime where the object calls
that. Programs of which no object can be made are counted, and so are those whose arrays do not lie as .npy files have
them. Prints what differs, then `N passed, N failed`.
On another machine (--target) sums are made in vectors of another length: floats may differ in their last places there.
"""
import argparse
import ast
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import saved_corpus

NEEDS_WHOLE_RUNTIME = re.compile(r"which only the runtime has")
ROOT = pathlib.Path(__file__).resolve().parent.parent
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"
static void *memory(size_t bytes) {
  void *made = aligned_alloc(64, (bytes + 64) / 64 * 64);
  memset(made, 0x5a, bytes);
  return made;
}
static void *in(const char *path, size_t bytes) {
  void *made = memory(bytes);
  FILE *f = fopen(path, "rb");
  if (!f || fread(made, 1, bytes, f) != bytes) exit(9);
  fclose(f);
  return made;
}
static void out(const char *path, const void *data, size_t bytes) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) exit(8);
  fclose(f);
}
int main(void) {
"""


def elements(path):
    """The bytes behind a .npy file's header, as a file of its own has them in C order; None in Fortran's order."""
    data = path.read_bytes()
    start = 10 if data[6] == 1 else 12
    size = int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:start + size].decode("latin1").strip())
    return None if header["fortran_order"] and len(header["shape"]) > 1 else data[start + size:]


# How far floats of another machine may differ, as a part of the larger of 1 and themselves.
NEAR = {"f64": 1e-10, "c128": 1e-10, "f32": 1e-4, "c64": 1e-4, "f16": 1e-2, "bf16": 5e-2}


def numbers(kind, data):
    if kind == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[k:k + 2])[0] for k in range(0, len(data), 2)]
    letter, size = {"f64": ("d", 8), "c128": ("d", 8), "f32": ("f", 4), "c64": ("f", 4), "f16": ("e", 2)}[kind]
    return struct.unpack(f"<{len(data) // size}{letter}", data)


def is_near(kind, found, wanted):
    if kind not in NEAR or len(found) != len(wanted):
        return found == wanted
    return all(x == y or (x != x and y != y) or abs(x - y) <= NEAR[kind] * max(1, abs(y))
               for x, y in zip(numbers(kind, found), numbers(kind, wanted)))


def write_main(folder, name, sizes, inputs, returns_status):
    lines = [f'  void *in{k} = in("in{k}.bin", {len(data)});' for k, data in enumerate(inputs)]
    lines += [f"  void *out{k} = memory({size});" for k, size in enumerate(sizes)]
    arguments = [*(f"in{k}" for k in range(len(inputs))), *(f"out{k}" for k in range(len(sizes)))]
    call = f"{name}({', '.join([*arguments, 'memory(' + name.upper() + '_WORKSPACE_BYTES)'])});"
    lines.append(f"  {'heddle_status s = ' if returns_status else ''}{call}")
    if returns_status:
        lines.append('  if (s.error) return fprintf(stderr, "%s", heddle_status_message(s)), 7;')
    lines += [f'  out("out{k}.bin", out{k}, {size});' for k, size in enumerate(sizes)]
    (folder / "main.c").write_text(MAIN + "\n".join(lines) + "\n  return 0;\n}\n", encoding="utf-8")


def execute(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=saved_corpus.SECONDS, check=False)
    return done.returncode == 0, done.stderr.decode(errors="replace")


def link_and_run(folder, options, calls_runtime):
    libraries = options.bin.resolve().parent / "lib"
    runtime = [f"-L{libraries}", "-lheddle-runtime", f"-Wl,-rpath,{libraries}"] if calls_runtime else []
    made, output = execute([*options.cc.split(), "-O1", f"-I{ROOT / 'include'}", "-o", "main", "main.c", "model.o",
                            *runtime, "-lm"], folder)
    if made:
        made, output = execute([*options.run.split(), "./main"], folder)
    return "" if made else output


def judge_in(folder, program, options):
    """None: not for objects; "" where the bits are the JIT's; else what is wrong."""
    tools = options.bin.resolve()
    module = (program / "module.hlo") if (program / "module.hlo").exists() else program / "module.mlir"
    made, output = execute([tools / "heddle", "compile", module.resolve(), "--emit=object", "--name=model", "-o", "model.o",
                            "--threads=2", *([f"--target={options.target}"] if options.target else [])], folder)
    if not made:
        return None if NEEDS_WHOLE_RUNTIME.search(output) else output
    header = (folder / "model.h").read_text(encoding="utf-8")
    inputs = [elements(path) for path in sorted(program.glob("in*.npy"), key=lambda path: int(path.stem[2:]))]
    wanted = [folder / f"{k}.npy" for k in range(len(list(program.glob("out*.npy"))))]
    given = [f"--input={path.resolve()}" for path in sorted(program.glob("in*.npy"), key=lambda path: int(path.stem[2:]))]
    runs, output = execute([tools / "heddle", "run", module.resolve(), *given, *(f"--output={path}" for path in wanted),
                            "--threads=2"], folder)
    sizes = [int(size) for size in re.findall(r"^//   out\d+: .*?, (\d+) bytes", header, re.M)]
    if not runs or None in inputs or "minor to major" in header or len(sizes) != len(wanted) or "; may be in" in header:
        return None if runs else output
    for k, data in enumerate(inputs):
        (folder / f"in{k}.bin").write_bytes(data)
    calls_runtime = "heddle_status model(" in header
    write_main(folder, "model", sizes, inputs, calls_runtime)
    wrong = link_and_run(folder, options, calls_runtime)
    if wrong:
        return wrong
    kinds = re.findall(r"^//   out\d+: (\w+)\[", header, re.M) if options.target else [""] * len(wanted)
    same = [is_near(kind, (folder / f"out{k}.bin").read_bytes(), elements(path))
            for k, (kind, path) in enumerate(zip(kinds, wanted))]
    return "" if all(same) else "other bits than the JIT's"


def judge(program, options):
    with tempfile.TemporaryDirectory() as folder:
        return judge_in(pathlib.Path(folder), program, options)


def judge_all(programs, options):
    """(number of programs with the same bits, number that are not for objects, [(name, what is wrong)])."""
    return saved_corpus.count(lambda program: judge(program, options), programs)


def options_of(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--run", default="")
    parser.add_argument("--target", default="")
    return parser.parse_args(arguments)


def main():
    options = options_of(sys.argv[1:])
    programs = saved_corpus.programs_of(options.folders, options.filter, options.every)
    passed, others, failures = judge_all(programs, options)
    for name, wrong in failures:
        print(f"{name}: {wrong.strip()}")
    print(f"{others} that need the whole runtime or have other layouts")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
