// hlo-smith: random HLO modules, printed or put to the test.
//
// A check sends a module through something that must not change its results (text, protos, StableHLO, the passes) and
// compares the interpreter's results before and after, to the bit but for zeros' signs; or it runs the module on the
// CPU and compares with the interpreter, within what the module's operations may differ by. What fails is shrunk,
// printed and kept as a file that run_hlo_module takes.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "import/hlo_proto.h"
#include "import/hlo_to_stablehlo.h"
#include "import/import.h"
#include "import/mlir_print.h"
#include "opt/pass.h"
#include "tools/execute.h"
#include "tools/flags.h"
#include "tools/smith.h"
#include "tools/smith_shrink.h"
#include "tools/tolerance.h"

enum { ARGUMENT_SEED = 42, SHRINK_TRIES = 3000, MAX_STEPS = 200000, CPU_THREADS = 2 };
// What a child may take: of the processor, and, where it waits for ever, by the clock, which runs on a busy machine
// too.
enum { CHILD_CPU_SECONDS = 60, CHILD_SECONDS = 900 };
enum { CHILD_PASSED, CHILD_FAILED, CHILD_REFUSED };

typedef struct smith_flags {
  int seed, count, instructions, elements, rank, v;
  const char *types, *mix, *check, *folder;
  bool kinds;
} smith_flags;

// --- checks: ways through which a module's meaning stays

static heddle_status through_text(arena *a, const module *m, module **out) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_FULL);
  heddle_status s = hlo_parse(a, "printed", str_copy(a, text_view(&t)), out);
  text_free(&t);
  return status_is_ok(s) ? module_compare(m, *out) : s;
}

static heddle_status through_passes(arena *a, const module *m, module **out) {
  *out = module_clone(a, m);
  return opt_run_pipeline(*out, false, NULL, NULL);
}

static heddle_status read_back(arena *a, heddle_status written, text *t, module **out) {
  if (status_is_ok(written)) written = import_module(a, "written", str_copy(a, text_view(t)), NULL, out);
  text_free(t);
  return written;
}

static heddle_status through_proto(arena *a, const module *m, module **out) {
  text t = {0};
  return read_back(a, hlo_proto_write(&t, m), &t, out);
}

static heddle_status through_pbtxt(arena *a, const module *m, module **out) {
  text t = {0};
  return read_back(a, hlo_proto_write_text(&t, m), &t, out);
}

static heddle_status through_stablehlo(arena *a, const module *m, module **out) {
  text t = {0};
  ir_module *converted;
  heddle_status s = hlo_to_stablehlo(a, m, &converted);
  if (status_is_ok(s)) mlir_print_module(&t, converted, NULL);
  return read_back(a, s, &t, out);
}

typedef struct check {
  const char *name;
  heddle_status (*through)(arena *a, const module *m, module **out);  // null: compiled and run on the CPU
} check;

static const check checks[] = {{"text", through_text},   {"passes", through_passes},       {"proto", through_proto},
                               {"pbtxt", through_pbtxt}, {"stablehlo", through_stablehlo}, {"cpu", NULL}};

static heddle_status find_check(const char *name, const check **out) {
  for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
    *out = &checks[k];
    if (strcmp(name, checks[k].name) == 0) return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --check=%s, wanted text, passes, proto, pbtxt, stablehlo or cpu", name);
}

static heddle_status evaluate(arena *a, const module *m, const argument_list *arguments, literal **result) {
  return interpret_module(a, m, &(eval_options){.max_steps = MAX_STEPS}, arguments, result);
}

static heddle_status run_changed(arena *a, const check *c, const module *m, const argument_list *arguments,
                                 bool *is_refused, literal **result) {
  module *changed;
  heddle_status s;
  if (c->through) s = c->through(a, m, &changed);
  else
    s = execute_module(a, m, PLATFORM_CPU, &(compile_options){.exact = true, .threads = CPU_THREADS}, arguments,
                       result);
  *is_refused = heddle_status_code(s) == HEDDLE_UNIMPLEMENTED;
  TRY(status_context(s, "while going through %s", c->name));
  return c->through ? status_context(evaluate(a, changed, arguments, result), "behind %s", c->name) : s;
}

