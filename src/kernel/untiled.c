// The mark is one of the instruction's frontend attributes.
#include "kernel/untiled.h"

#include "hlo/frontend_attributes.h"

#define NAME "heddle_tiles"
#define VALUE "none"

void untiled_mark(instruction *i) { frontend_attributes_put(i, NAME, VALUE); }

bool untiled_is(const instruction *i) { return frontend_attributes_have(i, NAME, VALUE); }

bool untiled_is_telling(const instruction *i) {
  return i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT && i->opcode != HLO_TUPLE;
}

void untiled_mark_names(const computation *c, const str_map *names) {
  for (int n = 0; n < c->instructions.size; n++) {
    instruction *i = c->instructions.data[n];
    if (untiled_is_telling(i) && str_map_has(names, i->name) && !untiled_is(i)) untiled_mark(i);
  }
}
