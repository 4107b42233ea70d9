/* summary: from studies of recordings to what a gate keeps of them. */
#include "gate/summary.h"

#include "analyze/study.h"
#include "base/sample.h"
#include "base/sort.h"
#include "gate/counts.h"
#include "gate/items.h"
#include "gate/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *copy(struct arena *arena, const char *text)
{
    struct str same = arena_str(arena, str_from(text));

    return same.data ? same.data : "";
}

static const char *copy_name(struct arena *arena, const struct profile *profile, uint32_t id)
{
    return copy(arena, id == NO_ID ? "" : profile_str(profile, id).data);
}

/* "8 x NVIDIA H100 SXM5" for each model; a device without one counts by kind. */
static bool add_devices(struct identity *identity, const struct profile *profile,
                        struct arena *arena)
{
    static const char *const kinds[] = { "CPU", "GPU", "TPU", "device" };
    size_t                   count = profile->devices.count, kept = 0;
    const char             **names = arena_new_array(arena, const char *, count + 1);

    if (!names)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct device *device = &profile->devices.items[i];
        const char          *model = copy_name(arena, profile, device->model);

        if ((device->kind != DEVICE_CPU || model[0]) && !device->unit_of)
            names[kept++] = model[0] ? model : kinds[device->kind];
    }
    if (kept > 1)
        qsort(names, kept, sizeof *names, sort_by_text);
    for (size_t from = 0, to; from < kept; from = to) {
        for (to = from + 1; to < kept && strcmp(names[to], names[from]) == 0;)
            to++;
        const char *row = arena_text(arena, "%zu x %s", to - from, names[from]);
        if (!row || !vec_push(&identity->devices, arena, row))
            return false;
    }
    return true;
}

static bool add_identity(struct identity *identity, const struct study *study, struct arena *arena)
{
    const struct profile *profile = study->recording;
    const struct steps   *steps = &study->steps;

    identity->format = profile_format_name(profile->format);
    identity->framework = copy_name(arena, profile, profile->framework);
    identity->framework_version = copy_name(arena, profile, profile->framework_version);
    identity->hosts = (uint32_t)profile->hosts.count;
    identity->world_size = profile->world_size;
    if (steps->host < profile->hosts.count)
        identity->cores = profile->hosts.items[steps->host].core_count;
    identity->step_source = step_source_name(steps->source);
    identity->step_marker = copy(arena, steps->marker_name ? steps->marker_name : "");
    facts_get(&study->facts, "parameters.total", &identity->parameters);
    return add_devices(identity, profile, arena) && work_add(identity, &study->facts, arena);
}

static bool add_steps(struct run *run, const struct study *study, struct arena *arena)
{
    const struct steps *steps = &study->steps;

    run->step_ns = arena_new_array(arena, double, steps->list.count + 1);
    if (!run->step_ns)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != steps->host)
            continue;
        if (step->is_used)
            run->step_ns[run->step_count++] = (double)(step->end_ns - step->start_ns);
        else
            run->left_out++;
    }
    return true;
}

static struct series *find_series(struct summary *summary, const char *name)
{
    for (size_t i = 0; i < summary->facts.count; i++)
        if (strcmp(summary->facts.items[i].name, name) == 0)
            return &summary->facts.items[i];
    return NULL;
}

/* A number of the run that was added last; earlier runs may lack it. */
static bool add_number(struct summary *summary, const struct fact *fact, struct arena *arena)
{
    size_t         runs = summary->runs.count;
    struct series *series = find_series(summary, fact->spec->name);

    if (!series) {
        struct series fresh = { .name = fact->spec->name, .unit = fact->spec->unit };

        if (!vec_push(&summary->facts, arena, fresh))
            return false;
        series = &summary->facts.items[summary->facts.count - 1];
    }
    if (!series->values)
        series->values = arena_new_array(arena, double, runs);
    if (!series->values)
        return false;
    series->values[runs - 1] = fact->value;
    return true;
}

/* Makes room for one more run in every series. */
static bool widen_series(struct summary *summary, struct arena *arena)
{
    size_t runs = summary->runs.count;

    for (size_t i = 0; i < summary->facts.count; i++) {
        struct series *series = &summary->facts.items[i];

        series->values =
            arena_grow(arena, series->values, (runs - 1) * sizeof(double), runs * sizeof(double));
        if (!series->values)
            return false;
        series->values[runs - 1] = NAN;
    }
    return true;
}

static bool add_facts(struct summary *summary, const struct facts *facts, struct arena *arena)
{
    size_t runs = summary->runs.count;

    if (!widen_series(summary, arena))
        return false;
    for (size_t i = 0; i < facts->list.count; i++) {
        size_t had = summary->facts.count;

        if (facts->list.items[i].spec->unit == UNIT_NAME)
            continue;
        if (!add_number(summary, &facts->list.items[i], arena))
            return false;
        for (size_t run = 0; summary->facts.count > had && run + 1 < runs; run++)
            summary->facts.items[had].values[run] = NAN;
    }
    return true;
}

static const struct known_finding *find_finding(const struct summary *summary,
                                                const char           *fingerprint)
{
    for (size_t i = 0; i < summary->findings.count; i++)
        if (strcmp(summary->findings.items[i].fingerprint, fingerprint) == 0)
            return &summary->findings.items[i];
    return NULL;
}

