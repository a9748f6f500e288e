# How lit finds and runs the golden tests. In RUN lines the tools stand by their bare names.
#
# Substitutions: %examples and %include (folders of the source tree), %lib (where the libraries were built), %t and %s as
# everywhere in lit.
# Features (for REQUIRES and UNSUPPORTED): asan, ptxas, spirv-tools (spirv-val, spirv-dis),
# vulkan (a device that programs run on), vulkan-validation (Khronos's layer), avx2, avx512f, x86-64, aarch64.
import glob
import os
import platform
import shutil
import subprocess

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
if shutil.which("spirv-val") and shutil.which("spirv-dis"):
    config.available_features.add("spirv-tools")


def vulkan_devices():
    """Lines of `heddle info --devices` about Vulkan devices that can be used."""
    heddle = os.path.join(config.tools_folder, "heddle")
    if not os.path.exists(heddle):
        return []
    done = subprocess.run([heddle, "info", "--devices"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return [line for line in done.stdout.splitlines() if line.startswith("vulkan ") and ", which " not in line]


# Drivers are not compiled with the sanitizers, which would answer for what these leave behind.
if not config.sanitized and vulkan_devices():
    config.available_features.add("vulkan")
    if any(glob.glob(os.path.join(folder, "vulkan", "explicit_layer.d", "VkLayer_khronos_validation.json"))
           for folder in ("/etc", "/usr/share", "/usr/local/share")):
        config.available_features.add("vulkan-validation")
config.available_features.add({"x86_64": "x86-64"}.get(platform.machine(), platform.machine()))
try:
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        flags = cpuinfo.read().split()
    config.available_features.update({"avx2", "avx512f"} & set(flags))
except OSError:
    pass
