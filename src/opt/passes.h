// All passes over HLO. Each is one file of the same name, whose opening says how; pipeline.c says in which order they
// run.
#ifndef HEDDLE_OPT_PASSES_H_
#define HEDDLE_OPT_PASSES_H_

#include "opt/pass.h"

// --- one form of everything

// What XLA's verifier takes in more than one form comes in the one that all else here knows.
extern const pass opt_form_normalization;
// XLA lets most operations take floats of several widths, and dots and convolutions floats and whole numbers; here
// converts make the types agree.
extern const pass opt_mixed_types_expander;
// Start indices of dynamic slices and updates that come as one vector become scalars.
extern const pass opt_dynamic_index_splitter;
// Arrays inside a module have the default layout, other layouts are transposes. HEDDLE_UNIMPLEMENTED for a bitcast from
// or to a tiled layout.
extern const pass opt_layout_normalization;

// --- operations that become others

// async-start (a call of its computation), copy-start and the collectives' starts, with their updates and dones. send
// and recv stay: their halves meet another program. What a start's tuple holds beside the result is made of constants.
extern const pass opt_async_expander;
// Collective-permutes that move slices (hlo/permute_slices.h) move arrays, between slices and updates.
extern const pass opt_permute_slices_expander;
// A collective whose groups all have one member, each device in one, becomes its operands; in a program of one device
// (replica_count times num_partitions of the module, 1 where it does not say) replica-id and partition-id become 0, and
// a permutation its operand or zeros. Groups that name processes there are not stay: running them is an error. Nothing
// changes where programs run in parallel from within.
extern const pass opt_collective_simplifier;
// Select-and-scatters of static shape, any window. Bodies are called: the call and map inliners follow. An element that
// several windows choose takes their values in the order of the windows.
extern const pass opt_select_and_scatter_expander;
// Scans whose operands, computation and results fit together become while loops; the others are left for whoever runs
// them to refuse. The loop calls the computation: the call inliner follows.
extern const pass opt_open_index_expander;
extern const pass opt_open_reduction_expander;
extern const pass opt_scan_expander;
// Calls of cuBLAS, cuDNN, cuSOLVER and CUB become the operations that they were, with the epilogues that were fused
// into them: the operands and the configuration say all of it. Calls that do not say enough stay.
extern const pass opt_gpu_call_expander;
// Custom calls between the whole of an array and the partitions' parts of it become slices and all-gathers.
// HEDDLE_INVALID, at the call, where sharding, shapes and the module's partitions do not fit.
extern const pass opt_tile_move_expander;
// Marks of placement and sharding become their operands, buffers without contents zeros, mhlo.* the operation of that
// name, approximate top-k a sort of which the beginning is taken. Calls that do not fit their target stay.
extern const pass opt_custom_call_expander;
// Calls and fusions, but for those that are to be kept, become the bodies of their computations (opt/call_inliner.h).
extern const pass opt_call_inliner;
// Reduce-windows of one operand whose windows end (or begin) at each element and reach over the whole dim, in one or
// more dims longer than 32. Sums, products, maxima and the like take O(n) steps, other computations O(n log n).
extern const pass opt_cumulative_scan;
// Maps whose bodies are elementwise operations and constants become these on whole arrays; a map over anything else
// (calls inside: run the call inliner first) stays.
extern const pass opt_map_inliner;
// batch-norm-training, -inference and -grad become reductions and arithmetic.
extern const pass opt_batch_norm_expander;
// All ragged dots of static shape become loops: one dot a group, whatever the sizes of the groups are.
extern const pass opt_ragged_dot_expander;
// Scaled dots whose scales divide the operands in blocks become dots of operands times their scales.
extern const pass opt_scaled_dot_expander;
// stochastic-convert of floats to floats and to integers of at least 8 bits, with the interpreter's results bit for
// bit.
extern const pass opt_stochastic_convert_expander;
// cholesky and triangular-solve become custom calls "heddle.cholesky" with {lower} and "heddle.triangular_solve" with
// {left_side, lower, unit_diagonal, transpose_a} (0, or 1: transposed, or 2: the adjoint). Operands, result and meaning
// are those of the operations.
extern const pass opt_linear_algebra_expander;
// Custom calls with side effects: "heddle.rng_uniform" and "heddle.rng_normal" of the two parameters, and
// "heddle.rng_get_and_update_state" with {delta}. What they give is what the interpreter gives for the operations: each
// number follows from the seed and from how many were drawn before.
extern const pass opt_rng_expander;

