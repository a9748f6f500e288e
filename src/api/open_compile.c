// What is made with different stand-ins is compared, and the numbers in which it differs become polynomials.
#include "api/open_compile.h"

#include <inttypes.h>

#include "api/open_symbols.h"
#include "api/open_text.h"
#include "base/int64.h"
#include "base/log.h"
#include "hlo/text.h"
#include "kernel/hero_transpose.h"
#include "prog/program_print.h"
#include "prog/program_sizes.h"

// What another attempt may mend.
typedef struct open_refusal {
  bool by_number;  // one is no polynomial
  bool by_code;    // which depends on sizes
} open_refusal;

typedef struct open_program {
  arena *arena;
  const compile_options *options;
  open_symbols symbols;
  open_refusal *refusal;
} open_program;

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

// With the tables of kernels that take sizes, if code was made for them (may be null).
static heddle_status make_program(const open_program *o, int number, const open_kernel_table *tables,
                                  open_sample *out) {
  program_kernels kernels;
  TRY(program_collect_kernels(o->arena, out->plan, o->options->kernel_name, &kernels));
  if (tables) kernels.tables = open_kernel_tables(o->arena, tables, kernels.count, &o->symbols.samples, number);
  const kernel_image *images = arena_array(o->arena, kernel_image, kernels.count);
  return program_build(o->arena, out->plan, out->module, &kernels, kernels.count, images, &out->program);
}

// --- what slices need

static void need(const open_program *o, const instruction *i, int64_t dim, int64_t taken, import_open_sizes *out) {
  if (dim < out->from) return;
  const char *message = arena_printf(o->arena, "%s " STR_FMT " takes more of an open size than there is",
                                     hlo_op_text(i->opcode), STR_ARG(i->name));
  vec_push(o->arena, &out->conditions, ((import_condition){IMPORT_AT_LEAST, dim, taken, str_from(message), i->where}));
}

// What begins behind an open size begins at none below 0.
static void need_begin(const open_program *o, const instruction *i, int64_t begin, import_open_sizes *out) {
  if (begin < out->from) return;
  const char *message = arena_printf(o->arena, "%s " STR_FMT " begins in front of what there is",
                                     hlo_op_text(i->opcode), STR_ARG(i->name));
  vec_push(o->arena, &out->conditions, ((import_condition){IMPORT_AT_LEAST, begin, 0, str_from(message), i->where}));
}

// Where an operation takes a part of an array, there must be as much of it: of a static size that is checked when the
// program is read, of an open one when it runs.
static void note_needs_of(const open_program *o, const instruction *i, import_open_sizes *out) {
  const shape *s = i->operand_count > 0 ? i->operands[0]->shape : i->shape;
  for (int d = 0; shape_is_array(s) && d < s->rank; d++) {
    if (i->opcode == HLO_SLICE) need(o, i, s->dims[d], i->attributes->slice.dims[d].limit, out);
    if (i->opcode == HLO_SLICE) need_begin(o, i, i->attributes->slice.dims[d].start, out);
    if (i->opcode == HLO_DYNAMIC_SLICE) need(o, i, s->dims[d], i->shape->dims[d], out);
    if (i->opcode == HLO_DYNAMIC_UPDATE_SLICE) need(o, i, s->dims[d], i->operands[1]->shape->dims[d], out);
    if (i->opcode == HLO_GATHER) need(o, i, s->dims[d], i->attributes->slice_sizes.data[d], out);
    if (i->opcode == HLO_TOPK && d == s->rank - 1) need(o, i, s->dims[d], i->attributes->k, out);
    if (i->opcode == HLO_PAD) need(o, i, i->attributes->padding.dims[d].low, 0, out);
    if (i->opcode == HLO_PAD) need(o, i, i->attributes->padding.dims[d].high, 0, out);
  }
}

static void note_needs(const open_program *o, const module *m, import_open_sizes *out) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) note_needs_of(o, all->data[k], out);
  }
}

