// Values are numbered as they come; what more than one block uses is made in the first one.
#include "api/object_code.h"

#include <inttypes.h>

#include "api/object_call.h"
#include "base/vec.h"

typedef struct printer {
  arena *arena;
  const compiled *compiled;
  const program *program;
  const char *name;
  bool freestanding;
  text *out;
  int values, blocks;  // so far
  int most_buffers;    // that anything called takes at once
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

static int number(printer *p, int64_t n) { return value(p, "llvm.mlir.constant(%" PRId64 " : i64) : i64", n); }

static void start_block(printer *p, int block) { text_printf(p->out, "  ^block%d:\n", block); }
static void branch(printer *p, int block) { text_printf(p->out, "    llvm.br ^block%d\n", block); }

const char *object_code_constant(arena *a, const char *name, int allocation) {
  return arena_printf(a, "%s_constant_%d", name, allocation);
}

const char *object_code_description(arena *a, const char *name, int call) {
  return arena_printf(a, "%s_call_%d", name, call);
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
    default: return value(p, "llvm.getelementptr %%workspace[0] : (!llvm.ptr) -> !llvm.ptr, i8");
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
  heddle_status s = object_call_make(p->arena, p->compiled, t, call);
  if (status_is_ok(s)) vec_push(p->arena, &p->descriptions, str_copy(p->arena, text_view(&call->description)));
  text_free(&call->description);
  return s;
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
  const int error =
      value(p, "llvm.call @heddle_object_call(%%%d, %%%d, %%buffers) : (!llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr",
            description, size);
  const int none = value(p, "llvm.mlir.zero : !llvm.ptr");
  const int is_none = value(p, "llvm.icmp \"eq\" %%%d, %%%d : !llvm.ptr", error, none);
  const int next = p->blocks++;
  text_printf(p->out, "    llvm.cond_br %%%d, ^block%d, ^failed(%%%d : !llvm.ptr)\n", is_none, next, error);
  start_block(p, next);
  return status_ok();
}

static heddle_status print_kernel(printer *p, const program_thunk *t) {
  const program_kernel *k = &p->program->kernels[t->launch.kernel];
  store_buffers(p, t->launch.buffer_count, t->launch.buffers);
  const int first = number(p, 0), tiles = number(p, k->tiles);
  text_printf(p->out, "    llvm.call @%s(%%buffers, %%%d, %%%d) : (!llvm.ptr, i64, i64) -> ()\n", k->entry, first,
              tiles);
  return status_ok();
}

// Row by row, each part where the ones before it end.
static heddle_status print_concatenate(printer *p, const program_thunk *t) {
  const program_concatenate *c = &t->concatenate;
  const int64_t each = dtypes[t->results[0].type].bytes;
  int64_t row = 0, position = 0;
  if (dtypes[t->results[0].type].bits < 8) return print_runtime_call(p, t);
  for (int k = 0; k < c->size.count; k++) row += c->size.data[k];
  const loop l = start_loop(p, c->rows);
  for (int k = 0; k < c->size.count; position += c->size.data[k++]) {
    const int to = value(p, "llvm.mul %%%d, %%%d : i64", l.counter, number(p, row * each));
    const int from = value(p, "llvm.mul %%%d, %%%d : i64", l.counter, number(p, c->stride.data[k] * each));
    const int source = t->operands[c->operand.data[k]].slice;
    const int to_row = address_at(p, slice_address(p, t->results[0].slice), to);
    const int from_row = address_at(p, slice_address(p, source), from);
    const int to_part = address_at(p, to_row, number(p, position * each));
    const int from_part = address_at(p, from_row, number(p, c->offset.data[k] * each));
    move(p, to_part, from_part, number(p, c->size.data[k] * each));
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
    text_puts(p->out, "  llvm.func @heddle_object_call(!llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr\n");
}

static void print_arguments(printer *p) {
  for (int k = 0; k < p->program->parameter_count; k++) text_printf(p->out, "%%in%d: !llvm.ptr, ", k);
  for (int k = 0; k < p->program->result_count; k++) text_printf(p->out, "%%out%d: !llvm.ptr, ", k);
  text_puts(p->out, "%workspace: !llvm.ptr");
}

// A result that takes over a parameter's memory begins as what that holds.
static void print_donated(printer *p) {
  for (int k = 0; k < p->program->result_count; k++) {
    const program_value *v = &p->program->results[k];
    if (v->donated_parameter < 0) continue;
    const int bytes = number(p, program_shape_packed_bytes(&v->shape));
    text_printf(p->out,
                "    %%%d = llvm.call @memmove(%%out%d, %%in%d, %%%d) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr\n",
                p->values++, k, v->donated_parameter, bytes);
  }
}

static void print_end(printer *p) {
  if (!p->descriptions.size) {
    text_puts(p->out, "    llvm.return\n  }\n}\n");
    return;
  }
  const int none = value(p, "llvm.mlir.zero : !llvm.ptr");
  text_printf(p->out, "    llvm.return %%%d : !llvm.ptr\n", none);
  text_puts(p->out, "  ^failed(%error: !llvm.ptr):\n    llvm.return %error : !llvm.ptr\n  }\n}\n");
}

// What the body calls decides what stands before it.
static heddle_status print_function(printer *p, text *body) {
  text *whole = p->out;
  p->out = body;
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
  text_append(whole, text_view(body));
  return status_ok();
}

heddle_status object_code_print(arena *a, const compiled *c, const char *name, bool freestanding, text *out,
                                object_code_calls *calls) {
  printer x = {.arena = a,
               .compiled = c,
               .program = &c->program,
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
