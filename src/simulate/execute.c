// What a warp's lanes do with their slots, with memory, and with each other.
#include "simulate/execute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "simulate/compute.h"
#include "simulate/traffic.h"

const uint64_t *execute_slot(const warp *w, const warp_call *c, int slot) {
  return slot >= 0 ? c->slots[slot] : w->block->code->constants[slot - SIM_CONSTANTS];
}

// --- errors

heddle_status execute_fail(const warp *w, const sim_op *op, int lane, const char *format, ...) {
  text what = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&what, format, arguments);
  va_end(arguments);
  const block_state *b = w->block;
  heddle_status s = status_error(HEDDLE_DEVICE_FAILED, "kernel %s: thread %d of block %" PRId64 ",%" PRId64 " %s%s%s",
                                 b->name, w->number * SIM_LANES + lane, b->at[0], b->at[1], what.data,
                                 op->text ? ": " : "", op->text ? op->text : "");
  text_free(&what);
  return s;
}

// Where the address lies relative to the argument that it should be of, or to the nearest range of memory.
static heddle_status fail_outside(const warp *w, const sim_op *op, int lane, uint64_t address, int64_t bytes,
                                  const char *verb) {
  const memory *m = w->block->memory;
  if (op->place->argument >= 0) {
    const memory_argument *of = &m->arguments[op->place->argument];
    return execute_fail(w, op, lane,
                        "%s %" PRId64 " bytes at offset %" PRId64 " of argument %d, which has %" PRId64 " bytes", verb,
                        bytes, (int64_t)(address - of->begin), op->place->argument, (int64_t)(of->end - of->begin));
  }
  static const char *const kinds[] = {"arguments", "shared memory", "the stack", "constants"};
  const memory_range *nearest = NULL;
  uint64_t least = UINT64_MAX;
  for (int k = 0; k < m->count; k++) {
    const memory_range *r = &m->ranges[k];
    const uint64_t away = address < r->begin ? r->begin - address : address >= r->end ? address - r->end : 0;
    if (away >= least) continue;
    least = away;
    nearest = r;
  }
  if (!nearest) return execute_fail(w, op, lane, "%s memory, and there is none", verb);
  return execute_fail(w, op, lane, "%s %" PRId64 " bytes at offset %" PRId64 " of %s, which has %" PRId64 " bytes",
                      verb, bytes, (int64_t)(address - nearest->begin), kinds[nearest->kind],
                      (int64_t)(nearest->end - nearest->begin));
}

// --- memory

// Looks the access of one lane up and notes it.
static heddle_status touch(const warp *w, const sim_op *op, int lane, uint64_t address, int64_t bytes, bool writes,
                           memory_kind *kind) {
  static const char *const verbs[] = {"reads", "writes"};
  const block_state *b = w->block;
  const memory_range *r = memory_find(b->memory, address, bytes, op->place);
  if (!r) return fail_outside(w, op, lane, address, bytes, verbs[writes]);
  if (op->alignment > 1 && address % (uint64_t)op->alignment != 0)
    return execute_fail(w, op, lane, "%s at an address that is no multiple of %" PRId64, verbs[writes], op->alignment);
  if (writes && r->kind == MEMORY_CONSTANT) return execute_fail(w, op, lane, "writes constants");
  if (op->is_invariant && r->is_written) return execute_fail(w, op, lane, "reads as constant what the kernel writes");
  *kind = r->kind;
  if (!r->records) return status_ok();
  const memory_access by = {
      .thread = (b->number - 1) * (uint32_t)b->thread_count + (uint32_t)(w->number * SIM_LANES + lane) + 1,
      .block = b->number,
      .block_threads = (uint32_t)b->thread_count,
      .epoch = b->epoch,
      .writes = writes,
      .is_atomic = op->is_atomic};
  const char *wrong = memory_note(r, address, bytes, &by);
  return wrong ? execute_fail(w, op, lane, "%s", wrong) : status_ok();
}

static heddle_status touch_all(const warp *w, const sim_op *op, sim_mask active, const uint64_t *addresses,
                               bool writes) {
  memory_kind kind = MEMORY_GLOBAL;
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    TRY(touch(w, op, l, addresses[l], op->bytes, writes, &kind));
  }
  traffic_count(op->traffic, kind, active, addresses, op->bytes);
  return status_ok();
}

