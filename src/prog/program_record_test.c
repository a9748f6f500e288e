// The tables name every field of the structs: what they leave out of a struct's bytes is padding. Records read back,
// and nothing that is no record is believed.
#include "prog/program_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

enum { MAX_TYPES = 64, MAX_BYTES = 2048 };

typedef struct walk {
  int count;
  const record_type *seen[MAX_TYPES];
} walk;

static void mark(char *bytes, size_t offset, size_t size) { memset(bytes + offset, 1, size); }

static void walk_type(walk *w, const record_type *t);

static void mark_field(walk *w, char *bytes, const record_field *f) {
  const bool is_list = f->kind >= RECORD_INTS && f->kind != RECORD_STRUCT && f->kind != RECORD_BYTES;
  mark(bytes, f->offset, record_element_size(f) * (size_t)(f->repeats ? f->repeats : 1));
  if (is_list) mark(bytes, f->count, sizeof(int));
  if (f->type) walk_type(w, f->type);
}

// A gap is as long as the alignment of what follows makes it, and shorter than that.
static void check_gaps(const record_type *t, const char *bytes, size_t end) {
  for (size_t at = 0; at < end; at++) {
    if (bytes[at]) continue;
    size_t next = at;
    while (next < end && !bytes[next]) next++;
    if (next - at >= 8 || next % 4 != 0) fail_msg("%s: bytes %zu to %zu are in no table", t->name, at, next);
    at = next;
  }
}

static void walk_type(walk *w, const record_type *t) {
  for (int k = 0; k < w->count; k++)
    if (w->seen[k] == t) return;
  assert_true(w->count < MAX_TYPES && t->size <= MAX_BYTES);
  w->seen[w->count++] = t;
  char bytes[MAX_BYTES] = {0};
  for (int k = 0; k < t->field_count; k++) mark_field(w, bytes, &t->fields[k]);
  // Without images, which each machine has of its own; a thunk ends with a union.
  if (strcmp(t->name, "program") == 0) {
    mark(bytes, offsetof(program, image_count), sizeof(int));
    mark(bytes, offsetof(program, images), sizeof(void *));
  }
  check_gaps(t, bytes, t->more ? offsetof(program_thunk, launch) : t->size);
  record_field f;
  char further[MAX_BYTES];
  for (int v = 0; t->more && v < t->variants; v++)
    for (int k = 0; t->more(v, k, &f); k++) mark_field(w, further, &f);
}

static void test_tables_are_complete(void **state) {
  (void)state;
  walk w = {0};
  walk_type(&w, &program_record_saved);
  assert_true(w.count > 12);
}

static uint64_t place(void *context, int section, const void *data, uint64_t size) {
  (void)section;
  (void)size;
  *(const void **)context = data;
  return 64;
}

static bool find(void *context, int section, uint64_t at, uint64_t size, const void **out) {
  (void)section;
  *out = *(const void **)context;
  return at == 64 && size == 3;
}

static void write(text *out, const void **bytes) {
  static const int64_t dims[] = {2, INT64_MAX, -7}, order[] = {2, 0, 1};
  static const int slices[] = {0, -1, 1 << 30};
  static const named_attribute attributes[] = {{.name = "x", .kind = NAMED_DOUBLE, .number = -0.25},
                                               {.name = "y", .kind = NAMED_INTS, .count = 3, .ints = dims},
                                               {.name = "z", .kind = NAMED_TEXT, .text = ""}};
  static const program_thunk inner = {
      .kind = THUNK_CUSTOM_CALL, .name = "call", .custom_call = {"target", true, 3, attributes}};
  static const program_thunk *const thunks[] = {&inner};
  static const program_sequence body = {1, thunks};
  static const program_thunk outer = {
      .kind = THUNK_FOR, .read_count = 3, .reads = slices, .sequence_count = 1, .sequences = &body, .trip_count = 1e12};
  static const program_thunk *const entry[] = {&outer};
  static const program_value value = {"v", {DTYPE_BF16, 3, dims, order}, -1};
  static const program_allocation constant = {PROGRAM_CONSTANT, 0, 3, "abc"};
  const program plan = {
      .parameter_count = 1, .parameters = &value, .allocation_count = 1, .allocations = &constant, .entry = {1, entry}};
  const program_saved saved = {.producer = "nobody", .plan_count = 1, .plans = &plan};
  record_write(out, &program_record_saved, &saved, place, bytes);
}

static void test_reads_back(void **state) {
  (void)state;
  text record = {0};
  const void *bytes = NULL;
  arena *a = arena_create();
  program_saved back;
  write(&record, &bytes);
  heddle_status s =
      record_read(a, text_view(&record), &program_record_saved, PROGRAM_RECORD_DEPTH, find, &bytes, &back);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  assert_int_equal(back.plan_count, 1);
  const program *p = &back.plans[0];
  assert_string_equal(back.producer, "nobody");
  assert_null(p->name);
  assert_true(p->parameters[0].shape.dims[1] == INT64_MAX && p->parameters[0].shape.dims[2] == -7);
  assert_true(p->parameters[0].shape.minor_to_major[0] == 2 && p->parameters[0].shape.type == DTYPE_BF16);
  assert_memory_equal(p->allocations[0].data, "abc", 3);
  const program_thunk *outer = p->entry.thunks[0], *inner = outer->sequences[0].thunks[0];
  assert_true(outer->trip_count == 1000000000000 && outer->reads[2] == 1 << 30 && outer->reads[1] == -1);
  assert_string_equal(inner->custom_call.target, "target");
  assert_true(inner->custom_call.has_side_effect && inner->custom_call.attributes[0].number == -0.25);
  assert_string_equal(inner->custom_call.attributes[2].text, "");
  arena_destroy(a);
  text_free(&record);
}

static void read_damaged(str bytes, const void **context) {
  arena *a = arena_create();
  program_saved back;
  heddle_status s = record_read(a, bytes, &program_record_saved, 9, find, context, &back);
  heddle_status_free(s);
  arena_destroy(a);
}

static void test_survives_damage(void **state) {
  (void)state;
  text record = {0};
  const void *bytes = NULL;
  write(&record, &bytes);
  for (size_t size = 0; size < record.size; size++) {
    char *copy = malloc(size + 1);
    memcpy(copy, record.data, size);
    read_damaged((str){copy, size}, &bytes);
    free(copy);
  }
  for (size_t at = 0; at < record.size; at++)
    for (int value = 0; value < 256; value++) {
      const char before = record.data[at];
      record.data[at] = (char)value;
      read_damaged(text_view(&record), &bytes);
      record.data[at] = before;
    }
  text_free(&record);
}

static void test_fingerprint_is_the_tables(void **state) {
  (void)state;
  record_field fields[] = {program_record_saved.fields[0], program_record_saved.fields[1]};
  record_type type = {"t", 8, 2, fields, 0, 0, NULL};
  const uint64_t first = record_fingerprint(&type);
  assert_true(record_fingerprint(&type) == first);
  fields[0].name = "renamed";
  assert_true(record_fingerprint(&type) != first);
  assert_true(record_fingerprint(&program_record_saved) != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables_are_complete),
      cmocka_unit_test(test_reads_back),
      cmocka_unit_test(test_survives_damage),
      cmocka_unit_test(test_fingerprint_is_the_tables),
  };
  return cmocka_run_group_tests_name("prog/program_record", tests, NULL, NULL);
}
