// Verifiers of the xla_gpu operations beyond what their declarations in xla_gpu.td say.
//
// A table from operation name to rule; a rule returns a message on the heap, or null if it is content.
#include <stdlib.h>

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "dialect/hooks.h"
#include "dialect/message.h"
#include "dialect/xla_gpu.h"

static MlirAttribute get(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

static const indexing_map *map_of(MlirOperation op) { return xla_gpu_indexing_map(get(op, "map")); }

static int segment(MlirOperation op, int which) {
  return mlirDenseI32ArrayGetElement(get(op, "operandSegmentSizes"), which);
}

static MlirType operand_type(MlirOperation op, int i) { return mlirValueGetType(mlirOperationGetOperand(op, i)); }

static MlirType result_type(MlirOperation op, int i) { return mlirValueGetType(mlirOperationGetResult(op, i)); }

static char *check_rank(MlirType tensor, int64_t index_count) {
  int64_t rank = mlirShapedTypeGetRank(tensor);
  return rank == index_count ? 0 : message_format("found %d indices, wanted %d", (int)index_count, (int)rank);
}

// --- indexing

static char *verify_apply_indexing(MlirOperation op) {
  const indexing_map *map = map_of(op);
  int wanted = map->dim_count + map->range_count + map->rt_count;
  int found = (int)mlirOperationGetNumOperands(op);
  if (found != wanted)
    return message_format("operand count must match the number of dims and symbols: found %d, wanted %d", found,
                          wanted);
  if (map->constraint_count > 0) return message_format("the map must not have constraints");
  int results = (int)mlirOperationGetNumResults(op);
  if (results == 0) return message_format("must have a result");
  if (results != map->result_count)
    return message_format("found %d results, the map has %d", results, map->result_count);
  return 0;
}

static char *verify_loop_counts(MlirOperation op, const indexing_map *map, MlirBlock body) {
  int dims = segment(op, 0), inits = segment(op, 1), results = (int)mlirOperationGetNumResults(op);
  int arguments = (int)mlirBlockGetNumArguments(body);
  if (map->rt_count > 0) return message_format("the map must not have runtime variables");
  if (dims != map->dim_count) return message_format("found %d dims, the map has %d", dims, map->dim_count);
  if (inits != results) return message_format("found %d inits and %d results", inits, results);
  int wanted = map->range_count + map->result_count + inits;
  if (arguments == wanted) return 0;
  return message_format("found %d body arguments, wanted %d: %d range variables, %d map results and %d iter args",
                        arguments, wanted, map->range_count, map->result_count, inits);
}

static char *verify_loop(MlirOperation op) {
  const indexing_map *map = map_of(op);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body)) return message_format("must have a body");
  char *error = verify_loop_counts(op, map, body);
  if (error) return error;
  int indices = map->range_count + map->result_count;
  for (int i = 0; i < indices; i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, i));
    if (!mlirTypeIsAIndex(type)) return message_format("body argument %d must be an index", i);
  }
  MlirOperation yield = mlirBlockGetTerminator(body);
  int results = (int)mlirOperationGetNumResults(op);
  if (mlirOperationIsNull(yield) || mlirOperationGetNumOperands(yield) != results)
    return message_format("the body must yield %d values", results);
  for (int i = 0; i < results; i++) {
    MlirType type = result_type(op, i);
    if (!mlirTypeEqual(operand_type(op, map->dim_count + i), type))
      return message_format("init %d has not the type of result %d", i, i);
    if (!mlirTypeEqual(mlirValueGetType(mlirBlockGetArgument(body, indices + i)), type))
      return message_format("iter arg %d has not the type of result %d", i, i);
    if (!mlirTypeEqual(operand_type(yield, i), type))
      return message_format("yielded value %d has not the type of result %d", i, i);
  }
  return 0;
}

// --- elements

static char *verify_atomic_rmw(MlirOperation op) {
  MlirType tensor = operand_type(op, 0);
  char *error = check_rank(tensor, mlirOperationGetNumOperands(op) - 1);
  if (error) return error;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != 1)
    return message_format("the body must have one argument");
  MlirType argument = mlirValueGetType(mlirBlockGetArgument(body, 0));
  MlirType element = mlirShapedTypeGetElementType(tensor);
  if (mlirTypeIsAVector(argument)) {
    if (mlirShapedTypeGetRank(argument) != 1) return message_format("a vector argument of the body must have rank 1");
    argument = mlirShapedTypeGetElementType(argument);
  }
  if (!mlirTypeEqual(argument, element))
    return message_format("the body's argument must have the tensor's element type");
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (mlirOperationIsNull(yield) || mlirOperationGetNumOperands(yield) != 1)
    return message_format("the body must yield one value");
  if (!mlirTypeEqual(operand_type(yield, 0), mlirValueGetType(mlirBlockGetArgument(body, 0))))
    return message_format("the yielded value must have the type of the body's argument");
  return 0;
}

