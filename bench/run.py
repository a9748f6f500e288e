#!/usr/bin/env python3
"""Heddle against jax.jit on the same machine in the same run: `make bench`.

    run.py [--rounds=15] [--runs=5] [--compiles=5] [--threads=2] [--peer-python=PYTHON] [--filter=REGEX] [--no-install]
           [--exact] [--before=BENCH_KERNEL]

Each program has one process per contender (Heddle, JAX, with --exact Heddle --exact, with --before the bench_kernel of
an older build), all pinned to the same cores. They take turns: a round is a few runs of each, of which the fastest
counts; the table shows medians over the rounds and their ratio. So a machine that slows down slows all of them down.
Between its turns a process is stopped: threads of a library that spin for work after a call (OpenBLAS's in JAX do so
for longer than any pause here) would take the cores from the next contender. The peer keeps its memory between runs
(glibc's tunables below), as we keep ours. Compile time is from the bytes of the same exported module to something
runnable on both sides, for JAX in XLA's client: tracing does not count; the first compilation of a process is shown
apart, since it pays for start-up.

While it measures, standard error says how far it is. The report begins with the five programs that lose most, or win
least.

JAX comes from --peer-python, or from build/bench-venv, which is made (pip install jax) if it is not there. Without JAX
Heddle is measured alone.
"""
import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
VENV = ROOT / "build" / "bench-venv"
JAX = "jax==0.10.2"
PEER_ENVIRONMENT = {
    "GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:"
                      "glibc.malloc.top_pad=67108864:glibc.malloc.arena_max=1",
    "JAX_PLATFORMS": "cpu",
}
# What can be measured without JAX, which makes all other programs (bench/workloads.py).
KERNELS = {
    "gelu": "examples/gelu.hlo",
    "gelu_f32": "bench/kernels/gelu_f32.hlo",
    "bias_gelu_bf16": "bench/kernels/bias_gelu_bf16.hlo",
    "add_one_f32": "bench/kernels/add_one_f32.hlo",
    "exp_chain_f32": "bench/kernels/exp_chain_f32.hlo",
}
WORST = 5  # programs shown first
REST = 0.02  # seconds between turns, in which the other side's threads go to sleep


class Contender:
    """A process that answers lines."""

    def __init__(self, name, command, cpus, environment=None):
        self.name = name
        self.times = []
        self.compiles = []
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(environment or {})},
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def answer(self):
        line = self.process.stdout.readline().split()
        if not line:
            sys.exit(f"run.py: {self.name} ended with status {self.process.wait()}")
        return line

    def ask(self, line):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.process.send_signal(signal.SIGSTOP)
        return answer

    def compile(self):
        self.compiles.append(float(self.ask("compile")[1]))

    def run(self, runs, by_cpu=False, repeats=1):
        answer = self.ask(f"run {runs} {repeats}" if repeats > 1 else f"run {runs}")
        self.times.append(float(answer[2].removeprefix("cpu=") if by_cpu else answer[1]))

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()

    def median(self):
        return statistics.median(self.times)

    def median_compile(self):
        return statistics.median(self.compiles[1:] or self.compiles)


