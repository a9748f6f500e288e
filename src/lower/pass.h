// Passes over MLIR and the driver that runs them.
//
// A pass is one file with one const struct. It opens with what it does, why it must exist and why the obvious way
// fails. Upstream pipelines ("canonicalize,cse") are passes whose `upstream` text is set instead of `run`.
#ifndef HEDDLE_LOWER_PASS_H_
#define HEDDLE_LOWER_PASS_H_

#include <mlir-c/IR.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "base/target.h"
#include "lower/session.h"

typedef struct lower_options {
  target_description target;
  bool exact;          // keep every rounding of the HLO (no excess precision for bf16, f16 and narrower)
  bool use_libdevice;  // nvptx: math functions become __nv_* calls
} lower_options;

typedef struct lower_context {
  MlirContext context;
  arena *scratch;  // reset by the driver between passes
  const lower_options *options;
  lower_session *session;  // runs MLIR's own passes
} lower_context;

typedef struct lower_pass {
  const char *name;  // as --print-after and emitters_opt spell it: "xla-gpu-flatten-tensors"
  const char *summary;
  heddle_status (*run)(lower_context *c, MlirOperation module);
  const char *upstream;  // text pipeline of MLIR's own passes, on builtin.module; after `run` if both are there
} lower_pass;

// Every pass there is, for emitters_opt and --help; ends with a row whose name is null.
extern const lower_pass *const lower_passes[];
const lower_pass *lower_pass_find(str name);

// The pipelines, in order; ends with null. lower/pipeline.c is the one place that says which pass follows which and
// why.
const lower_pass *const *lower_pipeline(target_kind target);

typedef struct lower_observer {
  bool print_all;                                                         // IR after every pass that changed it (--v=5)
  const char *print_after;                                                // a pass name, or null
  const char *until;                                                      // stop after this pass, or null
  int bisect;                                                             // run only the first n passes; < 0 = all
  bool time;                                                              // collect the table below
  void (*print)(void *argument, const char *pass, MlirOperation module);  // null: standard error
  void *argument;
  struct lower_timing {
    const char *pass;
    double seconds;
  } timings[128];
  int timing_count;
} lower_observer;

// Runs passes on the module, verifying after each in debug builds (in release only at the end). Errors name the pass
// and carry MLIR's diagnostics. observer may be null.
heddle_status lower_run(const lower_pass *const *passes, MlirOperation module, const lower_options *options,
                        lower_observer *observer);
// The same with what the session of the module's context keeps.
heddle_status lower_run_in(lower_session *session, const lower_pass *const *passes, MlirOperation module,
                           const lower_options *options, lower_observer *observer);

#endif
