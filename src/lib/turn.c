// By squares that fit registers, sixteen columns of the result after the other, so that its lines are written whole.
#include "lib/turn.h"

#include <string.h>

#include "base/int64.h"

enum { SQUARE = 4, LINE = 16 };

typedef float lanes __attribute__((vector_size(SQUARE * sizeof(float)), aligned(sizeof(float)), may_alias));

static void turn_square(const float *from, int64_t from_leading, float *to, int64_t to_leading) {
  lanes x[SQUARE], y[SQUARE];
  for (int k = 0; k < SQUARE; k++) memcpy(&x[k], from + k * from_leading, sizeof x[k]);
  y[0] = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  y[1] = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  y[2] = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  y[3] = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(y[0], y[2], 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(y[0], y[2], 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(y[1], y[3], 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(y[1], y[3], 2, 3, 6, 7);
  for (int k = 0; k < SQUARE; k++) memcpy(to + k * to_leading, &x[k], sizeof x[k]);
}

static void turn_rest(int64_t rows, int64_t columns, const float *from, int64_t from_leading, float *to,
                      int64_t to_leading) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) to[r * to_leading + c] = from[c * from_leading + r];
}

void turn_f32(int64_t rows, int64_t columns, const float *from, int64_t from_leading, float *to, int64_t to_leading) {
  const int64_t whole_rows = rows / SQUARE * SQUARE, whole_columns = columns / SQUARE * SQUARE;
  for (int64_t line = 0; line < whole_columns; line += LINE) {
    const int64_t end = int64_min(line + LINE, whole_columns);
    for (int64_t r = 0; r < whole_rows; r += SQUARE)
      for (int64_t c = line; c < end; c += SQUARE)
        turn_square(from + c * from_leading + r, from_leading, to + r * to_leading + c, to_leading);
  }
  turn_rest(rows, columns - whole_columns, from + whole_columns * from_leading, from_leading, to + whole_columns,
            to_leading);
  turn_rest(rows - whole_rows, whole_columns, from + whole_rows, from_leading, to + whole_rows * to_leading,
            to_leading);
}
