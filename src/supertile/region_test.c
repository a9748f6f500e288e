// Random operations: which elements of an operand a tile reads, by the interpreter. Each element of the operand is a
// bit of its own, and operations only move and join bits, so that one evaluation tells of every element of the result
// what it is made of. Regions hold all of that, and nothing around it.
#include "supertile/region.h"

#include "base/int64.h"
#include "opt/testing.h"

enum { OPERATIONS = 10000, MOST_ELEMENTS = 64, MOST_RANK = 3 };

typedef struct drawn {
  uint64_t seed;
  int rank;
  int64_t dims[MOST_RANK];  // of the operand
  text source;
  bool may_exceed;  // the region may be larger than what is read
} drawn;

static int64_t draw(drawn *x, int64_t least, int64_t most) {
  x->seed = x->seed * 6364136223846793005u + 1442695040888963407u;
  return least + (int64_t)((x->seed >> 33) % (uint64_t)(most - least + 1));
}

static void put_shape(drawn *x, int rank, const int64_t *dims) {
  text_puts(&x->source, "u64[");
  for (int d = 0; d < rank; d++) text_printf(&x->source, "%s%lld", d ? "," : "", (long long)dims[d]);
  text_puts(&x->source, "]");
}

static void put_root(drawn *x, int rank, const int64_t *dims, const char *rest) {
  text_puts(&x->source, "ROOT r = ");
  put_shape(x, rank, dims);
  text_printf(&x->source, " %s", rest);
}

// --- operations, each with its root

static void put_slice(drawn *x) {
  int64_t first[MOST_RANK] = {0}, last[MOST_RANK] = {0}, stride[MOST_RANK] = {0}, dims[MOST_RANK] = {0};
  for (int d = 0; d < x->rank; d++) {
    stride[d] = draw(x, 1, 3);
    first[d] = draw(x, 0, x->dims[d] - 1);
    last[d] = draw(x, first[d] + 1, x->dims[d]);
    dims[d] = (last[d] - first[d] + stride[d] - 1) / stride[d];
  }
  put_root(x, x->rank, dims, "slice(x), slice={");
  for (int d = 0; d < x->rank; d++)
    text_printf(&x->source, "%s[%d:%d:%d]", d ? "," : "", (int)first[d], (int)last[d], (int)stride[d]);
  text_puts(&x->source, "}");
}

static void put_reverse(drawn *x) {
  put_root(x, x->rank, x->dims, "reverse(x), dimensions={");
  text_printf(&x->source, "%d}", (int)draw(x, 0, x->rank - 1));
}

static void put_transpose(drawn *x) {
  int64_t order[MOST_RANK] = {0}, dims[MOST_RANK] = {0};
  for (int d = 0; d < x->rank; d++) order[d] = d;
  for (int d = x->rank - 1; d > 0; d--) {
    const int64_t other = draw(x, 0, d), kept = order[d];
    order[d] = order[other];
    order[other] = kept;
  }
  for (int d = 0; d < x->rank; d++) dims[d] = x->dims[order[d]];
  put_root(x, x->rank, dims, "transpose(x), dimensions={");
  for (int d = 0; d < x->rank; d++) text_printf(&x->source, "%s%d", d ? "," : "", (int)order[d]);
  text_puts(&x->source, "}");
}

static void put_broadcast(drawn *x) {
  int64_t dims[MOST_RANK + 1] = {0};
  const int64_t added = draw(x, 0, x->rank);
  int at = 0;
  for (int d = 0; d <= x->rank; d++) dims[d] = d == added ? 5 : x->dims[at++];
  put_root(x, x->rank + 1, dims, "broadcast(x), dimensions={");
  for (int d = 0; d < x->rank; d++) text_printf(&x->source, "%s%d", d ? "," : "", d + (d >= added));
  text_puts(&x->source, "}");
}

static void put_pad(drawn *x) {
  int64_t low[MOST_RANK] = {0}, high[MOST_RANK] = {0}, inside[MOST_RANK] = {0}, dims[MOST_RANK] = {0};
  for (int d = 0; d < x->rank; d++) {
    low[d] = draw(x, 0, 3) - (x->dims[d] > 3);
    high[d] = draw(x, 0, 3) - (x->dims[d] > 3);
    inside[d] = draw(x, 0, 2);
    dims[d] = x->dims[d] + (x->dims[d] - 1) * inside[d] + low[d] + high[d];
  }
  text_puts(&x->source, "z = u64[] constant(0) ");
  put_root(x, x->rank, dims, "pad(x, z), padding=");
  for (int d = 0; d < x->rank; d++)
    text_printf(&x->source, "%s%d_%d_%d", d ? "x" : "", (int)low[d], (int)high[d], (int)inside[d]);
  // A tile of nothing but padding takes one element all the same.
  x->may_exceed = true;
}

