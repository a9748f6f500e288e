// The public call that shows a compiled program's stages (include/heddle/heddle.h).
#include <string.h>

#include "api/handle.h"
#include "api/open_text.h"
#include "base/guard.h"
#include "hlo/text.h"
#include "prog/program_print.h"
#include "rt/text_copy.h"

// One stage of a program, on its way into a text of the caller's.
typedef struct request {
  const compiled_program *program;
  const char *suffix;  // under which the compiler dumps it; null: it is no dump
  text made;
  char *out;
} request;

static void collect(void *argument, const char *name, const char *suffix, str contents) {
  (void)name;
  request *r = argument;
  if (strcmp(suffix, r->suffix) == 0) text_append(&r->made, contents);
}

static heddle_status write_hlo(request *r, arena *a) {
  (void)a;
  hlo_print(&r->made, r->program->code.source, HLO_PRINT_SHORT);
  return status_ok();
}

static heddle_status write_fused(request *r, arena *a) {
  (void)a;
  hlo_print(&r->made, r->program->code.plan->module, HLO_PRINT_SHORT);
  return status_ok();
}

static heddle_status write_lhlo(request *r, arena *a) {
  (void)a;
  return lhlo_print(&r->made, r->program->code.plan);
}

static heddle_status write_program(request *r, arena *a) {
  (void)a;
  program_print(&r->made, &r->program->code.program);
  return status_ok();
}

// Reasons are not kept: the front half tells them again.
static heddle_status write_plan(request *r, arena *a) {
  const compiled *code = &r->program->code;
  const lhlo_program *plan = code->plan;
  lhlo_program *again;
  compile_times times = {0};
  if (code->source) TRY(compile_plan(a, code->source, &r->program->options, &times, &r->made, &again));
  for (int i = 0; i < plan->kernel_count; i++) kernel_plan_print(&r->made, &plan->target, plan->kernels[i]);
  return status_ok();
}

// Neither is what a kernel was on its way to code: the back half makes it again.
static heddle_status write_kernels(request *r, arena *a) {
  compile_options options = r->program->options;
  options.dump = collect;
  options.dump_argument = r;
  compiled again;
  TRY(compile_lhlo(a, r->program->code.plan, &options, &again));
  compiled_release(&again);
  return status_ok();
}

// --- the same of a program for open sizes, with its symbols

static heddle_status print_hlo(text *out, const open_sample *sample) {
  hlo_print(out, sample->module, HLO_PRINT_SHORT);
  return status_ok();
}

static heddle_status print_fused(text *out, const open_sample *sample) {
  hlo_print(out, sample->plan->module, HLO_PRINT_SHORT);
  return status_ok();
}

static const struct stage {
  const char *name;
  heddle_status (*write)(request *r, arena *a);
  const char *suffix;
  bool of_module;           // programs written as LHLO have not gone through it
  open_text_fn print_open;  // null: `write` prints kernels, which no size changes
  bool of_host;             // kernels of devices do not go through it
} stages[] = {
    {"hlo", write_hlo, NULL, true, print_hlo},
    {"fused", write_fused, NULL, true, print_fused},
    {"plan", write_plan, NULL, false, open_text_plan},
    {"lhlo", write_lhlo, NULL, false, open_text_lhlo},
    {"program", write_program, NULL, false, open_text_program},
    {"mlir", write_kernels, "emitted.mlir", false, NULL},
    {"lowered", write_kernels, "lowered.mlir", false, NULL},
    {.name = "llvm", .write = write_kernels, .suffix = "ll", .of_host = true},
    {.name = "asm", .write = write_kernels, .suffix = "s", .of_host = true},
};

enum { STAGE_COUNT = sizeof stages / sizeof *stages };

static const struct stage *find_stage(const char *name) {
  for (int i = 0; i < STAGE_COUNT; i++)
    if (strcmp(name, stages[i].name) == 0) return &stages[i];
  return NULL;
}

typedef struct writing {
  request request;
  const struct stage *stage;
} writing;

static heddle_status write_stage(void *argument) {
  writing *w = argument;
  arena *a = arena_create();
  const compiled *code = &w->request.program->code;
  heddle_status s = code->is_open && w->stage->print_open
                        ? open_text_print(a, &w->request.made, code, w->stage->print_open)
                        : w->stage->write(&w->request, a);
  if (status_is_ok(s)) s = text_copy_give(&w->request.made, &w->request.out);
  text_free(&w->request.made);
  arena_destroy(a);
  return s;
}

heddle_status heddle_program_text(const heddle_program *program, const char *stage, char **out) {
  if (!program || !stage || !out)
    return status_error(HEDDLE_INVALID, "heddle_program_text: found null for the program, the stage or the text");
  *out = NULL;
  writing w = {.stage = find_stage(stage)};
  if (!w.stage)
    return status_error(HEDDLE_INVALID,
                        "found the stage \"%s\", wanted hlo, fused, plan, lhlo, program, mlir, lowered, llvm or asm",
                        stage);
  const compiled_program *compiled = handle_compiled(program);
  if (!compiled) return status_error(HEDDLE_INVALID, "the program was loaded: it has no stage \"%s\"", stage);
  if (w.stage->of_module && !compiled->code.source)
    return status_error(HEDDLE_INVALID, "the program was written as LHLO: it has no stage \"%s\"", stage);
  if (w.stage->of_host && !compiled->code.plan->target.is_host)
    return status_error(HEDDLE_INVALID, "the program is for %s: it has no stage \"%s\"",
                        heddle_program_platform(program), stage);
  w.request = (request){.program = compiled, .suffix = w.stage->suffix};
  TRY(guard_run(write_stage, NULL, &w));
  *out = w.request.out;
  return status_ok();
}
