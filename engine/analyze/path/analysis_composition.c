/*
 * composition: what a step waits for, by part. Sums the segments of the paths (path.h): parts
 * exclude each other and sum to the step. Shares are means over the looked-at steps; times are
 * these shares of what a step takes (steps_ns), so that they sum to it. Slow steps are told apart.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/step/start_up.h"
#include "base/sort.h"

#include <stdlib.h>

static const struct fact_spec produces[] = {
#define PART(id, name, fact, title, verdict, column, help) { "part." fact "_ns", UNIT_NS, help },
#include "analyze/path/part.def"
#define PART(id, name, fact, title, verdict, column, help)                                         \
    { "part." fact "_share", UNIT_SHARE, "part." fact "_ns of the step" },
#include "analyze/path/part.def"
    { "host.python_ns", UNIT_NS, "a step's time in Python outside any recorded event" },
    { "host.python_share", UNIT_SHARE, "host.python_ns of the step" },
    { "host.python_before_ns", UNIT_NS,
      "a step's time in Python, recorded or not, before its first computation" },
    { "host.python_after_ns", UNIT_NS,
      "a step's time in Python, recorded or not, behind its last computation" },
    { "host.dispatch_ns", UNIT_NS, "a step's time getting ops and programs under way" },
    { "host.executor_ns", UNIT_NS, "a step's time in graph executors around ops" },
    { "startup.ns", UNIT_NS,
      "of part.compile_ns, calls that a program makes once, where the recording is the step" },
    { "startup.share", UNIT_SHARE, "startup.ns of the step" },
    { "slow.count", UNIT_COUNT, "used steps far longer than the usual one" },
    { "slow.ns", UNIT_NS, "their mean length" },
    { "slow.part", UNIT_NAME, "what they wait for most, beyond what the others do" },
    { "slow.part_ns", UNIT_NS, "how much more of that than the others" },
};
enum {
    FACT_PYTHON = 2 * PART_COUNT,
    FACT_PYTHON_SHARE,
    FACT_PYTHON_BEFORE,
    FACT_PYTHON_AFTER,
    FACT_DISPATCH,
    FACT_EXECUTOR,
    FACT_START_UP,
    FACT_START_UP_SHARE,
    FACT_SLOW_COUNT,
    FACT_SLOW_NS,
    FACT_SLOW_PART,
    FACT_SLOW_PART_NS
};

static const struct column_spec path_columns[] = {
    { "name", UNIT_NAME, "event on the path" },
    { "kind", UNIT_NAME, "its kind" },
    { "part", UNIT_NAME, "part of the step it is charged to" },
    { "owner", UNIT_NAME, "what the leading thread was in meanwhile" },
    { "ns", UNIT_NS, "time a step" },
    { "share", UNIT_SHARE, "of the step" },
    { "count", UNIT_COUNT, "segments a step" },
};
enum step_column {
    S_NUMBER,
    S_INPUT,
    S_COMPUTE,
    S_COMMUNICATION,
    S_COPY,
    S_COMPILE,
    S_HOST,
    S_IDLE,
    S_OUTPUT,
    S_UNKNOWN
};
static const struct column_spec step_columns[] = {
    [S_NUMBER] = { "number", UNIT_COUNT, "step number as recorded" },
    [S_INPUT] = { "input_ns", UNIT_NS, "the step waits for input" },
    [S_COMPUTE] = { "compute_ns", UNIT_NS, "for computation" },
    [S_COMMUNICATION] = { "communication_ns", UNIT_NS, "for collectives" },
    [S_COPY] = { "copy_ns", UNIT_NS, "for copies" },
    [S_COMPILE] = { "compile_ns", UNIT_NS, "for compiling or tracing" },
    [S_HOST] = { "host_ns", UNIT_NS, "for host code" },
    [S_IDLE] = { "idle_ns", UNIT_NS, "nothing runs" },
    [S_OUTPUT] = { "output_ns", UNIT_NS, "it writes logs, summaries, checkpoints" },
    [S_UNKNOWN] = { "unknown_ns", UNIT_NS, "what the profile does not explain" },
};
static const struct table_spec tables[] = {
    { "path", "what lies on the path of a step, by name", path_columns, ARRAY_COUNT(path_columns) },
    { "step_parts", "what each of the looked-at steps waits for", step_columns,
      ARRAY_COUNT(step_columns) },
};

struct sums {
    double part_ns[PART_COUNT], python_ns, dispatch_ns, executor_ns, total_ns;
    double python_before_ns, python_after_ns, start_up_ns;
};

static struct sums sum_parts(const struct study *study)
{
    const struct path *path = &study->path;
    struct sums        sums = { 0 };

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);
        enum activity_kind    kind = ACTIVITY_OTHER;

        sums.part_ns[segment->part] += ns;
        sums.total_ns += ns;
        if (segment->frame != NO_ID)
            kind = event_activity(study->profile, path->frames.items[segment->frame].event)->kind;
        if (segment->part == PART_COMPILE && segment->frame != NO_ID &&
            start_up_has(study, path->frames.items[segment->frame].event))
            sums.start_up_ns += ns;
        if (segment->part != PART_HOST)
            continue;
        if (segment->is_python)
            sums.python_ns += ns;
        else if (kind == ACTIVITY_DISPATCH || kind == ACTIVITY_LAUNCH)
            sums.dispatch_ns += ns;
        else if (kind == ACTIVITY_EXECUTOR || kind == ACTIVITY_RUN)
            sums.executor_ns += ns;
    }
    return sums;
}

static bool is_python(const struct study *study, const struct segment *segment)
{
    return segment->is_python ||
           (segment->part == PART_HOST && segment->frame != NO_ID &&
            event_activity(study->profile, study->path.frames.items[segment->frame].event)->kind ==
                ACTIVITY_PYTHON);
}

/* By step: when its first work was launched; INT64_MAX where a device had none from it. */
static int64_t *first_launches(const struct study *study, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    const struct step    *steps = study->steps.list.items;
    const uint32_t       *rows = study->path.step_rows.items;
    size_t                count = study->path.step_rows.count;
    int64_t              *first_ns = arena_new_array(scratch, int64_t, study->steps.list.count + 1);

    for (size_t i = 0; first_ns && i < study->steps.list.count; i++)
        first_ns[i] = INT64_MAX;
    for (size_t i = 0; first_ns && i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        size_t             at;
        int64_t            at_ns;

        if (flow->kind != FLOW_LAUNCH || flow->from >= profile->event_count)
            continue;
        at_ns = event_start_ns(profile, flow->from);
        at = path_step_at(study, at_ns);
        if (at < count && at_ns >= steps[rows[at]].start_ns && at_ns < first_ns[rows[at]])
            first_ns[rows[at]] = at_ns;
    }
    return first_ns;
}

