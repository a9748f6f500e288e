// Decides how the threads of a grid share the updates of a scatter.
#include "kernel/grid_scatter.h"

#include "base/int64.h"
#include "hlo/combiner.h"
#include "kernel/hero_loop.h"
#include "kernel/order_mark.h"
#include "kernel/scatter_form.h"

// --- the combining computation

// What the computation does with one operand's element.
typedef struct combining {
  bool is_separable;    // from that operand's element and update alone
  bool is_overwriting;  // the update is the result
  bool is_applying;     // the update does not matter
  hlo_opcode opcode;    // the one operation that combines the two, or HLO_OPCODE_COUNT
} combining;

// Which parameters the value depends on: `mark` of each is 1, of all others 0.
static void find_dependencies(const computation *c, instruction *value) {
  arena *scratch = arena_create();
  VEC(instruction *) open = {0};
  for (int n = 0; n < c->instructions.size; n++) c->instructions.data[n]->mark = 0;
  value->mark = 1;
  vec_push(scratch, &open, value);
  while (open.size > 0) {
    const instruction *i = vec_last(&open);
    vec_drop(&open);
    for (int k = 0; k < i->operand_count; k++) {
      if (i->operands[k]->mark) continue;
      i->operands[k]->mark = 1;
      vec_push(scratch, &open, i->operands[k]);
    }
  }
  arena_destroy(scratch);
}

static combining combining_of(const computation *c, int value, int count) {
  combining result = {.is_separable = true, .opcode = combiner_opcode_of_value(c, value, count)};
  instruction *root = c->root->opcode == HLO_TUPLE ? c->root->operands[value] : c->root;
  if (shape_is_tuple(root->shape)) return (combining){.opcode = HLO_OPCODE_COUNT};
  find_dependencies(c, root);
  for (int p = 0; p < c->parameters.size; p++)
    if (p % count != value && c->parameters.data[p]->mark) result.is_separable = false;
  result.is_overwriting = root == c->parameters.data[count + value];
  result.is_applying = result.is_separable && !c->parameters.data[count + value]->mark;
  return result;
}

// Whether elements may be combined with each other first, and in any order, up to rounding.
static bool is_associative(hlo_opcode op) {
  switch (op) {
    case HLO_ADD:
    case HLO_MULTIPLY:
    case HLO_MAXIMUM:
    case HLO_MINIMUM:
    case HLO_AND:
    case HLO_OR:
    case HLO_XOR: return true;
    default: return false;
  }
}

// Whether the atomic operation is one instruction; else it is a loop that compares and exchanges.
static bool has_instruction(const target_description *target, dtype t, hlo_opcode op) {
  const bool is_extremum = op == HLO_MAXIMUM || op == HLO_MINIMUM;
  switch (t) {
    case DTYPE_F32:
    case DTYPE_F64: return op == HLO_ADD || is_extremum;
    case DTYPE_C64:
    case DTYPE_C128: return op == HLO_ADD;
    case DTYPE_F16: return op == HLO_ADD && target->adds_f16_atomically;
    case DTYPE_BF16: return op == HLO_ADD && target->adds_bf16_atomically;
    default: return (dtypes[t].bits == 32 || dtypes[t].bits == 64) && is_associative(op) && op != HLO_MULTIPLY;
  }
}

typedef struct atomics {
  const char *lack;   // why there are none that do it; null if there are
  const char *order;  // why the updates' order may matter; null if it changes no more than the rounding
  bool by_instruction;
  bool is_associative;
  bool rounds;  // differently in another order
} atomics;

static atomics find_atomics(const instruction *scatter, const target_description *target) {
  const int count = scatter->operand_count / 2;
  atomics found = {.by_instruction = true, .is_associative = true};
  for (int n = 0; n < count; n++) {
    const combining by = combining_of(scatter->called[0], n, count);
    const dtype t = scatter->operands[n]->shape->dtype;
    const bool is_direct = by.is_overwriting || has_instruction(target, t, by.opcode);
    found.by_instruction &= is_direct;
    found.is_associative &= is_associative(by.opcode);
    found.rounds |= (by.opcode == HLO_ADD || by.opcode == HLO_MULTIPLY) &&
                    (dtypes[t].class == CLASS_FLOAT || dtypes[t].class == CLASS_COMPLEX);
    if (!by.is_separable) found.lack = "goes through the updates in order: operands are combined together";
    else if (!is_direct && dtypes[t].bits > target->exchanged_bits)
      found.lack = "goes through the updates in order: no atomic operation is wide enough";
    if (by.is_overwriting) found.order = "goes through the updates in order: the last one stays";
    else if (!is_associative(by.opcode) && !by.is_applying)
      found.order = "goes through the updates in order, which may matter";
  }
  return found;
}

// Elements that share bytes: threads that write one write its neighbours, too.
static bool is_packed(const instruction *scatter, int n) { return dtypes[scatter->operands[n]->shape->dtype].bits < 8; }

static bool has_packed(const instruction *scatter) {
  for (int n = 0; n < scatter->operand_count / 2; n++)
    if (is_packed(scatter, n)) return true;
  return false;
}

// --- the forms

static launch_plan launch_threads(const target_description *target, int64_t threads, int per_thread) {
  launch_plan launch = launch_decide(target, threads, &(launch_cost){.prevents_vectors = true});
  launch.elements *= per_thread;
  launch.unroll = per_thread;
  return launch;
}

static int64_t grid_threads(const target_description *target) {
  return (int64_t)target->cores * target->threads_per_core;
}

