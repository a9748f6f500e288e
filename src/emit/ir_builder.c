// Contexts, insertion points, and making operations, constants, types and attributes.
//
// MLIR's C API builds an operation in five calls; the emitters and passes build thousands of places, so this file folds
// them into one call with plain arguments. Nothing here decides anything.
#include "emit/ir_builder.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mlir-c/Diagnostics.h>
#include <mlir-c/RegisterEverything.h>

#include "base/int64.h"
#include "dialect/hal.h"
#include "dialect/xla_gpu.h"

static MlirStringRef ref(const char *s) { return mlirStringRefCreate(s, strlen(s)); }

// --- contexts

void ir_append(MlirStringRef part, void *to) { text_append(to, (str){part.data, part.length}); }

static void append_diagnostic(text *out, MlirDiagnostic diagnostic, bool is_note) {
  if (out->size > 0) text_putc(out, '\n');
  if (is_note) text_puts(out, "note: ");
  mlirDiagnosticPrint(diagnostic, ir_append, out);
  MlirLocation where = mlirDiagnosticGetLocation(diagnostic);
  if (!mlirLocationEqual(where, mlirLocationUnknownGet(mlirLocationGetContext(where)))) {
    text_puts(out, " at ");
    mlirLocationPrint(where, ir_append, out);
  }
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    append_diagnostic(out, mlirDiagnosticGetNote(diagnostic, i), true);
}

// A broken module can make MLIR report one error per operation: the first few tell the story.
#define MAX_DIAGNOSTIC_BYTES 8192

static MlirLogicalResult collect_diagnostic(MlirDiagnostic diagnostic, void *argument) {
  text *out = argument;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError && out->size < MAX_DIAGNOSTIC_BYTES)
    append_diagnostic(out, diagnostic, false);
  return mlirLogicalResultSuccess();
}

static void free_diagnostics(void *argument) {
  text_free(argument);
  free(argument);
}

MlirContext ir_context_create(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, xla_gpu_watch_memory);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__xla_gpu__(), registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__hal__(), registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__iree__(), registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__mhlo__(), registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  static const char *const dialects[] = {"func",   "arith", "math", "complex", "tensor", "vector", "scf",
                                         "affine", "cf",    "gpu",  "llvm",    "nvvm",   "xla_gpu"};
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
    mlirContextGetOrLoadDialect(context, ref(dialects[i]));
  mlirRegisterAllLLVMTranslations(context);
  text *diagnostics = calloc(1, sizeof *diagnostics);
  *xla_gpu_context_slot(context) = diagnostics;
  if (diagnostics) mlirContextAttachDiagnosticHandler(context, collect_diagnostic, diagnostics, free_diagnostics);
  return context;
}

heddle_status ir_diagnostics(MlirContext context, heddle_code code, const char *while_doing) {
  text *diagnostics = *xla_gpu_context_slot(context);
  if (!diagnostics || diagnostics->size == 0) return status_ok();
  heddle_status status = status_error(code, "%s: %s", while_doing, text_cstr(diagnostics));
  text_free(diagnostics);
  *diagnostics = (text){0};
  return status;
}

heddle_status ir_refuse(MlirOperation op, heddle_code code, const char *format, ...) {
  char why[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  mlirEmitError(mlirOperationGetLocation(op), why);
  heddle_status s = ir_diagnostics(mlirOperationGetContext(op), code, "refused");
  return status_is_ok(s) ? status_error(code, "%s", why) : s;
}

// --- insertion points

ir_builder ir_builder_at_end(MlirContext context, MlirBlock block, arena *a) {
  return (ir_builder){context, mlirLocationUnknownGet(context), block, {0}, a};
}

ir_builder ir_builder_before(MlirOperation op, arena *a) {
  return (ir_builder){mlirOperationGetContext(op), mlirOperationGetLocation(op), mlirOperationGetBlock(op), op, a};
}

ir_builder ir_builder_after(MlirOperation op, arena *a) {
  ir_builder b = ir_builder_before(op, a);
  b.before = mlirOperationGetNextInBlock(op);
  return b;
}

// --- operations

MlirOperation ir_build(ir_builder *b, ir_op_state op) {
  MlirOperationState state = mlirOperationStateGet(ref(op.name), b->location);
  mlirOperationStateAddOperands(&state, op.operand_count, op.operands);
  mlirOperationStateAddResults(&state, op.result_count, op.results);
  mlirOperationStateAddAttributes(&state, op.attribute_count, op.attributes);
  mlirOperationStateAddOwnedRegions(&state, op.region_count, op.regions);
  MlirOperation made = mlirOperationCreate(&state);
  if (ir_is_null(b->before)) {
    mlirBlockAppendOwnedOperation(b->block, made);
  } else {
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, made);
  }
  return made;
}

