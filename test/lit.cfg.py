# How lit finds and runs the golden tests. In RUN lines the tools stand by their bare names.
#
# Substitutions: %examples and %include (folders of the source tree), %lib (where the libraries were built), %t and %s as
# everywhere in lit.
# Features (for REQUIRES and UNSUPPORTED): asan, ptxas, avx2, avx512f, x86-64, aarch64.
import os
import platform
import shutil

import lit.formats

config.name = "heddle"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".hlo", ".mlir", ".test"]
config.excludes = ["inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.build_folder, "test")

source_folder = os.path.dirname(config.test_source_root)
config.substitutions.append(("%examples", os.path.join(source_folder, "examples")))
config.substitutions.append(("%include", os.path.join(source_folder, "include")))
config.substitutions.append(("%lib", os.path.join(config.build_folder, "lib")))

# Debian names the LLVM tools FileCheck-19 and so on; under their own prefix they keep their plain names.
config.environment["PATH"] = os.pathsep.join(
    [config.tools_folder, config.llvm_tools_folder, os.environ.get("PATH", "")])
config.environment.update(setting.split("=", 1) for setting in config.test_environment.split(";"))

if config.sanitized:
    config.available_features.add("asan")
if shutil.which("ptxas"):
    config.available_features.add("ptxas")
config.available_features.add({"x86_64": "x86-64"}.get(platform.machine(), platform.machine()))
try:
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        flags = cpuinfo.read().split()
    config.available_features.update({"avx2", "avx512f"} & set(flags))
except OSError:
    pass
