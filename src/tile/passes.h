// Every pass of this folder, in the order in which a dispatch region meets them. The units are MLIR modules, what they
// are given is a lower_context (lower/pass.h).
#ifndef HEDDLE_TILE_PASSES_H_
#define HEDDLE_TILE_PASSES_H_

#include "lower/pass.h"

// Loads the dialects that these passes make operations of; contexts for other kernels do without.
void tile_load_dialects(MlirContext context);

// Attribute of a function: none of its loops over workgroups reads what another one writes.
#define TILE_INDEPENDENT "xla.independent"

// Operations of MHLO become linalg on tensors.
extern const pass tile_hlo_to_linalg;
// Products with a softmax take what they sum over block by block.
extern const pass tile_stream_softmax;
// What lies in panels for a product is unpacked from them.
extern const pass tile_read_panels;
// Elementwise operations, broadcasts and moves become one operation with whoever reads them.
extern const pass tile_fuse_tensors;
// Padded, joined, cut and turned arrays are made for the tile that reads them.
extern const pass tile_by_tile;
// What products read in the loops of those with a softmax lies as their vectors want it.
extern const pass tile_pack_streams;

// Roots are chosen, and the sizes of their tiles.
extern const pass tile_configure;
// Roots become loops over tiles, what they read is computed tile by tile.
extern const pass tile_tile_and_fuse;
// Tensors become the memory of the interface's bindings.
extern const pass tile_to_buffers;
// That no other memory is needed is proved.
extern const pass tile_verify_memory;
// Tiles of registers become arithmetic on vectors.
extern const pass tile_vectorize;

// Operations on memory become loops over tiles, for regions that come on buffers.
extern const pass tile_on_buffers;
// What a workgroup reads is copied to its own memory first.
extern const pass tile_promote;
// What a workgroup keeps in registers is cut into a tile for each subgroup.
extern const pass tile_subgroups;
// What workitems do becomes loops.
extern const pass tile_workitems;
// Workitems and workgroups in several dims get one number each.
extern const pass tile_number_workitems;

// Whole arrays that workgroups' sums begin with are filled by these.
extern const pass tile_fills;
// What a workgroup sums up gets a buffer of its own.
extern const pass tile_promote_sums;
// A region becomes what one workitem does.
extern const pass tile_deal;
// What is left of memory becomes pointers of the LLVM dialect.
extern const pass tile_pointers;

// A region becomes a kernel: pointers and the number of a tile.
extern const pass tile_distribute;
// What is left of linalg becomes loops, rows of vectors single vectors, indices arithmetic.
extern const pass tile_to_loops;
// Vectors of several dims become rows.
extern const pass tile_split_vectors;
// Accesses to floats of 16 bits become accesses to integers.
extern const pass tile_narrow_memory;
// Accesses to memory become loads and stores, whose addresses share what is equal in them.
extern const pass tile_addresses;
// Memory becomes pointers of the LLVM dialect.
extern const pass tile_memory_to_llvm;

// From a dispatch region to the LLVM dialect of a CPU, or to what a device's code is made of; ends with null.
const pass *const *tile_pipeline(const target_description *target);

// All of them, for emitters_opt; ends with null.
extern const pass *const tile_passes[];
const pass *tile_pass_find(str name);

#endif
