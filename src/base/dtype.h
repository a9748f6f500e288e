// Element types, with every fact a layer may ask of them in one table.
#ifndef HEDDLE_BASE_DTYPE_H_
#define HEDDLE_BASE_DTYPE_H_

#include "base/float.h"
#include "base/str.h"

typedef enum dtype {
  DTYPE_INVALID,
  DTYPE_PRED,
  DTYPE_S2,
  DTYPE_S4,
  DTYPE_S8,
  DTYPE_S16,
  DTYPE_S32,
  DTYPE_S64,
  DTYPE_U2,
  DTYPE_U4,
  DTYPE_U8,
  DTYPE_U16,
  DTYPE_U32,
  DTYPE_U64,
  DTYPE_F4E2M1FN,
  DTYPE_F6E2M3FN,  // XLA has no f6; StableHLO does
  DTYPE_F6E3M2FN,
  DTYPE_F8E5M2,
  DTYPE_F8E4M3,
  DTYPE_F8E4M3FN,
  DTYPE_F8E4M3B11FNUZ,
  DTYPE_F8E5M2FNUZ,
  DTYPE_F8E4M3FNUZ,
  DTYPE_F8E3M4,
  DTYPE_F8E8M0FNU,
  DTYPE_F16,
  DTYPE_BF16,
  DTYPE_F32,
  DTYPE_F64,
  DTYPE_C64,
  DTYPE_C128,
  DTYPE_TOKEN,
  DTYPE_OPAQUE,
  DTYPE_TUPLE,
  DTYPE_COUNT
} dtype;

// Bit flags, so that a row of ops.def can name several.
typedef enum dtype_class {
  CLASS_NONE = 0,
  CLASS_PRED = 1 << 0,
  CLASS_SIGNED = 1 << 1,
  CLASS_UNSIGNED = 1 << 2,
  CLASS_FLOAT = 1 << 3,  // real floating point, narrow kinds included
  CLASS_COMPLEX = 1 << 4,
  CLASS_INTEGER = CLASS_SIGNED | CLASS_UNSIGNED,
  CLASS_REAL = CLASS_INTEGER | CLASS_FLOAT,
  CLASS_NUMBER = CLASS_REAL | CLASS_COMPLEX,
  CLASS_ARRAY = CLASS_NUMBER | CLASS_PRED,
} dtype_class;

typedef struct dtype_info {
  const char *name;      // as HLO text spells it
  dtype_class class;     // CLASS_NONE for token, opaque and tuple
  int bits;              // logical width; pred is 8
  int bytes;             // of one element in a literal and in a .npy file: sub-byte types take a byte each
  float_kind narrow;     // for the floats base/float.h describes; meaningless otherwise
  bool is_narrow_float;  // f4, f8, f16, bf16
  dtype part;            // of a complex type: its real type
  const char *npy;       // NumPy type string, e.g. "<f4"; types NumPy lacks are unsigned integers of that width
} dtype_info;

extern const dtype_info dtypes[DTYPE_COUNT];

static inline const char *dtype_name(dtype t) { return dtypes[t].name; }
static inline bool dtype_is_array(dtype t) { return (dtypes[t].class & CLASS_ARRAY) != 0; }
static inline bool dtype_is_float(dtype t) { return dtypes[t].class == CLASS_FLOAT; }
static inline bool dtype_is_complex(dtype t) { return dtypes[t].class == CLASS_COMPLEX; }
static inline bool dtype_is_inexact(dtype t) { return dtype_is_float(t) || dtype_is_complex(t); }  // what rounds
static inline bool dtype_is_integer(dtype t) { return (dtypes[t].class & CLASS_INTEGER) != 0; }
static inline bool dtype_is_signed(dtype t) { return dtypes[t].class == CLASS_SIGNED; }
// The same, or real floats of whatever width.
static inline bool dtype_same_in_floats(dtype l, dtype r) { return l == r || (dtype_is_float(l) && dtype_is_float(r)); }
// The type that sums and products of many values of type t are carried in, so that they are rounded once, at the end.
static inline dtype dtype_accumulator(dtype t) { return dtypes[t].is_narrow_float ? DTYPE_F32 : t; }
// Of two floats the one that holds the other's values; f32 where neither does (bf16 and f16). Else the first.
dtype dtype_wider_float(dtype l, dtype r);
dtype dtype_from_name(str name);  // DTYPE_INVALID if there is none

#endif
