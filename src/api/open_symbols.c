// Most conditions on sizes are linear in each size, so that reading the program with one size changed after the other
// gives their coefficients. From these follows which sizes are multiples of others, and by how much they are larger.
// Sums and products of more sizes are found by equalities that are not (api/open_definitions.h).
#include "api/open_symbols.h"

#include <string.h>

#include "api/open_unions.h"
#include "hlo/device_counts.h"

enum {
  MOST_DIMS = OPEN_SYMBOLS_MOST_DIMS,
  STEP = 5040 * 8,  // what sizes are multiples of while relations are looked for: most factors divide it
  LEAST_STEPS = 101,
  MOST_FACTOR = 1 << 20
};

// A size is at most so many symbols and so many more, which arithmetic on sizes has room for.
static const int64_t most_offset = (int64_t)1 << 36;

// --- reading

// How a reading fills the open dims.
typedef struct reading {
  open_symbols *symbols;
  bool counts;     // dims are noted, and stay open
  int sample;      // -1: sizes or symbols follow
  int64_t *sizes;  // of each open dim; null: by symbol
  const int64_t *by_symbol;
} reading;

static heddle_status note_dim(open_symbols *o, int number, int dimension, int64_t declared) {
  if (o->dim_count == MOST_DIMS)
    return status_error(HEDDLE_UNIMPLEMENTED, "found more than %d open sizes, which is the limit", (int)MOST_DIMS);
  o->dims[o->dim_count++] = (open_dim){
      .parameter = number, .dimension = dimension, .factor = 1, .bound = declared < 0 ? INT64_MAX : declared};
  return status_ok();
}

// Definitions nest no deeper than there are dims: none is made of itself.
static int64_t size_of(const reading *r, int k) {
  const open_dim *d = &r->symbols->dims[k];
  if (r->sizes) return r->sizes[k];
  if (d->definition) {
    int64_t sizes[OPEN_DEFINITIONS_MOST];
    for (int n = 0; n < d->definition->count; n++) sizes[n] = size_of(r, d->definition->dims[n]);
    return open_definition_size(d->definition, sizes);
  }
  if (r->sample < 0) return d->factor * r->by_symbol[d->symbol] + d->offset;
  return d->factor * open_samples_stand_in(&r->symbols->samples, r->sample, d->symbol) + d->offset;
}

static heddle_status give_shape(void *context, arena *a, int number, const shape *declared, const shape **out) {
  const reading *r = context;
  open_symbols *o = r->symbols;
  int64_t *dims = arena_array(a, int64_t, declared->rank);
  *out = NULL;
  for (int d = 0; d < declared->rank; d++) {
    dims[d] = declared->dims[d];
    const bool is_open = declared->dims[d] < 0 || shape_is_dynamic_dim(declared, d);
    if (is_open && r->counts) TRY(note_dim(o, number, d, declared->dims[d]));
  }
  if (r->counts) return status_ok();
  for (int k = 0; k < o->dim_count; k++) {
    if (o->dims[k].parameter != number) continue;
    dims[o->dims[k].dimension] = size_of(r, k);
    *out = declared;
  }
  if (*out) *out = shape_array(a, declared->dtype, declared->rank, dims);
  return status_ok();
}

static heddle_status import_as(arena *a, reading *r, import_open_sizes *sizes, module **out) {
  import_options import = *r->symbols->import;
  import.shape = give_shape;
  import.shape_context = r;
  import.open = sizes;
  return import_module(a, r->symbols->file, r->symbols->source, &import, out);
}

// At a sample of `samples`.
static heddle_status import_sample(arena *a, const open_symbols *o, const open_samples *samples, int sample,
                                   import_open_sizes *sizes, module **out) {
  open_symbols copy = *o;
  reading r = {.symbols = &copy, .sample = sample};
  copy.samples = *samples;
  sizes->from = open_samples_open_from(samples);
  return import_as(a, &r, sizes, out);
}

