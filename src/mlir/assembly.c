// The table of pretty forms, and the one interpreter that reads and prints by it.
//
// Reading and printing go through the same row word for word, so that the two can not drift apart. Forms that hold
// regions, and a few odd notations, are directives with functions of their own; everything else is this table.
#include "mlir/assembly.h"

#include "mlir/assembly_form.h"
#include "mlir/print_values.h"

#define FORM_SAME "% {} :same"
#define FORM_FUNCTION "% {} :function"
#define FORM_ARROW "% {} :arrow"
#define FORM_CONSTANT "{} &value"

static const char *const forms[IR_OP_COUNT] = {
    [IR_OP_ABS] = FORM_SAME,
    [IR_OP_ADD] = FORM_SAME,
    [IR_OP_AFTER_ALL] = FORM_SAME,
    [IR_OP_AND] = FORM_SAME,
    [IR_OP_ATAN2] = FORM_SAME,
    [IR_OP_BITCAST_CONVERT] = FORM_FUNCTION,
    [IR_OP_BROADCAST] = "%1 , sizes = $broadcast_sizes:dims {} :function",
    [IR_OP_BROADCAST_IN_DIM] = "%1 , dims = $broadcast_dimensions:dims {} :function",
    [IR_OP_CBRT] = FORM_SAME,
    [IR_OP_CEIL] = FORM_SAME,
    [IR_OP_CHOLESKY] = "%1 ? , lower = $lower:bool ; {} :same",
    [IR_OP_CLAMP] = FORM_SAME,
    [IR_OP_COMPARE] = ("$comparison_direction:comparison_direction , %1 , %1 ? , $compare_type:comparison_type ; {} "
                       ":function"),
    [IR_OP_COMPLEX] = "% {} :complex",
    [IR_OP_COMPOSITE] = "$name:string % &bodies {} :function",
    [IR_OP_CONCATENATE] = "%* dim = $dimension:i64 {} :function",
    [IR_OP_CONSTANT] = FORM_CONSTANT,
    [IR_OP_CONVERT] = FORM_SAME,
    [IR_OP_CONVOLUTION] = "( % ) dim_numbers = &convolution , window = &window {} :function",
    [IR_OP_COSINE] = FORM_SAME,
    [IR_OP_COUNT_LEADING_ZEROS] = FORM_SAME,
    [IR_OP_CREATE_TOKEN] = "{} :same",
    [IR_OP_CUSTOM_CALL] = "$call_target_name:symbol_name ( % ) {} :function",
    [IR_OP_DIVIDE] = FORM_SAME,
    [IR_OP_DOT] = "%1 , %1 &precision {} :function",
    [IR_OP_DOT_GENERAL] = "%1 , %1 , &contraction &precision {} :function",
    [IR_OP_DYNAMIC_BROADCAST_IN_DIM] = "%1 , %1 , dims = $broadcast_dimensions:dims {} :function",
    [IR_OP_DYNAMIC_IOTA] = "%1 , dim = $iota_dimension:i64 {} :function",
    [IR_OP_DYNAMIC_PAD] = FORM_FUNCTION,
    [IR_OP_DYNAMIC_RESHAPE] = FORM_FUNCTION,
    [IR_OP_DYNAMIC_SLICE] = "%* sizes = $slice_sizes:dims {} :function",
    [IR_OP_DYNAMIC_UPDATE_SLICE] = FORM_FUNCTION,
    [IR_OP_EINSUM] = "%1 , %1 , config = $einsum_config:string {} :function",
    [IR_OP_EXPONENTIAL] = FORM_SAME,
    [IR_OP_EXPONENTIAL_MINUS_ONE] = FORM_SAME,
    [IR_OP_FFT] = "%1 , type = $fft_type:fft_type , length = $fft_length:dims {} :function",
    [IR_OP_FLOOR] = FORM_SAME,
    [IR_OP_GET_DIMENSION_SIZE] = "%1 , dim = $dimension:i64 {} :function",
    [IR_OP_GET_TUPLE_ELEMENT] = "%1 [ $index:i32 ] {} :function",
    [IR_OP_IMAG] = FORM_SAME,
    [IR_OP_IOTA] = "dim = $iota_dimension:i64 {} :same",
    [IR_OP_IS_FINITE] = FORM_FUNCTION,
    [IR_OP_LOG] = FORM_SAME,
    [IR_OP_LOG_PLUS_ONE] = FORM_SAME,
    [IR_OP_LOGISTIC] = FORM_SAME,
    [IR_OP_MAXIMUM] = FORM_SAME,
    [IR_OP_MINIMUM] = FORM_SAME,
    [IR_OP_MULTIPLY] = FORM_SAME,
    [IR_OP_NEGATE] = FORM_SAME,
    [IR_OP_NOT] = FORM_SAME,
    [IR_OP_OPTIMIZATION_BARRIER] = "{} % :pairs",
    [IR_OP_OR] = FORM_SAME,
    [IR_OP_PAD] = ("%1 , %1 , low = $edge_padding_low:dims , high = $edge_padding_high:dims , "
                   "interior = $interior_padding:dims {} :function"),
    [IR_OP_PARTITION_ID] = "{} :same",
    [IR_OP_POPCNT] = FORM_SAME,
    [IR_OP_POWER] = FORM_SAME,
    [IR_OP_REAL] = FORM_SAME,
    [IR_OP_REAL_DYNAMIC_SLICE] = FORM_FUNCTION,
    [IR_OP_REDUCE] = "&reduce",
    [IR_OP_REDUCE_PRECISION] = "%1 , format = &format {} :same",
    [IR_OP_REMAINDER] = FORM_SAME,
    [IR_OP_REPLICA_ID] = "{} :same",
    [IR_OP_RESHAPE] = FORM_FUNCTION,
    [IR_OP_RETURN] = "% {} :operands",
    [IR_OP_REVERSE] = "%1 , dims = $dimensions:dims {} :same",
    [IR_OP_RNG] = "%1 , %1 , %1 , distribution = $rng_distribution:rng_distribution {} :function",
    [IR_OP_RNG_BIT_GENERATOR] = "%1 , algorithm = $rng_algorithm:rng_algorithm {} :function",
    [IR_OP_ROUND_NEAREST_AFZ] = FORM_SAME,
    [IR_OP_ROUND_NEAREST_EVEN] = FORM_SAME,
    [IR_OP_RSQRT] = FORM_SAME,
    [IR_OP_SELECT] = "% {} :select",
    [IR_OP_SET_DIMENSION_SIZE] = "%1 , %1 , dim = $dimension:i64 {} :function",
    [IR_OP_SHIFT_LEFT] = FORM_SAME,
    [IR_OP_SHIFT_RIGHT_ARITHMETIC] = FORM_SAME,
    [IR_OP_SHIFT_RIGHT_LOGICAL] = FORM_SAME,
    [IR_OP_SIGN] = FORM_SAME,
    [IR_OP_SINE] = FORM_SAME,
    [IR_OP_SLICE] = "%1 &ranges {} :function",
    [IR_OP_SQRT] = FORM_SAME,
    [IR_OP_SUBTRACT] = FORM_SAME,
    [IR_OP_TAN] = FORM_SAME,
    [IR_OP_TANH] = FORM_SAME,
    [IR_OP_TRANSPOSE] = "%1 , dims = $permutation:dims {} :function",
    [IR_OP_TUPLE] = "% {} :tuple",
    [IR_OP_UNARY_EINSUM] = "%1 , config = $einsum_config:string {} :function",
    [IR_OP_UNIFORM_DEQUANTIZE] = FORM_FUNCTION,
    [IR_OP_UNIFORM_QUANTIZE] = FORM_FUNCTION,
    [IR_OP_WHILE] = "&while",
    [IR_OP_XOR] = FORM_SAME,

    [IR_OP_CHLO_ACOS] = FORM_ARROW,
    [IR_OP_CHLO_ACOSH] = FORM_ARROW,
    [IR_OP_CHLO_ASIN] = FORM_ARROW,
    [IR_OP_CHLO_ASIN_ACOS_KERNEL] = FORM_ARROW,
    [IR_OP_CHLO_ASINH] = FORM_ARROW,
    [IR_OP_CHLO_ATAN] = FORM_ARROW,
    [IR_OP_CHLO_ATANH] = FORM_ARROW,
    [IR_OP_CHLO_BESSEL_I1E] = FORM_ARROW,
    [IR_OP_CHLO_BROADCAST_ADD] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_AND] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_ATAN2] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_COMPARE] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_COMPLEX] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_DIVIDE] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_MAXIMUM] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_MINIMUM] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_MULTIPLY] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_NEXT_AFTER] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_OR] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_POLYGAMMA] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_POWER] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_REMAINDER] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_SELECT] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_SHIFT_LEFT] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_SUBTRACT] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_XOR] = FORM_FUNCTION,
    [IR_OP_CHLO_BROADCAST_ZETA] = FORM_FUNCTION,
    [IR_OP_CHLO_CONJ] = FORM_ARROW,
    [IR_OP_CHLO_CONSTANT] = FORM_CONSTANT,
    [IR_OP_CHLO_COSH] = FORM_ARROW,
    [IR_OP_CHLO_DIGAMMA] = FORM_ARROW,
    [IR_OP_CHLO_ERF] = FORM_ARROW,
    [IR_OP_CHLO_ERF_INV] = FORM_ARROW,
    [IR_OP_CHLO_ERFC] = FORM_ARROW,
    [IR_OP_CHLO_IS_INF] = FORM_ARROW,
    [IR_OP_CHLO_IS_NEG_INF] = FORM_ARROW,
    [IR_OP_CHLO_IS_POS_INF] = FORM_ARROW,
    [IR_OP_CHLO_LGAMMA] = FORM_ARROW,
    [IR_OP_CHLO_MULHI] = FORM_ARROW,
    [IR_OP_CHLO_NEXT_AFTER] = FORM_ARROW,
    [IR_OP_CHLO_POLYGAMMA] = FORM_ARROW,
    [IR_OP_CHLO_SCAN] = "&scan",
    [IR_OP_CHLO_SINH] = FORM_ARROW,
    [IR_OP_CHLO_SQUARE] = FORM_ARROW,
    [IR_OP_CHLO_TAN] = FORM_ARROW,
    [IR_OP_CHLO_TOP_K] = "( %1 , k = $k:i64 ? , is_stable = $is_stable:bool ; ) {} :arrow",
    [IR_OP_CHLO_ZETA] = FORM_ARROW,

    [IR_OP_MHLO_ACOS] = FORM_SAME,
    [IR_OP_MHLO_ACOSH] = FORM_SAME,
    [IR_OP_MHLO_ADD_DEPENDENCY] = FORM_FUNCTION,
    [IR_OP_MHLO_ASIN] = FORM_SAME,
    [IR_OP_MHLO_ASINH] = FORM_SAME,
    [IR_OP_MHLO_ATANH] = FORM_SAME,
    [IR_OP_MHLO_BITCAST] = FORM_FUNCTION,
    [IR_OP_MHLO_COPY] = FORM_SAME,
    [IR_OP_MHLO_COSH] = FORM_SAME,
    [IR_OP_MHLO_ERF] = FORM_SAME,
    [IR_OP_MHLO_MINIMUM_BROADCAST_SHAPES] = FORM_ARROW,
    [IR_OP_MHLO_RNG_GET_AND_UPDATE_STATE] = "{} :state",
    [IR_OP_MHLO_SINH] = FORM_SAME,
    [IR_OP_MHLO_TOPK] = "( %1 , k = $k:i64 ? , largest = $largest:bool ; ) {} :arrow",

    [IR_OP_CALL] = "$callee:symbol ( % ) {} :function",
    [IR_OP_FUNC_RETURN] = "{} % :operands",
    [IR_OP_TO_TENSOR] = "%1 {} :tensor",
    [IR_OP_MEMREF_ALLOC] = "( ) {} :same",
    [IR_OP_MEMREF_GET_GLOBAL] = "$name:symbol {} :same",
    [IR_OP_MEMREF_TENSOR_LOAD] = "%1 {} :tensor",
    [IR_OP_MEMREF_TENSOR_STORE] = "%1 , %1 {} :stored",
    [IR_OP_MEMREF_VIEW] = "%1 [ %1 ] [ ] {} :view",
    [IR_OP_ARITH_CONSTANT] = FORM_CONSTANT,
    [IR_OP_SDY_RETURN] = "% {} :operands",
    [IR_OP_CHECK_EXPECT_EQ] = "%1 , %1 {} :checked",
    [IR_OP_CHECK_EXPECT_EQ_CONST] = "%1 , $value:any {} :value",
    [IR_OP_CHECK_EXPECT_CLOSE] = ("%1 , %1 ? , max_ulp_difference = $max_ulp_difference:ui64 ; "
                                  "? , min_ulp_difference = $min_ulp_difference:ui64 ; {} :operands"),
    [IR_OP_CHECK_EXPECT_CLOSE_CONST] = "%1 , $value:any {} :value",
    [IR_OP_CHECK_EXPECT_ALMOST_EQ] = "%1 , %1 ? , tolerance = $tolerance:f64 ; {} :checked",
    [IR_OP_CHECK_EXPECT_ALMOST_EQ_CONST] = "%1 , $value:any ? , tolerance = $tolerance:f64 ; {} :value",
    [IR_OP_CHECK_EXPECT_SERIALIZED_EQ] = "%1 , probe_id = $probe_id:string ? , iter = $iter:i32 ; {} :checked",
    [IR_OP_INTERPRETER_PROBE] = "%1 , probe_id = $probe_id:string {} :same",
    [IR_OP_INTERPRETER_PRINT] = "%1 {} :checked",
};

