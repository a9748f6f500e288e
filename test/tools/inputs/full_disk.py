"""Every way in which a tool writes, onto a disk that is full: each must end with exit status 1 and an error line.

    full_disk.py FOLDER    (an empty one)

Standard output is /dev/full. Files are written under a limit of no bytes a file, which a write exceeds as it would a
disk. What each way writes when there is room is checked first, so that no row can pass by writing nothing.
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

HLO = """fused {
  p = f32[8] parameter(0)
  ROOT e = f32[8] exponential(p)
}

ENTRY main {
  p = f32[8] parameter(0)
  ROOT f = f32[8] fusion(p), kind=kLoop, calls=fused
}
"""
CONSTANT = "ENTRY main {\n  ROOT c = f32[3] constant({1, 2, 3})\n}\n"
MLIR = "func.func @f(%arg0: f32) -> f32 {\n  return %arg0 : f32\n}\n"

FORMS = ("asm", "llvm", "mlir", "lowered", "plan", "lhlo")
TO_STDOUT = [
    "heddle --help", "heddle run --help", "heddle ops", "heddle run c.hlo --print",
    "heddle run c.hlo --platform=interpreter --print",
    *(f"heddle compile m.hlo --emit={form}" for form in FORMS), "heddle compile m.hlo --emit=ptx",
    "heddle compile m.hlo --emit=obj -o -",
    *(f"heddle convert c.hlo --to={form}" for form in ("hlo", "stablehlo", "pb", "pbtxt")),
    "heddle info m.hlo", "heddle info m.hlo --json", "heddle info --help",
    "fusion_to_mlir m.hlo", "fusion_to_mlir --plan m.hlo", "fusion_to_mlir --partition m.hlo", "fusion_to_mlir --help",
    "hlo-opt m.hlo", "hlo-opt --until=plan m.hlo", "hlo-opt --list-passes", "hlo-opt --help",
    "emitters_opt m.mlir", "emitters_opt --split-input-file m.mlir", "emitters_opt --help",
    "run_hlo_module m.hlo", "run_hlo_module --print_literals m.hlo", "run_hlo_module --v=5 m.hlo",
    "run_hlo_module --isolate_instructions m.hlo", "run_hlo_module --help",
    "test_correctness m.hlo", "test_correctness --help",
    "hlo-smith", "hlo-smith --kinds", "hlo-smith --check=text --count=2", "hlo-smith --help",
]
TO_STDERR = ["heddle run c.hlo --time", "heddle run c.hlo --profile", "hlo-opt m.hlo --pipeline --print-after-all"]
TO_FILES = [
    "heddle run c.hlo --output=@out/a.npy", "heddle run c.hlo --platform=interpreter --output=@out/a.npy",
    "heddle run m.hlo --input=@x.npy --dump_to=out",
    "heddle compile m.hlo -o out/a.o", *(f"heddle compile m.hlo --emit={form} -o out/a" for form in FORMS),
    *(f"heddle convert c.hlo --to={form} -o out/a" for form in ("hlo", "stablehlo", "pb", "pbtxt")),
    "hlo-opt m.hlo -o out/a.hlo", "hlo-opt m.hlo --until=plan -o out/a.hlo",
    "run_hlo_module m.hlo --output_literals_file=out/a.txt", "run_hlo_module m.hlo --xla_dump_to=out",
    "hlo-smith -o out",
]


def fill(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, contents in (("m.hlo", HLO), ("c.hlo", CONSTANT), ("m.mlir", MLIR)):
        (folder / name).write_text(contents, encoding="utf-8")
    one = folder / "one.hlo"
    one.write_text("ENTRY main {\n  ROOT c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})\n}\n", encoding="utf-8")
    subprocess.run(["heddle", "run", "--platform=interpreter", one, f"--output=@{folder}/x.npy"], check=True)


def run(folder, command, stdout, stderr=subprocess.PIPE, limit=None):
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    return subprocess.run(command.split(), cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                          text=True, errors="replace", check=False, preexec_fn=no_room if limit is not None else None)


def errors(folder, command, stream):
    """What is wrong with how the command meets a full disk, or null."""
    room = run(folder, command, subprocess.PIPE)
    wrote = {"stdout": room.stdout, "stderr": room.stderr, "files": any((folder / "out").iterdir())}[stream]
    if room.returncode or not wrote:
        return f"exit status {room.returncode} with room: {room.stderr}" if room.returncode else "writes nothing"
    with open("/dev/full", "w", encoding="utf-8") as full:
        if stream == "stdout":
            done = run(folder, command, full)
        elif stream == "stderr":
            done = run(folder, command, subprocess.DEVNULL, full)
        else:
            done = run(folder, command, subprocess.PIPE, limit=0)
    if done.returncode != 1:
        return f"exit status {done.returncode}, wanted 1"
    if stream != "stderr" and "error: cannot write" not in done.stderr:
        return f"no error line: {done.stderr!r}"
    return None


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    fill(folder)
    failed = 0
    rows = [(c, "stdout") for c in TO_STDOUT] + [(c, "stderr") for c in TO_STDERR] + [(c, "files") for c in TO_FILES]
    for command, stream in rows:
        wrong = errors(folder, command, stream)
        if wrong:
            print(f"{command} ({stream}): {wrong}")
        failed += bool(wrong)
    print(f"{len(rows) - failed} ways fail loudly, {failed} do not")
    sys.exit(failed > 0)


if __name__ == "__main__":
    if not os.path.exists("/dev/full"):
        sys.exit("there is no /dev/full")
    main()
