// Turns matrices round.
#ifndef HEDDLE_LIB_TURN_H_
#define HEDDLE_LIB_TURN_H_

#include <stdint.h>

// to[r, c] = from[c, r] for `rows` by `columns` elements of `to`. Leading dims are elements; the two do not overlap.
void turn_f32(int64_t rows, int64_t columns, const float *from, int64_t from_leading, float *to, int64_t to_leading);

#endif
