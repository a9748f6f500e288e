// The states, their names, and which may follow which.
#include "tile/markers.h"

#define ATTRIBUTE "__internal_linalg_transform__"

static const char *const names[MARKER_COUNT] = {
    [MARKER_ROOT] = "root",
    [MARKER_WORKGROUP] = "workgroup",
    [MARKER_REGISTER] = "register",
    [MARKER_VECTORIZE] = "vectorize",
};

// By state, the states that may come before: bits.
static const unsigned before[MARKER_COUNT] = {
    [MARKER_ROOT] = 1U << MARKER_NONE,
    [MARKER_WORKGROUP] = 1U << MARKER_NONE | 1U << MARKER_ROOT,
    [MARKER_REGISTER] = 1U << MARKER_WORKGROUP,
    [MARKER_VECTORIZE] = 1U << MARKER_REGISTER,
};

tile_marker markers_of(MlirOperation op) {
  MlirAttribute marker = ir_get(op, ATTRIBUTE);
  if (mlirAttributeIsNull(marker) || !mlirAttributeIsAString(marker)) return MARKER_NONE;
  MlirStringRef text = mlirStringAttrGetValue(marker);
  for (int k = 1; k < MARKER_COUNT; k++)
    if (str_is((str){text.data, text.length}, names[k])) return (tile_marker)k;
  return MARKER_NONE;
}

static void set(MlirOperation op, tile_marker to) {
  ir_set(op, ATTRIBUTE, mlirStringAttrGet(mlirOperationGetContext(op), mlirStringRefCreateFromCString(names[to])));
}

heddle_status markers_begin(MlirOperation op, tile_marker at) {
  const tile_marker from = markers_of(op);
  if (from != MARKER_NONE)
    return status_error(HEDDLE_INTERNAL, "found an operation marked \"%s\", wanted a new one", names[from]);
  set(op, at);
  return status_ok();
}

heddle_status markers_advance(MlirOperation op, tile_marker to) {
  const tile_marker from = markers_of(op);
  if (!(before[to] & 1U << from))
    return ir_refuse(op, HEDDLE_INVALID, "found an operation marked \"%s\" that was to become \"%s\"",
                     from == MARKER_NONE ? "" : names[from], names[to]);
  set(op, to);
  return status_ok();
}
