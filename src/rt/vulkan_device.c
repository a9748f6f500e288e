// Finding a device, and opening it with those features that kernels can use.
#include "rt/vulkan_device.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/lock.h"
#include "base/str.h"

enum { MOST_EXTENSIONS = 8 };

// --- what a device has

typedef struct candidate {
  VkPhysicalDevice physical;
  VkPhysicalDeviceProperties properties;
  vulkan_features features;
  uint64_t largest_block;
  VkPhysicalDeviceSubgroupProperties subgroups;
  uint32_t queue_family, queue_count, memory_type, host_memory_type;
  bool has_timelines, has_predicates, is_apart;
  const char *extensions[MOST_EXTENSIONS];  // to be enabled
  uint32_t extension_count;
  const char *lack;  // what it cannot be used without; null: nothing
} candidate;

// The structures that say so, chained; each is known by Vulkan 1.2 or by the extension.
typedef struct feature_chain {
  VkPhysicalDeviceFeatures2 all;
  VkPhysicalDevice16BitStorageFeatures storage16;
  VkPhysicalDevice8BitStorageFeatures storage8;
  VkPhysicalDeviceShaderFloat16Int8Features int8;
  VkPhysicalDeviceShaderAtomicInt64Features atomics;
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses;
  VkPhysicalDeviceTimelineSemaphoreFeatures timelines;
  VkPhysicalDeviceConditionalRenderingFeaturesEXT predicates;
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroups;
} feature_chain;

typedef struct extension {
  const char *name;
  size_t link;  // of feature_chain
  VkStructureType type;
  bool is_no_core;  // Vulkan 1.2 has it no more than 1.1 without the extension
} extension;

static const extension extensions[] = {
    {VK_KHR_8BIT_STORAGE_EXTENSION_NAME, offsetof(feature_chain, storage8),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES},
    {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, offsetof(feature_chain, int8),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES},
    {VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME, offsetof(feature_chain, atomics),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES},
    {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, offsetof(feature_chain, addresses),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES},
    {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, offsetof(feature_chain, timelines),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES},
    {VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME, offsetof(feature_chain, predicates),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT, .is_no_core = true},
    {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, offsetof(feature_chain, subgroups),
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT, .is_no_core = true},
};

enum { EXTENSION_COUNT = sizeof extensions / sizeof *extensions };

_Static_assert((int)EXTENSION_COUNT < (int)MOST_EXTENSIONS, "and that of float controls");

static bool is_offered(uint32_t count, const VkExtensionProperties *offered, const char *name) {
  for (uint32_t k = 0; offered && k < count; k++)
    if (strcmp(offered[k].extensionName, name) == 0) return true;
  return false;
}

static void link_structure(feature_chain *chain, void *structure, VkStructureType type) {
  VkBaseOutStructure *s = structure;
  *s = (VkBaseOutStructure){.sType = type, .pNext = chain->all.pNext};
  chain->all.pNext = s;
}

