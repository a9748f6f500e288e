// Spelling of the SPIR-V dialect's operations, types and attributes, in one place.
#include "lower/spirv_build.h"

static MlirStringRef ref(const char *s) { return mlirStringRefCreateFromCString(s); }

// --- what is asked for

static const struct {
  const char *name, *extension;  // the extension is null where SPIR-V 1.3 has it
} capabilities[SPIRV_CAPABILITY_COUNT] = {
    [SPIRV_SHADER] = {"Shader", NULL},
    [SPIRV_INT8] = {"Int8", NULL},
    [SPIRV_INT16] = {"Int16", NULL},
    [SPIRV_INT64] = {"Int64", NULL},
    [SPIRV_FLOAT64] = {"Float64", NULL},
    [SPIRV_INT64_ATOMICS] = {"Int64Atomics", NULL},
    [SPIRV_STORAGE8] = {"StorageBuffer8BitAccess", "SPV_KHR_8bit_storage"},
    [SPIRV_STORAGE16] = {"StorageBuffer16BitAccess", NULL},
    [SPIRV_ADDRESSES] = {"PhysicalStorageBufferAddresses", "SPV_KHR_physical_storage_buffer"},
    [SPIRV_KEEPS_SPECIALS32] = {"SignedZeroInfNanPreserve", "SPV_KHR_float_controls"},
    [SPIRV_KEEPS_SPECIALS64] = {"SignedZeroInfNanPreserve", "SPV_KHR_float_controls"},
    [SPIRV_SUBGROUPS] = {"GroupNonUniform", NULL},
    [SPIRV_SHUFFLES] = {"GroupNonUniformShuffle", NULL},
};

void spirv_build_ask(spirv_build *s, spirv_capability capability) { s->capabilities |= 1U << capability; }

static MlirNamedAttribute attribute(spirv_build *s, const char *name, const char *value) {
  return ir_named_text(s->b.context, name, value);
}

void spirv_build_begin(spirv_build *s, lower_context *c, MlirOperation module, spirv_form form, int index_bits) {
  static const char *const names[] = {[SPIRV_BY_SUBGROUPS] = "by_subgroups", [SPIRV_BY_WORDS] = "by_words"};
  mlirContextGetOrLoadDialect(c->context, ref("spirv"));
  *s = (spirv_build){
      .b = ir_builder_at_end(c->context, ir_body(module, 0), c->scratch), .form = form, .index_bits = index_bits};
  spirv_build_ask(s, SPIRV_SHADER);
  spirv_build_ask(s, SPIRV_ADDRESSES);
  spirv_build_ask(s, SPIRV_INT64);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(0, NULL, NULL));
  const MlirNamedAttribute attributes[] = {
      attribute(s, "addressing_model", "#spirv.addressing_model<PhysicalStorageBuffer64>"),
      attribute(s, "memory_model", "#spirv.memory_model<GLSL450>")};
  s->module = ir_build(&s->b, (ir_op_state){.name = "spirv.module",
                                            .attribute_count = 2,
                                            .attributes = attributes,
                                            .region_count = 1,
                                            .regions = &region});
  if (form != SPIRV_PLAIN) ir_set(s->module, "sym_name", mlirStringAttrGet(c->context, ref(names[form])));
}

static bool is_listed(const char *const *list, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(list[i], name) == 0) return true;
  return false;
}

void spirv_build_end(spirv_build *s) {
  const char *names[SPIRV_CAPABILITY_COUNT], *extensions[SPIRV_CAPABILITY_COUNT];
  int count = 0, extension_count = 0;
  text t = {0};
  for (int i = 0; i < SPIRV_CAPABILITY_COUNT; i++) {
    if (!(s->capabilities >> i & 1) || is_listed(names, count, capabilities[i].name)) continue;
    names[count++] = capabilities[i].name;
    const char *extension = capabilities[i].extension;
    if (extension && !is_listed(extensions, extension_count, extension)) extensions[extension_count++] = extension;
  }
  text_puts(&t, "#spirv.vce<v1.3, [");
  for (int i = 0; i < count; i++) text_printf(&t, "%s%s", i ? ", " : "", names[i]);
  text_puts(&t, "], [");
  for (int i = 0; i < extension_count; i++) text_printf(&t, "%s%s", i ? ", " : "", extensions[i]);
  text_puts(&t, "]>");
  ir_set(s->module, "vce_triple", ir_attribute(s->b.context, text_cstr(&t)));
  text_free(&t);
}

