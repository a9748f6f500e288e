// A C function of one's own inside a compiled program: custom-call finds it by its name.
#include <stdio.h>
#include <string.h>

#include "heddle/custom_call.h"
#include "heddle/heddle.h"

// result[i] = operand[0] + … + operand[i], times *user.
static heddle_status running_sum(const heddle_custom_call *call) {
  const heddle_custom_call_array *from = &call->operands[0], *to = &call->results[0];
  if (strcmp(from->element_type, "f32") != 0 || from->rank != 1)
    return heddle_custom_call_error(HEDDLE_INVALID, "example.running_sum wants f32[n]");
  const float *in = from->data, factor = *(const float *)call->user;
  float *out = to->data, sum = 0;
  for (int64_t i = 0; i < from->dims[0]; i++) {
    sum += in[i];
    out[i] = sum * factor;
  }
  return (heddle_status){0};
}

static int fail(heddle_status s) {
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return 1;
}

int main(void) {
  static const char text[] =
      "HloModule sums\n"
      "ENTRY main {\n"
      "  x = f32[4] parameter(0)\n"
      "  squares = f32[4] multiply(x, x)\n"
      "  sums = f32[4] custom-call(squares), custom_call_target=\"example.running_sum\"\n"
      "  ROOT r = f32[4] negate(sums)\n"
      "}\n";
  static float factor = 10;
  heddle_program *program;
  heddle_status s = heddle_register_custom_call("example.running_sum", running_sum, &factor);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  s = heddle_compile(text, strlen(text), "sums.hlo", NULL, &program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  const float x[4] = {1, 2, 3, 4};
  float r[4];
  s = heddle_program_run(program, (const void *[]){x}, (void *[]){r});
  heddle_program_free(program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  printf("%g %g %g %g\n", r[0], r[1], r[2], r[3]);
  return 0;
}
