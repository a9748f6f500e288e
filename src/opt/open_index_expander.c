// Open index expander: start indices of dynamic slices and updates along open dims become min(start, size - length).
//
// HLO limits a start so that the slice lies inside. Emitters do that with the number that the limit is, and of an open
// dim there is none while code is made: only a number that stands in for it. So the limit is computed, from the size as
// the run knows it.
//
// Gathers and scatters keep emitters' limits, which become numbers of the run where code is compared. But an index that
// is a number itself, too, would be found to lie inside of what stands in for the size, and never be asked again. Such
// indices are limited here.
#include "opt/passes.h"

#include "hlo/open_size.h"
#include "hlo/text.h"
#include "opt/rewrite.h"

static bool is_open_slice(const instruction *i) {
  if (i->opcode != HLO_DYNAMIC_SLICE && i->opcode != HLO_DYNAMIC_UPDATE_SLICE) return false;
  for (int d = 0; d < i->operands[0]->shape->rank; d++)
    if (open_size_limits_index(i, d)) return true;
  return false;
}

static instruction *expand_slice(instruction *i) {
  const builder b = builder_for(i);
  const bool is_slice = i->opcode == HLO_DYNAMIC_SLICE;
  const int first = is_slice ? 1 : 2;
  const shape *taken = is_slice ? i->shape : i->operands[1]->shape;
  instruction **operands = arena_array(b.arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    // A size has 32 bits: of an index with fewer it could not be the limit.
    const bool is_narrow = k >= first && dtypes[i->operands[k]->shape->dtype].bits < 32;
    operands[k] = is_narrow ? builder_convert(&b, i->operands[k], DTYPE_S32) : i->operands[k];
  }
  for (int d = 0; d < taken->rank; d++) {
    if (!open_size_limits_index(i, d)) continue;
    const dtype t = operands[first + d]->shape->dtype;
    instruction *room = open_size_add(&b, i->operands[0]->shape->dims[d] - taken->dims[d]);
    operands[first + d] = builder_binary(&b, HLO_MINIMUM, operands[first + d], builder_convert(&b, room, t));
  }
  return rewrite_with(&b, i, i->shape, operands);
}

// --- gathers and scatters

enum { MOST_LOOKED_AT = 256 };

typedef struct look {
  int left;
  bool is_cut;  // only a part is taken, which may be as short as one element
} look;

static bool may_be_known(const instruction *x, look *l);

static bool may_any(const instruction *x, int first, look *l) {
  for (int k = first; k < x->operand_count; k++)
    if (may_be_known(x->operands[k], l)) return true;
  return false;
}

static bool may_all(const instruction *x, look *l) {
  for (int k = 0; k < x->operand_count; k++)
    if (!may_be_known(x->operands[k], l)) return false;
  return true;
}

// Whether an element can become a number while code is made: it is one, or counts, or what a loop counts in. Nothing
// goes through all of an open dim number by number.
static bool may_be_known(const instruction *x, look *l) {
  if (--l->left < 0) return true;
  switch (x->opcode) {
    case HLO_CONSTANT: return true;
    case HLO_IOTA: return l->is_cut || x->shape->dims[x->attributes->iota_dimension] < x->parent->module->open_from;
    case HLO_PARAMETER: return x->parent != x->parent->module->entry;
    case HLO_GET_TUPLE_ELEMENT: return x->operands[0]->opcode == HLO_WHILE || may_be_known(x->operands[0], l);
    case HLO_SELECT: return may_any(x, 1, l);
    case HLO_CONCATENATE:
    case HLO_PAD:
    case HLO_TUPLE: return may_any(x, 0, l);
    case HLO_DYNAMIC_UPDATE_SLICE: return may_be_known(x->operands[0], l) || may_be_known(x->operands[1], l);
    case HLO_SLICE:
    case HLO_DYNAMIC_SLICE:
    case HLO_GATHER:
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW: l->is_cut = true; return may_be_known(x->operands[0], l);
    case HLO_BROADCAST:
    case HLO_RESHAPE:
    case HLO_BITCAST:
    case HLO_TRANSPOSE:
    case HLO_REVERSE: return may_be_known(x->operands[0], l);
    default: return hlo_ops[x->opcode].index_rule == INDEX_RULE_ELEMENTWISE && may_all(x, l);
  }
}

// How many dims are indexed, which, and how long windows are along them. 0 of other operations.
static int indexed_dims(const instruction *i, int64_t *dims, int64_t *lengths) {
  const hlo_attributes *x = i->attributes;
  const bool is_gather = i->opcode == HLO_GATHER;
  if (!is_gather && i->opcode != HLO_SCATTER) return 0;
  const int_list map = is_gather ? x->start_index_map : x->scatter_dims_to_operand_dims;
  const shape *updates = i->operands[i->operand_count - 1]->shape;
  int64_t length[SHAPE_MAX_RANK];
  for (int d = 0, next = 0; d < i->operands[0]->shape->rank; d++) {
    const bool is_single = int_list_has(x->inserted_window_dims, d) || int_list_has(x->input_batching_dims, d);
    if (is_gather) length[d] = x->slice_sizes.data[d];
    else length[d] = is_single ? 1 : updates->dims[x->update_window_dims.data[next++]];
  }
  for (int k = 0; k < map.size; k++) {
    dims[k] = map.data[k];
    lengths[k] = length[map.data[k]];
  }
  return map.size;
}

