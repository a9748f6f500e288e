// A table of good and bad uses for every shape rule. Each case is the body of an entry computation; a bad one names a
// part of the message.
#include "hlo/text.h"

#include "base/testing.h"

typedef struct shape_case {
  const char *body;
  const char *message;  // null: accepted
} shape_case;

static const char computations[] =
    "HloModule test\n"
    "add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }\n"
    "add2 { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)\n"
    "  e = f32[] add(a, c)  f = s32[] add(b, d)  ROOT r = (f32[], s32[]) tuple(e, f) }\n"
    "ge { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GE }\n"
    "ge2 { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)\n"
    "  ROOT r = pred[] compare(a, b), direction=GE }\n"
    "neg { x = f32[2] parameter(0)  ROOT r = f32[2] negate(x) }\n"
    "neg3 { x = f32[2] parameter(0)  ROOT r = f32[3] constant({1, 2, 3}) }\n"
    "yes { x = f32[2] parameter(0)  ROOT r = pred[] constant(true) }\n"
    "to_int { x = f32[] parameter(0)  ROOT r = s32[] convert(x) }\n"
    "vector { x = f32[] parameter(0)  ROOT r = f32[2] broadcast(x), dimensions={} }\n";

static void check(const shape_case *cases, size_t count) {
  for (size_t k = 0; k < count; k++) {
    arena *a = arena_create();
    text source = {0};
    text_puts(&source, computations);
    text_printf(&source, "ENTRY main {\n%s }\n", cases[k].body);
    module *m;
    heddle_status status = hlo_parse(a, "test.hlo", text_view(&source), &m);
    const char *message = heddle_status_message(status);
    if (!cases[k].message && !status_is_ok(status)) fail_msg("refused: %s\n%s", cases[k].body, message);
    if (cases[k].message && status_is_ok(status)) fail_msg("accepted: %s", cases[k].body);
    if (cases[k].message && !strstr(message, cases[k].message))
      fail_msg("%s\nfound: %s\nwanted: %s", cases[k].body, message, cases[k].message);
    heddle_status_free(status);
    text_free(&source);
    arena_destroy(a);
  }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))
#define P(number, shape) "p" #number " = " shape " parameter(" #number ")\n"

static void test_elementwise(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3]") P(1, "f32[2,3]{0,1}") "ROOT r = f32[2,3] add(p0, p1)", NULL},
      {P(0, "f32[<=2]") P(1, "f32[2]") "ROOT r = f32[<=2] add(p0, p1)", NULL},
      {P(0, "f32[?]") P(1, "f32[2]") "ROOT r = f32[2] add(p0, p1)", NULL},
      {P(0, "f32[2,3]") P(1, "f32[3,2]") "ROOT r = f32[2,3] add(p0, p1)",
       "add: operand 1 has shape f32[3,2], wanted the dimensions of operand 0, f32[2,3]"},
      {P(0, "f32[2]") P(1, "s32[2]") "ROOT r = f32[2] add(p0, p1)",
       "add: operand 1 has element type s32, wanted that of operand 0, f32"},
      {P(0, "f32[2]") "ROOT r = f32[3] negate(p0)", "negate: found the result's shape f32[3], wanted f32[2]"},
      {P(0, "(f32[2])") "ROOT r = f32[2] negate(p0)", "negate: operand 0 has shape (f32[2])"},
      {P(0, "c64[2]") "ROOT r = f32[2] abs(p0)", NULL},
      {P(0, "s32[2]") "ROOT r = s32[2] abs(p0)", NULL},
      {P(0, "c128[]") "ROOT r = f64[] real(p0)", NULL},
      {P(0, "c128[]") "ROOT r = f32[] imag(p0)", "imag: found the result's shape f32[], wanted f64[]"},
      {P(0, "f32[2]") P(1, "f32[2]") "ROOT r = c64[2] complex(p0, p1)", NULL},
      {P(0, "f16[2]") P(1, "f16[2]") "ROOT r = c64[2] complex(p0, p1)", "wanted f32 or f64"},
      {P(0, "f32[2]") P(1, "f32[2]") "ROOT r = pred[2] compare(p0, p1), direction=LT", NULL},
      {P(0, "f32[2]") P(1, "f32[2]") "ROOT r = f32[2] compare(p0, p1), direction=LT", "wanted pred[2]"},
      {P(0, "f32[2]") "ROOT r = pred[2] is-finite(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = s8[2] convert(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = c64[2] convert(p0)", NULL},
      {P(0, "c64[2]") "ROOT r = f32[2] convert(p0)", "convert: cannot convert c64 to f32"},
      {P(0, "f32[2]") "ROOT r = s8[3] convert(p0)", "wanted s8[2]"},
      {P(0, "f32[2]") P(1, "u32[3]") "ROOT r = s32[2] stochastic-convert(p0, p1)", "operand 1 has shape u32[3]"},
  };
  CHECK(cases);
}

