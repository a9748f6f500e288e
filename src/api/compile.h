// The whole compiler behind one call: a module to a program for any target, ready to run where this process can.
#ifndef HEDDLE_API_COMPILE_H_
#define HEDDLE_API_COMPILE_H_

#include "api/open_borders.h"
#include "api/open_kernel.h"
#include "api/program_build.h"
#include "api/stages.h"
#include "api/tile_failures.h"
#include "base/cpu_level.h"
#include "base/memory_limit.h"
#include "fuse/kept_fusions.h"
#include "link/link.h"
#include "lower/pass.h"
#include "opt/pass.h"
#include "rt/buffer.h"
#include "rt/executable.h"
#include "simulate/simulator.h"
#include "stablehlo/import_options.h"
#include "target/cpu.h"

// The plans of a program for open sizes with stand-ins that nothing divides (open_samples.is_odd), one for each sample,
// of which kernels are made that take sizes when they run.
typedef struct open_plans {
  const open_samples *samples, *shown;  // shown: those of the program that is made
  lhlo_program *const *plans;
} open_plans;

// Gives a kernel of tiles a module that was made elsewhere, at any stage of the road through tiles; a null module: it
// is emitted from its plan. Called on the threads that compile.
typedef heddle_status (*compile_region)(void *argument, MlirContext context, arena *scratch, const kernel_plan *kernel,
                                        MlirModule *out);

typedef struct compile_options {
  bool exact;              // keep every rounding of the HLO (default: excess precision for bf16, f16 and narrower)
  bool deterministic;      // on GPUs, too, every run rounds alike, which costs scatters the atomic operations
  bool scalar;             // no explicit vectors
  int threads;             // 0 = all cores
  bool simulate;           // kernels for a GPU, which the kernel simulator runs; libraries only where no kernel can
  target_codegen codegen;  // who makes code where several could
  bool specializes;    // a program with open sizes is compiled for each of the sizes that its runs have, when they come
  bool runs;           // code for a device is made to be run on it; a CPU's always is
  bool is_saved;       // code is made to be written to a file and not linked into this process
  const char *triple;  // of the machine that runs the code, if it is another one (is_saved): aarch64-linux-gnu
  cpu_level cpu;       // of a CPU: the instruction set of the code; native: what the process keeps to
  const char *kernel_name;                  // of the first kernel's symbol; null: "main"
  const target_description *target;         // null: this machine's CPU, with `threads`
  const kept_fusions_report *keep_fusions;  // fusions of the program stay as they are; null: they are formed anew
  const pass *const *hlo_passes;            // these HLO passes, which end with null; null: the pipeline
  int streams;                              // program.streams
  const char *device;                       // executable_options
  memory_limit limit;                       // that the program keeps to while it runs; none: it takes what is fastest
  text *tiling;                             // what was tiled to keep to the limit; may be null
  pass_control *control;                    // who watches the passes over HLO and MLIR, and how many run; may be null
  compile_dump dump;                        // every stage's text; may be null
  void *dump_argument;
  compile_progress progress;
  compile_region region;  // null: all kernels are emitted
  void *region_argument;
  bool injects_profile;    // profile operations around all of LHLO's
  const open_plans *open;  // of a program for open sizes with kernels that take them; null: those get no code
} compile_options;

// What was made with one set of stand-ins for the open sizes of a program (api/open_compile.h).
typedef struct open_sample {
  const module *module;
  const lhlo_program *plan;
  const char *reasons;  // a line for each decision
  program program;
  int number_count;
  const int64_t *numbers;  // in the order of program_sizes_map
  int condition_count;
  const import_condition *conditions;  // that the program asserts
  open_border_list borders;            // on which sides of borders parts of arrays lie
} open_sample;

typedef struct open_sample_list {
  open_samples stand_ins;
  open_sample made[OPEN_SAMPLES_MOST];
} open_sample_list;

typedef struct open_symbols open_symbols;

// A program ready to run. Everything but the linked code, the executable and the buffers lies in the arena it was
// compiled in.
typedef struct compiled {
  const module *source;  // as it was given; null for a program that was given as LHLO
  const lhlo_program *plan;
  program_kernels kernels;
  int image_count;  // one per kernel, or one that holds all of them
  kernel_image *images;
  const open_kernel_table *tables;  // by kernel, of a program for open sizes: those of kernels that take sizes; or null
  program program;
  target_description machine;  // that code was generated for
  const char *level;           // its name: "native", "x86-64-v3", "sm_90"
  bool is_open;  // a program for open sizes: it has no executable, each of its sizes has (program_sizes.h)
  const open_sample_list *samples;  // of such a program
  const open_symbols *symbols;      // of one that is compiled for each size: it has no code itself; else null
  const compile_options *options;   // then
  // Of a program for open sizes: the same for some of them alone (open_instances_source.specials).
  int special_count;
  struct compiled *specials;
  const char *sizes;       // of one of these: which it is for, "n0 = 64*m0, n1 = 64*m1"; else null
  kernel_fn *entries;      // of the linked kernels
  executable *executable;  // null for a target that this process cannot run, as is `linked`
  int threads;
  link_code *linked;
  simulator *simulator;  // null unless kernels are simulated
  buffer_cache *buffers;
  compile_times times;
  tile_failures *failures;  // kernels of tiles that failed are noted there while they are compiled; may be null
} compiled;

// What the options say to compile for.
target_description compile_target(const compile_options *options);

// The front half: passes, fusion, order and memory, such that all kernels of tiles have code: it is made to know. `m`
// is not changed. `reasons` (may be null) receives a line for each decision.
heddle_status compile_plan(arena *a, const module *m, const compile_options *options, compile_times *times,
                           text *reasons, lhlo_program **out);

// The back half: a program as LHLO, which must outlive the result.
heddle_status compile_lhlo(arena *a, const lhlo_program *plan, const compile_options *options, compiled *out);

// Both. Ends with HEDDLE_CANCELLED between two passes or kernels when its call is cancelled (base/call.h). `m` must
// outlive the result. On failure nothing has to be released.
heddle_status compile_module(arena *a, const module *m, const compile_options *options, compiled *out);

void compiled_release(compiled *c);

#endif
