// Decodes a module of LLVM IR: variables, functions, and the ways between blocks.
#include "simulate/decode.h"

#include <llvm-c/IRReader.h>
#include <string.h>

#include "base/int64.h"
#include "simulate/decoder.h"
#include "simulate/flow.h"

// --- variables

enum { SHARED_SPACE = 3, LEAST_ALIGNMENT = 16 };

static heddle_status add_variable(decoder *d, LLVMValueRef g) {
  size_t size;
  if (strncmp(LLVMGetValueName2(g, &size), "llvm.", 5) == 0) return status_ok();  // "llvm.used"
  sim_variable *v = arena_new(d->arena, sim_variable);
  v->is_shared = LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == SHARED_SPACE;
  v->bytes = (int64_t)LLVMABISizeOfType(d->layout, LLVMGlobalGetValueType(g));
  v->alignment = int64_max((int64_t)LLVMGetAlignment(g), LEAST_ALIGNMENT);
  if (!v->is_shared && !LLVMIsGlobalConstant(g))
    return decoder_refuse(g, "a variable that is neither shared nor constant");
  int64_t *end = v->is_shared ? &d->code->shared_bytes : &d->code->constant_bytes;
  v->offset = int64_round_up(*end, v->alignment);
  *end = v->offset + v->bytes;
  ptr_map_put(d->arena, &d->variables, g, v);
  return status_ok();
}

static char *aligned(arena *a, int64_t bytes) {
  enum { ALIGNMENT = 256 };
  char *raw = arena_alloc(a, (size_t)bytes + ALIGNMENT);
  return raw + (-(uintptr_t)raw & (ALIGNMENT - 1));
}

static heddle_status write_constant(decoder *d, LLVMValueRef c, LLVMTypeRef type, char *to);

static heddle_status write_elements(decoder *d, LLVMValueRef c, LLVMTypeRef type, char *to) {
  const bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
  const unsigned count = is_struct                                     ? LLVMCountStructElementTypes(type)
                         : LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type)
                                                                       : (unsigned)LLVMGetArrayLength2(type);
  for (unsigned n = 0; n < count; n++) {
    LLVMTypeRef of = is_struct ? LLVMStructGetTypeAtIndex(type, n) : LLVMGetElementType(type);
    const uint64_t at = is_struct ? LLVMOffsetOfElement(d->layout, type, n) : n * LLVMABISizeOfType(d->layout, of);
    LLVMValueRef element = LLVMGetAggregateElement(c, n);
    if (!element) return decoder_refuse(c, "a constant of this kind");
    TRY(write_constant(d, element, of, to + at));
  }
  return status_ok();
}

static heddle_status write_constant(decoder *d, LLVMValueRef c, LLVMTypeRef type, char *to) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMStructTypeKind || kind == LLVMVectorTypeKind || kind == LLVMArrayTypeKind)
    return LLVMIsNull(c) ? status_ok() : write_elements(d, c, type, to);
  sim_operand at;
  TRY(decoder_value(d, c, &at));
  for (int k = 0; k < at.count; k++) {
    const uint64_t bits = d->constant_bits.data[at.slot + k - SIM_CONSTANTS];
    const int64_t rest = (int64_t)LLVMABISizeOfType(d->layout, type) - 8 * k;
    memcpy(to + 8 * k, &bits, (size_t)int64_min(rest, 8));
  }
  return status_ok();
}

static heddle_status decode_variables(decoder *d) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(d->module); g; g = LLVMGetNextGlobal(g)) TRY(add_variable(d, g));
  d->code->shared = aligned(d->arena, d->code->shared_bytes);
  d->code->constant_memory = aligned(d->arena, d->code->constant_bytes);
  for (LLVMValueRef g = LLVMGetFirstGlobal(d->module); g; g = LLVMGetNextGlobal(g)) {
    const sim_variable *v = ptr_map_get(&d->variables, g);
    if (!v || v->is_shared || !LLVMGetInitializer(g)) continue;
    TRY(write_constant(d, LLVMGetInitializer(g), LLVMGlobalGetValueType(g), d->code->constant_memory + v->offset));
  }
  return status_ok();
}

// --- ways between blocks

