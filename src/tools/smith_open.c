// A dim is a number or an open size, which is a value of the program: so programs can say shapes as JAX's exports do,
// with the sum of two sizes behind a concatenation and their product behind a reshape.
#include "tools/smith_open.h"

#include "base/arena.h"
#include "base/vec.h"
#include "tools/split_mix.h"

enum { MOST_RANK = 4, MOST_DIMS = 256, MOST_SYMBOLS = 2, MOST_OPEN = 3, MOST_STATIC = 5, PARAMETERS = 3 };

// Which sizes are open, and what they are: entries with an equal number are equal.
typedef struct open_dim {
  int64_t size;  // -1: open
  int value;     // the tensor<i32> that says it
} open_dim;

typedef struct open_array {
  int value;
  int rank;
  int dims[MOST_RANK];  // by number
} open_array;

typedef struct maker {
  arena *arena;
  text out;
  uint64_t state;
  int values;  // %v0 to that
  int dim_count;
  open_dim dims[MOST_DIMS];
  int derived;  // sizes that are quotients
  VEC(open_array) pool;
} maker;

static int draw(maker *m, int below) { return (int)(split_mix_next(&m->state) % (uint64_t)below); }

static open_array draw_array(maker *m) { return m->pool.data[draw(m, m->pool.size)]; }

// --- sizes

static int static_dim(maker *m, int64_t size) {
  for (int k = 0; k < m->dim_count; k++)
    if (m->dims[k].size == size) return k;
  m->dims[m->dim_count] = (open_dim){size, -1};
  return m->dim_count++;
}

static int new_dim(maker *m, int value) {
  m->dims[m->dim_count] = (open_dim){-1, value};
  return m->dim_count++;
}

static bool is_open(const maker *m, int dim) { return m->dims[dim].size < 0; }

static int open_count(const maker *m, const open_array *x) {
  int count = 0;
  for (int d = 0; d < x->rank; d++) count += is_open(m, x->dims[d]);
  return count;
}

static const char *type_of(const maker *m, const open_array *x, const char *element) {
  text t = {0};
  for (int d = 0; d < x->rank; d++) {
    if (is_open(m, x->dims[d])) text_puts(&t, "?x");
    else text_printf(&t, "%lldx", (long long)m->dims[x->dims[d]].size);
  }
  const char *type = arena_printf(m->arena, "tensor<%s%s>", text_cstr(&t), element);
  text_free(&t);
  return type;
}

static const char *f32(const maker *m, const open_array *x) { return type_of(m, x, "f32"); }

static int number(maker *m, int64_t value) {
  text_printf(&m->out, "  %%v%d = stablehlo.constant dense<%lld> : tensor<i32>\n", m->values, (long long)value);
  return m->values++;
}

static int size_of(maker *m, int dim) { return is_open(m, dim) ? m->dims[dim].value : number(m, m->dims[dim].size); }

static int of_sizes(maker *m, const char *op, int left, int right) {
  text_printf(&m->out, "  %%v%d = stablehlo.%s %%v%d, %%v%d : tensor<i32>\n", m->values, op, left, right);
  return m->values++;
}

// What an operation on sizes makes of two dims.
static int dim_of(maker *m, const char *op, int left, int right) {
  const int64_t x = m->dims[left].size, y = m->dims[right].size;
  if (x >= 0 && y >= 0) return static_dim(m, op[0] == 'a' ? x + y : x * y);
  const int l = size_of(m, left), r = size_of(m, right);
  return new_dim(m, of_sizes(m, op, l, r));
}

static bool has_room(const maker *m) { return m->dim_count + 4 < MOST_DIMS; }

