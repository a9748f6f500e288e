// Attributes that choose how an operation computes: precision, algorithm, accuracy; and what custom calls say.
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "hlo/lexer.h"
#include "hlo/text.h"
#include "proto/transfer.h"
#include "proto/values.h"

static Xla__PrecisionConfig *precision_of(proto_transfer *t) {
  if (!t->p->precision_config) HLO_PROTO_NEW(t->arena, t->p->precision_config, PrecisionConfig, precision_config);
  return t->p->precision_config;
}

heddle_status proto_read_precisions(proto_transfer *t) {
  const Xla__PrecisionConfig *from = t->p->precision_config;
  bool is_default = true;
  if (!from) return status_ok();
  precision_kind *to = arena_array(t->arena, precision_kind, from->n_operand_precision);
  for (size_t k = 0; k < from->n_operand_precision; k++) {
    int value = (int)from->operand_precision[k];
    if (value < PRECISION_DEFAULT || value > PRECISION_PACKED_NIBBLE)
      return status_error(HEDDLE_INVALID, "found operand precision %d", value);
    to[k] = (precision_kind)value;
    is_default &= value == PRECISION_DEFAULT;
  }
  if (is_default) return status_ok();
  t->x->operand_precision = to;
  t->x->precision_count = (int)from->n_operand_precision;
  attributes_mark(t->x, HLO_ATTRIBUTE_OPERAND_PRECISION);
  return status_ok();
}

// Operations with precisions have one for each of their first two operands, whether written or not.
heddle_status proto_write_precisions(proto_transfer *t) {
  int count = t->x->precision_count ? t->x->precision_count : t->i->opcode == HLO_CUSTOM_CALL ? 0 : 2;
  if (!count) return status_ok();
  Xla__PrecisionConfig *to = precision_of(t);
  to->n_operand_precision = (size_t)count;
  to->operand_precision = arena_array(t->arena, Xla__PrecisionConfig__Precision, count);
  for (int k = 0; k < t->x->precision_count; k++)
    to->operand_precision[k] = (Xla__PrecisionConfig__Precision)t->x->operand_precision[k];
  return status_ok();
}

static bool is_random(const proto_transfer *t) { return t->i->opcode == HLO_RNG_BIT_GENERATOR; }

heddle_status proto_read_algorithm(proto_transfer *t) {
  const ProtobufCEnumDescriptor *type = &xla__precision_config__algorithm__descriptor;
  if (is_random(t)) {
    if (t->p->rng_algorithm > XLA__RANDOM_ALGORITHM__RNG_PHILOX)
      return status_error(HEDDLE_INVALID, "found algorithm %d", (int)t->p->rng_algorithm);
    t->x->algorithm = (random_algorithm)t->p->rng_algorithm;
    attributes_mark(t->x, HLO_ATTRIBUTE_ALGORITHM);
    return status_ok();
  }
  if (!t->p->precision_config || !t->p->precision_config->algorithm) return status_ok();
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, (int)t->p->precision_config->algorithm);
  if (!value) return status_error(HEDDLE_INVALID, "found algorithm %d", (int)t->p->precision_config->algorithm);
  text name = {0};
  for (const char *c = value->name + strlen("ALG_"); *c; c++)
    text_putc(&name, (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c));
  t->x->dot_algorithm = proto_keep(t->arena, &name);
  attributes_mark(t->x, HLO_ATTRIBUTE_ALGORITHM);
  return status_ok();
}

