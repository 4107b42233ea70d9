#include "cli/rank_input.h"

#include "base/file.h"
#include "cli/error_line.h"
#include "cli/progress.h"
#include "ranks/job_study.h"
#include "read/read.h"
#include "read/read_paths.h"

#include <stdio.h>
#include <string.h>

enum { MOST_AT_ONCE = 32 }; /* recordings from which on each is summarized and forgotten */

struct collecting {
    const struct input_values *values;
    struct rank_records       *records;
    struct rank_record         details; /* of the rank with most weight so far */
    struct arena              *arena;
    const struct rank_share   *share; /* NULL: all, and each must be readable */
    size_t                     seen;  /* files */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
}

static bool is_summary(const char *path)
{
    enum { HEAD_BYTES = 64 };
    char head[HEAD_BYTES];

    return rank_file_is((struct str) { head, file_peek(path, head, sizeof head) });
}

static bool is_rank_file(const char *name)
{
    return *name != '.' && str_ends(str_from(name), STR(RANK_FILE_ENDING));
}

static bool holds_summaries(const char *path)
{
    struct arena scratch = { 0 };
    struct err   ignored = { 0 };
    char       **names;
    size_t       count;
    bool         is_there = false;

    if (file_list(path, &scratch, &names, &count, &ignored))
        for (size_t i = 0; i < count && !is_there; i++)
            is_there = is_rank_file(names[i]);
    arena_free(&scratch);
    return is_there;
}

bool rank_input_is(const struct option_list *operands)
{
    for (size_t i = 0; i < operands->values.count; i++) {
        const char *path = operands->values.items[i];

        if (file_is_directory(path) ? holds_summaries(path) : is_summary(path))
            return true;
    }
    return false;
}

/* Files that an operand stands for; *first: one of them. */
static size_t count_files(const char *operand, const char *run, struct arena *arena,
                          const char **first)
{
    const struct read_paths_how how = { .run = run, .is_recording = read_is_recording };
    struct read_paths           paths = { 0 };
    struct err                  ignored = { 0 };

    *first = operand;
    if (!file_is_directory(operand))
        return 1;
    if (!read_paths_find(operand, &how, arena, &paths, &ignored) || paths.list.count == 0)
        return 0;
    *first = paths.list.items[0].path;
    return paths.list.count;
}

bool rank_input_is_large(const struct input_values *values, const struct option_list *operands)
{
    struct arena scratch = { 0 };
    const char  *first;
    size_t       count = 0;
    bool         is_of_ranks = true;

    if (!values->may_summarize || values->steps || values->host || values->device ||
        values->input_format || input_has_paths(values))
        return false;
    for (size_t i = 0; i < operands->values.count; i++)
        count += count_files(operands->values.items[i], values->run, &scratch, &first);
    /* Few files are not looked into: whoever reads them does it once. */
    for (size_t i = 0; i < operands->values.count && count >= MOST_AT_ONCE && is_of_ranks; i++)
        is_of_ranks = count_files(operands->values.items[i], values->run, &scratch, &first) > 0 &&
                      read_is_of_rank(first);
    arena_free(&scratch);
    return count >= MOST_AT_ONCE && is_of_ranks;
}

bool rank_input_lacks_events(struct err *err)
{
    err_set(err, ERR_USAGE, "summaries of ranks hold no events");
    return err_advise(err, "give the recording of the rank that you want to see");
}

static bool is_before(const struct rank_record *a, const struct rank_record *b)
{
    if (a->weight != b->weight)
        return a->weight > b->weight;
    if (a->rank != b->rank)
        return (uint64_t)a->rank < (uint64_t)b->rank;
    return str_compare(a->host, b->host) < 0;
}

/* Facts and tables are the most of a summary; those of the rank that stands for the job are enough.
 */
static bool keep(struct collecting *collecting, const struct rank_records *from, struct err *err)
{
    for (size_t i = 0; i < from->items.count; i++) {
        struct rank_record record = from->items.items[i];

        if (record.half == RANK_DETAILS && collecting->details.bytes.data &&
            !is_before(&record, &collecting->details))
            continue;
        record.bytes = arena_str(collecting->arena, record.bytes);
        record.host = arena_str(collecting->arena, record.host);
        if (!record.bytes.data || !record.host.data)
            return no_memory(err);
        if (record.half == RANK_DETAILS)
            collecting->details = record;
        else if (!vec_push(&collecting->records->items, collecting->arena, record))
            return no_memory(err);
    }
    return true;
}

static bool add_summary(struct collecting *collecting, const char *path, struct err *err)
{
    struct arena        scratch = { 0 };
    struct rank_records records = { 0 };
    struct file         file;
    bool                is_done;

    if (!file_open(&file, path, (size_t)collecting->values->memory_bytes, err))
        return false;
    if (rank_file_is(file.bytes))
        is_done =
            rank_file_scan(file.bytes, &records, &scratch, err) && keep(collecting, &records, err);
    else
        is_done = err_set(err, ERR_FORMAT, "is no summary of ranks");
    if (!is_done)
        err_source(err, strcmp(path, "-") == 0 ? "standard input" : path);
    file_close(&file);
    arena_free(&scratch);
    return is_done;
}