// Code for large sizes is for those where all that is transposed is.
static void note_large(const open_program *o, const lhlo_program *p, import_open_sizes *out) {
  for (int k = 0; k < p->kernel_count && o->symbols.is_large; k++) {
    const kernel_plan *kernel = p->kernels[k];
    if (!kernel->takes_sizes || kernel->hero != HERO_TRANSPOSE) continue;
    vec_push(o->arena, &out->conditions,
             ((import_condition){IMPORT_AT_LEAST, hero_transpose_output_bytes(kernel),
                                 p->target.tiles.transpose_stream_bytes, STR("it is large"),
                                 kernel->computation->root->where}));
  }
}

static heddle_status read_sample(const open_program *o, int number, open_sample *out) {
  module *m;
  import_open_sizes sizes = {0};
  TRY(open_symbols_import(o->arena, &o->symbols, number, &sizes, &m));
  out->module = m;
  note_needs(o, m, &sizes);
  TRY(open_borders_find(o->arena, m, &out->borders));
  TRY(make_plan(o, out));
  note_large(o, out->plan, &sizes);
  out->condition_count = sizes.conditions.size;
  out->conditions = sizes.conditions.data;
  return status_ok();
}

static heddle_status number_sample(const open_program *o, int number, const open_kernel_table *tables,
                                   open_sample *out) {
  TRY(make_program(o, number, tables, out));
  number_list list = {.arena = o->arena};
  program_sizes_map(o->arena, &out->program, note_number, &list);
  out->number_count = list.numbers.size;
  out->numbers = list.numbers.data;
  return status_ok();
}

// --- code

static bool takes_sizes(const lhlo_program *p) {
  for (int k = 0; k < p->kernel_count; k++)
    if (p->kernels[k]->takes_sizes) return true;
  return false;
}

// Plans with stand-ins that nothing divides, which code for kernels that take sizes is made of.
static heddle_status make_open_plans(const open_program *o, open_plans *out) {
  open_program odd = *o;
  odd.symbols.samples.is_odd = true;
  open_samples_add_table(o->arena, &odd.symbols.samples);
  open_samples *samples = arena_new(o->arena, open_samples);
  *samples = odd.symbols.samples;
  const int count = open_samples_count(samples);
  lhlo_program **plans = arena_array(o->arena, lhlo_program *, count);
  for (int n = 0; n < count; n++) {
    open_sample sample = {0};
    TRY(read_sample(&odd, n, &sample));
    plans[n] = (lhlo_program *)sample.plan;
  }
  *out = (open_plans){samples, &o->symbols.samples, plans};
  return status_ok();
}

// Of the first sample, ready to be run.
static heddle_status make_code(const open_program *o, const open_sample *sample, compiled *out) {
  open_plans plans;
  compile_options options = *o->options;
  if (takes_sizes(sample->plan)) {
    TRY(make_open_plans(o, &plans));
    options.open = &plans;
  }
  TRY(compile_lhlo(o->arena, sample->plan, &options, out));
  // The module knows names and the structure of the result.
  out->source = sample->module;
  return program_build(o->arena, out->plan, sample->module, &out->kernels, out->image_count, out->images,
                       &out->program);
}