static void test_bitcast_convert(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2]") "ROOT r = u32[2] bitcast-convert(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = u8[2,4] bitcast-convert(p0)", NULL},
      {P(0, "u8[2,4]") "ROOT r = f32[2] bitcast-convert(p0)", NULL},
      {P(0, "s8[3]") "ROOT r = u4[3,2] bitcast-convert(p0)", NULL},
      {P(0, "c64[2]") "ROOT r = c64[2] bitcast-convert(p0)", NULL},
      {P(0, "u8[2,3]") "ROOT r = f32[2] bitcast-convert(p0)",
       "operand has shape u8[2,3], wanted a last dimension of 4 for a result of f32"},
      {P(0, "u8[]") "ROOT r = f32[] bitcast-convert(p0)", "wanted a last dimension of 4"},
      {P(0, "f32[2]") "ROOT r = u8[2,3] bitcast-convert(p0)", "wanted u8[2,4]"},
      {P(0, "c64[2]") "ROOT r = u32[2,2] bitcast-convert(p0)", "cannot reinterpret c64 as u32"},
  };
  CHECK(cases);
}

static void test_clamp_and_select(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] clamp(p0, p1, p2)", NULL},
      {P(0, "f32[2]") P(1, "f32[]") P(2, "f32[]") "ROOT r = f32[2] clamp(p0, p1, p2)", "wanted the dimensions"},
      {P(0, "s32[]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] clamp(p0, p1, p2)",
       "clamp: operand 0 has shape s32[], wanted f32[]"},
      {P(0, "pred[2]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] select(p0, p1, p2)", NULL},
      {P(0, "pred[]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] select(p0, p1, p2)", NULL},
      {P(0, "s32[2]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] select(p0, p1, p2)",
       "operand 0 has element type s32, wanted pred"},
      {P(0, "pred[3]") P(1, "f32[2]") P(2, "f32[2]") "ROOT r = f32[2] select(p0, p1, p2)",
       "operand 0 has shape pred[3]"},
      {P(0, "pred[2]") P(1, "f32[2]") P(2, "s32[2]") "ROOT r = f32[2] select(p0, p1, p2)",
       "operand 2 has element type s32"},
      // Floats of several widths: mixed precision.
      {P(0, "pred[2]") P(1, "f32[2]") P(2, "f64[2]") "ROOT r = bf16[2] select(p0, p1, p2)", NULL},
  };
  CHECK(cases);
}

static void test_broadcast_and_iota(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3]") "ROOT r = f32[3,4,2] broadcast(p0), dimensions={2,0}", NULL},
      {P(0, "f32[]") "ROOT r = f32[3] broadcast(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = f32[3] broadcast(p0), dimensions={0}",
       "dimension 0 of the result has size 3, dimension 0 of the operand 2"},
      {P(0, "f32[1]") "ROOT r = f32[3] broadcast(p0), dimensions={0}", "dimension 0 of the operand 1"},
      {P(0, "f32[2]") "ROOT r = f32[2,2] broadcast(p0), dimensions={}",
       "dimensions has 0 entries, wanted one for each"},
      {P(0, "f32[2]") "ROOT r = f32[2,2] broadcast(p0), dimensions={2}",
       "dimensions[0] is 2, wanted a dimension below 2"},
      {P(0, "f32[2]") "ROOT r = f32[2,2] broadcast(p0), dimensions={-1}", "dimensions[0] is -1"},
      {P(0, "f32[2,2]") "ROOT r = f32[2,2] broadcast(p0), dimensions={0,0}", "dimension 0 is named twice"},
      {P(0, "f32[2]") "ROOT r = s32[2] broadcast(p0), dimensions={0}", "the result has element type s32"},
      {"ROOT r = s32[2,3] iota(), iota_dimension=1", NULL},
      {"ROOT r = c64[2] iota(), iota_dimension=0", NULL},
      {"ROOT r = s32[2,3] iota(), iota_dimension=2", "iota_dimension is 2, wanted a dimension below 2"},
      {"ROOT r = s32[2,3] iota(), iota_dimension=-1", "iota_dimension is -1"},
      {"ROOT r = pred[2] iota(), iota_dimension=0", "wanted numbers"},
  };
  CHECK(cases);
}

