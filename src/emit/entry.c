// The entry function: what every emitter of kernels has in common.
#include "emit/entry.h"

#include "dialect/xla_gpu.h"

static MlirAttribute index_attribute(MlirContext c, int64_t v) { return mlirIntegerAttrGet(mlirIndexTypeGet(c), v); }

MlirAttribute emit_entry_range(MlirContext c, int64_t count) {
  return mlirArrayAttrGet(c, 2, (MlirAttribute[]){index_attribute(c, 0), index_attribute(c, count - 1)});
}

static void describe_argument(kernel_emitter *k, MlirOperation entry, int argument, const target_description *target,
                              int slice) {
  const kernel_buffer *buffer = &k->plan->slices[slice];
  MlirContext c = k->context;
  ir_set_argument_attribute(entry, argument, "xla.slice_index", index_attribute(c, slice));
  ir_set_argument_attribute(entry, argument, "llvm.align", index_attribute(c, target->buffer_alignment));
  int64_t bytes = kernel_buffer_bytes(buffer->shape);
  // Of an open size there may be less than its stand-in says.
  const bool is_open = module_open_count(k->plan->computation->module, buffer->shape) > 1;
  if (bytes > 0 && !is_open)
    ir_set_argument_attribute(entry, argument, "llvm.dereferenceable", index_attribute(c, bytes));
  if (!buffer->is_written) ir_set_argument_attribute(entry, argument, "xla.invariant", mlirUnitAttrGet(c));
}

// The table of sizes: passes fill it with what they find to depend on sizes, and refuse what needs a longer one
// (lower/open_bounds.c).
static MlirType sizes_type(MlirContext c) {
  const int64_t most = 4096;
  return mlirRankedTensorTypeGet(1, &most, mlirIntegerTypeGet(c, 64), mlirAttributeGetNull());
}

static void describe_sizes(kernel_emitter *k, MlirOperation entry, int argument, const target_description *target) {
  MlirContext c = k->context;
  ir_set_argument_attribute(entry, argument, "xla.slice_index", index_attribute(c, k->plan->slice_count));
  ir_set_argument_attribute(entry, argument, "llvm.align", index_attribute(c, target->buffer_alignment));
  ir_set_argument_attribute(entry, argument, "xla.invariant", mlirUnitAttrGet(c));
  ir_set_argument_attribute(entry, argument, "xla.open_from",
                            index_attribute(c, k->plan->computation->module->open_from));
}

static MlirOperation make_entry(kernel_emitter *k, const target_description *target) {
  const kernel_plan *plan = k->plan;
  int tensors = plan->input_count + plan->output_count;
  MlirType *types = arena_array(k->arena, MlirType, tensors + 2);
  for (int i = 0; i < plan->input_count; i++) {
    types[i] = emit_tensor_type(k->context, plan->inputs[i].parameter->shape);
  }
  for (int i = 0; i < plan->output_count; i++) {
    types[plan->input_count + i] = emit_tensor_type(k->context, plan->outputs[i].shape);
  }
  if (plan->takes_sizes) types[tensors++] = sizes_type(k->context);
  types[tensors] = mlirIndexTypeGet(k->context);
  MlirOperation entry = ir_function(&k->module_body, plan->name, tensors + !target->has_grid, types, plan->output_count,
                                    types + plan->input_count, false);
  for (int i = 0; i < plan->input_count; i++) describe_argument(k, entry, i, target, plan->inputs[i].slice);
  for (int i = 0; i < plan->output_count; i++) {
    describe_argument(k, entry, plan->input_count + i, target, plan->outputs[i].slice);
  }
  if (plan->takes_sizes) describe_sizes(k, entry, tensors - 1, target);
  if (!target->has_grid)
    ir_set_argument_attribute(entry, tensors, "xla.range",
                              emit_entry_range(k->context, plan->launch.tiles > 0 ? plan->launch.tiles : 1));
  ir_set(entry, "xla.entry", mlirUnitAttrGet(k->context));
  if (target->has_grid) {
    int64_t launch[] = {plan->launch.threads, plan->launch.blocks_x, plan->launch.blocks_y};
    ir_set(entry, "xla.launch", mlirDenseI64ArrayGet(k->context, 3, launch));
  }
  return entry;
}

