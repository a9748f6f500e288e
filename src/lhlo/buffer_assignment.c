// Makes allocations and gives every value an offset in one of them.
#include "lhlo/buffer_assignment.h"

#include "base/int64.h"
#include "lhlo/buffer_coalesce.h"
#include "lhlo/buffer_pack.h"

static lhlo_allocation allocation_for(arena *a, lhlo_allocation_kind kind, int number, const shape *s) {
  static const char prefixes[] = {[LHLO_PARAMETER] = 'p', [LHLO_RESULT] = 'r', [LHLO_CONSTANT] = 'c'};
  return (lhlo_allocation){.kind = kind,
                           .name = arena_printf(a, "%c%d", prefixes[kind], number),
                           .number = number,
                           .bytes = kernel_buffer_bytes(s),
                           .shape = s,
                           .donated_parameter = -1};
}

static void add_allocations(arena *a, buffer_assignment *b) {
  const buffer_values *v = b->values;
  lhlo_allocation *out = arena_array(a, lhlo_allocation, v->parameter_count + v->result_count + v->constants.size + 1);
  b->allocations = out;
  for (int k = 0; k < v->parameter_count; k++) *out++ = allocation_for(a, LHLO_PARAMETER, k, v->parameters[k]);
  for (int k = 0; k < v->result_count; k++) {
    *out = allocation_for(a, LHLO_RESULT, k, v->results[k]);
    out++->donated_parameter = v->donated[k];
  }
  for (int k = 0; k < v->constants.size; k++) {
    *out = allocation_for(a, LHLO_CONSTANT, k, v->constants.data[k].shape);
    out++->value = v->constants.data[k].value;
  }
  if (b->has_arena)
    *out++ =
        (lhlo_allocation){.kind = LHLO_TEMPORARY, .name = "temp", .bytes = b->temporary_bytes, .donated_parameter = -1};
  b->allocation_count = (int)(out - b->allocations);
}

static void find_fixed(arena *a, buffer_assignment *b) {
  buffer_values *v = b->values;
  b->fixed = arena_array(a, int, v->values.size);
  for (int k = 0; k < v->values.size; k++) b->fixed[k] = -1;
  for (int k = 0; k < v->values.size; k++)
    if (v->values.data[k].is_fixed) b->fixed[buffer_representative(v, k)] = k;
}

static bool needs_memory(const buffer_assignment *b, int value) {
  return buffer_representative(b->values, value) == value && b->fixed[value] < 0 &&
         b->values->values.data[value].bytes > 0;
}

static heddle_status too_large(const buffer_assignment *b, int value) {
  const buffer_value *x = &b->values->values.data[value];
  const instruction *i = b->values->events.data[x->written]->source;
  return status_at(HEDDLE_OUT_OF_MEMORY, i ? i->where : SOURCE_UNKNOWN,
                   "the program's values take more memory than can be addressed");
}

// Events for which memory that is free again is left alone where a device has several streams: what lies in the same
// bytes runs in order.
static int events_apart(const buffer_values *v) {
  enum { APART = 16 };
  return v->streams > 1 ? APART : 0;
}

