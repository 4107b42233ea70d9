#include "rules/script_line.h"

#include <string.h>

/* What others wrote is not to steer the terminal; tabs keep the mark below in its place. */
static void add_line(struct text *report, struct str line)
{
    bool is_first = true;

    for (struct str rest = line; is_first || rest.len > 0; is_first = false) {
        if (!is_first)
            text_add_byte(report, '\t');
        text_add_clean(report, str_cut(&rest, '\t'));
    }
    text_add_byte(report, '\n');
}

void script_line_print(struct text *report, const char *file, struct str script, size_t at,
                       const char *message)
{
    size_t     number = 1, start = 0;
    struct str line;

    if (at >= script.len) {
        text_add_clean(report, str_from(file));
        text_add(report, STR(": "));
        add_line(report, str_from(message));
        return;
    }
    for (size_t i = 0; i < at; i++)
        if (script.data[i] == '\n') {
            number++;
            start = i + 1;
        }
    line = str_slice(script, start, script.len);
    line = str_slice(line, 0, str_find(line, '\n'));
    text_add_clean(report, str_from(file));
    text_print(report, ":%zu:%zu: ", number, at - start + 1);
    add_line(report, str_from(message));
    text_add(report, STR("    "));
    add_line(report, line);
    text_add(report, STR("    "));
    for (size_t i = start; i < at; i++)
        text_add_byte(report, script.data[i] == '\t' ? '\t' : ' ');
    text_add(report, STR("^\n"));
}

/* Where these bytes stand between two quotes. */
static size_t find_quoted(struct str script, struct str text)
{
    for (size_t at = 1; at + text.len < script.len; at++) {
        char quote = script.data[at - 1];

        if ((quote == '"' || quote == '\'') && script.data[at + text.len] == quote &&
            memcmp(script.data + at, text.data, text.len) == 0)
            return at;
    }
    return SIZE_MAX;
}

size_t script_find_quoted(struct str script, const char *text)
{
    return text ? find_quoted(script, str_from(text)) : SIZE_MAX;
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

static size_t find_key(struct str script, struct str key)
{
    for (size_t at = 0; key.len > 0 && at + key.len < script.len; at++) {
        size_t end = at + key.len;

        if (memcmp(script.data + at, key.data, key.len) != 0 ||
            (at > 0 && is_name_byte(script.data[at - 1])))
            continue;
        while (end < script.len && script.data[end] == ' ')
            end++;
        if (end < script.len && script.data[end] == '=')
            return at;
    }
    return SIZE_MAX;
}

size_t script_find_key(struct str script, const char *key)
{
    return find_key(script, str_from(key));
}

/* What a message without a line is about: the text it quotes, the field it begins with, or the
 * rule. */
static size_t place_of(struct str script, struct str message)
{
    struct str rest = message, quoted, word = str_slice(message, 0, str_find(message, ' '));
    size_t     at = SIZE_MAX;

    (void)str_cut(&rest, '\'');
    quoted = str_cut(&rest, '\'');
    if (quoted.len > 0)
        at = find_quoted(script, quoted);
    if (at == SIZE_MAX)
        at = find_key(script, quoted);
    if (str_find_last(word, '.') < word.len)
        word = str_slice(word, str_find_last(word, '.') + 1, word.len);
    if (at == SIZE_MAX)
        at = find_key(script, word);
    return at == SIZE_MAX ? str_search(script, STR("rule {")) : at;
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
    size_t     file_len = strlen(file), at;
    struct str rest = str_slice(str_from(error), file_len + 1, strlen(error)), number;
    uint64_t   line;

    if (!str_starts(str_from(error), str_from(file))) {
        add_line(report, str_from(error));
        return;
    }
    number = str_cut(&rest, ':');
    if (str_to_uint64(number, &line) && line > 0) {
        at = line_start(script, line);
    } else {
        rest = str_slice(str_from(error), file_len + 1, strlen(error));
        at = place_of(script, str_trim(rest));
    }
    if (at < script.len)
        script_line_print(report, file, script, at, str_trim(rest).data);
    else
        add_line(report, str_from(error));
}