static void test_reshape_bitcast_transpose_reverse(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3]") "ROOT r = f32[3,1,2] reshape(p0)", NULL},
      {P(0, "f32[]") "ROOT r = f32[1,1] reshape(p0)", NULL},
      {P(0, "f32[0,3]") "ROOT r = f32[7,0] reshape(p0)", NULL},
      {P(0, "f32[2,3]") "ROOT r = f32[5] reshape(p0)", "the result f32[5] has 5 elements, the operand f32[2,3] has 6"},
      {P(0, "f32[2]") "ROOT r = s32[2] reshape(p0)", "the result has element type s32"},
      {P(0, "f32[2,3]{1,0}") "ROOT r = f32[3,2]{0,1} bitcast(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = u8[8] bitcast(p0)", NULL},
      {P(0, "s4[8]") "ROOT r = u8[4] bitcast(p0)", NULL},
      {P(0, "f32[2]") "ROOT r = u8[9] bitcast(p0)", "the result u8[9] takes 9 bytes, the operand f32[2] takes 8"},
      {P(0, "f32[2,3]") "ROOT r = f32[3,2] transpose(p0), dimensions={1,0}", NULL},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] transpose(p0), dimensions={1,0}", "wanted f32[3,2]"},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] transpose(p0), dimensions={1}", "dimensions has 1 entries"},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] transpose(p0), dimensions={1,1}", "dimension 1 is named twice"},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] reverse(p0), dimensions={1}", NULL},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] reverse(p0), dimensions={}", NULL},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] reverse(p0), dimensions={2}", "dimensions[0] is 2"},
  };
  CHECK(cases);
}

static void test_slice_and_pad(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[8,3]") "ROOT r = f32[3,3] slice(p0), slice={[1:7:2],[0:3]}", NULL},
      {P(0, "f32[8]") "ROOT r = f32[0] slice(p0), slice={[8:8]}", NULL},
      {P(0, "f32[8]") "ROOT r = f32[1] slice(p0), slice={[0:8:9223372036854775807]}", NULL},
      {P(0, "f32[8]") "ROOT r = f32[2] slice(p0), slice={[7:9]}",
       "range 0 is [7:9], wanted one within the operand's size 8"},
      {P(0, "f32[8]") "ROOT r = f32[2] slice(p0), slice={[5:3]}", "range 0 is [5:3]"},
      {P(0, "f32[8]") "ROOT r = f32[2] slice(p0), slice={[0:2:0]}", "range 0 has stride 0"},
      {P(0, "f32[8]") "ROOT r = f32[2] slice(p0), slice={[0:2],[0:2]}", "slice has 2 ranges"},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[9] pad(p0, p1), padding=1_3_1", NULL},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[1] pad(p0, p1), padding=-1_-1", NULL},
      {P(0, "f32[0]") P(1, "f32[]") "ROOT r = f32[2] pad(p0, p1), padding=1_1_5", NULL},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[9] pad(p0, p1), padding=-2_-2",
       "dimension 0 of the result would have a negative size"},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[9] pad(p0, p1), padding=0_0_4611686018427387904",
       "dimension 0 of the result would have too large a size"},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[9] pad(p0, p1), padding=0_0_-1", "interior padding -1"},
      {P(0, "f32[3]") P(1, "s32[]") "ROOT r = f32[5] pad(p0, p1), padding=1_1",
       "operand 1 has shape s32[], wanted f32[]"},
      {P(0, "f32[3]") P(1, "f32[]") "ROOT r = f32[5] pad(p0, p1), padding=1_1x1_1", "padding has 2 entries"},
  };
  CHECK(cases);
}

static void test_concatenate_and_dynamic_slices(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3]") P(1, "f32[2,0]") "ROOT r = f32[2,6] concatenate(p0, p1, p0), dimensions={1}", NULL},
      {P(0, "f32[2,3]") P(1, "f32[3,3]") "ROOT r = f32[2,6] concatenate(p0, p1), dimensions={1}",
       "operand 1 has shape f32[3,3], wanted operand 0's f32[2,3] but for dimension 1"},
      {P(0, "f32[2]") P(1, "s32[2]") "ROOT r = f32[4] concatenate(p0, p1), dimensions={0}",
       "operand 1 has shape s32[2]"},
      {P(0, "f32[2]") "ROOT r = f32[4] concatenate(p0, p0), dimensions={1}", "dimensions[0] is 1"},
      {P(0, "f32[2]") "ROOT r = f32[4] concatenate(p0, p0), dimensions={0,0}", "dimensions has 2 entries, wanted one"},
      {P(0, "f32[4,3]") P(1, "s32[]") "ROOT r = f32[2,3] dynamic-slice(p0, p1, p1), dynamic_slice_sizes={2,3}", NULL},
      {P(0, "f32[]") "ROOT r = f32[] dynamic-slice(p0), dynamic_slice_sizes={}", NULL},
      {P(0, "f32[4,3]") P(1, "s32[]") "ROOT r = f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}",
       "found 1 start indices, wanted one for each of the operand's 2 dimensions"},
      {P(0, "f32[4]") P(1, "f32[]") "ROOT r = f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}",
       "start index 0 has shape f32[], wanted an integer scalar"},
      {P(0, "f32[4]") P(1, "s32[]") "ROOT r = f32[5] dynamic-slice(p0, p1), dynamic_slice_sizes={5}",
       "dynamic_slice_sizes[0] is 5, wanted at most the operand's size 4"},
      {P(0, "f32[4]") P(1, "s32[]") "ROOT r = f32[5] dynamic-slice(p0, p1), dynamic_slice_sizes={}",
       "dynamic_slice_sizes has 0 entries"},
      {P(0, "f32[4,3]") P(1, "f32[2,3]") P(2, "s64[]") "ROOT r = f32[4,3] dynamic-update-slice(p0, p1, p2, p2)", NULL},
      {P(0, "f32[4]") P(1, "f32[5]") P(2, "s64[]") "ROOT r = f32[4] dynamic-update-slice(p0, p1, p2)",
       "dimension 0 of the update has size 5, wanted at most the operand's size 4"},
      {P(0, "f32[4]") P(1, "s32[2]") P(2, "s64[]") "ROOT r = f32[4] dynamic-update-slice(p0, p1, p2)",
       "the update has shape s32[2]"},
      {P(0, "f32[4,3]") P(1, "f32[2,3]") P(2, "s64[]")
           P(3, "s32[]") "ROOT r = f32[4,3] dynamic-update-slice(p0, p1, p2, p3)",
       "operand 3 has element type s32"},
      {P(0, "f32[4,<=3]") "ROOT r = s32[] get-dimension-size(p0), dimensions={1}", NULL},
      {P(0, "f32[4]") "ROOT r = s32[] get-dimension-size(p0), dimensions={1}", "dimensions[0] is 1"},
      {P(0, "f32[4]") "ROOT r = s64[] get-dimension-size(p0), dimensions={0}", "wanted s32[]"},
  };
  CHECK(cases);
}

