// LHLO's text: the operations. What they read and write is checked where it stands.
#include "fuse/leaves.h"
#include "kernel/in_place.h"
#include "kernel/sizes.h"
#include "lhlo/memory.h"
#include "lhlo/reader.h"

// --- operands

static heddle_status read_slices(lhlo_reader *r, const ir_operation *op, int first, int count, lhlo_slice **out) {
  *out = arena_array(r->arena, lhlo_slice, count);
  for (int k = 0; k < count; k++) {
    const lhlo_slice *s = ptr_map_get(&r->slices, op->operands[first + k]);
    if (!s)
      return status_at(HEDDLE_INVALID, op->where, "operand %d of " STR_FMT " is no memory", first + k,
                       STR_ARG(op->name));
    (*out)[k] = *s;
    // The two are one memory. Under one name, what overlaps and what was written when is plain to see.
    const lhlo_allocation *x = &r->allocations.data[s->allocation];
    if (x->kind == LHLO_PARAMETER && r->receivers && r->receivers[x->number])
      return status_at(HEDDLE_INVALID, op->where, "operand %d of " STR_FMT " lies in %s, which is donated: wanted %s",
                       first + k, STR_ARG(op->name), x->name, r->receivers[x->number]);
  }
  return status_ok();
}

// `segments = array<i64: …>`: how many of the operands are what. Without it `read` operands are read and the others
// written, where the operation says how many it reads; -1 where it does not.
static heddle_status read_segments(lhlo_reader *r, const ir_operation *op, int count, int read, int64_t *out) {
  if (!ir_find(op, "segments") && read >= 0 && read <= op->operand_count) {
    out[0] = read;
    out[1] = op->operand_count - read;
    return status_ok();
  }
  int found = 0;
  const int64_t *values = NULL;
  int64_t sum = 0;
  const ir_attribute *x = ir_find(op, "segments");
  bool fits = x && ir_attribute_integers(r->arena, x, &values, &found) && found == count && values;
  for (int k = 0; fits && k < count; k++) {
    out[k] = values[k];
    fits = out[k] >= 0 && out[k] <= op->operand_count;
    sum += fits ? out[k] : 0;
  }
  if (fits && sum == op->operand_count) return status_ok();
  return status_at(HEDDLE_INVALID, op->where,
                   "found " STR_FMT " without its segments, wanted %d numbers that add up to %d", STR_ARG(op->name),
                   count, op->operand_count);
}

static heddle_status new_op(lhlo_reader *r, const ir_operation *from, lhlo_kind kind, int first,
                            const int64_t *segments, lhlo_op **out) {
  lhlo_op *op = arena_new(r->arena, lhlo_op);
  *op = (lhlo_op){.kind = kind, .operand_count = (int)segments[0], .result_count = (int)segments[1], .trip_count = -1};
  TRY(read_slices(r, from, first, op->operand_count, &op->operands));
  TRY(read_slices(r, from, first + op->operand_count, op->result_count, &op->results));
  ptr_map_put(r->arena, &r->sources, op, (void *)from);
  *out = op;
  return status_ok();
}

// --- what may be written

static heddle_status check_writable(lhlo_reader *r, const ir_operation *from, const lhlo_op *op) {
  for (int k = 0; k < op->result_count; k++) {
    const lhlo_allocation *x = &r->allocations.data[op->results[k].allocation];
    if (x->kind == LHLO_PARAMETER || x->kind == LHLO_CONSTANT)
      return status_at(HEDDLE_INVALID, from->where, "result %d is written to %s, which is only read", k, x->name);
    for (int j = 0; j < k; j++)
      if (lhlo_slices_overlap(&op->results[k], &op->results[j]))
        return status_at(HEDDLE_INVALID, from->where, "results %d and %d overlap", j, k);
  }
  return status_ok();
}

static heddle_status overlap(const ir_operation *from, int result, int operand) {
  return status_at(HEDDLE_INVALID, from->where, "result %d overlaps operand %d", result, operand);
}

static heddle_status check_apart(const ir_operation *from, const lhlo_op *op) {
  for (int k = 0; k < op->result_count; k++)
    for (int j = 0; j < op->operand_count; j++)
      if (lhlo_slices_overlap(&op->results[k], &op->operands[j])) return overlap(from, k, j);
  return status_ok();
}

