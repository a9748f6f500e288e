// Goes through the text statement by statement: a statement begins a line, with the names of its results or with its
// operation. All but the operation's own form is copied.
#include "tools/mlir_spelling_2020.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"
#include "tools/mlir_spelling_lines.h"

static const struct {
  const char *old, *now;
} words[] = {
    {"func", "func.func"},
    {"constant", "arith.constant"},
    {"addf", "arith.addf"},
    {"subf", "arith.subf"},
    {"mulf", "arith.mulf"},
    {"divf", "arith.divf"},
    {"remf", "arith.remf"},
    {"negf", "arith.negf"},
    {"maxf", "arith.maximumf"},
    {"minf", "arith.minimumf"},
    {"addi", "arith.addi"},
    {"subi", "arith.subi"},
    {"muli", "arith.muli"},
    {"divi_signed", "arith.divsi"},
    {"divi_unsigned", "arith.divui"},
    {"remi_signed", "arith.remsi"},
    {"remi_unsigned", "arith.remui"},
    {"and", "arith.andi"},
    {"or", "arith.ori"},
    {"xor", "arith.xori"},
    {"cmpi", "arith.cmpi"},
    {"cmpf", "arith.cmpf"},
    {"select", "arith.select"},
    {"index_cast", "arith.index_cast"},
    {"sitofp", "arith.sitofp"},
    {"fptosi", "arith.fptosi"},
    {"sexti", "arith.extsi"},
    {"zexti", "arith.extui"},
    {"trunci", "arith.trunci"},
    {"fpext", "arith.extf"},
    {"fptrunc", "arith.truncf"},
    {"exp", "math.exp"},
    {"log", "math.log"},
    {"tanh", "math.tanh"},
    {"rsqrt", "math.rsqrt"},
    {"load", "memref.load"},
    {"store", "memref.store"},
    {"subview", "memref.subview"},
    {"alloc", "memref.alloc"},
    {"dealloc", "memref.dealloc"},
    {"dim", "memref.dim"},
    {"extract_element", "tensor.extract"},
};

typedef struct reader {
  arena *arena;
  str source;
  size_t at;
  text *out;
  size_t statement;  // where in `out` the statement at hand begins
  int made;          // tensors so far that results begin with
  int depth;         // of regions of structured operations
  VEC(bool) braces;  // of those that are open: whether they are an scf.parallel's
  bool opens_parallel, is_gpu;
} reader;

// --- characters

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

static char peek(const reader *r) { return r->at < r->source.size ? r->source.data[r->at] : '\0'; }

static bool is_at(const reader *r, const char *what) {
  return str_starts_with((str){r->source.data + r->at, r->source.size - r->at}, what);
}

static void copy(reader *r, size_t count) {
  text_append(r->out, (str){r->source.data + r->at, count});
  r->at += count;
}

static void skip_space(reader *r) {
  while (peek(r) && strchr(" \t\r\n", peek(r))) r->at++;
}

static str read_word(reader *r) {
  const size_t start = r->at;
  while (is_word(peek(r))) r->at++;
  return (str){r->source.data + start, r->at - start};
}

static str trimmed(str s) {
  while (s.size > 0 && strchr(" \t\r\n", s.data[0])) s = (str){s.data + 1, s.size - 1};
  while (s.size > 0 && strchr(" \t\r\n", s.data[s.size - 1])) s.size--;
  return s;
}

// Up to the bracket that closes the one at hand, both included; all that is left if none does.
static str read_balanced(reader *r) {
  const size_t start = r->at;
  int depth = 0;
  bool is_string = false;
  char before = ' ';
  for (char c = peek(r); c; c = peek(r)) {
    if (c == '"') is_string = !is_string;
    depth += !is_string && (c == '{' || c == '(' || c == '[' || c == '<');
    depth -= !is_string && (c == '}' || c == ')' || c == ']' || (c == '>' && before != '-'));
    before = c;
    r->at++;
    if (depth <= 0) break;
  }
  return (str){r->source.data + start, r->at - start};
}

// --- lists

typedef VEC(str) str_list;

