// Where an update's window lies in the operand of a scatter: what the emitters of scatters have in common.
#ifndef HEDDLE_EMIT_SCATTER_WINDOW_H_
#define HEDDLE_EMIT_SCATTER_WINDOW_H_

#include "emit/entry.h"

typedef struct scatter_window {
  const instruction *scatter;  // in the form of kernel/scatter_form.h
  MlirValue update;            // which one
  MlirValue *starts;           // by dim of the operand
  MlirValue is_inside;         // i1 that the window lies within the operand; null: it always does
} scatter_window;

// Makes the starts of the update's window and the check.
scatter_window scatter_window_find(const kernel_entry *e, ir_builder *b, const instruction *scatter, MlirValue update);

// Index of the window's element `at` in output n, whose dims may be the operand's reshaped.
ir_values scatter_window_target(const kernel_entry *e, ir_builder *b, const scatter_window *w, const MlirValue *at,
                                int n);

// The updates of all operands at the window's element `at`, in the kernel's arena.
const MlirValue *scatter_window_updates(const kernel_entry *e, ir_builder *b, const scatter_window *w,
                                        const MlirValue *at);

// What the scatter's computation makes of the elements and the updates.
const MlirValue *scatter_window_combine(const kernel_entry *e, ir_builder *b, const instruction *scatter,
                                        const MlirValue *elements, const MlirValue *updates);

// Reads the window's element `at` of every output as it is in `before`, combines and writes it.
void scatter_window_update(const kernel_entry *e, ir_builder *b, const scatter_window *w, const MlirValue *at,
                           const MlirValue *before, MlirValue *outputs);

// The same at the window's element `point` of the outputs as they are, as the body of a loop or a branch; window: a
// scatter_window.
heddle_status scatter_window_update_in_place(kernel_entry *e, ir_builder *b, const index_vector *point,
                                             MlirValue *outputs, const void *window);

// Both of two conditions, the first of which may be null.
MlirValue scatter_window_both(ir_builder *b, MlirValue x, MlirValue y);

#endif
