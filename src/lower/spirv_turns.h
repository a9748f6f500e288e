// How many steps of a loop one of its turns makes in SPIR-V.
//
// Mesa's software rasterizer ends the loops of an invocation, without a word, when all of them together have made
// 65,535 turns (LP_MAX_TGSI_LOOP_ITERATIONS of its gallivm/lp_bld_limits.h). Where a kernel's would make more, those
// that make most make several steps a turn, the first of which the loop has asked for and each other asks for itself:
// the same steps in the same order.
#ifndef HEDDLE_LOWER_SPIRV_TURNS_H_
#define HEDDLE_LOWER_SPIRV_TURNS_H_

#include "base/map.h"
#include "base/status.h"
#include "emit/ir_builder.h"

// Fills `steps`, by scf.for of the kernel `entry` and of what it calls among `functions`. HEDDLE_UNIMPLEMENTED where
// the steps of a turn would be too many. Not counted: loops that end by what they compute, and all steps but one of
// those whose end is no constant.
heddle_status spirv_turns_plan(arena *a, const ir_operations *functions, MlirOperation entry, ptr_map *steps);

// Steps that a turn of the loop makes, 1 for most; *has_turns: false if there is one turn, of exactly these steps.
int spirv_turns_steps(const ptr_map *steps, MlirOperation loop, bool *has_turns);

#endif
