// The kernel's computation is written as MHLO (mhlo_text.h), read by MLIR, and gets loads and stores in place of its
// parameters and results.
#include "tile/dispatch.h"

#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "emit/types.h"
#include "tile/interface.h"
#include "tile/mhlo_text.h"
#include "tile/passes.h"

// MLIR reads the text, and not all of HLO's types are MLIR's.
static heddle_status check_types(const computation *c) {
  for (int n = 0; n < c->instructions.size; n++) {
    const instruction *i = c->instructions.data[n];
    if (!shape_is_tuple(i->shape) && emit_is_encoded(i->shape->dtype))
      return status_at(HEDDLE_UNIMPLEMENTED, c->root->where, "MLIR has no type for elements of %s",
                       dtypes[i->shape->dtype].name);
  }
  return status_ok();
}

static heddle_status read_function(MlirContext context, arena *a, const kernel_plan *k, MlirModule *out) {
  text t = {0};
  heddle_status s = check_types(k->computation);
  if (status_is_ok(s)) s = mhlo_text_write(a, k->computation, &t);
  if (status_is_ok(s)) {
    *out = mlirModuleCreateParse(context, mlirStringRefCreate(text_cstr(&t), t.size));
    if (mlirModuleIsNull(*out)) {
      s = ir_diagnostics(context, HEDDLE_INTERNAL, "MLIR does not read the dispatch region");
      if (status_is_ok(s)) s = status_error(HEDDLE_INTERNAL, "MLIR does not read the dispatch region");
    }
  }
  text_free(&t);
  return s;
}

// The operations of `from` become those of `to`; what it returns is given back.
static ir_values move_body(arena *a, MlirBlock from, ir_builder *to, const MlirValue *parameters) {
  MlirOperation end = ir_build(to, (ir_op_state){.name = "func.return"});
  ir_values results = ir_inline_block(a, from, end, parameters);
  to->before = end;
  return results;
}

static heddle_status fill(ir_builder *b, arena *a, const kernel_plan *k, MlirOperation written) {
  const computation *c = k->computation;
  MlirBlock from = ir_body(written, 0);
  MlirValue *parameters = arena_array(a, MlirValue, c->parameters.size), zero = ir_index(b, 0);
  for (int n = 0; n < k->input_count; n++) {
    const kernel_input *in = &k->inputs[n];
    const int64_t number = in->parameter->attributes->index;
    parameters[number] = interface_load(b, in->slice, mlirValueGetType(mlirBlockGetArgument(from, number)), zero);
  }
  for (int p = 0; p < c->parameters.size; p++)
    if (mlirValueIsNull(parameters[p]))
      return status_at(HEDDLE_UNIMPLEMENTED, c->parameters.data[p]->where, "nothing depends on the parameter");
  const ir_values results = move_body(a, from, b, parameters);
  for (int n = 0; n < k->output_count; n++) interface_store(b, k->outputs[n].slice, results.data[n], zero);
  return status_ok();
}

static MlirBlock add_region(MlirRegion *region) {
  *region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(*region, block);
  return block;
}

static MlirBlock build_target(ir_builder *b, const char *backend) {
  MlirRegion region;
  MlirBlock block = add_region(&region);
  MlirNamedAttribute name =
      ir_named(b->context, "backend", mlirStringAttrGet(b->context, mlirStringRefCreateFromCString(backend)));
  ir_build(b, (ir_op_state){.name = "hal.executable.target",
                            .attribute_count = 1,
                            .attributes = &name,
                            .region_count = 1,
                            .regions = &region});
  MlirModule inner = mlirModuleCreateEmpty(b->location);
  mlirBlockAppendOwnedOperation(block, mlirModuleGetOperation(inner));
  return mlirModuleGetBody(inner);
}

heddle_status dispatch_create(MlirContext context, arena *scratch, const kernel_plan *k, const char *backend,
                              MlirModule *out) {
  tile_load_dialects(context);
  MlirModule written = {NULL}, module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  heddle_status s = read_function(context, scratch, k, &written);
  if (status_is_ok(s)) {
    ir_builder top = ir_builder_at_end(context, mlirModuleGetBody(module), scratch);
    ir_builder inner = ir_builder_at_end(context, build_target(&top, backend), scratch);
    MlirOperation function = ir_function(&inner, k->name, 0, NULL, 0, NULL, false);
    interface_build(&inner, k);
    ir_builder body = ir_builder_at_end(context, ir_body(function, 0), scratch);
    s = fill(&body, scratch, k, mlirBlockGetFirstOperation(mlirModuleGetBody(written)));
    mlirModuleDestroy(written);
  }
  if (status_is_ok(s) && !mlirOperationVerify(mlirModuleGetOperation(module))) {
    s = ir_diagnostics(context, HEDDLE_INTERNAL, "while verifying the dispatch region");
    if (status_is_ok(s)) s = status_error(HEDDLE_INTERNAL, "the dispatch region does not verify");
  }
  if (status_is_ok(s)) *out = module;
  else mlirModuleDestroy(module);
  return status_is_ok(s) ? s : status_context(s, "while making the dispatch region of kernel @%s", k->name);
}
