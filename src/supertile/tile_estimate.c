// One walk over the steps of a turn, from the first that runs to the last.
#include "supertile/tile_estimate.h"

#include "base/int64.h"
#include "fuse/tile_loops.h"
#include "supertile/region_batches.h"
#include "supertile/tile_carry.h"
#include "supertile/tile_sum.h"

enum { MOST_BEHIND = 64 };

// A product, or a convolution of its kernel, is told in an s32 where a part of an array begins.
enum { PLACE_BYTES = 4 };

// Parts of one array among which an equal one is looked for; those of a step were added one after the other.
enum { MOST_PARTS = 64 };

static int64_t region_bytes(const instruction *i, const region *r) {
  int64_t bits = 0;
  if (shape_is_tuple(i->shape))
    for (int k = 0; k < i->shape->tuple_size; k++) bits += dtypes[i->shape->elements[k]->dtype].bits;
  else bits = dtypes[i->shape->dtype].bits;
  return (region_elements(r) * bits + 7) / 8;
}

int64_t tile_estimate_bytes(const tile_member *m) { return region_bytes(m->instruction, &m->region); }

double tile_estimate_work(const instruction *i) {
  if (i->opcode == HLO_DOT) {
    const int_list k = i->attributes->lhs_contracting_dims;
    double depth = 1;
    for (int d = 0; d < k.size; d++) depth *= (double)i->operands[0]->shape->dims[k.data[d]];
    return depth;
  }
  if (i->opcode == HLO_CONVOLUTION) {
    const shape *kernel = i->operands[1]->shape;
    return (double)shape_element_count(kernel) / (double)kernel->dims[i->attributes->dim_labels.kernel_output_feature];
  }
  if (i->opcode == HLO_REDUCE && shape_element_count(tile_group_array(i)) > 0)
    return (double)shape_element_count(i->operands[0]->shape) / (double)shape_element_count(tile_group_array(i));
  return 1;
}

// What writes tiles of its own, wherever they are to go.
static bool is_library(const instruction *i) {
  if (i->opcode == HLO_CONVOLUTION || i->opcode == HLO_DOT) return !tile_loops_has(i);
  return region_batches_has(i);
}

// Whether a library reads parts of the operand's array where they lie: a product, and a convolution those of its
// kernel.
static bool may_read_part(const instruction *i, int operand) {
  const bool reads = i->opcode == HLO_DOT || (i->opcode == HLO_CONVOLUTION && operand == 1);
  return reads && dtypes[i->operands[operand]->shape->dtype].bits >= 8;
}

// A library takes whole arrays: what it reads of one is copied for it, unless it reads parts where they lie and these
// move along one dim of the array, or of the tile that has region `of` of it.
static bool takes_copy(const instruction *i, int operand, const region *in, const region *of) {
  int moving = 0;
  if (!is_library(i)) return false;
  if (!may_read_part(i, operand)) return true;
  for (int d = 0; d < in->rank; d++) moving += in->dims[d].step != (of ? of->dims[d].step : 0);
  return moving > 1;
}

// What a step reads of an array outside.
typedef struct read_part {
  const instruction *array;
  region region;
  int step;
  int next;  // of the same array, plus one; 0: none
} read_part;

// What one step takes beside the members' tiles. A library's slices are copied one after the other in front of it.
typedef struct step_bytes {
  int64_t resident;       // read where it lies, and not counted as whole
  int64_t read;           // read where it lies, whether counted as whole or not
  int64_t copied;         // copies that the library reads
  int64_t largest_slice;  // of what such copies are made of, where that is resident
} step_bytes;

typedef struct estimate {
  tile_search *search;
  tile_group *group;
  int *reader;         // by member: the earliest in the list, so the last that runs, of the steps that read it
  step_bytes *beside;  // by member that is a step
  VEC(read_part) parts;
  ptr_map last_parts;  // array: number of its last part, plus one
} estimate;

static bool is_step(const tile_group *g, int member) {
  const tile_member *m = &g->members.data[member];
  return m->is_stored || tile_group_output(g, m->instruction);
}

