// Instructions as operations on slots, but for memory and calls (decode_memory.c, decode_calls.c).
#include <string.h>

#include "simulate/compute.h"
#include "simulate/decoder.h"

heddle_status decoder_refuse(LLVMValueRef instruction, const char *why) {
  char *printed = LLVMPrintValueToString(instruction);
  heddle_status s = status_error(HEDDLE_UNIMPLEMENTED, "the simulator does not execute %s: %s", why, printed);
  LLVMDisposeMessage(printed);
  return s;
}

const char *decoder_text(decoder *d, LLVMValueRef instruction) {
  char *printed = LLVMPrintValueToString(instruction);
  const char *begin = printed + strspn(printed, " ");
  const char *copy = arena_strdup(d->arena, begin, strlen(begin));
  LLVMDisposeMessage(printed);
  return copy;
}

heddle_status decoder_operation(decoder *d, LLVMValueRef instruction, int operand_count, sim_op *out) {
  *out = (sim_op){.result = -1, .operand_count = operand_count};
  sim_operand *operands = arena_array(d->arena, sim_operand, operand_count);
  for (int k = 0; k < operand_count; k++) TRY(decoder_value(d, LLVMGetOperand(instruction, (unsigned)k), &operands[k]));
  out->operands = operands;
  if (LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMVoidTypeKind) return status_ok();
  sim_operand result;
  TRY(decoder_give_slots(d, instruction, &result));
  out->result = result.slot;
  out->result_count = result.count;
  return status_ok();
}

heddle_status decoder_compute(decoder *d, LLVMValueRef instruction, int operand_count, sim_compute f, sim_op *out) {
  if (!f) return decoder_refuse(instruction, "this instruction");
  TRY(decoder_operation(d, instruction, operand_count, out));
  LLVMTypeRef type = LLVMTypeOf(instruction), from = LLVMTypeOf(LLVMGetOperand(instruction, 0));
  TRY(decoder_scalar(decoder_element(from), &out->type));
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind) TRY(decoder_scalar(decoder_element(type), &out->to));
  out->opcode = SIM_COMPUTE;
  out->compute = f;
  out->repeats = LLVMGetTypeKind(type) == LLVMStructTypeKind ? 1 : decoder_element_count(type);
  out->result_step = out->result_count / out->repeats;
  int *steps = arena_array(d->arena, int, operand_count);
  for (int k = 0; k < operand_count; k++) {
    LLVMTypeRef t = LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)k));
    const int count = decoder_element_count(t);
    steps[k] = count == out->repeats ? out->operands[k].count / count : 0;
  }
  out->steps = steps;
  return status_ok();
}

// --- what only moves slots

static heddle_status copy_of(decoder *d, LLVMValueRef instruction, int count, const sim_operand *operands,
                             sim_op *out) {
  sim_operand result;
  TRY(decoder_give_slots(d, instruction, &result));
  sim_operand *kept = arena_array(d->arena, sim_operand, count);
  for (int k = 0; k < count; k++) kept[k] = operands[k];
  *out = (sim_op){.opcode = SIM_COPY,
                  .result = result.slot,
                  .result_count = result.count,
                  .operand_count = count,
                  .operands = kept};
  return status_ok();
}

static sim_operand part(sim_operand whole, int first, int count) { return (sim_operand){whole.slot + first, count}; }

// An element of what lies in slots is those slots.
static heddle_status extract(decoder *d, LLVMValueRef instruction, int first) {
  sim_operand whole, result = {0};
  TRY(decoder_value(d, LLVMGetOperand(instruction, 0), &whole));
  TRY(decoder_slots(LLVMTypeOf(instruction), &result.count));
  decoder_place(d, instruction, part(whole, first, result.count));
  return status_ok();
}

// Whether the value is used by this instruction alone and made next to it, so that its slots may become the result's.
static bool is_used_up(LLVMValueRef value, LLVMValueRef by) {
  if (LLVMIsConstant(value) || !LLVMIsAInstruction(value) || LLVMIsAPHINode(value)) return false;
  LLVMUseRef first = LLVMGetFirstUse(value);
  if (!first || LLVMGetNextUse(first)) return false;
  return (LLVMIsAInsertElementInst(value) || LLVMIsAInsertValueInst(value)) &&
         LLVMGetInstructionParent(value) == LLVMGetInstructionParent(by);
}

