/* info_text: `tfprof info`: files, hosts, devices, timelines, kinds of events, steps, analyses. */
#include "report/info_text.h"

#include "analyze/analysis.h"
#include "base/sort.h"
#include "report/describe.h"
#include "report/efficiency.h"
#include "report/inventory.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_TIMELINES = 16, COUNT_COLUMNS = 12, NAME_COLUMNS = 24 };

static struct str clean_name(struct layout *layout, const struct profile *profile, uint32_t name)
{
    struct str shown = layout_clean(layout->arena, profile_str(profile, name));

    return shown.len > 0 ? shown : STR("(no name)");
}

static void write_title(struct layout *layout, const char *title)
{
    layout_line(layout);
    layout_style(layout, STYLE_STRONG);
    text_add(layout->text, str_from(title));
    layout_end(layout);
    layout_line(layout);
}

/* A number flush right, then what it is of. */
static void write_size(struct layout *layout, struct str size, const struct text *what)
{
    text_add(layout->text, STR("  "));
    layout_pad_left(layout, size, COUNT_COLUMNS);
    layout_wrap(layout, 2, "", COUNT_COLUMNS + 6, text_str(what));
}

static void write_count(struct layout *layout, uint64_t count, const char *what)
{
    text_add(layout->text, STR("  "));
    layout_pad(layout, str_from(what), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, (double)count, UNIT_COUNT), COUNT_COLUMNS);
    layout_line(layout);
}

static void write_head(struct layout *layout, const struct profile *profile)
{
    struct text line = { .arena = layout->arena };
    struct str  framework = profile_str(profile, profile->framework);
    struct str  version = profile_str(profile, profile->framework_version);

    text_print(&line, "%s · %s", profile->name ? profile->name : "profile",
               format_title(profile->format));
    if (framework.len > 0)
        text_print(&line, " · %.*s", STR_ARG(framework));
    if (version.len > 0)
        text_print(&line, " %.*s", STR_ARG(version));
    if (profile->end_ns > profile->start_ns) {
        text_add(&line, STR(" · "));
        unit_print(&line, (double)(profile->end_ns - profile->start_ns), UNIT_NS);
        text_add(&line, STR(" recorded"));
    }
    layout_wrap(layout, 0, "", 0, text_str(&line));
}

/* Paths stay whole, so that they can be copied. */
static void write_files(struct layout *layout, const struct profile *profile)
{
    write_title(layout, "Files");
    for (size_t i = 0; i < profile->files.count; i++) {
        const struct source_file *file = &profile->files.items[i];
        struct text               line = { .arena = layout->arena };

        text_print(&line, "%s", file->name ? file->name : "(no name)");
        if (file->host < profile->hosts.count)
            text_print(&line, " (host %.*s)",
                       STR_ARG(profile_str(profile, profile->hosts.items[file->host].name)));
        if (file->rank >= 0)
            text_print(&line, " (rank %d)", file->rank);
        text_add(layout->text, STR("  "));
        layout_pad_left(layout, layout_value(layout->arena, (double)file->bytes, UNIT_BYTES),
                        COUNT_COLUMNS);
        text_add(layout->text, STR("  "));
        text_add(layout->text, layout_clean(layout->arena, text_str(&line)));
        layout_line(layout);
    }
}

static void write_hosts(struct layout *layout, const struct profile *profile)
{
    if (profile->hosts.count > 0)
        write_title(layout, "Hosts");
    for (size_t i = 0; i < profile->hosts.count; i++) {
        const struct host *host = &profile->hosts.items[i];
        struct text        line = { .arena = layout->arena };

        text_print(&line, "%.*s", STR_ARG(clean_name(layout, profile, host->name)));
        if (host->rank >= 0)
            text_print(&line, ", rank %d", host->rank);
        if (host->core_count > 0)
            text_print(&line, ", %u cores", host->core_count);
        if (host->clock_shift_ns) {
            text_add(&line, STR(", clock moved by "));
            unit_print(&line, (double)host->clock_shift_ns, UNIT_NS);
            text_print(&line, " so that its %u collectives end with those of the first host",
                       host->clock_meetings);
        }
        layout_wrap(layout, 2, "", 4, text_str(&line));
    }
}

static void add_capability(struct text *line, double value, enum unit unit, const char *what)
{
    if (value <= 0)
        return;
    text_add(line, STR(", "));
    unit_print(line, value, unit);
    text_print(line, " %s", what);
}

