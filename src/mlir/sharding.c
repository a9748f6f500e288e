// Meshes and shardings are kept as text in the small form (`#sdy.mesh<["x"=2, "y"=2]>`); here it is read.
//
// An axis may be used in parts ("x":(1)2 is the major half of x=4), so every axis is first cut where any part begins or
// ends. The pieces of all axes, in the mesh's order, are the digits of a device's place in the mesh; a sharding orders
// the digits anew: those of dim 0, of dim 1 and so on, and behind them those that divide nothing.
#include "mlir/sharding.h"

#include "base/log.h"
#include "base/scan.h"
#include "hlo/device_groups.h"
#include "hlo/tile_sharding.h"

enum { MOST_AXES = 32, MOST_PIECES = 2 * MOST_AXES };

typedef struct mesh {
  int axis_count;
  struct {
    str name;
    int64_t size;
  } axes[MOST_AXES];
  int64_t device_count;
  const int64_t *devices;  // null: in order
} mesh;

// Part of an axis: its digits between those worth `before` and the rest.
typedef struct axis_part {
  int axis;
  int64_t before, size;
} axis_part;

typedef VEC(axis_part) part_list;

typedef struct reader {
  arena *arena;
  scan scan;
  const ir_operation *op;
  str all, manual;
  str mesh_name;  // the last one that was looked up, as a rule the only one; empty: none
  mesh mesh;
} reader;

static heddle_status malformed(const reader *r, const char *wanted) {
  return status_at(HEDDLE_INVALID, r->op->where, STR_FMT ": found " STR_FMT ", wanted %s", STR_ARG(r->op->name),
                   STR_ARG(r->all), wanted);
}

static heddle_status parse_devices(reader *r, mesh *m) {
  VEC(int64_t) list = {0};
  int64_t number;
  bool seen[DEVICE_GROUPS_MOST] = {false};
  do {
    if (!scan_number(&r->scan, &number)) return malformed(r, "device numbers");
    if (number >= m->device_count || seen[number]) return malformed(r, "every device once");
    seen[number] = true;
    vec_push(r->arena, &list, number);
  } while (scan_take(&r->scan, ","));
  m->devices = list.data;
  return list.size == m->device_count && scan_take(&r->scan, "]") ? status_ok() : malformed(r, "every device once");
}

// <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
static heddle_status parse_mesh(reader *r, mesh *m) {
  *m = (mesh){.device_count = 1};
  if (!scan_take(&r->scan, "<") || !scan_take(&r->scan, "[")) return malformed(r, "<[ of a mesh");
  while (!scan_take(&r->scan, "]")) {
    if (m->axis_count && !scan_take(&r->scan, ",")) return malformed(r, "a comma between axes");
    if (m->axis_count == MOST_AXES) return malformed(r, "fewer axes");
    str *name = &m->axes[m->axis_count].name;
    int64_t *size = &m->axes[m->axis_count++].size;
    if (!scan_quoted(&r->scan, name) || !scan_take(&r->scan, "=") || !scan_number(&r->scan, size))
      return malformed(r, "an axis as \"name\"=size");
    if (*size < 1 || *size > DEVICE_GROUPS_MOST || (m->device_count *= *size) > DEVICE_GROUPS_MOST)
      return malformed(r, "a mesh of fewer devices");
  }
  if (scan_take(&r->scan, ",")) {
    if (!scan_take(&r->scan, "device_ids") || !scan_take(&r->scan, "=") || !scan_take(&r->scan, "["))
      return malformed(r, "device_ids=[");
    if (m->axis_count) TRY(parse_devices(r, m));
    else return malformed(r, "axes");
  }
  return scan_take(&r->scan, ">") ? status_ok() : malformed(r, "> behind a mesh");
}

static const ir_attribute *find_mesh(const ir_module *m, str name) {
  const ir_block *body = m->operation->regions[0]->blocks.data[0];
  for (int i = 0; i < body->operations.size; i++) {
    const ir_operation *o = body->operations.data[i];
    const ir_attribute *own = ir_find(o, "sym_name");
    if (o->op == IR_OP_SDY_MESH && own && str_equal(own->text, name)) return ir_find(o, "mesh");
  }
  return NULL;
}

