// Finds HLO passes by name: ours, and XLA's for those of ours that have the same purpose.
#ifndef HEDDLE_TOOLS_PASS_CHOICE_H_
#define HEDDLE_TOOLS_PASS_CHOICE_H_

#include "base/vec.h"
#include "opt/pass.h"

typedef VEC(const pass *) pass_list;

// HEDDLE_UNIMPLEMENTED for a pass of XLA that has no counterpart, HEDDLE_INVALID for other names; both say what there
// is.
heddle_status pass_choice_find(arena *a, str name, const pass **out);

// "NAME,NAME": appended in that order.
heddle_status pass_choice_list(arena *a, const char *names, pass_list *out);

// The pipeline as debug options change it: passes whose use is `up_to` or above it in the list; without the passes
// `disabled`; of those that can be left out only the ones of `only` ("NAME,NAME", null: no such wish). Names that
// change nothing (passes that are needed, passes of XLA without a counterpart, no pass at all) are named on standard
// error in one line.
void pass_choice_pipeline(arena *a, pass_use up_to, const char *disabled, const char *only, pass_list *out);

// The XLA names of one pass: "dce, hlo-module-dce"; empty if it has none.
const char *pass_choice_xla_names(arena *a, const pass *p);

// Every pass once, for --list-passes.
void pass_choice_print_all(arena *a, FILE *out);

#endif
