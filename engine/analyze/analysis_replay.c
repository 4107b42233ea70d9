/* replay: the steps' event graph scheduled again: how well it gives them back, and what the
 * critical path consists of.
 *   cost  O(events of the sampled steps log lines)
 */
#include "analyze/analysis.h"
#include "analyze/event_schedule.h"

enum replay_fact { ERROR, WORST_ERROR, STEPS, NODES, EDGES, JOINED, UNKNOWN, FIRST_CLASS };
static const struct fact_spec produces[] = {
    [ERROR] = { "replay.error", UNIT_SHARE,
                "how far the replayed steps are from the recorded ones, mean" },
    [WORST_ERROR] = { "replay.worst_error", UNIT_SHARE, "the same of the worst step" },
    [STEPS] = { "replay.steps", UNIT_COUNT, "steps in the event graph" },
    [NODES] = { "replay.nodes", UNIT_COUNT, "pieces of work in the event graph" },
    [EDGES] = { "replay.edges", UNIT_COUNT, "what had to happen before them" },
    [JOINED] = { "replay.collectives", UNIT_COUNT,
                 "parts of ranks in collectives that the graph joins" },
    [UNKNOWN] = { "replay.unknown_share", UNIT_SHARE,
                  "of the critical path: delays without a known cause" },
#define CLASS_FACT(class, name, text)                                                              \
    [FIRST_CLASS + (class)] = { "critical." name "_ns", UNIT_NS, "critical path a step: " text }
    CLASS_FACT(CRITICAL_HOST, "host", "the host's program, its calls and Python"),
    CLASS_FACT(CRITICAL_INPUT, "input", "input"),
    CLASS_FACT(CRITICAL_COMPILE, "compile", "compiling and tracing"),
    CLASS_FACT(CRITICAL_OUTPUT, "output", "writing results"),
    CLASS_FACT(CRITICAL_COMPUTE, "compute", "kernels; without an accelerator ops"),
    CLASS_FACT(CRITICAL_COMMUNICATION, "communication", "collectives"),
    CLASS_FACT(CRITICAL_COPY, "copy", "copies and sets of memory"),
    CLASS_FACT(CRITICAL_LAUNCH, "launch", "from launch calls to their kernels"),
    CLASS_FACT(CRITICAL_KERNEL_GAP, "kernel_gap", "between a kernel and the next in the queue"),
    CLASS_FACT(CRITICAL_SYNC, "sync", "inside blocking calls, once what they wait for is done"),
    CLASS_FACT(CRITICAL_UNKNOWN, "unknown", "delays without a known cause"),
};

static bool set_facts(struct study *study, const struct event_graph *graph,
                      const struct schedule *schedule)
{
    double scale = schedule->step_ns > 0 ? study->steps.median_ns / schedule->step_ns : 1;
    double values[ARRAY_COUNT(produces)] = {
        [ERROR] = schedule->error,
        [WORST_ERROR] = schedule->worst_error,
        [STEPS] = graph->group_count,
        [NODES] = (double)graph->nodes.count,
        [EDGES] = (double)graph->edges.count,
        [JOINED] = graph->joined_count,
    };
    bool is_set = true;

    if (schedule->step_ns > 0)
        values[UNKNOWN] = schedule->class_ns[CRITICAL_UNKNOWN] / schedule->step_ns;
    for (int i = 0; i < CRITICAL_COUNT; i++)
        values[FIRST_CLASS + i] = schedule->class_ns[i] * scale;
    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena       scratch = { .budget_bytes = study->arena->budget_bytes };
    struct event_graph graph;
    struct schedule    schedule;
    bool               ok = event_graph_make(&graph, study, NO_ID, &scratch, err);

    if (ok && !graph.windows.count)
        ok = facts_absent(&study->facts, "replay.", "at least one whole step with a timeline",
                          "no step with a timeline to replay") &&
             facts_absent(&study->facts, "critical.", "at least one whole step with a timeline",
                          "no step with a timeline to replay");
    else if (ok && (!schedule_make(&schedule, &graph, NULL, &scratch) ||
                    !set_facts(study, &graph, &schedule)))
        ok = err_set(err, ERR_LIMIT, "replaying the steps does not fit the memory budget");
    arena_free(&scratch);
    return ok;
}

const struct analysis analysis_replay = {
    .name = "replay",
    .summary = "the steps scheduled again from their event graph; critical path by class",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
