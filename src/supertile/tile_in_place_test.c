// Loops that write over arrays that are there: which do, and that tiles of any size compute what the program does, to
// the bit, by the interpreter.
#include "supertile/tile_in_place.h"

#include "opt/passes.h"
#include "opt/testing.h"
#include "supertile/tile_loop.h"

typedef struct example {
  const char *name;
  const char *body;      // of the entry; y is what is cut
  const char *array[2];  // what is written over along each dim; null: nothing is
  const char *further;   // another output, along the dim; null: none
  int further_dim[2];
} example;

#define STENCIL                                                                                               \
  "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) above = f32[7,6] slice(x), slice={[0:7],[1:7]}\n"         \
  "below = f32[7,6] slice(x), slice={[2:9],[1:7]} left = f32[7,6] slice(x), slice={[1:8],[0:6]}\n"            \
  "right = f32[7,6] slice(x), slice={[1:8],[2:8]} s = f32[7,6] add(above, below) t = f32[7,6] add(left, s)\n" \
  "y = f32[7,6] subtract(t, right) one = s32[] constant(1)\n"

static const example examples[] = {
    {"around", STENCIL "z = f32[9,8] dynamic-update-slice(x, y, one, one) ROOT r = f32[9,8] negate(z)", {"x", "x"}},
    {"above the place",
     STENCIL "zero = s32[] constant(-3) z = f32[9,8] dynamic-update-slice(x, y, zero, one) ROOT r = f32[9,8] negate(z)",
     {"x", "x"}},
    {"below the place",
     STENCIL "two = s32[] constant(2) z = f32[9,8] dynamic-update-slice(x, y, two, one) ROOT r = f32[9,8] negate(z)",
     {"x", "x"}},
    {"at an unknown place",
     STENCIL "i = s32[] parameter(1) z = f32[9,8] dynamic-update-slice(x, y, i, one) ROOT r = f32[9,8] negate(z)",
     {NULL, NULL}},
    {"read behind",
     STENCIL "z = f32[9,8] dynamic-update-slice(x, y, one, one) ROOT r = f32[9,8] add(z, x)",
     {NULL, NULL}},
    {"read twice",
     STENCIL "z = f32[9,8] dynamic-update-slice(x, y, one, one) w = f32[9,8] dynamic-update-slice(z, y, one, one)\n"
             "ROOT r = f32[9,8] negate(w)",
     {NULL, NULL}},
    {"read before, within another step",
     "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) s = f32[9,8] add(x, x) q = pred[9,8] compare(s, x), "
     "direction=LT\n"
     "y = f32[9,8] select(q, s, p) ROOT r = f32[9,8] negate(y)",
     {"x", "x"}},
    {"read behind, within another step",
     "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) s = f32[9,8] add(x, x) q = pred[9,8] compare(s, x), "
     "direction=LT\n"
     "y = f32[9,8] select(q, s, p) z = f32[9,8] negate(s) ROOT r = f32[9,8] add(y, z)",
     {NULL, NULL}},
    {"into what nobody reads",
     "p = f32[9,8] parameter(0) q = f32[7,6] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
     "x = f32[9,8] negate(p) y = f32[7,6] negate(q) z = f32[9,8] dynamic-update-slice(x, y, i, j)\n"
     "ROOT r = f32[9,8] negate(z)",
     {"x", "x"}},
    {"added to what is there",
     "p = f32[9,8] parameter(0) q = f32[7,6] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
     "two = s32[] constant(2) k = s32[] multiply(i, two) l = s32[] multiply(i, two) x = f32[9,8] negate(p)\n"
     "s = f32[7,6] dynamic-slice(x, k, j), dynamic_slice_sizes={7,6} y = f32[7,6] add(q, s)\n"
     "z = f32[9,8] dynamic-update-slice(x, y, l, j) ROOT r = f32[9,8] negate(z)",
     {"x", "x"}},
    {"added to what is elsewhere",
     "p = f32[9,8] parameter(0) q = f32[7,6] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
     "x = f32[9,8] negate(p) s = f32[7,6] dynamic-slice(x, j, i), dynamic_slice_sizes={7,6} y = f32[7,6] add(q, s)\n"
     "z = f32[9,8] dynamic-update-slice(x, y, i, j) ROOT r = f32[9,8] negate(z)",
     {NULL, NULL}},
    {"of the same shape",
     "p = f32[9,8] parameter(0) zero = f32[] parameter(1) x = f32[9,8] negate(p)\n"
     "w = f32[11,10] pad(x, zero), padding=1_1x1_1 a = f32[9,8] slice(w), slice={[0:9],[1:9]}\n"
     "b = f32[9,8] slice(w), slice={[2:11],[1:9]} s = f32[9,8] subtract(a, b) y = f32[9,8] multiply(s, x)\n"
     "ROOT r = f32[9,8] negate(y)",
     {"x", "x"}},
    {"upside down",
     "p = f32[9,8] parameter(0) q = f32[9,8] parameter(1) x = f32[9,8] negate(p)\n"
     "s = f32[9,8] reverse(x), dimensions={0} y = f32[9,8] multiply(s, q) ROOT r = f32[9,8] negate(y)",
     {NULL, "x"}},
    {"one row beside all others",
     "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) a = f32[1,8] slice(x), slice={[4:5],[0:8]}\n"
     "s = f32[8] reshape(a) t = f32[9,8] broadcast(s), dimensions={1} y = f32[9,8] subtract(x, t)\n"
     "ROOT r = f32[9,8] negate(y)",
     {NULL, NULL}},
    {"its own end from its beginning",
     "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) a = f32[7,8] slice(x), slice={[0:7],[0:8]}\n"
     "b = f32[2,8] slice(x), slice={[0:2],[0:8]} s = f32[9,8] concatenate(a, b), dimensions={0}\n"
     "y = f32[9,8] multiply(s, x) ROOT r = f32[9,8] negate(y)",
     {NULL, NULL}},
    {"every other row",
     "p = f32[9,8] parameter(0) x = f32[9,8] negate(p) a = f32[4,8] slice(x), slice={[0:8:2],[0:8]}\n"
     "b = f32[4,8] slice(x), slice={[1:9:2],[0:8]} y = f32[4,8] subtract(a, b) one = s32[] constant(1)\n"
     "none = s32[] constant(0) z = f32[9,8] dynamic-update-slice(x, y, one, none) ROOT r = f32[9,8] negate(z)",
     {NULL, NULL}},
    {"two at once",
     "p = f32[6,4] parameter(0) q = f32[4,6] parameter(1) u = f32[6,4] parameter(2) v = f32[6,4] negate(p)\n"
     "w = f32[4,6] negate(q) y = f32[6,4] add(u, v) t = f32[4,6] transpose(u), dimensions={1,0}\n"
     "other = f32[4,6] add(t, w) m = f32[6,4] negate(y) n = f32[4,6] negate(other)\n"
     "ROOT r = (f32[6,4], f32[4,6]) tuple(m, n)",
     {"v", "v"},
     "other",
     {1, 0}},
};

