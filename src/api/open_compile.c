// Which symbols there are, the stand-ins, and the comparison of what is made with different ones.
#include "api/open_compile.h"

#include <inttypes.h>

#include "hlo/device_counts.h"
#include "prog/program_print.h"
#include "prog/program_sizes.h"

enum { MOST_DIMS = 64 };

// An open dim of a parameter.
typedef struct open_dim {
  int parameter, dimension, symbol;
} open_dim;

typedef struct open_program {
  arena *arena;
  const char *file;
  str source;
  const import_options *import;
  const compile_options *options;
  int dim_count;
  open_dim dims[MOST_DIMS];
  open_samples samples;
  int sample;  // at hand
  const char *names[PROGRAM_MOST_SYMBOLS];
} open_program;

// --- reading

static heddle_status note_dims(void *context, arena *a, int number, const shape *declared, const shape **out) {
  open_program *o = context;
  (void)a;
  *out = NULL;
  for (int d = 0; d < declared->rank; d++) {
    if (declared->dims[d] >= 0) continue;
    if (o->dim_count == MOST_DIMS) return status_error(HEDDLE_UNIMPLEMENTED, "more than %d open sizes", (int)MOST_DIMS);
    o->dims[o->dim_count++] = (open_dim){number, d, 0};
  }
  return status_ok();
}

static heddle_status give_shape(void *context, arena *a, int number, const shape *declared, const shape **out) {
  const open_program *o = context;
  int64_t *dims = arena_array(a, int64_t, declared->rank);
  for (int d = 0; d < declared->rank; d++) dims[d] = declared->dims[d];
  *out = NULL;
  for (int k = 0; k < o->dim_count; k++) {
    if (o->dims[k].parameter != number) continue;
    dims[o->dims[k].dimension] = open_samples_stand_in(&o->samples, o->sample, o->dims[k].symbol);
    *out = declared;
  }
  if (*out) *out = shape_array(a, declared->dtype, declared->rank, dims);
  return status_ok();
}

static heddle_status import_with(const open_program *o, arena *a, import_shape_fn fn, module **out) {
  import_options import = *o->import;
  import.shape = fn;
  import.shape_context = (void *)o;
  return import_module(a, o->file, o->source, &import, out);
}

static heddle_status import_sample(const open_program *o, module **out) {
  TRY(import_with(o, o->arena, give_shape, out));
  (*out)->open_from = open_samples_open_from(&o->samples);
  device_counts_adopt(*out, 0, 0);
  return status_ok();
}

// --- symbols

// Ways to say which open dims have the same size: each its own, those of one number in their shapes the same, all.
typedef enum symbol_rule { EACH_ITS_OWN, BY_DIMENSION, ALL_THE_SAME, SYMBOL_RULES } symbol_rule;

static bool name_symbols(open_program *o, symbol_rule rule) {
  int of_dimension[SHAPE_MAX_RANK];
  for (int d = 0; d < SHAPE_MAX_RANK; d++) of_dimension[d] = -1;
  o->samples.symbol_count = 0;
  for (int k = 0; k < o->dim_count; k++) {
    open_dim *d = &o->dims[k];
    int *known = rule == EACH_ITS_OWN ? NULL : &of_dimension[rule == BY_DIMENSION ? d->dimension : 0];
    if (known && *known >= 0) {
      d->symbol = *known;
      continue;
    }
    if (o->samples.symbol_count == PROGRAM_MOST_SYMBOLS) return false;
    d->symbol = o->samples.symbol_count++;
    if (known) *known = d->symbol;
  }
  for (int k = 0; k < o->samples.symbol_count; k++)
    o->names[k] = o->samples.symbol_count == 1 ? "n" : arena_printf(o->arena, "n%d", k);
  return true;
}

// The first rule under which the program can be read: sizes that operations want to be equal are one symbol.
static heddle_status find_symbols(open_program *o) {
  module *unused;
  heddle_status refused = import_with(o, o->arena, note_dims, &unused);
  if (o->dim_count == 0) return refused;
  heddle_status_free(refused);
  heddle_status first = status_ok();
  for (symbol_rule rule = EACH_ITS_OWN; rule < SYMBOL_RULES; rule++) {
    if (!name_symbols(o, rule)) continue;
    o->samples.level = OPEN_SAMPLES_LEVELS - 1;
    o->sample = 0;
    heddle_status s = import_sample(o, &unused);
    if (status_is_ok(s)) {
      heddle_status_free(first);
      return s;
    }
    if (status_is_ok(first)) first = s;
    else heddle_status_free(s);
  }
  return status_context(first, "while looking for sizes that may stay open");
}