/* Whether the step's own work has begun. An accelerator still works on the step before while the
 * host is busy with what comes ahead of the first launch. */
static bool begins_work(const struct segment *segment, const int64_t *first_ns)
{
    if (first_ns[segment->step] != INT64_MAX)
        return segment->start_ns >= first_ns[segment->step];
    return segment->part == PART_COMPUTE;
}

/* Python before the first and behind the last computation of each step. */
static bool place_python(const struct study *study, struct arena *scratch, struct sums *sums)
{
    const struct path *path = &study->path;
    const int64_t     *first_ns = first_launches(study, scratch);
    double             waiting_ns = 0; /* Python since the last computation */
    bool               has_begun = false;

    for (size_t i = 0; first_ns && i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];

        if (i > 0 && segment->step != path->segments.items[i - 1].step) {
            if (has_begun)
                sums->python_after_ns += waiting_ns;
            waiting_ns = 0, has_begun = false;
        }
        if (!has_begun && begins_work(segment, first_ns)) {
            sums->python_before_ns += waiting_ns;
            waiting_ns = 0, has_begun = true;
        }
        if (is_python(study, segment))
            waiting_ns += (double)(segment->end_ns - segment->start_ns);
        else if (has_begun && segment->part == PART_COMPUTE)
            waiting_ns = 0;
    }
    if (has_begun)
        sums->python_after_ns += waiting_ns;
    return first_ns != NULL;
}

/* Means over the looked-at steps, scaled so that the parts sum to the median step. */
static bool set_facts(struct study *study, struct arena *scratch)
{
    struct facts *facts = &study->facts;
    struct sums   sums = sum_parts(study);
    double        scale = sums.total_ns > 0 ? steps_ns(&study->steps) / sums.total_ns : 0;
    bool          ok = place_python(study, scratch, &sums);

    for (int part = 0; ok && part < PART_COUNT; part++)
        ok = facts_set(facts, &produces[part], sums.part_ns[part] * scale) &&
             facts_set(facts, &produces[PART_COUNT + part],
                       sums.total_ns > 0 ? sums.part_ns[part] / sums.total_ns : 0);
    return ok && facts_set(facts, &produces[FACT_PYTHON], sums.python_ns * scale) &&
           facts_set(facts, &produces[FACT_PYTHON_SHARE],
                     sums.total_ns > 0 ? sums.python_ns / sums.total_ns : 0) &&
           facts_set(facts, &produces[FACT_PYTHON_BEFORE], sums.python_before_ns * scale) &&
           facts_set(facts, &produces[FACT_PYTHON_AFTER], sums.python_after_ns * scale) &&
           facts_set(facts, &produces[FACT_DISPATCH], sums.dispatch_ns * scale) &&
           facts_set(facts, &produces[FACT_EXECUTOR], sums.executor_ns * scale) &&
           facts_set(facts, &produces[FACT_START_UP], sums.start_up_ns * scale) &&
           facts_set(facts, &produces[FACT_START_UP_SHARE],
                     sums.total_ns > 0 ? sums.start_up_ns / sums.total_ns : 0);
}

