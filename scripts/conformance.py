#!/usr/bin/env python3
"""Runs the conformance corpus, which lies beside the repository as ../shared/corpus where it is present.

    conformance.py [--platform=interpreter] [--heddle=build/bin/heddle] [--update]

The interpreter has to pass every case in every format, but for those that test/conformance/interpreter.txt lists with
the reason. On a platform that compiles, test/conformance/PLATFORM.txt lists the cases (HLO text) that must pass; any
other may be refused with a clean error, but may not give wrong values, crash or hang. --update rewrites such a list to
what passes now.
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
FOLDERS = ("jax", "hlo", "stablehlo", "stablehlo/dynamic", "stablehlo/quantized")


def list_path(platform):
    return ROOT / "test" / "conformance" / f"{platform}.txt"


def listed_cases(platform):
    """Names that test/conformance/PLATFORM.txt lists, one a line, a reason behind `#`."""
    if not list_path(platform).exists():
        return set()
    lines = list_path(platform).read_text(encoding="utf-8").splitlines()
    return {name for line in lines if (name := line.split("#")[0].strip())}


def all_cases():
    """Names of the cases of the corpus that have HLO text."""
    names = set()
    for folder in ("jax", "hlo"):
        for line in (CORPUS / folder / "manifest.tsv").read_text(encoding="utf-8").splitlines():
            fields = line.split("\t")
            if not line.startswith("#") and "hlo" in fields[6].split(","):
                names.add(fields[0])
    return names


def run(platform, heddle, formats, folders, only=None):
    """Returns (cases that passed, [(verdict, name, format, message)] of those that did not)."""
    with tempfile.TemporaryDirectory() as folder:
        failures = pathlib.Path(folder) / "failures"
        command = [CORPUS / "conformance", f"--heddle={heddle}", f"--platform={platform}", f"--format={formats}",
                   "--check=both", "--controls=20", f"--jobs={os.cpu_count()}", f"--list-failures={failures}"]
        if only is not None:
            command.append("--filter=^(" + "|".join(re.escape(name) for name in sorted(only)) + ")$")
        done = subprocess.run([*command, *(CORPUS / name for name in folders)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        last = re.search(r"(\d+) passed, (\d+) failed\s*$", done.stdout)
        if not failures.exists() or not last:
            raise RuntimeError("the corpus runner failed:\n" + done.stdout)
        rows = [line.split("\t", 3) for line in failures.read_text(encoding="utf-8").splitlines()]
    return int(last.group(1)), rows


def judge_interpreter(heddle):
    """Every case in every format passes, but for those that are listed."""
    known = listed_cases("interpreter")
    passed, rows = run("interpreter", heddle, FORMATS, FOLDERS)
    failures = [f"{verdict} {name} ({kind}): {message}" for verdict, name, kind, message in rows if name not in known]
    failures += [f"{name} is listed in {list_path('interpreter').name} but passes"
                 for name in sorted(known - {row[1] for row in rows})]
    return passed, failures, f"{passed} cases in all formats as wanted, {len(known)} known not to pass"


def judge_compiled(platform, heddle):
    """The cases listed pass."""
    listed = listed_cases(platform)
    if not listed:
        return 0, [], f"no cases listed in {list_path(platform).name}"
    passed, rows = run(platform, heddle, "hlo", ("jax", "hlo"), listed)
    failures = [f"{verdict} {name}: {message}" for verdict, name, _, message in rows]
    failures += [f"{name} is listed in {list_path(platform).name} but not in the corpus"
                 for name in sorted(listed - all_cases())]
    return passed, failures, f"{passed} cases as wanted"


def judge(platform, heddle):
    """Returns (number passed, list of lines about what failed, a remark)."""
    return judge_interpreter(heddle) if platform == "interpreter" else judge_compiled(platform, heddle)


def update(platform, heddle):
    _, rows = run(platform, heddle, "hlo", ("jax", "hlo"))
    names = all_cases()
    passing = sorted(names - {row[1] for row in rows})
    list_path(platform).parent.mkdir(parents=True, exist_ok=True)
    header = f"# Cases of the conformance corpus that must pass with --platform={platform}; scripts/conformance.py --update\n"
    list_path(platform).write_text(header + "".join(name + "\n" for name in passing), encoding="utf-8")
    print(f"{list_path(platform).relative_to(ROOT)}: {len(passing)} of {len(names)} cases")
    wrong = [row for row in rows if row[0] != "refused"]
    print("\n".join(f"{row[0]} {row[1]}: {row[3]}" for row in wrong))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="interpreter")
    parser.add_argument("--heddle", default=str(ROOT / "build" / "bin" / "heddle"))
    parser.add_argument("--update", action="store_true", help="rewrite the list of a platform that compiles")
    arguments = parser.parse_args()
    if not CORPUS.is_dir():
        sys.exit("there is no ../shared/corpus beside the repository")
    if arguments.update and arguments.platform == "interpreter":
        sys.exit("the interpreter's list holds reasons: edit it by hand")
    if arguments.update:
        return update(arguments.platform, arguments.heddle)
    _, failures, remark = judge(arguments.platform, arguments.heddle)
    print("\n".join([*failures, f"{remark}; {len(failures)} not"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
