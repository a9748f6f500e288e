// The options of reading a program, in whatever format it is written.
#ifndef HEDDLE_STABLEHLO_IMPORT_OPTIONS_H_
#define HEDDLE_STABLEHLO_IMPORT_OPTIONS_H_

#include "base/vec.h"
#include "hlo/module.h"

// Gives the argument for entry parameter `number`, declared with shape `declared` (`?` dims are -1), or null: the
// parameter is then taken as declared.
typedef heddle_status (*import_argument_fn)(void *context, arena *a, int number, const shape *declared, literal **out);

// A condition on sizes that the program asserts, with the values that its sides have.
typedef enum import_condition_kind {
  IMPORT_EQUAL,      // left = right
  IMPORT_AT_LEAST,   // left >= right
  IMPORT_DIVISIBLE,  // right divides left
  IMPORT_UNREAD,     // of none of these forms; left: whether it holds
} import_condition_kind;

typedef struct import_condition {
  import_condition_kind kind;
  int64_t left, right;
  str message;
  source_location where;
} import_condition;

// What makes one integer of two such that no polynomial says it.
typedef enum import_derived_kind {
  IMPORT_QUOTIENT,   // left / right, towards 0
  IMPORT_REMAINDER,  // of that
  IMPORT_MODULO,     // left - right * floor(left / right), however it is spelled
  IMPORT_LARGER,
  IMPORT_SMALLER,
} import_derived_kind;

// What shapes are to be made of instead of `value`, which it is.
typedef int64_t (*import_derive_fn)(void *context, import_derived_kind kind, int64_t left, int64_t right,
                                    int64_t value);

// For programs that are read for sizes that stand in for open ones.
typedef struct import_open_sizes {
  int64_t
      from;  // sizes from here on: where the program asks for one as a value, it is heddle.open_size (a custom call)
  VEC(import_condition) conditions;  // filled in, instead of being decided
  // Filled in: what says a shape takes the larger or smaller of an open size and something else, or asks which it is,
  // so that it would be another for small sizes.
  bool has_kinks;
  // Asked for each element of a few integers that operations of these kinds give, if they are known while the program
  // is read, whatever they depend on; in the same order whatever the sizes are. null: what is larger or smaller is a
  // kink.
  import_derive_fn derive;
  void *derive_context;
} import_open_sizes;

// Gives the shape to take for entry parameter `number`, or null: as declared. Open dims of `declared` are -1, or
// dynamic with a bound.
typedef heddle_status (*import_shape_fn)(void *context, arena *a, int number, const shape *declared, const shape **out);

typedef struct import_options {
  // Argument shapes for entry parameters with open dims (`?`, `<=N`), by parameter; null or a null entry: as declared.
  const shape *const *argument_shapes;
  // Argument values, by parameter; may be null, as may be an entry. Needed only where a shape depends on a value; such
  // a parameter keeps its place, and the program is right for this value only.
  literal *const *arguments;
  int argument_count;
  // Asked for all arguments when a program with `?` dims comes without the two above; may be null.
  import_argument_fn argument;
  void *argument_context;
  // Asked instead where shapes say all, and no values are there; may be null.
  import_shape_fn shape;
  void *shape_context;
  import_open_sizes *open;  // null: no size is open
  // HLO is left as it is, whatever sizes are given for its parameters of dynamic size (`f32[<=8]`): the interpreter
  // takes them below their bounds.
  bool keeps_bounds;
  // Function to make the entry of; empty: main, or the only public one. Of HLO, the entry computation's name or empty.
  str entry;
} import_options;

#endif
