// Modules as HLO text that parses back to an equal module.
//
// An attribute is printed if it was written, if it holds more than its default, or if its opcode requires it; so
// modules made by hand need not mark what they set.
#include "hlo/printer.h"

enum { ELIDED_ABOVE = 16 };  // elements, with the option elide_large

// A name that could be read as something else without its `%` always gets it.
static void print_name(text *out, str name, const hlo_print_options *options) {
  char c = name.size ? name.data[0] : '0';
  bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  is_plain = is_plain && !memmem(name.data, name.size, "...", 3);
  if (options->percent || !is_plain || str_is(name, "ROOT") || str_is(name, "ENTRY")) text_putc(out, '%');
  text_append(out, name);
}

// `is_required` of a row's list of names, each followed by `!` if it is.
static bool is_required(hlo_opcode op, const char *name) {
  size_t n = strlen(name);
  for (const char *at = hlo_ops[op].attributes; at && *at;) {
    size_t size = strcspn(at, " ");
    if (size == n + 1 && at[n] == '!' && memcmp(at, name, n) == 0) return true;
    at += size + (at[size] == ' ');
  }
  return false;
}

static bool is_printed(const instruction *i, hlo_attribute_id id) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  const hlo_attributes *x = i->attributes;
  if (info->kind == ATTRIBUTE_RAW || info->kind == ATTRIBUTE_LITERAL) return attributes_raw(x, info->text) != NULL;
  if (id == HLO_ATTRIBUTE_INDEX && i->opcode == HLO_PARAMETER) return false;
  if (info->kind == ATTRIBUTE_ENUM && !info->names[*(const int *)((const char *)x + info->offset)][0]) return false;
  // Rows name attributes by their text; what a gather requires, a permute of slices has under the same name.
  const bool may_be_required = id != HLO_ATTRIBUTE_SLICE_SIZES_OF_TRANSFERS;
  return attributes_has(x, id) || !attributes_is_default(x, id) ||
         (may_be_required && is_required(i->opcode, info->text));
}

static void print_attribute_name(text *out, const char *name) { text_printf(out, ", %s=", name); }

static void print_called(text *out, const instruction *i, int index, const char *name,
                         const hlo_print_options *options) {
  print_attribute_name(out, name);
  print_name(out, i->called[index]->name, options);
}

static void print_called_list(text *out, const instruction *i, const char *name, const hlo_print_options *options) {
  print_attribute_name(out, name);
  text_putc(out, '{');
  for (int k = 0; k < i->called_count; k++) {
    if (k) text_puts(out, ", ");
    print_name(out, i->called[k]->name, options);
  }
  text_putc(out, '}');
}

// Called computations under the names their opcode gives them, in the order of ops.def.
static void print_calls(text *out, const instruction *i, const hlo_print_options *options) {
  const shape *first = i->operand_count && i->operands[0] ? i->operands[0]->shape : NULL;
  bool is_two_way = i->opcode == HLO_CONDITIONAL && i->called_count == 2 && first && first->dtype == DTYPE_PRED;
  if (i->called_count == 0) return;
  if (i->opcode == HLO_CONDITIONAL && !is_two_way) {
    print_called_list(out, i, "branch_computations", options);
    return;
  }
  if (i->opcode == HLO_CUSTOM_CALL &&
      (i->called_count > 1 || attributes_has(i->attributes, HLO_ATTRIBUTE_CALLED_COMPUTATIONS))) {
    print_called_list(out, i, "called_computations", options);
    return;
  }
  int next = 0;
  for (const char *at = hlo_ops[i->opcode].attributes; at && *at && next < i->called_count;) {
    size_t size = strcspn(at, " ");
    str name = {at, size - (at[size - 1] == '!')};
    hlo_attribute_id id = hlo_attribute_from_text(name);
    if (id < HLO_ATTRIBUTE_COUNT && hlo_attribute_infos[id].kind == ATTRIBUTE_COMPUTATION)
      print_called(out, i, next++, hlo_attribute_infos[id].text, options);
    at += size + (at[size] == ' ');
  }
}

static void print_control(text *out, const instruction *i, const hlo_print_options *options) {
  if (!i->control_predecessors.size) return;
  print_attribute_name(out, hlo_attribute_infos[HLO_ATTRIBUTE_CONTROL_PREDECESSORS].text);
  text_putc(out, '{');
  for (int k = 0; k < i->control_predecessors.size; k++) {
    if (k) text_puts(out, ", ");
    print_name(out, i->control_predecessors.data[k]->name, options);
  }
  text_putc(out, '}');
}

