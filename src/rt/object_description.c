// The public call by which objects run what needs the runtime (include/heddle/runtime.h). Descriptions are kept ready
// by what they hold and not by where they lie, so that an object may be unloaded and another loaded in its place.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "rt/program_handle.h"

typedef struct description {
  const struct description *next;
  heddle_program *program;
  size_t size;
  char data[];
} description;

// Looked up without a lock: what was added stays, for as long as the process.
enum { BUCKETS = 256 };
static const description *_Atomic buckets[BUCKETS];
static lock adding = LOCK_INITIALIZER;

// A saved program's header has the checksum of all that follows from byte 32 on (doc/saved-programs.md); what is no
// saved program is refused before it gets here a second time.
enum { AT_CHECKSUM = 32 };

static const description *_Atomic *bucket_of(const char *data, size_t size) {
  unsigned number = 0;
  if (size > AT_CHECKSUM) number = (unsigned char)data[AT_CHECKSUM];
  return &buckets[number % BUCKETS];
}

static const description *find(const description *first, const char *data, size_t size) {
  while (first && (first->size != size || memcmp(first->data, data, size) != 0)) first = first->next;
  return first;
}

// Another thread may have been faster.
static const description *add(description *made) {
  const description *_Atomic *bucket = bucket_of(made->data, made->size);
  lock_take(&adding);
  const description *first = atomic_load_explicit(bucket, memory_order_relaxed);
  const description *found = find(first, made->data, made->size);
  if (!found) {
    made->next = first;
    atomic_store_explicit(bucket, made, memory_order_release);
  }
  lock_give(&adding);
  if (!found) return made;
  heddle_program_free(made->program);
  free(made);
  return found;
}

static heddle_status run_at(heddle_program *p, const void *const *inputs, void *const *outputs, const int64_t *sizes) {
  enum { MOST_INPUTS = 64 };
  const program *made = p->callable.program;
  const int64_t *dims[MOST_INPUTS];
  if (made->parameter_count > MOST_INPUTS)
    return status_error(HEDDLE_INVALID, "heddle_object_call_sizes: found %d inputs, wanted at most %d",
                        made->parameter_count, (int)MOST_INPUTS);
  for (int k = 0; k < made->parameter_count; k++) {
    if (made->parameters[k].shape.rank != 1)
      return status_error(HEDDLE_INVALID, "heddle_object_call_sizes: input %d has not one dimension", k);
    dims[k] = &sizes[k];
  }
  const heddle_run_options options = {HEDDLE_SIZED(heddle_run_options), .input_dims = dims};
  return heddle_program_run_with(p, &options, &inputs, &outputs);
}

static heddle_status run(const description *d, void *const *buffers, const int64_t *sizes) {
  heddle_program *p = d->program;
  const void *const *inputs = (const void *const *)buffers;
  void *const *outputs = buffers + p->callable.program->parameter_count;
  return sizes ? run_at(p, inputs, outputs, sizes) : heddle_program_run(p, inputs, outputs);
}

static heddle_status run_first(const void *data, size_t size, void *const *buffers, const int64_t *sizes) {
  // The caller's thread is the only one.
  const heddle_load_options options = {HEDDLE_SIZED(heddle_load_options), .threads = 1};
  heddle_program *program;
  TRY(heddle_program_load_memory(data, size, &options, &program));
  description *made = malloc(sizeof *made + size);
  if (!made) {
    heddle_program_free(program);
    return status_no_memory();
  }
  *made = (description){.program = program, .size = size};
  memcpy(made->data, data, size);
  return run(add(made), buffers, sizes);
}

static heddle_status call(const void *given, size_t size, void *const *buffers, const int64_t *sizes) {
  if (!given || !buffers) return status_error(HEDDLE_INVALID, "heddle_object_call: found null");
  const description *found = find(atomic_load_explicit(bucket_of(given, size), memory_order_acquire), given, size);
  return found ? run(found, buffers, sizes) : run_first(given, size, buffers, sizes);
}

heddle_status heddle_object_call(const void *given, size_t size, void *const *buffers) {
  return call(given, size, buffers, NULL);
}

heddle_status heddle_object_call_sizes(const void *given, size_t size, void *const *buffers, const int64_t *sizes) {
  if (!sizes) return status_error(HEDDLE_INVALID, "heddle_object_call_sizes: found null");
  return call(given, size, buffers, sizes);
}
