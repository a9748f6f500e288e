#include "kernel/panels.h"

#include "base/int64.h"

// Two vectors, which all rows of the table in tile/sizes.c have; one where that is all there is.
int64_t panels_width(const target_description *target, int bits, int64_t columns) {
  const int64_t lanes = int64_max(1, target->products.panel_bits / bits);
  return columns <= lanes ? lanes : 2 * lanes;
}

static bool has_one_user(const instruction *i) { return i->users.size == 1 && i->parent->root != i; }

static bool begins_with(const instruction *slice) {
  const slice_config *s = &slice->attributes->slice;
  bool all = true;
  for (int d = 0; d < s->rank; d++) all &= s->dims[d].start == 0 && s->dims[d].stride == 1;
  return all;
}

// Which dims of the panels, in the transpose's order, each dim of the reshape's result is made of: one each, and of the
// column two, the latter of which is the last one.
static bool read_dims(const instruction *reshape, const instruction *transpose, panels_form *f) {
  const int_list from = transpose->attributes->dimensions;
  const shape *whole = reshape->shape, *cut = transpose->shape;
  f->rank = whole->rank;
  if (cut->rank != f->rank + 1) return false;
  const int last = int_list_find(from, f->rank);
  if (last < 1) return false;
  f->column = last - 1;
  f->width = cut->dims[last];
  for (int d = 0; d < f->rank; d++) {
    const int at = d <= f->column ? d : d + 1;
    f->order[from.data[at]] = d;
    if (whole->dims[d] != cut->dims[at] * (d == f->column ? f->width : 1)) return false;
  }
  return true;
}

bool panels_of(const instruction *product, const target_description *target, panels_form *out) {
  if ((product->opcode != HLO_DOT && product->opcode != HLO_CONVOLUTION) || target->has_grid) return false;
  const instruction *side = product->operands[1], *reshape = side;
  if (!has_one_user(side)) return false;
  if (side->opcode == HLO_SLICE && begins_with(side)) reshape = side->operands[0];
  if (reshape->opcode != HLO_RESHAPE || !has_one_user(reshape)) return false;
  const instruction *transpose = reshape->operands[0];
  if (transpose->opcode != HLO_TRANSPOSE || !has_one_user(transpose)) return false;
  panels_form f = {.panels = transpose->operands[0]};
  if (f.panels->opcode != HLO_PARAMETER || !has_one_user(f.panels) || !read_dims(reshape, transpose, &f)) return false;
  for (int d = 0; d < f.rank; d++)
    if (d != f.column && side->shape->dims[d] != reshape->shape->dims[d]) return false;
  const int64_t columns = side->shape->dims[f.column];
  *out = f;
  return reshape->shape->dims[f.column] - columns < f.width &&
         f.width == panels_width(target, dtypes[side->shape->dtype].bits, columns);
}

bool panels_has(const instruction *i, const target_description *target) {
  panels_form f;
  while (has_one_user(i) && (i->opcode == HLO_TRANSPOSE || i->opcode == HLO_RESHAPE || i->opcode == HLO_SLICE)) {
    const instruction *user = i->users.data[0];
    if (user->operand_count == 2 && user->operands[1] == i) return panels_of(user, target, &f);
    i = user;
  }
  return false;
}
