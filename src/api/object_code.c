// Values are numbered as they come; what more than one block uses is made in the first one.
#include "api/object_code.h"

#include <inttypes.h>

#include "api/object_call.h"
#include "base/int64.h"
#include "base/vec.h"
#include "prog/program_sizes.h"

typedef struct printer {
  arena *arena;
  const compiled *compiled;
  const program *program;  // marked
  const char *name;
  bool freestanding;
  text *out;
  int values, blocks;                 // so far
  int most_buffers;                   // that anything called takes at once
  int symbols[PROGRAM_MOST_SYMBOLS];  // the values of open sizes
  VEC(str) descriptions;
} printer;

static int value(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

// One operation with a result, whose number is returned.
static int value(printer *p, const char *format, ...) {
  va_list list;
  va_start(list, format);
  text_printf(p->out, "    %%%d = ", p->values);
  text_vprintf(p->out, format, list);
  text_putc(p->out, '\n');
  va_end(list);
  return p->values++;
}

static int constant(printer *p, int64_t n) { return value(p, "llvm.mlir.constant(%" PRId64 " : i64) : i64", n); }
static int binary(printer *p, const char *op, int l, int r) { return value(p, "llvm.%s %%%d, %%%d : i64", op, l, r); }

static int polynomial(printer *p, const int64_t *terms) {
  const program_sizes *s = &p->program->sizes;
  int sum = -1, exponents[PROGRAM_MOST_SYMBOLS];
  for (int t = 0; t < program_sizes_term_count(s); t++) {
    if (terms[t] == 0) continue;
    int product = constant(p, terms[t]);
    program_sizes_exponents(s, t, exponents);
    for (int k = 0; k < s->symbol_count; k++)
      for (int e = 0; e < exponents[k]; e++) product = binary(p, "mul", product, p->symbols[k]);
    sum = sum < 0 ? product : binary(p, "add", sum, product);
  }
  return sum < 0 ? constant(p, 0) : sum;
}

// A number of the program, open ones at the sizes of the call.
static int number(printer *p, int64_t n) {
  const int64_t *terms = object_code_terms(p->program, n);
  return terms ? polynomial(p, terms) : constant(p, n);
}

static void start_block(printer *p, int block) { text_printf(p->out, "  ^block%d:\n", block); }
static void branch(printer *p, int block) { text_printf(p->out, "    llvm.br ^block%d\n", block); }

const char *object_code_constant(arena *a, const char *name, int allocation) {
  return arena_printf(a, "%s_constant_%d", name, allocation);
}

const char *object_code_description(arena *a, const char *name, int call) {
  return arena_printf(a, "%s_call_%d", name, call);
}

const char *object_code_workspace(arena *a, const char *name) { return arena_printf(a, "%s_workspace", name); }

// --- open sizes

static int64_t mark_number(void *context, int open) {
  (void)context;
  return INT64_MIN + open;
}

const program *object_code_mark(arena *a, const program *p) { return program_sizes_map_open(a, p, mark_number, NULL); }

const int64_t *object_code_terms(const program *marked, int64_t number) {
  const program_sizes *s = &marked->sizes;
  return number < INT64_MIN + s->number_count ? s->numbers[number - INT64_MIN].terms : NULL;
}

static int at_least(printer *p, int number, int least) {
  return value(p, "llvm.icmp \"sge\" %%%d, %%%d : i64", number, least);
}

static int both(printer *p, int l, int r) { return value(p, "llvm.and %%%d, %%%d : i1", l, r); }

static bool divides(program_derived_kind kind) {
  return kind == PROGRAM_QUOTIENT || kind == PROGRAM_REMAINDER || kind == PROGRAM_MODULO;
}

// As program_sizes_derive; nothing is divided by 0 at sizes that the program does not run at, either.
static int derive(printer *p, const program_derived_size *d) {
  const int left = polynomial(p, d->left), right = polynomial(p, d->right);
  const char *larger = d->kind == PROGRAM_SMALLER ? "smin" : "smax";
  const int other = divides(d->kind) ? constant(p, 1) : left;
  const int picked = value(p, "llvm.intr.%s(%%%d, %%%d) : (i64, i64) -> i64", larger, right, other);
  if (!divides(d->kind)) return picked;
  if (d->kind == PROGRAM_QUOTIENT) return binary(p, "sdiv", left, picked);
  const int rest = binary(p, "srem", left, picked), more = binary(p, "add", rest, picked);
  const int is_rest = at_least(p, rest, constant(p, 0));
  return value(p, "llvm.select %%%d, %%%d, %%%d : i1, i64", is_rest, rest, more);
}

static void take_sizes(printer *p) {
  const program_sizes *s = &p->program->sizes;
  const int given = program_sizes_given_count(s);
  for (int k = 0; k < given; k++) p->symbols[k] = value(p, "llvm.add %%size%d, %%%d : i64", k, constant(p, 0));
  for (int k = given; k < s->symbol_count; k++) p->symbols[k] = 0;
  for (int k = given; k < s->symbol_count; k++) p->symbols[k] = derive(p, &s->derived[k - given]);
}

// Whether the program runs at the sizes, as program_sizes_solve says.
static int check_sizes(printer *p) {
  const program_sizes *s = &p->program->sizes;
  int holds = value(p, "llvm.mlir.constant(true) : i1");
  for (int k = 0; k < program_sizes_given_count(s); k++) {
    holds = both(p, holds, at_least(p, p->symbols[k], constant(p, s->symbols[k].least)));
    holds = both(p, holds, at_least(p, constant(p, s->symbols[k].most), p->symbols[k]));
  }
  for (int k = 0; k < s->derived_count; k++) {
    const program_derived_size *d = &s->derived[k];
    if (divides(d->kind)) holds = both(p, holds, at_least(p, polynomial(p, d->right), constant(p, 1)));
    if (divides(d->kind) && d->kind != PROGRAM_MODULO)
      holds = both(p, holds, at_least(p, polynomial(p, d->left), constant(p, 0)));
  }
  for (int k = 0; k < s->check_count; k++)
    holds = both(p, holds, at_least(p, polynomial(p, s->checks[k].terms), constant(p, 0)));
  return holds;
}

// The tables that kernels read sizes from lie in front of the temporaries, each from a multiple of 64 bytes. Bytes of
// those of the first `count` allocations.
static int64_t table_bytes(const program *p, int count) {
  int64_t bytes = 0;
  for (int k = 0; k < count; k++)
    if (p->allocations[k].kind == PROGRAM_NUMBERS) bytes += int64_round_up(p->allocations[k].bytes, 64);
  return bytes;
}

static void fill_tables(printer *p) {
  for (int k = 0; k < p->program->allocation_count; k++) {
    const program_allocation *a = &p->program->allocations[k];
    if (a->kind != PROGRAM_NUMBERS) continue;
    const int64_t *numbers = a->data, begin = table_bytes(p->program, k);
    for (int64_t n = 0; n < a->bytes / (int64_t)sizeof *numbers; n++) {
      const int filled = number(p, numbers[n]);
      const int place = value(p, "llvm.getelementptr %%workspace[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8",
                              begin + n * (int64_t)sizeof *numbers);
      text_printf(p->out, "    llvm.store %%%d, %%%d : i64, !llvm.ptr\n", filled, place);
    }
  }
}

static void print_size_arguments(const printer *p) {
  for (int k = 0; k < program_sizes_given_count(&p->program->sizes); k++)
    text_printf(p->out, "%s%%size%d: i64", k ? ", " : "", k);
}

static void print_workspace(printer *p) {
  text_printf(p->out, "  llvm.func @%s(", object_code_workspace(p->arena, p->name));
  print_size_arguments(p);
  text_puts(p->out, ") -> i64 {\n");
  take_sizes(p);
  const int holds = check_sizes(p);
  const int tables = constant(p, table_bytes(p->program, p->program->allocation_count));
  const int bytes = binary(p, "add", number(p, p->program->temporary_bytes), tables), none = constant(p, -1);
  text_printf(p->out, "    llvm.return %%%d : i64\n  }\n",
              value(p, "llvm.select %%%d, %%%d, %%%d : i1, i64", holds, bytes, none));
}

// --- memory

// An allocation's address. Constants' are taken where they are used.
static int base_of(printer *p, int allocation) {
  const program_allocation *a = &p->program->allocations[allocation];
  switch (a->kind) {
    case PROGRAM_CONSTANT:
      return value(p, "llvm.mlir.addressof @%s : !llvm.ptr", object_code_constant(p->arena, p->name, allocation));
    case PROGRAM_PARAMETER: return value(p, "llvm.getelementptr %%in%d[0] : (!llvm.ptr) -> !llvm.ptr, i8", a->number);
    case PROGRAM_RESULT: return value(p, "llvm.getelementptr %%out%d[0] : (!llvm.ptr) -> !llvm.ptr, i8", a->number);
    default:
      return value(p, "llvm.getelementptr %%workspace[%" PRId64 "] : (!llvm.ptr) -> !llvm.ptr, i8",
                   table_bytes(p->program, a->kind == PROGRAM_NUMBERS ? allocation : p->program->allocation_count));
  }
}

static int address_at(printer *p, int base, int offset) {
  return value(p, "llvm.getelementptr %%%d[%%%d] : (!llvm.ptr, i64) -> !llvm.ptr, i8", base, offset);
}

static int slice_address(printer *p, int slice) {
  const program_slice *s = &p->program->slices[slice];
  const int base = base_of(p, s->allocation);
  return s->offset ? address_at(p, base, number(p, s->offset)) : base;
}

static void move(printer *p, int to, int from, int bytes) {
  value(p, "llvm.call @memmove(%%%d, %%%d, %%%d) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr", to, from, bytes);
}

// --- loops

typedef struct loop {
  int head, end, counter;
} loop;

// Between the two: what is done for 0 … trips - 1.
static loop start_loop(printer *p, int64_t trips) {
  const int zero = number(p, 0), last = number(p, trips);
  loop l = {.head = p->blocks++, .counter = p->values++};
  const int body = p->blocks++;
  l.end = p->blocks++;
  text_printf(p->out, "    llvm.br ^block%d(%%%d : i64)\n  ^block%d(%%%d: i64):\n", l.head, zero, l.head, l.counter);
  const int goes_on = value(p, "llvm.icmp \"slt\" %%%d, %%%d : i64", l.counter, last);
  text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^block%d\n", goes_on, body, l.end);
  start_block(p, body);
  return l;
}

static void end_loop(printer *p, const loop *l) {
  const int next = value(p, "llvm.add %%%d, %%%d : i64", l->counter, number(p, 1));
  text_printf(p->out, "    llvm.br ^block%d(%%%d : i64)\n", l->head, next);
  start_block(p, l->end);
}

// --- thunks

static heddle_status print_sequence(printer *p, const program_sequence *s);

static void store_buffers(printer *p, int count, const int *slices) {
  if (count > p->most_buffers) p->most_buffers = count;
  for (int i = 0; i < count; i++) {
    const int address = slice_address(p, slices[i]);
    const int place = value(p, "llvm.getelementptr %%buffers[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr", i);
    text_printf(p->out, "    llvm.store %%%d, %%%d : !llvm.ptr, !llvm.ptr\n", address, place);
  }
}

static heddle_status add_description(printer *p, const program_thunk *t, object_call *call) {
  heddle_status s = object_call_make(p->arena, p->compiled, p->program, t, call);
  if (status_is_ok(s)) vec_push(p->arena, &p->descriptions, str_copy(p->arena, text_view(&call->description)));
  text_free(&call->description);
  return s;
}

// How large the inputs are at the sizes of the call.
static int call_with_sizes(printer *p, const object_call *call, int description, int size) {
  for (int k = 0; k < call->array_count + call->size_count; k++) {
    const bool is_array = k < call->array_count;
    const int input =
        is_array ? number(p, p->program->slices[call->buffers[k]].bytes) : p->symbols[k - call->array_count];
    const int place = value(p, "llvm.getelementptr %%sizes[%d] : (!llvm.ptr) -> !llvm.ptr, i64", k);
    text_printf(p->out, "    llvm.store %%%d, %%%d : i64, !llvm.ptr\n", input, place);
  }
  return value(p,
               "llvm.call @heddle_object_call_sizes(%%%d, %%%d, %%buffers, %%sizes) : (!llvm.ptr, i64, !llvm.ptr, "
               "!llvm.ptr) -> !llvm.ptr",
               description, size);
}

// An error of the runtime's ends the function, which returns it.
static heddle_status print_runtime_call(printer *p, const program_thunk *t) {
  if (p->freestanding)
    return status_at(HEDDLE_UNIMPLEMENTED, t->where, "--freestanding: thunk %s is a %s, which only the runtime has",
                     t->name, program_thunk_kind_name(t->kind));
  object_call call = {0};
  TRY(add_description(p, t, &call));
  store_buffers(p, call.buffer_count, call.buffers);
  const char *symbol = object_code_description(p->arena, p->name, p->descriptions.size - 1);
  const int description = value(p, "llvm.mlir.addressof @%s : !llvm.ptr", symbol);
  const int size = number(p, (int64_t)vec_last(&p->descriptions).size);
  const int error = call.size_count > 0 ? call_with_sizes(p, &call, description, size)
                                        : value(p,
                                                "llvm.call @heddle_object_call(%%%d, %%%d, %%buffers) : (!llvm.ptr, "
                                                "i64, !llvm.ptr) -> !llvm.ptr",
                                                description, size);
  const int none = value(p, "llvm.mlir.zero : !llvm.ptr");
  const int is_none = value(p, "llvm.icmp \"eq\" %%%d, %%%d : !llvm.ptr", error, none);
  const int next = p->blocks++;
  text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^failed(%%%d : !llvm.ptr)\n", is_none, next, error);
  start_block(p, next);
  return status_ok();
}

// Of a kernel with a rest, which counts pieces.
static int whole_tiles(printer *p, const program_kernel *k) {
  const int count = number(p, k->tiles);
  return k->rest > 0 ? binary(p, "sdiv", count, constant(p, k->pieces)) : count;
}

// Of open sizes there may be none.
static void print_tiles(printer *p, const program_kernel *k, int first, int end) {
  static const char call[] = "    llvm.call @%s(%%buffers, %%%d, %%%d) : (!llvm.ptr, i64, i64) -> ()\n";
  if (p->program->sizes.symbol_count == 0) {
    text_printf(p->out, call, k->entry, first, end);
    return;
  }
  const int block = p->blocks++, next = p->blocks++;
  const int any = value(p, "llvm.icmp \"slt\" %%%d, %%%d : i64", first, end);
  text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^block%d\n", any, block, next);
  start_block(p, block);
  text_printf(p->out, call, k->entry, first, end);
  branch(p, next);
  start_block(p, next);
}

static heddle_status print_kernel(printer *p, const program_thunk *t) {
  const program_kernel *k = &p->program->kernels[t->launch.kernel];
  store_buffers(p, t->launch.buffer_count, t->launch.buffers);
  int first = number(p, 0), tiles = whole_tiles(p, k);
  print_tiles(p, k, first, tiles);
  for (const program_kernel *rest; k->rest > 0; k = rest) {
    rest = &p->program->kernels[k->rest];
    first = binary(p, "mul", tiles, constant(p, k->pieces));
    if (rest->rest > 0) first = binary(p, "sdiv", first, constant(p, rest->pieces));
    tiles = whole_tiles(p, rest);
    print_tiles(p, rest, first, tiles);
  }
  return status_ok();
}

static int bytes_of(printer *p, int64_t count, int64_t each) {
  return binary(p, "mul", number(p, count), constant(p, each));
}

// The size that heddle.open_size asks for; null for other calls.
static const int64_t *asked_size(const program_thunk *t) {
  const program_custom_call *c = &t->custom_call;
  if (t->kind != THUNK_CUSTOM_CALL || strcmp(c->target, "heddle.open_size") != 0) return NULL;
  for (int k = 0; k < c->attribute_count; k++)
    if (strcmp(c->attributes[k].name, "value") == 0 && c->attributes[k].kind == NAMED_INTS)
      return c->attributes[k].ints;
  return NULL;
}

static heddle_status print_custom_call(printer *p, const program_thunk *t) {
  const int64_t *asked = asked_size(t);
  if (!asked) return print_runtime_call(p, t);
  const int size = value(p, "llvm.trunc %%%d : i64 to i32", number(p, *asked));
  const int place = slice_address(p, t->results[0].slice);
  text_printf(p->out, "    llvm.store %%%d, %%%d : i32, !llvm.ptr\n", size, place);
  return status_ok();
}

// Row by row, each part where the ones before it end.
static heddle_status print_concatenate(printer *p, const program_thunk *t) {
  const program_concatenate *c = &t->concatenate;
  const int64_t each = dtypes[t->results[0].type].bytes;
  if (dtypes[t->results[0].type].bits < 8) return print_runtime_call(p, t);
  int row = constant(p, 0), position = row;
  for (int k = 0; k < c->size.count; k++) row = binary(p, "add", row, bytes_of(p, c->size.data[k], each));
  const loop l = start_loop(p, c->rows);
  for (int k = 0; k < c->size.count; k++) {
    const int to = binary(p, "mul", l.counter, row);
    const int from = binary(p, "mul", l.counter, bytes_of(p, c->stride.data[k], each));
    const int source = t->operands[c->operand.data[k]].slice;
    const int to_row = address_at(p, slice_address(p, t->results[0].slice), to);
    const int from_row = address_at(p, slice_address(p, source), from);
    const int to_part = address_at(p, to_row, position);
    const int from_part = address_at(p, from_row, bytes_of(p, c->offset.data[k], each));
    const int size = bytes_of(p, c->size.data[k], each);
    move(p, to_part, from_part, size);
    position = binary(p, "add", position, size);
  }
  end_loop(p, &l);
  return status_ok();
}

static heddle_status print_while(printer *p, const program_thunk *t) {
  const int head = p->blocks++, body = p->blocks++, end = p->blocks++;
  branch(p, head);
  start_block(p, head);
  TRY(print_sequence(p, &t->sequences[0]));
  const int control = value(p, "llvm.load %%%d : !llvm.ptr -> i8", slice_address(p, t->control.slice));
  const int zero = value(p, "llvm.mlir.constant(0 : i8) : i8");
  const int goes_on = value(p, "llvm.icmp \"ne\" %%%d, %%%d : i8", control, zero);
  text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^block%d\n", goes_on, body, end);
  start_block(p, body);
  TRY(print_sequence(p, &t->sequences[1]));
  branch(p, head);
  start_block(p, end);
  return status_ok();
}

// A pred takes branch 0 where it is true; a number out of range takes the last branch.
static heddle_status print_conditional(printer *p, const program_thunk *t) {
  const int end = p->blocks++, bits = t->control.is_pred ? 8 : 32;
  const int control = value(p, "llvm.load %%%d : !llvm.ptr -> i%d", slice_address(p, t->control.slice), bits);
  for (int k = 0; k < t->sequence_count; k++) {
    int next = -1;
    if (k + 1 < t->sequence_count) {
      const int branch_block = p->blocks++;
      next = p->blocks++;
      const int wanted = value(p, "llvm.mlir.constant(%d : i%d) : i%d", k, bits, bits);
      const int is =
          value(p, "llvm.icmp \"%s\" %%%d, %%%d : i%d", t->control.is_pred ? "ne" : "eq", control, wanted, bits);
      text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^block%d\n", is, branch_block, next);
      start_block(p, branch_block);
    }
    TRY(print_sequence(p, &t->sequences[k]));
    branch(p, end);
    if (next >= 0) start_block(p, next);
  }
  start_block(p, end);
  return status_ok();
}

static heddle_status print_for(printer *p, const program_thunk *t) {
  const loop l = start_loop(p, t->trip_count);
  TRY(print_sequence(p, &t->sequences[0]));
  end_loop(p, &l);
  return status_ok();
}

static heddle_status print_copy(printer *p, const program_thunk *t) {
  const int to = slice_address(p, t->writes[0]), from = slice_address(p, t->reads[0]);
  move(p, to, from, number(p, p->program->slices[t->writes[0]].bytes));
  return status_ok();
}

static heddle_status print_thunk(printer *p, const program_thunk *t) {
  switch (t->kind) {
    case THUNK_KERNEL: return print_kernel(p, t);
    case THUNK_SEQUENCE:
    case THUNK_CALL: return print_sequence(p, &t->sequences[0]);
    case THUNK_CONDITIONAL: return print_conditional(p, t);
    case THUNK_WHILE: return print_while(p, t);
    case THUNK_FOR: return print_for(p, t);
    case THUNK_COPY: return print_copy(p, t);
    case THUNK_CUSTOM_CALL: return print_custom_call(p, t);
    case THUNK_CONCATENATE: return print_concatenate(p, t);
    default: return print_runtime_call(p, t);
  }
}

// Sequences nest as deep as the program's.
static heddle_status print_sequence(printer *p, const program_sequence *s) {
  for (int k = 0; k < s->count; k++) TRY(print_thunk(p, s->thunks[k]));
  return status_ok();
}

// --- the function

static void print_declarations(printer *p) {
  const program *x = p->program;
  text_puts(p->out, "  llvm.func @memmove(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr\n");
  for (int k = 0; k < x->kernel_count; k++)
    text_printf(p->out, "  llvm.func @%s(!llvm.ptr, i64, i64) attributes {dso_local}\n", x->kernels[k].entry);
  for (int k = 0; k < x->allocation_count; k++)
    if (x->allocations[k].kind == PROGRAM_CONSTANT)
      text_printf(p->out, "  llvm.mlir.global external constant @%s() {dso_local} : i8\n",
                  object_code_constant(p->arena, p->name, k));
  for (int k = 0; k < p->descriptions.size; k++)
    text_printf(p->out, "  llvm.mlir.global external constant @%s() {dso_local} : i8\n",
                object_code_description(p->arena, p->name, k));
  if (p->descriptions.size)
    text_puts(p->out, x->sizes.symbol_count > 0
                          ? "  llvm.func @heddle_object_call_sizes(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> !llvm.ptr\n"
                          : "  llvm.func @heddle_object_call(!llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr\n");
}

static void print_arguments(printer *p) {
  for (int k = 0; k < p->program->parameter_count; k++) text_printf(p->out, "%%in%d: !llvm.ptr, ", k);
  for (int k = 0; k < p->program->result_count; k++) text_printf(p->out, "%%out%d: !llvm.ptr, ", k);
  text_puts(p->out, "%workspace: !llvm.ptr");
  if (p->program->sizes.symbol_count > 0) text_puts(p->out, ", ");
  print_size_arguments(p);
}

// A result that takes over a parameter's memory begins as what that holds.
static void print_donated(printer *p) {
  for (int k = 0; k < p->program->allocation_count; k++) {
    const program_allocation *a = &p->program->allocations[k];
    const int donated = a->kind == PROGRAM_RESULT ? p->program->results[a->number].donated_parameter : -1;
    if (donated < 0) continue;
    const int bytes = number(p, a->bytes);
    text_printf(p->out,
                "    %%%d = llvm.call @memmove(%%out%d, %%in%d, %%%d) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr\n",
                p->values++, a->number, donated, bytes);
  }
}

static void print_end(printer *p) {
  if (!p->descriptions.size) {
    text_puts(p->out, "    llvm.return\n  }\n");
    return;
  }
  const int none = value(p, "llvm.mlir.zero : !llvm.ptr");
  text_printf(p->out, "    llvm.return %%%d : !llvm.ptr\n", none);
  text_puts(p->out, "  ^failed(%error: !llvm.ptr):\n    llvm.return %error : !llvm.ptr\n  }\n");
}

// What the body calls decides what stands before it.
static heddle_status print_function(printer *p, text *body) {
  text *whole = p->out;
  p->out = body;
  take_sizes(p);
  fill_tables(p);
  print_donated(p);
  TRY(print_sequence(p, &p->program->entry));
  print_end(p);
  p->out = whole;
  text_puts(whole, "module {\n");
  print_declarations(p);
  text_printf(whole, "  llvm.func @%s(", p->name);
  print_arguments(p);
  text_printf(whole, ")%s {\n", p->descriptions.size ? " -> !llvm.ptr" : "");
  text_printf(whole, "    %%most = llvm.mlir.constant(%d : i64) : i64\n", p->most_buffers);
  text_puts(whole, "    %buffers = llvm.alloca %most x !llvm.ptr : (i64) -> !llvm.ptr\n");
  if (p->descriptions.size && p->program->sizes.symbol_count > 0)
    text_puts(whole, "    %sizes = llvm.alloca %most x i64 : (i64) -> !llvm.ptr\n");
  text_append(whole, text_view(body));
  if (p->program->sizes.symbol_count > 0) print_workspace(p);
  text_puts(whole, "}\n");
  return status_ok();
}

heddle_status object_code_print(arena *a, const compiled *c, const char *name, bool freestanding, text *out,
                                object_code_calls *calls) {
  printer x = {.arena = a,
               .compiled = c,
               .program = object_code_mark(a, &c->program),
               .name = name,
               .freestanding = freestanding,
               .out = out,
               .most_buffers = 1};
  text body = {0};
  heddle_status s = print_function(&x, &body);
  text_free(&body);
  *calls = (object_code_calls){x.descriptions.size, x.descriptions.data};
  return s;
}
