#include "ranks/job.h"

#include "base/macros.h"
#include "base/sample.h"
#include "model/names.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 3000000 };

/* Before small numbers, whose pairs would else be the same where they differ in the same bits. */
#define SEED UINT64_C(0x243f6a8885a308d3)

static enum part part_named(struct str name)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (str_equal(name, str_from(part_name((enum part)part))))
            return (enum part)part;
    return PART_UNKNOWN;
}

/* Row of a group that may be known from other ranks; NO_ID: no memory. */
static uint32_t find_group(struct job *job, const struct rank_summary *summary, size_t row)
{
    struct str       type = rank_name(&summary->names, summary->group_type.items[row]);
    struct job_group group = {
        .name = intern_add(&job->names, rank_name(&summary->names, summary->group_name.items[row])),
        .type = intern_add(&job->names, type),
        .size = summary->group_size.items[row],
        .is_numbered = summary->group_numbered.items[row] != 0,
        .is_link = name_is(type, NAMES_TWO_RANKS_MEET),
    };
    uint64_t key = hash_mix(hash_mix(hash_mix(SEED, group.name), group.type), group.is_numbered);
    uint32_t found = id_map_get(&job->group_rows, key);

    if (found == NO_ID) {
        found = (uint32_t)job->groups.count;
        if (group.name == NO_ID || group.type == NO_ID ||
            !vec_push(&job->groups, job->arena, group) || !id_map_put(&job->group_rows, key, found))
            return NO_ID;
    }
    job->groups.items[found].member_count++;
    return found;
}

/* Without sequence numbers those of a step are the same by their turn, where both have as many. */
static uint64_t part_key(const struct job *job, uint32_t group, int64_t sequence, int64_t step,
                         uint32_t turns)
{
    const struct job_group *row = &job->groups.items[group];
    uint64_t key = hash_mix(hash_mix(hash_mix(SEED, row->name), row->type), (uint64_t)sequence);

    return row->is_numbered ? hash_mix(key, 1)
                            : hash_mix(hash_mix(hash_mix(key, 2), (uint64_t)step), turns);
}

static size_t step_at(const struct rank_summary *summary, int64_t time_ns)
{
    const int64_t *starts = summary->step_start.items;
    size_t         behind = LOWER_BOUND(summary->step_start.count, i, starts[i] <= time_ns);

    return behind ? behind - 1 : 0;
}

/* How many collectives of a group are in the step of each; for those without numbers. */
static bool count_turns(const struct rank_summary *summary, struct id_map *turns)
{
    for (size_t i = 0; i < summary->meeting_group.count; i++) {
        uint64_t key = (uint64_t)step_at(summary, summary->meeting_start.items[i]) << 24 |
                       (uint64_t)summary->meeting_group.items[i];
        uint32_t count = id_map_get(turns, key);

        if (!id_map_put(turns, key, count == NO_ID ? 1 : count + 1))
            return false;
    }
    return true;
}

static bool needs_turns(const struct rank_summary *summary)
{
    for (size_t i = 0; i < summary->group_numbered.count; i++)
        if (!summary->group_numbered.items[i])
            return true;
    return false;
}

static bool add_meetings(struct job *job, const struct rank_summary *summary, uint32_t rank,
                         struct arena *scratch)
{
    uint32_t     *groups = arena_new_array(scratch, uint32_t, summary->group_name.count + 1);
    struct id_map turns = { .arena = scratch };

    if (!groups || (needs_turns(summary) && !count_turns(summary, &turns)))
        return false;
    for (size_t i = 0; i < summary->group_name.count; i++) {
        groups[i] = find_group(job, summary, i);
        if (groups[i] == NO_ID)
            return false;
    }
    for (size_t i = 0; i < summary->meeting_group.count; i++) {
        int64_t  row = summary->meeting_group.items[i];
        int64_t  come_ns = summary->meeting_start.items[i];
        size_t   step = step_at(summary, come_ns);
        uint32_t count = id_map_get(&turns, (uint64_t)step << 24 | (uint64_t)row);
        int64_t  number = step < summary->step_number.count ? summary->step_number.items[step] : 0;
        struct job_part part = {
            .key = part_key(job, groups[row], summary->meeting_sequence.items[i], number, count),
            .come_ns = summary->origin_ns + come_ns,
            .left_ns = summary->origin_ns + come_ns + summary->meeting_length.items[i],
            .rank = rank,
            .group = groups[row],
            .step = (uint32_t)step,
            .bytes = (float)summary->meeting_bytes.items[i],
        };

        if (part.key % (uint64_t)job->stride != 0)
            continue;
        if (!vec_push(&job->parts, job->arena, part))
            return false;
    }
    return true;
}

static bool add_parts(struct job *job, const struct rank_summary *summary, struct job_rank *rank)
{
    size_t    steps = summary->part_step.count, columns = summary->part_name.count;
    enum part of[256];

    rank->step_numbers = arena_new_array(job->arena, int64_t, steps + 1);
    rank->step_rows = arena_new_array(job->arena, int64_t, steps + 1);
    rank->step_starts = arena_new_array(job->arena, int64_t, steps + 1);
    rank->parts = arena_alloc_array(job->arena, steps + 1, sizeof *rank->parts);
    if (!rank->step_numbers || !rank->step_rows || !rank->step_starts || !rank->parts)
        return false;
    columns = columns < ARRAY_COUNT(of) ? columns : ARRAY_COUNT(of);
    for (size_t column = 0; column < columns; column++)
        of[column] = part_named(rank_name(&summary->names, summary->part_name.items[column]));
    rank->step_count = (uint32_t)steps;
    for (size_t step = 0; step < steps; step++) {
        const int64_t *row = summary->part_ns.items + step * summary->part_name.count;

        rank->step_rows[step] = summary->part_step.items[step];
        rank->step_numbers[step] = summary->step_number.items[summary->part_step.items[step]];
        rank->step_starts[step] =
            summary->origin_ns + summary->step_start.items[summary->part_step.items[step]];
        for (size_t column = 0; column < columns; column++)
            rank->parts[step][of[column]] += (float)row[column];
    }
    return true;
}

