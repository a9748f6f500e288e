// What the parser says about texts that are wrong, and where; and that no text, however deep, long or short, is more
// than an error to it.
#include <stdio.h>
#include <stdlib.h>

#include "base/testing.h"
#include "hlo/text.h"

typedef struct bad_text {
  const char *source;   // a whole text, or with BODY the inside of one computation, from line 3 on
  const char *message;  // `line:column: error: ...`, to be found in the answer
} bad_text;

#define BODY(lines) "HloModule m\nENTRY e {\n" lines "\n}\n"
#define X "  x = f32[2] parameter(0)\n"

static const bad_text bad_texts[] = {
    // Truncated
    {"", "1:1: error: found the end of the text, wanted HloModule or a computation"},
    {"HloModule", "1:10: error: found the end of the text, wanted the module's name"},
    {"HloModule m\n", "2:1: error: found the end of the text, wanted a computation"},
    {"HloModule m, a", "1:15: error: found the end of the text, wanted '='"},
    {"HloModule m\nENTRY e {\n" X, "4:1: error: found the end of the text, wanted '}' at the end of computation 'e'"},
    {"HloModule m\nENTRY e {\n  x = f32[2", "3:12: error: found the end of the text, wanted ',' or ']'"},
    {"HloModule m\nENTRY e", "2:8: error: found the end of the text, wanted '{' of a computation"},
    {BODY("  x = f32[2] parameter(0), metadata={op_name=\"foo}"), "3:37: error: found a string that never ends"},
    {BODY("  x = f32[2] parameter(0), sharding={{"), "3:37: error: found a bracket that is never closed"},
    {BODY(X "/* abc"), "4:1: error: found a comment that never ends, wanted an instruction or '}'"},
    {BODY(X "  ROOT y = f32[2] negate(x) \x01"), "4:29: error: found the byte 0x01, wanted an instruction or '}'"},
    // Shapes
    {BODY("  x = f33[2] parameter(0)"), "3:7: error: unknown operation 'f33'"},
    {BODY("  x = f32[2,-1] parameter(0)"), "3:13: error: found dimension -1, wanted 0 or more"},
    {BODY("  x = f32[2,a] parameter(0)"), "3:13: error: found 'a', wanted a dimension or ']'"},
    {BODY("  x = f32[4294967296,4294967296,16] parameter(0)"),
     "3:7: error: a shape's dimensions multiply to more than 2^62 bytes"},
    {BODY("  x = f32[99999999999999999999] parameter(0)"),
     "3:11: error: found 99999999999999999999, wanted an integer of 64 bits"},
    {BODY("  x = f32[2,3]{1,1} parameter(0)"),
     "3:15: error: found a layout that is not a permutation of the 2 dimensions"},
    {BODY("  x = f32[2,3]{1} parameter(0)"), "3:15: error: found a layout of 1 dimensions, wanted 2 as in the shape"},
    {BODY("  x = f32[2]{0:Q} parameter(0)"), "3:16: error: found 'Q', wanted layout parts such as T(8,128)"},
    {BODY("  x = token[2] parameter(0)"), "3:7: error: found dimensions on token, wanted none"},
    {BODY(X "  ROOT y = f32[3] add(x, x)"), "4:8: error: add: found the result's shape f32[3], wanted f32[2]"},
    {BODY(X "  ROOT y = f32[2] negate(f32[3] x)"),
     "4:33: error: found operand 'x' of shape f32[2], but f32[3] was written before it"},
    {BODY("  x = b(f32[2] parameter(0)"), "3:16: error: found 'parameter', wanted ')' of a buffer's shape"},
    {BODY("  x = b(token[]) parameter(0)"), "error: found ')', wanted an array in the buffer's shape"},
    // Operations and operands
    {BODY(X "  ROOT y = f32[2] addd(x, x)"), "4:19: error: unknown operation 'addd', did you mean 'add'?"},
    {BODY(X "  ROOT y = f32[2] frobnicate(x)"), "4:19: error: unknown operation 'frobnicate'\n"},
    {BODY(X "  ROOT y = f32[2] add(x)"), "4:19: error: found 1 operand of add, wanted 2"},
    {BODY(X "  ROOT y = f32[2] concatenate(), dimensions={0}"),
     "4:19: error: found 0 operands of concatenate, wanted at least 1"},
    {BODY(X "  ROOT y = f32[2] negate(z)"), "4:26: error: unknown operand 'z'"},
    {BODY(X "  ROOT y = f32[2] negate(x, )"), "4:29: error: found ')', wanted the name of an operand"},
    {BODY(X "  x = f32[2] negate(x)"), "4:3: error: instruction 'x' is defined twice in one computation"},
    {BODY(X "  ROOT a = f32[2] negate(x)\n  ROOT b = f32[2] negate(x)"),
     "5:3: error: found a second ROOT, the first is in line 4"},
    {BODY("  a = f32[2] add(x, b)\n" X "  ROOT b = f32[2] add(a, x)"), "error: instruction 'a' depends on itself"},
    {BODY("  y = parameter(0)"), "3:7: error: parameter needs a shape before it"},
    {BODY(X "  y = f32[2] parameter(0)"), "4:24: error: parameter 0 is there already: 'x'"},
    {BODY("  y = f32[2] parameter(1)"), "3:3: error: found parameter number 1, wanted 0: they count without gaps"},
    {BODY("  y = f32[2] parameter(-1)"), "3:24: error: found parameter number -1"},
    {BODY("  y = f32[2] parameter(888888888888)"), "3:24: error: found parameter number 888888888888"},
    {BODY("  3 + 4"), "3:5: error: found the character '+', wanted '=' after the instruction's name"},
    // Attributes
    {BODY(X "  ROOT y = f32[2,2] broadcast(x), dimensons={1}"),
     "4:35: error: unknown attribute 'dimensons' of broadcast, did you mean 'dimensions'?"},
    {BODY(X "  ROOT y = f32[2] negate(x), dimensions={1}"), "4:30: error: negate takes no attribute 'dimensions'"},
    {BODY(X "  ROOT y = f32[2] reverse(x)"), "4:19: error: reverse needs the attribute 'dimensions'"},
    {BODY(X "  ROOT y = f32[2] reverse(x), dimensions={0}, dimensions={0}"),
     "4:47: error: attribute 'dimensions' is given twice"},
    {BODY(X "  ROOT y = f32[2] reverse(x), dimensions=0"), "4:42: error: found the number 0, wanted '{'"},
    {BODY(X "  ROOT y = pred[2] compare(x, x), direction=XX"), "4:45: error: found 'XX', wanted one of EQ, NE, GE, GT"},
    {BODY(X "  ROOT y = f32[2] slice(x), slice={[0:2:]}"), "4:41: error: found ']', wanted an integer"},
    {BODY(X "  ROOT y = f32[2] pad(x, x), padding=0x0"), "4:38: error: found '0x0', wanted padding such as 0_1x2_3_1"},
    {BODY(X "  ROOT y = f32[2] reduce-window(x, x), to_apply=a, window={size=9223372036854775808}"),
     "found '9223372036854775808', wanted integers such as 3x3"},
    {BODY(X "  ROOT y = f32[2] reduce-window(x, x), to_apply=a, window={size=2x2 stride=2}"),
     "4:76: error: found '2', wanted as many dimensions as before"},
    {BODY(X "  ROOT y = f32[2] convolution(x, x), dim_labels=bf_io"),
     "4:49: error: found 'bf_io', wanted labels such as b01f_01io->b01f"},
    {BODY(X "  ROOT y = f32[2] convolution(x, x), dim_labels=b1f_0io->b0f"),
     "4:49: error: found 'b1f_0io->b0f', wanted"},
    {BODY(X "  ROOT y = f32[2] all-gather(x), dimensions={0}, replica_groups=[2,2]<=[5]"),
     "4:65: error: found groups that do not divide the devices"},
    {BODY(X "  ROOT y = f32[2] call(x), to_apply=nope"), "4:37: error: unknown computation 'nope'"},
    {BODY(X "  ROOT y = f32[2] negate(x), control-predecessors={z}"), "4:52: error: unknown operand 'z'"},
    {BODY(X "  ROOT y = (f32[2]) negate-start(x)"),
     "4:21: error: found another shape, wanted ((1 operands), result, ...)"},
    // Values
    {BODY("  x = u8[2] constant({1, 300})"), "3:26: error: value 300 is out of range for u8"},
    {BODY("  x = u8[] constant(-1)"), "3:21: error: value -1 is out of range for u8"},
    {BODY("  x = s4[] constant(8)"), "3:21: error: value 8 is out of range for s4"},
    {BODY("  x = s64[] constant(9223372036854775808)"),
     "3:22: error: value 9223372036854775808 is out of range for s64"},
    {BODY("  x = u64[] constant(18446744073709551616)"), "value 18446744073709551616 is out of range for u64"},
    {BODY("  x = f32[] constant(1e39)"), "3:22: error: value 1e39 is out of range for f32"},
    {BODY("  x = f16[] constant(70000)"), "3:22: error: value 70000 is out of range for f16"},
    {BODY("  x = f8e4m3fn[] constant(inf)"), "3:27: error: value inf is out of range for f8e4m3fn"},
    {BODY("  x = f4e2m1fn[] constant(8)"), "3:27: error: value 8 is out of range for f4e2m1fn"},
    {BODY("  x = f4e2m1fn[] constant(nan)"), "3:27: error: value nan is out of range for f4e2m1fn"},
    {BODY("  x = f8e8m0fnu[] constant(-1)"), "3:28: error: value -1 is out of range for f8e8m0fnu"},
    {BODY("  x = f32[] constant(nan(0x800000))"), "3:26: error: payload 0x800000 is out of range for f32"},
    {BODY("  x = pred[] constant(2)"), "3:23: error: value 2 is out of range for pred"},
    {BODY("  x = pred[] constant(yes)"), "3:23: error: found 'yes', wanted true or false"},
    {BODY("  x = s32[] constant(1.5)"), "3:22: error: found the number 1.5, wanted an integer"},
    {BODY("  x = f32[0] constant(1)"), "3:23: error: found the number 1, wanted '{'"},
    {BODY("  x = f32[2,3] constant({{1,2,3},{4,5}})"), "3:38: error: found 2 entries in dimension 1, wanted 3"},
    {BODY("  x = f32[2] constant({1, 2, 3})"), "3:30: error: found more than 2 entries in dimension 0"},
    {BODY("  x = f32[2] constant({})"), "3:24: error: found 0 entries in dimension 0, wanted 2"},
    {BODY("  x = f32[2] constant({{1, 2}})"), "3:24: error: found '{', wanted a number"},
    {BODY("  x = c64[] constant((1))"), "3:24: error: found ')', wanted ',' between the parts of a complex number"},
    {BODY("  x = f32[?] constant({1})"), "3:23: error: found a value of an unbounded shape"},
    {BODY("  x = f32[1000000000] constant({1})"),
     "3:32: error: found 7 bytes of text, too few for the 1000000000 elements wanted"},
    {BODY("  x = f32[100000000000] constant({...})"), "3:34: error: found elided constants of more bytes"},
    // Modules and computations
    {BODY(X) "e { ROOT x = f32[] parameter(0) }", "error: computation 'e' is defined twice"},
    {BODY(X) "ENTRY f { ROOT x = f32[] parameter(0) }", "error: found a second ENTRY computation"},
    {"HloModule m\nENTRY e {\n}\n", "3:1: error: found a computation without instructions"},
    {"HloModule m\na { ROOT y = f32[] call(), to_apply=b }\nb { ROOT y = f32[] call(), to_apply=a }\n",
     "error: computation 'a' calls itself"},
    {"HloModule m, entry_computation_layout={f32[]->f32[]}\n" BODY(X), "1:40: error: found 'f32', wanted '('"},
    {"HloModule m\nFileNames\n1 abc\n", "3:3: error: found 'abc', wanted a string or '{' in this table"},
};

