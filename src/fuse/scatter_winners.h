// Lets the updates of an overwriting scatter be stored in any order: of those that go to one place, all but the last
// are left out before.
#ifndef HEDDLE_FUSE_SCATTER_WINNERS_H_
#define HEDDLE_FUSE_SCATTER_WINNERS_H_

#include "base/target.h"
#include "hlo/module.h"

// On a grid of threads, where going through the updates in order would take longer than that. True if any scatter of
// the computation was changed.
bool scatter_winners_run(computation *c, const target_description *target);

#endif
