// Keys become unsigned integers, which are sorted by their bits: alone where an element can be made from its key again,
// else with the place that the element comes from, by which all operands are then moved. Several keys are sorted by one
// after another, the last one first. A comparator, and `<` in a line with NaN, take a merge sort of places.
#include "lib/sort.h"

#include <stdatomic.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/element.h"
#include "lib/radix.h"
#include "lib/sort_key.h"

// Lines longer than this are given to several threads each when there are few of them. Their elements are loaded and
// moved in blocks.
enum { LONG_LINE = 64 << 10, BLOCK = 4096, LINE_BYTES = 64 };

typedef struct sorting {
  const lib_call *call;
  sort_compare_fn compare;
  int64_t size, stride, lines;
  int key_count;
  const int64_t *key_operands;
  sort_key *keys;
  bool has_order_of_less;  // some key is NaN where it means nothing
  bool may_be_alone;
  int item_bytes;  // with places: 8 or 16
  char *rooms;
  int64_t room_bytes;
  int line_threads;  // for each line
  atomic_int_fast64_t next_line;
} sorting;

typedef struct line {
  const sorting *sorting;
  int64_t base;  // of element 0; others follow at the stride
  char *room;
  void *items, *spare;
} line;

static int64_t aligned(int64_t bytes) { return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES; }

// --- places and keys

static inline __attribute__((always_inline)) int64_t position_at(const void *items, int item_bytes, int64_t i) {
  if (item_bytes == 8) return (int64_t)(((const uint64_t *)items)[i] & UINT32_MAX);
  return (int64_t)((const radix_pair *)items)[i].position;
}

static inline __attribute__((always_inline)) uint64_t bits_at(const lib_array *a, int64_t index, int bytes) {
  uint64_t bits = 0;
  if (bytes == 0) return element_load(a, index);
  memcpy(&bits, (const char *)a->data + index * bytes, (size_t)bytes);
  return bits;
}

// One pass over a line's elements, in blocks. What an item becomes: its key alone (4 or 8 bytes), or with its place.
typedef struct filling {
  const line *line;
  const lib_array *array;
  const sort_key *key;
  bool is_alone, is_first;  // first: places are those of the line
  atomic_bool merges;       // some element cannot be made from its key
} filling;

static inline __attribute__((always_inline)) void fill(filling *f, int bytes, int item_bytes, int64_t begin,
                                                       int64_t end) {
  const sort_key k = *f->key;  // copies: what is stored here could be them, for all that the compiler knows
  const lib_array array = *f->array;
  const int64_t base = f->line->base, stride = f->line->sorting->stride;
  const bool is_alone = f->is_alone, is_first = f->is_first;
  void *items = f->line->items;
  bool merges = false;
  for (int64_t i = begin; i < end; i++) {
    const int64_t position = is_first ? i : position_at(items, item_bytes, i);
    const uint64_t bits = bits_at(&array, base + position * stride, bytes), key = sort_key_of(&k, bits);
    if (is_alone) {
      merges |= sort_key_merges(&k, bits);
      if (item_bytes == 4) ((uint32_t *)items)[i] = (uint32_t)key;
      else ((uint64_t *)items)[i] = key;
    } else if (item_bytes == 8) {
      ((uint64_t *)items)[i] = key << 32 | (uint64_t)position;
    } else {
      ((radix_pair *)items)[i] = (radix_pair){key, (uint64_t)position};
    }
  }
  if (merges) atomic_store_explicit(&f->merges, true, memory_order_relaxed);
}

static int alone_bytes(const sort_key *k) { return k->bits <= 32 ? 4 : 8; }

// Whether elements of four or eight bytes lie side by side.
static bool are_words(const sorting *s) { return s->stride == 1 && dtypes[s->keys[0].type].bits >= 32; }

