// heddle compile MODULE: the code of a module's kernels as files.
#include <stdio.h>
#include <stdlib.h>

#include "api/object.h"
#include "api/object_name.h"
#include "api/open_classes.h"
#include "api/open_compile.h"
#include "api/open_given.h"
#include "api/open_text.h"
#include "api/save.h"
#include "base/cpu_level.h"
#include "base/file.h"
#include "base/log.h"
#include "hlo/device_counts.h"
#include "hlo/text.h"
#include "import/import.h"
#include "lhlo/profile.h"
#include "prog/program_file.h"
#include "prog/program_print.h"
#include "rt/schedule_print.h"
#include "target/nvptx.h"
#include "tools/codegen_flag.h"
#include "tools/commands.h"
#include "tools/cpu_flag.h"
#include "tools/debug_compile.h"
#include "tools/device_flags.h"
#include "tools/execute.h"
#include "tools/facts.h"
#include "tools/memory_flag.h"
#include "tools/pass_flags.h"
#include "tools/progress_line.h"

// What can be asked for, the suffix under which the compiler dumps it (null: not a dump), and the only target that has
// it (null: all).
static const struct form {
  const char *name;
  const char *suffix;
  const char *only;
} forms[] = {
    {"obj", NULL, "cpu"},            // ELF object file
    {"asm", "s", "cpu"},             // machine code as text
    {"llvm", "ll", NULL},            // LLVM IR after optimization
    {"mlir", "emitted.mlir", NULL},  // what the emitter makes, before any pass
    {"lowered", "lowered.mlir", NULL},
    {"ptx", "ptx", "nvptx"},
    {"plan", NULL, NULL},      // decisions with their reasons, kernels
    {"lhlo", NULL, NULL},      // schedule and buffers
    {"program", NULL, NULL},   // what the runtime is given
    {"schedule", NULL, NULL},  // what of it runs side by side
    {"tiling", NULL, NULL},    // what is cut into tiles for --memory-limit
    {"image", NULL, NULL},     // what the target's code generator makes
    {"saved", NULL, NULL},     // a program that heddle-run runs
    {"object", NULL, "cpu"},   // the program as one C function
};

enum { FORM_COUNT = sizeof forms / sizeof *forms };

typedef struct compile_flags {
  const char *output, *emit, *target, *chip, *cpu, *name;
  target_description machine;  // that `target` and `chip` name
  const char *triple;          // of another machine's CPU, if `target` names one; then that is "cpu"
  const struct form *form;     // that `emit` names
  const char *codegen_name, *limit_text;
  target_codegen codegen;
  cpu_level levels[CPU_LEVEL_COUNT];  // that a saved program has code for
  int level_count;
  flag_list sizes;  // that a saved program for open sizes has code of their own for
  memory_limit limit;
  bool freestanding, exact, deterministic, keep_fusions, profile, time, json;
  facts *facts;  // that --json asks for; else null
  int threads, streams, v;
  debug_options debug;
  pass_flags driver;
} compile_flags;

// Collects one kind of dump, one text per kernel; all of them go on to where debug options want them.
typedef struct collector {
  const compile_options *next;
  arena *arena;
  const char *suffix;
  VEC(str) texts;
} collector;

static void collect(void *argument, const char *name, const char *suffix, str contents) {
  collector *c = argument;
  if (c->next->dump) c->next->dump(c->next->dump_argument, name, suffix, contents);
  if (strcmp(suffix, c->suffix) == 0) vec_push(c->arena, &c->texts, str_copy(c->arena, contents));
}

static heddle_status find_form(const char *name, const struct form **out) {
  for (int i = 0; i < FORM_COUNT; i++) {
    if (strcmp(name, forms[i].name) != 0) continue;
    *out = &forms[i];
    return status_ok();
  }
  return status_error(
      HEDDLE_INVALID,
      "found --emit=%s, wanted obj, asm, llvm, mlir, lowered, ptx, plan, lhlo, program, schedule, tiling, image, saved "
      "or object",
      name);
}

