// Reference-counted values. The header and small arrays share one allocation: reducers and loop counters make a great
// many scalars.
#include "eval/value.h"

#include "base/heap.h"

enum { VALUE_ALIGNMENT = 64 };

static int64_t rounded_up(int64_t size) { return (size + VALUE_ALIGNMENT - 1) / VALUE_ALIGNMENT * VALUE_ALIGNMENT; }

// A value with `payload` bytes behind its header.
static value *allocate(value_pool *pool, const shape *s, int64_t payload) {
  int64_t bytes = rounded_up((int64_t)sizeof(value)) + rounded_up(payload);
  value *v = payload < INT64_MAX / 2 ? heap_try_allocate_lines((size_t)bytes) : NULL;
  if (!v) return NULL;
  *v = (value){.references = 1, .pool = pool, .bytes = bytes, .shape = s};
  pool->bytes += bytes;
  return v;
}

static void *payload_of(value *v) { return (char *)v + rounded_up((int64_t)sizeof(value)); }

heddle_status value_create(value_pool *pool, const shape *s, source_location where, value **out) {
  int64_t bytes = shape_byte_size(s);
  bool fits = bytes <= pool->max_bytes && pool->bytes <= pool->max_bytes - bytes;
  value *v = fits ? allocate(pool, s, bytes) : NULL;
  if (!v)
    return status_at(HEDDLE_OUT_OF_MEMORY, where, "no memory for a value of %lld bytes beside %lld bytes in use",
                     (long long)bytes, (long long)pool->bytes);
  v->data = payload_of(v);
  *out = v;
  return status_ok();
}

heddle_status value_create_tuple(value_pool *pool, const shape *s, value *const *elements, source_location where,
                                 value **out) {
  value *v = allocate(pool, s, (int64_t)sizeof *v->elements * s->tuple_size);
  if (!v) return status_at(HEDDLE_OUT_OF_MEMORY, where, "no memory for a tuple of %d elements", s->tuple_size);
  v->elements = payload_of(v);
  v->element_count = s->tuple_size;
  for (int k = 0; k < s->tuple_size; k++) v->elements[k] = value_retain(elements[k]);
  *out = v;
  return status_ok();
}

heddle_status value_create_empty(value_pool *pool, const shape *s, value **out) {
  *out = allocate(pool, s, 0);
  return *out ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a value");
}

static heddle_status create_zero_tuple(value_pool *pool, const shape *s, source_location where, value **out) {
  value *v = allocate(pool, s, (int64_t)sizeof *v->elements * s->tuple_size);
  if (!v) return status_at(HEDDLE_OUT_OF_MEMORY, where, "no memory for a tuple of %d elements", s->tuple_size);
  v->elements = payload_of(v);
  for (int k = 0; k < s->tuple_size; k++) {
    heddle_status status = value_create_zeros(pool, s->elements[k], where, &v->elements[k]);
    if (!status_is_ok(status)) {
      value_release(v);
      return status;
    }
    v->element_count++;
  }
  *out = v;
  return status_ok();
}

heddle_status value_create_zeros(value_pool *pool, const shape *s, source_location where, value **out) {
  if (shape_is_tuple(s)) return create_zero_tuple(pool, s, where, out);
  if (!shape_is_array(s)) return value_create_empty(pool, s, out);
  TRY(value_create(pool, s, where, out));
  memset((*out)->data, 0, (size_t)shape_byte_size(s));
  return status_ok();
}

heddle_status value_create_view(value *owner, const shape *s, value **out) {
  value *v = allocate(owner->pool, s, 0);
  if (!v) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a value");
  v->data = owner->data;
  v->owner = value_retain(owner);
  *out = v;
  return status_ok();
}

static heddle_status borrow_tuple(value_pool *pool, const literal *l, value **out) {
  value *v = allocate(pool, l->shape, (int64_t)sizeof *v->elements * l->shape->tuple_size);
  if (!v) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a tuple of %d elements", l->shape->tuple_size);
  v->elements = payload_of(v);
  *out = v;
  for (int k = 0; k < l->shape->tuple_size; k++) {
    heddle_status status = value_borrow(pool, l->elements[k], &v->elements[k]);
    if (!status_is_ok(status)) {
      value_release(v);
      *out = NULL;
      return status;
    }
    v->element_count++;
  }
  return status_ok();
}

heddle_status value_borrow(value_pool *pool, const literal *l, value **out) {
  if (shape_is_tuple(l->shape)) return borrow_tuple(pool, l, out);
  value *v = allocate(pool, l->shape, 0);
  if (!v) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a value");
  v->data = l->data;
  *out = v;
  return status_ok();
}

static heddle_status copy_tuple(value_pool *pool, const value *v, value **out) {
  value *copy = allocate(pool, v->shape, (int64_t)sizeof *v->elements * v->element_count);
  if (!copy) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a tuple of %d elements", v->element_count);
  copy->elements = payload_of(copy);
  for (int k = 0; k < v->element_count; k++) {
    heddle_status status = value_copy(pool, v->elements[k], &copy->elements[k]);
    if (!status_is_ok(status)) {
      value_release(copy);
      return status;
    }
    copy->element_count++;
  }
  *out = copy;
  return status_ok();
}

heddle_status value_copy(value_pool *pool, const value *v, value **out) {
  if (shape_is_tuple(v->shape)) return copy_tuple(pool, v, out);
  if (!v->data) return value_create_empty(pool, v->shape, out);
  TRY(value_create(pool, v->shape, SOURCE_UNKNOWN, out));
  memcpy((*out)->data, v->data, (size_t)shape_byte_size(v->shape));
  return status_ok();
}

value *value_retain(value *v) {
  v->references++;
  return v;
}

void value_release(value *v) {
  if (!v || --v->references) return;
  for (int k = 0; k < v->element_count; k++) value_release(v->elements[k]);
  value_release(v->owner);
  v->pool->bytes -= v->bytes;
  heap_free(v);
}

static void copy_out(const value *v, literal *to) {
  for (int k = 0; k < v->element_count; k++) copy_out(v->elements[k], to->elements[k]);
  if (v->data) memcpy(to->data, v->data, (size_t)shape_byte_size(v->shape));
}

heddle_status value_to_literal(arena *a, const value *v, const shape *s, literal **out) {
  TRY(literal_create(a, s, out));
  copy_out(v, *out);
  return status_ok();
}

bool value_fits(const value *v, const shape *s) {
  if (!shape_is_tuple(s)) return v->shape->dtype == s->dtype && (!shape_is_array(s) || shape_same_dims(v->shape, s));
  if (!shape_is_tuple(v->shape) || v->element_count != s->tuple_size) return false;
  for (int k = 0; k < s->tuple_size; k++)
    if (!value_fits(v->elements[k], s->elements[k])) return false;
  return true;
}

int64_t value_get_int(const value *v, int64_t index) {
  literal view = {.shape = v->shape, .data = v->data};
  return literal_get_int(&view, index);
}

int64_t value_get_index(const value *v, int64_t index) {
  const int64_t x = value_get_int(v, index);
  return v->shape->dtype == DTYPE_U64 && x < 0 ? INT64_MAX : x;
}
