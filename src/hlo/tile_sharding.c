// Reads a sharding's text, which the HLO parser leaves as it is, and checks what it means for two shapes.
#include "hlo/tile_sharding.h"

#include "base/scan.h"
#include "hlo/device_groups.h"

typedef struct cursor {
  scan scan;
  str all;
  source_location where;
} cursor;

static heddle_status malformed(const cursor *c, const char *wanted) {
  return status_at(HEDDLE_INVALID, c->where, "found sharding " STR_FMT ", wanted %s", STR_ARG(c->all), wanted);
}

// Numbers up to `close`; null: up to where no comma follows.
static bool take_numbers(arena *a, cursor *c, const char *close, int *count, int64_t **out) {
  VEC(int64_t) list = {0};
  int64_t number;
  do {
    if (!scan_number(&c->scan, &number)) return false;
    vec_push(a, &list, number);
  } while (scan_take(&c->scan, ","));
  *count = list.size;
  *out = list.data;
  return !close || scan_take(&c->scan, close);
}

// More dims than arrays have, each with a twin for devices that have the same part.
enum { MOST_DIMS = 2 * SHAPE_MAX_RANK };

static bool product_of(int count, const int64_t *dims, int64_t *out) {
  *out = 1;
  if (count > MOST_DIMS) return false;
  for (int k = 0; k < count; k++) {
    if (dims[k] < 1 || dims[k] > DEVICE_GROUPS_MOST) return false;
    *out *= dims[k];
    if (*out > DEVICE_GROUPS_MOST) return false;
  }
  return true;
}

static bool is_permutation(int count, const int64_t *values) {
  bool seen[DEVICE_GROUPS_MOST] = {false};
  for (int k = 0; k < count; k++) {
    if (values[k] < 0 || values[k] >= count || seen[values[k]]) return false;
    seen[values[k]] = true;
  }
  return true;
}

// Numbers 0 … count - 1 as an array of `dims`, its dims permuted, row by row.
static void transpose_iota(int rank, const int64_t *dims, const int64_t *permutation, int count, int64_t *out) {
  int64_t strides[MOST_DIMS];
  for (int k = rank - 1, stride = 1; k >= 0; stride *= (int)dims[k--]) strides[k] = stride;
  for (int position = 0; position < count; position++) {
    int64_t rest = position, number = 0;
    for (int k = rank - 1; k >= 0; k--) {
      const int64_t from = permutation ? permutation[k] : k;
      number += rest % dims[from] * strides[from];
      rest /= dims[from];
    }
    out[position] = number;
  }
}

// <=[2,2]T(1,0) behind the grid's dims
static heddle_status parse_iota(arena *a, cursor *c, tile_sharding *s) {
  int rank, permuted;
  int64_t *dims, *permutation = NULL, product;
  if (!take_numbers(a, c, "]", &rank, &dims)) return malformed(c, "sizes behind <=[");
  if (!product_of(rank, dims, &product) || product != s->count) return malformed(c, "as many devices as places");
  if (scan_take(&c->scan, "T(") &&
      (!take_numbers(a, c, ")", &permuted, &permutation) || permuted != rank || !is_permutation(rank, permutation)))
    return malformed(c, "a permutation behind T");
  s->devices = arena_array(a, int64_t, s->count);
  transpose_iota(rank, dims, permutation, s->count, s->devices);
  return status_ok();
}

static heddle_status parse_grid(arena *a, cursor *c, tile_sharding *s) {
  int64_t product;
  int listed;
  if (!take_numbers(a, c, "]", &s->rank, &s->dims)) return malformed(c, "sizes behind devices=[");
  if (!product_of(s->rank, s->dims, &product))
    return status_at(HEDDLE_INVALID, c->where,
                     "found sharding " STR_FMT ", wanted 1 to %d devices in at most %d dimensions", STR_ARG(c->all),
                     DEVICE_GROUPS_MOST, MOST_DIMS);
  s->count = (int)product;
  if (scan_take(&c->scan, "<=[")) return parse_iota(a, c, s);
  if (!take_numbers(a, c, NULL, &listed, &s->devices)) return malformed(c, "device numbers");
  if (listed != s->count || !is_permutation(listed, s->devices)) return malformed(c, "every device once");
  return status_ok();
}

heddle_status tile_sharding_parse(arena *a, str text, source_location where, tile_sharding *out) {
  cursor c = {{text}, text, where};
  *out = (tile_sharding){0};
  if (!scan_take(&c.scan, "{")) return malformed(&c, "{ … }");
  if (scan_take(&c.scan, "replicated") || scan_take(&c.scan, "manual") || scan_take(&c.scan, "maximal") ||
      scan_take(&c.scan, "unknown"))
    return status_ok();
  if (!scan_take(&c.scan, "devices=[")) return malformed(&c, "replicated, manual, maximal, unknown or devices=");
  TRY(parse_grid(a, &c, out));
  return text.data[text.size - 1] == '}' ? status_ok() : malformed(&c, "} at the end");
}

