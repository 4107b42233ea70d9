#include "ranks/job_study.h"

#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "ranks/job_whatif.h"

#include <math.h>
#include <string.h>

enum { MOST_TOLD = 64 }; /* late arrivals, as from recordings */

struct building {
    const struct job        *job;
    const struct job_causes *causes;
    struct profile          *profile;
    struct study            *study;
    bool                     is_full;
};

static uint32_t name_of(struct building *building, struct str text)
{
    uint32_t name = profile_intern(building->profile, text);

    building->is_full |= name == NO_ID;
    return name;
}

static void add_devices(struct building *building, uint32_t host)
{
    const struct rank_summary *first = &building->job->first;
    struct profile            *profile = building->profile;

    for (int64_t i = 0; i < first->device_count; i++) {
        struct device device = { .model = name_of(building, first->device),
                                 .kind = (enum device_kind)first->device_kind,
                                 .host = host,
                                 .ordinal = (int32_t)i };

        building->is_full |= !vec_push(&profile->devices, profile->arena, device);
    }
}

static void make_profile(struct building *building)
{
    const struct job          *job = building->job;
    const struct rank_summary *first = &job->first;
    struct profile            *profile = building->profile;

    profile->format = (enum profile_format)first->format;
    profile->framework = name_of(building, first->framework);
    profile->framework_version = name_of(building, first->framework_version);
    profile->world_size = first->world_size > 0 ? (int32_t)first->world_size : -1;
    profile->origin_ns = first->origin_ns;
    profile->name = arena_text(profile->arena, "%zu summar%s", job->ranks.count,
                               job->ranks.count == 1 ? "y" : "ies");
    building->is_full |= !profile->name;
    for (uint32_t i = 0; i < job->ranks.count; i++) {
        const struct job_rank *rank = &job->ranks.items[i];
        struct host host = { .name = name_of(building, intern_str(&job->names, rank->host)),
                             .rank = (int32_t)rank->rank,
                             .world_size = (int32_t)first->world_size,
                             .clock_shift_ns = rank->shift_ns,
                             .clock_deviation_ns = rank->deviation_ns };

        building->is_full |= !vec_push(&profile->hosts, profile->arena, host);
        add_devices(building, i);
    }
    for (size_t i = 0; i < first->damage.count; i++)
        profile_damage(profile, NULL, 1, "%.*s",
                       STR_ARG(rank_name(&first->names, first->damage.items[i])));
}

static void make_steps(struct building *building)
{
    const struct rank_summary *first = &building->job->first;
    struct steps              *steps = &building->study->steps;
    double *lengths = arena_new_array(building->study->arena, double, first->step_number.count + 1);

    building->is_full |= !lengths;
    for (size_t i = 0; i < first->step_number.count && !building->is_full; i++) {
        int64_t     start_ns = first->step_start.items[i];
        struct step step = { .number = first->step_number.items[i],
                             .start_ns = start_ns,
                             .end_ns = start_ns + first->step_length.items[i],
                             .timeline = NO_ID,
                             .event = NO_ID,
                             .is_used = true };

        lengths[i] = (double)first->step_length.items[i];
        building->is_full |= !vec_push(&steps->list, building->study->arena, step);
    }
    steps->source = (enum step_source)first->step_source;
    steps->used_count = steps->total_count = (uint32_t)steps->list.count;
    steps->median_ns = steps->mean_ns = first->step_ns;
    if (building->is_full || !steps->used_count)
        return;
    steps->min_ns = steps->max_ns = lengths[0];
    for (size_t i = 1; i < steps->list.count; i++) {
        steps->min_ns = fmin(steps->min_ns, lengths[i]);
        steps->max_ns = fmax(steps->max_ns, lengths[i]);
    }
    steps->cov =
        sample_deviation(lengths, steps->used_count) / sample_mean(lengths, steps->used_count);
    steps->marker_name = arena_text(building->study->arena, "%.*s", STR_ARG(first->step_marker));
}

