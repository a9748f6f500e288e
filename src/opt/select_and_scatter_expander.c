// Select-and-scatter expander.
//
// First a reduce-window of two operands finds the place (as a linear index) of each window's winner; -1 stands for none
// yet, and for padding. Then every element takes the values of the windows that chose it. Along a dim of stride s an
// element p lies in the windows q = (p + padding) / s - j for the few j with a window longer than j s, so that both the
// winners' places and the source's values, each repeated s times and shifted by j windows, have the operand's dims:
//   result = init;  for each j, first windows first: result = place_j == iota ? scatter(result, source_j) : result
// Windows that do not overlap need one such step, 3x3 with stride 2 four. All of it is elementwise: nothing is written
// twice and the order of the sums is fixed. Where windows overlap many times, or the operand is dilated, the places are
// the indices of a scatter.
#include "opt/passes.h"

#include "opt/rewrite.h"

// The most steps written out; each is a handful of instructions.
enum { STEPS_MAX = 32 };

typedef struct expansion {
  builder b;
  const instruction *original;
  const window *window;
  const shape *operand, *source;
  dtype index_type;
  instruction *positions;  // of the winners; the source's dims
} expansion;

static const window_dim *dim_of(const expansion *x, int d) { return &x->window->dims[d]; }

static int64_t span(const window_dim *w) { return (w->size - 1) * w->window_dilation + 1; }

// How many windows an element may lie in along the dim.
static int64_t overlap(const window_dim *w) { return (span(w) + w->stride - 1) / w->stride; }

// --- winners

// (v, i), (w, j) -> the second if it exists and there is no first, or the first is not selected.
static computation *winner_computation(const expansion *x) {
  computation *c = module_add_computation(x->b.computation->module, STR("winner"));
  const builder b = builder_in(c);
  const shape *value = shape_scalar(b.arena, x->operand->dtype), *position = shape_scalar(b.arena, x->index_type);
  instruction *v = computation_add_parameter(c, 0, STR("v"), value);
  instruction *i = computation_add_parameter(c, 1, STR("i"), position);
  instruction *w = computation_add_parameter(c, 2, STR("w"), value);
  instruction *j = computation_add_parameter(c, 3, STR("j"), position);
  instruction *stays = builder_add(&b, HLO_CALL, shape_scalar(b.arena, DTYPE_PRED), 2, (instruction *[]){v, w});
  instruction_set_called(stays, 1, &x->original->called[0]);
  instruction *zero = builder_scalar_int(&b, x->index_type, 0);
  instruction *is_first = builder_compare(&b, i, zero, COMPARE_LT);
  instruction *exists = builder_compare(&b, j, zero, COMPARE_GE);
  instruction *wins = builder_binary(&b, HLO_OR, is_first, builder_unary(&b, HLO_NOT, stays));
  instruction *changes = builder_binary(&b, HLO_AND, exists, wins);
  instruction *best = builder_select(&b, changes, w, v);
  instruction *at = builder_select(&b, changes, j, i);
  computation_set_root(c, builder_tuple(&b, 2, (instruction *[]){best, at}));
  return c;
}

// The linear index of every element, in the operand's dims.
static instruction *element_positions(const expansion *x) {
  const int64_t count = shape_element_count(x->operand);
  instruction *line = builder_iota(&x->b, x->index_type, 1, &count, 0);
  return builder_reshape(&x->b, line, x->operand->rank, x->operand->dims);
}

static instruction *winner_positions(const expansion *x, instruction *positions) {
  instruction *zero = builder_scalar_int(&x->b, x->operand->dtype, 0);
  instruction *none = builder_scalar_int(&x->b, x->index_type, -1);
  instruction *i = builder_add(&x->b, HLO_REDUCE_WINDOW, x->operand, 4,
                               (instruction *[]){x->original->operands[0], positions, zero, none});
  i->attributes->window = *x->window;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_WINDOW);
  instruction_set_called(i, 1, (computation *[]){winner_computation(x)});
  return builder_element(&x->b, builder_infer(&x->b, i), 1);
}

// --- by windows that are shifted over the operand

// [a, b] -> [a s, b t]: each element as often as its dim's stride.
static instruction *repeat(const expansion *x, instruction *values) {
  int64_t split[2 * SHAPE_MAX_RANK], joined[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < x->source->rank; d++) {
    const int64_t stride = dim_of(x, d)->stride;
    positions[d] = rank;
    split[rank++] = x->source->dims[d];
    if (stride > 1) split[rank++] = stride;
    joined[d] = x->source->dims[d] * stride;
  }
  if (rank == x->source->rank) return values;
  const shape *s = shape_array(x->b.arena, values->shape->dtype, rank, split);
  return builder_reshape(&x->b, builder_broadcast(&x->b, values, s, x->source->rank, positions), x->source->rank,
                         joined);
}

// The repeated values as they lie over the operand's elements when taken from `step` windows before.
static instruction *shift(const expansion *x, instruction *repeated, const int64_t *step, instruction *fill) {
  padding_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < x->operand->rank; d++) {
    const int64_t low = step[d] * dim_of(x, d)->stride - dim_of(x, d)->padding_low;
    dims[d] = (padding_dim){low, x->operand->dims[d] - repeated->shape->dims[d] - low, 0};
  }
  return builder_pad(&x->b, repeated, fill, dims);
}

