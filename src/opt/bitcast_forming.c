// Bitcast forming: reshapes of row-major arrays, and transposes that move no dim past another one of more than one
// element, become bitcasts: views, for which buffer assignment needs no memory and nobody a kernel.
//
// Comes last: other passes look through reshapes, whose dims say what a bitcast's bytes do not.
#include "opt/passes.h"

#include "opt/worklist.h"

static bool keeps_order(const instruction *transpose) {
  const int_list order = transpose->attributes->dimensions;
  int64_t last = -1;
  for (int k = 0; k < order.size; k++) {
    if (transpose->shape->dims[k] == 1) continue;
    if (order.data[k] < last) return false;
    last = order.data[k];
  }
  return true;
}

static instruction *form(const builder *b, instruction *i) {
  if (i->opcode != HLO_RESHAPE && (i->opcode != HLO_TRANSPOSE || !keeps_order(i))) return NULL;
  if (!shape_layout_is_default(i->shape) || !shape_layout_is_default(i->operands[0]->shape)) return NULL;
  return builder_add(b, HLO_BITCAST, i->shape, 1, i->operands);
}

static heddle_status run(pass_context *context, void *unit) { return worklist_run(context, unit, form); }

const pass opt_bitcast_forming = {
    .name = "bitcast-forming",
    .summary = "moves that leave memory as it is become bitcasts",
    .order_reason = "last: nobody looks through a bitcast",
    .use = PASS_IMPROVES,
    .run = run,
};
