"""Programs that are read and then refused, or that fail as they run: each gives one error with its file, line and column.

    located_errors.py FOLDER
"""
import pathlib
import subprocess
import sys

SUM = "r { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a,b) }\n"
LESS = "r { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a,b), direction=LT }\n"
UNBOUNDED = {
    "add": "ENTRY e { p = f32[?] parameter(0) ROOT a = f32[?] add(p, p) }",
    "fusion": "f { p = f32[?] parameter(0) ROOT a = f32[?] add(p,p) }\n"
              "ENTRY e { p = f32[?] parameter(0) ROOT a = f32[?] fusion(p), kind=kLoop, calls=f }",
    "reduce": SUM + "ENTRY e { p = f32[?,4] parameter(0) z = f32[] constant(0) "
                    "ROOT a = f32[?] reduce(p, z), dimensions={1}, to_apply=r }",
    "dot": "ENTRY e { p = f32[?,4] parameter(0) q = f32[4,?] parameter(1) "
           "ROOT a = f32[?,?] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "sort": LESS + "ENTRY e { p = f32[?] parameter(0) ROOT a = f32[?] sort(p), dimensions={0}, to_apply=r }",
    "parameter": "ENTRY e { ROOT p = f32[?] parameter(0) }",
}


def sized(n):
    """Programs that name an array of n elements, small as they are."""
    return {
        "add": f"ENTRY e {{ p = f32[{n}] parameter(0) ROOT a = f32[{n}] add(p, p) }}",
        "bound": f"ENTRY e {{ p = f32[<={n}] parameter(0) ROOT a = f32[<={n}] add(p, p) }}",
        "broadcast": f"ENTRY e {{ p = s8[] parameter(0) ROOT b = s8[{n}] broadcast(p), dimensions={{}} }}",
        "pad": f"ENTRY e {{ p = s8[4] parameter(0) z = s8[] constant(0) ROOT a = s8[{n}] pad(p, z), padding=0_{n - 4} }}",
        "tuple": f"ENTRY e {{ p = s8[] parameter(0) b = s8[{n}] broadcast(p), dimensions={{}} "
                 f"ROOT t = (s8[{n}], s8[{n}], s8[{n}]) tuple(b, b, b) }}",
        "dot": f"ENTRY e {{ p = f32[{n}] parameter(0) q = f32[{n}] parameter(1) ROOT a = f32[{n},{n}] dot(p, q), "
               "lhs_contracting_dims={}, rhs_contracting_dims={} }",
        "fft": f"ENTRY e {{ p = c64[{n}] parameter(0) ROOT a = c64[{n}] fft(p), fft_type=FFT, fft_length={{{n}}} }}",
        "bits": f"ENTRY e {{ p = u64[2] parameter(0) "
                f"ROOT a = (u64[2], u32[{n}]) rng-bit-generator(p), algorithm=rng_three_fry }}",
        "window": SUM + f"ENTRY e {{ p = f32[4] parameter(0) z = f32[] constant(0) "
                        f"ROOT a = f32[{n + 4}] reduce-window(p, z), window={{size=1 pad={n}_0}}, to_apply=r }}",
    }


HEADER = "ENTRY e { p = f32[] parameter(0) ROOT a = f32[] add(p, p) }"
OTHER = {
    **{f"{name}={n}": f"HloModule m, {name}={n}\n{HEADER}"
       for name in ("replica_count", "num_partitions") for n in ("12345", "-1", "0", "99999999999999999999")},
    "state": "ENTRY e { p = u64[1] parameter(0) ROOT a = (u64[1], u32[8]) rng-bit-generator(p), algorithm=rng_philox }",
    "custom call": "ENTRY e { p = f32[4] parameter(0) ROOT a = f32[4] custom-call(p, p), "
                   "custom_call_target=\"lapack_spotrf_ffi\" }",
}
TOOLS = ("heddle compile --emit=asm", "heddle compile --emit=lhlo", "hlo-opt --until=plan", "fusion_to_mlir",
         "run_hlo_module", "run_hlo_module --platform=interpreter --reference_platform=")


def complaint(folder, name, source, tool):
    (folder / "m.hlo").write_text(source, encoding="utf-8")
    done = subprocess.run([*tool.split(), "m.hlo"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False, timeout=100)
    # A sanitizer may have warned before of the memory that it refuses.
    first = next((line for line in done.stderr.splitlines() if "error: " in line), "")
    if done.returncode == 1 and first.startswith("m.hlo:") and ": error: " in first and \
            ("=" not in name or name in first):
        return 0
    print(f"{name}, {tool}: exit status {done.returncode}, {first}")
    return 1


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    programs = {f"unbounded {name}": source for name, source in UNBOUNDED.items()}
    for exponent in (50, 60, 62, 63, 64):
        for less in (0, 1):
            programs |= {f"2^{exponent}-{less} {name}": s for name, s in sized(2**exponent - less).items()}
    # `heddle compile` compiles those with open sizes, once for all.
    wrong = sum(complaint(folder, name, source, TOOLS[2 + k % 3 if "bound" in name else k % 5])
                for k, (name, source) in enumerate(programs.items()))
    wrong += sum(complaint(folder, name, source, "run_hlo_module") for name, source in OTHER.items())
    wrong += sum(complaint(folder, name, source, TOOLS[5]) for name, source in sized(2**50).items() if name != "window")
    print(f"{wrong} errors without a place")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
