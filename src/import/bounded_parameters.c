// One walk over the entry and what it calls, operands first. Where sizes of a run are below the bounds, XLA's
// operations do what they do on arrays of these sizes, so that shape inference says the results' shapes; the exceptions
// are written out here.
#include "import/bounded_parameters.h"

#include "hlo/body_copy.h"
#include "hlo/open_size.h"
#include "hlo/text.h"

typedef struct resizing {
  arena *scratch;
  ptr_map declared;  // instruction of another shape now -> the shape that was declared
  ptr_map sizes;     // what stands for get-dimension-size of a given dim -> that size + 1
  import_open_sizes *open;
  ptr_map replaced;        // computations that calls had copies made of
  int64_t copied, nested;  // instructions of all copies; calls around the one at hand
  heddle_status misfit;    // the first operation whose operands' open sizes differ: the walk goes on for its conditions
} resizing;

static const shape *declared_shape(const resizing *r, const instruction *i) {
  const shape *s = ptr_map_get(&r->declared, i);
  return s ? s : i->shape;
}

// Whether the dim has a size of its own now.
static bool is_given(const resizing *r, const instruction *i, int dim) {
  return shape_is_dynamic_dim(declared_shape(r, i), dim) && !shape_is_dynamic_dim(i->shape, dim);
}

static bool takes_given(const resizing *r, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (ptr_map_has(&r->declared, i->operands[k])) return true;
  return false;
}

static heddle_status refuse(const instruction *i, const char *why) {
  return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                   "%s " STR_FMT " %s: an entry parameter of dynamic size is compiled only where the sizes follow",
                   hlo_op_text(i->opcode), STR_ARG(i->name), why);
}

static const shape *with_dims(arena *a, const shape *s, const int64_t *dims, uint64_t dynamic_dims) {
  shape *copy = arena_new(a, shape);
  *copy = *shape_array(a, s->dtype, s->rank, dims);
  copy->dynamic_dims = dynamic_dims;
  return shape_with_layout(a, copy, s->layout);
}

// --- exceptions

// The rule keeps the shape that is written; the operand's sizes stand where its dims do.
static heddle_status resize_broadcast(const resizing *r, arena *a, instruction *i) {
  const shape *from = i->operands[0]->shape;
  int64_t dims[SHAPE_MAX_RANK];
  uint64_t dynamic = i->shape->dynamic_dims;
  memcpy(dims, i->shape->dims, (size_t)i->shape->rank * sizeof *dims);
  for (int k = 0; k < from->rank; k++) {
    const int64_t d = i->attributes->dimensions.data[k];
    dims[d] = from->dims[k];
    if (is_given(r, i->operands[0], k)) dynamic &= ~((uint64_t)1 << d);
  }
  i->shape = with_dims(a, i->shape, dims, dynamic);
  return status_ok();
}

// The one dynamic dim takes what the others leave.
static heddle_status resize_reshape(arena *a, instruction *i) {
  const int64_t count = shape_element_count(i->operands[0]->shape);
  int64_t dims[SHAPE_MAX_RANK], rest = 1;
  int open = -1;
  for (int d = 0; d < i->shape->rank; d++) {
    dims[d] = i->shape->dims[d];
    if (shape_is_dynamic_dim(i->shape, d) && open >= 0) return refuse(i, "has several dynamic dims");
    if (shape_is_dynamic_dim(i->shape, d)) open = d;
    else rest *= dims[d];
  }
  if (open < 0 || rest == 0 || count % rest != 0 || !shape_is_static(i->operands[0]->shape))
    return refuse(i, "has no dim that takes what its operand has");
  dims[open] = count / rest;
  i->shape = with_dims(a, i->shape, dims, 0);
  return status_ok();
}

