// What failed is known by the names of its instructions, since every attempt has a module of its own.
#include "api/tile_failures.h"

#include <string.h>

#include "base/log.h"
#include "kernel/untiled.h"

enum { MOST_FAILURES = 16 };  // that are looked for one by one

static bool is_avoidable(heddle_code code) { return code != HEDDLE_OUT_OF_MEMORY && code != HEDDLE_CANCELLED; }

// False if all were there: a kernel whose instructions are marked was made of tiles nevertheless.
static bool add_names(tile_failures *f, const instruction_list *body) {
  bool any = false;
  for (int n = 0; n < body->size; n++) {
    const str name = body->data[n]->name;
    if (!untiled_is_telling(body->data[n]) || str_map_has(&f->names, name)) continue;
    str_map_put(f->arena, &f->names, str_copy(f->arena, name), f);
    any = true;
  }
  return any;
}

bool tile_failures_note(tile_failures *f, const kernel_plan *kernel, heddle_status s) {
  if (kernel->hero != HERO_TILES || !is_avoidable(heddle_status_code(s)) || f->has_all) return false;
  const computation *c = kernel->computation;
  const char *why = status_brief(s);
  const instruction *root = c->root->opcode == HLO_TUPLE ? c->root->operands[0] : c->root;
  const tile_failure made = {str_copy(f->arena, root->name), arena_strdup(f->arena, why, strlen(why))};
  vec_push(f->arena, &f->list, made);
  log_print(1, "kernel %s of " STR_FMT " is planned again without tiles: %s", kernel->name, STR_ARG(made.root),
            made.why);
  f->has_all = !add_names(f, &c->instructions) || f->list.size == MOST_FAILURES;
  return true;
}

void tile_failures_mark(const tile_failures *f, const module *m) {
  for (int c = 0; c < m->computations.size && f->list.size > 0; c++)
    untiled_mark_names(m->computations.data[c], &f->names);
}

target_codegen tile_failures_codegen(const tile_failures *f, target_codegen asked) {
  if (!f->has_all) return asked;
  if (asked == CODEGEN_CHOSEN) return CODEGEN_LIBRARY;
  return asked == CODEGEN_TILES ? CODEGEN_EMITTERS : asked;
}

void tile_failures_print(const tile_failures *f, text *out) {
  for (int k = 0; k < f->list.size; k++)
    text_printf(out, STR_FMT ": not by tiles, which failed: %s\n", STR_ARG(f->list.data[k].root), f->list.data[k].why);
}
