// Bits of x86-64 are those of Intel's and AMD's manuals under CPUID; registers wider than SSE's count only if the
// system says in XCR0 that it keeps them. Bits of AArch64 are those of Linux's <asm/hwcap.h>.
#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

typedef enum feature_word {
  LEAF_1_ECX,
  LEAF_1_EDX,
  LEAF_7_EBX,
  LEAF_7_ECX,
  LEAF_7_EDX,
  LEAF_7_1_EAX,
  LEAF_7_1_EDX,
  EXTENDED_ECX,
  FEATURE_WORDS
} feature_word;

// What the system has to keep.
typedef enum feature_state { STATE_SSE = 0, STATE_AVX = 6, STATE_AVX512 = 0xe6 } feature_state;

typedef struct feature {
  const char *name;
  feature_word word;
  int bit;
  feature_state state;
} feature;

// Those that code generators choose without being asked by name.
static const feature x86_features[] = {
    {"cx8", LEAF_1_EDX, 8, STATE_SSE},
    {"cmov", LEAF_1_EDX, 15, STATE_SSE},
    {"mmx", LEAF_1_EDX, 23, STATE_SSE},
    {"fxsr", LEAF_1_EDX, 24, STATE_SSE},
    {"sse", LEAF_1_EDX, 25, STATE_SSE},
    {"sse2", LEAF_1_EDX, 26, STATE_SSE},
    {"sse3", LEAF_1_ECX, 0, STATE_SSE},
    {"pclmul", LEAF_1_ECX, 1, STATE_SSE},
    {"ssse3", LEAF_1_ECX, 9, STATE_SSE},
    {"fma", LEAF_1_ECX, 12, STATE_AVX},
    {"cx16", LEAF_1_ECX, 13, STATE_SSE},
    {"sse4.1", LEAF_1_ECX, 19, STATE_SSE},
    {"sse4.2", LEAF_1_ECX, 20, STATE_SSE},
    {"movbe", LEAF_1_ECX, 22, STATE_SSE},
    {"popcnt", LEAF_1_ECX, 23, STATE_SSE},
    {"xsave", LEAF_1_ECX, 26, STATE_SSE},
    {"avx", LEAF_1_ECX, 28, STATE_AVX},
    {"f16c", LEAF_1_ECX, 29, STATE_AVX},
    {"bmi", LEAF_7_EBX, 3, STATE_SSE},
    {"avx2", LEAF_7_EBX, 5, STATE_AVX},
    {"bmi2", LEAF_7_EBX, 8, STATE_SSE},
    {"avx512f", LEAF_7_EBX, 16, STATE_AVX512},
    {"avx512dq", LEAF_7_EBX, 17, STATE_AVX512},
    {"adx", LEAF_7_EBX, 19, STATE_SSE},
    {"avx512ifma", LEAF_7_EBX, 21, STATE_AVX512},
    {"avx512cd", LEAF_7_EBX, 28, STATE_AVX512},
    {"avx512bw", LEAF_7_EBX, 30, STATE_AVX512},
    {"avx512vl", LEAF_7_EBX, 31, STATE_AVX512},
    {"avx512vbmi", LEAF_7_ECX, 1, STATE_AVX512},
    {"avx512vbmi2", LEAF_7_ECX, 6, STATE_AVX512},
    {"gfni", LEAF_7_ECX, 8, STATE_SSE},
    {"vpclmulqdq", LEAF_7_ECX, 10, STATE_AVX},
    {"avx512vnni", LEAF_7_ECX, 11, STATE_AVX512},
    {"avx512bitalg", LEAF_7_ECX, 12, STATE_AVX512},
    {"avx512vpopcntdq", LEAF_7_ECX, 14, STATE_AVX512},
    {"avx512vp2intersect", LEAF_7_EDX, 8, STATE_AVX512},
    {"avx512fp16", LEAF_7_EDX, 23, STATE_AVX512},
    {"avxvnni", LEAF_7_1_EAX, 4, STATE_AVX},
    {"avx512bf16", LEAF_7_1_EAX, 5, STATE_AVX512},
    {"avxifma", LEAF_7_1_EAX, 23, STATE_AVX},
    {"avxvnniint8", LEAF_7_1_EDX, 4, STATE_AVX},
    {"avxneconvert", LEAF_7_1_EDX, 5, STATE_AVX},
    {"avxvnniint16", LEAF_7_1_EDX, 10, STATE_AVX},
    {"sahf", EXTENDED_ECX, 0, STATE_SSE},
    {"lzcnt", EXTENDED_ECX, 5, STATE_SSE},
    {"sse4a", EXTENDED_ECX, 6, STATE_SSE},
    {"xop", EXTENDED_ECX, 11, STATE_AVX},
    {"fma4", EXTENDED_ECX, 16, STATE_AVX},
    {"tbm", EXTENDED_ECX, 21, STATE_SSE},
};

