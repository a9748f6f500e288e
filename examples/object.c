// A program as a C function, without Heddle at all: heddle compile softmax.mlir --emit=object -o softmax_object.o
// --name=softmax makes the object and its header.
#include <stdio.h>

#include "softmax_object.h"

int main(void) {
  static _Alignas(SOFTMAX_ALIGNMENT) unsigned char workspace[SOFTMAX_WORKSPACE_BYTES + 1];
  static _Alignas(SOFTMAX_ALIGNMENT) float x[2][4] = {{0, 0, 0, 0}, {-1000, 1000, 1000, -1000}}, y[2][4];
  softmax(&x[0][0], &y[0][0], workspace);
  for (int row = 0; row < 2; row++) printf("%g %g %g %g\n", y[row][0], y[row][1], y[row][2], y[row][3]);
  return 0;
}