static struct str describe_device(struct layout *layout, const struct profile *profile,
                                  const struct device *device)
{
    struct text line = { .arena = layout->arena };
    struct str  model = profile_str(profile, device->model);

    if (device->unit_of)
        text_print(
            &line, "unit of %.*s",
            STR_ARG(clean_name(layout, profile, profile->devices.items[device->unit_of - 1].name)));
    else
        text_add(&line, str_from(device_kind_name(device->kind)));
    if (model.len > 0)
        text_print(&line, ", %.*s", STR_ARG(model));
    if (device->compute_major > 0)
        text_print(&line, ", compute capability %u.%u", device->compute_major,
                   device->compute_minor);
    add_capability(&line, device->sm_count, UNIT_COUNT, "multiprocessors");
    add_capability(&line, device->peak_flops_per_s, UNIT_FLOPS_PER_S, "peak");
    add_capability(&line, device->memory_bytes_per_s, UNIT_BYTES_PER_S, "memory bandwidth");
    add_capability(&line, (double)device->memory_bytes, UNIT_BYTES, "memory");
    return text_str(&line);
}

/* Devices in a row that are alike share a line. */
static void write_devices(struct layout *layout, const struct profile *profile)
{
    struct text line = { .arena = layout->arena };

    if (profile->devices.count > 0)
        write_title(layout, "Devices");
    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];
        struct str           about = describe_device(layout, profile, device);

        text_print(&line, "%.*s", STR_ARG(clean_name(layout, profile, device->name)));
        if (i + 1 < profile->devices.count &&
            str_equal(about, describe_device(layout, profile, device + 1))) {
            text_add(&line, STR(", "));
            continue;
        }
        text_print(&line, ": %.*s", STR_ARG(about));
        layout_wrap(layout, 2, "", 4, text_str(&line));
        line = (struct text) { .arena = layout->arena };
    }
}

static void write_counts(struct layout *layout, const struct profile *profile)
{
    struct inventory_row rows[INVENTORY_ROWS];
    size_t               count = inventory_counts(profile, rows);

    write_title(layout, "Holds");
    for (size_t i = 0; i < count; i++)
        write_count(layout, rows[i].count, rows[i].title);
}

/* What reading met and knows nothing of, most first. */
static void write_unknown(struct layout *layout, const struct profile *profile)
{
    const struct unknown **rows = inventory_unknowns(profile, layout->arena);

    if (!rows || !profile->unknowns.count)
        return;
    write_title(layout, "Not understood");
    for (size_t i = 0; i < profile->unknowns.count; i++) {
        struct text line = { .arena = layout->arena };
        struct str  name = profile_str(profile, rows[i]->name);

        text_print(&line, "%s ", unknown_kind_name((enum unknown_kind)rows[i]->kind));
        text_add_clean(&line, name.len ? name : STR("without a name"));
        write_count(layout, rows[i]->count, line.data ? line.data : "");
    }
}

struct timeline_rank {
    uint32_t timeline, event_count;
};

static int timeline_rank_compare(const void *left, const void *right)
{
    const struct timeline_rank *a = left, *b = right;

    return IN_ORDER(COMPARE(b->event_count, a->event_count), COMPARE(a->timeline, b->timeline));
}

static void write_timeline(struct layout *layout, const struct profile *profile, uint32_t row)
{
    const struct timeline *timeline = &profile->timelines.items[row];
    struct text            line = { .arena = layout->arena };

    text_print(&line, "%s %.*s", timeline_kind_name(timeline->kind),
               STR_ARG(clean_name(layout, profile, timeline->name)));
    if (timeline->device < profile->devices.count)
        text_print(
            &line, " on %.*s",
            STR_ARG(clean_name(layout, profile, profile->devices.items[timeline->device].name)));
    else if (profile->hosts.count > 1 && timeline->host < profile->hosts.count)
        text_print(&line, " on %.*s",
                   STR_ARG(clean_name(layout, profile, profile->hosts.items[timeline->host].name)));
    write_size(layout, layout_value(layout->arena, timeline->event_count, UNIT_COUNT), &line);
}

static void write_timelines(struct layout *layout, const struct profile *profile, bool is_complete)
{
    size_t                count = profile->timelines.count, shown = count;
    struct timeline_rank *ranks = arena_new_array(layout->arena, struct timeline_rank, count);

    if (count == 0 || !ranks)
        return;
    for (size_t i = 0; i < count; i++)
        ranks[i] =
            (struct timeline_rank) { .timeline = (uint32_t)i,
                                     .event_count = profile->timelines.items[i].event_count };
    qsort(ranks, count, sizeof *ranks, timeline_rank_compare);
    if (!is_complete && shown > SHOWN_TIMELINES)
        shown = SHOWN_TIMELINES;
    write_title(layout, "Timelines, by events");
    for (size_t i = 0; i < shown; i++)
        write_timeline(layout, profile, ranks[i].timeline);
    if (shown < count)
        text_print(layout->text, "  %zu more: --all\n", count - shown);
}

