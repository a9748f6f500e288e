// Operations one by one: which of their dims can be cut, and that a loop over tiles of any size computes what the
// operation does, to the bit, by the interpreter. Behind each the smallest tile is told that the operation allows.
#include "supertile/tile_loop.h"

#include "opt/passes.h"
#include "opt/testing.h"

typedef struct example {
  const char *name;
  const char *body;  // of the entry; the root is the operation that is cut
  // By dim of the result, and then of what it goes over: '1' all tiles, '2' … '9' multiples of that, '-' none, '.' not
  // tried.
  const char *dims;
} example;

static const char computations[] =
    "HloModule m\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "or { a = u32[] parameter(0) b = u32[] parameter(1) ROOT r = u32[] or(a, b) }\n"
    "second { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(b, b) }\n"
    "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
    "lt2 { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)\n"
    "  ROOT r = pred[] compare(a, b), direction=LT }\n"
    "add2 { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3)\n"
    "  s = f32[] add(a, c) t = s32[] add(b, d) ROOT r = (f32[], s32[]) tuple(s, t) }\n";

static const example examples[] = {
    {"elementwise", "x = f32[6,5] parameter(0) ROOT r = f32[6,5] negate(x)", "11"},
    {"broadcast", "x = f32[5] parameter(0) ROOT r = f32[6,5] broadcast(x), dimensions={1}", "11"},
    {"iota", "ROOT r = f32[6,5] iota(), iota_dimension=0", "11"},
    {"transpose", "x = f32[6,5] parameter(0) ROOT r = f32[5,6] transpose(x), dimensions={1,0}", "11"},
    {"reverse", "x = f32[6,5] parameter(0) ROOT r = f32[6,5] reverse(x), dimensions={0,1}", "11"},
    {"slice", "x = f32[19,5] parameter(0) ROOT r = f32[6,3] slice(x), slice={[1:18:3],[2:5]}", "11"},
    {"reshape to rows", "x = f32[24] parameter(0) ROOT r = f32[6,4] reshape(x)", "1-"},
    {"reshape of rows", "x = f32[6,4] parameter(0) ROOT r = f32[24] reshape(x)", "4"},
    {"pad", "x = f32[6,5] parameter(0) z = f32[] parameter(1) ROOT r = f32[11,4] pad(x, z), padding=2_3x0_-1", "11"},
    {"pad between", "x = f32[6,5] parameter(0) z = f32[] parameter(1) ROOT r = f32[14,5] pad(x, z), padding=1_2_1x0_0",
     "21"},
    {"pad far", "x = f32[2] parameter(0) z = f32[] parameter(1) ROOT r = f32[14] pad(x, z), padding=5_7", "1"},
    {"concatenate",
     "x = f32[5,4] parameter(0) y = f32[7,4] parameter(1) z = f32[1,4] parameter(2)\n"
     "ROOT r = f32[13,4] concatenate(x, y, z), dimensions={0}",
     "11"},
    {"concatenate of columns",
     "x = f32[4,5] parameter(0) y = f32[4,2] parameter(1) ROOT r = f32[4,7] concatenate(x, y), dimensions={1}", "11"},
    {"reduce",
     "x = f32[6,3,5] parameter(0) z = f32[] parameter(1) ROOT r = f32[6,5] reduce(x, z), dimensions={1}, to_apply=add",
     "11"},
    {"reduce two",
     "x = f32[6,5] parameter(0) y = s32[6,5] parameter(1) z = f32[] parameter(2) w = s32[] parameter(3)\n"
     "ROOT r = (f32[6], s32[6]) reduce(x, y, z, w), dimensions={1}, to_apply=add2",
     "1"},
    {"reduce-window",
     "x = f32[13,5] parameter(0) z = f32[] parameter(1)\n"
     "ROOT r = f32[7,5] reduce-window(x, z), window={size=3x3 stride=2x1 pad=1_1x1_1}, to_apply=add",
     "11"},
    {"reduce-window with holes",
     "x = f32[13,6] parameter(0) z = f32[] parameter(1)\n"
     "ROOT r = f32[23,3] reduce-window(x, z), window={size=2x3 stride=1x2 pad=0_0x1_1 lhs_dilate=2x1 rhs_dilate=2x1}, "
     "to_apply=add",
     "21"},
    {"dot",
     "x = f32[6,4] parameter(0) y = f32[4,5] parameter(1)\n"
     "ROOT r = f32[6,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
     "11"},
    {"dot of batches",
     "x = f32[3,6,4] parameter(0) y = f32[3,4,5] parameter(1)\n"
     "ROOT r = f32[3,6,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
     "rhs_contracting_dims={1}",
     "111"},
    {"convolution",
     "x = f32[2,9,9,3] parameter(0) k = f32[3,3,3,4] parameter(1)\n"
     "ROOT r = f32[2,9,5,4] convolution(x, k), window={size=3x3 stride=1x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
     "1111"},
    {"convolution of integers",
     "x = s32[2,9,3] parameter(0) k = s32[3,3,4] parameter(1)\n"
     "ROOT r = s32[2,5,4] convolution(x, k), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f",
     "1111"},
    {"convolution with holes",
     "x = f32[2,6,3] parameter(0) k = f32[3,3,4] parameter(1)\n"
     "ROOT r = f32[2,11,4] convolution(x, k), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
     "121"},
    {"convolution of groups",
     "x = f32[2,6,8] parameter(0) k = f32[3,2,12] parameter(1)\n"
     "ROOT r = f32[2,6,12] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=4",
     "113"},
    {"convolution of groups of batches",
     "x = f32[4,6,3] parameter(0) k = f32[3,3,8] parameter(1)\n"
     "ROOT r = f32[2,6,8] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, batch_group_count=2",
     "-1-"},
    {"gather of rows",
     "x = f32[9,5] parameter(0) i = s32[6,1] parameter(1)\n"
     "ROOT r = f32[6,5] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,5}",
     "11"},
    {"gather of blocks",
     "x = f32[9,8,5] parameter(0) i = s32[2,6] parameter(1)\n"
     "ROOT r = f32[3,6,4,2] gather(x, i), offset_dims={0,2,3}, collapsed_slice_dims={}, start_index_map={2,0}, "
     "index_vector_dim=0, slice_sizes={3,4,2}",
     "-11-"},
    {"scatter of rows",
     "x = f32[9,5] parameter(0) i = s32[7,1] parameter(1) u = f32[7,5] parameter(2)\n"
     "ROOT r = f32[9,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
     "111"},
    {"scatter of points",
     "x = f32[9,5] parameter(0) i = s32[2,7] parameter(1) u = f32[7] parameter(2)\n"
     "ROOT r = f32[9,5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1}, "
     "scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=second",
     "111"},
    {"scatter at bytes",
     "x = f32[300] parameter(0) i = u8[7] parameter(1) u = f32[7] parameter(2)\n"
     "ROOT r = f32[300] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
     "11"},
    {"scatter at unsigned places",
     "x = f32[9,1] parameter(0) i = u32[7,1] parameter(1) u = f32[7,1,1] parameter(2)\n"
     "ROOT r = f32[9,1] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
     "1.1"},
    {"scatter of blocks",
     "x = f32[9,8,4] parameter(0) i = s32[7,2] parameter(1) u = f32[7,2,3,4] parameter(2)\n"
     "ROOT r = f32[9,8,4] scatter(x, i, u), update_window_dims={1,2,3}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
     "--11"},
    {"scatter of two",
     "x = f32[9] parameter(0) y = s32[9] parameter(1) i = s32[7,1] parameter(2) u = f32[7] parameter(3)\n"
     "v = s32[7] parameter(4)\n"
     "ROOT r = (f32[9], s32[9]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add2",
     "11"},
    {"dynamic-slice",
     "x = f32[9,5,7] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) k = s32[] parameter(3)\n"
     "ROOT r = f32[6,5,4] dynamic-slice(x, i, j, k), dynamic_slice_sizes={6,5,4}",
     "111"},
    {"dynamic-slice at bytes",
     "x = f32[300] parameter(0) i = s8[] parameter(1) ROOT r = f32[60] dynamic-slice(x, i), dynamic_slice_sizes={60}",
     "1"},
    {"dynamic-slice at large places",
     "x = f32[9] parameter(0) i = u64[] parameter(1) ROOT r = f32[6] dynamic-slice(x, i), dynamic_slice_sizes={6}",
     "1"},
    {"dynamic-update-slice",
     "x = f32[9,5,7] parameter(0) u = f32[4,5,3] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
     "k = s32[] parameter(4) ROOT r = f32[9,5,7] dynamic-update-slice(x, u, i, j, k)",
     "111"},
    {"dynamic-update-slice at bytes",
     "x = f32[300] parameter(0) u = f32[100] parameter(1) i = u8[] parameter(2)\n"
     "ROOT r = f32[300] dynamic-update-slice(x, u, i)",
     "1"},
    {"sort", "x = f32[6,5] parameter(0) ROOT r = f32[6,5] sort(x), dimensions={1}, to_apply=lt", "1-"},
    {"sort two",
     "x = f32[6,5] parameter(0) y = s32[6,5] parameter(1)\n"
     "ROOT r = (f32[6,5], s32[6,5]) sort(x, y), dimensions={0}, to_apply=lt2, is_stable=true",
     "-1"},
    {"topk", "x = f32[6,9] parameter(0) ROOT r = (f32[6,3], s32[6,3]) topk(x), k=3, largest=true", "1-"},
    {"fft", "x = c64[6,4] parameter(0) ROOT r = c64[6,4] fft(x), fft_type=IFFT, fft_length={4}", "1-"},
    {"fft of planes", "x = f32[6,4,6] parameter(0) ROOT r = c64[6,4,4] fft(x), fft_type=RFFT, fft_length={4,6}", "1--"},
    {"cholesky",
     "x = f32[5,3,3] parameter(0)\n"
     "ROOT r = f32[5,3,3] custom-call(x), custom_call_target=\"heddle.cholesky\", backend_config=\"{lower = true}\"",
     "1--"},
    {"systems from the left",
     "a = f32[5,3,3] parameter(0) b = f32[5,3,4] parameter(1)\n"
     "ROOT r = f32[5,3,4] custom-call(a, b), custom_call_target=\"heddle.triangular_solve\", "
     "backend_config=\"{left_side = true, lower = true, unit_diagonal = true, transpose_a = 0 : i64}\"",
     "1-1"},
    {"systems from the right",
     "a = f32[5,3,3] parameter(0) b = f32[5,4,3] parameter(1)\n"
     "ROOT r = f32[5,4,3] custom-call(a, b), custom_call_target=\"heddle.triangular_solve\", "
     "backend_config=\"{left_side = false, lower = true, unit_diagonal = true, transpose_a = 0 : i64}\"",
     "11-"},
    {"rng-bit-generator",
     "x = u64[2] parameter(0) ROOT r = (u64[2], u32[8]) rng-bit-generator(x), algorithm=rng_philox", "."},
};

