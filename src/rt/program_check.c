// Walks over allocations, slices and thunks once before anything is prepared. A program may come from elsewhere than
// the planner: whatever would read or write outside of its memory is refused here, and thunks rely on it.
#include "rt/program_check.h"

#include <stdlib.h>

#include "prog/library_fields.h"
#include "prog/program_sizes.h"
#include "rt/thunk_types.h"

typedef struct checking {
  const program *program;
  int thunks;   // seen so far
  int *writer;  // of each slice: the last of them that says it writes it
  int *user;    // … that reads or writes it
} checking;

// Each is a thread.
enum { MAX_DEVICES = 1 << 16 };

static heddle_status wrong(const program_thunk *t, const char *what) {
  return status_at(HEDDLE_INVALID, t->where, "thunk %s: %s", t->name ? t->name : "", what);
}

static bool in_range(int number, int count) { return number >= 0 && number < count; }

static bool is_array_type(dtype t) { return in_range((int)t, DTYPE_COUNT) && dtype_is_array(t); }

// --- what is taken and given

static heddle_status check_value(const program *p, const char *what, int number, const program_value *v,
                                 bool is_result) {
  const program_shape *s = &v->shape;
  bool fits = is_array_type(s->type) && s->rank >= 0 && s->rank <= PROGRAM_MAX_RANK;
  uint64_t seen = 0;
  for (int d = 0; fits && d < s->rank; d++) {
    const int64_t dim = s->minor_to_major[d];
    fits = s->dims[d] >= 0 && dim >= 0 && dim < s->rank && !(seen >> dim & 1);
    if (fits) seen |= (uint64_t)1 << dim;
  }
  if (is_result && fits && v->donated_parameter != -1)
    fits = in_range(v->donated_parameter, p->parameter_count) &&
           program_shape_packed_bytes(s) == program_shape_packed_bytes(&p->parameters[v->donated_parameter].shape);
  if (fits) return status_ok();
  return status_error(HEDDLE_INVALID, "%s %d of the program contradicts itself", what, number);
}

static heddle_status check_dynamic(const program *p, const program_dynamic_size *x) {
  const bool fits = in_range(x->result, p->given_result_count) && in_range(x->size, p->result_count) &&
                    in_range(x->dimension, p->results[x->result].shape.rank) &&
                    p->results[x->size].shape.type == DTYPE_S32 && p->results[x->size].shape.rank == 0;
  return fits ? status_ok() : status_error(HEDDLE_INVALID, "a dynamic size of the program is of no result's dim");
}

// Leaves in order, trees within their parents; what is behind the root belongs to nobody.
static bool check_node(const program *p, int *node, int *result, int depth) {
  if (*node >= p->node_count || depth > PROGRAM_MAX_DEPTH) return false;
  const program_node *n = &p->nodes[(*node)++];
  if (!in_range((int)n->type, DTYPE_COUNT) || n->type == DTYPE_INVALID || n->count < 0) return false;
  if (dtype_is_array(n->type)) (*result)++;
  if (n->type != DTYPE_TUPLE && n->count > 0) return false;
  for (int k = 0; k < n->count; k++)
    if (!check_node(p, node, result, depth + 1)) return false;
  return true;
}

static heddle_status check_counts(const program *p) {
  // Results that callers do not see are sizes of those that they do.
  const bool has_results = p->given_result_count >= 0 && p->given_result_count <= p->result_count &&
                           (p->dynamic_count > 0 || p->given_result_count == p->result_count);
  const bool has_devices = p->device_count >= 1 && p->device_count <= MAX_DEVICES && p->partition_count >= 0 &&
                           (p->partition_count == 0 || p->device_count % p->partition_count == 0);
  int node = 0, result = 0;
  const bool has_nodes = p->node_count == 0 ||
                         (check_node(p, &node, &result, 0) && node == p->node_count && result == p->given_result_count);
  if (has_results && has_devices && has_nodes) return status_ok();
  return status_error(HEDDLE_INVALID, "the program's numbers of %s contradict each other",
                      !has_results   ? "results"
                      : !has_devices ? "devices"
                                     : "results and what they form");
}

static heddle_status check_signature(const program *p) {
  TRY(check_counts(p));
  for (int i = 0; i < p->parameter_count; i++) TRY(check_value(p, "parameter", i, &p->parameters[i], false));
  for (int i = 0; i < p->result_count; i++) TRY(check_value(p, "result", i, &p->results[i], true));
  for (int i = 0; i < p->dynamic_count; i++) TRY(check_dynamic(p, &p->dynamic[i]));
  return status_ok();
}

