// The pass table and the driver: runs passes one after another, verifies, prints, times, stops where told.
#include "lower/pass.h"

#include <stdio.h>

#include "base/call.h"
#include "base/guard.h"
#include "base/log.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

const lower_pass *const lower_passes[] = {
    // MLIR's own
    &lower_canonicalize,
    &lower_cse,
    &lower_licm,
    &lower_symbol_dce,
    &lower_erase_dead_functions,
    &lower_affine,
    &lower_complex_to_standard,
    &lower_scf_to_cf,
    &lower_reconcile_casts,
    // ours
    &lower_xla_gpu_to_scf,
    &lower_inliner,
    &lower_loops_to_scf,
    &lower_propagate_slice_indices,
    &lower_unswitch_loops,
    &lower_flatten_tensors,
    &lower_vectorize_loads_stores,
    &lower_optimize_loops,
    &lower_convert_pure_call,
    &lower_merge_pointers,
    &lower_cpu_loops,
    &lower_peel_loops,
    &lower_vectorize_loops,
    &lower_cpu_entry,
    &lower_tensors,
    &lower_simplify_arith,
    &lower_simplify_affine,
    &lower_widen_floats,
    &lower_expand_math,
    &lower_round_in_place,
    &lower_expand_float_ops,
    &lower_to_llvm,
    &(const lower_pass){0},
};

const lower_pass *lower_pass_find(str name) {
  for (int i = 0; lower_passes[i]->name; i++) {
    if (str_is(name, lower_passes[i]->name)) return lower_passes[i];
  }
  return 0;
}

// --- MLIR's own passes

static heddle_status run_upstream(lower_context *c, const lower_pass *pass, MlirOperation module) {
  bool succeeded = lower_session_run(c->session, pass->upstream, module);
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "failed"));
  return succeeded ? status_ok() : status_error(HEDDLE_INTERNAL, "failed without saying why");
}

// --- the driver

static heddle_status verify(MlirOperation module) {
  if (mlirOperationVerify(module)) return status_ok();
  heddle_status status = ir_diagnostics(mlirOperationGetContext(module), HEDDLE_INTERNAL, "left invalid IR");
  return status_is_ok(status) ? status_error(HEDDLE_INTERNAL, "left invalid IR") : status;
}

static heddle_status run_one(lower_context *c, const lower_pass *pass, MlirOperation module) {
  if (pass->run) TRY(pass->run(c, module));
  if (pass->upstream) TRY(run_upstream(c, pass, module));
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "reported"));
#ifndef NDEBUG
  TRY(verify(module));
#endif
  return status_ok();
}

static void append_to_text(MlirStringRef part, void *argument) { text_append(argument, (str){part.data, part.length}); }

static void print_to_stderr(void *argument, const char *pass, MlirOperation module) {
  (void)argument;
  text out = {0};
  mlirOperationPrint(module, append_to_text, &out);
  fprintf(stderr, "// -----// IR Dump After %s //----- //\n%s\n", pass, text_cstr(&out));
  text_free(&out);
}

// What the observer wants to see after a pass. `before` is the module's text before it, kept up to date for print_all.
static void show(lower_observer *observer, const lower_pass *pass, MlirOperation module, text *before) {
  bool wanted = observer->print_after && strcmp(observer->print_after, pass->name) == 0;
  if (observer->print_all) {
    text after = {0};
    mlirOperationPrint(module, append_to_text, &after);
    wanted |= !str_equal(text_view(before), text_view(&after));
    text_free(before);
    *before = after;
  }
  if (wanted) (observer->print ? observer->print : print_to_stderr)(observer->argument, pass->name, module);
}

static void add_timing(lower_observer *observer, const char *pass, double seconds) {
  int room = (int)(sizeof observer->timings / sizeof *observer->timings);
  if (!observer->time || observer->timing_count == room) return;
  observer->timings[observer->timing_count].pass = pass;
  observer->timings[observer->timing_count++].seconds = seconds;
}

static heddle_status run_all(lower_context *c, const lower_pass *const *passes, MlirOperation module,
                             lower_observer *observer, text *printed) {
  for (int i = 0; passes[i]; i++) {
    if (observer->bisect >= 0 && i >= observer->bisect) break;
    TRY(call_check());
    TRY(guard_check_room());
    double start = log_seconds();
    heddle_status status = run_one(c, passes[i], module);
    if (!status_is_ok(status)) return status_context(status, "in pass %s", passes[i]->name);
    add_timing(observer, passes[i]->name, log_seconds() - start);
    show(observer, passes[i], module, printed);
    arena_reset(c->scratch);
    if (observer->until && strcmp(observer->until, passes[i]->name) == 0) break;
  }
  return verify(module);
}

static heddle_status check_name(const char *flag, const char *name) {
  if (!name || lower_pass_find(str_from(name))) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: found \"%s\", wanted the name of a pass", flag, name);
}

heddle_status lower_run_in(lower_session *session, const lower_pass *const *passes, MlirOperation module,
                           const lower_options *options, lower_observer *observer) {
  lower_observer nobody = {.bisect = -1};
  if (!observer) observer = &nobody;
  TRY(check_name("--print-after", observer->print_after));
  TRY(check_name("--until", observer->until));
  text printed = {0};
  if (observer->print_all) mlirOperationPrint(module, append_to_text, &printed);
  lower_context c = {mlirOperationGetContext(module), arena_create(), options, session};
  heddle_status status = run_all(&c, passes, module, observer, &printed);
  arena_destroy(c.scratch);
  text_free(&printed);
  return status;
}

heddle_status lower_run(const lower_pass *const *passes, MlirOperation module, const lower_options *options,
                        lower_observer *observer) {
  lower_session *session = lower_session_create(mlirOperationGetContext(module));
  heddle_status status = lower_run_in(session, passes, module, options, observer);
  lower_session_destroy(session);
  return status;
}
