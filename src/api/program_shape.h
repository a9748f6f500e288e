// Converts shapes of modules to shapes of programs, and back.
#ifndef HEDDLE_API_PROGRAM_SHAPE_H_
#define HEDDLE_API_PROGRAM_SHAPE_H_

#include "hlo/shape.h"
#include "prog/program.h"

// Of an array, with its layout; a dim of dynamic size is its bound.
program_shape program_shape_of(arena *a, const shape *s);

// As literals have it: row-major.
const shape *program_shape_of_literal(arena *a, const program_shape *s);

#endif
