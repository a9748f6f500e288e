// The module generator's loop draws kinds of operations by weight; here is also the source of all its chances.
#include "tools/smith.h"

#include <stdlib.h>

#include "hlo/text.h"
#include "tools/smith_pool.h"
#include "tools/split_mix.h"

typedef struct smith_kind {
  const char *name;
  int weight;
  smith_fn make;
} smith_kind;

// Batch norms are rounded differently once they are expanded, so they are drawn only when asked for.
static const smith_kind kinds[] = {
    {"unary", 10, smith_unary},
    {"binary", 12, smith_binary},
    {"select", 4, smith_select},
    {"clamp", 2, smith_clamp},
    {"convert", 5, smith_convert},
    {"bitcast-convert", 2, smith_bitcast_convert},
    {"bitcast-given", 2, smith_bitcast_given},
    {"reduce-precision", 1, smith_reduce_precision},
    {"map", 3, smith_map},
    {"bitcast", 2, smith_bitcast},
    {"broadcast", 4, smith_broadcast},
    {"reshape", 4, smith_reshape},
    {"transpose", 4, smith_transpose},
    {"reverse", 2, smith_reverse},
    {"slice", 3, smith_slice},
    {"pad", 3, smith_pad},
    {"concatenate", 3, smith_concatenate},
    {"dynamic-slice", 2, smith_dynamic_slice},
    {"dynamic-update-slice", 2, smith_dynamic_update_slice},
    {"gather", 4, smith_gather},
    {"scatter", 4, smith_scatter},
    {"dynamic-size", 1, smith_dynamic_size},
    {"reduce", 4, smith_reduce},
    {"reduce-pair", 1, smith_reduce_pair},
    {"reduce-window", 2, smith_reduce_window},
    {"dot", 2, smith_dot},
    {"convolution", 1, smith_convolution},
    {"sort", 2, smith_sort},
    {"batch-norm", 0, smith_batch_norm},
    {"call", 3, smith_call},
    {"fusion", 3, smith_fusion},
    {"while", 2, smith_while},
    {"conditional", 2, smith_conditional},
    {"tuples", 3, smith_tuples},
    {"barrier", 1, smith_barrier},
    {"fft", 0, smith_fft},
    {"cholesky", 0, smith_cholesky},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds, SMITH_MAX_RESULTS = 12, LAYOUTS_PERCENT = 50 };

void smith_print_kinds(text *out) {
  for (int k = 0; k < KIND_COUNT; k++) text_printf(out, "  %-22s %d\n", kinds[k].name, kinds[k].weight);
}

// --- chance

int64_t smith_below(smith *s, int64_t n) { return n > 0 ? (int64_t)(split_mix_next(&s->state) % (uint64_t)n) : 0; }
int64_t smith_between(smith *s, int64_t low, int64_t high) { return low + smith_below(s, high - low + 1); }
bool smith_chance(smith *s, int percent) { return smith_below(s, 100) < percent; }

dtype smith_dtype(smith *s, int classes) {
  dtype found[DTYPE_COUNT];
  int count = 0;
  for (int t = 0; t < DTYPE_COUNT; t++)
    if (((s->options.dtypes >> t) & 1) && (dtypes[t].class & classes)) found[count++] = (dtype)t;
  return count ? found[smith_below(s, count)] : DTYPE_INVALID;
}

void smith_shuffle(smith *s, int count, int64_t *values) {
  for (int k = count - 1; k > 0; k--) {
    int64_t j = smith_below(s, k + 1), kept = values[k];
    values[k] = values[j];
    values[j] = kept;
  }
}

// --- options

smith_options smith_defaults(void) {
  smith_options o = {.seed = 1, .instructions = 30, .elements = 64, .rank = 4};
  heddle_status_free(smith_dtypes("all", &o.dtypes));
  return o;
}

heddle_status smith_dtypes(const char *names, uint64_t *out) {
  *out = 0;
  if (strcmp(names, "all") == 0) {
    for (int t = 0; t < DTYPE_COUNT; t++)
      if (dtype_is_array((dtype)t)) *out |= (uint64_t)1 << t;
    return status_ok();
  }
  for (const char *at = names; *at;) {
    size_t size = strcspn(at, ",");
    dtype t = dtype_from_name((str){at, size});
    if (t == DTYPE_INVALID || !dtype_is_array(t))
      return status_error(HEDDLE_INVALID, "found type %.*s, wanted an array's, like f32", (int)size, at);
    *out |= (uint64_t)1 << t;
    at += size + (at[size] == ',');
  }
  return status_ok();
}

