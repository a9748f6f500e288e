// LHLO: the program after scheduling and buffer assignment. What runs in which order on which bytes.
//
// It is what kernels are emitted from and what thunks are made of. It prints as MLIR (`lmhlo` operations over views of
// named allocations) and parses back, so that a program can be written or changed by hand at this level.
#ifndef HEDDLE_LHLO_LHLO_H_
#define HEDDLE_LHLO_LHLO_H_

#include "fuse/library.h"
#include "kernel/kernel.h"
#include "lhlo/dynamic_results.h"

// Of all of a program's memory, so that sums of sizes are numbers.
#define LHLO_MOST_BYTES ((int64_t)1 << 60)

// The custom call that gives memory without writing to it.
#define LHLO_ALLOCATE_BUFFER "AllocateBuffer"

typedef enum lhlo_allocation_kind {
  LHLO_PARAMETER,
  LHLO_RESULT,
  LHLO_CONSTANT,
  LHLO_TEMPORARY,  // at most one: the arena
} lhlo_allocation_kind;

typedef struct lhlo_allocation {
  lhlo_allocation_kind kind;
  const char *name;       // "p0", "r1", "c2", "temp"
  int number;             // of the parameter leaf, result leaf, or constant
  int64_t bytes;          // dense, sub-byte integers packed
  const shape *shape;     // with its declared layout; null for the arena
  const literal *value;   // constants
  int donated_parameter;  // results: the parameter whose memory it takes over, else -1
} lhlo_allocation;

// A value in memory. The shape has the default layout, but for whole parameters and results.
typedef struct lhlo_slice {
  int allocation;
  int64_t offset;  // bytes; a multiple of 64 unless it lies inside another value
  const shape *shape;
  bool is_temporary;  // also where it lies in a result's memory that is not written yet
} lhlo_slice;

typedef enum lhlo_kind {
  LHLO_FUSION,  // a kernel
  LHLO_LIBRARY,
  LHLO_COPY,         // operands[0] to results[0], same bytes
  LHLO_WHILE,        // bodies: condition, body; control: the condition's pred
  LHLO_CONDITIONAL,  // bodies: branches; control: pred or s32
  LHLO_CALL,         // bodies: [0]
} lhlo_kind;

typedef struct lhlo_op lhlo_op;

typedef struct lhlo_body {
  VEC(lhlo_op *) ops;  // in the order in which they run
} lhlo_body;

struct lhlo_op {
  lhlo_kind kind;
  const instruction *source;  // for names, locations and attributes; null for copies that buffer assignment adds
  int operand_count;          // leaves
  lhlo_slice *operands;
  int result_count;  // leaves
  lhlo_slice *results;
  const kernel_plan *kernel;    // LHLO_FUSION; operations with equal bodies and equal aliasing share one
  const library_call *library;  // LHLO_LIBRARY
  int body_count;
  lhlo_body *bodies;
  lhlo_slice control;  // LHLO_WHILE, LHLO_CONDITIONAL
  int64_t trip_count;  // LHLO_WHILE whose condition need not be asked; else -1
  bool is_profiled;    // it stands between profile.start and profile.end (lhlo/profile.h)
  // Bytes (lhlo/footprint.h): of temporaries that live when it runs; of all else that it reads and writes; and of all
  // that it reads and writes. Behind lhlo_parse nobody knows the first.
  int64_t live_bytes, resident_bytes, touched_bytes;
};

typedef struct lhlo_program {
  const module *module;  // the operations' sources point into it
  target_description target;
  int parameter_count;  // leaves of the entry's parameters, in order
  const shape **parameters;
  int result_count;  // leaves of the entry's result, in order
  const shape **results;
  dynamic_results dynamic;  // which results have sizes, and how many are not sizes themselves
  int allocation_count;
  lhlo_allocation *allocations;
  int kernel_count;  // distinct ones, named main, main_1, …
  const kernel_plan **kernels;
  int device_count;               // that run the program together, each with memory of its own
  int partition_count;            // of one replica; divides device_count
  int64_t temporary_bytes;        // of the arena
  int64_t least_temporary_bytes;  // that the order of operations needs at one time; unknown (0) behind lhlo_parse
  int64_t peak_bytes;             // parameters, results and arena; constants apart
  int64_t memory_limit;           // that its footprint was made to fit; 0: none
  int64_t footprint_bytes;        // most that live and are resident at one step; unknown (0) behind lhlo_parse
  int64_t step_bytes;             // most that one step touches; unknown (0) behind lhlo_parse
  lhlo_body entry;
} lhlo_program;

// Of parameters, results and the arena; a result that takes over a parameter's memory counts once.
int64_t lhlo_peak_bytes(const lhlo_program *p);

// Whether a file's text is LHLO, by looking.
bool lhlo_is(str source);

// As MLIR text; lhlo_parse reads it. Errors have file, line and column.
heddle_status lhlo_print(text *out, const lhlo_program *p);
heddle_status lhlo_parse(arena *a, str source, const char *file, const target_description *target, lhlo_program **out);
// With another limit to the bytes that constants may take which repeat one element: their text is no measure of them.
heddle_status lhlo_parse_limited(arena *a, str source, const char *file, const target_description *target,
                                 int64_t most_expanded, lhlo_program **out);

#endif
