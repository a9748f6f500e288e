#!/usr/bin/env python3
"""Who makes a product, a convolution, an attention fastest: library calls, tiles, what the planner chose, and peers.

    tiles.py [--filter=REGEX] [--threads=2] [--rounds=9] [--runs=3] [--before=BENCH_KERNEL]
             [--ways=WAY,...] [--cpu=LEVEL] [--onednn-isa=ISA] [--tables] [--peer-python=PYTHON] [--no-install]

Each case has a process for each contender, and they take turns, as in run.py: Heddle with --codegen=library, with
--codegen=tiles and as it comes (with --before the bench_kernel of an older build, too), and the peers: OpenBLAS and
oneDNN themselves (bench/peer_library.c), JAX (bench/tile_workloads.py) and ONNX Runtime with weights as constants
(bench/peer_ort.py). Right sides of products are packed beforehand for the libraries. Convolutions come twice: with
weights as parameters, which oneDNN reorders in every run where it wants that (`+weights` behind its name), and as
constants, packed once by it and by us. Images are plain on both sides, features last or first; oneDNN reorders them
where it is faster with that (`+images`). Blocks and models come twice, too: with weights as parameters, and `frozen`,
as constants for us and for JAX.

The table has the fastest run of all rounds, which others on the machine disturbed least, and how many times as fast as
the best peer each of our ways is; cases in which what was chosen is furthest behind come first. Behind it stand the geometric
means of groups of cases. The figures of src/base/target.c that the planner chooses by are such ratios.

With --cpu=x86-64-v3 (or another one) code, OpenBLAS, oneDNN and what XLA compiles keep to that level of instructions.
JAX's products of matrices do not, nor does ONNX Runtime, which is left out then; --onednn-isa limits oneDNN alone
(AVX512_CORE_BF16 leaves its AMX out). On one thread all is compared by the time that the processor worked, which others
on the machine hardly change.

The convolutions of doc/tiles.md, some minutes for each set of instructions, with --tables as they stand there:

    tiles.py --no-install --threads=1 --ways=chosen --tables --onednn-isa=AVX512_CORE_BF16 --filter='->'
    tiles.py --no-install --threads=1 --ways=chosen --tables --cpu=x86-64-v3 --filter='->.* f32'

The peers come from --peer-python, or from build/bench-venv, which is made if it is not there. Without them Heddle is
measured beside the libraries alone.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import run

ROOT = run.ROOT
ONNX = ("onnx", "onnxruntime")
WAYS = ("library", "tiles", "chosen")
# What is shorter runs several times in a row, as long as this takes: the clock takes a part of a microsecond itself.
SHORT, MOST_REPEATS = 5e-4, 50
# What oneDNN and OpenBLAS are told in their environment, by the level, as base/cpu_level.c has it; and XLA.
LEVELS = {"x86-64-v2": ("SSE41", "Nehalem", "SSE4_2"), "x86-64-v3": ("AVX2", "Haswell", "AVX2"),
          "x86-64-v4": ("AVX512_CORE", "SkylakeX", "AVX512"),
          "cooperlake": ("AVX512_CORE_BF16", "Cooperlake", "AVX512")}
TYPES = {"f32": "f32", "bf16": "f32", "s8": "s32"}
SQUARES = (16, 32, 64, 128, 256, 512, 1024, 2048)
ODD = ((17, 19, 23), (63, 65, 67), (127, 129, 131), (255, 257, 251), (509, 511, 503), (1023, 1021, 1019))
UNEVEN = ((1, 4096, 1024), (4096, 1, 1024), (8, 768, 768), (64, 768, 3072), (128, 3072, 768), (2048, 64, 64),
          (64, 2048, 64), (64, 64, 4096))
CONVOLUTIONS = (  # N, H, W, C, O, window, stride, dilation, groups
    (1, 56, 56, 64, 64, (3, 3), 1, 1, 1), (4, 28, 28, 128, 128, (3, 3), 1, 1, 1), (1, 14, 14, 256, 256, (3, 3), 1, 1, 1),
    (1, 7, 7, 512, 512, (3, 3), 1, 1, 1), (8, 56, 56, 64, 64, (3, 3), 1, 1, 1), (8, 14, 14, 256, 256, (3, 3), 1, 1, 1),
    (1, 112, 112, 32, 64, (3, 3), 2, 1, 1), (1, 56, 56, 128, 128, (3, 3), 2, 1, 1), (2, 28, 28, 37, 53, (3, 3), 1, 1, 1),
    (1, 28, 28, 128, 128, (3, 3), 1, 2, 1), (1, 28, 28, 128, 128, (3, 3), 1, 1, 32), (1, 56, 56, 64, 64, (3, 3), 1, 1, 2),
    (1, 224, 224, 3, 32, (3, 3), 2, 1, 1), (1, 224, 224, 3, 64, (7, 7), 2, 1, 1), (8, 224, 224, 3, 64, (7, 7), 2, 1, 1),
    (1, 224, 224, 3, 64, (3, 3), 1, 1, 1), (1, 56, 56, 64, 256, (1, 1), 1, 1, 1), (1, 28, 28, 512, 128, (1, 1), 1, 1, 1),
    (1, 7, 7, 512, 2048, (1, 1), 1, 1, 1), (8, 28, 28, 512, 128, (1, 1), 1, 1, 1), (1, 56, 56, 256, 512, (1, 1), 2, 1, 1),
    (1, 112, 112, 96, 96, (3, 3), 1, 1, 96), (4, 56, 56, 128, 128, (3, 3), 1, 1, 128),
    (1, 28, 28, 240, 240, (5, 5), 2, 1, 240), (1, 7, 7, 960, 960, (3, 3), 1, 1, 960),
    (1, 1, 1024, 128, 128, (1, 3), 1, 1, 1), (8, 1, 1024, 80, 512, (1, 3), 1, 1, 1), (1, 1, 16000, 1, 64, (1, 10), 5, 1, 1))


class Case:
    def __init__(self, group, name, text=None, library=None):
        self.group = group
        self.name = name
        self.text = text  # HLO; None: JAX exports the program
        self.library = library  # what bench/peer_library.c is called with; None: no library has it


def product(kind, m, n, k, turned="NN", batch=1):
    """`turned` has a T for each side that lies the other way round than the libraries are given it."""
    left, right = (f"{k},{m}" if turned[0] == "T" else f"{m},{k}"), (f"{n},{k}" if turned[1] == "T" else f"{k},{n}")
    first, of_batch = (f"{batch},", 1) if batch > 1 else ("", 0)
    contracted = [of_batch + int(turned[0] == "N"), of_batch + int(turned[1] == "T")]
    dims = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if of_batch else ""
    text = (f"HloModule p\nENTRY e {{\n  a = {kind}[{first}{left}] parameter(0)\n"
            f"  b = {kind}[{first}{right}] parameter(1)\n  ROOT d = {TYPES[kind]}[{first}{m},{n}] dot(a, b), {dims}"
            f"lhs_contracting_dims={{{contracted[0]}}}, rhs_contracting_dims={{{contracted[1]}}}\n}}\n")
    name = f"{kind} {f'{batch}x' if of_batch else ''}{m}x{n}x{k}{' ' + turned if turned != 'NN' else ''}"
    return Case(f"products of {kind}", name, text, ("product", kind, batch, m, n, k))


def literal(dims, first=0):
    """Numbers of a pattern, none of them zero, as HLO writes an array; `first` says where in the pattern it begins."""
    pattern = ("1", "-0.5", "0.25", "1.5", "-0.75")
    if len(dims) == 1:
        return "{" + ", ".join(pattern[(first + k) % len(pattern)] for k in range(dims[0])) + "}"
    inner = [literal(dims[1:], k) for k in range(len(pattern))]
    return "{" + ", ".join(inner[(first + k) % len(pattern)] for k in range(dims[0])) + "}"


def convolution(n, h, w, c, o, window, stride, dilation, groups, kind="f32", is_planar=False, is_constant=False):
    """Images lie [N, H, W, C], or planar: [N, C, H, W], weights [O, I, H, W]. With a height of 1 it is of one dim."""
    def sides(size, window):
        padding = max(0, (-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size)
        return f"{padding // 2}_{padding - padding // 2}"
    spatial = [k for k, size in enumerate((h, w)) if k or size > 1 or window[k] > 1]
    image, out = [(h, w)[k] for k in spatial], [-(-(h, w)[k] // stride) for k in spatial]
    windows = [window[k] for k in spatial]
    digits = "".join(str(k) for k in range(len(spatial)))
    image, weights, result = (n, *image, c), (*windows, c // groups, o), (n, *out, o)
    labels = f"b{digits}f_{digits}io->b{digits}f"
    if is_planar:
        image, weights, result = (n, c, *image[1:-1]), (o, c // groups, *windows), (n, o, *out)
        labels = f"bf{digits}_oi{digits}->bf{digits}"
    attributes = [f"{name}={'x'.join(str(value) for k in spatial)}"
                  for name, value in (("stride", stride), ("rhs_dilate", dilation)) if value > 1]
    attributes.append("pad=" + "x".join(sides((h, w)[k], window[k]) for k in spatial))
    image, array, result = (f"{kind}[{','.join(map(str, dims))}]" for dims in (image, weights, result))
    weights = f"constant({literal(weights)})" if is_constant else "parameter(1)"
    text = (f"HloModule c\nENTRY e {{\n  a = {image} parameter(0)\n  b = {array} {weights}\n"
            f"  ROOT d = {result} convolution(a, b), "
            f"window={{size={'x'.join(map(str, windows))} {' '.join(attributes)}}}, "
            f"dim_labels={labels}, feature_group_count={groups}\n}}\n")
    layout, given = "first" if is_planar else "last", "constant" if is_constant else "parameter"
    name = (f"{window[0]}x{window[1]} {n}x{h}x{w}x{c}->{o} /{stride}{f' dilated {dilation}' if dilation > 1 else ''}"
            f"{f' groups {groups}' if groups > 1 else ''} {kind} {'NCHW' if is_planar else 'NHWC'} {given}")
    return Case(f"{kind} {'NCHW' if is_planar else 'NHWC'}, weights as {given}", name, text,
                (layout, given, kind, n, h, w, c, o, *window, stride, dilation, groups))


def all_cases(python):
    cases = [product("f32", *sizes) for sizes in (*((n, n, n) for n in SQUARES), *ODD, *UNEVEN)]
    cases += [product(kind, *sizes) for kind in ("bf16", "s8") for sizes in (*((n, n, n) for n in SQUARES), *ODD)]
    cases += [product(kind, 512, 512, 512, turned) for kind in TYPES for turned in ("NT", "TN", "TT")]
    cases += [product("f32", *sizes, "NT") for sizes in (*ODD[-2:], *UNEVEN)]
    cases += [convolution(*sizes, kind, is_planar, is_constant) for kind in ("f32", "bf16")
              for is_planar in (False, True) for is_constant in (False, True) for sizes in CONVOLUTIONS]
    for name, is_model, _ in run.listed(python, "--list-tiles") if python else ():
        cases.append(Case("models" if is_model else name.split("_")[0], name))
        if is_model:
            cases.append(Case("frozen models", f"{name}:frozen"))
    return cases


def peer_python(arguments):
    """The interpreter that has JAX and ONNX Runtime, or None."""
    python = run.peer_python(arguments)
    there = [str(python), "-c", "import onnx, onnxruntime"]
    if not python or subprocess.run(there, capture_output=True).returncode == 0:
        return python
    if not arguments.peer_python and not arguments.no_install:
        subprocess.run([python, "-m", "pip", "install", "-q", *ONNX], check=False)
    if subprocess.run(there, capture_output=True).returncode == 0:
        return python
    print("ONNX Runtime is not there (see bench/tiles.py --help): it is not measured", flush=True)
    return python


def join(contenders, contender):
    """Takes in a peer that says that it has such an operation."""
    answer = contender.answer()
    if answer[0] == "ready":
        contender.way = " ".join(answer[1:])
        contenders.append(contender)
    else:
        contender.process.wait()


def peers_of(case, python, folder, cpus, arguments):
    peers = []
    # A thread that spins at a barrier on the core of the one that it waits for makes milliseconds of microseconds.
    threads = {"OMP_NUM_THREADS": str(arguments.threads), "OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}
    if arguments.cpu:
        threads |= dict(zip(("ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE"), LEVELS[arguments.cpu]))
    if arguments.onednn_isa:
        threads["ONEDNN_MAX_CPU_ISA"] = arguments.onednn_isa
    for library in ("openblas", "onednn") if case.library else ():
        words = [pathlib.Path(arguments.bench_kernel).parent / "peer_library", library, *case.library]
        join(peers, run.Contender(library, words, cpus, threads))
    if case.text:
        return peers
    jax = dict(run.PEER_ENVIRONMENT)
    if arguments.cpu:
        jax["XLA_FLAGS"] = f"--xla_cpu_max_isa={LEVELS[arguments.cpu][2]}"
    join(peers, run.Contender("jax", [python, ROOT / "bench" / "peer_jax.py", case.name, folder], cpus, jax))
    if not arguments.cpu:
        words = [python, ROOT / "bench" / "peer_ort.py", case.name.removesuffix(":frozen"), arguments.threads]
        join(peers, run.Contender("ort", words, cpus, run.PEER_ENVIRONMENT))
    return peers


def ours_of(case, folder, cpus, arguments):
    module, inputs = folder / "module.mlirbc", [f"--input=@{path}" for path in sorted(folder.glob("in*.npy"))]
    if case.text:
        module, inputs = folder / "module.hlo", ["--random"]
        module.write_text(case.text, encoding="utf-8")
    words = [module, f"--threads={arguments.threads}", *inputs, *([f"--cpu={arguments.cpu}"] if arguments.cpu else [])]
    flags = {way: [] if way == "chosen" else [f"--codegen={way}"] for way in WAYS}
    ours = [run.Contender(way, [arguments.bench_kernel, *words, *flags[way]], cpus) for way in arguments.ways]
    if arguments.before:
        ours.append(run.Contender("before", [arguments.before, *words], cpus))
    return ours


def differences(case, contenders, folder):
    """The largest difference from JAX's results of each contender that writes some."""
    jax = next((c for c in contenders if c.name == "jax"), None)
    found = []
    for contender in contenders if jax else ():
        if contender is jax:
            continue
        contender.ask(f"write {folder}/out")
        found.append((float(jax.ask(f"check {folder}/out")[1]), contender.name))
    return max(found, default=None)