static void fill_blocks(void *argument, int64_t first, int64_t last) {
  filling *f = argument;
  const int64_t begin = first * BLOCK, end = int64_min(last * BLOCK, f->line->sorting->size);
  const int item_bytes = f->is_alone ? alone_bytes(f->key) : f->line->sorting->item_bytes;
  const int bytes = element_is_shared(f->array) ? 0 : dtypes[f->array->type].bytes;
  if (f->is_alone && are_words(f->line->sorting)) {
    const char *from = (const char *)f->array->data + (f->line->base + begin) * bytes;
    if (sort_key_of_words(f->key, from, (char *)f->line->items + begin * bytes, end - begin))
      atomic_store_explicit(&f->merges, true, memory_order_relaxed);
  } else if (bytes == 4 && item_bytes == 4) fill(f, 4, 4, begin, end);
  else if (bytes == 4 && item_bytes == 8) fill(f, 4, 8, begin, end);
  else if (bytes == 8 && item_bytes == 8) fill(f, 8, 8, begin, end);
  else if (bytes == 8) fill(f, 8, 16, begin, end);
  else fill(f, bytes, item_bytes, begin, end);
}

static int64_t block_count(int64_t size) { return (size + BLOCK - 1) / BLOCK; }

static void run_blocks(const sorting *s, pool_range_fn fn, void *argument) {
  if (s->line_threads > 1) pool_run(s->line_threads, block_count(s->size), fn, argument);
  else fn(argument, 0, block_count(s->size));
}

// --- results

typedef struct moving {
  const line *line;
  const lib_array *from, *to;
} moving;

static inline __attribute__((always_inline)) void move(const moving *m, int bytes, int item_bytes, int64_t begin,
                                                       int64_t end) {
  const int64_t base = m->line->base, stride = m->line->sorting->stride;
  const void *items = m->line->items;
  const char *source = m->from->data;
  char *target = m->to->data;
  for (int64_t i = begin; i < end; i++) {
    const int64_t to = base + i * stride, from = base + position_at(items, item_bytes, i) * stride;
    if (bytes) memcpy(target + to * bytes, source + from * bytes, (size_t)bytes);
    else element_move(m->to, to, m->from, from);
  }
}

static void move_blocks(void *argument, int64_t first, int64_t last) {
  const moving *m = argument;
  const int64_t begin = first * BLOCK, end = int64_min(last * BLOCK, m->line->sorting->size);
  const int item_bytes = m->line->sorting->item_bytes;
  const int bytes = element_is_shared(m->to) ? 0 : dtypes[m->to->type].bytes;
  if (bytes == 4 && item_bytes == 8) move(m, 4, 8, begin, end);
  else if (bytes == 4) move(m, 4, 16, begin, end);
  else if (bytes == 8) move(m, 8, item_bytes, begin, end);
  else if (bytes == 2) move(m, 2, item_bytes, begin, end);
  else move(m, 0, item_bytes, begin, end);
}

static void move_all(const line *l) {
  const lib_call *call = l->sorting->call;
  for (int k = 0; k < call->operand_count; k++) {
    moving m = {l, &call->operands[k], &call->results[k]};
    run_blocks(l->sorting, move_blocks, &m);
  }
}

static void store_alone_blocks(void *argument, int64_t first, int64_t last) {
  const moving *m = argument;
  const sorting *s = m->line->sorting;
  const int64_t begin = first * BLOCK, end = int64_min(last * BLOCK, s->size);
  const sort_key k = s->keys[0];
  const int64_t base = m->line->base, stride = s->stride;
  const void *items = m->line->items;
  char *to = m->to->data;
  const int bytes = dtypes[k.type].bytes;
  if (are_words(s)) {
    sort_key_words(&k, (const char *)items + begin * bytes, to + (base + begin) * bytes, end - begin);
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    const uint64_t key = bytes == 8 ? ((const uint64_t *)items)[i] : ((const uint32_t *)items)[i];
    const uint64_t bits = sort_key_bits(&k, key);
    if (bytes == 4) memcpy(to + (base + i * stride) * 4, &bits, 4);
    else if (bytes == 8) memcpy(to + (base + i * stride) * 8, &bits, 8);
    else memcpy(to + (base + i * stride) * 2, &bits, 2);
  }
}