static heddle_status resize_slice(const resizing *r, instruction *i) {
  const shape *bounds = declared_shape(r, i->operands[0]), *actual = i->operands[0]->shape;
  for (int d = 0; d < actual->rank; d++) {
    slice_dim *s = &i->attributes->slice.dims[d];
    if (!is_given(r, i->operands[0], d)) continue;
    if (s->start != 0 || s->stride != 1 || s->limit != bounds->dims[d])
      return refuse(i, "takes a part of a dim of dynamic size");
    s->limit = actual->dims[d];
  }
  return status_ok();
}

// A window as large as the bound is as large as the array.
static heddle_status resize_window(const resizing *r, arena *a, const instruction *i, int_list *sizes) {
  const shape *bounds = declared_shape(r, i->operands[0]), *actual = i->operands[0]->shape;
  int64_t *dims = arena_array(a, int64_t, sizes->size);
  for (int d = 0; d < sizes->size; d++) {
    dims[d] = sizes->data[d];
    if (!is_given(r, i->operands[0], d)) continue;
    if (dims[d] == bounds->dims[d]) dims[d] = actual->dims[d];
    else if (!r->open && dims[d] > actual->dims[d])
      return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " takes %lld of a dim of size %lld",
                       hlo_op_text(i->opcode), STR_ARG(i->name), (long long)dims[d], (long long)actual->dims[d]);
  }
  *sizes = (int_list){dims, sizes->size};
  return status_ok();
}

static heddle_status resize_pad(const resizing *r, const instruction *i) {
  for (int d = 0; d < i->operands[0]->shape->rank; d++) {
    const padding_dim *p = &i->attributes->padding.dims[d];
    if (is_given(r, i->operands[0], d) && (p->low < 0 || p->high < 0 || p->interior > 0))
      return refuse(i, "takes away from a dim of dynamic size, or pads between its elements");
  }
  return status_ok();
}

// Windows look at one element of such a dim each, and at all of them.
static heddle_status check_windows(const resizing *r, const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    for (int d = 0; d < i->operands[k]->shape->rank; d++) {
      if (!is_given(r, i->operands[k], d)) continue;
      const window_dim *w = &i->attributes->window.dims[d];
      if (w->size != 1 || w->stride != 1 || w->padding_low != 0 || w->padding_high != 0 || w->base_dilation != 1)
        return refuse(i, "has windows along a dim of dynamic size");
    }
  return status_ok();
}

// Images may be any number.
static heddle_status check_convolution(const resizing *r, const instruction *i) {
  for (int k = 0; k < 2; k++)
    for (int d = 0; d < i->operands[k]->shape->rank; d++)
      if (is_given(r, i->operands[k], d) && (k > 0 || d != i->attributes->dim_labels.input_batch))
        return refuse(i, "has a dim of dynamic size that is not the number of images");
  if (i->attributes->batch_group_count <= 1) return status_ok();
  return refuse(i, "divides a dim of dynamic size into groups");
}

// Other dims may be set: they stay dynamic. What is set to the size that it has is the operand.
static heddle_status resize_set_size(const resizing *r, arena *a, instruction *i) {
  const int64_t d = i->attributes->dimensions.data[0];
  const shape *from = i->operands[0]->shape;
  const uint64_t set = (uint64_t)1 << d;
  const bool is_own = (int64_t)(intptr_t)ptr_map_get(&r->sizes, i->operands[1]) == from->dims[d] + 1;
  if (is_given(r, i->operands[0], (int)d) && !is_own) return refuse(i, "sets a size that an argument has");
  if (is_given(r, i->operands[0], (int)d)) instruction_replace_uses(i, i->operands[0]);
  i->shape = with_dims(a, i->shape, from->dims, (from->dynamic_dims & ~set) | (i->shape->dynamic_dims & set));
  return status_ok();
}

// --- operands at their bounds

static bool covers(const instruction *broadcast, int64_t dim) {
  return int_list_has(broadcast->attributes->dimensions, dim);
}

