// A frame records the commands of each batch the first time and submits the same buffer from then on, since no address
// of a frame changes.
//
// Each stream has a semaphore that counts its batches (a timeline), which other streams and the host wait for. Where
// the device has none there is one stream, and the host waits for each batch by a fence before it does anything else.
//
// A kernel takes the addresses of its buffers as push constants. Where it has more than VULKAN_PUSHED_MOST, they lie in
// memory of the frame and the one that is pushed is theirs (lower/lower_to_spirv.c).
#include "rt/vulkan_frame.h"

#include <stdlib.h>
#include <string.h>

#include "rt/vulkan_copies.h"
#include "rt/vulkan_wait.h"

typedef struct vulkan_batch {
  VkCommandBuffer commands;  // null: not recorded yet
  vulkan_memory table;       // of kernels with many buffers
  int stream;
  uint64_t reached;  // by the stream when it has ended
} vulkan_batch;

typedef struct vulkan_stream {
  VkSemaphore timeline;
  uint64_t submitted;  // what the timeline reaches when all has ended
} vulkan_stream;

typedef struct vulkan_frame {
  vulkan_memory memory;
  vulkan_piece *pieces;  // by allocation
  VkCommandPool pool;
  VkFence fence;         // where there are no timelines
  vulkan_copies copies;  // where the host does not see the device's memory
  int stream_count;
  vulkan_stream streams[PROGRAM_MOST_STREAMS];
  int batch_count;
  vulkan_batch *batches;
  vulkan_memory choices;
  vulkan_piece predicates;  // a word for each
  bool is_stuck;            // some of it may be running, and the driver does not say whether
} vulkan_frame;

// --- waiting

typedef struct timeline_wait {
  const vulkan_device *device;
  VkSemaphoreWaitInfo info;
} timeline_wait;

static VkResult wait_for_timelines(const void *argument) {
  const timeline_wait *w = argument;
  return w->device->f.WaitSemaphores(w->device->device, &w->info, UINT64_MAX);
}

// Until each stream has reached values[stream]; 0: it need not.
static heddle_status wait_for(const vulkan_device *d, vulkan_frame *f, const uint64_t *values) {
  VkSemaphore timelines[PROGRAM_MOST_STREAMS];
  uint64_t reached[PROGRAM_MOST_STREAMS];
  timeline_wait w = {
      .device = d,
      .info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .pSemaphores = timelines, .pValues = reached}};
  for (int t = 0; t < f->stream_count; t++) {
    if (!values[t]) continue;
    timelines[w.info.semaphoreCount] = f->streams[t].timeline;
    reached[w.info.semaphoreCount++] = values[t];
  }
  return w.info.semaphoreCount ? vulkan_wait(wait_for_timelines, &w, "vkWaitSemaphores", &f->is_stuck) : status_ok();
}

// All that was submitted.
static heddle_status wait_for_all(const vulkan_program *v, vulkan_frame *f) {
  uint64_t values[PROGRAM_MOST_STREAMS];
  for (int t = 0; t < f->stream_count; t++) values[t] = f->streams[t].submitted;
  if (v->device->has_timelines) return wait_for(v->device, f, values);
  return f->is_stuck ? vulkan_wait_for_fence(v->device, f->fence, &f->is_stuck) : status_ok();
}

heddle_status vulkan_frame_finish(void *loaded, void *frame) {
  vulkan_frame *f = frame;
  TRY(vulkan_copies_settle(&f->copies));
  return wait_for_all(loaded, f);
}

bool vulkan_frame_is_idle(const void *frame) {
  const vulkan_frame *f = frame;
  return !f->is_stuck && !f->copies.is_stuck;
}

heddle_status vulkan_frame_wait(void *loaded, void *frame, int count, const int *batches) {
  const vulkan_program *v = loaded;
  vulkan_frame *f = frame;
  uint64_t values[PROGRAM_MOST_STREAMS] = {0};
  if (!v->device->has_timelines) return status_ok();  // submitting has waited
  for (int k = 0; k < count; k++) {
    const vulkan_batch *b = &f->batches[batches[k]];
    if (values[b->stream] < b->reached) values[b->stream] = b->reached;
  }
  return wait_for(v->device, f, values);
}

// --- memory and objects

