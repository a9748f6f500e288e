#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "target/cpu.h"

static bool has_feature(str features, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i + n + 1 <= features.size; i++) {
    bool starts = (i == 0 || features.data[i - 1] == ',') && features.data[i] == '+';
    bool ends = i + 1 + n == features.size || features.data[i + 1 + n] == ',';
    if (starts && ends && memcmp(features.data + i + 1, name, n) == 0) return true;
  }
  return false;
}

static int vector_bits(str features) {
  if (has_feature(features, "avx512f")) return 512;
  return has_feature(features, "avx2") ? 256 : 128;
}

heddle_status cpu_machine_host(arena *a, cpu_machine *out) {
  char *name = LLVMGetHostCPUName();
  char *features = LLVMGetHostCPUFeatures();
  str f = str_from(features);
  *out = (cpu_machine){
      .name = arena_strdup(a, name, strlen(name)),
      .features = arena_strdup(a, features, f.size),
      .vector_bits = vector_bits(f),
      .has_bf16 = has_feature(f, "avx512bf16"),
      .has_f16 = has_feature(f, "f16c") || has_feature(f, "fullfp16"),
      .has_fma = has_feature(f, "fma") || has_feature(f, "neon"),
  };
  LLVMDisposeMessage(name);
  LLVMDisposeMessage(features);
  return status_ok();
}

lower_options cpu_lower_options(const cpu_machine *machine, bool exact) {
  return (lower_options){
      .target = LOWER_CPU,
      .exact = exact,
      .vector_bits = machine->vector_bits,
      .has_bf16 = machine->has_bf16,
      .has_f16 = machine->has_f16,
      .has_fma = machine->has_fma,
      .max_unroll = 4,
      .chip = machine->name,
  };
}
