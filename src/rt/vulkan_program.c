// Programs on a Vulkan device: kernels become pipelines and constants are placed when the program is loaded. Grids
// whose first dimension is beyond what every device takes (GROUPS_X) are folded as lower/lower_to_spirv.c folds them.
#include "rt/vulkan_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "rt/vulkan_cache.h"
#include "rt/vulkan_copies.h"
#include "rt/vulkan_frame.h"

enum { GROUPS_X = 65535 };

// --- kernels

// The first of a kernel's forms that the device has all for. A workgroup is one of full subgroups or has no use of
// them.
static heddle_status choose_image(const vulkan_device *d, const program *p, const program_kernel *k,
                                  const program_image **out) {
  const char *name = k->entry ? k->entry : "without a name", *lack = NULL;
  vulkan_features f = d->features;
  f.shuffles = f.shuffles && k->block[0] % d->subgroup_size == 0;
  if (k->forms < 0 || k->forms >= p->image_count - k->image)
    return status_error(HEDDLE_INVALID, "kernel %s has %d forms that are not there", name, k->forms);
  for (int i = 0; i <= k->forms; i++) {
    *out = &p->images[k->image + i];
    TRY(status_context(vulkan_features_check(&f, *out, &lack), "in kernel %s", name));
    if (!lack) return k->entry ? status_ok() : status_error(HEDDLE_INVALID, "a kernel has no name");
  }
  return status_error(HEDDLE_UNIMPLEMENTED, "kernel %s needs %s, which %s has not", name, lack, d->name);
}

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

// Modules for subgroups are told how large these are: constant 0. They have to be full.
static heddle_status create_pipeline(vulkan_program *v, VkPipelineCache cache, const char *entry, bool has_subgroups,
                                     size_t bytes, const uint32_t *words, vulkan_kernel *out) {
  vulkan_device *d = v->device;
  const VkSpecializationMapEntry place = {.size = sizeof d->subgroup_size};
  const VkSpecializationInfo size = {
      .mapEntryCount = 1, .pMapEntries = &place, .dataSize = sizeof d->subgroup_size, .pData = &d->subgroup_size};
  const VkPipelineShaderStageCreateFlags full = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
  const VkShaderModuleCreateInfo module = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
  VULKAN_TRY(d->f.CreateShaderModule(d->device, &module, NULL, &out->module), CreateShaderModule);
  const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .flags = has_subgroups ? full : 0,
                                                          .module = out->module,
                                                          .pName = entry,
                                                          .pSpecializationInfo = has_subgroups ? &size : NULL},
                                                .layout = v->layout};
  VULKAN_TRY(d->f.CreateComputePipelines(d->device, cache, 1, &pipeline, NULL, &out->pipeline), CreateComputePipelines);
  return status_ok();
}

static heddle_status create_kernel(vulkan_program *v, VkPipelineCache cache, const program_kernel *k,
                                   vulkan_kernel *out) {
  const program_image *image = v->program->images;
  TRY(choose_image(v->device, v->program, k, &image));
  TRY(fold_grid(v->device, k, out->groups));
  return create_pipeline(v, cache, k->entry, vulkan_features_are_subgroups(image), image->size, image->data, out);
}

static bool has_branches(const program_sequence *s) {
  for (int i = 0; i < s->count; i++) {
    const program_thunk *t = s->thunks[i];
    if (t->kind == THUNK_CONDITIONAL || t->kind == THUNK_WHILE) return true;
    for (int k = 0; k < t->sequence_count; k++)
      if (has_branches(&t->sequences[k])) return true;
  }
  return false;
}

static heddle_status create_own(vulkan_program *v, VkPipelineCache cache) {
  v->has_predicates = v->device->has_predicates && has_branches(&v->program->entry);
  for (int k = 0; k < VULKAN_KERNEL_COUNT && v->has_predicates; k++) {
    const vulkan_kernel_module *own = &vulkan_kernels[k];
    TRY(create_pipeline(v, cache, own->entry, false, own->bytes, own->words, &v->own[k]));
  }
  return status_ok();
}

// The first that launches the kernel; null: nobody does.
static const program_thunk *who_launches(const program_sequence *s, int kernel) {
  for (int i = 0; i < s->count; i++) {
    const program_thunk *t = s->thunks[i], *found = NULL;
    if (t->kind == THUNK_KERNEL && t->launch.kernel == kernel) return t;
    for (int k = 0; k < t->sequence_count && !found; k++) found = who_launches(&t->sequences[k], kernel);
    if (found) return found;
  }
  return NULL;
}

static heddle_status say_where(heddle_status s, const program *p, int kernel) {
  if (status_is_ok(s)) return s;
  const program_thunk *t = who_launches(&p->entry, kernel);
  const char *entry = p->kernels[kernel].entry;
  if (!t || !t->name) return status_context(s, "while loading kernel %s", entry ? entry : "without a name");
  return status_context(status_locate(s, t->where), "while loading kernel %s of %s", entry ? entry : "without a name",
                        t->name);
}

// Comparators of sorts are the host's.
static bool is_for_device(const program *p, const program_kernel *k) {
  return k->image >= 0 && k->image < p->image_count && p->images[k->image].format == PROGRAM_SPIRV;
}

