// Control flow of a warp in lock step.
//
// Lanes that part at a branch become paths of their own on a stack, and meet again at the branch's immediate
// post-dominator: the classic way, in which a barrier in divergent code shows as one that is reached by some of the
// lanes only.
#include "simulate/warp.h"

#include <string.h>

#include "base/call.h"
#include "simulate/execute.h"

enum { CHECKED_STEPS = 1 << 14 };

#define MOST_STEPS (INT64_C(1) << 34)

// --- ways

// All phis change at the same time: where one writes what another reads, values are gathered before.
static void take_edge(const warp *w, const warp_call *c, const sim_edge *e, sim_mask lanes) {
  sim_slot *gathered = w->block->gathered;
  for (int k = 0; k < e->copy_count && e->overlaps; k++)
    memcpy(gathered[k], execute_slot(w, c, e->from[k]), sizeof(sim_slot));
  for (int k = 0; k < e->copy_count; k++) {
    const uint64_t *from = e->overlaps ? gathered[k] : execute_slot(w, c, e->from[k]);
    uint64_t *to = c->slots[e->to[k]];
    for (int l = 0; l < SIM_LANES; l++)
      if (lanes >> l & 1) to[l] = from[l];
  }
}

static void push(warp_call *c, int block, sim_mask lanes, int meets) {
  c->paths[c->path_count++] = (warp_path){.lanes = lanes, .block = block, .meets = meets};
}

// Lanes of the running path go different ways: masks[k] takes edge k.
static void part(const warp *w, warp_call *c, const sim_op *op, const sim_mask *masks) {
  warp_path *running = &c->paths[c->path_count - 1];
  const sim_mask all = running->lanes;
  for (int k = 0; k < op->edge_count; k++) {
    if (masks[k]) take_edge(w, c, &op->edges[k], masks[k]);
    if (masks[k] != all) continue;
    running->block = op->edges[k].block;
    running->op = 0;
    return;
  }
  const int meets = c->function->blocks[running->block].meets;
  // The path waits where they meet; if that is where it meets the one below it, that one waits for all of them.
  if (meets == running->meets) {
    c->path_count--;
  } else {
    running->block = meets;
    running->op = 0;
  }
  sim_mask placed = 0;
  for (int k = 0; k < op->edge_count; k++) {
    sim_mask together = masks[k] & ~placed;
    if (!together) continue;
    for (int j = k + 1; j < op->edge_count; j++)
      if (op->edges[j].block == op->edges[k].block) together |= masks[j];
    placed |= together;
    if (op->edges[k].block != meets) push(c, op->edges[k].block, together, meets);
  }
}

static void branch(const warp *w, warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *condition = execute_slot(w, c, op->operands[0].slot);
  sim_mask taken = 0;
  for (int l = 0; l < SIM_LANES; l++) taken |= (sim_mask)(condition[l] & 1) << l;
  part(w, c, op, (const sim_mask[]){active & taken, active & ~taken});
}

static heddle_status switch_on(const warp *w, warp_call *c, const sim_op *op, sim_mask active) {
  enum { MOST_CASES = 1024 };
  if (op->edge_count > MOST_CASES) return execute_fail(w, op, 0, "a switch has more than %d cases", MOST_CASES);
  const uint64_t *value = execute_slot(w, c, op->operands[0].slot);
  sim_mask masks[MOST_CASES] = {0};
  for (int l = 0; l < SIM_LANES; l++) {
    if (!(active >> l & 1)) continue;
    int k = 1;
    while (k < op->edge_count && op->cases[k] != value[l]) k++;
    masks[k < op->edge_count ? k : 0] |= (sim_mask)1 << l;
  }
  part(w, c, op, masks);
  return status_ok();
}

static void return_from(const warp *w, warp_call *c, const sim_op *op, sim_mask active) {
  if (c->results && op->operand_count > 0) {
    for (int k = 0; k < op->operands[0].count; k++) {
      const uint64_t *from = execute_slot(w, c, op->operands[0].slot + k);
      for (int l = 0; l < SIM_LANES; l++)
        if (active >> l & 1) c->results[k][l] = from[l];
    }
  }
  c->live &= ~active;
  for (int k = 0; k < c->path_count; k++) c->paths[k].lanes &= ~active;
}

// --- barriers and calls

static heddle_status wait_at(warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  if (active != w->threads) {
    const sim_mask missing = w->threads & ~active;
    return execute_fail(w, op, __builtin_ctz(missing),
                        "does not come to a barrier that %d lanes of its warp have reached%s",
                        __builtin_popcount(active), c->live == active ? ": it has ended" : "");
  }
  w->waits = op;
  return status_ok();
}

static heddle_status run_call(warp *w, warp_call *c);

static heddle_status call(warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const sim_function *f = op->callee;
  warp_call *callee = &w->block->calls[f - w->block->code->functions];
  for (int p = 0; p < f->parameter_count; p++)
    for (int k = 0; k < f->parameters[p].count; k++)
      memcpy(callee->slots[f->parameters[p].slot + k], execute_slot(w, c, op->operands[p].slot + k), sizeof(sim_slot));
  callee->live = active;
  callee->results = op->result >= 0 ? &c->slots[op->result] : NULL;
  callee->path_count = 0;
  push(callee, 0, active, -1);
  return run_call(w, callee);
}

static heddle_status step(warp *w, warp_call *c, const sim_op *op, sim_mask active) {
  switch (op->opcode) {
    case SIM_JUMP: part(w, c, op, &active); return status_ok();
    case SIM_BRANCH: branch(w, c, op, active); return status_ok();
    case SIM_SWITCH: return switch_on(w, c, op, active);
    case SIM_RETURN: return_from(w, c, op, active); return status_ok();
    case SIM_UNREACHABLE: return execute_fail(w, op, __builtin_ctz(active), "comes to what must not be reached");
    case SIM_BARRIER: return wait_at(w, c, op, active);
    case SIM_CALL: return call(w, c, op, active);
    default: return execute_op(w, c, op, active);
  }
}

// Whether the path has come to its end: nobody is on it, or it meets the one below.
static bool is_over(const warp_path *p) { return p->lanes == 0 || p->block < 0 || p->block == p->meets; }

static heddle_status run_call(warp *w, warp_call *c) {
  while (c->path_count > 0 && !w->waits) {
    warp_path *p = &c->paths[c->path_count - 1];
    if (is_over(p)) {
      c->path_count--;
      continue;
    }
    const sim_op *op = &c->function->blocks[p->block].ops[p->op++];
    TRY(step(w, c, op, p->lanes));
    if (++w->steps % CHECKED_STEPS == 0) TRY(call_check());
    if (w->steps > MOST_STEPS) return execute_fail(w, op, 0, "does not end");
  }
  return status_ok();
}

// --- the kernel

void warp_start(warp *w, void *const *arguments) {
  warp_call *c = &w->kernel;
  const sim_function *f = c->function;
  for (int p = 0; p < f->parameter_count; p++)
    for (int l = 0; l < SIM_LANES; l++) c->slots[f->parameters[p].slot][l] = (uint64_t)(uintptr_t)arguments[p];
  w->waits = NULL;
  w->has_ended = false;
  w->steps = 0;
  c->live = w->threads;
  c->path_count = 0;
  push(c, 0, w->threads, -1);
}

heddle_status warp_run(warp *w) {
  w->waits = NULL;
  TRY(run_call(w, &w->kernel));
  w->has_ended = !w->waits;
  return status_ok();
}
