// The one list of HLO passes; its order is the pipeline.
//
// Forms and types go first, as all passes rely on one form and on operands that agree, then layouts, since a bitcast
// means memory as its own operand's shape lays it out, and whatever stands for that operand later may lie otherwise; no
// other pass needs to know layouts. Expanders that make calls and maps of computations go in front of the inliners.
// Then calls: what follows sees one computation, and scans see whether theirs is one operation. Then the forms that
// only some front ends write are brought to the ones that code generation takes. Tuples are simplified when nobody
// makes new ones; then the leaves of loops' states are plain to see, of which constants move inside, where the algebra
// finds them. Arrays without elements go before the algebra, whose rules need not think of them; invariant code moves
// when no two pieces of it are the same. Barriers stand until nothing more is merged across them; when they are gone
// sorts see all that is read of them, by slices that the algebra has brought to them and nothing has joined yet. Then
// moves are brought together, so that dots and convolutions see which of them they can take over; what these leave is
// simplified once more. Dead code goes when every other pass may have left some, and bitcasts are formed last: nobody
// looks through them.
#include "opt/pass.h"

#include "base/call.h"
#include "hlo/text.h"
#include "opt/algebraic_simplifier.h"
#include "opt/async_expander.h"
#include "opt/barrier_expander.h"
#include "opt/batch_norm_expander.h"
#include "opt/bitcast_forming.h"
#include "opt/call_inliner.h"
#include "opt/cbrt_expander.h"
#include "opt/collective_simplifier.h"
#include "opt/conditional_simplifier.h"
#include "opt/constant_folding.h"
#include "opt/convolution_canonicalizer.h"
#include "opt/cse.h"
#include "opt/cumulative_scan.h"
#include "opt/custom_call_expander.h"
#include "opt/dead_code.h"
#include "opt/dot_canonicalizer.h"
#include "opt/dot_sums.h"
#include "opt/dynamic_index_splitter.h"
#include "opt/dynamic_padder.h"
#include "opt/dynamic_shapes.h"
#include "opt/erf_expander.h"
#include "opt/form_normalization.h"
#include "opt/gather_simplifier.h"
#include "opt/gpu_call_expander.h"
#include "opt/layout_normalization.h"
#include "opt/linear_algebra_expander.h"
#include "opt/logistic_expander.h"
#include "opt/map_inliner.h"
#include "opt/mixed_types_expander.h"
#include "opt/ragged_dot_expander.h"
#include "opt/reshape_mover.h"
#include "opt/rng_expander.h"
#include "opt/scaled_dot_expander.h"
#include "opt/scan_expander.h"
#include "opt/scatter_simplifier.h"
#include "opt/select_and_scatter_expander.h"
#include "opt/slice_sinker.h"
#include "opt/stochastic_convert_expander.h"
#include "opt/tile_move_expander.h"
#include "opt/top_k_rewriter.h"
#include "opt/tuple_flattening.h"
#include "opt/tuple_simplifier.h"
#include "opt/while_loop_invariant_code_motion.h"
#include "opt/while_loop_simplifier.h"
#include "opt/zero_sized.h"

static heddle_status inline_all(module *m) { return call_inliner_run(m, NULL); }

