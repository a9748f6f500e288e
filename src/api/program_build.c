// From LHLO to the program: each operation becomes a thunk, each value a slice, each constant its bytes.
//
// Nothing is decided here. What a thunk reads and writes is what its operation does, nested operations included.
#include "api/program_build.h"

#include <string.h>

#include "api/memory.h"
#include "hlo/origin.h"

typedef VEC(int) int_vector;
typedef VEC(program_slice) slice_vector;

typedef struct program_builder {
  arena *arena;
  const lhlo_program *source;
  const program_kernels *kernels;
  program *out;
  slice_vector slices;
  str_map slice_numbers;  // the bytes of a program_slice -> its number, plus one
} program_builder;

// --- kernels

static void grow(arena *a, program_kernels *k, int *capacity) {
  if (k->count < *capacity) return;
  int wanted = *capacity ? *capacity * 2 : 16;
  k->plans = arena_grow(a, k->plans, sizeof *k->plans * (size_t)*capacity, sizeof *k->plans * (size_t)wanted);
  *capacity = wanted;
}

static void add_kernel(arena *a, program_kernels *k, const void *key, const kernel_plan *plan, int *capacity) {
  grow(a, k, capacity);
  k->plans[k->count++] = plan;
  ptr_map_put(a, &k->numbers, key, (void *)(intptr_t)k->count);
}

// Called with single elements: lhs0, rhs0, lhs1, rhs1, …, result.
static heddle_status add_comparator(arena *a, const lhlo_program *p, const computation *c, program_kernels *k,
                                    int *capacity) {
  if (ptr_map_has(&k->numbers, c)) return status_ok();
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, c->root, &leaves));
  kernel_request wanted = {.computation = c,
                           .name = arena_printf(a, "compare_%d", k->count),
                           .target = &p->target,
                           .leaf_count = leaves.size,
                           .leaves = leaves.data,
                           .all_parameters = true};
  kernel_plan *plan;
  TRY(kernel_plan_leaves(a, &wanted, &plan));
  add_kernel(a, k, c, plan, capacity);
  return status_ok();
}

static heddle_status collect_comparators(arena *a, const lhlo_program *p, const lhlo_body *body, program_kernels *k,
                                         int *capacity) {
  for (int i = 0; i < body->ops.size; i++) {
    const lhlo_op *op = body->ops.data[i];
    if (op->library && op->library->comparator) TRY(add_comparator(a, p, op->library->comparator, k, capacity));
    for (int b = 0; b < op->body_count; b++) TRY(collect_comparators(a, p, &op->bodies[b], k, capacity));
  }
  return status_ok();
}

heddle_status program_collect_kernels(arena *a, const lhlo_program *p, const char *name, program_kernels *out) {
  *out = (program_kernels){0};
  int capacity = 0;
  for (int i = 0; i < p->kernel_count; i++)
    if (p->kernels[i]->launch.tiles > 0) add_kernel(a, out, p->kernels[i], p->kernels[i], &capacity);
  TRY(collect_comparators(a, p, &p->entry, out, &capacity));
  if (name) out->plans = kernel_plans_named(a, out->count, out->plans, name);
  return status_ok();
}

// --- slices

static int slice_number(program_builder *b, const lhlo_slice *s) {
  program_slice wanted;
  memset(&wanted, 0, sizeof wanted);  // padding is part of the key
  wanted.allocation = s->allocation;
  wanted.offset = s->offset;
  wanted.bytes = plan_buffer_bytes(s->shape);
  str key = str_copy(b->arena, (str){(const char *)&wanted, sizeof wanted});
  void *known = str_map_get(&b->slice_numbers, key);
  if (known) return (int)(intptr_t)known - 1;
  vec_push(b->arena, &b->slices, wanted);
  str_map_put(b->arena, &b->slice_numbers, key, (void *)(intptr_t)b->slices.size);
  return b->slices.size - 1;
}

static void add_number(arena *a, int_vector *list, int number) {
  for (int i = list->size - 1; i >= 0 && i >= list->size - 8; i--)
    if (list->data[i] == number) return;
  vec_push(a, list, number);
}

// --- thunks

// The program outlives the module, and so its file's name.
static source_location place_of(arena *a, const instruction *i) {
  if (!i || !i->where.file) return SOURCE_UNKNOWN;
  return (source_location){arena_strdup(a, i->where.file, strlen(i->where.file)), i->where.line, i->where.column};
}

