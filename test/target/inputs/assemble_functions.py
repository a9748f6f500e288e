"""assemble_functions.py CHIP FOLDER TYPE...: compiles each type's module of all functions (all_functions.py) to PTX,
demands that it declares nothing that it does not define, and assembles it."""
import pathlib
import subprocess
import sys

chip, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
for dtype in sys.argv[3:]:
    module, ptx = folder / f"{dtype}.hlo", folder / f"{dtype}.ptx"
    maker = pathlib.Path(__file__).with_name("all_functions.py")
    module.write_text(subprocess.run([sys.executable, maker, dtype], check=True, stdout=subprocess.PIPE,
                                     text=True).stdout, encoding="utf-8")
    subprocess.run(["heddle", "compile", module, "--emit=ptx", f"--chip={chip}", "-o", ptx], check=True)
    subprocess.run(["ptxas", f"-arch={chip}", ptx, "-o", folder / "cubin"], check=True)
    text = ptx.read_text(encoding="utf-8")
    if ".extern .func" in text:
        sys.exit(f"{dtype}: a function is only declared")
    print(f"{dtype}: {text.count('.visible .entry')} kernels")
