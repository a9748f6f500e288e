// !quant.uniform<storage<min:max>:expressed:axis, scales>: one scale for all, one for each index of an axis, or one for
// each block of a tensor (`{0:2, 1:4}` in place of the axis: sizes of the blocks along axes).
#include "mlir/parser.h"

typedef struct scale_list {
  VEC(double) scales;
  VEC(int64_t) zero_points;
} scale_list;

static bool storage_type(mlir_parser *p, ir_quantization *q) {
  static const struct {
    const char *name;
    dtype dtype;
  } unsigned_names[] = {{"u2", DTYPE_U2}, {"u4", DTYPE_U4}, {"u8", DTYPE_U8}, {"u16", DTYPE_U16}, {"u32", DTYPE_U32}};
  size_t offset = p->tok_offset;
  const ir_type *t;
  q->storage = DTYPE_INVALID;
  for (size_t i = 0; i < sizeof unsigned_names / sizeof *unsigned_names; i++)
    if (q->storage == DTYPE_INVALID && mlir_take(p, unsigned_names[i].name)) q->storage = unsigned_names[i].dtype;
  if (q->storage == DTYPE_INVALID) {
    if (!mlir_type(p, &t)) return false;
    if (t->kind == IR_TYPE_SCALAR) q->storage = t->dtype;
  }
  const dtype_info *info = &dtypes[q->storage];
  if (!dtype_is_integer(q->storage) || info->bits > 32)
    return mlir_error(p, offset, "found another storage type, wanted an integer of 2, 4, 8, 16 or 32 bits");
  q->storage_min = dtype_is_signed(q->storage) ? -((int64_t)1 << (info->bits - 1)) : 0;
  q->storage_max = q->storage_min + (((int64_t)1 << info->bits) - 1);
  return true;
}

static bool storage_range(mlir_parser *p, ir_quantization *q) {
  size_t offset = p->tok_offset;
  int64_t low, high;
  if (!mlir_take(p, "<")) return true;
  if (!mlir_integer(p, &low) || !mlir_expect(p, ":") || !mlir_integer(p, &high)) return false;
  if (low < q->storage_min || high > q->storage_max || low >= high)
    return mlir_error(p, offset, "found a range outside that of the storage type");
  q->storage_min = low;
  q->storage_max = high;
  return mlir_expect(p, ">");
}

static bool expressed_type(mlir_parser *p, ir_quantization *q) {
  size_t offset = p->tok_offset;
  const ir_type *t;
  if (!mlir_type(p, &t)) return false;
  if (t->kind != IR_TYPE_SCALAR || !dtype_is_float(t->dtype))
    return mlir_error(p, offset, "found another expressed type, wanted a floating point type");
  q->expressed = t->dtype;
  return true;
}

// {0:2, 1:4}
static bool block_sizes(mlir_parser *p, ir_quantization *q) {
  VEC(int64_t) axes = {0}, sizes = {0};
  while (!mlir_take(p, "}")) {
    int64_t axis, size;
    size_t offset = p->tok_offset;
    if (axes.size && !mlir_expect(p, ",")) return false;
    if (!mlir_integer(p, &axis) || !mlir_expect(p, ":") || !mlir_integer(p, &size)) return false;
    if (axis < 0 || axis >= SHAPE_MAX_RANK || size <= 0)
      return mlir_error(p, offset, "found a block that no tensor has");
    vec_push(p->arena, &axes, axis);
    vec_push(p->arena, &sizes, size);
  }
  q->block_count = axes.size;
  q->block_axes = axes.data;
  q->block_sizes = sizes.data;
  return true;
}

static bool axis_or_blocks(mlir_parser *p, ir_quantization *q) {
  int64_t axis;
  q->axis = -1;
  if (!mlir_take(p, ":")) return true;
  if (mlir_take(p, "{")) return block_sizes(p, q);
  size_t offset = p->tok_offset;
  if (!mlir_integer(p, &axis)) return false;
  if (axis < 0 || axis >= SHAPE_MAX_RANK) return mlir_error(p, offset, "found an axis that no tensor has");
  q->axis = (int)axis;
  return true;
}

// 0.1:-128
static bool scale(mlir_parser *p, const ir_quantization *q, scale_list *list) {
  double value;
  int64_t zero_point = 0;
  size_t offset = p->tok_offset;
  if (!mlir_number(p, &value)) return false;
  if (!(value > 0) || value - value != 0) return mlir_error(p, offset, "found a scale that is not positive and finite");
  offset = p->tok_offset;
  if (mlir_take(p, ":") && !mlir_integer(p, &zero_point)) return false;
  if (zero_point < q->storage_min || zero_point > q->storage_max)
    return mlir_error(p, offset, "found a zero point outside the range of the storage type");
  vec_push(p->arena, &list->scales, value);
  vec_push(p->arena, &list->zero_points, zero_point);
  return true;
}

typedef struct block_shape {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
} block_shape;

// `{{0.1, 0.2}, {0.3, 0.4}}` behind its first brace; depth counts braces around it. All lists at one depth must have
// the same length.
static bool nested_scales(mlir_parser *p, const ir_quantization *q, int depth, block_shape *s, scale_list *list) {
  int64_t count = 0;
  size_t offset = p->tok_offset;
  if (depth >= SHAPE_MAX_RANK) return mlir_error(p, offset, "found scales nested too deep");
  while (!mlir_take(p, "}")) {
    if (count && !mlir_expect(p, ",")) return false;
    bool is_list = mlir_take(p, "{");
    if (!is_list && s->rank && s->rank != depth + 1)
      return mlir_error(p, p->tok_offset, "found a scale at another depth than the first one");
    if (is_list ? !nested_scales(p, q, depth + 1, s, list) : !scale(p, q, list)) return false;
    if (!is_list) s->rank = depth + 1;
    count++;
  }
  if (!count || (s->dims[depth] && s->dims[depth] != count))
    return mlir_error(p, offset, "found lists of scales with different lengths or without scales");
  s->dims[depth] = count;
  return true;
}

static bool scales(mlir_parser *p, ir_quantization *q) {
  scale_list list = {0};
  size_t offset = p->tok_offset;
  if (q->axis < 0 && !q->block_count) {
    if (!scale(p, q, &list)) return false;
  } else {
    block_shape *s = arena_new(p->scratch, block_shape);
    if (!mlir_expect(p, "{") || !nested_scales(p, q, 0, s, &list)) return false;
    if (q->axis >= 0 && s->rank != 1) return mlir_error(p, offset, "found nested scales, wanted a list of them");
    if (q->block_count) {
      q->block_rank = s->rank;
      q->block_dims = arena_array(p->arena, int64_t, s->rank);
      memcpy(q->block_dims, s->dims, (size_t)s->rank * sizeof *s->dims);
    }
  }
  q->count = list.scales.size;
  q->scales = list.scales.data;
  q->zero_points = list.zero_points.data;
  return true;
}

bool mlir_quantized_type(mlir_parser *p, const ir_type **out) {
  ir_type *t = arena_new(p->arena, ir_type);
  ir_quantization *q = arena_new(p->arena, ir_quantization);
  t->kind = IR_TYPE_QUANTIZED;
  t->quantization = q;
  *out = t;
  return mlir_expect(p, "<") && storage_type(p, q) && storage_range(p, q) && mlir_expect(p, ":") &&
         expressed_type(p, q) && axis_or_blocks(p, q) && mlir_expect(p, ",") && scales(p, q) && mlir_expect(p, ">");
}
