// Loading, rounding and storing blocks. Every element type has a reader and a writer of one element, from which macros
// make the loops, so that the type is chosen once per block.
#include "eval/compute.h"

#include <math.h>
#include <string.h>

static uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

// Through f32, which is fast, unless that could round twice: when the f32 was rounded onto a tie of the narrow type.
static uint16_t double_to_bf16(double v) {
  float f = (float)v;
  if ((float_bits(f) & 0xffff) == 0x8000 && f != v) return float_f64_to_bf16(v);
  return float_f32_to_bf16(f);
}

static uint16_t double_to_f16(double v) {
  float f = (float)v;
  bool is_normal = fabsf(f) >= 0x1p-14f;
  if (f != v && (!is_normal || (float_bits(f) & 0x1fff) == 0x1000)) return float_f64_to_f16(v);
  return float_f32_to_f16(f);
}

// Readers and writers by storage type. `t` is constant in every use and folds away.
static inline int64_t read_int(dtype t, const void *data, int64_t i) {
  switch (t) {
    case DTYPE_S2:
    case DTYPE_S4:
    case DTYPE_S8: return ((const int8_t *)data)[i];
    case DTYPE_S16: return ((const int16_t *)data)[i];
    case DTYPE_S32: return ((const int32_t *)data)[i];
    case DTYPE_U16: return ((const uint16_t *)data)[i];
    case DTYPE_U32: return ((const uint32_t *)data)[i];
    case DTYPE_S64:
    case DTYPE_U64: return ((const int64_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
  }
}

static inline int64_t round_int(dtype t, int64_t v) {
  switch (t) {
    case DTYPE_PRED: return v != 0;
    case DTYPE_S2: return compute_wrap(v, 2, true);
    case DTYPE_S4: return compute_wrap(v, 4, true);
    case DTYPE_U2: return v & 3;
    case DTYPE_U4: return v & 15;
    case DTYPE_S8: return (int8_t)v;
    case DTYPE_S16: return (int16_t)v;
    case DTYPE_S32: return (int32_t)v;
    case DTYPE_U8: return (uint8_t)v;
    case DTYPE_U16: return (uint16_t)v;
    case DTYPE_U32: return (uint32_t)v;
    default: return v;
  }
}

static inline void write_int(dtype t, void *data, int64_t i, int64_t v) {
  v = round_int(t, v);
  switch (t) {
    case DTYPE_S16:
    case DTYPE_U16: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case DTYPE_S32:
    case DTYPE_U32: ((uint32_t *)data)[i] = (uint32_t)v; break;
    case DTYPE_S64:
    case DTYPE_U64: ((int64_t *)data)[i] = v; break;
    default: ((uint8_t *)data)[i] = (uint8_t)v; break;
  }
}

static inline double read_float(dtype t, const void *data, int64_t i) {
  switch (t) {
    case DTYPE_F64: return ((const double *)data)[i];
    case DTYPE_F32: return ((const float *)data)[i];
    case DTYPE_BF16: return float_bf16_to_f32(((const uint16_t *)data)[i]);
    case DTYPE_F16: return float_f16_to_f32(((const uint16_t *)data)[i]);
    default: return float_decode(dtypes[t].narrow, ((const uint8_t *)data)[i]);
  }
}

static inline double round_float(dtype t, double v) {
  switch (t) {
    case DTYPE_F64: return v;
    case DTYPE_F32: return (float)v;
    case DTYPE_BF16: return float_bf16_to_f32(double_to_bf16(v));
    case DTYPE_F16: return float_f16_to_f32(double_to_f16(v));
    default: return float_decode(dtypes[t].narrow, float_encode(dtypes[t].narrow, v));
  }
}

static inline void write_float(dtype t, void *data, int64_t i, double v) {
  switch (t) {
    case DTYPE_F64: ((double *)data)[i] = v; break;
    case DTYPE_F32: ((float *)data)[i] = (float)v; break;
    case DTYPE_BF16: ((uint16_t *)data)[i] = double_to_bf16(v); break;
    case DTYPE_F16: ((uint16_t *)data)[i] = double_to_f16(v); break;
    default: ((uint8_t *)data)[i] = (uint8_t)float_encode(dtypes[t].narrow, v); break;
  }
}

static inline double complex read_complex(dtype t, const void *data, int64_t i) {
  if (t == DTYPE_C128) return ((const double complex *)data)[i];
  const float *parts = (const float *)data + 2 * i;
  return compute_complex(parts[0], parts[1]);
}

// c64 rounds as two f32 (compute_round).
static inline double complex round_complex(dtype t, double complex v) {
  (void)t;
  return v;
}

static inline void write_complex(dtype t, void *data, int64_t i, double complex v) {
  if (t == DTYPE_C128) {
    ((double complex *)data)[i] = v;
    return;
  }
  float *parts = (float *)data + 2 * i;
  parts[0] = (float)creal(v);
  parts[1] = (float)cimag(v);
}

// The loops of one element type.
typedef struct compute_access {
  void (*load)(const void *data, int64_t first, int64_t count, void *block);
  void (*load_at)(const void *data, int64_t base, const int64_t *offsets, int64_t count, void *block);
  void (*store)(void *data, int64_t first, int64_t count, const void *block);
  void (*round)(void *block, int64_t count);
} compute_access;

#define ACCESS(T, class, compute_type)                                                                          \
  static void load_##T(const void *data, int64_t first, int64_t count, void *block) {                           \
    for (int64_t k = 0; k < count; k++) ((compute_type *)block)[k] = read_##class(T, data, first + k);          \
  }                                                                                                             \
  static void load_at_##T(const void *data, int64_t base, const int64_t *offsets, int64_t count, void *block) { \
    for (int64_t k = 0; k < count; k++) ((compute_type *)block)[k] = read_##class(T, data, base + offsets[k]);  \
  }                                                                                                             \
  static void store_##T(void *data, int64_t first, int64_t count, const void *block) {                          \
    for (int64_t k = 0; k < count; k++) write_##class(T, data, first + k, ((const compute_type *)block)[k]);    \
  }                                                                                                             \
  static void round_##T(void *block, int64_t count) {                                                           \
    compute_type *w = block;                                                                                    \
    for (int64_t k = 0; k < count; k++) w[k] = round_##class(T, w[k]);                                          \
  }

