// Reads VHLO's types from bytecode and makes StableHLO's of them. The table is indexed by VHLO's codes, which never
// change.
#include <math.h>

#include "vhlo/bytecode_reader.h"

static bool read_buffer(bytecode_cursor *c, ir_type *t) {
  if (!bytecode_read_tensor_type(c, t)) return false;
  t->kind = IR_TYPE_BUFFER;
  return true;
}

static bool read_future(bytecode_cursor *c, ir_type *t) {
  if (!bytecode_read_tuple_type(c, t)) return false;
  t->kind = IR_TYPE_FUTURE;
  return true;
}

// The storage type has no sign of its own: that is the lowest of the flags.
static dtype storage_of(const ir_type *t, bool is_signed) {
  if (t->kind != IR_TYPE_SCALAR || !dtype_is_integer(t->dtype)) return ir_type_dtype(t);
  for (int d = DTYPE_S2; d <= DTYPE_U64; d++)
    if (dtypes[d].bits == dtypes[t->dtype].bits && dtype_is_signed((dtype)d) == is_signed) return (dtype)d;
  return DTYPE_INVALID;
}

// Flags, storage type and expressed type, with which both quantized types begin.
static bool read_quantization(bytecode_cursor *c, ir_type *t, ir_quantization **out) {
  uint64_t flags;
  const ir_type *storage, *expressed;
  size_t start = c->at;
  if (!bytecode_varint(c, &flags) || !bytecode_type(c, &storage) || !bytecode_type(c, &expressed)) return false;
  ir_quantization *q = arena_new(c->b->arena, ir_quantization);
  q->storage = storage_of(storage, flags & 1);
  q->expressed = expressed->kind == IR_TYPE_SCALAR ? expressed->dtype : DTYPE_INVALID;
  if (!dtype_is_integer(q->storage) || dtypes[q->storage].bits > 32 || !dtype_is_float(q->expressed))
    return bytecode_fail(c->b, start, "found a quantized type of other types than an integer and a float");
  t->kind = IR_TYPE_QUANTIZED;
  t->quantization = q;
  *out = q;
  return true;
}

static bool check_range(bytecode_cursor *c, size_t start, const ir_quantization *q) {
  const int bits = dtypes[q->storage].bits;
  const int64_t least = dtype_is_signed(q->storage) ? -((int64_t)1 << (bits - 1)) : 0;
  if (q->storage_min >= least && q->storage_max <= least + (((int64_t)1 << bits) - 1) &&
      q->storage_min < q->storage_max)
    return true;
  return bytecode_fail(c->b, start, "found a range outside that of the storage type");
}

// As the text form wants them.
static bool check_scales(bytecode_cursor *c, size_t start, const ir_quantization *q) {
  for (int i = 0; i < q->count; i++) {
    if (!(q->scales[i] > 0) || !isfinite(q->scales[i]))
      return bytecode_fail(c->b, start, "found a scale that is not positive and finite");
    if (q->zero_points[i] < q->storage_min || q->zero_points[i] > q->storage_max)
      return bytecode_fail(c->b, start, "found a zero point outside the range of the storage type");
  }
  return true;
}

static void make_scales(bytecode_cursor *c, ir_quantization *q, int count) {
  q->count = count;
  q->scales = arena_array(c->b->arena, double, count);
  q->zero_points = arena_array(c->b->arena, int64_t, count);
}

static bool read_quantized(bytecode_cursor *c, ir_type *t) {
  ir_quantization *q;
  size_t start = c->at;
  if (!read_quantization(c, t, &q)) return false;
  make_scales(c, q, 1);
  q->axis = -1;
  return bytecode_double(c, &q->scales[0]) && bytecode_signed(c, &q->zero_points[0]) &&
         bytecode_signed(c, &q->storage_min) && bytecode_signed(c, &q->storage_max) && check_range(c, start, q) &&
         check_scales(c, start, q);
}

