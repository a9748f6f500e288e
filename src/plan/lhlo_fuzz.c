// Fuzzes the reader of LHLO: whatever it accepts prints, and what is printed reads back to the same text.
#include "plan/lhlo.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool print(const lhlo_program *p, text *out) {
  heddle_status s = lhlo_print(out, p);
  bool is_ok = status_is_ok(s);
  heddle_status_free(s);
  return is_ok;
}

static void check_round_trip(arena *a, const lhlo_program *p, const plan_target *target) {
  text first = {0}, second = {0};
  lhlo_program *again;
  if (print(p, &first)) {
    heddle_status s = lhlo_parse(a, text_view(&first), "printed.lhlo", target, &again);
    if (!status_is_ok(s) || !print(again, &second) || !str_equal(text_view(&first), text_view(&second))) abort();
  }
  text_free(&first);
  text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  arena *a = arena_create();
  const plan_target target = plan_target_cpu(2);
  lhlo_program *p;
  heddle_status s = lhlo_parse(a, (str){(const char *)data, size}, "fuzz.lhlo", &target, &p);
  if (status_is_ok(s)) check_round_trip(a, p, &target);
  heddle_status_free(s);
  arena_destroy(a);
  return 0;
}