static char *verify_predicated_insert(MlirOperation op) {
  return check_rank(operand_type(op, 1), mlirOperationGetNumOperands(op) - 3);
}

static char *verify_predicated_extract(MlirOperation op) {
  return check_rank(operand_type(op, 2), mlirOperationGetNumOperands(op) - 3);
}

// --- values spread over threads

static bool same_variable(const indexing_variable *a, const indexing_variable *b) {
  return interval_equal(a->bounds, b->bounds);
}

// Constraints of `map` that mention the dim, as many and equal in both maps.
static bool same_constraints_of_dim(const indexing_map *a, const indexing_map *b, int dim) {
  int count_a = 0, matched = 0, count_b = 0;
  for (int i = 0; i < a->constraint_count; i++) {
    if (!affine_uses_dim(a->constraints[i].expr, dim)) continue;
    count_a++;
    for (int j = 0; j < b->constraint_count; j++) {
      matched += affine_equal(a->constraints[i].expr, b->constraints[j].expr) &&
                 interval_equal(a->constraints[i].bounds, b->constraints[j].bounds);
    }
  }
  for (int j = 0; j < b->constraint_count; j++) count_b += affine_uses_dim(b->constraints[j].expr, dim);
  return count_a == count_b && matched >= count_a;
}

static bool same_constraints_of_symbols(const indexing_map *a, const indexing_map *b) {
  int count_a = 0, count_b = 0, matched = 0;
  for (int s = 0; s < a->range_count; s++) {
    for (int i = 0; i < a->constraint_count; i++) {
      if (!affine_uses_symbol(a->constraints[i].expr, s)) continue;
      count_a++;
      for (int j = 0; j < b->constraint_count; j++) {
        matched += affine_equal(a->constraints[i].expr, b->constraints[j].expr) &&
                   interval_equal(a->constraints[i].bounds, b->constraints[j].bounds);
      }
    }
    for (int j = 0; j < b->constraint_count; j++) count_b += affine_uses_symbol(b->constraints[j].expr, s);
  }
  return count_a == count_b && matched >= count_a;
}

// Dim 0 is the thread, dim 1 the block: each thread keeps what it made, so both maps must agree on who the threads are
// and how many values each has; where a value lies must not depend on the block.
static char *verify_materialize(MlirOperation op) {
  const indexing_map *in = map_of(op);
  intptr_t rank = 0;
  const int64_t *shape = 0;
  MlirType element;
  MlirAttribute encoding;
  if (!xla_gpu_indexed_vector(result_type(op, 0), &rank, &shape, &element, &encoding))
    return message_format("wanted an indexed_vector");
  const indexing_map *out = xla_gpu_indexing_map(encoding);
  if (segment(op, 1) != in->dim_count)
    return message_format("found %d indices, the map has %d dims", segment(op, 1), in->dim_count);
  if (in->dim_count == 0 || out->dim_count == 0) return message_format("both maps need the thread as dim 0");
  if (!same_variable(&in->dims[0], &out->dims[0]))
    return message_format("the bounds of the thread differ between the maps");
  if (!same_constraints_of_dim(in, out, 0))
    return message_format("the constraints of the thread differ between the maps");
  if (in->range_count != out->range_count)
    return message_format("the number of range variables differs between the maps");
  for (int i = 0; i < in->range_count; i++) {
    if (!same_variable(&in->ranges[i], &out->ranges[i]))
      return message_format("the bounds of range variable %d differ between the maps", i);
  }
  if (!same_constraints_of_symbols(in, out))
    return message_format("the constraints of the range variables differ between the maps");
  for (int i = 0; out->dim_count > 1 && i < out->result_count; i++) {
    if (affine_uses_dim(out->results[i], 1)) return message_format("the vector's layout must not depend on the block");
  }
  if (in->dim_count > 1 && out->dim_count > 1 && !same_constraints_of_dim(in, out, 1))
    return message_format("the constraints of the block differ between the maps");
  return 0;
}

