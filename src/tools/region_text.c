// Text to a module with a region, in a context that has the dialects.
#include "tools/region_text.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "base/int64.h"
#include "tile/own_interface.h"
#include "tile/panels.h"
#include "tile/passes.h"
#include "tile/workgroups.h"
#include "tools/mlir_guard.h"
#include "tools/mlir_spelling_2020.h"
#include "tools/mlir_spelling_mhlo.h"

static const char separator[] = "// -----";

static bool is_blank(str s) {
  for (size_t k = 0; k < s.size; k++)
    if (!strchr(" \t\r\n", s.data[k])) return false;
  return true;
}

// The part of the text from `begin` to `end`, at its place.
static void add_part(arena *a, str source, size_t begin, size_t end, str_list *out) {
  const str part = {source.data + begin, end - begin};
  if (is_blank(part)) return;
  text t = {0};
  for (size_t k = 0; k < begin; k++)
    if (source.data[k] == '\n') text_puts(&t, "\n");
  text_append(&t, part);
  vec_push(a, out, str_copy(a, text_view(&t)));
  text_free(&t);
}

void region_text_split(arena *a, str source, str_list *out) {
  const size_t length = sizeof separator - 1;
  size_t begin = 0;
  for (size_t k = 0; k + length <= source.size; k++) {
    const bool starts_line = k == 0 || source.data[k - 1] == '\n';
    if (!starts_line || memcmp(source.data + k, separator, length) != 0) continue;
    add_part(a, source, begin, k, out);
    begin = k;
  }
  add_part(a, source, begin, source.size, out);
}

heddle_status region_text_spell(str source, text *out) {
  text today = {0};
  if (mlir_spelling_2020_is(source)) mlir_spelling_2020_read(source, &today);
  else text_append(&today, source);
  const heddle_status status = mlir_spelling_mhlo_read("-", text_view(&today), out);
  text_free(&today);
  return status;
}

static void make_interface(MlirOperation module) {
  arena *a = arena_create();
  own_interface_make(a, module);
  arena_destroy(a);
}

heddle_status region_text_parse(MlirContext context, str source, MlirModule *out) {
  text today = {0};
  heddle_status s = region_text_spell(source, &today);
  if (status_is_ok(s)) s = mlir_guard_check(text_view(&today));
  if (!status_is_ok(s)) {
    text_free(&today);
    return s;
  }
  tile_load_dialects(context);
  *out = mlirModuleCreateParse(context, mlirStringRefCreate(text_cstr(&today), today.size));
  text_free(&today);
  if (!mlirModuleIsNull(*out)) {
    make_interface(mlirModuleGetOperation(*out));
    return status_ok();
  }
  TRY(ir_diagnostics(context, HEDDLE_INVALID, "cannot parse the region"));
  return status_error(HEDDLE_INVALID, "cannot parse the region");
}

heddle_status region_text_function(arena *a, MlirOperation module, MlirOperation *out) {
  const ir_operations all = ir_collect(a, module, "func.func");
  int found = 0;
  for (int k = 0; k < all.size; k++) {
    MlirBlock block = ir_body(all.data[k], 0);
    if (mlirBlockIsNull(block) || mlirBlockGetNumArguments(block) > 0) continue;
    if (++found > 1)
      return ir_refuse(all.data[k], HEDDLE_INVALID,
                       "found another dispatch region in one module, wanted one, or modules with a line of // ----- "
                       "between them, as regions do not say which arrays they share");
    *out = all.data[k];
  }
  return found == 1 ? status_ok() : ir_refuse(module, HEDDLE_INVALID, "found no dispatch region");
}

static int64_t int_of(MlirOperation op, const char *name) { return mlirIntegerAttrGetValueInt(ir_get(op, name)); }

static bool is_before(MlirOperation x, MlirOperation y) {
  const int64_t x_set = int_of(x, "set"), y_set = int_of(y, "set");
  return x_set != y_set ? x_set < y_set : int_of(x, "binding") < int_of(y, "binding");
}

heddle_status region_text_bindings(arena *a, MlirOperation module, ir_operations *out) {
  *out = ir_collect(a, module, "hal.interface.binding");
  for (int k = 1; k < out->size; k++) {
    const MlirOperation binding = out->data[k];
    int n = k;
    for (; n > 0 && is_before(binding, out->data[n - 1]); n--) out->data[n] = out->data[n - 1];
    if (n > 0 && !is_before(out->data[n - 1], binding))
      return ir_refuse(binding, HEDDLE_INVALID, "found two bindings with one number");
    out->data[n] = binding;
  }
  return status_ok();
}

bool region_text_writes(MlirOperation binding) {
  MlirStringRef access = mlirStringAttrGetValue(ir_get(binding, "access"));
  bool any = false;
  for (size_t k = 0; k + 5 <= access.length; k++) any |= memcmp(access.data + k, "Write", 5) == 0;
  return any;
}

// -1 if that is not known.
static int64_t bytes_of_type(MlirType t) {
  MlirType element = ir_element_type(t);
  const bool is_complex = mlirTypeIsAComplex(element);
  if (is_complex) element = mlirComplexTypeGetElementType(element);
  if (!mlirShapedTypeHasStaticShape(t) || (!mlirTypeIsAInteger(element) && !mlirTypeIsAFloat(element))) return -1;
  const int64_t elements = int64_saturating_mul(is_complex ? 2 : 1, ir_element_count(t));
  const int bits = ir_bit_width(element);
  if (bits > 1 && bits < 8) return int64_ceil_div(elements, 8 / bits);
  return int64_saturating_mul(elements, (bits + 7) / 8);
}

static bool is_of(MlirOperation user, MlirOperation binding) {
  MlirAttribute name = ir_get(user, "binding");
  MlirStringRef leaf = mlirSymbolRefAttrGetLeafReference(name);
  return str_equal((str){leaf.data, leaf.length}, ir_symbol(binding));
}

MlirType region_text_misfit(arena *a, MlirOperation module, MlirOperation binding, int64_t bytes) {
  static const char *const users[] = {"hal.interface.load.tensor", "hal.interface.store.tensor",
                                      WORKGROUPS_PLACEHOLDER};
  for (size_t n = 0; n < sizeof users / sizeof *users; n++) {
    const ir_operations all = ir_collect(a, module, users[n]);
    for (int k = 0; k < all.size; k++) {
      if (!is_of(all.data[k], binding)) continue;
      MlirType t = n == 0   ? panels_type_in_memory(a, all.data[k])
                   : n == 1 ? mlirValueGetType(ir_operand(all.data[k], 0))
                            : ir_result_type(all.data[k], 0);
      if (bytes_of_type(t) != bytes) return t;
    }
  }
  return (MlirType){NULL};
}