#define GATHER(offset, collapsed, map, vector, sizes)                                                     \
  "gather(p0, p1), offset_dims={" offset "}, collapsed_slice_dims={" collapsed "}, start_index_map={" map \
  "}, index_vector_dim=" vector ", slice_sizes={" sizes "}"

static void test_gather(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "1", "1,3"), NULL},
      {P(0, "f32[9,8]") P(1, "s32[5]") "ROOT r = f32[8,5] " GATHER("0", "0", "0", "1", "1,8"), NULL},
      {P(0, "f32[9,8]") P(1, "s32[]") "ROOT r = f32[8] " GATHER("0", "0", "0", "0", "1,8"), NULL},
      {P(0, "f32[4,9,8]") P(1, "s32[4,5,1]") "ROOT r = f32[4,5,8] " GATHER(
           "2", "1", "1", "2", "1,1,8") ", operand_batching_dims={0}, start_indices_batching_dims={0}",
       NULL},
      {P(0, "f32[4,9]") P(1, "s32[3,1]") "ROOT r = f32[3] " GATHER(
           "", "1", "1", "1", "1,1") ", operand_batching_dims={0}, start_indices_batching_dims={0}",
       "batching dimension 0 of the indices has size 3, dimension 0 of the operand 4"},
      {P(0, "f32[4,9]") P(1, "s32[4,1]") "ROOT r = f32[4] " GATHER(
           "", "1", "1", "1", "1,1") ", operand_batching_dims={0}, start_indices_batching_dims={1}",
       "names the index_vector_dim"},
      {P(0, "f32[9,8]") P(1, "f32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "1", "1,3"), "wanted integers"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "3", "1,3"),
       "index_vector_dim is 3"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0", "1", "1,3"),
       "start_index_map has 1 entries, wanted one for each of the 2 components of an index"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,0", "1", "1,3"),
       "start_index_map[1]: dimension 0 is named twice"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "", "0,1", "1", "1,3"),
       "have 1, 0 and 0 entries, wanted 2 in all"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "1", "1"),
       "slice_sizes has 1 entries"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "1", "1,9"),
       "slice_sizes[1] is 9, wanted at most 8"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("1", "0", "0,1", "1", "2,3"),
       "slice_sizes[0] is 2, wanted at most 1"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3] " GATHER("2", "0", "0,1", "1", "1,3"),
       "offset_dims[0] is 2"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[3,5] " GATHER("1", "0", "0,1", "1", "1,3"), "wanted f32[5,3]"},
      {P(0, "f32[9,8]") P(1, "s32[5,2]") "ROOT r = f32[5,3,2] " GATHER("2,1", "", "0,1", "1", "2,3"),
       "wanted ascending order"},
  };
  CHECK(cases);
}

#define SCATTER(window, inserted, map, vector)                                                               \
  "update_window_dims={" window "}, inserted_window_dims={" inserted "}, scatter_dims_to_operand_dims={" map \
  "}, index_vector_dim=" vector

