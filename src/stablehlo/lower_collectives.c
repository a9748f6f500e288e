// Collectives: who takes part is said as in HLO, by groups, a channel and whether ids count replicas or devices.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

// Rows of a rectangular list; -1 fills up shorter groups.
static heddle_status groups_of(lowering *l, const ir_operation *op, const char *name, group_list *out) {
  const ir_attribute *x = ir_find(op, name);
  int_list all;
  *out = (group_list){0};
  if (!x) return status_ok();
  if (x->kind != IR_ATTR_ELEMENTS) return lowering_refuse(op, "%s is no list of groups", name);
  TRY(lowering_ints(l, op, name, &all));
  const shape *s = x->elements->shape;
  if (s->rank != 2) return lowering_invalid(op, "%s has rank %d, wanted 2", name, s->rank);
  out->size = all.size ? (int)s->dims[0] : 0;
  out->groups = arena_array(l->arena, int_list, out->size);
  for (int k = 0; k < out->size; k++) {
    int width = (int)s->dims[1];
    int_list *g = &out->groups[k];
    g->data = all.data + (int64_t)k * width;
    while (g->size < width && g->data[g->size] != -1) g->size++;
  }
  return status_ok();
}

// StableHLO has a handle and its type, later versions may have the bare number; 0 is no channel.
static int64_t channel_of(const ir_operation *op) {
  int64_t id = 0;
  const ir_attribute *handle = ir_find(op, "channel_handle");
  if (handle) return lowering_field_int(handle, "handle", 0);
  return ir_attribute_integer(ir_find(op, "channel_id"), &id) ? id : 0;
}

int64_t build_channel(const ir_operation *op, instruction *i) {
  int64_t id = channel_of(op);
  if (id > 0) build_set_int(i, HLO_ATTRIBUTE_CHANNEL_ID, id);
  return id;
}

static heddle_status set_members(lowering *l, const ir_operation *op, instruction *i) {
  int64_t is_global;
  build_channel(op, i);
  TRY(groups_of(l, op, "replica_groups", &i->attributes->replica_groups));
  build_mark(i, HLO_ATTRIBUTE_REPLICA_GROUPS);
  TRY(lowering_int(op, "use_global_device_ids", 0, &is_global));
  if (is_global) build_set_bool(i, HLO_ATTRIBUTE_USE_GLOBAL_DEVICE_IDS, true);
  return status_ok();
}

static const shape *shape_of_all(lowering *l, int count, const shape *const *shapes) {
  return count == 1 ? shapes[0] : shape_tuple(l->arena, count, shapes);
}

static heddle_status declared_shapes(lowering *l, const ir_operation *op, const shape **out) {
  const shape **shapes = arena_array(l->arena, const shape *, op->result_count);
  for (int k = 0; k < op->result_count; k++) TRY(lowering_declared(l, op, k, &shapes[k]));
  *out = shape_of_all(l, op->result_count, shapes);
  return status_ok();
}

static heddle_status wants_operands(const ir_operation *op) {
  if (op->operand_count && op->operand_count == op->result_count) return status_ok();
  return lowering_invalid(op, "found %d operands and %d results, wanted as many of both", op->operand_count,
                          op->result_count);
}

