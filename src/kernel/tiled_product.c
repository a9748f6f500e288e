// One product of matrices that lie in memory, and work element by element on its result: what tiles do in one sweep,
// where a library would write the product for a kernel to read.
#include "kernel/tiled_product.h"

#include "kernel/hero_tiles.h"
#include "kernel/panels.h"
#include "kernel/product_cost.h"

// What is computed: instructions of a body, each with what it has an element for.
typedef struct suitable {
  arena *scratch;
  const target_description *target;
  bool takes_rows;    // reductions of rows, too
  bool reads_values;  // with an element for each of the result's, beside the product
  ptr_map computed;
  const instruction *product;
} suitable;

// Addresses are values of the map: what does not depend on the product, what has an element for each of the product's,
// and what has one for each of its rows.
static char is_apart, is_of_elements, is_of_rows;

// Whether it is a place in what is no part of the body: on a grid that of a slice, too.
static bool is_in_memory(const suitable *s, const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || (s->target->has_grid && i->opcode == HLO_SLICE))
    i = i->operands[0];
  return !ptr_map_has(&s->computed, i);
}

static bool is_donated(const instruction *parameter) {
  const module *m = parameter->parent->module;
  bool any = false;
  for (int k = 0; k < m->attributes.size; k++)
    any |=
        str_is(m->attributes.data[k].name, "input_output_alias") || str_is(m->attributes.data[k].name, "buffer_donor");
  return any && parameter->parent == m->entry;
}

// An array that the program computed or was given for good: its memory may be the result's if nobody reads it later.
static bool is_value(const suitable *s, const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) i = i->operands[0];
  if (i->opcode == HLO_PARAMETER) return is_donated(i);
  return !ptr_map_has(&s->computed, i) && i->opcode != HLO_CONSTANT;
}

static bool is_right_side_in_memory(const suitable *s, const instruction *product) {
  panels_form form;
  return is_in_memory(s, product->operands[1]) || panels_of(product, s->target, &form);
}

static bool takes_alone(const suitable *s, const instruction *i) {
  if (panels_has(i, s->target)) return true;
  switch (i->opcode) {
    case HLO_CONSTANT:
    case HLO_BROADCAST:
    case HLO_IOTA: return true;
    case HLO_REDUCE: return s->takes_rows && i->operand_count == 2;
    case HLO_BITCAST:
    case HLO_RESHAPE: return is_in_memory(s, i->operands[0]);
    case HLO_SLICE: return s->target->has_grid && is_in_memory(s, i->operands[0]);
    case HLO_CONVOLUTION:
    case HLO_DOT:
      return product_cost_is_product(i) && !s->product &&
             product_cost_multiplications(i) > s->target->fusion.max_loop_product && is_in_memory(s, i->operands[0]) &&
             is_right_side_in_memory(s, i);
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0;
  }
}

static bool is_read(const suitable *s, const instruction *i, const char *kind) {
  bool any = false;
  for (int k = 0; k < i->operand_count; k++) any |= ptr_map_get(&s->computed, i->operands[k]) == kind;
  return any;
}

// The product's dims without the last one.
static bool has_rows(const suitable *s, const shape *x) {
  const shape *all = s->product->shape;
  bool same = shape_is_array(x) && x->rank == all->rank - 1;
  for (int d = 0; same && d < x->rank; d++) same = x->dims[d] == all->dims[d];
  return same;
}

// A value of each row, repeated along it.
static bool repeats_rows(const suitable *s, const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  bool same = i->opcode == HLO_BROADCAST && shape_same_dims(i->shape, s->product->shape);
  for (int d = 0; same && d < dims.size; d++) same = dims.data[d] == d;
  return same;
}

static bool reduces_rows(const suitable *s, const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  return i->opcode == HLO_REDUCE && dims.size == 1 && dims.data[0] == s->product->shape->rank - 1 &&
         has_rows(s, i->shape) && ptr_map_get(&s->computed, i->operands[1]) != &is_of_rows;
}

// What the instruction has elements for; null if it does not keep to the product's elements and rows.
static char *kind_of(const suitable *s, const instruction *i) {
  if (!s->product) return i->opcode == HLO_REDUCE ? NULL : &is_apart;
  if (i == s->product) return &is_of_elements;
  const bool reads_elements = is_read(s, i, &is_of_elements), reads_rows = is_read(s, i, &is_of_rows);
  if (i->opcode == HLO_REDUCE) return reads_elements && !reads_rows && reduces_rows(s, i) ? &is_of_rows : NULL;
  if (reads_elements) return !reads_rows && shape_same_dims(i->shape, s->product->shape) ? &is_of_elements : NULL;
  if (!reads_rows) return &is_apart;
  if (i->opcode == HLO_BROADCAST) return repeats_rows(s, i) ? &is_of_elements : NULL;
  return has_rows(s, i->shape) ? &is_of_rows : NULL;
}

static bool takes(suitable *s, const instruction *i) {
  if (!hero_tiles_has_form(i) || !takes_alone(s, i)) return false;
  if (product_cost_is_product(i)) s->product = i;
  char *kind = kind_of(s, i);
  ptr_map_put(s->scratch, &s->computed, i, kind);
  for (int k = 0; k < i->operand_count && i != s->product && i->shape->rank > 0; k++)
    s->reads_values |= is_value(s, i->operands[k]) && shape_same_dims(i->operands[k]->shape, i->shape);
  return kind;
}

static bool takes_all(suitable *s, const instruction_list *body) {
  for (int n = 0; n < body->size; n++)
    if (body->data[n]->opcode != HLO_PARAMETER && !takes(s, body->data[n])) return false;
  return s->product;
}

// Sums grow where they are stored, so that a value that is read beside the product cannot become the result, as it does
// in a loop: that memory is worth more than what tiles gain.
bool tiled_product_suits(arena *scratch, const instruction_list *body, const target_description *target) {
  suitable s = {.scratch = scratch, .target = target};
  return takes_all(&s, body) && !s.reads_values;
}

// Every few rows read all of the right side, which is not packed for them: it has to stay in a cache near by.
enum { MOST_RIGHT_BYTES = 256 << 10 };

bool tiled_product_has_rows(arena *scratch, const instruction_list *body, const target_description *target) {
  suitable s = {.scratch = scratch, .target = target, .takes_rows = true};
  if (!takes_all(&s, body) || s.product->shape->rank == 0) return false;
  const shape *x = s.product->shape;
  const int64_t right = shape_byte_size(s.product->operands[1]->shape);
  return x->dims[x->rank - 1] * (int64_t)sizeof(double) <= target->row_buffer_bytes && right <= MOST_RIGHT_BYTES;
}

bool tiled_product_is_sooner(arena *a, const instruction_list *body, const target_description *target) {
  const instruction *product = NULL;
  for (int n = 0; n < body->size; n++)
    if (product_cost_is_product(body->data[n])) product = body->data[n];
  if (!product || !tiled_product_suits(a, body, target)) return false;
  const double tiles = product_cost_time(target, product, PRODUCT_BY_TILES);
  return tiles * target->products.least_gain <= product_cost_time(target, product, PRODUCT_BY_EMITTER);
}
