// On the stream each text follows a line that says what it is. In the folder each is a file NAME.SUFFIX; the
// passes of one kernel are one file, KERNEL.mlir-passes.log.
#include "tools/compile_log.h"

#include <stdio.h>

#include "base/file.h"

static void print_text(FILE *out, const char *title, const char *name, str contents) {
  fprintf(out, "// ----- %s: %s -----\n" STR_FMT, name, title, STR_ARG(contents));
  if (contents.size && contents.data[contents.size - 1] != '\n') putc('\n', out);
}

static void write_text(compile_log *log, const char *name, const char *suffix, str contents) {
  heddle_status s = file_write(arena_printf(log->names, "%s/%s.%s", log->folder, name, suffix), contents);
  if (status_is_ok(log->failed)) log->failed = s;
  else heddle_status_free(s);
}

void compile_log_add(compile_log *log, const char *name, const char *suffix, str contents) {
  if (log->out) print_text(log->out, suffix, name, contents);
  if (log->folder) write_text(log, name, suffix, contents);
}

// The next text belongs to another stage: the passes are through.
static void end_passes(compile_log *log) {
  if (log->passes.size && log->folder) write_text(log, log->kernel, "mlir-passes.log", text_view(&log->passes));
  text_free(&log->passes);
}

static void add_stage(void *argument, const char *name, const char *suffix, str contents) {
  compile_log *log = argument;
  end_passes(log);
  log->kernel = arena_strdup(log->names, name, strlen(name));
  if (contents.size) compile_log_add(log, name, suffix, contents);
  if (log->next) log->next(log->next_argument, name, suffix, contents);
}

static void add_pass(void *argument, const pass *p, const pass_unit_kind *kind, const void *ir) {
  compile_log *log = argument;
  arena *scratch = arena_create();
  text contents = {0};
  kind->print(ir, &contents);
  if (log->out) print_text(log->out, arena_printf(scratch, "IR after %s", p->name), log->kernel, text_view(&contents));
  text_printf(&log->passes, "// ----- IR after %s -----\n%s\n", p->name, text_cstr(&contents));
  text_free(&contents);
  arena_destroy(scratch);
}

heddle_status compile_log_open(compile_log *log, FILE *out, const char *folder) {
  *log = (compile_log){.out = out, .folder = folder, .kernel = "", .names = arena_create()};
  log->watcher = (pass_watcher){.kind = &lower_operations, .changes = true, .see = add_pass, .argument = log};
  return folder ? file_make_folder(folder) : status_ok();
}

void compile_log_attach(compile_log *log, compile_options *options) {
  if (!log->out && !log->folder) return;
  log->next = options->dump;
  log->next_argument = options->dump_argument;
  pass_control_add(options->control, &log->watcher);
  options->dump = add_stage;
  options->dump_argument = log;
}

heddle_status compile_log_close(compile_log *log) {
  end_passes(log);
  arena_destroy(log->names);
  return log->failed;
}
