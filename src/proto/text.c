// Protocol buffers as text.
//
// protobuf-c has no text format, but its descriptors say all one needs: each field's name, type, label and place in the
// struct. The reader is a small recursive descent over characters; what it recurses into is bounded.
#include "proto/text.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/caret.h"
#include "proto/wire.h"

enum { MAX_FIELDS = 128 };

typedef struct source {
  arena *arena;
  const char *file;
  str text;
  size_t at;
} source;

// --- characters

static char char_at(const source *s, size_t at) { return at < s->text.size ? s->text.data[at] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_word_start(c) || is_digit(c); }

static source_location where(const source *s, size_t at) {
  source_location l = {s->file, 1, 1};
  for (size_t i = 0; i < at && i < s->text.size; i++) {
    l.column++;
    if (s->text.data[i] != '\n') continue;
    l.line++;
    l.column = 1;
  }
  return l;
}

static void skip_blank(source *s) {
  for (; s->at < s->text.size; s->at++) {
    char c = s->text.data[s->at];
    if (c == '#') {
      const char *newline = memchr(s->text.data + s->at, '\n', s->text.size - s->at);
      s->at = newline ? (size_t)(newline - s->text.data) : s->text.size;
      if (!newline) return;
    } else if (!c || !strchr(" \t\n\r\f\v", c)) {
      return;
    }
  }
}

// The next character that is no blank; '\0' at the end.
static char peek(source *s) {
  skip_blank(s);
  return char_at(s, s->at);
}

static bool take(source *s, char c) {
  if (peek(s) != c || s->at >= s->text.size) return false;
  s->at++;
  return true;
}

static heddle_status unexpected(source *s, const char *wanted) {
  if (peek(s) == '\0' && s->at >= s->text.size)
    return status_at(HEDDLE_INVALID, where(s, s->at), "found the end, wanted %s", wanted);
  size_t end = s->at;
  while (is_word(char_at(s, end)) && end - s->at < 40) end++;
  if (end == s->at) end++;
  return status_at(HEDDLE_INVALID, where(s, s->at), "found '%.*s', wanted %s", (int)(end - s->at), s->text.data + s->at,
                   wanted);
}

static str take_word(source *s) {
  bool is_there = is_word_start(peek(s));
  size_t start = s->at;
  while (is_there && is_word(char_at(s, s->at))) s->at++;
  return (str){s->text.data + start, s->at - start};
}

// A number's characters, its sign included; a word behind a sign too (`-inf`).
static str take_number(source *s) {
  bool is_negative = peek(s) == '-';
  size_t start = s->at;
  if (is_negative) s->at++;
  skip_blank(s);
  size_t digits = s->at;
  for (; s->at < s->text.size; s->at++) {
    char c = char_at(s, s->at), before = (char)(s->at > digits ? char_at(s, s->at - 1) | 0x20 : 0);
    bool is_exponent = (c == '-' || c == '+') && before == 'e' && (char_at(s, digits + 1) | 0x20) != 'x';
    if (!is_word(c) && c != '.' && !is_exponent) break;
  }
  return (str){s->text.data + start, s->at > digits ? s->at - start : 0};
}

// --- strings

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint32_t take_digits(source *s, int base, int most) {
  uint32_t value = 0;
  for (int n = 0; n < most; n++, s->at++) {
    int digit = hex_digit(char_at(s, s->at));
    if (digit < 0 || digit >= base) break;
    value = value * (uint32_t)base + (uint32_t)digit;
  }
  return value;
}