// A kernel's rest works on the same buffers, and comes behind it.
static bool is_rest_sound(const program *p, int number) {
  const program_kernel *k = &p->kernels[number];
  if (k->rest == 0) return true;
  if (k->rest <= number || k->rest >= p->kernel_count) return false;
  const program_kernel *rest = &p->kernels[k->rest];
  return k->pieces > 0 && rest->buffer_count == k->buffer_count && rest->first_tile >= 0;
}

static heddle_status check_kernels(const program *p) {
  for (int i = 0; i < p->kernel_count; i++)
    if (p->kernels[i].tiles < 0 || p->kernels[i].buffer_count < 0 || p->kernels[i].shared_bytes < 0 ||
        !is_rest_sound(p, i))
      return status_error(HEDDLE_INVALID, "kernel %d of the program contradicts itself", i);
  return status_ok();
}

// What the polynomials give is looked at when they are filled in: the program that they make is checked like others.
static heddle_status check_sizes(const program *p) {
  const program_sizes *s = &p->sizes;
  bool fits = s->symbol_count >= 0 && s->symbol_count <= PROGRAM_MOST_SYMBOLS && s->number_count >= 0;
  fits = fits && (s->symbol_count == 0 || (s->degree >= 1 && s->degree <= PROGRAM_MOST_DEGREE &&
                                           program_sizes_term_count(s) <= PROGRAM_MOST_TERMS));
  fits = fits && s->derived_count >= 0 && s->derived_count <= s->symbol_count;
  for (int k = 0; fits && k < s->symbol_count; k++) fits = s->symbols[k].name && s->symbols[k].least >= 0;
  for (int k = 0; fits && k < s->derived_count; k++)
    fits = in_range((int)s->derived[k].kind, PROGRAM_DERIVED_KIND_COUNT);
  for (int k = 0; fits && k < s->number_count; k++)
    fits = s->numbers[k].number >= 0 && (k == 0 || s->numbers[k].number > s->numbers[k - 1].number);
  for (int k = 0; fits && k < s->check_count; k++) fits = s->checks[k].message != NULL;
  return fits ? status_ok() : status_error(HEDDLE_INVALID, "the open sizes of the program contradict themselves");
}

// --- memory

static bool holds(const program_allocation *a, int count, const program_value *values) {
  return in_range(a->number, count) && program_shape_packed_bytes(&values[a->number].shape) == a->bytes;
}

static heddle_status check_allocation(const program *p, int number) {
  const program_allocation *a = &p->allocations[number];
  bool fits = a->bytes >= 0 && in_range((int)a->kind, PROGRAM_ALLOCATION_KIND_COUNT);
  if (a->kind == PROGRAM_PARAMETER) fits = fits && holds(a, p->parameter_count, p->parameters);
  if (a->kind == PROGRAM_RESULT) fits = fits && holds(a, p->result_count, p->results);
  if (a->kind == PROGRAM_TEMPORARY) fits = fits && a->bytes <= p->temporary_bytes;
  if (a->kind == PROGRAM_CONSTANT) fits = fits && (a->data || !a->bytes);
  if (a->kind == PROGRAM_NUMBERS) fits = fits && a->data && a->bytes % (int64_t)sizeof(int64_t) == 0;
  if (fits) return status_ok();
  return status_error(HEDDLE_INVALID, "allocation %d of the program contradicts itself", number);
}

static heddle_status check_memory(const program *p) {
  if (p->temporary_bytes < 0 || p->memory_limit < 0)
    return status_error(HEDDLE_INVALID, "the program has a negative size");
  if (p->streams < 0 || p->streams > PROGRAM_MOST_STREAMS)
    return status_error(HEDDLE_INVALID, "the program asks for %d streams, wanted 0 to %d", p->streams,
                        PROGRAM_MOST_STREAMS);
  int64_t total = 0;
  int arenas = 0;
  for (int i = 0; i < p->allocation_count; i++) {
    TRY(check_allocation(p, i));
    // They would lie on top of each other, apart as they look to the schedule.
    arenas += p->allocations[i].kind == PROGRAM_TEMPORARY;
    if (arenas > 1) return status_error(HEDDLE_INVALID, "the program has two arenas for temporaries");
    if (__builtin_add_overflow(total, p->allocations[i].bytes, &total))
      return status_error(HEDDLE_INVALID, "the program's allocations are larger than any memory");
  }
  for (int i = 0; i < p->slice_count; i++) {
    const program_slice *s = &p->slices[i];
    const bool fits = in_range(s->allocation, p->allocation_count) && s->offset >= 0 && s->bytes >= 0 &&
                      s->bytes <= p->allocations[s->allocation].bytes &&
                      s->offset <= p->allocations[s->allocation].bytes - s->bytes;
    if (!fits) return status_error(HEDDLE_INVALID, "slice %d of the program lies outside its allocation", i);
  }
  return status_ok();
}

