// What it takes to get from a saved program's file to its first result: time, page faults, and memory, of the process
// alone (anonymous) and of the mapped file, which other processes share.
//
//   build/bench/loading [--trust-checksums] [--cold] FILE.heddle
//
// --cold asks the system to forget the file's pages first, so that they are read from the disk. Inputs are zeros.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "heddle/runtime.h"

typedef struct figures {
  double wall, cpu;
  long minor, major;       // page faults
  long anonymous, mapped;  // kilobytes in memory
} figures;

static int fail(heddle_status s) {
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return 1;
}

static long kilobytes(const char *name) {
  char line[256];
  long found = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, name, strlen(name)) == 0) found = strtol(line + strlen(name), NULL, 10);
  if (f) fclose(f);
  return found;
}

static figures measure(void) {
  struct timespec now;
  struct rusage use;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &use);
  return (figures){.wall = (double)now.tv_sec + (double)now.tv_nsec * 1e-9,
                   .cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                          (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6,
                   .minor = use.ru_minflt,
                   .major = use.ru_majflt,
                   .anonymous = kilobytes("RssAnon:"),
                   .mapped = kilobytes("RssFile:")};
}

static void show(const char *stage, const figures *from, const figures *to) {
  printf("%-11s %9.2f ms %9.2f ms %8ld %6ld %9.1f MB %9.1f MB\n", stage, (to->wall - from->wall) * 1e3,
         (to->cpu - from->cpu) * 1e3, to->minor - from->minor, to->major - from->major, (double)to->anonymous / 1024,
         (double)to->mapped / 1024);
}

static void forget_pages(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

static void *zeros(size_t bytes) {
  void *made = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  if (!made) exit(1);
  return memset(made, 0, bytes);
}

// Loads it and runs it three times.
static heddle_status run(const char *path, const heddle_load_options *options) {
  const figures start = measure();
  heddle_program *p;
  heddle_status s = heddle_program_load(path, options, &p);
  if (heddle_status_code(s) != HEDDLE_OK) return s;
  const figures loaded = measure();
  const int inputs = heddle_program_parameter_count(p), outputs = heddle_program_result_count(p);
  void **memory = zeros(sizeof *memory * (size_t)(inputs + outputs));
  for (int k = 0; k < inputs; k++) memory[k] = zeros(heddle_program_parameter(p, k).bytes);
  for (int k = 0; k < outputs; k++) memory[inputs + k] = zeros(heddle_program_result(p, k).bytes);
  printf("%-11s %12s %12s %8s %6s %12s %12s\n", "", "wall", "cpu", "minor", "major", "anonymous", "mapped");
  show("load", &start, &loaded);
  figures before = measure();
  for (int k = 0; k < 3 && heddle_status_code(s) == HEDDLE_OK; k++) {
    s = heddle_program_run(p, (const void *const *)memory, memory + inputs);
    const figures after = measure();
    show(k == 0 ? "first run" : k == 1 ? "second run" : "third run", &before, &after);
    before = after;
  }
  heddle_memory size = HEDDLE_MEMORY_INIT;
  if (heddle_status_code(s) == HEDDLE_OK) s = heddle_program_memory(p, &size);
  if (heddle_status_code(s) == HEDDLE_OK)
    printf("constants %.1f MB, temporaries %.1f MB\n", (double)size.constant_bytes / (1 << 20),
           (double)size.temporary_bytes / (1 << 20));
  for (int k = 0; k < inputs + outputs; k++) free(memory[k]);
  free(memory);
  heddle_program_free(p);
  return s;
}

int main(int argc, char **argv) {
  heddle_load_options options = HEDDLE_LOAD_OPTIONS_INIT;
  bool is_cold = false;
  const char *path = NULL;
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--trust-checksums") == 0) options.trusts_checksums = true;
    else if (strcmp(argv[k], "--cold") == 0) is_cold = true;
    else path = argv[k];
  }
  if (!path) {
    fputs("wanted: loading [--trust-checksums] [--cold] FILE.heddle\n", stderr);
    return 1;
  }
  if (is_cold) forget_pages(path);
  heddle_status s = run(path, &options);
  return heddle_status_code(s) == HEDDLE_OK ? 0 : fail(s);
}
