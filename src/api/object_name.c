// Keywords are those of C23 and C++20 with GNU's own, functions those of C's library: a function of the object would
// take the place of the one that the linking program, or a kernel of the object, calls.
#include "api/object_name.h"

#include <ctype.h>

#include "link/host_functions.h"

static const char *const keywords[] = {
    "alignas",     "alignof",
    "and",         "and_eq",
    "asm",         "auto",
    "bitand",      "bitor",
    "bool",        "break",
    "case",        "catch",
    "char",        "char16_t",
    "char32_t",    "char8_t",
    "class",       "co_await",
    "co_return",   "co_yield",
    "compl",       "concept",
    "const",       "const_cast",
    "consteval",   "constexpr",
    "constinit",   "continue",
    "decltype",    "default",
    "delete",      "do",
    "double",      "dynamic_cast",
    "else",        "enum",
    "explicit",    "export",
    "extern",      "false",
    "float",       "for",
    "friend",      "goto",
    "i386",        "if",
    "inline",      "int",
    "linux",       "long",
    "main",        "mutable",
    "namespace",   "new",
    "noexcept",    "not",
    "not_eq",      "nullptr",
    "operator",    "or",
    "or_eq",       "private",
    "protected",   "public",
    "register",    "reinterpret_cast",
    "requires",    "restrict",
    "return",      "short",
    "signed",      "sizeof",
    "static",      "static_assert",
    "static_cast", "struct",
    "switch",      "template",
    "this",        "thread_local",
    "throw",       "true",
    "try",         "typedef",
    "typeid",      "typename",
    "typeof",      "typeof_unqual",
    "union",       "unix",
    "unsigned",    "using",
    "virtual",     "void",
    "volatile",    "wchar_t",
    "while",       "xor",
    "xor_eq",
};

// Beside those that kernels call (link/host_functions.c).
static const char *const functions[] = {
    "abort",    "abs",     "accept",  "access",      "alarm",    "alloca",    "assert",    "atexit",  "atof",
    "atoi",     "atol",    "bind",    "bsearch",     "calloc",   "clock",     "close",     "connect", "cproj",
    "div",      "drem",    "environ", "errno",       "exec",     "exit",      "exp10",     "fclose",  "fdim",
    "feof",     "fflush",  "fgets",   "fopen",       "fork",     "fprintf",   "fputs",     "fread",   "free",
    "frexp",    "fseek",   "ftell",   "fwrite",      "gamma",    "getc",      "getenv",    "gets",    "ilogb",
    "index",    "ioctl",   "isalnum", "isalpha",     "isdigit",  "isfinite",  "isinf",     "isnan",   "isspace",
    "j0",       "j1",      "jn",      "kill",        "labs",     "ldiv",      "link",      "listen",  "llabs",
    "llrint",   "llround", "logb",    "longjmp",     "lrint",    "lround",    "lseek",     "malloc",  "memchr",
    "memcmp",   "memccpy", "mktime",  "mmap",        "modf",     "nan",       "nextafter", "open",    "pause",
    "perror",   "pipe",    "poll",    "pow10",       "printf",   "putc",      "puts",      "qsort",   "raise",
    "rand",     "random",  "read",    "realloc",     "recv",     "remainder", "remove",    "remquo",  "rename",
    "rindex",   "scalb",   "scalbln", "scalbn",      "scanf",    "select",    "send",      "setjmp",  "setvbuf",
    "shutdown", "signal",  "signbit", "significand", "sleep",    "snprintf",  "socket",    "sprintf", "srand",
    "sscanf",   "stat",    "stderr",  "stdin",       "stdout",   "strcat",    "strchr",    "strcmp",  "strcpy",
    "strdup",   "strlen",  "strncmp", "strncpy",     "strstr",   "strtod",    "strtol",    "sync",    "system",
    "time",     "times",   "tolower", "toupper",     "truncate", "ungetc",    "unlink",    "vprintf", "wait",
    "write",    "y0",      "y1",      "yn",
};

static bool is_among(const char *name, size_t count, const char *const *names) {
  for (size_t k = 0; k < count; k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

#define IS_AMONG(name, list) is_among(name, sizeof(list) / sizeof *(list), list)

// Names of types end in _t in <stdint.h> and in POSIX; none of Heddle's ends in an underscore.
static bool is_taken(const char *name) {
  const size_t size = strlen(name);
  const bool is_ours = strncmp(name, "heddle_", 7) == 0 && name[size - 1] != '_';
  const bool is_type = size > 2 && strcmp(name + size - 2, "_t") == 0;
  return is_type || is_ours || IS_AMONG(name, keywords) || IS_AMONG(name, functions) ||
         host_function_find(str_from(name)) != NULL;
}

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }

const char *object_name_make(arena *a, str module) {
  if (module.size == 0) return "program";
  if (module.size > OBJECT_NAME_LONGEST - 2) module.size = OBJECT_NAME_LONGEST - 2;
  char *name = arena_printf(a, "%s" STR_FMT "_", isdigit((unsigned char)*module.data) ? "_" : "", STR_ARG(module));
  char *end = name + strlen(name) - 1;
  for (char *c = name; c < end; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  *end = 0;
  if (is_taken(name)) *end = '_';
  return name;
}

heddle_status object_name_check(const char *name) {
  bool is_name = is_letter(*name);
  for (const char *c = name; is_name && *c; c++) is_name = is_letter(*c) || isdigit((unsigned char)*c);
  if (!is_name) return status_error(HEDDLE_INVALID, "found --name=%s, wanted a name that C takes", name);
  if (strlen(name) > OBJECT_NAME_LONGEST)
    return status_error(HEDDLE_INVALID, "found --name=%.20s…, wanted at most %d characters", name, OBJECT_NAME_LONGEST);
  if (!is_taken(name)) return status_ok();
  return status_error(HEDDLE_INVALID, "found --name=%s, which C, its library or Heddle's has already", name);
}
