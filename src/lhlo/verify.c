// Each value of the module gets a number; memory (lhlo_memory.h) remembers which number was written where. The module's
// data flow is followed beside the program's operations, so that buffer assignment is checked against what it started
// from and not against its own view of lives.
//
// A loop runs for two rounds and may end before, between and behind them; each branch runs from the same state, and
// what a branch wrote is lost to whoever comes behind, but for the results.
#include "lhlo/verify.h"

#include "fuse/leaves.h"
#include "lhlo/memory.h"

// Loops inside this many loops run once: time doubles with each.
enum { MAX_TWICE = 6 };

typedef struct tokens {
  bool is_known;
  int count;
  int64_t *values;
  int *starts;  // of the elements of a tuple; null until asked for
} tokens;

typedef struct verifier {
  arena *arena;
  const lhlo_program *program;
  lhlo_memory *memory;
  int64_t next;       // token
  ptr_map constants;  // literal: its allocation
  ptr_map numbered;   // computations whose instructions have their positions as marks
  int loops;          // around what is being followed
} verifier;

typedef struct verifier_frame {
  const computation *computation;
  const tokens *arguments;
  tokens *values;  // by mark
} verifier_frame;

static heddle_status follow(verifier *v, const computation *c, const lhlo_body *body, const tokens *arguments,
                            tokens *root);

// --- the module's data flow

static tokens new_tokens(verifier *v, int count) {
  tokens t = {.is_known = true, .count = count, .values = arena_array(v->arena, int64_t, count)};
  for (int k = 0; k < count; k++) t.values[k] = v->next++;
  return t;
}

// The allocation that holds the constant; a new token if none does.
static int64_t constant_token(verifier *v, const literal *l, const shape *s) {
  const lhlo_allocation *known = ptr_map_get(&v->constants, l);
  if (known && shape_equal(known->shape, s)) return known - v->program->allocations;
  for (int k = 0; k < v->program->allocation_count; k++) {
    const lhlo_allocation *x = &v->program->allocations[k];
    if (x->kind == LHLO_CONSTANT && literal_identical(x->value, l) && shape_equal(x->shape, s)) return k;
  }
  return v->next++;
}

static void constant_tokens(verifier *v, const literal *l, const shape *s, tokens *out) {
  for (int k = 0; k < s->tuple_size; k++) constant_tokens(v, l->elements[k], s->elements[k], out);
  if (shape_is_array(s)) out->values[out->count++] = constant_token(v, l, s);
}

// The operands' tokens from operand `first` on.
static tokens joined_tokens(verifier *v, const verifier_frame *f, const instruction *i, int first) {
  tokens t = {.is_known = true};
  for (int k = first; k < i->operand_count; k++) t.count += f->values[i->operands[k]->mark].count;
  t.values = arena_array(v->arena, int64_t, t.count);
  for (int k = first, at = 0; k < i->operand_count; k++) {
    const tokens *x = &f->values[i->operands[k]->mark];
    if (x->count) memcpy(t.values + at, x->values, (size_t)x->count * sizeof *t.values);
    at += x->count;
  }
  return t;
}

typedef tokens (*name_fn)(verifier *v, const verifier_frame *f, const instruction *i);

static tokens name_parameter(verifier *v, const verifier_frame *f, const instruction *i) {
  (void)v;
  return f->arguments[i->attributes->index];
}

static tokens name_constant(verifier *v, const verifier_frame *f, const instruction *i) {
  (void)f;
  tokens t = {.is_known = true, .values = arena_array(v->arena, int64_t, leaves_count(i->shape))};
  constant_tokens(v, i->literal, i->shape, &t);
  return t;
}

static tokens name_tuple(verifier *v, const verifier_frame *f, const instruction *i) {
  return joined_tokens(v, f, i, 0);
}

static tokens name_element(verifier *v, const verifier_frame *f, const instruction *i) {
  tokens *from = &f->values[i->operands[0]->mark];
  const shape *s = i->operands[0]->shape;
  if (!from->starts) {
    from->starts = arena_array(v->arena, int, s->tuple_size);
    for (int k = 0, at = 0; k < s->tuple_size; k++) {
      from->starts[k] = at;
      at += leaves_count(s->elements[k]);
    }
  }
  return (tokens){
      .is_known = true, .count = leaves_count(i->shape), .values = from->values + from->starts[i->attributes->index]};
}