// From the event that writes the buffer first to the one that reads it last.
static pack_block block_for(const live_range *life, int64_t bytes) {
  return (pack_block){.bytes = (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT,
                      .first = (int)((life->data[0].begin - 1) / 2),
                      .last = (int)((life->data[life->size - 1].end - 1) / 2)};
}

// Until its value is written, a result's memory may hold others. A donated parameter's is in use from the start.
static int find_rooms(const buffer_assignment *b, const live_range *lives, pack_room *rooms, int *results) {
  const buffer_values *v = b->values;
  int count = 0;
  for (int k = 0; k < v->values.size; k++) {
    int fixed = b->fixed[k];
    if (fixed < 0 || v->values.data[fixed].kind != LHLO_RESULT || lives[k].size == 0) continue;
    int number = v->values.data[fixed].number;
    if (v->donated[number] >= 0) continue;
    results[count] = number;
    rooms[count++] = (pack_room){v->values.data[fixed].bytes, (int)((lives[k].data[0].begin - 1) / 2) - 1};
  }
  return count;
}

// Of an open size it is not known which of two is larger, nor where 64 bytes end: each element of the open dims gets a
// multiple of the alignment, so that all offsets are multiples of it whatever the sizes are.
static int64_t bytes_of(const buffer_values *v, int value) {
  const buffer_value *x = &v->values.data[value];
  const int64_t open = module_open_count(v->module, x->shape);
  if (open <= 1) return x->bytes;
  const int64_t unit = (x->bytes / open + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
  return int64_saturating_mul(unit, open);
}

// Blocks of open sizes share memory with blocks of the same size only; those of all other sizes lie in front.
static pack_result pack_open(arena *a, int64_t open_from, int count, pack_block *blocks) {
  pack_block *group = arena_array(a, pack_block, count);
  int *members = arena_array(a, int, count);
  bool *done = arena_array(a, bool, count);
  pack_result all = {0};
  for (int k = -1; k < count; k++) {
    if (k >= 0 && done[k]) continue;
    int size = 0;
    for (int n = k < 0 ? 0 : k; n < count; n++) {
      const bool belongs = k < 0 ? blocks[n].bytes < open_from : !done[n] && blocks[n].bytes == blocks[k].bytes;
      if (!belongs) continue;
      done[n] = true;
      members[size] = n;
      group[size++] = blocks[n];
    }
    if (size == 0) continue;
    const pack_result packed = buffer_pack(a, size, group, 0, NULL);
    for (int n = 0; n < size; n++) {
      blocks[members[n]].room = -1;
      blocks[members[n]].offset = all.bytes + group[n].offset;
    }
    all.bytes += packed.bytes;
    all.most_live += packed.most_live;
  }
  return all;
}

static heddle_status pack_arena(arena *a, buffer_assignment *b, const live_range *lives) {
  buffer_values *v = b->values;
  int count = 0;
  int64_t left = LHLO_MOST_BYTES;
  b->offsets = arena_array(a, int64_t, v->values.size);
  b->rooms = arena_array(a, int, v->values.size);
  pack_block *blocks = arena_array(a, pack_block, v->values.size);
  for (int k = 0; k < v->values.size; k++) {
    b->has_arena |= b->fixed[buffer_representative(v, k)] < 0;
    b->rooms[k] = -1;
    if (!needs_memory(b, k)) continue;
    const int64_t bytes = bytes_of(v, k);
    if (bytes > left) return too_large(b, k);
    left -= bytes;
    blocks[count] = block_for(&lives[k], bytes);
    blocks[count++].last += events_apart(v);
  }
  pack_room *rooms = arena_array(a, pack_room, v->result_count);
  int *results = arena_array(a, int, v->result_count);
  int room_count = find_rooms(b, lives, rooms, results);
  const int64_t open_from = v->module->open_from;
  pack_result packed =
      open_from > 0 ? pack_open(a, open_from, count, blocks) : buffer_pack(a, count, blocks, room_count, rooms);
  b->temporary_bytes = packed.bytes;
  b->most_live_bytes = packed.most_live;
  for (int k = v->values.size; k-- > 0;) {
    if (!needs_memory(b, k)) continue;
    b->offsets[k] = blocks[--count].offset;
    if (blocks[count].room >= 0) b->rooms[k] = results[blocks[count].room];
  }
  return status_ok();
}

// Temporaries from the event that writes them first to the one that reads them last.
static void count_live(arena *a, buffer_assignment *b, const live_range *lives) {
  const buffer_values *v = b->values;
  b->live_bytes = arena_array(a, int64_t, v->events.size + 1);
  for (int k = 0; k < v->values.size; k++) {
    if (!needs_memory(b, k)) continue;
    const pack_block block = block_for(&lives[k], v->values.data[k].bytes);
    b->live_bytes[block.first] += v->values.data[k].bytes;
    b->live_bytes[block.last + 1] -= v->values.data[k].bytes;
  }
  for (int k = 1; k < v->events.size; k++) b->live_bytes[k] += b->live_bytes[k - 1];
}

heddle_status buffer_assignment_find(arena *a, buffer_values *v, buffer_assignment *out) {
  *out = (buffer_assignment){.values = v};
  live_range *lives;
  buffer_coalesce(a, v, &lives);
  find_fixed(a, out);
  TRY(pack_arena(a, out, lives));
  count_live(a, out, lives);
  add_allocations(a, out);
  return status_ok();
}

lhlo_slice buffer_assignment_slice(const buffer_assignment *b, int value, const shape *s) {
  const buffer_values *v = b->values;
  int buffer = buffer_representative(b->values, value);
  lhlo_slice slice = {.allocation = b->allocation_count - 1,
                      .offset = b->offsets[buffer],
                      .shape = s,
                      .is_temporary = b->fixed[buffer] < 0};
  if (b->rooms[buffer] >= 0) slice.allocation = v->parameter_count + b->rooms[buffer];
  if (b->fixed[buffer] < 0) return slice;
  const buffer_value *fixed = &v->values.data[b->fixed[buffer]];
  slice.offset = 0;
  slice.allocation = fixed->number;
  if (fixed->kind != LHLO_PARAMETER) slice.allocation += v->parameter_count;
  if (fixed->kind == LHLO_CONSTANT) slice.allocation += v->result_count;
  return slice;
}
