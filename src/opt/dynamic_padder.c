// Dynamic padder: set-dimension-size(x, n) -> x, where everybody behind knows n.
//
// Elements beyond the size hold anything. Operations element by element may compute with them; what combines elements
// takes the initial value (a dot zero) in their place; get-dimension-size is n. First all of a computation is looked
// at, since half of it with the sizes gone would be wrong.
#include "opt/dynamic_padder.h"

#include "opt/reducer.h"
#include "opt/rewrite.h"

typedef struct padding {
  arena *scratch;
  ptr_map sizes;     // instruction -> instruction *[rank]: the size of each dynamic dim, else null
  ptr_map replaced;  // instruction -> what stands in its place
} padding;

static bool has_dynamic_array(const shape *s) {
  for (int k = 0; k < s->tuple_size; k++)
    if (has_dynamic_array(s->elements[k])) return true;
  return shape_is_array(s) && !shape_is_static(s);
}

static bool is_bounded(const shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] < 0) return false;
  return true;
}

static bool takes_dynamic(const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (has_dynamic_array(i->operands[k]->shape)) return true;
  return false;
}

// --- what can be done

static bool can_reduce(const instruction *i) {
  return i->operand_count == 2 && reducer_is_neutral(reducer_opcode(i->called[0]), i->operands[1]);
}

static bool can_pad(const instruction *i) {
  if (!has_dynamic_array(i->shape) && !takes_dynamic(i)) return true;
  if (!shape_is_array(i->shape) || !is_bounded(i->shape)) return false;
  if (i == i->parent->root && has_dynamic_array(i->shape)) return false;
  switch (i->opcode) {
    case HLO_SET_DIMENSION_SIZE:
    case HLO_GET_DIMENSION_SIZE:
    case HLO_COPY:
    case HLO_TRANSPOSE:
    case HLO_BROADCAST: return true;
    case HLO_DOT: return i->operand_count == 2 && !dtype_is_complex(i->shape->dtype);
    case HLO_REDUCE: return can_reduce(i);
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0;
  }
}

static bool can_pad_all(const computation *c, bool *any) {
  *any = false;
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    if (!can_pad(i)) return false;
    *any |= has_dynamic_array(i->shape);
  }
  return true;
}

// --- sizes

static instruction **sizes_of(const padding *p, const instruction *i) { return ptr_map_get(&p->sizes, i); }

static instruction *size_of(const padding *p, const instruction *i, int64_t dim) {
  instruction **sizes = sizes_of(p, i);
  return sizes ? sizes[dim] : NULL;
}

static void set_size(padding *p, const instruction *i, int64_t dim, instruction *size) {
  if (!size) return;
  instruction **sizes = sizes_of(p, i);
  if (!sizes) {
    sizes = arena_array(p->scratch, instruction *, i->shape->rank);
    ptr_map_put(p->scratch, &p->sizes, i, sizes);
  }
  sizes[dim] = size;
}

// A dot's free and batch dims, in order.
static void pass_dot_sizes(padding *p, const instruction *i) {
  const hlo_attributes *x = i->attributes;
  int at = 0;
  for (int k = 0; k < x->lhs_batch_dims.size; k++)
    set_size(p, i, at++, size_of(p, i->operands[0], x->lhs_batch_dims.data[k]));
  for (int side = 0; side < 2; side++) {
    const int_list batch = side ? x->rhs_batch_dims : x->lhs_batch_dims;
    const int_list contracting = side ? x->rhs_contracting_dims : x->lhs_contracting_dims;
    for (int d = 0; d < i->operands[side]->shape->rank; d++)
      if (!int_list_has(batch, d) && !int_list_has(contracting, d))
        set_size(p, i, at++, size_of(p, i->operands[side], d));
  }
}

static void pass_sizes(padding *p, const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  if (i->operand_count == 0) return;
  const instruction *x = i->operands[0];
  int at = 0;
  switch (i->opcode) {
    case HLO_TRANSPOSE:
      for (int d = 0; d < i->shape->rank; d++) set_size(p, i, d, size_of(p, x, dims.data[d]));
      return;
    case HLO_BROADCAST:
      for (int d = 0; d < x->shape->rank; d++) set_size(p, i, dims.data[d], size_of(p, x, d));
      return;
    case HLO_REDUCE:
      for (int d = 0; d < x->shape->rank; d++)
        if (!int_list_has(dims, d)) set_size(p, i, at++, size_of(p, x, d));
      return;
    case HLO_DOT: pass_dot_sizes(p, i); return;
    default:
      for (int k = 0; k < i->operand_count; k++)
        for (int d = 0; d < i->operands[k]->shape->rank; d++) set_size(p, i, d, size_of(p, i->operands[k], d));
  }
}

