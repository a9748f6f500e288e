// The writer and the reader are two walks over the same tables, side by side; a third one makes the fingerprint.
#include "prog/record.h"

#include <string.h>

#include "base/hash.h"

static const void *at(const void *object, size_t offset) { return (const char *)object + offset; }
static void *into(void *object, size_t offset) { return (char *)object + offset; }

static int repeats_of(const record_field *f) { return f->repeats ? f->repeats : 1; }

size_t record_element_size(const record_field *f) {
  switch (f->kind) {
    case RECORD_BOOL: return sizeof(bool);
    case RECORD_INT:
    case RECORD_ENUM:
    case RECORD_UINT32: return sizeof(int);
    case RECORD_STRUCT: return f->type->size;
    default: return 8;
  }
}

// The k-th field, those that depend on the variant behind the others; false behind the last.
static bool field_of(const record_type *t, int variant, int k, record_field *out) {
  if (k >= t->field_count) return t->more && t->more(variant, k - t->field_count, out);
  *out = t->fields[k];
  return true;
}

static int variant_of(const record_type *t, const void *object) {
  return t->more ? *(const int *)at(object, t->variant) : 0;
}

// --- writing

typedef struct writing {
  text *out;
  record_place_fn place;
  void *context;
} writing;

static void put(writing *w, uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_putc(w->out, (char)(value | 0x80));
  text_putc(w->out, (char)value);
}

static void put_signed(writing *w, int64_t value) { put(w, (uint64_t)value << 1 ^ (uint64_t)(value >> 63)); }

static void write_struct(writing *w, const record_type *t, const void *object);

static void write_text(writing *w, const char *t) {
  const size_t size = t ? strlen(t) : 0;
  put(w, t ? size + 1 : 0);
  if (t) text_append(w->out, (str){t, size});
}

static void write_list(writing *w, const record_field *f, const void *object) {
  const int count = *(const int *)at(object, f->count);
  const void *list = *(const void *const *)at(object, f->offset);
  put(w, (uint64_t)count);
  for (int k = 0; k < count; k++) {
    if (f->kind == RECORD_INTS) put_signed(w, ((const int *)list)[k]);
    else if (f->kind == RECORD_INT64S) put_signed(w, ((const int64_t *)list)[k]);
    else if (f->kind == RECORD_POINTERS) write_struct(w, f->type, ((const void *const *)list)[k]);
    else write_struct(w, f->type, at(list, (size_t)k * f->type->size));
  }
}

static void write_bytes(writing *w, const record_field *f, const void *object) {
  const void *data = *(const void *const *)at(object, f->offset);
  const int64_t size = *(const int64_t *)at(object, f->count);
  put(w, data ? w->place(w->context, f->section, data, (uint64_t)size) + 1 : 0);
}

static void write_element(writing *w, const record_field *f, const void *element, const void *object) {
  switch (f->kind) {
    case RECORD_BOOL: put(w, *(const bool *)element); return;
    case RECORD_INT:
    case RECORD_ENUM: put_signed(w, *(const int *)element); return;
    case RECORD_UINT32: put(w, *(const uint32_t *)element); return;
    case RECORD_INT64: put_signed(w, *(const int64_t *)element); return;
    case RECORD_DOUBLE:
      for (int k = 0; k < 8; k++) text_putc(w->out, (char)(*(const uint64_t *)element >> (8 * k)));
      return;
    case RECORD_TEXT: write_text(w, *(const char *const *)element); return;
    case RECORD_STRUCT: write_struct(w, f->type, element); return;
    case RECORD_INTS:
    case RECORD_INT64S:
    case RECORD_LIST:
    case RECORD_POINTERS: write_list(w, f, object); return;
    case RECORD_BYTES: write_bytes(w, f, object); return;
  }
}

static void write_struct(writing *w, const record_type *t, const void *object) {
  record_field f;
  for (int k = 0; field_of(t, variant_of(t, object), k, &f); k++)
    for (int i = 0; i < repeats_of(&f); i++)
      write_element(w, &f, at(object, f.offset + (size_t)i * record_element_size(&f)), object);
}

void record_write(text *out, const record_type *type, const void *object, record_place_fn place, void *context) {
  writing w = {out, place, context};
  write_struct(&w, type, object);
}

