// Thread and block numbers, barriers and shuffles for NVIDIA.
#include "lower/lower_gpu_ids.h"

#include <mlir-c/Dialect/LLVM.h>

#include "emit/ir_builder.h"

static const struct {
  const char *op;
  const char *dimension;  // as the attribute prints; null if it has none
  const char *nvvm;
} special_registers[] = {
    {"gpu.thread_id", "x", "nvvm.read.ptx.sreg.tid.x"},   {"gpu.thread_id", "y", "nvvm.read.ptx.sreg.tid.y"},
    {"gpu.thread_id", "z", "nvvm.read.ptx.sreg.tid.z"},   {"gpu.block_id", "x", "nvvm.read.ptx.sreg.ctaid.x"},
    {"gpu.block_id", "y", "nvvm.read.ptx.sreg.ctaid.y"},  {"gpu.block_id", "z", "nvvm.read.ptx.sreg.ctaid.z"},
    {"gpu.block_dim", "x", "nvvm.read.ptx.sreg.ntid.x"},  {"gpu.block_dim", "y", "nvvm.read.ptx.sreg.ntid.y"},
    {"gpu.block_dim", "z", "nvvm.read.ptx.sreg.ntid.z"},  {"gpu.grid_dim", "x", "nvvm.read.ptx.sreg.nctaid.x"},
    {"gpu.grid_dim", "y", "nvvm.read.ptx.sreg.nctaid.y"}, {"gpu.grid_dim", "z", "nvvm.read.ptx.sreg.nctaid.z"},
    {"gpu.lane_id", NULL, "nvvm.read.ptx.sreg.laneid"},
};

// Numbers are never negative, and below 2^31 by the limits of the hardware.
static void lower_register(lower_context *c, MlirOperation op, const char *nvvm) {
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue number = ir_value(&b, nvvm, mlirIntegerTypeGet(c->context, 32), 0, NULL);
  MlirValue index = ir_cast(&b, "arith.index_cast", mlirIndexTypeGet(c->context), number);
  ir_replace(op, &index);
}

// Subgroups are warps; threads are in x alone.
static void lower_subgroup_id(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch);
  const MlirType i32 = mlirIntegerTypeGet(c->context, 32);
  const MlirValue thread = ir_value(&b, "nvvm.read.ptx.sreg.tid.x", i32, 0, NULL);
  const MlirValue warp = ir_binary(&b, "arith.divui", thread, ir_int(&b, i32, c->options->target.subgroup_size));
  const MlirValue index = ir_cast(&b, "arith.index_cast", mlirIndexTypeGet(c->context), warp);
  ir_replace(op, &index);
}

static bool has_dimension(lower_context *c, MlirOperation op, const char *dimension) {
  if (!dimension) return true;
  MlirAttribute wanted = ir_attribute(c->context, arena_printf(c->scratch, "#gpu<dim %s>", dimension));
  return mlirAttributeEqual(ir_get(op, "dimension"), wanted);
}

static void lower_barrier(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch);
  ir_build(&b, (ir_op_state){.name = "nvvm.barrier0"});
  ir_erase(op);
}

// gpu.shuffle mode %value, %offset, %width -> (value, valid), of 32-bit values. The clamp is what PTX calls c: the last
// lane of the segment, and the segment mask in bits 8 to 12; "up" clamps at the first lane instead.
static heddle_status lower_shuffle(lower_context *c, MlirOperation op) {
  static const char *const modes[] = {"xor", "down", "up", "idx"};
  static const char *const kinds[] = {"bfly", "down", "up", "idx"};
  int mode = 0;
  MlirAttribute attribute = ir_get(op, "mode");
  while (mode < 3 &&
         !mlirAttributeEqual(attribute,
                             ir_attribute(c->context, arena_printf(c->scratch, "#gpu<shuffle_mode %s>", modes[mode]))))
    mode++;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue value = ir_operand(op, 0), width = ir_operand(op, 2);
  MlirType type = mlirValueGetType(value), i32 = mlirIntegerTypeGet(c->context, 32);
  if (ir_bit_width(type) != 32)
    return status_error(HEDDLE_INTERNAL, "shuffle of %s, wanted 32 bits", ir_type_text(c->scratch, type));
  const int warp = c->options->target.subgroup_size;
  int64_t lanes;
  bool whole_warp = ir_constant_value(width, &lanes) && lanes == warp;
  if (!whole_warp) return status_error(HEDDLE_UNIMPLEMENTED, "shuffle within less than a warp");
  MlirValue clamp = ir_int(&b, i32, mode == 2 ? 0 : warp - 1);
  MlirNamedAttribute attributes[] = {
      ir_named_text(c->context, "kind", arena_printf(c->scratch, "#nvvm<shfl_kind %s>", kinds[mode])),
      ir_named(c->context, "return_value_and_is_valid", mlirUnitAttrGet(c->context)),
  };
  MlirType i1 = mlirIntegerTypeGet(c->context, 1);
  MlirType pair = mlirLLVMStructTypeLiteralGet(c->context, 2, (MlirType[]){type, i1}, false);
  MlirValue operands[] = {ir_int(&b, i32, -1), value, ir_operand(op, 1), clamp};
  MlirValue both = ir_value_with(&b, "nvvm.shfl.sync", pair, 4, operands, 2, attributes);
  MlirValue results[2];
  for (int64_t i = 0; i < 2; i++) {
    MlirNamedAttribute position = ir_named(c->context, "position", mlirDenseI64ArrayGet(c->context, 1, &i));
    results[i] = ir_value_with(&b, "llvm.extractvalue", i ? i1 : type, 1, &both, 1, &position);
  }
  ir_replace(op, results);
  return status_ok();
}

heddle_status lower_gpu_ids(lower_context *c, MlirOperation module) {
  for (size_t k = 0; k < sizeof special_registers / sizeof *special_registers; k++) {
    ir_operations ops = ir_collect(c->scratch, module, special_registers[k].op);
    for (int i = 0; i < ops.size; i++)
      if (has_dimension(c, ops.data[i], special_registers[k].dimension))
        lower_register(c, ops.data[i], special_registers[k].nvvm);
  }
  ir_operations subgroups = ir_collect(c->scratch, module, "gpu.subgroup_id");
  for (int i = 0; i < subgroups.size; i++) lower_subgroup_id(c, subgroups.data[i]);
  ir_operations barriers = ir_collect(c->scratch, module, "gpu.barrier");
  for (int i = 0; i < barriers.size; i++) lower_barrier(c, barriers.data[i]);
  ir_operations shuffles = ir_collect(c->scratch, module, "gpu.shuffle");
  for (int i = 0; i < shuffles.size; i++) TRY(lower_shuffle(c, shuffles.data[i]));
  return status_ok();
}