// Of another one, to be compared.
static heddle_status make_code_again(const open_program *o, const open_sample *sample, compiled *out) {
  compile_options options = *o->options;
  options.dump = NULL;
  options.is_saved = true;
  return compile_lhlo(o->arena, sample->plan, &options, out);
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
    if (l->kernels.plans[k]->takes_sizes) continue;
    const kernel_image *x = &l->images[k], *y = &r->images[k];
    if (x->size == y->size && memcmp(x->data, y->data, x->size) == 0) continue;
    const instruction *root = l->kernels.plans[k]->outputs[0].root;
    o->refusal->by_code = true;
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

// Of the first `number_count` numbers.
static heddle_status find_numbers(const open_program *o, const open_sample *samples, int number_count,
                                  program_sizes *out) {
  const int count = open_samples_count(&o->symbols.samples);
  VEC(program_open_number) open = {0};
  for (int n = 0; n < number_count; n++) {
    int64_t values[OPEN_SAMPLES_MOST];
    bool is_open = false;
    for (int s = 0; s < count; s++) {
      values[s] = samples[s].numbers[n];
      is_open |= values[s] != values[0];
    }
    if (!is_open) continue;
    program_open_number number = {.number = n};
    if (!open_samples_terms(&o->symbols.samples, values, number.terms) && !o->symbols.specializes) {
      o->refusal->by_number = true;
      return depends(samples[0].program.where, "a size or an offset of the program");
    }
    vec_push(o->arena, &open, number);
  }
  out->number_count = open.size;
  out->numbers = open.data;
  return status_ok();
}

// Equations must hold for all sizes, or there would be fewer symbols. Other conditions are left to runs.
static heddle_status find_check(const open_program *o, const open_sample *samples, int number, program_size_check *out,
                                bool *is_needed) {
  const int count = open_samples_count(&o->symbols.samples);
  const import_condition *c = &samples[0].conditions[number];
  int64_t values[OPEN_SAMPLES_MOST] = {0};
  bool holds = c->kind != IMPORT_UNREAD;
  for (int s = 0; s < count; s++) {
    const import_condition *x = &samples[s].conditions[number];
    const bool is_exact = !__builtin_sub_overflow(x->left, x->right, &values[s]);
    holds = holds && x->kind == c->kind;
    if (c->kind == IMPORT_EQUAL) holds = holds && x->left == x->right;
    if (c->kind == IMPORT_AT_LEAST) holds = holds && is_exact;
    if (c->kind == IMPORT_DIVISIBLE) holds = holds && int64_goes_into(x->right, x->left);
  }
  *is_needed = c->kind == IMPORT_AT_LEAST;
  *out = (program_size_check){.message = arena_printf(o->arena, STR_FMT, STR_ARG(c->message))};
  if (holds && (!*is_needed || open_samples_terms(&o->symbols.samples, values, out->terms))) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, c->where, "a condition is no comparison of sizes that may stay open: " STR_FMT,
                   STR_ARG(c->message));
}

typedef VEC(program_size_check) check_list;

static const open_border *find_border(const open_border_list *all, uint64_t path) {
  for (int k = 0; k < all->count; k++)
    if (all->borders[k].path == path) return &all->borders[k];
  return NULL;
}

// Whether a number is the same or more for all sizes.
static bool holds_always(const int64_t *terms) {
  bool holds = true;
  for (int k = 0; k < PROGRAM_MOST_TERMS; k++) holds = holds && terms[k] >= 0;
  return holds;
}

static bool is_among(const check_list *all, const program_size_check *check) {
  for (int k = 0; k < all->size; k++)
    if (memcmp(all->data[k].terms, check->terms, sizeof check->terms) == 0) return true;
  return false;
}

// False if it is on this side in some samples only.
static bool border_values(const open_program *o, const open_sample *samples, uint64_t path, int64_t *values) {
  for (int s = 0; s < open_samples_count(&o->symbols.samples); s++) {
    const open_border *b = find_border(&samples[s].borders, path);
    if (!b) return false;
    values[s] = b->larger - b->smaller;
  }
  return true;
}

// What is on one side of a border in all samples has to be there when the program runs, too. On which side it is in
// some samples only decides nothing where the code is the same in all of them, which is so of kernels that take sizes.
static heddle_status find_borders(const open_program *o, const open_sample *samples, check_list *checks) {
  const open_border_list *first = &samples[0].borders;
  bool is_mixed = false;
  for (int s = 1; s < open_samples_count(&o->symbols.samples); s++)
    is_mixed |= samples[s].borders.count != first->count;
  for (int k = 0; k < first->count; k++) {
    const open_border *b = &first->borders[k];
    const source_location where = b->taker->where;
    program_size_check check = {
        .message = arena_printf(o->arena, "%s " STR_FMT " takes a part that ends on the other side of a border",
                                hlo_op_text(b->taker->opcode), STR_ARG(b->taker->name))};
    int64_t values[OPEN_SAMPLES_MOST] = {0};
    if (!border_values(o, samples, b->path, values)) {
      is_mixed = true;
      continue;
    }
    if (!open_samples_terms(&o->symbols.samples, values, check.terms)) {
      o->refusal->by_number = true;
      return status_at(HEDDLE_UNIMPLEMENTED, where, "on which side of a border a part ends is no polynomial of sizes");
    }
    if (!holds_always(check.terms) && !is_among(checks, &check)) vec_push(o->arena, checks, check);
  }
  if (!is_mixed || o->symbols.takes_sizes) return status_ok();
  o->refusal->by_code = true;
  return depends(samples[0].program.where, "on which side of a border a part ends");
}

