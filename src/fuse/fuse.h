// Fusion: which operations become one kernel, which go to a library, and why.
#ifndef HEDDLE_FUSE_FUSE_H_
#define HEDDLE_FUSE_FUSE_H_

#include "base/map.h"
#include "fuse/pack_constants.h"
#include "hlo/module.h"
#include "kernel/launch.h"

// Works in place on a module behind the opt pipeline. Afterwards every instruction of the entry, of loops' conditions
// and bodies, of branches and of called computations is one of
//   parameter, constant, tuple, get-tuple-element, bitcast (no work),
//   while, conditional, call,
//   a fusion that is kept (fuse/kept_fusions.h),
//   a library operation (fuse/library.h), alone or with what follows it as a fusion of kind kCustom, or
//   a fusion of kind kLoop or kInput whose body one kernel computes (kernel/kernel.h).
// `untiled`, if not null: names of instructions that no tiles are made of (kernel/untiled.h), of those that fusion
// itself writes, too; these have the same names each time that a module is fused.
// `reasons`, if not null, receives a line for each decision: instruction, way, reason.
heddle_status fuse_run(module *m, const target_description *target, const str_map *untiled, text *reasons);

// The same for one of several copies around the same constants, which are packed for all of them once.
heddle_status fuse_run_packing(module *m, const target_description *target, const str_map *untiled,
                               packed_constants *packed, text *reasons);

#endif