static bool is_form(const compile_flags *f, const char *name) { return strcmp(f->form->name, name) == 0; }

static bool has_suffix(const char *path, const char *suffix) {
  const size_t size = strlen(path), end = strlen(suffix);
  return size >= end && strcmp(path + size - end, suffix) == 0;
}

// Objects are ELF's, which other systems than these do not have.
static bool is_arm_triple(const char *target) {
  return strncmp(target, "aarch64-", 8) == 0 && (strstr(target, "-linux") || has_suffix(target, "-elf"));
}

// The description of the target that --target, --chip and --threads name.
static heddle_status find_machine(compile_flags *f) {
  TRY(status_context(nvptx_target(f->chip, &f->machine), "in --chip=%s", f->chip));
  if (is_arm_triple(f->target)) {
    if (f->cpu) return status_error(HEDDLE_INVALID, "found --cpu=%s, which is none of --target=%s", f->cpu, f->target);
    f->triple = f->target;
    f->target = "cpu";
  }
  for (int k = 0; k < TARGET_KIND_COUNT; k++) {
    if (strcmp(f->target, target_kind_name(k)) != 0) continue;
    if (k != TARGET_NVPTX) target_find(str_from(f->target), &f->machine);
    if (!f->machine.has_grid && f->threads > 0) f->machine.cores = f->threads;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --target=%s, wanted cpu, nvptx, vulkan, null or aarch64-linux-gnu",
                      f->target);
}

// What -o asks for where --emit does not: a program to be run, or its kernels.
static const char *form_of_output(const char *output) {
  const char *suffix = output ? strrchr(output, '.') : NULL;
  return suffix && strcmp(suffix, ".heddle") == 0 ? "saved" : "obj";
}

static heddle_status add_level(compile_flags *f, const char *name) {
  cpu_level level;
  if (!cpu_level_find(name, &level))
    return status_error(HEDDLE_INVALID,
                        "found --cpu=%s, wanted native, x86-64-v2, x86-64-v3, x86-64-v4 or cooperlake, or several",
                        f->cpu);
  for (int k = 0; k < f->level_count; k++)
    if (f->levels[k] == level)
      return status_error(HEDDLE_INVALID, "found --cpu=%s, which names %s twice", f->cpu, name);
  f->levels[f->level_count++] = level;
  return status_ok();
}

// "x86-64-v3,x86-64-v4": code for each of them.
static heddle_status take_levels(compile_flags *f) {
  char *names = strdup(f->cpu ? f->cpu : "native"), *rest = names;
  heddle_status s = names ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for --cpu");
  for (const char *name = strsep(&rest, ","); name && status_is_ok(s); name = strsep(&rest, ","))
    s = add_level(f, name);
  free(names);
  return s;
}

static heddle_status check_output(const compile_flags *f) {
  if (is_form(f, "obj") && !f->output) return status_error(HEDDLE_INVALID, "an object file wants a name: -o FILE");
  if (is_form(f, "object") && (!f->output || strcmp(f->output, "-") == 0))
    return status_error(HEDDLE_INVALID, "an object wants a name: -o FILE.o, which its header has, too");
  if (is_form(f, "object") && f->name) TRY(object_name_check(f->name));
  if (is_form(f, "object") && has_suffix(f->output, ".h"))
    return status_error(HEDDLE_INVALID, "found -o %s for an object, which is its header's name: -o FILE.o", f->output);
  if (f->freestanding && !is_form(f, "object"))
    return status_error(HEDDLE_INVALID, "--freestanding is for --emit=object, found %s", f->form->name);
  if (is_form(f, "saved") && !f->output)
    return status_error(HEDDLE_INVALID, "a saved program wants a name: -o FILE.heddle");
  if (f->json && (!f->output || strcmp(f->output, "-") == 0))
    return status_error(HEDDLE_INVALID, "--json is printed where the output would be: -o FILE");
  return status_ok();
}