static bool read_quantized_per_axis(bytecode_cursor *c, ir_type *t) {
  ir_quantization *q;
  int scales, zero_points;
  size_t start = c->at;
  if (!read_quantization(c, t, &q) || !bytecode_index(c, SHAPE_MAX_RANK, "dimension", &q->axis) ||
      !bytecode_signed(c, &q->storage_min) || !bytecode_signed(c, &q->storage_max) || !check_range(c, start, q) ||
      !bytecode_count(c, &scales))
    return false;
  make_scales(c, q, scales);
  for (int i = 0; i < scales; i++)
    if (!bytecode_double(c, &q->scales[i])) return false;
  if (!bytecode_count(c, &zero_points)) return false;
  if (scales == 0 || zero_points != scales)
    return bytecode_fail(c->b, c->at, "found %d scales and %d zero points, wanted as many of both", scales,
                         zero_points);
  for (int i = 0; i < zero_points; i++)
    if (!bytecode_signed(c, &q->zero_points[i])) return false;
  return check_scales(c, start, q);
}

// VHLO's codes of types.
enum {
  VHLO_TYPE_BOOLEAN,
  VHLO_TYPE_COMPLEX,
  VHLO_TYPE_BF16,
  VHLO_TYPE_F16,
  VHLO_TYPE_F32,
  VHLO_TYPE_F64,
  VHLO_TYPE_F8E4M3FN,
  VHLO_TYPE_F8E5M2,
  VHLO_TYPE_FUNCTION,
  VHLO_TYPE_INDEX,
  VHLO_TYPE_SI4,
  VHLO_TYPE_SI8,
  VHLO_TYPE_SI16,
  VHLO_TYPE_SI32,
  VHLO_TYPE_SI64,
  VHLO_TYPE_UI4,
  VHLO_TYPE_UI8,
  VHLO_TYPE_UI16,
  VHLO_TYPE_UI32,
  VHLO_TYPE_UI64,
  VHLO_TYPE_RANKED_TENSOR,
  VHLO_TYPE_RANKED_TENSOR_WITH_ENCODING,
  VHLO_TYPE_TOKEN,
  VHLO_TYPE_TUPLE,
  VHLO_TYPE_UNIFORM_QUANTIZED,
  VHLO_TYPE_UNRANKED_TENSOR,
  VHLO_TYPE_WITNESS,
  VHLO_TYPE_F8E4M3FNUZ,
  VHLO_TYPE_F8E5M2FNUZ,
  VHLO_TYPE_F8E4M3B11FNUZ,
  VHLO_TYPE_UNIFORM_QUANTIZED_PER_AXIS,
  VHLO_TYPE_SI2,
  VHLO_TYPE_UI2,
  VHLO_TYPE_NONE,
  VHLO_TYPE_TF32,
  VHLO_TYPE_F8E4M3,
  VHLO_TYPE_F8E3M4,
  VHLO_TYPE_F4E2M1FN,
  VHLO_TYPE_F6E2M3FN,
  VHLO_TYPE_F6E3M2FN,
  VHLO_TYPE_F8E8M0FNU,
  VHLO_TYPE_BUFFER,
  VHLO_TYPE_FUTURE,
};

