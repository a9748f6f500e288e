// Indexing maps: which element of one array belongs to which point of an index space.
//
//   (d0, d1)[s0]{rt0} -> (d0 * 4 + s0, d1 + rt0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1], rt0 in [0, 9], d0 +
//   s0 in [0, 5]
//
// dims are the map's inputs (or launch ids), ranges are loop variables (reduced dims, chunk, vector), runtime variables
// (rts) are known only when the program runs (dynamic-slice starts, gather indices). Symbols of the expressions number
// the ranges first, then the rts. All intervals are inclusive. Maps are immutable once built and live in an arena.
#ifndef HEDDLE_INDEX_INDEXING_MAP_H_
#define HEDDLE_INDEX_INDEXING_MAP_H_

#include "base/status.h"
#include "index/affine.h"

typedef struct indexing_variable {
  interval bounds;
  str name;  // "" = printed by position: d0, s0, rt0
} indexing_variable;

typedef struct indexing_constraint {
  const affine_expr *expr;
  interval bounds;
} indexing_constraint;

typedef struct indexing_map {
  int dim_count, range_count, rt_count, result_count, constraint_count;
  indexing_variable *dims, *ranges, *rts;
  const affine_expr **results;
  indexing_constraint *constraints;
  bool is_empty;  // the domain is known to hold no point; everything else is then meaningless
} indexing_map;

// A map with room for the given numbers of parts, to be filled in by the caller before anyone else sees it.
indexing_map *indexing_map_create(arena *a, int dim_count, int range_count, int rt_count, int result_count,
                                  int constraint_count);
// Identity over an array of these sizes: d_i in [0, size_i - 1]. A size of 0 gives an empty map.
indexing_map *indexing_map_identity(arena *a, int rank, const int64_t *sizes);
indexing_map *indexing_map_copy(arena *a, const indexing_map *m);
bool indexing_map_equal(const indexing_map *l, const indexing_map *r);  // same structure; names do not count

// second ∘ first: feeds first's results into second's dims. Ranges of the result: second's, then first's; the same for
// rts. first->result_count == second->dim_count. The bounds of second's dims become constraints on first's results.
// Not simplified.
indexing_map *indexing_map_compose(arena *a, const indexing_map *first, const indexing_map *second);

// Simplifies constraints to a fixpoint, then results with the tightened ranges; point variables become constants;
// always-true constraints go; an unsatisfiable one makes the map empty. The set of (domain point -> result) pairs
// never changes.
indexing_map *indexing_map_simplify(arena *a, const indexing_map *m);
// Drops variables no result and no constraint uses (and whose bounds are not empty). `removed_*` (may be null) get one
// flag per old variable.
indexing_map *indexing_map_remove_unused_ranges(arena *a, const indexing_map *m, bool *removed);
indexing_map *indexing_map_remove_unused_rts(arena *a, const indexing_map *m, bool *removed);
indexing_map *indexing_map_remove_unused(arena *a, const indexing_map *m, bool *removed_dims, bool *removed_ranges,
                                         bool *removed_rts);

// True if all bounds and constraints hold at the point. symbols: ranges then rts.
bool indexing_map_contains(const indexing_map *m, const int64_t *dims, const int64_t *symbols);
void indexing_map_evaluate(const indexing_map *m, const int64_t *dims, const int64_t *symbols, int64_t *results);

// All points of the domain in lexicographic order of dims, ranges, runtime variables; a constraint cuts off whole parts
// as soon as its variables are set. `dims` and `symbols` hold the current point after next() returned true.
//
//   indexing_domain *points = indexing_domain_begin(a, m);
//   while (indexing_domain_next(points)) indexing_map_evaluate(m, points->dims, points->symbols, results);
typedef struct indexing_domain {
  int64_t *dims;
  int64_t *symbols;
  struct indexing_domain_state *state;
} indexing_domain;
indexing_domain *indexing_domain_begin(arena *a, const indexing_map *m);
bool indexing_domain_next(indexing_domain *d);

// Range of result i over the whole domain by interval arithmetic.
interval indexing_map_result_range(const indexing_map *m, int result);
interval indexing_map_expr_range(const indexing_map *m, const affine_expr *e);

// Same map with other results (copies what is given).
indexing_map *indexing_map_with_results(arena *a, const indexing_map *m, int result_count,
                                        const affine_expr *const *results);

// XLA's text, without the `#xla_gpu.indexing_map<"` wrapping. Prints "KNOWN EMPTY" for empty maps. Constraints are
// sorted by their text; parsing what is printed gives an equal map.
void indexing_map_print(text *out, const indexing_map *m);
// Errors carry line 1 and the column in `source`.
heddle_status indexing_map_parse(arena *a, str source, const indexing_map **out);

#endif