// --- what is done

// The operand with `fill` beyond the sizes of these dims.
static instruction *masked(const padding *p, const builder *b, instruction *x, int_list dims, instruction *fill) {
  const shape *s = x->shape;
  for (int k = 0; k < dims.size; k++) {
    instruction *size = size_of(p, x, dims.data[k]);
    if (!size) continue;
    instruction *place = builder_iota(b, DTYPE_S32, s->rank, s->dims, dims.data[k]);
    instruction *all = builder_broadcast(b, builder_convert(b, size, DTYPE_S32), s, 0, NULL);
    instruction *exists = builder_compare(b, place, all, COMPARE_LT);
    instruction *other = builder_broadcast(b, fill, s, 0, NULL);
    x = builder_select(b, exists, x, other);
  }
  return x;
}

static void mask_dot(const padding *p, const builder *b, instruction *i) {
  for (int side = 0; side < 2; side++) {
    const int_list dims = side ? i->attributes->rhs_contracting_dims : i->attributes->lhs_contracting_dims;
    instruction *x = i->operands[side], *zero = builder_scalar_int(b, x->shape->dtype, 0);
    instruction_set_operand(i, side, masked(p, b, x, dims, zero));
  }
}

static instruction *known_size(const padding *p, const builder *b, const instruction *i) {
  const int64_t dim = i->attributes->dimensions.data[0];
  instruction *size = size_of(p, i->operands[0], dim);
  if (size) return builder_convert(b, size, i->shape->dtype);
  return builder_scalar_int(b, i->shape->dtype, i->operands[0]->shape->dims[dim]);
}

static void replace(padding *p, instruction *i, instruction *by) {
  instruction_replace_uses(i, by);
  ptr_map_put(p->scratch, &p->replaced, i, by);
}

static void pad(padding *p, instruction *i) {
  const builder b = builder_for(i);
  if (i->opcode == HLO_SET_DIMENSION_SIZE) {
    // The operand may have other users, who do not know of the size.
    instruction *same = builder_add(&b, HLO_COPY, i->operands[0]->shape, 1, i->operands);
    pass_sizes(p, same);
    set_size(p, same, i->attributes->dimensions.data[0], i->operands[1]);
    replace(p, i, same);
    return;
  }
  if (i->opcode == HLO_GET_DIMENSION_SIZE) {
    replace(p, i, known_size(p, &b, i));
    return;
  }
  pass_sizes(p, i);
  if (i->opcode == HLO_REDUCE)
    instruction_set_operand(i, 0, masked(p, &b, i->operands[0], i->attributes->dimensions, i->operands[1]));
  if (i->opcode == HLO_DOT) mask_dot(p, &b, i);
  if (has_dynamic_array(i->shape)) i->shape = shape_array(b.arena, i->shape->dtype, i->shape->rank, i->shape->dims);
}

static heddle_status pad_all(arena *scratch, computation *c) {
  padding p = {.scratch = scratch};
  instruction_list order = {0};
  ptr_map waited_for = {0};
  TRY(computation_post_order(scratch, c, &order));
  rewrite_find_waited_for(scratch, c, &waited_for);
  for (int k = 0; k < order.size; k++) {
    instruction *i = order.data[k];
    if (i->opcode == HLO_SET_DIMENSION_SIZE || i->opcode == HLO_GET_DIMENSION_SIZE)
      if (i->control_predecessors.size > 0 || ptr_map_has(&waited_for, i)) return status_ok();
  }
  for (int k = 0; k < order.size; k++) pad(&p, order.data[k]);
  for (int k = 0; k < order.size; k++)
    if (ptr_map_has(&p.replaced, order.data[k])) computation_detach(c, order.data[k]);
  computation_drop_detached(c);
  return status_ok();
}

heddle_status dynamic_padder_run(module *m) {
  arena *scratch = arena_create();
  heddle_status s = status_ok();
  for (int c = 0; c < m->computations.size && status_is_ok(s); c++) {
    bool any;
    if (can_pad_all(m->computations.data[c], &any) && any) s = pad_all(scratch, m->computations.data[c]);
  }
  arena_destroy(scratch);
  return s;
}
