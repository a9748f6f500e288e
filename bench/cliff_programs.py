"""Programs at random for bench/cliffs.py: each a JAX function with its arguments, made from a seed.

A program is one operation of a family, in two of three cases with elementwise operations before or behind it, on arrays
of 1 to 10^7 elements whose dims are powers of two, round, odd or prime as often.
"""
import math
import random

import jax
import jax.numpy as jnp
import numpy
from jax import lax

FLOATS = ["float32"] * 6 + ["bfloat16"] * 2 + ["float16", "float64"]
WHOLE = ["int32"] * 3 + ["int8", "uint8", "int16", "int64", "uint32", "uint64"]
NICE = [2, 3, 4, 7, 8, 13, 16, 17, 31, 32, 60, 64, 97, 100, 127, 128, 129, 224, 251, 256, 257, 500, 512, 1000, 1021, 1024,
        2048, 4096, 4099, 65536, 100003, 1048576]
MOST = 10**7


class Maker:
    """What is drawn for one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = numpy.random.default_rng(seed)
        self.arguments = []

    def pick(self, choices):
        return self.random.choice(choices)

    def dims(self, rank=None, most=None):
        """Dims of about as many elements as are drawn, on a scale of powers."""
        rank = self.pick([1, 2, 2, 3, 3, 4]) if rank is None else rank
        left = most or int(10 ** self.random.uniform(0, math.log10(MOST)))
        dims = []
        for k in range(rank):
            share = left ** (1 / (rank - k)) * self.random.choice([0.25, 1, 1, 4])
            fits = [n for n in NICE if n <= max(1, min(left, share))] or [1]
            dims.append(fits[-1 - min(self.random.randrange(3), len(fits) - 1)])
            left = max(1, left // dims[-1])
        self.random.shuffle(dims)
        return tuple(dims)

    def array(self, dims, kind):
        """An argument; returns its number."""
        if kind == "bool":
            value = self.values.integers(0, 2, dims).astype(bool)
        elif jnp.issubdtype(kind, jnp.integer):
            value = self.values.integers(0, 100, dims).astype(kind)
        elif jnp.issubdtype(kind, jnp.complexfloating):
            value = (self.values.standard_normal(dims) + 1j * self.values.standard_normal(dims)).astype(kind)
        else:
            value = self.values.standard_normal(dims).astype("float32")
        self.arguments.append(jnp.asarray(value, dtype=kind))
        return len(self.arguments) - 1


UNARY = [jnp.exp, jnp.log1p, jnp.tanh, jnp.sin, jnp.abs, jnp.sqrt, jax.nn.sigmoid, jax.nn.gelu, jnp.floor, jnp.sign,
         jnp.square, jax.scipy.special.erf, lax.rsqrt, jnp.cbrt, jnp.arctan, jnp.expm1]
BINARY = [jnp.add, jnp.multiply, jnp.subtract, jnp.maximum, jnp.divide, jnp.arctan2, jnp.power]
WHOLE_UNARY = [jnp.abs, jnp.invert, lax.population_count, lax.clz, jnp.sign]
WHOLE_BINARY = [jnp.add, jnp.multiply, jnp.minimum, jnp.bitwise_xor, jnp.left_shift, jnp.floor_divide, jnp.remainder]


def elementwise(m):
    kind = m.pick(FLOATS + WHOLE)
    dims = m.dims()
    is_float = jnp.issubdtype(kind, jnp.floating)
    x, y = m.array(dims, kind), m.array(dims, kind)
    one, two = m.pick(UNARY if is_float else WHOLE_UNARY), m.pick(BINARY if is_float else WHOLE_BINARY)
    return f"{one.__name__} {two.__name__}", lambda a: two(one(a[x]), a[y])


def convert(m):
    kind, to = m.pick(FLOATS + WHOLE + ["bool"]), m.pick(FLOATS + WHOLE)
    x = m.array(m.dims(), kind)
    return f"convert {to}", lambda a: a[x].astype(to)


def select(m):
    dims = m.dims()
    x, y = m.array(dims, m.pick(["float32", "int32", "bfloat16"])), m.array(dims, "bool")
    return "select", lambda a: jnp.where(a[y], a[x], a[x] * 2)


def broadcast(m):
    dims = m.dims(m.pick([2, 3]))
    kept = m.random.randrange(len(dims))
    x, y = m.array(dims, "float32"), m.array((dims[kept],), "float32")
    shape = tuple(d if k == kept else 1 for k, d in enumerate(dims))
    return "broadcast", lambda a: a[x] + a[y].reshape(shape)


def reduce(m):
    dims = m.dims()
    axes = tuple(d for d in range(len(dims)) if m.random.random() < 0.5) or (len(dims) - 1,)
    how = m.pick([jnp.sum, jnp.max, jnp.min, jnp.prod, jnp.mean, jnp.var, jnp.any])
    x = m.array(dims, "bool" if how is jnp.any else m.pick(FLOATS + ["int32", "int8"]))
    return f"{how.__name__} {axes}", lambda a: how(a[x], axis=axes)


def arg_reduce(m):
    dims = m.dims(m.pick([1, 2, 3]))
    axis = m.random.randrange(len(dims))
    x = m.array(dims, m.pick(["float32", "bfloat16", "int32"]))
    return f"argmax {axis}", lambda a: jnp.argmax(a[x], axis=axis)


def softmax(m):
    dims = m.dims(2)
    axis = m.pick([0, 1])
    x = m.array(dims, m.pick(["float32", "bfloat16"]))
    how = m.pick([jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp, jax.nn.standardize])
    return f"{how.__name__} {axis}", lambda a: how(a[x], axis=axis)


def transpose(m):
    dims = m.dims(m.pick([2, 3, 4]))
    order = list(range(len(dims)))
    m.random.shuffle(order)
    x = m.array(dims, m.pick(FLOATS + WHOLE + ["complex64", "bool"]))
    return f"transpose {order}", lambda a: jnp.transpose(a[x], order)


def reverse(m):
    dims = m.dims()
    axis = m.random.randrange(len(dims))
    x = m.array(dims, m.pick(["float32", "int8", "bfloat16"]))
    return f"reverse {axis}", lambda a: jnp.flip(a[x], axis)


def slices(m):
    dims = m.dims()
    starts = [m.random.randrange(d // 2 + 1) for d in dims]
    steps = [m.pick([1, 1, 1, 2, 3]) for _ in dims]
    x = m.array(dims, m.pick(["float32", "int8", "bfloat16", "float64"]))
    return f"slice {steps}", lambda a: lax.slice(a[x], starts, dims, steps)


def pad(m):
    dims = m.dims(most=MOST // 8)
    amounts = [(m.random.randrange(-1, 4) if d > 2 else 1, m.random.randrange(4), m.pick([0, 0, 0, 1])) for d in dims]
    x = m.array(dims, m.pick(["float32", "int8", "bfloat16"]))
    return f"pad {amounts}", lambda a: lax.pad(a[x], jnp.zeros((), a[x].dtype), amounts)


def concatenate(m):
    dims = m.dims(most=MOST // 4)
    axis, count = m.random.randrange(len(dims)), m.pick([2, 3, 4, 8])
    kind = m.pick(["float32", "int8", "bfloat16"])
    numbers = [m.array(dims, kind) for _ in range(count)]
    return f"concatenate {axis} of {count}", lambda a: jnp.concatenate([a[k] for k in numbers], axis)


def dynamic(m):
    dims = m.dims()
    sizes = tuple(max(1, d // 2) for d in dims)
    x, y = m.array(dims, "float32"), m.array(sizes, "float32")
    starts = [m.array((), "int32") for _ in dims]
    if m.random.random() < 0.5:
        return "dynamic-slice", lambda a: lax.dynamic_slice(a[x], [a[s] for s in starts], sizes)
    return "dynamic-update-slice", lambda a: lax.dynamic_update_slice(a[x], a[y], [a[s] for s in starts])


def gather(m):
    dims = m.dims(2, most=MOST // 4)
    count = m.dims(1, most=10**5)[0]
    x = m.array(dims, m.pick(["float32", "bfloat16", "int32"]))
    m.arguments.append(jnp.asarray(m.values.integers(0, dims[0], count), "int32"))
    return f"take {count}", lambda a: jnp.take(a[x], a[x + 1], axis=0)


def scatter(m):
    dims = m.dims(m.pick([1, 2]), most=MOST // 8)
    count = m.dims(1, most=10**5)[0]
    x = m.array(dims, m.pick(["float32", "int32"]))
    m.arguments.append(jnp.asarray(m.values.integers(0, dims[0], count), "int32"))
    u = m.array((count,) + dims[1:] if count * math.prod(dims[1:]) <= MOST else (), m.arguments[x].dtype)
    how = m.pick(["add", "set", "max"])
    return f"scatter-{how} {count}", lambda a: getattr(a[x].at[a[x + 1]], how)(a[u])


def dot(m):
    most = int(10 ** m.random.uniform(1, 8.5))
    rows, columns, depth = m.dims(3, most=most)
    batch = m.pick([1, 1, 1, 2, 5, 16])
    kind = m.pick(["float32"] * 4 + ["bfloat16", "float64", "int8", "int32", "complex64"])
    lhs_turned, rhs_turned = m.pick([False, True]), m.pick([False, True])
    x = m.array((batch, depth, rows) if lhs_turned else (batch, rows, depth), kind)
    y = m.array((batch, columns, depth) if rhs_turned else (batch, depth, columns), kind)
    dims = (((1 if lhs_turned else 2,), (2 if rhs_turned else 1,)), ((0,), (0,)))
    return f"dot {batch}x{rows}x{depth}x{columns}", lambda a: lax.dot_general(a[x], a[y], dims)


def convolution(m):
    rank = m.pick([1, 2, 2, 2, 3])
    batch, side = m.pick([1, 1, 2, 8]), m.pick({1: [64, 251, 1024], 2: [7, 14, 28, 56, 61], 3: [8, 13, 16]}[rank])
    groups = m.pick([1, 1, 1, 2, "depthwise"])
    features, outputs = m.pick([1, 3, 16, 37, 64, 96, 128]), m.pick([1, 8, 53, 64, 128])
    groups = features if groups == "depthwise" else groups if features % groups == 0 and outputs % groups == 0 else 1
    outputs = features * m.pick([1, 2]) if groups == features else outputs
    window = m.pick([1, 3, 3, 5])
    stride, dilation, padding = m.pick([1, 1, 2]), m.pick([1, 1, 2]), m.pick(["SAME", "VALID"])
    last = m.pick([True, True, False])
    space = "DHW"[3 - rank:]
    names = (f"N{space}C", f"{space}IO", f"N{space}C") if last else (f"NC{space}", f"OI{space}", f"NC{space}")
    sides = (side,) * rank
    x = m.array((batch, *sides, features) if last else (batch, features, *sides), "float32")
    w = m.array((window,) * rank + (features // groups, outputs) if last
                else (outputs, features // groups) + (window,) * rank, "float32")
    how = m.pick(["forward", "forward", "forward", "by input", "by kernel"])

    def forward(image, kernel):
        return lax.conv_general_dilated(image, kernel, (stride,) * rank, padding, rhs_dilation=(dilation,) * rank,
                                        dimension_numbers=names, feature_group_count=groups)

    what = (f"conv {how} {batch}x{sides}x{features}->{outputs} window {window} stride {stride} dilation {dilation} "
            f"groups {groups} {padding} {'last' if last else 'first'}")
    if how == "forward":
        return what, lambda a: forward(a[x], a[w])
    number = 0 if how == "by input" else 1
    return what, lambda a: jax.grad(lambda image, kernel: forward(image, kernel).sum(), number)(a[x], a[w])


def window(m):
    dims = (m.pick([1, 4]), m.pick([14, 56, 97]), m.pick([14, 56, 97]), m.pick([3, 16, 64]))
    size, stride = m.pick([2, 3, 5]), m.pick([1, 2])
    x = m.array(dims, m.pick(["float32", "bfloat16"]))
    how, start = m.pick([(lax.add, 0.0), (lax.max, -jnp.inf)])
    padding = ((0, 0), (size // 2, size // 2), (size // 2, size // 2), (0, 0))
    return f"reduce-window {size}/{stride}", lambda a: lax.reduce_window(
        a[x], jnp.asarray(start, a[x].dtype), how, (1, size, size, 1), (1, stride, stride, 1), padding)


def sort(m):
    dims = m.dims(m.pick([1, 2]), most=10**6)
    axis = m.random.randrange(len(dims))
    x = m.array(dims, m.pick(["float32", "int32", "bfloat16", "int64"]))
    how = m.pick([jnp.sort, jnp.argsort])
    return f"{how.__name__} {axis}", lambda a: how(a[x], axis=axis)


def top_k(m):
    dims = m.dims(2, most=10**6)
    x = m.array(dims, "float32")
    count = min(dims[1], m.pick([1, 5, 50]))
    return f"top-k {count}", lambda a: lax.top_k(a[x], count)


def cumulative(m):
    dims = m.dims(m.pick([1, 2, 3]))
    axis = m.random.randrange(len(dims))
    x = m.array(dims, m.pick(["float32", "int32"]))
    how = m.pick([jnp.cumsum, jnp.cumprod, lax.cummax])
    return f"{how.__name__} {axis}", lambda a: how(a[x], axis=axis)


def fourier(m):
    dims = m.dims(m.pick([1, 2, 3]), most=10**6)
    how, kind = m.pick([(jnp.fft.fft, "complex64"), (jnp.fft.rfft, "float32"), (jnp.fft.ifft, "complex64")])
    x = m.array(dims, kind)
    return how.__name__, lambda a: how(a[x])


def algebra(m):
    batch, n = m.pick([1, 1, 7, 64]), m.pick([2, 5, 16, 33, 100])
    x, y = m.array((batch, n, n), "float32"), m.array((batch, n, 3), "float32")
    how = m.pick(["cholesky", "solve", "qr", "triangular"])
    eye = jnp.eye(n, dtype="float32") * n

    def run(a):
        matrix = a[x] @ a[x].swapaxes(1, 2) + eye
        return {"cholesky": lambda: jnp.linalg.cholesky(matrix), "solve": lambda: jnp.linalg.solve(matrix, a[y]),
                "qr": lambda: jnp.linalg.qr(matrix)[1],
                "triangular": lambda: lax.linalg.triangular_solve(jnp.tril(matrix), a[y], left_side=True,
                                                                  lower=True)}[how]()

    return f"{how} {batch}x{n}", run


def loop(m):
    dims = m.dims(most=10**5)
    turns = m.pick([3, 10, 100])
    x, y = m.array(dims, "float32"), m.array(dims, "float32")
    if m.random.random() < 0.5:
        return f"fori {turns}", lambda a: lax.fori_loop(0, turns, lambda _, s: s * a[y] + 0.5, a[x])
    return f"scan {turns}", lambda a: lax.scan(lambda c, _: (jnp.tanh(c) + a[y], c.sum()), a[x], None, length=turns)


def random_bits(m):
    dims = m.dims(most=10**6)
    how = m.pick([jax.random.uniform, jax.random.normal, jax.random.bits])
    m.arguments.append(jax.random.PRNGKey(m.random.randrange(1000)))
    return how.__name__, lambda a: how(a[0], dims)


def complex_numbers(m):
    dims = m.dims()
    x, y = m.array(dims, "complex64"), m.array(dims, "complex64")
    how = m.pick([lambda p, q: p * q, lambda p, q: jnp.abs(p + q), lambda p, q: p / q, lambda p, q: jnp.exp(p) + q])
    return "complex", lambda a: how(a[x], a[y])


FAMILIES = [elementwise, elementwise, convert, select, broadcast, reduce, reduce, arg_reduce, softmax, transpose,
            transpose, reverse, slices, pad, concatenate, dynamic, gather, scatter, dot, dot, dot, convolution,
            convolution, convolution, window, sort, top_k, cumulative, fourier, algebra, loop, random_bits,
            complex_numbers]


def program(seed):
    """(what it is, function of the arguments, arguments)."""
    m = Maker(seed)
    name, body = m.pick(FAMILIES)(m)
    around = m.pick(["", "before", "behind"])
    ends = m.pick([jnp.tanh, jnp.abs, lambda v: v * 2 + 1])

    def touched(value):
        return ends(value) if jnp.issubdtype(value.dtype, jnp.floating) else value

    def function(*arguments):
        given = [touched(x) for x in arguments] if around == "before" else arguments
        result = body(given)
        return jax.tree.map(touched, result) if around == "behind" else result

    kinds = " ".join(f"{x.dtype}{list(x.shape)}" for x in m.arguments)
    return f"{name}{' +' + around if around else ''}: {kinds}", function, m.arguments
