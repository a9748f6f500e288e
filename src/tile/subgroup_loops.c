// Which subgroup has which turn of a loop over subgroups.
#include "tile/subgroup_loops.h"

#include <mlir-c/BuiltinAttributes.h>

enum { MOST_DIMS = 10 };  // MLIR has names for no more

MlirAttribute subgroup_loops_mapping(MlirContext context, int rank) {
  MlirAttribute dims[MOST_DIMS];
  for (int k = 0; k < rank; k++) {
    char name[] = "#gpu.warp<linear_dim_N>";
    name[sizeof name - sizeof "N>"] = (char)('0' + rank - 1 - k);
    dims[k] = ir_attribute(context, name);
  }
  return mlirArrayAttrGet(context, rank, dims);
}

MlirOperation subgroup_loops_around(MlirOperation op) {
  op = mlirOperationGetParentOperation(op);
  while (!ir_is_null(op) && !workgroups_is_subgroups(op)) op = mlirOperationGetParentOperation(op);
  return op;
}

heddle_status subgroup_loops_grid(MlirOperation loop, workgroups_grid *out) {
  const int rank = (int)mlirBlockGetNumArguments(ir_body(loop, 0));
  if (rank > MOST_DIMS || !mlirAttributeEqual(ir_get(loop, WORKGROUPS_MAPPING),
                                              subgroup_loops_mapping(mlirOperationGetContext(loop), rank)))
    return ir_refuse(loop, HEDDLE_UNIMPLEMENTED,
                     "found subgroups in another order, wanted #gpu.warp<linear_dim_N> from the first dim down to 0");
  if (!workgroups_grid_of(loop, out))
    return ir_refuse(loop, HEDDLE_UNIMPLEMENTED, "found subgroups' tiles of unknown number");
  return status_ok();
}

int64_t subgroup_loops_size(MlirOperation function, int64_t otherwise) {
  const MlirAttribute size = ir_get(function, SUBGROUP_LOOPS_SIZE);
  return !mlirAttributeIsNull(size) && mlirAttributeIsAInteger(size) && mlirIntegerAttrGetValueInt(size) > 0
             ? mlirIntegerAttrGetValueInt(size)
             : otherwise;
}
