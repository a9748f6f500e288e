// Chooses how a product is made, from its shapes and types alone: what it is multiplied as, which routine does so, how
// it is cut into tiles and what of them is copied.
#include "lib/gemm_plan.h"

#include <string.h>

#include "base/cpu_level.h"
#include "lib/gemm_bytes.h"
#include "lib/gemm_near.h"
#include "lib/gemm_packed.h"
#include "lib/gemm_product.h"
#include "lib/gemm_stream.h"
#include "lib/gemm_strips.h"

// How a product is cut into tiles, each of which one thread multiplies.
enum {
  TILE = 192,  // rows and columns where both operands are packed: two such tiles of TILE_DEPTH fit in an L2 cache
  DIRECT_TILE = 512,   // of tiles of which one is copied, or none: the library packs both sides of each
  LEAST_DIRECT = 128,  // of its columns, of which a panel is packed and turned for each tile
  LOW_ROWS = 256,
  LOW_TILE = 384,     // columns of tiles that have all of so few rows: …
  LOW_TILES = 4,      // … the library packs the rows for each of them, so that there are fewer
  LEAST_TILE = 64,    // smaller ones do not pay
  LEAST_TURNED = 32,  // of rows, columns and depth
  TILE_DEPTH = 256,   // of copied tiles
  TILES_WANTED = 8,   // so that a few threads have as much to do each
  STREAMED_TILE = 16 * GEMM_STREAM_COLUMNS,
  STREAMED_ROWS = 192,  // packed, some hundred terms of them lie in an L2 cache beside what they multiply
  FEW_ROWS = 4,         // the other operand is read once: wide tiles, in depth rather
  WIDE_TILE = 4096,
  FEW_USES = 4,  // of what is read so often or less, copying takes longer
  MANY_USES = 128,
  LEAST_FEW_PART = 64,
  LEAST_PART = 1024,      // depth that is worth summing apart
  SMALL_WORK = 1 << 17,   // multiplications that one thread does before another has woken up
  DIRECT_WORK = 1 << 23,  // of a tile, in smaller ones of which the library spends its time with packing
  NEAR_WORK = 1 << 19,    // of a tile for which nothing is packed
  LEAST_NEAR = 32,        // of its rows or columns
};

static const int64_t direct_depth = (int64_t)1 << 20;

// --- types

static dtype dtype_of(work_type w) {
  static const dtype types[WORK_TYPE_COUNT] = {
      [WORK_F32] = DTYPE_F32, [WORK_F64] = DTYPE_F64, [WORK_C64] = DTYPE_C64, [WORK_C128] = DTYPE_C128,
      [WORK_U32] = DTYPE_U32, [WORK_U64] = DTYPE_U64, [WORK_S16] = DTYPE_S16};
  return types[w];
}

// Whether elements of type `t` lie in memory as the work type has them.
static bool is_as_work(dtype t, work_type w) {
  if (w == WORK_U32 || w == WORK_U64) return dtype_is_integer(t) && dtypes[t].bits == dtypes[dtype_of(w)].bits;
  return t == dtype_of(w);
}

static bool counts_as_integer(dtype t) { return dtype_is_integer(t) || t == DTYPE_PRED; }

// Bits of the largest absolute value of a type that float sums of integers may take.
static int magnitude_bits(dtype t) {
  if (t == DTYPE_PRED) return 1;
  return dtype_is_signed(t) ? dtypes[t].bits - 1 : dtypes[t].bits;
}

static bool fits_packed(dtype t) { return dtypes[t].bits <= 8 || t == DTYPE_S16; }

static void choose_integer_work(dtype lhs, dtype rhs, dtype result, gemm_plan *p) {
  const int wider = dtypes[lhs].bits > dtypes[rhs].bits ? dtypes[lhs].bits : dtypes[rhs].bits;
  p->sums = dtypes[result].bits <= 32 ? WORK_U32 : WORK_U64;
  if (p->sums == WORK_U32 && fits_packed(lhs) && fits_packed(rhs) && gemm_packed_product()) {
    p->work = WORK_S16;
    return;
  }
  p->work = wider <= 8 ? WORK_F32 : wider <= 16 ? WORK_F64 : p->sums;
  p->is_exact = wider <= 16;
  p->tile_depth = TILE_DEPTH;
  if (p->is_exact)
    p->tile_depth = ((int64_t)1 << ((p->work == WORK_F32 ? 24 : 53) - magnitude_bits(lhs) - magnitude_bits(rhs)));
}

