"""ONNX Runtime as a side of bench/tiles.py and bench/peers.py: the same programs as ONNX graphs, with the operations that
ONNX has for attention, norms and activations. The same lines on standard input and output as bench_kernel.

    peer_ort.py WORKLOAD THREADS    prints `ready`, or `none` where there is no graph of that program

Arguments are those of tile_workloads.py and peer_workloads.py; the weights among them are constants of the graph, so that
they can be brought into a form that suits the machine when the session is made. Images come with features first, as ONNX
has them; what is written has them last. `write PREFIX` writes the results as PREFIX0000.npy, ….
"""
import functools
import sys
import time

import numpy
import onnx
import onnxruntime

import peer_serve
import peer_workloads
import tile_workloads
import workloads

OPSET = 23
IR_VERSION = 10


class Graph:
    """ONNX nodes in the order in which they are asked for; values are names."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.feeds, self.count = [], [], [], {}, 0
        self.turned = None  # the order in which the result's dims are written

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def op(self, kind, *operands, results=1, **attributes):
        names = [self.name() for _ in range(results)]
        self.nodes.append(onnx.helper.make_node(kind, operands, names, **attributes))
        return names[0] if results == 1 else names

    def constant(self, value):
        self.constants.append(onnx.numpy_helper.from_array(numpy.asarray(value), self.name()))
        return self.constants[-1].name

    def input(self, value):
        value = numpy.asarray(value)
        name = self.name()
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        self.inputs.append(onnx.helper.make_tensor_value_info(name, kind, value.shape))
        self.feeds[name] = value
        return name

    def session(self, results, threads):
        """Of one result, or of a tuple of them; their types are left to ONNX Runtime."""
        outs = [onnx.ValueInfoProto(name=name) for name in (results if isinstance(results, tuple) else (results,))]
        graph = onnx.helper.make_graph(self.nodes, "graph", self.inputs, outs, initializer=self.constants)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)],
                                       ir_version=IR_VERSION)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


# --- parts of models

def dense(g, p, x):
    return g.op("Gemm", x, g.constant(p["w"]), g.constant(p["b"]))


def norm(g, p, x):
    return g.op("LayerNormalization", x, g.constant(p["scale"]), g.constant(p["bias"]), axis=-1, epsilon=1e-5)


def attention(g, p, x, heads, mask="", is_causal=0):
    """Of x [length, width]; Attention wants a batch."""
    batch = g.constant(numpy.array([0]))
    q, k, v = g.op("Split", g.op("Unsqueeze", dense(g, p["qkv"], x), batch), results=3, axis=-1, num_outputs=3)
    y = g.op("Attention", q, k, v, mask, q_num_heads=heads, kv_num_heads=heads, is_causal=is_causal)
    return dense(g, p["out"], g.op("Squeeze", y, batch))


def mlp(g, p, x, approximate):
    return dense(g, p["down"], g.op("Gelu", dense(g, p["up"], x), approximate=approximate))


# --- programs, by the names of the workloads

def build_attention(g, q, k, v, is_causal=0):
    return g.op("Attention", g.input(q), g.input(k), g.input(v), is_causal=is_causal)


def build_causal_attention(g, q, k, v):
    return build_attention(g, q, k, v, is_causal=1)


def build_attention_block(g, p, x):
    value = g.input(x)
    return g.op("Add", value, attention(g, p, value, 12, is_causal=1))


def build_mlp_block(g, p, x):
    value = g.input(x)
    return g.op("Add", value, mlp(g, p, value, "tanh"))


def build_gpt2(g, p, tokens):
    x = g.op("Add", g.op("Gather", g.constant(p["words"]), g.input(tokens)), g.constant(p["places"]))
    for layer in p["layers"]:
        x = g.op("Add", x, attention(g, layer["attention"], norm(g, layer["norm1"], x), 12, is_causal=1))
        x = g.op("Add", x, mlp(g, layer["mlp"], norm(g, layer["norm2"], x), "tanh"))
    return g.op("MatMul", norm(g, p["norm"], x), g.constant(numpy.asarray(p["words"]).T.copy()))


def build_bert(g, p, tokens, mask):
    x = g.op("Add", g.op("Gather", g.constant(p["words"]), g.input(tokens)), g.constant(p["places"]))
    x = norm(g, p["norm"], x)
    spread = g.input(numpy.broadcast_to(numpy.asarray(mask), (1, 1, len(tokens), len(tokens))).copy())
    for layer in p["layers"]:
        x = norm(g, layer["norm1"],
                 g.op("Add", x, attention(g, layer["attention"], x, tile_workloads.BERT_HEADS, spread)))
        x = norm(g, layer["norm2"], g.op("Add", x, mlp(g, layer["mlp"], x, "none")))
    return x


def build_batch(g, x, y):
    return g.op("MatMul", g.input(x), g.input(y))


def build_dense_relu(g, p, x):
    return g.op("Relu", dense(g, p, g.input(x)))


def build_dense_gelu(g, p, x):
    return g.op("Gelu", dense(g, p, g.input(x)), approximate="tanh")


def build_dense_residual(g, p, x, y):
    h = dense(g, p, g.input(x))
    return g.op("Add", g.input(y), g.op("Mul", h, g.op("Sigmoid", h)))


def build_dense_norm(g, p, x, scale, bias):
    return norm(g, {"scale": scale, "bias": bias}, dense(g, p, g.input(x)))


def build_dense_softmax(g, p, x):
    return g.op("Softmax", dense(g, p, g.input(x)), axis=-1)


def build_sort(g, x):
    return g.op("TopK", g.input(x), g.constant(numpy.array([x.shape[-1]])), results=2, largest=0, sorted=1)[0]


def build_top(count):
    def build(g, x):
        values, places = g.op("TopK", g.input(x), g.constant(numpy.array([count])), results=2)
        return values, g.op("Cast", places, to=onnx.TensorProto.INT32)
    return build


def build_log_softmax_gather(g, x, labels):
    logs = g.op("LogSoftmax", g.input(x), axis=-1)
    places = g.op("Unsqueeze", g.input(labels), g.constant(numpy.array([1])))
    return g.op("Neg", g.op("ReduceMean", g.op("GatherElements", logs, places, axis=1), keepdims=0))


def build_softmax(g, x):
    return g.op("Softmax", g.input(x), axis=-1)


def build_gelu(g, x):
    return g.op("Gelu", g.input(x), approximate="none")


def build_row_sum(g, x):
    return g.op("ReduceSum", g.input(x), g.constant(numpy.array([1])), keepdims=0)


def build_to_f32(g, x):
    return g.op("Cast", g.input(x), to=onnx.TensorProto.FLOAT)


def build_transpose(*order):
    return lambda g, x: g.op("Transpose", g.input(x), perm=order)


def build_scatter_add(g, x, rows, updates):
    return g.op("ScatterND", g.input(x), g.input(numpy.asarray(rows, numpy.int64)[:, None]), g.input(updates), reduction="add")


def build_embedding_gradient(g, tokens, slopes):
    zeros = g.constant(numpy.zeros((32000, slopes.shape[1]), numpy.float32))
    return g.op("ScatterND", zeros, g.input(numpy.asarray(tokens, numpy.int64)[:, None]), g.input(slopes), reduction="add")


# Gates come as input, forget, output, cell in our weights, as input, output, forget, cell in ONNX's.
def build_lstm(g, p, xs):
    width = xs.shape[2]
    i, f, o, u = numpy.split(numpy.asarray(p["w"]), 4, axis=1)
    weights = numpy.concatenate([i, o, f, u], axis=1).T
    i, f, o, u = numpy.split(numpy.asarray(p["b"]), 4)
    bias = numpy.concatenate([i, o, f, u, numpy.zeros(4 * width, numpy.float32)])
    constants = [g.constant(numpy.ascontiguousarray(part)[None]) for part in (weights[:, :width], weights[:, width:], bias)]
    result = g.op("LSTM", g.input(xs), *constants, results=3, hidden_size=width)[0]
    return g.op("Squeeze", result, g.constant(numpy.array([1])))


# --- images, with features first

def planar_input(g, x):
    return g.input(numpy.ascontiguousarray(numpy.asarray(x).transpose(0, 3, 1, 2)))


def features_last(g, x):
    g.turned = (0, 2, 3, 1)
    return x


def convolution(g, x, w, bias=None, stride=1):
    weights = g.constant(numpy.ascontiguousarray(numpy.asarray(w).transpose(3, 2, 0, 1)))
    operands = [x, weights] + ([g.constant(bias)] if bias is not None else [])
    return g.op("Conv", *operands, strides=[stride, stride], auto_pad="SAME_UPPER")


def normed(g, p, x, w, stride=1):
    y = convolution(g, x, w, stride=stride)
    return g.op("BatchNormalization", y, *(g.constant(p[part]) for part in ("scale", "bias", "mean", "variance")),
                epsilon=1e-5)


def max_pool(g, x, size, padding):
    return g.op("MaxPool", x, kernel_shape=[size, size], strides=[2, 2], auto_pad=padding)


def build_convolution(g, x, w, b):
    return features_last(g, g.op("Relu", convolution(g, planar_input(g, x), w, b)))


def bottleneck(g, p, x, stride):
    y = g.op("Relu", normed(g, p["n1"], x, p["w1"]))
    y = g.op("Relu", normed(g, p["n2"], y, p["w2"], stride))
    y = normed(g, p["n3"], y, p["w3"])
    if "w0" in p:
        x = normed(g, p["n0"], x, p["w0"], stride)
    return g.op("Relu", g.op("Add", x, y))


def build_resnet(g, p, x):
    x = max_pool(g, g.op("Relu", normed(g, p["n"], planar_input(g, x), p["w"], 2)), 3, "SAME_UPPER")
    number = 0
    for stage, (count, _) in enumerate(workloads.STAGES):
        for block in range(count):
            x = bottleneck(g, p["blocks"][number], x, 2 if block == 0 and stage > 0 else 1)
            number += 1
    return dense(g, p["head"], g.op("Flatten", g.op("GlobalAveragePool", x)))


def pair(g, x, first, second):
    return g.op("Relu", convolution(g, g.op("Relu", convolution(g, x, first)), second))


def build_unet(g, p, x):
    x, kept = planar_input(g, x), []
    for level, weights in enumerate(p["down"]):
        x = pair(g, max_pool(g, x, 2, "VALID") if level else x, *weights)
        kept.append(x)
    twice = g.constant(numpy.array([1, 1, 2, 2], numpy.float32))
    for level, (narrow, first, second) in enumerate(p["up"]):
        x = g.op("Resize", convolution(g, x, narrow), "", twice, mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = pair(g, g.op("Concat", x, kept[-2 - level], axis=1), first, second)
    return features_last(g, convolution(g, x, p["head"]))


PEER_BUILDERS = {
    "sort_1000": build_sort,
    "top_k_1000": build_top(10),
    "top_k_short": build_top(4),
    "log_softmax_gather": build_log_softmax_gather,
    "softmax": build_softmax,
    "gelu_erf_f32": build_gelu,
    "row_sum": build_row_sum,
    "u8_to_f32": build_to_f32,
    "transpose_42031": build_transpose(4, 2, 0, 3, 1),
    "transpose_03142": build_transpose(0, 3, 1, 4, 2),
    "batch_12x512": build_batch,
    "scatter_add": build_scatter_add,
    "embedding_gradient": build_embedding_gradient,
    "lstm_128x512": build_lstm,
    "conv_bias_relu": build_convolution,
    "resnet50": build_resnet,
    "unet": build_unet,
}
BUILDERS = {
    tile_workloads.attention: build_attention,
    tile_workloads.causal_attention: build_causal_attention,
    tile_workloads.batched: build_batch,
    tile_workloads.dense_relu: build_dense_relu,
    tile_workloads.dense_gelu: build_dense_gelu,
    tile_workloads.dense_residual: build_dense_residual,
    tile_workloads.dense_norm: build_dense_norm,
    tile_workloads.dense_softmax: build_dense_softmax,
    tile_workloads.bert: build_bert,
    workloads.WORKLOADS["attention_block"].function: build_attention_block,
    workloads.WORKLOADS["mlp_block"].function: build_mlp_block,
    workloads.WORKLOADS["gpt2_small"].function: build_gpt2,
}


class Program:
    """A graph and its session, which each compilation makes anew."""

    def __init__(self, build, arguments, threads):
        self.build, self.arguments, self.threads = build, arguments, threads
        self.graph = self.session = None

    def compile(self):
        """The seconds that ONNX Runtime takes."""
        self.graph = Graph()
        result = self.build(self.graph, *self.arguments)
        start = time.perf_counter()
        self.session = self.graph.session(result, self.threads)
        return time.perf_counter() - start

    def runnable(self):
        return functools.partial(self.session.run, None, self.graph.feeds)

    def write(self, prefix):
        turned = self.graph.turned
        return peer_serve.write(prefix, [value.transpose(turned) if turned else value for value in self.runnable()()])


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    among = next(table for table in (tile_workloads.WORKLOADS, peer_workloads.WORKLOADS) if name in table)
    build = PEER_BUILDERS.get(name) or BUILDERS.get(among[name].function)
    if not build:
        peer_serve.refuse()
        return
    program = Program(build, workloads.arguments_of(name, among), threads)
    peer_serve.serve(onnxruntime.__version__, program.compile, program.runnable, write=program.write)


if __name__ == "__main__":
    main()
