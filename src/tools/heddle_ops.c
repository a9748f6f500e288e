// heddle ops: every opcode and what Heddle can do with it, read off the tables of the layers: hlo_ops (text, shape,
// index rule), the interpreter's, the emitters'. Both targets, cpu and nvptx, share the emitters.
#include <stdio.h>

#include "base/json.h"
#include "emit/elemental.h"
#include "eval/evaluate.h"
#include "tools/commands.h"
#include "tools/flags.h"

typedef struct coverage {
  int opcodes, inferred, interpreted, mapped, emitted;
} coverage;

// Element classes in the order of the columns.
static const struct {
  const char *name;
  dtype_class class;
  size_t offset;  // of the emitter's choice in emit_op
} classes[] = {
    {"pred", CLASS_PRED, offsetof(emit_op, on_pred)},          {"int", CLASS_SIGNED, offsetof(emit_op, on_signed)},
    {"uint", CLASS_UNSIGNED, offsetof(emit_op, on_unsigned)},  {"float", CLASS_FLOAT, offsetof(emit_op, on_float)},
    {"complex", CLASS_COMPLEX, offsetof(emit_op, on_complex)},
};

enum { CLASS_COUNT = sizeof classes / sizeof *classes };

// How a kernel can hold an opcode without an emitter of its own; null: it cannot.
static const char *other_way(const hlo_op_info *op) {
  if (op->index_rule == INDEX_RULE_LEAF) return "read where it is used";
  if (op->index_rule == INDEX_RULE_TUPLE) return "as the root: several results";
  if (op->shape_rule == SHAPE_RULE_CALL && !hlo_op_has((hlo_opcode)(op - hlo_ops), TRAIT_ASYNC)) return "inlined";
  return NULL;
}

static bool emits_class(const emit_op *e, int class) {
  const emit_choice *choice = (const emit_choice *)((const char *)e + classes[class].offset);
  return e->structural || choice->op || choice->fn;
}

// A cell per class: whether kernels can hold the opcode for elements of that class. True if for any.
static bool print_kernel_cells(text *line, const hlo_op_info *op, const emit_op *e) {
  bool any = false;
  for (int c = 0; c < CLASS_COUNT; c++) {
    bool takes = op->classes == 0 || (op->classes & classes[c].class);
    bool has = takes && emits_class(e, c);
    any |= has;
    text_printf(line, " %-*s", (int)strlen(classes[c].name), has ? "yes" : takes ? "-" : "");
  }
  return any;
}

static void print_opcode(hlo_opcode o, coverage *sum) {
  const hlo_op_info *op = &hlo_ops[o];
  bool infers = op->shape_rule != SHAPE_RULE_GIVEN, evaluates = eval_supports(o),
       maps = op->index_rule != INDEX_RULE_NONE;
  text line = {0};
  text_printf(&line, "%-32s %-6s %-12s %-5s", op->text, infers ? "yes" : "given", evaluates ? "yes" : "-",
              maps ? "yes" : "-");
  const char *way = other_way(op);
  bool emits = way != NULL;
  if (way) text_printf(&line, " %s", way);
  else emits = print_kernel_cells(&line, op, &emit_ops[o]);
  while (line.data[line.size - 1] == ' ') line.size--;
  printf(STR_FMT "\n", STR_ARG(text_view(&line)));
  text_free(&line);
  sum->opcodes++;
  sum->inferred += infers;
  sum->interpreted += evaluates;
  sum->mapped += maps;
  sum->emitted += emits;
}

static void print_opcodes(coverage *sum) {
  printf("%-32s %-6s %-12s %-5s", "opcode", "shape", "interpreter", "maps");
  for (int c = 0; c < CLASS_COUNT; c++) printf(" %s", classes[c].name);
  printf("   in kernels, by class of the first operand\n");
  for (int o = 0; o < HLO_OPCODE_COUNT; o++) print_opcode((hlo_opcode)o, sum);
}

static void print_types(void) {
  MlirContext context = ir_context_create();
  printf("\n%-14s %5s %-12s %s\n", "element type", "bits", "interpreter", "kernels");
  for (int t = 0; t < DTYPE_COUNT; t++) {
    if (!dtype_is_array((dtype)t)) continue;
    bool emits = !mlirTypeIsNull(emit_element_type(context, (dtype)t));
    printf("%-14s %5d %-12s %s\n", dtypes[t].name, dtypes[t].bits, "yes", emits ? "yes" : "-");
  }
  mlirContextDestroy(context);
}

static void put_opcode(json_writer *w, hlo_opcode o) {
  const hlo_op_info *op = &hlo_ops[o];
  json_begin(w, NULL, '{');
  json_put_string(w, "opcode", str_from(op->text));
  json_put_bool(w, "infers_shape", op->shape_rule != SHAPE_RULE_GIVEN);
  json_put_bool(w, "interpreter", eval_supports(o));
  json_put_bool(w, "index_maps", op->index_rule != INDEX_RULE_NONE);
  const char *way = other_way(op);
  if (way) json_put_string(w, "kernels_otherwise", str_from(way));
  json_begin(w, "kernels", '[');
  for (int c = 0; c < CLASS_COUNT && !way; c++) {
    const bool takes = op->classes == 0 || (op->classes & classes[c].class);
    if (takes && emits_class(&emit_ops[o], c)) json_put_string(w, NULL, str_from(classes[c].name));
  }
  json_end(w, ']');
  json_end(w, '}');
}

static void put_type(json_writer *w, MlirContext context, dtype t) {
  json_begin(w, NULL, '{');
  json_put_string(w, "type", str_from(dtypes[t].name));
  json_put_int(w, "bits", dtypes[t].bits);
  json_put_bool(w, "kernels", !mlirTypeIsNull(emit_element_type(context, t)));
  json_end(w, '}');
}

static void print_json(void) {
  text t = {0};
  json_writer w = {.out = &t};
  MlirContext context = ir_context_create();
  json_begin(&w, NULL, '{');
  json_begin(&w, "opcodes", '[');
  for (int o = 0; o < HLO_OPCODE_COUNT; o++) put_opcode(&w, (hlo_opcode)o);
  json_end(&w, ']');
  json_begin(&w, "types", '[');
  for (int k = 0; k < DTYPE_COUNT; k++)
    if (dtype_is_array((dtype)k)) put_type(&w, context, (dtype)k);
  json_end(&w, ']');
  json_end(&w, '}');
  mlirContextDestroy(context);
  fwrite(t.data, 1, t.size, stdout);
  text_free(&t);
}

static heddle_status print_coverage(arena *a, const char *file, void *argument) {
  (void)a;
  (void)file;
  if (*(const bool *)argument) {
    print_json();
    return status_ok();
  }
  coverage sum = {0};
  print_opcodes(&sum);
  print_types();
  printf(
      "\n%d opcodes parse and print; of these %d have inferred shapes, %d run in the interpreter, %d have index maps, "
      "%d can be "
      "in kernels (cpu, nvptx)\n",
      sum.opcodes, sum.inferred, sum.interpreted, sum.mapped, sum.emitted);
  return status_ok();
}

int command_ops(int argc, char **argv) {
  bool json = false;
  const flag flags[] = {{"json", FLAG_BOOL, &json, NULL, "print JSON"}, {0}};
  const command_line line = {"heddle ops [flags]", "Lists every opcode and element type and where it is implemented.",
                             flags};
  return command_line_main_no_file(&line, argc, argv, print_coverage, &json);
}
