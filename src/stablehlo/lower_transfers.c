// Transfers: infeed, outfeed, send, recv and asynchronous operations. StableHLO lists their values one by one where HLO
// has tuples, and has one operation where HLO has a start and a done.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

// The tensors among the results, which are followed by a token.
static heddle_status received_shapes(lowering *l, const ir_operation *op, int *count, const shape ***out) {
  *count = op->result_count - 1;
  *out = arena_array(l->arena, const shape *, op->result_count);
  if (*count < 0 || op->results[*count]->type->kind != IR_TYPE_TOKEN || op->operand_count != 1)
    return lowering_invalid(op, "wanted a token as the only operand and the last result");
  for (int k = 0; k < *count; k++) TRY(lowering_declared(l, op, k, &(*out)[k]));
  return status_ok();
}

heddle_status lower_infeed(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int count;
  const shape **shapes;
  TRY(received_shapes(l, op, &count, &shapes));
  const shape *parts[2] = {shape_tuple(l->arena, count, shapes), shape_token(l->arena)};
  instruction *i = build_add(l, HLO_INFEED, shape_tuple(l->arena, 2, parts), 1, operands);
  str config = lowering_word(op, "infeed_config");
  if (config.size) {
    text quoted = {0};
    text_quote(&quoted, config);
    build_set_raw(l, i, HLO_ATTRIBUTE_INFEED_CONFIG, str_copy(l->arena, text_view(&quoted)));
    text_free(&quoted);
  }
  instruction *data = build_element(l, i, 0);
  for (int k = 0; k < count; k++) results[k] = build_element(l, data, k);
  results[count] = build_element(l, i, 1);
  return status_ok();
}

// What is sent: one array as it is, others as a tuple.
static heddle_status sent(lowering *l, const ir_operation *op, instruction *const *operands, instruction **data) {
  int count = op->operand_count - 1;
  *data = operands[0];
  if (count < 0 || operands[count]->shape->dtype != DTYPE_TOKEN)
    return lowering_invalid(op, "wanted a token as the last operand");
  if (count != 1) *data = build_tuple(l, count, operands);
  return status_ok();
}

static str shape_as_text(lowering *l, const shape *s) {
  text out = {0};
  shape_print(&out, s, true);
  str copy = str_copy(l->arena, text_view(&out));
  text_free(&out);
  return copy;
}

heddle_status lower_outfeed(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  instruction *data;
  TRY(sent(l, op, operands, &data));
  instruction *both[2] = {data, operands[op->operand_count - 1]};
  instruction *i = results[0] = build_add(l, HLO_OUTFEED, shape_token(l->arena), 2, both);
  build_set_raw(l, i, HLO_ATTRIBUTE_OUTFEED_SHAPE, shape_as_text(l, data->shape));
  str config = lowering_word(op, "outfeed_config");
  if (!config.size) return status_ok();
  text quoted = {0};
  text_quote(&quoted, config);
  build_set_raw(l, i, HLO_ATTRIBUTE_OUTFEED_CONFIG, str_copy(l->arena, text_view(&quoted)));
  text_free(&quoted);
  return status_ok();
}

static heddle_status set_channel(const ir_operation *op, instruction *i) {
  int64_t is_host;
  TRY(lowering_int(op, "is_host_transfer", 0, &is_host));
  if (build_channel(op, i) <= 0) return lowering_invalid(op, "the channel must have a number above 0");
  if (is_host) build_set_bool(i, HLO_ATTRIBUTE_IS_HOST_TRANSFER, true);
  return status_ok();
}

heddle_status lower_send(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  instruction *data;
  TRY(sent(l, op, operands, &data));
  instruction *both[2] = {data, operands[op->operand_count - 1]};
  const shape *parts[3] = {data->shape, shape_scalar(l->arena, DTYPE_U32), shape_token(l->arena)};
  instruction *start = build_add(l, HLO_SEND, shape_tuple(l->arena, 3, parts), 2, both);
  TRY(set_channel(op, start));
  results[0] = build_add(l, HLO_SEND_DONE, shape_token(l->arena), 1, &start);
  return set_channel(op, results[0]);
}

heddle_status lower_recv(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int count;
  const shape **shapes;
  TRY(received_shapes(l, op, &count, &shapes));
  const shape *data = count == 1 ? shapes[0] : shape_tuple(l->arena, count, shapes), *token = shape_token(l->arena);
  const shape *parts[3] = {data, shape_scalar(l->arena, DTYPE_U32), token};
  instruction *start = build_add(l, HLO_RECV, shape_tuple(l->arena, 3, parts), 1, operands);
  TRY(set_channel(op, start));
  const shape *both = shape_tuple(l->arena, 2, (const shape *[]){data, token});
  instruction *done = build_add(l, HLO_RECV_DONE, both, 1, &start);
  TRY(set_channel(op, done));
  instruction *received = build_element(l, done, 0);
  lowering_results(l, received, count, results);
  results[count] = build_element(l, done, 1);
  return status_ok();
}

// The region as a computation, called by async-start; a future is the started instruction.
heddle_status lower_async_start(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  if (op->region_count != 1 || op->result_count != 1)
    return lowering_invalid(op, "wanted one region and one result, found %d and %d", op->region_count,
                            op->result_count);
  const shape **shapes = arena_array(l->arena, const shape *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) shapes[k] = operands[k]->shape;
  region_request q = {.region = op->regions[0], .argument_count = op->operand_count, .shapes = shapes, .name = "async"};
  computation *called;
  TRY(lowering_region(l, &q, &called));
  const shape *parts[3] = {shape_tuple(l->arena, op->operand_count, shapes), called->root->shape,
                           shape_scalar(l->arena, DTYPE_U32)};
  instruction *i = build_add(l, HLO_ASYNC_START, shape_tuple(l->arena, 3, parts), op->operand_count, operands);
  build_called(i, HLO_ATTRIBUTE_CALLS, called);
  results[0] = i;
  return status_ok();
}

heddle_status lower_async_done(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  instruction *start = operands[0];
  if (start->opcode != HLO_ASYNC_START && start->opcode != HLO_ASYNC_UPDATE)
    return lowering_refuse(op, "its operand is not the result of an async_start");
  const shape *s = start->shape->elements[1];
  if (op->result_count > 1 && (!shape_is_tuple(s) || s->tuple_size != op->result_count))
    return lowering_invalid(op, "found %d results", op->result_count);
  instruction *done = build_add(l, HLO_ASYNC_DONE, s, 1, &start);
  lowering_results(l, done, op->result_count, results);
  return status_ok();
}
