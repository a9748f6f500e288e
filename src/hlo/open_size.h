// The custom call by which a program for open sizes reads one as a value (lib/open_size.h). It has no effect, whatever
// may be said of custom calls, and always gives the same.
#ifndef HEDDLE_HLO_OPEN_SIZE_H_
#define HEDDLE_HLO_OPEN_SIZE_H_

#include "hlo/module.h"

#define OPEN_SIZE_TARGET "heddle.open_size"

static inline bool open_size_is(const instruction *i) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, OPEN_SIZE_TARGET);
}

#endif
