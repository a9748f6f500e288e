// xla-gpu-lower-xla-gpu-to-scf: predicated accesses, warp reductions and spread-out vectors in terms of scf, gpu and
// loop.
//
//   predicated_insert, predicated_extract   scf.if around the access
//   shuffle_reduce                          gpu.shuffle by N, N/2, … 1, combining after each; marked xla.to_all, lanes
//                                           exchange their values, so that each of 2N neighbours has the result; marked
//                                           xla.in_order, by 1, 2, … N: what meets is next to each other
//   materialize                             loop that fills a vector of the thread's values
//   insert                                  loop that writes the vector's values
//
// These say more than their lowerings do, and the emitters' patterns are written on them; but inlining and everything
// after wants to see calls and loops.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

// The operands from `first` on, in the arena.
static MlirValue *operands_from(arena *a, MlirOperation op, int first, int count) {
  MlirValue *values = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) values[i] = ir_operand(op, first + i);
  return values;
}

// --- predicated accesses

static MlirOperation branch_on(ir_builder *b, MlirValue condition, MlirType type, ir_builder *then,
                               ir_builder *otherwise) {
  MlirOperation branch = ir_if(b, condition, 1, &type);
  *then = ir_builder_at_end(b->context, ir_body(branch, 0), b->arena);
  *otherwise = ir_builder_at_end(b->context, ir_body(branch, 1), b->arena);
  return branch;
}

// Operands: value, dest, indices…, condition.
static heddle_status lower_insert(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch), then, otherwise;
  int count = (int)mlirOperationGetNumOperands(op);
  MlirValue dest = ir_operand(op, 1);
  MlirOperation branch = branch_on(&b, ir_operand(op, count - 1), mlirValueGetType(dest), &then, &otherwise);
  MlirValue *operands = operands_from(c->scratch, op, 0, count - 1);
  MlirValue inserted = ir_value(&then, "tensor.insert", mlirValueGetType(dest), count - 1, operands);
  ir_yield(&then, 1, &inserted);
  ir_yield(&otherwise, 1, &dest);
  ir_replace(op, (MlirValue[]){ir_result(branch, 0)});
  return status_ok();
}

// Operands: condition, fallback, source, indices….
static heddle_status lower_extract(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch), then, otherwise;
  int count = (int)mlirOperationGetNumOperands(op) - 2;
  MlirValue fallback = ir_operand(op, 1);
  MlirType element = mlirValueGetType(fallback);
  MlirOperation branch = branch_on(&b, ir_operand(op, 0), element, &then, &otherwise);
  MlirValue extracted = ir_value(&then, "tensor.extract", element, count, operands_from(c->scratch, op, 2, count));
  ir_yield(&then, 1, &extracted);
  ir_yield(&otherwise, 1, &fallback);
  ir_replace(op, (MlirValue[]){ir_result(branch, 0)});
  return status_ok();
}

// --- shuffle_reduce

typedef struct shuffle_step {
  int64_t distance;
  int lanes;         // of the subgroup
  const char *mode;  // of gpu.shuffle: "down", or "xor" where all lanes want the result
} shuffle_step;

// A 32-bit integer of the lane `by.distance` away.
static MlirValue shuffle_word(ir_builder *b, MlirValue word, shuffle_step by) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), results[] = {i32, mlirIntegerTypeGet(b->context, 1)};
  MlirValue offset = ir_int(b, i32, by.distance), width = ir_int(b, i32, by.lanes);
  MlirValue operands[] = {word, offset, width};
  MlirNamedAttribute mode = ir_named_text(b->context, "mode", arena_printf(b->arena, "#gpu<shuffle_mode %s>", by.mode));
  MlirOperation op = ir_build(b, (ir_op_state){.name = "gpu.shuffle",
                                               .operand_count = 3,
                                               .operands = operands,
                                               .result_count = 2,
                                               .results = results,
                                               .attribute_count = 1,
                                               .attributes = &mode});
  return ir_result(op, 0);
}

