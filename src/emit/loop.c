// The loop emitter. Consecutive points of the index space are consecutive elements of the first output in memory, so
// stores are contiguous whatever its layout is; the other outputs have as many elements and are reached through bitcast
// maps.
#include "emit/loop.h"

#include "dialect/xla_gpu.h"

// --- the map

// Indices of the element that lies at `linear` in memory.
static void delinearize_by_layout(arena *a, const shape *s, const affine_expr *linear, const affine_expr **indices) {
  int64_t order[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK];
  const affine_expr *physical[SHAPE_MAX_RANK];
  shape_minor_to_major(s, order);
  for (int i = 0; i < s->rank; i++) sizes[i] = s->dims[order[s->rank - 1 - i]];
  indexing_delinearize(a, s->rank, sizes, linear, physical);
  for (int i = 0; i < s->rank; i++) indices[order[s->rank - 1 - i]] = physical[i];
}

static indexing_variable variable(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

static const affine_expr *gpu_position(arena *a, const launch_plan *l, indexing_map *m) {
  m->dims[0] = variable("th_x", l->threads);
  m->dims[1] = variable("bl_x", l->blocks_x);
  const affine_expr *block = affine_dim(a, 1);
  if (l->blocks_y > 1) {
    m->dims[2] = variable("bl_y", l->blocks_y);
    block = affine_add(a, affine_mul_constant(a, affine_dim(a, 2), l->blocks_x), block);
  }
  m->ranges[0] = variable("vector_index", l->unroll);
  const affine_expr *thread = affine_add(a, affine_mul_constant(a, block, l->threads), affine_dim(a, 0));
  return affine_add(a, affine_mul_constant(a, thread, l->unroll), affine_symbol(a, 0));
}

static const affine_expr *cpu_position(arena *a, const launch_plan *l, indexing_map *m) {
  m->dims[0] = variable("tile", l->tiles);
  m->ranges[0] = variable("i", l->tile);
  return affine_add(a, affine_mul_constant(a, affine_dim(a, 0), l->tile), affine_symbol(a, 0));
}

const indexing_map *emit_loop_map(arena *a, const plan_target *target, const launch_plan *l, const shape *output) {
  bool is_gpu = target->kind == PLAN_GPU;
  int64_t covered = is_gpu ? l->threads * l->blocks_x * l->blocks_y * l->unroll : l->tile * l->tiles;
  int dims = !is_gpu ? 1 : l->blocks_y > 1 ? 3 : 2, constraints = covered > l->elements;
  indexing_map *m = indexing_map_create(a, dims, 1, 0, output->rank, constraints);
  const affine_expr *linear = is_gpu ? gpu_position(a, l, m) : cpu_position(a, l, m);
  delinearize_by_layout(a, output, linear, m->results);
  if (constraints) m->constraints[0] = (indexing_constraint){linear, {0, l->elements - 1}};
  return indexing_map_simplify(a, m);
}

// --- the entry function

static MlirAttribute index_attribute(MlirContext c, int64_t v) { return mlirIntegerAttrGet(mlirIndexTypeGet(c), v); }

static MlirAttribute range_of(MlirContext c, int64_t count) {
  return mlirArrayAttrGet(c, 2, (MlirAttribute[]){index_attribute(c, 0), index_attribute(c, count - 1)});
}

static void describe_argument(kernel_emitter *k, MlirOperation entry, int argument, const plan_target *target,
                              int slice) {
  const plan_buffer *buffer = &k->plan->slices[slice];
  MlirContext c = k->context;
  ir_set_argument_attribute(entry, argument, "xla.slice_index", index_attribute(c, slice));
  ir_set_argument_attribute(entry, argument, "llvm.align", index_attribute(c, target->buffer_alignment));
  int64_t bytes = plan_buffer_bytes(buffer->shape);
  if (bytes > 0) ir_set_argument_attribute(entry, argument, "llvm.dereferenceable", index_attribute(c, bytes));
  if (!buffer->is_written) ir_set_argument_attribute(entry, argument, "xla.invariant", mlirUnitAttrGet(c));
}

static MlirOperation make_entry(kernel_emitter *k, const plan_target *target) {
  const kernel_plan *plan = k->plan;
  bool is_cpu = target->kind == PLAN_CPU;
  int tensors = plan->input_count + plan->output_count;
  MlirType *types = arena_array(k->arena, MlirType, tensors + 1);
  for (int i = 0; i < plan->input_count; i++) {
    types[i] = emit_tensor_type(k->context, plan->inputs[i].parameter->shape);
  }
  for (int i = 0; i < plan->output_count; i++) {
    types[plan->input_count + i] = emit_tensor_type(k->context, plan->outputs[i].shape);
  }
  types[tensors] = mlirIndexTypeGet(k->context);
  MlirOperation entry = ir_function(&k->module_body, plan->name, tensors + is_cpu, types, plan->output_count,
                                    types + plan->input_count, false);
  for (int i = 0; i < plan->input_count; i++) describe_argument(k, entry, i, target, plan->inputs[i].slice);
  for (int i = 0; i < plan->output_count; i++) {
    describe_argument(k, entry, plan->input_count + i, target, plan->outputs[i].slice);
  }
  if (is_cpu) ir_set_argument_attribute(entry, tensors, "xla.range", range_of(k->context, plan->launch.tiles));
  ir_set(entry, "xla.entry", mlirUnitAttrGet(k->context));
  if (!is_cpu) {
    int64_t launch[] = {plan->launch.threads, plan->launch.blocks_x, plan->launch.blocks_y};
    ir_set(entry, "xla.launch", mlirDenseI64ArrayGet(k->context, 3, launch));
  }
  return entry;
}

static MlirValue launch_id(ir_builder *b, const char *op, const char *dimension, int64_t count) {
  MlirNamedAttribute attributes[] = {ir_named_text(b->context, "dimension", dimension),
                                     ir_named(b->context, "xla.range", range_of(b->context, count))};
  return ir_value_with(b, op, mlirIndexTypeGet(b->context), 0, 0, 2, attributes);
}

static void launch_ids(kernel_emitter *k, ir_builder *b, const plan_target *target, MlirBlock block, ir_values *out) {
  const launch_plan *l = &k->plan->launch;
  MlirValue ids[3];
  int count = 0;
  if (target->kind == PLAN_CPU) {
    ids[count++] = mlirBlockGetArgument(block, k->plan->input_count + k->plan->output_count);
  } else {
    ids[count++] = launch_id(b, "gpu.thread_id", "#gpu<dim x>", l->threads);
    ids[count++] = launch_id(b, "gpu.block_id", "#gpu<dim x>", l->blocks_x);
    if (l->blocks_y > 1) ids[count++] = launch_id(b, "gpu.block_id", "#gpu<dim y>", l->blocks_y);
  }
  for (int i = 0; i < count; i++) vec_push(k->arena, out, ids[i]);
}

// xla_gpu.loop with an empty body whose arguments are (range variable, map results, outputs).
static MlirOperation make_loop(kernel_emitter *k, ir_builder *b, const indexing_map *map, const ir_values *dims,
                               const MlirValue *outputs) {
  int arguments = 1 + map->result_count + k->plan->output_count, operands = dims->size + k->plan->output_count;
  MlirType *types = arena_array(k->arena, MlirType, arguments);
  MlirLocation *locations = arena_array(k->arena, MlirLocation, arguments);
  MlirValue *values = arena_array(k->arena, MlirValue, operands);
  for (int i = 0; i < dims->size; i++) values[i] = dims->data[i];
  for (int i = 0; i < k->plan->output_count; i++) values[dims->size + i] = outputs[i];
  for (int i = 0; i < arguments; i++) {
    int output = i - 1 - map->result_count;
    types[i] = output < 0 ? mlirIndexTypeGet(k->context) : mlirValueGetType(outputs[output]);
    locations[i] = b->location;
  }
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(arguments, types, locations));
  int32_t segments[] = {(int32_t)dims->size, (int32_t)k->plan->output_count};
  MlirNamedAttribute attributes[] = {
      ir_named(k->context, "map", xla_gpu_indexing_map_attribute(k->context, map)),
      ir_named(k->context, "operandSegmentSizes", mlirDenseI32ArrayGet(k->context, 2, segments))};
  return ir_build(b, (ir_op){.name = "xla_gpu.loop",
                             .operand_count = operands,
                             .operands = values,
                             .result_count = k->plan->output_count,
                             .results = types + 1 + map->result_count,
                             .attribute_count = 2,
                             .attributes = attributes,
                             .region_count = 1,
                             .regions = &region});
}