static const struct {
  bytecode_type_fn read;  // null if there is nothing but the code
  ir_type_kind kind;
  dtype dtype;
  const char *text;
} types[] = {
    [VHLO_TYPE_BOOLEAN] = {.dtype = DTYPE_PRED},
    [VHLO_TYPE_COMPLEX] = {.read = bytecode_read_complex_type},
    [VHLO_TYPE_BF16] = {.dtype = DTYPE_BF16},
    [VHLO_TYPE_F16] = {.dtype = DTYPE_F16},
    [VHLO_TYPE_F32] = {.dtype = DTYPE_F32},
    [VHLO_TYPE_F64] = {.dtype = DTYPE_F64},
    [VHLO_TYPE_F8E4M3FN] = {.dtype = DTYPE_F8E4M3FN},
    [VHLO_TYPE_F8E5M2] = {.dtype = DTYPE_F8E5M2},
    [VHLO_TYPE_FUNCTION] = {.read = bytecode_read_function_type},
    [VHLO_TYPE_INDEX] = {.kind = IR_TYPE_INDEX},
    [VHLO_TYPE_SI4] = {.dtype = DTYPE_S4},
    [VHLO_TYPE_SI8] = {.dtype = DTYPE_S8},
    [VHLO_TYPE_SI16] = {.dtype = DTYPE_S16},
    [VHLO_TYPE_SI32] = {.dtype = DTYPE_S32},
    [VHLO_TYPE_SI64] = {.dtype = DTYPE_S64},
    [VHLO_TYPE_UI4] = {.dtype = DTYPE_U4},
    [VHLO_TYPE_UI8] = {.dtype = DTYPE_U8},
    [VHLO_TYPE_UI16] = {.dtype = DTYPE_U16},
    [VHLO_TYPE_UI32] = {.dtype = DTYPE_U32},
    [VHLO_TYPE_UI64] = {.dtype = DTYPE_U64},
    [VHLO_TYPE_RANKED_TENSOR] = {.read = bytecode_read_tensor_type},
    [VHLO_TYPE_RANKED_TENSOR_WITH_ENCODING] = {.read = bytecode_read_encoded_tensor_type},
    [VHLO_TYPE_TOKEN] = {.kind = IR_TYPE_TOKEN},
    [VHLO_TYPE_TUPLE] = {.read = bytecode_read_tuple_type},
    [VHLO_TYPE_UNIFORM_QUANTIZED] = {.read = read_quantized},
    [VHLO_TYPE_UNRANKED_TENSOR] = {.read = bytecode_read_unranked_type},
    [VHLO_TYPE_WITNESS] = {.kind = IR_TYPE_OPAQUE, .text = "!shape.witness"},
    [VHLO_TYPE_F8E4M3FNUZ] = {.dtype = DTYPE_F8E4M3FNUZ},
    [VHLO_TYPE_F8E5M2FNUZ] = {.dtype = DTYPE_F8E5M2FNUZ},
    [VHLO_TYPE_F8E4M3B11FNUZ] = {.dtype = DTYPE_F8E4M3B11FNUZ},
    [VHLO_TYPE_UNIFORM_QUANTIZED_PER_AXIS] = {.read = read_quantized_per_axis},
    [VHLO_TYPE_SI2] = {.dtype = DTYPE_S2},
    [VHLO_TYPE_UI2] = {.dtype = DTYPE_U2},
    [VHLO_TYPE_NONE] = {.kind = IR_TYPE_NONE},
    [VHLO_TYPE_TF32] = {.kind = IR_TYPE_OPAQUE, .text = "tf32"},
    [VHLO_TYPE_F8E4M3] = {.dtype = DTYPE_F8E4M3},
    [VHLO_TYPE_F8E3M4] = {.dtype = DTYPE_F8E3M4},
    [VHLO_TYPE_F4E2M1FN] = {.dtype = DTYPE_F4E2M1FN},
    [VHLO_TYPE_F6E2M3FN] = {.dtype = DTYPE_F6E2M3FN},
    [VHLO_TYPE_F6E3M2FN] = {.dtype = DTYPE_F6E3M2FN},
    [VHLO_TYPE_F8E8M0FNU] = {.dtype = DTYPE_F8E8M0FNU},
    [VHLO_TYPE_BUFFER] = {.read = read_buffer},
    [VHLO_TYPE_FUTURE] = {.read = read_future},
};

bool vhlo_type(bytecode_cursor *c, bytecode_entry *entry) {
  uint64_t code;
  if (!bytecode_varint(c, &code)) return false;
  if (code >= sizeof types / sizeof *types)
    return bytecode_fail(c->b, entry->offset, "found the VHLO type of code %llu, wanted less than %zu",
                         (unsigned long long)code, sizeof types / sizeof *types);
  ir_type *t = arena_new(c->b->arena, ir_type);
  entry->type = t;
  if (types[code].read) return types[code].read(c, t);
  t->kind = types[code].kind;
  t->dtype = types[code].dtype;
  if (types[code].text) t->text = str_from(types[code].text);
  return true;
}
