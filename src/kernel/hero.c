// The one list of heroes, in the order in which they are asked.
#include "kernel/hero_concatenate.h"
#include "kernel/hero_loop.h"
#include "kernel/hero_loops.h"
#include "kernel/hero_reduction.h"
#include "kernel/hero_scatter.h"
#include "kernel/hero_transpose.h"
#include "kernel/hero_update_slice.h"

const hero_rule hero_rules[] = {
    {HERO_UPDATE_SLICE, "update_slice", hero_update_slice_takes},
    {HERO_SCATTER, "scatter", hero_scatter_takes},
    {HERO_REDUCTION, "reduction", hero_reduction_takes},
    {HERO_TRANSPOSE, "transpose", hero_transpose_takes},
    {HERO_LOOPS, "loops", hero_loops_takes},
    {HERO_CONCATENATE, "concatenate", hero_concatenate_takes},
    {HERO_LOOP, "loop", hero_loop_takes},
    {0},
};

const char *hero_name(hero_kind kind) {
  for (const hero_rule *r = hero_rules; r->name; r++)
    if (r->kind == kind) return r->name;
  return "unknown";
}
