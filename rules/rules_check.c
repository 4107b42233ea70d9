/* rules_check: runs the examples that rules carry, as they are and with their numbers changed. */
#include "rules/catalogue.h"

#include "base/macros.h"
#include "rules/example.h"
#include "rules/guest_batch.h"
#include "rules/script_line.h"
#include "rules/trial.h"

#include <math.h>
#include <string.h>

/* What a rule may take with all its examples, each at its limit or not; what a folder may. */
static const int64_t RULE_NS = 20000000000, FOLDER_NS = 600000000000;

struct checking {
    struct arena            *arena;
    struct text             *report;
    struct rules_checked    *checked;
    struct str               source; /* of the rule being checked */
    const struct rule_trial *trial;  /* of the rule being checked, or NULL */
};

static void report_fault(struct checking *checking, const struct rule *rule, int number,
                         const struct example *example, const char *fault)
{
    const char *message = fault;

    checking->checked->fault_count++;
    if (number > 0)
        message = arena_text(checking->arena, "example %d %s", number, fault);
    script_line_print(checking->report, rule->info.file, checking->source,
                      example ? script_find_quoted(checking->source, example->name)
                              : script_find_key(checking->source, "examples"),
                      message ? message : "failed");
}

/* A number of the examples, times a factor. */
struct change {
    const char *name; /* fact or table; NULL: none, a parameter of the rule has changed */
    double      factor;
};

static void change_column(struct table *table, size_t column, double factor)
{
    for (size_t row = 0; row < table->row_count; row++)
        table->columns[column][row] *= factor;
}

/* True when the example has something that changes. */
static bool change_example(struct example *example, const struct change *change)
{
    bool is_changed = false;

    for (size_t i = 0; i < example->facts.list.count; i++) {
        struct fact *fact = &example->facts.list.items[i];

        if (strcmp(fact->spec->name, change->name) != 0 || fact->spec->unit == UNIT_NAME ||
            fact->spec->unit == UNIT_BOOL)
            continue;
        fact->value *= change->factor;
        is_changed = true;
    }
    for (size_t i = 0; i < example->facts.tables.count; i++) {
        struct table *table = example->facts.tables.items[i];

        if (strcmp(table->spec->name, change->name) != 0)
            continue;
        for (size_t column = 0; column < table->spec->column_count; column++)
            if (table->spec->columns[column].unit == UNIT_NS) {
                change_column(table, column, change->factor);
                is_changed |= table->row_count > 0;
            }
    }
    return is_changed;
}

/* Whether an example of a rule whose examples hold no longer does after the change. *is_there: any
 * example has what changes. */
static bool is_noticed(struct rule *rule, const struct change *change, bool *is_there)
{
    bool has_example = true, is_seen = false;

    for (int number = 1; has_example && !is_seen; number++) {
        struct arena   scratch = { 0 };
        struct example example;
        bool           is_changed = true, has_fired;

        if (example_read(rule, number, &scratch, &example, &has_example))
            has_example = false;
        if (has_example && change->name)
            is_changed = change_example(&example, change);
        *is_there |= has_example && is_changed;
        is_seen = has_example && is_changed && example_run(rule, &example, &scratch, &has_fired);
        arena_free(&scratch);
    }
    return is_seen;
}

static const double factors[] = { 0.5, 2 };

static void report_untested(struct checking *checking, const struct rule *rule, const char *name,
                            const char *what, size_t at)
{
    checking->checked->untested_count++;
    script_line_print(checking->report, rule->info.file, checking->source, at,
                      arena_text(checking->arena,
                                 "untested: every example holds with %s %s halved and doubled",
                                 what, name));
}

static void change_needs(struct checking *checking, struct rule *rule)
{
    for (size_t i = 0; i < rule->info.needs.count; i++) {
        const char *name = rule->info.needs.items[i];
        bool        is_seen = false, is_there = false;

        for (size_t f = 0; f < ARRAY_COUNT(factors) && !is_seen; f++)
            is_seen = is_noticed(rule, &(struct change) { .name = name, .factor = factors[f] },
                                 &is_there);
        if (!is_seen && is_there)
            report_untested(checking, rule, name, "the numbers of",
                            script_find_quoted(checking->source, name));
    }
}

static void change_params(struct checking *checking, struct rule *rule)
{
    for (size_t i = 0; i < rule->info.params.count; i++) {
        struct rule_param *param = &rule->info.params.items[i];
        double             preset = param->number;
        bool               is_seen = false, is_there = false;

        if (param->kind != RULE_PARAM_NUMBER || preset == 0 ||
            trial_has_param(checking->trial, param->name))
            continue;
        for (size_t f = 0; f < ARRAY_COUNT(factors) && !is_seen; f++) {
            param->number = fmin(fmax(preset * factors[f], param->min), param->max);
            is_seen =
                param->number != preset && is_noticed(rule, &(struct change) { 0 }, &is_there);
        }
        param->number = preset;
        if (!is_seen)
            report_untested(checking, rule, param->name, "parameter",
                            script_find_key(checking->source, param->name));
    }
}

