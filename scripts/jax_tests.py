#!/usr/bin/env python3
"""JAX's own tests as a source of programs: what they compile and run, run by Heddle and compared with XLA's results.

    jax_tests.py collect FOLDER TEST.py [TEST.py …] [--most=250] [--seconds=120] [--seed=1]
    jax_tests.py compare FOLDER [--heddle=build/bin/heddle] [--exact]

`collect` runs pytest on files of JAX's tests/ folder (of the release that is installed) in random order and keeps each
program of one device with its arguments and results. `compare` runs the kept programs and names those whose results differ;
where the CPU does, it tells what the interpreter says. Wants the Python of an environment with JAX, pytest and
absl-py. Not every difference is a fault: XLA takes denormals for zero, LAPACK's factors are unique but for signs and
order, and without --exact bf16 and f16 carry more digits than XLA's (doc/numbers.md).
"""
import argparse
import hashlib
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy

MOST_BYTES = 3_000_000  # of the arguments of a program, and of its results: the rest would only take long
# Relative difference allowed, a tenth of it of the result's largest value for each element, by XLA's habits of comparing.
RELATIVE = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-4, "complex64": 3e-4, "float16": 4e-3, "bfloat16": 3e-2}
NARROW = 0.2  # of the types of 8 bits


class Collector:
    """A pytest plugin: stands between JAX and XLA where programs are compiled and first run."""

    def __init__(self, folder, most, seconds, seed):
        import jax
        from jax._src import compiler
        from jax._src.interpreters import mlir, pxla
        self.jax, self.mlir, self.folder, self.most, self.seed = jax, mlir, folder, most, seed
        self.compiler, self.pxla = compiler, pxla
        self.end, self.compiled, self.kept = time.monotonic() + seconds, {}, 0
        self.compile, self.execute = compiler.compile_or_get_cached, pxla.ExecuteReplicated.__call__
        compiler.compile_or_get_cached = self.on_compile
        pxla.ExecuteReplicated.__call__ = lambda executable, *arguments: self.on_execute(executable, arguments)

    def pytest_unconfigure(self):
        self.compiler.compile_or_get_cached = self.compile
        self.pxla.ExecuteReplicated.__call__ = self.execute

    def pytest_collection_modifyitems(self, items):
        random.Random(self.seed).shuffle(items)

    def pytest_runtest_logfinish(self):
        if self.kept >= self.most or time.monotonic() > self.end:
            import pytest
            pytest.exit("enough programs", returncode=0)

    def on_compile(self, backend, module, devices, *rest, **named):
        executable = self.compile(backend, module, devices, *rest, **named)
        if devices.size == 1:
            self.compiled[id(executable)] = (executable, self.mlir.module_to_bytecode(module),
                                             self.mlir.module_to_string(module))
        return executable

    def on_execute(self, executable, arguments):
        module = self.compiled.pop(id(executable.xla_executable), None)
        plain = not (executable.ordered_effects or executable.has_unordered_effects or executable.has_host_callbacks
                     or executable.mut)
        inputs = None
        if module and plain and self.kept < self.most:
            inputs = self.arrays(value for k, value in enumerate(arguments) if k in executable.kept_var_idx)
        results = self.execute(executable, *arguments)
        outputs = self.arrays(results) if inputs is not None else None
        if outputs is not None:
            self.keep(executable.name, module, inputs, outputs)
        return results

    def arrays(self, values):
        """The values as NumPy's arrays, or none if they are too large or of a kind that files do not have."""
        made = []
        for value in values:
            if self.jax.dtypes.issubdtype(getattr(value, "dtype", float), self.jax.dtypes.prng_key):
                value = self.jax.random.key_data(value)
            array = numpy.array(value)
            if array.dtype.hasobject or array.dtype == self.jax.dtypes.float0:
                return None
            # Numbers of Python's have the types that JAX gives them.
            made.append(array if isinstance(value, self.jax.Array)
                        else array.astype(self.jax.dtypes.canonicalize_dtype(array.dtype)))
        return made if sum(array.nbytes for array in made) <= MOST_BYTES else None

    def keep(self, name, module, inputs, outputs):
        from jaxlib.mlir.dialects import stablehlo
        from jax._src.lib import xla_client
        program = re.sub(r"\W", "_", name)[:40] + "-" + hashlib.sha1(module[2].encode()).hexdigest()[:12]
        place = self.folder / program
        if place.exists():
            return
        place.mkdir(parents=True)
        version = str(stablehlo.get_current_version())
        (place / "module.mlirbc").write_bytes(
            xla_client._xla.mlir.serialize_portable_artifact(module[1], version))
        for stem, values in (("in", inputs), ("out", outputs)):
            for k, value in enumerate(values):
                numpy.save(place / f"{stem}{k}.npy", value)
        self.kept += 1


