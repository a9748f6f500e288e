// The parts of a pass over rows whose code is the same for rows and for columns: the layout decides only in which order
// points are visited, which reduction.c and reduction_columns.c do.
#include "emit/row_passes.h"

static kernel_emitter *kernel_of(const row_pass_emitter *s) { return s->entry->kernel; }

static const carried_value *carried_at(const row_pass_emitter *s, int number) {
  return &s->plan->passes.carried_values.data[number];
}

// --- accumulators

static dtype value_dtype(const row_reduction *r, int value) { return r->reduce->operands[value]->shape->dtype; }

MlirValue row_passes_to_accumulator(ir_builder *b, const row_reduction *r, int value, MlirValue x) {
  return emit_convert(b, x, value_dtype(r, value), r->accumulators[value]);
}

MlirValue row_passes_from_accumulator(ir_builder *b, const row_reduction *r, int value, MlirValue x) {
  return emit_convert(b, x, r->accumulators[value], value_dtype(r, value));
}

// --- buffers

static int add_buffer(row_pass_emitter *s, const carried_value *carried, dtype t) {
  ir_builder *b = &s->entry->b;
  MlirType element = emit_element_type(b->context, t);
  MlirType type = mlirRankedTensorTypeGet(1, &carried->buffer, element, mlirAttributeGetNull());
  s->tensors[s->tensor_count] = ir_value(b, "xla_gpu.allocate_shared", type, 0, NULL);
  return s->tensor_count++;
}

// One place per column of a tile, for each value of each reduction.
static void add_accumulators(row_pass_emitter *s) {
  for (int n = 0; n < s->plan->passes.pass_count; n++) {
    const row_reductions *reductions = &s->plan->passes.passes[n].reductions;
    for (int i = 0; i < reductions->size; i++) {
      const row_reduction *r = &reductions->data[i];
      for (int g = r->first_carried, v = 0; v < r->count; g++, v++)
        s->tensor_of[g] = add_buffer(s, carried_at(s, g), r->accumulators[v]);
    }
  }
}

heddle_status row_passes_begin(row_pass_emitter *s, kernel_entry *e, const hero_reduction *plan) {
  arena *a = e->kernel->arena;
  int outputs = e->kernel->plan->output_count, carried_values = plan->passes.carried_values.size;
  *s = (row_pass_emitter){.entry = e, .plan = plan, .tensor_count = outputs};
  s->tensors = arena_array(a, MlirValue, outputs + carried_values);
  s->carried = arena_array(a, MlirValue, carried_values);
  s->tensor_of = arena_array(a, int, carried_values);
  for (int o = 0; o < outputs; o++) s->tensors[o] = e->outputs[o];
  for (int g = 0; g < carried_values; g++) {
    const carried_value *carried = carried_at(s, g);
    s->tensor_of[g] = carried->is_kept ? carried->output : -1;
    if (carried->is_kept && carried->output < 0) s->tensor_of[g] = add_buffer(s, carried, carried->shape->dtype);
  }
  if (plan->is_column) add_accumulators(s);
  const row_point nowhere = {0};
  if (plan->passes.inits >= 0) s->inits = row_passes_call(s, &e->b, plan->passes.inits, &nowhere);
  return status_ok();
}

MlirValue row_passes_in_tile(ir_builder *b, int64_t count, int64_t size, MlirValue tile) {
  if (count % size == 0) return ir_index(b, size);
  MlirValue before = ir_binary(b, "arith.muli", tile, ir_index(b, size));
  MlirValue left = ir_binary(b, "arith.subi", ir_index(b, count), before);
  return ir_binary(b, "arith.minsi", ir_index(b, size), left);
}

// --- indices

// Indices of the point in an array of as many elements as the point's space has.
static ir_values indices_in(row_pass_emitter *s, ir_builder *b, const shape *array, const row_point *point) {
  arena *a = b->arena;
  const reduction_space *space = &s->plan->passes.space;
  const shape *from = point->is_element ? reduction_space_shape(a, space, array->dtype)
                                        : reduction_space_kept_shape(a, space, array->dtype);
  if (shape_same_dims(from, array)) return (ir_values){.data = (MlirValue *)point->at.values, .size = point->at.count};
  return ir_apply_indexing(b, hlo_indexing_reshape(a, from, array), point->at.values, NULL);
}

static ir_values indices_in_tensor(row_pass_emitter *s, ir_builder *b, int tensor, const row_point *point) {
  const kernel_plan *plan = kernel_of(s)->plan;
  if (tensor < plan->output_count) return indices_in(s, b, plan->outputs[tensor].shape, point);
  ir_values in_row = {0};
  vec_push(b->arena, &in_row, point->in_row);
  return in_row;
}

// --- bodies

static const row_reduction *reduction_of(const row_pass_emitter *s, int carried) {
  for (int n = 0; n < s->plan->passes.pass_count; n++) {
    const row_reductions *l = &s->plan->passes.passes[n].reductions;
    for (int i = 0; i < l->size; i++)
      if (carried >= l->data[i].first_carried && carried < l->data[i].first_carried + l->data[i].count)
        return &l->data[i];
  }
  return NULL;
}

static MlirValue row_value_of(row_pass_emitter *s, ir_builder *b, int number, const row_point *point) {
  if (!s->plan->is_column) return s->carried[number];
  const row_reduction *r = reduction_of(s, number);
  MlirValue accumulated = emit_extract(b, s->tensors[s->tensor_of[number]], 1, &point->column);
  return row_passes_from_accumulator(b, r, number - r->first_carried, accumulated);
}