// Parts between commas that stand in no bracket.
static str_list split(arena *a, str s) {
  str_list parts = {0};
  size_t start = 0;
  int depth = 0;
  for (size_t k = 0; k <= s.size; k++) {
    const char c = k < s.size ? s.data[k] : ',';
    depth += c == '<' || c == '(' || c == '[' || c == '{';
    depth -= (c == '>' && (k == 0 || s.data[k - 1] != '-')) || c == ')' || c == ']' || c == '}';
    if (c != ',' || (depth > 0 && k < s.size)) continue;
    const str part = trimmed((str){s.data + start, k - start});
    if (part.size > 0) vec_push(a, &parts, part);
    start = k + 1;
  }
  return parts;
}

// Types behind a colon: `count` of them, on as many lines as they take.
static str_list read_types(reader *r, int count) {
  str_list types = {0};
  while (types.size < count) {
    skip_space(r);
    const size_t start = r->at;
    while (peek(r) && !strchr(", \t\r\n{", peek(r))) {
      if (strchr("<(", peek(r))) read_balanced(r);
      else r->at++;
    }
    if (r->at == start) break;
    vec_push(r->arena, &types, ((str){r->source.data + start, r->at - start}));
    if (types.size < count && peek(r) == ',') r->at++;
  }
  return types;
}

static void write_list(text *out, const char *keyword, const str_list *values, const str_list *types, int from,
                       int to) {
  if (from >= to || to > values->size || to > types->size || !values->data || !types->data) return;
  text_printf(out, " %s(", keyword);
  for (int k = from; k < to; k++) text_printf(out, "%s" STR_FMT, k > from ? ", " : "", STR_ARG(values->data[k]));
  text_puts(out, " : ");
  for (int k = from; k < to; k++) text_printf(out, "%s" STR_FMT, k > from ? ", " : "", STR_ARG(types->data[k]));
  text_putc(out, ')');
}

static void keep_lines(reader *r, size_t from, size_t out_from) {
  mlir_spelling_lines_keep((str){r->source.data + from, r->at - from}, r->out, out_from);
}

// f32 of tensor<10x15xf32>.
static str element_of(str type) {
  const char *open = memchr(type.data, '<', type.size);
  if (!open) return type;
  str s = {open + 1, type.size - (size_t)(open + 1 - type.data)};
  if (s.size > 0 && s.data[s.size - 1] == '>') s.size--;
  for (;;) {
    size_t digits = 0;
    while (digits < s.size && ((s.data[digits] >= '0' && s.data[digits] <= '9') || s.data[digits] == '?')) digits++;
    if (digits == 0 || digits == s.size || s.data[digits] != 'x') break;
    s = (str){s.data + digits + 1, s.size - digits - 1};
  }
  const char *comma = memchr(s.data, ',', s.size);
  return comma ? (str){s.data, (size_t)(comma - s.data)} : s;
}

// --- structured operations

typedef struct named {
  str attributes;  // in braces, or nothing
  str_list values, types;
} named;

// `(%a, %b, %c) {…} : A, B, C`, the attributes perhaps in front. False, with the reader back at its place, for what has
// another form.
static bool read_named(reader *r, named *out) {
  const size_t start = r->at;
  str attributes = {0}, operands;
  skip_space(r);
  if (peek(r) == '{') attributes = read_balanced(r);
  skip_space(r);
  if (peek(r) == '(') {
    operands = read_balanced(r);
    operands = operands.size >= 2 ? (str){operands.data + 1, operands.size - 2} : operands;
  } else {
    const size_t first = r->at;
    while (peek(r) && peek(r) != ':' && peek(r) != '{' && peek(r) != '\n') r->at++;
    operands = (str){r->source.data + first, r->at - first};
  }
  skip_space(r);
  if (peek(r) == '{') attributes = read_balanced(r);
  skip_space(r);
  *out = (named){.attributes = attributes, .values = split(r->arena, operands)};
  const bool has_types = peek(r) == ':' && out->values.size >= 2;
  if (has_types) {
    r->at++;
    out->types = read_types(r, out->values.size);
  }
  if (has_types && out->types.size == out->values.size) return true;
  r->at = start;
  return false;
}

