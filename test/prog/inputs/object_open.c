// Calls the object's function at several sizes, and says whether its results are right.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static void *memory(int64_t bytes) { return aligned_alloc(ROWS_ALIGNMENT, (size_t)(bytes / 64 + 1) * 64); }

static int check(int64_t m, int64_t n, const float *x, const float *b, const float *turned, const float *joined) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t k = 0; k < n; k++) {
      const float sum = x[i * n + k] + b[k];
      if (turned[k * m + i] != sum || joined[i * n + k] != sum || joined[(m + i) * n + k] != x[i * n + k]) return 0;
    }
  return 1;
}

static void run(int64_t m, int64_t n) {
  const int64_t bytes = rows_workspace(m, n);
  printf("%d x %d: ", (int)m, (int)n);
  if (bytes < 0) {
    printf("no workspace\n");
    return;
  }
  float *x = memory(4 * m * n), *b = memory(4 * n), *turned = memory(4 * m * n), *joined = memory(8 * m * n);
  int32_t columns = 0;
  void *workspace = memory(bytes);
  if (!x || !b || !turned || !joined || !workspace) exit(1);
  memset(workspace, 0xab, (size_t)bytes);
  for (int64_t k = 0; k < m * n; k++) x[k] = (float)(k % 1001);
  for (int64_t k = 0; k < n; k++) b[k] = (float)k / 4;
  rows(x, b, turned, joined, &columns, workspace, m, n);
  printf("%s\n", columns == n && check(m, n, x, b, turned, joined) ? "right" : "wrong");
  free(x);
  free(b);
  free(turned);
  free(joined);
  free(workspace);
}

int main(void) {
  static const int64_t sizes[][2] = {{2, 1}, {5, 37}, {64, 128}, {1, 8}, {-1, 8}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) run(sizes[k][0], sizes[k][1]);
  return 0;
}
