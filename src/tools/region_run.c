// Reads the region, runs the rest of the pipeline, and calls the kernel on copies of the arguments.
#include "tools/region_run.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

#include "emit/ir_builder.h"
#include "kernel/sizes.h"
#include "lib/element.h"
#include "link/link.h"
#include "lower/launch.h"
#include "target/cpu.h"
#include "target/vulkan.h"
#include "tile/passes.h"
#include "tile/stage.h"
#include "tile/workgroups.h"
#include "tools/region_device.h"
#include "tools/region_text.h"

enum { TILES = 3, MOST_BINDINGS = 256, ALIGNMENT = 64 };  // TILES: among which the workgroups are dealt, if nobody says

typedef struct region {
  platform on;
  MlirOperation function;
  const char *name;
  int64_t tiles;
  int count;  // of bindings, in their order
  MlirOperation bindings[MOST_BINDINGS];
  bool writes[MOST_BINDINGS];
  const literal *arrays[MOST_BINDINGS];  // that they stand for
  void *memory[MOST_BINDINGS];
  int64_t bytes[MOST_BINDINGS];
  int64_t threads, blocks;  // of a grid
} region;

// --- what the region asks for

static heddle_status find_bindings(arena *a, MlirOperation module, region *r) {
  ir_operations all;
  TRY(region_text_bindings(a, module, &all));
  if (all.size > MOST_BINDINGS)
    return ir_refuse(all.data[MOST_BINDINGS], HEDDLE_INVALID, "found %d bindings, too many to run", all.size);
  r->count = all.size;
  for (int k = 0; k < all.size; k++) {
    r->bindings[k] = all.data[k];
    r->writes[k] = region_text_writes(all.data[k]);
  }
  return status_ok();
}

static heddle_status find_region(arena *a, MlirOperation module, region *r) {
  TRY(region_text_function(a, module, &r->function));
  const str name = ir_symbol(r->function);
  r->name = arena_strdup(a, name.data, name.size);
  r->tiles = TILES;
  TRY(workgroups_tiles(r->function, &r->tiles));
  if (r->on != PLATFORM_VULKAN)
    ir_set(r->function, WORKGROUPS_TILES,
           mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(module), 64), r->tiles));
  return find_bindings(a, module, r);
}

// --- its memory

static size_t bytes_of(const literal *l) { return (size_t)kernel_buffer_bytes(l->shape); }

static bool fits(arena *a, MlirOperation module, MlirOperation binding, const literal *l) {
  return mlirTypeIsNull(region_text_misfit(a, module, binding, (int64_t)bytes_of(l)));
}

// A binding for which the arrays' order is not that of the bindings: its size has to say which array it is.
static heddle_status find_array(arena *a, MlirOperation module, const region *r, int k, const literal_list *from,
                                int number, const literal **out) {
  const literal *in_order = from->data[number], *found = NULL;
  *out = in_order;
  for (int n = 0; n < from->size; n++) {
    if (!fits(a, module, r->bindings[k], from->data[n])) continue;
    if (found)
      return ir_refuse(r->bindings[k], HEDDLE_INVALID,
                       "found bindings in another order than the module's arrays, several of which fit this one");
    found = from->data[n];
  }
  if (!found)
    return ir_refuse(r->bindings[k], HEDDLE_INVALID, "binding @" STR_FMT " is %s, found %s for it",
                     STR_ARG(ir_symbol(r->bindings[k])),
                     ir_type_text(a, region_text_misfit(a, module, r->bindings[k], (int64_t)bytes_of(in_order))),
                     shape_text(a, in_order->shape));
  for (int n = 0; n < k; n++)
    if (r->arrays[n] == found)
      return ir_refuse(r->bindings[k], HEDDLE_INVALID, "found two bindings that one array alone fits");
  *out = found;
  return status_ok();
}

// Gives the bindings that are read, or those that are written, the arrays in their order, or where these do not fit
// like that by their sizes.
static heddle_status match_arrays(arena *a, MlirOperation module, region *r, bool writes, const literal_list *from) {
  bool in_order = true;
  for (int k = 0, n = 0; k < r->count; k++)
    if (r->writes[k] == writes) in_order &= fits(a, module, r->bindings[k], from->data[n++]);
  for (int k = 0, n = 0; k < r->count; k++) {
    if (r->writes[k] != writes) continue;
    if (in_order) r->arrays[k] = from->data[n];
    else TRY(find_array(a, module, r, k, from, n, &r->arrays[k]));
    n++;
  }
  return status_ok();
}

// As kernels find it: elements of less than a byte share bytes.
static void fill(const literal *l, void *memory) {
  const dtype t = l->shape->dtype;
  if (dtypes[t].bits >= 8) {
    memcpy(memory, l->data, bytes_of(l));
    return;
  }
  const lib_array from = {.data = l->data, .type = t}, to = {.data = memory, .type = t, .is_packed = true};
  const int64_t count = shape_element_count(l->shape);
  memset(memory, 0, bytes_of(l));
  for (int64_t k = 0; k < count; k++) element_move(&to, k, &from, k);
}

