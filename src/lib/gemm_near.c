// A block of at most ROWS rows and PANEL columns of sums stays in registers while all terms are added: each term's
// columns are two vectors as they lie in a row of the right side, and its rows elements of the left side, wherever they
// lie, that are loaded into all lanes. A block of rows is multiplied by one panel after the other, so that the result's
// rows are written whole.
//
// Panels of a right side whose terms are neighbours are turned round, and those whose rows lie far apart are copied, as
// many as fit a cache near by; and so are blocks of a left side whose elements would fall into the same few cache sets.
//
// Sums are added up in blocks of the depth, as gemm_stream and oneDNN do on these machines, so that a product has the
// same bits as one of theirs of which it may be a part.
#include "lib/gemm_near.h"

#if defined(__x86_64__)
#include "base/cpu_level.h"
#include "base/int64.h"
#include "lib/gemm_lanes.h"

#define AVX512 GEMM_AVX512
#define INLINE GEMM_INLINE

enum {
  LANES = GEMM_LANES,
  PANEL = 2 * LANES,
  ROWS = GEMM_BLOCK_ROWS,
  GROUP = 5,  // of rows that have a place
  GROUPS = 3,
  SLOT = 16,  // terms during which a line of each is fetched
  DEPTH = GEMM_BLOCK_DEPTH,
  CHUNK = 4,           // blocks of rows that are copied at once, to rows …
  WIDTH = 64,          // … so far apart where they lie by terms
  APART = DEPTH + 16,  // and so far where they lie by rows
  PANELS = 1 << 15,    // elements of copied panels
  FAR_RIGHT = 256,     // elements between a right side's rows, from which on panels are copied
  FAR_ROWS = 1 << 15,  // elements of a left side, of which rows are fetched ahead
  FAR_LEFT = 512,      // between a left side's terms
};

static const int64_t colliding = 1024;  // elements between rows of which a cache has as many as it has ways

typedef struct block {
  const float *rows, *columns;
  const float *ahead;   // of the left side, SLOT * LANES elements of each of some rows, which are fetched meanwhile, …
  int64_t ahead_apart;  // … and what their rows are apart
  int64_t lhs_row, lhs_depth, rhs_leading, depth;
  float *sums;
  int64_t leading;
  bool adds;
  __mmask16 low, high;  // which columns of the panel there are
} block;

// `count` rows and a panel, which is `vectors` wide; these and `fetches` are constants of each caller. Rows have three
// places, from which all of them are a few rows away, so that all distances stay in registers. Only what is stored is
// masked: a masked load takes a turn from the multiplications.
AVX512 INLINE void multiply_count(int count, int vectors, bool fetches, const block *all) {
  const block b = *all;
  __m512 low[ROWS], high[ROWS];
#pragma GCC unroll 13
  for (int r = 0; r < count; r++) low[r] = high[r] = _mm512_setzero_ps();
  const float *columns = b.columns,
              *rows[GROUPS] = {b.rows, b.rows + GROUP * b.lhs_row, b.rows + 2 * GROUP * b.lhs_row};
  const float *fetched = b.ahead;
  for (int64_t k = 0, next = 0; k < b.depth;) {
    next = fetches ? int64_min(k + SLOT, b.depth) : b.depth;
    for (; k < next; k++) {
      if (fetches) {
        _mm_prefetch((const char *)fetched, _MM_HINT_T1);
        fetched += LANES;
      }
      const __m512 columns_low = _mm512_loadu_ps(columns);
      const __m512 columns_high = vectors > 1 ? _mm512_loadu_ps(columns + LANES) : columns_low;
#pragma GCC unroll 13
      for (int r = 0; r < count; r++) {
        const __m512 x = _mm512_set1_ps(rows[r / GROUP][r % GROUP * b.lhs_row]);
        low[r] = _mm512_fmadd_ps(x, columns_low, low[r]);
        if (vectors > 1) high[r] = _mm512_fmadd_ps(x, columns_high, high[r]);
      }
      columns += b.rhs_leading;
      for (int n = 0; n < GROUPS && n * GROUP < count; n++) rows[n] += b.lhs_depth;
    }
    if (fetches) fetched += b.ahead_apart - SLOT * LANES;
  }
  if (b.adds) {
#pragma GCC unroll 13
    for (int r = 0; r < count; r++) {
      const float *to = b.sums + r * b.leading;
      low[r] = _mm512_add_ps(_mm512_maskz_loadu_ps(b.low, to), low[r]);
      if (vectors > 1) high[r] = _mm512_add_ps(_mm512_maskz_loadu_ps(b.high, to + LANES), high[r]);
    }
  }
#pragma GCC unroll 13
  for (int r = 0; r < count; r++) {
    float *to = b.sums + r * b.leading;
    _mm512_mask_storeu_ps(to, b.low, low[r]);
    if (vectors > 1) _mm512_mask_storeu_ps(to + LANES, b.high, high[r]);
  }
}