// The operand with `dims` where `cut` says so. What repeats a value, or counts, is made for them; of other arrays the
// first elements are taken, where it is known that they are there.
static instruction *with_sizes(const resizing *r, const builder *b, instruction *x, const int64_t *dims, uint64_t cut) {
  const shape *s = with_dims(b->arena, x->shape, dims, x->shape->dynamic_dims & ~cut);
  bool repeats = x->opcode == HLO_BROADCAST;
  for (int d = 0; d < s->rank && repeats; d++) repeats = !((cut >> d) & 1) || !covers(x, d);
  if (repeats) {
    const int_list dimensions = x->attributes->dimensions;
    return builder_broadcast(b, x->operands[0], s, dimensions.size, dimensions.data);
  }
  if (x->opcode == HLO_IOTA && s->dynamic_dims == 0)
    return builder_iota(b, s->dtype, s->rank, dims, x->attributes->iota_dimension);
  if (r->open || !shape_is_static(x->shape)) return NULL;
  slice_dim parts[SHAPE_MAX_RANK];
  for (int d = 0; d < s->rank; d++) parts[d] = (slice_dim){0, dims[d], 1};
  return builder_slice(b, x, parts);
}

// An elementwise operation takes arrays of the bound beside those that are smaller, of which there are as many elements
// as of these.
static heddle_status fit_operands(const resizing *r, instruction *i) {
  const builder b = builder_for(i);
  const int rank = i->shape->rank;
  const instruction *given[SHAPE_MAX_RANK] = {0};
  for (int k = i->operand_count - 1; k >= 0; k--)
    for (int d = 0; d < rank && i->operands[k]->shape->rank == rank; d++)
      if (is_given(r, i->operands[k], d)) given[d] = i->operands[k];
  for (int k = 0; k < i->operand_count; k++) {
    instruction *x = i->operands[k];
    int64_t dims[SHAPE_MAX_RANK];
    uint64_t cut = 0;
    if (x->shape->rank != rank) continue;
    for (int d = 0; d < rank; d++) {
      dims[d] = x->shape->dims[d];
      if (!given[d] || is_given(r, x, d) || dims[d] != declared_shape(r, given[d])->dims[d]) continue;
      dims[d] = given[d]->shape->dims[d];
      cut |= (uint64_t)1 << d;
    }
    if (!cut) continue;
    x = with_sizes(r, &b, x, dims, cut);
    if (!x) return refuse(i, "takes an array of the bound's size, too");
    instruction_set_operand(i, k, x);
  }
  return status_ok();
}

// --- sizes that have to be the same

static void note_equal(resizing *r, const instruction *i, const instruction *l, int64_t left_dim,
                       const instruction *right, int64_t right_dim) {
  if (!is_given(r, l, (int)left_dim) || !is_given(r, right, (int)right_dim)) return;
  const char *message = arena_printf(r->scratch, "operands of %s " STR_FMT " are of the same size",
                                     hlo_op_text(i->opcode), STR_ARG(i->name));
  const import_condition c = {IMPORT_EQUAL, l->shape->dims[left_dim], right->shape->dims[right_dim], str_from(message),
                              i->where};
  vec_push(r->scratch, &r->open->conditions, c);
}

static void note_equal_dims(resizing *r, const instruction *i, int_list left, int_list right) {
  for (int k = 0; k < left.size; k++) note_equal(r, i, i->operands[0], left.data[k], i->operands[1], right.data[k]);
}

// Of an elementwise operation: the first operand of the result's rank, which is the first to have a dim `d` of a given
// size; null if there is none.
static instruction *first_given(const resizing *r, const instruction *i, int d) {
  for (int k = 0; k < i->operand_count; k++)
    if (i->operands[k]->shape->rank == i->shape->rank && is_given(r, i->operands[k], d)) return i->operands[k];
  return NULL;
}

static void note_elementwise(resizing *r, const instruction *i) {
  for (int d = 0; d < i->shape->rank; d++) {
    const instruction *first = first_given(r, i, d);
    for (int k = 0; first && k < i->operand_count; k++)
      if (i->operands[k] != first && i->operands[k]->shape->rank == i->shape->rank)
        note_equal(r, i, first, d, i->operands[k], d);
  }
}

