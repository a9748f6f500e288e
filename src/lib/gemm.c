// A product is cut into tiles of the result; the threads of the pool take tiles. For each tile the depth is walked in
// chunks: operands of another type than sums are kept in are widened chunk by chunk into scratch memory that stays in
// the second-level cache (bf16 so multiplies at f32's speed; oneDNN's own bf16 is three times slower on machines
// without the instructions), and so are f32 operands whose rows lie a multiple of 2 KiB apart, which would all fall
// into the same few cache sets.
//
// f32 operands of a few dozen rows, and those by a right side that is the same in every call, go by routines of our
// own (gemm_stream.h, which packs their left side once, before the tiles; with AVX2 gemm_strips.h).
//
// Products of f32 that lie in caches near by are multiplied as they lie with AVX-512 (gemm_near.h). Of other f32 whose
// two sides both lie the other way round the tiles lᵀ rᵀ are computed as (r l)ᵀ: oneDNN multiplies what lies as it
// wants it 1.2 times as fast.
//
// Signed bytes with sums of 32 bits are multiplied as matrices where the processor does so (gemm_bytes.h), other
// integers of up to sixteen bits with sums of up to 32 by pairs (gemm_packed.h). Where that does not go those of up to
// eight bits are multiplied as f32, sixteen bits as f64: sums of so few products are exact that the depth is cut where
// they would cease to be, and the chunks are added up as integers.
#include "lib/gemm.h"

#include <stdatomic.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/gemm_bytes.h"
#include "lib/gemm_near.h"
#include "lib/gemm_packed.h"
#include "lib/gemm_plan.h"
#include "lib/gemm_product.h"
#include "lib/gemm_stream.h"
#include "lib/gemm_strips.h"
#include "lib/turn.h"

enum { ALIGNMENT = 64 };

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// --- scratch memory: for each thread two tiles, a tile of sums and one of its exact sums, and a row of the bias;
// behind them the packed left side, and the sums of the parts of the depth.

// Whether the sides change places: not if the right one was packed beforehand.
static bool is_turned(const gemm_plan *p) { return p->transpose_rhs && !p->kept; }

// Of a tile of rows.
static int64_t packed_bytes(const gemm_plan *p) {
  int64_t size[3];
  if (p->in_strips) return 0;
  gemm_plan_size(p, p->tile_rows, size);
  return aligned(gemm_stream_packed(size, is_turned(p)) * (int64_t)sizeof(float));
}

static int64_t row_tiles(const gemm_plan *p) { return int64_ceil_div(p->rows, p->tile_rows); }

typedef struct room {
  int64_t lhs, rhs, turned, products, sums, bias, all;  // offsets in one thread's share, and its size
  int64_t packed;                                       // bytes behind all threads' shares
} room;

// A leading dim that keeps rows out of each other's cache sets.
static int64_t padded(int64_t elements) { return elements % 64 == 0 ? elements + 16 : elements; }

static room room_of(const gemm_plan *p) {
  const int64_t size = work_size(p->work), depth = int64_min(p->depth, p->tile_depth);
  const int64_t tile = p->tile_rows * p->tile_columns, products = work_size(gemm_plan_products(p)) * tile;
  room r = {0};
  if (p->is_streamed) {
    int64_t whole[3];
    gemm_plan_size(p, p->tile_rows, whole);
    r.bias = aligned((p->in_strips ? gemm_strips_room(p->tile_rows) : gemm_stream_room(whole, is_turned(p))) * size);
    r.all = r.bias + (p->has_bias ? aligned(size * p->tile_columns) : 0);
    r.packed = row_tiles(p) * packed_bytes(p);
    return r;
  }
  if (p->in_bytes) {
    r.bias = r.all = aligned(gemm_bytes_room(p->tile_rows, p->tile_columns, p->depth));
    return r;
  }
  if (p->copies_lhs) r.rhs = aligned(size * (p->tile_rows + 16) * (depth + 16));
  r.turned = r.rhs + (p->copies_rhs ? aligned(size * (p->tile_columns + 16) * (depth + 16)) : 0);
  r.products = r.turned + (p->turns ? aligned(size * (p->tile_rows + 16) * p->tile_columns) : 0);
  r.sums = r.products + (p->copies_sums ? aligned(products) : 0);
  r.bias = r.sums + (p->is_exact ? aligned(work_size(p->sums) * tile) : 0);
  r.all = r.bias + (p->has_bias ? aligned(work_size(p->sums) * p->tile_columns) : 0);
  return r;
}

