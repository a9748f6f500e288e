// Top-k rewriter: sorts of which only few of the first or last elements are read become top-k.
#ifndef HEDDLE_OPT_TOP_K_REWRITER_H_
#define HEDDLE_OPT_TOP_K_REWRITER_H_

#include "hlo/module.h"

heddle_status top_k_rewriter_run(module *m);

#endif