// --- by keys

// False, with nothing done, if some element cannot be made from its key.
static bool sort_alone(line *l) {
  const sorting *s = l->sorting;
  filling f = {.line = l, .array = &s->call->operands[0], .key = &s->keys[0], .is_alone = true, .is_first = true};
  run_blocks(s, fill_blocks, &f);
  if (atomic_load(&f.merges)) return false;
  l->items = radix_sort(alone_bytes(f.key), 0, f.key->bits, l->items, l->spare, s->size, s->line_threads);
  moving m = {.line = l, .to = &s->call->results[0]};
  run_blocks(s, store_alone_blocks, &m);
  return true;
}

static void sort_places(line *l) {
  const sorting *s = l->sorting;
  for (int k = s->key_count - 1; k >= 0; k--) {
    const int shift = s->item_bytes == 8 ? 32 : 0;
    filling f = {.line = l, .array = &s->call->operands[s->key_operands[k]], .key = &s->keys[k]};
    f.is_first = k == s->key_count - 1;
    run_blocks(s, fill_blocks, &f);
    void *sorted = radix_sort(s->item_bytes, shift, shift + f.key->bits, l->items, l->spare, s->size, s->line_threads);
    l->spare = sorted == l->items ? l->spare : l->items;
    l->items = sorted;
  }
  move_all(l);
}

// --- by comparing

typedef bool (*less_fn)(const line *l, int64_t x, int64_t y);

// By `<`: NaN comes neither before nor after anything, and equals nothing.
static bool less_by_keys(const line *l, int64_t x, int64_t y) {
  const sorting *s = l->sorting;
  for (int k = 0; k < s->key_count; k++) {
    const lib_array *a = &s->call->operands[s->key_operands[k]];
    const uint64_t left = element_load(a, l->base + x * s->stride), right = element_load(a, l->base + y * s->stride);
    const sort_key *key = &s->keys[k];
    if (key->order == SORT_LESS && (sort_key_is_nan(key, left) || sort_key_is_nan(key, right))) return false;
    const uint64_t left_key = sort_key_of(key, left), right_key = sort_key_of(key, right);
    if (left_key != right_key) return left_key < right_key;
  }
  return false;
}

// The comparator's buffers lie in the room behind the places: addresses, then a byte for each element that shares one.
static bool less_by_comparator(const line *l, int64_t x, int64_t y) {
  const sorting *s = l->sorting;
  const int count = s->call->operand_count;
  void **buffers = (void **)(void *)(l->room + aligned(2 * s->size * (int64_t)sizeof(int64_t)));
  unsigned char *bytes = (unsigned char *)&buffers[2 * count + 1];
  const int64_t at[2] = {l->base + x * s->stride, l->base + y * s->stride};
  for (int k = 0; k < 2 * count; k++) {
    const lib_array *a = &s->call->operands[k / 2];
    bytes[k] = element_is_shared(a) ? (unsigned char)element_load(a, at[k % 2]) : 0;
    buffers[k] = element_is_shared(a) ? (void *)&bytes[k] : (char *)a->data + at[k % 2] * dtypes[a->type].bytes;
  }
  buffers[2 * count] = &bytes[2 * count];
  s->compare(buffers, 0, 1);
  return bytes[2 * count] != 0;
}

static void merge(const line *l, less_fn less, const int64_t *from, int64_t *to, const int64_t bounds[3]) {
  int64_t left = bounds[0], right = bounds[1];
  for (int64_t at = bounds[0]; at < bounds[2]; at++) {
    bool takes_right = left == bounds[1];
    if (left < bounds[1] && right < bounds[2]) takes_right = less(l, from[right], from[left]);
    to[at] = takes_right ? from[right++] : from[left++];
  }
}

