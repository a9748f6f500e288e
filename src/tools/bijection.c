// The maps to an instruction are those of the kernel's hero (tools/kernel_maps.h), composed with the index maps of
// all the users on the way down from the kernel's outputs: the plan and the indexing from which the code is made.
// Nothing is assumed about either; the points are counted one by one.
#include "tools/bijection.h"

#include <inttypes.h>
#include <limits.h>

#include "index/hlo_indexing.h"
#include "tools/kernel_maps.h"

// --- where an instruction is computed

typedef struct reach {
  arena *arena;
  ptr_map maps;  // instruction -> bijection_maps: every different map at which it is needed
  ptr_map kept;  // instructions that are computed in loops of their own, whoever needs them
} reach;

static bijection_maps *maps_of(const reach *r, const instruction *i) { return ptr_map_get(&r->maps, i); }

static void add_map(reach *r, const instruction *i, const indexing_map *m) {
  bijection_maps *list = maps_of(r, i);
  if (m->is_empty) return;
  if (!list) ptr_map_put(r->arena, &r->maps, i, list = arena_new(r->arena, bijection_maps));
  for (int k = 0; k < list->size; k++)
    if (indexing_map_equal(list->data[k], m)) return;
  vec_push(r->arena, list, m);
}

static const indexing_map *compose(arena *a, const indexing_map *first, const indexing_map *second) {
  return indexing_map_simplify(a, indexing_map_compose(a, first, second));
}

static heddle_status add_operands(reach *r, const instruction *i) {
  hlo_indexing indexing = {0};
  TRY(hlo_indexing_output_to_input(r->arena, i, 0, &indexing));
  const bijection_maps *list = maps_of(r, i);
  for (int k = 0; k < indexing.count; k++)
    for (int m = 0; m < indexing.operands[k].count; m++)
      for (int n = 0; n < list->size && !ptr_map_has(&r->kept, i->operands[k]); n++)
        add_map(r, i->operands[k], compose(r->arena, list->data[n], indexing.operands[k].maps[m].map));
  return status_ok();
}

// Operands before users, so that whoever uses an instruction has been followed before it.
static heddle_status follow(reach *r, const kernel_plan *kernel, const instruction *until) {
  instruction_list order = {0};
  TRY(computation_post_order(r->arena, kernel->computation, &order));
  for (int i = order.size; i-- > 0;) {
    const instruction *x = order.data[i];
    if (x == until) break;
    if (maps_of(r, x) && x->operand_count > 0) TRY(add_operands(r, x));
  }
  return status_ok();
}

// The number of the output that `i` is, or that stores it behind an update's window; -1 for others.
static int output_of(const kernel_plan *kernel, const instruction *i) {
  for (int n = 0; n < kernel->output_count; n++)
    if (kernel->outputs[n].root == i) return n;
  return i == kernel->hero_instruction ? 0 : -1;
}

heddle_status bijection_maps_to_instruction(arena *a, const kernel_plan *kernel, const target_description *target,
                                            const instruction *i, bijection_maps *out, const shape **space) {
  reach r = {.arena = a};
  kernel_maps stored;
  TRY(kernel_maps_find(a, kernel, target, &stored));
  const int output = output_of(kernel, i), written = stored.are_windows ? output : -1;
  *space = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  for (int n = 0; n < stored.list.size; n++) {
    const kernel_map *one = &stored.list.data[n];
    if (written >= 0 && one->output == written) {
      vec_push(a, out, one->map);
      *space = one->of->shape;
    }
    add_map(&r, one->of, one->map);
    if (one->output < 0) ptr_map_put(a, &r.kept, one->of, NULL);
  }
  if (written >= 0) return status_ok();
  // An output is written where it is stored, wherever else it is computed.
  for (int n = 0; n < stored.list.size; n++)
    if (stored.list.data[n].of == i && stored.list.data[n].output == output) vec_push(a, out, stored.list.data[n].map);
  if (out->size > 0) return status_ok();
  TRY(follow(&r, kernel, i));
  const bijection_maps *found = maps_of(&r, i);
  if (!found && stored.are_windows)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "where kernel @%s reads " STR_FMT " does not follow from the elements that it updates",
                     kernel->name, STR_ARG(i->name));
  if (!found)
    return status_at(HEDDLE_INVALID, i->where, "kernel @%s does not compute " STR_FMT, kernel->name, STR_ARG(i->name));
  *out = *found;
  return status_ok();
}

heddle_status bijection_maps_to_operand(arena *a, const kernel_plan *kernel, const target_description *target,
                                        const instruction *i, int operand, bijection_maps *out) {
  if (operand < 0 || operand >= i->operand_count)
    return status_at(HEDDLE_INVALID, i->where, STR_FMT " has no operand %d", STR_ARG(i->name), operand);
  kernel_maps stored;
  TRY(kernel_maps_find(a, kernel, target, &stored));
  for (int n = 0; n < stored.list.size; n++)
    if (stored.are_windows && stored.list.data[n].of == i->operands[operand] && output_of(kernel, i) >= 0)
      vec_push(a, out, stored.list.data[n].map);
  if (out->size > 0) return status_ok();
  if (stored.are_windows && output_of(kernel, i) >= 0)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "which elements of operand %d " STR_FMT " reads is known at run time only", operand,
                     STR_ARG(i->name));
  bijection_maps to_instruction = {0};
  const shape *space;
  TRY(bijection_maps_to_instruction(a, kernel, target, i, &to_instruction, &space));
  hlo_indexing indexing = {0};
  TRY(hlo_indexing_output_to_input(a, i, 0, &indexing));
  const operand_maps *maps = &indexing.operands[operand];
  for (int n = 0; n < to_instruction.size; n++)
    for (int m = 0; m < maps->count; m++) {
      const indexing_map *both = compose(a, to_instruction.data[n], maps->maps[m].map);
      if (!both->is_empty) vec_push(a, out, both);
    }
  return status_ok();
}

