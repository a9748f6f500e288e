// A mark on an instruction that no tiles are made of, since code for such a kernel could not be made: a frontend
// attribute, heddle_tiles="none", so that it stays with the instruction through fusion.
#ifndef HEDDLE_KERNEL_UNTILED_H_
#define HEDDLE_KERNEL_UNTILED_H_

#include "base/map.h"
#include "hlo/module.h"

void untiled_mark(instruction *i);
bool untiled_is(const instruction *i);

// Whether the instruction tells kernels apart: parameters, constants and tuples are in too many of them, and none of
// them is a reason to fail.
bool untiled_is_telling(const instruction *i);
// Marks the computation's instructions that are called so, of those that tell kernels apart.
void untiled_mark_names(const computation *c, const str_map *names);

#endif