// --- kernels

static bool has_pair(int count, const in_place_pair *pairs, int result, int operand) {
  for (int k = 0; k < count; k++)
    if (pairs[k].result == result && pairs[k].operand == operand) return true;
  return false;
}

static bool is_same(const lhlo_slice *l, const lhlo_slice *s) {
  return l->allocation == s->allocation && l->offset == s->offset &&
         kernel_buffer_bytes(l->shape) == kernel_buffer_bytes(s->shape);
}

// Results over operands: one operand each, and only where the kernel can do with it.
static heddle_status find_aliases(lhlo_reader *r, const ir_operation *from, const lhlo_op *op, kernel_alias *out,
                                  int *count) {
  in_place pairs;
  *count = 0;
  TRY(in_place_find(r->arena, op->source, &r->program->target, &pairs));
  for (int k = 0; k < op->result_count; k++) {
    int over = -1;
    for (int j = 0; j < op->operand_count; j++) {
      if (!lhlo_slices_overlap(&op->results[k], &op->operands[j])) continue;
      bool is_known = has_pair(pairs.must_count, pairs.must, k, j) || has_pair(pairs.may_count, pairs.may, k, j);
      if (over >= 0 || !is_known || !is_same(&op->results[k], &op->operands[j])) return overlap(from, k, j);
      over = j;
    }
    if (over >= 0) out[(*count)++] = (kernel_alias){k, over};
  }
  for (int k = 0; k < pairs.must_count; k++) {
    const lhlo_slice *result = &op->results[pairs.must[k].result];
    if (kernel_buffer_bytes(result->shape) > 0 && !is_same(result, &op->operands[pairs.must[k].operand]))
      return status_at(HEDDLE_INVALID, from->where, "result %d updates operand %d, wanted the same memory for both",
                       pairs.must[k].result, pairs.must[k].operand);
  }
  return status_ok();
}

static heddle_status find_function(lhlo_reader *r, const ir_operation *from, module **out) {
  const ir_attribute *callee = ir_find(from, "callee");
  if (!callee || callee->kind != IR_ATTR_SYMBOL)
    return status_at(HEDDLE_INVALID, from->where, "found " STR_FMT " without callee, wanted the function that it calls",
                     STR_ARG(from->name));
  lhlo_function *f = str_map_get(&r->functions, callee->text);
  if (!f) return status_at(HEDDLE_INVALID, from->where, "found no function @" STR_FMT, STR_ARG(callee->text));
  TRY(lhlo_lower_function(r, f));
  *out = f->lowered;
  return status_ok();
}

static heddle_status check_shapes(lhlo_reader *r, const ir_operation *from, const char *what, int count,
                                  const lhlo_slice *slices, const shape_list *wanted) {
  if (count != wanted->size)
    return status_at(HEDDLE_INVALID, from->where, "found %d %ss, wanted %d", count, what, wanted->size);
  for (int k = 0; k < count; k++)
    if (!shape_compatible(slices[k].shape, wanted->data[k]))
      return status_at(HEDDLE_INVALID, from->where, "%s %d has type %s, wanted %s", what, k,
                       shape_text(r->arena, slices[k].shape), shape_text(r->arena, wanted->data[k]));
  return status_ok();
}

static heddle_status check_interface(lhlo_reader *r, const ir_operation *from, const lhlo_op *op, const module *m) {
  shape_list parameters = {0}, results = {0};
  for (int k = 0; k < m->entry->parameters.size; k++)
    leaves_of_shape(r->arena, m->entry->parameters.data[k]->shape, &parameters);
  leaves_of_shape(r->arena, m->entry->root->shape, &results);
  TRY(check_shapes(r, from, "operand", op->operand_count, op->operands, &parameters));
  return check_shapes(r, from, "result", op->result_count, op->results, &results);
}

// A function knows no layouts; those of whole parameters and results come from the operands.
static heddle_status check_layouts(const ir_operation *from, const lhlo_op *op) {
  bool is_default = true;
  for (int k = 0; k < op->operand_count; k++) is_default &= shape_layout_is_default(op->operands[k].shape);
  for (int k = 0; k < op->result_count; k++) is_default &= shape_layout_is_default(op->results[k].shape);
  if (is_default) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, from->where,
                   "operands with a layout of their own are not supported: take a view");
}

