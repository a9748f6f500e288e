// Code is unrolled, so that most accesses to memory differ by constants alone: [x + 3, y], [x + 4, y]. One by one, each
// address has multiplications and additions of its own, which go through all of LLVM's code generation until it finds
// out what was known here. So indices become sums of multiples and a constant. What an address adds to where its memory
// begins is added loop by loop, from the outermost one, where it is known, and once for all that go on from there; the
// constant is left to the access, since x86's instructions take one. What is left is what strength reduction makes of
// loops, a sixth of code generation.
#include "lower/shared_addresses.h"

#include "base/map.h"
#include "lower/llvm_build.h"

#define ARE_MADE "xla.shared_addresses"  // of a module

enum { MOST_CARRIED = 4 };  // pointers that a loop carries from turn to turn, in registers of their own
enum { MOST_VISITS = 64 };  // of sums within an index: what they share would be met once for each of its users

// A value that is no sum.
typedef struct atom {
  MlirValue value;
  MlirBlock block;
  int depth;   // of the block
  int number;  // in the order in which atoms are met, which does not depend on where they lie in memory
  int place;   // of its operation among all; -1 for an argument
} atom;

typedef struct term {
  const atom *of;
  int64_t factor;
} term;

struct shared_addresses_sum {
  VEC(term) terms;
  int64_t constant;
  int visits;
};

// A pointer, and those that go on from it.
typedef struct stop {
  MlirValue pointer;
  MlirBlock block;
  int depth, place;  // of the block; of the operation in it behind which the pointer is there
  MlirType element;
  const term *terms;  // what it adds to the one that it goes on from
  int term_count;
  struct stop *from, *first, *next;
} stop;

struct shared_addresses {
  arena *arena;
  ptr_map places;        // by operation, 1 for the first one
  ptr_map atoms;         // by value
  ptr_map starts;        // by pointer: stop
  VEC(stop *) striding;  // that a loop's variable is a term of, alone and multiplied
};

// --- sums

static int depth_of(MlirBlock block) {
  int depth = 0;
  for (MlirOperation op = mlirBlockGetParentOperation(block); !ir_is_null(op); op = mlirOperationGetParentOperation(op))
    depth++;
  return depth;
}

static MlirBlock block_of(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  return ir_is_null(op) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(op);
}

static int place_of(const shared_addresses *a, MlirOperation op) {
  return ir_is_null(op) ? -1 : (int)(uintptr_t)ptr_map_get(&a->places, op.ptr) - 1;
}

static const atom *atom_of(shared_addresses *a, MlirValue v) {
  const atom *known = ptr_map_get(&a->atoms, v.ptr);
  if (known) return known;
  atom *made = arena_new(a->arena, atom);
  MlirBlock block = block_of(v);
  *made = (atom){.value = v,
                 .block = block,
                 .depth = depth_of(block),
                 .number = a->atoms.size,
                 .place = place_of(a, ir_defining_op(v))};
  ptr_map_put(a->arena, &a->atoms, v.ptr, made);
  return made;
}

// Indices are integers of 64 bits, whose sums wrap.
static int64_t wrapping_add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static int64_t wrapping_mul(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }

void shared_addresses_add_number(shared_addresses_sum *s, int64_t number, int64_t factor) {
  s->constant = wrapping_add(s->constant, wrapping_mul(number, factor));
}

static void add_term(shared_addresses *a, shared_addresses_sum *s, MlirValue v, int64_t factor) {
  const atom *of = atom_of(a, v);
  for (int k = 0; k < s->terms.size; k++) {
    if (s->terms.data[k].of != of) continue;
    s->terms.data[k].factor = wrapping_add(s->terms.data[k].factor, factor);
    return;
  }
  const term made = {of, factor};
  vec_push(a->arena, &s->terms, made);
}

void shared_addresses_add(shared_addresses *a, shared_addresses_sum *s, MlirValue v, int64_t factor) {
  MlirOperation op = ir_defining_op(v);
  int64_t known;
  if (ir_constant_value(v, &known)) {
    shared_addresses_add_number(s, known, factor);
  } else if (ir_is_null(op) || s->visits == MOST_VISITS) {
    add_term(a, s, v, factor);
  } else if (ir_is(op, "arith.addi") || ir_is(op, "arith.subi")) {
    s->visits++;
    shared_addresses_add(a, s, ir_operand(op, 0), factor);
    shared_addresses_add(a, s, ir_operand(op, 1), ir_is(op, "arith.addi") ? factor : wrapping_mul(factor, -1));
  } else if (ir_is(op, "arith.muli") && ir_constant_value(ir_operand(op, 1), &known)) {
    s->visits++;
    shared_addresses_add(a, s, ir_operand(op, 0), wrapping_mul(factor, known));
  } else {
    add_term(a, s, v, factor);
  }
}

static bool is_before(const term *l, const term *r) {
  return l->of->depth != r->of->depth ? l->of->depth < r->of->depth : l->of->number < r->of->number;
}