static void test_scatter(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[9,8]") P(1, "s32[5,1]")
           P(2, "f32[5,8]") "ROOT r = f32[9,8] scatter(p0, p1, p2), to_apply=add, " SCATTER("1", "0", "0", "1"),
       NULL},
      {P(0, "f32[9]") P(1, "s32[5,1]") P(2, "f32[5]") P(3, "s32[9]")
           P(4, "s32[5]") "ROOT r = (f32[9], s32[9]) scatter(p0, p3, p1, p2, p4), to_apply=add2, " SCATTER("", "0", "0",
                                                                                                           "1"),
       NULL},
      {P(0, "f32[9,8]") P(1, "s32[5,1]")
           P(2, "f32[5,7]") "ROOT r = f32[9,8] scatter(p0, p1, p2), to_apply=add, " SCATTER("1", "0", "0", "1"),
       NULL},
      {P(0, "f32[9,8]") P(1, "s32[5,1]")
           P(2, "f32[5,9]") "ROOT r = f32[9,8] scatter(p0, p1, p2), to_apply=add, " SCATTER("1", "0", "0", "1"),
       "dimension 1 of the updates has size 9, wanted at most the operand's 8"},
      {P(0, "f32[9,8]") P(1, "s32[5,1]")
           P(2, "f32[4,8]") "ROOT r = f32[9,8] scatter(p0, p1, p2), to_apply=add, " SCATTER("1", "0", "0", "1"),
       "dimension 0 of the updates has size 4, wanted that of the indices, 5"},
      {P(0, "f32[9,8]") P(1, "s32[5,1]")
           P(2, "f32[5]") "ROOT r = f32[9,8] scatter(p0, p1, p2), to_apply=add, " SCATTER("1", "0", "0", "1"),
       "the updates have rank 1"},
      {P(0, "f32[9]") P(1, "s32[5,1]")
           P(2, "s32[5]") "ROOT r = f32[9] scatter(p0, p1, p2), to_apply=add, " SCATTER("", "0", "0", "1"),
       "operand 2 has element type s32, wanted that of operand 0, f32"},
      {P(0, "f32[9]") P(1, "s32[5,1]")
           P(2, "f32[5]") "ROOT r = f32[9] scatter(p0, p0, p1, p2), to_apply=add, " SCATTER("", "0", "0", "1"),
       "found 4 operands"},
      {P(0, "f32[9]") P(1, "s32[5,1]")
           P(2, "f32[5]") "ROOT r = f32[9] scatter(p0, p1, p2), to_apply=add, " SCATTER("0", "0", "0", "1"),
       "have 1, 1 and 0 entries"},
      {P(0, "f32[9]") P(1, "s32[5,1]")
           P(2, "f32[5]") "ROOT r = f32[9] scatter(p0, p1, p2), to_apply=add2, " SCATTER("", "0", "0", "1"),
       "has 4 parameters, wanted 2"},
  };
  CHECK(cases);
}

static void test_reduce_map_sort(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3,4]") P(1, "f32[]") "ROOT r = f32[3] reduce(p0, p1), dimensions={2,0}, to_apply=add", NULL},
      {P(0, "f32[2]") P(1, "s32[2]") P(2, "f32[]")
           P(3, "s32[]") "ROOT r = (f32[], s32[]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=add2",
       NULL},
      {P(0, "f32[2]") P(1, "f32[]") "ROOT r = f32[] reduce(p0, p1), dimensions={1}, to_apply=add",
       "dimensions[0] is 1"},
      {P(0, "f32[2]") P(1, "f32[2]") "ROOT r = f32[] reduce(p0, p1), dimensions={0}, to_apply=add",
       "operand 1 has shape f32[2], wanted f32[]"},
      {P(0, "f32[2]") P(1, "s32[]") "ROOT r = f32[] reduce(p0, p1), dimensions={0}, to_apply=add",
       "operand 1 has shape s32[], wanted f32[]"},
      {P(0, "f32[2]") P(1, "f32[]") "ROOT r = f32[] reduce(p0, p1, p1), dimensions={0}, to_apply=add",
       "found 3 operands, wanted as many initial values as arrays"},
      {P(0, "f32[2]") P(1, "f32[]") "ROOT r = f32[] reduce(p0, p1), dimensions={0}, to_apply=ge",
       "returns pred[], wanted f32[]"},
      {P(0, "s32[2]") P(1, "s32[]") "ROOT r = s32[] reduce(p0, p1), dimensions={0}, to_apply=add",
       "parameter 0 of computation 'add' has shape f32[], wanted s32[]"},
      {P(0, "f32[2,3]") "ROOT r = s32[2,3] map(p0), dimensions={0,1}, to_apply=to_int", NULL},
      {P(0, "f32[2,3]") "ROOT r = s32[2,3] map(p0), dimensions={1,0}, to_apply=to_int",
       "does not count all 2 dimensions"},
      {P(0, "f32[2]") "ROOT r = f32[2] map(p0), dimensions={0}, to_apply=vector", "returns f32[2], wanted a scalar"},
      {P(0, "f32[2]") "ROOT r = f32[2] map(p0, p0, p0), dimensions={0}, to_apply=add", "has 2 parameters, wanted 3"},
      {P(0, "f32[2,3]") "ROOT r = f32[2,3] sort(p0), dimensions={1}, to_apply=ge", NULL},
      {P(0, "f32[2]") P(1, "s32[2]") "ROOT r = (f32[2], s32[2]) sort(p0, p1), dimensions={0}, to_apply=ge2", NULL},
      {P(0, "f32[2]") P(1, "s32[3]") "ROOT r = (f32[2], s32[3]) sort(p0, p1), dimensions={0}, to_apply=ge2",
       "operand 1 has shape s32[3]"},
      {P(0, "f32[2]") "ROOT r = f32[2] sort(p0), dimensions={1}, to_apply=ge", "dimensions[0] is 1"},
      {P(0, "f32[2]") "ROOT r = f32[2] sort(p0), dimensions={0}, to_apply=add", "returns f32[], wanted pred[]"},
  };
  CHECK(cases);
}