// A thread for each `vector` elements of the updates. An atomic operation takes one element: those of neighbouring
// threads meet in one transaction if each thread has one.
static launch_plan share_elements(hero_grid_scatter *h, const target_description *target, const launch_cost *cost) {
  const int64_t elements = shape_element_count(h->updates), window = elements / h->updates->dims[0];
  const bool is_plain = h->form == GRID_SCATTER_PLAIN;
  h->vector = is_plain ? (int)int64_gcd(window, launch_decide(target, elements, cost).unroll) : 1;
  return launch_threads(target, elements / h->vector, h->vector);
}

// Runs of updates, so long that each core has a block of threads: false if they would be of one update.
static bool share_runs(hero_grid_scatter *h, const target_description *target, launch_plan *out) {
  const int64_t count = h->updates->dims[0], window = shape_element_count(h->updates) / count;
  const shape *operand = h->scatter->operands[0]->shape;
  int64_t places = 1;
  for (int d = 0; d < scatter_form_first_unmoved(h->scatter); d++)
    places = int64_saturating_mul(places, operand->dims[d] - h->updates->dims[1 + d] + 1);
  if (count <= (int64_t)target->grid.min_sorted_updates_per_core * target->cores) return false;
  const int64_t threads = (int64_t)target->threads_per_block * target->cores;
  const int64_t runs = int64_max(int64_ceil_div(threads, window), int64_min(places, count));
  const int64_t each = int64_ceil_div(count, runs);
  if (each < 2) return false;
  h->updates_per_thread = each;
  *out = launch_threads(target, int64_ceil_div(count, each) * window, 1);
  return true;
}

// Elements that a word of memory holds of those operands whose elements share bytes; else 1.
static int64_t word_elements(const instruction *scatter) {
  int64_t most = 1;
  for (int n = 0; n < scatter->operand_count / 2; n++)
    if (is_packed(scatter, n)) most = int64_max(most, 32 / dtypes[scatter->operands[n]->shape->dtype].bits);
  return most;
}

static launch_plan share_owners(hero_grid_scatter *h, const target_description *target) {
  const shape *operand = h->scatter->operands[0]->shape;
  int64_t rows = 1;
  h->split = scatter_form_first_unmoved(h->scatter);
  h->window_rows = h->columns = 1;
  for (int d = 0; d < operand->rank; d++) {
    *(d < h->split ? &h->window_rows : &h->columns) *= h->updates->dims[1 + d];
    if (d < h->split) rows *= operand->dims[d];
  }
  // No thread reads a word that another one writes.
  const int64_t word = word_elements(h->scatter);
  h->columns_per_thread = word > 1 ? h->columns : 1;
  const int64_t wanted = int64_ceil_div(grid_threads(target), h->columns / h->columns_per_thread);
  const int64_t each = int64_ceil_div(rows, int64_clamp(1, wanted, rows));
  h->rows_per_owner = int64_round_up(each, word);
  h->owners = int64_ceil_div(rows, h->rows_per_owner);
  return launch_threads(target, h->owners * (h->columns / h->columns_per_thread), 1);
}

// --- the kernel

static const char in_order[] = "updates";

void grid_scatter_mark_deterministic(module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_SCATTER) order_mark_set(all->data[k], in_order);
  }
}

static launch_plan choose_form(hero_grid_scatter *h, kernel_plan *k, const target_description *target,
                               const launch_cost *cost) {
  const hlo_attributes *x = h->scatter->attributes;
  const bool is_unique = x->unique_indices || h->updates->dims[0] == 1;
  launch_plan launch;
  if (is_unique && !has_packed(h->scatter)) {
    h->form = GRID_SCATTER_PLAIN;
    k->reason = "combines updates, no two of which meet, into the operand's memory";
    return share_elements(h, target, cost);
  }
  const atomics by = find_atomics(h->scatter, target);
  const bool as_asked = by.rounds && order_mark_is(h->scatter, in_order);
  if (by.lack || (!is_unique && (by.order || as_asked))) {
    h->form = GRID_SCATTER_IN_ORDER;
    k->reason = by.lack    ? by.lack
                : by.order ? by.order
                           : "goes through the updates in order, so that every run rounds alike";
    return share_owners(h, target);
  }
  h->by_instruction = by.by_instruction;
  // Vectors without entries are sorted.
  const bool is_sorted = x->indices_are_sorted || x->scatter_dims_to_operand_dims.size == 0;
  if (is_sorted && !is_unique && by.is_associative && share_runs(h, target, &launch)) {
    h->form = GRID_SCATTER_RUNS;
    k->reason = "combines runs of sorted updates, then atomically into the operand's memory";
    return launch;
  }
  h->form = GRID_SCATTER_ATOMIC;
  k->reason = "combines updates atomically into the operand's memory";
  return share_elements(h, target, cost);
}

bool grid_scatter_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  const instruction *scatter = scatter_form_find(k);
  if (!scatter) return false;
  k->details.grid_scatter = (hero_grid_scatter){.scatter = scatter, .updates = scatter_form_updates(scatter)};
  hero_grid_scatter *h = &k->details.grid_scatter;
  const int64_t elements = shape_element_count(h->updates);
  k->hero_instruction = scatter;
  k->reason = "there is nothing to combine";
  k->launch = (launch_plan){0};
  scatter_form_make_parts(a, k, scatter);
  if (elements == 0) return true;
  const launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = choose_form(h, k, target, &cost);
  return true;
}
