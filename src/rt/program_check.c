// One walk over allocations, slices and thunks before anything is prepared. A program may come from elsewhere than the
// planner: whatever would read or write outside of its memory is refused here, and thunks rely on it.
#include "rt/program_check.h"

#include "rt/thunk_types.h"

typedef struct checking {
  const program *program;
  int thunks;  // seen so far
} checking;

static heddle_status wrong(const program_thunk *t, const char *what) {
  return status_at(HEDDLE_INVALID, t->where, "thunk %s: %s", t->name ? t->name : "", what);
}

static bool in_range(int number, int count) { return number >= 0 && number < count; }

// --- memory

static heddle_status check_allocation(const program *p, int number) {
  const program_allocation *a = &p->allocations[number];
  bool fits = a->bytes >= 0;
  if (a->kind == PROGRAM_PARAMETER) fits = fits && in_range(a->number, p->parameter_count);
  if (a->kind == PROGRAM_RESULT) fits = fits && in_range(a->number, p->result_count);
  if (a->kind == PROGRAM_RESULT) fits = fits && a->donated_parameter < p->parameter_count;
  if (a->kind == PROGRAM_TEMPORARY) fits = fits && a->bytes <= p->temporary_bytes;
  if (a->kind == PROGRAM_CONSTANT) fits = fits && (a->data || !a->bytes);
  if (fits) return status_ok();
  return status_error(HEDDLE_INVALID, "allocation %d of the program contradicts itself", number);
}

static heddle_status check_memory(const program *p) {
  if (p->temporary_bytes < 0) return status_error(HEDDLE_INVALID, "the program has a negative size");
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

static heddle_status check_slices(const program *p, const program_thunk *t) {
  for (int i = 0; i < t->read_count; i++)
    if (!in_range(t->reads[i], p->slice_count)) return wrong(t, "it reads a slice that does not exist");
  for (int i = 0; i < t->write_count; i++) {
    if (!in_range(t->writes[i], p->slice_count)) return wrong(t, "it writes a slice that does not exist");
    const program_allocation_kind kind = p->allocations[p->slices[t->writes[i]].allocation].kind;
    if (kind == PROGRAM_PARAMETER || kind == PROGRAM_CONSTANT)
      return wrong(t, "it writes where nothing may be written");
  }
  return status_ok();
}

static heddle_status check_kernel(const program *p, const program_thunk *t) {
  if (!in_range(t->kernel, p->kernel_count) || t->tile_count < 0) return wrong(t, "there is no such kernel");
  for (int i = 0; i < p->kernels[t->kernel].buffer_count; i++)
    if (!in_range(t->buffers[i], p->slice_count)) return wrong(t, "the kernel gets a slice that does not exist");
  return status_ok();
}

static bool array_fits(const program *p, const program_array *a) {
  if (!in_range(a->slice, p->slice_count) || !dtype_is_array(a->type)) return false;
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

static heddle_status check_arrays(const program *p, const program_thunk *t) {
  const bool has_target = t->kind == THUNK_CUSTOM_CALL || t->kind == THUNK_COLLECTIVE || t->kind == THUNK_TRANSFER;
  if (has_target && !t->target) return wrong(t, "it names no target");
  for (int i = 0; i < t->operand_count; i++)
    if (!array_fits(p, &t->operands[i])) return wrong(t, "an operand does not fit its slice");
  for (int i = 0; i < t->result_count; i++)
    if (!array_fits(p, &t->results[i])) return wrong(t, "a result does not fit its slice");
  if (t->kind == THUNK_SORT && t->comparator >= 0 &&
      (t->comparator >= p->kernel_count || p->kernels[t->comparator].buffer_count != 2 * t->operand_count + 1))
    return wrong(t, "there is no such comparator");
  return status_ok();
}

// How many sequences a kind has; 0: none. A conditional has any number.
static const int sequence_counts[PROGRAM_THUNK_KIND_COUNT] = {
    [THUNK_SEQUENCE] = 1, [THUNK_CALL] = 1, [THUNK_FOR] = 1, [THUNK_WHILE] = 2};

static heddle_status check_control(const program *p, const program_thunk *t) {
  const bool fits =
      t->kind == THUNK_CONDITIONAL ? t->sequence_count > 0 : t->sequence_count == sequence_counts[t->kind];
  if (!fits) return wrong(t, "it has a wrong number of sequences");
  if (t->kind != THUNK_CONDITIONAL && t->kind != THUNK_WHILE) return status_ok();
  const int64_t bytes = t->kind == THUNK_WHILE || t->is_pred ? 1 : 4;
  if (!in_range(t->control, p->slice_count) || p->slices[t->control].bytes < bytes)
    return wrong(t, "there is no slice to control it");
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
                     t->name ? t->name : "", program_thunk_kind_name(t->kind), program_device_name(p->device));
  if (++c->thunks > PROGRAM_MAX_THUNKS)
    return status_error(HEDDLE_UNIMPLEMENTED, "more than %d thunks", PROGRAM_MAX_THUNKS);
  TRY(check_slices(c->program, t));
  if (t->kind == THUNK_KERNEL) TRY(check_kernel(c->program, t));
  TRY(check_arrays(c->program, t));
  TRY(check_control(c->program, t));
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
  if (!in_range((int)p->device, PROGRAM_DEVICE_KIND_COUNT))
    return status_error(HEDDLE_INVALID, "the program is for devices of kind %d, which there is not", (int)p->device);
  TRY(check_memory(p));
  checking c = {.program = p};
  return check_sequence(&c, &p->entry, 0);
}
