// The table of target descriptions, one row for each kind of machine.
//
// CPU figures: measured on machines of two to eight cores with AVX2 and AVX-512 between 2017 and 2023; a loop over f32
// reaches about 20 simple operations in a nanosecond (vectors of 8, two or three at once), one core reads and writes 6
// bytes in a nanosecond to memory and some 40 within its second-level cache, and an empty parallel region takes 1 to 10
// microseconds. GPU figures: NVIDIA's data sheets (multiprocessors, memory bandwidth and shared memory by the CUDA
// programming guide's table of compute capabilities), divided by the multiprocessors. Of chips with several products
// the row has one: T4, A100, A10, Orin, L4, H100.
#include "base/target.h"

#include <math.h>

// The same on all machines so far, but for the number of elements from which on one thread is too slow. Results of
// transposes go past the caches where they are larger than what a core may hope for of a cache that it shares: from 12
// MiB on a reader that follows lost nothing on the machine where that was measured (doc/peers.md), below 8 MiB it did.
#define TILE_SIZES(tried)                         \
  .tiles = {.unit = 64,                           \
            .min_run = 8,                         \
            .min_moved_run = 3,                   \
            .max_lone_operations = 16,            \
            .min_checked_run = 4,                 \
            .min_window_reads = 4,                \
            .min_window_run = 3,                  \
            .min_run_space = 4096,                \
            .max_run_step = 4,                    \
            .transpose_unit = 16,                 \
            .min_transpose_side = 8,              \
            .transpose_side = 64,                 \
            .transpose_narrow_side_bytes = 256,   \
            .transpose_area = 64 * 64,            \
            .transpose_narrow_area = 4 * 64 * 64, \
            .shuffle_bytes = 16,                  \
            .transpose_vector_bytes = 64,         \
            .transpose_stream_bytes = 12 << 20,   \
            .short_row = 8,                       \
            .short_picked_row = 64,               \
            .long_row = 512,                      \
            .short_column = 16,                   \
            .column_step = 8,                     \
            .max_repeated_body = 40,              \
            .min_tried_elements = (tried),        \
            .min_split_elements = 256 << 10,      \
            .min_split_units = 8,                 \
            .split_chunks = 64,                   \
            .min_split_chunks = 24,               \
            .min_side_columns = 16,               \
            .cache_line = 16,                     \
            .min_scatter_bytes = 64 << 10,        \
            .min_scatter_run_bytes = 512,         \
            .min_owned_bytes = 512}

// Shared memory has 32 banks of 4 bytes; PTX lets a kernel have 48 KiB of it as variables. A transaction with memory is
// a sector of 32 bytes.
#define GRID_SIZES                          \
  .grid = {.static_shared_bytes = 48 << 10, \
           .access_bytes = 4,               \
           .max_peeled_body = 64,           \
           .max_access_bytes = 16,          \
           .max_wide_operations = 128,      \
           .max_unrolled_code = 1000,       \
           .max_live_registers = 128,       \
           .max_moved_ratio = 2,            \
           .max_diverging_operands = 10,    \
           .transpose_side = 32,            \
           .short_transpose_side = 16,      \
           .short_transpose_bytes = 64,     \
           .min_transpose_side = 2,         \
           .min_transpose_elements = 256,   \
           .transpose_area = 1024,          \
           .min_packed_threads = 10,        \
           .max_kept_bytes = 32,            \
           .tiles_per_core = 2,             \
           .bank_bytes = 4,                 \
           .bank_count = 32,                \
           .vector_bytes = 16,              \
           .sector_bytes = 32,              \
           .vectors_per_thread = 8,         \
           .max_reducing_threads = 1024,    \
           .column_threads = 32,            \
           .staged_row = 64,                \
           .blocks_per_core = 4,            \
           .min_split_row = 2048,           \
           .min_split_column = 64,          \
           .max_vector_operations = 160,    \
           .tile_threads = 64,              \
           .tile_side = 64,                 \
           .tile_terms = 16,                \
           .walked_update_ns = 4,           \
           .min_sorted_updates_per_core = 4}

#define FUSION_COSTS                       \
  .fusion = {.small_kernel_ns = 4000,      \
             .merged_kernels_ns = 40000,   \
             .max_loop_product = 2048,     \
             .small_elements = 2048,       \
             .small_operations = 2048,     \
             .lonely_elements = 1 << 16,   \
             .columns_per_thread = 16,     \
             .max_stored = 8,              \
             .operations_beside_slow = 16, \
             .max_carried_values = 16,     \
             .max_turn_instructions = 200, \
             .max_turns_operations = 1e8,  \
             .max_turn_work = 1 << 16,     \
             .max_state_bytes = 128 << 10, \
             .max_walked_row_bytes = 4096}