// --- thunks

static heddle_status check_slices(const checking *c, const program_thunk *t) {
  const program *p = c->program;
  if (t->resident_bytes < 0) return wrong(t, "it touches a negative number of bytes");
  for (int i = 0; i < t->read_count; i++)
    if (!in_range(t->reads[i], p->slice_count)) return wrong(t, "it reads a slice that does not exist");
  for (int i = 0; i < t->write_count; i++) {
    if (!in_range(t->writes[i], p->slice_count)) return wrong(t, "it writes a slice that does not exist");
    const program_allocation_kind kind = p->allocations[p->slices[t->writes[i]].allocation].kind;
    if (kind == PROGRAM_PARAMETER || kind == PROGRAM_CONSTANT || kind == PROGRAM_NUMBERS)
      return wrong(t, "it writes where nothing may be written");
  }
  // Marked when all of them are known to exist.
  for (int i = 0; i < t->read_count; i++) c->user[t->reads[i]] = c->thunks;
  for (int i = 0; i < t->write_count; i++) c->user[t->writes[i]] = c->writer[t->writes[i]] = c->thunks;
  return status_ok();
}

static heddle_status check_kernel(const checking *c, const program_thunk *t) {
  const program *p = c->program;
  const program_launch *l = &t->launch;
  if (!in_range(l->kernel, p->kernel_count)) return wrong(t, "there is no such kernel");
  if (l->buffer_count != p->kernels[l->kernel].buffer_count) return wrong(t, "the kernel has other buffers");
  for (int i = 0; i < l->buffer_count; i++) {
    if (!in_range(l->buffers[i], p->slice_count)) return wrong(t, "the kernel gets a slice that does not exist");
    if (c->user[l->buffers[i]] != c->thunks) return wrong(t, "the kernel gets a slice of which the thunk says nothing");
  }
  return status_ok();
}

static bool array_fits(const program *p, const program_array *a) {
  if (!in_range(a->slice, p->slice_count) || !is_array_type(a->type) || !in_range(a->rank, PROGRAM_MAX_RANK + 1))
    return false;
  int64_t bits = dtypes[a->type].bits;
  bool is_empty = false;
  for (int d = 0; d < a->rank; d++) {
    if (a->dims[d] < 0) return false;
    is_empty = is_empty || a->dims[d] == 0;
  }
  for (int d = 0; d < a->rank && !is_empty; d++)
    if (__builtin_mul_overflow(bits, a->dims[d], &bits)) return false;
  return is_empty || (bits - 1) / 8 + 1 <= p->slices[a->slice].bytes;
}

// Enums and lists are what they say they are, kernels exist.
static heddle_status check_fields(const program *p, const program_thunk *t) {
  int count;
  const program_field *fields = program_fields(t->kind, &count);
  for (int k = 0; k < count; k++)
    if (!program_field_is_sound(t, &fields[k])) return wrong(t, "a number stands for nothing");
  if (t->kind != THUNK_SORT || t->sort.comparator < 0) return status_ok();
  const int comparator = t->sort.comparator;
  if (comparator < p->kernel_count && p->kernels[comparator].buffer_count == 2 * t->operand_count + 1)
    return status_ok();
  return wrong(t, "there is no such comparator");
}

static heddle_status check_custom_call(const program_thunk *t) {
  const program_custom_call *c = &t->custom_call;
  if (!c->target) return wrong(t, "it names no target");
  for (int k = 0; k < c->attribute_count; k++) {
    const named_attribute *a = &c->attributes[k];
    if (!a->name || !in_range((int)a->kind, NAMED_TEXT + 1) || (a->kind == NAMED_TEXT && !a->text))
      return wrong(t, "an attribute has no name or no value");
  }
  return status_ok();
}

