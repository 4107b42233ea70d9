#include "gate/budget.h"

#include "analyze/analysis.h"
#include "base/macros.h"
#include "base/option.h"
#include "base/sample.h"

#include <math.h>
#include <string.h>

static const struct {
    const char     *sign;
    enum comparison comparison;
} signs[] = {
    /* Longer signs first. */
    { "<=", AT_MOST }, { ">=", AT_LEAST }, { "==", EQUAL },
    { "<", LESS },     { ">", MORE },      { "=", EQUAL },
};

/* Short names for what people gate on most. */
static const struct {
    const char *name, *fact;
} aliases[] = {
    { "launches_per_step", "launch.count_per_step" },
    { "syncs_per_step", "sync.count_per_step" },
    { "kernels_per_step", "kernels.count_per_step" },
    { "ops_per_step", "ops.count_per_step" },
    { "collectives_per_step", "comm.count_per_step" },
    { "flops_per_step", "flops.per_step" },
    { "recompiles_per_step", "compile.count" },
    { "retraces_per_step", "retrace.calls" },
    { "exposed_comm", "comm.exposed_share" },
    { "peak_memory", "memory.peak_bytes" },
    { "mfu", "flops.mfu" },
};

static const struct {
    const char *name;
    double      share; /* quantile; above 1: the mean */
} statistics[] = {
    { "p50", 0.5 },  { "median", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 },
    { "p99", 0.99 }, { "min", 0 },      { "max", 1 },   { "mean", 2 },
};

enum { MOST_NAME = 96 };

/* Dots and underscores are one; "_ms" at the end is "_ns". */
static void normalize(const char *name, char folded[MOST_NAME])
{
    size_t len = strlen(name);

    len = len < MOST_NAME - 1 ? len : MOST_NAME - 1;
    for (size_t i = 0; i < len; i++)
        folded[i] = name[i] == '.' || name[i] == '-' ? '_' : name[i];
    folded[len] = 0;
    if (len > 3 && strcmp(folded + len - 3, "_ms") == 0)
        folded[len - 2] = 'n';
}

static bool is_same_name(const char *a, const char *b)
{
    char x[MOST_NAME], y[MOST_NAME];

    normalize(a, x);
    normalize(b, y);
    return strcmp(x, y) == 0;
}

static const struct fact_spec *find_fact(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(aliases); i++)
        if (strcmp(name, aliases[i].name) == 0)
            return analysis_fact(aliases[i].fact);
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            if (analyses[i]->produces[j].unit != UNIT_NAME &&
                is_same_name(analyses[i]->produces[j].name, name))
                return &analyses[i]->produces[j];
    return NULL;
}