static heddle_status find_checks(const open_program *o, const open_sample *samples, program_sizes *out) {
  const int count = open_samples_count(&o->symbols.samples);
  check_list checks = {0};
  for (int s = 1; s < count; s++)
    if (samples[s].condition_count != samples[0].condition_count)
      return depends(samples[0].program.where, "what the program asserts");
  for (int k = 0; k < samples[0].condition_count; k++) {
    program_size_check check;
    bool is_needed;
    heddle_status s = find_check(o, samples, k, &check, &is_needed);
    // What is read for a size decides its conditions then.
    if (!status_is_ok(s) && o->symbols.specializes) {
      heddle_status_free(s);
      continue;
    }
    TRY(s);
    if (is_needed) vec_push(o->arena, &checks, check);
  }
  if (!o->symbols.specializes) TRY(find_borders(o, samples, &checks));
  out->check_count = checks.size;
  out->checks = checks.data;
  return status_ok();
}

static heddle_status find_derived(const open_program *o, const open_sample *samples, program_symbol *symbols,
                                  program_sizes *out) {
  const open_samples *s = &o->symbols.samples;
  program_derived_size *derived = arena_array(o->arena, program_derived_size, s->derived_count);
  for (int k = 0; k < s->derived_count; k++) {
    const int symbol = s->symbol_count - s->derived_count + k;
    int64_t left[OPEN_SAMPLES_MOST] = {0}, right[OPEN_SAMPLES_MOST] = {0};
    for (int n = 0; n < open_samples_count(s); n++) {
      left[n] = open_samples_derived(s, n, symbol)->left;
      right[n] = open_samples_derived(s, n, symbol)->right;
    }
    derived[k].kind = o->symbols.derived.kinds[k];
    if (!open_samples_terms(s, left, derived[k].left) || !open_samples_terms(s, right, derived[k].right)) {
      o->refusal->by_number = true;
      return depends(samples[0].program.where, "what is divided or rounded up in the program");
    }
    symbols[symbol] = (program_symbol){open_derived_name(o->arena, out, &derived[k]), 0, INT64_MAX};
  }
  out->derived_count = s->derived_count;
  out->derived = derived;
  return status_ok();
}

static heddle_status find_sizes(const open_program *o, const open_sample *samples, int number_count, int64_t most,
                                program_sizes *out) {
  const open_samples *s = &o->symbols.samples;
  program_symbol *symbols = arena_array(o->arena, program_symbol, s->symbol_count);
  for (int k = 0; k < s->symbol_count - s->derived_count; k++)
    symbols[k] = (program_symbol){o->symbols.names[k], 0, o->symbols.most[k] < most ? o->symbols.most[k] : most};
  *out = (program_sizes){.symbol_count = s->symbol_count, .degree = s->degree, .symbols = symbols};
  TRY(find_derived(o, samples, symbols, out));
  TRY(find_checks(o, samples, out));
  return find_numbers(o, samples, number_count, out);
}

static heddle_status compare(const open_program *o, const open_sample *samples, const compiled *first,
                             const compiled *second, program_sizes *out) {
  const int count = open_samples_count(&o->symbols.samples);
  for (int s = 1; s < count; s++) TRY(compare_structure(o, &samples[0], &samples[s]));
  for (int s = 1; s < count; s++) TRY(compare_constants(&samples[0].program, &samples[s].program));
  TRY(compare_code(o, first, second));
  return find_sizes(o, samples, samples[0].number_count, open_samples_largest_size(&o->symbols.samples), out);
}

