// libFuzzer target: bytes are read or refused; what is read is equal to itself, so that all of it can be walked.
//
// Repeated elements are kept few: the input's size is no measure of the memory they take.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/bytecode_reader.h"
#include "import/ir_compare.h"

enum { LONGEST_INPUT = 1 << 16, EXPANDED_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > LONGEST_INPUT) return 0;
  arena *a = arena_create();
  ir_module *m;
  heddle_status status = bytecode_read_limited(a, "fuzz", (str){(const char *)data, size}, EXPANDED_BYTES, &m);
  if (status_is_ok(status)) {
    status = ir_compare(m, m, NULL);
    if (!status_is_ok(status)) {
      fprintf(stderr, "%s\n", heddle_status_message(status));
      abort();
    }
  }
  heddle_status_free(status);
  arena_destroy(a);
  return 0;
}
