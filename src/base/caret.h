// Source lines with a caret below, for errors in text the user wrote.
#ifndef HEDDLE_BASE_CARET_H_
#define HEDDLE_BASE_CARET_H_

#include "base/status.h"
#include "base/str.h"

// The line of `source` that holds the byte at `offset`, without its newline.
str caret_line_at(str source, size_t offset);
// Two lines: the text around `column` (1-based, in bytes) of `line`, and a caret below it.
void caret_append(text *out, str line, int column);
// The error with the source line it points at and a caret, if it has a line in `source`. Takes and returns ownership.
heddle_status caret_add(heddle_status status, str source);

#endif
