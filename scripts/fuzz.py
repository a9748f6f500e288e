#!/usr/bin/env python3
"""Builds the fuzz targets (src/fuzz/*_fuzz.c) and runs each for a while or for so many inputs.

    fuzz.py [--seconds=60 | --inputs=N] [--deep=16] [--jobs=2] [--seed=N] [--fixed-seed] [NAME...]

A target starts from valid programs (build/fuzz/seeds/NAME: of test/, examples/ and a sample of ../shared/corpus where it is
present, converted to the target's format) and from what earlier runs kept (build/fuzz/corpus/NAME). What breaks it is left
in build/fuzz/findings/, to be fed back as `build/fuzz/fuzz/NAME FILE`.

What a reader accepts is printed, read again and compared; one accepted input in DEEP also goes through the other formats
and the passes, one in eight of those through the compiler. With --inputs a build without AddressSanitizer does that, some
five times as fast (undefined behaviour still ends it), and the sanitized one then runs everything that was kept; saved
programs, which no compiler stands behind, always run sanitized. A target whose reader accepts less than a fifth of the
inputs that were kept has failed: it does not reach the inside.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
BUILD = ROOT / "build" / "fuzz"
FAST = ROOT / "build" / "fuzz-fast"
LEAST_SHARE = 0.2
FIXED_RUNS = 1000
LEAST_KEPT = 25  # fewer say nothing about a share
MOST_SEEDS = 150  # of each target, half of them of the corpus
LARGEST_SEED = 6000  # bytes
LARGEST_SAVED = 16000
SEED = 1
QUICK = {"saved_fuzz"}  # sanitized as well
# A saved program may name a device whose driver takes a thousand times as long to be loaded as the program.
NO_DRIVERS = {"VK_DRIVER_FILES": "/dev/null", "VK_ICD_FILENAMES": "/dev/null"}
MAP = re.compile(r"""["(](\([^"]*?\) -> \([^"]*?domain:[^"]*?)["]""")


def targets():
    """Names of every fuzz target in the tree."""
    return [path.stem for path in sorted((ROOT / "src" / "fuzz").glob("*_fuzz.c"))]


def build(preset="fuzz"):
    """Configures and builds all targets; returns None or the failed command's output."""
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "--target", "fuzzers"]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return done.stdout
    return None


# --- seeds


