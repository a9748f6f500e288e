// hlo-opt: reads an HLO module, verifies it, runs HLO passes on it, prints it.
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/text.h"
#include "import/import.h"
#include "opt/pass.h"
#include "plan/fuse.h"
#include "tools/flags.h"

typedef struct opt_flags {
  const char *passes, *print, *until, *target, *output;
  bool list, pipeline, print_all;
  int v;
} opt_flags;

typedef VEC(const opt_pass *) pass_list;

static heddle_status print_options(const char *name, hlo_print_options *out) {
  bool is_full = strcmp(name, "full") == 0;
  if (!is_full && strcmp(name, "short") != 0)
    return status_error(HEDDLE_INVALID, "found --print=%s, wanted short or full", name);
  *out = is_full ? HLO_PRINT_FULL : HLO_PRINT_SHORT;
  return status_ok();
}

// "call-inliner,dead-code".
static heddle_status choose_passes(arena *a, const opt_flags *f, pass_list *out) {
  // Planning needs what the pipeline makes.
  bool is_planned = strcmp(f->until, "plan") == 0 && !f->passes;
  for (const opt_pass *p = opt_passes; (f->pipeline || is_planned) && p->name; p++)
    if (p->use != OPT_ON_REQUEST || f->pipeline) vec_push(a, out, p);
  for (const char *next = f->passes; next && *next;) {
    const char *end = strchrnul(next, ',');
    str name = {next, (size_t)(end - next)};
    const opt_pass *p = opt_pass_find(name);
    if (!p)
      return status_error(HEDDLE_INVALID, "found pass " STR_FMT ", wanted one that --list-passes shows", STR_ARG(name));
    vec_push(a, out, p);
    next = *end ? end + 1 : end;
  }
  return status_ok();
}

static void print_after(void *argument, const opt_pass *pass, const module *m) {
  const opt_flags *f = argument;
  if (!f->print_all) return;
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  fprintf(stderr, "// ----- after %s -----\n%s", pass->name, text_cstr(&t));
  text_free(&t);
}

// Every decision as a comment, then the module made of them.
static heddle_status print_plan(module *m, const opt_flags *f, hlo_print_options options, text *out) {
  bool is_gpu = strcmp(f->target, "nvptx") == 0;
  if (!is_gpu && strcmp(f->target, "cpu") != 0)
    return status_error(HEDDLE_INVALID, "found --target=%s, wanted cpu or nvptx", f->target);
  // One thread: the same text on every machine.
  const plan_target target = is_gpu ? plan_target_gpu() : plan_target_cpu(1);
  text reasons = {0};
  heddle_status s = plan_fuse(m, &target, &reasons);
  const char *next = text_cstr(&reasons);
  for (const char *end; status_is_ok(s) && (end = strchr(next, '\n')); next = end + 1)
    text_printf(out, "// %.*s\n", (int)(end - next), next);
  text_free(&reasons);
  TRY(s);
  hlo_print(out, m, options);
  return status_ok();
}

static void list_passes(void) {
  for (const opt_pass *p = opt_passes; p->name; p++) printf("  %-16s %s\n", p->name, p->summary);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  opt_flags *f = argument;
  log_set_level(f->v);
  if (f->list) {
    list_passes();
    return status_ok();
  }
  hlo_print_options options = HLO_PRINT_SHORT;
  pass_list passes = {0};
  TRY(print_options(f->print, &options));
  TRY(choose_passes(a, f, &passes));
  if (strcmp(f->until, "hlo") != 0 && strcmp(f->until, "plan") != 0)
    return status_error(HEDDLE_INVALID, "found --until=%s, wanted hlo or plan", f->until);
  module *m;
  TRY(import_file(a, path, NULL, &m));
  TRY(opt_run(m, passes.data, passes.size, print_after, f));
  text t = {0};
  heddle_status s = status_ok();
  if (strcmp(f->until, "plan") == 0) s = print_plan(m, f, options, &t);
  else hlo_print(&t, m, options);
  if (status_is_ok(s)) s = file_write(f->output, text_view(&t));
  text_free(&t);
  return s;
}

int main(int argc, char **argv) {
  opt_flags f = {.print = "short", .until = "hlo", .target = "cpu", .output = "-"};
  const flag flags[] = {
      {"passes", FLAG_TEXT, &f.passes, "NAME,NAME", "run these passes, in this order"},
      {"pipeline", FLAG_BOOL, &f.pipeline, NULL, "run the whole pipeline"},
      {"list-passes", FLAG_BOOL, &f.list, NULL, "list the passes and stop"},
      {"print-after-all", FLAG_BOOL, &f.print_all, NULL, "print the module after each pass on standard error"},
      {"print", FLAG_TEXT, &f.print, "short|full", "how to print: full has % signs and operand shapes (short)"},
      {"until", FLAG_TEXT, &f.until, "hlo|plan", "plan: print what the planner decides instead (hlo)"},
      {"target", FLAG_TEXT, &f.target, "cpu|nvptx", "what to plan for (cpu)"},
      {"o", FLAG_TEXT, &f.output, "FILE", "where to write (standard output)"},
      {"v", FLAG_INT, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {"hlo-opt [FILE] [flags]",
                             "Reads an HLO module (standard input without FILE), verifies it, runs passes, prints it.",
                             flags};
  return command_main(&line, argc - 1, argv + 1, "-", run_file, &f);
}
