// Deciding on kernels of sweeps, and dealing their rows out to threads.
#include "plan/row_kernel.h"

#include "plan/work_estimate.h"

enum {
  SHORT_ROW = 8,               // below, the loop's vectors over results are better
  TILE_BYTES = 32 << 10,       // least traffic of a tile
  TILE_OPERATIONS = 64 << 10,  // … unless its rows are expensive
  TILES_PER_CORE = 4,
};

// --- whether

static bool outputs_agree(const kernel_plan *k) {
  for (int o = 1; o < k->output_count; o++)
    if (shape_element_count(k->outputs[o].shape) != shape_element_count(k->outputs[0].shape)) return false;
  return true;
}

static bool has_ordered_reducer(arena *scratch, const row_analysis *r, const instruction_list *body) {
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (row_analysis_value(r, i).is_reduction && reducer_of(scratch, i).form == REDUCER_ORDERED) return true;
  }
  return false;
}

// The loop computes a reduction again for every element that wants it, which is no loss if these are its results.
static bool loop_is_better(arena *scratch, const kernel_plan *k, const row_analysis *r, const instruction_list *body) {
  bool loop_can = r->sweep_count == 1 && outputs_agree(k);
  return loop_can && (r->space.sizes[r->space.group_count - 1] < SHORT_ROW || has_ordered_reducer(scratch, r, body));
}

static bool is_column(const reduction_space *s) { return !s->is_reduced[s->group_count - 1]; }

static bool analyse(arena *scratch, const kernel_plan *k, const instruction_list *body, row_analysis *out) {
  row_output *outputs = arena_array(scratch, row_output, k->output_count);
  for (int o = 0; o < k->output_count; o++)
    outputs[o] = (row_output){.root = k->outputs[o].root, .shape = k->outputs[o].shape};
  return row_analysis_of(scratch, body->size, body->data, k->output_count, outputs, out) && !is_column(&out->space);
}

// --- launch

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

// Operations of all sweeps per element of the space.
static double operations_per_element(const kernel_plan *k) {
  double sum = 0;
  for (int b = 0; b < k->body_count; b++) {
    const instruction_list *l = &k->bodies[b].computation->instructions;
    for (int n = 0; n < l->size; n++) sum += (double)work_operations(l->data[n]);
  }
  return sum;
}

static void decide_launch(kernel_plan *k, row_kernel *d, const plan_target *target) {
  const reduction_space *s = &d->sweeps.space;
  double bytes = 0, operations = operations_per_element(k) * (double)s->reduced;
  for (int i = 0; i < k->slice_count; i++) bytes += (double)plan_buffer_bytes(k->slices[i].shape);
  bytes /= (double)s->kept;
  double rows = bytes > 0 ? TILE_BYTES / bytes : 1;
  if (operations > 0 && TILE_OPERATIONS / operations < rows) rows = TILE_OPERATIONS / operations;
  int64_t tile = rows < (double)s->kept ? (int64_t)rows : s->kept;
  tile = least(tile, s->kept / ((int64_t)target->cores * TILES_PER_CORE));
  d->tile = most(tile, 1);
  k->launch = (launch_plan){.elements = s->kept, .tile = d->tile};
  k->launch.tiles = s->kept / d->tile + (s->kept % d->tile != 0);
  k->launch.tile_bytes = (int64_t)(bytes * (double)d->tile);
  k->work = operations * (double)s->kept;
}

static const instruction *first_reduction(const row_sweeps *s) {
  for (int n = 0; n < s->sweep_count; n++)
    if (s->sweeps[n].reductions.size > 0) return s->sweeps[n].reductions.data[0].reduce;
  return NULL;
}

bool row_kernel_take(arena *a, kernel_plan *k, const instruction_list *body, const plan_target *target,
                     bool several_sweeps) {
  if (target->kind != PLAN_CPU) return false;
  arena *scratch = arena_create();
  row_analysis analysis;
  bool takes = analyse(scratch, k, body, &analysis) && (analysis.sweep_count > 1) == several_sweeps &&
               !loop_is_better(scratch, k, &analysis, body);
  if (takes) {
    row_kernel *d = arena_new(a, row_kernel);
    row_sweeps_make(a, k, &analysis, body, &d->sweeps);
    d->is_column = is_column(&analysis.space);
    decide_launch(k, d, target);
    k->details = (const hero_details *)d;
    k->hero_instruction = first_reduction(&d->sweeps);
  }
  arena_destroy(scratch);
  return takes;
}
