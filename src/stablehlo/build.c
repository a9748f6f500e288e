// Makes HLO instructions for the lowerings: shapes follow from the opcode's rule, and every instruction gets the
// location of the StableHLO operation as its place and as HLO metadata.
#include "stablehlo/build.h"

#include "hlo/builder.h"
#include "hlo/text.h"

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

// Where instructions go and what they say of their origin. One description serves all that an operation becomes.
static builder builder_of(lowering *l) {
  builder b = {.arena = l->arena, .computation = l->computation};
  if (!l->op) return b;
  if (l->described != l->op) {
    l->described = l->op;
    l->metadata = metadata_of(l->arena, &l->op->location);
  }
  b.where = l->op->where;
  b.metadata = l->metadata;
  return b;
}

instruction *build_add(lowering *l, hlo_opcode opcode, const shape *s, int count, instruction *const *operands) {
  const builder b = builder_of(l);
  return builder_add(&b, opcode, s, count, operands);
}

heddle_status build_infer(lowering *l, instruction *i) { return shape_infer(l->arena, i, &i->shape); }

instruction *build_unary(lowering *l, hlo_opcode opcode, instruction *x) {
  const builder b = builder_of(l);
  return builder_unary(&b, opcode, x);
}

instruction *build_binary(lowering *l, hlo_opcode opcode, instruction *x, instruction *y) {
  const builder b = builder_of(l);
  return builder_binary(&b, opcode, x, y);
}

instruction *build_select(lowering *l, instruction *p, instruction *on_true, instruction *on_false) {
  const builder b = builder_of(l);
  return builder_select(&b, p, on_true, on_false);
}

instruction *build_compare(lowering *l, instruction *x, instruction *y, comparison_direction direction) {
  const builder b = builder_of(l);
  return builder_compare(&b, x, y, direction);
}

// HLO does not convert complex numbers to real ones; StableHLO takes the real part.
instruction *build_convert(lowering *l, instruction *x, dtype to) {
  const builder b = builder_of(l);
  bool drops_part = dtype_is_complex(x->shape->dtype) && !dtype_is_complex(to);
  return builder_convert(&b, drops_part ? builder_unary(&b, HLO_REAL, x) : x, to);
}

instruction *build_constant(lowering *l, literal *value) {
  const builder b = builder_of(l);
  return builder_constant(&b, value);
}

instruction *build_elements(lowering *l, const ir_attribute *x) {
  instruction *i = build_constant(l, x->elements);
  return ir_elements_repeat(x) ? build_broadcast(l, i, ir_elements_shape(l->arena, x), 0, NULL) : i;
}

instruction *build_scalar(lowering *l, dtype t, double value) {
  const builder b = builder_of(l);
  return builder_scalar(&b, t, value);
}

instruction *build_like(lowering *l, instruction *like, double value) {
  const builder b = builder_of(l);
  return builder_like(&b, like, value);
}

instruction *build_like_int(lowering *l, instruction *like, int64_t value) {
  const builder b = builder_of(l);
  return builder_like_int(&b, like, value);
}

void build_dimensions(lowering *l, instruction *i, int count, const int64_t *dimensions) {
  const builder b = builder_of(l);
  builder_set_dimensions(&b, i, count, dimensions);
}

instruction *build_broadcast(lowering *l, instruction *x, const shape *s, int count, const int64_t *dimensions) {
  const builder b = builder_of(l);
  return builder_broadcast(&b, x, s, count, dimensions);
}

instruction *build_reshape(lowering *l, instruction *x, int rank, const int64_t *dims) {
  const builder b = builder_of(l);
  return builder_reshape(&b, x, rank, dims);
}

instruction *build_tuple(lowering *l, int count, instruction *const *elements) {
  const builder b = builder_of(l);
  return builder_tuple(&b, count, elements);
}

instruction *build_element(lowering *l, instruction *tuple, int index) {
  const builder b = builder_of(l);
  return builder_element(&b, tuple, index);
}

// ---- Attributes

static void *field(instruction *i, hlo_attribute_id id) {
  attributes_mark(i->attributes, id);
  return (char *)i->attributes + hlo_attribute_infos[id].offset;
}

void build_set_ints(lowering *l, instruction *i, hlo_attribute_id id, int count, const int64_t *values) {
  int64_t *copy = arena_array(l->arena, int64_t, count);
  if (count) memcpy(copy, values, (size_t)count * sizeof *copy);
  *(int_list *)field(i, id) = (int_list){copy, count};
}

void build_set_int(instruction *i, hlo_attribute_id id, int64_t value) { *(int64_t *)field(i, id) = value; }
void build_set_bool(instruction *i, hlo_attribute_id id, bool value) { *(bool *)field(i, id) = value; }
void build_set_text(instruction *i, hlo_attribute_id id, str value) { *(str *)field(i, id) = value; }
void build_mark(instruction *i, hlo_attribute_id id) { attributes_mark(i->attributes, id); }

void build_set_raw(lowering *l, instruction *i, hlo_attribute_id id, str value) {
  attributes_mark(i->attributes, id);
  attributes_add_raw(l->arena, i->attributes, str_from(hlo_attribute_infos[id].text), value);
}

void build_called(instruction *i, hlo_attribute_id id, computation *called) {
  attributes_mark(i->attributes, id);
  instruction_set_called(i, 1, &called);
}