static char *verify_insert(MlirOperation op) {
  const indexing_map *map = map_of(op);
  intptr_t rank = 0;
  const int64_t *shape = 0;
  MlirType element;
  MlirAttribute encoding;
  if (!xla_gpu_indexed_vector(operand_type(op, 0), &rank, &shape, &element, &encoding))
    return message_format("wanted an indexed_vector");
  const indexing_map *source = xla_gpu_indexing_map(encoding);
  if (map->range_count + map->rt_count > 0) return message_format("the map must not have range or runtime variables");
  if (source->result_count != map->dim_count)
    return message_format("the vector's map has %d results, the map %d dims", source->result_count, map->dim_count);
  if (mlirOperationGetNumOperands(op) - 2 != source->dim_count)
    return message_format("found %d indices, the vector's map has %d dims", (int)mlirOperationGetNumOperands(op) - 2,
                          source->dim_count);
  if (map->result_count != mlirShapedTypeGetRank(result_type(op, 0)))
    return message_format("the map must have one result per dimension");
  return 0;
}

static char *verify_shuffle_reduce(MlirOperation op) {
  int64_t distance = mlirIntegerAttrGetValueInt(get(op, "max_distance"));
  bool is_power = distance > 0 && (distance & (distance - 1)) == 0;
  return is_power && distance < 32 ? 0 : message_format("max_distance must be a power of two below the warp size 32");
}

static char *verify_reduced_type(MlirOperation op, int which, int64_t dimension_count) {
  MlirType in = operand_type(op, which), out = result_type(op, which);
  MlirAttribute dimensions = get(op, "dimensions");
  if (mlirShapedTypeGetRank(out) != mlirShapedTypeGetRank(in) - dimension_count)
    return message_format("result %d has the wrong rank", which);
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(in), mlirShapedTypeGetElementType(out)))
    return message_format("result %d has not the element type of input %d", which, which);
  int64_t kept = 0, reduced = 0;
  for (int64_t d = 0; d < mlirShapedTypeGetRank(in); d++) {
    if (reduced < dimension_count && mlirDenseI64ArrayGetElement(dimensions, reduced) == d) {
      reduced++;
    } else if (mlirShapedTypeGetDimSize(out, kept++) != mlirShapedTypeGetDimSize(in, d)) {
      return message_format("result %d has the wrong shape", which);
    }
  }
  return 0;
}

static char *verify_reduce(MlirOperation op) {
  int count = (int)mlirOperationGetNumResults(op);
  if (count == 0 || mlirOperationGetNumOperands(op) != 2 * count) return message_format("wanted one result per input");
  MlirAttribute dimensions = get(op, "dimensions");
  int64_t dimension_count = mlirDenseArrayGetNumElements(dimensions);
  int64_t rank = mlirShapedTypeGetRank(operand_type(op, 0)), last = -1;
  for (int64_t i = 0; i < dimension_count; i++) {
    int64_t d = mlirDenseI64ArrayGetElement(dimensions, i);
    if (d <= last) return message_format("dimensions must be strictly increasing and not negative");
    if (d >= rank) return message_format("dimension %d is out of range for rank %d", (int)d, (int)rank);
    last = d;
  }
  for (int i = 0; i < count; i++) {
    char *error = verify_reduced_type(op, i, dimension_count);
    if (error) return error;
  }
  return 0;
}

static char *verify_reindex(MlirOperation op) {
  const indexing_map *map = map_of(op);
  if (map->range_count + map->rt_count > 0) return message_format("the map must not have range or runtime variables");
  int64_t out = mlirShapedTypeGetRank(result_type(op, 0)), in = mlirShapedTypeGetRank(operand_type(op, 0));
  if (map->dim_count != out) return message_format("the map has %d dims, the result %d", map->dim_count, (int)out);
  if (map->result_count != in)
    return message_format("the map has %d results, the operand %d dimensions", map->result_count, (int)in);
  bool has_default = mlirOperationGetNumOperands(op) == 2;
  if (map->constraint_count > 0 && !has_default) return message_format("a map with constraints needs a default");
  MlirType wanted = mlirShapedTypeGetElementType(operand_type(op, 0));
  return mlirTypeEqual(wanted, mlirShapedTypeGetElementType(result_type(op, 0)))
             ? 0
             : message_format("element types differ");
}

