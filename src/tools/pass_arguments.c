// XLA renamed passes when they moved out of the GPU's folder; ours keep the first names, a table has the others.
#include "tools/pass_arguments.h"

#include <stdio.h>
#include <stdlib.h>

#include "lower/passes.h"
#include "tile/passes.h"

static const struct {
  const char *name, *ours;  // null: there is none
} xla_names[] = {
    {"inline", "xla-inliner"},
    {"xla-cpu-add-loop-unroll-flags", NULL},
    {"xla-cpu-add-reduction-fast-math-flags", NULL},
    {"xla-cpu-expand-float-ops", "xla-expand-float-ops"},
    {"xla-cpu-lower-to-llvm", "xla-cpu-lower-entry"},
    {"xla-cpu-lower-xla-shared", NULL},
    {"xla-cpu-peel-workgroup-loop", NULL},
    {"xla-flatten-tensors", "xla-gpu-flatten-tensors"},
    {"xla-gpu-convert-float-amd", NULL},
    {"xla-gpu-convert-float-nvidia", NULL},
    {"xla-gpu-convert-index-type", NULL},
    {"xla-gpu-erase-dead-functions", "xla-erase-dead-functions"},
    {"xla-gpu-expand-float-ops", "xla-expand-float-ops"},
    {"xla-gpu-lower-to-llvm", "xla-lower-to-llvm"},
    {"xla-gpu-lower-to-llvm-gpu", "xla-lower-to-llvm"},
    {"xla-gpu-lower-xla-shared", "xla-gpu-lower-xla-gpu-to-scf"},
    {"xla-gpu-convert-pure-call-ops", "xla-convert-pure-call-ops"},
    {"xla-gpu-peel-loops", "xla-cpu-peel-loops"},
    {"xla-gpu-recover-exp2", NULL},
    {"xla-lower-tensors", "xla-gpu-lower-tensors"},
    {"xla-lower-xla-gpu-loops-to-scf", "xla-gpu-lower-xla-gpu-loops-to-scf"},
    {"xla-lower-xla-gpu-to-scf", "xla-gpu-lower-xla-gpu-to-scf"},
    {"xla-lower-xla-intrinsic-lib", NULL},
    {"xla-lower-xla-loops-to-scf", "xla-gpu-lower-xla-gpu-loops-to-scf"},
    {"xla-lower-xla-to-scf", "xla-gpu-lower-xla-gpu-to-scf"},
    {"xla-merge-pointers", "xla-gpu-merge-pointers-to-same-slice"},
    {"xla-propagate-slice-indices", "xla-gpu-propagate-slice-indices"},
    {"xla-simplify-affine", "xla-gpu-simplify-affine"},
    {"xla-simplify-arith", "xla-gpu-simplify-arith"},
    {"xla-test-optimize", "xla-gpu-test-optimize"},
    {"xla-test-transform-loops", "xla-gpu-test-transform-loops"},
    {"xla-test-to-llvm", "xla-gpu-test-to-llvm"},
    {"xla-unswitch-loops", "xla-gpu-unswitch-loops"},
    {"xla-vectorize-loads-stores", "xla-gpu-vectorize-loads-stores"},
};

enum { XLA_NAME_COUNT = sizeof xla_names / sizeof *xla_names };

static bool is_ours(str name) {
  return lower_pass_find(name) || tile_pass_find(name) || lower_group(&target_any_cpu, name);
}

bool pass_arguments_know(str name) {
  for (int i = 0; i < XLA_NAME_COUNT; i++)
    if (str_is(name, xla_names[i].name)) return true;
  return is_ours(name);
}

static heddle_status find_ours(str name, str *out) {
  *out = name;
  if (is_ours(name)) return status_ok();
  for (int i = 0; i < XLA_NAME_COUNT; i++) {
    if (!str_is(name, xla_names[i].name)) continue;
    if (!xla_names[i].ours)
      return status_error(HEDDLE_UNIMPLEMENTED, "pass " STR_FMT " of XLA has no counterpart here (--help lists passes)",
                          STR_ARG(name));
    *out = str_from(xla_names[i].ours);
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "unknown flag or pass " STR_FMT " (see --help)", STR_ARG(name));
}

// --- pipelines

// The size of what stands between braces that `text` begins with, braces included; 0 if they do not close.
static size_t braces_size(const char *text) {
  int depth = 0;
  for (size_t i = 0; text[i]; i++) {
    depth += (text[i] == '{') - (text[i] == '}');
    if (depth == 0) return i + 1;
  }
  return 0;
}

static heddle_status malformed(const char *pipeline, const char *at) {
  return status_error(HEDDLE_INVALID, "--pass-pipeline=%s: character %d: found %s", pipeline, (int)(at - pipeline) + 1,
                      *at ? at : "the end");
}

