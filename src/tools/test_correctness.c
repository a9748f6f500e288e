// test_correctness: a module's compiled results against the interpreter's, and proofs by enumeration that the kernels'
// threads read or write every element of the named arrays exactly once, in the CPU form and in the GPU form.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/text.h"
#include "import/import.h"
#include "tools/bijection.h"
#include "tools/codegen_flag.h"
#include "tools/debug_compile.h"
#include "tools/default_bounds.h"
#include "tools/execute.h"
#include "tools/fake_arguments.h"
#include "tools/grid_bijection.h"
#include "tools/region_program.h"
#include "tools/region_run.h"

enum { SEED = 42 };

// XLA's for f32, which default_bounds_for adapts.
static const double f32_bound = 1e-4;

typedef struct correctness_flags {
  flag_list inputs, outputs;
  double abs_error, rel_error;  // negative: what the module's types allow
  int threads, v;
  const char *codegen_name, *region, *platform;
  platform on;
  target_codegen codegen;
  bool exact, keep_fusions;
  debug_options debug;
} correctness_flags;

// --- results

// Several regions are the program's kernels. One may be such a kernel, too, else it computes all results.
static heddle_status run_region(arena *a, const module *m, const correctness_flags *f, const compile_options *options,
                                const argument_list *arguments, literal **out) {
  str source;
  str_list parts = {0};
  TRY(file_read(a, f->region, &source));
  region_text_split(a, source, &parts);
  bool is_kernel = parts.size > 1;
  if (!is_kernel) TRY(region_program_has(a, m, source, f->on, options, &is_kernel));
  if (is_kernel) return region_program_run(a, m, &parts, f->on, options, arguments, out);
  return region_run(a, source, f->on, arguments, m->entry->root->shape, out);
}

static heddle_status check_results(arena *a, const module *m, const correctness_flags *f,
                                   const compile_options *options) {
  argument_list arguments;
  literal *actual, *expected;
  TRY(fake_arguments(a, m, SEED, false, &arguments));
  TRY(execute_module(a, m, PLATFORM_INTERPRETER, options, &arguments, &expected));
  if (f->region) TRY(run_region(a, m, f, options, &arguments, &actual));
  else TRY(execute_module(a, m, f->on, options, &arguments, &actual));
  default_bounds bounds = default_bounds_for(m, f32_bound);
  if (f->rel_error >= 0) bounds.relative = f->rel_error;
  if (f->abs_error >= 0) bounds.absolute = f->abs_error;
  TRY(execute_compare(a, actual, expected, bounds.relative, bounds.absolute));
  printf("results agree (relative %.3g, absolute %.3g)\n", bounds.relative, bounds.absolute);
  return status_ok();
}

// --- bijections

// The kernels that a target's code is made of.
typedef struct kernel_form {
  const char *name;
  const module *source;
  target_description target;
  int count;
  const kernel_plan *const *kernels;
} kernel_form;

static const instruction *find_in_kernel(const kernel_plan *kernel, str name) {
  const instruction_list *all = &kernel->computation->instructions;
  for (int i = 0; i < all->size; i++)
    if (str_equal(all->data[i]->name, name)) return all->data[i];
  return NULL;
}

static const instruction *find_instruction(const kernel_form *form, str name) {
  for (int k = 0; k < form->count; k++) {
    const instruction *i = find_in_kernel(form->kernels[k], name);
    if (i) return i;
  }
  return NULL;
}

static const instruction *find_in_module(const module *m, str name) {
  for (int c = 0; c < m->computations.size; c++)
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++)
      if (str_equal(m->computations.data[c]->instructions.data[i]->name, name))
        return m->computations.data[c]->instructions.data[i];
  return NULL;
}

// What a pass has written anew, under another name, keeps its place in the program.
static const instruction *find_by_place(const kernel_form *form, const instruction *origin) {
  for (int k = 0; k < form->count; k++) {
    const instruction_list *all = &form->kernels[k]->computation->instructions;
    for (int i = 0; i < all->size; i++) {
      const instruction *x = all->data[i];
      if (x->opcode == origin->opcode && x->where.line == origin->where.line && x->where.column == origin->where.column)
        return x;
    }
  }
  return NULL;
}

