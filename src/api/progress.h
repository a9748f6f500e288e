// Tells whoever has asked where a compilation is.
#ifndef HEDDLE_API_PROGRESS_H_
#define HEDDLE_API_PROGRESS_H_

// `done` of `total` kernels where the stage counts them, else both are 0. One call at a time, from any thread.
typedef void (*compile_progress_fn)(void *user, const char *stage, int done, int total);

typedef struct compile_progress {
  compile_progress_fn fn;  // null: nobody has
  void *user;
} compile_progress;

static inline void progress_tell(const compile_progress *p, const char *stage, int done, int total) {
  if (p && p->fn) p->fn(p->user, stage, done, total);
}

#endif