typedef struct subject {
  arena *arena;
  module *module;
  instruction *bottom;
  literal **arguments;
  int argument_count;
} subject;

// Places lie outside of arrays, too.
static literal *argument_of(arena *a, const shape *s, uint64_t *seed) {
  literal *l = testing_argument(a, s, seed);
  for (int64_t k = 0; k < shape_element_count(s) && dtype_is_integer(s->dtype) && dtypes[s->dtype].bits < 64; k++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    const int64_t bits = (int64_t)(*seed >> 40);
    if (dtypes[s->dtype].bits == 8) literal_set_int(l, k, bits % 256 - (dtype_is_signed(s->dtype) ? 128 : 0));
    else if (dtype_is_signed(s->dtype)) literal_set_int(l, k, bits % 32 == 0 ? INT32_MIN + 1 : bits % 16 - 4);
    else literal_set_int(l, k, bits % 32 == 0 ? UINT32_MAX - 1 : bits % 12);
  }
  return l;
}

static void read_subject(const example *x, uint64_t seed, subject *out) {
  out->arena = arena_create();
  const char *source = arena_printf(out->arena, "%sENTRY e { %s }", computations, x->body);
  testing_require(hlo_parse(out->arena, x->name, str_from(source), &out->module), x->name);
  computation *entry = out->module->entry;
  out->bottom = entry->root;
  out->argument_count = entry->parameters.size;
  out->arguments = arena_array(out->arena, literal *, out->argument_count);
  for (int k = 0; k < out->argument_count; k++)
    out->arguments[k] = argument_of(out->arena, entry->parameters.data[k]->shape, &seed);
}