// Changes `name` to what the kernels call it. A name that the passes have left in no kernel is looked for in the
// program as it was written.
static heddle_status choose_form(const kernel_form *planned, const kernel_form *written, str *name,
                                 const kernel_form **out) {
  const instruction *origin = find_in_module(planned->source, *name), *anew = NULL;
  *out = planned;
  if (find_instruction(planned, *name)) return status_ok();
  if (origin && origin->where.line > 0) anew = find_by_place(planned, origin);
  if (anew) {
    *name = anew->name;
    return status_ok();
  }
  *out = written;
  if (find_instruction(written, *name)) return status_ok();
  return status_error(HEDDLE_INVALID, "no kernel has an instruction " STR_FMT, STR_ARG(*name));
}

static heddle_status check_maps(arena *a, const kernel_form *form, const bijection_maps *maps, const shape *s,
                                const char *what) {
  int64_t points = 0;
  heddle_status status = bijection_check(a, maps, s, &points);
  if (!status_is_ok(status)) {
    text t = {0};
    for (int n = 0; n < maps->size; n++) {
      if (n > 0) text_puts(&t, " and ");
      indexing_map_print(&t, maps->data[n]);
    }
    status = status_context(status, "%s: %s is not reached exactly once by %s", form->name, what, text_cstr(&t));
    text_free(&t);
    return status;
  }
  printf("%s: %s: each element exactly once (%" PRId64 " points)\n", form->name, what, points);
  return status_ok();
}

static heddle_status judge_grid(arena *a, const kernel_form *form, const grid_count *count, const char *what) {
  heddle_status status = bijection_judge(a, count->space, count->visits, count->points);
  if (!status_is_ok(status)) return status_context(status, "%s: %s is not reached exactly once", form->name, what);
  printf("%s: %s: each element exactly once (%" PRId64 " points)\n", form->name, what, count->points);
  return status_ok();
}

// On a grid threads are walked one by one (emit/grid_walk.h). operand -1: the instruction itself.
static heddle_status check_on_grid(arena *a, const kernel_form *form, str name, int operand) {
  grid_count count = {0};
  for (int k = 0; k < form->count; k++) {
    const instruction *i = find_in_kernel(form->kernels[k], name);
    if (!i) continue;
    if (operand < 0) TRY(grid_bijection_add(a, form->kernels[k], &form->target, i, &count));
    else TRY(grid_bijection_add_operand(a, form->kernels[k], &form->target, i, operand, &count));
  }
  const char *what = operand < 0
                         ? arena_printf(a, "%s" STR_FMT " written", count.is_window ? "updates of " : "", STR_ARG(name))
                         : arena_printf(a, "operand %d of " STR_FMT " read", operand, STR_ARG(name));
  return judge_grid(a, form, &count, what);
}

// What several kernels have a part in, they reach together.
static heddle_status check_output(arena *a, const kernel_form *form, str name) {
  if (form->target.has_grid) return check_on_grid(a, form, name, -1);
  bijection_maps maps = {0};
  const shape *space = NULL;
  bool is_window = false;
  for (int k = 0; k < form->count; k++) {
    const instruction *i = find_in_kernel(form->kernels[k], name);
    if (!i) continue;
    TRY(bijection_maps_to_instruction(a, form->kernels[k], &form->target, i, &maps, &space));
    is_window = !shape_is_tuple(i->shape) && !shape_same_dims(space, i->shape);
  }
  const char *what = arena_printf(a, "%s" STR_FMT " written", is_window ? "updates of " : "", STR_ARG(name));
  return check_maps(a, form, &maps, space, what);
}