static void write_kinds(struct layout *layout, const struct profile *profile)
{
    uint64_t counts[ACTIVITY_KIND_COUNT];

    if (profile->event_count == 0)
        return;
    inventory_kinds(profile, counts);
    write_title(layout, "Events by kind");
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++) {
        if (counts[kind] > 0)
            write_count(layout, counts[kind], activity_kind_name((enum activity_kind)kind));
    }
}

static const char *source_phrase(enum step_source source)
{
    switch (source) {
    case STEPS_MARKER:
        return "marked in the recording";
    case STEPS_SESSION:
        return "runs of a session";
    case STEPS_INFERRED:
        return "inferred from what repeats";
    case STEPS_WHOLE_TRACE:
        return "not marked: the whole trace counts as one";
    }
    return "";
}

static void write_steps(struct layout *layout, const struct study *study)
{
    struct step_range range = study_step_range(study);
    struct text       line = { .arena = layout->arena };

    write_title(layout, "Steps");
    if (range.count == 0) {
        layout_wrap(layout, 2, "", 4, STR("none found"));
        return;
    }
    text_print(&line, "%u, %u of them used, %s", range.count, range.used,
               source_phrase(study->steps.source));
    if (study->steps.marker_name)
        text_print(&line, " (\"%s\")", study->steps.marker_name);
    if (range.used > 0) {
        text_add(&line, STR("; median "));
        unit_print(&line, study->steps.median_ns, UNIT_NS);
    }
    if (study->steps.is_uneven) {
        text_add(&line, STR(", mean "));
        unit_print(&line, study->steps.mean_ns, UNIT_NS);
        text_add(&line, STR(": uneven, so that what is counted a step is of the mean"));
    }
    layout_wrap(layout, 2, "", 4, text_str(&line));
}

/* What faster work saves at most, by the longest chain through a step. */
static void write_bounds(struct layout *layout, const struct study *study)
{
    struct text line = { .arena = layout->arena };
    double      device_ns, host_ns;

    if (!facts_get(&study->facts, "replay.device_bound_ns", &device_ns) ||
        !facts_get(&study->facts, "replay.host_bound_ns", &host_ns))
        return;
    text_print(&line, "at most, faster %s save ",
               study->path.has_device ? "devices" : "ops and collectives");
    unit_print(&line, device_ns, UNIT_NS);
    text_add(&line, STR(" of a step, a faster host "));
    unit_print(&line, host_ns, UNIT_NS);
    layout_wrap(layout, 2, "", 4, text_str(&line));
}

static void write_replay(struct layout *layout, const struct study *study)
{
    struct text line = { .arena = layout->arena };
    double      error, worst, steps;

    if (!facts_get(&study->facts, "replay.error", &error) ||
        !facts_get(&study->facts, "replay.worst_error", &worst) ||
        !facts_get(&study->facts, "replay.steps", &steps))
        return;
    write_title(layout, "Replay");
    text_print(&line, "%.0f step%s scheduled from their events: ", steps, steps == 1 ? "" : "s");
    unit_print(&line, error, UNIT_SHARE);
    text_add(&line, STR(" off the recorded time, "));
    unit_print(&line, worst, UNIT_SHARE);
    text_add(&line, STR(" at worst"));
    layout_wrap(layout, 2, "", 4, text_str(&line));
    write_bounds(layout, study);
    efficiency_text(layout, study, "");
}

struct late_rank { /* rows of collective_lateness that name it */
    double count, late_ns, why_ns;
    size_t first, worst; /* rows: the first, and the one with most excess */
};

static bool is_same_cell(const struct table *table, const char *column, size_t a, size_t b)
{
    const double *cells = table->columns[table_column(table, column)];

    return isnan(cells[a]) ? isnan(cells[b]) : fabs(cells[a] - cells[b]) < 0.5;
}

/* The rank that comes last most often; false: none does. */
static bool find_late_rank(const struct table *table, struct late_rank *late)
{
    const double *late_ns = table->columns[table_column(table, "late_ns")];
    const double *why_ns = table->columns[table_column(table, "why_ns")];

    *late = (struct late_rank) { 0 };
    for (size_t i = 0; i < table->row_count; i++) {
        struct late_rank found = { .first = i };

        for (size_t k = 0; k < table->row_count; k++) {
            if (!is_same_cell(table, "rank", i, k) || !is_same_cell(table, "host", i, k))
                continue;
            found.count++;
            found.late_ns += late_ns[k];
            if (why_ns[k] > found.why_ns) {
                found.why_ns = why_ns[k];
                found.worst = k;
            }
        }
        if (found.count > late->count)
            *late = found;
    }
    return late->count > 0;
}