static heddle_status choose_work(const gemm_form *f, gemm_plan *p) {
  const dtype lhs = f->lhs, rhs = f->rhs, result = f->result;
  const bool is_whole = counts_as_integer(lhs) && counts_as_integer(rhs);
  p->tile_depth = direct_depth;
  if (dtype_is_complex(result) && dtype_is_complex(lhs) && dtype_is_complex(rhs)) {
    p->work = result == DTYPE_C64 ? WORK_C64 : WORK_C128;
  } else if (dtype_is_float(result) && !dtype_is_complex(lhs) && !dtype_is_complex(rhs)) {
    const bool needs_f64 = result == DTYPE_F64 || dtypes[lhs].bits >= 64 || dtypes[rhs].bits >= 64 ||
                           (counts_as_integer(lhs) && dtypes[lhs].bits > 16) ||
                           (counts_as_integer(rhs) && dtypes[rhs].bits > 16);
    p->work = needs_f64 ? WORK_F64 : WORK_F32;
  } else if (counts_as_integer(result) && is_whole) {
    choose_integer_work(lhs, rhs, result, p);
    return status_ok();
  } else {
    return status_error(HEDDLE_INVALID, "a matrix product of %s and %s with result %s", dtype_name(lhs),
                        dtype_name(rhs), dtype_name(result));
  }
  p->sums = p->work;
  return status_ok();
}

static bool has_dims(const lib_array *a, int64_t batch, int64_t rows, int64_t columns) {
  return a->rank == 3 && a->dims[0] == batch && a->dims[1] == rows && a->dims[2] == columns;
}

static heddle_status form_of(const lib_call *call, gemm_form *f, gemm_plan *p) {
  p->transpose_lhs = lib_int(call, "transpose_lhs", 0) != 0;
  p->transpose_rhs = lib_int(call, "transpose_rhs", 0) != 0;
  f->has_bias = lib_int(call, "bias", 0) != 0;
  const char *activation = lib_text(call, "activation");
  f->has_relu = activation && strcmp(activation, "relu") == 0;
  if (activation && activation[0] && !f->has_relu)
    return status_error(HEDDLE_INVALID, "a matrix product with activation '%s'", activation);
  if (call->operand_count != (f->has_bias ? 3 : 2) || call->result_count != 1 || call->results[0].rank != 3 ||
      call->operands[0].rank != 3)
    return status_error(HEDDLE_INVALID, "a matrix product of %d operands", call->operand_count);
  const lib_array *lhs = &call->operands[0], *rhs = &call->operands[1], *result = &call->results[0];
  *f = (gemm_form){.lhs = lhs->type,
                   .rhs = rhs->type,
                   .result = result->type,
                   .batch = result->dims[0],
                   .rows = result->dims[1],
                   .columns = result->dims[2],
                   .depth = lhs->dims[p->transpose_lhs ? 1 : 2],
                   .has_bias = f->has_bias,
                   .has_relu = f->has_relu};
  const bool fits =
      has_dims(lhs, f->batch, p->transpose_lhs ? f->depth : f->rows, p->transpose_lhs ? f->rows : f->depth) &&
      has_dims(rhs, f->batch, p->transpose_rhs ? f->columns : f->depth, p->transpose_rhs ? f->depth : f->columns) &&
      (!f->has_bias || (call->operands[2].rank == 1 && call->operands[2].dims[0] == f->columns));
  if (!fits) return status_error(HEDDLE_INVALID, "a matrix product of operands that do not fit together");
  return status_ok();
}

// Both sides are multiplied as they lie.
static bool is_near(const gemm_plan *p) {
  int64_t size[3];
  gemm_plan_size(p, p->rows, size);
  return p->work == WORK_F32 && gemm_near_takes(size);
}

static bool is_turned_round(const gemm_form *f, const gemm_plan *p) {
  return p->work == WORK_F32 && !p->is_exact && !is_near(p) && p->transpose_lhs && p->transpose_rhs && !f->loads_lhs &&
         p->rows >= LEAST_TURNED && p->columns >= LEAST_TURNED && p->depth >= LEAST_TURNED;
}

// Rows that lie so far apart fall into few cache sets.
static bool rows_collide(work_type w, int64_t leading) { return leading * work_size(w) % 2048 == 0; }

static bool lies_in_pages(work_type w, int64_t leading) { return leading * work_size(w) % 4096 == 0; }

