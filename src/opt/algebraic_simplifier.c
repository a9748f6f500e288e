// Algebraic simplification: x * 1 -> x, reshape(reshape(x)) -> reshape(x), slice(concatenate(x, y)) -> slice(x), …
//
// Front ends write programs from templates: broadcasts of broadcasts, slices of what was just joined, products with
// one. Each such operation left standing is a pass over memory or keeps two others from being one kernel. Rules hold
// for every value (NaN, infinities, signed zeros, wrapping integers); each makes fewer or smaller operations, or moves
// one in the one direction all rules agree on: broadcasts and transposes towards results, slices towards parameters,
// constants to the right.
#include "opt/passes.h"

#include "opt/algebraic_rules.h"

static const worklist_rule rules[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = algebraic_abs,
    [HLO_ADD] = algebraic_add,
    [HLO_AND] = algebraic_and,
    [HLO_BITCAST_CONVERT] = algebraic_bitcast_convert,
    [HLO_BROADCAST] = algebraic_broadcast,
    [HLO_CEIL] = algebraic_round,
    [HLO_CLAMP] = algebraic_clamp,
    [HLO_COMPARE] = algebraic_compare,
    [HLO_COMPLEX] = algebraic_complex,
    [HLO_CONCATENATE] = algebraic_concatenate,
    [HLO_CONSTANT] = algebraic_constant,
    [HLO_CONVERT] = algebraic_convert,
    [HLO_COPY] = algebraic_copy,
    [HLO_DIVIDE] = algebraic_divide,
    [HLO_DOT] = algebraic_dot,
    [HLO_DYNAMIC_SLICE] = algebraic_dynamic_slice,
    [HLO_DYNAMIC_UPDATE_SLICE] = algebraic_dynamic_update_slice,
    [HLO_FLOOR] = algebraic_round,
    [HLO_GATHER] = algebraic_gather,
    [HLO_GET_TUPLE_ELEMENT] = algebraic_get_tuple_element,
    [HLO_IMAG] = algebraic_imag,
    [HLO_MAXIMUM] = algebraic_maximum,
    [HLO_MINIMUM] = algebraic_minimum,
    [HLO_MULTIPLY] = algebraic_multiply,
    [HLO_NEGATE] = algebraic_negate,
    [HLO_NOT] = algebraic_not,
    [HLO_OR] = algebraic_or,
    [HLO_PAD] = algebraic_pad,
    [HLO_POWER] = algebraic_power,
    [HLO_REAL] = algebraic_real,
    [HLO_REDUCE] = algebraic_reduce,
    [HLO_REDUCE_PRECISION] = algebraic_reduce_precision,
    [HLO_REDUCE_WINDOW] = algebraic_reduce_window,
    [HLO_REMAINDER] = algebraic_remainder,
    [HLO_RESHAPE] = algebraic_reshape,
    [HLO_REVERSE] = algebraic_reverse,
    [HLO_ROUND_NEAREST_AFZ] = algebraic_round,
    [HLO_ROUND_NEAREST_EVEN] = algebraic_round,
    [HLO_SELECT] = algebraic_select,
    [HLO_SHIFT_LEFT] = algebraic_shift,
    [HLO_SHIFT_RIGHT_ARITHMETIC] = algebraic_shift,
    [HLO_SHIFT_RIGHT_LOGICAL] = algebraic_shift,
    [HLO_SLICE] = algebraic_slice,
    [HLO_SUBTRACT] = algebraic_subtract,
    [HLO_TRANSPOSE] = algebraic_transpose,
    [HLO_XOR] = algebraic_xor,
};

static instruction *simplify(const builder *b, instruction *i) {
  instruction *by = rules[i->opcode] ? rules[i->opcode](b, i) : NULL;
  return by || !hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) ? by : algebraic_elementwise(b, i);
}

static heddle_status run(pass_context *context, void *unit) { return worklist_run(context, unit, simplify); }

const pass opt_algebraic_simplifier = {
    .name = "algebraic-simplifier",
    .summary = "identities that hold exactly for every value",
    .order_reason =
        "on one form of everything, before moves are brought together, and again on what all other passes have left",
    .use = PASS_IMPROVES,
    .run = run,
};
