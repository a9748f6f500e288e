// Costs of single instructions. What is read how often follows from shapes alone; how kernels share what several users
// read at one place is the clusters' business (cluster_cost.c).
#include "fuse/fusion_cost.h"

#include "kernel/work_estimate.h"

// A scalar operand is computed once per tile, not once per element.
static const double elements_per_tile = 1024;

static double count_of(const shape *s) {
  int64_t count = shape_element_count(fusion_cost_array_of(s));
  return count > 0 ? (double)count : 1;
}

double fusion_cost_operations(const instruction *i) {
  const dtype_class class = dtypes[fusion_cost_array_of(i->shape)->dtype].class;
  const double parts = class == CLASS_COMPLEX ? 4 : 1;
  if (hlo_op_has(i->opcode, TRAIT_EXPENSIVE)) return WORK_EXPENSIVE * parts;
  switch (i->opcode) {
    // Integers are divided one by one: vectors have no instruction for that.
    case HLO_DIVIDE:
    case HLO_REMAINDER: return class == CLASS_FLOAT ? 5 : 20 * parts;
    // No work, but no kernel either that holds thousands of them for nothing.
    case HLO_BITCAST:
    case HLO_BROADCAST:
    case HLO_CONSTANT:
    case HLO_PARAMETER:
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT: return 0.1;
    case HLO_GATHER:
    case HLO_CONCATENATE:
    case HLO_PAD: return 4;
    case HLO_MAP:
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW: {
      double each = (double)i->called[0]->instructions.size;
      return each * (i->operand_count > 0 && i->opcode != HLO_MAP ? fusion_cost_reads(i, 0) : 1);
    }
    case HLO_DOT:
    case HLO_CONVOLUTION: return 2 * fusion_cost_reads(i, 0);
    default: return parts;
  }
}

double fusion_cost_compute_time(const target_description *t, double operations, double elements) {
  double all = t->vector_lanes, lanes = elements < all ? elements : all;
  return operations / t->operations_per_ns * all / (lanes > 1 ? lanes : 1);
}

double fusion_cost_memory_time(const target_description *t, const shape *s) {
  double bytes = (double)shape_byte_size(s);
  return target_bytes_time(t, 2 * bytes, bytes);
}

double fusion_cost_reads(const instruction *i, int k) {
  const shape *x = i->operands[k]->shape;
  if (!shape_is_array(x)) return 1;
  const double results = count_of(i->shape), elements = count_of(x);
  if (x->rank == 0) return results > elements_per_tile ? 1 / elements_per_tile : 1 / results;
  switch (hlo_ops[i->opcode].index_rule) {
    case INDEX_RULE_REDUCE:
    case INDEX_RULE_PAD:
    case INDEX_RULE_CONCATENATE: return elements / results;
    case INDEX_RULE_DYNAMIC_UPDATE_SLICE: return k == 0 ? 1 : elements / results;
    case INDEX_RULE_SCATTER: return elements / results;
    case INDEX_RULE_GATHER: return k == 0 ? 1 : (double)i->attributes->start_index_map.size;
    default: return work_estimate_terms(i);
  }
}

bool fusion_cost_reads_in_place(const instruction *i, int k) {
  const shape *s = fusion_cost_array_of(i->shape), *x = fusion_cost_array_of(i->operands[k]->shape);
  switch (hlo_ops[i->opcode].index_rule) {
    case INDEX_RULE_ELEMENTWISE: return shape_same_dims(s, x);
    case INDEX_RULE_GET_TUPLE_ELEMENT: return true;
    case INDEX_RULE_BITCAST: return dtypes[s->dtype].bits == dtypes[x->dtype].bits;
    default: return false;
  }
}
