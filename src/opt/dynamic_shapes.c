// Dynamic-shape refinement.
//
// One walk in post order: sizes are folded with the interpreter, the operations that set them become slices and
// reshapes of static shape, and whoever has an operand whose shape became static gets a new shape by the opcode's rule.
#include "opt/passes.h"

#include "eval/evaluate.h"
#include "hlo/builder.h"
#include "hlo/text.h"

enum { FOLD_MAX_DEPTH = 64, FOLD_MAX_ELEMENTS = 1024 };

typedef struct refinement {
  arena *scratch;
  ptr_map values;   // instruction -> literal, of folded sizes
  ptr_map changed;  // instructions whose shape is not what it was
} refinement;

// --- sizes

static bool can_fold(const instruction *i) {
  return i->opcode == HLO_CONSTANT ||
         (shape_is_array(i->shape) && shape_is_static(i->shape) && i->operand_count > 0 &&
          shape_element_count(i->shape) <= FOLD_MAX_ELEMENTS && i->called_count == 0 && eval_supports(i->opcode) &&
          !(hlo_ops[i->opcode].traits & (TRAIT_SIDE_EFFECT | TRAIT_COLLECTIVE | TRAIT_RANDOM | TRAIT_ASYNC)) &&
          i->opcode != HLO_CUSTOM_CALL);
}

// The value of `i` if it depends on constants only; else null.
static literal *fold(refinement *r, const instruction *i, int depth) {
  if (i->opcode == HLO_CONSTANT) return i->literal;
  literal *known = ptr_map_get(&r->values, i);
  if (known || depth > FOLD_MAX_DEPTH || !can_fold(i)) return known;
  literal **operands = arena_array(r->scratch, literal *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    operands[k] = fold(r, i->operands[k], depth + 1);
    if (!operands[k]) return NULL;
  }
  heddle_status s = eval_instruction(r->scratch, i, NULL, operands, &known);
  bool is_ok = status_is_ok(s);
  heddle_status_free(s);
  if (!is_ok) return NULL;
  ptr_map_put(r->scratch, &r->values, i, known);
  return known;
}

static bool fold_size(refinement *r, const instruction *i, int64_t *size) {
  literal *value = shape_is_scalar(i->shape) ? fold(r, i, 0) : NULL;
  if (!value) return false;
  *size = literal_get_int(value, 0);
  return *size >= 0;
}

// --- operations about sizes

static int64_t only_dimension(const instruction *i) { return i->attributes->dimensions.data[0]; }

static instruction *known_size(const builder *b, const instruction *i) {
  const shape *s = i->operands[0]->shape;
  int64_t d = only_dimension(i);
  return shape_is_dynamic_dim(s, (int)d) || s->dims[d] < 0 ? NULL : builder_scalar_int(b, i->shape->dtype, s->dims[d]);
}

// The first `size` entries along the dim.
static instruction *cut(const builder *b, instruction *x, int64_t d, int64_t size) {
  int64_t dims[SHAPE_MAX_RANK];
  slice_dim *parts = arena_array(b->arena, slice_dim, x->shape->rank);
  for (int k = 0; k < x->shape->rank; k++) {
    dims[k] = k == d ? size : x->shape->dims[k];
    parts[k] = (slice_dim){0, dims[k], 1};
  }
  instruction *i = builder_add(b, HLO_SLICE, shape_array(b->arena, x->shape->dtype, x->shape->rank, dims), 1, &x);
  i->attributes->slice = (slice_config){x->shape->rank, parts};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_SLICE);
  return i;
}

static instruction *set_to_known(refinement *r, const builder *b, const instruction *i) {
  const shape *s = i->operands[0]->shape;
  int64_t d = only_dimension(i), size;
  if (!shape_is_static(s) || !fold_size(r, i->operands[1], &size) || size > s->dims[d]) return NULL;
  return size == s->dims[d] ? i->operands[0] : cut(b, i->operands[0], d, size);
}

static instruction *reshape_to_known(refinement *r, const builder *b, const instruction *i) {
  int64_t dims[SHAPE_MAX_RANK], count = 1;
  if (!shape_is_static(i->operands[0]->shape) || i->operand_count != i->shape->rank + 1) return NULL;
  for (int k = 0; k < i->shape->rank; k++)
    if (!fold_size(r, i->operands[k + 1], &dims[k]) || __builtin_mul_overflow(count, dims[k], &count)) return NULL;
  if (count != shape_element_count(i->operands[0]->shape)) return NULL;
  return builder_reshape(b, i->operands[0], i->shape->rank, dims);
}