// --- types

MlirType spirv_build_int_type(spirv_build *s, int bits) {
  if (bits < 32 && s->form == SPIRV_BY_WORDS) bits = 32;
  if (bits == 8) spirv_build_ask(s, SPIRV_INT8);
  if (bits == 16) spirv_build_ask(s, SPIRV_INT16);
  if (bits == 64) spirv_build_ask(s, SPIRV_INT64);
  return mlirIntegerTypeGet(s->b.context, (unsigned)bits);
}

MlirType spirv_build_type(spirv_build *s, MlirType type) {
  if (mlirTypeIsAF32(type)) spirv_build_ask(s, SPIRV_KEEPS_SPECIALS32);
  if (mlirTypeIsAF64(type)) {
    spirv_build_ask(s, SPIRV_FLOAT64);
    spirv_build_ask(s, SPIRV_KEEPS_SPECIALS64);
  }
  if (mlirTypeIsAF32(type) || mlirTypeIsAF64(type)) return type;
  if (mlirTypeIsAIndex(type)) return spirv_build_int_type(s, s->index_bits);
  if (!mlirTypeIsAInteger(type)) return (MlirType){NULL};
  const int bits = ir_bit_width(type);
  if (bits == 1) return type;
  if (bits == 8 || bits == 16) return spirv_build_int_type(s, bits);
  return bits > 64 ? (MlirType){NULL} : spirv_build_int_type(s, bits > 32 ? 64 : 32);
}

MlirType spirv_build_pointer_type(spirv_build *s, MlirType to, const char *storage_class) {
  return ir_type(s->b.context,
                 arena_printf(s->b.arena, "!spirv.ptr<%s, %s>", ir_type_text(s->b.arena, to), storage_class));
}

// --- constants

static MlirValue constant(spirv_build *s, MlirType type, MlirAttribute value) {
  const MlirNamedAttribute named = ir_named(s->b.context, "value", value);
  return ir_value_with(&s->b, "spirv.Constant", type, 0, NULL, 1, &named);
}

MlirValue spirv_build_int(spirv_build *s, MlirType type, int64_t value) {
  return constant(s, type, mlirIntegerAttrGet(type, value));
}

MlirValue spirv_build_float(spirv_build *s, MlirType type, double value) {
  return constant(s, type, mlirFloatAttrDoubleGet(s->b.context, type, value));
}

MlirValue spirv_build_bool(spirv_build *s, bool value) {
  return constant(s, mlirIntegerTypeGet(s->b.context, 1), mlirBoolAttrGet(s->b.context, value));
}

MlirValue spirv_build_zero(spirv_build *s, MlirType type) {
  if (!mlirTypeIsAInteger(type)) return spirv_build_float(s, type, 0);
  return ir_bit_width(type) == 1 ? spirv_build_bool(s, false) : spirv_build_int(s, type, 0);
}

// --- operations

MlirValue spirv_build_unary(spirv_build *s, const char *name, MlirValue x) { return ir_unary(&s->b, name, x); }

MlirValue spirv_build_binary(spirv_build *s, const char *name, MlirValue x, MlirValue y) {
  return ir_binary(&s->b, name, x, y);
}

MlirValue spirv_build_exact(spirv_build *s, const char *name, MlirValue x, MlirValue y) {
  const MlirNamedAttribute exact = ir_named(s->b.context, "no_contraction", mlirUnitAttrGet(s->b.context));
  return ir_value_with(&s->b, name, mlirValueGetType(x), y.ptr ? 2 : 1, (MlirValue[]){x, y}, 1, &exact);
}

