// Tiles on a grid: a workgroup's tile of a product is a square of registers, one of each workitem's.
#include "kernel/grid_tiles.h"

#include "base/int64.h"
#include "kernel/hero_tiles.h"
#include "kernel/launch.h"
#include "kernel/online_softmax.h"
#include "kernel/product_cost.h"
#include "kernel/tiled_product.h"

int64_t grid_tiles_cut(int64_t size, int64_t wanted) {
  if (size <= wanted) return size;
  for (int64_t unit = 8; unit > 0; unit -= 7)
    for (int64_t d = wanted; d * 2 > wanted; d--)
      if (size % d == 0 && d % unit == 0) return d;
  return wanted;
}

grid_tiles_sizes grid_tiles_sizes_of(const target_description *target, int64_t rows, int64_t columns) {
  const target_grid_sizes *g = &target->grid;
  return (grid_tiles_sizes){.rows = grid_tiles_cut(rows, g->tile_side),
                            .columns = grid_tiles_cut(columns, g->tile_side),
                            .terms = g->tile_terms,
                            .threads = g->tile_threads};
}

// --- the rule

static const instruction *product_of(const instruction_list *body) {
  for (int n = 0; n < body->size; n++)
    if (body->data[n]->opcode == HLO_DOT || body->data[n]->opcode == HLO_CONVOLUTION) return body->data[n];
  return NULL;
}

// Rows and columns of a product, as far as its tiles care; *others are what has tiles of its own.
static void extents_of(const instruction *product, int64_t *rows, int64_t *columns, int64_t *others) {
  const shape *s = product->shape;
  const hlo_attributes *a = product->attributes;
  *rows = *columns = *others = 1;
  if (product->opcode == HLO_CONVOLUTION) {
    *columns = s->dims[a->dim_labels.output_feature];
    *rows = shape_element_count(s) / int64_max(*columns, 1);
    return;
  }
  const int batch = a->lhs_batch_dims.size, lhs = product->operands[0]->shape->rank - a->lhs_contracting_dims.size;
  for (int d = 0; d < s->rank; d++) *(d < batch ? others : d < lhs ? rows : columns) *= s->dims[d];
}

// The product of the body whose weights are a softmax, which a workgroup takes for a block of queries.
static bool find_attention(const instruction_list *body, online_softmax *out) {
  for (int n = 0; n < body->size; n++)
    if (online_softmax_of(body->data[n], out)) return true;
  return false;
}

// Each workgroup takes those of several where it turns out that there are more.
static int64_t workgroups_of_attention(const online_softmax *s) {
  const shape *scores = s->scores->shape;
  const int64_t queries = shape_element_count(scores) / int64_max(scores->dims[s->key_dim], 1);
  return int64_ceil_div(queries, ONLINE_SOFTMAX_GRID_BLOCK);
}

static int64_t workgroups_of(const target_description *target, const instruction_list *body, const instruction *product,
                             int64_t elements) {
  online_softmax attention;
  int64_t rows, columns, others;
  if (find_attention(body, &attention)) return workgroups_of_attention(&attention);
  if (!product) return int64_ceil_div(elements, target->grid.tile_threads);
  extents_of(product, &rows, &columns, &others);
  const grid_tiles_sizes s = grid_tiles_sizes_of(target, rows, columns);
  return others * int64_ceil_div(rows, s.rows) * int64_ceil_div(columns, s.columns);
}

enum { MOST_WORKGROUPS = 65535 };  // what every device has of them in one dimension; each does several then

bool grid_tiles_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  const instruction *product = product_of(body);
  const bool is_chosen =
      target->codegen == CODEGEN_CHOSEN && k->output_count == 1 && product && tiled_product_is_sooner(a, body, target);
  double work;
  if ((target->codegen != CODEGEN_TILES && !is_chosen) || !hero_tiles_fits(k, body, target, &work)) return false;
  k->launch.elements = shape_element_count(k->outputs[0].shape);
  k->launch.threads = target->grid.tile_threads;
  k->launch.blocks_x = int64_min(workgroups_of(target, body, product, k->launch.elements), MOST_WORKGROUPS);
  k->launch.blocks_y = 1;
  k->launch.unroll = 1;
  k->reason = is_chosen ? "tiles of a product, sooner than any other way"
                        : "tiles of whole-array operations, as --codegen asks";
  return true;
}