heddle_status pass_arguments_parse(arena *a, const char *pipeline, pass_requests *out) {
  int depth = 0;
  for (const char *at = pipeline; *at;) {
    const size_t size = strcspn(at, "(){}, ");
    const str name = {at, size};
    at += size;
    if (size && *at == '(') {
      depth++;
      at++;
      continue;
    }
    pass_request request = {.name = name};
    if (size && *at == '{') {
      const size_t braces = braces_size(at);
      if (!braces) return malformed(pipeline, at);
      request.options = (str){at + 1, braces - 2};
      at += braces;
    }
    if (size) vec_push(a, out, request);
    if (*at == ')' && depth-- == 0) return malformed(pipeline, at);
    if (*at && !strchr("), ", *at)) return malformed(pipeline, at);
    if (*at) at++;
  }
  return depth == 0 ? status_ok() : malformed(pipeline, pipeline + strlen(pipeline));
}

// --- options of passes

void pass_arguments_choose_target(lower_options *options, target_kind kind) {
  const target_description given = options->target;
  target_description *t = &options->target;
  *t = kind == TARGET_VULKAN ? *target_vulkan() : kind == TARGET_CPU ? target_cpu(1) : target_gpu();
  t->max_unroll = given.max_unroll;
  if (kind == TARGET_VULKAN) return;  // any device's: nothing of it can be chosen
  t->chip = given.chip;
  t->vector_bits = given.vector_bits;
  t->has_bf16 = given.has_bf16;
  t->has_f16 = given.has_f16;
  t->has_fma = given.has_fma;
  t->multiplies_bytes = given.multiplies_bytes;
  t->multiplies_bf16 = given.multiplies_bf16;
}

// Digits behind the first `what` in `text`; -1 if there are none.
static long number_behind(arena *a, str text, const char *what) {
  const char *found = strstr(str_copy(a, text).data, what);
  if (!found) return -1;
  found += strlen(what) + strspn(found + strlen(what), ": =");
  return *found >= '0' && *found <= '9' ? strtol(found, NULL, 10) : -1;
}

static bool set_capability(arena *a, lower_options *options, long major, long minor) {
  if (major < 0 || major > 99) return false;
  options->target.chip = arena_printf(a, "sm_%ld%ld", major, minor > 0 && minor < 10 ? minor : 0);
  return true;
}

// Whether the option means something here.
static bool apply(arena *a, lower_options *options, str key, str value) {
  if (str_is(key, "target_type")) {
    pass_arguments_choose_target(options, str_is(value, "cpu") ? TARGET_CPU : TARGET_NVPTX);
    return str_is(value, "cpu") || str_is(value, "gpu");
  }
  if (str_is(key, "gpu_device_info") && str_starts_with(value, "cuda_compute_capability"))
    return set_capability(a, options, number_behind(a, value, "major"), number_behind(a, value, "minor"));
  const long number = number_behind(a, value, "");
  if (str_is(key, "compute_capability_major")) return set_capability(a, options, number, 0);
  if (str_is(key, "prefer_vector_width") && (number == 128 || number == 256 || number == 512)) {
    options->target.vector_bits = (int)number;
    return true;
  }
  return str_is(key, "warp_size") && number == 32;
}

static str unquoted(str s) {
  const bool has_quotes = s.size >= 2 && (s.data[0] == '\'' || s.data[0] == '"') && s.data[s.size - 1] == s.data[0];
  return has_quotes ? (str){s.data + 1, s.size - 2} : s;
}

// The end of a value: the next blank outside of quotes and braces.
static size_t value_size(str text) {
  char quote = 0;
  int depth = 0;
  size_t i = 0;
  for (; i < text.size; i++) {
    const char c = text.data[i];
    if (quote) quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"') quote = c;
    else depth += (c == '{') - (c == '}');
    if (!quote && depth == 0 && c == ' ') break;
  }
  return i;
}

static void apply_all(arena *a, const pass_request *request, lower_options *options) {
  str rest = unquoted(request->options);
  while (rest.size) {
    const size_t size = value_size(rest);
    const str word = {rest.data, size};
    rest = (str){rest.data + size + (size < rest.size), rest.size - size - (size < rest.size)};
    if (!size) continue;
    const char *equals = memchr(word.data, '=', word.size);
    const size_t key = equals ? (size_t)(equals - word.data) : word.size;
    const str value = equals ? (str){equals + 1, word.size - key - 1} : (str){"", 0};
    if (!apply(a, options, (str){word.data, key}, unquoted(value)))
      fprintf(stderr, "warning: option " STR_FMT " of pass " STR_FMT " has no effect\n", STR_ARG(word),
              STR_ARG(request->name));
  }
}

heddle_status pass_arguments_resolve(arena *a, const pass_requests *requests, lower_options *options,
                                     lower_pass_list *out) {
  // Options first: what a group stands for depends on the target.
  for (int i = 0; i < requests->size; i++) apply_all(a, &requests->data[i], options);
  for (int i = 0; i < requests->size; i++) {
    str name;
    TRY(find_ours(requests->data[i].name, &name));
    const pass *p = lower_pass_find(name);
    if (!p) p = tile_pass_find(name);
    if (p) vec_push(a, out, p);
    const pass *const *group = p ? NULL : lower_group(&options->target, name);
    for (int k = 0; group && group[k]; k++) vec_push(a, out, group[k]);
  }
  vec_push(a, out, NULL);
  return status_ok();
}
