// The samples' texts are read side by side, number by number.
#include "api/open_text.h"

#include <string.h>

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

// The digits at the start of all texts, taken from them; what they are if they are the same in all, else empty.
static str take_same_digits(int count, str *texts) {
  size_t size = 0;
  while (size < texts[0].size && is_digit(texts[0].data[size])) size++;
  const str digits = {texts[0].data, size};
  for (int k = 0; k < count; k++) {
    const bool is_longer = texts[k].size > size && is_digit(texts[k].data[size]);
    if (texts[k].size < size || is_longer || memcmp(texts[k].data, digits.data, size) != 0) return (str){0};
  }
  for (int k = 0; k < count; k++) texts[k] = (str){texts[k].data + size, texts[k].size - size};
  return digits;
}

typedef struct number_printer {
  text *out;
  const compiled *code;
} number_printer;

static bool print_number(void *context, const int64_t *values, bool is_part) {
  const number_printer *p = context;
  text *out = p->out;
  const compiled *code = p->code;
  int64_t terms[PROGRAM_MOST_TERMS];
  if (is_part || !open_samples_terms(&code->samples->stand_ins, values, terms)) {
    text_putc(out, '?');
  } else {
    program_sizes_print(out, &code->program.sizes, terms);
  }
  return true;
}

// What becomes of a number that the texts have at one place and that is not the same in all of them; `is_part`: of one
// with a fraction or an exponent.
typedef bool (*number_fn)(void *context, const int64_t *values, bool is_part);

// `out` (may be null) gets what is the same in all of them.
static heddle_status merge(int count, str *texts, text *out, number_fn fn, void *context) {
  char before = 0;
  while (texts[0].size) {
    const char c = texts[0].data[0];
    if (!is_digit(c)) {
      for (int k = 0; k < count; k++) {
        if (!texts[k].size || texts[k].data[0] != c)
          return status_error(HEDDLE_INTERNAL, "what is made for different sizes differs in more than numbers");
        texts[k] = (str){texts[k].data + 1, texts[k].size - 1};
      }
      before = c;
      if (out) text_putc(out, c);
      continue;
    }
    // Among them are numbers of any length.
    const str same = take_same_digits(count, texts);
    if (same.size) {
      if (out) text_append(out, same);
      before = '0';
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
    if (!fn(context, values, is_part))
      return status_error(HEDDLE_INTERNAL, "a number of what is made for different sizes is no polynomial of them");
    before = '0';
  }
  return status_ok();
}

// With the first sample's reasons in all of them, if they are shared.
static heddle_status print_samples(arena *a, text *out, const compiled *code, open_text_fn print, bool shares_reasons) {
  const int count = open_samples_count(&code->samples->stand_ins);
  str texts[OPEN_SAMPLES_MOST] = {0};
  for (int k = 0; k < count; k++) {
    text t = {0};
    open_sample sample = code->samples->made[k];
    if (shares_reasons) sample.reasons = code->samples->made[0].reasons;
    heddle_status s = print(&t, &sample);
    texts[k] = str_copy(a, text_view(&t));
    text_free(&t);
    TRY(s);
  }
  return merge(count, texts, out, print_number, &(number_printer){out, code});
}

// Amounts in reasons may have other units in other samples.
static heddle_status print_one(arena *a, text *out, const compiled *code, open_text_fn print) {
  const size_t start = out->size;
  heddle_status s = print_samples(a, out, code, print, false);
  if (status_is_ok(s)) return s;
  heddle_status_free(s);
  out->size = start;
  return print_samples(a, out, code, print, true);
}

heddle_status open_text_print(arena *a, text *out, const compiled *code, open_text_fn print) {
  if (code->samples) TRY(print_one(a, out, code, print));
  for (int k = 0; k < code->special_count; k++) {
    text_printf(out, "// where %s:\n", code->specials[k].sizes);
    TRY(print_one(a, out, &code->specials[k], print));
  }
  return status_ok();
}

static bool is_uniform(void *context, const int64_t *values, bool is_part) {
  const open_samples *s = context;
  int64_t terms[PROGRAM_MOST_TERMS];
  (void)is_part;
  return open_samples_odd_terms(s, values, terms);
}

bool open_text_is_uniform(const open_samples *s, str *texts) {
  open_samples copy = *s;
  heddle_status status = merge(open_samples_count(s), texts, NULL, is_uniform, &copy);
  const bool is = status_is_ok(status);
  heddle_status_free(status);
  return is;
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
