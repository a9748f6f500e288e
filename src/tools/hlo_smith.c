// hlo-smith: random HLO modules, printed or put to the test.
//
// A check sends a module through something that must not change its results (text, protos, StableHLO, the passes) and
// compares the interpreter's results before and after, to the bit but for zeros' signs; or it runs the module on the
// CPU and compares with the interpreter, each element within what the operations behind it may differ by. What fails is
// shrunk, printed and kept as a file that run_hlo_module takes. --mutants measures what that comparison sees.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "import/import.h"
#include "mlir/print.h"
#include "opt/pass.h"
#include "proto/proto.h"
#include "stablehlo/hlo_to_stablehlo.h"
#include "tools/cpu_flag.h"
#include "tools/execute.h"
#include "tools/flags.h"
#include "tools/memory_flag.h"
#include "tools/open_run.h"
#include "tools/smith.h"
#include "tools/smith_mutants.h"
#include "tools/smith_open.h"
#include "tools/smith_pool.h"
#include "tools/smith_shrink.h"
#include "tools/smith_sight.h"

enum { MUTANTS_EACH = 20, MUTANTS_PERCENT = 95 };
enum { OPEN_EACH = 3 };  // instructions of an operation on open sizes
enum { ARGUMENT_SEED = 42, SHRINK_TRIES = 3000, MAX_STEPS = 200000, CPU_THREADS = 2 };
// What a child may take: of the processor, and, where it waits for ever, by the clock, which runs on a busy machine
// too.
enum { CHILD_CPU_SECONDS = 60, CHILD_SECONDS = 900 };
enum { CHILD_PASSED, CHILD_FAILED, CHILD_REFUSED };

typedef struct smith_flags {
  int seed, count, instructions, elements, rank, v;
  const char *types, *mix, *check_name, *folder, *mutate, *cpu;
  const struct check *check;        // that `check_name` names, or null
  uint64_t dtypes;                  // that `types` names
  bool kinds, mutants, is_default;  // is_default: bounds of mutants are those of cpu-default
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
  return opt_run_pipeline(*out, NULL);
}

static heddle_status read_back(arena *a, heddle_status written, text *t, module **out) {
  if (status_is_ok(written)) written = import_module(a, "written", str_copy(a, text_view(t)), NULL, out);
  text_free(t);
  return written;
}

static heddle_status through_proto(arena *a, const module *m, module **out) {
  text t = {0};
  return read_back(a, proto_write(&t, m), &t, out);
}

static heddle_status through_pbtxt(arena *a, const module *m, module **out) {
  text t = {0};
  return read_back(a, proto_write_text(&t, m), &t, out);
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
  heddle_status (*through)(arena *a, const module *m, module **out);  // null: compiled and run
  platform on;                                                        // where, if it is
  bool is_exact;                                                      // and how
  target_codegen codegen;                                             // by whom
  bool is_limited;                                                    // to a part of the memory that it takes
  bool is_open;  // programs of their own, with open sizes, compiled once and run at several
} check;

static const check checks[] = {
    {.name = "text", .through = through_text},
    {.name = "passes", .through = through_passes},
    {.name = "proto", .through = through_proto},
    {.name = "pbtxt", .through = through_pbtxt},
    {.name = "stablehlo", .through = through_stablehlo},
    {.name = "cpu", .on = PLATFORM_CPU, .is_exact = true},
    {.name = "cpu-default", .on = PLATFORM_CPU},
    {.name = "tiles", .on = PLATFORM_CPU, .is_exact = true, .codegen = CODEGEN_TILES},
    {.name = "tiles-default", .on = PLATFORM_CPU, .codegen = CODEGEN_TILES},
    {.name = "limits", .on = PLATFORM_CPU, .is_exact = true, .is_limited = true},
    {.name = "limits-default", .on = PLATFORM_CPU, .is_limited = true},
    {.name = "simulator", .on = PLATFORM_SIMULATOR, .is_exact = true},
    {.name = "simulator-default", .on = PLATFORM_SIMULATOR},
    {.name = "simulator-tiles", .on = PLATFORM_SIMULATOR, .is_exact = true, .codegen = CODEGEN_TILES},
    {.name = "open", .is_exact = true, .is_open = true},
    {.name = "vulkan", .on = PLATFORM_VULKAN, .is_exact = true},
    {.name = "vulkan-default", .on = PLATFORM_VULKAN},
    {.name = "vulkan-tiles", .on = PLATFORM_VULKAN, .is_exact = true, .codegen = CODEGEN_TILES},
};

static heddle_status find_check(const char *name, const check **out) {
  for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
    *out = &checks[k];
    if (strcmp(name, checks[k].name) == 0) return status_ok();
  }
  return status_error(
      HEDDLE_INVALID,
      "found --check=%s, wanted text, passes, proto, pbtxt, stablehlo, cpu, cpu-default, tiles, tiles-default, "
      "limits, limits-default, simulator, simulator-default, simulator-tiles, open, vulkan, vulkan-default or "
      "vulkan-tiles",
      name);
}

