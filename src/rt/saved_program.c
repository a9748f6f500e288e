// Nothing of a file is used before all of it has been looked at: its places and numbers (program_file_read), what the
// program does (program_check), its code (link_objects).
#include "rt/saved_program.h"

#include <stdlib.h>

#include "base/cpu_features.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/pool.h"
#include "link/link.h"
#include "rt/device_types.h"
#include "rt/program_check.h"

// One of the file's plans with images for it, ready to be run.
typedef struct saved_part {
  program plan;
  link_code *linked;
  kernel_fn *entries;
} saved_part;

struct saved_program {
  arena *arena;
  str bytes;
  program_saved contents;
  const program_code *code;
  saved_part main;
  int special_count;
  saved_part specials[OPEN_INSTANCES_MOST_SPECIALS];  // of a program for open sizes, for some of them alone
  invocable callable;                                 // without an executable if sizes are open
  open_instances *instances;                          // then; else null
};

typedef struct opening {
  saved_program *made;
  const saved_program_options *options;
} opening;

// --- texts, of which none may be null, and places, which errors name

static bool is_place(source_location where) { return where.line >= 0 && where.column >= 0; }

static bool has_names(const program_sequence *s) {
  for (int k = 0; k < s->count; k++) {
    const program_thunk *t = s->thunks[k];
    if (!t->name || !t->origin || !is_place(t->where)) return false;
    for (int i = 0; i < t->sequence_count; i++)
      if (!has_names(&t->sequences[i])) return false;
  }
  return true;
}

static bool has_all_names(const program *p) {
  bool has = p->name && is_place(p->where) && has_names(&p->entry);
  for (int k = 0; k < p->parameter_count; k++) has = has && p->parameters[k].name;
  for (int k = 0; k < p->result_count; k++) has = has && p->results[k].name;
  return has;
}

static heddle_status check_names(const program_saved *s) {
  bool has = s->producer != NULL;
  for (int k = 0; k < s->plan_count; k++) has = has && has_all_names(&s->plans[k]);
  for (int k = 0; k < s->code_count; k++) has = has && s->codes[k].machine && s->codes[k].level && s->codes[k].features;
  return has ? status_ok()
             : status_error(HEDDLE_INVALID, "the saved program lacks a name, or a place that it names is none");
}

// --- the code for this machine

static bool is_device(const char *machine) {
  for (int k = 0; k < TARGET_KIND_COUNT; k++)
    if (device_types[k] && strcmp(machine, target_kind_name(k)) == 0) return true;
  return false;
}

// What keeps this machine from running the code; "" if nothing does. Whether there is such a device shows later.
static const char *hindrance(arena *a, const program_code *c) {
  if (!is_device(c->machine) && strcmp(c->machine, cpu_features_machine()) != 0)
    return arena_printf(a, "is for %s", c->machine);
  const char *missing = cpu_features_missing(a, str_from(c->features));
  return missing[0] ? arena_printf(a, "needs %s", missing) : "";
}

static heddle_status no_code(arena *a, const program_saved *p, const char *level) {
  text found = {0};
  for (int k = 0; k < p->code_count; k++)
    if (!p->codes[k].sizes)
      text_printf(&found, "%s%s %s", found.size ? "; " : "", p->codes[k].level, hindrance(a, &p->codes[k]));
  heddle_status s =
      level ? status_error(HEDDLE_INVALID, "the saved program has no code that is called %s", level)
            : status_error(HEDDLE_UNIMPLEMENTED, "the saved program has no code that this machine (%s) can run: %s",
                           cpu_features_machine(), found.size ? text_cstr(&found) : "it has none at all");
  text_free(&found);
  return s;
}

static heddle_status choose_code(arena *a, const program_saved *p, const char *level, const program_code **out) {
  int most = -1;
  *out = NULL;
  for (int k = 0; k < p->code_count; k++) {
    const program_code *c = &p->codes[k];
    if (c->sizes || (level && strcmp(level, c->level) != 0)) continue;
    const char *hinders = hindrance(a, c);
    if (level && hinders[0])
      return status_error(HEDDLE_UNIMPLEMENTED, "the code %s of the saved program %s, which this machine (%s) has not",
                          level, hinders, cpu_features_machine());
    const int features = hinders[0] ? -1 : cpu_features_count(str_from(c->features));
    if (features <= most) continue;
    most = features;
    *out = c;
  }
  return *out ? status_ok() : no_code(a, p, level);
}

