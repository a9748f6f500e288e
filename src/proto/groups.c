// Devices of collectives: groups, pairs, channels.
//
// Groups are lists, or in short form an array of consecutive devices that is transposed and cut. The latter stands in
// one of two fields, by the writer's age, and is both expanded and kept as text. So are the axes of a mesh.
#include "hlo/parser.h"
#include "proto/transfer.h"

enum { MAX_DEVICES = 1 << 16, MAX_DEVICE_DIMS = 16 };

static int_list list_of(arena *a, size_t count, const int64_t *from) {
  return (int_list){proto_ints(a, count, from), (int)count};
}

// --- the short form

typedef struct iota {
  int rank;
  int64_t dims[MAX_DEVICE_DIMS], order[MAX_DEVICE_DIMS];
} iota;

static heddle_status read_iota(const Xla__IotaReplicaGroupListProto *from, iota *out) {
  int64_t devices = 1, groups = from->num_replica_groups, each = from->num_devices_per_group;
  size_t rank = from->n_iota_reshape_dims;
  uint32_t seen = 0;
  if (rank > MAX_DEVICE_DIMS || from->n_iota_transpose_perm != rank)
    return status_error(HEDDLE_INVALID, "groups of %zu dimensions are transposed by %zu", rank,
                        from->n_iota_transpose_perm);
  for (size_t k = 0; k < rank; k++) {
    out->dims[k] = from->iota_reshape_dims[k];
    out->order[k] = from->iota_transpose_perm[k];
    if (out->dims[k] < 1 || out->dims[k] > MAX_DEVICES / devices)
      return status_error(HEDDLE_INVALID, "groups have a dimension of %lld devices", (long long)out->dims[k]);
    devices *= out->dims[k];
    if (out->order[k] < 0 || out->order[k] >= (int64_t)rank || (seen >> out->order[k] & 1))
      return status_error(HEDDLE_INVALID, "the transposition of groups is no permutation");
    seen |= 1u << out->order[k];
  }
  out->rank = (int)rank;
  if (groups >= 1 && groups <= devices && each >= 1 && each <= devices && groups * each == devices) return status_ok();
  return status_error(HEDDLE_INVALID, "%lld groups of %lld devices do not make up %lld devices", (long long)groups,
                      (long long)each, (long long)devices);
}

static void expand(arena *a, const iota *x, int64_t groups, int64_t each, group_list *out) {
  int64_t strides[MAX_DEVICE_DIMS], position[MAX_DEVICE_DIMS] = {0}, stride = 1;
  for (int d = x->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= x->dims[d];
  }
  out->size = (int)groups;
  out->groups = arena_array(a, int_list, groups);
  for (int64_t g = 0; g < groups; g++) {
    int64_t *devices = arena_array(a, int64_t, each);
    for (int64_t k = 0; k < each; k++) {
      for (int d = 0; d < x->rank; d++) devices[k] += position[d] * strides[x->order[d]];
      for (int d = x->rank - 1; d >= 0 && ++position[d] == x->dims[x->order[d]]; d--) position[d] = 0;
    }
    out->groups[g] = (int_list){devices, (int)each};
  }
}

static bool is_in_order(const iota *x) {
  for (int d = 0; d < x->rank; d++)
    if (x->order[d] != d) return false;
  return true;
}

static void print_ints(text *out, char open, int count, const int64_t *values, char close) {
  text_putc(out, open);
  for (int k = 0; k < count; k++) text_printf(out, "%s%lld", k ? "," : "", (long long)values[k]);
  text_putc(out, close);
}

static heddle_status read_short(proto_transfer *t, const Xla__IotaReplicaGroupListProto *from, group_list *out) {
  arena *a = t->arena;
  iota x = {0};
  TRY(read_iota(from, &x));
  t->context->devices_left -= from->num_replica_groups * from->num_devices_per_group;
  if (t->context->devices_left < 0) return status_error(HEDDLE_INVALID, "the module's groups have too many devices");
  expand(a, &x, from->num_replica_groups, from->num_devices_per_group, out);
  text brief = {0};
  text_printf(&brief, "[%lld,%lld]<=", (long long)from->num_replica_groups, (long long)from->num_devices_per_group);
  print_ints(&brief, '[', x.rank, x.dims, ']');
  if (!is_in_order(&x)) {
    text_putc(&brief, 'T');
    print_ints(&brief, '(', x.rank, x.order, ')');
  }
  out->text = proto_keep(a, &brief);
  return status_ok();
}

// --- the axes of a mesh

