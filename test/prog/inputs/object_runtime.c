// `FOLDER write` makes the arguments as .npy files; `FOLDER compare` calls the object's function with them, from two
// threads at the same time and twice from each, and compares with the JIT's results, output_0.npy, ….
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object_runtime.h"

enum { X = 96 * 80, W = 80 * 112, K = 3 * 3 * 64 * 32, C = 12 * 14 * 32, S = 32 * 168, I = 5, NPY_HEADER = 128 };

static float x[X] __attribute__((aligned(64))), w[W] __attribute__((aligned(64))), k[K] __attribute__((aligned(64)));

typedef struct results {
  float *convolved, *sorted, *most, *joined;
  int32_t *where;
  void *workspace;
} results;

static void fill(float *array, int count, unsigned seed) {
  for (int i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    array[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
  }
}

static FILE *open_array(const char *folder, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  FILE *f = fopen(path, mode);
  if (!f) exit(9);
  return f;
}

static void write_array(const char *folder, const char *name, const char *shape, const float *array, size_t count) {
  char header[NPY_HEADER + 1];
  FILE *f = open_array(folder, name, "wb");
  snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
  fwrite("\x93NUMPY\x01\0\x76\0", 1, 10, f);
  fprintf(f, "%-117s\n", header);
  fwrite(array, sizeof *array, count, f);
  fclose(f);
}

static void *memory(size_t bytes) {
  void *made = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!made) exit(8);
  return memset(made, 0x5a, bytes);
}

static void *run(void *argument) {
  results *r = argument;
  for (int turn = 0; turn < 2; turn++) {
    heddle_status s = object_runtime(x, w, k, r->convolved, r->sorted, r->most, r->where, r->joined, r->workspace);
    if (heddle_status_code(s) == HEDDLE_OK) continue;
    fputs(heddle_status_message(s), stderr);
    heddle_status_free(s);
    exit(1);
  }
  return NULL;
}

static void compare(const char *folder, const char *name, const void *found, const void *other, size_t bytes) {
  void *wanted = memory(bytes);
  FILE *f = open_array(folder, name, "rb");
  fseek(f, -(long)bytes, SEEK_END);
  const int differs =
      fread(wanted, 1, bytes, f) != bytes || memcmp(found, wanted, bytes) || memcmp(other, wanted, bytes);
  fclose(f);
  free(wanted);
  printf("%s: %s bits\n", name, differs ? "other" : "the same");
}

static void compare_all(const char *folder) {
  results r[2];
  pthread_t threads[2];
  for (int t = 0; t < 2; t++) {
    r[t] = (results){memory(4 * C),       memory(4 * S), memory(4 * I),
                     memory(4 * (C + S)), memory(4 * I), memory(OBJECT_RUNTIME_WORKSPACE_BYTES)};
    if (pthread_create(&threads[t], NULL, run, &r[t])) exit(7);
  }
  for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  compare(folder, "output_0", r[0].convolved, r[1].convolved, 4 * C);
  compare(folder, "output_1", r[0].sorted, r[1].sorted, 4 * S);
  compare(folder, "output_2", r[0].most, r[1].most, 4 * I);
  compare(folder, "output_3", r[0].where, r[1].where, 4 * I);
  compare(folder, "output_4", r[0].joined, r[1].joined, 4 * (C + S));
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  fill(x, X, 1);
  fill(w, W, 2);
  fill(k, K, 3);
  if (!strcmp(arguments[2], "compare")) {
    compare_all(arguments[1]);
    return 0;
  }
  write_array(arguments[1], "x", "96, 80", x, X);
  write_array(arguments[1], "w", "80, 112", w, W);
  write_array(arguments[1], "k", "3, 3, 64, 32", k, K);
  return 0;
}
