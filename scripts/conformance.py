#!/usr/bin/env python3
"""Runs the conformance corpus, which lies beside the repository as ../shared/corpus where it is present.

    conformance.py [--platform=interpreter] [--heddle=build/bin/heddle] [--update]

test/conformance/PLATFORM.txt lists the cases that must pass. Any other case may be refused with a clean error, but may
not give wrong values, crash or hang. --update rewrites the list to what passes now.
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


def list_path(platform):
    return ROOT / "test" / "conformance" / f"{platform}.txt"


def listed_cases(platform):
    """Names of the cases that must pass on `platform`."""
    if not list_path(platform).exists():
        return set()
    lines = list_path(platform).read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def all_cases():
    """Names of the cases of the corpus that have HLO text."""
    names = set()
    for folder in ("jax", "hlo"):
        for line in (CORPUS / folder / "manifest.tsv").read_text(encoding="utf-8").splitlines():
            fields = line.split("\t")
            if not line.startswith("#") and "hlo" in fields[6].split(","):
                names.add(fields[0])
    return names


def run(platform, heddle, only=None):
    """Runs the cases (all, or the names in `only`); returns (names run, {name: (verdict, message)} of what did not
    pass)."""
    names = all_cases() if only is None else all_cases() & only
    if not names:
        return names, {}
    with tempfile.TemporaryDirectory() as folder:
        failures = pathlib.Path(folder) / "failures"
        command = [CORPUS / "conformance", f"--heddle={heddle}", f"--platform={platform}", "--format=hlo",
                   "--check=both", "--controls=20", f"--jobs={os.cpu_count()}", f"--list-failures={failures}"]
        if only is not None:
            command.append("--filter=^(" + "|".join(re.escape(name) for name in sorted(names)) + ")$")
        done = subprocess.run([*command, CORPUS / "jax", CORPUS / "hlo"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if not failures.exists():
            raise RuntimeError("the corpus runner failed:\n" + done.stdout)
        rows = [line.split("\t", 3) for line in failures.read_text(encoding="utf-8").splitlines()]
    return names, {name: (verdict, message) for verdict, name, _, message in rows}


def judge(platform, heddle, only=None):
    """Returns (passed, list of lines about what failed, number refused)."""
    listed = listed_cases(platform)
    names, missed = run(platform, heddle, only)
    refused = {name for name, (verdict, _) in missed.items() if verdict == "refused" and name not in listed}
    failures = [f"{verdict} {name}: {message}" for name, (verdict, message) in sorted(missed.items())
                if name not in refused]
    failures += [f"{name}: listed in {list_path(platform).name} but not in the corpus"
                 for name in sorted(listed - all_cases())]
    return len(names - set(missed)), failures, len(refused)


def update(platform, heddle):
    names, missed = run(platform, heddle)
    passing = sorted(names - set(missed))
    list_path(platform).parent.mkdir(parents=True, exist_ok=True)
    header = f"# Cases of the conformance corpus that must pass with --platform={platform}; scripts/conformance.py --update\n"
    list_path(platform).write_text(header + "".join(name + "\n" for name in passing), encoding="utf-8")
    print(f"{list_path(platform).relative_to(ROOT)}: {len(passing)} of {len(names)} cases")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="interpreter")
    parser.add_argument("--heddle", default=str(ROOT / "build" / "bin" / "heddle"))
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not CORPUS.is_dir():
        sys.exit("there is no ../shared/corpus beside the repository")
    if arguments.update:
        return update(arguments.platform, arguments.heddle)
    passed, failures, refused = judge(arguments.platform, arguments.heddle)
    print("\n".join(failures + [f"{passed} as wanted, {len(failures)} not, {refused} refused"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