// *is_usable tells a module that the interpreter or the other format refuses by name from one that fails the check.
static heddle_status put_to_test_here(const check *c, const module *m, bool *is_usable) {
  arena *a = arena_create();
  argument_list arguments;
  literal *before, *after;
  bool is_refused = false;
  heddle_status s = random_arguments(a, m, ARGUMENT_SEED, false, &arguments);
  if (status_is_ok(s)) s = evaluate(a, m, &arguments, &before);
  *is_usable = status_is_ok(s);
  if (status_is_ok(s)) s = run_changed(a, c, m, &arguments, &is_refused, &after);
  *is_usable = *is_usable && !is_refused;
  tolerance t = c->through ? (tolerance){0} : tolerance_for_module(m, true);
  if (status_is_ok(s))
    s = status_context(compare_results(a, after, before, t.relative, t.absolute), "results differ behind %s", c->name);
  arena_destroy(a);
  return s;
}

// In the child: the verdict as an exit status, the message through the pipe.
_Noreturn static void judge(const check *c, const module *m, int message) {
  bool is_usable;
  const struct rlimit limit = {CHILD_CPU_SECONDS, CHILD_CPU_SECONDS};
  (void)setrlimit(RLIMIT_CPU, &limit);
  alarm(CHILD_SECONDS);
  heddle_status s = put_to_test_here(c, m, &is_usable);
  const char *text = status_is_ok(s) ? "" : status_brief(s);
  ssize_t written = write(message, text, strlen(text));
  _exit(status_is_ok(s) || written < 0 ? CHILD_PASSED : is_usable ? CHILD_FAILED : CHILD_REFUSED);
}

// What compiled code or the compiler do wrong may end a process, so that it is another one's.
static heddle_status put_to_test_apart(const check *c, const module *m, bool *is_usable) {
  int ends[2], status = 0;
  *is_usable = true;
  if (pipe(ends) != 0) return status_error(HEDDLE_INTERNAL, "no pipe");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) judge(c, m, ends[1]);
  close(ends[1]);
  char message[4096];
  size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < sizeof message - 1; size += (size_t)got) {
    got = read(ends[0], message + size, sizeof message - 1 - size);
    if (got < 0) got = 0;
  }
  message[size] = 0;
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) return status_error(HEDDLE_INTERNAL, "no process");
  *is_usable = !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_REFUSED;
  if (WIFSIGNALED(status)) return status_error(HEDDLE_INTERNAL, "signal %d ends the process", WTERMSIG(status));
  if (WEXITSTATUS(status) == CHILD_PASSED) return status_ok();
  return status_error(HEDDLE_INVALID, "%s", size > 0 ? message : "the process ends in the middle");
}

static heddle_status put_to_test(const check *c, const module *m, bool *is_usable) {
  return c->through ? put_to_test_here(c, m, is_usable) : put_to_test_apart(c, m, is_usable);
}

static bool still_fails(void *context, const module *m) {
  bool is_usable;
  heddle_status s = put_to_test(context, m, &is_usable);
  bool fails = !status_is_ok(s) && is_usable;
  heddle_status_free(s);
  return fails;
}

// --- the tool

static smith_options options_of(const smith_flags *f, int number) {
  smith_options o = smith_defaults();
  o.seed = (uint64_t)f->seed + (uint64_t)number;
  o.instructions = f->instructions;
  o.elements = f->elements;
  o.rank = f->rank;
  o.mix = f->mix;
  return o;
}

static heddle_status write_module(arena *a, const smith_flags *f, const module *m, const char *prefix) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  const char *path = f->folder ? arena_printf(a, "%s/%s" STR_FMT ".hlo", f->folder, prefix, STR_ARG(m->name)) : "-";
  heddle_status s = file_write(path, text_view(&t));
  text_free(&t);
  return s;
}

static heddle_status report_failure(arena *a, const smith_flags *f, const check *c, const module *m,
                                    heddle_status failure) {
  fprintf(stderr, "seed %s fails: %s", arena_printf(a, STR_FMT, STR_ARG(m->name)), heddle_status_message(failure));
  module *small = smith_shrink(a, m, still_fails, (void *)c, SHRINK_TRIES);
  fprintf(stderr, "shrunk from %d to %d instructions:\n", m->entry->instructions.size, small->entry->instructions.size);
  bool is_usable;
  heddle_status_free(failure);
  failure = put_to_test(c, small, &is_usable);
  fprintf(stderr, "%s", heddle_status_message(failure));
  heddle_status_free(failure);
  return write_module(a, f, small, "failed_");
}