static void fill_body(kernel_emitter *k, MlirBlock body, const indexing_map *map, const MlirValue *inputs) {
  ir_builder b = ir_builder_at_end(k->context, body, k->arena);
  const partition_function *f = k->partition->functions[0];
  MlirValue *point = arena_array(k->arena, MlirValue, map->result_count);
  for (int i = 0; i < map->result_count; i++) point[i] = mlirBlockGetArgument(body, 1 + i);
  index_vector at = {.count = map->result_count, .values = point};
  const MlirValue *values = emit_call(k, &b, f, inputs, &at, 0);
  MlirValue *tensors = arena_array(k->arena, MlirValue, f->result_count);
  for (int i = 0; i < f->result_count; i++) {
    ir_values place = {.data = point, .size = map->result_count};
    if (f->results[i].map) place = ir_apply_indexing(&b, f->results[i].map, point, 0);
    MlirValue *operands = arena_array(k->arena, MlirValue, 2 + place.size);
    operands[0] = values[i];
    operands[1] = mlirBlockGetArgument(body, 1 + map->result_count + i);
    for (int d = 0; d < place.size; d++) operands[2 + d] = place.data[d];
    tensors[i] = ir_value(&b, "tensor.insert", mlirValueGetType(operands[1]), 2 + place.size, operands);
  }
  ir_build(&b, (ir_op){.name = "xla_gpu.yield", .operand_count = f->result_count, .operands = tensors});
}

