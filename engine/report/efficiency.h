/* efficiency: where a step's time goes as factors, the ones that `tfprof whatif --efficiency` prints:
 * they multiply to what all ideals together leave of a step. */
#ifndef TFPROF_REPORT_EFFICIENCY_H
#define TFPROF_REPORT_EFFICIENCY_H

#include "analyze/study.h"
#include "base/json_fields.h"
#include "report/layout.h"

/* "efficiency 41 % = delays 100 % x input 52 % x …" behind `before`, as a line of its own; nothing
 * where the steps were not scheduled. */
void efficiency_text(struct layout *layout, const struct study *study, const char *before);
/* The object "efficiency" with a share by name, "all" first; none where the steps were not
 * scheduled. */
void efficiency_json(struct json_writer *json, const struct study *study);

#endif
