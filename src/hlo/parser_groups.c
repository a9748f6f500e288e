// Groups of devices: `{{0,1},{2,3}}`, or in short `[2,2]<=[2,2]T(1,0)`: the devices in order, seen as an array of the
// right-hand dimensions, transposed, and cut into the groups of the left-hand side.
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
  int64_t group_size = x->left[1], place[MAX_DIMS] = {0}, strides[MAX_DIMS], stride = 1;
  for (int d = x->right_rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= x->right[d];
  }
  out->size = (int)x->left[0];
  out->groups = arena_array(a, int_list, out->size);
  for (int g = 0; g < out->size; g++) {
    int64_t *devices = arena_array(a, int64_t, group_size);
    for (int64_t i = 0; i < group_size; i++) {
      for (int d = 0; d < x->right_rank; d++) devices[i] += place[d] * strides[x->order[d]];
      for (int d = x->right_rank - 1; d >= 0 && ++place[d] == x->right[x->order[d]]; d--) place[d] = 0;
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

// Groups by the axes of a named mesh are not taken apart.
static bool parse_other(parser *p, group_list *out) {
  str value;
  if (!parser_value_text(p, &value)) return false;
  out->text = str_copy(p->arena, value);
  return true;
}

bool parser_groups(parser *p, group_list *out) {
  if (p->tok.kind == TOKEN_WORD || p->tok.kind == TOKEN_BAD) return parse_other(p, out);
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
