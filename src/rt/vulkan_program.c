// Programs on a Vulkan device: kernels become pipelines when the program is loaded; a frame records the commands of
// each run of launches the first time and submits the same buffer from then on, since no address of a frame changes.
//
// A kernel takes the addresses of its buffers as push constants. Where it has more than PUSHED_MOST, they lie in memory
// of the frame and the one that is pushed is theirs (lower/lower_to_spirv.c, which also folds grids whose first
// dimension is beyond what every device takes: GROUPS_X).
#include "rt/vulkan_program.h"

#include <stdlib.h>
#include <string.h>

#include "rt/vulkan_memory.h"

enum { PUSHED_MOST = 16, GROUPS_X = 65535 };

typedef struct vulkan_kernel {
  VkShaderModule module;
  VkPipeline pipeline;
  uint32_t groups[3];
} vulkan_kernel;

typedef struct vulkan_program {
  vulkan_device *device;
  const program *program;
  int run_count;
  VkPipelineLayout layout;
  vulkan_kernel *kernels;  // of the program; those of the host stay empty
  vulkan_memory constants;
  vulkan_piece *pieces;  // by allocation; of constants and numbers alone
} vulkan_program;

typedef struct vulkan_frame {
  vulkan_memory memory;
  vulkan_piece *pieces;  // by allocation
  VkCommandPool pool;
  VkCommandBuffer *runs;  // null: not recorded yet
  VkFence fence;
  vulkan_memory *tables;  // by run: of kernels with many buffers
} vulkan_frame;

// --- what a module asks for

static const char *missing(const vulkan_features *f, uint32_t capability) {
  // The numbers of SPIR-V's capabilities.
  const struct {
    uint32_t capability;
    bool has;
    const char *what;
  } known[] = {{1, true, "Shader"},
               {10, f->float64, "floats of 64 bits"},
               {11, f->int64, "integers of 64 bits"},
               {12, f->int64_atomics, "atomic operations on 64 bits"},
               {22, f->int16, "integers of 16 bits"},
               {39, f->int8, "integers of 8 bits"},
               {4433, f->storage16, "memory of 16-bit elements"},
               {4448, f->storage8, "memory of 8-bit elements"},
               {4466, f->keeps_specials32, "signed zeros, infinities and NaN that are kept"},
               {5347, f->addresses, "addresses of buffers"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].capability == capability) return known[k].has ? NULL : known[k].what;
  return "a capability that is not known";
}

// Reads the instructions in front of a module, those that say what it needs. The length of each lies in its upper half.
static heddle_status check_module(const vulkan_device *d, const program *p, const program_kernel *k) {
  enum { HEADER = 5, MAGIC = 0x07230203, CAPABILITY = 17 };
  const program_image *image = &p->images[k->image];
  const size_t count = image->size / sizeof(uint32_t);
  const uint32_t *words = image->data;
  if (!k->entry || !words || image->size % sizeof(uint32_t) || count < HEADER || (uintptr_t)words % sizeof(uint32_t) ||
      words[0] != MAGIC)
    return status_error(HEDDLE_INVALID, "the image of kernel %s is no SPIR-V", k->entry ? k->entry : "without a name");
  for (size_t at = HEADER; at + 1 < count && (words[at] & 0xffff) == CAPABILITY; at += 2) {
    const char *what = missing(&d->features, words[at + 1]);
    if (what)
      return status_error(HEDDLE_UNIMPLEMENTED, "kernel %s needs %s, which %s has not", k->entry, what, d->name);
  }
  return status_ok();
}

// --- kernels

static heddle_status fold_grid(const vulkan_device *d, const program_kernel *k, uint32_t groups[3]) {
  const int64_t x = k->grid[0],
                wanted[3] = {x < GROUPS_X ? x : GROUPS_X, x / GROUPS_X + (x % GROUPS_X > 0), k->grid[1]};
  for (int i = 0; i < 3; i++) {
    if (wanted[i] < 1 || wanted[i] > d->most_groups[i] || k->grid[2] != 1)
      return status_error(HEDDLE_UNIMPLEMENTED, "kernel %s has a grid of %lld x %lld x %lld, more than %s takes",
                          k->entry, (long long)x, (long long)k->grid[1], (long long)k->grid[2], d->name);
    groups[i] = (uint32_t)wanted[i];
  }
  if (k->block[0] > d->most_invocations || k->shared_bytes > d->shared_bytes)
    return status_error(
        HEDDLE_UNIMPLEMENTED, "kernel %s has %lld threads and %lld bytes a workgroup, %s takes %u and %u", k->entry,
        (long long)k->block[0], (long long)k->shared_bytes, d->name, d->most_invocations, d->shared_bytes);
  return status_ok();
}

