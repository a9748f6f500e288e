// The transpose hero goes through tiles, so that both reads and writes are contiguous.
#ifndef HEDDLE_KERNEL_HERO_TRANSPOSE_H_
#define HEDDLE_KERNEL_HERO_TRANSPOSE_H_

#include "kernel/epilogue.h"

// See hero_rule. Takes transposes that are alike, with elementwise consumers.
bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Bytes of all results: what a target's tiles.transpose_stream_bytes is compared with.
int64_t hero_transpose_output_bytes(const kernel_plan *k);

#endif
