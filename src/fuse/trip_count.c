// The count survives fusion, printing and parsing in the loop's backend_config; a note of the program's own that
// does not follow from the loop is dropped, since the condition is there to be asked and never wrong.
#include "fuse/trip_count.h"

#include <ctype.h>

#include "opt/while_trip_count.h"

int64_t trip_count_of(const instruction *loop) {
  static const char key[] = "\"known_trip_count\"", number[] = "\"n\"";
  str config = loop->attributes->backend_config;
  size_t at = 0;
  int64_t count = 0;
  while (at < config.size && !str_starts_with((str){config.data + at, config.size - at}, key)) at++;
  while (at < config.size && !str_starts_with((str){config.data + at, config.size - at}, number)) at++;
  while (at < config.size && !isdigit((unsigned char)config.data[at])) at++;
  if (at == config.size) return -1;
  for (; at < config.size && isdigit((unsigned char)config.data[at]); at++) {
    if (count > INT64_MAX / 10 - 1) return -1;
    count = count * 10 + (config.data[at] - '0');
  }
  return count;
}

void trip_count_set(instruction *loop, int64_t count) {
  arena *a = loop->parent->module->arena;
  hlo_attributes *x = loop->attributes = attributes_copy(a, loop->attributes);
  x->backend_config = str_from(arena_printf(a, "{\"known_trip_count\":{\"n\":\"%lld\"}}", (long long)count));
  x->backend_config_is_json = true;
  attributes_mark(x, HLO_ATTRIBUTE_BACKEND_CONFIG);
}

static void note(module *m, instruction *loop) {
  int leaf;
  int64_t start, step, count;
  const int64_t noted = trip_count_of(loop);
  const bool counts = while_trip_count(loop, &leaf, &start, &step, &count);
  if (counts ? noted == count : noted < 0) return;
  if (counts) {
    trip_count_set(loop, count);
    return;
  }
  loop->attributes = attributes_copy(m->arena, loop->attributes);
  loop->attributes->backend_config = STR("{}");
}

void trip_count_note(module *m) {
  for (int k = 0; k < m->computations.size; k++) {
    const computation *c = m->computations.data[k];
    for (int n = 0; n < c->instructions.size; n++)
      if (c->instructions.data[n]->opcode == HLO_WHILE) note(m, c->instructions.data[n]);
  }
}