// The next word of a form; empty at its end.
static str next_word(const char **form) {
  while (**form == ' ') (*form)++;
  const char *start = *form;
  while (**form && **form != ' ') (*form)++;
  return (str){start, (size_t)(*form - start)};
}

static bool word_text(str word, char *text, size_t size) {
  if (word.size >= size) return false;
  memcpy(text, word.data, word.size);
  text[word.size] = 0;
  return true;
}

static str after(str s, size_t n) { return (str){s.data + n, s.size - n}; }

// `$name:kind` into its two halves.
static void split_attribute(str word, str *name, str *kind) {
  const char *colon = memchr(word.data, ':', word.size);
  size_t size = (size_t)(colon - word.data);
  *name = (str){word.data + 1, size - 1};
  *kind = after(word, size + 1);
}

static const assembly_directive *find_directive(str name) {
  for (const assembly_directive *d = assembly_directives; d->name; d++)
    if (str_is(name, d->name)) return d;
  return NULL;
}

// Reading.

static bool read_operands(assembly_reading *r, str word) {
  mlir_operand use;
  if (str_is(word, "%1")) {
    if (!mlir_operand_use(r->p, &use)) return false;
    vec_push(r->p->arena, &r->uses, use);
    return true;
  }
  if (str_is(word, "%")) return mlir_operand_uses(r->p, &r->uses);
  while (r->p->kind == MLIR_VALUE) {
    if (!mlir_operand_use(r->p, &use) || !mlir_expect(r->p, ",")) return false;
    vec_push(r->p->arena, &r->uses, use);
  }
  return true;
}