// PTX is for the GPU, objects and assembly are for the CPU; the other forms exist for all.
static heddle_status check_flags(void *argument) {
  compile_flags *f = argument;
  if (!f->emit) f->emit = form_of_output(f->output);
  TRY(find_form(f->emit, &f->form));
  const struct form *form = f->form;
  if (!f->target) f->target = form->only ? form->only : "cpu";
  TRY(find_machine(f));
  TRY(codegen_flag_take(f->codegen_name, &f->codegen));
  TRY(memory_flag_take(f->limit_text, &f->limit));
  if (is_form(f, "tiling") && !f->limit_text)
    return status_error(HEDDLE_INVALID, "--emit=tiling tells what is done for a limit: give --memory-limit=AMOUNT");
  TRY(device_flags_check(f->streams));
  if (is_form(f, "saved")) TRY(take_levels(f));
  else TRY(cpu_flag_take(f->cpu, false));
  if (f->sizes.size && !is_form(f, "saved"))
    return status_error(HEDDLE_INVALID, "found --specialize=%s and --emit=%s, wanted a saved program: -o x.heddle",
                        f->sizes.data[0], form->name);
  if (form->only && strcmp(form->only, f->target) != 0)
    return status_error(HEDDLE_INVALID, "--emit=%s is for --target=%s, found %s", form->name, form->only, f->target);
  const target_kind kind = f->machine.kind;
  if (is_form(f, "llvm") && (kind == TARGET_VULKAN || kind == TARGET_NULL) && !f->triple)
    return status_error(HEDDLE_INVALID, "--emit=llvm is for targets whose code LLVM makes, found %s", f->target);
  TRY(hlo_dump_check(&f->debug));
  TRY(pass_flags_check(&f->driver, PASS_FLAGS_HLO | PASS_FLAGS_MLIR));
  return check_output(f);
}

static heddle_status write_file(const compile_flags *f, const char *path, str contents) {
  TRY(file_write(path, contents));
  if (f->facts) facts_note_file(f->facts, path);
  return status_ok();
}

static const char *output_path(const compile_flags *f) { return f->output ? f->output : "-"; }

// Further kernels go beside the first: k.o, k.1.o, k.2.o, …; k.ptx, k.1.ptx, …
static const char *kernel_path(arena *a, const char *output, int number) {
  if (number == 0) return output;
  const char *suffix = strrchr(output, '.');
  if (!suffix || strchr(suffix, '/')) suffix = output + strlen(output);
  return arena_printf(a, "%.*s.%d%s", (int)(suffix - output), output, number, suffix);
}

// How an object file's functions are called.
static void say_signatures(const char *path, const compiled *c, int number) {
  fprintf(stderr, "%s: void %s(void *const *buffers, int64_t begin, int64_t end), %lld tiles\n", path,
          c->kernels.plans[number]->name, (long long)c->kernels.plans[number]->launch.tiles);
}

// A file for each image of the program: one for all kernels where the target joins them, or one for each form of each.
static heddle_status write_images(arena *a, const compiled *c, const compile_flags *f) {
  for (int i = 0; i < c->program.image_count; i++) {
    const program_image *image = &c->program.images[i];
    const char *path = f->output ? kernel_path(a, f->output, i) : "-";
    TRY(write_file(f, path, (str){image->data, image->size}));
    if (image->format == PROGRAM_ELF) say_signatures(path, c, i);
  }
  return status_ok();
}

// What is compiled: a module, a program written as LHLO, which is planned already, or a program for all sizes of what
// it declares as `?`.
typedef struct compile_source {
  const module *module;  // of LHLO the one that holds its interface; null for open sizes
  lhlo_program *lhlo;    // else null
  const char *path;
  str bytes;
} compile_source;

