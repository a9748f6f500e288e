// Collectives on raw arrays, one function each. A member computes its own results and reads what all have brought, so
// nobody waits for another one's results; sums go through the members in the group's order, which gives all the same
// bits.
#include "rt/collective.h"

#include <string.h>

#include "base/pool.h"
#include "lib/element.h"

// --- moving parts

static lib_array operand_of(const collective *c, int member, int k) {
  lib_array a = c->call->operands[k];
  a.data = c->brought[member][c->first + k];
  return a;
}

static void move_elements(const lib_array *to, int64_t at, const lib_array *from, int64_t index, int64_t count) {
  const int64_t bytes = dtypes[to->type].bytes;
  if (element_is_shared(to)) {
    for (int64_t i = 0; i < count; i++) element_move(to, at + i, from, index + i);
  } else if (count) {
    memcpy((char *)to->data + at * bytes, (const char *)from->data + index * bytes, (size_t)(count * bytes));
  }
}

// Elements in one step of dim `d` and in all dims outside of it.
static int64_t inner_of(const lib_array *a, int d) {
  int64_t inner = 1;
  for (int k = d + 1; k < a->rank; k++) inner *= a->dims[k];
  return inner;
}

static int64_t outer_of(const lib_array *a, int d) {
  int64_t outer = 1;
  for (int k = 0; k < d; k++) outer *= a->dims[k];
  return outer;
}

// A box of `from` that is `size` long in dim d and begins at `start`, to place `at` of `to`.
static void move_part(const lib_array *from, int64_t start, int64_t size, const lib_array *to, int64_t at, int d) {
  const int64_t inner = inner_of(to, d), outer = outer_of(to, d);
  for (int64_t o = 0; o < outer; o++)
    move_elements(to, (o * to->dims[d] + at) * inner, from, (o * from->dims[d] + start) * inner, size * inner);
}

static heddle_status gather_all(const collective *c) {
  for (int k = 0; k < c->call->result_count; k++)
    for (int m = 0; m < c->size; m++) {
      const lib_array from = operand_of(c, m, k);
      const int64_t size = from.dims[c->dimension];
      move_part(&from, 0, size, &c->call->results[k], m * size, c->dimension);
    }
  return status_ok();
}

// With a dim every operand is cut and what comes in is joined; without, operand m goes to member m.
static heddle_status exchange_all(const collective *c) {
  for (int k = 0; k < c->call->result_count; k++) {
    const lib_array *to = &c->call->results[k];
    if (c->dimension < 0) {
      const lib_array from = operand_of(c, k, c->self);
      move_elements(to, 0, &from, 0, lib_element_count(to));
      continue;
    }
    const int64_t size = to->dims[c->dimension] / c->size;
    for (int m = 0; m < c->size; m++) {
      const lib_array from = operand_of(c, m, k);
      move_part(&from, c->self * size, size, to, m * size, c->dimension);
    }
  }
  return status_ok();
}

static heddle_status take_from(const collective *c, int member) {
  for (int k = 0; k < c->call->result_count; k++) {
    const lib_array from = operand_of(c, member, k), *to = &c->call->results[k];
    move_elements(to, 0, &from, 0, lib_element_count(to));
  }
  return status_ok();
}

static heddle_status take_first(const collective *c) { return take_from(c, 0); }

heddle_status collective_zeros(const collective *c) {
  for (int k = 0; k < c->call->result_count; k++) {
    const lib_array *a = &c->call->results[k];
    const int64_t bytes = work_array_bytes(a->type, a->is_packed, lib_element_count(a));
    if (bytes) memset(a->data, 0, (size_t)bytes);
  }
  return status_ok();
}

static heddle_status permute(const collective *c) {
  return c->source < 0 ? collective_zeros(c) : take_from(c, c->source);
}

static heddle_status only_meet(const collective *c) {
  (void)c;
  return status_ok();
}

// --- reducing

