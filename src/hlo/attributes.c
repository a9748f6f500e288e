// Attributes as values: defaults, copies and comparison, all driven by the rows of attributes.def.
#include "hlo/attributes.h"

#include "base/hash.h"

static const char *const comparison_direction_names[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
static const char *const comparison_type_names[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};
static const char *const convolution_kind_names[] = {"unset", "fprop", "dgrad", "wgrad", NULL};
static const char *const collective_mode_names[] = {
    "", "cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id", NULL};
static const char *const fusion_kind_names[] = {"kLoop", "kInput", "kOutput", "kCustom", NULL};
static const char *const fft_type_names[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const char *const random_distribution_names[] = {"rng_uniform", "rng_normal", NULL};
static const char *const random_algorithm_names[] = {"rng_default", "rng_three_fry", "rng_philox", NULL};
static const char *const transpose_kind_names[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", NULL};

const hlo_attribute_info hlo_attribute_infos[HLO_ATTRIBUTE_COUNT] = {
#define FIELD(member) .offset = offsetof(hlo_attributes, member)
#define HLO_ATTRIBUTE(id, ...) [HLO_ATTRIBUTE_##id] = {__VA_ARGS__},
#include "hlo/attributes.def"
#undef HLO_ATTRIBUTE
#undef FIELD
};

_Static_assert(HLO_ATTRIBUTE_COUNT <= 128, "hlo_attributes.present has two words");
_Static_assert(sizeof(comparison_direction) == sizeof(int), "ATTRIBUTE_ENUM fields are read and written as int");

hlo_attribute_id hlo_attribute_from_text(str text) {
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++)
    if (str_is(text, hlo_attribute_infos[id].text)) return (hlo_attribute_id)id;
  return HLO_ATTRIBUTE_COUNT;
}

static void *field_of(hlo_attributes *x, hlo_attribute_id id) { return (char *)x + hlo_attribute_infos[id].offset; }
static const void *const_field_of(const hlo_attributes *x, hlo_attribute_id id) {
  return (const char *)x + hlo_attribute_infos[id].offset;
}

hlo_attributes *attributes_create(arena *a) {
  hlo_attributes *x = arena_new(a, hlo_attributes);
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++) {
    const hlo_attribute_info *info = &hlo_attribute_infos[id];
    if (!info->missing) continue;
    if (info->kind == ATTRIBUTE_INT) *(int64_t *)field_of(x, (hlo_attribute_id)id) = info->missing;
    if (info->kind == ATTRIBUTE_BOOL) *(bool *)field_of(x, (hlo_attribute_id)id) = info->missing != 0;
  }
  return x;
}

bool attributes_is_default(const hlo_attributes *x, hlo_attribute_id id) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  const void *field = const_field_of(x, id);
  switch (info->kind) {
    case ATTRIBUTE_INT: return *(const int64_t *)field == info->missing;
    case ATTRIBUTE_BOOL: return *(const bool *)field == (info->missing != 0);
    case ATTRIBUTE_DOUBLE: return *(const double *)field == 0;
    case ATTRIBUTE_INTS: return ((const int_list *)field)->size == 0;
    case ATTRIBUTE_ENUM: return *(const int *)field == 0;
    case ATTRIBUTE_ALGORITHM: return x->algorithm == RANDOM_DEFAULT && !x->dot_algorithm.size;
    case ATTRIBUTE_STRING: return ((const str *)field)->size == 0;
    case ATTRIBUTE_SLICE: return x->slice.rank == 0;
    case ATTRIBUTE_PADDING: return x->padding.rank == 0;
    case ATTRIBUTE_WINDOW: return x->window.rank == 0;
    case ATTRIBUTE_DIM_LABELS:
      return x->dim_labels.input_rank == 0 && x->dim_labels.input_feature == 0 && x->dim_labels.input_batch == 0;
    case ATTRIBUTE_PRECISIONS: return x->precision_count == 0;
    case ATTRIBUTE_GROUPS: return ((const group_list *)field)->size == 0 && !((const group_list *)field)->text.size;
    case ATTRIBUTE_SHAPES: return x->operand_layout_count == 0;
    case ATTRIBUTE_BACKEND_CONFIG: return !x->backend_config.size && !x->backend_config_is_json;
    case ATTRIBUTE_RAW:
    case ATTRIBUTE_LITERAL:
    case ATTRIBUTE_COMPUTATION:
    case ATTRIBUTE_COMPUTATIONS:
    case ATTRIBUTE_CONTROL: return true;
  }
  return true;
}

