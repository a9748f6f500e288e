// MLIR bytecode: the sections of the file and the tables in them (strings, dialects, operation names, where types and
// attributes stand, properties, resources). The program itself is read by bytecode_ir.c.
//
// The container's version and VHLO's are told from the file's head (VHLO's from the producer, "StableHLO_v1.17.0");
// what they do not cover is refused before anything else is looked at.
#include "vhlo/bytecode.h"

#include <stdio.h>

#include "vhlo/bytecode_reader.h"

enum {
  SECTION_STRING,
  SECTION_DIALECT,
  SECTION_ENTRY,
  SECTION_ENTRY_OFFSET,
  SECTION_IR,
  SECTION_RESOURCE,
  SECTION_RESOURCE_OFFSET,
  SECTION_DIALECT_VERSION,
  SECTION_PROPERTIES,
  SECTION_COUNT
};

static const char *const section_names[SECTION_COUNT] = {
    "strings",   "dialects",  "types and attributes", "places of types and attributes",
    "program",   "resources", "resource offsets",     "dialect versions",
    "properties"};

enum { VHLO_OLDEST_MINOR = 9, VHLO_NEWEST_MINOR = 17, MAGIC_SIZE = 4 };

static const char magic[] = "ML\xefR";

bool bytecode_is(str bytes) { return str_starts_with(bytes, magic); }

// "StableHLO_v0.9.0"; other producers say nothing of VHLO.
static bool check_vhlo_version(bytecode *b, size_t offset, str producer) {
  int major, minor;
  char head[64] = "";
  memcpy(head, producer.data, producer.size < sizeof head ? producer.size : sizeof head - 1);
  if (sscanf(head, "StableHLO_v%6d.%6d", &major, &minor) != 2) return true;
  bool is_supported = (major == 0 && minor >= VHLO_OLDEST_MINOR) || (major == 1 && minor <= VHLO_NEWEST_MINOR);
  return is_supported || bytecode_refuse(b, offset, "found VHLO %d.%d, supported are 0.%d to 1.%d", major, minor,
                                         VHLO_OLDEST_MINOR, VHLO_NEWEST_MINOR);
}

static bool read_head(bytecode_cursor *c) {
  uint64_t version;
  bytecode *b = c->b;
  if (!bytecode_is(b->bytes)) return bytecode_fail(b, 0, "found other bytes, wanted MLIR bytecode's magic number");
  c->at = MAGIC_SIZE;
  size_t start = c->at;
  if (!bytecode_varint(c, &version)) return false;
  if (version > BYTECODE_NEWEST)
    return bytecode_refuse(b, start, "found version %llu of MLIR bytecode, supported are 0 to %d",
                           (unsigned long long)version, BYTECODE_NEWEST);
  b->version = (int)version;
  start = c->at;
  const char *end = memchr(b->bytes.data + start, '\0', bytecode_left(c));
  if (!end) return bytecode_fail(b, start, "found no end of the producer's name");
  b->producer = (str){b->bytes.data + start, (size_t)(end - b->bytes.data) - start};
  c->at += b->producer.size + 1;
  return check_vhlo_version(b, start, b->producer);
}

heddle_status bytecode_head(arena *a, const char *file, str bytes, int *version, str *producer) {
  bytecode b = {.arena = a, .file = file, .bytes = bytes};
  bytecode_cursor c = {&b, 0, bytes.size};
  if (!read_head(&c)) return b.status;
  *version = b.version;
  *producer = b.producer;
  return status_ok();
}

// Sections that are not there stay empty, at offset zero, where no section ends.
static bool read_sections(bytecode_cursor *c, bytecode_cursor sections[SECTION_COUNT]) {
  bytecode_cursor content;
  int id;
  for (int i = 0; i < SECTION_COUNT; i++) sections[i] = (bytecode_cursor){c->b, 0, 0};
  while (c->at != c->end) {
    size_t start = c->at;
    if (!bytecode_section(c, &id, &content)) return false;
    if (id >= SECTION_COUNT)
      return bytecode_fail(c->b, start, "found section %d, wanted at most %d", id, SECTION_COUNT - 1);
    if (sections[id].end) return bytecode_fail(c->b, start, "found the section of %s twice", section_names[id]);
    sections[id] = content;
  }
  for (int i = 0; i < SECTION_COUNT; i++) {
    bool is_wanted = i <= SECTION_IR || (i == SECTION_PROPERTIES && c->b->version >= BYTECODE_PROPERTIES);
    if (is_wanted && !sections[i].end)
      return bytecode_fail(c->b, c->at, "found the end of the file, wanted the section of %s", section_names[i]);
  }
  return true;
}