str sharding_behind_word(str text, const char *word) {
  const bool is_closed = str_starts_with(text, "#sdy<");
  const size_t start = is_closed || str_starts_with(text, "#sdy.") ? 5 : text.size;
  size_t n = start;
  while (n < text.size && (text.data[n] == '_' || (text.data[n] >= 'a' && text.data[n] <= 'z'))) n++;
  if (word && !str_is((str){text.data + start, n - start}, word)) return (str){0};
  return n + is_closed < text.size ? (str){text.data + n, text.size - n - is_closed} : (str){0};
}

static heddle_status read_mesh(reader *r, const ir_attribute *x, mesh *out) {
  reader inner = *r;
  if (!x || x->kind != IR_ATTR_OPAQUE) return malformed(r, "a mesh of the module");
  inner.all = x->text;
  inner.scan.left = sharding_behind_word(x->text, "mesh");
  return parse_mesh(&inner, out);
}

// @mesh, or mesh<[…]> in its place
static heddle_status parse_mesh_use(reader *r, const ir_module *m, mesh *out) {
  if (scan_take(&r->scan, "mesh")) return parse_mesh(r, out);
  if (!scan_take(&r->scan, "@")) return malformed(r, "@ and a mesh's name");
  str name;
  if (!scan_quoted(&r->scan, &name)) {
    size_t n = 0;
    while (n < r->scan.left.size && !strchr(", >", r->scan.left.data[n])) n++;
    name = (str){r->scan.left.data, n};
    r->scan.left = (str){name.data + n, r->scan.left.size - n};
  }
  if (!name.size || !str_equal(name, r->mesh_name)) {
    TRY(read_mesh(r, find_mesh(m, name), &r->mesh));
    r->mesh_name = name;
  }
  *out = r->mesh;
  return status_ok();
}

static bool is_manual(const reader *r, str name) {
  scan s = {r->manual};
  str axis;
  while (s.left.size)
    if (!scan_quoted(&s, &axis)) s.left = (str){s.left.data + 1, s.left.size - 1};
    else if (str_equal(axis, name)) return true;
  return false;
}

// "x", or its part "x":(2)4
static heddle_status parse_part(reader *r, const mesh *m, part_list *out) {
  str name;
  axis_part part = {.before = 1};
  if (!scan_quoted(&r->scan, &name)) return malformed(r, "an axis in quotes");
  while (part.axis < m->axis_count && !str_equal(m->axes[part.axis].name, name)) part.axis++;
  if (part.axis == m->axis_count) return malformed(r, "axes of the mesh");
  const int64_t whole = part.size = m->axes[part.axis].size;
  if (scan_take(&r->scan, ":") && (!scan_take(&r->scan, "(") || !scan_number(&r->scan, &part.before) ||
                                   !scan_take(&r->scan, ")") || !scan_number(&r->scan, &part.size)))
    return malformed(r, "a part of an axis as \"x\":(before)size");
  if (part.before < 1 || part.size < 1 || part.before > whole || part.size > whole || whole % (part.before * part.size))
    return malformed(r, "parts that divide their axis");
  if (is_manual(r, name)) vec_push(r->arena, out, part);
  return status_ok();
}

// {"x", "y", ?}p1: `?` and priorities are for propagation.
static heddle_status parse_dim(reader *r, const mesh *m, part_list *out) {
  int64_t priority;
  if (!scan_take(&r->scan, "{")) return malformed(r, "{ of a dim");
  for (bool is_first = true; !scan_take(&r->scan, "}"); is_first = false) {
    if (!is_first && !scan_take(&r->scan, ",")) return malformed(r, "a comma between axes");
    if (!scan_take(&r->scan, "?")) TRY(parse_part(r, m, out));
  }
  if (scan_take(&r->scan, "p") && !scan_number(&r->scan, &priority)) return malformed(r, "a priority");
  return status_ok();
}

// --- pieces