MlirValue ir_value_with(ir_builder *b, const char *name, MlirType result, int operand_count, const MlirValue *operands,
                        int attribute_count, const MlirNamedAttribute *attributes) {
  ir_op_state op = {.name = name,
                    .operand_count = operand_count,
                    .operands = operands,
                    .result_count = 1,
                    .results = &result,
                    .attribute_count = attribute_count,
                    .attributes = attributes};
  return ir_result(ir_build(b, op), 0);
}

MlirValue ir_value(ir_builder *b, const char *name, MlirType result, int operand_count, const MlirValue *operands) {
  return ir_value_with(b, name, result, operand_count, operands, 0, 0);
}

MlirValue ir_unary(ir_builder *b, const char *name, MlirValue x) {
  return ir_value(b, name, mlirValueGetType(x), 1, &x);
}

MlirValue ir_binary(ir_builder *b, const char *name, MlirValue x, MlirValue y) {
  return ir_value(b, name, mlirValueGetType(x), 2, (MlirValue[]){x, y});
}

MlirValue ir_combine(ir_builder *b, const char *name, MlirValue x, MlirValue y) {
  const MlirNamedAttribute zeros = ir_named(b->context, "xla.zeros_are_equal", mlirUnitAttrGet(b->context));
  const bool is_extremum = strcmp(name, "arith.maximumf") == 0 || strcmp(name, "arith.minimumf") == 0;
  return ir_value_with(b, name, mlirValueGetType(x), 2, (MlirValue[]){x, y}, is_extremum, &zeros);
}

MlirValue ir_cast(ir_builder *b, const char *name, MlirType to, MlirValue x) { return ir_value(b, name, to, 1, &x); }

MlirValue ir_select(ir_builder *b, MlirValue condition, MlirValue x, MlirValue y) {
  return ir_value(b, "arith.select", mlirValueGetType(x), 3, (MlirValue[]){condition, x, y});
}

// arith's predicates are integers counted in these orders.
static const char *const integer_predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
static const char *const float_predicates[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                               "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};

static MlirValue compare(ir_builder *b, const char *name, const char *const *predicates, int count,
                         const char *predicate, MlirValue x, MlirValue y) {
  int which = 0;
  while (which < count - 1 && strcmp(predicates[which], predicate) != 0) which++;
  MlirAttribute number = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), which);
  MlirNamedAttribute attribute = ir_named(b->context, "predicate", number);
  MlirType i1 = ir_like(mlirValueGetType(x), mlirIntegerTypeGet(b->context, 1));
  return ir_value_with(b, name, i1, 2, (MlirValue[]){x, y}, 1, &attribute);
}

MlirValue ir_cmpi(ir_builder *b, const char *predicate, MlirValue x, MlirValue y) {
  return compare(b, "arith.cmpi", integer_predicates, 10, predicate, x, y);
}

MlirValue ir_cmpf(ir_builder *b, const char *predicate, MlirValue x, MlirValue y) {
  return compare(b, "arith.cmpf", float_predicates, 16, predicate, x, y);
}

// --- constants