// --- functions named by operations

static char *verify_pure_call(MlirOperation op, MlirType type) {
  int inputs = (int)mlirFunctionTypeGetNumInputs(type), results = (int)mlirFunctionTypeGetNumResults(type);
  if (mlirOperationGetNumOperands(op) != inputs)
    return message_format("found %d operands, the function takes %d", (int)mlirOperationGetNumOperands(op), inputs);
  if (mlirOperationGetNumResults(op) != results)
    return message_format("found %d results, the function returns %d", (int)mlirOperationGetNumResults(op), results);
  for (int i = 0; i < inputs; i++) {
    if (!mlirTypeEqual(operand_type(op, i), mlirFunctionTypeGetInput(type, i)))
      return message_format("operand %d has not the type the function takes", i);
  }
  for (int i = 0; i < results; i++) {
    if (!mlirTypeEqual(result_type(op, i), mlirFunctionTypeGetResult(type, i)))
      return message_format("result %d has not the type the function returns", i);
  }
  return 0;
}

// (own values, other values) -> values; types taken from the elements of the first `count` operands.
static char *verify_combiner(MlirOperation op, MlirType type) {
  int count = (int)mlirOperationGetNumResults(op);
  if (mlirFunctionTypeGetNumInputs(type) != 2 * count || mlirFunctionTypeGetNumResults(type) != count)
    return message_format("the combiner must take %d values and return %d", 2 * count, count);
  for (int i = 0; i < count; i++) {
    MlirType element = operand_type(op, i);
    if (mlirTypeIsATensor(element)) element = mlirShapedTypeGetElementType(element);
    if (!mlirTypeEqual(mlirFunctionTypeGetInput(type, i), element) ||
        !mlirTypeEqual(mlirFunctionTypeGetInput(type, count + i), element) ||
        !mlirTypeEqual(mlirFunctionTypeGetResult(type, i), element))
      return message_format("the combiner has other types than value %d", i);
  }
  return 0;
}

static char *verify_materialized(MlirOperation op, MlirType type) {
  const indexing_map *map = map_of(op);
  int inputs = segment(op, 0);
  if (mlirFunctionTypeGetNumInputs(type) != inputs + map->result_count || mlirFunctionTypeGetNumResults(type) != 1)
    return message_format("the function must take %d inputs and %d indices and return one value", inputs,
                          map->result_count);
  for (int i = 0; i < inputs; i++) {
    if (!mlirTypeEqual(operand_type(op, i), mlirFunctionTypeGetInput(type, i)))
      return message_format("input %d has not the type the function takes", i);
  }
  return 0;
}

typedef struct verifier {
  const char *op;
  char *(*verify)(MlirOperation op);
  char *(*verify_callee)(MlirOperation op, MlirType function);
} verifier;

static const verifier verifiers[] = {
    {"xla_gpu.apply_indexing", verify_apply_indexing},
    {"xla_gpu.loop", verify_loop},
    {"xla_gpu.pure_call", 0, verify_pure_call},
    {"xla_gpu.atomic_rmw", verify_atomic_rmw},
    {"xla_gpu.predicated_insert", verify_predicated_insert},
    {"xla_gpu.predicated_extract", verify_predicated_extract},
    {"xla_gpu.shuffle_reduce", verify_shuffle_reduce, verify_combiner},
    {"xla_gpu.materialize", verify_materialize, verify_materialized},
    {"xla_gpu.insert", verify_insert},
    {"xla_gpu.reduce", verify_reduce, verify_combiner},
    {"xla_gpu.reindex", verify_reindex},
};

static const verifier *find(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < sizeof verifiers / sizeof *verifiers; i++) {
    if (str_is((str){name.data, name.length}, verifiers[i].op)) return &verifiers[i];
  }
  return 0;
}

bool xla_gpu_verify(MlirOperation op, char **error) {
  const verifier *v = find(op);
  *error = v && v->verify ? v->verify(op) : 0;
  return *error == 0;
}

bool xla_gpu_verify_callee(MlirOperation op, MlirOperation callee, char **error) {
  const verifier *v = find(op);
  if (mlirOperationIsNull(callee)) {
    *error = message_format("names a function that does not exist");
  } else {
    *error = v->verify_callee(op, mlirTypeAttrGetValue(get(callee, "function_type")));
  }
  return *error == 0;
}
