// Tells formats apart by their first bytes and hands each to its reader.
#include "import/import.h"

#include "base/caret.h"
#include "base/file.h"
#include "hlo/text.h"
#include "import/bounded_parameters.h"
#include "import/import_ir.h"
#include "mlir/sharding.h"
#include "mlir/text.h"
#include "proto/proto.h"
#include "stablehlo/functions.h"
#include "vhlo/bytecode.h"

static const char *const format_names[IMPORT_FORMAT_COUNT] = {
    [IMPORT_HLO_TEXT] = "HLO text",
    [IMPORT_MLIR_TEXT] = "StableHLO text",
    [IMPORT_MLIR_BYTECODE] = "StableHLO bytecode",
    [IMPORT_HLO_PROTO] = "HLO proto",
    [IMPORT_HLO_PBTXT] = "HLO proto text",
};

const char *import_format_name(import_format f) { return format_names[f]; }

// Behind white space and `//` comments.
static str skip_comments(str s) {
  for (;;) {
    size_t i = 0;
    while (i < s.size && strchr(" \t\r\n", s.data[i]) && s.data[i]) i++;
    s = (str){s.data + i, s.size - i};
    if (!str_starts_with(s, "//")) return s;
    const char *newline = memchr(s.data, '\n', s.size);
    if (!newline) return STR("");
    s = (str){newline, s.size - (size_t)(newline - s.data)};
  }
}

static str skip_blanks(str s) {
  while (s.size && s.data[0] && strchr(" \t\r\n", s.data[0])) s = (str){s.data + 1, s.size - 1};
  return s;
}

// `module`, and what may stand behind it.
static bool is_mlir_module(str s) {
  static const char word[] = "module";
  if (!str_starts_with(s, word)) return false;
  s = skip_blanks((str){s.data + strlen(word), s.size - strlen(word)});
  return str_starts_with(s, "@") || str_starts_with(s, "{") || str_starts_with(s, "attributes");
}

// What a file of MLIR can start with. HLO text starts with HloModule, ENTRY, or a computation's or instruction's name.
static bool is_mlir_text(str s) {
  static const char *const starts[] = {"builtin.module",
                                       "func.func",
                                       "func @",
                                       "func private @",
                                       "\"builtin",
                                       "\"func",
                                       "\"mhlo",
                                       "\"stablehlo",
                                       "mhlo.",
                                       "stablehlo.",
                                       "#",
                                       "!",
                                       "{-#",
                                       "sdy.mesh"};
  s = skip_comments(s);
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (str_starts_with(s, starts[i])) return true;
  return is_mlir_module(s);
}

import_format import_sniff(str bytes) {
  if (bytecode_is(bytes)) return IMPORT_MLIR_BYTECODE;
  if (is_mlir_text(bytes)) return IMPORT_MLIR_TEXT;
  if (proto_is(bytes)) return IMPORT_HLO_PROTO;
  if (proto_is_text(bytes)) return IMPORT_HLO_PBTXT;
  return IMPORT_HLO_TEXT;
}

// --- files

heddle_status import_ir(arena *a, const char *file, str bytes, int *count, ir_module ***out) {
  if (!bytecode_is(bytes)) return mlir_text_read(a, file, bytes, count, out);
  *out = arena_array(a, ir_module *, 1);
  *count = 1;
  return bytecode_read(a, file, bytes, *out);
}

bool import_is_mlir(import_format f) { return f == IMPORT_MLIR_TEXT || f == IMPORT_MLIR_BYTECODE; }

static heddle_status read_hlo(arena *a, const char *file, str bytes, import_format format, module **out) {
  switch (format) {
    case IMPORT_HLO_PROTO: return proto_read(a, file, bytes, out, NULL, NULL, NULL);
    case IMPORT_HLO_PBTXT: return proto_read_text(a, file, bytes, out, NULL, NULL, NULL);
    default: return hlo_parse(a, file, bytes, out);
  }
}

// HLO names its entry itself, so that a caller can only ask for that one.
static heddle_status import_hlo(arena *a, const char *file, str bytes, import_format format,
                                const import_options *options, module **out) {
  // Protos have no lines.
  TRY(status_locate(read_hlo(a, file, bytes, format, out), (source_location){file, 0, 0}));
  sharding_note_ignored(*out, false);
  if (!options) return status_ok();
  const str wanted = options->entry;
  if (wanted.size == 0 || str_equal(wanted, (*out)->entry->name))
    return options->keeps_bounds ? status_ok() : bounded_parameters_resize(a, *out, options);
  return status_at(HEDDLE_INVALID, ((source_location){file, 1, 1}),
                   "found the entry " STR_FMT ", wanted " STR_FMT ": of HLO only the entry computation runs",
                   STR_ARG((*out)->entry->name), STR_ARG(wanted));
}