static void sort_by_comparing(line *l, less_fn less) {
  const sorting *s = l->sorting;
  int64_t *order = l->items, *spare = order + s->size;
  for (int64_t i = 0; i < s->size; i++) order[i] = i;
  for (int64_t width = 1; width < s->size; width *= 2) {
    for (int64_t low = 0; low < s->size; low += 2 * width)
      merge(l, less, order, spare,
            (int64_t[]){low, int64_min(low + width, s->size), int64_min(low + 2 * width, s->size)});
    int64_t *sorted = spare;
    spare = order;
    order = sorted;
  }
  for (int k = 0; k < s->call->operand_count; k++)
    for (int64_t i = 0; i < s->size; i++)
      element_move(&s->call->results[k], l->base + i * s->stride, &s->call->operands[k],
                   l->base + order[i] * s->stride);
}

static bool has_nan(const line *l) {
  const sorting *s = l->sorting;
  for (int k = 0; k < s->key_count; k++) {
    if (s->keys[k].order != SORT_LESS || !s->keys[k].is_float) continue;
    const lib_array *a = &s->call->operands[s->key_operands[k]];
    for (int64_t i = 0; i < s->size; i++)
      if (sort_key_is_nan(&s->keys[k], element_load(a, l->base + i * s->stride))) return true;
  }
  return false;
}

// --- lines

static void sort_line(const sorting *s, int64_t number, char *room) {
  line l = {.sorting = s, .room = room, .items = room};
  l.base = number / s->stride * s->size * s->stride + number % s->stride;
  l.spare = room + aligned(s->size * s->item_bytes);
  if (s->compare) {
    sort_by_comparing(&l, less_by_comparator);
    return;
  }
  if (s->has_order_of_less && has_nan(&l)) {
    sort_by_comparing(&l, less_by_keys);
    return;
  }
  if (!s->may_be_alone || !sort_alone(&l)) sort_places(&l);
}

// Each item is a strand with a room of its own, which takes the next lines that nobody has taken yet: several short
// ones.
static void sort_strands(void *argument, int64_t begin, int64_t end) {
  sorting *s = argument;
  const int64_t together = int64_max(1, BLOCK / 8 / s->size);
  for (int64_t strand = begin; strand < end; strand++)
    for (;;) {
      const int64_t first = atomic_fetch_add_explicit(&s->next_line, together, memory_order_relaxed);
      if (first >= s->lines) break;
      for (int64_t number = first; number < int64_min(first + together, s->lines); number++)
        sort_line(s, number, s->rooms + strand * s->room_bytes);
    }
}

// --- calls

static heddle_status wrong(const char *what) { return status_error(HEDDLE_INVALID, "sort: %s", what); }

static heddle_status check_arrays(const lib_call *call) {
  if (call->operand_count < 1 || call->result_count != call->operand_count) return wrong("a result for each operand");
  const lib_array *first = &call->operands[0];
  for (int k = 0; k < 2 * call->operand_count; k++) {
    const lib_array *a = k % 2 ? &call->results[k / 2] : &call->operands[k / 2];
    if (a->type != call->operands[k / 2].type || a->rank != first->rank) return wrong("all arrays want the same shape");
    for (int d = 0; d < a->rank; d++)
      if (a->dims[d] != first->dims[d]) return wrong("all arrays want the same shape");
  }
  const int64_t dimension = lib_int(call, "dimension", -1);
  return dimension >= 0 && dimension < first->rank ? status_ok() : wrong("there is no such dimension");
}