static bool read_word(assembly_reading *r, str word) {
  char literal[32];
  str name, kind;
  switch (word.data[0]) {
    case '%': return read_operands(r, word);
    case '$': split_attribute(word, &name, &kind); return assembly_read_attribute(r, name, kind);
    case '{': return mlir_optional_attributes(r->p, &r->draft->attributes);
    case '&': return find_directive(after(word, 1))->read(r);
    case ':': return assembly_read_types(r, after(word, 1));
    default: return word_text(word, literal, sizeof literal) && mlir_expect(r->p, literal);
  }
}

static void skip_part(const char **form) {
  while (!str_is(next_word(form), ";")) continue;
}

// Whether the optional part that starts here is written: its first two words are `,` and a keyword or an attribute. The
// comma alone tells, but where another optional part may follow, the keyword does: it is one token further.
static bool part_follows(const mlir_parser *p, const char *form) {
  str first = next_word(&form), second = next_word(&form);
  char keyword[32];
  if (!str_is(first, ",") || !mlir_at(p, ",")) return false;
  if (second.data[0] == '$' || !word_text(second, keyword, sizeof keyword)) return true;
  mlir_parser ahead = *p;
  mlir_advance(&ahead);
  return mlir_at(&ahead, keyword);
}

bool mlir_assembly(mlir_parser *p, mlir_draft *draft) {
  const char *form = forms[draft->op];
  if (!form)
    return mlir_error(p, draft->offset, "found " STR_FMT ", which has no short form, wanted it in quotes",
                      STR_ARG(draft->name));
  assembly_reading r = {.p = p, .draft = draft};
  for (str word = next_word(&form); word.size; word = next_word(&form)) {
    if (str_is(word, ";")) continue;
    if (str_is(word, "?")) {
      if (!part_follows(p, form)) skip_part(&form);
    } else if (!read_word(&r, word)) {
      return false;
    }
  }
  return true;
}

