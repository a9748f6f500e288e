// What an operation asks of an operand is carried back to where the operand comes from: users before operands, and
// through calls in both directions. Each round over the module is linear; results of calls ask something of their
// callees only in the round after the one that found it, hence three rounds.
#include "tools/argument_use.h"

#include "hlo/combiner.h"
#include "hlo/index_dims.h"

typedef struct analysis {
  arena *arena;
  argument_use **found;  // by the instruction's id: one for each array of its value, or null
} analysis;

static int array_count(const shape *s) {
  int count = shape_is_array(s);
  for (int i = 0; i < s->tuple_size; i++) count += array_count(s->elements[i]);
  return count;
}

static argument_use *uses_of(analysis *x, const instruction *i) {
  argument_use **found = &x->found[i->id];
  if (!*found) *found = arena_array(x->arena, argument_use, array_count(i->shape));
  return *found;
}

static void merge_vectors(analysis *x, index_vectors *into, const index_vectors *from) {
  const bool is_new = into->component_count == 0 && from->component_count > 0;
  if (is_new) {
    *into = *from;
    into->highest = arena_array(x->arena, int64_t, from->component_count);
  }
  if (into->component_count != from->component_count) return;
  for (int k = 0; k < into->component_count; k++)
    if (is_new || from->highest[k] < into->highest[k]) into->highest[k] = from->highest[k];
}

static void merge(analysis *x, argument_use *into, const argument_use *from) {
  if (from->has_bounds) {
    const bool is_new = !into->has_bounds;
    const int64_t lowest = is_new || from->lowest > into->lowest ? from->lowest : into->lowest;
    const int64_t highest = is_new || from->highest < into->highest ? from->highest : into->highest;
    if (lowest <= highest) {
      into->has_bounds = true;
      into->lowest = lowest;
      into->highest = highest;
    }
  }
  into->is_sorted |= from->is_sorted;
  into->is_unique |= from->is_unique;
  into->is_key |= from->is_key;
  into->is_definite |= from->is_definite;
  if (into->constant == ARGUMENT_ANY) into->constant = from->constant;
  merge_vectors(x, &into->vectors, &from->vectors);
}

// An array's own use; for operands that are arrays.
static void ask(analysis *x, const instruction *i, int operand, argument_use use) {
  const instruction *of = i->operands[operand];
  if (shape_is_array(of->shape)) merge(x, uses_of(x, of), &use);
}

static argument_use bounded(int64_t lowest, int64_t highest) {
  return (argument_use){.has_bounds = true, .lowest = lowest, .highest = highest > lowest ? highest : lowest};
}

// --- what operations ask

// Start indices of a slice of `sizes` of operand 0: one scalar a dim, or one vector.
static void ask_starts(analysis *x, const instruction *i, int first, const int64_t *sizes) {
  const shape *whole = instruction_operand_shape(i, 0);
  int64_t least = INT64_MAX;
  const bool is_vector = i->operand_count == first + 1 && instruction_operand_shape(i, first)->rank == 1;
  for (int d = 0; d < whole->rank; d++) {
    const int64_t room = whole->dims[d] - sizes[d];
    if (room < least) least = room;
    if (!is_vector && first + d < i->operand_count) ask(x, i, first + d, bounded(0, room));
  }
  if (is_vector && whole->rank > 0) ask(x, i, first, bounded(0, least));
}

static void ask_dynamic_slice(analysis *x, const instruction *i) { ask_starts(x, i, 1, i->shape->dims); }

static void ask_dynamic_update(analysis *x, const instruction *i) {
  ask_starts(x, i, 2, instruction_operand_shape(i, 1)->dims);
}

// How far a scatter's windows reach along a dim of what it updates.
static int64_t window_size(const index_dims *d, const shape *updates, int64_t dim) {
  if (!index_dims_has_window(d, dim)) return 1;
  int position = 0;
  for (int64_t before = 0; before < dim; before++) position += index_dims_has_window(d, before);
  return position < d->window.size ? updates->dims[d->window.data[position]] : 1;
}

// Vectors of several batches need to differ within a batch only; that is kept where the batches come first.
static int64_t batch_count(const shape *indices, int_list batching) {
  int64_t count = 1;
  for (int k = 0; k < batching.size; k++) {
    if (!int_list_has(batching, k)) return 1;
    count *= indices->dims[k];
  }
  return count;
}

