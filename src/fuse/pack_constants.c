// A product of tiles copies a block of its right side after the other into panels as wide as a tile of registers, for
// each workgroup and in each run. What is a constant is put in that order here: the fusion reads panels, and makes the
// right side of them by moves that tiles leave out (kernel/panels.h). Others' constants stay as they are, since both
// would have to be kept, and so do those that tiles would read where they lie.
#include "fuse/pack_constants.h"

#include <string.h>

#include "base/int64.h"
#include "hlo/builder.h"
#include "kernel/in_place.h"
#include "kernel/panels.h"
#include "kernel/product_cost.h"

// Of fewer rows a right side is read once only, and a small one lies in the nearest cache (tile/sizes.c).
enum { LEAST_ROWS = 12, LEAST_BYTES = 8 << 10 };

// --- which

// The dim of the right side that lies along the result's innermost one; -1 if it is not that side's.
static int column_of(const instruction *product) {
  const shape *right = product->operands[1]->shape, *result = product->shape;
  const hlo_attributes *a = product->attributes;
  int column = -1;
  if (product->opcode == HLO_CONVOLUTION)
    return a->dim_labels.output_feature == result->rank - 1 ? (int)a->dim_labels.kernel_output_feature : -1;
  for (int d = 0; d < right->rank; d++)
    if (!int_list_has(a->rhs_batch_dims, d) && !int_list_has(a->rhs_contracting_dims, d)) column = d;
  return column;
}

// What tiles add up as it is read: neither widened nor in groups of terms.
static bool has_plain_factors(const instruction *product) {
  const dtype t = product->operands[1]->shape->dtype;
  return t == dtype_accumulator(product->shape->dtype) && dtypes[t].bits >= 32 &&
         (dtypes[t].class == CLASS_FLOAT || dtype_is_integer(t));
}

static bool turns_windows(const instruction *product) {
  bool any = false;
  for (int k = 0; product->opcode == HLO_CONVOLUTION && k < product->attributes->window.rank; k++)
    any |= product->attributes->window.dims[k].reversal;
  return any;
}

// How many times each element of the right side is multiplied.
static int64_t rows_of(const instruction *product) {
  const shape *right = product->operands[1]->shape;
  const double all = product_cost_multiplications(product);
  return (int64_t)(all / (double)int64_max(1, shape_element_count(right)));
}

static bool pays(const instruction *product, int column, const target_description *target) {
  const shape *right = product->operands[1]->shape;
  if (column < 0 || right->rank < 2 || right->rank >= SHAPE_MAX_RANK || !has_plain_factors(product) ||
      turns_windows(product))
    return false;
  const int64_t columns = right->dims[column];
  const bool is_whole = columns % panels_width(target, dtypes[right->dtype].bits, columns) == 0;
  return columns > 1 && rows_of(product) >= LEAST_ROWS && (!is_whole || shape_byte_size(right) > LEAST_BYTES);
}

static bool is_tiled(const instruction *fusion, const target_description *target) {
  arena *scratch = arena_create();
  kernel_plan *kernel = NULL;
  const heddle_status s = in_place_kernel(scratch, fusion->called[0], "main", target, &kernel);
  const bool is = status_is_ok(s) && kernel->hero == HERO_TILES;
  heddle_status_free(s);
  arena_destroy(scratch);
  return is;
}

// --- how

// The panels' dims, in front of which are those that neither panels nor sums run along, so that a panel is one piece.
static panels_form form_of(const instruction *product, int column, const target_description *target) {
  const shape *right = product->operands[1]->shape;
  const hlo_attributes *a = product->attributes;
  panels_form f = {.rank = right->rank, .column = column};
  int at = 0;
  f.width = panels_width(target, dtypes[right->dtype].bits, right->dims[column]);
  for (int summed = 0; summed < 2; summed++) {
    for (int d = 0; d < f.rank; d++) {
      const bool is_summed = product->opcode == HLO_CONVOLUTION || int_list_has(a->rhs_contracting_dims, d);
      if (d != column && is_summed == summed) f.order[at++] = d;
    }
    if (!summed) f.order[at++] = column;
  }
  return f;
}

static int64_t size_of_dim(const panels_form *f, const shape *right, int k) {
  const int64_t size = right->dims[f->order[k]];
  return f->order[k] == f->column ? int64_ceil_div(size, f->width) : size;
}

static const shape *shape_of(arena *a, const panels_form *f, const shape *right) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0; k < f->rank; k++) dims[k] = size_of_dim(f, right, k);
  dims[f->rank] = f->width;
  return shape_array(a, right->dtype, f->rank + 1, dims);
}

// The elements of one panel for one place along the other dims; behind the last column there are zeros.
static void copy_run(const literal *from, int64_t first, int64_t stride, int64_t count, literal *to, int64_t at) {
  const size_t bytes = (size_t)dtypes[from->shape->dtype].bytes;
  const char *in = from->data;
  char *out = to->data;
  if (stride == 1) {
    memcpy(out + (size_t)at * bytes, in + (size_t)first * bytes, (size_t)count * bytes);
    return;
  }
  for (int64_t k = 0; k < count; k++)
    memcpy(out + (size_t)(at + k) * bytes, in + (size_t)(first + k * stride) * bytes, bytes);
}

