// Kernels of the runtime's own. All have 64 threads a workgroup and take 64-bit numbers as push constants.
#ifndef HEDDLE_RT_VULKAN_KERNELS_H_
#define HEDDLE_RT_VULKAN_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

enum { VULKAN_KERNEL_THREADS = 64 };

typedef enum vulkan_kernel_name {
  // Address to read, address to write, count of words or bytes. More than 65,535 workgroups are stacked in y.
  VULKAN_COPY_WORDS,
  VULKAN_COPY_BYTES,
  // Which branch is taken: the address of the word that holds the number, how far to shift it right, the mask behind
  // that, whether it is a truth (0: branch 1, else branch 0) or the number of a branch (one that there is not: the last
  // one), the count of branches, the address of a word that is 0 where none is taken, and that of a word for each
  // branch, which becomes 1 for the one and 0 for the others.
  VULKAN_CHOOSE,
  VULKAN_KERNEL_COUNT
} vulkan_kernel_name;

typedef struct vulkan_kernel_module {
  const char *entry;
  size_t bytes;
  const uint32_t *words;
} vulkan_kernel_module;

extern const vulkan_kernel_module vulkan_kernels[VULKAN_KERNEL_COUNT];

#endif
