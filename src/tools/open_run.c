// The interpreter gets the program that is read for the sizes of a run, so that it knows nothing of symbols.
#include "tools/open_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "api/open_compile.h"
#include "base/log.h"
#include "hlo/device_counts.h"
#include "prog/program_sizes.h"
#include "rt/open_instances.h"
#include "tools/default_bounds.h"
#include "tools/execute.h"
#include "tools/fake_arguments.h"

static const double F32_BOUND = 1e-4;  // which default_bounds_for adapts

static void print_sizes(const program_sizes *s, const int64_t *symbols) {
  for (int k = 0; k < s->symbol_count; k++) printf("%s%s=%" PRId64, k ? ", " : "", s->symbols[k].name, symbols[k]);
}

static heddle_status run_instance(arena *a, const open_run_request *r, open_instance *instance, literal **out,
                                  double *seconds) {
  const program *p = instance->callable.program;
  const shape **shapes = arena_array(a, const shape *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++)
    shapes[i] = shape_array(a, p->parameters[i].shape.type, p->parameters[i].shape.rank, p->parameters[i].shape.dims);
  import_options import = *r->import;
  import.argument_shapes = shapes;
  import.argument_count = p->parameter_count;
  module *m;
  TRY(import_module(a, r->path, r->source, &import, &m));
  device_counts_adopt(m, 0, 0);
  argument_list arguments;
  TRY(fake_arguments(a, m, r->seed, false, &arguments));
  literal *wanted;
  TRY(execute_in_interpreter(a, m, NULL, &arguments, &wanted));
  compiled at_sizes = {
      .program = *p, .executable = instance->callable.executable, .buffers = instance->callable.buffers};
  const double start = log_seconds();
  TRY(run_once(a, &at_sizes, arguments.count, arguments.values, out));
  *seconds = log_seconds() - start;
  const default_bounds bounds = default_bounds_for(m, F32_BOUND);
  return literal_compare(*out, wanted, fmax(r->rtol, bounds.relative), fmax(r->atol, bounds.absolute));
}

static void tell_run(facts *f, const program_sizes *sizes, const int64_t *symbols, const program *filled,
                     double seconds, heddle_status s) {
  json_begin(&f->out, NULL, '{');
  json_begin(&f->out, "sizes", '{');
  for (int k = 0; k < sizes->symbol_count; k++) json_put_int(&f->out, sizes->symbols[k].name, symbols[k]);
  json_end(&f->out, '}');
  facts_put_values(f, "parameters", filled->parameter_count, filled->parameters);
  facts_put_values(f, "results", filled->given_result_count, filled->results);
  json_put_number(&f->out, "run_seconds", seconds);
  facts_put_comparison(f, true, s);
  json_end(&f->out, '}');
}

static heddle_status run_sizes(arena *a, const open_run_request *r, open_instances *instances, const program *p,
                               const char *given) {
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  TRY(program_sizes_read(&p->sizes, given, symbols));
  const program *filled = program_sizes_fill(a, p, symbols);
  const int64_t **dims = arena_array(a, const int64_t *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) dims[i] = filled->parameters[i].shape.dims;
  open_instance *instance;
  TRY(open_instances_take(instances, dims, &instance));
  literal *result = NULL;
  double seconds = 0;
  heddle_status s = run_instance(a, r, instance, &result, &seconds);
  open_instances_give(instances, instance);
  if (r->facts) tell_run(r->facts, &p->sizes, symbols, filled, seconds, s);
  TRY(status_context(s, "while running it for --sizes=%s", given));
  if (r->facts) return status_ok();
  print_sizes(&p->sizes, symbols);
  printf(": as the interpreter has it\n");
  if (r->print) execute_print_results(stdout, a, "result", 1, result);
  return status_ok();
}

heddle_status open_run(arena *a, const open_run_request *r) {
  module *m;
  compiled code;
  TRY(open_compile_import(a, r->path, r->source, r->import, &m));
  if (m) return status_error(HEDDLE_INVALID, "found --sizes, but the program declares no size as `?`");
  TRY(open_compile(a, r->path, r->source, r->import, r->options, &code));
  open_instances *instances = open_compile_instances(&code);
  heddle_status s = instances ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
  for (int k = 0; k < r->sizes->size && status_is_ok(s); k++) {
    arena *scratch = arena_create();
    s = run_sizes(scratch, r, instances, &code.program, r->sizes->data[k]);
    arena_destroy(scratch);
  }
  open_instances_destroy(instances);
  compiled_release(&code);
  return s;
}
