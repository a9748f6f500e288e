// The states, their names, and which may follow which.
#include "tile/markers.h"

#include <stdio.h>
#include <string.h>

#include "tile/by_tile.h"

#define ATTRIBUTE "__internal_linalg_transform__"

static const char *const names[MARKER_COUNT] = {
    [MARKER_ROOT] = "root",         [MARKER_WORKGROUP] = "workgroup", [MARKER_SUBGROUP] = "subgroup",
    [MARKER_REGISTER] = "register", [MARKER_VECTORIZE] = "vectorize",
};

// By state, the states that may come before: bits.
static const unsigned before[MARKER_COUNT] = {
    [MARKER_ROOT] = 1U << MARKER_NONE,          [MARKER_WORKGROUP] = 1U << MARKER_NONE | 1U << MARKER_ROOT,
    [MARKER_SUBGROUP] = 1U << MARKER_WORKGROUP, [MARKER_REGISTER] = 1U << MARKER_WORKGROUP,
    [MARKER_VECTORIZE] = 1U << MARKER_REGISTER,
};

// Whether the operation has a marker, and which; MARKER_COUNT for what is none.
static bool find(MlirOperation op, tile_marker *out) {
  const MlirAttribute marker = ir_get(op, ATTRIBUTE);
  *out = MARKER_NONE;
  if (mlirAttributeIsNull(marker)) return false;
  *out = MARKER_COUNT;
  if (!mlirAttributeIsAString(marker)) return true;
  const MlirStringRef text = mlirStringAttrGetValue(marker);
  for (int k = MARKER_NONE + 1; k < MARKER_COUNT; k++)
    if (str_is((str){text.data, text.length}, names[k])) *out = (tile_marker)k;
  return true;
}

tile_marker markers_of(MlirOperation op) {
  tile_marker found;
  return find(op, &found) && found != MARKER_COUNT ? found : MARKER_NONE;
}

static heddle_status refuse_state(MlirOperation op, tile_marker found, unsigned states) {
  char wanted[MARKER_COUNT * sizeof "\"workgroup\", "] = "";
  for (int k = MARKER_NONE + 1; k < MARKER_COUNT; k++) {
    const size_t used = strlen(wanted);
    if (states & 1U << k) snprintf(wanted + used, sizeof wanted - used, ", \"%s\"", names[k]);
  }
  return ir_refuse(op, HEDDLE_INVALID, "found an operation marked \"%s\", wanted one of none%s", names[found], wanted);
}

heddle_status markers_expect(arena *a, MlirOperation module, unsigned states) {
  const ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++) {
    tile_marker found;
    if (!find(all.data[k], &found)) continue;
    if (found == MARKER_COUNT)
      return ir_refuse(
          all.data[k], HEDDLE_INVALID,
          "found another marker, wanted \"root\", \"workgroup\", \"subgroup\", \"register\" or \"vectorize\"");
    if (!(states & 1U << found) && !by_tile_is_held(all.data[k])) return refuse_state(all.data[k], found, states);
  }
  return status_ok();
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
