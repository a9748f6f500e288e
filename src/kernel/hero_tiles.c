// Which kernels go through linalg, and among how many tiles of the runtime their workgroups are dealt.
#include "kernel/hero_tiles.h"

#include "base/int64.h"
#include "kernel/online_softmax.h"
#include "kernel/panels.h"
#include "kernel/product_cost.h"
#include "kernel/tiled_product.h"
#include "kernel/untiled.h"
#include "kernel/work_estimate.h"

// By opcode, beside what is elementwise.
static const bool has_form[HLO_OPCODE_COUNT] = {
    [HLO_PARAMETER] = true,     [HLO_CONSTANT] = true,  [HLO_TUPLE] = true,       [HLO_GET_TUPLE_ELEMENT] = true,
    [HLO_BITCAST] = true,       [HLO_BROADCAST] = true, [HLO_CONCATENATE] = true, [HLO_CONVOLUTION] = true,
    [HLO_COPY] = true,          [HLO_DOT] = true,       [HLO_IOTA] = true,        [HLO_PAD] = true,
    [HLO_DYNAMIC_SLICE] = true, [HLO_GATHER] = true,    [HLO_REDUCE] = true,      [HLO_RESHAPE] = true,
    [HLO_REDUCE_WINDOW] = true, [HLO_REVERSE] = true,   [HLO_SLICE] = true,       [HLO_TRANSPOSE] = true,
};

// By opcode: what integers of less than a byte may be, which are bytes as soon as they are loaded, …
static const bool is_small_value[HLO_OPCODE_COUNT] = {
    [HLO_PARAMETER] = true, [HLO_CONSTANT] = true,    [HLO_BITCAST] = true, [HLO_BROADCAST] = true,
    [HLO_COPY] = true,      [HLO_RESHAPE] = true,     [HLO_SLICE] = true,   [HLO_TRANSPOSE] = true,
    [HLO_PAD] = true,       [HLO_CONCATENATE] = true, [HLO_REVERSE] = true, [HLO_GATHER] = true,
};
// … and what else may read them.
static const bool reads_small[HLO_OPCODE_COUNT] = {[HLO_CONVERT] = true, [HLO_DOT] = true, [HLO_CONVOLUTION] = true};

static bool is_small(const shape *s) { return dtype_is_integer(s->dtype) && dtypes[s->dtype].bits < 8; }

// Where a gather begins, by an array of numbers.
static bool is_indices(const instruction *i, int operand) { return i->opcode == HLO_GATHER && operand == 1; }

static bool keeps_small_apart(const instruction *i) {
  bool all = shape_is_tuple(i->shape) || !is_small(i->shape) || is_small_value[i->opcode];
  for (int k = 0; k < i->operand_count; k++)
    all &= shape_is_tuple(i->operands[k]->shape) || !is_small(i->operands[k]->shape) || reads_small[i->opcode] ||
           (is_small_value[i->opcode] && !is_indices(i, k));
  return all;
}

// Elements as a vector of MLIR's types holds them: whole bytes.
static bool has_vector_elements(const shape *s) {
  bool all = true;
  if (!shape_is_tuple(s))
    return s->dtype == DTYPE_PRED || ((dtypes[s->dtype].bits >= 8 || is_small(s)) && shape_layout_is_default(s));
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

static bool is_window(const instruction *i) { return i->opcode == HLO_CONVOLUTION || i->opcode == HLO_REDUCE_WINDOW; }

// Of the array with its borders and gaps: what one element of the result reads, or the whole of it.
static int64_t padded_bytes(const instruction *i, bool is_whole) {
  const hlo_attributes *a = i->attributes;
  const shape *s = i->operands[0]->shape;
  if (!hero_tiles_pads(&a->window)) return 0;
  int64_t bytes = dtypes[s->dtype].bits / 8;
  for (int d = 0; d < s->rank; d++) {
    int k = 0;
    while (k < a->window.rank && (i->opcode == HLO_CONVOLUTION ? a->dim_labels.input_spatial[k] : k) != d) k++;
    int64_t size = s->dims[d];
    if (k < a->window.rank) {
      const window_dim *w = &a->window.dims[k];
      const int64_t read = (w->size - 1) * w->window_dilation + 1;
      size = hero_tiles_padded_size(size, w);
      if (!is_whole) size = int64_min(size, read);
    } else if (!is_whole) {
      size = d == a->dim_labels.input_feature ? i->operands[1]->shape->dims[a->dim_labels.kernel_input_feature] : 1;
    }
    bytes *= int64_max(size, 1);
  }
  return i->opcode == HLO_CONVOLUTION ? bytes : bytes * (i->operand_count / 2);
}

// Of a kernel that is turned round: for one feature of the result, or all.
static int64_t turned_bytes(const instruction *i, bool is_whole) {
  const hlo_attributes *a = i->attributes;
  bool any = false;
  for (int k = 0; k < a->window.rank; k++) any |= a->window.dims[k].reversal;
  if (!any || i->opcode != HLO_CONVOLUTION) return 0;
  const shape *kernel = i->operands[1]->shape;
  const int64_t features = kernel->dims[a->dim_labels.kernel_output_feature];
  return kernel_buffer_bytes(kernel) / (is_whole ? 1 : int64_max(features, 1));
}

// By opcode, beside what is elementwise: each element is one of an operand, or none.
static const bool moves[HLO_OPCODE_COUNT] = {
    [HLO_BITCAST] = true, [HLO_BROADCAST] = true, [HLO_CONCATENATE] = true,   [HLO_COPY] = true,
    [HLO_IOTA] = true,    [HLO_PAD] = true,       [HLO_RESHAPE] = true,       [HLO_REVERSE] = true,
    [HLO_SLICE] = true,   [HLO_TRANSPOSE] = true, [HLO_DYNAMIC_SLICE] = true, [HLO_GATHER] = true,
};

static bool is_in_memory(const instruction *i) { return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT; }

// Whether each element can be had from those of parameters and constants, in so many steps (tile/pulled.h).
static bool is_pulled(const instruction *i, int *steps) {
  if (is_in_memory(i)) return true;
  if (--*steps < 0 || !(moves[i->opcode] || (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0)))
    return false;
  bool all = true;
  for (int k = 0; k < i->operand_count && all; k++) all = is_pulled(i->operands[k], steps);
  return all;
}

static const instruction *before_reshapes(const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY) i = i->operands[0];
  return i;
}