static void ask_vectors(analysis *x, const instruction *i, int operand, const int64_t *highest, int count,
                        int_list batching) {
  const shape *indices = instruction_operand_shape(i, operand);
  const hlo_attributes *at = i->attributes;
  argument_use use = {.is_sorted = at->indices_are_sorted, .is_unique = at->unique_indices};
  use.vectors = (index_vectors){.component_count = count,
                                .highest = arena_array(x->arena, int64_t, count),
                                .vector_dim = (int)at->index_vector_dim,
                                .batches = batch_count(indices, batching)};
  int64_t least = INT64_MAX;
  for (int k = 0; k < count; k++) {
    use.vectors.highest[k] = highest[k] > 0 ? highest[k] : 0;
    if (use.vectors.highest[k] < least) least = use.vectors.highest[k];
  }
  if (count == 0) return;
  use.has_bounds = true;
  use.highest = least;
  ask(x, i, operand, use);
}

static void ask_gather(analysis *x, const instruction *i) {
  const index_dims d = index_dims_of_gather(i->attributes);
  const shape *whole = instruction_operand_shape(i, 0);
  int64_t highest[SHAPE_MAX_RANK];
  for (int k = 0; k < d.map.size; k++)
    highest[k] = whole->dims[d.map.data[k]] - i->attributes->slice_sizes.data[d.map.data[k]];
  ask_vectors(x, i, 1, highest, d.map.size, d.indices_batching);
}

static void ask_scatter(analysis *x, const instruction *i) {
  const index_dims d = index_dims_of_scatter(i->attributes);
  const int indices = i->operand_count / 2;
  const shape *whole = instruction_operand_shape(i, 0), *updates = instruction_operand_shape(i, indices + 1);
  int64_t highest[SHAPE_MAX_RANK];
  for (int k = 0; k < d.map.size; k++)
    highest[k] = whole->dims[d.map.data[k]] - window_size(&d, updates, d.map.data[k]);
  ask_vectors(x, i, indices, highest, d.map.size, d.indices_batching);
}

// The value that combining with changes nothing.
static argument_constant neutral(const computation *reducer) {
  switch (combiner_opcode(reducer)) {
    case HLO_ADD:
    case HLO_OR:
    case HLO_XOR: return ARGUMENT_ZERO;
    case HLO_MULTIPLY: return ARGUMENT_ONE;
    case HLO_AND: return ARGUMENT_ALL_BITS;
    case HLO_MAXIMUM: return ARGUMENT_LOWEST;
    case HLO_MINIMUM: return ARGUMENT_HIGHEST;
    default: return ARGUMENT_ANY;
  }
}

static void ask_reduction(analysis *x, const instruction *i) {
  const argument_use use = {.constant = neutral(i->called[0])};
  for (int k = i->operand_count / 2; k < i->operand_count; k++) ask(x, i, k, use);
}

static void ask_select_and_scatter(analysis *x, const instruction *i) {
  ask(x, i, 2, (argument_use){.constant = neutral(i->called[1])});
}

// Keys that are equal let values change places.
static void ask_sort(analysis *x, const instruction *i) {
  const bool is_integral = dtype_is_integer(instruction_operand_shape(i, 0)->dtype);
  if (is_integral && (i->operand_count > 1 || i->attributes->is_stable))
    ask(x, i, 0, (argument_use){.is_unique = true});
}

// From 0 to 1, or with mean 0 and deviation 1: the other way around there is nothing to draw.
static void ask_rng(analysis *x, const instruction *i) {
  ask(x, i, 0, (argument_use){.constant = ARGUMENT_ZERO});
  ask(x, i, 1, (argument_use){.constant = ARGUMENT_ONE});
}

static void ask_key(analysis *x, const instruction *i) { ask(x, i, 0, (argument_use){.is_key = true}); }

// Programs that draw random numbers by arithmetic begin by mixing the key's words.
static void ask_mixing(analysis *x, const instruction *i) {
  if (dtypes[i->shape->dtype].class != CLASS_UNSIGNED) return;
  for (int k = 0; k < i->operand_count; k++) ask(x, i, k, (argument_use){.is_key = true});
}

static void ask_matrix(analysis *x, const instruction *i) { ask(x, i, 0, (argument_use){.is_definite = true}); }

static void ask_branch(analysis *x, const instruction *i) {
  if (instruction_operand_shape(i, 0)->dtype != DTYPE_PRED) ask(x, i, 0, bounded(0, i->called_count - 1));
}

// Arrays that meet have to be of one size: the same for all dims of one bound.
static void ask_size(analysis *x, const instruction *i) {
  if (i->attributes->dimensions.size != 1) return;
  const int64_t bound = i->shape->dims[i->attributes->dimensions.data[0]], size = bound - bound / 3;
  ask(x, i, 1, bounded(size, size));
}

