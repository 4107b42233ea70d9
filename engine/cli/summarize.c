#include "cli/summarize.h"

#include "cli/progress.h"
#include "cli/project.h"

#include <string.h>

/* What is refused is said once, by the error. */
static bool refuse(const struct profile *profile, const char *path, enum notes_use notes,
                   struct err *err)
{
    if (notes_refuse(profile, path, err)) {
        notes_tell(profile, path, notes);
        return true;
    }
    return err_advise(err, "record again, or take it as it is with --damage accept");
}

static bool add_run(struct summary *summary, const struct summarizing *how, const char *path,
                    struct arena *arena, struct err *err)
{
    struct option_list  operand = { 0 };
    struct input_values values = *how->input;
    struct input        input;
    struct advice       advice = { 0 };
    bool                is_done, is_unfiltered;

    if (!vec_push(&operand.values, arena, path))
        return err_memory(err, "the list of runs");
    values.may_summarize = true;
    if (how->refuses_damage)
        values.notes = NOTES_KEEP;
    if (!input_load(&input, &values, &operand, err))
        return false;
    progress_stage("running rules");
    is_done = (!how->refuses_damage || refuse(&input.profile, path, how->input->notes, err)) &&
              advise_run(&input.study, how->rules, arena, &advice, err) &&
              summary_add_run(summary, path, &input.study, &advice, arena, err);
    input_free(&input);
    is_unfiltered = is_done && advice.has_guests && !advice.is_filtered;
    project_add_unfiltered(is_unfiltered, how->warnings);
    return is_done;
}

static void add_failed(const struct summary *summary, struct text *text)
{
    for (size_t i = 0; i < summary->failed.count; i++) {
        text_add(text, STR("tfprof: rule failed: "));
        text_add_clean(text, str_from(summary->failed.items[i].rule));
        text_add(text, STR(": "));
        text_add_clean(text, str_from(summary->failed.items[i].message));
        text_add_byte(text, '\n');
    }
}

bool summarize(struct summary *summary, const struct summarizing *how,
               const struct option_list *operands, struct arena *arena, struct err *err)
{
    if (operands->values.count == 0) {
        err_set(err, ERR_USAGE, "no profile given");
        return err_advise(err, "name one file or directory a run");
    }
    *summary = (struct summary) { .name = operands->values.items[0] };
    for (size_t i = 0; i < operands->values.count; i++)
        if (!add_run(summary, how, operands->values.items[i], arena, err))
            return false;
    add_failed(summary, how->warnings);
    return summary_finish(summary, arena, err);
}

bool summary_rules_hold(const struct summary *summary, const char *rule_errors, struct err *err)
{
    const struct failed_rule *first = summary_failed(summary, NULL);

    return !first || strcmp(rule_errors, "fail") != 0 ||
           err_set(err, ERR_SCRIPT, "%zu rule%s failed, the first is %s: %s", summary->failed.count,
                   summary->failed.count == 1 ? "" : "s", first->rule, first->message);
}
