// Numbers are visited by copying: whatever holds one is copied, and the visitor's answer goes into the copy.
#include "prog/program_sizes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "prog/library_fields.h"

// --- copies

typedef struct mapping {
  arena *arena;
  program_number_fn fn;
  void *context;
} mapping;

static int64_t map_number(const mapping *m, int64_t number) { return m->fn(m->context, number); }

static const int64_t *map_list(const mapping *m, int count, const int64_t *numbers) {
  int64_t *to = arena_array(m->arena, int64_t, count);
  for (int k = 0; k < count; k++) to[k] = map_number(m, numbers[k]);
  return to;
}

static const program_value *map_values(const mapping *m, int count, const program_value *from) {
  program_value *to = arena_array(m->arena, program_value, count);
  for (int k = 0; k < count; k++) {
    to[k] = from[k];
    to[k].shape.dims = map_list(m, from[k].shape.rank, from[k].shape.dims);
  }
  return to;
}

static const program_array *map_arrays(const mapping *m, int count, const program_array *from) {
  program_array *to = arena_array(m->arena, program_array, count);
  for (int k = 0; k < count; k++) {
    to[k] = from[k];
    to[k].dims = map_list(m, from[k].rank, from[k].dims);
  }
  return to;
}

static void map_fields(const mapping *m, program_thunk *t) {
  int count;
  const program_field *fields = program_fields(t->kind, &count);
  for (int k = 0; k < count; k++) {
    void *place = (char *)t + fields[k].offset;
    if (fields[k].kind == PROGRAM_FIELD_INT) {
      *(int64_t *)place = map_number(m, *(int64_t *)place);
    } else if (fields[k].kind == PROGRAM_FIELD_INTS) {
      program_ints *list = place;
      list->data = map_list(m, list->count, list->data);
    }
  }
}

static void map_attributes(const mapping *m, program_custom_call *c) {
  named_attribute *to = arena_array(m->arena, named_attribute, c->attribute_count);
  for (int k = 0; k < c->attribute_count; k++) {
    to[k] = c->attributes[k];
    if (to[k].kind == NAMED_INTS) to[k].ints = map_list(m, to[k].count, to[k].ints);
  }
  c->attributes = to;
}

static program_sequence map_sequence(const mapping *m, const program_sequence *from);

static const program_thunk *map_thunk(const mapping *m, const program_thunk *from) {
  program_thunk *to = arena_new(m->arena, program_thunk);
  *to = *from;
  to->resident_bytes = map_number(m, from->resident_bytes);
  to->operands = map_arrays(m, from->operand_count, from->operands);
  to->results = map_arrays(m, from->result_count, from->results);
  if (from->kind == THUNK_FOR) to->trip_count = map_number(m, from->trip_count);
  else if (from->kind == THUNK_CUSTOM_CALL) map_attributes(m, &to->custom_call);
  else map_fields(m, to);
  program_sequence *sequences = arena_array(m->arena, program_sequence, from->sequence_count);
  for (int k = 0; k < from->sequence_count; k++) sequences[k] = map_sequence(m, &from->sequences[k]);
  to->sequences = sequences;
  return to;
}

// Sequences nest as deep as the program's.
static program_sequence map_sequence(const mapping *m, const program_sequence *from) {
  const program_thunk **thunks = arena_array(m->arena, const program_thunk *, from->count);
  for (int k = 0; k < from->count; k++) thunks[k] = map_thunk(m, from->thunks[k]);
  return (program_sequence){from->count, thunks};
}

// Kernels read them where they lie, aligned as constants are.
static const void *map_table(const mapping *m, const program_allocation *from) {
  enum { ALIGNMENT = 64 };
  const char *data = from->data;
  char *raw = arena_alloc(m->arena, (size_t)from->bytes + ALIGNMENT);
  int64_t *to = (int64_t *)(void *)(raw + (-(uintptr_t)raw & (ALIGNMENT - 1)));
  for (int64_t k = 0, number; k < from->bytes / (int64_t)sizeof *to; k++) {
    memcpy(&number, data + k * (int64_t)sizeof number, sizeof number);
    to[k] = map_number(m, number);
  }
  return to;
}

static void map_memory(const mapping *m, program *to) {
  program_allocation *allocations = arena_array(m->arena, program_allocation, to->allocation_count);
  for (int k = 0; k < to->allocation_count; k++) {
    allocations[k] = to->allocations[k];
    if (to->allocations[k].kind == PROGRAM_NUMBERS) allocations[k].data = map_table(m, &to->allocations[k]);
    else allocations[k].bytes = map_number(m, allocations[k].bytes);
  }
  to->allocations = allocations;
  to->temporary_bytes = map_number(m, to->temporary_bytes);
  program_slice *slices = arena_array(m->arena, program_slice, to->slice_count);
  for (int k = 0; k < to->slice_count; k++) {
    slices[k] = to->slices[k];
    slices[k].offset = map_number(m, slices[k].offset);
    slices[k].bytes = map_number(m, slices[k].bytes);
  }
  to->slices = slices;
}

