// The table of what prints a hero's details where kernels run as a grid of threads.
#include "kernel/grid_print.h"

#include <inttypes.h>

// " name=value" of a field that is a number or a truth.
#define NUMBER(out, s, field) text_printf(out, " " #field "=%" PRId64, (int64_t)(s)->field)

static void print_dims(text *out, const shape *s) {
  text_putc(out, '[');
  for (int d = 0; d < s->rank; d++) text_printf(out, "%s%" PRId64, d > 0 ? "," : "", s->dims[d]);
  text_putc(out, ']');
}

static void print_scatter(text *out, const kernel_plan *k) {
  static const char *const forms[] = {"plainly", "atomically", "by runs", "in order"};
  const hero_grid_scatter *h = &k->details.grid_scatter;
  text_printf(out, "    scatters " STR_FMT " of updates ", STR_ARG(h->scatter->name));
  print_dims(out, h->updates);
  text_printf(out, " %s", forms[h->form]);
  NUMBER(out, h, by_instruction);
  NUMBER(out, h, vector);
  NUMBER(out, h, updates_per_thread);
  NUMBER(out, h, split);
  NUMBER(out, h, window_rows);
  NUMBER(out, h, columns);
  NUMBER(out, h, columns_per_thread);
  NUMBER(out, h, owners);
  NUMBER(out, h, rows_per_owner);
  text_putc(out, '\n');
}

typedef void (*print_fn)(text *out, const kernel_plan *k);

static void print_transpose(text *out, const kernel_plan *k) {
  const hero_grid_transpose *h = &k->details.grid_transpose;
  text_puts(out, "    tiles");
  NUMBER(out, h, batches);
  NUMBER(out, h, a);
  NUMBER(out, h, b);
  NUMBER(out, h, kept);
  NUMBER(out, h, tile_batches);
  NUMBER(out, h, tile_a);
  NUMBER(out, h, tile_b);
  NUMBER(out, h, tiles_batches);
  NUMBER(out, h, tiles_a);
  NUMBER(out, h, tiles_b);
  NUMBER(out, h, lanes_in);
  NUMBER(out, h, lanes_out);
  NUMBER(out, h, rows_per_line);
  NUMBER(out, h, pad);
  NUMBER(out, h, is_packed);
  NUMBER(out, h, turn);
  NUMBER(out, h, peels);
  text_puts(out, "\n    result at ");
  indexing_map_print(out, h->to_result);
  for (int g = 0; g < h->group_count; g++) {
    text_printf(out, "\n    group %d at ", g);
    indexing_map_print(out, h->to_operand[g]);
  }
  for (int n = 0; n < h->hero_count; n++) {
    text_printf(out, "\n    transpose " STR_FMT " through ", STR_ARG(h->heroes[n]->name));
    shape_print(out, h->in_shared[n].shape, false);
    NUMBER(out, &h->in_shared[n], group);
    NUMBER(out, &h->in_shared[n], batch_dim);
    NUMBER(out, &h->in_shared[n], row_dim);
  }
  for (int n = 0; n < k->output_count; n++) {
    const grid_transpose_side_output *side = &h->side_outputs[n];
    text_printf(out, "\n    output %d beside group %d", n, side->group);
    const indexing_map *map = side->group < 0 ? h->epilogue.maps[n] : side->map;
    if (map) text_puts(out, " goes to ");
    if (map) indexing_map_print(out, map);
  }
  text_putc(out, '\n');
}

static void print_reduction(text *out, const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  kernel_print_reduction(out, &h->on_tiles);
  text_puts(out, "    each result by");
  NUMBER(out, h, threads);
  NUMBER(out, h, vector);
  NUMBER(out, h, trips);
  NUMBER(out, h, align);
  NUMBER(out, h, pad);
  text_putc(out, '\n');
}

// The loop's launch says all.
static const print_fn print_details[HERO_COUNT] = {
    [HERO_REDUCTION] = print_reduction, [HERO_SCATTER] = print_scatter, [HERO_TRANSPOSE] = print_transpose};

void grid_print_details(text *out, const kernel_plan *k) {
  if (print_details[k->hero]) print_details[k->hero](out, k);
}
