// Collectives and transfers, alone and among several processes.
#include "eval/testing.h"

// Sums, then `programs`, then an entry that runs the grid in the custom call named by its text.
static void expect(const char *programs, const char *entry, const char *expected) {
  text source = {0};
  text_printf(&source,
              "HloModule m\nadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n%s\n"
              "ENTRY e {\n%s\n}\n",
              programs, entry);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void expect_error(const char *programs, const char *entry, heddle_code code, const char *message) {
  text source = {0};
  text_printf(&source,
              "HloModule m\nadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n%s\n"
              "ENTRY e {\n%s\n}\n",
              programs, entry);
  testing_expect_error(text_cstr(&source), NULL, code, message);
  text_free(&source);
}

// The program "f" of one operand s32[2] on four processes, with 1 2, 3 4, 5 6, 7 8.
static void expect_four(const char *instruction, const char *grid, const char *type, const char *expected) {
  text program = {0}, entry = {0};
  text_printf(&program, "f { x = s32[2] parameter(0)\n ROOT r = %s }\n", instruction);
  text_printf(&entry,
              "a = s32[2] constant({1,2})\n b = s32[2] constant({3,4})\n c = s32[2] constant({5,6})\n"
              "d = s32[2] constant({7,8})\n ROOT r = (%s,%s,%s,%s) custom-call(a,b,c,d), "
              "custom_call_target=\"interpreter.run_parallel\", called_computations={f,f,f,f}, backend_config=\"%s\"",
              type, type, type, type, grid);
  expect(text_cstr(&program), text_cstr(&entry), expected);
  text_free(&program);
  text_free(&entry);
}

static void test_alone(void **state) {
  (void)state;
  const char *x = "x = s32[2] constant({1,2})\n";
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"ROOT r = s32[2] all-gather(x), dimensions={0}", "{1, 2}"},
      {"ROOT r = s32[2] all-reduce(x), to_apply=add", "{1, 2}"},
      {"ROOT r = (s32[2], s32[2]) all-reduce(x, x), replica_groups={{0}}, to_apply=add", "({1, 2}, {1, 2})"},
      {"ROOT r = s32[2] all-to-all(x), dimensions={0}, replica_groups={{0}}", "{1, 2}"},
      {"ROOT r = (s32[2]) all-to-all(x), replica_groups={{0}}", "({1, 2})"},
      {"ROOT r = s32[2] collective-broadcast(x), replica_groups={{0}}", "{1, 2}"},
      {"ROOT r = s32[2] collective-permute(x), source_target_pairs={{0,0}}", "{1, 2}"},
      {"ROOT r = s32[2] collective-permute(x), source_target_pairs={}", "{0, 0}"},
      {"ROOT r = s32[2] collective-reduce(x), to_apply=add", "{1, 2}"},
      {"ROOT r = s32[2] reduce-scatter(x), dimensions={0}, to_apply=add", "{1, 2}"},
      {"s = (s32[2], s32[2]) all-gather-start(x), dimensions={0}\n ROOT r = s32[2] all-gather-done(s)", "{1, 2}"},
      {"s = s32[2] all-reduce-start(x), to_apply=add\n ROOT r = s32[2] all-reduce-done(s)", "{1, 2}"},
      {"s = (s32[2], s32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,0}}\n"
       "ROOT r = s32[2] collective-permute-done(s)",
       "{1, 2}"},
      {"ROOT r = u32[] partition-id()", "0"},
      {"ROOT r = u32[] replica-id()", "0"},
      {"ROOT r = s32[2] shuffle(x)", "{1, 2}"},
      {"s = (s32[2], s32[2], u32[]) copy-start(x)\n ROOT r = s32[2] copy-done(s)", "{1, 2}"},
      {"s = ((s32[2]), s32[2], u32[]) negate-start(x)\n u = ((s32[2]), s32[2], u32[]) negate-update(s)\n"
       "ROOT r = s32[2] negate-done(u)",
       "{-1, -2}"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text entry = {0};
    text_printf(&entry, "%s%s", x, cases[k].text);
    expect("", text_cstr(&entry), cases[k].expected);
    text_free(&entry);
  }
}

