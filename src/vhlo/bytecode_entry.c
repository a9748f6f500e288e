// Types and attributes, which bytecode refers to by index. Each is read when it is first asked for and kept.
//
// An entry may refer to any other: one that contains itself is refused, and so are entries that nest too deep or whose
// expansion (shared parts counted at every place they stand) would keep later walks busy out of proportion to the file.
#include "base/map.h"
#include "mlir/parser.h"
#include "mlir/text.h"
#include "vhlo/bytecode_reader.h"

static bytecode_dialect dialect_at(const bytecode *b, int index) {
  if (str_is(b->dialects[index], "builtin")) return BYTECODE_BUILTIN;
  if (str_is(b->dialects[index], "chlo")) return BYTECODE_CHLO;
  if (str_is(b->dialects[index], "sdy")) return BYTECODE_SDY;
  return str_is(b->dialects[index], "vhlo") ? BYTECODE_VHLO : BYTECODE_OTHER;
}

static bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

// `#dialect.name` or `!dialect.name`, with a body in angle brackets or without one, or `affine_map<...>` or
// `vector<...>`: so that it can be printed.
static bool is_dialect_text(str s, char mark) {
  const bool is_marked = s.size > 0 && s.data[0] == mark;
  size_t at = is_marked;
  int depth = 0;
  while (at < s.size && is_name_letter(s.data[at])) at++;
  const str word = {s.data, at};
  if (!is_marked && !(mark == '!' ? str_is(word, "vector") : mlir_is_opaque_keyword(word))) return false;
  if (at == (size_t)is_marked || (at < s.size ? s.data[at] != '<' : !is_marked)) return false;
  for (; at < s.size; at++) {
    if (s.data[at] == '<') depth++;
    if (s.data[at] == '>' && s.data[at - 1] != '-' && --depth == 0) return at + 1 == s.size;
  }
  return depth == 0;
}

// Dialects that do not encode an attribute or type themselves leave its text, with a NUL behind it.
static bool read_text(bytecode_cursor *c, bytecode_entry *entry, bool is_type) {
  str text;
  if (entry->size == 0 || c->b->bytes.data[c->end - 1] != '\0')
    return bytecode_fail(c->b, entry->offset, "found text without an end");
  if (!bytecode_take(c, entry->size - 1, &text)) return false;
  c->at++;
  if (!is_dialect_text(text, is_type ? '!' : '#') ||
      !(is_type ? mlir_text_is_type(text) : mlir_text_is_attribute(text)))
    return bytecode_fail(c->b, entry->offset, "found the text '" STR_FMT "', wanted one of a dialect's %s",
                         STR_ARG(text), is_type ? "types" : "attributes");
  if (is_type) {
    ir_type *t = arena_new(c->b->arena, ir_type);
    t->kind = IR_TYPE_OPAQUE;
    t->text = str_copy(c->b->arena, text);
    entry->type = t;
    return true;
  }
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_OPAQUE);
  x->text = str_copy(c->b->arena, text);
  entry->attribute = x;
  return true;
}

static bool read_encoded(bytecode_cursor *c, bytecode_entry *entry, bool is_type) {
  switch (dialect_at(c->b, entry->dialect)) {
    case BYTECODE_BUILTIN: return is_type ? bytecode_builtin_type(c, entry) : bytecode_builtin_attribute(c, entry);
    case BYTECODE_VHLO: return is_type ? vhlo_type(c, entry) : vhlo_attribute(c, entry);
    case BYTECODE_CHLO:
      if (!is_type) return bytecode_chlo_attribute(c, entry);
      break;
    case BYTECODE_SDY:
      if (!is_type) return bytecode_sdy_attribute(c, entry);
      break;
    default: break;
  }
  return bytecode_refuse(c->b, entry->offset, "found %s in the encoding of dialect " STR_FMT ", which is not known",
                         is_type ? "a type" : "an attribute", STR_ARG(c->b->dialects[entry->dialect]));
}