static heddle_status create_kernel(vulkan_program *v, const program_kernel *k, vulkan_kernel *out) {
  vulkan_device *d = v->device;
  const program_image *image = &v->program->images[k->image];
  TRY(check_module(d, v->program, k));
  TRY(fold_grid(d, k, out->groups));
  const VkShaderModuleCreateInfo module = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = image->size, .pCode = image->data};
  VULKAN_TRY(d->f.CreateShaderModule(d->device, &module, NULL, &out->module), CreateShaderModule);
  const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = out->module,
                                                          .pName = k->entry},
                                                .layout = v->layout};
  VULKAN_TRY(d->f.CreateComputePipelines(d->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &out->pipeline),
             CreateComputePipelines);
  return status_ok();
}

// Comparators of sorts are the host's.
static bool is_for_device(const program *p, const program_kernel *k) {
  return k->image >= 0 && k->image < p->image_count && p->images[k->image].format == PROGRAM_SPIRV;
}

static heddle_status create_kernels(vulkan_program *v) {
  const program *p = v->program;
  vulkan_device *d = v->device;
  const VkPushConstantRange pushed = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                      .size = PUSHED_MOST * sizeof(uint64_t)};
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &pushed};
  VULKAN_TRY(d->f.CreatePipelineLayout(d->device, &layout, NULL, &v->layout), CreatePipelineLayout);
  v->kernels = calloc((size_t)p->kernel_count + 1, sizeof *v->kernels);
  if (!v->kernels) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %d kernels", p->kernel_count);
  for (int k = 0; k < p->kernel_count; k++)
    if (is_for_device(p, &p->kernels[k]))
      TRY(status_context(create_kernel(v, &p->kernels[k], &v->kernels[k]), "while loading kernel %s",
                         p->kernels[k].entry));
  return status_ok();
}

// --- constants

// The same in every run.
static bool is_constant(const program_allocation *a) {
  return a->kind == PROGRAM_CONSTANT || a->kind == PROGRAM_NUMBERS;
}

static heddle_status place_allocations(vulkan_device *d, const program *p, bool constants, vulkan_piece *pieces,
                                       vulkan_memory *out) {
  int64_t *bytes = calloc((size_t)p->allocation_count + 1, sizeof *bytes);
  vulkan_piece *made = calloc((size_t)p->allocation_count + 1, sizeof *made);
  if (!bytes || !made) {
    free(bytes);
    free(made);
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of arrays");
  }
  for (int i = 0; i < p->allocation_count; i++)
    if (is_constant(&p->allocations[i]) == constants) bytes[i] = p->allocations[i].bytes;
  heddle_status s = vulkan_memory_create(d, p->allocation_count, bytes, made, out);
  for (int i = 0; i < p->allocation_count && status_is_ok(s); i++)
    if (is_constant(&p->allocations[i]) == constants) pieces[i] = made[i];
  free(bytes);
  free(made);
  return s;
}

static heddle_status load_constants(vulkan_program *v) {
  const program *p = v->program;
  v->pieces = calloc((size_t)p->allocation_count + 1, sizeof *v->pieces);
  if (!v->pieces) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of constants");
  TRY(place_allocations(v->device, p, true, v->pieces, &v->constants));
  for (int i = 0; i < p->allocation_count; i++)
    if (v->pieces[i].host) memcpy(v->pieces[i].host, p->allocations[i].data, (size_t)p->allocations[i].bytes);
  return status_ok();
}

// --- a program

static void destroy_kernels(const vulkan_program *v) {
  const vulkan_device *d = v->device;
  for (int k = 0; v->kernels && k < v->program->kernel_count; k++) {
    d->f.DestroyPipeline(d->device, v->kernels[k].pipeline, NULL);
    d->f.DestroyShaderModule(d->device, v->kernels[k].module, NULL);
  }
  if (v->layout) d->f.DestroyPipelineLayout(d->device, v->layout, NULL);
}

static void unload(void *loaded) {
  vulkan_program *v = loaded;
  if (!v) return;
  vulkan_device *d = v->device;
  if (vulkan_device_is_here(d)) destroy_kernels(v);
  if (v->constants.device) vulkan_memory_destroy(&v->constants);
  vulkan_device_close(d);
  free(v->kernels);
  free(v->pieces);
  free(v);
}

