// The short form of asynchronous operations: `((f32[3]), f32[3], s32[]) exp-start(x)` for an async-start that calls a
// computation of one instruction, and likewise `exp-update` and `exp-done`.
//
// The long form is what the rest of Heddle sees; the computation is built here.
#include "hlo/parser.h"

static const struct {
  const char *suffix;
  hlo_opcode opcode;
} forms[] = {{"-start", HLO_ASYNC_START}, {"-update", HLO_ASYNC_UPDATE}, {"-done", HLO_ASYNC_DONE}};

bool parser_is_async_short(str word, hlo_opcode *async, hlo_opcode *wrapped) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    size_t n = strlen(forms[i].suffix);
    if (word.size <= n || memcmp(word.data + word.size - n, forms[i].suffix, n) != 0) continue;
    *async = forms[i].opcode;
    *wrapped = hlo_op_from_text((str){word.data, word.size - n});
    return *wrapped != HLO_OPCODE_COUNT && *wrapped != HLO_PARAMETER && *wrapped != HLO_CONSTANT;
  }
  return false;
}

// Metadata and the thread belong to the asynchronous instruction, all else to the wrapped one.
static hlo_attributes outer_attributes(parser *p, const hlo_attributes *x) {
  hlo_attributes outer = *p->defaults;
  for (int i = 0; i < x->raw_count; i++) {
    hlo_attribute_id id = hlo_attribute_from_text(x->raws[i].name);
    if (id != HLO_ATTRIBUTE_METADATA && id != HLO_ATTRIBUTE_ASYNC_EXECUTION_THREAD) continue;
    attributes_mark(&outer, id);
    attributes_add_raw(p->arena, &outer, x->raws[i].name, x->raws[i].text);
  }
  return outer;
}

static hlo_attributes *inner_attributes(parser *p, const hlo_attributes *x) {
  hlo_attributes *inner = attributes_copy(p->arena, x);
  inner->raw_count = 0;
  inner->raws = NULL;
  for (int i = 0; i < x->raw_count; i++)
    if (!str_is(x->raws[i].name, "async_execution_thread"))
      attributes_add_raw(p->arena, inner, x->raws[i].name, x->raws[i].text);
  return inner;
}

static bool fits_start(const shape *s, int operand_count) {
  return s && shape_is_tuple(s) && s->tuple_size >= 2 && shape_is_tuple(s->elements[0]) &&
         s->elements[0]->tuple_size == operand_count;
}

static computation *build(parser *p, hlo_opcode wrapped, const shape *s, const hlo_attributes *x,
                          const pending_instruction *pending) {
  computation *c = module_add_computation(p->module, STR("async_wrapped"));
  int count = pending->operands.size;
  instruction **parameters = arena_array(p->scratch, instruction *, count);
  c->where = parser_where(p, pending->where);
  for (int k = 0; k < count; k++) {
    str name = str_from(arena_printf(p->scratch, "param_%d", k));
    parameters[k] = computation_add_parameter(c, k, name, s->elements[0]->elements[k]);
    parameters[k]->where = c->where;
  }
  instruction *root = computation_add(c, wrapped, STR("root"), s->elements[1], count, parameters);
  root->attributes = inner_attributes(p, x);
  root->where = c->where;
  computation_set_root(c, root);
  parser_keep_calls(p, root, pending->called);
  return c;
}

bool parser_wrap_async(parser *p, hlo_opcode async, hlo_opcode wrapped, const shape *s, pending_instruction *pending,
                       hlo_attributes *x) {
  called_list called = {0};
  if (async == HLO_ASYNC_START) {
    if (!fits_start(s, pending->operands.size))
      return parser_error(p, pending->where, "found another shape, wanted ((%d operands), result, ...) of %s-start",
                          pending->operands.size, hlo_op_text(wrapped));
    called_ref ref = {.where = pending->where, .inlined = build(p, wrapped, s, x, pending)};
    vec_push(p->scratch, &called, ref);
  }
  pending->called = called;
  *x = outer_attributes(p, x);
  return true;
}
