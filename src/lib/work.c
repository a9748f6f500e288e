// Converts rows of elements to and from work types. The common pairs are plain loops that compilers vectorize; types of
// eight bits and fewer go through a table of their 256 values, all others element by element through double or
// uint64_t.
#include "lib/work.h"

#include "base/cpu_level.h"

#include <pthread.h>
#include <string.h>

#include "lib/element.h"

static const int sizes[WORK_TYPE_COUNT] = {
    [WORK_F32] = 4, [WORK_F64] = 8, [WORK_C64] = 8, [WORK_C128] = 16, [WORK_U32] = 4, [WORK_U64] = 8, [WORK_S16] = 2};

int work_size(work_type w) { return sizes[w]; }

int64_t work_array_bytes(dtype t, bool is_packed, int64_t count) {
  const lib_array a = {.type = t, .is_packed = is_packed};
  return element_is_shared(&a) ? (count * dtypes[t].bits + 7) / 8 : count * dtypes[t].bytes;
}

// --- one element

static uint32_t narrow_bits(const lib_array *a, int64_t index) { return (uint32_t)element_load(a, index); }

static int64_t sign_extended(uint32_t pattern, int bits) {
  const int64_t top = (int64_t)1 << ((bits - 1) & 63);
  return ((int64_t)pattern ^ top) - top;
}

// The integer at `index`; unsigned 64-bit ones by their bits.
static int64_t integer_at(const lib_array *a, int64_t index) {
  switch (a->type) {
    case DTYPE_S16: return ((const int16_t *)a->data)[index];
    case DTYPE_U16: return ((const uint16_t *)a->data)[index];
    case DTYPE_S32: return ((const int32_t *)a->data)[index];
    case DTYPE_U32: return ((const uint32_t *)a->data)[index];
    case DTYPE_S64:
    case DTYPE_U64: return ((const int64_t *)a->data)[index];
    case DTYPE_PRED: return ((const uint8_t *)a->data)[index] != 0;
    default: break;
  }
  const uint32_t pattern = narrow_bits(a, index);
  return dtype_is_signed(a->type) ? sign_extended(pattern, dtypes[a->type].bits) : (int64_t)pattern;
}

static double real_at(const lib_array *a, int64_t index) {
  switch (a->type) {
    case DTYPE_F32: return ((const float *)a->data)[index];
    case DTYPE_F64: return ((const double *)a->data)[index];
    case DTYPE_F16: return float_f16_to_f32(((const uint16_t *)a->data)[index]);
    case DTYPE_BF16: return float_bf16_to_f32(((const uint16_t *)a->data)[index]);
    case DTYPE_U64: return (double)((const uint64_t *)a->data)[index];
    default: break;
  }
  if (dtype_is_float(a->type)) return float_decode(dtypes[a->type].narrow, narrow_bits(a, index));
  return (double)integer_at(a, index);
}

static void set_integer(const lib_array *a, int64_t index, uint64_t value) {
  switch (dtypes[a->type].bits) {
    case 16: ((uint16_t *)a->data)[index] = (uint16_t)value; return;
    case 32: ((uint32_t *)a->data)[index] = (uint32_t)value; return;
    case 64: ((uint64_t *)a->data)[index] = value; return;
    default: break;
  }
  element_store(a, index, value);
}

static void set_real(const lib_array *a, int64_t index, double value) {
  switch (a->type) {
    case DTYPE_F32: ((float *)a->data)[index] = (float)value; return;
    case DTYPE_F64: ((double *)a->data)[index] = value; return;
    case DTYPE_F16: ((uint16_t *)a->data)[index] = float_f64_to_f16(value); return;
    case DTYPE_BF16: ((uint16_t *)a->data)[index] = float_f64_to_bf16(value); return;
    case DTYPE_PRED: ((uint8_t *)a->data)[index] = value != 0; return;
    default: break;
  }
  if (dtype_is_float(a->type)) {
    element_store(a, index, float_encode(dtypes[a->type].narrow, value));
    return;
  }
  // Sums of integers, which are whole; what no integer of 64 bits holds saturates.
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  set_integer(a, index, fits ? (uint64_t)(int64_t)value : value > 0 ? (uint64_t)INT64_MAX : (uint64_t)INT64_MIN);
}

