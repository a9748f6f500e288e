// Types as scalars, and values as slots: constants are evaluated here, addresses of variables among them.
#include <stdlib.h>
#include <string.h>

#include "simulate/compute.h"
#include "simulate/decoder.h"

// --- types

heddle_status decoder_scalar(LLVMTypeRef type, sim_scalar *out) {
  *out = (sim_scalar){0};
  switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind: *out = (sim_scalar){SIM_F16, 16}; return status_ok();
    case LLVMBFloatTypeKind: *out = (sim_scalar){SIM_BF16, 16}; return status_ok();
    case LLVMFloatTypeKind: *out = (sim_scalar){SIM_F32, 32}; return status_ok();
    case LLVMDoubleTypeKind: *out = (sim_scalar){SIM_F64, 64}; return status_ok();
    case LLVMPointerTypeKind: *out = (sim_scalar){SIM_POINTER, 64}; return status_ok();
    case LLVMIntegerTypeKind: break;
    default: return status_error(HEDDLE_UNIMPLEMENTED, "the simulator has no such type");
  }
  const int bits = (int)LLVMGetIntTypeWidth(type);
  if (bits > 128) return status_error(HEDDLE_UNIMPLEMENTED, "the simulator has no integers of %d bits", bits);
  *out = (sim_scalar){bits > 64 ? SIM_WIDE : SIM_INT, bits};
  return status_ok();
}

static bool is_vector(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind; }

LLVMTypeRef decoder_element(LLVMTypeRef type) { return is_vector(type) ? LLVMGetElementType(type) : type; }

int decoder_element_count(LLVMTypeRef type) { return is_vector(type) ? (int)LLVMGetVectorSize(type) : 1; }

static unsigned aggregate_size(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return LLVMGetVectorSize(type);
    case LLVMStructTypeKind: return LLVMCountStructElementTypes(type);
    case LLVMArrayTypeKind: return (unsigned)LLVMGetArrayLength2(type);
    default: return 0;
  }
}

static bool is_aggregate(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMVectorTypeKind || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind;
}

static LLVMTypeRef aggregate_element(LLVMTypeRef type, unsigned n) {
  return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, n) : LLVMGetElementType(type);
}

heddle_status decoder_slots_before(LLVMTypeRef type, unsigned number, int *out) {
  *out = 0;
  for (unsigned n = 0; n < number; n++) {
    int slots;
    TRY(decoder_slots(aggregate_element(type, n), &slots));
    *out += slots;
  }
  return status_ok();
}

heddle_status decoder_slots(LLVMTypeRef type, int *out) {
  *out = 0;
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind) return status_ok();
  if (is_aggregate(type)) return decoder_slots_before(type, aggregate_size(type), out);
  sim_scalar scalar;
  TRY(decoder_scalar(type, &scalar));
  *out = scalar.class == SIM_WIDE ? 2 : 1;
  return status_ok();
}

// --- constants

// Bits of what has no defined value: so that whoever uses them computes something strange.
#define UNDEFINED_BITS UINT64_C(0xa5a5a5a5a5a5a5a5)

static void push_bits(decoder *d, uint64_t bits) { vec_push(d->arena, &d->constant_bits, bits); }

static void push_wide(decoder *d, LLVMValueRef c) {
  char *printed = LLVMPrintValueToString(c);  // "i128 123": there is no other way to all bits
  const char *digits = strchr(printed, ' ');
  unsigned __int128 v = 0;
  const bool is_negative = digits && digits[1] == '-';
  for (const char *p = digits ? digits + 1 + is_negative : ""; *p >= '0' && *p <= '9'; p++)
    v = v * 10 + (unsigned)(*p - '0');
  if (is_negative) v = -v;
  LLVMDisposeMessage(printed);
  push_bits(d, (uint64_t)v);
  push_bits(d, (uint64_t)(v >> 64) & compute_mask((int)LLVMGetIntTypeWidth(LLVMTypeOf(c)) - 64));
}

static heddle_status address_of(decoder *d, LLVMValueRef c, uint64_t *out);