static void append_utf8(text *out, uint32_t c) {
  if (c < 0x80) {
    text_putc(out, (char)c);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text_putc(out, (char)((0xf80 >> more & 0xff) | c >> (6 * more)));
  while (more-- > 0) text_putc(out, (char)(0x80 | (c >> (6 * more) & 0x3f)));
}

// Behind a backslash.
static heddle_status take_escape(source *s, text *out) {
  static const char letters[] = "nrtabfv\\'\"?", values[] = "\n\r\t\a\b\f\v\\'\"?";
  char c = char_at(s, s->at);
  const char *letter = c ? strchr(letters, c) : NULL;
  size_t start = s->at;
  if (letter) {
    s->at++;
    text_putc(out, values[letter - letters]);
  } else if (c >= '0' && c <= '7') {
    text_putc(out, (char)take_digits(s, 8, 3));
  } else if ((c | 0x20) == 'x' || (c | 0x20) == 'u') {
    s->at++;
    uint32_t value = take_digits(s, 16, c == 'u' ? 4 : c == 'U' ? 8 : 2);
    if (s->at == start + 1 || value > 0x10ffff)
      return status_at(HEDDLE_INVALID, where(s, start - 1), "found an escape without a character");
    if ((c | 0x20) == 'x') text_putc(out, (char)value);
    else append_utf8(out, value);
  } else {
    return status_at(HEDDLE_INVALID, where(s, start - 1), "found an unknown escape");
  }
  return status_ok();
}

// Strings next to each other are one.
static heddle_status take_strings(source *s, text *out) {
  for (char quote = peek(s); quote == '"' || quote == '\''; quote = peek(s)) {
    size_t start = s->at++;
    while (char_at(s, s->at) != quote || s->at >= s->text.size) {
      if (s->at >= s->text.size || char_at(s, s->at) == '\n')
        return status_at(HEDDLE_INVALID, where(s, start), "found a string that never ends");
      char c = char_at(s, s->at++);
      if (c == '\\') TRY(take_escape(s, out));
      else text_putc(out, c);
    }
    s->at++;
  }
  return status_ok();
}

static heddle_status take_string(source *s, str *out) {
  text t = {0};
  if (peek(s) != '"' && peek(s) != '\'') return unexpected(s, "a string");
  heddle_status status = take_strings(s, &t);
  *out = (str){arena_strdup(s->arena, t.size ? t.data : "", t.size), t.size};
  text_free(&t);
  return status;
}

// --- scalars

static heddle_status take_integer(source *s, bool is_signed, int bits, int64_t *out) {
  size_t start = (peek(s), s->at);
  str digits = take_number(s);
  bool is_negative = digits.size && digits.data[0] == '-';
  const char *copy = arena_strdup(s->arena, digits.data + is_negative, digits.size - is_negative);
  while (*copy == ' ' || *copy == '\t') copy++;
  char *end = NULL;
  errno = 0;
  uint64_t value = strtoull(copy, &end, 0);
  uint64_t limit = is_signed ? ((uint64_t)1 << (bits - 1)) - !is_negative : is_negative ? 0 : UINT64_MAX >> (64 - bits);
  if (!is_digit(*copy) || *end || errno || value > limit)
    return status_at(HEDDLE_INVALID, where(s, start), "found '" STR_FMT "', wanted %s integer of %d bits",
                     STR_ARG(digits), is_signed ? "an" : "an unsigned", bits);
  *out = (int64_t)(is_negative ? 0 - value : value);
  return status_ok();
}

static heddle_status take_double(source *s, double *out) {
  size_t start = (peek(s), s->at);
  str digits = take_number(s);
  bool is_negative = digits.size && digits.data[0] == '-';
  char *copy = arena_strdup(s->arena, digits.data + is_negative, digits.size - is_negative), *end = NULL;
  while (*copy == ' ' || *copy == '\t') copy++;
  size_t size = strlen(copy);
  bool is_named = strcasecmp(copy, "inf") == 0 || strcasecmp(copy, "infinity") == 0 || strcasecmp(copy, "nan") == 0;
  bool is_number = is_digit(*copy) || *copy == '.';
  if (is_number && size > 1 && (copy[size - 1] | 0x20) == 'f' && (copy[1] | 0x20) != 'x') copy[size - 1] = '\0';
  *out = strtod(copy, &end);
  if ((!is_named && !is_number) || end == copy || *end)
    return status_at(HEDDLE_INVALID, where(s, start), "found '" STR_FMT "', wanted a number", STR_ARG(digits));
  if (is_negative) *out = -*out;
  return status_ok();
}

static heddle_status take_bool(source *s, protobuf_c_boolean *out) {
  static const char *const names[] = {"false", "true", "False", "True", "f", "t", "0", "1"};
  size_t start = (peek(s), s->at);
  str word = is_digit(peek(s)) ? take_number(s) : take_word(s);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!str_is(word, names[i])) continue;
    *out = i % 2;
    return status_ok();
  }
  s->at = start;
  return unexpected(s, "true or false");
}

static heddle_status take_enum(source *s, const ProtobufCEnumDescriptor *type, int *out) {
  int64_t number = 0;
  size_t start = (peek(s), s->at);
  if (!is_word_start(peek(s))) {
    TRY(take_integer(s, true, 32, &number));
    *out = (int)number;
    return status_ok();
  }
  str word = take_word(s);
  for (unsigned i = 0; i < type->n_values; i++) {
    if (!str_is(word, type->values[i].name)) continue;
    *out = type->values[i].value;
    return status_ok();
  }
  return status_at(HEDDLE_INVALID, where(s, start), "found '" STR_FMT "', which is no %s", STR_ARG(word),
                   type->short_name);
}

