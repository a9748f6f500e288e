// The computation partitioner (partition.h says what it is for).
//
// Users are visited before operands. Every use tells its operand in which scope and through which map from that scope's
// index space it is needed; an operand whose uses disagree becomes a function. Maps are composed and simplified once
// per use and compared; along elementwise chains they are the same pointer, so that a chain of 20,000 adds costs 20,000
// pointer comparisons. Inside a nested scope maps start afresh at the owner's operand, hence they stay small.
#include "kernel/partition.h"

#include <stdlib.h>

enum {
  MAX_FUNCTION_OPS = 2000,  // larger bodies compile too slowly in every later stage
  MAX_SCOPE_DEPTH = 8,      // emission recurses over scopes, MLIR over regions
  MAX_MAP_NODES = 128,      // an index expression larger than this is not worth sharing
};

typedef struct work_node {
  partition_node node;
  const indexing_map *map;  // from the scope's index space
  bool is_used, is_forced;
} work_node;

typedef struct partitioner {
  arena *arena;
  partition *out;
  str_map symbols;
  VEC(partition_function *) functions;
  VEC(partition_scope *) scopes;
  VEC(int) scope_functions;  // function that holds the scope
  VEC(int) op_counts;        // by function
  VEC(const computation *) pending;
  ptr_map queued;  // computations in `pending` or done
} partitioner;

const partition_node *partition_node_of(const partition *p, const instruction *i) { return ptr_map_get(&p->nodes, i); }

const partition_function *partition_entry(const partition *p, const computation *c) {
  return ptr_map_get(&p->entries, c);
}

static work_node *node_of(const partitioner *p, const instruction *i) { return ptr_map_get(&p->out->nodes, i); }

static const instruction *scalar_constant(const instruction *i) {
  if (i->opcode == HLO_BROADCAST) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 ? i : 0;
}

static bool is_leaf(const instruction *i) {
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT || i->opcode == HLO_IOTA || scalar_constant(i) != 0;
}

// --- names

static char *sanitized(arena *a, str name) {
  char *s = arena_strdup(a, name.data, name.size);
  for (size_t i = 0; i < name.size; i++) {
    bool keep = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9');
    if (!keep) s[i] = '_';
  }
  return s;
}

static const char *claim_symbol(partitioner *p, const char *wanted) {
  const char *name = wanted;
  for (int n = 0; str_map_has(&p->symbols, str_from(name)); n++) {
    name = arena_printf(p->arena, "%s_%d", wanted, p->functions.size + n);
  }
  str_map_put(p->arena, &p->symbols, str_from(name), p);
  return name;
}

// The first function of a computation is named after it, the others after it and their root.
static const char *function_name(partitioner *p, const computation *c, const instruction *root, bool is_first) {
  const char *base = sanitized(p->arena, c->name);
  if (is_first && !str_map_has(&p->symbols, str_from(base))) return claim_symbol(p, base);
  return claim_symbol(p, arena_printf(p->arena, "%s_%s", base, sanitized(p->arena, root->name)));
}

// --- functions and scopes

static int add_scope(partitioner *p, int function, const instruction *owner, int depth) {
  partition_scope *s = arena_new(p->arena, partition_scope);
  *s = (partition_scope){.owner = owner, .depth = depth};
  vec_push(p->arena, &p->scopes, s);
  vec_push(p->arena, &p->scope_functions, function);
  return p->scopes.size - 1;
}

static int add_function(partitioner *p, const computation *c, const instruction *root, bool is_first) {
  int number = p->functions.size;
  partition_function *f = arena_new(p->arena, partition_function);
  f->name = function_name(p, c, root, is_first);
  f->computation = c;
  f->index_space = partition_index_shape(root);
  f->scope = add_scope(p, number, 0, 0);
  vec_push(p->arena, &p->functions, f);
  vec_push(p->arena, &p->op_counts, 0);
  if (is_first) ptr_map_put(p->arena, &p->out->entries, c, f);
  return number;
}

static void add_result(partitioner *p, partition_function *f, const instruction *root, int element,
                       const indexing_map *map) {
  partition_result *old = f->results;
  f->results =
      arena_grow(p->arena, old, sizeof *old * (size_t)f->result_count, sizeof *old * ((size_t)f->result_count + 1));
  f->results[f->result_count++] = (partition_result){.root = root, .element = element, .map = map};
}