void assembly_set(assembly_reading *r, str name, const ir_attribute *value) {
  vec_push(r->p->arena, &r->draft->attributes, (ir_named_attribute){str_copy(r->p->arena, name), value});
}

// Printing.

static bool is_listed(const char *names, str name) {
  for (str n = next_word(&names); n.size; n = next_word(&names))
    if (str_equal(n, name)) return true;
  return false;
}

// Whether the form writes this attribute somewhere else than in the dictionary.
static bool is_covered(const char *form, str name) {
  for (str word = next_word(&form); word.size; word = next_word(&form)) {
    str covered, kind;
    if (word.data[0] == '$') {
      split_attribute(word, &covered, &kind);
      if (str_equal(covered, name)) return true;
    }
    if (word.data[0] == '&' && is_listed(find_directive(after(word, 1))->covers, name)) return true;
  }
  return false;
}

void assembly_write_dictionary(assembly_writing *w, const char *keyword) {
  int count = 0;
  for (int i = 0; i < w->op->attribute_count; i++) {
    const ir_named_attribute *x = &w->op->attributes[i];
    if (is_covered(w->form, x->name)) continue;
    if (count == 0) text_printf(w->out, "%s%s {", *keyword ? " " : "", keyword);
    if (count++) text_puts(w->out, ", ");
    mlir_print_name(w->out, x->name);
    if (x->value->kind == IR_ATTR_UNIT) continue;
    text_puts(w->out, " = ");
    w->p->attribute(w->p->context, x->value);
  }
  if (count) text_putc(w->out, '}');
}