// The dims that are the first operand's, or of a dot neither batch nor contracted.
static void guess_shape(const resizing *r, arena *a, instruction *i) {
  const hlo_attributes *x = i->attributes;
  int64_t dims[SHAPE_MAX_RANK];
  int at = 0;
  for (int d = 0; d < i->shape->rank; d++) {
    const instruction *first = i->opcode == HLO_DOT ? NULL : first_given(r, i, d);
    dims[d] = first ? first->shape->dims[d] : i->shape->dims[d];
  }
  for (int k = 0; i->opcode == HLO_DOT && k < x->lhs_batch_dims.size; k++)
    dims[at++] = i->operands[0]->shape->dims[x->lhs_batch_dims.data[k]];
  for (int side = 0; side < 2 && i->opcode == HLO_DOT; side++) {
    const int_list batch = side ? x->rhs_batch_dims : x->lhs_batch_dims;
    const int_list contracted = side ? x->rhs_contracting_dims : x->lhs_contracting_dims;
    for (int d = 0; d < i->operands[side]->shape->rank; d++)
      if (!int_list_has(batch, d) && !int_list_has(contracted, d)) dims[at++] = i->operands[side]->shape->dims[d];
  }
  i->shape = with_dims(a, i->shape, dims, 0);
}

// --- all others

static bool is_elementwise(const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0 && shape_is_array(i->shape);
}

static bool infers(const instruction *i) {
  switch (i->opcode) {
    case HLO_BITCAST_CONVERT:
    case HLO_CONCATENATE:
    case HLO_CONVOLUTION:
    case HLO_COPY:
    case HLO_DOT:
    case HLO_DYNAMIC_SLICE:
    case HLO_DYNAMIC_UPDATE_SLICE:
    case HLO_GATHER:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_OPT_BARRIER:
    case HLO_PAD:
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW:
    case HLO_REVERSE:
    case HLO_SCATTER:
    case HLO_SLICE:
    case HLO_SORT:
    case HLO_TRANSPOSE:
    case HLO_TUPLE: return true;
    default: return is_elementwise(i);
  }
}

// The type and layout stay those that are written.
static heddle_status infer(arena *a, instruction *i) {
  const shape *s;
  TRY(shape_infer(a, i, &s));
  i->shape = shape_is_array(s) && shape_is_array(i->shape)
                 ? shape_with_layout(a, shape_with_dtype(a, s, i->shape->dtype), i->shape->layout)
                 : s;
  return status_ok();
}

// Static sizes are what the program is written for.
static bool allows(const shape *declared, const shape *actual) {
  if (declared->rank != actual->rank || declared->tuple_size != actual->tuple_size) return false;
  for (int k = 0; k < declared->tuple_size; k++)
    if (!allows(declared->elements[k], actual->elements[k])) return false;
  for (int d = 0; d < declared->rank; d++)
    if (declared->dims[d] != actual->dims[d] && !shape_is_dynamic_dim(declared, d)) return false;
  return true;
}

// Where open sizes have to be the same but are not yet, the operation waits for whoever relates them.
static heddle_status infer_open(resizing *r, arena *a, instruction *i) {
  const bool is_dot = i->opcode == HLO_DOT && i->operand_count == 2;
  if (!r->open || (!is_dot && !is_elementwise(i))) return infer(a, i);
  if (is_dot) {
    note_equal_dims(r, i, i->attributes->lhs_batch_dims, i->attributes->rhs_batch_dims);
    note_equal_dims(r, i, i->attributes->lhs_contracting_dims, i->attributes->rhs_contracting_dims);
  } else {
    note_elementwise(r, i);
  }
  heddle_status s = infer(a, i);
  if (status_is_ok(s)) return s;
  guess_shape(r, a, i);
  if (status_is_ok(r->misfit)) r->misfit = s;
  else heddle_status_free(s);
  return status_ok();
}

