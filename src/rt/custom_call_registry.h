// The functions that users have registered as custom calls (heddle/custom_call.h).
#ifndef HEDDLE_RT_CUSTOM_CALL_REGISTRY_H_
#define HEDDLE_RT_CUSTOM_CALL_REGISTRY_H_

#include "heddle/custom_call.h"

// False if nobody has registered the name. Safe on any thread.
bool custom_call_registry_find(const char *name, heddle_custom_call_fn *fn, void **user);

#endif