#define CODE_LIMITS                        \
  .code = {.max_inlined_operations = 4000, \
           .max_copied_operations = 256,   \
           .min_peeled_trips = 8,          \
           .max_peeled_operations = 300,   \
           .max_unrolled_cost = 400,       \
           .unrolled_math_cost = 20,       \
           .max_whole_trips = 8,           \
           .max_access_lanes = 16,         \
           .registers_per_vector = 2,      \
           .mask_register_bits = 512,      \
           .min_vector_lanes = 4,          \
           .max_copied_body = 300,         \
           .max_unrolled_rest = 40,        \
           .max_period = 16,               \
           .max_periodic_lanes = 64,       \
           .max_lane_stride = 8,           \
           .max_lane_loads = 512,          \
           .max_accumulators = 4,          \
           .max_reduction_copies = 4,      \
           .large_reduction = 30,          \
           .huge_reduction = 50,           \
           .reduction_math_cost = 50,      \
           .chain_registers = 2,           \
           .max_chain_body = 60,           \
           .max_reduction_loads = 128}

#define CPU_FIGURES                                                                                                \
  .vector_bits = 256, .vector_registers = 16, .has_fma = true, .has_libm = true, .flushes_bf16_subnormals = true,  \
  .index_bits = 64, .adds_floats_atomically = true, .max_unroll = 4, .cores = 1, .threads_per_core = 1,            \
  .subgroup_size = 1, .buffer_alignment = 64, .operations_per_ns = 20, .scalar_operations_per_ns = 4,              \
  .vector_lanes = 8, .memory_bytes_per_ns = 6, .cache_bytes_per_ns = 40, .mixed_bytes_per_ns = 10,                 \
  .cache_bytes = 1 << 20, .launch_ns = 2000, .wake_ns = 6000, .tile_bytes = 16 << 10, .tile_operations = 64 << 10, \
  .most_tile = 16 << 10, .tiles_per_core = 4, .row_buffer_bytes = 64 << 10, .row_accumulators = 1024,              \
  .constant_alignment = 64, .stream_alignment = 32, TILE_SIZES(16 << 10), FUSION_COSTS, CODE_LIMITS

// What devices with a grid have alike.
#define GRID_FIGURES                                                                                             \
  .has_grid = true, .exchanged_bits = 64, .index_bits = 32, .max_unroll = 4, .threads_per_block = 128,           \
  .subgroup_size = 32, .max_grid_x = INT32_MAX, .buffer_alignment = 16, .vector_lanes = 32, .launch_ns = 3000,   \
  .wake_ns = 0, .tile_bytes = 16 << 10, .tile_operations = 64 << 10, .most_tile = 16 << 10, .tiles_per_core = 4, \
  .row_buffer_bytes = 64 << 10, .row_accumulators = 1024, .constant_alignment = 64, .shared_alignment = 16,      \
  .stream_alignment = 32, TILE_SIZES(1 << 10), GRID_SIZES, FUSION_COSTS, CODE_LIMITS

// Products by tiles of workgroups beside loops that read both factors for each term: ratios, measured on Mesa's
// software device, on which it is loads that take the time. Libraries would be the host's.
#define VULKAN_RATE {20000, 0, 100, 100, 6, 2, 2, 8, 1, 1}
#define VULKAN_PRODUCTS                                \
  {.tiles = {[TARGET_F32_PRODUCTS] = VULKAN_RATE,      \
             [TARGET_F64_PRODUCTS] = VULKAN_RATE,      \
             [TARGET_NARROW_PRODUCTS] = VULKAN_RATE,   \
             [TARGET_BYTE_PRODUCTS] = VULKAN_RATE,     \
             [TARGET_SHORT_PRODUCTS] = VULKAN_RATE,    \
             [TARGET_INTEGER_PRODUCTS] = VULKAN_RATE}, \
   .near_bytes = 1 << 30,                              \
   .kernel_ns = 3000,                                  \
   .planar = 1,                                        \
   .planar_tiles = 1,                                  \
   .tile_borders = 1.5,                                \
   .tile_reductions = 3,                               \
   .least_gain = 1.2}

// What all chips from sm_75 on have alike. A thread may use 255 registers.
#define GPU_FIGURES                                                                                               \
  .kind = TARGET_NVPTX, .has_fma = true, .vector_registers = 255, .has_f16 = true, .has_narrow_arithmetic = true, \
  .has_ieee_extrema = true, .adds_floats_atomically = true, .adds_f16_atomically = true, GRID_FIGURES

