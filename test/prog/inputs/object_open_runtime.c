// Calls the object's function at several sizes, and says whether its results are right. Whole numbers, so that no order
// of sums matters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"

enum { K = 24, N = 40 };

static float *memory(int64_t count) { return aligned_alloc(PRODUCTS_ALIGNMENT, (size_t)(count * 4 / 64 + 1) * 64); }

static int is_product(int64_t n, const float *x, const float *w, const float *a) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < N; j++) {
      float sum = 0;
      for (int64_t k = 0; k < K; k++) sum += x[i * K + k] * w[k * N + j];
      if (a[i * N + j] != sum) return 0;
    }
  return 1;
}

// In place, the larger magnitudes first, those alike as they come.
static void sort(int64_t n, float *row) {
  for (int64_t i = 1; i < n; i++)
    for (int64_t k = i; k > 0 && row[k] * row[k] > row[k - 1] * row[k - 1]; k--) {
      const float moved = row[k];
      row[k] = row[k - 1];
      row[k - 1] = moved;
    }
}

static int is_sorted(int64_t n, const float *a, const float *sorted) {
  float *row = memory(n);
  int is = row != NULL;
  for (int64_t i = 0; i < n && is; i++) {
    for (int64_t k = 0; k < n; k++) {
      row[k] = 0;
      for (int64_t j = 0; j < N; j++) row[k] += a[i * N + j] * a[k * N + j];
    }
    sort(n, row);
    is = memcmp(row, sorted + i * n, (size_t)n * sizeof *row) == 0;
  }
  free(row);
  return is;
}

static void run(int64_t n) {
  const int64_t bytes = products_workspace(n);
  printf("%d: ", (int)n);
  if (bytes < 0) {
    printf("no workspace\n");
    return;
  }
  float *x = memory(n * K), *w = memory(K * N), *a = memory(n * N), *s = memory(n * n), *workspace = memory(bytes / 4);
  if (!x || !w || !a || !s || !workspace) exit(1);
  for (int64_t k = 0; k < n * K; k++) x[k] = (float)(k % 7 - 3);
  for (int64_t k = 0; k < K * N; k++) w[k] = (float)(k % 5 - 2);
  heddle_status failed = products(x, w, a, s, workspace, n);
  if (heddle_status_code(failed) != HEDDLE_OK) printf("%s: ", heddle_status_message(failed));
  heddle_status_free(failed);
  printf("%s\n", is_product(n, x, w, a) && is_sorted(n, a, s) ? "right" : "wrong");
  free(x);
  free(w);
  free(a);
  free(s);
  free(workspace);
}

int main(void) {
  static const int64_t sizes[] = {0, 1, 37, 64, 37, -1};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) run(sizes[k]);
  return 0;
}