static void ask_sizes(analysis *x, const instruction *i) {
  for (int k = 1; k < i->operand_count && k <= i->shape->rank; k++)
    ask(x, i, k, bounded(i->shape->dims[k - 1], i->shape->dims[k - 1]));
}

// Groups that are no longer together than what they divide.
static void ask_ragged_dot(analysis *x, const instruction *i) {
  const shape *left = instruction_operand_shape(i, 0), *groups = instruction_operand_shape(i, 2);
  if (i->attributes->lhs_ragged_dims.size != 1 || groups->rank == 0) return;
  const int64_t count = groups->dims[groups->rank - 1];
  ask(x, i, 2, bounded(0, count > 0 ? left->dims[i->attributes->lhs_ragged_dims.data[0]] / count : 0));
}

// Sizes that both ends agree on and that fit everywhere: nothing moves.
static void ask_ragged_all_to_all(analysis *x, const instruction *i) {
  for (int k = 2; k < 6; k++) ask(x, i, k, bounded(0, 0));
}

static void (*const asks[HLO_OPCODE_COUNT])(analysis *x, const instruction *i) = {
    [HLO_DYNAMIC_SLICE] = ask_dynamic_slice,
    [HLO_DYNAMIC_UPDATE_SLICE] = ask_dynamic_update,
    [HLO_GATHER] = ask_gather,
    [HLO_SCATTER] = ask_scatter,
    [HLO_REDUCE] = ask_reduction,
    [HLO_REDUCE_WINDOW] = ask_reduction,
    [HLO_SELECT_AND_SCATTER] = ask_select_and_scatter,
    [HLO_SORT] = ask_sort,
    [HLO_RNG] = ask_rng,
    [HLO_RNG_BIT_GENERATOR] = ask_key,
    [HLO_XOR] = ask_mixing,
    [HLO_CHOLESKY] = ask_matrix,
    [HLO_TRIANGULAR_SOLVE] = ask_matrix,
    [HLO_CONDITIONAL] = ask_branch,
    [HLO_SET_DIMENSION_SIZE] = ask_size,
    [HLO_DYNAMIC_RESHAPE] = ask_sizes,
    [HLO_RAGGED_DOT] = ask_ragged_dot,
    [HLO_RAGGED_ALL_TO_ALL] = ask_ragged_all_to_all,
};

// --- where values come from

// Every array of one value to every array of another. What only holds for the array as it stands stays behind where
// dims change.
static void pass_on(analysis *x, const argument_use *from, const shape *shape, const instruction *to) {
  if (array_count(to->shape) != array_count(shape)) return;
  argument_use *into = uses_of(x, to);
  const bool is_same = shape_is_array(shape) ? shape_same_dims(shape, to->shape) : true;
  for (int k = 0; k < array_count(shape); k++) {
    argument_use use = from[k];
    if (!is_same) {
      use.vectors = (index_vectors){0};
      use.is_definite = false;
    }
    merge(x, &into[k], &use);
  }
}

static void from_first(analysis *x, const instruction *i, const argument_use *use) {
  pass_on(x, use, i->shape, i->operands[0]);
}

static void from_two(analysis *x, const instruction *i, const argument_use *use) {
  from_first(x, i, use);
  pass_on(x, use, i->shape, i->operands[1]);
}

static void from_all(analysis *x, const instruction *i, const argument_use *use) {
  for (int k = 0; k < i->operand_count; k++) pass_on(x, use, i->shape, i->operands[k]);
}

static void from_branches(analysis *x, const instruction *i, const argument_use *use) {
  pass_on(x, use, i->shape, i->operands[1]);
  pass_on(x, use, i->shape, i->operands[2]);
}

static void from_elements(analysis *x, const instruction *i, const argument_use *use) {
  for (int k = 0; k < i->operand_count; k++) {
    pass_on(x, use, i->operands[k]->shape, i->operands[k]);
    use += array_count(i->operands[k]->shape);
  }
}

static void from_tuple(analysis *x, const instruction *i, const argument_use *use) {
  const instruction *tuple = i->operands[0];
  argument_use *into = uses_of(x, tuple);
  for (int k = 0; k < i->attributes->index; k++) into += array_count(tuple->shape->elements[k]);
  for (int k = 0; k < array_count(i->shape); k++) merge(x, &into[k], &use[k]);
}

static void from_callees(analysis *x, const instruction *i, const argument_use *use) {
  for (int k = 0; k < i->called_count; k++) pass_on(x, use, i->shape, i->called[k]->root);
}

// The state before the first step and the one after each.
static void from_loop(analysis *x, const instruction *i, const argument_use *use) {
  from_first(x, i, use);
  pass_on(x, use, i->shape, i->called[1]->root);
}

