/* merge: one file of many summaries of ranks. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/rank_input.h"

struct merge_values {
    const char *path;
    double      memory_bytes;
};

static const struct option options[] = {
    { .name = "output",
      .short_name = "o",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct merge_values, path),
      .choices = "FILE",
      .help = "write the summary to FILE, whole or not at all; standard output otherwise" },
    { .name = "memory",
      .kind = OPTION_NUMBER,
      .offset = offsetof(struct merge_values, memory_bytes),
      .choices = "unit:bytes",
      .help = "memory that summaries may take, as 2GiB; no limit otherwise" },
};

/* Recordings are summarized where they lie, not here. */
static bool are_summaries(const struct option_list *operands, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < operands->values.count; i++) {
        const char        *path = operands->values.items[i];
        struct option_list one = { 0 };

        if (!vec_push(&one.values, arena, path))
            return err_memory(err, "the list of summaries");
        if (!file_is_directory(path) && !file_exists(path) && path[0] != '-') {
            err_set(err, ERR_INPUT, "cannot be opened: no such file");
            return err_source(err, path);
        }
        if (rank_input_is(&one))
            continue;
        err_set(err, ERR_FORMAT, "is no summary of ranks");
        err_advise(err, "'tfprof summarize' makes one of a recording");
        return err_source(err, path);
    }
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct merge_values *values = call->values;
    const struct input_values  how = { .memory_bytes = values->memory_bytes };
    struct arena               arena = { .budget_bytes = (size_t)values->memory_bytes };
    struct rank_records        records = { 0 };
    bool                       is_done;

    if (call->operands.values.count == 0)
        return err_set(err, ERR_USAGE, "no summary given");
    is_done = are_summaries(&call->operands, &arena, err) &&
              rank_input_collect(&how, &call->operands, NULL, &records, &arena, err);
    is_done = is_done && rank_input_write(&records, values->path, &arena, err);
    arena_free(&arena);
    return is_done;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "make one file of many summaries of ranks",
    .operands = "SUMMARY...",
    .description =
        "Puts summaries, and those in directories, into one file. The same ranks give "
        "the same bytes, in whichever order and however often they were merged before, so "
        "that a job's ranks can be merged by a tree of processes.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct merge_values),
    .run = run,
};
