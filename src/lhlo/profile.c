// The pair is a mark on the operation: nothing else may stand between the two in what this writes, and text that has
// several operations there means that each is marked. What the pair becomes is decided where programs are built: the
// runtime calls its profiler around each thunk that is marked (rt/sequence.c).
#include "lhlo/profile.h"

static void mark(lhlo_body *body) {
  for (int i = 0; i < body->ops.size; i++) {
    lhlo_op *op = body->ops.data[i];
    op->is_profiled = true;
    for (int k = 0; k < op->body_count; k++) mark(&op->bodies[k]);
  }
}

void lhlo_profile_inject(lhlo_program *p) { mark(&p->entry); }

static bool has_mark(const lhlo_body *body) {
  for (int i = 0; i < body->ops.size; i++) {
    const lhlo_op *op = body->ops.data[i];
    if (op->is_profiled) return true;
    for (int k = 0; k < op->body_count; k++)
      if (has_mark(&op->bodies[k])) return true;
  }
  return false;
}

bool lhlo_profile_is_injected(const lhlo_program *p) { return has_mark(&p->entry); }
