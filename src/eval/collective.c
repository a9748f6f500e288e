// Collectives: every member of a group brings its operands to a meeting, and each computes its own result from all of
// them. A group of one has nobody to meet.
//
// The -start forms do all of the work; -done picks the result out of their tuple.
#include "eval/collective.h"

#include "base/int64.h"
#include "eval/scalar_program.h"
#include "eval/strided.h"
#include "hlo/permute_slices.h"

// The operands of all members: brought[member][k].
typedef struct gathering {
  collective_group group;
  meeting *meeting;  // null for a group of one
  value *const *own;
  collective_arrivals arrivals;  // collective-permute: what is sent to this process
  arena *scratch;
} gathering;

static value *brought(const gathering *g, int member, int operand) {
  return g->meeting ? g->meeting->values[member][operand] : g->own[operand];
}

static heddle_status meet(interpreter *in, const instruction *i, value *const *operands, gathering *g) {
  g->own = operands;
  if (g->group.size < 2) return status_ok();
  return process_meet(in, i, g->group.members, g->group.size, i->operand_count, operands, &g->meeting);
}

// Result k's shape; of a -start form, that of the result in its tuple.
static const shape *result_shape(const instruction *i, int k) {
  const shape *s = i->shape;
  if (i->opcode == HLO_ALL_GATHER_START || i->opcode == HLO_COLLECTIVE_PERMUTE_START)
    s = shape_is_tuple(s) && s->tuple_size > 1 ? s->elements[1] : s;
  return shape_is_tuple(s) && k < s->tuple_size ? s->elements[k] : s;
}

static heddle_status wrong_size(const instruction *i, const char *what, int64_t found, int64_t wanted) {
  return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT ": found %s of %lld, wanted %lld", hlo_op_text(i->opcode),
                   STR_ARG(i->name), what, (long long)found, (long long)wanted);
}

// One result of a collective; `out` is a new reference. Run with all operands at hand.
typedef heddle_status (*collective_fn)(interpreter *in, const instruction *i, const gathering *g, int k, value **out);

// A box of `from` that begins at `start` along `dim`, to place `at` of `to`.
static void copy_part(const value *from, int64_t start, int64_t size, value *to, int64_t at, int dim) {
  int64_t dims[SHAPE_MAX_RANK], from_start[SHAPE_MAX_RANK] = {0}, to_start[SHAPE_MAX_RANK] = {0};
  memcpy(dims, to->shape->dims, (size_t)to->shape->rank * sizeof *dims);
  dims[dim] = size;
  from_start[dim] = start;
  to_start[dim] = at;
  const shape box = {.dtype = to->shape->dtype, .rank = to->shape->rank, .dims = dims};
  strided_copy_box(&box, to->shape, to_start, to->data, from->shape, from_start, from->data);
}

static bool differs_in_one(const shape *l, const shape *r, int dim) {
  if (!shape_is_array(l) || !shape_is_array(r) || l->dtype != r->dtype || l->rank != r->rank) return false;
  for (int d = 0; d < l->rank; d++)
    if (d != dim && l->dims[d] != r->dims[d]) return false;
  return dim >= 0 && dim < l->rank;
}

static heddle_status gather_all(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  const shape *s = result_shape(i, k), *own = g->own[k]->shape;
  const int dim = i->attributes->dimensions.size == 1 ? (int)i->attributes->dimensions.data[0] : -1;
  if (!differs_in_one(s, own, dim)) return interpreter_refuse(i, "a result of this shape");
  const int64_t size = own->dims[dim];
  if (s->dims[dim] != size * g->group.size)
    return wrong_size(i, "a gathered dimension", s->dims[dim], size * g->group.size);
  TRY(value_create(&in->pool, s, i->where, out));
  for (int m = 0; m < g->group.size; m++) copy_part(brought(g, m, k), 0, size, *out, m * size, dim);
  return status_ok();
}

