// Instructions: `ROOT %name = shape opcode(operands), attributes`, and the linking of names once a computation is read.
//
// Operands may be defined further down, so an instruction is made without them, and they are filled in when the
// computation ends. Control predecessors likewise.
#include <inttypes.h>
#include <stdlib.h>

#include "hlo/parser.h"
#include "hlo/text.h"

static const char *op_name_at(int i) { return hlo_ops[i].text; }

// The opcode, and for an asynchronous short form the operation it wraps (else both are the same).
static bool parse_opcode(parser *p, hlo_opcode *op, hlo_opcode *wrapped) {
  token at = p->tok;
  if (at.kind != TOKEN_WORD) return parser_found(p, "an operation");
  *op = *wrapped = hlo_op_from_text(at.text);
  if (*op == HLO_OPCODE_COUNT && !parser_is_async_short(at.text, op, wrapped)) {
    const char *near = parser_nearest(at.text, HLO_OPCODE_COUNT, op_name_at);
    int shown = at.text.size > 60 ? 60 : (int)at.text.size;
    return parser_error(p, at, "unknown operation '%.*s'%s%s%s", shown, at.text.data, near ? ", did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
  }
  parser_advance(p);
  return true;
}

static const void *number_key(int64_t number) {
  return (const void *)(intptr_t)number;  // NOLINT(performance-no-int-to-ptr): maps take integers as keys
}

// Instructions with nothing around them may give an operand's shape and nothing else.
static instruction *add_unnamed_parameter(parser *p, frame *f, const shape *s) {
  pending_instruction pending = {.where = p->tok, .is_unnamed = true};
  pending.instruction = computation_add(f->computation, HLO_PARAMETER, (str){0}, s, 0, NULL);
  pending.instruction->attributes->index = f->numbers.size;
  pending.instruction->where = parser_where(p, p->tok);
  ptr_map_put(p->scratch, &f->numbers, number_key(f->numbers.size), pending.instruction);
  vec_push(p->scratch, &f->pending, pending);
  return pending.instruction;
}

// `shape opcode(operands), attributes` behind `name =`, or with a null name in place of an operand, whose shape may
// have been read already; with neither, an instruction of its own.
static bool parse_operation(parser *p, frame *f, const token *name, const operand_ref *position, instruction **out);

static bool parse_operand(parser *p, frame *f, operand_list *out) {
  operand_ref ref = {0};
  if (parser_starts_shape(p) && !parser_shape(p, &ref.given)) return false;
  ref.where = p->tok;
  if (p->tok.kind == TOKEN_WORD && parser_peek(p).kind == '(') {
    if (!parser_enter(p)) return false;
    bool is_ok = parse_operation(p, f, NULL, &ref, &ref.inlined);
    parser_leave(p);
    if (!is_ok) return false;
  } else if (parser_is_name(p)) {
    parser_advance(p);
  } else if (f->is_open && ref.given && (p->tok.kind == ',' || p->tok.kind == ')')) {
    ref.inlined = add_unnamed_parameter(p, f, ref.given);
  } else {
    return parser_found(p, "the name of an operand");
  }
  vec_push(p->scratch, out, ref);
  return true;
}

static bool parse_operands(parser *p, frame *f, operand_list *out) {
  while (p->tok.kind != ')') {
    if (out->size && !parser_expect(p, ',', "',' or ')' after an operand")) return false;
    if (!parse_operand(p, f, out)) return false;
  }
  return true;
}

static bool check_arity(parser *p, hlo_opcode op, int found, token where) {
  const hlo_op_info *info = &hlo_ops[op];
  if (op == HLO_PARAMETER || op == HLO_CONSTANT) return true;
  if (info->arity != HLO_VARIADIC && found != info->arity)
    return parser_error(p, where, "found %d operand%s of %s, wanted %d", found, found == 1 ? "" : "s", info->text,
                        info->arity);
  if (found < info->min_operands)
    return parser_error(p, where, "found %d operand%s of %s, wanted at least %d", found, found == 1 ? "" : "s",
                        info->text, info->min_operands);
  return true;
}

// A parameter's number. More parameters than the text has room for are refused, so that a gap is found cheaply.
static bool parse_parameter_number(parser *p, frame *f, int64_t *number) {
  token at = p->tok;
  if (!parser_int(p, number)) return false;
  if (*number < 0 || *number > (int64_t)p->lexer.source.size)
    return parser_error(p, at, "found parameter number %" PRId64 ", wanted one that counts from 0 without gaps",
                        *number);
  const instruction *other = ptr_map_get(&f->numbers, number_key(*number));
  if (other)
    return parser_error(p, at, "parameter %" PRId64 " is there already: '" STR_FMT "'", *number, STR_ARG(other->name));
  return true;
}

// What stands between the parentheses, by opcode.
static bool parse_arguments(parser *p, frame *f, hlo_opcode op, const shape *s, pending_instruction *pending,
                            int64_t *number, literal **value) {
  if (!parser_expect(p, '(', "'(' before the operands")) return false;
  if ((op == HLO_PARAMETER || op == HLO_CONSTANT) && !s)
    return parser_error(p, pending->where, "%s needs a shape before it", hlo_op_text(op));
  bool is_ok = true;
  if (op == HLO_PARAMETER) is_ok = parse_parameter_number(p, f, number);
  else if (op == HLO_CONSTANT) is_ok = parser_literal(p, s, value);
  else is_ok = parse_operands(p, f, &pending->operands);
  return is_ok && parser_expect(p, ')', "')'");
}

// Parameters are listed by number only when all are known: they may come in any order.
static instruction *create(parser *p, frame *f, hlo_opcode op, str name, const shape *s,
                           const pending_instruction *pending) {
  int count = pending->operands.size;
  instruction **none = arena_array(p->scratch, instruction *, count);
  return computation_add(f->computation, op, name, s, count, none);
}

static bool parse_operation(parser *p, frame *f, const token *name, const operand_ref *position, instruction **out) {
  pending_instruction pending = {.is_unnamed = !name, .is_operand = position != NULL};
  hlo_opcode op = HLO_OPCODE_COUNT, wrapped = HLO_OPCODE_COUNT;
  hlo_attributes x = *p->defaults;
  const shape *s = position ? position->given : NULL;
  int64_t number = 0;
  literal *value = NULL;
  if (!s && parser_starts_shape(p) && !parser_shape(p, &s)) return false;
  pending.where = p->tok;
  if (!parse_opcode(p, &op, &wrapped) || !parse_arguments(p, f, op, s, &pending, &number, &value)) return false;
  if (!parser_attributes(p, wrapped, op, &x, &pending)) return false;
  // The short forms of async-update and async-done need not repeat what the start has said.
  hlo_opcode checked = op == HLO_ASYNC_START ? wrapped : op;
  if (!check_arity(p, checked, pending.operands.size, pending.where)) return false;
  if ((op == wrapped || op == HLO_ASYNC_START) && !parser_required_attributes(p, checked, &x, pending.where))
    return false;
  if (op != wrapped && !parser_wrap_async(p, op, wrapped, s, &pending, &x)) return false;
  if (op == HLO_PARAMETER) x.index = number;
  instruction *i = create(p, f, op, name ? name->text : (str){0}, s, &pending);
  if (op == HLO_PARAMETER) ptr_map_put(p->scratch, &f->numbers, number_key(number), i);
  *i->attributes = x;
  i->literal = value;
  i->where = parser_where(p, name ? *name : pending.where);
  pending.instruction = *out = i;
  parser_keep_calls(p, i, pending.called);
  vec_push(p->scratch, &f->pending, pending);
  return true;
}

static bool is_known(const frame *f, str name) { return str_map_has(&f->names, name); }

static bool parse_named(parser *p, frame *f, token name, bool is_root, token root) {
  instruction *i;
  if (!parser_expect(p, '=', "'=' after the instruction's name")) return false;
  if (!parse_operation(p, f, &name, NULL, &i)) return false;
  str_map_put(p->scratch, &f->names, name.text, i);
  if (!is_root) return true;
  if (f->has_root) return parser_error(p, root, "found a second ROOT, the first is in line %d", f->root_token.line);
  f->has_root = true;
  f->root_token = root;
  computation_set_root(f->computation, i);
  return true;
}

bool parser_instruction(parser *p, frame *f) {
  instruction *unnamed;
  if (f->is_open && parser_starts_shape(p)) return parse_operation(p, f, NULL, NULL, &unnamed);
  token root = p->tok;
  bool is_root = root.kind == TOKEN_WORD && str_is(root.text, "ROOT") && parser_peek(p).kind != '=';
  if (is_root) parser_advance(p);
  token name = p->tok;
  if (!parser_is_name(p)) return parser_found(p, "an instruction or '}'");
  parser_advance(p);
  if (is_known(f, name.text)) {
    int shown = name.text.size > 60 ? 60 : (int)name.text.size;
    return parser_error(p, name, "instruction '%.*s' is defined twice in one computation", shown, name.text.data);
  }
  if (parse_named(p, f, name, is_root, root)) return true;
  if (!is_known(f, name.text)) str_map_put(p->scratch, &f->names, name.text, NULL);
  return false;
}

// The instruction a name stands for; null without a message when that instruction has failed itself.
static instruction *look_up(parser *p, frame *f, const operand_ref *ref) {
  if (ref->inlined) return ref->inlined;
  str name = ref->where.text;
  instruction *found = str_map_get(&f->names, name);
  if (found || is_known(f, name)) return found;
  if (f->is_open && ref->given) {
    found = computation_add_parameter(f->computation, f->computation->parameters.size, name, ref->given);
    found->where = parser_where(p, ref->where);
    str_map_put(p->scratch, &f->names, name, found);
    return found;
  }
  int shown = name.size > 60 ? 60 : (int)name.size;
  parser_error(p, ref->where, "unknown operand '%.*s'", shown, name.data);
  return NULL;
}

static void resolve_operands(parser *p, frame *f, pending_instruction *pending) {
  for (int k = 0; k < pending->operands.size && !parser_stopped(p); k++) {
    const operand_ref *ref = &pending->operands.data[k];
    instruction *operand = look_up(p, f, ref);
    if (!operand) continue;
    instruction_set_operand(pending->instruction, k, operand);
    if (ref->given && operand->shape && !shape_compatible(ref->given, operand->shape))
      parser_error(p, ref->where, "found operand '" STR_FMT "' of shape %s, but %s was written before it",
                   STR_ARG(operand->name), shape_text(p->scratch, operand->shape), shape_text(p->scratch, ref->given));
  }
  for (int k = 0; k < pending->control_predecessors.size && !parser_stopped(p); k++) {
    operand_ref ref = {.where = pending->control_predecessors.data[k]};
    instruction *before = look_up(p, f, &ref);
    if (before) vec_push(p->arena, &pending->instruction->control_predecessors, before);
  }
}

// Names for the instructions that had none, once it is known which names the text uses.
static void name_instruction(parser *p, frame *f, instruction *i) {
  const char *stem = hlo_op_text(i->opcode);
  str name = str_from(stem);
  for (int n = i->id + 1; is_known(f, name); n++) {
    name = str_from(arena_printf(p->arena, "%s.%d", stem, n));
    if (p->module->next_name <= n) p->module->next_name = n + 1;
  }
  i->name = name;
  str_map_put(p->scratch, &f->names, name, i);
}

static int by_number(const void *l, const void *r) {
  int64_t x = (*(instruction *const *)l)->attributes->index, y = (*(instruction *const *)r)->attributes->index;
  return (x > y) - (x < y);
}

static void list_parameters(parser *p, const frame *f) {
  instruction_list *list = &f->computation->parameters;
  for (int k = 0; k < f->pending.size; k++)
    if (f->pending.data[k].instruction->opcode == HLO_PARAMETER)
      vec_push(p->arena, list, f->pending.data[k].instruction);
  if (list->size) qsort(list->data, (size_t)list->size, sizeof *list->data, by_number);
}

bool parser_resolve(parser *p, frame *f) {
  int errors = p->error_count;
  list_parameters(p, f);
  for (int k = 0; k < f->pending.size; k++) {
    if (f->pending.data[k].is_unnamed) name_instruction(p, f, f->pending.data[k].instruction);
    resolve_operands(p, f, &f->pending.data[k]);
  }
  return p->error_count == errors;
}
