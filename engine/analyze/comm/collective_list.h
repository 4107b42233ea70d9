/*
 * collective_list: every collective of every host inside the windows, and who came late to which. Those
 * of one host that start just before a window belong to those of another inside: all of the recording
 * is matched (collective_match.h), and then what is inside is kept.
 */
#ifndef TFPROF_ANALYZE_COLLECTIVE_LIST_H
#define TFPROF_ANALYZE_COLLECTIVE_LIST_H

#include "analyze/step/window.h"

/* How the parts of hosts in a collective were found to belong together, the surest first. */
enum collective_match { MATCHED_BY_NUMBER, MATCHED_BY_ORDER, MATCHED_BY_ENDS, MATCH_COUNT };

struct collective_instance {
    uint64_t key;                 /* equal on all hosts for one and the same collective */
    uint32_t host, event, device; /* device NO_ID: recorded on a host thread */
    uint32_t end_event;           /* what ends it: the same, but for what a core begins and ends */
    int64_t  start_ns, end_ns;
    bool     is_inside;    /* it starts in a window */
    uint32_t turn;         /* without sequence numbers: how many of the name came before … */
    int64_t  first_end_ns; /* … and the end of the device that left it first, else 0 */
    uint8_t  by;           /* enum collective_match */
};
/* Whether two instances of one key are of different hosts or devices: who waits for whom. */
bool collective_is_other(const struct collective_instance *a, const struct collective_instance *b);
struct host_lateness {
    double count, last_count; /* matched collectives; those it was the last to join */
    double late_ns;           /* sum of its start less the earliest start */
};
struct collective_list {
    VEC(struct collective_instance) items; /* by key, then host */
    struct host_lateness *hosts;           /* by row of profile->hosts */
    double matched_count, skew_ns;         /* over two or more hosts; latest less earliest start */
    double matched_by[MATCH_COUNT];        /* of the matched ones */
    double alone_count;                    /* of those inside: no other host's part was found */
};
/* Type of a collective: as recorded, else by its name: "all-reduce", "all-gather", … */
const char *collective_type(const struct profile *profile, uint32_t event);
/* Equal for those of one activity and type: one name can stand for collectives of all types. The lower half
 * is the activity. */
uint64_t collective_kind(const struct profile *profile, uint32_t event);
/* Bytes that a rank gives or gets in it, whichever is more; < 0 unknown. Sets *group_size where it is
 * recorded. */
double collective_payload(const struct profile *profile, uint32_t event, double *group_size);
/* What part of the payload crosses the slowest link of a ring of n ranks, by type; 0 for less than two. */
double collective_bus_factor(const char *type, double n);
/* In scratch. Where a host has collectives on devices, those on its threads (the calls that launch
 * them) are left out. false: scratch is exhausted. */
bool collective_list_make(const struct study *study, const struct windows *windows,
                          struct arena *scratch, struct collective_list *list);

#endif
