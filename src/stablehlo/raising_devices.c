// Collectives between devices, and transfers from and to the host. StableHLO has no halves of asynchronous operations:
// the first half does all, the second passes it on.
#include "stablehlo/raising.h"

// The shape that the whole operation has, where the first half's holds the operands too.
static const shape *whole_shape(const instruction *i) {
  bool has_operands = i->opcode == HLO_ALL_GATHER_START || i->opcode == HLO_COLLECTIVE_PERMUTE_START;
  return has_operands && shape_is_tuple(i->shape) && i->shape->tuple_size >= 2 ? i->shape->elements[1] : i->shape;
}

static heddle_status collective(raising *r, const instruction *i, raised *const *operands, ir_operation **op,
                                raised **out) {
  raised_leaves leaves = {0};
  const shape *s = whole_shape(i);
  for (int k = 0; k < i->operand_count; k++) raised_flatten(r, operands[k], &leaves);
  int count;
  const ir_type **types;
  raised_types(r, s, &count, &types);
  *op = raising_add(r, raisings[i->opcode].op, leaves.size, leaves.data, count, types);
  ir_value *const *next = (*op)->results;
  *out = raised_of_shape(r, s, &next);
  return status_ok();
}

// Rows of device numbers, filled up with -1; none means all devices.
static heddle_status set_groups(raising *r, const instruction *i, ir_operation *op, const char *name,
                                const group_list *groups, int64_t columns) {
  if (groups->text.size && !groups->groups) return raising_refuse(i, "its groups have no list");
  for (int k = 0; k < groups->size; k++)
    if (groups->groups[k].size > columns) columns = groups->groups[k].size;
  int64_t *values = arena_array(r->arena, int64_t, (size_t)groups->size *(size_t)columns);
  for (int k = 0; k < groups->size; k++)
    for (int64_t d = 0; d < columns; d++)
      values[k * columns + d] = d < groups->groups[k].size ? groups->groups[k].data[d] : -1;
  const ir_attribute *x;
  TRY(raising_matrix(r, groups->size, columns, values, &x));
  raising_set(r, op, name, x);
  return status_ok();
}

static void set_channel(raising *r, const instruction *i, ir_operation *op, int64_t type) {
  ir_named_attribute fields[2] = {{STR("handle"), ir_integer_attribute(r->arena, i->attributes->channel_id, DTYPE_S64)},
                                  {STR("type"), NULL}};
  fields[1].value = ir_integer_attribute(r->arena, type, DTYPE_S64);
  raising_set(r, op, "channel_handle", ir_struct_attribute(r->arena, "stablehlo.channel_handle", 2, fields));
}

static heddle_status set_devices(raising *r, const instruction *i, ir_operation *op) {
  const hlo_attributes *x = i->attributes;
  TRY(set_groups(r, i, op, "replica_groups", &x->replica_groups, 0));
  if (attributes_has(x, HLO_ATTRIBUTE_CHANNEL_ID)) set_channel(r, i, op, 1);
  if (x->use_global_device_ids) raising_set(r, op, "use_global_device_ids", ir_attribute_new(r->arena, IR_ATTR_UNIT));
  return status_ok();
}

static heddle_status set_body(raising *r, const instruction *i, ir_operation *op) {
  if (i->called_count < 1) return raising_refuse(i, "it calls no computation");
  op->region_count = 1;
  op->regions = arena_array(r->arena, ir_region *, 1);
  op->regions[0] = arena_new(r->arena, ir_region);
  op->regions[0]->parent = op;
  return raising_region(r, op->regions[0], i->called[0], NULL);
}

static int64_t first_dimension(const instruction *i) {
  return i->attributes->dimensions.size ? i->attributes->dimensions.data[0] : 0;
}

heddle_status raise_all_gather(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  raising_set_int(r, op, "all_gather_dim", first_dimension(i));
  return set_devices(r, i, op);
}

heddle_status raise_all_reduce(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  TRY(set_body(r, i, op));
  return set_devices(r, i, op);
}

heddle_status raise_reduce_scatter(raising *r, const instruction *i, raised *const *operands, raised **out) {
  if (i->operand_count != 1) return raising_refuse(i, "it has several operands");
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  TRY(set_body(r, i, op));
  raising_set_int(r, op, "scatter_dimension", first_dimension(i));
  return set_devices(r, i, op);
}

static void set_split(raising *r, ir_operation *op, int64_t dimension, int64_t count) {
  raising_set_int(r, op, "split_dimension", dimension);
  raising_set_int(r, op, "concat_dimension", dimension);
  raising_set_int(r, op, "split_count", count);
}