// What a tile moves and computes are estimates of sizes that are there, and stay.
static void map_kernels(const mapping *m, program *to) {
  program_kernel *kernels = arena_array(m->arena, program_kernel, to->kernel_count);
  for (int k = 0; k < to->kernel_count; k++) {
    kernels[k] = to->kernels[k];
    kernels[k].tiles = map_number(m, kernels[k].tiles);
  }
  to->kernels = kernels;
}

program *program_sizes_map(arena *a, const program *from, program_number_fn fn, void *context) {
  const mapping m = {a, fn, context};
  program *to = arena_new(a, program);
  *to = *from;
  to->parameters = map_values(&m, from->parameter_count, from->parameters);
  to->results = map_values(&m, from->result_count, from->results);
  map_memory(&m, to);
  map_kernels(&m, to);
  to->entry = map_sequence(&m, &from->entry);
  return to;
}

// --- values

int program_sizes_term_count(const program_sizes *s) {
  int count = 1;
  for (int k = 0; k < s->symbol_count; k++) count *= s->degree + 1;
  return count;
}

void program_sizes_exponents(const program_sizes *s, int term, int *exponents) {
  for (int k = 0; k < s->symbol_count; k++) {
    exponents[k] = term % (s->degree + 1);
    term /= s->degree + 1;
  }
}

int64_t program_sizes_value(const program_sizes *s, const int64_t *terms, const int64_t *symbols) {
  // Unsigned, as terms from elsewhere may be too large: whoever uses the number looks at it.
  uint64_t sum = 0;
  for (int term = 0; term < program_sizes_term_count(s); term++) {
    int exponents[PROGRAM_MOST_SYMBOLS];
    uint64_t product = (uint64_t)terms[term];
    if (product == 0) continue;
    program_sizes_exponents(s, term, exponents);
    for (int k = 0; k < s->symbol_count; k++)
      for (int e = 0; e < exponents[k]; e++) product *= (uint64_t)symbols[k];
    sum += product;
  }
  return (int64_t)sum;
}

int program_sizes_given_count(const program_sizes *s) { return s->symbol_count - s->derived_count; }

static heddle_status derive(const program_sizes *s, const program_derived_size *d, const char *name,
                            const int64_t *symbols, int64_t *out) {
  const int64_t left = program_sizes_value(s, d->left, symbols), right = program_sizes_value(s, d->right, symbols);
  const bool divides = d->kind == PROGRAM_QUOTIENT || d->kind == PROGRAM_REMAINDER || d->kind == PROGRAM_MODULO;
  if (divides && ((left < 0 && d->kind != PROGRAM_MODULO) || right < 1))
    return status_error(HEDDLE_INVALID, "found %" PRId64 " / %" PRId64 " for the size %s, wanted none below 0", left,
                        right, name);
  if (d->kind == PROGRAM_QUOTIENT) *out = left / right;
  else if (divides) *out = left % right + (left % right < 0 ? right : 0);
  else *out = (left > right) == (d->kind == PROGRAM_LARGER) ? left : right;
  return status_ok();
}

heddle_status program_sizes_derive(const program_sizes *s, int64_t *symbols) {
  const int given = program_sizes_given_count(s);
  for (int k = 0; k < s->derived_count; k++) symbols[given + k] = 0;
  for (int k = 0; k < s->derived_count; k++)
    TRY(derive(s, &s->derived[k], s->symbols[given + k].name, symbols, &symbols[given + k]));
  return status_ok();
}

// Of a dim that is c + f * symbol, f is terms[*term]; -1 for others.
static int only_symbol(const program_sizes *s, const program_open_number *n, int *term) {
  int found = -1;
  for (int t = 1; t < program_sizes_term_count(s); t++) {
    if (n->terms[t] == 0) continue;
    int exponents[PROGRAM_MOST_SYMBOLS], sum = 0;
    program_sizes_exponents(s, t, exponents);
    for (int k = 0; k < s->symbol_count; k++) sum += exponents[k];
    if (found >= 0 || sum != 1) return -1;
    for (int k = 0; k < s->symbol_count; k++)
      if (exponents[k] == 1) found = k;
    *term = t;
  }
  return found < program_sizes_given_count(s) ? found : -1;
}