static const char *after_prefix(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static bool find_statistic(const char *quantity, double *share)
{
    const char *name = after_prefix(quantity, "step_ms.");

    if (strcmp(quantity, "step_ms") == 0)
        name = "p50";
    for (size_t i = 0; name && i < ARRAY_COUNT(statistics); i++) {
        if (strcmp(name, statistics[i].name) != 0)
            continue;
        *share = statistics[i].share;
        return true;
    }
    return false;
}

static bool find_count(const char *quantity, size_t *index)
{
    const char *name = after_prefix(quantity, "count.");

    for (size_t i = 0; name && i < count_spec_count; i++) {
        if (strcmp(name, count_specs[i].name) != 0)
            continue;
        *index = i;
        return true;
    }
    return false;
}

/* "findings.error": that severity; "findings.total"; "findings.RULE". */
static bool is_findings(const char *quantity)
{
    const char *name = after_prefix(quantity, "findings.");

    return name && name[0];
}

static bool unknown_quantity(const char *quantity, struct arena *arena, struct err *err)
{
    VEC(const char *) names = { 0 };
    const char *near;

    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            if (!vec_push(&names, arena, analyses[i]->produces[j].name))
                return err_set(err, ERR_LIMIT, "no memory left to read budgets");
    for (size_t i = 0; i < ARRAY_COUNT(aliases); i++)
        if (!vec_push(&names, arena, aliases[i].name))
            return err_set(err, ERR_LIMIT, "no memory left to read budgets");
    if (!vec_push(&names, arena, "step_ms.p50"))
        return err_set(err, ERR_LIMIT, "no memory left to read budgets");
    near = option_nearest(quantity, names.items, names.count);
    err_set(err, ERR_USAGE, "no number is called '%s'", quantity);
    return near ? err_advise(err, "did you mean %s?", near)
                : err_advise(err, "docs/facts.md lists them");
}

static bool find_unit(struct budget *budget, struct arena *arena, struct err *err)
{
    const struct fact_spec *fact;
    double                  share;
    size_t                  index;

    if (find_statistic(budget->quantity, &share)) {
        budget->unit = UNIT_NS;
    } else if (find_count(budget->quantity, &index)) {
        budget->unit = count_specs[index].unit;
    } else if (is_findings(budget->quantity)) {
        budget->unit = UNIT_COUNT;
    } else if ((fact = find_fact(budget->quantity)) != NULL) {
        budget->fact = fact->name;
        budget->unit = fact->unit;
    } else {
        return unknown_quantity(budget->quantity, arena, err);
    }
    return true;
}

static bool has_ms(const char *quantity)
{
    size_t len = strlen(quantity);

    return after_prefix(quantity, "step_ms") || (len > 3 && !strcmp(quantity + len - 3, "_ms"));
}

static bool scan_limit(struct budget *budget, struct str text, struct err *err)
{
    double number;

    if (has_ms(budget->quantity) && str_to_double(text, &number)) {
        budget->limit = number * 1e6;
        return true;
    }
    return unit_scan(text, budget->unit, &budget->limit) ||
           err_set(err, ERR_USAGE, "'%.*s' in the budget '%s' is no %s", STR_ARG(text),
                   budget->text, unit_name(budget->unit));
}

bool budget_parse(const char *text, struct arena *arena, struct budget *budget, struct err *err)
{
    struct str whole = str_from(text);

    *budget = (struct budget) { .text = text };
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        struct str sign = str_from(signs[i].sign);
        size_t     at = str_search(whole, sign);
        struct str name = arena_str(arena, str_trim(str_slice(whole, 0, at)));

        if (at == whole.len || !name.data)
            continue;
        if (name.len == 0)
            break;
        budget->quantity = name.data;
        budget->comparison = signs[i].comparison;
        return find_unit(budget, arena, err) &&
               scan_limit(budget, str_trim(str_slice(whole, at + sign.len, whole.len)), err);
    }
    err_set(err, ERR_USAGE, "'%s' is no budget", text);
    return err_advise(err, "write NAME <= VALUE, as in 'step_ms.p50 <= 210'");
}

bool budget_quantity(const char *name, struct arena *arena, struct budget *budget, struct err *err)
{
    *budget = (struct budget) { .text = name, .quantity = name };
    return find_unit(budget, arena, err);
}

/* Of all steps of all runs. */
static bool step_statistic(const struct summary *summary, double share, struct arena *scratch,
                           double *value)
{
    VEC(double) all = { 0 };

    for (size_t i = 0; i < summary->runs.count; i++)
        for (size_t step = 0; step < summary->runs.items[i].step_count; step++)
            if (!vec_push(&all, scratch, summary->runs.items[i].step_ns[step]))
                return false;
    if (all.count == 0)
        return false;
    *value = share == 0.5 ? sample_median(all.items, all.count)
             : share > 1  ? sample_mean(all.items, all.count)
                          : sample_quantile(all.items, all.count, share);
    return true;
}

static bool count_statistic(const struct summary *summary, size_t index, double *value)
{
    *value = -INFINITY;
    for (size_t i = 0; i < summary->runs.count; i++)
        if (isfinite(summary->runs.items[i].counts[index].value))
            *value = fmax(*value, summary->runs.items[i].counts[index].value);
    return isfinite(*value);
}

static double count_findings(const struct summary *summary, const char *which)
{
    double count = 0;

    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct known_finding *finding = &summary->findings.items[i];

        count += strcmp(which, "total") == 0 ||
                 strcmp(which, severity_name(finding->severity)) == 0 ||
                 strcmp(which, finding->rule) == 0;
    }
    return count;
}

bool budget_value(const struct budget *budget, const struct summary *summary, struct arena *scratch,
                  double *value)
{
    double share;
    size_t index;

    if (find_statistic(budget->quantity, &share))
        return step_statistic(summary, share, scratch, value);
    if (find_count(budget->quantity, &index))
        return count_statistic(summary, index, value);
    if (budget->fact)
        return summary_fact(summary, budget->fact, scratch, value);
    *value = count_findings(summary, after_prefix(budget->quantity, "findings."));
    return true;
}

bool budget_holds(const struct budget *budget, double value)
{
    switch (budget->comparison) {
    case AT_MOST:
        return value <= budget->limit;
    case LESS:
        return value < budget->limit;
    case AT_LEAST:
        return value >= budget->limit;
    case MORE:
        return value > budget->limit;
    case EQUAL:
        break;
    }
    return value == budget->limit;
}

const char *comparison_sign(enum comparison comparison)
{
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++)
        if (signs[i].comparison == comparison)
            return signs[i].sign;
    return "";
}
