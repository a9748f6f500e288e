// Banks hold one word of a few bytes each, in turn; a warp's accesses to different words of one bank follow each other.
//
// Into shared memory threads go along a tile's rows, out of it down its columns. Where rows are as long as all banks, a
// column lies in one bank: rows are padded by a word, then. Where a side is short, threads take several columns at
// once, and other paddings are better. So they are tried out: the first accesses of both loops are counted.
#include "kernel/grid_transpose_lines.h"

#include "base/int64.h"

enum { TRIED_WARPS = 2, MOST_WORDS = 32, WARP = 32 };

// Numbers in an element's way through shared memory, as emit/grid_transpose_maps.c has it in maps.
static int64_t element_in_shared(const hero_grid_transpose *h, bool is_in, int64_t number) {
  const int64_t width = (is_in ? h->tile_a : h->tile_b) * h->kept, rows = is_in ? h->tile_b : h->tile_a;
  const int64_t line_of_tile = number / width, within = number % width, column = within / h->kept;
  const int64_t batch = h->batches_in_rows ? line_of_tile % h->tile_batches : line_of_tile / rows;
  const int64_t row = h->batches_in_rows ? line_of_tile / h->tile_batches : line_of_tile % rows;
  const int64_t a = is_in ? column : row, b = is_in ? row : column, kept = within % h->kept;
  const int64_t line = (batch * h->tile_b + b) / h->rows_per_line;
  const int64_t in_line = b % h->rows_per_line * h->tile_a + a, length = h->rows_per_line * h->tile_a + h->pad;
  return (line * length + in_line) * h->kept + kept;
}

// How often the bank that is asked most is asked for different words.
static int64_t count_turns(const target_grid_sizes *sizes, int count, const int64_t *words) {
  int64_t most = 1, in_bank[MOST_WORDS][MOST_WORDS];
  int asked[MOST_WORDS] = {0};
  for (int w = 0; w < count; w++) {
    const int bank = (int)(words[w] % sizes->bank_count);
    int before = 0;
    while (before < asked[bank] && in_bank[bank][before] != words[w]) before++;
    if (before < asked[bank]) continue;
    in_bank[bank][asked[bank]++] = words[w];
    most = int64_max(most, asked[bank]);
  }
  return most;
}

// Threads go together as long as they ask for no more words than there are banks.
static int64_t cost_of_access(const target_grid_sizes *sizes, const hero_grid_transpose *h, int bytes, bool is_in,
                              int64_t first, int64_t lane) {
  const int words_each = bytes > sizes->bank_bytes ? bytes / sizes->bank_bytes : 1, together = WARP / words_each;
  const int64_t lanes = is_in ? h->lanes_in : h->lanes_out;
  int64_t words[MOST_WORDS], cost = 0;
  for (int t = 0; t < WARP; t += together) {
    int count = 0;
    for (int k = 0; k < together; k++) {
      const int64_t at = element_in_shared(h, is_in, (first + t + k) * lanes + lane) * bytes;
      for (int w = 0; w < words_each; w++) words[count++] = at / sizes->bank_bytes + w;
    }
    cost += count_turns(sizes, count, words);
  }
  return cost;
}

static int64_t cost(const target_grid_sizes *sizes, const hero_grid_transpose *h, int bytes) {
  int64_t sum = 0;
  for (int is_in = 0; is_in < 2; is_in++)
    for (int warp = 0; warp < TRIED_WARPS; warp++)
      for (int64_t lane = 0; lane < (is_in ? h->lanes_in : h->lanes_out); lane++)
        sum += cost_of_access(sizes, h, bytes, is_in, warp * WARP, lane);
  return sum;
}

// Turned rather than padded: rows that a thread reads together are a line or whole lines, and each line begins one bank
// further than the one before.
static void turn_lines(const target_grid_sizes *sizes, int bytes, hero_grid_transpose *h) {
  const int64_t row = h->tile_a * bytes, all_banks = (int64_t)sizes->bank_bytes * sizes->bank_count;
  h->rows_per_line = int64_min(int64_max(all_banks / row, 1), h->lanes_in);
  h->turn = int64_max(sizes->bank_bytes / (h->lanes_in * bytes), 1);
}

// Tries paddings that are multiples of `step` elements; returns what the best one costs.
static int64_t try_paddings(const target_grid_sizes *sizes, int bytes, int64_t step, hero_grid_transpose *h) {
  const int64_t all_banks = (int64_t)sizes->bank_bytes * sizes->bank_count;
  const int64_t ideal = TRIED_WARPS * (h->lanes_in + h->lanes_out) * int64_max(bytes / sizes->bank_bytes, 1);
  int64_t best = 0, least = INT64_MAX;
  for (h->pad = 0; h->pad * h->kept * bytes < all_banks && least > ideal; h->pad += step) {
    const int64_t found = cost(sizes, h, bytes);
    if (found < least) best = h->pad;
    least = int64_min(least, found);
  }
  h->pad = best;
  return least;
}

// Lines of whole words at first: accesses to them may be whole ones, too.
static void pad_lines(const target_grid_sizes *sizes, int bytes, hero_grid_transpose *h) {
  const int64_t all_banks = (int64_t)sizes->bank_bytes * sizes->bank_count, unit = h->kept * bytes;
  const int64_t row = h->tile_a * unit, step = int64_max(sizes->bank_bytes / unit, 1);
  if (row < all_banks && all_banks % row == 0 && h->tile_b % (all_banks / row) == 0) h->rows_per_line = all_banks / row;
  const int64_t least = try_paddings(sizes, bytes, step, h), best = h->pad;
  if (step > 1 && try_paddings(sizes, bytes, 1, h) >= least) h->pad = best;
}

void grid_transpose_lines_choose(const target_grid_sizes *sizes, int bytes, hero_grid_transpose *h) {
  h->rows_per_line = 1;
  h->pad = 0;
  h->turn = 0;
  if (h->is_packed) turn_lines(sizes, bytes, h);
  else pad_lines(sizes, bytes, h);
}
