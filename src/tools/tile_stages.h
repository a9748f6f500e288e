// The stages of kernels that go through linalg, for hlo-opt --until.
#ifndef HEDDLE_TOOLS_TILE_STAGES_H_
#define HEDDLE_TOOLS_TILE_STAGES_H_

#include "lhlo/lhlo.h"
#include "lower/pass.h"

#define TILE_STAGES "dispatch|linalg|tiled|bufferized|vectorized|promoted|distributed"

bool tile_stages_has(const char *stage);

// Prints what the stage leaves of each kernel of the plan, as MLIR; of kernels that an emitter makes a line that says
// so. Errors are those of the passes.
heddle_status tile_stages_print(const lhlo_program *plan, const char *stage, const lower_options *options, text *out);

#endif
