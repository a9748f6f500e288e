// Equality of modules, position by position: what print and parse must preserve. Metadata and the tables it refers to
// do not count, nor do places in the text.
#include "hlo/text.h"

// Positions of the left module's nodes, to compare pointers with those of the right one. Stored plus one.
typedef struct comparison {
  arena *scratch;
  ptr_map positions[2];
} comparison;

static void note(comparison *c, int side, const void *key, int position) {
  void *value = (void *)((intptr_t)position + 1);  // NOLINT(performance-no-int-to-ptr): maps hold small integers
  ptr_map_put(c->scratch, &c->positions[side], key, value);
}

static bool is_same_place(const comparison *c, const void *l, const void *r) {
  return ptr_map_get(&c->positions[0], l) == ptr_map_get(&c->positions[1], r);
}

#define DIFFERENT(i, ...) status_context(status_error(HEDDLE_INVALID, __VA_ARGS__), "comparing %s", describe(c, i))

static const char *describe(const comparison *c, const instruction *i) {
  return arena_printf(c->scratch, "instruction '" STR_FMT "' of computation '" STR_FMT "'", STR_ARG(i->name),
                      STR_ARG(i->parent->name));
}

static heddle_status compare_lists(const comparison *c, const instruction *i, const char *what, int l_count,
                                   instruction *const *l, int r_count, instruction *const *r) {
  if (l_count != r_count) return DIFFERENT(i, "%d %ss against %d", l_count, what, r_count);
  for (int k = 0; k < l_count; k++)
    if (!is_same_place(c, l[k], r[k]))
      return DIFFERENT(i, "%s %d is '" STR_FMT "' against '" STR_FMT "'", what, k, STR_ARG(l[k]->name),
                       STR_ARG(r[k]->name));
  return status_ok();
}

static heddle_status compare_instructions(const comparison *c, const instruction *l, const instruction *r) {
  const char *attribute;
  if (!str_equal(l->name, r->name))
    return DIFFERENT(l, "names '" STR_FMT "' and '" STR_FMT "'", STR_ARG(l->name), STR_ARG(r->name));
  if (l->opcode != r->opcode)
    return DIFFERENT(l, "operation %s against %s", hlo_op_text(l->opcode), hlo_op_text(r->opcode));
  if (!shape_equal(l->shape, r->shape))
    return DIFFERENT(l, "shapes differ: %s against %s, or their layouts", shape_text(c->scratch, l->shape),
                     shape_text(c->scratch, r->shape));
  TRY(compare_lists(c, l, "operand", l->operand_count, l->operands, r->operand_count, r->operands));
  TRY(compare_lists(c, l, "control predecessor", l->control_predecessors.size, l->control_predecessors.data,
                    r->control_predecessors.size, r->control_predecessors.data));
  if (l->called_count != r->called_count)
    return DIFFERENT(l, "%d called computations against %d", l->called_count, r->called_count);
  for (int k = 0; k < l->called_count; k++)
    if (!is_same_place(c, l->called[k], r->called[k])) return DIFFERENT(l, "called computation %d differs", k);
  if (!attributes_compare(l->attributes, r->attributes, &attribute))
    return DIFFERENT(l, "attribute %s differs", attribute);
  if (!l->literal != !r->literal || (l->literal && !literal_identical(l->literal, r->literal)))
    return DIFFERENT(l, "values of the constant differ");
  return status_ok();
}

static heddle_status compare_computations(comparison *c, const computation *l, const computation *r) {
  if (!str_equal(l->name, r->name))
    return status_error(HEDDLE_INVALID, "computations '" STR_FMT "' and '" STR_FMT "' have different names",
                        STR_ARG(l->name), STR_ARG(r->name));
  if (l->instructions.size != r->instructions.size)
    return status_error(HEDDLE_INVALID, "computation '" STR_FMT "' has %d instructions against %d", STR_ARG(l->name),
                        l->instructions.size, r->instructions.size);
  if (!str_equal(l->execution_thread, r->execution_thread) || !str_equal(l->attributes_text, r->attributes_text))
    return status_error(HEDDLE_INVALID, "attributes of computation '" STR_FMT "' differ", STR_ARG(l->name));
  for (int k = 0; k < l->instructions.size; k++) {
    note(c, 0, l->instructions.data[k], k);
    note(c, 1, r->instructions.data[k], k);
  }
  if (!is_same_place(c, l->root, r->root))
    return status_error(HEDDLE_INVALID, "roots of computation '" STR_FMT "' differ", STR_ARG(l->name));
  for (int k = 0; k < l->instructions.size; k++)
    TRY(compare_instructions(c, l->instructions.data[k], r->instructions.data[k]));
  return status_ok();
}

static bool module_attributes_equal(const module *l, const module *r) {
  if (l->attributes.size != r->attributes.size || l->is_scheduled != r->is_scheduled) return false;
  for (int k = 0; k < l->attributes.size; k++)
    if (!str_equal(l->attributes.data[k].name, r->attributes.data[k].name) ||
        !str_equal(l->attributes.data[k].value, r->attributes.data[k].value))
      return false;
  return true;
}

static heddle_status compare(comparison *c, const module *l, const module *r) {
  if (!str_equal(l->name, r->name))
    return status_error(HEDDLE_INVALID, "modules '" STR_FMT "' and '" STR_FMT "' have different names",
                        STR_ARG(l->name), STR_ARG(r->name));
  if (!module_attributes_equal(l, r)) return status_error(HEDDLE_INVALID, "the modules' attributes differ");
  if (l->computations.size != r->computations.size)
    return status_error(HEDDLE_INVALID, "%d computations against %d", l->computations.size, r->computations.size);
  for (int k = 0; k < l->computations.size; k++) {
    note(c, 0, l->computations.data[k], k);
    note(c, 1, r->computations.data[k], k);
  }
  if (!is_same_place(c, l->entry, r->entry)) return status_error(HEDDLE_INVALID, "the entry computations differ");
  for (int k = 0; k < l->computations.size; k++)
    TRY(compare_computations(c, l->computations.data[k], r->computations.data[k]));
  return status_ok();
}

heddle_status module_compare(const module *l, const module *r) {
  comparison c = {.scratch = arena_create()};
  heddle_status status = compare(&c, l, r);
  arena_destroy(c.scratch);
  return status;
}
