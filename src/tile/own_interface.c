// What is done with a binding is what its users say, or whoever uses memory that is a view of it.
#include "tile/own_interface.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "base/map.h"
#include "tile/interface.h"
#include "tile/memory_proof.h"
#include "tile/workgroups.h"

typedef struct used_bindings {
  VEC(interface_binding) all;
  str interface;           // of the first use
  bool are_of_one;         // all of that interface
  MlirOperation function;  // of the first use
} used_bindings;

// --- what is used

// Null if the operation names no binding of an interface.
static interface_binding *find(arena *a, used_bindings *used, MlirOperation user) {
  const MlirAttribute binding = ir_get(user, "binding");
  if (mlirAttributeIsNull(binding) || !mlirAttributeIsASymbolRef(binding) ||
      mlirSymbolRefAttrGetNumNestedReferences(binding) != 1)
    return NULL;
  const MlirStringRef root = mlirSymbolRefAttrGetRootReference(binding),
                      leaf = mlirSymbolRefAttrGetLeafReference(binding);
  const str interface = {root.data, root.length};
  const interface_binding made = {.name = {leaf.data, leaf.length}};
  for (int k = 0; k < used->all.size; k++)
    if (str_equal(used->all.data[k].name, made.name)) return &used->all.data[k];
  if (used->all.size == 0) {
    used->interface = interface;
    used->function = user;
  }
  used->are_of_one &= str_equal(interface, used->interface);
  vec_push(a, &used->all, made);
  return &used->all.data[used->all.size - 1];
}

static bool is_memory(MlirValue v) {
  return mlirTypeIsAMemRef(mlirValueGetType(v)) || mlirTypeIsAUnrankedMemRef(mlirValueGetType(v));
}

// Other names that the user gives the memory.
static void add_names(arena *a, ptr_map *known, MlirOperation user, ir_values *names) {
  for (int k = 0; k < mlirOperationGetNumResults(user); k++) {
    const MlirValue result = ir_result(user, k);
    if (!is_memory(result) || ptr_map_get(known, result.ptr)) continue;
    ptr_map_put(a, known, result.ptr, (void *)result.ptr);
    vec_push(a, names, result);
  }
}

// Whether anybody may write to the memory, or to another name of it.
static bool may_be_written(arena *a, MlirValue memory) {
  ir_values names = {0};
  ptr_map known = {0};
  bool may = false;
  vec_push(a, &names, memory);
  for (int n = 0; n < names.size && !may; n++) {
    MlirOpOperand use = mlirValueGetFirstUse(names.data[n]);
    for (; !mlirOpOperandIsNull(use) && !may; use = mlirOpOperandGetNextUse(use)) {
      const MlirOperation user = mlirOpOperandGetOwner(use);
      may = !memory_proof_only_reads(user, (int)mlirOpOperandGetOperandNumber(use));
      add_names(a, &known, user, &names);
    }
  }
  return may;
}

static void collect(arena *a, MlirOperation module, used_bindings *used) {
  const ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++) {
    const MlirOperation op = all.data[k];
    const bool loads = ir_is(op, "hal.interface.load.tensor"), stores = ir_is(op, "hal.interface.store.tensor"),
               is_memory_of = ir_is(op, WORKGROUPS_PLACEHOLDER);
    interface_binding *binding = loads || stores || is_memory_of ? find(a, used, op) : NULL;
    if (!binding) continue;
    binding->is_read |= !stores;
    binding->is_written |= stores || (is_memory_of && may_be_written(a, ir_result(op, 0)));
  }
}

// --- their order

static bool is_digit(str s) { return s.size > 0 && s.data[0] >= '0' && s.data[0] <= '9'; }

// The digits that the name begins with, less zeros in front; they are taken from it.
static str take_number(str *name) {
  str number = *name;
  while (is_digit(*name)) *name = (str){name->data + 1, name->size - 1};
  number.size -= name->size;
  while (number.size > 1 && number.data[0] == '0') number = (str){number.data + 1, number.size - 1};
  return number;
}

static bool name_is_before(str x, str y) {
  while (x.size > 0 && y.size > 0) {
    if (is_digit(x) && is_digit(y)) {
      const str p = take_number(&x), q = take_number(&y);
      const int order = p.size != q.size ? (p.size < q.size ? -1 : 1) : memcmp(p.data, q.data, p.size);
      if (order != 0) return order < 0;
    } else {
      if (x.data[0] != y.data[0]) return x.data[0] < y.data[0];
      x = (str){x.data + 1, x.size - 1};
      y = (str){y.data + 1, y.size - 1};
    }
  }
  return x.size < y.size;
}

static bool is_before(const interface_binding *x, const interface_binding *y) {
  return x->is_written != y->is_written ? y->is_written : name_is_before(x->name, y->name);
}

static void sort(used_bindings *used) {
  for (int k = 1; k < used->all.size; k++) {
    const interface_binding moved = used->all.data[k];
    int n = k;
    for (; n > 0 && is_before(&moved, &used->all.data[n - 1]); n--) used->all.data[n] = used->all.data[n - 1];
    used->all.data[n] = moved;
  }
}

void own_interface_make(arena *a, MlirOperation module) {
  used_bindings used = {.are_of_one = true};
  if (ir_collect(a, module, "hal.interface").size > 0) return;
  collect(a, module, &used);
  MlirOperation function = used.function;
  while (!ir_is_null(function) && !ir_is(function, "func.func")) function = mlirOperationGetParentOperation(function);
  if (ir_is_null(function) || !used.are_of_one) return;
  sort(&used);
  ir_builder b = ir_builder_after(function, a);
  interface_make(&b, used.interface, used.all.size, used.all.data);
}