def peer_python(arguments):
    """The interpreter that has JAX, or None."""
    python = pathlib.Path(arguments.peer_python or VENV / "bin" / "python")
    if not python.exists() and not arguments.peer_python and not arguments.no_install:
        print(f"making {VENV.relative_to(ROOT)} with {JAX}", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", VENV]).returncode == 0
        if not made or subprocess.run([python, "-m", "pip", "install", "-q", JAX]).returncode != 0:
            subprocess.run(["rm", "-rf", VENV])
    if python.exists() and subprocess.run([python, "-c", "import jax"], capture_output=True).returncode == 0:
        return python
    print("JAX is not there (see bench/run.py --help): Heddle is measured alone", flush=True)
    return None


def heddle(name, kernel, folder, cpus, arguments, *flags, binary=None):
    inputs = [f"--input=@{path}" for path in sorted(folder.glob("in*.npy"))]
    exported = folder / "module.mlirbc"
    module = exported if exported.exists() else ROOT / KERNELS[kernel]
    command = [binary or arguments.bench_kernel, module, f"--threads={arguments.threads}", *inputs, *flags]
    return Contender(name, command, cpus)


def write_own_inputs(kernel, folder):
    """Arguments when there is no peer that makes them: what run_hlo_module would take is not needed, any values do."""
    text = (ROOT / KERNELS[kernel]).read_text(encoding="utf-8")
    entry = text[text.index("ENTRY"):]
    width = {"bf16": 2, "f32": 4}
    for kind, dims, number in re.findall(r"(bf16|f32)\[([\d,]+)\] parameter\((\d+)\)", entry):
        shape = tuple(int(dim) for dim in dims.split(","))
        count = 1
        for dim in shape:
            count *= dim
        header = f"{{'descr': '{'<u2' if kind == 'bf16' else '<f4'}', 'fortran_order': False, 'shape': {shape}, }}"
        header = header.ljust(117) + "\n"
        # 1.0 and 0.5 in turn
        pair = {"bf16": b"\x80\x3f\x00\x3f", "f32": b"\x00\x00\x80\x3f\x00\x00\x00\x3f"}[kind]
        data = (pair * (count // 2 + 1))[:count * width[kind]]
        prefix = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
        (folder / f"in{int(number):04}.npy").write_bytes(prefix + header.encode() + data)


def measure(kernel, flags, python, cpus, arguments):
    """Runs all contenders on one kernel, which Heddle compiles with flags; returns them and the seconds of a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        contenders = []
        if python:
            jax = Contender("jax", [python, ROOT / "bench" / "peer_jax.py", kernel, folder], cpus, PEER_ENVIRONMENT)
            jax.answer()
            contenders.append(jax)
        else:
            write_own_inputs(kernel, folder)
        ours = heddle(" ".join(["heddle", *flags]), kernel, folder, cpus, arguments, *flags)
        contenders.append(ours)
        if arguments.exact and "--exact" not in flags:
            contenders.append(heddle("heddle --exact", kernel, folder, cpus, arguments, "--exact"))
        if arguments.before:
            contenders.append(heddle("before", kernel, folder, cpus, arguments, *flags, binary=arguments.before))
        for _ in range(arguments.compiles):
            for contender in contenders:
                contender.compile()
                time.sleep(REST)
        for contender in contenders:
            contender.ask("run 3")
        for _ in range(arguments.rounds):
            for contender in contenders:
                contender.run(arguments.runs)
                time.sleep(REST)
        copy = statistics.median(float(ours.ask("copy")[1]) for _ in range(5))
        for contender in contenders[1:] if python else []:
            contender.ask(f"write {folder}/out")
            contender.difference = jax.ask(f"check {folder}/out")[1]
        for contender in contenders:
            contender.end()
        return contenders, copy


def lines_of(kernel, contenders, copy):
    """The table's lines about one program."""
    peer = contenders[0] if contenders[0].name == "jax" else None
    lines = []
    for contender in contenders:
        times = f"{contender.median() * 1e3:9.3f} ms {100 * copy / contender.median():4.0f} %"
        compiles = f"{contender.compiles[0] * 1e3:8.1f} ms {contender.median_compile() * 1e3:8.1f} ms"
        ratios = ""
        if peer and contender is not peer:
            ratios = (f" {peer.median() / contender.median():6.2f}x {peer.compiles[0] / contender.compiles[0]:6.2f}x "
                      f"{peer.median_compile() / contender.median_compile():6.2f}x   {contender.difference}")
        lines.append(f"{kernel:18} {contender.name:15} {times}   {compiles}  {ratios}")
    return lines


def listed(python, table):
    """(name, whether it is a model, Heddle's flags) of each workload that peer_jax.py has under that flag."""
    lines = subprocess.run([python, ROOT / "bench" / "peer_jax.py", table], capture_output=True, text=True,
                           env={**os.environ, **PEER_ENVIRONMENT}, check=True).stdout.splitlines()
    return [(name, kind == "model", flags) for name, kind, *flags in (line.split() for line in lines)]


def workload_list(python):
    """What can be measured, as `listed` gives it."""
    return listed(python, "--list") if python else [(name, False, []) for name in KERNELS]


def measure_all(python, cpus, arguments):
    """A row per program: its name, its lines of the table and, with a peer, how many times as fast we run and compile."""
    rows = []
    for name, is_model, flags in workload_list(python):
        if not re.search(arguments.filter, name):
            continue
        contenders, copy = measure(name, flags, python, cpus, arguments)
        row = {"name": name, "model": is_model, "lines": lines_of(name, contenders, copy)}
        if python:
            jax, ours = contenders[:2]
            row["speed"] = jax.median() / ours.median()
            row["compile"] = jax.median_compile() / ours.median_compile()
        if arguments.before:
            ours, before = contenders[1 if python else 0], contenders[-1]
            row["before"] = before.median() / ours.median()
            row["before compile"] = before.median_compile() / ours.median_compile()
        print("\n".join(row["lines"]), file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def report(rows):
    heading = (f"{'program':18} {'':15} {'run':>12} {'copy':>6}   {'1st compile':>11} {'later':>11}   {'run':>6} "
               f"{'1st':>7} {'later':>7}   differs by")
    worst = sorted((row for row in rows if "speed" in row), key=lambda row: row["speed"])[:WORST]
    if worst:
        print(f"\nthe {len(worst)} worst:\n{heading}")
        for row in worst:
            print("\n".join(row["lines"]))
    print(f"\nall:\n{heading}")
    for row in rows:
        print("\n".join(row["lines"]))


def summarise(rows):
    """Geometric means over kernels and over models."""
    for title, wanted in (("kernels", False), ("models", True)):
        chosen = [row for row in rows if row["model"] == wanted and "speed" in row]
        if not chosen:
            continue
        speed = statistics.geometric_mean(row["speed"] for row in chosen)
        build = statistics.geometric_mean(row["compile"] for row in chosen)
        slower = sum(row["speed"] < 1 for row in chosen)
        print(f"{len(chosen)} {title}: geometric mean {speed:.2f}x, {slower} slower than JAX, compile time {build:.2f}x")
    compared = [row for row in rows if "before" in row]
    if compared:
        speed = statistics.geometric_mean(row["before"] for row in compared)
        build = statistics.geometric_mean(row["before compile"] for row in compared)
        slowest = min(compared, key=lambda row: row["before"])
        print(f"{len(compared)} programs: {speed:.2f}x as fast as the older build, compiled {build:.2f}x as fast; "
              f"{slowest['name']} is slowest, {slowest['before']:.2f}x")


def check_differences(python):
    """Numbers about agreement are worth nothing where NaN counts as agreement."""
    checked = subprocess.run([python, ROOT / "bench" / "difference_test.py"], capture_output=True, text=True, check=False)
    if checked.returncode:
        sys.exit(f"run.py: bench/difference_test.py failed:\n{checked.stdout}{checked.stderr}")


def parser_of(description, rounds, runs):
    """The flags of every benchmark that has contenders take turns."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", default="", help="a regular expression that names of cases contain")
    parser.add_argument("--peer-python")
    parser.add_argument("--no-install", action="store_true")
    parser.add_argument("--before", help="the bench_kernel of an older build, measured beside this one")
    parser.add_argument("--bench-kernel", default=str(ROOT / "build" / "bench" / "bench_kernel"))
    return parser


def main():
    parser = parser_of(__doc__, rounds=15, runs=5)
    parser.add_argument("--compiles", type=int, default=5)
    parser.add_argument("--exact", action="store_true", help="measure heddle --exact, too")
    arguments = parser.parse_args()
    python = peer_python(arguments)
    cpus = set(sorted(os.sched_getaffinity(0))[:arguments.threads])
    if python:
        check_differences(python)
    print(f"cores {sorted(cpus)}, {arguments.rounds} rounds of {arguments.runs} runs; speed-ups are JAX's time over ours",
          flush=True)
    rows = measure_all(python, cpus, arguments)
    report(rows)
    summarise(rows)
    if python and CORPUS.is_dir():
        print()
        heddle = pathlib.Path(arguments.bench_kernel).parents[1] / "bin" / "heddle"
        subprocess.run([python, ROOT / "bench" / "memory.py", "--heddle", heddle],
                       env={**os.environ, "JAX_PLATFORMS": "cpu"}, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
