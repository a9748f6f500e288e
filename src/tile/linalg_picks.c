// Slices and gathers from where indices say: a structured operation over the result's elements, each of which asks for
// its own. Indices that are made of positions (an iota and what is computed of it) are computed there, too, since what
// is asked for is followed to where it comes from (pulled.h): then no array of indices is in memory.
#include "emit/elemental.h"
#include "tile/linalg.h"
#include "tile/structured.h"

typedef struct picks {
  linalg_emitter *e;
  const instruction *i;
  ir_builder body;
  MlirOperation made;
  MlirValue at[SHAPE_MAX_RANK];  // of the result's element
} picks;

static picks begin(linalg_emitter *e, const instruction *i) {
  const shape *s = i->shape;
  picks p = {.e = e, .i = i};
  MlirAffineMap identity = structured_identity(e->b.context, s->rank);
  MlirValue empty = structured_empty(&e->b, s->rank, s->dims, linalg_element_type(e->b.context, s->dtype));
  const structured_op op = {.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = s->rank};
  p.made = structured_begin(&e->b, &op, &p.body);
  for (int d = 0; d < s->rank; d++) p.at[d] = structured_index(&p.body, d);
  return p;
}

static MlirValue read_element(picks *p, MlirValue tensor, const MlirValue *at) {
  MlirValue operands[1 + SHAPE_MAX_RANK] = {tensor};
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(tensor));
  for (int d = 0; d < rank; d++) operands[1 + d] = at[d];
  return ir_value(&p->body, "tensor.extract", ir_element_type(mlirValueGetType(tensor)), 1 + rank, operands);
}

static void finish(picks *p, const MlirValue *in_operand, MlirValue *out) {
  MlirValue element = read_element(p, linalg_operand(p->e, p->i, 0), in_operand);
  structured_yield(&p->body, 1, &element);
  *out = ir_result(p->made, 0);
}

// Where a slice of this size begins along a dim: as the number says, moved so that it lies within.
static MlirValue first_of(picks *p, MlirValue number, dtype t, int d, int64_t size) {
  return emit_clamped_index(&p->body, number, t, (interval){0, p->i->operands[0]->shape->dims[d] - size});
}

heddle_status linalg_dynamic_slice(linalg_emitter *e, const instruction *i, MlirValue *out) {
  picks p = begin(e, i);
  MlirValue in_operand[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) {
    MlirValue number = read_element(&p, linalg_operand(e, i, 1 + d), NULL);
    MlirValue first = first_of(&p, number, i->operands[1 + d]->shape->dtype, d, i->shape->dims[d]);
    in_operand[d] = ir_binary(&p.body, "arith.addi", first, p.at[d]);
  }
  finish(&p, in_operand, out);
  return status_ok();
}

// --- gather

// The element's positions along the dims of the indices but the one of the vectors, in order.
static int batch_of(const picks *p, MlirValue *batch) {
  int count = 0;
  for (int d = 0; d < p->i->shape->rank; d++)
    if (!int_list_has(p->i->attributes->offset_dims, d)) batch[count++] = p->at[d];
  return count;
}

// Number k of the element's index vector.
static MlirValue read_index(picks *p, int count, const MlirValue *batch, int k) {
  const int64_t vector_dim = p->i->attributes->index_vector_dim;
  const int rank = p->i->operands[1]->shape->rank;
  MlirValue at[SHAPE_MAX_RANK];
  for (int d = 0, next = 0; d < rank; d++) {
    if (d == vector_dim) at[d] = ir_index(&p->body, k);
    else if (next < count) at[d] = batch[next++];
  }
  return read_element(p, linalg_operand(p->e, p->i, 1), at);
}

// The batch dim that stands for dim `of_indices` of the indices.
static int64_t batch_dim(const picks *p, int64_t of_indices) {
  return of_indices - (of_indices > p->i->attributes->index_vector_dim);
}

heddle_status linalg_gather(linalg_emitter *e, const instruction *i, MlirValue *out) {
  const hlo_attributes *a = i->attributes;
  picks p = begin(e, i);
  MlirValue in_operand[SHAPE_MAX_RANK], batch[SHAPE_MAX_RANK];
  const int count = batch_of(&p, batch);
  for (int d = 0, offset = 0; d < i->operands[0]->shape->rank; d++) {
    const int k = int_list_find(a->start_index_map, d), j = int_list_find(a->operand_batching_dims, d);
    MlirValue at = {NULL};
    if (k >= 0)
      at = first_of(&p, read_index(&p, count, batch, k), i->operands[1]->shape->dtype, d, a->slice_sizes.data[d]);
    if (j >= 0) at = batch[batch_dim(&p, a->start_indices_batching_dims.data[j])];
    if (!int_list_has(a->collapsed_slice_dims, d) && j < 0) {
      MlirValue within = p.at[a->offset_dims.data[offset++]];
      at = mlirValueIsNull(at) ? within : ir_binary(&p.body, "arith.addi", at, within);
    }
    in_operand[d] = mlirValueIsNull(at) ? ir_index(&p.body, 0) : at;
  }
  finish(&p, in_operand, out);
  return status_ok();
}
