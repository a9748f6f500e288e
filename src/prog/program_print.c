// Facts are printed in the order of program.h; thunks are indented by how deep their sequences lie.
#include "prog/program_print.h"

#include <inttypes.h>

#include "prog/library_fields.h"
#include "prog/program_sizes.h"

enum { STEP = 2, SHOWN_BYTES = 16 };  // columns of an indentation; bytes of a constant

static void print_numbers(text *out, int count, const int64_t *numbers) {
  for (int k = 0; k < count; k++) text_printf(out, "%s%" PRId64, k ? "," : "", numbers[k]);
}

// --- signature

static void print_shape(text *out, const program_shape *s) {
  text_printf(out, "%s[", dtype_name(s->type));
  print_numbers(out, s->rank, s->dims);
  text_puts(out, "]{");
  print_numbers(out, s->rank, s->minor_to_major);
  text_puts(out, "}");
}

static void print_values(text *out, const char *what, int count, const program_value *values) {
  for (int k = 0; k < count; k++) {
    text_printf(out, "  %s %d%s%s: ", what, k, values[k].name[0] ? " = " : "", values[k].name);
    print_shape(out, &values[k].shape);
    text_printf(out, ", %" PRId64 " bytes\n", program_shape_packed_bytes(&values[k].shape));
    if (values[k].donated_parameter >= 0)
      text_printf(out, "  %s %d takes over parameter %d\n", what, k, values[k].donated_parameter);
  }
}

static void print_dynamic(text *out, const program *p) {
  for (int k = 0; k < p->dynamic_count; k++)
    text_printf(out, "  result %d dim %d has the size in result %d\n", p->dynamic[k].result, p->dynamic[k].dimension,
                p->dynamic[k].size);
}

typedef struct node_walk {
  const program *program;
  int node, result;
} node_walk;

// "(result 0, (result 1, token))"
static void print_node(text *out, node_walk *w) {
  if (w->node >= w->program->node_count) return;
  const program_node *n = &w->program->nodes[w->node++];
  if (dtype_is_array(n->type)) text_printf(out, "result %d", w->result++);
  else if (n->type != DTYPE_TUPLE) text_puts(out, dtype_name(n->type));
  if (n->type != DTYPE_TUPLE) return;
  text_putc(out, '(');
  for (int k = 0; k < n->count; k++) {
    if (k) text_puts(out, ", ");
    print_node(out, w);
  }
  text_putc(out, ')');
}

static void print_place(text *out, source_location where) {
  if (where.file) text_printf(out, " at %s:%d:%d", where.file, where.line, where.column);
}

static void print_signature(text *out, const program *p) {
  text_printf(out, "program %s for %s", p->name, target_kind_name(p->device));
  print_place(out, p->where);
  text_printf(out, "\n  devices %d\n  partitions %d\n", p->device_count, p->partition_count);
  print_values(out, "parameter", p->parameter_count, p->parameters);
  print_values(out, "result", p->result_count, p->results);
  text_printf(out, "  callers see %d results\n", p->given_result_count);
  print_dynamic(out, p);
  text_puts(out, "  returns ");
  print_node(out, &(node_walk){.program = p});
  text_putc(out, '\n');
}

// --- memory

static void print_constant(text *out, const program_allocation *a) {
  const unsigned char *bytes = a->data;
  text_puts(out, ": ");
  for (int64_t k = 0; k < a->bytes && k < SHOWN_BYTES; k++) text_printf(out, "%02x", bytes[k]);
  if (a->bytes > SHOWN_BYTES) text_puts(out, "...");
}

static void print_table(text *out, const program_allocation *a) {
  const char *data = a->data;
  text_putc(out, ':');
  for (int64_t k = 0, number; k < a->bytes / (int64_t)sizeof number; k++) {
    memcpy(&number, data + k * (int64_t)sizeof number, sizeof number);
    text_printf(out, " %" PRId64, number);
  }
}

static void print_memory(text *out, const program *p) {
  for (int k = 0; k < p->allocation_count; k++) {
    const program_allocation *a = &p->allocations[k];
    text_printf(out, "  allocation %d: %s %d, %" PRId64 " bytes", k, program_allocation_kind_name(a->kind), a->number,
                a->bytes);
    if (a->kind == PROGRAM_CONSTANT && a->data) print_constant(out, a);
    if (a->kind == PROGRAM_NUMBERS && a->data) print_table(out, a);
    text_putc(out, '\n');
  }
  text_printf(out, "  temporary bytes %" PRId64 "\n", p->temporary_bytes);
  if (p->streams > 0) text_printf(out, "  streams %d\n", p->streams);
  if (p->memory_limit > 0) text_printf(out, "  memory limit %" PRId64 " bytes\n", p->memory_limit);
  for (int k = 0; k < p->slice_count; k++)
    text_printf(out, "  slice %d: allocation %d from %" PRId64 ", %" PRId64 " bytes%s\n", k, p->slices[k].allocation,
                p->slices[k].offset, p->slices[k].bytes, p->slices[k].is_temporary ? ", temporary" : "");
}

