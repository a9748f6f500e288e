// One run of a program on a Vulkan device at a time: its memory, its commands, and what of them is under way. The calls
// are those of rt/device_type.h.
#ifndef HEDDLE_RT_VULKAN_FRAME_H_
#define HEDDLE_RT_VULKAN_FRAME_H_

#include "rt/vulkan_program.h"

heddle_status vulkan_frame_create(void *loaded, const device_counts *counts, char **allocations, void **frame);
void vulkan_frame_destroy(void *loaded, void *frame);
heddle_status vulkan_frame_submit(void *loaded, void *frame, const device_batch *b);
heddle_status vulkan_frame_wait(void *loaded, void *frame, int count, const int *batches);
heddle_status vulkan_frame_finish(void *loaded, void *frame);
bool vulkan_frame_is_idle(const void *frame);
heddle_status vulkan_frame_fetch(void *loaded, void *frame, const touched *t);
heddle_status vulkan_frame_store(void *loaded, void *frame, const touched *t);
heddle_status vulkan_frame_cross(void *loaded, void *frame, bool to_host);

#endif
