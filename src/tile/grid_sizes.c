// A workgroup's tile of a product is nearly a square, so that what is fetched for it is used often in both directions.
#include "tile/grid_sizes.h"

#include "base/int64.h"
#include "dialect/tiling.h"
#include "kernel/grid_tiles.h"

static bool is_allowed(const sizes_request *r, int loop) { return loop < 32 && (r->allowed >> loop & 1U); }

// Of a product: columns, rows, and of the loops around rows as many as leave that many rows.
static void tiles_of_product(const target_description *target, const sizes_request *r, int64_t *workgroup) {
  const int64_t side = target->grid.tile_side;
  int64_t rows = side;
  for (int pass = 0; pass < 2; pass++)
    for (int k = r->count - 1; k >= 0; k--) {
      if (!is_allowed(r, k) || (r->roles[k] == SIZES_OUTER_ROW) != (pass == 1)) continue;
      workgroup[k] = 1;
      if (r->roles[k] == SIZES_COLUMN) workgroup[k] = grid_tiles_cut(r->trips[k], side);
      if (r->roles[k] == SIZES_ROW) workgroup[k] = grid_tiles_cut(r->trips[k], rows);
      if (pass == 1) workgroup[k] = int64_largest_divisor(r->trips[k], rows);
      if (r->roles[k] == SIZES_ROW || pass == 1) rows = int64_max(1, rows / workgroup[k]);
    }
}

void grid_sizes_of_tiles(const target_description *target, const sizes_request *r, bool is_single, int64_t *workgroup,
                         int64_t *registers) {
  for (int k = 0; k < r->count; k++) workgroup[k] = registers[k] = 0;
  if (is_single) return;
  if (r->roles && r->is_product && r->held <= 1) {
    tiles_of_product(target, r, workgroup);
  } else {
    int64_t left = int64_max(1, target->grid.tile_threads / int64_max(1, r->held / target->grid.tile_side));
    for (int k = r->count - 1; k >= 0; k--) {
      if (!is_allowed(r, k)) continue;
      workgroup[k] = grid_tiles_cut(r->trips[k], left);
      left = int64_max(1, left / workgroup[k]);
    }
  }
  for (int k = 0; k < r->count; k++) registers[k] = workgroup[k];
}

void grid_sizes_of_step(const target_description *target, int count, const int64_t *trips, const bool *is_reduction,
                        bool is_product, int64_t *step) {
  int longest = -1;
  for (int k = 0; k < count; k++) {
    step[k] = 0;
    if (is_product && is_reduction[k] && (longest < 0 || trips[k] >= trips[longest])) longest = k;
  }
  for (int k = 0; k < count && longest >= 0; k++)
    if (is_reduction[k]) step[k] = k == longest ? grid_tiles_cut(trips[k], target->grid.tile_terms) : 1;
}