heddle_status open_symbols_import(arena *a, const open_symbols *o, int sample, import_open_sizes *sizes, module **out) {
  open_derived_reading derived = {.derived = &o->derived, .samples = &o->samples, .sizes = sizes, .sample = sample};
  open_derived_start(&derived, a);
  TRY(import_sample(a, o, &o->samples, sample, sizes, out));
  if ((sizes->has_kinks || !open_derived_fits(&derived)) && !o->specializes)
    return status_at(HEDDLE_UNIMPLEMENTED, (*out)->entry->where,
                     "a shape is the larger or the smaller of a size that is only known when the program runs and "
                     "another, or depends on which of them is larger: sizes have to be given when it is compiled");
  (*out)->open_from = sizes->from;
  (*out)->takes_sizes = o->takes_sizes;
  (*out)->open_multiple = o->multiple;
  (*out)->open_is_large = o->is_large;
  device_counts_adopt(*out, 0, 0);
  return status_ok();
}

heddle_status open_symbols_import_at(arena *a, const open_symbols *o, const int64_t *symbols, module **out) {
  open_symbols copy = *o;
  reading r = {.symbols = &copy, .sample = -1, .by_symbol = symbols};
  TRY(import_as(a, &r, NULL, out));
  device_counts_adopt(*out, 0, 0);
  return status_ok();
}

// --- relations

// left - right of a condition, times STEP: the sum of each dim's size times its slope, and `rest`.
typedef struct relation {
  import_condition_kind kind;
  int64_t divisor;
  int64_t slopes[MOST_DIMS], rest;
  bool says_equal;  // also where it is no linear one
} relation;

typedef VEC(relation) relation_list;

static bool side_of(const import_condition *c, int64_t *out) {
  return !__builtin_sub_overflow(c->left, c->kind == IMPORT_DIVISIBLE ? 0 : c->right, out);
}

// False where it is no longer exact; nor may it be the lowest number, which has no opposite.
static bool add_product(int64_t x, int64_t y, int64_t *sum) {
  int64_t product;
  return !__builtin_mul_overflow(x, y, &product) && !__builtin_add_overflow(*sum, product, sum) && *sum > INT64_MIN;
}

static bool begin_relation(const import_condition *c, relation *r) {
  int64_t side;
  *r = (relation){.kind = c->kind, .divisor = c->right, .says_equal = c->kind == IMPORT_EQUAL};
  return side_of(c, &side) && add_product(side, STEP, &r->rest);
}

// By what it becomes when the dim grows by a step.
static bool add_slope(int dim, int64_t size, const import_condition *before, const import_condition *moved,
                      relation *r) {
  int64_t from, to;
  return side_of(before, &from) && side_of(moved, &to) && !__builtin_sub_overflow(to, from, &r->slopes[dim]) &&
         add_product(r->slopes[dim], -size, &r->rest);
}

// Conditions come before what they allow, so that they are read even where the rest then does not fit.
static void read_conditions(arena *a, open_symbols *o, int64_t *sizes, open_condition_list *out) {
  reading r = {.symbols = o, .sample = -1, .sizes = sizes};
  import_open_sizes open = {.from = STEP};
  module *unused;
  heddle_status_free(import_as(a, &r, &open, &unused));
  out->data = open.conditions.data;
  out->size = open.conditions.size;
}

static void find_relations(arena *a, open_symbols *o, relation_list *out) {
  int64_t sizes[MOST_DIMS];
  open_condition_list base = {0};
  // What remainders are known to be is left by these sizes, too: quotients of them are exact.
  for (int k = 0; k < o->dim_count; k++) sizes[k] = (int64_t)STEP * (LEAST_STEPS + 2 * k) + o->dims[k].offset;
  read_conditions(a, o, sizes, &base);
  for (int c = 0; c < base.size; c++) {
    relation r;
    if (!begin_relation(&base.data[c], &r)) r.kind = IMPORT_UNREAD;
    vec_push(a, out, r);
  }
  if (!out->data) return;
  for (int k = 0; k < o->dim_count; k++) {
    open_condition_list moved = {0};
    sizes[k] += STEP;
    read_conditions(a, o, sizes, &moved);
    sizes[k] -= STEP;
    if (moved.size < out->size) out->size = moved.size;
    for (int c = 0; c < out->size; c++)
      if (!add_slope(k, sizes[k], &base.data[c], &moved.data[c], &out->data[c])) out->data[c].kind = IMPORT_UNREAD;
  }
}

