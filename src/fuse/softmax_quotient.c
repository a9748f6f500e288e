// What is divided behind the product is divided in front of it by the same values of rows: for each dim of the divisor
// the dim of the exponentials is followed through the product and what moves its operand and its result.
#include "fuse/softmax_quotient.h"

#include <math.h>

#include "hlo/builder.h"

enum { STEPS_MAX = 32 };  // operations that make a divisor

// For each dim of an array, the dim of the exponentials that it runs along.
enum { ONE_ELEMENT = -1, FEATURE = -2 };  // along none, for want of length, or since only the values have it

typedef struct alignment {
  int dims[SHAPE_MAX_RANK];
} alignment;

typedef struct forms {
  builder builder;
  instruction *product, *exponential;
  int side, steps;
  alignment at;  // of what is divided
} forms;

// --- what only moves elements

static bool is_view(const instruction *i) { return i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST; }

static bool is_conversion(const instruction *i) {
  return i->opcode == HLO_COPY ||
         (i->opcode == HLO_CONVERT && dtype_is_float(i->shape->dtype) && dtype_is_float(i->operands[0]->shape->dtype));
}

// A conversion between floats, a transpose, or a reshape that only adds or takes away dims of one element.
static bool is_move(const instruction *i) {
  int dims[SHAPE_MAX_RANK];
  if (is_view(i))
    return i->shape->dtype == i->operands[0]->shape->dtype &&
           shape_moves_unit_dims(i->operands[0]->shape, i->shape, dims);
  return i->opcode == HLO_TRANSPOSE || is_conversion(i);
}

static instruction *before_moves(instruction *i) {
  while (is_move(i)) i = i->operands[0];
  return i;
}

// The alignment of a moved or repeated array, from that of what is made of it.
static alignment before(const instruction *i, alignment after) {
  const shape *from = i->operands[0]->shape;
  const int_list dims = i->attributes->dimensions;
  alignment at = after;
  if (is_view(i)) {
    shape_moves_unit_dims(from, i->shape, at.dims);
    for (int k = 0; k < from->rank; k++) at.dims[k] = at.dims[k] < 0 ? ONE_ELEMENT : after.dims[at.dims[k]];
  } else if (i->opcode == HLO_TRANSPOSE) {
    for (int k = 0; k < dims.size; k++) at.dims[dims.data[k]] = after.dims[k];
  } else if (i->opcode == HLO_BROADCAST) {
    for (int k = 0; k < dims.size; k++) at.dims[k] = after.dims[dims.data[k]];
  }
  return at;
}

// The alignment of what moves an array, from that of the array.
static alignment behind(const instruction *i, alignment of_operand) {
  alignment at = of_operand;
  int dims[SHAPE_MAX_RANK];
  if (is_view(i)) {
    shape_moves_unit_dims(i->operands[0]->shape, i->shape, dims);
    for (int k = 0; k < i->shape->rank; k++) at.dims[k] = ONE_ELEMENT;
    for (int k = 0; k < i->operands[0]->shape->rank; k++)
      if (dims[k] >= 0) at.dims[dims[k]] = of_operand.dims[k];
  } else if (i->opcode == HLO_TRANSPOSE) {
    for (int k = 0; k < i->shape->rank; k++) at.dims[k] = of_operand.dims[i->attributes->dimensions.data[k]];
  }
  return at;
}

// --- reciprocals

static bool is_number(instruction *i, double value) {
  while (i->opcode == HLO_BROADCAST || is_move(i)) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && dtype_is_float(i->shape->dtype) &&
         literal_get_double(i->literal, 0) == value;
}

// Of what a guard selects in place of a reciprocal: 1, or 0, by which nothing is divided but infinity.
static instruction *inverse_number(const forms *f, instruction *i) {
  const bool has_infinity = dtypes[i->shape->dtype].bits >= 16;
  if (is_number(i, 1)) return i;
  return is_number(i, 0) && has_infinity ? builder_like(&f->builder, i, INFINITY) : NULL;
}

// What one may divide by instead of multiplying by the value; null if it is no reciprocal.
static instruction *inverse(forms *f, instruction *i) {
  if (f->steps-- <= 0) return NULL;
  if (i->opcode == HLO_BROADCAST || is_move(i)) {
    instruction *of = inverse(f, i->operands[0]);
    return of ? computation_add_copy(f->builder.computation, i, &of) : NULL;
  }
  if (i->opcode == HLO_DIVIDE) return is_number(i->operands[0], 1) ? i->operands[1] : NULL;
  if (i->opcode != HLO_SELECT) return NULL;
  for (int k = 1; k <= 2; k++) {
    instruction *number = inverse_number(f, i->operands[3 - k]);
    instruction *of = number ? inverse(f, i->operands[k]) : NULL;
    if (of) return builder_select(&f->builder, i->operands[0], k == 1 ? of : number, k == 1 ? number : of);
  }
  return NULL;
}

