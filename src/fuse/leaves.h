// Lists the arrays inside a shape, which are what gets memory. Tuples are walked; tokens and opaque values have none.
#ifndef HEDDLE_FUSE_LEAVES_H_
#define HEDDLE_FUSE_LEAVES_H_

#include "hlo/module.h"

typedef VEC(const shape *) shape_list;

void leaves_of_shape(arena *a, const shape *s, shape_list *out);  // in order
int leaves_count(const shape *s);

#endif
