"""IREE as a side of bench/peers.py: the same lines on standard input and output as bench_kernel.

    peer_iree.py FOLDER THREADS    compiles FOLDER/module.mlirbc; arguments are FOLDER/in0000.npy, …

Prints `none` where IREE's compiler refuses the program, and where one run takes the processor longer than LONGEST. One
thread is the driver that works in the caller's thread.
"""
import os
import pathlib
import signal
import sys
import time

import iree.compiler
import iree.runtime
import numpy

import peer_serve


LONGEST = 10  # seconds


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


def ends_soon(program, folder, threads):
    """Whether a run comes to its end in time, tried in a process that the system ends otherwise."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        load(program, folder, threads)()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def main():
    folder, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    try:
        start = time.perf_counter()
        program = compile_program(folder)
        seconds = time.perf_counter() - start
        if not ends_soon(program, folder, threads):
            raise RuntimeError(f"no run ended in {LONGEST} seconds")
        run = load(program, folder, threads)
    except Exception as error:
        print(f"peer_iree.py: {str(error).splitlines()[0]}", file=sys.stderr)
        peer_serve.refuse()
        return
    peer_serve.serve("", lambda: seconds, lambda: run,
                     write=lambda prefix: peer_serve.write(prefix, run()))


if __name__ == "__main__":
    main()
