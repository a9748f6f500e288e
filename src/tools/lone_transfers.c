// A recv that names nobody as its sender receives zeros on every platform: one without a partner is made such. Infeeds
// become the arrays that they bring.
#include "tools/lone_transfers.h"

#include "base/log.h"
#include "hlo/builder.h"
#include "hlo/device_groups.h"
#include "hlo/npy.h"
#include "opt/rewrite.h"

static const char PAIRS_NAME[] = "_xla_send_recv_source_target_pairs";

typedef struct transfer_list {
  arena *scratch;
  instruction_list sends, receives;
  int arrays;  // that infeeds bring
} transfer_list;

static int count_arrays(const shape *s) {
  int count = shape_is_array(s);
  for (int k = 0; shape_is_tuple(s) && k < s->tuple_size; k++) count += count_arrays(s->elements[k]);
  return count;
}

static void find_transfers(const module *m, transfer_list *found) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++) {
      instruction *i = m->computations.data[c]->instructions.data[k];
      if (i->opcode == HLO_SEND) vec_push(found->scratch, &found->sends, i);
      if (i->opcode == HLO_RECV) vec_push(found->scratch, &found->receives, i);
      if (i->opcode == HLO_INFEED) found->arrays += count_arrays(i->shape);
    }
}

static const instruction *on_channel(const instruction_list *transfers, int64_t channel) {
  for (int k = 0; k < transfers->size; k++)
    if (transfers->data[k]->attributes->channel_id == channel) return transfers->data[k];
  return NULL;
}

static bool same_pairs(const instruction *l, const instruction *r) {
  device_transfers x, y;
  if (!device_transfers_begin(l, &x) || !device_transfers_begin(r, &y)) return false;
  for (;;) {
    int64_t from_l, to_l, from_r, to_r;
    const bool has_l = device_transfers_next(&x, &from_l, &to_l), has_r = device_transfers_next(&y, &from_r, &to_r);
    if (!has_l || !has_r) return has_l == has_r;
    if (from_l != from_r || to_l != to_r) return false;
  }
}

// A sender to the same devices that no recv has on its channel.
static const instruction *sender_of_pairs(const transfer_list *found, const instruction *receive) {
  for (int k = 0; k < found->sends.size; k++) {
    const instruction *send = found->sends.data[k];
    if (same_pairs(send, receive) && !on_channel(&found->receives, send->attributes->channel_id)) return send;
  }
  return NULL;
}

// Of every receive and its done, which may stand in another computation.
static void move_channel(module *m, int64_t from, int64_t to) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++) {
      instruction *i = m->computations.data[c]->instructions.data[k];
      if ((i->opcode != HLO_RECV && i->opcode != HLO_RECV_DONE) || i->attributes->channel_id != from) continue;
      i->attributes = attributes_copy(m->arena, i->attributes);
      i->attributes->channel_id = to;
      attributes_mark(i->attributes, HLO_ATTRIBUTE_CHANNEL_ID);
    }
}

static void name_nobody(module *m, instruction *receive) {
  hlo_attributes *x = receive->attributes = attributes_copy(m->arena, receive->attributes);
  const str text = str_from(arena_printf(m->arena, "{%s={}}", PAIRS_NAME));
  for (int k = 0; k < x->raw_count; k++)
    if (str_is(x->raws[k].name, "frontend_attributes")) {
      x->raws[k].text = text;
      return;
    }
  attributes_add_raw(m->arena, x, STR("frontend_attributes"), text);
  attributes_mark(x, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES);
}

// Whether it was left without a sender.
static bool find_sender(module *m, const transfer_list *found, instruction *receive) {
  const int64_t channel = receive->attributes->channel_id;
  if (!receive->attributes->is_host_transfer) {
    if (on_channel(&found->sends, channel)) return false;
    const instruction *send = sender_of_pairs(found, receive);
    if (send) {
      move_channel(m, channel, send->attributes->channel_id);
      return false;
    }
  }
  name_nobody(m, receive);
  return true;
}

// --- what comes in

typedef struct feeder {
  arena *arena;
  int count, next;
  const char *const *files;
  heddle_status status;  // of the first file that could not be read
} feeder;

static instruction *fed_array(feeder *f, const builder *b, const shape *s) {
  literal *value = NULL;
  if (f->next < f->count && status_is_ok(f->status)) {
    const char *file = f->files[f->next];
    f->status = npy_read(f->arena, file + (file[0] == '@'), s, &value);
    if (!status_is_ok(f->status))
      f->status = status_context(f->status, "while reading --infeed %d, %s", f->next, shape_text(f->arena, s));
    f->next++;
  }
  return value ? builder_constant(b, value) : builder_broadcast(b, builder_scalar_int(b, s->dtype, 0), s, 0, NULL);
}

static instruction *fed_value(feeder *f, const builder *b, const shape *s, instruction *token) {
  if (shape_is_tuple(s)) {
    instruction **elements = arena_array(b->arena, instruction *, s->tuple_size);
    for (int k = 0; k < s->tuple_size; k++) elements[k] = fed_value(f, b, s->elements[k], token);
    return builder_tuple(b, s->tuple_size, elements);
  }
  return shape_is_array(s) ? fed_array(f, b, s) : token;
}

static bool is_infeed(const instruction *i) { return i->opcode == HLO_INFEED; }

static instruction *fed(instruction *infeed, void *argument) {
  const builder b = builder_for(infeed);
  return fed_value(argument, &b, infeed->shape, infeed->operands[0]);
}

// Infeeds take the files, array for array, and zeros when there are no more.
static heddle_status feed_infeeds(module *m, int count, const char *const *files) {
  feeder f = {.arena = m->arena, .count = count, .files = files, .status = status_ok()};
  pass_context context = {.scratch = arena_create()};
  heddle_status s = rewrite_each_given(&context, m, is_infeed, fed, &f);
  arena_destroy(context.scratch);
  if (!status_is_ok(s)) heddle_status_free(f.status);
  TRY(s);
  TRY(f.status);
  if (f.next == count) return status_ok();
  return status_error(HEDDLE_INVALID, "found %d --infeed, wanted at most %d: so many arrays come in", count, f.next);
}

heddle_status lone_transfers_feed(module *m, int count, const char *const *files) {
  transfer_list found = {.scratch = arena_create()};
  int alone = 0;
  find_transfers(m, &found);
  for (int k = 0; k < found.receives.size; k++) alone += find_sender(m, &found, found.receives.data[k]);
  alone += found.arrays > count ? found.arrays - count : 0;
  if (alone)
    log_print(0, "%s: warning: infeeds and receives of what nobody here sends (%d of them) get zeros",
              m->file ? m->file : "the program", alone);
  arena_destroy(found.scratch);
  return feed_infeeds(m, count, files);
}
