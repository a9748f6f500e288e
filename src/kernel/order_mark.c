// Reads and writes the mark in the text of an instruction's frontend attributes, whose others stay.
#include "kernel/order_mark.h"

#include <stdio.h>
#include <string.h>

#define KEY "heddle_order="

bool order_mark_is(const instruction *i, const char *order) {
  const str *text = attributes_raw(i->attributes, "frontend_attributes");
  char mark[64];
  const size_t size = (size_t)snprintf(mark, sizeof mark, KEY "\"%s\"", order);
  for (size_t at = 0; text && at + size <= text->size; at++)
    if (memcmp(text->data + at, mark, size) == 0) return true;
  return false;
}

void order_mark_set(instruction *i, const char *order) {
  arena *a = i->parent->module->arena;
  hlo_attributes *x = i->attributes = attributes_copy(a, i->attributes);
  const str *before = attributes_raw(x, "frontend_attributes");
  const bool adds = before && before->size > 2 && before->data[0] == '{';
  const str rest = adds ? (str){before->data + 1, before->size - 1} : STR("}");
  const str text = str_from(arena_printf(a, "{" KEY "\"%s\"%s%.*s", order, adds ? "," : "", (int)rest.size, rest.data));
  struct raw_attribute *raws = arena_array(a, struct raw_attribute, x->raw_count);
  int kept = 0;
  for (int k = 0; k < x->raw_count; k++)
    if (!str_is(x->raws[k].name, "frontend_attributes")) raws[kept++] = x->raws[k];
  x->raws = raws;
  x->raw_count = kept;
  attributes_add_raw(a, x, STR("frontend_attributes"), text);
  attributes_mark(x, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
}
