#!/usr/bin/env python3
"""Keeps the output shown in the documents equal to what the tools print.

    tour.py [--bin=build/bin] [--samples]     rewrite the blocks of README.md, ARCHITECTURE.md and doc/*.md
    tour.py --bin=FOLDER --check              change nothing; exit status 1 and a diff if a block is out of date

A block is a fenced one behind a comment that says what to run; the first line shows the command, the rest its output:

    <!-- tour: heddle compile examples/gelu.hlo --emit=plan --threads=2
    keep 1-3
    -->

The command runs in a scratch folder that holds links to doc/, examples/, src/ and test/, with the tools in PATH. It has to print the
same on every machine: no timings, no code for the machine's own CPU. Blocks that cannot promise that begin with
`tour-sample:` instead; they are rewritten only with --samples and never checked. Further lines of the comment shorten
the output, in order; what they leave out shows as a line `…`:

    keep 1-4,9          these lines           keep /REGEX/     lines that match, drop /REGEX/ the others
    replace /REGEX/TEXT/                      within lines
    cut 100             longer lines end in …
    show COMMAND        what the first line shows instead
    bare                no first line
    fails               the command ends with a status other than 0
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- (tour|tour-sample): (.*?) *-->\n(```\w*\n)(.*?)^```$", re.M | re.S)
SECONDS = 120
GAP = "…"


class TourError(Exception):
    """A block that cannot be made."""


def documents():
    return sorted(path for folder in (ROOT, ROOT / "doc") for path in folder.glob("*.md"))


def line_numbers(text):
    """{1, 2, 3, 9} for "1-3,9"."""
    numbers = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def keep(lines, wanted):
    """The lines (number, text) that `wanted` accepts, a gap for each run of others."""
    kept = []
    for number, line in enumerate(lines, 1):
        if wanted(number, line):
            kept.append(line)
        elif not kept or kept[-1].strip() != GAP:
            kept.append(line[:len(line) - len(line.lstrip())] + GAP)
    return kept


def apply(lines, filter_text):
    """The lines after one line of the comment."""
    verb, _, argument = filter_text.strip().partition(" ")
    if verb in ("keep", "drop") and argument.startswith("/") and argument.endswith("/"):
        pattern = re.compile(argument[1:-1])
        return keep(lines, lambda _, line: line.strip() == GAP or bool(pattern.search(line)) == (verb == "keep"))
    if verb == "keep":
        numbers = line_numbers(argument)
        return keep(lines, lambda number, _: number in numbers)
    if verb == "replace":
        _, pattern, text, _ = argument.split("/")
        return [re.sub(pattern, text, line) for line in lines]
    if verb == "cut":
        width = int(argument)
        return [line if len(line) <= width else line[:width].rstrip() + " " + GAP for line in lines]
    raise TourError(f"unknown filter: {filter_text}")


def run(command, fails, folders):
    """The lines that a command prints, errors included."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("doc", "examples", "src", "test"):
            os.symlink(ROOT / name, pathlib.Path(scratch) / name)
        environment = dict(os.environ, PATH=os.pathsep.join([*folders, os.environ["PATH"]]))
        done = subprocess.run(["sh", "-c", command], cwd=scratch, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
    if (done.returncode != 0) != fails:
        raise TourError(f"exit status {done.returncode}:\n{done.stdout}")
    return done.stdout.rstrip("\n").split("\n")


def contents(comment, folders):
    """What stands between the fences."""
    command, *filters = comment.strip().split("\n")
    shown, fails, bare = command, False, False
    others = []
    for line in filters:
        verb, _, argument = line.strip().partition(" ")
        shown = argument if verb == "show" else shown
        fails |= verb == "fails"
        bare |= verb == "bare"
        if verb not in ("show", "fails", "bare"):
            others.append(line)
    lines = run(command, fails, folders)
    for line in others:
        lines = apply(lines, line)
    first = "" if bare else f"$ {shown}\n"
    return first + "\n".join(line.rstrip() for line in lines) + "\n"


def renewed(text, folders, samples):
    """The document with its blocks made anew, the number of blocks, and what went wrong, block by block."""
    blocks = [m for m in BLOCK.finditer(text) if samples or m.group(1) == "tour"]
    errors = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = [pool.submit(contents, m.group(2), folders) for m in blocks]
    for m, result in reversed(list(zip(blocks, made))):
        try:
            text = text[:m.start(4)] + result.result() + text[m.end(4):]
        except (TourError, subprocess.TimeoutExpired, ValueError) as error:
            errors.append(f"{m.group(2).splitlines()[0]}: {error}")
    return text, len(blocks), errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", action="append", help="folder with the tools; may be given several times")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--samples", action="store_true", help="the blocks that depend on the machine, too")
    arguments = parser.parse_args()
    folders = [str(pathlib.Path(folder).resolve()) for folder in arguments.bin or [ROOT / "build" / "bin"]]
    total = stale = failed = 0
    for path in documents():
        old = path.read_text(encoding="utf-8")
        new, count, errors = renewed(old, folders, arguments.samples and not arguments.check)
        total += count
        stale += old != new
        failed += len(errors)
        name = str(path.relative_to(ROOT))
        for error in errors:
            print(f"{name}: {error}")
        if arguments.check and old != new:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "printed now"))
        elif old != new:
            path.write_text(new, encoding="utf-8")
            print(f"{name}: rewritten")
    verdict = "out of date: scripts/tour.py renews them" if arguments.check else "rewritten"
    print(f"{total} blocks; documents {verdict}: {stale}; commands that failed: {failed}")
    return 1 if failed or total == 0 or (arguments.check and stale) else 0


if __name__ == "__main__":
    sys.exit(main())
