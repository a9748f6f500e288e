// Which library has an instruction, and the call as the library sees it: dots as batched matrix products, everything
// else as it is.
#include "fuse/library.h"

#include "fuse/concatenate_operand.h"
#include "fuse/leaves.h"
#include "hlo/call_attributes.h"
#include "hlo/combiner.h"
#include "hlo/device_groups.h"
#include "hlo/dot_form.h"
#include "kernel/hero_tiles.h"
#include "kernel/sizes.h"
#include "opt/sort_comparator.h"

static const library_kind kinds[HLO_OPCODE_COUNT] = {
    [HLO_DOT] = LIBRARY_GEMM,
    [HLO_CONVOLUTION] = LIBRARY_CONVOLUTION,
    [HLO_FFT] = LIBRARY_FFT,
    [HLO_SORT] = LIBRARY_SORT,
    [HLO_TOPK] = LIBRARY_TOP_K,
    [HLO_CONCATENATE] = LIBRARY_CONCATENATE,
    [HLO_RNG_BIT_GENERATOR] = LIBRARY_RANDOM,
    [HLO_CUSTOM_CALL] = LIBRARY_CUSTOM_CALL,
    [HLO_INFEED] = LIBRARY_TRANSFER,
    [HLO_OUTFEED] = LIBRARY_TRANSFER,
    [HLO_SEND] = LIBRARY_TRANSFER,
    [HLO_SEND_DONE] = LIBRARY_TRANSFER,
    [HLO_RECV] = LIBRARY_TRANSFER,
    [HLO_RECV_DONE] = LIBRARY_TRANSFER,
    [HLO_REPLICA_ID] = LIBRARY_COLLECTIVE,
    [HLO_PARTITION_ID] = LIBRARY_COLLECTIVE,
};

static bool is_library_type(const shape *s) {
  const dtype_info *t = &dtypes[s->dtype];
  return s->dtype == DTYPE_PRED || (t->bits >= 8 && !(dtype_is_float(s->dtype) && t->bits == 8));
}

static bool takes_fused(const instruction *i) {
  return i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION || i->opcode == HLO_CONCATENATE;
}

// The library operation itself: what a kCustom fusion holds besides what is fused with it, else the instruction.
static const instruction *operation_of(const instruction *i) {
  if (i->opcode != HLO_FUSION || i->attributes->kind != FUSION_CUSTOM) return i;
  const instruction_list *body = &i->called[0]->instructions;
  for (int k = 0; k < body->size; k++)
    if (takes_fused(body->data[k])) return body->data[k];
  return i;
}

library_kind library_kind_of(const instruction *i) {
  const instruction *op = operation_of(i);
  library_kind kind = kinds[op->opcode];
  if (hlo_op_has(op->opcode, TRAIT_COLLECTIVE) && !hlo_op_has(op->opcode, TRAIT_ASYNC)) kind = LIBRARY_COLLECTIVE;
  if (kind == LIBRARY_CONCATENATE) return concatenate_operand_for_library(op) ? kind : LIBRARY_NONE;
  if (kind != LIBRARY_GEMM && kind != LIBRARY_CONVOLUTION) return kind;
  if (!is_library_type(op->operands[0]->shape) || !is_library_type(op->operands[1]->shape) ||
      !is_library_type(op->shape))
    return LIBRARY_NONE;
  dot_form form;
  return kind == LIBRARY_GEMM && !dot_form_of(op, NULL, NULL, &form) ? LIBRARY_NONE : kind;
}

library_kind library_of(const target_description *target, const instruction *i) {
  if (!target->has_libraries) return LIBRARY_NONE;
  const bool has_kernel = hlo_ops[operation_of(i)->opcode].index_rule != INDEX_RULE_NONE;
  // Tiles are asked for where there are some; a library is still better than a loop for each element.
  const bool has_tiles = target->codegen != CODEGEN_TILES || hero_tiles_has_form(operation_of(i));
  return target->prefers_kernels && has_kernel && has_tiles ? LIBRARY_NONE : library_kind_of(i);
}

bool library_shows(const target_description *target, const instruction *operand, array_view *out) {
  const bool is_open = operand->parent->module->open_from > 0;
  const bool may_move = target->kind == TARGET_CPU && dtypes[operand->shape->dtype].bits >= 8 && !is_open;
  return may_move ? array_view_of_moving(operand, out) : array_view_of(operand, out);
}

