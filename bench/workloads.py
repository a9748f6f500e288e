"""What is measured: JAX functions by name, with their arguments.

Kernels are one or a few operations; models are whole programs. Arguments are pytrees; their leaves in JAX's order are
the parameters of the exported program.
"""
import jax
import jax.numpy as jnp
import numpy

GENERATOR_SEED = 42


class Workload:
    def __init__(self, function, make, is_model=False, flags=()):
        self.function = function
        self.make = make  # numpy generator -> tuple of arguments
        self.is_model = is_model
        self.flags = flags  # of Heddle: the same program, compiled in another way


WORKLOADS = {}


def normal(*shape, dtype=jnp.float32, scale=1.0):
    return lambda g: jnp.asarray(g.standard_normal(shape, dtype=numpy.float32) * scale, dtype=dtype)


def integers(low, high, *shape, dtype=jnp.int32):
    return lambda g: jnp.asarray(g.integers(low, high, shape), dtype=dtype)


def kernel(name, *makers, flags=()):
    def register(function):
        WORKLOADS[name] = Workload(function, lambda g: tuple(make(g) for make in makers), flags=flags)
        return function
    return register


def model(name, make):
    def register(function):
        WORKLOADS[name] = Workload(function, make, is_model=True)
        return function
    return register


# --- kernels

def gelu(x, root, factor):
    one, half = x.dtype.type(1), x.dtype.type(0.5)
    return x * ((jnp.tanh((x + x * x * x * x.dtype.type(factor)) * x.dtype.type(root)) + one) * half)


@kernel("gelu_exact", normal(6, 512, 4096, dtype=jnp.bfloat16), flags=("--exact",))
@kernel("gelu", normal(6, 512, 4096, dtype=jnp.bfloat16))
def _(x):
    return gelu(x, 0.79785, 0.044708)


@kernel("gelu_erf_exact", normal(6, 512, 4096, dtype=jnp.bfloat16), flags=("--exact",))
@kernel("gelu_erf", normal(6, 512, 4096, dtype=jnp.bfloat16))
def _(x):
    return jax.nn.gelu(x, approximate=False)


@kernel("gelu_erf_f32", normal(6, 512, 4096))
def _(x):
    return jax.nn.gelu(x, approximate=False)


@kernel("gelu_f32", normal(6, 512, 4096))
def _(x):
    return gelu(x, 0.79788456, 0.044715)


@kernel("bias_gelu_bf16", normal(3072, 4096, dtype=jnp.bfloat16), normal(4096, dtype=jnp.bfloat16))
def _(x, b):
    return gelu(x + b, 0.79785, 0.044708)


@kernel("add_one_f32", normal(16777216))
def _(x):
    return x + 1


@kernel("exp_chain_f32", normal(4194304))
def _(x):
    for _ in range(3):
        x = -jnp.exp(x)
    return jnp.exp(x)


@kernel("softmax", normal(4096, 1024))
def _(x):
    return jax.nn.softmax(x)


@kernel("softmax_bf16", normal(4096, 1024, dtype=jnp.bfloat16))
def _(x):
    return jax.nn.softmax(x)


@kernel("softmax_short", normal(65536, 10))
def _(x):
    return jax.nn.softmax(x)


@kernel("layer_norm", normal(4096, 1024), normal(1024), normal(1024))
def layer_norm(x, scale, bias):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + bias


@kernel("transpose_2048", normal(2048, 2048))
def _(x):
    return x.T


@kernel("transpose_4096", normal(4096, 4096))
def _(x):
    return x.T


@kernel("exp_transpose_abs", normal(20, 160, 170))
def _(x):
    return jnp.abs(jnp.transpose(jnp.exp(x), (2, 1, 0)))


@kernel("row_sum", normal(4096, 4096))
def _(x):
    return x.sum(axis=1)


@kernel("column_sum", normal(4096, 4096))
def _(x):
    return x.sum(axis=0)


@kernel("full_sum", normal(16777216))
def _(x):
    return x.sum()


@kernel("argmax", normal(4096, 1024))
def _(x):
    return jnp.argmax(x, axis=-1)


@kernel("argmax_short", normal(131072, 8))
def _(x):
    return jnp.argmax(x, axis=-1)


