// Walks from a value up through slices and reshapes to the array they read, and then down again, since each step
// changes the strides that the step above it left.
#include "hlo/array_view.h"

#include "base/int64.h"

enum { MAX_STEPS = 16 };  // so that many views of one long chain take no longer than the chain

static bool has_default_layout(const instruction *i) {
  return shape_is_array(i->shape) && shape_layout_is_default(i->shape);
}

// Whether the instruction shows elements of its operand, which it leaves where they are.
static bool is_step(const instruction *i, bool may_move) {
  const bool is_slice = i->opcode == HLO_SLICE || (may_move && i->opcode == HLO_DYNAMIC_SLICE);
  if (!is_slice && i->opcode != HLO_RESHAPE && i->opcode != HLO_BITCAST) return false;
  const instruction *from = i->operands[0];
  if (!has_default_layout(i) || !has_default_layout(from) || i->shape->dtype != from->shape->dtype) return false;
  if (i->opcode == HLO_DYNAMIC_SLICE) return i->operand_count == 1 + i->shape->rank;
  return is_slice || shape_element_count(i->shape) == shape_element_count(from->shape);
}

void array_view_whole(const instruction *array, array_view *out) {
  const shape *s = array->shape;
  *out = (array_view){.array = array, .rank = s->rank};
  shape_strides(s, out->strides);
  for (int d = 0; d < s->rank; d++) out->sizes[d] = s->dims[d];
}

static void slice_view(const instruction *slice, array_view *v) {
  for (int d = 0; d < v->rank; d++) {
    const slice_dim *x = &slice->attributes->slice.dims[d];
    v->offset += x->start * v->strides[d];
    v->strides[d] *= x->stride;
    v->sizes[d] = slice->shape->dims[d];
  }
}

static bool is_number(const instruction *i) {
  return i->opcode == HLO_CONSTANT && shape_is_scalar(i->shape) && !i->literal->is_elided;
}

// The place as a value, times `scale`, plus `base`.
static array_view_start start_of(const instruction *place) {
  array_view_start x = {.value = place, .scale = 1};
  for (int steps = 0; steps < MAX_STEPS; steps++) {
    const instruction *i = x.value;
    if (i->opcode != HLO_ADD && i->opcode != HLO_MULTIPLY) break;
    const int number = is_number(i->operands[1]) ? 1 : 0;
    if (!is_number(i->operands[number])) break;
    const int64_t by = literal_get_int(i->operands[number]->literal, 0);
    // Whoever reads it computes as s32 does, so that the factors need to be right in their lower bits alone.
    if (i->opcode == HLO_ADD) x.base = (int32_t)(x.base + x.scale * by);
    else x.scale = (int32_t)(x.scale * by);
    x.value = i->operands[1 - number];
  }
  return x;
}

static bool dynamic_slice_view(const instruction *slice, array_view *v) {
  for (int d = 0; d < v->rank; d++) {
    const instruction *place = slice->operands[1 + d];
    const int64_t most = v->sizes[d] - slice->shape->dims[d];
    v->sizes[d] = slice->shape->dims[d];
    if (most == 0) continue;
    if (is_number(place)) {
      v->offset += int64_clamp(0, literal_get_int(place->literal, 0), most) * v->strides[d];
      continue;
    }
    if (v->start.value || place->shape->dtype != DTYPE_S32 || place->shape->rank != 0) return false;
    v->start = start_of(place);
    v->start.most = most;
    v->start.stride = v->strides[d];
  }
  return true;
}

// The run of dims that begins at *from, in front of which all is walked, and how many elements it has: one dim, and as
// many more as a single stride walks together with it.
static int64_t take_run(const array_view *v, int *from, int64_t *stride) {
  int64_t count = 1;
  *stride = 1;
  for (; *from >= 0; (*from)--) {
    if (v->sizes[*from] == 1) continue;
    if (count > 1 && v->strides[*from] != *stride * count) break;
    if (count == 1) *stride = v->strides[*from];
    count *= v->sizes[*from];
  }
  return count;
}

// From the most minor dim on, each run of the old dims is cut into new ones.
static bool reshape_view(const shape *to, array_view *v) {
  array_view made = {.array = v->array, .rank = to->rank, .offset = v->offset, .start = v->start};
  int from = v->rank - 1;
  int64_t stride = 1, left = take_run(v, &from, &stride);
  for (int d = to->rank - 1; d >= 0; d--) {
    if (left == 1 && to->dims[d] > 1) left = take_run(v, &from, &stride);
    if (left % to->dims[d] != 0) return false;
    made.sizes[d] = to->dims[d];
    made.strides[d] = stride;
    stride *= to->dims[d];
    left /= to->dims[d];
  }
  *v = made;
  return true;
}

static bool show(const instruction *step, array_view *v) {
  if (step->opcode == HLO_DYNAMIC_SLICE) return dynamic_slice_view(step, v);
  if (step->opcode != HLO_SLICE) return reshape_view(step->shape, v);
  slice_view(step, v);
  return true;
}

static bool view_of(const instruction *i, bool may_move, array_view *out) {
  const instruction *steps[MAX_STEPS];
  int count = 0;
  for (; is_step(i, may_move); i = i->operands[0]) {
    if (count == MAX_STEPS) return false;
    steps[count++] = i;
  }
  if (!has_default_layout(i)) return false;
  array_view_whole(i, out);
  while (count-- > 0) {
    if (shape_element_count(steps[count]->shape) == 0 || !show(steps[count], out)) return false;
  }
  return true;
}

bool array_view_of(const instruction *i, array_view *out) { return view_of(i, false, out); }

bool array_view_of_moving(const instruction *i, array_view *out) { return view_of(i, true, out); }
