#include "cli/run_lines.h"

#include "cli/progress.h"
#include "read/read.h"
#include "report/run_line.h"

#include <string.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the lines do not fit the memory limit");
}

static bool tell_error(const struct run_lines *how, struct run_line *line, int *status,
                       struct err *err)
{
    char text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

    line->error = arena_text(how->arena, "%s", err_format(err, text, sizeof text));
    *status = err_exit_code(err->code);
    *err = (struct err) { 0 };
    return line->error || no_memory(err);
}

static bool advise_input(const struct run_lines *how, struct input *input, struct run_line *line,
                         struct err *err)
{
    struct advice advice = { 0 };

    progress_stage("running rules");
    return advise_run(&input->study, how->rules, &input->report_arena, &advice, err) &&
           (run_line_fill(line, &advice, &input->study, how->min_share, how->arena) ||
            no_memory(err));
}

bool run_lines_read(const struct run_lines *how, const struct run_files *run, struct run_line *line,
                    int *status, struct err *err)
{
    struct input_values values = *how->input;
    struct input        input;
    bool                is_done;

    values.run = NULL; /* the files are one run's */
    *line = (struct run_line) { .name = run->name };
    if (!input_load(&input, &values, &run->files, err))
        return tell_error(how, line, status, err);
    is_done = advise_input(how, &input, line, err);
    input_free(&input);
    return is_done;
}

struct line_list {
    VEC(struct run_line) lines;
};

bool run_lines_list(const char *directory, bool is_apart, struct arena *arena,
                    struct run_list *list, struct err *err)
{
    struct read_listing listing = { 0 };

    if (!read_list(directory, arena, &listing, err))
        return false;
    /* Files of a run lie one behind the other. */
    for (size_t i = 0; i < listing.rows.count; i++) {
        const struct read_listing_row *row = &listing.rows.items[i];
        const char       *name = *row->run ? row->run : is_apart ? row->path : directory;
        struct run_files *last = list->runs.count ? list->runs.items + list->runs.count - 1 : NULL;

        if (!last || i == 0 || strcmp(last->name, name) != 0) {
            if (!vec_push(&list->runs, arena, (struct run_files) { .name = name }))
                return no_memory(err);
            last = list->runs.items + list->runs.count - 1;
        }
        if (!vec_push(&last->files.values, arena, row->path))
            return no_memory(err);
    }
    return true;
}

static bool read_runs(const struct run_lines *how, const struct run_list *runs,
                      struct line_list *list, int *status, struct err *err)
{
    for (size_t i = 0; i < runs->runs.count; i++) {
        struct run_line line;

        if (!run_lines_read(how, &runs->runs.items[i], &line, status, err))
            return false;
        if (!vec_push(&list->lines, how->arena, line))
            return no_memory(err);
    }
    return true;
}

static void print_lines(const struct line_list *list, bool is_json, struct text *text)
{
    unsigned columns = 0;

    for (size_t i = 0; i < list->lines.count; i++) {
        size_t name = text_width(str_from(list->lines.items[i].name));

        columns = name > columns ? (unsigned)name : columns;
    }
    for (size_t i = 0; i < list->lines.count; i++) {
        if (is_json)
            run_line_json(&list->lines.items[i], text);
        else
            run_line_text(&list->lines.items[i], columns, text);
    }
}

bool run_lines_print(const struct run_lines *how, const struct option_list *directories,
                     bool is_json, struct text *text, int *status, struct err *err)
{
    struct run_list  runs = { 0 };
    struct line_list list = { 0 };

    if (directories->values.count == 0)
        return err_set(err, ERR_USAGE, "--all needs a directory");
    for (size_t i = 0; i < directories->values.count; i++)
        if (!run_lines_list(directories->values.items[i], false, how->arena, &runs, err))
            return false;
    if (!read_runs(how, &runs, &list, status, err))
        return false;
    print_lines(&list, is_json, text);
    return true;
}