static heddle_status print_plan(arena *a, const compile_source *from, const compile_flags *f,
                                const compile_options *options, bool is_lhlo, text *out) {
  compile_times times = {0};
  lhlo_program *plan = from->lhlo;
  if (!plan) TRY(compile_plan(a, from->module, options, &times, is_lhlo ? NULL : out, &plan));
  if (f->facts) facts_put_plan(f->facts, plan, &times);
  if (is_lhlo) return lhlo_print(out, plan);
  for (int i = 0; i < plan->kernel_count; i++) kernel_plan_print(out, &plan->target, plan->kernels[i]);
  return status_ok();
}

static heddle_status write_plan(arena *a, const compile_source *from, const compile_flags *f,
                                const compile_options *options, bool is_lhlo) {
  text t = {0};
  heddle_status s = print_plan(a, from, f, options, is_lhlo, &t);
  if (status_is_ok(s)) s = write_file(f, output_path(f), text_view(&t));
  text_free(&t);
  return s;
}

static heddle_status write_tiling(arena *a, const compile_source *from, const compile_flags *f,
                                  const compile_options *given) {
  text t = {0};
  compile_options options = *given;
  compile_times times = {0};
  lhlo_program *plan;
  options.tiling = &t;
  if (from->lhlo) return status_error(HEDDLE_UNIMPLEMENTED, "--emit=tiling: LHLO is not tiled");
  heddle_status s = compile_plan(a, from->module, &options, &times, NULL, &plan);
  if (status_is_ok(s) && f->facts) facts_put_plan(f->facts, plan, &times);
  if (status_is_ok(s)) s = write_file(f, output_path(f), text_view(&t));
  text_free(&t);
  return s;
}

static heddle_status write_program(arena *a, const compiled *c, const compile_flags *f) {
  text t = {0};
  heddle_status s = status_ok();
  const bool is_schedule = is_form(f, "schedule");
  if (is_schedule && c->is_open)
    return status_error(HEDDLE_UNIMPLEMENTED,
                        "--emit=schedule: a program for open sizes has a schedule for each of them");
  if (c->is_open) s = open_text_print(a, &t, c, open_text_program);
  else if (is_schedule) s = schedule_print(&t, &c->program, c->threads);
  else program_print(&t, &c->program);
  if (status_is_ok(s)) s = write_file(f, output_path(f), text_view(&t));
  text_free(&t);
  return s;
}

static heddle_status compile_from(arena *a, const compile_source *from, const compile_options *options, compiled *out) {
  static const import_options as_declared;
  if (from->lhlo) return compile_lhlo(a, from->lhlo, options, out);
  if (from->module) return compile_module(a, from->module, options, out);
  return open_classes_compile(a, from->path, from->bytes, &as_declared, options, out);
}

static heddle_status compile_one(arena *a, const compile_source *from, const compile_flags *f,
                                 const compile_options *options, compiled *out) {
  TRY(compile_from(a, from, options, out));
  if (f->time) execute_print_times(stderr, &out->times);
  pass_times_print(stderr, options->control);
  return status_ok();
}

// "model.o" -> "model.h"
static const char *header_path(arena *a, const char *output) {
  const char *suffix = strrchr(output, '.');
  if (!suffix || strchr(suffix, '/')) suffix = output + strlen(output);
  return arena_printf(a, "%.*s.h", (int)(suffix - output), output);
}

// The functions of an object that are not the C library's but libm's.
static heddle_status check_freestanding(const char *undefined) {
  static const char *const of_libc[] = {"memcpy", "memmove", "memset", "memcmp"};
  char *names = strdup(undefined), *rest = names;
  heddle_status s = names ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for names");
  for (const char *name = strsep(&rest, ","); name && status_is_ok(s); name = strsep(&rest, ",")) {
    bool is_known = name[strspn(name, " ")] == 0;
    for (size_t k = 0; k < sizeof of_libc / sizeof *of_libc; k++)
      is_known |= strcmp(name + strspn(name, " "), of_libc[k]) == 0;
    if (!is_known)
      s = status_error(HEDDLE_UNIMPLEMENTED, "--freestanding: the program calls %s, which libm has",
                       name + strspn(name, " "));
  }
  free(names);
  return s;
}

