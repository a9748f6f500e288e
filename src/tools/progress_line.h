// A line on a terminal that says where a long compilation is, and is gone when it ends.
#ifndef HEDDLE_TOOLS_PROGRESS_LINE_H_
#define HEDDLE_TOOLS_PROGRESS_LINE_H_

#include "api/progress.h"

// For compile_options.progress: nothing is shown where standard error is no terminal, nor before a second has passed.
compile_progress progress_line_make(void);
// Takes the line away.
void progress_line_clear(void);

#endif
