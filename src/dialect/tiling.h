// MLIR's tiling of structured operations, which has no C API: thin calls, no decisions.
#ifndef HEDDLE_DIALECT_TILING_H_
#define HEDDLE_DIALECT_TILING_H_

#include <mlir-c/AffineMap.h>
#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILING_MAX_LOOPS = 24 };

// How many loops a linalg operation has, with their trip counts (-1: unknown while compiling) and which are reductions;
// -1 if it is none, or has more than TILING_MAX_LOOPS.
int tiling_loops(MlirOperation op, int64_t trip_counts[TILING_MAX_LOOPS], bool is_reduction[TILING_MAX_LOOPS]);

bool tiling_is_structured(MlirOperation op);  // whether tiling_loops knows its loops

// The map from an operation's loops to the elements of its operand (inputs, then outputs); null if it is none of
// linalg.
MlirAffineMap tiling_map(MlirOperation op, int operand);
// The operand whose value the result replaces.
int tiling_output(MlirOperation op, int result);

typedef struct tiling_request {
  int count;
  const int64_t *sizes;  // by loop; 0: not tiled
  bool fuses;            // its producers' tiles are computed within the loops
  bool is_forall;        // one scf.forall in place of scf.for
  const char *kept;      // producers with this attribute stay where they are; null: none
} tiling_request;

// Tiles an operation on tensors. What used it uses the loops' results; the operation itself is erased. Returns the
// tiled one, and the innermost loop in *loop (null if none was needed); null if the operation cannot be tiled, with a
// diagnostic.
MlirOperation tiling_tile(MlirOperation op, const tiling_request *request, MlirOperation *loop);

// Fuses elementwise operations, broadcasts and moves with their only reader where `may` agrees (linalg's elementwise
// fusion). False, with a diagnostic, if that does not end.
bool tiling_fuse_elementwise(MlirOperation root, bool (*may)(MlirOperation producer, MlirOperation consumer));

// Computes a tensor.extract_slice of an operation's result by a tile of that operation, where the slice stands; what
// used the slice uses that. Returns the tile's operation; null, and nothing changes, if the slice is of no operation
// that has tiles.
MlirOperation tiling_fuse(MlirOperation slice);

// Replaces a structured operation of static shape by reads, arithmetic and writes of vectors. False, and the operation
// stays, if there is no such form.
bool tiling_vectorize(MlirOperation op);

// Splits off the last, partial turn of an scf.for, so that all others have full tiles. False if it has none.
bool tiling_peel(MlirOperation loop);

#ifdef __cplusplus
}
#endif
#endif