static struct str table_name(const struct study *study, const struct table *table,
                             const char *column, size_t row)
{
    double name = table->columns[table_column(table, column)][row];

    return name >= 0 ? intern_str(study->facts.names, (uint32_t)name) : STR("");
}

static void write_late_rank(struct layout *layout, const struct study *study)
{
    const struct table *table = facts_find_table(&study->facts, "collective_lateness");
    struct text         line = { .arena = layout->arena };
    struct late_rank    late;
    struct str          cause;
    double              rank;

    if (!table || !find_late_rank(table, &late))
        return;
    write_title(layout, "Late ranks");
    rank = table->columns[table_column(table, "rank")][late.first];
    if (isnan(rank))
        text_print(&line, "%.*s", STR_ARG(table_name(study, table, "host", late.first)));
    else
        text_print(&line, "rank %.0f", rank);
    text_print(&line, " came last to %.0f of %zu collectives, ", late.count, table->row_count);
    unit_print(&line, late.late_ns / late.count, UNIT_NS);
    text_add(&line, STR(" behind the first on average"));
    if (late.why_ns > 0) {
        cause = table_name(study, table, "cause", late.worst);
        text_print(&line, "; once %.*s took ",
                   STR_ARG(table_name(study, table, "why", late.worst)));
        unit_print(&line, late.why_ns, UNIT_NS);
        text_add(&line, STR(" longer than on the first"));
        if (cause.len)
            text_print(&line, ", mostly %.*s", STR_ARG(layout_clean(layout->arena, cause)));
    }
    layout_wrap(layout, 2, "", 4, text_str(&line));
    layout_wrap(layout, 2, "", 4, STR("each of them: tfprof why PROFILE collective:."));
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Names in `line` are missing for the same reason. */
static void write_missing(struct layout *layout, struct text *line, const struct missing *missing)
{
    text_print(line, ": %s", missing->reason);
    if (missing->capture)
        text_print(line, "; to have it: %s", missing->capture);
    layout_wrap(layout, 4, "no", 7, text_str(line));
    *line = (struct text) { .arena = layout->arena };
}

static void write_analysis(struct layout *layout, const struct study *study,
                           const struct analysis *analysis)
{
    struct yield   yield = inventory_yield(study, analysis);
    struct missing missing, before = { 0 };
    struct text    line = { .arena = layout->arena };
    size_t         cursor = 0;

    text_print(layout->text, "  %s: %u of %u\n", analysis->name, yield.found, yield.of);
    while (inventory_missing(study, analysis, &cursor, &missing)) {
        struct str name = str_from(missing.name);

        if (line.len > 0 && (!is_same_text(missing.reason, before.reason) ||
                             !is_same_text(missing.capture, before.capture)))
            write_missing(layout, &line, &before);
        text_print(&line, "%s%s%s", line.len > 0 ? ", " : "", missing.name,
                   str_ends(name, STR(".")) ? "*" : "");
        before = missing;
    }
    if (line.len > 0)
        write_missing(layout, &line, &before);
}

static void write_notes(struct layout *layout, const struct profile *profile)
{
    if (profile->notes.count > 0)
        write_title(layout, "Notes");
    for (size_t i = 0; i < profile->notes.count; i++) {
        layout_wrap(layout, 2, "", 4, note_words(layout->arena, &profile->notes.items[i]));
    }
}

void info_text(const struct study *study, const struct output_options *options, struct text *text)
{
    const struct profile *profile = study->recording;
    struct layout         layout = layout_make(text, options->width, options->is_colored);

    write_head(&layout, profile);
    write_files(&layout, profile);
    write_hosts(&layout, profile);
    write_devices(&layout, profile);
    write_counts(&layout, profile);
    write_unknown(&layout, profile);
    write_timelines(&layout, profile, options->is_complete);
    write_kinds(&layout, profile);
    write_steps(&layout, study);
    write_replay(&layout, study);
    write_late_rank(&layout, study);
    write_title(&layout, "Analyses: facts and tables found, and what is missing");
    for (size_t i = 0; i < analysis_count; i++)
        write_analysis(&layout, study, analyses[i]);
    write_notes(&layout, profile);
}
