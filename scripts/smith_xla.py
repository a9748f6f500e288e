#!/usr/bin/env python3
"""Random modules on Heddle's interpreter and on XLA's CPU backend, where JAX is installed.

    smith_xla.py [--count=200] [--seed=1] [--instructions=20] [--bin=build/bin] [--keep=FOLDER]

hlo-smith makes the modules, `heddle convert --to=stablehlo` hands them to XLA. Operations that XLA's backend rounds or
orders in its own way are left out or compared with a tolerance. Exit status 1 if results differ, 77 without JAX.
"""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

# Types both sides know; narrow floats are left to the corpus, since XLA computes chains of them in f32.
TYPES = "f32,f64,s8,s16,s32,s64,u8,u16,u32,u64,pred"
# Left out: sizes only known when running (StableHLO has bounds for them, XLA's CPU backend needs a static size), and what
# shows the bits of a NaN.
MIX = "dynamic-size=0,bitcast-convert=0,sort=0"
NUMPY = {"f32": "float32", "f64": "float64", "pred": "bool", **{f"s{n}": f"int{n}" for n in (8, 16, 32, 64)},
         **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)}}
PARAMETER = re.compile(r"^\s*(?:ROOT )?\S+ = (\w+)\[([\d,]*)\]\S* parameter\((\d+)\)", re.M)


def entry_parameters(text):
    """(element type, dims) of the entry's parameters."""
    found = {}
    for kind, dims, number in PARAMETER.findall(text[text.index("ENTRY"):]):
        found[int(number)] = (kind, [int(d) for d in dims.split(",") if d])
    return [found[number] for number in sorted(found)]


def arguments(text, seed):
    random = numpy.random.default_rng(seed)
    made = []
    for kind, dims in entry_parameters(text):
        if kind[0] == "f":
            made.append(random.integers(-64, 65, dims).astype(NUMPY[kind]) / 32)
        elif kind == "pred":
            made.append(random.integers(0, 2, dims).astype(bool))
        else:
            made.append(random.integers(0 if kind[0] == "u" else -8, 9, dims).astype(NUMPY[kind]))
    return [numpy.asarray(a) for a in made]


def on_heddle(heddle, path, inputs, results, folder):
    names = [folder / f"in{k}.npy" for k in range(len(inputs))]
    for name, value in zip(names, inputs):
        numpy.save(name, value)
    outputs = [folder / f"out{k}.npy" for k in range(results)]
    done = subprocess.run([heddle, "run", path, "--platform=interpreter", *(f"--input=@{n}" for n in names),
                           *(f"--output=@{n}" for n in outputs)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return [numpy.load(name) for name in outputs]


def on_xla(client, device_list, program, inputs):
    import jax
    executable = client.compile_and_load(program, device_list)
    return [numpy.asarray(a) for a in executable.execute([jax.device_put(a) for a in inputs])]


def differs(ours, theirs):
    """What is wrong, or an empty text. Errors grow through chains of operations, so floats get a wide bound and one
    element in fifty may leave it, as a comparison may have gone the other way."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{ours.shape} and {theirs.dtype}{theirs.shape}"
    if ours.dtype.kind == "f":
        bound = 1e-3 if ours.dtype == numpy.float32 else 1e-9
        with numpy.errstate(all="ignore"):
            same = numpy.isclose(ours, theirs, rtol=bound, atol=bound, equal_nan=True)
    else:
        same = ours == theirs
    return "" if same.all() else f"{(~same).sum()} of {same.size} elements differ"


def check(heddle, client, device_list, path, seed, folder):
    text = path.read_text(encoding="utf-8")
    inputs = arguments(text, seed)
    program = subprocess.run([heddle, "convert", path, "--to=stablehlo"], capture_output=True, check=False)
    if program.returncode:
        raise RuntimeError(program.stderr.decode().strip())
    theirs = on_xla(client, device_list, program.stdout, inputs)
    ours = on_heddle(heddle, path, inputs, len(theirs), folder)
    wrong = [f"result {k}: {d}" for k, (o, t) in enumerate(zip(ours, theirs)) if (d := differs(o, t))]
    return "; ".join(wrong)


def check_alone(options, path):
    """`check` in a process of its own: what XLA folds may take it down (INT_MIN / -1). Returns (verdict, text)."""
    command = [sys.executable, __file__, f"--bin={options.bin}", f"--seed={options.seed}", f"--one={path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return "skipped", "XLA was killed by a signal"
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:]
    text = last[0] if last else "no answer"
    if "Unsupported elementwise operation" in text:  # mulhi, which XLA's CPU backend lacks
        return "skipped", text
    return ("passed", "") if text == "same" else ("failed", text)


def check_one(options):
    import jax
    from jaxlib import _jax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    device = jax.devices("cpu")[0]
    with tempfile.TemporaryDirectory() as folder:
        try:
            wrong = check(options.bin / "heddle", device.client, _jax.DeviceList((device,)), options.one, options.seed,
                          pathlib.Path(folder))
        except Exception as error:  # pylint: disable=broad-except
            wrong = str(error).splitlines()[0]
    print(wrong or "same")
    return 0


def check_all(options):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([options.bin / "hlo-smith", f"--seed={options.seed}", f"--count={options.count}", "-o", folder,
                        f"--instructions={options.instructions}", f"--types={options.types}", f"--mix={options.mix}"],
                       check=True)
        paths = sorted(folder.glob("*.hlo"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, (verdict, text) in zip(paths, pool.map(lambda p: check_alone(options, p), paths)):
                counts[verdict] += 1
                if verdict != "passed":
                    print(f"{verdict} {path.name}: {text}", flush=True)
                if verdict == "failed" and options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    print(f"{counts['skipped']} that XLA cannot run")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--instructions", type=int, default=20)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--keep", type=pathlib.Path, help="where to keep the modules that differ")
    parser.add_argument("--mix", default=MIX)
    parser.add_argument("--types", default=TYPES)
    parser.add_argument("--one", type=pathlib.Path, help="check this module only")
    options = parser.parse_args()
    if not importlib.util.find_spec("jax"):
        print("skipped: JAX is not installed")
        return 77
    return check_one(options) if options.one else check_all(options)


if __name__ == "__main__":
    sys.exit(main())
