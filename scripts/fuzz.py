#!/usr/bin/env python3
"""Builds the fuzz targets (src/<module>/*_fuzz.c) and runs each for a while, two at a time.

    fuzz.py [--seconds=60] [--fixed-seed] [NAME...]

A target starts from what earlier runs found (build/fuzz/corpus/NAME), the golden tests of its module and examples/. What
breaks it is left in build/fuzz/findings/, to be fed back as `build/fuzz/fuzz/NAME FILE`.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"


def targets():
    """Name -> module of every fuzz target in the tree."""
    return {path.stem: path.parent.name for path in sorted((ROOT / "src").glob("*/*_fuzz.c"))}


def build():
    """Configures and builds all targets; returns None or the failed command's output."""
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz", "--target", "fuzzers"]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return done.stdout
    return None


def run(name, module, seconds, fixed_seed):
    """Fuzzes one target; returns (passed, output)."""
    corpus = BUILD / "corpus" / name
    findings = BUILD / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    command = [BUILD / "fuzz" / name, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=3000",
               "-max_len=8192", "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-"]
    if fixed_seed:
        command.append("-seed=1")
    dictionary = ROOT / "src" / module / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    command.append(corpus)
    command += [seeds for seeds in (ROOT / "test" / module, ROOT / "examples") if seeds.is_dir()]
    environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1", UBSAN_OPTIONS="print_stacktrace=1")
    done = subprocess.run(command, cwd=BUILD, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    return done.returncode == 0, done.stdout


def run_all(names, seconds, fixed_seed):
    """Fuzzes the targets; yields (name, passed, output)."""
    modules = targets()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {name: pool.submit(run, name, modules[name], seconds, fixed_seed) for name in names}
        for name, future in runs.items():
            yield (name, *future.result())


def executions(output):
    """How many inputs a run tried, for the report."""
    for line in output.splitlines():
        if line.startswith("stat::number_of_executed_units:"):
            return line.split()[1]
    return "?"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--fixed-seed", action="store_true", help="the same inputs each time, as far as time allows")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(targets())
    if unknown:
        parser.error(f"no fuzz target {', '.join(sorted(unknown))}; there are {', '.join(targets())}")
    failure = build()
    if failure:
        sys.exit(failure)
    failed = 0
    for name, passed, output in run_all(arguments.names or targets(), arguments.seconds, arguments.fixed_seed):
        failed += not passed
        print(f"{name}: {'no finding' if passed else 'FAILED'} in {executions(output)} inputs", flush=True)
        if not passed:
            print("\n".join(output.splitlines()[-60:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