static heddle_status decode_edge(decoder *d, LLVMBasicBlockRef from, LLVMBasicBlockRef to, sim_edge *out) {
  VEC(int) sources = {0}, targets = {0};
  out->block = (int)(intptr_t)ptr_map_get(&d->blocks, to) - 1;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    unsigned k = 0;
    while (k < LLVMCountIncoming(phi) && LLVMGetIncomingBlock(phi, k) != from) k++;
    if (k == LLVMCountIncoming(phi)) return decoder_refuse(phi, "a phi without a value for a predecessor");
    sim_operand value, result;
    TRY(decoder_value(d, LLVMGetIncomingValue(phi, k), &value));
    TRY(decoder_give_slots(d, phi, &result));
    for (int c = 0; c < value.count; c++) {
      for (int t = 0; t < targets.size; t++) out->overlaps |= targets.data[t] == value.slot + c;
      vec_push(d->arena, &sources, value.slot + c);
      vec_push(d->arena, &targets, result.slot + c);
    }
  }
  out->from = sources.data;
  out->to = targets.data;
  out->copy_count = sources.size;
  return status_ok();
}

static heddle_status decode_end(decoder *d, LLVMBasicBlockRef block, sim_op *out) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  *out = (sim_op){.result = -1};
  switch (LLVMGetInstructionOpcode(end)) {
    case LLVMRet: out->opcode = SIM_RETURN; break;
    case LLVMBr: out->opcode = LLVMIsConditional(end) ? SIM_BRANCH : SIM_JUMP; break;
    case LLVMSwitch: out->opcode = SIM_SWITCH; break;
    case LLVMUnreachable: out->opcode = SIM_UNREACHABLE; break;
    default: return decoder_refuse(end, "this end of a block");
  }
  out->text = decoder_text(d, end);
  const bool reads = out->opcode == SIM_BRANCH || out->opcode == SIM_SWITCH ||
                     (out->opcode == SIM_RETURN && LLVMGetNumOperands(end) > 0);
  if (reads) {
    sim_operand *operand = arena_new(d->arena, sim_operand);
    TRY(decoder_value(d, LLVMGetOperand(end, 0), operand));
    out->operands = operand;
    out->operand_count = 1;
  }
  out->edge_count = (int)LLVMGetNumSuccessors(end);
  sim_edge *edges = arena_array(d->arena, sim_edge, out->edge_count);
  uint64_t *cases = arena_array(d->arena, uint64_t, out->edge_count);
  for (int k = 0; k < out->edge_count; k++) {
    TRY(decode_edge(d, block, LLVMGetSuccessor(end, (unsigned)k), &edges[k]));
    if (out->opcode == SIM_SWITCH && k > 0) cases[k] = LLVMConstIntGetZExtValue(LLVMGetOperand(end, 2 * (unsigned)k));
  }
  out->edges = edges;
  out->cases = cases;
  return status_ok();
}

// --- functions

typedef VEC(LLVMBasicBlockRef) block_list;

// Blocks after those that lead to them, back edges aside: values are made before they are used.
static void visit(decoder *d, LLVMBasicBlockRef start, block_list *out) {
  typedef struct frame {
    LLVMBasicBlockRef block;
    unsigned next;
  } frame;
  VEC(frame) stack = {0};
  ptr_map seen = {0};
  block_list finished = {0};
  vec_push(d->arena, &stack, (frame){start, 0});
  ptr_map_put(d->arena, &seen, start, start);
  while (stack.size > 0) {
    frame *f = &vec_last(&stack);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block);
    if (f->next == LLVMGetNumSuccessors(end)) {
      vec_push(d->arena, &finished, f->block);
      vec_drop(&stack);
      continue;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, f->next++);
    if (ptr_map_has(&seen, to)) continue;
    ptr_map_put(d->arena, &seen, to, to);
    vec_push(d->arena, &stack, (frame){to, 0});
  }
  for (int k = finished.size - 1; k >= 0; k--) vec_push(d->arena, out, finished.data[k]);
}

static heddle_status decode_blocks(decoder *d, const block_list *blocks, sim_function *f) {
  sim_ops *ops = arena_array(d->arena, sim_ops, blocks->size);
  for (int k = 0; k < blocks->size; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(blocks->data[k]); i; i = LLVMGetNextInstruction(i))
      if (!LLVMIsATerminatorInst(i)) TRY(decoder_instruction(d, i, &ops[k]));
  for (int k = 0; k < blocks->size; k++) {
    sim_op end;
    TRY(decode_end(d, blocks->data[k], &end));
    vec_push(d->arena, &ops[k], end);
    f->blocks[k] = (sim_block){.count = ops[k].size, .ops = ops[k].data};
  }
  return status_ok();
}

