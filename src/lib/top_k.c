// A line is walked once. What may be among the best k goes into a room for twice as many, in the line's order; when
// that is full, its k best are found by their keys' digits, stay in their order, and the last of them turns away all
// that does not come before it. So the time is linear in the line for every order of its elements, and only what is
// left in the room at the end is sorted. A few best are kept in their order, each new one put in its place; of a line
// of some length the best of each of its residue classes are found first, in vectors: the k-th of these turns away
// nearly all that is not among the best k. A long line alone is cut into parts for the threads, whose best are put
// together.
#include "lib/top_k.h"

#include <stdatomic.h>

#include "base/cpu_level.h"
#include "base/pool.h"
#include "lib/element.h"
#include "lib/radix.h"
#include "lib/sort_key.h"

enum {
  LONG_LINE = 64 << 10,
  LINE_BYTES = 64,
  LEAST_ROOM = 64,
  PART_SHARE = 16,
  DIGIT_BITS = 8,
  FEW = 16,
  VERY_FEW = 6,      // best of a line no longer than
  SHORT_LINE = 128,  // this are found without a branch
  GLANCE = 32,
  CLASSES = 32,        // residue classes of a line, no fewer than FEW
  CLASSED_LINE = 256,  // the shortest line that is worth a look at its classes
  TOGETHER = 512       // elements of lines that a thread takes at a time
};

_Static_assert((int)CLASSES >= (int)FEW, "the k-th best class bounds the k best");

typedef struct choosing {
  const lib_call *call;
  sort_key key;
  int64_t size, k, lines;
  int strands, parts;  // parts: of each line
  int item_bytes;      // 8: the key above the place's 32 bits; 16: a radix_pair
  char *rooms;
  int64_t room_items;  // of a strand or a part; as many spare ones follow them
  atomic_int_fast64_t next_line;
} choosing;

static inline __attribute__((always_inline)) uint64_t key_at(const void *items, int item_bytes, int64_t i) {
  return item_bytes == 8 ? ((const uint64_t *)items)[i] >> 32 : ((const radix_pair *)items)[i].key;
}

static inline __attribute__((always_inline)) int64_t position_at(const void *items, int item_bytes, int64_t i) {
  return (int64_t)(item_bytes == 8 ? ((const uint64_t *)items)[i] & UINT32_MAX
                                   : ((const radix_pair *)items)[i].position);
}

static inline __attribute__((always_inline)) void put(void *items, int item_bytes, int64_t i, uint64_t key,
                                                      int64_t position) {
  if (item_bytes == 8) ((uint64_t *)items)[i] = key << 32 | (uint64_t)position;
  else ((radix_pair *)items)[i] = (radix_pair){key, (uint64_t)position};
}

// Keeps the `k` smallest of more items in their order; of equal ones the first. Returns the largest key kept.
static inline __attribute__((always_inline)) uint64_t keep_best(void *items, int item_bytes, int key_bits,
                                                                int64_t count, int64_t k) {
  uint64_t last = 0;  // of the largest key, the digits found so far
  int64_t rank = k - 1;
  for (int shift = (key_bits - 1) / DIGIT_BITS * DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
    int64_t counts[1 << DIGIT_BITS] = {0};
    const uint64_t above = shift + DIGIT_BITS < 64 ? ~(uint64_t)0 << (shift + DIGIT_BITS) : 0;
    for (int64_t i = 0; i < count; i++) {
      const uint64_t key = key_at(items, item_bytes, i);
      if (((key ^ last) & above) == 0) counts[key >> shift & ((1 << DIGIT_BITS) - 1)]++;
    }
    uint64_t digit = 0;
    while (rank >= counts[digit]) rank -= counts[digit++];
    last |= digit << shift;
  }
  int64_t kept = 0;  // `rank` items of the largest key come before the last one
  for (int64_t i = 0; kept < k; i++) {
    const uint64_t key = key_at(items, item_bytes, i);
    if (key > last || (key == last && rank-- < 0)) continue;
    put(items, item_bytes, kept++, key, position_at(items, item_bytes, i));
  }
  return last;
}

static inline __attribute__((always_inline)) uint64_t key_of_element(const choosing *c, int bytes, int64_t i) {
  const lib_array *a = &c->call->operands[0];
  uint64_t bits = 0;
  if (bytes) memcpy(&bits, (const char *)a->data + i * bytes, (size_t)bytes);
  else bits = element_load(a, i);
  return sort_key_of(&c->key, bits);
}

// Keys of 32 bits as vectors compare them, signed, without a branch.
typedef struct vector_key {
  uint32_t turns, top, flip;
} vector_key;