// --- rows to f32

static float byte_values[DTYPE_COUNT][256];

static void fill_byte_values(void) {
  for (int t = 0; t < DTYPE_COUNT; t++) {
    if (dtypes[t].bits > 8 || !(dtypes[t].class & (CLASS_REAL | CLASS_PRED))) continue;
    for (int pattern = 0; pattern < 256; pattern++) {
      uint64_t bits = (uint64_t)pattern;  // as wide as any element, although only a byte of it is looked at
      const lib_array one = {.type = (dtype)t, .data = &bits};
      byte_values[t][pattern] = (float)real_at(&one, 0);
    }
  }
}

// The rows that matter, compiled for the machine's baseline and for AVX2, whichever it has.
#define LOAD_BF16_ROW(name, target)                                         \
  target static void name(const uint16_t *from, int64_t count, float *to) { \
    for (int64_t k = 0; k < count; k++) {                                   \
      const uint32_t bits = (uint32_t)from[k] << 16;                        \
      memcpy(&to[k], &bits, sizeof bits);                                   \
    }                                                                       \
  }

// All ones where the condition holds: what is chosen by masks is no branch for any compiler.
#define MASK(condition) ((uint32_t)0 - (uint32_t)(condition))
#define CHOOSE(condition, yes, no) (((yes) & MASK(condition)) | ((no) & ~MASK(condition)))

// As float_f16_to_f32.
#define LOAD_F16_ROW(name, target)                                          \
  target static void name(const uint16_t *from, int64_t count, float *to) { \
    for (int64_t k = 0; k < count; k++) {                                   \
      const uint32_t half = from[k], magnitude = (half & 0x7fff) << 13;     \
      float scaled;                                                         \
      memcpy(&scaled, &magnitude, sizeof scaled);                           \
      scaled *= 0x1p112f;                                                   \
      uint32_t bits;                                                        \
      memcpy(&bits, &scaled, sizeof bits);                                  \
      bits |= MASK(magnitude >= 0x0f800000) & 0x7f800000;                   \
      bits |= (half & 0x8000) << 16;                                        \
      memcpy(&to[k], &bits, sizeof bits);                                   \
    }                                                                       \
  }

// As float_f32_to_bf16.
#define STORE_BF16_ROW(name, target)                                              \
  target static void name(const float *from, int64_t count, uint16_t *to) {       \
    for (int64_t k = 0; k < count; k++) {                                         \
      uint32_t bits;                                                              \
      memcpy(&bits, &from[k], sizeof bits);                                       \
      const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;          \
      const uint32_t quiet = (bits >> 16 & 0x8000) | 0x7fc0;                      \
      to[k] = (uint16_t)CHOOSE((bits & 0x7fffffff) > 0x7f800000, quiet, rounded); \
    }                                                                             \
  }

// As float_f32_to_f16.
#define STORE_F16_ROW(name, target)                                                               \
  target static void name(const float *from, int64_t count, uint16_t *to) {                       \
    for (int64_t k = 0; k < count; k++) {                                                         \
      uint32_t bits, small_bits;                                                                  \
      memcpy(&bits, &from[k], sizeof bits);                                                       \
      const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;                   \
      float small;                                                                                \
      memcpy(&small, &magnitude, sizeof small);                                                   \
      small += 0.5f;                                                                              \
      memcpy(&small_bits, &small, sizeof small_bits);                                             \
      const uint32_t normal = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (112u << 10); \
      const uint32_t finite = CHOOSE(magnitude < 0x38800000, small_bits - 0x3f000000, normal);    \
      const uint32_t special = CHOOSE(magnitude > 0x7f800000, 0x7e00, 0x7c00);                    \
      to[k] = (uint16_t)(sign | CHOOSE(magnitude >= 0x477ff000, special, finite));                \
    }                                                                                             \
  }

#define LOAD_BYTE_ROW(name, type, to_type, target)                        \
  target static void name(const type *from, int64_t count, to_type *to) { \
    for (int64_t k = 0; k < count; k++) to[k] = (to_type)from[k];         \
  }

