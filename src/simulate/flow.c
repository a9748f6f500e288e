// Post-dominators, calls, and which argument an access goes to.
#include "simulate/flow.h"

#include <string.h>

#include "base/int64.h"

// --- where lanes meet again

// Sets of blocks, a row of bits for each block; the end of the function has the bit block_count. A block's row becomes
// the blocks that every way from it to the end passes: itself, and what the rows of all its successors have in common.
typedef struct block_sets {
  int words;
  uint64_t *rows;
} block_sets;

static uint64_t *row_of(const block_sets *s, int block) { return s->rows + (size_t)block * (size_t)s->words; }

static bool has_block(const block_sets *s, int row, int block) { return row_of(s, row)[block / 64] >> block % 64 & 1; }

static int size_of(const block_sets *s, int row) {
  int count = 0;
  for (int w = 0; w < s->words; w++) count += __builtin_popcountll(row_of(s, row)[w]);
  return count;
}

static const sim_op *end_of(const sim_function *f, int block) {
  return &f->blocks[block].ops[f->blocks[block].count - 1];
}

static bool narrow(const sim_function *f, const block_sets *s, uint64_t *scratch, int block) {
  const sim_op *end = end_of(f, block);
  memset(scratch, end->edge_count > 0 ? 0xff : 0, (size_t)s->words * sizeof *scratch);
  if (end->edge_count == 0) scratch[f->block_count / 64] |= UINT64_C(1) << f->block_count % 64;
  for (int k = 0; k < end->edge_count; k++)
    for (int w = 0; w < s->words; w++) scratch[w] &= row_of(s, end->edges[k].block)[w];
  scratch[block / 64] |= UINT64_C(1) << block % 64;
  const bool changes = memcmp(scratch, row_of(s, block), (size_t)s->words * sizeof *scratch) != 0;
  if (changes) memcpy(row_of(s, block), scratch, (size_t)s->words * sizeof *scratch);
  return changes;
}

// Of the blocks that all ways pass, the first: all others are passed from there, too. None where a loop has no end.
static int first_meeting(const sim_function *f, const block_sets *s, const int *sizes, int block) {
  const int wanted = sizes[block] - 1;
  for (int b = 0; b < f->block_count; b++)
    if (b != block && has_block(s, block, b) && sizes[b] == wanted) return b;
  return -1;
}

void flow_find_meetings(arena *a, sim_function *f) {
  block_sets s = {.words = f->block_count / 64 + 1};
  s.rows = arena_array(a, uint64_t, (size_t)s.words *(size_t)(f->block_count + 1));
  uint64_t *scratch = arena_array(a, uint64_t, s.words);
  int *sizes = arena_array(a, int, f->block_count);
  memset(s.rows, 0xff, (size_t)s.words * (size_t)f->block_count * sizeof *s.rows);
  for (bool changes = true; changes;) {
    changes = false;
    for (int b = f->block_count - 1; b >= 0; b--) changes |= narrow(f, &s, scratch, b);
  }
  for (int b = 0; b < f->block_count; b++) sizes[b] = size_of(&s, b);
  for (int b = 0; b < f->block_count; b++) f->blocks[b].meets = first_meeting(f, &s, sizes, b);
}

// --- calls

typedef enum call_state { CALL_UNSEEN, CALL_OPEN, CALL_DONE } call_state;

static heddle_status check_function(const sim_code *code, const sim_function *f, call_state *states, int depth) {
  enum { DEEPEST = 200 };
  call_state *state = &states[f - code->functions];
  if (*state == CALL_OPEN || depth > DEEPEST)
    return status_error(HEDDLE_UNIMPLEMENTED, "the simulator does not execute functions that call themselves: %s",
                        f->name);
  if (*state == CALL_DONE) return status_ok();
  *state = CALL_OPEN;
  for (int b = 0; b < f->block_count; b++) {
    for (int k = 0; k < f->blocks[b].count; k++) {
      const sim_op *op = &f->blocks[b].ops[k];
      if (op->opcode == SIM_BARRIER && f != code->kernel)
        return status_error(HEDDLE_UNIMPLEMENTED, "the simulator does not execute barriers in functions: %s", f->name);
      if (op->opcode == SIM_CALL) TRY(check_function(code, op->callee, states, depth + 1));
    }
  }
  *state = CALL_DONE;
  return status_ok();
}

heddle_status flow_check_calls(arena *a, const sim_code *code) {
  call_state *states = arena_array(a, call_state, code->function_count);
  return check_function(code, code->kernel, states, 0);
}

// --- which argument an access goes to

// By slot of a function: which of the kernel's arguments the address comes from, as bits. Arguments beyond the last bit
// share it.
typedef uint64_t argument_set;