heddle_status proto_write_algorithm(proto_transfer *t) {
  if (is_random(t)) {
    t->p->rng_algorithm = (Xla__RandomAlgorithm)t->x->algorithm;
    return status_ok();
  }
  str name = t->x->dot_algorithm;
  if (!name.size || str_is(name, "unset")) return status_ok();
  const ProtobufCEnumDescriptor *type = &xla__precision_config__algorithm__descriptor;
  for (unsigned k = 0; k < type->n_values; k++) {
    const char *value = type->values[k].name + strlen("ALG_");
    if (strlen(value) != name.size || strncasecmp(value, name.data, name.size) != 0) continue;
    precision_of(t)->algorithm = (Xla__PrecisionConfig__Algorithm)type->values[k].value;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found algorithm '" STR_FMT "', which a message cannot say", STR_ARG(name));
}

// {mode=highest} or {tolerance={atol=…,rtol=…,ulps=…}}
heddle_status proto_read_accuracy(proto_transfer *t) {
  const Xla__ResultAccuracy *from = t->p->result_accuracy;
  text out = {0};
  if (!from) return status_ok();
  if (from->specs_case == XLA__RESULT_ACCURACY__SPECS_TOLERANCE) {
    const Xla__ResultAccuracy__Tolerance *w = from->tolerance;
    text_printf(&out, "{tolerance={atol=%.17g,rtol=%.17g,ulps=%lld}}", w->atol, w->rtol, (long long)w->ulps);
  } else if (from->mode == XLA__RESULT_ACCURACY__MODE__HIGHEST) {
    text_puts(&out, "{mode=highest}");
  }
  proto_add_raw(t, HLO_ATTRIBUTE_RESULT_ACCURACY, proto_keep(t->arena, &out));
  return status_ok();
}

heddle_status proto_write_accuracy(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "result_accuracy");
  if (!raw) return status_ok();
  Xla__ResultAccuracy *to;
  HLO_PROTO_NEW(t->arena, to, ResultAccuracy, result_accuracy);
  t->p->result_accuracy = to;
  to->specs_case = XLA__RESULT_ACCURACY__SPECS_MODE;
  if (memmem(raw->data, raw->size, "highest", 7)) to->mode = XLA__RESULT_ACCURACY__MODE__HIGHEST;
  if (!memmem(raw->data, raw->size, "tolerance", 9)) return status_ok();
  to->specs_case = XLA__RESULT_ACCURACY__SPECS_TOLERANCE;
  HLO_PROTO_NEW(t->arena, to->tolerance, ResultAccuracy__Tolerance, result_accuracy__tolerance);
  lexer l = lexer_create(*raw);
  str name = {0};
  for (token k = lexer_next(&l); k.kind != TOKEN_END && k.kind != TOKEN_BAD; k = lexer_next(&l)) {
    if (k.kind == TOKEN_WORD) name = k.text;
    if (k.kind != TOKEN_NUMBER) continue;
    double value = strtod(proto_string(t->arena, k.text), NULL);
    if (str_is(name, "atol")) to->tolerance->atol = value;
    if (str_is(name, "rtol")) to->tolerance->rtol = value;
    if (str_is(name, "ulps") && value >= 0 && value < 0x1p62) to->tolerance->ulps = (int64_t)value;
  }
  return status_ok();
}

heddle_status proto_read_associative(proto_transfer *t) {
  if (t->p->is_associative == XLA__TRI_STATE__TRI_STATE_TRUE)
    proto_add_raw(t, HLO_ATTRIBUTE_IS_ASSOCIATIVE, STR("true"));
  if (t->p->is_associative == XLA__TRI_STATE__TRI_STATE_FALSE)
    proto_add_raw(t, HLO_ATTRIBUTE_IS_ASSOCIATIVE, STR("false"));
  return status_ok();
}

heddle_status proto_write_associative(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "is_associative");
  if (raw)
    t->p->is_associative = str_is(*raw, "true") ? XLA__TRI_STATE__TRI_STATE_TRUE : XLA__TRI_STATE__TRI_STATE_FALSE;
  return status_ok();
}

// --- custom calls

heddle_status proto_read_operand_layouts(proto_transfer *t) {
  size_t count = t->p->n_operand_shapes_with_layout;
  if (!count && !t->p->constrain_layout) return status_ok();
  const shape **layouts = arena_array(t->arena, const shape *, count);
  for (size_t k = 0; k < count; k++) TRY(proto_read_shape(t->arena, t->p->operand_shapes_with_layout[k], &layouts[k]));
  t->x->operand_layouts = layouts;
  t->x->operand_layout_count = (int)count;
  attributes_mark(t->x, HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS);
  return status_ok();
}

heddle_status proto_write_operand_layouts(proto_transfer *t) {
  if (!attributes_has(t->x, HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS) && !t->x->operand_layout_count)
    return status_ok();
  int count = t->x->operand_layout_count;
  t->p->constrain_layout = true;
  t->p->n_operand_shapes_with_layout = (size_t)count;
  t->p->operand_shapes_with_layout = arena_array(t->arena, Xla__ShapeProto *, count);
  for (int k = 0; k < count; k++)
    t->p->operand_shapes_with_layout[k] = proto_make_shape(t->arena, t->x->operand_layouts[k]);
  return status_ok();
}

// {{0}: (1, {}), {1}: (2, {0})}: the result's part, the operand and its part.
heddle_status proto_read_aliasing(proto_transfer *t) {
  text out = {0};
  for (size_t k = 0; k < t->p->n_output_operand_aliasing; k++) {
    const Xla__OutputOperandAliasing *from = t->p->output_operand_aliasing[k];
    text_puts(&out, k ? ", " : "{");
    proto_print_index(&out, from->n_output_shape_index, from->output_shape_index);
    text_printf(&out, ": (%lld, ", (long long)from->operand_index);
    proto_print_index(&out, from->n_operand_shape_index, from->operand_shape_index);
    text_putc(&out, ')');
  }
  if (out.size) text_putc(&out, '}');
  proto_add_raw(t, HLO_ATTRIBUTE_OUTPUT_TO_OPERAND_ALIASING, proto_keep(t->arena, &out));
  return status_ok();
}