static void destroy_objects(vulkan_program *v, vulkan_frame *f) {
  const vulkan_device *d = v->device;
  if (f->pool) d->f.DestroyCommandPool(d->device, f->pool, NULL);
  if (f->fence) d->f.DestroyFence(d->device, f->fence, NULL);
  for (int t = 0; t < f->stream_count; t++)
    if (f->streams[t].timeline) d->f.DestroySemaphore(d->device, f->streams[t].timeline, NULL);
}

// What the device may be writing is left to it, and the device with all that it has.
void vulkan_frame_destroy(void *loaded, void *frame) {
  vulkan_program *v = loaded;
  vulkan_frame *f = frame;
  if (!vulkan_frame_is_idle(f) && vulkan_device_is_here(v->device)) heddle_status_free(vulkan_frame_finish(v, f));
  if (!vulkan_frame_is_idle(f)) v->device->is_abandoned = true;
  vulkan_copies_destroy(&f->copies);
  if (vulkan_device_is_here(v->device)) destroy_objects(v, f);
  for (int i = 0; f->batches && i < f->batch_count; i++)
    if (f->batches[i].table.device) vulkan_memory_destroy(&f->batches[i].table);
  if (f->memory.device) vulkan_memory_destroy(&f->memory);
  if (f->choices.device) vulkan_memory_destroy(&f->choices);
  free(f->batches);
  free(f->pieces);
  free(f);
}

static heddle_status create_timeline(const vulkan_device *d, VkSemaphore *out) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VULKAN_TRY(d->f.CreateSemaphore(d->device, &info, NULL, out), CreateSemaphore);
  return status_ok();
}

static heddle_status make_predicates(vulkan_program *v, vulkan_frame *f, int64_t count) {
  const int64_t bytes = count * (int64_t)sizeof(uint32_t);
  const uint32_t always = 1;
  if (!v->has_predicates) return status_ok();
  TRY(vulkan_memory_create(v->device, true, 1, &bytes, &f->predicates, &f->choices));
  memcpy(f->predicates.host, &always, sizeof always);
  return status_ok();
}

static heddle_status fill(vulkan_program *v, vulkan_frame *f, const device_counts *counts) {
  vulkan_device *d = v->device;
  const program *p = v->program;
  f->pieces = calloc((size_t)p->allocation_count + 1, sizeof *f->pieces);
  f->batches = calloc((size_t)f->batch_count + 1, sizeof *f->batches);
  if (!f->pieces || !f->batches) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a frame");
  memcpy(f->pieces, v->pieces, (size_t)p->allocation_count * sizeof *f->pieces);
  TRY(vulkan_program_place(d, p, false, f->pieces, &f->memory));
  TRY(make_predicates(v, f, counts->predicates));
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = d->queue_family};
  VULKAN_TRY(d->f.CreateCommandPool(d->device, &pool, NULL, &f->pool), CreateCommandPool);
  if (d->is_apart) TRY(vulkan_copies_create(d, &f->copies));
  if (d->has_timelines) {
    for (int t = 0; t < f->stream_count; t++) TRY(create_timeline(d, &f->streams[t].timeline));
    return status_ok();
  }
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VULKAN_TRY(d->f.CreateFence(d->device, &fence, NULL, &f->fence), CreateFence);
  return status_ok();
}

heddle_status vulkan_frame_create(void *loaded, const device_counts *counts, char **allocations, void **out) {
  vulkan_program *v = loaded;
  vulkan_frame *f = calloc(1, sizeof *f);
  if (!f) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a frame");
  f->batch_count = counts->batches;
  f->stream_count = vulkan_program_abilities(v).streams;
  heddle_status s = fill(v, f, counts);
  if (!status_is_ok(s)) {
    vulkan_frame_destroy(v, f);
    return s;
  }
  for (int i = 0; i < v->program->allocation_count; i++) allocations[i] = f->pieces[i].host;
  *out = f;
  return status_ok();
}

// --- what the host does not see

static void add_slices(const vulkan_program *v, const vulkan_frame *f, bool to_host, int count, const int *slices) {
  for (int k = 0; k < count; k++) {
    const program_slice *s = &v->program->slices[slices[k]];
    vulkan_copies_add(&f->copies, to_host, &f->pieces[s->allocation], s->offset, s->bytes);
  }
}