static heddle_status parse(const char *source, size_t size) {
  arena *a = arena_create();
  module *m;
  heddle_status status = hlo_parse(a, "F", (str){source, size}, &m);
  arena_destroy(a);
  return status;
}

static void test_messages(void **state) {
  (void)state;
  int failures = 0;
  for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
    const bad_text *t = &bad_texts[i];
    heddle_status status = parse(t->source, strlen(t->source));
    const char *answer = heddle_status_message(status);
    bool is_right = heddle_status_code(status) == HEDDLE_INVALID && strstr(answer, t->message);
    if (!is_right) print_error("text:\n%s\nwanted: %s\nanswer: %s\n", t->source, t->message, answer);
    failures += !is_right;
    heddle_status_free(status);
  }
  assert_int_equal(failures, 0);
}

static void expect_message(const char *source, const char *message) {
  heddle_status status = parse(source, strlen(source));
  assert_string_equal(heddle_status_message(status), message);
  heddle_status_free(status);
}

static void test_caret(void **state) {
  (void)state;
  expect_message(BODY(X "\tROOT y = f32[2] ad(x, x)"),
                 "F:4:18: error: unknown operation 'ad', did you mean 'add'?\n"
                 "  \tROOT y = f32[2] ad(x, x)\n"
                 "  \t                ^\n");
  expect_message(BODY(X "  ROOT y = f32[3] add(x, x)"),
                 "F:4:8: error: add: found the result's shape f32[3], wanted f32[2]\n"
                 "    ROOT y = f32[3] add(x, x)\n"
                 "         ^\n"
                 "note: while verifying computation 'e'\n");
}