// A tensor<Nxi32> of the array's sizes.
static int shape_of(maker *m, const open_array *x) {
  int parts[MOST_RANK];
  for (int d = 0; d < x->rank; d++) {
    const int size = size_of(m, x->dims[d]);
    text_printf(&m->out, "  %%v%d = stablehlo.reshape %%v%d : (tensor<i32>) -> tensor<1xi32>\n", m->values, size);
    parts[d] = m->values++;
  }
  text_printf(&m->out, "  %%v%d = stablehlo.concatenate ", m->values);
  for (int d = 0; d < x->rank; d++) text_printf(&m->out, "%s%%v%d", d ? ", " : "", parts[d]);
  text_puts(&m->out, ", dim = 0 : (");
  for (int d = 0; d < x->rank; d++) text_puts(&m->out, d ? ", tensor<1xi32>" : "tensor<1xi32>");
  text_printf(&m->out, ") -> tensor<%dxi32>\n", x->rank);
  return m->values++;
}

// --- operations: each adds an array, or gives up

static void keep(maker *m, open_array x) {
  x.value = m->values++;
  vec_push(m->arena, &m->pool, x);
}

static int constant(maker *m, const char *value) {
  text_printf(&m->out, "  %%v%d = stablehlo.constant dense<%s> : tensor<f32>\n", m->values, value);
  return m->values++;
}

static void make_unary(maker *m) {
  static const char *const ops[] = {"tanh", "negate", "abs", "logistic", "cosine", "floor"};
  const open_array x = draw_array(m);
  text_printf(&m->out, "  %%v%d = stablehlo.%s %%v%d : %s\n", m->values, ops[draw(m, 6)], x.value, f32(m, &x));
  keep(m, x);
}

static bool same_dims(const open_array *x, const open_array *y) {
  bool same = x->rank == y->rank;
  for (int d = 0; same && d < x->rank; d++) same = x->dims[d] == y->dims[d];
  return same;
}

// Another array of the same sizes, or the same one.
static open_array partner_of(maker *m, const open_array *x) {
  for (int tries = 0; tries < 8; tries++) {
    const open_array y = draw_array(m);
    if (same_dims(x, &y)) return y;
  }
  return *x;
}

static void make_binary(maker *m) {
  static const char *const ops[] = {"add", "subtract", "multiply", "maximum", "minimum"};
  const open_array x = draw_array(m), y = partner_of(m, &x);
  text_printf(&m->out, "  %%v%d = stablehlo.%s %%v%d, %%v%d : %s\n", m->values, ops[draw(m, 5)], x.value, y.value,
              f32(m, &x));
  keep(m, x);
}

static void make_select(maker *m) {
  const open_array x = draw_array(m), y = partner_of(m, &x);
  const char *type = f32(m, &x), *flags = type_of(m, &x, "i1");
  text_printf(&m->out, "  %%v%d = stablehlo.compare LT, %%v%d, %%v%d : (%s, %s) -> %s\n", m->values, x.value, y.value,
              type, type, flags);
  const int less = m->values++;
  text_printf(&m->out, "  %%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : %s, %s\n", m->values, less, y.value, x.value,
              flags, type);
  keep(m, x);
}

static open_array without(const open_array *x, int dim) {
  open_array y = {.rank = x->rank - 1};
  for (int d = 0, to = 0; d < x->rank; d++)
    if (d != dim) y.dims[to++] = x->dims[d];
  return y;
}

static void make_reduce(maker *m) {
  const open_array x = draw_array(m);
  if (x.rank < 2) return;
  const int dim = draw(m, x.rank), op = draw(m, 2);
  static const char *const ops[] = {"add", "maximum"}, *const zeros[] = {"0.0", "0xFF800000"};
  const open_array y = without(&x, dim);
  const int zero = constant(m, zeros[op]);
  text_printf(&m->out,
              "  %%v%d = stablehlo.reduce(%%v%d init: %%v%d) applies stablehlo.%s across dimensions = [%d] : (%s, "
              "tensor<f32>) -> %s\n",
              m->values, x.value, zero, ops[op], dim, f32(m, &x), f32(m, &y));
  keep(m, y);
}