static void check_examples(struct checking *checking, struct rule *rule)
{
    const struct rule_trial *trial = checking->trial;
    bool has_fired = trial && trial->has_fired, has_kept_quiet = trial && trial->has_kept_quiet;
    bool has_example = true;

    for (int number = 1; has_example; number++) {
        struct arena   scratch = { 0 };
        struct example example;
        bool           is_found = false;
        const char    *fault = example_read(rule, number, &scratch, &example, &has_example);

        if (has_example) {
            if (!fault)
                fault = example_run(rule, &example, &scratch, &is_found);
            if (fault)
                report_fault(checking, rule, number, &example, fault);
            has_fired = has_fired || is_found;
            has_kept_quiet = has_kept_quiet || !is_found;
        }
        arena_free(&scratch);
    }
    if (!has_fired)
        report_fault(checking, rule, 0, NULL, "has no example that fires");
    if (!has_kept_quiet)
        report_fault(checking, rule, 0, NULL, "has no example that keeps quiet");
}

/* Times and sizes that may be anything test nothing. */
static void check_trial(struct checking *checking, const struct rule *rule)
{
    if (!checking->trial || !checking->trial->is_changed || checking->trial->is_noticed)
        return;
    checking->checked->untested_count++;
    script_line_print(checking->report, rule->info.file, checking->source,
                      script_find_quoted(checking->source, rule->info.id),
                      "untested: every fixture holds with its times and sizes halved and doubled");
}

static void check_rule(struct checking *checking, struct rule *rule)
{
    check_examples(checking, rule);
    if (checking->checked->fault_count > 0)
        return;
    change_params(checking, rule);
    change_needs(checking, rule);
    check_trial(checking, rule);
}

/* The rules of a folder, checked in another process, an answer each. */
struct check_all {
    const struct rule_set    *set;
    const struct rule_trials *trials;
    struct text              *report;
    struct rules_checked     *checked;
};

static void report_error(const struct check_all *all, const struct rule *rule, const char *error)
{
    all->checked->fault_count++;
    script_error_print(all->report, rule->info.file, rule->script, error);
}

static void code_answer(struct coder *coder, struct rules_checked *checked, const char **report)
{
    code_uint32(coder, &checked->fault_count);
    code_uint32(coder, &checked->untested_count);
    code_text(coder, report, true);
}

static void check_apart(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    const struct check_all *all = batch->context;
    const struct rule      *wanted = &all->set->rules.items[item];
    struct rules_checked    checked = { 0 };
    struct text             report = { .arena = coder->out.arena };
    struct checking         checking = { .arena = coder->out.arena,
                                         .report = &report,
                                         .checked = &checked,
                                         .source = wanted->script,
                                         .trial = trial_find(all->trials, wanted->info.id) };
    struct rule             rule;
    struct err              err = { 0 };

    text_add(&report, STR(""));
    if (wanted->error)
        rule = *wanted;
    else if (!rule_load(&rule, wanted->info.file, wanted->script, batch->limits, checking.arena,
                        &err))
        rule.error = err.text;
    if (rule.error) {
        checked.fault_count++;
        script_error_print(&report, wanted->info.file, wanted->script, rule.error);
    } else {
        check_rule(&checking, &rule);
    }
    code_answer(coder, &checked, &(const char *) { report.data });
    rule_free(&rule);
}

static bool take_answer(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    const struct check_all *all = batch->context;
    struct rules_checked    checked = { 0 };
    const char             *report = "";

    (void)item;
    code_answer(coder, &checked, &report);
    if (!coder_is_done(coder))
        return false;
    all->checked->fault_count += checked.fault_count;
    all->checked->untested_count += checked.untested_count;
    text_add(all->report, str_from(report));
    return true;
}

static void take_failure(const struct guest_batch *batch, size_t item, const char *message)
{
    const struct check_all *all = batch->context;

    report_error(all, &all->set->rules.items[item], message);
}

static const char *file_checked(const struct guest_batch *batch, size_t item)
{
    return ((const struct check_all *)batch->context)->set->rules.items[item].info.file;
}

bool rules_check(const char *directory, const struct rule_trials *trials, struct arena *arena,
                 struct text *report, struct rules_checked *checked, struct err *err)
{
    struct rule_set    set = { 0 };
    struct check_all   all = { &set, trials, report, checked };
    struct guest_batch batch = { .limits = &rule_default_limits,
                                 .arena = arena,
                                 .context = &all,
                                 .work = check_apart,
                                 .take = take_answer,
                                 .fail = take_failure,
                                 .file = file_checked,
                                 .item_ns = RULE_NS,
                                 .together_ns = FOLDER_NS };
    bool               is_done =
        rule_set_add_directory(&set, directory, "checked", &rule_default_limits, arena, err);

    if (is_done) {
        batch.count = set.rules.count;
        checked->rule_count += (uint32_t)set.rules.count;
        guest_batch_run(&batch);
        checked->is_unfiltered |= set.is_unfiltered || !batch.is_filtered;
    }
    rule_set_free(&set);
    return is_done;
}