// The dims that a relation is about, at most two of them; more: -1.
static int dims_of(const open_symbols *o, const relation *r, int *dims) {
  int count = 0;
  for (int k = 0; k < o->dim_count; k++) {
    if (r->slopes[k] == 0) continue;
    if (count == 2) return -1;
    dims[count++] = k;
  }
  return count;
}

// size + rest is a multiple of the divisor.
static void divide(open_symbols *o, const relation *r) {
  int dims[2];
  if (dims_of(o, r, dims) != 1 || r->slopes[dims[0]] != STEP || r->rest % STEP != 0 || r->divisor < 1 ||
      r->divisor > MOST_FACTOR)
    return;
  open_dim *d = &o->dims[dims[0]];
  if (d->factor != 1) return;
  d->factor = r->divisor;
  d->offset = -(r->rest / STEP) % r->divisor;
}

// The dim as factor * its symbol + offset where the symbol is `times` another one, and `more`. False if numbers become
// so large that sizes could not be computed from them.
static bool substitute(open_dim *d, int64_t times, int64_t more) {
  const int64_t factor = d->factor;
  d->factor = 0;
  return add_product(factor, times, &d->factor) && add_product(factor, more, &d->offset) && d->factor <= MOST_FACTOR &&
         d->offset <= most_offset && -d->offset <= most_offset;
}

// slope x * size x + slope y * size y + rest = 0, solved for the symbol of y: it becomes factor * that of x + offset
// wherever it stands. False if that is no integer.
static bool replace(open_symbols *o, const relation *r, int x, int y) {
  const open_dim *known = &o->dims[x], *replaced = &o->dims[y];
  const int from = replaced->symbol, to = known->symbol;
  int64_t by = 0, slope = 0, rest = r->rest;
  if (to == from) return true;
  if (!add_product(r->slopes[y], -replaced->factor, &by) || !add_product(r->slopes[x], known->factor, &slope) ||
      !add_product(r->slopes[x], known->offset, &rest) || !add_product(r->slopes[y], replaced->offset, &rest))
    return false;
  if (slope % by != 0 || rest % by != 0 || slope / by <= 0) return false;
  open_dim made[MOST_DIMS];
  bool fits = true;
  for (int k = 0; k < o->dim_count; k++) {
    made[k] = o->dims[k];
    if (made[k].symbol != from) continue;
    fits = fits && substitute(&made[k], slope / by, rest / by);
    made[k].symbol = to;
  }
  for (int k = 0; k < o->dim_count && fits; k++) o->dims[k] = made[k];
  return fits;
}

// No size is below 0 where its symbol is not: with sizes of n and n - 1 the symbol is the latter.
static void raise_offsets(open_symbols *o) {
  for (int k = 0; k < o->dim_count; k++) {
    const open_dim lowest = o->dims[k];
    if (lowest.offset >= 0 || lowest.definition) continue;
    const int64_t by = (-lowest.offset + lowest.factor - 1) / lowest.factor;
    for (int n = 0; n < o->dim_count; n++)
      if (o->dims[n].symbol == lowest.symbol) o->dims[n].offset += o->dims[n].factor * by;
  }
}

