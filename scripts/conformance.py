#!/usr/bin/env python3
"""Runs the conformance corpus, which lies beside the repository as ../shared/corpus where it is present.

    conformance.py [--platform=interpreter|cpu] [--heddle=build/bin/heddle]

Every case passes in every format, but for those that test/conformance/PLATFORM.txt lists with the reason.
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
FOLDERS = {"interpreter": ("jax", "hlo", "stablehlo", "stablehlo/dynamic", "stablehlo/quantized"),
           "cpu": ("jax", "hlo", "stablehlo", "stablehlo/quantized")}


def list_path(platform):
    return ROOT / "test" / "conformance" / f"{platform}.txt"


def listed_cases(platform):
    """Names that test/conformance/PLATFORM.txt lists, one a line, a reason behind `#`."""
    if not list_path(platform).exists():
        return set()
    lines = list_path(platform).read_text(encoding="utf-8").splitlines()
    return {name for line in lines if (name := line.split("#")[0].strip())}


def run(platform, heddle, formats, folders):
    """Returns (cases that passed, [(verdict, name, format, message)] of those that did not)."""
    with tempfile.TemporaryDirectory() as folder:
        failures = pathlib.Path(folder) / "failures"
        command = [CORPUS / "conformance", f"--heddle={heddle}", f"--platform={platform}", f"--format={formats}",
                   "--check=both", "--controls=20", f"--jobs={os.cpu_count()}", f"--list-failures={failures}"]
        done = subprocess.run([*command, *(CORPUS / name for name in folders)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        last = re.search(r"(\d+) passed, (\d+) failed\s*$", done.stdout)
        if not failures.exists() or not last:
            raise RuntimeError("the corpus runner failed:\n" + done.stdout)
        rows = [line.split("\t", 3) for line in failures.read_text(encoding="utf-8").splitlines()]
    return int(last.group(1)), rows


def judge(platform, heddle):
    """Returns (number passed, list of lines about what failed, a remark)."""
    known = listed_cases(platform)
    passed, rows = run(platform, heddle, FORMATS, FOLDERS[platform])
    failures = [f"{verdict} {name} ({kind}): {message}" for verdict, name, kind, message in rows if name not in known]
    failures += [f"{name} is listed in {list_path(platform).name} but passes"
                 for name in sorted(known - {row[1] for row in rows})]
    return passed, failures, f"{passed} cases in all formats as wanted, {len(known)} known not to pass"


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