// Lanes first … of all members' operand k, from the left.
static heddle_status reduce_lanes(interpreter *in, const gathering *g, int k, scalar_program *p, int64_t first,
                                  int64_t lanes, value *result) {
  compute_block sum, next;
  const dtype t = g->own[k]->shape->dtype;
  const void *inputs[2] = {&sum, &next};
  void *outputs[1] = {&sum};
  compute_load(t, brought(g, 0, k)->data, first, lanes, &sum);
  for (int m = 1; m < g->group.size; m++) {
    compute_load(t, brought(g, m, k)->data, first, lanes, &next);
    TRY(scalar_program_run(in, p, lanes, inputs, outputs));
  }
  compute_store(result->shape->dtype, result->data, first, lanes, &sum);
  return status_ok();
}

static dtype_class compute_class(dtype t) {
  dtype_class class = dtypes[t].class;
  return class & (CLASS_FLOAT | CLASS_COMPLEX) ? class : CLASS_INTEGER;
}

// Operand k reduced over the members, under its own shape.
static heddle_status reduce_members(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  scalar_program *p;
  const value *own = g->own[k];
  if (!shape_is_array(own->shape)) return interpreter_refuse(i, "operands other than arrays");
  TRY(scalar_program_of(in, i, 0, SCALAR_WIDE, &p));
  if (scalar_program_result_count(p) != 1 || i->called[0]->parameters.size != 2 ||
      compute_class(scalar_program_result_type(p, 0)) != compute_class(own->shape->dtype))
    return interpreter_refuse(i, "a computation of other types");
  TRY(value_create(&in->pool, own->shape, i->where, out));
  const int64_t total = shape_element_count(own->shape);
  for (int64_t first = 0; first < total; first += COMPUTE_LANES) {
    const int64_t lanes = total - first < COMPUTE_LANES ? total - first : COMPUTE_LANES;
    heddle_status status = reduce_lanes(in, g, k, p, first, lanes, *out);
    if (status_is_ok(status)) continue;
    value_release(*out);
    return status;
  }
  return status_ok();
}

// The same, which one member does for all that run its instruction.
static heddle_status reduce_all(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  value **shared = g->meeting && g->meeting->instruction == i ? &g->meeting->shared[k] : NULL;
  if (shared && *shared) {
    *out = value_retain(*shared);
    return status_ok();
  }
  TRY(reduce_members(in, i, g, k, out));
  if (shared) *shared = value_retain(*out);
  return status_ok();
}

static heddle_status reduce_scatter(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  const int dim = (int)i->attributes->dimensions.data[0];
  const shape *s = result_shape(i, k);
  if (s->dims[dim] * g->group.size != g->own[k]->shape->dims[dim])
    return wrong_size(i, "a scattered dimension", g->own[k]->shape->dims[dim], s->dims[dim] * g->group.size);
  value *sum;
  TRY(reduce_all(in, i, g, k, &sum));
  heddle_status status = value_create(&in->pool, s, i->where, out);
  if (status_is_ok(status)) copy_part(sum, g->group.self * s->dims[dim], s->dims[dim], *out, 0, dim);
  value_release(sum);
  return status;
}

// The sum stays with the first member.
static heddle_status reduce_to_one(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  if (g->group.size && g->group.self == 0) return reduce_all(in, i, g, k, out);
  return value_create_zeros(&in->pool, result_shape(i, k), i->where, out);
}

// With a split dimension every operand is cut and what comes in is joined; without, operand m goes to member m.
static heddle_status exchange_all(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  const int members = g->group.size;
  if (!attributes_has(i->attributes, HLO_ATTRIBUTE_DIMENSIONS)) {
    if (i->operand_count != members) return wrong_size(i, "operands", i->operand_count, members);
    *out = value_retain(brought(g, k, g->group.self));
    return status_ok();
  }
  if (i->attributes->dimensions.size != 1) return wrong_size(i, "dimensions", i->attributes->dimensions.size, 1);
  const int dim = (int)i->attributes->dimensions.data[0];
  const shape *s = result_shape(i, k);
  if (!differs_in_one(s, g->own[k]->shape, dim)) return wrong_size(i, "a split dimension", dim, s->rank - 1);
  const int64_t size = s->dims[dim] / members;
  if (s->dims[dim] != g->own[k]->shape->dims[dim] || size * members != s->dims[dim])
    return wrong_size(i, "a split dimension", s->dims[dim], size * members);
  TRY(value_create(&in->pool, s, i->where, out));
  for (int m = 0; m < members; m++) copy_part(brought(g, m, k), g->group.self * size, size, *out, m * size, dim);
  return status_ok();
}

