// Two programs side by side: values are paired as they come up, and every other place of one must be a place of the
// value that it is paired with.
#include "mlir/ir_compare.h"

#include "base/map.h"

typedef struct comparison {
  arena *arena;   // scratch
  ptr_map pairs;  // a value on the left to the one on the right
  ir_is_default_fn is_default;
} comparison;

static bool same_attributes(comparison *c, const ir_attribute *l, const ir_attribute *r);

static heddle_status differ(const ir_operation *o, const char *what) {
  return status_at(HEDDLE_INVALID, o->where, STR_FMT " differs in %s", STR_ARG(o->name), what);
}

static bool same_integers(comparison *c, const ir_attribute *l, const ir_attribute *r) {
  const int64_t *left, *right;
  int left_count, right_count;
  if (!ir_attribute_integers(c->arena, l, &left, &left_count) ||
      !ir_attribute_integers(c->arena, r, &right, &right_count) || left_count != right_count)
    return false;
  for (int i = 0; i < left_count; i++)
    if (left[i] != right[i]) return false;
  return true;
}

static bool same_items(comparison *c, const ir_attribute *l, const ir_attribute *r) {
  if (l->count != r->count) return false;
  for (int i = 0; i < l->count; i++)
    if (!same_attributes(c, l->items[i], r->items[i])) return false;
  return true;
}

// A field that is missing on one side must be an empty list on the other.
static bool has_fields(comparison *c, const ir_attribute *l, const ir_attribute *r) {
  for (int i = 0; i < l->count; i++) {
    const ir_attribute *other = NULL;
    for (int j = 0; j < r->count && !other; j++)
      if (str_equal(l->fields[i].name, r->fields[j].name)) other = r->fields[j].value;
    if (other ? !same_attributes(c, l->fields[i].value, other) : !same_integers(c, l->fields[i].value, NULL))
      return false;
  }
  return true;
}

static dtype number_type(const ir_attribute *x, dtype otherwise) {
  return x->type ? ir_type_dtype(x->type) : otherwise;
}

// NaNs of the same bits are the same, zeros of different signs are not.
static bool same_bits(double l, double r) {
  uint64_t left, right;
  memcpy(&left, &l, sizeof left);
  memcpy(&right, &r, sizeof right);
  return left == right;
}

static bool same_numbers(const ir_attribute *l, const ir_attribute *r) {
  if (l->count != r->count) return false;
  for (int i = 0; i < l->count; i++)
    if (!same_bits(l->numbers[i], r->numbers[i])) return false;
  return true;
}

static bool is_list(const ir_attribute *x) { return x->kind == IR_ATTR_INTEGERS || x->kind == IR_ATTR_ARRAY; }

static bool same_attributes(comparison *c, const ir_attribute *l, const ir_attribute *r) {
  if (l->kind != r->kind) return is_list(l) && is_list(r) && same_integers(c, l, r);
  switch (l->kind) {
    case IR_ATTR_UNIT: return true;
    case IR_ATTR_BOOL: return l->integer == r->integer;
    case IR_ATTR_INTEGER: return l->integer == r->integer && number_type(l, DTYPE_S64) == number_type(r, DTYPE_S64);
    case IR_ATTR_FLOAT:
      return same_bits(l->number, r->number) && number_type(l, DTYPE_F64) == number_type(r, DTYPE_F64);
    case IR_ATTR_TYPE: return ir_type_equal(l->type, r->type);
    case IR_ATTR_ARRAY: return same_items(c, l, r);
    case IR_ATTR_DICTIONARY:
    case IR_ATTR_STRUCT: return str_equal(l->name, r->name) && has_fields(c, l, r) && has_fields(c, r, l);
    case IR_ATTR_ELEMENTS: return ir_type_equal(l->type, r->type) && literal_identical(l->elements, r->elements);
    case IR_ATTR_INTEGERS: return same_integers(c, l, r);
    case IR_ATTR_FLOATS: return same_numbers(l, r);
    default: return str_equal(l->name, r->name) && str_equal(l->text, r->text);
  }
}

