// What the compiler knows of a machine: one struct of plain data, from which every cost, tile size and choice of
// instructions is read.
//
// A row of the table in base/target.c describes a kind of machine. Of the CPU that a process runs on, cpu_target_host
// (target/cpu.h) fills in the instruction set and the caller the number of threads; all figures that costs are made of
// stay the table's, so that a program is planned alike on every machine and gives the same bits on each.
#ifndef HEDDLE_BASE_TARGET_H_
#define HEDDLE_BASE_TARGET_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum target_kind {
  TARGET_CPU,     // objects with functions over ranges of tiles
  TARGET_NVPTX,   // PTX: kernels over a grid of blocks of threads
  TARGET_VULKAN,  // SPIR-V: the same grids
  TARGET_NULL,    // takes the CPU's road up to the image, which is the lowered IR as text: to be cloned
  TARGET_KIND_COUNT
} target_kind;

// Who makes the code of a part of the program that several could make.
typedef enum target_codegen {
  CODEGEN_CHOSEN,    // whoever is expected to be fastest
  CODEGEN_LIBRARY,   // a library where one has it
  CODEGEN_EMITTERS,  // a kernel, by an emitter of src/emit
  CODEGEN_TILES,     // a kernel, through linalg (src/tile), where there is a way
  CODEGEN_COUNT
} target_codegen;

const char *target_codegen_name(target_codegen codegen);  // as --codegen spells it: "library", …; "chosen"

const char *target_kind_name(target_kind kind);  // as --target spells it: "cpu", "nvptx", "null"

// How far lowering (src/lower) inlines, repeats and widens code. An operation is one of MLIR's as the pass finds it,
// those inside of it counted, too.
typedef struct target_code_limits {
  // Inlining of calls.
  int max_inlined_operations;  // of caller and callee together
  int max_copied_operations;   // of all copies together, where several calls in one function get one each

  // Peeling: the iterations in which all checks hold become a loop of their own.
  int min_peeled_trips;       // iterations of that loop, so that one vector at least comes out
  int max_peeled_operations;  // of a body, which is there three times then

  // Unrolling, up to max_unroll times.
  int max_unrolled_cost;   // of all copies of a body together: an operation costs 1, one on a vector its elements
  int unrolled_math_cost;  // of a mathematical function
  int max_whole_trips;     // of a loop that is unrolled whole: no loop is left

  // Accesses to memory.
  int max_access_lanes;  // neighbouring elements that a thread loads or stores at once

  // Vectors of a loop over elements.
  int registers_per_vector;  // of the widest element: what hides latency without spilling
  int mask_register_bits;    // width from which on vectors come with registers for conditions. Narrower ones take one
                             // register in bodies that combine conditions
  int min_vector_lanes;      // of narrower vectors for the elements that are left over
  int max_unrolled_rest;     // operations of a body whose last trips, fewer than a vector's lanes, need no loop
  int max_copied_body;       // operations of a body that is repeated for such vectors, or gets vectors of whole periods
  int max_period;            // of indices divided by a constant: a vector holds whole periods up to this one
  int max_periodic_lanes;    // … if it then has so many lanes at most
  int max_lane_stride;       // elements from lane to lane: so many whole vectors cost less than single elements
  int max_lane_loads;        // elements that a vector's lanes load one by one. Beyond this the scalar loop is smaller
                             // and no slower

  // Vectors of a loop that reduces.
  int max_accumulators;      // registers of partial results
  int max_reduction_copies;  // vectors side by side, which hide the latency of combining
  int large_reduction;       // operations of a body from which on there are two copies at most
  int huge_reduction;        // … one
  int reduction_math_cost;   // operations that a mathematical function counts as
  int chain_registers;       // that one chain of operations takes beside what it carries and reads
  int max_chain_body;        // operations of a loop's body that gets more such chains side by side
  int max_reduction_loads;   // elements that the lanes of all copies load one by one
} target_code_limits;

