// hlo-opt: reads HLO modules, verifies them, runs HLO passes on them and prints them, or what a platform's compiler
// makes of them. Flags are spelled as XLA spells them where XLA has them.
#include <stdio.h>
#include <strings.h>

#include "api/compile.h"
#include "base/file.h"
#include "base/log.h"
#include "fuse/fuse.h"
#include "hlo/text.h"
#include "import/import.h"
#include "proto/proto.h"
#include "tools/codegen_flag.h"
#include "tools/debug_compile.h"
#include "tools/flags.h"
#include "tools/memory_flag.h"
#include "tools/module_format.h"
#include "tools/pass_choice.h"
#include "tools/pass_flags.h"
#include "tools/tile_stages.h"

typedef struct opt_flags {
  const char *passes, *print, *until, *target, *output, *platform, *stage, *format;
  const char *codegen_name, *limit_text;
  target_codegen codegen;
  memory_limit limit;
  bool list, list_stages, pipeline, split, emit_proto, keep_fusions, time;
  pass_flags driver;
  int v;
  hlo_print_options options;  // that `print` names
  debug_options debug;
  hlo_dump dump;
} opt_flags;

// --- platforms and stages

typedef enum opt_platform { OPT_TRANSFORMS, OPT_CPU, OPT_GPU, OPT_PLATFORM_COUNT } opt_platform;

static const struct {
  const char *name;
  opt_platform value;
} platforms[] = {{"transforms", OPT_TRANSFORMS},
                 {"cpu", OPT_CPU},
                 {"host", OPT_CPU},
                 {"gpu", OPT_GPU},
                 {"cuda", OPT_GPU},
                 {"rocm", OPT_GPU},
                 {"nvptx", OPT_GPU}};

typedef enum stage_form { STAGE_HLO, STAGE_LHLO, STAGE_DUMP } stage_form;

static const struct stage {
  const char *name;
  stage_form form;
  unsigned platforms;  // bits
  const char *suffix;  // under which the compiler dumps it
} stages[] = {
    {"hlo", STAGE_HLO, 1u << OPT_TRANSFORMS | 1u << OPT_CPU | 1u << OPT_GPU, NULL},
    {"hlo-backend", STAGE_HLO, 1u << OPT_CPU | 1u << OPT_GPU, NULL},
    {"buffer-assignment", STAGE_LHLO, 1u << OPT_CPU | 1u << OPT_GPU, NULL},
    {"mlir", STAGE_DUMP, 1u << OPT_CPU | 1u << OPT_GPU, "emitted.mlir"},
    {"lowered", STAGE_DUMP, 1u << OPT_CPU | 1u << OPT_GPU, "lowered.mlir"},
    {"llvm", STAGE_DUMP, 1u << OPT_CPU | 1u << OPT_GPU, "ll"},
    {"llvm-after-optimizations", STAGE_DUMP, 1u << OPT_CPU | 1u << OPT_GPU, "ll"},
    {"asm", STAGE_DUMP, 1u << OPT_CPU, "s"},
    {"ptx", STAGE_DUMP, 1u << OPT_GPU, "ptx"},
};

enum { PLATFORM_NAMES = sizeof platforms / sizeof *platforms, STAGE_COUNT = sizeof stages / sizeof *stages };