// The outermost first; without those that cancel out.
static void sort(shared_addresses_sum *s) {
  int kept = 0;
  for (int k = 0; k < s->terms.size; k++) {
    const term t = s->terms.data[k];
    if (t.factor == 0) continue;
    int at = kept++;
    for (; at > 0 && is_before(&t, &s->terms.data[at - 1]); at--) s->terms.data[at] = s->terms.data[at - 1];
    s->terms.data[at] = t;
  }
  s->terms.size = kept;
}

// --- pointers

static stop *start_of(shared_addresses *a, MlirValue pointer, MlirOperation origin) {
  stop *known = ptr_map_get(&a->starts, pointer.ptr);
  if (known) return known;
  MlirBlock block = block_of(pointer);
  stop *made = arena_new(a->arena, stop);
  *made = (stop){.pointer = pointer, .block = block, .depth = depth_of(block), .place = place_of(a, origin)};
  ptr_map_put(a->arena, &a->starts, pointer.ptr, made);
  return made;
}

static bool is_same(const stop *s, MlirType element, const term *terms, int count) {
  bool same = s->term_count == count && mlirTypeEqual(s->element, element);
  for (int k = 0; k < count && same; k++) same = s->terms[k].of == terms[k].of && s->terms[k].factor == terms[k].factor;
  return same;
}

static MlirValue add_up(ir_builder *b, const term *terms, int count) {
  MlirValue all = {NULL};
  for (int k = 0; k < count; k++) {
    MlirValue x = terms[k].of->value;
    if (terms[k].factor != 1) x = ir_binary(b, "arith.muli", x, ir_index(b, terms[k].factor));
    all = all.ptr ? ir_binary(b, "arith.addi", all, x) : x;
  }
  return ir_cast(b, "arith.index_cast", mlirIntegerTypeGet(b->context, 64), all);
}

// Instructions multiply an index by the sizes of numbers.
static bool is_scale(int64_t factor, MlirType element) {
  const int64_t bytes = mlirTypeIsAInteger(element) || mlirTypeIsAFloat(element) ? ir_bit_width(element) / 8 : 0;
  const int64_t scale = wrapping_mul(factor, bytes);
  return factor == 1 || scale == 2 || scale == 4 || scale == 8;
}

// Whether a loop's variable is multiplied by more.
static bool strides(const term *t, MlirType element) {
  MlirOperation loop = mlirBlockGetParentOperation(t->of->block);
  int64_t step;
  return t->of->place < 0 && ir_is(loop, "scf.for") && ir_constant_value(ir_operand(loop, 2), &step) &&
         mlirValueEqual(t->of->value, mlirBlockGetArgument(t->of->block, 0)) && !is_scale(t->factor, element);
}

static stop *build_stop(shared_addresses *a, stop *from, MlirType element, const term *terms, int count) {
  const atom *innermost = terms[count - 1].of;
  const bool is_inner = innermost->depth > from->depth;
  MlirBlock block = is_inner ? innermost->block : from->block;
  MlirOperation behind = is_inner ? (MlirOperation){NULL} : ir_defining_op(from->pointer);
  int place = is_inner ? -1 : from->place;
  for (int k = 0; k < count; k++) {
    const atom *x = terms[k].of;
    if (!mlirBlockEqual(x->block, block) || x->place <= place) continue;
    place = x->place;
    behind = ir_defining_op(x->value);
  }
  ir_builder b = ir_is_null(behind) ? ir_builder_before(mlirBlockGetFirstOperation(block), a->arena)
                                    : ir_builder_after(behind, a->arena);
  stop *made = arena_new(a->arena, stop);
  *made = (stop){.pointer = llvm_build_step(&b, from->pointer, element, add_up(&b, terms, count)),
                 .block = block,
                 .depth = is_inner ? innermost->depth : from->depth,
                 .place = place,
                 .element = element,
                 .terms = terms,
                 .term_count = count,
                 .from = from,
                 .next = from->first};
  from->first = made;
  if (is_inner && count == 1 && strides(&terms[0], element)) vec_push(a->arena, &a->striding, made);
  return made;
}

static stop *go_on(shared_addresses *a, stop *from, MlirType element, const term *terms, int count) {
  for (stop *s = from->first; s; s = s->next)
    if (is_same(s, element, terms, count)) return s;
  return build_stop(a, from, element, terms, count);
}

// Whether what the address consists of is there where the access is; blocks with branches between them are left alone.
static bool is_around(const shared_addresses_sum *s, MlirBlock start, MlirOperation access) {
  bool all = !ir_is_null(ir_in_block(access, start));
  for (int k = 0; k < s->terms.size && all; k++) all = !ir_is_null(ir_in_block(access, s->terms.data[k].of->block));
  return all;
}