typedef struct subject {
  arena *arena;
  module *module;
  instruction *bottom, *further;
  literal **arguments;
  plan_steps steps;
} subject;

static instruction *named(const computation *c, const char *name) {
  for (int k = 0; name && k < c->instructions.size; k++)
    if (str_is(c->instructions.data[k]->name, name)) return c->instructions.data[k];
  return NULL;
}

// All that is computed is stored, but for slices, padding, constants, and what is named s or t.
static void read_subject(const example *e, uint64_t seed, subject *out) {
  *out = (subject){.arena = arena_create()};
  arena *a = out->arena;
  const char *source = arena_printf(a, "HloModule m\nENTRY e { %s }", e->body);
  testing_require(hlo_parse(a, e->name, str_from(source), &out->module), e->name);
  const computation *entry = out->module->entry;
  out->bottom = named(entry, "y");
  out->further = named(entry, e->further);
  out->arguments = arena_array(a, literal *, entry->parameters.size);
  for (int k = 0; k < entry->parameters.size; k++) {
    const shape *s = entry->parameters.data[k]->shape;
    out->arguments[k] = testing_argument(a, s, &seed);
    if (dtype_is_integer(s->dtype))
      literal_set_int(out->arguments[k], 0, (int64_t)(seed % 7) - dtype_is_signed(s->dtype));
  }
  out->steps.arena = a;
  for (int k = 0; k < entry->instructions.size; k++) {
    const instruction *i = entry->instructions.data[k];
    const bool is_within = str_is(i->name, "s") || str_is(i->name, "t") || i->opcode == HLO_SLICE;
    if (is_within || i->opcode == HLO_PARAMETER || i->opcode == HLO_PAD || i->opcode == HLO_CONSTANT) continue;
    stored_value *v = arena_new(a, stored_value);
    *v = (stored_value){true, 1 << 20};
    ptr_map_put(a, &out->steps.stored, i, v);
    vec_push(a, &out->steps.steps, ((plan_step){.bottom = entry->instructions.data[k]}));
    ptr_map_put(a, &out->steps.numbers, i,
                (void *)(intptr_t)out->steps.steps.size);  // NOLINT(performance-no-int-to-ptr)
  }
}