// An integer of any width, in words.
static MlirValue shuffle_integer(ir_builder *b, MlirValue v, shuffle_step by) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), type = mlirValueGetType(v);
  int bits = ir_bit_width(type);
  if (bits == 32) return shuffle_word(b, v, by);
  if (bits < 32) return ir_cast(b, "arith.trunci", type, shuffle_word(b, ir_cast(b, "arith.extui", i32, v), by));
  int words = (bits + 31) / 32;
  MlirType wide = mlirIntegerTypeGet(b->context, (unsigned)words * 32);
  MlirValue whole = words * 32 == bits ? v : ir_cast(b, "arith.extui", wide, v), result = {0};
  for (int i = 0; i < words; i++) {
    MlirValue shift = ir_int(b, wide, 32 * i);
    MlirValue word = ir_cast(b, "arith.trunci", i32, ir_binary(b, "arith.shrui", whole, shift));
    MlirValue moved = ir_cast(b, "arith.extui", wide, shuffle_word(b, word, by));
    MlirValue placed = ir_binary(b, "arith.shli", moved, shift);
    result = i == 0 ? placed : ir_binary(b, "arith.ori", result, placed);
  }
  return words * 32 == bits ? result : ir_cast(b, "arith.trunci", type, result);
}

static MlirValue shuffle_scalar(ir_builder *b, MlirValue v, shuffle_step by) {
  MlirType type = mlirValueGetType(v);
  if (mlirTypeIsAInteger(type)) return shuffle_integer(b, v, by);
  if (mlirTypeIsAIndex(type)) {
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    MlirValue moved = shuffle_integer(b, ir_cast(b, "arith.index_cast", i64, v), by);
    return ir_cast(b, "arith.index_cast", type, moved);
  }
  if (mlirTypeIsAComplex(type)) {
    MlirType part = mlirComplexTypeGetElementType(type);
    MlirValue re = shuffle_scalar(b, ir_cast(b, "complex.re", part, v), by);
    MlirValue im = shuffle_scalar(b, ir_cast(b, "complex.im", part, v), by);
    return ir_value(b, "complex.create", type, 2, (MlirValue[]){re, im});
  }
  MlirType bits = mlirIntegerTypeGet(b->context, (unsigned)ir_bit_width(type));
  MlirValue moved = shuffle_integer(b, ir_cast(b, "arith.bitcast", bits, v), by);
  return ir_cast(b, "arith.bitcast", type, moved);
}

// Vectors of rank 1 go element by element.
static MlirValue shuffle(ir_builder *b, MlirValue v, shuffle_step by) {
  MlirType type = mlirValueGetType(v);
  if (!ir_is_vector(type)) return shuffle_scalar(b, v, by);
  MlirValue result = v;
  for (int64_t i = 0; i < mlirShapedTypeGetDimSize(type, 0); i++) {
    MlirNamedAttribute at = ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &i));
    MlirValue element = ir_value_with(b, "vector.extract", ir_element_type(type), 1, &v, 1, &at);
    MlirValue operands[] = {shuffle_scalar(b, element, by), result};
    result = ir_value_with(b, "vector.insert", type, 2, operands, 1, &at);
  }
  return result;
}

static heddle_status lower_shuffle_reduce(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch);
  int count = (int)mlirOperationGetNumResults(op);
  MlirValue *values = arena_array(c->scratch, MlirValue, 2 * count);
  MlirType *types = arena_array(c->scratch, MlirType, count);
  for (int i = 0; i < count; i++) {
    values[i] = ir_operand(op, i);
    types[i] = ir_result_type(op, i);
    if (ir_is_vector(types[i]) && mlirShapedTypeGetRank(types[i]) != 1)
      return status_error(HEDDLE_UNIMPLEMENTED, "shuffle_reduce of %s", ir_type_text(c->scratch, types[i]));
  }
  const MlirNamedAttribute call_attributes[] = {ir_named(b.context, "callee", ir_get(op, "combiner")),
                                                ir_named(b.context, "inline", mlirUnitAttrGet(b.context))};
  const char *mode = mlirAttributeIsNull(ir_get(op, "xla.to_all")) ? "down" : "xor";
  const bool is_in_order = !mlirAttributeIsNull(ir_get(op, "xla.in_order"));
  const int64_t most = mlirIntegerAttrGetValueInt(ir_get(op, "max_distance"));
  for (int64_t step = 1; step <= most; step *= 2) {
    const shuffle_step by = {is_in_order ? step : most / step, c->options->target.subgroup_size, mode};
    for (int i = 0; i < count; i++) values[count + i] = shuffle(&b, values[i], by);
    MlirOperation call = ir_build(&b, (ir_op_state){.name = "xla_gpu.pure_call",
                                                    .operand_count = 2 * count,
                                                    .operands = values,
                                                    .result_count = count,
                                                    .results = types,
                                                    .attribute_count = 2,
                                                    .attributes = call_attributes});
    for (int i = 0; i < count; i++) values[i] = ir_result(call, i);
  }
  ir_replace(op, values);
  return status_ok();
}

