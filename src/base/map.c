// The hash maps use linear probing. Nothing is ever removed, so a search may stop at the first free slot.
#include "base/map.h"

// Both maps keep at most 3/4 of the slots in use and double otherwise.
static bool is_full(int size, int capacity) { return (size + 1) * 4 > capacity * 3; }

static struct str_map_slot *str_find(struct str_map_slot *slots, int capacity, str key) {
  uint64_t i = str_hash(key);
  for (;; i++) {
    struct str_map_slot *slot = &slots[i & (uint64_t)(capacity - 1)];
    if (!slot->key.data || str_equal(slot->key, key)) return slot;
  }
}

void str_map_put(arena *a, str_map *m, str key, void *value) {
  if (!key.data) key.data = "";
  if (is_full(m->size, m->capacity)) {
    int capacity = m->capacity ? m->capacity * 2 : 16;
    struct str_map_slot *slots = arena_array(a, struct str_map_slot, capacity);
    for (int i = 0; i < m->capacity; i++)
      if (m->slots[i].key.data) *str_find(slots, capacity, m->slots[i].key) = m->slots[i];
    m->slots = slots;
    m->capacity = capacity;
  }
  struct str_map_slot *slot = str_find(m->slots, m->capacity, key);
  if (!slot->key.data) m->size++;
  *slot = (struct str_map_slot){key, value};
}

void *str_map_get(const str_map *m, str key) { return m->size ? str_find(m->slots, m->capacity, key)->value : NULL; }

bool str_map_has(const str_map *m, str key) {
  return m->size && str_find(m->slots, m->capacity, key)->key.data != NULL;
}

// Finaliser of MurmurHash3 (Appleby): pointers differ in few, regular bits.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static struct ptr_map_slot *ptr_find(struct ptr_map_slot *slots, int capacity, uintptr_t key) {
  for (uint64_t i = mix(key);; i++) {
    struct ptr_map_slot *slot = &slots[i & (uint64_t)(capacity - 1)];
    if (!slot->used || slot->key == key) return slot;
  }
}

void ptr_map_put(arena *a, ptr_map *m, const void *key, void *value) {
  if (is_full(m->size, m->capacity)) {
    int capacity = m->capacity ? m->capacity * 2 : 16;
    struct ptr_map_slot *slots = arena_array(a, struct ptr_map_slot, capacity);
    for (int i = 0; i < m->capacity; i++)
      if (m->slots[i].used) *ptr_find(slots, capacity, m->slots[i].key) = m->slots[i];
    m->slots = slots;
    m->capacity = capacity;
  }
  struct ptr_map_slot *slot = ptr_find(m->slots, m->capacity, (uintptr_t)key);
  if (!slot->used) m->size++;
  *slot = (struct ptr_map_slot){(uintptr_t)key, value, true};
}

void *ptr_map_get(const ptr_map *m, const void *key) {
  return m->size ? ptr_find(m->slots, m->capacity, (uintptr_t)key)->value : NULL;
}

bool ptr_map_has(const ptr_map *m, const void *key) {
  return m->size && ptr_find(m->slots, m->capacity, (uintptr_t)key)->used;
}
