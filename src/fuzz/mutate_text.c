// Changes text by its tokens: numbers near the old ones, words of the same family, lines and items of lists as a whole.
//
// A change that is made wherever the token stands keeps what belongs together in step (an element type and all its
// uses, a dimension and its loops), and is the one that most often gives a valid program of another kind.
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "fuzz/mutate.h"
#include "hlo/attributes.h"
#include "hlo/ops.h"
#include "mlir/print_values.h"
#include "tools/split_mix.h"

enum { MOST_TOKENS = 1 << 15 };

typedef enum token_kind { TOKEN_SPACE, TOKEN_LINE_END, TOKEN_NUMBER, TOKEN_WORD, TOKEN_MARK } token_kind;

typedef struct token {
  token_kind kind;
  str text;
} token;

typedef struct mutation {
  arena *arena;
  VEC(token) tokens;
  uint64_t random;
} mutation;

static int below(mutation *m, int limit) { return limit > 0 ? (int)(split_mix_next(&m->random) % (uint64_t)limit) : 0; }

// --- tokens

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t number_end(str s, size_t at) {
  if (s.data[at] == '-') at++;
  while (at < s.size && is_digit(s.data[at])) at++;
  if (at + 1 < s.size && s.data[at] == '.' && is_digit(s.data[at + 1]))
    for (at++; at < s.size && is_digit(s.data[at]);) at++;
  size_t exponent = at + 1;
  if (at < s.size && (s.data[at] == 'e' || s.data[at] == 'E')) {
    if (exponent < s.size && (s.data[exponent] == '-' || s.data[exponent] == '+')) exponent++;
    if (exponent < s.size && is_digit(s.data[exponent]))
      for (at = exponent; at < s.size && is_digit(s.data[at]);) at++;
  }
  return at;
}

static size_t word_end(str s, size_t at) {
  for (at++; at < s.size; at++) {
    char c = s.data[at];
    if (!is_letter(c) && !is_digit(c) && c != '.' && c != '$' && c != '-') break;
    if (c == '-' && (at + 1 == s.size || !is_letter(s.data[at + 1]))) break;  // `->`, `a-1`
  }
  return at;
}

// The end of the token at `at`, and its kind. The `x` between dims (4x2xf32) and the `_` of windows (0_1x2) are marks.
static size_t token_end(str s, size_t at, token_kind previous, token_kind *kind) {
  const char c = s.data[at], next = at + 1 < s.size ? s.data[at + 1] : 0;
  const bool is_sigil = c == '%' || c == '@' || c == '#' || c == '!' || c == '^';
  *kind = TOKEN_MARK;
  if (c == '\n') return *kind = TOKEN_LINE_END, at + 1;
  if (c == ' ' || c == '\t') return *kind = TOKEN_SPACE, at + 1;
  if (previous == TOKEN_NUMBER && (c == 'x' || c == '_')) return at + 1;
  if (is_digit(c) || (c == '-' && is_digit(next))) return *kind = TOKEN_NUMBER, number_end(s, at);
  if (is_letter(c) || (is_sigil && (is_letter(next) || is_digit(next)))) return *kind = TOKEN_WORD, word_end(s, at);
  return at + 1;
}

static void tokenize(mutation *m, str s) {
  token_kind kind = TOKEN_SPACE;
  for (size_t at = 0; at < s.size && m->tokens.size < MOST_TOKENS;) {
    size_t end = token_end(s, at, kind, &kind);
    if (m->tokens.size == MOST_TOKENS - 1) end = s.size;
    vec_push(m->arena, &m->tokens, (token){kind, {s.data + at, end - at}});
    at = end;
  }
}

// A random token of the kind, or -1.
static int pick(mutation *m, token_kind kind) {
  const int count = m->tokens.size, start = below(m, count);
  for (int k = 0; k < count; k++)
    if (m->tokens.data[(start + k) % count].kind == kind) return (start + k) % count;
  return -1;
}

static void replace(mutation *m, int position, str text, bool everywhere) {
  const token old = m->tokens.data[position];
  for (int k = 0; k < m->tokens.size; k++) {
    token *t = &m->tokens.data[k];
    if (k == position || (everywhere && t->kind == old.kind && str_equal(t->text, old.text))) t->text = text;
  }
}

// --- numbers and words

static const char *const extreme_numbers[] = {"0",          "1",          "-1",         "2",
                                              "127",        "128",        "65536",      "2147483647",
                                              "2147483648", "4294967296", "1073741824", "9223372036854775807",
                                              "1e30",       "nan",        "inf",        "-9223372036854775808"};

