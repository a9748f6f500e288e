// Pieces of sweeps that do not depend on how rows lie.
#include "emit/sweeps.h"

static kernel_emitter *kernel_of(const sweep_emitter *s) { return s->entry->kernel; }

static const sweep_given *given_at(const sweep_emitter *s, int number) { return &s->plan->sweeps.givens.data[number]; }

// --- accumulators

static dtype value_dtype(const sweep_reduction *r, int value) { return r->reduce->operands[value]->shape->dtype; }

MlirValue sweeps_widen(ir_builder *b, const sweep_reduction *r, int value, MlirValue x) {
  return emit_convert(b, x, value_dtype(r, value), r->accumulators[value]);
}

MlirValue sweeps_narrow(ir_builder *b, const sweep_reduction *r, int value, MlirValue x) {
  return emit_convert(b, x, r->accumulators[value], value_dtype(r, value));
}

// --- buffers

static int add_buffer(sweep_emitter *s, const sweep_given *given, dtype t) {
  ir_builder *b = &s->entry->b;
  MlirType element = emit_element_type(b->context, t);
  MlirType type = mlirRankedTensorTypeGet(1, &given->buffer, element, mlirAttributeGetNull());
  s->tensors[s->tensor_count] = ir_value(b, "xla_gpu.allocate_shared", type, 0, NULL);
  return s->tensor_count++;
}

// One place per column of a tile, for each value of each reduction.
static void add_accumulators(sweep_emitter *s) {
  for (int n = 0; n < s->plan->sweeps.sweep_count; n++) {
    const sweep_reductions *reductions = &s->plan->sweeps.sweeps[n].reductions;
    for (int i = 0; i < reductions->size; i++) {
      const sweep_reduction *r = &reductions->data[i];
      for (int g = r->first_given, v = 0; v < r->count; g++, v++)
        s->places[g] = add_buffer(s, given_at(s, g), r->accumulators[v]);
    }
  }
}

heddle_status sweeps_begin(sweep_emitter *s, kernel_entry *e, const hero_reduction *plan) {
  arena *a = e->kernel->arena;
  int outputs = e->kernel->plan->output_count, givens = plan->sweeps.givens.size;
  *s = (sweep_emitter){.entry = e, .plan = plan, .tensor_count = outputs};
  s->tensors = arena_array(a, MlirValue, outputs + givens);
  s->givens = arena_array(a, MlirValue, givens);
  s->places = arena_array(a, int, givens);
  for (int o = 0; o < outputs; o++) s->tensors[o] = e->outputs[o];
  for (int g = 0; g < givens; g++) {
    const sweep_given *given = given_at(s, g);
    s->places[g] = given->is_kept ? given->output : -1;
    if (given->is_kept && given->output < 0) s->places[g] = add_buffer(s, given, given->shape->dtype);
  }
  if (plan->is_column) add_accumulators(s);
  const sweep_point nowhere = {0};
  if (plan->sweeps.inits >= 0) s->inits = sweeps_call(s, &e->b, plan->sweeps.inits, &nowhere);
  return status_ok();
}

MlirValue sweeps_in_tile(ir_builder *b, int64_t count, int64_t size, MlirValue tile) {
  if (count % size == 0) return ir_index(b, size);
  MlirValue before = ir_binary(b, "arith.muli", tile, ir_index(b, size));
  MlirValue left = ir_binary(b, "arith.subi", ir_index(b, count), before);
  return ir_binary(b, "arith.minsi", ir_index(b, size), left);
}

// --- places

// Indices of the point in an array of as many elements as the point's space has.
static ir_values place_in(sweep_emitter *s, ir_builder *b, const shape *array, const sweep_point *point) {
  arena *a = b->arena;
  const reduction_space *space = &s->plan->sweeps.space;
  const shape *from = point->is_element ? reduction_space_shape(a, space, array->dtype)
                                        : reduction_space_kept_shape(a, space, array->dtype);
  if (shape_same_dims(from, array)) return (ir_values){.data = (MlirValue *)point->at.values, .size = point->at.count};
  return ir_apply_indexing(b, hlo_indexing_reshape(a, from, array), point->at.values, NULL);
}

static ir_values place_of_tensor(sweep_emitter *s, ir_builder *b, int tensor, const sweep_point *point) {
  const kernel_plan *plan = kernel_of(s)->plan;
  if (tensor < plan->output_count) return place_in(s, b, plan->outputs[tensor].shape, point);
  ir_values in_row = {0};
  vec_push(b->arena, &in_row, point->in_row);
  return in_row;
}

// --- bodies

static const sweep_reduction *reduction_of(const sweep_emitter *s, int given) {
  for (int n = 0; n < s->plan->sweeps.sweep_count; n++) {
    const sweep_reductions *l = &s->plan->sweeps.sweeps[n].reductions;
    for (int i = 0; i < l->size; i++)
      if (given >= l->data[i].first_given && given < l->data[i].first_given + l->data[i].count) return &l->data[i];
  }
  return NULL;
}

