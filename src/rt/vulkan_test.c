// Programs on a Vulkan driver that is none: its memory is the host's, its kernels add one, and each of its calls can be
// made to fail. What it gave out is counted.
#include <sys/wait.h>
#include <unistd.h>

#include "rt/device_types.h"
#include "rt/testing.h"
#include "rt/vulkan_driver.h"

enum { COUNT = 100, MOST_COMMANDS = 64, MOST_WORK = 256, CACHE_BYTES = 100, OWN_MEMORY = 1 };

// --- the driver

// A kernel on two addresses, or a copy.
typedef struct fake_command {
  uint64_t from, to;
  size_t bytes;  // of a copy
} fake_command;

typedef struct fake_commands {
  int count;
  fake_command list[MOST_COMMANDS];
  struct fake_commands *next;  // of the same pool
} fake_commands;

typedef struct fake_memory {
  uint32_t type;
  _Alignas(64) char data[];
} fake_memory;

typedef struct fake_buffer {
  fake_memory *memory;
} fake_buffer;

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
  size_t cache_bytes;  // that the last pipeline cache began with
  uint32_t vendor;     // that it says
  int dispatches, submissions, barriers;
  int queue_count, queue_submissions[2];
  fake_work work[2][MOST_WORK];
  int work_count[2];
  int copies;
  bool has_atomics, has_other_memory, has_no_timelines, is_apart, keeps;
} fake;

// What a driver still has that is given up: the sanitizer is to find it.
static void *kept[256];
static int kept_count;

static VkResult answer(void) {
  const int more = fake.failures ? fake.failures - 1 : 0;
  fake.calls++;
  return fake.failing && fake.calls >= fake.failing && fake.calls <= fake.failing + more ? fake.result : VK_SUCCESS;
}

static VkResult answer_waiting(void) {
  const VkResult result = answer();
  if (result != VK_SUCCESS) fake.is_waiting = true;
  return result;
}

static int pending(void) { return fake.work_count[0] + fake.work_count[1]; }

// A handle is a piece of memory, so that the sanitizer sees what is lost, but for an instance and a device (0 bytes):
// where the driver lacks the function that destroys them nobody can.
static VkResult make(void *handle, size_t bytes) {
  const VkResult result = answer();
  if (result != VK_SUCCESS) return result;
  void *made = bytes ? calloc(1, bytes) : &fake;
  memcpy(handle, &made, sizeof made);
  if (fake.keeps) kept[kept_count++ % (int)(sizeof kept / sizeof *kept)] = made;
  fake.live++;
  return result;
}

static void end(void *handle) {
  if (handle) fake.live--;
  if (handle != &fake) free(handle);
}

#define MAKE(name, info, type)                                                                                 \
  static VKAPI_ATTR VkResult VKAPI_CALL fake_##name(VkDevice d, const info *i, const VkAllocationCallbacks *a, \
                                                    type *out) {                                               \
    (void)d, (void)i, (void)a;                                                                                 \
    return make(out, 1);                                                                                       \
  }
#define DESTROY(name, type)                                                                           \
  static VKAPI_ATTR void VKAPI_CALL fake_##name(VkDevice d, type x, const VkAllocationCallbacks *a) { \
    (void)d, (void)a;                                                                                 \
    end((void *)x);                                                                                   \
  }
#define UNUSED __attribute__((unused))
#define ANSWER(name, ...) \
  static VKAPI_ATTR VkResult VKAPI_CALL fake_##name(__VA_ARGS__) { return answer(); }

