// Chains of windows: loops over tiles of any size that keep rows from turn to turn compute what the chain does, to the
// bit, by the interpreter, and compute no row of a stored value twice.
#include "supertile/tile_carry.h"

#include "opt/passes.h"
#include "opt/testing.h"
#include "supertile/tile_loop.h"

typedef struct example {
  const char *name;
  const char *body;  // of the entry; the root is what is cut
  int dim;
  int least;       // elements of the smallest tile that leaves nothing outside
  int largest;     // of the largest
  int most_ahead;  // turns in front of the first tile, where tiles are the smallest
} example;

static const char computations[] =
    "HloModule m\n"
    "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";

// A convolution along rows of two features.
#define WINDOW(NAME, SHAPE, OPERAND, KERNEL, SIZES) \
  NAME " = f32[" SHAPE "] convolution(" OPERAND ", " KERNEL "), window={" SIZES "}, dim_labels=b0f_0io->b0f\n"

static const example examples[] = {
    {"chain",
     "x = f32[1,24,2] parameter(0) k = f32[3,2,2] parameter(1)\n" WINDOW("a", "1,24,2", "x", "k", "size=3 pad=1_1")
         WINDOW("b", "1,24,2", "a", "k", "size=3 pad=1_1") "ROOT " WINDOW("c", "1,24,2", "b", "k", "size=3 pad=1_1"),
     1, 1, 10, 2},
    {"residual",
     "x = f32[1,24,2] parameter(0) k = f32[3,2,2] parameter(1)\n" WINDOW("a", "1,24,2", "x", "k", "size=3 pad=1_1")
         WINDOW("b", "1,24,2", "a", "k", "size=3 pad=1_1")
             WINDOW("c", "1,24,2", "b", "k", "size=3 pad=1_1") "ROOT d = f32[1,24,2] add(a, c)",
     1, 1, 10, 2},
    {"strides and holes",
     "x = f32[1,48,2] parameter(0) k = f32[3,2,2] parameter(1)\n" WINDOW("a", "1,24,2", "x", "k",
                                                                         "size=3 stride=2 pad=0_1")
         WINDOW("b", "1,24,2", "a", "k", "size=3 pad=2_2 rhs_dilate=2") "ROOT " WINDOW("c", "1,12,2", "b", "k",
                                                                                       "size=3 stride=2 pad=1_0"),
     1, 1, 5, 1},
    {"asymmetric",
     "x = f32[1,20,2] parameter(0) k = f32[4,2,2] parameter(1)\n" WINDOW("a", "1,20,2", "x", "k", "size=4 pad=3_0")
         WINDOW("b", "1,20,2", "a", "k", "size=4 pad=0_3") "ROOT " WINDOW("c", "1,20,2", "b", "k", "size=4 pad=3_0"),
     1, 1, 8, 3},
    {"down and up",
     "x = f32[1,32,2] parameter(0) k = f32[3,2,2] parameter(1) low = f32[] constant(-inf)\n" WINDOW(
         "a", "1,32,2", "x", "k",
         "size=3 pad=1_1") "p = f32[1,16,2] reduce-window(a, low), window={size=1x2x1 stride=1x2x1}, "
                           "to_apply=max\n" WINDOW("b", "1,16,2", "p", "k",
                                                   "size=3 pad=1_1") "u = f32[1,16,2,2] broadcast(b), "
                                                                     "dimensions={0,1,3} v = f32[1,32,2] reshape(u) w "
                                                                     "= f32[1,32,2] add(v, a)\n"
                                                                     "ROOT " WINDOW("c", "1,32,2", "w", "k",
                                                                                    "size=3 pad=1_1"),
     1, 2, 12, 2},
    {"padding",
     "x = f32[24] parameter(0) z = f32[] parameter(1) p = f32[26] pad(x, z), padding=1_1\n"
     "l = f32[24] slice(p), slice={[0:24]} r = f32[24] slice(p), slice={[2:26]} s = f32[24] add(l, r)\n"
     "q = f32[26] pad(s, z), padding=1_1 m = f32[24] slice(q), slice={[0:24]} n = f32[24] slice(q), slice={[2:26]}\n"
     "ROOT t = f32[24] add(m, n)",
     0, 2, 10, 2},
};

