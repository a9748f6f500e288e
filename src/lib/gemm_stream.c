// A block of at most ROWS rows and STRIP columns of sums stays in registers while PIECE terms of the depth are added.
//
// Copying what a block reads to the first-level cache is done beside the multiplications of the block before, since
// both together take no longer than the latter alone; and what is copied then is fetched from memory ahead, in an order
// that goes through as many neighbouring bytes as possible: two lines of each row of a matrix, one row after the other,
// come at half the speed of eight.
//
// Sums are added up in blocks of the depth, as oneDNN does on machines with AVX-512: so a product has the same bits as
// one that it multiplies, of which this one may be a part.
//
// Where the right side's columns are neighbours, strips of it are copied, and packed rows of the left side multiply
// them. Where its terms are, the sides change places: a few of its rows are copied as they lie, they multiply strips
// of the packed left side, and the block of sums is turned around when it is stored.
#include "lib/gemm_stream.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "lib/gemm_lanes.h"

#define AVX512 GEMM_AVX512
#define INLINE GEMM_INLINE

enum {
  LANES = GEMM_LANES,
  STRIP = 2 * LANES,
  STRIPS = GEMM_STREAM_COLUMNS / STRIP,  // of a group, whose rows are fetched whole
  ROWS = GEMM_BLOCK_ROWS,
  LEAST_BLOCKS = 4,       // during which a piece is copied
  PIECE = 48,             // terms of a strip, of which two lie in the first-level cache with the rows
  KEPT_PIECE = 256,       // of a strip that is not copied
  ROWS_AHEAD = 8,         // terms between fetching packed rows from the second-level cache and their use
  TERMS = 64,             // of a column
  COPIED = TERMS + 16,    // from one copied row to the next, so that rows keep out of each other's cache sets
  SLOT = 4,               // terms between which something is copied
  AHEAD = 4,              // pieces of a row between fetching and copying
  PACKED_DEPTH = 256,     // of a part that is packed at a time
  FAR_RIGHT = 1 << 19,    // elements of a right side that lies in no cache near by
  LEAST_ROWS = 5,         // by a far right side whose columns are neighbours
  LEAST_FAR_ROWS = 12,    // by one whose terms are: fewer leave most of a strip's lanes unused
  LEAST_NEAR_ROWS = 24,   // by one of …
  LEAST_RIGHT = 1 << 16,  // … so many elements
  MOST_ROWS = 96,
  LEAST_KEPT_ROWS = 25,      // by one that is packed once: of at least …
  LEAST_KEPT = 1 << 17,      // … so many elements
  MOST_NEAR_ROWS = 160,      // and these as long as it lies in a cache near by, …
  MOST_FAR_ROWS = 512,       // … or else these, …
  MOST_KEPT_LEFT = 1 << 20,  // … of so many elements
  LEAST_COLUMNS = 192,       // fewer are not worth packing the left side
  LEAST_DEPTH = 256,
  MOST_LEFT = 1 << 18,  // elements of the left side, if all of it is read for each few rows of the right one
};

// --- packing the left side: [unit][depth][width], where a unit is ROWS rows, or a strip of columns

typedef struct units {
  int64_t rows, count, width;
} units;

static units units_of(const int64_t size[static 3], bool transpose_rhs) {
  if (transpose_rhs) return (units){size[0], int64_ceil_div(size[0], STRIP), STRIP};
  const int64_t least = int64_min(LEAST_BLOCKS, int64_ceil_div(size[0], 2));
  return (units){size[0], int64_max(least, int64_ceil_div(size[0], ROWS)), ROWS};
}

// Where a unit begins: blocks of rows are of nearly the same size, strips are whole.
static int64_t first_row(const units *u, int64_t unit) {
  return u->width == STRIP ? int64_min(unit * STRIP, u->rows) : u->rows * unit / u->count;
}

static int64_t chunks_of(int64_t depth) { return int64_ceil_div(depth, PACKED_DEPTH); }

int64_t gemm_stream_parts(const int64_t size[static 3], bool transpose_rhs) {
  return units_of(size, transpose_rhs).count * chunks_of(size[2]);
}

