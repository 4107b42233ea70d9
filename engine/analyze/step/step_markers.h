/*
 * step_markers: candidates for step windows, found in one pass each; analysis_steps chooses.
 */
#ifndef TFPROF_ANALYZE_STEP_MARKERS_H
#define TFPROF_ANALYZE_STEP_MARKERS_H

#include "analyze/step/runs.h"
#include "analyze/step/steps.h"
#include "base/vec.h"
#include "model/profile.h"

struct marker {
    int64_t  start_ns, end_ns, number;
    int64_t  until_ns; /* what else runs before the next one ends here; 0: nothing does */
    uint32_t event, timeline, host;
    uint32_t family; /* interned name up to its number */
};
struct markers {
    VEC(struct marker) list; /* by host, then start; of one timeline and family a host */
};

/* Annotated steps; of several families on a host the one with most time in it. */
bool markers_annotated(struct profile const *profile, struct intern *names, struct arena *arena,
                       struct markers *markers);
/* Runs of the host functions (FunctionRun, SessionRun) on the thread that spends most time in them.
 */
bool markers_sessions(struct profile const *profile, struct intern *names, struct arena *arena,
                      struct markers *markers);
/* Of runs of several graph functions: those of the one that trains, else of the one that begins
 * each round; what runs between belongs to the step. Runs of sessions are told apart by what they
 * update. Markers of one function stay as they are, with its name. false: out of memory. */
bool markers_functions(struct profile const *profile, struct intern *names, struct arena *arena,
                       struct markers *markers);
/* Calls on one data set each, of three and more, are one: what is made behind the last call on the
 * set before leads to it. As they are where no set is called on twice. false: out of memory. */
bool markers_join_sets(struct profile const *profile, struct arena *scratch,
                       struct markers *markers, bool *are_joined);
/* Whether they are about as long as each other; the first one, which may warm up, is not asked. */
bool markers_are_alike(const struct markers *markers, struct arena *scratch);
/* Calls for the next batch on the thread that waits most in them: each begins a step. */
bool markers_inputs(struct profile const *profile, struct intern *names, struct arena *arena,
                    struct markers *markers);
/* Iterations that end with a call of PyTorch's profiler, as frames of Python tell where it has no
 * schedule and so marks no steps itself. None for a single one. */
bool markers_profiler(struct profile const *profile, struct intern *names, struct arena *arena,
                      struct markers *markers);
/* Updates by an optimizer of PyTorch, or rounds of those that take turns: from the end of the one
 * before, behind what follows that as it follows the last one; or with the update where that calls
 * the forward pass itself, as Lightning's does. None where neither their ops tell what comes
 * again nor are they about as long as each other. */
bool markers_updates(struct profile const *profile, struct intern *names, struct arena *arena,
                     struct markers *markers);
/* Joins the updates of each step, where their ops tell how many it has (`are_told`): as many are in
 * each and, but for some, since the one before. Else each is a step's. false: out of memory.
 * O(events). */
bool markers_take_turns(struct profile const *profile, struct arena *scratch,
                        struct markers *markers, bool *are_told);
/* The row of ops that comes again and again on the thread that spends most time in them: iterations
 * that nothing marks, of hosts with an accelerator's streams (`on_streams`) or of those without.
 * None where a row is short, comes fewer than three times, or takes far from as long each time.
 * false: out of memory. */
bool markers_repeats(struct profile const *profile, bool on_streams, struct arena *arena,
                     struct markers *markers);
/* Steps of an engine that serves language models, by the ranges that it marks them with
 * (engine_mark.h), on the thread that spends most time in them. None for a single one: where it
 * ends is not known. */
bool markers_engine(struct profile const *profile, struct intern *names, struct arena *arena,
                    struct markers *markers);
/* What lies between the beginning of one run and the end of another: calls of the host where these
 * stand for runs, as steps of a host that runs ahead are told from their calls. */
struct marker marker_of_runs(const struct run *first, const struct run *last);
/* Rows of programs that come again three times and more, in which the one that takes most time runs
 * more than once. None where programs do not take turns in the same way. false: out of memory.
 * O(runs · programs). */
bool markers_rows(const struct profile *profile, const struct runs *runs, struct arena *arena,
                  struct markers *markers);
/* Runs of the program that takes most time of those that run three times and more, or as often as
 * there are `marked` steps where those are fewer (0: none are marked), on each host. One that was
 * compiled again is the same program. Runs that overlap count from completion to completion. */
bool markers_runs(const struct profile *profile, const struct runs *runs, size_t marked,
                  struct arena *arena, struct markers *markers);

#endif
