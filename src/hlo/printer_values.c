// Values of attributes as text, one function per kind of attributes.def: the mirror of parser_values.c.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/printer.h"

static void print_ints(text *out, const int_list *list) {
  text_putc(out, '{');
  for (int i = 0; i < list->size; i++) text_printf(out, i ? ",%" PRId64 : "%" PRId64, list->data[i]);
  text_putc(out, '}');
}

static void print_double(text *out, double value) {
  char digits[40];
  for (int precision = 6; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  text_puts(out, digits);
}

static void print_slice(text *out, const slice_config *s) {
  text_putc(out, '{');
  for (int i = 0; i < s->rank; i++) {
    const slice_dim *d = &s->dims[i];
    text_printf(out, "%s[%" PRId64 ":%" PRId64, i ? ", " : "", d->start, d->limit);
    if (d->stride != 1) text_printf(out, ":%" PRId64, d->stride);
    text_putc(out, ']');
  }
  text_putc(out, '}');
}

static void print_padding(text *out, const padding_config *p) {
  for (int i = 0; i < p->rank; i++) {
    const padding_dim *d = &p->dims[i];
    text_printf(out, "%s%" PRId64 "_%" PRId64, i ? "x" : "", d->low, d->high);
    if (d->interior) text_printf(out, "_%" PRId64, d->interior);
  }
}

typedef enum window_field { WINDOW_STRIDE, WINDOW_PAD, WINDOW_BASE, WINDOW_DILATION, WINDOW_REVERSAL } window_field;

static bool window_field_is_default(const window_dim *d, window_field field) {
  switch (field) {
    case WINDOW_STRIDE: return d->stride == 1;
    case WINDOW_PAD: return d->padding_low == 0 && d->padding_high == 0;
    case WINDOW_BASE: return d->base_dilation == 1;
    case WINDOW_DILATION: return d->window_dilation == 1;
    case WINDOW_REVERSAL: return !d->reversal;
  }
  return true;
}

static void print_window_field(text *out, const window *w, window_field field) {
  static const char *const names[] = {"stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  bool is_default = true;
  for (int i = 0; i < w->rank; i++) is_default &= window_field_is_default(&w->dims[i], field);
  if (is_default) return;
  text_printf(out, " %s=", names[field]);
  for (int i = 0; i < w->rank; i++) {
    const window_dim *d = &w->dims[i];
    if (i) text_putc(out, 'x');
    switch (field) {
      case WINDOW_STRIDE: text_printf(out, "%" PRId64, d->stride); break;
      case WINDOW_PAD: text_printf(out, "%" PRId64 "_%" PRId64, d->padding_low, d->padding_high); break;
      case WINDOW_BASE: text_printf(out, "%" PRId64, d->base_dilation); break;
      case WINDOW_DILATION: text_printf(out, "%" PRId64, d->window_dilation); break;
      case WINDOW_REVERSAL: text_putc(out, d->reversal ? '1' : '0'); break;
    }
  }
}

static void print_window(text *out, const window *w) {
  text_putc(out, '{');
  for (int i = 0; i < w->rank; i++) text_printf(out, "%s%" PRId64, i ? "x" : "size=", w->dims[i].size);
  for (int field = WINDOW_STRIDE; field <= WINDOW_REVERSAL; field++) print_window_field(out, w, (window_field)field);
  text_putc(out, '}');
}

// `rank` 0 in a structure made by hand means: no dimensions without a role.
static void print_labels(text *out, int rank, int64_t first, char first_label, int64_t second, char second_label,
                         const int64_t *spatial, int spatial_rank) {
  if (rank < spatial_rank + 2) rank = spatial_rank + 2;
  for (int i = 0; i < rank; i++) {
    char label = i == first ? first_label : i == second ? second_label : '?';
    for (int k = 0; k < spatial_rank; k++)
      if (spatial[k] == i) label = (char)('0' + k);
    text_putc(out, label);
  }
}

static void print_dim_labels(text *out, const convolution_dims *d) {
  print_labels(out, d->input_rank, d->input_batch, 'b', d->input_feature, 'f', d->input_spatial, d->spatial_rank);
  text_putc(out, '_');
  print_labels(out, d->kernel_rank, d->kernel_input_feature, 'i', d->kernel_output_feature, 'o', d->kernel_spatial,
               d->spatial_rank);
  text_puts(out, "->");
  print_labels(out, d->output_rank, d->output_batch, 'b', d->output_feature, 'f', d->output_spatial, d->spatial_rank);
}

static void print_precisions(text *out, const hlo_attributes *x) {
  static const char *const names[] = {"default", "high", "highest", "packed_nibble"};
  text_putc(out, '{');
  for (int i = 0; i < x->precision_count; i++) text_printf(out, "%s%s", i ? "," : "", names[x->operand_precision[i]]);
  text_putc(out, '}');
}

static void print_groups(text *out, const group_list *g) {
  if (g->text.size) {
    text_append(out, g->text);
    return;
  }
  text_putc(out, '{');
  for (int i = 0; i < g->size; i++) {
    if (i) text_putc(out, ',');
    print_ints(out, &g->groups[i]);
  }
  text_putc(out, '}');
}

static void print_shapes(text *out, const hlo_attributes *x) {
  text_putc(out, '{');
  for (int i = 0; i < x->operand_layout_count; i++) {
    if (i) text_puts(out, ", ");
    shape_print(out, x->operand_layouts[i], true);
  }
  text_putc(out, '}');
}

static void print_raw(text *out, const hlo_attributes *x, hlo_attribute_id id) {
  const str *raw = attributes_raw(x, hlo_attribute_infos[id].text);
  if (raw) text_append(out, *raw);
}

void printer_attribute_value(text *out, const hlo_attributes *x, hlo_attribute_id id) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  const void *field = (const char *)x + info->offset;
  switch (info->kind) {
    case ATTRIBUTE_INT: text_printf(out, "%" PRId64, *(const int64_t *)field); break;
    case ATTRIBUTE_BOOL: text_puts(out, *(const bool *)field ? "true" : "false"); break;
    case ATTRIBUTE_DOUBLE: print_double(out, *(const double *)field); break;
    case ATTRIBUTE_INTS: print_ints(out, field); break;
    case ATTRIBUTE_ENUM: text_puts(out, info->names[*(const int *)field]); break;
    case ATTRIBUTE_ALGORITHM:
      if (x->dot_algorithm.size) text_append(out, x->dot_algorithm);
      else text_puts(out, info->names[x->algorithm]);
      break;
    case ATTRIBUTE_STRING: text_quote(out, *(const str *)field); break;
    case ATTRIBUTE_SLICE: print_slice(out, field); break;
    case ATTRIBUTE_PADDING: print_padding(out, field); break;
    case ATTRIBUTE_WINDOW: print_window(out, field); break;
    case ATTRIBUTE_DIM_LABELS: print_dim_labels(out, field); break;
    case ATTRIBUTE_PRECISIONS: print_precisions(out, x); break;
    case ATTRIBUTE_GROUPS: print_groups(out, field); break;
    case ATTRIBUTE_SHAPES: print_shapes(out, x); break;
    case ATTRIBUTE_BACKEND_CONFIG:
      if (x->backend_config_is_json) text_append(out, x->backend_config);
      else text_quote(out, x->backend_config);
      break;
    case ATTRIBUTE_RAW:
    case ATTRIBUTE_LITERAL: print_raw(out, x, id); break;
    case ATTRIBUTE_COMPUTATION:
    case ATTRIBUTE_COMPUTATIONS:
    case ATTRIBUTE_CONTROL: break;  // printer.c: they belong to the instruction
  }
}