static heddle_status check(const void *loaded) { return vulkan_device_check(((const vulkan_program *)loaded)->device); }

static heddle_status load(const program *p, int run_count, void **out) {
  vulkan_device *d;
  TRY(vulkan_device_open(&d));
  vulkan_program *v = calloc(1, sizeof *v);
  if (!v) {
    vulkan_device_close(d);
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  }
  *v = (vulkan_program){.device = d, .program = p, .run_count = run_count};
  heddle_status s = create_kernels(v);
  if (status_is_ok(s)) s = load_constants(v);
  if (status_is_ok(s)) *out = v;
  else unload(v);
  return s;
}

// --- frames

static void destroy_frame(void *loaded, void *frame) {
  vulkan_program *v = loaded;
  vulkan_frame *f = frame;
  vulkan_device *d = v->device;
  const bool is_here = vulkan_device_is_here(d);
  if (f->pool && is_here) d->f.DestroyCommandPool(d->device, f->pool, NULL);
  if (f->fence && is_here) d->f.DestroyFence(d->device, f->fence, NULL);
  for (int i = 0; f->tables && i < v->run_count; i++)
    if (f->tables[i].device) vulkan_memory_destroy(&f->tables[i]);
  if (f->memory.device) vulkan_memory_destroy(&f->memory);
  free(f->tables);
  free(f->runs);
  free(f->pieces);
  free(f);
}

static heddle_status fill_frame(vulkan_program *v, vulkan_frame *f) {
  vulkan_device *d = v->device;
  const program *p = v->program;
  f->pieces = calloc((size_t)p->allocation_count + 1, sizeof *f->pieces);
  f->runs = calloc((size_t)v->run_count + 1, sizeof *f->runs);
  f->tables = calloc((size_t)v->run_count + 1, sizeof *f->tables);
  if (!f->pieces || !f->runs || !f->tables) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a frame");
  memcpy(f->pieces, v->pieces, (size_t)p->allocation_count * sizeof *f->pieces);
  TRY(place_allocations(d, p, false, f->pieces, &f->memory));
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = d->queue_family};
  VULKAN_TRY(d->f.CreateCommandPool(d->device, &pool, NULL, &f->pool), CreateCommandPool);
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VULKAN_TRY(d->f.CreateFence(d->device, &fence, NULL, &f->fence), CreateFence);
  return status_ok();
}

static heddle_status create_frame(void *loaded, char **allocations, void **out) {
  vulkan_program *v = loaded;
  vulkan_frame *f = calloc(1, sizeof *f);
  if (!f) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a frame");
  heddle_status s = fill_frame(v, f);
  if (!status_is_ok(s)) {
    destroy_frame(v, f);
    return s;
  }
  for (int i = 0; i < v->program->allocation_count; i++) allocations[i] = f->pieces[i].host;
  *out = f;
  return status_ok();
}

// --- recording

static int buffers_of(const program *p, const device_launch *l) { return p->kernels[l->kernel].buffer_count; }

static uint64_t address_of(const vulkan_program *v, const vulkan_frame *f, int slice) {
  const program_slice *s = &v->program->slices[slice];
  const uint64_t base = f->pieces[s->allocation].address;
  return base ? base + (uint64_t)s->offset : 0;
}

// Room for the addresses of kernels that have too many to be pushed, one table after the other.
static heddle_status make_table(const vulkan_program *v, vulkan_frame *f, int run, int count,
                                const device_launch *launches, vulkan_piece *out) {
  int64_t bytes = 0;
  *out = (vulkan_piece){0};
  for (int i = 0; i < count; i++)
    if (buffers_of(v->program, &launches[i]) > PUSHED_MOST)
      bytes += buffers_of(v->program, &launches[i]) * (int64_t)sizeof(uint64_t);
  if (bytes == 0) return status_ok();
  if (f->tables[run].device) vulkan_memory_destroy(&f->tables[run]);  // of commands that could not be recorded
  return vulkan_memory_create(v->device, 1, &bytes, out, &f->tables[run]);
}

