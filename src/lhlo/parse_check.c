// LHLO's text: whether every operation reads what was written before. Memory is simulated (lhlo_memory.h); a loop's
// body may not run at all, of branches one runs.
#include "lhlo/memory.h"
#include "lhlo/reader.h"

typedef struct written_check {
  lhlo_reader *reader;
  lhlo_memory *memory;
  arena *scratch;
} written_check;

enum { WRITTEN = 1 };

static heddle_status check_read(const written_check *w, const lhlo_op *op, const lhlo_slice *s, const char *what) {
  const ir_operation *from = ptr_map_get(&w->reader->sources, op);
  if (lhlo_memory_is_written(w->memory, s)) return status_ok();
  return status_at(HEDDLE_INVALID, from->where, STR_FMT " reads %s (%s + %lld), which nothing wrote before it",
                   STR_ARG(from->name), what, w->reader->allocations.data[s->allocation].name, (long long)s->offset);
}

static heddle_status check_body(written_check *w, const lhlo_body *body);

static heddle_status check_loop(written_check *w, const lhlo_op *op) {
  TRY(check_body(w, &op->bodies[0]));
  TRY(check_read(w, op, &op->control, "its condition"));
  int start = w->memory->log.size;
  TRY(check_body(w, &op->bodies[1]));
  lhlo_memory_undo(w->memory, start);
  return status_ok();
}

// Written afterwards is what every branch writes: each counts the branches before it that did.
static heddle_status check_branches(written_check *w, const lhlo_op *op) {
  lhlo_memory *m = w->memory;
  ptr_map counts = {0};  // content: branches that write it, while 0 … k-1 have
  VEC(lhlo_change) first = {0};
  TRY(check_read(w, op, &op->control, "its index"));
  for (int k = 0; k < op->body_count; k++) {
    int start = m->log.size;
    TRY(check_body(w, &op->bodies[k]));
    for (int j = start; j < m->log.size; j++) {
      const lhlo_change *x = &m->log.data[j];
      const lhlo_content *c = &m->allocations[x->allocation].contents[x->segment];
      intptr_t count = (intptr_t)ptr_map_get(&counts, c);
      if (k == 0 && count == 0) vec_push(w->scratch, &first, *x);
      if (count == k) ptr_map_put(w->scratch, &counts, c, (void *)(count + 1));  // NOLINT(performance-no-int-to-ptr)
    }
    lhlo_memory_undo(m, start);
  }
  for (int k = 0; k < first.size; k++) {
    lhlo_content *c = &m->allocations[first.data[k].allocation].contents[first.data[k].segment];
    if ((intptr_t)ptr_map_get(&counts, c) != op->body_count) continue;
    vec_push(m->arena, &m->log, ((lhlo_change){first.data[k].allocation, first.data[k].segment, *c}));
    c->token = WRITTEN;
  }
  return status_ok();
}

static heddle_status check_op(written_check *w, const lhlo_op *op) {
  for (int k = 0; k < op->operand_count; k++)
    TRY(check_read(w, op, &op->operands[k], arena_printf(w->scratch, "operand %d", k)));
  if (op->kind == LHLO_WHILE) return check_loop(w, op);
  if (op->kind == LHLO_CONDITIONAL) TRY(check_branches(w, op));
  if (op->kind == LHLO_CALL) TRY(check_body(w, &op->bodies[0]));
  bool is_work = op->body_count == 0;
  for (int k = 0; k < op->result_count; k++) {
    if (is_work) lhlo_memory_write(w->memory, &op->results[k], WRITTEN);
    TRY(check_read(w, op, &op->results[k], "its result"));
  }
  return status_ok();
}

static heddle_status check_body(written_check *w, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) TRY(check_op(w, body->ops.data[k]));
  return status_ok();
}

static heddle_status check_program(written_check *w) {
  const lhlo_program *p = w->reader->program;
  for (int k = 0; k < p->allocation_count; k++) {
    const lhlo_allocation *x = &p->allocations[k];
    bool is_given = x->kind == LHLO_PARAMETER || x->kind == LHLO_CONSTANT || x->donated_parameter >= 0;
    if (is_given) lhlo_memory_write(w->memory, &(lhlo_slice){k, 0, x->shape}, WRITTEN);
  }
  TRY(check_body(w, &p->entry));
  for (int k = 0; k < p->allocation_count; k++) {
    const lhlo_allocation *x = &p->allocations[k];
    if (x->kind == LHLO_RESULT && !lhlo_memory_is_written(w->memory, &(lhlo_slice){k, 0, x->shape}))
      return status_at(HEDDLE_INVALID, (source_location){.file = p->module->file, .line = 1, .column = 1},
                       "nothing writes result %s", x->name);
  }
  return status_ok();
}

heddle_status lhlo_check_written(lhlo_reader *r) {
  arena *scratch = arena_create();
  written_check w = {r, lhlo_memory_create(scratch, r->program), scratch};
  heddle_status s = check_program(&w);
  arena_destroy(scratch);
  return s;
}
