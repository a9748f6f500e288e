// The attributes num_carries and is_reverse are kept as text, since few operations have them; here they are read.
#include "hlo/scan_form.h"

static int number_of(const instruction *i, const char *name) {
  const str *raw = attributes_raw(i->attributes, name);
  int number = 0;
  if (!raw || str_is(*raw, "false")) return 0;
  if (str_is(*raw, "true")) return 1;
  for (size_t k = 0; k < raw->size && raw->data[k] >= '0' && raw->data[k] <= '9' && number < 1 << 20; k++)
    number = number * 10 + (raw->data[k] - '0');
  return number;
}

const shape *scan_form_result(const shape *results, int k) {
  return shape_is_tuple(results) ? results->elements[k] : results;
}

int scan_form_result_count(const shape *results) { return shape_is_tuple(results) ? results->tuple_size : 1; }

// Whether `s` is `whole` at one place along the dim: without it, or with size 1.
static bool is_step_of(const scan_form *f, const shape *s, const shape *whole) {
  if (!shape_is_array(s) || !shape_is_array(whole) || s->dtype != whole->dtype || f->dim >= whole->rank) return false;
  if (whole->dims[f->dim] != f->length || (s->rank != whole->rank && s->rank != whole->rank - 1)) return false;
  const int behind = whole->rank - s->rank;  // what dims behind `dim` are moved by
  for (int d = 0; d < whole->rank; d++) {
    if (d == f->dim && behind) continue;
    if (s->dims[d > f->dim ? d - behind : d] != (d == f->dim ? 1 : whole->dims[d])) return false;
  }
  return true;
}

static bool operand_fits(const instruction *i, const scan_form *f, int k) {
  const shape *wanted = i->called[0]->parameters.data[k]->shape, *given = i->operands[k]->shape;
  return k < f->inputs ? is_step_of(f, wanted, given) : shape_compatible(wanted, given);
}

static bool result_fits(const instruction *i, const scan_form *f, int k) {
  const shape *made = scan_form_result(i->called[0]->root->shape, k), *whole = scan_form_result(i->shape, k);
  if (k < f->outputs) return is_step_of(f, made, whole);
  return shape_compatible(made, whole) && shape_compatible(made, i->operands[f->inputs + k - f->outputs]->shape);
}

bool scan_form_of(const instruction *i, scan_form *f) {
  const int_list dims = i->attributes->dimensions;
  const int results = scan_form_result_count(i->shape);
  *f = (scan_form){.dim = dims.size == 1 ? (int)dims.data[0] : -1, .carries = number_of(i, "num_carries")};
  f->inputs = i->operand_count - f->carries;
  f->outputs = results - f->carries;
  f->is_reverse = number_of(i, "is_reverse") != 0;
  if (f->dim < 0 || f->inputs < 0 || f->outputs < 0 || f->inputs + f->outputs == 0) return false;
  const shape *whole = f->inputs ? i->operands[0]->shape : scan_form_result(i->shape, 0);
  if (!shape_is_array(whole) || f->dim >= whole->rank) return false;
  f->length = whole->dims[f->dim];
  if (i->called[0]->parameters.size != i->operand_count) return false;
  if (scan_form_result_count(i->called[0]->root->shape) != results) return false;
  for (int k = 0; k < i->operand_count; k++)
    if (!operand_fits(i, f, k)) return false;
  for (int k = 0; k < results; k++)
    if (!result_fits(i, f, k)) return false;
  return true;
}