static void test_modes(void **state) {
  (void)state;
  // Two replicas of two partitions: processes (0,0), (0,1), (1,0), (1,1).
  expect_four("s32[2] all-reduce(x), to_apply=add", "replicas=2 partitions=2", "s32[2]",
              "({6, 8}, {10, 12}, {6, 8}, {10, 12})");
  expect_four("s32[2] all-reduce(x), channel_id=1, replica_groups={{0},{1}}, to_apply=add", "replicas=2 partitions=2",
              "s32[2]", "({4, 6}, {4, 6}, {12, 14}, {12, 14})");
  expect_four(
      "s32[2] all-reduce(x), channel_id=1, replica_groups={{0,3},{1,2}}, use_global_device_ids=true, to_apply=add",
      "replicas=2 partitions=2", "s32[2]", "({8, 10}, {8, 10}, {8, 10}, {8, 10})");
  expect_four("s32[8] all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}", "replicas=2 partitions=2",
              "s32[8]", "({1,2,5,6,3,4,7,8}, {1,2,5,6,3,4,7,8}, {1,2,5,6,3,4,7,8}, {1,2,5,6,3,4,7,8})");
  expect_four("s32[2] all-to-all(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}", "replicas=2 partitions=2",
              "s32[2]", "({1, 3}, {2, 4}, {5, 7}, {6, 8})");
}

static void test_exchanges(void **state) {
  (void)state;
  expect_four("s32[1] reduce-scatter(x), replica_groups={{0,1},{3,2}}, dimensions={0}, to_apply=add",
              "replicas=4 partitions=1", "s32[1]", "({4}, {6}, {14}, {12})");
  expect_four("s32[2] collective-broadcast(x), replica_groups={{1,0},{3}}", "replicas=4 partitions=1", "s32[2]",
              "({3, 4}, {3, 4}, {0, 0}, {7, 8})");
  expect_four("s32[2] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,3}}", "replicas=4 partitions=1",
              "s32[2]", "({0, 0}, {1, 2}, {3, 4}, {7, 8})");
  expect_four("s32[2] collective-permute(x), channel_id=3, source_target_pairs={{0,1},{1,0}}",
              "replicas=2 partitions=2", "s32[2]", "({3, 4}, {1, 2}, {7, 8}, {5, 6})");
  expect_four("s32[2] collective-reduce(x), replica_groups={{1,0,2}}, to_apply=add", "replicas=4 partitions=1",
              "s32[2]", "({0, 0}, {9, 12}, {0, 0}, {0, 0})");
}

