// The steps of a planned program, found again in the module that it was planned from.
//
// Planning fuses a copy of the module; names of instructions and computations last. A step is an operation that has no
// operations of its own. What is stored behind a step is a value of the module, by the name of its instruction.
#ifndef HEDDLE_SUPERTILE_PLAN_STEPS_H_
#define HEDDLE_SUPERTILE_PLAN_STEPS_H_

#include "lhlo/lhlo.h"

typedef struct plan_step {
  const lhlo_op *op;
  instruction *bottom;      // of the module: its largest result; null: only a copy, or unknown
  int64_t footprint_bytes;  // that live and are resident
  int64_t touched_bytes;
} plan_step;

typedef struct stored_value {
  bool is_temporary;
  int64_t bytes;
} stored_value;

typedef struct plan_steps {
  arena *arena;
  const lhlo_program *plan;
  VEC(plan_step) steps;  // in the order in which they run; bodies once
  ptr_map stored;        // instruction of the module: a stored_value
  ptr_map numbers;       // instruction of the module: number of the step whose result it is, plus one
} plan_steps;

void plan_steps_find(arena *a, const module *m, const lhlo_program *plan, plan_steps *out);

const plan_step *plan_steps_of(const plan_steps *p, const instruction *bottom);  // null: no step's

// Whether the value counts whole as long as it lives: not where the caller or the file has it. What planning put into a
// result's memory on the way counts, since it may lie elsewhere once others are tiled.
bool plan_steps_is_temporary(const plan_steps *p, const instruction *i);

const stored_value *plan_steps_stored(const plan_steps *p, const instruction *i);  // null: not stored

#endif