// --- sizes that no power of two divides

static str hlo_text(arena *a, const module *m) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  const str copy = str_copy(a, text_view(&t));
  text_free(&t);
  return copy;
}

// What front ends and passes make of other stand-ins differs in sizes only, also where they are not those multiples
// that tiles want: sizes may have been rounded up to one.
static heddle_status compare_odd(const open_program *o, const open_sample *samples) {
  const open_samples *s = &o->symbols.samples;
  const int last = open_samples_count(s) - 1;
  str read[OPEN_SAMPLES_MOST] = {0}, fused[OPEN_SAMPLES_MOST] = {0};
  import_open_sizes sizes = {0};
  module *m;
  lhlo_program *plan = NULL;
  compile_times times = {0};
  TRY(open_symbols_import(o->arena, &o->symbols, open_samples_odd(s), &sizes, &m));
  TRY(compile_plan(o->arena, m, o->options, &times, NULL, &plan));
  for (int k = 0; k < last; k++) {
    read[k] = hlo_text(o->arena, samples[k].module);
    fused[k] = hlo_text(o->arena, samples[k].plan->module);
  }
  read[last] = hlo_text(o->arena, m);
  fused[last] = hlo_text(o->arena, plan->module);
  if (open_text_is_uniform(s, read) && open_text_is_uniform(s, fused)) return status_ok();
  return depends(samples[0].program.where, "what is divided or rounded up in the program");
}

// Code is made for the first sample and for the one whose stand-ins are all others.
static heddle_status compile_level(const open_program *o, compiled *out) {
  const int count = open_samples_count(&o->symbols.samples), other = count - 2;
  open_sample_list *list = arena_new(o->arena, open_sample_list);
  list->stand_ins = o->symbols.samples;
  compiled second = {0};
  heddle_status s = status_ok();
  for (int n = 0; n < count && status_is_ok(s); n++) s = read_sample(o, n, &list->made[n]);
  if (status_is_ok(s)) {
    s = make_code(o, &list->made[0], out);
    o->refusal->by_number = heddle_status_code(s) == HEDDLE_UNIMPLEMENTED;
  }
  for (int n = 0; n < count && status_is_ok(s); n++) s = number_sample(o, n, out->tables, &list->made[n]);
  if (status_is_ok(s)) s = make_code_again(o, &list->made[other], &second);
  program_sizes sizes = {0};
  if (status_is_ok(s)) s = compare(o, list->made, out, &second, &sizes);
  if (status_is_ok(s)) s = compare_odd(o, list->made);
  compiled_release(&second);
  if (!status_is_ok(s)) compiled_release(out);
  out->program.sizes = sizes;
  out->samples = list;
  return s;
}

// --- code for multiples

// Tiles of a transpose are that long along open dims (kernel/hero_transpose.c), the longest that fill them.
static const int64_t multiples[] = {64, 16};

enum { MULTIPLES = sizeof multiples / sizeof *multiples };

// The symbols that a number depends on.
static void note_symbols(const program_sizes *s, const int64_t *terms, bool *out) {
  int exponents[PROGRAM_MOST_SYMBOLS];
  for (int t = 1; t < program_sizes_term_count(s); t++) {
    program_sizes_exponents(s, t, exponents);
    for (int k = 0; terms[t] != 0 && k < s->symbol_count; k++) out[k] |= exponents[k] > 0;
  }
}

// Those that dims behind the first one depend on. `number` counts the program's numbers, `next` the open ones.
static void note_inner(const program_sizes *s, const program_shape *of, int *number, int *next, bool *out) {
  for (int d = 0; d < of->rank; d++, ++*number) {
    while (*next < s->number_count && s->numbers[*next].number < *number) ++*next;
    if (d > 0 && *next < s->number_count && s->numbers[*next].number == *number)
      note_symbols(s, s->numbers[*next].terms, out);
  }
}