static void push_addresses(const vulkan_program *v, const vulkan_frame *f, VkCommandBuffer to, const device_launch *l,
                           vulkan_piece *table) {
  const int count = buffers_of(v->program, l);
  uint64_t pushed[PUSHED_MOST], *addresses = count > PUSHED_MOST ? (uint64_t *)(void *)table->host : pushed;
  for (int i = 0; addresses && i < count; i++) addresses[i] = address_of(v, f, l->buffers[i]);
  uint32_t bytes = (uint32_t)count * sizeof(uint64_t);
  if (count > PUSHED_MOST) {
    pushed[0] = table->address;
    table->host += bytes;
    table->address += bytes;
    bytes = sizeof(uint64_t);
  }
  if (count) v->device->f.CmdPushConstants(to, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, pushed);
}

static void wait_for_memory(const vulkan_program *v, VkCommandBuffer to, VkPipelineStageFlags before,
                            VkPipelineStageFlags after) {
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = before == VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = after == VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT
                                                           : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  v->device->f.CmdPipelineBarrier(to, before, after, 0, 1, &all, 0, NULL, 0, NULL);
}

static bool share_bytes(const program *p, int count, const int *slices, int other_count, const int *others) {
  for (int i = 0; i < count; i++) {
    const program_slice *x = &p->slices[slices[i]];
    for (int k = 0; k < other_count; k++) {
      const program_slice *y = &p->slices[others[k]];
      if (x->allocation == y->allocation && x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes)
        return true;
    }
  }
  return false;
}

static bool conflict(const program *p, const device_launch *x, const device_launch *y) {
  return share_bytes(p, x->write_count, x->writes, y->read_count, y->reads) ||
         share_bytes(p, x->write_count, x->writes, y->write_count, y->writes) ||
         share_bytes(p, x->read_count, x->reads, y->write_count, y->writes);
}

// Whether `next` touches bytes of those launches from `first` on that may still be running; of many it waits in any
// case.
static bool has_to_wait(const program *p, const device_launch *first, const device_launch *next) {
  enum { MOST_TOGETHER = 32 };
  bool has_to = next - first >= MOST_TOGETHER;
  for (const device_launch *at = first; at < next && !has_to; at++) has_to = conflict(p, at, next);
  return has_to;
}

static heddle_status record(const vulkan_program *v, vulkan_frame *f, int run, int count, const device_launch *launches,
                            VkCommandBuffer to) {
  const vulkan_functions *d = &v->device->f;
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  vulkan_piece table;
  TRY(make_table(v, f, run, count, launches, &table));
  VULKAN_TRY(d->BeginCommandBuffer(to, &begin), BeginCommandBuffer);
  wait_for_memory(v, to, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
  for (int i = 0, first = 0; i < count; i++) {
    const vulkan_kernel *k = &v->kernels[launches[i].kernel];
    if (has_to_wait(v->program, &launches[first], &launches[i])) {
      wait_for_memory(v, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      first = i;
    }
    d->CmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
    push_addresses(v, f, to, &launches[i], &table);
    d->CmdDispatch(to, k->groups[0], k->groups[1], k->groups[2]);
  }
  wait_for_memory(v, to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT);
  VULKAN_TRY(d->EndCommandBuffer(to), EndCommandBuffer);
  return status_ok();
}

static heddle_status take_commands(const vulkan_program *v, vulkan_frame *f, int run, int count,
                                   const device_launch *launches, VkCommandBuffer *out) {
  if (f->runs[run]) {
    *out = f->runs[run];
    return status_ok();
  }
  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = f->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
  VULKAN_TRY(v->device->f.AllocateCommandBuffers(v->device->device, &info, out), AllocateCommandBuffers);
  TRY(record(v, f, run, count, launches, *out));
  f->runs[run] = *out;
  return status_ok();
}

static heddle_status launch(void *loaded, void *frame, int run, int count, const device_launch *launches) {
  const vulkan_program *v = loaded;
  vulkan_frame *f = frame;
  vulkan_device *d = v->device;
  VkCommandBuffer commands;
  TRY(take_commands(v, f, run, count, launches, &commands));
  VULKAN_TRY(d->f.ResetFences(d->device, 1, &f->fence), ResetFences);
  const VkSubmitInfo submit = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
  pthread_mutex_lock(&d->queue_lock);
  const VkResult result = d->f.QueueSubmit(d->queue, 1, &submit, f->fence);
  pthread_mutex_unlock(&d->queue_lock);
  VULKAN_TRY(result, QueueSubmit);
  VULKAN_TRY(d->f.WaitForFences(d->device, 1, &f->fence, VK_TRUE, UINT64_MAX), WaitForFences);
  return status_ok();
}

const device_type vulkan_device_type = {vulkan_device_list, load, unload, check, create_frame, destroy_frame, launch};