static heddle_status insert(decoder *d, LLVMValueRef instruction, int first, sim_ops *ops) {
  sim_operand whole, element;
  LLVMValueRef aggregate = LLVMGetOperand(instruction, 0);
  TRY(decoder_value(d, LLVMGetOperand(instruction, 1), &element));
  TRY(decoder_value(d, aggregate, &whole));
  sim_op op;
  if (is_used_up(aggregate, instruction)) {
    decoder_place(d, instruction, whole);
    TRY(copy_of(d, instruction, 1, &element, &op));
    op.result += first;
    op.result_count = element.count;
  } else {
    const int behind = first + element.count;
    TRY(copy_of(d, instruction, 3,
                (sim_operand[]){part(whole, 0, first), element, part(whole, behind, whole.count - behind)}, &op));
  }
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status first_slot(LLVMValueRef instruction, LLVMTypeRef type, int *out) {
  *out = 0;
  const unsigned *indices = LLVMGetIndices(instruction);
  for (unsigned k = 0; k < LLVMGetNumIndices(instruction); k++) {
    int before;
    TRY(decoder_slots_before(type, indices[k], &before));
    *out += before;
    type = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, indices[k])
                                                       : LLVMGetElementType(type);
  }
  return status_ok();
}

static heddle_status decode_aggregate(decoder *d, LLVMValueRef instruction, bool inserts, sim_ops *ops) {
  int first;
  TRY(first_slot(instruction, LLVMTypeOf(LLVMGetOperand(instruction, 0)), &first));
  return inserts ? insert(d, instruction, first, ops) : extract(d, instruction, first);
}

