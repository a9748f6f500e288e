#!/usr/bin/env python3
"""Programs in which a peer was ahead of Heddle, beside all peers that have them: JAX, ONNX Runtime, NumPy and IREE.

    peers.py [--filter=REGEX] [--threads=1] [--rounds=7] [--runs=3] [--busy=N] [--before=BENCH_KERNEL]
             [--peer-python=PYTHON] [--iree-python=PYTHON] [--no-install] [--write=doc/peers.md]

Programs are those of bench/peer_workloads.py, and models once more as `NAME:frozen`: with weights as constants for JAX,
for IREE and for us, as ONNX Runtime always has them. Contenders take turns, as in run.py. The table has the fastest run
of all rounds, which others on the machine disturbed least, worst first: the best peer's time by ours. On one thread it
is the time that the processor worked, which others hardly change; with more threads the clock's.

With --busy=N as many processes spin on the same cores all the time, as on a machine that has other work: the table has
medians then.

With --write the table takes the place of the one that FILE has.

JAX, ONNX Runtime and NumPy come from --peer-python as in tiles.py, IREE from --iree-python, which may be the same; without
it IREE is not measured. It does nothing with constants, and is measured with weights as arguments alone.
"""
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import run
import tiles

SPIN = "while True: pass"
PEERS = ("jax", "ort", "numpy", "iree")
LONG = 1  # seconds; a peer that takes longer for a run is asked for one


@contextlib.contextmanager
def busy(count, cpus):
    """As many processes that never wait."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN], preexec_fn=lambda: os.sched_setaffinity(0, cpus))
                for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def names_of(python):
    for name, is_model, _ in run.listed(python, "--list-peers"):
        yield name
        if is_model:
            yield f"{name}:frozen"


def contenders_of(name, python, folder, cpus, arguments):
    """JAX first: it writes the program and its arguments."""
    bench, threads, plain = run.ROOT / "bench", arguments.threads, name.removesuffix(":frozen")
    single = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL")}
    jax = run.Contender("jax", [python, bench / "peer_jax.py", name, folder], cpus, run.PEER_ENVIRONMENT)
    jax.answer()
    found = [jax]
    tiles.join(found, run.Contender("ort", [python, bench / "peer_ort.py", plain, threads], cpus, run.PEER_ENVIRONMENT))
    numpy = [python, bench / "peer_numpy.py", plain, folder]
    tiles.join(found, run.Contender("numpy", numpy, cpus, {**run.PEER_ENVIRONMENT, **single}))
    if arguments.iree_python and name == plain:
        iree = [arguments.iree_python, bench / "peer_iree.py", folder, threads]
        tiles.join(found, run.Contender("iree", iree, cpus, run.PEER_ENVIRONMENT))
    ours = [arguments.bench_kernel, folder / "module.mlirbc", f"--threads={threads}",
            *(f"--input=@{path}" for path in sorted(folder.glob("in*.npy")))]
    found.append(run.Contender("heddle", ours, cpus))
    if arguments.before:
        found.append(run.Contender("before", [arguments.before, *ours[1:]], cpus))
    return found


def measure(name, python, cpus, arguments):
    """The time of each contender, and how far each is from JAX's results."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        contenders = contenders_of(name, python, folder, cpus, arguments)
        for contender in contenders:
            contender.compile()
            contender.warm = float(contender.ask("run 1")[1])
        for _ in range(arguments.rounds):
            for contender in contenders:
                if contender.warm < LONG or not contender.times:
                    contender.run(arguments.runs if contender.warm < LONG else 1, by_cpu=arguments.threads == 1)
                    time.sleep(run.REST / 4)
        differs = {}
        for contender in contenders[1:]:
            contender.ask(f"write {folder}/out")
            differs[contender.name] = contenders[0].ask(f"check {folder}/out")[1]
        for contender in contenders:
            contender.end()
    middle = statistics.median if arguments.busy else min
    times = {contender.name: middle(contender.times) for contender in contenders}
    peers = [peer for peer in times if peer not in ("heddle", "before")]
    return {"name": name, "times": times, "best": min(peers, key=times.get), "differs": differs}


def ratio_of(row):
    """The best peer's time by ours."""
    return row["times"][row["best"]] / row["times"]["heddle"]


def line_of(row):
    times, ours = row["times"], row["times"]["heddle"]
    columns = [f"{row['name']:26} {ours * 1e6:11.1f}"]
    for peer in (*PEERS, "before"):
        columns.append(f"{times[peer] / ours:8.2f}" if peer in times else f"{'':8}")
    return " ".join(columns) + f"  {ratio_of(row):6.2f} {row['best']:6} differs {row['differs']['heddle']}"


def report(rows):
    print(f"\n{'peer by ours':26} {'ours, us':>11} " +
          " ".join(f"{peer:>8}" for peer in (*PEERS, "before")) + "    best")
    for row in rows:
        print(line_of(row))
    for peer in PEERS:
        shared = [row["times"][peer] / row["times"]["heddle"] for row in rows if peer in row["times"]]
        if shared:
            print(f"{peer}: geometric mean of {len(shared)} {statistics.geometric_mean(shared):.2f}")


def written_line(row):
    times, ours = row["times"], row["times"]["heddle"]
    ratios = [f"{times[peer] / ours:.2f}" if peer in times else "" for peer in PEERS]
    return f"| {row['name']} | {ours * 1e6:.0f} | {ratio_of(row):.2f} {row['best']} | {' | '.join(ratios)} |\n"


def write_table(path, rows, arguments):
    """In place of the file's first table, and of the line in front of it that says how it was measured."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    last = next((number for number in range(first, len(lines)) if not lines[number].startswith("|")), len(lines))
    how = (f"Threads: {arguments.threads}. Busy processes: {arguments.busy}. Rounds: {arguments.rounds} of "
           f"{arguments.runs} runs.\n")
    names = " | ".join(PEERS)
    heading = [f"| program | ours, µs | best peer by ours | {names} |\n", "|---" * (3 + len(PEERS)) + "|\n"]
    lines[first - 2:last] = [how, "\n", *heading, *map(written_line, rows)]
    pathlib.Path(path).write_text("".join(lines), encoding="utf-8")


def main():
    parser = run.parser_of(__doc__, rounds=7, runs=3)
    parser.set_defaults(threads=1)
    parser.add_argument("--busy", type=int, default=0, help="processes that spin on the same cores")
    parser.add_argument("--iree-python", help="an interpreter that has IREE's compiler and runtime")
    parser.add_argument("--write", metavar="FILE", help="a file whose table becomes this one")
    arguments = parser.parse_args()
    python = tiles.peer_python(arguments)
    if not python:
        print("there is no peer to compare with: bench/peers.py measures nothing")
        return 0
    cpus = set(sorted(os.sched_getaffinity(0))[:arguments.threads])
    print(f"cores {sorted(cpus)}, {arguments.rounds} rounds of {arguments.runs} runs, {arguments.busy} busy processes",
          flush=True)
    rows = []
    with busy(arguments.busy, cpus):
        for name in names_of(python):
            if re.search(arguments.filter, name):
                rows.append(measure(name, python, cpus, arguments))
                print(line_of(rows[-1]), file=sys.stderr, flush=True)
    rows.sort(key=ratio_of)
    report(rows)
    if arguments.write:
        write_table(arguments.write, rows, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
