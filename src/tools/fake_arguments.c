// Values from what the program asks of them (argument_use.h). Distinct numbers are drawn one from each of as many equal
// parts of their range, which gives them in order; shuffling comes after.
#include "tools/fake_arguments.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "hlo/tile_sharding.h"
#include "tools/argument_use.h"
#include "tools/split_mix.h"

typedef struct fake_source {
  const argument_use *uses;
  int use_count;
  literal **first;  // of the first device
  uint64_t state;
  bool large;
} fake_source;

static int64_t random_below(uint64_t *state, int64_t count) {
  return (int64_t)(split_mix_next(state) % (uint64_t)(count > 0 ? count : 1));
}

// What an integer type holds; floats hold all integers asked for here, some of them rounded.
static int64_t largest_integer(dtype t) {
  if (!dtype_is_integer(t)) return INT64_MAX;
  const int bits = dtypes[t].bits - dtype_is_signed(t);
  return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static int64_t smallest_integer(dtype t) {
  if (dtypes[t].class == CLASS_UNSIGNED || t == DTYPE_PRED) return 0;
  return dtype_is_signed(t) && dtypes[t].bits < 64 ? -largest_integer(t) - 1 : -INT64_MAX;
}

// --- numbers in a range

static int compare_numbers(const void *l, const void *r) {
  const int64_t x = *(const int64_t *)l, y = *(const int64_t *)r;
  return (x > y) - (x < y);
}

static void shuffle(int64_t *numbers, int64_t count, uint64_t *state) {
  for (int64_t i = count - 1; i > 0; i--) {
    const int64_t k = random_below(state, i + 1), number = numbers[i];
    numbers[i] = numbers[k];
    numbers[k] = number;
  }
}

// `count` numbers of [0, size). Those that cannot be distinct are not.
static void draw(int64_t *numbers, int64_t count, int64_t size, const argument_use *use, uint64_t *state) {
  const bool is_unique = use->is_unique && count <= size;
  const int64_t part = is_unique ? size / count : 0, rest = is_unique ? size % count : 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t start = i * part + (i < rest ? i : rest);
    numbers[i] = is_unique ? start + random_below(state, part + (i < rest)) : random_below(state, size);
  }
  if (use->is_sorted && !is_unique) qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  if (!use->is_sorted && is_unique) shuffle(numbers, count, state);
}

static void fill_range(arena *a, literal *l, const argument_use *use, uint64_t *state) {
  const int64_t count = shape_element_count(l->shape);
  const int64_t most = largest_integer(l->shape->dtype);
  const int64_t highest = use->highest < most ? use->highest : most;
  const int64_t lowest = use->lowest < highest ? use->lowest : highest;
  int64_t *numbers = arena_array(a, int64_t, count);
  if (count > 0) draw(numbers, count, highest - lowest == INT64_MAX ? INT64_MAX : highest - lowest + 1, use, state);
  for (int64_t i = 0; i < count; i++) literal_set_int(l, i, lowest + numbers[i]);
}

// Keys around zero, as many as there are elements, as far as the type has them.
static argument_use key_range(const shape *s) {
  const int64_t count = shape_element_count(s), least = smallest_integer(s->dtype);
  const int64_t lowest = -(count / 2) > least ? -(count / 2) : least;
  return (argument_use){.has_bounds = true, .lowest = lowest, .highest = lowest + count - 1, .is_unique = true};
}

// --- index vectors

static int64_t component_size(const index_vectors *v, int k, dtype t) {
  const int64_t most = largest_integer(t), highest = v->highest[k] < most ? v->highest[k] : most;
  return highest < INT64_MAX ? highest + 1 : highest;
}

// How many there are; INT64_MAX where they cannot be counted.
static int64_t vector_count(const index_vectors *v, dtype t) {
  int64_t count = 1;
  for (int k = 0; k < v->component_count; k++)
    if (__builtin_mul_overflow(count, component_size(v, k, t), &count)) return INT64_MAX;
  return count;
}

// Every vector is a number, its components the digits: in the order of the numbers the vectors are sorted.
static void set_vector(literal *l, const index_vectors *v, int64_t position, int64_t stride, int64_t number) {
  for (int k = v->component_count - 1; k >= 0; k--) {
    const int64_t size = component_size(v, k, l->shape->dtype);
    literal_set_int(l, position + k * stride, number % size);
    number /= size;
  }
}

static void fill_vectors(arena *a, literal *l, const argument_use *use, uint64_t *state) {
  const index_vectors *v = &use->vectors;
  const shape *s = l->shape;
  int64_t stride = 1;
  for (int d = v->vector_dim + 1; d < s->rank; d++) stride *= s->dims[d];
  const int64_t count = shape_element_count(s) / v->component_count, each = count / v->batches;
  int64_t *numbers = arena_array(a, int64_t, count);
  for (int64_t b = 0; b < v->batches && each > 0; b++)
    draw(numbers + b * each, each, vector_count(v, s->dtype), use, state);
  for (int64_t i = 0; i < count; i++)
    set_vector(l, v, i / stride * stride * v->component_count + i % stride, stride, numbers[i]);
}

