#!/usr/bin/env python3
"""Every test of Heddle, as `make test` runs them: layout, two builds, unit tests, golden tests, conformance, random
modules, fuzzers, mutants, tidy.

    run_tests.py [STEP...]      all steps, or the ones named (run_tests.py --list)
    run_tests.py --check        the quick ones

Each step prints one line, and the output of what failed below it. What failed is named once more at the end. The last
line is `N passed, N failed` over all steps; the exit status is 0 only when nothing failed and something passed.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import traceback
import xml.etree.ElementTree

import attribute_mutants as mutants
import conformance
import conformance_mutants
import corpus_sample
import fuzz
import object_corpus
import ptxas_corpus
import runtime_alone
import saved_corpus
import tile_windows

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = str(os.cpu_count() or 2)
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
# Mutants of modules that each build runs.
MUTANTS = {"build": 240, "build/dev": 40}
# The share of the emitters' golden tests that the sanitized tools run.
EMIT_EVERY = 3
# The share of the project's own modules that the quick tests save.
SAVED_EVERY = 4
# Modules of hlo-smith sent through each way.
SMITH_CHECKS = {"passes": 2000, "text": 200, "proto": 300, "pbtxt": 100, "stablehlo": 500, "cpu": 200,
                "cpu-default": 100, "tiles": 100, "tiles-default": 50, "simulator": 150, "simulator-default": 50,
                "simulator-tiles": 50, "open": 200}
# Where there is a device.
VULKAN_CHECKS = {"vulkan": 60, "vulkan-default": 30}
# Bits of computed floats differ in the last place, and where the sign of a NaN is not settled.
SMITH_MIX = dict.fromkeys(("cpu", "cpu-default", "tiles", "tiles-default", "simulator", "simulator-default",
                           "simulator-tiles", "vulkan", "vulkan-default"),
                          "bitcast-convert=0")
# Made-up windows that go through tiles.
TILE_WINDOWS = 40
# What libraries do, which no other module holds.
SMITH_TRANSFORMS = {"cpu": 40}
TRANSFORMS_MIX = "fft=20,cholesky=10"
# Chips that the corpus is assembled for, the newest and the oldest, with libdevice and, some of it, without; and the
# share of it that the quick tests take.
PTXAS = [["--chip=sm_90"], ["--chip=sm_75"], ["--chip=sm_90", "--every=4", "--no-libdevice"]]
PTXAS_SAMPLE = [["--chip=sm_90", "--every=16"]]
# On each instruction set.
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "cooperlake"]
LEVEL_EVERY = 3
LEVEL_CHECKS = {"cpu": 150, "cpu-default": 50, "tiles": 30}
LEVEL_TRANSFORMS = {"cpu": 20}
# And through the sanitized compiler and runtime.
SANITIZED_CHECKS = {"cpu": 40}
SANITIZED_SEED = 5000
# Modules of which mutants are made; the tool itself asks that 95 % of those that change a result are refused.
MUTATED = 300
# Protos have no f6.
PROTO_TYPES = ("pred,s2,s4,s8,s16,s32,s64,u2,u4,u8,u16,u32,u64,f4e2m1fn,f8e5m2,f8e4m3,f8e4m3fn,f8e4m3b11fnuz,f8e5m2fnuz,"
               "f8e4m3fnuz,f8e3m4,f8e8m0fnu,f16,bf16,f32,f64,c64,c128")
# Protos have no way to say some modules; every other way takes all that is drawn.
MOST_REFUSED = {"proto": 0.6, "pbtxt": 0.6, "open": 0.1}
CHECK_STEPS = ["format", "build-release", "unit-release", "golden-release", "corpus-sample", "ptxas-sample",
               "saved-sample"]
NO_CORPUS = "NOT RUN: the conformance corpus, as there is no ../shared/corpus beside the repository; the sample in " \
            "test/corpus ran"
TAIL = 60  # lines shown of what failed
SHORT_TAIL = 6  # and once more at the end, where a log that was cut still has it
NAMED_AGAIN = 20


class Result:
    """What a step found: counts, texts about each failure, remarks (what was skipped and why)."""

    def __init__(self):
        self.passed = 0
        self.skipped = 0
        self.failures = []  # (name, text)
        self.remarks = []

    def add(self, name, passed, text=""):
        if passed:
            self.passed += 1
        else:
            self.failures.append((name, text))


def run(command, timeout=1800):
    """Runs a command in the repository root; returns (exit status, its whole output)."""
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=timeout)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
        return 124, (output if isinstance(output, str) else output.decode(errors="replace")) + "\nran out of time"


def side_by_side(commands):
    """[(exit status, output)] of commands that each keep one core busy."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, commands))


