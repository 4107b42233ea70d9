/* why_walk: from a node of an event graph back along what it waited for. */
#ifndef TFPROF_ANALYZE_WHY_WALK_H
#define TFPROF_ANALYZE_WHY_WALK_H

#include "analyze/schedule/event_graph.h"
#include "analyze/schedule/why.h"

struct why_walk {
    const struct study       *study;
    const struct event_graph *graph; /* NULL: of a step's composition */
    struct arena             *arena;
    VEC(struct why_cause) causes;
    uint32_t root;  /* event that is asked about: causes are told by what is inside it; or NO_ID */
    uint32_t began; /* node that ended before the walk did, or NO_ID */
};

/* Adds what lies between `from_ns` and the start of `node` (its end when it is included). Pieces
 * alike that follow one another become one cause. false: the arena is exhausted. */
bool why_walk_back(struct why_walk *walk, uint32_t node, bool is_included, int64_t from_ns);
/* Adds what the composition charges a step (row of steps->list) to, the latest first. */
bool why_walk_step(struct why_walk *walk, uint32_t step);
/* One cause for all with the same class, name and owner. */
void why_walk_sum(struct why_walk *walk);
/* Of summed walks: sets what each cause takes usually, and ranks them by what they take more. */
void why_walk_compare(struct why_walk *walk, struct why_walk *usual);
/* For qsort of summed causes: those first that take most, else that come most often, else by text.
 */
int why_compare_ns(const void *left, const void *right);

#endif
