/* Answers of tfprof.h whose commands read by themselves: files in, an answer out, nothing kept. */
#include "cli/view_input.h"
#include "lib/handle.h"

static tfprof_answer *ask_files(const struct command *command, const char *const *paths,
                                size_t path_count, const char *const *options, tfprof_error **error)
{
    return asking_answer(
        &(struct asking) {
            .command = command, .paths = paths, .path_count = path_count, .options = options },
        error);
}

tfprof_answer *tfprof_gate(const char *const *paths, size_t path_count, const char *const *options,
                           tfprof_error **error)
{
    return ask_files(&command_gate, paths, path_count, options, error);
}

tfprof_answer *tfprof_baseline(const char *const *paths, size_t path_count,
                               const char *const *options, tfprof_error **error)
{
    return ask_files(&command_baseline, paths, path_count, options, error);
}

tfprof_answer *tfprof_verify(const char *before, const char *after, const char *const *options,
                             tfprof_error **error)
{
    const char *const paths[] = { before, after };

    return ask_files(&command_verify, paths, 2, options, error);
}

tfprof_answer *tfprof_history(const char *directory, const char *const *options,
                              tfprof_error **error)
{
    return ask_files(&command_history, &directory, 1, options, error);
}

tfprof_answer *tfprof_summarize(const char *const *paths, size_t path_count,
                                const char *const *options, tfprof_error **error)
{
    return ask_files(&command_summarize, paths, path_count, options, error);
}

tfprof_answer *tfprof_bisect(const char *const *options, tfprof_error **error)
{
    const char *const none[] = { NULL }; /* it makes the recordings itself */

    return ask_files(&command_bisect, none, 0, options, error);
}

tfprof_answer *tfprof_view(const char *const *paths, size_t path_count, const char *view,
                           const char *const *options, tfprof_error **error)
{
    struct err err = { 0 };

    if (view_find(view))
        return ask_files(command_find(view), paths, path_count, options, error);
    err_set(&err, ERR_USAGE, "there is no view '%s'", view);
    error_give(&err, error);
    return NULL;
}

tfprof_answer *tfprof_classic_advice(const char *const *paths, size_t path_count,
                                     const char *const *options, tfprof_error **error)
{
    return ask_files(&command_classic_advice, paths, path_count, options, error);
}

tfprof_answer *tfprof_oplog(const char *const *paths, size_t path_count, const char *const *options,
                            tfprof_error **error)
{
    return ask_files(&command_oplog, paths, path_count, options, error);
}
