// iree-codegen-lower-to-loops: what is left of linalg becomes scalar loops, accesses of several rows become accesses of
// one, and indices of memory become arithmetic; behind it stand scf, vector and memref alone.
#include "lower/passes.h"
#include "tile/passes.h"
#include "tile/vector_rows.h"

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  tile_load_dialects(c->context);
  TRY(lower_upstream(context, unit, "func.func(convert-linalg-to-loops)"));
  vector_rows_cast(c->scratch, (MlirOperation){unit});
  TRY(lower_vectors(context, unit, VECTOR_STEP_UNIT_DIMS));
  TRY(lower_vectors(context, unit, VECTOR_STEP_ROWS));
  TRY(lower_tidy(context, unit));
  TRY(lower_upstream(context, unit, "expand-strided-metadata,lower-affine"));
  TRY(lower_tidy(context, unit));
  return lower_licm.run(context, unit);
}

const pass tile_to_loops = {
    .name = "iree-codegen-lower-to-loops",
    .summary = "the rest of linalg to loops, rows of vectors to vectors, indices to arithmetic",
    .order_reason = "behind the last pass that looks at structured operations",
    .use = PASS_NEEDED,
    .run = run,
};
