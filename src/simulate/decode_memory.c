// Instructions that touch memory or make addresses.
#include "base/int64.h"
#include "simulate/decoder.h"

static sim_traffic *new_traffic(decoder *d) { return arena_new(d->arena, sim_traffic); }

// Bytes of one lane: elements of a vector lie packed.
static int64_t bytes_of(sim_scalar type, int count) { return int64_ceil_div((int64_t)type.bits * count, 8); }

static void touch(decoder *d, LLVMValueRef instruction, sim_op *op) {
  op->text = decoder_text(d, instruction);
  op->traffic = new_traffic(d);
  op->place = arena_new(d->arena, sim_place);
}

static bool has_metadata(decoder *d, LLVMValueRef instruction, const char *name, unsigned size) {
  const unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(d->module), name, size);
  return LLVMGetMetadata(instruction, kind) != NULL;
}

static heddle_status decode_access(decoder *d, LLVMValueRef instruction, bool stores, sim_ops *ops) {
  sim_op op;
  TRY(decoder_operation(d, instruction, stores ? 2 : 1, &op));
  LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(instruction, 0) : instruction);
  if (LLVMGetTypeKind(type) == LLVMStructTypeKind || LLVMGetTypeKind(type) == LLVMArrayTypeKind)
    return decoder_refuse(instruction, "an access to an aggregate");
  TRY(decoder_scalar(decoder_element(type), &op.type));
  op.opcode = stores ? SIM_STORE : SIM_LOAD;
  op.repeats = decoder_element_count(type);
  op.bytes = bytes_of(op.type, op.repeats);
  op.alignment = (int64_t)LLVMGetAlignment(instruction);
  op.is_atomic = LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
  op.is_invariant = !stores && has_metadata(d, instruction, "invariant.load", 14);
  touch(d, instruction, &op);
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status decode_atomic(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  const bool compares = LLVMGetInstructionOpcode(instruction) == LLVMAtomicCmpXchg;
  sim_op op;
  TRY(decoder_operation(d, instruction, compares ? 3 : 2, &op));
  TRY(decoder_scalar(LLVMTypeOf(LLVMGetOperand(instruction, 1)), &op.type));
  if (op.type.class == SIM_WIDE) return decoder_refuse(instruction, "an atomic operation on more than 64 bits");
  op.opcode = compares ? SIM_COMPARE_EXCHANGE : SIM_ATOMIC;
  op.kind = compares ? 0 : (int)LLVMGetAtomicRMWBinOp(instruction);
  op.repeats = 1;
  op.bytes = op.alignment = bytes_of(op.type, 1);
  op.is_atomic = true;
  touch(d, instruction, &op);
  vec_push(d->arena, ops, op);
  return status_ok();
}

// Every call of a function finds its variables at the same place of a thread's stack: functions do not call themselves.
static heddle_status decode_stack(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  bool is_constant;
  const int64_t count = decoder_constant_int(LLVMGetOperand(instruction, 0), &is_constant);
  if (!is_constant) return decoder_refuse(instruction, "a variable of a size known only at run time");
  sim_op op;
  TRY(decoder_operation(d, instruction, 0, &op));
  op.opcode = SIM_STACK;
  op.alignment = int64_max((int64_t)LLVMGetAlignment(instruction), 16);
  op.constant = int64_round_up(d->stack_bytes, op.alignment);
  op.bytes = count * (int64_t)LLVMABISizeOfType(d->layout, LLVMGetAllocatedType(instruction));
  d->stack_bytes = op.constant + op.bytes;
  vec_push(d->arena, ops, op);
  return status_ok();
}

typedef struct address_parts {
  int64_t constant;
  int count;
  sim_operand *operands;  // the base, then indices
  int64_t *scales;        // by index
  int *bits;              // of the indices
} address_parts;

static heddle_status add_index(decoder *d, LLVMValueRef index, int64_t scale, address_parts *parts) {
  bool is_constant;
  const int64_t n = decoder_constant_int(index, &is_constant);
  if (is_constant) {
    parts->constant += n * scale;
    return status_ok();
  }
  parts->scales[parts->count - 1] = scale;
  parts->bits[parts->count - 1] = (int)LLVMGetIntTypeWidth(LLVMTypeOf(index));
  return decoder_value(d, index, &parts->operands[parts->count++]);
}

static heddle_status decode_address(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  if (LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMVectorTypeKind)
    return decoder_refuse(instruction, "a vector of addresses");
  const int count = LLVMGetNumOperands(instruction);
  address_parts parts = {.count = 1,
                         .operands = arena_array(d->arena, sim_operand, count),
                         .scales = arena_array(d->arena, int64_t, count),
                         .bits = arena_array(d->arena, int, count)};
  TRY(decoder_value(d, LLVMGetOperand(instruction, 0), &parts.operands[0]));
  LLVMTypeRef type = LLVMGetGEPSourceElementType(instruction);
  for (int k = 1; k < count; k++) {
    LLVMValueRef index = LLVMGetOperand(instruction, (unsigned)k);
    if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned n = (unsigned)LLVMConstIntGetZExtValue(index);
      parts.constant += (int64_t)LLVMOffsetOfElement(d->layout, type, n);
      type = LLVMStructGetTypeAtIndex(type, n);
      continue;
    }
    if (k > 1) type = LLVMGetElementType(type);
    TRY(add_index(d, index, (int64_t)LLVMABISizeOfType(d->layout, type), &parts));
  }
  sim_operand result;
  TRY(decoder_give_slots(d, instruction, &result));
  vec_push(d->arena, ops,
           ((sim_op){.opcode = SIM_ADDRESS,
                     .result = result.slot,
                     .result_count = 1,
                     .operand_count = parts.count,
                     .operands = parts.operands,
                     .constant = parts.constant,
                     .scales = parts.scales,
                     .steps = parts.bits}));
  return status_ok();
}

heddle_status decoder_memory(decoder *d, LLVMValueRef instruction, sim_ops *ops) {
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad: return decode_access(d, instruction, false, ops);
    case LLVMStore: return decode_access(d, instruction, true, ops);
    case LLVMAlloca: return decode_stack(d, instruction, ops);
    case LLVMGetElementPtr: return decode_address(d, instruction, ops);
    default: return decode_atomic(d, instruction, ops);
  }
}