// Of operands that are computed and of which single elements cannot be had, or at all are not.
static int64_t whole_operands(const instruction *i, bool is_any) {
  int64_t bytes = 0;
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *o = before_reshapes(i->operands[k]);
    int steps = HERO_TILES_PULLED_MAX;
    if (!is_in_memory(o) && shape_is_array(o->shape) && (is_any || !is_pulled(o, &steps)))
      bytes += kernel_buffer_bytes(o->shape);
  }
  return bytes;
}

// Whether tiles of one element are too small: somebody who reads it needs rows or windows of what is made of it.
// `depth` is how many operations it may be away; what is farther counts as if.
static bool is_read_by_many(const instruction *i, int depth) {
  bool any = depth == 0;
  for (int k = 0; k < i->users.size && !any; k++) {
    const instruction *user = i->users.data[k];
    const bool is_fused = moves[user->opcode] || user->opcode == HLO_TUPLE || user->opcode == HLO_GET_TUPLE_ELEMENT ||
                          hlo_op_has(user->opcode, TRAIT_ELEMENTWISE);
    any = !is_fused || is_read_by_many(user, depth - 1);
  }
  return any;
}

enum { FARTHEST = 8 };

// A slice or a reshape is a place in the memory of its operand.
static bool is_place(const instruction *i) {
  return i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_SLICE;
}

// On a grid what slices are made of is read where it lies, behind reshapes, too.
static bool is_place_in_memory(const instruction *i, const target_description *target) {
  i = before_reshapes(i);
  while (target->has_grid && i->opcode == HLO_SLICE) i = before_reshapes(i->operands[0]);
  return is_in_memory(i);
}

// What is padded, cut, joined or reshaped is made for each tile that reads it, as far as its elements can be had one by
// one; else it is whole before.
static int64_t held_bytes(const instruction *i, const target_description *target) {
  const bool is_whole = is_read_by_many(i, FARTHEST), is_result = i->users.size == 0;
  int64_t bytes = 0;
  switch (i->opcode) {
    case HLO_CONVOLUTION:
    case HLO_REDUCE_WINDOW:
      bytes = padded_bytes(i, is_whole) + turned_bytes(i, is_whole);
      return bytes == 0 ? 0 : bytes + whole_operands(i, false);
    case HLO_BITCAST:
    case HLO_RESHAPE:
    case HLO_SLICE:
      if (is_place_in_memory(i->operands[0], target) || panels_has(i, target)) return 0;
      break;
    case HLO_CONCATENATE:
    case HLO_DYNAMIC_SLICE:
    case HLO_GATHER:
    case HLO_PAD:
    case HLO_REVERSE: break;
    default: return 0;
  }
  if (is_whole) bytes = kernel_buffer_bytes(i->shape);
  return bytes + whole_operands(i, is_result && (i->opcode == HLO_CONCATENATE || i->opcode == HLO_PAD || is_place(i)));
}

// --- forms

// What one opcode asks for beside what all do.
static bool has_own_form(const instruction *i) {
  switch (i->opcode) {
    case HLO_BITCAST: return i->shape->dtype == i->operands[0]->shape->dtype;
    case HLO_DOT: return i->operand_count == 2;
    case HLO_GATHER: return shape_element_count(i->operands[0]->shape) > 0;
    case HLO_DYNAMIC_SLICE: return i->operand_count == 1 + i->shape->rank;
    default: return true;
  }
}