static void *copy_bytes(arena *a, const void *from, size_t element_size, int count) {
  if (!count) return NULL;
  void *to = arena_array_alloc(a, element_size, (size_t)count);
  return memcpy(to, from, element_size * (size_t)count);
}

#define COPY_ARRAY(a, from, count) copy_bytes((a), (from), sizeof *(from), (count))

static int_list ints_copy(arena *a, int_list from) {
  return (int_list){COPY_ARRAY(a, from.data, from.size), from.size};
}

static str text_copy(arena *a, str from) { return from.data ? str_copy(a, from) : from; }

static void groups_copy(arena *a, group_list *g) {
  g->groups = COPY_ARRAY(a, g->groups, g->size);
  for (int i = 0; i < g->size; i++) g->groups[i] = ints_copy(a, g->groups[i]);
  g->text = text_copy(a, g->text);
}

static void dim_labels_copy(arena *a, convolution_dims *d) {
  d->input_spatial = COPY_ARRAY(a, d->input_spatial, d->spatial_rank);
  d->kernel_spatial = COPY_ARRAY(a, d->kernel_spatial, d->spatial_rank);
  d->output_spatial = COPY_ARRAY(a, d->output_spatial, d->spatial_rank);
}

static void operand_layouts_copy(arena *a, hlo_attributes *x) {
  const shape **layouts = arena_array(a, const shape *, x->operand_layout_count);
  for (int i = 0; i < x->operand_layout_count; i++) layouts[i] = shape_copy(a, x->operand_layouts[i]);
  x->operand_layouts = layouts;
}

// Replaces what the field points at by copies; plain values have been copied with the struct.
static void field_copy(arena *a, hlo_attributes *x, hlo_attribute_id id) {
  void *field = field_of(x, id);
  switch (hlo_attribute_infos[id].kind) {
    case ATTRIBUTE_INTS: *(int_list *)field = ints_copy(a, *(int_list *)field); break;
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_BACKEND_CONFIG: *(str *)field = text_copy(a, *(str *)field); break;
    case ATTRIBUTE_ALGORITHM: x->dot_algorithm = text_copy(a, x->dot_algorithm); break;
    case ATTRIBUTE_SLICE: x->slice.dims = COPY_ARRAY(a, x->slice.dims, x->slice.rank); break;
    case ATTRIBUTE_PADDING: x->padding.dims = COPY_ARRAY(a, x->padding.dims, x->padding.rank); break;
    case ATTRIBUTE_WINDOW: x->window.dims = COPY_ARRAY(a, x->window.dims, x->window.rank); break;
    case ATTRIBUTE_DIM_LABELS: dim_labels_copy(a, &x->dim_labels); break;
    case ATTRIBUTE_PRECISIONS: x->operand_precision = COPY_ARRAY(a, x->operand_precision, x->precision_count); break;
    case ATTRIBUTE_GROUPS: groups_copy(a, field); break;
    case ATTRIBUTE_SHAPES: operand_layouts_copy(a, x); break;
    default: break;
  }
}

hlo_attributes *attributes_copy(arena *a, const hlo_attributes *from) {
  hlo_attributes *to = arena_new(a, hlo_attributes);
  *to = *from;
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++)
    if (!attributes_is_default(from, (hlo_attribute_id)id)) field_copy(a, to, (hlo_attribute_id)id);
  to->raws = COPY_ARRAY(a, from->raws, from->raw_count);
  for (int i = 0; i < to->raw_count; i++) {
    to->raws[i].name = text_copy(a, from->raws[i].name);
    to->raws[i].text = text_copy(a, from->raws[i].text);
  }
  return to;
}

static bool bytes_equal(const void *l, const void *r, size_t element_size, int l_count, int r_count) {
  return l_count == r_count && (l_count == 0 || memcmp(l, r, element_size * (size_t)l_count) == 0);
}

#define ARRAYS_EQUAL(l, l_count, r, r_count) bytes_equal((l), (r), sizeof *(l), (l_count), (r_count))

static bool ints_equal(const int_list *l, const int_list *r) {
  return ARRAYS_EQUAL(l->data, l->size, r->data, r->size);
}

