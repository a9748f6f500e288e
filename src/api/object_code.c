// Values are numbered as they come; what more than one block uses is made in the first one.
#include "api/object_code.h"

#include <inttypes.h>

#include "base/target.h"

typedef struct printer {
  arena *arena;
  const program *program;
  const char *name;
  text *out;
  int values, blocks;  // so far
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

static heddle_status needs_runtime(const program_thunk *t) {
  return status_at(HEDDLE_UNIMPLEMENTED, t->where,
                   "thunk %s is a %s, which only the runtime has: save the program instead", t->name,
                   program_thunk_kind_name(t->kind));
}

static heddle_status print_sequence(printer *p, const program_sequence *s);

static heddle_status print_kernel(printer *p, const program_thunk *t) {
  const program_kernel *k = &p->program->kernels[t->launch.kernel];
  if (k->rest) return needs_runtime(t);
  for (int i = 0; i < t->launch.buffer_count; i++) {
    const int address = slice_address(p, t->launch.buffers[i]);
    const int place = value(p, "llvm.getelementptr %%buffers[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr", i);
    text_printf(p->out, "    llvm.store %%%d, %%%d : !llvm.ptr, !llvm.ptr\n", address, place);
  }
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
  if (dtypes[t->results[0].type].bits < 8) return needs_runtime(t);
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
    default: return needs_runtime(t);
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
}

static void print_arguments(printer *p) {
  for (int k = 0; k < p->program->parameter_count; k++) text_printf(p->out, "%%in%d: !llvm.ptr, ", k);
  for (int k = 0; k < p->program->result_count; k++) text_printf(p->out, "%%out%d: !llvm.ptr, ", k);
  text_puts(p->out, "%workspace: !llvm.ptr");
}

static int most_buffers(const program *p) {
  int most = 1;
  for (int k = 0; k < p->kernel_count; k++)
    if (p->kernels[k].buffer_count > most) most = p->kernels[k].buffer_count;
  return most;
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

heddle_status object_code_print(arena *a, const program *p, const char *name, text *out) {
  printer x = {.arena = a, .program = p, .name = name, .out = out};
  text_puts(out, "module {\n");
  print_declarations(&x);
  text_printf(out, "  llvm.func @%s(", name);
  print_arguments(&x);
  text_puts(out, ") {\n");
  const int count = number(&x, most_buffers(p));
  text_printf(out, "    %%buffers = llvm.alloca %%%d x !llvm.ptr : (i64) -> !llvm.ptr\n", count);
  print_donated(&x);
  TRY(print_sequence(&x, &p->entry));
  text_puts(out, "    llvm.return\n  }\n}\n");
  return status_ok();
}
