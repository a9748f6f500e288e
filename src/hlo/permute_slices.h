// A collective-permute that sends slices of a buffer and writes them into slices of another, XLA's "in-place" form:
//
//   collective-permute(inputs, outputs, input starts, output starts), source_target_pairs={…}, slice_sizes={…}
//
// Inputs and outputs are an array each, or a tuple of as many. Starts are a tuple of scalars, one for each dim; of
// tuples of them where a device may be the source or the target of several pairs; a tuple of either, one for each
// buffer, where there is a tuple of buffers. The n-th pair in which a device is the source sends its input's n-th
// slice, and the n-th in which it is the target is received at its output's n-th start. The results are the outputs
// with what was received in them.
#ifndef HEDDLE_HLO_PERMUTE_SLICES_H_
#define HEDDLE_HLO_PERMUTE_SLICES_H_

#include "hlo/module.h"

// Its operands.
typedef enum permute_operand {
  PERMUTE_INPUT,
  PERMUTE_OUTPUT,
  PERMUTE_INPUT_STARTS,
  PERMUTE_OUTPUT_STARTS,
  PERMUTE_OPERANDS
} permute_operand;

typedef struct permute_slices {
  int buffers;
  int slices;  // of each buffer
  bool has_tuple_of_buffers;
  bool has_lists_of_starts;  // there may be several slices of a buffer
} permute_slices;

// Whether a collective-permute, or one that begins, moves slices.
bool permute_slices_has(const instruction *i);

// HEDDLE_INVALID, with the location, if operands, sizes and pairs do not fit together.
heddle_status permute_slices_of(const instruction *i, permute_slices *out);

// The shape of buffer b of PERMUTE_INPUT or PERMUTE_OUTPUT.
const shape *permute_slices_buffer(const permute_slices *p, const instruction *i, permute_operand operand, int b);

// The sizes of slice n of buffer b.
int_list permute_slices_sizes(const permute_slices *p, const instruction *i, int b, int n);

// How many of the pairs before pair `pair` have the same source (side 0) or target (side 1).
int permute_slices_number(const instruction *i, int pair, int side);

#endif
