// Shardy's shardings (sdy) in HLO's terms.
//
// An sdy.mesh names the axes of a grid of devices; a sharding says, for every dim of an array, over which axes it is
// divided. HLO says the same as a grid of devices with a size for every dim (hlo/tile_sharding.h).
#ifndef HEDDLE_MLIR_SHARDING_H_
#define HEDDLE_MLIR_SHARDING_H_

#include "hlo/module.h"
#include "mlir/ir.h"

// An attribute's text without the word in front: `<["x"=2]>` of `#sdy.mesh<["x"=2]>`, `{"x"}` of
// `#sdy<manual_axes{"x"}>`. Empty for other texts, and for another word than `word` if that is not null.
str sharding_behind_word(str text, const char *word);

// The first `count` shardings of an attribute `in_shardings` or `out_shardings` of sdy.manual_computation as HLO's
// texts, their bytes in `a`. Only what is divided along the operation's manual axes counts: of other axes every device
// has the whole. HEDDLE_INVALID, at the operation, for what is malformed, for fewer shardings, for a mesh or an axis
// that is not there, and for more than DEVICE_GROUPS_MOST devices.
heddle_status sharding_of_manual(arena *a, const ir_module *m, const ir_operation *op, const char *attribute, int count,
                                 str **out);

// Devices of the largest mesh of the module; 1 if it has none that can be read.
int sharding_most_devices(arena *a, const ir_module *m);

// Says, in one line on standard error, that shardings are ignored, if the module has several partitions and shardings
// beside those at the borders of what is divided by hand, or its source had (`has_hints`).
void sharding_note_ignored(const module *m, bool has_hints);

#endif
