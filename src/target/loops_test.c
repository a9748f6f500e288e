// Random kernels through the loop passes and around them: both must compute the same, and what their maps say.
//
// A kernel copies elements from one array to another: thread d0 handles V neighbouring elements of the output in a
// loop, the last threads fewer where V does not divide the size; the input's element is chosen by a random index-moving
// map, and both arrays have random shapes and layouts. One build takes the loops as they are, the other hoists,
// unswitches, vectorizes and unrolls them.
#include "base/str.h"
#include "target/kernel_testing.h"

enum { KERNELS = 40, MAX_ELEMENTS = 4096 };

static const char *const plain_passes[] = {"xla-gpu-lower-xla-gpu-loops-to-scf",
                                           "xla-gpu-flatten-tensors",
                                           "xla-gpu-lower-tensors",
                                           "xla-gpu-simplify-affine",
                                           "lower-affine",
                                           0};
static const char *const all_passes[] = {"xla-gpu-lower-xla-gpu-loops-to-scf",
                                         "canonicalize",
                                         "xla-gpu-simplify-arith",
                                         "loop-invariant-code-motion",
                                         "xla-gpu-unswitch-loops",
                                         "xla-gpu-flatten-tensors",
                                         "canonicalize",
                                         "xla-gpu-vectorize-loads-stores",
                                         "xla-gpu-optimize-loops",
                                         "xla-gpu-lower-tensors",
                                         "canonicalize",
                                         "xla-gpu-simplify-affine",
                                         "lower-affine",
                                         0};

static uint64_t random_state = 5;

static int below(int limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)limit);
}

typedef struct array {
  int rank, sizes[3], minor_to_major[3];
} array;

static int elements(const array *x) {
  int count = 1;
  for (int i = 0; i < x->rank; i++) count *= x->sizes[i];
  return count;
}

// Position in memory of a multi-index.
static int position(const array *x, const int *index) {
  int at = 0, stride = 1;
  for (int i = 0; i < x->rank; i++) {
    at += index[x->minor_to_major[i]] * stride;
    stride *= x->sizes[x->minor_to_major[i]];
  }
  return at;
}

static void random_layout(array *x) {
  for (int i = 0; i < x->rank; i++) x->minor_to_major[i] = x->rank - 1 - i;
  for (int i = x->rank - 1; i > 0 && below(2); i--) {
    int other = below(i + 1), kept = x->minor_to_major[i];
    x->minor_to_major[i] = x->minor_to_major[other];
    x->minor_to_major[other] = kept;
  }
}

typedef struct kernel {
  array in, out;
  int permutation[3];  // input dimension i is indexed by output dimension permutation[i]
  bool reversed[3];    // … from its end
  int vector, threads;
} kernel;

static kernel random_kernel(void) {
  static const int vectors[] = {1, 2, 3, 4, 8}, sizes[] = {1, 3, 4, 5, 8, 12, 16};
  kernel k = {.vector = vectors[below(5)]};
  k.in.rank = k.out.rank = 1 + below(3);
  for (int i = 0; i < k.out.rank; i++) {
    k.out.sizes[i] = sizes[below(7)];
    k.permutation[i] = i;
  }
  if (k.out.rank > 1 && below(3) == 0) k.permutation[0] = 1, k.permutation[1] = 0;
  for (int i = 0; i < k.in.rank; i++) {
    k.in.sizes[i] = k.out.sizes[k.permutation[i]];
    k.reversed[i] = below(5) == 0;
  }
  random_layout(&k.in);
  random_layout(&k.out);
  k.threads = (elements(&k.out) + k.vector - 1) / k.vector;
  return k;
}

// --- as text

static void print_type(text *out, const array *x) {
  text_puts(out, "tensor<");
  for (int i = 0; i < x->rank; i++) text_printf(out, "%dx", x->sizes[i]);
  text_puts(out, "i32, dense<[");
  for (int i = 0; i < x->rank; i++) text_printf(out, "%s%d", i ? ", " : "", x->minor_to_major[i]);
  text_printf(out, "]> : tensor<%dxi64>>", x->rank);
}

// (thread)[v] -> the multi-index of output element thread * V + v, counted in memory order.
static void print_loop_map(text *out, const kernel *k) {
  text_puts(out, "#out = #xla_gpu.indexing_map<\"(d0)[s0] -> (");
  for (int i = 0; i < k->out.rank; i++) {
    int stride = 1;
    for (int j = 0; k->out.minor_to_major[j] != i; j++) stride *= k->out.sizes[k->out.minor_to_major[j]];
    text_printf(out, "%s((d0 * %d + s0) floordiv %d) mod %d", i ? ", " : "", k->vector, stride, k->out.sizes[i]);
  }
  text_printf(out, "), domain: d0 in [0, %d], s0 in [0, %d]", k->threads - 1, k->vector - 1);
  int count = elements(&k->out);
  if (count % k->vector != 0) text_printf(out, ", d0 * %d + s0 in [0, %d]", k->vector, count - 1);
  text_puts(out, "\">\n");
}