static tokens name_operand(verifier *v, const verifier_frame *f, const instruction *i) {
  (void)v;
  return f->values[i->operands[0]->mark];
}

static tokens name_nothing(verifier *v, const verifier_frame *f, const instruction *i) {
  (void)v;
  (void)f;
  (void)i;
  return (tokens){.is_known = true};
}

// Names of other values; everything else is an operation. Not leaf_flow's, on which what is verified stands.
static const name_fn names[HLO_OPCODE_COUNT] = {
    [HLO_PARAMETER] = name_parameter,       [HLO_CONSTANT] = name_constant, [HLO_TUPLE] = name_tuple,
    [HLO_GET_TUPLE_ELEMENT] = name_element, [HLO_BITCAST] = name_operand,   [HLO_OPT_BARRIER] = name_operand,
    [HLO_ADD_DEPENDENCY] = name_operand,    [HLO_AFTER_ALL] = name_nothing, [HLO_COPY] = name_operand,
};

static heddle_status wrong(const instruction *i, const char *what) {
  if (!i) return status_error(HEDDLE_INTERNAL, "memory of a copy: %s", what);
  return status_at(HEDDLE_INTERNAL, i->where, "memory of %s " STR_FMT ": %s", hlo_op_text(i->opcode), STR_ARG(i->name),
                   what);
}

// Makes the tokens of `wanted` known, through names; operations must have run.
static heddle_status resolve(verifier *v, verifier_frame *f, instruction *wanted) {
  VEC(instruction *) stack = {0};
  vec_push(v->arena, &stack, wanted);
  while (stack.size > 0) {
    instruction *i = vec_last(&stack);
    if (f->values[i->mark].is_known) {
      vec_drop(&stack);
      continue;
    }
    if (!names[i->opcode]) return wrong(i, "it is read before it runs");
    int unknown = 0;
    for (int k = 0; k < i->operand_count; k++) {
      if (i->opcode == HLO_AFTER_ALL || f->values[i->operands[k]->mark].is_known) continue;
      if (i->opcode == HLO_ADD_DEPENDENCY && k > 0) continue;
      vec_push(v->arena, &stack, i->operands[k]);
      unknown++;
    }
    if (unknown == 0) f->values[i->mark] = names[i->opcode](v, f, i);
  }
  return status_ok();
}

static heddle_status operand_tokens(verifier *v, verifier_frame *f, const instruction *i, int first, tokens *out) {
  for (int k = first; k < i->operand_count; k++) TRY(resolve(v, f, i->operands[k]));
  *out = joined_tokens(v, f, i, first);
  return status_ok();
}

// --- memory

static heddle_status check_holds(verifier *v, const instruction *i, const lhlo_slice *s, int64_t token,
                                 const char *what) {
  if (kernel_buffer_bytes(s->shape) == 0 || lhlo_memory_read(v->memory, s) == token) return status_ok();
  return wrong(i, arena_printf(v->arena, "%s at %s + %lld does not hold the value it should", what,
                               v->program->allocations[s->allocation].name, (long long)s->offset));
}

static heddle_status check_slices(verifier *v, const instruction *i, int count, const lhlo_slice *slices,
                                  const tokens *wanted, const char *what) {
  if (count != wanted->count) return wrong(i, "the number of slices is not that of values");
  for (int k = 0; k < count; k++) TRY(check_holds(v, i, &slices[k], wanted->values[k], what));
  return status_ok();
}

// A donated parameter may be the result's memory.
static void write_slice(verifier *v, const lhlo_slice *s, int64_t token) {
  const lhlo_allocation *x = &v->program->allocations[s->allocation];
  lhlo_memory_write(v->memory, s, token);
  if (x->donated_parameter < 0) return;
  lhlo_memory_write(v->memory, &(lhlo_slice){x->donated_parameter, 0, x->shape}, LHLO_UNDEFINED);
}

static heddle_status check_writable(verifier *v, const lhlo_op *op) {
  for (int k = 0; k < op->result_count; k++) {
    lhlo_allocation_kind kind = v->program->allocations[op->results[k].allocation].kind;
    if (kind == LHLO_PARAMETER || kind == LHLO_CONSTANT) return wrong(op->source, "it writes what is only read");
  }
  return status_ok();
}

