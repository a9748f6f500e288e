// emitters_opt: reads MLIR, runs the passes named by the flags in their order, prints the result.
//
//   emitters_opt FILE -canonicalize -xla-gpu-lower-xla-gpu-loops-to-scf
//
// Every pass and group of passes of src/lower is a flag, by our names and XLA's. Modules between lines `// -----`, as
// fusion_to_mlir prints a program of several kernels and tests are written, are taken one by one.
#include <stdio.h>
#include <strings.h>

#include "base/file.h"
#include "emit/ir_builder.h"
#include "lower/pass.h"
#include "lower/passes.h"
#include "target/nvptx.h"
#include "tile/passes.h"
#include "tools/expected_diagnostics.h"
#include "tools/flags.h"
#include "tools/mlir_guard.h"
#include "tools/mlir_spelling.h"
#include "tools/pass_arguments.h"
#include "tools/pass_flags.h"
#include "tools/region_text.h"

typedef struct command {
  arena *arena;
  pass_requests requests;
  lower_pass_list passes;
  const char *target, *pipeline, *output, *dialect;
  bool verifies_diagnostics, verifies_roundtrip, allows_unregistered;
  int splits, disables_threading, verifies_each;  // -1: not said
  bool is_generic, is_local, has_locations;
  bool is_xla;      // the module at hand is spelled as XLA spells it in 2025
  int elide_above;  // elements of constants; negative: print all
  lower_options options;
  pass_flags driver;
  const char *until;
  bool time;
  text out;
} command;

// --- flags

static heddle_status take_pass(void *context, arena *a, str name, const char *value, bool *taken) {
  command *c = context;
  *taken = pass_arguments_know(name);
  if (*taken) vec_push(a, &c->requests, (pass_request){name, str_from(value ? value : "")});
  return status_ok();
}

static int count_of(const pass *const *passes) {
  int count = 0;
  while (passes[count]) count++;
  return count;
}

static const char *pass_name(int number) {
  const int lowering = count_of(lower_passes), tiling = count_of(tile_passes);
  if (number < lowering) return lower_passes[number]->name;
  return number < lowering + tiling ? tile_passes[number - lowering]->name : lower_groups[number - lowering - tiling];
}

static void print_passes(void) {
  printf("\npasses, each a flag; XLA's names of 2024 and 2025 are taken, too:\n");
  for (int i = 0; lower_passes[i]; i++) pass_print_entry(stdout, "-", lower_passes[i], "");
  for (int i = 0; tile_passes[i]; i++) pass_print_entry(stdout, "-", tile_passes[i], "");
  printf("\ngroups:\n");
  for (int i = 0; lower_groups[i]; i++) printf("  -%s\n", lower_groups[i]);
}

static void say_idle(const char *flag, const char *why) {
  fprintf(stderr, "warning: --%s has no effect: %s\n", flag, why);
}

// Vectors are some whole bytes, or none (0); wider ones than any machine's only make code that nobody can compile.
static heddle_status check_vectors(const command *c) {
  enum { MOST_BITS = 4096 };
  if (c->options.target.vector_bits % 8 == 0 && c->options.target.vector_bits <= MOST_BITS) return status_ok();
  return status_error(HEDDLE_INVALID, "--vector-bits: found %d, wanted a multiple of 8 up to %d",
                      c->options.target.vector_bits, MOST_BITS);
}

static heddle_status check_flags(void *argument) {
  command *c = argument;
  target_kind kind = TARGET_CPU;
  while (kind < TARGET_NULL && strcmp(c->target, target_kind_name(kind)) != 0) kind++;
  if (kind == TARGET_NULL)
    return status_error(HEDDLE_INVALID, "--target: found %s, wanted cpu, nvptx or vulkan", c->target);
  if (c->dialect[0] && strcmp(c->dialect, "xla") != 0 && strcmp(c->dialect, "xla_gpu") != 0)
    return status_error(HEDDLE_INVALID, "--dialect: found %s, wanted xla or xla_gpu", c->dialect);
  TRY(check_vectors(c));
  TRY(pass_flags_check(&c->driver, PASS_FLAGS_MLIR));
  if (c->until) TRY(pass_flags_check_name("until", str_from(c->until), PASS_FLAGS_MLIR));
  pass_arguments_choose_target(&c->options, kind);
  if (c->pipeline) TRY(pass_arguments_parse(c->arena, c->pipeline, &c->requests));
  TRY(pass_arguments_resolve(c->arena, &c->requests, &c->options, &c->passes));
  if (c->options.target.kind != TARGET_NVPTX) return status_ok();
  target_description known;
  return status_context(nvptx_target(c->options.target.chip, &known), "in --chip=%s", c->options.target.chip);
}

// Flags that were given and change nothing.
static void warn(const command *c) {
  if (c->splits == 0)
    say_idle("split-input-file=false", "modules between lines `// -----` are always taken one by one");
  if (c->disables_threading == 1) say_idle("mlir-disable-threading", "passes run on one thread");
  if (c->verifies_each >= 0) say_idle("verify-each", "debug builds verify after each pass, others at the end");
}