// --- what goes in and out

typedef VEC(named_attribute) attribute_list;

typedef struct describer {
  arena *arena;
  const instruction *instruction;
  const instruction *op;  // in a fusion the library operation, else the instruction
  library_call *call;
  attribute_list attributes;
  array_view views[2];  // of a fused dot's operands; of a fused convolution's kernel
} describer;

// All arrays, each a leaf of its own number; where something is fused, order_operands says more.
static void add_leaves(describer *d) {
  shape_list operands = {0}, results = {0};
  for (int k = 0; k < d->instruction->operand_count; k++)
    leaves_of_shape(d->arena, d->instruction->operands[k]->shape, &operands);
  leaves_of_shape(d->arena, d->instruction->shape, &results);
  int *leaves = arena_array(d->arena, int, operands.size);
  for (int k = 0; k < operands.size; k++) leaves[k] = k;
  d->call->operand_count = operands.size;
  d->call->operands = operands.data;
  d->call->operand_leaves = leaves;
  d->call->result_count = results.size;
  d->call->results = results.data;
}

// --- what is fused with it

static bool is_fused(const describer *d) { return d->op != d->instruction; }

static heddle_status refuse(const describer *d, const char *why) {
  return status_at(HEDDLE_UNIMPLEMENTED, d->op->where, "%s " STR_FMT " %s", hlo_op_text(d->op->opcode),
                   STR_ARG(d->op->name), why);
}

// What is computed of the operation's result, which is an array: numbers alone say where operands are read.
static const instruction *fused(const describer *d, hlo_opcode opcode) {
  const instruction_list *body = &d->instruction->called[0]->instructions;
  for (int k = 0; k < body->size; k++)
    if (body->data[k]->opcode == opcode && body->data[k]->shape->rank > 0) return body->data[k];
  return NULL;
}

// A dot whose result alone is transposed.
static bool is_turned(const describer *d) {
  const instruction *root = is_fused(d) ? d->instruction->called[0]->root : d->op;
  return root->opcode == HLO_TRANSPOSE && root->operands[0] == d->op && d->op->opcode == HLO_DOT;
}

static bool is_zero(const instruction *i) {
  if (i->opcode == HLO_BROADCAST) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && !i->literal->is_elided &&
         literal_get_double(i->literal, 0) == 0;
}

bool library_is_relu(const instruction *i, const instruction *of) {
  if (i->opcode != HLO_MAXIMUM || (i->operands[0] != of && i->operands[1] != of)) return false;
  return is_zero(i->operands[i->operands[0] == of ? 1 : 0]);
}

// Whether nothing else is done with the operation's result than adding what is fused(HLO_ADD) and what may follow that.
static bool has_known_root(const describer *d, const instruction *sum) {
  const instruction *root = d->instruction->called[0]->root;
  if (root == d->op || is_turned(d)) return !sum;
  if (!sum || (sum->operands[0] != d->op && sum->operands[1] != d->op)) return false;
  return root == sum || library_is_relu(root, sum);
}

// The array that operand `k` of the operation is read from.
static const instruction *array_of(describer *d, int k) {
  const instruction *operand = d->op->operands[k];
  if (d->op->opcode != HLO_DOT && k == 0) return operand;
  return array_view_of_moving(operand, &d->views[k]) ? d->views[k].array : NULL;
}

// The fusion's parameters in the library's order: the operation's operands, the bias if there is one, and the places
// where operands begin that are known in a run alone.
static heddle_status order_operands(describer *d) {
  const instruction *sum = fused(d, HLO_ADD);
  const instruction *spread = sum ? sum->operands[sum->operands[0] == d->op ? 1 : 0] : NULL;
  const instruction *bias = spread && spread->opcode == HLO_BROADCAST ? spread->operands[0] : NULL;
  const instruction *wanted[5] = {array_of(d, 0), array_of(d, 1), bias};
  int count = sum ? 3 : 2;
  for (int k = 0; k < 2; k++)
    if (d->views[k].start.value) wanted[count++] = d->views[k].start.value;
  const shape **shapes = arena_array(d->arena, const shape *, count);
  int *leaves = arena_array(d->arena, int, count);
  if (!has_known_root(d, sum)) return refuse(d, "is fused in a way no library knows");
  for (int k = 0; k < count; k++) {
    if (!wanted[k] || wanted[k]->opcode != HLO_PARAMETER) return refuse(d, "is fused in a way no library knows");
    shapes[k] = wanted[k]->shape;
    leaves[k] = (int)wanted[k]->attributes->index;
  }
  d->call->operand_count = count;
  d->call->operands = shapes;
  d->call->operand_leaves = leaves;
  return status_ok();
}

