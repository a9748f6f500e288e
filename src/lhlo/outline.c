// Fusions with their body in a region, as LHLO had them: tensors are loaded from memory, computed with, and stored.
//
//   "lmhlo.fusion"() ({
//     %0 = bufferization.to_tensor %a : memref<4xf32>
//     %1 = mhlo.negate %0 : tensor<4xf32>
//     memref.tensor_store %1, %b : memref<4xf32>
//     "lmhlo.terminator"() : () -> ()
//   }) : () -> ()
//
// The region becomes a function of the loaded tensors that returns the stored ones. Loads see what was in memory before
// the fusion, so a load of what the region has stored is refused.
#include "lhlo/reader.h"

typedef VEC(ir_value *) value_list;

typedef struct outline {
  lhlo_reader *reader;
  ir_block *block;      // of the function
  value_list from, to;  // memory that is loaded, memory that is stored
  value_list stored;    // tensors
  ptr_map loaded;       // memory: the argument that stands for what is in it
  ptr_map renamed;      // a load's result: that argument
} outline;

static bool is_load(const ir_operation *op) {
  return str_is(op->name, "bufferization.to_tensor") || str_is(op->name, "memref.tensor_load");
}

static bool is_store(const ir_operation *op) {
  return str_is(op->name, "memref.tensor_store") || str_is(op->name, "bufferization.materialize_in_destination");
}

static heddle_status check_memory(const outline *o, const ir_operation *op, int operand) {
  if (operand < op->operand_count && ptr_map_has(&o->reader->slices, op->operands[operand])) return status_ok();
  return status_at(HEDDLE_INVALID, op->where, "operand %d of " STR_FMT " is no memory", operand, STR_ARG(op->name));
}

static bool has_value(const value_list *list, const ir_value *v) {
  for (int k = 0; k < list->size; k++)
    if (list->data[k] == v) return true;
  return false;
}

static heddle_status load(outline *o, const ir_operation *op) {
  arena *a = o->reader->arena;
  TRY(check_memory(o, op, 0));
  if (op->result_count != 1 || op->results[0]->type->kind != IR_TYPE_TENSOR)
    return status_at(HEDDLE_INVALID, op->where, "found " STR_FMT ", wanted one tensor as its result",
                     STR_ARG(op->name));
  if (has_value(&o->to, op->operands[0]))
    return status_at(HEDDLE_UNIMPLEMENTED, op->where, "found a load of what the fusion has stored, wanted the value");
  ir_value *argument = ptr_map_get(&o->loaded, op->operands[0]);
  if (!argument) {
    argument = ir_add_argument(a, o->block, op->results[0]->type);
    ptr_map_put(a, &o->loaded, op->operands[0], argument);
    vec_push(a, &o->from, op->operands[0]);
  }
  if (!ir_type_equal(argument->type, op->results[0]->type))
    return status_at(HEDDLE_INVALID, op->where, "found two types for the same memory");
  ptr_map_put(a, &o->renamed, op->results[0], argument);
  return status_ok();
}

static heddle_status store(outline *o, const ir_operation *op) {
  arena *a = o->reader->arena;
  if (op->operand_count != 2)
    return status_at(HEDDLE_INVALID, op->where, "found " STR_FMT " of %d operands, wanted a tensor and memory",
                     STR_ARG(op->name), op->operand_count);
  TRY(check_memory(o, op, 1));
  if (has_value(&o->to, op->operands[1]))
    return status_at(HEDDLE_INVALID, op->where, "found a second store to the same memory");
  ir_value *renamed = ptr_map_get(&o->renamed, op->operands[0]);
  vec_push(a, &o->stored, renamed ? renamed : op->operands[0]);
  vec_push(a, &o->to, op->operands[1]);
  return status_ok();
}