typedef struct piece {
  int axis;
  int64_t before, size, stride;  // stride: of its digit in a device's place in the mesh
  bool is_used;
} piece;

typedef struct piece_list {
  int size;
  piece data[MOST_PIECES];
} piece_list;

// Cuts the axis at the ends of all its parts. Parts that overlap without nesting in digits do not divide each other.
static bool cut_axis(const part_list *parts, int axis, int64_t size, piece_list *out) {
  for (int64_t at = 1; at < size;) {
    int64_t next = size;
    for (int k = 0; k < parts->size; k++) {
      const axis_part *p = &parts->data[k];
      if (p->axis != axis) continue;
      if (p->before > at && p->before < next) next = p->before;
      if (p->before * p->size > at && p->before * p->size < next) next = p->before * p->size;
    }
    if (next % at || out->size == MOST_PIECES) return false;
    out->data[out->size++] = (piece){.axis = axis, .before = at, .size = next / at};
    at = next;
  }
  return true;
}

static bool cut_all(const mesh *m, const part_list *parts, piece_list *out) {
  int64_t stride = 1;
  out->size = 0;
  for (int k = 0; k < m->axis_count; k++)
    if (!cut_axis(parts, k, m->axes[k].size, out)) return false;
  for (int k = out->size - 1; k >= 0; k--) {
    out->data[k].stride = stride;
    stride *= out->data[k].size;
  }
  return true;
}

// The pieces of a part, major first, behind those in `order`; false if another dim has one of them.
static bool take_pieces(const axis_part *part, piece_list *pieces, int *count, int *order, int64_t *tiles) {
  for (int k = 0; k < pieces->size; k++) {
    piece *p = &pieces->data[k];
    if (p->axis != part->axis || p->before < part->before || p->before >= part->before * part->size) continue;
    if (p->is_used) return false;
    p->is_used = true;
    order[(*count)++] = k;
    *tiles *= p->size;
  }
  return true;
}

// The devices, place by place in the new order of digits.
static void print_devices(text *out, const mesh *m, const piece_list *pieces, const int *order) {
  for (int64_t position = 0; position < m->device_count; position++) {
    int64_t rest = position, number = 0;
    for (int k = pieces->size - 1; k >= 0; k--) {
      const piece *p = &pieces->data[order[k]];
      number += rest % p->size * p->stride;
      rest /= p->size;
    }
    text_printf(out, position ? ",%lld" : "%lld", (long long)(m->devices ? m->devices[number] : number));
  }
}

// dims[d] is where the parts of dim d end in `parts`.
static heddle_status print_sharding(const reader *r, const mesh *m, const part_list *parts, int rank, const int *dims,
                                    text *out) {
  piece_list pieces = {0};
  int order[MOST_PIECES] = {0}, count = 0;
  int64_t divided = 1;
  if (!cut_all(m, parts, &pieces)) return malformed(r, "parts of axes that fit together");
  text_puts(out, "{devices=[");
  for (int d = 0, k = 0; d < rank; d++) {
    int64_t tiles = 1;
    for (; k < dims[d]; k++)
      if (!take_pieces(&parts->data[k], &pieces, &count, order, &tiles)) return malformed(r, "every axis once");
    text_printf(out, d ? ",%lld" : "%lld", (long long)tiles);
    divided *= tiles;
  }
  for (int k = 0; k < pieces.size; k++)
    if (!pieces.data[k].is_used) order[count++] = k;
  if (divided < m->device_count) text_printf(out, ",%lld", (long long)(m->device_count / divided));
  text_putc(out, ']');
  print_devices(out, m, &pieces, order);
  text_puts(out, divided < m->device_count ? " last_tile_dim_replicate}" : "}");
  if (divided > 1) return status_ok();
  out->size = 0;
  text_puts(out, "{replicated}");
  return status_ok();
}

// What follows the dims (replicated={…}, unreduced={…}) divides nothing: up to the closing bracket.
static bool skip_rest(reader *r) {
  str name;
  while (r->scan.left.size) {
    if (scan_take(&r->scan, ">")) return true;
    if (!scan_quoted(&r->scan, &name)) r->scan.left = (str){r->scan.left.data + 1, r->scan.left.size - 1};
  }
  return false;
}

