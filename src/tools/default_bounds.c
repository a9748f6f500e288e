// The longest sum of the module decides for all of its results, since any of them may depend on it.
#include "tools/default_bounds.h"

#include <math.h>

#include "tools/tolerance.h"

static double product_of(const shape *s, int_list dims) {
  double count = 1;
  for (int k = 0; k < dims.size; k++) count *= (double)s->dims[dims.data[k]];
  return count;
}

static double window_size(const window *w) {
  double count = 1;
  for (int d = 0; d < w->rank; d++) count *= (double)w->dims[d].size;
  return count;
}

static double reduce_length(const instruction *i) {
  return product_of(instruction_operand_shape(i, 0), i->attributes->dimensions);
}

static double window_length(const instruction *i) { return window_size(&i->attributes->window); }

static double dot_length(const instruction *i) {
  return product_of(instruction_operand_shape(i, 0), i->attributes->lhs_contracting_dims);
}

static double convolution_length(const instruction *i) {
  const shape *kernel = instruction_operand_shape(i, 1);
  return window_length(i) * (double)kernel->dims[i->attributes->dim_labels.kernel_input_feature];
}

// Updates that may all meet in one element.
static double scatter_length(const instruction *i) {
  const shape *indices = instruction_operand_shape(i, i->operand_count / 2);
  return (double)shape_element_count(indices);
}

// How many terms one element of the result adds up.
static double (*const lengths[HLO_OPCODE_COUNT])(const instruction *i) = {
    [HLO_REDUCE] = reduce_length,   [HLO_REDUCE_WINDOW] = window_length,
    [HLO_DOT] = dot_length,         [HLO_RAGGED_DOT] = dot_length,
    [HLO_SCALED_DOT] = dot_length,  [HLO_CONVOLUTION] = convolution_length,
    [HLO_SCATTER] = scatter_length, [HLO_SELECT_AND_SCATTER] = window_length,
};

static double longest_sum(const module *m) {
  double longest = 1;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (lengths[all->data[k]->opcode]) longest = fmax(longest, lengths[all->data[k]->opcode](all->data[k]));
  }
  return longest;
}

static double unit(dtype t) {
  if (dtypes[t].is_narrow_float) return ldexp(1, -float_formats[dtypes[t].narrow].mantissa_bits);
  return t == DTYPE_F32 || t == DTYPE_C64 ? 0x1p-23 : 0x1p-52;
}

default_bounds default_bounds_for(const module *m, double f32) {
  const dtype t = tolerance_for_module(m, true).type;
  const double least = t == DTYPE_F64 || t == DTYPE_C128 ? f32 * 1e-3 : f32;
  const double units = fmax(8, sqrt(longest_sum(m))) * unit(t);
  return (default_bounds){fmax(least, units), fmax(least, units)};
}
