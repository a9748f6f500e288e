// Compiles with the HLO passes, the numerics and the threads that the debug options name; where they name none, the
// pipeline stays as it is.
#include "tools/debug_compile.h"

#include <stdio.h>

#include "base/log.h"
#include "tools/pass_choice.h"

void debug_compile_passes(arena *a, const debug_options *d, pass_use up_to, compile_options *o) {
  const char *disabled = d ? d->disable_hlo_passes : NULL, *only = d ? d->enable_hlo_passes_only : NULL;
  if (d && d->disable_all_hlo_passes) up_to = PASS_NEEDED;
  if (up_to == PASS_FOLDS && !disabled && !only) return;
  pass_list passes = {0};
  pass_choice_pipeline(a, up_to, disabled, only, &passes);
  vec_push(a, &passes, NULL);
  o->hlo_passes = passes.data;
}

void debug_compile_numbers(const debug_options *d, compile_options *o) {
  o->exact |= !d->allow_excess_precision;
  o->deterministic |= d->deterministic_ops || d->exclude_nondeterministic_ops;
  if (!d->multi_thread_eigen && o->threads == 0) o->threads = 1;
}

heddle_status debug_compile_open(debug_compile *c, arena *a, const debug_options *d, pass_use up_to, const module *m,
                                 compile_options *o) {
  *c = (debug_compile){.control = PASS_CONTROL_DEFAULT};
  debug_compile_numbers(d, o);
  debug_compile_passes(a, d, up_to, o);
  TRY(hlo_dump_open(&c->hlo, d, m));
  const bool prints = log_level() >= 5;
  if (!o->control) o->control = &c->control;
  if (prints && !c->hlo.out) c->hlo.out = stderr;
  hlo_dump_watch(&c->hlo, o->control);
  if (!o->dump && c->hlo.folder) {
    c->stages.folder = c->hlo.folder;
    o->dump = dump_target_write;
    o->dump_argument = &c->stages;
  }
  TRY(compile_log_open(&c->log, prints ? stderr : NULL, NULL));
  compile_log_attach(&c->log, o);
  return status_ok();
}

static heddle_status first_error(heddle_status s, heddle_status next) {
  if (status_is_ok(s)) return next;
  heddle_status_free(next);
  return s;
}

heddle_status debug_compile_close(debug_compile *c, heddle_status s) {
  s = first_error(first_error(s, c->stages.failed), compile_log_close(&c->log));
  return first_error(s, hlo_dump_close(&c->hlo));
}

static void remark(void *argument, const instruction *fusion, const char *why) {
  const source_location where = fusion->where;
  (void)argument;
  if (where.file && where.line > 0) fprintf(stderr, "%s:%d:%d: ", where.file, where.line, where.column);
  fprintf(stderr, "remark: fusion " STR_FMT " is unfused: %s\n", STR_ARG(fusion->name), why);
}

const kept_fusions_report debug_compile_remarks = {.remark = remark};
