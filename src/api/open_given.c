// The program is read with these sizes, and is one like any other then.
#include "api/open_given.h"

#include <string.h>

#include "api/open_compile.h"
#include "api/program_shape.h"
#include "hlo/device_counts.h"
#include "import/import.h"
#include "prog/program_sizes.h"
#include "rt/open_instances.h"

static const shape *const *shapes_of(arena *a, const program *p) {
  const shape **shapes = arena_array(a, const shape *, p->parameter_count);
  for (int k = 0; k < p->parameter_count; k++) shapes[k] = program_shape_of_literal(a, &p->parameters[k].shape);
  return shapes;
}

static const char *sizes_text(arena *a, const program_sizes *s, const int64_t *symbols) {
  text t = {0};
  program_sizes_print_given(&t, s, symbols);
  const char *copy = arena_strdup(a, text_cstr(&t), t.size);
  text_free(&t);
  return copy;
}

// Whether the program runs at these sizes at all, which its bounds and conditions say, and has no code for them yet.
static heddle_status check_sizes(arena *a, const compiled *general, const program *at, const char *sizes) {
  const int64_t **dims = arena_array(a, const int64_t *, at->parameter_count);
  int64_t unused[PROGRAM_MOST_SYMBOLS];
  for (int k = 0; k < at->parameter_count; k++) dims[k] = at->parameters[k].shape.dims;
  TRY(program_sizes_solve(&general->program, dims, unused));
  for (int k = 0; k < general->special_count; k++)
    if (strcmp(general->specials[k].sizes, sizes) == 0)
      return status_error(HEDDLE_INVALID, "found the sizes %s twice", sizes);
  return status_ok();
}

// What is said of the whole program's code holds for what has been made of it.
static void adopt_machine(const compiled *made, compiled *general) {
  if (!general->program.sizes.is_for_given) return;
  general->machine = made->machine;
  general->level = made->level;
  general->threads = made->threads;
}

// Runs take the first that fits: these come before what is for multiples.
void open_given_put(arena *a, const compiled *made, compiled *general) {
  adopt_machine(made, general);
  compiled *all = arena_array(a, compiled, general->special_count + 1);
  all[0] = *made;
  for (int k = 0; k < general->special_count; k++) all[k + 1] = general->specials[k];
  general->specials = all;
  general->special_count++;
}

heddle_status open_given_add(arena *a, const char *file, str source, const char *sizes, const compile_options *options,
                             compiled *general) {
  const program *p = &general->program;
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  if (general->special_count == OPEN_INSTANCES_MOST_SPECIALS)
    return status_error(HEDDLE_INVALID, "found more than %d sizes to have code of their own",
                        (int)OPEN_INSTANCES_MOST_SPECIALS);
  TRY(program_sizes_read(&p->sizes, sizes, symbols));
  const program *at = program_sizes_fill(a, p, symbols);
  const char *names = sizes_text(a, &p->sizes, symbols);
  TRY(check_sizes(a, general, at, names));
  const import_options import = {.argument_count = at->parameter_count, .argument_shapes = shapes_of(a, at)};
  module *m;
  TRY(import_module(a, file, source, &import, &m));
  device_counts_adopt(m, 0, 0);
  compiled made;
  TRY(compile_module(a, m, options, &made));
  made.sizes = names;
  open_given_put(a, &made, general);
  return status_ok();
}

// --- programs that have nothing else

// Its signature, of which all dims are numbers in front of all others.
static program signature_of(const program *p) {
  program x = {.name = p->name,
               .where = p->where,
               .device = p->device,
               .device_count = p->device_count,
               .partition_count = p->partition_count,
               .parameter_count = p->parameter_count,
               .parameters = p->parameters,
               .result_count = p->result_count,
               .given_result_count = p->given_result_count,
               .results = p->results,
               .dynamic_count = p->dynamic_count,
               .dynamic = p->dynamic,
               .node_count = p->node_count,
               .nodes = p->nodes,
               .sizes = p->sizes};
  x.sizes.is_for_given = true;
  return x;
}

heddle_status open_given_begin(arena *a, const char *file, str source, const import_options *import,
                               const compile_options *options, compiled *out) {
  compile_options for_each = *options;
  for_each.specializes = true;
  TRY(open_compile(a, file, source, import, &for_each, out));
  const program signature = signature_of(&out->program);
  *out = (compiled){.is_open = true, .source = out->source, .plan = out->plan, .program = signature};
  return status_ok();
}
