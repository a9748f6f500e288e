// Describes what a caller has to know of a program: what it takes and gives, on how many devices, and what it is made
// of.
#ifndef HEDDLE_TOOLS_SIGNATURE_H_
#define HEDDLE_TOOLS_SIGNATURE_H_

#include "lhlo/lhlo.h"
#include "stablehlo/functions.h"

// Where an array lies: the parameter's number (0 for results), and the way down through tuples.
typedef struct signature_index {
  int number;
  int depth;
  const int *path;
} signature_index;

typedef struct signature_array {
  signature_index index;
  str name;            // a parameter's; of a result what JAX calls it; empty if nothing is said
  const shape *shape;  // with its layout; open dims are -1
  int64_t bytes;       // packed; -1 if dims are open
  int partner;         // the result that takes over the parameter's memory, or the other way around; else -1
  str sharding;        // as it was written; empty if nothing is said
} signature_array;

typedef VEC(signature_array) signature_arrays;

typedef struct name_count {
  str name;
  int64_t count;
} name_count;

typedef struct name_counts {
  VEC(name_count) rows;
  str_map numbers;  // of rows, plus one
} name_counts;

// Counts one more of that name, which must outlive the counts.
void name_counts_add(arena *a, name_counts *counts, str name);

// What programs are made of, as far as their users ask.
typedef enum signature_part {
  SIGNATURE_OPERATIONS,    // all of them, by opcode
  SIGNATURE_LIBRARIES,     // those that libraries have
  SIGNATURE_CUSTOM_CALLS,  // by target
  SIGNATURE_COLLECTIVES,
  SIGNATURE_RANDOM,
  SIGNATURE_TRANSFERS,  // from and to the host, and between devices
  SIGNATURE_DYNAMIC,    // whose results have sizes that only a run knows
  SIGNATURE_PART_COUNT
} signature_part;

typedef struct signature {
  str module, entry;
  int replicas, partitions;
  signature_arrays parameters, results;
  int parameter_count;  // of which tuples have several arrays or none
  bool is_open;         // parameters have dims (`?`) that only arguments decide
  bool is_made_up;      // what the program is made of was found with a made-up size for each of these
  bool has_parts;       // what follows is known
  str symbols;          // what jax.export calls open dims: "args[0].shape = (b, 4)"; empty if it does not say
  name_counts parts[SIGNATURE_PART_COUNT];
  int64_t computations, constants, constant_bytes;
} signature;

// Of a module. HEDDLE_INVALID for aliases among its attributes that cannot be read.
heddle_status signature_of_module(arena *a, const module *m, signature *out);

// Of a StableHLO function, whose types have open dims: names and shapes as declared; the rest as far as the program can
// be made with made-up sizes.
heddle_status signature_of_open(arena *a, const ir_module *m, const ir_operation *function, signature *out);

// Adds what a StableHLO function says and a module made of it has lost: names of results, shardings.
void signature_add_notes(arena *a, const ir_operation *function, signature *s);

// Of a program written as LHLO.
heddle_status signature_of_lhlo(arena *a, const lhlo_program *p, signature *out);

// -1 if one of the arrays has open dims.
int64_t signature_bytes(const signature_arrays *arrays);

#endif