static MlirValue argument_value(row_pass_emitter *s, ir_builder *b, int argument, const row_point *point) {
  if (argument >= 0) return s->entry->inputs[argument];
  int number = -1 - argument;
  if (!carried_at(s, number)->is_kept) return row_value_of(s, b, number, point);
  int tensor = s->tensor_of[number];
  ir_values indices = indices_in_tensor(s, b, tensor, point);
  return emit_extract(b, s->tensors[tensor], indices.size, indices.data);
}

MlirValue *row_passes_call(row_pass_emitter *s, ir_builder *b, int body, const row_point *point) {
  kernel_emitter *k = kernel_of(s);
  const kernel_body *called = &k->plan->bodies[body];
  int count = called->computation->parameters.size;
  MlirValue *arguments = arena_array(k->arena, MlirValue, count);
  for (int i = 0; i < count; i++) arguments[i] = argument_value(s, b, called->arguments[i], point);
  return emit_call(k, b, partition_entry(k->partition, called->computation), arguments, &point->at, "inline");
}

// --- storing

static int tensor_kept_in(const row_pass_emitter *s, const row_store *kept) { return s->tensor_of[kept->output]; }

// An output that stays where the pass stores it anyway.
static bool is_stored(const row_pass *pass, int tensor) {
  for (int i = 0; i < pass->stores.size; i++)
    if (pass->stores.data[i].output == tensor) return true;
  return false;
}

static void store(row_pass_emitter *s, ir_builder *b, int tensor, MlirValue value, const row_point *point) {
  ir_values indices = indices_in_tensor(s, b, tensor, point);
  s->tensors[tensor] = emit_insert(b, value, s->tensors[tensor], indices.size, indices.data);
}

void row_passes_store(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const MlirValue *results,
                      const row_point *point) {
  for (int i = 0; i < pass->stores.size; i++)
    store(s, b, pass->stores.data[i].output, results[pass->stores.data[i].result], point);
  for (int i = 0; i < pass->kept.size; i++) {
    int tensor = tensor_kept_in(s, &pass->kept.data[i]);
    if (!is_stored(pass, tensor)) store(s, b, tensor, results[pass->kept.data[i].result], point);
  }
}

void row_passes_written(const row_pass_emitter *s, const row_pass *pass, bool *written) {
  for (int i = 0; i < pass->stores.size; i++) written[pass->stores.data[i].output] = true;
  for (int i = 0; i < pass->kept.size; i++) written[tensor_kept_in(s, &pass->kept.data[i])] = true;
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

const char *row_passes_combiner(const row_reduction *r, int value) {
  if (r->how.form != REDUCER_BINARY) return NULL;
  return choice_for(&emit_ops[r->how.operations[value]], r->reduce->operands[value]->shape->dtype)->op;
}

static MlirValue combined(ir_builder *b, const row_reduction *r, int value, MlirValue x, MlirValue y) {
  return ir_combine(b, row_passes_combiner(r, value), x, y);
}

static void call_reducer(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *x,
                         const MlirValue *y, MlirValue *out) {
  kernel_emitter *k = kernel_of(s);
  MlirValue *operands = arena_array(k->arena, MlirValue, 2 * r->count);
  for (int v = 0; v < r->count; v++) {
    operands[v] = x[v];
    operands[r->count + v] = y[v];
  }
  const MlirValue *values =
      emit_call(k, b, partition_entry(k->partition, r->reduce->called[0]), operands, NULL, "xla.is_reduction");
  for (int v = 0; v < r->count; v++) out[v] = values[v];
}

// Of two partial results the one with the lower index comes first.
static void in_order_of_index(ir_builder *b, const row_reduction *r, MlirValue *x, MlirValue *y) {
  const int index = r->how.index_value;
  const bool is_signed = dtypes[value_dtype(r, index)].class == CLASS_SIGNED;
  const MlirValue swaps = ir_cmpi(b, is_signed ? "sgt" : "ugt", x[index], y[index]);
  for (int v = 0; v < r->count; v++) {
    const MlirValue first = ir_select(b, swaps, y[v], x[v]), second = ir_select(b, swaps, x[v], y[v]);
    x[v] = first;
    y[v] = second;
  }
}

void row_passes_meet(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *x, const MlirValue *y,
                     MlirValue *out) {
  if (row_passes_combiner(r, 0)) {
    for (int v = 0; v < r->count; v++) out[v] = combined(b, r, v, x[v], y[v]);
    return;
  }
  MlirValue *first = arena_array(b->arena, MlirValue, 2 * r->count), *second = first + r->count;
  for (int v = 0; v < r->count; v++) {
    first[v] = x[v];
    second[v] = y[v];
  }
  if (r->how.form == REDUCER_PICK) in_order_of_index(b, r, first, second);
  call_reducer(s, b, r, first, second, out);
}

void row_passes_combine(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *carried,
                        const MlirValue *x, MlirValue *next) {
  if (row_passes_combiner(r, 0)) {
    for (int k = 0; k < r->count; k++)
      next[k] = combined(b, r, k, carried[k], row_passes_to_accumulator(b, r, k, x[k]));
    return;
  }
  call_reducer(s, b, r, carried, x, next);
}