static heddle_status evaluate(arena *a, const module *m, const argument_list *arguments, literal **result) {
  return execute_in_interpreter(a, m, &(eval_options){.max_steps = MAX_STEPS}, arguments, result);
}

// Limits that the module's name draws: between 5 and 99 percent, and for one in four between 20 and 99 percent of what
// one step touches as well.
static memory_limit limit_of(const module *m) {
  const uint64_t bits = str_hash(m->name);
  memory_limit limit = {.levels = {[MEMORY_DRAM] = {.percent = 5 + (double)(bits >> 7 & 1023) * 94 / 1023}}};
  if ((bits >> 20 & 3) == 0) limit.levels[MEMORY_L2].percent = 20 + (double)(bits >> 24 & 1023) * 79 / 1023;
  return limit;
}

// Within the limit, or refused at a place in the text.
static heddle_status run_limited(arena *a, const check *c, const module *m, const argument_list *arguments,
                                 bool *is_refused, literal **result) {
  module *read;
  compiled program = {0};
  TRY(through_text(a, m, &read));
  const compile_options options = {.exact = c->is_exact, .threads = CPU_THREADS, .limit = limit_of(m)};
  heddle_status s = compile_module(a, read, &options, &program);
  const heddle_code code = heddle_status_code(s);
  *is_refused = code == HEDDLE_UNIMPLEMENTED || (code == HEDDLE_OUT_OF_MEMORY && status_where(s).line > 0);
  TRY(s);
  s = memory_flag_run(a, &program, arguments->count, arguments->values, result);
  compiled_release(&program);
  return s;
}

static heddle_status run_changed(arena *a, const check *c, const module *m, const argument_list *arguments,
                                 bool *is_refused, literal **result) {
  module *changed;
  heddle_status s;
  if (c->is_limited) return run_limited(a, c, m, arguments, is_refused, result);
  if (c->through) s = c->through(a, m, &changed);
  else
    s = execute_module(a, m, c->on,
                       &(compile_options){.exact = c->is_exact, .codegen = c->codegen, .threads = CPU_THREADS},
                       arguments, result);
  *is_refused = heddle_status_code(s) == HEDDLE_UNIMPLEMENTED;
  TRY(status_context(s, "while going through %s", c->name));
  return c->through ? status_context(evaluate(a, changed, arguments, result), "behind %s", c->name) : s;
}

// *is_usable tells a module that the interpreter or the other format refuses by name from one that fails the check.
static heddle_status put_to_test_here(const check *c, const module *m, bool *is_usable) {
  arena *a = arena_create();
  argument_list arguments;
  literal *after;
  result_bounds wanted;
  bool is_refused = false;
  heddle_status s = argument_list_random(a, m, ARGUMENT_SEED, false, &arguments);
  if (status_is_ok(s) && c->through) s = evaluate(a, m, &arguments, &wanted.result);
  else if (status_is_ok(s)) s = result_bounds_find(a, m, &arguments, c->is_exact, MAX_STEPS, &wanted);
  *is_usable = status_is_ok(s);
  if (status_is_ok(s)) s = run_changed(a, c, m, &arguments, &is_refused, &after);
  *is_usable = *is_usable && !is_refused;
  if (status_is_ok(s)) {
    s = c->through ? execute_compare(a, after, wanted.result, 0, 0) : result_bounds_compare(a, &wanted, after);
    s = status_context(s, "results differ behind %s", c->name);
  }
  arena_destroy(a);
  return s;
}

// The interpreter gets the program for each of the sizes.
static heddle_status put_to_open_test(const check *c, const smith_open_program *p, bool *is_usable) {
  arena *a = arena_create();
  const flag_list sizes = smith_open_sizes(a, p->symbol_count);
  const import_options import = {0};
  const compile_options options = {.exact = c->is_exact, .threads = CPU_THREADS};
  const open_run_request request = {.path = "made.mlir",
                                    .source = p->text,
                                    .import = &import,
                                    .options = &options,
                                    .sizes = &sizes,
                                    .seed = ARGUMENT_SEED,
                                    .compares = true};
  if (!freopen("/dev/null", "w", stdout)) return status_error(HEDDLE_INTERNAL, "no way to say nothing");
  heddle_status s = open_run(a, &request);
  // Conditions that runs are asked for are refusals, too.
  *is_usable = heddle_status_code(s) != HEDDLE_UNIMPLEMENTED && heddle_status_code(s) != HEDDLE_INVALID;
  arena_destroy(a);
  return s;
}

