// Groups of devices: `{{0,1},{2,3}}`, or in short `[2,2]<=[2,2]T(1,0)`: the devices in order, seen as an array of the
// right-hand dimensions, transposed, and cut into the groups of the left-hand side. Or by the axes of a mesh,
// `mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y','x':(1)2}`: the devices as an array of the axes' sizes, in which
// the members of a group differ along the axes in braces alone, the first of these counting slowest. `:(n)m` is a piece
// of an axis: m steps, of those that are left when the axis is cut into n.
#include <string.h>

#include "hlo/parser.h"

enum { MAX_DIMS = 16, MAX_DEVICES = 1 << 20 };

typedef struct iota {
  int left_rank, right_rank;
  int64_t left[MAX_DIMS], right[MAX_DIMS], order[MAX_DIMS];
} iota;

// Integers between `open` and `close`.
static bool parse_list(parser *p, int open, int close, int64_t *values, int *count) {
  char wanted[4] = {'\'', (char)open, '\''};
  *count = 0;
  if (!parser_expect(p, open, wanted)) return false;
  while (p->tok.kind != close) {
    if (*count && !parser_expect(p, ',', "','")) return false;
    if (*count == MAX_DIMS) return parser_error(p, p->tok, "found more than %d dimensions of groups", MAX_DIMS);
    if (!parser_int(p, &values[*count])) return false;
    ++*count;
  }
  parser_advance(p);
  return true;
}

static bool is_permutation(const int64_t *order, int count) {
  uint64_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (order[i] < 0 || order[i] >= count || (seen >> order[i] & 1)) return false;
    seen |= (uint64_t)1 << order[i];
  }
  return true;
}

// The product, or -1 when it is no sensible number of devices.
static int64_t device_count(const int64_t *dims, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 1 || dims[i] > MAX_DEVICES) return -1;
    count *= dims[i];
    if (count > MAX_DEVICES) return -1;
  }
  return count;
}

static bool parse_iota(parser *p, iota *x) {
  token at = p->tok;
  if (!parse_list(p, '[', ']', x->left, &x->left_rank) || !parser_expect(p, TOKEN_AT_MOST, "'<='") ||
      !parse_list(p, '[', ']', x->right, &x->right_rank))
    return false;
  for (int i = 0; i < x->right_rank; i++) x->order[i] = i;
  if (parser_take_word(p, "T")) {
    int count;
    if (!parse_list(p, '(', ')', x->order, &count)) return false;
    if (count != x->right_rank || !is_permutation(x->order, count))
      return parser_error(p, at, "found an order that is not a permutation of the %d dimensions", x->right_rank);
  }
  int64_t left = device_count(x->left, x->left_rank), right = device_count(x->right, x->right_rank);
  if (x->left_rank == 2 && left == right && left > 0) return true;
  return parser_error(p, at, "found groups that do not divide the devices, wanted such as [2,4]<=[8]");
}

static void expand(arena *a, const iota *x, group_list *out) {
  int64_t group_size = x->left[1], position[MAX_DIMS] = {0}, strides[MAX_DIMS], stride = 1;
  for (int d = x->right_rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= x->right[d];
  }
  out->size = (int)x->left[0];
  out->groups = arena_array(a, int_list, out->size);
  for (int g = 0; g < out->size; g++) {
    int64_t *devices = arena_array(a, int64_t, group_size);
    for (int64_t i = 0; i < group_size; i++) {
      for (int d = 0; d < x->right_rank; d++) devices[i] += position[d] * strides[x->order[d]];
      for (int d = x->right_rank - 1; d >= 0 && ++position[d] == x->right[x->order[d]]; d--) position[d] = 0;
    }
    out->groups[g] = (int_list){devices, (int)group_size};
  }
}

static bool parse_group(parser *p, int_list *out) {
  VEC(int64_t) devices = {0};
  if (!parser_expect(p, '{', "'{' of a group")) return false;
  while (p->tok.kind != '}') {
    int64_t device = 0;
    if (devices.size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parser_int(p, &device)) return false;
    vec_push(p->arena, &devices, device);
  }
  parser_advance(p);
  *out = (int_list){devices.data, devices.size};
  return true;
}

// --- meshes

// Names stand between single quotes, which are no tokens, so that a mesh is read by characters.
typedef struct cursor {
  const char *at, *end;
} cursor;

typedef struct mesh {
  int rank, piece_count;
  str names[MAX_DIMS];
  int64_t sizes[MAX_DIMS];
  int64_t *devices;                                        // by place in the mesh; null: in order
  int64_t piece_sizes[MAX_DIMS], piece_strides[MAX_DIMS];  // what a group has, in places of the mesh
} mesh;

static bool take(cursor *c, const char *wanted) {
  while (c->at < c->end && *c->at == ' ') c->at++;
  size_t size = strlen(wanted);
  if ((size_t)(c->end - c->at) < size || memcmp(c->at, wanted, size) != 0) return false;
  c->at += size;
  return true;
}

static bool take_number(cursor *c, int64_t *out) {
  *out = 0;
  const char *start = c->at;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && *out <= MAX_DEVICES; c->at++)
    *out = *out * 10 + (*c->at - '0');
  return c->at > start && *out <= MAX_DEVICES;
}

static bool take_name(cursor *c, str *out) {
  bool is_quoted = take(c, "'");
  const char *start = c->at, *ends = is_quoted ? "'" : "=,:}] ";
  while (c->at < c->end && *c->at != '\n' && !strchr(ends, *c->at)) c->at++;
  *out = (str){start, (size_t)(c->at - start)};
  return out->size > 0 && (!is_quoted || take(c, "'"));
}

