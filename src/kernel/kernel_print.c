// A kernel's plan as text, one fact a line: what it reads and writes, every number that its hero decided, the functions
// and bodies that the hero's emitter calls, and the launch.
#include "kernel/kernel.h"

#include <inttypes.h>

#include "kernel/grid_print.h"

// " name=value" of a field that is a number or a truth.
#define NUMBER(out, s, field) text_printf(out, " " #field "=%" PRId64, (int64_t)(s)->field)

// --- shared chunks

static void print_dims(text *out, const shape *s) {
  text_putc(out, '[');
  for (int d = 0; d < s->rank; d++) text_printf(out, "%s%" PRId64, d > 0 ? "," : "", s->dims[d]);
  text_putc(out, ']');
}

static void print_map(text *out, const char *what, const indexing_map *m) {
  if (!m) return;
  text_printf(out, "%s", what);
  indexing_map_print(out, m);
}

static void print_block(text *out, const char *what, int number, const kernel_block *b) {
  text_printf(out, "    %s %d over ", what, number);
  print_dims(out, b->space);
  NUMBER(out, b, split);
  NUMBER(out, b, rows);
  NUMBER(out, b, contiguous);
  NUMBER(out, b, rows_per_tile);
  NUMBER(out, b, chunk);
  NUMBER(out, b, first_tile);
  NUMBER(out, b, tiles);
}

static void print_epilogue_maps(text *out, const kernel_plan *k, const kernel_epilogue *e) {
  for (int n = 0; n < k->output_count; n++) {
    if (!e->maps[n]) continue;
    text_printf(out, "    output %d goes to ", n);
    print_map(out, "", e->maps[n]);
    text_putc(out, '\n');
  }
}

// --- heroes

static void print_loop(text *out, const kernel_plan *k) {
  const hero_loop *h = &k->details.loop;
  if (!h->is_blocked) return;
  print_block(out, "block", 0, &h->block);
  text_putc(out, '\n');
}

static void print_loops(text *out, const kernel_plan *k) {
  const hero_loops *h = &k->details.loops;
  for (int b = 0; b < h->block_count; b++) {
    print_block(out, "block", b, &h->blocks[b]);
    text_putc(out, '\n');
  }
  for (int n = 0; n < k->output_count; n++)
    text_printf(out, "    output %d is value %d of block %d\n", n, h->value_of[n], h->block_of[n]);
}

static void print_concatenate(text *out, const kernel_plan *k) {
  const hero_concatenate *h = &k->details.concatenate;
  if (h->by_row) text_puts(out, "    row by row\n");
  for (int b = 0; b < h->block_count; b++) {
    print_block(out, "block", b, &h->blocks[b]);
    text_printf(out, " offset=%" PRId64 " dim=%d\n", h->offsets[b], h->dim);
  }
  print_epilogue_maps(out, k, &h->epilogue);
}

static void print_transposed(text *out, const hero_transpose *h, int n) {
  text_printf(out, "    transpose " STR_FMT " of group %d", STR_ARG(h->heroes[n]->name), h->groups[n]);
  text_printf(out, " input=%d output=%d", h->direct_inputs[n], h->direct_outputs[n]);
  if (h->blocks) {
    NUMBER(out, &h->blocks[n], chunk);
    NUMBER(out, &h->blocks[n], lanes);
  }
  text_putc(out, '\n');
}

static void print_transpose(text *out, const kernel_plan *k) {
  const hero_transpose *h = &k->details.transpose;
  text_puts(out, "    tiles");
  NUMBER(out, h, batches);
  NUMBER(out, h, a);
  NUMBER(out, h, b);
  NUMBER(out, h, tile_a);
  NUMBER(out, h, tile_b);
  NUMBER(out, h, tiles_a);
  NUMBER(out, h, tiles_b);
  NUMBER(out, h, in_registers);
  NUMBER(out, h, streams);
  print_map(out, "\n    result at ", h->to_result);
  for (int g = 0; g < h->group_count; g++) {
    text_printf(out, "\n    group %d", g);
    print_map(out, " at ", h->to_operand[g]);
  }
  text_putc(out, '\n');
  for (int n = 0; n < h->hero_count; n++) print_transposed(out, h, n);
  print_epilogue_maps(out, k, &h->epilogue);
}

static void print_space(text *out, const reduction_space *s) {
  text_puts(out, "    space [");
  for (int g = 0; g < s->group_count; g++)
    text_printf(out, "%s%s %" PRId64, g > 0 ? ", " : "", s->is_reduced[g] ? "reduced" : "kept", s->sizes[g]);
  text_putc(out, ']');
  NUMBER(out, s, kept);
  NUMBER(out, s, reduced);
  text_putc(out, '\n');
}

static void print_carried(text *out, int number, const carried_value *g) {
  text_printf(out, "    value %d is ", number);
  shape_print(out, g->shape, false);
  text_printf(out, " " STR_FMT, STR_ARG(g->of->name));
  NUMBER(out, g, element);
  NUMBER(out, g, is_kept);
  NUMBER(out, g, output);
  NUMBER(out, g, buffer);
  text_putc(out, '\n');
}