static bool windows_equal(const window *l, const window *r) {
  if (l->rank != r->rank) return false;
  for (int i = 0; i < l->rank; i++) {  // not by bytes: the struct has padding
    const window_dim *x = &l->dims[i], *y = &r->dims[i];
    if (x->size != y->size || x->stride != y->stride || x->padding_low != y->padding_low ||
        x->padding_high != y->padding_high || x->window_dilation != y->window_dilation ||
        x->base_dilation != y->base_dilation || x->reversal != y->reversal)
      return false;
  }
  return true;
}

static int labels_written(int rank, const convolution_dims *d) { return rank ? rank : d->spatial_rank + 2; }

static bool dim_labels_equal(const convolution_dims *l, const convolution_dims *r) {
  return l->input_batch == r->input_batch && l->input_feature == r->input_feature &&
         l->kernel_input_feature == r->kernel_input_feature && l->kernel_output_feature == r->kernel_output_feature &&
         l->output_batch == r->output_batch && l->output_feature == r->output_feature &&
         labels_written(l->input_rank, l) == labels_written(r->input_rank, r) &&
         labels_written(l->kernel_rank, l) == labels_written(r->kernel_rank, r) &&
         labels_written(l->output_rank, l) == labels_written(r->output_rank, r) &&
         ARRAYS_EQUAL(l->input_spatial, l->spatial_rank, r->input_spatial, r->spatial_rank) &&
         ARRAYS_EQUAL(l->kernel_spatial, l->spatial_rank, r->kernel_spatial, r->spatial_rank) &&
         ARRAYS_EQUAL(l->output_spatial, l->spatial_rank, r->output_spatial, r->spatial_rank);
}

static bool groups_equal(const group_list *l, const group_list *r) {
  if (l->size != r->size || !str_equal(l->text, r->text)) return false;
  for (int i = 0; i < l->size; i++)
    if (!ints_equal(&l->groups[i], &r->groups[i])) return false;
  return true;
}

static bool operand_layouts_equal(const hlo_attributes *l, const hlo_attributes *r) {
  if (l->operand_layout_count != r->operand_layout_count) return false;
  for (int i = 0; i < l->operand_layout_count; i++)
    if (!shape_equal(l->operand_layouts[i], r->operand_layouts[i])) return false;
  return true;
}

static bool raws_equal(const hlo_attributes *l, const hlo_attributes *r, hlo_attribute_id id) {
  if (id == HLO_ATTRIBUTE_METADATA) return true;
  const str *x = attributes_raw(l, hlo_attribute_infos[id].text), *y = attributes_raw(r, hlo_attribute_infos[id].text);
  return x && y ? str_equal(*x, *y) : !x && !y;
}

static bool field_equal(const hlo_attributes *l, const hlo_attributes *r, hlo_attribute_id id) {
  const void *x = const_field_of(l, id), *y = const_field_of(r, id);
  switch (hlo_attribute_infos[id].kind) {
    case ATTRIBUTE_INT: return *(const int64_t *)x == *(const int64_t *)y;
    case ATTRIBUTE_BOOL: return *(const bool *)x == *(const bool *)y;
    case ATTRIBUTE_DOUBLE: return memcmp(x, y, sizeof(double)) == 0;
    case ATTRIBUTE_INTS: return ints_equal(x, y);
    case ATTRIBUTE_ENUM: return *(const int *)x == *(const int *)y;
    case ATTRIBUTE_ALGORITHM: return l->algorithm == r->algorithm && str_equal(l->dot_algorithm, r->dot_algorithm);
    case ATTRIBUTE_STRING: return str_equal(*(const str *)x, *(const str *)y);
    case ATTRIBUTE_SLICE: return ARRAYS_EQUAL(l->slice.dims, l->slice.rank, r->slice.dims, r->slice.rank);
    case ATTRIBUTE_PADDING: return ARRAYS_EQUAL(l->padding.dims, l->padding.rank, r->padding.dims, r->padding.rank);
    case ATTRIBUTE_WINDOW: return windows_equal(x, y);
    case ATTRIBUTE_DIM_LABELS: return dim_labels_equal(x, y);
    case ATTRIBUTE_PRECISIONS:
      return ARRAYS_EQUAL(l->operand_precision, l->precision_count, r->operand_precision, r->precision_count);
    case ATTRIBUTE_GROUPS: return groups_equal(x, y);
    case ATTRIBUTE_SHAPES: return operand_layouts_equal(l, r);
    case ATTRIBUTE_BACKEND_CONFIG:
      return l->backend_config_is_json == r->backend_config_is_json && str_equal(l->backend_config, r->backend_config);
    case ATTRIBUTE_RAW:
    case ATTRIBUTE_LITERAL: return raws_equal(l, r, id);
    case ATTRIBUTE_COMPUTATION:
    case ATTRIBUTE_COMPUTATIONS:
    case ATTRIBUTE_CONTROL: return true;  // part of the instruction
  }
  return true;
}

