// Names for attributes, types and locations (`#loc3 = loc(...)`), and the resources at the end of a file.
//
// Both may be used before they are written, so a scan over the lines of the piece finds them first: a definition starts
// its line. They are then read in the order of the text, which keeps chains of locations from nesting deep; one that is
// needed earlier is read when it is asked for.
#include "mlir/parser.h"

typedef enum alias_state { ALIAS_UNREAD, ALIAS_READING, ALIAS_READ } alias_state;

// How many more types and attributes than IR_MAX_PARTS a text's aliases may stand for: in proportion to its length.
enum { PARTS_PER_BYTE = 4 };

typedef struct alias {
  str name;  // with its mark
  size_t start, value, end;
  alias_state state;
  bool is_location;
  ir_location location;
  const ir_attribute *attribute;
  const ir_type *type;
  int64_t parts;  // types and attributes that it stands for
} alias;

typedef VEC(alias *) alias_list;

static char at(const mlir_parser *p, size_t i) { return i < p->limit ? p->source.data[i] : '\0'; }

static size_t skip_blanks(const mlir_parser *p, size_t i) {
  while (at(p, i) == ' ' || at(p, i) == '\t') i++;
  return i;
}

// --- scanning

// `#name =` or `!name =` at `start`.
static bool scan_definition(mlir_parser *p, size_t start, alias_list *list) {
  mlir_move(p, start);
  str name = p->tok;
  bool is_type = p->kind == MLIR_BANG;
  if (p->kind != MLIR_HASH && !is_type) return true;
  mlir_advance(p);
  if (!mlir_at(p, "=")) return true;
  str_map *map = is_type ? &p->type_aliases : &p->attribute_aliases;
  if (str_map_has(map, name)) return mlir_error(p, start, "found alias '" STR_FMT "' defined twice", STR_ARG(name));
  if (memchr(name.data, '.', name.size))
    return mlir_error(p, start, "found alias '" STR_FMT "', wanted a name without a dot", STR_ARG(name));
  alias *a = arena_new(p->scratch, alias);
  *a = (alias){.name = name, .start = start, .value = p->position};
  str_map_put(p->scratch, map, name, a);
  vec_push(p->scratch, list, a);
  return true;
}

static bool resource_key(mlir_parser *p, str *out) {
  if (p->kind == MLIR_STRING) return mlir_string(p, out);
  return mlir_take_word(p, out);
}

static void keep_resource(mlir_parser *p, str key) {
  str *blob = arena_new(p->scratch, str);
  *blob = p->tok;
  str_map_put(p->scratch, &p->resources, key, blob);
}

// `key: "0x...", key: { ... } }` behind the brace; strings two levels below `dialect_resources` are the blobs.
static bool resource_entries(mlir_parser *p, int level, bool is_blobs) {
  enum { BLOB_LEVEL = 2 };
  bool is_first = true;
  while (!mlir_take(p, "}")) {
    str key;
    if (!is_first && !mlir_expect(p, ",")) return false;
    is_first = false;
    if (!resource_key(p, &key) || !mlir_expect(p, ":")) return false;
    if (mlir_take(p, "{")) {
      if (level == BLOB_LEVEL) return mlir_error(p, p->last_end, "found resources nested too deep");
      if (!resource_entries(p, level + 1, is_blobs)) return false;
      continue;
    }
    if (p->kind != MLIR_STRING && p->kind != MLIR_WORD && p->kind != MLIR_INTEGER && p->kind != MLIR_FLOAT)
      return mlir_found(p, "a resource's bytes");
    if (level == BLOB_LEVEL && is_blobs && p->kind == MLIR_STRING) keep_resource(p, key);
    mlir_advance(p);
  }
  return true;
}

// {-# dialect_resources: { builtin: { name: "0x..." } }, external_resources: ... #-}
static bool scan_metadata(mlir_parser *p, size_t start) {
  mlir_move(p, start + 3);
  p->metadata_start = start;
  while (!(p->kind == MLIR_HASH && str_is(p->tok, "#-"))) {
    str key;
    if (p->kind == MLIR_PUNCTUATION && mlir_take(p, ",")) continue;
    if (!resource_key(p, &key) || !mlir_expect(p, ":") || !mlir_expect(p, "{")) return false;
    if (!resource_entries(p, 1, str_is(key, "dialect_resources"))) return false;
  }
  mlir_advance(p);
  if (!mlir_at(p, "}")) return mlir_found(p, "'#-}'");
  p->metadata_end = p->position;
  return true;
}