// The step that computes the member.
static int step_of(const estimate *e, int member) { return is_step(e->group, member) ? member : e->reader[member]; }

static void find_readers(estimate *e) {
  tile_group *g = e->group;
  for (int k = 0; k < g->members.size; k++) e->reader[k] = g->members.size;
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    for (int o = 0; o < m->instruction->operand_count; o++) {
      const int of = m->operands[o];
      if (of >= 0 && step_of(e, k) < e->reader[of]) e->reader[of] = step_of(e, k);
    }
  }
}

// A part that several members within one step read is read once.
static bool is_known_part(estimate *e, const instruction *array, const region *r, int step) {
  const int last = (int)(intptr_t)ptr_map_get(&e->last_parts, array);
  int looked_at = 0;
  for (int k = last; k > 0 && looked_at < MOST_PARTS; k = e->parts.data[k - 1].next, looked_at++) {
    const read_part *known = &e->parts.data[k - 1];
    if (known->step == step && region_equal(&known->region, r)) return true;
  }
  vec_push(e->search->arena, &e->parts, ((read_part){array, *r, step, last}));
  ptr_map_put(e->search->arena, &e->last_parts, array,
              (void *)(intptr_t)e->parts.size);  // NOLINT(performance-no-int-to-ptr)
  return false;
}

static void add_external_part(estimate *e, int member, int operand) {
  const tile_member *m = &e->group->members.data[member];
  const instruction *i = m->instruction;
  const instruction *x = i->opcode == HLO_GET_TUPLE_ELEMENT ? i : i->operands[operand];
  region in;
  if (m->operands[operand] >= 0 || tile_group_is_given(e->group, i, operand)) return;
  if (tile_group_operand(e->search, e->group, m, e->group->inside, operand, &in) != REGION_FOUND) return;
  const int step = step_of(e, member);
  const bool is_picked = region_is_picked(i, &m->region, operand);
  if (is_known_part(e, x, is_picked ? &m->region : &in, step)) return;
  int64_t bytes = region_bytes(x, &in);
  if (is_picked) bytes = int64_min(bytes, region_bytes(i, &m->region));
  const int64_t resident = plan_steps_is_temporary(e->search->steps, x) ? 0 : bytes;
  step_bytes *beside = &e->beside[step];
  if (may_read_part(i, operand) && region_moves(&in)) beside->read += PLACE_BYTES;
  if (takes_copy(i, operand, &in, NULL) && !region_is_whole(&in, tile_group_array(x))) {
    beside->copied += bytes;
    if (resident > beside->largest_slice) beside->largest_slice = resident;
  } else {
    beside->resident += resident;
    beside->read += bytes;
  }
}

// A library takes a part of another member's tile as a copy.
static void add_member_part(estimate *e, int member, int operand) {
  const tile_member *m = &e->group->members.data[member];
  region in;
  if (m->operands[operand] < 0) return;
  if (tile_group_operand(e->search, e->group, m, e->group->inside, operand, &in) != REGION_FOUND) return;
  const tile_member *of = &e->group->members.data[m->operands[operand]];
  if (takes_copy(m->instruction, operand, &in, &of->region) && !region_equal(&in, &of->region))
    e->beside[step_of(e, member)].copied += region_bytes(of->instruction, &in);
}

// Rows that are copied are read where they lie.
static void add_copied_rows(estimate *e, int member) {
  const tile_member *m = &e->group->members.data[member];
  const int64_t bytes = region_bytes(m->instruction, &m->computed);
  e->beside[member].resident += plan_steps_is_temporary(e->search->steps, m->instruction) ? 0 : bytes;
  e->beside[member].read += bytes;
}

static void add_operands(estimate *e) {
  for (int k = 0; k < e->group->members.size; k++) {
    if (e->group->members.data[k].is_copied) {
      add_copied_rows(e, k);
      continue;
    }
    for (int o = 0; o < e->group->members.data[k].instruction->operand_count; o++) {
      add_external_part(e, k, o);
      add_member_part(e, k, o);
    }
  }
}

