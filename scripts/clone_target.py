#!/usr/bin/env python3
"""Does what doc/adding-a-target.md says, in a copy of the tree, and compiles a program for the target that comes out.

    clone_target.py [--keep=FOLDER]

The page says which files to copy, and has blocks of lines behind comments `<!-- edit: FILE after /REGEX/ -->`: they go
behind the only line that matches (with `before` at the end, in front of it). Exit status 1 where the page is wrong:
a line that is not there, a build that fails, an image or a program that is not as promised.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc" / "adding-a-target.md"
EDIT = re.compile(r"^<!-- edit: (\S+) after /([^\n]*)/( before)? -->\n```c\n(.*?)^```$", re.M | re.S)
COPIES = ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "include", "examples", "bench", "test", "doc", "scripts",
          "README.md", "ARCHITECTURE.md")
PROGRAM = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  p = f32[64,256] parameter(0)
  zero = f32[] constant(0)
  sums = f32[64] reduce(p, zero), dimensions={1}, to_apply=add
  ROOT roots = f32[64] sqrt(sums)
}
"""


class PageError(Exception):
    """The page does not lead where it says."""


def clone_files(root):
    """null's files as mine's."""
    for suffix in (".c", ".h"):
        text = (root / "src/target" / f"null{suffix}").read_text(encoding="utf-8")
        text = text.replace("TARGET_NULL", "TARGET_MINE").replace("null_emit", "mine_emit").replace("/null.h", "/mine.h")
        (root / "src/target" / f"mine{suffix}").write_text(text, encoding="utf-8")


def edit_files(root):
    """Applies the page's edits in order."""
    edits = EDIT.findall(PAGE.read_text(encoding="utf-8"))
    if not edits:
        raise PageError(f"{PAGE.name} has no edits")
    for name, pattern, before, lines in edits:
        path = root / name
        old = path.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [k for k, line in enumerate(old) if re.search(pattern, line)]
        if len(found) != 1:
            raise PageError(f"{name}: /{pattern}/ is {len(found)} lines, wanted one")
        at = found[0] + (0 if before else 1)
        path.write_text("".join(old[:at]) + lines + "".join(old[at:]), encoding="utf-8")


def run(command, root):
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise PageError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}")
    return done.stdout


def check_program(root):
    """The new target is known, and its image and program are what the page promises."""
    source = root / "program.hlo"
    source.write_text(PROGRAM, encoding="utf-8")
    heddle = root / "build" / "bin" / "heddle"
    for form, wanted in (("image", 'xla.target = "mine"'), ("image", "llvm.func @main("),
                         ("program", "program m for mine"), ("program", "image 0: mlir"), ("plan", "reduction")):
        printed = run([heddle, "compile", source, "--target=mine", f"--emit={form}"], root)
        if wanted not in printed:
            raise PageError(f"--emit={form} lacks {wanted}:\n{printed[:2000]}")


def clone(root):
    for name in COPIES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, symlinks=True)
        elif source.exists():
            shutil.copy(source, root / name)
    clone_files(root)
    edit_files(root)
    run(["cmake", "-S", root, "-B", root / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=clang++-19", "--log-level=WARNING"], root)
    run(["cmake", "--build", root / "build", "--target", "heddle", "-j", str(os.cpu_count() or 2)], root)
    check_program(root)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--keep", type=pathlib.Path)
    keep = parser.parse_args().keep
    try:
        if keep:
            keep.mkdir(parents=True)
            clone(keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                clone(pathlib.Path(folder))
    except PageError as e:
        print(f"{PAGE.name}: {e}")
        return 1
    print("a target made as doc/adding-a-target.md says compiles a program")
    return 0


if __name__ == "__main__":
    sys.exit(main())