// --- shapes that follow

// Rules that go by the shape written: the operand's sizes where the dims are the operand's.
static bool follow_written(const instruction *i, int64_t *dims) {
  const shape *from = i->operands[0]->shape;
  if (i->opcode == HLO_BROADCAST) {
    for (int k = 0; k < from->rank; k++) dims[i->attributes->dimensions.data[k]] = from->dims[k];
  } else if (i->opcode == HLO_RESHAPE) {
    int64_t open = -1, rest = 1, count = shape_element_count(from);
    for (int k = 0; k < i->shape->rank; k++) {
      if (!shape_is_dynamic_dim(i->shape, k)) rest *= dims[k];
      else if (open >= 0) return false;
      else open = k;
    }
    if (open < 0 || rest == 0 || count % rest != 0) return false;
    dims[open] = count / rest;
  } else {
    if (from->rank != i->shape->rank) return false;
    memcpy(dims, from->dims, (size_t)from->rank * sizeof *dims);
  }
  return true;
}

static bool has_changed_operand(const refinement *r, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (ptr_map_has(&r->changed, i->operands[k])) return true;
  return false;
}

static bool operands_are_static(const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_is_static(i->operands[k]->shape)) return false;
  return true;
}

// What `i` makes dynamic itself stays so.
static bool sets_size(const instruction *i) {
  return i->opcode == HLO_SET_DIMENSION_SIZE || i->opcode == HLO_DYNAMIC_RESHAPE;
}

static void follow(refinement *r, arena *a, instruction *i) {
  if (!shape_is_array(i->shape) || shape_is_static(i->shape) || sets_size(i)) return;
  if (!has_changed_operand(r, i) || !operands_are_static(i)) return;
  const shape *inferred = NULL;
  heddle_status s = shape_infer(a, i, &inferred);
  bool is_ok = status_is_ok(s);
  heddle_status_free(s);
  if (is_ok && shape_is_static(inferred)) {
    i->shape = inferred;
  } else {
    int64_t dims[SHAPE_MAX_RANK];
    memcpy(dims, i->shape->dims, (size_t)i->shape->rank * sizeof *dims);
    if (!follow_written(i, dims)) return;
    i->shape = shape_array(a, i->shape->dtype, i->shape->rank, dims);
  }
  ptr_map_put(r->scratch, &r->changed, i, i);
}

static void refine_tuple(refinement *r, arena *a, instruction *i) {
  if (i->opcode == HLO_TUPLE && has_changed_operand(r, i)) {
    const shape **shapes = arena_array(a, const shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) shapes[k] = i->operands[k]->shape;
    i->shape = shape_tuple(a, i->operand_count, shapes);
    ptr_map_put(r->scratch, &r->changed, i, i);
  } else if (i->opcode == HLO_GET_TUPLE_ELEMENT && has_changed_operand(r, i)) {
    i->shape = i->operands[0]->shape->elements[i->attributes->index];
    ptr_map_put(r->scratch, &r->changed, i, i);
  }
}

static void refine(refinement *r, instruction *i) {
  const builder b = builder_for(i);
  instruction *by = NULL;
  if (i->opcode == HLO_GET_DIMENSION_SIZE) by = known_size(&b, i);
  else if (i->opcode == HLO_SET_DIMENSION_SIZE) by = set_to_known(r, &b, i);
  else if (i->opcode == HLO_DYNAMIC_RESHAPE) by = reshape_to_known(r, &b, i);
  if (!by) {
    refine_tuple(r, b.arena, i);
    follow(r, b.arena, i);
    return;
  }
  ptr_map_put(r->scratch, &r->changed, by, by);
  instruction_replace_uses(i, by);
  computation_remove(i->parent, i);
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  refinement r = {.scratch = context->scratch};
  for (int c = 0; c < m->computations.size; c++) {
    instruction_list order = {0};
    TRY(computation_post_order(context->scratch, m->computations.data[c], &order));
    for (int i = 0; i < order.size; i++) refine(&r, order.data[i]);
  }
  context->changed |= r.changed.size > 0;
  return status_ok();
}

const pass opt_dynamic_shapes = {
    .name = "dynamic-shapes",
    .summary = "sizes that are known make dynamic dims static",
    .order_reason =
        "behind the call inliner, as it follows sizes within a computation, and before "
        "the padder, which takes what is left",
    .use = PASS_NEEDED,
    .run = run,
};
