// Right sides of products that lie in panels: what a tile of registers reads of them lies side by side.
//
// Panels are [outer dims…, columns / width, …][width]: an array with one dim more than the right side, whose columns'
// dim is cut. In HLO the right side is a transpose of the panels, reshaped, and a slice of that where the last panel is
// not whole. Tiles read such an operand where it lies (tile/panels.h).
#ifndef HEDDLE_KERNEL_PANELS_H_
#define HEDDLE_KERNEL_PANELS_H_

#include "base/target.h"
#include "hlo/module.h"

// Columns of a panel of elements of so many bits: as many as a tile of registers has.
int64_t panels_width(const target_description *target, int bits, int64_t columns);

typedef struct panels_form {
  const instruction *panels;  // a parameter
  int rank;                   // of the right side
  int column;                 // its dim that is cut
  int order[SHAPE_MAX_RANK];  // which of its dims each of the panels' dims but the last is
  int64_t width;
} panels_form;

// Whether the right side of a dot or a convolution lies in panels as wide as tiles of registers.
bool panels_of(const instruction *product, const target_description *target, panels_form *out);

// Whether the instruction stands between panels and the only product that reads them.
bool panels_has(const instruction *i, const target_description *target);

#endif
