// What one kernel would cost.
//
// A kernel keeps no array: a value that is read at several indices is computed for each of them. Every value of the
// body carries how many evaluations it takes and at which index it is read; readers at one index share an evaluation,
// other readers add theirs, and everything below such a value is evaluated as often as the value.
#include "fuse/cluster.h"
#include "fuse/fusion_cost.h"

typedef struct evaluation {
  double times;
  uint64_t index;  // of all readers so far
  bool is_split;   // read at several indices: an index of its own
} evaluation;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// Two readers with equal dims at one index read at one index again.
static uint64_t index_of(const instruction *i, int k, uint64_t own) {
  if (fusion_cost_reads_in_place(i, k)) return own;
  const hlo_attributes *x = i->attributes;
  uint64_t hash = mix(own, (uint64_t)i->opcode);
  switch (i->opcode) {
    case HLO_BROADCAST:
    case HLO_TRANSPOSE:
    case HLO_REVERSE: break;
    case HLO_REDUCE: hash = mix(hash, k < i->operand_count / 2); break;
    case HLO_SLICE:
      for (int d = 0; d < x->slice.rank; d++)
        hash = mix(mix(hash, (uint64_t)x->slice.dims[d].start), (uint64_t)x->slice.dims[d].stride);
      break;
    default: hash = mix(mix(hash, i->mark), (uint64_t)k);
  }
  for (int d = 0; d < x->dimensions.size; d++) hash = mix(hash, (uint64_t)x->dimensions.data[d]);
  const shape *s = i->operands[k]->shape;
  for (int d = 0; d < s->rank; d++) hash = mix(hash, (uint64_t)s->dims[d]);
  return hash;
}

static void add_reader(evaluation *e, uint64_t index, double times) {
  if (e->times <= 0) {
    *e = (evaluation){.times = times, .index = index};
  } else if (e->index == index) {
    e->times = times > e->times ? times : e->times;
  } else {
    e->times += times;
    e->is_split = true;
  }
}

static double count_of(const instruction *i) { return (double)shape_element_count(fusion_cost_array_of(i->shape)); }

static void note_readers(const cluster_graph *g, const cluster_body *body, evaluation *all, int n, bool passes) {
  const instruction *i = g->nodes[body->nodes.data[n]].instruction;
  evaluation *own = &all[n];
  if (own->times <= 0 || passes) *own = (evaluation){.times = count_of(i)};  // stored, or held for the row
  uint64_t index = own->is_split ? mix(0, i->mark) : own->index;
  for (int k = 0; k < i->operand_count; k++) {
    int slot = g->nodes[i->operands[k]->mark].slot;
    add_reader(&all[slot], index_of(i, k, index), own->times * fusion_cost_reads(i, k));
  }
}

// Of an input no more than all its bytes come from memory.
static double bytes_of(const instruction *i, double times) {
  const shape *s = i->shape;
  if (!shape_is_array(s)) return 0;
  double count = (double)shape_element_count(s), touched = times < count ? times : count;
  return touched * dtypes[s->dtype].bits / 8;
}

static double memory_time(const target_description *t, const instruction *i, double bytes) {
  return bytes > 0 ? bytes / (double)shape_byte_size(i->shape) * fusion_cost_memory_time(t, i->shape) / 2 : 0;
}

cluster_cost cluster_cost_of(cluster_graph *g, int l, int r) {
  arena *scratch = arena_create();
  cluster_body body;
  cluster_body_of(scratch, g, l, r, &body);
  cluster_cost cost = {.instructions = body.nodes.size, .values = body.inputs.size};
  const int count = body.nodes.size;
  evaluation *all = arena_array(scratch, evaluation, count + body.inputs.size);
  for (int n = 0; n < count; n++) g->nodes[body.nodes.data[n]].slot = n;
  for (int n = 0; n < body.inputs.size; n++) g->nodes[body.inputs.data[n]].slot = count + n;
  const bool passes = g->clusters.data[r].traits & CLUSTER_ROW_PASSES;
  double memory = 0, compute = 0;
  for (int n = count - 1; n >= 0; n--) {
    const instruction *i = g->nodes[body.nodes.data[n]].instruction;
    bool is_output = all[n].times <= 0;
    note_readers(g, &body, all, n, passes);
    double operations = all[n].times * fusion_cost_operations(i);
    cost.operations += operations;
    compute += fusion_cost_compute_time(g->target, operations, count_of(i));
    double repeats = all[n].times / (count_of(i) > 0 ? count_of(i) : 1);
    if (hlo_op_has(i->opcode, TRAIT_EXPENSIVE) && repeats > cost.repeats) cost.repeats = repeats;
    if (!is_output) continue;
    cost.bytes += bytes_of(i, count_of(i));
    cost.values++;
    memory += memory_time(g->target, i, bytes_of(i, count_of(i)));
  }
  for (int n = 0; n < body.inputs.size; n++) {
    const instruction *i = g->nodes[body.inputs.data[n]].instruction;
    double bytes = bytes_of(i, all[count + n].times);
    cost.bytes += bytes;
    memory += memory_time(g->target, i, bytes);
  }
  cost.time = compute > memory ? compute : memory;
  arena_destroy(scratch);
  return cost;
}
