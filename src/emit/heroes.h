// The emitters by hero and kind of target: what makes a kernel's entry function.
#ifndef HEDDLE_EMIT_HEROES_H_
#define HEDDLE_EMIT_HEROES_H_

#include "emit/elemental.h"

// Emits the entry function at the end of k->module_body, as the plan's hero and details say. k->partition is made.
typedef heddle_status (*hero_entry)(kernel_emitter *k, const target_description *target);

// By hero and kind of target; empty where kernels of such targets are not made that way (kernel_hero_exists).
extern const hero_entry emit_heroes[HERO_COUNT][TARGET_KIND_COUNT];

#endif
