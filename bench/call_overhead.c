// What a call costs beside the work: a program of one small kernel, called again and again through the public interface
// on arrays that are used where they are.
//
//   build/bench/call_overhead [--json]
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heddle/heddle.h"

static const char text[] =
    "HloModule m\n"
    "ENTRY e { x = f32[16] parameter(0) y = f32[16] parameter(1) ROOT s = f32[16] add(x, y) }\n";

// Rounds are short, since the fastest counts: on a busy machine a long one is never undisturbed.
enum { ROUNDS = 2000, CALLS = 500 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int fail(heddle_status s) {
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return 1;
}

int main(int argc, char **argv) {
  heddle_program *program;
  heddle_status s = heddle_compile(text, strlen(text), "call.hlo", NULL, &program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  _Alignas(64) static float x[16], y[16], z[16];
  const void *inputs[] = {x, y};
  void *outputs[] = {z};
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const double start = seconds();
    for (int i = 0; i < CALLS; i++) {
      s = heddle_program_run(program, inputs, outputs);
      if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
    }
    const double each = (seconds() - start) / CALLS;
    if (round == 0 || each < best) best = each;
  }
  heddle_program_free(program);
  if (argc > 1 && strcmp(argv[1], "--json") == 0) printf("{\"call_seconds\": %.3g}\n", best);
  else printf("a call takes %.1f ns\n", best * 1e9);
  return 0;
}
