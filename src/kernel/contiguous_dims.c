// Decides how many of the innermost dims one loop runs over, so that its loads and stores are vectors.
//
// The loop's position p stands for the indices of the innermost dims, contiguous dims of the output: they are p's
// digits. The address of each access is then a linear function of p, of the outer dims and, in a window or a reduction,
// of the place in it. An access makes good vectors if its address grows with p by a small constant step, does not
// depend on p, or falls by one element from position to position. In a flat loop p counts all elements of the output;
// there an access also makes good vectors if it jumps only between one row and the next and rows are whole vectors. An
// access may be conditional (padding). Its condition must then be the same for all lanes of a vector, or linear in p,
// so that the iterations in which it holds become a loop of their own (lower/peel_loops.c).
#include "kernel/contiguous_dims.h"

#include "base/int64.h"
#include "kernel/partition_operands.h"

enum { MOST_ACCESSES = 64 };  // looked at, so that planning stays linear

// The instruction's dims are those of the space, with dims of one element between them: dims[d] is the space's dim that
// stands for d, NONE for one element.
typedef struct access {
  const partition_operand *operand;
  const shape *array;
  const shape *result;
  int dims[SHAPE_MAX_RANK];
} access;

enum { NONE = -1 };

typedef VEC(access) access_list;

// Whether the shapes differ in dims of one element only. A dim of one element may stand for one of the space.
static bool match_dims(const shape *s, const shape *space, int *dims) {
  int next = 0;
  for (int d = 0; d < s->rank; d++) {
    while (next < space->rank && space->dims[next] == 1 && s->dims[d] != 1) next++;
    dims[d] = next < space->rank && space->dims[next] == s->dims[d] ? next++ : NONE;
    if (dims[d] == NONE && s->dims[d] != 1) return false;
  }
  while (next < space->rank && space->dims[next] == 1) next++;
  return next == space->rank;
}

static void add_accesses(arena *a, const instruction *i, const access *like, access_list *out) {
  const partition_operand *operands = NULL;
  heddle_status found = partition_find_operands(a, i, &operands);
  bool is_ok = status_is_ok(found);
  heddle_status_free(found);
  for (int k = 0; is_ok && k < i->operand_count; k++) {
    const partition_operand *o = &operands[k];
    if (!o->is_needed || o->is_offset || !o->map) continue;
    if (i->operands[k]->shape->rank == 0) continue;
    access x = *like;
    x.operand = o;
    x.array = i->operands[k]->shape;
    vec_push(a, out, x);
  }
}

// The operand's address in elements, over the map's dims and symbols.
static const affine_expr *address_of(arena *a, const access *x) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(x->array, strides);
  const affine_expr *sum = affine_constant(a, 0);
  for (int r = 0; r < x->array->rank; r++)
    sum = affine_add(a, sum, affine_mul_constant(a, x->operand->map->results[r], strides[r]));
  return sum;
}

// Whether the map depends on dims of the space from `first` on.
static bool uses_dims_from(const access *x, const indexing_map *m, int first) {
  for (int r = 0; m && r < m->result_count; r++)
    for (int d = 0; d < m->dim_count && d < x->result->rank; d++)
      if (x->dims[d] >= first && affine_uses_dim(m->results[r], d)) return true;
  return false;
}

// Whether an expression grows by the same step, which is put out, wherever symbol `s` grows by one.
static bool grows_evenly(arena *a, const affine_expr *e, int s, const interval *dims, int symbol_count,
                         const interval *symbols, int64_t *step) {
  *step = 0;
  if (interval_is_point(symbols[s])) return true;
  interval *inside = arena_array(a, interval, symbol_count);
  for (int k = 0; k < symbol_count; k++) inside[k] = symbols[k];
  const affine_expr **by = arena_array(a, const affine_expr *, s + 1);
  by[s] = affine_add_constant(a, affine_symbol(a, s), 1);
  const affine_expr *next = affine_replace(a, e, NULL, 0, by, s + 1);
  inside[s].upper--;
  return affine_is_constant(affine_simplify(a, affine_sub(a, next, e), dims, inside), step);
}

