// Shardings: {replicated}, {maximal device=0}, {devices=[2,1]0,1}, {devices=[2,2]<=[2,2]T(1,0)
// last_tile_dims={manual}}, and lists of them for tuples.
#include "proto/transfer.h"

static const char *const type_names[] = {"replicated", "maximal", NULL, NULL, "manual", "unknown", "unreduced"};
enum { TYPE_COUNT = sizeof type_names / sizeof *type_names };

static const char *type_name(int type) { return type >= 0 && type < TYPE_COUNT ? type_names[type] : NULL; }

// `<=[dims]T(order)`: the order names each of the dims once.
static heddle_status check_order(arena *a, const Xla__OpSharding *s) {
  const size_t rank = s->n_iota_reshape_dims;
  bool *has = arena_array(a, bool, rank);
  if (s->n_iota_transpose_perm != rank)
    return status_error(HEDDLE_INVALID, "found a transposition of %zu dimensions in a sharding, wanted %zu",
                        s->n_iota_transpose_perm, rank);
  for (size_t k = 0; k < rank; k++) {
    const int32_t dim = s->iota_transpose_perm[k];
    if (dim < 0 || (size_t)dim >= rank || has[dim])
      return status_error(HEDDLE_INVALID, "found dimension %d in the transposition of a sharding, wanted each once",
                          dim);
    has[dim] = true;
  }
  return status_ok();
}

// --- to text

static void print_int64s(text *out, size_t count, const int64_t *values) {
  for (size_t k = 0; k < count; k++) text_printf(out, "%s%lld", k ? "," : "", (long long)values[k]);
}

static void print_tiles(text *out, const Xla__OpSharding *from) {
  text_puts(out, "devices=[");
  print_int64s(out, from->n_tile_assignment_dimensions, from->tile_assignment_dimensions);
  text_putc(out, ']');
  if (!from->n_iota_reshape_dims) print_int64s(out, from->n_tile_assignment_devices, from->tile_assignment_devices);
  if (from->n_iota_reshape_dims) {
    text_puts(out, "<=[");
    print_int64s(out, from->n_iota_reshape_dims, from->iota_reshape_dims);
    text_putc(out, ']');
    bool is_moved = false;
    for (size_t k = 0; k < from->n_iota_transpose_perm; k++) is_moved |= from->iota_transpose_perm[k] != (int32_t)k;
    for (size_t k = 0; is_moved && k < from->n_iota_transpose_perm; k++)
      text_printf(out, "%s%d", k ? "," : "T(", from->iota_transpose_perm[k]);
    if (is_moved) text_putc(out, ')');
  }
  if (from->replicate_on_last_tile_dim) text_puts(out, " last_tile_dim_replicate");
  for (size_t k = 0; k < from->n_last_tile_dims; k++) {
    const char *name = type_name((int)from->last_tile_dims[k]);
    text_printf(out, "%s%s", k ? ", " : " last_tile_dims={", name ? name : "unknown");
  }
  if (from->n_last_tile_dims) text_putc(out, '}');
}

static void print_one(text *out, const Xla__OpSharding *from) {
  const char *name = type_name((int)from->type);
  text_putc(out, '{');
  if (name) text_puts(out, name);
  else print_tiles(out, from);
  if (from->type == XLA__OP_SHARDING__TYPE__MAXIMAL)
    text_printf(out, " device=%lld",
                (long long)(from->n_tile_assignment_devices ? from->tile_assignment_devices[0] : 0));
  if (from->is_shard_group)
    text_printf(out, " shard_%s %lld",
                from->shard_group_type == XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE ? "like" : "as",
                (long long)from->shard_group_id);
  text_putc(out, '}');
}

heddle_status proto_sharding_text(arena *a, const Xla__OpSharding *from, str *out) {
  text t = {0};
  *out = (str){0};
  // Fields this schema does not know hold shardings over named meshes; what is left of them here would mislead.
  if (!from || from->base.n_unknown_fields) return status_ok();
  if (from->type != XLA__OP_SHARDING__TYPE__TUPLE) {
    TRY(check_order(a, from));
    print_one(&t, from);
    *out = proto_keep(a, &t);
    return status_ok();
  }
  for (size_t k = 0; k < from->n_tuple_shardings; k++) TRY(check_order(a, from->tuple_shardings[k]));
  text_putc(&t, '{');
  for (size_t k = 0; k < from->n_tuple_shardings; k++) {
    if (k) text_puts(&t, ", ");
    if (k && k % 5 == 0) text_printf(&t, "/*index=%zu*/", k);
    print_one(&t, from->tuple_shardings[k]);
  }
  text_putc(&t, '}');
  *out = proto_keep(a, &t);
  return status_ok();
}

