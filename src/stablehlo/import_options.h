// The options of reading a program, in whatever format it is written.
#ifndef HEDDLE_STABLEHLO_IMPORT_OPTIONS_H_
#define HEDDLE_STABLEHLO_IMPORT_OPTIONS_H_

#include "hlo/module.h"

// Gives the argument for entry parameter `number`, declared with shape `declared` (`?` dims are -1), or null: the
// parameter is then taken as declared.
typedef heddle_status (*import_argument_fn)(void *context, arena *a, int number, const shape *declared, literal **out);

// Gives the shape to take for entry parameter `number`, or null: as declared.
typedef heddle_status (*import_shape_fn)(void *context, arena *a, int number, const shape *declared, const shape **out);

typedef struct import_options {
  // Argument shapes for entry parameters with `?` dims, by parameter; null or a null entry: as declared.
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
  // Function to make the entry of; empty: main, or the only public one. Of HLO, the entry computation's name or empty.
  str entry;
} import_options;

#endif