static heddle_status take_first(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  if (g->group.size == 0) return value_create_zeros(&in->pool, result_shape(i, k), i->where, out);
  *out = value_retain(brought(g, 0, k));
  return status_ok();
}

// The operands of ragged-all-to-all.
enum { RAGGED_INPUT, RAGGED_OUTPUT, RAGGED_INPUT_OFFSETS, RAGGED_SEND_SIZES, RAGGED_OUTPUT_OFFSETS, RAGGED_RECV_SIZES };

// Rows that member `m` sends as its entry `entry`, to the places that it names.
static heddle_status copy_rows(const instruction *i, const gathering *g, int m, int64_t entry, value *output) {
  const value *input = brought(g, m, RAGGED_INPUT);
  const int64_t from = value_get_int(brought(g, m, RAGGED_INPUT_OFFSETS), entry),
                size = value_get_int(brought(g, m, RAGGED_SEND_SIZES), entry),
                to = value_get_int(brought(g, m, RAGGED_OUTPUT_OFFSETS), entry);
  const int64_t input_rows = input->shape->dims[0], output_rows = output->shape->dims[0];
  const bool fits = from >= 0 && size >= 0 && to >= 0 && size <= input_rows && from <= input_rows - size &&
                    size <= output_rows && to <= output_rows - size;
  if (!fits)
    return status_at(HEDDLE_INVALID, i->where, "process %d sends %lld rows from row %lld of %lld to row %lld of %lld",
                     g->group.members[m], (long long)size, (long long)from, (long long)input_rows, (long long)to,
                     (long long)output_rows);
  copy_part(input, from, size, output, to, 0);
  return status_ok();
}

// The members' rows over what the output held. The lists of offsets and sizes have one or more entries for each member.
static heddle_status exchange_ragged(interpreter *in, const instruction *i, const gathering *g, int unused,
                                     value **out) {
  (void)unused;
  const value *output = g->own[RAGGED_OUTPUT];
  const int members = g->group.size;
  const int64_t entries = shape_element_count(g->own[RAGGED_INPUT_OFFSETS]->shape);
  for (int j = RAGGED_INPUT_OFFSETS; j <= RAGGED_RECV_SIZES; j++)
    if (!shape_is_array(g->own[j]->shape) || shape_element_count(g->own[j]->shape) != entries)
      return wrong_size(i, "a list of sizes", shape_element_count(g->own[j]->shape), entries);
  if (entries % members) return wrong_size(i, "sizes", entries, members);
  if (!shape_is_array(output->shape) || !differs_in_one(output->shape, g->own[RAGGED_INPUT]->shape, 0))
    return interpreter_refuse(i, "an output of this shape");
  TRY(value_copy(&in->pool, output, out));
  const int64_t updates = entries / members;
  for (int64_t k = 0; k < entries; k++) {
    heddle_status status = copy_rows(i, g, (int)(k / updates), g->group.self * updates + k % updates, *out);
    if (status_is_ok(status)) continue;
    value_release(*out);
    return status;
  }
  return status_ok();
}

// All results under the instruction's shape.
static heddle_status collect(interpreter *in, const instruction *i, const gathering *g, collective_fn fn, int count,
                             bool is_tuple, const shape *s, value **out) {
  value **results = arena_array(g->scratch, value *, count);
  heddle_status status = status_ok();
  for (int k = 0; k < count && status_is_ok(status); k++) {
    value *result = NULL;
    status = fn(in, i, g, k, &result);
    if (status_is_ok(status)) results[k] = result;
  }
  if (status_is_ok(status)) {
    if (is_tuple) status = value_create_tuple(&in->pool, s, results, i->where, out);
    else *out = value_retain(results[0]);
  }
  for (int k = 0; k < count; k++) value_release(results[k]);
  return status;
}

