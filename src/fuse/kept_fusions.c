// Passes work within the bodies of fusions as they do anywhere, so a body that stays has the forms that kernels take by
// the time it is judged; whether some hero takes it is asked of the kernel's planner itself.
#include "fuse/kept_fusions.h"

#include "base/map.h"
#include "fuse/library.h"
#include "hlo/program_order.h"
#include "kernel/in_place.h"

typedef struct fusion_walk {
  arena *arena;
  const target_description *target;  // null: before the passes
  const kept_fusions_report *report;
  ptr_map seen;
  program_list work;
} fusion_walk;

static void unfuse(const fusion_walk *w, instruction *fusion, const char *why) {
  fusion->attributes->is_kept = false;
  if (w->report->remark) w->report->remark(w->report->argument, fusion, why);
}

// --- before the passes

static bool may_be_in_body(const instruction *i) {
  return i->opcode == HLO_CALL || !hlo_op_has(i->opcode, TRAIT_NOT_IN_FUSION);
}

static bool is_static(const shape *s) {
  bool all = !shape_is_array(s) || shape_is_static(s);
  for (int k = 0; k < s->tuple_size; k++) all &= is_static(s->elements[k]);
  return all;
}

static void add_called(arena *a, const instruction *i, ptr_map *seen, program_list *work) {
  for (int k = 0; k < i->called_count; k++) {
    if (ptr_map_has(seen, i->called[k])) continue;
    ptr_map_put(a, seen, i->called[k], work);
    vec_push(a, work, i->called[k]);
  }
}

// The first instruction of the computation, or of what it calls, that no body of a kernel has; null if there is none.
static const instruction *find_foreign(arena *a, computation *c) {
  program_list work = {0};
  ptr_map seen = {0};
  vec_push(a, &work, c);
  for (int next = 0; next < work.size; next++) {
    const instruction_list *all = &work.data[next]->instructions;
    for (int k = 0; k < all->size; k++) {
      if (!may_be_in_body(all->data[k]) || !is_static(all->data[k]->shape)) return all->data[k];
      add_called(a, all->data[k], &seen, &work);
    }
  }
  return NULL;
}

static void mark(fusion_walk *w, instruction *fusion) {
  const instruction *foreign = find_foreign(w->arena, fusion->called[0]);
  fusion->attributes->is_kept = !foreign;
  if (!foreign) return;
  const char *what = is_static(foreign->shape) ? "cannot be part of a kernel" : "has a size that only a run knows";
  unfuse(w, fusion,
         arena_printf(w->arena, "%s " STR_FMT " %s", hlo_op_text(foreign->opcode), STR_ARG(foreign->name), what));
}

// --- behind the passes

// A fusion of a library's kind that no library has is a kernel like others.
static bool is_library_call(const fusion_walk *w, const instruction *fusion) {
  library_call call;
  if (library_of(w->target, fusion) == LIBRARY_NONE) return false;
  heddle_status s = library_describe(w->arena, fusion, &call);
  const bool is_known = status_is_ok(s);
  heddle_status_free(s);
  return is_known;
}

static heddle_status check_kernel(const fusion_walk *w, const instruction *fusion) {
  kernel_plan *kernel;
  TRY(in_place_kernel(w->arena, fusion->called[0], "kept", w->target, &kernel));
  return kernel_check_work(kernel);
}

static void settle(fusion_walk *w, instruction *fusion) {
  if (!fusion->attributes->is_kept || is_library_call(w, fusion)) return;
  if (fusion->attributes->kind == FUSION_CUSTOM) fusion->attributes->kind = FUSION_LOOP;
  heddle_status s = check_kernel(w, fusion);
  if (!status_is_ok(s)) unfuse(w, fusion, status_brief(s));
  heddle_status_free(s);
}

// --- all fusions that programs run

static void walk(module *m, const target_description *target, const kept_fusions_report *report) {
  fusion_walk w = {.arena = arena_create(), .target = target, .report = report};
  vec_push(w.arena, &w.work, m->entry);
  for (int next = 0; next < w.work.size; next++) {
    const instruction_list *all = &w.work.data[next]->instructions;
    for (int k = 0; k < all->size; k++) {
      instruction *i = all->data[k];
      program_list_add_called(w.arena, i, &w.seen, &w.work);
      if (i->opcode != HLO_FUSION) continue;
      if (target) settle(&w, i);
      else mark(&w, i);
    }
  }
  arena_destroy(w.arena);
}

void kept_fusions_mark(module *m, const kept_fusions_report *report) { walk(m, NULL, report); }

void kept_fusions_settle(module *m, const target_description *target, const kept_fusions_report *report) {
  walk(m, target, report);
}