// --- attributes

static void add_ints(describer *d, const char *name, int count, const int64_t *values) {
  int64_t *copy = arena_array(d->arena, int64_t, count);
  for (int k = 0; k < count; k++) copy[k] = values[k];
  vec_push(d->arena, &d->attributes,
           ((named_attribute){.name = name, .kind = NAMED_INTS, .count = count, .ints = copy}));
}

static void add_int(describer *d, const char *name, int64_t value) { add_ints(d, name, 1, &value); }

static void add_list(describer *d, const char *name, int_list list) { add_ints(d, name, list.size, list.data); }

static void add_text(describer *d, const char *name, str value) {
  const char *copy = arena_strdup(d->arena, value.data ? value.data : "", value.size);
  vec_push(d->arena, &d->attributes, ((named_attribute){.name = name, .kind = NAMED_TEXT, .text = copy}));
}

static void add_epilogue(describer *d) {
  add_int(d, "bias", is_fused(d) && fused(d, HLO_ADD));
  add_text(d, "activation", is_fused(d) && fused(d, HLO_MAXIMUM) ? STR("relu") : STR(""));
}

// --- one function per kind

static void add_strides(describer *d, const char *name, const dot_strides *s) {
  add_ints(d, name, 3, (int64_t[]){s->leading, s->member, s->group});
}

static void add_start(describer *d, const char *name, int k) {
  const array_view_start *x = &d->views[k].start;
  if (x->value) add_ints(d, name, 4, (int64_t[]){x->scale, x->base, x->most, x->stride});
}

// Where in an operand's array its matrices begin, and how many elements the array has, if that is more than theirs.
static void add_place(describer *d, int k, const dot_strides *s) {
  static const char *const offsets[] = {"lhs_offset", "rhs_offset"}, *const sizes[] = {"lhs_elements", "rhs_elements"};
  static const char *const starts[] = {"lhs_start", "rhs_start"};
  const int64_t all = is_fused(d) ? shape_element_count(d->views[k].array->shape) : 0;
  if (s->offset > 0) add_int(d, offsets[k], s->offset);
  if (all > shape_element_count(d->op->operands[k]->shape)) add_int(d, sizes[k], all);
  add_start(d, starts[k], k);
}

static heddle_status describe_gemm(describer *d) {
  dot_form form;
  const instruction *turned = is_turned(d) ? d->instruction->called[0]->root : NULL;
  if (!dot_form_of(d->op, turned, is_fused(d) ? d->views : NULL, &form))
    return refuse(d, "is no batched product of matrices");
  const shape *lhs = d->op->operands[0]->shape, *rhs = d->op->operands[1]->shape;
  const int64_t b = form.batch, m = form.m, n = form.n, k = form.k;
  const int64_t lhs_dims[] = {b, form.transpose_lhs ? k : m, form.transpose_lhs ? m : k};
  const int64_t rhs_dims[] = {b, form.transpose_rhs ? n : k, form.transpose_rhs ? k : n};
  const int64_t dims[] = {b, m, n};
  d->call->operands[0] = shape_array(d->arena, lhs->dtype, 3, lhs_dims);
  d->call->operands[1] = shape_array(d->arena, rhs->dtype, 3, rhs_dims);
  d->call->results[0] = shape_array(d->arena, d->op->shape->dtype, 3, dims);
  add_int(d, "transpose_lhs", form.transpose_lhs);
  add_int(d, "transpose_rhs", form.transpose_rhs);
  if (!form.is_dense) {
    add_int(d, "group", form.group);
    add_strides(d, "lhs_strides", &form.lhs);
    add_strides(d, "rhs_strides", &form.rhs);
    add_strides(d, "result_strides", &form.result);
    add_place(d, 0, &form.lhs);
    add_place(d, 1, &form.rhs);
  }
  add_epilogue(d);
  return status_ok();
}