bool attributes_compare(const hlo_attributes *l, const hlo_attributes *r, const char **difference) {
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++) {
    if (field_equal(l, r, (hlo_attribute_id)id)) continue;
    *difference = hlo_attribute_infos[id].text;
    return false;
  }
  return true;
}

bool attributes_equal(const hlo_attributes *l, const hlo_attributes *r) {
  const char *difference;
  return attributes_compare(l, r, &difference);
}

const str *attributes_raw(const hlo_attributes *x, const char *name) {
  for (int i = 0; i < x->raw_count; i++)
    if (str_is(x->raws[i].name, name)) return &x->raws[i].text;
  return NULL;
}

void attributes_add_raw(arena *a, hlo_attributes *x, str name, str text) {
  size_t size = sizeof *x->raws;
  x->raws = arena_grow(a, x->raws, size * (size_t)x->raw_count, size * (size_t)(x->raw_count + 1));
  x->raws[x->raw_count++] = (struct raw_attribute){name, text};
}

void attributes_set_raw(arena *a, hlo_attributes *x, str name, str text) {
  for (int i = 0; i < x->raw_count; i++) {
    if (!str_equal(x->raws[i].name, name)) continue;
    x->raws[i].text = text;
    return;
  }
  attributes_add_raw(a, x, name, text);
}

static uint64_t mix_ints(uint64_t hash, const int64_t *data, int count) {
  hash = hash_mix(hash, (uint64_t)count);
  for (int k = 0; k < count; k++) hash = hash_mix(hash, (uint64_t)data[k]);
  return hash;
}

static uint64_t mix_window(uint64_t hash, const window *w) {
  for (int d = 0; d < w->rank; d++) {
    const window_dim *x = &w->dims[d];
    const int64_t parts[] = {x->size, x->stride, x->padding_low, x->padding_high, x->window_dilation, x->base_dilation};
    hash = mix_ints(hash, parts, sizeof parts / sizeof *parts);
  }
  return hash;
}

static uint64_t mix_slice(uint64_t hash, const slice_config *s) {
  for (int d = 0; d < s->rank; d++)
    hash = mix_ints(hash, (int64_t[]){s->dims[d].start, s->dims[d].limit, s->dims[d].stride}, 3);
  return hash;
}

static uint64_t mix_padding(uint64_t hash, const padding_config *p) {
  for (int d = 0; d < p->rank; d++)
    hash = mix_ints(hash, (int64_t[]){p->dims[d].low, p->dims[d].high, p->dims[d].interior}, 3);
  return hash;
}

// The kinds that tell instructions with the same operands apart in practice; the others do not count.
static uint64_t mix_field(uint64_t hash, const hlo_attributes *x, hlo_attribute_id id) {
  const void *field = const_field_of(x, id);
  switch (hlo_attribute_infos[id].kind) {
    case ATTRIBUTE_INT: return hash_mix(hash, (uint64_t)*(const int64_t *)field);
    case ATTRIBUTE_BOOL: return hash_mix(hash, *(const bool *)field);
    case ATTRIBUTE_INTS: return mix_ints(hash, ((const int_list *)field)->data, ((const int_list *)field)->size);
    case ATTRIBUTE_ENUM: return hash_mix(hash, (uint64_t)*(const int *)field);
    case ATTRIBUTE_STRING: return hash_mix(hash, str_hash(*(const str *)field));
    case ATTRIBUTE_SLICE: return mix_slice(hash, &x->slice);
    case ATTRIBUTE_PADDING: return mix_padding(hash, &x->padding);
    case ATTRIBUTE_WINDOW: return mix_window(hash, field);
    default: return hash;
  }
}

uint64_t attributes_hash(const hlo_attributes *x) {
  uint64_t hash = 0;
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++)
    if (!attributes_is_default(x, (hlo_attribute_id)id))
      hash = mix_field(hash_mix(hash, (uint64_t)id), x, (hlo_attribute_id)id);
  return hash;
}
