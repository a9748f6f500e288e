// Types of up to eight bits have tables of keys: their formats are many, their elements few.
#include "lib/sort_key.h"

#include <math.h>

static uint64_t float_table_key(const sort_key *k, int bits) {
  const int count = 1 << dtypes[k->type].bits, top = count / 2;
  const double value = float_decode(dtypes[k->type].narrow, (uint32_t)bits);
  // NaN in place of -0 has no sign: it is the greatest in any order.
  const bool is_unsigned_nan = isnan(value) && float_formats[dtypes[k->type].narrow].specials == FLOAT_FNUZ;
  if (is_unsigned_nan || (k->order != SORT_TOTAL && isnan(value))) return (uint64_t)count;
  if (k->type == DTYPE_F8E8M0FNU) return (uint64_t)bits;  // has no sign
  const bool is_zero = (bits & (top - 1)) == 0;
  if (k->order != SORT_TOTAL && is_zero) bits = 0;
  return (uint64_t)(bits & top ? count - 1 - bits : bits | top);
}

static void make_table(sort_key *k, bool is_descending) {
  const dtype_info *t = &dtypes[k->type];
  const int count = 1 << t->bits;
  for (int at = 0; at < 256; at++) {
    const int b = at & (count - 1);  // bits above the type's are those of its sign, or none
    uint64_t key = (uint64_t)(t->class == CLASS_SIGNED ? b ^ count / 2 : b);
    if (k->is_float) key = float_table_key(k, b);
    k->table[at] = is_descending ? (uint64_t)count - key : key;
    k->is_nan[at] = k->is_float && isnan(float_decode(t->narrow, (uint32_t)b));
  }
  k->has_table = true;
  k->bits = t->bits + 1;
}

bool sort_key_make(dtype t, sort_order order, bool is_descending, sort_key *out) {
  const dtype_info *info = &dtypes[t];
  *out = (sort_key){.type = t, .order = order, .bits = info->bits, .is_float = info->class == CLASS_FLOAT};
  if (!(info->class & (CLASS_REAL | CLASS_PRED))) return false;
  if (info->bits <= 8) {
    make_table(out, is_descending);
    return true;
  }
  const uint64_t top = (uint64_t)1 << (info->bits - 1);
  if (info->class != CLASS_UNSIGNED) out->top = top;
  if (is_descending) out->flip = top | (top - 1);
  if (!out->is_float) return true;
  const int mantissa = info->bits == 64 ? 52 : info->bits == 32 ? 23 : float_formats[info->narrow].mantissa_bits;
  out->infinity = (top - 1) >> mantissa << mantissa;
  return true;
}
