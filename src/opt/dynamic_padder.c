// Dynamic padder: set-dimension-size(x, n) -> x, where everybody behind knows n.
//
// Elements beyond the size hold anything. Operations element by element may compute with them; what combines elements
// takes the initial value (a dot zero) in their place; a scatter's windows beyond the size go to an index where there
// is nothing; get-dimension-size is n. First all of a computation is looked at, since half of it with the sizes gone
// would be wrong. Results of the entry are cut to their sizes by whoever hands them out.
#include "opt/dynamic_padder.h"

#include "hlo/combiner.h"
#include "opt/passes.h"
#include "opt/rewrite.h"
#include "opt/uniform.h"

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

// Concatenate and reverse.
static bool moves_static_dims(const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  for (int k = 0; k < i->operand_count; k++)
    for (int d = 0; d < dims.size; d++)
      if (shape_is_dynamic_dim(i->operands[k]->shape, (int)dims.data[d])) return false;
  return true;
}

static bool can_reduce(const instruction *i) {
  return i->operand_count == 2 && uniform_is_neutral(combiner_opcode(i->called[0]), i->operands[1]);
}

static bool calls(const instruction *i, const char *target) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, target);
}

// Whether only dims that list vectors are dynamic.
static bool lists_vectors(const instruction *indices, int64_t vector_dim) {
  return vector_dim >= indices->shape->rank || !shape_is_dynamic_dim(indices->shape, (int)vector_dim);
}

static bool can_gather(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  return shape_is_static(i->operands[0]->shape) && x->operand_batching_dims.size == 0 &&
         lists_vectors(i->operands[1], x->index_vector_dim);
}

// The dim of the indices that dim `dim` of a list of windows follows; -1 for a dim of the windows.
static int64_t listed_dim(int64_t dim, int_list window_dims, int64_t vector_dim) {
  int64_t position = 0;
  if (int_list_has(window_dims, dim)) return -1;
  for (int64_t d = 0; d < dim; d++) position += !int_list_has(window_dims, d);
  return position >= vector_dim ? position + 1 : position;
}

// Who has windows of dynamic size or number has vectors of the same number.
static bool can_scatter(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (i->operand_count != 3 || x->input_batching_dims.size || x->scatter_dims_to_operand_dims.size == 0) return false;
  const shape *indices = i->operands[1]->shape, *updates = i->operands[2]->shape;
  if (!shape_is_static(i->operands[0]->shape) || !lists_vectors(i->operands[1], x->index_vector_dim)) return false;
  if (!dtype_is_signed(indices->dtype) && dtypes[indices->dtype].bits < 32) return false;  // all numbers are places
  for (int d = 0; d < updates->rank; d++) {
    const int64_t listed = listed_dim(d, x->update_window_dims, x->index_vector_dim);
    if (shape_is_dynamic_dim(updates, d) && (listed < 0 || !shape_is_dynamic_dim(indices, (int)listed))) return false;
  }
  return true;
}

// (x, a size for each dim) -> x of these sizes
static bool can_slice_to_dynamic(const instruction *i) {
  if (!calls(i, "SliceToDynamic") || i->operand_count != i->shape->rank + 1) return false;
  for (int d = 0; d < i->shape->rank; d++)
    if (!shape_is_scalar(i->operands[d + 1]->shape) || !dtype_is_integer(i->operands[d + 1]->shape->dtype))
      return false;
  return shape_is_static(i->operands[0]->shape) && shape_same_dims(i->operands[0]->shape, i->shape);
}

// x -> (x at its bounds with zeros behind the elements, a size for each dim)
static bool can_pad_to_static(const instruction *i) {
  if (!calls(i, "PadToStatic") || i->operand_count != 1 || !shape_is_tuple(i->shape)) return false;
  const shape *from = i->operands[0]->shape;
  if (!shape_is_array(from) || !is_bounded(from) || i->shape->tuple_size != from->rank + 1) return false;
  for (int d = 0; d < from->rank; d++)
    if (!shape_is_scalar(i->shape->elements[d + 1]) || !dtype_is_integer(i->shape->elements[d + 1]->dtype))
      return false;
  return shape_is_static(i->shape->elements[0]) && shape_compatible(i->shape->elements[0], from);
}

