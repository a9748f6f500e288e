// Indexing maps as attributes: one attribute per map, whatever its variables are called.
//
// The key is the map's text with all names stripped, so that maps made by different emitters meet in one attribute and
// common subexpression elimination merges what uses them. The first maker's names are kept for printing.
#include <stdlib.h>

#include "base/arena.h"
#include "dialect/hooks.h"
#include "dialect/xla_gpu.h"

xla_gpu_state *xla_gpu_state_create(void) {
  arena *memory = arena_create();
  xla_gpu_state *state = arena_new(memory, xla_gpu_state);
  state->memory = memory;
  return state;
}

void xla_gpu_state_destroy(xla_gpu_state *state) {
  if (state) arena_destroy(state->memory);
}

arena *xla_gpu_memory(MlirContext context) { return xla_gpu_context_state(context)->memory; }
void **xla_gpu_context_slot(MlirContext context) { return &xla_gpu_context_state(context)->slot; }

static void strip_names(indexing_variable *variables, int count) {
  for (int i = 0; i < count; i++) variables[i].name = (str){0};
}

static text key_of(arena *scratch, const indexing_map *map) {
  indexing_map *nameless = indexing_map_copy(scratch, map);
  strip_names(nameless->dims, nameless->dim_count);
  strip_names(nameless->ranges, nameless->range_count);
  strip_names(nameless->rts, nameless->rt_count);
  text key = {0};
  indexing_map_print(&key, nameless);
  return key;
}

// indexing_map_copy shares expressions and names with the map's arena; the attribute outlives that.
static const affine_expr *keep_expr(arena *a, const affine_expr *e) {
  if (!e) return 0;
  affine_expr *kept = arena_new(a, affine_expr);
  *kept = *e;
  kept->lhs = keep_expr(a, e->lhs);
  kept->rhs = keep_expr(a, e->rhs);
  return kept;
}

static void keep_names(arena *a, indexing_variable *variables, int count) {
  for (int i = 0; i < count; i++) variables[i].name = str_copy(a, variables[i].name);
}

static const indexing_map *keep(arena *a, const indexing_map *map) {
  indexing_map *kept = indexing_map_copy(a, map);
  keep_names(a, kept->dims, kept->dim_count);
  keep_names(a, kept->ranges, kept->range_count);
  keep_names(a, kept->rts, kept->rt_count);
  for (int i = 0; i < kept->result_count; i++) kept->results[i] = keep_expr(a, map->results[i]);
  for (int i = 0; i < kept->constraint_count; i++) kept->constraints[i].expr = keep_expr(a, map->constraints[i].expr);
  return kept;
}

MlirAttribute xla_gpu_indexing_map_attribute(MlirContext context, const indexing_map *map) {
  arena *memory = xla_gpu_context_state(context)->memory;
  arena *scratch = arena_create();
  text key = key_of(scratch, map);
  arena_destroy(scratch);
  MlirAttribute attribute = xla_gpu_attribute_for_key(context, mlirStringRefCreate(text_cstr(&key), key.size));
  text_free(&key);
  xla_gpu_map_slot *slot = xla_gpu_attribute_slot(attribute);
  if (slot->map) return attribute;
  slot->map = keep(memory, map);
  text spelling = {0};
  indexing_map_print(&spelling, map);
  slot->spelling = arena_strdup(memory, text_cstr(&spelling), spelling.size);
  text_free(&spelling);
  return attribute;
}

MlirAttribute xla_gpu_map_from_text(MlirContext context, MlirStringRef spelling, char **error) {
  arena *scratch = arena_create();
  const indexing_map *map = 0;
  MlirAttribute made = {0};
  heddle_status status = indexing_map_parse(scratch, (str){spelling.data, spelling.length}, &map);
  if (status_is_ok(status)) {
    made = xla_gpu_indexing_map_attribute(context, map);
  } else {
    *error = strdup(heddle_status_message(status));
    heddle_status_free(status);
  }
  arena_destroy(scratch);
  return made;
}

bool xla_gpu_is_indexing_map(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && xla_gpu_attribute_slot(attribute) != 0;
}

const indexing_map *xla_gpu_indexing_map(MlirAttribute attribute) {
  xla_gpu_map_slot *slot = xla_gpu_attribute_slot(attribute);
  return slot ? slot->map : 0;
}

int xla_gpu_map_dim_count(MlirAttribute map) { return xla_gpu_indexing_map(map)->dim_count; }

int xla_gpu_map_range_count(MlirAttribute map) { return xla_gpu_indexing_map(map)->range_count; }

int xla_gpu_map_symbol_count(MlirAttribute map) {
  return xla_gpu_indexing_map(map)->range_count + xla_gpu_indexing_map(map)->rt_count;
}

int xla_gpu_map_result_count(MlirAttribute map) { return xla_gpu_indexing_map(map)->result_count; }

MlirStringRef xla_gpu_map_range_name(MlirAttribute map, int range) {
  str name = xla_gpu_indexing_map(map)->ranges[range].name;
  return mlirStringRefCreate(name.data, name.size);
}