static const program_thunk_kind library_thunks[LIBRARY_KIND_COUNT] = {
    [LIBRARY_GEMM] = THUNK_GEMM,
    [LIBRARY_CONVOLUTION] = THUNK_CONVOLUTION,
    [LIBRARY_FFT] = THUNK_FFT,
    [LIBRARY_SORT] = THUNK_SORT,
    [LIBRARY_TOP_K] = THUNK_TOP_K,
    [LIBRARY_CONCATENATE] = THUNK_CONCATENATE,
    [LIBRARY_RANDOM] = THUNK_RANDOM,
    [LIBRARY_CUSTOM_CALL] = THUNK_CUSTOM_CALL,
    [LIBRARY_COLLECTIVE] = THUNK_COLLECTIVE,
    [LIBRARY_TRANSFER] = THUNK_TRANSFER,
};

static program_array library_array(program_builder *b, const shape *as, const lhlo_slice *slice) {
  return (program_array){.type = as->dtype, .rank = as->rank, .dims = as->dims, .slice = slice_number(b, slice)};
}

static void fill_library(program_builder *b, const lhlo_op *op, program_thunk *t) {
  const library_call *call = op->library;
  t->kind = library_thunks[call->kind];
  t->target = call->target;
  t->operand_count = call->operand_count;
  t->result_count = call->result_count;
  program_array *operands = arena_array(b->arena, program_array, call->operand_count);
  program_array *results = arena_array(b->arena, program_array, call->result_count);
  for (int i = 0; i < call->operand_count; i++)
    operands[i] = library_array(b, call->operands[i], &op->operands[call->operand_leaves[i]]);
  for (int i = 0; i < call->result_count; i++) results[i] = library_array(b, call->results[i], &op->results[i]);
  t->operands = operands;
  t->results = results;
  t->attribute_count = call->attribute_count;
  t->attributes = call->attributes;
  if (call->comparator) t->comparator = (int)(intptr_t)ptr_map_get(&b->kernels->numbers, call->comparator) - 1;
}

static void fill_kernel(program_builder *b, const lhlo_op *op, program_thunk *t) {
  const kernel_plan *k = op->kernel;
  t->kind = THUNK_KERNEL;
  t->kernel = (int)(intptr_t)ptr_map_get(&b->kernels->numbers, k) - 1;
  int *buffers = arena_array(b->arena, int, k->slice_count);
  for (int i = 0; i < k->slice_count; i++) {
    const plan_buffer *from = &k->slices[i];
    buffers[i] =
        slice_number(b, from->kind == PLAN_PARAMETER ? &op->operands[from->number] : &op->results[from->number]);
  }
  t->buffers = buffers;
  t->tile_count = k->launch.tiles;
  t->tile_bytes = k->launch.tile_bytes;
  double operations = k->launch.tiles > 0 ? k->work / (double)k->launch.tiles : 0;
  t->tile_operations = operations < 1e15 ? (int64_t)operations : (int64_t)1e15;
}

static program_sequence build_body(program_builder *b, const lhlo_body *body);

static void fill_bodies(program_builder *b, const lhlo_op *op, program_thunk *t) {
  static const program_thunk_kind kinds[] = {
      [LHLO_WHILE] = THUNK_WHILE, [LHLO_CONDITIONAL] = THUNK_CONDITIONAL, [LHLO_CALL] = THUNK_CALL};
  t->kind = kinds[op->kind];
  program_sequence *sequences = arena_array(b->arena, program_sequence, op->body_count);
  for (int i = 0; i < op->body_count; i++) sequences[i] = build_body(b, &op->bodies[i]);
  t->sequence_count = op->body_count;
  t->sequences = sequences;
  if (op->kind != LHLO_CALL) t->control = slice_number(b, &op->control);
  if (op->kind == LHLO_CONDITIONAL) t->is_pred = op->control.shape->dtype == DTYPE_PRED;
  if (op->kind == LHLO_WHILE && op->trip_count >= 0) {
    t->kind = THUNK_FOR;
    t->trip_count = op->trip_count;
    t->sequence_count = 1;
    t->sequences = &sequences[1];
    t->control = -1;
  }
}

static void add_nested(program_builder *b, const program_thunk *t, int_vector *reads, int_vector *writes) {
  for (int s = 0; s < t->sequence_count; s++) {
    for (int i = 0; i < t->sequences[s].count; i++) {
      const program_thunk *inner = t->sequences[s].thunks[i];
      for (int k = 0; k < inner->read_count; k++) add_number(b->arena, reads, inner->reads[k]);
      for (int k = 0; k < inner->write_count; k++) add_number(b->arena, writes, inner->writes[k]);
    }
  }
}

static void fill_uses(program_builder *b, const lhlo_op *op, program_thunk *t) {
  int_vector reads = {0}, writes = {0};
  if (op->body_count == 0) {
    for (int i = 0; i < op->operand_count; i++) add_number(b->arena, &reads, slice_number(b, &op->operands[i]));
    for (int i = 0; i < op->result_count; i++) add_number(b->arena, &writes, slice_number(b, &op->results[i]));
  } else {
    if (t->control >= 0) add_number(b->arena, &reads, t->control);
    add_nested(b, t, &reads, &writes);
  }
  t->reads = reads.data;
  t->read_count = reads.size;
  t->writes = writes.data;
  t->write_count = writes.size;
}