static bool scan_line(mlir_parser *p, size_t start, alias_list *list) {
  char c = at(p, start);
  if (c == '#' || c == '!') return scan_definition(p, start, list);
  if (c == '{' && at(p, start + 1) == '-' && at(p, start + 2) == '#') return scan_metadata(p, start);
  return true;
}

// --- reading

static bool read_value(mlir_parser *p, alias *a) {
  if (a->name.data[0] == '!') return mlir_type(p, &a->type);
  a->is_location = mlir_at(p, "loc");
  return a->is_location ? mlir_location(p, &a->location) : mlir_attribute(p, &a->attribute);
}

static bool read_alias(mlir_parser *p, alias *a) {
  if (a->state == ALIAS_READ) return true;
  if (a->state == ALIAS_READING)
    return mlir_error(p, a->start, "found alias '" STR_FMT "' defined by itself", STR_ARG(a->name));
  mlir_parser before = *p;
  a->state = ALIAS_READING;
  mlir_move(p, a->value);
  bool is_ok = read_value(p, a);
  a->state = ALIAS_READ;
  a->end = p->last_end;
  a->parts = p->parts - before.parts;
  p->parts = before.parts;
  p->position = before.position;
  p->kind = before.kind;
  p->tok = before.tok;
  p->tok_offset = before.tok_offset;
  p->last_end = before.last_end;
  return is_ok;
}

bool mlir_scan_aliases(mlir_parser *p, size_t start) {
  alias_list list = {0};
  for (size_t line = start; line < p->limit;) {
    if (!scan_line(p, skip_blanks(p, line), &list)) return false;
    const char *newline = memchr(p->source.data + line, '\n', p->limit - line);
    line = newline ? (size_t)(newline - p->source.data) + 1 : p->limit;
  }
  for (int i = 0; i < list.size; i++)
    if (!read_alias(p, list.data[i])) return false;
  return true;
}

bool mlir_skip_alias(mlir_parser *p) {
  if (p->metadata_end && p->tok_offset == p->metadata_start) {
    mlir_move(p, p->metadata_end);
    return true;
  }
  if (p->kind != MLIR_HASH && p->kind != MLIR_BANG) return false;
  const alias *a = str_map_get(p->kind == MLIR_BANG ? &p->type_aliases : &p->attribute_aliases, p->tok);
  if (!a || a->start != p->tok_offset) return false;
  mlir_move(p, a->end);
  return true;
}

// The alias that the current token names, which is taken.
static bool use_alias(mlir_parser *p, const str_map *map, alias **out) {
  *out = str_map_get(map, p->tok);
  if (!*out) return mlir_error(p, p->tok_offset, "found '" STR_FMT "', which is not defined", STR_ARG(p->tok));
  size_t offset = p->tok_offset;
  mlir_advance(p);
  if (!read_alias(p, *out)) return false;
  p->parts += (*out)->parts;
  // What is written out counts as well, and may be as long as the text.
  const int64_t most = IR_MAX_PARTS + PARTS_PER_BYTE * (int64_t)p->source.size;
  if (p->parts <= most) return true;
  return mlir_error(p, offset, "found aliases that stand for more than %lld types and attributes in all, the limit",
                    (long long)most);
}

bool mlir_type_alias(mlir_parser *p, const ir_type **out) {
  alias *a;
  if (!use_alias(p, &p->type_aliases, &a)) return false;
  *out = a->type;
  return true;
}

bool mlir_attribute_alias(mlir_parser *p, const ir_attribute **out) {
  alias *a;
  if (!use_alias(p, &p->attribute_aliases, &a)) return false;
  *out = a->attribute;
  if (!a->is_location) return true;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->text = str_copy(p->arena, (str){p->source.data + a->value, a->end - a->value});
  *out = x;
  return true;
}

bool mlir_location_alias(mlir_parser *p, ir_location *out) {
  alias *a;
  if (!use_alias(p, &p->attribute_aliases, &a)) return false;
  *out = a->location;
  return true;
}

bool mlir_resource(mlir_parser *p, str *quoted) {
  str key;
  size_t offset = p->tok_offset;
  if (!resource_key(p, &key)) return false;
  const str *blob = str_map_get(&p->resources, key);
  if (!blob)
    return mlir_error(p, offset, "found resource '" STR_FMT "', whose bytes are not in the file", STR_ARG(key));
  *quoted = *blob;
  return true;
}