static int64_t whole_bytes(const instruction *i) {
  int64_t bytes = 0;
  if (shape_is_array(i->shape)) return kernel_buffer_bytes(i->shape);
  for (int k = 0; k < i->shape->tuple_size; k++) bytes += kernel_buffer_bytes(i->shape->elements[k]);
  return bytes;
}

static void raise(int64_t *most, int64_t bytes) {
  if (bytes > *most) *most = bytes;
}

// Whose memory tiles of the output go to.
static const instruction *written_to(const tile_output *o) { return o->update ? o->array : o->instruction; }

// What an output's step takes of its result. A library, and a sum that goes on, write a tile of their own, which is
// then written to its place; so does a step whose tile others read. `behind` is what lives on then.
static void walk_result(const estimate *e, const tile_output *o, int64_t behind, int64_t *live, int64_t *touched) {
  tile_group *g = e->group;
  const int64_t out = region_bytes(o->instruction, &g->members.data[o->member].region);
  const int64_t written = plan_steps_is_temporary(e->search->steps, written_to(o)) ? 0 : out;
  const bool is_read = e->reader[o->member] < g->members.size;
  const bool is_sum = o->is_sum && tile_sum_combiner(o->instruction) != HLO_OPCODE_COUNT;
  if (is_library(o->instruction) || is_sum || is_read) {
    raise(&g->operation_bytes, behind + out + written);
    raise(&g->least_bytes, behind + out + written);
    raise(&g->touched_bytes, 2 * out);
    *live += out;
  } else {
    *live += written;
  }
  *touched += out;
}

// What a producer's step takes of its tile. A library writes new rows alone, which then join those that were kept.
static void walk_tile(tile_group *g, const tile_member *m, int64_t behind, int64_t *live, int64_t *touched) {
  const int64_t all = region_bytes(m->instruction, &m->region);
  if (m->carry_dim >= 0 && is_library(m->instruction)) {
    const int64_t made = region_bytes(m->instruction, &m->computed);
    raise(&g->operation_bytes, behind + made + all);
    raise(&g->least_bytes, behind + made + all);
    raise(&g->touched_bytes, 2 * all);
    *live += made;
    *touched += made;
    return;
  }
  *live += all;
  *touched += all + (m->carry_dim >= 0 ? all - region_bytes(m->instruction, &m->computed) : 0);
}

// Bytes of tiles that are needed at a step: of all, and of those that it is the last to read.
typedef struct needed_tiles {
  int64_t live, read;
} needed_tiles;

// By member. A tile lives from its own step, which has the higher number, to its last reader.
static needed_tiles *find_needed(const estimate *e) {
  const tile_group *g = e->group;
  needed_tiles *needed = arena_array(e->search->arena, needed_tiles, g->members.size + 1);
  int64_t *begins = arena_array(e->search->arena, int64_t, g->members.size + 1), live = 0;
  for (int m = 0; m < g->members.size; m++) {
    if (!is_step(g, m) || e->reader[m] >= m) continue;
    const int64_t bytes = region_bytes(g->members.data[m].instruction, &g->members.data[m].region);
    begins[m] = bytes;
    needed[e->reader[m]].read += bytes;
  }
  for (int k = g->members.size; k-- > 0;) {
    live += begins[k + 1];
    needed[k].live = live;
    live -= needed[k].read;
  }
  return needed;
}

// Most of all steps: tiles that live, and what is read and written of other arrays.
static void walk_steps(estimate *e) {
  tile_group *g = e->group;
  const needed_tiles *needed = find_needed(e);
  g->operation_bytes = g->touched_bytes = g->least_bytes = 0;
  for (int k = g->members.size; k-- > 0;) {
    if (!is_step(g, k)) continue;
    const step_bytes *beside = &e->beside[k];
    int64_t live = needed[k].live, touched = needed[k].read;
    const int64_t behind = live - touched;
    raise(&g->operation_bytes, live + beside->copied + beside->largest_slice);
    raise(&g->touched_bytes, beside->copied > 0 ? beside->largest_slice * 2 : 0);
    const tile_output *o = tile_group_output(g, g->members.data[k].instruction);
    if (o && o->member == k) {
      walk_result(e, o, behind, &live, &touched);
    } else {
      walk_tile(g, &g->members.data[k], behind, &live, &touched);
    }
    raise(&g->least_bytes, live);
    raise(&g->operation_bytes, live + beside->copied + beside->resident);
    raise(&g->touched_bytes, touched + beside->copied + beside->read);
  }
}

