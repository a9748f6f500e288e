// Ops that pick an element of one operand or another: concatenate, pad, dynamic slices, gather.
//
// What is picked depends on the index (scf.if on the maps' constraints) or on run-time offsets (runtime variables of
// the maps). The operand picked is emitted in the branch that picks it, so only its own cost is paid.
#include "emit/elemental.h"
#include "hlo/open_size.h"

static MlirType value_type(function_emitter *e, const instruction *i) {
  return emit_element_type(e->kernel->context, i->shape->dtype);
}

// --- offsets known at run time

MlirValue emit_clamped_index(ir_builder *b, MlirValue v, dtype t, interval bounds) {
  if (interval_is_point(bounds)) return ir_index(b, bounds.lower);
  bool is_signed = dtypes[t].class == CLASS_SIGNED;
  MlirValue index = ir_cast(b, is_signed ? "arith.index_cast" : "arith.index_castui", mlirIndexTypeGet(b->context), v);
  if (bounds.upper < INT64_MAX)
    index = ir_binary(b, is_signed ? "arith.minsi" : "arith.minui", index, ir_index(b, bounds.upper));
  return is_signed ? ir_binary(b, "arith.maxsi", index, ir_index(b, bounds.lower)) : index;
}

bool emit_is_limited(const instruction *i, int operand) {
  const int first = i->opcode == HLO_DYNAMIC_SLICE ? 1 : 2;
  const bool picks = i->opcode == HLO_DYNAMIC_SLICE || i->opcode == HLO_DYNAMIC_UPDATE_SLICE;
  return picks && operand >= first && open_size_limits_index(i, operand - first);
}

// The values of an access's symbols: no ranges, the runtime variables read from their operands and clamped to their
// bounds.
static heddle_status runtime_symbols(function_emitter *e, const instruction *i, int k, const MlirValue **out) {
  const partition_operand *access = emit_operand_access(e, i, k);
  int count = access->map ? access->map->rt_count : 0;
  MlirValue *symbols = arena_array(e->kernel->arena, MlirValue, count);
  for (int r = 0; r < count; r++) {
    const runtime_value *rt = &access->rts[r];
    const instruction *offsets = i->operands[rt->operand];
    MlirValue *values = 0;
    TRY(emit_value(e, offsets, emit_apply(e, rt->map, emit_indices(e, i), 0), &values));
    interval bounds = access->map->rts[r].bounds;
    if (emit_is_limited(i, rt->operand)) bounds.upper = INT64_MAX;
    symbols[r] = emit_clamped_index(&e->b, values[0], offsets->shape->dtype, bounds);
  }
  *out = symbols;
  return status_ok();
}

// Operand k, alone in its branch, at its map's indices.
static heddle_status emit_picked(function_emitter *e, const instruction *i, int k, const MlirValue *symbols,
                                 MlirValue *out) {
  const index_vector *at = emit_apply(e, emit_operand_access(e, i, k)->map, emit_indices(e, i), symbols);
  emit_provide(e, i, k, at);
  TRY(emit_branch(e, i, partition_operand_branch(i, k)));
  MlirValue *values = 0;
  TRY(emit_value(e, i->operands[k], at, &values));
  *out = values[0];
  return status_ok();
}

heddle_status emit_dynamic_slice(function_emitter *e, const instruction *i, MlirValue *out) {
  const MlirValue *symbols = 0;
  TRY(runtime_symbols(e, i, 0, &symbols));
  return emit_picked(e, i, 0, symbols, out);
}

static bool is_empty_array(const instruction *i) { return shape_element_count(i->shape) == 0; }

heddle_status emit_gather(function_emitter *e, const instruction *i, MlirValue *out) {
  if (is_empty_array(i->operands[0])) {
    *out = emit_zero(&e->b, i->shape->dtype);
    return status_ok();
  }
  return emit_dynamic_slice(e, i, out);
}

// --- branches

typedef heddle_status (*branch_emitter)(function_emitter *e, const instruction *i, const void *argument,
                                        MlirValue *out);

static heddle_status emit_side(function_emitter *e, const instruction *i, MlirOperation op, int region,
                               branch_emitter side, const void *argument) {
  region_mark mark = emit_enter(e, ir_body(op, region));
  MlirValue value;
  TRY(side(e, i, argument, &value));
  ir_yield(&e->b, 1, &value);
  emit_leave(e, mark);
  return status_ok();
}