static void test_windows(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[4,7]")
           P(1,
             "f32[]") "ROOT r = f32[4,3] reduce-window(p0, p1), window={size=1x2 stride=1x3 pad=0_0x1_0}, to_apply=add",
       NULL},
      {P(0, "f32[7]") P(
           1, "f32[]") "ROOT r = f32[9] reduce-window(p0, p1), window={size=3 lhs_dilate=2 rhs_dilate=2}, to_apply=add",
       NULL},
      {P(0, "f32[2]") P(1, "f32[]") "ROOT r = f32[0] reduce-window(p0, p1), window={size=3}, to_apply=add", NULL},
      {P(0, "f32[7]") P(1, "f32[]") "ROOT r = f32[7] reduce-window(p0, p1), window={size=3x3}, to_apply=add",
       "the window has 2 dimensions"},
      {P(0, "f32[7]") P(1, "f32[]") "ROOT r = f32[7] reduce-window(p0, p1), window={size=0}, to_apply=add",
       "window dimension 0 has size 0"},
      {P(0, "f32[7]") P(1, "f32[]") "ROOT r = f32[7] reduce-window(p0, p1), window={size=2 stride=0}, to_apply=add",
       "stride 0"},
      {P(0, "f32[7]") P(1, "f32[]") "ROOT r = f32[7] reduce-window(p0, p1), window={size=1 "
                                    "pad=4611686018427387904_4611686018427387904}, to_apply=add",
       "the padded size is too large"},
      {P(0, "f32[4]") P(1, "f32[2]") P(
           2,
           "f32[]") "ROOT r = f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add",
       NULL},
      {P(0, "f32[4]") P(1, "f32[3]") P(
           2,
           "f32[]") "ROOT r = f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add",
       "the source has shape f32[3], wanted f32[2]"},
      {P(0, "f32[4]") P(1, "f32[2]") P(
           2,
           "f32[]") "ROOT r = f32[4] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=add, scatter=add",
       "returns f32[], wanted pred[]"},
  };
  CHECK(cases);
}

#define DOT(batch, lhs, rhs)                                                                        \
  "dot(p0, p1), lhs_batch_dims={" batch "}, lhs_contracting_dims={" lhs "}, rhs_batch_dims={" batch \
  "}, rhs_contracting_dims={" rhs "}"

