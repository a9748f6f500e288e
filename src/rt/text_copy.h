// Texts that go to callers.
#ifndef HEDDLE_RT_TEXT_COPY_H_
#define HEDDLE_RT_TEXT_COPY_H_

#include "base/status.h"
#include "base/str.h"

// A copy for heddle_text_free. Within a guard. HEDDLE_OUT_OF_MEMORY.
heddle_status text_copy_give(const text *t, char **out);

#endif