LOAD_BF16_ROW(load_bf16_plain, )
LOAD_F16_ROW(load_f16_plain, )
STORE_BF16_ROW(store_bf16_plain, )
STORE_F16_ROW(store_f16_plain, )
LOAD_BYTE_ROW(load_s8_plain, int8_t, float, )
LOAD_BYTE_ROW(load_u8_plain, uint8_t, float, )
LOAD_BYTE_ROW(widen_s8_plain, int8_t, int16_t, )
LOAD_BYTE_ROW(widen_u8_plain, uint8_t, int16_t, )

typedef struct row_fns {
  void (*load_bf16)(const uint16_t *from, int64_t count, float *to);
  void (*load_f16)(const uint16_t *from, int64_t count, float *to);
  void (*store_bf16)(const float *from, int64_t count, uint16_t *to);
  void (*store_f16)(const float *from, int64_t count, uint16_t *to);
  void (*load_s8)(const int8_t *from, int64_t count, float *to);
  void (*load_u8)(const uint8_t *from, int64_t count, float *to);
  void (*widen_s8)(const int8_t *from, int64_t count, int16_t *to);
  void (*widen_u8)(const uint8_t *from, int64_t count, int16_t *to);
} row_fns;

static const row_fns plain_rows = {load_bf16_plain, load_f16_plain, store_bf16_plain, store_f16_plain,
                                   load_s8_plain,   load_u8_plain,  widen_s8_plain,   widen_u8_plain};

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
LOAD_BF16_ROW(load_bf16_avx2, AVX2)
LOAD_F16_ROW(load_f16_avx2, AVX2)
STORE_BF16_ROW(store_bf16_avx2, AVX2)
STORE_F16_ROW(store_f16_avx2, AVX2)
LOAD_BYTE_ROW(load_s8_avx2, int8_t, float, AVX2)
LOAD_BYTE_ROW(load_u8_avx2, uint8_t, float, AVX2)
LOAD_BYTE_ROW(widen_s8_avx2, int8_t, int16_t, AVX2)
LOAD_BYTE_ROW(widen_u8_avx2, uint8_t, int16_t, AVX2)

static const row_fns avx2_rows = {load_bf16_avx2, load_f16_avx2, store_bf16_avx2, store_f16_avx2,
                                  load_s8_avx2,   load_u8_avx2,  widen_s8_avx2,   widen_u8_avx2};

static const row_fns *rows(void) { return cpu_level_has_avx2() ? &avx2_rows : &plain_rows; }
#else
static const row_fns *rows(void) { return &plain_rows; }
#endif

static void load_f32(const lib_array *from, int64_t first, int64_t count, float *to) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const char *data = from->data;
  switch (from->type) {
    case DTYPE_F32: memcpy(to, data + first * 4, (size_t)count * 4); return;
    case DTYPE_BF16: rows()->load_bf16((const uint16_t *)from->data + first, count, to); return;
    case DTYPE_F16: rows()->load_f16((const uint16_t *)from->data + first, count, to); return;
    case DTYPE_S8: rows()->load_s8((const int8_t *)from->data + first, count, to); return;
    case DTYPE_U8: rows()->load_u8((const uint8_t *)from->data + first, count, to); return;
    case DTYPE_F64:
      for (int64_t k = 0; k < count; k++) to[k] = (float)((const double *)from->data)[first + k];
      return;
    default: break;
  }
  if (dtypes[from->type].bits > 8) {
    for (int64_t k = 0; k < count; k++) to[k] = (float)real_at(from, first + k);
    return;
  }
  pthread_once(&once, fill_byte_values);
  const float *values = byte_values[from->type];
  const uint8_t *bytes = (const uint8_t *)from->data + first;
  if (element_is_shared(from))
    for (int64_t k = 0; k < count; k++) to[k] = values[narrow_bits(from, first + k)];
  else
    for (int64_t k = 0; k < count; k++) to[k] = values[bytes[k]];
}

// --- rows to the others

static void load_s16(const lib_array *from, int64_t first, int64_t count, int16_t *to) {
  switch (from->type) {
    case DTYPE_S16: memcpy(to, (const int16_t *)from->data + first, (size_t)count * sizeof *to); return;
    case DTYPE_S8: rows()->widen_s8((const int8_t *)from->data + first, count, to); return;
    case DTYPE_U8: rows()->widen_u8((const uint8_t *)from->data + first, count, to); return;
    default:
      for (int64_t k = 0; k < count; k++) to[k] = (int16_t)integer_at(from, first + k);
  }
}