static void swap_first(named *n) {
  const str value = n->values.data[0], type = n->types.data[0];
  n->values.data[0] = n->values.data[1];
  n->types.data[0] = n->types.data[1];
  n->values.data[1] = value;
  n->types.data[1] = type;
}

static void write_operands(reader *r, const named *n) {
  write_list(r->out, "ins", &n->values, &n->types, 0, n->values.size - 1);
  write_list(r->out, "outs", &n->values, &n->types, n->values.size - 1, n->values.size);
}

// `linalg.matmul(%a, %b, %c) {…} : A, B, C`: the last operand is the result, of a fill the first.
static void spell_named(reader *r, str name) {
  const size_t start = r->at, out_start = r->out->size;
  named n;
  if (!read_named(r, &n)) {
    text_append(r->out, name);
    return;
  }
  if (str_is(name, "linalg.fill")) swap_first(&n);
  text_append(r->out, name);
  if (n.attributes.size > 0) text_printf(r->out, " " STR_FMT, STR_ARG(n.attributes));
  write_operands(r, &n);
  keep_lines(r, start, out_start);
}

// --- windows

enum { MOST_DIMS = 16 };  // of what a window goes over

// `[1, 2]` of `strides = [1, 2]`; nothing if the attribute is not there.
static str_list numbers_of(reader *r, str attributes, const char *name) {
  const str_list none = {0};
  if (attributes.size < 2) return none;
  const str_list all = split(r->arena, (str){attributes.data + 1, attributes.size - 2});
  for (int k = 0; k < all.size; k++) {
    const char *open = memchr(all.data[k].data, '[', all.data[k].size);
    if (!str_starts_with(all.data[k], name) || !open) continue;
    const str list = {open + 1, all.data[k].size - (size_t)(open + 1 - all.data[k].data)};
    return split(r->arena, list.size > 0 && list.data[list.size - 1] == ']' ? (str){list.data, list.size - 1} : list);
  }
  return none;
}

// How many dims memref<1x?xf32, …> has.
static int rank_of(str type) {
  int rank = 0;
  for (size_t k = 0; k < type.size && type.data[k] != ','; k++)
    rank += k > 0 && type.data[k] == 'x' && type.data[k - 1] != 'e';
  return rank;
}

static void write_dense(reader *r, const char *name, const str_list *numbers, int rank) {
  text_printf(r->out, "%s = dense<[", name);
  for (int k = 0; k < rank; k++) {
    const str one = k < numbers->size ? numbers->data[k] : STR("1");
    text_printf(r->out, "%s" STR_FMT, k > 0 ? ", " : "", STR_ARG(one));
  }
  text_printf(r->out, "]> : tensor<%dxi64>", rank);
}

// Attributes that are not about windows, each with a comma in front.
static void write_others(reader *r, str attributes) {
  if (attributes.size < 2) return;
  const str_list all = split(r->arena, (str){attributes.data + 1, attributes.size - 2});
  for (int k = 0; k < all.size; k++)
    if (!str_starts_with(all.data[k], "strides") && !str_starts_with(all.data[k], "dilations"))
      text_printf(r->out, ", " STR_FMT, STR_ARG(all.data[k]));
}

// `linalg.conv(%filter, %image, %result) {dilations = […], strides = […]} : …`, features last. What is padded has no
// such form today, and keeps its old one.
static void spell_convolution(reader *r, str name) {
  static const char *const today[] = {"linalg.conv_1d_nwc_wcf", "linalg.conv_2d_nhwc_hwcf",
                                      "linalg.conv_3d_ndhwc_dhwcf"};
  const size_t start = r->at, out_start = r->out->size;
  named n;
  const bool is_read = read_named(r, &n);
  const int dims = is_read ? rank_of(n.types.data[0]) - 2 : 0;
  if (dims < 1 || dims > 3 || n.values.size != 3 ||
      (n.attributes.size > 0 && memmem(n.attributes.data, n.attributes.size, "padding", 7))) {
    r->at = start;
    text_append(r->out, name);
    return;
  }
  const str_list dilations = numbers_of(r, n.attributes, "dilations"), strides = numbers_of(r, n.attributes, "strides");
  swap_first(&n);
  text_printf(r->out, "%s {", today[dims - 1]);
  write_dense(r, "dilations", &dilations, dims);
  text_puts(r->out, ", ");
  write_dense(r, "strides", &strides, dims);
  write_others(r, n.attributes);
  text_putc(r->out, '}');
  write_operands(r, &n);
  keep_lines(r, start, out_start);
}

