// The table of what generates code for which kind of target.
#include "target/code_generators.h"

#include "target/cpu.h"
#include "target/null.h"
#include "target/nvptx.h"
#include "target/vulkan.h"

const code_generator code_generators[TARGET_KIND_COUNT] = {
    [TARGET_CPU] = {IMAGE_ELF, "o", NULL, cpu_emit, NULL},
    [TARGET_NVPTX] = {IMAGE_PTX, "ptx", nvptx_prepare, nvptx_emit, nvptx_join},
    [TARGET_VULKAN] = {IMAGE_SPIRV, "spv", NULL, vulkan_emit, NULL},
    [TARGET_NULL] = {IMAGE_MLIR, "mlir", NULL, null_emit, NULL},
};

static const code_generator simulated = {IMAGE_LLVM, "bc", NULL, nvptx_emit_bitcode, NULL};

const code_generator *code_generator_find(target_kind kind, bool simulates) {
  return simulates && kind == TARGET_NVPTX ? &simulated : &code_generators[kind];
}