// What arrives is written where the receiver says; a start beyond the array is the last one.
static void test_slices(void **state) {
  (void)state;
  static const char outputs[] = " o = s32[4] constant({9,9,9,9})\n";
  static const char one_start[] =
      " id = u32[] replica-id()\n one = s32[] constant(1)\n big = s32[] constant(99)\n"
      " from = (s32[]) tuple(big)\n to = (u32[]) tuple(id)\n";
  static const char two_starts[] =
      " a = s32[] constant(0)\n b = s32[] constant(1)\n c = s32[] constant(3)\n s0 = (s32[]) tuple(a)\n"
      " s1 = (s32[]) tuple(b)\n s3 = (s32[]) tuple(c)\n from = ((s32[]), (s32[])) tuple(s0, s1)\n"
      " to = ((s32[]), (s32[])) tuple(s3, s0)\n";
  static const struct {
    const char *starts, *operation, *expected;
  } cases[] = {
      {one_start,
       "s32[4] collective-permute(x, o, from, to), slice_sizes={{1}}, source_target_pairs={{0,1},{1,2},{3,3}}",
       "({9, 9, 9, 9}, {9, 2, 9, 9}, {9, 9, 4, 9}, {9, 9, 9, 8})"},
      {two_starts,
       "s32[4] collective-permute(x, o, from, to), slice_sizes={{1},{1}}, source_target_pairs={{0,1},{1,0},{0,0}}",
       "({2, 9, 9, 3}, {9, 9, 9, 1}, {9, 9, 9, 9}, {9, 9, 9, 9})"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text program = {0};
    text_printf(&program, "f { x = s32[2] parameter(0)\n%s%s ROOT r = %s }\n", outputs, cases[k].starts,
                cases[k].operation);
    expect(text_cstr(&program),
           "a = s32[2] constant({1,2})\n b = s32[2] constant({3,4})\n c = s32[2] constant({5,6})\n"
           "d = s32[2] constant({7,8})\n ROOT r = (s32[4],s32[4],s32[4],s32[4]) custom-call(a,b,c,d), "
           "custom_call_target=\"interpreter.run_parallel\", called_computations={f,f,f,f}, "
           "backend_config=\"replicas=4 partitions=1\"",
           cases[k].expected);
    text_free(&program);
  }
}

static void test_ragged_rows(void **state) {
  (void)state;
  // Process 0 keeps one row and sends two; process 1 sends one and keeps none.
  expect(
      "f { x = s32[3] parameter(0)\n o = s32[4] parameter(1)\n io = s64[2] parameter(2)\n ss = s64[2] parameter(3)\n"
      " oo = s64[2] parameter(4)\n rs = s64[2] parameter(5)\n"
      " ROOT r = s32[4] ragged-all-to-all(x, o, io, ss, oo, rs), replica_groups={{0,1}} }\n",
      "x = s32[3] constant({1,2,3})\n y = s32[3] constant({4,5,6})\n o = s32[4] constant({9,9,9,9})\n"
      "io = s64[2] constant({0,1})\n ss = s64[2] constant({1,2})\n oo = s64[2] constant({0,0})\n"
      "rs = s64[2] constant({1,1})\n io1 = s64[2] constant({2,0})\n ss1 = s64[2] constant({1,0})\n"
      "oo1 = s64[2] constant({1,2})\n rs1 = s64[2] constant({2,0})\n"
      "ROOT r = (s32[4], s32[4]) custom-call(x,o,io,ss,oo,rs,y,o,io1,ss1,oo1,rs1), "
      "custom_call_target=\"interpreter.run_parallel\", called_computations={f,f}, "
      "backend_config=\"replicas=2 partitions=1\"",
      "({1,6,9,9}, {2,3,9,9})");
}

// Different programs; the receiver runs first and waits; values on a channel keep their order.
static void test_channels(void **state) {
  (void)state;
  const char *programs =
      "get { t = token[] parameter(0)\n"
      " a = (s32[2], u32[], token[]) recv(t), channel_id=1\n ad = (s32[2], token[]) recv-done(a), channel_id=1\n"
      " at = token[] get-tuple-element(ad), index=1\n"
      " b = (s32[2], u32[], token[]) recv(at), channel_id=1\n bd = (s32[2], token[]) recv-done(b), channel_id=1\n"
      " av = s32[2] get-tuple-element(ad), index=0\n bv = s32[2] get-tuple-element(bd), index=0\n"
      " ROOT r = s32[2] subtract(av, bv) }\n"
      "put { x = s32[2] parameter(0)\n t = token[] parameter(1)\n"
      " a = (s32[2], u32[], token[]) send(x, t), channel_id=1\n ad = token[] send-done(a), channel_id=1\n"
      " y = s32[2] negate(x)\n"
      " b = (s32[2], u32[], token[]) send(y, ad), channel_id=1\n ROOT bd = token[] send-done(b), channel_id=1 }\n";
  const char *call =
      "x = s32[2] constant({1,2})\n t = token[] after-all()\n"
      "c = (s32[2], token[]) custom-call(t, x, t), custom_call_target=\"interpreter.run_parallel\", "
      "called_computations={get,put}, backend_config=\"replicas=1 partitions=2\"\n"
      "ROOT r = s32[2] get-tuple-element(c), index=0";
  expect(programs, call, "{2, 4}");
  // A program may send to itself.
  expect("",
         "x = s32[2] constant({1,2})\n t = token[] after-all()\n"
         "r0 = (s32[2], u32[], token[]) recv(t), channel_id=5\n"
         "s0 = (s32[2], u32[], token[]) send(x, t), channel_id=5\n s1 = token[] send-done(s0), channel_id=5\n"
         "r1 = (s32[2], token[]) recv-done(r0), channel_id=5, control-predecessors={s1}\n"
         "ROOT r = s32[2] get-tuple-element(r1), index=0",
         "{1, 2}");
}

// One program for all, whose transfers say who sends to whom.
static void test_paired_transfers(void **state) {
  (void)state;
  text program = {0};
  const char *pairs = "channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,2}}\"}";
  text_printf(&program,
              "f { x = s32[2] parameter(0)\n t = token[] after-all()\n"
              " a = (s32[2], u32[], token[]) recv(t), %s\n b = (s32[2], u32[], token[]) send(x, t), %s\n"
              " ad = (s32[2], token[]) recv-done(a), channel_id=1, control-predecessors={b}\n"
              " bd = token[] send-done(b), channel_id=1\n ROOT r = s32[2] get-tuple-element(ad), index=0 }\n",
              pairs, pairs);
  const char *entry =
      "x = s32[2] constant({1,2})\n y = s32[2] constant({3,4})\n"
      "ROOT r = (s32[2], s32[2], s32[2]) custom-call(x, y, x), custom_call_target=\"interpreter.run_parallel\", "
      "called_computations={f,f,f}, backend_config=\"%s\"";
  const char *grids[] = {"replicas=3 partitions=1", "replicas=1 partitions=3"};
  for (int k = 0; k < 2; k++) {
    text call = {0};
    text_printf(&call, entry, grids[k]);
    expect(text_cstr(&program), text_cstr(&call), "({0, 0}, {1, 2}, {3, 4})");
    text_free(&call);
  }
  text_free(&program);
}

static void test_missing_partners(void **state) {
  (void)state;
  const char *programs =
      "f { x = s32[2] parameter(0)\n ROOT r = s32[2] all-reduce(x), to_apply=add }\n"
      "g { ROOT x = s32[2] constant({1,2}) }\n"
      "h { x = s32[3] constant({1,2,3})\n ROOT r = s32[3] all-reduce(x), to_apply=add }\n"
      "n { x = s32[2] constant({1,2})\n ROOT r = s32[2] all-reduce(x), replica_groups={{0,2}}, to_apply=add }\n";
  const char *call =
      "x = s32[2] constant({1,2})\n ROOT r = (s32[2], %s) custom-call(x), "
      "custom_call_target=\"interpreter.run_parallel\", called_computations={f,%s}, "
      "backend_config=\"replicas=2 partitions=1\"";
  char entry[400];
  snprintf(entry, sizeof entry, call, "s32[2]", "g");
  expect_error(programs, entry, HEDDLE_INVALID, "process 0 waits at all-reduce r for processes that never come: 1");
  snprintf(entry, sizeof entry, call, "s32[3]", "h");
  expect_error(programs, entry, HEDDLE_INVALID, "brings other shapes");
  snprintf(entry, sizeof entry, call, "s32[2]", "n");
  expect_error(programs, entry, HEDDLE_INVALID, "names process 2 of a run with 2");
  expect_error("", "x = s32[2] constant({1,2})\n ROOT r = s32[4] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
               HEDDLE_INVALID, "names process 1");
  expect_error("",
               "t = token[] after-all()\n r0 = (s32[2], u32[], token[]) recv(t), channel_id=5, is_host_transfer=true\n"
               "ROOT r1 = (s32[2], token[]) recv-done(r0), channel_id=5, is_host_transfer=true",
               HEDDLE_INVALID, "nobody sends on channel 5");
}

// Shapes that no rule of HLO checks.
static void test_wrong_shapes(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"ROOT r = (s32[2], s32[2]) all-gather-start(x), dimensions={5}", "a result of this shape"},
      {"ROOT r = (s32[2], f32[2]) all-gather-start(x), dimensions={0}", "a result of this shape"},
      {"ROOT r = ((s32[2], s32[2]), (s32[2])) all-gather-start(x), dimensions={0}", "found operands of 1, wanted 2"},
      {"ROOT r = s32[9] all-reduce-start(x), to_apply=add", "a result of this shape"},
      {"ROOT r = s32[9] all-reduce-done(x)", "a result of this shape"},
      {"ROOT r = s32[9] all-gather-done(x)", "a result of this shape"},
      {"ROOT r = s32[7] collective-reduce(x), to_apply=add", "a result of this shape"},
      {"ROOT r = s32[9] ragged-all-to-all(x, x, x, x, x, x)", "a result of this shape"},
      {"ROOT r = s32[2] ragged-all-to-all(x, x, x, x, x, t)", "a list of sizes"},
      {"u = u32[] constant(99999)\n p = (s32[2], u32[], token[]) tuple(x, u, t)\n"
       "ROOT r = (s32[2], token[]) recv-done(p), channel_id=1",
       "finishes what never began"},
      {"a = (s32[2], u32[], token[]) recv(t), channel_id=1\n b = (s32[3], u32[], token[]) send(y, t), channel_id=1\n"
       "ROOT r = (s32[2], token[]) recv-done(a), channel_id=1, control-predecessors={b}",
       "what was sent is s32[3], wanted s32[2]"},
      {"f = f32[2] constant({1,2})\n ROOT r = f32[9] scaled-dot(f, f, f, f), lhs_contracting_dims={0}, "
       "rhs_contracting_dims={0}",
       "found the result's shape f32[9], wanted f32[]"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text entry = {0};
    text_printf(&entry, "x = s32[2] constant({0,0})\n y = s32[3] constant({1,2,3})\n t = token[] after-all()\n%s",
                cases[k].text);
    text source = {0};
    text_printf(&source,
                "HloModule m\nadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
                "ENTRY e {\n%s\n}\n",
                text_cstr(&entry));
    arena *a = arena_create();
    module *m;
    literal *result;
    heddle_status status = hlo_parse(a, "test", text_view(&source), &m);
    if (status_is_ok(status)) status = eval_module(a, m, 0, NULL, &result);
    assert_false(status_is_ok(status));
    if (!strstr(heddle_status_message(status), cases[k].message))
      fail_msg("%s: %s", cases[k].text, heddle_status_message(status));
    heddle_status_free(status);
    arena_destroy(a);
    text_free(&source);
    text_free(&entry);
  }
}

