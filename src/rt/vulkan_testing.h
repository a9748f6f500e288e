// A Vulkan driver that is none, for tests: its memory is the host's, its kernels add one, and each of its calls can be
// made to fail. What it gave out is counted, and what is submitted runs when somebody waits for it, what came last
// first.
#ifndef HEDDLE_RT_VULKAN_TESTING_H_
#define HEDDLE_RT_VULKAN_TESTING_H_

#include "rt/testing.h"
#include "rt/vulkan_driver.h"
#include "rt/vulkan_kernels.h"

enum { COUNT = 100, MOST_COMMANDS = 2048, MOST_WORK = 256, CACHE_BYTES = 100, OWN_MEMORY = 1 };

typedef enum fake_kind { FAKE_ADD, FAKE_COPY, FAKE_COPY_WORDS, FAKE_COPY_BYTES, FAKE_CHOOSE, FAKE_BARRIER } fake_kind;

typedef struct fake_command {
  fake_kind kind;
  uint64_t numbers[7];        // what was pushed; of a copy from, to and bytes
  const uint32_t *predicate;  // that has to be true; null: nothing
} fake_command;

typedef struct fake_commands {
  int count;
  fake_command list[MOST_COMMANDS];
  const uint32_t *predicate;   // of what is recorded now
  struct fake_commands *next;  // of the same pool
} fake_commands;

typedef struct fake_memory {
  uint32_t type;
  _Alignas(64) char data[];
} fake_memory;

typedef struct fake_buffer {
  fake_memory *memory;
} fake_buffer;

typedef struct fake_module {
  const uint32_t *words;
} fake_module;

typedef struct fake_pipeline {
  fake_kind kind;
} fake_pipeline;

typedef struct fake_semaphore {
  uint64_t value;
} fake_semaphore;

// What was submitted to a queue and has not run yet.
typedef struct fake_work {
  const fake_commands *commands;
  int wait_count;
  const fake_semaphore *waits[PROGRAM_MOST_STREAMS];
  uint64_t wait_values[PROGRAM_MOST_STREAMS];
  fake_semaphore *signal;
  uint64_t value;
} fake_work;

static struct {
  int live;         // objects that were made and not destroyed
  int calls;        // that can fail, so far
  int failing;      // of them; 0: none
  int failures;     // how many fail from there on; 0: one
  VkResult result;  // of that
  bool is_waiting;  // the call that failed was one that waits
  int lookups, missing;
  size_t cache_bytes;                    // that the last pipeline cache began with
  uint32_t vendor;                       // that it says
  uint32_t device_count, subgroup_size;  // 0: one, and none
  uint32_t told_size;                    // to the last pipeline that wants full subgroups
  int dispatches, submissions, barriers;
  int queue_count, queue_submissions[2];
  fake_work work[2][MOST_WORK];
  int work_count[2];
  int copies;
  bool has_no_int64, has_atomics, has_other_memory, has_no_timelines, is_apart, has_predicates, keeps,
      has_partial_subgroups;
} fake;

// What a driver still has that is given up: the sanitizer is to find it.
static void *kept[256];
static int kept_count;

static VkResult fake_answer(void) {
  const int more = fake.failures ? fake.failures - 1 : 0;
  fake.calls++;
  return fake.failing && fake.calls >= fake.failing && fake.calls <= fake.failing + more ? fake.result : VK_SUCCESS;
}

static VkResult fake_answer_waiting(void) {
  const VkResult result = fake_answer();
  if (result != VK_SUCCESS) fake.is_waiting = true;
  return result;
}

static int fake_pending(void) { return fake.work_count[0] + fake.work_count[1]; }

// A handle is a piece of memory, so that the sanitizer sees what is lost, but for an instance and a device (0 bytes):
// where the driver lacks the function that destroys them nobody can.
static VkResult fake_make(void *handle, size_t bytes) {
  const VkResult result = fake_answer();
  if (result != VK_SUCCESS) return result;
  void *made = bytes ? calloc(1, bytes) : &fake;
  if (!made) return VK_ERROR_OUT_OF_HOST_MEMORY;
  memcpy(handle, &made, sizeof made);
  if (fake.keeps) kept[kept_count++ % (int)(sizeof kept / sizeof *kept)] = made;
  fake.live++;
  return result;
}

static void fake_end(void *handle) {
  if (handle) fake.live--;
  if (handle != &fake) free(handle);
}