static heddle_status write_object(arena *a, const compiled *c, const compile_flags *f, const char *name) {
  text header = {0}, object = {0};
  const char *undefined = "";
  heddle_status s = object_make(a, c, name, f->freestanding, &header, &object, &undefined);
  if (status_is_ok(s) && f->freestanding) s = check_freestanding(undefined);
  // The object last: build rules look at it, and where it is the header is.
  if (status_is_ok(s)) s = write_file(f, header_path(a, f->output), text_view(&header));
  if (status_is_ok(s)) s = write_file(f, f->output, text_view(&object));
  text_free(&header);
  text_free(&object);
  return s;
}

static const char *function_name(arena *a, const compile_source *from, const compile_flags *f) {
  return f->name ? f->name : object_name_make(a, from->module ? from->module->name : STR("program"));
}

static heddle_status compile_object(arena *a, const compile_source *from, const compile_flags *f,
                                    const compile_options *given) {
  compiled program;
  compile_options options = *given;
  const char *name = function_name(a, from, f);
  options.is_saved = true;
  options.kernel_name = arena_printf(a, "%s_kernel", name);
  TRY(compile_one(a, from, f, &options, &program));
  if (f->facts) facts_put_program(f->facts, a, 1, &program);
  heddle_status s = write_object(a, &program, f, name);
  compiled_release(&program);
  return s;
}

static heddle_status add_sizes(arena *a, const compile_source *from, const compile_flags *f,
                               const compile_options *options, compiled *level) {
  if (f->sizes.size && !level->is_open)
    return status_error(HEDDLE_INVALID, "found --specialize=%s, but the program declares no size as `?`",
                        f->sizes.data[0]);
  heddle_status s = status_ok();
  for (int k = 0; k < f->sizes.size && status_is_ok(s); k++)
    s = status_context(open_given_add(a, from->path, from->bytes, f->sizes.data[k], options, level),
                       "while compiling for --specialize=%s", f->sizes.data[k]);
  return s;
}

// What cannot stay open is made for the sizes that are named, and runs at these alone.
static heddle_status compile_level(arena *a, const compile_source *from, const compile_flags *f,
                                   const compile_options *options, compiled *out) {
  heddle_status s = compile_one(a, from, f, options, out);
  const bool is_refused = heddle_status_code(s) == HEDDLE_UNIMPLEMENTED && !from->module && !from->lhlo;
  if (is_refused && f->sizes.size) {
    heddle_status_free(s);
    static const import_options as_declared;
    s = open_given_begin(a, from->path, from->bytes, &as_declared, options, out);
  }
  return status_is_ok(s) ? add_sizes(a, from, f, options, out) : s;
}

// A whole program in one file, compiled once for each instruction set.
static heddle_status compile_saved(arena *a, const compile_source *from, const compile_flags *f,
                                   const compile_options *given) {
  compiled *levels = arena_array(a, compiled, f->level_count);
  compile_options options = *given;
  options.is_saved = true;
  heddle_status s = status_ok();
  for (int k = 0; k < f->level_count && status_is_ok(s); k++) {
    options.cpu = f->levels[k];
    s = compile_level(a, from, f, &options, &levels[k]);
  }
  if (status_is_ok(s) && f->facts) facts_put_program(f->facts, a, f->level_count, levels);
  if (status_is_ok(s)) s = save_programs(f->output, f->level_count, levels);
  if (status_is_ok(s) && f->facts) facts_note_file(f->facts, f->output);
  for (int k = 0; k < f->level_count; k++) compiled_release(&levels[k]);
  return s;
}

// What is decided for open sizes is only known when all of it has been tried.
static heddle_status write_open_plan(arena *a, const compile_source *from, const compile_flags *f,
                                     const compile_options *options, bool is_lhlo) {
  compiled program;
  TRY(compile_from(a, from, options, &program));
  if (f->facts) facts_put_program(f->facts, a, 1, &program);
  text t = {0};
  heddle_status s = open_text_print(a, &t, &program, is_lhlo ? open_text_lhlo : open_text_plan);
  if (status_is_ok(s)) s = write_file(f, output_path(f), text_view(&t));
  text_free(&t);
  compiled_release(&program);
  return s;
}