// --- code

static void print_kernel(text *out, const program *p, int number) {
  const program_kernel *k = &p->kernels[number];
  text_printf(out, "  kernel %d: %s in image %d", number, k->entry, k->image);
  if (k->forms > 0) text_printf(out, " to %d", k->image + k->forms);
  text_printf(out, "\n    buffers %d\n", k->buffer_count);
  if (p->device == TARGET_NVPTX || p->device == TARGET_VULKAN) {
    text_puts(out, "    grid ");
    print_numbers(out, 3, k->grid);
    text_puts(out, "\n    block ");
    print_numbers(out, 3, k->block);
    text_printf(out, "\n    shared bytes %" PRId64 "\n", k->shared_bytes);
    return;
  }
  text_printf(out, "    tiles %" PRId64 "\n    tile bytes %" PRId64 "\n    tile operations %" PRId64 "\n", k->tiles,
              k->tile_bytes, k->tile_operations);
  if (k->rest > 0) text_printf(out, "    %" PRId64 " pieces a tile, rest by kernel %d\n", k->pieces, k->rest);
  if (k->first_tile > 0) text_printf(out, "    from tile %" PRId64 "\n", k->first_tile);
}

static void print_code(text *out, const program *p) {
  for (int k = 0; k < p->image_count; k++)
    text_printf(out, "  image %d: %s\n", k, program_image_format_name(p->images[k].format));
  for (int k = 0; k < p->kernel_count; k++) print_kernel(out, p, k);
}

// --- thunks

typedef struct printer {
  text *out;
  const program *program;
  int indent;
} printer;

static void print_sequence(printer *p, const program_sequence *s);

static void start_line(printer *p) { text_indent(p->out, p->indent); }

static void print_slices(printer *p, const char *what, int count, const int *slices) {
  start_line(p);
  text_puts(p->out, what);
  for (int k = 0; k < count; k++) text_printf(p->out, " %d", slices[k]);
  text_putc(p->out, '\n');
}

static void print_arrays(printer *p, const char *what, int count, const program_array *arrays) {
  for (int k = 0; k < count; k++) {
    start_line(p);
    text_printf(p->out, "%s %d: %s[", what, k, dtype_name(arrays[k].type));
    print_numbers(p->out, arrays[k].rank, arrays[k].dims);
    text_printf(p->out, "] in slice %d\n", arrays[k].slice);
  }
}

static void print_attribute(printer *p, const named_attribute *a) {
  start_line(p);
  text_printf(p->out, "attribute %s = ", a->name);
  if (a->kind == NAMED_INTS) print_numbers(p->out, a->count, a->ints);
  if (a->kind == NAMED_DOUBLE) text_printf(p->out, "%.17g", a->number);
  if (a->kind == NAMED_TEXT) text_quote(p->out, str_from(a->text));
  text_putc(p->out, '\n');
}

static void print_custom_call(printer *p, const program_custom_call *c) {
  start_line(p);
  text_puts(p->out, "target = ");
  text_quote(p->out, str_from(c->target ? c->target : ""));
  text_putc(p->out, '\n');
  if (c->has_side_effect) {
    start_line(p);
    text_puts(p->out, "has_side_effect = true\n");
  }
  for (int k = 0; k < c->attribute_count; k++) print_attribute(p, &c->attributes[k]);
}

static void print_fields(printer *p, const program_thunk *t) {
  int count;
  const program_field *fields = program_fields(t->kind, &count);
  for (int k = 0; k < count; k++) {
    const program_field *f = &fields[k];
    if (!program_field_is_set(t, f)) continue;
    start_line(p);
    text_printf(p->out, "%s = ", f->name);
    const program_ints *list = program_field_list(t, f);
    if (list) print_numbers(p->out, list->count, list->data);
    else if (f->name_count) text_puts(p->out, program_field_name(t, f));
    else if (f->kind == PROGRAM_FIELD_BOOL) text_puts(p->out, program_field_number(t, f) ? "true" : "false");
    else
      text_printf(p->out, "%s%" PRId64, f->kind == PROGRAM_FIELD_KERNEL ? "kernel " : "", program_field_number(t, f));
    text_putc(p->out, '\n');
  }
}