// What a child looks at: a module, or a program with open sizes.
typedef struct subject {
  const module *module;
  const smith_open_program *open;
} subject;

// In the child: the verdict as an exit status, the message through the pipe.
_Noreturn static void judge(const check *c, const subject *x, int message) {
  bool is_usable;
  const struct rlimit limit = {CHILD_CPU_SECONDS, CHILD_CPU_SECONDS};
  (void)setrlimit(RLIMIT_CPU, &limit);
  alarm(CHILD_SECONDS);
  heddle_status s = x->open ? put_to_open_test(c, x->open, &is_usable) : put_to_test_here(c, x->module, &is_usable);
  const char *text = status_is_ok(s) ? "" : status_brief(s);
  ssize_t written = write(message, text, strlen(text));
  (void)written;  // A message that gets lost changes no verdict.
  _exit(status_is_ok(s) ? CHILD_PASSED : is_usable ? CHILD_FAILED : CHILD_REFUSED);
}

// What compiled code or the compiler do wrong may end a process, so that it is another one's.
static heddle_status put_to_test_apart(const check *c, const subject *x, bool *is_usable) {
  int ends[2], status = 0;
  *is_usable = true;
  if (pipe(ends) != 0) return status_error(HEDDLE_INTERNAL, "no pipe");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) judge(c, x, ends[1]);
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
  return c->through ? put_to_test_here(c, m, is_usable) : put_to_test_apart(c, &(subject){.module = m}, is_usable);
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

static heddle_status measure_mutants(arena *a, const smith_flags *f, const module *m, smith_sight *sight) {
  argument_list arguments;
  result_bounds bounds;
  text passing = {0};
  TRY(argument_list_random(a, m, ARGUMENT_SEED, false, &arguments));
  heddle_status s = result_bounds_find(a, m, &arguments, !f->is_default, MAX_STEPS, &bounds);
  if (status_is_ok(s)) {
    smith_sight_measure(m, &arguments, &bounds, MUTANTS_EACH, MAX_STEPS, f->v > 0 ? &passing : NULL, sight);
    fputs(text_cstr(&passing), stderr);
  } else {
    heddle_status_free(s);  // the interpreter refuses it by name
  }
  text_free(&passing);
  return status_ok();
}

static heddle_status report_mutants(const smith_sight *sight) {
  const double percent = sight->changed > 0 ? 100.0 * sight->refused / sight->changed : 0;
  printf("%d mutants differ beyond rounding, %d refused: %.1f %%\n", sight->changed, sight->refused, percent);
  return percent >= MUTANTS_PERCENT
             ? status_ok()
             : status_error(HEDDLE_INVALID, "the comparison sees %.1f %% of mutants, wanted %d %%", percent,
                            MUTANTS_PERCENT);
}

// The first mutant of the program in f->mutate that f->seed leads to, as text.
static heddle_status write_mutant(arena *a, const smith_flags *f) {
  enum { TRIES = 1000 };
  module *m;
  uint64_t state = (uint64_t)f->seed;
  text what = {0};
  TRY(import_file(a, f->mutate, NULL, &m));
  const module *mutant = NULL;
  for (int k = 0; k < TRIES && !mutant; k++) {
    text_free(&what);
    mutant = smith_mutant(a, m, &state, &what);
  }
  if (mutant) fprintf(stderr, "another %s\n", text_cstr(&what));
  text_free(&what);
  if (mutant) return write_module(a, f, mutant, "mutant_");
  return status_error(HEDDLE_INVALID, "'%s' has no valid mutant among %d", f->mutate, TRIES);
}

typedef struct tally {
  int passed, failed, skipped;
  smith_sight sight;
} tally;

static heddle_status write_open(arena *a, const smith_flags *f, str text, uint64_t seed, const char *prefix) {
  const char *path = f->folder ? arena_printf(a, "%s/%s%llu.mlir", f->folder, prefix, (unsigned long long)seed) : "-";
  return file_write(path, text);
}

static heddle_status run_open_one(const smith_flags *f, const check *c, int number, tally *t) {
  arena *a = arena_create();
  const uint64_t seed = (uint64_t)f->seed + (uint64_t)number;
  const smith_open_program p = smith_open_make(a, seed, 1 + f->instructions / OPEN_EACH);
  bool is_usable;
  heddle_status s = status_ok(), failure = put_to_test_apart(c, &(subject){.open = &p}, &is_usable);
  const bool is_ok = status_is_ok(failure);
  t->passed += is_ok;
  t->failed += !is_ok && is_usable;
  t->skipped += !is_ok && !is_usable;
  if (!is_ok && (is_usable || f->v > 0))
    fprintf(stderr, "seed %llu %s: %s\n", (unsigned long long)seed, is_usable ? "fails" : "is skipped",
            heddle_status_message(failure));
  if (!is_ok && (is_usable || f->v > 0)) s = write_open(a, f, p.text, seed, is_usable ? "failed_" : "skipped_");
  heddle_status_free(failure);
  arena_destroy(a);
  return s;
}