typedef struct tally {
  int passed, failed, skipped;
} tally;

static heddle_status run_one(const smith_flags *f, const check *c, uint64_t types, int number, tally *t) {
  arena *a = arena_create();
  smith_options options = options_of(f, number);
  options.dtypes = types;
  module *m;
  heddle_status s = smith_make(a, &options, &m);
  if (status_is_ok(s) && !c) {
    s = write_module(a, f, m, "");
  } else if (status_is_ok(s)) {
    bool is_usable;
    heddle_status failure = put_to_test(c, m, &is_usable);
    bool is_ok = status_is_ok(failure);
    t->passed += is_ok;
    t->failed += !is_ok && is_usable;
    t->skipped += !is_ok && !is_usable;
    if (!is_ok && is_usable) s = report_failure(a, f, c, m, failure);
    else if (!is_ok && f->v > 0) fprintf(stderr, "skipped: %s", heddle_status_message(failure));
    if (!is_ok && !is_usable) heddle_status_free(failure);
  }
  arena_destroy(a);
  return s;
}

static void list_kinds(void) {
  text t = {0};
  smith_print_kinds(&t);
  fputs(text_cstr(&t), stdout);
  text_free(&t);
}

static heddle_status run_tool(arena *a, const char *file, void *argument) {
  const smith_flags *f = argument;
  const check *c = NULL;
  uint64_t types;
  tally t = {0};
  (void)a;
  (void)file;
  if (f->kinds) {
    list_kinds();
    return status_ok();
  }
  TRY(smith_dtypes(f->types, &types));
  if (f->check[0]) TRY(find_check(f->check, &c));
  if (f->folder) TRY(file_make_folder(f->folder));
  if (f->count < 1 || f->instructions < 1 || f->elements < 1 || f->rank < 0)
    return status_error(HEDDLE_INVALID, "--count, --instructions and --elements must be at least 1, --rank 0");
  for (int k = 0; k < f->count; k++) {
    TRY(run_one(f, c, types, k, &t));
    if (c && (k + 1) % 500 == 0) fprintf(stderr, "%d of %d\n", k + 1, f->count);
  }
  if (!c) return status_ok();
  if (t.skipped) printf("%d refused by name\n", t.skipped);
  printf("%d passed, %d failed\n", t.passed, t.failed);
  return t.failed ? status_error(HEDDLE_INVALID, "%d modules changed their meaning", t.failed) : status_ok();
}

int main(int argc, char **argv) {
  smith_flags f = {.seed = 1, .count = 1, .instructions = 30, .elements = 64, .rank = 4, .types = "all", .check = ""};
  const flag flags[] = {
      {"seed", FLAG_INT, &f.seed, "N", "the first module's seed (1); same seed, same module"},
      {"count", FLAG_INT, &f.count, "N", "how many modules, with seeds one after the other (1)"},
      {"instructions", FLAG_INT, &f.instructions, "N", "operations a module (30)"},
      {"elements", FLAG_INT, &f.elements, "N", "the most elements of an array (64)"},
      {"rank", FLAG_INT, &f.rank, "N", "the highest rank of an array (4; at most 8)"},
      {"types", FLAG_TEXT, &f.types, "LIST", "element types, as f32,s32,pred (all)"},
      {"mix", FLAG_TEXT, &f.mix, "LIST", "weights of operations: dot=5,sort=0; none first: the others are 0"},
      {"kinds", FLAG_BOOL, &f.kinds, NULL, "list the kinds of operations with their weights and stop"},
      {"check", FLAG_TEXT, &f.check, "WAY", "text, passes, proto, pbtxt, stablehlo or cpu: compare results behind it"},
      {"o", FLAG_TEXT, &f.folder, "FOLDER", "where modules go, or those that failed (standard output)"},
      {"v", FLAG_INT, &f.v, "LEVEL", "1: say why a module is skipped"},
      {0},
  };
  const command_line line = {"hlo-smith [flags]", "Makes random HLO modules, and checks what must not change them.",
                             flags};
  return command_main_no_file(&line, argc - 1, argv + 1, run_tool, &f);
}