MlirValue spirv_build_compare(spirv_build *s, const char *name, MlirValue x, MlirValue y) {
  return ir_value(&s->b, name, mlirIntegerTypeGet(s->b.context, 1), y.ptr ? 2 : 1, (MlirValue[]){x, y});
}

MlirValue spirv_build_cast(spirv_build *s, const char *name, MlirType to, MlirValue x) {
  return ir_cast(&s->b, name, to, x);
}

MlirValue spirv_build_bitcast(spirv_build *s, MlirType to, MlirValue x) {
  return mlirTypeEqual(to, mlirValueGetType(x)) ? x : ir_cast(&s->b, "spirv.Bitcast", to, x);
}

MlirValue spirv_build_select(spirv_build *s, MlirValue condition, MlirValue x, MlirValue y) {
  return ir_value(&s->b, "spirv.Select", mlirValueGetType(x), 3, (MlirValue[]){condition, x, y});
}

// --- memory

MlirValue spirv_build_variable(spirv_build *s, MlirType type, MlirAttribute initial) {
  spirv_build at = *s;
  at.b.block = s->entry;
  at.b.before = mlirBlockGetFirstOperation(s->entry);
  const MlirNamedAttribute storage = attribute(s, "storage_class", "#spirv.storage_class<Function>");
  const bool has_value = !mlirAttributeIsNull(initial);
  MlirValue value = has_value ? constant(&at, type, initial) : (MlirValue){NULL};
  return ir_value_with(&at.b, "spirv.Variable", spirv_build_pointer_type(s, type, "Function"), has_value, &value, 1,
                       &storage);
}

MlirValue spirv_build_load(spirv_build *s, MlirType type, MlirValue pointer) {
  return ir_value(&s->b, "spirv.Load", type, 1, &pointer);
}

void spirv_build_store(spirv_build *s, MlirValue pointer, MlirValue value) {
  ir_build(&s->b, (ir_op_state){.name = "spirv.Store", .operand_count = 2, .operands = (MlirValue[]){pointer, value}});
}

MlirValue spirv_build_element(spirv_build *s, MlirValue pointer, int count, const MlirValue *indices, MlirType element,
                              const char *storage_class) {
  MlirValue operands[4] = {pointer};
  for (int i = 0; i < count; i++) operands[i + 1] = indices[i];
  return ir_value(&s->b, "spirv.AccessChain", spirv_build_pointer_type(s, element, storage_class), count + 1, operands);
}

static bool has_symbol(MlirOperation module, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(ir_body(module, 0)); !ir_is_null(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirAttributeIsNull(ir_get(op, "sym_name")) && str_is(ir_symbol(op), name)) return true;
  }
  return false;
}

bool spirv_build_global(spirv_build *s, const char *name, MlirType pointer_type, const char *built_in) {
  if (has_symbol(s->module, name)) return false;
  ir_builder b = ir_builder_at_end(s->b.context, ir_body(s->module, 0), s->b.arena);
  b.before = mlirBlockGetFirstOperation(b.block);
  const MlirNamedAttribute attributes[] = {
      ir_named(b.context, "sym_name", mlirStringAttrGet(b.context, ref(name))),
      ir_named(b.context, "type", mlirTypeAttrGet(pointer_type)),
      ir_named(b.context, "built_in", mlirStringAttrGet(b.context, ref(built_in ? built_in : ""))),
  };
  ir_build(
      &b, (ir_op_state){.name = "spirv.GlobalVariable", .attribute_count = built_in ? 3 : 2, .attributes = attributes});
  return true;
}

MlirValue spirv_build_address_of(spirv_build *s, const char *global, MlirType pointer_type) {
  const MlirNamedAttribute variable =
      ir_named(s->b.context, "variable", mlirFlatSymbolRefAttrGet(s->b.context, ref(global)));
  return ir_value_with(&s->b, "spirv.mlir.addressof", pointer_type, 0, NULL, 1, &variable);
}

