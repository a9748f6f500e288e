// The kernel's entry is walked thread by thread (grid_walk.h). A store says itself which element it reaches; a call
// says at which index a function computes its results, from where the index maps of the users lead down to the
// instruction.
#include "tools/grid_bijection.h"

#include <limits.h>

#include "emit/grid_walk.h"
#include "index/hlo_indexing.h"
#include "tools/bijection.h"

typedef VEC(const indexing_map *) index_maps;

typedef struct counting {
  arena *arena;
  const kernel_plan *kernel;
  partition *functions;
  grid_count *count;
  int output;             // whose stores count; -1: none
  index_maps *maps;       // by function: from its indices to those of the array
  const instruction *of;  // for messages
  bool is_unknown;        // an index was
} counting;

static heddle_status begin(arena *a, const kernel_plan *kernel, const instruction *of, const shape *space,
                           grid_count *count, counting *out) {
  *out = (counting){.arena = a, .kernel = kernel, .count = count, .output = -1, .of = of};
  TRY(partition_kernel(a, kernel, &out->functions));
  out->maps = arena_array(a, index_maps, out->functions->function_count);
  if (count->space) return status_ok();
  const int64_t elements = shape_element_count(space);
  if (elements > BIJECTION_MAX_POINTS)
    return status_error(HEDDLE_UNIMPLEMENTED, "the array has more than %d elements", BIJECTION_MAX_POINTS);
  count->space = space;
  count->visits = arena_try_alloc(a, (size_t)elements + 1);
  return count->visits ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory to count elements");
}

// --- visits

static heddle_status count_element(counting *c, const int64_t *index) {
  const shape *s = c->count->space;
  int64_t linear = 0;
  for (int d = 0; d < s->rank; d++) {
    if (index[d] < 0 || index[d] >= s->dims[d])
      return status_error(HEDDLE_INVALID, "a thread of kernel @%s leaves " STR_FMT, c->kernel->name,
                          STR_ARG(c->of->name));
    linear = linear * s->dims[d] + index[d];
  }
  if (c->count->visits[linear] < UCHAR_MAX) c->count->visits[linear]++;
  c->count->points++;
  return status_ok();
}

// All values of the map's ranges.
static heddle_status count_points(counting *c, const indexing_map *m, const int64_t *dims) {
  int64_t ranges[SHAPE_MAX_RANK * 2], index[SHAPE_MAX_RANK];
  if (m->rt_count > 0 || m->range_count > SHAPE_MAX_RANK * 2) {
    c->is_unknown = true;
    return status_ok();
  }
  for (int r = 0; r < m->range_count; r++) ranges[r] = m->ranges[r].bounds.lower;
  for (int r = 0; r >= 0;) {
    if (indexing_map_contains(m, dims, ranges)) {
      indexing_map_evaluate(m, dims, ranges, index);
      TRY(count_element(c, index));
    }
    for (r = m->range_count - 1; r >= 0 && ranges[r]++ == m->ranges[r].bounds.upper; r--)
      ranges[r] = m->ranges[r].bounds.lower;
  }
  return status_ok();
}

static heddle_status visit(void *context, const grid_event *event) {
  counting *c = context;
  const bool counts = event->kind == GRID_STORE ? event->number == c->output : c->maps[event->number].size > 0;
  if (!counts) return status_ok();
  if (!event->indices) {
    c->is_unknown = true;
    return status_ok();
  }
  if (event->kind == GRID_STORE) return count_element(c, event->indices);
  const index_maps *maps = &c->maps[event->number];
  for (int m = 0; m < maps->size; m++) TRY(count_points(c, maps->data[m], event->indices));
  return status_ok();
}

// --- from a function's results down to the instruction

static bool is_given(const partition_function *f, const instruction *i) {
  for (int g = 0; g < f->given_count; g++)
    if (f->given[g] == i) return true;
  return false;
}

static void add_map(arena *a, ptr_map *found, const instruction *i, const indexing_map *m) {
  index_maps *list = ptr_map_get(found, i);
  if (m->is_empty) return;
  if (!list) ptr_map_put(a, found, i, list = arena_new(a, index_maps));
  for (int k = 0; k < list->size; k++)
    if (indexing_map_equal(list->data[k], m)) return;
  vec_push(a, list, m);
}

static const indexing_map *composed(arena *a, const indexing_map *first, const indexing_map *second) {
  return indexing_map_simplify(a, second ? indexing_map_compose(a, first, second) : first);
}

static heddle_status add_operands(arena *a, ptr_map *found, const instruction *i) {
  hlo_indexing indexing = {0};
  TRY(hlo_indexing_output_to_input(a, i, 0, &indexing));
  const index_maps *list = ptr_map_get(found, i);
  for (int k = 0; k < indexing.count; k++)
    for (int m = 0; m < indexing.operands[k].count; m++)
      for (int n = 0; n < list->size; n++)
        add_map(a, found, i->operands[k], composed(a, list->data[n], indexing.operands[k].maps[m].map));
  return status_ok();
}

// Every different map from the function's indices to those at which it computes `wanted`.
static heddle_status find_maps(counting *c, const partition_function *f, const instruction *wanted, index_maps *out) {
  arena *a = c->arena;
  ptr_map found = {0};
  instruction_list order = {0};
  const indexing_map *identity = indexing_map_identity(a, f->index_space->rank, f->index_space->dims);
  for (int r = 0; r < f->result_count; r++) {
    const partition_result *result = &f->results[r];
    add_map(a, &found, result->root, composed(a, identity, result->map));
  }
  TRY(computation_post_order(a, f->computation, &order));
  for (int i = order.size - 1; i >= 0 && order.data[i] != wanted; i--) {
    const instruction *x = order.data[i];
    if (ptr_map_has(&found, x) && x->operand_count > 0 && !is_given(f, x)) TRY(add_operands(a, &found, x));
  }
  const index_maps *list = ptr_map_get(&found, wanted);
  if (list) *out = *list;
  return status_ok();
}

