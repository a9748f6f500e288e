"""What bench/tiles.py measures beside single products and convolutions: products with work behind them, attention and
models, as JAX functions. The blocks and GPT-2 are those of workloads.py.
"""
import jax
import jax.numpy as jnp

import workloads
from workloads import Workload, dense, dense_parameters, integers, normal

WORKLOADS = {name: workloads.WORKLOADS[name] for name in ("mlp_block", "attention_block", "gpt2_small")}


def register(name, function, *makers, is_model=False):
    WORKLOADS[name] = Workload(function, lambda g: tuple(make(g) for make in makers), is_model=is_model)


# --- products: those that neither library has on every machine, and those with work behind them

def product(x, w):
    return jax.lax.dot(x, w, preferred_element_type=jnp.float32)


def batched(x, y):
    return jnp.einsum("bmk,bkn->bmn", x, y)


def dense_gelu(p, x):
    return jax.nn.gelu(dense(p, x))


def dense_relu(p, x):
    return jax.nn.relu(dense(p, x))


def dense_residual(p, x, y):
    return y + jax.nn.silu(dense(p, x))


def dense_norm(p, x, scale, bias):
    return workloads.layer_norm(dense(p, x), scale, bias)


def dense_softmax(p, x):
    return jax.nn.softmax(dense(p, x))


def weights(inputs, outputs):
    return lambda g: dense_parameters(g, inputs, outputs)


for size in (16, 64, 127, 256, 512, 1024, 2048):
    register(f"product_bf16_{size}", product, normal(size, size, dtype=jnp.bfloat16),
             normal(size, size, dtype=jnp.bfloat16))
for size in (8, 16, 32, 64):
    register(f"batch_256x{size}", batched, normal(256, size, size), normal(256, size, size))
for rows, inputs, outputs in ((16, 64, 64), (64, 256, 256), (128, 512, 512), (256, 768, 3072)):
    sizes = f"{rows}x{inputs}x{outputs}"
    register(f"dense_relu_{sizes}", dense_relu, weights(inputs, outputs), normal(rows, inputs))
    register(f"dense_gelu_{sizes}", dense_gelu, weights(inputs, outputs), normal(rows, inputs))
    register(f"dense_residual_{sizes}", dense_residual, weights(inputs, outputs), normal(rows, inputs),
             normal(rows, outputs))
    register(f"dense_norm_{sizes}", dense_norm, weights(inputs, outputs), normal(rows, inputs), normal(outputs),
             normal(outputs))
    register(f"dense_softmax_{sizes}", dense_softmax, weights(inputs, outputs), normal(rows, inputs))


# --- attention: [1, heads, length, width of a head]

def attention(q, k, v, is_causal=False):
    groups = q.shape[1] // k.shape[1]
    k, v = (jnp.repeat(x, groups, axis=1) if groups > 1 else x for x in (k, v))
    scores = q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], dtype=bool)), scores, -jnp.inf)
    return jax.nn.softmax(scores) @ v


def causal_attention(q, k, v):
    return attention(q, k, v, is_causal=True)


def sink_attention(q, k, v, sinks):
    """Each head has a score without a key."""
    scores = q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], dtype=bool)), scores, -jnp.inf)
    sink = jnp.broadcast_to(sinks[None, :, None, None], (*scores.shape[:3], 1))
    return jax.nn.softmax(jnp.concatenate([scores, sink], -1))[..., :-1] @ v


for name, function, heads, keys, length in (("attention_12x512x64", attention, 12, 12, 512),
                                            ("attention_1x4096x64", attention, 1, 1, 4096),
                                            ("attention_causal_12x512x64", causal_attention, 12, 12, 512),
                                            ("attention_causal_1x4096x64", causal_attention, 1, 1, 4096),
                                            ("attention_grouped_12_3x512x64", causal_attention, 12, 3, 512)):
    register(name, function, normal(1, heads, length, 64), normal(1, keys, length, 64), normal(1, keys, length, 64))
register("attention_sinks_12x512x64", sink_attention, *[normal(1, 12, 512, 64)] * 3, normal(12))


# --- BERT: norms behind the residuals, a mask that is added to the scores

BERT_HEADS = 12


def bert_parameters(g, layers=12, width=768, words=30522, length=128):
    return {"words": normal(words, width, scale=0.02)(g), "places": normal(length, width, scale=0.02)(g),
            "norm": workloads.norm_parameters(g, width),
            "layers": [{"attention": workloads.attention_parameters(g, width),
                        "norm1": workloads.norm_parameters(g, width), "mlp": workloads.mlp_parameters(g, width),
                        "norm2": workloads.norm_parameters(g, width)} for _ in range(layers)]}


def bert_attention(p, x, mask):
    length, width = x.shape
    parts = jnp.split(dense(p["qkv"], x), 3, axis=-1)
    q, k, v = (part.reshape(length, BERT_HEADS, width // BERT_HEADS).transpose(1, 0, 2) for part in parts)
    scores = q @ k.transpose(0, 2, 1) / (width // BERT_HEADS) ** 0.5 + mask
    return dense(p["out"], (jax.nn.softmax(scores) @ v).transpose(1, 0, 2).reshape(length, width))


def bert(p, tokens, mask):
    x = workloads.layer_norm(p["words"][tokens] + p["places"], **p["norm"])
    for layer in p["layers"]:
        x = workloads.layer_norm(x + bert_attention(layer["attention"], x, mask), **layer["norm1"])
        hidden = jax.nn.gelu(dense(layer["mlp"]["up"], x), approximate=False)
        x = workloads.layer_norm(x + dense(layer["mlp"]["down"], hidden), **layer["norm2"])
    return x


register("bert_base", bert, bert_parameters, integers(0, 30522, 128),
         lambda g: jnp.where(jnp.arange(128) < 100, 0, -1e9).astype(jnp.float32), is_model=True)
