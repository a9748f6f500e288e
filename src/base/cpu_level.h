// The instruction set that a process limits itself to: all that the machine has, or one of the levels of x86-64 that
// compilers and distributions name alike. Code that is generated and our own routines in src/lib keep to it; oneDNN and
// OpenBLAS do where their variables of the environment were set before they were loaded. FFTW and the C library know no
// limit; the interpreter's results are the same on all.
#ifndef HEDDLE_BASE_CPU_LEVEL_H_
#define HEDDLE_BASE_CPU_LEVEL_H_

#include <stdbool.h>

#include "base/str.h"

typedef enum cpu_level {
  CPU_LEVEL_NATIVE,
  CPU_LEVEL_V2,          // SSE4.2
  CPU_LEVEL_V3,          // AVX2, FMA
  CPU_LEVEL_V4,          // AVX-512 F, BW, CD, DQ, VL
  CPU_LEVEL_COOPERLAKE,  // … with VNNI and BF16
  CPU_LEVEL_COUNT
} cpu_level;

typedef struct cpu_level_info {
  const char *name;      // as LLVM calls the processor
  const char *features;  // as LLVM lists them; of NATIVE null, as the machine is asked
  const char *onednn;    // value of ONEDNN_MAX_CPU_ISA
  const char *openblas;  // value of OPENBLAS_CORETYPE
} cpu_level_info;

extern const cpu_level_info cpu_levels[CPU_LEVEL_COUNT];

// False if no level has the name.
bool cpu_level_find(const char *name, cpu_level *out);

// Whether this machine has the level's instructions.
bool cpu_level_runs(cpu_level level);

// The process's limit; set once, before threads start.
void cpu_level_limit(cpu_level level);
cpu_level cpu_level_now(void);

// Whether the machine has AVX2 and FMA and may use them.
bool cpu_level_has_avx2(void);
// The same of AVX-512, as much of it as V4 has.
bool cpu_level_has_avx512(void);

#endif