MlirValue spirv_build_pushed(spirv_build *s, int number) {
  const MlirType i64 = spirv_build_int_type(s, 64), i32 = spirv_build_int_type(s, 32);
  static const char form[] = "!spirv.ptr<!spirv.struct<(!spirv.array<%d x i64, stride=8> [0])>, PushConstant>";
  const MlirType block = ir_type(s->b.context, arena_printf(s->b.arena, form, SPIRV_PUSHED_MOST));
  spirv_build_global(s, "addresses", block, NULL);
  const MlirValue base = spirv_build_address_of(s, "addresses", block);
  const MlirValue at[] = {spirv_build_int(s, i32, 0), spirv_build_int(s, i32, number)};
  return spirv_build_load(s, i64, spirv_build_element(s, base, 2, at, i64, "PushConstant"));
}

void spirv_build_barrier(spirv_build *s) {
  const MlirNamedAttribute attributes[] = {
      attribute(s, "execution_scope", "#spirv.scope<Workgroup>"),
      attribute(s, "memory_scope", "#spirv.scope<Workgroup>"),
      attribute(s, "memory_semantics", "#spirv.memory_semantics<AcquireRelease|UniformMemory|WorkgroupMemory>")};
  ir_build(&s->b, (ir_op_state){.name = "spirv.ControlBarrier", .attribute_count = 3, .attributes = attributes});
}

// --- subgroups

MlirValue spirv_build_subgroup_size(spirv_build *s) {
  static const char name[] = "subgroup_size";
  const MlirContext c = s->b.context;
  const MlirType i32 = spirv_build_int_type(s, 32);
  if (!has_symbol(s->module, name)) {
    ir_builder b = ir_builder_at_end(c, ir_body(s->module, 0), s->b.arena);
    b.before = mlirBlockGetFirstOperation(b.block);
    const MlirNamedAttribute attributes[] = {ir_named(c, "sym_name", mlirStringAttrGet(c, ref(name))),
                                             ir_named(c, "default_value", mlirIntegerAttrGet(i32, 1)),
                                             ir_named(c, "spec_id", mlirIntegerAttrGet(i32, 0))};
    ir_build(&b, (ir_op_state){.name = "spirv.SpecConstant", .attribute_count = 3, .attributes = attributes});
  }
  const MlirNamedAttribute constant = ir_named(c, "spec_const", mlirFlatSymbolRefAttrGet(c, ref(name)));
  return ir_value_with(&s->b, "spirv.mlir.referenceof", i32, 0, NULL, 1, &constant);
}

MlirValue spirv_build_shuffle(spirv_build *s, MlirValue value, MlirValue lane) {
  spirv_build_ask(s, SPIRV_SHUFFLES);
  const MlirNamedAttribute scope = attribute(s, "execution_scope", "#spirv.scope<Subgroup>");
  return ir_value_with(&s->b, "spirv.GroupNonUniformShuffle", mlirValueGetType(value), 2, (MlirValue[]){value, lane}, 1,
                       &scope);
}

// --- functions

MlirOperation spirv_build_function(spirv_build *s, const char *name, int count, const MlirType *inputs) {
  const MlirContext c = s->b.context;
  MlirLocation *locations = arena_array(s->b.arena, MlirLocation, count);
  for (int i = 0; i < count; i++) locations[i] = s->b.location;
  s->entry = mlirBlockCreate(count, inputs, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, s->entry);
  const MlirNamedAttribute attributes[] = {
      ir_named(c, "sym_name", mlirStringAttrGet(c, ref(name))),
      ir_named(c, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(c, count, inputs, 0, NULL))),
      attribute(s, "function_control", "#spirv.function_control<None>"),
  };
  ir_builder b = ir_builder_at_end(c, ir_body(s->module, 0), s->b.arena);
  MlirOperation made = ir_build(
      &b,
      (ir_op_state){
          .name = "spirv.func", .attribute_count = 3, .attributes = attributes, .region_count = 1, .regions = &region});
  s->b = ir_builder_at_end(c, s->entry, s->b.arena);
  return made;
}

void spirv_build_return(spirv_build *s) { ir_build(&s->b, (ir_op_state){.name = "spirv.Return"}); }

// --- structured control flow