static void test_long_lines_are_shortened(void **state) {
  (void)state;
  text source = {0};
  text_puts(&source, "HloModule m\nENTRY e {\n  x = f32[2000] constant({");
  for (int i = 0; i < 1000; i++) text_puts(&source, "1, ");
  text_puts(&source, "oops, 1})\n}\n");
  heddle_status status = parse(source.data, source.size);
  const char *answer = heddle_status_message(status);
  assert_non_null(strstr(answer, "found 'oops', wanted a number\n  ...1, 1, 1"));
  assert_true(strlen(answer) < 400);
  heddle_status_free(status);
  text_free(&source);
}

// One mistake per line, each reported; what depends on a wrong instruction is not.
static void test_recovery(void **state) {
  (void)state;
  expect_message(
      BODY(X "  a = f32[2] foo(x)\n  b = f32[2] negate(a)\n  c = f32[2] add(x, q)\n  ROOT r = f32[2 negate(c)"),
      "F:4:14: error: unknown operation 'foo', did you mean 'floor'?\n"
      "    a = f32[2] foo(x)\n"
      "               ^\n"
      "F:6:21: error: unknown operand 'q'\n"
      "    c = f32[2] add(x, q)\n"
      "                      ^\n"
      "F:7:18: error: found 'negate', wanted ',' or ']'\n"
      "    ROOT r = f32[2 negate(c)\n"
      "                   ^\n");
  const char *two = "HloModule m\na {\n  ROOT x = f32[] foo()\n}\nENTRY e {\n  ROOT x = f32[] bar()\n}\n";
  heddle_status status = parse(two, strlen(two));
  assert_non_null(strstr(heddle_status_message(status), "F:3:18: error: unknown operation 'foo'"));
  assert_non_null(strstr(heddle_status_message(status), "F:6:18: error: unknown operation 'bar'"));
  heddle_status_free(status);
}