static double text_id(struct building *building, struct str text)
{
    uint32_t name = facts_name(&building->study->facts, text);

    building->is_full |= name == NO_ID;
    return name == NO_ID ? 0 : name;
}

/* A terminated text, for look-ups by name. */
static const char *term(struct building *building, struct str text)
{
    struct str kept = arena_str(building->study->arena, text);

    building->is_full |= !kept.data;
    return kept.data ? kept.data : "";
}

/* A later version may have other names: what nobody knows any more is passed over. */
static void set_fact(struct building *building, const char *name, struct str text, double value)
{
    const struct fact_spec *spec = analysis_fact(name);

    if (!spec || isnan(value))
        return;
    if (spec->unit == UNIT_NAME)
        value = text_id(building, text);
    building->is_full |= !facts_set(&building->study->facts, spec, value);
}

static void set_number(struct building *building, const char *name, double value)
{
    set_fact(building, name, (struct str) { 0 }, value);
}

/* What only all ranks together tell is not the first one's. */
static bool is_of_ranks(const struct job *job, const char *name)
{
    static const char *const ours[] = { "ranks",
                                        "ranks.",
                                        "collective_lateness",
                                        "rank_causes",
                                        "rank_delays",
                                        "comm.skew_ns",
                                        "comm.skew_share",
                                        "comm.skew_ratio",
                                        "comm.matched_count",
                                        "comm.alone_count",
                                        "comm.matched_by" };

    for (size_t i = 0; i < ARRAY_COUNT(ours); i++)
        if (strcmp(name, ours[i]) == 0 || strncmp(name, "ranks.", 6) == 0)
            return true;
    return job->ranks.count > 1 && strncmp(name, "efficiency.", 11) == 0;
}

static void take_facts(struct building *building)
{
    const struct rank_summary *first = &building->job->first;
    struct facts              *facts = &building->study->facts;

    for (size_t i = 0; i < first->fact_name.count; i++) {
        const char *name =
            term(building, rank_name(&first->detail_names, first->fact_name.items[i]));

        if (!is_of_ranks(building->job, name))
            set_fact(building, name, rank_name(&first->detail_names, first->fact_text.items[i]),
                     first->fact_value.items[i]);
    }
    for (size_t i = 0; i < first->absent_name.count; i++) {
        const char *name =
            term(building, rank_name(&first->detail_names, first->absent_name.items[i]));
        struct str why = rank_name(&first->detail_names, first->absent_reason.items[i]);
        int64_t    capture = first->absent_capture.items[i];

        if (!is_of_ranks(building->job, name))
            building->is_full |= !facts_absent(
                facts, name,
                capture < 0 ? NULL : term(building, rank_name(&first->detail_names, capture)),
                "%.*s", STR_ARG(why));
    }
}

static void take_column(struct building *building, struct table *table, const char *name,
                        const int64_t *cells, size_t rows)
{
    const struct rank_summary *first = &building->job->first;
    int                        column = table_column(table, name);

    for (size_t row = 0; column >= 0 && row < rows; row++) {
        double value = rank_cell_value(cells[row]);

        if (table->spec->columns[column].unit == UNIT_NAME && value >= 0)
            value = text_id(building, rank_name(&first->detail_names, (int64_t)value));
        table->columns[column][row] = value;
    }
}

static struct table *new_table(struct building *building, const char *name, size_t rows)
{
    const struct table_spec *spec = analysis_table(name);
    struct table            *table = spec ? facts_table(&building->study->facts, spec) : NULL;

    building->is_full |= spec && !table;
    for (size_t row = 0; table && row < rows; row++)
        building->is_full |= table_add(table, building->study->arena) == SIZE_MAX;
    return building->is_full ? NULL : table;
}

