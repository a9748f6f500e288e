"""IREE as a side of bench/peers.py: the same lines on standard input and output as bench_kernel.

    peer_iree.py FOLDER THREADS    compiles FOLDER/module.mlirbc; arguments are FOLDER/in0000.npy, …

Prints `none` where IREE's compiler refuses the program. One thread is the driver that works in the caller's thread.
"""
import pathlib
import sys
import time

import iree.compiler
import iree.runtime
import numpy


def compile_program(folder):
    return iree.compiler.compile_file(str(folder / "module.mlirbc"), target_backends=["llvm-cpu"],
                                      input_type="stablehlo",
                                      extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])


def load(program, folder, threads):
    """A function that runs the program once on arguments that the device has."""
    if threads > 1:
        iree.runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
    config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
    context = iree.runtime.SystemContext(config=config)
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, program)
    context.add_vm_module(module)
    arguments = [iree.runtime.asdevicearray(config.device, numpy.load(path)) for path in sorted(folder.glob("in*.npy"))]
    function = context.modules[module.name].main
    return lambda: function(*arguments)


def best_of(run, runs):
    """Seconds by the clock, and that the processor worked on all threads together."""
    times = []
    for _ in range(runs):
        start, worked = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - start, time.process_time() - worked))
    return tuple(map(min, zip(*times)))


def main():
    folder, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    try:
        program = compile_program(folder)
        run = load(program, folder, threads)
        run()
    except Exception as error:
        print(f"peer_iree.py: {str(error).splitlines()[0]}", file=sys.stderr)
        print("none", flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "compile":
            start = time.perf_counter()
            compile_program(folder)
            print(f"compile {time.perf_counter() - start:.9f}", flush=True)
        elif word == "run":
            print("run {:.9f} cpu={:.9f}".format(*best_of(run, int(rest))), flush=True)
        elif word == "write":
            results = run()
            for number, result in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
                numpy.save(f"{rest}{number:04}.npy", numpy.asarray(result))
            print("written", flush=True)


if __name__ == "__main__":
    main()