static void branch(ir_builder *b, MlirBlock to) {
  MlirLocation location = b->location;
  MlirOperationState state = mlirOperationStateGet(ref("spirv.Branch"), location);
  mlirOperationStateAddSuccessors(&state, 1, &to);
  mlirBlockAppendOwnedOperation(b->block, mlirOperationCreate(&state));
}

static void branch_conditional(ir_builder *b, MlirValue condition, MlirBlock then, MlirBlock otherwise) {
  MlirOperationState state = mlirOperationStateGet(ref("spirv.BranchConditional"), b->location);
  const MlirBlock successors[] = {then, otherwise};
  const MlirNamedAttribute segments =
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 3, (int32_t[]){1, 0, 0}));
  mlirOperationStateAddOperands(&state, 1, &condition);
  mlirOperationStateAddAttributes(&state, 1, &segments);
  mlirOperationStateAddSuccessors(&state, 2, successors);
  mlirBlockAppendOwnedOperation(b->block, mlirOperationCreate(&state));
}

// A structured operation of so many blocks, the last of which is where it ends.
static void build_region(spirv_build *s, const char *name, const char *control, int count, MlirBlock *blocks) {
  MlirRegion region = mlirRegionCreate();
  for (int i = 0; i < count; i++) {
    blocks[i] = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(region, blocks[i]);
  }
  const MlirNamedAttribute none = attribute(s, *name == 'l' ? "loop_control" : "selection_control", control);
  const char *full = *name == 'l' ? "spirv.mlir.loop" : "spirv.mlir.selection";
  ir_build(&s->b, (ir_op_state){
                      .name = full, .attribute_count = 1, .attributes = &none, .region_count = 1, .regions = &region});
  ir_builder merge = ir_builder_at_end(s->b.context, blocks[count - 1], s->b.arena);
  ir_build(&merge, (ir_op_state){.name = "spirv.mlir.merge"});
}

static void go_to(spirv_build *s, MlirBlock block) { s->b = ir_builder_at_end(s->b.context, block, s->b.arena); }

spirv_selection spirv_build_selection(spirv_build *s, MlirValue condition) {
  enum { HEADER, THEN, OTHERWISE, MERGE, BLOCKS };
  MlirBlock blocks[BLOCKS];
  build_region(s, "selection", "#spirv.selection_control<None>", BLOCKS, blocks);
  spirv_selection made = {blocks[OTHERWISE], blocks[MERGE], s->b};
  go_to(s, blocks[HEADER]);
  branch_conditional(&s->b, condition, blocks[THEN], blocks[OTHERWISE]);
  go_to(s, blocks[THEN]);
  return made;
}

void spirv_build_otherwise(spirv_build *s, const spirv_selection *selection) {
  branch(&s->b, selection->merge);
  go_to(s, selection->otherwise);
}

void spirv_build_end_selection(spirv_build *s, const spirv_selection *selection) {
  branch(&s->b, selection->merge);
  s->b = selection->after;
}

spirv_loop spirv_build_loop(spirv_build *s) {
  enum { ENTRY, HEADER, BEFORE, TURN, NEXT, MERGE, BLOCKS };
  MlirBlock blocks[BLOCKS];
  build_region(s, "loop", "#spirv.loop_control<None>", BLOCKS, blocks);
  spirv_loop made = {blocks[TURN], blocks[NEXT], blocks[MERGE], s->b};
  go_to(s, blocks[ENTRY]);
  branch(&s->b, blocks[HEADER]);
  go_to(s, blocks[HEADER]);
  branch(&s->b, blocks[BEFORE]);
  go_to(s, blocks[NEXT]);
  branch(&s->b, blocks[HEADER]);
  go_to(s, blocks[BEFORE]);
  return made;
}

void spirv_build_turn(spirv_build *s, const spirv_loop *loop, MlirValue has_turn) {
  branch_conditional(&s->b, has_turn, loop->turn, loop->merge);
  go_to(s, loop->turn);
}

void spirv_build_end_loop(spirv_build *s, const spirv_loop *loop) {
  branch(&s->b, loop->next);
  s->b = loop->after;
}
