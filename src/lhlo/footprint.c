// How much of an array a kernel touches follows from who uses it: a slice, a dynamic slice and a gather need as much as
// they give, an update in place as much as it writes, and what works element by element needs what its users need.
#include "lhlo/footprint.h"

// --- elements that are needed of a value

typedef struct needs {
  arena *arena;
  ptr_map known;  // instruction: int64_t *
  int depth;
} needs;

// Chains of users are followed so far, so that the C stack is bounded; what lies behind is taken to need all.
enum { MOST_DEPTH = 1000 };

static int64_t elements_needed(needs *n, const instruction *i);

static bool keeps_count(const instruction *user, const instruction *of) {
  if (!shape_is_array(user->shape) || !shape_is_array(of->shape)) return false;
  switch (user->opcode) {
    case HLO_BITCAST:
    case HLO_RESHAPE:
    case HLO_TRANSPOSE:
    case HLO_REVERSE:
    case HLO_COPY: return shape_element_count(user->shape) == shape_element_count(of->shape);
    default: return hlo_op_has(user->opcode, TRAIT_ELEMENTWISE) && shape_same_dims(user->shape, of->shape);
  }
}

// What operand `operand` of the user is needed for.
static int64_t needed_by(needs *n, const instruction *user, int operand) {
  const instruction *of = user->operands[operand];
  const int64_t all = shape_element_count(of->shape);
  if (keeps_count(user, of)) return elements_needed(n, user);
  switch (user->opcode) {
    case HLO_SLICE: return elements_needed(n, user);
    case HLO_DYNAMIC_SLICE:
    case HLO_GATHER: return operand == 0 ? elements_needed(n, user) : all;
    case HLO_DYNAMIC_UPDATE_SLICE:
      if (operand != 0) return all;
      return user->parent->root == user ? 0 : elements_needed(n, user);
    default: return all;
  }
}

static int64_t elements_needed(needs *n, const instruction *i) {
  const int64_t *known = ptr_map_get(&n->known, i);
  if (known) return *known;
  const int64_t all = shape_is_array(i->shape) ? shape_element_count(i->shape) : 0;
  if (n->depth >= MOST_DEPTH) return all;
  int64_t sum = i == i->parent->root ? all : 0;
  n->depth++;
  for (int u = 0; u < i->users.size && sum < all; u++) {
    const instruction *user = i->users.data[u];
    for (int k = 0; k < user->operand_count && sum < all; k++)
      if (user->operands[k] == i) sum += needed_by(n, user, k);
  }
  n->depth--;
  int64_t *kept = arena_new(n->arena, int64_t);
  *kept = sum < all ? sum : all;
  ptr_map_put(n->arena, &n->known, i, kept);
  return *kept;
}

static int64_t bytes_of(const shape *s, int64_t elements) {
  const int64_t all = shape_element_count(s), bytes = kernel_buffer_bytes(s);
  return all > 0 && elements < all ? (int64_t)((double)bytes / (double)all * (double)elements + 0.5) : bytes;
}

int64_t footprint_of_parameter(arena *scratch, const computation *fused, int number) {
  needs n = {.arena = scratch};
  const instruction *p = fused->parameters.data[number];
  // Of open sizes the lesser of two is not known.
  if (fused->module->open_from > 0) return kernel_buffer_bytes(p->shape);
  return bytes_of(p->shape, elements_needed(&n, p));
}

// --- operations

bool footprint_is_allocation(const lhlo_op *op) {
  return op->kind == LHLO_LIBRARY && op->library && op->library->kind == LIBRARY_CUSTOM_CALL &&
         op->operand_count == 0 && strcmp(op->library->target, LHLO_ALLOCATE_BUFFER) == 0;
}

static int64_t result_bytes(const instruction *root, const lhlo_slice *s) {
  while (root->opcode == HLO_BITCAST || root->opcode == HLO_RESHAPE) root = root->operands[0];
  if (root->opcode == HLO_DYNAMIC_UPDATE_SLICE) return kernel_buffer_bytes(root->operands[1]->shape);
  return kernel_buffer_bytes(s->shape);
}

static int64_t operand_bytes(arena *scratch, const lhlo_op *op, int k) {
  const int64_t all = kernel_buffer_bytes(op->operands[k].shape);
  const instruction *i = op->source;
  if (op->kind == LHLO_FUSION && i && i->called_count > 0 && k < i->called[0]->parameters.size)
    return footprint_of_parameter(scratch, i->called[0], k);
  if (op->kind != LHLO_LIBRARY) return all < FOOTPRINT_COPY_CHUNK ? all : FOOTPRINT_COPY_CHUNK;
  if (op->library->kind == LIBRARY_CONCATENATE) return all < FOOTPRINT_COPY_CHUNK ? all : FOOTPRINT_COPY_CHUNK;
  int64_t seen = 0;
  for (int o = 0; o < op->library->operand_count; o++)
    if (op->library->operand_leaves[o] == k) seen += kernel_buffer_bytes(op->library->operands[o]);
  return seen > 0 && seen < all ? seen : all;
}