struct path_row {
    uint32_t name, owner;
    uint8_t  part, kind;
    double   ns, count;
};

static int by_identity(const void *a, const void *b)
{
    const struct path_row *x = a, *y = b;

    return IN_ORDER(COMPARE(x->name, y->name), COMPARE(x->owner, y->owner),
                    COMPARE(x->part, y->part));
}

static int by_time(const void *a, const void *b)
{
    const struct path_row *x = a, *y = b;

    return IN_ORDER(COMPARE(y->ns, x->ns), by_identity(a, b));
}

/* Adds up rows of one name, part and owner. A key is made of these three, and two combinations may
 * have the same one: then the second keeps rows of its own. */
static bool merge_rows(struct path_row *rows, size_t *count, struct arena *scratch)
{
    struct id_map at = { .arena = scratch };
    size_t        kept = 0;

    for (size_t i = 0; i < *count; i++) {
        uint64_t key = ((uint64_t)rows[i].name * PART_COUNT + rows[i].part) << 32 | rows[i].owner;
        uint32_t found = id_map_get(&at, key);

        if (found != NO_ID && by_identity(&rows[found], &rows[i]) == 0) {
            rows[found].ns += rows[i].ns;
            rows[found].count += rows[i].count;
            continue;
        }
        if (found == NO_ID && !id_map_put(&at, key, (uint32_t)kept))
            return false;
        rows[kept++] = rows[i];
    }
    *count = kept;
    if (kept > 1)
        qsort(rows, kept, sizeof *rows, by_time);
    return true;
}

/* Marks of steps, "ProfilerStep#7", are one thing. */
static uint32_t event_label(struct study *study, uint32_t event)
{
    const struct activity *activity = event_activity(study->profile, event);
    struct str             name;
    size_t                 number;

    if (activity->kind != ACTIVITY_STEP)
        return activity->name;
    name = profile_str(study->profile, activity->name);
    number = str_find(name, '#');
    return number < name.len ? facts_name(&study->facts, str_slice(name, 0, number))
                             : activity->name;
}

static bool fill_table(struct study *study, struct arena *scratch)
{
    enum { ROWS = 200 };
    const struct path *path = &study->path;
    struct table      *table = facts_table(&study->facts, &tables[0]);
    struct path_row   *rows = arena_new_array(scratch, struct path_row, path->segments.count);
    double             steps = (double)path->step_rows.count, total_ns = 0;
    size_t             count;

    if (!table || !rows)
        return false;
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];

        rows[i] = (struct path_row) { .part = segment->part, .count = 1 };
        rows[i].ns = (double)(segment->end_ns - segment->start_ns);
        total_ns += rows[i].ns;
        if (segment->frame != NO_ID) {
            uint32_t event = path->frames.items[segment->frame].event;

            rows[i].name = event_label(study, event);
            rows[i].kind = event_activity(study->profile, event)->kind;
        }
        if (segment->owner != NO_ID)
            rows[i].owner = event_label(study, path->frames.items[segment->owner].event);
    }
    count = path->segments.count;
    if (!merge_rows(rows, &count, scratch))
        return false;
    for (size_t i = 0; i < count && i < ROWS; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        table->columns[0][row] = rows[i].name;
        table->columns[1][row] =
            facts_name(&study->facts, str_from(activity_kind_name(rows[i].kind)));
        table->columns[2][row] = facts_name(&study->facts, str_from(part_name(rows[i].part)));
        table->columns[3][row] = rows[i].owner;
        table->columns[4][row] = rows[i].ns / steps;
        table->columns[5][row] = rows[i].ns / total_ns;
        table->columns[6][row] = rows[i].count / steps;
    }
    return true;
}

static bool fill_steps(struct study *study)
{
    static const uint8_t columns[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = S_##column,
#include "analyze/path/part.def"
    };
    struct table *table = facts_table(&study->facts, &tables[1]);
    size_t        row = SIZE_MAX;

    for (size_t i = 0; table && i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];

        if (!i || segment->step != segment[-1].step) {
            row = table_add(table, study->arena);
            if (row == SIZE_MAX)
                return false;
            for (int column = S_INPUT; column <= S_UNKNOWN; column++)
                table->columns[column][row] = 0;
            table->columns[S_NUMBER][row] = (double)study->steps.list.items[segment->step].number;
        }
        table->columns[columns[segment->part]][row] +=
            (double)(segment->end_ns - segment->start_ns);
    }
    return table != NULL;
}

