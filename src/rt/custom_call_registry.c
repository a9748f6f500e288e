// The registry is one list for the process. Entries are never removed, so that a program keeps the functions that it
// was compiled with.
#include "rt/custom_call_registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/status.h"

typedef struct entry {
  struct entry *next;
  heddle_custom_call_fn fn;
  void *user;
  char name[];
} entry;

static lock of_list = LOCK_INITIALIZER;
static entry *newest;

heddle_status heddle_register_custom_call(const char *name, heddle_custom_call_fn fn, void *user) {
  if (!name || !fn) return status_error(HEDDLE_INVALID, "a custom call needs a name and a function, found null");
  const size_t size = strlen(name) + 1;
  entry *e = malloc(sizeof *e + size);
  if (!e) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to register custom call %s", name);
  memcpy(e->name, name, size);
  e->fn = fn;
  e->user = user;
  lock_take(&of_list);
  e->next = newest;
  newest = e;
  lock_give(&of_list);
  return status_ok();
}

bool custom_call_registry_find(const char *name, heddle_custom_call_fn *fn, void **user) {
  lock_take(&of_list);
  const entry *e = newest;
  while (e && strcmp(e->name, name) != 0) e = e->next;
  lock_give(&of_list);
  if (!e) return false;
  *fn = e->fn;
  *user = e->user;
  return true;
}

const heddle_custom_call_attribute *heddle_custom_call_find(const heddle_custom_call *call, const char *name) {
  for (int k = 0; call && name && k < call->attribute_count; k++)
    if (strcmp(call->attributes[k].name, name) == 0) return &call->attributes[k];
  return NULL;
}

heddle_status heddle_custom_call_error(heddle_code code, const char *message) {
  return status_error(code == HEDDLE_OK ? HEDDLE_INTERNAL : code, "%s", message ? message : "");
}
