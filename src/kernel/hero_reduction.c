// Decides when a kernel is a reduction, and how its rows are divided among threads.
#include "kernel/hero_reduction.h"

#include "base/int64.h"
#include "kernel/row_passes.h"
#include "kernel/work_estimate.h"

// --- whether

static bool is_column(const reduction_space *s) { return !s->is_reduced[s->group_count - 1]; }

static bool outputs_agree(const kernel_plan *k) {
  for (int o = 1; o < k->output_count; o++)
    if (shape_element_count(k->outputs[o].shape) != shape_element_count(k->outputs[0].shape)) return false;
  return true;
}

static bool has_reducer(arena *scratch, const row_analysis *r, const instruction_list *body, reducer_form form) {
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (row_analysis_value(r, i).is_reduction && reducer_of(scratch, i).form == form) return true;
  }
  return false;
}

static bool is_expensive(const instruction_list *body) {
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (hlo_op_has(i->opcode, TRAIT_EXPENSIVE)) return true;
    if (i->opcode == HLO_REDUCE && is_expensive(&i->called[0]->instructions)) return true;
  }
  return false;
}

// Whether a row's elements have to wait for each other, and the loop makes up for that by taking as many rows at once
// as a vector has lanes. It does where functions are computed, and where rows are short: of long ones it reads a line
// each of too many at once.
static bool waits(arena *scratch, const target_tile_sizes *sizes, const row_analysis *r, const instruction_list *body) {
  if (!has_reducer(scratch, r, body, REDUCER_ORDERED) && !has_reducer(scratch, r, body, REDUCER_CHUNKS)) return false;
  return r->space.reduced < sizes->long_row || is_expensive(body);
}

// The loop computes a reduction again for every element that wants it, which is no loss if these are its results.
static bool loop_is_better(arena *scratch, const target_tile_sizes *sizes, const kernel_plan *k, const row_analysis *r,
                           const instruction_list *body) {
  bool loop_can = r->pass_count == 1 && outputs_agree(k);
  if (!loop_can) return false;
  int64_t size = r->space.sizes[r->space.group_count - 1];
  if (is_column(&r->space)) return size < sizes->short_row || r->space.reduced <= sizes->short_column;
  bool is_rather_short = size <= sizes->short_picked_row && r->space.kept >= sizes->short_picked_row;
  return size < sizes->short_row || waits(scratch, sizes, r, body) ||
         (is_rather_short &&
          (has_reducer(scratch, r, body, REDUCER_PICK) || has_reducer(scratch, r, body, REDUCER_FREE)));
}

static bool analyse(arena *scratch, const kernel_plan *k, const instruction_list *body, row_analysis *out) {
  row_output *outputs = arena_array(scratch, row_output, k->output_count);
  for (int o = 0; o < k->output_count; o++)
    outputs[o] = (row_output){.root = k->outputs[o].root, .shape = k->outputs[o].shape};
  return row_analysis_of(scratch, body->size, body->data, k->output_count, outputs, out);
}

// --- launch

// Operations of all passes per element of the space.
static double operations_per_element(const kernel_plan *k) {
  double sum = 0;
  for (int b = 0; b < k->body_count; b++) {
    const instruction_list *l = &k->bodies[b].computation->instructions;
    for (int n = 0; n < l->size; n++) sum += (double)work_estimate_operations(l->data[n]);
  }
  return sum;
}

// Chunks of the innermost dims: long enough to read memory in long stretches, as long as threads are busy.
static void cut_columns(hero_reduction *d, const target_description *target) {
  const reduction_space *s = &d->passes.space;
  const int64_t unit = target->tiles.unit;
  int64_t columns = s->sizes[s->group_count - 1], others = s->kept / columns;
  int64_t accumulators = int64_max(d->passes.carried_values.size, 1);
  d->columns = int64_max(target->row_accumulators / accumulators / unit, 1) * unit;
  while (d->columns > unit &&
         others * int64_ceil_div(columns, d->columns) < (int64_t)target->cores * target->tiles_per_core)
    d->columns = int64_max(d->columns / 2 / unit, 1) * unit;
  d->columns = int64_min(d->columns, columns);
  d->column_blocks = int64_ceil_div(columns, d->columns);
}

// What is divided among threads: rows, or what is kept beside the innermost dims.
static void decide_launch(kernel_plan *k, hero_reduction *d, const target_description *target) {
  const reduction_space *s = &d->passes.space;
  if (d->is_column) cut_columns(d, target);
  int64_t units = d->is_column ? s->kept / s->sizes[s->group_count - 1] : s->kept;
  int64_t unit_elements = s->kept / units;
  double bytes = 0, operations = operations_per_element(k) * (double)s->reduced * (double)unit_elements;
  for (int i = 0; i < k->slice_count; i++) bytes += (double)kernel_buffer_bytes(k->slices[i].shape);
  bytes /= (double)units;
  k->work = operations * (double)units;
  double enough = bytes > 0 ? (double)target->tile_bytes / bytes : 1;
  if (operations > 0 && (double)target->tile_operations / operations < enough)
    enough = (double)target->tile_operations / operations;
  int64_t tile = enough < (double)units ? (int64_t)enough : units;
  tile = int64_max(int64_min(tile, units / ((int64_t)target->cores * target->tiles_per_core)), 1);
  int64_t blocks = int64_max(d->column_blocks, 1);
  d->tile = blocks > 1 ? 1 : tile;
  if (k->takes_sizes) d->tile = 1;
  const int64_t open = k->takes_sizes ? 1 : module_open_count(k->computation->module, k->outputs[0].shape);
  const int64_t pieces = units % open == 0 ? launch_open_tile(units, open, k->tile_limit, &d->tile) : 0;
  k->launch = (launch_plan){.elements = s->kept, .tile = d->tile, .tiles = int64_ceil_div(units, d->tile) * blocks};
  k->launch.pieces = pieces;
  k->launch.rest_limit = launch_rest_limit(d->tile, pieces);
  k->launch.tile_bytes = (int64_t)(bytes * (double)d->tile / (double)blocks);
}