// Sizes of tiles, and from which sizes on one way to go over arrays is worth more than another. Of CPUs; what decides
// on a grid is target_grid_sizes.
typedef struct target_tile_sizes {
  int unit;  // elements: the vectorizer's blocks divide it, and it divides tiles

  // Loops over contiguous dims.
  int min_run;                  // elements; shorter ones are no better than a flat loop
  int min_moved_run;            // … of elements that only change places, between which a flat loop would divide
  int64_t max_lone_operations;  // of an element, that may be computed without its neighbours in short runs
  int min_checked_run;    // … where elements are checked, for padding, which costs a flat loop much for every element
  int min_window_reads;   // of an element, from which on shorter runs and smaller spaces are worth it …
  int min_window_run;     // … for runs of so many elements
  int64_t min_run_space;  // elements of the whole space
  int max_run_step;       // elements from one position to the next that are no worse than single loads

  // Transposes. Elements of four bytes and more (not narrow) go straight from memory to memory: a side is a few cache
  // lines, and a few tiles fit the first level of cache. A register block of narrow ones is less than a line wide, so
  // lines are gathered in buffers.
  int transpose_unit;      // elements; tiles are whole numbers of register blocks, none of which is larger
  int min_transpose_side;  // elements; shorter ones gain nothing from tiles
  int transpose_side;      // elements
  int transpose_narrow_side_bytes;
  int64_t transpose_area;  // elements of a tile
  int64_t transpose_narrow_area;
  int shuffle_bytes;               // within which machines shuffle cheaply
  int transpose_vector_bytes;      // of vectors that are turned, as long as they fit the registers
  int64_t transpose_stream_bytes;  // of all results, from which on they go past the caches

  // Reductions.
  int short_row;               // elements, below which the loop's vectors over results are better
  int short_picked_row;        // … where reducers pick one of two pairs, which takes long between lanes
  int long_row;                // … where elements are combined one after the other
  int short_column;            // elements up to which the loop's vectors keep a column in registers
  int column_step;             // elements of a column that are combined at once, so that an accumulator is read and
                               // written once for all of them
  int max_repeated_body;       // instructions of a body that is repeated for that
  int64_t min_tried_elements;  // of an operand, from which on trying out what order a reducer needs is worth it
  int64_t min_split_elements;  // of an operand, from which on two kernels are worth it
  int min_split_units;         // results (or vectors of them) below which threads have too little to do
  int split_chunks;            // of a reduction that is cut
  int min_split_chunks;
  int min_side_columns;  // results that lie side by side, below which elements are put beside them
  int cache_line;        // elements, about as many as a line of the cache has

  // Scatters.
  int64_t min_scatter_bytes;  // updates of fewer are one tile
  int min_scatter_run_bytes;  // of a run that tiles share
  int min_owned_bytes;  // of a window times the cores: each core asks of every update whether it is its own, and the
                        // answers cannot be foreseen
} target_tile_sizes;

// The same of a grid of threads: what a block takes.
typedef struct target_grid_sizes {
  int64_t static_shared_bytes;  // of a block's shared memory, that a kernel may have without asking for more
  int access_bytes;             // that a thread moves at once where neighbours' accesses meet in one
  int max_peeled_body;          // instructions of a body that is there twice, with and without checks

  int max_access_bytes;        // that a thread moves at once, where its elements lie side by side in every array
  int max_wide_operations;     // of all elements of a thread that moves more than max_unroll of them: beyond this it is
                               // arithmetic that takes the time
  int max_unrolled_code;       // operations of all elements that a thread computes side by side
  int max_live_registers;      // that their values may take: so many threads that latency stays hidden still fit
  int max_moved_ratio;         // of whole sectors to what is stored in them, from which on threads rather branch
  int max_diverging_operands;  // of a concatenate, for whose elements the threads of a warp branch

  // Transposes through shared memory.
  int transpose_side;         // accesses of a tile's side: as many as a warp has threads
  int short_transpose_side;   // elements, below which an axis alone leaves too many of them idle …
  int short_transpose_bytes;  // … or bytes, below which it fills too little of the sectors of memory that it meets
  int min_transpose_side;     // elements; shorter ones gain nothing from tiles
  int64_t min_transpose_elements;
  int64_t transpose_area;  // elements (or groups that stay together) of a tile that has a short side
  int min_packed_threads;  // of a warp, that a side must keep busy for several elements to be moved at once
  int max_kept_bytes;      // of an innermost axis that stays innermost: runs of more fill whole sectors of memory
  int tiles_per_core;      // least, for tiles to be larger than they must be
  int bank_bytes;          // of shared memory's banks
  int bank_count;

  // Reductions.
  int vector_bytes;           // that a thread reads at once of neighbours that it combines
  int sector_bytes;           // of memory: the least that is read
  int vectors_per_thread;     // of a row, about as many
  int max_reducing_threads;   // of a block
  int64_t column_threads;     // side by side
  int64_t staged_row;         // elements up to which rows that no sector holds a whole number of are staged
  int blocks_per_core;        // about as many, where a reduction is cut into two kernels for them
  int64_t min_split_row;      // elements of what it is cut into, a row's …
  int64_t min_split_column;   // … or a column's
  int max_vector_operations;  // of a body that is repeated for the elements of a vector, all copies together

  // Products in tiles.
  int tile_threads;    // of a workgroup
  int64_t tile_side;   // rows and columns of its tile …
  int64_t tile_terms;  // … for which so many terms are fetched at a time

  // Scatters.
  double walked_update_ns;          // that a thread takes to ask whether an update is its own
  int min_sorted_updates_per_core;  // fewer sorted updates are combined in memory one by one
} target_grid_sizes;