// affine_map<(d0, d1, d2, d3) -> …> with `expression` of each dim behind the arrow.
static void write_map(reader *r, int rank, const str_list *steps, const str_list *dilations, char part) {
  text_puts(r->out, "affine_map<(");
  for (int k = 0; k < 2 * rank; k++) text_printf(r->out, "%sd%d", k > 0 ? ", " : "", k);
  text_puts(r->out, ") -> (");
  for (int k = 0; k < rank; k++) {
    const str step = k < steps->size ? steps->data[k] : STR("1"),
              dilation = k < dilations->size ? dilations->data[k] : STR("1");
    text_puts(r->out, k > 0 ? ", " : "");
    if (part == 'w') text_printf(r->out, "d%d", rank + k);
    else if (part == 'r') text_printf(r->out, "d%d", k);
    else text_printf(r->out, "d%d * " STR_FMT " + d%d * " STR_FMT, k, STR_ARG(step), rank + k, STR_ARG(dilation));
  }
  text_puts(r->out, ")>");
}

static const char *combiner_of(str name, bool is_float) {
  if (str_is(name, "linalg.pooling_max")) return is_float ? "arith.maximumf" : "arith.maxsi";
  if (str_is(name, "linalg.pooling_min")) return is_float ? "arith.minimumf" : "arith.minsi";
  if (str_is(name, "linalg.pooling_sum")) return is_float ? "arith.addf" : "arith.addi";
  return NULL;
}

// `linalg.pooling_max(%image, %window, %result) {…} : …`: windows along all dims, of which the second operand has but
// the sizes.
static void spell_pooling(reader *r, str name) {
  const size_t start = r->at, out_start = r->out->size;
  named n;
  const bool is_read = read_named(r, &n);
  const int rank = is_read ? rank_of(n.types.data[0]) : 0;
  const str element = is_read ? element_of(n.types.data[0]) : STR("");
  const char *combiner = combiner_of(name, element.size > 0 && element.data[0] != 'i');
  if (!combiner || rank < 1 || rank > MOST_DIMS || n.values.size != 3 ||
      (n.attributes.size > 0 && memmem(n.attributes.data, n.attributes.size, "padding", 7))) {
    r->at = start;
    text_append(r->out, name);
    return;
  }
  const str_list dilations = numbers_of(r, n.attributes, "dilations"), strides = numbers_of(r, n.attributes, "strides");
  text_puts(r->out, "linalg.generic {indexing_maps = [");
  for (int k = 0; k < 3; k++) {
    text_puts(r->out, k > 0 ? ", " : "");
    write_map(r, rank, &strides, &dilations, "iwr"[k]);
  }
  text_puts(r->out, "], iterator_types = [");
  for (int k = 0; k < 2 * rank; k++)
    text_printf(r->out, "%s\"%s\"", k > 0 ? ", " : "", k < rank ? "parallel" : "reduction");
  text_puts(r->out, "]");
  write_others(r, n.attributes);
  text_putc(r->out, '}');
  write_operands(r, &n);
  text_printf(r->out,
              " { ^bb0(%%at: " STR_FMT ", %%in_window: " STR_FMT ", %%so_far: " STR_FMT
              "): %%combined = %s %%so_far, %%at : " STR_FMT " linalg.yield %%combined : " STR_FMT " }",
              STR_ARG(element), STR_ARG(element), STR_ARG(element), combiner, STR_ARG(element), STR_ARG(element));
  keep_lines(r, start, out_start);
}