@kernel("max_pool", normal(8, 112, 112, 64))
def _(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@kernel("max_pool_nchw", normal(8, 64, 112, 112))
def _(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME")


@kernel("cumsum", normal(1024, 4096))
def _(x):
    return jnp.cumsum(x, axis=1)


@kernel("scatter_add", normal(65536, 64), integers(0, 65536, 32768), normal(32768, 64))
def _(x, indices, updates):
    return x.at[indices].add(updates)


@kernel("gather", normal(65536, 64), integers(0, 65536, 65536))
def _(x, indices):
    return x[indices]


@kernel("concat", normal(2048, 512), normal(2048, 256), normal(2048, 1024))
def _(x, y, z):
    return jnp.concatenate([x, y * 2, z], axis=1)


def update_cache(cache, value, position):
    return jax.lax.dynamic_update_slice(cache, value, (0, 0, position, 0))


WORKLOADS["cache_update"] = Workload(
    jax.jit(update_cache),
    lambda g: (normal(8, 12, 1024, 64)(g), normal(8, 12, 1, 64)(g), jnp.asarray(77, dtype=jnp.int32)))


@kernel("qkv_split", normal(2048, 2304))
def _(x):
    return jnp.split(x, 3, axis=1)


@kernel("dequantize_int8", integers(-128, 128, 4096, 2048, dtype=jnp.int8), normal(2048))
def _(x, scale):
    return x.astype(jnp.float32) * scale


@kernel("random_bits", integers(0, 1 << 30, 2, dtype=jnp.uint32))
def _(key):
    return jax.random.bits(jax.random.wrap_key_data(key, impl="threefry2x32"), (1024, 1024))


@kernel("sort", normal(64, 16384))
def _(x):
    return jnp.sort(x, axis=-1)


@kernel("matmul_f32", normal(1024, 1024), normal(1024, 1024))
def _(x, y):
    return x @ y


@kernel("matmul_bf16", normal(1024, 1024, dtype=jnp.bfloat16), normal(1024, 1024, dtype=jnp.bfloat16))
def _(x, y):
    return x @ y


@kernel("dense_int8", integers(-128, 128, 512, 768, dtype=jnp.int8), integers(-128, 128, 768, 3072, dtype=jnp.int8),
        normal(3072), normal(3072))
def _(x, w, scale, b):
    return jax.nn.relu(jax.lax.dot(x, w, preferred_element_type=jnp.int32) * scale + b)


def convolve(x, kernel_, stride=1, groups=1, padding="SAME"):
    return jax.lax.conv_general_dilated(x, kernel_, (stride, stride), padding,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)


@kernel("conv_bias_relu", normal(4, 56, 56, 64), normal(3, 3, 64, 64, scale=0.05), normal(64))
def _(x, w, b):
    return jax.nn.relu(convolve(x, w) + b)


@kernel("depthwise_conv", normal(4, 56, 56, 128), normal(3, 3, 1, 128))
def _(x, w):
    return convolve(x, w, groups=128)


# --- forms that were slower than XLA's or NumPy's when they were added

@kernel("depthwise_96", normal(1, 112, 112, 96), normal(3, 3, 1, 96))
def _(x, w):
    return convolve(x, w, groups=96)


@kernel("conv_3_to_32", normal(1, 224, 224, 3), normal(3, 3, 3, 32, scale=0.2))
def _(x, w):
    return convolve(x, w, 2)


@kernel("conv_64_to_256", normal(1, 56, 56, 64), normal(1, 1, 64, 256, scale=0.1))
def _(x, w):
    return convolve(x, w)


@kernel("conv_37_to_53", normal(2, 28, 28, 37), normal(3, 3, 37, 53, scale=0.1))
@kernel("conv_64_to_1", normal(1, 56, 56, 64), normal(3, 3, 64, 1, scale=0.1))
def _(x, w):
    return convolve(x, w)


@kernel("conv_nchw", normal(1, 64, 56, 56), normal(64, 64, 3, 3, scale=0.05))
def _(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")


@kernel("conv_transposed", normal(1, 28, 28, 128), normal(3, 3, 128, 64, scale=0.05))
def _(x, w):
    return jax.lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@kernel("conv_kernel_gradient", normal(4, 56, 56, 64), normal(3, 3, 64, 64), normal(4, 56, 56, 64))
def _(x, w, by_result):
    return jax.vjp(lambda w: convolve(x, w), w)[1](by_result)[0]


@kernel("convolve_1d", normal(65536), normal(63))
def _(x, w):
    return jnp.convolve(x, w, mode="same")


@kernel("sort_1000", normal(1000, 1000))
def _(x):
    return jnp.sort(x, axis=-1)


@kernel("top_k_short", normal(65536, 32))
def _(x):
    return jax.lax.top_k(x, 4)


@kernel("log_softmax_gather", normal(4096, 1000), integers(0, 1000, 4096))
def _(x, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], axis=1).mean()


@kernel("fft_small", lambda g: jax.lax.complex(normal(16384, 32)(g), normal(16384, 32)(g)))
def _(x):
    return jnp.fft.fft(x)


@kernel("rfft_odd", normal(1024, 1001))
def _(x):
    return jnp.fft.rfft(x)


@kernel("histogram", integers(0, 256, 1 << 20))
def _(x):
    return jnp.zeros(256, dtype=jnp.int32).at[x].add(1)


@kernel("segment_sum", normal(65536, 16), lambda g: jnp.sort(integers(0, 1024, 65536)(g)))
def _(x, segments):
    return jax.ops.segment_sum(x, segments, num_segments=1024)


# Values near the border differ by any amount after a few roundings: the points that stay inside are counted.
@kernel("mandelbrot", lambda g: jax.lax.complex(normal(256, 256)(g), normal(256, 256)(g)))
def _(c):
    last = jax.lax.fori_loop(0, 50, lambda _, z: jnp.where(jnp.abs(z) < 2, z * z + c, z), jnp.zeros_like(c))
    return (jnp.abs(last) < 2).sum()


@kernel("scalar_while", normal())
def _(x):
    def step(state):
        i, y = state
        return i + 1, y * 0.999 + jnp.float32(0.5) / (y * y + 1)
    return jax.lax.while_loop(lambda state: state[0] < 10000, step, (0, x))


@kernel("recurrent_matvec", normal(64, 64, scale=0.1), normal(64), normal(1000, 64))
def _(w, start, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h
    return jax.lax.scan(step, start, xs)[1]


def positive_definite(*shape):
    def make(g):
        x = normal(*shape)(g)
        return x @ jnp.swapaxes(x, -1, -2) + shape[-1] * jnp.eye(shape[-1])
    return make


@kernel("cholesky_256", positive_definite(256, 256))
def _(x):
    return jnp.linalg.cholesky(x)


@kernel("cholesky_batch", positive_definite(512, 16, 16))
def _(x):
    return jnp.linalg.cholesky(x)


# Signs of columns are free, so that only R's sizes are compared.
@kernel("qr", normal(256, 256))
def _(x):
    return jnp.abs(jnp.linalg.qr(x)[1])


@kernel("solve", positive_definite(256, 256), normal(256, 16))
def _(x, b):
    return jnp.linalg.solve(x, b)


@kernel("eigenvalues", positive_definite(128, 128))
def _(x):
    return jnp.linalg.eigvalsh(x)


@kernel("matvec_4096", normal(4096, 4096), normal(4096))
def _(x, y):
    return x @ y


@kernel("concat_short", normal(262144, 3), normal(262144, 5))
def _(x, y):
    return jnp.concatenate([x, y], axis=1)


# --- models

def dense_parameters(g, inputs, outputs):
    return {"w": normal(inputs, outputs, scale=inputs ** -0.5)(g), "b": normal(outputs, scale=0.1)(g)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def attention(p, x, heads):
    length, width = x.shape
    qkv = dense(p["qkv"], x)
    q, k, v = (part.reshape(length, heads, width // heads).transpose(1, 0, 2) for part in jnp.split(qkv, 3, axis=-1))
    scores = q @ k.transpose(0, 2, 1) / (width // heads) ** 0.5
    mask = jnp.tril(jnp.ones((length, length), dtype=bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return dense(p["out"], (weights @ v).transpose(1, 0, 2).reshape(length, width))


def attention_parameters(g, width):
    return {"qkv": dense_parameters(g, width, 3 * width), "out": dense_parameters(g, width, width)}


@model("attention_block", lambda g: (attention_parameters(g, 768), normal(256, 768)(g)))
def _(p, x):
    return x + attention(p, x, 12)


def mlp(p, x):
    return dense(p["down"], jax.nn.gelu(dense(p["up"], x)))


def mlp_parameters(g, width):
    return {"up": dense_parameters(g, width, 4 * width), "down": dense_parameters(g, 4 * width, width)}


@model("mlp_block", lambda g: (mlp_parameters(g, 768), normal(256, 768)(g)))
def _(p, x):
    return x + mlp(p, x)


def norm_parameters(g, width):
    return {"scale": normal(width, scale=0.1)(g) + 1, "bias": normal(width, scale=0.1)(g)}


def gpt2_parameters(g, layers=12, width=768, words=50257, length=64):
    return {"words": normal(words, width, scale=0.02)(g), "places": normal(length, width, scale=0.02)(g),
            "layers": [{"norm1": norm_parameters(g, width), "attention": attention_parameters(g, width),
                        "norm2": norm_parameters(g, width), "mlp": mlp_parameters(g, width)} for _ in range(layers)],
            "norm": norm_parameters(g, width)}


@model("gpt2_small", lambda g: (gpt2_parameters(g), integers(0, 50257, 64)(g)))
def _(p, tokens):
    x = p["words"][tokens] + p["places"]
    for layer in p["layers"]:
        x = x + attention(layer["attention"], layer_norm(x, **layer["norm1"]), 12)
        x = x + mlp(layer["mlp"], layer_norm(x, **layer["norm2"]))
    return layer_norm(x, **p["norm"]) @ p["words"].T


STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))


def batch_norm_parameters(g, width):
    return {"scale": normal(width, scale=0.1)(g) + 1, "bias": normal(width, scale=0.1)(g),
            "mean": normal(width, scale=0.1)(g), "variance": jnp.abs(normal(width, scale=0.1)(g)) + 1}


def batch_norm(p, x):
    return (x - p["mean"]) * jax.lax.rsqrt(p["variance"] + 1e-5) * p["scale"] + p["bias"]


def kernel_parameters(g, size, inputs, outputs):
    return normal(size, size, inputs, outputs, scale=(2 / (size * size * inputs)) ** 0.5)(g)


def bottleneck_parameters(g, inputs, width, projects):
    p = {"w1": kernel_parameters(g, 1, inputs, width), "n1": batch_norm_parameters(g, width),
         "w2": kernel_parameters(g, 3, width, width), "n2": batch_norm_parameters(g, width),
         "w3": kernel_parameters(g, 1, width, 4 * width), "n3": batch_norm_parameters(g, 4 * width)}
    if projects:
        p["w0"] = kernel_parameters(g, 1, inputs, 4 * width)
        p["n0"] = batch_norm_parameters(g, 4 * width)
    return p


def bottleneck(p, x, stride):
    y = jax.nn.relu(batch_norm(p["n1"], convolve(x, p["w1"])))
    y = jax.nn.relu(batch_norm(p["n2"], convolve(y, p["w2"], stride)))
    y = batch_norm(p["n3"], convolve(y, p["w3"]))
    if "w0" in p:
        x = batch_norm(p["n0"], convolve(x, p["w0"], stride))
    return jax.nn.relu(x + y)


def resnet_parameters(g):
    p = {"w": kernel_parameters(g, 7, 3, 64), "n": batch_norm_parameters(g, 64), "blocks": []}
    inputs = 64
    for count, width in STAGES:
        for number in range(count):
            p["blocks"].append(bottleneck_parameters(g, inputs, width, number == 0))
            inputs = 4 * width
    p["head"] = dense_parameters(g, inputs, 1000)
    return p


@model("resnet50", lambda g: (resnet_parameters(g), normal(1, 224, 224, 3)(g)))
def _(p, x):
    x = jax.nn.relu(batch_norm(p["n"], convolve(x, p["w"], 2)))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    number = 0
    for stage, (count, _) in enumerate(STAGES):
        for block in range(count):
            x = bottleneck(p["blocks"][number], x, 2 if block == 0 and stage > 0 else 1)
            number += 1
    return dense(p["head"], x.mean(axis=(1, 2)))


def lstm_parameters(g, width=256):
    return {"w": normal(2 * width, 4 * width, scale=0.05)(g), "b": normal(4 * width, scale=0.1)(g)}


@model("lstm_scan", lambda g: (lstm_parameters(g), normal(64, 16, 256)(g)))
def _(p, xs):
    def step(state, x):
        h, c = state
        i, f, o, u = jnp.split(jnp.concatenate([x, h], axis=1) @ p["w"] + p["b"], 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    start = jnp.zeros(xs.shape[1:])
    return jax.lax.scan(step, (start, start), xs)[1]


def cnn_parameters(g):
    return {"w1": kernel_parameters(g, 3, 1, 16), "w2": kernel_parameters(g, 3, 16, 32),
            "hidden": dense_parameters(g, 7 * 7 * 32, 128), "out": dense_parameters(g, 128, 10)}


def cnn_loss(p, x, labels):
    x = jax.nn.relu(convolve(x, p["w1"]))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(convolve(x, p["w2"]))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(dense(p["hidden"], x.reshape(x.shape[0], -1)))
    scores = jax.nn.log_softmax(dense(p["out"], x))
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


@model("cnn_train_step", lambda g: (cnn_parameters(g), normal(32, 28, 28, 1)(g), integers(0, 10, 32)(g)))
def _(p, x, labels):
    loss, gradients = jax.value_and_grad(cnn_loss)(p, x, labels)
    return loss, jax.tree.map(lambda old, slope: old - 0.01 * slope, p, gradients)


@model("mlp_train_step", lambda g: ([dense_parameters(g, 784, 512), dense_parameters(g, 512, 512),
                                     dense_parameters(g, 512, 10)], normal(128, 784)(g), integers(0, 10, 128)(g)))
def _(layers, x, labels):
    def loss(p):
        h = x
        for layer in p[:-1]:
            h = jax.nn.relu(dense(layer, h))
        scores = jax.nn.log_softmax(dense(p[-1], h))
        return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()
    value, slopes = jax.value_and_grad(loss)(layers)
    return value, jax.tree.map(lambda old, slope: old - 0.01 * slope, layers, slopes)


def arguments_of(name, among=None):
    return (among or WORKLOADS)[name].make(numpy.random.default_rng(GENERATOR_SEED))
