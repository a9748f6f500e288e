// Tokens of HLO text, one at a time; no token is stored anywhere but with its reader.
//
// A lexer is a small value: copying it is how one looks ahead.
#ifndef HEDDLE_HLO_LEXER_H_
#define HEDDLE_HLO_LEXER_H_

#include "base/status.h"
#include "base/str.h"

// A punctuation mark is its own character code: kind == '{'.
typedef enum token_kind {
  TOKEN_END = 256,
  TOKEN_BAD,       // a byte no token starts with, or (then `problem` says so) a string or comment without end
  TOKEN_WORD,      // a name without `%`, a keyword, an opcode, an element type
  TOKEN_NAME,      // `%name`; text is without the `%`
  TOKEN_NUMBER,    // starts with a digit, or a sign before a digit, `.`, `inf` or `nan`
  TOKEN_STRING,    // text is between the quotes, escapes untouched
  TOKEN_ARROW,     // ->
  TOKEN_AT_MOST,   // <=
  TOKEN_ELLIPSIS,  // ...
} token_kind;

typedef struct token {
  int kind;  // token_kind or a character
  str text;
  size_t start, end;  // offsets in the source, `%` and quotes included
  int line, column;   // 1-based, column in bytes
  const char *problem;
} token;

typedef struct lexer {
  str source;
  size_t at;          // where the next token is looked for
  int line;           // of `at`, 1-based
  size_t line_start;  // offset of that line's first byte
} lexer;

lexer lexer_create(str source);
token lexer_next(lexer *l);

// Moves to `offset`, which is not before l->at, counting lines.
void lexer_move(lexer *l, size_t offset);

// End of the value that starts at l->at, read without tokens: up to a comma, white space or a closing bracket that no
// bracket of the value opened; strings and comments inside are passed over. Does not move. *problem is null or says
// what was never closed.
size_t lexer_value_end(const lexer *l, const char **problem);

// The string `text` of a TOKEN_STRING with its escapes resolved, in the arena.
str lexer_unescape(arena *a, str text);

#endif
