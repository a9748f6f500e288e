#!/usr/bin/env python3
"""Changes one number, type or name in each module of the corpus and says what becomes of it.

    attribute_mutants.py [--count=2] [--seed=1] [--sample=N] [--bin=build/bin] [--jobs=2] [--keep=FOLDER] [PATH...]

A mutant passes if it is refused with an error that names its place, or if the CPU and the interpreter agree on it for the
same arguments. A crash, a sanitizer's report, a compilation that does not end, an error without a place and a difference
are findings: they are printed, kept in FOLDER and make the exit status 1. Each mutant runs in a process of its own, whose
time and memory are limited; a mutant that compiles but whose run is long (a loop that no longer ends, a dimension of
millions) is counted and is no finding. Mutants follow from the seed, so a finding comes back.

Modules come from ../shared/corpus where it is present, test/ and examples/, or from the paths given.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
ENDINGS = {".hlo", ".mlir", ".mlirbc", ".pbtxt"}
LARGEST = 1 << 18  # bytes of a module
MEMORY = 4 << 30
CPU_SECONDS = 10  # of a release build; the sanitized one gets more
NUMBERS = [0, 1, -1, 2, 3, 7, 8, 64, 127, 255, 1000, 65536, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -2**63, 2**64]
TYPES = {"hlo": "pred s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e4m3fn f8e5m2 token".split(),
         "mlir": "i1 i2 i4 i8 i16 i32 i64 ui8 ui32 ui64 f16 bf16 f32 f64 f8E4M3FN f8E5M2 index".split()}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[%@#!^]?[A-Za-z_][\w.$-]*|\s+|.', re.S)
NUMBER = re.compile(r"-?\d")
NAME = re.compile(r"[%@#!^]?[A-Za-z_]")
# `4x2xf32` is read as a number and a word of dims and a type.
DIMS_AND_TYPE = re.compile(r"(?:x\d+)*x([a-z]+\d*\w*)$")
BYTE = re.compile(r": error: at byte \d+")
REPORT = re.compile(r"Sanitizer|runtime error:|Assertion|LLVM ERROR|Stack dump")
ALLOWED = re.compile(r" differ \(relative (\S+), absolute ")
# What a module says of its own results; the numbers found are left out, since rounding may differ.
CHECK = re.compile(r"error: (the check .* fails: .*?)(?:: found|; the largest|$)", re.M)
# XLA's bound for f32: sums are not in one order.
COARSE = 1e-3


def modules():
    """Every module of the corpus, or of the repository alone where there is none."""
    folders = [folder for folder in (CORPUS, ROOT / "test", ROOT / "examples") if folder.is_dir()]
    return sorted(path for folder in folders for path in folder.rglob("*")
                  if path.suffix in ENDINGS and 0 < path.stat().st_size <= LARGEST)


def changed_number(text, others, rng):
    """A number near the old one, one from elsewhere in the module or an extreme one."""
    if re.fullmatch(r"-?\d+", text):
        old = int(text)
        near = [old - 1, old + 1, -old, 2 * old, old // 2, old * 10]
        return str(rng.choice([rng.choice(near), rng.choice(NUMBERS), rng.choice(others)]))
    return rng.choice(["0", "-0.0", "1e30", "nan", "inf", "-1.5", "7", rng.choice(others)])


def changed_type(text, types, rng):
    """The word with another element type in it, or None if it has none."""
    if text in types:
        return rng.choice(types)
    dims = DIMS_AND_TYPE.match(text)
    if dims and dims.group(1) in types:
        return text[:dims.start(1)] + rng.choice(types)
    return None


def sites(tokens, types):
    """Positions of the numbers, types and names among the tokens."""
    found = {"number": [], "type": [], "name": []}
    for position, token in enumerate(tokens):
        if NUMBER.match(token):
            found["number"].append(position)
        elif NAME.match(token):
            is_type = token in types or ((dims := DIMS_AND_TYPE.match(token)) and dims.group(1) in types)
            found["type" if is_type else "name"].append(position)
    return {kind: positions for kind, positions in found.items() if positions}


def mutate_text(text, language, rng):
    """The text with one number, type or name changed: at one place, or one time in three wherever it stands."""
    tokens = TOKEN.findall(text)
    types = TYPES[language]
    found = sites(tokens, types)
    if not found:
        return text
    kind = rng.choice(sorted(found))
    position = rng.choice(found[kind])
    old = tokens[position]
    others = [tokens[k] for k in found[kind]]
    if kind == "number":
        new = changed_number(old, others, rng)
    elif kind == "type":
        new = changed_type(old, types, rng)
    else:
        family = [word for word in others if (word[0] in "%@#!^") == (old[0] in "%@#!^")]
        new = rng.choice(family)
    everywhere = rng.randrange(3) == 0
    return "".join(new if k == position or everywhere and token == old else token for k, token in enumerate(tokens))


def mutate_bytes(data, rng):
    """Bytecode with one byte, most often a small number or an index, changed."""
    changed = bytearray(data)
    position = rng.randrange(len(changed))
    old = changed[position]
    changed[position] = rng.choice([old ^ 1 << rng.randrange(8), (old + 2) % 256, (old - 2) % 256, rng.randrange(256)])
    return bytes(changed)


def mutant(path, number, seed):
    """The bytes of mutant `number` of a module."""
    rng = random.Random(f"{seed}:{path.parent.name}/{path.name}:{number}")
    data = path.read_bytes()
    if path.suffix == ".mlirbc":
        return mutate_bytes(data, rng)
    language = "mlir" if path.suffix == ".mlir" else "hlo"
    return mutate_text(data.decode("utf-8", errors="surrogateescape"), language, rng).encode(
        "utf-8", errors="surrogateescape")


def limit(seconds, memory):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def run(command, sanitized, seconds):
    """(exit status or None if it took too long, output)."""
    environment = dict(os.environ, LC_ALL="C", UBSAN_OPTIONS="print_stacktrace=1",
                       ASAN_OPTIONS="exitcode=99:allocator_may_return_null=1:hard_rss_limit_mb=4000:detect_leaks=0")
    # A sanitizer reserves terabytes of addresses, so its memory is limited in its own way.
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=4 * seconds, text=True, errors="replace", check=False,
                              preexec_fn=lambda: limit(seconds, 0 if sanitized else MEMORY))
    except subprocess.TimeoutExpired:
        return None, ""
    is_slow = done.returncode in (-9, -24)
    return (None if is_slow else done.returncode), done.stdout


def differs(path, tools, sanitized, seconds, output):
    """Whether the platforms differ by more than the order of a sum explains."""
    allowed = float(ALLOWED.search(output).group(1))
    if not 1e-7 < allowed < COARSE:
        return True
    bounds = [f"--rel_error_bound={COARSE}", f"--abs_error_bound={COARSE}"]
    status, _ = run([tools / "run_hlo_module", "--threads=2", "--exact", *bounds, path], sanitized, seconds)
    return status != 0


def judge_check(path, tools, sanitized, seconds, output):
    """A module that checks itself must fail on the interpreter as on the CPU."""
    command = [tools / "run_hlo_module", "--platform=Interpreter", "--reference_platform=", path]
    _, interpreted = run(command, sanitized, seconds)
    there = CHECK.search(interpreted)
    is_equal = there and CHECK.search(output).group(1) == there.group(1)
    return "agrees" if is_equal else "differs"


def judge_long(path, tools, sanitized, seconds):
    """A run that takes too long is the program's business, a compilation that does is ours."""
    status, output = run([tools / "heddle", "compile", path, "--emit=objects", "-o", os.devnull], sanitized, seconds)
    return "hang" if status is None else "long", output


