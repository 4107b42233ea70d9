/* replay: the steps' event graph scheduled again: how well it gives them back, and what the
 * critical path consists of.
 *   cost  O(events of the sampled steps log lines)
 */
#include "analyze/analysis.h"
#include "analyze/comm/collective_list.h"
#include "analyze/emit.h"
#include "analyze/schedule/event_schedule.h"
#include "analyze/schedule/lateness.h"
#include "analyze/schedule/whatif.h"

#include <math.h>

enum replay_fact {
    ERROR,
    WORST_ERROR,
    STEPS,
    NODES,
    EDGES,
    JOINED,
    WITHOUT_RECORDER,
    IDLE_SHARE,
    UNKNOWN,
    DEVICE_BOUND,
    HOST_BOUND,
    FACT_COUNT,
    EFFICIENCY_DELAYS = FACT_COUNT, /* and behind it the other ideals, in their order */
    EFFICIENCY_ALL = EFFICIENCY_DELAYS + EFFICIENCY_IDEALS,
    IMBALANCE
};
static const struct fact_spec produces[] = {
    [ERROR] = { "replay.error", UNIT_SHARE,
                "how far the replayed steps are from the recorded ones, mean" },
    [WORST_ERROR] = { "replay.worst_error", UNIT_SHARE, "the same of the worst step" },
    [STEPS] = { "replay.steps", UNIT_COUNT, "steps in the event graph" },
    [NODES] = { "replay.nodes", UNIT_COUNT, "pieces of work in the event graph" },
    [EDGES] = { "replay.edges", UNIT_COUNT, "what had to happen before them" },
    [JOINED] = { "replay.collectives", UNIT_COUNT,
                 "parts of ranks in collectives that the graph joins" },
    [WITHOUT_RECORDER] = { "replay.without_recorder_ns", UNIT_NS,
                           "a step without what recording took of the host, about: where an "
                           "accelerator waits for a host whose every call was recorded it is "
                           "shorter "
                           "than the recorded one" },
    [IDLE_SHARE] = { "replay.idle_share", UNIT_SHARE,
                     "of that, while the accelerator has nothing to do" },
    [UNKNOWN] = { "replay.unknown_share", UNIT_SHARE,
                  "of the longest chain through the steps: delays without a known cause" },
    [DEVICE_BOUND] = { "replay.device_bound_ns", UNIT_NS,
                       "what kernels (without an accelerator: ops), collectives and copies are of "
                       "the "
                       "longest chain through a step: the most that faster ones save" },
    [HOST_BOUND] = { "replay.host_bound_ns", UNIT_NS,
                     "the same of the host: its program, its calls, launches and waking up" },
#define IDEAL(name, help)                                                                          \
    {                                                                                              \
        "efficiency." name, UNIT_SHARE, "what is left of a step " help                             \
    }
    [EFFICIENCY_DELAYS] = IDEAL("delays", "without starts later than all known causes allow"),
    IDEAL("input", "of that with input ready"),
    IDEAL("host", "of that with a host that takes no time"),
    IDEAL("copies", "of that without copies"),
    IDEAL("balance", "of that with level ranks"),
    IDEAL("network", "of that with collectives that take no time"),
    [EFFICIENCY_ALL] = IDEAL("all", "with all of these: their product"),
#undef IDEAL
    [IMBALANCE] = { "efficiency.imbalance", UNIT_RATIO,
                    "how many times as fast a step would be were no rank slower than the median" },
/* Names of older versions. */
#define MOVED(name, part)                                                                          \
    {                                                                                              \
        "critical." name "_ns", UNIT_NS, "not told any more: " part " says what a step waits for"  \
    }
    MOVED("host", "part.host_ns"),
    MOVED("input", "part.input_ns"),
    MOVED("compile", "part.compile_ns"),
    MOVED("output", "part.output_ns"),
    MOVED("compute", "part.compute_ns"),
    MOVED("communication", "part.communication_ns"),
    MOVED("copy", "part.copy_ns"),
    MOVED("launch", "part.idle_launch_ns"),
    MOVED("kernel_gap", "part.idle_dependency_ns"),
    MOVED("sync", "part.idle_sync_ns"),
    MOVED("unknown", "part.unknown_ns"),
#undef MOVED
};