static heddle_status write_alias(void *context, arena *a, const proto_alias *alias) {
  Xla__HloInstructionProto *p = context;
  Xla__OutputOperandAliasing *to;
  HLO_PROTO_NEW(a, to, OutputOperandAliasing, output_operand_aliasing);
  to->n_output_shape_index = (size_t)alias->output.size;
  to->output_shape_index = alias->output.data;
  to->operand_index = alias->number;
  to->n_operand_shape_index = (size_t)alias->input.size;
  to->operand_shape_index = alias->input.data;
  p->output_operand_aliasing[p->n_output_operand_aliasing++] = to;
  return status_ok();
}

heddle_status proto_write_aliasing(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "output_to_operand_aliasing");
  if (!raw) return status_ok();
  t->p->output_operand_aliasing = arena_array(t->arena, Xla__OutputOperandAliasing *, raw->size);
  return proto_each_alias(t->arena, *raw, write_alias, t->p);
}

heddle_status proto_read_call_literal(proto_transfer *t) {
  literal *value;
  if (!t->p->literal) return status_ok();
  TRY(proto_read_literal(t->arena, t->p->literal, &value));
  text out = {0};
  shape_print(&out, value->shape, true);
  text_putc(&out, ' ');
  literal_print(&out, value);
  proto_add_raw(t, HLO_ATTRIBUTE_LITERAL, proto_keep(t->arena, &out));
  return status_ok();
}

// The type ends where the value starts: at the last blank, or before the first brace behind one.
heddle_status proto_write_call_literal(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "literal");
  const shape *s;
  literal *value;
  if (!raw) return status_ok();
  const char *blank = memchr(raw->data, ' ', raw->size);
  if (raw->size && raw->data[0] == '(') blank = memmem(raw->data, raw->size, ") (", 3);
  if (!blank) return status_error(HEDDLE_INVALID, "found literal '" STR_FMT "'", STR_ARG(*raw));
  size_t at = (size_t)(blank - raw->data) + (*blank == ')');
  TRY(shape_parse(t->arena, (str){raw->data, at}, &s));
  TRY(literal_parse(t->arena, (str){raw->data + at, raw->size - at}, s, &value));
  return proto_make_literal(t->arena, value, &t->p->literal);
}

// Whether it can be written without quotes: one value in braces.
static bool is_json(str config) {
  if (!config.size || config.data[0] != '{') return false;
  lexer l = lexer_create(config);
  const char *problem = NULL;
  return lexer_value_end(&l, &problem) == config.size && !problem;
}

static proto_config copy_config(arena *a, ProtobufCBinaryData from) {
  str copy = str_copy(a, (str){from.len ? (const char *)from.data : "", from.len});
  return (proto_config){copy, is_json(copy)};
}

// A configuration may stand in the instruction, in its payload, or in the module's list of payloads; one of the latter
// is looked at once, however often it is used.
static proto_config config_of(const proto_transfer *t) {
  const Xla__Payload *payload = t->p->backend_config_payload;
  const Xla__HloModuleProto *m = t->context->module;
  if (t->p->backend_config.len || !payload) return copy_config(t->arena, t->p->backend_config);
  if (payload->id <= 0 || (uint64_t)payload->id > m->n_payloads) return copy_config(t->arena, payload->value);
  proto_config *kept = &t->context->payloads[payload->id - 1];
  if (!kept->text.data) *kept = copy_config(t->arena, m->payloads[payload->id - 1]);
  return *kept;
}

heddle_status proto_read_config(proto_transfer *t) {
  proto_config config = config_of(t);
  if (!config.text.size) return status_ok();
  t->x->backend_config = config.text;
  t->x->backend_config_is_json = config.is_json;
  attributes_mark(t->x, HLO_ATTRIBUTE_BACKEND_CONFIG);
  return status_ok();
}

static ProtobufCBinaryData bytes_of(arena *a, str from) {
  return (ProtobufCBinaryData){from.size, (uint8_t *)proto_string(a, from)};
}

heddle_status proto_write_config(proto_transfer *t) {
  if (t->x->backend_config.size) t->p->backend_config = bytes_of(t->arena, t->x->backend_config);
  return status_ok();
}

// An older name of the configuration.
heddle_status proto_write_opaque(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "opaque");
  if (!raw || t->x->backend_config.size) return status_ok();
  lexer l = lexer_create(*raw);
  token first = lexer_next(&l);
  t->p->backend_config = bytes_of(t->arena, first.kind == TOKEN_STRING ? lexer_unescape(t->arena, first.text) : *raw);
  return status_ok();
}
