// Runs schedules. They are text, since that is what a reader of the transform dialect's documentation knows.
#include "tile/schedule.h"

#include <mlir-c/Dialect/Transform/Interpreter.h>

#include "emit/ir_builder.h"
#include "tile/passes.h"

#define BEFORE                                            \
  "module attributes {transform.with_named_sequence} {\n" \
  "transform.named_sequence @schedule(%module: !transform.any_op {transform.readonly}) {\n"
#define BEHIND "transform.yield\n}\n}\n"

static heddle_status parse(const lower_context *c, const char *source, MlirModule *out) {
  *out = lower_session_parse(c->session, source);
  if (!mlirModuleIsNull(*out)) return status_ok();
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "cannot parse the schedule"));
  return status_error(HEDDLE_INTERNAL, "cannot parse the schedule");
}

static heddle_status apply(MlirContext context, MlirOperation module, MlirModule schedule) {
  MlirOperation root = mlirBlockGetFirstOperation(mlirModuleGetBody(schedule));
  MlirTransformOptions options = mlirTransformOptionsCreate();
  mlirTransformOptionsEnableExpensiveChecks(options, false);
  const bool succeeded = mlirLogicalResultIsSuccess(
      mlirTransformApplyNamedSequence(module, root, mlirModuleGetOperation(schedule), options));
  mlirTransformOptionsDestroy(options);
  TRY(ir_diagnostics(context, HEDDLE_INTERNAL, "the schedule failed"));
  return succeeded ? status_ok() : status_error(HEDDLE_INTERNAL, "the schedule failed without saying why");
}

heddle_status schedule_run(lower_context *c, MlirOperation module, str body) {
  tile_load_dialects(c->context);
  text t = {0};
  text_puts(&t, BEFORE);
  text_append(&t, body);
  text_puts(&t, BEHIND);
  MlirModule schedule = {0};
  heddle_status s = parse(c, text_cstr(&t), &schedule);
  if (status_is_ok(s)) s = apply(c->context, module, schedule);
  if (!status_is_ok(s)) s = status_context(s, "in the schedule\n%s", text_cstr(&t));
  text_free(&t);
  return s;
}