// --- spread-out vectors

// The thread's part of an indexed_vector: one element per value of the range variables of its map.
static MlirType thread_vector(const indexing_map *m, MlirType element) {
  int64_t sizes[16];
  for (int i = 0; i < m->range_count; i++) sizes[i] = m->ranges[i].bounds.upper - m->ranges[i].bounds.lower + 1;
  return mlirVectorTypeGet(m->range_count, sizes, element);
}

typedef struct spread {
  const indexing_map *map;
  MlirType element, vector;
} spread;

static heddle_status read_spread(arena *a, MlirType type, spread *out) {
  intptr_t rank = 0;
  const int64_t *shape = 0;
  MlirAttribute map;
  if (!xla_gpu_indexed_vector(type, &rank, &shape, &out->element, &map))
    return status_error(HEDDLE_INTERNAL, "no indexed_vector");
  out->map = xla_gpu_indexing_map(map);
  bool fits = out->map->range_count > 0 && out->map->range_count <= 16;
  for (int i = 0; i < out->map->range_count; i++) fits &= out->map->ranges[i].bounds.lower == 0;
  if (!fits || (!mlirTypeIsAInteger(out->element) && !mlirTypeIsAFloat(out->element)))
    return status_error(HEDDLE_UNIMPLEMENTED, "%s per thread", ir_type_text(a, type));
  out->vector = thread_vector(out->map, out->element);
  return status_ok();
}

// xla_gpu.loop of the map with one iteration argument; *body is left at the end of its body.
static MlirOperation build_loop(ir_builder *b, const indexing_map *m, const MlirValue *dims, MlirValue init,
                                ir_builder *body) {
  int argument_count = m->range_count + m->result_count + 1;
  MlirType type = mlirValueGetType(init), *types = arena_array(b->arena, MlirType, argument_count);
  MlirLocation *locations = arena_array(b->arena, MlirLocation, argument_count);
  MlirValue *operands = arena_array(b->arena, MlirValue, m->dim_count + 1);
  for (int i = 0; i < argument_count; i++) {
    types[i] = i + 1 < argument_count ? mlirIndexTypeGet(b->context) : type;
    locations[i] = b->location;
  }
  for (int i = 0; i < m->dim_count; i++) operands[i] = dims[i];
  operands[m->dim_count] = init;
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(argument_count, types, locations));
  int32_t segments[] = {m->dim_count, 1};
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "map", xla_gpu_indexing_map_attribute(b->context, m)),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 2, segments)),
  };
  MlirOperation loop = ir_build(b, (ir_op_state){.name = "xla_gpu.loop",
                                                 .operand_count = m->dim_count + 1,
                                                 .operands = operands,
                                                 .result_count = 1,
                                                 .results = &type,
                                                 .attribute_count = 2,
                                                 .attributes = attributes,
                                                 .region_count = 1,
                                                 .regions = &region});
  *body = ir_builder_at_end(b->context, ir_body(loop, 0), b->arena);
  return loop;
}

static void arguments_of(MlirBlock block, int first, int count, MlirValue *out) {
  for (int i = 0; i < count; i++) out[i] = mlirBlockGetArgument(block, first + i);
}

// All positions of a vector access are known only when the loop runs.
static MlirNamedAttribute dynamic_positions(MlirContext c, int rank) {
  int64_t positions[16];
  for (int i = 0; i < rank; i++) positions[i] = INT64_MIN;
  return ir_named(c, "static_position", mlirDenseI64ArrayGet(c, rank, positions));
}

static void yield_one(ir_builder *body, MlirValue value) {
  ir_build(body, (ir_op_state){.name = "xla_gpu.yield", .operand_count = 1, .operands = &value});
}

static heddle_status lower_materialize(lower_context *c, MlirOperation op, MlirValue *vector) {
  arena *a = c->scratch;
  spread s;
  TRY(read_spread(a, ir_result_type(op, 0), &s));
  ir_builder b = ir_builder_before(op, a), body;
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  int inputs = (int)mlirOperationGetNumOperands(op) - m->dim_count, ranges = m->range_count;
  MlirValue zero = mlirTypeIsAFloat(s.element) ? ir_float(&b, s.vector, 0) : ir_int(&b, s.vector, 0);
  MlirOperation loop = build_loop(&b, m, operands_from(a, op, inputs, m->dim_count), zero, &body);
  MlirBlock block = ir_body(loop, 0);

  MlirValue *operands = arena_array(a, MlirValue, inputs + m->result_count);
  for (int i = 0; i < inputs; i++) operands[i] = ir_operand(op, i);
  arguments_of(block, ranges, m->result_count, operands + inputs);
  MlirNamedAttribute callee = ir_named(b.context, "callee", ir_get(op, "callee"));
  MlirValue value =
      ir_value_with(&body, "xla_gpu.pure_call", s.element, inputs + m->result_count, operands, 1, &callee);

  MlirValue *places = arena_array(a, MlirValue, ranges + 2);
  places[0] = value;
  places[1] = mlirBlockGetArgument(block, ranges + m->result_count);
  arguments_of(block, 0, ranges, places + 2);
  MlirNamedAttribute positions = dynamic_positions(b.context, ranges);
  yield_one(&body, ir_value_with(&body, "vector.insert", s.vector, ranges + 2, places, 1, &positions));
  *vector = ir_result(loop, 0);
  return status_ok();
}