// An array with one dim less, along it, beside one that has it.
static void make_broadcast(maker *m) {
  const open_array x = draw_array(m);
  for (int tries = 0; tries < 8; tries++) {
    const open_array y = draw_array(m);
    for (int dim = 0; dim < x.rank; dim++) {
      const open_array less = without(&x, dim);
      if (x.rank < 2 || !same_dims(&less, &y)) continue;
      const int shape = shape_of(m, &x);
      text_printf(&m->out, "  %%v%d = stablehlo.dynamic_broadcast_in_dim %%v%d, %%v%d, dims = [", m->values, y.value,
                  shape);
      for (int d = 0; d < y.rank; d++) text_printf(&m->out, "%s%d", d ? ", " : "", d + (d >= dim));
      text_printf(&m->out, "] : (%s, tensor<%dxi32>) -> %s\n", f32(m, &y), x.rank, f32(m, &x));
      const int wide = m->values++;
      text_printf(&m->out, "  %%v%d = stablehlo.subtract %%v%d, %%v%d : %s\n", m->values, x.value, wide, f32(m, &x));
      keep(m, x);
      return;
    }
  }
}

static void make_iota(maker *m) {
  const open_array x = draw_array(m);
  const int shape = shape_of(m, &x);
  text_printf(&m->out, "  %%v%d = stablehlo.dynamic_iota %%v%d, dim = %d : (tensor<%dxi32>) -> %s\n", m->values, shape,
              draw(m, x.rank), x.rank, f32(m, &x));
  const int iota = m->values++;
  text_printf(&m->out, "  %%v%d = stablehlo.sine %%v%d : %s\n", m->values, iota, f32(m, &x));
  keep(m, x);
}

static void make_transpose(maker *m) {
  const open_array x = draw_array(m);
  if (x.rank < 2) return;
  int order[MOST_RANK];
  open_array y = {.rank = x.rank};
  for (int d = 0; d < x.rank; d++) order[d] = d;
  for (int d = x.rank - 1; d > 0; d--) {
    const int other = draw(m, d + 1), kept = order[d];
    order[d] = order[other];
    order[other] = kept;
  }
  text_printf(&m->out, "  %%v%d = stablehlo.transpose %%v%d, dims = [", m->values, x.value);
  for (int d = 0; d < x.rank; d++) {
    y.dims[d] = x.dims[order[d]];
    text_printf(&m->out, "%s%d", d ? ", " : "", order[d]);
  }
  text_printf(&m->out, "] : (%s) -> %s\n", f32(m, &x), f32(m, &y));
  keep(m, y);
}

static void make_reverse(maker *m) {
  const open_array x = draw_array(m);
  text_printf(&m->out, "  %%v%d = stablehlo.reverse %%v%d, dims = [%d] : %s\n", m->values, x.value, draw(m, x.rank),
              f32(m, &x));
  keep(m, x);
}

static void make_concatenate(maker *m) {
  const open_array x = draw_array(m), other = partner_of(m, &x);
  const int dim = draw(m, x.rank);
  if (!has_room(m)) return;
  open_array y = x;
  y.dims[dim] = dim_of(m, "add", x.dims[dim], other.dims[dim]);
  text_printf(&m->out, "  %%v%d = stablehlo.concatenate %%v%d, %%v%d, dim = %d : (%s, %s) -> %s\n", m->values, x.value,
              other.value, dim, f32(m, &x), f32(m, &other), f32(m, &y));
  keep(m, y);
}

static void make_pad(maker *m) {
  const open_array x = draw_array(m);
  if (!has_room(m)) return;
  const int dim = draw(m, x.rank), low = draw(m, 3), high = draw(m, 3);
  open_array y = x;
  y.dims[dim] = dim_of(m, "add", x.dims[dim], static_dim(m, low + high));
  const int value = constant(m, "0.5");
  text_printf(&m->out, "  %%v%d = stablehlo.pad %%v%d, %%v%d", m->values, x.value, value);
  static const char *const names[] = {"low", "high", "interior"};
  for (int part = 0; part < 3; part++) {
    text_printf(&m->out, ", %s = [", names[part]);
    for (int d = 0; d < x.rank; d++)
      text_printf(&m->out, "%s%d", d ? ", " : "", d == dim && part < 2 ? (part ? high : low) : 0);
    text_putc(&m->out, ']');
  }
  text_printf(&m->out, " : (%s, tensor<f32>) -> %s\n", f32(m, &x), f32(m, &y));
  keep(m, y);
}

