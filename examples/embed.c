// Heddle inside a C program: HLO text in, arrays through the compiled program, errors as values.
#include <stdio.h>
#include <string.h>

#include "heddle/heddle.h"

static const char text[] =
    "HloModule distance\n"
    "ENTRY main {\n"
    "  x = f32[4] parameter(0)\n"
    "  y = f32[4] parameter(1)\n"
    "  d = f32[4] subtract(x, y)\n"
    "  ROOT r = f32[4] abs(d)\n"
    "}\n";

static int fail(heddle_status s) {
  fprintf(stderr, "%s\n", heddle_status_message(s));
  heddle_status_free(s);
  return 1;
}

int main(void) {
  heddle_program *program;
  heddle_status s = heddle_compile(text, strlen(text), "distance.hlo", NULL, &program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);

  float x[] = {1, 2, 3, 4}, y[] = {4, 2, 0, -2}, r[4];
  s = heddle_program_run(program, (const void *[]){x, y}, (void *[]){r});
  if (heddle_status_code(s) == HEDDLE_OK) printf("%g %g %g %g\n", r[0], r[1], r[2], r[3]);
  heddle_program_free(program);
  return heddle_status_code(s) == HEDDLE_OK ? 0 : fail(s);
}