// --- calls

static heddle_status walk(resizing *r, const computation *c);

// In the same module, with names of its own.
static heddle_status copy_computation(const resizing *r, const computation *from, computation **out) {
  ptr_map copies = {0};
  computation *to = module_add_computation(from->module, from->name);
  to->where = from->where;
  to->execution_thread = from->execution_thread;
  to->attributes_text = from->attributes_text;
  for (int k = 0; k < from->parameters.size; k++) {
    const instruction *p = from->parameters.data[k];
    instruction *copy = computation_add_parameter(to, k, p->name, p->shape);
    copy->where = p->where;
    ptr_map_put(r->scratch, &copies, p, copy);
  }
  TRY(body_copy(r->scratch, from, to, true, &copies));
  computation_set_root(to, ptr_map_get(&copies, from->root));
  *out = to;
  return status_ok();
}

// Nested calls can describe exponentially much, and as many levels as a text has lines.
static heddle_status check_copies(const resizing *r, const instruction *i) {
  if (r->nested > BOUNDED_PARAMETERS_MAX_NESTED)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "found calls nested more than %d deep, with arrays of dynamic size",
                     BOUNDED_PARAMETERS_MAX_NESTED);
  if (r->copied > BOUNDED_PARAMETERS_MAX_COPIED)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "copies of what is called with arrays of dynamic size would have more than %d instructions",
                     BOUNDED_PARAMETERS_MAX_COPIED);
  return status_ok();
}

// A copy of what operation `i` calls, of arguments whose sizes are given; other calls take other sizes.
static heddle_status resize_called(resizing *r, instruction *i, int number, int count, instruction *const *arguments) {
  computation **called = arena_array(r->scratch, computation *, i->called_count), *made;
  r->copied += i->called[number]->instructions.size;
  r->nested++;
  TRY(check_copies(r, i));
  TRY(copy_computation(r, i->called[number], &made));
  for (int k = 0; k < count; k++) {
    instruction *p = made->parameters.data[k];
    if (!ptr_map_has(&r->declared, arguments[k])) continue;
    if (!allows(p->shape, arguments[k]->shape))
      return refuse(i, "declares a static size where an argument has another");
    ptr_map_put(r->scratch, &r->declared, p, (void *)p->shape);
    p->shape = arguments[k]->shape;
  }
  TRY(walk(r, made));
  r->nested--;
  ptr_map_put(r->scratch, &r->replaced, i->called[number], made);
  for (int k = 0; k < i->called_count; k++) called[k] = k == number ? made : i->called[k];
  instruction_set_called(i, i->called_count, called);
  return status_ok();
}

// Neither may one have a size beside it where the other has what it is.
static bool have_same_sizes(const shape *l, const shape *r) {
  if (l->tuple_size != r->tuple_size || l->dynamic_dims != r->dynamic_dims) return false;
  for (int k = 0; k < l->tuple_size; k++)
    if (!have_same_sizes(l->elements[k], r->elements[k])) return false;
  return shape_compatible(l, r);
}

// A loop's state has the same sizes in all turns.
static heddle_status resize_while(resizing *r, instruction *i) {
  for (int k = 0; k < 2; k++) TRY(resize_called(r, i, k, 1, i->operands));
  if (!have_same_sizes(i->called[1]->root->shape, i->operands[0]->shape))
    return refuse(i, "has a state whose sizes change");
  i->shape = i->called[1]->root->shape;
  return status_ok();
}

static heddle_status resize_conditional(resizing *r, instruction *i) {
  for (int k = 0; k < i->called_count; k++)
    if (ptr_map_has(&r->declared, i->operands[k + 1])) TRY(resize_called(r, i, k, 1, &i->operands[k + 1]));
  for (int k = 1; k < i->called_count; k++)
    if (!have_same_sizes(i->called[k]->root->shape, i->called[0]->root->shape))
      return refuse(i, "has branches whose results are of different sizes");
  i->shape = i->called[0]->root->shape;
  return status_ok();
}

