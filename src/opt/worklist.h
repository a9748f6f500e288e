// Rewriting until nothing changes: a rule is tried on every instruction, and again on whoever uses what it made.
#ifndef HEDDLE_OPT_WORKLIST_H_
#define HEDDLE_OPT_WORKLIST_H_

#include "base/pass.h"
#include "hlo/builder.h"

// What `i` may be replaced by: an instruction there is, or one made with `b`, which belongs to i's computation and has
// its metadata. Null leaves `i` as it is. Must not change what stands already.
typedef instruction *(*worklist_rule)(const builder *b, instruction *i);

// Applies the rule to every computation, operands before users, then removes dead code. Each change makes only the new
// instructions and the replaced one's users candidates again, so that the time is that of the changes. Left alone:
// instructions with dynamic dims (their own or an operand's), those ordered by control edges, those nobody uses. Also
// refused: a replacement by something that stands already in another layout than i's. Rules that undo each other are a
// mistake: HEDDLE_INTERNAL when the number of changes passes any reasonable bound.
heddle_status worklist_run(pass_context *context, module *m, worklist_rule rule);

#endif