static heddle_status decode_function(decoder *d, LLVMValueRef function, sim_function *f) {
  d->values = (ptr_map){0};
  d->blocks = (ptr_map){0};
  d->slot_count = 0;
  f->parameter_count = (int)LLVMCountParams(function);
  sim_operand *parameters = arena_array(d->arena, sim_operand, f->parameter_count);
  for (int k = 0; k < f->parameter_count; k++)
    TRY(decoder_give_slots(d, LLVMGetParam(function, (unsigned)k), &parameters[k]));
  f->parameters = parameters;
  block_list blocks = {0};
  visit(d, LLVMGetEntryBasicBlock(function), &blocks);
  for (int k = 0; k < blocks.size; k++) ptr_map_put(d->arena, &d->blocks, blocks.data[k], (void *)(intptr_t)(k + 1));
  f->block_count = blocks.size;
  f->blocks = arena_array(d->arena, sim_block, blocks.size);
  TRY(decode_blocks(d, &blocks, f));
  f->slot_count = d->slot_count;
  flow_find_meetings(d->arena, f);
  return status_ok();
}

static heddle_status decode_functions(decoder *d, const char *entry) {
  sim_code *code = d->code;
  int count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(d->module); f; f = LLVMGetNextFunction(f)) count++;
  code->functions = arena_array(d->arena, sim_function, count);
  for (LLVMValueRef f = LLVMGetFirstFunction(d->module); f; f = LLVMGetNextFunction(f)) {
    size_t size;
    if (LLVMIsDeclaration(f)) continue;
    sim_function *made = &code->functions[code->function_count++];
    const char *name = LLVMGetValueName2(f, &size);
    made->name = arena_strdup(d->arena, name, size);
    ptr_map_put(d->arena, &d->functions, f, (void *)(intptr_t)code->function_count);
    if (strcmp(made->name, entry) == 0) code->kernel = made;
  }
  if (!code->kernel) return status_error(HEDDLE_INVALID, "the module has no kernel %s", entry);
  for (LLVMValueRef f = LLVMGetFirstFunction(d->module); f; f = LLVMGetNextFunction(f)) {
    const intptr_t number = (intptr_t)ptr_map_get(&d->functions, f);
    if (number == 0) continue;
    TRY(status_context(decode_function(d, f, &code->functions[number - 1]), "in function %s",
                       code->functions[number - 1].name));
  }
  return flow_check_calls(d->arena, code);
}

static void spread_constants(decoder *d) {
  sim_code *code = d->code;
  code->constant_count = d->constant_bits.size;
  sim_slot *slots = arena_array(d->arena, sim_slot, code->constant_count);
  for (int k = 0; k < code->constant_count; k++)
    for (int l = 0; l < SIM_LANES; l++) slots[k][l] = d->constant_bits.data[k];
  code->constants = slots;
}

static heddle_status decode_module(arena *a, LLVMModuleRef module, const char *entry, sim_code **out) {
  decoder d = {.arena = a, .module = module, .layout = LLVMGetModuleDataLayout(module), .code = arena_new(a, sim_code)};
  TRY(decode_variables(&d));
  TRY(decode_functions(&d, entry));
  d.code->stack_bytes = d.stack_bytes;
  spread_constants(&d);
  d.code->arguments = flow_find_arguments(a, d.code);
  *out = d.code;
  return status_ok();
}

heddle_status decode_kernel(arena *a, const void *ir, size_t size, const char *entry, sim_code **out) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, size, "kernel");
  LLVMModuleRef module = NULL;
  char *message = NULL;
  heddle_status s;
  if (LLVMParseIRInContext(context, buffer, &module, &message)) {
    s = status_error(HEDDLE_INVALID, "no LLVM IR: %s", message);
    LLVMDisposeMessage(message);
  } else {
    s = decode_module(a, module, entry, out);
    LLVMDisposeModule(module);
  }
  LLVMContextDispose(context);
  return s;
}