// slope x * size x + rest >= -slope y * size y: the stand-ins of y's symbol are halved until they are below.
static void order(open_symbols *o, const relation *r) {
  int dims[2];
  if (r->kind != IMPORT_AT_LEAST || dims_of(o, r, dims) != 2) return;
  if (o->dims[dims[0]].definition || o->dims[dims[1]].definition) return;
  const int larger = r->slopes[dims[0]] > 0 ? 0 : 1, above = dims[larger], below = dims[1 - larger];
  int64_t room = 0, taken = 0;
  if (!add_product(r->slopes[above], o->dims[above].factor, &room) ||
      !add_product(r->slopes[below], -o->dims[below].factor, &taken))
    return;
  if (room <= 0 || taken <= 0 || o->dims[above].symbol == o->dims[below].symbol) return;
  int halvings = o->halvings[o->dims[above].symbol] + 1;
  while (halvings < OPEN_SAMPLES_MOST_HALVINGS && (taken - 1) >> (halvings - 1) >= room) halvings++;
  if (halvings > OPEN_SAMPLES_MOST_HALVINGS) halvings = OPEN_SAMPLES_MOST_HALVINGS;
  int *of = &o->halvings[o->dims[below].symbol];
  if (*of < halvings) *of = halvings;
}

// --- dims that are made of others

// Whether the dim is what others make of it, the other one among these.
static bool is_made_of(const open_symbols *o, int dim, int other) {
  const open_definition *d = o->dims[dim].definition;
  bool is = dim == other;
  for (int k = 0; d && !is && k < d->count; k++) is = is_made_of(o, d->dims[k], other);
  return is;
}

// No dim that shares its symbol with others: they would keep it. Nor one that has a bound, which symbols keep to.
static bool may_define(const open_symbols *o, int dim, const open_definition *d) {
  bool may = o->dims[dim].definition == NULL && o->dims[dim].bound == INT64_MAX;
  for (int k = 0; k < o->dim_count; k++)
    may = may && (k == dim || o->dims[k].definition || o->dims[k].symbol != o->dims[dim].symbol);
  for (int k = 0; k < d->count; k++) may = may && !is_made_of(o, d->dims[k], dim);
  return may;
}

typedef struct conditions_context {
  arena *arena;
  open_symbols *symbols;
} conditions_context;

static void read_conditions_at(void *context, const int64_t *sizes, open_condition_list *out) {
  const conditions_context *c = context;
  int64_t copy[MOST_DIMS];
  memcpy(copy, sizes, (size_t)c->symbols->dim_count * sizeof *copy);
  read_conditions(c->arena, c->symbols, copy, out);
}

// By an equality that is not one of two dims, or no linear one.
static void define_by_equality(arena *a, open_symbols *o, int number) {
  int64_t factors[MOST_DIMS], offsets[MOST_DIMS];
  conditions_context context = {a, o};
  const open_conditions_reader reader = {a, o->dim_count, factors, offsets, read_conditions_at, &context};
  open_definition *d = arena_new(a, open_definition);
  int dim;
  for (int k = 0; k < o->dim_count; k++) {
    factors[k] = o->dims[k].factor;
    offsets[k] = o->dims[k].offset;
  }
  if (open_definition_find(&reader, number, &dim, d) && may_define(o, dim, d)) o->dims[dim].definition = d;
}

// False if nothing is asserted.
static bool relate(arena *a, open_symbols *o) {
  relation_list relations = {0};
  find_relations(a, o, &relations);
  bool leaves_more = false;
  for (int k = 0; k < relations.size; k++)
    if (relations.data[k].kind == IMPORT_DIVISIBLE) divide(o, &relations.data[k]);
  for (int k = 0; k < o->dim_count; k++) leaves_more |= o->dims[k].offset != 0;
  if (leaves_more) {
    relations = (relation_list){0};
    find_relations(a, o, &relations);
  }
  for (int k = 0; k < relations.size; k++) {
    int dims[2];
    relation *r = &relations.data[k];
    if (r->kind != IMPORT_EQUAL || dims_of(o, r, dims) > 2) continue;
    const bool is_said = dims_of(o, r, dims) >= 0 && (dims_of(o, r, dims) < 2 || replace(o, r, dims[0], dims[1]) ||
                                                      replace(o, r, dims[1], dims[0]));
    if (is_said) r->says_equal = false;
  }
  raise_offsets(o);
  for (int k = 0; k < relations.size; k++)
    if (relations.data[k].says_equal) define_by_equality(a, o, k);
  for (int round = 0; round < OPEN_SAMPLES_MOST_HALVINGS; round++)
    for (int k = 0; k < relations.size; k++) order(o, &relations.data[k]);
  return relations.size > 0;
}

