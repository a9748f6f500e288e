// Cumulative scan: window size n, padding n - 1 in front (or behind) -> O(n) instead of O(n^2).
//
// One known operation with a neutral initial value is a call of the library's, which walks each line once.
//
// Otherwise, in steps of 1, 2, 4, ...: each element is combined with the one so far before it, after which it covers
// twice as many. No initial value is needed on the way; it comes in at the end.
//
// That combines in another order than the window has it, which HLO leaves open; the operands stay in theirs.
#include "opt/passes.h"

#include "hlo/combiner.h"
#include "opt/rewrite.h"
#include "opt/uniform.h"

enum { DIRECT_MAX = 32 };  // shorter windows are left to their kernels

typedef struct scan {
  builder b;
  const instruction *original;
  bool is_known;         // one operation with a neutral initial value
  computation *combine;  // of two scalars
  hlo_opcode opcode;     // if known
  instruction *init;
  int dim;
  bool is_reverse;
} scan;

static bool is_trivial(const window_dim *w) {
  return w->size == 1 && w->stride == 1 && w->padding_low == 0 && w->padding_high == 0 && w->base_dilation == 1;
}

// Whether element k's window is all from the first element to k; or in reverse, from k to the last.
static bool is_cumulative(const window_dim *w, int64_t size, bool *is_reverse) {
  *is_reverse = w->padding_low == 0 && size > 1;
  return w->stride == 1 && w->base_dilation == 1 && w->window_dilation == 1 && !w->reversal && w->size >= size &&
         (*is_reverse ? w->padding_high : w->padding_low) == w->size - 1 &&
         (*is_reverse ? w->padding_low : w->padding_high) == 0;
}

// --- what is combined

static bool is_elementwise(const computation *c) {
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    if (i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT &&
        (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->called_count > 0))
      return false;
  }
  return true;
}

static instruction *combine(const scan *x, instruction *earlier, instruction *later) {
  if (x->is_known) return builder_binary(&x->b, x->opcode, earlier, later);
  instruction *map = builder_add(&x->b, HLO_MAP, later->shape, 2, (instruction *[]){earlier, later});
  int64_t all[SHAPE_MAX_RANK];
  for (int d = 0; d < later->shape->rank; d++) all[d] = d;
  builder_set_dimensions(&x->b, map, later->shape->rank, all);
  instruction_set_called(map, 1, &x->combine);
  return map;
}

static instruction *combine_ordered(const scan *x, instruction *before, instruction *here) {
  return x->is_reverse ? combine(x, here, before) : combine(x, before, here);
}

// --- by the library

static instruction *scan_line(const scan *x, instruction *values) {
  instruction *call = builder_unary(&x->b, HLO_CUSTOM_CALL, values);
  hlo_attributes *to = call->attributes;
  to->custom_call_target = STR("heddle.cumulative");
  to->backend_config = str_from(arena_printf(x->b.arena, "{dimension = %d : i64, reverse = %d : i64, reducer = \"%s\"}",
                                             x->dim, x->is_reverse, hlo_op_text(x->opcode)));
  attributes_mark(to, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET);
  attributes_mark(to, HLO_ATTRIBUTE_BACKEND_CONFIG);
  return call;
}

// --- in steps

// Elements `from` to `to` along the dim.
static instruction *cut(const scan *x, instruction *values, int dim, int64_t from, int64_t to) {
  slice_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < values->shape->rank; d++) dims[d] = (slice_dim){0, values->shape->dims[d], 1};
  if (from == 0 && to == values->shape->dims[dim]) return values;
  dims[dim] = (slice_dim){from, to, 1};
  return builder_slice(&x->b, values, dims);
}

static instruction *scan_steps(const scan *x, instruction *values) {
  const int d = x->dim;
  const int64_t size = values->shape->dims[d];
  for (int64_t step = 1; step < size; step *= 2) {
    instruction *head = cut(x, values, d, 0, size - step), *tail = cut(x, values, d, step, size);
    instruction *both = x->is_reverse ? combine_ordered(x, tail, head) : combine_ordered(x, head, tail);
    instruction *alone = x->is_reverse ? cut(x, values, d, size - step, size) : cut(x, values, d, 0, step);
    instruction *parts[2] = {x->is_reverse ? both : alone, x->is_reverse ? alone : both};
    values = builder_concatenate(&x->b, 2, parts, d);
  }
  return values;
}

static void start(scan *x, const instruction *i) {
  *x = (scan){.b = builder_for(i), .original = i, .combine = i->called[0], .init = i->operands[1]};
  x->opcode = combiner_opcode(x->combine);
  x->is_known = uniform_is_neutral(x->opcode, x->init);
}

static instruction *expand(instruction *i) {
  scan x;
  start(&x, i);
  instruction *values = i->operands[0];
  if (x.is_known && dtypes[i->shape->dtype].is_narrow_float) {
    values = rewrite_widen(&x.b, values);
    x.init = rewrite_widen(&x.b, x.init);
    x.combine = builder_binary_computation(&x.b, x.opcode, values->shape->dtype);
  }
  // The last dim first: what is combined stays in the window's order.
  for (x.dim = i->shape->rank; x.dim-- > 0;) {
    if (is_trivial(&i->attributes->window.dims[x.dim])) continue;
    is_cumulative(&i->attributes->window.dims[x.dim], i->shape->dims[x.dim], &x.is_reverse);
    values = x.is_known ? scan_line(&x, values) : scan_steps(&x, values);
  }
  x.is_reverse = false;
  bool has_init = !x.is_known || x.opcode == HLO_MAXIMUM || x.opcode == HLO_MINIMUM || x.opcode == HLO_AND ||
                  x.opcode == HLO_OR;  // for these any initial value is allowed, and none was used so far
  if (has_init) values = combine(&x, builder_broadcast(&x.b, x.init, values->shape, 0, NULL), values);
  return builder_convert(&x.b, values, i->shape->dtype);
}

static bool can_expand(const instruction *i) {
  if (i->opcode != HLO_REDUCE_WINDOW || i->operand_count != 2 || !shape_is_array(i->shape)) return false;
  const shape *s = i->operands[0]->shape;
  if (!shape_is_static(s) || s->rank + 1 > SHAPE_MAX_RANK || i->attributes->window.rank != s->rank) return false;
  if (i->shape->dtype != s->dtype || i->operands[1]->shape->dtype != s->dtype) return false;
  bool is_long = false;
  for (int d = 0; d < s->rank; d++) {
    const window_dim *w = &i->attributes->window.dims[d];
    bool is_reverse;
    if (s->dims[d] == 0 || (!is_trivial(w) && !is_cumulative(w, s->dims[d], &is_reverse))) return false;
    is_long |= !is_trivial(w) && s->dims[d] > DIRECT_MAX;
  }
  scan x;
  start(&x, i);
  return is_long && (x.is_known || is_elementwise(x.combine));
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, can_expand, expand); }

const pass opt_cumulative_scan = {
    .name = "cumulative-scan",
    .summary = "windows over all elements before each one are scanned in linear time",
    .order_reason =
        "behind the call inliner, where it sees whether the computation is one "
        "operation, and before windows are simplified",
    .use = PASS_IMPROVES,
    .run = run,
};