static heddle_status print_axes(const Xla__MeshProto *m, text *out, int64_t *devices) {
  *devices = 1;
  for (size_t k = 0; k < m->n_axes; k++) {
    int64_t size = m->axes[k]->size;
    if (size < 1 || size > MAX_DEVICES / *devices)
      return status_error(HEDDLE_INVALID, "a mesh has an axis of %lld devices", (long long)size);
    *devices *= size;
    text_printf(out, "%s'%s'=%lld", k ? "," : "mesh[", m->axes[k]->name, (long long)size);
  }
  text_putc(out, ']');
  const Xla__MeshProto__IotaTransform *x = m->iota_transform;
  if (x) {
    text_puts(out, ", device_ids=(");
    print_ints(out, '[', (int)x->n_reshape_dims, x->reshape_dims, ']');
    text_putc(out, 'T');
    print_ints(out, '(', (int)x->n_transpose_perm, x->transpose_perm, ')');
    text_putc(out, ')');
  } else if (m->n_device_ids) {
    text_puts(out, ", device_ids=");
    print_ints(out, '(', (int)m->n_device_ids, m->device_ids, ')');
  }
  return status_ok();
}

static heddle_status print_mesh(const Xla__MeshAxesReplicaGroupListProto *from, text *out, int64_t *devices) {
  const Xla__MeshProto *m = from->mesh;
  if (!m) return status_error(HEDDLE_INVALID, "groups by the axes of a mesh have none");
  TRY(print_axes(m, out, devices));
  text_puts(out, " {");
  for (size_t k = 0; k < from->n_axes; k++) {
    const Xla__AxisRefProto *axis = from->axes[k];
    if (axis->mesh_axis_index < 0 || (uint64_t)axis->mesh_axis_index >= m->n_axes)
      return status_error(HEDDLE_INVALID, "groups go by axis %lld of %zu", (long long)axis->mesh_axis_index, m->n_axes);
    text_printf(out, "%s'%s'", k ? "," : "", m->axes[axis->mesh_axis_index]->name);
    const Xla__AxisRefProto__SubAxis *piece = axis->sub_axis_info;
    if (piece) text_printf(out, ":(%lld)%lld", (long long)piece->pre_size, (long long)piece->size);
  }
  text_putc(out, '}');
  return status_ok();
}

// By way of HLO text, whose parser takes meshes apart.
static heddle_status read_mesh(proto_transfer *t, const Xla__MeshAxesReplicaGroupListProto *from, group_list *out) {
  text words = {0};
  int64_t devices = 0;
  heddle_status status = print_mesh(from, &words, &devices);
  str source = proto_keep(t->arena, &words);
  TRY(status);
  t->context->devices_left -= devices;
  if (t->context->devices_left < 0) return status_error(HEDDLE_INVALID, "the module's groups have too many devices");
  parser p;
  parser_start(&p, t->arena, t->arena, "groups", source);
  if (!parser_groups(&p, out)) return parser_status(&p);
  return status_ok();
}

// --- groups

static heddle_status read_lists(arena *a, size_t count, Xla__ReplicaGroup **from, group_list *out) {
  out->size = (int)count;
  out->groups = arena_array(a, int_list, count);
  for (size_t k = 0; k < count; k++) out->groups[k] = list_of(a, from[k]->n_replica_ids, from[k]->replica_ids);
  return status_ok();
}

heddle_status proto_read_groups(proto_transfer *t) {
  const Xla__CollectiveDeviceListProto *list = t->p->collective_device_list;
  const Xla__IotaReplicaGroupListProto *brief = t->p->iota_collective_device_list;
  group_list *out = &t->x->replica_groups;
  if (!brief && list) brief = list->iota_replica_group_list;
  if (t->p->mesh_axes_replica_group_list) TRY(read_mesh(t, t->p->mesh_axes_replica_group_list, out));
  else if (brief) TRY(read_short(t, brief, out));
  else if (list && list->n_replica_groups) TRY(read_lists(t->arena, list->n_replica_groups, list->replica_groups, out));
  else if (t->p->n_replica_groups) TRY(read_lists(t->arena, t->p->n_replica_groups, t->p->replica_groups, out));
  if (out->size) attributes_mark(t->x, HLO_ATTRIBUTE_REPLICA_GROUPS);
  return status_ok();
}

// Integers between two brackets.
static heddle_status parse_ints(lexer *l, int open, int close, int64_t *values, int *count) {
  token t = lexer_next(l);
  *count = 0;
  while (t.kind == (*count ? ',' : open) && *count < MAX_DEVICE_DIMS) {
    TRY(proto_token_int(lexer_next(l), &values[*count]));
    ++*count;
    t = lexer_next(l);
  }
  if (t.kind == close && *count) return status_ok();
  return status_error(HEDDLE_INVALID, "found '" STR_FMT "' in groups", STR_ARG(t.text));
}