static bool take_numbers(cursor *c, int64_t most, int64_t *out, int64_t *count) {
  *count = 0;
  do {
    if (*count == most || !take(c, "") || !take_number(c, &out[*count])) return false;
    ++*count;
  } while (take(c, ","));
  return true;
}

static bool read_axes(cursor *c, mesh *m) {
  do {
    if (m->rank == MAX_DIMS || !take_name(c, &m->names[m->rank]) || !take(c, "=")) return false;
    if (!take_number(c, &m->sizes[m->rank])) return false;
    m->rank++;
  } while (take(c, ","));
  return take(c, "]") && device_count(m->sizes, m->rank) > 0;
}

// `[4,2]T(1,0)`, as on the right of the short form, or every device.
static bool read_devices(arena *a, cursor *c, int64_t devices, mesh *m) {
  m->devices = arena_array(a, int64_t, devices);
  int64_t count;
  if (!take(c, "[")) return take_numbers(c, devices, m->devices, &count) && take(c, ")") && count == devices;
  iota x = {.left = {1, devices}, .left_rank = 2};
  if (!take_numbers(c, MAX_DIMS, x.right, &count) || !take(c, "]")) return false;
  x.right_rank = (int)count;
  for (int i = 0; i < x.right_rank; i++) x.order[i] = i;
  if (take(c, "T(") && (!take_numbers(c, MAX_DIMS, x.order, &count) || !take(c, ")"))) return false;
  if (count != x.right_rank || !is_permutation(x.order, (int)count) || !take(c, ")")) return false;
  if (device_count(x.right, x.right_rank) != devices) return false;
  group_list all;
  expand(a, &x, &all);
  m->devices = (int64_t *)all.groups[0].data;
  return true;
}

static bool read_piece(cursor *c, mesh *m) {
  str name;
  if (m->piece_count == MAX_DIMS || !take_name(c, &name)) return false;
  int64_t stride = 1;
  int axis = m->rank - 1;
  for (; axis >= 0 && !str_equal(m->names[axis], name); axis--) stride *= m->sizes[axis];
  if (axis < 0) return false;
  int64_t before = 1, size = m->sizes[axis];
  if (take(c, ":") && !(take(c, "(") && take_number(c, &before) && take(c, ")") && take_number(c, &size))) return false;
  if (before < 1 || size < 1 || m->sizes[axis] % (before * size) != 0) return false;
  m->piece_sizes[m->piece_count] = size;
  m->piece_strides[m->piece_count++] = stride * (m->sizes[axis] / before / size);
  return true;
}

static bool read_mesh(arena *a, cursor *c, mesh *m) {
  if (!take(c, "mesh[") || !read_axes(c, m)) return false;
  if (take(c, ",") && !(take(c, "device_ids=(") && read_devices(a, c, device_count(m->sizes, m->rank), m)))
    return false;
  if (!take(c, "{")) return false;
  if (take(c, "}")) return true;
  do {
    if (!read_piece(c, m)) return false;
  } while (take(c, ","));
  return take(c, "}");
}

// The place of member `number` of the group that begins at place `first`.
static int64_t place_of(const mesh *m, int64_t first, int64_t number) {
  for (int k = m->piece_count - 1; k >= 0; k--) {
    first += number % m->piece_sizes[k] * m->piece_strides[k];
    number /= m->piece_sizes[k];
  }
  return first;
}

// False if pieces overlap. A group begins at the first place that none before it has.
static bool expand_mesh(arena *a, const mesh *m, group_list *out) {
  int64_t count = device_count(m->sizes, m->rank), size = 1;
  for (int k = 0; k < m->piece_count; k++) size *= m->piece_sizes[k];
  if (size > count || count % size != 0) return false;
  bool *is_taken = arena_array(a, bool, count);
  out->groups = arena_array(a, int_list, count / size);
  for (int64_t first = 0; first < count; first++) {
    if (is_taken[first]) continue;
    int64_t *devices = arena_array(a, int64_t, size);
    for (int64_t k = 0; k < size; k++) {
      int64_t position = place_of(m, first, k);
      if (position >= count || is_taken[position]) return false;
      is_taken[position] = true;
      devices[k] = m->devices ? m->devices[position] : position;
    }
    out->groups[out->size++] = (int_list){devices, (int)size};
  }
  return true;
}

static bool parse_mesh(parser *p, group_list *out) {
  str source = p->lexer.source;
  cursor c = {source.data + p->tok.start, source.data + source.size};
  mesh m = {0};
  if (!read_mesh(p->arena, &c, &m) || !expand_mesh(p->arena, &m, out)) {
    *out = (group_list){0};
    return parser_error(p, p->tok, "found groups that are no axes of a mesh, wanted such as mesh['x'=2,'y'=4] {'y'}");
  }
  out->text = str_copy(p->arena, (str){source.data + p->tok.start, (size_t)(c.at - source.data) - p->tok.start});
  p->tok.end = (size_t)(c.at - source.data);
  lexer_move(&p->lexer, p->tok.end);
  parser_advance(p);
  return true;
}

bool parser_groups(parser *p, group_list *out) {
  if (p->tok.kind == TOKEN_WORD) return parse_mesh(p, out);
  if (p->tok.kind == '[') {
    iota x = {0};
    size_t start = p->tok.start;
    if (!parse_iota(p, &x)) return false;
    out->text = str_copy(p->arena, (str){p->lexer.source.data + start, p->last_end - start});
    expand(p->arena, &x, out);
    return true;
  }
  VEC(int_list) groups = {0};
  if (!parser_expect(p, '{', "'{' of a list of groups")) return false;
  while (p->tok.kind != '}') {
    int_list group = {0};
    if (groups.size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parse_group(p, &group)) return false;
    vec_push(p->arena, &groups, group);
  }
  parser_advance(p);
  out->groups = groups.data;
  out->size = groups.size;
  return true;
}
