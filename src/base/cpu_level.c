// One global level, read without a lock: it is set before threads start.
#include "base/cpu_level.h"

#include <string.h>

#define V2 "+cx16,+sahf,+mmx,+popcnt,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3"
#define V3 V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define V4 V3 ",+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl"
#define COOPERLAKE V4 ",+avx512vnni,+avx512bf16"

// Levels as the x86-64 psABI defines them; what products of narrow numbers have beyond is Cooper Lake's.
const cpu_level_info cpu_levels[CPU_LEVEL_COUNT] = {
    [CPU_LEVEL_NATIVE] = {"native", NULL, NULL, NULL},
    [CPU_LEVEL_V2] = {"x86-64-v2", V2, "SSE41", "Nehalem"},
    [CPU_LEVEL_V3] = {"x86-64-v3", V3, "AVX2", "Haswell"},
    [CPU_LEVEL_V4] = {"x86-64-v4", V4, "AVX512_CORE", "SkylakeX"},
    [CPU_LEVEL_COOPERLAKE] = {"cooperlake", COOPERLAKE, "AVX512_CORE_BF16", "Cooperlake"},
};

static cpu_level limit = CPU_LEVEL_NATIVE;

bool cpu_level_find(const char *name, cpu_level *out) {
  for (int k = 0; k < CPU_LEVEL_COUNT; k++) {
    if (strcmp(name, cpu_levels[k].name) != 0) continue;
    *out = (cpu_level)k;
    return true;
  }
  return false;
}

bool cpu_level_runs(cpu_level level) {
#if defined(__x86_64__)
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  switch (level) {
    case CPU_LEVEL_V2: return v2;
    case CPU_LEVEL_V3: return v3;
    case CPU_LEVEL_V4: return v4;
    case CPU_LEVEL_COOPERLAKE:
      return v4 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
    default: return true;
  }
#else
  return level == CPU_LEVEL_NATIVE;
#endif
}

void cpu_level_limit(cpu_level level) { limit = level; }
cpu_level cpu_level_now(void) { return limit; }

bool cpu_level_has_avx2(void) {
#if defined(__x86_64__)
  return limit != CPU_LEVEL_V2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool cpu_level_has_avx512(void) {
  return (limit == CPU_LEVEL_NATIVE || limit >= CPU_LEVEL_V4) && cpu_level_runs(CPU_LEVEL_V4);
}
