// Every operation that runs is looked at once. Wherever it is not known what a part of an operation needs, it needs
// nothing.
#include "supertile/lower_bound.h"

#include "base/int64.h"
#include "supertile/region.h"
#include "supertile/region_batches.h"
#include "supertile/tile_group.h"
#include "supertile/tile_sum.h"

// How far what a product reads is followed to what it is made of.
enum { MOST_PATH = 32 };

typedef struct bound_search {
  arena *scratch;
  region_maps maps;
  bool exact;
  ptr_map seen;   // computations
  str_map loops;  // that the plan runs turn by turn: "computation/instruction"
  arena *arena;   // of texts
  lower_bound *out;
} bound_search;

static int64_t bytes_of(const shape *s, int64_t elements) { return (elements * dtypes[s->dtype].bits + 7) / 8; }

static void raise(bound_search *b, int level, int64_t bytes, const instruction *i, const char *why) {
  if (bytes <= b->out[level].bytes) return;
  b->out[level].bytes = bytes;
  b->out[level].reason =
      str_from(arena_printf(b->arena, "%s " STR_FMT " %s", hlo_op_text(i->opcode), STR_ARG(i->name), why));
}

static void raise_all(bound_search *b, int64_t bytes, const instruction *i, const char *why) {
  for (int level = 0; level < MEMORY_LEVELS; level++) raise(b, level, bytes, i, why);
}

// --- lines and matrices

static bool has_regions(bound_search *b, const instruction *i, const region *out) {
  for (int k = 0; k < i->operand_count; k++) {
    region in;
    if (region_of_operand(&b->maps, i, out, (region_turns){0, 0}, k, &in) != REGION_FOUND) return false;
  }
  return true;
}

// The smallest tile that the operation has: one element along each dim that can be cut.
static region smallest_tile(bound_search *b, const instruction *i) {
  const shape *s = tile_group_array(i);
  region r = region_whole(b->scratch, s);
  for (int d = 0; d < s->rank; d++) {
    const region_dim before = r.dims[d];
    r.dims[d] = (region_dim){0, 0, 1};
    if (!has_regions(b, i, &r)) r.dims[d] = before;
  }
  return r;
}

static bool is_named(const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY) i = i->operands[0];
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_GET_TUPLE_ELEMENT;
}

static bool is_operand_before(const instruction *i, int operand) {
  for (int k = 0; k < operand; k++)
    if (i->operands[k] == i->operands[operand]) return true;
  return false;
}

// A result may take over the memory of a parameter, and of nothing that the library's step reads besides.
static void add_lines(bound_search *b, const instruction *i) {
  const region tile = smallest_tile(b, i);
  const int results = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
  int64_t read = 0, written = 0;
  for (int k = 0; k < results; k++)
    written += bytes_of(shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape, region_elements(&tile));
  int64_t taken_over = 0;
  for (int k = 0; k < i->operand_count; k++) {
    region in;
    if (!shape_is_array(i->operands[k]->shape) || is_operand_before(i, k)) continue;
    if (region_of_operand(&b->maps, i, &tile, (region_turns){0, 0}, k, &in) != REGION_FOUND) continue;
    const int64_t bytes = bytes_of(i->operands[k]->shape, region_elements(&in));
    read += bytes;
    if (is_named(i->operands[k])) taken_over += bytes;
  }
  raise_all(b, read + int64_max(0, written - taken_over), i, "takes its lines whole");
}

// --- products

// Of what a step reads, one value after the other that could be stored instead of those before.
typedef struct read_path {
  const instruction *values[MOST_PATH];
  int count;
} read_path;

static bool says_little(const instruction *i) {
  return i->opcode == HLO_BROADCAST || i->opcode == HLO_CONSTANT || i->opcode == HLO_IOTA;
}

// An operand that a step reads a part of if it computes the value itself; -1: none is known.
static int followed(const instruction *i) {
  switch (i->opcode) {
    case HLO_BITCAST:
    case HLO_RESHAPE:
    case HLO_TRANSPOSE:
    case HLO_BROADCAST:
    case HLO_DOT:
    case HLO_REDUCE: return 0;
    default: break;
  }
  for (int k = 0; k < i->operand_count && hlo_op_has(i->opcode, TRAIT_ELEMENTWISE); k++)
    if (!says_little(i->operands[k])) return k;
  return -1;
}

static bool is_given(const instruction *i) {
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) i = i->operands[0];
  return i->opcode == HLO_PARAMETER;
}

// The least that a step reads that computes the region, of which at most so many elements are needed, out of it or of
// what it is made of. Sums read all of the region, so that it has to be known.
static int64_t least_read(bound_search *b, const instruction *i, region r, read_path *path) {
  int64_t least = INT64_MAX, most = region_elements(&r);
  for (path->count = 0; path->count < MOST_PATH && shape_is_array(i->shape);) {
    path->values[path->count++] = i;
    least = int64_min(least, bytes_of(i->shape, most));
    if (is_given(i)) return least;
    const int operand = followed(i);
    const bool is_sum = i->opcode == HLO_DOT || i->opcode == HLO_REDUCE;
    region in;
    if (operand < 0 || (is_sum && most < region_elements(&r))) return 0;
    if (region_of_operand(&b->maps, i, &r, (region_turns){0, 0}, operand, &in) != REGION_FOUND) return 0;
    most = is_sum ? region_elements(&in) : int64_min(most, region_elements(&in));
    i = i->operands[operand];
    r = in;
  }
  return 0;
}

static bool is_apart(const read_path *l, const read_path *r) {
  for (int k = 0; k < l->count; k++)
    for (int j = 0; j < r->count; j++)
      if (l->values[k] == r->values[j]) return false;
  return true;
}

