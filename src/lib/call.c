// Attributes of calls by name.
#include "lib/call.h"

#include <string.h>

static const lib_attribute *find(const lib_call *call, const char *name, lib_attribute_kind kind) {
  for (int i = 0; i < call->attribute_count; i++)
    if (call->attributes[i].kind == kind && strcmp(call->attributes[i].name, name) == 0) return &call->attributes[i];
  return NULL;
}

int64_t lib_int(const lib_call *call, const char *name, int64_t otherwise) {
  const lib_attribute *found = find(call, name, LIB_INTS);
  return found && found->count == 1 ? found->ints[0] : otherwise;
}

double lib_double(const lib_call *call, const char *name, double otherwise) {
  const lib_attribute *found = find(call, name, LIB_DOUBLE);
  return found ? found->number : otherwise;
}

const char *lib_text(const lib_call *call, const char *name) {
  const lib_attribute *found = find(call, name, LIB_TEXT);
  return found ? found->text : NULL;
}

const lib_attribute *lib_ints(const lib_call *call, const char *name) { return find(call, name, LIB_INTS); }
