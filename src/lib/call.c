// Finds the attributes of a library call by name.
#include "lib/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const named_attribute *find(const lib_call *call, const char *name, named_attribute_kind kind) {
  for (int i = 0; i < call->attribute_count; i++)
    if (call->attributes[i].kind == kind && strcmp(call->attributes[i].name, name) == 0) return &call->attributes[i];
  return NULL;
}

// Integers that only uint64_t holds come as their bits.
static bool digits(const char *written, int64_t *to) {
  char *end;
  errno = 0;
  *to = written[0] == '-' ? (int64_t)strtoll(written, &end, 10) : (int64_t)strtoull(written, &end, 10);
  return written[0] && *end == 0 && errno == 0;
}

bool lib_number(const lib_call *call, const char *name, int64_t *to) {
  const named_attribute *ints = find(call, name, NAMED_INTS), *letters = find(call, name, NAMED_TEXT);
  const named_attribute *number = find(call, name, NAMED_DOUBLE);
  if (ints && ints->count == 1) {
    *to = ints->ints[0];
    return true;
  }
  if (letters && letters->text[0] && !letters->text[1]) {
    *to = (unsigned char)letters->text[0];
    return true;
  }
  if (letters) return digits(letters->text, to);
  if (!number || !(number->number > -0x1p62 && number->number < 0x1p62)) return false;
  *to = (int64_t)number->number;
  return true;
}

int64_t lib_int(const lib_call *call, const char *name, int64_t otherwise) {
  const named_attribute *found = find(call, name, NAMED_INTS);
  return found && found->count == 1 ? found->ints[0] : otherwise;
}

double lib_double(const lib_call *call, const char *name, double otherwise) {
  const named_attribute *found = find(call, name, NAMED_DOUBLE);
  return found ? found->number : otherwise;
}

const char *lib_text(const lib_call *call, const char *name) {
  const named_attribute *found = find(call, name, NAMED_TEXT);
  return found ? found->text : NULL;
}

const named_attribute *lib_ints(const lib_call *call, const char *name) { return find(call, name, NAMED_INTS); }
