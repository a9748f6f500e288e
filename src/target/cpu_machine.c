#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "base/cpu_features.h"
#include "base/guard.h"
#include "base/lock.h"
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

// AVX-512 has 32 registers, as have Arm's vectors; the older x86 extensions have 16.
static int vector_registers(str features) {
  return has_feature(features, "avx512f") || has_feature(features, "neon") ? 32 : 16;
}

target_description cpu_target_host(arena *a, int threads) { return cpu_target_level(a, threads, cpu_level_now()); }

target_product_costs cpu_target_products(cpu_level number) {
  arena *scratch = arena_create();
  const target_product_costs costs = cpu_target_level(scratch, 1, number).products;
  arena_destroy(scratch);
  return costs;
}

// What LLVM says of the host, which the heap does not know.
typedef struct host {
  char *name, *features;
} host;

// Asked once: the processor is asked with an instruction that takes a virtual machine some 30 us, and there are many.
// Texts stay as long as the process.
static struct {
  lock lock;
  host known;
} kept = {.lock = LOCK_INITIALIZER};

static host kept_host(void) {
  lock_take(&kept.lock);
  const host known = kept.known;
  lock_give(&kept.lock);
  return known;
}

// What is made of it.
typedef struct description {
  arena *arena;
  const cpu_level_info *level;
  host asked;  // by this call, whose it is; nothing if it was known
  target_description *out;
} description;

static heddle_status describe(void *argument) {
  description *d = argument;
  target_description *t = d->out;
  host h = kept_host();
  if (!h.features) {
    d->asked.name = LLVMGetHostCPUName();
    d->asked.features = LLVMGetHostCPUFeatures();
    h = d->asked;
  }
  const bool is_limited = d->level->features != NULL;
  const str f = str_from(is_limited ? d->level->features : h.features);
  t->chip = is_limited ? d->level->name : arena_strdup(d->arena, h.name, strlen(h.name));
  t->features = arena_strdup(d->arena, f.data, f.size);
  target_choose_vectors(t, vector_bits(f), has_feature(f, "avx512vnni") || has_feature(f, "avxvnni"));
  if (has_feature(f, "amx-int8")) target_choose_matrices(t);
  t->vector_registers = vector_registers(f);
  // Processors with AMX take longer for AVX512-BF16's products than for as many multiply-adds of f32.
  t->multiplies_bf16 = has_feature(f, "avx512bf16") && !has_feature(f, "amx-bf16");
  t->has_bf16 = has_feature(f, "avx512bf16");
  t->has_f16 = has_feature(f, "f16c") || has_feature(f, "fullfp16");
  t->has_fma = has_feature(f, "fma") || has_feature(f, "neon");
  return status_ok();
}

// What was asked is kept, or given back where another thread was first.
static void keep(void *argument, bool is_torn) {
  const description *d = argument;
  const host h = d->asked;
  if (is_torn) return;
  lock_take(&kept.lock);
  const bool is_first = h.name && h.features && !kept.known.features;
  if (is_first) kept.known = h;
  lock_give(&kept.lock);
  if (!is_first && h.name) LLVMDisposeMessage(h.name);
  if (!is_first && h.features) LLVMDisposeMessage(h.features);
}

target_description cpu_target_level(arena *a, int threads, cpu_level number) {
  target_description t = target_cpu(threads);
  description d = {.arena = a, .level = &cpu_levels[number], .out = &t};
  heddle_status_free(guard_clean_up(describe, keep, &d));  // fails by ending the call's guard alone
  keep(&d, false);
  return t;
}

heddle_status cpu_target_cross(arena *a, const char *triple, int threads, target_description *out) {
  if (strncmp(triple, "aarch64-", 8) != 0)
    return status_error(HEDDLE_INVALID, "found the machine %s, wanted aarch64-linux-gnu", triple);
  *out = target_cpu(threads);
  out->triple = arena_strdup(a, triple, strlen(triple));
  out->chip = "generic";
  out->features = "+fp-armv8,+neon";
  target_choose_vectors(out, 128, false);
  out->vector_registers = 32;
  out->has_fma = true;
  return status_ok();
}

const char *cpu_target_machine(const target_description *target) {
  return target->triple ? "aarch64" : cpu_features_machine();
}
