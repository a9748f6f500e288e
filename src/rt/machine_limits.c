// Bandwidth is a copy's of 256 MiB; arithmetic is that of loops over registers, as many chains as hide the latency of a
// fused multiply-add on the CPUs of today (5 cycles, 2 per cycle), doubled.
#include "rt/machine_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/call.h"
#include "base/cpu_level.h"
#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "rt/bandwidth.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { CHAINS = 12, ROUNDS = 1 << 18, RUNS = 5, COPIED_BYTES = 256 << 20, LEAST_BYTES = 16 << 20 };

// --- arithmetic

typedef float lanes4 __attribute__((vector_size(16)));

// Keeps the compiler from knowing what becomes of the sums.
static _Thread_local volatile float seen;

#ifdef __x86_64__
__attribute__((target("avx512f"))) static int64_t run_avx512(void) {
  __m512 sums[CHAINS];
  for (int k = 0; k < CHAINS; k++) sums[k] = _mm512_set1_ps((float)k);
  const __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(0.001f);
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k < CHAINS; k++) sums[k] = _mm512_fmadd_ps(sums[k], factor, term);
  for (int k = 0; k < CHAINS; k++) seen = _mm512_cvtss_f32(sums[k]);
  return (int64_t)ROUNDS * CHAINS * 16 * 2;
}

__attribute__((target("avx2,fma"))) static int64_t run_avx2(void) {
  __m256 sums[CHAINS];
  for (int k = 0; k < CHAINS; k++) sums[k] = _mm256_set1_ps((float)k);
  const __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k < CHAINS; k++) sums[k] = _mm256_fmadd_ps(sums[k], factor, term);
  for (int k = 0; k < CHAINS; k++) seen = _mm256_cvtss_f32(sums[k]);
  return (int64_t)ROUNDS * CHAINS * 8 * 2;
}
#endif

static int64_t run_plain(void) {
  lanes4 sums[CHAINS];
  for (int k = 0; k < CHAINS; k++) sums[k] = (lanes4){(float)k, 1, 2, 3};
  const lanes4 factor = {0.999f, 0.999f, 0.999f, 0.999f}, term = {0.001f, 0.001f, 0.001f, 0.001f};
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k < CHAINS; k++) sums[k] = sums[k] * factor + term;
  for (int k = 0; k < CHAINS; k++) seen = sums[k][0];
  return (int64_t)ROUNDS * CHAINS * 4 * 2;
}

static int64_t run_chains(void) {
#ifdef __x86_64__
  if (cpu_level_has_avx512()) return run_avx512();
  if (cpu_level_has_avx2()) return run_avx2();
#endif
  return run_plain();
}

static void run_on_threads(void *argument, int64_t begin, int64_t end) {
  int64_t *counts = argument;
  for (int64_t i = begin; i < end; i++) counts[i] = run_chains();
}

static double measure_flops(int threads) {
  int64_t counts[POOL_THREADS_MAX];
  double best = 0;
  for (int i = 0; i < RUNS && !call_is_over(); i++) {
    const double start = log_seconds();
    pool_run(threads, threads, run_on_threads, counts);
    const double seconds = log_seconds() - start;
    double sum = 0;
    for (int k = 0; k < threads; k++) sum += (double)counts[k];
    if (seconds > 0 && sum / seconds > best) best = sum / seconds;
  }
  return best;
}

// --- the file

const char *machine_limits_path(arena *a, int threads) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && cache[0] == '/') return arena_printf(a, "%s/heddle/machine-%d", cache, threads);
  return home && home[0] == '/' ? arena_printf(a, "%s/.cache/heddle/machine-%d", home, threads) : NULL;
}

const char *machine_limits_cpu(arena *a) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  str info;
  heddle_status s = file_read(a, "/proc/cpuinfo", &info);
  const char *model = status_is_ok(s) ? strstr(info.data, "model name") : NULL;
  heddle_status_free(s);
  model = model ? strchr(model, ':') : NULL;
  if (!model) return arena_printf(a, "unknown CPU, %ld cores", cores);
  model += strspn(model, ": \t");
  return arena_printf(a, "%.*s, %ld cores", (int)strcspn(model, "\n"), model, cores);
}

// What stands in front of the figures: they hold as long as this does.
static const char *file_head(arena *a, int threads) {
  return arena_printf(a, "heddle machine limits 1\ncpu %s\nlevel %s\nthreads %d\n", machine_limits_cpu(a),
                      cpu_levels[cpu_level_now()].name, threads);
}

static bool read_kept(arena *a, const char *path, const char *head, machine_limits *out) {
  str kept;
  heddle_status s = file_read(a, path, &kept);
  const bool is_there = status_is_ok(s);
  heddle_status_free(s);
  if (!is_there || !str_starts_with(kept, head)) return false;
  double bytes, flops;
  if (sscanf(kept.data + strlen(head), "bytes_per_second %lf\nflops %lf", &bytes, &flops) != 2) return false;
  if (!(bytes > 0 && bytes < 1e18 && flops > 0 && flops < 1e18)) return false;
  out->bytes_per_second = bytes;
  out->flops = flops;
  return out->was_kept = true;
}

static void keep(arena *a, char *path, const char *head, const machine_limits *m) {
  char *slash = strrchr(path, '/');
  *slash = 0;
  heddle_status s = file_make_folder(path);
  *slash = '/';
  const char *figures = arena_printf(a, "%sbytes_per_second %.6g\nflops %.6g\n", head, m->bytes_per_second, m->flops);
  if (status_is_ok(s)) s = file_write(path, str_from(figures));
  if (!status_is_ok(s)) log_print(1, "the machine's limits are not kept: %s", status_brief(s));
  heddle_status_free(s);
}

machine_limits machine_limits_get(int threads) {
  arena *a = arena_create();
  machine_limits m = {.threads = threads < 1 ? 1 : threads > POOL_THREADS_MAX ? POOL_THREADS_MAX : threads};
  const char *path = machine_limits_path(a, m.threads), *head = file_head(a, m.threads);
  if (!path || !read_kept(a, path, head, &m)) {
    for (int64_t bytes = COPIED_BYTES; bytes >= LEAST_BYTES && m.bytes_per_second <= 0 && !call_is_over(); bytes /= 2)
      m.bytes_per_second = bandwidth_of_copy(bytes, m.threads);
    m.flops = measure_flops(m.threads);
    // Cut short by the call's end, they are too low.
    if (path && m.bytes_per_second > 0 && !call_is_over()) keep(a, arena_strdup(a, path, strlen(path)), head, &m);
  }
  arena_destroy(a);
  return m;
}