static bool add_recording(struct collecting *collecting, const char *path, struct err *err)
{
    struct input_values values = *collecting->values;
    struct option_list  operand = { 0 };
    struct arena        scratch = { .budget_bytes = collecting->arena->budget_bytes };
    struct rank_records records = { 0 };
    struct rank_summary summary;
    struct input        input;
    bool                is_done;

    values.run = NULL;
    values.may_summarize = values.keeps_job = false;
    if (values.notes == NOTES_TELL)
        values.notes = NOTES_TELL_DAMAGE; /* that other ranks' files are missing is no news */
    if (!vec_push(&operand.values, &scratch, path) || !input_load(&input, &values, &operand, err)) {
        arena_free(&scratch);
        return err->code != ERR_NONE ? false : no_memory(err);
    }
    is_done = rank_take(&summary, &input.study, &scratch, err) &&
              rank_file_add(&summary, &records, &scratch, err) && keep(collecting, &records, err);
    input_free(&input);
    arena_free(&scratch);
    return is_done;
}

static bool is_ours(struct collecting *collecting)
{
    const struct rank_share *share = collecting->share;

    return collecting->seen++ % (share ? share->count : 1) == (share ? share->index : 0);
}

/* Who has a share of many files goes on without one that cannot be read. */
static bool goes_on(const struct collecting *collecting, struct err *err)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };

    if (!collecting->share || err->code == ERR_LIMIT)
        return false;
    error_print(&text, err);
    fprintf(stderr, "%.*s", STR_ARG(text_str(&text)));
    arena_free(&scratch);
    *err = (struct err) { 0 };
    return true;
}

static bool add_directory(struct collecting *collecting, const char *path, struct err *err)
{
    char **names;
    size_t count;

    if (!file_list(path, collecting->arena, &names, &count, err))
        return err_source(err, path);
    for (size_t i = 0; i < count; i++) {
        char *at =
            is_rank_file(names[i]) ? arena_text(collecting->arena, "%s/%s", path, names[i]) : NULL;

        if (at && is_ours(collecting) && !add_summary(collecting, at, err) &&
            !goes_on(collecting, err))
            return false;
    }
    return true;
}

/* Each file of a job is a rank. */
static bool add_recordings(struct collecting *collecting, const char *path, struct err *err)
{
    struct read_paths_how how = { .run = collecting->values->run,
                                  .is_recording = read_is_recording };
    struct read_paths     paths = { 0 };

    if (!read_paths_find(path, &how, collecting->arena, &paths, err))
        return false;
    for (size_t i = 0; i < paths.list.count; i++)
        if (is_ours(collecting) && !add_recording(collecting, paths.list.items[i].path, err) &&
            !goes_on(collecting, err))
            return false;
    return true;
}

static bool add_operand(struct collecting *collecting, const char *path, struct err *err)
{
    if (file_is_directory(path))
        return holds_summaries(path) ? add_directory(collecting, path, err)
                                     : add_recordings(collecting, path, err);
    return !is_ours(collecting) ||
           (is_summary(path) ? add_summary(collecting, path, err)
                             : add_recording(collecting, path, err)) ||
           goes_on(collecting, err);
}

bool rank_input_collect(const struct input_values *values, const struct option_list *operands,
                        const struct rank_share *share, struct rank_records *records,
                        struct arena *arena, struct err *err)
{
    struct collecting collecting = {
        .values = values, .records = records, .arena = arena, .share = share
    };

    for (size_t i = 0; i < operands->values.count; i++)
        if (!add_operand(&collecting, operands->values.items[i], err))
            return false;
    if (collecting.details.bytes.data && !vec_push(&records->items, arena, collecting.details))
        return no_memory(err);
    rank_records_settle(records);
    return true;
}

/* What was left out of the recordings before they were summarized is not there to be chosen. */
static bool check(const struct input_values *values, struct err *err)
{
    const char *option = values->steps    ? "--steps"
                         : values->host   ? "--host"
                         : values->device ? "--device"
                                          : NULL;

    if (!option)
        return true;
    err_set(err, ERR_USAGE, "%s cannot choose in summaries of ranks", option);
    return err_advise(err, "give the recording of the rank that you want to see");
}

bool rank_input_write(const struct rank_records *records, const char *path, struct arena *arena,
                      struct err *err)
{
    struct text text = { .arena = arena };

    rank_records_write(records, &text);
    return (text_is_whole(&text) ||
            err_set(err, ERR_LIMIT, "the summary does not fit the memory limit")) &&
           file_write(path ? path : "-", text_str(&text), err);
}

/* Recordings that were given as such keep their name. */
static bool tell_many(struct input *input, const struct option_list *operands)
{
    struct profile *profile = &input->profile;

    profile->name = read_short_name(profile->arena, operands->values.items[0]);
    return profile->name &&
           profile_note(profile, NULL, 1,
                        "as it has many ranks each was summarized and forgotten; why, whatif and "
                        "timeline read all of them");
}

bool rank_input_load(struct input *input, const struct input_values *values,
                     const struct option_list *operands, struct err *err)
{
    struct arena        arena = { .budget_bytes = (size_t)values->memory_bytes };
    struct rank_records records = { 0 };
    bool                is_done;

    input->profile_arena.budget_bytes = input->report_arena.budget_bytes = arena.budget_bytes;
    progress_stage("reading");
    is_done =
        check(values, err) && rank_input_collect(values, operands, NULL, &records, &arena, err);
    progress_stage("analysing");
    input->is_of_summaries = true;
    input->job = values->keeps_job ? arena_new(&input->report_arena, struct job) : NULL;
    is_done =
        is_done && (profile_init(&input->profile, &input->profile_arena) || no_memory(err)) &&
        (!values->keeps_job || input->job || no_memory(err)) &&
        job_study(&records, &input->profile, &input->study, input->job, &input->report_arena, err);
    arena_free(&arena);
    input->is_studied = is_done;
    return is_done && (rank_input_is(operands) || tell_many(input, operands) || no_memory(err));
}