static heddle_status check_arguments(kernel_emitter *k) {
  for (int i = 0; i < k->plan->slice_count; i++) {
    const plan_buffer *buffer = &k->plan->slices[i];
    if (!mlirTypeIsNull(emit_element_type(k->context, buffer->shape->dtype))) continue;
    return status_at(HEDDLE_UNIMPLEMENTED, k->plan->outputs[0].root->where, "%s %d of type %s cannot be emitted yet",
                     buffer->kind == PLAN_PARAMETER ? "parameter" : "result", buffer->number,
                     shape_text(k->arena, buffer->shape));
  }
  return status_ok();
}

heddle_status emit_loop_entry(kernel_emitter *k, const plan_target *target) {
  TRY(check_arguments(k));
  MlirOperation entry = make_entry(k, target);
  MlirBlock block = ir_body(entry, 0);
  ir_builder b = ir_builder_at_end(k->context, block, k->arena);
  const indexing_map *map = emit_loop_map(k->arena, target, &k->plan->launch, k->plan->outputs[0].shape);
  ir_values dims = {0};
  launch_ids(k, &b, target, block, &dims);
  int tensors = k->plan->input_count + k->plan->output_count;
  MlirValue *arguments = arena_array(k->arena, MlirValue, tensors);
  for (int i = 0; i < tensors; i++) arguments[i] = mlirBlockGetArgument(block, i);
  MlirOperation loop = make_loop(k, &b, map, &dims, arguments + k->plan->input_count);
  fill_body(k, ir_body(loop, 0), map, arguments);
  MlirValue *results = arena_array(k->arena, MlirValue, k->plan->output_count);
  for (int i = 0; i < k->plan->output_count; i++) results[i] = ir_result(loop, i);
  ir_return(&b, k->plan->output_count, results);
  return status_ok();
}
