#!/usr/bin/env python3
"""What is installed is whole: the libraries show what their headers declare, the headers compile as C99, C11 and C++17,
the examples build and run from the installed tree through pkg-config and through CMake's find_package, manual pages and
completions work, and the Debian packages hold the same.

    install_test.py [--build=build]
    install_test.py --names    # of the libraries as they are built, and nothing else

Prints a line for each check, and exits with 1 if one fails.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIALECTS = [["gcc", "-std=c99"], ["gcc", "-std=c11"], ["clang-19", "-std=c99"], ["clang-19", "-std=c11"],
            ["g++", "-std=c++17"], ["clang++-19", "-std=c++17"]]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
# Every struct that has a size, made by its macro in each language.
HEADER_TEST = """
int main(void) {
%s  return 0;
}
"""
# What the manual must say; the rest is what --help says.
MANUAL = ["NAME", "SYNOPSIS", "heddle run MODULE", "--input=", "EXIT STATUS"]
COMPLETIONS = [("heddle ", "run"), ("heddle run --plat", "--platform=cpu"), ("heddle ops --h", "--help"),
               ("heddle compile --emi", "--emit="), ("heddle run with", "with blank.hlo"), ("heddle run --input = @ with", "with blank.hlo")]


def run(command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=600, check=False, **how)
    return done.returncode, done.stdout


def must(command, **how):
    """The output of a command that has to succeed."""
    status, output = run(command, **how)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {status}\n{output}")
    return output


def shown(library):
    """The names that a shared library shows, and their versions."""
    lines = must(["nm", "-D", "--defined-only", "--extern-only", library]).splitlines()
    return {m[1]: m[2] for m in (re.match(r"\S+ T (\w+)@@(\w+\.[\d.]+)$", line) for line in lines) if m}, [
        line for line in lines if not re.match(r"\S+ (T heddle_\w+@@HEDDLE_[\d.]+|A HEDDLE_[\d.]+)$", line)]


def declared(include, headers=None):
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted(include.glob("*.h"))
                     if headers is None or p.name in headers)
    return set(re.findall(r"HEDDLE_API [^;(]*?(heddle_\w+)\(", re.sub(r"//[^\n]*", "", text)))


def check_names(include, folder):
    """libraries show what their headers declare, with versions, and nothing else"""
    names = declared(include)
    seen = set()
    for library in sorted(folder.glob("lib*.so")):
        versions, others = shown(library)
        if others:
            raise RuntimeError(f"{library.name} shows what is not its own:\n" + "\n".join(others[:20]))
        if not set(versions) <= names:
            raise RuntimeError(f"{library.name} shows what no header declares: {sorted(set(versions) - names)}")
        dynamic = must(["readelf", "-d", library])
        if not re.search(r"soname: \[lib[\w-]+\.so\.\d+\]", dynamic):
            raise RuntimeError(f"{library.name} has no SONAME")
        seen |= set(versions)
    if seen != names:
        raise RuntimeError(f"no library has what is declared: {sorted(names - seen)}")


def check_headers(prefix, folder):
    """headers compile in every language, alone and together"""
    headers = sorted((prefix / "include/heddle").glob("*.h"))
    text = "".join(h.read_text(encoding="utf-8") for h in headers)
    structs = re.findall(r"#define (HEDDLE_\w+_INIT) HEDDLE_INIT\((heddle_\w+)\)", text)
    body = "".join(f"  {name} x{k} = {macro};\n  if (x{k}.struct_size != sizeof x{k}) return 1;\n"
                   for k, (macro, name) in enumerate(structs))
    if not structs:
        raise RuntimeError("no struct with a size was found")
    for compiler, standard in DIALECTS:
        suffix = "cc" if "++" in compiler else "c"
        for chosen in [headers, *([h] for h in headers)]:
            source = folder / f"headers.{suffix}"
            source.write_text("".join(f"#include <heddle/{h.name}>\n" for h in chosen) +
                              HEADER_TEST % (body if chosen is headers else ""), encoding="utf-8")
            must([compiler, standard, *WARNINGS, f"-I{prefix}/include", source, "-o", folder / "headers"])
            must([folder / "headers"])


def expected_outputs():
    """{example: what it prints, a regular expression}"""
    text = (ROOT / "examples/CMakeLists.txt").read_text(encoding="utf-8")
    return {name: output.replace("\\n", "\n") for name, output in re.findall(r'^heddle_example\((\w+) "(.*)"\)', text, re.M)}


def check_pkg_config(prefix, folder):
    """examples build through pkg-config and run"""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = must(["pkg-config", "--cflags", "--libs", "heddle"], env=environment).split()
    for name, output in expected_outputs().items():
        source, program = prefix / f"share/heddle/examples/{name}.c", folder / name
        must(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", source, *flags, "-lm", f"-Wl,-rpath,{prefix}/lib", "-o", program])
        found = must([program], cwd=folder)
        if not re.search(output, found):
            raise RuntimeError(f"{name} printed\n{found}")


def check_folders(folder):
    """pkg-config finds headers and libraries wherever a tree has them, Debian's folders per machine included"""
    for number, (lib, include) in enumerate([("lib/x86_64-linux-gnu", "include"), ("lib64", "include/deep"), ("lib", "include")]):
        build, root = folder / f"configured{number}", folder / f"moved{number}"
        must(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_PREFIX=/usr",
              "-DCMAKE_CXX_COMPILER=clang++-19", f"-DCMAKE_INSTALL_LIBDIR={lib}", f"-DCMAKE_INSTALL_INCLUDEDIR={include}"])
        place = root / lib / "pkgconfig"
        place.mkdir(parents=True)
        for name in ("heddle", "heddle-runtime"):
            (place / f"{name}.pc").write_text((build / f"{name}.pc").read_text(encoding="utf-8"), encoding="utf-8")
            for variable, wanted in (("libdir", root / lib), ("includedir", root / include)):
                found = must(["pkg-config", f"--variable={variable}", name],
                             env={**os.environ, "PKG_CONFIG_PATH": str(place)}).strip()
                if os.path.normpath(found) != str(wanted):
                    raise RuntimeError(f"{name}.pc says {variable}={found} in {place}, wanted {wanted}")


