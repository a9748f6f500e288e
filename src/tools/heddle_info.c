// heddle info MODULE: what a program takes and gives, where it runs, what it is made of; nothing is compiled.
#include "base/caret.h"
#include "base/file.h"
#include "base/log.h"
#include "hlo/device_counts.h"
#include "import/import_ir.h"
#include "rt/device_types.h"
#include "rt/saved_program.h"
#include "tools/commands.h"
#include "tools/facts.h"
#include "tools/open_dims.h"
#include "tools/saved_facts.h"
#include "tools/saved_print.h"
#include "tools/signature_print.h"
#include "vhlo/bytecode.h"

typedef struct info_flags {
  const char *entry;
  flag_list argument_shapes;
  bool json, ops, devices;
  int v;
} info_flags;

typedef VEC(signature) signature_list;

static heddle_status add_module(arena *a, module *m, const ir_operation *function, signature_list *out) {
  signature s;
  device_counts_adopt(m, 0, 0);
  TRY(signature_of_module(a, m, &s));
  if (function) signature_add_notes(a, function, &s);
  vec_push(a, out, s);
  return status_ok();
}

static heddle_status add_function(arena *a, const ir_module *m, const ir_operation *function,
                                  const import_options *options, signature_list *out) {
  if (stablehlo_has_open_dims(function) && !options->argument_count) {
    signature s;
    TRY(signature_of_open(a, m, function, &s));
    vec_push(a, out, s);
    return status_ok();
  }
  module *made;
  TRY(stablehlo_program(a, m, function, options, &made));
  return add_module(a, made, function, out);
}

static heddle_status add_functions(arena *a, const char *path, const ir_module *m, const import_options *options,
                                   signature_list *out) {
  stablehlo_function_list functions = {0};
  TRY(stablehlo_functions(a, m, options->entry, &functions));
  for (int n = 0; n < functions.size; n++) TRY(add_function(a, m, functions.data[n], options, out));
  if (out->size > 0) return status_ok();
  return status_at(HEDDLE_INVALID, ((source_location){path, 1, 1}), "found no function, wanted at least one");
}

// Errors of the text itself show its line already.
static heddle_status add_mlir(arena *a, const char *path, str bytes, const import_options *options,
                              signature_list *out) {
  ir_module **modules;
  int count;
  TRY(import_ir(a, path, bytes, &count, &modules));
  heddle_status s = status_ok();
  for (int k = 0; k < count && status_is_ok(s); k++) s = add_functions(a, path, modules[k], options, out);
  return import_sniff(bytes) == IMPORT_MLIR_TEXT ? caret_add(s, bytes) : s;
}

static heddle_status add_hlo(arena *a, const char *path, str bytes, const import_options *options,
                             signature_list *out) {
  module *m;
  TRY(import_module(a, path, bytes, options, &m));
  return add_module(a, m, NULL, out);
}

static heddle_status add_lhlo(arena *a, const char *path, str bytes, signature_list *out) {
  const target_description target = target_cpu(1);
  lhlo_program *p;
  signature s;
  TRY(lhlo_parse(a, bytes, path, &target, &p));
  TRY(signature_of_lhlo(a, p, &s));
  vec_push(a, out, s);
  return status_ok();
}

static heddle_status version_of(arena *a, const char *path, str bytes, const char **out) {
  int version;
  str producer;
  TRY(bytecode_head(a, path, bytes, &version, &producer));
  *out = arena_printf(a, STR_FMT " in MLIR bytecode %d", STR_ARG(producer), version);
  return status_ok();
}

static heddle_status describe(arena *a, const char *path, str bytes, const info_flags *f, text *out) {
  signature_list found = {0};
  signature_file file = {.path = path};
  import_options options = {.entry = str_from(f->entry)};
  TRY(open_dims_read(a, &f->argument_shapes, &options));
  const import_format format = import_sniff(bytes);
  const bool is_lhlo = lhlo_is(bytes);
  file.format = is_lhlo ? "LHLO" : import_format_name(format);
  if (is_lhlo) TRY(add_lhlo(a, path, bytes, &found));
  else if (import_is_mlir(format)) TRY(add_mlir(a, path, bytes, &options, &found));
  else TRY(add_hlo(a, path, bytes, &options, &found));
  if (format == IMPORT_MLIR_BYTECODE) TRY(version_of(a, path, bytes, &file.version));
  if (f->json) signature_print_json(out, &file, found.size, found.data);
  for (int k = 0; !f->json && k < found.size; k++) {
    if (k) text_putc(out, '\n');
    signature_print_text(out, &file, &found.data[k], f->ops);
  }
  return status_ok();
}