static int64_t threads_for(const gemm_plan *p, int threads) {
  return threads < p->max_threads ? threads : p->max_threads;
}

int64_t gemm_plan_scratch(const gemm_plan *plan, int threads) {
  const int64_t parts = plan->depth_parts > 1 ? plan->depth_parts : 0;
  const int64_t sums = parts * plan->batch * plan->rows * plan->columns * work_size(gemm_plan_products(plan));
  const room r = room_of(plan);
  return r.all * threads_for(plan, threads) + r.packed + sums;
}

// --- right sides that are packed once

typedef struct keeping {
  const gemm_plan *plan;
  const float *rhs;
  float *kept;
} keeping;

static void keep_groups(void *argument, int64_t begin, int64_t end) {
  const keeping *k = argument;
  const gemm_plan *p = k->plan;
  const gemm_matrix rhs = {k->rhs + p->rhs.offset, p->rhs.leading, p->transpose_rhs};
  int64_t size[3];
  gemm_plan_size(p, p->rows, size);
  if (p->in_strips) {
    gemm_strips_keep(&rhs, p->depth, begin * GEMM_STREAM_COLUMNS, int64_min(p->columns, end * GEMM_STREAM_COLUMNS),
                     k->kept);
    return;
  }
  for (int64_t group = begin; group < end; group++) gemm_stream_keep(size, &rhs, group, k->kept);
}

int64_t gemm_plan_kept_bytes(const gemm_plan *plan) {
  int64_t size[3];
  gemm_plan_size(plan, plan->rows, size);
  return plan->is_streamed ? gemm_stream_kept(size) * (int64_t)sizeof(float) : 0;
}

void gemm_plan_keep(gemm_plan *plan, int threads, const float *rhs, float *kept) {
  keeping k = {plan, rhs, kept};
  pool_run(threads, int64_ceil_div(plan->columns, GEMM_STREAM_COLUMNS), keep_groups, &k);
  plan->kept = kept;
}

// --- tiles

typedef struct product {
  const gemm_plan *plan;
  const lib_call *call;
  gemm_load_fn load;  // of the left side; null: operands[0]
  const void *argument;
  room room;
  float *packed;
  char *parts;  // [depth_parts, batch, rows, columns], null if the depth is not cut in parts
  int threads;
  atomic_bool failed;
} product;

typedef struct tile {
  int64_t part, batch, row, column;  // where it begins
  int64_t rows, columns;
  char *scratch;  // the thread's share
} tile;

static tile tile_at(const product *x, int64_t number) {
  const gemm_plan *p = x->plan;
  const int64_t down = int64_ceil_div(p->rows, p->tile_rows), across = int64_ceil_div(p->columns, p->tile_columns);
  tile t = {.batch = number};
  if (down * across * p->depth_parts > 1) {
    t.row = number % down * p->tile_rows;
    t.column = number / down % across * p->tile_columns;
    t.batch = number / down / across % p->batch;
    t.part = number / down / across / p->batch;
  }
  t.rows = int64_min(p->tile_rows, p->rows - t.row);
  t.columns = int64_min(p->tile_columns, p->columns - t.column);
  t.scratch = (char *)x->call->scratch + pool_thread() * x->room.all;
  return t;
}

// Where a member of the batch begins.
static int64_t member_at(const gemm_plan *p, const gemm_strides *s, int64_t batch) {
  if (batch < p->group) return s->offset + batch * s->member;
  return s->offset + batch / p->group * s->group + batch % p->group * s->member;
}

// A piece of an operand, into scratch memory or as it lies.
static gemm_matrix operand_tile(work_type w, const gemm_slice *p, bool copies, void *to) {
  const lib_array *a = p->array;
  if (!copies) return (gemm_matrix){.data = (char *)a->data + p->first * work_size(w), .leading = p->stride};
  const int64_t leading = padded(p->columns);
  for (int64_t r = 0; r < p->rows; r++)
    work_load(w, a, p->first + r * p->stride, p->columns, (char *)to + r * leading * work_size(w));
  return (gemm_matrix){.data = to, .leading = leading};
}

