#!/usr/bin/env python3
"""Whether saved programs run without a compiler: what heddle-run and libheddle-runtime.so need is the C library and
libm, and in a folder with nothing else heddle-run runs a program that calls no library, and names the library that
another one needs.

    runtime_alone.py [--build=build]

Prints what is wrong, then `N passed, N failed`; exit status 1 if something is. Without the right to change the root
folder the last two are skipped, and said to be.
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
ALLOWED = re.compile(r"^(libc|libm|libdl|libpthread|ld-linux-[a-z0-9-]+)\.so\.\d+$")
MOST_BYTES = 1_000_000  # of the library, stripped
PLAIN = "HloModule m\nENTRY e { x = f32[1000] iota(), iota_dimension=0 ROOT y = f32[1000] tanh(x) }\n"
PRODUCT = """HloModule m
ENTRY e {
  x = f64[64,64] iota(), iota_dimension=0
  y = f64[64,64] iota(), iota_dimension=1
  ROOT z = f64[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(["readelf", "-dW", path])[1])


def check_dependencies(path):
    others = [name for name in needed(path) if not ALLOWED.match(name)]
    return f"needs {', '.join(others)}" if others else ""


def check_size(library, folder):
    stripped = folder / "stripped.so"
    subprocess.run(["strip", "-o", stripped, library], check=True)
    size = stripped.stat().st_size
    return "" if size < MOST_BYTES else f"has {size} bytes stripped"


def make_root(folder, runner):
    """A root folder with heddle-run and the libraries that it is linked with."""
    for line in output_of(["ldd", runner])[1].splitlines():
        found = re.search(r"(/\S+) \(0x", line)
        if found:
            to = folder / found.group(1).lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(found.group(1), to)
    shutil.copy(runner, folder / "heddle-run")


def run_alone(folder, name, *flags):
    change = ["chroot", folder] if os.geteuid() == 0 else ["unshare", "-r", "chroot", folder]
    return output_of([*change, "/heddle-run", f"/{name}.heddle", *flags])


def check_alone(build, folder):
    """[(name, what is wrong)], or None where no root folder can be changed."""
    make_root(folder, build / "bin" / "heddle-run")
    for name, source in (("plain", PLAIN), ("product", PRODUCT)):
        (folder / "module.hlo").write_text(source, encoding="utf-8")
        status, output = output_of([build / "bin" / "heddle", "compile", folder / "module.hlo", "-o",
                                    folder / f"{name}.heddle"])
        if status:
            return [(f"saving {name}", output)]
    status, output = run_alone(folder, "plain", "--print")
    if "chroot:" in output or "unshare:" in output:
        return None
    named, message = run_alone(folder, "product")
    return [("a program without libraries", "" if status == 0 and "0.761594" in output else output),
            ("a library that is absent", "" if named == 1 and "OpenBLAS is needed" in message else message)]


def check_all(build):
    """([(name, what is wrong or "")], remarks)."""
    library = build / "lib" / "libheddle-runtime.so"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = [(path.name, check_dependencies(path)) for path in (build / "bin" / "heddle-run", library)]
        found.append(("size of libheddle-runtime.so", check_size(library, folder)))
        alone = check_alone(build, folder)
        if alone is None:
            return found, ["skipped: nothing here may change the root folder"]
        return found + alone, []


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    found, remarks = check_all(parser.parse_args().build)
    for name, wrong in found:
        if wrong:
            print(f"{name}: {wrong.strip()}")
    for remark in remarks:
        print(remark)
    failed = sum(wrong != "" for _, wrong in found)
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
