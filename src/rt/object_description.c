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

static heddle_status run(const description *d, void *const *buffers) {
  return heddle_program_run(d->program, (const void *const *)buffers,
                            buffers + d->program->callable.program->parameter_count);
}

static heddle_status run_first(const void *data, size_t size, void *const *buffers) {
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
  return run(add(made), buffers);
}

heddle_status heddle_object_call(const void *given, size_t size, void *const *buffers) {
  if (!given || !buffers) return status_error(HEDDLE_INVALID, "heddle_object_call: found null");
  const description *found = find(atomic_load_explicit(bucket_of(given, size), memory_order_acquire), given, size);
  return found ? run(found, buffers) : run_first(given, size, buffers);
}