static heddle_status has_attributes(comparison *c, const ir_operation *l, const ir_operation *r) {
  for (int i = 0; i < l->attribute_count; i++) {
    str name = l->attributes[i].name;
    const ir_attribute *left = l->attributes[i].value, *right = NULL;
    for (int j = 0; j < r->attribute_count && !right; j++)
      if (str_equal(name, r->attributes[j].name)) right = r->attributes[j].value;
    if (right ? same_attributes(c, left, right) : c->is_default && c->is_default(l->op, name, left)) continue;
    return differ(l, arena_printf(c->arena, "attribute " STR_FMT, STR_ARG(name)));
  }
  return status_ok();
}

// Whether the two are a pair; what has none yet gets one, since a block may use what a later one defines.
static bool is_pair(comparison *c, const ir_value *l, const ir_value *r) {
  const ir_value *known = ptr_map_get(&c->pairs, l);
  if (!known) ptr_map_put(c->arena, &c->pairs, l, (void *)r);
  return !known || known == r;
}

static heddle_status pair(comparison *c, const ir_operation *o, const ir_value *l, const ir_value *r) {
  if (!ir_type_equal(l->type, r->type)) return differ(o, arena_printf(c->arena, "type of value %d", l->number));
  if (!is_pair(c, l, r)) return differ(o, arena_printf(c->arena, "uses of value %d", l->number));
  return status_ok();
}

static heddle_status compare_operations(comparison *c, const ir_operation *l, const ir_operation *r);

static heddle_status compare_blocks(comparison *c, const ir_operation *o, const ir_block *l, const ir_block *r) {
  if (l->argument_count != r->argument_count) return differ(o, "the number of a block's arguments");
  for (int i = 0; i < l->argument_count; i++) TRY(pair(c, o, l->arguments[i], r->arguments[i]));
  if (l->operations.size != r->operations.size) return differ(o, "the number of operations inside");
  for (int i = 0; i < l->operations.size; i++) TRY(compare_operations(c, l->operations.data[i], r->operations.data[i]));
  return status_ok();
}

static heddle_status compare_regions(comparison *c, const ir_operation *l, const ir_operation *r) {
  if (l->region_count != r->region_count) return differ(l, "the number of regions");
  for (int i = 0; i < l->region_count; i++) {
    const ir_region *left = l->regions[i], *right = r->regions[i];
    if (left->blocks.size != right->blocks.size) return differ(l, "the number of blocks");
    for (int j = 0; j < left->blocks.size; j++) TRY(compare_blocks(c, l, left->blocks.data[j], right->blocks.data[j]));
  }
  return status_ok();
}

static heddle_status compare_operations(comparison *c, const ir_operation *l, const ir_operation *r) {
  if (!str_equal(l->name, r->name))
    return differ(l, arena_printf(c->arena, "the operation: the other is " STR_FMT, STR_ARG(r->name)));
  if (l->operand_count != r->operand_count) return differ(l, "the number of operands");
  if (l->result_count != r->result_count) return differ(l, "the number of results");
  for (int i = 0; i < l->operand_count; i++)
    if (!is_pair(c, l->operands[i], r->operands[i])) return differ(l, arena_printf(c->arena, "operand %d", i));
  TRY(has_attributes(c, l, r));
  TRY(has_attributes(c, r, l));
  for (int i = 0; i < l->result_count; i++) TRY(pair(c, l, l->results[i], r->results[i]));
  return compare_regions(c, l, r);
}

heddle_status ir_compare(const ir_module *l, const ir_module *r, ir_is_default_fn is_default) {
  comparison c = {.arena = arena_create(), .is_default = is_default};
  heddle_status status = compare_operations(&c, l->operation, r->operation);
  arena_destroy(c.arena);
  return status;
}
