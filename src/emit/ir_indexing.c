// Index arithmetic: indexing maps applied to values, their domains checked, expressions spelled out in arith.
//
// Each result of a map becomes an xla_gpu.apply_indexing of its own: passes that look at one index (vectorization,
// flattening, common subexpressions) then never have to take apart an operation with several results.
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"

static MlirValue apply_one(ir_builder *b, const indexing_map *map, const affine_expr *e, const MlirValue *dims,
                           const MlirValue *symbols) {
  if (e->kind == AFFINE_CONSTANT) return ir_index(b, e->value);
  if (e->kind == AFFINE_DIM) return dims[e->value];
  if (e->kind == AFFINE_SYMBOL) return symbols[e->value];
  indexing_map single = *map;
  single.result_count = 1;
  single.results = &e;
  single.constraint_count = 0;
  single.constraints = 0;
  int symbol_count = map->range_count + map->rt_count;
  MlirValue *operands = arena_array(b->arena, MlirValue, map->dim_count + symbol_count);
  for (int i = 0; i < map->dim_count; i++) operands[i] = dims[i];
  for (int i = 0; i < symbol_count; i++) operands[map->dim_count + i] = symbols[i];
  MlirNamedAttribute attribute = ir_named(b->context, "map", xla_gpu_indexing_map_attribute(b->context, &single));
  return ir_value_with(b, "xla_gpu.apply_indexing", mlirIndexTypeGet(b->context), map->dim_count + symbol_count,
                       operands, 1, &attribute);
}

ir_values ir_apply_indexing(ir_builder *b, const indexing_map *map, const MlirValue *dims, const MlirValue *symbols) {
  ir_values values = {0};
  for (int i = 0; i < map->result_count; i++) {
    MlirValue value = apply_one(b, map, map->results[i], dims, symbols);
    vec_push(b->arena, &values, value);
  }
  return values;
}

// lower <= v and v <= upper; an end that is unbounded is not compared. Null value if nothing is left to check.
static MlirValue check_bounds(ir_builder *b, MlirValue v, interval bounds) {
  MlirValue ge = {0}, le = {0};
  if (bounds.lower != INT64_MIN) ge = ir_cmpi(b, "sge", v, ir_index(b, bounds.lower));
  if (bounds.upper != INT64_MAX) le = ir_cmpi(b, "sle", v, ir_index(b, bounds.upper));
  if (mlirValueIsNull(ge)) return le;
  if (mlirValueIsNull(le)) return ge;
  return ir_binary(b, "arith.andi", ge, le);
}

static MlirValue both(ir_builder *b, MlirValue x, MlirValue y) {
  if (mlirValueIsNull(x)) return y;
  if (mlirValueIsNull(y)) return x;
  return ir_binary(b, "arith.andi", x, y);
}

MlirValue ir_check_constraints(ir_builder *b, const indexing_map *map, const MlirValue *dims, const MlirValue *symbols,
                               bool with_dim_bounds) {
  MlirType i1 = mlirIntegerTypeGet(b->context, 1);
  if (map->is_empty) return ir_int(b, i1, 0);
  MlirValue all = {0};
  for (int i = 0; with_dim_bounds && i < map->dim_count; i++)
    all = both(b, all, check_bounds(b, dims[i], map->dims[i].bounds));
  for (int i = 0; i < map->constraint_count; i++) {
    MlirValue v = apply_one(b, map, map->constraints[i].expr, dims, symbols);
    all = both(b, all, check_bounds(b, v, map->constraints[i].bounds));
  }
  return mlirValueIsNull(all) ? ir_int(b, i1, 1) : all;
}

// Without ranges a dividend may be negative: arith.remsi takes the dividend's sign, mod wants the modulus's.
static MlirValue floor_mod(ir_builder *b, MlirValue x, MlirValue modulus) {
  MlirValue remainder = ir_binary(b, "arith.remsi", x, modulus);
  MlirValue is_negative = ir_cmpi(b, "slt", remainder, ir_index(b, 0));
  return ir_select(b, is_negative, ir_binary(b, "arith.addi", remainder, modulus), remainder);
}

MlirValue ir_affine(ir_builder *b, const affine_expr *e, const MlirValue *dims, const MlirValue *symbols) {
  switch (e->kind) {
    case AFFINE_CONSTANT: return ir_index(b, e->value);
    case AFFINE_DIM: return dims[e->value];
    case AFFINE_SYMBOL: return symbols[e->value];
    default: break;
  }
  MlirValue lhs = ir_affine(b, e->lhs, dims, symbols);
  MlirValue rhs = ir_affine(b, e->rhs, dims, symbols);
  switch (e->kind) {
    case AFFINE_ADD: return ir_binary(b, "arith.addi", lhs, rhs);
    case AFFINE_MUL: return ir_binary(b, "arith.muli", lhs, rhs);
    case AFFINE_FLOORDIV: return ir_binary(b, "arith.floordivsi", lhs, rhs);
    default: return floor_mod(b, lhs, rhs);
  }
}