def judge(path, tools, sanitized):
    """(verdict, output): agrees, located, long; or a finding: crash, hang, unlocated, differs."""
    seconds = CPU_SECONDS * (6 if sanitized else 1)
    status, output = run([tools / "run_hlo_module", "--threads=2", "--exact", path], sanitized, seconds)
    if status is None:
        return judge_long(path, tools, sanitized, seconds)
    if status < 0 or status >= 98 or REPORT.search(output):
        return "crash", output
    if status == 0:
        return "agrees", output
    if CHECK.search(output):
        return judge_check(path, tools, sanitized, seconds, output), output
    if ALLOWED.search(output):
        return "differs" if differs(path, tools, sanitized, seconds, output) else "agrees", output
    is_located = re.search(re.escape(path.name) + r":\d+:\d+", output) or BYTE.search(output)
    return "located" if is_located else "unlocated", output


FINDINGS = {"crash", "hang", "unlocated", "differs"}


def examine(path, number, arguments):
    """Makes one mutant and judges it; returns (verdict, name, output)."""
    data = mutant(path, number, arguments.seed)
    name = f"{path.parent.name}-{path.stem}-{arguments.seed}-{number}{path.suffix}"
    if data == path.read_bytes():
        return "same", name, ""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / name
        target.write_bytes(data)
        verdict, output = judge(target, arguments.bin, arguments.sanitized)
    if verdict in FINDINGS and arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        (arguments.keep / f"{verdict}-{name}").write_bytes(data)
    return verdict, name, output


def chosen(paths, arguments):
    """(module, mutant number) pairs: `count` of each module, or a sample of all of them."""
    pairs = [(path, number) for path in paths for number in range(arguments.count)]
    if arguments.sample and arguments.sample < len(pairs):
        pairs.sort(key=lambda pair: hashlib.sha256(f"{arguments.seed}{pair[0].name}{pair[1]}".encode()).digest())
        pairs = pairs[:arguments.sample]
    return pairs


def run_all(arguments, paths):
    """Examines the mutants; yields (verdict, name, output)."""
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        yield from pool.map(lambda pair: examine(*pair, arguments), chosen(paths, arguments))


def summary(counts):
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in
                     ("agrees", "located", "long", "same", *sorted(FINDINGS)) if counts[verdict])


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2, help="mutants of each module")
    parser.add_argument("--sample", type=int, default=0, help="at most so many mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, metavar="PATH")
    arguments = parser.parse_args(argv)
    arguments.sanitized = "dev" in arguments.bin.parts
    return arguments


def main():
    arguments = parse(None)
    counts = collections.Counter()
    for verdict, name, output in run_all(arguments, arguments.paths or modules()):
        counts[verdict] += 1
        if verdict in FINDINGS:
            print(f"--- {verdict} {name}")
            print("\n".join(output.splitlines()[-12:]), flush=True)
    print(f"{sum(counts.values())} mutants: {summary(counts)}")
    return 1 if any(counts[verdict] for verdict in FINDINGS) else 0


if __name__ == "__main__":
    sys.exit(main())