static MlirValue launch_id(ir_builder *b, const char *op, const char *dimension, int64_t count) {
  MlirNamedAttribute attributes[] = {ir_named_text(b->context, "dimension", dimension),
                                     ir_named(b->context, "xla.range", emit_entry_range(b->context, count))};
  return ir_value_with(b, op, mlirIndexTypeGet(b->context), 0, 0, 2, attributes);
}

static void launch_ids(kernel_emitter *k, ir_builder *b, const target_description *target, MlirBlock block,
                       ir_values *out) {
  const launch_plan *l = &k->plan->launch;
  MlirValue ids[3];
  int count = 0;
  if (!target->has_grid) {
    ids[count++] = mlirBlockGetArgument(block, mlirBlockGetNumArguments(block) - 1);
  } else {
    ids[count++] = launch_id(b, "gpu.thread_id", "#gpu<dim x>", l->threads);
    ids[count++] = launch_id(b, "gpu.block_id", "#gpu<dim x>", l->blocks_x);
    if (l->blocks_y > 1) ids[count++] = launch_id(b, "gpu.block_id", "#gpu<dim y>", l->blocks_y);
  }
  for (int i = 0; i < count; i++) vec_push(k->arena, out, ids[i]);
}

static heddle_status check_arguments(kernel_emitter *k) {
  for (int i = 0; i < k->plan->slice_count; i++) {
    const kernel_buffer *buffer = &k->plan->slices[i];
    if (!mlirTypeIsNull(emit_element_type(k->context, buffer->shape->dtype))) continue;
    return status_at(HEDDLE_UNIMPLEMENTED, k->plan->outputs[0].root->where, "%s %d of type %s cannot be emitted yet",
                     buffer->kind == KERNEL_PARAMETER ? "parameter" : "result", buffer->number,
                     shape_text(k->arena, buffer->shape));
  }
  return status_ok();
}

heddle_status emit_entry_begin(kernel_emitter *k, const target_description *target, kernel_entry *out) {
  TRY(check_arguments(k));
  MlirBlock block = ir_body(make_entry(k, target), 0);
  int inputs = k->plan->input_count, outputs = k->plan->output_count;
  *out = (kernel_entry){.kernel = k, .target = target, .b = ir_builder_at_end(k->context, block, k->arena)};
  out->inputs = arena_array(k->arena, MlirValue, inputs);
  out->outputs = arena_array(k->arena, MlirValue, outputs);
  for (int i = 0; i < inputs; i++) out->inputs[i] = mlirBlockGetArgument(block, i);
  for (int i = 0; i < outputs; i++) out->outputs[i] = mlirBlockGetArgument(block, inputs + i);
  out->carried = outputs;
  launch_ids(k, &out->b, target, block, &out->ids);
  return status_ok();
}

static int allocate(kernel_entry *e, MlirType type) {
  MlirValue *grown = arena_array(e->kernel->arena, MlirValue, e->carried + 1);
  for (int i = 0; i < e->carried; i++) grown[i] = e->outputs[i];
  grown[e->carried] = ir_value(&e->b, "xla_gpu.allocate_shared", type, 0, NULL);
  e->outputs = grown;
  return e->carried++;
}

int emit_entry_allocate(kernel_entry *e, MlirType element, int64_t size) {
  return allocate(e, mlirRankedTensorTypeGet(1, &size, element, mlirAttributeGetNull()));
}

int emit_entry_allocate_array(kernel_entry *e, const shape *s) {
  return allocate(e, emit_tensor_type(e->kernel->context, s));
}