// Integers of the widths that have types in C, of either sign, to others: loops that become vectors.
#define MOVE_INTEGERS(name, from_type, to_type)                 \
  static void name(const void *from, int64_t count, void *to) { \
    const from_type *x = from;                                  \
    to_type *y = to;                                            \
    for (int64_t k = 0; k < count; k++) y[k] = (to_type)x[k];   \
  }

typedef void (*move_fn)(const void *from, int64_t count, void *to);

MOVE_INTEGERS(s8_to_u32, int8_t, uint32_t)
MOVE_INTEGERS(u8_to_u32, uint8_t, uint32_t)
MOVE_INTEGERS(s16_to_u32, int16_t, uint32_t)
MOVE_INTEGERS(u16_to_u32, uint16_t, uint32_t)
MOVE_INTEGERS(s8_to_u64, int8_t, uint64_t)
MOVE_INTEGERS(u8_to_u64, uint8_t, uint64_t)
MOVE_INTEGERS(s16_to_u64, int16_t, uint64_t)
MOVE_INTEGERS(u16_to_u64, uint16_t, uint64_t)
MOVE_INTEGERS(s32_to_u64, int32_t, uint64_t)
MOVE_INTEGERS(u32_to_u64, uint32_t, uint64_t)
MOVE_INTEGERS(u64_to_u64, uint64_t, uint64_t)
MOVE_INTEGERS(u32_to_u8, uint32_t, uint8_t)
MOVE_INTEGERS(u32_to_u16, uint32_t, uint16_t)
MOVE_INTEGERS(u32_to_u32, uint32_t, uint32_t)
MOVE_INTEGERS(u64_to_u8, uint64_t, uint8_t)
MOVE_INTEGERS(u64_to_u16, uint64_t, uint16_t)
MOVE_INTEGERS(u64_to_u32, uint64_t, uint32_t)

// From an element type to integers of 32 and of 64 bits.
static const move_fn widen_integers[DTYPE_COUNT][2] = {
    [DTYPE_S8] = {s8_to_u32, s8_to_u64},    [DTYPE_U8] = {u8_to_u32, u8_to_u64},
    [DTYPE_S16] = {s16_to_u32, s16_to_u64}, [DTYPE_U16] = {u16_to_u32, u16_to_u64},
    [DTYPE_S32] = {u32_to_u32, s32_to_u64}, [DTYPE_U32] = {u32_to_u32, u32_to_u64},
    [DTYPE_S64] = {u64_to_u32, u64_to_u64}, [DTYPE_U64] = {u64_to_u32, u64_to_u64},
};

// And back.
static const move_fn narrow_integers[DTYPE_COUNT][2] = {
    [DTYPE_S8] = {u32_to_u8, u64_to_u8},    [DTYPE_U8] = {u32_to_u8, u64_to_u8},
    [DTYPE_S16] = {u32_to_u16, u64_to_u16}, [DTYPE_U16] = {u32_to_u16, u64_to_u16},
    [DTYPE_S32] = {u32_to_u32, u64_to_u32}, [DTYPE_U32] = {u32_to_u32, u64_to_u32},
    [DTYPE_S64] = {u32_to_u64, u64_to_u64}, [DTYPE_U64] = {u32_to_u64, u64_to_u64},
};

static void load_integers(work_type w, const lib_array *from, int64_t first, int64_t count, void *to) {
  const move_fn move = widen_integers[from->type][w == WORK_U64];
  if (move) {
    move((const char *)from->data + first * dtypes[from->type].bytes, count, to);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    const int64_t value = integer_at(from, first + k);
    if (w == WORK_U64) ((uint64_t *)to)[k] = (uint64_t)value;
    else ((uint32_t *)to)[k] = (uint32_t)value;
  }
}

static void load_f64(const lib_array *from, int64_t first, int64_t count, double *to) {
  if (from->type == DTYPE_F64) memcpy(to, (const double *)from->data + first, (size_t)count * sizeof *to);
  else
    for (int64_t k = 0; k < count; k++) to[k] = real_at(from, first + k);
}