int64_t gemm_stream_packed(const int64_t size[static 3], bool transpose_rhs) {
  const units u = units_of(size, transpose_rhs);
  return u.count * u.width * size[2];
}

// At most sixteen rows, terms `begin` to `end`, to lanes of vectors that are `width` apart.
AVX512 static void pack_lanes(const gemm_matrix *m, int64_t row, int64_t rows, const int64_t terms[static 2],
                              int64_t width, float *to) {
  const float *from = m->data;
  if (m->is_transposed) {
    for (int64_t k = terms[0]; k < terms[1]; k++)
      _mm512_mask_storeu_ps(to + k * width, gemm_lanes_first(width),
                            _mm512_maskz_loadu_ps(gemm_lanes_first(rows), from + k * m->leading + row));
    return;
  }
  for (int64_t k = terms[0]; k < terms[1]; k += LANES) {
    __m512 x[16];
    const int64_t count = int64_min(LANES, terms[1] - k);
    for (int r = 0; r < 16; r++)
      x[r] = r < rows ? _mm512_maskz_loadu_ps(gemm_lanes_first(count), from + (row + r) * m->leading + k)
                      : _mm512_setzero_ps();
    gemm_lanes_turn(x);
    for (int r = 0; r < count; r++) _mm512_mask_storeu_ps(to + (k + r) * width, gemm_lanes_first(width), x[r]);
  }
}

void gemm_stream_pack(const int64_t size[static 3], bool transpose_rhs, const gemm_matrix *lhs, int64_t part,
                      float *packed) {
  const units u = units_of(size, transpose_rhs);
  const int64_t chunks = chunks_of(size[2]), unit = part / chunks, depth = part % chunks * PACKED_DEPTH;
  const int64_t terms[2] = {depth, int64_min(size[2], depth + PACKED_DEPTH)};
  const int64_t first = first_row(&u, unit), count = first_row(&u, unit + 1) - first;
  for (int64_t lane = 0; lane < u.width; lane += LANES)
    pack_lanes(lhs, first + lane, int64_max(0, count - lane), terms, u.width, packed + unit * u.width * size[2] + lane);
}

// --- what is copied and fetched beside the multiplications

// Strips are copied; columns' terms are copied; strips lie as they are read.
typedef enum way { STRIPS_COPIED, TERMS_COPIED, STRIPS_KEPT, WAYS } way;

typedef struct ahead {
  const float *from, *fetched;
  float *to;
  int64_t leading;
  int64_t rows;                    // that are still to be copied
  int64_t lines, left;             // of a row that is fetched, and how many of them are left
  __mmask16 masks[TERMS / LANES];  // of the columns that a row has
} ahead;

// A row of a strip, or of the terms of a column; as many lines are fetched.
AVX512 INLINE void copy_row(way w, ahead *a) {
  const int vectors = w == TERMS_COPIED ? TERMS / LANES : STRIP / LANES;
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    _mm_prefetch((const char *)(a->fetched + v * LANES), _MM_HINT_T1);
    if (w == STRIPS_KEPT) continue;
    _mm512_store_ps(a->to + v * LANES, _mm512_maskz_loadu_ps(a->masks[v], a->from + v * LANES));
  }
  a->fetched += vectors * LANES;
  if (w == STRIPS_KEPT) return;
  a->from += a->leading;
  a->to += w == TERMS_COPIED ? COPIED : STRIP;
  a->left -= vectors;
  if (a->left > 0) return;
  a->left = a->lines;
  a->fetched += a->leading - a->lines * LANES;
}

AVX512 static void copy_rest(way w, ahead *a) {
  for (; a->rows > 0; a->rows--) copy_row(w, a);
}

// --- blocks in registers

typedef struct block {
  const float *rows, *columns;
  float *sums;  // [rows][STRIP]
  int64_t depth;
  bool adds;
} block;

