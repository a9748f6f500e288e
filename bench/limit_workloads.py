"""Models that are measured under limits to memory beside those of workloads.py: JAX functions by name, with arguments.

What is told of them is how they run in little memory, so that they have what is hard there: a U-Net keeps the result of
every level until the way back up needs it.
"""
import jax
import jax.numpy as jnp

import tile_workloads
import workloads
from workloads import convolve, kernel_parameters, normal

WIDTHS = (32, 64, 128, 256)


def unet_parameters(g, inputs=3, classes=4):
    p = {"down": [], "up": [], "head": kernel_parameters(g, 1, WIDTHS[0], classes)}
    for width in WIDTHS:
        p["down"].append((kernel_parameters(g, 3, inputs, width), kernel_parameters(g, 3, width, width)))
        inputs = width
    for width in reversed(WIDTHS[:-1]):
        p["up"].append((kernel_parameters(g, 1, 2 * width, width), kernel_parameters(g, 3, 2 * width, width),
                        kernel_parameters(g, 3, width, width)))
    return p


def pair(x, first, second):
    return jax.nn.relu(convolve(jax.nn.relu(convolve(x, first)), second))


def unet(p, x):
    """Four levels of pairs of convolutions; each keeps its result for the way back up."""
    kept = []
    for level, weights in enumerate(p["down"]):
        if level:
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = pair(x, *weights)
        kept.append(x)
    for level, (narrow, first, second) in enumerate(p["up"]):
        x = jnp.repeat(jnp.repeat(convolve(x, narrow), 2, axis=1), 2, axis=2)
        x = pair(jnp.concatenate([x, kept[-2 - level]], axis=3), first, second)
    return convolve(x, p["head"])


WORKLOADS = {
    **{name: x for name, x in workloads.WORKLOADS.items() if x.is_model},
    "bert_base": tile_workloads.WORKLOADS["bert_base"],
    "unet": workloads.Workload(unet, lambda g: (unet_parameters(g), normal(1, 128, 128, 3)(g)), is_model=True),
}