static heddle_status check_operand(arena *a, const kernel_form *form, str name, int operand) {
  if (form->target.has_grid) return check_on_grid(a, form, name, operand);
  bijection_maps maps = {0};
  const shape *space = NULL;
  for (int k = 0; k < form->count; k++) {
    const instruction *i = find_in_kernel(form->kernels[k], name);
    if (!i) continue;
    TRY(bijection_maps_to_operand(a, form->kernels[k], &form->target, i, operand, &maps));
    space = i->operands[operand]->shape;
  }
  return check_maps(a, form, &maps, space, arena_printf(a, "operand %d of " STR_FMT " read", operand, STR_ARG(name)));
}

// What is read at places that only the run knows is said and passed over; so are scalars, which are read over and over.
static heddle_status check_operands(arena *a, const kernel_form *form, str name) {
  const instruction *i = find_instruction(form, name);
  int checked = 0;
  for (int k = 0; k < i->operand_count; k++) {
    if (i->operands[k]->shape->rank == 0 && i->shape->rank > 0) continue;
    heddle_status s = check_operand(a, form, name, k);
    if (heddle_status_code(s) != HEDDLE_UNIMPLEMENTED) {
      TRY(s);
      checked++;
      continue;
    }
    printf("%s: operand %d of " STR_FMT " not checked: %s\n", form->name, k, STR_ARG(name), status_brief(s));
    heddle_status_free(s);
  }
  if (checked > 0 || form->target.has_grid) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "no operand of " STR_FMT " can be checked", STR_ARG(name));
}

// "hero:0,1": which operands of which instruction; "hero": all that can be checked.
static heddle_status check_input(arena *a, const kernel_form *planned, const kernel_form *written, const char *spec) {
  const char *colon = strchr(spec, ':');
  str name = {spec, colon ? (size_t)(colon - spec) : strlen(spec)};
  const kernel_form *form;
  TRY(choose_form(planned, written, &name, &form));
  if (!colon) return check_operands(a, form, name);
  for (const char *next = colon; next && *next;) {
    char *end;
    long operand = strtol(next + 1, &end, 10);
    if (end == next + 1 || (*end && *end != ',') || operand > INT16_MAX)
      return status_error(HEDDLE_INVALID, "--bijection_inputs: found %s, wanted NAME:OPERAND,OPERAND…", spec);
    TRY(check_operand(a, form, name, (int)operand));
    next = end;
  }
  return status_ok();
}

static heddle_status check_forms(arena *a, const kernel_form *planned, const kernel_form *written,
                                 const correctness_flags *f) {
  for (int i = 0; i < f->inputs.size; i++) TRY(check_input(a, planned, written, f->inputs.data[i]));
  for (int i = 0; i < f->outputs.size; i++) {
    str name = str_from(f->outputs.data[i]);
    const kernel_form *form;
    TRY(choose_form(planned, written, &name, &form));
    TRY(check_output(a, form, name));
  }
  return status_ok();
}

// The program as it was written, in kernels; none for what only passes bring to a form that kernels have.
static heddle_status written_form(arena *a, const module *m, const char *name, target_description target,
                                  kernel_form *out) {
  written_kernels *plan;
  *out = (kernel_form){.name = name, .source = m, .target = target};
  heddle_status s = written_kernels_plan(a, m, target, &plan);
  if (heddle_status_code(s) == HEDDLE_UNIMPLEMENTED) {
    printf("%s: not planned as written: %s\n", name, status_brief(s));
    heddle_status_free(s);
    return status_ok();
  }
  TRY(s);
  out->count = plan->kernel_count;
  out->kernels = plan->kernels;
  return status_ok();
}

static heddle_status check_cpu(arena *a, const module *m, const correctness_flags *f, const compile_options *options) {
  const target_description target = target_cpu(f->threads > 0 ? f->threads : 1);
  compile_options quiet = *options;
  static const kept_fusions_report silent;
  if (quiet.keep_fusions) quiet.keep_fusions = &silent;
  quiet.dump = NULL;
  quiet.control = NULL;  // the stages were dumped when the program was compiled to run
  kernel_form written;
  lhlo_program *program;
  compile_times times = {0};
  TRY(compile_plan(a, m, &quiet, &times, NULL, &program));
  TRY(written_form(a, m, "cpu", target, &written));
  const kernel_form planned = {"cpu", m, target, program->kernel_count, program->kernels};
  return check_forms(a, &planned, &written, f);
}