// When it pays that operations share a kernel.
typedef struct target_fusion_costs {
  double small_kernel_ns;         // a kernel that takes no longer is small beside its start
  double merged_kernels_ns;       // what many of them may become
  double max_loop_product;        // multiplications of a matrix product that is a loop like others
  int64_t small_elements;         // a kernel of at most so many elements …
  double small_operations;        // … and operations takes no longer than starting it, whatever it computes
  int64_t lonely_elements;        // that one thread computes before a second has started
  int columns_per_thread;         // least, of a column reduction
  int max_stored;                 // large arrays that siblings write together
  double operations_beside_slow;  // of what is computed together with something slow

  // Loops of the program whose turns are one kernel.
  int max_carried_values;        // from turn to turn
  int max_turn_instructions;     // of the program, in a turn
  double max_turns_operations;   // of all turns of a tile, in which nobody looks whether the call is over
  double max_turn_work;          // of one turn on arrays in memory, which one thread does
  int64_t max_state_bytes;       // of those arrays
  int64_t max_walked_row_bytes;  // of arrays with a row for each turn, unless all of them fit the cache
} target_fusion_costs;

// Kinds of elements whose matrix products take times of their own.
typedef enum target_product_type {
  TARGET_F32_PRODUCTS,
  TARGET_F64_PRODUCTS,
  TARGET_NARROW_PRODUCTS,   // bf16 and f16
  TARGET_BYTE_PRODUCTS,     // integers of eight bits
  TARGET_SHORT_PRODUCTS,    // … of sixteen
  TARGET_INTEGER_PRODUCTS,  // wider ones
  TARGET_PRODUCT_TYPES,
} target_product_type;

// What one way to make a matrix product takes on one core: a start, so much for each member of a batch, and
// multiply-adds at a rate that short dims lower.
typedef struct target_product_rate {
  double start_ns, member_ns;
  double per_ns;                                  // multiply-adds of a large product; 0: there is no such way
  double far_per_ns;                              // … whose right side is more than target_product_costs.near_bytes
  double short_rows, short_columns, short_depth;  // elements of a dim that halve the rate
  double most_by_rows;  // by which few rows lower it at most: a single one is another operation
  double ragged;        // fewer columns than a vector or two has, and no power of two, divide the rate by this …
  double turned;        // and a right side whose elements along the depth lie side by side by this
} target_product_rate;

// What products need for instructions that multiply matrices of bytes (AMX): elements of each dim, multiplications.
enum { TARGET_LEAST_MATRIX = 32, TARGET_LEAST_MATRIX_WORK = 1 << 22 };

// By which products are a library's or a kernel's of tiles.
typedef struct target_product_costs {
  target_product_rate library[TARGET_PRODUCT_TYPES], tiles[TARGET_PRODUCT_TYPES];
  target_product_rate convolutions[TARGET_PRODUCT_TYPES];  // a library's, as products of windows
  target_product_rate matrices;  // a library's of signed bytes with sums of 32 bits, by instructions for matrices
  double near_bytes;
  int panel_bits;          // of the vectors that constants are packed for
  int ragged_columns;      // as many are no longer ragged
  double kernel_ns;        // of one kernel more, on one core
  double planar;           // what a library takes where features come first, as a multiple of where they are last …
  double planar_tiles;     // … and tiles do, as a multiple of a product
  double tile_borders;     // what convolutions take in tiles, as a multiple of a product of as many terms
  double tile_reductions;  // what reductions take in tiles, as a multiple of what emitters need
  double least_gain;       // tiles have to be so many times as fast as the way that would be taken without them
} target_product_costs;