static gemm_matrix lhs_tile(const product *x, const tile *t, int64_t depth, int64_t depths) {
  const gemm_plan *p = x->plan;
  const bool is_packed = p->work == WORK_S16;
  void *to = t->scratch + x->room.lhs;
  if (x->load) {
    const int64_t leading = is_packed ? gemm_packed_leading(depths) : padded(depths);
    const gemm_tile wanted = {t->batch, t->row, t->rows, depth, depths, leading};
    x->load(x->argument, p->work, &wanted, to);
    if (is_packed) gemm_packed_fill_lhs(t->rows, depths, to);
    return (gemm_matrix){.data = to, .leading = leading};
  }
  const lib_array *a = &x->call->operands[0];
  const int64_t first = member_at(p, &p->lhs, t->batch), leading = p->lhs.leading;
  const gemm_slice plain = {a, first + t->row * leading + depth, t->rows, depths, leading};
  const gemm_slice turned = {a, first + depth * leading + t->row, depths, t->rows, leading};
  const gemm_slice *piece = p->transpose_lhs ? &turned : &plain;
  if (is_packed) {
    gemm_packed_load_lhs(piece, p->transpose_lhs, to);
    return (gemm_matrix){.data = to, .leading = gemm_packed_leading(depths)};
  }
  gemm_matrix m = operand_tile(p->work, piece, p->copies_lhs, to);
  m.is_transposed = p->transpose_lhs;
  return m;
}

static gemm_matrix rhs_tile(const product *x, const tile *t, int64_t depth, int64_t depths) {
  const gemm_plan *p = x->plan;
  const int64_t first = member_at(p, &p->rhs, t->batch), leading = p->rhs.leading;
  const lib_array *a = &x->call->operands[1];
  void *to = t->scratch + x->room.rhs;
  const gemm_slice plain = {a, first + depth * leading + t->column, depths, t->columns, leading};
  const gemm_slice turned = {a, first + t->column * leading + depth, t->columns, depths, leading};
  const gemm_slice *piece = p->transpose_rhs ? &turned : &plain;
  if (p->work == WORK_S16) {
    gemm_packed_load_rhs(piece, p->transpose_rhs, to);
    return (gemm_matrix){.data = to};
  }
  gemm_matrix m = operand_tile(p->work, piece, p->copies_rhs, to);
  m.is_transposed = p->transpose_rhs;
  return m;
}

#define ADD_EXACT(name, from_type, whole_type, to_type)                     \
  static void add_exact_##name(const void *from, int64_t count, void *to) { \
    const from_type *f = from;                                              \
    to_type *t = to;                                                        \
    for (int64_t k = 0; k < count; k++) t[k] += (to_type)(whole_type)f[k];  \
  }

ADD_EXACT(f32_u32, float, int32_t, uint32_t)
ADD_EXACT(f32_u64, float, int32_t, uint64_t)
ADD_EXACT(f64_u32, double, int64_t, uint32_t)
ADD_EXACT(f64_u64, double, int64_t, uint64_t)

static void add_exact(const gemm_plan *p, const void *products, int64_t count, void *sums) {
  if (p->work == WORK_F32) (p->sums == WORK_U32 ? add_exact_f32_u32 : add_exact_f32_u64)(products, count, sums);
  else (p->sums == WORK_U32 ? add_exact_f64_u32 : add_exact_f64_u64)(products, count, sums);
}

// Where a tile begins in the result.
static int64_t result_index(const gemm_plan *p, const tile *t) {
  return member_at(p, &p->result, t->batch) + t->row * p->result.leading + t->column;
}