static heddle_status gather(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int64_t dim;
  const shape *s;
  TRY(lowering_needed_int(op, "all_gather_dim", &dim));
  TRY(declared_shapes(l, op, &s));
  instruction *i = build_add(l, HLO_ALL_GATHER, s, op->operand_count, operands);
  build_dimensions(l, i, 1, &dim);
  TRY(set_members(l, op, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// HLO puts the parts together along the dimension that was split; if they belong along another one, the member's number
// is moved there.
static heddle_status regroup(lowering *l, instruction *x, int64_t split, int64_t concat, int64_t count,
                             instruction **out) {
  const shape *s = x->shape;
  int64_t dims[SHAPE_MAX_RANK + 1], permutation[SHAPE_MAX_RANK + 1], merged[SHAPE_MAX_RANK];
  int n = 0;
  if (s->rank >= SHAPE_MAX_RANK) return lowering_refuse(l->op, "the rank is too high to move parts");
  for (int k = 0; k < s->rank; k++) {
    if (k == split) dims[n++] = count;
    dims[n++] = k == split ? s->dims[k] / count : s->dims[k];
  }
  n = 0;
  for (int k = 0; k < s->rank; k++) {
    if (k == concat) permutation[n++] = split;
    permutation[n++] = k < split ? k : k + 1;
    merged[k] = k == split ? s->dims[k] / count : k == concat ? s->dims[k] * count : s->dims[k];
  }
  instruction *parts = build_reshape(l, x, s->rank + 1, dims);
  instruction *moved = build_add(l, HLO_TRANSPOSE, parts->shape, 1, &parts);
  build_dimensions(l, moved, n, permutation);
  TRY(build_infer(l, moved));
  *out = build_reshape(l, moved, s->rank, merged);
  return status_ok();
}

// MHLO's other form: operand k goes to member k, and result k comes from there.
static heddle_status swap_operands(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **results) {
  const shape **shapes = arena_array(l->arena, const shape *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) shapes[k] = operands[k]->shape;
  instruction *i =
      build_add(l, HLO_ALL_TO_ALL, shape_tuple(l->arena, op->operand_count, shapes), op->operand_count, operands);
  TRY(set_members(l, op, i));
  for (int k = 0; k < op->operand_count; k++) results[k] = build_element(l, i, k);
  return status_ok();
}

static heddle_status all_to_all(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  int64_t split, concat, count;
  if (!ir_find(op, "split_dimension") && !ir_find(op, "split_count")) return swap_operands(l, op, operands, results);
  TRY(lowering_needed_int(op, "split_dimension", &split));
  TRY(lowering_needed_int(op, "concat_dimension", &concat));
  TRY(lowering_needed_int(op, "split_count", &count));
  for (int k = 0; k < op->operand_count; k++) {
    const shape *s = operands[k]->shape;
    bool fits = shape_is_array(s) && split >= 0 && split < s->rank && concat >= 0 && concat < s->rank && count > 0 &&
                s->dims[split] % count == 0;
    if (!fits) return lowering_invalid(op, "operand %d does not split into %lld parts", k, (long long)count);
    instruction *i = build_add(l, HLO_ALL_TO_ALL, s, 1, &operands[k]);
    build_dimensions(l, i, 1, &split);
    TRY(set_members(l, op, i));
    results[k] = i;
    if (split != concat) TRY(regroup(l, i, split, concat, count, &results[k]));
  }
  return status_ok();
}

// Who sends is a value: all members' operands are gathered, and the sender's is taken.
static heddle_status broadcast_from(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  instruction *roots = operands[op->operand_count - 1];
  for (int k = 0; k < op->result_count; k++) {
    const shape *s = operands[k]->shape;
    if (!shape_is_array(s) || s->rank >= SHAPE_MAX_RANK) return lowering_invalid(op, "operand %d is no array", k);
    int64_t dims[SHAPE_MAX_RANK], first = 0;
    dims[0] = 1;
    for (int d = 0; d < s->rank; d++) dims[d + 1] = s->dims[d];
    instruction *row = build_reshape(l, operands[k], s->rank + 1, dims), *root;
    instruction *all = build_add(l, HLO_ALL_GATHER, row->shape, 1, &row);
    build_dimensions(l, all, 1, &first);
    TRY(set_members(l, op, all));
    const group_list *groups = &all->attributes->replica_groups;
    int64_t size = groups->size ? groups->groups[0].size : 1;
    dims[0] = size;
    all->shape = shape_array(l->arena, s->dtype, s->rank + 1, dims);
    int_list one = {(int64_t[]){1}, 1}, at = {(int64_t[]){k}, 1}, end = {(int64_t[]){k + 1}, 1};
    TRY(build_slice(l, roots, at, end, one, &root));
    instruction **starts = arena_array(l->arena, instruction *, s->rank + 2);
    starts[0] = all;
    starts[1] = build_reshape(l, root, 0, NULL);
    for (int d = 0; d < s->rank; d++) starts[d + 2] = build_scalar(l, roots->shape->dtype, 0);
    dims[0] = 1;
    instruction *taken = build_add(l, HLO_DYNAMIC_SLICE, all->shape, s->rank + 2, starts);
    build_set_ints(l, taken, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES, s->rank + 1, dims);
    TRY(build_infer(l, taken));
    results[k] = build_reshape(l, taken, s->rank, s->dims);
  }
  return status_ok();
}

static heddle_status broadcast(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  const shape **shapes = arena_array(l->arena, const shape *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) shapes[k] = operands[k]->shape;
  const shape *s = shape_of_all(l, op->operand_count, shapes);
  instruction *i = build_add(l, HLO_COLLECTIVE_BROADCAST, s, op->operand_count, operands);
  TRY(set_members(l, op, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

heddle_status lower_collective(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  int64_t has_dynamic_root;
  TRY(lowering_int(op, "has_dynamic_root", 0, &has_dynamic_root));
  if (has_dynamic_root && op->operand_count == op->result_count + 1) return broadcast_from(l, op, operands, results);
  TRY(wants_operands(op));
  switch (op->op) {
    case IR_OP_ALL_GATHER: return gather(l, op, operands, results);
    case IR_OP_ALL_TO_ALL: return all_to_all(l, op, operands, results);
    default: return broadcast(l, op, operands, results);
  }
}

// The type the body works in, which may be wider than the operand's.
static dtype body_type(const ir_operation *op, dtype own) {
  if (!op->region_count || !op->regions[0]->blocks.size || !op->regions[0]->blocks.data[0]->argument_count) return own;
  dtype t = ir_type_dtype(op->regions[0]->blocks.data[0]->arguments[0]->type);
  return t == DTYPE_INVALID ? own : t;
}

// One instruction for each operand: operands of one call may have different types, a body has one.
static heddle_status reduce_one(lowering *l, const ir_operation *op, hlo_opcode opcode, instruction *x, int number,
                                instruction **out) {
  computation *body;
  if (!shape_is_array(x->shape)) return lowering_invalid(op, "operand %d is no array", number);
  dtype t = body_type(op, x->shape->dtype);
  x = build_convert(l, x, t);
  if (op->region_count) TRY(lowering_body(l, op, 0, 2, (dtype[]){t, t}, &body));
  else TRY(build_sum_body(l, t, &body));  // cross-replica-sum has none
  const shape *s = x->shape;
  if (opcode == HLO_REDUCE_SCATTER) TRY(lowering_declared(l, op, number, &s));
  instruction *i = build_add(l, opcode, s, 1, &x);
  TRY(set_members(l, op, i));
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  *out = i;
  return status_ok();
}

heddle_status lower_reducing_collective(lowering *l, const ir_operation *op, instruction *const *operands,
                                        instruction **results) {
  int64_t dim = 0;
  hlo_opcode opcode = op->op == IR_OP_REDUCE_SCATTER      ? HLO_REDUCE_SCATTER
                      : op->op == IR_OP_COLLECTIVE_REDUCE ? HLO_COLLECTIVE_REDUCE
                                                          : HLO_ALL_REDUCE;
  TRY(wants_operands(op));
  if (opcode == HLO_REDUCE_SCATTER) TRY(lowering_needed_int(op, "scatter_dimension", &dim));
  for (int k = 0; k < op->operand_count; k++) {
    TRY(reduce_one(l, op, opcode, operands[k], k, &results[k]));
    if (opcode == HLO_REDUCE_SCATTER) build_dimensions(l, results[k], 1, &dim);
  }
  return status_ok();
}

heddle_status lower_collective_permute(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  instruction *i = results[0] = build_add(l, HLO_COLLECTIVE_PERMUTE, operands[0]->shape, 1, operands);
  build_channel(op, i);
  TRY(groups_of(l, op, "source_target_pairs", &i->attributes->source_target_pairs));
  build_mark(i, HLO_ATTRIBUTE_SOURCE_TARGET_PAIRS);
  return status_ok();
}

heddle_status lower_device_id(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  (void)operands;
  hlo_opcode opcode = op->op == IR_OP_PARTITION_ID ? HLO_PARTITION_ID : HLO_REPLICA_ID;
  results[0] = build_add(l, opcode, shape_scalar(l->arena, DTYPE_U32), 0, NULL);
  return status_ok();
}