static void take_tables(struct building *building)
{
    const struct rank_summary *first = &building->job->first;
    size_t                     column = 0, cell = 0;

    for (size_t i = 0; i < first->table_name.count && !building->is_full; i++) {
        const char *name =
            term(building, rank_name(&first->detail_names, first->table_name.items[i]));
        size_t rows = first->table_rows.items[i] > 0 ? (size_t)first->table_rows.items[i] : 0;
        struct table *table = rows <= first->cells.count && !is_of_ranks(building->job, name)
                                  ? new_table(building, name, rows)
                                  : NULL;

        for (;
             column < first->column_table.count && first->column_table.items[column] == (int64_t)i;
             column++) {
            if (cell + rows > first->cells.count)
                return;
            if (table)
                take_column(building, table,
                            term(building,
                                 rank_name(&first->detail_names, first->column_name.items[column])),
                            first->cells.items + cell, rows);
            cell += rows;
        }
    }
}

static void put(struct table *table, size_t row, const char *column, double value)
{
    if (!isnan(value))
        emit_number(table, table_column(table, column), row, value);
}

static void put_text(struct building *building, struct table *table, size_t row, const char *column,
                     struct str text)
{
    if (text.len)
        emit_name(table, table_column(table, column), row,
                  facts_name(&building->study->facts, text));
}

static void put_rank(struct building *building, struct table *table, size_t row, uint32_t rank)
{
    const struct job_rank *at = &building->job->ranks.items[rank];

    put(table, row, "rank", at->rank >= 0 ? (double)at->rank : NAN);
    put_text(building, table, row, "host", intern_str(&building->job->names, at->host));
}

static void fill_rank(struct building *building, struct table *table, uint32_t row)
{
    const struct job_rank *rank = &building->job->ranks.items[row];

    put_rank(building, table, row, row);
    put(table, row, "step_ns", rank->step_ns > 0 ? rank->step_ns : NAN);
    put(table, row, "input_ns", rank->input_ns);
    put(table, row, "compute_ns", rank->compute_ns);
    put(table, row, "comm_ns", rank->comm_ns);
    put(table, row, "collectives", rank->meetings);
    put(table, row, "late_ns", rank->meetings > 0 ? rank->late_ns / rank->meetings : NAN);
    put(table, row, "last_share", rank->meetings > 0 ? rank->last_meetings / rank->meetings : NAN);
}

/* (most - least) / mean; NaN: not known of all. */
static double spread(const struct job *job, size_t offset)
{
    double least = INFINITY, most = 0, sum = 0;

    for (size_t i = 0; i < job->ranks.count; i++) {
        double value;

        memcpy(&value, (const char *)&job->ranks.items[i] + offset, sizeof value);
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value;
    }
    return sum > 0 ? (most - least) * (double)job->ranks.count / sum : NAN;
}

static void set_slowest(struct building *building)
{
    const struct job      *job = building->job;
    const struct job_rank *slowest = NULL;

    for (size_t i = 0; i < job->ranks.count; i++) {
        const struct job_rank *rank = &job->ranks.items[i];

        if (rank->meetings > 0 &&
            (!slowest || rank->late_ns / rank->meetings > slowest->late_ns / slowest->meetings))
            slowest = rank;
    }
    if (!slowest)
        return;
    set_number(building, "ranks.slowest_late_ns", slowest->late_ns / slowest->meetings);
    set_number(building, "ranks.slowest_last_share", slowest->last_meetings / slowest->meetings);
    set_fact(building, "ranks.slowest_host", intern_str(&job->names, slowest->host), 0);
    if (slowest->rank >= 0)
        set_number(building, "ranks.slowest", (double)slowest->rank);
}

/* As analysis_comm does it from recordings. */
static void set_skew(struct building *building)
{
    const struct job *job = building->job;
    double            count = (double)job->meetings.count, ns = 0, ratio;

    set_number(building, "comm.matched_count", count * (double)job->stride);
    set_number(building, "comm.alone_count", job->alone_count * (double)job->stride);
    if (count <= 0)
        return;
    for (size_t i = 0; i < job->parts.count; i++)
        ns += (double)(job->parts.items[i].left_ns - job->parts.items[i].come_ns);
    ratio = ns > 0 ? job->skew_ns / count * (double)job->parts.count / ns : NAN;
    set_number(building, "comm.skew_ns", job->skew_ns / count);
    set_number(building, "comm.skew_share", isnan(ratio) ? NAN : fmin(1, ratio));
    set_number(building, "comm.skew_ratio", ratio);
    set_fact(building, "comm.matched_by", job->counted_count > 0 ? STR("order") : STR("number"), 0);
}