// [2,4]<=[8] or [2,4]<=[2,4]T(1,0)
static heddle_status write_short(arena *a, str source, Xla__IotaReplicaGroupListProto **out) {
  lexer l = lexer_create(source);
  int64_t left[MAX_DEVICE_DIMS], order[MAX_DEVICE_DIMS];
  int count, ordered;
  Xla__IotaReplicaGroupListProto *to;
  HLO_PROTO_NEW(a, to, IotaReplicaGroupListProto, iota_replica_group_list_proto);
  to->iota_reshape_dims = arena_array(a, int64_t, MAX_DEVICE_DIMS);
  to->iota_transpose_perm = arena_array(a, int32_t, MAX_DEVICE_DIMS);
  TRY(parse_ints(&l, '[', ']', left, &count));
  if (count != 2 || lexer_next(&l).kind != TOKEN_AT_MOST)
    return status_error(HEDDLE_INVALID, "found groups '" STR_FMT "'", STR_ARG(source));
  TRY(parse_ints(&l, '[', ']', to->iota_reshape_dims, &count));
  for (int k = 0; k < count; k++) order[k] = k;
  if (lexer_next(&l).kind == TOKEN_WORD) {
    TRY(parse_ints(&l, '(', ')', order, &ordered));
    if (ordered != count) return status_error(HEDDLE_INVALID, "found groups '" STR_FMT "'", STR_ARG(source));
  }
  for (int k = 0; k < count; k++) to->iota_transpose_perm[k] = (int32_t)order[k];
  to->num_replica_groups = left[0];
  to->num_devices_per_group = left[1];
  to->n_iota_reshape_dims = to->n_iota_transpose_perm = (size_t)count;
  *out = to;
  return status_ok();
}

// Lists always, as every reader knows them; the short form too.
heddle_status proto_write_groups(proto_transfer *t) {
  const group_list *from = &t->x->replica_groups;
  if (from->text.size && !from->size)
    return status_error(HEDDLE_UNIMPLEMENTED, "groups '" STR_FMT "' cannot be written", STR_ARG(from->text));
  t->p->n_replica_groups = (size_t)from->size;
  t->p->replica_groups = arena_array(t->arena, Xla__ReplicaGroup *, from->size);
  for (int k = 0; k < from->size; k++) {
    Xla__ReplicaGroup *group;
    HLO_PROTO_NEW(t->arena, group, ReplicaGroup, replica_group);
    group->n_replica_ids = (size_t)from->groups[k].size;
    group->replica_ids = arena_array(t->arena, int64_t, from->groups[k].size);
    for (int d = 0; d < from->groups[k].size; d++) group->replica_ids[d] = from->groups[k].data[d];
    t->p->replica_groups[k] = group;
  }
  bool is_short = from->text.size && from->text.data[0] == '[';
  return is_short ? write_short(t->arena, from->text, &t->p->iota_collective_device_list) : status_ok();
}

// --- pairs and channels

heddle_status proto_read_pairs(proto_transfer *t) {
  size_t count = t->p->n_source_target_pairs;
  group_list *out = &t->x->source_target_pairs;
  out->size = (int)count;
  out->groups = arena_array(t->arena, int_list, count);
  for (size_t k = 0; k < count; k++) {
    const int64_t pair[] = {t->p->source_target_pairs[k]->source, t->p->source_target_pairs[k]->target};
    out->groups[k] = list_of(t->arena, 2, pair);
  }
  attributes_mark(t->x, HLO_ATTRIBUTE_SOURCE_TARGET_PAIRS);
  return status_ok();
}

heddle_status proto_write_pairs(proto_transfer *t) {
  const group_list *from = &t->x->source_target_pairs;
  t->p->source_target_pairs = arena_array(t->arena, Xla__SourceTarget *, from->size);
  t->p->n_source_target_pairs = (size_t)from->size;
  for (int k = 0; k < from->size; k++) {
    Xla__SourceTarget *pair;
    if (from->groups[k].size != 2)
      return status_error(HEDDLE_INVALID, "a pair of devices has %d members", from->groups[k].size);
    HLO_PROTO_NEW(t->arena, pair, SourceTarget, source_target);
    pair->source = from->groups[k].data[0];
    pair->target = from->groups[k].data[1];
    t->p->source_target_pairs[k] = pair;
  }
  return status_ok();
}

heddle_status proto_read_channel(proto_transfer *t) {
  int64_t id = t->p->channel_id ? t->p->channel_id : t->p->all_reduce_id;
  if (!id) return status_ok();
  t->x->channel_id = id;
  attributes_mark(t->x, HLO_ATTRIBUTE_CHANNEL_ID);
  return status_ok();
}

heddle_status proto_write_channel(proto_transfer *t) {
  t->p->channel_id = t->x->channel_id;
  return status_ok();
}
