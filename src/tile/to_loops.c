// iree-codegen-lower-to-loops: what is left of linalg becomes scalar loops, accesses of several rows become accesses of
// one, and indices of memory become arithmetic; behind it stand scf, vector and memref alone.
#include "lower/passes.h"
#include "tile/passes.h"
#include "tile/schedule.h"
#include "tile/vector_rows.h"

static const char rows[] =
    "%f = transform.structured.match ops{[\"func.func\"]} in %module : (!transform.any_op) -> !transform.any_op\n"
    "transform.apply_patterns to %f { transform.apply_patterns.vector.cast_away_vector_leading_one_dim } "
    ": !transform.any_op\n"
    "transform.apply_patterns to %f {\n"
    "  transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1\n"
    "  transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true\n"
    "  transform.apply_patterns.vector.lower_shape_cast\n"
    "  transform.apply_patterns.vector.lower_create_mask\n"
    "} : !transform.any_op\n";

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(lower_upstream(context, unit, "func.func(convert-linalg-to-loops)"));
  vector_rows_cast(c->scratch, (MlirOperation){unit});
  TRY(schedule_run(c, (MlirOperation){unit}, str_from(rows)));
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
