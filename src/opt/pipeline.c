// The one list of HLO passes; its order is the pipeline. Why a pass stands where it stands, the pass itself says
// (`hlo-opt --list-passes` shows it); what holds for all of them is this.
//
// What only some front ends write is brought to few forms first, so that the passes behind know one form of everything.
// Then calls go, as most passes see one computation; then what is left is made smaller and cheaper, at the end brought
// to the forms that libraries and code generation take.
#include "base/vec.h"
#include "opt/passes.h"

const pass *const opt_passes[] = {
    &opt_form_normalization,
    &opt_mixed_types_expander,
    &opt_dynamic_index_splitter,
    &opt_layout_normalization,
    &opt_async_expander,
    &opt_permute_slices_expander,
    &opt_collective_simplifier,
    &opt_select_and_scatter_expander,
    &opt_scan_expander,
    &opt_gpu_call_expander,
    &opt_tile_move_expander,
    &opt_custom_call_expander,
    &opt_call_inliner,
    &opt_cumulative_scan,
    &opt_map_inliner,
    &opt_batch_norm_expander,
    &opt_ragged_dot_expander,
    &opt_scaled_dot_expander,
    &opt_stochastic_convert_expander,
    &opt_linear_algebra_expander,
    &opt_rng_expander,
    &opt_dynamic_shapes,
    &opt_dynamic_padder,
    &opt_gather_simplifier,
    &opt_scatter_simplifier,
    &opt_logistic_expander,
    &opt_erf_expander,
    &opt_cbrt_expander,
    &opt_dot_sums,
    &opt_open_index_expander,
    &opt_open_reduction_expander,
    &opt_tuple_flattening,
    &opt_tuple_simplifier,
    &opt_while_loop_simplifier,
    &opt_conditional_simplifier,
    &opt_zero_sized,
    &opt_algebraic_simplifier,
    &opt_constant_folding,
    &opt_cse,
    &opt_while_loop_invariant_code_motion,
    &opt_barrier_expander,
    &opt_top_k_rewriter,
    &opt_slice_sinker,
    &opt_reshape_mover,
    &opt_convolution_canonicalizer,
    &opt_dot_canonicalizer,
    // once more, on what the passes above have left
    &opt_algebraic_simplifier,
    &opt_constant_folding,
    &opt_cse,
    &opt_dead_code,
    &opt_bitcast_forming,
    NULL,
};

heddle_status opt_run_pipeline(module *m, pass_control *control) {
  const pass *passes[sizeof opt_passes / sizeof *opt_passes];
  int count = 0;
  for (int i = 0; opt_passes[i]; i++)
    if (opt_passes[i]->use != PASS_ON_REQUEST) passes[count++] = opt_passes[i];
  passes[count] = NULL;
  return opt_run(m, passes, control);
}