// --- symbols

typedef enum symbol_rule { AS_ASSERTED, AS_READ, BY_DIMENSION, ALL_THE_SAME, SYMBOL_RULES } symbol_rule;

static heddle_status read_for_unions(void *context, const int64_t *sizes) {
  const conditions_context *c = context;
  int64_t copy[MOST_DIMS];
  memcpy(copy, sizes, (size_t)c->symbols->dim_count * sizeof *copy);
  reading r = {.symbols = c->symbols, .sample = -1, .sizes = copy};
  import_open_sizes open = {.from = STEP};
  module *unused;
  return import_as(c->arena, &r, &open, &unused);
}

// The dims that have to be the same have one symbol. False where it cannot be found.
static bool unite(arena *a, open_symbols *o) {
  int parameters[MOST_DIMS], dimensions[MOST_DIMS], symbols[MOST_DIMS];
  conditions_context context = {a, o};
  const open_unions_reader reader = {o->dim_count, parameters, dimensions, read_for_unions, &context};
  for (int k = 0; k < o->dim_count; k++) {
    parameters[k] = o->dims[k].parameter;
    dimensions[k] = o->dims[k].dimension;
  }
  if (!open_unions_find(&reader, symbols)) return false;
  for (int k = 0; k < o->dim_count; k++) o->dims[k].symbol = symbols[k];
  return true;
}

// Whether the program asserts anything.
static bool apply(arena *a, open_symbols *o, symbol_rule rule) {
  for (int k = 0; k < o->dim_count; k++) {
    open_dim *d = &o->dims[k];
    d->factor = 1;
    d->offset = 0;
    d->definition = NULL;
    o->halvings[k] = 0;
    d->symbol = rule == AS_ASSERTED ? k : rule == BY_DIMENSION ? d->dimension : 0;
  }
  return rule == AS_ASSERTED && relate(a, o);
}

// Numbers them in the order of the dims. False if there are too many.
static bool number_symbols(arena *a, open_symbols *o) {
  int numbers[MOST_DIMS + SHAPE_MAX_RANK], count = 0;
  for (int k = 0; k < MOST_DIMS + SHAPE_MAX_RANK; k++) numbers[k] = -1;
  for (int k = 0; k < o->dim_count; k++) {
    if (o->dims[k].definition) continue;
    int *number = &numbers[o->dims[k].symbol];
    if (*number < 0) {
      if (count < PROGRAM_MOST_SYMBOLS) o->samples.halvings[count] = o->halvings[o->dims[k].symbol];
      *number = count++;
    }
    o->dims[k].symbol = *number;
  }
  o->samples.symbol_count = count <= PROGRAM_MOST_SYMBOLS ? count : 0;
  for (int k = 0; k < o->samples.symbol_count; k++) o->most[k] = INT64_MAX;
  for (int k = 0; k < o->dim_count && count <= PROGRAM_MOST_SYMBOLS; k++) {
    const open_dim *d = &o->dims[k];
    if (d->definition) continue;
    const int64_t most = d->bound < INT64_MAX ? (d->bound - d->offset) / d->factor : INT64_MAX;
    if (most < o->most[d->symbol]) o->most[d->symbol] = most;
  }
  for (int k = 0; k < o->samples.symbol_count; k++) o->names[k] = count == 1 ? "n" : arena_printf(a, "n%d", k);
  return count <= PROGRAM_MOST_SYMBOLS;
}

typedef struct derived_context {
  arena *arena;
  const open_symbols *symbols;
} derived_context;

