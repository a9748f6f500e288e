// Verifiers of the hal and iree operations: what an interface may say, and that a region keeps to it.
#include <mlir-c/BuiltinAttributes.h>

#include "base/str.h"
#include "dialect/hooks.h"
#include "dialect/message.h"

static str text_of(MlirOperation op, const char *name) {
  MlirAttribute attribute = mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute)) return (str){0};
  MlirStringRef value = mlirStringAttrGetValue(attribute);
  return (str){value.data, value.length};
}

static int64_t number_of(MlirOperation op, const char *name) {
  return mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name)));
}

// Whether one of the words, which `|` separates, is this one.
static bool has_word(str words, const char *word) {
  while (words.size > 0) {
    const char *bar = memchr(words.data, '|', words.size);
    const size_t size = bar ? (size_t)(bar - words.data) : words.size;
    if (str_is((str){words.data, size}, word)) return true;
    words = bar ? (str){bar + 1, words.size - size - 1} : (str){0};
  }
  return false;
}

static char *check_access(str access) {
  static const char *const known[] = {"Read", "Write", "Read|Write", "Write|Discard", "Discard|Write"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_is(access, known[i])) return 0;
  return message_format("found access \"" STR_FMT "\", wanted \"Read\", \"Write\", \"Read|Write\" or \"Write|Discard\"",
                        STR_ARG(access));
}

bool hooks_verify_binding(MlirOperation op, char **error) {
  const str type = text_of(op, "type");
  *error = check_access(text_of(op, "access"));
  if (!*error && !str_is(type, "StorageBuffer") && !str_is(type, "UniformBuffer"))
    *error = message_format("found type \"" STR_FMT "\", wanted \"StorageBuffer\" or \"UniformBuffer\"", STR_ARG(type));
  if (!*error && (number_of(op, "set") < 0 || number_of(op, "binding") < 0))
    *error = message_format("set and binding must not be negative");
  return *error == 0;
}

bool hooks_verify_use(MlirOperation op, MlirOperation binding, char **error) {
  *error = 0;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const str operation = {name.data, name.length};
  if (mlirOperationIsNull(binding) || !mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(binding)),
                                                          mlirStringRefCreateFromCString("hal.interface.binding"))) {
    *error = message_format("names a binding that does not exist");
  } else if (str_is(operation, "hal.interface.load.tensor") && !has_word(text_of(binding, "access"), "Read")) {
    *error = message_format("reads a binding whose access is \"" STR_FMT "\"", STR_ARG(text_of(binding, "access")));
  } else if (str_is(operation, "hal.interface.store.tensor") && !has_word(text_of(binding, "access"), "Write")) {
    *error = message_format("writes a binding whose access is \"" STR_FMT "\"", STR_ARG(text_of(binding, "access")));
  }
  return *error == 0;
}