static heddle_status compile_images(arena *a, const compile_source *from, const compile_flags *f,
                                    const compile_options *options) {
  compiled program;
  TRY(compile_one(a, from, f, options, &program));
  if (f->facts) facts_put_program(f->facts, a, 1, &program);
  heddle_status s = status_ok();
  if (is_form(f, "program") || is_form(f, "schedule")) s = write_program(a, &program, f);
  else if (!f->form->suffix) s = write_images(a, &program, f);
  compiled_release(&program);
  return s;
}

// Standard output gets one kernel after the other; files hold one each, as assemblers take one module at a time.
static heddle_status write_texts(const collector *c, const compile_flags *f) {
  bool is_file = f->output && strcmp(f->output, "-") != 0;
  for (int i = 0; i < c->texts.size; i++)
    TRY(write_file(f, is_file ? kernel_path(c->arena, f->output, i) : "-", c->texts.data[i]));
  return status_ok();
}

static heddle_status compile_text(arena *a, const compile_source *from, const compile_flags *f,
                                  const compile_options *given) {
  collector c = {.next = given, .arena = a, .suffix = f->form->suffix};
  compile_options options = *given;
  options.dump = collect;
  options.dump_argument = &c;
  TRY(compile_images(a, from, f, &options));
  return write_texts(&c, f);
}

static heddle_status read_source(arena *a, const char *path, const compile_flags *f, compile_source *out) {
  str bytes;
  module *m;
  TRY(file_read(a, path, &bytes));
  if (program_file_is(bytes))
    return status_error(HEDDLE_INVALID, "'%s' is a saved program, wanted one that is not compiled yet", path);
  if (!lhlo_is(bytes)) {
    TRY(open_compile_import(a, path, bytes, &(import_options){0}, &m));
    if (m) device_counts_adopt(m, 0, 0);
    *out = (compile_source){.module = m, .path = path, .bytes = bytes};
    return status_ok();
  }
  lhlo_program *plan;
  TRY(lhlo_parse(a, bytes, path, &f->machine, &plan));
  *out = (compile_source){.module = plan->module, .lhlo = plan};
  return status_ok();
}

static heddle_status compile_source_to(arena *a, const compile_source *from, const compile_flags *f,
                                       const compile_options *options) {
  const bool is_lhlo = is_form(f, "lhlo");
  const bool is_plan = is_lhlo || is_form(f, "plan");
  if (is_form(f, "tiling")) return write_tiling(a, from, f, options);
  if (is_plan && !from->module) return write_open_plan(a, from, f, options, is_lhlo);
  if (is_plan) return write_plan(a, from, f, options, is_lhlo);
  if (is_form(f, "saved")) return compile_saved(a, from, f, options);
  if (is_form(f, "object")) return compile_object(a, from, f, options);
  return f->form->suffix ? compile_text(a, from, f, options) : compile_images(a, from, f, options);
}

static heddle_status compile_path(arena *a, const char *path, compile_flags *f) {
  compile_source from = {0};
  debug_compile debug;
  debug_options_warn(&f->debug);
  TRY(read_source(a, path, f, &from));
  compile_options options = {.exact = f->exact,
                             .deterministic = f->deterministic,
                             .codegen = f->codegen,
                             .limit = f->limit,
                             .threads = f->threads,
                             .streams = f->streams,
                             .triple = f->triple,
                             .is_saved = f->triple != NULL,
                             .kernel_name = f->name,
                             .control = pass_flags_open(&f->driver, f->time, true),
                             .progress = progress_line_make(),
                             .injects_profile = f->profile};
  if (f->profile && from.lhlo) lhlo_profile_inject(from.lhlo);
  if (!f->machine.is_host) options.target = &f->machine;
  if (f->keep_fusions) options.keep_fusions = &debug_compile_remarks;
  // A program that links the object has a `main` of its own.
  if (!f->name && is_form(f, "obj")) options.kernel_name = arena_printf(a, "%s_kernel", function_name(a, &from, f));
  heddle_status s = debug_compile_open(&debug, a, &f->debug, PASS_FOLDS, from.module, &options);
  if (status_is_ok(s)) s = compile_source_to(a, &from, f, &options);
  progress_line_clear();
  return debug_compile_close(&debug, s);
}

