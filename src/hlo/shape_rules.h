// What the files of shape inference share: shape_inference*.c only. One function per hlo_shape_rule.
//
// A rule may rely on the arity of ops.def and on the number of called computations, which shape_infer has checked, and
// on operands having checked shapes. Sizes agree when they are equal or one is unbounded; a dim of the result is
// dynamic where one of the dims it comes from is.
#ifndef HEDDLE_HLO_SHAPE_RULES_H_
#define HEDDLE_HLO_SHAPE_RULES_H_

#include "hlo/module.h"

typedef heddle_status shape_rule_fn(arena *a, const instruction *i, const shape **out);

// shape_inference.c
shape_rule_fn shape_rule_same, shape_rule_part, shape_rule_complex, shape_rule_predicate, shape_rule_convert,
    shape_rule_bitcast_convert, shape_rule_clamp, shape_rule_select;
// shape_inference_moves.c
shape_rule_fn shape_rule_broadcast, shape_rule_reshape, shape_rule_bitcast, shape_rule_transpose, shape_rule_reverse,
    shape_rule_iota;
// shape_inference_slices.c
shape_rule_fn shape_rule_slice, shape_rule_pad, shape_rule_concatenate, shape_rule_dynamic_slice,
    shape_rule_dynamic_update_slice, shape_rule_dimension_size;
// shape_inference_gather.c
shape_rule_fn shape_rule_gather, shape_rule_scatter;
// shape_inference_contractions.c
shape_rule_fn shape_rule_dot, shape_rule_ragged_dot;
// shape_inference_windows.c
shape_rule_fn shape_rule_reduce_window, shape_rule_select_and_scatter, shape_rule_convolution;
// shape_inference_calls.c
shape_rule_fn shape_rule_reduce, shape_rule_map, shape_rule_sort, shape_rule_tuple, shape_rule_get_tuple_element,
    shape_rule_call, shape_rule_conditional, shape_rule_while;

// HEDDLE_INVALID at the instruction: `dot: ...`.
#define RULE_ERROR(i, format, ...) \
  status_at(HEDDLE_INVALID, (i)->where, "%s: " format, hlo_op_text((i)->opcode), ##__VA_ARGS__)

// Dims of a result under construction; more than SHAPE_MAX_RANK are counted, not kept.
typedef struct dims_builder {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  uint64_t dynamic_dims;
} dims_builder;

void dims_builder_push(dims_builder *b, int64_t size, bool is_dynamic);
void dims_builder_push_from(dims_builder *b, const shape *s, int dim);  // dim `dim` of s
// The shape, checked for rank and size.
heddle_status dims_builder_finish(arena *a, const instruction *i, const dims_builder *b, dtype t, const shape **out);

// One shape as it is, several (count is not 1) as a tuple.
const shape *shape_rule_results(arena *a, int count, const shape *const *results);
// Of a reduction: a tuple of one where its computation returns one.
const shape *shape_rule_reduced(arena *a, const instruction *i, int count, const shape *const *results);
// The shape of called computation `index`'s root.
heddle_status shape_rule_called_root(const instruction *i, int index, const shape **out);

// Whether dot and convolution take operands of these types: of one class, any integers, floats times whole numbers.
bool shape_rule_multiplies(dtype l, dtype r);

bool shape_rule_sizes_agree(int64_t l, int64_t r);
bool shape_rule_dims_agree(const shape *l, const shape *r);

// Errors unless operand `index` is an array; unless all operands from `first` to before `end` are.
heddle_status shape_rule_wants_array(const instruction *i, int index);
heddle_status shape_rule_wants_arrays(const instruction *i, int first, int end);
// Errors unless operand `index` is a scalar of type t.
heddle_status shape_rule_wants_scalar(arena *a, const instruction *i, int index, dtype t);
// Errors unless the result's shape was given; unless it was and is an array.
heddle_status shape_rule_wants_given(const instruction *i);
heddle_status shape_rule_wants_array_result(const instruction *i);
// Errors unless operands l and r agree in dims (and in type).
heddle_status shape_rule_wants_same_dims(arena *a, const instruction *i, int l, int r);
heddle_status shape_rule_wants_same(arena *a, const instruction *i, int l, int r);
// Errors unless every entry of the attribute `name` lies in [0, rank) and none occurs twice. `seen` collects the
// entries as bits and may come with bits that must not be repeated; null: none.
heddle_status shape_rule_wants_dims(const instruction *i, const char *name, int_list dims, int rank, uint64_t *seen);
// The same, and the entries must be in ascending order.
heddle_status shape_rule_wants_sorted_dims(const instruction *i, const char *name, int_list dims, int rank,
                                           uint64_t *seen);

#endif