static literal *result_of(const subject *x) {
  literal *result = NULL;
  testing_require(eval_module(x->arena, x->module, x->argument_count, x->arguments, &result), "the interpreter");
  return result;
}

// Cuts the subject into tiles. 0: it has none along that dim; else the elements of a tile.
static int64_t cut(subject *x, int dim, int64_t tile) {
  plan_steps steps = {.arena = x->arena};
  region_maps maps = {.arena = x->arena};
  tile_search s = {.arena = x->arena, .steps = &steps, .maps = &maps, .exact = true};
  tile_search_number(&s, x->module->entry);
  tile_group g;
  computation *body;
  if (!region_has_tiles(x->bottom) || !tile_group_grow(&s, x->bottom, dim, tile, 1000, &g)) return 0;
  testing_require(tile_loop_make(&s, &g, &body), "the loop");
  testing_require(pass_apply(&opt_dead_code, x->module), "dead code");
  testing_require(module_verify(x->module), "the module");
  return g.tile;
}

static bool check_tile(const example *e, int dim, int64_t tile, uint64_t seed) {
  subject x;
  read_subject(e, seed, &x);
  const literal *wanted = result_of(&x);
  const int64_t made = cut(&x, dim, tile);
  if (made > 0 && !testing_same(wanted, result_of(&x))) {
    text t = {0};
    hlo_print(&t, x.module, HLO_PRINT_SHORT);
    print_error("%s: dim %d in tiles of %d\n%s", e->name, dim, (int)made, text_cstr(&t));
    text_free(&t);
    fail();
  }
  arena_destroy(x.arena);
  return made > 0;
}

static void check_dim(const example *e, int dim, int64_t size) {
  const char wanted = e->dims[dim];
  const int64_t multiple = wanted >= '1' && wanted <= '9' ? wanted - '0' : 0;
  if (wanted == '.') return;
  for (int64_t tile = 1; tile < size && tile < 40; tile++) {
    bool found = false;
    for (uint64_t seed = 1; seed <= 3; seed++) found = check_tile(e, dim, tile, 7 * seed + (uint64_t)tile);
    // Larger tiles than the smallest may all hang out of an array.
    const bool may_be = multiple > 0 && tile >= multiple;
    if (found ? may_be : !may_be || tile > multiple) continue;
    fail_msg("%s: dim %d is %s tiles of %d", e->name, dim, found ? "cut in" : "not cut in", (int)tile);
  }
}

static void test_operations(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    subject x;
    read_subject(&examples[k], 1, &x);
    const int dims = tile_group_dims(x.bottom, true);
    assert_int_equal(dims, strlen(examples[k].dims));
    for (int d = 0; d < dims; d++) check_dim(&examples[k], d, tile_group_dim_size(x.bottom, d));
    arena_destroy(x.arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations)};
  return cmocka_run_group_tests_name("supertile/tile_loop", tests, NULL, NULL);
}