// <@mesh, [{"x"}, {}], replicated={"y"}>
static heddle_status parse_sharding(reader *r, const ir_module *m, text *out) {
  mesh on = {0};
  part_list parts = {0};
  int dims[SHAPE_MAX_RANK], rank = 0;
  if (!scan_take(&r->scan, "<")) return malformed(r, "< of a sharding");
  TRY(parse_mesh_use(r, m, &on));
  if (!scan_take(&r->scan, ",") || !scan_take(&r->scan, "[")) return malformed(r, "a list of dims behind the mesh");
  while (!scan_take(&r->scan, "]")) {
    if (rank && !scan_take(&r->scan, ",")) return malformed(r, "a comma between dims");
    if (rank == SHAPE_MAX_RANK) return malformed(r, "fewer dims");
    TRY(parse_dim(r, &on, &parts));
    dims[rank++] = parts.size;
  }
  if (!skip_rest(r)) return malformed(r, "> behind a sharding");
  out->size = 0;
  return print_sharding(r, &on, &parts, rank, dims, out);
}

// [<…>, <…>]
static heddle_status parse_list(reader *r, const ir_module *m, int count, str *out) {
  if (!scan_take(&r->scan, "<") || !scan_take(&r->scan, "[")) return malformed(r, "<[ of a list of shardings");
  text printed = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < count && status_is_ok(status); k++) {
    const bool follows = k == 0 || scan_take(&r->scan, ",");
    status = follows ? parse_sharding(r, m, &printed) : malformed(r, "a sharding for each value");
    out[k] = str_copy(r->arena, text_view(&printed));
  }
  text_free(&printed);
  return status;
}

heddle_status sharding_of_manual(arena *a, const ir_module *m, const ir_operation *op, const char *attribute, int count,
                                 str **out) {
  const ir_attribute *list = ir_find(op, attribute), *manual = ir_find(op, "manual_axes");
  reader r = {.arena = a, .op = op};
  *out = arena_array(a, str, count);
  if (count == 0) return status_ok();
  if (!list || list->kind != IR_ATTR_OPAQUE || !manual || manual->kind != IR_ATTR_OPAQUE)
    return status_at(HEDDLE_INVALID, op->where, STR_FMT " wants %s and manual_axes", STR_ARG(op->name), attribute);
  r.all = list->text;
  r.manual = manual->text;
  r.scan.left = sharding_behind_word(list->text, "sharding_per_value");
  return parse_list(&r, m, count, *out);
}

int sharding_most_devices(arena *a, const ir_module *m) {
  const ir_block *body = m->operation->regions[0]->blocks.data[0];
  int64_t most = 1;
  for (int i = 0; i < body->operations.size; i++) {
    mesh found = {0};
    reader r = {.arena = a, .op = body->operations.data[i], .all = STR("another attribute")};
    if (r.op->op != IR_OP_SDY_MESH) continue;
    heddle_status s = read_mesh(&r, ir_find(r.op, "mesh"), &found);
    if (status_is_ok(s) && found.device_count > most) most = found.device_count;
    heddle_status_free(s);
  }
  return (int)most;
}

// --- shardings that nobody reads

static bool is_ignored(const instruction *i) {
  const str *sharding = attributes_raw(i->attributes, "sharding");
  if (!sharding || !memmem(sharding->data, sharding->size, "devices=", 8) || tile_sharding_is_move(i)) return false;
  for (int k = 0; k < i->users.size; k++)
    if (tile_sharding_is_move(i->users.data[k])) return false;
  return true;
}

void sharding_note_ignored(const module *m, bool has_hints) {
  const int devices = device_groups_partitions(m);
  if (devices < 2) return;
  for (int c = 0; c < m->computations.size && !has_hints; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size && !has_hints; k++) has_hints = is_ignored(all->data[k]);
  }
  if (has_hints)
    log_print(0, "note: shardings of %s are ignored: each of its %d devices computes the whole",
              m->file ? m->file : "the program", devices);
}