def step_format():
    """clang-format would change nothing"""
    result = Result()
    status, output = run(["make", "--no-print-directory", "format-check"])
    files = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error:", output, re.M)))
    result.add("format", status == 0, "\n".join(["`make format` would change", *files]) if files else output)
    return result


def build(preset):
    result = Result()
    status, output = run(["cmake", "--preset", preset])
    if status == 0:
        status, output = run(["cmake", "--build", "--preset", preset, "--", "-k", "0"])
    result.add(f"build {preset}", status == 0, output)
    return result


def step_build_release():
    """gcc, optimised, warnings are errors"""
    return build("release")


def step_build_dev():
    """clang, AddressSanitizer and UndefinedBehaviorSanitizer, warnings are errors"""
    return build("dev")


def count_unit_test(case, result):
    """Adds one executable of ctest's report; cmocka's own tests inside it count one by one."""
    output = case.findtext("system-out") or ""
    name = case.get("name")
    run_tests = re.search(r"\[==========\] .*?(\d+) test\(s\) run\.", output)
    passed = re.search(r"\[  PASSED  \] (\d+) test\(s\)", output)
    skipped = re.search(r"\[  SKIPPED \] (\d+) test\(s\)", output)
    if case.get("status") == "run" and run_tests and passed:
        result.passed += int(passed.group(1))
        result.skipped += int(skipped.group(1)) if skipped else 0
    elif case.get("status") == "run":
        result.add(name, True)
    elif case.get("status") == "notrun" and "SKIP" in (case.find("skipped").get("message") or ""):
        result.skipped += 1
        result.remarks.append(f"skipped {name}: {output.strip()}")
    else:
        result.passed += int(passed.group(1)) if passed else 0
        failure = case.find("failure")
        result.add(name, False, output or (failure.get("message") if failure is not None else "did not run"))


def unit_tests(folder, *options):
    result = Result()
    report = ROOT / folder / "unit_tests.xml"
    report.unlink(missing_ok=True)
    status, output = run(["ctest", "--test-dir", folder, "-j", JOBS, "--output-junit", str(report), "--timeout", "300",
                          "--test-output-size-passed", "200000", "--test-output-size-failed", "200000", *options])
    if not report.exists():
        result.add("ctest", False, output)
        return result
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        count_unit_test(case, result)
    if status and not result.failures:
        result.add("ctest", False, output)
    return result


def step_unit_dev():
    """unit tests under the sanitizers, and the rules of the house"""
    return unit_tests("build/dev")


def step_unit_release():
    """unit tests again, optimised"""
    return unit_tests("build", "-E", "^house/")


def step_tsan():
    """unit tests of what starts threads, under ThreadSanitizer"""
    result = build("tsan")
    if result.failures:
        return result
    tested = unit_tests("build/tsan", "-L", "threads")
    tested.passed += result.passed
    return tested


def golden_tests(folder, *options):
    result = Result()
    report = ROOT / folder / "golden_tests.json"
    report.unlink(missing_ok=True)
    status, output = run(["python3", LIT, "-q", "-j", JOBS, "--output", str(report), *options, f"{folder}/test"])
    if not report.exists():
        result.add("lit", False, output)
        return result
    for test in json.loads(report.read_text(encoding="utf-8"))["tests"]:
        if test["code"] == "UNSUPPORTED":
            result.skipped += 1
            result.remarks.append(f"skipped {test['name']}: {test['output'].strip()}")
        else:
            result.add(test["name"], test["code"] in ("PASS", "XFAIL"), test["output"])
    if status and not result.failures:
        result.add("lit", False, output)
    return result


def step_golden_release():
    """golden tests (lit, FileCheck)"""
    return golden_tests("build")


def step_golden_dev():
    """golden tests with the sanitized tools; of the emitters', which are much alike, a third"""
    names = sorted(test.name for test in (ROOT / "test" / "emit").iterdir())
    others = [re.escape(name) for number, name in enumerate(names) if number % EMIT_EVERY]
    return golden_tests("build/dev", f"--filter-out=emit/({'|'.join(others)})$")


def built(result, title, name, folder="build"):
    """The tool of that name in the build folder; None, and a failure of the result, if it is not there."""
    tool = ROOT / folder / "bin" / name
    if tool.exists():
        return tool
    result.add(title, False, f"{tool.relative_to(ROOT)} was not built")
    return None


