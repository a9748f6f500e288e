// Makes operations on slices of a module's values and their offsets.
#include "lhlo/build.h"

#include "fuse/trip_count.h"
#include "hlo/device_groups.h"
#include "lhlo/buffer_assignment.h"
#include "lhlo/footprint.h"
#include "lhlo/kernel_sharing.h"
#include "lhlo/verify.h"

typedef struct lhlo_builder {
  arena *arena;
  arena *scratch;
  buffer_values values;
  buffer_assignment assignment;
  kernel_sharing kernels;
} lhlo_builder;

static lhlo_slice *slices_of(lhlo_builder *b, int count, const int *values, const shape *const *shapes) {
  lhlo_slice *slices = arena_array(b->arena, lhlo_slice, count);
  for (int k = 0; k < count; k++) slices[k] = buffer_assignment_slice(&b->assignment, values[k], shapes[k]);
  return slices;
}

static lhlo_op *new_op(lhlo_builder *b, lhlo_kind kind, const buffer_event *e) {
  lhlo_op *op = arena_new(b->arena, lhlo_op);
  *op = (lhlo_op){.kind = kind,
                  .source = e->source,
                  .operand_count = e->operand_count,
                  .operands = slices_of(b, e->operand_count, e->operands, e->operand_shapes),
                  .result_count = e->result_count,
                  .results = slices_of(b, e->result_count, e->results, e->result_shapes),
                  .trip_count = e->operation == LHLO_WHILE ? trip_count_of(e->source) : -1};
  if (e->control >= 0)
    op->control = buffer_assignment_slice(&b->assignment, e->control, b->values.values.data[e->control].shape);
  return op;
}

static bool same_memory(const lhlo_slice *l, const lhlo_slice *r) {
  return l->allocation == r->allocation && l->offset == r->offset;
}

// --- copies

static void add_copies(lhlo_builder *b, const buffer_event *e, int number, lhlo_body *out) {
  for (int k = 0; k < e->operand_count; k++) {
    lhlo_slice *slices = arena_array(b->arena, lhlo_slice, 2);
    slices[0] = buffer_assignment_slice(&b->assignment, e->operands[k], e->operand_shapes[k]);
    slices[1] = buffer_assignment_slice(&b->assignment, e->results[k], e->result_shapes[k]);
    if (same_memory(&slices[0], &slices[1]) || kernel_buffer_bytes(slices[0].shape) == 0) continue;
    lhlo_op *op = arena_new(b->arena, lhlo_op);
    *op = (lhlo_op){.kind = LHLO_COPY,
                    .source = e->source,
                    .operand_count = 1,
                    .operands = slices,
                    .result_count = 1,
                    .results = slices + 1,
                    .trip_count = -1,
                    .live_bytes = b->assignment.live_bytes[number]};
    footprint_find(b->scratch, b->assignment.allocations, op);
    arena_reset(b->scratch);
    vec_push(b->arena, &out->ops, op);
  }
}

// --- kernels

// Results that lie where an operand lies.
static int aliases_of(lhlo_builder *b, const buffer_event *e, kernel_alias *out) {
  int count = 0;
  ptr_map operands = {0};
  const buffer_value *values = b->values.values.data;
  for (int k = 0; k < e->operand_count; k++)
    ptr_map_put(b->arena, &operands, &values[buffer_representative(&b->values, e->operands[k])], &e->operands[k]);
  for (int k = 0; k < e->result_count; k++) {
    const int *operand = ptr_map_get(&operands, &values[buffer_representative(&b->values, e->results[k])]);
    if (operand) out[count++] = (kernel_alias){.result = k, .parameter = (int)(operand - e->operands)};
  }
  return count;
}

static heddle_status plan_kernel(lhlo_builder *b, const buffer_event *e, lhlo_op *op) {
  kernel_alias *aliases = arena_array(b->arena, kernel_alias, e->result_count);
  int count = aliases_of(b, e, aliases);
  return kernel_sharing_find(&b->kernels, e->source, count, aliases, &op->kernel);
}

// --- operations

static heddle_status build_body(lhlo_builder *b, const buffer_body *from, lhlo_body *out);

static heddle_status build_op(lhlo_builder *b, const buffer_event *e, lhlo_op *op) {
  switch (op->kind) {
    case LHLO_FUSION: return plan_kernel(b, e, op);
    case LHLO_LIBRARY: {
      library_call *call = arena_new(b->arena, library_call);
      op->library = call;
      return library_describe(b->arena, e->source, call);
    }
    default: break;
  }
  op->body_count = e->body_count;
  op->bodies = arena_array(b->arena, lhlo_body, e->body_count);
  for (int k = 0; k < e->body_count; k++) TRY(build_body(b, &e->bodies[k], &op->bodies[k]));
  return status_ok();
}

static heddle_status build_body(lhlo_builder *b, const buffer_body *from, lhlo_body *out) {
  for (int k = 0; k < from->events.size; k++) {
    const int number = from->events.data[k];
    const buffer_event *e = b->values.events.data[number];
    if (e->kind == BUFFER_COPIES) {
      add_copies(b, e, number, out);
      continue;
    }
    lhlo_op *op = new_op(b, e->operation, e);
    TRY(build_op(b, e, op));
    op->live_bytes = b->assignment.live_bytes[number];
    footprint_find(b->scratch, b->assignment.allocations, op);
    arena_reset(b->scratch);
    vec_push(b->arena, &out->ops, op);
  }
  return status_ok();
}

heddle_status lhlo_build(arena *a, const module *m, const target_description *target, lhlo_program **out) {
  lhlo_builder b = {.arena = a, .kernels = {.arena = a, .target = *target}};
  int devices;
  TRY(device_groups_count(m, &devices));
  TRY(buffer_values_find(a, m, target, &b.values));
  TRY(buffer_assignment_find(a, &b.values, &b.assignment));
  lhlo_program *p = arena_new(a, lhlo_program);
  *p = (lhlo_program){.module = m,
                      .target = *target,
                      .parameter_count = b.values.parameter_count,
                      .parameters = b.values.parameters,
                      .result_count = b.values.result_count,
                      .results = b.values.results,
                      .allocation_count = b.assignment.allocation_count,
                      .allocations = b.assignment.allocations,
                      .device_count = devices,
                      .partition_count = device_groups_partitions(m),
                      .temporary_bytes = b.assignment.temporary_bytes,
                      .least_temporary_bytes = b.assignment.most_live_bytes};
  TRY(dynamic_results_find(a, m, p->result_count, (const shape *const *)p->results, &p->dynamic));
  b.scratch = arena_create();
  heddle_status s = build_body(&b, &b.values.entry, &p->entry);
  arena_destroy(b.scratch);
  TRY(s);
  p->kernel_count = b.kernels.kernels.size;
  p->kernels = b.kernels.kernels.data;
  p->peak_bytes = lhlo_peak_bytes(p);
  footprint_sum_up(p);
  *out = p;
#ifndef NDEBUG
  TRY(lhlo_verify(p));
#endif
  return status_ok();
}
