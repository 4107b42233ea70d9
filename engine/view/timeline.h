/* timeline: views as traces for a browser (Chrome's JSON), written beside the report. */
#ifndef TFPROF_VIEW_TIMELINE_H
#define TFPROF_VIEW_TIMELINE_H

#include "view/tree.h"

struct timeline_json {
    struct text *text;
    bool         has_events;
};
void timeline_begin(struct timeline_json *json);
void timeline_end(struct timeline_json *json);
void timeline_process(struct timeline_json *json, const char *kind, struct str name,
                      int64_t process);
struct timeline_region {
    struct str name;
    int64_t    process, thread, start_micros, duration_micros;
    bool       has_op; /* args name the op as well */
};
void timeline_region(struct timeline_json *json, const struct timeline_region *region);
void timeline_string(struct text *text, struct str s); /* quoted and escaped */

/* What is shown as a flame chart: a level a process, time as in the totals. */
bool timeline_of_tree(const struct tree *tree, const struct view_call *call, struct text *json);
/* When ops ran in one step, by device; what flows between devices; the devices' memory. */
bool timeline_of_step(const struct tree *tree, const struct view_call *call, struct text *json);

#endif
