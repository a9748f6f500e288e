#include "rt/vulkan_cache.h"

#include <inttypes.h>
#include <string.h>

static kernel_cache_key key_of(const vulkan_device *d, const program *p) {
  text made_of = {0};
  text_printf(&made_of, "Vulkan pipelines of %08x %08x %08x\n", d->identity.vendor, d->identity.device,
              d->identity.driver);
  text_append(&made_of, (str){(const char *)d->identity.cache, sizeof d->identity.cache});
  for (int k = 0; k < p->image_count; k++) {
    text_printf(&made_of, "\n%d %zu\n", (int)p->images[k].format, p->images[k].size);
    if (p->images[k].data) text_append(&made_of, (str){p->images[k].data, p->images[k].size});
  }
  const kernel_cache_key key = kernel_cache_key_of(text_view(&made_of));
  text_free(&made_of);
  return key;
}

// Drivers have to look themselves, and not all of them do.
static bool is_of_device(const vulkan_device *d, str kept) {
  VkPipelineCacheHeaderVersionOne header;
  if (kept.size < sizeof header) return false;
  memcpy(&header, kept.data, sizeof header);
  return header.headerSize == sizeof header && header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == d->identity.vendor && header.deviceID == d->identity.device &&
         memcmp(header.pipelineCacheUUID, d->identity.cache, sizeof d->identity.cache) == 0;
}

void vulkan_cache_open(vulkan_device *d, const program *p, vulkan_cache *out) {
  *out = (vulkan_cache){0};
  if (!kernel_cache_is_on()) return;
  arena *a = arena_create();
  str kept = STR("");
  out->key = key_of(d, p);
  out->is_known = kernel_cache_find(a, &out->key, &kept) && is_of_device(d, kept);
  const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                          .initialDataSize = out->is_known ? kept.size : 0,
                                          .pInitialData = out->is_known ? kept.data : NULL};
  if (d->f.CreatePipelineCache(d->device, &info, NULL, &out->pipelines) != VK_SUCCESS) out->pipelines = VK_NULL_HANDLE;
  arena_destroy(a);
}

static void keep(vulkan_device *d, const vulkan_cache *c) {
  size_t bytes = 0;
  if (d->f.GetPipelineCacheData(d->device, c->pipelines, &bytes, NULL) != VK_SUCCESS || bytes == 0) return;
  arena *a = arena_create();
  char *data = arena_try_alloc(a, bytes);
  if (data && d->f.GetPipelineCacheData(d->device, c->pipelines, &bytes, data) == VK_SUCCESS)
    kernel_cache_keep(&c->key, (str){data, bytes});
  arena_destroy(a);
}

void vulkan_cache_close(vulkan_device *d, vulkan_cache *c, bool keeps) {
  if (!c->pipelines) return;
  if (keeps && !c->is_known) keep(d, c);
  d->f.DestroyPipelineCache(d->device, c->pipelines, NULL);
  c->pipelines = VK_NULL_HANDLE;
}