MlirValue ir_constant(ir_builder *b, MlirType type, MlirAttribute element) {
  MlirAttribute value = ir_is_vector(type) ? mlirDenseElementsAttrSplatGet(type, element) : element;
  MlirNamedAttribute attribute = ir_named(b->context, "value", value);
  return ir_value_with(b, "arith.constant", type, 0, 0, 1, &attribute);
}

MlirValue ir_index(ir_builder *b, int64_t v) { return ir_int(b, mlirIndexTypeGet(b->context), v); }

MlirValue ir_int(ir_builder *b, MlirType type, int64_t v) {
  return ir_constant(b, type, mlirIntegerAttrGet(ir_element_type(type), v));
}

MlirValue ir_float(ir_builder *b, MlirType type, double v) {
  return ir_constant(b, type, mlirFloatAttrDoubleGet(b->context, ir_element_type(type), v));
}

bool ir_constant_value(MlirValue v, int64_t *out) {
  MlirOperation op = ir_defining_op(v);
  if (ir_is_null(op) || !ir_is(op, "arith.constant")) return false;
  MlirAttribute value = ir_get(op, "value");
  if (!mlirAttributeIsAInteger(value)) return false;
  MlirType type = mlirAttributeGetType(value);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 64) return false;
  *out = mlirIntegerAttrGetValueInt(value);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1) *out &= 1;  // not -1, as sign extension says
  return true;
}

// --- types and attributes

MlirType ir_type(MlirContext c, const char *spelling) { return mlirTypeParseGet(c, ref(spelling)); }

MlirAttribute ir_attribute(MlirContext c, const char *spelling) { return mlirAttributeParseGet(c, ref(spelling)); }

MlirNamedAttribute ir_named(MlirContext c, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(c, ref(name)), value);
}

MlirNamedAttribute ir_named_text(MlirContext c, const char *name, const char *value_text) {
  return ir_named(c, name, ir_attribute(c, value_text));
}

bool ir_is_vector(MlirType t) { return mlirTypeIsAVector(t); }

MlirType ir_element_type(MlirType t) { return mlirTypeIsAShaped(t) ? mlirShapedTypeGetElementType(t) : t; }

#define MAX_VECTOR_RANK 16

MlirType ir_like(MlirType shape_of, MlirType element) {
  if (!ir_is_vector(shape_of)) return element;
  int64_t sizes[MAX_VECTOR_RANK];
  int64_t rank = mlirShapedTypeGetRank(shape_of);
  if (rank > MAX_VECTOR_RANK) return (MlirType){0};
  for (int64_t i = 0; i < rank; i++) sizes[i] = mlirShapedTypeGetDimSize(shape_of, i);
  return mlirVectorTypeGet(rank, sizes, element);
}

int64_t *ir_dims(arena *a, MlirType t) {
  const int rank = (int)mlirShapedTypeGetRank(t);
  int64_t *dims = arena_array(a, int64_t, rank);
  for (int d = 0; d < rank; d++) dims[d] = mlirShapedTypeGetDimSize(t, d);
  return dims;
}

int64_t ir_element_count(MlirType t) {
  int64_t count = 1;
  for (int d = 0; d < mlirShapedTypeGetRank(t); d++)
    count = int64_saturating_mul(count, mlirShapedTypeGetDimSize(t, d));
  return count;
}

int ir_bit_width(MlirType t) {
  if (mlirTypeIsAInteger(t)) return (int)mlirIntegerTypeGetWidth(t);
  if (mlirTypeIsAFloat(t)) return (int)mlirFloatTypeGetWidth(t);
  return 64;
}

// --- text

static const char *take_text(arena *a, text *t) {
  const char *copy = arena_strdup(a, t->data ? t->data : "", t->size);
  text_free(t);
  return copy;
}

const char *ir_operation_text(arena *a, MlirOperation op) {
  text out = {0};
  mlirOperationPrint(op, ir_append, &out);
  return take_text(a, &out);
}

const char *ir_type_text(arena *a, MlirType t) {
  text out = {0};
  mlirTypePrint(t, ir_append, &out);
  return take_text(a, &out);
}