// Where the sums of a tile go: scratch memory, the part's own array, or straight to the result.
static gemm_sums sums_of(const product *x, const tile *t) {
  const gemm_plan *p = x->plan;
  const int size = work_size(gemm_plan_products(p));
  if (x->parts) {
    const int64_t first = ((t->part * p->batch + t->batch) * p->rows + t->row) * p->columns + t->column;
    return (gemm_sums){.data = x->parts + first * size, .leading = p->columns};
  }
  if (p->copies_sums) return (gemm_sums){.data = t->scratch + x->room.products, .leading = t->columns};
  char *result = x->call->results[0].data;
  return (gemm_sums){.data = result + result_index(p, t) * size, .leading = p->result.leading};
}

// The packed rows of the tile that begins with `row`.
static float *packed_at(const product *x, int64_t row) {
  return (float *)((char *)x->packed + row / x->plan->tile_rows * packed_bytes(x->plan));
}

// Where the packed right side has a tile's first column.
static const float *kept_at(const gemm_plan *p, const tile *t) { return p->kept + t->column * p->depth; }

static void multiply_strips(const product *x, const tile *t, int64_t begin, int64_t end, const gemm_sums *sums) {
  const gemm_plan *p = x->plan;
  const gemm_matrix lhs = lhs_tile(x, t, begin, end - begin);
  gemm_strips_tile part = {t->rows, t->columns, end - begin, lhs.data, lhs.leading, NULL, p->depth, {0}};
  if (p->kept) part.kept = kept_at(p, t) + begin * GEMM_STRIPS_WIDTH;
  else part.rhs = rhs_tile(x, t, begin, end - begin);
  gemm_strips_product(&part, sums, (float *)t->scratch);
}

static void multiply_streamed(const product *x, const tile *t, int64_t begin, int64_t end, const gemm_sums *sums) {
  const gemm_plan *p = x->plan;
  const gemm_stream_tile part = {t->columns, begin, end};
  const float *packed = packed_at(x, t->row);
  int64_t size[3];
  gemm_plan_size(p, t->rows, size);
  if (p->kept) {
    gemm_stream_kept_product(size, &part, packed, kept_at(p, t), sums, (float *)t->scratch);
    return;
  }
  const gemm_matrix rhs = rhs_tile(x, t, begin, end - begin);
  gemm_stream_product(size, &part, packed, &rhs, sums, (float *)t->scratch);
}

static gemm_matrix bytes_at(const product *x, int operand, const gemm_strides *s, const tile *t, int64_t row) {
  const char *first = (const char *)x->call->operands[operand].data + member_at(x->plan, s, t->batch);
  return (gemm_matrix){.data = first + row, .leading = s->leading};
}

static bool multiply_bytes(const product *x, const tile *t, const gemm_sums *sums) {
  const gemm_plan *p = x->plan;
  const int64_t size[3] = {t->rows, t->columns, p->depth};
  gemm_matrix lhs = bytes_at(x, 0, &p->lhs, t, p->transpose_lhs ? t->row : t->row * p->lhs.leading);
  gemm_matrix rhs = bytes_at(x, 1, &p->rhs, t, p->transpose_rhs ? t->column * p->rhs.leading : t->column);
  lhs.is_transposed = p->transpose_lhs;
  rhs.is_transposed = p->transpose_rhs;
  return gemm_bytes_product(size, &lhs, &rhs, sums, t->scratch);
}

// One chunk of the depth, to sums that lie the other way round.
static bool multiply_turned(const tile *t, int64_t depths, gemm_matrix lhs, gemm_matrix rhs, const gemm_sums *turned) {
  const int64_t size[3] = {t->columns, t->rows, depths};
  lhs.is_transposed = rhs.is_transposed = false;
  return gemm_product(WORK_F32, size, &rhs, &lhs, turned);
}