#define fake_maker(name, info, type)                                                                           \
  static VKAPI_ATTR VkResult VKAPI_CALL fake_##name(VkDevice d, const info *i, const VkAllocationCallbacks *a, \
                                                    type *out) {                                               \
    (void)d, (void)i, (void)a;                                                                                 \
    return fake_make(out, 1);                                                                                  \
  }
#define fake_destroyer(name, type)                                                                    \
  static VKAPI_ATTR void VKAPI_CALL fake_##name(VkDevice d, type x, const VkAllocationCallbacks *a) { \
    (void)d, (void)a;                                                                                 \
    fake_end((void *)x);                                                                              \
  }
#define UNUSED __attribute__((unused))
#define fake_answerer(name, ...) \
  static VKAPI_ATTR VkResult VKAPI_CALL fake_##name(__VA_ARGS__) { return fake_answer(); }

fake_maker(CreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
    fake_maker(CreateFence, VkFenceCreateInfo, VkFence) fake_destroyer(DestroyBuffer, VkBuffer)

        static VKAPI_ATTR VkResult VKAPI_CALL
    fake_CreateShaderModule(VkDevice d, const VkShaderModuleCreateInfo *i, const VkAllocationCallbacks *a,
                            VkShaderModule *out) {
  (void)d, (void)a;
  const VkResult result = fake_make(out, sizeof(fake_module));
  if (result == VK_SUCCESS) ((fake_module *)(void *)*out)->words = i->pCode;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateBuffer(VkDevice d, const VkBufferCreateInfo *i,
                                                        const VkAllocationCallbacks *a, VkBuffer *out) {
  (void)d, (void)i, (void)a;
  return fake_make(out, sizeof(fake_buffer));
}

fake_destroyer(DestroyShaderModule, VkShaderModule) fake_destroyer(DestroyPipelineLayout, VkPipelineLayout)
    fake_destroyer(DestroyPipeline, VkPipeline) fake_destroyer(DestroyFence, VkFence)
        fake_destroyer(DestroySemaphore, VkSemaphore) fake_destroyer(DestroyPipelineCache, VkPipelineCache)

            static VKAPI_ATTR VkResult VKAPI_CALL
    fake_CreatePipelineCache(VkDevice d, const VkPipelineCacheCreateInfo *i, const VkAllocationCallbacks *a,
                             VkPipelineCache *out) {
  (void)d, (void)a;
  fake.cache_bytes = i->initialDataSize;
  return fake_make(out, 1);
}

// A header and some bytes.
static VKAPI_ATTR VkResult VKAPI_CALL fake_GetPipelineCacheData(VkDevice d, VkPipelineCache c, size_t *bytes,
                                                                void *out) {
  (void)d, (void)c;
  const VkPipelineCacheHeaderVersionOne header = {
      sizeof header, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, fake.vendor, 0, {0}};
  *bytes = CACHE_BYTES;
  if (out) memset(out, 7, CACHE_BYTES);
  if (out) memcpy(out, &header, sizeof header);
  return fake_answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateSemaphore(VkDevice d, const VkSemaphoreCreateInfo *i,
                                                           const VkAllocationCallbacks *a, VkSemaphore *out) {
  (void)d, (void)i, (void)a;
  return fake_make(out, sizeof(fake_semaphore));
}

// Nothing that the device may be using is given back.
static VKAPI_ATTR void VKAPI_CALL fake_FreeMemory(VkDevice d, VkDeviceMemory x, const VkAllocationCallbacks *a) {
  (void)d, (void)a;
  assert_int_equal(fake_pending(), 0);
  fake_end((void *)x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateCommandPool(VkDevice d, const VkCommandPoolCreateInfo *i,
                                                             const VkAllocationCallbacks *a, VkCommandPool *out) {
  (void)d, (void)i, (void)a;
  return fake_make(out, sizeof(fake_commands));
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyCommandPool(VkDevice d, VkCommandPool x, const VkAllocationCallbacks *a) {
  (void)d, (void)a;
  assert_int_equal(fake_pending(), 0);
  fake_commands *first = (fake_commands *)(void *)x;
  while (first && first->next) {
    fake_commands *next = first->next;
    first->next = next->next;
    free(next);
  }
  fake_end((void *)x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateInstanceVersion(uint32_t *version) {
  *version = VK_API_VERSION_1_3;
  return fake_answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateInstance(const VkInstanceCreateInfo *i, const VkAllocationCallbacks *a,
                                                          VkInstance *out) {
  (void)i, (void)a;
  return fake_make(out, 0);
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyInstance(VkInstance x, const VkAllocationCallbacks *a) {
  (void)a;
  fake_end(x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumeratePhysicalDevices(VkInstance i, uint32_t *count,
                                                                    VkPhysicalDevice *out) {
  (void)i;
  const uint32_t all = fake.device_count ? fake.device_count : 1, room = out ? *count : all;
  *count = room < all ? room : all;
  for (uint32_t k = 0; k < *count && out; k++) out[k] = (VkPhysicalDevice)(void *)&fake;
  const VkResult answer = fake_answer();
  return answer == VK_SUCCESS && room < all ? VK_INCOMPLETE : answer;
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceProperties2(VkPhysicalDevice p,
                                                                    VkPhysicalDeviceProperties2 *out) {
  (void)p;
  VkPhysicalDeviceProperties *all = &out->properties;
  all->apiVersion = VK_API_VERSION_1_3;
  strcpy(all->deviceName, "fake");
  all->limits.maxComputeSharedMemorySize = 16384;
  all->limits.maxComputeWorkGroupInvocations = 128;
  for (int k = 0; k < 3; k++) all->limits.maxComputeWorkGroupCount[k] = 65535;
  for (VkBaseOutStructure *s = out->pNext; s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
      ((VkPhysicalDeviceMaintenance3Properties *)(void *)s)->maxMemoryAllocationSize = 1 << 20;
    if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) continue;
    VkPhysicalDeviceSubgroupProperties *subgroups = (VkPhysicalDeviceSubgroupProperties *)(void *)s;
    subgroups->subgroupSize = fake.subgroup_size;
    subgroups->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    subgroups->supportedOperations = fake.subgroup_size ? VK_SUBGROUP_FEATURE_SHUFFLE_BIT : 0;
  }
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateDeviceExtensionProperties(VkPhysicalDevice p, const char *layer,
                                                                              uint32_t *count,
                                                                              VkExtensionProperties *out) {
  (void)p, (void)layer;
  const uint32_t subgroups = fake.has_predicates;
  *count = subgroups + (fake.subgroup_size > 0);
  if (out && fake.has_predicates) strcpy(out->extensionName, VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME);
  if (out && fake.subgroup_size) strcpy(out[subgroups].extensionName, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  return fake_answer();
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceFeatures2(VkPhysicalDevice p, VkPhysicalDeviceFeatures2 *out) {
  (void)p;
  out->features.shaderInt64 = !fake.has_no_int64;
  for (VkBaseOutStructure *s = out->pNext; s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
      ((VkPhysicalDeviceBufferDeviceAddressFeatures *)(void *)s)->bufferDeviceAddress = true;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT)
      ((VkPhysicalDeviceSubgroupSizeControlFeatures *)(void *)s)->computeFullSubgroups = !fake.has_partial_subgroups;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES)
      ((VkPhysicalDevice8BitStorageFeatures *)(void *)s)->storageBuffer8BitAccess = fake.has_predicates;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT)
      ((VkPhysicalDeviceConditionalRenderingFeaturesEXT *)(void *)s)->conditionalRendering = fake.has_predicates;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)
      ((VkPhysicalDeviceTimelineSemaphoreFeatures *)(void *)s)->timelineSemaphore = !fake.has_no_timelines;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES)
      ((VkPhysicalDeviceShaderAtomicInt64Features *)(void *)s)->shaderBufferInt64Atomics = fake.has_atomics;
  }
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice p,
                                                                         VkPhysicalDeviceMemoryProperties *out) {
  (void)p;
  enum { SEEN = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT };
  *out = (VkPhysicalDeviceMemoryProperties){.memoryTypeCount = 1, .memoryHeapCount = 1};
  out->memoryTypes[0].propertyFlags = SEEN;
  if (!fake.is_apart) return;
  // Of its own memory the host sees a small part.
  out->memoryTypeCount = out->memoryHeapCount = 3;
  for (uint32_t k = 0; k < 3; k++) out->memoryTypes[k].heapIndex = k;
  out->memoryTypes[OWN_MEMORY].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  out->memoryTypes[2].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | SEEN;
  out->memoryHeaps[0].size = 1 << 30;
  out->memoryHeaps[OWN_MEMORY].size = 1 << 30;
  out->memoryHeaps[2].size = 1 << 20;
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice p, uint32_t *count,
                                                                              VkQueueFamilyProperties *out) {
  (void)p;
  *count = 2;
  out[0] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_TRANSFER_BIT, .queueCount = 8};
  out[1] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT,
                                     .queueCount = fake.queue_count ? (uint32_t)fake.queue_count : 1};
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateDevice(VkPhysicalDevice p, const VkDeviceCreateInfo *i,
                                                        const VkAllocationCallbacks *a, VkDevice *out) {
  (void)p, (void)i, (void)a;
  return fake_make(out, 0);
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyDevice(VkDevice x, const VkAllocationCallbacks *a) {
  (void)a;
  fake_end(x);
}

static VKAPI_ATTR void VKAPI_CALL fake_GetDeviceQueue(VkDevice d, uint32_t family, uint32_t number, VkQueue *out) {
  (void)d;
  assert_int_equal(family, 1);
  *out = (VkQueue)(void *)&fake.queue_submissions[number];
}

static VKAPI_ATTR void VKAPI_CALL fake_GetBufferMemoryRequirements(VkDevice d, VkBuffer b, VkMemoryRequirements *out) {
  (void)d, (void)b;
  *out = (VkMemoryRequirements){.size = 1 << 16, .alignment = 256, .memoryTypeBits = fake.has_other_memory ? 8 : 7};
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateMemory(VkDevice d, const VkMemoryAllocateInfo *i,
                                                          const VkAllocationCallbacks *a, VkDeviceMemory *out) {
  (void)d, (void)a;
  const VkResult result = fake_make(out, sizeof(fake_memory) + i->allocationSize);
  if (result == VK_SUCCESS) ((fake_memory *)(void *)*out)->type = i->memoryTypeIndex;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BindBufferMemory(VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o) {
  (void)d, (void)o;
  ((fake_buffer *)(void *)b)->memory = (fake_memory *)(void *)m;
  return fake_answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_MapMemory(VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s,
                                                     VkMemoryMapFlags f, void **out) {
  (void)d, (void)o, (void)s, (void)f;
  assert_int_not_equal(((fake_memory *)(void *)m)->type, OWN_MEMORY);
  *out = ((fake_memory *)(void *)m)->data;
  return fake_answer();
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL fake_GetBufferDeviceAddress(VkDevice d,
                                                                         const VkBufferDeviceAddressInfo *i) {
  (void)d;
  return (uint64_t)(uintptr_t)((const fake_buffer *)(void *)i->buffer)->memory->data;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateComputePipelines(VkDevice d, VkPipelineCache c, uint32_t count,
                                                                  const VkComputePipelineCreateInfo *i,
                                                                  const VkAllocationCallbacks *a, VkPipeline *out) {
  (void)d, (void)c, (void)count, (void)a;
  const VkResult result = fake_make(out, sizeof(fake_pipeline));
  const uint32_t *words = ((const fake_module *)(void *)i->stage.module)->words;
  const VkSpecializationInfo *constants = i->stage.pSpecializationInfo;
  const bool is_full = i->stage.flags == VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  if (constants && is_full) memcpy(&fake.told_size, constants->pData, sizeof fake.told_size);
  for (int k = 0; k < VULKAN_KERNEL_COUNT && result == VK_SUCCESS; k++)
    if (words == vulkan_kernels[k].words) ((fake_pipeline *)(void *)*out)->kind = FAKE_COPY_WORDS + (fake_kind)k;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateCommandBuffers(VkDevice d, const VkCommandBufferAllocateInfo *i,
                                                                  VkCommandBuffer *out) {
  (void)d;
  const VkResult result = fake_answer();
  if (result != VK_SUCCESS) return result;
  fake_commands *pool = (fake_commands *)(void *)i->commandPool, *made = calloc(1, sizeof *made);
  if (!made) return VK_ERROR_OUT_OF_HOST_MEMORY;
  made->next = pool->next;
  pool->next = made;
  *out = (VkCommandBuffer)(void *)made;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BeginCommandBuffer(VkCommandBuffer c, const VkCommandBufferBeginInfo *i) {
  (void)i;
  ((fake_commands *)(void *)c)->count = 0;
  return fake_answer();
}

static fake_command *fake_next_command(VkCommandBuffer c) {
  fake_commands *to = (fake_commands *)(void *)c;
  assert_in_range(to->count, 0, MOST_COMMANDS - 1);
  return &to->list[to->count];
}

static uint64_t fake_address(VkBuffer b, uint64_t offset) {
  return (uint64_t)(uintptr_t)((const fake_buffer *)(void *)b)->memory->data + offset;
}

// Copies do not heed predicates.
static VKAPI_ATTR void VKAPI_CALL fake_CmdCopyBuffer(VkCommandBuffer c, VkBuffer from, VkBuffer to, uint32_t count,
                                                     const VkBufferCopy *ranges) {
  assert_int_equal(count, 1);
  *fake_next_command(c) = (fake_command){
      .kind = FAKE_COPY,
      .numbers = {fake_address(from, ranges->srcOffset), fake_address(to, ranges->dstOffset), ranges->size}};
  ((fake_commands *)(void *)c)->count++;
  fake.copies++;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdBeginConditionalRenderingEXT(VkCommandBuffer c,
                                                                       const VkConditionalRenderingBeginInfoEXT *i) {
  assert_null(((fake_commands *)(void *)c)->predicate);
  assert_int_equal(i->offset % 4, 0);
  ((fake_commands *)(void *)c)->predicate = (const uint32_t *)(uintptr_t)fake_address(i->buffer, i->offset);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdEndConditionalRenderingEXT(VkCommandBuffer c) {
  assert_non_null(((fake_commands *)(void *)c)->predicate);
  ((fake_commands *)(void *)c)->predicate = NULL;
}

fake_answerer(EndCommandBuffer, UNUSED VkCommandBuffer c)
    fake_answerer(ResetFences, UNUSED VkDevice d, UNUSED uint32_t count, UNUSED const VkFence *f)

        static VKAPI_ATTR void VKAPI_CALL
    fake_CmdBindPipeline(VkCommandBuffer c, VkPipelineBindPoint point, VkPipeline p) {
  (void)point;
  fake_next_command(c)->kind = ((const fake_pipeline *)(void *)p)->kind;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPushConstants(VkCommandBuffer c, VkPipelineLayout l, VkShaderStageFlags f,
                                                        uint32_t offset, uint32_t size, const void *values) {
  (void)l, (void)f, (void)offset;
  fake_command *to = fake_next_command(c);
  *to = (fake_command){.predicate = ((fake_commands *)(void *)c)->predicate};
  memcpy(to->numbers, values, size < sizeof to->numbers ? size : sizeof to->numbers);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPipelineBarrier(VkCommandBuffer c, VkPipelineStageFlags before,
                                                          VkPipelineStageFlags after, VkDependencyFlags f, uint32_t m,
                                                          const VkMemoryBarrier *memory, uint32_t b,
                                                          const VkBufferMemoryBarrier *buffers, uint32_t i,
                                                          const VkImageMemoryBarrier *images) {
  fake.barriers++;
  *fake_next_command(c) = (fake_command){.kind = FAKE_BARRIER};
  ((fake_commands *)(void *)c)->count++;
  (void)before, (void)after, (void)f, (void)m, (void)memory, (void)b, (void)buffers, (void)i, (void)images;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdDispatch(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  ((fake_commands *)(void *)c)->count++;
  fake.dispatches++;
}

static void fake_choose(const uint64_t *n) {
  const uint32_t value = *(const uint32_t *)(uintptr_t)n[0] >> n[1] & (uint32_t)n[2], count = (uint32_t)n[4];
  const uint32_t chosen = n[3] ? value == 0 : value < count ? value : count - 1;
  for (uint32_t k = 0; k < count; k++)
    ((uint32_t *)(uintptr_t)n[6])[k] = *(const uint32_t *)(uintptr_t)n[5] && k == chosen;
}

// Each kernel of the program adds one to all elements.
static void fake_run_command(const fake_command *c) {
  const void *from = (const void *)(uintptr_t)c->numbers[0];
  void *to = (void *)(uintptr_t)c->numbers[1];
  if (c->predicate && !*c->predicate) return;
  switch (c->kind) {
    case FAKE_ADD:
      for (int e = 0; e < COUNT; e++) ((int32_t *)to)[e] = ((const int32_t *)from)[e] + 1;
      break;
    case FAKE_COPY:
    case FAKE_COPY_BYTES: memcpy(to, from, c->numbers[2]); break;
    case FAKE_COPY_WORDS: memcpy(to, from, 4 * c->numbers[2]); break;
    case FAKE_CHOOSE: fake_choose(c->numbers); break;
    case FAKE_BARRIER: break;
  }
}

// Between barriers the last one first, so that a barrier that is lacking shows.
static void fake_run_commands(const fake_commands *c) {
  for (int first = 0, end = 0; first < c->count; first = end) {
    for (end = first + 1; end < c->count && c->list[end].kind != FAKE_BARRIER;) end++;
    for (int k = end - 1; k >= first; k--) fake_run_command(&c->list[k]);
  }
}

// What is submitted waits in its queue until the host wants to know, so that nothing comes early that nobody waits for.
static VKAPI_ATTR VkResult VKAPI_CALL fake_QueueSubmit(VkQueue q, uint32_t count, const VkSubmitInfo *i, VkFence f) {
  const int queue = (int)((const int *)(const void *)q - fake.queue_submissions);
  const VkTimelineSemaphoreSubmitInfo *values = i->pNext;
  const VkResult result = fake_answer();
  (void)count, (void)f;
  if (result != VK_SUCCESS) return result;
  assert_in_range(fake.work_count[queue], 0, MOST_WORK - 1);
  fake_work *w = &fake.work[queue][fake.work_count[queue]++];
  *w = (fake_work){.commands = (const fake_commands *)(void *)i->pCommandBuffers[0]};
  for (uint32_t k = 0; k < i->waitSemaphoreCount; k++) {
    w->waits[w->wait_count] = (const fake_semaphore *)(void *)i->pWaitSemaphores[k];
    w->wait_values[w->wait_count++] = values->pWaitSemaphoreValues[k];
  }
  if (i->signalSemaphoreCount) w->signal = (fake_semaphore *)(void *)i->pSignalSemaphores[0];
  if (i->signalSemaphoreCount) w->value = values->pSignalSemaphoreValues[0];
  fake.submissions++;
  fake.queue_submissions[queue]++;
  return result;
}

static bool fake_may_begin(const fake_work *w) {
  for (int k = 0; k < w->wait_count; k++)
    if (w->waits[k]->value < w->wait_values[k]) return false;
  return true;
}

// The last queue first, so that a wait that is lacking shows.
static bool fake_run_next(void) {
  for (int queue = 1; queue >= 0; queue--) {
    fake_work *w = fake.work[queue];
    if (!fake.work_count[queue] || !fake_may_begin(w)) continue;
    fake_run_commands(w->commands);
    if (w->signal) {
      assert_true(w->signal->value < w->value);
      w->signal->value = w->value;
    }
    memmove(w, w + 1, (size_t)--fake.work_count[queue] * sizeof *w);
    return true;
  }
  return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_WaitForFences(VkDevice d, uint32_t count, const VkFence *f, VkBool32 all,
                                                         uint64_t limit) {
  (void)d, (void)count, (void)f, (void)all, (void)limit;
  const VkResult result = fake_answer_waiting();
  if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
    while (fake_run_next()) continue;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_WaitSemaphores(VkDevice d, const VkSemaphoreWaitInfo *i, uint64_t limit) {
  (void)d, (void)limit;
  const VkResult result = fake_answer_waiting();
  if (result == VK_ERROR_DEVICE_LOST)
    while (fake_run_next()) continue;
  for (uint32_t k = 0; k < i->semaphoreCount && result == VK_SUCCESS; k++)
    while (((const fake_semaphore *)(void *)i->pSemaphores[k])->value < i->pValues[k])
      if (!fake_run_next()) fail_msg("everybody waits for somebody else");
  return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice d, const char *name);

static const struct {
  const char *name;
  PFN_vkVoidFunction function;
} functions[] = {
#define ROW(name) {"vk" #name, (PFN_vkVoidFunction)fake_##name},
    VULKAN_GLOBAL_FUNCTIONS(ROW) VULKAN_INSTANCE_FUNCTIONS(ROW) VULKAN_DEVICE_FUNCTIONS(ROW) ROW(WaitSemaphores)
        ROW(CmdBeginConditionalRenderingEXT) ROW(CmdEndConditionalRenderingEXT) ROW(GetBufferDeviceAddress)
#undef ROW
};

static PFN_vkVoidFunction fake_look_up(const char *name) {
  if (++fake.lookups == fake.missing) return NULL;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (strcmp(functions[k].name, name) == 0) return functions[k].function;
  return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice d, const char *name) {
  (void)d;
  return fake_look_up(name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetInstanceProcAddr(VkInstance i, const char *name) {
  (void)i;
  return fake_look_up(name);
}

#endif