// Why there is no form for the operation; null if there is one.
static const char *lack_of(const instruction *i) {
  const bool is_elementwise =
      hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0 && i->opcode != HLO_BITCAST_CONVERT;
  bool are_vectors = has_vector_elements(i->shape), are_scalars = true;
  for (int k = 0; k < i->operand_count; k++) are_vectors &= has_vector_elements(i->operands[k]->shape);
  for (int k = 0; k < i->called_count; k++) are_scalars &= is_scalar_code(i->called[k]);
  if (untiled_is(i)) return "code of tiles was tried and failed";
  if (!(has_form[i->opcode] || is_elementwise) || !has_own_form(i)) return "has no form in linalg";
  if (!are_vectors) return "has elements that no vector holds";
  if (!keeps_small_apart(i)) return "computes with integers of less than a byte";
  if (!are_scalars) return "reduces by more than elementwise operations";
  if (is_window(i) && padded_bytes(i, false) + turned_bytes(i, false) > HELD_BYTES_MAX)
    return "reads windows that are larger than a tile's memory";
  if (i->opcode == HLO_CONVOLUTION && hero_tiles_pads(&i->attributes->window) &&
      i->operands[0]->shape->dtype == DTYPE_F8E8M0FNU)
    return "has borders of a type that has no zero";
  return NULL;
}

bool hero_tiles_has_form(const instruction *i) { return !lack_of(i); }

// --- the rule

bool hero_tiles_may_take(const computation *c, const target_description *target) {
  bool has_product = false;
  for (int n = 0; n < c->instructions.size; n++) has_product |= product_cost_is_product(c->instructions.data[n]);
  return target->codegen == CODEGEN_TILES || (target->codegen == CODEGEN_CHOSEN && has_product);
}

// A product with a softmax, and what only converts or moves it; its weights may be a second result.
static bool is_attention(const computation *c) {
  online_softmax softmax;
  const instruction *i = c->root;
  if (i->opcode == HLO_TUPLE && i->operand_count == 2) i = i->operands[0];
  while (i->opcode == HLO_TRANSPOSE || i->opcode == HLO_CONVERT) i = i->operands[0];
  return i->opcode == HLO_DOT && online_softmax_of(i, &softmax);
}

// What no output depends on (the value of an empty result, a parameter that nobody reads) a region has no place for.
static bool has_idle(const computation *c, const instruction_list *body) {
  int all = 0, needed = 0;
  for (int n = 0; n < c->instructions.size; n++) all += c->instructions.data[n]->opcode != HLO_TUPLE;
  for (int n = 0; n < body->size; n++) needed += body->data[n]->opcode != HLO_TUPLE;
  return needed < all;
}

enum { WORK_OF_TILE = 1 << 16, MOST_TILES = 1024 };

static bool lacks(kernel_plan *k, const char *why, const instruction *at) {
  k->untiled = why;
  k->untiled_at = at;
  return false;
}

bool hero_tiles_fits(kernel_plan *k, const instruction_list *body, const target_description *target, double *work) {
  hero_tiles *h = &k->details.tiles;
  int64_t held = 0;
  *work = 0;
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    const char *lack = lack_of(i);
    if (lack) return lacks(k, lack, i);
    held += held_bytes(i, target);
    h->operation_count += i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT;
    h->product_count += i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION;
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
    *work += (double)work_estimate_operations(i) * (double)shape_element_count(s);
  }
  if (held > HELD_BYTES_MAX && !is_attention(k->computation))
    return lacks(k, "needs more of other operations' results at once than a tile's memory holds", k->outputs[0].root);
  if (has_idle(k->computation, body))
    return lacks(k, "stands beside operations that no result depends on", k->outputs[0].root);
  for (int n = 0; n < k->output_count; n++) {
    if (shape_element_count(k->outputs[n].shape) == 0) return lacks(k, "has no elements", k->outputs[n].root);
    if (is_small(k->outputs[n].shape))
      return lacks(k, "is a result of integers of less than a byte", k->outputs[n].root);
  }
  return true;
}

bool hero_tiles_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  const bool streams = is_attention(k->computation);
  const bool is_chosen =
      target->codegen == CODEGEN_CHOSEN && k->output_count == 1 && tiled_product_is_sooner(a, body, target);
  if (target->codegen != CODEGEN_TILES && !is_chosen && !streams) return false;
  double work;
  int64_t bytes = 0;
  if (!hero_tiles_fits(k, body, target, &work)) return false;
  for (int n = 0; n < k->slice_count; n++) bytes += kernel_buffer_bytes(k->slices[n].shape);
  const double tiles = work / WORK_OF_TILE;
  k->reason = streams     ? "attention: keys block by block, scores are never written"
              : is_chosen ? "tiles of a product, sooner than any other way"
                          : "tiles of whole-array operations, as --codegen asks";
  k->launch.elements = shape_element_count(k->outputs[0].shape);
  k->launch.tiles = tiles < 1 ? 1 : tiles > MOST_TILES ? MOST_TILES : (int64_t)tiles;
  k->launch.tile = int64_ceil_div(k->launch.elements, k->launch.tiles);
  k->launch.tile_bytes = bytes / k->launch.tiles;
  return true;
}
