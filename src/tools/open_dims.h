// Chooses sizes for the open dims (`?`) of programs: what flags say, or made-up ones.
#ifndef HEDDLE_TOOLS_OPEN_DIMS_H_
#define HEDDLE_TOOLS_OPEN_DIMS_H_

#include "import/import.h"
#include "tools/flags.h"

// What every `?` is where nobody says more, and the value of integer scalars: jax.export hands sizes over as such.
enum { OPEN_DIMS_MADE_UP = 4 };

// Shapes as flags give them, "f32[4,8]", for the parameters in order. HEDDLE_INVALID names the flag --argument_shape.
heddle_status open_dims_read(arena *a, const flag_list *texts, import_options *out);
// The same, to judge a command line.
heddle_status open_dims_check(const flag_list *texts);

// A random argument for a parameter declared so, its open dims made up.
heddle_status open_dims_argument(arena *a, unsigned seed, const shape *declared, literal **out);

#endif
