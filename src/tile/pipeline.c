// Which pass of the road through tiles follows which.
#include "lower/passes.h"

#include "tile/passes.h"

// From a region to loops, vectors of one dim, and memory of numbers that arithmetic takes.
#define TO_VECTORS                                                                                                     \
  &tile_hlo_to_linalg, &tile_stream_softmax, &tile_read_panels, &tile_fuse_tensors, &tile_by_tile, &tile_pack_streams, \
      &tile_configure, &tile_tile_and_fuse, &tile_to_buffers, &tile_verify_memory, &tile_vectorize, &tile_workitems,   \
      &tile_distribute, &tile_to_loops, &tile_split_vectors, &tile_narrow_memory

const pass *const tile_passes[] = {
    TO_VECTORS,         &tile_addresses, &tile_memory_to_llvm,   &tile_on_buffers, &tile_promote,  &tile_fills,
    &tile_promote_sums, &tile_subgroups, &tile_number_workitems, &tile_deal,       &tile_pointers, 0};

const pass *tile_pass_find(str name) { return pass_find(tile_passes, name); }

// Narrow floats are widened once they are vectors. From there on numbers and control flow take the road of all kernels.
static const pass *const cpu[] = {
    TO_VECTORS,
    &tile_addresses,
    &lower_widen_floats,
    &lower_canonicalize,
    &lower_cse,
    &lower_complex_to_standard,
    &lower_expand_division,
    &lower_expand_math,
    &lower_round_in_place,
    &lower_expand_float_ops,
    &lower_cpu_entry,
    &lower_scf_to_cf,
    &tile_memory_to_llvm,
    &lower_to_llvm,
    &lower_reconcile_casts,
    &lower_canonicalize,
    &lower_cse,
    0,  // ends the list
};

// On a grid of workgroups no vectors are made: workitems are the lanes.
#define TO_WORKITEMS                                                                                                 \
  &tile_hlo_to_linalg, &tile_stream_softmax, &tile_fuse_tensors, &tile_by_tile, &tile_pack_streams, &tile_configure, \
      &tile_tile_and_fuse, &tile_to_buffers, &tile_verify_memory, &tile_fills, &tile_promote_sums, &tile_promote,    \
      &tile_subgroups, &tile_number_workitems, &tile_deal, &lower_licm, &tile_pointers, &lower_canonicalize,         \
      &lower_cse, &lower_licm, &lower_complex_to_standard, &lower_widen_floats, &lower_expand_math,                  \
      &lower_expand_float_ops

static const pass *const spirv[] = {TO_WORKITEMS, &lower_canonicalize, &lower_cse, &lower_to_spirv, 0};

static const pass *const grid[] = {
    TO_WORKITEMS, &lower_scf_to_cf, &lower_to_llvm, &lower_reconcile_casts, &lower_canonicalize, &lower_cse, 0,
};

const pass *const *tile_pipeline(const target_description *target) {
  if (target->has_spirv) return spirv;
  return target->has_grid ? grid : cpu;
}

void tile_load_dialects(MlirContext context) {
  static const char *const dialects[] = {"hal", "iree", "mhlo", "linalg", "bufferization", "memref"};
  for (size_t k = 0; k < sizeof dialects / sizeof *dialects; k++)
    mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString(dialects[k]));
}