// HLO's form with one operand for each device of the group: they are stacked, exchanged, and taken apart again.
static heddle_status all_to_all_of_many(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const shape *s = i->operands[0]->shape;
  const int64_t count = i->operand_count;
  int64_t dims[SHAPE_MAX_RANK + 1];
  ir_value **parts = arena_array(r->arena, ir_value *, count);
  if (s->rank + 1 > SHAPE_MAX_RANK) return raising_refuse(i, "its rank is too high");
  for (int k = 0; k < s->rank; k++) dims[k + 1] = s->dims[k];
  for (int k = 0; k < i->operand_count; k++) {
    ir_value *x;
    TRY(raising_operand(i, operands, k, &x));
    dims[0] = 1;
    parts[k] = raising_reshape(r, x, s->rank + 1, dims);
  }
  dims[0] = count;
  const ir_type *stacked = raising_tensor(r, parts[0]->type, s->rank + 1, dims);
  ir_operation *op = raising_add(r, IR_OP_CONCATENATE, i->operand_count, parts, 1, &stacked);
  raising_set_int(r, op, "dimension", 0);
  op = raising_add(r, IR_OP_ALL_TO_ALL, 1, op->results, 1, &stacked);
  set_split(r, op, 0, count);
  TRY(set_devices(r, i, op));
  ir_operation *exchanged = op;
  raised *x = arena_new(r->arena, raised);
  x->count = i->operand_count;
  x->elements = arena_array(r->arena, raised *, x->count);
  for (int k = 0; k < x->count; k++) {
    int64_t start[SHAPE_MAX_RANK] = {0}, limit[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
    for (int d = 0; d <= s->rank; d++) {
      limit[d] = dims[d];
      stride[d] = 1;
    }
    start[0] = k;
    limit[0] = k + 1;
    dims[0] = 1;
    const ir_type *row = raising_tensor(r, stacked, s->rank + 1, dims);
    dims[0] = count;
    ir_operation *slice = raising_add(r, IR_OP_SLICE, 1, exchanged->results, 1, &row);
    raising_set_ints(r, slice, "start_indices", s->rank + 1, start);
    raising_set_ints(r, slice, "limit_indices", s->rank + 1, limit);
    raising_set_ints(r, slice, "strides", s->rank + 1, stride);
    x->elements[k] = raised_leaf(r, raising_reshape(r, slice->results[0], s->rank, s->dims));
  }
  *out = x;
  return status_ok();
}

heddle_status raise_all_to_all(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const group_list *groups = &i->attributes->replica_groups;
  if (!i->attributes->dimensions.size) return all_to_all_of_many(r, i, operands, out);
  if (!groups->groups || groups->size == 0) return raising_refuse(i, "it does not say how many devices take part");
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  set_split(r, op, first_dimension(i), groups->groups[0].size);
  return set_devices(r, i, op);
}

heddle_status raise_collective_broadcast(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  TRY(set_groups(r, i, op, "replica_groups", &i->attributes->replica_groups, 0));
  if (attributes_has(i->attributes, HLO_ATTRIBUTE_CHANNEL_ID)) set_channel(r, i, op, 1);
  return status_ok();
}

heddle_status raise_collective_permute(raising *r, const instruction *i, raised *const *operands, raised **out) {
  if (i->operand_count != 1) return raising_refuse(i, "it has several operands");
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  TRY(set_groups(r, i, op, "source_target_pairs", &i->attributes->source_target_pairs, 2));
  if (attributes_has(i->attributes, HLO_ATTRIBUTE_CHANNEL_ID)) set_channel(r, i, op, 1);
  return status_ok();
}

// Host transfers are channels of type 2 (from the device) and 3 (to it).
static void set_transfer(raising *r, const instruction *i, ir_operation *op, int64_t host_type) {
  set_channel(r, i, op, i->attributes->is_host_transfer ? host_type : 1);
  raising_set_bool(r, op, "is_host_transfer", i->attributes->is_host_transfer);
}

heddle_status raise_send(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves leaves = {0};
  for (int k = 0; k < i->operand_count; k++) raised_flatten(r, operands[k], &leaves);
  const ir_type *token = ir_type_of_shape(r->arena, shape_token(r->arena));
  ir_operation *op = raising_add(r, IR_OP_SEND, leaves.size, leaves.data, 1, &token);
  set_transfer(r, i, op, 2);
  *out = raised_leaf(r, op->results[0]);
  return status_ok();
}

// Results and token, as the second half has them.
heddle_status raise_recv(raising *r, const instruction *i, raised *const *operands, raised **out) {
  raised_leaves leaves = {0};
  raised_flatten(r, operands[0], &leaves);
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size < 2) return raising_refuse(i, "its shape is no tuple");
  const shape *parts[] = {i->shape->elements[0], shape_token(r->arena)};
  const shape *s = shape_tuple(r->arena, 2, parts);
  int count;
  const ir_type **types;
  raised_types(r, s, &count, &types);
  ir_operation *op = raising_add(r, IR_OP_RECV, leaves.size, leaves.data, count, types);
  set_transfer(r, i, op, 3);
  ir_value *const *next = op->results;
  *out = raised_of_shape(r, s, &next);
  return status_ok();
}

static void set_config(raising *r, const instruction *i, ir_operation *op, const char *name) {
  const str *text = attributes_raw(i->attributes, name);
  raising_set(r, op, name, ir_string_attribute(r->arena, text ? raising_word(r, *text) : STR("")));
}

heddle_status raise_infeed(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  set_config(r, i, op, "infeed_config");
  return status_ok();
}

heddle_status raise_outfeed(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(collective(r, i, operands, &op, out));
  set_config(r, i, op, "outfeed_config");
  return status_ok();
}