static void print_launch(printer *p, const program_launch *l) {
  start_line(p);
  text_printf(p->out, "runs kernel %d\n", l->kernel);
  print_slices(p, "on slices", l->buffer_count, l->buffers);
}

static void print_kind(printer *p, const program_thunk *t) {
  switch (t->kind) {
    case THUNK_KERNEL: print_launch(p, &t->launch); return;
    case THUNK_CONDITIONAL:
    case THUNK_WHILE:
      start_line(p);
      text_printf(p->out, "by slice %d, %s\n", t->control.slice, t->control.is_pred ? "a pred" : "a number");
      return;
    case THUNK_FOR:
      start_line(p);
      text_printf(p->out, "trips %" PRId64 "\n", t->trip_count);
      return;
    case THUNK_MEMSET:
      start_line(p);
      text_printf(p->out, "pattern 0x%08" PRIx32 "\n", t->pattern);
      return;
    case THUNK_CUSTOM_CALL: print_custom_call(p, &t->custom_call); return;
    default: print_fields(p, t);
  }
}

static void print_thunk(printer *p, const program_thunk *t) {
  start_line(p);
  text_printf(p->out, "%s %s", program_thunk_kind_name(t->kind), t->name ? t->name : "");
  print_place(p->out, t->where);
  if (t->origin && t->origin[0]) text_printf(p->out, " of %s", t->origin);
  text_putc(p->out, '\n');
  p->indent += STEP;
  if (t->is_hidden) {
    start_line(p);
    text_puts(p->out, "hidden from profiles\n");
  }
  print_slices(p, "reads", t->read_count, t->reads);
  print_slices(p, "writes", t->write_count, t->writes);
  if (p->program->memory_limit > 0) {
    start_line(p);
    text_printf(p->out, "touches %" PRId64 " bytes that are no temporaries\n", t->resident_bytes);
  }
  print_arrays(p, "operand", t->operand_count, t->operands);
  print_arrays(p, "result", t->result_count, t->results);
  print_kind(p, t);
  for (int k = 0; k < t->sequence_count; k++) {
    start_line(p);
    text_printf(p->out, "sequence %d\n", k);
    print_sequence(p, &t->sequences[k]);
  }
  p->indent -= STEP;
}

// Sequences nest as deep as the program's.
static void print_sequence(printer *p, const program_sequence *s) {
  p->indent += STEP;
  for (int k = 0; k < s->count; k++) print_thunk(p, s->thunks[k]);
  p->indent -= STEP;
}

// Of a program for open sizes: what the numbers above are at any of them.
static void print_sizes(text *out, const program_sizes *s) {
  if (s->symbol_count > 0) text_printf(out, "  degree %d\n", s->degree);
  for (int k = 0; k < program_sizes_given_count(s); k++)
    text_printf(out, "  size %s: %" PRId64 " to %" PRId64 "\n", s->symbols[k].name, s->symbols[k].least,
                s->symbols[k].most);
  for (int k = 0; k < s->derived_count; k++) {
    const program_derived_size *d = &s->derived[k];
    text_printf(out, "  size %s is the %s of ", s->symbols[program_sizes_given_count(s) + k].name,
                program_derived_kind_name(d->kind));
    program_sizes_print(out, s, d->left);
    text_puts(out, " and ");
    program_sizes_print(out, s, d->right);
    text_putc(out, '\n');
  }
  for (int k = 0; k < s->check_count; k++) {
    text_puts(out, "  wanted ");
    program_sizes_print(out, s, s->checks[k].terms);
    text_puts(out, " >= 0: ");
    text_quote(out, str_from(s->checks[k].message));
    text_putc(out, '\n');
  }
  if (s->is_for_given) text_puts(out, "  at sizes alone that others are made for\n");
  for (int k = 0; k < s->number_count; k++) {
    text_printf(out, "  number %d is ", s->numbers[k].number);
    program_sizes_print(out, s, s->numbers[k].terms);
    text_putc(out, '\n');
  }
}

void program_print(text *out, const program *p) {
  print_signature(out, p);
  print_memory(out, p);
  print_code(out, p);
  text_puts(out, "  entry\n");
  print_sequence(&(printer){.out = out, .program = p, .indent = STEP}, &p->entry);
  print_sizes(out, &p->sizes);
}
