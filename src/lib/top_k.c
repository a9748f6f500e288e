// A line's best k elements so far stand in a heap with the worst of them on top: nearly all others are turned away by
// one comparison. When k is a large part of the line the heap would be rebuilt all the time; then the line is sorted.
// A long line alone is cut into parts for the threads, whose best are put together; which parts does not matter, since
// no two candidates are equal.
#include "lib/top_k.h"

#include <stdatomic.h>

#include "base/pool.h"
#include "lib/element.h"
#include "lib/radix.h"
#include "lib/sort_key.h"

enum { LONG_LINE = 64 << 10, LINE_BYTES = 64, HEAP_SHARE = 16 };

typedef struct choosing {
  const lib_call *call;
  sort_key key;
  int64_t size, k, lines;
  int strands, parts;  // parts: of each line
  radix_pair *rooms;
  int64_t room_items;
  atomic_int_fast64_t next_line;
} choosing;

static bool comes_before(radix_pair x, radix_pair y) { return x.key != y.key ? x.key < y.key : x.place < y.place; }

// heap[0] comes after all others.
static void sink(radix_pair *heap, int64_t count, radix_pair item) {
  int64_t at = 0;
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && comes_before(heap[child], heap[child + 1])) child++;
    if (comes_before(heap[child], item)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

static void rise(radix_pair *heap, int64_t at, radix_pair item) {
  while (at && comes_before(heap[(at - 1) / 2], item)) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = item;
}

static inline __attribute__((always_inline)) int64_t choose_typed(const choosing *c, int bytes, int64_t first,
                                                                  int64_t begin, int64_t end, radix_pair *heap) {
  const sort_key key = c->key;
  const lib_array a = c->call->operands[0];
  const int64_t k = c->k;
  int64_t count = 0;
  for (int64_t i = begin; i < end; i++) {
    uint64_t bits = 0;
    if (bytes) memcpy(&bits, (const char *)a.data + (first + i) * bytes, (size_t)bytes);
    else bits = element_load(&a, first + i);
    const radix_pair item = {sort_key_of(&key, bits), (uint64_t)i};
    if (count < k) rise(heap, count++, item);
    else if (item.key < heap[0].key) sink(heap, k, item);  // an equal key has a later place
  }
  return count;
}

// The best of elements begin … end - 1 of the line that starts at element `first`, in no order. Returns how many.
static int64_t choose(const choosing *c, int64_t first, int64_t begin, int64_t end, radix_pair *heap) {
  const lib_array *a = &c->call->operands[0];
  if (element_is_shared(a)) return choose_typed(c, 0, first, begin, end, heap);
  switch (dtypes[a->type].bytes) {
    case 2: return choose_typed(c, 2, first, begin, end, heap);
    case 4: return choose_typed(c, 4, first, begin, end, heap);
    case 8: return choose_typed(c, 8, first, begin, end, heap);
    default: return choose_typed(c, 1, first, begin, end, heap);
  }
}

// `items` hold candidates by ascending place.
static void store_best(const choosing *c, int64_t line, radix_pair *items, radix_pair *spare, int64_t count) {
  const lib_array *values = &c->call->results[0];
  int32_t *places = c->call->results[1].data;
  const radix_pair *sorted = radix_sort(16, 0, c->key.bits, items, spare, count, 1);
  for (int64_t j = 0; j < c->k; j++) {
    element_move(values, line * c->k + j, &c->call->operands[0], line * c->size + (int64_t)sorted[j].place);
    places[line * c->k + j] = (int32_t)sorted[j].place;
  }
}

// Candidates in no order: by place, then by key.
static void store_candidates(const choosing *c, int64_t line, radix_pair *items, radix_pair *spare, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const radix_pair swapped = {items[i].place, items[i].key};
    items[i] = swapped;
  }
  radix_pair *sorted = radix_sort(16, 0, 31, items, spare, count, 1), *other = sorted == items ? spare : items;
  for (int64_t i = 0; i < count; i++) {
    const radix_pair swapped = {sorted[i].place, sorted[i].key};
    sorted[i] = swapped;
  }
  store_best(c, line, sorted, other, count);
}

static bool sorts_all(const choosing *c) { return c->k > c->size / HEAP_SHARE; }

