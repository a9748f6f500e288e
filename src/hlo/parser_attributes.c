// The attribute list of an instruction: which names its opcode takes, and the attributes that name computations or
// instructions. Plain values are parser_values.c's.
#include "hlo/parser.h"

// Calls an op's attributes may spell: by id, to be put into the order of ops.def afterwards.
typedef struct called_slot {
  hlo_attribute_id id;
  called_list called;
} called_slot;

typedef VEC(called_slot) called_slots;

// The next name in a row's list of attributes. `name!` is required.
static bool next_accepted(const char **list, str *name, bool *required) {
  const char *at = *list;
  while (at && *at == ' ') at++;
  if (!at || !*at) return false;
  const char *end = at;
  while (*end && *end != ' ') end++;
  *required = end[-1] == '!';
  *name = (str){at, (size_t)(end - at) - *required};
  *list = end;
  return true;
}

static bool is_accepted(hlo_opcode op, hlo_attribute_id id) {
  const char *list = hlo_ops[op].attributes;
  str name;
  bool required;
  if (hlo_attribute_infos[id].common) return true;
  while (next_accepted(&list, &name, &required))
    if (str_is(name, hlo_attribute_infos[id].text)) return true;
  return false;
}

static const char *attribute_name_at(int i) { return hlo_attribute_infos[i].text; }

// Says what is wrong with the name, then passes over the value, so that what follows is still read.
static bool refuse(parser *p, hlo_opcode op, token name, hlo_attribute_id id) {
  const char *near = parser_nearest(name.text, HLO_ATTRIBUTE_COUNT, attribute_name_at);
  int shown = name.text.size > 60 ? 60 : (int)name.text.size;
  if (id < HLO_ATTRIBUTE_COUNT)
    parser_error(p, name, "%s takes no attribute '%.*s'", hlo_op_text(op), shown, name.text.data);
  else
    parser_error(p, name, "unknown attribute '%.*s' of %s%s%s%s", shown, name.text.data, hlo_op_text(op),
                 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
  str value;
  return parser_take(p, '=') && parser_value_text(p, &value);
}

static bool parse_called(parser *p, called_list *out) {
  called_ref ref = {.where = p->tok};
  if (p->tok.kind == '{') {
    if (!parser_inline_body(p, &ref.inlined)) return false;
  } else if (parser_is_name(p)) {
    parser_advance(p);
  } else {
    return parser_found(p, "the name of a computation");
  }
  vec_push(p->scratch, out, ref);
  return true;
}

// Braces may hold a list of names where one name is expected; a body begins with `name =` instead.
static bool starts_name_list(const parser *p) {
  lexer ahead = p->lexer;
  token first = lexer_next(&ahead), second = lexer_next(&ahead);
  bool is_name = first.kind == TOKEN_NAME || first.kind == TOKEN_WORD || first.kind == TOKEN_NUMBER;
  return first.kind == '}' || (is_name && (second.kind == ',' || second.kind == '}'));
}

static bool parse_called_list(parser *p, called_list *out) {
  if (p->tok.kind != '{' || !starts_name_list(p)) return parse_called(p, out);
  parser_advance(p);
  while (p->tok.kind != '}') {
    if (out->size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parse_called(p, out)) return false;
  }
  parser_advance(p);
  return true;
}

static bool parse_control(parser *p, token_list *out) {
  if (!parser_expect(p, '{', "'{' of a list of instructions")) return false;
  while (p->tok.kind != '}') {
    if (out->size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parser_is_name(p)) return parser_found(p, "the name of an instruction");
    vec_push(p->scratch, out, p->tok);
    parser_advance(p);
  }
  parser_advance(p);
  return true;
}

static bool parse_value(parser *p, hlo_opcode op, hlo_attribute_id id, hlo_attributes *x, called_slots *slots,
                        token_list *control) {
  hlo_attribute_kind kind = hlo_attribute_infos[id].kind;
  called_slot slot = {.id = id};
  if (kind == ATTRIBUTE_CONTROL) return parse_control(p, control);
  if (kind != ATTRIBUTE_COMPUTATION && kind != ATTRIBUTE_COMPUTATIONS) return parser_attribute_value(p, op, id, x);
  if (!parse_called_list(p, &slot.called)) return false;
  vec_push(p->scratch, slots, slot);
  return true;
}

// name=value behind a comma.
static bool parse_attribute(parser *p, hlo_opcode op, hlo_opcode async, hlo_attributes *x, called_slots *slots,
                            token_list *control) {
  token name = p->tok;
  if (name.kind != TOKEN_WORD) return parser_found(p, "the name of an attribute");
  parser_advance(p);
  hlo_attribute_id id = hlo_attribute_from_text(name.text);
  if (id == HLO_ATTRIBUTE_SLICE_SIZES && hlo_op_has(op, TRAIT_COLLECTIVE)) id = HLO_ATTRIBUTE_SLICE_SIZES_OF_TRANSFERS;
  if (id == HLO_ATTRIBUTE_COUNT || (!is_accepted(op, id) && !is_accepted(async, id))) return refuse(p, op, name, id);
  if (attributes_has(x, id)) parser_error(p, name, "attribute '%s' is given twice", hlo_attribute_infos[id].text);
  attributes_mark(x, id);
  return parser_expect(p, '=', "'='") && parse_value(p, op, id, x, slots, control);
}

// The calls in the order in which ops.def names them.
static void order_called(parser *p, hlo_opcode op, const called_slots *slots, called_list *out) {
  const char *list = hlo_ops[op].attributes;
  str name;
  bool required;
  while (next_accepted(&list, &name, &required))
    for (int k = 0; k < slots->size; k++) {
      const called_slot *slot = &slots->data[k];
      if (!str_is(name, hlo_attribute_infos[slot->id].text)) continue;
      for (int i = 0; i < slot->called.size; i++) vec_push(p->scratch, out, slot->called.data[i]);
    }
}

bool parser_required_attributes(parser *p, hlo_opcode op, const hlo_attributes *x, token where) {
  const char *list = hlo_ops[op].attributes;
  str name;
  bool required, is_ok = true;
  while (next_accepted(&list, &name, &required)) {
    if (!required || attributes_has(x, hlo_attribute_from_text(name))) continue;
    is_ok = parser_error(p, where, "%s needs the attribute '" STR_FMT "'", hlo_op_text(op), STR_ARG(name));
  }
  return is_ok;
}

// Behind an operation that stands in place of an operand a comma may also lead to the next operand.
static bool attribute_follows(const parser *p) {
  lexer ahead = p->lexer;
  token name = lexer_next(&ahead);
  return p->tok.kind == ',' && name.kind == TOKEN_WORD && lexer_next(&ahead).kind == '=';
}

bool parser_attributes(parser *p, hlo_opcode op, hlo_opcode async, hlo_attributes *x, pending_instruction *pending) {
  called_slots slots = {0};
  int errors = p->error_count;
  while ((!pending->is_operand || attribute_follows(p)) && parser_take(p, ','))
    if (!parse_attribute(p, op, async, x, &slots, &pending->control_predecessors)) return false;
  order_called(p, op, &slots, &pending->called);
  return p->error_count == errors;
}
