// Starts of windows, the check that a window lies within the operand, and the combining of one element.
#include "emit/scatter_window.h"

#include "base/int64.h"
#include "index/hlo_indexing.h"
#include "kernel/scatter_form.h"

static const shape *operand_shape(const instruction *scatter) { return scatter->operands[0]->shape; }

static interval room_of(const instruction *scatter, int d) {
  return (interval){0, operand_shape(scatter)->dims[d] - scatter_form_updates(scatter)->dims[1 + d]};
}

MlirValue scatter_window_both(ir_builder *b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) ? y : ir_binary(b, "arith.andi", x, y);
}

// Compared in its own type, which may be wider than an index; taken for unsigned, a negative start is beyond any room.
static MlirValue is_within(ir_builder *b, MlirValue start, dtype t, int64_t room) {
  const int bits = dtypes[t].bits - (dtypes[t].class == CLASS_SIGNED);
  const int64_t largest = bits > 62 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  MlirType type = mlirValueGetType(start), i64 = mlirIntegerTypeGet(b->context, 64);
  // Of an open size the type may hold less than what stands in for it, and more than there is in a run.
  if (room > largest) start = ir_cast(b, dtypes[t].class == CLASS_SIGNED ? "arith.extsi" : "arith.extui", i64, start);
  return ir_cmpi(b, "ule", start, ir_int(b, room > largest ? i64 : type, room));
}

scatter_window scatter_window_find(const kernel_entry *e, ir_builder *b, const instruction *scatter, MlirValue update) {
  const int_list *moved = &scatter->attributes->scatter_dims_to_operand_dims;
  const int rank = operand_shape(scatter)->rank;
  scatter_window w = {.scatter = scatter, .update = update, .starts = arena_array(b->arena, MlirValue, rank)};
  for (int d = 0; d < rank; d++) w.starts[d] = ir_index(b, 0);
  if (moved->size == 0) return w;
  const MlirValue *entries = emit_part(e->kernel, b, 1, e->inputs, &(index_vector){1, &update}, NULL);
  const dtype t = scatter->operands[scatter->operand_count / 2]->shape->dtype;
  const char *cast = dtypes[t].class == CLASS_SIGNED ? "arith.index_cast" : "arith.index_castui";
  for (int j = 0; j < moved->size; j++) {
    const int d = (int)moved->data[j];
    w.is_inside = scatter_window_both(b, w.is_inside, is_within(b, entries[j], t, room_of(scatter, d).upper));
    w.starts[d] = ir_cast(b, cast, mlirIndexTypeGet(b->context), entries[j]);
  }
  return w;
}

// (window's index, starts) -> the operand's index, as one map, so that neighbours stay neighbours to later passes.
static const indexing_map *element_map(arena *a, const instruction *scatter) {
  const int rank = operand_shape(scatter)->rank;
  indexing_map *m = indexing_map_create(a, 2 * rank, 0, 0, rank, 0);
  for (int d = 0; d < rank; d++) {
    m->dims[d].bounds = (interval){0, scatter_form_updates(scatter)->dims[1 + d] - 1};
    m->dims[rank + d].bounds = room_of(scatter, d);
    m->results[d] = affine_add(a, affine_dim(a, d), affine_dim(a, rank + d));
  }
  return indexing_map_simplify(a, m);
}

ir_values scatter_window_target(const kernel_entry *e, ir_builder *b, const scatter_window *w, const MlirValue *at,
                                int n) {
  const shape *operand = operand_shape(w->scatter), *output = e->kernel->plan->outputs[n].shape;
  MlirValue *dims = arena_array(b->arena, MlirValue, 2 * operand->rank);
  for (int d = 0; d < operand->rank; d++) {
    dims[d] = at[d];
    dims[operand->rank + d] = w->starts[d];
  }
  const ir_values inside = ir_apply_indexing(b, element_map(b->arena, w->scatter), dims, NULL);
  if (shape_same_dims(output, operand)) return inside;
  return ir_apply_indexing(b, hlo_indexing_reshape(b->arena, operand, output), inside.data, NULL);
}

const MlirValue *scatter_window_updates(const kernel_entry *e, ir_builder *b, const scatter_window *w,
                                        const MlirValue *at) {
  const int rank = operand_shape(w->scatter)->rank;
  MlirValue *indices = arena_array(b->arena, MlirValue, 1 + rank);
  indices[0] = w->update;
  for (int d = 0; d < rank; d++) indices[1 + d] = at[d];
  return emit_part(e->kernel, b, 0, e->inputs, &(index_vector){1 + rank, indices}, NULL);
}

const MlirValue *scatter_window_combine(const kernel_entry *e, ir_builder *b, const instruction *scatter,
                                        const MlirValue *elements, const MlirValue *updates) {
  const int count = scatter->operand_count / 2;
  MlirValue *operands = arena_array(b->arena, MlirValue, 2 * count);
  for (int n = 0; n < count; n++) {
    operands[n] = elements[n];
    operands[count + n] = updates[n];
  }
  // Calls of one function in several places would stay calls, and atomic operations would not be seen in them.
  return emit_call(e->kernel, b, partition_entry(e->kernel->partition, scatter->called[0]), operands, NULL, "inline");
}

void scatter_window_update(const kernel_entry *e, ir_builder *b, const scatter_window *w, const MlirValue *at,
                           const MlirValue *before, MlirValue *outputs) {
  const int count = w->scatter->operand_count / 2;
  const MlirValue *updates = scatter_window_updates(e, b, w, at);
  MlirValue *elements = arena_array(b->arena, MlirValue, count);
  ir_values *to = arena_array(b->arena, ir_values, count);
  for (int n = 0; n < count; n++) {
    to[n] = scatter_window_target(e, b, w, at, n);
    elements[n] = emit_extract(b, before[n], to[n].size, to[n].data);
  }
  const MlirValue *values = scatter_window_combine(e, b, w->scatter, elements, updates);
  for (int n = 0; n < count; n++) outputs[n] = emit_insert(b, values[n], outputs[n], to[n].size, to[n].data);
}

heddle_status scatter_window_update_in_place(kernel_entry *e, ir_builder *b, const index_vector *point,
                                             MlirValue *outputs, const void *window) {
  scatter_window_update(e, b, window, point->values, outputs, outputs);
  return status_ok();
}