// Two dims become one.
static void make_reshape(maker *m) {
  const open_array x = draw_array(m);
  if (x.rank < 2 || !has_room(m)) return;
  const int dim = draw(m, x.rank - 1);
  open_array y = without(&x, dim + 1);
  y.dims[dim] = dim_of(m, "multiply", x.dims[dim], x.dims[dim + 1]);
  const int shape = shape_of(m, &y);
  text_printf(&m->out, "  %%v%d = stablehlo.dynamic_reshape %%v%d, %%v%d : (%s, tensor<%dxi32>) -> %s\n", m->values,
              x.value, shape, f32(m, &x), y.rank, f32(m, &y));
  keep(m, y);
}

static void make_dot(maker *m) {
  const open_array x = draw_array(m);
  for (int tries = 0; tries < 8 && x.rank == 2; tries++) {
    const open_array y = draw_array(m);
    for (int d = 0; d < y.rank && y.rank == 2; d++) {
      if (y.dims[d] != x.dims[1]) continue;
      const open_array z = {.rank = 2, .dims = {x.dims[0], y.dims[1 - d]}};
      text_printf(&m->out,
                  "  %%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [1] x [%d] : (%s, %s) -> %s\n",
                  m->values, x.value, y.value, d, f32(m, &x), f32(m, &y), f32(m, &z));
      const int product = m->values++;
      text_printf(&m->out, "  %%v%d = stablehlo.tanh %%v%d : %s\n", m->values, product, f32(m, &z));
      keep(m, z);
      return;
    }
  }
}

// The first elements along an open dim, with steps or without: as many as a quotient says.
static void make_part(maker *m) {
  const open_array x = draw_array(m);
  const int dim = draw(m, x.rank), by = 2 + draw(m, 2), has_steps = draw(m, 2);
  if (!is_open(m, x.dims[dim]) || m->derived > 0 || !has_room(m)) return;
  m->derived++;
  open_array y = x, ends = x;
  const int one_less = number(m, by - 1), divisor = number(m, by);
  const int rounded = has_steps ? of_sizes(m, "add", size_of(m, x.dims[dim]), one_less) : size_of(m, x.dims[dim]);
  y.dims[dim] = new_dim(m, of_sizes(m, "divide", rounded, divisor));
  if (!has_steps) ends.dims[dim] = y.dims[dim];
  const int limits = shape_of(m, &ends);
  for (int part = 0; part < 2; part++) {
    text_printf(&m->out, "  %%v%d = stablehlo.constant dense<[", m->values++);
    for (int d = 0; d < x.rank; d++)
      text_printf(&m->out, "%s%d", d ? ", " : "", part == 0 ? 0 : d == dim && has_steps ? by : 1);
    text_printf(&m->out, "]> : tensor<%dxi32>\n", x.rank);
  }
  const char *list = arena_printf(m->arena, "tensor<%dxi32>", x.rank);
  text_printf(&m->out, "  %%v%d = stablehlo.real_dynamic_slice %%v%d, %%v%d, %%v%d, %%v%d : (%s, %s, %s, %s) -> %s\n",
              m->values, x.value, m->values - 2, limits, m->values - 1, f32(m, &x), list, list, list, f32(m, &y));
  keep(m, y);
}

// --- programs

static void add_parameters(maker *m, text *list, int symbol_dims[][2], int *used) {
  for (int p = 0; p < PARAMETERS; p++) {
    open_array x = {.value = m->values++, .rank = 1 + draw(m, 3)};
    for (int d = 0; d < x.rank; d++) {
      const int which = p == 0 && d == 0 ? 0 : draw(m, MOST_SYMBOLS + 2);
      const int open = which < *used ? which : *used;  // symbols come in order
      if (which >= MOST_SYMBOLS) {
        x.dims[d] = static_dim(m, 1 + draw(m, MOST_STATIC));
        continue;
      }
      if (open == *used) {
        symbol_dims[open][0] = p;
        symbol_dims[open][1] = d;
        m->dims[open].size = -1;
        (*used)++;
      }
      x.dims[d] = open;
    }
    text_printf(list, "%s%%v%d: %s", p ? ", " : "", x.value, f32(m, &x));
    vec_push(m->arena, &m->pool, x);
  }
}

