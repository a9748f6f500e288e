#!/usr/bin/env python3
"""Compile time beside XLA's, of the same exported modules: by hand, with JAX's Python.

    compile_time.py [--compiles=5] [--filter=REGEX] [--forms] [--stages]

Programs are those of bench/workloads.py and, behind them (with --forms these alone), forms of which compiling takes
long for what they do. Both sides compile the same bytes to something runnable, in turn, in a process that has compiled
before; of each the fastest counts, in seconds of CPU time of all threads, so that other work on the machine matters
less. What stands in the table is ours over XLA's, the worst first. --stages adds where ours goes.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy

import peer_jax
import workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent
F32, U8 = jnp.float32, jnp.uint8


def window(x, shape, strides, combine=jax.lax.max, start=-jnp.inf):
    return jax.lax.reduce_window(x, start, combine, shape, strides, "VALID")


def spec(*dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


FORMS = {
    "max_pool_2x2": (lambda x: window(x, (1, 2, 2, 1), (1, 2, 2, 1)), spec(8, 112, 112, 64)),
    "max_pool_2x2_nchw": (lambda x: window(x, (1, 1, 2, 2), (1, 1, 2, 2)), spec(8, 64, 112, 112)),
    "average_pool_2x2": (lambda x: window(x, (1, 2, 2, 1), (1, 2, 2, 1), jax.lax.add, 0.) / 4, spec(8, 56, 56, 64)),
    "max_pool_3x3": (lambda x: window(x, (1, 3, 3, 1), (1, 1, 1, 1)), spec(4, 56, 56, 32)),
    "global_average": (lambda x: x.mean(axis=(1, 2)), spec(32, 7, 7, 2048)),
    "global_average_nchw": (lambda x: x.mean(axis=(2, 3)), spec(32, 2048, 7, 7)),
    "transpose_u8": (lambda x: x.T, spec(2048, 2048, dtype=U8)),
    "transpose_bf16": (lambda x: x.T, spec(2048, 2048, dtype=jnp.bfloat16)),
    "transpose_f64": (lambda x: x.T, spec(512, 512)),
    "transpose_rank_5": (lambda x: x.transpose(4, 2, 0, 1, 3), spec(8, 16, 8, 16, 32)),
    "column_sum_short": (lambda x: x.sum(axis=0), spec(512, 512)),
    "column_max": (lambda x: x.max(axis=0), spec(1000, 77)),
    "row_sum_short": (lambda x: x.sum(axis=1), spec(512, 77)),
    "middle_sum": (lambda x: x.sum(axis=1), spec(64, 128, 96)),
    "full_sum_short": (lambda x: x.sum(), spec(1000, 1000)),
    "variance": (lambda x: x.var(axis=1), spec(512, 512)),
    "softmax_wide": (jax.nn.softmax, spec(64, 5000)),
    "log_softmax": (jax.nn.log_softmax, spec(128, 1000)),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=-1), spec(128, 1000)),
    "softmax_columns": (lambda x: jax.nn.softmax(x, axis=0), spec(512, 512)),
    "softmax_middle": (lambda x: jax.nn.softmax(x, axis=1), spec(16, 64, 96)),
    "lgamma": (jax.lax.lgamma, spec(100000)),
    "digamma": (jax.lax.digamma, spec(100000)),
    "sine": (jnp.sin, spec(100000)),
    "tangent": (jnp.tan, spec(100000)),
    "sine_cosine": (lambda x: jnp.sin(x) * jnp.cos(x), spec(100000)),
    "erf_inv": (jax.lax.erf_inv, spec(100000)),
    "power": (jnp.power, spec(100000), spec(100000)),
    "atan2": (jnp.arctan2, spec(100000), spec(100000)),
    "u8_to_f32": (lambda x: x.astype(F32), spec(1000000, dtype=U8)),
    "concatenate_3": (lambda x, y, z: jnp.concatenate([x, y, z], axis=1), spec(64, 5), spec(64, 9), spec(64, 33)),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (3, 4))), spec(500, 500)),
    "gather_rows": (lambda x, i: x[i], spec(1000, 64), spec(500, dtype=jnp.int32)),
    "scatter_add_rows": (lambda x, i, u: x.at[i].add(u), spec(1000, 64), spec(500, dtype=jnp.int32), spec(500, 64)),
    "cumsum_rows": (lambda x: jnp.cumsum(x, axis=1), spec(64, 1000)),
    "cumsum_long": (jnp.cumsum, spec(100000)),
    "argmax_rows": (lambda x: jnp.argmax(x, axis=1), spec(128, 1000)),
    "sort_rows": (lambda x: jnp.sort(x, axis=1), spec(100, 1000)),
    "top_k": (lambda x: jax.lax.top_k(x, 8), spec(100, 1000)),
    "dot_bias_relu": (lambda x, w, b: jax.nn.relu(x @ w + b), spec(64, 256), spec(256, 128), spec(128)),
    "dot_small": (lambda x, w: x @ w, spec(16, 16), spec(16, 16)),
    "batched_dot": (lambda x, w: x @ w, spec(12, 64, 64), spec(12, 64, 64)),
    "convolve_3x3": (lambda x, w: workloads.convolve(x, w), spec(1, 28, 28, 32), spec(3, 3, 32, 32)),
    "attention": (lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, axis=-1) @ v,
                  spec(12, 128, 64), spec(12, 128, 64), spec(12, 128, 64)),
    "layer_norm_short": (workloads.layer_norm, spec(64, 768), spec(768), spec(768)),
    "rms_norm": (lambda x, w: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w, spec(64, 768), spec(768)),
    "rotate": (lambda x, c, s: jnp.concatenate([x[..., :32] * c - x[..., 32:] * s, x[..., 32:] * c + x[..., :32] * s],
                                               axis=-1), spec(8, 128, 64), spec(128, 32), spec(128, 32)),
    "fft": (jnp.fft.rfft, spec(64, 1024)),
    "cholesky": (jnp.linalg.cholesky, spec(64, 64)),
    "random_normal": (lambda key: jax.random.normal(key, (1000, 100)), spec(2, dtype=jnp.uint32)),
    "mean_squared_gradient": (jax.grad(lambda w, x, y: ((x @ w - y) ** 2).mean()), spec(64, 32), spec(128, 64),
                              spec(128, 32)),
}


def programs(pattern, forms_only):
    """(name, whether it is a model, exported bytes)"""
    for name, work in [] if forms_only else workloads.WORKLOADS.items():
        if re.search(pattern, name):
            arguments = jax.eval_shape(lambda: work.make(numpy.random.default_rng(0)))
            yield name, work.is_model, export(work.function, arguments)
    for name, (function, *arguments) in FORMS.items():
        if re.search(pattern, name):
            yield name, False, export(function, arguments)


def export(function, arguments):
    return jax.export.export(jax.jit(function))(*arguments).mlir_module_serialized


def theirs(program):
    start = time.process_time()
    peer_jax.compile_exported(program)
    return time.process_time() - start


class Ours:
    """bench_kernel on one module, which has compiled it once."""

    def __init__(self, path):
        self.process = subprocess.Popen([ROOT / "build" / "bench" / "bench_kernel", path, "--unbound"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.stages = {}
        self.compile()

    def compile(self):
        self.process.stdin.write("compile\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if not words:
            sys.exit(f"compile_time.py: bench_kernel ended with status {self.process.wait()}")
        self.stages = {key: float(value) for key, value in (word.split("=") for word in words[2:])}
        return self.stages.pop("cpu")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(program, compiles):
    """(seconds of ours, of theirs, our stages)"""
    with tempfile.NamedTemporaryFile(suffix=".mlirbc") as file:
        pathlib.Path(file.name).write_bytes(program)
        ours = Ours(file.name)
        theirs(program)
        mine, peer = [], []
        for _ in range(compiles):
            mine.append((ours.compile(), ours.stages))
            peer.append(theirs(program))
        ours.end()
        best, stages = min(mine, key=lambda one: one[0])
        return best, min(peer), stages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiles", type=int, default=5)
    parser.add_argument("--filter", default="")
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--stages", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for name, is_model, program in programs(arguments.filter, arguments.forms):
        mine, peer, stages = measure(program, arguments.compiles)
        shown = " ".join(f"{key} {value * 1e3:.1f}" for key, value in sorted(stages.items(), key=lambda x: -x[1])[:6])
        rows.append((mine / peer, is_model, f"{mine / peer:6.3f} {mine * 1e3:9.2f} ms {peer * 1e3:9.2f} ms  {name}"
                     + (f"   {shown}" if arguments.stages else "")))
        print(rows[-1][2], file=sys.stderr, flush=True)
    print(" ratio        ours       XLA's  program")
    for _, _, line in sorted(rows, key=lambda row: -row[0]):
        print(line)
    for title, wanted in ("kernels", False), ("models", True):
        ratios = [ratio for ratio, is_model, _ in rows if is_model == wanted]
        if ratios:
            print(f"{len(ratios)} {title}: geometric mean {statistics.geometric_mean(ratios):.3f}, "
                  f"{sum(ratio > 1 for ratio in ratios)} above 1")


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