static void test_infeeds_of_calls(void **state) {
  (void)state;
  expect(
      "f { t = token[] parameter(0)\n a = ((s32[2]), token[]) infeed(t)\n at = token[] get-tuple-element(a), index=1\n"
      " b = (s32[2], token[]) infeed(at)\n ax = (s32[2]) get-tuple-element(a), index=0\n"
      " ay = s32[2] get-tuple-element(ax), index=0\n bx = s32[2] get-tuple-element(b), index=0\n"
      " ROOT r = s32[2] subtract(bx, ay) }\n"
      "q0 { x = s32[2] constant({1,2})\n ROOT r = (s32[2]) tuple(x) }\n"
      "q1 { x = s32[2] constant({5,7})\n ROOT r = (s32[2]) tuple(x) }\n",
      "t = token[] after-all()\n"
      "ROOT r = s32[2] custom-call(t), custom_call_target=\"interpreter.run_parallel\", "
      "called_computations={f,q0,q1}, backend_config=\"replicas=1 partitions=1 infeed=2\"",
      "{4, 5}");
}

// Through the public functions: a stream in, a stream out, and processes with arguments of their own.
static void test_feeds(void **state) {
  (void)state;
  const char *source =
      "HloModule m\nENTRY e { t = token[] after-all()\n i = (s32[2], token[]) infeed(t)\n"
      " x = s32[2] get-tuple-element(i), index=0\n t1 = token[] get-tuple-element(i), index=1\n"
      " y = s32[2] negate(x)\n ROOT o = token[] outfeed(y, t1), outfeed_shape=s32[2]{0} }\n";
  arena *a = arena_create();
  module *m;
  literal *fed, *result;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  testing_require(literal_parse(a, STR("{1, 2}"), shape_array(a, DTYPE_S32, 1, (int64_t[]){2}), &fed), source);
  eval_feeds feeds = {.infeed_count = 1, .infeed = &fed, .arena = a};
  testing_require(eval_computation(a, m->entry, &(eval_options){.feeds = &feeds}, 0, NULL, &result), source);
  assert_int_equal(feeds.infeed_taken, 1);
  assert_int_equal(feeds.outfeed.size, 1);
  assert_int_equal(literal_get_int(feeds.outfeed.data[0], 1), -2);
  heddle_status status = eval_computation(a, m->entry, &(eval_options){.feeds = &feeds}, 0, NULL, &result);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "finds nothing: the run was given 1 values"));
  heddle_status_free(status);
  arena_destroy(a);
}

