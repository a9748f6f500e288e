// One buffer over the whole of each block: pieces are told apart by their address.
#include "rt/vulkan_memory.h"

#include <stdlib.h>

enum { ALIGNMENT = 256, BLOCK_BYTES = 64 << 20 };

static uint64_t rounded(int64_t bytes) { return ((uint64_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static heddle_status create_room(vulkan_device *d, uint64_t bytes, uint32_t memory_type, vulkan_room *out) {
  enum { MOVED = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT };
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | MOVED |
                                            (d->has_predicates ? VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT : 0),
                                   .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VULKAN_TRY(d->f.CreateBuffer(d->device, &info, NULL, &out->buffer), CreateBuffer);
  VkMemoryRequirements needs;
  d->f.GetBufferMemoryRequirements(d->device, out->buffer, &needs);
  if (!(needs.memoryTypeBits >> memory_type & 1))
    return status_error(HEDDLE_DEVICE_FAILED, "buffers cannot lie in the memory that %s",
                        memory_type == d->host_memory_type ? "the host sees" : "is the device's own");
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = memory_type};
  VULKAN_TRY(d->f.AllocateMemory(d->device, &wanted, NULL, &out->memory), AllocateMemory);
  VULKAN_TRY(d->f.BindBufferMemory(d->device, out->buffer, out->memory, 0), BindBufferMemory);
  return status_ok();
}

static heddle_status create_block(vulkan_device *d, bool for_host, vulkan_block *b) {
  const bool has_copy = d->is_apart && !for_host;
  void *host;
  TRY(create_room(d, b->bytes, has_copy ? d->memory_type : d->host_memory_type, &b->room));
  if (has_copy) TRY(create_room(d, b->bytes, d->host_memory_type, &b->copy));
  VULKAN_TRY(d->f.MapMemory(d->device, has_copy ? b->copy.memory : b->room.memory, 0, VK_WHOLE_SIZE, 0, &host),
             MapMemory);
  b->host = host;
  const VkBufferDeviceAddressInfo of = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                        .buffer = b->room.buffer};
  b->address = d->f.GetBufferDeviceAddress(d->device, &of);
  return status_ok();
}

// Null where *out says why.
static vulkan_block *add_block(vulkan_memory *m, bool for_host, uint64_t bytes, heddle_status *out) {
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
  *out = status_context(create_block(m->device, for_host, b), "for %llu bytes of the device %s",
                        (unsigned long long)bytes, m->device->name);
  return status_is_ok(*out) ? b : NULL;
}

// The bytes of those pieces from here on that share a block.
static uint64_t block_bytes(int count, const int64_t *bytes) {
  uint64_t sum = rounded(bytes[0]);
  for (int i = 1; i < count && sum + rounded(bytes[i]) <= BLOCK_BYTES; i++) sum += rounded(bytes[i]);
  return sum;
}

static heddle_status place_all(vulkan_memory *m, bool for_host, int count, const int64_t *bytes, vulkan_piece *pieces) {
  for (int i = 0; i < count; i++) {
    pieces[i] = (vulkan_piece){0};
    if (bytes[i] == 0) continue;
    vulkan_block *b = m->count ? &m->blocks[m->count - 1] : NULL;
    heddle_status s = status_ok();
    if (!b || b->bytes - b->used < rounded(bytes[i])) b = add_block(m, for_host, block_bytes(count - i, bytes + i), &s);
    if (!b) return s;
    pieces[i] = (vulkan_piece){b->host + b->used, b->address + b->used, b->room.buffer, b->copy.buffer, b->used};
    b->used += rounded(bytes[i]);
  }
  return status_ok();
}

heddle_status vulkan_memory_create(vulkan_device *d, bool for_host, int count, const int64_t *bytes,
                                   vulkan_piece *pieces, vulkan_memory *out) {
  *out = (vulkan_memory){.device = d};
  heddle_status s = place_all(out, for_host, count, bytes, pieces);
  if (!status_is_ok(s)) vulkan_memory_destroy(out);
  return s;
}

static void destroy_room(vulkan_device *d, vulkan_room *r) {
  d->f.DestroyBuffer(d->device, r->buffer, NULL);
  d->f.FreeMemory(d->device, r->memory, NULL);
  *r = (vulkan_room){0};
}

void vulkan_memory_destroy(vulkan_memory *m) {
  const bool is_here = vulkan_device_is_here(m->device);
  vulkan_memory_drop_copies(m);
  for (int i = 0; is_here && i < m->count; i++) destroy_room(m->device, &m->blocks[i].room);
  free(m->blocks);
  *m = (vulkan_memory){0};
}

void vulkan_memory_drop_copies(vulkan_memory *m) {
  const bool is_here = vulkan_device_is_here(m->device);
  for (int i = 0; is_here && i < m->count; i++) destroy_room(m->device, &m->blocks[i].copy);
}
