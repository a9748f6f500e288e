// Marks loops that keep a program within its memory (src/supertile), those over tiles and those of the program that no
// kernel may hold as a whole, since it would hold all that they read; slices that such loops keep of what is larger,
// which are copied where they stand; and products that a kernel computes from where their operands lie, since a library
// would read copies of slices.
#ifndef HEDDLE_FUSE_TILE_LOOPS_H_
#define HEDDLE_FUSE_TILE_LOOPS_H_

#include "hlo/module.h"

// What bodies of loops over tiles are named, so that they are known in clones.
#define TILE_LOOPS_BODY "tile_body"

void tile_loops_mark(instruction *loop);
bool tile_loops_has(const instruction *loop);

// Whether the module has such a loop: then memory is short in all of it.
bool tile_loops_stand_in(const module *m);

// Whether small products of the module's loops are kernels of their own, beside those that write their tiles to their
// places. As one kernel they take less memory and time; but where that kernel is what does not fit, there is less that
// could be cut. Loops that are marked later than that are not told.
void tile_loops_set_apart(module *m, bool apart);
bool tile_loops_are_apart(const module *m);

#endif