// One term. Its rows lie side by side if they were packed; copied ones lie one behind the other.
AVX512 INLINE void add_term(int count, bool is_turned, const float *rows, const float *columns, __m512 sums[ROWS][2]) {
  const __m512 low = _mm512_load_ps(columns), high = _mm512_load_ps(columns + LANES);
#pragma GCC unroll 13
  for (int r = 0; r < count; r++) {
    const __m512 x = _mm512_set1_ps(rows[is_turned ? r * COPIED : r]);
    sums[r][0] = _mm512_fmadd_ps(x, low, sums[r][0]);
    sums[r][1] = _mm512_fmadd_ps(x, high, sums[r][1]);
  }
}

// `count` rows, a constant of each caller. What is copied is kept in registers, too: what is computed for it takes
// turns from the multiplications.
AVX512 INLINE void multiply_count(int count, way w, const block *b, ahead *all) {
  const bool is_turned = w == TERMS_COPIED;
  const int step = is_turned ? 1 : ROWS;
  const float *rows = b->rows, *columns = b->columns;
  ahead a = *all;
  __m512 sums[ROWS][2];
#pragma GCC unroll 13
  for (int r = 0; r < count; r++) {
    sums[r][0] = b->adds ? _mm512_load_ps(b->sums + r * STRIP) : _mm512_setzero_ps();
    sums[r][1] = b->adds ? _mm512_load_ps(b->sums + r * STRIP + LANES) : _mm512_setzero_ps();
  }
  int64_t k = 0;
  for (; k + SLOT <= b->depth; k += SLOT, rows += SLOT * step, columns += SLOT * STRIP) {
#pragma GCC unroll 4
    for (int n = 0; n < SLOT; n++) {
      if (w == STRIPS_KEPT) _mm_prefetch((const char *)(rows + (n + ROWS_AHEAD) * step), _MM_HINT_T0);
      add_term(count, is_turned, rows + n * step, columns + n * STRIP, sums);
    }
    if (a.rows <= 0) continue;
    copy_row(w, &a);
    a.rows--;
  }
  for (; k < b->depth; k++, rows += step, columns += STRIP) add_term(count, is_turned, rows, columns, sums);
#pragma GCC unroll 13
  for (int r = 0; r < count; r++) {
    _mm512_store_ps(b->sums + r * STRIP, sums[r][0]);
    _mm512_store_ps(b->sums + r * STRIP + LANES, sums[r][1]);
  }
  *all = a;
}

typedef void (*multiply_fn)(const block *b, ahead *a);

#define MULTIPLY(count)                                                                                                \
  AVX512 static void multiply_strips_##count(const block *b, ahead *a) { multiply_count(count, STRIPS_COPIED, b, a); } \
  AVX512 static void multiply_terms_##count(const block *b, ahead *a) { multiply_count(count, TERMS_COPIED, b, a); }   \
  AVX512 static void multiply_kept_##count(const block *b, ahead *a) { multiply_count(count, STRIPS_KEPT, b, a); }
GEMM_EACH_BLOCK(MULTIPLY)
#define ALL(count) [count] = {multiply_strips_##count, multiply_terms_##count, multiply_kept_##count},
static const multiply_fn multiply[ROWS + 1][WAYS] = {GEMM_EACH_BLOCK(ALL)};

static void multiply_block(int64_t rows, way w, const block *b, ahead *a) { multiply[rows][w](b, a); }

// --- columns that are neighbours

// A piece of a strip: terms from `depth` on of the strip of a group of columns, in a block of terms.
typedef struct place {
  int64_t begin, end;  // of the block
  int64_t group, depth, strip;
} place;

typedef struct walk {
  const int64_t *size;
  int64_t columns, depth;
  int64_t begin, end;  // of the block of terms
  const float *packed, *right;
  int64_t leading;
  units left;
  float *pieces[2], *sums;  // [strip][rows][STRIP]
  bool has_totals;          // else blocks of terms are added up in the result
  float *totals;            // of a strip, [rows][STRIP]
  float *result;
  int64_t result_leading;
} walk;

static int64_t strips_of(const walk *w, int64_t group) {
  return int64_min(STRIPS, int64_ceil_div(w->columns - group, STRIP));
}