static void test_many_processes(void **state) {
  (void)state;
  enum { COUNT = 32 };
  const char *source =
      "HloModule m\nadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
      "ENTRY e { x = s32[] parameter(0)\n s = s32[] all-reduce(x), to_apply=add\n i = u32[] replica-id()\n"
      " j = s32[] convert(i)\n ROOT r = s32[] add(s, j) }\n";
  arena *a = arena_create();
  module *m;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  eval_process processes[COUNT];
  literal *arguments[COUNT];
  for (int k = 0; k < COUNT; k++) {
    testing_require(literal_create(a, shape_scalar(a, DTYPE_S32), &arguments[k]), source);
    literal_set_int(arguments[k], 0, k);
    processes[k] = (eval_process){.program = m->entry, .argument_count = 1, .arguments = &arguments[k]};
  }
  testing_require(eval_parallel(a, NULL, COUNT, 1, processes), source);
  for (int k = 0; k < COUNT; k++)
    assert_int_equal(literal_get_int(processes[k].result, 0), COUNT * (COUNT - 1) / 2 + k);
  heddle_status status = eval_parallel(a, NULL, 0, 1, processes);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  heddle_status_free(status);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alone),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_exchanges),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_ragged_rows),
      cmocka_unit_test(test_channels),
      cmocka_unit_test(test_missing_partners),
      cmocka_unit_test(test_paired_transfers),
      cmocka_unit_test(test_wrong_shapes),
      cmocka_unit_test(test_infeeds_of_calls),
      cmocka_unit_test(test_feeds),
      cmocka_unit_test(test_many_processes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