static int count(const char *s, const char *what) {
  int n = 0;
  for (; (s = strstr(s, what)); s++) n++;
  return n;
}

static void test_ten_errors_are_enough(void **state) {
  (void)state;
  text source = {0};
  text_puts(&source, "HloModule m\nENTRY e {\n");
  for (int i = 0; i < 50; i++) text_printf(&source, "  x%d = f32[2] what(x)\n", i);
  text_puts(&source, "}\n");
  heddle_status status = parse(source.data, source.size);
  assert_int_equal(count(heddle_status_message(status), "error:"), 10);
  assert_non_null(strstr(heddle_status_message(status), "note: stopped after 10 errors\n"));
  heddle_status_free(status);
  text_free(&source);
}

// `before`, `count` times `repeated`, `after`.
static void expect_deep(const char *before, const char *repeated, int repeats, const char *after, const char *message) {
  text source = {0};
  text_puts(&source, before);
  for (int i = 0; i < repeats; i++) text_puts(&source, repeated);
  text_puts(&source, after);
  heddle_status status = parse(source.data, source.size);
  if (!message) {
    assert_string_equal(heddle_status_message(status), "");
  } else {
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    if (!strstr(heddle_status_message(status), message)) fail_msg("%s", heddle_status_message(status));
    assert_int_equal(count(heddle_status_message(status), "error:"), 1);
  }
  heddle_status_free(status);
  text_free(&source);
}

