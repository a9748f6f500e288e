// Rewrites a module until nothing changes.
//
// The queue starts as the post order, so that a rule sees simplified operands. Replaced instructions stay until the
// end, without users; taking each out at once would search the users' lists of constants again and again.
#include "opt/worklist.h"

#include "base/call.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

typedef struct worklist {
  arena *scratch;
  computation *computation;
  worklist_rule rule;
  instruction_list queue;
  int next;            // of the queue
  ptr_map waited_for;  // by instructions with control edges
  int64_t changes, max_changes;
} worklist;

enum { QUEUED = 1 };

static void enqueue(worklist *w, instruction *i) {
  if (i->mark == QUEUED) return;
  i->mark = QUEUED;
  vec_push(w->scratch, &w->queue, i);
}

static bool is_dynamic(const shape *s) { return shape_is_array(s) && !shape_is_static(s); }

static bool may_change(const worklist *w, const instruction *i) {
  if (i->users.size == 0 && i != w->computation->root) return false;
  if (i->control_predecessors.size > 0 || ptr_map_has(&w->waited_for, i)) return false;
  for (int k = 0; k < i->operand_count; k++)
    if (is_dynamic(i->operands[k]->shape)) return false;
  return !is_dynamic(i->shape);
}

// Whether `by` can stand for `i`, made to have its layout if it is new.
static bool takes_place(const instruction *i, instruction *by) {
  if (by->users.size == 0 && by->opcode != HLO_PARAMETER && shape_is_array(i->shape) && shape_is_array(by->shape) &&
      shape_same_dims(i->shape, by->shape) && i->shape->dtype == by->shape->dtype)
    by->shape = i->shape;
  return shape_equal(i->shape, by->shape);
}

static void visit(worklist *w, instruction *i) {
  computation *c = w->computation;
  const builder b = builder_for(i);
  const int made = c->instructions.size;
  instruction *by = w->rule(&b, i);
  for (int k = made; k < c->instructions.size; k++) enqueue(w, c->instructions.data[k]);
  if (!by || by == i || !takes_place(i, by)) return;
  const int known = by->users.size;
  instruction_replace_uses(i, by);
  w->changes++;
  for (int k = known; k < by->users.size; k++) enqueue(w, by->users.data[k]);
}

static heddle_status rewrite(worklist *w) {
  instruction_list order;
  TRY(computation_post_order(w->scratch, w->computation, &order));
  rewrite_find_waited_for(w->scratch, w->computation, &w->waited_for);
  for (int k = 0; k < order.size; k++) order.data[k]->mark = 0;
  for (int k = 0; k < order.size; k++) enqueue(w, order.data[k]);
  w->max_changes = 1000 + 100 * (int64_t)order.size;
  while (w->next < w->queue.size && w->changes <= w->max_changes) {
    TRY(call_check());
    instruction *i = w->queue.data[w->next++];
    i->mark = 0;
    if (may_change(w, i)) visit(w, i);
  }
  if (w->changes <= w->max_changes) return status_ok();
  return status_error(HEDDLE_INTERNAL, "the simplification of computation '" STR_FMT "' does not end",
                      STR_ARG(w->computation->name));
}

heddle_status worklist_run(pass_context *context, module *m, worklist_rule rule) {
  heddle_status s = status_ok();
  for (int k = 0, count = m->computations.size; k < count && status_is_ok(s); k++) {
    worklist w = {.scratch = context->scratch, .computation = m->computations.data[k], .rule = rule};
    s = rewrite(&w);
    context->changed |= w.changes > 0;
  }
  return status_is_ok(s) ? opt_dead_code.run(context, m) : s;
}