static place first_piece(const walk *w) { return (place){.end = gemm_lanes_depth(w->depth)}; }

static bool is_behind(const walk *w, const place *p) { return p->begin >= w->depth; }

// The piece of the same strip, or of another group's, behind that of `p`.
static place next_rows(const walk *w, place p) {
  p.depth += PIECE;
  if (p.depth < p.end) return p;
  p.depth = p.begin;
  p.group += GEMM_STREAM_COLUMNS;
  if (p.group < w->columns) return p;
  p.group = 0;
  p.begin = p.depth = p.end;
  p.end += gemm_lanes_depth(w->depth - p.begin);
  return p;
}

static place next_piece(const walk *w, place p) {
  if (++p.strip < strips_of(w, p.group)) return p;
  p.strip = 0;
  return next_rows(w, p);
}

static int64_t terms_of(const place *p) { return int64_min(PIECE, p->end - p->depth); }

static const float *rows_at(const walk *w, const place *p) { return w->right + p->depth * w->leading + p->group; }

// What is copied to `to` while the piece at `now` is multiplied, and fetched: a part of the rows that the strips of a
// group share. Behind the last piece the next tile's columns may follow.
static ahead ahead_of(const walk *w, const place *now, const place *next, float *to) {
  const int64_t columns = w->columns - next->group - next->strip * STRIP;
  place fetched = next_rows(w, *now);
  if (is_behind(w, &fetched)) fetched = (place){.group = w->columns};
  const int64_t strips = strips_of(w, fetched.group < w->columns ? fetched.group : 0);
  ahead a = {.from = rows_at(w, next) + next->strip * STRIP, .to = to, .leading = w->leading};
  a.rows = is_behind(w, next) ? 0 : terms_of(next);
  a.fetched = rows_at(w, &fetched) + PIECE * now->strip / strips * w->leading;
  a.left = a.lines = strips * (STRIP / LANES);
  for (int v = 0; v < STRIP / LANES; v++) a.masks[v] = gemm_lanes_first(columns - v * LANES);
  return a;
}

// Of `count` rows, to the sums of the blocks before. Right behind the block that made them: the stores wait for lines
// that lie far apart while the next rows are multiplied.
AVX512 static void store_sums(const walk *w, const place *p, int64_t row, int64_t count, const float *sums) {
  const int64_t first = p->group + p->strip * STRIP;
  for (int64_t r = row; r < row + count; r++)
    for (int v = 0; v < STRIP; v += LANES) {
      const __mmask16 mask = gemm_lanes_first(w->columns - first - v);
      float *to = w->result + r * w->result_leading + first + v,
            *total = w->has_totals ? w->totals + r * STRIP + v : to;
      const __m512 x = _mm512_load_ps(sums + r * STRIP + v);
      _mm512_mask_storeu_ps(p->end < w->depth ? total : to, mask,
                            p->begin > 0 ? _mm512_add_ps(_mm512_maskz_loadu_ps(mask, total), x) : x);
    }
}

// Where the sums of `count` rows go, ahead of storing them: two lines of each row lie far apart.
static void fetch_results(const walk *w, const place *p, int64_t row, int64_t count) {
  const float *to = w->result + row * w->result_leading + p->group + p->strip * STRIP;
  for (int64_t r = 0; r < count; r++, to += w->result_leading) {
    _mm_prefetch((const char *)to, _MM_HINT_T1);
    _mm_prefetch((const char *)(to + LANES), _MM_HINT_T1);
  }
}

// `terms` terms of a strip by all rows.
static void multiply_piece(const walk *w, way way, const place *p, int64_t terms, const block *first, ahead *a) {
  const units *u = &w->left;
  for (int64_t unit = 0; unit < u->count; unit++) {
    const int64_t row = first_row(u, unit), count = first_row(u, unit + 1) - row;
    const block b = {.rows = w->packed + (unit * w->size[2] + p->depth) * ROWS,
                     .columns = first->columns,
                     .sums = first->sums + row * STRIP,
                     .depth = terms,
                     .adds = p->depth > p->begin};
    const bool is_last = p->depth + terms >= p->end;
    if (is_last && (p->end >= w->depth || !w->has_totals)) fetch_results(w, p, row, count);
    multiply_block(count, way, &b, a);
    if (is_last) store_sums(w, p, row, count, first->sums);
  }
  copy_rest(way, a);
}