#define EACH_TYPE(X)                    \
  X(DTYPE_PRED, int, int64_t)           \
  X(DTYPE_S2, int, int64_t)             \
  X(DTYPE_S4, int, int64_t)             \
  X(DTYPE_S8, int, int64_t)             \
  X(DTYPE_S16, int, int64_t)            \
  X(DTYPE_S32, int, int64_t)            \
  X(DTYPE_S64, int, int64_t)            \
  X(DTYPE_U2, int, int64_t)             \
  X(DTYPE_U4, int, int64_t)             \
  X(DTYPE_U8, int, int64_t)             \
  X(DTYPE_U16, int, int64_t)            \
  X(DTYPE_U32, int, int64_t)            \
  X(DTYPE_U64, int, int64_t)            \
  X(DTYPE_F4E2M1FN, float, double)      \
  X(DTYPE_F6E2M3FN, float, double)      \
  X(DTYPE_F6E3M2FN, float, double)      \
  X(DTYPE_F8E5M2, float, double)        \
  X(DTYPE_F8E4M3, float, double)        \
  X(DTYPE_F8E4M3FN, float, double)      \
  X(DTYPE_F8E4M3B11FNUZ, float, double) \
  X(DTYPE_F8E5M2FNUZ, float, double)    \
  X(DTYPE_F8E4M3FNUZ, float, double)    \
  X(DTYPE_F8E3M4, float, double)        \
  X(DTYPE_F8E8M0FNU, float, double)     \
  X(DTYPE_F16, float, double)           \
  X(DTYPE_BF16, float, double)          \
  X(DTYPE_F32, float, double)           \
  X(DTYPE_F64, float, double)           \
  X(DTYPE_C64, complex, double complex) \
  X(DTYPE_C128, complex, double complex)

EACH_TYPE(ACCESS)

#define ROW(T, class, compute_type) [T] = {load_##T, load_at_##T, store_##T, round_##T},
static const compute_access accesses[DTYPE_COUNT] = {EACH_TYPE(ROW)};

void compute_load(dtype t, const void *data, int64_t first, int64_t count, void *block) {
  accesses[t].load(data, first, count, block);
}

void compute_load_at(dtype t, const void *data, int64_t base, const int64_t *offsets, int64_t count, void *block) {
  accesses[t].load_at(data, base, offsets, count, block);
}

void compute_store(dtype t, void *data, int64_t first, int64_t count, const void *block) {
  accesses[t].store(data, first, count, block);
}

// A complex number is its two parts in a row. gcc 12 drops a conversion to float and back inside a complex value.
void compute_round(dtype t, void *block, int64_t count) {
  if (t == DTYPE_C64) accesses[DTYPE_F32].round(block, 2 * count);
  else accesses[t].round(block, count);
}

void compute_splat(dtype t, void *block, int64_t count) {
  int size = compute_size(t);
  for (int64_t k = 1; k < count; k++) memcpy((char *)block + k * size, block, (size_t)size);
}
