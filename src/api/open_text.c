// The samples' texts are read side by side, number by number.
#include "api/open_text.h"

#include "prog/program_print.h"
#include "prog/program_sizes.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number at the start of `s`, taken from it. False for one that does not fit.
static bool take_number(str *s, int64_t *out) {
  *out = 0;
  bool fits = true;
  while (s->size && is_digit(s->data[0])) {
    fits = fits && !__builtin_mul_overflow(*out, 10, out) && !__builtin_add_overflow(*out, s->data[0] - '0', out);
    *s = (str){s->data + 1, s->size - 1};
  }
  return fits;
}

static void print_number(text *out, const compiled *code, const int64_t *values, bool is_part) {
  const int count = open_samples_count(&code->samples->stand_ins);
  bool is_same = true;
  for (int k = 1; k < count; k++) is_same &= values[k] == values[0];
  int64_t terms[PROGRAM_MOST_TERMS];
  if (is_same) {
    text_printf(out, "%lld", (long long)values[0]);
  } else if (is_part || !open_samples_terms(&code->samples->stand_ins, values, terms)) {
    text_putc(out, '?');
  } else {
    program_sizes_print(out, &code->program.sizes, terms);
  }
}

static heddle_status merge(text *out, const compiled *code, str *texts) {
  const int count = open_samples_count(&code->samples->stand_ins);
  char before = 0;
  while (texts[0].size) {
    const char c = texts[0].data[0];
    if (!is_digit(c)) {
      for (int k = 0; k < count; k++) {
        if (!texts[k].size || texts[k].data[0] != c)
          return status_error(HEDDLE_INTERNAL, "what is made for different sizes differs in more than numbers");
        texts[k] = (str){texts[k].data + 1, texts[k].size - 1};
      }
      text_putc(out, before = c);
      continue;
    }
    int64_t values[OPEN_SAMPLES_MOST] = {0};
    bool fits = true, is_part = before == '.' || before == '+';
    for (int k = 0; k < count; k++) {
      if (!texts[k].size || !is_digit(texts[k].data[0])) fits = false;
      else fits &= take_number(&texts[k], &values[k]);
    }
    if (!fits) return status_error(HEDDLE_INTERNAL, "what is made for different sizes differs in more than numbers");
    is_part = is_part || (texts[0].size && texts[0].data[0] == '.');
    print_number(out, code, values, is_part);
    before = '0';
  }
  return status_ok();
}

heddle_status open_text_print(arena *a, text *out, const compiled *code, open_text_fn print) {
  const int count = open_samples_count(&code->samples->stand_ins);
  str texts[OPEN_SAMPLES_MOST] = {0};
  for (int k = 0; k < count; k++) {
    text t = {0};
    heddle_status s = print(&t, &code->samples->made[k]);
    texts[k] = str_copy(a, text_view(&t));
    text_free(&t);
    TRY(s);
  }
  return merge(out, code, texts);
}

heddle_status open_text_program(text *out, const open_sample *sample) {
  program_print(out, &sample->program);
  return status_ok();
}

heddle_status open_text_lhlo(text *out, const open_sample *sample) { return lhlo_print(out, sample->plan); }

heddle_status open_text_plan(text *out, const open_sample *sample) {
  text_puts(out, sample->reasons);
  for (int i = 0; i < sample->plan->kernel_count; i++)
    kernel_plan_print(out, &sample->plan->target, sample->plan->kernels[i]);
  return status_ok();
}