static void from_checked(analysis *x, const instruction *i, const argument_use *use) {
  if (str_is(i->attributes->custom_call_target, "AssumeGatherIndicesInBound")) from_first(x, i, use);
}

static void (*const sources[HLO_OPCODE_COUNT])(analysis *x, const instruction *i, const argument_use *use) = {
    [HLO_BITCAST] = from_first,
    [HLO_BROADCAST] = from_first,
    [HLO_CONVERT] = from_first,
    [HLO_COPY] = from_first,
    [HLO_REDUCE_PRECISION] = from_first,
    [HLO_RESHAPE] = from_first,
    [HLO_REVERSE] = from_first,
    [HLO_SLICE] = from_first,
    [HLO_TRANSPOSE] = from_first,
    [HLO_DYNAMIC_SLICE] = from_first,
    [HLO_DYNAMIC_RESHAPE] = from_first,
    [HLO_SET_DIMENSION_SIZE] = from_first,
    [HLO_GATHER] = from_first,
    [HLO_OPT_BARRIER] = from_first,
    [HLO_DOMAIN] = from_first,
    [HLO_ADD_DEPENDENCY] = from_first,
    [HLO_ALL_GATHER] = from_first,
    [HLO_COLLECTIVE_BROADCAST] = from_first,
    [HLO_COLLECTIVE_PERMUTE] = from_first,
    [HLO_PAD] = from_two,
    [HLO_DYNAMIC_UPDATE_SLICE] = from_two,
    [HLO_CONCATENATE] = from_all,
    [HLO_SELECT] = from_branches,
    [HLO_TUPLE] = from_elements,
    [HLO_GET_TUPLE_ELEMENT] = from_tuple,
    [HLO_CALL] = from_callees,
    [HLO_FUSION] = from_callees,
    [HLO_CONDITIONAL] = from_callees,
    [HLO_WHILE] = from_loop,
    [HLO_CUSTOM_CALL] = from_checked,
};

// --- what callees ask of their callers' operands

static void pass_parameter(analysis *x, const computation *callee, int number, const instruction *operand) {
  const instruction *parameter = callee->parameters.data[number];
  if (x->found[parameter->id]) pass_on(x, x->found[parameter->id], parameter->shape, operand);
}

static void through_call(analysis *x, const instruction *i) {
  const computation *callee = i->called[0];
  for (int k = 0; k < i->operand_count && k < callee->parameters.size; k++)
    pass_parameter(x, callee, k, i->operands[k]);
}

static void through_loop(analysis *x, const instruction *i) {
  for (int k = 0; k < i->called_count; k++) pass_parameter(x, i->called[k], 0, i->operands[0]);
}

static void through_branches(analysis *x, const instruction *i) {
  for (int k = 0; k < i->called_count && k + 1 < i->operand_count; k++)
    if (i->called[k]->parameters.size == 1) pass_parameter(x, i->called[k], 0, i->operands[k + 1]);
}

static void (*const passages[HLO_OPCODE_COUNT])(analysis *x, const instruction *i) = {
    [HLO_CALL] = through_call,        [HLO_FUSION] = through_call, [HLO_MAP] = through_call,
    [HLO_ASYNC_START] = through_call, [HLO_WHILE] = through_loop,  [HLO_CONDITIONAL] = through_branches,
};

// --- the module

static void visit(analysis *x, const instruction *i, bool is_first_round) {
  if (asks[i->opcode] && is_first_round) asks[i->opcode](x, i);
  if (passages[i->opcode] && i->called_count > 0) passages[i->opcode](x, i);
  if (sources[i->opcode] && x->found[i->id]) sources[i->opcode](x, i, x->found[i->id]);
}

static void run_round(analysis *x, const module *m, int round) {
  const int count = m->computations.size;
  for (int c = 0; c < count; c++) {
    // Callees before callers; in the second round the other way around.
    const instruction_list *all = &m->computations.data[round == 1 ? count - 1 - c : c]->instructions;
    for (int k = all->size - 1; k >= 0; k--) visit(x, all->data[k], round == 0);
  }
}

const argument_use *argument_use_find(arena *a, const module *m, int *count) {
  analysis x = {.arena = a, .found = arena_array(a, argument_use *, m->next_id)};
  for (int round = 0; round < 3; round++) run_round(&x, m, round);
  VEC(argument_use) all = {0};
  for (int p = 0; p < m->entry->parameters.size; p++) {
    const instruction *parameter = m->entry->parameters.data[p];
    const argument_use *uses = uses_of(&x, parameter);
    for (int k = 0; k < array_count(parameter->shape); k++) vec_push(a, &all, uses[k]);
  }
  *count = all.size;
  return all.data;
}