static void print_attributes(text *out, const instruction *i, const hlo_print_options *options) {
  bool has_printed_calls = false;
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++) {
    hlo_attribute_kind kind = hlo_attribute_infos[id].kind;
    bool is_call = kind == ATTRIBUTE_COMPUTATION || kind == ATTRIBUTE_COMPUTATIONS;
    if (is_call && !has_printed_calls) print_calls(out, i, options);
    has_printed_calls |= is_call;
    if (kind == ATTRIBUTE_CONTROL) print_control(out, i, options);
    if (is_call || kind == ATTRIBUTE_CONTROL || !is_printed(i, (hlo_attribute_id)id)) continue;
    if (id == HLO_ATTRIBUTE_METADATA && !options->metadata) continue;
    print_attribute_name(out, hlo_attribute_infos[id].text);
    printer_attribute_value(out, i->attributes, (hlo_attribute_id)id);
  }
}

static void print_operands(text *out, const instruction *i, const hlo_print_options *options) {
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *operand = i->operands[k];
    if (k) text_puts(out, ", ");
    if (k && k % 5 == 0) text_printf(out, "/*index=%d*/", k);
    if (options->operand_shapes) {
      shape_print(out, operand->shape, options->layouts);
      text_putc(out, ' ');
    }
    print_name(out, operand->name, options);
  }
}

static void print_constant(text *out, const instruction *i, const hlo_print_options *options) {
  if (!i->literal) return;
  bool is_elided = options->elide_large && shape_is_array(i->shape) && shape_element_count(i->shape) > ELIDED_ABOVE;
  if (is_elided) text_puts(out, "{...}");
  else literal_print(out, i->literal);
}

void hlo_print_instruction(text *out, const instruction *i, hlo_print_options options) {
  if (i->parent && i->parent->root == i) text_puts(out, "ROOT ");
  print_name(out, i->name, &options);
  text_puts(out, " = ");
  shape_print(out, i->shape, options.layouts);
  text_printf(out, " %s(", hlo_op_text(i->opcode));
  if (i->opcode == HLO_PARAMETER) text_printf(out, "%lld", (long long)i->attributes->index);
  else if (i->opcode == HLO_CONSTANT) print_constant(out, i, &options);
  else print_operands(out, i, &options);
  text_putc(out, ')');
  print_attributes(out, i, &options);
}

static void print_signature(text *out, const computation *c, const hlo_print_options *options) {
  text_puts(out, " (");
  for (int k = 0; k < c->parameters.size; k++) {
    if (k) text_puts(out, ", ");
    print_name(out, c->parameters.data[k]->name, &(hlo_print_options){0});
    text_puts(out, ": ");
    shape_print(out, c->parameters.data[k]->shape, false);
  }
  text_puts(out, ") -> ");
  shape_print(out, c->root->shape, options->layouts);
}

void hlo_print_computation(text *out, const computation *c, hlo_print_options options) {
  if (c->module && c->module->entry == c) text_puts(out, "ENTRY ");
  print_name(out, c->name, &options);
  if (options.percent) print_signature(out, c, &options);
  text_puts(out, " {\n");
  for (int k = 0; k < c->instructions.size; k++) {
    text_puts(out, "  ");
    hlo_print_instruction(out, c->instructions.data[k], options);
    text_putc(out, '\n');
  }
  text_putc(out, '}');
  if (c->execution_thread.size) {
    text_puts(out, ", execution_thread=");
    text_quote(out, c->execution_thread);
  }
  if (c->attributes_text.size) {
    text_puts(out, ", ");
    text_append(out, c->attributes_text);
  }
  text_putc(out, '\n');
}

void hlo_print(text *out, const module *m, hlo_print_options options) {
  text_puts(out, "HloModule ");
  print_name(out, m->name, &(hlo_print_options){0});
  for (int k = 0; k < m->attributes.size; k++) {
    text_printf(out, ", " STR_FMT "=", STR_ARG(m->attributes.data[k].name));
    text_append(out, m->attributes.data[k].value);
  }
  text_puts(out, "\n");
  if (m->tables.size && options.metadata) {
    text_putc(out, '\n');
    text_append(out, m->tables);
    text_puts(out, "\n");
  }
  for (int k = 0; k < m->computations.size; k++) {
    text_putc(out, '\n');
    hlo_print_computation(out, m->computations.data[k], options);
  }
}