/* By kind of step, slow or usual: its parts a step, and how many there are. */
struct kinds {
    double part_ns[2][PART_COUNT], count[2];
};

static struct kinds sum_kinds(const struct study *study)
{
    struct kinds kinds = { 0 };

    for (size_t i = 0; i < study->path.step_rows.count; i++)
        kinds.count[study->steps.list.items[study->path.step_rows.items[i]].is_slow]++;
    for (size_t i = 0; i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];
        bool                  is_slow = study->steps.list.items[segment->step].is_slow;

        kinds.part_ns[is_slow][segment->part] +=
            (double)(segment->end_ns - segment->start_ns) / kinds.count[is_slow];
    }
    return kinds;
}

/* What slow steps do besides. */
static bool set_slow(struct study *study)
{
    struct facts *facts = &study->facts;
    struct kinds  kinds = sum_kinds(study);
    double        more_ns[PART_COUNT], slow_ns = 0;
    int           most = 0;

    if (kinds.count[true] < 1 || kinds.count[false] < 1)
        return facts_absent(facts, "slow.", NULL, "no used step is far longer than the others");
    for (int part = 0; part < PART_COUNT; part++) {
        more_ns[part] = kinds.part_ns[true][part] - kinds.part_ns[false][part];
        slow_ns += kinds.part_ns[true][part];
        if (more_ns[part] > more_ns[most])
            most = part;
    }
    return facts_set(facts, &produces[FACT_SLOW_COUNT], study->steps.slow_count) &&
           facts_set(facts, &produces[FACT_SLOW_NS], slow_ns) &&
           facts_set_text(facts, &produces[FACT_SLOW_PART], str_from(part_name((enum part)most))) &&
           facts_set(facts, &produces[FACT_SLOW_PART_NS], more_ns[most]);
}

static bool say_none(struct study *study, const char *capture, const char *reason)
{
    static const char names[] = "part.|startup.|slow.|host.python_ns|host.python_share|"
                                "host.python_before_ns|host.python_after_ns|host.dispatch_ns|"
                                "host.executor_ns";

    return facts_absent(&study->facts, names, capture, "%s", reason);
}

static bool names_accelerator(const struct profile *profile)
{
    for (size_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].kind != DEVICE_CPU)
            return true;
    return false;
}

/* No accelerator did anything, and for most of the step the host did not either: what it waited for
 * was not recorded. */
static bool is_blank(const struct study *study)
{
    double idle_ns = 0, all_ns = 0;

    if (!names_accelerator(study->profile) || (study->devices && study->devices->rows.count > 0))
        return false;
    for (size_t i = 0; i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        all_ns += ns;
        idle_ns += segment->part == PART_IDLE_OTHER ? ns : 0;
    }
    return idle_ns > 0.5 * all_ns;
}

/* A trace of PyTorch's without a step or an op, as of the time between a schedule's cycles: what
 * Python ran was the profiler itself, or a program that is none of PyTorch's. */
static bool is_python_alone(const struct study *study)
{
    const struct profile *profile = study->profile;

    if (study->steps.source != STEPS_WHOLE_TRACE ||
        !str_equal(profile_str(profile, profile->framework), STR("pytorch")))
        return false;
    for (size_t i = 0; i < profile->activities.count; i++)
        if (profile->activities.items[i].kind != ACTIVITY_PYTHON)
            return false;
    return true;
}

/* A trace that another tool wrote: what its events are, host code or an accelerator's work, nothing
 * tells. */
static bool is_of_another_tool(const struct profile *profile)
{
    return profile->format == FORMAT_KINETO && !profile_str(profile, profile->framework).len &&
           profile->event_count && profile->unknown_stats >= profile->event_count;
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok;

    if (study->path.lacks_names)
        ok = say_none(
            study, "again, and copy the whole file",
            "the names of most events are missing, as where the end of the file is cut off");
    else if (study->path.lacks_device)
        ok = say_none(study, "device tracing",
                      "what the accelerator did was not recorded, only the host");
    else if (is_of_another_tool(study->profile))
        ok = say_none(study, "torch.profiler, or the .xplane.pb file of JAX or TensorFlow",
                      "no event says what kind of work it is, as traces of other tools do");
    else if (is_python_alone(study))
        ok = say_none(study, "the program's steps", "no op ran while it was recorded");
    else if (is_blank(study))
        ok = say_none(study, "device tracing",
                      "the host waits for most of the step, and no device's work was recorded");
    else if (study->path.segments.count == 0)
        ok = say_none(study, "at least one whole step", "no step with a timeline of events");
    else
        ok = set_facts(study, &scratch) && fill_table(study, &scratch) && fill_steps(study) &&
             set_slow(study);
    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the composition does not fit the memory budget");
}

const struct analysis analysis_composition = {
    .name = "composition",
    .summary = "what a step waits for, by part; the parts sum to the step",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
