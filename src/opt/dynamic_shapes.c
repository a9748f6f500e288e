// Dynamic-shape refinement.
//
// One walk in post order: sizes are folded with the interpreter, the operations that set them become slices and
// reshapes of static shape, and whoever has an operand whose shape became static gets a new shape by the opcode's rule,
// as the interpreter finds it in a run (eval/dynamic_size.c): operands of an elementwise operation are cut to the
// smallest, a slice as large as the bound takes what is there, and where sizes do not fit together, operands are filled
// up with zeros to their bounds.
#include "opt/passes.h"

#include "eval/evaluate.h"
#include "hlo/builder.h"
#include "hlo/text.h"

enum { FOLD_MAX_DEPTH = 64, FOLD_MAX_ELEMENTS = 1024 };

typedef struct refinement {
  arena *scratch;
  ptr_map values;   // instruction -> literal, of folded sizes
  ptr_map changed;  // instruction whose shape is not what it was -> the shape that was declared
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

// The first entries along all dims.
static instruction *cut_to(const builder *b, instruction *x, const int64_t *dims) {
  slice_dim parts[SHAPE_MAX_RANK];
  for (int k = 0; k < x->shape->rank; k++) parts[k] = (slice_dim){0, dims[k], 1};
  return builder_slice(b, x, parts);
}

// The first `size` entries along the dim.
static instruction *cut(const builder *b, instruction *x, int64_t d, int64_t size) {
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, x->shape->dims, (size_t)x->shape->rank * sizeof *dims);
  dims[d] = size;
  return cut_to(b, x, dims);
}

// Zeros behind the entries, up to the dims of `bounds`.
static instruction *fill_to(const builder *b, instruction *x, const shape *bounds) {
  padding_dim parts[SHAPE_MAX_RANK] = {0};
  for (int k = 0; k < bounds->rank; k++) parts[k].high = bounds->dims[k] - x->shape->dims[k];
  return builder_pad(b, x, builder_scalar_int(b, x->shape->dtype, 0), parts);
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

static const shape *declared_shape(const refinement *r, const instruction *i) {
  const shape *s = ptr_map_get(&r->changed, i);
  return s ? s : i->shape;
}

// All that is there, where as much as the bound is wanted.
static int_list smaller_sizes(arena *a, int_list sizes, const shape *bounds, const shape *actual) {
  int64_t *smaller = arena_array(a, int64_t, sizes.size);
  for (int d = 0; d < sizes.size; d++)
    smaller[d] = sizes.data[d] == bounds->dims[d] && actual->dims[d] < sizes.data[d] ? actual->dims[d] : sizes.data[d];
  return (int_list){smaller, sizes.size};
}

static void shrink_attributes(const refinement *r, arena *a, instruction *i) {
  const shape *bounds = declared_shape(r, i->operands[0]), *actual = i->operands[0]->shape;
  hlo_attributes *x = i->attributes;
  if (i->opcode == HLO_GATHER) x->slice_sizes = smaller_sizes(a, x->slice_sizes, bounds, actual);
  if (i->opcode == HLO_DYNAMIC_SLICE) x->dynamic_slice_sizes = smaller_sizes(a, x->dynamic_slice_sizes, bounds, actual);
  for (int d = 0; i->opcode == HLO_SLICE && d < x->slice.rank; d++) {
    slice_dim *s = &x->slice.dims[d];
    if (s->limit == bounds->dims[d] && s->start <= actual->dims[d]) s->limit = actual->dims[d];
  }
}

// Operands of the result's rank, each as large as the smallest.
static void cut_operands(const builder *b, instruction *i) {
  const int rank = i->shape->rank;
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    dims[d] = INT64_MAX;
    for (int k = 0; k < i->operand_count; k++) {
      const shape *s = i->operands[k]->shape;
      if (s->rank == rank && s->dims[d] < dims[d]) dims[d] = s->dims[d];
    }
  }
  for (int k = 0; k < i->operand_count; k++) {
    instruction *x = i->operands[k];
    if (x->shape->rank == rank && memcmp(x->shape->dims, dims, (size_t)rank * sizeof *dims) != 0)
      instruction_set_operand(i, k, cut_to(b, x, dims));
  }
}

// The shape that the rule gives for what the operands now are; null if none does, or one without known sizes.
static const shape *shape_by_rule(arena *a, const instruction *i) {
  const shape *inferred = NULL;
  heddle_status s = shape_infer(a, i, &inferred);
  const bool is_known = status_is_ok(s) && shape_is_static(inferred);
  heddle_status_free(s);
  return is_known ? inferred : NULL;
}

static bool is_bounded(const shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] < 0) return false;
  return true;
}

// Everything at its bounds, as it was written. False where there are none.
static bool fill_operands(refinement *r, const builder *b, instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_is_array(i->operands[k]->shape) || !is_bounded(declared_shape(r, i->operands[k]))) return false;
  if (!is_bounded(i->shape)) return false;
  for (int k = 0; k < i->operand_count; k++) {
    const shape *bounds = declared_shape(r, i->operands[k]);
    if (!shape_same_dims(bounds, i->operands[k]->shape))
      instruction_set_operand(i, k, fill_to(b, i->operands[k], bounds));
  }
  return true;
}

static void follow(refinement *r, const builder *b, instruction *i) {
  if (shape_is_static(i->shape) || sets_size(i) || i->opcode == HLO_TUPLE || hlo_op_has(i->opcode, TRAIT_CONTROL))
    return;
  if (!has_changed_operand(r, i) || !operands_are_static(i)) return;
  const shape *declared = i->shape;
  shrink_attributes(r, b->arena, i);
  if (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && shape_is_array(i->shape)) cut_operands(b, i);
  const shape *by_rule = shape_by_rule(b->arena, i);
  if (by_rule) {
    i->shape = by_rule;
  } else if (shape_is_array(i->shape)) {
    int64_t dims[SHAPE_MAX_RANK];
    memcpy(dims, i->shape->dims, (size_t)i->shape->rank * sizeof *dims);
    if (!follow_written(i, dims) && !fill_operands(r, b, i)) return;
    i->shape = shape_array(b->arena, i->shape->dtype, i->shape->rank, dims);
  }
  ptr_map_put(r->scratch, &r->changed, i, (void *)declared);
}

static void refine_tuple(refinement *r, arena *a, instruction *i) {
  if (i->opcode == HLO_TUPLE && has_changed_operand(r, i)) {
    const shape **shapes = arena_array(a, const shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) shapes[k] = i->operands[k]->shape;
    ptr_map_put(r->scratch, &r->changed, i, (void *)i->shape);
    i->shape = shape_tuple(a, i->operand_count, shapes);
  } else if (i->opcode == HLO_GET_TUPLE_ELEMENT && has_changed_operand(r, i)) {
    ptr_map_put(r->scratch, &r->changed, i, (void *)i->shape);
    i->shape = i->operands[0]->shape->elements[i->attributes->index];
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
    follow(r, &b, i);
    return;
  }
  ptr_map_put(r->scratch, &r->changed, by, (void *)i->shape);
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