// --- modules

static void print_module(const command *c, MlirOperation module, text *out) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (c->is_generic) mlirOpPrintingFlagsPrintGenericOpForm(flags);
  if (c->is_local) mlirOpPrintingFlagsUseLocalScope(flags);
  if (c->has_locations) mlirOpPrintingFlagsEnableDebugInfo(flags, true, true);
  if (c->elide_above >= 0) mlirOpPrintingFlagsElideLargeElementsAttrs(flags, c->elide_above);
  text printed = {0};
  mlirOperationPrintWithFlags(module, flags, ir_append, &printed);
  mlirOpPrintingFlagsDestroy(flags);
  const bool wants_xla = c->dialect[0] ? strcmp(c->dialect, "xla") == 0 : c->is_xla;
  if (wants_xla) mlir_spelling_write(text_view(&printed), out);
  else text_append(out, text_view(&printed));
  text_free(&printed);
}

// MLIR reads up to the NUL, whatever the length says.
static heddle_status parse(MlirContext context, text *source, MlirModule *out) {
  TRY(mlir_guard_check(text_view(source)));
  *out = mlirModuleCreateParse(context, mlirStringRefCreate(text_cstr(source), source->size));
  if (!mlirModuleIsNull(*out)) return status_ok();
  heddle_status status = ir_diagnostics(context, HEDDLE_INVALID, "cannot parse the module");
  return status_is_ok(status) ? status_error(HEDDLE_INVALID, "cannot parse the module") : status;
}

static void print_pass(void *argument, const pass *p, const pass_unit_kind *kind, const void *unit) {
  text t = {0};
  print_module(argument, (MlirOperation){(void *)unit}, &t);
  pass_show(kind, p, text_view(&t));
  text_free(&t);
}

// Passes are shown as the result is printed.
static heddle_status run_passes(command *c, MlirOperation module) {
  pass_control *control = pass_flags_open(&c->driver, c->time, false);
  control->until = c->until;
  c->driver.watcher.see = print_pass;
  c->driver.watcher.argument = c;
  const heddle_status s = lower_run(c->passes.data, module, &c->options, control);
  pass_times_print(stderr, control);
  return s;
}

static heddle_status parse_spelled(command *c, MlirContext context, str source, MlirModule *out) {
  text spelled = {0};
  text today = {0};
  heddle_status status = region_text_spell(source, &today);
  if (status_is_ok(status)) {
    mlir_spelling_read(text_view(&today), &spelled, &c->is_xla);
    status = parse(context, &spelled, out);
  }
  text_free(&today);
  text_free(&spelled);
  return status;
}

// What is printed reads back as what it was.
static heddle_status check_roundtrip(command *c, MlirContext context, MlirOperation module) {
  text first = {0}, second = {0};
  MlirModule again;
  print_module(c, module, &first);
  heddle_status status =
      status_context(parse_spelled(c, context, text_view(&first), &again), "--verify-roundtrip: what is printed");
  if (status_is_ok(status)) {
    print_module(c, mlirModuleGetOperation(again), &second);
    if (!str_equal(text_view(&first), text_view(&second)))
      status = status_error(HEDDLE_INVALID, "--verify-roundtrip: the module reads back as another one:\n%s",
                            text_cstr(&second));
    mlirModuleDestroy(again);
  }
  text_free(&first);
  text_free(&second);
  return status;
}

static heddle_status run_module(command *c, MlirContext context, str source) {
  MlirModule module;
  TRY(parse_spelled(c, context, source, &module));
  MlirOperation op = mlirModuleGetOperation(module);
  heddle_status status = c->verifies_roundtrip ? check_roundtrip(c, context, op) : status_ok();
  if (status_is_ok(status)) status = run_passes(c, op);
  if (status_is_ok(status)) print_module(c, op, &c->out);
  mlirModuleDestroy(module);
  return status;
}

// With --verify-diagnostics what fails as foretold is right.
static heddle_status run_verified(command *c, MlirContext context, str source) {
  expected_diagnostics *expected;
  TRY(expected_diagnostics_start(c->arena, context, source, &expected));
  heddle_status status = run_module(c, context, source);
  heddle_status_free(status);
  return expected_diagnostics_finish(expected);
}

// Each module has a context of its own: its maps are then named as it spells them.
static heddle_status run_text(command *c, str source) {
  MlirContext context = ir_context_create();
  mlirContextSetAllowUnregisteredDialects(context, c->allows_unregistered);
  heddle_status status = c->verifies_diagnostics ? run_verified(c, context, source) : run_module(c, context, source);
  mlirContextDestroy(context);
  return status;
}

static heddle_status run_all(command *c, str source) {
  static const char separator[] = "\n// -----";
  for (const char *end; (end = memmem(source.data, source.size, separator, sizeof separator - 1));) {
    TRY(run_text(c, (str){source.data, (size_t)(end - source.data) + 1}));
    text_puts(&c->out, "// -----\n");
    size_t used = (size_t)(end - source.data) + sizeof separator - 1;
    source = (str){source.data + used, source.size - used};
  }
  return run_text(c, source);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  command *c = argument;
  str source = {0};
  warn(c);
  TRY(file_read(a, path, &source));
  heddle_status status = run_all(c, source);
  if (status_is_ok(status)) status = file_write(c->output, text_view(&c->out));
  text_free(&c->out);
  return status;
}

