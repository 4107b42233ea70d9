#include "analyze/step/step_ahead.h"

#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

/* Markers that cover less of the runs' span only enqueue. */
static const double RUN_AHEAD_SHARE = 0.6;

/* When the runs that begin with the first marker or behind it end, in order. NULL: no memory. */
static int64_t *run_ends(const struct markers *program, const struct marker *first, size_t *count,
                         struct arena *scratch)
{
    int64_t *ends = arena_new_array(scratch, int64_t, program->list.count + 1);

    *count = 0;
    for (size_t i = 0; ends && i < program->list.count; i++)
        if (program->list.items[i].host == first->host &&
            program->list.items[i].end_ns > first->start_ns)
            ends[(*count)++] = program->list.items[i].end_ns;
    if (ends && *count)
        qsort(ends, *count, sizeof *ends, sort_by_int64);
    return ends;
}

/* Whether most markers of the first host end before their share of the program's runs has: those of
 * a host that waits for its work do not, however long it waits for other things now and then. */
static bool leaves_work_behind(const struct markers *markers, const struct markers *program,
                               struct arena *scratch)
{
    const struct marker *list = markers->list.items;
    size_t               count, marker_count = 0, done = 0, late = 0;
    int64_t             *ends = run_ends(program, &list[0], &count, scratch);

    while (marker_count < markers->list.count && list[marker_count].host == list[0].host)
        marker_count++;
    for (size_t i = 0; ends && i < marker_count; i++) {
        while (done < count && ends[done] <= list[i].end_ns)
            done++;
        late += (double)done < ((double)i + 0.5) * (double)count / (double)marker_count;
    }
    return late * 2 > marker_count;
}

/* Time a step from the first marker to the end of all work, whatever held the first run back. */
static double work_per_marker(const struct markers *markers, const struct markers *program)
{
    int64_t start_ns = markers->list.items[0].start_ns, end_ns = start_ns;

    for (size_t i = 0; i < program->list.count; i++)
        if (program->list.items[i].end_ns > end_ns)
            end_ns = program->list.items[i].end_ns;
    return (double)(end_ns - start_ns) / (double)markers->list.count;
}

bool markers_only_enqueue(const struct markers *markers, const struct markers *program,
                          struct arena *scratch)
{
    size_t  m = markers->list.count, p = program->list.count;
    double *periods = arena_new_array(scratch, double, m);

    if (m < 2 || p < m / 2 || p < 2 || !periods)
        return false;
    for (size_t i = 1; i < m; i++)
        periods[i - 1] =
            (double)(markers->list.items[i].start_ns - markers->list.items[i - 1].start_ns);
    double running_ns =
        (double)(program->list.items[p - 1].end_ns - program->list.items[0].start_ns) / (double)p;
    double work_ns = work_per_marker(markers, program);

    return sample_median(periods, m - 1) <
               RUN_AHEAD_SHARE * (work_ns > running_ns ? work_ns : running_ns) &&
           leaves_work_behind(markers, program, scratch);
}

void markers_name_runs(const struct markers *markers, struct markers *program)
{
    size_t count = markers->list.count;

    if (program->list.count != count)
        return;
    for (size_t i = 0; i < count; i++)
        if (program->list.items[i].host != markers->list.items[i].host)
            return;
    for (size_t i = 0; i < count; i++) {
        struct marker *run = &program->list.items[i];

        run->number = markers->list.items[i].number;
        run->until_ns = int64_most(run->until_ns, markers->list.items[i].end_ns);
        /* Who is at the next step already when this one's work is done does not pause. */
        if (i + 1 < count && markers->list.items[i + 1].host == run->host &&
            markers->list.items[i + 1].start_ns <= run->end_ns)
            run->until_ns = int64_most(run->until_ns, markers->list.items[i + 1].end_ns);
    }
}

/* Place of the first of a host's markers that ends at or behind a time; their count: none. */
static size_t first_ending(const struct markers *markers, uint32_t host, int64_t at_ns)
{
    const struct marker *list = markers->list.items;

    return LOWER_BOUND(markers->list.count, i,
                       list[i].host < host || (list[i].host == host && list[i].end_ns < at_ns));
}

void markers_await_transfers(const struct profile *profile, struct markers *markers)
{
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (line->kind != TIMELINE_THREAD)
            continue;
        for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
             event++) {
            int64_t end_ns = event_end_ns(profile, event);
            size_t  i;

            if (event_activity(profile, event)->kind != ACTIVITY_TRANSFER)
                continue;
            i = first_ending(markers, line->host, event_start_ns(profile, event));
            for (; i < markers->list.count && markers->list.items[i].host == line->host &&
                   markers->list.items[i].end_ns < end_ns;
                 i++)
                markers->list.items[i].until_ns =
                    int64_most(markers->list.items[i].until_ns, end_ns);
        }
    }
}
