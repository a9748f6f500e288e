// Text of affine expressions in MLIR's spelling: `-d0 + (d1 floordiv 8) * 4 - s0 mod 3 - 5`.
//
// What is printed parses back to the same structure, so a right-hand sum keeps its parentheses and `a - b` is written
// only where parsing it makes the same product by a negative constant again. Long sums are deep trees: the work left to
// do is on an explicit stack.
#include "base/vec.h"
#include "index/affine.h"

typedef struct task {
  const affine_expr *expr;  // null: print the literal text
  bool strong;              // the surroundings bind tightly: anything but a leaf wants parentheses
  const char *literal;
  int64_t number;  // printed after the literal if has_number
  bool has_number;
} task;

typedef struct printer {
  text *out;
  arena *scratch;
  VEC(task) stack;
  const str *dim_names;
  const str *symbol_names;
} printer;

static void later(printer *p, task t) { vec_push(p->scratch, &p->stack, t); }
static void later_text(printer *p, const char *literal) { later(p, (task){.literal = literal}); }
static void later_expr(printer *p, const affine_expr *e, bool strong) { later(p, (task){.expr = e, .strong = strong}); }
static void later_number(printer *p, const char *before, int64_t n) {
  later(p, (task){.literal = before, .number = n, .has_number = true});
}

static void print_leaf(printer *p, const affine_expr *e) {
  const str *names = e->kind == AFFINE_DIM ? p->dim_names : p->symbol_names;
  if (e->kind == AFFINE_CONSTANT) {
    text_printf(p->out, "%lld", (long long)e->value);
  } else if (names && names[e->value].size > 0) {
    text_append(p->out, names[e->value]);
  } else {
    text_printf(p->out, "%c%lld", e->kind == AFFINE_DIM ? 'd' : 's', (long long)e->value);
  }
}

// True if ` - x * c` reads back as the node `x * -c`.
static bool can_subtract(const affine_expr *e) {
  bool negative_factor = e->kind == AFFINE_MUL && e->rhs->value < 0 && e->rhs->value != INT64_MIN;
  return negative_factor && e->lhs->kind != AFFINE_MUL;
}

// The tasks of each form are pushed last part first.
static void open_sum(printer *p, const affine_expr *e) {
  const affine_expr *r = e->rhs;
  if (r->kind == AFFINE_CONSTANT && r->value < 0 && r->value != INT64_MIN) {
    later_number(p, " - ", -r->value);
  } else if (can_subtract(r) && r->rhs->value == -1) {
    later_expr(p, r->lhs, r->lhs->kind == AFFINE_ADD);
    later_text(p, " - ");
  } else if (can_subtract(r)) {
    later_number(p, " * ", -r->rhs->value);
    later_expr(p, r->lhs, true);
    later_text(p, " - ");
  } else {
    later_expr(p, r, r->kind == AFFINE_ADD);
    later_text(p, " + ");
  }
  later_expr(p, e->lhs, false);
}

static void open_binary(printer *p, const affine_expr *e) {
  static const char *const operators[] = {
      [AFFINE_MUL] = " * ", [AFFINE_FLOORDIV] = " floordiv ", [AFFINE_MOD] = " mod "};
  if (e->kind == AFFINE_ADD) {
    open_sum(p, e);
  } else if (e->kind == AFFINE_MUL && e->rhs->value == -1) {
    later_expr(p, e->lhs, true);
    later_text(p, "-");
  } else {
    later_number(p, operators[e->kind], e->rhs->value);
    later_expr(p, e->lhs, true);
  }
}

static void print_next(printer *p) {
  task t = vec_pop(&p->stack);
  if (!t.expr) {
    text_puts(p->out, t.literal);
    if (t.has_number) text_printf(p->out, "%lld", (long long)t.number);
  } else if (!t.expr->lhs) {
    print_leaf(p, t.expr);
  } else {
    if (t.strong) {
      text_putc(p->out, '(');
      later_text(p, ")");
    }
    open_binary(p, t.expr);
  }
}

void affine_print(text *out, const affine_expr *e, const str *dim_names, const str *symbol_names) {
  printer p = {.out = out, .scratch = arena_create(), .dim_names = dim_names, .symbol_names = symbol_names};
  later_expr(&p, e, false);
  while (p.stack.size > 0) print_next(&p);
  arena_destroy(p.scratch);
}