static void take_line(const choosing *c, int64_t line, radix_pair *room) {
  if (!sorts_all(c)) {
    store_candidates(c, line, room, room + c->k, choose(c, line * c->size, 0, c->size, room));
    return;
  }
  const lib_array *a = &c->call->operands[0];
  for (int64_t i = 0; i < c->size; i++)
    room[i] = (radix_pair){sort_key_of(&c->key, element_load(a, line * c->size + i)), (uint64_t)i};
  store_best(c, line, room, room + c->size, c->size);
}

static void take_lines(void *argument, int64_t begin, int64_t end) {
  choosing *c = argument;
  for (int64_t strand = begin; strand < end; strand++)
    for (;;) {
      const int64_t line = atomic_fetch_add_explicit(&c->next_line, 1, memory_order_relaxed);
      if (line >= c->lines) break;
      take_line(c, line, c->rooms + strand * c->room_items);
    }
}

typedef struct parting {
  choosing *c;
  int64_t line;
} parting;

static void take_parts(void *argument, int64_t begin, int64_t end) {
  const parting *p = argument;
  const choosing *c = p->c;
  const int64_t step = c->size / c->parts;
  for (int64_t part = begin; part < end; part++) {
    const int64_t last = part + 1 == c->parts ? c->size : (part + 1) * step;
    choose(c, p->line * c->size, part * step, last, c->rooms + part * c->k);
  }
}

static void take_long_line(choosing *c, int64_t line) {
  parting p = {c, line};
  pool_run(c->parts, c->parts, take_parts, &p);
  store_candidates(c, line, c->rooms, c->rooms + c->parts * c->k, c->parts * c->k);
}

static choosing plan(const lib_call *call) {
  const lib_array *a = &call->operands[0];
  choosing c = {.call = call, .size = a->dims[a->rank - 1], .k = call->results[0].dims[a->rank - 1]};
  const int64_t results = lib_element_count(&call->results[0]);
  c.lines = results ? results / c.k : 0;
  const int threads = element_is_shared(a) || call->threads < 1 ? 1 : call->threads;
  c.parts = !sorts_all(&c) && c.size >= LONG_LINE && c.lines < threads ? threads : 1;
  c.strands = c.parts > 1 ? 1 : threads < c.lines ? threads : (int)c.lines;
  c.room_items = 2 * (sorts_all(&c) ? c.size : c.k * c.parts);
  return c;
}

heddle_status top_k_check(const lib_call *call) {
  bool fits = call->operand_count == 1 && call->result_count == 2 && call->operands[0].rank > 0;
  for (int r = 0; fits && r < 2; r++) {
    const lib_array *from = &call->operands[0], *to = &call->results[r];
    fits = to->rank == from->rank && to->type == (r ? DTYPE_S32 : from->type);
    for (int d = 0; fits && d < from->rank - 1; d++) fits = to->dims[d] == from->dims[d];
    fits = fits && to->dims[to->rank - 1] == call->results[0].dims[from->rank - 1] &&
           to->dims[to->rank - 1] <= from->dims[from->rank - 1];
  }
  sort_key unused;
  if (!fits) return status_error(HEDDLE_INVALID, "top-k: the results are not the first elements and their places");
  if (!sort_key_make(call->operands[0].type, SORT_TOTAL, false, &unused))
    return status_error(HEDDLE_UNIMPLEMENTED, "top-k of %s", dtype_name(call->operands[0].type));
  if (call->operands[0].dims[call->operands[0].rank - 1] > INT32_MAX)
    return status_error(HEDDLE_UNIMPLEMENTED, "top-k of lines of more than 2^31 elements");
  return status_ok();
}

int64_t top_k_scratch(const lib_call *call) {
  const choosing c = plan(call);
  const int64_t bytes = c.strands * c.room_items * (int64_t)sizeof(radix_pair);
  return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

void top_k_execute(const lib_call *call) {
  choosing c = plan(call);
  if (!c.lines || !c.k) return;
  (void)sort_key_make(call->operands[0].type, SORT_TOTAL, lib_int(call, "largest", 1) != 0, &c.key);
  c.rooms = call->scratch;
  if (c.parts == 1) {
    pool_run(c.strands, c.strands, take_lines, &c);
    return;
  }
  for (int64_t line = 0; line < c.lines; line++) take_long_line(&c, line);
}
