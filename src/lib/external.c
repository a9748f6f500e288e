// Libraries stay loaded as long as the process lives. OpenMP's runtime, which two of them stand on, is told by the pool
// to use one thread (base/pool.h); it is loaded first, so that the pool knows it before a library does.
#include "lib/external.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/pool.h"

void *external_functions[EXTERNAL_FUNCTION_COUNT];

typedef struct library_info {
  const char *name, *file;  // the file by the version of the interface that our headers declare
} library_info;

static const library_info libraries[EXTERNAL_LIBRARY_COUNT] = {
    [EXTERNAL_ONEDNN] = {"oneDNN", "libdnnl.so.2"},
    [EXTERNAL_OPENBLAS] = {"OpenBLAS", "libopenblas.so.0"},
    [EXTERNAL_LAPACKE] = {"LAPACKE", "liblapacke.so.3"},
    [EXTERNAL_FFTW] = {"FFTW", "libfftw3.so.3"},
    [EXTERNAL_FFTW_SINGLE] = {"FFTW in single precision", "libfftw3f.so.3"},
};

static const struct function_info {
  external_library library;
  const char *name;
} functions[EXTERNAL_FUNCTION_COUNT] = {
#define EXTERNAL_FUNCTION(library_, name_) {EXTERNAL_##library_, #name_},
#include "lib/external.def"
#undef EXTERNAL_FUNCTION
};

static lock loading = LOCK_INITIALIZER;
static atomic_bool is_loaded[EXTERNAL_LIBRARY_COUNT];

// Where it is absent, nothing that is loaded uses it.
static void load_openmp(void) {
  void *runtime = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!runtime) return;
  pool_adopt_openmp((int (*)(void))dlsym(runtime, "omp_get_max_threads"),
                    (void (*)(int))dlsym(runtime, "omp_set_num_threads"));
}

static heddle_status absent(const library_info *l, const char *what) {
  const char *why = dlerror();
  return status_error(HEDDLE_DEVICE_FAILED, "%s is needed, and %s %s: %s", l->name, l->file, what,
                      why ? why : "the system does not say why");
}

static heddle_status load(external_library which) {
  if (atomic_load(&is_loaded[which])) return status_ok();
  load_openmp();
  const library_info *l = &libraries[which];
  void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return absent(l, "cannot be loaded");
  for (int k = 0; k < EXTERNAL_FUNCTION_COUNT; k++) {
    if (functions[k].library != which) continue;
    external_functions[k] = dlsym(handle, functions[k].name);
    if (!external_functions[k]) return absent(l, "lacks a function");
  }
  atomic_store(&is_loaded[which], true);
  return status_ok();
}

heddle_status external_need(external_library which) {
  heddle_status s = status_ok();
  if (!atomic_load_explicit(&is_loaded[which], memory_order_acquire)) {
    lock_take(&loading);
    s = load(which);
    lock_give(&loading);
  }
  pool_tell_openmp();
  return s;
}

heddle_status external_need_all(unsigned set) {
  for (int k = 0; k < EXTERNAL_LIBRARY_COUNT; k++)
    if (set >> k & 1) TRY(external_need((external_library)k));
  return status_ok();
}