// --- multiplied by a reciprocal in front of the product

static bool find_exponential(forms *f, instruction *i) {
  f->exponential = before_moves(i);
  return f->exponential->opcode == HLO_EXPONENTIAL;
}

static bool divide_in_front(forms *f, softmax_quotient *out) {
  instruction *multiply = before_moves(f->product->operands[f->side]);
  if (multiply->opcode != HLO_MULTIPLY) return false;
  for (int k = 0; k < 2; k++) {
    instruction *divisor = NULL;
    f->steps = STEPS_MAX;
    if (find_exponential(f, multiply->operands[k])) divisor = inverse(f, multiply->operands[1 - k]);
    if (!divisor) continue;
    out->made = builder_binary(&f->builder, HLO_DIVIDE, multiply->operands[k], divisor);
    out->replaced = multiply;
    out->product = f->product;
    return true;
  }
  return false;
}

// --- divided behind the product

// Of the product's result, by way of its operand.
static alignment of_result(const forms *f) {
  const hlo_attributes *a = f->product->attributes;
  alignment of_operand = {0}, at = {0};
  const instruction *weights = f->product->operands[f->side];
  for (int d = 0; d < f->exponential->shape->rank; d++) of_operand.dims[d] = d;
  instruction_list moves = {0};
  arena *scratch = arena_create();
  for (instruction *i = f->product->operands[f->side]; i != f->exponential; i = i->operands[0])
    vec_push(scratch, &moves, i);
  for (int k = moves.size; k-- > 0;) of_operand = behind(moves.data[k], of_operand);
  arena_destroy(scratch);
  int n = 0;
  const int_list batch = f->side == 0 ? a->lhs_batch_dims : a->rhs_batch_dims,
                 keys = f->side == 0 ? a->lhs_contracting_dims : a->rhs_contracting_dims;
  for (int k = 0; k < batch.size; k++) at.dims[n++] = of_operand.dims[batch.data[k]];
  const int features = f->product->shape->rank - (weights->shape->rank - keys.size);
  for (int k = 0; k < features && f->side == 1; k++) at.dims[n++] = FEATURE;
  for (int d = 0; d < weights->shape->rank; d++)
    if (!int_list_has(batch, d) && !int_list_has(keys, d)) at.dims[n++] = of_operand.dims[d];
  for (int k = 0; k < features && f->side == 0; k++) at.dims[n++] = FEATURE;
  return at;
}

// Values of rows at all keys; null if the array has other elements, or its dims stand in another order.
static instruction *repeated(const forms *f, instruction *rows, alignment at) {
  const shape *keys = f->exponential->shape;
  int64_t sizes[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  int rank = 0, last = -1;
  for (int d = 0; d < rows->shape->rank; d++) {
    if (rows->shape->dims[d] == 1) continue;
    if (at.dims[d] <= last || keys->dims[at.dims[d]] != rows->shape->dims[d]) return NULL;
    last = at.dims[d];
    dims[rank] = last;
    sizes[rank++] = rows->shape->dims[d];
  }
  if (rank < rows->shape->rank) rows = builder_reshape(&f->builder, rows, rank, sizes);
  const shape *all = shape_array(f->builder.arena, rows->shape->dtype, keys->rank, keys->dims);
  return builder_broadcast(&f->builder, rows, all, rank, dims);
}

static bool has_features(const instruction *i, const alignment *at) {
  for (int d = 0; d < i->shape->rank; d++)
    if (at->dims[d] == FEATURE && i->shape->dims[d] > 1) return true;
  return false;
}

// The divisor at all keys: what has features is made anew without them.
static instruction *at_keys(forms *f, instruction *i, alignment at) {
  const shape *keys = f->exponential->shape;
  if (f->steps-- <= 0) return NULL;
  if (i->opcode == HLO_CONVERT && is_conversion(i)) {
    instruction *of = at_keys(f, i->operands[0], at);
    return of ? builder_convert(&f->builder, of, i->shape->dtype) : NULL;
  }
  if (i->opcode == HLO_BROADCAST || is_move(i)) return at_keys(f, i->operands[0], before(i, at));
  if (!has_features(i, &at)) return repeated(f, i, at);
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->called_count > 0 || i->operand_count == 0) return NULL;
  instruction *operands[3];
  if (i->operand_count > 3) return NULL;
  for (int k = 0; k < i->operand_count; k++) {
    operands[k] = at_keys(f, i->operands[k], at);
    if (!operands[k]) return NULL;
  }
  instruction *made = computation_add_copy(f->builder.computation, i, operands);
  made->shape = shape_array(f->builder.arena, i->shape->dtype, keys->rank, keys->dims);
  return made;
}

