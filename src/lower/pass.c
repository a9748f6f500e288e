// What the driver of passes has to know of MLIR, and what it does not know by itself: diagnostics.
#include "lower/pass.h"

#include "emit/ir_builder.h"

const pass *lower_pass_find(str name) { return pass_find(lower_passes, name); }

heddle_status lower_upstream(pass_context *context, void *unit, const char *pipeline) {
  const lower_context *c = lower_context_of(context);
  const bool succeeded = lower_session_run(c->session, pipeline, (MlirOperation){unit});
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "failed"));
  return succeeded ? status_ok() : status_error(HEDDLE_INTERNAL, "failed without saying why");
}

heddle_status lower_vectors(pass_context *context, void *unit, vector_step step) {
  const lower_context *c = lower_context_of(context);
  const bool ended = lower_session_vectors(c->session, step, (MlirOperation){unit});
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "rewriting vectors"));
  return ended ? status_ok() : status_error(HEDDLE_INTERNAL, "rewriting of vectors does not end");
}

static heddle_status verify(void *unit) {
  const MlirOperation module = {unit};
  if (mlirOperationVerify(module)) return status_ok();
  heddle_status status = ir_diagnostics(mlirOperationGetContext(module), HEDDLE_INTERNAL, "left invalid IR");
  return status_is_ok(status) ? status_error(HEDDLE_INTERNAL, "left invalid IR") : status;
}

static heddle_status settle(pass_context *context, void *unit) {
  (void)unit;
  return ir_diagnostics(lower_context_of(context)->context, HEDDLE_INTERNAL, "reported");
}

static void print(const void *unit, text *out) { mlirOperationPrint((MlirOperation){(void *)unit}, ir_append, out); }

const pass_unit_kind lower_operations = {.noun = "pass",
                                         .title = {"// -----// IR Dump After ", " //----- //\n"},
                                         .print = print,
                                         .verify = verify,
                                         .settle = settle,
                                         .needs_room = true};

heddle_status lower_run_in(lower_session *session, const pass *const *passes, MlirOperation module,
                           const lower_options *options, pass_control *control) {
  lower_context c = {mlirOperationGetContext(module), NULL, options, session};
  return pass_run(&lower_operations, module.ptr, passes, &c, control);
}

heddle_status lower_run(const pass *const *passes, MlirOperation module, const lower_options *options,
                        pass_control *control) {
  lower_session *session = lower_session_create(mlirOperationGetContext(module));
  heddle_status status = lower_run_in(session, passes, module, options, control);
  lower_session_destroy(session);
  return status;
}
