// Which elements of an instruction's operands a result element needs, and which result elements an operand element
// reaches: one set of simplified indexing maps per operand or output.
//
// Indices are logical (dims in HLO's order); layouts only matter to bitcast. A dim of size 0 gives empty maps.
#ifndef HEDDLE_INDEX_HLO_INDEXING_H_
#define HEDDLE_INDEX_HLO_INDEXING_H_

#include "hlo/module.h"
#include "index/indexing_map.h"

// Where the value of a runtime variable comes from: element map(dims)[ranges] of this operand of the instruction, where
// dims and ranges are those of the map that has the variable. The value is to be clamped to the variable's bounds first
// (dynamic-slice, dynamic-update-slice, gather); scatter drops updates whose value is out of bounds instead.
typedef struct runtime_value {
  int operand;
  const indexing_map *map;
} runtime_value;

typedef struct operand_map {
  const indexing_map *map;
  const runtime_value *rts;  // map->rt_count entries
} operand_map;

typedef struct operand_maps {
  int count;  // 0: nothing of this operand is needed (reached)
  const operand_map *maps;
  bool unknown;  // the elements depend on data in a way no map says; count is then 0
} operand_maps;

typedef struct hlo_indexing {
  int count;  // operands (output to input), or outputs: 1, or the tuple's size (input to output)
  operand_maps *operands;
} hlo_indexing;

// For each operand: from an index of output `output_index` (0 unless the result is a tuple) to the operand's indices.
//
// Ranges: reduce and reduce-window: the reduced or window dims in order of dims; dot: contracting dims in order of
// lhs_contracting_dims; convolution: window dims in order, then the input feature within its group; gather's indices:
// the index vector; bitcast-convert to a wider type: the parts. Padding and holes are constraints. Scalar operands
// (pad's value, reduce's initial values, starts) have maps without results; of pad's value and dynamic-update-slice's
// target the map holds all outputs, also those that do not use it.
//
// HEDDLE_UNIMPLEMENTED with i's location for opcodes without an index rule (see ops.def) and for bitcasts through tiled
// layouts.
heddle_status hlo_indexing_output_to_input(arena *a, const instruction *i, int output_index, hlo_indexing *out);

// For each output: from an index of operand `input_index` to the output's indices. Where the result has dims that the
// operand lacks they are ranges. An over-approximation in the same two places.
heddle_status hlo_indexing_input_to_output(arena *a, const instruction *i, int input_index, hlo_indexing *out);

// From an index of an array of shape `from` to the index of the same element seen as `to`, through both layouts (same
// element count; tiles are not looked at).
const indexing_map *hlo_indexing_bitcast(arena *a, const shape *from, const shape *to);
// The same with row-major order for both, whatever the layouts: reshape.
const indexing_map *hlo_indexing_reshape(arena *a, const shape *from, const shape *to);

#endif