static MlirValue row_value_given(sweep_emitter *s, ir_builder *b, int number, const sweep_point *point) {
  if (!s->plan->is_column) return s->givens[number];
  const sweep_reduction *r = reduction_of(s, number);
  MlirValue accumulated = emit_extract(b, s->tensors[s->places[number]], 1, &point->column);
  return sweeps_narrow(b, r, number - r->first_given, accumulated);
}

static MlirValue argument_value(sweep_emitter *s, ir_builder *b, int argument, const sweep_point *point) {
  if (argument >= 0) return s->entry->inputs[argument];
  int number = -1 - argument;
  if (!given_at(s, number)->is_kept) return row_value_given(s, b, number, point);
  int tensor = s->places[number];
  ir_values place = place_of_tensor(s, b, tensor, point);
  return emit_extract(b, s->tensors[tensor], place.size, place.data);
}

MlirValue *sweeps_call(sweep_emitter *s, ir_builder *b, int body, const sweep_point *point) {
  kernel_emitter *k = kernel_of(s);
  const kernel_body *called = &k->plan->bodies[body];
  int count = called->computation->parameters.size;
  MlirValue *arguments = arena_array(k->arena, MlirValue, count);
  for (int i = 0; i < count; i++) arguments[i] = argument_value(s, b, called->arguments[i], point);
  return emit_call(k, b, partition_entry(k->partition, called->computation), arguments, &point->at, "inline");
}

// --- storing

static int tensor_of(const sweep_emitter *s, const sweep_store *kept) { return s->places[kept->output]; }

// An output that stays where the sweep stores it anyway.
static bool is_stored(const row_sweep *sweep, int tensor) {
  for (int i = 0; i < sweep->stores.size; i++)
    if (sweep->stores.data[i].output == tensor) return true;
  return false;
}

static void store(sweep_emitter *s, ir_builder *b, int tensor, MlirValue value, const sweep_point *point) {
  ir_values place = place_of_tensor(s, b, tensor, point);
  s->tensors[tensor] = emit_insert(b, value, s->tensors[tensor], place.size, place.data);
}

void sweeps_store(sweep_emitter *s, ir_builder *b, const row_sweep *sweep, const MlirValue *results,
                  const sweep_point *point) {
  for (int i = 0; i < sweep->stores.size; i++)
    store(s, b, sweep->stores.data[i].output, results[sweep->stores.data[i].result], point);
  for (int i = 0; i < sweep->kept.size; i++) {
    int tensor = tensor_of(s, &sweep->kept.data[i]);
    if (!is_stored(sweep, tensor)) store(s, b, tensor, results[sweep->kept.data[i].result], point);
  }
}

void sweeps_written(const sweep_emitter *s, const row_sweep *sweep, bool *written) {
  for (int i = 0; i < sweep->stores.size; i++) written[sweep->stores.data[i].output] = true;
  for (int i = 0; i < sweep->kept.size; i++) written[tensor_of(s, &sweep->kept.data[i])] = true;
}

// --- combining

static const emit_choice *choice_for(const emit_op *op, dtype t) {
  switch (dtypes[t].class) {
    case CLASS_PRED: return &op->on_pred;
    case CLASS_SIGNED: return &op->on_signed;
    case CLASS_UNSIGNED: return &op->on_unsigned;
    case CLASS_FLOAT: return &op->on_float;
    default: return &op->on_complex;
  }
}

const char *sweeps_combiner(const sweep_reduction *r, int value) {
  if (r->how.form != REDUCER_BINARY) return NULL;
  return choice_for(&emit_ops[r->how.operations[value]], r->reduce->operands[value]->shape->dtype)->op;
}

static MlirValue combined(ir_builder *b, const sweep_reduction *r, int value, MlirValue x, MlirValue y) {
  MlirNamedAttribute zeros = ir_named(b->context, "xla.zeros_are_equal", mlirUnitAttrGet(b->context));
  hlo_opcode op = r->how.operations[value];
  bool is_extremum = op == HLO_MAXIMUM || op == HLO_MINIMUM;
  bool is_marked = is_extremum && mlirTypeIsAFloat(mlirValueGetType(x));
  return ir_value_with(b, sweeps_combiner(r, value), mlirValueGetType(x), 2, (MlirValue[]){x, y}, is_marked, &zeros);
}

void sweeps_combine(sweep_emitter *s, ir_builder *b, const sweep_reduction *r, const MlirValue *carried,
                    const MlirValue *x, MlirValue *next) {
  if (sweeps_combiner(r, 0)) {
    for (int k = 0; k < r->count; k++) next[k] = combined(b, r, k, carried[k], sweeps_widen(b, r, k, x[k]));
    return;
  }
  kernel_emitter *k = kernel_of(s);
  MlirValue *operands = arena_array(k->arena, MlirValue, 2 * r->count);
  for (int v = 0; v < r->count; v++) {
    operands[v] = carried[v];
    operands[r->count + v] = x[v];
  }
  const MlirValue *values =
      emit_call(k, b, partition_entry(k->partition, r->reduce->called[0]), operands, NULL, "xla.is_reduction");
  for (int v = 0; v < r->count; v++) next[v] = values[v];
}