static bool add_families(struct job *job, const struct rank_summary *summary, struct job_rank *rank)
{
    double steps = summary->part_step.count ? (double)summary->part_step.count : 1;

    rank->family_count = (uint32_t)summary->family_name.count;
    rank->families = arena_new_array(job->arena, struct job_family, rank->family_count + 1);
    for (uint32_t i = 0; rank->families && i < rank->family_count; i++) {
        struct job_family *family = &rank->families[i];

        family->name =
            intern_add(&job->names, rank_name(&summary->names, summary->family_name.items[i]));
        family->part = part_named(rank_name(&summary->names, summary->family_part.items[i]));
        family->ns = (double)summary->family_ns.items[i] / steps;
        family->count = (double)summary->family_count.items[i] / steps;
        if (family->name == NO_ID)
            return false;
    }
    return rank->families != NULL;
}

static bool add_rank(struct job *job, const struct rank_summary *summary, struct arena *scratch)
{
    struct job_rank rank = {
        .rank = summary->rank,
        .host = intern_add(&job->names, summary->host),
        .step_ns = summary->step_ns,
        .compute_ns = summary->compute_ns,
        .input_ns = summary->input_ns,
        .comm_ns = summary->comm_ns,
        .origin_ns = summary->origin_ns,
    };

    return rank.host != NO_ID && add_parts(job, summary, &rank) &&
           add_families(job, summary, &rank) &&
           add_meetings(job, summary, (uint32_t)job->ranks.count, scratch) &&
           vec_push(&job->ranks, job->arena, rank);
}

static bool is_same_rank(const struct rank_record *a, const struct rank_record *b)
{
    return a->half == b->half && a->rank == b->rank &&
           (a->rank >= 0 || str_equal(a->host, b->host));
}

static bool twice(const struct rank_record *record, struct err *err)
{
    if (record->rank >= 0)
        err_set(err, ERR_USAGE, "two summaries are of rank %lld", (long long)record->rank);
    else
        err_set(err, ERR_USAGE, "two summaries are of host %.*s", STR_ARG(record->host));
    return err_advise(err, "give the ranks of one run, each once");
}

/* Every so many collectives, by what they hash to, so that all ranks keep the same. */
static void choose_stride(struct job *job, const struct rank_summary *first, size_t ranks)
{
    for (job->stride = 1; first->meeting_group.count * ranks / (size_t)job->stride > MOST_PARTS;)
        job->stride *= 2;
}

/* A summary whose texts live as long as the job: they point into its bytes. */
static bool read_kept(struct job *job, struct rank_summary *summary, struct str bytes,
                      struct err *err)
{
    bytes = arena_str(job->arena, bytes);
    return bytes.data ? rank_read(summary, bytes, job->arena, err) : err_memory(err, "the ranks");
}

/* Details stand behind all ranks: they say whose they are. */
static bool read_first(struct job *job, const struct rank_records *records, struct err *err)
{
    struct rank_summary       details = { 0 };
    const struct rank_record *last = &records->items.items[records->items.count - 1];
    const struct rank_record *first = &records->items.items[0];

    for (size_t i = 0; last->half == RANK_DETAILS && i < records->items.count; i++)
        if (records->items.items[i].rank == last->rank &&
            str_equal(records->items.items[i].host, last->host)) {
            first = &records->items.items[i];
            break;
        }
    if (!read_kept(job, &job->first, first->bytes, err) ||
        (last->half == RANK_DETAILS && !read_kept(job, &details, last->bytes, err)))
        return false;
    job->first.detail_names = details.detail_names;
    job->first.fact_name = details.fact_name;
    job->first.fact_text = details.fact_text;
    job->first.fact_value = details.fact_value;
    job->first.table_name = details.table_name;
    job->first.table_rows = details.table_rows;
    job->first.column_table = details.column_table;
    job->first.column_name = details.column_name;
    job->first.cells = details.cells;
    job->first.absent_name = details.absent_name;
    job->first.absent_reason = details.absent_reason;
    job->first.absent_capture = details.absent_capture;
    return true;
}

static bool read_rank(struct job *job, const struct rank_record *record, struct err *err)
{
    struct arena        scratch = { .budget_bytes = job->arena->budget_bytes };
    struct rank_summary summary;
    bool                is_read = rank_read(&summary, record->bytes, &scratch, err);
    bool                is_done = is_read && add_rank(job, &summary, &scratch);

    arena_free(&scratch);
    return is_done ||
           (is_read && err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit"));
}

bool job_make(struct job *job, const struct rank_records *records, struct arena *arena,
              struct err *err)
{
    *job = (struct job) { .arena = arena, .group_rows.arena = arena };
    if (records->items.count == 0 || records->items.items[0].half != RANK_WHAT)
        return err_set(err, ERR_FORMAT, "no rank is in the summaries");
    if (!intern_init(&job->names, arena))
        return err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
    if (!read_first(job, records, err))
        return false;
    choose_stride(job, &job->first, records->items.count);
    for (size_t i = 0; i < records->items.count && records->items.items[i].half == RANK_WHAT; i++) {
        const struct rank_record *record = &records->items.items[i];

        if (i > 0 && is_same_rank(record - 1, record))
            return twice(record, err);
        if (!read_rank(job, record, err))
            return false;
    }
    return true;
}
