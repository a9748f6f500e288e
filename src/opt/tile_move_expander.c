// Tile-move expander: SPMDFullToShardShape and SPMDShardToFullShape in terms of what every device can do.
//
// XLA's partitioner reads the two custom calls as the borders between code that it has to divide and code that its
// writer has divided (jax.shard_map). Here nothing is divided: outside these borders every device computes the whole.
// So the way in is a slice whose place follows from the device's number, and the way out gathers the parts from all
// devices, one dim after the other. Runs before shardings' annotations go, which say how arrays are divided.
#include "opt/passes.h"

#include "hlo/device_groups.h"
#include "hlo/tile_sharding.h"
#include "opt/rewrite.h"

static void set_sizes(const builder *b, instruction *slice) {
  int64_t *sizes = arena_array(b->arena, int64_t, slice->shape->rank);
  memcpy(sizes, slice->shape->dims, (size_t)slice->shape->rank * sizeof *sizes);
  slice->attributes->dynamic_slice_sizes = (int_list){sizes, slice->shape->rank};
  attributes_mark(slice->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
}

// What a gather has for a channel until all are made.
#define NO_CHANNEL INT64_MIN

// Gathers meet on channels that no other collective has.
static void number_channels(arena *scratch, module *m) {
  int64_t largest = 0;
  instruction_list made = {0};
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const int64_t channel = all->data[k]->attributes->channel_id;
      if (channel == NO_CHANNEL) vec_push(scratch, &made, all->data[k]);
      else if (channel > largest) largest = channel;
    }
  }
  for (int k = 0; k < made.size; k++) made.data[k]->attributes->channel_id = largest + 1 + k;
}

// A table over the partitions p: where p's part begins along dim d, read at this partition's number.
static instruction *start_of(const builder *b, const tile_move *move, int d, instruction *number) {
  const int count = move->sharding.count;
  literal *table;
  int64_t start[SHAPE_MAX_RANK];
  heddle_status s = literal_create(b->arena, shape_array(b->arena, DTYPE_S32, 1, (const int64_t[]){count}), &table);
  if (!status_is_ok(s)) {
    heddle_status_free(s);
    return NULL;
  }
  for (int p = 0; p < count; p++) {
    tile_move_start(move, p, start);
    literal_set_int(table, p, start[d]);
  }
  const int64_t one = 1;
  instruction *operands[] = {builder_constant(b, table), number};
  instruction *entry = builder_add(b, HLO_DYNAMIC_SLICE, shape_array(b->arena, DTYPE_S32, 1, &one), 2, operands);
  set_sizes(b, entry);
  return builder_reshape(b, entry, 0, NULL);
}

static instruction *take_part(const builder *b, const tile_move *move, instruction *whole) {
  instruction *operands[1 + SHAPE_MAX_RANK] = {whole};
  instruction *number = builder_convert(
      b, builder_add(b, HLO_PARTITION_ID, shape_array(b->arena, DTYPE_U32, 0, NULL), 0, NULL), DTYPE_S32);
  for (int d = 0; d < move->whole->rank; d++) {
    operands[1 + d] = move->parts[d] > 1 ? start_of(b, move, d, number) : builder_scalar_int(b, DTYPE_S32, 0);
    if (!operands[1 + d]) return NULL;
  }
  instruction *part = builder_add(b, HLO_DYNAMIC_SLICE, move->part, 1 + move->whole->rank, operands);
  set_sizes(b, part);
  return part;
}

// Devices that lie behind each other along grid dim d, for each line of the grid and each replica.
static group_list lines_along(arena *a, const tile_sharding *s, int d, int replicas) {
  int64_t stride = 1;
  const int length = (int)s->dims[d], lines = s->count / length;
  for (int k = d + 1; k < s->rank; k++) stride *= s->dims[k];
  group_list out = {.size = lines * replicas, .groups = arena_array(a, int_list, (int64_t)lines * replicas)};
  for (int n = 0; n < out.size; n++) {
    const int64_t line = n % lines, first = line / stride * stride * length + line % stride;
    int64_t *members = arena_array(a, int64_t, length);
    for (int k = 0; k < length; k++) members[k] = (int64_t)(n / lines) * s->count + s->devices[first + k * stride];
    out.groups[n] = (int_list){members, length};
  }
  return out;
}

static instruction *gather_along(const builder *b, const tile_move *move, instruction *x, int d, int replicas) {
  int64_t dims[SHAPE_MAX_RANK], along = d;
  memcpy(dims, x->shape->dims, (size_t)x->shape->rank * sizeof *dims);
  dims[d] = move->whole->dims[d];
  instruction *gather =
      builder_add(b, HLO_ALL_GATHER, shape_array(b->arena, x->shape->dtype, x->shape->rank, dims), 1, &x);
  hlo_attributes *set = gather->attributes;
  builder_set_dimensions(b, gather, 1, &along);
  set->replica_groups = lines_along(b->arena, &move->sharding, d, replicas);
  attributes_mark(set, HLO_ATTRIBUTE_REPLICA_GROUPS);
  set->channel_id = NO_CHANNEL;
  attributes_mark(set, HLO_ATTRIBUTE_CHANNEL_ID);
  set->use_global_device_ids = true;
  attributes_mark(set, HLO_ATTRIBUTE_USE_GLOBAL_DEVICE_IDS);
  return gather;
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  const module *m = i->parent->module;
  instruction *x = i->operands[0];
  tile_move move;
  heddle_status s = tile_move_of(b.arena, i, device_groups_partitions(m), &move);
  if (!status_is_ok(s)) {
    heddle_status_free(s);
    return NULL;
  }
  if (shape_same_dims(move.whole, move.part)) return x;
  if (!move.gathers) return take_part(&b, &move, x);
  for (int d = 0; d < move.whole->rank; d++)
    if (move.parts[d] > 1) x = gather_along(&b, &move, x, d, device_groups_replicas(m));
  return x;
}

static heddle_status check_all(arena *scratch, const module *m) {
  tile_move move;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (tile_sharding_is_move(all->data[k]))
        TRY(tile_move_of(scratch, all->data[k], device_groups_partitions(m), &move));
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  TRY(check_all(context->scratch, m));
  TRY(rewrite_each(context, m, tile_sharding_is_move, expand));
  number_channels(context->scratch, m);
  return status_ok();
}

const pass opt_tile_move_expander = {
    .name = "tile-move-expander",
    .summary = "custom calls between arrays and the partitions' parts become slices and all-gathers",
    .order_reason = "before the custom-call expander, which removes the shardings that say how arrays are divided",
    .use = PASS_NEEDED,
    .run = run,
};
