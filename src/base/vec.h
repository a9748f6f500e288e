// A growable array in an arena: VEC(int64_t) dims = {0}; vec_push(a, &dims, 3); dims.data[0]; dims.size.
//
// Zero-initialised means empty. Storage belongs to the arena; growing doubles and leaves the old storage to the arena.
#ifndef HEDDLE_BASE_VEC_H_
#define HEDDLE_BASE_VEC_H_

#include <string.h>

#include "base/arena.h"

#define VEC(type) \
  struct {        \
    type *data;   \
    int size;     \
    int capacity; \
  }

#define vec_push(a, v, ...)                                                         \
  do {                                                                              \
    if ((v)->size == (v)->capacity) {                                               \
      int vec_capacity_ = (v)->capacity ? (v)->capacity * 2 : 8;                    \
      (v)->data = arena_grow((a), (v)->data, (size_t)(v)->size * sizeof *(v)->data, \
                             (size_t)vec_capacity_ * sizeof *(v)->data);            \
      (v)->capacity = vec_capacity_;                                                \
    }                                                                               \
    (v)->data[(v)->size++] = (__VA_ARGS__);                                         \
  } while (0)

#define vec_pop(v) ((v)->data[--(v)->size])
#define vec_drop(v) ((void)--(v)->size)
#define vec_last(v) ((v)->data[(v)->size - 1])

#endif
