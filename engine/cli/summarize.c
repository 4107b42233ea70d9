#include "cli/summarize.h"

#include "cli/progress.h"
#include "cli/project.h"

static bool add_run(struct summary *summary, const struct input_values *values,
                    const struct advise_options *rules, const char *path, struct arena *arena,
                    struct err *err)
{
    struct option_list operand = { 0 };
    struct input       input;
    struct advice      advice = { 0 };
    bool               is_done;

    if (!vec_push(&operand.values, arena, path))
        return err_set(err, ERR_LIMIT, "no memory left for the list of runs");
    if (!input_load(&input, values, &operand, err))
        return false;
    progress_stage("running rules");
    is_done = advise_run(&input.study, rules, arena, &advice, err) &&
              summary_add_run(summary, path, &input.study, &advice, arena, err);
    input_free(&input);
    project_warn_guests(&advice);
    return is_done;
}

bool summarize(struct summary *summary, const struct input_values *values,
               const struct advise_options *rules, const struct option_list *operands,
               struct arena *arena, struct err *err)
{
    if (operands->values.count == 0) {
        err_set(err, ERR_USAGE, "no profile given");
        return err_advise(err, "name one file or directory a run");
    }
    *summary = (struct summary) { .name = operands->values.items[0] };
    for (size_t i = 0; i < operands->values.count; i++)
        if (!add_run(summary, values, rules, operands->values.items[i], arena, err))
            return false;
    return summary_finish(summary, arena, err);
}