// Of what is written, too: maybe a part of it stays as it is.
heddle_status vulkan_frame_fetch(void *loaded, void *frame, const touched *t) {
  vulkan_frame *f = frame;
  if (!f->copies.device || !(t->read_count + t->write_count)) return status_ok();
  TRY(vulkan_copies_begin(&f->copies));
  add_slices(loaded, f, true, t->read_count, t->reads);
  add_slices(loaded, f, true, t->write_count, t->writes);
  return vulkan_copies_end(&f->copies);
}

heddle_status vulkan_frame_store(void *loaded, void *frame, const touched *t) {
  vulkan_frame *f = frame;
  if (!f->copies.device || !t->write_count) return status_ok();
  TRY(vulkan_copies_begin(&f->copies));
  add_slices(loaded, f, false, t->write_count, t->writes);
  return vulkan_copies_end(&f->copies);
}

heddle_status vulkan_frame_cross(void *loaded, void *frame, bool to_host) {
  const program *p = ((const vulkan_program *)loaded)->program;
  vulkan_frame *f = frame;
  if (!f->copies.device) return status_ok();
  TRY(vulkan_copies_begin(&f->copies));
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    const bool is_result = a->kind == PROGRAM_RESULT;
    const bool comes = a->kind == PROGRAM_PARAMETER || (is_result && p->results[a->number].donated_parameter >= 0);
    if (to_host ? is_result : comes) vulkan_copies_add(&f->copies, to_host, &f->pieces[i], 0, a->bytes);
  }
  return vulkan_copies_end(&f->copies);
}

// --- recording

static int buffers_of(const program *p, const device_launch *l) {
  return l->kind == DEVICE_KERNEL ? p->kernels[l->kernel].buffer_count : 0;
}

static uint64_t address_of(const vulkan_program *v, const vulkan_frame *f, int slice) {
  const program_slice *s = &v->program->slices[slice];
  const uint64_t base = f->pieces[s->allocation].address;
  return base ? base + (uint64_t)s->offset : 0;
}

// Room for the addresses of kernels that have too many to be pushed, one table after the other.
static heddle_status make_table(const vulkan_program *v, vulkan_frame *f, const device_batch *b, vulkan_piece *out) {
  int64_t bytes = 0;
  *out = (vulkan_piece){0};
  for (int i = 0; i < b->count; i++) {
    const int count = buffers_of(v->program, &b->launches[i]);
    if (count > VULKAN_PUSHED_MOST) bytes += count * (int64_t)sizeof(uint64_t);
  }
  if (bytes == 0) return status_ok();
  vulkan_memory *table = &f->batches[b->number].table;
  if (table->device) vulkan_memory_destroy(table);  // of commands that could not be recorded
  return vulkan_memory_create(v->device, true, 1, &bytes, out, table);
}

static void push_addresses(const vulkan_program *v, const vulkan_frame *f, VkCommandBuffer to, const device_launch *l,
                           vulkan_piece *table) {
  const int count = buffers_of(v->program, l);
  uint64_t pushed[VULKAN_PUSHED_MOST],
      *addresses = count > VULKAN_PUSHED_MOST ? (uint64_t *)(void *)table->host : pushed;
  for (int i = 0; addresses && i < count; i++) addresses[i] = address_of(v, f, l->buffers[i]);
  uint32_t bytes = (uint32_t)count * sizeof(uint64_t);
  if (count > VULKAN_PUSHED_MOST) {
    pushed[0] = table->address;
    table->host += bytes;
    table->address += bytes;
    bytes = sizeof(uint64_t);
  }
  if (count) v->device->f.CmdPushConstants(to, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, pushed);
}

enum {
  KERNELS = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
  WORK = KERNELS | VK_PIPELINE_STAGE_TRANSFER_BIT,
  PREDICATES = VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT,
  HOST = VK_PIPELINE_STAGE_HOST_BIT
};

static VkAccessFlags accesses_of(VkPipelineStageFlags stages) {
  return (stages & HOST ? VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT : 0) |
         (stages & KERNELS ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT : 0) |
         (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT : 0) |
         (stages & PREDICATES ? VK_ACCESS_CONDITIONAL_RENDERING_READ_BIT_EXT : 0);
}