// The arrays that the function takes.
static int taken(lhlo_reader *r, const module *m) {
  shape_list parameters = {0};
  for (int k = 0; m && k < m->entry->parameters.size; k++)
    leaves_of_shape(r->arena, m->entry->parameters.data[k]->shape, &parameters);
  return parameters.size;
}

// A kernel of the computation `m` on the operation's operands.
static heddle_status make_kernel(lhlo_reader *r, const ir_operation *from, module *m, lhlo_op *op) {
  int count = 0;
  if (op->result_count == 0) return status_at(HEDDLE_INVALID, from->where, "found a kernel that has no results");
  TRY(kernel_check_sizes(m));
  TRY(check_layouts(from, op));
  TRY(check_interface(r, from, op, m));
  TRY(check_writable(r, from, op));
  op->source = lhlo_make_fusion(r, m, from, FUSION_LOOP);
  kernel_alias *aliases = arena_array(r->arena, kernel_alias, op->result_count);
  TRY(find_aliases(r, from, op, aliases, &count));
  return kernel_sharing_find(&r->kernels, op->source, count, aliases, &op->kernel);
}

static heddle_status read_fusion(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  int64_t segments[3] = {0};
  module *m = NULL;
  if (from->region_count) {
    ir_operation *called;
    TRY(lhlo_outline_fusion(r, from, &called, &m));
    TRY(new_op(r, called, LHLO_FUSION, 0, (int64_t[]){taken(r, m), called->operand_count - taken(r, m)}, out));
    return make_kernel(r, called, m, *out);
  }
  TRY(find_function(r, from, &m));
  TRY(read_segments(r, from, 2, taken(r, m), segments));
  TRY(new_op(r, from, LHLO_FUSION, 0, segments, out));
  return make_kernel(r, from, m, *out);
}

// --- libraries

static heddle_status describe(lhlo_reader *r, const ir_operation *from, lhlo_op *op) {
  library_call *call = arena_new(r->arena, library_call);
  const target_description *target = &r->program->target;
  if (library_kind_of(op->source) != LIBRARY_NONE && !target->has_libraries)
    return status_at(HEDDLE_UNIMPLEMENTED, from->where,
                     STR_FMT " is the host's to do, and for %s nothing runs on the host", STR_ARG(from->name),
                     target->name);
  if (library_kind_of(op->source) == LIBRARY_NONE)
    return status_at(HEDDLE_INVALID, from->where, "no library has " STR_FMT, STR_ARG(from->name));
  op->library = call;
  TRY(check_layouts(from, op));
  TRY(check_writable(r, from, op));
  TRY(check_apart(from, op));
  return library_describe(r->arena, op->source, call);
}

static heddle_status read_library(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  int64_t segments[3] = {0};
  module *m = NULL;
  const ir_attribute *kind = ir_find(from, "kind");
  TRY(find_function(r, from, &m));
  TRY(read_segments(r, from, 2, taken(r, m), segments));
  TRY(new_op(r, from, LHLO_LIBRARY, 0, segments, out));
  TRY(check_interface(r, from, *out, m));
  if (kind && kind->kind == IR_ATTR_STRING && str_is(kind->text, "custom")) {
    (*out)->source = lhlo_make_fusion(r, m, from, FUSION_CUSTOM);
  } else {
    instruction *i = NULL;
    TRY(lhlo_find_library(r, m, from, &i));
    lhlo_name_source(r, from, i);
    (*out)->source = i;
  }
  return describe(r, from, *out);
}

// The operation's own memory is written last. What no library has is a kernel of its own.
static heddle_status read_single(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  int64_t segments[3] = {0};
  module *m = NULL;
  instruction *i = NULL;
  TRY(read_segments(r, from, 2, from->operand_count - 1, segments));
  TRY(new_op(r, from, LHLO_LIBRARY, 0, segments, out));
  TRY(lhlo_lower_operation(r, from, (*out)->operand_count, (*out)->operands, (*out)->result_count, (*out)->results,
                           &m));
  if (!lhlo_has_library(m)) {
    (*out)->kind = LHLO_FUSION;
    return make_kernel(r, from, m, *out);
  }
  TRY(check_interface(r, from, *out, m));
  TRY(lhlo_find_library(r, m, from, &i));
  lhlo_name_source(r, from, i);
  (*out)->source = i;
  return describe(r, from, *out);
}

