#include "tools/region_device.h"

#include "base/vec.h"
#include "lower/spirv_words.h"
#include "rt/executable.h"

// Bytes in a row.
static program_value value_of(arena *a, int64_t bytes) {
  int64_t *dims = arena_array(a, int64_t, 2);
  dims[0] = bytes;
  return (program_value){"", {DTYPE_S8, 1, dims, &dims[1]}, -1};
}

// The buffers as parameters and results, each an allocation and a slice with the buffer's number.
static void build_memory(arena *a, const region_kernel *k, program *p, program_thunk *t) {
  program_value *parameters = arena_array(a, program_value, k->count),
                *results = arena_array(a, program_value, k->count);
  program_allocation *allocations = arena_array(a, program_allocation, k->count);
  program_slice *slices = arena_array(a, program_slice, k->count);
  int *reads = arena_array(a, int, k->count), *writes = arena_array(a, int, k->count),
      *all = arena_array(a, int, k->count);
  for (int i = 0; i < k->count; i++) {
    const bool is_result = k->writes[i];
    const int number = is_result ? p->result_count++ : p->parameter_count++;
    (is_result ? results : parameters)[number] = value_of(a, k->bytes[i]);
    (is_result ? writes : reads)[number] = all[i] = i;
    allocations[i] = (program_allocation){
        .kind = is_result ? PROGRAM_RESULT : PROGRAM_PARAMETER, .number = number, .bytes = k->bytes[i]};
    slices[i] = (program_slice){.allocation = i, .bytes = k->bytes[i]};
  }
  p->given_result_count = p->result_count;
  p->parameters = parameters;
  p->results = results;
  p->allocation_count = p->slice_count = k->count;
  p->allocations = allocations;
  p->slices = slices;
  t->read_count = p->parameter_count;
  t->reads = reads;
  t->write_count = p->result_count;
  t->writes = writes;
  t->launch = (program_launch){0, k->count, all};
}

static int build_images(arena *a, const region_kernel *k, const program_image **out) {
  VEC(program_image) images = {0};
  for (str rest = k->words; rest.size > 0;) {
    const str words = spirv_words_take(&rest);
    vec_push(a, &images, ((program_image){PROGRAM_SPIRV, words.data, words.size}));
  }
  *out = images.data;
  return images.size;
}

static heddle_status run(executable *e, const region_kernel *k, void **parameters, void **results) {
  int in = 0, out = 0;
  for (int i = 0; i < k->count; i++) *(k->writes[i] ? &results[out++] : &parameters[in++]) = k->memory[i];
  return executable_run(e, parameters, results);
}

heddle_status region_device_run(arena *a, const region_kernel *k) {
  program p = {.name = k->name, .device = TARGET_VULKAN, .device_count = 1, .partition_count = 1, .kernel_count = 1};
  program_thunk *t = arena_new(a, program_thunk);
  *t = (program_thunk){.kind = THUNK_KERNEL, .name = k->name};
  build_memory(a, k, &p, t);
  p.image_count = build_images(a, k, &p.images);
  p.kernels = &(program_kernel){.entry = k->name,
                                .forms = p.image_count - 1,
                                .buffer_count = k->count,
                                .grid = {k->blocks, 1, 1},
                                .block = {k->threads, 1, 1}};
  p.entry = (program_sequence){1, (const program_thunk *[]){t}};
  executable *e;
  TRY(executable_create(&p, (kernel_fn[]){NULL}, &(executable_options){.threads = 1}, &e));
  heddle_status s = run(e, k, arena_array(a, void *, k->count), arena_array(a, void *, k->count));
  executable_destroy(e);
  return s;
}