static void add_constant(partitioner *p, int function, const instruction *leaf) {
  const instruction *constant = scalar_constant(leaf);
  if (constant) vec_push(p->arena, &p->functions.data[function]->constants, (instruction *)constant);
}

static int by_id(const void *l, const void *r) {
  int a = (*(instruction *const *)l)->id, b = (*(instruction *const *)r)->id;
  return (a > b) - (a < b);
}

static void sort_constants(partition_function *f) {
  if (f->constants.size == 0) return;
  qsort(f->constants.data, (size_t)f->constants.size, sizeof *f->constants.data, by_id);
  int kept = 0;
  for (int i = 0; i < f->constants.size; i++) {
    if (kept == 0 || f->constants.data[kept - 1] != f->constants.data[i]) {
      f->constants.data[kept++] = f->constants.data[i];
    }
  }
  f->constants.size = kept;
}

// --- uses

static int count_nodes(const affine_expr *e, int limit) {
  if (limit <= 0) return 1;
  if (!e->lhs) return 1;
  int count = 1 + count_nodes(e->lhs, limit - 1);
  return count >= limit ? count : count + count_nodes(e->rhs, limit - count);
}

static bool is_large(const indexing_map *m) {
  int count = 0;
  for (int i = 0; i < m->result_count && count < MAX_MAP_NODES; i++) count += count_nodes(m->results[i], MAX_MAP_NODES);
  for (int i = 0; i < m->constraint_count && count < MAX_MAP_NODES; i++) {
    count += count_nodes(m->constraints[i].expr, MAX_MAP_NODES);
  }
  return count >= MAX_MAP_NODES;
}

static void add_use(partitioner *p, const instruction *i, int scope, const indexing_map *map) {
  work_node *n = node_of(p, i);
  if (n->node.is_leaf) {
    add_constant(p, p->scope_functions.data[scope], i);
  } else if (!n->is_used) {
    n->node.scope = scope;
    n->map = map;
    n->is_used = true;
    n->is_forced |= is_large(map);
  } else if (n->node.scope != scope || (n->map != map && !indexing_map_equal(n->map, map))) {
    n->is_forced = true;
  }
}

static const indexing_map *identity_of(partitioner *p, const shape *s) {
  return indexing_map_identity(p->arena, s->rank, s->dims);
}

// One use of operand k through `map` (null: identity), in i's own scope or in one of its branches.
static void use_operand(partitioner *p, const instruction *i, int k, const indexing_map *map) {
  const work_node *n = node_of(p, i);
  int branch = partition_operand_branch(i, k);
  if (branch >= 0) {
    if (!map) map = identity_of(p, partition_index_shape(i));
    add_use(p, i->operands[k], n->node.first_scope + branch, map);
    if (p->scopes.data[n->node.scope]->depth >= MAX_SCOPE_DEPTH) node_of(p, i->operands[k])->is_forced = true;
    return;
  }
  if (map) map = indexing_map_simplify(p->arena, indexing_map_compose(p->arena, n->map, map));
  add_use(p, i->operands[k], n->node.scope, map ? map : n->map);
  if (partition_evaluates_often(i, k)) node_of(p, i->operands[k])->is_forced = true;
}

// Tells the operands of a placed instruction where they are needed.
static heddle_status use_operands(partitioner *p, const instruction *i) {
  work_node *n = node_of(p, i);
  int branches = partition_branch_count(i), depth = p->scopes.data[n->node.scope]->depth;
  for (int b = 0; b < branches; b++) {
    int s = add_scope(p, n->node.function, i, depth + 1);
    if (b == 0) n->node.first_scope = s;
  }
  TRY(partition_find_operands(p->arena, i, &n->node.operands));
  for (int k = 0; k < i->operand_count; k++) {
    const partition_operand *o = &n->node.operands[k];
    if (!o->is_needed) continue;
    if (!o->is_offset) use_operand(p, i, k, o->map);
    for (int r = 0; o->map && r < o->map->rt_count; r++) use_operand(p, i, o->rts[r].operand, o->rts[r].map);
  }
  return status_ok();
}