static heddle_status check_gpu(arena *a, const module *m, const correctness_flags *f) {
  kernel_form written;
  TRY(written_form(a, m, "gpu", target_gpu(), &written));
  return written.kernels ? check_forms(a, &written, &written, f) : status_ok();
}

// --- command line

static heddle_status run_file(arena *a, const char *path, void *argument) {
  correctness_flags *f = argument;
  log_set_level(f->v);
  module *m;
  debug_options_warn(&f->debug);
  TRY(import_file(a, path, NULL, &m));
  debug_compile debug;
  compile_options options = {.exact = f->exact, .codegen = f->codegen, .threads = f->threads};
  if (f->keep_fusions) options.keep_fusions = &debug_compile_remarks;
  heddle_status s = debug_compile_open(&debug, a, &f->debug, PASS_FOLDS, m, &options);
  if (status_is_ok(s)) s = check_results(a, m, f, &options);
  TRY(debug_compile_close(&debug, s));
  if (f->inputs.size + f->outputs.size == 0) return status_ok();
  TRY(check_cpu(a, m, f, &options));
  return check_gpu(a, m, f);
}

static heddle_status check_flags(void *argument) {
  correctness_flags *f = argument;
  TRY(codegen_flag_take(f->codegen_name, &f->codegen));
  TRY(platform_from_name("platform", f->platform, &f->on));
  if (f->on != PLATFORM_CPU && f->on != PLATFORM_VULKAN)
    return status_error(HEDDLE_INVALID, "--platform: found %s, wanted CPU or Vulkan", f->platform);
  return hlo_dump_check(&f->debug);
}

int main(int argc, char **argv) {
  correctness_flags f = {.abs_error = -1, .rel_error = -1, .platform = "CPU", .debug = DEBUG_OPTIONS_DEFAULT};
  const flag flags[] = {
      {"abs_error_bound", FLAG_DOUBLE, &f.abs_error, "A",
       "absolute error allowed (1e-4; more for narrow types and long sums)"},
      {"rel_error_bound", FLAG_DOUBLE, &f.rel_error, "R", "relative error allowed (the same)"},
      {"bijection_inputs", FLAG_LIST, &f.inputs, "NAME:0,1",
       "operands of an instruction that are to be read exactly once"},
      {"bijection_outputs", FLAG_LIST, &f.outputs, "NAME",
       "an instruction whose elements are to be written exactly once"},
      {"exact", FLAG_BOOL, &f.exact, NULL, "keep every rounding the HLO asks for (no excess precision)"},
      {"keep_fusions", FLAG_BOOL, &f.keep_fusions, NULL, KEEP_FUSIONS_HELP},
      {"region", FLAG_TEXT, &f.region, "FILE",
       "what runs in the module's place: the text of a dispatch region, or of several between lines // -----, each a "
       "kernel of that name, at any stage of --until of hlo-opt"},
      {"platform", FLAG_TEXT, &f.platform, "CPU|Vulkan", "where the module or the region runs (CPU)"},
      {"threads", FLAG_THREADS, &f.threads, "N", "threads to run on (all cores)"},
      CODEGEN_FLAG(f.codegen_name),
      DEBUG_OPTIONS_FILE(f.debug),
      VERBOSE_FLAG(f.v),
      {0},
  };
  const command_line line = {
      "test_correctness FILE [flags]",
      "Compares a module's results on the CPU with the interpreter's, and proves that threads reach each\n"
      "element of the named arrays exactly once.",
      flags, check_flags};
  return debug_options_main(&line, &f.debug, argc - 1, argv + 1, NULL, run_file, &f);
}