static inline __attribute__((always_inline)) vector_key vector_key_of(const sort_key *key) {
  return (vector_key){key->is_float ? UINT32_MAX : 0, (uint32_t)key->top, (uint32_t)key->flip ^ 1u << 31};
}

static inline __attribute__((always_inline)) int32_t signed_key(vector_key v, uint32_t bits) {
  return (int32_t)(bits ^ (((uint32_t)((int32_t)bits >> 31) & v.turns) | v.top) ^ v.flip);
}

// The first element of a glance among which some key is below `last`, or of less than a glance before the end. Most
// keys are not: all of a glance are looked at without a branch, in vectors.
static inline __attribute__((always_inline)) int64_t glance_over(const sort_key *key, const uint32_t *data, int64_t i,
                                                                 int64_t end, uint32_t last) {
  const vector_key v = vector_key_of(key);
  const int32_t limit = (int32_t)(last ^ 1u << 31);
  for (; i + GLANCE <= end; i += GLANCE) {
    int32_t found = 0;
    for (int64_t k = i; k < i + GLANCE; k++) found |= signed_key(v, data[k]) < limit;
    if (found) break;
  }
  return i;
}

// A key that those of at least `k` of the elements do not exceed: the k-th of the least keys of all residue classes.
static inline __attribute__((always_inline)) uint32_t bound_of(const sort_key *key, const uint32_t *data, int64_t size,
                                                               int64_t k) {
  const vector_key v = vector_key_of(key);
  int32_t least[CLASSES], bound = INT32_MIN;
  for (int c = 0; c < CLASSES; c++) least[c] = signed_key(v, data[c]);
  for (int64_t i = CLASSES; i + CLASSES <= size; i += CLASSES)
    for (int c = 0; c < CLASSES; c++) {
      const int32_t found = signed_key(v, data[i + c]);
      least[c] = found < least[c] ? found : least[c];
    }
  for (int c = 0; c < CLASSES; c++) {
    int32_t before = 0;
    for (int other = 0; other < CLASSES; other++) before += least[other] < least[c];
    if (before < k && least[c] > bound) bound = least[c];
  }
  return (uint32_t)bound ^ 1u << 31;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static int64_t glance_over_avx2(const sort_key *key, const uint32_t *data, int64_t i,
                                                                int64_t end, uint32_t last) {
  return glance_over(key, data, i, end, last);
}

__attribute__((target("avx2"))) static uint32_t bound_of_avx2(const sort_key *key, const uint32_t *data, int64_t size,
                                                              int64_t k) {
  return bound_of(key, data, size, k);
}
#else
#define glance_over_avx2 glance_over
#define bound_of_avx2 bound_of
#endif

// The first of elements i … end - 1 that comes before `last`, or `end`.
static inline __attribute__((always_inline)) int64_t next_before(const choosing *c, int bytes, int64_t i, int64_t end,
                                                                 uint64_t last) {
  if (bytes == 4 && !c->key.has_table) {
    const uint32_t *data = c->call->operands[0].data;
    i = cpu_level_has_avx2() ? glance_over_avx2(&c->key, data, i, end, (uint32_t)last)
                             : glance_over(&c->key, data, i, end, (uint32_t)last);
  }
  while (i < end && key_of_element(c, bytes, i) >= last) i++;
  return i;
}

// Each element goes past all that were best so far, without a branch, which in a short line nobody could foresee.
// `most` is a constant of each caller.
static inline __attribute__((always_inline)) int64_t choose_very_few(const choosing *c, int bytes, int most,
                                                                     int64_t first, int64_t size, uint64_t *best) {
  uint64_t kept[VERY_FEW];
  for (int j = 0; j < most; j++) kept[j] = UINT64_MAX;
  for (int64_t i = 0; i < size; i++) {
    uint64_t item = key_of_element(c, bytes, first + i) << 32 | (uint64_t)i;
#pragma GCC unroll 6
    for (int j = 0; j < most; j++) {
      const uint64_t low = item < kept[j] ? item : kept[j];
      item = item < kept[j] ? kept[j] : item;
      kept[j] = low;
    }
  }
  for (int j = 0; j < c->k; j++) best[j] = kept[j];
  return c->k;
}

// What the keys of the line's best k are all below, found without sorting; UINT64_MAX where that is not worth a look.
static inline __attribute__((always_inline)) uint64_t limit_of(const choosing *c, int bytes, int64_t first,
                                                               int64_t size) {
  if (bytes != 4 || c->key.has_table || size < CLASSED_LINE) return UINT64_MAX;
  const uint32_t *data = (const uint32_t *)c->call->operands[0].data + first;
  const uint32_t bound =
      cpu_level_has_avx2() ? bound_of_avx2(&c->key, data, size, c->k) : bound_of(&c->key, data, size, c->k);
  return bound == UINT32_MAX ? UINT64_MAX : (uint64_t)bound + 1;
}

// The best k of the line of `size` elements that starts at element `first`, in their order. Returns how many.
static inline __attribute__((always_inline)) int64_t choose_few(const choosing *c, int bytes, int64_t first,
                                                                int64_t size, uint64_t *best) {
  int64_t count = 0;
  if (c->k < 1) return 0;
  if (c->k == 1 && size <= SHORT_LINE) return choose_very_few(c, bytes, 1, first, size, best);
  if (c->k <= VERY_FEW && size <= SHORT_LINE) return choose_very_few(c, bytes, VERY_FEW, first, size, best);
  uint64_t limit = limit_of(c, bytes, first, size);
  for (int64_t i = 0; i < size; i++) {
    if (limit != UINT64_MAX) {
      i = next_before(c, bytes, first + i, first + size, limit) - first;
      if (i == size) break;
    }
    const uint64_t item = key_of_element(c, bytes, first + i) << 32 | (uint64_t)i;
    int64_t position = count < c->k ? count++ : count - 1;
    for (; position > 0 && best[position - 1] > item; position--) best[position] = best[position - 1];
    best[position] = item;
    if (count == c->k) limit = best[count - 1] >> 32;
  }
  return count;
}

static inline __attribute__((always_inline)) int64_t choose_typed(const choosing *c, int bytes, int item_bytes,
                                                                  int64_t first, int64_t begin, int64_t end,
                                                                  void *items) {
  const int64_t k = c->k, room = c->room_items;
  int64_t count = 0;
  uint64_t last = 0;
  bool is_full = false;  // k elements before this one do not come after `last`
  for (int64_t i = begin; i < end; i++) {
    if (is_full) i = next_before(c, bytes, first + i, first + end, last) - first;
    if (i == end) break;
    const uint64_t of_element = key_of_element(c, bytes, first + i);
    if (count == room) {
      last = keep_best(items, item_bytes, c->key.bits, count, k);
      count = k;
      is_full = true;
      if (of_element >= last) continue;
    }
    put(items, item_bytes, count++, of_element, i);
  }
  return count;
}

// Of elements begin … end - 1 of the line that starts at element `first`: the best and perhaps some more, by ascending
// place. Returns how many.
static int64_t choose(const choosing *c, int64_t first, int64_t begin, int64_t end, void *items) {
  const lib_array *a = &c->call->operands[0];
  const int bytes = element_is_shared(a) ? 0 : dtypes[a->type].bytes;
  if (bytes == 8) return choose_typed(c, 8, 16, first, begin, end, items);
  if (bytes == 4) return choose_typed(c, 4, 8, first, begin, end, items);
  if (bytes == 2) return choose_typed(c, 2, 8, first, begin, end, items);
  return choose_typed(c, bytes, 8, first, begin, end, items);
}

static inline __attribute__((always_inline)) void store(const choosing *c, int64_t line, int bytes, int item_bytes,
                                                        const void *sorted) {
  const lib_array *values = &c->call->results[0], *from = &c->call->operands[0];
  const sort_key *key = &c->key;
  int32_t *positions = (int32_t *)c->call->results[1].data + line * c->k;
  char *to = (char *)values->data + line * c->k * bytes;
  for (int64_t j = 0; j < c->k; j++) {
    const int64_t position = position_at(sorted, item_bytes, j);
    const uint64_t bits = bytes ? sort_key_bits(key, key_at(sorted, item_bytes, j)) : 0;
    if (bytes) memcpy(to + j * bytes, &bits, (size_t)bytes);
    else element_move(values, line * c->k + j, from, line * c->size + position);
    positions[j] = (int32_t)position;
  }
}

static void store_sorted(const choosing *c, int64_t line, const void *sorted) {
  const int bytes = c->key.has_table ? 0 : dtypes[c->key.type].bytes;
  if (bytes == 8) store(c, line, 8, 16, sorted);
  else if (bytes == 4) store(c, line, 4, 8, sorted);
  else if (bytes == 2) store(c, line, 2, 8, sorted);
  else store(c, line, 0, 8, sorted);
}

static void store_best(const choosing *c, int64_t line, void *items, void *spare, int64_t count) {
  const int shift = c->item_bytes == 8 ? 32 : 0, threads = c->strands == 1 ? c->call->threads : 1;
  store_sorted(c, line, radix_sort(c->item_bytes, shift, shift + c->key.bits, items, spare, count, threads));
}

static void take_few(const choosing *c, int64_t line) {
  uint64_t best[FEW];
  const lib_array *a = &c->call->operands[0];
  const int bytes = element_is_shared(a) ? 0 : dtypes[a->type].bytes;
  const int64_t first = line * c->size;
  if (bytes == 4) (void)choose_few(c, 4, first, c->size, best);
  else if (bytes == 2) (void)choose_few(c, 2, first, c->size, best);
  else (void)choose_few(c, bytes, first, c->size, best);
  store_sorted(c, line, best);
}

static void take_line(const choosing *c, int64_t line, char *items) {
  if (c->k <= FEW && c->item_bytes == 8) {
    take_few(c, line);
    return;
  }
  const int64_t count = choose(c, line * c->size, 0, c->size, items);
  store_best(c, line, items, items + c->room_items * c->item_bytes, count);
}

// The next lines that nobody has taken yet: several short ones.
static void take_lines(void *argument, int64_t begin, int64_t end) {
  choosing *c = argument;
  const int64_t together = c->size < TOGETHER ? TOGETHER / c->size : 1;
  for (int64_t strand = begin; strand < end; strand++) {
    char *items = c->rooms + 2 * strand * c->room_items * c->item_bytes;
    for (;;) {
      const int64_t first = atomic_fetch_add_explicit(&c->next_line, together, memory_order_relaxed);
      if (first >= c->lines) break;
      for (int64_t line = first; line < first + together && line < c->lines; line++) take_line(c, line, items);
    }
  }
}

typedef struct parting {
  choosing *c;
  int64_t line;
} parting;

static char *part_room(const choosing *c, int64_t part) { return c->rooms + part * c->room_items * c->item_bytes; }

// The best k of each part; there are more elements than that in each.
static void take_parts(void *argument, int64_t begin, int64_t end) {
  const parting *p = argument;
  const choosing *c = p->c;
  const int64_t step = c->size / c->parts;
  for (int64_t part = begin; part < end; part++) {
    const int64_t last = part + 1 == c->parts ? c->size : (part + 1) * step;
    const int64_t count = choose(c, p->line * c->size, part * step, last, part_room(c, part));
    if (c->item_bytes == 8) (void)keep_best(part_room(c, part), 8, c->key.bits, count, c->k);
    else (void)keep_best(part_room(c, part), 16, c->key.bits, count, c->k);
  }
}

static void take_long_line(choosing *c, int64_t line) {
  parting p = {c, line};
  pool_run(c->parts, c->parts, take_parts, &p);
  const int64_t bytes = c->k * c->item_bytes;
  for (int64_t part = 1; part < c->parts; part++) memmove(c->rooms + part * bytes, part_room(c, part), (size_t)bytes);
  store_best(c, line, c->rooms, part_room(c, c->parts), c->parts * c->k);
}

static choosing plan(const lib_call *call) {
  const lib_array *a = &call->operands[0];
  choosing c = {.call = call, .size = a->dims[a->rank - 1], .k = call->results[0].dims[a->rank - 1]};
  const int64_t results = lib_element_count(&call->results[0]);
  c.lines = results ? results / c.k : 0;
  const int threads = element_is_shared(a) || call->threads < 1 ? 1 : call->threads;
  c.parts = c.k <= c.size / PART_SHARE / threads && c.size >= LONG_LINE && c.lines < threads ? threads : 1;
  c.strands = c.parts > 1 ? 1 : threads < c.lines ? threads : (int)c.lines;
  c.item_bytes = dtypes[a->type].bits <= 32 ? 8 : 16;
  c.room_items = c.k > LEAST_ROOM / 2 ? 2 * c.k : LEAST_ROOM;
  if (c.room_items > c.size) c.room_items = c.size;
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
  if (!fits) return status_error(HEDDLE_INVALID, "top-k: the results are not the first elements and their indices");
  if (!sort_key_make(call->operands[0].type, SORT_TOTAL, false, &unused))
    return status_error(HEDDLE_UNIMPLEMENTED, "top-k of %s", dtype_name(call->operands[0].type));
  if (call->operands[0].dims[call->operands[0].rank - 1] > INT32_MAX)
    return status_error(HEDDLE_UNIMPLEMENTED, "top-k of lines of more than 2^31 elements");
  return status_ok();
}

int64_t top_k_scratch(const lib_call *call) {
  const choosing c = plan(call);
  const int64_t bytes = 2 * c.strands * c.parts * c.room_items * c.item_bytes;
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