static uint64_t read_bits(const char *from, int64_t first, int bits) {
  uint64_t v = 0;
  for (int k = 0; k < bits; k++) v |= (uint64_t)((unsigned char)from[(first + k) / 8] >> (first + k) % 8 & 1) << k;
  return v;
}

static void write_bits(char *to, int64_t first, int bits, uint64_t v) {
  for (int k = 0; k < bits; k++) {
    unsigned char *byte = (unsigned char *)&to[(first + k) / 8];
    const unsigned bit = 1u << (first + k) % 8;
    *byte = (unsigned char)(v >> k & 1 ? *byte | bit : *byte & ~bit);
  }
}

// Element k of what lies at an address; elements of less than a byte lie packed.
static void load_element(const sim_op *op, const char *from, int k, uint64_t *out, int lane) {
  const int bits = op->type.bits;
  out[lane] = 0;
  if (bits % 8 == 0) {
    const int bytes = bits / 8;
    memcpy(&out[lane], from + k * bytes, bytes < 8 ? (size_t)bytes : 8);
    if (bytes <= 8) return;
    out[SIM_LANES + lane] = 0;
    memcpy(&out[SIM_LANES + lane], from + k * bytes + 8, (size_t)bytes - 8);
  } else {
    out[lane] = read_bits(from, (int64_t)k * bits, bits < 64 ? bits : 64);
  }
}

static heddle_status load(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *addresses = execute_slot(w, c, op->operands[0].slot);
  TRY(touch_all(w, op, active, addresses, false));
  const int step = op->result_count / op->repeats;
  for (int k = 0; k < op->repeats; k++)
    for (int l = 0; l < SIM_LANES; l++)
      if (active >> l & 1)
        load_element(op, (const char *)(uintptr_t)addresses[l], k, c->slots[op->result + k * step], l);
  return status_ok();
}

static void store_element(const sim_op *op, char *to, int k, const uint64_t *value, const uint64_t *high, int lane) {
  const int bits = op->type.bits;
  if (bits % 8 == 0) {
    const int bytes = bits / 8;
    memcpy(to + k * bytes, &value[lane], bytes < 8 ? (size_t)bytes : 8);
    if (high) memcpy(to + k * bytes + 8, &high[lane], (size_t)bytes - 8);
  } else if (op->repeats == 1) {
    // A lone element of an odd width takes whole bytes.
    write_bits(to, 0, (bits + 7) / 8 * 8, value[lane]);
  } else {
    write_bits(to, (int64_t)k * bits, bits, value[lane]);
  }
}

static heddle_status store(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *addresses = execute_slot(w, c, op->operands[1].slot);
  TRY(touch_all(w, op, active, addresses, true));
  const int step = op->operands[0].count / op->repeats;
  for (int k = 0; k < op->repeats; k++) {
    const uint64_t *value = execute_slot(w, c, op->operands[0].slot + k * step);
    const uint64_t *high = step > 1 ? execute_slot(w, c, op->operands[0].slot + k * step + 1) : NULL;
    for (int l = 0; l < SIM_LANES; l++)
      if (active >> l & 1) store_element(op, (char *)(uintptr_t)addresses[l], k, value, high, l);
  }
  return status_ok();
}

// Lanes one after the other, in their order.
static heddle_status exchange(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const bool compares = op->opcode == SIM_COMPARE_EXCHANGE;
  const uint64_t *addresses = execute_slot(w, c, op->operands[0].slot), *x = execute_slot(w, c, op->operands[1].slot);
  const uint64_t *wanted = compares ? execute_slot(w, c, op->operands[2].slot) : NULL;
  TRY(touch_all(w, op, active, addresses, true));
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    char *at = (char *)(uintptr_t)addresses[l];
    uint64_t old = 0, new = 0;
    memcpy(&old, at, (size_t)op->bytes);
    if (compares) new = old == x[l] ? wanted[l] : old;
    else if (!compute_atomic(op->kind, op->type, old, x[l], &new))
      return execute_fail(w, op, l, "wants an atomic operation that the simulator lacks");
    memcpy(at, &new, (size_t)op->bytes);
    if (op->result < 0) continue;
    if (compares) c->slots[op->result + 1][l] = old == x[l];
    c->slots[op->result][l] = old;
  }
  return status_ok();
}