static heddle_status element_address(decoder *d, LLVMValueRef c, uint64_t *out) {
  TRY(address_of(d, LLVMGetOperand(c, 0), out));
  LLVMTypeRef type = LLVMGetGEPSourceElementType(c);
  for (int k = 1; k < LLVMGetNumOperands(c); k++) {
    LLVMValueRef index = LLVMGetOperand(c, (unsigned)k);
    if (!LLVMIsAConstantInt(index)) return decoder_refuse(c, "an address that is no constant");
    const int64_t n = LLVMConstIntGetSExtValue(index);
    if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      *out += LLVMOffsetOfElement(d->layout, type, (unsigned)n);
      type = LLVMStructGetTypeAtIndex(type, (unsigned)n);
      continue;
    }
    if (k > 1) type = LLVMGetElementType(type);
    *out += (uint64_t)(n * (int64_t)LLVMABISizeOfType(d->layout, type));
  }
  return status_ok();
}

static heddle_status address_of(decoder *d, LLVMValueRef c, uint64_t *out) {
  *out = 0;
  if (LLVMIsNull(c)) return status_ok();
  if (LLVMIsAConstantInt(c)) {
    *out = LLVMConstIntGetZExtValue(c);
    return status_ok();
  }
  const sim_variable *v = LLVMIsAGlobalVariable(c) ? ptr_map_get(&d->variables, c) : NULL;
  if (v) {
    const char *base = v->is_shared ? d->code->shared : d->code->constant_memory;
    *out = (uint64_t)(uintptr_t)(base + v->offset);
    return status_ok();
  }
  if (!LLVMIsAConstantExpr(c)) return decoder_refuse(c, "a constant of this kind");
  switch (LLVMGetConstOpcode(c)) {
    case LLVMGetElementPtr: return element_address(d, c, out);
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr: return address_of(d, LLVMGetOperand(c, 0), out);
    default: return decoder_refuse(c, "a constant expression of this kind");
  }
}

static heddle_status push_constant(decoder *d, LLVMValueRef c) {
  LLVMTypeRef type = LLVMTypeOf(c);
  if (is_aggregate(type)) {
    for (unsigned n = 0; n < aggregate_size(type); n++) {
      LLVMValueRef element = LLVMGetAggregateElement(c, n);
      if (!element) return decoder_refuse(c, "a constant of this kind");
      TRY(push_constant(d, element));
    }
    return status_ok();
  }
  sim_scalar scalar;
  TRY(decoder_scalar(type, &scalar));
  const bool is_undefined = LLVMIsUndef(c) || LLVMIsPoison(c);
  if (is_undefined) {
    push_bits(d, UNDEFINED_BITS & compute_mask(scalar.bits));
    if (scalar.class == SIM_WIDE) push_bits(d, UNDEFINED_BITS & compute_mask(scalar.bits - 64));
  } else if (scalar.class == SIM_WIDE) {
    push_wide(d, c);
  } else if (LLVMIsAConstantFP(c)) {
    LLVMBool loses;
    push_bits(d, compute_encode(scalar.class, LLVMConstRealGetDouble(c, &loses)));
  } else {
    uint64_t bits;
    TRY(address_of(d, c, &bits));
    push_bits(d, bits & compute_mask(scalar.bits));
  }
  return status_ok();
}

int64_t decoder_constant_int(LLVMValueRef value, bool *is_constant) {
  *is_constant = LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64;
  return *is_constant ? LLVMConstIntGetSExtValue(value) : 0;
}

// --- values

static sim_operand *new_operand(decoder *d, sim_operand at) {
  sim_operand *kept = arena_new(d->arena, sim_operand);
  *kept = at;
  return kept;
}

void decoder_place(decoder *d, LLVMValueRef value, sim_operand at) {
  ptr_map_put(d->arena, &d->values, value, new_operand(d, at));
}

heddle_status decoder_give_slots(decoder *d, LLVMValueRef value, sim_operand *out) {
  const sim_operand *known = ptr_map_get(&d->values, value);
  if (known) {
    *out = *known;
    return status_ok();
  }
  out->slot = d->slot_count;
  TRY(decoder_slots(LLVMTypeOf(value), &out->count));
  d->slot_count += out->count;
  decoder_place(d, value, *out);
  return status_ok();
}

heddle_status decoder_value(decoder *d, LLVMValueRef value, sim_operand *out) {
  if (!LLVMIsConstant(value)) return decoder_give_slots(d, value, out);
  const sim_operand *known = ptr_map_get(&d->constants, value);
  if (!known) {
    const int first = d->constant_bits.size;
    TRY(push_constant(d, value));
    known = new_operand(d, (sim_operand){SIM_CONSTANTS + first, d->constant_bits.size - first});
    ptr_map_put(d->arena, &d->constants, value, (void *)known);
  }
  *out = *known;
  return status_ok();
}