static literal *result_of(const subject *x) {
  literal *result = NULL;
  testing_require(eval_module(x->arena, x->module, x->module->entry->parameters.size, x->arguments, &result),
                  "the interpreter");
  return result;
}

static void check_array(const example *e, const subject *x, int dim, const tile_group *g) {
  const tile_output *o = &g->outputs.data[0];
  const instruction *wanted = named(x->module->entry, e->array[dim]);
  if (o->array != wanted)
    fail_msg("%s: dim %d in tiles of %d is written over " STR_FMT, e->name, dim, (int)g->tile,
             STR_ARG(o->array ? o->array->name : STR("nothing")));
  if (x->further) assert_ptr_equal(g->outputs.data[1].array, named(x->module->entry, "w"));
}

// Nothing but the bottom is computed in the loop, so that the array stays outside.
static void check_tile(const example *e, int dim, int64_t tile, uint64_t seed) {
  subject x;
  read_subject(e, seed, &x);
  const literal *wanted = result_of(&x);
  region_maps maps = {.arena = x.arena};
  tile_search s = {.arena = x.arena, .steps = &x.steps, .maps = &maps, .exact = true, .may_carry = true};
  tile_search_number(&s, x.module->entry);
  if (x.further) vec_push(x.arena, &s.further, ((tile_output){.instruction = x.further, .dim = e->further_dim[dim]}));
  tile_group g;
  computation *body;
  if (!tile_in_place_grow(&s, x.bottom, dim, tile, 0, &g)) fail_msg("%s: no tiles of %d", e->name, (int)tile);
  check_array(e, &x, dim, &g);
  testing_require(tile_loop_make(&s, &g, &body), "the loop");
  testing_require(pass_apply(&opt_dead_code, x.module), "dead code");
  testing_require(module_verify(x.module), "the module");
  if (!testing_same(wanted, result_of(&x))) {
    text t = {0};
    hlo_print(&t, x.module, HLO_PRINT_SHORT);
    print_error("%s: dim %d in tiles of %d\n%s", e->name, dim, (int)tile, text_cstr(&t));
    text_free(&t);
    fail();
  }
  arena_destroy(x.arena);
}

static void test_arrays(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
    for (int dim = 0; dim < 2; dim++)
      for (int64_t tile = 1; tile <= 2; tile++)
        for (uint64_t seed = 1; seed <= 5; seed++) check_tile(&examples[k], dim, tile, 13 * seed + (uint64_t)tile);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrays)};
  return cmocka_run_group_tests_name("supertile/tile_in_place", tests, NULL, NULL);
}