// What must lie inside some range for the access to happen: the map's constraints, and the dims of which it does not
// take every value. Returns how many.
static int find_checks(arena *a, const indexing_map *m, const shape *space, const affine_expr ***checks) {
  int count = 0;
  *checks = arena_array(a, const affine_expr *, m->constraint_count + space->rank);
  for (int c = 0; c < m->constraint_count; c++) (*checks)[count++] = m->constraints[c].expr;
  for (int d = 0; d < m->dim_count && d < space->rank; d++)
    if (m->dims[d].bounds.lower > 0 || m->dims[d].bounds.upper < space->dims[d] - 1)
      (*checks)[count++] = affine_dim(a, d);
  return count;
}

// Dims before `split` stay; those from it on become the digits of symbol `position`, or of unit * position + lane.
static bool is_good(arena *a, const target_tile_sizes *sizes, const access *x, const shape *space, int split,
                    bool by_vectors) {
  const indexing_map *m = x->operand->map;
  for (int r = 0; r < m->rt_count; r++)
    if (uses_dims_from(x, x->operand->rts[r].map, split)) return false;
  const int count = m->range_count + m->rt_count, position = count, lane = count + 1;
  const affine_expr *p = affine_symbol(a, position);
  int64_t row = 1;
  for (int d = split; d < space->rank; d++) row *= space->dims[d];
  interval dims[SHAPE_MAX_RANK], *symbols = arena_array(a, interval, count + 2);
  for (int r = 0; r < count; r++)
    symbols[r] = r < m->range_count ? m->ranges[r].bounds : m->rts[r - m->range_count].bounds;
  symbols[position] = (interval){0, by_vectors ? (row - 1) / sizes->unit : row - 1};
  symbols[lane] = (interval){0, sizes->unit - 1};
  if (by_vectors) p = affine_add(a, affine_mul_constant(a, p, sizes->unit), affine_symbol(a, lane));
  const affine_expr *digits[SHAPE_MAX_RANK], *by[SHAPE_MAX_RANK];
  for (int d = 0; d < space->rank; d++) {
    dims[d] = (interval){0, space->dims[d] - 1};
    digits[d] = affine_dim(a, d);
  }
  affine_delinearize(a, space->rank - split, space->dims + split, p, digits + split);
  const int rank = x->result->rank;
  for (int d = 0; d < rank; d++) by[d] = x->dims[d] == NONE ? affine_constant(a, 0) : digits[x->dims[d]];
  const affine_expr *address = affine_replace(a, address_of(a, x), by, rank, NULL, 0);
  address = affine_simplify(a, address, dims, symbols);
  int64_t step;
  const int moving = by_vectors ? lane : position;
  if (!grows_evenly(a, address, moving, dims, count + 2, symbols, &step) || step < -1 || step > sizes->max_run_step)
    return false;
  const affine_expr **checks = NULL;
  const int check_count = find_checks(a, m, x->result, &checks);
  if (check_count > 0 && split > 0 && row < sizes->min_checked_run) return false;
  for (int c = 0; c < check_count; c++) {
    const affine_expr *e = affine_replace(a, checks[c], by, rank, NULL, 0);
    if (!grows_evenly(a, affine_simplify(a, e, dims, symbols), moving, dims, count + 2, symbols, &step)) return false;
    if (by_vectors && step != 0) return false;
  }
  return true;
}

static int count_good(arena *a, const target_tile_sizes *sizes, const access_list *accesses, const shape *space,
                      int split, bool by_vectors) {
  int count = 0;
  for (int n = 0; n < accesses->size; n++) count += is_good(a, sizes, &accesses->data[n], space, split, by_vectors);
  return count;
}

// Places of a window, or of what is reduced, that one element reads.
static int64_t reads_of(const indexing_map *m) {
  int64_t reads = 1;
  for (int r = 0; r < m->range_count; r++)
    reads = int64_saturating_mul(reads, m->ranges[r].bounds.upper - m->ranges[r].bounds.lower + 1);
  return reads;
}

// Whether indices that are read say which row it is: a flat loop reads and clamps them for each lane.
static bool picks_rows(const access *x) {
  for (int r = 0; r < x->operand->map->rt_count; r++)
    if (uses_dims_from(x, x->operand->rts[r].map, 0)) return true;
  return false;
}

// How much a flat loop reads, for each element, under conditions that differ from lane to lane in no simple way, or in
// a window at places that do: then it computes the indices of each lane by itself, many divisions for every element, or
// shuffles whole periods of them together, which is much code. 0: it does not.
static int64_t badly_placed_reads(arena *a, const target_tile_sizes *sizes, const access_list *accesses,
                                  const shape *space) {
  int64_t most = 0;
  for (int n = 0; n < accesses->size; n++) {
    const indexing_map *m = accesses->data[n].operand->map;
    const affine_expr **checks = NULL;
    const access *x = &accesses->data[n];
    const bool counts =
        picks_rows(x) || find_checks(a, m, x->result, &checks) > 0 || reads_of(m) >= sizes->min_window_reads;
    if (counts && !is_good(a, sizes, x, space, 0, true)) most = int64_max(most, reads_of(m));
  }
  return most;
}