static void set_ranks(struct building *building)
{
    const struct job            *job = building->job;
    const struct job_efficiency *sum = &building->causes->efficiency;
    struct table                *table;

    set_number(building, "coverage.hosts", (double)job->ranks.count);
    if (job->ranks.count < 2)
        return;
    table = new_table(building, "ranks", job->ranks.count);
    for (uint32_t i = 0; table && i < job->ranks.count; i++)
        fill_rank(building, table, i);
    set_number(building, "ranks.count", (double)job->ranks.count);
    set_number(building, "ranks.spread", spread(job, offsetof(struct job_rank, step_ns)));
    set_number(building, "ranks.compute_spread",
               spread(job, offsetof(struct job_rank, compute_ns)));
    set_number(building, "ranks.stages", job->stage_count > 1 ? job->stage_count : 1);
    set_number(building, "ranks.clocks_moved", job->moved_count);
    if (sum->parallel > 0) {
        set_number(building, "ranks.load_balance", sum->load_balance);
        set_number(building, "ranks.transfer_efficiency", sum->transfer);
        set_number(building, "ranks.parallel_efficiency", sum->parallel);
    }
    if (sum->bubble_share >= 0)
        set_number(building, "ranks.bubble_share", sum->bubble_share);
    if (sum->stage_messages > 0)
        set_number(building, "ranks.stage_messages", sum->stage_messages);
    set_slowest(building);
    set_skew(building);
}

static void fill_cause(struct building *building, struct table *table, size_t row,
                       const struct job_cause *cause)
{
    const struct job *job = building->job;

    put_text(building, table, row, "kind", str_from(cause_kind_name(cause->kind)));
    if (cause->rank != NO_ID)
        put_rank(building, table, row, cause->rank);
    if (cause->peer != NO_ID)
        put(table, row, "peer", (double)job->ranks.items[cause->peer].rank);
    put(table, row, "ranks", cause->count);
    put(table, row, "stage", cause->stage >= 0 ? (double)cause->stage : NAN);
    put_text(building, table, row, "why", str_from(part_name(cause->part)));
    if (cause->family != NO_ID) {
        put_text(building, table, row, "cause", intern_str(&job->names, cause->family));
        put(table, row, "cause_ns", cause->family_ns);
        put(table, row, "cause_usual_ns", cause->family_usual_ns);
    }
    if (cause->group != NO_ID) {
        const struct job_group *group = &job->groups.items[cause->group];

        put_text(building, table, row, "group", intern_str(&job->names, group->name));
        put_text(building, table, row, "type", intern_str(&job->names, group->type));
    }
    put(table, row, "ns", cause->ns);
    put(table, row, "own_ns", cause->own_ns);
    put(table, row, "usual_ns", cause->usual_ns);
    put(table, row, "step_share", cause->step_share);
    put(table, row, "period", cause->period > 0 ? cause->period : NAN);
}

static void fill_late(struct building *building, struct table *table, size_t row,
                      const struct job_late *late)
{
    const struct job       *job = building->job;
    const struct job_group *group = &job->groups.items[late->group];

    put(table, row, "step", (double)late->step);
    put_text(building, table, row, "name", intern_str(&job->names, group->type));
    put_text(building, table, row, "type", intern_str(&job->names, group->type));
    put_rank(building, table, row, late->rank);
    put(table, row, "late_ns", late->late_ns);
    put(table, row, "share", late->late_ns / job->step_ns);
    if (job->ranks.items[late->first].rank >= 0)
        put(table, row, "first_rank", (double)job->ranks.items[late->first].rank);
    if (late->why_ns > 0) {
        put_text(building, table, row, "why", str_from(part_name(late->why)));
        put(table, row, "why_ns", late->why_ns);
    }
}

