/* Answers of tfprof.h: each is what the command of its name makes of the profile. */
#include "cli/answer.h"

#include "cli/terminal.h"
#include "lib/handle.h"
#include "report/tool.h"
#include "rules/advise.h"
#include "rules/catalogue.h"

#include <stdlib.h>
#include <string.h>

struct tfprof_answer {
    struct arena arena; /* of all of it */
    struct call  call;
};

/* Commands that read by themselves: what they note is no line on standard error. */
static void keep_notes(struct call *call)
{
    struct input_values *values =
        (void *)((char *)call->values + call->command->answer->input_offset);

    values->notes = NOTES_KEEP;
}

static bool make(const struct asking *asking, struct call *call, struct err *err)
{
    bool is_made;

    if (!asking_parse(asking, call, err))
        return false;
    keep_notes(call);
    asking_lock(asking);
    for (size_t i = 0; i < 2; i++)
        call->inputs[i] = asking->profiles[i] ? &asking->profiles[i]->input : NULL;
    call->shape = (struct output_options) { .width = TERMINAL_COLUMNS };
    is_made = answer_prepare(call, err) && answer_make(call, call->arena, err);
    asking_unlock(asking);
    if (is_made && !(text_is_whole(&call->text) && text_is_whole(&call->warnings)))
        return err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
    return is_made;
}

tfprof_answer *asking_answer(const struct asking *asking, tfprof_error **error)
{
    struct err     err = { 0 };
    tfprof_answer *answer = calloc(1, sizeof *answer);

    if (!answer)
        arena_out_of_memory(sizeof *answer);
    answer->call.command = asking->command;
    answer->call.arena = &answer->arena;
    if (make(asking, &answer->call, &err))
        return answer;
    tfprof_answer_free(answer);
    error_give(&err, error);
    return NULL;
}

tfprof_answer *tfprof_advise(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_advise,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

tfprof_answer *tfprof_info(tfprof_profile *profile, const char *const *options,
                           tfprof_error **error)
{
    return asking_answer(
        &(struct asking) { .command = &command_info, .profiles = { profile }, .options = options },
        error);
}

tfprof_answer *tfprof_whatif(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_whatif,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

tfprof_answer *tfprof_why(tfprof_profile *profile, const char *what, const char *const *options,
                          tfprof_error **error)
{
    return asking_answer(
        &(struct asking) {
            .command = &command_why, .subject = what, .profiles = { profile }, .options = options },
        error);
}

tfprof_answer *tfprof_explain(tfprof_profile *profile, const char *rule, const char *const *options,
                              tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_explain,
                                            .subject = rule,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

static bool make_rules(const char *const *options, struct call *call, struct err *err)
{
    struct advise_options settings = { 0 };
    struct rule_list      list = { 0 };

    if (options && options[0])
        return err_set(err, ERR_USAGE, "unknown option %s", options[0]);
    call->text = (struct text) { .arena = call->arena };
    if (!rules_list(&settings, call->arena, &list, err))
        return false;
    output_find("json")->rules(&list, &call->shape, &call->text);
    return text_is_whole(&call->text) ||
           err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
}

tfprof_answer *tfprof_rules(const char *const *options, tfprof_error **error)
{
    struct err     err = { 0 };
    tfprof_answer *answer = calloc(1, sizeof *answer);

    if (!answer)
        arena_out_of_memory(sizeof *answer);
    answer->call.arena = &answer->arena;
    if (make_rules(options, &answer->call, &err))
        return answer;
    tfprof_answer_free(answer);
    error_give(&err, error);
    return NULL;
}

tfprof_answer *tfprof_tool(tfprof_profile *profile, const char *tool, const char *const *options,
                           tfprof_error **error)
{
    struct asking asking = { .command = tool_find(tool) ? command_find(tool) : NULL,
                             .profiles = { profile },
                             .options = options };
    struct err    err = { 0 };

    if (asking.command)
        return asking_answer(&asking, error);
    err_set(&err, ERR_USAGE, "there is no tool '%s'", tool);
    error_give(&err, error);
    return NULL;
}

tfprof_answer *tfprof_table_text(tfprof_profile *profile, const char *name,
                                 const char *const *options, tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_table,
                                            .subject = name,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

tfprof_answer *tfprof_report(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_report,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

tfprof_answer *tfprof_diff(tfprof_profile *before, tfprof_profile *after,
                           const char *const *options, tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_diff,
                                            .profiles = { before, after },
                                            .options = options },
                         error);
}

tfprof_answer *tfprof_hlo(tfprof_profile *profile, const char *const *options, tfprof_error **error)
{
    return asking_answer(
        &(struct asking) { .command = &command_hlo, .profiles = { profile }, .options = options },
        error);
}

tfprof_answer *tfprof_timeline(tfprof_profile *profile, const char *const *options,
                               tfprof_error **error)
{
    return asking_answer(&(struct asking) { .command = &command_timeline,
                                            .profiles = { profile },
                                            .options = options },
                         error);
}

const char *tfprof_answer_text(const tfprof_answer *answer)
{
    return answer->call.text.data ? answer->call.text.data : "";
}

size_t tfprof_answer_bytes(const tfprof_answer *answer)
{
    return answer->call.text.len;
}

int tfprof_answer_status(const tfprof_answer *answer)
{
    return answer->call.status;
}

const char *tfprof_answer_warnings(const tfprof_answer *answer)
{
    return answer->call.warnings.data ? answer->call.warnings.data : "";
}

void tfprof_answer_free(tfprof_answer *answer)
{
    if (!answer)
        return;
    arena_free(&answer->arena);
    free(answer);
}