enum lateness_column {
    L_STEP,
    L_NAME,
    L_TYPE,
    L_RANK,
    L_HOST,
    L_LATE_NS,
    L_SHARE,
    L_FIRST_RANK,
    L_WHY,
    L_WHY_NS,
    L_CAUSE,
    L_OWNER,
    L_CAUSE_NS,
    L_SOURCE_FILE,
    L_SOURCE_LINE
};
static const struct column_spec lateness_columns[] = {
    [L_STEP] = { "step", UNIT_COUNT, "number of the late rank's step" },
    [L_NAME] = { "name", UNIT_NAME, "the collective, as recorded" },
    [L_TYPE] = { "type", UNIT_NAME, "all-reduce, all-gather, …" },
    [L_RANK] = { "rank", UNIT_COUNT, "rank that came last" },
    [L_HOST] = { "host", UNIT_NAME, "its host" },
    [L_LATE_NS] = { "late_ns", UNIT_NS, "after the rank that came first" },
    [L_SHARE] = { "share", UNIT_SHARE, "that over the late rank's step" },
    [L_FIRST_RANK] = { "first_rank", UNIT_COUNT, "rank that came first" },
    [L_WHY] = { "why", UNIT_NAME,
                "class that it spent more time in since its collective before than the first: "
                "host, input, compute, …" },
    [L_WHY_NS] = { "why_ns", UNIT_NS, "how much more" },
    [L_CAUSE] = { "cause", UNIT_NAME, "what of that class took longer most" },
    [L_OWNER] = { "owner", UNIT_NAME, "op or range around it" },
    [L_CAUSE_NS] = { "cause_ns", UNIT_NS, "how much longer" },
    [L_SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [L_SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct column_spec delay_columns[] = {
    { "rank", UNIT_COUNT, "as recorded, else its place among the hosts" },
    { "host", UNIT_NAME, "its host" },
    { "contribution", UNIT_SHARE,
      "of what uneven ranks cost, what it gives back when it alone is no slower than the median" },
    { "slowdown", UNIT_RATIO, "how many times as long it makes a step beside level ranks" },
};
static const struct table_spec tables[] = {
    { "collective_lateness", "collectives of the replayed steps that a rank came late to",
      lateness_columns, ARRAY_COUNT(lateness_columns) },
    { "rank_delays", "what uneven ranks cost a step, by rank", delay_columns,
      ARRAY_COUNT(delay_columns) },
};
enum {
    MOST_LATE = 64,
    MOST_NODES = 100000 /* a larger graph takes too long to be scheduled for each ideal unasked */
};

static void emit_text(struct study *study, struct table *table, int column, size_t row,
                      const char *text)
{
    if (text && *text)
        emit_name(table, column, row, facts_name(&study->facts, str_from(text)));
}

static void emit_rank(const struct study *study, struct table *table, int column, size_t row,
                      uint32_t host)
{
    if (study->profile->hosts.items[host].rank >= 0)
        emit_number(table, column, row, study->profile->hosts.items[host].rank);
}

static void fill_late(struct study *study, const struct event_graph *graph, struct table *table,
                      size_t row, const struct late_arrival *late)
{
    const struct step *step = &study->steps.list.items[late->step];
    uint32_t           host = lateness_host(graph, late->last);
    uint32_t           frame = graph->nodes.items[late->last].frame;

    emit_number(table, L_STEP, row, (double)step->number);
    if (frame != NO_ID) {
        uint32_t event = graph->path.frames.items[frame].event;

        emit_name(table, L_NAME, row, event_activity(study->profile, event)->name);
        emit_text(study, table, L_TYPE, row, collective_type(study->profile, event));
    }
    emit_rank(study, table, L_RANK, row, host);
    emit_name(table, L_HOST, row, study->profile->hosts.items[host].name);
    emit_number(table, L_LATE_NS, row, (double)late->late_ns);
    emit_number(table, L_SHARE, row,
                (double)late->late_ns / (double)(step->end_ns - step->start_ns));
    emit_rank(study, table, L_FIRST_RANK, row, lateness_host(graph, late->first));
    if (late->class_ns <= 0)
        return;
    emit_text(study, table, L_WHY, row, part_name(late->cause.class));
    emit_number(table, L_WHY_NS, row, late->class_ns);
    emit_text(study, table, L_CAUSE, row, late->cause.name);
    emit_text(study, table, L_OWNER, row, late->cause.owner);
    emit_number(table, L_CAUSE_NS, row, late->cause.ns - late->cause.usual_ns);
    emit_text(study, table, L_SOURCE_FILE, row, late->cause.file);
    if (late->cause.file)
        emit_number(table, L_SOURCE_LINE, row, late->cause.line);
}

static bool list_late(struct study *study, const struct event_graph *graph, struct arena *scratch)
{
    struct late_list list;
    struct table    *table;

    if (study->profile->hosts.count < 2)
        return facts_absent(&study->facts, tables[0].name, emit_other_ranks(study),
                            "one rank was recorded");
    if (!lateness_make(graph, MOST_LATE, scratch, &list))
        return false;
    if (!list.items.count)
        return facts_absent(&study->facts, tables[0].name, NULL,
                            "no collective could be matched over ranks");
    table = facts_table(&study->facts, &tables[0]);
    for (size_t i = 0; table && i < list.items.count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_late(study, graph, table, row, &list.items.items[i]);
    }
    return table != NULL;
}

/* The accelerator's own work stays as recorded; what is left of a step beside that is idle. */
static double idle_share(const struct study *study, const struct steps_schedule *schedule)
{
    const struct path *path = &study->path;
    double             all_ns = 0, busy_ns = 0, left;

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        all_ns += ns;
        busy_ns += segment->on_device ? ns : 0;
    }
    left = schedule->step_ns > 0 ? schedule->without_recorder_ns / schedule->step_ns : 1;
    return all_ns > 0 && left > 0 ? fmax(0, 1 - busy_ns / all_ns / left) : 0;
}

static bool set_facts(struct study *study, const struct steps_schedule *schedule)
{
    const struct event_graph *graph = &schedule->graph;
    const double             *chain_ns = schedule->chain_ns;
    double scale = schedule->step_ns > 0 ? steps_ns(&study->steps) / schedule->step_ns : 1;
    double values[FACT_COUNT] = {
        [ERROR] = schedule->error,
        [WORST_ERROR] = schedule->worst_error,
        [STEPS] = graph->group_count,
        [NODES] = (double)graph->nodes.count,
        [EDGES] = (double)graph->edges.count,
        [JOINED] = graph->joined_count,
        [WITHOUT_RECORDER] = schedule->without_recorder_ns * scale,
        [IDLE_SHARE] = idle_share(study, schedule),
        [DEVICE_BOUND] =
            (chain_ns[PART_COMPUTE] + chain_ns[PART_COMMUNICATION] + chain_ns[PART_COPY]) * scale,
        [HOST_BOUND] = (chain_ns[PART_HOST] + chain_ns[PART_COMPILE] + chain_ns[PART_OUTPUT] +
                        chain_ns[PART_IDLE_LAUNCH] + chain_ns[PART_IDLE_SYNC]) *
                       scale,
    };
    bool is_set = true;

    if (schedule->step_ns > 0)
        values[UNKNOWN] = chain_ns[PART_UNKNOWN] / schedule->step_ns;
    for (size_t i = 0; i < FACT_COUNT; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set && facts_absent(&study->facts, "critical.", NULL,
                                  "part.* says what a step waits for, with an accelerator too");
}

static bool list_delays(struct study *study, const struct whatif *whatif)
{
    struct table *table;

    if (!whatif->ranks.count)
        return facts_absent(&study->facts, "efficiency.imbalance", emit_other_ranks(study),
                            "no rank holds others up") &&
               facts_absent(&study->facts, tables[1].name, emit_other_ranks(study),
                            "no rank holds others up");
    table = facts_table(&study->facts, &tables[1]);
    for (size_t i = 0; table && i < whatif->ranks.count; i++) {
        const struct rank_delay *delay = &whatif->ranks.items[i];
        size_t                   row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_number(table, 0, row, delay->rank);
        emit_name(table, 1, row, study->profile->hosts.items[delay->host].name);
        emit_number(table, 2, row, delay->contribution);
        emit_number(table, 3, row, delay->slowdown);
    }
    return table && facts_set(&study->facts, &produces[IMBALANCE], whatif->imbalance);
}

/* Where a step's time goes as factors that multiply to its loss. */
static bool set_efficiency(struct study *study, const struct steps_schedule *schedule,
                           struct arena *scratch, struct err *err)
{
    const struct event_graph *graph = &schedule->graph;
    struct whatif whatif = { .on_rank = -1, .is_bare = true, .now.step_ns = schedule->bare_ns };
    double        all = 1;
    bool          is_set = true;

    if (graph->nodes.count > MOST_NODES)
        return facts_absent(&study->facts, "efficiency.", "tfprof whatif --efficiency",
                            "the steps hold too much work to schedule them again for each ideal") &&
               facts_absent(&study->facts, tables[1].name, "tfprof whatif --efficiency",
                            "the steps hold too much work to schedule them again for each ideal");
    if (!efficiency_scan(&whatif, scratch, err) || !whatif_run_on(&whatif, graph, scratch, err))
        return false;
    for (size_t i = 0; i < EFFICIENCY_IDEALS; i++) {
        double factor = efficiency_factor(&whatif, i);

        all *= factor;
        is_set = is_set && facts_set(&study->facts, &produces[EFFICIENCY_DELAYS + i], factor);
    }
    return is_set && facts_set(&study->facts, &produces[EFFICIENCY_ALL], all) &&
           list_delays(study, &whatif);
}

/* With an accelerator the graph stays: findings are priced by it. */
static bool run(struct study *study, struct err *err)
{
    struct arena           scratch = { .budget_bytes = study->arena->budget_bytes };
    struct arena          *arena = study->path.has_device ? study->arena : &scratch;
    struct steps_schedule *schedule = arena_new(arena, struct steps_schedule);
    bool                   ok =
        schedule ? steps_schedule_make(schedule, study, arena, err)
                                   : err_set(err, ERR_LIMIT, "the graph of the steps does not fit the memory budget");

    if (ok && study->path.has_device)
        study->schedule = schedule;
    if (ok && !schedule->graph.windows.count)
        ok = facts_absent(&study->facts, "replay.|critical.|efficiency.",
                          "at least one whole step with a timeline",
                          "no step with a timeline to replay") &&
             facts_absent(&study->facts, tables[0].name, "at least one whole step with a timeline",
                          "no step with a timeline to replay") &&
             facts_absent(&study->facts, tables[1].name, "at least one whole step with a timeline",
                          "no step with a timeline to replay");
    else if (ok && (!set_facts(study, schedule) || !list_late(study, &schedule->graph, &scratch) ||
                    !set_efficiency(study, schedule, &scratch, err)))
        ok = err_set(err, ERR_LIMIT, "replaying the steps does not fit the memory budget");
    arena_free(&scratch);
    return ok;
}

const struct analysis analysis_replay = {
    .name = "replay",
    .summary = "the steps scheduled again from their event graph",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