typedef void (*multiply_fn)(const block *b);

#define MULTIPLY(count)                                                                            \
  AVX512 static void multiply_half_##count(const block *b) { multiply_count(count, 1, false, b); } \
  AVX512 static void multiply_full_##count(const block *b) { multiply_count(count, 2, false, b); }
GEMM_EACH_BLOCK(MULTIPLY)
#define BOTH(count) [count] = {multiply_half_##count, multiply_full_##count},
static const multiply_fn multiply[ROWS + 1][2] = {GEMM_EACH_BLOCK(BOTH)};

// Where many rows are multiplied, nearly all blocks are of so many.
AVX512 static void multiply_ahead_12(const block *b) { multiply_count(ROWS - 1, 2, true, b); }
AVX512 static void multiply_ahead_13(const block *b) { multiply_count(ROWS, 2, true, b); }

// Sixteen terms of at most sixteen columns whose terms are neighbours.
AVX512 static void turn_square(const float *from, int64_t leading, int64_t columns, int64_t terms, float *to) {
  __m512 x[LANES];
  const __mmask16 mask = gemm_lanes_first(terms);
#pragma GCC unroll 16
  for (int c = 0; c < LANES; c++)
    x[c] = c < columns ? _mm512_maskz_loadu_ps(mask, from + c * leading) : _mm512_setzero_ps();
  gemm_lanes_turn(x);
#pragma GCC unroll 16
  for (int k = 0; k < LANES; k++)
    if (k < terms) _mm512_store_ps(to + k * PANEL, x[k]);
}

// The panels of a group of columns, of b->depth terms: copied, or as they lie.
typedef struct panels {
  const float *first;
  int64_t apart, leading;
  const float *last;    // of which columns are missing, [terms][PANEL]; null if none are
  int64_t ahead_apart;  // between the left side's rows
} panels;

// Columns that are not there are zeros.
AVX512 static void copy_panel(const float *from, int64_t leading, int64_t columns, int64_t depth, float *to) {
  const __mmask16 low = gemm_lanes_first(columns), high = gemm_lanes_first(columns - LANES);
  for (int64_t k = 0; k < depth; k++, from += leading, to += PANEL) {
    _mm512_store_ps(to, _mm512_maskz_loadu_ps(low, from));
    _mm512_store_ps(to + LANES, _mm512_maskz_loadu_ps(high, from + LANES));
  }
}

AVX512 static void turn_panel(const float *from, int64_t leading, int64_t columns, int64_t depth, float *to) {
  for (int64_t k = 0; k < depth; k += LANES)
    for (int64_t c = 0; c < columns; c += LANES)
      turn_square(from + c * leading + k, leading, columns - c, depth - k, to + k * PANEL + c);
}