static heddle_status create_kernels(vulkan_program *v, VkPipelineCache cache) {
  const program *p = v->program;
  vulkan_device *d = v->device;
  const VkPushConstantRange pushed = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                      .size = VULKAN_PUSHED_MOST * sizeof(uint64_t)};
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &pushed};
  VULKAN_TRY(d->f.CreatePipelineLayout(d->device, &layout, NULL, &v->layout), CreatePipelineLayout);
  v->kernels = calloc((size_t)p->kernel_count + 1, sizeof *v->kernels);
  if (!v->kernels) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %d kernels", p->kernel_count);
  for (int k = 0; k < p->kernel_count; k++)
    if (is_for_device(p, &p->kernels[k])) TRY(say_where(create_kernel(v, cache, &p->kernels[k], &v->kernels[k]), p, k));
  return create_own(v, cache);
}

// --- constants

// The same in every run.
static bool is_constant(const program_allocation *a) {
  return a->kind == PROGRAM_CONSTANT || a->kind == PROGRAM_NUMBERS;
}

heddle_status vulkan_program_place(vulkan_device *d, const program *p, bool constants, vulkan_piece *pieces,
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
  heddle_status s = vulkan_memory_create(d, false, p->allocation_count, bytes, made, out);
  for (int i = 0; i < p->allocation_count && status_is_ok(s); i++)
    if (is_constant(&p->allocations[i]) == constants) pieces[i] = made[i];
  free(bytes);
  free(made);
  return s;
}

static heddle_status move_constants(vulkan_program *v, vulkan_copies *c) {
  TRY(vulkan_copies_create(v->device, c));
  TRY(vulkan_copies_begin(c));
  for (int i = 0; i < v->program->allocation_count; i++)
    vulkan_copies_add(c, false, &v->pieces[i], 0, v->program->allocations[i].bytes);
  return vulkan_copies_end(c);
}

// Of constants the host has the program's own.
static heddle_status send_constants(vulkan_program *v) {
  vulkan_copies c = {0};
  heddle_status s = move_constants(v, &c);
  if (c.is_stuck) v->device->is_abandoned = true;
  vulkan_copies_destroy(&c);
  TRY(s);
  vulkan_memory_drop_copies(&v->constants);
  for (int i = 0; i < v->program->allocation_count; i++) {
    if (!v->pieces[i].host) continue;
    v->pieces[i].host = (char *)(uintptr_t)v->program->allocations[i].data;
    v->pieces[i].copy = VK_NULL_HANDLE;
  }
  return status_ok();
}

static heddle_status load_constants(vulkan_program *v) {
  const program *p = v->program;
  v->pieces = calloc((size_t)p->allocation_count + 1, sizeof *v->pieces);
  if (!v->pieces) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of constants");
  TRY(vulkan_program_place(v->device, p, true, v->pieces, &v->constants));
  for (int i = 0; i < p->allocation_count; i++)
    if (v->pieces[i].host) memcpy(v->pieces[i].host, p->allocations[i].data, (size_t)p->allocations[i].bytes);
  return v->device->is_apart && v->constants.count ? send_constants(v) : status_ok();
}

// --- a program

static void destroy_kernel(const vulkan_device *d, const vulkan_kernel *k) {
  d->f.DestroyPipeline(d->device, k->pipeline, NULL);
  d->f.DestroyShaderModule(d->device, k->module, NULL);
}

static void destroy_kernels(const vulkan_program *v) {
  for (int k = 0; v->kernels && k < v->program->kernel_count; k++) destroy_kernel(v->device, &v->kernels[k]);
  for (int k = 0; k < VULKAN_KERNEL_COUNT; k++) destroy_kernel(v->device, &v->own[k]);
  if (v->layout) v->device->f.DestroyPipelineLayout(v->device->device, v->layout, NULL);
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

typedef struct loading {
  vulkan_program *program;
  vulkan_cache cache;
} loading;

static heddle_status make(void *argument) {
  loading *l = argument;
  vulkan_program *v = l->program;
  vulkan_cache_open(v->device, v->program, &l->cache);
  heddle_status s = create_kernels(v, l->cache.pipelines);
  vulkan_cache_close(v->device, &l->cache, status_is_ok(s));
  return status_is_ok(s) ? load_constants(v) : s;
}

// Where the host has no memory.
static void drop(void *argument, bool is_torn) {
  (void)is_torn;
  loading *l = argument;
  vulkan_cache_close(l->program->device, &l->cache, false);
  unload(l->program);
}

static heddle_status load(const program *p, const char *device, void **out) {
  vulkan_device *d;
  TRY(vulkan_device_open(device, &d));
  vulkan_program *v = calloc(1, sizeof *v);
  if (!v) {
    vulkan_device_close(d);
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  }
  *v = (vulkan_program){.device = d, .program = p};
  heddle_status s = guard_clean_up(make, drop, &(loading){.program = v});
  if (status_is_ok(s)) *out = v;
  else unload(v);
  return s;
}

// Without being asked a program takes the queues there are, few as they are; what it asks for share them.
device_abilities vulkan_program_abilities(const void *loaded) {
  enum { FEW = 2 };
  const vulkan_program *v = loaded;
  const int queues = v->device->queue_count, asked = v->program->streams;
  const int streams = asked ? asked : queues < FEW ? queues : FEW;
  return (device_abilities){v->device->has_timelines ? streams : 1, v->has_predicates};
}

const device_type vulkan_device_type = {.list = vulkan_device_list,
                                        .load = load,
                                        .unload = unload,
                                        .abilities = vulkan_program_abilities,
                                        .check = check,
                                        .create_frame = vulkan_frame_create,
                                        .destroy_frame = vulkan_frame_destroy,
                                        .submit = vulkan_frame_submit,
                                        .wait = vulkan_frame_wait,
                                        .finish = vulkan_frame_finish,
                                        .fetch = vulkan_frame_fetch,
                                        .store = vulkan_frame_store,
                                        .cross = vulkan_frame_cross,
                                        .is_idle = vulkan_frame_is_idle};
