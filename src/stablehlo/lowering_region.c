// Regions as computations: what they use from around them becomes parameters, or is made anew where it is constant.
#include "stablehlo/build.h"
#include "stablehlo/lowering.h"

static bool is_inside(const ir_value *v, const ir_region *r) {
  const ir_block *b = v->producer ? v->producer->parent : v->block;
  while (b) {
    if (b->parent == r) return true;
    const ir_operation *around = b->parent ? b->parent->parent : NULL;
    b = around ? around->parent : NULL;
  }
  return false;
}

typedef struct capture_walk {
  lowering *l;
  const ir_region *region;
  ptr_map seen;
  VEC(const ir_value *) captured;  // constants included
} capture_walk;

static void visit_region(capture_walk *w, const ir_region *r);

static void visit_operation(capture_walk *w, const ir_operation *op) {
  for (int k = 0; k < op->operand_count; k++) {
    const ir_value *v = op->operands[k];
    if (ptr_map_has(&w->seen, v)) continue;
    ptr_map_put(w->l->arena, &w->seen, v, NULL);
    if (!is_inside(v, w->region)) vec_push(w->l->arena, &w->captured, v);
  }
  for (int k = 0; k < op->region_count; k++) visit_region(w, op->regions[k]);
}

// Readers bound the nesting (IR_MAX_DEPTH).
static void visit_region(capture_walk *w, const ir_region *r) {
  for (int k = 0; k < r->blocks.size; k++) {
    const ir_block *b = r->blocks.data[k];
    for (int n = 0; n < b->operations.size; n++) visit_operation(w, b->operations.data[n]);
  }
}

// A constant, or one element broadcast (build_elements).
static bool is_constant(const lowering *l, const ir_value *v) {
  const instruction *i = ptr_map_get(l->values, v);
  if (i && i->opcode == HLO_BROADCAST && shape_is_static(i->shape) && shape_is_scalar(i->operands[0]->shape))
    i = i->operands[0];
  return i && i->opcode == HLO_CONSTANT;
}

static instruction *constant_again(lowering *inner, const instruction *from) {
  if (from->opcode == HLO_CONSTANT) return build_constant(inner, from->literal);
  return build_broadcast(inner, build_constant(inner, from->operands[0]->literal), from->shape, 0, NULL);
}

heddle_status lowering_captures(lowering *l, const ir_region *r, int *count, const ir_value ***out) {
  capture_walk w = {.l = l, .region = r};
  visit_region(&w, r);
  *out = arena_array(l->arena, const ir_value *, w.captured.size);
  *count = 0;
  for (int k = 0; k < w.captured.size; k++) {
    const ir_value *v = w.captured.data[k];
    instruction *unused;
    TRY(lowering_value(l, l->op, v, &unused));
    if (!is_constant(l, v)) (*out)[(*count)++] = v;
  }
  return status_ok();
}

static heddle_status check_block(const lowering *l, const ir_block *b, int argument_count) {
  if (b->argument_count == argument_count) return status_ok();
  return lowering_invalid(l->op, "found a region with %d arguments, wanted %d", b->argument_count, argument_count);
}

// Constants from around the region, again inside it.
static void repeat_constants(lowering *outer, lowering *inner, const ir_region *r) {
  capture_walk w = {.l = outer, .region = r};
  visit_region(&w, r);
  for (int k = 0; k < w.captured.size; k++) {
    const ir_value *v = w.captured.data[k];
    if (!is_constant(outer, v)) continue;
    const instruction *from = ptr_map_get(outer->values, v);
    ptr_map_put(inner->arena, inner->values, v, constant_again(inner, from));
  }
}

// An inner name for a value from around; if the outer one is known, so is this one.
static void bind_captured(lowering *outer, lowering *inner, const ir_value *v, instruction *i) {
  ptr_map_put(inner->arena, inner->values, v, i);
  literal *value = outer->folds ? lowering_try_fold(outer, ptr_map_get(outer->values, v)) : NULL;
  if (value) ptr_map_put(inner->arena, inner->folded, i, value);
}

static instruction *add_parameter(lowering *l, int number, const shape *s) {
  const char *name = arena_printf(l->arena, "%s.%d", shape_is_tuple(s) ? "arg_tuple" : "Arg", l->module->next_name);
  instruction *p = computation_add_parameter(l->computation, number, str_from(name), s);
  p->where = l->op->where;
  return p;
}

