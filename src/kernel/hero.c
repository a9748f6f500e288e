// The table of heroes: their names, the order in which they are asked, and which kinds of target have them.
#include "kernel/grid_concatenate.h"
#include "kernel/grid_loops.h"
#include "kernel/grid_reduction.h"
#include "kernel/grid_reductions.h"
#include "kernel/grid_scatter.h"
#include "kernel/grid_tiles.h"
#include "kernel/grid_transpose.h"
#include "kernel/grid_update_slice.h"
#include "kernel/hero_concatenate.h"
#include "kernel/hero_loop.h"
#include "kernel/hero_loops.h"
#include "kernel/hero_reduction.h"
#include "kernel/hero_scatter.h"
#include "kernel/hero_tiles.h"
#include "kernel/hero_transpose.h"
#include "kernel/hero_update_slice.h"
#include "kernel/hero_while.h"

// Whether the kernel can be made this way and is better so. If so, what is open in the plan is set: hero_instruction,
// reason, details, parts or bodies, and launch.
typedef bool (*hero_rule)(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

static const char *const names[HERO_COUNT] = {
    [HERO_CONCATENATE] = "concatenate",
    [HERO_LOOP] = "loop",
    [HERO_LOOPS] = "loops",
    [HERO_REDUCTION] = "reduction",
    [HERO_SCATTER] = "scatter",
    [HERO_TRANSPOSE] = "transpose",
    [HERO_UPDATE_SLICE] = "update_slice",
    [HERO_WHILE] = "while",
    [HERO_REDUCTIONS] = "reductions",
    [HERO_TILES] = "tiles",
};

// The loop is last and takes everything whose outputs have equal element counts.
static const hero_kind order[HERO_COUNT] = {
    HERO_TILES,     HERO_WHILE,     HERO_UPDATE_SLICE, HERO_SCATTER,     HERO_REDUCTIONS,
    HERO_REDUCTION, HERO_TRANSPOSE, HERO_LOOPS,        HERO_CONCATENATE, HERO_LOOP,
};

// Of targets whose kernels take a range of tiles.
#define RULES_FOR_TILES                              \
  {                                                  \
      [HERO_CONCATENATE] = hero_concatenate_takes,   \
      [HERO_LOOP] = hero_loop_takes,                 \
      [HERO_LOOPS] = hero_loops_takes,               \
      [HERO_REDUCTION] = hero_reduction_takes,       \
      [HERO_SCATTER] = hero_scatter_takes,           \
      [HERO_TILES] = hero_tiles_takes,               \
      [HERO_TRANSPOSE] = hero_transpose_takes,       \
      [HERO_UPDATE_SLICE] = hero_update_slice_takes, \
      [HERO_WHILE] = hero_while_takes,               \
  }

#define RULES_FOR_GRIDS                         \
  {[HERO_CONCATENATE] = grid_concatenate_takes, \
   [HERO_LOOP] = hero_loop_takes,               \
   [HERO_LOOPS] = grid_loops_takes,             \
   [HERO_REDUCTION] = grid_reduction_takes,     \
   [HERO_REDUCTIONS] = grid_reductions_takes,   \
   [HERO_SCATTER] = grid_scatter_takes,         \
   [HERO_TILES] = grid_tiles_takes,             \
   [HERO_TRANSPOSE] = grid_transpose_takes,     \
   [HERO_UPDATE_SLICE] = grid_update_slice_takes}

// An empty entry: kernels of such targets are not made that way.
static const hero_rule rules[TARGET_KIND_COUNT][HERO_COUNT] = {
    [TARGET_CPU] = RULES_FOR_TILES,
    [TARGET_NULL] = RULES_FOR_TILES,
    [TARGET_NVPTX] = RULES_FOR_GRIDS,
    [TARGET_VULKAN] = RULES_FOR_GRIDS,
};

bool kernel_hero_exists(target_kind kind, hero_kind hero) { return rules[kind][hero] != NULL; }

const char *kernel_hero_name(hero_kind kind) { return names[kind]; }

// Those whose code is right for all sizes that it may be given: it goes along whole rows, or through tiles that fill
// what is a multiple of their sides.
static bool takes_open_sizes(const kernel_plan *k, hero_kind hero) {
  if (hero == HERO_TRANSPOSE) return k->computation->module->open_multiple > 0;
  return hero == HERO_UPDATE_SLICE || hero == HERO_SCATTER || hero == HERO_REDUCTION || hero == HERO_LOOPS ||
         hero == HERO_LOOP;
}

void kernel_choose_hero(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  k->lack = k->untiled = NULL;
  for (int n = 0; n < HERO_COUNT; n++) {
    const hero_rule takes = rules[target->kind][order[n]];
    k->hero = order[n];
    k->hero_instruction = NULL;
    k->details = (hero_details){0};
    k->part_count = 0;
    k->body_count = 0;
    if (k->takes_sizes && !takes_open_sizes(k, k->hero)) continue;
    if (takes && takes(a, k, body, target)) return;
  }
}