// Elements of a vector; at an index known only at run time it lies in local memory on a GPU.
static heddle_status decode_vector_element(decoder *d, LLVMValueRef instruction, bool inserts, sim_ops *ops) {
  bool is_constant;
  const int64_t index = decoder_constant_int(LLVMGetOperand(instruction, inserts ? 2 : 1), &is_constant);
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
  if (is_constant) {
    if (index < 0 || index >= decoder_element_count(type)) return decoder_refuse(instruction, "an index out of bounds");
    int first;
    TRY(decoder_slots_before(type, (unsigned)index, &first));
    return inserts ? insert(d, instruction, first, ops) : extract(d, instruction, first);
  }
  sim_op op;
  TRY(decoder_operation(d, instruction, inserts ? 3 : 2, &op));
  op.opcode = inserts ? SIM_INSERT_ELEMENT : SIM_SELECT_ELEMENT;
  op.repeats = decoder_element_count(type);
  op.text = decoder_text(d, instruction);
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status decode_shuffle_vector(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  sim_operand both[2];
  for (unsigned k = 0; k < 2; k++) TRY(decoder_value(d, LLVMGetOperand(instruction, k), &both[k]));
  const int from = decoder_element_count(LLVMTypeOf(LLVMGetOperand(instruction, 0))), width = both[0].count / from;
  const int count = (int)LLVMGetNumMaskElements(instruction);
  sim_operand *parts = arena_array(d->arena, sim_operand, count);
  for (int k = 0; k < count; k++) {
    const int n = LLVMGetMaskValue(instruction, (unsigned)k), known = n < 0 ? 0 : n;
    parts[k] = part(both[known / from], known % from * width, width);
  }
  sim_op op;
  TRY(copy_of(d, instruction, count, parts, &op));
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status decode_bitcast(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(instruction, 0)), to = LLVMTypeOf(instruction);
  sim_op op;
  TRY(decoder_operation(d, instruction, 1, &op));
  TRY(decoder_scalar(decoder_element(from), &op.type));
  TRY(decoder_scalar(decoder_element(to), &op.to));
  op.opcode = op.type.bits == op.to.bits ? SIM_COPY : SIM_REPACK;
  vec_push(d->arena, ops, op);
  return status_ok();
}

// --- selections and comparisons

static heddle_status decode_select(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  sim_op op;
  TRY(decoder_operation(d, instruction, 3, &op));
  op.opcode = SIM_COMPUTE;
  op.compute = compute_find("select", SIM_INT);
  op.repeats = op.result_count;
  op.result_step = 1;
  int *steps = arena_array(d->arena, int, 3);
  steps[0] = op.operands[0].count > 1;
  steps[1] = steps[2] = 1;
  if (op.operands[0].count > 1 && op.operands[0].count != op.result_count)
    return decoder_refuse(instruction, "a selection among wide integers");
  op.steps = steps;
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status decode_comparison(decoder *d, LLVMValueRef instruction, bool is_float, sim_ops *ops) {
  sim_scalar type;
  TRY(decoder_scalar(decoder_element(LLVMTypeOf(LLVMGetOperand(instruction, 0))), &type));
  sim_op op;
  TRY(decoder_compute(d, instruction, 2, compute_find(is_float ? "fcmp" : "icmp", type.class), &op));
  op.kind = is_float ? (int)LLVMGetFCmpPredicate(instruction) : (int)LLVMGetICmpPredicate(instruction);
  vec_push(d->arena, ops, op);
  return status_ok();
}

// --- the table

static const char *const computed[] = {[LLVMAdd] = "add",
                                       [LLVMSub] = "sub",
                                       [LLVMMul] = "mul",
                                       [LLVMAnd] = "and",
                                       [LLVMOr] = "or",
                                       [LLVMXor] = "xor",
                                       [LLVMShl] = "shl",
                                       [LLVMLShr] = "lshr",
                                       [LLVMAShr] = "ashr",
                                       [LLVMUDiv] = "udiv",
                                       [LLVMURem] = "urem",
                                       [LLVMSDiv] = "sdiv",
                                       [LLVMSRem] = "srem",
                                       [LLVMFAdd] = "fadd",
                                       [LLVMFSub] = "fsub",
                                       [LLVMFMul] = "fmul",
                                       [LLVMFDiv] = "fdiv",
                                       [LLVMFRem] = "frem",
                                       [LLVMFNeg] = "fneg",
                                       [LLVMTrunc] = "trunc",
                                       [LLVMZExt] = "zext",
                                       [LLVMSExt] = "sext",
                                       [LLVMFPTrunc] = "fptrunc",
                                       [LLVMFPExt] = "fpext",
                                       [LLVMFPToSI] = "fptosi",
                                       [LLVMFPToUI] = "fptoui",
                                       [LLVMSIToFP] = "sitofp",
                                       [LLVMUIToFP] = "uitofp",
                                       [LLVMPtrToInt] = "ptrtoint",
                                       [LLVMIntToPtr] = "inttoptr",
                                       [LLVMAddrSpaceCast] = "addrspacecast"};

heddle_status decoder_instruction(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  switch (opcode) {
    case LLVMPHI: return status_ok();
    case LLVMICmp: return decode_comparison(d, instruction, false, ops);
    case LLVMFCmp: return decode_comparison(d, instruction, true, ops);
    case LLVMSelect: return decode_select(d, instruction, ops);
    case LLVMFreeze: return extract(d, instruction, 0);
    case LLVMBitCast: return decode_bitcast(d, instruction, ops);
    case LLVMExtractElement: return decode_vector_element(d, instruction, false, ops);
    case LLVMInsertElement: return decode_vector_element(d, instruction, true, ops);
    case LLVMShuffleVector: return decode_shuffle_vector(d, instruction, ops);
    case LLVMExtractValue: return decode_aggregate(d, instruction, false, ops);
    case LLVMInsertValue: return decode_aggregate(d, instruction, true, ops);
    case LLVMCall: return decoder_call(d, instruction, ops);
    case LLVMLoad:
    case LLVMStore:
    case LLVMAlloca:
    case LLVMGetElementPtr:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return decoder_memory(d, instruction, ops);
    case LLVMFence: return status_ok();
    default: break;
  }
  const char *name = (size_t)opcode < sizeof computed / sizeof *computed ? computed[opcode] : NULL;
  if (!name) return decoder_refuse(instruction, "this instruction");
  sim_scalar type;
  TRY(decoder_scalar(decoder_element(LLVMTypeOf(LLVMGetOperand(instruction, 0))), &type));
  sim_op op;
  TRY(decoder_compute(d, instruction, LLVMGetNumOperands(instruction), compute_find(name, type.class), &op));
  vec_push(d->arena, ops, op);
  return status_ok();
}