static bool only_moves(const instruction_list *body) {
  for (int n = 0; n < body->size; n++) {
    const hlo_opcode op = body->data[n]->opcode;
    if (op != HLO_PARAMETER && op != HLO_TRANSPOSE && op != HLO_RESHAPE && op != HLO_BITCAST && op != HLO_COPY)
      return false;
  }
  return true;
}

// Whether rows that lie side by side in the space, those of the dims from `split` on, lie elsewhere in the operand.
static bool jumps_between_rows(arena *a, const access *x, const shape *space, int split, int64_t row) {
  const affine_expr *address = address_of(a, x), **by = arena_array(a, const affine_expr *, x->result->rank);
  for (int d = 0; d < x->result->rank; d++) by[d] = affine_add_constant(a, affine_dim(a, d), x->dims[d] == split - 1);
  interval dims[SHAPE_MAX_RANK];
  for (int d = 0; d < x->result->rank; d++) dims[d] = (interval){0, x->result->dims[d] - 1};
  const affine_expr *next = affine_replace(a, address, by, x->result->rank, NULL, 0);
  int64_t step = 0;
  const bool is_even = affine_is_constant(affine_simplify(a, affine_sub(a, next, address), dims, NULL), &step);
  return space->dims[split - 1] > 1 && (!is_even || (step != row && step != -row));
}

// Short rows are worth a loop of their own where they are only moved to other places: a flat loop divides for each of
// its lanes then, but by a power of two, which words, of which a vector has few, hardly notice.
static bool moves_short_rows(arena *a, const target_tile_sizes *sizes, const access_list *accesses, const shape *space,
                             int split, int64_t row) {
  const int64_t neighbours = space->dims[split - 1];
  const int bits = dtypes[space->dtype].bits;
  const bool is_narrow = bits < 32, is_power_of_two = (neighbours & (neighbours - 1)) == 0;
  if (bits < 8 || row < sizes->min_moved_run || (is_power_of_two && !is_narrow)) return false;
  for (int n = 0; n < accesses->size; n++)
    if (jumps_between_rows(a, &accesses->data[n], space, split, row)) return true;
  return false;
}

static int best_split(arena *a, const target_tile_sizes *sizes, const access_list *accesses, const shape *space,
                      bool is_moved) {
  int best = 0, most = count_good(a, sizes, accesses, space, 0, true);
  const int64_t reads = badly_placed_reads(a, sizes, accesses, space);
  const bool is_bad = reads > 0;
  int min_run = is_bad ? sizes->min_checked_run : sizes->min_run;
  // A window's loops take so long that a run may be the few lanes of one vector.
  if (reads >= sizes->min_window_reads) min_run = sizes->min_window_run;
  else if (shape_element_count(space) < sizes->min_run_space) return 0;
  int64_t row = 1;
  for (int d = 0; d < space->rank; d++) row *= space->dims[d];
  for (int split = 1; split < space->rank && most < accesses->size; split++) {
    row /= space->dims[split - 1];
    if (row < min_run && !(is_moved && moves_short_rows(a, sizes, accesses, space, split, row))) break;
    int good = count_good(a, sizes, accesses, space, split, false);
    if (good <= most) continue;
    most = good;
    best = split;
  }
  // Conditions on the other dims are then at least the same for a whole row.
  const int last = space->rank - 1;
  return best == 0 && is_bad && space->dims[last] >= min_run ? last : best;
}

int contiguous_dims_split(const target_description *target, const instruction_list *body, const shape *space) {
  const target_tile_sizes *sizes = &target->tiles;
  arena *scratch = arena_create();
  access_list accesses = {0};
  for (int n = 0; n < body->size && accesses.size < MOST_ACCESSES; n++) {
    const instruction *i = body->data[n];
    access like = {.result = i->shape};
    if (shape_is_array(i->shape) && match_dims(i->shape, space, like.dims)) add_accesses(scratch, i, &like, &accesses);
  }
  int split = best_split(scratch, sizes, &accesses, space, only_moves(body));
  arena_destroy(scratch);
  return split;
}
