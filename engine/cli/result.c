/* result: from option values to bytes in a file. */
#include "cli/result.h"

#include "base/file.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#include <string.h>
#include <unistd.h>

struct output_options result_options(const struct result_values *values)
{
    return (struct output_options) {
        .width = values->path ? TERMINAL_COLUMNS : terminal_width(),
        .is_colored = terminal_is_colored(values->color, !values->path),
    };
}

const struct output *result_output(const struct result_values *values)
{
    return output_find(values->format);
}

enum notes_use result_notes(const struct result_values *values)
{
    bool is_shown = !values->path && strcmp(values->format, "text") == 0 && isatty(STDOUT_FILENO);

    return is_shown ? NOTES_KEEP : NOTES_TELL_DAMAGE;
}

bool result_write(const struct result_values *values, const struct text *text, struct err *err)
{
    progress_end();
    if (!text_is_whole(text))
        return err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
    return file_write(values->path ? values->path : "-", text_str(text), err);
}
