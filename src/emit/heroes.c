// The one table of emitters.
#include "emit/heroes.h"

#include "emit/loop.h"

const hero_entry emit_heroes[HERO_COUNT] = {
    [HERO_LOOP] = emit_loop_entry,
};