static void place(partitioner *p, const instruction *i) {
  work_node *n = node_of(p, i);
  int function = n->is_used ? p->scope_functions.data[n->node.scope] : -1;
  if (n->is_forced || p->op_counts.data[function] >= MAX_FUNCTION_OPS) {
    function = add_function(p, i->parent, i, false);
    partition_function *f = p->functions.data[function];
    n->node.scope = f->scope;
    n->map = identity_of(p, f->index_space);
    int values = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
    for (int e = 0; e < values; e++) add_result(p, f, i, e, 0);
  }
  n->node.function = function;
  p->op_counts.data[function]++;
  vec_push(p->arena, &p->scopes.data[n->node.scope]->order, (instruction *)i);
}

static void queue_computation(partitioner *p, const computation *c) {
  if (ptr_map_has(&p->queued, c)) return;
  ptr_map_put(p->arena, &p->queued, c, p);
  vec_push(p->arena, &p->pending, c);
}

static void queue_called(partitioner *p, const instruction *i) {
  for (int k = 0; k < i->called_count; k++) queue_computation(p, i->called[k]);
}

// What is given is a leaf.
static void cut_given(partitioner *p, int first, int count) {
  for (int n = first; n < first + count; n++) {
    const partition_function *f = p->functions.data[n];
    for (int g = 0; g < f->given_count; g++) {
      if (node_of(p, f->given[g])) continue;
      work_node *made = arena_new(p->arena, work_node);
      made->node = (partition_node){.function = -1, .scope = -1, .first_scope = -1, .is_leaf = true, .is_given = true};
      ptr_map_put(p->arena, &p->out->nodes, f->given[g], made);
    }
  }
}

// Everything that results of the functions depend on, operands before users; makes the nodes.
static void reach(partitioner *p, int first, int count, instruction_list *out) {
  VEC(instruction *) stack = {0};
  ptr_map done = {0};
  for (int n = first + count - 1; n >= first; n--) {
    const partition_function *f = p->functions.data[n];
    for (int i = f->result_count - 1; i >= 0; i--) vec_push(p->arena, &stack, (instruction *)f->results[i].root);
  }
  while (stack.size > 0) {
    instruction *i = vec_last(&stack);
    if (node_of(p, i)) {
      vec_drop(&stack);
      if (!ptr_map_has(&done, i)) vec_push(p->arena, out, i);
      ptr_map_put(p->arena, &done, i, p);
      continue;
    }
    work_node *n = arena_new(p->arena, work_node);
    n->node = (partition_node){.function = -1, .scope = -1, .first_scope = -1, .is_leaf = is_leaf(i)};
    ptr_map_put(p->arena, &p->out->nodes, i, n);
    for (int k = i->operand_count - 1; k >= 0; k--) {
      if (!node_of(p, i->operands[k])) vec_push(p->arena, &stack, i->operands[k]);
    }
  }
}

// The computation's first `count` functions exist and have their results.
static heddle_status partition_computation(partitioner *p, int first, int count) {
  instruction_list order = {0};
  cut_given(p, first, count);
  reach(p, first, count, &order);
  for (int n = first; n < first + count; n++) {
    const partition_function *f = p->functions.data[n];
    const indexing_map *identity = identity_of(p, f->index_space);
    for (int r = 0; r < f->result_count; r++) {
      add_use(p, f->results[r].root, f->scope, f->results[r].map ? f->results[r].map : identity);
    }
  }
  for (int n = order.size - 1; n >= 0; n--) {
    const instruction *i = order.data[n];
    if (node_of(p, i)->node.is_leaf || !node_of(p, i)->is_used) continue;
    place(p, i);
    TRY(use_operands(p, i));
    queue_called(p, i);
  }
  return status_ok();
}

// --- the roots of a computation

// From the first output's indices to those of an output of the same element count; null if the dims agree.
static const indexing_map *output_map(partitioner *p, const shape *from, const shape *to) {
  return shape_same_dims(from, to) ? 0 : hlo_indexing_reshape(p->arena, from, to);
}

static heddle_status partition_outputs(partitioner *p, const kernel_plan *k) {
  int first = add_function(p, k->computation, k->outputs[0].root, true);
  partition_function *f = p->functions.data[first];
  for (int i = 0; i < k->output_count; i++) {
    const kernel_output *o = &k->outputs[i];
    add_result(p, f, o->root, o->element, output_map(p, f->index_space, o->shape));
  }
  return partition_computation(p, first, 1);
}