// --- what a tile holds

static int64_t innermost_reduced(const reduction_space *s) {
  int g = s->group_count - 1;
  while (!s->is_reduced[g]) g--;
  return s->sizes[g];
}

// Of floats: three instructions each, where sums have one.
static bool has_extreme(const row_pass *pass) {
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count && r->how.form == REDUCER_BINARY; v++) {
      const hlo_opcode op = r->how.operations[v];
      const bool is_extreme = op == HLO_MAXIMUM || op == HLO_MINIMUM;
      if (is_extreme && dtype_is_float(r->reduce->operands[v]->shape->dtype)) return true;
    }
  }
  return false;
}

// Whether the last of a row of tiles is narrower than the others, so that columns get code for vectors of all widths.
static bool has_rest(const hero_reduction *d) {
  const reduction_space *s = &d->passes.space;
  return s->sizes[s->group_count - 1] % d->columns != 0;
}

// Rows take one element after the other; how many the lanes of vectors take at once is the vectorizer's to know.
static int64_t elements_at_once(const target_tile_sizes *sizes, const kernel_plan *k, const hero_reduction *d,
                                const row_pass *pass) {
  if (!d->is_column || pass->body < 0 || pass->reductions.size == 0) return 1;
  if (k->bodies[pass->body].computation->instructions.size > sizes->max_repeated_body) return 1;
  const int64_t size = innermost_reduced(&d->passes.space);
  int64_t step = sizes->column_step;
  if (k->takes_sizes) return int64_min(size, step);
  if (has_extreme(pass) && has_rest(d)) step /= 2;
  // A few elements less are no loss if none is left for a loop of its own.
  for (int64_t s = int64_min(size, step); 4 * s >= 3 * step; s--)
    if (size % s == 0) return s;
  return int64_min(size, step);
}

// Longer than what lies in it: a loop over all of a tensor that is as long as a vector is not vectorized
// (lower/vectorize_loops.c).
static int64_t buffer_of(int64_t unit, const hero_reduction *d, const carried_value *g) {
  const bool has_row = g->is_kept && g->output < 0, has_columns = !g->is_kept && d->is_column;
  if (!has_row && !has_columns) return 0;
  const int64_t size = has_row ? d->passes.space.reduced : d->columns;
  return size + unit - size % unit;
}

static void decide_tile(const target_tile_sizes *sizes, const kernel_plan *k, hero_reduction *d) {
  for (int n = 0; n < d->passes.pass_count; n++)
    d->passes.passes[n].elements_at_once = elements_at_once(sizes, k, d, &d->passes.passes[n]);
  for (int g = 0; g < d->passes.carried_values.size; g++)
    d->passes.carried_values.data[g].buffer = buffer_of(sizes->unit, d, &d->passes.carried_values.data[g]);
}

// --- the kernel

static const instruction *first_reduction(const row_passes *s) {
  for (int n = 0; n < s->pass_count; n++)
    if (s->passes[n].reductions.size > 0) return s->passes[n].reductions.data[0].reduce;
  return NULL;
}

static const char *reason_of(arena *a, const hero_reduction *d) {
  const int count = d->passes.pass_count;
  if (count > 1) return arena_printf(a, "%d passes over each %s", count, d->is_column ? "column" : "row");
  return d->is_column ? "one pass, accumulators side by side" : "one pass over each row, partial accumulators";
}

bool hero_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  arena *scratch = arena_create();
  row_analysis analysis;
  bool takes = analyse(scratch, k, body, &analysis) && !loop_is_better(scratch, &target->tiles, k, &analysis, body);
  if (k->takes_sizes) takes = takes && !is_column(&analysis.space);
  if (takes) {
    hero_reduction *d = &k->details.reduction;
    *d = (hero_reduction){.is_column = is_column(&analysis.space)};
    row_passes_make(a, k, &analysis, body, d->is_column || k->takes_sizes ? 0 : target->row_buffer_bytes, &d->passes);
    decide_launch(k, d, target);
    decide_tile(&target->tiles, k, d);
    k->hero_instruction = first_reduction(&d->passes);
    k->reason = reason_of(a, d);
  }
  arena_destroy(scratch);
  return takes;
}

bool hero_reduction_fits(int member_count, instruction *const *members, int output_count, instruction *const *outputs) {
  arena *scratch = arena_create();
  row_output *wanted = arena_array(scratch, row_output, output_count);
  for (int o = 0; o < output_count; o++) {
    const shape *s = outputs[o]->shape;
    wanted[o] = (row_output){.root = outputs[o], .shape = shape_is_tuple(s) ? s->elements[0] : s};
  }
  row_analysis r;
  bool fits = row_analysis_of(scratch, member_count, members, output_count, wanted, &r) && !r.repeats;
  arena_destroy(scratch);
  return fits;
}