static void print_combining(text *out, const row_reduction *r) {
  static const char *const forms[] = {"in order", "by", "picks", "in chunks", "in any order"};
  text_printf(out, "      reduces " STR_FMT " %s", STR_ARG(r->reduce->name), forms[r->how.form]);
  for (int v = 0; v < r->count; v++) {
    if (r->how.operations) text_printf(out, " %s", hlo_op_text(r->how.operations[v]));
    text_printf(out, " in %s", dtype_name(r->accumulators[v]));
  }
  NUMBER(out, &r->how, index_value);
  NUMBER(out, &r->how, in_chunks);
  NUMBER(out, r, count);
  NUMBER(out, r, first_result);
  NUMBER(out, r, first_init);
  NUMBER(out, r, first_carried);
  text_putc(out, '\n');
}

static void print_pass(text *out, const char *name, const row_pass *s) {
  text_printf(out, "    %s", name);
  NUMBER(out, s, body);
  NUMBER(out, s, elements_at_once);
  text_putc(out, '\n');
  for (int i = 0; i < s->reductions.size; i++) print_combining(out, &s->reductions.data[i]);
  for (int i = 0; i < s->stores.size; i++)
    text_printf(out, "      stores result %d in output %d\n", s->stores.data[i].result, s->stores.data[i].output);
  for (int i = 0; i < s->kept.size; i++)
    text_printf(out, "      keeps result %d as value %d\n", s->kept.data[i].result, s->kept.data[i].output);
}

void kernel_print_reduction(text *out, const hero_reduction *h) {
  print_space(out, &h->passes.space);
  text_puts(out, "    passes");
  NUMBER(out, h, is_column);
  NUMBER(out, h, tile);
  NUMBER(out, h, columns);
  NUMBER(out, h, column_blocks);
  NUMBER(out, &h->passes, inits);
  text_putc(out, '\n');
  for (int g = 0; g < h->passes.carried_values.size; g++) print_carried(out, g, &h->passes.carried_values.data[g]);
  for (int n = 0; n < h->passes.pass_count; n++) print_pass(out, "pass", &h->passes.passes[n]);
  print_pass(out, "row_results", &h->passes.row_results);
}

static void print_reduction(text *out, const kernel_plan *k) { kernel_print_reduction(out, &k->details.reduction); }

static void print_scatter(text *out, const kernel_plan *k) {
  static const char *const tilings[] = {"serial", "by update", "by column", "by owner"};
  const hero_scatter *h = &k->details.scatter;
  text_printf(out, "    scatters " STR_FMT " of updates ", STR_ARG(h->scatter->name));
  print_dims(out, h->updates);
  text_printf(out, " %s", tilings[h->tiling]);
  NUMBER(out, h, chunk);
  NUMBER(out, h, split);
  NUMBER(out, h, rows);
  NUMBER(out, h, contiguous);
  text_putc(out, '\n');
}

static void print_update_slice(text *out, const kernel_plan *k) {
  const hero_update_slice *h = &k->details.update_slice;
  print_block(out, "window", 0, &h->block);
  text_putc(out, '\n');
  for (int n = 0; n < k->output_count; n++)
    text_printf(out, "    output %d is updated by " STR_FMT "\n", n, STR_ARG(h->slices[n]->name));
}

static void print_while(text *out, const kernel_plan *k) {
  const hero_while *h = &k->details.turns;
  text_printf(out, "    runs " STR_FMT " over ", STR_ARG(h->loop->name));
  print_dims(out, h->space);
  NUMBER(out, h, turns);
  text_printf(out, " counter=%s", dtype_name(h->counter));
  NUMBER(out, h, start);
  NUMBER(out, h, step);
  NUMBER(out, h, carried_count);
  text_putc(out, '\n');
  for (int n = 0; n < k->output_count; n++) {
    const while_output *o = &h->outputs[n];
    text_printf(out, "    output %d is", n);
    NUMBER(out, o, is_stacked);
    NUMBER(out, o, value);
    NUMBER(out, o, first_row);
    NUMBER(out, o, by_row);
    text_putc(out, '\n');
  }
  for (int n = 0; n < h->array_count; n++) {
    text_printf(out, "    array %d is ", n);
    shape_print(out, h->arrays[n], false);
    text_putc(out, '\n');
  }
  for (int n = 0; n < h->step_count; n++) {
    const while_step *s = &h->steps[n];
    text_printf(out, "    step %d%s over ", n, n < h->before_count ? ", before the first turn," : "");
    print_dims(out, s->space);
    NUMBER(out, s, body);
    for (int r = 0; r < s->result_count; r++)
      text_printf(out, "%s %s %d", r > 0 ? "," : " stores", s->stores[r] < 0 ? "a row of output" : "array",
                  s->stores[r] < 0 ? -1 - s->stores[r] : s->stores[r]);
    text_putc(out, '\n');
  }
}