static bool change_number(mutation *m, bool everywhere) {
  const int position = pick(m, TOKEN_NUMBER);
  if (position < 0) return false;
  int64_t old = 0;
  if (sscanf(arena_strdup(m->arena, m->tokens.data[position].text.data, m->tokens.data[position].text.size),
             "%18" SCNd64, &old) != 1)
    return false;
  const int64_t near[] = {old + 1, old - 1, old * 2, old / 2, old + 2, -old};
  str text;
  switch (below(m, 8)) {
    case 0: text = str_from(extreme_numbers[below(m, (int)(sizeof extreme_numbers / sizeof *extreme_numbers))]); break;
    case 1:
    case 2:
    case 3: text = m->tokens.data[pick(m, TOKEN_NUMBER)].text; break;
    default: text = str_from(arena_printf(m->arena, "%" PRId64, near[below(m, 6)])); break;
  }
  replace(m, position, text, everywhere);
  return true;
}

static bool is_mlir_type(str word) {
  for (int t = DTYPE_PRED; t <= DTYPE_F64; t++)
    if (str_is(word, mlir_scalar_name((dtype)t))) return true;
  return false;
}

static str any_type(mutation *m, bool is_mlir) {
  const dtype t = (dtype)(DTYPE_PRED + below(m, (is_mlir ? DTYPE_F64 : DTYPE_COUNT - 1) - DTYPE_PRED + 1));
  return str_from(is_mlir ? mlir_scalar_name(t) : dtypes[t].name);
}

static bool is_hlo_type(str word) {
  for (int t = DTYPE_PRED; t < DTYPE_COUNT; t++)
    if (str_is(word, dtypes[t].name)) return true;
  return false;
}

// Another opcode, three times of four one that is of the same kind to shape inference.
static str other_opcode(mutation *m, hlo_opcode old) {
  const bool alike = below(m, 4) != 0;
  const int start = below(m, HLO_OPCODE_COUNT);
  for (int k = 0; k < HLO_OPCODE_COUNT; k++) {
    const hlo_op_info *new = &hlo_ops[(start + k) % HLO_OPCODE_COUNT], *was = &hlo_ops[old];
    if (!alike || (new->arity == was->arity &&new->shape_rule == was->shape_rule)) return str_from(new->text);
  }
  return str_from(hlo_ops[old].text);
}

static bool is_attribute(str word) {
  for (int k = 0; k < HLO_ATTRIBUTE_COUNT; k++)
    if (str_is(word, hlo_attribute_infos[k].text)) return true;
  return false;
}

static bool is_same_family(str a, str b) {
  const bool has_dot = memchr(a.data, '.', a.size) != NULL;
  if (!is_letter(a.data[0]) || !is_letter(b.data[0])) return a.data[0] == b.data[0];
  return has_dot == (memchr(b.data, '.', b.size) != NULL);
}

// Another word of the text with the same sigil: an operand for an operand, a computation for a computation.
static str other_word(mutation *m, str old) {
  for (int tries = 0; tries < 16; tries++) {
    const str word = m->tokens.data[pick(m, TOKEN_WORD)].text;
    if (is_same_family(word, old) && !str_equal(word, old)) return word;
  }
  return old;
}

static bool change_word(mutation *m, bool everywhere) {
  const int position = pick(m, TOKEN_WORD);
  if (position < 0) return false;
  const str old = m->tokens.data[position].text;
  const hlo_opcode opcode = hlo_op_from_text(old);
  str new;
  if (opcode != HLO_OPCODE_COUNT) new = other_opcode(m, opcode);
  else if (ir_opcode_from_text(old) != IR_OP_UNKNOWN)
    new = below(m, 2) ? other_word(m, old) : str_from(ir_opcode_text((ir_opcode)below(m, IR_OP_COUNT)));
  else if (is_attribute(old)) new = str_from(hlo_attribute_infos[below(m, HLO_ATTRIBUTE_COUNT)].text);
  else new = other_word(m, old);
  replace(m, position, new, everywhere);
  return true;
}

static bool change_type(mutation *m, bool everywhere) {
  const int count = m->tokens.size, start = below(m, count);
  for (int k = 0; k < count; k++) {
    const int position = (start + k) % count;
    const token t = m->tokens.data[position];
    if (t.kind != TOKEN_WORD) continue;
    const bool is_hlo = is_hlo_type(t.text), is_mlir = is_mlir_type(t.text);
    if (!is_hlo && !is_mlir) continue;
    const bool to_mlir = is_mlir && (!is_hlo || below(m, 2));
    replace(m, position, any_type(m, to_mlir), everywhere);
    return true;
  }
  return false;
}

// --- lines and items: stretches [first, end) of tokens

typedef struct stretch {
  int first, end;
} stretch;

static stretch line_at(const mutation *m, int position) {
  stretch s = {position, position};
  while (s.first > 0 && m->tokens.data[s.first - 1].kind != TOKEN_LINE_END) s.first--;
  while (s.end < m->tokens.size && m->tokens.data[s.end].kind != TOKEN_LINE_END) s.end++;
  if (s.end < m->tokens.size) s.end++;
  return s;
}