static void put_reshape(drawn *x) {
  const int64_t count = x->rank == 1 ? x->dims[0] : x->dims[0] * x->dims[1];
  int64_t dims[MOST_RANK] = {0};
  if (x->rank == 3) {
    dims[0] = count;
    dims[1] = x->dims[2];
    put_root(x, 2, dims, "reshape(x)");
    return;
  }
  dims[0] = count % 4 == 0 ? count / 4 : count;
  dims[1] = count / dims[0];
  put_root(x, 2, dims, "reshape(x)");
}

static void put_reduce(drawn *x) {
  const int64_t over = draw(x, 0, x->rank - 1);
  int64_t dims[MOST_RANK] = {0};
  int rank = 0;
  for (int d = 0; d < x->rank; d++)
    if (d != over) dims[rank++] = x->dims[d];
  text_puts(&x->source, "z = u64[] constant(0) ");
  put_root(x, rank, dims, "reduce(x, z), to_apply=or, dimensions={");
  text_printf(&x->source, "%d}", (int)over);
}

typedef struct window_numbers {
  int64_t size, stride, low, high, between, apart, result;
} window_numbers;

static window_numbers draw_window(drawn *x, int64_t size) {
  for (;;) {
    window_numbers w = {draw(x, 1, 3), draw(x, 1, 3), draw(x, 0, 2), draw(x, 0, 2), draw(x, 1, 2), draw(x, 1, 2), 0};
    const int64_t all = (size - 1) * w.between + 1 + w.low + w.high, taken = (w.size - 1) * w.apart + 1;
    w.result = all < taken ? 0 : (all - taken) / w.stride + 1;
    x->may_exceed |= w.between > 1 || w.apart > 1 || w.stride > w.size;
    if (w.result > 0) return w;
  }
}

static void put_windows(drawn *x, const window_numbers *w, int count) {
  static const char *const names[] = {"size", " stride", " pad", " lhs_dilate", " rhs_dilate"};
  text_puts(&x->source, "window={");
  for (int k = 0; k < 5; k++) {
    text_printf(&x->source, "%s=", names[k]);
    for (int d = 0; d < count; d++) {
      const int64_t of[] = {w[d].size, w[d].stride, w[d].low, w[d].between, w[d].apart};
      text_printf(&x->source, "%s%d", d ? "x" : "", (int)of[k]);
      if (k == 2) text_printf(&x->source, "_%d", (int)w[d].high);
    }
  }
  text_puts(&x->source, "}");
}

static void put_reduce_window(drawn *x) {
  window_numbers w[MOST_RANK] = {0};
  int64_t dims[MOST_RANK] = {0};
  for (int d = 0; d < x->rank; d++) {
    w[d] = draw_window(x, x->dims[d]);
    dims[d] = w[d].result;
  }
  text_puts(&x->source, "z = u64[] constant(0) ");
  put_root(x, x->rank, dims, "reduce-window(x, z), to_apply=or, ");
  put_windows(x, w, x->rank);
}

static void put_ones(drawn *x, const char *name, int rank, const int64_t *dims) {
  text_printf(&x->source, "%s_1 = u64[] constant(1) %s = ", name, name);
  put_shape(x, rank, dims);
  text_printf(&x->source, " broadcast(%s_1), dimensions={} ", name);
}

static void put_dot(drawn *x) {
  const int64_t over = draw(x, 0, x->rank - 1), other[2] = {4, x->dims[over]};
  int64_t dims[MOST_RANK] = {0};
  int rank = 0;
  for (int d = 0; d < x->rank; d++)
    if (d != over) dims[rank++] = x->dims[d];
  dims[rank++] = 4;
  put_ones(x, "y", 2, other);
  put_root(x, rank, dims, "dot(x, y), rhs_contracting_dims={1}, lhs_contracting_dims={");
  text_printf(&x->source, "%d}", (int)over);
}