// The lengths of all strings, the last one first, each with the NUL behind it; then the strings, the first one first.
static bool read_strings(bytecode_cursor *c) {
  bytecode *b = c->b;
  uint64_t size;
  if (!bytecode_count(c, &b->string_count)) return false;
  b->strings = arena_array(b->arena, str, b->string_count);
  size_t end = c->end;
  for (int i = b->string_count - 1; i >= 0; i--) {
    size_t start = c->at;
    if (!bytecode_varint(c, &size)) return false;
    if (size == 0 || c->at > end || size > end - c->at)
      return bytecode_fail(b, start, "found a string of %llu bytes", (unsigned long long)size);
    end -= (size_t)size;
    b->strings[i] = str_copy(b->arena, (str){b->bytes.data + end, (size_t)size - 1});
  }
  if (c->at != end) return bytecode_fail(b, c->at, "found %zu bytes of no string", end - c->at);
  return true;
}

static bool read_dialect(bytecode_cursor *c, str *name) {
  uint64_t index;
  bool is_versioned = false;
  int string, id;
  bytecode_cursor version;
  if (c->b->version < BYTECODE_DIALECT_VERSIONS) return bytecode_string(c, name);
  if (!bytecode_flagged(c, &index, &is_versioned) ||
      !bytecode_index_of(c, index, c->b->string_count, "string", &string))
    return false;
  *name = c->b->strings[string];
  return !is_versioned || bytecode_section(c, &id, &version);
}

static bool read_operation_name(bytecode_cursor *c, bytecode_operation_name *n) {
  uint64_t index;
  int string;
  if (c->b->version < BYTECODE_PROPERTIES) return bytecode_string(c, &n->name);
  if (!bytecode_flagged(c, &index, &n->is_registered) ||
      !bytecode_index_of(c, index, c->b->string_count, "string", &string))
    return false;
  n->name = c->b->strings[string];
  return true;
}

// Dialects, then the names of their operations by dialect.
static bool read_dialects(bytecode_cursor *c) {
  bytecode *b = c->b;
  uint64_t announced;
  int dialect, count;
  VEC(bytecode_operation_name) names = {0};
  if (!bytecode_count(c, &b->dialect_count)) return false;
  b->dialects = arena_array(b->arena, str, b->dialect_count);
  for (int i = 0; i < b->dialect_count; i++)
    if (!read_dialect(c, &b->dialects[i])) return false;
  if (b->version >= BYTECODE_OPTIONAL_LOCATIONS && !bytecode_varint(c, &announced)) return false;
  while (c->at != c->end) {
    if (!bytecode_index(c, b->dialect_count, "dialect", &dialect) || !bytecode_count(c, &count)) return false;
    for (int i = 0; i < count; i++) {
      bytecode_operation_name n = {.dialect = b->dialects[dialect]};
      if (!read_operation_name(c, &n)) return false;
      vec_push(b->arena, &names, n);
    }
  }
  b->names = names.data;
  b->name_count = names.size;
  return true;
}

// Sizes by dialect, one entry directly behind the other.
static bool read_places(bytecode_cursor *c, bytecode_cursor *content, int count, bytecode_entry *entries) {
  int dialect, size_of_group;
  uint64_t size;
  str bytes;
  for (int done = 0; done < count;) {
    if (!bytecode_index(c, c->b->dialect_count, "dialect", &dialect) || !bytecode_count(c, &size_of_group))
      return false;
    if (size_of_group > count - done)
      return bytecode_fail(c->b, c->at, "found %d types or attributes, wanted at most %d", size_of_group, count - done);
    for (int i = 0; i < size_of_group; i++) {
      bytecode_entry *e = &entries[done++];
      e->dialect = dialect;
      e->offset = content->at;
      if (!bytecode_flagged(c, &size, &e->is_encoded) || !bytecode_take(content, size, &bytes)) return false;
      e->size = (size_t)size;
    }
  }
  return true;
}

