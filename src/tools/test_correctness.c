// test_correctness: a module's compiled results against the interpreter's, and proofs by enumeration that the kernels'
// threads read or write every element of the named arrays exactly once, in the CPU form and in the GPU form.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "hlo/text.h"
#include "import/import.h"
#include "tools/bijection.h"
#include "tools/execute.h"

enum { SEED = 42 };

typedef struct correctness_flags {
  flag_list inputs, outputs;
  double abs_error, rel_error;
  int threads, v;
  bool exact;
} correctness_flags;

// --- results

static heddle_status check_results(arena *a, const module *m, const correctness_flags *f) {
  argument_list arguments;
  literal *actual, *expected;
  compile_options options = {.exact = f->exact, .threads = f->threads};
  TRY(random_arguments(a, m, SEED, false, &arguments));
  TRY(execute_module(a, m, PLATFORM_INTERPRETER, &options, &arguments, &expected));
  TRY(execute_module(a, m, PLATFORM_CPU, &options, &arguments, &actual));
  TRY(compare_results(a, actual, expected, f->rel_error, f->abs_error));
  printf("results agree (relative %.3g, absolute %.3g)\n", f->rel_error, f->abs_error);
  return status_ok();
}

// --- bijections

// Null if no kernel has it; *kernel is the one that has.
static const instruction *find_instruction(const program_plan *plan, str name, const kernel_plan **kernel) {
  for (int k = 0; k < plan->kernel_count; k++) {
    const instruction_list *all = &plan->kernels[k]->computation->instructions;
    *kernel = plan->kernels[k];
    for (int i = 0; i < all->size; i++)
      if (str_equal(all->data[i]->name, name)) return all->data[i];
  }
  return NULL;
}

static heddle_status not_found(str name) {
  return status_error(HEDDLE_INVALID, "no kernel has an instruction " STR_FMT, STR_ARG(name));
}

static const char *target_text(const program_plan *plan) { return plan->target.kind == PLAN_GPU ? "gpu" : "cpu"; }

static heddle_status check_map(arena *a, const program_plan *plan, const indexing_map *m, const shape *s,
                               const char *what) {
  int64_t points = 0;
  heddle_status status = bijection_check(a, m, s, &points);
  if (!status_is_ok(status)) {
    text t = {0};
    indexing_map_print(&t, m);
    status = status_context(status, "%s: %s is not reached exactly once by %s", target_text(plan), what, text_cstr(&t));
    text_free(&t);
    return status;
  }
  printf("%s: %s: each element exactly once (%" PRId64 " points)\n", target_text(plan), what, points);
  return status_ok();
}

static heddle_status check_output(arena *a, const program_plan *plan, const char *name) {
  const kernel_plan *kernel = NULL;
  const instruction *i = find_instruction(plan, str_from(name), &kernel);
  if (!i) return not_found(str_from(name));
  const indexing_map *map = NULL;
  TRY(bijection_map_to_instruction(a, kernel, &plan->target, i, &map));
  const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  return check_map(a, plan, map, s, arena_printf(a, "%s written", name));
}

static heddle_status check_operand(arena *a, const program_plan *plan, const kernel_plan *kernel, const instruction *i,
                                   int operand) {
  const indexing_map *map = NULL;
  TRY(bijection_map_to_operand(a, kernel, &plan->target, i, operand, &map));
  const char *what = arena_printf(a, "operand %d of " STR_FMT " read", operand, STR_ARG(i->name));
  return check_map(a, plan, map, i->operands[operand]->shape, what);
}

// "hero:0,1": which operands of which instruction; "hero": all of them.
static heddle_status check_input(arena *a, const program_plan *plan, const char *spec) {
  const char *colon = strchr(spec, ':');
  const kernel_plan *kernel = NULL;
  str name = {spec, colon ? (size_t)(colon - spec) : strlen(spec)};
  const instruction *i = find_instruction(plan, name, &kernel);
  if (!i) return not_found(name);
  for (int k = 0; !colon && k < i->operand_count; k++) TRY(check_operand(a, plan, kernel, i, k));
  for (const char *next = colon; next && *next;) {
    char *end;
    long operand = strtol(next + 1, &end, 10);
    if (end == next + 1 || (*end && *end != ',') || operand > INT16_MAX)
      return status_error(HEDDLE_INVALID, "--bijection_inputs: found %s, wanted NAME:OPERAND,OPERAND…", spec);
    TRY(check_operand(a, plan, kernel, i, (int)operand));
    next = end;
  }
  return status_ok();
}

static heddle_status check_bijections(arena *a, const module *m, plan_target target, const correctness_flags *f) {
  program_plan *plan;
  TRY(plan_kernels(a, m, target, &plan));
  for (int i = 0; i < f->inputs.size; i++) TRY(check_input(a, plan, f->inputs.data[i]));
  for (int i = 0; i < f->outputs.size; i++) TRY(check_output(a, plan, f->outputs.data[i]));
  return status_ok();
}

// --- command line

static heddle_status run_file(arena *a, const char *path, void *argument) {
  correctness_flags *f = argument;
  log_set_level(f->v);
  module *m;
  TRY(import_file(a, path, NULL, &m));
  TRY(check_results(a, m, f));
  if (f->inputs.size + f->outputs.size == 0) return status_ok();
  TRY(check_bijections(a, m, plan_target_cpu(f->threads > 0 ? f->threads : 1), f));
  return check_bijections(a, m, plan_target_gpu(), f);
}

int main(int argc, char **argv) {
  correctness_flags f = {.abs_error = 1e-4, .rel_error = 1e-4};
  const flag flags[] = {
      {"abs_error_bound", FLAG_DOUBLE, &f.abs_error, "A", "absolute error allowed (1e-4)"},
      {"rel_error_bound", FLAG_DOUBLE, &f.rel_error, "R", "relative error allowed (1e-4)"},
      {"bijection_inputs", FLAG_LIST, &f.inputs, "NAME:0,1",
       "operands of an instruction that are to be read exactly once"},
      {"bijection_outputs", FLAG_LIST, &f.outputs, "NAME",
       "an instruction whose elements are to be written exactly once"},
      {"exact", FLAG_BOOL, &f.exact, NULL, "keep every rounding the HLO asks for (no excess precision)"},
      {"threads", FLAG_INT, &f.threads, "N", "threads to run on (all cores)"},
      {"v", FLAG_INT, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {
      "test_correctness FILE [flags]",
      "Compares a module's results on the CPU with the interpreter's, and proves that threads reach each\n"
      "element of the named arrays exactly once.",
      flags};
  return command_main(&line, argc - 1, argv + 1, NULL, run_file, &f);
}
