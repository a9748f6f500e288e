// The verifier: all that must hold of a module before anything else looks at it.
//
// The order matters: structure first (names, roots, parents, cycles, recursion), so that the checks of single
// instructions may follow any pointer. What differs from the text's shape only by layout or dynamism is accepted.
#include "hlo/text.h"

#include "hlo/verifier_rules.h"

// Shapes inferred along the way are dropped now and then.
enum { SCRATCH_LIMIT = 1 << 20 };

static heddle_status verify_names(arena *a, const module *m) {
  str_map computations = {0};
  for (int k = 0; k < m->computations.size; k++) {
    const computation *c = m->computations.data[k];
    if (str_map_has(&computations, c->name))
      return status_at(HEDDLE_INVALID, c->where, "found two computations named '" STR_FMT "'", STR_ARG(c->name));
    str_map_put(a, &computations, c->name, NULL);
  }
  return status_ok();
}

static heddle_status verify_instruction_names(const computation *c) {
  arena *scratch = arena_create();
  str_map names = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < c->instructions.size && status_is_ok(status); k++) {
    const instruction *i = c->instructions.data[k];
    if (str_map_has(&names, i->name))
      status = status_at(HEDDLE_INVALID, i->where, "found two instructions named '" STR_FMT "' in one computation",
                         STR_ARG(i->name));
    str_map_put(scratch, &names, i->name, NULL);
  }
  arena_destroy(scratch);
  return status;
}

// Every pointer stays within the computation.
static heddle_status verify_edges(const computation *c, const instruction *i) {
  if (i->parent != c)
    return status_at(HEDDLE_INTERNAL, i->where, "'" STR_FMT "' is listed in a computation it is not in",
                     STR_ARG(i->name));
  for (int k = 0; k < i->operand_count; k++) {
    if (!i->operands[k]) return VERIFY_ERROR(i, "operand %d is missing", k);
    if (i->operands[k]->parent != c)
      return VERIFY_ERROR(i, "operand %d, '" STR_FMT "', is not in the same computation", k,
                          STR_ARG(i->operands[k]->name));
  }
  for (int k = 0; k < i->control_predecessors.size; k++)
    if (i->control_predecessors.data[k]->parent != c)
      return VERIFY_ERROR(i, "the control predecessor '" STR_FMT "' is not in the same computation",
                          STR_ARG(i->control_predecessors.data[k]->name));
  return status_ok();
}

// Users mirror operands: the same number in all, and each user has the instruction among its operands at least in name.
static heddle_status verify_users(const computation *c) {
  int64_t uses = 0, users = 0;
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    uses += i->operand_count;
    users += i->users.size;
    for (int u = 0; u < i->users.size; u++)
      if (i->users.data[u]->parent != c)
        return status_at(HEDDLE_INTERNAL, i->where, "'" STR_FMT "' has a user outside its computation",
                         STR_ARG(i->name));
  }
  if (uses == users) return status_ok();
  return status_at(HEDDLE_INTERNAL, c->where, "computation '" STR_FMT "' has %lld uses of operands but %lld users",
                   STR_ARG(c->name), (long long)uses, (long long)users);
}

// Parameters are numbered 0, 1, … and each is in the list once.
static heddle_status verify_parameters(const computation *c) {
  int found = 0;
  for (int k = 0; k < c->instructions.size; k++) found += c->instructions.data[k]->opcode == HLO_PARAMETER;
  if (found != c->parameters.size)
    return status_at(HEDDLE_INTERNAL, c->where, "computation '" STR_FMT "' has %d parameters, its list %d",
                     STR_ARG(c->name), found, c->parameters.size);
  for (int k = 0; k < c->parameters.size; k++) {
    const instruction *p = c->parameters.data[k];
    if (!p || p->parent != c || p->opcode != HLO_PARAMETER)
      return status_at(HEDDLE_INVALID, c->where, "computation '" STR_FMT "' has no parameter %d of %d",
                       STR_ARG(c->name), k, c->parameters.size);
    if (p->attributes->index != k)
      return status_at(HEDDLE_INVALID, p->where, "found parameter number %lld, wanted %d: they count without gaps",
                       (long long)p->attributes->index, k);
  }
  return status_ok();
}

static heddle_status verify_structure(const computation *c) {
  if (!c->root || c->root->parent != c)
    return status_at(HEDDLE_INVALID, c->where, "computation '" STR_FMT "' has no root", STR_ARG(c->name));
  TRY(verify_instruction_names(c));
  for (int k = 0; k < c->instructions.size; k++) TRY(verify_edges(c, c->instructions.data[k]));
  TRY(verify_users(c));
  TRY(verify_parameters(c));
  arena *scratch = arena_create();
  instruction_list order;
  heddle_status status = computation_post_order(scratch, c, &order);
  arena_destroy(scratch);
  return status;
}