static bool add_findings(struct summary *summary, const struct advice *advice, struct arena *arena)
{
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];
        struct known_finding  known = {
             .rule = copy(arena, finding->rule),
             .title = copy(arena, finding->title),
             .fingerprint = copy(arena, finding->fingerprint),
             .file = "",
             .severity = finding->severity,
             .share = finding->impact.has_saving ? finding->impact.share : 0,
        };

        if (finding->hidden_by || find_finding(summary, finding->fingerprint))
            continue;
        if (finding->locations.count > 0 && finding->locations.items[0].file) {
            known.file = copy(arena, finding->locations.items[0].file);
            known.line = finding->locations.items[0].line;
        }
        if (!vec_push(&summary->findings, arena, known))
            return false;
    }
    return true;
}

static bool add_notes(struct summary *summary, const char *run, const struct profile *profile,
                      struct arena *arena)
{
    for (size_t i = 0; i < profile->notes.count; i++) {
        const struct note *note = &profile->notes.items[i];
        struct run_note    kept = {
               .run = run,
               .where = copy(arena, note->where ? note->where : ""),
               .what = copy(arena, note->what),
               .count = note->count > UINT32_MAX ? UINT32_MAX : (uint32_t)note->count,
               .is_damage = note->is_damage,
        };

        if (!vec_push(&summary->notes, arena, kept))
            return false;
    }
    return true;
}

static bool add_failed(struct summary *summary, const struct advice *advice, struct arena *arena)
{
    for (size_t i = 0; i < advice->failed.count; i++) {
        const struct failed_rule *failed = &advice->failed.items[i];
        struct failed_rule        kept = { .rule = copy(arena, failed->rule),
                                           .message = copy(arena, failed->message) };

        if (!summary_failed(summary, failed->rule) && !vec_push(&summary->failed, arena, kept))
            return false;
    }
    return true;
}

const struct failed_rule *summary_failed(const struct summary *summary, const char *rule)
{
    for (size_t i = 0; i < summary->failed.count; i++)
        if (!rule || strcmp(summary->failed.items[i].rule, rule) == 0)
            return &summary->failed.items[i];
    return NULL;
}

bool summary_add_run(struct summary *summary, const char *name, const struct study *study,
                     const struct advice *advice, struct arena *arena, struct err *err)
{
    struct run run = { .name = copy(arena, name), .counts = counts_make(study, arena) };

    if (!run.counts || !add_steps(&run, study, arena) || !vec_push(&summary->runs, arena, run) ||
        !add_facts(summary, &study->facts, arena) ||
        !items_add(summary->items, &study->facts, arena) || !add_findings(summary, advice, arena) ||
        !add_failed(summary, advice, arena) ||
        !add_notes(summary, run.name, study->recording, arena))
        return err_memory(err, "the summary of the profile");
    if (summary->runs.count == 1 && !add_identity(&summary->identity, study, arena))
        return err_memory(err, "the summary of the profile");
    summary->advice = *advice;
    return true;
}

static int by_series_name(const void *a, const void *b)
{
    return strcmp(((const struct series *)a)->name, ((const struct series *)b)->name);
}

static int by_fingerprint(const void *a, const void *b)
{
    const struct known_finding *x = a, *y = b;

    return IN_ORDER(strcmp(x->rule, y->rule), strcmp(x->fingerprint, y->fingerprint));
}

bool summary_finish(struct summary *summary, struct arena *arena, struct err *err)
{
    (void)arena;
    if (summary->facts.count > 0)
        qsort(summary->facts.items, summary->facts.count, sizeof *summary->facts.items,
              by_series_name);
    if (summary->findings.count > 0)
        qsort(summary->findings.items, summary->findings.count, sizeof *summary->findings.items,
              by_fingerprint);
    summary->version = TFPROF_VERSION;
    if (!summary->comment)
        summary->comment = "";
    return items_finish(summary->items, summary->runs.count) ||
           err_memory(err, "the summary of the profile");
}

const struct series *summary_series(const struct summary *summary, const char *name)
{
    for (size_t i = 0; i < summary->facts.count; i++)
        if (strcmp(summary->facts.items[i].name, name) == 0)
            return &summary->facts.items[i];
    return NULL;
}

bool summary_fact(const struct summary *summary, const char *name, struct arena *scratch,
                  double *value)
{
    const struct series *series = summary_series(summary, name);
    double              *known = arena_new_array(scratch, double, summary->runs.count + 1);
    size_t               count = 0;

    for (size_t i = 0; series && known && i < summary->runs.count; i++)
        if (isfinite(series->values[i]))
            known[count++] = series->values[i];
    if (count == 0)
        return false;
    *value = sample_middle(known, count);
    return true;
}

static double mean_part(const struct summary *summary, enum part part)
{
    const struct series *series = summary_series(summary, part_ns_fact(part));
    double               sum = 0;

    for (size_t i = 0; series && i < summary->runs.count; i++)
        sum += isfinite(series->values[i]) ? series->values[i] : 0;
    return sum / (double)summary->runs.count;
}

double part_grain_ns(double step_ns)
{
    return step_ns < 1e5 ? 1 : pow(10, floor(log10(step_ns)) - 4);
}

bool summary_parts(const struct summary *summary, double step_ns, double grain_ns,
                   double part_ns[PART_COUNT])
{
    double total_ns = 0, rest_ns = step_ns;
    int    largest = 0;

    for (int part = 0; part < PART_COUNT; part++) {
        total_ns += part_ns[part] = mean_part(summary, (enum part)part);
        if (part_ns[part] > part_ns[largest])
            largest = part;
    }
    for (int part = 0; part < PART_COUNT && total_ns > 0; part++) {
        part_ns[part] = round(part_ns[part] * step_ns / total_ns / grain_ns) * grain_ns;
        rest_ns -= part_ns[part];
    }
    part_ns[largest] += rest_ns;
    return total_ns > 0;
}
