// Calls: of intrinsics by their names, and of functions of the module.
#include <string.h>

#include "simulate/compute.h"
#include "simulate/decoder.h"

static bool begins_with(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

// What has no effect that the simulator could see.
static const char *const ignored[] = {
    "llvm.lifetime.",  "llvm.assume",       "llvm.experimental.noalias.scope.decl",
    "llvm.dbg.",       "llvm.donothing",    "llvm.sideeffect",
    "llvm.invariant.", "llvm.nvvm.membar.",
};

static bool is_ignored(const char *name) {
  for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++)
    if (begins_with(name, ignored[k])) return true;
  return false;
}

// --- what only GPUs have

static const struct {
  const char *name;
  sim_special kind;
} specials[] = {{"tid", SIM_TID}, {"ctaid", SIM_CTAID}, {"ntid", SIM_NTID}, {"nctaid", SIM_NCTAID}};

static bool find_special(const char *name, int *kind, int *axis) {
  static const char prefix[] = "llvm.nvvm.read.ptx.sreg.";
  if (!begins_with(name, prefix)) return false;
  const char *rest = name + strlen(prefix);
  *axis = 0;
  *kind = SIM_LANE;
  if (strcmp(rest, "laneid") == 0) return true;
  for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) {
    const size_t size = strlen(specials[k].name);
    if (strncmp(rest, specials[k].name, size) != 0 || rest[size] != '.') continue;
    *kind = (int)specials[k].kind;
    *axis = rest[size + 1] - 'x';
    return *axis >= 0 && *axis < 3;
  }
  return false;
}

static heddle_status decode_special(decoder *d, LLVMValueRef call, int kind, int axis, sim_ops *ops) {
  sim_op op;
  TRY(decoder_operation(d, call, 0, &op));
  op.opcode = SIM_SPECIAL;
  op.kind = kind;
  op.axis = axis;
  vec_push(d->arena, ops, op);
  return status_ok();
}

// "llvm.nvvm.shfl.sync.bfly.i32p": the result of names that end in p says whether the lane was in bounds, too.
static heddle_status decode_shuffle(decoder *d, LLVMValueRef call, const char *kind, sim_ops *ops) {
  static const char *const kinds[] = {[SIM_BFLY] = "bfly", [SIM_DOWN] = "down", [SIM_UP] = "up", [SIM_IDX] = "idx"};
  sim_op op;
  TRY(decoder_operation(d, call, 4, &op));
  op.opcode = SIM_SHUFFLE;
  while (op.kind < 4 && !begins_with(kind, kinds[op.kind])) op.kind++;
  if (op.kind == 4) return decoder_refuse(call, "this shuffle");
  op.text = decoder_text(d, call);
  vec_push(d->arena, ops, op);
  return status_ok();
}

static heddle_status decode_barrier(decoder *d, LLVMValueRef call, sim_ops *ops) {
  vec_push(d->arena, ops, ((sim_op){.opcode = SIM_BARRIER, .result = -1, .text = decoder_text(d, call)}));
  return status_ok();
}

// --- intrinsics of all machines

static heddle_status decode_block_of_bytes(decoder *d, LLVMValueRef call, bool fills, sim_ops *ops) {
  sim_op op;
  TRY(decoder_operation(d, call, 3, &op));
  op.opcode = fills ? SIM_FILL : SIM_MOVE;
  op.alignment = 1;
  op.text = decoder_text(d, call);
  op.place = arena_new(d->arena, sim_place);
  vec_push(d->arena, ops, op);
  return status_ok();
}

// "llvm.fptosi.sat.i32.f32" -> "fptosi.sat": the types behind the name are letters and digits.
static const char *base_name(decoder *d, const char *name) {
  static const char *const types[] = {"i", "f", "v", "bf", "p", "nxv"};
  const char *begin = name + strlen("llvm."), *end = begin + strlen(begin);
  for (;;) {
    const char *dot = end;
    while (dot > begin && dot[-1] != '.') dot--;
    if (dot == begin) break;
    bool is_type = false;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
      const size_t size = strlen(types[k]);
      is_type |= strncmp(dot, types[k], size) == 0 && dot[size] >= '0' && dot[size] <= '9';
    }
    if (!is_type) break;
    end = dot - 1;
  }
  return arena_strdup(d->arena, begin, (size_t)(end - begin));
}

static heddle_status decode_intrinsic(decoder *d, LLVMValueRef call, const char *name, sim_ops *ops) {
  if (is_ignored(name)) return status_ok();
  int kind, axis;
  if (find_special(name, &kind, &axis)) return decode_special(d, call, kind, axis, ops);
  if (begins_with(name, "llvm.nvvm.barrier0") || begins_with(name, "llvm.nvvm.barrier.sync"))
    return decode_barrier(d, call, ops);
  if (begins_with(name, "llvm.nvvm.bar.warp.sync")) return status_ok();  // lanes of a warp run together
  if (begins_with(name, "llvm.nvvm.shfl.sync.")) return decode_shuffle(d, call, name + 20, ops);
  if (begins_with(name, "llvm.memset.")) return decode_block_of_bytes(d, call, true, ops);
  if (begins_with(name, "llvm.memcpy.")) return decode_block_of_bytes(d, call, false, ops);
  const char *base = base_name(d, name);
  sim_scalar type;
  if (LLVMGetNumArgOperands(call) == 0) return decoder_refuse(call, "this intrinsic");
  TRY(decoder_scalar(decoder_element(LLVMTypeOf(LLVMGetOperand(call, 0))), &type));
  sim_op op;
  TRY(decoder_compute(d, call, (int)LLVMGetNumArgOperands(call), compute_find_intrinsic(base, type.class), &op));
  vec_push(d->arena, ops, op);
  return status_ok();
}

// --- functions of the module

heddle_status decoder_call(decoder *d, LLVMValueRef call, sim_ops *ops) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t size;
  const char *name = LLVMGetValueName2(callee, &size);
  if (LLVMIsAFunction(callee) && begins_with(name, "llvm.")) return decode_intrinsic(d, call, name, ops);
  const intptr_t number = LLVMIsAFunction(callee) ? (intptr_t)ptr_map_get(&d->functions, callee) : 0;
  if (number == 0) return decoder_refuse(call, "a call of what is not in the module");
  sim_op op;
  TRY(decoder_operation(d, call, (int)LLVMGetNumArgOperands(call), &op));
  op.opcode = SIM_CALL;
  op.callee = &d->code->functions[number - 1];
  vec_push(d->arena, ops, op);
  return status_ok();
}