void emit_entry_sync(kernel_entry *e, int first) {
  const int count = e->carried - first;
  MlirType *types = arena_array(e->kernel->arena, MlirType, count);
  for (int i = 0; i < count; i++) types[i] = mlirValueGetType(e->outputs[first + i]);
  MlirOperation barrier = ir_build(&e->b, (ir_op_state){.name = "xla_gpu.sync_threads",
                                                        .operand_count = count,
                                                        .operands = e->outputs + first,
                                                        .result_count = count,
                                                        .results = types});
  for (int i = 0; i < count; i++) e->outputs[first + i] = ir_result(barrier, i);
}

void emit_entry_end(kernel_entry *e) { ir_return(&e->b, e->kernel->plan->output_count, e->outputs); }

// --- loops

// Numbers of the carried tensors that a loop changes. null: all may be.
typedef struct changed_tensors {
  int count;
  int *numbers;
} changed_tensors;

static changed_tensors find_changed(const kernel_entry *e, const bool *changes) {
  changed_tensors c = {.numbers = arena_array(e->kernel->arena, int, e->carried)};
  for (int i = 0; i < e->carried; i++)
    if (!changes || changes[i]) c.numbers[c.count++] = i;
  return c;
}

// xla_gpu.loop with an empty body whose arguments are (range variables, map results, changed tensors).
static MlirOperation make_loop(kernel_entry *e, const indexing_map *map, const MlirValue *dims,
                               const changed_tensors *changed) {
  kernel_emitter *k = e->kernel;
  const int first = map->range_count + map->result_count, count = first + changed->count;
  MlirType *types = arena_array(k->arena, MlirType, count);
  MlirLocation *locations = arena_array(k->arena, MlirLocation, count);
  ir_values operands = {0};
  for (int i = 0; i < map->dim_count; i++) vec_push(k->arena, &operands, dims[i]);
  for (int i = 0; i < changed->count; i++) vec_push(k->arena, &operands, e->outputs[changed->numbers[i]]);
  for (int i = 0; i < count; i++) {
    types[i] = i < first ? mlirIndexTypeGet(k->context) : mlirValueGetType(e->outputs[changed->numbers[i - first]]);
    locations[i] = e->b.location;
  }
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(count, types, locations));
  int32_t segments[] = {map->dim_count, changed->count};
  MlirNamedAttribute attributes[] = {
      ir_named(k->context, "map", xla_gpu_indexing_map_attribute(k->context, map)),
      ir_named(k->context, "operandSegmentSizes", mlirDenseI32ArrayGet(k->context, 2, segments))};
  return ir_build(&e->b, (ir_op_state){.name = "xla_gpu.loop",
                                       .operand_count = operands.size,
                                       .operands = operands.data,
                                       .result_count = changed->count,
                                       .results = types + first,
                                       .attribute_count = 2,
                                       .attributes = attributes,
                                       .region_count = 1,
                                       .regions = &region});
}

heddle_status emit_entry_loop_changing(kernel_entry *e, const indexing_map *map, const MlirValue *dims,
                                       const bool *changes, entry_body body, const void *argument) {
  kernel_emitter *k = e->kernel;
  const changed_tensors changed = find_changed(e, changes);
  const int first = map->range_count + map->result_count;
  MlirOperation loop = make_loop(e, map, dims, &changed);
  MlirBlock block = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(k->context, block, k->arena);
  MlirValue *point = arena_array(k->arena, MlirValue, map->result_count);
  MlirValue *outputs = arena_array(k->arena, MlirValue, e->carried);
  MlirValue *yielded = arena_array(k->arena, MlirValue, changed.count);
  for (int i = 0; i < map->result_count; i++) point[i] = mlirBlockGetArgument(block, map->range_count + i);
  for (int i = 0; i < e->carried; i++) outputs[i] = e->outputs[i];
  for (int i = 0; i < changed.count; i++) outputs[changed.numbers[i]] = mlirBlockGetArgument(block, first + i);
  index_vector at = {.count = map->result_count, .values = point};
  TRY(body(e, &b, &at, outputs, argument));
  for (int i = 0; i < changed.count; i++) yielded[i] = outputs[changed.numbers[i]];
  ir_build(&b, (ir_op_state){.name = "xla_gpu.yield", .operand_count = changed.count, .operands = yielded});
  for (int i = 0; i < changed.count; i++) e->outputs[changed.numbers[i]] = ir_result(loop, i);
  return status_ok();
}

