// What a module says of its results' sizes, as numbers.
#include "lhlo/dynamic_results.h"

#include "opt/dynamic_padder.h"

typedef VEC(int) number_list;

str dynamic_results_text(const module *m) {
  for (int k = 0; k < m->attributes.size; k++)
    if (str_is(m->attributes.data[k].name, DYNAMIC_RESULTS)) return m->attributes.data[k].value;
  return (str){0};
}

static void add_numbers(arena *a, str value, number_list *out) {
  for (size_t k = 0; k < value.size; k++) {
    if (value.data[k] < '0' || value.data[k] > '9') continue;
    int number = 0;
    for (; k < value.size && value.data[k] >= '0' && value.data[k] <= '9'; k++)
      if (number < INT32_MAX / 10 - 1) number = number * 10 + (value.data[k] - '0');
    vec_push(a, out, number);
  }
}

static bool fits(const dynamic_size *x, const dynamic_results *all, int result_count, const shape *const *results) {
  return x->result < all->given_count && x->dimension < results[x->result]->rank && x->size < result_count &&
         shape_is_scalar(results[x->size]) && results[x->size]->dtype == DTYPE_S32;
}

heddle_status dynamic_results_find(arena *a, const module *m, int result_count, const shape *const *results,
                                   dynamic_results *out) {
  number_list numbers = {0};
  add_numbers(a, dynamic_results_text(m), &numbers);
  const int count = numbers.size / 3;
  *out = (dynamic_results){.given_count = result_count - count, .count = count};
  out->sizes = arena_array(a, dynamic_size, count);
  bool all_fit = numbers.size % 3 == 0 && count <= result_count;
  for (int k = 0; k < count && all_fit; k++) {
    const int *at = numbers.data + (ptrdiff_t)3 * k;
    out->sizes[k] = (dynamic_size){.result = at[0], .dimension = at[1], .size = at[2]};
    all_fit = fits(&out->sizes[k], out, result_count, results);
  }
  if (all_fit) return status_ok();
  return status_at(HEDDLE_INVALID, (source_location){.file = m->file, .line = 1, .column = 1},
                   "module attribute %s does not fit the results", DYNAMIC_RESULTS);
}