typedef int64_t (*window_field)(const window_dim *w);
static int64_t window_size(const window_dim *w) { return w->size; }
static int64_t window_stride(const window_dim *w) { return w->stride; }
static int64_t window_low(const window_dim *w) { return w->padding_low; }
static int64_t window_high(const window_dim *w) { return w->padding_high; }
static int64_t window_base(const window_dim *w) { return w->base_dilation; }
static int64_t window_dilation(const window_dim *w) { return w->window_dilation; }
static int64_t window_reversal(const window_dim *w) { return w->reversal; }

static void add_window(describer *d, const char *name, window_field field) {
  const window *w = &d->op->attributes->window;
  int64_t *values = arena_array(d->arena, int64_t, w->rank);
  for (int k = 0; k < w->rank; k++) values[k] = field(&w->dims[k]);
  add_ints(d, name, w->rank, values);
}

// Where a kernel lies that is a part of an array.
static void add_kernel_place(describer *d) {
  const array_view *v = &d->views[1];
  const instruction *kernel = d->op->operands[1];
  if (!is_fused(d) || v->array == kernel) return;
  d->call->operands[1] = kernel->shape;
  add_ints(d, "kernel_strides", v->rank, v->strides);
  add_int(d, "kernel_offset", v->offset);
  add_int(d, "kernel_elements", shape_element_count(v->array->shape));
  add_start(d, "kernel_start", 1);
}

static heddle_status describe_convolution(describer *d) {
  const hlo_attributes *x = d->op->attributes;
  const convolution_dims *c = &x->dim_labels;
  add_int(d, "input_batch", c->input_batch);
  add_int(d, "input_feature", c->input_feature);
  add_ints(d, "input_spatial", c->spatial_rank, c->input_spatial);
  add_int(d, "kernel_input_feature", c->kernel_input_feature);
  add_int(d, "kernel_output_feature", c->kernel_output_feature);
  add_ints(d, "kernel_spatial", c->spatial_rank, c->kernel_spatial);
  add_int(d, "output_batch", c->output_batch);
  add_int(d, "output_feature", c->output_feature);
  add_ints(d, "output_spatial", c->spatial_rank, c->output_spatial);
  add_window(d, "size", window_size);
  add_window(d, "stride", window_stride);
  add_window(d, "padding_low", window_low);
  add_window(d, "padding_high", window_high);
  add_window(d, "base_dilation", window_base);
  add_window(d, "window_dilation", window_dilation);
  add_window(d, "window_reversal", window_reversal);
  add_int(d, "feature_group_count", x->feature_group_count);
  add_int(d, "batch_group_count", x->batch_group_count);
  add_epilogue(d);
  add_kernel_place(d);
  return status_ok();
}

static heddle_status describe_fft(describer *d) {
  add_int(d, "fft_type", d->op->attributes->fft_type);
  add_list(d, "fft_length", d->op->attributes->fft_length);
  return status_ok();
}

static void add_keys(describer *d, const sort_comparator *c) {
  int64_t keys[SORT_COMPARATOR_KEYS_MAX], descending[SORT_COMPARATOR_KEYS_MAX], order[SORT_COMPARATOR_KEYS_MAX];
  for (int k = 0; k < c->count; k++) {
    keys[k] = c->keys[k].operand;
    descending[k] = c->keys[k].is_descending;
    order[k] = c->keys[k].order;
  }
  add_ints(d, "keys", c->count, keys);
  add_ints(d, "descending", c->count, descending);
  add_ints(d, "order", c->count, order);
}

static heddle_status describe_sort(describer *d) {
  add_int(d, "dimension", d->op->attributes->dimensions.size ? d->op->attributes->dimensions.data[0] : 0);
  add_int(d, "is_stable", d->op->attributes->is_stable);
  sort_comparator keys;
  if (sort_comparator_read(d->op->called[0], &keys)) {
    add_keys(d, &keys);
    return status_ok();
  }
  d->call->comparator = d->op->called[0];
  if (d->op->operand_count <= KERNEL_MOST_VARIADIC) return status_ok();
  return refuse(d, arena_printf(d->arena, "has %d operands for a comparator that is compiled, the limit is %d",
                                d->op->operand_count, KERNEL_MOST_VARIADIC));
}