static int get_size(maker *m, const open_array *x, int dim) {
  text_printf(&m->out, "  %%v%d = stablehlo.get_dimension_size %%v%d, dim = %d : (%s) -> tensor<i32>\n", m->values,
              x->value, dim, f32(m, x));
  return m->values++;
}

// What is one symbol is asserted to be.
static void assert_sizes(maker *m, int symbol_dims[][2], int used) {
  for (int k = 0; k < used; k++) m->dims[k].value = get_size(m, &m->pool.data[symbol_dims[k][0]], symbol_dims[k][1]);
  for (int p = 0; p < PARAMETERS; p++)
    for (int d = 0; d < m->pool.data[p].rank; d++) {
      const int dim = m->pool.data[p].dims[d];
      if (!is_open(m, dim) || (symbol_dims[dim][0] == p && symbol_dims[dim][1] == d)) continue;
      const int size = get_size(m, &m->pool.data[p], d);
      text_printf(&m->out, "  %%v%d = stablehlo.compare EQ, %%v%d, %%v%d : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
                  m->values, size, m->dims[dim].value);
      text_printf(&m->out,
                  "  stablehlo.custom_call @shape_assertion(%%v%d) {api_version = 2 : i32, error_message = \"sizes "
                  "differ\", has_side_effect = true} : (tensor<i1>) -> ()\n",
                  m->values++);
    }
}

typedef void (*make_fn)(maker *m);

static void add_operations(maker *m, int operations) {
  static const make_fn all[] = {make_unary,  make_binary,    make_binary,    make_select,
                                make_reduce, make_reduce,    make_broadcast, make_broadcast,
                                make_iota,   make_transpose, make_reverse,   make_concatenate,
                                make_pad,    make_reshape,   make_dot,       make_part};
  enum { COUNT = sizeof all / sizeof *all };
  for (int k = 0; k < operations; k++) {
    const int before = m->pool.size;
    all[draw(m, COUNT)](m);
    // Powers of sizes are up to the third, and two sizes of one array have few elements.
    if (m->pool.size > before && open_count(m, &m->pool.data[before]) > MOST_OPEN) vec_drop(&m->pool);
  }
}

smith_open_program smith_open_make(arena *a, uint64_t seed, int operations) {
  maker m = {.arena = a, .state = seed, .dim_count = MOST_SYMBOLS};
  int symbol_dims[MOST_SYMBOLS + 1][2] = {{0}}, used = 0;
  text head = {0};
  add_parameters(&m, &head, symbol_dims, &used);
  assert_sizes(&m, symbol_dims, used);
  add_operations(&m, operations);
  const open_array last = vec_last(&m.pool), other = draw_array(&m);
  const char *types = arena_printf(a, "%s, %s", f32(&m, &last), f32(&m, &other));
  text all = {0};
  text_printf(&all, "func.func public @main(%s) -> (%s) {\n%s  return %%v%d, %%v%d : %s\n}\n", text_cstr(&head), types,
              text_cstr(&m.out), last.value, other.value, types);
  const smith_open_program program = {str_copy(a, text_view(&all)), used};
  text_free(&head);
  text_free(&m.out);
  text_free(&all);
  return program;
}

flag_list smith_open_sizes(arena *a, int symbol_count) {
  static const char *const one[] = {"1", "2", "7", "16", "33"}, *const two[] = {"1,1", "2,5", "7,3", "16,9", "5,34"};
  flag_list sizes = {0};
  for (int k = 0; k < 5; k++) vec_push(a, &sizes, symbol_count == 1 ? one[k] : two[k]);
  return sizes;
}