// [batch, features, 1 dim]; groups of one or two features.
static void put_convolution(drawn *x) {
  if (x->rank != 3) {
    put_dot(x);
    return;
  }
  const bool has_groups = x->dims[1] % 2 == 0 && draw(x, 0, 1);
  const int64_t each = has_groups ? 2 : x->dims[1], groups = x->dims[1] / each;
  const window_numbers w = draw_window(x, x->dims[2]);
  const int64_t kernel[] = {each, 3 * groups, w.size}, dims[] = {x->dims[0], 3 * groups, w.result};
  put_ones(x, "k", 3, kernel);
  put_root(x, 3, dims, "convolution(x, k), dim_labels=bf0_io0->bf0, ");
  put_windows(x, &w, 1);
  if (groups > 1) text_printf(&x->source, ", feature_group_count=%d", (int)groups);
}

static void put_concatenate(drawn *x) {
  const int64_t along = draw(x, 0, x->rank - 1);
  int64_t dims[MOST_RANK] = {0};
  for (int d = 0; d < x->rank; d++) dims[d] = x->dims[d] * (d == along ? 2 : 1);
  put_ones(x, "y", x->rank, x->dims);
  text_puts(&x->source, "n = ");
  put_shape(x, x->rank, x->dims);
  text_puts(&x->source, " subtract(y, y) ");
  put_root(x, x->rank, dims, "concatenate(x, n), dimensions={");
  text_printf(&x->source, "%d}", (int)along);
  x->may_exceed = true;
}

static void put_gather(drawn *x) {
  const int64_t rows = 6;
  int64_t dims[MOST_RANK] = {0};
  memcpy(dims, x->dims, sizeof dims);
  dims[0] = rows;
  text_puts(&x->source, "i = s32[6,1] constant({");
  for (int k = 0; k < rows; k++) text_printf(&x->source, "%s{%d}", k ? "," : "", (int)draw(x, -2, x->dims[0] + 1));
  text_puts(&x->source, "}) ");
  put_root(x, x->rank, dims,
           "gather(x, i), collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, offset_dims={");
  for (int d = 1; d < x->rank; d++) text_printf(&x->source, "%s%d", d > 1 ? "," : "", d);
  text_puts(&x->source, "}, slice_sizes={1");
  for (int d = 1; d < x->rank; d++) text_printf(&x->source, ",%d", (int)x->dims[d]);
  text_puts(&x->source, "}");
  x->may_exceed = true;
}

static void (*const kinds[])(drawn *) = {put_slice,       put_reverse,     put_transpose, put_broadcast,
                                         put_pad,         put_reshape,     put_reduce,    put_dot,
                                         put_convolution, put_concatenate, put_gather,    put_reduce_window};
enum { KINDS = sizeof kinds / sizeof *kinds };

// --- the check

typedef struct tally {
  int found, border, unknown;
} tally;

typedef struct subject {
  arena *arena;
  const char *source;
  module *module;
  const instruction *root;
  const literal *bits;  // of the result
  bool may_exceed;
} subject;

// Bits of all that the tile is made of.
static uint64_t bits_of_tile(const subject *x, const region *tile, int64_t turn) {
  const shape *s = x->root->shape;
  uint64_t all = 0;
  for (int64_t e = 0; e < shape_element_count(s); e++) {
    int64_t rest = e;
    bool is_inside = true;
    for (int d = s->rank; d-- > 0; rest /= s->dims[d]) {
      const int64_t at = rest % s->dims[d], first = tile->dims[d].base + tile->dims[d].step * turn;
      is_inside = is_inside && at >= first && at < first + tile->dims[d].size;
    }
    if (is_inside) all |= (uint64_t)literal_get_int(x->bits, e);
  }
  return all;
}

static void check_box(const subject *x, const region *tile, const region *in, int64_t turn) {
  const uint64_t read = bits_of_tile(x, tile, turn);
  const shape *s = x->root->operands[0]->shape;
  int64_t least[MOST_RANK] = {INT32_MAX, INT32_MAX, INT32_MAX}, most[MOST_RANK] = {-1, -1, -1};
  for (int64_t e = 0; e < shape_element_count(s); e++) {
    if (!(read >> e & 1)) continue;
    int64_t rest = e;
    for (int d = s->rank; d-- > 0; rest /= s->dims[d]) {
      least[d] = int64_min(least[d], rest % s->dims[d]);
      most[d] = int64_max(most[d], rest % s->dims[d]);
    }
  }
  for (int d = 0; d < s->rank; d++) {
    const int64_t first = in->dims[d].base + in->dims[d].step * turn, last = first + in->dims[d].size - 1;
    const bool holds = first >= 0 && last < s->dims[d] && (!read || (first <= least[d] && last >= most[d]));
    const bool is_whole = in->dims[d].step == 0 && in->dims[d].size == s->dims[d];  // of windows that end before
    if (holds && (x->may_exceed || is_whole || (first == least[d] && last == most[d]))) continue;
    fail_msg("%s\nturn %d: dim %d from %d to %d, read %d to %d", x->source, (int)turn, d, (int)first, (int)last,
             (int)least[d], (int)most[d]);
  }
}