static heddle_status choose_plan(const program_saved *p, const program_code *c, program *out) {
  const int number = c ? c->plan : -1;
  if (number < 0 || number >= p->plan_count)
    return status_error(HEDDLE_INVALID, "the saved program's code is for plan %d, which is not there", number);
  *out = p->plans[number];
  out->images = c->images;
  out->image_count = c->image_count;
  return program_check(out);
}

// --- linking

static heddle_status check_kernels(const program *p) {
  for (int k = 0; k < p->kernel_count; k++)
    if (!p->kernels[k].entry || p->kernels[k].image < 0 || p->kernels[k].image >= p->image_count ||
        p->kernels[k].forms < 0 || p->kernels[k].forms >= p->image_count - p->kernels[k].image)
      return status_error(HEDDLE_INVALID, "kernel %d of the program has no code", k);
  return status_ok();
}

// A device takes its images itself.
static heddle_status check_image(const program *p, int number) {
  const program_image *i = &p->images[number];
  if (!i->data) return status_error(HEDDLE_INVALID, "image %d of the saved program is not there", number);
  if (i->format == PROGRAM_ELF || (i->format == PROGRAM_SPIRV && device_types[p->device])) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "the saved program's kernels are %s, which nothing here runs",
                      program_image_format_name(i->format));
}

static heddle_status link_kernels(arena *a, saved_part *p) {
  const program *made = &p->plan;
  kernel_fn *entries = p->entries = arena_array(a, kernel_fn, made->kernel_count);
  TRY(check_kernels(made));
  str *objects = arena_array(a, str, made->image_count);
  int *numbers = arena_array(a, int, made->image_count), object_count = 0, wanted_count = 0;
  link_entry *wanted = arena_array(a, link_entry, made->kernel_count);
  void **addresses = arena_array(a, void *, made->kernel_count);
  for (int k = 0; k < made->image_count; k++) {
    TRY(check_image(made, k));
    if (made->images[k].format != PROGRAM_ELF) continue;
    numbers[k] = object_count;
    objects[object_count++] = (str){made->images[k].data, made->images[k].size};
  }
  for (int k = 0; k < made->kernel_count; k++)
    if (made->images[made->kernels[k].image].format == PROGRAM_ELF)
      wanted[wanted_count++] = (link_entry){numbers[made->kernels[k].image], made->kernels[k].entry};
  TRY(link_objects(object_count, objects, wanted_count, wanted, addresses, &p->linked));
  for (int k = 0, found = 0; k < made->kernel_count; k++)
    if (made->images[made->kernels[k].image].format == PROGRAM_ELF) entries[k] = (kernel_fn)addresses[found++];
  return status_ok();
}

static heddle_status open_part(saved_program *p, const program_code *c, saved_part *out) {
  TRY(choose_plan(&p->contents, c, &out->plan));
  return link_kernels(p->arena, out);
}

// What of the file is for some sizes alone, of the code that was chosen.
static heddle_status open_specials(saved_program *p) {
  for (int k = 0; k < p->contents.code_count && p->main.plan.sizes.symbol_count; k++) {
    const program_code *c = &p->contents.codes[k];
    const bool is_of_chosen = c->sizes && strcmp(c->machine, p->code->machine) == 0 &&
                              strcmp(c->level, p->code->level) == 0 && !hindrance(p->arena, c)[0];
    if (!is_of_chosen) continue;
    if (p->special_count == OPEN_INSTANCES_MOST_SPECIALS)
      return status_error(HEDDLE_INVALID, "the saved program has code for more than %d sizes",
                          (int)OPEN_INSTANCES_MOST_SPECIALS);
    TRY(open_part(p, c, &p->specials[p->special_count++]));
  }
  return status_ok();
}

