// Dispatch regions as text: reading them, one or several.
#ifndef HEDDLE_TOOLS_REGION_TEXT_H_
#define HEDDLE_TOOLS_REGION_TEXT_H_

#include "base/vec.h"
#include "emit/ir_builder.h"

typedef VEC(str) str_list;

// The parts of a text between the lines `// -----` that hlo-opt prints behind each module, those with nothing but
// blanks left out. Each part has as many empty lines in front as stand before it, so that places are the whole text's.
void region_text_split(arena *a, str source, str_list *out);

// Appends the text in today's spelling, MHLO's operations in their generic form, with its lines where they were.
// HEDDLE_INVALID, with line and column, for an operation of MHLO's in no form that it has.
heddle_status region_text_spell(str source, text *out);

// A module in today's spelling or that of 2020; one without an interface gets one (tile/own_interface.h). The caller
// destroys it. HEDDLE_INVALID, with line and column, for what MLIR does not read.
heddle_status region_text_parse(MlirContext context, str source, MlirModule *out);

// The only function of the module that is a region: it takes nothing, as its arrays are bindings'.
// HEDDLE_INVALID where there is none, or another one.
heddle_status region_text_function(arena *a, MlirOperation module, MlirOperation *out);

// All bindings, in order of set and binding. HEDDLE_INVALID for two with one number.
heddle_status region_text_bindings(arena *a, MlirOperation module, ir_operations *out);

// Whether the binding's access says so.
bool region_text_writes(MlirOperation binding);

// What somebody reads of the binding or writes to it that has another size than an array of so many bytes; null: such
// an array fits. Predicates have a byte each.
MlirType region_text_misfit(arena *a, MlirOperation module, MlirOperation binding, int64_t bytes);

#endif