// `vector`: the thread's values of the source.
static heddle_status lower_spread_insert(lower_context *c, MlirOperation op, MlirValue vector) {
  arena *a = c->scratch;
  spread s;
  TRY(read_spread(a, mlirValueGetType(ir_operand(op, 0)), &s));
  ir_builder b = ir_builder_before(op, a), body;
  int dims = s.map->dim_count, ranges = s.map->range_count;
  MlirValue dest = ir_operand(op, 1);
  const indexing_map *places = xla_gpu_indexing_map(ir_get(op, "map"));
  const indexing_map *m = indexing_map_simplify(a, indexing_map_compose(a, s.map, places));
  if (m->is_empty) {
    ir_replace(op, &dest);
    return status_ok();
  }
  MlirOperation loop = build_loop(&b, m, operands_from(a, op, 2, dims), dest, &body);
  MlirBlock block = ir_body(loop, 0);
  MlirValue *operands = arena_array(a, MlirValue, m->result_count + ranges + 2);
  operands[0] = vector;
  arguments_of(block, 0, ranges, operands + 1);
  MlirNamedAttribute positions = dynamic_positions(b.context, ranges);
  MlirValue value = ir_value_with(&body, "vector.extract", s.element, ranges + 1, operands, 1, &positions);
  operands[0] = value;
  operands[1] = mlirBlockGetArgument(block, ranges + m->result_count);
  arguments_of(block, ranges, m->result_count, operands + 2);
  yield_one(&body, ir_value(&body, "tensor.insert", mlirValueGetType(dest), m->result_count + 2, operands));
  ir_replace(op, (MlirValue[]){ir_result(loop, 0)});
  return status_ok();
}

// A vector's makers and users change together: the type between them disappears.
static heddle_status lower_spread_vectors(lower_context *c, MlirOperation module) {
  ir_operations made = ir_collect(c->scratch, module, "xla_gpu.materialize");
  for (int i = 0; i < made.size; i++) {
    MlirValue vector, old = ir_result(made.data[i], 0);
    TRY(lower_materialize(c, made.data[i], &vector));
    for (MlirOpOperand use = mlirValueGetFirstUse(old); !mlirOpOperandIsNull(use); use = mlirValueGetFirstUse(old)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      if (!ir_is(user, "xla_gpu.insert"))
        return status_error(HEDDLE_UNIMPLEMENTED, "use of a materialized vector: %s",
                            ir_operation_text(c->scratch, user));
      TRY(lower_spread_insert(c, user, vector));
    }
    ir_erase(made.data[i]);
  }
  return status_ok();
}

static const struct {
  const char *name;
  heddle_status (*lower)(lower_context *c, MlirOperation op);
} lowerings[] = {
    {"xla_gpu.predicated_insert", lower_insert},
    {"xla_gpu.predicated_extract", lower_extract},
    {"xla_gpu.shuffle_reduce", lower_shuffle_reduce},
};

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  for (size_t k = 0; k < sizeof lowerings / sizeof *lowerings; k++) {
    ir_operations ops = ir_collect(c->scratch, module, lowerings[k].name);
    for (int i = 0; i < ops.size; i++) TRY(lowerings[k].lower(c, ops.data[i]));
  }
  return lower_spread_vectors(c, module);
}

const pass lower_xla_gpu_to_scf = {
    .name = "xla-gpu-lower-xla-gpu-to-scf",
    .summary = "predicated accesses, warp reductions, spread-out vectors -> scf, gpu.shuffle, loop",
    .order_reason =
        "before the inliner: what it makes of shuffles and spread-out vectors are calls and loops, whose functions are "
        "inlined too",
    .use = PASS_NEEDED,
    .run = run,
};