static void print_tiles(text *out, const kernel_plan *k) {
  const hero_tiles *h = &k->details.tiles;
  text_puts(out, "    tiles");
  NUMBER(out, h, operation_count);
  NUMBER(out, h, product_count);
  text_putc(out, '\n');
}

static void (*const print_details[HERO_COUNT])(text *out, const kernel_plan *k) = {
    [HERO_CONCATENATE] = print_concatenate,   [HERO_LOOP] = print_loop,       [HERO_LOOPS] = print_loops,
    [HERO_REDUCTION] = print_reduction,       [HERO_SCATTER] = print_scatter, [HERO_TRANSPOSE] = print_transpose,
    [HERO_UPDATE_SLICE] = print_update_slice, [HERO_WHILE] = print_while,     [HERO_TILES] = print_tiles,
};

// --- the kernel

static void print_buffers(text *out, const kernel_plan *k) {
  for (int i = 0; i < k->input_count; i++) {
    text_printf(out, "    reads parameter %d as " STR_FMT ", slice %d\n", k->slices[k->inputs[i].slice].number,
                STR_ARG(k->inputs[i].parameter->name), k->inputs[i].slice);
  }
  for (int i = 0; i < k->output_count; i++) {
    const kernel_output *o = &k->outputs[i];
    const kernel_buffer *b = &k->slices[o->slice];
    text_printf(out, "    writes %s %d = " STR_FMT, b->kind == KERNEL_PARAMETER ? "over parameter" : "result",
                b->number, STR_ARG(o->root->name));
    if (shape_is_tuple(o->root->shape)) text_printf(out, "#%d", o->element);
    text_printf(out, ", slice %d\n", o->slice);
  }
}

static void print_part(text *out, int number, const kernel_part *p) {
  text_printf(out, "    part %d over ", number);
  print_dims(out, p->index_space);
  text_puts(out, " gives");
  for (int r = 0; r < p->result_count; r++) {
    text_printf(out, "%s " STR_FMT, r > 0 ? "," : "", STR_ARG(p->results[r].root->name));
    if (shape_is_tuple(p->results[r].root->shape)) text_printf(out, "#%d", p->results[r].element);
    print_map(out, " at ", p->results[r].map);
  }
  for (int g = 0; g < p->given_count; g++)
    text_printf(out, "%s " STR_FMT, g > 0 ? "," : " from", STR_ARG(p->given[g]->name));
  text_putc(out, '\n');
}

static void print_body(text *out, int number, const kernel_body *b) {
  text_printf(out, "    body %d is " STR_FMT, number, STR_ARG(b->computation->name));
  for (int p = 0; b->arguments && p < b->computation->parameters.size; p++) {
    const int n = b->arguments[p];
    text_printf(out, "%s %s %d", p > 0 ? "," : " of", n < 0 ? "value" : "input", n < 0 ? -1 - n : n);
  }
  text_putc(out, '\n');
}

static void print_launch(text *out, const target_description *target, const launch_plan *l) {
  if (target->has_grid) {
    text_printf(out, "    launch elements=%" PRId64 " threads=%" PRId64 " blocks=%" PRId64 "x%" PRId64 " unroll=%d",
                l->elements, l->threads, l->blocks_x, l->blocks_y, l->unroll);
    if (l->shared_bytes > 0) text_printf(out, " shared=%" PRId64, l->shared_bytes);
    text_putc(out, '\n');
  } else if (l->pieces > 1) {
    text_printf(
        out, "    launch elements=%" PRId64 " tile=%" PRId64 " pieces=%" PRId64 " rest=%" PRId64 " bytes=%" PRId64 "\n",
        l->elements, l->tile, l->pieces, l->rest_limit, l->tile_bytes);
  } else {
    text_printf(out, "    launch elements=%" PRId64 " tile=%" PRId64 " tiles=%" PRId64 " bytes=%" PRId64 "\n",
                l->elements, l->tile, l->tiles, l->tile_bytes);
  }
}

void kernel_plan_print(text *out, const target_description *target, const kernel_plan *k) {
  text_printf(out, "  kernel @%s of " STR_FMT ", %s: %s\n", k->name, STR_ARG(k->computation->name),
              kernel_hero_name(k->hero), k->reason);
  if (k->lack) text_printf(out, "    %s\n", k->lack);
  if (k->untiled && target->codegen == CODEGEN_TILES)
    text_printf(out, "    no tiles: " STR_FMT " %s\n", STR_ARG(k->untiled_at->name), k->untiled);
  if (k->takes_sizes) text_puts(out, "    takes sizes when it runs\n");
  print_buffers(out, k);
  if (target->has_grid) grid_print_details(out, k);
  else print_details[k->hero](out, k);
  for (int p = 0; p < k->part_count; p++) print_part(out, p, &k->parts[p]);
  for (int b = 0; b < k->body_count; b++) print_body(out, b, &k->bodies[b]);
  print_launch(out, target, &k->launch);
}
