#!/usr/bin/env python3
"""What a call costs beside the work: of Heddle from C, of JAX and of IREE from Python, all on the sum of two f32[16].

    call_overhead.py [--jax=PYTHON] [--iree=PYTHON] [--rounds=9]

The contenders take turns; of each the fastest of many short rounds counts, since other work disturbs long ones. JAX's
call is that of a compiled function whose arguments are on the device, waited for; beside it what its runtime's client
takes for the same executable. IREE's is a function of a loaded module on arrays that are on the device (llvm-cpu,
local-sync: without threads of its own, which is its fastest), from Python and as its own tool iree-benchmark-module
calls it from C. A peer whose Python is not given, or has it not, is left out.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLS, REPEATS = 500, 40

JAX = f"""
import os, sys, time
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp
x, y = jnp.ones(16), jnp.ones(16)
function = jax.jit(lambda a, b: a + b)
function(x, y).block_until_ready()
executable = function.lower(x, y).compile().runtime_executable()
def calls():
    for _ in range({CALLS}):
        function(x, y).block_until_ready()
def client():
    for _ in range({CALLS}):
        executable.execute_sharded([x, y]).disassemble_into_single_device_arrays()[0][0].block_until_ready()
CONTENDERS = [("JAX, jit", lambda: timed(calls)), ("JAX, client", lambda: timed(client))]
"""

IREE = f"""
import json, pathlib, subprocess, sys, tempfile, time
import numpy
import iree.compiler, iree.runtime
TEXT = "func.func @f(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {{ " \\
       "%0 = stablehlo.add %a, %b : tensor<16xf32>  return %0 : tensor<16xf32> }}"
made = iree.compiler.compile_str(TEXT, target_backends=["llvm-cpu"], input_type="stablehlo",
                                 extra_args=["--iree-llvmcpu-target-cpu=host"])
module = iree.runtime.load_vm_flatbuffer(made, driver="local-sync")
device = iree.runtime.get_device("local-sync")
x, y = (iree.runtime.asdevicearray(device, numpy.ones(16, numpy.float32)) for _ in range(2))
def calls():
    for _ in range({CALLS}):
        module.f(x, y)
file = tempfile.NamedTemporaryFile(suffix=".vmfb")
pathlib.Path(file.name).write_bytes(made)
def tool():
    command = [pathlib.Path(sys.executable).parent / "iree-benchmark-module", f"--module={{file.name}}", "--function=f",
               "--input=16xf32=1", "--input=16xf32=2", "--device=local-sync", "--benchmark_format=json",
               "--benchmark_min_time=0.2s"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    found = json.loads(done.stdout)["benchmarks"][0]
    return found["real_time"] * {{"ns": 1e-9, "us": 1e-6, "ms": 1e-3}}[found["time_unit"]]
CONTENDERS = [("IREE, Python", lambda: timed(calls)), ("IREE, C", tool)]
"""

SERVE = f"""
def timed(run):
    best = 1
    for _ in range({REPEATS}):
        start = time.perf_counter()
        run()
        best = min(best, (time.perf_counter() - start) / {CALLS})
    return best
for line in sys.stdin:
    for name, run in CONTENDERS:
        print(f"{{name}}={{run()}}", end=";")
    print(flush=True)
"""


class Peer:
    """A Python process that runs all its contenders once for each line."""

    def __init__(self, python, program):
        self.best = {}
        self.process = subprocess.Popen([python, "-c", program + SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def run(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        line = self.process.stdout.readline().strip()
        for part in line.split(";")[:-1]:
            name, seconds = part.rsplit("=", 1)
            self.best[name] = min(self.best.get(name, 1), float(seconds))
        return bool(line)

    def end(self):
        self.process.kill()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jax")
    parser.add_argument("--iree")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    peers = [Peer(python, program) for python, program in ((arguments.jax, JAX), (arguments.iree, IREE)) if python]
    ours = 1
    for _ in range(arguments.rounds):
        done = subprocess.run([ROOT / "build" / "bench" / "call_overhead", "--json"], stdout=subprocess.PIPE, check=True)
        ours = min(ours, json.loads(done.stdout)["call_seconds"])
        peers = [peer for peer in peers if peer.run() or peer.end()]
    print(f"{'Heddle, C':12} {ours * 1e9:9.1f} ns")
    for peer in peers:
        for name, seconds in peer.best.items():
            print(f"{name:12} {seconds * 1e9:9.1f} ns  {seconds / ours:6.1f} times as long")
        peer.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
