// Numbers in the header and the table are little-endian and of fixed size, so that sections are found without reading
// anything else. Header and table have a checksum of their own, which is always looked at.
#include "prog/program_file.h"

#include <stdio.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"

static const char magic[8] = {(char)0x89, 'H', 'E', 'D', 'D', 'L', 'E', '\n'};

enum { PRODUCER_BYTES = 24 };

// Offsets in the header.
enum {
  AT_MAGIC = 0,
  AT_FORMAT = 8,
  AT_SECTIONS = 12,
  AT_SIZE = 16,
  AT_FINGERPRINT = 24,
  AT_CHECKSUM = 32,
  AT_PRODUCER = 40,
  HEADER_BYTES = AT_PRODUCER + PRODUCER_BYTES
};

// Offsets in a row of the table.
enum { AT_KIND = 0, AT_ALIGNMENT = 4, AT_OFFSET = 8, AT_BYTES = 16, AT_SUM = 24, ROW_BYTES = 32 };

// The sections, in the order of the file.
typedef enum section_kind { SECTION_RECORD, SECTION_CODE, SECTION_CONSTANTS, SECTION_COUNT } section_kind;

static const struct {
  const char *name;
  size_t alignment;
} sections[SECTION_COUNT] = {[SECTION_RECORD] = {"record", 8},
                             [SECTION_CODE] = {"code", 64},
                             [SECTION_CONSTANTS] = {"constants", PROGRAM_FILE_PAGE}};

enum { FRONT_BYTES = HEADER_BYTES + SECTION_COUNT * ROW_BYTES };

static size_t align(size_t at, size_t to) { return (at + to - 1) / to * to; }

static void put(char *to, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) to[k] = (char)(value >> (8 * k));
}

static uint64_t get(const char *from, int bytes) {
  uint64_t value = 0;
  for (int k = 0; k < bytes; k++) value |= (uint64_t)(unsigned char)from[k] << (8 * k);
  return value;
}

// The checksum's own eight bytes count as zeros.
static uint64_t front_sum(const char *front) {
  char copy[FRONT_BYTES];
  memcpy(copy, front, sizeof copy);
  memset(copy + AT_CHECKSUM, 0, 8);
  return checksum_of(copy, sizeof copy);
}

bool program_file_is(str bytes) { return bytes.size >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0; }

bool program_file_is_at(const char *path) {
  char start[sizeof magic];
  FILE *stream = file_is_regular(path) ? fopen(path, "rb") : NULL;
  const size_t size = stream ? fread(start, 1, sizeof start, stream) : 0;
  if (stream) fclose(stream);
  return program_file_is((str){start, size});
}

// --- writing

typedef VEC(str) part_list;

// Where bytes were placed.
typedef struct placed {
  str bytes;
  uint64_t at;
} placed;

typedef struct section {
  part_list parts;
  size_t bytes;
  ptr_map placed;  // the first of each checksum
} section;

typedef struct writing {
  arena *arena;
  section sections[SECTION_COUNT];
} writing;

static void add_part(writing *w, section *s, const void *data, size_t size) {
  if (size) vec_push(w->arena, &s->parts, ((str){data, size}));
  s->bytes += size;
}

static void add_zeros(writing *w, section *s, size_t size) {
  static const char zeros[PROGRAM_FILE_PAGE];
  add_part(w, s, zeros, size);
}

static uint64_t place(void *context, int number, const void *data, uint64_t size) {
  writing *w = context;
  section *s = &w->sections[number == PROGRAM_SECTION_CODE ? SECTION_CODE : SECTION_CONSTANTS];
  const str bytes = {data, size};
  const void *key = (const void *)(uintptr_t)checksum_of(data, size);  // NOLINT(performance-no-int-to-ptr): a key
  const placed *same = ptr_map_get(&s->placed, key);
  if (same && str_equal(same->bytes, bytes)) return same->at;
  const bool is_large = number == PROGRAM_SECTION_CONSTANTS && size >= PROGRAM_FILE_PAGE;
  add_zeros(w, s, align(s->bytes, is_large ? PROGRAM_FILE_PAGE : 64) - s->bytes);
  const uint64_t at = s->bytes;
  add_part(w, s, data, size);
  placed *made = arena_new(w->arena, placed);
  *made = (placed){bytes, at};
  if (!same) ptr_map_put(w->arena, &s->placed, key, made);
  return at;
}

