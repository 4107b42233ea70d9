#include "rules/script_line.h"

#include <string.h>

void script_line_print(struct text *report, const char *file, struct str script, size_t at,
                       const char *message)
{
    size_t     number = 1, start = 0;
    struct str line;

    if (at >= script.len) {
        text_print(report, "%s: %s\n", file, message);
        return;
    }
    for (size_t i = 0; i < at; i++)
        if (script.data[i] == '\n') {
            number++;
            start = i + 1;
        }
    line = str_slice(script, start, script.len);
    line = str_slice(line, 0, str_find(line, '\n'));
    text_print(report, "%s:%zu:%zu: %s\n    ", file, number, at - start + 1, message);
    text_add(report, line);
    text_add(report, STR("\n    "));
    for (size_t i = start; i < at; i++)
        text_add_byte(report, script.data[i] == '\t' ? '\t' : ' ');
    text_add(report, STR("^\n"));
}

/* The first place of `text` with these bytes around it. */
static size_t find_between(struct str script, const char *before, const char *text,
                           const char *after)
{
    size_t before_len = strlen(before), text_len = strlen(text), after_len = strlen(after);
    size_t wanted = before_len + text_len + after_len;

    for (size_t at = 0; at + wanted <= script.len; at++)
        if (memcmp(script.data + at, before, before_len) == 0 &&
            memcmp(script.data + at + before_len, text, text_len) == 0 &&
            memcmp(script.data + at + before_len + text_len, after, after_len) == 0)
            return at + before_len;
    return SIZE_MAX;
}

size_t script_find_quoted(struct str script, const char *text)
{
    return text ? find_between(script, "\"", text, "\"") : SIZE_MAX;
}

size_t script_find_key(struct str script, const char *key)
{
    return find_between(script, "", key, " = ");
}

/* Its first byte that is no blank. */
static size_t line_start(struct str script, uint64_t line)
{
    size_t at = 0;

    for (; line > 1 && at < script.len; at++)
        line -= script.data[at] == '\n';
    while (at < script.len && (script.data[at] == ' ' || script.data[at] == '\t'))
        at++;
    return at;
}

void script_error_print(struct text *report, const char *file, struct str script, const char *error)
{
    size_t     file_len = strlen(file), at = script.len;
    struct str rest = str_slice(str_from(error), file_len + 1, strlen(error));
    uint64_t   line;

    if (str_starts(str_from(error), str_from(file)) && str_to_uint64(str_cut(&rest, ':'), &line) &&
        line > 0)
        at = line_start(script, line);
    if (at < script.len)
        script_line_print(report, file, script, at, str_trim(rest).data);
    else
        text_print(report, "%s\n", error);
}