static heddle_status partition_parts(partitioner *p, const kernel_plan *k) {
  int first = p->functions.size;
  for (int n = 0; n < k->part_count; n++) {
    const kernel_part *part = &k->parts[n];
    int number = add_function(p, k->computation, part->results[0].root, n == 0);
    partition_function *f = p->functions.data[number];
    f->index_space = part->index_space;
    f->given_count = part->given_count;
    f->given = part->given;
    for (int r = 0; r < part->result_count; r++)
      add_result(p, f, part->results[r].root, part->results[r].element, part->results[r].map);
    for (int g = 0; g < part->given_count; g++) queue_called(p, part->given[g]);
  }
  if (k->hero_instruction) queue_called(p, k->hero_instruction);
  return partition_computation(p, first, k->part_count);
}

// A reducer or the body of a map: one result per element of its root.
static heddle_status partition_called(partitioner *p, const computation *c) {
  const instruction *root = c->root;
  bool is_tuple = root->opcode == HLO_TUPLE;
  int first = add_function(p, c, is_tuple && root->operand_count > 0 ? root->operands[0] : root, true);
  for (int k = 0; k < (is_tuple ? root->operand_count : 1); k++) {
    const instruction *r = is_tuple ? root->operands[k] : root;
    add_result(p, p->functions.data[first], r, 0, 0);
  }
  return partition_computation(p, first, 1);
}

static void reverse(instruction_list *l) {
  for (int i = 0, j = l->size - 1; i < j; i++, j--) {
    instruction *t = l->data[i];
    l->data[i] = l->data[j];
    l->data[j] = t;
  }
}

heddle_status partition_kernel(arena *a, const kernel_plan *kernel, partition **out) {
  partitioner p = {.arena = a, .out = arena_new(a, partition)};
  str_map_put(a, &p.symbols, str_from(kernel->name), &p);
  for (int i = 0; i < kernel->body_count; i++) queue_computation(&p, kernel->bodies[i].computation);
  if (kernel->body_count == 0)
    TRY(kernel->part_count > 0 ? partition_parts(&p, kernel) : partition_outputs(&p, kernel));
  for (int i = 0; i < p.pending.size; i++) {
    TRY(status_context(partition_called(&p, p.pending.data[i]), "while partitioning computation " STR_FMT,
                       STR_ARG(p.pending.data[i]->name)));
  }
  for (int i = 0; i < p.scopes.size; i++) reverse(&p.scopes.data[i]->order);
  for (int i = 0; i < p.functions.size; i++) sort_constants(p.functions.data[i]);
  p.out->function_count = p.functions.size;
  p.out->functions = p.functions.data;
  p.out->scope_count = p.scopes.size;
  p.out->scopes = p.scopes.data;
  *out = p.out;
  return status_ok();
}

void partition_print(text *out, const partition *p) {
  for (int i = 0; i < p->function_count; i++) {
    const partition_function *f = p->functions[i];
    text_printf(out, "function @%s of " STR_FMT " over ", f->name, STR_ARG(f->computation->name));
    shape_print(out, f->index_space, false);
    text_putc(out, '\n');
    for (int r = 0; r < f->result_count; r++) {
      text_printf(out, "  result " STR_FMT, STR_ARG(f->results[r].root->name));
      if (f->results[r].map) {
        text_puts(out, " at ");
        indexing_map_print(out, f->results[r].map);
      }
      text_putc(out, '\n');
    }
    for (int s = 0; s < p->scope_count; s++) {
      const partition_scope *scope = p->scopes[s];
      if (scope->order.size == 0 || partition_node_of(p, scope->order.data[0])->function != i) continue;
      text_puts(out, scope->owner ? "  within " : "  body");
      if (scope->owner) text_printf(out, STR_FMT, STR_ARG(scope->owner->name));
      text_putc(out, ':');
      for (int k = 0; k < scope->order.size; k++) text_printf(out, " " STR_FMT, STR_ARG(scope->order.data[k]->name));
      text_putc(out, '\n');
    }
  }
}