static void write_record(writing *w, const program_saved *saved) {
  text record = {0};
  record_write(&record, &program_record_saved, saved, place, w);
  const str copy = str_copy(w->arena, text_view(&record));
  text_free(&record);
  add_part(w, &w->sections[SECTION_RECORD], copy.data, copy.size);
}

// A section's checksum is that of the checksums of its stretches of 1 MiB, so that it can be taken piece by piece.
enum { STRETCH = 1 << 20 };

typedef struct summing {
  uint64_t sum;
  size_t filled;
  char *stretch;
} summing;

static void end_stretch(summing *s) {
  const uint64_t both[2] = {s->sum, checksum_of(s->stretch, s->filled)};
  s->sum = checksum_of(both, sizeof both);
  s->filled = 0;
}

static void sum_part(summing *s, str part) {
  while (part.size) {
    const size_t room = STRETCH - s->filled, taken = part.size < room ? part.size : room;
    memcpy(s->stretch + s->filled, part.data, taken);
    s->filled += taken;
    part = (str){part.data + taken, part.size - taken};
    if (s->filled == STRETCH) end_stretch(s);
  }
}

static uint64_t sum_of_parts(arena *a, const section *from) {
  summing s = {.stretch = arena_alloc(a, from->bytes < STRETCH ? from->bytes : STRETCH)};
  for (int k = 0; k < from->parts.size; k++) sum_part(&s, from->parts.data[k]);
  if (s.filled) end_stretch(&s);
  return s.sum;
}

static uint64_t sum_of(const char *data, size_t size) {
  uint64_t sum = 0;
  for (size_t at = 0; at < size; at += STRETCH) {
    const size_t left = size - at;
    const uint64_t both[2] = {sum, checksum_of(data + at, left < STRETCH ? left : STRETCH)};
    sum = checksum_of(both, sizeof both);
  }
  return sum;
}

static void write_front(writing *w, const program_saved *saved, char *front, size_t *size) {
  size_t at = FRONT_BYTES;
  for (int k = 0; k < SECTION_COUNT; k++) {
    char *row = front + HEADER_BYTES + k * ROW_BYTES;
    at = align(at, sections[k].alignment);
    put(row + AT_KIND, (uint64_t)k, 4);
    put(row + AT_ALIGNMENT, sections[k].alignment, 4);
    put(row + AT_OFFSET, at, 8);
    put(row + AT_BYTES, w->sections[k].bytes, 8);
    put(row + AT_SUM, sum_of_parts(w->arena, &w->sections[k]), 8);
    at += w->sections[k].bytes;
  }
  *size = at;
  memcpy(front + AT_MAGIC, magic, sizeof magic);
  put(front + AT_FORMAT, PROGRAM_FILE_FORMAT, 4);
  put(front + AT_SECTIONS, SECTION_COUNT, 4);
  put(front + AT_SIZE, at, 8);
  put(front + AT_FINGERPRINT, record_fingerprint(&program_record_saved), 8);
  strncpy(front + AT_PRODUCER, saved->producer, PRODUCER_BYTES - 1);
  put(front + AT_CHECKSUM, front_sum(front), 8);
}

const str *program_file_parts(arena *a, const program_saved *saved, int *count, size_t *bytes) {
  writing w = {.arena = a};
  section whole = {0};
  write_record(&w, saved);
  char *front = arena_alloc(a, FRONT_BYTES);
  size_t size;
  write_front(&w, saved, front, &size);
  add_part(&w, &whole, front, FRONT_BYTES);
  for (int k = 0; k < SECTION_COUNT; k++) {
    const section *s = &w.sections[k];
    add_zeros(&w, &whole, align(whole.bytes, sections[k].alignment) - whole.bytes);
    for (int i = 0; i < s->parts.size; i++) add_part(&w, &whole, s->parts.data[i].data, s->parts.data[i].size);
  }
  if (bytes) *bytes = size;
  *count = whole.parts.size;
  return whole.parts.data;
}

// --- reading

typedef struct reading {
  str contents[SECTION_COUNT];
} reading;

