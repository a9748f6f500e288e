// SPMDFullToShardShape takes this partition's part out of an array that every partition has as a whole;
// SPMDShardToFullShape puts the parts of a replica's partitions together again, for which all of them meet.
#include "eval/custom_call.h"
#include "eval/parallel.h"
#include "eval/strided.h"
#include "hlo/tile_sharding.h"

// Copies the part of partition `device` out of the whole or into it.
static void copy_part(const tile_move *move, int device, char *whole, char *part) {
  static const int64_t origin[SHAPE_MAX_RANK];
  int64_t start[SHAPE_MAX_RANK];
  tile_move_start(move, device, start);
  if (move->gathers) strided_copy_box(move->part, move->whole, start, whole, move->part, origin, part);
  else strided_copy_box(move->part, move->part, origin, part, move->whole, start, whole);
}

static heddle_status gather(interpreter *in, const instruction *i, const tile_move *move, int partitions,
                            arena *scratch, value *const *operands, value *out) {
  int *members = arena_array(scratch, int, partitions);
  meeting *m;
  for (int p = 0; p < partitions; p++) members[p] = in->process->replica * partitions + p;
  TRY(process_meet(in, i, members, partitions, 1, operands, &m));
  for (int p = 0; p < partitions; p++)
    if (tile_move_joins(move, in->process->partition, p)) copy_part(move, p, out->data, m->values[p][0]->data);
  process_leave(in, m);
  return status_ok();
}

static heddle_status move_in(interpreter *in, const instruction *i, arena *scratch, value *const *operands,
                             value **out) {
  const int partitions = process_grid_partitions(in->process->grid);
  tile_move move;
  TRY(tile_move_of(scratch, i, partitions, &move));
  if (shape_same_dims(move.whole, move.part)) {
    *out = value_retain(operands[0]);
    return status_ok();
  }
  TRY(value_create(&in->pool, i->shape, i->where, out));
  heddle_status status = status_ok();
  if (move.gathers) status = gather(in, i, &move, partitions, scratch, operands, *out);
  else copy_part(&move, in->process->partition, operands[0]->data, (*out)->data);
  if (!status_is_ok(status)) value_release(*out);
  return status;
}

heddle_status custom_call_move_tile(interpreter *in, const instruction *i, value *const *operands, value **out) {
  arena *scratch = arena_create();
  heddle_status status = move_in(in, i, scratch, operands, out);
  arena_destroy(scratch);
  return status;
}
