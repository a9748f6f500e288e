"""Assembles vulkan_NAME.spvasm and compares the words with the array NAME of a C file: SOURCE FOLDER SCRATCH."""
import pathlib
import re
import struct
import subprocess
import sys

source, folder, scratch = (pathlib.Path(argument) for argument in sys.argv[1:])
arrays = re.findall(r"uint32_t (\w+)\[\] = \{([^}]*)\}", source.read_text(encoding="utf-8"))
assert len(arrays) == 3, len(arrays)
for name, text in arrays:
    words = [int(word, 0) for word in text.replace("\n", " ").split(",") if word.strip()]
    subprocess.run(["spirv-as", "--target-env", "spv1.3", folder / f"vulkan_{name}.spvasm", "-o", scratch], check=True)
    subprocess.run(["spirv-val", "--target-env", "vulkan1.2", scratch], check=True)
    made = list(struct.unpack(f"<{scratch.stat().st_size // 4}I", scratch.read_bytes()))
    made[2] = 0  # which assembler it was
    assert made == words, f"{name} is not what spirv-as makes"
