// Where the time of a program goes: each of its operations, how often it ran, what it moved and computed.
#include <stdio.h>
#include <string.h>

#include "heddle/heddle.h"
#include "heddle/profile.h"

static const char text[] =
    "HloModule layer\n"
    "ENTRY main {\n"
    "  x = f32[64,64] parameter(0)\n"
    "  w = f32[64,64] parameter(1)\n"
    "  product = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT y = f32[64,64] tanh(product)\n"
    "}\n";

static int fail(heddle_status s) {
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return 1;
}

static heddle_status print_rows(const heddle_profile *profile) {
  for (int i = 0; i < heddle_profile_row_count(profile); i++) {
    heddle_profile_row row = HEDDLE_PROFILE_ROW_INIT;
    heddle_status s = heddle_profile_row_at(profile, i, &row);
    if (heddle_status_code(s) != HEDDLE_OK) return s;
    printf("%s %s: %d calls, %d bytes, %.0f operations each\n", row.kind, row.operation, (int)row.calls, (int)row.bytes,
           row.operations);
  }
  return (heddle_status){0};
}

static heddle_status run_watched(heddle_program *program) {
  static float x[64 * 64], w[64 * 64], y[64 * 64];
  heddle_profile *profile;
  heddle_profile_options options = HEDDLE_PROFILE_OPTIONS_INIT;
  options.no_limits = true;  // else the machine is measured, once
  heddle_status s = heddle_profile_start(program, &options, &profile);
  for (int i = 0; i < 10 && heddle_status_code(s) == HEDDLE_OK; i++)
    s = heddle_program_run(program, (const void *[]){x, w}, (void *[]){y});
  if (heddle_status_code(s) == HEDDLE_OK) s = print_rows(profile);
  heddle_profile_free(profile);
  return s;
}

int main(void) {
  heddle_program *program;
  heddle_status s = heddle_compile(text, strlen(text), "layer.hlo", NULL, &program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  s = run_watched(program);
  heddle_program_free(program);
  return heddle_status_code(s) == HEDDLE_OK ? 0 : fail(s);
}
