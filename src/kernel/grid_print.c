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
  NUMBER(out, h, batches_in_rows);
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
  NUMBER(out, h, is_staged);
  NUMBER(out, h, threads);
  NUMBER(out, h, vector);
  NUMBER(out, h, trips);
  NUMBER(out, h, lanes);
  NUMBER(out, h, side);
  NUMBER(out, h, align);
  NUMBER(out, h, pad);
  NUMBER(out, h, spans);
  NUMBER(out, h, span);
  NUMBER(out, h, piece);
  text_putc(out, '\n');
}

static void print_reductions(text *out, const kernel_plan *k) {
  const hero_grid_reductions *h = &k->details.grid_reductions;
  for (int g = 0; g < h->group_count; g++) {
    const grid_group *group = &h->groups[g];
    text_printf(out, "    group %d of outputs", g);
    for (int o = 0; o < group->plan->output_count; o++) text_printf(out, " %d", group->outputs[o]);
    text_printf(out, ": %s", group->plan->reason);
    NUMBER(out, group, first_block);
    NUMBER(out, &group->plan->launch, blocks_x);
    text_putc(out, '\n');
    print_reduction(out, group->plan);
  }
}

static void print_range(text *out, const char *what, int number, const grid_range *r) {
  text_printf(out, "    %s %d over ", what, number);
  shape_print(out, r->space, !shape_layout_is_default(r->space));
  NUMBER(out, r, elements);
  NUMBER(out, r, unroll);
  NUMBER(out, r, first_block);
  NUMBER(out, r, blocks);
}

static void print_concatenate(text *out, const kernel_plan *k) {
  const hero_grid_concatenate *h = &k->details.grid_concatenate;
  for (int r = 0; r < h->range_count; r++) {
    print_range(out, "range", r, &h->ranges[r]);
    text_printf(out, " offset=%" PRId64 " dim=%d\n", h->offsets[r], h->dim);
  }
  for (int n = 0; n < k->output_count; n++) {
    if (!h->epilogue.maps[n]) continue;
    text_printf(out, "    output %d goes to ", n);
    indexing_map_print(out, h->epilogue.maps[n]);
    text_putc(out, '\n');
  }
}

static void print_update_slice(text *out, const kernel_plan *k) {
  const hero_grid_update_slice *h = &k->details.grid_update_slice;
  print_range(out, "window", 0, &h->window);
  text_putc(out, '\n');
  for (int n = 0; n < k->output_count; n++)
    text_printf(out, "    output %d is updated by " STR_FMT "\n", n, STR_ARG(h->slices[n]->name));
}

static void print_loops(text *out, const kernel_plan *k) {
  const hero_grid_loops *h = &k->details.grid_loops;
  for (int r = 0; r < h->range_count; r++) {
    print_range(out, "range", r, &h->ranges[r]);
    text_putc(out, '\n');
  }
  for (int n = 0; n < k->output_count; n++)
    text_printf(out, "    output %d is value %d of range %d\n", n, h->value_of[n], h->range_of[n]);
}

// The loop's launch says all.
static const print_fn print_details[HERO_COUNT] = {
    [HERO_CONCATENATE] = print_concatenate,   [HERO_LOOPS] = print_loops,     [HERO_REDUCTIONS] = print_reductions,
    [HERO_REDUCTION] = print_reduction,       [HERO_SCATTER] = print_scatter, [HERO_TRANSPOSE] = print_transpose,
    [HERO_UPDATE_SLICE] = print_update_slice,
};

void grid_print_details(text *out, const kernel_plan *k) {
  if (print_details[k->hero]) print_details[k->hero](out, k);
}