static heddle_status find_platform(const opt_flags *f, opt_platform *out) {
  for (int i = 0; i < PLATFORM_NAMES; i++) {
    if (strcasecmp(f->platform, platforms[i].name) != 0) continue;
    *out = platforms[i].value;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --platform=%s, wanted transforms, cpu or gpu", f->platform);
}

static const char *stage_names(arena *a, opt_platform on, const char *between) {
  const char *names = "";
  for (int i = 0; i < STAGE_COUNT; i++)
    if (stages[i].platforms >> on & 1) names = arena_printf(a, "%s%s%s", names, *names ? between : "", stages[i].name);
  return names;
}

static heddle_status find_stage(arena *a, const opt_flags *f, opt_platform on, const struct stage **out) {
  for (int i = 0; i < STAGE_COUNT; i++) {
    if (strcmp(f->stage, stages[i].name) != 0 || !(stages[i].platforms >> on & 1)) continue;
    *out = &stages[i];
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --stage=%s, wanted for --platform=%s one of: %s", f->stage, f->platform,
                      stage_names(a, on, ", "));
}

// --- passes

static heddle_status print_options(const char *name, hlo_print_options *out) {
  bool is_full = strcmp(name, "full") == 0;
  if (!is_full && strcmp(name, "short") != 0)
    return status_error(HEDDLE_INVALID, "found --print=%s, wanted short or full", name);
  *out = is_full ? HLO_PRINT_FULL : HLO_PRINT_SHORT;
  return status_ok();
}

static bool is_planned(const opt_flags *f) { return strcmp(f->until, "plan") == 0; }

// A platform's passes run unless some are named; planning needs what the pipeline makes.
static heddle_status choose_passes(arena *a, const opt_flags *f, opt_platform on, pass_list *out) {
  const debug_options *d = &f->debug;
  if (f->pipeline || (!f->passes && (on != OPT_TRANSFORMS || is_planned(f))))
    pass_choice_pipeline(a, d->disable_all_hlo_passes ? PASS_NEEDED : PASS_FOLDS, d->disable_hlo_passes,
                         d->enable_hlo_passes_only, out);
  TRY(pass_choice_list(a, f->passes, out));
  vec_push(a, out, NULL);
  return status_ok();
}

static heddle_status run_passes(arena *a, module *m, opt_flags *f, opt_platform on) {
  pass_list passes = {0};
  TRY(choose_passes(a, f, on, &passes));
  heddle_status s = hlo_dump_open(&f->dump, &f->debug, m);
  if (status_is_ok(s)) {
    pass_control *control = pass_flags_open(&f->driver, f->time, false);
    hlo_dump_watch(&f->dump, control);
    s = opt_run(m, passes.data, control);
    pass_times_print(stderr, control);
  }
  heddle_status closed = hlo_dump_close(&f->dump);
  if (status_is_ok(s)) return closed;
  heddle_status_free(closed);
  return s;
}

static void list_passes(void) {
  arena *a = arena_create();
  pass_choice_print_all(a, stdout);
  arena_destroy(a);
}

// --- output

// Every decision as a comment, then the module made of them.
static heddle_status print_plan(module *m, const opt_flags *f, bool is_gpu, bool wants_reasons, text *out) {
  // One thread: the same text on every machine.
  target_description target = is_gpu ? target_gpu() : target_cpu(1);
  target_choose_codegen(&target, f->codegen);
  text reasons = {0};
  if (f->keep_fusions) kept_fusions_settle(m, &target, &debug_compile_remarks);
  heddle_status s = fuse_run(m, &target, NULL, wants_reasons ? &reasons : NULL);
  const char *next = text_cstr(&reasons);
  for (const char *end; status_is_ok(s) && (end = strchr(next, '\n')); next = end + 1)
    text_printf(out, "// %.*s\n", (int)(end - next), next);
  text_free(&reasons);
  TRY(s);
  hlo_print(out, m, f->options);
  return status_ok();
}

static const kept_fusions_report *keeps(const opt_flags *f) { return f->keep_fusions ? &debug_compile_remarks : NULL; }

static heddle_status print_buffers(arena *a, const module *m, opt_flags *f, opt_platform on, text *out) {
  const target_description gpu = target_gpu();
  const compile_options options = {.keep_fusions = keeps(f),
                                   .codegen = f->codegen,
                                   .limit = f->limit,
                                   .threads = 1,
                                   .target = on == OPT_GPU ? &gpu : NULL,
                                   .control = pass_flags_open(&f->driver, f->time, true)};
  compile_times times = {0};
  lhlo_program *plan;
  TRY(compile_plan(a, m, &options, &times, NULL, &plan));
  pass_times_print(stderr, &f->driver.control);
  return lhlo_print(out, plan);
}

typedef struct collector {
  const char *suffix;
  text *out;
} collector;

static void collect(void *argument, const char *name, const char *suffix, str contents) {
  const collector *c = argument;
  (void)name;
  if (strcmp(suffix, c->suffix) != 0) return;
  if (c->out->size) text_puts(c->out, "// -----\n");
  text_append(c->out, contents);
}

// One text per kernel.
static heddle_status print_code(arena *a, const module *m, opt_flags *f, opt_platform on, const char *suffix,
                                text *out) {
  collector c = {suffix, out};
  const target_description gpu = target_gpu();
  const compile_options options = {.exact = !f->debug.allow_excess_precision,
                                   .codegen = f->codegen,
                                   .limit = f->limit,
                                   .keep_fusions = keeps(f),
                                   .control = pass_flags_open(&f->driver, f->time, true),
                                   .threads = 1,
                                   .target = on == OPT_GPU ? &gpu : NULL,
                                   .dump = collect,
                                   .dump_argument = &c};
  compiled program;
  TRY(compile_module(a, m, &options, &program));
  pass_times_print(stderr, &f->driver.control);
  compiled_release(&program);
  return status_ok();
}

// Of a CPU with vectors of 256 bits: the same text on every machine.
static heddle_status print_tiles(arena *a, const module *m, opt_flags *f, text *out) {
  target_description grid;
  const bool is_cpu = strcmp(f->target, "cpu") == 0;
  if (!target_find(str_from(f->target), &grid)) return status_error(HEDDLE_INVALID, "no target %s", f->target);
  const compile_options options = {.codegen = f->codegen == CODEGEN_CHOSEN ? CODEGEN_TILES : f->codegen,
                                   .keep_fusions = keeps(f),
                                   .control = pass_flags_open(&f->driver, f->time, true),
                                   .threads = 1,
                                   .cpu = CPU_LEVEL_V3,
                                   .target = is_cpu ? NULL : &grid};
  compile_times times = {0};
  lhlo_program *plan;
  TRY(compile_plan(a, m, &options, &times, NULL, &plan));
  lower_options lowering = {.target = is_cpu ? target_cpu(1) : grid};
  if (is_cpu) {
    lowering.target.vector_bits = 256;
    lowering.target.has_fma = true;
  }
  return tile_stages_print(plan, f->until, &lowering, out);
}

static heddle_status print_stage(arena *a, module *m, opt_flags *f, opt_platform on, const struct stage *stage,
                                 text *out) {
  if (stage->form == STAGE_DUMP && !f->passes) return print_code(a, m, f, on, stage->suffix, out);
  if (stage->form == STAGE_LHLO && !f->passes) return print_buffers(a, m, f, on, out);
  if (tile_stages_has(f->until)) return print_tiles(a, m, f, out);
  if (f->keep_fusions) kept_fusions_mark(m, &debug_compile_remarks);
  TRY(run_passes(a, m, f, on));
  if (is_planned(f)) return print_plan(m, f, on == OPT_GPU || strcmp(f->target, "nvptx") == 0, true, out);
  if (on != OPT_TRANSFORMS && !f->passes && !f->pipeline) return print_plan(m, f, on == OPT_GPU, false, out);
  hlo_print(out, m, f->options);
  return status_ok();
}

// --- files

static heddle_status run_module(arena *a, const char *path, str bytes, opt_flags *f, text *out) {
  opt_platform on;
  const struct stage *stage;
  TRY(find_platform(f, &on));
  TRY(find_stage(a, f, on, &stage));
  module *m;
  TRY(module_format_read(a, path, bytes, f->format, NULL, &m));
  return f->emit_proto ? proto_write_text(out, m) : print_stage(a, m, f, on, stage, out);
}

// Modules between lines that begin with `// -----`.
static heddle_status run_modules(arena *a, const char *path, str rest, opt_flags *f, text *out) {
  static const char separator[] = "\n// -----";
  while (f->split) {
    const char *end = memmem(rest.data, rest.size, separator, sizeof separator - 1);
    if (!end) break;
    const size_t size = (size_t)(end - rest.data);
    TRY(run_module(a, path, str_copy(a, (str){rest.data, size + 1}), f, out));
    text_puts(out, "\n// -----\n");
    const char *line = memchr(end + 1, '\n', rest.size - size - 1);
    if (!line) line = rest.data + rest.size;
    rest = (str){line, rest.size - (size_t)(line - rest.data)};
  }
  return run_module(a, path, rest, f, out);
}

// Whether --passes can be had is asked here, too, so that a wrong name is a wrong command line.
static heddle_status check_names(arena *a, const opt_flags *f) {
  opt_platform on;
  const struct stage *stage;
  pass_list passes = {0};
  TRY(find_platform(f, &on));
  TRY(find_stage(a, f, on, &stage));
  const bool is_from_plan = !f->passes && (stage->form == STAGE_DUMP || stage->form == STAGE_LHLO);
  if (f->limit_text && !is_from_plan)
    return status_error(HEDDLE_INVALID,
                        "found --memory-limit, which what is printed knows nothing of, wanted --platform=cpu and "
                        "--stage=buffer-assignment or a later one");
  return pass_choice_list(a, f->passes, &passes);
}

static heddle_status check_flags(void *argument) {
  opt_flags *f = argument;
  TRY(print_options(f->print, &f->options));
  TRY(codegen_flag_take(f->codegen_name, &f->codegen));
  TRY(memory_flag_take(f->limit_text, &f->limit));
  if (!is_planned(f) && strcmp(f->until, "hlo") != 0 && !tile_stages_has(f->until))
    return status_error(HEDDLE_INVALID, "found --until=%s, wanted hlo, plan or one of " TILE_STAGES, f->until);
  const bool is_vulkan = strcmp(f->target, "vulkan") == 0 && tile_stages_has(f->until);
  if (strcmp(f->target, "nvptx") != 0 && strcmp(f->target, "cpu") != 0 && !is_vulkan)
    return status_error(HEDDLE_INVALID, "found --target=%s, wanted cpu, nvptx or, with a stage of tiles, vulkan",
                        f->target);
  TRY(module_format_check("format", f->format));
  TRY(hlo_dump_check(&f->debug));
  TRY(pass_flags_check(&f->driver, PASS_FLAGS_HLO | (f->passes || f->pipeline ? 0 : PASS_FLAGS_MLIR)));
  arena *scratch = arena_create();
  heddle_status s = check_names(scratch, f);
  arena_destroy(scratch);
  return s;
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  opt_flags *f = argument;
  log_set_level(f->v);
  opt_platform on;
  TRY(find_platform(f, &on));
  if (f->list) list_passes();
  if (f->list_stages) printf("%s\n", stage_names(a, on, "\n"));
  if (f->list || f->list_stages) return status_ok();
  if (f->passes && strcmp(f->stage, "hlo") != 0)
    fprintf(stderr, "warning: --stage has no effect: --passes says what is printed\n");
  debug_options_warn(&f->debug);
  str bytes;
  TRY(file_read(a, path, &bytes));
  text t = {0};
  heddle_status s = run_modules(a, path, bytes, f, &t);
  if (status_is_ok(s)) s = file_write(f->output, text_view(&t));
  text_free(&t);
  return s;
}

int main(int argc, char **argv) {
  opt_flags f = {.print = "short",
                 .until = "hlo",
                 .target = "cpu",
                 .output = "-",
                 .platform = "transforms",
                 .stage = "hlo",
                 .format = "auto",
                 .driver = PASS_FLAGS_DEFAULT,
                 .debug = DEBUG_OPTIONS_DEFAULT};
  const flag flags[] = {
      {"platform", FLAG_TEXT, &f.platform, "NAME",
       "cpu, gpu: compile for it up to --stage; transforms: only what is asked for (transforms)"},
      {"stage", FLAG_TEXT, &f.stage, "NAME", "what to print of a compilation: see --list-stages (hlo)"},
      {"list-stages", FLAG_BOOL, &f.list_stages, NULL, "list the stages of the platform and stop"},
      {"format", FLAG_TEXT, &f.format, "FORMAT", MODULE_FORMATS},
      {"split-input-file", FLAG_BOOL, &f.split, NULL, "the file's modules stand between lines `// -----`"},
      {"emit-proto", FLAG_BOOL, &f.emit_proto, NULL, "print an HLO proto as text; no passes run"},
      {"passes", FLAG_TEXT, &f.passes, "NAME,NAME", "run these passes, by our names or XLA's, in this order"},
      {"pipeline", FLAG_BOOL, &f.pipeline, NULL, "run the whole pipeline"},
      {"list-passes", FLAG_BOOL, &f.list, NULL, "list the passes and stop"},
      {"keep-fusions", FLAG_BOOL, &f.keep_fusions, NULL, KEEP_FUSIONS_HELP},
      PASS_FLAGS(f.driver),
      {"time", FLAG_BOOL, &f.time, NULL, "seconds per pass on standard error"},
      {"print", FLAG_TEXT, &f.print, "short|full", "how to print: full has % signs and operand shapes (short)"},
      {"until", FLAG_TEXT, &f.until, "hlo|plan|" TILE_STAGES,
       "plan: print what the planner decides instead; from dispatch on: of kernels that go through linalg (hlo)"},
      {"target", FLAG_TEXT, &f.target, "cpu|nvptx|vulkan",
       "what --until=plan (but not for vulkan) and the stages of tiles are for (cpu)"},
      CODEGEN_FLAG(f.codegen_name),
      MEMORY_FLAG(f.limit_text),
      DEBUG_OPTIONS_FILE(f.debug),
      {"o", FLAG_TEXT, &f.output, "FILE", "where to write (standard output)"},
      {"v", FLAG_SIZE, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {
      "hlo-opt [FILE] [flags]",
      "Reads HLO modules (standard input without FILE), verifies them, runs passes, prints them.", flags, check_flags,
      NULL};
  return debug_options_main(&line, &f.debug, argc - 1, argv + 1, "-", run_file, &f);
}
