"""What bench/peers.py measures: programs in which some peer was ahead, each beside every peer that has them. Those that
other benchmarks have come from there; the functions for NumPy stand in peer_numpy.py, the graphs for ONNX Runtime in
peer_ort.py.
"""
import jax
import jax.numpy as jnp

import limit_workloads
import tile_workloads
import workloads
from workloads import Workload, integers, normal

WORKLOADS = {name: workloads.WORKLOADS[name] for name in (
    "sort_1000", "top_k_short", "log_softmax_gather", "softmax", "conv_bias_relu", "cholesky_256", "gelu_erf_f32",
    "scatter_add", "row_sum", "gpt2_small", "resnet50")}
WORKLOADS |= {name: tile_workloads.WORKLOADS[name] for name in ("dense_gelu_256x768x3072", "bert_base")}
WORKLOADS["unet"] = limit_workloads.WORKLOADS["unet"]


def kernel(name, *makers, is_model=False):
    def register(function):
        WORKLOADS[name] = Workload(function, lambda g: tuple(make(g) for make in makers), is_model=is_model)
        return function
    return register


@kernel("top_k_1000", normal(1000, 1000))
def top_k(x):
    return jax.lax.top_k(x, 10)


@kernel("fft_1024", lambda g: jax.lax.complex(normal(1024, 1024)(g), normal(1024, 1024)(g)))
def fft(x):
    return jnp.fft.fft(x)


@kernel("u8_to_f32", integers(0, 256, 1 << 24, dtype=jnp.uint8))
def u8_to_f32(x):
    return x.astype(jnp.float32)


# Signs of columns are free, so that only R's sizes are compared.
@kernel("qr_128", normal(128, 128))
def qr(x):
    return jnp.abs(jnp.linalg.qr(x)[1])


@kernel("transpose_42031", normal(8, 32, 24, 16, 40))
def transpose_42031(x):
    return x.transpose(4, 2, 0, 3, 1)


@kernel("transpose_03142", normal(8, 32, 24, 16, 40))
def transpose_03142(x):
    return x.transpose(0, 3, 1, 4, 2)


@kernel("batch_12x512", normal(12, 512, 512), normal(12, 512, 512))
def batched(x, y):
    return x @ y


@kernel("embedding_gradient", integers(0, 32000, 4096), normal(4096, 512))
def embedding_gradient(tokens, slopes):
    return jnp.zeros((32000, 512)).at[tokens].add(slopes)


def lstm_parameters(g):
    return workloads.lstm_parameters(g, width=512)


@kernel("lstm_128x512", lstm_parameters, normal(16, 128, 512), is_model=True)
def lstm(p, xs):
    return workloads.WORKLOADS["lstm_scan"].function(p, xs)
