// Constants that products of tiles multiply with, packed once and for all.
#ifndef HEDDLE_FUSE_PACK_CONSTANTS_H_
#define HEDDLE_FUSE_PACK_CONSTANTS_H_

#include "base/map.h"
#include "base/str.h"
#include "base/target.h"
#include "hlo/module.h"

// What was packed, by where the bytes lie that it was made of, for modules that are copies around the same values
// (module_clone_around_values). It must outlive them.
typedef struct packed_constants {
  arena *arena;
  ptr_map by_data;  // of constants that outlive all of these modules, too; others are packed for one module
} packed_constants;

// Notes the constants of the module that others are to be copies of.
void packed_constants_note(packed_constants *packed, const module *m);

// Of the computation's fusions. What is known already is taken from `packed`. `reasons` (may be null) gets a line for
// each constant that is packed. HEDDLE_OUT_OF_MEMORY.
heddle_status pack_constants_run(computation *c, const target_description *target, packed_constants *packed,
                                 text *reasons);

#endif