// --- reading

typedef struct reading {
  arena *arena;
  const char *next, *end;
  int depth;  // that structs may still nest
  record_find_fn find;
  void *context;
} reading;

static heddle_status wrong(const record_type *t, const record_field *f, const char *what) {
  return status_error(HEDDLE_INVALID, "the record's field %s.%s %s", t->name, f->name, what);
}

static bool get(reading *r, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64 && r->next < r->end; shift += 7) {
    const unsigned char byte = (unsigned char)*r->next++;
    if (shift == 63 && byte > 1) return false;
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool get_signed(reading *r, int64_t *out) {
  uint64_t value;
  if (!get(r, &value)) return false;
  *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
  return true;
}

static bool get_int(reading *r, int *out) {
  int64_t value;
  if (!get_signed(r, &value) || value < INT32_MIN || value > INT32_MAX) return false;
  *out = (int)value;
  return true;
}

static heddle_status read_struct(reading *r, const record_type *t, void *object);

// A field takes a byte at least.
static size_t least_bytes(const record_field *f) {
  return f->type && f->type->field_count > 1 ? (size_t)f->type->field_count : 1;
}

static heddle_status allocate(reading *r, const record_type *t, const record_field *f, size_t count, size_t each,
                              void **out) {
  *out = arena_try_alloc(r->arena, count * each);
  if (*out) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %zu elements of %s.%s", count, t->name, f->name);
}

static heddle_status read_text(reading *r, const record_type *t, const record_field *f, const char **out) {
  uint64_t size;
  *out = NULL;
  if (!get(r, &size) || size > (uint64_t)(r->end - r->next) + 1) return wrong(t, f, "ends early");
  if (!size--) return status_ok();
  if (memchr(r->next, 0, size)) return wrong(t, f, "is no text");
  void *copy;
  TRY(allocate(r, t, f, size + 1, 1, &copy));
  *out = memcpy(copy, r->next, size);
  r->next += size;
  return status_ok();
}

static heddle_status read_elements(reading *r, const record_type *t, const record_field *f, int count, void *list) {
  for (int k = 0; k < count; k++) {
    bool is_there = true;
    void *one;
    switch (f->kind) {
      case RECORD_INTS: is_there = get_int(r, (int *)list + k); break;
      case RECORD_INT64S: is_there = get_signed(r, (int64_t *)list + k); break;
      case RECORD_POINTERS:
        TRY(allocate(r, t, f, 1, f->type->size, &one));
        ((void **)list)[k] = one;
        TRY(read_struct(r, f->type, one));
        break;
      default: TRY(read_struct(r, f->type, into(list, (size_t)k * f->type->size)));
    }
    if (!is_there) return wrong(t, f, "holds no number or ends early");
  }
  return status_ok();
}

static heddle_status read_list(reading *r, const record_type *t, const record_field *f, void *object) {
  uint64_t count;
  int *known = into(object, f->count);
  if (!get(r, &count) || count > INT32_MAX || count > (uint64_t)(r->end - r->next) / least_bytes(f))
    return wrong(t, f, "is longer than what follows");
  if (f->shares_count && *known != (int)count) return wrong(t, f, "is of another length than the list before it");
  *known = (int)count;
  const size_t each = f->kind == RECORD_INTS ? sizeof(int) : f->kind == RECORD_LIST ? f->type->size : 8;
  void *list;
  TRY(allocate(r, t, f, (size_t)count, each, &list));
  *(void **)into(object, f->offset) = list;
  return read_elements(r, t, f, (int)count, list);
}

static heddle_status read_bytes(reading *r, const record_type *t, const record_field *f, void *object) {
  uint64_t place;
  const int64_t size = *(int64_t *)into(object, f->count);
  const void **out = into(object, f->offset);
  *out = NULL;
  if (!get(r, &place)) return wrong(t, f, "ends early");
  if (!place) return status_ok();
  if (size < 0 || !r->find(r->context, f->section, place - 1, (uint64_t)size, out))
    return wrong(t, f, "lies outside of its section");
  return status_ok();
}

static heddle_status read_enum(reading *r, const record_type *t, const record_field *f, int *out) {
  if (!get_int(r, out)) return wrong(t, f, "is no number");
  return *out >= 0 && *out < f->limit ? status_ok() : wrong(t, f, "stands for nothing that there is");
}

static bool read_number(reading *r, const record_field *f, void *element) {
  uint64_t value;
  switch (f->kind) {
    case RECORD_BOOL:
      if (!get(r, &value) || value > 1) return false;
      *(bool *)element = value == 1;
      return true;
    case RECORD_UINT32:
      if (!get(r, &value) || value > UINT32_MAX) return false;
      *(uint32_t *)element = (uint32_t)value;
      return true;
    case RECORD_DOUBLE:
      if (r->end - r->next < 8) return false;
      for (int k = value = 0; k < 8; k++) value |= (uint64_t)(unsigned char)*r->next++ << (8 * k);
      *(uint64_t *)element = value;
      return true;
    case RECORD_INT64: return get_signed(r, element);
    default: return get_int(r, element);
  }
}

static heddle_status read_element(reading *r, const record_type *t, const record_field *f, void *element,
                                  void *object) {
  switch (f->kind) {
    case RECORD_ENUM: return read_enum(r, t, f, element);
    case RECORD_TEXT: return read_text(r, t, f, element);
    case RECORD_STRUCT: return read_struct(r, f->type, element);
    case RECORD_INTS:
    case RECORD_INT64S:
    case RECORD_LIST:
    case RECORD_POINTERS: return read_list(r, t, f, object);
    case RECORD_BYTES: return read_bytes(r, t, f, object);
    default: return read_number(r, f, element) ? status_ok() : wrong(t, f, "is no number");
  }
}

static heddle_status read_struct(reading *r, const record_type *t, void *object) {
  if (r->depth-- <= 0) return status_error(HEDDLE_INVALID, "the record's %s nests too deep", t->name);
  record_field f;
  for (int k = 0; field_of(t, variant_of(t, object), k, &f); k++)
    for (int i = 0; i < repeats_of(&f); i++)
      TRY(read_element(r, t, &f, into(object, f.offset + (size_t)i * record_element_size(&f)), object));
  r->depth++;
  return status_ok();
}

heddle_status record_read(arena *a, str bytes, const record_type *type, int depth, record_find_fn find, void *context,
                          void *object) {
  reading r = {a, bytes.data, bytes.data + bytes.size, depth, find, context};
  memset(object, 0, type->size);
  TRY(read_struct(&r, type, object));
  if (r.next == r.end) return status_ok();
  return status_error(HEDDLE_INVALID, "the record of a %s has %zu bytes too many", type->name,
                      (size_t)(r.end - r.next));
}

// --- the fingerprint

enum { MAX_TYPES = 64 };

typedef struct printing {
  uint64_t sum;
  int count;
  const record_type *seen[MAX_TYPES];
} printing;

static void mix_text(printing *p, const char *t) { p->sum = hash_mix(p->sum, str_hash(str_from(t))); }

static void mix_type(printing *p, const record_type *t);

static void mix_field(printing *p, const record_field *f) {
  mix_text(p, f->name);
  p->sum = hash_mix(p->sum, (uint64_t)f->kind);
  p->sum = hash_mix(p->sum, (uint64_t)f->repeats);
  p->sum = hash_mix(p->sum, (uint64_t)f->limit);
  for (int k = 0; k < f->limit; k++) mix_text(p, f->value_names ? f->value_names[k] : f->value_name(k));
  if (f->type) mix_type(p, f->type);
}

static void mix_type(printing *p, const record_type *t) {
  mix_text(p, t->name);
  for (int k = 0; k < p->count; k++)
    if (p->seen[k] == t) return;
  if (p->count < MAX_TYPES) p->seen[p->count++] = t;
  record_field f;
  for (int k = 0; k < t->field_count; k++) mix_field(p, &t->fields[k]);
  for (int v = 0; t->more && v < t->variants; v++)
    for (int k = 0; t->more(v, k, &f); k++) mix_field(p, &f);
}

uint64_t record_fingerprint(const record_type *type) {
  printing p = {0};
  mix_type(&p, type);
  return p.sum;
}