static heddle_status run_one(const smith_flags *f, const check *c, int number, tally *t) {
  if (c && c->is_open) return run_open_one(f, c, number, t);
  arena *a = arena_create();
  smith_options options = options_of(f, number);
  options.dtypes = f->dtypes;
  module *m;
  heddle_status s = smith_make(a, &options, &m);
  if (status_is_ok(s) && f->mutants) {
    s = measure_mutants(a, f, m, &t->sight);
  } else if (status_is_ok(s) && !c) {
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
  const check *c = f->check;
  tally t = {0};
  (void)file;
  if (f->kinds) {
    list_kinds();
    return status_ok();
  }
  if (f->folder) TRY(file_make_folder(f->folder));
  if (f->mutate[0]) return write_mutant(a, f);
  for (int k = 0; k < f->count; k++) {
    TRY(run_one(f, c, k, &t));
    if (c && (k + 1) % 500 == 0) fprintf(stderr, "%d of %d\n", k + 1, f->count);
  }
  if (f->mutants) return report_mutants(&t.sight);
  if (!c) return status_ok();
  if (t.skipped) printf("%d refused by name\n", t.skipped);
  printf("%d passed, %d failed\n", t.passed, t.failed);
  return t.failed ? status_error(HEDDLE_INVALID, "%d modules changed their meaning", t.failed) : status_ok();
}

static heddle_status check_flags(void *argument) {
  smith_flags *f = argument;
  if (f->rank > SMITH_MAX_RANK)
    return status_error(HEDDLE_INVALID, "--rank: found %d, wanted at most %d", f->rank, SMITH_MAX_RANK);
  TRY(status_context(smith_dtypes(f->types, &f->dtypes), "in --types=%s", f->types));
  TRY(status_context(smith_check_mix(f->mix), "in --mix=%s", f->mix));
  TRY(cpu_flag_take(f->cpu, true));
  return f->check_name[0] ? find_check(f->check_name, &f->check) : status_ok();
}

int main(int argc, char **argv) {
  smith_flags f = {.seed = 1,
                   .count = 1,
                   .instructions = 30,
                   .elements = 64,
                   .rank = 4,
                   .types = "all",
                   .check_name = "",
                   .mutate = ""};
  const flag flags[] = {
      {"seed", FLAG_INT, &f.seed, "N", "the first module's seed (1); same seed, same module"},
      {"count", FLAG_COUNT, &f.count, "N", "how many modules, with seeds one after the other (1)"},
      {"instructions", FLAG_COUNT, &f.instructions, "N", "operations a module (30)"},
      {"elements", FLAG_COUNT, &f.elements, "N", "the most elements of an array (64)"},
      {"rank", FLAG_SIZE, &f.rank, "N", "the highest rank of an array (4; at most 8)"},
      {"types", FLAG_TEXT, &f.types, "LIST", "element types, as f32,s32,pred (all)"},
      {"mix", FLAG_TEXT, &f.mix, "LIST", "weights of operations: dot=5,sort=0; none first: the others are 0"},
      {"kinds", FLAG_BOOL, &f.kinds, NULL, "list the kinds of operations with their weights and stop"},
      {"check", FLAG_TEXT, &f.check_name, "WAY",
       "text, passes, proto, pbtxt, stablehlo, cpu (--exact), cpu-default, tiles (--exact), tiles-default, "
       "limits (--exact), limits-default, simulator (--exact), simulator-default, simulator-tiles (--exact), vulkan "
       "(--exact), vulkan-default or vulkan-tiles (--exact): compare results behind it; open: programs with open "
       "sizes, at several of them"},
      {"mutants", FLAG_BOOL, &f.mutants, NULL,
       "measure how many modules with one mistake the CPU's comparison refuses"},
      {"default", FLAG_BOOL, &f.is_default, NULL, "with --mutants: by the bounds of cpu-default"},
      {"mutate", FLAG_TEXT, &f.mutate, "FILE", "write the program with one mistake, which --seed chooses"},
      {"cpu", FLAG_TEXT, &f.cpu, CPU_FLAG_ARGUMENT, "the instruction set that code and libraries keep to (native)"},
      {"o", FLAG_TEXT, &f.folder, "FOLDER", "where modules go, or those that failed (standard output)"},
      {"v", FLAG_SIZE, &f.v, "LEVEL", "1: say why a module is skipped"},
      {0},
  };
  const command_line line = {"hlo-smith [flags]", "Makes random HLO modules, and checks what must not change them.",
                             flags, check_flags};
  return command_line_main_no_file(&line, argc - 1, argv + 1, run_tool, &f);
}