// All turns of a loop, or, where windows hang out, each tile on its own.
static void check_tiles(const subject *x, int dim, int64_t size, tally *t) {
  region_maps maps = {.arena = x->arena, .tile = size, .multiple = 1};
  const shape *s = x->root->shape;
  region tile = region_whole(x->arena, s), in;
  const int64_t turns = s->dims[dim] / size;
  tile.dims[dim] = (region_dim){0, size, size};
  const region_answer answer = region_of_operand(&maps, x->root, &tile, (region_turns){0, turns - 1}, 0, &in);
  if (answer == REGION_UNKNOWN && maps.multiple > 1 && maps.multiple <= s->dims[dim] && size % maps.multiple) {
    check_tiles(x, dim, maps.multiple, t);  // the size that is allowed
    return;
  }
  t->found += answer == REGION_FOUND;
  t->border += answer == REGION_BORDER;
  t->unknown += answer == REGION_UNKNOWN;
  for (int64_t turn = 0; turn < turns && answer == REGION_FOUND; turn++) check_box(x, &tile, &in, turn);
  for (int64_t turn = 0; turn < turns && answer == REGION_BORDER; turn++) {
    tile.dims[dim] = (region_dim){turn * size, 0, size};
    if (region_of_operand(&maps, x->root, &tile, (region_turns){0, 0}, 0, &in) == REGION_FOUND)
      check_box(x, &tile, &in, 0);
  }
}

static void draw_operand(drawn *x) {
  int64_t left = MOST_ELEMENTS;
  x->rank = (int)draw(x, 1, MOST_RANK);
  for (int d = 0; d < x->rank; d++) {
    x->dims[d] = draw(x, 1, int64_min(left, x->rank == 1 ? 60 : 9));
    left /= x->dims[d];
  }
}

static bool read_subject(drawn *d, subject *out) {
  *out = (subject){.arena = arena_create(), .may_exceed = d->may_exceed};
  out->source = arena_printf(out->arena, "%s", text_cstr(&d->source));
  testing_require(hlo_parse(out->arena, "drawn", str_from(out->source), &out->module), out->source);
  out->root = out->module->entry->root;
  literal *operand, *result;
  testing_require(literal_create(out->arena, out->root->operands[0]->shape, &operand), "operand");
  for (int64_t e = 0; e < shape_element_count(operand->shape); e++)
    literal_set_int(operand, e, (int64_t)((uint64_t)1 << e));
  testing_require(eval_module(out->arena, out->module, 1, &operand, &result), out->source);
  out->bits = result;
  return out->root->shape->rank > 0;
}

static void check_operation(int number, tally *t) {
  drawn d = {.seed = (uint64_t)number * 0x9e3779b97f4a7c15u + 1};
  subject x;
  draw_operand(&d);
  text_puts(&d.source,
            "HloModule m\nor { a = u64[] parameter(0) b = u64[] parameter(1) ROOT r = u64[] or(a, b) }\n"
            "ENTRY e { x = ");
  put_shape(&d, d.rank, d.dims);
  text_puts(&d.source, " parameter(0) ");
  kinds[number % KINDS](&d);
  text_puts(&d.source, " }");
  if (read_subject(&d, &x)) {
    const int dim = (int)draw(&d, 0, x.root->shape->rank - 1);
    check_tiles(&x, dim, draw(&d, 1, x.root->shape->dims[dim]), &t[number % KINDS]);
  }
  text_free(&d.source);
  arena_destroy(x.arena);
}

static void test_regions(void **state) {
  (void)state;
  tally all[KINDS] = {0};
  for (int k = 0; k < OPERATIONS; k++) check_operation(k, all);
  for (int k = 0; k < KINDS; k++) {
    print_message("%2d: %d found, %d at borders, %d unknown\n", k, all[k].found, all[k].border, all[k].unknown);
    assert_true(all[k].found + all[k].border > 2 * all[k].unknown);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_regions)};
  return cmocka_run_group_tests_name("supertile/region", tests, NULL, NULL);
}
