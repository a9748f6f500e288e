// Making HLO instructions on the way from StableHLO: shapes by the opcode's rule, the operation's place on each of
// them, its location as HLO's metadata.
#include "hlo/text.h"

#include "import/lowering.h"

heddle_status lowering_refuse(const ir_operation *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text message = {0};
  text_vprintf(&message, format, args);
  va_end(args);
  heddle_status status =
      status_at(HEDDLE_UNIMPLEMENTED, op->where, STR_FMT ": %s", STR_ARG(op->name), text_cstr(&message));
  text_free(&message);
  return status;
}

heddle_status lowering_invalid(const ir_operation *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text message = {0};
  text_vprintf(&message, format, args);
  va_end(args);
  heddle_status status = status_at(HEDDLE_INVALID, op->where, STR_FMT ": %s", STR_ARG(op->name), text_cstr(&message));
  text_free(&message);
  return status;
}

// {op_name="jit(f)/add" source_file="f.py" source_line=3}
static str metadata_of(arena *a, const ir_location *at) {
  text out = {0};
  const char *gap = "";
  if (at->name.size) {
    text_puts(&out, "op_name=");
    text_quote(&out, at->name);
    gap = " ";
  }
  if (at->file.size) {
    text_printf(&out, "%ssource_file=", gap);
    text_quote(&out, at->file);
    if (at->line > 0) text_printf(&out, " source_line=%d", at->line);
  }
  str result = out.size ? str_from(arena_printf(a, "{%s}", text_cstr(&out))) : (str){0};
  text_free(&out);
  return result;
}

// Names of operations are short, so one description serves all instructions made for the operation.
static void describe(lowering *l, instruction *i) {
  if (!l->op) return;
  i->where = l->op->where;
  if (l->described != l->op) {
    l->described = l->op;
    l->metadata = metadata_of(l->arena, &l->op->location);
  }
  if (!l->metadata.size) return;
  attributes_add_raw(l->arena, i->attributes, STR("metadata"), l->metadata);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_METADATA);
}

instruction *build_add(lowering *l, hlo_opcode opcode, const shape *s, int count, instruction *const *operands) {
  instruction *i = computation_add(l->computation, opcode, (str){0}, s, count, operands);
  describe(l, i);
  return i;
}

heddle_status build_infer(lowering *l, instruction *i) { return shape_infer(l->arena, i, &i->shape); }

// The rule's answer where there is one. Operands that do not fit are the verifier's to report; until then the
// instruction goes by the first operand's shape.
static instruction *infer_or_first(lowering *l, instruction *i) {
  heddle_status status = build_infer(l, i);
  heddle_status_free(status);
  return i;
}

instruction *build_unary(lowering *l, hlo_opcode opcode, instruction *x) {
  return infer_or_first(l, build_add(l, opcode, x->shape, 1, &x));
}

instruction *build_binary(lowering *l, hlo_opcode opcode, instruction *x, instruction *y) {
  return infer_or_first(l, build_add(l, opcode, x->shape, 2, (instruction *[]){x, y}));
}

instruction *build_select(lowering *l, instruction *p, instruction *on_true, instruction *on_false) {
  return build_add(l, HLO_SELECT, on_true->shape, 3, (instruction *[]){p, on_true, on_false});
}

instruction *build_compare(lowering *l, instruction *x, instruction *y, comparison_direction direction) {
  const shape *s = shape_with_dtype(l->arena, x->shape, DTYPE_PRED);
  instruction *i = build_add(l, HLO_COMPARE, s, 2, (instruction *[]){x, y});
  i->attributes->direction = direction;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIRECTION);
  return i;
}

// HLO does not convert complex numbers to real ones; StableHLO takes the real part.
instruction *build_convert(lowering *l, instruction *x, dtype to) {
  if (x->shape->dtype == to) return x;
  if (dtype_is_complex(x->shape->dtype) && !dtype_is_complex(to))
    return build_convert(l, build_unary(l, HLO_REAL, x), to);
  return build_add(l, HLO_CONVERT, shape_with_dtype(l->arena, x->shape, to), 1, &x);
}

instruction *build_constant(lowering *l, literal *value) {
  instruction *i = build_add(l, HLO_CONSTANT, value->shape, 0, NULL);
  i->literal = value;
  return i;
}

// Room for one element; like all small allocations it does not fail.
static literal *scalar_literal(arena *a, dtype t) {
  literal *value = arena_new(a, literal);
  value->shape = shape_scalar(a, t);
  value->data = arena_alloc(a, (size_t)dtypes[t].bytes);
  return value;
}

instruction *build_scalar(lowering *l, dtype t, double value) {
  literal *x = scalar_literal(l->arena, t);
  literal_set_double(x, 0, value);
  return build_constant(l, x);
}

static instruction *spread_like(lowering *l, instruction *like, instruction *scalar) {
  return like->shape->rank == 0 ? scalar : build_broadcast(l, scalar, like->shape, 0, NULL);
}

instruction *build_like(lowering *l, instruction *like, double value) {
  return spread_like(l, like, build_scalar(l, like->shape->dtype, value));
}

instruction *build_like_int(lowering *l, instruction *like, int64_t value) {
  literal *x = scalar_literal(l->arena, like->shape->dtype);
  literal_set_int(x, 0, value);
  return spread_like(l, like, build_constant(l, x));
}

void build_dimensions(lowering *l, instruction *i, int count, const int64_t *dimensions) {
  int64_t *copy = arena_array(l->arena, int64_t, count);
  if (count) memcpy(copy, dimensions, (size_t)count * sizeof *copy);
  i->attributes->dimensions = (int_list){copy, count};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
}

instruction *build_broadcast(lowering *l, instruction *x, const shape *s, int count, const int64_t *dimensions) {
  const shape *to = shape_with_layout(l->arena, shape_with_dtype(l->arena, s, x->shape->dtype), NULL);
  instruction *i = build_add(l, HLO_BROADCAST, to, 1, &x);
  build_dimensions(l, i, count, dimensions);
  return i;
}

instruction *build_reshape(lowering *l, instruction *x, int rank, const int64_t *dims) {
  return build_add(l, HLO_RESHAPE, shape_array(l->arena, x->shape->dtype, rank, dims), 1, &x);
}

instruction *build_tuple(lowering *l, int count, instruction *const *elements) {
  const shape **shapes = arena_array(l->arena, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = elements[k]->shape;
  return build_add(l, HLO_TUPLE, shape_tuple(l->arena, count, shapes), count, elements);
}

instruction *build_element(lowering *l, instruction *tuple, int index) {
  instruction *i = build_add(l, HLO_GET_TUPLE_ELEMENT, tuple->shape->elements[index], 1, &tuple);
  i->attributes->index = index;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_INDEX);
  return i;
}
