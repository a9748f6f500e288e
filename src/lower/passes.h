// Every pass of this folder, for the table in pass.c and the pipelines in pipeline.c.
#ifndef HEDDLE_LOWER_PASSES_H_
#define HEDDLE_LOWER_PASSES_H_

#include "lower/pass.h"

// MLIR's own (upstream.c).
extern const lower_pass lower_canonicalize;
extern const lower_pass lower_cse;
extern const lower_pass lower_licm;
extern const lower_pass lower_symbol_dce;
extern const lower_pass lower_affine;
extern const lower_pass lower_complex_to_standard;
extern const lower_pass lower_scf_to_cf;
extern const lower_pass lower_reconcile_casts;
extern const lower_pass lower_erase_dead_functions;

// Ours, in the order in which they first run.
extern const lower_pass lower_xla_gpu_to_scf;
extern const lower_pass lower_inliner;
extern const lower_pass lower_loops_to_scf;
extern const lower_pass lower_propagate_slice_indices;
extern const lower_pass lower_unswitch_loops;
extern const lower_pass lower_flatten_tensors;
extern const lower_pass lower_vectorize_loads_stores;
extern const lower_pass lower_optimize_loops;
extern const lower_pass lower_convert_pure_call;
extern const lower_pass lower_merge_pointers;
extern const lower_pass lower_cpu_loops;
extern const lower_pass lower_peel_loops;
extern const lower_pass lower_vectorize_loops;
extern const lower_pass lower_cpu_entry;
extern const lower_pass lower_tensors;
extern const lower_pass lower_simplify_arith;
extern const lower_pass lower_simplify_affine;
extern const lower_pass lower_widen_floats;
extern const lower_pass lower_expand_math;
extern const lower_pass lower_round_in_place;
extern const lower_pass lower_expand_float_ops;
extern const lower_pass lower_to_llvm;

// Groups of passes that emitters_opt runs under one name ("xla-gpu-test-optimize"); null if there is none of that name.
const lower_pass *const *lower_group(target_kind target, str name);
// Names of the groups; ends with null.
extern const char *const lower_groups[];

#endif