static bool read_entry(bytecode *b, bytecode_entry *entry, bool is_type) {
  bytecode_cursor c = {b, entry->offset, entry->offset + entry->size};
  bool is_read = entry->is_encoded ? read_encoded(&c, entry, is_type) : read_text(&c, entry, is_type);
  if (!is_read) return false;
  if (c.at != c.end)
    return bytecode_fail(b, c.at, "found %zu more bytes, wanted the end of %s", bytecode_left(&c),
                         is_type ? "a type" : "an attribute");
  return true;
}

static bool check_entry(bytecode *b, const bytecode_entry *entry) {
  if (entry->depth > IR_MAX_DEPTH)
    return bytecode_fail(b, entry->offset, "found types or attributes nested more than %d deep", IR_MAX_DEPTH);
  if (entry->weight > IR_MAX_PARTS)
    return bytecode_fail(b, entry->offset, "found a type or attribute of more than %d parts", IR_MAX_PARTS);
  return true;
}

static bool open_entry(bytecode *b, bytecode_entry *entry, bool is_type) {
  if (entry->is_open) return bytecode_fail(b, entry->offset, "found a type or attribute that contains itself");
  if (b->open_entries >= IR_MAX_DEPTH)
    return bytecode_fail(b, entry->offset, "found types or attributes nested more than %d deep", IR_MAX_DEPTH);
  int outer_depth = b->nested_depth;
  int64_t outer_weight = b->nested_weight;
  b->nested_depth = 0;
  b->nested_weight = 0;
  b->open_entries++;
  entry->is_open = true;
  if (!read_entry(b, entry, is_type)) return false;
  entry->is_open = false;
  b->open_entries--;
  entry->depth = b->nested_depth + 1;
  entry->weight = b->nested_weight + 1;
  entry->is_read = true;
  b->nested_depth = outer_depth;
  b->nested_weight = outer_weight;
  return check_entry(b, entry);
}

static bool ask(bytecode *b, bytecode_entry *entry, bool is_type) {
  if (!entry->is_read && !open_entry(b, entry, is_type)) return false;
  if (b->nested_depth < entry->depth) b->nested_depth = entry->depth;
  b->nested_weight += entry->weight;
  if (b->open_entries && b->nested_weight > IR_MAX_PARTS)
    return bytecode_fail(b, entry->offset, "found a type or attribute of more than %d parts", IR_MAX_PARTS);
  return true;
}

static bool attribute_at(bytecode *b, int index, size_t offset, const ir_attribute **out) {
  bytecode_entry *entry = &b->attributes[index];
  if (!ask(b, entry, false)) return false;
  if (!entry->attribute) return bytecode_fail(b, offset, "found a location, wanted an attribute");
  *out = entry->attribute;
  return true;
}

bool bytecode_attribute(bytecode_cursor *c, const ir_attribute **out) {
  int index;
  size_t start = c->at;
  return bytecode_index(c, c->b->attribute_count, "attribute", &index) && attribute_at(c->b, index, start, out);
}

bool bytecode_optional_attribute(bytecode_cursor *c, const ir_attribute **out) {
  uint64_t value;
  bool is_there;
  int index;
  size_t start = c->at;
  *out = NULL;
  if (!bytecode_flagged(c, &value, &is_there)) return false;
  if (!is_there) return true;
  return bytecode_index_of(c, value, c->b->attribute_count, "attribute", &index) &&
         attribute_at(c->b, index, start, out);
}

bool bytecode_attributes(bytecode_cursor *c, int *count, const ir_attribute ***out) {
  if (!bytecode_count(c, count)) return false;
  *out = arena_array(c->b->arena, const ir_attribute *, *count);
  for (int i = 0; i < *count; i++)
    if (!bytecode_attribute(c, &(*out)[i])) return false;
  return true;
}

