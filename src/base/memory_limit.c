// Reads amounts of memory.
#include "base/memory_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *const names[MEMORY_LEVELS] = {[MEMORY_DRAM] = "dram", [MEMORY_L2] = "l2"};

const char *memory_level_name(memory_level level) { return names[level]; }

static bool is_given(const memory_amount *a) { return a->bytes > 0 || a->percent > 0; }

// More than any program takes.
static const double MOST_BYTES = 1e18;

bool memory_limit_is_set(const memory_limit *l) {
  for (int k = 0; k < MEMORY_LEVELS; k++)
    if (is_given(&l->levels[k])) return true;
  return false;
}

static heddle_status wrong(str found) {
  return status_error(HEDDLE_INVALID,
                      "found '" STR_FMT
                      "', wanted an amount of memory: 65536, 512KiB, 1.5MiB, 2GiB or 25%%, or levels: "
                      "l2=512KiB,dram=64MiB",
                      STR_ARG(found));
}

static heddle_status parse_amount(str s, memory_amount *out) {
  static const struct unit {
    const char *name;
    double bytes;
  } units[] = {{"", 1}, {"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  char number[32];
  size_t digits = 0;
  while (digits < s.size && ((s.data[digits] >= '0' && s.data[digits] <= '9') || s.data[digits] == '.')) digits++;
  if (digits == 0 || digits >= sizeof number) return wrong(s);
  memcpy(number, s.data, digits);
  number[digits] = '\0';
  char *end;
  const double value = strtod(number, &end);
  const str unit = {s.data + digits, s.size - digits};
  if (*end || !(value > 0) || value > 1e15) return wrong(s);
  if (str_is(unit, "%")) {
    *out = (memory_amount){.percent = value};
    return status_ok();
  }
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    if (!str_is(unit, units[k].name)) continue;
    const double bytes = value * units[k].bytes;
    if (bytes < 1 || bytes > MOST_BYTES) return wrong(s);
    *out = (memory_amount){.bytes = (int64_t)bytes};
    return status_ok();
  }
  return wrong(s);
}

static heddle_status parse_level(str s, memory_limit *out) {
  for (int k = 0; k < MEMORY_LEVELS; k++) {
    const size_t size = strlen(names[k]);
    if (s.size <= size || memcmp(s.data, names[k], size) != 0 || s.data[size] != '=') continue;
    if (is_given(&out->levels[k])) return status_error(HEDDLE_INVALID, "found two limits of %s", names[k]);
    return parse_amount((str){s.data + size + 1, s.size - size - 1}, &out->levels[k]);
  }
  return wrong(s);
}

heddle_status memory_limit_parse(const char *text, memory_limit *out) {
  *out = (memory_limit){0};
  if (!strchr(text, '=')) return parse_amount(str_from(text), &out->levels[MEMORY_DRAM]);
  for (const char *from = text; from;) {
    const char *comma = strchr(from, ',');
    const str level = {from, comma ? (size_t)(comma - from) : strlen(from)};
    TRY(parse_level(level, out));
    from = comma ? comma + 1 : NULL;
  }
  return status_ok();
}

int64_t memory_limit_bytes(const memory_limit *l, memory_level level, int64_t natural) {
  const memory_amount *a = &l->levels[level];
  if (!is_given(a)) return INT64_MAX;
  if (a->bytes > 0) return a->bytes;
  return (int64_t)fmin((double)natural * a->percent / 100.0, MOST_BYTES);
}