// --- copies

// What has no HLO instruction is named by one that stands for it.
static const instruction *stand_in(lhlo_reader *r, const ir_operation *from) {
  instruction *i = computation_add(r->shell->entry, HLO_CUSTOM_CALL, (str){0}, shape_tuple(r->arena, 0, NULL), 0, NULL);
  i->attributes->custom_call_target = str_copy(r->arena, from->name);
  lhlo_name_source(r, from, i);
  return i;
}

static heddle_status read_copy(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  if (from->operand_count != 2)
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.copy of %d operands, wanted 2", from->operand_count);
  TRY(new_op(r, from, LHLO_COPY, 0, (int64_t[]){1, 1}, out));
  if (ir_find(from, "name")) (*out)->source = stand_in(r, from);
  if (kernel_buffer_bytes((*out)->operands[0].shape) != kernel_buffer_bytes((*out)->results[0].shape))
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.copy of %lld bytes to %lld",
                     (long long)kernel_buffer_bytes((*out)->operands[0].shape),
                     (long long)kernel_buffer_bytes((*out)->results[0].shape));
  TRY(check_writable(r, from, *out));
  return check_apart(from, *out);
}

// --- control flow

static heddle_status read_bodies(lhlo_reader *r, const ir_operation *from, lhlo_op *op) {
  op->source = stand_in(r, from);
  op->body_count = from->region_count;
  op->bodies = arena_array(r->arena, lhlo_body, from->region_count);
  for (int k = 0; k < from->region_count; k++) {
    if (from->regions[k]->blocks.size != 1 || from->regions[k]->blocks.data[0]->argument_count != 0)
      return status_at(HEDDLE_INVALID, from->where, "region %d of " STR_FMT " is not one block without arguments", k,
                       STR_ARG(from->name));
    TRY(lhlo_read_ops(r, from->regions[k]->blocks.data[0], &op->bodies[k]));
  }
  return status_ok();
}

static heddle_status read_control(lhlo_reader *r, const ir_operation *from, int operand, bool only_pred,
                                  lhlo_slice *out) {
  lhlo_slice *s = NULL;
  TRY(read_slices(r, from, operand, 1, &s));
  bool fits = s->shape->rank == 0 && (s->shape->dtype == DTYPE_PRED || (!only_pred && s->shape->dtype == DTYPE_S32));
  if (!fits)
    return status_at(HEDDLE_INVALID, from->where, "operand %d of " STR_FMT " is %s, wanted pred[]%s", operand,
                     STR_ARG(from->name), shape_text(r->arena, s->shape), only_pred ? "" : " or s32[]");
  *out = *s;
  return status_ok();
}

static heddle_status read_while(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  if (from->operand_count < 1 || from->region_count != 2)
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.while, wanted elements, a condition and two regions");
  TRY(new_op(r, from, LHLO_WHILE, 0, (int64_t[]){from->operand_count - 1, 0}, out));
  lhlo_op *op = *out;
  op->result_count = op->operand_count;
  op->results = op->operands;
  TRY(read_control(r, from, op->operand_count, true, &op->control));
  const ir_attribute *trips = ir_find(from, "trip_count");
  if (trips && (!ir_attribute_integer(trips, &op->trip_count) || op->trip_count < 0))
    return status_at(HEDDLE_INVALID, from->where, "found a trip_count that is no number of rounds");
  return read_bodies(r, from, op);
}

static heddle_status read_case(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  int64_t segments[3] = {0};
  TRY(read_segments(r, from, 3, -1, segments));
  if (segments[0] != 1 || from->region_count < 1)
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.case, wanted one index and a region for each branch");
  TRY(new_op(r, from, LHLO_CONDITIONAL, 1, segments + 1, out));
  TRY(read_control(r, from, 0, false, &(*out)->control));
  if ((*out)->control.shape->dtype == DTYPE_PRED && from->region_count != 2)
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.case of a pred with %d regions, wanted 2",
                     from->region_count);
  return read_bodies(r, from, *out);
}