typedef struct picked_operand {
  int k;
  const MlirValue *symbols;
} picked_operand;

static heddle_status pick_side(function_emitter *e, const instruction *i, const void *argument, MlirValue *out) {
  const picked_operand *p = argument;
  return emit_picked(e, i, p->k, p->symbols, out);
}

static heddle_status value_side(function_emitter *e, const instruction *i, const void *argument, MlirValue *out) {
  (void)e, (void)i;
  *out = *(const MlirValue *)argument;
  return status_ok();
}

heddle_status emit_pad(function_emitter *e, const instruction *i, MlirValue *out) {
  MlirValue padding;
  TRY(emit_operand(e, i, 1, &padding));
  const partition_operand *access = emit_operand_access(e, i, 0);
  if (!access->is_needed) {
    *out = padding;
    return status_ok();
  }
  MlirValue inside = emit_is_inside(e, i, 0, 0);
  if (mlirValueIsNull(inside)) return emit_picked(e, i, 0, 0, out);
  MlirType type = value_type(e, i);
  MlirOperation op = ir_if(&e->b, inside, 1, &type);
  TRY(emit_side(e, i, op, 0, pick_side, &(picked_operand){.k = 0}));
  TRY(emit_side(e, i, op, 1, value_side, &padding));
  *out = ir_result(op, 0);
  return status_ok();
}

heddle_status emit_dynamic_update_slice(function_emitter *e, const instruction *i, MlirValue *out) {
  const partition_operand *update = emit_operand_access(e, i, 1);
  if (!update->is_needed) return emit_picked(e, i, 0, 0, out);
  const MlirValue *symbols = 0;
  TRY(runtime_symbols(e, i, 1, &symbols));
  MlirValue inside = emit_is_inside(e, i, 1, symbols);
  if (mlirValueIsNull(inside)) return emit_picked(e, i, 1, symbols, out);
  MlirType type = value_type(e, i);
  MlirOperation op = ir_if(&e->b, inside, 1, &type);
  TRY(emit_side(e, i, op, 0, pick_side, &(picked_operand){.k = 1, .symbols = symbols}));
  TRY(emit_side(e, i, op, 1, pick_side, &(picked_operand){.k = 0}));
  *out = ir_result(op, 0);
  return status_ok();
}

// --- concatenate: a binary decision tree over the operands that hold elements

typedef struct concatenation {
  int count;
  const int *operands;    // operand numbers, empty ones left out
  const int64_t *starts;  // of each along the concatenated dim
} concatenation;

static heddle_status decide(function_emitter *e, const instruction *i, const void *argument, MlirValue *out) {
  const concatenation *c = argument;
  if (c->count == 1) return emit_picked(e, i, c->operands[0], 0, out);
  int half = c->count / 2;
  concatenation low = {half, c->operands, c->starts};
  concatenation high = {c->count - half, c->operands + half, c->starts + half};
  MlirValue index = emit_indices(e, i)->values[i->attributes->dimensions.data[0]];
  MlirValue is_low = ir_cmpi(&e->b, "slt", index, ir_index(&e->b, c->starts[half]));
  MlirType type = value_type(e, i);
  MlirOperation op = ir_if(&e->b, is_low, 1, &type);
  TRY(emit_side(e, i, op, 0, decide, &low));
  TRY(emit_side(e, i, op, 1, decide, &high));
  *out = ir_result(op, 0);
  return status_ok();
}

heddle_status emit_concatenate(function_emitter *e, const instruction *i, MlirValue *out) {
  int *operands = arena_array(e->kernel->arena, int, i->operand_count), count = 0;
  int64_t *starts = arena_array(e->kernel->arena, int64_t, i->operand_count), start = 0;
  for (int k = 0; k < i->operand_count; k++) {
    int64_t size = i->operands[k]->shape->dims[i->attributes->dimensions.data[0]];
    if (size == 0) continue;
    operands[count] = k;
    starts[count++] = start;
    start += size;
  }
  return decide(e, i, &(concatenation){count, operands, starts}, out);
}
