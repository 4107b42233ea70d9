/* job_late: which rank came latest to the collectives of each step, and what it did more. */
#include "base/macros.h"
#include "ranks/job_causes.h"

#include <math.h>

/* Row of a rank's steps whose parts are known; NO_ID: they are not. */
static uint32_t parts_at(const struct job_rank *rank, int64_t step)
{
    uint32_t row = (uint32_t)LOWER_BOUND(rank->step_count, i, rank->step_rows[i] < step);

    return row < rank->step_count && rank->step_rows[row] == step ? row : NO_ID;
}

/* What the last rank did more in the step than the first one. */
static void find_why(const struct job *job, struct job_late *late)
{
    const struct job_rank *last = &job->ranks.items[late->rank];
    const struct job_rank *first = &job->ranks.items[late->first];
    double                 more_ns[PART_COUNT];

    late->row = parts_at(last, late->step);
    late->first_row = parts_at(first, late->first_step);
    late->why = PART_UNKNOWN;
    if (late->row == NO_ID || late->first_row == NO_ID)
        return;
    for (int part = 0; part < PART_COUNT; part++)
        more_ns[part] =
            (double)last->parts[late->row][part] - (double)first->parts[late->first_row][part];
    late->why = job_longest_part(more_ns);
    late->why_ns = fmax(0, more_ns[late->why]);
}

static struct job_late look(const struct job *job, const struct job_meeting *meeting)
{
    const struct job_part *parts = &job->parts.items[meeting->first];
    uint32_t               first = 0, last = 0;

    for (uint32_t i = 1; i < meeting->count; i++) {
        first = parts[i].come_ns < parts[first].come_ns ? i : first;
        last = parts[i].come_ns > parts[last].come_ns ? i : last;
    }
    return (struct job_late) { .step = parts[last].step,
                               .first_step = parts[first].step,
                               .first_ns = parts[first].come_ns,
                               .rank = parts[last].rank,
                               .first = parts[first].rank,
                               .group = meeting->group,
                               .late_ns = (double)(parts[last].come_ns - parts[first].come_ns) };
}

static bool is_meant(const struct job *job, const struct job_meeting *meeting,
                     const struct pattern *pattern)
{
    const struct job_group *group = &job->groups.items[meeting->group];

    return !pattern ||
           pattern_matches(pattern, intern_str(&job->names, group->type)) == PATTERN_YES ||
           pattern_matches(pattern, intern_str(&job->names, group->name)) == PATTERN_YES;
}

bool job_late_find(const struct job *job, const struct pattern *pattern, struct arena *arena,
                   struct job_late_list *list)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct id_map rows = { .arena = &scratch };
    bool          is_done = true;

    for (size_t i = 0; i < job->meetings.count && is_done; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        struct job_late           now;
        uint32_t                  row;

        if (!is_meant(job, meeting, pattern))
            continue;
        now = look(job, meeting);
        row = id_map_get(&rows, (uint64_t)now.step);
        if (row == NO_ID) {
            row = (uint32_t)list->items.count;
            is_done =
                id_map_put(&rows, (uint64_t)now.step, row) && vec_push(&list->items, arena, now);
        } else if (now.late_ns > list->items.items[row].late_ns) {
            list->items.items[row] = now;
        }
    }
    arena_free(&scratch);
    for (size_t i = 0; i < list->items.count; i++) {
        struct job_late *late = &list->items.items[i];

        find_why(job, late);
        if (late->row != NO_ID)
            late->step = job->ranks.items[late->rank].step_numbers[late->row];
    }
    return is_done;
}
