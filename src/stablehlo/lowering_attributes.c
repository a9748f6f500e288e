// What a lowering asks of a StableHLO operation: its attributes, whatever their spelling, and errors at its location.
#include "stablehlo/lowering.h"

static heddle_status error_of(heddle_code code, const ir_operation *op, const char *format, va_list args) {
  text message = {0};
  text_vprintf(&message, format, args);
  heddle_status status = status_at(code, op->where, STR_FMT ": %s", STR_ARG(op->name), text_cstr(&message));
  text_free(&message);
  return status;
}

heddle_status lowering_refuse(const ir_operation *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  heddle_status status = error_of(HEDDLE_UNIMPLEMENTED, op, format, args);
  va_end(args);
  return status;
}

heddle_status lowering_invalid(const ir_operation *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  heddle_status status = error_of(HEDDLE_INVALID, op, format, args);
  va_end(args);
  return status;
}

heddle_status lowering_ints(lowering *l, const ir_operation *op, const char *name, int_list *out) {
  if (!ir_attribute_integers(l->arena, ir_find(op, name), &out->data, &out->size))
    return lowering_invalid(op, "attribute %s is no list of integers", name);
  return status_ok();
}

heddle_status lowering_field_ints(lowering *l, const ir_operation *op, const ir_attribute *of, const char *name,
                                  int_list *out) {
  if (!ir_attribute_integers(l->arena, ir_find_field(of, name), &out->data, &out->size))
    return lowering_invalid(op, "field %s is no list of integers", name);
  return status_ok();
}

heddle_status lowering_ints_of(lowering *l, const ir_operation *op, const char *name, int size, int64_t missing,
                               int_list *out) {
  TRY(lowering_ints(l, op, name, out));
  if (out->size == size) return status_ok();
  if (ir_find(op, name)) return lowering_invalid(op, "%s has %d entries, wanted %d", name, out->size, size);
  int64_t *data = arena_array(l->arena, int64_t, size);
  for (int k = 0; k < size; k++) data[k] = missing;
  *out = (int_list){data, size};
  return status_ok();
}

heddle_status lowering_int(const ir_operation *op, const char *name, int64_t missing, int64_t *out) {
  const ir_attribute *x = ir_find(op, name);
  *out = missing;
  if (!x) return status_ok();
  if (x->kind == IR_ATTR_UNIT) *out = 1;
  else if (!ir_attribute_integer(x, out)) return lowering_invalid(op, "attribute %s is no integer", name);
  return status_ok();
}

heddle_status lowering_needed_int(const ir_operation *op, const char *name, int64_t *out) {
  if (!ir_find(op, name)) return lowering_invalid(op, "attribute %s is missing", name);
  return lowering_int(op, name, 0, out);
}

int64_t lowering_field_int(const ir_attribute *of, const char *name, int64_t missing) {
  int64_t value = missing;
  return ir_attribute_integer(ir_find_field(of, name), &value) ? value : missing;
}

str lowering_word(const ir_operation *op, const char *name) {
  const ir_attribute *x = ir_find(op, name);
  return x && (x->kind == IR_ATTR_ENUM || x->kind == IR_ATTR_STRING || x->kind == IR_ATTR_SYMBOL) ? x->text : (str){0};
}

heddle_status lowering_word_index(const ir_operation *op, const char *name, const char *const *words, int missing,
                                  int *out) {
  str word = lowering_word(op, name);
  *out = missing;
  if (!word.size && missing >= 0) return status_ok();
  for (int k = 0; words[k]; k++)
    if (str_is(word, words[k])) {
      *out = k;
      return status_ok();
    }
  return lowering_invalid(op, "attribute %s is '" STR_FMT "', wanted one of its words", name, STR_ARG(word));
}