typedef struct subject {
  arena *arena;
  module *module;
  literal **arguments;
  plan_steps steps;
} subject;

static void read_subject(const example *e, uint64_t seed, subject *out) {
  *out = (subject){.arena = arena_create()};
  arena *a = out->arena;
  const char *source = arena_printf(a, "%sENTRY e { %s }", computations, e->body);
  testing_require(hlo_parse(a, e->name, str_from(source), &out->module), e->name);
  const computation *entry = out->module->entry;
  out->arguments = arena_array(a, literal *, entry->parameters.size);
  for (int k = 0; k < entry->parameters.size; k++)
    out->arguments[k] = testing_argument(a, entry->parameters.data[k]->shape, &seed);
  out->steps.arena = a;
  for (int k = 0; k < entry->instructions.size; k++) {
    const instruction *i = entry->instructions.data[k];
    stored_value *v = arena_new(a, stored_value);
    *v = (stored_value){true, 1 << 20};
    if (i->opcode != HLO_PARAMETER && !shape_is_scalar(i->shape) && i->opcode != HLO_BROADCAST &&
        i->opcode != HLO_RESHAPE && i->opcode != HLO_SLICE)
      ptr_map_put(a, &out->steps.stored, i, v);
  }
}

static literal *result_of(const subject *x) {
  literal *result = NULL;
  testing_require(eval_module(x->arena, x->module, x->module->entry->parameters.size, x->arguments, &result),
                  "the interpreter");
  return result;
}

static void check_members(const example *e, const tile_group *g) {
  int carried = 0;
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    carried += m->carry_dim >= 0;
    for (int d = 0; d < m->region.rank && m->is_stored; d++) {
      const region_dim *rows = &m->computed.dims[d];
      if (rows->step && rows->size > rows->step)
        fail_msg("%s: rows of " STR_FMT " are computed twice", e->name, STR_ARG(m->instruction->name));
    }
  }
  if (carried == 0) fail_msg("%s: nothing is kept", e->name);
}

// Whether there are such tiles; then their loop is the chain.
static bool check_tile(const example *e, int64_t tile, uint64_t seed) {
  subject x;
  read_subject(e, seed, &x);
  const literal *wanted = result_of(&x);
  region_maps maps = {.arena = x.arena};
  tile_search s = {.arena = x.arena, .steps = &x.steps, .maps = &maps, .exact = true, .may_carry = true};
  tile_search_number(&s, x.module->entry);
  tile_group g;
  computation *body;
  const bool found = tile_group_grow(&s, x.module->entry->root, e->dim, tile, 1000, &g) && g.tile == tile;
  if (found) {
    check_members(e, &g);
    if (tile == e->least && -g.first_turn != e->most_ahead) fail_msg("%s: %d turns ahead", e->name, (int)-g.first_turn);
    testing_require(tile_loop_make(&s, &g, &body), "the loop");
    testing_require(pass_apply(&opt_dead_code, x.module), "dead code");
    testing_require(module_verify(x.module), "the module");
    if (!testing_same(wanted, result_of(&x))) {
      text t = {0};
      hlo_print(&t, x.module, HLO_PRINT_SHORT);
      print_error("%s: tiles of %d\n%s", e->name, (int)tile, text_cstr(&t));
      text_free(&t);
      fail();
    }
  }
  arena_destroy(x.arena);
  return found;
}

static void test_chains(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    const example *e = &examples[k];
    for (int64_t tile = 1; tile <= e->largest + 3; tile++) {
      const bool found = check_tile(e, tile, 11 * (uint64_t)tile);
      if (!found && tile % e->least == 0 && tile <= e->largest) fail_msg("%s: tiles of %d", e->name, (int)tile);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests_name("supertile/tile_carry", tests, NULL, NULL);
}