static void wait_for_memory(const vulkan_program *v, VkCommandBuffer to, VkPipelineStageFlags before,
                            VkPipelineStageFlags after) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = accesses_of(before),
                               .dstAccessMask = accesses_of(after)};
  v->device->f.CmdPipelineBarrier(to, before, after, 0, 1, &all, 0, NULL, 0, NULL);
}

// Whether `next` touches bytes of those launches from `first` on that may still be running; of many it waits in any
// case.
static bool has_to_wait(const program *p, const device_launch *first, const device_launch *next) {
  enum { MOST_TOGETHER = 32 };
  bool has_to = next - first >= MOST_TOGETHER;
  for (const device_launch *at = first; at < next && !has_to; at++)
    has_to = conflicts_between(p, &at->touches, &next->touches);
  return has_to;
}

static void dispatch(const vulkan_program *v, VkCommandBuffer to, const vulkan_kernel *k, const uint32_t groups[3]) {
  v->device->f.CmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
  v->device->f.CmdDispatch(to, groups[0], groups[1], groups[2]);
}

static void dispatch_own(const vulkan_program *v, VkCommandBuffer to, vulkan_kernel_name name, uint64_t threads,
                         int number_count, const uint64_t *numbers) {
  enum { MOST_X = 65535 };
  const uint64_t groups = (threads + VULKAN_KERNEL_THREADS - 1) / VULKAN_KERNEL_THREADS;
  const uint32_t y = (uint32_t)((groups + MOST_X - 1) / MOST_X);
  v->device->f.CmdPushConstants(to, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, (uint32_t)number_count * sizeof *numbers,
                                numbers);
  dispatch(v, to, &v->own[name], (const uint32_t[]){y > 1 ? MOST_X : (uint32_t)groups, y, 1});
}

// Copies of Vulkan's own do not heed predicates.
static void copy(const vulkan_program *v, const vulkan_frame *f, VkCommandBuffer to, const device_launch *l) {
  enum { WORD = sizeof(uint32_t) };
  const program_slice *from = &v->program->slices[l->touches.reads[0]], *at = &v->program->slices[l->touches.writes[0]];
  const vulkan_piece *source = &f->pieces[from->allocation], *target = &f->pieces[at->allocation];
  const uint64_t bytes = (uint64_t)at->bytes;
  if (!bytes) return;
  if (!l->predicate) {
    const VkBufferCopy range = {source->offset + (uint64_t)from->offset, target->offset + (uint64_t)at->offset, bytes};
    v->device->f.CmdCopyBuffer(to, source->buffer, target->buffer, 1, &range);
    return;
  }
  uint64_t numbers[] = {source->address + (uint64_t)from->offset, target->address + (uint64_t)at->offset, bytes};
  const bool has_words = (numbers[0] | numbers[1] | bytes) % WORD == 0;
  if (has_words) numbers[2] /= WORD;
  dispatch_own(v, to, has_words ? VULKAN_COPY_WORDS : VULKAN_COPY_BYTES, numbers[2], 3, numbers);
}

static uint64_t predicate_bytes(int64_t predicate) { return (uint64_t)predicate * sizeof(uint32_t); }

// Between barriers, since what is chosen is read as a predicate and by other choices.
static void choose(const vulkan_program *v, const vulkan_frame *f, VkCommandBuffer to, const device_launch *l) {
  enum { WORD = sizeof(uint32_t), BYTE_BITS = 8 };
  const uint64_t address = address_of(v, f, l->touches.reads[0]), first = f->predicates.address;
  const uint64_t numbers[] = {address / WORD * WORD,
                              address % WORD * BYTE_BITS,
                              l->is_pred ? UINT8_MAX : UINT32_MAX,
                              l->is_pred,
                              (uint64_t)l->branch_count,
                              first + predicate_bytes(l->predicate),
                              first + predicate_bytes(l->branches)};
  wait_for_memory(v, to, WORK | PREDICATES, KERNELS);
  dispatch_own(v, to, VULKAN_CHOOSE, (uint64_t)l->branch_count, sizeof numbers / sizeof *numbers, numbers);
  wait_for_memory(v, to, KERNELS, WORK | PREDICATES);
}

