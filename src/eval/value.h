// Values while a program runs: counted references to heap memory, so that an intermediate goes back as soon as its last
// user has run. Arrays are dense and row-major, elements as in hlo/literal.h.
#ifndef HEDDLE_EVAL_VALUE_H_
#define HEDDLE_EVAL_VALUE_H_

#include "hlo/literal.h"

// What all values of one evaluation hold together.
typedef struct value_pool {
  int64_t bytes;
  int64_t max_bytes;
} value_pool;

typedef struct value value;
struct value {
  int references;
  value_pool *pool;
  int64_t bytes;       // counted in the pool
  const shape *shape;  // outlives the value
  void *data;          // arrays
  value *owner;        // of `data`, when it is another value; null otherwise
  int element_count;   // tuples
  value **elements;
};

// An array with undefined contents. HEDDLE_OUT_OF_MEMORY at `where` beyond the pool's limit. Reference count 1.
heddle_status value_create(value_pool *pool, const shape *s, source_location where, value **out);
// Retains the elements. `s` is a tuple shape of as many elements.
heddle_status value_create_tuple(value_pool *pool, const shape *s, value *const *elements, source_location where,
                                 value **out);
// The data of `owner` (retained) under another shape of the same byte size.
heddle_status value_create_view(value *owner, const shape *s, value **out);
// A token or another shape without data.
heddle_status value_create_empty(value_pool *pool, const shape *s, value **out);
// Zeros, in tuples too; for what has no data, nothing.
heddle_status value_create_zeros(value_pool *pool, const shape *s, source_location where, value **out);
// Borrows the literal's data, which must outlive the value.
heddle_status value_borrow(value_pool *pool, const literal *l, value **out);

// The same value in memory of its own, counted in `pool`.
heddle_status value_copy(value_pool *pool, const value *v, value **out);

value *value_retain(value *v);
void value_release(value *v);  // null is allowed

// Whether the value may stand where an instruction of shape `s` is: the same types and dims, layouts apart. Operations
// whose shapes no rule checks ask this of what they return.
bool value_fits(const value *v, const shape *s);

// A copy in the arena under `s`, which agrees with the value's own shape but for layouts.
heddle_status value_to_literal(arena *a, const value *v, const shape *s, literal **out);

// Element `index` of an integer or pred array, sign-extended; unsigned 64-bit values come as their bits.
int64_t value_get_int(const value *v, int64_t index);

// As value_get_int for what is an index: above INT64_MAX counts as INT64_MAX.
int64_t value_get_index(const value *v, int64_t index);

#endif