// Matrix products by libraries and by tiles: measured with bench/tiles.py --threads=1 on a machine with AVX2, of which
// only the ratios matter, those of sizes with many divisors.
#define AVX2_PRODUCTS                                                                   \
  {.library = {[TARGET_F32_PRODUCTS] = {150, 100, 44, 42, 7, 2, 2, 4, 1, 1.1},          \
               [TARGET_F64_PRODUCTS] = {150, 300, 20, 19, 7, 4, 4, 4, 1, 1.1},          \
               [TARGET_NARROW_PRODUCTS] = {150, 400, 36, 36, 7, 8, 8, 6, 1, 1.1},       \
               [TARGET_BYTE_PRODUCTS] = {150, 350, 65, 65, 10, 10, 12, 10, 1, 1.2},     \
               [TARGET_SHORT_PRODUCTS] = {150, 350, 65, 65, 7, 10, 10, 4, 1, 1.1},      \
               [TARGET_INTEGER_PRODUCTS] = {150, 200, 28, 27, 7, 3, 3, 4, 1, 1.1}},     \
   .tiles = {[TARGET_F32_PRODUCTS] = {100, 5, 44, 39, 8, 3, 3, 5, 1.5, 1.4},            \
             [TARGET_F64_PRODUCTS] = {100, 5, 20, 19, 5, 3, 3, 5, 1.5, 1.4},            \
             [TARGET_NARROW_PRODUCTS] = {100, 5, 30, 28, 5, 1, 1, 5, 2, 1.4},           \
             [TARGET_BYTE_PRODUCTS] = {100, 5, 50, 50, 5, 1, 1, 5, 2, 1.2},             \
             [TARGET_SHORT_PRODUCTS] = {100, 5, 34, 32, 5, 2, 2, 5, 2, 1.4},            \
             [TARGET_INTEGER_PRODUCTS] = {100, 5, 34, 32, 5, 2, 2, 5, 2, 1.4}},         \
   .convolutions = {[TARGET_F32_PRODUCTS] = {5000, 0, 52, 52, 2, 2, 2, 4, 1, 1.1},      \
                    [TARGET_F64_PRODUCTS] = {5000, 0, 20, 20, 2, 2, 2, 4, 1, 1.1},      \
                    [TARGET_NARROW_PRODUCTS] = {5000, 0, 48, 48, 2, 2, 2, 4, 1, 1.1},   \
                    [TARGET_BYTE_PRODUCTS] = {5000, 0, 52, 52, 2, 2, 2, 4, 1, 1.1},     \
                    [TARGET_SHORT_PRODUCTS] = {5000, 0, 52, 52, 2, 2, 2, 4, 1, 1.1},    \
                    [TARGET_INTEGER_PRODUCTS] = {5000, 0, 30, 30, 2, 2, 2, 4, 1, 1.1}}, \
   .panel_bits = 256,                                                                   \
   .near_bytes = 512 << 10,                                                             \
   .ragged_columns = 16,                                                                \
   .kernel_ns = 150,                                                                    \
   .planar = 1.05,                                                                      \
   .planar_tiles = 1.4,                                                                 \
   .tile_borders = 1.1,                                                                 \
   .tile_reductions = 3,                                                                \
   .least_gain = 1.2}

