// The interpreter gets the program that is read for the sizes of a run, so that it knows nothing of symbols.
#include "tools/open_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "api/open_classes.h"
#include "api/open_compile.h"
#include "base/log.h"
#include "hlo/device_counts.h"
#include "prog/program_sizes.h"
#include "rt/open_instances.h"
#include "tools/default_bounds.h"
#include "tools/execute.h"
#include "tools/fake_arguments.h"
#include "tools/memory_flag.h"

static const double F32_BOUND = 1e-4;  // which default_bounds_for adapts

static void print_sizes(const program_sizes *s, const int64_t *symbols) {
  for (int k = 0; k < program_sizes_given_count(s); k++)
    printf("%s%s=%" PRId64, k ? ", " : "", s->symbols[k].name, symbols[k]);
}

// A run of it.
typedef struct sized_run {
  const open_run_request *request;
  const compiled *code;  // for all sizes
  open_instance *instance;
  double seconds;
  literal *result;
} sized_run;

static double compile_seconds(const compile_times *times) {
  double sum = 0;
  for (int k = 0; k < times->count; k++) sum += times->stages[k].seconds;
  return sum;
}

static heddle_status execute(arena *a, sized_run *r, const argument_list *arguments) {
  const invocable *callable = &r->instance->callable;
  compiled at_sizes = {.program = *callable->program,
                       .executable = callable->executable,
                       .buffers = callable->buffers,
                       .threads = r->code->threads};
  if (r->request->measure) {
    const measured_program told = {r->request->path, compile_seconds(&r->code->times)};
    return measured_run_execute(a, r->request->measure, &told, &at_sizes, arguments, &r->seconds, &r->result);
  }
  const double start = log_seconds();
  TRY(memory_flag_run(a, &at_sizes, arguments->count, arguments->values, &r->result));
  r->seconds = log_seconds() - start;
  return status_ok();
}

static heddle_status run_instance(arena *a, sized_run *r) {
  const open_run_request *request = r->request;
  const program *p = r->instance->callable.program;
  const shape **shapes = arena_array(a, const shape *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++)
    shapes[i] = shape_array(a, p->parameters[i].shape.type, p->parameters[i].shape.rank, p->parameters[i].shape.dims);
  import_options import = *request->import;
  import.argument_shapes = shapes;
  import.argument_count = p->parameter_count;
  module *m;
  TRY(import_module(a, request->path, request->source, &import, &m));
  device_counts_adopt(m, 0, 0);
  argument_list arguments;
  TRY(fake_arguments(a, m, request->seed, false, &arguments));
  TRY(execute(a, r, &arguments));
  if (!request->compares) return status_ok();
  literal *wanted;
  module *declared;
  import.keeps_bounds = true;
  TRY(import_module(a, request->path, request->source, &import, &declared));
  device_counts_adopt(declared, 0, 0);
  TRY(execute_in_interpreter(a, declared, NULL, &arguments, &wanted));
  const default_bounds bounds = default_bounds_for(m, F32_BOUND);
  return literal_compare(r->result, wanted, fmax(request->rtol, bounds.relative), fmax(request->atol, bounds.absolute));
}

static void tell_run(facts *f, const program_sizes *sizes, const int64_t *symbols, const program *filled,
                     double seconds, heddle_status s) {
  json_begin(&f->out, NULL, '{');
  json_begin(&f->out, "sizes", '{');
  for (int k = 0; k < program_sizes_given_count(sizes); k++) json_put_int(&f->out, sizes->symbols[k].name, symbols[k]);
  json_end(&f->out, '}');
  facts_put_values(f, "parameters", filled->parameter_count, filled->parameters);
  facts_put_values(f, "results", filled->given_result_count, filled->results);
  json_put_number(&f->out, "run_seconds", seconds);
  facts_put_comparison(f, true, s);
  json_end(&f->out, '}');
}

static heddle_status run_sizes(arena *a, const open_run_request *r, open_instances *instances, const compiled *code,
                               const char *given) {
  const program *p = &code->program;
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  TRY(program_sizes_read(&p->sizes, given, symbols));
  const program *filled = program_sizes_fill(a, p, symbols);
  const int64_t **dims = arena_array(a, const int64_t *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) dims[i] = filled->parameters[i].shape.dims;
  sized_run run = {.request = r, .code = code};
  TRY(open_instances_take(instances, dims, &run.instance));
  if (!r->compares && r->sizes->size > 1) {
    print_sizes(&p->sizes, symbols);
    printf(":\n");
  }
  heddle_status s = run_instance(a, &run);
  if (r->facts) tell_run(r->facts, &p->sizes, symbols, run.instance->callable.program, run.seconds, s);
  open_instances_give(instances, run.instance);
  TRY(status_context(s, "while running it for --sizes=%s", given));
  if (r->facts || !r->compares) return status_ok();
  print_sizes(&p->sizes, symbols);
  printf(": as the interpreter has it\n");
  if (r->print) execute_print_results(stdout, a, "result", 1, run.result);
  return status_ok();
}

heddle_status open_run(arena *a, const open_run_request *r) {
  module *m;
  compiled code;
  TRY(open_compile_import(a, r->path, r->source, r->import, &m));
  if (m) return status_error(HEDDLE_INVALID, "found --sizes, but the program declares no size as `?`");
  TRY(open_classes_compile(a, r->path, r->source, r->import, r->options, &code));
  open_instances *instances = open_compile_instances(&code);
  heddle_status s = instances ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
  for (int k = 0; k < r->sizes->size && status_is_ok(s); k++) {
    arena *scratch = arena_create();
    s = run_sizes(scratch, r, instances, &code, r->sizes->data[k]);
    arena_destroy(scratch);
  }
  open_instances_destroy(instances);
  compiled_release(&code);
  return s;
}
