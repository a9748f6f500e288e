// Attributes both ways: those of StableHLO operations read whatever their spelling, those of HLO instructions set by
// the row of attributes.def.
#include "stablehlo/lowering.h"

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