static void multiply_tile(product *x, const tile *t, gemm_sums *sums) {
  const gemm_plan *p = x->plan;
  const int64_t begin = p->depth * t->part / p->depth_parts, end = p->depth * (t->part + 1) / p->depth_parts;
  if (p->is_streamed) {
    (p->in_strips ? multiply_strips : multiply_streamed)(x, t, begin, end, sums);
    return;
  }
  if (p->in_bytes) {
    if (!multiply_bytes(x, t, sums)) atomic_store(&x->failed, true);
    return;
  }
  gemm_sums turned = {.data = t->scratch + x->room.turned, .leading = padded(t->rows)};
  for (int64_t depth = begin; depth < end; depth += p->tile_depth) {
    const int64_t depths = int64_min(p->tile_depth, end - depth), size[3] = {t->rows, t->columns, depths};
    const gemm_matrix lhs = lhs_tile(x, t, depth, depths), rhs = rhs_tile(x, t, depth, depths);
    sums->adds = turned.adds = depth > begin && !p->is_exact;
    const bool is_done =
        p->turns ? multiply_turned(t, depths, lhs, rhs, &turned) : gemm_product(p->work, size, &lhs, &rhs, sums);
    if (!is_done) atomic_store(&x->failed, true);
    if (p->is_exact) add_exact(p, sums->data, t->rows * t->columns, t->scratch + x->room.sums);
  }
  if (end > begin && p->turns) turn_f32(t->rows, t->columns, turned.data, turned.leading, sums->data, sums->leading);
  if (end > begin || p->is_exact) return;
  for (int64_t r = 0; r < t->rows; r++)
    memset((char *)sums->data + r * sums->leading * work_size(gemm_plan_products(p)), 0,
           (size_t)(t->columns * work_size(gemm_plan_products(p))));
}

// --- what comes after the sums

#define ADD_ROW(name, type)                                                         \
  static void add_##name(int64_t count, const void *from, void *to) {               \
    for (int64_t k = 0; k < count; k++) ((type *)to)[k] += ((const type *)from)[k]; \
  }

ADD_ROW(f32, float)
ADD_ROW(f64, double)
ADD_ROW(u32, uint32_t)
ADD_ROW(u64, uint64_t)

static void add_row(work_type w, int64_t count, const void *from, void *to) {
  switch (w) {
    case WORK_F32: add_f32(count, from, to); return;
    case WORK_F64: add_f64(count, from, to); return;
    case WORK_C64: add_f32(2 * count, from, to); return;
    case WORK_C128: add_f64(2 * count, from, to); return;
    case WORK_U32: add_u32(count, from, to); return;
    case WORK_U64: add_u64(count, from, to); return;
    case WORK_S16:
    case WORK_TYPE_COUNT: return;
  }
}

// NaN stays NaN.
static void relu_row(work_type w, int64_t count, void *row) {
  float *f = row;
  double *d = row;
  if (w == WORK_F32)
    for (int64_t k = 0; k < count; k++) f[k] = f[k] < 0 ? 0 : f[k];
  else
    for (int64_t k = 0; k < count; k++) d[k] = d[k] < 0 ? 0 : d[k];
}

// Adds the bias to a tile of sums, applies the activation, and narrows it to the result unless it lies there.
static void finish_tile(const product *x, const tile *t, char *sums, int64_t leading) {
  const gemm_plan *p = x->plan;
  const lib_array *result = &x->call->results[0];
  char *bias = t->scratch + x->room.bias;
  const bool lies_there = !p->copies_sums && !x->parts;
  if (p->has_bias) work_load(p->sums, &x->call->operands[2], t->batch * p->bias_batch + t->column, t->columns, bias);
  else if (lies_there && !p->has_relu) return;
  for (int64_t r = 0; r < t->rows; r++) {
    char *row = sums + r * leading * work_size(p->sums);
    const int64_t first = result_index(p, t) + r * p->result.leading;
    if (p->has_bias) add_row(p->sums, t->columns, bias, row);
    if (p->has_relu) relu_row(p->sums, t->columns, row);
    if (!lies_there) work_store(p->sums, row, result, first, t->columns);
  }
}

// How many parts the rows of each tile but the last one are packed in.
static int64_t parts_of(const gemm_plan *p, int64_t rows) {
  int64_t size[3];
  gemm_plan_size(p, rows, size);
  return gemm_stream_parts(size, is_turned(p));
}

