// Every pass of this folder, for the table in pass.c and the pipelines in pipeline.c.
#ifndef HEDDLE_LOWER_PASSES_H_
#define HEDDLE_LOWER_PASSES_H_

#include "lower/pass.h"

// --- MLIR's own (upstream.c, hashed_cse.c)
// Folds and canonicalizes operations to a fixpoint; bitcasts of bitcasts are joined first, which MLIR 19 gets wrong.
extern const pass lower_canonicalize;
// Merges equal operations without side effects (hashed_cse.c: without comparing every loop with every other).
extern const pass lower_cse;
// Hoists what does not change out of loops.
extern const pass lower_licm;
// Erases private functions nobody names.
extern const pass lower_symbol_dce;
// affine.apply and friends become arith.
extern const pass lower_affine;
// Complex arithmetic becomes that of pairs of floats.
extern const pass lower_complex_to_standard;
// Structured control flow becomes branches.
extern const pass lower_scf_to_cf;
// Erases casts that cancel out.
extern const pass lower_reconcile_casts;
// Erases functions the entry does not reach.
extern const pass lower_erase_dead_functions;

// --- ours, in the order in which they first run
// Predicated accesses, warp reductions and spread-out vectors become scf, gpu.shuffle and loops.
extern const pass lower_xla_gpu_to_scf;
// Inlines pure calls where that does not multiply code.
extern const pass lower_inliner;
// Loops over indexing maps become scf.for with a check of the domain inside.
extern const pass lower_loops_to_scf;
// Which buffer slice an entry's argument is, its alignment and invariance are told to the functions it is passed to.
extern const pass lower_propagate_slice_indices;
// A loop that is one branch on an unchanging condition becomes a branch around the loop.
extern const pass lower_unswitch_loops;
// Every tensor gets one dimension, in memory order.
extern const pass lower_flatten_tensors;
// Accesses of 2, 4 or 8 neighbouring elements become vector transfers around the loop.
extern const pass lower_vectorize_loads_stores;
// Unrolls loops by the estimated cost of their bodies.
extern const pass lower_optimize_loops;
// Pure calls become func.call.
extern const pass lower_convert_pure_call;
// Pointer arguments with one slice_index become one argument, and what is left noalias.
extern const pass lower_merge_pointers;
// An xla_gpu.loop over one range variable becomes an scf.for with the constraint in its bound.
extern const pass lower_cpu_loops;
// Complex numbers and arrays of them become pairs of floats and arrays of pairs.
extern const pass lower_split_complex;
// Loops over open sizes end where the table of sizes says that the kernel is given.
extern const pass lower_open_bounds;
// The iterations in which a loop's checks hold become a loop without them.
extern const pass lower_peel_loops;
// A loop over a tile's elements becomes a loop over explicit vectors and a scalar remainder.
extern const pass lower_vectorize_loops;
extern const pass lower_forward_masked;
// The entry becomes void kernel(void *const *buffers, int64_t begin, int64_t end).
extern const pass lower_cpu_entry;
// What addresses have in common is computed once, where it is known.
extern const pass lower_addresses;
// Tensor accesses become loads and stores, tensor arguments pointers.
extern const pass lower_tensors;
// Comparisons, minima, maxima and divisions that ranges decide; tighter bounds of maps.
extern const pass lower_simplify_arith;
// Index maps become integer arithmetic, unsigned where ranges allow.
extern const pass lower_simplify_affine;
// Arithmetic on bf16, f16 and f8 is done in f32.
extern const pass lower_widen_floats;
// Quotients and remainders of integer vectors become divisions of floats.
extern const pass lower_expand_division;
// tanh, exp, log, … become inline arithmetic, or library calls (rare ones of f64, libdevice).
extern const pass lower_expand_math;
// f32 to bf16 and back becomes a rounding of the f32's bits.
extern const pass lower_round_in_place;
// Conversions of bf16, f16 and f8 become integer arithmetic where the target lacks them.
extern const pass lower_expand_float_ops;
// arith, math, vector, complex, cf and func become the LLVM dialect.
extern const pass lower_to_llvm;
// Exchanges between threads get out of branches that only some threads take.
extern const pass lower_split_exchanges;
// What is left becomes a module of the SPIR-V dialect, with an entry that Vulkan takes.
extern const pass lower_to_spirv;

// Groups of passes that emitters_opt runs under one name ("xla-gpu-test-optimize"); null if there is none of that name.
const pass *const *lower_group(const target_description *target, str name);
// Names of the groups; ends with null.
extern const char *const lower_groups[];

#endif
