/*
 * crew: what many threads or streams do just before a moment, going back in time: who of those at
 * work counts most, and when any of them last changed what it does. A tree over the workers keeps
 * what each group says, and only those are asked again that have changed since.
 */
#ifndef TFPROF_ANALYZE_CREW_H
#define TFPROF_ANALYZE_CREW_H

#include "analyze/path/path.h"
#include "model/profile.h"

struct worker {
    const struct path_line *line;
    size_t                  next; /* leaves before this one may still be reached */
};
/* What one or some of the workers say of a moment t. */
struct crew_view {
    int64_t  changed_ns;           /* since when it is so; INT64_MIN: it stays so from here back */
    int64_t  last_end_ns;          /* when one who is not busy now may have been busy */
    uint32_t busy, input, awaited; /* the first busy of the highest rank; the last who makes input,
                                      the last who waits for it; rows of workers, or NO_ID */
    int      rank;
};
struct crew {
    struct worker    *workers;
    size_t            count;
    struct crew_view *views; /* a tree: of 1 all, of k those of 2k and 2k + 1 */
    size_t            width; /* views of single workers begin here */
    int64_t           t_ns;  /* looked at last */
};
/* What one worker does just before t_ns. */
typedef struct crew_view crew_look_fn(void *context, uint32_t worker, int64_t t_ns);

/* For crew->workers and count. false: the arena is exhausted. */
bool crew_make(struct crew *crew, struct arena *arena);
/* All of them. Cheap where times go back: O(log workers) for each that changed since. */
const struct crew_view *crew_look(struct crew *crew, crew_look_fn *look, void *context,
                                  int64_t t_ns);
/* Asks this one again the next time; NO_ID: no one. */
void crew_forget(struct crew *crew, uint32_t worker);

/* The last leaf that starts before t, or NULL; times only go back. */
const struct leaf *worker_leaf_before(struct worker *worker, int64_t t_ns);
/* The leaf found last, which there must be. */
const struct leaf *worker_leaf(const struct worker *worker);

#endif
