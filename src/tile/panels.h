// Right sides of products that lie in panels before they are asked for (kernel/panels.h): the load of one says how.
#ifndef HEDDLE_TILE_PANELS_H_
#define HEDDLE_TILE_PANELS_H_

#include "lower/pass.h"
#include "tile/nest.h"
#include "tile/product_form.h"

enum { PANELS_MOST_SLICES = 4 };

// Where what is read of the right side begins along one of its dims: the sum.
typedef struct panels_start {
  int64_t known;
  int value_count;
  MlirValue values[PANELS_MOST_SLICES];
} panels_start;

typedef struct panels {
  MlirOperation load;               // of the right side, as if it lay in order
  int rank;                         // of the right side
  int64_t column;                   // the dim that is cut
  int64_t order[TILING_MAX_LOOPS];  // which dim each of the panels' dims but the last is
  int64_t width;
  panels_start at[TILING_MAX_LOOPS];  // by dim
  // In a nest of the product's loops: what the panels are loaded by, and where the tile begins in them.
  MlirValue source;
  MlirAffineExpr begins[TILING_MAX_LOOPS];
} panels;

// Whether the load says that what it loads lies in panels.
bool panels_is(MlirOperation load);
// The type of what the load finds in memory: the panels, if it says so rightly, else what it loads.
MlirType panels_type_in_memory(arena *a, MlirOperation load);

// Whether the columns' factors are elements of panels that the product's tile reads whole.
bool panels_read(const product_form *p, panels *out);

// Makes what views need, in the nest that all of them are within.
void panels_enter(panels *p, nest *n);
// What the nest's tile reads of the panels: `columns` of one panel, and the loops of `kept` that are reductions.
nest_view panels_view(const panels *p, const product_form *product, const nest *n, uint32_t kept, int64_t columns);

// How many columns the panels have that the product reads; 0 if it reads none.
int64_t panels_width_of(const product_form *p);

// What the operation reads of panels is picked element by element before it, by operations that compute a workgroup's
// tile; these are added.
heddle_status panels_spread(arena *a, MlirOperation op, ir_operations *added);

#endif
