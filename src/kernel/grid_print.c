// The table of what prints a hero's details where kernels run as a grid of threads.
#include "kernel/grid_print.h"

typedef void (*print_fn)(text *out, const kernel_plan *k);

// The loop's launch says all.
static const print_fn print_details[HERO_COUNT] = {0};

void grid_print_details(text *out, const kernel_plan *k) {
  if (print_details[k->hero]) print_details[k->hero](out, k);
}