static heddle_status pack(arena *a, const panels_form *f, const literal *from, literal **out) {
  const shape *right = from->shape;
  int64_t strides[SHAPE_MAX_RANK], place[SHAPE_MAX_RANK] = {0};
  shape_strides(right, strides);
  TRY(literal_create(a, shape_of(a, f, right), out));
  (*out)->is_elided = from->is_elided;
  const int64_t runs = shape_element_count((*out)->shape) / f->width;
  for (int64_t run = 0; run < runs; run++) {
    int64_t first = 0, left = 0;
    for (int k = 0; k < f->rank; k++) {
      const bool is_column = f->order[k] == f->column;
      first += place[k] * strides[f->order[k]] * (is_column ? f->width : 1);
      if (is_column) left = right->dims[f->column] - place[k] * f->width;
    }
    copy_run(from, first, strides[f->column], int64_min(left, f->width), *out, run * f->width);
    for (int k = f->rank - 1; k >= 0 && ++place[k] == size_of_dim(f, right, k); k--) place[k] = 0;
  }
  return status_ok();
}

typedef struct packed_constant packed_constant;
struct packed_constant {
  panels_form form;
  literal *value;
  packed_constant *next;  // of the same bytes in another form
};

typedef struct known_constant {
  packed_constant *first;  // null: it was not packed yet
} known_constant;

void packed_constants_note(packed_constants *packed, const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const literal *value = all->data[k]->literal;
      if (value && value->data)
        ptr_map_put(packed->arena, &packed->by_data, value->data, arena_new(packed->arena, known_constant));
    }
  }
}

static bool is_same_form(const panels_form *l, const panels_form *r) {
  bool same = l->rank == r->rank && l->column == r->column && l->width == r->width;
  for (int k = 0; k < l->rank && same; k++) same = l->order[k] == r->order[k];
  return same;
}

// The value as panels, in `a` or where those are that were made once.
static heddle_status find_packed(arena *a, packed_constants *packed, const panels_form *f, const literal *from,
                                 literal **out) {
  known_constant *known = ptr_map_get(&packed->by_data, from->data);
  if (!known) return pack(a, f, from, out);
  const shape *wanted = shape_of(a, f, from->shape);
  packed_constant *x = known->first;
  while (x && !(is_same_form(&x->form, f) && shape_equal(x->value->shape, wanted))) x = x->next;
  if (!x) {
    x = arena_new(packed->arena, packed_constant);
    *x = (packed_constant){*f, NULL, known->first};
    TRY(pack(packed->arena, f, from, &x->value));
    known->first = x;
  }
  *out = arena_new(a, literal);
  **out = *x->value;
  (*out)->shape = shape_copy(a, x->value->shape);
  return status_ok();
}

// --- in the fusion

// The right side is made of its panels by moves.
static instruction *unpack(const panels_form *f, const instruction *product, const shape *right, instruction *panels) {
  const builder b = builder_for(product);
  int64_t permutation[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  slice_dim whole[SHAPE_MAX_RANK];
  int at = 0;
  for (int d = 0; d < f->rank; d++) {
    for (int k = 0; k < f->rank; k++)
      if (f->order[k] == d) permutation[at++] = k;
    if (d == f->column) permutation[at++] = f->rank;
    dims[d] = d == f->column ? int64_ceil_div(right->dims[d], f->width) * f->width : right->dims[d];
    whole[d] = (slice_dim){0, right->dims[d], 1};
  }
  instruction *moved = builder_reshape(&b, builder_transpose(&b, panels, permutation), f->rank, dims);
  return dims[f->column] == right->dims[f->column] ? moved : builder_slice(&b, moved, whole);
}

static heddle_status pack_operand(instruction *fusion, instruction *product, packed_constants *known,
                                  const panels_form *f) {
  instruction *parameter = product->operands[1];
  const int number = (int)parameter->attributes->index;
  const instruction *constant = fusion->operands[number];
  const builder outside = builder_for(constant);
  const shape *right = parameter->shape;
  literal *packed;
  TRY(find_packed(outside.arena, known, f, constant->literal, &packed));
  instruction_set_operand(fusion, number, builder_constant(&outside, packed));
  parameter->shape = packed->shape;
  instruction_set_operand(product, 1, unpack(f, product, right, parameter));
  return status_ok();
}

// Whether it is the right side of a product, and of nothing else, and a constant of this fusion alone.
static bool is_own_constant(const instruction *fusion, const instruction *product) {
  const instruction *parameter = product->operands[1];
  if (parameter->opcode != HLO_PARAMETER || parameter->users.size != 1) return false;
  const instruction *constant = fusion->operands[parameter->attributes->index];
  return constant->opcode == HLO_CONSTANT && constant->users.size == 1 && constant->parent->root != constant;
}

static heddle_status pack_fusion(instruction *fusion, const target_description *target, packed_constants *packed,
                                 text *reasons) {
  const instruction_list body = fusion->called[0]->instructions;
  instruction *product = NULL;
  int products = 0;
  for (int n = 0; n < body.size; n++) {
    if (!product_cost_is_product(body.data[n])) continue;
    product = body.data[n];
    products++;
  }
  if (products != 1 || !is_own_constant(fusion, product)) return status_ok();
  const int column = column_of(product);
  if (!pays(product, column, target) || !is_tiled(fusion, target)) return status_ok();
  const panels_form f = form_of(product, column, target);
  const instruction *constant = fusion->operands[product->operands[1]->attributes->index];
  if (reasons)
    text_printf(reasons, STR_FMT ": packed once, in panels of %d columns for " STR_FMT "\n", STR_ARG(constant->name),
                (int)f.width, STR_ARG(fusion->name));
  return pack_operand(fusion, product, packed, &f);
}

heddle_status pack_constants_run(computation *c, const target_description *target, packed_constants *packed,
                                 text *reasons) {
  const int count = c->instructions.size;
  if (target->has_grid || !kernel_hero_exists(target->kind, HERO_TILES)) return status_ok();
  for (int k = 0; k < count; k++)
    if (c->instructions.data[k]->opcode == HLO_FUSION && c->instructions.data[k]->attributes->kind != FUSION_CUSTOM)
      TRY(pack_fusion(c->instructions.data[k], target, packed, reasons));
  return status_ok();
}