static heddle_status set_weight(const char *entry, size_t size, int *weights) {
  const char *equals = memchr(entry, '=', size);
  size_t name = equals ? (size_t)(equals - entry) : 0;
  for (int k = 0; equals && k < KIND_COUNT; k++) {
    if (strlen(kinds[k].name) != name || strncmp(kinds[k].name, entry, name) != 0) continue;
    char *end;
    long weight = strtol(equals + 1, &end, 10);
    if (end != entry + size || weight < 0 || weight > 1000) break;
    weights[k] = (int)weight;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found '%.*s' in the mix, wanted KIND=WEIGHT with a weight up to 1000", (int)size,
                      entry);
}

static heddle_status read_mix(const char *mix, int *weights) {
  for (int k = 0; k < KIND_COUNT; k++) weights[k] = kinds[k].weight;
  for (const char *at = mix ? mix : ""; *at;) {
    size_t size = strcspn(at, ",");
    if (size == 4 && strncmp(at, "none", 4) == 0) memset(weights, 0, KIND_COUNT * sizeof *weights);
    else TRY(set_weight(at, size, weights));
    at += size + (at[size] == ',');
  }
  return status_ok();
}

heddle_status smith_check_mix(const char *mix) {
  int weights[KIND_COUNT];
  return read_mix(mix, weights);
}

// --- the module

static const smith_kind *draw(smith *s, const int *weights) {
  int64_t total = 0;
  for (int k = 0; k < KIND_COUNT; k++) total += weights[k];
  int64_t at = smith_below(s, total);
  for (int k = 0; k < KIND_COUNT; k++) {
    if (at < weights[k]) return &kinds[k];
    at -= weights[k];
  }
  return &kinds[0];
}

// The result: what nobody used, or one value alone.
static void choose_root(smith *s) {
  instruction *results[SMITH_MAX_RESULTS];
  int count = 0;
  for (int k = s->pool.size; k-- > 0 && count < SMITH_MAX_RESULTS;)
    if (s->pool.data[k]->users.size == 0) results[count++] = s->pool.data[k];
  if (count == 0) results[count++] = s->pool.data[s->pool.size - 1];
  instruction *root = count == 1 && smith_chance(s, 70) ? results[0] : builder_tuple(&s->b, count, results);
  computation_set_root(s->b.computation, root);
}

heddle_status smith_make(arena *a, const smith_options *options, module **out) {
  int weights[KIND_COUNT];
  TRY(read_mix(options->mix, weights));
  module *m = module_create(a, str_from(arena_printf(a, "smith_%llu", (unsigned long long)options->seed)));
  smith s = {.arena = a, .options = *options, .state = options->seed * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u};
  if (s.options.rank > SMITH_MAX_RANK) s.options.rank = SMITH_MAX_RANK;
  s.b = builder_in(module_add_computation(m, STR("main")));
  m->entry = s.b.computation;
  if (smith_dtype(&s, CLASS_ARRAY) == DTYPE_INVALID)
    return status_error(HEDDLE_INVALID, "found no element type to make values of");
  (void)smith_any(&s, CLASS_ARRAY);  // the pool's first value
  for (int k = 0; k < options->instructions; k++) {
    instruction *made = draw(&s, weights)->make(&s);
    if (made && ((options->dtypes >> made->shape->dtype) & 1)) vec_push(a, &s.pool, made);
    else if (made) computation_remove(s.b.computation, made);  // complex numbers of real ones, and the like
  }
  choose_root(&s);
  if (smith_chance(&s, LAYOUTS_PERCENT)) smith_layouts(&s, m);
  *out = m;
  arena *scratch = arena_create();
  computation **order;
  int count = 0;
  heddle_status status = module_call_order(scratch, m, &order, &count);
  if (status_is_ok(status)) memcpy(m->computations.data, order, (size_t)count * sizeof *order);
  arena_destroy(scratch);
  return status_is_ok(status) ? module_verify(m) : status;
}