static heddle_status fill_or_move(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *to = execute_slot(w, c, op->operands[0].slot), *from = execute_slot(w, c, op->operands[1].slot),
                 *size = execute_slot(w, c, op->operands[2].slot);
  memory_kind kind;
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    const int64_t bytes = (int64_t)size[l];
    if (bytes == 0) continue;
    TRY(touch(w, op, l, to[l], bytes, true, &kind));
    if (op->opcode == SIM_MOVE) TRY(touch(w, op, l, from[l], bytes, false, &kind));
    if (op->opcode == SIM_MOVE) memmove((char *)(uintptr_t)to[l], (const char *)(uintptr_t)from[l], (size_t)bytes);
    else memset((char *)(uintptr_t)to[l], (int)from[l], (size_t)bytes);
  }
  return status_ok();
}

static void take_stack(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const int64_t bytes = w->block->code->stack_bytes;
  for (int l = 0; l < SIM_LANES; l++)
    if (active >> l & 1)
      c->slots[op->result][l] =
          (uint64_t)(uintptr_t)(w->block->stacks + (w->number * SIM_LANES + l) * bytes + op->constant);
}

static void make_address(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  uint64_t *out = c->slots[op->result];
  sim_slot sum;
  const uint64_t *base = execute_slot(w, c, op->operands[0].slot);
  for (int l = 0; l < SIM_LANES; l++) sum[l] = base[l] + (uint64_t)op->constant;
  for (int k = 1; k < op->operand_count; k++) {
    const uint64_t *index = execute_slot(w, c, op->operands[k].slot);
    const int bits = op->steps[k - 1];
    const uint64_t scale = (uint64_t)op->scales[k - 1];
    for (int l = 0; l < SIM_LANES; l++) sum[l] += (uint64_t)compute_extended(index[l], bits) * scale;
  }
  for (int l = 0; l < SIM_LANES; l++)
    if (active >> l & 1) out[l] = sum[l];
}

// --- slots

static void compute(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *in[4] = {0};
  for (int r = 0; r < op->repeats; r++) {
    for (int k = 0; k < op->operand_count && k < 4; k++)
      in[k] = execute_slot(w, c, op->operands[k].slot + r * op->steps[k]);
    op->compute(op, active, c->slots[op->result + r * op->result_step], in);
  }
}

static void copy_slots(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  int to = op->result;
  for (int k = 0; k < op->operand_count; k++) {
    for (int n = 0; n < op->operands[k].count; n++, to++) {
      const uint64_t *from = execute_slot(w, c, op->operands[k].slot + n);
      uint64_t *out = c->slots[to];
      for (int l = 0; l < SIM_LANES; l++)
        if (active >> l & 1) out[l] = from[l];
    }
  }
}

static heddle_status element_at_run_time(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const bool inserts = op->opcode == SIM_INSERT_ELEMENT;
  const int width = op->operands[0].count / op->repeats;
  const uint64_t *index = execute_slot(w, c, op->operands[inserts ? 2 : 1].slot);
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if (index[l] >= (uint64_t)op->repeats)
      return execute_fail(w, op, l, "takes element %" PRIu64 " of %d", index[l], op->repeats);
    for (int k = 0; inserts && k < op->operands[0].count; k++)
      c->slots[op->result + k][l] = execute_slot(w, c, op->operands[0].slot + k)[l];
    for (int k = 0; k < width; k++) {
      const int n = (int)index[l] * width + k;
      if (inserts) c->slots[op->result + n][l] = execute_slot(w, c, op->operands[1].slot + k)[l];
      else c->slots[op->result + k][l] = execute_slot(w, c, op->operands[0].slot + n)[l];
    }
  }
  return status_ok();
}

// A bitcast between elements of different sizes, in memory's order.
static void repack(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  enum { MOST_BYTES = 1024 };
  const int from_width = op->type.bits > 64 ? 2 : 1, to_width = op->to.bits > 64 ? 2 : 1;
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    char bytes[MOST_BYTES] = {0};
    for (int k = 0; k < op->operands[0].count; k++) {
      const int bits = k % from_width ? op->type.bits - 64 : from_width > 1 ? 64 : op->type.bits;
      write_bits(bytes, (int64_t)(k / from_width) * op->type.bits + k % from_width * 64, bits,
                 execute_slot(w, c, op->operands[0].slot + k)[l]);
    }
    for (int k = 0; k < op->result_count; k++) {
      const int bits = k % to_width ? op->to.bits - 64 : to_width > 1 ? 64 : op->to.bits;
      c->slots[op->result + k][l] = read_bits(bytes, (int64_t)(k / to_width) * op->to.bits + k % to_width * 64, bits);
    }
  }
}

