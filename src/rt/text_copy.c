// They are blocks of the heap, so that they come from the caller's allocator.
#include "rt/text_copy.h"

#include "base/heap.h"
#include "heddle/runtime.h"

heddle_status text_copy_give(const text *t, char **out) {
  const str made = text_view(t);
  *out = heap_try_allocate(made.size + 1);
  if (!*out) return status_no_memory();
  memcpy(*out, made.data, made.size);
  return status_ok();
}

void heddle_text_free(char *text) { heap_free(text); }