// Of the wider type of both, then as the exponentials are.
static instruction *quotient(const forms *f, instruction *divisor) {
  const dtype narrow = f->exponential->shape->dtype, of_divisor = divisor->shape->dtype;
  const dtype wide = dtypes[of_divisor].bits > dtypes[narrow].bits ? of_divisor : narrow;
  instruction *x = builder_convert(&f->builder, f->exponential, wide),
              *made = builder_binary(&f->builder, HLO_DIVIDE, x, builder_convert(&f->builder, divisor, wide));
  return builder_convert(&f->builder, made, narrow);
}

// What moves one array does so with another.
static instruction *moved(const forms *f, instruction *i, const instruction *from, instruction *to) {
  if (i == from) return to;
  instruction *of = moved(f, i->operands[0], from, to);
  return computation_add_copy(f->builder.computation, i, &of);
}

// What divides the product, or multiplies it by a reciprocal, and the last of what moves the product before.
static instruction *find_division(forms *f, instruction **moved) {
  instruction *i = f->product;
  f->at = of_result(f);
  while (i->users.size == 1 && i->parent->root != i) {
    instruction *user = i->users.data[0];
    *moved = i;
    if (user->opcode == HLO_DIVIDE) return user->operands[0] == i ? user : NULL;
    if (user->opcode == HLO_MULTIPLY) return user;
    if (!is_move(user)) return NULL;
    f->at = behind(user, f->at);
    i = user;
  }
  return NULL;
}

static bool divide_behind(forms *f, softmax_quotient *out) {
  instruction *last = NULL, *weights = f->product->operands[f->side];
  if (!find_exponential(f, weights)) return false;
  instruction *division = find_division(f, &last);
  if (!division) return false;
  f->steps = STEPS_MAX;
  instruction *divisor = division->opcode == HLO_DIVIDE ? division->operands[1]
                                                        : inverse(f, division->operands[division->operands[0] == last]);
  if (divisor) divisor = at_keys(f, divisor, f->at);
  if (!divisor) return false;
  instruction *operands[2] = {f->product->operands[0], f->product->operands[1]};
  operands[f->side] = moved(f, weights, f->exponential, quotient(f, divisor));
  out->product = computation_add_copy(f->builder.computation, f->product, operands);
  out->made = moved(f, last, f->product, out->product);
  out->replaced = division;
  return true;
}

// --- both

static void remove_from(computation *c, int begin) {
  while (c->instructions.size > begin) computation_remove(c, c->instructions.data[c->instructions.size - 1]);
}

// What was made on the way and not used.
static void remove_unused(computation *c, int begin, const instruction *made) {
  for (int k = c->instructions.size; k-- > begin;)
    if (c->instructions.data[k]->users.size == 0 && c->instructions.data[k] != made)
      computation_remove(c, c->instructions.data[k]);
}

// False if one of these waits for others without reading them.
static bool find_idle(arena *a, softmax_quotient *q) {
  instruction_list waiting = {0};
  bool waits = false;
  vec_push(a, &waiting, q->replaced);
  ptr_map_put(a, &q->idle, q->replaced, q->replaced);
  for (int n = 0; n < waiting.size; n++) {
    waits |= waiting.data[n]->control_predecessors.size > 0;
    for (int k = 0; k < waiting.data[n]->operand_count; k++) {
      instruction *i = waiting.data[n]->operands[k];
      bool all = i->opcode != HLO_PARAMETER && i != i->parent->root && !ptr_map_has(&q->idle, i);
      for (int u = 0; u < i->users.size && all; u++) all = ptr_map_has(&q->idle, i->users.data[u]);
      if (!all) continue;
      ptr_map_put(a, &q->idle, i, i);
      vec_push(a, &waiting, i);
    }
  }
  return !waits;
}

bool softmax_quotient_make(arena *a, instruction *product, softmax_quotient *out) {
  computation *c = product->parent;
  bool found = false;
  *out = (softmax_quotient){.computation = c, .begin = c->instructions.size};
  if (product->opcode != HLO_DOT || product->operand_count != 2) return false;
  for (int side = 0; side < 2 && !found; side++) {
    forms f = {.builder = builder_for(product), .product = product, .side = side};
    found = divide_in_front(&f, out) || divide_behind(&f, out);
    if (!found) remove_from(c, out->begin);
  }
  if (!found) return false;
  remove_unused(c, out->begin, out->made);
  instruction_replace_uses(out->replaced, out->made);
  if (find_idle(a, out)) return true;
  softmax_quotient_undo(out);
  return false;
}

void softmax_quotient_undo(const softmax_quotient *q) {
  instruction_replace_uses(q->made, q->replaced);
  remove_from(q->computation, q->begin);
}
