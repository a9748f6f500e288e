// HLO whose entry takes arrays of dynamic size (`f32[<=8,4]`), made a program for sizes that are given: its parameters
// get static shapes, and shapes that depend on them follow.
#ifndef HEDDLE_IMPORT_BOUNDED_PARAMETERS_H_
#define HEDDLE_IMPORT_BOUNDED_PARAMETERS_H_

#include "stablehlo/import_options.h"

// Takes the sizes from `options` (argument shapes, arguments, or what it is to ask), each at most its bound unless it
// stands in for one that is open (options->open). Parameters that no size is given for stay as they are. Shapes follow
// operation by operation as in a program of static shapes, never beyond what is declared dynamic; what
// get-dimension-size asks of such a dim is a constant, of an open one heddle.open_size. The module is verified after.
// HEDDLE_INVALID for an argument of another shape or beyond a bound; HEDDLE_UNIMPLEMENTED, at the operation, for one
// that no size follows through: windows along such a dim, a state of a loop or branches whose sizes differ,
// set-dimension-size of a dim that is given to another size than it has. What is called with arrays of such sizes is a
// copy, for them; HEDDLE_UNIMPLEMENTED, too, where that makes more than the limits below.
heddle_status bounded_parameters_resize(arena *a, module *m, const import_options *options);

// Instructions of all copies, and how deep the calls that they are made for may nest.
enum { BOUNDED_PARAMETERS_MAX_COPIED = 1 << 18, BOUNDED_PARAMETERS_MAX_NESTED = 500 };

#endif
