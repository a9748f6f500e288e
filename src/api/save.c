// Programs are planned alike whatever the instruction set, so that a file holds one of them and several lists of
// images.
#include "api/save.h"

#include "base/cpu_features.h"
#include "base/file.h"
#include "heddle/version.h"
#include "prog/program_file.h"
#include "rt/program_check.h"

static const char *machine_of(const compiled *c) {
  return c->machine.kind == TARGET_CPU ? cpu_target_machine(&c->machine) : target_kind_name(c->machine.kind);
}

static uint64_t place_nowhere(void *context, int section, const void *data, uint64_t size) {
  (void)context;
  (void)section;
  (void)data;
  (void)size;
  return 0;
}

static heddle_status check_same(const compiled *levels, int number) {
  text first = {0}, other = {0};
  record_write(&first, &program_record_saved, &(program_saved){.producer = "", .program = levels[0].program},
               place_nowhere, NULL);
  record_write(&other, &program_record_saved, &(program_saved){.producer = "", .program = levels[number].program},
               place_nowhere, NULL);
  const bool is_same = str_equal(text_view(&first), text_view(&other));
  text_free(&first);
  text_free(&other);
  return is_same ? status_ok()
                 : status_error(HEDDLE_UNIMPLEMENTED,
                                "the program is planned otherwise for %s than for %s: save a file for each",
                                levels[number].machine.chip, levels[0].machine.chip);
}

static program_code code_of(arena *a, const compiled *c) {
  const target_description *m = &c->machine;
  const bool is_cpu = m->kind == TARGET_CPU;
  return (program_code){.machine = machine_of(c),
                        .level = c->level,
                        .features = is_cpu ? cpu_features_needed(a, cpu_target_machine(m), str_from(m->features)) : "",
                        .image_count = c->program.image_count,
                        .images = c->program.images};
}

static heddle_status parts_of(arena *a, int count, const compiled *levels, int *part_count, const str **parts) {
  program_code *codes = arena_array(a, program_code, count);
  for (int k = 0; k < count; k++) {
    if (k) TRY(check_same(levels, k));
    codes[k] = code_of(a, &levels[k]);
  }
  const program_saved saved = {
      .producer = "heddle " HEDDLE_VERSION, .program = levels[0].program, .code_count = count, .codes = codes};
  TRY(program_check(&saved.program));
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