// --- from text

typedef VEC(int64_t) int64_list;

static heddle_status unexpected(token t, const char *wanted) {
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "' in a sharding, wanted %s", STR_ARG(t.text), wanted);
}

static token peek(const lexer *l) {
  lexer copy = *l;
  return lexer_next(&copy);
}

static heddle_status parse_int64s(arena *a, lexer *l, int open, int close, int64_list *out) {
  token t = lexer_next(l);
  if (t.kind != open) return unexpected(t, "an opening bracket");
  for (t = lexer_next(l); t.kind != close; t = lexer_next(l)) {
    int64_t value;
    if (t.kind == ',' && out->size) continue;
    TRY(proto_token_int(t, &value));
    vec_push(a, out, value);
  }
  return status_ok();
}

// Devices up to something that is no number: 0,1,2
static heddle_status parse_devices(arena *a, lexer *l, Xla__OpSharding *out) {
  int64_list devices = {0};
  while (peek(l).kind == TOKEN_NUMBER || peek(l).kind == ',') {
    token t = lexer_next(l);
    int64_t value;
    if (t.kind == ',') continue;
    TRY(proto_token_int(t, &value));
    vec_push(a, &devices, value);
  }
  out->n_tile_assignment_devices = (size_t)devices.size;
  out->tile_assignment_devices = devices.data;
  return status_ok();
}

// <=[2,2]T(1,0)
static heddle_status parse_iota(arena *a, lexer *l, Xla__OpSharding *out) {
  int64_list dims = {0}, order = {0};
  TRY(parse_int64s(a, l, '[', ']', &dims));
  if (str_is(peek(l).text, "T")) {
    lexer_next(l);
    TRY(parse_int64s(a, l, '(', ')', &order));
  } else {
    for (int k = 0; k < dims.size; k++) vec_push(a, &order, k);
  }
  out->n_iota_reshape_dims = (size_t)dims.size;
  out->iota_reshape_dims = dims.data;
  out->n_iota_transpose_perm = (size_t)order.size;
  out->iota_transpose_perm = arena_array(a, int32_t, order.size);
  for (int k = 0; k < order.size; k++)
    out->iota_transpose_perm[k] = order.data[k] == (int32_t)order.data[k] ? (int32_t)order.data[k] : -1;
  return check_order(a, out);
}

static heddle_status find_type(token t, Xla__OpSharding__Type *out) {
  for (int type = 0; type < TYPE_COUNT; type++) {
    if (!type_names[type] || !str_is(t.text, type_names[type])) continue;
    *out = (Xla__OpSharding__Type)type;
    return status_ok();
  }
  return unexpected(t, "a kind of sharding");
}

// {manual, replicated}
static heddle_status parse_last_dims(arena *a, lexer *l, Xla__OpSharding *out) {
  VEC(Xla__OpSharding__Type) types = {0};
  token t = lexer_next(l);
  if (t.kind != '{') return unexpected(t, "'{'");
  for (t = lexer_next(l); t.kind != '}'; t = lexer_next(l)) {
    Xla__OpSharding__Type type;
    if (t.kind == ',' && types.size) continue;
    TRY(find_type(t, &type));
    vec_push(a, &types, type);
  }
  out->n_last_tile_dims = (size_t)types.size;
  out->last_tile_dims = types.data;
  return status_ok();
}

