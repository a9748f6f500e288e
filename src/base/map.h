// Hash maps in an arena: from strings, and from pointers or integers.
//
// Open addressing, power-of-two size, insertion never fails (see arena.h). Values are void pointers or integers cast to
// them. Zero-initialised means empty. Iterating by index over `slots` gives an order that depends on the keys only for
// string keys; pointer-keyed maps must never decide an output order.
#ifndef HEDDLE_BASE_MAP_H_
#define HEDDLE_BASE_MAP_H_

#include "base/str.h"

typedef struct str_map {
  struct str_map_slot {
    str key;  // data null = free; the key's bytes must outlive the map
    void *value;
  } *slots;
  int size;
  int capacity;
} str_map;

void str_map_put(arena *a, str_map *m, str key, void *value);  // replaces
void *str_map_get(const str_map *m, str key);                  // null if absent
bool str_map_has(const str_map *m, str key);

typedef struct ptr_map {
  struct ptr_map_slot {
    uintptr_t key;
    void *value;
    bool used;
  } *slots;
  int size;
  int capacity;
} ptr_map;

void ptr_map_put(arena *a, ptr_map *m, const void *key, void *value);  // replaces
void *ptr_map_get(const ptr_map *m, const void *key);                  // null if absent
bool ptr_map_has(const ptr_map *m, const void *key);

#endif