enum { BLOCK = 512, WORK_BYTES = 16, PARALLEL_BLOCKS = 32 };

typedef struct reduction {
  const collective *c;
  int k;
  int64_t from, to, count;  // elements from … of the operands, combined, to elements to … of the result
} reduction;

// Members are combined in the group's order, whoever does it: all get the same bits.
static void reduce_blocks(void *argument, int64_t begin, int64_t end) {
  const reduction *r = argument;
  const collective *c = r->c;
  _Alignas(16) char sum[BLOCK * WORK_BYTES], next[BLOCK * WORK_BYTES];
  for (int64_t block = begin; block < end; block++) {
    const int64_t first = block * BLOCK, count = r->count - first < BLOCK ? r->count - first : BLOCK;
    for (int m = 0; m < c->size; m++) {
      const lib_array from = operand_of(c, m, r->k);
      work_load(c->work, &from, r->from + first, count, m ? next : sum);
      if (m) c->combine(sum, next, count);
    }
    work_store(c->work, sum, &c->call->results[r->k], r->to + first, count);
  }
}

static void reduce_range(const collective *c, int k, int64_t from, int64_t to, int64_t count) {
  reduction r = {c, k, from, to, count};
  const int64_t blocks = (count + BLOCK - 1) / BLOCK;
  const bool is_alone = blocks < PARALLEL_BLOCKS || element_is_shared(&c->call->results[k]);
  pool_run(is_alone ? 1 : c->call->threads, blocks, reduce_blocks, &r);
}

static heddle_status reduce_all(const collective *c) {
  for (int k = 0; k < c->call->result_count; k++) reduce_range(c, k, 0, 0, lib_element_count(&c->call->results[k]));
  return status_ok();
}

// The sum stays with the first member.
static heddle_status reduce_to_one(const collective *c) { return c->self ? collective_zeros(c) : reduce_all(c); }

static heddle_status reduce_and_scatter(const collective *c) {
  const int d = c->dimension;
  for (int k = 0; k < c->call->result_count; k++) {
    const lib_array *to = &c->call->results[k];
    const int64_t inner = inner_of(to, d), outer = outer_of(to, d), row = to->dims[d] * inner;
    for (int64_t o = 0; o < outer; o++)
      reduce_range(c, k, (o * c->call->operands[k].dims[d] + c->self * to->dims[d]) * inner, o * row, row);
  }
  return status_ok();
}

// --- rows by lists of offsets and sizes: operands input, output, and four lists with entries for each member

static heddle_status move_rows(const collective *c, int m, int64_t entry) {
  const lib_array from = operand_of(c, m, 0), *to = &c->call->results[0];
  int64_t lists[3];
  for (int j = 0; j < 3; j++) {
    const lib_array list = operand_of(c, m, 2 + j);
    const uint64_t bits = element_load(&list, entry);
    lists[j] = dtype_is_signed(list.type) && dtypes[list.type].bits == 32 ? (int32_t)bits : (int64_t)bits;
  }
  const int64_t start = lists[0], size = lists[1], at = lists[2];
  const bool fits = start >= 0 && size >= 0 && at >= 0 && size <= from.dims[0] && start <= from.dims[0] - size &&
                    size <= to->dims[0] && at <= to->dims[0] - size;
  if (!fits)
    return status_error(HEDDLE_INVALID, "member %d sends %lld rows from row %lld of %lld to row %lld of %lld", m,
                        (long long)size, (long long)start, (long long)from.dims[0], (long long)at,
                        (long long)to->dims[0]);
  move_part(&from, start, size, to, at, 0);
  return status_ok();
}

static heddle_status exchange_rows(const collective *c) {
  const lib_array kept = operand_of(c, c->self, 1), *to = &c->call->results[0];
  move_elements(to, 0, &kept, 0, lib_element_count(to));
  const int64_t entries = lib_element_count(&c->call->operands[2]), updates = entries / c->size;
  for (int64_t k = 0; k < entries; k++) TRY(move_rows(c, (int)(k / updates), c->self * updates + k % updates));
  return status_ok();
}