heddle_status emit_entry_loop(kernel_entry *e, const indexing_map *map, const MlirValue *dims, entry_body body,
                              const void *argument) {
  return emit_entry_loop_changing(e, map, dims, NULL, body, argument);
}

heddle_status emit_entry_inner_loop_changing(const kernel_entry *e, ir_builder *b, MlirValue *outputs,
                                             const indexing_map *map, const MlirValue *dims, const bool *changes,
                                             entry_body body, const void *argument) {
  kernel_entry inner = *e;
  inner.b = *b;
  inner.outputs = outputs;
  TRY(emit_entry_loop_changing(&inner, map, dims, changes, body, argument));
  *b = inner.b;
  return status_ok();
}

heddle_status emit_entry_inner_loop(const kernel_entry *e, ir_builder *b, MlirValue *outputs, const indexing_map *map,
                                    const MlirValue *dims, entry_body body, const void *argument) {
  return emit_entry_inner_loop_changing(e, b, outputs, map, dims, NULL, body, argument);
}

heddle_status emit_entry_branch(const kernel_entry *e, ir_builder *b, MlirValue *outputs, MlirValue condition,
                                entry_body body, const index_vector *point, const void *argument) {
  const int carried = e->carried;
  kernel_entry inner = *e;
  MlirType *types = arena_array(b->arena, MlirType, carried);
  MlirValue *inside = arena_array(b->arena, MlirValue, carried);
  for (int n = 0; n < carried; n++) {
    types[n] = mlirValueGetType(outputs[n]);
    inside[n] = outputs[n];
  }
  MlirOperation branch = ir_if(b, condition, carried, types);
  ir_builder otherwise = ir_builder_at_end(b->context, ir_body(branch, 1), b->arena);
  ir_yield(&otherwise, carried, outputs);
  inner.b = ir_builder_at_end(b->context, ir_body(branch, 0), b->arena);
  inner.outputs = inside;
  TRY(body(&inner, &inner.b, point, inside, argument));
  ir_yield(&inner.b, carried, inside);
  for (int n = 0; n < carried; n++) outputs[n] = ir_result(branch, n);
  return status_ok();
}

// --- elements

MlirValue emit_insert(ir_builder *b, MlirValue value, MlirValue tensor, int count, const MlirValue *indices) {
  MlirValue *operands = arena_array(b->arena, MlirValue, 2 + count);
  operands[0] = value;
  operands[1] = tensor;
  for (int d = 0; d < count; d++) operands[2 + d] = indices[d];
  return ir_value(b, "tensor.insert", mlirValueGetType(tensor), 2 + count, operands);
}

MlirValue emit_insert_at(ir_builder *b, MlirValue value, MlirValue tensor, const indexing_map *map,
                         const index_vector *point) {
  if (!map) return emit_insert(b, value, tensor, point->count, point->values);
  ir_values indices = ir_apply_indexing(b, map, point->values, NULL);
  return emit_insert(b, value, tensor, indices.size, indices.data);
}

MlirValue emit_extract(ir_builder *b, MlirValue tensor, int count, const MlirValue *indices) {
  MlirValue *operands = arena_array(b->arena, MlirValue, 1 + count);
  operands[0] = tensor;
  for (int d = 0; d < count; d++) operands[1 + d] = indices[d];
  return ir_value(b, "tensor.extract", ir_element_type(mlirValueGetType(tensor)), 1 + count, operands);
}