static void launch(const vulkan_program *v, const vulkan_frame *f, VkCommandBuffer to, const device_launch *l,
                   vulkan_piece *table) {
  const vulkan_functions *d = &v->device->f;
  const VkConditionalRenderingBeginInfoEXT condition = {.sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
                                                        .buffer = f->predicates.buffer,
                                                        .offset = f->predicates.offset + predicate_bytes(l->predicate)};
  if (l->predicate) d->CmdBeginConditionalRenderingEXT(to, &condition);
  if (l->kind == DEVICE_COPY) {
    copy(v, f, to, l);
  } else {
    push_addresses(v, f, to, l, table);
    dispatch(v, to, &v->kernels[l->kernel], v->kernels[l->kernel].groups);
  }
  if (l->predicate) d->CmdEndConditionalRenderingEXT(to);
}

static heddle_status record(const vulkan_program *v, vulkan_frame *f, const device_batch *b, VkCommandBuffer to) {
  const vulkan_functions *d = &v->device->f;
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const device_launch *launches = b->launches;
  vulkan_piece table;
  TRY(make_table(v, f, b, &table));
  VULKAN_TRY(d->BeginCommandBuffer(to, &begin), BeginCommandBuffer);
  wait_for_memory(v, to, HOST | WORK, WORK);  // earlier batches of the stream may still be running
  for (int i = 0, first = 0; i < b->count; i++) {
    if (launches[i].kind == DEVICE_CHOICE) {
      choose(v, f, to, &launches[i]);
      first = i + 1;
      continue;
    }
    if (has_to_wait(v->program, &launches[first], &launches[i])) {
      wait_for_memory(v, to, WORK, WORK);
      first = i;
    }
    launch(v, f, to, &launches[i], &table);
  }
  wait_for_memory(v, to, WORK, HOST);
  VULKAN_TRY(d->EndCommandBuffer(to), EndCommandBuffer);
  return status_ok();
}

static heddle_status take_commands(const vulkan_program *v, vulkan_frame *f, const device_batch *b) {
  vulkan_batch *made = &f->batches[b->number];
  if (made->commands) return status_ok();
  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = f->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
  VkCommandBuffer commands;
  VULKAN_TRY(v->device->f.AllocateCommandBuffers(v->device->device, &info, &commands), AllocateCommandBuffers);
  TRY(record(v, f, b, commands));
  made->commands = commands;
  made->stream = b->stream;
  return status_ok();
}

// --- submitting

static heddle_status submit_to_stream(const vulkan_program *v, vulkan_frame *f, const device_batch *b) {
  VkSemaphore semaphores[PROGRAM_MOST_STREAMS];
  uint64_t values[PROGRAM_MOST_STREAMS];
  VkPipelineStageFlags stages[PROGRAM_MOST_STREAMS];
  vulkan_batch *made = &f->batches[b->number];
  vulkan_stream *stream = &f->streams[b->stream];
  const uint64_t reached = stream->submitted + 1;
  for (int k = 0; k < b->wait_count; k++) {
    const vulkan_batch *other = &f->batches[b->waits[k]];
    semaphores[k] = f->streams[other->stream].timeline;
    values[k] = other->reached;
    stages[k] = WORK;
  }
  const VkTimelineSemaphoreSubmitInfo counts = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .waitSemaphoreValueCount = (uint32_t)b->wait_count,
                                                .pWaitSemaphoreValues = values,
                                                .signalSemaphoreValueCount = 1,
                                                .pSignalSemaphoreValues = &reached};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &counts,
                             .waitSemaphoreCount = (uint32_t)b->wait_count,
                             .pWaitSemaphores = semaphores,
                             .pWaitDstStageMask = stages,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &made->commands,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &stream->timeline};
  TRY(vulkan_device_submit(v->device, b->stream, &info, VK_NULL_HANDLE));
  made->reached = stream->submitted = reached;
  return status_ok();
}

heddle_status vulkan_frame_submit(void *loaded, void *frame, const device_batch *b) {
  const vulkan_program *v = loaded;
  vulkan_frame *f = frame;
  TRY(take_commands(v, f, b));
  if (v->device->has_timelines) return submit_to_stream(v, f, b);
  return vulkan_wait_for_commands(v->device, &f->batches[b->number].commands, f->fence, &f->is_stuck);
}
