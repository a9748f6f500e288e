// heddle convert MODULE --to=FORMAT: the same program in another format.
//
// From StableHLO to StableHLO nothing is lowered: programs with open dims, quantized types and several modules a file
// stay what they are.
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/text.h"
#include "import/import.h"
#include "import/import_ir.h"
#include "mlir/print.h"
#include "mlir/text.h"
#include "prog/program_file.h"
#include "proto/proto.h"
#include "stablehlo/hlo_to_stablehlo.h"
#include "tools/commands.h"
#include "tools/facts.h"
#include "tools/flags.h"
#include "tools/open_dims.h"
#include "tools/signature.h"

typedef struct convert_flags {
  const char *to, *output, *entry;
  flag_list argument_shapes;
  const struct format *format;  // that `to` names
  bool generic, elide, json;
  facts *facts;  // that --json asks for; else null
  int v;
} convert_flags;

// --- writers: of HLO

static heddle_status write_hlo(arena *a, const module *m, const convert_flags *f, text *out) {
  (void)a;
  hlo_print_options options = HLO_PRINT_SHORT;
  options.elide_large = f->elide;
  hlo_print(out, m, options);
  return status_ok();
}

static mlir_print_options print_options(const convert_flags *f) {
  return (mlir_print_options){.generic = f->generic, .elide_above = f->elide ? 16 : 0};
}

static heddle_status write_stablehlo(arena *a, const module *m, const convert_flags *f, text *out) {
  ir_module *converted;
  TRY(hlo_to_stablehlo(a, m, &converted));
  const mlir_print_options options = print_options(f);
  mlir_print_module(out, converted, &options);
  return status_ok();
}

static heddle_status write_pb(arena *a, const module *m, const convert_flags *f, text *out) {
  (void)a;
  (void)f;
  return proto_write(out, m);
}

static heddle_status write_pbtxt(arena *a, const module *m, const convert_flags *f, text *out) {
  (void)a;
  (void)f;
  return proto_write_text(out, m);
}

static const struct format {
  const char *name;
  heddle_status (*write)(arena *a, const module *m, const convert_flags *f, text *out);
} formats[] = {{"hlo", write_hlo}, {"stablehlo", write_stablehlo}, {"pb", write_pb}, {"pbtxt", write_pbtxt}};

static heddle_status find_format(const char *name, const struct format **out) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(name, formats[i].name) != 0) continue;
    *out = &formats[i];
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --to=%s, wanted hlo, stablehlo, pb or pbtxt", name);
}

static heddle_status check_flags(void *argument) {
  convert_flags *f = argument;
  TRY(find_format(f->to, &f->format));
  if (f->json && strcmp(f->output, "-") == 0)
    return status_error(HEDDLE_INVALID, "--json is printed where the output would be: -o FILE");
  return open_dims_check(&f->argument_shapes);
}

// --- what is said of them

// Of StableHLO as it is, by the operations' names.
static void count_operations(arena *a, const ir_operation *from, name_counts *out) {
  for (int r = 0; r < from->region_count; r++) {
    for (int b = 0; b < from->regions[r]->blocks.size; b++) {
      const ir_block *block = from->regions[r]->blocks.data[b];
      for (int k = 0; k < block->operations.size; k++) {
        name_counts_add(a, out, block->operations.data[k]->name);
        count_operations(a, block->operations.data[k], out);
      }
    }
  }
}

static void tell_operations(facts *f, int programs, const name_counts *counts) {
  json_put_int(&f->out, "programs", programs);
  json_begin(&f->out, "operations", '{');
  for (int k = 0; k < counts->rows.size; k++) {
    const str name = str_copy(f->arena, counts->rows.data[k].name);
    json_put_int(&f->out, name.data, counts->rows.data[k].count);
  }
  json_end(&f->out, '}');
}