enum { LAST_BIT = 63 };

typedef struct argument_flow {
  const sim_code *code;
  argument_set **by_slot;  // by function
  bool changes;
} argument_flow;

static argument_set set_of(const argument_set *slots, int slot) { return slot >= 0 ? slots[slot] : 0; }

static void add(argument_flow *w, argument_set *to, argument_set set) {
  w->changes |= (*to | set) != *to;
  *to |= set;
}

static void flow_through(argument_flow *w, int function, const sim_op *op) {
  argument_set *slots = w->by_slot[function];
  for (int e = 0; e < op->edge_count; e++)
    for (int k = 0; k < op->edges[e].copy_count; k++)
      add(w, &slots[op->edges[e].to[k]], set_of(slots, op->edges[e].from[k]));
  if (op->opcode == SIM_CALL) {
    const sim_function *callee = op->callee;
    argument_set *there = w->by_slot[callee - w->code->functions];
    for (int p = 0; p < callee->parameter_count; p++)
      for (int k = 0; k < callee->parameters[p].count; k++)
        add(w, &there[callee->parameters[p].slot + k], set_of(slots, op->operands[p].slot + k));
  }
  const bool makes_addresses =
      op->opcode == SIM_COMPUTE || op->opcode == SIM_COPY || op->opcode == SIM_ADDRESS || op->opcode == SIM_REPACK;
  if (!makes_addresses || op->result < 0) return;
  argument_set all = 0;
  for (int o = 0; o < op->operand_count; o++)
    for (int k = 0; k < op->operands[o].count; k++) all |= set_of(slots, op->operands[o].slot + k);
  for (int k = 0; k < op->result_count; k++) add(w, &slots[op->result + k], all);
}

static int address_operand(const sim_op *op) { return op->opcode == SIM_STORE ? 1 : 0; }

static bool writes(const sim_op *op) {
  return op->opcode == SIM_STORE || op->opcode == SIM_ATOMIC || op->opcode == SIM_COMPARE_EXCHANGE ||
         op->opcode == SIM_FILL || op->opcode == SIM_MOVE;
}

static void note_access(const argument_flow *w, int function, const sim_op *op, sim_argument *arguments) {
  if (op->opcode != SIM_LOAD && !writes(op)) return;
  const argument_set set = set_of(w->by_slot[function], op->operands[address_operand(op)].slot);
  const int only = set && (set & (set - 1)) == 0 ? __builtin_ctzll(set) : -1;
  // A copy's two addresses share the place.
  op->place->argument = only < LAST_BIT && op->opcode != SIM_MOVE ? only : -1;
  const int64_t granule = op->alignment > 0 ? int64_gcd(op->bytes, op->alignment) : 1;
  for (int p = 0; p < w->code->kernel->parameter_count; p++) {
    if (!(set >> (p < LAST_BIT ? p : LAST_BIT) & 1)) continue;
    arguments[p].is_written |= writes(op);
    arguments[p].granule = (int)int64_gcd(arguments[p].granule, granule > 0 ? granule : 1);
  }
  // A copy reads what its second operand points to.
  if (op->opcode != SIM_MOVE) return;
  for (int p = 0; p < w->code->kernel->parameter_count; p++) arguments[p].granule = 1;
}

static void visit_all(argument_flow *w, sim_argument *arguments) {
  for (int f = 0; f < w->code->function_count; f++)
    for (int b = 0; b < w->code->functions[f].block_count; b++)
      for (int k = 0; k < w->code->functions[f].blocks[b].count; k++) {
        const sim_op *op = &w->code->functions[f].blocks[b].ops[k];
        if (arguments) note_access(w, f, op, arguments);
        else flow_through(w, f, op);
      }
}

const sim_argument *flow_find_arguments(arena *a, const sim_code *code) {
  enum { LARGEST_GRANULE = 16 };
  const sim_function *kernel = code->kernel;
  argument_flow w = {.code = code, .by_slot = arena_array(a, argument_set *, code->function_count)};
  for (int f = 0; f < code->function_count; f++)
    w.by_slot[f] = arena_array(a, argument_set, code->functions[f].slot_count);
  for (int p = 0; p < kernel->parameter_count; p++)
    w.by_slot[kernel - code->functions][kernel->parameters[p].slot] |= UINT64_C(1) << (p < LAST_BIT ? p : LAST_BIT);
  do {
    w.changes = false;
    visit_all(&w, NULL);
  } while (w.changes);
  sim_argument *arguments = arena_array(a, sim_argument, kernel->parameter_count);
  for (int p = 0; p < kernel->parameter_count; p++) arguments[p].granule = LARGEST_GRANULE;
  visit_all(&w, arguments);
  return arguments;
}