static void write_space(text *out, char before) {
  if (out->size == 0 || !strchr("([", out->data[out->size - 1]))
    if (!strchr(",()[]", before)) text_putc(out, ' ');
}

static bool write_operands(assembly_writing *w, str word) {
  int left = w->op->operand_count - w->next_operand, count = str_is(word, "%1") ? 1 : left;
  if (count > left) return false;
  for (int i = 0; i < count; i++) {
    if (i && !str_is(word, "%*")) text_putc(w->out, ',');
    write_space(w->out, '%');
    w->p->value(w->p->context, w->op->operands[w->next_operand++]);
    if (str_is(word, "%*")) text_putc(w->out, ',');
  }
  return true;
}

static const ir_attribute *find_attribute(const ir_operation *op, str name) {
  for (int i = 0; i < op->attribute_count; i++)
    if (str_equal(op->attributes[i].name, name)) return op->attributes[i].value;
  return NULL;
}

static bool write_attribute(assembly_writing *w, str word) {
  str name, kind;
  split_attribute(word, &name, &kind);
  const ir_attribute *x = find_attribute(w->op, name);
  if (!x) return false;
  write_space(w->out, '$');
  return assembly_write_attribute(w, x, kind);
}

static bool write_word(assembly_writing *w, str word) {
  switch (word.data[0]) {
    case '%': return write_operands(w, word);
    case '$': return write_attribute(w, word);
    case '{': assembly_write_dictionary(w, ""); return true;
    case '&': return find_directive(after(word, 1))->write(w);
    case ':': return assembly_write_types(w, after(word, 1));
    default:
      write_space(w->out, word.data[0]);
      text_append(w->out, word);
      return true;
  }
}

static bool part_is_there(const ir_operation *op, const char *form) {
  for (str word = next_word(&form); !str_is(word, ";"); word = next_word(&form)) {
    str name, kind;
    if (word.data[0] != '$') continue;
    split_attribute(word, &name, &kind);
    return find_attribute(op, name) != NULL;
  }
  return false;
}

static bool write_form(assembly_writing *w) {
  const char *form = w->form;
  for (str word = next_word(&form); word.size; word = next_word(&form)) {
    if (str_is(word, ";")) continue;
    if (str_is(word, "?")) {
      if (!part_is_there(w->op, form)) skip_part(&form);
    } else if (!write_word(w, word)) {
      return false;
    }
  }
  return w->next_operand == w->op->operand_count && w->next_region == w->op->region_count;
}

bool assembly_print(const assembly_printer *p, const ir_operation *op) {
  if (!forms[op->op]) return false;
  size_t size = p->out->size;
  assembly_writing w = {.p = p, .out = p->out, .op = op, .form = forms[op->op]};
  if (write_form(&w)) return true;
  p->out->size = size;
  if (p->out->data) p->out->data[size] = 0;
  return false;
}
