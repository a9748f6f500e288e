#!/usr/bin/env python3
"""Runs the conformance corpus, which lies beside the repository as ../shared/corpus where it is present.

    conformance.py [--platform=interpreter|cpu|unfolded|tiles|simulator|vulkan] [--heddle=build/bin/heddle]

Every case passes in every format, but for those that test/conformance/PLATFORM.txt lists with the reason. `unfolded`
is the CPU with --no-folding: modules that check themselves are constant expressions, of which folding leaves nothing to
run. `tiles` is the CPU with --codegen=tiles. The simulator, which runs kernels for a GPU on the CPU, and
Vulkan get each case once, as HLO text.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
# Folders with a manifest have the same case in several formats; the others hold modules that check themselves.
FORMATS = "hlo,mlir,mlirbc,optimized,stablehlo"
FORMATS_OF = {"simulator": "hlo", "tiles": "hlo", "vulkan": "hlo"}
# A case that is known not to pass may do so in one way only: never by a crash or by running out of time.
EXCUSABLE = {"differs", "refused"}
# What `heddle run` says of a program with open dims to which made-up sizes do not fit; that it is read is that folder's
# test.
READ_ONLY, READ_FOLDER = "read and written back, but not run", "stablehlo/dynamic"
FOLDERS = {"interpreter": ("jax", "hlo", "stablehlo", "stablehlo/dynamic", "stablehlo/quantized"),
           "cpu": ("jax", "hlo", "stablehlo", "stablehlo/quantized"),
           "simulator": ("jax", "hlo"),
           "vulkan": ("jax", "hlo"),
           "tiles": ("jax", "hlo"),
           "unfolded": ("stablehlo", "stablehlo/quantized")}

# Ways of the CPU that a flag of the driver asks for.
FLAG_OF = {"unfolded": "--no-folding", "tiles": "--codegen=tiles"}


def list_path(platform):
    return ROOT / "test" / "conformance" / f"{platform}.txt"


def listed_cases(platform):
    """What test/conformance/PLATFORM.txt lists, {name: verdict}: one a line, a reason behind `#`."""
    if not list_path(platform).exists():
        return {}
    listed = {}
    for number, line in enumerate(list_path(platform).read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if words and (len(words) != 2 or words[1] not in EXCUSABLE):
            raise RuntimeError(f"{list_path(platform).name}:{number}: not NAME and {' or '.join(sorted(EXCUSABLE))}")
        listed.update([words] if words else [])
    return listed


def with_flag(heddle, flag, folder):
    """A program in `folder` for the corpus runner: `heddle` with a flag of its own."""
    wrapper = pathlib.Path(folder) / "heddle"
    wrapper.write_text(f'#!/bin/sh\nexec "{heddle}" "$@" {flag}\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return wrapper


def run(platform, heddle, formats, folders):
    """Returns (cases that passed, [(verdict, name, format, message)] of those that did not)."""
    with tempfile.TemporaryDirectory() as folder:
        failures = pathlib.Path(folder) / "failures"
        if platform in FLAG_OF:
            platform, heddle = "cpu", with_flag(heddle, FLAG_OF[platform], folder)
        command = [CORPUS / "conformance", f"--heddle={heddle}", f"--platform={platform}", f"--format={formats}",
                   "--check=both", "--controls=20", f"--jobs={os.cpu_count()}", f"--list-failures={failures}"]
        done = subprocess.run([*command, *(CORPUS / name for name in folders)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        last = re.search(r"(\d+) passed, (\d+) failed\s*$", done.stdout)
        if not failures.exists() or not last:
            raise RuntimeError("the corpus runner failed:\n" + done.stdout)
        rows = [line.split("\t", 3) for line in failures.read_text(encoding="utf-8").splitlines()]
    return int(last.group(1)), rows


def is_dynamic(name):
    return any((CORPUS / READ_FOLDER).glob(f"{name}*"))


def has_device(platform, heddle):
    """Whether there is a device for it; only Vulkan's may be missing."""
    if platform != "vulkan":
        return True
    listed = subprocess.run([heddle, "info", "--devices"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return any(line.startswith("vulkan ") and ", which " not in line for line in listed.splitlines())


def judge(platform, heddle):
    """Returns (number passed, list of lines about what failed, a remark)."""
    known = listed_cases(platform)
    passed, rows = run(platform, heddle, FORMATS_OF.get(platform, FORMATS), FOLDERS[platform])
    read = [row for row in rows if row[0] == "refused" and READ_ONLY in row[3] and is_dynamic(row[1])]
    failures = [f"{verdict} {name} ({kind}): {message}" for verdict, name, kind, message in rows
                if known.get(name) != verdict and [verdict, name, kind, message] not in read]
    failures += [f"{name} is listed in {list_path(platform).name} but passes"
                 for name in sorted(set(known) - {row[1] for row in rows})]
    remark = f"{passed} cases in all formats as wanted, {len(known)} known not to pass"
    return passed + len(read), failures, remark + (f", {len(read)} with open dims only read" if read else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="interpreter", choices=sorted(FOLDERS))
    parser.add_argument("--heddle", default=str(ROOT / "build" / "bin" / "heddle"))
    arguments = parser.parse_args()
    if not CORPUS.is_dir():
        sys.exit("there is no ../shared/corpus beside the repository")
    _, failures, remark = judge(arguments.platform, arguments.heddle)
    print("\n".join([*failures, f"{remark}; {len(failures)} not"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