// `from` is the first term of the first column.
AVX512 static panels panels_of(const gemm_matrix *rhs, const float *from, int64_t columns, int64_t depth, bool copies,
                               float *room) {
  const int64_t whole = columns / PANEL * PANEL, leading = rhs->leading;
  panels p = {copies ? room : from, copies ? depth * PANEL : PANEL, copies ? PANEL : leading, NULL, 0};
  for (int64_t c = 0; c < columns && copies; c += PANEL)
    if (rhs->is_transposed)
      turn_panel(from + c * leading, leading, int64_min(PANEL, columns - c), depth, room + c * depth);
    else copy_panel(from + c, leading, int64_min(PANEL, columns - c), depth, room + c * depth);
  if (!copies && (columns - whole) % LANES != 0) {
    copy_panel(from + whole, leading, columns - whole, depth, room);
    p.last = room;
  }
  return p;
}

// A block of rows by all panels. With each of them as many elements of rows further on are fetched as there are lines.
AVX512 static void multiply_rows(int64_t count, int64_t columns, const panels *p, const float *ahead, block *b) {
  float *sums = b->sums;
  for (int64_t c = 0; c < columns; c += PANEL) {
    const bool is_last = p->last && columns - c < PANEL;
    const bool fetches = ahead && count >= ROWS - 1 && columns - c > LANES && c / PANEL * SLOT * LANES < b->depth;
    b->columns = is_last ? p->last : p->first + c / PANEL * p->apart;
    b->rhs_leading = is_last ? PANEL : p->leading;
    b->low = gemm_lanes_first(columns - c);
    b->high = gemm_lanes_first(columns - c - LANES);
    b->sums = sums + c;
    if (!fetches) {
      multiply[count][columns - c > LANES](b);
      continue;
    }
    b->ahead = ahead + c / PANEL * SLOT * LANES;
    b->ahead_apart = p->ahead_apart;
    (count == ROWS ? multiply_ahead_13 : multiply_ahead_12)(b);
  }
}

// The left side of a block of terms.
typedef struct left {
  int64_t rows;
  const float *first, *next;  // where the first row begins, and where in the next block of terms; null behind the last
  int64_t lhs_row, lhs_depth;
  bool is_transposed;
  bool is_fetched;  // rows are fetched ahead: they lie in no cache near by, and their elements are neighbours
} left;

// Where a row begins; those behind the last one are the next block's. Null if nothing is to be fetched there.
static const float *row_ahead(const left *l, int64_t row) {
  if (!l->is_fetched) return NULL;
  if (row < l->rows) return l->first + row * l->lhs_row;
  return l->next && row < 2 * l->rows ? l->next + (row - l->rows) * l->lhs_row : NULL;
}

// Rows `first` to `end`, of `depth` terms, as terms by rows or rows by terms, whichever they are.
AVX512 static void copy_rows(const left *l, int64_t depth, int64_t first, int64_t end, float *to) {
  const int64_t rows = end - first, lines = l->is_transposed ? depth : rows, elements = l->is_transposed ? rows : depth;
  const int64_t leading = l->is_transposed ? l->lhs_depth : l->lhs_row, apart = l->is_transposed ? WIDTH : APART;
  const float *from = l->first + first * l->lhs_row;
  for (int64_t k = 0; k < lines; k++)
    for (int64_t n = 0; n < elements; n += LANES)
      _mm512_store_ps(to + k * apart + n,
                      _mm512_maskz_loadu_ps(gemm_lanes_first(elements - n), from + k * leading + n));
}

