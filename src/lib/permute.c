// The last dim of the target and the dim that is contiguous in the source make squares that are turned block by block,
// so that neither side is walked in long jumps; the other dims are counted through. Where both are the same dim, rows
// are copied.
#include "lib/permute.h"

#include <stdbool.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"

enum { BLOCK = 16, SMALL_BYTES = 1 << 16 };

typedef struct permutation {
  int size;
  int outer;  // dims that are counted through
  int64_t dims[PERMUTE_MAX_RANK], from_strides[PERMUTE_MAX_RANK], to_strides[PERMUTE_MAX_RANK];
  // The square: `rows` of the source's contiguous dim, `columns` of the target's last dim.
  int64_t rows, row_from, row_to;
  int64_t columns, column_from;
  const char *from;
  char *to;
} permutation;

#define MOVE_BLOCK(name, type)                                                                                    \
  static void move_##name(int64_t rows, int64_t columns, const type *from, int64_t row_from, int64_t column_from, \
                          type *to, int64_t row_to) {                                                             \
    for (int64_t r = 0; r < rows; r++)                                                                            \
      for (int64_t c = 0; c < columns; c++) to[r * row_to + c] = from[r * row_from + c * column_from];            \
  }

typedef struct pair {
  uint64_t first, second;
} pair;

MOVE_BLOCK(1, uint8_t)
MOVE_BLOCK(2, uint16_t)
MOVE_BLOCK(4, uint32_t)
MOVE_BLOCK(8, uint64_t)
MOVE_BLOCK(16, pair)

static void move_block(const permutation *p, int64_t rows, int64_t columns, const char *from, char *to) {
  const void *f = from;
  void *t = to;
  if (p->column_from == 1) {
    for (int64_t r = 0; r < rows; r++)
      memcpy(to + r * p->row_to * p->size, from + r * p->row_from * p->size, (size_t)(columns * p->size));
    return;
  }
  switch (p->size) {
    case 1: move_1(rows, columns, f, p->row_from, p->column_from, t, p->row_to); return;
    case 2: move_2(rows, columns, f, p->row_from, p->column_from, t, p->row_to); return;
    case 4: move_4(rows, columns, f, p->row_from, p->column_from, t, p->row_to); return;
    case 8: move_8(rows, columns, f, p->row_from, p->column_from, t, p->row_to); return;
    default: move_16(rows, columns, f, p->row_from, p->column_from, t, p->row_to); return;
  }
}

// An item is a stripe of BLOCK rows of one square.
static void move_stripes(void *argument, int64_t begin, int64_t end) {
  const permutation *p = argument;
  const int64_t stripes = int64_ceil_div(p->rows, BLOCK);
  const int64_t width = p->column_from == 1 ? p->columns : BLOCK;
  for (int64_t item = begin; item < end; item++) {
    int64_t rest = item / stripes, from = 0, to = 0;
    for (int d = p->outer - 1; d >= 0; d--) {
      from += rest % p->dims[d] * p->from_strides[d];
      to += rest % p->dims[d] * p->to_strides[d];
      rest /= p->dims[d];
    }
    const int64_t row = item % stripes * BLOCK, rows = p->rows - row < BLOCK ? p->rows - row : BLOCK;
    from += row * p->row_from;
    to += row * p->row_to;
    for (int64_t c = 0; c < p->columns; c += width) {
      const int64_t columns = p->columns - c < width ? p->columns - c : width;
      move_block(p, rows, columns, p->from + (from + c * p->column_from) * p->size, p->to + (to + c) * p->size);
    }
  }
}

void permute(int threads, int element_size, int rank, const int64_t *dims, const int64_t *from_strides,
             const void *from, void *to) {
  permutation p = {.size = element_size, .rows = 1, .columns = 1, .column_from = 1, .from = from, .to = to};
  int64_t count = 1, to_strides[PERMUTE_MAX_RANK];
  for (int d = rank - 1; d >= 0; d--) {
    to_strides[d] = count;
    count *= dims[d];
  }
  if (count == 0) return;
  int last = rank - 1, contiguous = -1;
  while (last >= 0 && dims[last] == 1) last--;
  for (int d = 0; d < last; d++)
    if (from_strides[d] == 1 && dims[d] > 1) contiguous = d;
  if (last >= 0) p.columns = dims[last], p.column_from = from_strides[last];
  if (p.column_from == 1) contiguous = last - 1;  // rows are copied; any dim will do
  if (contiguous >= 0) {
    p.rows = dims[contiguous];
    p.row_from = from_strides[contiguous];
    p.row_to = to_strides[contiguous];
  }
  for (int d = 0; d < last; d++) {
    if (d == contiguous) continue;
    p.dims[p.outer] = dims[d];
    p.from_strides[p.outer] = from_strides[d];
    p.to_strides[p.outer++] = to_strides[d];
  }
  const int64_t items = count / (p.rows * p.columns) * int64_ceil_div(p.rows, BLOCK);
  pool_run(count * element_size < SMALL_BYTES ? 1 : threads, items, move_stripes, &p);
}
