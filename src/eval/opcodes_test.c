// Every opcode with every element type: each is evaluated, or is on the list of what is refused and says why.
#include "eval/testing.h"

// A small module per opcode. In a body, $ is the element type; x is $[2] of ones, y $[2,2] of ones, s $[] 1, n s32[] 1,
// t a token; the computations are id, second, take and all_equal.
typedef struct opcode_case {
  const char *body;
  dtype_class classes;  // 0: as ops.def says
} opcode_case;

static const opcode_case cases[HLO_OPCODE_COUNT] = {
    [HLO_ADD_DEPENDENCY] = {"ROOT r = $[2] add-dependency(x, t)"},
    [HLO_AFTER_ALL] = {"ROOT r = token[] after-all(t, t)"},
    [HLO_ALL_GATHER] = {"ROOT r = $[2] all-gather(x), dimensions={0}"},
    [HLO_ALL_GATHER_DONE] = {"a = ($[2], $[2]) all-gather-start(x), dimensions={0}\n ROOT r = $[2] all-gather-done(a)"},
    [HLO_ALL_GATHER_START] = {"ROOT r = ($[2], $[2]) all-gather-start(x), dimensions={0}"},
    [HLO_ALL_REDUCE] = {"ROOT r = $[2] all-reduce(x), to_apply=second"},
    [HLO_ALL_REDUCE_DONE] = {"a = $[2] all-reduce-start(x), to_apply=second\n ROOT r = $[2] all-reduce-done(a)"},
    [HLO_ALL_REDUCE_START] = {"ROOT r = $[2] all-reduce-start(x), to_apply=second"},
    [HLO_ALL_TO_ALL] = {"ROOT r = $[2] all-to-all(x), dimensions={0}"},
    [HLO_ASYNC_DONE] = {"a = (($[2]), $[2], u32[]) async-start(x), calls=keep\n ROOT r = $[2] async-done(a)"},
    [HLO_ASYNC_START] = {"ROOT r = (($[2]), $[2], u32[]) async-start(x), calls=keep"},
    [HLO_ASYNC_UPDATE] = {"a = (($[2]), $[2], u32[]) async-start(x), calls=keep\n"
                          "ROOT r = (($[2]), $[2], u32[]) async-update(a)"},
    [HLO_BATCH_NORM_GRAD] =
        {"ROOT r = ($[2,2], $[2], $[2]) batch-norm-grad(y, x, x, x, y), epsilon=1, feature_index=1"},
    [HLO_BATCH_NORM_INFERENCE] = {"ROOT r = $[2,2] batch-norm-inference(y, x, x, x, x), epsilon=1, feature_index=1"},
    [HLO_BATCH_NORM_TRAINING] = {"ROOT r = ($[2,2], $[2], $[2]) batch-norm-training(y, x, x), epsilon=1, "
                                 "feature_index=1"},
    [HLO_BITCAST] = {"ROOT r = $[2,2]{0,1} bitcast(y)"},
    [HLO_BITCAST_CONVERT] = {"ROOT r = $[2] bitcast-convert(x)"},
    [HLO_BROADCAST] = {"ROOT r = $[2,3] broadcast(x), dimensions={0}"},
    [HLO_CALL] = {"ROOT r = $[2] call(x), to_apply=keep"},
    [HLO_CHOLESKY] = {"ROOT r = $[2,2] cholesky(y)"},
    [HLO_COLLECTIVE_BROADCAST] = {"ROOT r = $[2] collective-broadcast(x), replica_groups={{0}}"},
    [HLO_COLLECTIVE_PERMUTE] = {"ROOT r = $[2] collective-permute(x), source_target_pairs={{0,0}}"},
    [HLO_COLLECTIVE_PERMUTE_DONE] = {"a = ($[2], $[2]) collective-permute-start(x), source_target_pairs={{0,0}}\n"
                                     "ROOT r = $[2] collective-permute-done(a)"},
    [HLO_COLLECTIVE_PERMUTE_START] = {"ROOT r = ($[2], $[2]) collective-permute-start(x), source_target_pairs={{0,0}}"},
    [HLO_COLLECTIVE_REDUCE] = {"ROOT r = $[2] collective-reduce(x), to_apply=second"},
    [HLO_CONCATENATE] = {"ROOT r = $[4] concatenate(x, x), dimensions={0}"},
    [HLO_CONDITIONAL] = {"ROOT r = $[2] conditional(n, x, x), branch_computations={keep, keep}"},
    [HLO_CONSTANT] = {"ROOT r = $[0] constant({})"},
    [HLO_CONVOLUTION] = {"ROOT r = $[2,2] convolution(y, y), dim_labels=bf_io->bf"},
    [HLO_COPY] = {"ROOT r = $[2] copy(x)"},
    [HLO_COPY_DONE] = {"a = ($[2], $[2], u32[]) copy-start(x)\n ROOT r = $[2] copy-done(a)"},
    [HLO_COPY_START] = {"ROOT r = ($[2], $[2], u32[]) copy-start(x)"},
    [HLO_CUSTOM_CALL] = {"ROOT r = $[2] custom-call(x), custom_call_target=\"Sharding\""},
    [HLO_DOMAIN] = {"ROOT r = $[2] domain(x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}"},
    [HLO_DOT] = {"ROOT r = $[2,2] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    [HLO_DYNAMIC_RESHAPE] = {"ROOT r = $[<=2,1] dynamic-reshape(x, two, n)"},
    [HLO_DYNAMIC_SLICE] = {"ROOT r = $[1] dynamic-slice(x, n), dynamic_slice_sizes={1}"},
    [HLO_DYNAMIC_UPDATE_SLICE] = {"z = $[1] reshape(s)\n ROOT r = $[2] dynamic-update-slice(x, z, n)"},
    [HLO_FFT] = {"ROOT r = $[2] fft(x), fft_type=FFT, fft_length={2}", CLASS_COMPLEX},
    [HLO_FUSION] = {"ROOT r = $[2] fusion(x), kind=kCustom, calls=keep"},
    [HLO_GATHER] = {"i = s32[1,1] broadcast(n), dimensions={}\n ROOT r = $[1] gather(x, i), offset_dims={}, "
                    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"},
    [HLO_GET_DIMENSION_SIZE] = {"ROOT r = s32[] get-dimension-size(x), dimensions={0}"},
    [HLO_GET_TUPLE_ELEMENT] = {"a = ($[2]) tuple(x)\n ROOT r = $[2] get-tuple-element(a), index=0"},
    [HLO_INFEED] = {"ROOT r = ($[2], token[]) infeed(t)"},
    [HLO_IOTA] = {"ROOT r = $[2] iota(), iota_dimension=0"},
    [HLO_MAP] = {"ROOT r = $[2] map(x, x), dimensions={0}, to_apply=second"},
    [HLO_OPT_BARRIER] = {"ROOT r = $[2] opt-barrier(x)"},
    [HLO_OUTFEED] = {"ROOT r = token[] outfeed(x, t), outfeed_shape=$[2]{0}"},
    [HLO_PAD] = {"ROOT r = $[4] pad(x, s), padding=1_1"},
    [HLO_PARAMETER] = {"ROOT r = $[2] call(x), to_apply=keep"},
    [HLO_PARTITION_ID] = {"ROOT r = u32[] partition-id()"},
    [HLO_RAGGED_ALL_TO_ALL] = {"l = s32[1] reshape(n)\n ROOT r = $[2] ragged-all-to-all(x, x, l, l, l, l)"},
    [HLO_RAGGED_DOT] = {"l = s32[1] reshape(n)\n z = $[1,2,2] reshape(y)\n ROOT r = $[2,2] ragged-dot(y, z, l), "
                        "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"},
    [HLO_RECV] = {"ROOT r = ($[2], u32[], token[]) recv(t), channel_id=1"},
    [HLO_RECV_DONE] = {"a = ($[2], u32[], token[]) recv(t), channel_id=1\n"
                       "b = ($[2], u32[], token[]) send(x, t), channel_id=1\n"
                       "ROOT r = ($[2], token[]) recv-done(a), channel_id=1"},
    [HLO_REDUCE] = {"ROOT r = $[] reduce(x, s), dimensions={0}, to_apply=second"},
    [HLO_REDUCE_SCATTER] = {"ROOT r = $[2] reduce-scatter(x), dimensions={0}, to_apply=second"},
    [HLO_REDUCE_WINDOW] = {"ROOT r = $[1] reduce-window(x, s), window={size=2}, to_apply=second"},
    [HLO_REPLICA_ID] = {"ROOT r = u32[] replica-id()"},
    [HLO_RESHAPE] = {"ROOT r = $[4] reshape(y)"},
    [HLO_REVERSE] = {"ROOT r = $[2] reverse(x), dimensions={0}"},
    [HLO_RNG] = {"ROOT r = $[2] rng(s, s), distribution=rng_uniform"},
    [HLO_RNG_BIT_GENERATOR] = {"g = u64[2] constant({1,2})\n"
                               "ROOT r = (u64[2], $[2]) rng-bit-generator(g), algorithm=rng_default",
                               CLASS_REAL},
    [HLO_RNG_GET_AND_UPDATE_STATE] = {"ROOT r = u64[2] rng-get-and-update-state(), delta=1"},
    [HLO_SCALED_DOT] = {"z = f32[1,1] constant({{1}})\n ROOT r = f32[2,2] scaled-dot(y, y, z, z), "
                        "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    [HLO_SCAN] = {"ROOT r = ($[2], $[]) scan(x, s), dimensions={0}, num_carries=1, to_apply=pair"},
    [HLO_SCATTER] = {"i = s32[1,1] broadcast(n), dimensions={}\n u = $[1] reshape(s)\n ROOT r = $[2] scatter(x, i, u), "
                     "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                     "index_vector_dim=1, to_apply=second"},
    [HLO_SELECT] = {"p = pred[2] constant({true,false})\n ROOT r = $[2] select(p, x, x)"},
    [HLO_SELECT_AND_SCATTER] = {"z = $[1] reshape(s)\n ROOT r = $[2] select-and-scatter(x, z, s), window={size=2}, "
                                "select=all_equal, scatter=second"},
    [HLO_SEND] = {"ROOT r = ($[2], u32[], token[]) send(x, t), channel_id=1"},
    [HLO_SEND_DONE] = {"a = ($[2], u32[], token[]) send(x, t), channel_id=1\n"
                       "ROOT r = token[] send-done(a), channel_id=1"},
    [HLO_SET_DIMENSION_SIZE] = {"ROOT r = $[<=2] set-dimension-size(x, n), dimensions={0}"},
    [HLO_SHUFFLE] = {"ROOT r = $[2] shuffle(x)"},
    [HLO_SLICE] = {"ROOT r = $[1] slice(x), slice={[1:2]}"},
    [HLO_SORT] = {"ROOT r = $[2] sort(x), dimensions={0}, to_apply=all_equal"},
    [HLO_STOCHASTIC_CONVERT] = {"u = u32[2] constant({1,2})\n ROOT r = s8[2] stochastic-convert(x, u)"},
    [HLO_TOPK] = {"ROOT r = ($[1], s32[1]) topk(x), k=1, largest=true"},
    [HLO_TRANSPOSE] = {"ROOT r = $[2,2] transpose(y), dimensions={1,0}"},
    [HLO_TRIANGULAR_SOLVE] = {"ROOT r = $[2,2] triangular-solve(y, y), left_side=true, lower=true, "
                              "transpose_a=NO_TRANSPOSE"},
    [HLO_TUPLE] = {"ROOT r = ($[2], $[2,2]) tuple(x, y)"},
    [HLO_WHILE] = {"ROOT r = $[2] while(x), condition=never, body=keep"},
};

// What is refused on purpose. HEDDLE_INVALID: the program itself is not allowed, or cannot run alone.
static const struct {
  hlo_opcode opcode;
  dtype_class classes;
  const char *message;
} refusals[] = {
    {HLO_INFEED, CLASS_ARRAY, "finds nothing"},
    {HLO_IOTA, CLASS_PRED, "wanted numbers"},
    {HLO_REMAINDER, CLASS_COMPLEX, "cannot do remainder r: c"},
    {HLO_RNG, CLASS_COMPLEX, "cannot do rng r: random numbers of c"},
    {HLO_STOCHASTIC_CONVERT, CLASS_COMPLEX, "cannot convert c"},
    {HLO_STOCHASTIC_CONVERT, CLASS_INTEGER | CLASS_PRED, "operands other than floats and bits"},
};

static const char *refusal_of(hlo_opcode op, dtype t) {
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++)
    if (refusals[k].opcode == op && refusals[k].classes & dtypes[t].class) return refusals[k].message;
  return NULL;
}

// Elementwise operations need no row: the result's type follows from the rule of its shape.
static void elementwise_body(text *out, hlo_opcode op, dtype t) {
  const hlo_op_info *info = &hlo_ops[op];
  const char *result = dtype_name(t), *more = "";
  if (info->shape_rule == SHAPE_RULE_PREDICATE) result = "pred";
  if (info->shape_rule == SHAPE_RULE_PART && dtype_is_complex(t)) result = dtype_name(dtypes[t].part);
  if (info->shape_rule == SHAPE_RULE_COMPLEX) result = t == DTYPE_F64 ? "c128" : "c64";
  if (op == HLO_COMPARE) more = ", direction=EQ";
  if (op == HLO_REDUCE_PRECISION) more = ", exponent_bits=5, mantissa_bits=2";
  text_printf(out, "ROOT r = %s[2] %s(x%s)%s", result, info->text,
              info->arity == 3   ? ", x, x"
              : info->arity == 2 ? ", x"
                                 : "",
              more);
}

static void replace_types(text *out, const char *body, dtype t) {
  for (; *body; body++) {
    if (*body == '$') text_puts(out, dtype_name(t));
    else text_printf(out, "%c", *body);
  }
}

static void write_module(text *out, hlo_opcode op, dtype t) {
  text body = {0};
  replace_types(
      &body,
      "HloModule m\n"
      "second { a = $[] parameter(0)\n b = $[] parameter(1)\n ROOT r = $[] copy(b) }\n"
      "all_equal { a = $[] parameter(0)\n b = $[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=EQ }\n"
      "pair { a = $[] parameter(0)\n b = $[] parameter(1)\n ROOT r = ($[], $[]) tuple(b, a) }\n"
      "keep { a = $[2] parameter(0)\n ROOT r = $[2] copy(a) }\n"
      "never { a = $[2] parameter(0)\n ROOT r = pred[] constant(false) }\n"
      "ENTRY e {\n one = s32[2] constant({1,1})\n x = $[2] convert(one)\n y = $[2,2] broadcast(x), "
      "dimensions={0}\n x0 = $[1] slice(x), slice={[0:1]}\n s = $[] reshape(x0)\n n = s32[] constant(1)\n"
      "two = s32[] constant(2)\n t = token[] after-all()\n",
      t);
  text_puts(out, text_cstr(&body));
  text_free(&body);
  if (cases[op].body) replace_types(out, cases[op].body, t);
  else elementwise_body(out, op, t);
  text_puts(out, "\n}\n");
}

static bool is_tried(hlo_opcode op, dtype t) {
  const dtype_class classes = cases[op].classes ? cases[op].classes : hlo_ops[op].classes;
  if (!dtype_is_array(t)) return false;
  if (op == HLO_COMPLEX) return t == DTYPE_F32 || t == DTYPE_F64;
  if (op == HLO_TOPK || op == HLO_SCALED_DOT) return dtype_is_float(t);
  return !classes || classes & dtypes[t].class;
}

// Whether what happened is what the lists say; else it is printed.
static bool check_one(hlo_opcode op, dtype t) {
  text source = {0};
  write_module(&source, op, t);
  arena *a = arena_create();
  module *m;
  literal *result;
  heddle_status status = hlo_parse(a, "test", text_view(&source), &m);
  if (status_is_ok(status)) status = eval_module(a, m, 0, NULL, &result);
  const char *wanted = refusal_of(op, t);
  const bool fits =
      wanted ? !status_is_ok(status) && strstr(heddle_status_message(status), wanted) : status_is_ok(status);
  if (!fits)
    print_error("%s of %s: %s\n", hlo_op_text(op), dtype_name(t),
                status_is_ok(status) ? "not refused" : heddle_status_message(status));
  heddle_status_free(status);
  arena_destroy(a);
  text_free(&source);
  return fits;
}

static void test_every_opcode_and_type(void **state) {
  (void)state;
  int failures = 0;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++) {
    assert_true(eval_supports((hlo_opcode)op));
    if (!cases[op].body && !hlo_op_has((hlo_opcode)op, TRAIT_ELEMENTWISE)) {
      print_error("%s has no case\n", hlo_op_text((hlo_opcode)op));
      failures++;
      continue;
    }
    for (int t = 0; t < DTYPE_COUNT; t++)
      if (is_tried((hlo_opcode)op, (dtype)t) && !check_one((hlo_opcode)op, (dtype)t)) failures++;
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_opcode_and_type)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
