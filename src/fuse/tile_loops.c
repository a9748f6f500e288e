// The mark is a frontend attribute, so that texts keep it.
#include "fuse/tile_loops.h"

#define NAME "frontend_attributes"
#define MARK "{super_tile=\"true\""

void tile_loops_mark(instruction *loop) {
  arena *a = loop->parent->module->arena;
  hlo_attributes *x = loop->attributes = attributes_copy(a, loop->attributes);
  for (int k = 0; k < x->raw_count; k++) {
    if (!str_is(x->raws[k].name, NAME)) continue;
    const str others = x->raws[k].text;
    const bool is_empty = others.size <= 2;
    x->raws[k].text =
        str_from(arena_printf(a, MARK "%s" STR_FMT, is_empty ? "" : ",", (int)others.size - 1, others.data + 1));
    return;
  }
  attributes_add_raw(a, x, STR(NAME), STR(MARK "}"));
  attributes_mark(x, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
}

bool tile_loops_has(const instruction *loop) {
  const str *text = attributes_raw(loop->attributes, NAME);
  return text && str_starts_with(*text, MARK);
}

// Behind the mark.
#define APART ",super_tile_apart=\"true\""

static bool is_apart(const instruction *loop) {
  const str *text = attributes_raw(loop->attributes, NAME);
  return text && str_starts_with(*text, MARK APART);
}

static void set_apart(instruction *loop, bool apart) {
  arena *a = loop->parent->module->arena;
  if (is_apart(loop) == apart) return;
  hlo_attributes *x = loop->attributes = attributes_copy(a, loop->attributes);
  for (int k = 0; k < x->raw_count; k++) {
    if (!str_is(x->raws[k].name, NAME)) continue;
    const size_t mark = sizeof MARK - 1, behind = apart ? mark : mark + sizeof APART - 1;
    const str text = x->raws[k].text;
    x->raws[k].text =
        str_from(arena_printf(a, MARK "%s" STR_FMT, apart ? APART : "", (int)(text.size - behind), text.data + behind));
  }
}

void tile_loops_set_apart(module *m, bool apart) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_WHILE && tile_loops_has(all->data[k])) set_apart(all->data[k], apart);
  }
}

static bool has_loop(const module *m, bool (*is_wanted)(const instruction *loop)) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_WHILE && is_wanted(all->data[k])) return true;
  }
  return false;
}

bool tile_loops_are_apart(const module *m) { return has_loop(m, is_apart); }

bool tile_loops_stand_in(const module *m) { return has_loop(m, tile_loops_has); }