// --- sizes known at run time

// Folds get-dimension-size of static dims, set-dimension-size and dynamic-reshape by sizes that depend on constants
// only, and carries the new shapes to all users within the computation (run the call inliner first). Dims whose size
// only the arguments decide stay dynamic.
extern const pass opt_dynamic_shapes;
// Computations in which everything that a dynamic array flows through can be done at the bound: elementwise operations,
// transposes, broadcasts, concatenations and reversals along other dims, dots, reductions of which the initial value
// changes nothing, gathers and scatters of a number of windows that is dynamic, SliceToDynamic and PadToStatic. Others,
// and those that take dynamic arrays, stay as they are; so do those that give them, but for the entry
// (opt/dynamic_padder.h).
extern const pass opt_dynamic_padder;

// --- the forms that code generation takes

// Canonical: indices [n, k], index_vector_dim=1, start_index_map={0,...,k-1}, offset_dims={1,...,r}, no collapsed and
// no batching dims. Transposes and reshapes around it do the rest.
extern const pass opt_gather_simplifier;
// Canonical: indices [n, k], index_vector_dim=1, scatter_dims_to_operand_dims={0,...,k-1},
// update_window_dims={1,...,r}, no inserted and no batching dims. Transposes and reshapes around it do the rest.
extern const pass opt_scatter_simplifier;
// logistic -> 1 / (1 + exp(-x)).
extern const pass opt_logistic_expander;
// The error function of f32 and narrower types as a rational function.
extern const pass opt_erf_expander;
// Cube roots by exponential and logarithm, one step of Newton behind them.
extern const pass opt_cbrt_expander;
// Every dot of the module whose operands have no dims of their own, but for those of size 1, becomes a reduction, in
// whose order code generation sums; other dots stay.
extern const pass opt_dot_sums;
// Parameters and results of the computations that calls, conditionals and while loops run. The entry keeps its
// signature, as do computations that other operations call too.
extern const pass opt_tuple_flattening;
// Elements of tuples made here are used directly, and a tuple of all of another's elements is it.
extern const pass opt_tuple_simplifier;
// A loop that never runs becomes its operand, one that runs once its body, one that runs a few times and is short that
// many bodies. Of the others: users of a leaf that never changes use what it starts as; constants among these are
// written inside; leaves that nothing depends on go. Works on loops whose state is a tuple.
extern const pass opt_while_loop_simplifier;
// A conditional whose branch is known (a constant predicate or index, one branch for all cases) becomes that branch's
// body; one of small branches without effects becomes all their bodies and selects. Of the others, branches no longer
// take elements of their operand or give results that nobody uses.
extern const pass opt_conditional_simplifier;
// Arrays without elements become constants, and what they would have given is written down.
extern const pass opt_zero_sized;

// --- fewer and cheaper operations

// Identities that hold exactly for every value (opt/algebraic_rules.h).
extern const pass opt_algebraic_simplifier;
// Operations on constants become what the interpreter computes.
extern const pass opt_constant_folding;
// Common subexpressions: what is computed twice is computed once.
extern const pass opt_cse;
// Moves operations without effects out of bodies whose operands never change, where their result is not much larger
// than what it is made of. The loop gets a leaf for each. Leaves that this makes useless go.
extern const pass opt_while_loop_invariant_code_motion;
// opt-barrier and domain become their operand; so does add-dependency, whose users then wait for what made the token by
// control edges.
extern const pass opt_barrier_expander;
// Sorts of which only few of the first or last elements are read become top-k.
extern const pass opt_top_k_rewriter;
// Elementwise operations on overlapping slices are done once on the whole arrays.
extern const pass opt_slice_sinker;
// Reshapes and transposes move towards results, past elementwise operations.
extern const pass opt_reshape_mover;
// Convolutions in the forms that libraries have.
extern const pass opt_convolution_canonicalizer;
// Dots as the batched matrix products that libraries have.
extern const pass opt_dot_canonicalizer;

// --- the end

// Instructions that the root does not need, entry parameters and side effects apart, then computations that nobody
// calls. Parameters of called computations stay, since callers pass them.
extern const pass opt_dead_code;
// Moves that leave memory as it is become bitcasts.
extern const pass opt_bitcast_forming;

#endif