def measure(case, python, cpus, arguments):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers = peers_of(case, python, folder, cpus, arguments)
        contenders = peers + ours_of(case, folder, cpus, arguments)
        for contender in contenders:
            contender.compile()
        shortest = min(float(contender.ask("run 3")[1]) for contender in contenders)
        repeats = max(1, min(MOST_REPEATS, int(SHORT / shortest)))
        for _ in range(arguments.rounds):
            for contender in contenders:
                contender.run(arguments.runs, by_cpu=arguments.threads == 1, repeats=repeats)
                time.sleep(run.REST / 4)
        worst = differences(case, contenders, folder)
        for contender in contenders:
            contender.end()
    times = {contender.name: min(contender.times) for contender in contenders}
    best = min(peers, key=lambda peer: times[peer.name], default=None)
    return {"case": case, "times": times, "peer": best.name if best else None, "way": best.way if best else "",
            "differs": worst}


def line_of(row, arguments):
    times, peer = row["times"], row["peer"]
    ways = [*arguments.ways, *(["before"] if arguments.before else [])]
    columns = [f"{row['case'].name:54}", f"{peer or '-':9}{times[peer] * 1e6 if peer else 0:11.1f}"]
    columns += [f"{times[way] * 1e6:11.1f}" for way in ways]
    columns += [f"{times[peer] / times[way]:8.2f}" if peer else f"{'':8}" for way in ways]
    if row["differs"]:
        columns.append(f"  {row['differs'][0]:.2g} ({row['differs'][1]})")
    if row["way"]:
        columns.append(f"  {row['way']}")
    return " ".join(columns)