def collect(arguments):
    import pytest
    for test in arguments.tests:
        folder = arguments.folder / pathlib.Path(test).stem
        plugin = Collector(folder, arguments.most, arguments.seconds, arguments.seed)
        pytest.main(["-q", "--no-header", "--no-summary", "-p", "no:cacheprovider", test], plugins=[plugin])
        print(f"{folder}: {plugin.kept} programs kept")


def numbered(folder, stem):
    return [folder / f"{stem}{k}.npy" for k in range(len(list(folder.glob(f"{stem}*.npy"))))]


def parts(array):
    """An array of floats as f64, complex numbers as two, and the difference that is allowed for its type."""
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:
        array = array.view(ml_dtypes.bfloat16)
    relative = RELATIVE.get(str(array.dtype), NARROW)
    if array.dtype.kind == "c":
        array = array.astype(numpy.complex128)
        return numpy.stack([array.real, array.imag]), relative
    return array.astype(numpy.float64), relative


def difference(found, wanted):
    """What differs, in words, or none."""
    if found.shape != wanted.shape or found.dtype.itemsize != wanted.dtype.itemsize:
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if found.tobytes() == wanted.tobytes():
        return None
    if wanted.dtype.kind in "biu" or (wanted.dtype.kind == "V" and wanted.dtype.itemsize != 2):
        return f"{numpy.count_nonzero(found != wanted)} of {found.size} {wanted.dtype} differ"
    (found, relative), (wanted, _) = parts(found), parts(wanted)
    finite = numpy.isfinite(wanted)
    with numpy.errstate(invalid="ignore"):
        scale = numpy.abs(wanted[finite]).max(initial=0)
        near = numpy.abs(found - wanted) <= relative * (numpy.abs(wanted) + 0.1 * scale)
    near = numpy.where(finite, near, (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted)))
    if near.all():
        return None
    return f"{numpy.count_nonzero(~near)} of {near.size} differ, e.g. {found[~near][0]} instead of {wanted[~near][0]}"


def run(program, platform, arguments):
    """What is wrong with the program's results on a platform, in words, or none."""
    wanted = numbered(program, "out")
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.heddle, "run", program / "module.mlirbc", f"--platform={platform}",
                   *(f"--input=@{path}" for path in numbered(program, "in")),
                   *(f"--output=@{folder}/{path.name}" for path in wanted), *(["--exact"] if arguments.exact else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "not done after 60 s"
        if done.returncode:
            return f"exit status {done.returncode}: " + done.stderr.strip().replace("\n", " | ")[:300]
        for path in wanted:
            what = difference(numpy.load(f"{folder}/{path.name}"), numpy.load(path))
            if what:
                return f"{path.stem}: {what}"
    return None


def compare(arguments):
    programs = sorted(path.parent for path in arguments.folder.rglob("module.mlirbc"))
    differing = 0
    for program in programs:
        what = run(program, "cpu", arguments)
        if what:
            differing += 1
            print(f"{program}\n  cpu: {what}\n  interpreter: {run(program, 'interpreter', arguments) or 'agrees'}",
                  flush=True)
    print(f"{len(programs)} programs, {differing} with results unlike XLA's")
    return 1 if differing or not programs else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting, comparing = commands.add_parser("collect"), commands.add_parser("compare")
    for command in (collecting, comparing):
        command.add_argument("folder", type=pathlib.Path)
    collecting.add_argument("tests", nargs="+")
    collecting.add_argument("--most", type=int, default=250, help="programs to keep for each file of tests")
    collecting.add_argument("--seconds", type=float, default=120, help="time for each file of tests")
    collecting.add_argument("--seed", type=int, default=1, help="of the tests' order")
    comparing.add_argument("--heddle", default="build/bin/heddle")
    comparing.add_argument("--exact", action="store_true", help="keep every rounding, as XLA's CPU does")
    arguments = parser.parse_args()
    return collect(arguments) if arguments.command == "collect" else compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