static void find_inner_symbols(const program *p, bool *out) {
  int number = 0, next = 0;
  for (int i = 0; i < p->parameter_count; i++) note_inner(&p->sizes, &p->parameters[i].shape, &number, &next, out);
  for (int i = 0; i < p->result_count; i++) note_inner(&p->sizes, &p->results[i].shape, &number, &next, out);
}

static bool turns_open_dims(const lhlo_program *p) {
  for (int k = 0; k < p->kernel_count; k++)
    if (p->kernels[k]->takes_sizes && p->kernels[k]->hero == HERO_TRANSPOSE) return true;
  return false;
}

// At this level of stand-ins; *pays is false if nothing is gained at any.
static heddle_status compile_multiples_at(const open_program *o, bool *pays, compiled *out) {
  open_sample trial = {0};
  TRY(read_sample(o, 0, &trial));
  *pays = turns_open_dims(trial.plan);
  return *pays ? compile_level(o, out) : status_ok();
}

static bool is_refused(heddle_status s) { return !status_is_ok(s) && heddle_status_code(s) != HEDDLE_CANCELLED; }

static const char *sizes_text(const open_program *o, const open_program *special, const bool *is_inner) {
  text t = {0};
  for (int k = 0; k < o->symbols.samples.symbol_count; k++)
    if (is_inner[k])
      text_printf(&t, "%s%s = %" PRId64 "*%s", t.size ? ", " : "", o->symbols.names[k], special->symbols.multiple,
                  special->symbols.names[k]);
  if (special->symbols.is_large) text_puts(&t, ", larger than caches");
  const char *copy = arena_strdup(o->arena, text_cstr(&t), t.size);
  text_free(&t);
  return copy;
}

// The program for inner sizes that are multiples of this one, large ones if asked, appended to `out`. That there is no
// such code is no error.
static heddle_status add_multiple(const open_program *o, const bool *is_inner, int64_t multiple, bool is_large,
                                  compiled *out) {
  open_refusal unused = {0};
  open_program special = *o;
  special.refusal = &unused;
  special.symbols.is_large = is_large;
  if (!open_symbols_multiply(o->arena, &special.symbols, is_inner, multiple)) return status_ok();
  compiled *made = &out->specials[out->special_count++];  // a program's own from now on, also if memory ends
  heddle_status s = status_error(HEDDLE_UNIMPLEMENTED, "no stand-ins");
  bool pays = true;
  int *level = &special.symbols.samples.level;
  for (; pays && *level < OPEN_SAMPLES_LEVELS && is_refused(s); ++*level) {
    heddle_status_free(s);
    s = compile_multiples_at(&special, &pays, made);
  }
  if (status_is_ok(s) && pays) made->sizes = sizes_text(o, &special, is_inner);
  else out->special_count--;
  if (!is_refused(s)) return s;
  log_print(1, "no code for sizes that are multiples of %d: %s", (int)multiple, heddle_status_message(s));
  heddle_status_free(s);
  return status_ok();
}

static void put_last_first(compiled *all, int count) {
  const compiled last = all[count - 1];
  for (int k = count - 1; k > 0; k--) all[k] = all[k - 1];
  all[0] = last;
}

// What transposes along open dims goes element by element if sizes may be any; where tiles fill them, it turns these in
// registers. Which is asked of the sizes of a run (rt/open_instances.c).
static heddle_status compile_multiples(const open_program *o, compiled *out) {
  bool is_inner[PROGRAM_MOST_SYMBOLS] = {0};
  if (out->program.sizes.derived_count > 0 || !takes_sizes(out->plan)) return status_ok();
  find_inner_symbols(&out->program, is_inner);
  out->specials = arena_array(o->arena, compiled, MULTIPLES + 1);
  for (int k = 0; k < MULTIPLES && out->special_count == k; k++)
    TRY(add_multiple(o, is_inner, multiples[k], false, out));
  const int count = out->special_count;
  if (count > 0) TRY(add_multiple(o, is_inner, multiples[0], true, out));
  // What is for fewer sizes comes first.
  if (out->special_count > count) put_last_first(out->specials, out->special_count);
  return status_ok();
}

