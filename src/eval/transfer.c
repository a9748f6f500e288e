// Evaluates the operations by which arrays enter and leave a running program: infeed and outfeed by the streams of
// eval_feeds, send and recv by the channels of the grid. A recv takes its position in the channel's queue at once, but
// waits only in its done, so that a program may send to itself. Where the transfers of one program say who sends to
// whom, a receiver whom nobody names receives zeros.
#include "eval/collective.h"

// A tuple of as many elements as the shape, which are released.
static heddle_status create_owned(interpreter *in, const instruction *i, const shape *s, heddle_status status,
                                  value **elements, value **out) {
  if (status_is_ok(status)) status = value_create_tuple(&in->pool, s, elements, i->where, out);
  for (int k = 0; k < s->tuple_size; k++) value_release(elements[k]);
  return status;
}

// What comes in is the tuple or array that the shape says; an array may come alone or as a tuple of one.
static const literal *fed_literal(const literal *l, const shape *wanted) {
  if (shape_compatible(l->shape, wanted)) return l;
  const bool is_single = shape_is_tuple(l->shape) && l->shape->tuple_size == 1;
  return is_single && shape_compatible(l->elements[0]->shape, wanted) ? l->elements[0] : NULL;
}

static heddle_status take_infeed(interpreter *in, const instruction *i, const shape *wanted, value **out) {
  eval_feeds *feeds = process_grid_feeds(in->process->grid);
  const int count = feeds ? feeds->infeed_count : 0;
  if (!feeds || feeds->infeed_taken >= count)
    return status_at(HEDDLE_INVALID, i->where, "infeed " STR_FMT " finds nothing: the run was given %d values to feed",
                     STR_ARG(i->name), count);
  const literal *l = fed_literal(feeds->infeed[feeds->infeed_taken], wanted);
  // A single array where a tuple of one is wanted.
  if (!l && shape_is_tuple(wanted) && wanted->tuple_size == 1 &&
      shape_compatible(feeds->infeed[feeds->infeed_taken]->shape, wanted->elements[0])) {
    value *elements[1] = {0};
    heddle_status status = value_borrow(&in->pool, feeds->infeed[feeds->infeed_taken++], &elements[0]);
    return create_owned(in, i, wanted, status, elements, out);
  }
  if (!l) {
    arena *scratch = arena_create();
    heddle_status status =
        status_at(HEDDLE_INVALID, i->where, "value %d of the infeed is %s, wanted %s", feeds->infeed_taken,
                  shape_text(scratch, feeds->infeed[feeds->infeed_taken]->shape), shape_text(scratch, wanted));
    arena_destroy(scratch);
    return status;
  }
  feeds->infeed_taken++;
  return value_borrow(&in->pool, l, out);
}

// (what came in, token)
heddle_status eval_infeed(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size != 2)
    return interpreter_refuse(i, "a result other than (value, token)");
  value *elements[2] = {0};
  heddle_status status = take_infeed(in, i, i->shape->elements[0], &elements[0]);
  if (status_is_ok(status)) status = value_create_zeros(&in->pool, i->shape->elements[1], i->where, &elements[1]);
  return create_owned(in, i, i->shape, status, elements, out);
}

heddle_status eval_outfeed(interpreter *in, const instruction *i, value *const *operands, value **out) {
  eval_feeds *feeds = process_grid_feeds(in->process->grid);
  if (feeds && feeds->arena) {
    literal *copy;
    TRY(value_to_literal(feeds->arena, operands[0], shape_copy(feeds->arena, operands[0]->shape), &copy));
    vec_push(feeds->arena, &feeds->outfeed, copy);
  }
  return value_create_empty(&in->pool, i->shape, out);
}

// (value, u32[] context, token)
static bool is_transfer(const shape *s) {
  return shape_is_tuple(s) && s->tuple_size == 3 && shape_is_scalar(s->elements[1]) &&
         s->elements[1]->dtype == DTYPE_U32 && s->elements[2]->dtype == DTYPE_TOKEN;
}

heddle_status eval_send(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (!is_transfer(i->shape) || !value_fits(operands[0], i->shape->elements[0]))
    return interpreter_refuse(i, "a result other than (operand, u32[], token)");
  int source, target;
  const bool is_paired = collective_transfer_of(in, i, &source, &target);
  if (!is_paired || target >= 0) process_send(in, i->attributes->channel_id, target, operands[0]);
  value *elements[3] = {value_retain(operands[0])};
  heddle_status status = value_create_zeros(&in->pool, i->shape->elements[1], i->where, &elements[1]);
  if (status_is_ok(status)) status = value_create_empty(&in->pool, i->shape->elements[2], &elements[2]);
  return create_owned(in, i, i->shape, status, elements, out);
}

heddle_status eval_send_done(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  return value_create_empty(&in->pool, i->shape, out);
}

// The context of a recv tells its done all about it, which may stand behind tuples and loops: the place in the
// channel's queue, and whether that is the queue of this process alone.
static const uint32_t SENT_BY_NOBODY = UINT32_MAX, SENT_TO_ONE = (uint32_t)1 << 31;

// (zeros for now, the context, token)
heddle_status eval_recv(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  if (!is_transfer(i->shape)) return interpreter_refuse(i, "a result other than (value, u32[], token)");
  value *elements[3] = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < 3 && status_is_ok(status); k++)
    status = value_create_zeros(&in->pool, i->shape->elements[k], i->where, &elements[k]);
  if (status_is_ok(status)) {
    int source, target;
    const bool is_paired = collective_transfer_of(in, i, &source, &target);
    const int receiver = is_paired ? in->process->id : -1;
    uint32_t position = SENT_BY_NOBODY;
    if (!is_paired || source >= 0) position = (uint32_t)process_reserve(in, i->attributes->channel_id, receiver);
    if (is_paired && source >= 0) position |= SENT_TO_ONE;
    memcpy(elements[1]->data, &position, sizeof position);
  }
  return create_owned(in, i, i->shape, status, elements, out);
}

static heddle_status check_received(const instruction *i, const value *received) {
  if (value_fits(received, i->shape->elements[0])) return status_ok();
  arena *scratch = arena_create();
  heddle_status status = status_at(HEDDLE_INVALID, i->where, "what was sent is %s, wanted %s",
                                   shape_text(scratch, received->shape), shape_text(scratch, i->shape->elements[0]));
  arena_destroy(scratch);
  return status;
}

// Waits, unless the start has found that nobody sends.
static heddle_status receive(interpreter *in, const instruction *i, const value *started, value **out) {
  const instruction *start = i->operands[0];
  if (start->opcode != HLO_RECV) start = i;
  const uint32_t context = (uint32_t)value_get_int(started->elements[1], 0);
  if (context == SENT_BY_NOBODY) return value_create_zeros(&in->pool, i->shape->elements[0], i->where, out);
  return process_receive(in, i, start->attributes->channel_id, context & SENT_TO_ONE ? in->process->id : -1,
                         context & ~SENT_TO_ONE, out);
}

// (value, token)
heddle_status eval_recv_done(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size != 2 || !is_transfer(i->operands[0]->shape))
    return interpreter_refuse(i, "a result other than (value, token)");
  value *elements[2] = {0};
  TRY(receive(in, i, operands[0], &elements[0]));
  heddle_status status = check_received(i, elements[0]);
  if (status_is_ok(status)) status = value_create_zeros(&in->pool, i->shape->elements[1], i->where, &elements[1]);
  return create_owned(in, i, i->shape, status, elements, out);
}
