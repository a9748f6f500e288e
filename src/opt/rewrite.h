// A rewrite is what most passes are: a predicate that picks instructions, and a function that replaces each of them.
#ifndef HEDDLE_OPT_REWRITE_H_
#define HEDDLE_OPT_REWRITE_H_

#include "base/pass.h"
#include "hlo/builder.h"

// Every instruction of the module for which `matches` holds before anything is changed is replaced by what `make`
// gives, and removed. Null from `make` leaves it. A result of the same dims takes over the layout.
heddle_status rewrite_each(pass_context *context, module *m, bool (*matches)(const instruction *i),
                           instruction *(*make)(instruction *i));
// The same with what `make` needs to know.
heddle_status rewrite_each_given(pass_context *context, module *m, bool (*matches)(const instruction *i),
                                 instruction *(*make)(instruction *i, void *argument), void *argument);
// Whoever uses `i` uses `by` instead, which is a change if there is anybody.
void rewrite_uses(pass_context *context, instruction *i, instruction *by);
// Instructions that others wait for, as keys: control edges order effects, so whoever waits has to go on waiting.
void rewrite_find_waited_for(arena *scratch, const computation *c, ptr_map *out);

// Control edges over instructions that go: who waits for one of them waits for what its list in `gone` (an
// instruction_list, which may hold others that go) names instead.
void rewrite_pass_on_waits(arena *scratch, computation *c, const ptr_map *gone);
// Halves and narrower as f32, in which what replaces a function of them is computed; others as they are.
instruction *rewrite_widen(const builder *b, instruction *x);
// The same operation, attributes and called computations with other operands and shape.
instruction *rewrite_with(const builder *b, const instruction *i, const shape *s, instruction *const *operands);

#endif
