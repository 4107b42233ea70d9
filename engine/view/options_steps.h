/* options_steps: the words of -step. */
#ifndef TFPROF_VIEW_OPTIONS_STEPS_H
#define TFPROF_VIEW_OPTIONS_STEPS_H

#include "view/options.h"

/* Fills step, and steps where there are several. "3", "-1" for the mean of all, "3:9", "3:" and ":9"
 * for what was recorded of these. With is_compat numbers alone, and any: the view says what lacks. */
bool view_options_steps(const struct view_values *values, const struct classic *classic,
                        struct arena *arena, struct view_options *options, struct err *err);

#endif