static int index_operand(const instruction *i) { return i->opcode == HLO_GATHER ? 1 : i->operand_count / 2; }

static bool is_known_pick(const instruction *i) {
  int64_t dims[SHAPE_MAX_RANK], lengths[SHAPE_MAX_RANK];
  const int count = indexed_dims(i, dims, lengths);
  bool is_open = false;
  for (int k = 0; k < count; k++) is_open |= open_size_has(i->operands[0], dims[k]);
  look l = {.left = MOST_LOOKED_AT};
  return is_open && may_be_known(i->operands[index_operand(i)], &l);
}

// The last starts of windows, of the indices' shape.
static instruction *last_starts(const builder *b, const instruction *i, const shape *indices) {
  int64_t dims[SHAPE_MAX_RANK], lengths[SHAPE_MAX_RANK];
  instruction *last[SHAPE_MAX_RANK];
  const int count = indexed_dims(i, dims, lengths);
  for (int k = 0; k < count; k++) {
    const int64_t room = i->operands[0]->shape->dims[dims[k]] - lengths[k];
    last[k] = open_size_has(i->operands[0], dims[k]) ? builder_convert(b, open_size_add(b, room), indices->dtype)
                                                     : builder_scalar_int(b, indices->dtype, room);
    if (count > 1) last[k] = builder_reshape(b, last[k], 1, (int64_t[]){1});
  }
  if (count == 1) return builder_broadcast(b, last[0], indices, 0, NULL);
  return builder_broadcast(b, builder_concatenate(b, count, last, 0), indices, 1,
                           (int64_t[]){i->attributes->index_vector_dim});
}

// A gather's window is moved inside, a scatter's that is not inside stays outside.
static instruction *expand_pick(instruction *i) {
  const builder b = builder_for(i);
  const int at = index_operand(i);
  instruction **operands = arena_array(b.arena, instruction *, i->operand_count), *index = i->operands[at];
  for (int k = 0; k < i->operand_count; k++) operands[k] = i->operands[k];
  if (dtypes[index->shape->dtype].bits < 32) index = builder_convert(&b, index, DTYPE_S32);
  instruction *last = last_starts(&b, i, index->shape);
  if (i->opcode == HLO_GATHER) {
    operands[at] = builder_binary(&b, HLO_MINIMUM, index, last);
  } else {
    const bool is_wide = dtypes[index->shape->dtype].bits > 32;
    instruction *outside = builder_scalar_int(&b, index->shape->dtype, is_wide ? INT64_MAX : INT32_MAX);
    operands[at] = builder_select(&b, builder_compare(&b, index, last, COMPARE_GT),
                                  builder_broadcast(&b, outside, index->shape, 0, NULL), index);
  }
  return rewrite_with(&b, i, i->shape, operands);
}

static bool is_open(const instruction *i) { return is_open_slice(i) || is_known_pick(i); }

static instruction *expand(instruction *i) { return is_open_slice(i) ? expand_slice(i) : expand_pick(i); }

// --- the pass

// Sizes as values have 32 bits: beyond that an index would have no limit, as those of 32 bits are below it while there
// are stand-ins. Smaller stand-ins may do.
static heddle_status check_size(const instruction *i) {
  const bool is_limited = i->opcode == HLO_DYNAMIC_SLICE || i->opcode == HLO_DYNAMIC_UPDATE_SLICE ||
                          i->opcode == HLO_GATHER || i->opcode == HLO_SCATTER;
  if (!is_limited || !shape_is_array(i->operands[0]->shape)) return status_ok();
  for (int d = 0; d < i->operands[0]->shape->rank; d++)
    if (i->operands[0]->shape->dims[d] > INT32_MAX)
      return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                       "%s " STR_FMT " picks from a dim that has more entries than there are indices of 32 bits",
                       hlo_op_text(i->opcode), STR_ARG(i->name));
  return status_ok();
}

static heddle_status check_sizes(const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) TRY(check_size(all->data[k]));
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  const module *m = unit;
  if (m->open_from == 0) return status_ok();
  TRY(check_sizes(m));
  return rewrite_each(context, unit, is_open, expand);
}

const pass opt_open_index_expander = {
    .name = "open-index-expander",
    .summary = "starts of dynamic slices and known indices along open dims are limited by the size that a run has",
    .order_reason = "behind what makes such slices, and before open-reduction-expander, whose loops stay inside",
    .use = PASS_NEEDED,
    .run = run,
};