static heddle_status resize_call(resizing *r, instruction *i) {
  TRY(resize_called(r, i, 0, i->operand_count, i->operands));
  i->shape = i->called[0]->root->shape;
  return status_ok();
}

static heddle_status resize_operation(resizing *r, arena *a, instruction *i) {
  hlo_attributes *x = i->attributes;
  switch (i->opcode) {
    case HLO_CALL: return resize_call(r, i);
    case HLO_WHILE: return resize_while(r, i);
    case HLO_CONDITIONAL: return resize_conditional(r, i);
    case HLO_CONVOLUTION: TRY(check_convolution(r, i)); break;
    case HLO_REDUCE_WINDOW: TRY(check_windows(r, i)); break;
    case HLO_BROADCAST: return resize_broadcast(r, a, i);
    case HLO_RESHAPE: return resize_reshape(a, i);
    case HLO_SET_DIMENSION_SIZE: return resize_set_size(r, a, i);
    case HLO_SLICE: TRY(resize_slice(r, i)); break;
    case HLO_PAD: TRY(resize_pad(r, i)); break;
    case HLO_GATHER: TRY(resize_window(r, a, i, &x->slice_sizes)); break;
    case HLO_DYNAMIC_SLICE: TRY(resize_window(r, a, i, &x->dynamic_slice_sizes)); break;
    default: break;
  }
  if (is_elementwise(i)) TRY(fit_operands(r, i));
  return infers(i) ? infer_open(r, a, i) : refuse(i, "takes an array of such a size");
}

// Users take the size as a value, if it is given. The operation itself stays, as others may wait for it.
static void replace_size(resizing *r, instruction *i) {
  const int64_t d = i->attributes->dimensions.data[0], size = i->operands[0]->shape->dims[d];
  if (!is_given(r, i->operands[0], (int)d)) return;
  const builder b = builder_for(i);
  const bool is_open = r->open && size >= r->open->from && size <= INT32_MAX;
  instruction *by = is_open ? builder_convert(&b, open_size_add(&b, size), i->shape->dtype)
                            : builder_scalar_int(&b, i->shape->dtype, size);
  ptr_map_put(r->scratch, &r->sizes, by, (void *)(intptr_t)(size + 1));
  instruction_replace_uses(i, by);
  if (i->parent->root == i) computation_set_root(i->parent, by);
}

static heddle_status resize(resizing *r, instruction *i) {
  if (i->opcode == HLO_PARAMETER || !takes_given(r, i)) return status_ok();
  if (i->opcode == HLO_GET_DIMENSION_SIZE) {
    replace_size(r, i);
    return status_ok();
  }
  const shape *declared = i->shape;
  TRY(resize_operation(r, i->parent->module->arena, i));
  if (!allows(declared, i->shape)) return refuse(i, "declares a static size where an argument has another");
  if (!shape_equal(declared, i->shape)) ptr_map_put(r->scratch, &r->declared, i, (void *)declared);
  return status_ok();
}

static heddle_status walk(resizing *r, const computation *c) {
  instruction_list order = {0};
  TRY(computation_post_order(r->scratch, c, &order));
  heddle_status s = status_ok();
  for (int k = 0; k < order.size && status_is_ok(s); k++) s = resize(r, order.data[k]);
  return s;
}

static heddle_status resize_all(resizing *r, const computation *c) {
  heddle_status s = walk(r, c);
  if (status_is_ok(r->misfit)) return s;
  heddle_status_free(s);
  return r->misfit;
}

// --- parameters

static bool is_dynamic(const shape *s) { return shape_is_array(s) && !shape_is_static(s); }

