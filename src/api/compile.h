// The whole compiler behind two calls: a module to something that runs, or to code as text.
#ifndef HEDDLE_API_COMPILE_H_
#define HEDDLE_API_COMPILE_H_

#include "api/program_build.h"
#include "fuse/kept_fusions.h"
#include "kernel/program_plan.h"
#include "lower/pass.h"
#include "opt/pass.h"
#include "rt/buffer.h"
#include "rt/executable.h"

enum { COMPILE_STAGES_MAX = 16 };

// Where the time of a compilation went; a stage that runs once per kernel adds up.
typedef struct compile_times {
  struct compile_stage {
    const char *name;
    double seconds;
  } stages[COMPILE_STAGES_MAX];
  int count;
} compile_times;

typedef struct compile_options {
  bool exact;               // keep every rounding of the HLO (default: excess precision for bf16, f16 and narrower)
  bool scalar;              // no explicit vectors
  int threads;              // 0 = all cores
  const char *kernel_name;  // of the first kernel's symbol; null: "main"
  const char *chip;         // compile_ptx only: "sm_90"
  const kept_fusions_report *keep_fusions;  // fusions of the program stay as they are; null: they are formed anew
  const pass *const *hlo_passes;            // these HLO passes, which end with null; null: the pipeline
  pass_control *control;                    // who watches the passes over HLO and MLIR, and how many run; may be null
  void (*dump)(void *argument, const char *name, const char *suffix, str contents);  // every stage's text; may be null
  void *dump_argument;
} compile_options;

// A program ready to run. Everything but the JIT's code, the executable and the buffers lies in the arena it was
// compiled in.
typedef struct compiled {
  const module *source;  // as it was given; null for a program that was given as LHLO
  const lhlo_program *plan;
  program_kernels kernels;
  object_code *objects;  // one per kernel
  program program;
  executable *executable;
  int threads;
  cpu_jit *jit;
  buffer_cache *buffers;
  compile_times times;
} compiled;

// The front half: passes, fusion, schedule, buffers. `m` is not changed. `reasons` (may be null) receives a line for
// each decision.
heddle_status compile_plan(arena *a, const module *m, const target_description *target, const compile_options *options,
                           compile_times *times, text *reasons, lhlo_program **out);

// Compiles for the machine this runs on; ends with HEDDLE_CANCELLED between two passes or kernels when its call is
// cancelled (base/call.h). `m` must outlive the result. On failure nothing has to be released.
heddle_status compile_cpu(arena *a, const module *m, const compile_options *options, compiled *out);
// The back half alone: a program given as LHLO (planned for the CPU), which must outlive the result.
heddle_status compile_lhlo(arena *a, const lhlo_program *plan, const compile_options *options, compiled *out);
void compiled_release(compiled *c);

// The GPU form of the program's kernels as PTX, one text per kernel.
heddle_status compile_ptx(arena *a, const module *m, const compile_options *options, int *count, str **ptx);

#endif