static heddle_status read_derived(void *context, const open_samples *samples, int sample, import_open_sizes *sizes,
                                  module **out) {
  const derived_context *c = context;
  return import_sample(c->arena, c->symbols, samples, sample, sizes, out);
}

heddle_status open_symbols_derive(arena *a, open_symbols *o) {
  import_open_sizes sizes = {0};
  module *unused;
  o->samples.level = OPEN_SAMPLES_LEVELS - 1;
  o->samples.degree = 1;
  o->samples.derived_count = 0;
  o->derived = (open_derived){0};
  if (o->specializes) return open_symbols_import(a, o, 0, &sizes, &unused);
  const derived_context context = {a, o};
  TRY(open_derived_find(&(open_derived_program){a, read_derived, (void *)&context}, &o->samples, &o->derived));
  if (o->derived.count > 0) return status_ok();
  return open_symbols_import(a, o, 0, &sizes, &unused);
}

// asserts: the program says itself how its sizes depend on each other, and no other rule is for it.
static heddle_status try_rule(arena *a, open_symbols *o, symbol_rule rule, bool *asserts) {
  *asserts = apply(a, o, rule);
  if (rule == AS_READ && !unite(a, o))
    return status_error(HEDDLE_UNIMPLEMENTED, "no sizes that are the same let the program be read");
  if (!number_symbols(a, o))
    return status_error(HEDDLE_UNIMPLEMENTED, "found more than %d independent open sizes, which is the limit",
                        PROGRAM_MOST_SYMBOLS);
  return open_symbols_derive(a, o);
}

heddle_status open_symbols_divisors(arena *a, const open_symbols *o, int64_t *divisors) {
  const derived_context context = {a, o};
  return open_derived_divisors(&(open_derived_program){a, read_derived, (void *)&context}, &o->samples, divisors);
}

bool open_symbols_restrict(arena *a, open_symbols *o, const int64_t *factors, const int64_t *rests) {
  for (int k = 0; k < o->samples.symbol_count; k++) {
    if (factors[k] == 1) continue;
    o->names[k] = arena_printf(a, "m%s", o->names[k] + 1);
    if (o->most[k] < rests[k]) return false;
    if (o->most[k] < INT64_MAX) o->most[k] = (o->most[k] - rests[k]) / factors[k];
  }
  for (int k = 0; k < o->dim_count; k++) {
    open_dim *d = &o->dims[k];
    if (!d->definition && factors[d->symbol] > 1 && !substitute(d, factors[d->symbol], rests[d->symbol])) return false;
  }
  return true;
}

bool open_symbols_multiply(arena *a, open_symbols *o, const bool *is_chosen, int64_t multiple) {
  int64_t factors[PROGRAM_MOST_SYMBOLS];
  const int64_t rests[PROGRAM_MOST_SYMBOLS] = {0};
  for (int k = 0; k < o->samples.symbol_count; k++) factors[k] = is_chosen[k] ? multiple : 1;
  o->multiple = multiple;
  return open_symbols_restrict(a, o, factors, rests);
}

heddle_status open_symbols_count(arena *a, open_symbols *o, module **closed) {
  reading r = {.symbols = o, .counts = true};
  o->dim_count = 0;
  heddle_status refused = import_as(a, &r, NULL, closed);
  if (o->dim_count == 0) return refused;
  heddle_status_free(refused);
  *closed = NULL;
  return status_ok();
}

heddle_status open_symbols_find(arena *a, open_symbols *o, module **closed) {
  TRY(open_symbols_count(a, o, closed));
  if (*closed) return status_ok();
  heddle_status first = status_ok();
  bool asserts = false;
  for (symbol_rule rule = AS_ASSERTED; rule < SYMBOL_RULES && !asserts; rule++) {
    heddle_status s = try_rule(a, o, rule, &asserts);
    if (status_is_ok(s)) {
      heddle_status_free(first);
      return s;
    }
    if (status_is_ok(first)) first = s;
    else heddle_status_free(s);
  }
  return status_context(first, "while looking for sizes that may stay open");
}