// (operands, results, contexts): what -done forms take apart. Of a permute of slices, the inputs stand for the
// operands.
static heddle_status wrap_start(interpreter *in, const instruction *i, value *const *operands, value *result,
                                arena *scratch, value **out) {
  const shape *s = i->shape;
  const bool gives_inputs = permute_slices_has(i);
  const int starts = shape_is_tuple(s->elements[0]) ? s->elements[0]->tuple_size : 1;
  if (!gives_inputs && starts != i->operand_count) return wrong_size(i, "operands", i->operand_count, starts);
  value **elements = arena_array(scratch, value *, s->tuple_size);
  heddle_status status = status_ok();
  if (shape_is_tuple(s->elements[0]) && !gives_inputs)
    status = value_create_tuple(&in->pool, s->elements[0], operands, i->where, &elements[0]);
  else elements[0] = value_retain(operands[0]);
  elements[1] = value_retain(result);
  for (int k = 2; k < s->tuple_size && status_is_ok(status); k++)
    status = value_create_zeros(&in->pool, s->elements[k], i->where, &elements[k]);
  if (status_is_ok(status)) status = value_create_tuple(&in->pool, s, elements, i->where, out);
  for (int k = 0; k < s->tuple_size; k++) value_release(elements[k]);
  return status;
}

static bool is_wrapped_start(const instruction *i) {
  return (i->opcode == HLO_ALL_GATHER_START || i->opcode == HLO_COLLECTIVE_PERMUTE_START) && shape_is_tuple(i->shape) &&
         i->shape->tuple_size >= 2;
}

static heddle_status conclude(interpreter *in, const instruction *i, value *const *operands, const gathering *g,
                              collective_fn fn, value **out) {
  const shape *s = is_wrapped_start(i) ? i->shape->elements[1] : i->shape;
  const bool is_tuple = shape_is_tuple(s);
  const int count = is_tuple ? s->tuple_size : 1;
  const bool has_others = i->opcode == HLO_RAGGED_ALL_TO_ALL || permute_slices_has(i);
  if (!has_others && count != i->operand_count) return wrong_size(i, "results", count, i->operand_count);
  value *result;
  TRY(collect(in, i, g, fn, count, is_tuple, s, &result));
  if (!is_wrapped_start(i)) {
    *out = result;
    return status_ok();
  }
  heddle_status status = wrap_start(in, i, operands, result, g->scratch, out);
  value_release(result);
  return status;
}

// Where slice n of buffer b starts, as `starts` says and where all of the slice is inside of the buffer.
static void find_start(const permute_slices *p, const value *starts, const shape *buffer, int_list sizes, int b, int n,
                       int64_t *start) {
  if (p->has_tuple_of_buffers) starts = starts->elements[b];
  if (p->has_lists_of_starts) starts = starts->elements[n];
  for (int d = 0; d < buffer->rank; d++) {
    const int64_t last = buffer->dims[d] - sizes.data[d];
    start[d] = int64_clamp(0, value_get_index(starts->elements[d], 0), last);
  }
}

static const value *buffer_of(const permute_slices *p, const value *all, int b) {
  return p->has_tuple_of_buffers ? all->elements[b] : all;
}

// The slice that arrives by a pair, into the output.
static void copy_slice(const instruction *i, const gathering *g, const permute_slices *p, collective_arrival arrival,
                       int b, value *to) {
  const int sent = permute_slices_number(i, arrival.pair, 0), received = permute_slices_number(i, arrival.pair, 1);
  const value *from = buffer_of(p, brought(g, arrival.source, PERMUTE_INPUT), b);
  const int_list sizes = permute_slices_sizes(p, i, b, received);
  int64_t from_start[SHAPE_MAX_RANK], to_start[SHAPE_MAX_RANK];
  find_start(p, brought(g, arrival.source, PERMUTE_INPUT_STARTS), from->shape, sizes, b, sent, from_start);
  find_start(p, g->own[PERMUTE_OUTPUT_STARTS], to->shape, sizes, b, received, to_start);
  const shape box = {.dtype = to->shape->dtype, .rank = to->shape->rank, .dims = sizes.data};
  strided_copy_box(&box, to->shape, to_start, to->data, from->shape, from_start, from->data);
}

static heddle_status permute_parts(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  permute_slices p;
  TRY(permute_slices_of(i, &p));
  TRY(value_copy(&in->pool, buffer_of(&p, g->own[PERMUTE_OUTPUT], k), out));
  for (int n = 0; n < g->arrivals.size; n++) copy_slice(i, g, &p, g->arrivals.data[n], k, *out);
  return status_ok();
}

