// Converts between literals, which are trees of row-major arrays, and the program's parameters and results. Nothing is
// asked of the compiler: the program says what it takes and gives.
#include "api/run.h"

#include "api/program_shape.h"

// --- in

static bool is_of_shape(const shape *s, const program_shape *wanted) {
  bool is_same = s->dtype == wanted->type && s->rank == wanted->rank;
  for (int d = 0; is_same && d < s->rank; d++) is_same = s->dims[d] == wanted->dims[d];
  return is_same;
}

static heddle_status check_argument(arena *a, const program_shape *wanted, const literal *given, int number) {
  if (is_of_shape(given->shape, wanted)) return status_ok();
  return status_error(HEDDLE_INVALID, "argument %d: found %s, wanted %s", number, shape_text(a, given->shape),
                      shape_text(a, program_shape_of_literal(a, wanted)));
}

typedef VEC(literal *) leaf_list;

// Tokens are no arrays and have no leaf. Tuples nest at most SHAPE_MAX_NESTING deep.
static void add_leaves(arena *a, literal *value, leaf_list *out) {
  if (shape_is_array(value->shape)) vec_push(a, out, value);
  for (int i = 0; i < value->shape->tuple_size; i++) add_leaves(a, value->elements[i], out);
}

heddle_status run_bind_arrays(arena *a, compiled *c, const void *const *const *arguments, run *out) {
  *out = (run){.program = c, .callable = {&c->program, c->executable, c->buffers}};
  return invocation_bind(a, &out->callable, arguments, false, &out->invocation);
}

// The literals' data, of the device whose leaves begin at `first`.
static heddle_status arrays_of(arena *a, const program *p, const leaf_list *leaves, int first, const void ***out) {
  const void **arrays = arena_array(a, const void *, p->parameter_count);
  for (int i = 0; i < p->parameter_count && leaves->data; i++) {
    const literal *leaf = leaves->data[first + i];
    TRY(check_argument(a, &p->parameters[i].shape, leaf, i));
    arrays[i] = leaf->data;
  }
  *out = arrays;
  return status_ok();
}

heddle_status run_bind(arena *a, compiled *c, int argument_count, literal *const *arguments, run *out) {
  const program *p = &c->program;
  const int each = p->parameter_count, devices = p->device_count;
  *out = (run){.program = c, .callable = {&c->program, c->executable, c->buffers}};
  leaf_list leaves = {0};
  for (int i = 0; i < argument_count; i++) add_leaves(a, arguments[i], &leaves);
  const bool is_shared = leaves.size == each;
  if (!is_shared && leaves.size != devices * each)
    return status_error(HEDDLE_INVALID, "found %d arguments, wanted %d%s", leaves.size, each,
                        devices > 1 ? " for each device or for all" : "");
  const void ***arrays = arena_array(a, const void **, devices);
  for (int d = 0; d < devices; d++) TRY(arrays_of(a, p, &leaves, is_shared ? 0 : d * each, &arrays[d]));
  return invocation_bind(a, &out->callable, (const void *const *const *)arrays, is_shared, &out->invocation);
}

heddle_status run_execute(run *r) { return invocation_execute(&r->invocation); }

// --- out

heddle_status run_fetch_into(const run *r, int device, int number, void *memory, int64_t *dims) {
  return invocation_fetch(&r->invocation, device, number, memory, dims);
}

static heddle_status fetch_array(arena *a, const run *r, int device, int number, literal **out) {
  int64_t dims[PROGRAM_MAX_RANK];
  const program_shape *s = &r->program->program.results[number].shape;
  TRY(literal_create(a, program_shape_of_literal(a, s), out));
  TRY(run_fetch_into(r, device, number, (*out)->data, dims));
  if (!is_of_shape(shape_array(a, s->type, s->rank, dims), s)) (*out)->shape = shape_array(a, s->type, s->rank, dims);
  return status_ok();
}

// Where a walk over the structure of what a program returns stands.
typedef struct walk {
  const program_node *node;
  int result;
} walk;

// Tuples nest at most SHAPE_MAX_NESTING deep.
static heddle_status fetch(arena *a, const run *r, int device, walk *w, literal **out) {
  const program_node *node = w->node++;
  if (dtype_is_array(node->type)) return fetch_array(a, r, device, w->result++, out);
  literal **elements = arena_array(a, literal *, node->count);
  for (int i = 0; i < node->count; i++) TRY(fetch(a, r, device, w, &elements[i]));
  *out = literal_tuple(a, node->count, elements);
  if (node->type != DTYPE_TUPLE) (*out)->shape = shape_with_dtype(a, shape_token(a), node->type);
  return status_ok();
}

heddle_status run_fetch(arena *a, const run *r, literal **out) {
  const program *p = &r->program->program;
  literal **results = arena_array(a, literal *, p->device_count);
  for (int d = 0; d < p->device_count; d++) {
    walk w = {p->nodes, 0};
    TRY(fetch(a, r, d, &w, &results[d]));
  }
  *out = p->device_count == 1 ? results[0] : literal_tuple(a, p->device_count, results);
  return status_ok();
}

void run_release(run *r) { invocation_release(&r->invocation); }

heddle_status run_once(arena *a, compiled *c, int argument_count, literal *const *arguments, literal **out) {
  run r;
  TRY(run_bind(a, c, argument_count, arguments, &r));
  heddle_status s = run_execute(&r);
  if (status_is_ok(s)) s = run_fetch(a, &r, out);
  run_release(&r);
  return s;
}