// The same of a machine with AVX-512, whose libraries' bytes and 32-bit integers do not use what it has for them.
static const target_product_costs avx512_products = {
    .library = {[TARGET_F32_PRODUCTS] = {150, 300, 85, 80, 7, 2, 2, 4, 1, 1.1},
                [TARGET_F64_PRODUCTS] = {150, 100, 40, 28, 7, 4, 4, 4, 1, 1.1},
                [TARGET_NARROW_PRODUCTS] = {150, 400, 79, 75, 10, 8, 8, 10, 1, 1.1},
                [TARGET_BYTE_PRODUCTS] = {150, 350, 75, 75, 10, 10, 12, 10, 1, 1.2},
                [TARGET_SHORT_PRODUCTS] = {150, 350, 75, 75, 7, 10, 10, 4, 1, 1.1},
                [TARGET_INTEGER_PRODUCTS] = {150, 200, 25, 19, 7, 3, 3, 4, 1, 1.1}},
    .tiles = {[TARGET_F32_PRODUCTS] = {100, 5, 82, 75, 8, 3, 3, 5, 1.5, 1.3},
              [TARGET_F64_PRODUCTS] = {100, 5, 40, 32, 5, 3, 3, 5, 1.5, 1.3},
              [TARGET_NARROW_PRODUCTS] = {100, 5, 92, 78, 5, 1, 1, 5, 2, 1.2},
              [TARGET_BYTE_PRODUCTS] = {100, 5, 170, 158, 5, 1, 1, 5, 2, 1.2},
              [TARGET_SHORT_PRODUCTS] = {100, 5, 38, 32, 5, 2, 2, 5, 2, 1.1},
              [TARGET_INTEGER_PRODUCTS] = {100, 5, 38, 32, 5, 2, 2, 5, 2, 1.1}},
    .convolutions = {[TARGET_F32_PRODUCTS] = {5000, 0, 95, 95, 2, 2, 2, 4, 1, 1.1},
                     [TARGET_F64_PRODUCTS] = {5000, 0, 24, 24, 2, 2, 2, 4, 1, 1.1},
                     [TARGET_NARROW_PRODUCTS] = {5000, 0, 70, 70, 2, 2, 2, 4, 1, 1.1},
                     [TARGET_BYTE_PRODUCTS] = {5000, 0, 68, 68, 2, 2, 2, 4, 1, 1.1},
                     [TARGET_SHORT_PRODUCTS] = {5000, 0, 68, 68, 2, 2, 2, 4, 1, 1.1},
                     [TARGET_INTEGER_PRODUCTS] = {5000, 0, 22, 22, 2, 2, 2, 4, 1, 1.1}},
    .near_bytes = 512 << 10,
    .ragged_columns = 16,
    .kernel_ns = 150,
    .planar = 1.05,
    .planar_tiles = 1.4,
    .tile_borders = 1.1,
    .tile_reductions = 3,
    .least_gain = 1.2};

// … of bytes by tiles where one instruction multiplies and adds up four of them (VNNI). Packing the right side takes as
// long as thirteen rows; a single row, for which nothing is packed, as twelve.
static const target_product_rate vnni_products = {100, 5, 310, 270, 13, 2, 2, 12, 2, 1.1};

// … of signed bytes by a library where the processor multiplies matrices of them (AMX). Packing the right side takes as
// long as 250 rows, moving the sums as 220 terms of each.
static const target_product_rate amx_products = {10000, 1000, 1300, 1300, 10, 250, 20, 220, 1, 1};

const target_description target_any_cpu = {.kind = TARGET_CPU,
                                           .name = "cpu",
                                           .chip = "",
                                           .features = "",
                                           .has_libraries = true,
                                           .is_host = true,
                                           .products = AVX2_PRODUCTS,
                                           CPU_FIGURES};

static const target_description machines[] = {
    {.kind = TARGET_NULL, .name = "null", .chip = "", .features = "", CPU_FIGURES},
    // Any device of Vulkan 1.1: what all of them have, but for costs, which are those of a small one. Whether Fma
    // rounds once is the device's choice.
    {.kind = TARGET_VULKAN,
     .name = "vulkan",
     .chip = "",
     .features = "",
     .has_spirv = true,
     .has_libraries = true,
     .prefers_kernels = true,
     .vector_registers = 128,
     .cores = 16,
     .threads_per_core = 1024,
     .shared_bytes = 16 << 10,
     .operations_per_ns = 20,
     .scalar_operations_per_ns = 20,
     .memory_bytes_per_ns = 3,
     .cache_bytes_per_ns = 12,
     .mixed_bytes_per_ns = 6,
     .cache_bytes = 64 << 10,
     .products = VULKAN_PRODUCTS,
     GRID_FIGURES},
    {GPU_FIGURES, .name = "sm_75", .chip = "sm_75", .features = "+ptx63", .cores = 40, .threads_per_core = 1024,
     .shared_bytes = 64 << 10, .operations_per_ns = 100, .scalar_operations_per_ns = 100, .memory_bytes_per_ns = 8,
     .cache_bytes_per_ns = 32, .mixed_bytes_per_ns = 16, .cache_bytes = 100 << 10},
    {GPU_FIGURES, .name = "sm_80", .chip = "sm_80", .features = "+ptx70", .has_bf16 = true, .cores = 108,
     .threads_per_core = 2048, .shared_bytes = 163 << 10, .operations_per_ns = 90, .scalar_operations_per_ns = 90,
     .memory_bytes_per_ns = 14, .cache_bytes_per_ns = 45, .mixed_bytes_per_ns = 25, .cache_bytes = 370 << 10},
    {GPU_FIGURES, .name = "sm_86", .chip = "sm_86", .features = "+ptx71", .has_bf16 = true, .cores = 72,
     .threads_per_core = 1536, .shared_bytes = 99 << 10, .operations_per_ns = 200, .scalar_operations_per_ns = 200,
     .memory_bytes_per_ns = 8, .cache_bytes_per_ns = 30, .mixed_bytes_per_ns = 15, .cache_bytes = 85 << 10},
    {GPU_FIGURES, .name = "sm_87", .chip = "sm_87", .features = "+ptx74", .has_bf16 = true, .cores = 16,
     .threads_per_core = 1536, .shared_bytes = 163 << 10, .operations_per_ns = 160, .scalar_operations_per_ns = 160,
     .memory_bytes_per_ns = 12, .cache_bytes_per_ns = 40, .mixed_bytes_per_ns = 20, .cache_bytes = 250 << 10},
    {GPU_FIGURES, .name = "sm_89", .chip = "sm_89", .features = "+ptx78", .has_bf16 = true, .cores = 58,
     .threads_per_core = 1536, .shared_bytes = 99 << 10, .operations_per_ns = 260, .scalar_operations_per_ns = 260,
     .memory_bytes_per_ns = 5, .cache_bytes_per_ns = 40, .mixed_bytes_per_ns = 15, .cache_bytes = 800 << 10},
    {GPU_FIGURES, .name = "sm_90", .chip = "sm_90", .features = "+ptx78", .has_bf16 = true,
     .adds_bf16_atomically = true, .cores = 132, .threads_per_core = 2048, .shared_bytes = 227 << 10,
     .operations_per_ns = 220, .scalar_operations_per_ns = 220, .memory_bytes_per_ns = 25, .cache_bytes_per_ns = 42,
     .mixed_bytes_per_ns = 30, .cache_bytes = 380 << 10},
    {GPU_FIGURES, .name = "sm_90a", .chip = "sm_90a", .features = "+ptx80", .has_bf16 = true,
     .adds_bf16_atomically = true, .cores = 132, .threads_per_core = 2048, .shared_bytes = 227 << 10,
     .operations_per_ns = 220, .scalar_operations_per_ns = 220, .memory_bytes_per_ns = 25, .cache_bytes_per_ns = 42,
     .mixed_bytes_per_ns = 30, .cache_bytes = 380 << 10},
};

