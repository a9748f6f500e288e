// Which pass follows which, and why. The one place that says so.
#include "lower/passes.h"

const pass *const lower_passes[] = {
    // MLIR's own
    &lower_canonicalize,
    &lower_cse,
    &lower_licm,
    &lower_symbol_dce,
    &lower_erase_dead_functions,
    &lower_affine,
    &lower_complex_to_standard,
    &lower_scf_to_cf,
    &lower_reconcile_casts,
    // ours
    &lower_xla_gpu_to_scf,
    &lower_inliner,
    &lower_loops_to_scf,
    &lower_propagate_slice_indices,
    &lower_unswitch_loops,
    &lower_flatten_tensors,
    &lower_vectorize_loads_stores,
    &lower_optimize_loops,
    &lower_convert_pure_call,
    &lower_merge_pointers,
    &lower_cpu_loops,
    &lower_split_complex,
    &lower_open_bounds,
    &lower_peel_loops,
    &lower_vectorize_loops,
    &lower_forward_masked,
    &lower_cpu_entry,
    &lower_addresses,
    &lower_tensors,
    &lower_simplify_arith,
    &lower_simplify_affine,
    &lower_widen_floats,
    &lower_expand_division,
    &lower_expand_math,
    &lower_round_in_place,
    &lower_expand_float_ops,
    &lower_to_llvm,
    &lower_split_exchanges,
    &lower_to_spirv,
    0,
};

// 1. Small functions and simple index arithmetic first: inlining and everything after it works on larger pieces.
#define OPTIMIZE &lower_canonicalize, &lower_cse, &lower_simplify_arith, &lower_erase_dead_functions, &lower_cse

// 2. One function as far as that does not multiply code. Shuffles and spread-out vectors become calls and loops before,
// so that their functions are inlined too.
#define INLINE &lower_xla_gpu_to_scf, &lower_inliner, &lower_canonicalize, &lower_cse

// 3. Loops over maps become plain loops; simplify-arith drops the checks that ranges prove, which leaves bodies without
// branches. Callees learn what the entry's arguments promise while arguments are still passed straight through.
// Hoisting moves checks out of the loops they do not depend on, unswitching what they guard.
// Flattening comes after hoisting: composed with the loops' maps, all of a linear index depends on the innermost
// variable. Canonicalizing after it composes the linear index into one map, which is what vectorization reads.
#define FLATTEN                                                                                                 \
  &lower_canonicalize, &lower_cse, &lower_simplify_arith, &lower_canonicalize, &lower_propagate_slice_indices,  \
      &lower_licm, &lower_unswitch_loops, &lower_licm, &lower_flatten_tensors, &lower_cse, &lower_canonicalize, \
      &lower_cse, &lower_licm

#define GPU_LOOPS                                                                                                      \
  &lower_loops_to_scf, FLATTEN, &lower_vectorize_loads_stores, &lower_canonicalize, &lower_cse, &lower_optimize_loops, \
      &lower_canonicalize, &lower_cse

// Vulkan's threads exchange values through memory, all of them together.
#define SPIRV_LOOPS                                                                                         \
  &lower_loops_to_scf, &lower_split_exchanges, FLATTEN, &lower_vectorize_loads_stores, &lower_canonicalize, \
      &lower_cse, &lower_optimize_loops, &lower_canonicalize, &lower_cse

// On the CPU a loop's constraint goes into its bound, and narrow floats are widened before the vectorizer chooses its
// width: it counts the bits of what is computed. Peeling reads composed maps; what it decides the canonicalization
// before the vectorizer folds. Complex numbers are pairs of floats for all of them.
#define CPU_LOOPS                                                                                              \
  &lower_cpu_loops, &lower_loops_to_scf, &lower_open_bounds, FLATTEN, &lower_split_complex, &lower_peel_loops, \
      &lower_widen_floats, &lower_canonicalize, &lower_vectorize_loops, &lower_canonicalize, &lower_cse,       \
      &lower_forward_masked

// 4. Tensors become pointers, index maps arithmetic. Until here calls are pure and tensors are values, so everything
// could still be merged, hoisted and erased. Licm runs on the expanded arithmetic: simplify-affine adds loop-variant
// terms last.
#define TO_MEMORY                                                                                                   \
  &lower_convert_pure_call, &lower_tensors, &lower_complex_to_standard, &lower_merge_pointers, &lower_canonicalize, \
      &lower_cse, &lower_simplify_arith, &lower_canonicalize, &lower_simplify_affine, &lower_affine, &lower_licm,   \
      &lower_symbol_dce, &lower_cse

// 5. Numbers become what the machine has, then control flow branches, then LLVM.
#define TO_LLVM &lower_scf_to_cf, &lower_to_llvm, &lower_reconcile_casts, &lower_canonicalize, &lower_cse

#define GPU_TO_LLVM TO_MEMORY, &lower_widen_floats, &lower_expand_math, &lower_expand_float_ops, TO_LLVM
#define CPU_TO_LLVM                                                                               \
  TO_MEMORY, &lower_addresses, &lower_expand_division, &lower_expand_math, &lower_round_in_place, \
      &lower_expand_float_ops, &lower_cpu_entry, TO_LLVM

// SPIR-V keeps control flow as it is.
#define GPU_TO_SPIRV                                                                                            \
  TO_MEMORY, &lower_widen_floats, &lower_expand_math, &lower_expand_float_ops, &lower_canonicalize, &lower_cse, \
      &lower_to_spirv

static const pass *const optimize[] = {OPTIMIZE, 0};
static const pass *const gpu_loops[] = {INLINE, GPU_LOOPS, 0};
static const pass *const spirv_loops[] = {INLINE, SPIRV_LOOPS, 0};
static const pass *const cpu_loops[] = {INLINE, CPU_LOOPS, 0};
static const pass *const gpu_to_llvm[] = {GPU_TO_LLVM, 0};
static const pass *const gpu_to_spirv[] = {GPU_TO_SPIRV, 0};
static const pass *const cpu_to_llvm[] = {CPU_TO_LLVM, 0};
static const pass *const gpu[] = {OPTIMIZE, INLINE, GPU_LOOPS, GPU_TO_LLVM, 0};
static const pass *const spirv[] = {OPTIMIZE, INLINE, SPIRV_LOOPS, GPU_TO_SPIRV, 0};
static const pass *const cpu[] = {OPTIMIZE, INLINE, CPU_LOOPS, CPU_TO_LLVM, 0};

const pass *const *lower_pipeline(const target_description *target) {
  if (target->has_spirv) return spirv;
  return target->has_grid ? gpu : cpu;
}

const char *const lower_groups[] = {"xla-gpu-test-optimize", "xla-gpu-test-transform-loops", "xla-gpu-test-to-llvm", 0};

const pass *const *lower_group(const target_description *target, str name) {
  if (str_is(name, lower_groups[0])) return optimize;
  if (str_is(name, lower_groups[1]) && target->has_spirv) return spirv_loops;
  if (str_is(name, lower_groups[1])) return target->has_grid ? gpu_loops : cpu_loops;
  if (str_is(name, lower_groups[2]) && target->has_spirv) return gpu_to_spirv;
  if (str_is(name, lower_groups[2])) return target->has_grid ? gpu_to_llvm : cpu_to_llvm;
  return 0;
}