static void load_complex(work_type w, const lib_array *from, int64_t first, int64_t count, void *to) {
  if (w == WORK_C64 && from->type == DTYPE_C64) {
    memcpy(to, (const float *)from->data + 2 * first, (size_t)count * 8);
    return;
  }
  if (w == WORK_C128 && from->type == DTYPE_C128) {
    memcpy(to, (const double *)from->data + 2 * first, (size_t)count * 16);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    double re, im = 0;
    const int64_t at = 2 * (first + k);
    if (from->type == DTYPE_C64) re = ((const float *)from->data)[at], im = ((const float *)from->data)[at + 1];
    else if (from->type == DTYPE_C128) re = ((const double *)from->data)[at], im = ((const double *)from->data)[at + 1];
    else re = real_at(from, first + k);
    if (w == WORK_C64) ((float *)to)[2 * k] = (float)re, ((float *)to)[2 * k + 1] = (float)im;
    else ((double *)to)[2 * k] = re, ((double *)to)[2 * k + 1] = im;
  }
}

void work_load(work_type w, const lib_array *from, int64_t first, int64_t count, void *to) {
  if (count == 0) return;
  switch (w) {
    case WORK_F32: load_f32(from, first, count, to); return;
    case WORK_F64: load_f64(from, first, count, to); return;
    case WORK_C64:
    case WORK_C128: load_complex(w, from, first, count, to); return;
    case WORK_U32:
    case WORK_U64: load_integers(w, from, first, count, to); return;
    case WORK_S16: load_s16(from, first, count, to); return;
    case WORK_TYPE_COUNT: return;
  }
}

// --- rows back

static void store_f32(const float *from, const lib_array *to, int64_t first, int64_t count) {
  switch (to->type) {
    case DTYPE_F32: memcpy((float *)to->data + first, from, (size_t)count * sizeof *from); return;
    case DTYPE_BF16: rows()->store_bf16(from, count, (uint16_t *)to->data + first); return;
    case DTYPE_F16: rows()->store_f16(from, count, (uint16_t *)to->data + first); return;
    case DTYPE_S32:
      for (int64_t k = 0; k < count; k++) ((uint32_t *)to->data)[first + k] = (uint32_t)(int64_t)from[k];
      return;
    default:
      for (int64_t k = 0; k < count; k++) set_real(to, first + k, from[k]);
  }
}

static void store_complex(work_type w, const void *from, const lib_array *to, int64_t first, int64_t count) {
  if ((w == WORK_C64) == (to->type == DTYPE_C64)) {
    const int64_t size = work_size(w);
    memcpy((char *)to->data + first * size, from, (size_t)(count * size));
    return;
  }
  for (int64_t k = 0; k < 2 * count; k++) {
    const double part = w == WORK_C64 ? ((const float *)from)[k] : ((const double *)from)[k];
    if (to->type == DTYPE_C64) ((float *)to->data)[2 * first + k] = (float)part;
    else ((double *)to->data)[2 * first + k] = part;
  }
}

static void store_integers(work_type w, const void *from, const lib_array *to, int64_t first, int64_t count) {
  const move_fn move = narrow_integers[to->type][w == WORK_U64];
  if (move) {
    move(from, count, (char *)to->data + first * dtypes[to->type].bytes);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    const uint64_t value = w == WORK_U32 ? ((const uint32_t *)from)[k] : ((const uint64_t *)from)[k];
    if (to->type == DTYPE_PRED) ((uint8_t *)to->data)[first + k] = value != 0;
    else if (dtype_is_float(to->type)) set_real(to, first + k, (double)(int64_t)value);
    else set_integer(to, first + k, value);
  }
}

void work_store(work_type w, const void *from, const lib_array *to, int64_t first, int64_t count) {
  if (count == 0) return;
  switch (w) {
    case WORK_F32: store_f32(from, to, first, count); return;
    case WORK_F64:
      if (to->type == DTYPE_F64) memcpy((double *)to->data + first, from, (size_t)count * sizeof(double));
      else
        for (int64_t k = 0; k < count; k++) set_real(to, first + k, ((const double *)from)[k]);
      return;
    case WORK_C64:
    case WORK_C128: store_complex(w, from, to, first, count); return;
    case WORK_U32:
    case WORK_U64: store_integers(w, from, to, first, count); return;
    case WORK_S16:
    case WORK_TYPE_COUNT: return;
  }
}
