// Open dims that the program's conditions make of others: `a + b`, `b*s`.
#ifndef HEDDLE_API_OPEN_DEFINITIONS_H_
#define HEDDLE_API_OPEN_DEFINITIONS_H_

#include "api/open_samples.h"
#include "stablehlo/import_options.h"

enum { OPEN_DEFINITIONS_MOST = 5 };

// A sum of products of what stands in other dims, of each factor * value + offset with that value.
typedef struct open_definition {
  int count;
  int dims[OPEN_DEFINITIONS_MOST];  // numbers of the dims
  int64_t factors[OPEN_DEFINITIONS_MOST], offsets[OPEN_DEFINITIONS_MOST];
  int degree;
  int64_t terms[PROGRAM_MOST_TERMS];  // of the values, as in program_sizes
} open_definition;

// The size that it makes of `sizes`, those of the dims in their order; the largest number where that is larger.
int64_t open_definition_size(const open_definition *d, const int64_t *sizes);

typedef VEC(import_condition) open_condition_list;

// The program's conditions where its open dims are `sizes`.
typedef struct open_conditions_reader {
  arena *arena;
  int dim_count;
  const int64_t *factors, *offsets;  // each dim is factor * value + offset
  void (*read)(void *context, const int64_t *sizes, open_condition_list *out);
  void *context;
} open_conditions_reader;

// Looks for a dim that equality `number` of the program's conditions says: *dim is defined by *out then. False where it
// says none, or one in a way that is no polynomial.
bool open_definition_find(const open_conditions_reader *reader, int number, int *dim, open_definition *out);

#endif