static void test_dots(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2,3,4]") P(1, "f32[2,4,5]") "ROOT r = f32[2,3,5] " DOT("0", "2", "1"), NULL},
      {P(0, "f32[4]") P(1, "f32[4]") "ROOT r = f32[] " DOT("", "0", "0"), NULL},
      {P(0, "f32[2]") P(1, "f32[3]") "ROOT r = f32[2,3] dot(p0, p1)", NULL},
      {P(0, "bf16[4]") P(1, "bf16[4]") "ROOT r = f32[] " DOT("", "0", "0"), NULL},
      {P(0, "s8[4]") P(1, "u8[4]") "ROOT r = s32[] " DOT("", "0", "0"), NULL},
      {P(0, "s8[4]") P(1, "s8[4]") "ROOT r = f32[] " DOT("", "0", "0"), NULL},
      {P(0, "pred[4]") P(1, "pred[4]") "ROOT r = f32[] " DOT("", "0", "0"), NULL},
      {P(0, "s64[4]") P(1, "s64[4]") "ROOT r = f32[] " DOT("", "0", "0"), "wanted s64[]"},
      {P(0, "f32[3,4]") P(1, "f32[5,6]") "ROOT r = f32[3,6] " DOT("", "1", "0"),
       "dot: contracting dimension 1 of lhs has size 4, that of rhs (dimension 0) has size 5"},
      {P(0, "f32[2,4]") P(1, "f32[3,4]") "ROOT r = f32[2] " DOT("0", "1", "1"), "batch dimension 0 of lhs has size 2"},
      {P(0, "f32[4]") P(1, "f32[4]") "ROOT r = f32[] " DOT("0", "0", "0"), "dimension 0 is named twice"},
      {P(0, "f32[4]") P(1, "f32[4]") "ROOT r = f32[] " DOT("", "1", "0"), "lhs_contracting_dims[0] is 1"},
      {P(0, "f32[4]") P(1, "f32[2]") "ROOT r = f32[] dot(p0, p1, p1), lhs_contracting_dims={0}", NULL},
      {P(0, "f32[4]") P(1, "f32[2]") "ROOT r = f32[] dot(p0, p1, p1), lhs_contracting_dims={1}",
       "lhs_contracting_dims[0] is 1"},
      {P(0, "f32[4]") P(1, "f32[4]") "ROOT r = f32[] " DOT("", "0", ""), "found 1 contracting dimensions of lhs"},
      {P(0, "f32[4]") P(1, "c64[4]") "ROOT r = f32[] " DOT("", "0", "0"), "cannot multiply f32 by c64"},
      {P(0, "bf16[4]") P(1, "s8[4]") "ROOT r = f32[] " DOT("", "0", "0"), NULL},
      {P(0, "f32[4]") P(1, "f32[4]") "ROOT r = s32[] " DOT("", "0", "0"), "wanted f32[]"},
      {P(0, "f32[9,4]") P(1, "f32[3,4,5]")
           P(2, "s32[3]") "ROOT r = f32[9,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
       NULL},
      {P(0, "f32[9,4]") P(1, "f32[4,5]")
           P(2, "s32[3]") "ROOT r = f32[3,9,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={}",
       NULL},
      {P(0, "f32[9,4]") P(1, "f32[3,4,5]")
           P(2, "s32[2]") "ROOT r = f32[9,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
       "found 2 group sizes, wanted the 3 groups of rhs"},
      {P(0, "f32[9,4]") P(1, "f32[3,4,5]")
           P(2, "s32[3]") "ROOT r = f32[9,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={1}, lhs_ragged_dims={}, rhs_group_dims={0}",
       "lhs_ragged_dims has 0 entries"},
  };
  CHECK(cases);
}

