// Compiles as XLA's debug options ask: which HLO passes run, what is rounded, how many threads there are, what is
// dumped.
#ifndef HEDDLE_TOOLS_DEBUG_COMPILE_H_
#define HEDDLE_TOOLS_DEBUG_COMPILE_H_

#include "tools/compile_log.h"
#include "tools/execute.h"
#include "tools/hlo_dump.h"

typedef struct debug_compile {
  hlo_dump hlo;
  pass_control control;  // where the tool has none of its own
  dump_target stages;    // those behind HLO; no folder: none
  compile_log log;       // all of them printed, with --v=5
} debug_compile;

// Of tools that compile with debug_compile_open.
#define VERBOSE_FLAG(value) \
  {"v", FLAG_SIZE, &(value), "LEVEL", "log level; 5: print every stage, the IR after each pass included"}

// The HLO passes of the pipeline whose use is `up_to` or above it in the list, of these only what the options leave
// (`d` may be null). Options that change nothing are named on standard error.
void debug_compile_passes(arena *a, const debug_options *d, pass_use up_to, compile_options *o);

// Rounding and threads, where the tool's own flags have not decided them.
void debug_compile_numbers(const debug_options *d, compile_options *o);

// All of it for the compilation of `m` (null: of a program for open sizes), and where --xla_dump_to says so its stages
// as files, unless `o` has a place for them. At log level 5 every stage is printed on standard error. `c` must outlive
// the compilation; close it in any case.
heddle_status debug_compile_open(debug_compile *c, arena *a, const debug_options *d, pass_use up_to, const module *m,
                                 compile_options *o);
// The first error, of the compilation (`s`) or of writing what it dumped.
heddle_status debug_compile_close(debug_compile *c, heddle_status s);

// For compile_options.keep_fusions: `FILE:LINE:COLUMN: remark: …` on standard error for each fusion that is taken
// apart.
extern const kept_fusions_report debug_compile_remarks;

// What --keep-fusions does, for help texts.
#define KEEP_FUSIONS_HELP "fusions of the module stay as they are, a kernel each; a remark names those that cannot"

#endif