static void add_parameters(lowering *outer, lowering *l, const region_request *q, const ir_block *b) {
  int count = q->argument_count + q->captured_count;
  const shape **shapes = arena_array(l->arena, const shape *, count);
  for (int k = 0; k < q->argument_count; k++) shapes[k] = q->shapes[k];
  for (int k = 0; k < q->captured_count; k++)
    shapes[q->argument_count + k] = ((instruction *)ptr_map_get(outer->values, q->captured[k]))->shape;
  instruction *tuple = q->as_tuple ? add_parameter(l, 0, shape_tuple(l->arena, count, shapes)) : NULL;
  for (int k = 0; k < count; k++) {
    instruction *i = tuple ? build_element(l, tuple, k) : add_parameter(l, k, shapes[k]);
    if (k < q->argument_count) ptr_map_put(l->arena, l->values, b->arguments[k], i);
    else bind_captured(outer, l, q->captured[k - q->argument_count], i);
  }
}

static heddle_status add_root(lowering *l, const region_request *q, int count, instruction *const *returned) {
  int extra = q->returns_captured ? q->captured_count : 0;
  instruction **all = arena_array(l->arena, instruction *, count + extra);
  for (int k = 0; k < count; k++) all[k] = returned[k];
  for (int k = 0; k < extra; k++) all[count + k] = ptr_map_get(l->values, q->captured[k]);
  bool is_plain = count + extra == 1 && !q->tuple_root;
  computation_set_root(l->computation, is_plain ? all[0] : build_tuple(l, count + extra, all));
  return status_ok();
}

heddle_status lowering_enter(lowering *l, lowering *inner, str name) {
  *inner = *l;
  if (l->depth >= LOWERING_MAX_DEPTH)
    return lowering_refuse(l->op, "regions and calls nest more than %d deep", LOWERING_MAX_DEPTH);
  inner->depth++;
  inner->values = arena_new(l->arena, ptr_map);
  const char *unique = arena_printf(l->arena, STR_FMT ".%d", STR_ARG(name), l->module->next_name);
  inner->computation = module_add_computation(l->module, str_from(unique));
  return status_ok();
}

heddle_status lowering_region(lowering *l, const region_request *q, computation **out) {
  if (q->region->blocks.size != 1)
    return lowering_invalid(l->op, "found a region of %d blocks, wanted one", q->region->blocks.size);
  const ir_block *b = q->region->blocks.data[0];
  TRY(check_block(l, b, q->argument_count));
  lowering inner;
  TRY(lowering_enter(l, &inner, str_from(q->name ? q->name : "region")));
  inner.computation->where = l->op->where;
  add_parameters(l, &inner, q, b);
  repeat_constants(l, &inner, q->region);
  int count = 0;
  instruction **returned = NULL;
  TRY(lowering_block(&inner, b, &count, &returned));
  inner.op = l->op;
  TRY(add_root(&inner, q, count, returned));
  *out = inner.computation;
  return status_ok();
}

// Outer values that a body uses must fold: HLO's bodies of reductions see their parameters only. A copy of the value
// in a scope of its own lets repeat_constants find it.
static heddle_status fold_captures(lowering *l, const ir_region *r, lowering *scope) {
  int count;
  const ir_value **captured;
  TRY(lowering_captures(l, r, &count, &captured));
  *scope = *l;
  if (!count) return status_ok();
  scope->values = arena_new(l->arena, ptr_map);
  for (int k = 0; k < l->values->capacity; k++) {
    const struct ptr_map_slot *slot = &l->values->slots[k];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the map keeps pointers as integers
    if (slot->used) ptr_map_put(l->arena, scope->values, (const void *)slot->key, slot->value);
  }
  for (int k = 0; k < count; k++) {
    literal *value = lowering_try_fold(l, ptr_map_get(l->values, captured[k]));
    if (!value) return lowering_refuse(l->op, "its body uses a value from around it that is no constant");
    ptr_map_put(l->arena, scope->values, captured[k], build_constant(l, value));
  }
  return status_ok();
}

heddle_status lowering_body(lowering *l, const ir_operation *op, int region, int count, const dtype *types,
                            computation **out) {
  if (region >= op->region_count) return lowering_invalid(op, "found %d regions, wanted more", op->region_count);
  const shape **shapes = arena_array(l->arena, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = shape_scalar(l->arena, types[k]);
  lowering scope;
  TRY(fold_captures(l, op->regions[region], &scope));
  region_request q = {.region = op->regions[region], .argument_count = count, .shapes = shapes};
  return lowering_region(&scope, &q, out);
}