// --- counting

// All points of the box of dims and ranges, the last variable fastest.
typedef struct odometer {
  int count;
  const interval **bounds;
  int64_t *values;
} odometer;

static odometer odometer_create(arena *a, const indexing_map *m) {
  odometer o = {m->dim_count + m->range_count, NULL, NULL};
  o.bounds = arena_array(a, const interval *, o.count);
  o.values = arena_array(a, int64_t, o.count);
  for (int i = 0; i < o.count; i++) {
    o.bounds[i] = i < m->dim_count ? &m->dims[i].bounds : &m->ranges[i - m->dim_count].bounds;
    o.values[i] = o.bounds[i]->lower;
  }
  return o;
}

static bool odometer_next(odometer *o) {
  for (int i = o->count; i-- > 0;) {
    if (o->values[i]++ < o->bounds[i]->upper) return true;
    o->values[i] = o->bounds[i]->lower;
  }
  return false;
}

static heddle_status check_size(const indexing_map *m, const shape *s) {
  if (m->rt_count) return status_error(HEDDLE_UNIMPLEMENTED, "the index map depends on run-time values");
  uint64_t points = 1;
  for (int i = 0; i < m->dim_count; i++)
    if (__builtin_mul_overflow(points, interval_size(m->dims[i].bounds), &points)) points = UINT64_MAX;
  for (int i = 0; i < m->range_count; i++)
    if (__builtin_mul_overflow(points, interval_size(m->ranges[i].bounds), &points)) points = UINT64_MAX;
  if (points > BIJECTION_MAX_POINTS || shape_element_count(s) > BIJECTION_MAX_POINTS)
    return status_error(HEDDLE_UNIMPLEMENTED, "the index map has more than %d points", BIJECTION_MAX_POINTS);
  return status_ok();
}

static const char *element_text(arena *a, const shape *s, int64_t linear) {
  int64_t index[SHAPE_MAX_RANK];
  for (int i = s->rank; i-- > 0; linear /= s->dims[i]) index[i] = linear % s->dims[i];
  text t = {0};
  for (int i = 0; i < s->rank; i++) text_printf(&t, "%s%" PRId64, i ? ", " : "", index[i]);
  const char *result = arena_printf(a, "{%s}", text_cstr(&t));
  text_free(&t);
  return result;
}

// Row-major number of the element, or -1 if it lies outside of the array.
static int64_t linear_index(const shape *s, const int64_t *index) {
  int64_t linear = 0;
  for (int i = 0; i < s->rank; i++) {
    if (index[i] < 0 || index[i] >= s->dims[i]) return -1;
    linear = linear * s->dims[i] + index[i];
  }
  return linear;
}

static heddle_status count_visits(arena *a, const indexing_map *m, const shape *s, unsigned char *visits,
                                  int64_t *points) {
  odometer o = odometer_create(a, m);
  int64_t index[SHAPE_MAX_RANK] = {0};
  do {
    const int64_t *symbols = o.values + m->dim_count;
    if (!indexing_map_contains(m, o.values, symbols)) continue;
    indexing_map_evaluate(m, o.values, symbols, index);
    int64_t linear = linear_index(s, index);
    if (linear < 0) return status_error(HEDDLE_INVALID, "a point lies outside of the array");
    if (visits[linear] < UCHAR_MAX) visits[linear]++;
    ++*points;
  } while (odometer_next(&o));
  return status_ok();
}

static heddle_status check_map(arena *a, const indexing_map *m, const shape *s, unsigned char *visits,
                               int64_t *points) {
  if (m->is_empty) return status_ok();
  if (m->result_count != s->rank)
    return status_error(HEDDLE_INTERNAL, "found a map of %d results for an array of rank %d", m->result_count, s->rank);
  TRY(check_size(m, s));
  return count_visits(a, m, s, visits, points);
}

heddle_status bijection_judge(arena *a, const shape *s, const unsigned char *visits, int64_t points) {
  const int64_t count = shape_element_count(s);
  if (points == 0 && count > 0) return status_error(HEDDLE_INVALID, "no element is reached");
  for (int64_t i = 0; i < count; i++)
    if (visits[i] != 1)
      return status_error(HEDDLE_INVALID, "element %s is reached %d times, wanted once", element_text(a, s, i),
                          visits[i]);
  return status_ok();
}

heddle_status bijection_check(arena *a, const bijection_maps *maps, const shape *s, int64_t *points) {
  const int64_t count = shape_element_count(s);
  int64_t walked = 0;
  if (count > BIJECTION_MAX_POINTS)
    return status_error(HEDDLE_UNIMPLEMENTED, "the array has more than %d elements", BIJECTION_MAX_POINTS);
  unsigned char *visits = arena_try_alloc(a, (size_t)count + 1);
  if (!visits) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to count %" PRId64 " elements", count);
  for (int n = 0; n < maps->size; n++) TRY(check_map(a, maps->data[n], s, visits, &walked));
  if (points) *points = walked;
  return bijection_judge(a, s, visits, walked);
}