static heddle_status check_symbol(const program_symbol *s, int64_t value) {
  if (value >= s->least && value <= s->most) return status_ok();
  return status_error(HEDDLE_INVALID,
                      "found %" PRId64 " for the size %s, wanted %" PRId64 " to %" PRId64
                      ", which the program was compiled for",
                      value, s->name, s->least, s->most);
}

// A dim of a parameter, found and said: the number of program_sizes_map that it is, null if it is not open.
typedef struct open_dim {
  int parameter, dimension;
  int64_t given, declared;
  const program_open_number *number;
} open_dim;

typedef heddle_status (*open_dim_fn)(const program *p, const open_dim *d, int64_t *symbols, bool *known);

static heddle_status find_symbol(const program *p, const open_dim *d, int64_t *symbols, bool *known) {
  const program_sizes *s = &p->sizes;
  int term = 0;
  const int k = d->number ? only_symbol(s, d->number, &term) : -1;
  if (k < 0 || known[k]) return status_ok();
  int64_t rest;
  const int64_t factor = d->number->terms[term];
  if (factor <= 0 || __builtin_sub_overflow(d->given, d->number->terms[0], &rest) || rest % factor != 0 || rest < 0) {
    text wanted = {0};
    program_sizes_print(&wanted, s, d->number->terms);
    heddle_status status = status_error(HEDDLE_INVALID, "found %" PRId64 " for dim %d of parameter %d, wanted %s",
                                        d->given, d->dimension, d->parameter, text_cstr(&wanted));
    text_free(&wanted);
    return status;
  }
  symbols[k] = rest / factor;
  known[k] = true;
  return check_symbol(&s->symbols[k], symbols[k]);
}

static heddle_status check_dim(const program *p, const open_dim *d, int64_t *symbols, bool *known) {
  (void)known;
  const int64_t wanted = d->number ? program_sizes_value(&p->sizes, d->number->terms, symbols) : d->declared;
  if (d->given == wanted) return status_ok();
  text why = {0};
  if (d->number) program_sizes_print(&why, &p->sizes, d->number->terms);
  heddle_status status =
      status_error(HEDDLE_INVALID, "found %" PRId64 " for dim %d of parameter %d, wanted %" PRId64 "%s%s", d->given,
                   d->dimension, d->parameter, wanted, why.size ? ", which is " : "", text_cstr(&why));
  text_free(&why);
  return status;
}

// Parameters' dims are the first numbers.
static heddle_status each_dim(const program *p, const int64_t *const *dims, open_dim_fn fn, int64_t *symbols,
                              bool *known) {
  int number = 0, next = 0;
  for (int i = 0; i < p->parameter_count; i++) {
    const program_shape *s = &p->parameters[i].shape;
    for (int d = 0; d < s->rank; d++, number++) {
      const bool is_open = next < p->sizes.number_count && p->sizes.numbers[next].number == number;
      const open_dim dim = {i, d, dims[i][d], s->dims[d], is_open ? &p->sizes.numbers[next++] : NULL};
      TRY(fn(p, &dim, symbols, known));
    }
  }
  return status_ok();
}

heddle_status program_sizes_solve(const program *p, const int64_t *const *dims, int64_t *symbols) {
  bool known[PROGRAM_MOST_SYMBOLS] = {0};
  for (int k = 0; k < p->sizes.symbol_count; k++) symbols[k] = 0;
  TRY(each_dim(p, dims, find_symbol, symbols, known));
  TRY(program_sizes_derive(&p->sizes, symbols));
  TRY(each_dim(p, dims, check_dim, symbols, known));
  for (int k = 0; k < p->sizes.check_count; k++)
    if (program_sizes_value(&p->sizes, p->sizes.checks[k].terms, symbols) < 0)
      return status_error(HEDDLE_INVALID, "the sizes break the program's condition: %s", p->sizes.checks[k].message);
  return status_ok();
}

// Results' dims follow those of parameters.
heddle_status program_sizes_result(const program *p, const int64_t *const *dims, int result, int64_t *result_dims) {
  int64_t symbols[PROGRAM_MOST_SYMBOLS];
  TRY(program_sizes_solve(p, dims, symbols));
  int number = 0, next = 0;
  for (int i = 0; i < p->parameter_count; i++) number += p->parameters[i].shape.rank;
  for (int i = 0; i < result; i++) number += p->results[i].shape.rank;
  const program_shape *s = &p->results[result].shape;
  for (int d = 0; d < s->rank; d++, number++) {
    while (next < p->sizes.number_count && p->sizes.numbers[next].number < number) next++;
    const bool is_open = next < p->sizes.number_count && p->sizes.numbers[next].number == number;
    result_dims[d] = is_open ? program_sizes_value(&p->sizes, p->sizes.numbers[next].terms, symbols) : s->dims[d];
    if (result_dims[d] < 0)
      return status_error(HEDDLE_INVALID,
                          "found %" PRId64 " for dim %d of result %d at these sizes, wanted none below 0",
                          result_dims[d], d, result);
  }
  return status_ok();
}