// What the attributes say without `args_in`, whose number is kept as it stands, and `args_out`.
static void write_attributes(arena *a, str braces, int *args_in, text *out) {
  const str_list all = split(a, (str){braces.data + 1, braces.size - 2});
  bool any = false;
  text_putc(out, '{');
  for (int k = 0; k < all.size; k++) {
    const bool is_in = str_starts_with(all.data[k], "args_in"), is_out = str_starts_with(all.data[k], "args_out");
    const char *equals = memchr(all.data[k].data, '=', all.data[k].size);
    if (is_in && equals) *args_in = atoi(equals + 1);
    if (is_in || is_out) continue;
    text_printf(out, "%s" STR_FMT, any ? ", " : "", STR_ARG(all.data[k]));
    any = true;
  }
  text_putc(out, '}');
}

static void read_all(reader *r);

// A part of the text, spelled; lines begin where the part does.
static void spell_part(reader *r, str part) {
  enum { DEEPEST = 64 };
  reader inner = *r;
  if (++inner.depth > DEEPEST) {
    text_append(r->out, part);
    return;
  }
  inner.source = part;
  inner.at = 0;
  inner.statement = r->out->size;
  read_all(&inner);
  r->made = inner.made;
}

// The region with an argument behind the others of its block for each output.
static void spell_region(reader *r, str region, int first, const str_list *results) {
  const char *label = memmem(region.data, region.size, "^bb", 3);
  const char *close = NULL;
  if (label) close = memchr(label, ')', region.size - (size_t)(label - region.data));
  if (!close || results->size == 0) {
    spell_part(r, region);
    return;
  }
  text_append(r->out, (str){region.data, (size_t)(close - region.data)});
  for (int k = 0; k < results->size; k++)
    text_printf(r->out, "%s%%out_%d: " STR_FMT, close[-1] == '(' && k == 0 ? "" : ", ", first + k,
                STR_ARG(element_of(results->data[k])));
  spell_part(r, (str){close, region.size - (size_t)(close - region.data)});
}

// Empty tensors in front of the statement, for its results to begin with.
static void make_empty_tensors(reader *r, int first, const str_list *types, size_t *out_start) {
  text made = {0};
  for (int k = 0; k < types->size; k++)
    text_printf(&made, "%%empty_%d = tensor.empty() : " STR_FMT " ", first + k, STR_ARG(types->data[k]));
  const str whole = text_view(r->out),
            rest = str_copy(r->arena, (str){whole.data + r->statement, whole.size - r->statement});
  r->out->size = r->statement;
  text_append(r->out, text_view(&made));
  text_append(r->out, rest);
  *out_start += made.size;
  text_free(&made);
}

// Of linalg.indexed_generic the block's first arguments are positions, of which there are as many as the block has more
// arguments than elements.
static str positions_apart(reader *r, str region, int elements) {
  const char *label = memmem(region.data, region.size, "^bb", 3);
  const char *open = label ? memchr(label, '(', region.size - (size_t)(label - region.data)) : NULL;
  const char *close = open ? memchr(open, ')', region.size - (size_t)(open - region.data)) : NULL;
  const char *behind = close ? memchr(close, ':', region.size - (size_t)(close - region.data)) : NULL;
  if (!behind) return region;
  const str_list all = split(r->arena, (str){open + 1, (size_t)(close - open - 1)});
  const int positions = all.size - elements;
  text t = {0};
  text_append(&t, (str){region.data, (size_t)(open + 1 - region.data)});
  for (int k = positions > 0 ? positions : 0; k < all.size; k++)
    text_printf(&t, "%s" STR_FMT, k > positions && k > 0 ? ", " : "", STR_ARG(all.data[k]));
  text_puts(&t, "):");
  for (int k = 0; k < positions; k++) {
    const char *colon = memchr(all.data[k].data, ':', all.data[k].size);
    const str name = trimmed((str){all.data[k].data, colon ? (size_t)(colon - all.data[k].data) : all.data[k].size});
    text_printf(&t, " " STR_FMT " = linalg.index %d : index", STR_ARG(name), k);
  }
  text_append(&t, (str){behind + 1, region.size - (size_t)(behind + 1 - region.data)});
  const str made = str_copy(r->arena, text_view(&t));
  text_free(&t);
  return made;
}

