// Reads the text of the list with the tokens of HLO.
#include "hlo/frontend_attributes.h"

#include "hlo/lexer.h"

static token peek(const lexer *l) {
  lexer copy = *l;
  return lexer_next(&copy);
}

// Whether the tokens of HLO see one value in braces.
static bool is_braced(str value) {
  if (!value.size || value.data[0] != '{') return false;
  lexer l = lexer_create(value);
  const char *problem = NULL;
  return lexer_value_end(&l, &problem) == value.size && !problem;
}

static bool is_word(str name) {
  lexer l = lexer_create(name);
  token first = lexer_next(&l);
  return first.kind == TOKEN_WORD && first.start == 0 && first.end == name.size;
}

str frontend_attributes_text(arena *a, const frontend_attribute_list *list) {
  text t = {0};
  for (int k = 0; k < list->size; k++) {
    const frontend_attribute *x = &list->data[k];
    text_putc(&t, k ? ',' : '{');
    if (is_word(x->name)) text_append(&t, x->name);
    else text_quote(&t, x->name);
    text_putc(&t, '=');
    if (is_braced(x->value)) text_append(&t, x->value);
    else text_quote(&t, x->value);
  }
  if (t.size) text_putc(&t, '}');
  str kept = t.size ? str_copy(a, text_view(&t)) : (str){0};
  text_free(&t);
  return kept;
}

static heddle_status unexpected(token t, const char *wanted) {
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "' in frontend attributes, wanted %s", STR_ARG(t.text), wanted);
}

static heddle_status parse_one(arena *a, lexer *l, token name, frontend_attribute *out) {
  if (name.kind != TOKEN_WORD && name.kind != TOKEN_STRING && name.kind != TOKEN_NUMBER)
    return unexpected(name, "a name");
  token sign = lexer_next(l);
  if (sign.kind != '=') return unexpected(sign, "'='");
  token value = peek(l);
  const char *problem = NULL;
  size_t end = lexer_value_end(l, &problem);
  if (problem || end < value.start) return status_error(HEDDLE_INVALID, "a value is missing or never ends");
  out->name = name.kind == TOKEN_STRING ? lexer_unescape(a, name.text) : name.text;
  out->value = (str){l->source.data + value.start, end - value.start};
  if (value.kind == TOKEN_STRING && value.end == end) out->value = lexer_unescape(a, value.text);
  lexer_move(l, end);
  return status_ok();
}

heddle_status frontend_attributes_parse(arena *a, str source, frontend_attribute_list *out) {
  lexer l = lexer_create(source);
  token t = lexer_next(&l);
  *out = (frontend_attribute_list){0};
  if (t.kind != '{') return unexpected(t, "'{'");
  for (t = lexer_next(&l); t.kind != '}'; t = lexer_next(&l)) {
    frontend_attribute next;
    if (t.kind == ',' && out->size) continue;
    TRY(parse_one(a, &l, t, &next));
    vec_push(a, out, next);
  }
  return status_ok();
}

// --- one attribute

#define NAME "frontend_attributes"

bool frontend_attributes_have(const instruction *i, const char *name, const char *value) {
  const str *text = attributes_raw(i->attributes, NAME);
  if (!text) return false;
  arena *scratch = arena_create();
  frontend_attribute_list list;
  heddle_status s = frontend_attributes_parse(scratch, *text, &list);
  bool has = false;
  for (int k = 0; status_is_ok(s) && k < list.size; k++)
    has |= str_is(list.data[k].name, name) && str_is(list.data[k].value, value);
  heddle_status_free(s);
  arena_destroy(scratch);
  return has;
}

void frontend_attributes_put(instruction *i, const char *name, const char *value) {
  arena *a = i->parent->module->arena;
  hlo_attributes *x = i->attributes = attributes_copy(a, i->attributes);
  const str *before = attributes_raw(x, NAME);
  const bool adds = before && before->size > 2 && before->data[0] == '{';
  const str rest = adds ? (str){before->data + 1, before->size - 1} : STR("}");
  const str text =
      str_from(arena_printf(a, "{%s=\"%s\"%s%.*s", name, value, adds ? "," : "", (int)rest.size, rest.data));
  attributes_set_raw(a, x, STR(NAME), text);
  attributes_mark(x, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
}