static bool read_entries(bytecode_cursor *c, bytecode_cursor *content) {
  bytecode *b = c->b;
  if (!bytecode_count(c, &b->attribute_count) || !bytecode_count(c, &b->type_count)) return false;
  b->attributes = arena_array(b->arena, bytecode_entry, b->attribute_count);
  b->types = arena_array(b->arena, bytecode_entry, b->type_count);
  if (!read_places(c, content, b->attribute_count, b->attributes) || !read_places(c, content, b->type_count, b->types))
    return false;
  if (c->at != c->end)
    return bytecode_fail(b, c->at, "found %zu more bytes, wanted the end of %s", bytecode_left(c),
                         section_names[SECTION_ENTRY_OFFSET]);
  return true;
}

static bool read_properties(bytecode_cursor *c) {
  bytecode *b = c->b;
  if (c->at == c->end) return true;
  if (!bytecode_count(c, &b->property_count)) return false;
  b->properties = arena_array(b->arena, str, b->property_count);
  for (int i = 0; i < b->property_count; i++)
    if (!bytecode_blob(c, &b->properties[i])) return false;
  return true;
}

// Only what dense_resource attributes name: blobs. Those of no dialect come first and are skipped.
static bool read_resource(bytecode_cursor *c, bytecode_cursor *content, str *out) {
  enum { BLOB = 0 };
  uint64_t size, alignment;
  uint8_t kind;
  str name, bytes;
  if (!bytecode_string(c, &name) || !bytecode_varint(c, &size) || !bytecode_byte(c, &kind)) return false;
  bytecode_cursor inner = *content;
  if (!bytecode_take(content, size, &bytes)) return false;
  inner.end = content->at;
  *out = (str){0};
  return kind != BLOB || (bytecode_alignment(&inner, &alignment) && bytecode_varint(&inner, &size) &&
                          bytecode_pad(&inner, alignment) && bytecode_take(&inner, size, out));
}

static bool read_resources(bytecode_cursor *c, bytecode_cursor *content) {
  bytecode *b = c->b;
  int groups, count, dialect;
  str key, blob;
  VEC(str) blobs = {0};
  if (c->at == c->end) return true;
  if (!bytecode_count(c, &groups)) return false;
  for (int i = 0; c->at != c->end; i++) {
    bool is_named = i < groups;
    if (is_named ? !bytecode_string(c, &key) : !bytecode_index(c, b->dialect_count, "dialect", &dialect)) return false;
    if (!bytecode_count(c, &count)) return false;
    for (int j = 0; j < count; j++) {
      if (!read_resource(c, content, &blob)) return false;
      if (!is_named) vec_push(b->arena, &blobs, blob);
    }
  }
  b->resources = blobs.data;
  b->resource_count = blobs.size;
  return true;
}

static bool read_file(bytecode *b, ir_module **out) {
  bytecode_cursor c = {b, 0, b->bytes.size};
  bytecode_cursor s[SECTION_COUNT] = {{0}};
  return read_head(&c) && read_sections(&c, s) && read_strings(&s[SECTION_STRING]) &&
         read_dialects(&s[SECTION_DIALECT]) && read_entries(&s[SECTION_ENTRY_OFFSET], &s[SECTION_ENTRY]) &&
         read_properties(&s[SECTION_PROPERTIES]) && read_resources(&s[SECTION_RESOURCE_OFFSET], &s[SECTION_RESOURCE]) &&
         bytecode_ir(&s[SECTION_IR], out);
}

heddle_status bytecode_read_limited(arena *a, const char *file, str bytes, int64_t most_expanded, ir_module **out) {
  bytecode *b = arena_new(a, bytecode);
  b->arena = a;
  b->file = arena_strdup(a, file, strlen(file));
  b->bytes = bytes;
  b->most_expanded = most_expanded;
  if (!read_file(b, out)) return b->status;
  return status_ok();
}

heddle_status bytecode_read(arena *a, const char *file, str bytes, ir_module **out) {
  return bytecode_read_limited(a, file, bytes, (int64_t)1 << 31, out);
}