MlirValue shared_addresses_build(shared_addresses *a, MlirValue start, MlirOperation origin, MlirType element,
                                 shared_addresses_sum *s, MlirOperation access) {
  sort(s);
  if (!is_around(s, block_of(start), access)) return (MlirValue){NULL};
  stop *at = start_of(a, start, origin);
  for (int first = 0, end; first < s->terms.size; first = end) {
    const int depth = s->terms.data[first].of->depth > at->depth ? s->terms.data[first].of->depth : at->depth;
    for (end = first + 1; end < s->terms.size && s->terms.data[end].of->depth <= depth;) end++;
    at = go_on(a, at, element, s->terms.data + first, end - first);
  }
  ir_builder b = ir_builder_before(access, a->arena);
  return s->constant == 0 ? at->pointer : llvm_build_fixed_step(&b, at->pointer, element, s->constant);
}

// --- pointers that loops carry

// Where the pointer is in the loop's first turn.
static MlirValue build_first(ir_builder *b, const stop *s, MlirValue lower) {
  int64_t known;
  const int64_t factor = s->terms[0].factor;
  if (ir_constant_value(lower, &known))
    return known == 0 ? s->from->pointer
                      : llvm_build_fixed_step(b, s->from->pointer, s->element, wrapping_mul(known, factor));
  MlirValue by = ir_binary(b, "arith.muli", lower, ir_index(b, factor));
  return llvm_build_step(b, s->from->pointer, s->element,
                         ir_cast(b, "arith.index_cast", mlirIntegerTypeGet(b->context, 64), by));
}

// The same loop, which carries these pointers, too.
static void carry(arena *a, MlirOperation loop, int count, stop *const *stops) {
  ir_builder b = ir_builder_before(loop, a);
  const int operands = (int)mlirOperationGetNumOperands(loop), results = (int)mlirOperationGetNumResults(loop),
            attributes = (int)mlirOperationGetNumAttributes(loop);
  MlirBlock body = ir_body(loop, 0);
  MlirOperation end = ir_terminator(body);
  ir_builder last = ir_builder_before(end, a);
  MlirValue *inits = arena_array(a, MlirValue, operands + count), *yielded = arena_array(a, MlirValue, results + count);
  MlirType *types = arena_array(a, MlirType, results + count);
  MlirNamedAttribute *kept = arena_array(a, MlirNamedAttribute, attributes);
  int64_t step = 0;
  ir_constant_value(ir_operand(loop, 2), &step);
  for (int k = 0; k < operands; k++) inits[k] = ir_operand(loop, k);
  for (int k = 0; k < results; k++) types[k] = ir_result_type(loop, k);
  for (int k = 0; k < results; k++) yielded[k] = ir_operand(end, k);
  for (int k = 0; k < attributes; k++) kept[k] = mlirOperationGetAttribute(loop, k);
  for (int k = 0; k < count; k++) {
    stop *s = stops[k];
    inits[operands + k] = build_first(&b, s, ir_operand(loop, 0));
    types[results + k] = mlirValueGetType(s->pointer);
    MlirValue carried = mlirBlockAddArgument(body, types[results + k], b.location);
    MlirOperation computed = ir_defining_op(s->pointer);
    ir_replace(computed, &carried);
    s->pointer = carried;
    yielded[results + k] = llvm_build_fixed_step(&last, carried, s->element, wrapping_mul(s->terms[0].factor, step));
  }
  mlirOperationSetOperands(end, results + count, yielded);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(loop, 0));
  MlirOperation made = ir_build(&b, (ir_op_state){.name = "scf.for",
                                                  .operand_count = operands + count,
                                                  .operands = inits,
                                                  .result_count = results + count,
                                                  .results = types,
                                                  .attribute_count = attributes,
                                                  .attributes = kept,
                                                  .region_count = 1,
                                                  .regions = &region});
  for (int k = 0; k < results; k++) inits[k] = ir_result(made, k);
  ir_replace(loop, inits);
}

void shared_addresses_end(shared_addresses *a) {
  for (int first = 0; first < a->striding.size; first++) {
    stop *same[MOST_CARRIED];
    int count = 0;
    if (!a->striding.data[first]) continue;
    MlirBlock block = a->striding.data[first]->block;
    for (int k = first; k < a->striding.size; k++) {
      stop *s = a->striding.data[k];
      if (!s || !mlirBlockEqual(s->block, block)) continue;
      if (count < MOST_CARRIED) same[count] = s;
      count++;
      a->striding.data[k] = NULL;
    }
    if (count <= MOST_CARRIED) carry(a->arena, mlirBlockGetParentOperation(block), count, same);
  }
}

// --- a module

shared_addresses *shared_addresses_begin(arena *a, MlirOperation module) {
  shared_addresses *s = arena_new(a, shared_addresses);
  *s = (shared_addresses){.arena = a};
  const ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++) ptr_map_put(a, &s->places, all.data[k].ptr, (void *)(uintptr_t)(k + 1));
  ir_set(module, ARE_MADE, mlirUnitAttrGet(mlirOperationGetContext(module)));
  return s;
}

bool shared_addresses_are_made(MlirOperation module) { return !mlirAttributeIsNull(ir_get(module, ARE_MADE)); }

shared_addresses_sum *shared_addresses_begin_sum(shared_addresses *a) {
  shared_addresses_sum *s = arena_new(a->arena, shared_addresses_sum);
  *s = (shared_addresses_sum){0};
  return s;
}
