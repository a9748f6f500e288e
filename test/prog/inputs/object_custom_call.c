// An error of the runtime's comes back from the object's function, and custom calls are those of the program.
#include <stdio.h>

#include "heddle/custom_call.h"
#include "object_custom_call.h"

static _Alignas(64) float x[16] = {1, 2, 3, 4, 5, 6, 7, 8}, y[16];
static _Alignas(64) uint8_t again[64];
static _Alignas(64) char workspace[OBJECT_CUSTOM_CALL_WORKSPACE_BYTES + 64];

static heddle_status twice(const heddle_custom_call *call) {
  const float *from = call->operands[0].data;
  float *to = call->results[0].data;
  if (from[0] > 100) return heddle_custom_call_error(HEDDLE_MISMATCH, "too large");
  for (int k = 0; k < 8; k++) to[k] = 2 * from[k];
  return (heddle_status){0};
}

static void run(const char *what) {
  heddle_status s = object_custom_call(x, again, y, workspace);
  if (heddle_status_code(s) == HEDDLE_OK) printf("%s: %g %g\n", what, y[0], y[7]);
  else printf("%s: %s: %s", what, heddle_code_name(heddle_status_code(s)), heddle_status_message(s));
  heddle_status_free(s);
}

int main(void) {
  run("unknown");
  heddle_status s = heddle_register_custom_call("my.twice", twice, NULL);
  if (heddle_status_code(s) != HEDDLE_OK) return 1;
  run("once");
  again[0] = 1;
  run("again");
  x[0] = 1000;
  run("large");
  return 0;
}