MAKE(CreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
MAKE(CreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
MAKE(CreateFence, VkFenceCreateInfo, VkFence)
DESTROY(DestroyBuffer, VkBuffer)

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateBuffer(VkDevice d, const VkBufferCreateInfo *i,
                                                        const VkAllocationCallbacks *a, VkBuffer *out) {
  (void)d, (void)i, (void)a;
  return make(out, sizeof(fake_buffer));
}

DESTROY(DestroyShaderModule, VkShaderModule)
DESTROY(DestroyPipelineLayout, VkPipelineLayout)
DESTROY(DestroyPipeline, VkPipeline)
DESTROY(DestroyFence, VkFence)
DESTROY(DestroySemaphore, VkSemaphore)
DESTROY(DestroyPipelineCache, VkPipelineCache)

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreatePipelineCache(VkDevice d, const VkPipelineCacheCreateInfo *i,
                                                               const VkAllocationCallbacks *a, VkPipelineCache *out) {
  (void)d, (void)a;
  fake.cache_bytes = i->initialDataSize;
  return make(out, 1);
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
  return answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateSemaphore(VkDevice d, const VkSemaphoreCreateInfo *i,
                                                           const VkAllocationCallbacks *a, VkSemaphore *out) {
  (void)d, (void)i, (void)a;
  return make(out, sizeof(fake_semaphore));
}

// Nothing that the device may be using is given back.
static VKAPI_ATTR void VKAPI_CALL fake_FreeMemory(VkDevice d, VkDeviceMemory x, const VkAllocationCallbacks *a) {
  (void)d, (void)a;
  assert_int_equal(pending(), 0);
  end((void *)x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateCommandPool(VkDevice d, const VkCommandPoolCreateInfo *i,
                                                             const VkAllocationCallbacks *a, VkCommandPool *out) {
  (void)d, (void)i, (void)a;
  return make(out, sizeof(fake_commands));
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyCommandPool(VkDevice d, VkCommandPool x, const VkAllocationCallbacks *a) {
  (void)d, (void)a;
  assert_int_equal(pending(), 0);
  fake_commands *first = (fake_commands *)(void *)x;
  while (first && first->next) {
    fake_commands *next = first->next;
    first->next = next->next;
    free(next);
  }
  end((void *)x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateInstanceVersion(uint32_t *version) {
  *version = VK_API_VERSION_1_3;
  return answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateInstance(const VkInstanceCreateInfo *i, const VkAllocationCallbacks *a,
                                                          VkInstance *out) {
  (void)i, (void)a;
  return make(out, 0);
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyInstance(VkInstance x, const VkAllocationCallbacks *a) {
  (void)a;
  end(x);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumeratePhysicalDevices(VkInstance i, uint32_t *count,
                                                                    VkPhysicalDevice *out) {
  (void)i;
  *count = 1;
  out[0] = (VkPhysicalDevice)(void *)&fake;
  return answer();
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
  for (VkBaseOutStructure *s = out->pNext; s; s = s->pNext)
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
      ((VkPhysicalDeviceMaintenance3Properties *)(void *)s)->maxMemoryAllocationSize = 1 << 20;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateDeviceExtensionProperties(VkPhysicalDevice p, const char *layer,
                                                                              uint32_t *count,
                                                                              VkExtensionProperties *out) {
  (void)p, (void)layer, (void)out;
  *count = 0;
  return answer();
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceFeatures2(VkPhysicalDevice p, VkPhysicalDeviceFeatures2 *out) {
  (void)p;
  out->features.shaderInt64 = true;
  for (VkBaseOutStructure *s = out->pNext; s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
      ((VkPhysicalDeviceBufferDeviceAddressFeatures *)(void *)s)->bufferDeviceAddress = true;
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
  return make(out, 0);
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyDevice(VkDevice x, const VkAllocationCallbacks *a) {
  (void)a;
  end(x);
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
  const VkResult result = make(out, sizeof(fake_memory) + i->allocationSize);
  if (result == VK_SUCCESS) ((fake_memory *)(void *)*out)->type = i->memoryTypeIndex;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BindBufferMemory(VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o) {
  (void)d, (void)o;
  ((fake_buffer *)(void *)b)->memory = (fake_memory *)(void *)m;
  return answer();
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_MapMemory(VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s,
                                                     VkMemoryMapFlags f, void **out) {
  (void)d, (void)o, (void)s, (void)f;
  assert_int_not_equal(((fake_memory *)(void *)m)->type, OWN_MEMORY);
  *out = ((fake_memory *)(void *)m)->data;
  return answer();
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL fake_GetBufferDeviceAddress(VkDevice d,
                                                                         const VkBufferDeviceAddressInfo *i) {
  (void)d;
  return (uint64_t)(uintptr_t)((const fake_buffer *)(void *)i->buffer)->memory->data;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateComputePipelines(VkDevice d, VkPipelineCache c, uint32_t count,
                                                                  const VkComputePipelineCreateInfo *i,
                                                                  const VkAllocationCallbacks *a, VkPipeline *out) {
  (void)d, (void)c, (void)count, (void)i, (void)a;
  return make(out, 1);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateCommandBuffers(VkDevice d, const VkCommandBufferAllocateInfo *i,
                                                                  VkCommandBuffer *out) {
  (void)d;
  const VkResult result = answer();
  if (result != VK_SUCCESS) return result;
  fake_commands *pool = (fake_commands *)(void *)i->commandPool, *made = calloc(1, sizeof *made);
  made->next = pool->next;
  pool->next = made;
  *out = (VkCommandBuffer)(void *)made;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BeginCommandBuffer(VkCommandBuffer c, const VkCommandBufferBeginInfo *i) {
  (void)i;
  ((fake_commands *)(void *)c)->count = 0;
  return answer();
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdCopyBuffer(VkCommandBuffer c, VkBuffer from, VkBuffer to, uint32_t count,
                                                     const VkBufferCopy *ranges) {
  fake_commands *commands = (fake_commands *)(void *)c;
  assert_int_equal(count, 1);
  assert_in_range(commands->count, 0, MOST_COMMANDS - 1);
  commands->list[commands->count++] = (fake_command){
      (uint64_t)(uintptr_t)((const fake_buffer *)(void *)from)->memory->data + ranges->srcOffset,
      (uint64_t)(uintptr_t)((const fake_buffer *)(void *)to)->memory->data + ranges->dstOffset, ranges->size};
  fake.copies++;
}

ANSWER(EndCommandBuffer, UNUSED VkCommandBuffer c)
ANSWER(ResetFences, UNUSED VkDevice d, UNUSED uint32_t count, UNUSED const VkFence *f)

static VKAPI_ATTR void VKAPI_CALL fake_CmdBindPipeline(VkCommandBuffer c, VkPipelineBindPoint point, VkPipeline p) {
  (void)c, (void)point, (void)p;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPushConstants(VkCommandBuffer c, VkPipelineLayout l, VkShaderStageFlags f,
                                                        uint32_t offset, uint32_t size, const void *values) {
  (void)l, (void)f, (void)offset;
  fake_commands *to = (fake_commands *)(void *)c;
  assert_in_range(to->count, 0, MOST_COMMANDS - 1);
  to->list[to->count] = (fake_command){0};
  memcpy(&to->list[to->count], values, size < 2 * sizeof(uint64_t) ? size : 2 * sizeof(uint64_t));
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPipelineBarrier(VkCommandBuffer c, VkPipelineStageFlags before,
                                                          VkPipelineStageFlags after, VkDependencyFlags f, uint32_t m,
                                                          const VkMemoryBarrier *memory, uint32_t b,
                                                          const VkBufferMemoryBarrier *buffers, uint32_t i,
                                                          const VkImageMemoryBarrier *images) {
  fake.barriers++;
  (void)c, (void)before, (void)after, (void)f, (void)m, (void)memory, (void)b, (void)buffers, (void)i, (void)images;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdDispatch(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  ((fake_commands *)(void *)c)->count++;
  fake.dispatches++;
}

// Each kernel adds one to all elements.
static void run_commands(const fake_commands *c) {
  for (int k = 0; k < c->count; k++) {
    const int32_t *from = (const int32_t *)(uintptr_t)c->list[k].from;
    int32_t *to = (int32_t *)(uintptr_t)c->list[k].to;
    if (c->list[k].bytes) memcpy(to, from, c->list[k].bytes);
    for (int e = 0; e < COUNT && !c->list[k].bytes; e++) to[e] = from[e] + 1;
  }
}

// What is submitted waits in its queue until the host wants to know, so that nothing comes early that nobody waits for.
static VKAPI_ATTR VkResult VKAPI_CALL fake_QueueSubmit(VkQueue q, uint32_t count, const VkSubmitInfo *i, VkFence f) {
  const int queue = (int)((const int *)(const void *)q - fake.queue_submissions);
  const VkTimelineSemaphoreSubmitInfo *values = i->pNext;
  const VkResult result = answer();
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

static bool may_begin(const fake_work *w) {
  for (int k = 0; k < w->wait_count; k++)
    if (w->waits[k]->value < w->wait_values[k]) return false;
  return true;
}

// The last queue first, so that a wait that is lacking shows.
static bool run_next(void) {
  for (int queue = 1; queue >= 0; queue--) {
    fake_work *w = fake.work[queue];
    if (!fake.work_count[queue] || !may_begin(w)) continue;
    run_commands(w->commands);
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
  const VkResult result = answer_waiting();
  if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
    while (run_next()) continue;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_WaitSemaphores(VkDevice d, const VkSemaphoreWaitInfo *i, uint64_t limit) {
  (void)d, (void)limit;
  const VkResult result = answer_waiting();
  if (result == VK_ERROR_DEVICE_LOST)
    while (run_next()) continue;
  for (uint32_t k = 0; k < i->semaphoreCount && result == VK_SUCCESS; k++)
    while (((const fake_semaphore *)(void *)i->pSemaphores[k])->value < i->pValues[k])
      if (!run_next()) fail_msg("everybody waits for somebody else");
  return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice d, const char *name);

static const struct {
  const char *name;
  PFN_vkVoidFunction function;
} functions[] = {
#define ROW(name) {"vk" #name, (PFN_vkVoidFunction)fake_##name},
    VULKAN_GLOBAL_FUNCTIONS(ROW) VULKAN_INSTANCE_FUNCTIONS(ROW) VULKAN_DEVICE_FUNCTIONS(ROW) ROW(WaitSemaphores)
        ROW(GetBufferDeviceAddress)
#undef ROW
};

static PFN_vkVoidFunction look_up(const char *name) {
  if (++fake.lookups == fake.missing) return NULL;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (strcmp(functions[k].name, name) == 0) return functions[k].function;
  return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice d, const char *name) {
  (void)d;
  return look_up(name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetInstanceProcAddr(VkInstance i, const char *name) {
  (void)i;
  return look_up(name);
}

// --- programs

// The words in front of a module that asks for a capability.
static const uint32_t plain[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 1};
static const uint32_t atomic[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 1, 2U << 16 | 17, 12};
static const uint32_t unknown[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 4711};
static const uint32_t no_module[] = {1, 2, 3, 4, 5, 6};

static program_image image;

// result = parameter + 2, by two kernels through a temporary.
static program_sequence build(testing_program *h, const uint32_t *words, size_t bytes) {
  fake = (typeof(fake)){0};
  image = (program_image){PROGRAM_SPIRV, words, bytes};
  h->program.device = TARGET_VULKAN;
  h->program.images = &image;
  h->program.image_count = 1;
  const int in = testing_memory(h, PROGRAM_PARAMETER, 0, 4 * COUNT),
            out = testing_memory(h, PROGRAM_RESULT, 0, 4 * COUNT),
            between = testing_memory(h, PROGRAM_TEMPORARY, 0, 4 * COUNT);
  const int kernel = testing_kernel(h, NULL, 2);
  program_thunk *first = testing_step(h, kernel, in, between), *second = testing_step(h, kernel, between, out);
  for (int k = 0; k < h->kernels.size; k++) {
    h->kernels.data[k].grid[0] = h->kernels.data[k].grid[1] = h->kernels.data[k].grid[2] = 1;
    h->kernels.data[k].block[0] = 64;
  }
  return testing_sequence(h, 2, (program_thunk *[]){first, second});
}

static heddle_status run_once(testing_program *h, program_sequence entry, int32_t *found) {
  int32_t given[COUNT];
  for (int i = 0; i < COUNT; i++) given[i] = 7 * i;
  executable *e;
  TRY(testing_create(h, entry, 1, &e));
  heddle_status s = executable_run(e, (void *[]){given}, (void *[]){found});
  // What was recorded is submitted as it is.
  if (status_is_ok(s)) s = executable_run(e, (void *[]){given}, (void *[]){found});
  executable_destroy(e);
  return s;
}

static void test_run(void **state) {
  (void)state;
  testing_program h = testing_start();
  int32_t found[COUNT];
  testing_check(run_once(&h, build(&h, plain, sizeof plain), found));
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + 2);
  assert_int_equal(fake.dispatches, 2);
  assert_int_equal(fake.submissions, 2);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Kernels wait for each other where they touch the same bytes, and only there.
static void test_barriers(void **state) {
  (void)state;
  for (int is_chain = 0; is_chain < 2; is_chain++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    const int kernel = 0, in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 12 * COUNT;
    const int x = testing_slice(&h, room, 0, 4 * COUNT), y = testing_slice(&h, room, 512, 4 * COUNT);
    program_thunk *steps[] = {testing_step(&h, kernel, in, x), testing_step(&h, kernel, is_chain ? x : in, y),
                              testing_step(&h, kernel, y, out)};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 3, steps), found));
    // One behind the host, one before it.
    assert_int_equal(fake.barriers, 2 + (is_chain ? 2 : 1));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + (is_chain ? 3 : 2));
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Numbers of a program for open sizes are there as constants are.
static void test_numbers(void **state) {
  (void)state;
  testing_program h = testing_start();
  build(&h, plain, sizeof plain);
  int64_t numbers[COUNT / 2];
  int32_t found[COUNT];
  for (int i = 0; i < COUNT / 2; i++) numbers[i] = i;
  const int table = testing_memory(&h, PROGRAM_NUMBERS, 0, sizeof numbers), out = 1;
  vec_last(&h.allocations).data = numbers;
  program_thunk *step = testing_step(&h, 0, table, out);
  testing_check(run_once(&h, testing_sequence(&h, 1, &step), found));
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], ((const int32_t *)(const void *)numbers)[i] + 1);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Commands that could not be recorded are recorded anew, with another table of addresses.
static void test_recording_again(void **state) {
  (void)state;
  enum { BUFFERS = 17, FRAME_CALLS = 6, TABLE_CALLS = 5 };  // made before the commands begin
  testing_program h = testing_start();
  build(&h, plain, sizeof plain);
  program_thunk *step = testing_step(&h, 0, 0, 1);
  int buffers[BUFFERS] = {0};
  for (int i = 1; i < BUFFERS; i++) buffers[i] = 1;
  testing_kernel_of(&h, step)->buffer_count = step->launch.buffer_count = BUFFERS;
  step->launch.buffers = testing_numbers(&h, BUFFERS, buffers);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &step), 1, &e));
  int32_t given[COUNT] = {0}, found[COUNT];
  fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
  for (int turn = 0; turn < 2; turn++) {
    fake.failing = fake.calls + (turn == 0 ? FRAME_CALLS : 0) + TABLE_CALLS + 1;
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_OUT_OF_MEMORY,
                        "vkBeginCommandBuffer");
  }
  executable_destroy(e);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Whatever call fails says so, and nothing is lost.
static void check_failing_calls(bool has_fences, bool is_apart) {
  static const struct {
    VkResult result;
    heddle_code code;
  } cases[] = {{VK_ERROR_OUT_OF_DEVICE_MEMORY, HEDDLE_OUT_OF_MEMORY},
               {VK_ERROR_OUT_OF_HOST_MEMORY, HEDDLE_OUT_OF_MEMORY},
               {VK_ERROR_DEVICE_LOST, HEDDLE_DEVICE_FAILED},
               {VK_ERROR_UNKNOWN, HEDDLE_DEVICE_FAILED}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    bool goes_on = true;
    for (int n = 1; goes_on; n++) {
      testing_program h = testing_start();
      int32_t found[COUNT];
      const program_sequence entry = build(&h, plain, sizeof plain);
      fake.failing = n;
      fake.result = cases[c].result;
      fake.has_no_timelines = has_fences;
      fake.is_apart = is_apart;
      heddle_status s = run_once(&h, entry, found);
      goes_on = fake.calls >= n;
      // Who could not wait waits again.
      const bool is_mended = fake.is_waiting && cases[c].result != VK_ERROR_DEVICE_LOST;
      if (goes_on && !is_mended) testing_check_error(s, cases[c].code, "vk");
      else testing_check(s);
      assert_int_equal(fake.live, 0);
      assert_true(n < 300);
      testing_end(&h);
    }
  }
}

static void test_failing_calls(void **state) {
  (void)state;
  check_failing_calls(false, false);
  check_failing_calls(false, true);
}

static void test_failing_calls_with_fences(void **state) {
  (void)state;
  check_failing_calls(true, false);
  check_failing_calls(true, true);
}

// Where a driver does not say for a while whether it has ended, nothing is given back before it says so. Where it never
// does, the device is given up.
static void test_waiting_in_vain(void **state) {
  (void)state;
  enum { CALLS = 20, FOR_A_WHILE = 12, FOR_EVER = 1000 };
  for (int way = 0; way < 4; way++) {
    testing_program h = testing_start();
    const program_sequence entry = build(&h, plain, sizeof plain);
    const bool is_for_ever = way % 2;
    fake.has_no_timelines = way / 2;
    fake.keeps = is_for_ever;
    int32_t given[COUNT] = {0}, found[COUNT];
    executable *e, *other;
    testing_check(testing_create(&h, entry, 1, &e));
    testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
    fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    fake.failing = fake.calls + (fake.has_no_timelines ? 3 : 2);  // behind those that submit
    fake.failures = is_for_ever ? FOR_EVER : FOR_A_WHILE;
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_OUT_OF_MEMORY, "vkWait");
    assert_true(fake.is_waiting);
    if (is_for_ever) {
      testing_check_error(testing_create(&h, entry, 1, &other), HEDDLE_DEVICE_FAILED, "fake did not say whether");
    } else {
      fake.failing = 0;
      testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
    }
    executable_destroy(e);
    if (is_for_ever) assert_int_equal(pending(), 1);
    else assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Where the host does not see the device's memory, what comes, what goes and what the host does in between is copied:
// kernels, a fill by the host of half of what a kernel has made, and a branch that the host chooses by a number of a
// kernel's.
static void test_memory_apart(void **state) {
  (void)state;
  for (int way = 0; way < 6; way++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.is_apart = way / 2 != 2;
    fake.has_no_timelines = way % 2;
    assert_int_equal(way / 2 ? setenv("HEDDLE_VULKAN_MEMORY", way / 2 == 1 ? "" : "shared", 1) : 0, 0);
    static const int32_t one[COUNT] = {1};
    const int in = 0, out = 1, room = 2, constant = testing_constant(&h, one, sizeof one);
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 16 * COUNT;
    const int x = testing_slice(&h, room, 0, 4 * COUNT), half = testing_slice(&h, room, 0, 2 * COUNT),
              y = testing_slice(&h, room, 512, 4 * COUNT), control = testing_slice(&h, room, 1024, 4 * COUNT),
              flag = testing_slice(&h, room, 1024, 4);
    program_thunk *fill = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &half), *choice,
                  *inner = testing_step(&h, 0, x, y), *other = testing_step(&h, 0, in, y);
    fill->pattern = 0;
    // The flag is 2.
    choice = testing_thunk(&h, THUNK_CONDITIONAL, 3, (int[]){flag, x, in}, 1, &y);
    choice->control = (program_control){flag, false};
    const program_sequence branches[] = {testing_sequence(&h, 1, &other), testing_sequence(&h, 1, &other),
                                         testing_sequence(&h, 1, &inner)};
    testing_nest(&h, choice, 3, branches);
    program_thunk *steps[] = {testing_step(&h, 0, in, x), testing_step(&h, 0, constant, control), fill, choice,
                              testing_step(&h, 0, y, out)};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 5, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], (i < COUNT / 2 ? 0 : 7 * i + 1) + 2);
    assert_int_equal(fake.copies > 0, fake.is_apart);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  int32_t found[COUNT];
  assert_int_equal(setenv("HEDDLE_VULKAN_MEMORY", "near", 1), 0);
  testing_check_error(run_once(&h, entry, found), HEDDLE_INVALID, "found near, wanted shared or apart");
  assert_int_equal(fake.live, 0);
  assert_int_equal(unsetenv("HEDDLE_VULKAN_MEMORY"), 0);
  testing_end(&h);
}

// A device by its number, by a part of its name, and both at a time, which are two.
static void test_devices(void **state) {
  (void)state;
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  static const char *const names[] = {"0", "AK", NULL};
  executable *e[3];
  int32_t given[COUNT] = {0}, found[COUNT];
  for (int k = 0; k < 3; k++) {
    h.device = names[k];
    testing_check(testing_create(&h, entry, 1, &e[k]));
    testing_check(executable_run(e[k], (void *[]){given}, (void *[]){found}));
  }
  for (int k = 0; k < 3; k++) executable_destroy(e[k]);
  assert_int_equal(fake.live, 0);
  h.device = "1";
  testing_check_error(testing_create(&h, entry, 1, &e[0]), HEDDLE_DEVICE_FAILED, "no Vulkan device called 1 that");
  h.device = "true";
  testing_check_error(testing_create(&h, entry, 1, &e[0]), HEDDLE_DEVICE_FAILED, "no Vulkan device called true that");
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Two chains on two queues, which one kernel joins: result = parameter + 4 by the longer one.
static void test_queues(void **state) {
  (void)state;
  for (int streams = 0; streams <= 3; streams++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.queue_count = 2;
    h.program.streams = streams;
    const int in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 16 * COUNT;
    int part[4];
    for (int k = 0; k < 4; k++) part[k] = testing_slice(&h, room, 4 * COUNT * k, 4 * COUNT);
    program_thunk *join = testing_step(&h, 0, part[3], out);
    join->read_count = 2;
    join->reads = testing_numbers(&h, 2, (int[]){part[0], part[3]});
    program_thunk *steps[] = {testing_step(&h, 0, in, part[0]),      testing_step(&h, 0, in, part[1]),
                              testing_step(&h, 0, part[1], part[2]), testing_step(&h, 0, part[0], part[0]),
                              testing_step(&h, 0, part[2], part[3]), join};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 6, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + 4);
    if (streams == 1) assert_int_equal(fake.queue_submissions[1], 0);
    else assert_true(fake.queue_submissions[0] > 0 && fake.queue_submissions[1] > 0);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Any program of kernels, through memory that they share, on any number of streams and queues.
static void test_random_programs(void **state) {
  (void)state;
  enum { PARTS = 6, STEPS = 40 };
  uint64_t seed = 1;
  for (int turn = 0; turn < 100; turn++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.queue_count = 1 + turn % 2;
    h.program.streams = turn % 5;
    const int in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 4 * COUNT * PARTS;
    int part[PARTS], value[PARTS + 1] = {0};
    program_thunk *steps[PARTS + STEPS + 1];
    for (int k = 0; k < PARTS; k++) {
      part[k] = testing_slice(&h, room, 4 * COUNT * k, 4 * COUNT);
      steps[k] = testing_step(&h, 0, in, part[k]);
      value[k] = 1;
    }
    for (int k = 0; k < STEPS; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const int from = (int)(seed >> 40) % PARTS, to = (int)(seed >> 50) % PARTS;
      steps[PARTS + k] = testing_step(&h, 0, part[from], part[to]);
      value[to] = value[from] + 1;
    }
    steps[PARTS + STEPS] = testing_step(&h, 0, part[0], out);
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, PARTS + STEPS + 1, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + value[0] + 1);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Pipelines are kept for the next process, on the same device; without a folder, or where files or the driver's calls
// fail, they are made anew.
static void test_pipelines_are_kept(void **state) {
  (void)state;
  char folder[] = "vulkan_test.XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("HEDDLE_CACHE", folder, 1), 0);
  static const struct {
    uint32_t vendor;
    int failing;  // call, from that one on which makes the cache
    size_t bytes;
    const char *command;  // behind the run
  } turns[] = {{0, 0, 0, NULL},
               {0, 0, CACHE_BYTES, NULL},
               {0, 0, CACHE_BYTES, "for f in %s/*; do echo more >> $f; done"},
               {0, 0, 0, "rm -r %s"},
               {5, 0, 0, NULL},  // what was kept is said to be another device's
               {0, 0, 0, NULL},
               {0, 1, CACHE_BYTES, "rm -r %s"},
               {0, 1, 0, NULL},
               {0, 9, 0, NULL},  // behind the kernels it asks how much there is
               {0, 10, 0, NULL},
               {0, 0, 0, NULL}};
  enum { BEFORE = 8 };
  for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    const program_sequence entry = build(&h, plain, sizeof plain);
    fake.vendor = turns[k].vendor;
    fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (turns[k].failing) fake.failing = BEFORE + turns[k].failing;
    testing_check(run_once(&h, entry, found));
    assert_int_equal(fake.cache_bytes, turns[k].bytes);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
    if (!turns[k].command) continue;
    snprintf(command, sizeof command, turns[k].command, folder);
    assert_int_equal(system(command), 0);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
  assert_int_equal(unsetenv("HEDDLE_CACHE"), 0);
}

static void test_missing_functions(void **state) {
  (void)state;
  const int count = (int)(sizeof functions / sizeof *functions) - 1;  // the last has two names
  for (int n = 1; n <= count; n++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    const program_sequence entry = build(&h, plain, sizeof plain);
    fake.missing = n;
    testing_check_error(run_once(&h, entry, found), HEDDLE_DEVICE_FAILED, "the Vulkan driver lacks vk");
    testing_end(&h);
  }
}

static void test_modules(void **state) {
  (void)state;
  static const struct {
    const uint32_t *words;
    size_t bytes;
    heddle_code code;
    const char *text;
  } cases[] = {{atomic, sizeof atomic, HEDDLE_UNIMPLEMENTED, "needs atomic operations on 64 bits, which fake has not"},
               {unknown, sizeof unknown, HEDDLE_UNIMPLEMENTED, "a capability that is not known"},
               {no_module, sizeof no_module, HEDDLE_INVALID, "is no SPIR-V"},
               {plain, sizeof plain - 1, HEDDLE_INVALID, "is no SPIR-V"},
               {plain, 8, HEDDLE_INVALID, "is no SPIR-V"},
               {NULL, 0, HEDDLE_INVALID, "is no SPIR-V"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    testing_check_error(run_once(&h, build(&h, cases[c].words, cases[c].bytes), found), cases[c].code, cases[c].text);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// More than the driver gives at once, and grids and blocks that it does not take.
static void test_limits(void **state) {
  (void)state;
  testing_program h = testing_start();
  int32_t found[COUNT];
  program_sequence entry = build(&h, plain, sizeof plain);
  h.kernels.data[1].block[0] = 256;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "256 threads");
  h.kernels.data[1].block[0] = 64;
  h.kernels.data[1].grid[1] = 70000;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "more than fake takes");
  h.kernels.data[1].grid[1] = 1;
  h.kernels.data[1].grid[2] = 2;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "a grid of 1 x 1 x 2, more than fake takes");
  h.kernels.data[1].grid[2] = 1;
  h.kernels.data[1].grid[0] = INT64_MAX;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "more than fake takes");
  h.kernels.data[1].grid[0] = 1;
  fake.has_other_memory = true;
  testing_check_error(run_once(&h, entry, found), HEDDLE_DEVICE_FAILED, "buffers cannot lie in the memory");
  fake.has_other_memory = false;
  h.allocations.data[2].bytes = 2 << 20;
  h.program.temporary_bytes = 2 << 20;
  testing_check_error(run_once(&h, entry, found), HEDDLE_OUT_OF_MEMORY, "more than fake takes at once");
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// A child has no device, says so before it touches the memory of its parent's, and frees what it has of it on its own.
static void test_fork(void **state) {
  (void)state;
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  int32_t given[COUNT] = {0}, found[COUNT];
  executable *e, *other;
  testing_check(testing_create(&h, entry, 1, &e));
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  const pid_t child = fork();
  if (child == 0) {
    const int calls = fake.calls, live = fake.live;
    const char words[] = "is open in the process that forked this one";
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_DEVICE_FAILED, words);
    testing_check_error(testing_create(&h, entry, 1, &other), HEDDLE_DEVICE_FAILED, words);
    text devices = {0};
    testing_check_error(device_types[TARGET_VULKAN]->list(&devices), HEDDLE_DEVICE_FAILED, words);
    executable_destroy(e);
    _exit(fake.calls == calls && fake.live == live ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  executable_destroy(e);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

int main(void) {
  vulkan_driver_replace(fake_GetInstanceProcAddr);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_barriers),
      cmocka_unit_test(test_failing_calls),
      cmocka_unit_test(test_missing_functions),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_recording_again),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_fork),
      cmocka_unit_test(test_failing_calls_with_fences),
      cmocka_unit_test(test_waiting_in_vain),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_queues),
      cmocka_unit_test(test_memory_apart),
      cmocka_unit_test(test_pipelines_are_kept),
      cmocka_unit_test(test_random_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
