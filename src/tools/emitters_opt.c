// emitters_opt: reads MLIR, runs the passes named by the flags in their order, prints the result.
//
//   emitters_opt FILE -canonicalize -xla-gpu-lower-xla-gpu-loops-to-scf
//
// Every pass and group of passes of src/lower is a flag. A test's file may hold several modules (-split-input-file).
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "emit/ir_builder.h"
#include "lower/pass.h"
#include "lower/passes.h"
#include "tools/flags.h"

typedef VEC(const lower_pass *) pass_list;

typedef struct command {
  arena *arena;
  const char *file;
  pass_list passes;
  bool split, is_generic;
  lower_options options;
  lower_observer observer;
} command;

static void print_help(void) {
  printf(
      "emitters_opt [FILE] [flags]: runs passes on MLIR in the order of their flags and prints the result\n\n"
      "  --target=cpu|nvptx    which passes a group stands for, default nvptx\n"
      "  --exact               keep every rounding\n"
      "  --vector-bits=N       register width of the CPU's vectors\n"
      "  --max-unroll=N        the largest factor of xla-gpu-optimize-loops\n"
      "  --chip=NAME           sm_90, a CPU's name\n"
      "  --has-bf16, --has-f16, --has-fma, --use-libdevice\n"
      "  --split-input-file    modules separated by lines `// -----`\n"
      "  --print-after-all, --print-after=PASS, --until=PASS, --bisect=N\n"
      "  --time                seconds per pass, on standard error\n"
      "  --mlir-print-op-generic\n\npasses:\n");
  for (int i = 0; lower_passes[i]->name; i++) printf("  -%-44s %s\n", lower_passes[i]->name, lower_passes[i]->summary);
  printf("\ngroups:\n");
  for (int i = 0; lower_groups[i]; i++) printf("  -%s\n", lower_groups[i]);
}

// --- flags

static bool value_of(const char *flag, const char *name, const char **value) {
  size_t size = strlen(name);
  if (strncmp(flag, name, size) != 0 || flag[size] != '=') return false;
  *value = flag + size + 1;
  return true;
}

static bool parse_switch(command *c, const char *flag) {
  const struct {
    const char *name;
    bool *value;
  } switches[] = {
      {"exact", &c->options.exact},
      {"has-bf16", &c->options.has_bf16},
      {"has-f16", &c->options.has_f16},
      {"has-fma", &c->options.has_fma},
      {"use-libdevice", &c->options.use_libdevice},
      {"split-input-file", &c->split},
      {"print-after-all", &c->observer.print_all},
      {"mlir-print-op-generic", &c->is_generic},
      {"time", &c->observer.time},
  };
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
    if (strcmp(flag, switches[i].name) == 0) return *switches[i].value = true;
  }
  return false;
}

static bool parse_setting(command *c, const char *flag) {
  const char *value = 0;
  if (value_of(flag, "target", &value)) {
    c->options.target = strcmp(value, "cpu") == 0 ? LOWER_CPU : LOWER_NVPTX;
  } else if (value_of(flag, "vector-bits", &value)) {
    c->options.vector_bits = atoi(value);
  } else if (value_of(flag, "max-unroll", &value)) {
    c->options.max_unroll = atoi(value);
  } else if (value_of(flag, "bisect", &value)) {
    c->observer.bisect = atoi(value);
  } else if (!value_of(flag, "chip", &c->options.chip) && !value_of(flag, "print-after", &c->observer.print_after) &&
             !value_of(flag, "until", &c->observer.until)) {
    return false;
  }
  return true;
}

static bool parse_passes(command *c, const char *flag) {
  const lower_pass *pass = lower_pass_find(str_from(flag));
  if (pass) vec_push(c->arena, &c->passes, pass);
  const lower_pass *const *group = pass ? 0 : lower_group(c->options.target, str_from(flag));
  for (int i = 0; group && group[i]; i++) vec_push(c->arena, &c->passes, group[i]);
  return pass || group;
}

// Settings before passes: what a group stands for depends on the target.
static heddle_status parse_flags(command *c, int argc, char **argv) {
  VEC(const char *) passes = {0};
  for (int i = 1; i < argc; i++) {
    const char *flag = argv[i];
    if (flag[0] != '-' || flag[1] == 0) {
      if (c->file) return status_error(HEDDLE_INVALID, "found a second file, %s", flag);
      c->file = flag;
      continue;
    }
    flag += flag[1] == '-' ? 2 : 1;
    if (!parse_switch(c, flag) && !parse_setting(c, flag)) vec_push(c->arena, &passes, flag);
  }
  for (int i = 0; i < passes.size; i++) {
    if (!parse_passes(c, passes.data[i]))
      return status_error(HEDDLE_INVALID, "unknown flag or pass %s (see --help)", passes.data[i]);
  }
  return status_ok();
}

// --- modules

static void print_part(MlirStringRef part, void *file) { fwrite(part.data, 1, part.length, file); }

static void print_module(const command *c, MlirOperation module) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (c->is_generic) mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOperationPrintWithFlags(module, flags, print_part, stdout);
  mlirOpPrintingFlagsDestroy(flags);
}

static heddle_status run_module(command *c, MlirContext context, str source) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(source.data, source.size));
  if (mlirModuleIsNull(module)) {
    heddle_status status = ir_diagnostics(context, HEDDLE_INVALID, "cannot parse the module");
    return status_is_ok(status) ? status_error(HEDDLE_INVALID, "cannot parse the module") : status;
  }
  MlirOperation op = mlirModuleGetOperation(module);
  vec_push(c->arena, &c->passes, 0);
  c->passes.size--;
  heddle_status status = lower_run(c->passes.data, op, &c->options, &c->observer);
  if (status_is_ok(status)) print_module(c, op);
  for (int i = 0; i < c->observer.timing_count; i++)
    fprintf(stderr, "%10.6f %s\n", c->observer.timings[i].seconds, c->observer.timings[i].pass);
  c->observer.timing_count = 0;
  mlirModuleDestroy(module);
  return status;
}

// Each module has a context of its own: its maps are then named as it spells them.
static heddle_status run_text(command *c, str source) {
  MlirContext context = ir_context_create();
  // MLIR reads up to the NUL, whatever the length says.
  heddle_status status = run_module(c, context, str_copy(c->arena, source));
  mlirContextDestroy(context);
  return status;
}

static heddle_status run_all(command *c, str source) {
  static const char separator[] = "\n// -----";
  while (c->split) {
    const char *end = memmem(source.data, source.size, separator, sizeof separator - 1);
    if (!end) break;
    TRY(run_text(c, (str){source.data, (size_t)(end - source.data)}));
    printf("// -----\n");
    size_t used = (size_t)(end - source.data) + sizeof separator - 1;
    source = (str){source.data + used, source.size - used};
  }
  return run_text(c, source);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-help") == 0) return print_help(), 0;
  }
  command c = {.arena = arena_create(),
               .options = {.target = LOWER_NVPTX, .has_fma = true, .max_unroll = 8, .chip = "sm_90"},
               .observer = {.bisect = -1}};
  str source = {0};
  heddle_status status = parse_flags(&c, argc, argv);
  int code = status_is_ok(status) ? 0 : 2;  // 2: a wrong command line, as with every tool
  if (status_is_ok(status)) status = file_read(c.arena, c.file ? c.file : "-", &source);
  if (status_is_ok(status)) status = run_all(&c, source);
  if (report(status) != 0 && code == 0) code = 1;
  arena_destroy(c.arena);
  return code;
}
