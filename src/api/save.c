// A file holds a list of images for each instruction set, and the plans that they are for: one where the program was
// planned alike for all, as most are, since figures like tile sizes follow from the width of vectors for few. What was
// made for some sizes alone follows what was made for all of them.
#include "api/save.h"

#include "base/checksum.h"
#include "base/cpu_features.h"
#include "base/file.h"
#include "base/vec.h"
#include "heddle/version.h"
#include "prog/program_file.h"
#include "rt/program_check.h"

// Comparators of sorts are the host's, whatever the device is.
static bool has_host_code(const program *p) {
  for (int k = 0; k < p->image_count; k++)
    if (p->images[k].format == PROGRAM_ELF) return true;
  return false;
}

// Constants are told apart by their sums, which stand in the record in the place of places.
static uint64_t sum_of(void *context, int section, const void *data, uint64_t size) {
  (void)context;
  (void)section;
  return checksum_of(data, size);
}

// Equal for programs that are planned alike.
static str record_of(arena *a, const program *plan) {
  text record = {0};
  record_write(&record, &program_record_saved, &(program_saved){.producer = "", .plan_count = 1, .plans = plan}, sum_of,
               NULL);
  const str copy = str_copy(a, text_view(&record));
  text_free(&record);
  return copy;
}

typedef struct plan_list {
  int count;
  program *plans;
  str *records;
} plan_list;

// The number of the level's plan, which is added unless one before is the same.
static int add_plan(arena *a, const compiled *level, plan_list *list) {
  const str record = record_of(a, &level->program);
  for (int k = 0; k < list->count; k++)
    if (str_equal(list->records[k], record)) return k;
  list->plans[list->count] = level->program;
  list->records[list->count] = record;
  return list->count++;
}

static program_code code_of(arena *a, const compiled *c, int plan) {
  const bool is_host = has_host_code(&c->program) || c->machine.kind == TARGET_CPU;
  const target_description m = c->machine.has_grid && is_host ? cpu_target_host(a, c->threads) : c->machine;
  return (program_code){.machine = is_host ? cpu_target_machine(&m) : target_kind_name(m.kind),
                        .level = c->level,
                        .features = is_host ? cpu_features_needed(a, cpu_target_machine(&m), str_from(m.features)) : "",
                        .sizes = c->sizes,
                        .plan = plan,
                        .image_count = c->program.image_count,
                        .images = c->program.images};
}

static heddle_status parts_of(arena *a, int count, const compiled *levels, int *part_count, const str **parts) {
  VEC(const compiled *) all = {0};
  for (int k = 0; k < count; k++) {
    vec_push(a, &all, &levels[k]);
    for (int s = 0; s < levels[k].special_count; s++) vec_push(a, &all, &levels[k].specials[s]);
  }
  program_code *codes = arena_array(a, program_code, all.size);
  plan_list list = {.plans = arena_array(a, program, all.size), .records = arena_array(a, str, all.size)};
  for (int k = 0; k < all.size; k++) {
    TRY(program_check(&all.data[k]->program));
    codes[k] = code_of(a, all.data[k], add_plan(a, all.data[k], &list));
  }
  const program_saved saved = {.producer = "heddle " HEDDLE_VERSION,
                               .plan_count = list.count,
                               .plans = list.plans,
                               .code_count = all.size,
                               .codes = codes};
  *parts = program_file_parts(a, &saved, part_count, NULL);
  return status_ok();
}

heddle_status save_programs(const char *path, int count, const compiled *levels) {
  arena *a = arena_create();
  int part_count = 0;
  const str *parts = NULL;
  heddle_status s = parts_of(a, count, levels, &part_count, &parts);
  if (status_is_ok(s)) s = file_write_parts(path, part_count, parts);
  arena_destroy(a);
  return s;
}

heddle_status save_to_text(const compiled *c, text *out) {
  arena *a = arena_create();
  int part_count = 0;
  const str *parts = NULL;
  heddle_status s = parts_of(a, 1, c, &part_count, &parts);
  for (int k = 0; k < part_count && status_is_ok(s); k++) text_append(out, parts[k]);
  arena_destroy(a);
  return s;
}