// --- fields

size_t proto_entry_size(const ProtobufCFieldDescriptor *f) {
  switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    default: return 4;
  }
}

static heddle_status take_number_field(source *s, const ProtobufCFieldDescriptor *f, void *to) {
  bool is_64_bit = proto_entry_size(f) == 8;
  int64_t integer = 0;
  double real = 0;
  switch (f->type) {
    case PROTOBUF_C_TYPE_DOUBLE: return take_double(s, to);
    case PROTOBUF_C_TYPE_FLOAT:
      TRY(take_double(s, &real));
      *(float *)to = (float)real;
      return status_ok();
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: TRY(take_integer(s, false, is_64_bit ? 64 : 32, &integer)); break;
    default: TRY(take_integer(s, true, is_64_bit ? 64 : 32, &integer)); break;
  }
  if (is_64_bit) *(int64_t *)to = integer;
  else *(uint32_t *)to = (uint32_t)integer;
  return status_ok();
}

static heddle_status take_scalar(source *s, const ProtobufCFieldDescriptor *f, void *to) {
  str string = {0};
  switch (f->type) {
    case PROTOBUF_C_TYPE_BOOL: return take_bool(s, to);
    case PROTOBUF_C_TYPE_ENUM: return take_enum(s, f->descriptor, to);
    case PROTOBUF_C_TYPE_STRING:
      TRY(take_string(s, &string));
      *(char **)to = (char *)(uintptr_t)string.data;
      return status_ok();
    case PROTOBUF_C_TYPE_BYTES:
      TRY(take_string(s, &string));
      *(ProtobufCBinaryData *)to = (ProtobufCBinaryData){string.size, (uint8_t *)(uintptr_t)string.data};
      return status_ok();
    default: return take_number_field(s, f, to);
  }
}

static heddle_status take_message(source *s, ProtobufCMessage *m, char close, int depth);

// NOLINTNEXTLINE(misc-no-recursion): depth is checked
static heddle_status take_value(source *s, const ProtobufCFieldDescriptor *f, void *to, int depth) {
  if (f->type != PROTOBUF_C_TYPE_MESSAGE) return take_scalar(s, f, to);
  char open = peek(s);
  if (open != '{' && open != '<') return unexpected(s, "'{'");
  if (depth >= HLO_PROTO_MAX_NESTING)
    return status_at(HEDDLE_INVALID, where(s, s->at), "messages nest more than %d deep", HLO_PROTO_MAX_NESTING);
  s->at++;
  ProtobufCMessage *m = proto_wire_create(s->arena, f->descriptor);
  *(ProtobufCMessage **)to = m;
  return take_message(s, m, open == '{' ? '}' : '>', depth + 1);
}

// Room for one more element: lists double, at the powers of two.
static void *append(source *s, const ProtobufCFieldDescriptor *f, ProtobufCMessage *m) {
  size_t *count = (size_t *)(void *)((char *)m + f->quantifier_offset), size = proto_entry_size(f);
  void **list = (void **)(void *)((char *)m + f->offset);
  if ((*count & (*count - 1)) == 0)
    *list = arena_grow(s->arena, *list, *count * size, (*count ? *count * 2 : 1) * size);
  return (char *)*list + (*count)++ * size;
}

// NOLINTNEXTLINE(misc-no-recursion): depth is checked
static heddle_status take_repeated(source *s, const ProtobufCFieldDescriptor *f, ProtobufCMessage *m, int depth) {
  if (!take(s, '[')) return take_value(s, f, append(s, f, m), depth);
  if (take(s, ']')) return status_ok();
  for (;;) {
    TRY(take_value(s, f, append(s, f, m), depth));
    if (take(s, ']')) return status_ok();
    if (!take(s, ',')) return unexpected(s, "',' or ']'");
  }
}

// NOLINTNEXTLINE(misc-no-recursion): depth is checked
static heddle_status take_field(source *s, const ProtobufCFieldDescriptor *f, ProtobufCMessage *m, int depth) {
  if (f->label == PROTOBUF_C_LABEL_REPEATED) return take_repeated(s, f, m, depth);
  if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) *(uint32_t *)(void *)((char *)m + f->quantifier_offset) = f->id;
  return take_value(s, f, (char *)m + f->offset, depth);
}