static void test_convolutions(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[1,8,8,3]") P(1, "f32[3,3,3,16]") "ROOT r = f32[1,8,8,16] convolution(p0, p1), window={size=3x3 "
                                                  "pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
       NULL},
      {P(0, "f32[2,6,9]") P(1, "f32[4,3,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, "
                                             "dim_labels=bf0_oi0->bf0, feature_group_count=2",
       NULL},
      {P(0, "f32[4,6,9]") P(1, "f32[4,6,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, "
                                             "dim_labels=bf0_oi0->bf0, batch_group_count=2",
       NULL},
      {P(0, "f32[2,3]") P(1, "f32[3,4]") "ROOT r = f32[2,4] convolution(p0, p1), dim_labels=bf_io->bf", NULL},
      {P(0, "f32[2,6,9]")
           P(1, "f32[4,3,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, dim_labels=bf0_oi0->bf0",
       "the kernel has 3 input features, wanted 6 of the input in 1 groups"},
      {P(0, "f32[2,6,9]") P(1, "f32[4,3,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, "
                                             "dim_labels=bf0_oi0->bf0, feature_group_count=4",
       "feature_group_count is 4, wanted a divisor of 6 input and 4 output features"},
      {P(0, "f32[2,6,9]") P(1, "f32[4,3,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, "
                                             "dim_labels=bf0_oi0->bf0, feature_group_count=0",
       "found feature_group_count 0"},
      {P(0, "f32[3,6,9]") P(1, "f32[4,6,3]") "ROOT r = f32[3,4,7] convolution(p0, p1), window={size=3}, "
                                             "dim_labels=bf0_oi0->bf0, batch_group_count=2",
       "batch_group_count is 2, wanted a divisor of a batch of 3"},
      {P(0, "f32[2,6,9]")
           P(1, "f32[4,6,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=2}, dim_labels=bf0_oi0->bf0",
       "window dimension 0 has size 2, the kernel 3"},
      {P(0, "f32[2,6,9]")
           P(1, "f32[4,6,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3x3}, dim_labels=bf0_oi0->bf0",
       "the window has 2 dimensions, wanted one for each of 1 spatial ones"},
      {P(0, "f32[2,6,9,1]")
           P(1, "f32[4,6,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, dim_labels=bf0_oi0->bf0",
       "the input has rank 4, dim_labels wants 3"},
      {P(0, "f32[2,6,9]")
           P(1, "c64[4,6,3]") "ROOT r = f32[2,4,7] convolution(p0, p1), window={size=3}, dim_labels=bf0_oi0->bf0",
       "cannot multiply f32 by c64"},
  };
  CHECK(cases);
}

static void test_tuples_and_calls(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "f32[2]") P(1, "s32[]") "ROOT r = (f32[2], s32[]) tuple(p0, p1)", NULL},
      {"ROOT r = () tuple()", NULL},
      {P(0, "f32[2]") "ROOT r = (f32[2], s32[]) tuple(p0)",
       "found the result's shape (f32[2], s32[]), wanted (f32[2])"},
      {P(0, "(f32[2], s32[])") "ROOT r = s32[] get-tuple-element(p0), index=1", NULL},
      {P(0, "(f32[2], s32[])") "ROOT r = s32[] get-tuple-element(p0), index=2",
       "index is 2, wanted an element of a tuple of 2"},
      {P(0, "(f32[2], s32[])") "ROOT r = s32[] get-tuple-element(p0), index=-1", "index is -1"},
      {P(0, "f32[2]") "ROOT r = s32[] get-tuple-element(p0), index=0", "the operand has shape f32[2], wanted a tuple"},
      {P(0, "f32[2]") "ROOT r = f32[2] call(p0), to_apply=neg", NULL},
      {P(0, "f32[2]") "ROOT r = f32[2] fusion(p0), kind=kLoop, calls=neg", NULL},
      {P(0, "f32[3]") "ROOT r = f32[2] call(p0), to_apply=neg",
       "parameter 0 of computation 'neg' has shape f32[2], wanted f32[3]"},
      {P(0, "f32[2]") "ROOT r = f32[2] call(p0, p0), to_apply=neg", "has 1 parameters, wanted 2"},
      {P(0, "f32[2]") "ROOT r = f32[3] fusion(p0), kind=kLoop, calls=neg", "wanted f32[2]"},
      {P(0, "f32[2]") "ROOT r = f32[2] while(p0), condition=yes, body=neg", NULL},
      {P(0, "f32[2]") "ROOT r = f32[2] while(p0), condition=neg, body=neg", "returns f32[2], wanted pred[]"},
      {P(0, "f32[2]") "ROOT r = f32[2] while(p0), condition=yes, body=yes",
       "the body returns pred[], wanted the operand's shape"},
      {P(0, "f32[3]") "ROOT r = f32[3] while(p0), condition=yes, body=neg3", "parameter 0 of computation 'yes'"},
      {P(0, "pred[]")
           P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1, p1), true_computation=neg, false_computation=neg",
       NULL},
      {P(0, "s32[]") P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1, p1, p1), branch_computations={neg, neg, neg}",
       NULL},
      {P(0, "s32[]") P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1, p1), branch_computations={neg, neg3}",
       "branch 1 returns f32[3], wanted what branch 0 returns, f32[2]"},
      {P(0, "pred[]") P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1, p1, p1), branch_computations={neg, neg, neg}",
       "found 3 branches, wanted 2"},
      {P(0, "f32[]") P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1, p1), branch_computations={neg, neg}",
       "wanted pred[] or s32[]"},
      {P(0, "s32[]") P(1, "f32[2]") "ROOT r = f32[2] conditional(p0, p1), branch_computations={neg, neg}",
       "found 2 operands for 2 branches"},
      {P(0, "s32[]") P(1, "f32[3]") "ROOT r = f32[2] conditional(p0, p1), branch_computations={neg}",
       "parameter 0 of computation 'neg'"},
      {"t = token[] after-all() ROOT r = token[] after-all(t, t)", NULL},
      {P(0, "f32[]") "ROOT r = token[] after-all(p0)", NULL},
      {"ROOT r = f32[] after-all()", "wanted token[]"},
      {P(0, "(f32[2], s32[])") "ROOT r = (f32[2], s32[]) opt-barrier(p0)", NULL},
      {P(0, "(f32[2], s32[])") "ROOT r = (f32[2]) opt-barrier(p0)", "wanted (f32[2], s32[])"},
  };
  CHECK(cases);
}

// An inferred shape that fits nowhere is refused, whatever was given.
static void test_huge_results(void **state) {
  (void)state;
  static const shape_case cases[] = {
      {P(0, "s8[4611686018427387904]") "ROOT r = s8[2] concatenate(p0, p0), dimensions={0}", "concatenate"},
      {P(0, "s8[2147483649,4]") P(1, "s8[2147483649,4]") "ROOT r = s8[2147483648,2147483648] " DOT("", "1", "1"),
       "multiply to more than 2^62"},
      {P(0, "s8[4611686018427387904]") P(1, "s8[]") "ROOT r = s8[2] pad(p0, p1), padding=1_0",
       "multiply to more than 2^62"},
  };
  CHECK(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise),
      cmocka_unit_test(test_bitcast_convert),
      cmocka_unit_test(test_clamp_and_select),
      cmocka_unit_test(test_broadcast_and_iota),
      cmocka_unit_test(test_reshape_bitcast_transpose_reverse),
      cmocka_unit_test(test_slice_and_pad),
      cmocka_unit_test(test_concatenate_and_dynamic_slices),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_reduce_map_sort),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_dots),
      cmocka_unit_test(test_convolutions),
      cmocka_unit_test(test_tuples_and_calls),
      cmocka_unit_test(test_huge_results),
  };
  return cmocka_run_group_tests_name("shape_inference", tests, NULL, NULL);
}
