// A program whose number of rows only its runs decide: compiled once, run at three sizes.
#include <stdio.h>
#include <string.h>

#include "heddle/heddle.h"

static const char text[] =
    "func.func public @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {\n"
    "  %0 = stablehlo.add %x, %y : tensor<?x2xf32>\n"
    "  return %0 : tensor<?x2xf32>\n"
    "}\n";

static int fail(heddle_status s) {
  fprintf(stderr, "%s\n", heddle_status_message(s));
  heddle_status_free(s);
  return 1;
}

static heddle_status run(heddle_program *program, int64_t rows) {
  const float x[] = {1, 2, 3, 4, 5, 6}, y[] = {10, 20, 30, 40, 50, 60};
  const int64_t dims[] = {rows, 2}, *const input_dims[] = {dims, dims};
  const void *const both[] = {x, y}, *const *const inputs[] = {both};
  float sum[6] = {0};
  void *const result[] = {sum}, *const *const outputs[] = {result};
  heddle_run_options options = HEDDLE_RUN_OPTIONS_INIT;
  options.input_dims = input_dims;
  heddle_status s = heddle_program_run_with(program, &options, inputs, outputs);
  for (int64_t k = 0; k < 2 * rows; k++) printf(k ? " %g" : "%g", sum[k]);
  printf("\n");
  return s;
}

int main(void) {
  heddle_program *program;
  heddle_status s = heddle_compile(text, strlen(text), "sum.mlir", NULL, &program);
  for (int64_t rows = 1; rows <= 3 && heddle_status_code(s) == HEDDLE_OK; rows++) s = run(program, rows);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  heddle_program_free(program);
  return 0;
}