static void choose_copies(const gemm_form *f, gemm_plan *p) {
  p->copies_lhs = f->loads_lhs || !is_as_work(f->lhs, p->work) || p->lhs.leading > INT32_MAX;
  p->copies_rhs = !is_as_work(f->rhs, p->work) || p->rhs.leading > INT32_MAX;
  // Rows of which only a part belongs to the matrix are as far apart in either form.
  const bool turns_lhs = p->transpose_lhs || p->lhs.leading > p->depth;
  const bool turns_rhs = !p->transpose_rhs || p->rhs.leading > p->depth;
  // A library's own packing does as well where it is used often, unless both sides have to be turned.
  const bool may_collide = p->work == WORK_F32 && !is_near(p);
  if (may_collide && turns_lhs && p->transpose_rhs && p->columns > FEW_USES && !p->turns)
    p->copies_lhs |= rows_collide(p->work, p->lhs.leading);
  if (may_collide && turns_rhs && p->rows > FEW_USES && p->rows < MANY_USES)
    p->copies_rhs |= rows_collide(p->work, p->rhs.leading);
  // With AVX2 oneDNN reads rows of pages where they lie, as often as they are used: 2048x2048x2048 took twice the time.
  if (may_collide && !cpu_level_has_avx512() && p->columns > FEW_USES && p->rows > FEW_USES) {
    p->copies_lhs |= p->turns && lies_in_pages(p->work, p->lhs.leading);
    p->copies_rhs |= !p->turns && turns_rhs && lies_in_pages(p->work, p->rhs.leading);
  }
  p->copies_lhs |= p->work == WORK_S16;
  p->copies_rhs |= p->work == WORK_S16;
  p->copies_sums = p->is_exact || !is_as_work(f->result, gemm_plan_products(p)) || p->result.leading > INT32_MAX;
}

static void choose_streams(const gemm_form *f, gemm_plan *p) {
  int64_t size[3];
  gemm_plan_size(p, p->rows, size);
  if (f->lhs != DTYPE_F32 || f->rhs != DTYPE_F32 || f->result != DTYPE_F32 || f->loads_lhs || f->batch != 1 ||
      f->right_groups > 1)
    return;
  p->in_strips = f->keeps_rhs && !p->transpose_lhs && gemm_strips_takes(size);
  p->is_streamed =
      p->in_strips || gemm_stream_takes(size, p->transpose_rhs) || (f->keeps_rhs && gemm_stream_keeps(size));
}

// Rows and members one after the other.
static gemm_strides dense(int64_t rows, int64_t columns) { return (gemm_strides){columns, rows * columns, 0, 0}; }

// The members of the batch one after the other, or the columns of all of them in each row.
static void choose_strides(const gemm_form *f, gemm_plan *p) {
  const gemm_strides side_by_side = {p->columns * p->batch, p->columns, 0, 0};
  const bool is_side_by_side = f->right_groups > 1;
  p->group = p->batch > 0 ? p->batch : 1;
  p->lhs = p->transpose_lhs ? dense(p->depth, p->rows) : dense(p->rows, p->depth);
  p->rhs = p->transpose_rhs ? dense(p->columns, p->depth) : dense(p->depth, p->columns);
  p->result = dense(p->rows, p->columns);
  if (is_side_by_side) p->rhs = p->result = side_by_side;
  p->bias_batch = is_side_by_side ? p->columns : 0;
}

static void choose_bytes(const gemm_form *f, gemm_plan *p) {
  int64_t size[3];
  gemm_plan_size(p, p->rows, size);
  p->in_bytes = f->lhs == DTYPE_S8 && f->rhs == DTYPE_S8 && dtypes[f->result].bits == 32 && p->work == WORK_S16 &&
                !f->loads_lhs && !f->has_bias && gemm_bytes_takes(size);
}

// The same number of tiles, of more equal size.
static int64_t evened(int64_t size, int64_t tile) {
  const int64_t even = (int64_ceil_div(size, int64_ceil_div(size, tile)) + 7) / 8 * 8;
  return int64_min(even, size);
}

static void choose_bytes_tiles(gemm_plan *p) {
  int64_t size[3], tile[2];
  gemm_plan_size(p, p->rows, size);
  gemm_bytes_tile(size, tile);
  p->tile_rows = evened(p->rows, tile[0]);
  p->tile_columns = evened(p->columns, tile[1]);
  p->tile_depth = p->depth;
  p->depth_parts = 1;
  p->max_threads = INT32_MAX;
}

static void choose_streamed_tiles(gemm_plan *p) {
  const int64_t groups = int64_ceil_div(p->columns, GEMM_STREAM_COLUMNS);
  const int64_t row_tiles = int64_ceil_div(p->rows, STREAMED_ROWS);
  p->tile_rows = int64_ceil_div(p->rows, row_tiles);
  p->tile_columns = int64_min(STREAMED_TILE, int64_max(1, groups * row_tiles / TILES_WANTED) * GEMM_STREAM_COLUMNS);
  p->tile_columns = int64_min(p->tile_columns, p->columns);
  p->depth_parts = int64_max(1, int64_min(TILES_WANTED / gemm_plan_tiles(p), p->depth / LEAST_PART));
  p->max_threads = INT32_MAX;
}