// What this process's source brought, or zeros.
static heddle_status permute(interpreter *in, const instruction *i, const gathering *g, int k, value **out) {
  if (permute_slices_has(i)) return permute_parts(in, i, g, k, out);
  const int count = g->arrivals.size;
  if (count == 0) return value_create_zeros(&in->pool, g->own[k]->shape, i->where, out);
  *out = value_retain(brought(g, g->arrivals.data[count - 1].source, k));
  return status_ok();
}

static const collective_fn collective_fns[HLO_OPCODE_COUNT] = {
    [HLO_ALL_GATHER] = gather_all,           [HLO_ALL_GATHER_START] = gather_all,
    [HLO_ALL_REDUCE] = reduce_all,           [HLO_ALL_REDUCE_START] = reduce_all,
    [HLO_ALL_TO_ALL] = exchange_all,         [HLO_COLLECTIVE_BROADCAST] = take_first,
    [HLO_COLLECTIVE_PERMUTE] = permute,      [HLO_COLLECTIVE_PERMUTE_START] = permute,
    [HLO_COLLECTIVE_REDUCE] = reduce_to_one, [HLO_RAGGED_ALL_TO_ALL] = exchange_ragged,
    [HLO_REDUCE_SCATTER] = reduce_scatter,
};

// The other operations give zeros to who is in no group.
static bool needs_group(hlo_opcode op) {
  const collective_fn fn = collective_fns[op];
  return fn != take_first && fn != reduce_to_one && fn != permute;
}

static heddle_status find_group(interpreter *in, const instruction *i, gathering *g) {
  if (collective_fns[i->opcode] != permute) return collective_group_of(in, i, g->scratch, &g->group);
  return collective_pairs_of(in, i, g->scratch, &g->group, &g->arrivals);
}

// Few of these shapes are checked by a rule. Takes over the reference.
static heddle_status check_result(const instruction *i, value *result, value **out) {
  if (value_fits(result, i->shape)) {
    *out = result;
    return status_ok();
  }
  value_release(result);
  return interpreter_refuse(i, "a result of this shape");
}

heddle_status eval_collective(interpreter *in, const instruction *i, value *const *operands, value **out) {
  gathering g = {.scratch = arena_create()};
  heddle_status status = find_group(in, i, &g);
  if (status_is_ok(status) && g.group.size == 0 && needs_group(i->opcode))
    status = status_at(HEDDLE_INVALID, i->where, "process %d is in no group of %s " STR_FMT, in->process->id,
                       hlo_op_text(i->opcode), STR_ARG(i->name));
  if (status_is_ok(status)) status = meet(in, i, operands, &g);
  value *result = NULL;
  if (status_is_ok(status)) {
    status = conclude(in, i, operands, &g, collective_fns[i->opcode], &result);
    if (g.meeting) process_leave(in, g.meeting);
  }
  arena_destroy(g.scratch);
  return status_is_ok(status) ? check_result(i, result, out) : status;
}

// The result of a start; all-reduce-start's own value is its result.
heddle_status eval_collective_done(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in;
  const bool is_wrapped =
      i->opcode != HLO_ALL_REDUCE_DONE && shape_is_tuple(operands[0]->shape) && operands[0]->element_count >= 2;
  return check_result(i, value_retain(is_wrapped ? operands[0]->elements[1] : operands[0]), out);
}

static heddle_status eval_number(interpreter *in, const instruction *i, int number, value **out) {
  TRY(value_create(&in->pool, i->shape, i->where, out));
  literal view = {.shape = i->shape, .data = (*out)->data};
  literal_set_int(&view, 0, number);
  return status_ok();
}

heddle_status eval_partition_id(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  return eval_number(in, i, in->process->partition, out);
}

heddle_status eval_replica_id(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  return eval_number(in, i, in->process->replica, out);
}

// The text says nothing on who gets what: only alone is the result certain.
heddle_status eval_shuffle(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const process_grid *g = in->process->grid;
  if (process_grid_replicas(g) * process_grid_partitions(g) > 1) return interpreter_refuse(i, "several processes");
  *out = value_retain(operands[0]);
  return status_ok();
}
