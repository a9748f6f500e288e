// The operation that cannot be cut is the step's own or one that reads what the step computes: a step is cut to what
// its readers need of it.
#include "supertile/refusal.h"

#include "base/str.h"
#include "supertile/region.h"

// Readers behind the step that are looked at.
enum { MOST_READERS = 64 };

// The step that needs most of the level.
static const plan_step *worst_step(const plan_steps *steps, memory_level level, int64_t limit) {
  const plan_step *worst = NULL;
  for (int k = 0; k < steps->steps.size; k++) {
    const plan_step *x = &steps->steps.data[k];
    const int64_t bytes = level == MEMORY_DRAM ? x->footprint_bytes : x->touched_bytes;
    if (bytes <= limit) continue;
    limit = bytes;
    worst = x;
  }
  return worst;
}

static str uncut_at(arena *a, const instruction *i) {
  instruction_list work = {0};
  ptr_map seen = {0};
  vec_push(a, &work, (instruction *)i);
  for (int w = 0; w < work.size && w < MOST_READERS; w++) {
    const instruction *x = work.data[w];
    const char *why = region_why_whole(a, x);
    if (why)
      return str_from(arena_printf(a, "%s " STR_FMT " is not cut: %s", hlo_op_text(x->opcode), STR_ARG(x->name), why));
    for (int u = 0; u < x->users.size; u++) {
      instruction *user = x->users.data[u];
      if (user->opcode == HLO_TUPLE || ptr_map_has(&seen, user)) continue;
      ptr_map_put(a, &seen, user, user);
      vec_push(a, &work, user);
    }
  }
  return (str){0};
}

void refusal_find(arena *a, const module *m, const plan_steps *steps, const int64_t limits[MEMORY_LEVELS],
                  refusal *out) {
  *out = (refusal){0};
  for (int level = 0; level < MEMORY_LEVELS && out->step.size == 0; level++) {
    const plan_step *worst = worst_step(steps, level, limits[level]);
    if (!worst) continue;
    // Copies that planning adds have no place of their own: they carry results, or what a loop goes on with.
    const instruction *i = worst->bottom ? worst->bottom : worst->op->source, *root = m->entry->root;
    out->where = root->where.line > 0 ? root->where : m->entry->where;
    if (i && i->where.line > 0) out->where = i->where;
    out->level = level;
    out->bytes = level == MEMORY_DRAM ? worst->footprint_bytes : worst->touched_bytes;
    out->parts = footprint_parts_of(steps->plan->allocations, worst->op, level == MEMORY_L2);
    out->step = str_from(arena_printf(a, "%s " STR_FMT, i ? hlo_op_text(i->opcode) : "a copy beside",
                                      STR_ARG(i ? i->name : root->name)));
    if (worst->bottom) out->uncut = uncut_at(a, worst->bottom);
  }
  *out = refusal_copy(a, out);
}

refusal refusal_copy(arena *a, const refusal *r) {
  refusal copy = *r;
  if (r->where.file) copy.where.file = arena_printf(a, "%s", r->where.file);
  copy.step = str_copy(a, r->step);
  copy.uncut = str_copy(a, r->uncut);
  return copy;
}

// What the step's bytes are of, but for those of which there are none.
static heddle_status tell_parts(heddle_status s, const refusal *r) {
  static const char *const names[] = {"temporaries", "parameters", "results", "constants"};
  const int64_t parts[] = {r->parts.temporaries, r->parts.parameters, r->parts.results, r->parts.constants};
  text told = {0};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (parts[k] > 0) text_printf(&told, "%s%lld of %s", told.size > 0 ? ", " : "", (long long)parts[k], names[k]);
  if (told.size > 0) s = status_context(s, "the step takes " STR_FMT, STR_ARG(text_view(&told)));
  text_free(&told);
  return s;
}

static heddle_status tell_bound(heddle_status s, const lower_bound *bound, int64_t limit) {
  if (bound->bytes == 0) return s;
  return status_context(s, "no tiling takes less than %lld bytes%s: " STR_FMT, (long long)bound->bytes,
                        bound->bytes > limit ? ", so that none fits" : "", STR_ARG(bound->reason));
}

heddle_status refusal_status(const refusal *r, least_limit needed, int64_t limit, const lower_bound *bound) {
  const char *level = memory_level_name(r->level);
  heddle_status s;
  if (needed.fitting - needed.failing <= 1)
    s = status_at(HEDDLE_OUT_OF_MEMORY, r->where, STR_FMT " needs at least %lld bytes of %s, there are %lld",
                  STR_ARG(r->step), (long long)needed.fitting, level, (long long)limit);
  else
    s = status_at(HEDDLE_OUT_OF_MEMORY, r->where,
                  STR_FMT " needs more than %lld bytes of %s, and %lld are enough; there are %lld", STR_ARG(r->step),
                  (long long)needed.failing, level, (long long)needed.fitting, (long long)limit);
  s = tell_parts(s, r);
  if (r->uncut.size > 0) s = status_context(s, STR_FMT, STR_ARG(r->uncut));
  return tell_bound(s, bound, limit);
}