const opt_pass opt_passes[] = {
    {"form-normalization", "operations with several forms take the one that all else knows", form_normalization_run,
     OPT_NEEDED},
    {"mixed-types-expander", "converts stand where an operation mixes element types", mixed_types_expander_run,
     OPT_NEEDED},
    {"dynamic-index-splitter", "start indices in one vector become scalars", dynamic_index_splitter_run, OPT_NEEDED},
    {"layout-normalization", "arrays inside a module have the default layout", layout_normalization_run, OPT_NEEDED},
    {"async-expander", "asynchronous pairs become the operations that they start", async_expander_run, OPT_NEEDED},
    {"collective-simplifier", "collectives of one device become their operands", collective_simplifier_run, OPT_NEEDED},
    {"select-and-scatter-expander", "select-and-scatters become the windows' winners and where they add",
     select_and_scatter_expander_run, OPT_NEEDED},
    {"scan-expander", "scans become while loops", scan_expander_run, OPT_NEEDED},
    {"gpu-call-expander", "calls of GPU libraries become the operations that they replaced", gpu_call_expander_run,
     OPT_NEEDED},
    {"tile-move-expander", "custom calls between arrays and the partitions' parts become slices and all-gathers",
     tile_move_expander_run, OPT_NEEDED},
    {"custom-call-expander", "custom calls that are HLO under another name become that", custom_call_expander_run,
     OPT_NEEDED},
    {"call-inliner", "calls and fusions become the bodies they call", inline_all, OPT_NEEDED},
    {"cumulative-scan", "windows over all elements before each one are scanned in linear time", cumulative_scan_run,
     OPT_IMPROVES},
    {"map-inliner", "maps become the operations of their body on whole arrays", map_inliner_run, OPT_NEEDED},
    {"batch-norm-expander", "batch norms become reductions and arithmetic", batch_norm_expander_run, OPT_NEEDED},
    {"ragged-dot-expander", "ragged dots become loops of dots", ragged_dot_expander_run, OPT_NEEDED},
    {"scaled-dot-expander", "scaled dots become dots of operands times scales", scaled_dot_expander_run, OPT_NEEDED},
    {"stochastic-convert-expander", "stochastic converts become arithmetic", stochastic_convert_expander_run,
     OPT_NEEDED},
    {"linear-algebra-expander", "cholesky and triangular-solve become library calls", linear_algebra_expander_run,
     OPT_NEEDED},
    {"rng-expander", "random numbers without a state of the program's become calls of the runtime", rng_expander_run,
     OPT_NEEDED},
    {"dynamic-shapes", "sizes that are known make dynamic dims static", dynamic_shapes_run, OPT_NEEDED},
    {"dynamic-padder", "arrays of sizes known at run time become arrays of their bound", dynamic_padder_run,
     OPT_NEEDED},
    {"gather-simplifier", "gathers take a list of index vectors and give a list of windows", gather_simplifier_run,
     OPT_NEEDED},
    {"scatter-simplifier", "scatters take lists of index vectors and of windows", scatter_simplifier_run, OPT_NEEDED},
    {"logistic-expander", "logistic becomes 1 / (1 + exp(-x))", logistic_expander_run, OPT_ON_REQUEST},
    {"erf-expander", "erf up to f32 becomes a rational function", erf_expander_run, OPT_ON_REQUEST},
    {"cbrt-expander", "cbrt becomes exponential and logarithm", cbrt_expander_run, OPT_ON_REQUEST},
    {"dot-sums", "dots that sum everything become reductions", dot_sums_run, OPT_ON_REQUEST},
    {"tuple-flattening", "called computations take and give tuples one level deep", tuple_flattening_run, OPT_NEEDED},
    {"tuple-simplifier", "elements of tuples made here are used directly", tuple_simplifier_run, OPT_NEEDED},
    {"while-loop-simplifier", "loops lose leaves, or vanish that run once or never", while_loop_simplifier_run,
     OPT_IMPROVES},
    {"conditional-simplifier", "conditionals lose operands and results, or become selects", conditional_simplifier_run,
     OPT_IMPROVES},
    {"zero-sized", "arrays without elements become constants", zero_sized_run, OPT_NEEDED},
    {"algebraic-simplifier", "identities that hold exactly for every value", algebraic_simplifier_run, OPT_IMPROVES},
    {"constant-folding", "operations on constants become constants", constant_folding_run, OPT_FOLDS},
    {"cse", "what is computed twice is computed once", cse_run, OPT_IMPROVES},
    {"while-loop-invariant-code-motion", "what a loop computes alike in every step moves in front of it",
     while_loop_invariant_code_motion_run, OPT_IMPROVES},
    {"barrier-expander", "barriers, domains and added dependencies become their operand", barrier_expander_run,
     OPT_NEEDED},
    {"topk-rewriter", "sorts of which few elements are read become top-k", top_k_rewriter_run, OPT_IMPROVES},
    {"slice-sinker", "what is computed on overlapping slices is computed once", slice_sinker_run, OPT_IMPROVES},
    {"reshape-mover", "reshapes and transposes move towards results", reshape_mover_run, OPT_IMPROVES},
    {"convolution-canonicalizer", "convolutions take the forms that libraries have", convolution_canonicalizer_run,
     OPT_NEEDED},
    {"dot-canonicalizer", "dots become batched matrix products", dot_canonicalizer_run, OPT_NEEDED},
    {"algebraic-simplifier", "again, on what the passes above have left", algebraic_simplifier_run, OPT_IMPROVES},
    {"constant-folding", "again", constant_folding_run, OPT_FOLDS},
    {"cse", "again", cse_run, OPT_IMPROVES},
    {"dead-code", "what no result depends on goes, and so do computations nobody calls", dead_code_run, OPT_NEEDED},
    {"bitcast-forming", "moves that leave memory as it is become bitcasts", bitcast_forming_run, OPT_IMPROVES},
    {0},
};

const opt_pass *opt_pass_find(str name) {
  for (const opt_pass *p = opt_passes; p->name; p++)
    if (str_is(name, p->name)) return p;
  return NULL;
}

heddle_status opt_sort(module *m) {
  arena *scratch = arena_create();
  computation **order;
  int count = 0;
  heddle_status s = module_call_order(scratch, m, &order, &count);
  if (status_is_ok(s)) memcpy(m->computations.data, order, (size_t)count * sizeof *order);
  for (int c = 0; c < count && status_is_ok(s); c++) s = computation_sort(scratch, m->computations.data[c]);
  arena_destroy(scratch);
  return s;
}

// Optimized builds verify once, at the end: after each pass it takes as long as the passes themselves.
#ifdef NDEBUG
enum { VERIFIES_EACH = 0 };
#else
enum { VERIFIES_EACH = 1 };
#endif

heddle_status opt_run(module *m, const opt_pass *const *passes, int count, opt_observer observer, void *argument) {
  for (int i = 0; i < count; i++) {
    heddle_status s = call_check();
    if (status_is_ok(s)) s = passes[i]->run(m);
    if (status_is_ok(s)) s = opt_sort(m);
    if (status_is_ok(s) && (VERIFIES_EACH || i == count - 1)) s = module_verify(m);
    if (!status_is_ok(s)) return status_context(s, "in HLO pass %s", passes[i]->name);
    if (observer) observer(argument, passes[i], m);
  }
  return status_ok();
}

heddle_status opt_run_pipeline(module *m, opt_observer observer, void *argument) {
  const opt_pass *passes[sizeof opt_passes / sizeof *opt_passes];
  int count = 0;
  for (const opt_pass *p = opt_passes; p->name; p++)
    if (p->use != OPT_ON_REQUEST) passes[count++] = p;
  return opt_run(m, passes, count, observer, argument);
}
