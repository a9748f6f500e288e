// The numbers and bytes that MLIR bytecode is made of. Nothing is read behind the end of a cursor's stretch, and every
// count is held against the bytes that are left before memory is taken for it.
#include <stdio.h>

#include "vhlo/bytecode_reader.h"

source_location bytecode_where(const bytecode *b, size_t offset) {
  return (source_location){b->file, 0, offset < INT32_MAX ? (int)offset + 1 : 0};
}

void bytecode_record(bytecode *b, heddle_code code, size_t offset, const char *format, ...) {
  if (!status_is_ok(b->status)) return;
  char message[400];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  b->status = status_at(code, bytecode_where(b, offset), "%s", message);
}

size_t bytecode_left(const bytecode_cursor *c) { return c->end - c->at; }

bool bytecode_byte(bytecode_cursor *c, uint8_t *out) {
  if (c->at == c->end) return bytecode_fail(c->b, c->at, "found the end of the input or section, wanted a byte");
  *out = (uint8_t)c->b->bytes.data[c->at++];
  return true;
}

// The trailing zeros of the first byte say how many bytes follow; eight if it is zero.
bool bytecode_varint(bytecode_cursor *c, uint64_t *out) {
  uint8_t first, next;
  size_t start = c->at;
  if (!bytecode_byte(c, &first)) return false;
  int following = first ? __builtin_ctz(first) : 8;
  if (bytecode_left(c) < (size_t)following)
    return bytecode_fail(c->b, start, "found the end of the input or section inside a number of %d bytes",
                         following + 1);
  uint64_t value = first ? first >> (following + 1) : 0;
  int shift = first ? 7 - following : 0;
  for (int i = 0; i < following; i++) {
    if (!bytecode_byte(c, &next)) return false;
    value |= (uint64_t)next << (shift + 8 * i);
  }
  *out = value;
  return true;
}

// Zigzag: the lowest bit is the sign.
bool bytecode_signed(bytecode_cursor *c, int64_t *out) {
  uint64_t value;
  if (!bytecode_varint(c, &value)) return false;
  *out = (int64_t)((value >> 1) ^ (~(value & 1) + 1));
  return true;
}

bool bytecode_flagged(bytecode_cursor *c, uint64_t *out, bool *flag) {
  uint64_t value;
  if (!bytecode_varint(c, &value)) return false;
  *flag = value & 1;
  *out = value >> 1;
  return true;
}

bool bytecode_count(bytecode_cursor *c, int *out) {
  uint64_t value;
  size_t start = c->at;
  if (!bytecode_varint(c, &value)) return false;
  if (value > bytecode_left(c) || value > INT32_MAX / 2)
    return bytecode_fail(c->b, start, "found a count of %llu with %zu bytes left", (unsigned long long)value,
                         bytecode_left(c));
  *out = (int)value;
  return true;
}

bool bytecode_index_of(bytecode_cursor *c, uint64_t value, int limit, const char *what, int *out) {
  if (value >= (uint64_t)limit)
    return bytecode_fail(c->b, c->at, "found %s %llu, wanted less than %d", what, (unsigned long long)value, limit);
  *out = (int)value;
  return true;
}

bool bytecode_index(bytecode_cursor *c, int limit, const char *what, int *out) {
  uint64_t value;
  return bytecode_varint(c, &value) && bytecode_index_of(c, value, limit, what, out);
}

bool bytecode_take(bytecode_cursor *c, uint64_t size, str *out) {
  if (size > bytecode_left(c))
    return bytecode_fail(c->b, c->at, "found %zu bytes, wanted %llu", bytecode_left(c), (unsigned long long)size);
  *out = (str){c->b->bytes.data + c->at, (size_t)size};
  c->at += (size_t)size;
  return true;
}

bool bytecode_blob(bytecode_cursor *c, str *out) {
  uint64_t size;
  return bytecode_varint(c, &size) && bytecode_take(c, size, out);
}

bool bytecode_alignment(bytecode_cursor *c, uint64_t *out) {
  size_t start = c->at;
  if (!bytecode_varint(c, out)) return false;
  if (*out != 0 && (*out & (*out - 1)) == 0) return true;
  return bytecode_fail(c->b, start, "found an alignment of %llu, wanted a power of two", (unsigned long long)*out);
}

bool bytecode_pad(bytecode_cursor *c, uint64_t alignment) {
  enum { PADDING = 0xcb };
  while (c->at % alignment != 0) {
    uint8_t byte;
    if (!bytecode_byte(c, &byte)) return false;
    if (byte != PADDING) return bytecode_fail(c->b, c->at - 1, "found padding 0x%02x, wanted 0x%02x", byte, PADDING);
  }
  return true;
}

bool bytecode_string(bytecode_cursor *c, str *out) {
  int index;
  if (!bytecode_index(c, c->b->string_count, "string", &index)) return false;
  *out = c->b->strings[index];
  return true;
}

bool bytecode_integers(bytecode_cursor *c, int *count, int64_t **out) {
  if (!bytecode_count(c, count)) return false;
  *out = arena_array(c->b->arena, int64_t, *count);
  for (int i = 0; i < *count; i++)
    if (!bytecode_signed(c, &(*out)[i])) return false;
  return true;
}

// One byte with the number and whether it is aligned, the length, the alignment, then the content.
bool bytecode_section(bytecode_cursor *c, int *id, bytecode_cursor *out) {
  enum { IS_ALIGNED = 0x80 };
  uint8_t byte;
  uint64_t size, alignment = 1;
  str content;
  if (!bytecode_byte(c, &byte) || !bytecode_varint(c, &size)) return false;
  if ((byte & IS_ALIGNED) && !bytecode_alignment(c, &alignment)) return false;
  if (!bytecode_pad(c, alignment)) return false;
  size_t start = c->at;
  if (!bytecode_take(c, size, &content)) return false;
  *id = byte & (IS_ALIGNED - 1);
  *out = (bytecode_cursor){c->b, start, c->at};
  return true;
}

// Up to eight bits stand as they are, wider ones zigzagged; a number of more than 64 bits is counted 64-bit words.
bool bytecode_number(bytecode_cursor *c, int bits, uint64_t *out) {
  if (bits > 64) return bytecode_refuse(c->b, c->at, "found a number of %d bits, wanted at most 64", bits);
  uint8_t byte;
  int64_t value;
  if (bits <= 8) {
    if (!bytecode_byte(c, &byte)) return false;
    *out = byte;
    return true;
  }
  if (!bytecode_signed(c, &value)) return false;
  *out = (uint64_t)value;
  return true;
}

bool bytecode_double(bytecode_cursor *c, double *out) {
  uint64_t bits;
  if (!bytecode_number(c, 64, &bits)) return false;
  memcpy(out, &bits, sizeof *out);
  return true;
}