def report(rows, arguments):
    ways = [*arguments.ways, *(["before"] if arguments.before else [])]
    print(f"\n{'microseconds':54} {'best peer':>20} " + " ".join(f"{way:>11}" for way in ways) + " " +
          " ".join(f"{way:>8}" for way in ways) + "   differs from JAX by at most")
    by_chosen = [row for row in rows if row["peer"]]
    by_chosen.sort(key=lambda row: row["times"][row["peer"]] / row["times"]["chosen"])
    for row in by_chosen + [row for row in rows if not row["peer"]]:
        print(line_of(row, arguments))
    print(f"\n{'geometric means of speed-ups':54} {'cases':>6} " + " ".join(f"{way:>8}" for way in ways))
    for group in dict.fromkeys(row["case"].group for row in by_chosen):
        some = [row for row in by_chosen if row["case"].group == group]
        means = [statistics.geometric_mean(row["times"][row["peer"]] / row["times"][way] for row in some)
                 for way in ways]
        print(f"{group:54} {len(some):6} " + " ".join(f"{mean:8.2f}" for mean in means))


def tables(rows, aim=0.85):
    """The same as doc/tiles.md has it: groups of cases, and those behind the aim, worst first."""
    speeds = [(row["times"][row["peer"]] / row["times"]["chosen"], row) for row in rows if row["peer"]]
    print(f"\n| | cases | geometric mean | least | below {aim} |\n|---|---|---|---|---|")
    for group in dict.fromkeys(row["case"].group for _, row in speeds):
        some = [speed for speed, row in speeds if row["case"].group == group]
        print(f"| {group} | {len(some)} | {statistics.geometric_mean(some):.2f} | {min(some):.2f} | "
              f"{sum(speed < aim for speed in some)} |")
    print("\n| case | the best peer's time by ours | ours, us | the peer's way |\n|---|---|---|---|")
    for speed, row in sorted(speeds, key=lambda pair: pair[0]):
        if speed < aim:
            print(f"| {row['case'].name} | {speed:.2f} | {row['times']['chosen'] * 1e6:.1f} | {row['way']} |")


def main():
    parser = run.parser_of(__doc__, rounds=9, runs=3)
    parser.add_argument("--tables", action="store_true", help="print doc/tiles.md's tables, too")
    parser.add_argument("--cpu", choices=LEVELS, help="the instruction set that code and libraries keep to")
    parser.add_argument("--onednn-isa", help="what oneDNN keeps to, as ONEDNN_MAX_CPU_ISA has it")
    parser.add_argument("--ways", default=",".join(WAYS), help="ours that are measured, `chosen` among them")
    arguments = parser.parse_args()
    arguments.ways = arguments.ways.split(",")
    python = peer_python(arguments)
    cpus = set(sorted(os.sched_getaffinity(0))[:arguments.threads])
    print(f"cores {sorted(cpus)}, {arguments.rounds} rounds of {arguments.runs} runs", flush=True)
    rows = []
    for case in all_cases(python):
        if re.search(arguments.filter, case.name):
            rows.append(measure(case, python, cpus, arguments))
            print(line_of(rows[-1], arguments), file=sys.stderr, flush=True)
    report(rows, arguments)
    if arguments.tables:
        tables(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