// All called computations are the module's, and none calls itself, however indirectly.
static heddle_status verify_call_graph(arena *a, const module *m) {
  ptr_map known = {0};
  for (int k = 0; k < m->computations.size; k++) ptr_map_put(a, &known, m->computations.data[k], NULL);
  if (!m->entry || !ptr_map_has(&known, m->entry))
    return status_error(HEDDLE_INVALID, "the module has no entry computation");
  for (int k = 0; k < m->computations.size; k++) {
    const instruction_list *instructions = &m->computations.data[k]->instructions;
    for (int j = 0; j < instructions->size; j++) {
      const instruction *i = instructions->data[j];
      for (int n = 0; n < i->called_count; n++)
        if (!i->called[n] || !ptr_map_has(&known, i->called[n]))
          return VERIFY_ERROR(i, "called computation %d is not in the module", n);
    }
  }
  computation **order;
  int count;
  return module_call_order(a, m, &order, &count);
}

static heddle_status verify_operand_classes(arena *a, const instruction *i) {
  dtype_class wanted = hlo_ops[i->opcode].classes;
  if (wanted == CLASS_NONE) return status_ok();
  for (int k = 0; k < i->operand_count; k++) {
    const shape *s = i->operands[k]->shape;
    if (!(dtypes[s->dtype].class & wanted))
      return VERIFY_ERROR(i, "operand %d has shape %s, an element type it does not take", k, shape_text(a, s));
  }
  return status_ok();
}

static heddle_status verify_shape(arena *a, const instruction *i) {
  const shape *inferred;
  TRY(shape_infer(a, i, &inferred));
  const bool is_exact = hlo_op_has(i->opcode, TRAIT_EXACT_TYPE);
  if (is_exact ? shape_compatible(inferred, i->shape) : shape_compatible_in_floats(inferred, i->shape))
    return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted %s", shape_text(a, i->shape), shape_text(a, inferred));
}

static heddle_status verify_instruction(arena *a, const instruction *i) {
  if (!i->shape) return VERIFY_ERROR(i, "it has no shape");
  TRY(shape_check(i->shape, i->where));
  const hlo_op_info *op = &hlo_ops[i->opcode];
  if (op->arity >= 0 && i->operand_count != op->arity)
    return VERIFY_ERROR(i, "found %d operands, wanted %d", i->operand_count, op->arity);
  if (i->operand_count < op->min_operands)
    return VERIFY_ERROR(i, "found %d operands, wanted at least %d", i->operand_count, op->min_operands);
  TRY(verify_operand_classes(a, i));
  TRY(verifier_check_attributes(a, i));
  if (i->called_count < verifier_required_computations(i->opcode))
    return VERIFY_ERROR(i, "found %d called computations, wanted %d", i->called_count,
                        verifier_required_computations(i->opcode));
  if (i->called_count > verifier_allowed_computations(i->opcode))
    return VERIFY_ERROR(i, "found %d called computations, wanted at most %d", i->called_count,
                        verifier_allowed_computations(i->opcode));
  TRY(verify_shape(a, i));
  TRY(verifier_check_calls(a, i));
  return verifier_check_library_op(a, i);
}

static heddle_status verify_instructions(const computation *c) {
  arena *scratch = arena_create();
  heddle_status status = status_ok();
  for (int k = 0; k < c->instructions.size && status_is_ok(status); k++) {
    if (arena_used(scratch) > SCRATCH_LIMIT) arena_reset(scratch);
    status = verify_instruction(scratch, c->instructions.data[k]);
  }
  arena_destroy(scratch);
  return status_context(status, "while verifying computation '" STR_FMT "'", STR_ARG(c->name));
}

// entry_computation_layout says of every parameter and of the result what the entry computation says.
static heddle_status verify_entry_layout(arena *a, const module *m) {
  const shape *parameters = m->entry_parameters_layout, *result = m->entry_result_layout;
  const computation *entry = m->entry;
  if (parameters && parameters->tuple_size != entry->parameters.size)
    return status_at(HEDDLE_INVALID, entry->where,
                     "entry_computation_layout has %d parameters, the entry computation %d", parameters->tuple_size,
                     entry->parameters.size);
  for (int k = 0; parameters && k < parameters->tuple_size; k++) {
    const instruction *p = entry->parameters.data[k];
    if (!shape_compatible(parameters->elements[k], p->shape))
      return status_at(HEDDLE_INVALID, p->where, "parameter %d has shape %s, entry_computation_layout says %s", k,
                       shape_text(a, p->shape), shape_text(a, parameters->elements[k]));
  }
  if (result && !shape_compatible(result, entry->root->shape))
    return status_at(HEDDLE_INVALID, entry->root->where, "the result has shape %s, entry_computation_layout says %s",
                     shape_text(a, entry->root->shape), shape_text(a, result));
  return status_ok();
}

static heddle_status verify(arena *scratch, const module *m) {
  TRY(verify_names(scratch, m));
  for (int k = 0; k < m->computations.size; k++) TRY(verify_structure(m->computations.data[k]));
  TRY(verify_call_graph(scratch, m));
  for (int k = 0; k < m->computations.size; k++) TRY(verify_instructions(m->computations.data[k]));
  return verify_entry_layout(scratch, m);
}

heddle_status module_verify(const module *m) {
  arena *scratch = arena_create();
  heddle_status status = verify(scratch, m);
  arena_destroy(scratch);
  return status;
}