// Whether the array's dims are those of the vectors; parameters may be declared otherwise than they are used.
static bool holds_vectors(const shape *s, const index_vectors *v) {
  if (v->component_count == 0 || v->vector_dim > s->rank || shape_element_count(s) == 0) return false;
  const int64_t components = v->vector_dim == s->rank ? 1 : s->dims[v->vector_dim];
  return components == v->component_count && shape_element_count(s) / components % v->batches == 0;
}

// --- other values

static void fill_constant(literal *l, argument_constant constant) {
  const dtype t = l->shape->dtype;
  const bool is_whole = dtype_is_integer(t) || t == DTYPE_PRED;
  for (int64_t i = 0; i < shape_element_count(l->shape); i++) {
    if (constant == ARGUMENT_ALL_BITS) literal_set_int(l, i, -1);
    else if (constant == ARGUMENT_LOWEST && is_whole) literal_set_int(l, i, smallest_integer(t) - (t == DTYPE_S64));
    else if (constant == ARGUMENT_LOWEST) literal_set_double(l, i, -HUGE_VAL);
    else if (constant == ARGUMENT_HIGHEST && is_whole) literal_set_int(l, i, t == DTYPE_U64 ? -1 : largest_integer(t));
    else if (constant == ARGUMENT_HIGHEST) literal_set_double(l, i, HUGE_VAL);
    else literal_set_double(l, i, constant == ARGUMENT_ONE);
  }
}

static void fill_key(literal *l, uint64_t *state) {
  for (int64_t i = 0; i < shape_element_count(l->shape); i++) literal_set_int(l, i, (int64_t)split_mix_next(state));
}

// A symmetric matrix (Hermitian without imaginary parts) with a diagonal above the sum of each row has a Cholesky
// factor, and its triangles are far from singular.
static void make_definite(literal *l) {
  const shape *s = l->shape;
  if (s->rank < 2 || dtype_is_integer(s->dtype) || s->dims[s->rank - 1] != s->dims[s->rank - 2]) return;
  const int64_t n = s->dims[s->rank - 1], each = n * n;
  for (int64_t start = 0; start < shape_element_count(s); start += each)
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < i; j++) {
        const double value = literal_get_double(l, start + i * n + j);
        literal_set_double(l, start + i * n + j, value);
        literal_set_double(l, start + j * n + i, value);
      }
      literal_set_double(l, start + i * n + i, (double)n + fabs(literal_get_double(l, start + i * n + i)));
    }
}

// Loops and conditionals may hang on whole scalars, and devices that part ways wait for each other in vain.
static bool is_shared(const shape *s) { return s->rank == 0 && (dtype_is_integer(s->dtype) || s->dtype == DTYPE_PRED); }

static heddle_status fake_leaf(void *context, arena *a, int number, const shape *s, literal **out) {
  fake_source *f = context;
  if (number >= f->use_count && is_shared(s)) {
    *out = f->first[number % f->use_count];
    return status_ok();
  }
  const argument_use *use = &f->uses[number % f->use_count];
  const bool is_integer = dtype_is_integer(s->dtype);
  TRY(literal_create(a, s, out));
  if (use->constant != ARGUMENT_ANY) {
    fill_constant(*out, use->constant);
  } else if (holds_vectors(s, &use->vectors)) {
    fill_vectors(a, *out, use, &f->state);
  } else if (use->has_bounds && s->dtype != DTYPE_PRED) {
    fill_range(a, *out, use, &f->state);
  } else if (use->is_unique && is_integer) {
    const argument_use keys = key_range(s);
    fill_range(a, *out, &keys, &f->state);
  } else if (use->is_key && is_integer) {
    fill_key(*out, &f->state);
  } else {
    execute_random_fill(*out, &f->state, f->large);
    if (use->is_definite) make_definite(*out);
  }
  if (number < f->use_count) f->first[number] = *out;
  return status_ok();
}

// What stands outside the borders of a divided program is one array, which all devices have.
static bool is_written_undivided(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (tile_sharding_is_move(m->computations.data[c]->instructions.data[k])) return true;
  return false;
}

heddle_status fake_arguments(arena *a, const module *m, unsigned seed, bool large, argument_list *out) {
  fake_source f = {.state = seed, .large = large};
  f.uses = argument_use_find(a, m, &f.use_count);
  f.first = arena_array(a, literal *, f.use_count);
  return argument_list_make(a, m, is_written_undivided(m) ? 0 : INT_MAX, fake_leaf, &f, out);
}