static int64_t most_depth_parts(const gemm_plan *p, double work, bool has_few_rows) {
  if (work <= SMALL_WORK || p->is_exact) return 1;
  const int64_t parts =
      int64_min(TILES_WANTED / gemm_plan_tiles(p), p->depth / (has_few_rows ? LEAST_FEW_PART : LEAST_PART));
  return int64_max(1, parts);
}

// Halves tiles until there are enough of them. Of those that the library packs the columns, as long as that pays, and
// where there are few columns the rows, until a few threads have something to do. `parts`: of the depth.
static void halve_tiles(gemm_plan *p, bool copies, int64_t parts, int64_t wanted) {
  while (gemm_plan_tiles(p) < wanted) {
    const bool is_narrow = p->tile_columns < 2 * LEAST_DIRECT && gemm_plan_tiles(p) * parts < LOW_TILES;
    const bool is_tall = copies ? p->tile_rows >= p->tile_columns : is_narrow;
    int64_t *larger = is_tall ? &p->tile_rows : &p->tile_columns;
    const double work = (double)p->tile_rows * (double)p->tile_columns * (double)p->depth;
    if (*larger < 2 * (copies ? LEAST_TILE : LEAST_DIRECT) || (!copies && work < 2 * DIRECT_WORK)) return;
    *larger = int64_ceil_div(*larger, 2);
  }
}

// Of a product that is multiplied as it lies, the longer sides, until a few threads have something to do.
static void halve_near_tiles(gemm_plan *p) {
  while (gemm_plan_tiles(p) < LOW_TILES) {
    int64_t *longer = p->tile_rows > p->tile_columns ? &p->tile_rows : &p->tile_columns;
    const double work = (double)p->tile_rows * (double)p->tile_columns * (double)p->depth;
    if (*longer < 2 * LEAST_NEAR || work < 2 * NEAR_WORK) return;
    *longer = int64_ceil_div(*longer, 2);
  }
}

static void choose_tiles(gemm_plan *p) {
  const bool copies = p->copies_lhs || p->copies_rhs;
  const double work = (double)p->batch * (double)p->rows * (double)p->columns * (double)p->depth;
  const bool has_few_rows = !copies && p->rows <= FEW_ROWS && !p->transpose_rhs;
  const bool is_low = !copies && !has_few_rows && p->rows <= LOW_ROWS && p->rows < p->columns;
  const int64_t side = p->copies_lhs && p->copies_rhs ? TILE : DIRECT_TILE;
  p->tile_rows = int64_min(p->rows, side);
  p->tile_columns = int64_min(p->columns, has_few_rows ? WIDE_TILE : is_low ? LOW_TILE : side);
  if (copies) p->tile_depth = int64_min(p->tile_depth, p->work == WORK_S16 ? GEMM_PACKED_DEPTH : TILE_DEPTH);
  if (work > SMALL_WORK && is_low && gemm_plan_tiles(p) < LOW_TILES && p->tile_columns == LOW_TILE)
    p->tile_columns = LOW_TILE / 2;
  const int64_t parts = most_depth_parts(p, work, has_few_rows), wanted = is_low ? LOW_TILES : TILES_WANTED;
  const bool has_few_tiles = copies || gemm_plan_tiles(p) * parts < wanted;
  if (work > SMALL_WORK && !has_few_rows && has_few_tiles) halve_tiles(p, copies, parts, wanted);
  if (work > SMALL_WORK && !copies && parts == 1 && is_near(p)) halve_near_tiles(p);
  p->tile_rows = evened(p->rows, p->tile_rows);
  p->tile_columns = evened(p->columns, p->tile_columns);
  p->depth_parts = most_depth_parts(p, work, has_few_rows);
  p->max_threads = work > SMALL_WORK ? INT32_MAX : 1;
}

// Whether nothing is to be done for a member but to multiply, which for a small one takes no longer than to cut it up.
static bool is_whole(const gemm_plan *p) {
  return is_near(p) && !p->copies_lhs && !p->copies_rhs && !p->copies_sums && !p->has_bias && !p->has_relu &&
         p->depth > 0 && p->depth_parts == 1 && p->tile_rows == p->rows && p->tile_columns == p->columns;
}

// What a call says of one of its arrays, by name.
typedef struct array_names {
  const char *strides, *offset, *elements;
} array_names;

