// Which kernels go through linalg, and among how many tiles of the runtime their workgroups are dealt.
#include "kernel/hero_tiles.h"

#include "base/int64.h"
#include "kernel/work_estimate.h"

// By opcode, beside what is elementwise.
static const bool has_form[HLO_OPCODE_COUNT] = {
    [HLO_PARAMETER] = true, [HLO_CONSTANT] = true,  [HLO_TUPLE] = true,         [HLO_GET_TUPLE_ELEMENT] = true,
    [HLO_BITCAST] = true,   [HLO_BROADCAST] = true, [HLO_CONCATENATE] = true,   [HLO_CONVOLUTION] = true,
    [HLO_COPY] = true,      [HLO_DOT] = true,       [HLO_IOTA] = true,          [HLO_PAD] = true,
    [HLO_REDUCE] = true,    [HLO_RESHAPE] = true,   [HLO_REDUCE_WINDOW] = true, [HLO_REVERSE] = true,
    [HLO_SLICE] = true,     [HLO_TRANSPOSE] = true,
};

// Elements as a vector of MLIR's types holds them: whole bytes, and none that only our emitters know.
static bool has_vector_elements(const shape *s) {
  bool all = true;
  if (!shape_is_tuple(s))
    return s->dtype == DTYPE_PRED ||
           ((dtypes[s->dtype].class == CLASS_FLOAT ? dtypes[s->dtype].bits >= 16 : dtypes[s->dtype].bits >= 8) &&
            shape_layout_is_default(s));
  for (int k = 0; k < s->tuple_size; k++) all &= has_vector_elements(s->elements[k]);
  return all;
}

static bool is_scalar_code(const computation *c) {
  bool all = true;
  for (int n = 0; n < c->instructions.size; n++) {
    const instruction *i = c->instructions.data[n];
    all &= i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT || (i->opcode == HLO_TUPLE && i == c->root) ||
           hlo_op_has(i->opcode, TRAIT_ELEMENTWISE);
  }
  return all;
}

// --- memory that a region needs beside its buffers

enum { HELD_BYTES_MAX = 192 << 10 };  // less than a tile gets (tile/distribute.c), for what is held beside

bool hero_tiles_pads(const window *w) {
  bool any = false;
  for (int k = 0; k < w->rank; k++)
    any |= w->dims[k].padding_low != 0 || w->dims[k].padding_high != 0 || w->dims[k].base_dilation != 1;
  return any;
}

int64_t hero_tiles_padded_size(int64_t size, const window_dim *w) {
  return (size > 0 ? (size - 1) * w->base_dilation + 1 : 0) + w->padding_low + w->padding_high;
}

// A window over borders or gaps, or one that is turned round, reads an array that is made for it.
static int64_t padded_bytes(const instruction *i) {
  const hlo_attributes *a = i->attributes;
  const shape *s = i->operands[0]->shape;
  int64_t bytes = kernel_buffer_bytes(s);
  bool any = hero_tiles_pads(&a->window);
  for (int k = 0; k < a->window.rank; k++) {
    const window_dim *w = &a->window.dims[k];
    const int64_t d = i->opcode == HLO_CONVOLUTION ? a->dim_labels.input_spatial[k] : k;
    if (s->dims[d] > 0) bytes = bytes / s->dims[d] * hero_tiles_padded_size(s->dims[d], w);
    any |= w->reversal;
  }
  return any ? bytes : 0;
}

static bool is_computed(const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY) i = i->operands[0];
  return i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT && shape_is_array(i->shape);
}

// What is cut, joined or reshaped is no tile of whoever reads it: it is whole before.
static int64_t held_bytes(const instruction *i) {
  int64_t bytes = 0;
  switch (i->opcode) {
    case HLO_CONVOLUTION:
    case HLO_REDUCE_WINDOW: return padded_bytes(i);
    case HLO_CONCATENATE:
    case HLO_PAD: bytes = i->users.size > 0 ? kernel_buffer_bytes(i->shape) : 0; break;
    case HLO_BITCAST:
    case HLO_RESHAPE:
    case HLO_REVERSE:
    case HLO_SLICE: break;
    default: return 0;
  }
  for (int k = 0; k < i->operand_count; k++)
    if (is_computed(i->operands[k])) bytes += kernel_buffer_bytes(i->operands[k]->shape);
  return bytes;
}

// --- the rule

bool hero_tiles_has_form(const instruction *i) {
  const bool is_elementwise =
      hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0 && i->opcode != HLO_BITCAST_CONVERT;
  bool all = has_form[i->opcode] || is_elementwise;
  all &= has_vector_elements(i->shape);
  if (i->opcode == HLO_BITCAST) all &= i->shape->dtype == i->operands[0]->shape->dtype;
  if (i->opcode == HLO_DOT) all &= i->operand_count == 2;
  for (int k = 0; k < i->operand_count; k++) all &= has_vector_elements(i->operands[k]->shape);
  for (int k = 0; k < i->called_count; k++) all &= is_scalar_code(i->called[k]);
  if (i->opcode == HLO_CONVOLUTION || i->opcode == HLO_REDUCE_WINDOW) all &= padded_bytes(i) <= HELD_BYTES_MAX;
  return all;
}

enum { WORK_OF_TILE = 1 << 16, MOST_TILES = 1024 };

bool hero_tiles_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  (void)a;
  if (target->codegen != CODEGEN_TILES) return false;
  hero_tiles *h = &k->details.tiles;
  double work = 0;
  int64_t bytes = 0, held = 0;
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (!hero_tiles_has_form(i)) return false;
    held += held_bytes(i);
    h->operation_count += i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT;
    h->product_count += i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION;
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
    work += (double)work_estimate_operations(i) * (double)shape_element_count(s);
  }
  if (held > HELD_BYTES_MAX) return false;
  for (int n = 0; n < k->output_count; n++)
    if (shape_element_count(k->outputs[n].shape) == 0) return false;
  for (int n = 0; n < k->slice_count; n++) bytes += kernel_buffer_bytes(k->slices[n].shape);
  const double tiles = work / WORK_OF_TILE;
  k->reason = "tiles of whole-array operations, as --codegen asks";
  k->launch.elements = shape_element_count(k->outputs[0].shape);
  k->launch.tiles = tiles < 1 ? 1 : tiles > MOST_TILES ? MOST_TILES : (int64_t)tiles;
  k->launch.tile = int64_ceil_div(k->launch.elements, k->launch.tiles);
  k->launch.tile_bytes = bytes / k->launch.tiles;
  return true;
}