static bool is_mark(const mutation *m, int k, const char *marks) {
  const token t = m->tokens.data[k];
  return t.kind == TOKEN_MARK && t.text.size == 1 && strchr(marks, t.text.data[0]) != NULL;
}

// Between commas or brackets, those of inner lists skipped.
static stretch item_at(const mutation *m, int position) {
  stretch s = {position, position};
  for (int depth = 0; s.first > 0; s.first--) {
    if (is_mark(m, s.first - 1, ")]}>")) depth++;
    if (is_mark(m, s.first - 1, "([{<") && --depth < 0) break;
    if (depth == 0 && is_mark(m, s.first - 1, ",\n")) break;
  }
  for (int depth = 0; s.end < m->tokens.size; s.end++) {
    if (is_mark(m, s.end, "([{<")) depth++;
    if (is_mark(m, s.end, ")]}>") && --depth < 0) break;
    if (depth == 0 && is_mark(m, s.end, ",\n")) break;
  }
  return s;
}

// Puts tokens [from.first, from.end), with a comma in front where asked for, in place of [to.first, to.end).
static void splice(mutation *m, stretch to, stretch from, bool comma) {
  mutation made = {.arena = m->arena};
  for (int k = 0; k < to.first; k++) vec_push(m->arena, &made.tokens, m->tokens.data[k]);
  if (comma) vec_push(m->arena, &made.tokens, (token){TOKEN_MARK, STR(", ")});
  for (int k = from.first; k < from.end; k++) vec_push(m->arena, &made.tokens, m->tokens.data[k]);
  for (int k = to.end; k < m->tokens.size; k++) vec_push(m->arena, &made.tokens, m->tokens.data[k]);
  m->tokens.data = made.tokens.data;
  m->tokens.size = made.tokens.size;
  m->tokens.capacity = made.tokens.capacity;
}

static bool change_structure(mutation *m) {
  const int here = below(m, m->tokens.size), there = below(m, m->tokens.size);
  const stretch line = line_at(m, here), item = item_at(m, here), other = item_at(m, there);
  const stretch nothing = {0, 0};
  switch (below(m, 6)) {
    case 0: splice(m, line, nothing, false); break;
    case 1: splice(m, (stretch){line.first, line.first}, line_at(m, there), false); break;
    case 2: splice(m, item, nothing, false); break;
    case 3: splice(m, (stretch){item.end, item.end}, item, true); break;
    case 4: splice(m, (stretch){item.end, item.end}, other, true); break;
    default: splice(m, item, other, false); break;
  }
  return true;
}

// ---

static size_t write_back(const mutation *m, uint8_t *data, size_t max_size) {
  size_t size = 0;
  text out = {0};
  for (int k = 0; k < m->tokens.size; k++) text_append(&out, m->tokens.data[k].text);
  if (out.size <= max_size) {
    size = out.size;
    if (size > 0) memcpy(data, out.data, size);
  }
  text_free(&out);
  return size;
}

static bool change(mutation *m) {
  const bool everywhere = below(m, 2);
  switch (below(m, 8)) {
    case 0:
    case 1:
    case 2: return change_number(m, everywhere);
    case 3:
    case 4: return change_type(m, below(m, 4) != 0);
    case 5:
    case 6: return change_word(m, everywhere);
    default: return change_structure(m);
  }
}

size_t mutate_text(uint8_t *data, size_t size, size_t max_size, uint64_t seed) {
  mutation m = {.arena = arena_create(), .random = seed};
  tokenize(&m, str_copy(m.arena, (str){(const char *)data, size}));
  for (int tries = 0; tries < 8 && m.tokens.size > 0; tries++)
    if (change(&m)) break;
  const size_t made = write_back(&m, data, max_size);
  arena_destroy(m.arena);
  return made ? made : size;
}

size_t mutate_text_with(uint8_t *data, size_t size, const uint8_t *other, size_t other_size, size_t max_size,
                        uint64_t seed) {
  mutation m = {.arena = arena_create(), .random = seed};
  tokenize(&m, str_copy(m.arena, (str){(const char *)data, size}));
  const int own = m.tokens.size;
  tokenize(&m, str_copy(m.arena, (str){(const char *)other, other_size}));
  size_t made = 0;
  if (own > 0 && m.tokens.size > own) {
    const stretch taken = line_at(&m, own + below(&m, m.tokens.size - own));
    stretch to = line_at(&m, below(&m, own));
    if (to.end > own) to.end = own;
    if (below(&m, 2)) to.end = to.first;
    const int tail = m.tokens.size - own;
    splice(&m, to, taken, false);
    m.tokens.size -= tail;
    made = write_back(&m, data, max_size);
  }
  arena_destroy(m.arena);
  return made ? made : size;
}
