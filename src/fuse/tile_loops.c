// The mark is a frontend attribute, so that texts keep it.
#include "fuse/tile_loops.h"

#define MARK "{super_tile=\"true\"}"

void tile_loops_mark(instruction *loop) {
  arena *a = loop->parent->module->arena;
  loop->attributes = attributes_copy(a, loop->attributes);
  attributes_add_raw(a, loop->attributes, STR("frontend_attributes"), STR(MARK));
  attributes_mark(loop->attributes, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
}

bool tile_loops_has(const instruction *loop) {
  const str *text = attributes_raw(loop->attributes, "frontend_attributes");
  return text && str_is(*text, MARK);
}
