// Collective-permutes of slices: which form one has, and whether its parts fit together.
#include "hlo/permute_slices.h"

#include "hlo/verifier_rules.h"

bool permute_slices_has(const instruction *i) {
  return (i->opcode == HLO_COLLECTIVE_PERMUTE || i->opcode == HLO_COLLECTIVE_PERMUTE_START) &&
         attributes_has(i->attributes, HLO_ATTRIBUTE_SLICE_SIZES_OF_TRANSFERS);
}

const shape *permute_slices_buffer(const permute_slices *p, const instruction *i, permute_operand operand, int b) {
  const shape *s = i->operands[operand]->shape;
  return p->has_tuple_of_buffers ? s->elements[b] : s;
}

int_list permute_slices_sizes(const permute_slices *p, const instruction *i, int b, int n) {
  return i->attributes->slice_sizes_of_transfers.groups[b * p->slices + n];
}

int permute_slices_number(const instruction *i, int pair, int side) {
  const group_list *pairs = &i->attributes->source_target_pairs;
  int number = 0;
  for (int k = 0; k < pair; k++) number += pairs->groups[k].data[side] == pairs->groups[pair].data[side];
  return number;
}

// A tuple of `rank` integers.
static bool is_start(const shape *s, int rank) {
  if (!shape_is_tuple(s) || s->tuple_size != rank) return false;
  for (int d = 0; d < rank; d++)
    if (!shape_is_scalar(s->elements[d]) || !dtype_is_integer(s->elements[d]->dtype)) return false;
  return true;
}

// A start for the buffer, or a list of `slices` where starts are lists.
static bool has_starts(const permute_slices *p, const shape *s, int rank) {
  if (!p->has_lists_of_starts) return is_start(s, rank);
  if (!shape_is_tuple(s) || s->tuple_size != p->slices) return false;
  for (int n = 0; n < p->slices; n++)
    if (!is_start(s->elements[n], rank)) return false;
  return true;
}

// The form that operands show, whether or not all of them have it.
static heddle_status find_form(const instruction *i, permute_slices *p) {
  if (i->operand_count != PERMUTE_OPERANDS)
    return VERIFY_ERROR(i, "found %d operands, wanted inputs, outputs and where their slices start", i->operand_count);
  const shape *input = i->operands[PERMUTE_INPUT]->shape, *output = i->operands[PERMUTE_OUTPUT]->shape;
  const shape *starts = i->operands[PERMUTE_INPUT_STARTS]->shape;
  *p = (permute_slices){.buffers = 1, .slices = 1, .has_tuple_of_buffers = shape_is_tuple(input)};
  if (p->has_tuple_of_buffers) {
    p->buffers = input->tuple_size;
    starts = shape_is_tuple(starts) && starts->tuple_size ? starts->elements[0] : starts;
  }
  const bool fits = p->has_tuple_of_buffers ? shape_is_tuple(output) && output->tuple_size == p->buffers
                                            : shape_is_array(input) && shape_is_array(output);
  if (!fits || p->buffers == 0) return VERIFY_ERROR(i, "inputs and outputs are not as many");
  p->has_lists_of_starts = shape_is_tuple(starts) && starts->tuple_size && shape_is_tuple(starts->elements[0]);
  if (p->has_lists_of_starts) p->slices = starts->tuple_size;
  return status_ok();
}

static heddle_status check_starts(const permute_slices *p, const instruction *i, permute_operand operand, int b,
                                  int rank) {
  const shape *s = i->operands[operand]->shape;
  if (p->has_tuple_of_buffers && !(shape_is_tuple(s) && s->tuple_size == p->buffers))
    return VERIFY_ERROR(i, "operand %d has not as many starts as there are buffers, %d", operand, p->buffers);
  if (has_starts(p, p->has_tuple_of_buffers ? s->elements[b] : s, rank)) return status_ok();
  return VERIFY_ERROR(i, "operand %d has no start for each of the %d dims of buffer %d", operand, rank, b);
}

static heddle_status check_buffer(const permute_slices *p, const instruction *i, int b) {
  const shape *from = permute_slices_buffer(p, i, PERMUTE_INPUT, b),
              *to = permute_slices_buffer(p, i, PERMUTE_OUTPUT, b);
  if (!shape_is_array(from) || !shape_is_array(to) || from->dtype != to->dtype || from->rank != to->rank)
    return VERIFY_ERROR(i, "input and output %d have not the same type and rank", b);
  TRY(check_starts(p, i, PERMUTE_INPUT_STARTS, b, from->rank));
  TRY(check_starts(p, i, PERMUTE_OUTPUT_STARTS, b, from->rank));
  for (int n = 0; n < p->slices; n++) {
    const int_list sizes = permute_slices_sizes(p, i, b, n), first = permute_slices_sizes(p, i, b, 0);
    bool fits = sizes.size == from->rank;
    for (int d = 0; d < sizes.size && fits; d++)
      fits = sizes.data[d] >= 0 && sizes.data[d] <= from->dims[d] && sizes.data[d] <= to->dims[d] &&
             sizes.data[d] == first.data[d];
    if (!fits)
      return VERIFY_ERROR(i, "the sizes of slice %d of buffer %d are not those of a part of it, the same for all", n,
                          b);
  }
  return status_ok();
}

heddle_status permute_slices_of(const instruction *i, permute_slices *out) {
  TRY(find_form(i, out));
  const group_list *sizes = &i->attributes->slice_sizes_of_transfers, *pairs = &i->attributes->source_target_pairs;
  if (sizes->size != out->buffers * out->slices)
    return VERIFY_ERROR(i, "slice_sizes has %d entries, wanted %d for each of %d buffers", sizes->size, out->slices,
                        out->buffers);
  for (int b = 0; b < out->buffers; b++) TRY(check_buffer(out, i, b));
  for (int k = 0; k < pairs->size; k++) {
    if (pairs->groups[k].size != 2) return VERIFY_ERROR(i, "found a pair of %d numbers", pairs->groups[k].size);
    for (int side = 0; side < 2; side++)
      if (permute_slices_number(i, k, side) >= out->slices)
        return VERIFY_ERROR(i, "%s %lld appears in more than %d pairs", side ? "target" : "source",
                            (long long)pairs->groups[k].data[side], out->slices);
  }
  return status_ok();
}