static heddle_status give_memory(arena *a, MlirOperation module, region *r, const literal_list *inputs,
                                 const literal_list *outputs) {
  int in = 0, out = 0;
  for (int k = 0; k < r->count; k++) *(r->writes[k] ? &out : &in) += 1;
  if (in != inputs->size || out != outputs->size)
    return ir_refuse(r->function, HEDDLE_INVALID, "found %d bindings to read and %d to write, wanted %d and %d", in,
                     out, inputs->size, outputs->size);
  TRY(match_arrays(a, module, r, false, inputs));
  TRY(match_arrays(a, module, r, true, outputs));
  for (int k = 0; k < r->count; k++) {
    const bool writes = r->writes[k];
    const literal *l = r->arrays[k];
    if (writes && dtypes[l->shape->dtype].bits < 8)
      return ir_refuse(r->bindings[k], HEDDLE_UNIMPLEMENTED, "found results of less than a byte");
    const size_t bytes = bytes_of(l);
    r->bytes[k] = (int64_t)bytes;
    if (posix_memalign(&r->memory[k], ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
      return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a binding");
    // Results begin with anything.
    if (writes) memset(r->memory[k], 0xa5, bytes);
    else fill(l, r->memory[k]);
  }
  return status_ok();
}

static void take_results(const region *r) {
  for (int k = 0; k < r->count; k++)
    if (r->writes[k]) memcpy(r->arrays[k]->data, r->memory[k], bytes_of(r->arrays[k]));
}

// --- the kernel

static heddle_status call_here(const region *r, const kernel_image *image) {
  link_code *code;
  void *address = NULL;
  const str object = {image->data, image->size};
  const link_entry entry = {0, r->name};
  TRY(link_objects(1, &object, 1, &entry, &address, &code));
  ((void (*)(void *const *, int64_t, int64_t))address)(r->memory, 0, r->tiles);
  link_release(code);
  return status_ok();
}

static heddle_status call(arena *a, const region *r, const kernel_image *image) {
  if (r->on != PLATFORM_VULKAN) return call_here(r, image);
  const region_kernel k = {.name = r->name,
                           .words = {image->data, image->size},
                           .threads = r->threads,
                           .blocks = r->blocks,
                           .count = r->count,
                           .bytes = r->bytes,
                           .writes = r->writes,
                           .memory = r->memory};
  return region_device_run(a, &k);
}

// Distribution says on what grid; the function that says it becomes another one behind that.
static heddle_status lower_to_grid(lower_session *session, MlirOperation module, const lower_options *options,
                                   const pass *const *passes, region *r) {
  pass_control dealt = PASS_CONTROL_DEFAULT;
  dealt.until = tile_deal.name;
  TRY(lower_run_in(session, passes, module, options, &dealt));
  launch l;
  TRY(launch_of(r->function, &l));
  if (!l.is_said) return status_error(HEDDLE_INTERNAL, "the region was not dealt out");
  r->threads = l.threads[0];
  r->blocks = l.blocks[0];
  while (*passes != &tile_deal) passes++;
  return lower_run_in(session, passes + 1, module, options, NULL);
}

static heddle_status compile(arena *a, lower_session *session, MlirOperation module, region *r, kernel_image *out) {
  const bool is_here = r->on != PLATFORM_VULKAN;
  const target_description machine = is_here ? cpu_target_host(a, 1) : *target_vulkan();
  const lower_options options = {.target = machine};
  const tile_stage at = tile_stage_of(a, module);
  const pass *const *passes = tile_pipeline_from(at, &machine);
  const code_options plain = {.entry = r->name};
  if (!is_here) {
    // One thread can do what a loop after the other says, workgroups cannot wait for each other.
    if (at.has_buffers && !at.has_tiles)
      TRY(lower_run_in(session, (const pass *[]){&tile_on_buffers, NULL}, module, &options, NULL));
    TRY(lower_to_grid(session, module, &options, passes, r));
    return vulkan_emit(a, module, &machine, &plain, out);
  }
  TRY(lower_run_in(session, passes, module, &options, NULL));
  return cpu_emit(a, module, &machine, &plain, out);
}

static heddle_status run_in(arena *a, lower_session *session, str source, platform on, const literal_list *inputs,
                            const literal_list *outputs) {
  MlirModule module;
  TRY(region_text_parse(lower_session_context(session), source, &module));
  MlirOperation op = mlirModuleGetOperation(module);
  region r = {.on = on};
  kernel_image image;
  heddle_status s = find_region(a, op, &r);
  if (status_is_ok(s)) s = give_memory(a, op, &r, inputs, outputs);
  if (status_is_ok(s)) s = compile(a, session, op, &r, &image);
  if (status_is_ok(s)) s = call(a, &r, &image);
  if (status_is_ok(s)) take_results(&r);
  for (int k = 0; k < r.count; k++) free(r.memory[k]);
  mlirModuleDestroy(module);
  return s;
}

heddle_status region_run(arena *a, str source, platform on, const argument_list *arguments, const shape *result,
                         literal **out) {
  literal_list inputs = {0}, outputs = {0};
  for (int k = 0; k < arguments->count; k++) execute_leaves(a, arguments->values[k], &inputs);
  TRY(literal_create(a, result, out));
  execute_leaves(a, *out, &outputs);
  lower_session *session = lower_session_take();
  const heddle_status s = run_in(a, session, source, on, &inputs, &outputs);
  lower_session_give(session, status_is_ok(s));
  return status_context(s, "in the region");
}