static void multiply_streamed_columns(const walk *w) {
  int number = 0;
  place now = first_piece(w);
  ahead a = ahead_of(w, &now, &now, w->pieces[0]);
  copy_rest(STRIPS_COPIED, &a);
  for (; !is_behind(w, &now); number ^= 1) {
    const place next = next_piece(w, now);
    a = ahead_of(w, &now, &next, w->pieces[number ^ 1]);
    const block b = {.columns = w->pieces[number], .sums = w->sums + now.strip * w->left.rows * STRIP};
    multiply_piece(w, STRIPS_COPIED, &now, terms_of(&now), &b, &a);
    now = next;
  }
}

// --- columns that were packed beforehand

// Pieces of nearly the same size, which a block of terms is cut in.
static int64_t kept_piece(int64_t terms) {
  const int64_t even = int64_ceil_div(terms, int64_ceil_div(terms, KEPT_PIECE));
  return (even + SLOT - 1) / SLOT * SLOT;
}

static void multiply_kept_columns(const walk *w) {
  for (place p = {0}; p.strip * STRIP < w->columns; p.strip++)
    for (p.begin = 0; p.begin < w->depth; p.begin = p.end) {
      block b = {.sums = w->sums};
      p.end = p.begin + gemm_lanes_depth(w->depth - p.begin);
      const int64_t piece = kept_piece(p.end - p.begin);
      for (p.depth = p.begin; p.depth < p.end; p.depth += piece) {
        const int64_t terms = int64_min(piece, p.end - p.depth);
        b.columns = w->right + (p.strip * w->size[2] + p.depth) * STRIP;
        ahead a = {.fetched = b.columns + terms * STRIP, .rows = terms};
        multiply_piece(w, STRIPS_KEPT, &p, terms, &b, &a);
      }
    }
}

// --- terms that are neighbours: a few columns' terms are a block's rows, and the result's rows its columns

static int64_t count_at(const walk *w, int64_t column) { return int64_min(ROWS, w->columns - column); }

// What is copied next are the terms from `depth` on, of the columns from `column` on, up to the end of their block.
static ahead terms_ahead(const walk *w, int64_t column, int64_t depth, int64_t end, float *to) {
  ahead a = {.from = w->right + column * w->leading + depth, .to = to, .leading = w->leading};
  const int64_t fetched = depth + AHEAD * TERMS;
  a.rows = count_at(w, column);
  a.left = a.lines = TERMS / LANES;
  a.fetched =
      fetched < w->depth ? a.from + AHEAD * TERMS : w->right + (column + ROWS) * w->leading + fetched - w->depth;
  for (int v = 0; v < TERMS / LANES; v++) a.masks[v] = gemm_lanes_first(end - depth - v * LANES);
  return a;
}

static void multiply_terms(const walk *w, int64_t column, int64_t depth, const float *piece, ahead *a) {
  for (int64_t strip = 0; strip < w->left.count; strip++) {
    const block b = {.rows = piece,
                     .columns = w->packed + (strip * w->size[2] + depth) * STRIP,
                     .sums = w->sums + strip * ROWS * STRIP,
                     .depth = int64_min(TERMS, w->end - depth),
                     .adds = depth > w->begin};
    multiply_block(count_at(w, column), TERMS_COPIED, &b, a);
  }
  copy_rest(TERMS_COPIED, a);
}

// The sums of a block of terms to those of the blocks before.
AVX512 static void add_sums(const walk *w, float *total) {
  const int64_t count = w->left.count * ROWS * STRIP;
  for (int64_t k = 0; k < count; k += LANES) {
    const __m512 x = _mm512_load_ps(w->sums + k);
    _mm512_store_ps(total + k, w->begin > 0 ? _mm512_add_ps(_mm512_load_ps(total + k), x) : x);
  }
}

