// A name stands for one format or several; without a name the first bytes tell.
#include "tools/module_format.h"

#include "hlo/text.h"
#include "import/import.h"
#include "proto/proto.h"

// What a name may stand for: bits of import_format; none: by the looks of the file.
static const struct {
  const char *name;
  unsigned formats;
} names[] = {
    {"auto", 0},
    {"hlo", 1u << IMPORT_HLO_TEXT},
    {"txt", 1u << IMPORT_HLO_TEXT},
    {"pb", 1u << IMPORT_HLO_PROTO},
    {"pbtxt", 1u << IMPORT_HLO_PBTXT},
    {"stablehlo", 1u << IMPORT_MLIR_TEXT | 1u << IMPORT_MLIR_BYTECODE},
    {"mlir", 1u << IMPORT_MLIR_TEXT | 1u << IMPORT_MLIR_BYTECODE},
    {"mhlo", 1u << IMPORT_MLIR_TEXT},
};

static heddle_status read_as(arena *a, const char *path, str bytes, import_format format, given_arguments *given,
                             module **out) {
  literal *result;
  switch (format) {
    case IMPORT_HLO_TEXT: return hlo_parse(a, path, bytes, out);
    case IMPORT_HLO_PROTO: return proto_read(a, path, bytes, out, &given->count, &given->values, &result);
    case IMPORT_HLO_PBTXT: return proto_read_text(a, path, bytes, out, &given->count, &given->values, &result);
    default: return import_module(a, path, bytes, NULL, out);
  }
}

static heddle_status find(const char *flag, const char *format, unsigned *formats) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(format, names[i].name) != 0) continue;
    *formats = names[i].formats;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "found --%s=%s, wanted auto, hlo, pb, pbtxt, stablehlo, mlir or mhlo", flag,
                      format);
}

heddle_status module_format_check(const char *flag, const char *format) {
  unsigned formats;
  return find(flag, format, &formats);
}

heddle_status module_format_read(arena *a, const char *path, str bytes, const char *format, given_arguments *given,
                                 module **out) {
  given_arguments unused;
  if (!given) given = &unused;
  *given = (given_arguments){0};
  const import_format found = import_sniff(bytes);
  unsigned wanted;
  TRY(find("format", format, &wanted));
  if (!wanted || (wanted >> found & 1)) return read_as(a, path, bytes, found, given, out);
  if (wanted & 1u << IMPORT_MLIR_TEXT)
    return status_error(HEDDLE_INVALID, "%s: found %s, wanted StableHLO", path, import_format_name(found));
  return read_as(a, path, bytes, (import_format)__builtin_ctz(wanted), given, out);
}