static heddle_status check_keys(const lib_call *call) {
  const named_attribute *keys = lib_ints(call, "keys"), *descending = lib_ints(call, "descending"),
                        *order = lib_ints(call, "order");
  if (!keys || !keys->count || !descending || !order || descending->count != keys->count || order->count != keys->count)
    return wrong("keys, and for each whether it descends and its order, are wanted");
  for (int k = 0; k < keys->count; k++) {
    if (keys->ints[k] < 0 || keys->ints[k] >= call->operand_count) return wrong("a key is no operand");
    if (order->ints[k] < 0 || order->ints[k] >= SORT_ORDER_COUNT) return wrong("there is no such order");
    sort_key unused;
    if (!sort_key_make(call->operands[keys->ints[k]].type, SORT_TOTAL, false, &unused))
      return status_error(HEDDLE_UNIMPLEMENTED, "sort: a key of %s", dtype_name(call->operands[keys->ints[k]].type));
  }
  return status_ok();
}

heddle_status sort_call_check(const lib_call *call, bool has_comparator) {
  TRY(check_arrays(call));
  return has_comparator ? status_ok() : check_keys(call);
}

// All but memory.
static sorting plan(const lib_call *call, bool has_comparator) {
  const lib_array *a = &call->operands[0];
  const int64_t dimension = lib_int(call, "dimension", 0), elements = lib_element_count(a);
  sorting s = {.call = call, .size = a->dims[dimension], .stride = 1, .line_threads = 1, .item_bytes = 8};
  for (int d = (int)dimension + 1; d < a->rank; d++) s.stride *= a->dims[d];
  s.lines = elements ? elements / s.size : 0;
  const named_attribute *keys = has_comparator ? NULL : lib_ints(call, "keys");
  const named_attribute *order = has_comparator ? NULL : lib_ints(call, "order");
  if (keys) {
    s.key_count = keys->count;
    s.key_operands = keys->ints;
  }
  for (int k = 0; k < s.key_count; k++) {
    const dtype_info *t = &dtypes[call->operands[s.key_operands[k]].type];
    if (t->bits > 32 || s.size > UINT32_MAX) s.item_bytes = 16;
    s.has_order_of_less = s.has_order_of_less || (order->ints[k] == SORT_LESS && t->class == CLASS_FLOAT);
  }
  s.may_be_alone = s.key_count == 1 && call->operand_count == 1 && dtypes[a->type].bits > 8;
  const int64_t positions = 2 * aligned(s.size * s.item_bytes), count = call->operand_count;
  const int64_t buffers = (2 * count + 1) * (int64_t)(sizeof(void *) + 1);
  s.room_bytes = has_comparator ? aligned(2 * s.size * (int64_t)sizeof(int64_t)) + aligned(buffers) : positions;
  return s;
}

static int64_t keys_bytes(const sorting *s) { return aligned(s->key_count * (int64_t)sizeof *s->keys); }

static int strand_count(const sorting *s, int threads) {
  const bool is_long = !s->compare && s->size >= LONG_LINE && s->lines < 2 * threads;
  for (int k = 0; k < s->call->operand_count; k++)
    if (element_is_shared(&s->call->operands[k])) return 1;
  return is_long || threads < 1 ? 1 : (int)int64_min(threads, s->lines);
}

int64_t sort_call_scratch(const lib_call *call, bool has_comparator) {
  const sorting s = plan(call, has_comparator);
  return keys_bytes(&s) + int64_min(call->threads > 1 ? call->threads : 1, s.lines) * s.room_bytes;
}

void sort_call_execute(const lib_call *call, sort_compare_fn compare) {
  sorting s = plan(call, compare != NULL);
  if (!s.lines) return;
  s.compare = compare;
  s.keys = call->scratch;
  s.rooms = (char *)call->scratch + keys_bytes(&s);
  for (int k = 0; k < s.key_count; k++)
    (void)sort_key_make(call->operands[s.key_operands[k]].type, (sort_order)lib_ints(call, "order")->ints[k],
                        lib_ints(call, "descending")->ints[k] != 0, &s.keys[k]);
  const int strands = strand_count(&s, call->threads);
  if (strands == 1 && s.size >= LONG_LINE) s.line_threads = call->threads;
  for (int k = 0; k < call->operand_count; k++)
    if (element_is_shared(&call->operands[k])) s.line_threads = 1;
  pool_run(strands, strands, sort_strands, &s);
}