static instruction *apply_scatter(const expansion *x, instruction *current, instruction *addend) {
  instruction *map = builder_add(&x->b, HLO_MAP, current->shape, 2, (instruction *[]){current, addend});
  int64_t all[SHAPE_MAX_RANK];
  for (int d = 0; d < current->shape->rank; d++) all[d] = d;
  builder_set_dimensions(&x->b, map, current->shape->rank, all);
  instruction_set_called(map, 1, &x->original->called[1]);
  return map;
}

// From the first window an element lies in, which is the farthest step, to the last.
static bool next_step(const expansion *x, int64_t *step) {
  for (int d = x->operand->rank; d-- > 0;) {
    if (step[d]-- > 0) return true;
    step[d] = overlap(dim_of(x, d)) - 1;
  }
  return false;
}

static instruction *expand_by_shifts(const expansion *x, instruction *element_position) {
  int64_t step[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < x->operand->rank; d++) step[d] = overlap(dim_of(x, d)) - 1;
  instruction *init = x->original->operands[2];
  instruction *none = builder_scalar_int(&x->b, x->index_type, -1);
  instruction *positions = repeat(x, x->positions);
  instruction *source = repeat(x, x->original->operands[1]);
  const shape *s = shape_array(x->b.arena, x->source->dtype, x->operand->rank, x->operand->dims);
  instruction *result = builder_broadcast(&x->b, init, s, 0, NULL);
  do {
    instruction *position = shift(x, positions, step, none);
    instruction *changed = apply_scatter(x, result, shift(x, source, step, init));
    instruction *chosen = builder_compare(&x->b, position, element_position, COMPARE_EQ);
    result = builder_select(&x->b, chosen, changed, result);
  } while (next_step(x, step));
  return result;
}

// --- by a scatter

// All dims as one: f32[n] scatter(init, places[m,1], source[m,1]).
static instruction *expand_by_scatter(const expansion *x) {
  const int64_t total = shape_element_count(x->operand), count = shape_element_count(x->source);
  const int64_t column[2] = {count, 1};
  const shape *s = shape_array(x->b.arena, x->source->dtype, 1, &total);
  instruction *positions = builder_reshape(&x->b, x->positions, 2, column);
  instruction *updates = builder_reshape(&x->b, x->original->operands[1], 2, column);
  instruction *start = builder_broadcast(&x->b, x->original->operands[2], s, 0, NULL);
  instruction *i = builder_add(&x->b, HLO_SCATTER, s, 3, (instruction *[]){start, positions, updates});
  static const int64_t zero[] = {0}, one[] = {1};
  i->attributes->update_window_dims = (int_list){one, 1};
  i->attributes->scatter_dims_to_operand_dims = (int_list){zero, 1};
  i->attributes->index_vector_dim = 1;
  static const hlo_attribute_id required[] = {HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS,
                                              HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS,
                                              HLO_ATTRIBUTE_INDEX_VECTOR_DIM};
  for (size_t k = 0; k < sizeof required / sizeof *required; k++) attributes_mark(i->attributes, required[k]);
  instruction_set_called(i, 1, &x->original->called[1]);
  return builder_reshape(&x->b, i, x->operand->rank, x->operand->dims);
}

static bool has_few_steps(const expansion *x) {
  int64_t steps = 1;
  for (int d = 0; d < x->operand->rank; d++) {
    const window_dim *w = dim_of(x, d);
    if (w->base_dilation != 1 || overlap(w) > STEPS_MAX || w->stride > x->operand->dims[d] + span(w)) return false;
    steps *= overlap(w);
    if (steps > STEPS_MAX) return false;
  }
  return 2 * x->operand->rank <= SHAPE_MAX_RANK;
}

static instruction *expand(instruction *i) {
  if (shape_element_count(i->operands[1]->shape) == 0) {
    const builder b = builder_for(i);
    return builder_broadcast(&b, i->operands[2], i->shape, 0, NULL);
  }
  expansion x = {.b = builder_for(i),
                 .original = i,
                 .window = &i->attributes->window,
                 .operand = i->operands[0]->shape,
                 .source = i->operands[1]->shape};
  x.index_type = shape_element_count(x.operand) <= INT32_MAX ? DTYPE_S32 : DTYPE_S64;
  instruction *element_position = element_positions(&x);
  x.positions = winner_positions(&x, element_position);
  return has_few_steps(&x) ? expand_by_shifts(&x, element_position) : expand_by_scatter(&x);
}

static bool can_expand(const instruction *i) {
  return i->opcode == HLO_SELECT_AND_SCATTER && shape_is_static(i->operands[0]->shape) &&
         shape_is_static(i->operands[1]->shape) && i->attributes->window.rank == i->operands[0]->shape->rank &&
         i->operands[0]->shape->rank > 0;
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, can_expand, expand); }

const pass opt_select_and_scatter_expander = {
    .name = "select-and-scatter-expander",
    .summary = "select-and-scatters become the windows' winners and where they add",
    .order_reason = "before the call and map inliners, as it makes calls and maps of its computations",
    .use = PASS_NEEDED,
    .run = run,
};
