// One buffer of commands, recorded anew each time, and a fence.
#include "rt/vulkan_copies.h"

#include "rt/vulkan_wait.h"

heddle_status vulkan_copies_create(vulkan_device *d, vulkan_copies *out) {
  *out = (vulkan_copies){.device = d};
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = d->queue_family};
  VULKAN_TRY(d->f.CreateCommandPool(d->device, &pool, NULL, &out->pool), CreateCommandPool);
  const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = out->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
  VULKAN_TRY(d->f.AllocateCommandBuffers(d->device, &commands, &out->commands), AllocateCommandBuffers);
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VULKAN_TRY(d->f.CreateFence(d->device, &fence, NULL, &out->fence), CreateFence);
  return status_ok();
}

void vulkan_copies_destroy(vulkan_copies *c) {
  vulkan_device *d = c->device;
  if (!d || !vulkan_device_is_here(d)) return;
  if (c->fence) d->f.DestroyFence(d->device, c->fence, NULL);
  if (c->pool) d->f.DestroyCommandPool(d->device, c->pool, NULL);
}

// What was written before, by whomever, is read, and what is written now is for whoever comes.
static void wait_for_all(const vulkan_copies *c, bool before) {
  enum {
    COPY = VK_PIPELINE_STAGE_TRANSFER_BIT,
    ALL = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
    HOST = VK_PIPELINE_STAGE_HOST_BIT
  };
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = before ? VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT : VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = before ? VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT
                              : VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
  c->device->f.CmdPipelineBarrier(c->commands, before ? ALL | HOST : COPY, before ? COPY : ALL | HOST, 0, 1, &all, 0,
                                  NULL, 0, NULL);
}

heddle_status vulkan_copies_begin(vulkan_copies *c) {
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  VULKAN_TRY(c->device->f.BeginCommandBuffer(c->commands, &begin), BeginCommandBuffer);
  wait_for_all(c, true);
  return status_ok();
}

void vulkan_copies_add(const vulkan_copies *c, bool to_host, const vulkan_piece *p, int64_t offset, int64_t bytes) {
  if (bytes <= 0 || !p->copy) return;
  const uint64_t at = p->offset + (uint64_t)offset;
  const VkBufferCopy range = {at, at, (uint64_t)bytes};
  c->device->f.CmdCopyBuffer(c->commands, to_host ? p->buffer : p->copy, to_host ? p->copy : p->buffer, 1, &range);
}

heddle_status vulkan_copies_settle(vulkan_copies *c) {
  return c->is_stuck ? vulkan_wait_for_fence(c->device, c->fence, &c->is_stuck) : status_ok();
}

heddle_status vulkan_copies_end(vulkan_copies *c) {
  vulkan_device *d = c->device;
  wait_for_all(c, false);
  VULKAN_TRY(d->f.EndCommandBuffer(c->commands), EndCommandBuffer);
  return vulkan_wait_for_commands(d, &c->commands, c->fence, &c->is_stuck);
}