// The first operation of LHLO under `r`; null if there is none. Regions nest at most IR_MAX_DEPTH deep.
static const ir_operation *find_lhlo(const ir_region *r) {
  for (int k = 0; k < r->blocks.size; k++) {
    const ir_block *b = r->blocks.data[k];
    for (int n = 0; n < b->operations.size; n++) {
      const ir_operation *op = b->operations.data[n];
      if (str_starts_with(op->name, "lmhlo.") || str_starts_with(op->name, "profile.")) return op;
      for (int j = 0; j < op->region_count; j++) {
        const ir_operation *inner = find_lhlo(op->regions[j]);
        if (inner) return inner;
      }
    }
  }
  return NULL;
}

static heddle_status refuse_lhlo(int count, ir_module *const *modules) {
  for (int k = 0; k < count; k++) {
    const ir_operation *op = find_lhlo(modules[k]->operation->regions[0]);
    if (op)
      return status_at(HEDDLE_UNIMPLEMENTED, op->where,
                       "found " STR_FMT
                       ", LHLO, which does not become HLO again: heddle run, heddle compile and "
                       "heddle_compile take it",
                       STR_ARG(op->name));
  }
  return status_ok();
}

static heddle_status make_only_program(arena *a, int count, ir_module *const *modules, const char *file,
                                       const import_options *options, module **out) {
  const ir_operation *function;
  TRY(refuse_lhlo(count, modules));
  if (count != 1)
    return status_at(HEDDLE_INVALID, ((source_location){file, 1, 1}), "found %d modules, wanted one", count);
  TRY(stablehlo_entry(a, modules[0], options ? options->entry : STR(""), &function));
  return stablehlo_program(a, modules[0], function, options, out);
}

heddle_status import_module(arena *a, const char *file, str bytes, const import_options *options, module **out) {
  import_format format = import_sniff(bytes);
  ir_module **modules;
  int count;
  if (!import_is_mlir(format)) return import_hlo(a, file, bytes, format, options, out);
  TRY(import_ir(a, file, bytes, &count, &modules));
  heddle_status s = make_only_program(a, count, modules, file, options, out);
  return format == IMPORT_MLIR_TEXT ? caret_add(s, bytes) : s;
}

typedef VEC(module *) module_list;

static heddle_status import_programs(arena *a, const ir_module *m, const import_options *options, module_list *out) {
  stablehlo_function_list functions = {0};
  TRY(stablehlo_functions(a, m, options ? options->entry : STR(""), &functions));
  for (int i = 0; i < functions.size; i++) {
    module *program;
    TRY(stablehlo_program(a, m, functions.data[i], options, &program));
    vec_push(a, out, program);
  }
  return status_ok();
}

static heddle_status make_programs(arena *a, int count, ir_module *const *modules, const char *file,
                                   const import_options *options, module_list *out) {
  TRY(refuse_lhlo(count, modules));
  for (int i = 0; i < count; i++) TRY(import_programs(a, modules[i], options, out));
  if (out->size == 0)
    return status_at(HEDDLE_INVALID, ((source_location){file, 1, 1}), "found no function, wanted at least one");
  return status_ok();
}

static heddle_status import_mlir(arena *a, const char *file, str bytes, const import_options *options,
                                 module_list *out) {
  ir_module **modules;
  int count;
  TRY(import_ir(a, file, bytes, &count, &modules));
  heddle_status s = make_programs(a, count, modules, file, options, out);
  return bytecode_is(bytes) ? s : caret_add(s, bytes);
}

heddle_status import_all(arena *a, const char *file, str bytes, const import_options *options, int *count,
                         module ***out) {
  import_format format = import_sniff(bytes);
  module_list programs = {0};
  if (import_is_mlir(format)) {
    TRY(import_mlir(a, file, bytes, options, &programs));
  } else {
    module *m = NULL;
    TRY(import_hlo(a, file, bytes, format, options, &m));
    vec_push(a, &programs, m);
  }
  *count = programs.size;
  *out = programs.data;
  return status_ok();
}

heddle_status import_file(arena *a, const char *path, const import_options *options, module **out) {
  str bytes;
  TRY(file_read(a, path, &bytes));
  return import_module(a, path, bytes, options, out);
}
