// Loads, stores and moves single elements of arrays as bits.
#ifndef HEDDLE_LIB_ELEMENT_H_
#define HEDDLE_LIB_ELEMENT_H_

#include <string.h>

#include "lib/call.h"

// Several elements share a byte: they must not be stored by two threads at a time.
static inline bool element_is_shared(const lib_array *a) { return a->is_packed && dtypes[a->type].bits <= 4; }

// The bits of element i of a type of at most 64 bits, zeros above them.
static inline uint64_t element_load(const lib_array *a, int64_t i) {
  const dtype_info *t = &dtypes[a->type];
  const unsigned char *data = a->data;
  uint64_t bits = 0;
  if (element_is_shared(a)) {
    const int per_byte = 8 / t->bits;
    bits = (uint64_t)data[i / per_byte] >> (i % per_byte * t->bits);
  } else {
    memcpy(&bits, data + i * t->bytes, (size_t)t->bytes);  // the host is little-endian
  }
  return t->bits < 64 ? bits & (((uint64_t)1 << t->bits) - 1) : bits;
}

// Only the type's bits are looked at. A signed integer in a byte of its own is sign-extended.
static inline void element_store(const lib_array *a, int64_t i, uint64_t bits) {
  const dtype_info *t = &dtypes[a->type];
  unsigned char *data = a->data;
  const uint64_t mask = t->bits < 64 ? ((uint64_t)1 << t->bits) - 1 : ~(uint64_t)0;
  bits &= mask;
  if (element_is_shared(a)) {
    const int per_byte = 8 / t->bits, at = (int)(i % per_byte) * t->bits;
    unsigned char *byte = &data[i / per_byte];
    *byte = (unsigned char)((*byte & ~(mask << at)) | bits << at);
    return;
  }
  const uint64_t sign = mask ^ mask >> 1;
  if (t->class == CLASS_SIGNED && bits & sign) bits |= ~mask;
  memcpy(data + i * t->bytes, &bits, (size_t)t->bytes);
}

// One element from place to place of arrays of the same type, complex ones too.
static inline void element_move(const lib_array *to, int64_t at, const lib_array *from, int64_t index) {
  const size_t bytes = (size_t)dtypes[to->type].bytes;
  if (element_is_shared(to)) element_store(to, at, element_load(from, index));
  else memcpy((char *)to->data + (size_t)at * bytes, (const char *)from->data + (size_t)index * bytes, bytes);
}

#endif