static void set_causes(struct building *building)
{
    const struct job_causes *causes = building->causes;
    size_t told = causes->late.items.count < MOST_TOLD ? causes->late.items.count : MOST_TOLD;
    struct table *table;

    if (building->job->ranks.count < 2)
        return;
    table = new_table(building, "rank_causes", causes->items.count);
    for (size_t i = 0; table && i < causes->items.count; i++)
        fill_cause(building, table, i, &causes->items.items[i]);
    if (!told)
        return;
    table = new_table(building, "collective_lateness", told);
    for (size_t i = 0; table && i < told; i++)
        fill_late(building, table, i, &causes->late.items.items[i]);
}

/* Which ranks hold the others up between collectives, and what that and others cost a step. */
static bool set_efficiency(struct building *building, struct arena *scratch)
{
    const struct job *job = building->job;
    struct whatif     whatif = { .on_rank = -1, .is_bare = true };
    struct err        why = { 0 };
    struct table     *table;
    double            all = 1;

    if (job->ranks.count < 2 || !efficiency_scan(&whatif, scratch, &why))
        return why.code != ERR_LIMIT;
    if (!job_whatif(&whatif, job, building->study, scratch, &why))
        return why.code != ERR_LIMIT;
    for (size_t i = 0; i < EFFICIENCY_IDEALS; i++) {
        const char *name = arena_text(scratch, "efficiency.%s", efficiency_name(i));

        all *= efficiency_factor(&whatif, i);
        if (name && whatif.edits.items[i].kind != WHATIF_NO_DELAYS)
            set_number(building, name, efficiency_factor(&whatif, i));
    }
    building->is_full |=
        !facts_absent(&building->study->facts, "efficiency.delays", "the recordings themselves",
                      "summaries of ranks hold no events");
    set_number(building, "efficiency.all", all);
    if (!whatif.ranks.count)
        return true;
    set_number(building, "efficiency.imbalance", whatif.imbalance);
    table = new_table(building, "rank_delays", whatif.ranks.count);
    for (size_t i = 0; table && i < whatif.ranks.count; i++) {
        put_rank(building, table, i, whatif.ranks.items[i].host);
        put(table, i, "contribution", whatif.ranks.items[i].contribution);
        put(table, i, "slowdown", whatif.ranks.items[i].slowdown);
    }
    return true;
}

static bool build(struct building *building, struct arena *scratch)
{
    struct study  *study = building->study;
    struct intern *names = arena_new(study->arena, struct intern);

    make_profile(building);
    if (building->is_full || !names || !intern_copy(names, &building->profile->names, study->arena))
        return false;
    facts_init(&study->facts, study->arena, names);
    make_steps(building);
    take_facts(building);
    take_tables(building);
    set_ranks(building);
    set_causes(building);
    if (!set_efficiency(building, scratch))
        return false;
    facts_settle(&study->facts);
    return !building->is_full;
}

bool job_study(const struct rank_records *records, struct profile *profile, struct study *study,
               struct job *kept, struct arena *arena, struct err *err)
{
    struct arena      scratch = { .budget_bytes = arena->budget_bytes };
    struct job        own, *job = kept ? kept : &own;
    struct job_causes causes;
    struct building   building = {
          .job = job, .causes = &causes, .profile = profile, .study = study
    };
    bool is_done;

    *study = (struct study) { .recording = profile, .profile = profile, .arena = arena };
    is_done = job_make(job, records, kept ? arena : &scratch, err);
    if (is_done)
        is_done = (job_align(job) && job_meet(job) && job_find_stages(job) &&
                   job_causes_find(job, &scratch, &causes) && build(&building, &scratch)) ||
                  err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
    arena_free(&scratch);
    return is_done;
}