// `linalg.generic {args_in = 2 : i64, …} %a, %b, %c { ^bb0(…): … } : A, B, C`, of tensors with `-> R` behind.
static void spell_generic(reader *r, str name) {
  const size_t start = r->at;
  size_t out_start = r->out->size;
  skip_space(r);
  const str attributes = peek(r) == '{' ? read_balanced(r) : (str){0};
  const size_t first = r->at;
  while (peek(r) && peek(r) != '{' && peek(r) != ':') r->at++;
  const str_list values = split(r->arena, (str){r->source.data + first, r->at - first});
  str region = peek(r) == '{' ? read_balanced(r) : (str){0};
  skip_space(r);
  if (!memmem(attributes.data ? attributes.data : "", attributes.size, "args_in", 7) || region.size == 0 ||
      peek(r) != ':') {
    r->at = start;
    text_append(r->out, name);
    return;
  }
  r->at++;
  const str_list types = read_types(r, values.size);
  const size_t behind_types = r->at;
  str_list results = {0};
  skip_space(r);
  if (is_at(r, "->")) {
    r->at += 2;
    skip_space(r);
    const str list = peek(r) == '(' ? read_balanced(r) : (str){0};
    results = list.size >= 2 ? split(r->arena, (str){list.data + 1, list.size - 2}) : read_types(r, 1);
  } else {
    r->at = behind_types;
  }
  const int made = r->made, args = types.size < values.size ? types.size : values.size;
  int args_in = args;
  r->made += results.size;
  if (results.size > 0) make_empty_tensors(r, made, &results, &out_start);
  text_puts(r->out, "linalg.generic ");
  write_attributes(r->arena, attributes, &args_in, r->out);
  if (args_in < 0 || args_in > args) args_in = args;
  if (str_is(name, "linalg.indexed_generic")) region = positions_apart(r, region, values.size);
  str_list outputs = {0};
  for (int k = 0; k < results.size; k++)
    vec_push(r->arena, &outputs, str_from(arena_printf(r->arena, "%%empty_%d", made + k)));
  write_list(r->out, "ins", &values, &types, 0, args_in);
  if (results.size > 0) write_list(r->out, "outs", &outputs, &results, 0, results.size);
  else write_list(r->out, "outs", &values, &types, args_in, args);
  text_putc(r->out, ' ');
  spell_region(r, region, made, &results);
  for (int k = 0; k < results.size; k++)
    text_printf(r->out, "%s" STR_FMT "%s", k == 0 ? (results.size > 1 ? " -> (" : " -> ") : ", ",
                STR_ARG(results.data[k]), results.size > 1 && k + 1 == results.size ? ")" : "");
  keep_lines(r, start, out_start);
}

// --- statements

static bool is_old_structured(const reader *r) {
  reader ahead = *r;
  skip_space(&ahead);
  if (peek(&ahead) == '{') read_balanced(&ahead);
  skip_space(&ahead);
  return peek(&ahead) == '(' || peek(&ahead) == '%';
}

// The predicate stood between quotes.
static void spell_predicate(reader *r) {
  while (peek(r) == ' ') copy(r, 1);
  if (peek(r) != '"') return;
  r->at++;
  text_append(r->out, read_word(r));
  if (peek(r) == '"') r->at++;
}

static void spell_operation(reader *r, str word) {
  if (str_is(word, "spv.ControlBarrier")) {
    text_puts(r->out, "gpu.barrier");
    while (peek(r) && peek(r) != '\n') r->at++;
    return;
  }
  if (str_is(word, "linalg.generic") || str_is(word, "linalg.indexed_generic")) {
    spell_generic(r, word);
    return;
  }
  if (str_is(word, "linalg.conv")) {
    spell_convolution(r, word);
    return;
  }
  if (str_starts_with(word, "linalg.pooling_") && combiner_of(word, true)) {
    spell_pooling(r, word);
    return;
  }
  if (str_starts_with(word, "linalg.") && !str_is(word, "linalg.yield") && is_old_structured(r)) {
    spell_named(r, word);
    return;
  }
  r->opens_parallel = str_is(word, "scf.parallel");
  if (str_is(word, "scf.yield") && r->braces.size > 0 && r->braces.data[r->braces.size - 1]) word = STR("scf.reduce");
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (str_is(word, words[k].old)) {
      text_puts(r->out, words[k].now);
      if (str_is(word, "cmpi") || str_is(word, "cmpf")) spell_predicate(r);
      return;
    }
  text_append(r->out, word);
}

