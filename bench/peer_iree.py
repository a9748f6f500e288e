"""IREE as a side of bench/peers.py: the same lines on standard input and output as bench_kernel.

    peer_iree.py FOLDER THREADS    compiles FOLDER/module.mlirbc; arguments are FOLDER/in0000.npy, …

Prints `none` where IREE's compiler refuses the program. One thread is the driver that works in the caller's thread.
"""
import pathlib
import sys

import iree.compiler
import iree.runtime
import numpy

import peer_serve


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


def main():
    folder, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    try:
        run = load(compile_program(folder), folder, threads)
        run()
    except Exception as error:
        print(f"peer_iree.py: {str(error).splitlines()[0]}", file=sys.stderr)
        peer_serve.refuse()
        return
    peer_serve.serve("", lambda: peer_serve.seconds_of(compile_program, folder), lambda: run,
                     write=lambda prefix: peer_serve.write(prefix, run()))


if __name__ == "__main__":
    main()