static heddle_status read_call(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  int64_t segments[3] = {0};
  TRY(read_segments(r, from, 2, -1, segments));
  if (from->region_count != 1)
    return status_at(HEDDLE_INVALID, from->where, "found lmhlo.call of %d regions, wanted 1", from->region_count);
  TRY(new_op(r, from, LHLO_CALL, 0, segments, out));
  return read_bodies(r, from, *out);
}

// --- blocks

// What ends the block: main's return, a region's terminator, which need not be written.
static heddle_status check_end(const ir_block *block, int *count) {
  const ir_operation *owner = block->parent->parent;
  const ir_operation *last = block->operations.size ? vec_last(&block->operations) : NULL;
  const bool is_end = last && (str_is(last->name, "func.return") || str_is(last->name, "lmhlo.terminator"));
  *count = block->operations.size - is_end;
  if (!is_end && owner->op == IR_OP_FUNC)
    return status_at(HEDDLE_INVALID, last ? last->where : owner->where,
                     "found the end of a block of " STR_FMT " without func.return", STR_ARG(owner->name));
  if (is_end && last->operand_count > 0)
    return status_at(HEDDLE_INVALID, last->where,
                     "found " STR_FMT " of %d values, wanted none: results are written to memory", STR_ARG(last->name),
                     last->operand_count);
  return status_ok();
}

static heddle_status read_op(lhlo_reader *r, const ir_operation *from, lhlo_op **out) {
  static const struct {
    const char *name;
    heddle_status (*read)(lhlo_reader *, const ir_operation *, lhlo_op **);
  } rows[] = {{"lmhlo.fusion", read_fusion}, {"lmhlo.library", read_library}, {"lmhlo.copy", read_copy},
              {"lmhlo.while", read_while},   {"lmhlo.case", read_case},       {"lmhlo.call", read_call}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (str_is(from->name, rows[k].name)) return rows[k].read(r, from, out);
  if (str_starts_with(from->name, "lmhlo.") && lhlo_is_library_operation(r, from)) return read_single(r, from, out);
  return status_at(HEDDLE_INVALID, from->where, "found " STR_FMT ", wanted an operation of LHLO", STR_ARG(from->name));
}

// profile.start and profile.end: *open is the start whose end has not come, else null.
static heddle_status read_profile(const ir_operation *from, const ir_operation **open, bool *is_profile) {
  const bool is_start = str_is(from->name, "profile.start"), is_end = str_is(from->name, "profile.end");
  *is_profile = is_start || is_end;
  if (!*is_profile) return status_ok();
  if (from->operand_count > 0 || from->region_count > 0)
    return status_at(HEDDLE_INVALID, from->where, "found " STR_FMT " of %d operands and %d regions, wanted none",
                     STR_ARG(from->name), from->operand_count, from->region_count);
  if (is_start && *open)
    return status_at(HEDDLE_INVALID, from->where, "found profile.start behind another one without profile.end");
  if (is_end && !*open)
    return status_at(HEDDLE_INVALID, from->where, "found profile.end without profile.start in the same block");
  *open = is_start ? from : NULL;
  return status_ok();
}

heddle_status lhlo_read_ops(lhlo_reader *r, const ir_block *block, lhlo_body *out) {
  int count;
  const ir_operation *profile = NULL;
  TRY(check_end(block, &count));
  for (int k = 0; k < count; k++) {
    const ir_operation *from = block->operations.data[k];
    bool is_view, is_profile;
    lhlo_op *op;
    TRY(lhlo_read_view(r, from, &is_view));
    if (is_view) continue;
    TRY(read_profile(from, &profile, &is_profile));
    if (is_profile) continue;
    TRY(read_op(r, from, &op));
    op->is_profiled = profile != NULL;
    vec_push(r->arena, &out->ops, op);
  }
  if (!profile) return status_ok();
  return status_at(HEDDLE_INVALID, profile->where, "found profile.start without profile.end in the same block");
}
