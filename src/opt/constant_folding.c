// Constant folding: an operation on constants becomes the constant that the interpreter computes.
//
// Bounded in size: a result of more than MAX_ELEMENTS is folded only if it is smaller than the operands, and broadcasts
// and iotas, which kernels make of nothing, stay. Bounded in time: by the elements that the interpreter would touch,
// for one operation and for the module. What the interpreter refuses stays as it is; so does what has effects or is
// random.
#include "opt/passes.h"

#include "eval/evaluate.h"
#include "opt/rewrite.h"

enum {
  MAX_ELEMENTS = 1 << 16,    // of a result
  MAX_WORK = 1 << 20,        // elements touched by one operation
  MAX_TOTAL_WORK = 1 << 23,  // by all of a module
  MAX_STEPS = 1 << 12,       // instructions run in called computations
  MAX_BYTES = 1 << 26,       // held at one time
};

typedef struct folding {
  pass_context *context;
  arena *scratch;
  int64_t work_left;
} folding;

static int64_t multiply(int64_t l, int64_t r) {
  int64_t product;
  return __builtin_mul_overflow(l, r, &product) ? INT64_MAX : product;
}

// How many elements each element of the result is made of.
static int64_t terms(const instruction *i) {
  const shape *x = i->operands[0]->shape;
  int64_t count = 1;
  switch (i->opcode) {
    case HLO_DOT:
      for (int k = 0; k < i->attributes->lhs_contracting_dims.size; k++)
        count = multiply(count, x->dims[i->attributes->lhs_contracting_dims.data[k]]);
      return count;
    case HLO_REDUCE_WINDOW:
    case HLO_SELECT_AND_SCATTER:
      for (int d = 0; d < i->attributes->window.rank; d++) count = multiply(count, i->attributes->window.dims[d].size);
      return count;
    case HLO_CONVOLUTION: return shape_element_count(i->operands[1]->shape);
    case HLO_CHOLESKY:
    case HLO_TRIANGULAR_SOLVE:
    case HLO_FFT:
    case HLO_SORT:
    case HLO_TOPK: return x->rank ? x->dims[x->rank - 1] + 64 : 1;
    default: return 1;
  }
}

// Operations whose value depends on the operands alone and is worth keeping.
static bool is_foldable_kind(const instruction *i) {
  static const unsigned never = TRAIT_SIDE_EFFECT | TRAIT_RANDOM | TRAIT_COLLECTIVE | TRAIT_ASYNC | TRAIT_CONTROL;
  if (hlo_ops[i->opcode].traits & never || i->operand_count == 0 || !shape_is_array(i->shape)) return false;
  switch (i->opcode) {
    case HLO_BROADCAST:
    case HLO_COPY:
    case HLO_OPT_BARRIER:
    case HLO_ADD_DEPENDENCY:
    case HLO_DOMAIN:
    case HLO_FUSION:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_SET_DIMENSION_SIZE: return false;
    default: return eval_supports(i->opcode);
  }
}

static bool is_foldable(const instruction *i) {
  int64_t elements = 0;
  if (!is_foldable_kind(i) || !shape_is_static(i->shape)) return false;
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *x = i->operands[k];
    if (x->opcode != HLO_CONSTANT || !shape_is_array(x->shape) || x->literal->is_elided) return false;
    elements += shape_element_count(x->shape);
  }
  const int64_t result = shape_element_count(i->shape);
  return result <= MAX_ELEMENTS || result < elements;
}

static int64_t work_of(const instruction *i) {
  int64_t work = multiply(shape_element_count(i->shape), terms(i));
  for (int k = 0; k < i->operand_count; k++)
    if (__builtin_add_overflow(work, shape_element_count(i->operands[k]->shape), &work)) return INT64_MAX;
  return work;
}

// The constant that stands for `i`; null if it cannot be had.
static instruction *fold(folding *f, instruction *i) {
  const builder b = builder_for(i);
  const eval_options options = {.max_steps = MAX_STEPS, .max_bytes = MAX_BYTES};
  const int64_t work = work_of(i);
  if (work > MAX_WORK || work > f->work_left) return NULL;
  f->work_left -= work;
  literal **operands = arena_array(f->scratch, literal *, i->operand_count), *value;
  for (int k = 0; k < i->operand_count; k++) operands[k] = i->operands[k]->literal;
  heddle_status s = eval_instruction(b.arena, i, &options, operands, &value);
  if (!status_is_ok(s)) {
    heddle_status_free(s);
    return NULL;
  }
  instruction *constant = builder_constant(&b, value);
  constant->shape = i->shape;
  return constant;
}

static heddle_status fold_computation(folding *f, computation *c) {
  instruction_list order;
  ptr_map waited_for = {0};
  TRY(computation_post_order(f->scratch, c, &order));
  rewrite_find_waited_for(f->scratch, c, &waited_for);
  for (int k = 0; k < order.size; k++) {
    instruction *i = order.data[k];
    if (!is_foldable(i) || i->control_predecessors.size > 0 || ptr_map_has(&waited_for, i)) continue;
    instruction *by = fold(f, i);
    if (by) rewrite_uses(f->context, i, by);
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  folding f = {.context = context, .scratch = context->scratch, .work_left = MAX_TOTAL_WORK};
  for (int k = 0; k < m->computations.size; k++) TRY(fold_computation(&f, m->computations.data[k]));
  return opt_dead_code.run(context, m);
}

const pass opt_constant_folding = {
    .name = "constant-folding",
    .summary = "operations on constants become constants",
    .order_reason = "behind the algebra each time, which brings constants together",
    .use = PASS_FOLDS,
    .run = run,
};