// Short lists are compared directly.
static bool is_repeated(bytecode *b, str_map *seen, int count, const ir_named_attribute *fields, int i) {
  enum { SHORT = 32 };
  if (count > SHORT) {
    bool is_seen = str_map_has(seen, fields[i].name);
    str_map_put(b->arena, seen, fields[i].name, b);
    return is_seen;
  }
  for (int j = 0; j < i; j++)
    if (str_equal(fields[j].name, fields[i].name)) return true;
  return false;
}

bool bytecode_unique(bytecode *b, size_t offset, int count, const ir_named_attribute *fields) {
  str_map seen = {0};
  for (int i = 0; i < count; i++)
    if (is_repeated(b, &seen, count, fields, i))
      return bytecode_fail(b, offset, "found attribute " STR_FMT " twice", STR_ARG(fields[i].name));
  return true;
}

static bool is_foreign(const bytecode *b, int index) {
  const bytecode_entry *entry = &b->attributes[index];
  return entry->is_encoded && dialect_at(b, entry->dialect) == BYTECODE_OTHER;
}

bool bytecode_dictionary(bytecode_cursor *c, const ir_attribute **out) {
  ir_attribute *x = ir_attribute_new(c->b->arena, IR_ATTR_DICTIONARY);
  size_t start = c->at;
  int count, value;
  if (!bytecode_count(c, &count)) return false;
  ir_named_attribute *fields = arena_array(c->b->arena, ir_named_attribute, count);
  for (int i = 0; i < count; i++) {
    ir_named_attribute *f = &fields[x->count];
    if (!bytecode_string_attribute(c, &f->name) || !bytecode_index(c, c->b->attribute_count, "attribute", &value))
      return false;
    if (is_foreign(c->b, value)) continue;
    if (!attribute_at(c->b, value, start, &f->value)) return false;
    x->count++;
  }
  x->fields = fields;
  *out = x;
  return bytecode_unique(c->b, start, x->count, fields);
}

bool bytecode_string_attribute(bytecode_cursor *c, str *out) {
  const ir_attribute *x;
  size_t start = c->at;
  if (!bytecode_attribute(c, &x)) return false;
  if (x->kind != IR_ATTR_STRING) return bytecode_fail(c->b, start, "found another attribute, wanted a string");
  *out = x->text;
  return true;
}

bool bytecode_location(bytecode_cursor *c, const ir_location **out) {
  static const ir_location nowhere = {0};
  int index;
  if (!bytecode_index(c, c->b->attribute_count, "location", &index)) return false;
  bytecode_entry *entry = &c->b->attributes[index];
  if (!ask(c->b, entry, false)) return false;
  *out = entry->location ? entry->location : &nowhere;
  return true;
}

bool bytecode_type_at(bytecode *b, uint64_t index, size_t offset, const ir_type **out) {
  if (index >= (uint64_t)b->type_count)
    return bytecode_fail(b, offset, "found type %llu, wanted less than %d", (unsigned long long)index, b->type_count);
  bytecode_entry *entry = &b->types[index];
  if (!ask(b, entry, true)) return false;
  *out = entry->type;
  return true;
}

bool bytecode_type(bytecode_cursor *c, const ir_type **out) {
  uint64_t index;
  size_t start = c->at;
  return bytecode_varint(c, &index) && bytecode_type_at(c->b, index, start, out);
}

bool bytecode_types(bytecode_cursor *c, int *count, const ir_type ***out) {
  if (!bytecode_count(c, count)) return false;
  *out = arena_array(c->b->arena, const ir_type *, *count);
  for (int i = 0; i < *count; i++)
    if (!bytecode_type(c, &(*out)[i])) return false;
  return true;
}

bool bytecode_dims(bytecode_cursor *c, int *rank, int64_t **dims) {
  size_t start = c->at;
  if (!bytecode_integers(c, rank, dims)) return false;
  for (int i = 0; i < *rank; i++) {
    if ((*dims)[i] == INT64_MIN) (*dims)[i] = IR_DYNAMIC;
    else if ((*dims)[i] < 0) return bytecode_fail(c->b, start, "found a size of %lld", (long long)(*dims)[i]);
  }
  return true;
}
