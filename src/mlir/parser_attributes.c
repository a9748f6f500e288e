// Attributes of MLIR text: numbers, strings, symbols, types, arrays and dictionaries; what has a file of its own is
// sent there, and builtin attributes that no StableHLO program means anything by are kept as text.
#include "mlir/parser.h"

static bool string_attribute(mlir_parser *p, const ir_attribute **out) {
  const ir_type *type;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_STRING);
  *out = x;
  return mlir_string(p, &x->text) && (!mlir_take(p, ":") || mlir_type(p, &type));
}

static bool symbol_attribute(mlir_parser *p, const ir_attribute **out) {
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_SYMBOL);
  *out = x;
  return mlir_symbol(p, &x->text);
}

static bool type_attribute(mlir_parser *p, const ir_attribute **out) {
  const ir_type *type;
  if (!mlir_type(p, &type)) return false;
  *out = ir_type_attribute(p->arena, type);
  return true;
}

// affine_map<...>, strided<...>, opaque<...>, loc(...), distinct[0]<...>
static bool opaque_attribute(mlir_parser *p, const ir_attribute **out) {
  size_t start = p->tok_offset;
  str body;
  mlir_advance(p);
  if (!mlir_balanced(p, &body)) return false;
  if (mlir_at(p, "<") && p->tok_offset == p->last_end && !mlir_balanced(p, &body)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->text = str_copy(p->arena, (str){p->source.data + start, p->last_end - start});
  *out = x;
  return true;
}

static bool array_attribute(mlir_parser *p, const ir_attribute **out) {
  VEC(const ir_attribute *) items = {0};
  mlir_advance(p);
  while (!mlir_take(p, "]")) {
    const ir_attribute *item;
    if (items.size && !mlir_expect(p, ",")) return false;
    if (!mlir_attribute(p, &item)) return false;
    vec_push(p->arena, &items, item);
  }
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_ARRAY);
  x->count = items.size;
  x->items = items.data;
  *out = x;
  return true;
}

// --- dictionaries

// Names taken, so that long dictionaries stay linear.
typedef struct name_set {
  int known;  // entries of the list that are in the map
  str_map names;
} name_set;

static bool is_taken(mlir_parser *p, name_set *set, const ir_attribute_list *list, str name) {
  enum { SHORT = 8 };
  if (list->size <= SHORT) {
    for (int i = 0; i < list->size; i++)
      if (str_equal(list->data[i].name, name)) return true;
    return false;
  }
  for (; set->known < list->size; set->known++)
    str_map_put(p->scratch, &set->names, list->data[set->known].name, list->data);
  return str_map_has(&set->names, name);
}

static bool attribute_name(mlir_parser *p, str *out) {
  if (p->kind == MLIR_STRING) return mlir_string(p, out);
  if (p->kind != MLIR_WORD) return mlir_found(p, "the name of an attribute");
  *out = str_copy(p->arena, p->tok);
  mlir_advance(p);
  return true;
}

static bool dictionary_entry(mlir_parser *p, name_set *set, ir_attribute_list *list) {
  ir_named_attribute entry = {.name = STR("")};
  size_t offset = p->tok_offset;
  if (!attribute_name(p, &entry.name)) return false;
  if (is_taken(p, set, list, entry.name))
    return mlir_error(p, offset, "found attribute '" STR_FMT "' twice", STR_ARG(entry.name));
  if (!mlir_take(p, "=")) entry.value = ir_attribute_new(p->arena, IR_ATTR_UNIT);
  else if (!mlir_attribute(p, &entry.value)) return false;
  vec_push(p->arena, list, entry);
  return true;
}

bool mlir_attribute_dictionary(mlir_parser *p, ir_attribute_list *list) {
  name_set set = {0};
  if (!mlir_expect(p, "{")) return false;
  if (mlir_take(p, "}")) return true;
  do {
    if (!dictionary_entry(p, &set, list)) return false;
  } while (mlir_take(p, ","));
  return mlir_take(p, "}") || mlir_found(p, "',' or '}'");
}

bool mlir_check_attributes(mlir_parser *p, size_t offset, const ir_attribute_list *list) {
  name_set set = {0};
  ir_attribute_list before = {.data = list->data};
  for (; before.size < list->size; before.size++) {
    const str name = list->data[before.size].name;
    if (is_taken(p, &set, &before, name))
      return mlir_error(p, offset, "found attribute '" STR_FMT "' twice", STR_ARG(name));
  }
  return true;
}

bool mlir_optional_attributes(mlir_parser *p, ir_attribute_list *list) {
  return !mlir_at(p, "{") || mlir_attribute_dictionary(p, list);
}

bool mlir_properties(mlir_parser *p, ir_attribute_list *list) {
  return !mlir_take(p, "<") || (mlir_attribute_dictionary(p, list) && mlir_expect(p, ">"));
}

static bool dictionary_attribute(mlir_parser *p, const ir_attribute **out) {
  ir_attribute_list list = {0};
  if (!mlir_attribute_dictionary(p, &list)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_DICTIONARY);
  x->count = list.size;
  x->fields = list.data;
  *out = x;
  return true;
}

// --- any

bool mlir_is_opaque_keyword(str word) {
  static const char *const words[] = {"affine_map", "affine_set", "strided", "opaque", "sparse", "loc", "distinct"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_is(word, words[i])) return true;
  return false;
}

static bool word_attribute(mlir_parser *p, const ir_attribute **out) {
  if (mlir_at(p, "dense")) return mlir_dense(p, out);
  if (mlir_at(p, "dense_resource")) return mlir_dense_resource(p, out);
  if (mlir_at(p, "array")) return mlir_dense_array(p, out);
  if (mlir_at(p, "true") || mlir_at(p, "false")) return mlir_number_attribute(p, NULL, out);
  if (mlir_take(p, "unit")) {
    *out = ir_attribute_new(p->arena, IR_ATTR_UNIT);
    return true;
  }
  return p->kind == MLIR_WORD && mlir_is_opaque_keyword(p->tok) ? opaque_attribute(p, out) : type_attribute(p, out);
}

static bool any_attribute(mlir_parser *p, const ir_attribute **out) {
  switch (p->kind) {
    case MLIR_INTEGER:
    case MLIR_FLOAT: return mlir_number_attribute(p, NULL, out);
    case MLIR_STRING: return string_attribute(p, out);
    case MLIR_SYMBOL: return symbol_attribute(p, out);
    case MLIR_HASH: return mlir_dialect_attribute(p, out);
    case MLIR_BANG: return type_attribute(p, out);
    case MLIR_WORD: return word_attribute(p, out);
    default: break;
  }
  if (mlir_at(p, "-")) return mlir_number_attribute(p, NULL, out);
  if (mlir_at(p, "[")) return array_attribute(p, out);
  if (mlir_at(p, "{")) return dictionary_attribute(p, out);
  if (mlir_at(p, "(")) return type_attribute(p, out);
  return mlir_found(p, "an attribute");
}

bool mlir_attribute(mlir_parser *p, const ir_attribute **out) {
  if (!mlir_enter(p)) return false;
  p->parts++;
  bool is_ok = any_attribute(p, out);
  mlir_leave(p);
  return is_ok;
}
