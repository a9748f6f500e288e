// The order in which instructions run decides how much memory is live at once.
#include "plan/schedule.h"

heddle_status schedule_computation(arena *a, const computation *c, instruction_list *out) {
  return computation_post_order(a, c, out);
}