static const array_names operand_names[] = {{"lhs_strides", "lhs_offset", "lhs_elements"},
                                            {"rhs_strides", "rhs_offset", "rhs_elements"}};
static const array_names result_names = {"result_strides", NULL, NULL};

static int64_t int_of(const lib_call *call, const char *name, int64_t otherwise) {
  return name ? lib_int(call, name, otherwise) : otherwise;
}

int64_t gemm_operand_elements(const lib_call *call, int operand) {
  const int64_t own = lib_element_count(&call->operands[operand]);
  return operand < 2 ? lib_int(call, operand_names[operand].elements, own) : own;
}

// Where the matrices of one of the call's arrays lie, of which no element may lie outside of the array.
static heddle_status read_strides_of(const lib_call *call, const array_names *names, const lib_array *a,
                                     const gemm_plan *p, gemm_strides *out) {
  const named_attribute *x = lib_ints(call, names->strides);
  const int64_t own = lib_element_count(a), count = int_of(call, names->elements, own);
  const int64_t offset = int_of(call, names->offset, 0);
  if (own == 0) return status_ok();
  bool fits = count >= own && offset >= 0 && offset < count && (!x || x->count == 3);
  for (int k = 0; fits && x && k < 3; k++) fits = x->ints[k] >= 0 && x->ints[k] <= count;
  if (fits && x) *out = (gemm_strides){x->ints[0], x->ints[1], x->ints[2], 0};
  out->offset = offset;
  const int64_t groups = p->batch / p->group;
  const double last = (double)(groups - 1) * (double)out->group + (double)(p->group - 1) * (double)out->member +
                      (double)(a->dims[1] - 1) * (double)out->leading + (double)(a->dims[2] - 1);
  if (fits && last < (double)(count - offset) && out->leading >= a->dims[2]) return status_ok();
  return status_error(HEDDLE_INVALID, "a matrix product whose %s lead out of the array", names->strides);
}

static heddle_status read_strides(const lib_call *call, gemm_plan *p) {
  const int64_t group = lib_int(call, "group", p->group);
  if (group < 1 || p->batch % group != 0)
    return status_error(HEDDLE_INVALID, "a matrix product of groups of %lld in a batch of %lld", (long long)group,
                        (long long)p->batch);
  p->group = group;
  TRY(read_strides_of(call, &operand_names[0], &call->operands[0], p, &p->lhs));
  TRY(read_strides_of(call, &operand_names[1], &call->operands[1], p, &p->rhs));
  return read_strides_of(call, &result_names, &call->results[0], p, &p->result);
}

// `call` is null for a product that has none.
static heddle_status plan_form(const gemm_form *form, const lib_call *call, gemm_plan *plan) {
  plan->batch = form->batch;
  plan->rows = form->rows;
  plan->columns = form->columns;
  plan->depth = form->depth;
  plan->has_bias = form->has_bias;
  plan->has_relu = form->has_relu;
  choose_strides(form, plan);
  if (call) TRY(read_strides(call, plan));
  TRY(choose_work(form, plan));
  if (plan->has_relu && plan->work != WORK_F32 && plan->work != WORK_F64)
    return status_error(HEDDLE_INVALID, "relu of %s", dtype_name(form->result));
  choose_streams(form, plan);
  if (plan->is_streamed) {
    choose_streamed_tiles(plan);
    return status_ok();
  }
  choose_bytes(form, plan);
  if (plan->in_bytes) {
    choose_bytes_tiles(plan);
    return status_ok();
  }
  plan->turns = is_turned_round(form, plan);
  choose_copies(form, plan);
  if (plan->batch * plan->rows * plan->columns == 0) return status_ok();
  TRY(gemm_product_need(plan->work, (double)plan->rows * (double)plan->columns * (double)plan->depth));
  choose_tiles(plan);
  plan->is_whole = is_whole(plan);
  if (dtypes[form->result].bits < 8) plan->max_threads = 1;  // elements may share bytes
  return status_ok();
}

heddle_status gemm_plan_make_of(const gemm_form *form, gemm_plan *plan) {
  *plan = (gemm_plan){0};
  return plan_form(form, NULL, plan);
}

static heddle_status plan_call(const lib_call *call, bool keeps_rhs, gemm_plan *plan) {
  *plan = (gemm_plan){0};
  gemm_form form = {0};
  TRY(form_of(call, &form, plan));
  form.keeps_rhs = keeps_rhs;
  return plan_form(&form, call, plan);
}

heddle_status gemm_plan_make(const lib_call *call, gemm_plan *plan) { return plan_call(call, false, plan); }
heddle_status gemm_plan_make_constant(const lib_call *call, gemm_plan *plan) { return plan_call(call, true, plan); }