static void copy_string(reader *r) {
  size_t end = r->at + 1;
  while (end < r->source.size && r->source.data[end] != '"' && r->source.data[end] != '\n')
    end += r->source.data[end] == '\\' ? 2 : 1;
  if (end >= r->source.size) end = r->source.size - 1;
  copy(r, end + 1 - r->at);
}

static void count_brace(reader *r, char c) {
  if (c == '{') {
    vec_push(r->arena, &r->braces, r->opens_parallel);
    r->opens_parallel = false;
  }
  if (c == '}' && r->braces.size > 0) r->braces.size--;
}

// `dimension = "x"` of the gpu dialect's operations.
static void spell_dimension(reader *r) {
  static const char begin[] = "dimension = \"";
  r->at += sizeof begin - 1;
  text_puts(r->out, "dimension = #gpu<dim ");
  text_append(r->out, read_word(r));
  text_putc(r->out, '>');
  if (peek(r) == '"') r->at++;
}

static void copy_line(reader *r) {
  while (peek(r) && peek(r) != '\n') {
    const char c = peek(r);
    if (is_at(r, "//")) {
      while (peek(r) && peek(r) != '\n') copy(r, 1);
    } else if (r->is_gpu && is_at(r, "dimension = \"")) {
      spell_dimension(r);
    } else if (is_at(r, "= ...")) {
      text_puts(r->out, "= \"...\"");
      r->at += 5;
    } else if (c == '"') {
      copy_string(r);
    } else {
      count_brace(r, c);
      copy(r, 1);
    }
  }
  if (peek(r) == '\n') copy(r, 1);
}

// `%a, %b = ` or `%a:2 = ` in front of an operation.
static void copy_results(reader *r) {
  reader ahead = *r;
  while (peek(&ahead) && (is_word(peek(&ahead)) || strchr("%:, \t", peek(&ahead)))) ahead.at++;
  if (peek(&ahead) != '=') return;
  copy(r, ahead.at + 1 - r->at);
  while (peek(r) == ' ') copy(r, 1);
}

static void read_all(reader *r) {
  while (r->at < r->source.size) {
    while (peek(r) == ' ' || peek(r) == '\t') copy(r, 1);
    r->statement = r->out->size;
    if (peek(r) == '%') copy_results(r);
    r->is_gpu = is_at(r, "\"gpu.");
    if (is_word(peek(r))) spell_operation(r, read_word(r));
    copy_line(r);
  }
}

// `linalg.fill(`
static bool calls(str rest) {
  size_t end = 0;
  while (end < rest.size && is_word(rest.data[end])) end++;
  return end < rest.size && rest.data[end] == '(';
}

bool mlir_spelling_2020_is(str source) {
  for (size_t k = 0; k < source.size; k++) {
    const str rest = {source.data + k, source.size - k};
    if (k > 0 && is_word(source.data[k - 1])) continue;
    if (str_starts_with(rest, "func @") && (k == 0 || strchr(" \t\n", source.data[k - 1]))) return true;
    if (str_starts_with(rest, "constant ") && k > 1 && source.data[k - 2] == '=') return true;
    if (str_starts_with(rest, "args_in = ") || str_starts_with(rest, "spv.ControlBarrier")) return true;
    if (str_starts_with(rest, "linalg.") && calls(rest)) return true;
  }
  return false;
}

void mlir_spelling_2020_read(str source, text *out) {
  reader r = {.arena = arena_create(), .source = source, .out = out};
  read_all(&r);
  arena_destroy(r.arena);
}
