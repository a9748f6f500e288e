#!/usr/bin/env python3
"""HLO modules of XLA's own tests: which of those that XLA's parser takes are taken here, and which of a sample agree.

    xla_modules.py SOURCES [--sample=400] [--seed=1,…] [--limit=15] [--memory=GB] [--jobs=2] [--bin=build/bin]
                   [--keep=FOLDER]

SOURCES is a folder with XLA's sources, or a bare git directory of them. A module is a raw string of a *_test.cc with a
header or an ENTRY, or a file *.hlo, *.hlotxt or *.txt with one; equal ones count once. XLA's parser, JAX's, is asked
first; hlo-opt says whether ours reads and verifies a module. A sample of those that both take runs with run_hlo_module:
on the CPU and on the interpreter, with made-up arguments and XLA's bounds. Each becomes one of the classes of `CLASSES`;
those that nobody could run alone, in the time and in the memory at hand are counted apart from those that should
agree and do not. The limit is in seconds of a processor, the memory what each of the jobs may take (its share of three
quarters of the machine's).

Prints figures, and what was refused or failed by its message, most frequent first. With --keep the modules, numbered,
and a line for each with what became of it stay in FOLDER. Exit status 77 without JAX.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

RAW_STRING = re.compile(r'R"([^()\\\s]{0,16})\((.*?)\)\1"', re.S)
IS_MODULE = re.compile(r"^\s*(?:HloModule\b|ENTRY\b)", re.M)
HOLE = re.compile(r"\$\d|\$\{|%\d*\$?[sdu](?=[\s,\])}:]|$)", re.M)  # text that a test fills in later

# Answers a line for each path it reads: "1" if XLA's parser takes the file, else "0" and what it says.
XLA_WORKER = """
import sys
from jaxlib import _hlo
print("ready", flush=True)
for line in sys.stdin:
    try:
        _hlo.hlo_module_from_text(open(line.strip(), encoding="utf-8").read())
        print("1", flush=True)
    except Exception as e:
        print("0", " ".join(str(e).split())[:300], flush=True)