// "jit(f)/add f.py:3"
static const char *origin_text(arena *a, const instruction *i) {
  if (!i) return "";
  const origin from = origin_of(a, i);
  const char *gap = from.name.size && from.file.size ? " " : "";
  const char *line = from.file.size && from.line > 0 ? arena_printf(a, ":%d", from.line) : "";
  return arena_printf(a, STR_FMT "%s" STR_FMT "%s", STR_ARG(from.name), gap, STR_ARG(from.file), line);
}

static const program_thunk *build_op(program_builder *b, const lhlo_op *op) {
  program_thunk *t = arena_new(b->arena, program_thunk);
  t->name = op->source ? arena_printf(b->arena, STR_FMT, STR_ARG(op->source->name)) : "copy";
  t->where = place_of(b->arena, op->source);
  t->origin = origin_text(b->arena, op->source);
  t->control = -1;
  t->comparator = -1;
  switch (op->kind) {
    case LHLO_FUSION: fill_kernel(b, op, t); break;
    case LHLO_LIBRARY: fill_library(b, op, t); break;
    case LHLO_COPY: t->kind = THUNK_COPY; break;
    case LHLO_WHILE:
    case LHLO_CONDITIONAL:
    case LHLO_CALL: fill_bodies(b, op, t); break;
  }
  fill_uses(b, op, t);
  return t;
}

// Nothing to do, and no code for it: an operation all of whose results are empty.
static bool is_empty(const lhlo_op *op) { return op->kind == LHLO_FUSION && op->kernel->launch.tiles == 0; }

static program_sequence build_body(program_builder *b, const lhlo_body *body) {
  const program_thunk **thunks = arena_array(b->arena, const program_thunk *, body->ops.size);
  int count = 0;
  for (int i = 0; i < body->ops.size; i++)
    if (!is_empty(body->ops.data[i])) thunks[count++] = build_op(b, body->ops.data[i]);
  return (program_sequence){.count = count, .thunks = thunks};
}

// --- the whole

static const void *constant_bytes(arena *a, const lhlo_allocation *from) {
  // The arena aligns to less than a kernel's vector loads ask for.
  char *raw = arena_alloc(a, (size_t)from->bytes + 64);
  char *data = raw + (-(uintptr_t)raw & 63);
  memory_from_literal(from->value, from->shape, data);
  return data;
}

static void build_allocations(program_builder *b) {
  static const program_allocation_kind kinds[] = {[LHLO_PARAMETER] = PROGRAM_PARAMETER,
                                                  [LHLO_RESULT] = PROGRAM_RESULT,
                                                  [LHLO_CONSTANT] = PROGRAM_CONSTANT,
                                                  [LHLO_TEMPORARY] = PROGRAM_TEMPORARY};
  const lhlo_program *p = b->source;
  b->out->allocation_count = p->allocation_count;
  b->out->allocations = arena_array(b->arena, program_allocation, p->allocation_count);
  for (int i = 0; i < p->allocation_count; i++) {
    const lhlo_allocation *from = &p->allocations[i];
    b->out->allocations[i] =
        (program_allocation){.kind = kinds[from->kind],
                             .number = from->number,
                             .bytes = from->bytes,
                             .data = from->kind == LHLO_CONSTANT ? constant_bytes(b->arena, from) : NULL,
                             .donated_parameter = from->kind == LHLO_RESULT ? from->donated_parameter : -1};
  }
}

static void build_kernels(program_builder *b, const object_code *objects) {
  b->out->kernel_count = b->kernels->count;
  b->out->kernels = arena_array(b->arena, program_kernel, b->kernels->count);
  for (int i = 0; i < b->kernels->count; i++)
    b->out->kernels[i] = (program_kernel){.name = b->kernels->plans[i]->name,
                                          .object = objects[i].data,
                                          .object_size = objects[i].size,
                                          .buffer_count = b->kernels->plans[i]->slice_count};
}

heddle_status program_build(arena *a, const lhlo_program *p, const program_kernels *kernels, const object_code *objects,
                            program *out) {
  *out = (program){.name = arena_printf(a, STR_FMT, STR_ARG(p->module->name)),
                   .parameter_count = p->parameter_count,
                   .result_count = p->result_count,
                   .device_count = p->device_count,
                   .temporary_bytes = p->temporary_bytes};
  program_builder b = {.arena = a, .source = p, .kernels = kernels, .out = out};
  build_allocations(&b);
  build_kernels(&b, objects);
  out->entry = build_body(&b, &p->entry);
  out->slices = b.slices.data;
  out->slice_count = b.slices.size;
  return status_ok();
}