static void special(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const block_state *b = w->block;
  uint64_t *out = c->slots[op->result];
  for (int l = 0; l < SIM_LANES; l++) {
    if (!(active >> l & 1)) continue;
    const int64_t thread = w->number * SIM_LANES + l;
    const int64_t place[3] = {thread % b->threads[0], thread / b->threads[0] % b->threads[1],
                              thread / b->threads[0] / b->threads[1]};
    switch ((sim_special)op->kind) {
      case SIM_TID: out[l] = (uint64_t)place[op->axis]; break;
      case SIM_CTAID: out[l] = (uint64_t)b->at[op->axis]; break;
      case SIM_NTID: out[l] = (uint64_t)b->threads[op->axis]; break;
      case SIM_NCTAID: out[l] = (uint64_t)b->grid[op->axis]; break;
      case SIM_LANE: out[l] = (uint64_t)l; break;
    }
  }
}

// --- shuffles

// The lane that lane l reads, and whether it is within the segment; by PTX's definition of shfl.sync.
static int source_lane(int kind, int l, int offset, uint32_t clamp, bool *is_inside) {
  const int segment = (int)(clamp >> 8 & 31), limit = (int)(clamp & 31);
  const int most = (l & segment) | (limit & ~segment), least = l & segment;
  int from = l;
  switch ((sim_shuffle)kind) {
    case SIM_UP:
      from = l - offset;
      *is_inside = from >= most;
      break;
    case SIM_DOWN:
      from = l + offset;
      *is_inside = from <= most;
      break;
    case SIM_BFLY:
      from = l ^ offset;
      *is_inside = from <= most;
      break;
    case SIM_IDX:
      from = least | (offset & ~segment);
      *is_inside = from <= most;
      break;
  }
  return *is_inside ? from : l;
}

static heddle_status shuffle(const warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  const uint64_t *members = execute_slot(w, c, op->operands[0].slot), *value = execute_slot(w, c, op->operands[1].slot),
                 *offset = execute_slot(w, c, op->operands[2].slot), *clamp = execute_slot(w, c, op->operands[3].slot);
  sim_slot result = {0}, inside = {0};
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if ((sim_mask)members[l] & w->threads & ~active)
      return execute_fail(w, op, l, "shuffles with lanes that do not (%08x of %08x are there)", active,
                          (sim_mask)members[l]);
    bool is_inside = false;
    const int from = source_lane(op->kind, l, (int)(offset[l] & 31), (uint32_t)clamp[l], &is_inside);
    if (!(active >> from & 1)) return execute_fail(w, op, l, "reads lane %d, which has no thread", from);
    result[l] = value[from];
    inside[l] = is_inside;
  }
  for (int l = 0; l < SIM_LANES; l++) {
    if (!(active >> l & 1)) continue;
    c->slots[op->result][l] = result[l];
    if (op->result_count > 1) c->slots[op->result + 1][l] = inside[l];
  }
  return status_ok();
}

heddle_status execute_op(warp *w, const warp_call *c, const sim_op *op, sim_mask active) {
  switch (op->opcode) {
    case SIM_COMPUTE: compute(w, c, op, active); break;
    case SIM_COPY: copy_slots(w, c, op, active); break;
    case SIM_SELECT_ELEMENT:
    case SIM_INSERT_ELEMENT: return element_at_run_time(w, c, op, active);
    case SIM_REPACK: repack(w, c, op, active); break;
    case SIM_LOAD: return load(w, c, op, active);
    case SIM_STORE: return store(w, c, op, active);
    case SIM_ATOMIC:
    case SIM_COMPARE_EXCHANGE: return exchange(w, c, op, active);
    case SIM_STACK: take_stack(w, c, op, active); break;
    case SIM_ADDRESS: make_address(w, c, op, active); break;
    case SIM_SHUFFLE: return shuffle(w, c, op, active);
    case SIM_FILL:
    case SIM_MOVE: return fill_or_move(w, c, op, active);
    case SIM_SPECIAL: special(w, c, op, active); break;
    default: return execute_fail(w, op, 0, "comes to an operation of an unknown kind");
  }
  return status_ok();
}
