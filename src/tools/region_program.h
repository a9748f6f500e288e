// Runs a module whose kernels of tiles are given as text, at whatever stage of the road through tiles each stands.
#ifndef HEDDLE_TOOLS_REGION_PROGRAM_H_
#define HEDDLE_TOOLS_REGION_PROGRAM_H_

#include "tools/execute.h"
#include "tools/region_text.h"

// Whether the only region of a text is a kernel of the module as it is planned now: it has the name of a kernel of
// tiles, and says of what the runtime calls what the plan says. What a region that is written by hand does not say, so
// that it is none.
heddle_status region_program_has(arena *a, const module *m, str part, platform on, const compile_options *options,
                                 bool *out);

// Each part is a module with one region, which has the name of the kernel that it stands for; kernels without one are
// compiled as usual. The module has to be planned as it was when the text was made: the plan says which arrays the
// kernels share. HEDDLE_INVALID for text that MLIR does not read, for a name that no kernel of tiles has, or two parts
// have, and for bindings that are not the kernel's; what the passes refuse.
heddle_status region_program_run(arena *a, const module *m, const str_list *parts, platform on,
                                 const compile_options *options, const argument_list *arguments, literal **out);

#endif
