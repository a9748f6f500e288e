// The table of element types. NumPy strings follow the types NumPy has; the others travel as unsigned integers of their
// width, sub-byte ones in a byte each.
#include "base/dtype.h"

#define NARROW(kind, text, width, stored) \
  {.name = text,                          \
   .class = CLASS_FLOAT,                  \
   .bits = width,                         \
   .bytes = (width + 7) / 8,              \
   .narrow = kind,                        \
   .is_narrow_float = true,               \
   .npy = stored}
#define INTEGER(text, kind, width, stored) \
  {.name = text, .class = kind, .bits = width, .bytes = (width + 7) / 8, .npy = stored}

const dtype_info dtypes[DTYPE_COUNT] = {
    [DTYPE_INVALID] = {.name = "invalid"},
    [DTYPE_PRED] = {.name = "pred", .class = CLASS_PRED, .bits = 8, .bytes = 1, .npy = "|b1"},
    [DTYPE_S2] = INTEGER("s2", CLASS_SIGNED, 2, "|u1"),
    [DTYPE_S4] = INTEGER("s4", CLASS_SIGNED, 4, "|u1"),
    [DTYPE_S8] = INTEGER("s8", CLASS_SIGNED, 8, "|i1"),
    [DTYPE_S16] = INTEGER("s16", CLASS_SIGNED, 16, "<i2"),
    [DTYPE_S32] = INTEGER("s32", CLASS_SIGNED, 32, "<i4"),
    [DTYPE_S64] = INTEGER("s64", CLASS_SIGNED, 64, "<i8"),
    [DTYPE_U2] = INTEGER("u2", CLASS_UNSIGNED, 2, "|u1"),
    [DTYPE_U4] = INTEGER("u4", CLASS_UNSIGNED, 4, "|u1"),
    [DTYPE_U8] = INTEGER("u8", CLASS_UNSIGNED, 8, "|u1"),
    [DTYPE_U16] = INTEGER("u16", CLASS_UNSIGNED, 16, "<u2"),
    [DTYPE_U32] = INTEGER("u32", CLASS_UNSIGNED, 32, "<u4"),
    [DTYPE_U64] = INTEGER("u64", CLASS_UNSIGNED, 64, "<u8"),
    [DTYPE_F4E2M1FN] = NARROW(FLOAT_F4E2M1FN, "f4e2m1fn", 4, "|u1"),
    [DTYPE_F6E2M3FN] = NARROW(FLOAT_F6E2M3FN, "f6e2m3fn", 6, "|u1"),
    [DTYPE_F6E3M2FN] = NARROW(FLOAT_F6E3M2FN, "f6e3m2fn", 6, "|u1"),
    [DTYPE_F8E5M2] = NARROW(FLOAT_F8E5M2, "f8e5m2", 8, "|u1"),
    [DTYPE_F8E4M3] = NARROW(FLOAT_F8E4M3, "f8e4m3", 8, "|u1"),
    [DTYPE_F8E4M3FN] = NARROW(FLOAT_F8E4M3FN, "f8e4m3fn", 8, "|u1"),
    [DTYPE_F8E4M3B11FNUZ] = NARROW(FLOAT_F8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, "|u1"),
    [DTYPE_F8E5M2FNUZ] = NARROW(FLOAT_F8E5M2FNUZ, "f8e5m2fnuz", 8, "|u1"),
    [DTYPE_F8E4M3FNUZ] = NARROW(FLOAT_F8E4M3FNUZ, "f8e4m3fnuz", 8, "|u1"),
    [DTYPE_F8E3M4] = NARROW(FLOAT_F8E3M4, "f8e3m4", 8, "|u1"),
    [DTYPE_F8E8M0FNU] = NARROW(FLOAT_F8E8M0FNU, "f8e8m0fnu", 8, "|u1"),
    [DTYPE_F16] = NARROW(FLOAT_F16, "f16", 16, "<f2"),
    [DTYPE_BF16] = NARROW(FLOAT_BF16, "bf16", 16, "<u2"),
    [DTYPE_F32] = {.name = "f32", .class = CLASS_FLOAT, .bits = 32, .bytes = 4, .npy = "<f4"},
    [DTYPE_F64] = {.name = "f64", .class = CLASS_FLOAT, .bits = 64, .bytes = 8, .npy = "<f8"},
    [DTYPE_C64] = {.name = "c64", .class = CLASS_COMPLEX, .bits = 64, .bytes = 8, .part = DTYPE_F32, .npy = "<c8"},
    [DTYPE_C128] = {.name = "c128", .class = CLASS_COMPLEX, .bits = 128, .bytes = 16, .part = DTYPE_F64, .npy = "<c16"},
    [DTYPE_TOKEN] = {.name = "token"},
    [DTYPE_OPAQUE] = {.name = "opaque"},
    [DTYPE_TUPLE] = {.name = "tuple"},
};

// Tuples are written with parentheses: their name is for messages and is not read back.
dtype dtype_from_name(str name) {
  for (dtype t = DTYPE_PRED; t < DTYPE_TUPLE; t++)
    if (str_is(name, dtypes[t].name)) return t;
  return DTYPE_INVALID;
}

dtype dtype_wider_float(dtype l, dtype r) {
  if (l == r || !dtype_is_float(l) || !dtype_is_float(r)) return l;
  if (dtypes[l].bits != dtypes[r].bits) return dtypes[l].bits > dtypes[r].bits ? l : r;
  return DTYPE_F32;
}