// Uses of loaded tensors become uses of the arguments. Regions nest at most IR_MAX_DEPTH deep.
static void rename_operands(const outline *o, ir_operation *op) {
  for (int k = 0; k < op->operand_count; k++) {
    ir_value *by = ptr_map_get(&o->renamed, op->operands[k]);
    if (by) op->operands[k] = by;
  }
  for (int r = 0; r < op->region_count; r++)
    for (int b = 0; b < op->regions[r]->blocks.size; b++) {
      const ir_block *block = op->regions[r]->blocks.data[b];
      for (int k = 0; k < block->operations.size; k++) rename_operands(o, block->operations.data[k]);
    }
}

static heddle_status take_operation(outline *o, ir_operation *op) {
  if (is_load(op)) return load(o, op);
  if (is_store(op)) return store(o, op);
  rename_operands(o, op);
  op->parent = o->block;
  vec_push(o->reader->arena, &o->block->operations, op);
  return status_ok();
}

static void finish_function(outline *o, const ir_operation *op, ir_operation *function) {
  arena *a = o->reader->arena;
  const ir_type **inputs = arena_array(a, const ir_type *, o->block->argument_count);
  const ir_type **outputs = arena_array(a, const ir_type *, o->stored.size);
  for (int k = 0; k < o->block->argument_count; k++) inputs[k] = o->block->arguments[k]->type;
  for (int k = 0; k < o->stored.size; k++) outputs[k] = o->stored.data[k]->type;
  ir_type *type = arena_new(a, ir_type);
  *type = (ir_type){.kind = IR_TYPE_FUNCTION,
                    .count = o->block->argument_count,
                    .types = inputs,
                    .result_count = o->stored.size,
                    .results = outputs};
  ir_operation *end = ir_create(a, o->block, IR_OP_FUNC_RETURN, o->stored.size, o->stored.data, 0, NULL, 0);
  function->where = end->where = op->where;
  ir_set_attribute(a, function, "sym_name", ir_string_attribute(a, STR("fusion")));
  ir_set_attribute(a, function, "function_type", ir_type_attribute(a, type));
}

// The operation with its memory as operands.
static ir_operation *call_of(const outline *o, const ir_operation *op) {
  arena *a = o->reader->arena;
  value_list all = {0};
  for (int k = 0; k < o->from.size; k++) vec_push(a, &all, o->from.data[k]);
  for (int k = 0; k < o->to.size; k++) vec_push(a, &all, o->to.data[k]);
  ir_operation *call = ir_create(a, NULL, IR_OP_UNKNOWN, all.size, all.data, 0, NULL, 0);
  call->name = op->name;
  call->where = op->where;
  call->location = op->location;
  ir_set_attributes(a, call, op->attribute_count, op->attributes);
  return call;
}

heddle_status lhlo_outline_fusion(lhlo_reader *r, const ir_operation *op, ir_operation **called, module **out) {
  if (op->region_count != 1 || op->regions[0]->blocks.size != 1 || op->operand_count)
    return status_at(HEDDLE_INVALID, op->where,
                     "found lmhlo.fusion with a body and %d operands, wanted one region of one block and no operands",
                     op->operand_count);
  const ir_block *body = op->regions[0]->blocks.data[0];
  ir_operation *function = ir_create(r->arena, NULL, IR_OP_FUNC, 0, NULL, 0, NULL, 1);
  outline o = {.reader = r, .block = ir_add_block(r->arena, function->regions[0])};
  for (int k = 0; k < body->operations.size; k++) {
    ir_operation *inner = body->operations.data[k];
    const bool is_end = k == body->operations.size - 1 && str_is(inner->name, "lmhlo.terminator");
    if (!is_end) TRY(take_operation(&o, inner));
  }
  if (!o.to.size) return status_at(HEDDLE_INVALID, op->where, "found lmhlo.fusion whose body stores nothing");
  finish_function(&o, op, function);
  *called = call_of(&o, op);
  return lhlo_lower_tensors(r, function, out);
}
