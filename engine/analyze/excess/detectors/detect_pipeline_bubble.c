/* pipeline_bubble: devices of one compiled program are stages that hand their results on round by
 * round, and in the first and last rounds some have nothing to work on. */
#include "analyze/excess/loops.h"

#include <stdio.h>

static const double LEAST_SHARE = 0.03; /* of the steps */
static const double ENOUGH_PARTS = 4;   /* micro-batches a stage, from which bubbles are small */

struct pipelines {
    double *runs; /* by op: how often it ran, in the whole recording */
    char    detail[96];
};

static bool count_runs(const struct ledger *ledger, struct pipelines *pipelines)
{
    const struct profile *profile = ledger->study->profile;

    pipelines->runs = arena_new_array(ledger->scratch, double, profile->ops.count + 1);
    for (uint32_t event = 0; pipelines->runs && event < profile->event_count; event++) {
        uint32_t op = event_activity(profile, event)->op;

        if (op != NO_ID)
            pipelines->runs[op]++;
    }
    return pipelines->runs != NULL;
}

/* Whether it is in the loop's body, or in what that calls. */
static bool is_inside(const struct loops *loops, uint32_t op)
{
    const struct profile *profile = loops->waste.profile;
    uint32_t              caller = profile->ops.items[op].caller;

    while (caller && caller != loops->loop.op + 1)
        caller = profile->ops.items[caller - 1].caller;
    return caller != 0;
}

/* The loop carries an array of that many rows: the parts of the batch that go in, or come out. */
static bool carries_rows(const struct loops *loops, double rows)
{
    const struct profile *profile = loops->waste.profile;
    const struct op      *loop = &profile->ops.items[loops->loop.op];

    for (uint32_t i = 0; i < loop->output_count; i++) {
        const struct tensor *shape = &profile->tensors.items[loop->first_output + i];

        if (shape->rank > 1 && (double)shape->dims[0] == rows)
            return true;
    }
    return false;
}

/* S stages take M parts in M + S - 1 rounds. */
static void mark_bubble(struct loops *loops, void *context)
{
    struct pipelines *pipelines = context;
    struct waste     *waste = &loops->waste;
    uint32_t          ring_name = intern_find(&waste->profile->names, STR("ring_size"));
    double            entered = pipelines->runs[loops->loop.op];

    for (uint32_t op = 0; op < waste->graph->vertex_count && entered > 0; op++) {
        double stages, rounds, parts, enough;

        if (!waste_is(waste, op, "collective-permute*") || !is_inside(loops, op))
            continue;
        stages = axes_number(&loops->axes, op, ring_name);
        rounds = pipelines->runs[op] / entered;
        parts = rounds - stages + 1;
        enough = ENOUGH_PARTS * stages;
        if (stages < 2 || parts < 2 || parts >= enough || !carries_rows(loops, parts))
            continue;
        snprintf(pipelines->detail, sizeof pipelines->detail,
                 "%.0f stages take %.0f parts of a batch in %.0f rounds", stages, parts, rounds);
        for (uint32_t other = 0; other < waste->graph->vertex_count; other++)
            if (is_inside(loops, other) && !waste_is(waste, other, "collective-permute*"))
                waste_mark(waste, other, 1 - (enough + stages - 1) / enough * parts / rounds);
        return;
    }
}

static bool find_bubble(struct ledger *ledger, const struct detector *self)
{
    struct pipelines pipelines = { 0 };

    if (intern_find(&ledger->study->profile->names, STR("ring_size")) == NO_ID)
        return true;
    return count_runs(ledger, &pipelines) &&
           loops_claim(ledger, self, LEAST_SHARE, pipelines.detail, mark_bubble, &pipelines);
}

const struct detector detector_pipeline_bubble = { "pipeline-bubble", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                   find_bubble };