// Of HWCAP; what is not there is not generated.
static const feature arm_features[] = {
    {"fp-armv8", LEAF_1_ECX, 0, STATE_SSE},  {"neon", LEAF_1_ECX, 1, STATE_SSE},     {"lse", LEAF_1_ECX, 8, STATE_SSE},
    {"fullfp16", LEAF_1_ECX, 10, STATE_SSE}, {"dotprod", LEAF_1_ECX, 20, STATE_SSE},
};

typedef struct machine {
  const char *name;
  const feature *features;
  int count;
} machine;

static const machine machines[] = {
    {"x86-64", x86_features, sizeof x86_features / sizeof *x86_features},
    {"aarch64", arm_features, sizeof arm_features / sizeof *arm_features},
};

static const machine *machine_of(const char *name) {
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
    if (strcmp(machines[k].name, name) == 0) return &machines[k];
  return NULL;
}

static const feature *feature_of(const machine *m, str name) {
  for (int k = 0; m && k < m->count; k++)
    if (str_is(name, m->features[k].name)) return &m->features[k];
  return NULL;
}

// --- this machine

#if defined(__x86_64__)

const char *cpu_features_machine(void) { return "x86-64"; }

static void ask(unsigned *words, uint64_t *kept) {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    words[LEAF_1_ECX] = c;
    words[LEAF_1_EDX] = d;
    unsigned low, high;
    if (c >> 27 & 1) {  // XGETBV may be used
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      *kept = (uint64_t)high << 32 | low;
    }
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    words[LEAF_7_EBX] = b;
    words[LEAF_7_ECX] = c;
    words[LEAF_7_EDX] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
      words[LEAF_7_1_EAX] = a;
      words[LEAF_7_1_EDX] = d;
    }
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) words[EXTENDED_ECX] = c;
}

#elif defined(__aarch64__)

const char *cpu_features_machine(void) { return "aarch64"; }

static void ask(unsigned *words, uint64_t *kept) {
  words[LEAF_1_ECX] = (unsigned)getauxval(AT_HWCAP);
  *kept = UINT64_MAX;
}

#else

const char *cpu_features_machine(void) { return "another machine"; }

static void ask(unsigned *words, uint64_t *kept) {
  (void)words;
  (void)kept;
}

#endif

// --- lists

// The next item of a list, without its sign.
static bool next_item(str *list, str *name, bool *is_on) {
  while (list->size && (*list->data == ',' || *list->data == ' ')) *list = (str){list->data + 1, list->size - 1};
  if (!list->size) return false;
  const char *comma = memchr(list->data, ',', list->size);
  const size_t size = comma ? (size_t)(comma - list->data) : list->size;
  *is_on = *list->data == '+';
  const size_t sign = *is_on || *list->data == '-';
  *name = (str){list->data + sign, size - sign};
  *list = (str){list->data + size, list->size - size};
  return true;
}

const char *cpu_features_needed(arena *a, const char *machine, str features) {
  const char *needed = "";
  str name;
  bool is_on;
  while (next_item(&features, &name, &is_on))
    if (is_on && feature_of(machine_of(machine), name))
      needed = arena_printf(a, "%s%s+" STR_FMT, needed, needed[0] ? "," : "", STR_ARG(name));
  return needed;
}

// Lists come from files as well: they may be long.
const char *cpu_features_missing(arena *a, str features) {
  text missing = {0};
  unsigned words[FEATURE_WORDS] = {0};
  uint64_t kept = 0;
  ask(words, &kept);
  str name;
  bool is_on;
  while (next_item(&features, &name, &is_on)) {
    const feature *f = feature_of(machine_of(cpu_features_machine()), name);
    const bool has = f && (words[f->word] >> f->bit & 1) && (kept & f->state) == f->state;
    if (is_on && !has) text_printf(&missing, "%s" STR_FMT, missing.size ? ", " : "", STR_ARG(name));
  }
  const char *names = str_copy(a, text_view(&missing)).data;
  text_free(&missing);
  return names;
}

int cpu_features_count(str features) {
  int count = 0;
  str name;
  bool is_on;
  while (next_item(&features, &name, &is_on)) count += is_on;
  return count;
}
