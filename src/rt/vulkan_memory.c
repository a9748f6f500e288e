// One buffer over the whole of each block: pieces are told apart by their address.
#include "rt/vulkan_memory.h"

#include <stdlib.h>

enum { ALIGNMENT = 256, BLOCK_BYTES = 64 << 20 };

static uint64_t rounded(int64_t bytes) { return ((uint64_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static heddle_status create_buffer(vulkan_device *d, vulkan_block *b) {
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = b->bytes,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VULKAN_TRY(d->f.CreateBuffer(d->device, &info, NULL, &b->buffer), CreateBuffer);
  VkMemoryRequirements needs;
  d->f.GetBufferMemoryRequirements(d->device, b->buffer, &needs);
  if (!(needs.memoryTypeBits >> d->memory_type & 1))
    return status_error(HEDDLE_DEVICE_FAILED, "buffers cannot lie in the memory that the host sees");
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = d->memory_type};
  VULKAN_TRY(d->f.AllocateMemory(d->device, &wanted, NULL, &b->memory), AllocateMemory);
  VULKAN_TRY(d->f.BindBufferMemory(d->device, b->buffer, b->memory, 0), BindBufferMemory);
  void *host;
  VULKAN_TRY(d->f.MapMemory(d->device, b->memory, 0, VK_WHOLE_SIZE, 0, &host), MapMemory);
  b->host = host;
  const VkBufferDeviceAddressInfo of = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b->buffer};
  b->address = d->f.GetBufferDeviceAddress(d->device, &of);
  return status_ok();
}

// Null where *out says why.
static vulkan_block *add_block(vulkan_memory *m, uint64_t bytes, heddle_status *out) {
  vulkan_block *more = NULL;
  if (bytes > m->device->largest_block)
    *out = status_error(HEDDLE_OUT_OF_MEMORY, "an array of %llu bytes is more than %s takes at once",
                        (unsigned long long)bytes, m->device->name);
  else if (!(more = realloc(m->blocks, (size_t)(m->count + 1) * sizeof *more)))
    *out = status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a list of blocks");
  if (!more) return NULL;
  m->blocks = more;
  vulkan_block *b = &more[m->count++];
  *b = (vulkan_block){.bytes = bytes};
  *out = status_context(create_buffer(m->device, b), "for %llu bytes of the device %s", (unsigned long long)bytes,
                        m->device->name);
  return status_is_ok(*out) ? b : NULL;
}

// The bytes of those pieces from here on that share a block.
static uint64_t block_bytes(int count, const int64_t *bytes) {
  uint64_t sum = rounded(bytes[0]);
  for (int i = 1; i < count && sum + rounded(bytes[i]) <= BLOCK_BYTES; i++) sum += rounded(bytes[i]);
  return sum;
}

static heddle_status place_all(vulkan_memory *m, int count, const int64_t *bytes, vulkan_piece *pieces) {
  for (int i = 0; i < count; i++) {
    pieces[i] = (vulkan_piece){0};
    if (bytes[i] == 0) continue;
    vulkan_block *b = m->count ? &m->blocks[m->count - 1] : NULL;
    heddle_status s = status_ok();
    if (!b || b->bytes - b->used < rounded(bytes[i])) b = add_block(m, block_bytes(count - i, bytes + i), &s);
    if (!b) return s;
    pieces[i] = (vulkan_piece){b->host + b->used, b->address + b->used};
    b->used += rounded(bytes[i]);
  }
  return status_ok();
}

heddle_status vulkan_memory_create(vulkan_device *d, int count, const int64_t *bytes, vulkan_piece *pieces,
                                   vulkan_memory *out) {
  *out = (vulkan_memory){.device = d};
  heddle_status s = place_all(out, count, bytes, pieces);
  if (!status_is_ok(s)) vulkan_memory_destroy(out);
  return s;
}

void vulkan_memory_destroy(vulkan_memory *m) {
  const bool is_here = vulkan_device_is_here(m->device);
  for (int i = 0; is_here && i < m->count; i++) {
    const vulkan_functions *f = &m->device->f;
    f->DestroyBuffer(m->device->device, m->blocks[i].buffer, NULL);
    f->FreeMemory(m->device->device, m->blocks[i].memory, NULL);
  }
  free(m->blocks);
  *m = (vulkan_memory){0};
}
