// Each run takes a frame, gives it the addresses of parameters and results, and executes the entry's sequence. A
// program of several devices does so on a thread for each device.
#include "rt/executable.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/call.h"
#include "base/guard.h"
#include "base/host.h"
#include "rt/device_group.h"
#include "rt/device_types.h"
#include "rt/memory.h"
#include "rt/program_check.h"
#include "rt/thunk_types.h"

// Beside writing so much, asking the system for its pages costs nothing, in every run.
enum { LARGE_RESULT = 4 << 20 };

// The sequences nest as deep as program_check allows.
static bool has_messages(const program_sequence *s) {
  for (int i = 0; i < s->count; i++) {
    if (thunk_transfer_needs_group(s->thunks[i])) return true;
    for (int k = 0; k < s->thunks[i]->sequence_count; k++)
      if (has_messages(&s->thunks[i]->sequences[k])) return true;
  }
  return false;
}

typedef struct preparation {
  executable *executable;
  const kernel_fn *entries;
  const executable_options *options;
} preparation;

static heddle_status prepare(void *argument) {
  const preparation *made = argument;
  executable *e = made->executable;
  const program *p = e->context.program;
  arena *a = arena_create();
  kernel_fn *entries = arena_array(a, kernel_fn, p->kernel_count);
  for (int i = 0; i < p->kernel_count; i++) entries[i] = made->entries[i];
  e->context.entries = entries;
  const device_type *device = e->context.device = device_types[p->device];
  heddle_status s = device ? device->load(p, made->options->device, &e->context.loaded) : status_ok();
  if (status_is_ok(s) && device) e->context.abilities = device->abilities(e->context.loaded);
  e->frames.counts.predicates = 1;
  e->context.counts = &e->frames.counts;
  if (status_is_ok(s)) s = sequence_create(a, &e->context, &p->entry, &e->entry);
  e->frames.context = &e->context;
  e->frames.scratch_bytes = e->entry ? sequence_scratch_bytes(e->entry) : 0;
  e->arena = a;
  return s;
}

// The thunks' own handles lie outside of the arena, and so does what the device has.
static void drop(void *argument, bool is_torn) {
  const preparation *made = argument;
  executable *e = made->executable;
  if (!is_torn) sequence_release(e->entry);
  if (e->context.loaded) e->context.device->unload(e->context.loaded);
  free(e);
}

heddle_status executable_create(const program *p, const kernel_fn *entries, const executable_options *options,
                                executable **out) {
  *out = NULL;
  TRY(program_check(p));
  if (p->sizes.symbol_count)
    return status_error(HEDDLE_INVALID, "the program has open sizes: only what program_sizes_fill makes of it runs");
  if (options->device && !device_types[p->device])
    return status_error(HEDDLE_INVALID, "found the device %s, but the program is for the platform %s, which has one",
                        options->device, target_kind_name(p->device));
  executable *e = calloc(1, sizeof *e);
  if (!e) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for an executable");
  e->context.program = p;
  e->context.threads = options->threads < 1 ? 1 : options->threads;
  e->has_messages = has_messages(&p->entry);
  preparation made = {e, entries, options};
  heddle_status s = guard_clean_up(prepare, drop, &made);
  if (!status_is_ok(s)) {
    executable_destroy(e);
    return s;
  }
  *out = e;
  return status_ok();
}

void executable_destroy(executable *e) {
  if (!e) return;
  frame_release_all(&e->frames);
  if (e->context.loaded) e->context.device->unload(e->context.loaded);
  sequence_release(e->entry);
  arena_destroy(e->arena);
  free(e);
}

void executable_set_launcher(executable *e, launch_fn fn, void *user) {
  e->context.launch = fn;
  e->context.launch_user = user;
}

void executable_set_profiler(executable *e, profile_fn fn, void *user) {
  e->context.profile = fn;
  e->context.profile_user = user;
}

void executable_set_profiler_start(executable *e, profile_start_fn fn) { e->context.profile_start = fn; }

void executable_set_feeds(executable *e, executable_feeds feeds) { e->context.feeds = feeds; }

// On a device the allocations stay where they are.
static heddle_status set_memory(const program *p, frame_memory *m, void *const *parameters, void *const *results) {
  const bool has_device = m->frame.context->device;
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind != PROGRAM_PARAMETER && a->kind != PROGRAM_RESULT) continue;
    const bool is_parameter = a->kind == PROGRAM_PARAMETER;
    char *given = (is_parameter ? parameters : results)[a->number];
    if (!has_device) m->allocations[i] = given;
    if (!given && a->bytes)
      return status_error(HEDDLE_INVALID, "no memory was given for %s %d of %lld bytes",
                          is_parameter ? "parameter" : "result", a->number, (long long)a->bytes);
    if (!is_parameter && a->bytes >= LARGE_RESULT) host_expect(given, (size_t)a->bytes);
    const int donated = is_parameter ? -1 : p->results[a->number].donated_parameter;
    if (donated >= 0 && a->bytes && !parameters[donated])
      return status_error(HEDDLE_INVALID, "no memory was given for donated parameter %d", donated);
  }
  return status_ok();
}

