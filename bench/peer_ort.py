"""ONNX Runtime as a side of bench/tiles.py: the same programs as ONNX graphs, with the operations that ONNX has for
attention, norms and activations. The same lines on standard input and output as bench_kernel.

    peer_ort.py WORKLOAD THREADS    prints `ready`, or `none` where there is no graph of that program

Arguments are those of tile_workloads.py; the weights among them are constants of the graph, so that they can be brought
into a form that suits the machine when the session is made. `write PREFIX` writes the results as PREFIX0000.npy, ….
"""
import sys
import time

import numpy
import onnx
import onnxruntime

import tile_workloads
import workloads

OPSET = 23
IR_VERSION = 10


class Graph:
    """ONNX nodes in the order in which they are asked for; values are names."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.feeds, self.count = [], [], [], {}, 0

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

    def session(self, result, threads):
        out = onnx.helper.make_tensor_value_info(result, onnx.TensorProto.FLOAT, None)
        graph = onnx.helper.make_graph(self.nodes, "graph", self.inputs, [out], initializer=self.constants)
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


def best_of(session, feeds, runs):
    """Seconds by the clock, and that the processor worked on all threads together."""
    times = []
    for _ in range(runs):
        start, worked = time.perf_counter(), time.process_time()
        session.run(None, feeds)
        times.append((time.perf_counter() - start, time.process_time() - worked))
    return tuple(map(min, zip(*times)))


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    build = BUILDERS.get(tile_workloads.WORKLOADS[name].function)
    if not build:
        print("none", flush=True)
        return
    arguments = workloads.arguments_of(name, tile_workloads.WORKLOADS)
    session = None
    print("ready", onnxruntime.__version__, flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "compile":
            graph = Graph()
            result = build(graph, *arguments)
            start = time.perf_counter()
            session = graph.session(result, threads)
            print(f"compile {time.perf_counter() - start:.9f}", flush=True)
        elif word == "run":
            print("run {:.9f} cpu={:.9f}".format(*best_of(session, graph.feeds, int(rest))), flush=True)
        elif word == "write":
            numpy.save(f"{rest}0000.npy", session.run(None, graph.feeds)[0])
            print("written", flush=True)


if __name__ == "__main__":
    main()
