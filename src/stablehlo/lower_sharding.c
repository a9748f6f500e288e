// sdy.manual_computation: a part of the program that its writer has divided among the devices (jax.shard_map).
//
// Its body goes into the computation around it, between the custom calls that GSPMD has for the two borders (and which
// hlo/tile_sharding.h describes), so that what both partitioners' programs say is done in one place.
#include "hlo/tile_sharding.h"
#include "mlir/sharding.h"
#include "stablehlo/build.h"
#include "stablehlo/lower_table.h"
#include "stablehlo/lowering_function.h"

static instruction *call_of(lowering *l, const char *target, instruction *x, const shape *s, str sharding) {
  instruction *call = build_add(l, HLO_CUSTOM_CALL, s, 1, &x);
  build_set_text(call, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET, str_from(target));
  build_set_raw(l, call, HLO_ATTRIBUTE_SHARDING, sharding);
  return call;
}

// Every dim is divided as the sharding says: the borders' custom calls, which are looser, hide what is not.
static heddle_status check_parts(lowering *l, const ir_operation *op, const char *what, int k, const shape *whole,
                                 const shape *part, str sharding) {
  tile_sharding s;
  TRY(tile_sharding_parse(l->arena, sharding, op->where, &s));
  bool fits = shape_is_array(whole) && shape_is_array(part) && whole->rank == part->rank;
  for (int d = 0; fits && d < whole->rank; d++)
    fits = whole->dims[d] == part->dims[d] * (s.rank && d < s.rank ? s.dims[d] : 1);
  if (fits) return status_ok();
  return lowering_invalid(op, "%s %d is %s outside and %s inside, which " STR_FMT " does not make of it", what, k,
                          shape_text(l->arena, whole), shape_text(l->arena, part), STR_ARG(sharding));
}

static heddle_status take_part(lowering *l, const ir_operation *op, int k, str sharding, const ir_value *argument,
                               instruction *x) {
  const shape *s;
  TRY(ir_type_shape(l->arena, argument->type, op->where, &s));
  TRY(check_parts(l, op, "operand", k, x->shape, s, sharding));
  x = call_of(l, "Sharding", x, x->shape, sharding);
  ptr_map_put(l->arena, l->values, argument, call_of(l, "SPMDFullToShardShape", x, s, STR("{manual}")));
  return status_ok();
}

static heddle_status give_whole(lowering *l, const ir_operation *op, int k, str sharding, instruction *part,
                                instruction **out) {
  const shape *s;
  TRY(ir_type_shape(l->arena, op->results[k]->type, op->where, &s));
  TRY(check_parts(l, op, "result", k, s, part->shape, sharding));
  part = call_of(l, "Sharding", part, part->shape, STR("{manual}"));
  *out = call_of(l, "SPMDShardToFullShape", part, s, sharding);
  return status_ok();
}

heddle_status lower_manual_computation(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  const ir_block *body = lowering_function_body(op);
  int count;
  instruction **returned;
  str *in, *outside;
  if (!body || body->argument_count != op->operand_count)
    return lowering_invalid(op, "found a body that does not take the operands, wanted one block that does");
  TRY(sharding_of_manual(l->arena, l->source, op, "in_shardings", op->operand_count, &in));
  TRY(sharding_of_manual(l->arena, l->source, op, "out_shardings", op->result_count, &outside));
  for (int k = 0; k < op->operand_count; k++) TRY(take_part(l, op, k, in[k], body->arguments[k], operands[k]));
  if (++l->depth > LOWERING_MAX_DEPTH) return lowering_refuse(op, "computations nest too deep");
  TRY(lowering_block(l, body, &count, &returned));
  l->depth--;
  l->op = op;
  if (count != op->result_count)
    return lowering_invalid(op, "the body returns %d values, wanted %d", count, op->result_count);
  for (int k = 0; k < count; k++) TRY(give_whole(l, op, k, outside[k], returned[k], &results[k]));
  return status_ok();
}
