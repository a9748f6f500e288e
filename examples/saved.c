// A saved program inside of a C program that has no compiler: heddle compile primes.hlo -o primes.heddle, then
// saved primes.heddle.
#include <stdio.h>

#include "heddle/runtime.h"

static int fail(heddle_status s) {
  fprintf(stderr, "%s\n", heddle_status_message(s));
  heddle_status_free(s);
  return 1;
}

int main(int argc, char **argv) {
  heddle_program *program;
  if (argc != 2) {
    fprintf(stderr, "usage: saved PRIMES.heddle\n");
    return 2;
  }
  heddle_status s = heddle_program_load(argv[1], NULL, &program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);

  int32_t divisors[20];
  bool is_prime[20];
  s = heddle_program_run(program, NULL, (void *[]){divisors, is_prime});
  for (int k = 0; k < 20 && heddle_status_code(s) == HEDDLE_OK; k++)
    if (is_prime[k]) printf("%d ", k + 1);
  heddle_program_free(program);
  if (heddle_status_code(s) != HEDDLE_OK) return fail(s);
  printf("are primes\n");
  return 0;
}