def sample(ending):
    """Small programs with this ending, of the repository and of the corpus."""
    chosen = []
    for folders in ((ROOT / "test", ROOT / "examples"), (CORPUS,)):
        paths = sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*" + ending)
                       if path.stat().st_size <= LARGEST_SEED)
        chosen += random.Random(SEED).sample(paths, min(len(paths), MOST_SEEDS // 2))
    return chosen


def converted(*command, ending=".hlo"):
    """The sample of HLO in another format; what has none is left out."""
    release = ROOT / "build" / "bin" / "heddle"
    heddle = release if release.exists() else BUILD / "bin" / "heddle"
    for path in sample(ending):
        done = subprocess.run([heddle, command[0], path, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=120, check=False)
        if done.returncode == 0 and len(done.stdout) <= 2 * LARGEST_SEED:
            yield done.stdout


def saved():
    """The sample of HLO as saved programs of a machine that all have, and once more with code for another; StableHLO, too,
    of which some is for open sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.heddle")
        for levels, ending in ("x86-64-v2", ".hlo"), ("x86-64-v2,x86-64-v4", ".hlo"), ("x86-64-v2", ".mlir"):
            for _ in converted("compile", f"--cpu={levels}", "-o", path, ending=ending):
                data = pathlib.Path(path).read_bytes()
                if len(data) <= LARGEST_SAVED:
                    yield data


def contents(ending):
    return (path.read_bytes() for path in sample(ending))


def maps():
    """Indexing maps that stand in tests."""
    for folder, pattern in ((ROOT / "test", "*.*"), (ROOT / "src" / "index", "*_test.c")):
        for path in sorted(folder.rglob(pattern)):
            for found in MAP.findall(path.read_text(encoding="utf-8", errors="replace")):
                yield found.encode()


SEEDS = {
    "bytecode_fuzz": lambda: contents(".mlirbc"),
    "hlo_fuzz": lambda: contents(".hlo"),
    "lhlo_fuzz": lambda: converted("compile", "--emit=lhlo"),
    "map_fuzz": maps,
    "mlir_fuzz": lambda: contents(".mlir"),
    "proto_fuzz": lambda: converted("convert", "--to=pb"),
    "saved_fuzz": saved,
    "proto_text_fuzz": lambda: converted("convert", "--to=pbtxt"),
}


def fingerprint(path):
    """Of the tables that a saved program is written by (doc/saved-programs.md)."""
    return path.read_bytes()[24:32]


def drop_old(name, folder):
    """Saved programs of other tables are refused by their header: seeds and what was kept of them are made anew."""
    first = next(folder.iterdir(), None) if name == "saved_fuzz" and folder.is_dir() else None
    if not first:
        return
    with tempfile.TemporaryDirectory() as made:
        path = pathlib.Path(made) / "x.heddle"
        release = ROOT / "build" / "bin" / "heddle"
        heddle = release if release.exists() else BUILD / "bin" / "heddle"
        subprocess.run([heddle, "compile", ROOT / "examples" / "gelu.hlo", "-o", path], check=True)
        if fingerprint(path) != fingerprint(first):
            shutil.rmtree(folder)
            shutil.rmtree(BUILD / "corpus" / name, ignore_errors=True)


def make_seeds(name):
    """The folder with the target's seeds; they are made once."""
    folder = BUILD / "seeds" / name
    drop_old(name, folder)
    if not folder.is_dir():
        made = folder.with_suffix(".part")
        made.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(SEEDS[name]()):
            (made / f"{number:04}").write_bytes(data)
        made.rename(folder)
    return folder


# --- runs


def call(folder, name, deep, *flags):
    """Runs a target of the build in `folder`; returns (exit status, output)."""
    environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1", UBSAN_OPTIONS="print_stacktrace=1",
                       LSAN_OPTIONS=f"print_suppressions=0:suppressions={ROOT}/scripts/lsan.supp",
                       HEDDLE_FUZZ_DEEP=str(deep), **NO_DRIVERS)
    findings = BUILD / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    command = [folder / "fuzz" / name, "-timeout=30", "-rss_limit_mb=3000", "-max_len=16384", "-mutate_depth=2",
               "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-", *flags]
    done = subprocess.run(command, cwd=BUILD, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def accepted(output):
    """(accepted, tried) as the target counts them, or (0, 0) if it did not get to say."""
    found = re.search(r"^accepted: (\d+) of (\d+) inputs", output, re.M)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def share(counts):
    return f"{100 * counts[0] / counts[1]:.0f} % of {counts[1]}" if counts[1] else "none"


# Where inputs come from and how many: `inputs` (0: as many as `seconds` allow), `seed` (0: another one each time).
Effort = collections.namedtuple("Effort", "seconds inputs deep seed", defaults=(60, 0, 16, 0))


# For runs that are the same everywhere.
FIXED = Effort(inputs=FIXED_RUNS, seed=1)


def run(name, effort):
    """Fuzzes one target; returns (passed, remark, output)."""
    seeds = make_seeds(name)
    corpus = BUILD / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    flags = ["-reload=0", f"-runs={effort.inputs}" if effort.inputs else f"-max_total_time={effort.seconds}"]
    flags += [f"-seed={effort.seed}"] if effort.seed else []
    status, output = call(FAST if is_fast(name, effort) else BUILD, name, effort.deep, *flags, corpus, seeds)
    tried = accepted(output)
    kept_status, kept_output = call(BUILD, name, effort.deep if is_fast(name, effort) else 0, "-runs=0", corpus)
    kept = accepted(kept_output)
    remark = f"accepted {share(tried)} tried, {share(kept)} kept"
    if kept[1] >= LEAST_KEPT and kept[0] < LEAST_SHARE * kept[1]:
        output += f"\nof the inputs kept too few are accepted: {share(kept)}, wanted {100 * LEAST_SHARE:.0f} %\n"
        return False, remark, output
    return status == 0 and kept_status == 0, remark, output if status else kept_output


def is_fast(name, effort):
    """Whether the build without AddressSanitizer does the work."""
    return effort.inputs > FIXED_RUNS and name not in QUICK


def run_all(names, effort, jobs=2):
    """Fuzzes the targets; yields (name, passed, remark, output)."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {name: pool.submit(run, name, effort) for name in names}
        for name, future in runs.items():
            yield (name, *future.result())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--inputs", type=int, default=0, help="so many inputs, however long they take")
    parser.add_argument("--deep", type=int, default=16, help="send one accepted input in so many further; 0: none")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--seed", type=int, default=0, help="of the first input; 0: another one each time")
    parser.add_argument("--fixed-seed", action="store_true", help=f"the same {FIXED_RUNS} inputs each time")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(targets())
    if unknown:
        parser.error(f"no fuzz target {', '.join(sorted(unknown))}; there are {', '.join(targets())}")
    effort = Effort(arguments.seconds, arguments.inputs, arguments.deep, arguments.seed)
    if arguments.fixed_seed:
        effort = FIXED._replace(deep=arguments.deep)
    names = arguments.names or targets()
    failure = build() or (build("fuzz-fast") if any(is_fast(name, effort) for name in names) else None)
    if failure:
        sys.exit(failure)
    failed = 0
    for name, passed, remark, output in run_all(names, effort, arguments.jobs):
        failed += not passed
        print(f"{name}: {'no finding' if passed else 'FAILED'}; {remark}", flush=True)
        if not passed:
            print("\n".join(output.splitlines()[-60:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