static int64_t written_bytes(const lhlo_op *op, int k) {
  const int64_t all = kernel_buffer_bytes(op->results[k].shape);
  if (op->kind == LHLO_FUSION && op->source && op->source->called_count > 0) {
    const instruction *root = op->source->called[0]->root;
    if (root->opcode == HLO_TUPLE && k < root->operand_count) root = root->operands[k];
    return result_bytes(root, &op->results[k]);
  }
  const bool is_moved = op->kind == LHLO_COPY || (op->kind == LHLO_LIBRARY && op->library->kind == LIBRARY_CONCATENATE);
  return is_moved && all > FOOTPRINT_COPY_CHUNK ? FOOTPRINT_COPY_CHUNK : all;
}

static bool is_same_memory(const lhlo_slice *l, const lhlo_slice *r) {
  return l->allocation == r->allocation && l->offset == r->offset &&
         kernel_buffer_bytes(l->shape) == kernel_buffer_bytes(r->shape);
}

// Where an operand lies in the same memory as a result no more than that is touched.
static int64_t bytes_beside_operands(arena *scratch, const lhlo_op *op, int result) {
  const lhlo_slice *s = &op->results[result];
  int64_t left = kernel_buffer_bytes(s->shape);
  for (int k = 0; k < op->operand_count; k++)
    if (is_same_memory(&op->operands[k], s)) left -= operand_bytes(scratch, op, k);
  const int64_t written = written_bytes(op, result);
  return left < 0 ? 0 : left < written ? left : written;
}

// Adds what the step reads and writes of everything.
static void add_touched(arena *scratch, const lhlo_allocation *allocations, const lhlo_op *op, footprint_parts *out) {
  if (op->body_count > 0 || footprint_is_allocation(op)) return;
  for (int k = 0; k < op->operand_count + op->result_count; k++) {
    const bool is_read = k < op->operand_count;
    const lhlo_slice *s = is_read ? &op->operands[k] : &op->results[k - op->operand_count];
    const int64_t bytes =
        is_read ? operand_bytes(scratch, op, k) : bytes_beside_operands(scratch, op, k - op->operand_count);
    const lhlo_allocation_kind kind = s->is_temporary ? LHLO_TEMPORARY : allocations[s->allocation].kind;
    switch (kind) {
      case LHLO_PARAMETER: out->parameters += bytes; break;
      case LHLO_RESULT: out->results += bytes; break;
      case LHLO_CONSTANT: out->constants += bytes; break;
      case LHLO_TEMPORARY: out->temporaries += bytes; break;
    }
  }
}

void footprint_find(arena *scratch, const lhlo_allocation *allocations, lhlo_op *op) {
  footprint_parts parts = {0};
  add_touched(scratch, allocations, op, &parts);
  op->resident_bytes = parts.parameters + parts.results + parts.constants;
  op->touched_bytes = op->resident_bytes + parts.temporaries;
}

footprint_parts footprint_parts_of(const lhlo_allocation *allocations, const lhlo_op *op, bool of_touched) {
  arena *scratch = arena_create();
  footprint_parts parts = {0};
  add_touched(scratch, allocations, op, &parts);
  arena_destroy(scratch);
  if (!of_touched) parts.temporaries = op->live_bytes;
  return parts;
}

static void find_in(arena *scratch, const lhlo_program *p, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) {
    lhlo_op *op = body->ops.data[k];
    footprint_find(scratch, p->allocations, op);
    for (int b = 0; b < op->body_count; b++) find_in(scratch, p, &op->bodies[b]);
  }
}

void footprint_find_all(lhlo_program *p) {
  arena *scratch = arena_create();
  find_in(scratch, p, &p->entry);
  arena_destroy(scratch);
}

static void sum_up(lhlo_program *p, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    if (op->live_bytes + op->resident_bytes > p->footprint_bytes)
      p->footprint_bytes = op->live_bytes + op->resident_bytes;
    if (op->touched_bytes > p->step_bytes) p->step_bytes = op->touched_bytes;
    for (int b = 0; b < op->body_count; b++) sum_up(p, &op->bodies[b]);
  }
}

void footprint_sum_up(lhlo_program *p) {
  p->footprint_bytes = p->step_bytes = 0;
  sum_up(p, &p->entry);
}