static heddle_status damaged(const char *what) { return status_error(HEDDLE_INVALID, "the saved program %s", what); }

static heddle_status other_format(const char *front, uint64_t format) {
  char producer[PRODUCER_BYTES];
  memcpy(producer, front + AT_PRODUCER, PRODUCER_BYTES);
  producer[PRODUCER_BYTES - 1] = 0;
  for (char *c = producer; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  if (format != PROGRAM_FILE_FORMAT)
    return status_error(HEDDLE_UNIMPLEMENTED,
                        "the saved program has format %llu and was written by '%s'; this version reads format %d: "
                        "compile it again",
                        (unsigned long long)format, producer, PROGRAM_FILE_FORMAT);
  return status_error(HEDDLE_UNIMPLEMENTED,
                      "the saved program was written by '%s', whose programs have other fields: compile it again",
                      producer);
}

static heddle_status check_front(str bytes) {
  if (!program_file_is(bytes)) return status_error(HEDDLE_INVALID, "this is no saved program");
  if (bytes.size < HEADER_BYTES) return damaged("ends within its header");
  const uint64_t format = get(bytes.data + AT_FORMAT, 4);
  if (format != PROGRAM_FILE_FORMAT) return other_format(bytes.data, format);
  if (bytes.size < FRONT_BYTES) return damaged("ends within its table of sections");
  if (get(bytes.data + AT_CHECKSUM, 8) != front_sum(bytes.data)) return damaged("has a damaged header");
  if (get(bytes.data + AT_FINGERPRINT, 8) != record_fingerprint(&program_record_saved))
    return other_format(bytes.data, format);
  const uint64_t size = get(bytes.data + AT_SIZE, 8);
  if (size != bytes.size)
    return status_error(HEDDLE_INVALID, "the saved program has %zu bytes, its header says %llu", bytes.size,
                        (unsigned long long)size);
  return get(bytes.data + AT_SECTIONS, 4) == SECTION_COUNT ? status_ok() : damaged("has a wrong number of sections");
}

// Sections follow each other, each where the one before ends.
static heddle_status find_sections(reading *r, str bytes, bool trusts_checksums) {
  size_t at = FRONT_BYTES;
  for (int k = 0; k < SECTION_COUNT; k++) {
    const char *row = bytes.data + HEADER_BYTES + k * ROW_BYTES;
    at = align(at, sections[k].alignment);
    const uint64_t offset = get(row + AT_OFFSET, 8), size = get(row + AT_BYTES, 8);
    if (get(row + AT_KIND, 4) != (uint64_t)k || get(row + AT_ALIGNMENT, 4) != sections[k].alignment || offset != at ||
        offset > bytes.size || size > bytes.size - offset)
      return damaged("has a table of sections that contradicts itself");
    r->contents[k] = (str){bytes.data + offset, size};
    if (!trusts_checksums && sum_of(r->contents[k].data, size) != get(row + AT_SUM, 8))
      return status_error(HEDDLE_INVALID, "the saved program is damaged: the checksum of its %s is wrong",
                          sections[k].name);
    at = offset + size;
  }
  return at == bytes.size ? status_ok() : damaged("goes on behind its last section");
}

static bool find_bytes(void *context, int number, uint64_t at, uint64_t size, const void **out) {
  const reading *r = context;
  const str section = r->contents[number == PROGRAM_SECTION_CODE ? SECTION_CODE : SECTION_CONSTANTS];
  const bool fits = at <= section.size && size <= section.size - at && at % 64 == 0;
  if (fits) *out = section.data + at;
  return fits;
}

heddle_status program_file_read(arena *a, str bytes, const program_file_options *options, program_saved *out) {
  *out = (program_saved){0};
  reading r = {0};
  TRY(check_front(bytes));
  if ((uintptr_t)bytes.data % PROGRAM_FILE_PAGE != 0)
    return status_error(HEDDLE_INVALID, "a saved program has to be read from the beginning of a page");
  TRY(find_sections(&r, bytes, options && options->trusts_checksums));
  return record_read(a, r.contents[SECTION_RECORD], &program_record_saved, PROGRAM_RECORD_DEPTH, find_bytes, &r, out);
}