// --- samples

typedef struct number_list {
  arena *arena;
  VEC(int64_t) numbers;
} number_list;

static int64_t note_number(void *context, int64_t number) {
  number_list *l = context;
  vec_push(l->arena, &l->numbers, number);
  return number;
}

static heddle_status make_plan(const open_program *o, open_sample *out) {
  lhlo_program *plan = NULL;
  compile_times times = {0};
  text reasons = {0};
  heddle_status s = compile_plan(o->arena, out->module, o->options, &times, &reasons, &plan);
  out->plan = plan;
  out->reasons = arena_strdup(o->arena, text_cstr(&reasons), reasons.size);
  text_free(&reasons);
  return s;
}

static heddle_status make_program(const open_program *o, open_sample *out) {
  program_kernels kernels;
  TRY(program_collect_kernels(o->arena, out->plan, o->options->kernel_name, &kernels));
  const kernel_image *images = arena_array(o->arena, kernel_image, kernels.count);
  return program_build(o->arena, out->plan, out->module, &kernels, kernels.count, images, &out->program);
}

// With code if `code` is not null.
static heddle_status make_sample(open_program *o, int number, compiled *code, open_sample *out) {
  o->sample = number;
  module *m;
  TRY(import_sample(o, &m));
  out->module = m;
  TRY(make_plan(o, out));
  if (code) {
    compile_options options = *o->options;
    if (number > 0) options.dump = NULL;
    TRY(compile_lhlo(o->arena, out->plan, &options, code));
  }
  TRY(make_program(o, out));
  if (code) {
    // The module knows names and the structure of the result.
    code->source = m;
    TRY(program_build(o->arena, out->plan, m, &code->kernels, code->image_count, code->images, &code->program));
  }
  number_list list = {.arena = o->arena};
  program_sizes_map(o->arena, &out->program, note_number, &list);
  out->number_count = list.numbers.size;
  out->numbers = list.numbers.data;
  return status_ok();
}

// --- comparison

static int64_t no_number(void *context, int64_t number) {
  (void)context, (void)number;
  return 0;
}

// All that the program says but its numbers.
static str structure_text(arena *a, const program *p) {
  program *without = program_sizes_map(a, p, no_number, NULL);
  program_kernel *kernels = arena_array(a, program_kernel, p->kernel_count);
  for (int k = 0; k < p->kernel_count; k++) {
    kernels[k] = without->kernels[k];
    kernels[k].tile_bytes = kernels[k].tile_operations = 0;
  }
  program_allocation *allocations = arena_array(a, program_allocation, p->allocation_count);
  for (int k = 0; k < p->allocation_count; k++) {
    allocations[k] = without->allocations[k];
    allocations[k].data = NULL;
  }
  without->kernels = kernels;
  without->allocations = allocations;
  text t = {0};
  program_print(&t, without);
  const str copy = str_copy(a, text_view(&t));
  text_free(&t);
  return copy;
}

static heddle_status depends(source_location where, const char *what) {
  return status_at(HEDDLE_UNIMPLEMENTED, where,
                   "%s depends on a size that is only known when the program runs: sizes of outermost dims may stay "
                   "open, others have to be given when it is compiled",
                   what);
}

static heddle_status compare_code(const open_program *o, const compiled *l, const compiled *r) {
  for (int k = 0; k < l->image_count && k < r->image_count; k++) {
    const kernel_image *x = &l->images[k], *y = &r->images[k];
    if (x->size == y->size && memcmp(x->data, y->data, x->size) == 0) continue;
    const instruction *root = l->kernels.plans[k]->outputs[0].root;
    return depends(root->where, arena_printf(o->arena, "the code of the kernel with %s " STR_FMT,
                                             hlo_op_text(root->opcode), STR_ARG(root->name)));
  }
  return status_ok();
}