def check_object(prefix, folder):
    """a program becomes an object and a header that link with libm alone"""
    examples = prefix / "share/heddle/examples"
    must([prefix / "bin/heddle", "compile", examples / "softmax.mlir", "--emit=object", "--name=softmax", "-o",
          folder / "softmax_object.o"])
    must(["gcc", "-std=c11", "-O1", f"-I{folder}", examples / "object.c", folder / "softmax_object.o", "-lm", "-o",
          folder / "object"])
    if must([folder / "object"]) != "0.25 0.25 0.25 0.25\n0 0.5 0.5 0\n":
        raise RuntimeError("the object gave something else")


def check_cmake(prefix, folder):
    """examples build through find_package in a clean tree and pass their tests"""
    source = prefix / "share/heddle/examples"
    must(["cmake", "-S", source, "-B", folder / "clean", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"])
    must(["cmake", "--build", folder / "clean"])
    must(["ctest", "--test-dir", folder / "clean", "--no-tests=error"])


def check_manual(prefix, build):
    """manual pages have no warnings and say what --help says"""
    pages = sorted((prefix / "share/man/man1").iterdir())
    tools = {p.name for p in (prefix / "bin").iterdir()}
    if {p.name for p in pages} != {f"{t}.1" for t in tools}:
        raise RuntimeError(f"found the pages {[p.name for p in pages]} for the tools {sorted(tools)}")
    for path in pages:
        warnings = must(["groff", "-man", "-Tutf8", "-ww", "-z", path])
        if warnings.strip():
            raise RuntimeError(warnings)
    text = must(["sh", "-c", f"groff -man -Tascii -P-cbou {prefix}/share/man/man1/heddle.1"])
    for wanted in MANUAL:
        if wanted not in text:
            raise RuntimeError(f"heddle.1 does not say {wanted}")
    for line in must([prefix / "bin/heddle", "run", "--help"]).splitlines():
        flag = re.match(r"  (--[a-z]\S*?)[= ]", line)
        if flag and flag[1] not in text:
            raise RuntimeError(f"heddle.1 does not have {flag[1]} of heddle run")


def check_completion(prefix, folder):
    """completions offer commands, flags and values"""
    script = prefix / "share/bash-completion/completions/heddle"
    for line, wanted in COMPLETIONS:
        words = line.split(" ")
        quoted = " ".join(f"'{w}'" for w in words)
        (folder / "with blank.hlo").touch()
        found = must(["bash", "-c", f"cd '{folder}'; compopt() {{ :; }}; . {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
                                    '_heddle; printf "%s\\n" "${COMPREPLY[@]}"']).split("\n")
        if wanted not in found:
            raise RuntimeError(f"'{line}' was completed to {found}, wanted {wanted} among them")
    if subprocess.run(["sh", "-c", "command -v zsh"], capture_output=True, check=False).returncode == 0:
        must(["zsh", "-n", prefix / "share/zsh/vendor-completions/_heddle"])


def check_packages(build, folder):
    """cpack makes the packages, which hold together what is installed and name what they depend on"""
    must(["cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder / "packages"])
    packages = sorted((folder / "packages").glob("*.deb"))
    names = {p.name.split("_")[0] for p in packages}
    if not {"heddle", "libheddle", "libheddle-dev"} <= names:
        raise RuntimeError(f"found the packages {sorted(names)}")
    root = folder / "root"
    for package in packages:
        must(["dpkg-deb", "-x", package, root])
        depends = must(["dpkg-deb", "-f", package, "Depends"])
        if not depends.strip():
            raise RuntimeError(f"{package.name} depends on nothing")
    return root / "usr"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--names", action="store_true")
    o = parser.parse_args()
    build = o.build.resolve()
    if o.names:
        check_names(ROOT / "include/heddle", build / "lib")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        installed = folder / "installed"
        must(["cmake", "--install", build, "--prefix", installed])
        packaged = []
        checks = [("names", lambda: check_names(installed / "include/heddle", installed / "lib")), ("headers", lambda: check_headers(installed, folder)),
                  ("pkg-config", lambda: check_pkg_config(installed, folder)),
                  ("folders", lambda: check_folders(folder)),
                  ("find-package", lambda: check_cmake(installed, folder)), ("object", lambda: check_object(installed, folder)),
                  ("manual", lambda: check_manual(installed, build)), ("completion", lambda: check_completion(installed, folder)),
                  ("packages", lambda: packaged.append(check_packages(build, folder))),
                  ("packages-names", lambda: check_names(packaged[0] / "include/heddle", packaged[0] / "lib")),
                  ("packages-pkg-config", lambda: check_pkg_config(packaged[0], folder))]
        for title, check in checks:
            try:
                check()
                print(f"passed {title}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"FAILED {title}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