static void copy_donated(const program *p, const frame_memory *m, void *const *parameters) {
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    const int donated = a->kind == PROGRAM_RESULT ? p->results[a->number].donated_parameter : -1;
    if (donated >= 0) memory_copy(m->allocations[i], parameters[donated], a->bytes, m->frame.threads);
  }
}

// Between the caller's arrays and those of a device.
static void copy_across(const program *p, const frame_memory *m, program_allocation_kind kind, void *const *arrays) {
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind != kind || a->bytes == 0) continue;
    const bool is_in = kind == PROGRAM_PARAMETER;
    memory_copy(is_in ? m->allocations[i] : arrays[a->number], is_in ? arrays[a->number] : m->allocations[i], a->bytes,
                m->frame.threads);
  }
}

static heddle_status run_frame_of(executable *e, frame_memory *m, void *const *parameters, void *const *results) {
  const program *p = e->context.program;
  const device_type *device = e->context.device;
  TRY(set_memory(p, m, parameters, results));
  if (device) copy_across(p, m, PROGRAM_PARAMETER, parameters);
  copy_donated(p, m, parameters);
  if (device) TRY(device->cross(e->context.loaded, m->frame.device_frame, false));
  TRY(sequence_execute(e->entry, &m->frame));
  if (device) TRY(device->cross(e->context.loaded, m->frame.device_frame, true));
  if (device) copy_across(p, m, PROGRAM_RESULT, results);
  return call_check();  // the last thunk may have been cut short
}

heddle_status executable_run(executable *e, void *const *parameters, void *const *results) {
  if (e->context.program->device_count > 1)
    return status_error(HEDDLE_INVALID, "the program runs on %d devices together, not on one",
                        e->context.program->device_count);
  if (e->has_messages) return executable_run_devices(e, &parameters, &results);
  frame_memory *m;
  TRY(frame_take(&e->frames, &m));
  heddle_status s = run_frame_of(e, m, parameters, results);
  frame_give(&e->frames, m);
  return s;
}

// --- several devices

typedef struct device {
  executable *executable;
  frame_memory *memory;
  void *const *parameters, *const *results;
  const call_context *call;
  pthread_t thread;
  bool has_thread;
} device;

static void *run_device(void *argument) {
  const device *d = argument;
  call_enter(d->call);
  device_group_end(d->memory->frame.devices, run_frame_of(d->executable, d->memory, d->parameters, d->results));
  return NULL;
}

// Frames are given back only when all devices have ended: they read each other's memory.
static heddle_status run_group(executable *e, device_group *g, device *devices, int count) {
  heddle_status s = status_ok();
  for (int i = 0; i < count && status_is_ok(s); i++) {
    s = frame_take(&e->frames, &devices[i].memory);
    frame_memory *m = devices[i].memory;
    if (!m) continue;
    m->frame.device = i;
    m->frame.devices = g;
    draw_stream_start(&m->draws, 0, i);
    m->frame.threads = e->context.threads > count ? e->context.threads / count : 1;
  }
  for (int i = 0; i < count && status_is_ok(s); i++) {
    devices[i].has_thread = pthread_create(&devices[i].thread, NULL, run_device, &devices[i]) == 0;
    if (!devices[i].has_thread) device_group_end(g, status_error(HEDDLE_DEVICE_FAILED, "no thread for device %d", i));
  }
  for (int i = 0; i < count; i++) {
    if (devices[i].has_thread) pthread_join(devices[i].thread, NULL);
    if (devices[i].memory) frame_give(&e->frames, devices[i].memory);
  }
  return status_is_ok(s) ? device_group_error(g) : s;
}

heddle_status executable_run_devices(executable *e, void *const *const *parameters, void *const *const *results) {
  const int count = e->context.program->device_count > 1 ? e->context.program->device_count : 1;
  device_group *g = device_group_create(count);
  device *devices = calloc((size_t)count, sizeof *devices);
  for (int i = 0; devices && i < count; i++)
    devices[i] = (device){.executable = e, .call = call_now, .parameters = parameters[i], .results = results[i]};
  heddle_status s = g && devices ? run_group(e, g, devices, count)
                                 : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %d devices", count);
  free(devices);
  if (g) device_group_destroy(g);
  return s;
}