static heddle_status check_arrays(const checking *c, const program_thunk *t) {
  const program *p = c->program;
  if (t->kind == THUNK_CUSTOM_CALL) TRY(check_custom_call(t));
  for (int i = 0; i < t->operand_count; i++) {
    if (!array_fits(p, &t->operands[i])) return wrong(t, "an operand does not fit its slice");
    if (c->user[t->operands[i].slice] != c->thunks) return wrong(t, "it does not say that it reads an operand");
  }
  for (int i = 0; i < t->result_count; i++) {
    if (!array_fits(p, &t->results[i])) return wrong(t, "a result does not fit its slice");
    if (c->writer[t->results[i].slice] != c->thunks) return wrong(t, "it does not say that it writes a result");
  }
  return check_fields(p, t);
}

// How many sequences a kind has; 0: none. A conditional by a number has any number.
static const int sequence_counts[PROGRAM_THUNK_KIND_COUNT] = {
    [THUNK_SEQUENCE] = 1, [THUNK_CALL] = 1, [THUNK_FOR] = 1, [THUNK_WHILE] = 2};

static heddle_status check_control(const checking *checked, const program_thunk *t) {
  const program *p = checked->program;
  const bool fits = t->kind != THUNK_CONDITIONAL ? t->sequence_count == sequence_counts[t->kind]
                    : t->control.is_pred         ? t->sequence_count == 2
                                                 : t->sequence_count > 0;
  if (!fits) return wrong(t, "it has a wrong number of sequences");
  if (t->kind == THUNK_FOR && t->trip_count < 0) return wrong(t, "it turns a negative number of times");
  if (t->kind != THUNK_CONDITIONAL && t->kind != THUNK_WHILE) return status_ok();
  const program_control *c = &t->control;
  const int64_t bytes = t->kind == THUNK_WHILE || c->is_pred ? 1 : 4;
  if (!in_range(c->slice, p->slice_count) || p->slices[c->slice].bytes < bytes)
    return wrong(t, "there is no slice to control it");
  if (checked->user[c->slice] != checked->thunks) return wrong(t, "it does not say that it reads what controls it");
  return status_ok();
}

static heddle_status check_sequence(checking *c, const program_sequence *s, int depth);

static heddle_status check_thunk(checking *c, const program_thunk *t, int depth) {
  const program *p = c->program;
  if (!in_range((int)t->kind, PROGRAM_THUNK_KIND_COUNT))
    return status_error(HEDDLE_INVALID, "thunk %s is of kind %d, which there is not", t->name ? t->name : "",
                        (int)t->kind);
  if (!thunk_types[p->device][t->kind])
    return status_at(HEDDLE_UNIMPLEMENTED, t->where, "thunk %s is a %s on %s, which this build cannot run",
                     t->name ? t->name : "", program_thunk_kind_name(t->kind), target_kind_name(p->device));
  if (++c->thunks > PROGRAM_MAX_THUNKS)
    return status_error(HEDDLE_UNIMPLEMENTED, "more than %d thunks", PROGRAM_MAX_THUNKS);
  TRY(check_slices(c, t));
  if (t->kind == THUNK_KERNEL) TRY(check_kernel(c, t));
  TRY(check_arrays(c, t));
  TRY(check_control(c, t));
  for (int i = 0; i < t->sequence_count; i++) TRY(check_sequence(c, &t->sequences[i], depth + 1));
  return status_ok();
}

static heddle_status check_sequence(checking *c, const program_sequence *s, int depth) {
  if (depth > PROGRAM_MAX_DEPTH)
    return status_error(HEDDLE_UNIMPLEMENTED, "sequences nested more than %d deep", PROGRAM_MAX_DEPTH);
  for (int i = 0; i < s->count; i++) TRY(check_thunk(c, s->thunks[i], depth));
  return status_ok();
}

heddle_status program_check(const program *p) {
  if (!in_range((int)p->device, TARGET_KIND_COUNT))
    return status_error(HEDDLE_INVALID, "the program is for devices of kind %d, which there is not", (int)p->device);
  TRY(check_signature(p));
  TRY(check_memory(p));
  TRY(check_kernels(p));
  TRY(check_sizes(p));
  const size_t slices = (size_t)p->slice_count + 1;
  checking c = {.program = p, .writer = calloc(2 * slices, sizeof *c.writer)};
  if (!c.writer) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to check a program of %d slices", p->slice_count);
  c.user = c.writer + slices;
  heddle_status s = check_sequence(&c, &p->entry, 0);
  free(c.writer);
  return s;
}
