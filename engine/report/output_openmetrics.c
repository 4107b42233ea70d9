/* output_openmetrics: numbers as OpenMetrics text, which GitLab's metrics report and Prometheus'
 * textfile collector read. */
#include "gate/gate.h"
#include "report/output.h"

#include <math.h>
#include <string.h>

static void add_number(struct text *text, double value)
{
    if (value == floor(value) && fabs(value) < 9e15)
        text_print(text, "%.0f\n", value);
    else
        text_print(text, "%.9g\n", value);
}

/* A name of letters, digits and underscores. */
static void add_name(struct text *text, const char *name)
{
    for (; *name; name++) {
        bool is_fine = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9');

        text_add_byte(text, is_fine ? *name : '_');
    }
}

static void add_family(struct text *text, const char *name, const char *help)
{
    text_print(text, "# TYPE tfprof_%s gauge\n# HELP tfprof_%s %s.\n", name, name, help);
}

static void add_step(struct text *text, const struct gate_result *result)
{
    const struct summary *after = result->after_summary;

    if (result->has_step) {
        add_family(text, "step_seconds", "Median time of a step");
        text_add(text, STR("tfprof_step_seconds "));
        add_number(text, result->after_ns / 1e9);
        add_family(text, "step_change_ratio", "Change of the step since the baseline");
        text_add(text, STR("tfprof_step_change_ratio "));
        add_number(text, result->change);
    }
    add_family(text, "count", "Exact counts a step");
    for (size_t i = 0; i < count_spec_count; i++) {
        double value = after->runs.items[after->runs.count - 1].counts[i].value;

        if (!isfinite(value))
            continue;
        text_print(text, "tfprof_count{what=\"%s\"} ", count_specs[i].name);
        add_number(text, value);
    }
}

static void add_facts(struct text *text, const struct summary *summary)
{
    add_family(text, "fact", "Numbers of the profile, in their units");
    for (size_t i = 0; i < summary->facts.count; i++) {
        const struct series *series = &summary->facts.items[i];
        double               value = series->values[summary->runs.count - 1];

        if (!isfinite(value))
            continue;
        text_add(text, STR("tfprof_fact{name=\""));
        add_name(text, series->name);
        text_print(text, "\",unit=\"%s\"} ", unit_name(series->unit));
        add_number(text, value);
    }
}

static void gate_openmetrics(const struct gate_result *result, const struct output_options *options,
                             struct text *text)
{
    size_t counts[OUTCOME_FAIL + 1] = { 0 };

    (void)options;
    for (size_t i = 0; i < result->checks.count; i++)
        counts[result->checks.items[i].outcome]++;
    add_family(text, "gate_checks", "Checks by outcome");
    for (int outcome = OUTCOME_PASS; outcome <= OUTCOME_FAIL; outcome++)
        text_print(text, "tfprof_gate_checks{outcome=\"%s\"} %zu\n",
                   outcome_name((enum outcome)outcome), counts[outcome]);
    add_step(text, result);
    add_facts(text, result->after_summary);
    text_add(text, STR("# EOF\n"));
}

const struct output output_openmetrics = {
    .name = "openmetrics",
    .summary = "OpenMetrics text for metrics reports",
    .gate = gate_openmetrics,
};
