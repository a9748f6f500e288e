// A mark on an instruction that no tiles are made of, since code for such a kernel could not be made: a frontend
// attribute, heddle_tiles="none", so that it stays with the instruction through fusion.
#ifndef HEDDLE_KERNEL_UNTILED_H_
#define HEDDLE_KERNEL_UNTILED_H_

#include "hlo/module.h"

void untiled_mark(instruction *i);
bool untiled_is(const instruction *i);

#endif