static heddle_status compare_constants(const program *l, const program *r) {
  for (int k = 0; k < l->allocation_count; k++) {
    const program_allocation *x = &l->allocations[k], *y = &r->allocations[k];
    if (x->kind != PROGRAM_CONSTANT) continue;
    if (x->bytes != y->bytes || memcmp(x->data, y->data, (size_t)x->bytes) != 0)
      return depends(l->where, "a constant of the program");
  }
  return status_ok();
}

static heddle_status compare_structure(const open_program *o, const open_sample *l, const open_sample *r) {
  if (l->number_count == r->number_count &&
      str_equal(structure_text(o->arena, &l->program), structure_text(o->arena, &r->program)))
    return status_ok();
  return depends(l->program.where, "which operations the program consists of");
}

// --- numbers

static heddle_status find_numbers(const open_program *o, const open_sample *samples, program_sizes *out) {
  const int count = open_samples_count(&o->samples);
  VEC(program_open_number) open = {0};
  for (int n = 0; n < samples[0].number_count; n++) {
    int64_t values[OPEN_SAMPLES_MOST];
    bool is_open = false;
    for (int s = 0; s < count; s++) {
      values[s] = samples[s].numbers[n];
      is_open |= values[s] != values[0];
    }
    if (!is_open) continue;
    program_open_number number = {.number = n};
    if (!open_samples_terms(&o->samples, values, number.terms))
      return depends(samples[0].program.where, "a size or an offset of the program");
    vec_push(o->arena, &open, number);
  }
  out->number_count = open.size;
  out->numbers = open.data;
  return status_ok();
}

static heddle_status find_sizes(const open_program *o, const open_sample *samples, program_sizes *out) {
  program_symbol *symbols = arena_array(o->arena, program_symbol, o->samples.symbol_count);
  for (int k = 0; k < o->samples.symbol_count; k++)
    symbols[k] = (program_symbol){o->names[k], 0, open_samples_largest_size(&o->samples)};
  *out = (program_sizes){.symbol_count = o->samples.symbol_count, .symbols = symbols};
  return find_numbers(o, samples, out);
}

static heddle_status compare(const open_program *o, const open_sample *samples, const compiled *first,
                             const compiled *second, program_sizes *out) {
  const int count = open_samples_count(&o->samples);
  for (int s = 1; s < count; s++) TRY(compare_structure(o, &samples[0], &samples[s]));
  for (int s = 1; s < count; s++) TRY(compare_constants(&samples[0].program, &samples[s].program));
  TRY(compare_code(o, first, second));
  return find_sizes(o, samples, out);
}

// Code is made for the first sample and for the one whose stand-ins are all others.
static heddle_status compile_level(open_program *o, compiled *out) {
  const int count = open_samples_count(&o->samples), other = count - 2;
  open_sample_list *list = arena_new(o->arena, open_sample_list);
  list->stand_ins = o->samples;
  compiled second = {0};
  heddle_status s = status_ok();
  for (int n = 0; n < count && status_is_ok(s); n++)
    s = make_sample(o, n, n == 0 ? out : n == other ? &second : NULL, &list->made[n]);
  program_sizes sizes = {0};
  if (status_is_ok(s)) s = compare(o, list->made, out, &second, &sizes);
  compiled_release(&second);
  if (!status_is_ok(s)) compiled_release(out);
  out->program.sizes = sizes;
  out->samples = list;
  return s;
}

heddle_status open_compile_import(arena *a, const char *file, str source, const import_options *import, module **out) {
  open_program o = {.arena = a, .file = file, .source = source, .import = import};
  if (import->argument_shapes || import->arguments) return import_module(a, file, source, import, out);
  heddle_status s = import_with(&o, a, note_dims, out);
  if (status_is_ok(s) || o.dim_count == 0) return s;
  heddle_status_free(s);
  *out = NULL;
  return status_ok();
}

heddle_status open_compile(arena *a, const char *file, str source, const import_options *import,
                           const compile_options *options, compiled *out) {
  open_program o = {.arena = a, .file = file, .source = source, .import = import, .options = options};
  *out = (compiled){0};
  TRY(find_symbols(&o));
  // Large stand-ins may be too much for what smaller ones are not: the last refusal counts.
  heddle_status s = status_ok();
  for (o.samples.level = 0; o.samples.level < OPEN_SAMPLES_LEVELS; o.samples.level++) {
    heddle_status_free(s);
    s = compile_level(&o, out);
    if (status_is_ok(s)) return s;
  }
  return s;
}
