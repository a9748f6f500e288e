// Memory that is a part of other memory, or the same with other dims.
#ifndef HEDDLE_TILE_VIEWS_H_
#define HEDDLE_TILE_VIEWS_H_

#include "emit/ir_builder.h"

// Whether the operation's result is a view of its first operand's elements; false of a null one.
bool views_is_one(MlirOperation op);

// What memory a view is of in the end; the memory itself if it is no view.
MlirValue views_root(MlirValue memory);

#endif