// --- the two custom calls

static bool gathers(const instruction *i) { return str_is(i->attributes->custom_call_target, "SPMDShardToFullShape"); }

bool tile_sharding_is_move(const instruction *i) {
  if (i->opcode != HLO_CUSTOM_CALL) return false;
  return gathers(i) || str_is(i->attributes->custom_call_target, "SPMDFullToShardShape");
}

// The call that makes the whole has its sharding; where it is taken apart, it was annotated before.
static heddle_status find_sharding(arena *a, const instruction *i, tile_sharding *out) {
  const instruction *annotated = gathers(i) ? i : i->operands[0];
  const str *text = attributes_raw(annotated->attributes, "sharding");
  *out = (tile_sharding){0};
  return text ? tile_sharding_parse(a, *text, annotated->where, out) : status_ok();
}

int tile_move_devices(const instruction *i) {
  tile_sharding s = {0};
  if (i->operand_count != 1 || shape_same_dims(i->shape, i->operands[0]->shape)) return 1;
  arena *scratch = arena_create();
  heddle_status status = find_sharding(scratch, i, &s);
  const int devices = status_is_ok(status) && s.rank ? s.count : 1;
  heddle_status_free(status);
  arena_destroy(scratch);
  return devices;
}

static heddle_status check_dims(arena *a, const instruction *i, tile_move *out) {
  const tile_sharding *s = &out->sharding;
  for (int d = 0; d < out->whole->rank; d++) {
    const int64_t whole = out->whole->dims[d], part = out->part->dims[d], tiles = s->rank ? s->dims[d] : 1;
    out->parts[d] = whole == part ? 1 : tiles;
    if (part * out->parts[d] == whole) continue;
    return status_at(HEDDLE_INVALID, i->where, "found %s and its part %s, wanted dimension %d in %lld equal parts",
                     shape_text(a, out->whole), shape_text(a, out->part), d, (long long)tiles);
  }
  return status_ok();
}

heddle_status tile_move_of(arena *a, const instruction *i, int partitions, tile_move *out) {
  const str target = i->attributes->custom_call_target;
  *out = (tile_move){.gathers = gathers(i)};
  if (i->operand_count != 1 || !shape_is_array(i->shape) || !shape_is_array(i->operands[0]->shape) ||
      !shape_is_static(i->shape) || !shape_is_static(i->operands[0]->shape) ||
      i->shape->rank != i->operands[0]->shape->rank || i->shape->dtype != i->operands[0]->shape->dtype)
    return status_at(HEDDLE_INVALID, i->where, STR_FMT " wants one array and gives one of its type and rank",
                     STR_ARG(target));
  out->whole = out->gathers ? i->shape : i->operands[0]->shape;
  out->part = out->gathers ? i->operands[0]->shape : i->shape;
  if (!shape_same_dims(out->whole, out->part)) TRY(find_sharding(a, i, &out->sharding));
  if (out->sharding.rank && out->sharding.rank < out->whole->rank)
    return status_at(HEDDLE_INVALID, i->where, "found a sharding of rank %d for %s", out->sharding.rank,
                     shape_text(a, out->whole));
  TRY(check_dims(a, i, out));
  bool divides = false;
  for (int d = 0; d < out->whole->rank; d++) divides = divides || out->parts[d] > 1;
  if (!divides || out->sharding.count == partitions) return status_ok();
  return status_at(HEDDLE_INVALID, i->where,
                   STR_FMT " divides %s among %d devices, but the module's num_partitions is %d", STR_ARG(target),
                   shape_text(a, out->whole), out->sharding.count, partitions);
}

static int64_t place_of(const tile_sharding *s, int device) {
  int64_t position = 0;
  while (position < s->count && s->devices[position] != device) position++;
  return position;
}

static bool is_divided(const tile_move *move, int k) { return k < move->whole->rank && move->parts[k] > 1; }

bool tile_move_joins(const tile_move *move, int device, int other) {
  const tile_sharding *s = &move->sharding;
  int64_t left = place_of(s, device), right = place_of(s, other);
  for (int k = s->rank - 1; k >= 0; k--) {
    if (!is_divided(move, k) && left % s->dims[k] != right % s->dims[k]) return false;
    left /= s->dims[k];
    right /= s->dims[k];
  }
  return true;
}

void tile_move_start(const tile_move *move, int device, int64_t start[SHAPE_MAX_RANK]) {
  const tile_sharding *s = &move->sharding;
  int64_t position = place_of(s, device);
  memset(start, 0, SHAPE_MAX_RANK * sizeof *start);
  for (int k = s->rank - 1; k >= 0; k--) {
    if (is_divided(move, k)) start[k] = position % s->dims[k] * move->part->dims[k];
    position /= s->dims[k];
  }
}
