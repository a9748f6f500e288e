// A decision tree over a number, as deep as the logarithm of the number of choices.
#include "emit/choose.h"

typedef struct choices {
  MlirValue number;
  const int64_t *firsts;
  choose_body body;
  const void *argument;
} choices;

static heddle_status choose(kernel_entry *e, const choices *c, int first, int count);

static heddle_status choose_side(kernel_entry *e, const choices *c, MlirOperation op, int region, int first,
                                 int count) {
  kernel_entry side = *e;
  int carried = e->carried;
  side.b = ir_builder_at_end(e->kernel->context, ir_body(op, region), e->kernel->arena);
  side.outputs = arena_array(e->kernel->arena, MlirValue, carried);
  for (int i = 0; i < carried; i++) side.outputs[i] = e->outputs[i];
  TRY(choose(&side, c, first, count));
  ir_yield(&side.b, carried, side.outputs);
  return status_ok();
}

static heddle_status choose(kernel_entry *e, const choices *c, int first, int count) {
  if (count == 1) return c->body(e, first, c->argument);
  int half = count / 2, carried = e->carried;
  MlirValue is_low = ir_cmpi(&e->b, "slt", c->number, ir_index(&e->b, c->firsts[first + half]));
  MlirType *types = arena_array(e->kernel->arena, MlirType, carried);
  for (int i = 0; i < carried; i++) types[i] = mlirValueGetType(e->outputs[i]);
  MlirOperation op = ir_if(&e->b, is_low, carried, types);
  TRY(choose_side(e, c, op, 0, first, half));
  TRY(choose_side(e, c, op, 1, first + half, count - half));
  for (int i = 0; i < carried; i++) e->outputs[i] = ir_result(op, i);
  return status_ok();
}

heddle_status emit_choose(kernel_entry *e, MlirValue number, int count, const int64_t *firsts, choose_body body,
                          const void *argument) {
  if (count == 0) return status_ok();
  return choose(e, &(choices){number, firsts, body, argument}, 0, count);
}
