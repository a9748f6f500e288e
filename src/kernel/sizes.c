// Sizes are judged once, before anything is planned, so that no heuristic of the planner has to think of sums that
// overflow. It is done behind the passes: what they take away (a slice of a huge broadcast) may have had any size.
#include "kernel/sizes.h"

#include "hlo/text.h"

int64_t kernel_buffer_bytes(const shape *s) {
  int64_t count = shape_element_count(s);
  int bits = dtypes[s->dtype].bits;
  if (bits < 8) return count / (8 / bits) + (count % (8 / bits) != 0);
  return count > INT64_MAX / (bits / 8) ? INT64_MAX : count * (bits / 8);
}

static bool is_unbounded(const shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] < 0) return true;
  return false;
}

static heddle_status check_array(const instruction *i, const shape *s, int64_t *total) {
  arena *scratch = arena_create();
  heddle_status status = status_ok();
  const int most = i->parent->module->open_from > 0 ? KERNEL_MOST_OPEN_ARRAY_BYTES_LOG2 : KERNEL_MOST_ARRAY_BYTES_LOG2;
  if (is_unbounded(s)) {
    status = status_at(HEDDLE_INVALID, i->where,
                       "%s " STR_FMT
                       " has a dimension without a bound, %s: what is compiled needs a size or a bound, "
                       "as in f32[<=8]",
                       hlo_op_text(i->opcode), STR_ARG(i->name), shape_text(scratch, s));
  } else if (kernel_buffer_bytes(s) > (int64_t)1 << most) {
    status = status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " takes %lld bytes, %s: found more than 2^%d, the limit",
                       hlo_op_text(i->opcode), STR_ARG(i->name), (long long)kernel_buffer_bytes(s),
                       shape_text(scratch, s), most);
  } else if ((*total += kernel_buffer_bytes(s)) > (int64_t)1 << KERNEL_MOST_BYTES_LOG2) {
    status = status_at(HEDDLE_INVALID, i->where,
                       "%s " STR_FMT ": the program's arrays up to here take more than 2^%d bytes, the limit",
                       hlo_op_text(i->opcode), STR_ARG(i->name), KERNEL_MOST_BYTES_LOG2);
  }
  arena_destroy(scratch);
  return status;
}

// Tuples nest at most SHAPE_MAX_NESTING deep.
static heddle_status check_shape(const instruction *i, const shape *s, int64_t *total) {
  if (shape_is_array(s)) return check_array(i, s, total);
  for (int k = 0; k < s->tuple_size; k++) TRY(check_shape(i, s->elements[k], total));
  return status_ok();
}

static heddle_status check_results(const instruction *i) {
  const bool has_code = i->called_count == 1 && hlo_ops[i->opcode].index_rule != INDEX_RULE_NONE;
  if (!has_code || i->shape->tuple_size <= KERNEL_MOST_VARIADIC) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s " STR_FMT ": found %d results, the limit is %d",
                   hlo_op_text(i->opcode), STR_ARG(i->name), i->shape->tuple_size, KERNEL_MOST_VARIADIC);
}

static heddle_status check_instruction(const instruction *i, int64_t *total) {
  TRY(check_results(i));
  return check_shape(i, i->shape, total);
}

heddle_status kernel_check_sizes(const module *m) {
  int64_t total = 0;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) TRY(check_instruction(all->data[k], &total));
  }
  return status_ok();
}