int main(int argc, char **argv) {
  command c = {.arena = arena_create(),
               .target = "nvptx",
               .output = "-",
               .dialect = "",
               .splits = -1,
               .disables_threading = -1,
               .verifies_each = -1,
               .elide_above = -1,
               .options = {.target = {.has_fma = true, .max_unroll = 8, .chip = "sm_90"}},
               .driver = PASS_FLAGS_DEFAULT};
  const flag flags[] = {
      {"pass-pipeline", FLAG_TEXT, &c.pipeline, "TEXT", "passes as builtin.module(a,func.func(b{k=v}))"},
      {"o", FLAG_TEXT, &c.output, "FILE", "where to write (standard output)"},
      {"target", FLAG_TEXT, &c.target, "cpu|nvptx|vulkan", "which passes a group stands for (nvptx)"},
      {"dialect", FLAG_TEXT, &c.dialect, "xla|xla_gpu", "names in what is printed: XLA's of 2025, of 2024 (as read)"},
      {"exact", FLAG_BOOL, &c.options.exact, NULL, "keep every rounding"},
      {"vector-bits", FLAG_SIZE, &c.options.target.vector_bits, "N", "register width of the CPU's vectors"},
      {"max-unroll", FLAG_COUNT, &c.options.target.max_unroll, "N", "the largest factor of xla-gpu-optimize-loops (8)"},
      {"chip", FLAG_TEXT, &c.options.target.chip, "NAME", "sm_90 (the default), a CPU's name"},
      {"has-bf16", FLAG_BOOL, &c.options.target.has_bf16, NULL, "the machine converts bf16"},
      {"multiplies-bytes", FLAG_BOOL, &c.options.target.multiplies_bytes, NULL, "the machine has AVX-512's VNNI"},
      {"multiplies-bf16", FLAG_BOOL, &c.options.target.multiplies_bf16, NULL, "the machine has AVX512-BF16's products"},
      {"has-f16", FLAG_BOOL, &c.options.target.has_f16, NULL, "the machine converts f16"},
      {"has-fma", FLAG_BOOL, &c.options.target.has_fma, NULL, "the machine rounds x * y + z once (the default)"},
      {"use-libdevice", FLAG_BOOL, &c.options.use_libdevice, NULL, "math functions become calls of libdevice"},
      {"split-input-file", FLAG_MAYBE, &c.splits, NULL, "modules stand between lines `// -----` (always)"},
      {"verify-diagnostics", FLAG_BOOL, &c.verifies_diagnostics, NULL,
       "compare errors with // expected-error comments"},
      {"verify-roundtrip", FLAG_BOOL, &c.verifies_roundtrip, NULL, "check that the module as printed reads back"},
      {"verify-each", FLAG_MAYBE, &c.verifies_each, NULL, "no effect"},
      {"allow-unregistered-dialect", FLAG_BOOL, &c.allows_unregistered, NULL, "take operations of unknown dialects"},
      PASS_FLAGS(c.driver),
      {"mlir-print-ir-after-all", FLAG_BOOL, &c.driver.print_after_all, NULL, "the same as --print-after-all"},
      {"mlir-print-ir-after-change", FLAG_BOOL, &c.driver.print_after_change, NULL, "the same as --print-after-change"},
      {"mlir-print-ir-after", FLAG_TEXT, &c.driver.print_after, "NAME,NAME", "the same as --print-after"},
      {"until", FLAG_TEXT, &c.until, "PASS", "stop after this pass"},
      {"time", FLAG_BOOL, &c.time, NULL, "time per pass on standard error"},
      {"mlir-timing", FLAG_BOOL, &c.time, NULL, "the same as --time"},
      {"mlir-print-op-generic", FLAG_BOOL, &c.is_generic, NULL, "print operations in their generic form"},
      {"mlir-print-local-scope", FLAG_BOOL, &c.is_local, NULL, "print without aliases"},
      {"mlir-print-debuginfo", FLAG_BOOL, &c.has_locations, NULL, "print locations"},
      {"mlir-elide-elementsattrs-if-larger", FLAG_INT, &c.elide_above, "N", "print larger constants as resources"},
      {"mlir-disable-threading", FLAG_MAYBE, &c.disables_threading, NULL, "no effect"},
      {0},
  };
  const other_flags passes = {.take = take_pass, .context = &c, .name = pass_name, .print_help = print_passes};
  const command_line line = {"emitters_opt [FILE] [flags]",
                             "Runs passes on MLIR in the order of their flags and prints the result.", flags,
                             check_flags, &passes};
  const int status = command_line_main(&line, argc - 1, argv + 1, "-", run_file, &c);
  arena_destroy(c.arena);
  return status;
}
