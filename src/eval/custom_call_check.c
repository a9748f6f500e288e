// The checks that need to know of the evaluation in progress, namely what a probe saw. All other checks are routines of
// lib.
#include "eval/custom_call.h"
#include "eval/library.h"
#include "lib/checks.h"

// A check has no result, or passes a token on.
static heddle_status nothing(interpreter *in, const instruction *i, value **out) {
  if (shape_is_tuple(i->shape) && i->shape->tuple_size == 0)
    return value_create_tuple(&in->pool, i->shape, NULL, i->where, out);
  if (i->shape->dtype == DTYPE_TOKEN) return value_create_empty(&in->pool, i->shape, out);
  return status_at(HEDDLE_INVALID, i->where, "a check has no result, wanted the shape ()");
}

static heddle_status compare(const instruction *i, const value *found, const value *wanted) {
  const lib_array arrays[2] = {library_array(found), library_array(wanted)};
  const lib_call call = {.target = "check.expect_serialized_eq", .operand_count = 2, .operands = arrays};
  heddle_status status = checks_equal(&call);
  if (status_is_ok(status)) return status;
  heddle_status placed = status_at(HEDDLE_INVALID, i->where, "%s", status_brief(status));
  heddle_status_free(status);
  return placed;
}

// The value is what the probe of that name saw when it ran for the `iter`-th time, from 0.
heddle_status custom_call_check_probed(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  const str config = i->attributes->backend_config;
  str name = {0};
  int64_t turn = 0;
  if (!call_attribute_text(config, "probe_id", &name))
    return status_at(HEDDLE_INVALID, i->where, "backend_config has no probe_id");
  call_attribute_int(config, "iter", &turn);
  for (int k = 0; k < in->probes.size; k++) {
    const probe_record *probe = &in->probes.data[k];
    if (!str_equal(probe->name, name) || turn-- != 0) continue;
    TRY(compare(i, operands[0], probe->seen));
    return nothing(in, i, out);
  }
  return status_at(HEDDLE_INVALID, i->where, "the probe " STR_FMT " did not run so often: a mismatch", STR_ARG(name));
}

// interpreter.probe hands its operand on and remembers it.
heddle_status custom_call_probe(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  if (!shape_compatible(i->shape, i->operands[0]->shape))
    return status_at(HEDDLE_INVALID, i->where, "the result's shape is not the operand's");
  probe_record probe = {.seen = value_retain(operands[0])};
  call_attribute_text(i->attributes->backend_config, "probe_id", &probe.name);
  vec_push(in->arena, &in->probes, probe);
  *out = value_retain(operands[0]);
  return status_ok();
}
