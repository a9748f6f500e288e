"""NumPy as a side of bench/peers.py: the same lines on standard input and output as bench_kernel.

    peer_numpy.py WORKLOAD FOLDER    prints `ready`, or `none` where no function of NumPy is that program

Arguments are FOLDER/in0000.npy, … as peer_jax.py leaves them.
"""
import functools
import pathlib
import sys

import numpy

import peer_serve


def top(x, count):
    """The largest, in order, and where they lie: what a user of NumPy would write."""
    found = numpy.argpartition(-x, count - 1, axis=-1)[:, :count]
    values = numpy.take_along_axis(x, found, -1)
    order = numpy.argsort(-values, axis=-1, kind="stable")
    return numpy.take_along_axis(values, order, -1), numpy.take_along_axis(found, order, -1).astype(numpy.int32)


def add_rows(tokens, slopes):
    sums = numpy.zeros((32000, slopes.shape[1]), slopes.dtype)
    numpy.add.at(sums, tokens, slopes)
    return sums


FUNCTIONS = {
    "sort_1000": lambda x: numpy.sort(x, axis=-1),
    "top_k_1000": lambda x: top(x, 10),
    "top_k_short": lambda x: top(x, 4),
    "row_sum": lambda x: x.sum(axis=-1),
    "fft_1024": numpy.fft.fft,
    "u8_to_f32": lambda x: x.astype(numpy.float32),
    "cholesky_256": numpy.linalg.cholesky,
    "qr_128": lambda x: numpy.abs(numpy.linalg.qr(x)[1]),
    "transpose_42031": lambda x: numpy.ascontiguousarray(x.transpose(4, 2, 0, 3, 1)),
    "transpose_03142": lambda x: numpy.ascontiguousarray(x.transpose(0, 3, 1, 4, 2)),
    "batch_12x512": numpy.matmul,
    "embedding_gradient": add_rows,
}


def main():
    function = FUNCTIONS.get(sys.argv[1])
    if not function:
        peer_serve.refuse()
        return
    arguments = [numpy.load(path) for path in sorted(pathlib.Path(sys.argv[2]).glob("in*.npy"))]
    run = functools.partial(function, *arguments)
    peer_serve.serve(numpy.__version__, lambda: 0, lambda: run, write=lambda prefix: peer_serve.write(prefix, run()))


if __name__ == "__main__":
    main()