static heddle_status ask(arena *a, const module *m, const import_options *o, int number, const shape **out) {
  const shape *declared = m->entry->parameters.data[number]->shape;
  literal *value = NULL;
  *out = NULL;
  if (o->argument_shapes || o->arguments) {
    if (number >= o->argument_count) return status_ok();
    if (o->argument_shapes) *out = o->argument_shapes[number];
    if (!*out && o->arguments && o->arguments[number]) *out = o->arguments[number]->shape;
    return status_ok();
  }
  if (o->shape) return shape_is_array(declared) ? o->shape(o->shape_context, a, number, declared, out) : status_ok();
  if (!o->argument) return status_ok();
  TRY(o->argument(o->argument_context, a, number, declared, &value));
  if (value) *out = value->shape;
  return status_ok();
}

static heddle_status check(arena *a, const instruction *p, int number, const shape *given, bool is_open) {
  const shape *declared = p->shape;
  bool fits = given->dtype == declared->dtype && given->rank == declared->rank && shape_is_static(given);
  for (int d = 0; fits && d < declared->rank; d++) {
    const int64_t bound = declared->dims[d], size = given->dims[d];
    if (!shape_is_dynamic_dim(declared, d)) fits = size == bound;
    else fits = size >= 0 && (is_open || bound < 0 || size <= bound);
  }
  if (fits) return shape_check(given, p->where);
  return status_at(HEDDLE_INVALID, p->where, "parameter %d (" STR_FMT ") is declared %s, its argument has the shape %s",
                   number, STR_ARG(p->name), shape_text(a, declared), shape_text(a, given));
}

// Of a dynamic parameter; of others what is given is compared where arguments are.
static heddle_status resize_parameter(resizing *r, module *m, int number, const shape *given) {
  instruction *p = m->entry->parameters.data[number];
  if (!given || !is_dynamic(p->shape)) return status_ok();
  TRY(check(r->scratch, p, number, given, r->open != NULL));
  ptr_map_put(r->scratch, &r->declared, p, (void *)p->shape);
  p->shape = with_dims(m->arena, p->shape, given->dims, 0);
  return status_ok();
}

// The sizes of `from`, as `declared` is laid out.
static const shape *declare(arena *a, const shape *declared, const shape *from) {
  if (shape_is_array(from)) return shape_with_layout(a, from, declared->layout);
  if (!shape_is_tuple(from)) return from;
  const shape **elements = arena_array(a, const shape *, from->tuple_size);
  for (int k = 0; k < from->tuple_size; k++) elements[k] = declare(a, declared->elements[k], from->elements[k]);
  return shape_tuple(a, from->tuple_size, elements);
}

static void declare_entry(module *m) {
  const shape *declared = m->entry_parameters_layout;
  const int count = m->entry->parameters.size;
  if (declared) {
    const shape **all = arena_array(m->arena, const shape *, count);
    for (int k = 0; k < count; k++)
      all[k] = declare(m->arena, declared->elements[k], m->entry->parameters.data[k]->shape);
    m->entry_parameters_layout = shape_tuple(m->arena, count, all);
  }
  if (m->entry_result_layout) m->entry_result_layout = declare(m->arena, m->entry_result_layout, m->entry->root->shape);
}

heddle_status bounded_parameters_resize(arena *a, module *m, const import_options *options) {
  const instruction_list *parameters = &m->entry->parameters;
  resizing r = {.scratch = a, .open = options->open, .misfit = status_ok()};
  bool any = false;
  for (int k = 0; k < parameters->size; k++) any |= is_dynamic(parameters->data[k]->shape);
  if (!any) return status_ok();
  for (int k = 0; k < parameters->size; k++) {
    const shape *given;
    TRY(ask(a, m, options, k, &given));
    TRY(resize_parameter(&r, m, k, given));
  }
  if (r.declared.size == 0) return status_ok();
  TRY(resize_all(&r, m->entry));
  TRY(module_remove_uncalled(a, m, &r.replaced));
  for (int k = 0; k < m->computations.size; k++) TRY(computation_sort(a, m->computations.data[k]));
  declare_entry(m);
  return module_verify(m);
}