static void add_product(bound_search *b, const instruction *i) {
  const region tile = smallest_tile(b, i);
  int64_t bytes[2];
  read_path paths[2];
  if (tile_sum_dims(i, b->exact) > 0 || !has_regions(b, i, &tile)) return;
  for (int k = 0; k < 2; k++) {
    region in;
    if (region_of_operand(&b->maps, i, &tile, (region_turns){0, 0}, k, &in) != REGION_FOUND) return;
    bytes[k] = least_read(b, i->operands[k], in, &paths[k]);
  }
  const int64_t both = is_apart(&paths[0], &paths[1]) ? bytes[0] + bytes[1] : int64_max(bytes[0], bytes[1]);
  raise_all(b, both, i, "reads what it sums as a whole");
}

// --- loops

static str key_of(arena *a, const instruction *i) {
  return str_from(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(i->parent->name), STR_ARG(i->name)));
}

static void note_loops(bound_search *b, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    if (op->kind == LHLO_WHILE && op->source)
      str_map_put(b->scratch, &b->loops, key_of(b->scratch, op->source), (void *)op);
    for (int n = 0; n < op->body_count; n++) note_loops(b, &op->bodies[n]);
  }
}

// Whether the value, or what it is part of, may end in the memory of a result.
static bool may_be_returned(const instruction *i) {
  if (i == i->parent->root) return true;
  for (int u = 0; u < i->users.size; u++) {
    const instruction *user = i->users.data[u];
    const bool is_read = hlo_op_has(user->opcode, TRAIT_ELEMENTWISE) || user->opcode == HLO_REDUCE ||
                         user->opcode == HLO_DOT || user->opcode == HLO_BROADCAST;
    if (!is_read || user->opcode == HLO_COPY) return true;
  }
  return false;
}

// Whether the loop's value `number` may end there; of that what has no reader behind the loop does not.
static bool may_element_be_returned(const instruction *loop, int number) {
  for (int u = 0; u < loop->users.size; u++) {
    const instruction *x = loop->users.data[u];
    if (x->opcode != HLO_GET_TUPLE_ELEMENT) return true;
    if (x->attributes->index == number && may_be_returned(x)) return true;
  }
  return false;
}

// Whether a turn reads the value as the last one left it: then all such values are there as it begins.
static bool is_read_in_turn(const computation *body, int number) {
  for (int k = 0; k < body->instructions.size; k++) {
    const instruction *x = body->instructions.data[k];
    if (x->opcode != HLO_GET_TUPLE_ELEMENT || x->operands[0] != body->parameters.data[0]) continue;
    if (x->attributes->index != number) continue;
    for (int u = 0; u < x->users.size; u++)
      if (x->users.data[u] != body->root) return true;
  }
  return false;
}

// Whether a turn leaves the value as it found it.
static bool is_passed_on(const instruction *value, int number) {
  while (value->opcode == HLO_COPY || value->opcode == HLO_BITCAST) value = value->operands[0];
  return value->opcode == HLO_GET_TUPLE_ELEMENT && value->operands[0]->opcode == HLO_PARAMETER &&
         value->attributes->index == number;
}

static bool is_value_before(const instruction *root, int number) {
  for (int k = 0; k < number; k++)
    if (root->operands[k] == root->operands[number]) return true;
  return false;
}

static void add_loop(bound_search *b, const instruction *loop) {
  const instruction *root = loop->called[1]->root;
  int64_t bytes = 0;
  if (!str_map_get(&b->loops, key_of(b->scratch, loop)) || root->opcode != HLO_TUPLE || loop == loop->parent->root)
    return;
  for (int k = 0; k < root->operand_count; k++) {
    const instruction *value = root->operands[k];
    const bool is_computed = value->opcode != HLO_CONSTANT && value->opcode != HLO_GET_TUPLE_ELEMENT;
    if (!shape_is_array(value->shape) || !is_computed || is_passed_on(value, k) || is_value_before(root, k)) continue;
    if (is_read_in_turn(loop->called[1], k) && !may_element_be_returned(loop, k))
      bytes += kernel_buffer_bytes(value->shape);
  }
  raise(b, MEMORY_DRAM, bytes, loop, "goes on from turn to turn with so much");
}

// --- all

static void look_at(bound_search *b, const computation *c);

static void look_at_operation(bound_search *b, const instruction *i) {
  if (region_batches_has(i)) add_lines(b, i);
  if (i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION) add_product(b, i);
  if (i->opcode == HLO_WHILE) add_loop(b, i);
  const bool runs = i->opcode == HLO_WHILE || i->opcode == HLO_CONDITIONAL || i->opcode == HLO_CALL;
  for (int k = 0; k < i->called_count && runs; k++) look_at(b, i->called[k]);
}

static void look_at(bound_search *b, const computation *c) {
  if (ptr_map_has(&b->seen, c)) return;
  ptr_map_put(b->scratch, &b->seen, c, b);
  for (int k = 0; k < c->instructions.size; k++) look_at_operation(b, c->instructions.data[k]);
}

void lower_bound_find(arena *a, const module *m, const lhlo_program *plan, bool exact, lower_bound out[MEMORY_LEVELS]) {
  arena *scratch = arena_create();
  bound_search b = {
      .scratch = scratch, .maps = {.arena = scratch, .tile = 1, .multiple = 1}, .exact = exact, .arena = a, .out = out};
  for (int level = 0; level < MEMORY_LEVELS; level++) out[level] = (lower_bound){0};
  note_loops(&b, &plan->entry);
  look_at(&b, m->entry);
  arena_destroy(scratch);
}