// A saved program has no operations any more; what it was made of is its signature, memory and code.
static heddle_status check_saved_flags(const info_flags *f) {
  const char *flag = f->ops ? "ops" : f->entry[0] ? "entry" : f->argument_shapes.size ? "argument_shape" : NULL;
  return flag ? status_error(HEDDLE_INVALID, "found --%s, which saved programs have no answer to", flag) : status_ok();
}

static heddle_status describe_saved(arena *a, const char *path, str bytes, const info_flags *f) {
  static const saved_program_options looking = {.inspects = true};
  saved_facts told;
  saved_program *saved = NULL;
  text out = {0};
  if (f->json) saved_facts_begin(&told, path);
  heddle_status s = check_saved_flags(f);
  if (status_is_ok(s)) s = status_context(saved_program_read(bytes, &looking, &saved), "while loading '%s'", path);
  if (saved && f->json) saved_facts_put_file(&told, a, saved);
  if (saved && !f->json) {
    saved_print(&out, a, saved);
    s = file_write("-", text_view(&out));
    text_free(&out);
  }
  saved_program_close(saved);
  return f->json ? saved_facts_end(&told, s) : s;
}

static heddle_status describe_file(arena *a, const char *path, void *argument) {
  const info_flags *f = argument;
  log_set_level(f->v);
  text out = {0};
  str bytes = {0};
  heddle_status s = file_read(a, path, &bytes);
  if (status_is_ok(s) && program_file_is(bytes)) return describe_saved(a, path, bytes, f);
  if (status_is_ok(s)) s = describe(a, path, bytes, f, &out);
  if (status_is_ok(s)) s = file_write("-", text_view(&out));
  text_free(&out);
  return f->json ? facts_print_error(path, s) : s;
}

// Where there is no driver, that is what there is to say, a line that ends itself.
static heddle_status list_devices(arena *a, const char *file, void *argument) {
  (void)a;
  (void)file;
  (void)argument;
  text out = {0};
  for (int k = 0; k < TARGET_KIND_COUNT; k++) {
    heddle_status s = k == TARGET_CPU || device_types[k] ? device_types_list(k, &out) : status_ok();
    if (!status_is_ok(s)) text_printf(&out, "%s: none: %s", target_kind_name(k), heddle_status_message(s));
    heddle_status_free(s);
  }
  heddle_status s = file_write("-", text_view(&out));
  text_free(&out);
  return s;
}

static heddle_status check_flags(void *argument) {
  const info_flags *f = argument;
  return open_dims_check(&f->argument_shapes);
}

int command_info(int argc, char **argv) {
  info_flags f = {.entry = ""};
  const flag flags[] = {
      {"json", FLAG_BOOL, &f.json, NULL, "as JSON, with everything that there is to say"},
      {"devices", FLAG_BOOL, &f.devices, NULL, "list the devices that programs can run on, of no module"},
      {"ops", FLAG_BOOL, &f.ops, NULL, "count the operations by opcode"},
      {"argument_shape", FLAG_LIST, &f.argument_shapes, "SHAPE",
       "an argument's shape, in order, for open dims: f32[4,8]"},
      {"entry", FLAG_TEXT, &f.entry, "NAME", "the StableHLO function to look at (main, or all public ones)"},
      {"v", FLAG_SIZE, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {"heddle info MODULE [flags]",
                             "Prints a program's signature: parameters, results, devices, and what it is made of.\n"
                             "Reads what heddle run reads; nothing is compiled.",
                             flags, check_flags};
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--devices") == 0) return command_line_main_no_file(&line, argc, argv, list_devices, &f);
  return command_line_main(&line, argc, argv, NULL, describe_file, &f);
}