def step_conformance():
    """the corpus of modules with known results, where it is present"""
    result = Result()
    if not conformance.CORPUS.is_dir():
        result.remarks.append("skipped: there is no ../shared/corpus beside the repository")
        result.skipped += 1
        return result
    heddle = built(result, "conformance", "heddle")
    if not heddle:
        return result
    for platform in conformance.FOLDERS:
        if not conformance.has_device(platform, heddle):
            result.remarks.append(f"skipped {platform}: there is no device (heddle info --devices)")
            result.skipped += 1
            continue
        passed, failures, remark = conformance.judge(platform, heddle)
        result.passed += passed
        for failure in failures:
            result.add(f"{platform}: {failure}", False)
        result.remarks.append(f"{platform}: {remark}")
    return result


def sample(result, heddle, platform, title, **how):
    """The project's own modules on one platform; `how`: corpus_sample.judge's."""
    passed, failures = corpus_sample.judge(platform, heddle, ROOT / "build" / "corpus", **how)
    result.passed += passed
    for failure in failures:
        result.add(f"{title}: {failure}", False)
    result.remarks.append(f"{title}: {passed} of {passed + len(failures)} cases")


def step_corpus_sample():
    """the project's own modules with results by definition, on both platforms"""
    result = Result()
    heddle = built(result, "corpus-sample", "heddle")
    if not heddle:
        return result
    for platform in ("interpreter", "cpu"):
        sample(result, heddle, platform, platform)
    return result


def step_tile_windows():
    """made-up convolutions and windows by tiles agree with the interpreter"""
    result = Result()
    tool = built(result, "tile-windows", "run_hlo_module")
    if not tool:
        return result
    result.passed, failures = tile_windows.judge(tool, TILE_WINDOWS)
    for failure in failures:
        result.add(failure, False)
    return result


def assemble(runs):
    """PTX of modules that NVIDIA's assembler takes; `runs`: ptxas_corpus.py's flags for each."""
    result = Result()
    ptxas = ptxas_corpus.find_ptxas()
    if not ptxas:
        result.remarks.append("skipped: there is no ptxas")
        result.skipped += 1
        return result
    for flags in runs:
        tally = ptxas_corpus.judge(ptxas_corpus.parse(flags), ptxas)
        result.passed += tally.assembled
        for name, text in tally.failures:
            result.add(f"{' '.join(flags)}: {name}", False, text)
        result.remarks += ptxas_corpus.summary(tally, " ".join(flags), 1)
    return result


def step_ptxas_sample():
    """ptxas takes some of the corpus"""
    return assemble(PTXAS_SAMPLE)


def step_ptxas():
    """ptxas takes the corpus for several chips, with libdevice and without, and nothing goes through local memory"""
    return assemble(PTXAS)


def has_level(heddle, level):
    """Whether this machine has the instruction set."""
    status, output = run([heddle, "run", "examples/gelu.hlo", "--random", "--platform=interpreter", f"--cpu={level}"])
    return status == 0 or "this machine does not have" not in output


def step_levels():
    """the project's own modules and random ones on every instruction set that the machine has"""
    result = Result()
    heddle = built(result, "levels", "heddle")
    if not heddle:
        return result
    for level in LEVELS:
        if not has_level(heddle, level):
            result.remarks.append(f"skipped {level}: this machine has no such instructions")
            result.skipped += 1
            continue
        sample(result, heddle, "cpu", level, every=LEVEL_EVERY, flags=[f"--cpu={level}"])
        smith(result, "build", LEVEL_CHECKS, 1, flags=[f"--cpu={level}"])
        smith(result, "build", LEVEL_TRANSFORMS, 1, TRANSFORMS_MIX, flags=[f"--cpu={level}"])
    return result


def smith(result, folder, checks, seed, mix="", flags=()):
    """Random modules with seeds from `seed` on, made and checked by the tool in `folder`."""
    tool = built(result, "smith", "hlo-smith", folder)
    if not tool:
        return
    commands = [[tool, f"--check={way}", f"--count={count}", f"--seed={seed}",
                 f"--types={PROTO_TYPES if way in ('proto', 'pbtxt') else 'all'}",
                 f"--mix={','.join(filter(None, (SMITH_MIX.get(way), mix)))}",
                 *flags, "-o", ROOT / "build" / "smith" / way]
                for way, count in checks.items()]
    for (way, count), (status, output) in zip(checks.items(), side_by_side(commands)):
        last = re.search(r"(\d+) passed, \d+ failed", output)
        result.passed += int(last.group(1)) if last else 0
        refused = re.search(r"(\d+) refused by name", output)
        if refused and int(refused.group(1)) > MOST_REFUSED.get(way, 0) * count:
            result.add(f"smith: {way} refuses {refused.group(1)} of {count} modules", False, output)
        if not status and (not last or int(last.group(1)) + int(refused.group(1) if refused else 0) != count):
            result.add(f"smith: {way} does not account for {count} modules", False, output)
        if status:
            result.add(f"smith: {way} (see build/smith/{way})", False, output)