"""


def sources(place):
    """(path, text) of every file that may hold modules."""
    def wanted(path):
        return path.endswith(("_test.cc", ".hlo", ".hlotxt", ".txt")) and "CMakeLists" not in path
    if (place / "HEAD").is_file():
        git = ["git", f"--git-dir={place}"]
        listed = subprocess.run([*git, "ls-tree", "-r", "HEAD"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 3) for line in listed.splitlines()]
        rows = [(path, blob) for _, kind, blob, path in rows if kind == "blob" and wanted(path)]
        with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            for path, blob in rows:
                reader.stdin.write(blob.encode() + b"\n")
                reader.stdin.flush()
                header = reader.stdout.readline().split()
                if header[1:2] != [b"blob"]:
                    continue
                yield path, reader.stdout.read(int(header[2]) + 1).decode(errors="replace")
            reader.stdin.close()
        return
    for path in sorted(place.rglob("*")):
        if path.is_file() and wanted(path.name):
            yield str(path.relative_to(place)), path.read_text(errors="replace")


def modules(place):
    """Text of each distinct module, and the file it is first found in."""
    found = {}
    for path, text in sources(place):
        texts = [m[2] for m in RAW_STRING.finditer(text)] if path.endswith(".cc") else [text]
        for t in texts:
            if IS_MODULE.search(t) and not HOLE.search(t):
                found.setdefault(t.strip() + "\n", path)
    return found


class XlaParser:
    """XLA's parser in a process of its own, since it ends the process for some texts."""

    def __init__(self):
        self.worker = None

    def takes(self, path):
        """Whether it takes the file."""
        if self.worker is None or self.worker.poll() is not None:
            self.worker = subprocess.Popen([sys.executable, "-c", XLA_WORKER], stdin=subprocess.PIPE, text=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if self.worker.stdout.readline() != "ready\n":
                sys.exit(77)
        self.worker.stdin.write(f"{path}\n")
        self.worker.stdin.flush()
        answer = self.worker.stdout.readline()
        if not answer:
            self.worker.wait()
        return answer.startswith("1")


# Floating-point operations of a module, as XLA's cost analysis counts them for one device: a loop of unknown length once.
XLA_OPERATIONS = """
import sys
from jaxlib import _hlo, _jax
module = _hlo.hlo_module_from_text(open(sys.argv[1], encoding="utf-8").read())
print(_jax.hlo_module_cost_analysis(_jax.get_tfrt_cpu_client(), module).get("flops", 0))
"""
DEVICES = re.compile(r"\b(?:num_partitions|replica_count)=(\d+)")
# What a core with two 256-bit multipliers does in a second at 3 GHz, in double precision, in which the reference sums,
# and in single precision, for the program.
DOUBLE_OPERATIONS, SINGLE_OPERATIONS = 4.8e10, 9.6e10

WAITING = 20  # times as long as it may compute, as others may compute too
SHORT = 4  # seconds of a processor, within which most modules have run and a loop without an end is found out
TOO_LONG, TOO_LARGE = 124, 125  # exit statuses of `call` beside the tools' own

# What becomes of a module that is run. The first three are the ones that can be asked for.
CLASSES = {
    "agree": "agree with the interpreter",
    "wrong": "differ from it",
    "other": "are refused or fail",
    "slow": "take longer than {limit:g} s",
    "exact": "differ as roundings are left out, and agree with --exact",
    "library": "need a vendor's library, a routine of the host's or a host",
    "endless": "never end, as the interpreter proves",
    "large": "need more than {memory:.1f} GB",
    "heavy": "need more arithmetic than a core has in {limit:g} s, as XLA counts it",
}
NOT_ASKED_FOR = ("library", "endless", "large", "heavy")
NEEDS_OTHERS = re.compile(r"the target .* of a custom call is unknown|calls back into the host")
NEEDS_MEMORY = re.compile(r"no memory (?:for|to)|takes \d+ bytes, .*the limit")


def call(command, limit, memory):
    """Exit status and the first line with an error. Running out of time or memory, in seconds of a processor and in
    bytes, is a status of its own."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=WAITING * limit, check=False, preexec_fn=bound)
    except subprocess.TimeoutExpired:
        return TOO_LONG, f"waited more than {WAITING * limit:g} s"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return TOO_LONG, f"took more than {limit:g} s"
    if done.returncode < 0:
        return done.returncode, f"ended by signal {-done.returncode}"
    lines = [line for line in done.stderr.splitlines() if "error:" in line or "mismatch:" in line]
    message = (lines or done.stderr.splitlines() or [""])[0]
    return TOO_LARGE if done.returncode and NEEDS_MEMORY.search(message) else done.returncode, message


def is_heavy(module, limit):
    """Whether what XLA counts cannot be done in the time, once as a program and once by the reference."""
    done = subprocess.run([sys.executable, "-c", XLA_OPERATIONS, module], capture_output=True, text=True, check=False)
    try:
        operations = float(done.stdout)
    except ValueError:
        return False
    header = module.read_text(encoding="utf-8").lstrip().split("\n", 1)[0]
    for count in DEVICES.findall(header):
        operations *= int(count)
    return operations / SINGLE_OPERATIONS + operations / DOUBLE_OPERATIONS > limit


def become(binaries, module, limit, memory):
    """The class of a module that is run, and what was said."""
    tool = binaries / "run_hlo_module"
    short = min(SHORT, limit)
    code, message = call([tool, module], short, memory)
    said = ""
    if code and "mismatch:" not in message:
        _, said = call([tool, module, "--platform=Interpreter", "--reference_platform="], short, memory)
        if "the loop never ends" in said:
            return "endless", said
    if code == TOO_LONG:
        code, message = call([tool, module], limit, memory)
    if "mismatch:" in message and call([tool, module, "--exact"], limit, memory)[0] == 0:
        return "exact", message
    if code == TOO_LONG:
        return "heavy" if is_heavy(module, limit) else "slow", message
    if code == TOO_LARGE:
        return "large", message
    if NEEDS_OTHERS.search(message) or NEEDS_OTHERS.search(said):
        return "library", message
    return "agree" if not code else "wrong" if "mismatch:" in message else "other", message


def message_class(message):
    """The message without what differs from module to module."""
    message = re.sub(r"^.*?(error|mismatch): ", r"\1: ", message)
    message = re.sub(r"'[^']*'", "'…'", message)
    message = re.sub(r"\b(?:pred|token|bf16|[fsuc]\d\w*)\[[^\]]*\](?:\{[^}]*\})?", "SHAPE", message)
    return re.sub(r"-?\d[\d.e+-]*", "N", message)[:120]


def report(title, failures):
    """Classes of messages, the most frequent first, with an example each."""
    classes = collections.defaultdict(list)
    for name, message in failures:
        classes[message_class(message)].append(name)
    if classes:
        print(f"{title}:")
    for text, names in sorted(classes.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names):4} {text} [{', '.join(names[:3])}]")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("sources", type=pathlib.Path)
    options.add_argument("--sample", type=int, default=400)
    options.add_argument("--seed", type=lambda text: [int(word) for word in text.split(",")], default=[1])
    options.add_argument("--limit", type=float, default=15)
    options.add_argument("--memory", type=float)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    options.add_argument("--keep", type=pathlib.Path)
    flags = options.parse_args()
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    flags.memory = int(flags.memory * 1e9 if flags.memory else machine * 3 / 4 / flags.jobs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = flags.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measure(flags, folder)


def measure(flags, folder):
    """All of it; the modules lie in `folder`."""
    xla, accepted, origin = XlaParser(), [], {}
    found = modules(flags.sources)
    for number, (text, path) in enumerate(found.items()):
        name = f"{number:05}.hlo"
        (folder / name).write_text(text, encoding="utf-8")
        origin[name] = path
        if xla.takes(folder / name):
            accepted.append(name)
    print(f"{len(found)} modules, {len(accepted)} taken by XLA's parser", flush=True)
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        answers = list(pool.map(lambda n: call([flags.bin / "hlo-opt", folder / n], flags.limit, flags.memory),
                                accepted))
        refused = [(n, message) for n, (code, message) in zip(accepted, answers) if code]
        taken = [n for n, (code, _) in zip(accepted, answers) if not code]
        print(f"{len(taken)} of them ({100 * len(taken) / max(1, len(accepted)):.1f} %) are taken here", flush=True)
        report("refused", refused)
        rows = [(n, "refused", message) for n, message in refused]
        for seed in flags.seed:
            sample = sorted(random.Random(seed).sample(taken, min(flags.sample, len(taken))))
            runs = list(pool.map(lambda n: become(flags.bin, folder / n, flags.limit, flags.memory), sample))
            outcomes = [(n, *outcome) for n, outcome in zip(sample, runs)]
            print(f"{len(sample)} of them run, seed {seed}:")
            show(flags, outcomes)
            rows += outcomes
    if flags.keep:
        lines = [f"{n}\t{kind}\t{origin[n]}\t{message}\n" for n, kind, message in rows]
        (folder / "outcome.tsv").write_text("".join(lines), encoding="utf-8")


def show(flags, outcomes):
    """The figures of a sample."""
    counts = collections.Counter(kind for _, kind, _ in outcomes)
    for kind, title in CLASSES.items():
        print(f"  {counts[kind]:4} {title.format(limit=flags.limit, memory=flags.memory / 1e9)}")
    asked = len(outcomes) - sum(counts[kind] for kind in NOT_ASKED_FOR)
    print(f"{counts['agree']} of the {asked} that run alone, end and fit ({100 * counts['agree'] / max(1, asked):.1f} %) "
          "agree")
    report("did not", [(n, message) for n, kind, message in outcomes if kind != "agree"])
    sys.stdout.flush()


if __name__ == "__main__":
    main()
