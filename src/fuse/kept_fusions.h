// Fusions of the given program that stay as they are: each is one kernel (or one call of a library), whatever this
// planner would have made of it. Those that cannot be one are unfused, as all fusions are where nobody asks.
#ifndef HEDDLE_FUSE_KEPT_FUSIONS_H_
#define HEDDLE_FUSE_KEPT_FUSIONS_H_

#include "hlo/module.h"
#include "kernel/launch.h"

// Who hears of fusions that are unfused, and why: one line without an end. `remark` may be null.
typedef struct kept_fusions_report {
  void (*remark)(void *argument, const instruction *fusion, const char *why);
  void *argument;
} kept_fusions_report;

// Before the HLO passes: marks the fusions that programs run (those of the entry, of loops, branches and calls), so
// that nothing inlines them. What passes would have to bring out of a body (control flow, effects, custom calls,
// dynamic sizes) is reported.
void kept_fusions_mark(module *m, const kept_fusions_report *report);

// Behind the passes, before fuse_run: of the marked fusions those keep the mark that one kernel computes.
void kept_fusions_settle(module *m, const target_description *target, const kept_fusions_report *report);

#endif
