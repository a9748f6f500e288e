// Maps elements to unsigned integers that have the order in which the elements are to be sorted.
#ifndef HEDDLE_LIB_SORT_KEY_H_
#define HEDDLE_LIB_SORT_KEY_H_

#include "lib/call.h"

// The numbers stand in programs (prog/library.h, program_sort).
typedef enum sort_order {
  SORT_NUMERIC,  // -0 = +0; NaN above all
  SORT_TOTAL,    // of floats: by sign and magnitude of their bits
  SORT_LESS,     // as `<` has it: keys of NaN mean nothing
  SORT_ORDER_COUNT
} sort_order;

typedef struct sort_key {
  dtype type;
  sort_order order;
  int bits;           // keys are below 2^bits
  bool is_float;      // keys are made as those of floats: sign and magnitude
  bool has_table;     // keys are looked up
  uint64_t top;       // the sign's bit
  uint64_t infinity;  // magnitudes above are NaN
  uint64_t flip;      // exclusive-ored at the end: all bits for a descending order
  uint64_t table[256];
  bool is_nan[256];  // with a table
} sort_key;

// False for types that have no order (complex ones).
bool sort_key_make(dtype t, sort_order order, bool is_descending, sort_key *out);

// The key of an element's bits (lib/element.h); elements with smaller keys come first.
static inline uint64_t sort_key_of(const sort_key *k, uint64_t bits) {
  if (k->has_table) return k->table[bits & 0xff];
  if (!k->is_float) return bits ^ k->top ^ k->flip;
  const uint64_t magnitude = bits & (k->top - 1);
  if (k->order != SORT_TOTAL) {
    if (magnitude == 0) bits = 0;
    if (magnitude > k->infinity) bits = k->top - 1;
  }
  const uint64_t all = k->top | (k->top - 1);
  return (bits & k->top ? ~bits & all : bits | k->top) ^ k->flip;
}

static inline bool sort_key_is_nan(const sort_key *k, uint64_t bits) {
  if (k->has_table) return k->is_nan[bits & 0xff];
  return k->is_float && (bits & (k->top - 1)) > k->infinity;
}

// Whether different bits may have the same key.
static inline bool sort_key_merges(const sort_key *k, uint64_t bits) {
  if (k->has_table) return true;
  if (!k->is_float || k->order == SORT_TOTAL) return false;
  return bits == k->top || (bits & (k->top - 1)) > k->infinity;
}

// The bits of a key that stands for them alone.
static inline uint64_t sort_key_bits(const sort_key *k, uint64_t key) {
  key ^= k->flip;
  if (!k->is_float) return key ^ k->top;
  const uint64_t all = k->top | (k->top - 1);
  return key & k->top ? key ^ k->top : ~key & all;
}

// The same of elements of four or eight bytes, without a table, that lie side by side: the key of each; true if
// different bits among them may have the same key. And the bits that keys stand for.
bool sort_key_of_words(const sort_key *k, const void *bits, void *keys, int64_t count);
void sort_key_words(const sort_key *k, const void *keys, void *bits, int64_t count);

#endif