static void count_work(tile_group *g) {
  double whole = 0, tiled = 0;
  const double factor = tile_group_tiling_factor(g);
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    if (g->members.data[k].is_copied) continue;
    const double work = tile_estimate_work(i);
    const double once = work * (double)shape_element_count(tile_group_array(i));
    whole += once;
    tiled += g->members.data[k].is_repeated ? once : 0;  // what is outside stays
    const double elements = (double)region_elements(&g->members.data[k].computed);
    const tile_output *o = tile_group_output(g, i);
    tiled += work * elements * (o && o->is_sum ? 1 : factor);
  }
  g->more_work = tiled - whole;
  g->repeated = whole > 0 && tiled > whole ? tiled / whole : 1;
}

// What no step stores, the loop reads as an array that is made for it; turns beside the loop compute their parts of it
// themselves, so that what it is made of lives on.
static int64_t bytes_behind(const tile_search *s, const instruction *x) {
  int64_t bytes = 0;
  instruction_list work = {0};
  ptr_map seen = {0};
  vec_push(s->arena, &work, (instruction *)x);
  for (int w = 0; w < work.size && w < MOST_BEHIND; w++) {
    instruction *i = work.data[w];
    const bool is_given = i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT || i->opcode == HLO_GET_TUPLE_ELEMENT;
    if (is_given || ptr_map_has(&seen, i)) continue;
    ptr_map_put(s->arena, &seen, i, i);
    if (!plan_steps_stored(s->steps, i))
      for (int k = 0; k < i->operand_count; k++) vec_push(s->arena, &work, i->operands[k]);
    else if (w > 0 && plan_steps_is_temporary(s->steps, i)) bytes += whole_bytes(i);
  }
  return bytes;
}

// Whether turns stand beside the loop, in front of it or behind it.
static bool has_lone_turns(const tile_group *g) {
  return g->first_turn < g->inside.first || g->inside.last < g->turns - 1 || g->remainder > 0;
}

// Arrays outside that live all the while.
static int64_t externals_bytes(const tile_search *s, const tile_group *g) {
  int64_t bytes = 0;
  for (int k = 0; k < g->externals.size; k++) {
    const instruction *x = g->externals.data[k];
    if (!plan_steps_is_temporary(s->steps, x) || tile_group_over(g, x)) continue;
    const instruction *made = x;
    while (made->opcode == HLO_BITCAST) made = made->operands[0];
    bytes += whole_bytes(x);
    if (!plan_steps_stored(s->steps, made) && has_lone_turns(g)) bytes += bytes_behind(s, made);
  }
  return bytes;
}

void tile_estimate_group(tile_search *s, tile_group *g, int64_t across) {
  const int count = g->members.size;
  estimate e = {.search = s,
                .group = g,
                .reader = arena_array(s->arena, int, count),
                .beside = arena_array(s->arena, step_bytes, count + 1)};
  find_readers(&e);
  add_operands(&e);
  walk_steps(&e);
  count_work(g);
  int64_t whole = across + TILE_LOOP_BYTES + externals_bytes(s, g);
  for (int k = 0; k < g->outputs.size; k++) {
    const instruction *x = written_to(&g->outputs.data[k]);
    if (plan_steps_is_temporary(s->steps, x)) whole += whole_bytes(x);
  }
  for (int k = 0; k < count; k++) {
    if (g->members.data[k].carry_dim < 0) continue;
    const region kept = tile_carry_kept(s->arena, &g->members.data[k]);
    whole += region_bytes(g->members.data[k].instruction, &kept);
  }
  g->needed_bytes = whole + g->operation_bytes;
  g->least_bytes += whole;
}