static heddle_status describe_top_k(describer *d) {
  add_int(d, "k", d->op->attributes->k);
  add_int(d, "largest", d->op->attributes->largest);
  return status_ok();
}

// Which array a chunk is read from: the fusion's parameter that the operand shows, or the operand itself.
static heddle_status describe_operand(describer *d, int operand, concatenate_operand *out, int64_t *array) {
  *out = concatenate_operand_whole(d->op, operand);
  *array = operand;
  if (!is_fused(d)) return status_ok();
  if (out->size > 0 && !concatenate_operand_shown(d->op, operand, out))
    return refuse(d, "reads an operand that lies in no rows");
  if (out->array->opcode != HLO_PARAMETER) return refuse(d, "is fused in a way no library knows");
  *array = out->array->attributes->index;
  return status_ok();
}

static heddle_status describe_concatenate(describer *d) {
  enum { OPERAND, OFFSET, STRIDE, SIZE, COLUMNS };
  static const char *const names[COLUMNS] = {"operand", "offset", "stride", "size"};
  int64_t *columns[COLUMNS];
  const int count = d->op->operand_count;
  if (is_fused(d) && d->instruction->called[0]->root != d->op) return refuse(d, "is fused in a way no library knows");
  for (int c = 0; c < COLUMNS; c++) columns[c] = arena_array(d->arena, int64_t, count);
  for (int k = 0; k < count; k++) {
    concatenate_operand p;
    TRY(describe_operand(d, k, &p, &columns[OPERAND][k]));
    columns[OFFSET][k] = p.first;
    columns[STRIDE][k] = p.stride;
    columns[SIZE][k] = p.size;
  }
  add_int(d, "rows", concatenate_operand_rows(d->op));
  for (int c = 0; c < COLUMNS; c++) add_ints(d, names[c], count, columns[c]);
  return status_ok();
}

// The default is Philox, as on XLA's CPU.
static heddle_status describe_random(describer *d) {
  bool is_three_fry = d->op->attributes->algorithm == RANDOM_THREE_FRY;
  add_int(d, "algorithm", is_three_fry ? RANDOM_THREE_FRY : RANDOM_PHILOX);
  return status_ok();
}

static heddle_status describe_custom_call(describer *d) {
  const hlo_attributes *x = d->op->attributes;
  if (str_starts_with(x->custom_call_target, "xla_python_") ||
      str_starts_with(x->custom_call_target, "xla_ffi_python_"))
    return refuse(d, arena_printf(d->arena, "calls back into the host (%.*s), which no compiled program can",
                                  STR_ARG(x->custom_call_target)));
  d->call->target = arena_strdup(d->arena, x->custom_call_target.data, x->custom_call_target.size);
  const named_attribute *list;
  const int count = call_attributes(d->arena, x->backend_config, &list);
  for (int k = 0; k < count; k++) vec_push(d->arena, &d->attributes, list[k]);
  if (count == 0 && x->backend_config.size) add_text(d, "backend_config", x->backend_config);
  if (x->custom_call_has_side_effect) add_int(d, "has_side_effect", 1);
  return status_ok();
}

static heddle_status add_devices(describer *d) {
  device_list devices;
  int size;
  if (d->op->opcode == HLO_COLLECTIVE_PERMUTE) {
    TRY(device_groups_pairs_of(d->arena, d->op, &devices));
    add_ints(d, "pairs", devices.size, devices.data);
    return status_ok();
  }
  TRY(device_groups_of(d->arena, d->op, &size, &devices));
  add_int(d, "group_size", size);
  add_ints(d, "groups", devices.size, devices.data);
  return status_ok();
}

static heddle_status add_reducer(describer *d) {
  if (d->op->called_count == 0) return status_ok();
  const hlo_opcode op = combiner_opcode(d->op->called[0]);
  if (op == HLO_OPCODE_COUNT) return refuse(d, "combines values by more than one operation");
  add_text(d, "reducer", str_from(hlo_op_text(op)));
  return status_ok();
}