// --- compiled for each size

static int signature_numbers(const program *p) {
  int count = 0;
  for (int i = 0; i < p->parameter_count; i++) count += p->parameters[i].shape.rank;
  for (int i = 0; i < p->result_count; i++) count += p->results[i].shape.rank;
  return count;
}

// Only what callers see of it is found for all sizes: which dims are open. Those of results that are no polynomials
// have no terms, as nobody asks for them: the program for the sizes says what they are.
static heddle_status describe(const open_program *o, const compile_options *for_each, compiled *out) {
  const int64_t most = (int64_t)1 << 40;  // beyond what any array has
  const int count = open_samples_count(&o->symbols.samples);
  open_sample_list *list = arena_new(o->arena, open_sample_list);
  list->stand_ins = o->symbols.samples;
  for (int n = 0; n < count; n++) {
    TRY(read_sample(o, n, &list->made[n]));
    TRY(number_sample(o, n, NULL, &list->made[n]));
    if (list->made[n].program.result_count != list->made[0].program.result_count)
      return depends(list->made[0].program.where, "how many results the program has");
  }
  program_sizes sizes;
  TRY(find_sizes(o, list->made, signature_numbers(&list->made[0].program), most, &sizes));
  open_symbols *symbols = arena_new(o->arena, open_symbols);
  compile_options *options = arena_new(o->arena, compile_options);
  // The caller's text and options are gone when runs come.
  import_options *import = arena_new(o->arena, import_options);
  *import = *o->symbols.import;
  import->entry = str_copy(o->arena, import->entry);
  *symbols = o->symbols;
  symbols->import = import;
  symbols->file = arena_strdup(o->arena, o->symbols.file, strlen(o->symbols.file));
  symbols->source = str_copy(o->arena, o->symbols.source);
  *options = *for_each;
  options->progress = (compile_progress){0};
  options->tiling = NULL;
  *out = (compiled){.is_open = true,
                    .source = list->made[0].module,
                    .plan = list->made[0].plan,
                    .program = list->made[0].program,
                    .samples = list,
                    .symbols = symbols,
                    .options = options};
  out->program.sizes = sizes;
  return status_ok();
}

static heddle_status make_instance(void *user, const int64_t *symbols, open_instance *out) {
  const compiled *c = user;
  module *m;
  TRY(open_symbols_import_at(out->arena, c->symbols, symbols, &m));
  compiled *made = arena_new(out->arena, compiled);
  TRY(compile_module(out->arena, m, c->options, made));
  out->made = made;
  out->callable = (invocable){&made->program, made->executable, made->buffers};
  return status_ok();
}

static void drop_instance(open_instance *x) {
  if (x->made) compiled_release(x->made);
}

open_instances *open_compile_instances(const compiled *code) {
  open_instances_source source = {.program = &code->program,
                                  .entries = code->entries,
                                  .options = {.threads = code->threads},
                                  .buffers = code->buffers};
  open_special specials[OPEN_INSTANCES_MOST_SPECIALS];
  for (int k = 0; k < code->special_count; k++)
    specials[k] = (open_special){&code->specials[k].program, code->specials[k].entries};
  source.special_count = code->special_count;
  source.specials = specials;
  if (code->symbols) {
    source.make = make_instance;
    source.drop = drop_instance;
    source.user = (void *)code;
  }
  return open_instances_create(&source);
}

// --- both

heddle_status open_compile_import(arena *a, const char *file, str source, const import_options *import, module **out) {
  if (import->argument_shapes || import->arguments) return import_module(a, file, source, import, out);
  return open_symbols_count(a, &(open_symbols){.file = file, .source = source, .import = import}, out);
}

