// Passes over MLIR: what they are given, and their pipelines. The driver is base/pass.h's.
#ifndef HEDDLE_LOWER_PASS_H_
#define HEDDLE_LOWER_PASS_H_

#include <mlir-c/IR.h>

#include "base/pass.h"
#include "base/target.h"
#include "lower/session.h"

typedef struct lower_options {
  target_description target;
  bool exact;          // keep every rounding of the HLO (no excess precision for bf16, f16 and narrower)
  bool use_libdevice;  // nvptx: math functions become __nv_* calls
  bool takes_sizes;    // numbers that code has may be read from a table later on (lower/open_numbers.h)
} lower_options;

// What each pass is given.
typedef struct lower_context {
  MlirContext context;
  arena *scratch;  // emptied by the driver behind each pass
  const lower_options *options;
  lower_session *session;  // runs MLIR's own passes
} lower_context;

static inline lower_context *lower_context_of(const pass_context *context) {
  lower_context *c = context->given;
  c->scratch = context->scratch;
  return c;
}

// A unit of these passes is an operation (MlirOperation.ptr), as a rule a builtin.module. What they change they do not
// say, since MLIR's own do not.
extern const pass_unit_kind lower_operations;

// Every pass there is, for emitters_opt and --help; ends with null.
extern const pass *const lower_passes[];
const pass *lower_pass_find(str name);

// The pipelines, in order; ends with null. lower/pipeline.c is the one place that says which pass follows which and
// why.
const pass *const *lower_pipeline(const target_description *target);

// Runs the passes, which end with null, on the module. Errors carry MLIR's diagnostics. `control` may be null.
heddle_status lower_run(const pass *const *passes, MlirOperation module, const lower_options *options,
                        pass_control *control);
// The same with what the session of the module's context keeps.
heddle_status lower_run_in(lower_session *session, const pass *const *passes, MlirOperation module,
                           const lower_options *options, pass_control *control);

// For passes that are a pipeline of MLIR's own ("canonicalize,cse").
heddle_status lower_upstream(pass_context *context, void *unit, const char *pipeline);
// A step of MLIR's lowering of vectors. HEDDLE_INTERNAL if it does not end.
heddle_status lower_vectors(pass_context *context, void *unit, vector_step step);
// canonicalize and cse as the pipelines have them, for passes that leave operations to be folded and merged.
heddle_status lower_tidy(pass_context *context, void *unit);

#endif