enum { MACHINE_COUNT = sizeof machines / sizeof *machines };

const char *target_codegen_name(target_codegen codegen) {
  static const char *const codegens[CODEGEN_COUNT] = {"chosen", "library", "emitters", "tiles"};
  return codegens[codegen];
}

void target_choose_codegen(target_description *target, target_codegen codegen) {
  target->codegen = codegen;
  target->prefers_kernels |= codegen == CODEGEN_EMITTERS || codegen == CODEGEN_TILES;
  // A product's tile has vectors and registers for whatever is done to it.
  if (codegen == CODEGEN_TILES) target->fusion.operations_beside_slow = HUGE_VAL;
}

void target_choose_vectors(target_description *target, int bits, bool multiplies_bytes) {
  target->vector_bits = bits;
  target->multiplies_bytes = multiplies_bytes;
  if (bits >= 512) target->products = avx512_products;
  if (bits >= 512 && multiplies_bytes) target->products.tiles[TARGET_BYTE_PRODUCTS] = vnni_products;
  target->products.panel_bits = bits > 128 ? bits : 128;
}

void target_choose_matrices(target_description *target) { target->products.matrices = amx_products; }

const char *target_kind_name(target_kind kind) {
  static const char *const names[TARGET_KIND_COUNT] = {
      [TARGET_CPU] = "cpu", [TARGET_NVPTX] = "nvptx", [TARGET_VULKAN] = "vulkan", [TARGET_NULL] = "null"};
  return names[kind];
}

target_description target_cpu(int threads) {
  target_description t = target_any_cpu;
  t.cores = threads > 0 ? threads : 1;
  return t;
}

target_description target_gpu(void) {
  target_description t;
  target_find(STR("sm_90"), &t);
  return t;
}

const target_description *target_vulkan(void) {
  int k = 0;
  while (machines[k].kind != TARGET_VULKAN) k++;
  return &machines[k];
}

bool target_find(str name, target_description *out) {
  if (str_is(name, "gpu") || str_is(name, "nvptx")) name = STR("sm_90");
  *out = target_any_cpu;
  if (str_is(name, out->name)) return true;
  for (int k = 0; k < MACHINE_COUNT; k++) {
    if (!str_is(name, machines[k].name)) continue;
    *out = machines[k];
    return true;
  }
  return false;
}

const char *target_name(int number) {
  if (number == 0) return target_any_cpu.name;
  return number <= MACHINE_COUNT ? machines[number - 1].name : NULL;
}

double target_bytes_time(const target_description *t, double bytes, double together) {
  return bytes / (together > (double)t->cache_bytes ? t->memory_bytes_per_ns : t->cache_bytes_per_ns);
}