static void test_depth(void **state) {
  (void)state;
  enum { DEEP = 100000 };
  const char *too_deep = "error: found more than 256 levels of nesting, wanted fewer";
  expect_deep("HloModule m\nENTRY e {\n  x = ", "(", DEEP, "", too_deep);
  expect_deep("HloModule m\nENTRY e {\n  x = f32[2] ", "negate(", DEEP, "", too_deep);
  expect_deep("HloModule m\nENTRY e {\n  ", "ROOT x = f32[2] fusion(), kind=kLoop, calls={ ", DEEP, "", too_deep);
  expect_deep("HloModule m\nENTRY e {\n  x = f32[2] constant(", "{", DEEP, ")\n}\n",
              "error: found '{', wanted a number");
  expect_deep("HloModule m\nENTRY e {\n  x = f32[2] parameter(0), sharding=", "{", DEEP, "\n}\n",
              "error: found a bracket that is never closed");
  expect_deep("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] all-gather(x), replica_groups=", "{",
              DEEP, "\n}\n", "error: found '{', wanted an integer");
  expect_deep("", "{", DEEP, "", "error: found '{', wanted a computation");
}

// Deep graphs are no deep text: both are read.
static void test_long_chains(void **state) {
  (void)state;
  enum { LONG = 100000 };
  text source = {0};
  text_puts(&source, "HloModule m\nENTRY e {\n  ROOT y = f32[2] negate(x99999)\n");
  for (int i = LONG - 1; i > 0; i--) text_printf(&source, "  x%d = f32[2] negate(x%d)\n", i, i - 1);
  text_puts(&source, "  x0 = f32[2] parameter(0)\n}\n");
  heddle_status status = parse(source.data, source.size);
  assert_string_equal(heddle_status_message(status), "");
  source.size = 0;
  text_puts(&source, "HloModule m\nENTRY e { p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=c99999 }\n");
  for (int i = LONG - 1; i > 0; i--)
    text_printf(&source, "c%d { p = f32[] parameter(0)\n ROOT r = f32[] call(p), to_apply=c%d }\n", i, i - 1);
  text_puts(&source, "c0 { ROOT p = f32[] parameter(0) }\n");
  status = parse(source.data, source.size);
  assert_string_equal(heddle_status_message(status), "");
  text_free(&source);
}

// Every prefix of a text with much of the grammar in it ends in an answer.
static void test_truncation(void **state) {
  (void)state;
  const char *source =
      "HloModule m, entry_computation_layout={(f32[2]{0}, s32[])->(f32[2]{0:T(8)}, /*index=1*/c64[])}\n\n"
      "FileNames\n1 \"a.py\"\n\n%f (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}, "
      "execution_thread=\"main\"\nENTRY %e (a: f32[2], b: s32[]) -> (f32[2], c64[]) {\n"
      "  %a = f32[2]{0} parameter(0), sharding={maximal device=0}\n  %b = s32[] parameter(1)\n"
      "  %c = f32[2]{0} constant({1, -nan(0x2)})\n"
      "  %d = f32[2]{0} fusion(f32[2] %a), kind=kLoop, calls=%f, metadata={op_name=\"x\\\"\"}\n"
      "  %s = f32[2]{0} slice(%d), slice={[0:2:1]}, control-predecessors={%c}\n"
      "  %z = c64[] constant((1, 0x1p-3))\n"
      "  ROOT %t = (f32[2]{0}, c64[]) tuple(%s, %z), backend_config={\"a\":[1,2]}\n}\n";
  size_t size = strlen(source);
  for (size_t i = 0; i < size - 1; i++) {
    heddle_status status = parse(source, i);
    if (status_is_ok(status)) fail_msg("the first %d bytes parse", (int)i);
    heddle_status_free(status);
  }
  heddle_status status = parse(source, size);
  assert_string_equal(heddle_status_message(status), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_caret),
      cmocka_unit_test(test_long_lines_are_shortened),
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_ten_errors_are_enough),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_long_chains),
      cmocka_unit_test(test_truncation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