typedef struct target_description {
  target_kind kind;
  const char *name;      // of the machine: "cpu", "sm_90", "null"
  const char *chip;      // as LLVM spells the processor: "znver3", "sm_90"; "" for any
  const char *features;  // LLVM's further features: "+avx2,+fma,…"; ""
  const char *triple;    // of a CPU that is not this process's: "aarch64-linux-gnu"; else null
  bool has_grid;         // kernels run as a grid of threads; else a call takes a range of tiles
  bool has_spirv;        // kernels are SPIR-V and not LLVM's; only with a grid
  int streams;           // with a grid: that the program asks for (prog/program.h, program.streams)
  bool has_libraries;    // the host's libraries can be called between kernels
  bool prefers_kernels;  // libraries do only what no kernel can
  target_codegen codegen;
  bool has_libm;  // kernels can call the C library's mathematical functions
  bool is_host;   // this process's machine: code is made for its very CPU, and linked into the process

  // Instruction set.
  int vector_bits;                  // widest vector register worth using; 0: loops are not vectorized
  int vector_registers;             // that code can name; with a grid 32-bit registers of one thread
  bool has_fma, has_bf16, has_f16;  // x * y + z rounded once; bf16 and f16 converted in hardware
  bool multiplies_bytes;            // adds products of four unsigned bytes and signed ones to a sum of 32 bits (VNNI)
  bool multiplies_bf16;             // adds products of two pairs of bf16 to a sum in f32 (AVX512-BF16)
  bool has_narrow_arithmetic;       // adds, multiplies and compares bf16 and f16 itself, if it converts them
  bool flushes_bf16_subnormals;     // its conversion to bf16 takes them for zero
  bool has_ieee_extrema;            // one instruction for a minimum or maximum that hands on NaN, with -0 below +0
  bool adds_floats_atomically;      // f32 and f64: one instruction adds to an element of memory
  bool adds_f16_atomically, adds_bf16_atomically;  // with a grid: one instruction adds to an element of memory
  int exchanged_bits;  // with a grid: widest word that memory compares and exchanges at once
  int index_bits;      // of an index in a kernel where no array needs more
  int max_unroll;      // largest factor by which loops are unrolled

  // Parallelism.
  int cores;                 // host threads, or multiprocessors
  int threads_per_core;      // resident at once
  int threads_per_block;     // that a kernel is started with; without a grid 0
  int subgroup_size;         // threads that run in lock step: a warp; without a grid 1
  int64_t max_grid_x;        // most blocks in x; without a grid 0
  int64_t shared_bytes;      // memory that a block shares; without a grid 0
  int64_t buffer_alignment;  // bytes; what the runtime promises of every buffer
  int constant_alignment;    // bytes; of a kernel's constants, and of its arrays on the stack
  int shared_alignment;      // bytes; of arrays in the memory that a block shares; without a grid none
  int stream_alignment;      // bytes; stores past the caches need it

  // Costs, of one core. They need to be right within a factor of two or three only.
  double operations_per_ns;         // simple f32 operations in full vectors (or by all threads)
  double scalar_operations_per_ns;  // the same of code that is not vectorized
  int vector_lanes;                 // of f32, that operations_per_ns counts with
  double memory_bytes_per_ns;       // read and written, from and to memory
  double cache_bytes_per_ns;        // … within cache_bytes
  double mixed_bytes_per_ns;        // … where nobody knows which of the two it will be
  int64_t cache_bytes;              // that a core reads again cheaply
  double launch_ns;                 // to start one more kernel
  double wake_ns;                   // until another thread has woken up and was waited for again

  // Tiles: what one call of a kernel is worth, so that starting it costs nothing and every thread gets several.
  int64_t tile_bytes;       // least traffic
  int64_t tile_operations;  // … unless its elements are as expensive as this
  int64_t most_tile;        // elements
  int tiles_per_core;
  int64_t row_buffer_bytes;  // what a kernel may keep per row beside its outputs
  int64_t row_accumulators;  // of a tile of columns, to stay in the first-level cache

  target_tile_sizes tiles;
  target_grid_sizes grid;
  target_fusion_costs fusion;
  target_product_costs products;
  target_code_limits code;
} target_description;

// Gives the description what --codegen asks for.
void target_choose_codegen(target_description *target, target_codegen codegen);

// Gives a CPU's description vectors of so many bits, and the costs that depend on them.
void target_choose_vectors(target_description *target, int bits, bool multiplies_bytes);
// That the processor multiplies matrices of bytes.
void target_choose_matrices(target_description *target);

// A CPU of which nothing is known: the figures of all CPUs' costs, one thread.
extern const target_description target_any_cpu;

// Any CPU with so many host threads (at least one).
target_description target_cpu(int threads);

// The GPU that plans are made for where none is named: an H100.
target_description target_gpu(void);

// Any device of Vulkan; lives forever.
const target_description *target_vulkan(void);

// The machine of that name: "cpu" (with one thread), "null", a GPU by LLVM's name ("sm_80"), "gpu" and "nvptx" for
// target_gpu's. False for other names.
bool target_find(str name, target_description *out);

// The names that target_find knows, one after the other; null behind the last.
const char *target_name(int number);

// Nanoseconds that one core takes to move so many bytes when they lie together: dear beyond the cache, cheap inside.
double target_bytes_time(const target_description *t, double bytes, double together);

#endif
