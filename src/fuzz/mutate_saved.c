// Changes one field of a saved program, found by the tables that it is written by: a number becomes one near it or far
// from it, a list loses or repeats an element, a text or an image is lost or damaged. Written again it has the
// checksums of what it is now, so that readers get behind them.
#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "fuzz/mutate.h"
#include "prog/program_file.h"
#include "tools/split_mix.h"

// A field of one struct of the program.
typedef struct place {
  record_field field;
  const record_type *type;
  char *object;
} place;

typedef struct change {
  arena *arena;
  uint64_t random;
  VEC(place) places;
} change;

static uint64_t below(change *c, uint64_t limit) { return limit > 0 ? split_mix_next(&c->random) % limit : 0; }

// --- all fields

static bool field_at(const record_type *t, const char *object, int k, record_field *out) {
  if (k >= t->field_count) return t->more && t->more(*(const int *)(object + t->variant), k - t->field_count, out);
  *out = t->fields[k];
  return true;
}

static void collect(change *c, const record_type *t, char *object) {
  record_field f;
  for (int k = 0; field_at(t, object, k, &f); k++) {
    if (f.kind == RECORD_STRUCT) collect(c, f.type, object + f.offset);
    else vec_push(c->arena, &c->places, ((place){f, t, object}));
    if (f.kind != RECORD_LIST && f.kind != RECORD_POINTERS) continue;
    const int count = *(int *)(object + f.count);
    char *list = *(char **)(object + f.offset);
    for (int i = 0; i < count; i++)
      collect(c, f.type, f.kind == RECORD_LIST ? list + (size_t)i * f.type->size : ((char **)list)[i]);
  }
}

// --- one of them

static int64_t other_number(change *c, int64_t old) {
  static const int64_t numbers[] = {0, 1, -1, 64, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
  switch (below(c, 4)) {
    case 0: return (int64_t)((uint64_t)old + 1);
    case 1: return (int64_t)((uint64_t)old - 1);
    case 2: return (int64_t)((uint64_t)old ^ (uint64_t)1 << below(c, 64));
    default: return numbers[below(c, sizeof numbers / sizeof *numbers)];
  }
}

// Whether the number says how many bytes there are, which must be there when they are written.
static bool is_size(const place *p) {
  for (int k = 0; k < p->type->field_count; k++)
    if (p->type->fields[k].kind == RECORD_BYTES && p->type->fields[k].count == p->field.offset) return true;
  return false;
}

static void change_list(change *c, const place *p) {
  int *count = (int *)(p->object + p->field.count);
  char **list = (char **)(p->object + p->field.offset);
  const size_t each = p->field.kind == RECORD_INTS   ? sizeof(int)
                      : p->field.kind == RECORD_LIST ? p->field.type->size
                                                     : 8;
  const uint64_t which = below(c, 3);
  if (*count == 0) return;
  char *copy = arena_alloc(c->arena, ((size_t)*count + 1) * each);
  memcpy(copy, *list, (size_t)*count * each);
  // A count that lists share is kept, unless it becomes smaller.
  if (which == 0 || p->field.shares_count) {
    --*count;
  } else if (which == 1 && p->field.kind != RECORD_INT64S) {
    memcpy(copy + (size_t)*count * each, copy + below(c, (uint64_t)*count) * each, each);
    ++*count;
  } else if (p->field.kind == RECORD_INTS) {
    int *one = (int *)(void *)copy + below(c, (uint64_t)*count);
    *one = (int)other_number(c, *one);
  } else if (p->field.kind == RECORD_INT64S) {
    int64_t *one = (int64_t *)(void *)copy + below(c, (uint64_t)*count);
    *one = other_number(c, *one);
  }
  *list = copy;
}

// An image, or a constant: gone, or with a damaged byte.
static void change_bytes(change *c, const place *p) {
  const size_t size = *(const size_t *)(p->object + p->field.count);
  char **data = (char **)(p->object + p->field.offset);
  if (!*data || size == 0 || below(c, 8) == 0) {
    *data = NULL;
    return;
  }
  char *copy = arena_alloc(c->arena, size);
  memcpy(copy, *data, size);
  copy[below(c, size)] ^= (char)(1 << below(c, 8));
  *data = copy;
}

static void change_text(change *c, const place *p) {
  char **t = (char **)(p->object + p->field.offset);
  const size_t size = *t ? strlen(*t) : 0;
  *t = below(c, 4) && size ? arena_strdup(c->arena, *t, below(c, size)) : NULL;
}

// Another variant has fields of its own, where something else lay.
static void change_enum(change *c, const place *p) {
  record_field f;
  *(int *)(p->object + p->field.offset) = (int)below(c, (uint64_t)p->field.limit);
  if (!p->type->more || p->field.offset != p->type->variant) return;
  for (int k = p->type->field_count; field_at(p->type, p->object, k, &f); k++) {
    memset(p->object + f.offset, 0, f.kind == RECORD_BOOL ? 1 : f.kind <= RECORD_UINT32 ? sizeof(int) : 8);
    if (f.kind >= RECORD_INTS) memset(p->object + f.count, 0, sizeof(int));
  }
}

static void change_place(change *c, const place *p) {
  char *at = p->object + p->field.offset;
  const uint64_t element = p->field.repeats ? below(c, (uint64_t)p->field.repeats) : 0;
  switch (p->field.kind) {
    case RECORD_BOOL: *(bool *)at = !*(bool *)at; return;
    case RECORD_ENUM: change_enum(c, p); return;
    case RECORD_INT:
    case RECORD_UINT32: ((int *)at)[element] = (int)other_number(c, ((int *)at)[element]); return;
    case RECORD_INT64: {
      int64_t *number = (int64_t *)at + element;
      *number = is_size(p) ? (int64_t)below(c, (uint64_t)*number + 1) : other_number(c, *number);
      return;
    }
    case RECORD_DOUBLE: *(uint64_t *)at = split_mix_next(&c->random); return;
    case RECORD_TEXT: change_text(c, p); return;
    case RECORD_BYTES: change_bytes(c, p); return;
    case RECORD_STRUCT: return;
    case RECORD_INTS:
    case RECORD_INT64S:
    case RECORD_LIST:
    case RECORD_POINTERS: change_list(c, p); return;
  }
}

// --- the file

static size_t write_parts(arena *a, const program_saved *saved, uint8_t *data, size_t size, size_t max_size) {
  int count;
  size_t bytes;
  const str *parts = program_file_parts(a, saved, &count, &bytes);
  if (bytes > max_size) return size;
  for (int k = 0, at = 0; k < count; at += (int)parts[k++].size) memcpy(data + at, parts[k].data, parts[k].size);
  return bytes;
}

size_t mutate_saved(uint8_t *data, size_t size, size_t max_size, uint64_t seed) {
  str bytes;
  program_saved saved;
  change c = {.arena = arena_create(), .random = seed};
  heddle_status s = file_map_copy((str){(const char *)data, size}, &bytes);
  if (status_is_ok(s)) s = program_file_read(c.arena, bytes, &(program_file_options){.trusts_checksums = true}, &saved);
  if (status_is_ok(s)) {
    collect(&c, &program_record_saved, (char *)&saved);
    if (c.places.data) change_place(&c, &c.places.data[below(&c, (uint64_t)c.places.size)]);
    if (!saved.producer) saved.producer = "";
    size = write_parts(c.arena, &saved, data, size, max_size);
  }
  heddle_status_free(s);
  file_unmap(bytes);
  arena_destroy(c.arena);
  return size;
}
