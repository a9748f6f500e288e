// Shardy in bytecode, beside VHLO: attributes of shardings and meshes become the text that they have in MLIR's text
// form, so that one reader (sharding.c) serves both. What they refer to are attributes, texts by then.
#include "mlir/sharding.h"
#include "vhlo/bytecode_reader.h"

// Properties in the order of the alphabet.
static const struct {
  ir_opcode op;
  const char *names[3];
} properties[] = {
    {IR_OP_SDY_MANUAL_COMPUTATION, {"in_shardings", "manual_axes", "out_shardings"}},
    {IR_OP_SDY_MESH, {"mesh", "sym_name"}},
};

bool bytecode_sdy_properties(bytecode_cursor *c, ir_opcode op, int *count, ir_named_attribute fields[3]) {
  *count = 0;
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (properties[i].op != op) continue;
    for (; *count < 3 && properties[i].names[*count]; ++*count) {
      fields[*count].name = str_from(properties[i].names[*count]);
      if (!bytecode_attribute(c, &fields[*count].value)) return false;
    }
    return true;
  }
  c->at = c->end;  // of operations that say nothing to one who divides nothing
  return true;
}

static bool put_attribute(bytecode_cursor *c, text *out) {
  const ir_attribute *x;
  size_t start = c->at;
  if (!bytecode_attribute(c, &x)) return false;
  if (x->kind == IR_ATTR_SYMBOL) {
    text_putc(out, '@');
    text_quote(out, x->text);
    return true;
  }
  if (x->kind == IR_ATTR_STRING) {
    text_quote(out, x->text);
    return true;
  }
  const str behind = x->kind == IR_ATTR_OPAQUE ? sharding_behind_word(x->text, NULL) : (str){0};
  text_append(out, behind);
  return behind.size || bytecode_fail(c->b, start, "found another attribute, wanted one of Shardy");
}

static bool put_list(bytecode_cursor *c, text *out, const char *open, const char *close) {
  int count;
  if (!bytecode_count(c, &count)) return false;
  text_puts(out, open);
  for (int i = 0; i < count; i++) {
    if (i) text_puts(out, ", ");
    if (!put_attribute(c, out)) return false;
  }
  text_puts(out, close);
  return true;
}

static bool put_string(bytecode_cursor *c, text *out) {
  str s;
  if (!bytecode_string(c, &s)) return false;
  text_quote(out, s);
  return true;
}

static bool put_number(bytecode_cursor *c, text *out) {
  int64_t number;
  if (!bytecode_signed(c, &number)) return false;
  text_printf(out, "%lld", (long long)number);
  return true;
}

// The codes of Shardy's bytecode.
static bool put_manual_axes(bytecode_cursor *c, text *out) { return put_list(c, out, "manual_axes{", "}"); }

static bool put_mesh_axis(bytecode_cursor *c, text *out) {
  text_puts(out, "mesh_axis");
  if (!put_string(c, out)) return false;
  text_putc(out, '=');
  return put_number(c, out);
}

static bool put_mesh(bytecode_cursor *c, text *out) {
  int count;
  if (!put_list(c, out, "mesh<[", "]") || !bytecode_count(c, &count)) return false;
  for (int i = 0; i < count; i++) {
    text_puts(out, i ? ", " : ", device_ids=[");
    if (!put_number(c, out)) return false;
  }
  text_puts(out, count ? "]>" : ">");
  return true;
}

static bool put_part(bytecode_cursor *c, text *out) {
  text_puts(out, "sub_axis_info:(");
  if (!put_number(c, out)) return false;
  text_putc(out, ')');
  return put_number(c, out);
}

static bool put_axis(bytecode_cursor *c, text *out) {
  uint64_t index;
  bool has_part;
  text_puts(out, "axis_ref");
  if (!put_string(c, out)) return false;
  bytecode_cursor ahead = *c;
  if (!bytecode_flagged(&ahead, &index, &has_part)) return false;
  if (!has_part) {
    c->at = ahead.at;
    return true;
  }
  const ir_attribute *part;
  const size_t start = c->at;
  if (!bytecode_optional_attribute(c, &part)) return false;
  const str behind = part->kind == IR_ATTR_OPAQUE ? sharding_behind_word(part->text, NULL) : (str){0};
  text_append(out, behind);
  return behind.size || bytecode_fail(c->b, start, "found another attribute, wanted a part of an axis");
}