static const instruction *named(const computation *c, str name) {
  for (int i = 0; i < c->instructions.size; i++)
    if (str_equal(c->instructions.data[i]->name, name)) return c->instructions.data[i];
  return NULL;
}

// A function that the entry calls itself: computations made for a hero have instructions of the same names.
static heddle_status find_computed(counting *c, const instruction *i) {
  for (int f = 0; f < c->functions->function_count; f++) {
    const partition_function *function = c->functions->functions[f];
    const instruction *x = function->index_space ? named(function->computation, i->name) : NULL;
    if (x) TRY(find_maps(c, function, x, &c->maps[f]));
  }
  return status_ok();
}

static heddle_status walk(counting *c, const target_description *target) {
  TRY(grid_walk(c->arena, c->kernel, c->functions, target, visit, c));
  if (!c->is_unknown) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, c->of->where, "which elements of " STR_FMT " threads reach only the run knows",
                   STR_ARG(c->of->name));
}

// --- what is asked

static int output_of(const kernel_plan *kernel, const instruction *i) {
  for (int n = 0; n < kernel->output_count; n++)
    if (kernel->outputs[n].root == i) return n;
  return -1;
}

static const shape *first_shape(const instruction *i) {
  return shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
}

// The operand whose elements an update writes, if the instruction is one that is made in place; null.
static const instruction *updates_of(const kernel_plan *kernel, const instruction *i) {
  if (kernel->hero == HERO_UPDATE_SLICE && i->opcode == HLO_DYNAMIC_UPDATE_SLICE) return i->operands[1];
  if (kernel->hero == HERO_SCATTER && i->opcode == HLO_SCATTER) return i->operands[i->operand_count / 2 + 1];
  return NULL;
}

heddle_status grid_bijection_add(arena *a, const kernel_plan *kernel, const target_description *target,
                                 const instruction *i, grid_count *count) {
  counting c;
  const instruction *updates = updates_of(kernel, i);
  TRY(begin(a, kernel, i, updates ? updates->shape : first_shape(i), count, &c));
  if (updates) {
    count->is_window = true;
    TRY(find_computed(&c, updates));
  } else {
    c.output = output_of(kernel, i);
    if (c.output < 0) TRY(find_computed(&c, i));
  }
  return walk(&c, target);
}

// Whether an emitter passes the instruction's values from one part to another: then what it reads is computed in a part
// as it is.
static bool is_passed_on(const counting *c, const instruction *i) {
  for (int f = 0; f < c->functions->function_count; f++)
    if (is_given(c->functions->functions[f], i)) return true;
  return false;
}

// The pass of a reduction kernel that combines the instruction's operands; null for other instructions. Of several
// reductions in a kernel, `whole` becomes the one that has the pass.
static const row_pass *pass_of(const kernel_plan **whole, const instruction *i) {
  const kernel_plan *kernel = *whole;
  const hero_grid_reductions *parts = &kernel->details.grid_reductions;
  for (int g = 0; kernel->hero == HERO_REDUCTIONS && g < parts->group_count; g++) {
    const kernel_plan *part = parts->groups[g].plan;
    const row_pass *pass = pass_of(&part, i);
    if (pass) *whole = part;
    if (pass) return pass;
  }
  if (kernel->hero != HERO_REDUCTION) return NULL;
  const row_passes *s = &kernel->details.grid_reduction.on_tiles.passes;
  for (int n = 0; n < s->pass_count; n++)
    for (int r = 0; r < s->passes[n].reductions.size; r++)
      if (s->passes[n].reductions.data[r].reduce == i) return &s->passes[n];
  return NULL;
}

// A pass gives what it combines as results at its own index, which is the operand's with neighbouring dims merged.
static void find_combined(counting *c, const kernel_plan *part, const row_pass *pass, const instruction *operand) {
  const computation *body = part->bodies[pass->body].computation;
  for (int f = 0; f < c->functions->function_count; f++) {
    const partition_function *function = c->functions->functions[f];
    if (function != partition_entry(c->functions, body)) continue;
    vec_push(c->arena, &c->maps[f], hlo_indexing_reshape(c->arena, function->index_space, first_shape(operand)));
  }
}

heddle_status grid_bijection_add_operand(arena *a, const kernel_plan *kernel, const target_description *target,
                                         const instruction *i, int operand, grid_count *count) {
  if (operand < 0 || operand >= i->operand_count)
    return status_at(HEDDLE_INVALID, i->where, STR_FMT " has no operand %d", STR_ARG(i->name), operand);
  counting c;
  const instruction *x = i->operands[operand];
  TRY(begin(a, kernel, x, first_shape(x), count, &c));
  const kernel_plan *part = kernel;
  const row_pass *pass = pass_of(&part, i);
  if (pass) {
    find_combined(&c, part, pass, x);
    return walk(&c, target);
  }
  if (is_passed_on(&c, i) || updates_of(kernel, i) == x) {
    TRY(find_computed(&c, x));
    return walk(&c, target);
  }
  TRY(find_computed(&c, i));
  hlo_indexing indexing = {0};
  TRY(hlo_indexing_output_to_input(a, i, 0, &indexing));
  const operand_maps *down = &indexing.operands[operand];
  for (int f = 0; f < c.functions->function_count; f++) {
    index_maps maps = {0};
    for (int n = 0; n < c.maps[f].size; n++)
      for (int m = 0; m < down->count; m++) vec_push(a, &maps, composed(a, c.maps[f].data[n], down->maps[m].map));
    c.maps[f] = maps;
  }
  return walk(&c, target);
}