static heddle_status describe_collective(describer *d) {
  const hlo_attributes *x = d->op->attributes;
  d->call->target = hlo_op_text(d->op->opcode);
  TRY(add_devices(d));
  TRY(add_reducer(d));
  if (x->dimensions.size) add_int(d, "dimension", x->dimensions.data[0]);
  add_int(d, "partition_count", device_groups_partitions(d->op->parent->module));
  return status_ok();
}

// (value, u32[] context, token)
static bool is_message(const shape *s) {
  return shape_is_tuple(s) && s->tuple_size == 3 && shape_is_array(s->elements[0]) && shape_is_scalar(s->elements[1]) &&
         s->elements[1]->dtype == DTYPE_U32 && s->elements[2]->dtype == DTYPE_TOKEN;
}

static bool is_end_of_message(const instruction *i) {
  const shape *s = i->shape;
  if (!is_message(i->operands[0]->shape)) return false;
  if (i->opcode == HLO_SEND_DONE) return true;
  return shape_is_tuple(s) && s->tuple_size == 2 &&
         shape_compatible(s->elements[0], i->operands[0]->shape->elements[0]);
}

// A done is of its start's channel.
static heddle_status describe_transfer(describer *d) {
  const instruction *op = d->op;
  const bool is_done = op->opcode == HLO_SEND_DONE || op->opcode == HLO_RECV_DONE;
  d->call->target = hlo_op_text(op->opcode);
  if (op->opcode == HLO_INFEED || op->opcode == HLO_OUTFEED) return status_ok();
  if (!(is_done ? is_end_of_message(op) : is_message(op->shape)))
    return refuse(d, "has a result other than (array, u32[], token)");
  if (is_done && (op->operands[0]->opcode == HLO_SEND || op->operands[0]->opcode == HLO_RECV)) op = op->operands[0];
  device_list pairs;
  add_int(d, "channel", op->attributes->channel_id);
  add_int(d, "is_paired", device_groups_transfer_of(d->arena, op, &pairs));
  add_ints(d, "pairs", pairs.size, pairs.data);
  return status_ok();
}

typedef heddle_status (*describe_fn)(describer *d);

static const describe_fn describe[LIBRARY_KIND_COUNT] = {
    [LIBRARY_GEMM] = describe_gemm,
    [LIBRARY_CONVOLUTION] = describe_convolution,
    [LIBRARY_FFT] = describe_fft,
    [LIBRARY_SORT] = describe_sort,
    [LIBRARY_TOP_K] = describe_top_k,
    [LIBRARY_CONCATENATE] = describe_concatenate,
    [LIBRARY_RANDOM] = describe_random,
    [LIBRARY_CUSTOM_CALL] = describe_custom_call,
    [LIBRARY_COLLECTIVE] = describe_collective,
    [LIBRARY_TRANSFER] = describe_transfer,
};

static const char *const kind_names[LIBRARY_KIND_COUNT] = {
    [LIBRARY_NONE] = "none",
    [LIBRARY_GEMM] = "GEMM",
    [LIBRARY_FFT] = "FFT",
    [LIBRARY_CONVOLUTION] = "convolution",
    [LIBRARY_SORT] = "sort",
    [LIBRARY_TOP_K] = "top-k",
    [LIBRARY_RANDOM] = "random",
    [LIBRARY_CUSTOM_CALL] = "custom call",
    [LIBRARY_TRANSFER] = "transfer",
    [LIBRARY_COLLECTIVE] = "collective",
    [LIBRARY_CONCATENATE] = "concatenate",
};

const char *library_kind_name(library_kind kind) { return kind_names[kind]; }

heddle_status library_describe(arena *a, const instruction *i, library_call *out) {
  describer d = {.arena = a, .instruction = i, .op = operation_of(i), .call = out};
  *out = (library_call){.kind = library_kind_of(i)};
  if (out->kind == LIBRARY_NONE) return refuse(&d, "is in no library");
  add_leaves(&d);
  if (is_fused(&d) && out->kind != LIBRARY_CONCATENATE) TRY(order_operands(&d));
  TRY(describe[out->kind](&d));
  out->attribute_count = d.attributes.size;
  out->attributes = d.attributes.data;
  return status_ok();
}