// Whether the kernel takes the operand's memory over for the result.
static bool takes_over(const lhlo_op *op, int operand, int result) {
  const kernel_plan *k = op->kernel;
  if (op->kind != LHLO_FUSION) return false;
  const kernel_buffer *b = &k->slices[k->outputs[result].slice];
  return b->kind == KERNEL_PARAMETER && b->number == operand &&
         op->operands[operand].offset == op->results[result].offset;
}

static heddle_status check_apart(const lhlo_op *op) {
  for (int r = 0; r < op->result_count; r++) {
    for (int k = 0; k < op->operand_count; k++)
      if (lhlo_slices_overlap(&op->results[r], &op->operands[k]) && !takes_over(op, k, r))
        return wrong(op->source, "a result overlaps an operand");
    for (int k = 0; k < r; k++)
      if (lhlo_slices_overlap(&op->results[r], &op->results[k])) return wrong(op->source, "two results overlap");
  }
  return status_ok();
}

// --- operations

static heddle_status follow_work(verifier *v, verifier_frame *f, const lhlo_op *op) {
  tokens wanted;
  TRY(operand_tokens(v, f, op->source, 0, &wanted));
  TRY(check_slices(v, op->source, op->operand_count, op->operands, &wanted, "operand"));
  TRY(check_writable(v, op));
  TRY(check_apart(op));
  tokens *out = &f->values[op->source->mark];
  *out = new_tokens(v, op->result_count);
  for (int k = 0; k < op->result_count; k++) write_slice(v, &op->results[k], out->values[k]);
  return status_ok();
}

static heddle_status follow_copy(verifier *v, const lhlo_op *op) {
  if (lhlo_slices_overlap(&op->operands[0], &op->results[0])) return wrong(op->source, "a copy onto itself");
  TRY(check_writable(v, op));
  int64_t token = lhlo_memory_read(v->memory, &op->operands[0]);
  if (token == LHLO_UNDEFINED) return wrong(op->source, "a copy of what nobody wrote");
  write_slice(v, &op->results[0], token);
  return status_ok();
}

static heddle_status follow_loop(verifier *v, verifier_frame *f, const lhlo_op *op) {
  const instruction *i = op->source;
  tokens state;
  TRY(operand_tokens(v, f, i, 0, &state));
  int rounds = ++v->loops <= MAX_TWICE ? 2 : 1;
  for (int round = 0;; round++) {
    TRY(check_slices(v, i, op->operand_count, op->operands, &state, "element"));
    tokens pred, next;
    TRY(follow(v, i->called[0], &op->bodies[0], &state, &pred));
    TRY(check_holds(v, i, &op->control, pred.values[0], "condition"));
    TRY(check_slices(v, i, op->result_count, op->results, &state, "result"));
    if (round == rounds) break;
    TRY(follow(v, i->called[1], &op->bodies[1], &state, &next));
    state = next;
  }
  v->loops--;
  f->values[i->mark] = state;
  f->values[i->mark].is_known = true;
  return status_ok();
}

static heddle_status follow_branches(verifier *v, verifier_frame *f, const lhlo_op *op) {
  const instruction *i = op->source;
  for (int k = 0; k < i->operand_count; k++) TRY(resolve(v, f, i->operands[k]));
  TRY(check_holds(v, i, &op->control, f->values[i->operands[0]->mark].values[0], "index"));
  VEC(lhlo_change) lost = {0};
  for (int k = 0; k < i->called_count; k++) {
    int start = v->memory->log.size;
    tokens root;
    TRY(follow(v, i->called[k], &op->bodies[k], &f->values[i->operands[k + 1]->mark], &root));
    TRY(check_slices(v, i, op->result_count, op->results, &root, "result"));
    for (int j = start; j < v->memory->log.size; j++) vec_push(v->arena, &lost, v->memory->log.data[j]);
    lhlo_memory_undo(v->memory, start);
  }
  for (int k = 0; k < lost.size; k++) {
    lhlo_content *c = &v->memory->allocations[lost.data[k].allocation].contents[lost.data[k].segment];
    vec_push(v->arena, &v->memory->log, ((lhlo_change){lost.data[k].allocation, lost.data[k].segment, *c}));
    c->token = LHLO_UNDEFINED;
  }
  tokens *out = &f->values[i->mark];
  *out = new_tokens(v, op->result_count);
  for (int k = 0; k < op->result_count; k++) write_slice(v, &op->results[k], out->values[k]);
  return status_ok();
}