// All rows by the panels of a group of columns.
AVX512 static void multiply_group(const left *l, int64_t columns, const panels *p, block *b) {
  _Alignas(64) float room[DEPTH * WIDTH];
  const int64_t blocks = int64_ceil_div(l->rows, ROWS);
  const bool is_far = l->is_transposed ? l->lhs_depth >= FAR_LEFT : l->lhs_row % colliding == 0;
  const bool copies = is_far && columns > PANEL;
  float *sums = b->sums;
  b->lhs_row = !copies ? l->lhs_row : l->is_transposed ? 1 : APART;
  b->lhs_depth = !copies ? l->lhs_depth : l->is_transposed ? WIDTH : 1;
  for (int64_t n = 0, first = 0, end = 0, chunk = 0; n < blocks; n++, first = end) {
    end = l->rows * (n + 1) / blocks;
    if (copies && n % CHUNK == 0) {
      chunk = first;
      copy_rows(l, b->depth, first, l->rows * int64_min(blocks, n + CHUNK) / blocks, room);
    }
    b->rows = copies ? room + (first - chunk) * b->lhs_row : l->first + first * b->lhs_row;
    b->sums = sums + first * b->leading;
    multiply_rows(end - first, columns, p, row_ahead(l, copies ? first + CHUNK * ROWS : end), b);
  }
}

// Terms `first` to `first` + b->depth.
AVX512 static void multiply_terms(const int64_t size[static 3], const left *l, const gemm_matrix *rhs,
                                  const gemm_sums *sums, int64_t first, block *b) {
  _Alignas(64) float room[PANELS];
  const bool copies = rhs->is_transposed || (rhs->leading >= FAR_RIGHT && size[0] > 2 * ROWS);
  const int64_t across = rhs->is_transposed ? rhs->leading : 1, along = rhs->is_transposed ? 1 : rhs->leading;
  const int64_t group = copies ? PANELS / (int64_ceil_div(b->depth, LANES) * LANES * PANEL) * PANEL : size[1];
  for (int64_t c = 0; c < size[1]; c += group) {
    const int64_t columns = int64_min(group, size[1] - c);
    panels p = panels_of(rhs, (const float *)rhs->data + first * along + c * across, columns, b->depth, copies, room);
    p.ahead_apart = l->lhs_row;
    b->sums = (float *)sums->data + c;
    multiply_group(l, columns, &p, b);
  }
}

AVX512 void gemm_near_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                              const gemm_sums *sums) {
  block b = {.leading = sums->leading, .adds = sums->adds};
  left l = {.rows = size[0],
            .next = lhs->data,
            .lhs_row = lhs->is_transposed ? 1 : lhs->leading,
            .lhs_depth = lhs->is_transposed ? lhs->leading : 1,
            .is_transposed = lhs->is_transposed,
            .is_fetched = !lhs->is_transposed && size[0] * size[2] >= FAR_ROWS};
  for (int64_t first = 0; first < size[2]; first += b.depth) {
    b.depth = gemm_lanes_depth(size[2] - first);
    l.first = l.next;
    l.next = first + b.depth < size[2] ? l.first + b.depth * l.lhs_depth : NULL;
    multiply_terms(size, &l, rhs, sums, first, &b);
    b.adds = true;
  }
  _mm256_zeroupper();  // which a compiler that saves bytes leaves out, and without which what follows is slow
}

// Measured beside oneDNN and OpenBLAS on one thread: about as fast as the better one up to these, or faster.
enum {
  LEAST = 5,              // rows and columns
  MOST_SIDE = 1 << 18,    // elements of each side
  MOST_PRODUCT = 1 << 24  // multiplications
};

bool gemm_near_takes(const int64_t size[static 3]) {
  if (!cpu_level_has_avx512() || size[0] < LEAST || size[1] < LEAST) return false;
  if (size[0] > MOST_SIDE || size[1] > MOST_SIDE || size[2] > MOST_SIDE) return false;
  return size[0] * size[2] <= MOST_SIDE && size[1] * size[2] <= MOST_SIDE &&
         size[0] * size[1] * size[2] <= MOST_PRODUCT;
}
#else
bool gemm_near_takes(const int64_t size[static 3]) {
  (void)size;
  return false;
}

void gemm_near_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                       const gemm_sums *sums) {
  (void)size;
  (void)lhs;
  (void)rhs;
  (void)sums;
}
#endif