static void tell_module(arena *a, const module *m, facts *f) {
  name_counts counts = {0};
  for (int c = 0; c < m->computations.size; c++) {
    const computation *from = m->computations.data[c];
    for (int k = 0; k < from->instructions.size; k++)
      name_counts_add(a, &counts, str_from(hlo_op_text(from->instructions.data[k]->opcode)));
  }
  tell_operations(f, 1, &counts);
}

// --- StableHLO as it is

static heddle_status print_as_read(arena *a, const char *path, str bytes, const convert_flags *f, text *out) {
  ir_module **modules;
  int count;
  TRY(import_ir(a, path, bytes, &count, &modules));
  const mlir_print_options options = print_options(f);
  name_counts counts = {0};
  for (int i = 0; i < count && f->facts; i++) count_operations(a, modules[i]->operation, &counts);
  if (f->facts) tell_operations(f->facts, count, &counts);
  for (int i = 0; i < count; i++) {
    if (i > 0) text_puts(out, "\n// -----\n\n");
    mlir_print_module(out, modules[i], &options);
  }
  return status_ok();
}

// --- the command

static heddle_status convert(arena *a, const char *path, const convert_flags *f, text *out) {
  str bytes;
  module *m;
  import_options options = {.entry = str_from(f->entry)};
  TRY(open_dims_read(a, &f->argument_shapes, &options));
  TRY(file_read(a, path, &bytes));
  if (program_file_is(bytes))
    return status_error(HEDDLE_INVALID, "'%s' is a saved program, wanted one that is not compiled yet", path);
  import_format from = import_sniff(bytes);
  if (f->facts) json_put_string(&f->facts->out, "from", str_from(import_format_name(from)));
  if (import_is_mlir(from) && f->format->write == write_stablehlo && !options.argument_count && !options.entry.size)
    return print_as_read(a, path, bytes, f, out);
  TRY(import_module(a, path, bytes, &options, &m));
  if (f->facts) tell_module(a, m, f->facts);
  return f->format->write(a, m, f, out);
}

static heddle_status convert_path(arena *a, const char *path, const convert_flags *f) {
  text out = {0};
  heddle_status s = convert(a, path, f, &out);
  if (status_is_ok(s)) s = file_write(f->output, text_view(&out));
  text_free(&out);
  if (status_is_ok(s) && f->facts) facts_note_file(f->facts, f->output);
  return s;
}

static heddle_status convert_file(arena *a, const char *path, void *argument) {
  convert_flags *f = argument;
  log_set_level(f->v);
  if (!f->json) return convert_path(a, path, f);
  facts told;
  facts_begin(&told, a, path);
  json_put_string(&told.out, "to", str_from(f->format->name));
  f->facts = &told;
  heddle_status s = convert_path(a, path, f);
  f->facts = NULL;
  return facts_end(&told, s);
}

int command_convert(int argc, char **argv) {
  convert_flags f = {.to = "hlo", .output = "-", .entry = ""};
  const flag flags[] = {
      {"to", FLAG_TEXT, &f.to, "FORMAT", "hlo, stablehlo, pb or pbtxt (hlo)"},
      {"o", FLAG_TEXT, &f.output, "FILE", "where to write (standard output)"},
      {"argument_shape", FLAG_LIST, &f.argument_shapes, "SHAPE",
       "an argument's shape, in order, for open dims: f32[4,8]"},
      {"entry", FLAG_TEXT, &f.entry, "NAME", "the StableHLO function to convert (main, or the only public one)"},
      {"generic", FLAG_BOOL, &f.generic, NULL, "StableHLO in MLIR's generic form"},
      {"elide", FLAG_BOOL, &f.elide, NULL, "leave large constants out"},
      {"json", FLAG_BOOL, &f.json, NULL, "print JSON: formats, operations, what was written, the error"},
      {"v", FLAG_SIZE, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {"heddle convert MODULE --to=FORMAT [flags]",
                             "Reads HLO text or proto, StableHLO text or bytecode, and writes the program in FORMAT.",
                             flags, check_flags};
  return command_line_main(&line, argc, argv, NULL, convert_file, &f);
}