static heddle_status follow_call(verifier *v, verifier_frame *f, const lhlo_op *op) {
  const instruction *i = op->source;
  tokens *arguments = arena_array(v->arena, tokens, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    TRY(resolve(v, f, i->operands[k]));
    arguments[k] = f->values[i->operands[k]->mark];
  }
  tokens root;
  TRY(follow(v, i->called[0], &op->bodies[0], arguments, &root));
  f->values[i->mark] = root;
  f->values[i->mark].is_known = true;
  return check_slices(v, i, op->result_count, op->results, &root, "result");
}

static heddle_status follow_op(verifier *v, verifier_frame *f, const lhlo_op *op) {
  if (op->kind != LHLO_COPY && (!op->source || op->source->parent != f->computation))
    return status_error(HEDDLE_INTERNAL, "an operation stands in a computation that is not its own");
  switch (op->kind) {
    case LHLO_FUSION:
    case LHLO_LIBRARY: return follow_work(v, f, op);
    case LHLO_COPY: return follow_copy(v, op);
    case LHLO_WHILE: return follow_loop(v, f, op);
    case LHLO_CONDITIONAL: return follow_branches(v, f, op);
    case LHLO_CALL: return follow_call(v, f, op);
  }
  return wrong(op->source, "an operation of no kind");
}

static heddle_status follow(verifier *v, const computation *c, const lhlo_body *body, const tokens *arguments,
                            tokens *root) {
  if (!ptr_map_has(&v->numbered, c)) {
    ptr_map_put(v->arena, &v->numbered, c, v);
    for (int k = 0; k < c->instructions.size; k++) c->instructions.data[k]->mark = (uint64_t)k;
  }
  verifier_frame f = {c, arguments, arena_array(v->arena, tokens, c->instructions.size)};
  for (int k = 0; k < body->ops.size; k++) TRY(follow_op(v, &f, body->ops.data[k]));
  TRY(resolve(v, &f, c->root));
  *root = f.values[c->root->mark];
  return status_ok();
}

// --- the program

// The entry's arguments, and what lies in memory before anything runs. Tokens of allocations are their numbers.
static tokens *start(verifier *v) {
  const lhlo_program *p = v->program;
  const computation *entry = p->module->entry;
  tokens *arguments = arena_array(v->arena, tokens, entry->parameters.size);
  for (int k = 0; k < p->allocation_count; k++) {
    lhlo_allocation *x = &p->allocations[k];
    if (x->kind == LHLO_CONSTANT) ptr_map_put(v->arena, &v->constants, x->value, x);
    if (x->kind == LHLO_PARAMETER || x->kind == LHLO_CONSTANT)
      lhlo_memory_write(v->memory, &(lhlo_slice){k, 0, x->shape}, k);
    if (x->kind == LHLO_RESULT && x->donated_parameter >= 0)
      lhlo_memory_write(v->memory, &(lhlo_slice){k, 0, x->shape}, x->donated_parameter);
  }
  v->next = 0;
  for (int k = 0; k < entry->parameters.size; k++)
    arguments[k] = new_tokens(v, leaves_count(entry->parameters.data[k]->shape));
  v->next = p->allocation_count;
  return arguments;
}

static heddle_status verify(verifier *v) {
  const lhlo_program *p = v->program;
  const tokens *arguments = start(v);
  tokens root;
  TRY(follow(v, p->module->entry, &p->entry, arguments, &root));
  if (root.count != p->result_count) return status_error(HEDDLE_INTERNAL, "results are missing");
  for (int k = 0; k < p->allocation_count; k++) {
    const lhlo_allocation *x = &p->allocations[k];
    if (x->kind != LHLO_RESULT) continue;
    TRY(check_holds(v, p->module->entry->root, &(lhlo_slice){k, 0, x->shape}, root.values[x->number], "result"));
  }
  return status_ok();
}

heddle_status lhlo_verify(const lhlo_program *p) {
  arena *scratch = arena_create();
  verifier v = {.arena = scratch, .program = p, .memory = lhlo_memory_create(scratch, p)};
  heddle_status s = verify(&v);
  arena_destroy(scratch);
  return s;
}