static void print_input_map(text *out, const kernel *k) {
  text_puts(out, "#in = #xla_gpu.indexing_map<\"(");
  for (int i = 0; i < k->out.rank; i++) text_printf(out, "%sd%d", i ? ", " : "", i);
  text_puts(out, ") -> (");
  for (int i = 0; i < k->in.rank; i++) {
    text_puts(out, i ? ", " : "");
    if (k->reversed[i]) text_printf(out, "d%d * -1 + %d", k->permutation[i], k->in.sizes[i] - 1);
    else text_printf(out, "d%d", k->permutation[i]);
  }
  text_puts(out, "), domain: ");
  for (int i = 0; i < k->out.rank; i++) text_printf(out, "%sd%d in [0, %d]", i ? ", " : "", i, k->out.sizes[i] - 1);
  text_puts(out, "\">\n");
}

static void print_list(text *out, const char *prefix, int count) {
  for (int i = 0; i < count; i++) text_printf(out, "%s%s%d", i ? ", " : "", prefix, i);
}

static text print_kernel(const kernel *k) {
  text out = {0}, in_type = {0}, out_type = {0};
  int rank = k->out.rank;
  print_type(&in_type, &k->in);
  print_type(&out_type, &k->out);
  print_loop_map(&out, k);
  print_input_map(&out, k);
  const char *t = text_cstr(&out_type), *s = text_cstr(&in_type);
  text_printf(&out,
              "func.func @copy(%%in: %s, %%out: %s, %%thread: index {xla.range = [0 : index, %d : index]}) -> %s {\n",
              s, t, k->threads - 1, t);
  text_puts(&out, "  %one = arith.constant 1 : i32\n  %r = xla_gpu.loop (%thread)[%v] -> (");
  print_list(&out, "%d", rank);
  text_printf(&out, ") in #out iter_args(%%iter = %%out) -> (%s) {\n    %%i:%d = xla_gpu.apply_indexing #in(", t, rank);
  print_list(&out, "%d", rank);
  text_puts(&out, ")\n    %x = tensor.extract %in[");
  print_list(&out, "%i#", rank);
  text_printf(&out, "] : %s\n    %%y = arith.addi %%x, %%one : i32\n    %%n = tensor.insert %%y into %%iter[", s);
  print_list(&out, "%d", rank);
  text_printf(&out, "] : %s\n    xla_gpu.yield %%n : %s\n  }\n  return %%r : %s\n}\n", t, t, t);
  text_free(&in_type), text_free(&out_type);
  return out;
}

// --- running

typedef void (*copy_function)(const int32_t *in, int32_t *out, int64_t thread);

static void run_kernel(const kernel *k, const char *source, const char *const *passes, const int32_t *in,
                       int32_t *out) {
  lower_options options = {.target = target_cpu(1)};
  options.target.max_unroll = 8;
  kernel_testing testing = kernel_testing_start(source, passes, &options);
  copy_function copy = (copy_function)kernel_testing_function(&testing, "copy");
  for (int i = 0; i < elements(&k->out) + 1; i++) out[i] = -1;
  for (int thread = 0; thread < k->threads; thread++) copy(in, out, thread);
  kernel_testing_end(&testing);
}

static void expected_output(const kernel *k, const int32_t *in, int32_t *out) {
  int count = elements(&k->out);
  for (int linear = 0; linear < count; linear++) {
    int index[3], source[3], rest = linear;
    for (int i = 0; i < k->out.rank; i++) {
      index[i] = rest % k->out.sizes[i];
      rest /= k->out.sizes[i];
    }
    for (int i = 0; i < k->in.rank; i++) {
      int at = index[k->permutation[i]];
      source[i] = k->reversed[i] ? k->in.sizes[i] - 1 - at : at;
    }
    out[position(&k->out, index)] = in[position(&k->in, source)] + 1;
  }
  out[count] = -1;  // nobody writes behind the end
}

static void test_random_kernels(void **state) {
  (void)state;
  // Vector accesses are aligned like the buffers of a program.
  static _Alignas(64) int32_t in[MAX_ELEMENTS + 1], wanted[MAX_ELEMENTS + 1], found[MAX_ELEMENTS + 1];
  for (int i = 0; i < MAX_ELEMENTS; i++) in[i] = i * 7 + 3;
  for (int n = 0; n < KERNELS; n++) {
    kernel k = random_kernel();
    text source = print_kernel(&k);
    size_t bytes = (size_t)(elements(&k.out) + 1) * sizeof *in;
    expected_output(&k, in, wanted);
    for (int build = 0; build < 2; build++) {
      run_kernel(&k, text_cstr(&source), build ? all_passes : plain_passes, in, found);
      if (memcmp(found, wanted, bytes) != 0) fail_msg("%s passes:\n%s", build ? "all" : "plain", text_cstr(&source));
    }
    text_free(&source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
  return cmocka_run_group_tests(tests, 0, 0);
}