// What is to be done otherwise where an attempt was refused; false if there is nothing.
static bool mend(open_program *o) {
  const open_refusal why = *o->refusal;
  open_samples *samples = &o->symbols.samples;
  *o->refusal = (open_refusal){0};
  open_samples more = *samples;
  more.degree++;
  if (why.by_number && more.degree <= PROGRAM_MOST_DEGREE && open_samples_count(&more) <= OPEN_SAMPLES_MOST) {
    *samples = more;
    return true;
  }
  if (why.by_code && !o->symbols.takes_sizes) return o->symbols.takes_sizes = true;
  return false;
}

// Large stand-ins may be too much for what smaller ones are not. What was refused first for another reason is told.
static heddle_status compile_levels(open_program *o, compiled *out) {
  heddle_status first = status_ok(), s = status_ok();
  int *level = &o->symbols.samples.level;
  for (*level = 0; *level < OPEN_SAMPLES_LEVELS; ++*level) {
    heddle_status_free(s);
    s = compile_level(o, out);
    for (bool goes_on = mend(o); goes_on && !status_is_ok(s); goes_on = mend(o)) {
      heddle_status_free(s);
      s = compile_level(o, out);
    }
    if (status_is_ok(s)) {
      heddle_status_free(first);
      return s;
    }
    if (!status_is_ok(first) || heddle_status_code(s) != HEDDLE_UNIMPLEMENTED) continue;
    first = s;
    s = status_ok();
  }
  if (status_is_ok(first)) return s;
  heddle_status_free(s);
  return first;
}

// Tiles through linalg know the sizes of all their dims.
static compile_options without_tiles(const compile_options *options) {
  compile_options without = *options;
  if (without.codegen == CODEGEN_CHOSEN) without.codegen = CODEGEN_LIBRARY;
  return without;
}

heddle_status open_compile_symbols(arena *a, const open_symbols *symbols, const compile_options *options,
                                   compiled *out) {
  const compile_options taken = without_tiles(options);
  open_refusal refusal = {0};
  open_program o = {.arena = a, .options = &taken, .symbols = *symbols, .refusal = &refusal};
  *out = (compiled){0};
  return compile_levels(&o, out);
}

static heddle_status compile_whole(open_program *o, compiled *out) {
  module *closed;
  TRY(open_symbols_find(o->arena, &o->symbols, &closed));
  if (closed) return status_error(HEDDLE_INVALID, "the program declares no size as `?`");
  TRY(compile_levels(o, out));
  heddle_status s = compile_multiples(o, out);
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

static heddle_status compile_each(const open_program *whole, const compile_options *options, compiled *out) {
  // What is described is not run, so that it keeps to no limit.
  compile_options without_limit = *options;
  open_program o = *whole;
  module *closed;
  without_limit.limit = (memory_limit){0};
  o.symbols.specializes = true;
  TRY(open_symbols_find(o.arena, &o.symbols, &closed));
  if (closed) return status_error(HEDDLE_INVALID, "the program declares no size as `?`");
  o.options = &without_limit;
  o.symbols.samples.level = OPEN_SAMPLES_LEVELS - 1;
  o.symbols.samples.is_odd = true;
  return describe(&o, options, out);
}

heddle_status open_compile(arena *a, const char *file, str source, const import_options *import,
                           const compile_options *options, compiled *out) {
  const compile_options taken = without_tiles(options);
  open_refusal refusal = {0};
  open_program o = {.arena = a,
                    .options = &taken,
                    .symbols = {.file = file, .source = source, .import = import},
                    .refusal = &refusal};
  *out = (compiled){0};
  if (options->specializes) return compile_each(&o, options, out);
  if (memory_limit_is_set(&options->limit))
    return status_error(HEDDLE_UNIMPLEMENTED,
                        "programs keep to a limit of memory for sizes that are known: give them, or compile for each "
                        "that comes (specializes)");
  const target_description target = compile_target(options);
  if (target.has_grid)
    return status_error(
        HEDDLE_UNIMPLEMENTED,
        "programs are compiled for all sizes at once for CPUs alone: for %s, give the sizes, or compile "
        "for each that comes (specializes)",
        target_kind_name(target.kind));
  return compile_whole(&o, out);
}