def step_sight():
    """comparisons, of random modules and of the corpus, refuse results of modules with one mistake"""
    result = Result()
    ways = {"--exact": [], "--default": ["--default"]}
    commands = [[ROOT / "build" / "bin" / "hlo-smith", "--mutants", f"--count={MUTATED}", *flags]
                for flags in ways.values()]
    for numerics, (status, output) in zip(ways, side_by_side(commands)):
        result.add(f"mutants {numerics}", status == 0, output)
        share = re.search(r"\d+ mutants differ .*", output)
        if share:
            result.remarks.append(f"{numerics}: {share.group(0)}")
    if conformance.CORPUS.is_dir():
        result.remarks += conformance_mutants.lines()
    return result


def step_smith():
    """random modules mean the same behind the passes, in every format, on the CPU and in the kernel simulator"""
    result = Result()
    smith(result, "build", SMITH_CHECKS, 1)
    if conformance.has_device("vulkan", ROOT / "build" / "bin" / "heddle"):
        smith(result, "build", VULKAN_CHECKS, 1)
    else:
        result.remarks.append("skipped vulkan: there is no device (heddle info --devices)")
    smith(result, "build", SMITH_TRANSFORMS, 1, TRANSFORMS_MIX)
    smith(result, "build/dev", SANITIZED_CHECKS, SANITIZED_SEED)
    return result


def step_fuzz():
    """every fuzz target on a fixed number of inputs"""
    result = Result()
    failure = fuzz.build()
    if failure:
        result.add("build fuzz", False, failure)
        return result
    for name, passed, remark, output in fuzz.run_all(fuzz.targets(), fuzz.FIXED):
        result.add(name, passed, output)
        result.remarks.append(f"{name}: {remark}")
    return result


def step_mutants():
    """modules with one number, type or name changed are refused at a place, or mean the same on both platforms"""
    result = Result()
    for folder, count in MUTANTS.items():
        chosen = mutants.parse([f"--sample={count}", f"--bin={ROOT / folder / 'bin'}", f"--jobs={JOBS}",
                                f"--keep={ROOT / 'build' / 'mutants'}"])
        counts = collections.Counter()
        for verdict, name, output in mutants.run_all(chosen, mutants.modules()):
            counts[verdict] += 1
            result.add(f"{verdict} {name} (kept in build/mutants)", verdict not in mutants.FINDINGS, output)
        result.remarks.append(f"{folder}: {mutants.summary(counts)}")
    return result


def step_clone():
    """a target made by the steps of doc/adding-a-target.md compiles a program"""
    result = Result()
    status, output = run([sys.executable, "scripts/clone_target.py"])
    result.add("clone", status == 0, output)
    return result


def step_install():
    """what is installed and packaged is whole: names, headers, examples, manual, completions"""
    result = Result()
    status, output = run([sys.executable, "scripts/install_test.py"])
    for line in output.splitlines():
        if line.startswith("passed "):
            result.passed += 1
    if status:
        result.add("install", False, output)
    return result


def saved(result, folder, every=1):
    """Programs of a corpus, saved and run without the compiler."""
    programs = saved_corpus.programs_of([folder], "", every)
    passed, neither, failures = saved_corpus.judge_all(ROOT / "build" / "bin", programs)
    result.passed += passed
    result.failures += failures
    if neither:
        result.remarks.append(f"{neither} programs of {folder.name} run neither way")


def step_saved_sample():
    """the project's own modules saved, the runner without a compiler gives the JIT's bits; it stands alone"""
    result = Result()
    if not built(result, "saved", "heddle"):
        return result
    corpus_sample.write_all(ROOT / "build" / "corpus-saved", corpus_sample.cases.all_cases()[::SAVED_EVERY])
    saved(result, ROOT / "build" / "corpus-saved")
    found, remarks = runtime_alone.check_all(ROOT / "build")
    for name, wrong in found:
        result.add(name, not wrong, wrong)
    result.remarks += remarks
    return result


