// What the files of the module generator share: smith*.c only.
#ifndef HEDDLE_TOOLS_SMITH_POOL_H_
#define HEDDLE_TOOLS_SMITH_POOL_H_

#include "hlo/builder.h"
#include "tools/smith.h"

enum { SMITH_MAX_RANK = 8 };

typedef struct smith {
  arena *arena;
  builder b;
  uint64_t state;
  smith_options options;
  instruction_list pool;  // arrays of the entry, to be used as operands
} smith;

// Makes one operation of its kind in the entry; null if what it would need is not there.
typedef instruction *(*smith_fn)(smith *s);

// --- chance (smith.c)
int64_t smith_below(smith *s, int64_t n);                    // 0 … n-1
int64_t smith_between(smith *s, int64_t low, int64_t high);  // both included
bool smith_chance(smith *s, int percent);
dtype smith_dtype(smith *s, int classes);  // DTYPE_INVALID if the options leave none
void smith_shuffle(smith *s, int count, int64_t *values);

// --- values (smith_pool.c)
instruction *smith_fresh(smith *s, dtype t, int rank, const int64_t *dims);
// Null if there is no memory for it.
instruction *smith_constant(smith *s, const builder *b, dtype t, int rank, const int64_t *dims);
instruction *smith_scalar(smith *s, dtype t);
instruction *smith_any(smith *s, int classes);                        // of the pool, or fresh; null if no type is left
instruction *smith_any_ranked(smith *s, int classes, int rank);       // of at least that rank
instruction *smith_like(smith *s, dtype t, const instruction *like);  // same dims, type t
// A scalar computation of `count` (at most SMITH_MAX_RANK) parameters of type t: a few elementwise operations.
computation *smith_scalar_computation(smith *s, dtype t, int count);
// x op y of scalars for a reduction (add, multiply, maximum, minimum, and, or), and a value to start it from (may be
// null).
computation *smith_reducer(smith *s, dtype t, instruction **init);
bool smith_fits(const smith *s, int rank, const int64_t *dims);  // within the options' rank and elements

// Gives everything in a module that is whole a layout (smith_layouts.c).
void smith_layouts(smith *s, module *m);

// --- kinds
instruction *smith_unary(smith *s);  // smith_elementwise.c
instruction *smith_binary(smith *s);
instruction *smith_select(smith *s);
instruction *smith_clamp(smith *s);
instruction *smith_convert(smith *s);
instruction *smith_bitcast_convert(smith *s);
instruction *smith_bitcast_given(smith *s);
instruction *smith_reduce_precision(smith *s);
instruction *smith_map(smith *s);
instruction *smith_bitcast(smith *s);
instruction *smith_bitcast_of(smith *s, const builder *b, instruction *x);  // null if the options leave no dims

instruction *smith_broadcast(smith *s);  // smith_moves.c
instruction *smith_reshape(smith *s);
instruction *smith_transpose(smith *s);
instruction *smith_reverse(smith *s);
instruction *smith_slice(smith *s);
instruction *smith_pad(smith *s);
instruction *smith_concatenate(smith *s);
instruction *smith_dynamic_slice(smith *s);
instruction *smith_dynamic_update_slice(smith *s);
instruction *smith_gather(smith *s);
instruction *smith_scatter(smith *s);
instruction *smith_dynamic_size(smith *s);

instruction *smith_reduce(smith *s);  // smith_sums.c
instruction *smith_reduce_pair(smith *s);
instruction *smith_reduce_window(smith *s);
instruction *smith_dot(smith *s);
instruction *smith_convolution(smith *s);
instruction *smith_sort(smith *s);
instruction *smith_batch_norm(smith *s);

instruction *smith_fft(smith *s);  // smith_transforms.c
instruction *smith_cholesky(smith *s);

instruction *smith_call(smith *s);  // smith_control.c
instruction *smith_fusion(smith *s);
instruction *smith_while(smith *s);
instruction *smith_conditional(smith *s);
instruction *smith_tuples(smith *s);
instruction *smith_barrier(smith *s);

#endif