static heddle_status parse_entry(arena *a, lexer *l, token word, Xla__OpSharding *out) {
  bool has_value = str_is(word.text, "devices") || str_is(word.text, "device") || str_is(word.text, "last_tile_dims") ||
                   str_is(word.text, "metadata");
  if (has_value) {
    token t = lexer_next(l);
    if (t.kind != '=') return unexpected(t, "'='");
  }
  if (str_is(word.text, "devices")) {
    int64_list dims = {0};
    out->type = XLA__OP_SHARDING__TYPE__OTHER;
    TRY(parse_int64s(a, l, '[', ']', &dims));
    out->n_tile_assignment_dimensions = (size_t)dims.size;
    out->tile_assignment_dimensions = dims.data;
    if (peek(l).kind != TOKEN_AT_MOST) return parse_devices(a, l, out);
    lexer_next(l);
    return parse_iota(a, l, out);
  }
  if (str_is(word.text, "device")) {
    out->n_tile_assignment_dimensions = 1;
    out->tile_assignment_dimensions = arena_new(a, int64_t);
    out->tile_assignment_dimensions[0] = 1;
    return parse_devices(a, l, out);
  }
  if (str_is(word.text, "last_tile_dims")) return parse_last_dims(a, l, out);
  if (str_is(word.text, "metadata")) {
    const char *problem = NULL;
    peek(l).kind == '{' ? lexer_move(l, peek(l).start) : (void)0;
    lexer_move(l, lexer_value_end(l, &problem));
    return problem ? unexpected(word, "a value that ends") : status_ok();
  }
  if (str_is(word.text, "last_tile_dim_replicate")) {
    out->replicate_on_last_tile_dim = true;
    return status_ok();
  }
  if (!str_is(word.text, "shard_as") && !str_is(word.text, "shard_like")) return find_type(word, &out->type);
  out->is_shard_group = true;
  out->shard_group_type =
      str_is(word.text, "shard_as") ? XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS : XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE;
  return proto_token_int(lexer_next(l), &out->shard_group_id);
}

// What stands behind the opening brace, up to the closing one.
static heddle_status parse_one(arena *a, lexer *l, Xla__OpSharding *out) {
  for (token t = lexer_next(l); t.kind != '}'; t = lexer_next(l)) {
    if (t.kind != TOKEN_WORD) return unexpected(t, "a word");
    TRY(parse_entry(a, l, t, out));
  }
  return status_ok();
}

static heddle_status parse_sharding(arena *a, lexer *l, Xla__OpSharding **out) {
  VEC(Xla__OpSharding *) elements = {0};
  HLO_PROTO_NEW(a, *out, OpSharding, op_sharding);
  token t = lexer_next(l);
  if (t.kind != '{') return unexpected(t, "'{'");
  if (peek(l).kind != '{' && peek(l).kind != '}') return parse_one(a, l, *out);
  (*out)->type = XLA__OP_SHARDING__TYPE__TUPLE;
  for (t = lexer_next(l); t.kind != '}'; t = lexer_next(l)) {
    Xla__OpSharding *element;
    if (t.kind == ',' && elements.size) continue;
    if (t.kind != '{') return unexpected(t, "'{'");
    HLO_PROTO_NEW(a, element, OpSharding, op_sharding);
    TRY(parse_one(a, l, element));
    vec_push(a, &elements, element);
  }
  (*out)->n_tuple_shardings = (size_t)elements.size;
  (*out)->tuple_shardings = elements.data;
  return status_ok();
}

heddle_status proto_sharding_from(arena *a, str source, Xla__OpSharding **out) {
  lexer l = lexer_create(source);
  return parse_sharding(a, &l, out);
}

// --- domains: {kind="sharding", entry={replicated}, exit={maximal device=0}}
// The text sees the domain from the users' side, the message from the operand's: entry and exit change places.

heddle_status proto_read_domain(proto_transfer *t) {
  str entry, exit;
  TRY(status_context(proto_sharding_text(t->arena, t->p->domain_exit_sharding, &entry), "in a domain"));
  TRY(status_context(proto_sharding_text(t->arena, t->p->domain_entry_sharding, &exit), "in a domain"));
  if (!entry.size && !exit.size) return status_ok();
  const char *none = "{replicated}";
  const char *domain = arena_printf(t->arena, "{kind=\"sharding\", entry=%s, exit=%s}", entry.size ? entry.data : none,
                                    exit.size ? exit.data : none);
  proto_add_raw(t, HLO_ATTRIBUTE_DOMAIN, str_from(domain));
  return status_ok();
}

static heddle_status find_sharding(arena *a, str source, const char *name, Xla__OpSharding **out) {
  lexer l = lexer_create(source);
  for (token t = lexer_next(&l); t.kind != TOKEN_END && t.kind != TOKEN_BAD; t = lexer_next(&l)) {
    if (t.kind != TOKEN_WORD || !str_is(t.text, name) || peek(&l).kind != '=') continue;
    lexer_next(&l);
    return parse_sharding(a, &l, out);
  }
  return status_error(HEDDLE_INVALID, "a domain has no %s", name);
}

heddle_status proto_write_domain(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "domain");
  if (!raw) return status_ok();
  TRY(find_sharding(t->arena, *raw, "entry", &t->p->domain_exit_sharding));
  return find_sharding(t->arena, *raw, "exit", &t->p->domain_entry_sharding);
}