def step_objects():
    """the project's own modules as objects, linked into C programs: the JIT's bits"""
    result = Result()
    if not built(result, "objects", "heddle"):
        return result
    corpus_sample.write_all(ROOT / "build" / "corpus-objects", corpus_sample.cases.all_cases()[::SAVED_EVERY])
    options = object_corpus.options_of(["--bin", str(ROOT / "build" / "bin")])
    programs = saved_corpus.programs_of([ROOT / "build" / "corpus-objects"], "", 1)
    passed, others, failures = object_corpus.judge_all(programs, options)
    result.passed += passed
    result.failures += failures
    result.remarks.append(f"{others} programs need the whole runtime or have other layouts")
    if not shutil.which("qemu-aarch64") or not shutil.which("aarch64-linux-gnu-gcc"):
        result.remarks.append("skipped on AArch64: there is no qemu-aarch64 or aarch64-linux-gnu-gcc")
        result.skipped += 1
        return result
    options.target, options.cc, options.run = "aarch64-linux-gnu", "aarch64-linux-gnu-gcc -static", "qemu-aarch64"
    passed, others, failures = object_corpus.judge_all(programs, options)
    result.passed += passed
    result.failures += [(f"{name} on AArch64", wrong) for name, wrong in failures]
    return result


def step_saved():
    """the whole corpus saved: the runner without a compiler gives the JIT's bits"""
    result = Result()
    if not built(result, "saved", "heddle"):
        return result
    corpus = ROOT.parent / "shared" / "corpus"
    if not corpus.is_dir():
        result.remarks.append(NO_CORPUS)
    for name in ("hlo", "jax"):
        if (corpus / name).is_dir():
            saved(result, corpus / name)
    return result


def step_tidy():
    """clang-tidy has nothing to say"""
    result = Result()
    status, output = run(["sh", "scripts/tidy.sh"], timeout=3600)
    result.add("tidy", status == 0, output)
    return result


STEPS = [step_format, step_build_release, step_build_dev, step_unit_dev, step_unit_release, step_tsan,
         step_golden_release, step_golden_dev, step_corpus_sample, step_tile_windows, step_levels, step_conformance,
         step_ptxas_sample, step_ptxas, step_smith, step_sight, step_fuzz, step_mutants, step_clone, step_install,
         step_saved_sample, step_saved, step_objects,
         step_tidy]


def name_of(step):
    return step.__name__.removeprefix("step_").replace("_", "-")


def run_step(step):
    """A step's result; a step that breaks has failed."""
    try:
        return step()
    except Exception:  # pylint: disable=broad-except
        result = Result()
        result.add(name_of(step), False, traceback.format_exc())
        return result


def report(name, result, seconds):
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    print(f"{name:15} {result.passed:5} passed {len(result.failures):3} failed{skipped}, {seconds:.0f} s", flush=True)
    for remark in result.remarks:
        print(f"    {remark}")
    for failed, text in result.failures:
        print(f"--- FAILED {failed}")
        print("\n".join(text.rstrip().splitlines()[-TAIL:]))


def report_again(failures):
    """Names what failed, (step, test, text) each, where the end of the log is all that a reader has."""
    for name, failed, text in failures[:NAMED_AGAIN]:
        print(f"=== FAILED in {name}: {failed}")
        print("\n".join(text.rstrip().splitlines()[-SHORT_TAIL:]))
    if len(failures) > NAMED_AGAIN:
        print(f"=== and {len(failures) - NAMED_AGAIN} more, each below its step")


def main():
    known = {name_of(step): step for step in STEPS}
    if sys.argv[1:] == ["--list"]:
        for name, step in known.items():
            print(f"{name:15} {step.__doc__}")
        return 0
    wanted = CHECK_STEPS if sys.argv[1:] == ["--check"] else sys.argv[1:] or list(known)
    if not set(wanted) <= set(known):
        sys.exit(f"run_tests.py: there is no step {' '.join(set(wanted) - set(known))}; --list shows them")
    passed = 0
    failures = []
    for name in wanted:
        start = time.monotonic()
        result = run_step(known[name])
        report(name, result, time.monotonic() - start)
        passed += result.passed
        failures += [(name, failed, text) for failed, text in result.failures]
    if "conformance" in wanted and not conformance.CORPUS.is_dir():
        print(NO_CORPUS)
    report_again(failures)
    print(f"{passed} passed, {len(failures)} failed", flush=True)
    return 0 if passed and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