// --- what fits

static bool same_but(const lib_array *l, const lib_array *r, int d) {
  if (l->type != r->type || l->rank != r->rank) return false;
  for (int k = 0; k < l->rank; k++)
    if (k != d && l->dims[k] != r->dims[k]) return false;
  return true;
}

static bool fits_pairwise(const lib_call *call, int d, int64_t operand_times, int64_t result_times) {
  bool fits = call->operand_count == call->result_count;
  for (int k = 0; fits && k < call->operand_count; k++) {
    const lib_array *from = &call->operands[k], *to = &call->results[k];
    fits = d < from->rank && same_but(from, to, d);
    fits = fits && (d < 0 || from->dims[d] * operand_times == to->dims[d] * result_times);
  }
  return fits;
}

static bool fits_same(const lib_call *call, int dimension, int size) {
  (void)dimension, (void)size;
  return fits_pairwise(call, -1, 1, 1);
}

static bool fits_gather(const lib_call *call, int dimension, int size) {
  return dimension >= 0 && fits_pairwise(call, dimension, size, 1);
}

static bool fits_scatter(const lib_call *call, int dimension, int size) {
  return dimension >= 0 && fits_pairwise(call, dimension, 1, size);
}

static bool fits_exchange(const lib_call *call, int dimension, int size) {
  if (!fits_pairwise(call, -1, 1, 1)) return false;
  if (dimension < 0) {
    for (int k = 1; k < call->operand_count; k++)
      if (!same_but(&call->operands[0], &call->operands[k], -1)) return false;
    return call->operand_count == size;
  }
  for (int k = 0; k < call->operand_count; k++)
    if (dimension >= call->operands[k].rank || call->operands[k].dims[dimension] % size) return false;
  return true;
}

static bool fits_rows(const lib_call *call, int dimension, int size) {
  (void)dimension;
  if (call->operand_count != 6 || call->result_count != 1 || call->results[0].rank < 1) return false;
  const lib_array *a = call->operands;
  bool fits = same_but(&a[1], &call->results[0], -1) && same_but(&a[0], &call->results[0], 0);
  const int64_t entries = lib_element_count(&a[2]);
  for (int j = 2; j < 6; j++) fits = fits && dtype_is_integer(a[j].type) && lib_element_count(&a[j]) == entries;
  return fits && entries % size == 0;
}

static bool fits_always(const lib_call *call, int dimension, int size) {
  (void)call, (void)dimension, (void)size;
  return true;
}

static const collective_kind kinds[PROGRAM_COLLECTIVE_KIND_COUNT] = {
    [PROGRAM_ALL_GATHER] = {gather_all, fits_gather, .needs_group = true},
    [PROGRAM_ALL_REDUCE] = {reduce_all, fits_same, .has_reducer = true, .needs_group = true},
    [PROGRAM_ALL_TO_ALL] = {exchange_all, fits_exchange, .needs_group = true},
    [PROGRAM_BARRIER] = {only_meet, fits_always, .needs_group = true},
    [PROGRAM_COLLECTIVE_BROADCAST] = {take_first, fits_same},
    [PROGRAM_COLLECTIVE_PERMUTE] = {permute, fits_same},
    [PROGRAM_COLLECTIVE_REDUCE] = {reduce_to_one, fits_same, .has_reducer = true},
    [PROGRAM_RAGGED_ALL_TO_ALL] = {exchange_rows, fits_rows, .needs_group = true},
    [PROGRAM_REDUCE_SCATTER] = {reduce_and_scatter, fits_scatter, .has_reducer = true, .needs_group = true},
};

const collective_kind *collective_find(program_collective_kind kind) { return kinds[kind].fn ? &kinds[kind] : NULL; }
