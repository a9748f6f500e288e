// What the files of the HLO parser share: parser*.c only.
//
// Every parse function returns false after it has recorded a diagnostic; the caller unwinds to the nearest instruction
// or computation, from where parser.c goes on to find further errors.
#ifndef HEDDLE_HLO_PARSER_H_
#define HEDDLE_HLO_PARSER_H_

#include "hlo/lexer.h"
#include "hlo/module.h"

// Shapes, nested instructions and inline computations nest at most this deep, so that the C stack is bounded.
enum { PARSER_MAX_DEPTH = 256, PARSER_MAX_ERRORS = 10 };

typedef struct diagnostic {
  size_t offset;
  source_location where;
  const char *message;
} diagnostic;

// A computation by name, or one that was written in place.
typedef struct called_ref {
  token where;
  computation *inlined;
} called_ref;

typedef VEC(called_ref) called_list;

// An operand by name, with the shape if one was written before it, or an instruction written in place.
typedef struct operand_ref {
  token where;
  const shape *given;
  instruction *inlined;
} operand_ref;

typedef VEC(operand_ref) operand_list;
typedef VEC(token) token_list;

// An instruction whose operands wait for the end of the computation.
typedef struct pending_instruction {
  instruction *instruction;
  operand_list operands;
  token_list control_predecessors;
  called_list called;
  token where;      // its opcode
  bool is_unnamed;  // named once all other names are known
  bool is_operand;  // written in place of an operand
} pending_instruction;

// The computation being read.
typedef struct frame {
  computation *computation;
  str_map names;    // instruction by name; null for one that failed to parse, to report it once only
  ptr_map numbers;  // parameter by number
  VEC(pending_instruction) pending;
  token root_token;
  bool has_root;
  bool is_open;  // instructions without a computation around them: unknown operands with a shape become parameters
} frame;

// Calls are resolved at the end of the module, as computations may stand in any order.
typedef struct pending_call {
  instruction *instruction;
  called_list called;
} pending_call;

typedef struct parser {
  arena *arena;     // the module's
  arena *scratch;   // until the end of parsing
  lexer lexer;      // behind `tok`
  token tok;        // the current token, not yet taken
  size_t last_end;  // end of the token before it
  const char *file;
  const hlo_attributes *defaults;  // of an instruction without any
  module *module;
  str_map computations;
  VEC(pending_call) calls;
  VEC(diagnostic) diagnostics;
  computation *last;  // the last one in the text, the entry where none is marked
  int error_count;
  bool is_value_next;  // behind the shape being read
  bool is_hopeless;    // nothing behind the last error can be read
  int depth;
  int elided_count;       // elided constants so far
  int64_t elided_left;    // bytes of elided constants still accepted
  heddle_status failure;  // other than a diagnostic: out of memory
} parser;

void parser_start(parser *p, arena *a, arena *scratch, const char *file, str source);

// Tokens. All of these look at or take p->tok.
void parser_advance(parser *p);
token parser_peek(const parser *p);                           // the token behind the current one
bool parser_take(parser *p, int kind);                        // takes it if it is there
bool parser_expect(parser *p, int kind, const char *wanted);  // or fails: found ..., wanted `wanted`
bool parser_take_word(parser *p, const char *word);
bool parser_is_adjacent(const parser *p);  // no blank before the current token
source_location parser_where(const parser *p, token at);
bool parser_is_name(const parser *p);  // a word, a %name, or a bare number
// Reads the value at the current token as text (lexer_value_end) and moves behind it.
bool parser_value_text(parser *p, str *out);

// Errors.
bool parser_error(parser *p, token at, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool parser_found(parser *p, const char *wanted);  // error: found <current token>, wanted ...
bool parser_enter(parser *p);                      // one level deeper, or an error; pair with parser_leave
void parser_leave(parser *p);
bool parser_stopped(const parser *p);                                          // too many errors: unwind everything
heddle_status parser_status(parser *p);                                        // all diagnostics as one error
const char *parser_nearest(str word, int count, const char *(*name_at)(int));  // null if nothing is close

// What hlo_parse does, refusing modules whose elided constants (`{...}`) take more than `elided_limit` bytes: their
// text is no measure of their size.
heddle_status parser_run(arena *a, const char *file, str source, int64_t elided_limit, module **out);

// Parts of the grammar, a file each.
bool parser_int(parser *p, int64_t *out);
bool parser_shape(parser *p, const shape **out);                // parser_shape.c
bool parser_shape_before_value(parser *p, const shape **out);   // `{` apart from the shape begins a value
bool parser_literal(parser *p, const shape *s, literal **out);  // parser_literal.c
bool parser_starts_shape(const parser *p);
// Attributes behind an instruction's operands, the leading comma included: those of `op`, and of `async` where the text
// is short for an asynchronous op (else equal to `op`).                            parser_attributes.c
bool parser_attributes(parser *p, hlo_opcode op, hlo_opcode async, hlo_attributes *x, pending_instruction *pending);
bool parser_required_attributes(parser *p, hlo_opcode op, const hlo_attributes *x, token where);
bool parser_groups(parser *p, group_list *out);                                                 // parser_groups.c
bool parser_attribute_value(parser *p, hlo_opcode op, hlo_attribute_id id, hlo_attributes *x);  // parser_values.c
bool parser_instruction(parser *p, frame *f);                                                   // parser_instruction.c
bool parser_resolve(parser *p, frame *f);  // operands by name, once the computation is complete
// An asynchronous operation in short, `exp-start(x)`: its opcode, and that of the operation it runs. parser_async.c
bool parser_is_async_short(str word, hlo_opcode *async, hlo_opcode *wrapped);
// Behind the short form: for a start, builds the computation it runs (parameters of the operands' shapes, `wrapped` as
// the root with *x and the calls in `pending`) and makes `pending` call it. *x becomes the attributes of `async`
// itself.
bool parser_wrap_async(parser *p, hlo_opcode async, hlo_opcode wrapped, const shape *s, pending_instruction *pending,
                       hlo_attributes *x);
void parser_keep_calls(parser *p, instruction *i, called_list called);  // parser.c: until the module's end
bool parser_inline_body(parser *p, computation **out);                  // parser.c: `{ ... }` as a value

#endif