static void pack_parts(void *argument, int64_t begin, int64_t end) {
  const product *x = argument;
  const gemm_plan *p = x->plan;
  const float *first = (const float *)x->call->operands[0].data + member_at(p, &p->lhs, 0);
  const int64_t parts = parts_of(p, p->tile_rows);
  for (int64_t number = begin; number < end; number++) {
    const int64_t row = number / parts * p->tile_rows, rows = int64_min(p->tile_rows, p->rows - row);
    const gemm_matrix lhs = {first + (p->transpose_lhs ? row : row * p->lhs.leading), p->lhs.leading, p->transpose_lhs};
    int64_t size[3];
    gemm_plan_size(p, rows, size);
    if (number % parts < parts_of(p, rows))
      gemm_stream_pack(size, is_turned(p), &lhs, number % parts, packed_at(x, row));
  }
}

static void pack_left(product *x) {
  const gemm_plan *p = x->plan;
  x->packed = (float *)((char *)x->call->scratch + x->room.all * x->threads);
  pool_run(x->threads, row_tiles(p) * parts_of(p, p->tile_rows), pack_parts, x);
}

static void do_tiles(void *argument, int64_t begin, int64_t end) {
  product *x = argument;
  for (int64_t number = begin; number < end; number++) {
    const tile t = tile_at(x, number);
    gemm_sums sums = sums_of(x, &t);
    char *exact = t.scratch + x->room.sums;
    if (x->plan->is_exact) memset(exact, 0, (size_t)(t.rows * t.columns * work_size(x->plan->sums)));
    multiply_tile(x, &t, &sums);
    if (x->parts) continue;
    finish_tile(x, &t, x->plan->is_exact ? exact : sums.data, sums.leading);
  }
}

static void do_members(void *argument, int64_t begin, int64_t end) {
  const product *x = argument;
  const gemm_plan *p = x->plan;
  const float *left = x->call->operands[0].data, *right = x->call->operands[1].data;
  const int64_t size[3] = {p->rows, p->columns, p->depth};
  for (int64_t batch = begin; batch < end; batch++) {
    const gemm_matrix lhs = {left + member_at(p, &p->lhs, batch), p->lhs.leading, p->transpose_lhs};
    const gemm_matrix rhs = {right + member_at(p, &p->rhs, batch), p->rhs.leading, p->transpose_rhs};
    float *result = x->call->results[0].data;
    const gemm_sums sums = {result + member_at(p, &p->result, batch), p->result.leading, false};
    gemm_near_product(size, &lhs, &rhs, &sums);
  }
}

// Adds up the parts of the depth, in order, in the first one.
static void join_parts(void *argument, int64_t begin, int64_t end) {
  const product *x = argument;
  const gemm_plan *p = x->plan;
  const work_type products = gemm_plan_products(p);
  const int64_t size = work_size(products), all = p->batch * p->rows * p->columns * size;
  for (int64_t number = begin; number < end; number++) {
    const tile t = tile_at(x, number);
    char *first = sums_of(x, &t).data;
    for (int64_t r = 0; r < t.rows; r++)
      for (int64_t part = 1; part < p->depth_parts; part++)
        add_row(products, t.columns, first + part * all + r * p->columns * size, first + r * p->columns * size);
    finish_tile(x, &t, first, p->columns);
  }
}

heddle_status gemm_plan_execute_with(const gemm_plan *plan, const lib_call *call, gemm_load_fn load,
                                     const void *argument) {
  if (plan->batch * plan->rows * plan->columns == 0) return status_ok();
  if (plan->is_whole) {
    product members = {.plan = plan, .call = call};
    pool_run((int)threads_for(plan, call->threads), plan->batch, do_members, &members);
    return status_ok();
  }
  product x = {.plan = plan, .call = call, .load = load, .argument = argument, .room = room_of(plan)};
  x.threads = (int)threads_for(plan, call->threads);
  if (plan->depth_parts > 1) x.parts = (char *)call->scratch + x.room.all * x.threads + x.room.packed;
  if (plan->is_streamed && !plan->in_strips) pack_left(&x);
  pool_run(x.threads, gemm_plan_tiles(plan) * plan->depth_parts, do_tiles, &x);
  if (x.parts) pool_run(x.threads, gemm_plan_tiles(plan), join_parts, &x);
  if (atomic_load(&x.failed)) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a matrix product");
  return status_ok();
}

heddle_status gemm_plan_execute(const gemm_plan *plan, const lib_call *call) {
  return gemm_plan_execute_with(plan, call, NULL, NULL);
}