// The entry's results, which are handed out: an array or a tuple of arrays.
static bool can_give(const instruction *i) {
  const computation *c = i->parent;
  if (i != c->root || c != c->module->entry || i->users.size) return false;
  for (int k = 0; k < i->shape->tuple_size; k++)
    if (!shape_is_array(i->shape->elements[k]) || !is_bounded(i->shape->elements[k])) return false;
  return true;
}

static bool can_pad(const instruction *i) {
  if (!has_dynamic_array(i->shape) && !takes_dynamic(i)) return true;
  if (i->opcode == HLO_TUPLE) return can_give(i);
  if (can_pad_to_static(i)) return true;
  if (!shape_is_array(i->shape) || !is_bounded(i->shape)) return false;
  if (i == i->parent->root && has_dynamic_array(i->shape) && !can_give(i)) return false;
  switch (i->opcode) {
    case HLO_SET_DIMENSION_SIZE:
    case HLO_GET_DIMENSION_SIZE:
    case HLO_COPY:
    case HLO_TRANSPOSE:
    case HLO_BROADCAST: return true;
    case HLO_CUSTOM_CALL: return can_slice_to_dynamic(i);
    case HLO_DOT: return i->operand_count == 2 && !dtype_is_complex(i->shape->dtype);
    case HLO_REDUCE: return can_reduce(i);
    case HLO_GATHER: return can_gather(i);
    case HLO_SCATTER: return can_scatter(i);
    case HLO_CONCATENATE:
    case HLO_REVERSE: return moves_static_dims(i);
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

static void pass_gather_sizes(padding *p, const instruction *i) {
  for (int d = 0; d < i->shape->rank; d++) {
    const int64_t listed = listed_dim(d, i->attributes->offset_dims, i->attributes->index_vector_dim);
    if (listed >= 0) set_size(p, i, d, size_of(p, i->operands[1], listed));
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
    case HLO_GATHER: pass_gather_sizes(p, i); return;
    case HLO_SCATTER: return;
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
    instruction *position = builder_iota(b, DTYPE_S32, s->rank, s->dims, dims.data[k]);
    instruction *all = builder_broadcast(b, builder_convert(b, size, DTYPE_S32), s, 0, NULL);
    instruction *exists = builder_compare(b, position, all, COMPARE_LT);
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

// Vectors beyond the sizes name no place; neither sorted nor unique are they then.
static void mask_vectors(const padding *p, const builder *b, instruction *i) {
  instruction *indices = i->operands[1];
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < indices->shape->rank; d++) dims[d] = d;
  instruction *nowhere = builder_scalar_int(b, indices->shape->dtype, -1);
  instruction_set_operand(i, 1, masked(p, b, indices, (int_list){dims, indices->shape->rank}, nowhere));
  if (i->operands[1] == indices) return;
  i->attributes->indices_are_sorted = i->attributes->unique_indices = false;
}

static instruction *known_size(const padding *p, const builder *b, const instruction *i) {
  const int64_t dim = i->attributes->dimensions.data[0];
  instruction *size = size_of(p, i->operands[0], dim);
  if (size) return builder_convert(b, size, i->shape->dtype);
  return builder_scalar_int(b, i->shape->dtype, i->operands[0]->shape->dims[dim]);
}

static void replace(padding *p, instruction *i, instruction *by) {
  instruction_replace_uses(i, by);
  if (i->parent->root == i) computation_set_root(i->parent, by);
  ptr_map_put(p->scratch, &p->replaced, i, by);
}

static void slice_to_dynamic(padding *p, const builder *b, instruction *i) {
  instruction *same = builder_add(b, HLO_COPY, i->operands[0]->shape, 1, i->operands);
  for (int d = 0; d < i->shape->rank; d++)
    if (shape_is_dynamic_dim(i->shape, d)) set_size(p, same, d, i->operands[d + 1]);
  replace(p, i, same);
}

static void pad_to_static(padding *p, const builder *b, instruction *i) {
  instruction *x = i->operands[0], *elements[SHAPE_MAX_RANK + 1];
  int64_t dims[SHAPE_MAX_RANK];
  const int rank = x->shape->rank;
  for (int d = 0; d < rank; d++) {
    instruction *size = size_of(p, x, d);
    const dtype t = i->shape->elements[d + 1]->dtype;
    dims[d] = d;
    elements[d + 1] = size ? builder_convert(b, size, t) : builder_scalar_int(b, t, x->shape->dims[d]);
  }
  elements[0] = masked(p, b, x, (int_list){dims, rank}, builder_scalar_int(b, x->shape->dtype, 0));
  replace(p, i, builder_tuple(b, rank + 1, elements));
}

static void pad(padding *p, instruction *i) {
  const builder b = builder_for(i);
  if (i->opcode == HLO_TUPLE || i->opcode == HLO_CUSTOM_CALL) {
    if (can_slice_to_dynamic(i)) slice_to_dynamic(p, &b, i);
    else if (can_pad_to_static(i)) pad_to_static(p, &b, i);
    return;
  }
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
  if (i->opcode == HLO_SCATTER) mask_vectors(p, &b, i);
  if (has_dynamic_array(i->shape)) i->shape = shape_array(b.arena, i->shape->dtype, i->shape->rank, i->shape->dims);
}

// The entry's result is no longer the one that the module declares, nor, if it was an array, the one that takes over a
// parameter's memory.
static void forget_declaration(module *m, bool was_array) {
  int kept = 0;
  for (int k = 0; k < m->attributes.size; k++) {
    const str name = m->attributes.data[k].name;
    const bool is_over = str_is(name, "entry_computation_layout") || (was_array && str_is(name, "input_output_alias"));
    if (!is_over) m->attributes.data[kept++] = m->attributes.data[k];
  }
  m->attributes.size = kept;
  m->entry_parameters_layout = m->entry_result_layout = NULL;
}

typedef VEC(instruction *) result_list;

// Sizes behind the results, which a tuple makes anew.
static void give_sizes(padding *p, computation *c) {
  arena *a = c->module->arena;
  instruction *root = c->root;
  const bool is_tuple = root->opcode == HLO_TUPLE;
  const int count = is_tuple ? root->operand_count : 1;
  result_list all = {0};
  text sizes = {0};
  for (int k = 0; k < count; k++) vec_push(p->scratch, &all, is_tuple ? root->operands[k] : root);
  const builder b = builder_for(root);
  for (int k = 0; k < count; k++)
    for (int d = 0; d < all.data[k]->shape->rank; d++) {
      instruction *size = size_of(p, all.data[k], d);
      if (!size) continue;
      text_printf(&sizes, "%s{%d,%d,%d}", sizes.size ? "," : "", k, d, all.size);
      instruction *given = builder_convert(&b, size, DTYPE_S32);
      vec_push(p->scratch, &all, given);
    }
  if (sizes.size) {
    const str value = str_from(arena_printf(a, "{%s}", text_cstr(&sizes)));
    vec_push(a, &c->module->attributes, ((module_attribute){.name = STR(DYNAMIC_RESULTS), .value = value}));
    forget_declaration(c->module, !is_tuple);
    computation_set_root(c, builder_tuple(&b, all.size, all.data));
  }
  text_free(&sizes);
}

static heddle_status pad_all(pass_context *context, computation *c) {
  arena *scratch = context->scratch;
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
  context->changed = true;
  const bool gives_dynamic = has_dynamic_array(c->root->shape);
  for (int k = 0; k < order.size; k++) pad(&p, order.data[k]);
  if (gives_dynamic) give_sizes(&p, c);
  for (int k = 0; k < order.size; k++)
    if (ptr_map_has(&p.replaced, order.data[k])) computation_detach(c, order.data[k]);
  computation_drop_detached(c);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int c = 0; c < m->computations.size; c++) {
    bool any;
    if (can_pad_all(m->computations.data[c], &any) && any) TRY(pad_all(context, m->computations.data[c]));
  }
  return status_ok();
}

const pass opt_dynamic_padder = {
    .name = "dynamic-padder",
    .summary = "arrays of sizes known at run time become arrays of their bound",
    .order_reason = "behind dynamic-shapes: only dims whose size the arguments decide are padded",
    .use = PASS_NEEDED,
    .run = run,
};
