// What functions and modules must hold whatever they were read from: a function's name, its type and a body that agrees
// with the type; a module's only block.
#include "mlir/ir.h"

bool ir_returns(const ir_operation *op) {
  return op->op == IR_OP_RETURN || op->op == IR_OP_FUNC_RETURN || op->op == IR_OP_SDY_RETURN;
}

static bool is_terminator(const ir_operation *o) { return ir_returns(o) || o->op == IR_OP_UNKNOWN; }

static bool returns(const ir_operation *o, const ir_type *type) {
  bool is_ok = o->operand_count == type->result_count;
  for (int i = 0; is_ok && i < o->operand_count; i++) is_ok = ir_type_equal(o->operands[i]->type, type->results[i]);
  return is_ok;
}

static const char *body_problem(const ir_region *body, const ir_type *type, const ir_operation **at) {
  const ir_block *first = body->blocks.data[0];
  bool is_ok = first->argument_count == type->count;
  for (int i = 0; is_ok && i < type->count; i++) is_ok = ir_type_equal(first->arguments[i]->type, type->types[i]);
  if (!is_ok) return "found other arguments of the body than in the function's type";
  for (int i = 0; i < body->blocks.size; i++) {
    const ir_block *b = body->blocks.data[i];
    const ir_operation *last = b->operations.size ? vec_last(&b->operations) : NULL;
    if (!last || !is_terminator(last)) return "found a function's block without a return";
    if (last->op != IR_OP_FUNC_RETURN || returns(last, type)) continue;
    *at = last;
    return "found values of other types than the results of the function";
  }
  return NULL;
}

static const char *module_problem(const ir_operation *o) {
  if (o->region_count != 1) return "found a module with another number of regions, wanted one region";
  const ir_region *body = o->regions[0];
  if (body->blocks.size > 1 || (body->blocks.size == 1 && body->blocks.data[0]->argument_count > 0))
    return "found a module whose body has blocks or arguments, wanted one block without";
  return o->operand_count || o->result_count ? "found a module with operands or results" : NULL;
}

static const char *function_problem(const ir_operation *o, const ir_operation **at) {
  const ir_attribute *name = ir_find(o, "sym_name"), *type = ir_find(o, "function_type");
  if (!name || name->kind != IR_ATTR_STRING) return "found a function without sym_name";
  if (!type || type->kind != IR_ATTR_TYPE || type->type->kind != IR_TYPE_FUNCTION)
    return "found a function without function_type";
  if (o->region_count != 1 || o->operand_count || o->result_count)
    return "found a function with operands, results or another number of regions, wanted one region";
  return o->regions[0]->blocks.size ? body_problem(o->regions[0], type->type, at) : NULL;
}

const char *ir_symbol_problem(const ir_operation *o, const ir_operation **at) {
  *at = o;
  if (o->op == IR_OP_MODULE) return module_problem(o);
  return o->op == IR_OP_FUNC ? function_problem(o, at) : NULL;
}