static bool put_dim(bytecode_cursor *c, text *out) {
  uint8_t is_closed;
  uint64_t priority;
  bool has_priority;
  if (!put_list(c, out, "dimension_sharding{", "") || !bytecode_byte(c, &is_closed) ||
      !bytecode_flagged(c, &priority, &has_priority))
    return false;
  if (!is_closed) text_puts(out, out->data[out->size - 1] == '{' ? "?" : ", ?");
  text_putc(out, '}');
  if (has_priority) text_printf(out, "p%llu", (unsigned long long)priority);
  return true;
}

// What an axis's values are still to be reduced by says nothing about parts.
static bool put_sharding(bytecode_cursor *c, text *out, int lists, bool has_reducer) {
  static const char *const opens[] = {", replicated={", ", unreduced={"};
  int64_t reducer;
  text_puts(out, "sharding<");
  if (!put_attribute(c, out)) return false;
  if (!put_list(c, out, ", [", "]")) return false;
  for (int i = 0; i < lists; i++)
    if (!put_list(c, out, opens[i], "}")) return false;
  text_putc(out, '>');
  return !has_reducer || bytecode_signed(c, &reducer);
}

static bool put_shardings(bytecode_cursor *c, text *out) { return put_list(c, out, "sharding_per_value<[", "]>"); }

// Shardy's codes of attributes. Those from 8 to 14 are rules of propagation.
enum {
  SDY_MANUAL_AXES,
  SDY_MESH_AXIS,
  SDY_MESH,
  SDY_SUB_AXIS_INFO,
  SDY_AXIS_REF,
  SDY_DIMENSION_SHARDING,
  SDY_TENSOR_SHARDING,
  SDY_TENSOR_SHARDING_PER_VALUE,
  SDY_TENSOR_SHARDING_UNREDUCED = 15,
  SDY_TENSOR_SHARDING_PER_VALUE_UNREDUCED,
  SDY_TENSOR_SHARDING_REDUCER,
  SDY_CODE_COUNT
};

static bool put_code(bytecode_cursor *c, int code, text *out) {
  switch (code) {
    case SDY_MANUAL_AXES: return put_manual_axes(c, out);
    case SDY_MESH_AXIS: return put_mesh_axis(c, out);
    case SDY_MESH: return put_mesh(c, out);
    case SDY_SUB_AXIS_INFO: return put_part(c, out);
    case SDY_AXIS_REF: return put_axis(c, out);
    case SDY_DIMENSION_SHARDING: return put_dim(c, out);
    case SDY_TENSOR_SHARDING: return put_sharding(c, out, 1, false);
    case SDY_TENSOR_SHARDING_PER_VALUE:
    case SDY_TENSOR_SHARDING_PER_VALUE_UNREDUCED: return put_shardings(c, out);
    case SDY_TENSOR_SHARDING_UNREDUCED: return put_sharding(c, out, 2, false);
    case SDY_TENSOR_SHARDING_REDUCER: return put_sharding(c, out, 2, true);
    default:  // a rule of propagation, as JAX gives LAPACK's calls: nothing to one who divides nothing
      text_puts(out, "propagation");
      c->at = c->end;
      return true;
  }
}

static bool put(bytecode_cursor *c, text *out) {
  static const bool has_brackets[SDY_CODE_COUNT] = {[SDY_MESH] = true,
                                                    [SDY_TENSOR_SHARDING] = true,
                                                    [SDY_TENSOR_SHARDING_PER_VALUE] = true,
                                                    [SDY_TENSOR_SHARDING_UNREDUCED] = true,
                                                    [SDY_TENSOR_SHARDING_PER_VALUE_UNREDUCED] = true,
                                                    [SDY_TENSOR_SHARDING_REDUCER] = true};
  int code;
  if (!bytecode_index(c, SDY_CODE_COUNT, "Shardy attribute", &code)) return false;
  text_puts(out, has_brackets[code] ? "#sdy." : "#sdy<");
  if (!put_code(c, code, out)) return false;
  if (!has_brackets[code]) text_putc(out, '>');
  return true;
}

bool bytecode_sdy_attribute(bytecode_cursor *c, bytecode_entry *entry) {
  text out = {0};
  bool is_read = put(c, &out);
  if (is_read) {
    ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_OPAQUE);
    x->text = str_copy(c->b->arena, text_view(&out));
    entry->attribute = x;
  }
  text_free(&out);
  return is_read;
}