// --- open numbers

typedef struct open_mapping {
  const program_sizes *sizes;
  program_open_fn fn;
  void *context;
  int number, next;
} open_mapping;

static int64_t map_open(void *context, int64_t number) {
  open_mapping *m = context;
  const bool is_open = m->next < m->sizes->number_count && m->sizes->numbers[m->next].number == m->number;
  m->number++;
  return is_open ? m->fn(m->context, m->next++) : number;
}

program *program_sizes_map_open(arena *a, const program *p, program_open_fn fn, void *context) {
  open_mapping m = {&p->sizes, fn, context, 0, 0};
  return program_sizes_map(a, p, map_open, &m);
}

static int64_t show_number(void *context, int open) {
  (void)context;
  (void)open;
  return -1;
}

program *program_sizes_show(arena *a, const program *p) { return program_sizes_map_open(a, p, show_number, NULL); }

typedef struct filling {
  const program_sizes *sizes;
  const int64_t *symbols;
} filling;

static int64_t fill_number(void *context, int open) {
  const filling *f = context;
  return program_sizes_value(f->sizes, f->sizes->numbers[open].terms, f->symbols);
}

static int64_t pieces_of(const program_kernel *k) { return k->rest > 0 ? k->pieces : 1; }

// Kernels with a rest count pieces until now; a rest begins where whole tiles end.
static void divide_tiles(const program *from, program_kernel *kernels) {
  for (int k = 0; k < from->kernel_count; k++) {
    program_kernel *x = &kernels[k];
    if (x->rest <= 0) continue;
    program_kernel *rest = &kernels[x->rest];
    x->tiles /= x->pieces;
    rest->first_tile = x->tiles * x->pieces / pieces_of(rest);
  }
}

program *program_sizes_fill(arena *a, const program *p, const int64_t *symbols) {
  filling f = {&p->sizes, symbols};
  program *to = program_sizes_map_open(a, p, fill_number, &f);
  program_kernel *kernels = arena_array(a, program_kernel, p->kernel_count);
  for (int k = 0; k < p->kernel_count; k++) kernels[k] = to->kernels[k];
  divide_tiles(p, kernels);
  to->kernels = kernels;
  to->sizes = (program_sizes){0};
  return to;
}

// --- text

void program_sizes_print(text *out, const program_sizes *s, const int64_t *terms) {
  const size_t start = out->size;
  for (int term = program_sizes_term_count(s) - 1; term >= 0; term--) {
    int64_t factor = terms[term];
    int exponents[PROGRAM_MOST_SYMBOLS];
    if (factor == 0) continue;
    if (out->size > start) text_puts(out, factor < 0 ? " - " : " + ");
    else if (factor < 0) text_puts(out, "-");
    if (factor < 0) factor = (int64_t)(0 - (uint64_t)factor);
    const bool shows_factor = factor != 1 || term == 0;
    if (shows_factor) text_printf(out, "%" PRId64, factor);
    program_sizes_exponents(s, term, exponents);
    bool is_first = !shows_factor;
    for (int k = 0; k < s->symbol_count; k++) {
      for (int e = 0; e < exponents[k]; e++) {
        text_printf(out, "%s%s", is_first ? "" : "*", s->symbols[k].name);
        is_first = false;
      }
    }
  }
  if (out->size == start) text_puts(out, "0");
}

void program_sizes_print_given(text *out, const program_sizes *s, const int64_t *symbols) {
  for (int k = 0; k < program_sizes_given_count(s); k++)
    text_printf(out, "%s%s = %" PRId64, k ? ", " : "", s->symbols[k].name, symbols[k]);
}

heddle_status program_sizes_read(const program_sizes *s, const char *given, int64_t *symbols) {
  const char *at = given;
  const int count = program_sizes_given_count(s);
  for (int k = 0; k < count; k++) {
    char *end;
    symbols[k] = strtoll(at, &end, 10);
    const bool fits = end != at && symbols[k] >= 0 && *end == (k + 1 < count ? ',' : 0);
    if (!fits)
      return status_error(HEDDLE_INVALID, "found the sizes %s, wanted %d numbers with commas between them", given,
                          count);
    at = end + 1;
  }
  return program_sizes_derive(s, symbols);
}
