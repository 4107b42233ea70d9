/* rank_causes: what holds the ranks of a job up. Told from summaries of ranks (engine/ranks): from
 * recordings that are looked at together nothing is known of the ranks but the first that could be
 * compared. */
#include "analyze/analysis.h"
#include "analyze/emit.h"

static const struct fact_spec produces[] = {
    { "ranks.stages", UNIT_COUNT, "stages of the pipeline that ranks are; 1: there is none" },
    { "ranks.load_balance", UNIT_SHARE, "mean own time of ranks over the longest" },
    { "ranks.transfer_efficiency", UNIT_SHARE,
      "the longest own time of a rank over the step: the rest is collectives that nothing hides" },
    { "ranks.parallel_efficiency", UNIT_SHARE,
      "share of the ranks' time that is their own work: load balance times transfer efficiency" },
    { "ranks.bubble_share", UNIT_SHARE,
      "share of the step that ranks wait for their neighbours in the pipeline, mean" },
    { "ranks.stage_messages", UNIT_COUNT,
      "messages a step between two ranks that are neighbours in it, both ways, mean" },
    { "ranks.clocks_moved", UNIT_COUNT, "ranks whose clocks were moved to those of the first" },
};
static const struct column_spec columns[] = {
    { "kind", UNIT_NAME,
      "rank: takes longer in each step; stage: of a pipeline does; pauses: a rank now and then; "
      "periodic: every so many steps; uneven: another rank each time; link: its collectives do" },
    { "rank", UNIT_COUNT, "rank that it is about" },
    { "host", UNIT_NAME, "its host" },
    { "peer", UNIT_COUNT, "rank at the other end of a link" },
    { "ranks", UNIT_COUNT, "ranks that share it; of a link: groups of ranks" },
    { "stage", UNIT_COUNT, "stage of the pipeline, from 0" },
    { "why", UNIT_NAME, "part of the step that takes longer" },
    { "cause", UNIT_NAME, "what of that part took longer most" },
    { "cause_ns", UNIT_NS, "what it takes a step" },
    { "cause_usual_ns", UNIT_NS, "what it takes ranks like it" },
    { "group", UNIT_NAME, "ranks of a link, as recorded" },
    { "type", UNIT_NAME, "of its collectives" },
    { "ns", UNIT_NS, "what a step loses by it" },
    { "own_ns", UNIT_NS, "own time of the rank or stage; length of a pause; of a collective" },
    { "usual_ns", UNIT_NS, "the same of those it is compared with" },
    { "step_share", UNIT_SHARE, "of the steps" },
    { "period", UNIT_COUNT, "steps from one time to the next" },
};
static const struct table_spec tables[] = {
    { "rank_causes", "what holds the ranks of a job up, by what it costs", columns,
      ARRAY_COUNT(columns) },
};

static bool run(struct study *study, struct err *err)
{
    const char *capture =
        emit_other_ranks(study) ? "summaries of the ranks, by tfprof summarize" : NULL;
    const char *reason = study->profile->hosts.count < 2
                             ? "one rank was recorded"
                             : "recordings are looked at together, without summaries";

    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        if (!facts_absent(&study->facts, produces[i].name, capture, "%s", reason))
            return err_memory(err, "what ranks do");
    return facts_absent(&study->facts, tables[0].name, capture, "%s", reason) ||
           err_memory(err, "what ranks do");
}

const struct analysis analysis_rank_causes = {
    .name = "rank_causes",
    .summary = "what holds the ranks of a job up",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