// Sums of a few columns, which are rows here, sixteen rows of the result at a time.
AVX512 static void store_turned(const walk *w, int64_t column, const float *total) {
  const int64_t count = count_at(w, column);
  for (int64_t row = 0; row < w->left.rows; row += LANES) {
    const float *sums = total + row / STRIP * ROWS * STRIP + row % STRIP;
    float *to = w->result + row * w->result_leading + column;
    __m512 x[16];
    for (int r = 0; r < 16; r++) x[r] = r < count ? _mm512_load_ps(sums + r * STRIP) : _mm512_setzero_ps();
    gemm_lanes_turn(x);
    for (int64_t r = 0; r < LANES && row + r < w->left.rows; r++)
      _mm512_mask_storeu_ps(to + r * w->result_leading, gemm_lanes_first(count), x[r]);
  }
}

// The terms of a block of one column's, and what is copied behind each piece of them.
static void multiply_term_block(const walk *w, int64_t column, int *number) {
  for (int64_t depth = w->begin; depth < w->end; depth += TERMS, *number ^= 1) {
    int64_t next = depth + TERMS, next_end = w->end, next_column = column;
    if (next >= w->end) {
      next = w->end < w->depth ? w->end : 0;
      next_column = w->end < w->depth ? column : column + ROWS;
      next_end = next + gemm_lanes_depth(w->depth - next);
    }
    ahead a = terms_ahead(w, next_column, next, next_end, w->pieces[*number ^ 1]);
    multiply_terms(w, column, depth, w->pieces[*number], &a);
  }
}

static void multiply_streamed_terms(walk *w) {
  int number = 0;
  float *total = w->sums + w->left.count * ROWS * STRIP;
  ahead a = terms_ahead(w, 0, 0, gemm_lanes_depth(w->depth), w->pieces[0]);
  copy_rest(TERMS_COPIED, &a);
  for (int64_t column = 0; column < w->columns; column += ROWS) {
    for (w->begin = 0; w->begin < w->depth; w->begin = w->end) {
      w->end = w->begin + gemm_lanes_depth(w->depth - w->begin);
      multiply_term_block(w, column, &number);
      add_sums(w, total);
    }
    store_turned(w, column, total);
  }
}

// --- the product

bool gemm_stream_takes(const int64_t size[static 3], bool transpose_rhs) {
  const int64_t rows = size[0], right = size[1] * size[2];
  if (!cpu_level_has_avx512() || size[1] < LEAST_COLUMNS || size[2] < LEAST_DEPTH || rows > MOST_ROWS) return false;
  if (!transpose_rhs) return rows >= LEAST_ROWS && right >= FAR_RIGHT;
  return rows * size[2] <= MOST_LEFT &&
         ((rows >= LEAST_FAR_ROWS && right >= FAR_RIGHT) || (rows >= LEAST_NEAR_ROWS && right >= LEAST_RIGHT));
}

// Libraries pack a right side in less time than they save by it where it is multiplied often.
bool gemm_stream_keeps(const int64_t size[static 3]) {
  const int64_t rows = size[0], right = size[1] * size[2];
  if (!cpu_level_has_avx512() || rows < LEAST_KEPT_ROWS || size[1] < LEAST_COLUMNS || size[2] < LEAST_DEPTH)
    return false;
  if (right < FAR_RIGHT) return right >= LEAST_KEPT && rows <= MOST_NEAR_ROWS;
  return rows <= MOST_FAR_ROWS && rows * size[2] <= MOST_KEPT_LEFT;
}

enum { STRIP_PIECE = PIECE * STRIP, TURNED_PIECE = ROWS * COPIED };

int64_t gemm_stream_room(const int64_t size[static 3], bool transpose_rhs) {
  if (transpose_rhs) return 2 * (TURNED_PIECE + int64_ceil_div(size[0], STRIP) * ROWS * STRIP);
  return 2 * STRIP_PIECE + STRIPS * size[0] * STRIP;
}