// Passes over the value of a field nobody knows: scalars, lists and messages.
static heddle_status skip_value(source *s) {
  char closing[HLO_PROTO_MAX_NESTING];
  int depth = 0;
  text ignored = {0};
  do {
    char c = peek(s);
    heddle_status status = status_ok();
    size_t start = s->at;
    if (c == '"' || c == '\'') {
      status = take_strings(s, &ignored);
    } else if (c == '{' || c == '<' || c == '[') {
      if (depth == HLO_PROTO_MAX_NESTING) status = unexpected(s, "values that nest less");
      else closing[depth++] = (char)(c == '{' ? '}' : c == '<' ? '>' : ']');
      s->at++;
    } else if (depth && c == closing[depth - 1]) {
      depth--;
      s->at++;
    } else if (depth && c && strchr(":,;./", c)) {
      s->at++;
    } else if (!take_number(s).size) {
      s->at = start;
      status = unexpected(s, "a value");
    }
    text_free(&ignored);
    ignored = (text){0};
    TRY(status);
  } while (depth);
  return status_ok();
}

// Fields up to the closing bracket, or to the end of the text where there is none.
// NOLINTNEXTLINE(misc-no-recursion): depth is checked
static heddle_status take_message(source *s, ProtobufCMessage *m, char close, int depth) {
  const ProtobufCMessageDescriptor *type = m->descriptor;
  uint64_t seen[MAX_FIELDS / 64] = {0};
  for (;;) {
    char c = peek(s);
    if (s->at >= s->text.size && !close) return status_ok();
    if (close && take(s, close)) return status_ok();
    if (c == ',' || c == ';') {
      s->at++;
      continue;
    }
    size_t start = s->at;
    bool is_extension = c == '[';
    str name = is_extension ? (str){0} : take_word(s);
    if (is_extension) TRY(skip_value(s));
    else if (!name.size) return unexpected(s, close ? "a field or the closing bracket" : "a field");
    const char *copy = arena_strdup(s->arena, name.data, name.size);
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(type, copy);
    bool has_colon = take(s, ':');
    if (!has_colon && f && f->type != PROTOBUF_C_TYPE_MESSAGE) return unexpected(s, "':'");
    if (!f) {
      TRY(skip_value(s));
      continue;
    }
    size_t index = (size_t)(f - type->fields);
    if (index < MAX_FIELDS && f->label != PROTOBUF_C_LABEL_REPEATED && (seen[index / 64] >> (index % 64) & 1))
      return status_at(HEDDLE_INVALID, where(s, start), "found %s twice", f->name);
    if (index < MAX_FIELDS) seen[index / 64] |= (uint64_t)1 << (index % 64);
    TRY(take_field(s, f, m, depth));
  }
}

heddle_status proto_text_read(arena *a, const char *file, str text, const ProtobufCMessageDescriptor *type,
                              ProtobufCMessage **out) {
  source s = {a, file, text, 0};
  *out = proto_wire_create(a, type);
  return caret_add(take_message(&s, *out, '\0', 1), text);
}

bool proto_text_has_field(str text, const char *name) {
  arena *scratch = arena_create();
  source s = {scratch, "", text, 0};
  heddle_status status = status_ok();
  bool is_found = false;
  while (status_is_ok(status) && !is_found && peek(&s)) {
    if (take(&s, ',') || take(&s, ';')) continue;
    str word = take_word(&s);
    bool has_colon = take(&s, ':');
    char c = peek(&s);
    if (!word.size || (!has_colon && c != '{' && c != '<')) break;
    is_found = str_is(word, name);
    if (!is_found) status = skip_value(&s);
  }
  heddle_status_free(status);
  arena_destroy(scratch);
  return is_found;
}

bool proto_text_starts_with(str text, const char *name) {
  arena *scratch = arena_create();
  source s = {scratch, "", text, 0};
  bool is_field = str_is(take_word(&s), name);
  if (is_field && take(&s, ':')) {
    is_field = peek(&s) && !is_word_start(peek(&s));
  } else if (is_field && (take(&s, '{') || take(&s, '<'))) {
    bool has_name = take_word(&s).size > 0;
    is_field = has_name ? take(&s, ':') || take(&s, '{') || take(&s, '<') : s.at >= s.text.size;
  } else {
    is_field = false;
  }
  arena_destroy(scratch);
  return is_field;
}