static heddle_status compile_file(arena *a, const char *path, void *argument) {
  compile_flags *f = argument;
  log_set_level(f->v);
  if (!f->json) return compile_path(a, path, f);
  facts told;
  facts_begin(&told, a, path);
  json_put_string(&told.out, "form", str_from(f->form->name));
  json_put_string(&told.out, "target", str_from(f->triple ? f->triple : f->target));
  f->facts = &told;
  heddle_status s = compile_path(a, path, f);
  f->facts = NULL;
  return facts_end(&told, s);
}

int command_compile(int argc, char **argv) {
  compile_flags f = {.chip = "sm_90", .debug = DEBUG_OPTIONS_DEFAULT, .driver = PASS_FLAGS_DEFAULT};
  const flag flags[] = {
      {"o", FLAG_TEXT, &f.output, "FILE", "where to write (standard output for text)"},
      {"emit", FLAG_TEXT, &f.emit, "FORM",
       "obj, asm, llvm, mlir, lowered, ptx, plan, lhlo, program, schedule, tiling, image, saved or object (by the name "
       "after -o: saved, else obj)"},
      {"target", FLAG_TEXT, &f.target, "TARGET",
       "cpu, nvptx, vulkan, null or aarch64-linux-gnu (cpu; nvptx for --emit=ptx)"},
      {"chip", FLAG_TEXT, &f.chip, "SM", "the GPU to generate code for (sm_90)"},
      CODEGEN_FLAG(f.codegen_name),
      MEMORY_FLAG(f.limit_text),
      {"cpu", FLAG_TEXT, &f.cpu, CPU_FLAG_ARGUMENT,
       "the instruction set that the CPU's code keeps to, saved programs' several: A,B (native)"},
      {"specialize", FLAG_LIST, &f.sizes, "N[,M]",
       "of a saved program with `?`: code of their own for these sizes, beside that for all, if there is any"},
      {"name", FLAG_TEXT, &f.name, "NAME",
       "the first kernel's symbol (in an object MODULE_kernel, else main); of --emit=object the function"},
      {"freestanding", FLAG_BOOL, &f.freestanding, NULL, "of --emit=object: refuse what needs more than the C library"},
      {"exact", FLAG_BOOL, &f.exact, NULL, "keep every rounding the HLO asks for"},
      {"deterministic", FLAG_BOOL, &f.deterministic, NULL,
       "every run rounds alike: scatters keep the order of updates"},
      {"keep-fusions", FLAG_BOOL, &f.keep_fusions, NULL, KEEP_FUSIONS_HELP},
      {"profile", FLAG_BOOL, &f.profile, NULL, "put profile operations around those of LHLO"},
      {"threads", FLAG_THREADS, &f.threads, "N", "threads to plan for (all cores)"},
      STREAMS_FLAG(f.streams),
      {"json", FLAG_BOOL, &f.json, NULL, "print JSON: files, signature, memory, kernels, times, the error"},
      {"time", FLAG_BOOL, &f.time, NULL, "print the time of every stage and pass on standard error"},
      PASS_FLAGS(f.driver),
      DEBUG_OPTIONS_FILE(f.debug),
      VERBOSE_FLAG(f.v),
      {0},
  };
  const command_line line = {"heddle compile MODULE [flags]",
                             "Compiles a program to a file that heddle-run runs, or its kernels to code.", flags,
                             check_flags};
  return debug_options_main(&line, &f.debug, argc, argv, NULL, compile_file, &f);
}
