// Like any custom call, but known to the few passes that must not take it for one.
#include "hlo/open_size.h"

static const char target[] = "heddle.open_size";

bool open_size_is(const instruction *i) {
  return i->opcode == HLO_CUSTOM_CALL && str_is(i->attributes->custom_call_target, target);
}

void open_size_set(instruction *i, int64_t size) {
  arena *a = i->parent->module->arena;
  i->attributes->custom_call_target = str_from(target);
  i->attributes->backend_config = str_from(arena_printf(a, "{value = %lld : i64}", (long long)size));
  attributes_mark(i->attributes, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_BACKEND_CONFIG);
}

instruction *open_size_add(const builder *b, int64_t size) {
  instruction *i = builder_add(b, HLO_CUSTOM_CALL, shape_scalar(b->arena, DTYPE_S32), 0, NULL);
  open_size_set(i, size);
  return i;
}

bool open_size_has(const instruction *operand, int64_t dimension) {
  const int64_t from = operand->parent->module->open_from, size = operand->shape->dims[dimension];
  return from > 0 && size >= from && size <= INT32_MAX;
}

bool open_size_limits_index(const instruction *i, int dimension) {
  return (i->opcode == HLO_DYNAMIC_SLICE || i->opcode == HLO_DYNAMIC_UPDATE_SLICE) &&
         open_size_has(i->operands[0], dimension);
}
