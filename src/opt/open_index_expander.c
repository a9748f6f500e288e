// Open index expander: start indices of dynamic slices and updates along open dims become min(start, size - length).
//
// HLO limits a start so that the slice lies inside. Emitters do that with the number that the limit is, and of an open
// dim there is none while code is made: only a number that stands in for it. So the limit is computed, from the size as
// the run knows it.
#include "opt/passes.h"

#include "hlo/open_size.h"
#include "hlo/text.h"
#include "opt/rewrite.h"

static bool is_open(const instruction *i) {
  if (i->opcode != HLO_DYNAMIC_SLICE && i->opcode != HLO_DYNAMIC_UPDATE_SLICE) return false;
  for (int d = 0; d < i->operands[0]->shape->rank; d++)
    if (open_size_limits_index(i, d)) return true;
  return false;
}

static instruction *expand(instruction *i) {
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
    .summary = "starts of dynamic slices along open dims are limited by the size that a run has",
    .order_reason = "behind what makes such slices, and before open-reduction-expander, whose loops stay inside",
    .use = PASS_NEEDED,
    .run = run,
};