static heddle_status create_instances(saved_program *p, const executable_options *options) {
  open_special specials[OPEN_INSTANCES_MOST_SPECIALS];
  for (int k = 0; k < p->special_count; k++) specials[k] = (open_special){&p->specials[k].plan, p->specials[k].entries};
  p->instances = open_instances_create(&(open_instances_source){.program = &p->main.plan,
                                                                .entries = p->main.entries,
                                                                .options = *options,
                                                                .buffers = p->callable.buffers,
                                                                .special_count = p->special_count,
                                                                .specials = specials});
  return p->instances ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
}

// The first code's plan stands for that of a machine that is not this one.
static heddle_status inspect(saved_program *p, const char *level) {
  heddle_status s = choose_code(p->arena, &p->contents, level, &p->code);
  const program_code *shown = p->code;
  for (int k = 0; k < p->contents.code_count && !shown && !level; k++)
    if (!p->contents.codes[k].sizes) shown = &p->contents.codes[k];
  if (!shown) return s;
  heddle_status_free(s);
  return choose_plan(&p->contents, shown, &p->main.plan);
}

static heddle_status open_bytes(void *argument) {
  const opening *o = argument;
  saved_program *p = o->made;
  p->arena = arena_create();
  const program_file_options reading = {.trusts_checksums = o->options->trusts_checksums};
  const program *made = &p->main.plan;
  TRY(program_file_read(p->arena, p->bytes, &reading, &p->contents));
  TRY(check_names(&p->contents));
  if (o->options->inspects) return inspect(p, o->options->level);
  TRY(choose_code(p->arena, &p->contents, o->options->level, &p->code));
  TRY(open_part(p, p->code, &p->main));
  TRY(open_specials(p));
  const char *device = o->options->device;
  const executable_options options = {.threads = o->options->threads > 0 ? o->options->threads : pool_default_threads(),
                                      .device = device ? arena_strdup(p->arena, device, strlen(device)) : NULL};
  if (!made->sizes.symbol_count) TRY(executable_create(made, p->main.entries, &options, &p->callable.executable));
  p->callable.program = made;
  p->callable.buffers = buffer_cache_create();
  if (!p->callable.buffers) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the buffer cache");
  return made->sizes.symbol_count ? create_instances(p, &options) : status_ok();
}

// The host had no memory: the arena is the guard's.
static void forget_arena(void *argument, bool is_torn) {
  (void)is_torn;
  ((opening *)argument)->made->arena = NULL;
}

// Takes ownership of the mapped bytes.
static heddle_status open_mapped(str bytes, const saved_program_options *options, saved_program **out) {
  static const saved_program_options none;
  saved_program *made = calloc(1, sizeof *made);
  if (!made) {
    file_unmap(bytes);
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  }
  made->bytes = bytes;
  opening o = {made, options ? options : &none};
  heddle_status s = guard_run(open_bytes, forget_arena, &o);
  if (status_is_ok(s)) *out = made;
  else saved_program_close(made);
  return s;
}

heddle_status saved_program_open(const char *path, const saved_program_options *options, saved_program **out) {
  str bytes;
  *out = NULL;
  TRY(file_map(path, &bytes));
  return status_context(open_mapped(bytes, options, out), "while loading '%s'", path);
}

heddle_status saved_program_read(str bytes, const saved_program_options *options, saved_program **out) {
  str copy;
  *out = NULL;
  TRY(file_map_copy(bytes, &copy));
  return open_mapped(copy, options, out);
}

void saved_program_close(saved_program *p) {
  if (!p) return;
  open_instances_destroy(p->instances);
  executable_destroy(p->callable.executable);
  buffer_cache_destroy(p->callable.buffers);
  link_release(p->main.linked);
  for (int k = 0; k < p->special_count; k++) link_release(p->specials[k].linked);
  arena_destroy(p->arena);
  file_unmap(p->bytes);
  free(p);
}

const invocable *saved_program_invocable(const saved_program *p) { return &p->callable; }
open_instances *saved_program_instances(const saved_program *p) { return p->instances; }
const program_saved *saved_program_contents(const saved_program *p) { return &p->contents; }
const program_code *saved_program_code(const saved_program *p) { return p->code; }
const program *saved_program_plan(const saved_program *p) { return &p->main.plan; }
