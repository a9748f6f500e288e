// Arrays, or runs of arrays, one after another: concatenates of more operands than a kernel has loops for.
//
// The result is rows of elements, and each part fills the same place of every row. Rows are not divided among threads,
// bytes are: whether there are a few long parts or a great many short ones, all threads have something to do.
#include <string.h>

#include "base/pool.h"
#include "rt/cost.h"
#include "rt/routine_call.h"
#include "rt/thunk_types.h"

// Moved in chunks of this size, and alone below PARALLEL_BYTES: that little is done before another thread has woken up.
enum { CHUNK_BYTES = 64 << 10, PARALLEL_BYTES = 256 << 10 };

// To find a part and to copy the first bytes of it.
#define SECONDS_PER_PART 5e-9

// One run of every row; in elements.
typedef struct part {
  int operand;
  int64_t first;     // of the operand, that row 0 takes
  int64_t stride;    // of the operand, from row to row
  int64_t size;      // never 0
  int64_t position;  // in a row of the result
} part;

typedef struct parts {
  int64_t rows, row_size;
  int bits;  // of an element in memory
  int count;
  part *parts;
} parts;

static heddle_status wrong(const char *what) { return status_error(HEDDLE_INVALID, "concatenate: %s", what); }

// Narrow integers share bytes where a byte holds a whole number of them.
static int stored_bits(dtype t) { return dtypes[t].bits < 8 ? 8 / (8 / dtypes[t].bits) : dtypes[t].bits; }

static bool lies_inside(const part *p, int64_t rows, int64_t elements) {
  int64_t end;
  if (p->first < 0 || p->stride < 0 || p->size < 0) return false;
  return !__builtin_mul_overflow(rows - 1, p->stride, &end) && !__builtin_add_overflow(end, p->first, &end) &&
         !__builtin_add_overflow(end, p->size, &end) && end <= elements;
}

static heddle_status add_parts(const lib_call *call, const program_concatenate *c, parts *out) {
  for (int k = 0; k < c->operand.count; k++) {
    const int64_t operand = c->operand.data[k];
    if (operand < 0 || operand >= call->operand_count) return wrong("there is no such operand");
    part p = {(int)operand, c->offset.data[k], c->stride.data[k], c->size.data[k], out->row_size};
    const lib_array *from = &call->operands[p.operand];
    if (from->type != call->results[0].type) return wrong("an operand is of another type than the result");
    if (!lies_inside(&p, out->rows, lib_element_count(from))) return wrong("a part lies outside of its operand");
    if (__builtin_add_overflow(out->row_size, p.size, &out->row_size)) return wrong("the parts fill no row");
    if (p.size > 0) out->parts[out->count++] = p;
  }
  return status_ok();
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  const program_concatenate *c = &from->concatenate;
  lib_call call;
  routine_call_make(a, from, context->threads, &call);
  if (call.result_count != 1) return wrong("it wants one result");
  const int count = c->operand.count;
  if (c->offset.count != count || c->stride.count != count || c->size.count != count)
    return wrong("the parts are not described");
  parts *p = arena_new(a, parts);
  *p = (parts){.rows = c->rows, .bits = stored_bits(call.results[0].type)};
  p->parts = arena_array(a, part, count);
  if (p->rows < 0) return wrong("it has a negative number of rows");
  TRY(add_parts(&call, c, p));
  int64_t elements;
  if (__builtin_mul_overflow(p->rows, p->row_size, &elements) || elements != lib_element_count(&call.results[0]))
    return wrong("the parts do not fill the result");
  t->state = p;
  t->cost =
      2 * ((double)elements * p->bits / 8) / COST_BYTES_PER_SECOND + (double)p->rows * p->count * SECONDS_PER_PART;
  return status_ok();
}

// --- moving

// Elements that share bytes with others: one by one.
static void move_narrow(char *to, int64_t at, const char *from, int64_t first, int64_t count, int bits) {
  const int each = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t k = 0; k < count; k++) {
    const int64_t read = first + k, write = at + k;
    const int value = (unsigned char)from[read / each] >> (read % each * bits) & mask;
    const int shift = (int)(write % each) * bits;
    to[write / each] = (char)(((unsigned char)to[write / each] & ~(mask << shift)) | value << shift);
  }
}

static void move(char *to, int64_t at, const char *from, int64_t first, int64_t count, int bits) {
  const int64_t write = at * bits, read = first * bits, size = count * bits;
  if ((write | read | size) % 8 != 0) {
    move_narrow(to, at, from, first, count, bits);
    return;
  }
  // Sizes that the compiler knows need no call.
  switch (size / 8) {
    case 4: memcpy(to + write / 8, from + read / 8, 4); break;
    case 8: memcpy(to + write / 8, from + read / 8, 8); break;
    case 16: memcpy(to + write / 8, from + read / 8, 16); break;
    case 32: memcpy(to + write / 8, from + read / 8, 32); break;
    default: memcpy(to + write / 8, from + read / 8, (size_t)(size / 8)); break;
  }
}

typedef struct moving {
  const parts *parts;
  const thunk *thunk;
  const run_frame *frame;
  char *to;
} moving;

// The part that holds this place of a row.
static int part_at(const parts *p, int64_t position) {
  int low = 0, high = p->count - 1;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (p->parts[middle].position <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

static void move_chunks(void *argument, int64_t begin, int64_t end) {
  const moving *m = argument;
  const parts *p = m->parts;
  const int64_t chunk = (int64_t)CHUNK_BYTES * 8 / p->bits, all = p->rows * p->row_size;
  const int64_t stop = end * chunk < all ? end * chunk : all;
  int64_t at = begin * chunk, row = at / p->row_size;
  int number = part_at(p, at % p->row_size);
  while (at < stop) {
    const part *x = &p->parts[number];
    const int64_t skipped = at - row * p->row_size - x->position, left = x->size - skipped;
    const int64_t count = left < stop - at ? left : stop - at;
    const char *from = thunk_slice(m->frame, m->thunk->from->operands[x->operand].slice);
    move(m->to, at, from, x->first + row * x->stride + skipped, count, p->bits);
    at += count;
    if (++number == p->count) number = 0, row++;
  }
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const parts *p = t->state;
  const int64_t bytes = (p->rows * p->row_size * p->bits + 7) / 8;
  moving m = {.parts = p, .thunk = t, .frame = f, .to = thunk_slice(f, t->from->results[0].slice)};
  const int64_t chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
  pool_run(bytes < PARALLEL_BYTES ? 1 : f->threads, chunks, move_chunks, &m);
  return status_ok();
}

const thunk_type thunk_concatenate = {prepare, execute, NULL};