// Chains what the device knows; the others stay zero.
static void link_features(candidate *c, uint32_t count, const VkExtensionProperties *offered, feature_chain *chain) {
  *chain = (feature_chain){.all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  link_structure(chain, &chain->storage16, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
  c->extension_count = 0;
  for (int k = 0; k < EXTENSION_COUNT; k++) {
    const bool has_extension = is_offered(count, offered, extensions[k].name);
    const bool is_core = !extensions[k].is_no_core && c->properties.apiVersion >= VK_API_VERSION_1_2;
    if (!has_extension && !is_core) continue;
    link_structure(chain, (char *)chain + extensions[k].link, extensions[k].type);
    if (has_extension) c->extensions[c->extension_count++] = extensions[k].name;
  }
  const bool has_controls = is_offered(count, offered, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
  if (has_controls) c->extensions[c->extension_count++] = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;
}

static heddle_status offered_extensions(const vulkan_functions *f, VkPhysicalDevice physical, uint32_t *count,
                                        VkExtensionProperties **out) {
  VULKAN_TRY(f->EnumerateDeviceExtensionProperties(physical, NULL, count, NULL), EnumerateDeviceExtensionProperties);
  *out = calloc(*count + 1, sizeof **out);
  if (!*out) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of %u extensions", *count);
  heddle_status s = vulkan_driver_status(f->EnumerateDeviceExtensionProperties(physical, NULL, count, *out),
                                         "vkEnumerateDeviceExtensionProperties");
  if (!status_is_ok(s)) free(*out);
  return s;
}

static void read_properties(const vulkan_functions *f, candidate *c, bool has_controls) {
  VkPhysicalDeviceFloatControlsProperties floats = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties limits = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                   .pNext = has_controls ? &floats : NULL};
  c->subgroups = (VkPhysicalDeviceSubgroupProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                      .pNext = &limits};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &c->subgroups};
  f->GetPhysicalDeviceProperties2(c->physical, &all);
  c->properties = all.properties;
  c->largest_block = limits.maxMemoryAllocationSize;
  c->features.keeps_specials32 = floats.shaderSignedZeroInfNanPreserveFloat32;
  c->features.keeps_specials64 = floats.shaderSignedZeroInfNanPreserveFloat64;
}

static void read_features(const feature_chain *chain, vulkan_features *out) {
  const VkPhysicalDeviceFeatures *core = &chain->all.features;
  out->int16 = core->shaderInt16;
  out->int64 = core->shaderInt64;
  out->float64 = core->shaderFloat64;
  out->int8 = chain->int8.shaderInt8;
  out->storage8 = chain->storage8.storageBuffer8BitAccess;
  out->storage16 = chain->storage16.storageBuffer16BitAccess;
  out->int64_atomics = chain->atomics.shaderBufferInt64Atomics;
  out->addresses = chain->addresses.bufferDeviceAddress;
}

// That subgroups are full has to be asked for, or else which invocations are there is anybody's guess.
static bool has_shuffles(const candidate *c, const feature_chain *chain) {
  const VkPhysicalDeviceSubgroupProperties *s = &c->subgroups;
  return chain->subgroups.computeFullSubgroups && s->supportedStages & VK_SHADER_STAGE_COMPUTE_BIT &&
         s->supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT && s->subgroupSize > 1;
}

enum {
  HOST_SEES = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
  NONE = VK_MAX_MEMORY_TYPES
};

// The type with these flags that has most of `liked` (a flag each, the last counts most), of equals the one with the
// largest heap; NONE: there is none.
static uint32_t best_memory(const VkPhysicalDeviceMemoryProperties *m, VkMemoryPropertyFlags flags, int liked_count,
                            const VkMemoryPropertyFlags *liked) {
  uint32_t best = NONE;
  int best_worth = 0;
  VkDeviceSize best_bytes = 0;
  for (uint32_t k = 0; k < m->memoryTypeCount; k++) {
    const VkMemoryPropertyFlags found = m->memoryTypes[k].propertyFlags;
    const VkDeviceSize bytes = m->memoryHeaps[m->memoryTypes[k].heapIndex].size;
    int worth = 0;
    for (int i = 0; i < liked_count; i++) worth += found & liked[i] ? 1 << i : 0;
    if ((found & flags) != flags) continue;
    if (best != NONE && (worth < best_worth || (worth == best_worth && bytes <= best_bytes))) continue;
    best = k;
    best_worth = worth;
    best_bytes = bytes;
  }
  return best;
}

static VkDeviceSize heap_of(const VkPhysicalDeviceMemoryProperties *m, uint32_t type) {
  return m->memoryHeaps[m->memoryTypes[type].heapIndex].size;
}

// The device's own memory is used as the host sees it, if the host sees most of it; else beside it, and copies go
// between. What a bus shows of a discrete device's memory is often a small part.
static bool find_memory(const vulkan_functions *f, candidate *c) {
  enum { LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT };
  static const VkMemoryPropertyFlags liked[] = {LOCAL, VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
  const char *wanted = getenv("HEDDLE_VULKAN_MEMORY");
  VkPhysicalDeviceMemoryProperties m;
  f->GetPhysicalDeviceMemoryProperties(c->physical, &m);
  const uint32_t host = best_memory(&m, HOST_SEES, 2, liked), own = best_memory(&m, LOCAL, 0, NULL),
                 both = best_memory(&m, HOST_SEES | LOCAL, 1, &liked[1]);
  if (host == NONE) return false;
  const bool is_seen = own == NONE || (both != NONE && heap_of(&m, both) >= heap_of(&m, own) / 2);
  c->is_apart = wanted && strcmp(wanted, "apart") == 0 ? own != NONE : !is_seen;
  if (wanted && strcmp(wanted, "shared") == 0) c->is_apart = false;
  c->host_memory_type = !c->is_apart && is_seen && both != NONE ? both : host;
  c->memory_type = c->is_apart ? own : c->host_memory_type;
  return true;
}

// The family that has most queues for kernels, the first of several.
static bool find_queues(const vulkan_functions *f, candidate *c) {
  VkQueueFamilyProperties families[32];
  uint32_t count = sizeof families / sizeof *families;
  f->GetPhysicalDeviceQueueFamilyProperties(c->physical, &count, families);
  c->queue_count = 0;
  for (uint32_t k = 0; k < count; k++) {
    if (!(families[k].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[k].queueCount <= c->queue_count) continue;
    c->queue_family = k;
    c->queue_count = families[k].queueCount;
  }
  return c->queue_count > 0;
}

static const char *lack_of(const vulkan_functions *f, candidate *c) {
  if (c->properties.apiVersion < VK_API_VERSION_1_1) return "has no Vulkan 1.1";
  if (!c->features.int64) return "has no integers of 64 bits";
  if (!c->features.addresses) return "gives buffers no addresses (VK_KHR_buffer_device_address)";
  if (!find_memory(f, c)) return "has no memory that the host sees";
  return find_queues(f, c) ? NULL : "has no queue for kernels";
}

static heddle_status examine(const vulkan_functions *f, candidate *c, feature_chain *chain) {
  VkExtensionProperties *offered = NULL;
  uint32_t count = 0;
  TRY(offered_extensions(f, c->physical, &count, &offered));
  const bool has_controls = is_offered(count, offered, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
  read_properties(f, c, has_controls);
  link_features(c, count, offered, chain);
  f->GetPhysicalDeviceFeatures2(c->physical, &chain->all);
  read_features(chain, &c->features);
  c->features.shuffles = has_shuffles(c, chain);
  free(offered);
  TRY(vulkan_features_restrict(&c->features));
  c->has_timelines = chain->timelines.timelineSemaphore;
  c->has_predicates = chain->predicates.conditionalRendering && c->features.storage8;
  c->lack = lack_of(f, c);
  return status_ok();
}

// --- choosing one

static heddle_status create_instance(vulkan_device *d) {
  TRY(vulkan_driver_open(&d->f));
  uint32_t version = VK_API_VERSION_1_1;
  VULKAN_TRY(d->f.EnumerateInstanceVersion(&version), EnumerateInstanceVersion);
  if (version < VK_API_VERSION_1_1) return status_error(HEDDLE_DEVICE_FAILED, "Vulkan's loader is older than 1.1");
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pEngineName = "Heddle",
      .apiVersion = version < VK_API_VERSION_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VULKAN_TRY(d->f.CreateInstance(&info, NULL, &d->instance), CreateInstance);
  return vulkan_driver_instance_functions(&d->f, d->instance);
}

// Devices that come between the two calls are left out.
static heddle_status find_devices(vulkan_device *d, uint32_t *count) {
  VULKAN_TRY(d->f.EnumeratePhysicalDevices(d->instance, count, NULL), EnumeratePhysicalDevices);
  d->devices = calloc(*count + (size_t)1, sizeof *d->devices);
  if (!d->devices) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of %u devices", *count);
  const VkResult result = d->f.EnumeratePhysicalDevices(d->instance, count, d->devices);
  heddle_status s = vulkan_driver_status(result == VK_INCOMPLETE ? VK_SUCCESS : result, "vkEnumeratePhysicalDevices");
  if (status_is_ok(s) && *count == 0) s = status_error(HEDDLE_DEVICE_FAILED, "Vulkan's loader finds no device");
  return s;
}

// Discrete devices before integrated ones before virtual ones before software.
static int worth_of(VkPhysicalDeviceType type) {
  static const int worths[] = {[VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = 3,
                               [VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = 4,
                               [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = 2,
                               [VK_PHYSICAL_DEVICE_TYPE_CPU] = 1};
  return (size_t)type < sizeof worths / sizeof *worths ? worths[type] : 0;
}

static bool is_wanted(const char *wanted, uint32_t number, const char *name) {
  if (!*wanted) return true;
  char *end;
  const unsigned long asked = strtoul(wanted, &end, 10);
  return *end ? strcasestr(name, wanted) != NULL : asked == number;
}

static heddle_status choose_of(const vulkan_device *d, uint32_t count, candidate *best) {
  const char *wanted = d->asked;
  int most = -1;
  text lacks = {0};
  heddle_status s = status_ok();
  for (uint32_t k = 0; k < count && status_is_ok(s); k++) {
    candidate c = {.physical = d->devices[k]};
    feature_chain chain;
    s = examine(&d->f, &c, &chain);
    if (!status_is_ok(s) || !is_wanted(wanted, k, c.properties.deviceName)) continue;
    if (c.lack) text_printf(&lacks, "; %s %s", c.properties.deviceName, c.lack);
    if (c.lack || worth_of(c.properties.deviceType) <= most) continue;
    most = worth_of(c.properties.deviceType);
    *best = c;
  }
  if (status_is_ok(s) && most < 0)
    s = status_error(HEDDLE_DEVICE_FAILED, "there is no Vulkan device%s%s that can run kernels%s",
                     *wanted ? " called " : "", wanted, text_cstr(&lacks));
  text_free(&lacks);
  return s;
}

static heddle_status choose(vulkan_device *d, candidate *best, feature_chain *features) {
  uint32_t count;
  const char *memory = getenv("HEDDLE_VULKAN_MEMORY");
  if (memory && *memory && strcmp(memory, "apart") != 0 && strcmp(memory, "shared") != 0)
    return status_error(HEDDLE_INVALID, "HEDDLE_VULKAN_MEMORY: found %s, wanted shared or apart", memory);
  TRY(find_devices(d, &count));
  TRY(choose_of(d, count, best));
  return examine(&d->f, best, features);  // its structures point at each other
}

// --- opening it

static void keep(vulkan_device *d, const candidate *c) {
  const VkPhysicalDeviceLimits *limits = &c->properties.limits;
  d->physical = c->physical;
  d->queue_family = c->queue_family;
  d->has_timelines = c->has_timelines;
  d->has_predicates = c->has_predicates;
  d->memory_type = c->memory_type;
  d->host_memory_type = c->host_memory_type;
  d->is_apart = c->is_apart;
  d->largest_block = c->largest_block;
  d->features = c->features;
  d->subgroup_size = c->subgroups.subgroupSize;
  d->shared_bytes = limits->maxComputeSharedMemorySize;
  d->most_invocations = limits->maxComputeWorkGroupInvocations;
  memcpy(d->most_groups, limits->maxComputeWorkGroupCount, sizeof d->most_groups);
  d->identity = (vulkan_identity){c->properties.vendorID, c->properties.deviceID, c->properties.driverVersion, {0}};
  memcpy(d->identity.cache, c->properties.pipelineCacheUUID, sizeof d->identity.cache);
  memcpy(d->name, c->properties.deviceName, sizeof d->name);
}

static heddle_status open_device(vulkan_device *d) {
  candidate c = {0};
  feature_chain chain;
  TRY(create_instance(d));
  TRY(choose(d, &c, &chain));
  // What no kernel uses is not asked for.
  chain.all.features = (VkPhysicalDeviceFeatures){
      .shaderInt16 = c.features.int16, .shaderInt64 = true, .shaderFloat64 = c.features.float64};
  chain.predicates.inheritedConditionalRendering = false;
  chain.addresses.bufferDeviceAddressCaptureReplay = chain.addresses.bufferDeviceAddressMultiDevice = false;
  const float priorities[VULKAN_MOST_QUEUES] = {1, 1, 1, 1};
  const uint32_t queue_count = c.queue_count < VULKAN_MOST_QUEUES ? c.queue_count : VULKAN_MOST_QUEUES;
  const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = c.queue_family,
                                          .queueCount = queue_count,
                                          .pQueuePriorities = priorities};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &chain.all,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queues,
                                   .enabledExtensionCount = c.extension_count,
                                   .ppEnabledExtensionNames = c.extensions};
  VULKAN_TRY(d->f.CreateDevice(c.physical, &info, NULL, &d->device), CreateDevice);
  TRY(vulkan_driver_device_functions(&d->f, d->device));
  keep(d, &c);
  d->has_timelines = d->has_timelines && d->f.WaitSemaphores;
  d->has_predicates = d->has_predicates && d->f.CmdBeginConditionalRenderingEXT && d->f.CmdEndConditionalRenderingEXT;
  for (; d->queue_count < (int)queue_count; d->queue_count++) {
    vulkan_queue *q = &d->queues[d->queue_count];
    pthread_mutex_init(&q->lock, NULL);
    d->f.GetDeviceQueue(d->device, c.queue_family, (uint32_t)d->queue_count, &q->queue);
  }
  return status_ok();
}

static void close_device(vulkan_device *d) {
  if (d->device && d->f.DestroyDevice && !d->is_abandoned) d->f.DestroyDevice(d->device, NULL);
  if (d->instance && d->f.DestroyInstance && !d->is_abandoned) d->f.DestroyInstance(d->instance, NULL);
  for (int k = 0; k < d->queue_count; k++) pthread_mutex_destroy(&d->queues[k].lock);
  free(d->devices);
  free(d->asked);
  free(d);
}

static struct {
  lock lock;
  vulkan_device *first;
} open_now = {.lock = LOCK_INITIALIZER};

typedef struct opening {
  const char *asked;
  vulkan_device *made;  // that nobody else knows yet
  vulkan_device **out;
} opening;

static heddle_status create(opening *o) {
  vulkan_device *d = o->made = calloc(1, sizeof *d);
  if (d) d->asked = strdup(o->asked);
  if (!d || !d->asked) {
    free(d);
    o->made = NULL;
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a Vulkan device");
  }
  d->process = getpid();
  heddle_status s = open_device(d);
  o->made = NULL;
  if (!status_is_ok(s)) {
    close_device(d);
    return s;
  }
  d->references = 1;
  d->next = open_now.first;
  open_now.first = *o->out = d;
  return s;
}

static bool is_parents(const vulkan_device *d) { return d->process != getpid(); }

bool vulkan_device_is_here(const vulkan_device *d) { return !is_parents(d) && !d->is_abandoned; }

heddle_status vulkan_device_check(const vulkan_device *d) {
  if (is_parents(d))
    return status_error(HEDDLE_DEVICE_FAILED, "the Vulkan device is open in the process that forked this one");
  return d->is_abandoned ? status_error(HEDDLE_DEVICE_FAILED, "%s did not say whether it had ended", d->name)
                         : status_ok();
}

// The one that was opened as that is taken; two names of one device open it twice.
static heddle_status find_or_open(void *argument) {
  opening *o = argument;
  vulkan_device *d = open_now.first;
  if (d && is_parents(d)) return vulkan_device_check(d);
  while (d && strcmp(d->asked, o->asked) != 0) d = d->next;
  if (!d) return create(o);
  TRY(vulkan_device_check(d));
  d->references++;
  *o->out = d;
  return status_ok();
}

// Where the host has no memory.
static void give_up(void *argument, bool is_torn) {
  (void)is_torn;
  const opening *o = argument;
  if (o->made) close_device(o->made);
  lock_give(&open_now.lock);
}

heddle_status vulkan_device_open(const char *wanted, vulkan_device **out) {
  if (!wanted) wanted = getenv("HEDDLE_VULKAN_DEVICE");
  *out = NULL;
  opening o = {.asked = wanted ? wanted : "", .out = out};
  lock_take(&open_now.lock);
  heddle_status s = guard_clean_up(find_or_open, give_up, &o);
  lock_give(&open_now.lock);
  return s;
}

void vulkan_device_close(vulkan_device *d) {
  if (!d || is_parents(d)) return;
  lock_take(&open_now.lock);
  const bool is_last = --d->references == 0;
  for (vulkan_device **at = &open_now.first; is_last && *at; at = &(*at)->next) {
    if (*at != d) continue;
    *at = d->next;
    close_device(d);
    break;
  }
  lock_give(&open_now.lock);
}

heddle_status vulkan_device_submit(vulkan_device *d, int stream, const VkSubmitInfo *info, VkFence fence) {
  vulkan_queue *q = &d->queues[stream % d->queue_count];
  pthread_mutex_lock(&q->lock);
  const VkResult result = d->f.QueueSubmit(q->queue, 1, info, fence);
  pthread_mutex_unlock(&q->lock);
  return vulkan_driver_status(result, "vkQueueSubmit");
}

// --- listing

static heddle_status look_at(const vulkan_device *d, uint32_t number, VkPhysicalDevice device, text *out) {
  candidate c = {.physical = device};
  feature_chain chain;
  TRY(examine(&d->f, &c, &chain));
  const uint32_t version = c.properties.apiVersion;
  text_printf(out, "vulkan %u: %s, Vulkan %u.%u%s%s\n", number, c.properties.deviceName, VK_API_VERSION_MAJOR(version),
              VK_API_VERSION_MINOR(version), c.lack ? ", which " : "", c.lack ? c.lack : "");
  return status_ok();
}

static heddle_status look(vulkan_device *d, text *out) {
  uint32_t count;
  if (open_now.first) TRY(vulkan_device_check(open_now.first));
  TRY(create_instance(d));
  TRY(find_devices(d, &count));
  for (uint32_t k = 0; k < count; k++) TRY(look_at(d, k, d->devices[k], out));
  return status_ok();
}

// The lock keeps forks away while the driver works.
heddle_status vulkan_device_list(text *out) {
  vulkan_device *d = calloc(1, sizeof *d);
  if (!d) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of Vulkan devices");
  lock_take(&open_now.lock);
  heddle_status s = look(d, out);
  close_device(d);
  lock_give(&open_now.lock);
  return s;
}
