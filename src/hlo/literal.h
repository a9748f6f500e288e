// Values: dense arrays in row-major order (whatever the shape's layout says), or tuples of values.
//
// Elements take dtypes[t].bytes each: pred 0 or 1; sub-byte integers one per byte, sign-extended; narrow floats their
// bits; complex numbers real part first. `data` lives in the arena, aligned to 64 bytes when large.
#ifndef HEDDLE_HLO_LITERAL_H_
#define HEDDLE_HLO_LITERAL_H_

#include <complex.h>

#include "base/status.h"
#include "hlo/shape.h"

typedef struct literal literal;
struct literal {
  const shape *shape;
  void *data;          // arrays
  literal **elements;  // tuples
  bool is_elided;      // `constant({...})`: the value is not in the text; data is made up
};

// Zeros. HEDDLE_OUT_OF_MEMORY when the host has no room.
heddle_status literal_create(arena *a, const shape *s, literal **out);
literal *literal_tuple(arena *a, int count, literal **elements);  // of the elements themselves
literal *literal_copy(arena *a, const literal *from);             // deep, the shape too

// Both parts as they are, which re + im * I would not keep for infinities and NaN.
static inline double complex literal_complex_of(double re, double im) { return __builtin_complex(re, im); }

// One element by linear row-major index. Getters widen, setters narrow with XLA's conversion rules for literals: floats
// round to nearest even, integers keep the low bits (pred: not zero). Any array dtype is allowed for each of them
// where the value makes sense: complex as double reads the real part.
int64_t literal_get_int(const literal *l, int64_t i);  // unsigned 64-bit values come as their bits
double literal_get_double(const literal *l, int64_t i);
double complex literal_get_complex(const literal *l, int64_t i);
void literal_set_int(literal *l, int64_t i, int64_t v);
void literal_set_double(literal *l, int64_t i, double v);
void literal_set_complex(literal *l, int64_t i, double complex v);

bool literal_identical(const literal *l, const literal *r);  // same dtype, dims and bits

// Of arrays: whether there is an element, and all have the same bits; and making it so.
bool literal_repeats(const literal *l);
void literal_repeat(literal *l, const literal *element);  // element: rank 0 and the same dtype

// HLO text of the value: `{ {1, 2}, {3, 4} }`, `5`, `(1, 2)` for complex, `true`; shortest digits that read back equal.
void literal_print(text *out, const literal *l);

// How two values compare (corpus rules): NaN matches NaN, an infinity only itself, |a - e| <= atol + rtol * |e|;
// integers and pred only when equal. Returns OK, or HEDDLE_INVALID with one line: how many differ, the first place, the
// largest error.
heddle_status literal_compare(const literal *actual, const literal *expected, double rtol, double atol);

#endif