static walk walk_of(const int64_t size[static 3], const gemm_stream_tile *tile, const gemm_sums *sums, bool is_turned,
                    const float *packed) {
  walk w = {.size = size,
            .columns = tile->columns,
            .depth = tile->end - tile->begin,
            .left = units_of(size, is_turned),
            .result = sums->data,
            .result_leading = sums->leading};
  w.packed = packed + tile->begin * w.left.width;
  return w;
}

void gemm_stream_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                         const gemm_matrix *rhs, const gemm_sums *sums, float *room) {
  const bool is_turned = rhs->is_transposed;
  const int64_t piece = is_turned ? TURNED_PIECE : STRIP_PIECE;
  walk w = walk_of(size, tile, sums, is_turned, packed);
  w.right = rhs->data;
  w.leading = rhs->leading;
  w.pieces[0] = room;
  w.pieces[1] = room + piece;
  w.sums = room + 2 * piece;
  if (is_turned) multiply_streamed_terms(&w);
  else multiply_streamed_columns(&w);
}

int64_t gemm_stream_kept(const int64_t size[static 3]) { return int64_ceil_div(size[1], STRIP) * STRIP * size[2]; }

void gemm_stream_keep(const int64_t size[static 3], const gemm_matrix *rhs, int64_t group, float *kept) {
  const gemm_matrix columns = {rhs->data, rhs->leading, !rhs->is_transposed};
  const int64_t terms[2] = {0, size[2]}, end = int64_min(size[1], (group + 1) * GEMM_STREAM_COLUMNS);
  for (int64_t column = group * GEMM_STREAM_COLUMNS; column < end; column += STRIP)
    for (int64_t lane = 0; lane < STRIP; lane += LANES)
      pack_lanes(&columns, column + lane, int64_max(0, int64_min(LANES, size[1] - column - lane)), terms, STRIP,
                 kept + column * size[2] + lane);
}

void gemm_stream_kept_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                              const float *kept, const gemm_sums *sums, float *room) {
  walk w = walk_of(size, tile, sums, false, packed);
  w.right = kept + tile->begin * STRIP;
  w.sums = room;
  w.has_totals = true;
  w.totals = room + size[0] * STRIP;
  multiply_kept_columns(&w);
}
#else
bool gemm_stream_keeps(const int64_t size[static 3]) {
  (void)size;
  return false;
}

bool gemm_stream_takes(const int64_t size[static 3], bool transpose_rhs) {
  (void)size;
  (void)transpose_rhs;
  return false;
}

// What is not taken needs nothing.
int64_t gemm_stream_packed(const int64_t size[static 3], bool transpose_rhs) {
  (void)size;
  (void)transpose_rhs;
  return 0;
}

int64_t gemm_stream_room(const int64_t size[static 3], bool transpose_rhs) {
  return gemm_stream_packed(size, transpose_rhs);
}

int64_t gemm_stream_parts(const int64_t size[static 3], bool transpose_rhs) {
  return gemm_stream_packed(size, transpose_rhs);
}

void gemm_stream_pack(const int64_t size[static 3], bool transpose_rhs, const gemm_matrix *lhs, int64_t part,
                      float *packed) {
  (void)size;
  (void)transpose_rhs;
  (void)lhs;
  (void)part;
  (void)packed;
}

void gemm_stream_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                         const gemm_matrix *rhs, const gemm_sums *sums, float *room) {
  (void)size;
  (void)tile;
  (void)packed;
  (void)rhs;
  (void)sums;
  (void)room;
}

int64_t gemm_stream_kept(const int64_t size[static 3]) {
  (void)size;
  return 0;
}

void gemm_stream_keep(const int64_t size[static 3], const gemm_matrix *rhs, int64_t group, float *kept) {
  (void)size;
  (void)rhs;
  (void)group;
  (void)kept;
}

void gemm_stream_kept_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                              const float *kept, const gemm_sums *sums, float *room) {
  (void)kept;
  gemm_stream_product(size, tile, packed, NULL, sums, room);
}
#endif
