// Decides when a scatter is a kernel of its own, and what its tiles are.
#include "kernel/hero_scatter.h"

#include "base/int64.h"
#include "kernel/hero_loop.h"
#include "kernel/scatter_form.h"

static const shape *operand_shape(const hero_scatter *h) { return h->scatter->operands[0]->shape; }

// --- tiling

static void find_run(hero_scatter *h) {
  const shape *operand = operand_shape(h);
  const int64_t *sizes = h->updates->dims + 1;
  h->split = operand->rank;
  while (h->split > 0 && sizes[h->split - 1] == operand->dims[h->split - 1]) h->split--;
  if (h->split > 0) h->split--;
}

static void count_run(hero_scatter *h) {
  h->rows = h->contiguous = 1;
  for (int d = 0; d < h->updates->rank - 1; d++) *(d < h->split ? &h->rows : &h->contiguous) *= h->updates->dims[1 + d];
}

static bool is_packed(const hero_scatter *h) {
  int count = h->scatter->operand_count / 2;
  for (int n = 0; n < count; n++)
    if (dtypes[h->scatter->operands[n]->shape->dtype].bits < 8 && h->scatter->operands[n]->shape->dtype != DTYPE_PRED)
      return true;
  return false;
}

static bool tile_by_column(hero_scatter *h, const target_description *target) {
  int unmoved = scatter_form_first_unmoved(h->scatter), kept = h->split;
  if (unmoved == operand_shape(h)->rank) return false;
  if (unmoved > h->split) h->split = unmoved;
  count_run(h);
  int64_t least = target->tiles.min_scatter_run_bytes / dtypes[operand_shape(h)->dtype].bytes,
          chunks = h->contiguous / least;
  if (chunks > target->cores) chunks = target->cores;
  if (chunks < 2) {
    h->split = kept;
    return false;
  }
  h->tiling = SCATTER_BY_COLUMN;
  const int64_t unit = target->tiles.unit;
  h->chunk = int64_round_up(int64_ceil_div(h->contiguous, chunks), unit);
  return true;
}

static bool tile_by_owner(hero_scatter *h, const target_description *target) {
  const bool starts_anywhere = int_list_has(h->scatter->attributes->scatter_dims_to_operand_dims, 0);
  if (!starts_anywhere || h->updates->dims[1] != 1) return false;
  const int64_t first = operand_shape(h)->dims[0], window = shape_element_count(h->updates) / h->updates->dims[0];
  const int64_t bytes = int64_saturating_mul(window, dtypes[h->updates->dtype].bytes);
  if (int64_saturating_mul(bytes, target->cores) < target->tiles.min_owned_bytes) return false;
  if (first < target->cores || target->cores < 2) return false;
  h->tiling = SCATTER_BY_OWNER;
  h->chunk = int64_ceil_div(first, target->cores);
  return true;
}

static void choose_tiles(hero_scatter *h, bool takes_sizes, const target_description *target, const launch_cost *cost) {
  int64_t count = h->updates->dims[0], elements = shape_element_count(h->updates);
  bool is_small = elements * dtypes[h->updates->dtype].bytes < target->tiles.min_scatter_bytes;
  find_run(h);
  h->tiling = SCATTER_SERIAL;
  h->chunk = count;
  if (takes_sizes) {
    count_run(h);
    return;
  }
  if (!is_small && !is_packed(h)) {
    if (h->scatter->attributes->unique_indices) {
      int64_t each = elements / count, tile = launch_decide(target, elements, cost).tile;
      h->tiling = SCATTER_BY_UPDATE;
      h->chunk = tile > each ? tile / each : 1;
    } else if (!tile_by_column(h, target)) {
      tile_by_owner(h, target);
    }
  }
  count_run(h);
}

static int64_t tiles_of(const hero_scatter *h) {
  switch (h->tiling) {
    case SCATTER_BY_UPDATE: return int64_ceil_div(h->updates->dims[0], h->chunk);
    case SCATTER_BY_COLUMN: return int64_ceil_div(h->contiguous, h->chunk);
    case SCATTER_BY_OWNER: return int64_ceil_div(operand_shape(h)->dims[0], h->chunk);
    default: return 1;
  }
}

// --- the kernel

bool hero_scatter_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  const instruction *scatter = scatter_form_find(k);
  if (!scatter) return false;
  k->details.scatter = (hero_scatter){.scatter = scatter, .updates = scatter_form_updates(scatter)};
  hero_scatter *h = &k->details.scatter;
  int64_t elements = shape_element_count(h->updates);
  k->hero_instruction = scatter;
  k->reason = "combines updates into the operand's memory";
  k->launch = (launch_plan){0};
  scatter_form_make_parts(a, k, scatter);
  if (elements == 0) return true;
  launch_cost cost = hero_loop_cost(k, body, elements);
  choose_tiles(h, k->takes_sizes, target, &cost);
  int64_t tiles = tiles_of(h);
  k->launch = (launch_plan){.elements = elements, .tiles = tiles, .tile = int64_ceil_div(elements, tiles)};
  k->launch.tile_bytes = k->launch.tile * (cost.bytes > 0 ? cost.bytes : 1);
  return true;
}
