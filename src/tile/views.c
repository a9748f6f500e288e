// Of the operations of memref those that regions are made of.
#include "tile/views.h"

bool views_is_one(MlirOperation op) {
  static const char *const names[] = {"memref.subview", "memref.cast", "memref.collapse_shape", "memref.expand_shape"};
  bool any = false;
  for (size_t k = 0; !ir_is_null(op) && k < sizeof names / sizeof *names; k++) any |= ir_is(op, names[k]);
  return any;
}

MlirValue views_root(MlirValue memory) {
  for (MlirOperation op = ir_defining_op(memory); views_is_one(op); op = ir_defining_op(memory))
    memory = ir_operand(op, 0);
  return memory;
}
