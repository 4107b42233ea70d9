#include "cli/error_line.h"

#include "base/file.h"

enum { LONGEST_LINE = 200, MOST_BYTES = 1 << 20 };

static struct str line_of(struct str bytes, uint32_t number)
{
    struct str line = str_cut(&bytes, '\n');

    while (number > 1 && bytes.len > 0) {
        line = str_cut(&bytes, '\n');
        number--;
    }
    return number == 1 ? line : (struct str) { 0 };
}

/* Control characters would steer the terminal. */
static void add_plain(struct text *text, struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        text_add_byte(
            text, (unsigned char)line.data[i] < 0x20 && line.data[i] != '\t' ? ' ' : line.data[i]);
}

static void add_excerpt(struct text *text, struct str line, uint32_t column)
{
    if (line.len == 0 || line.len > LONGEST_LINE || column == 0 || column > line.len + 1)
        return;
    text_add(text, STR("    "));
    add_plain(text, line);
    text_add(text, STR("\n    "));
    for (size_t i = 0; i + 1 < column; i++)
        text_add_byte(text, line.data[i] == '\t' ? '\t' : ' ');
    text_add(text, STR("^\n"));
}

void error_print(struct text *text, const struct err *err)
{
    char        line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
    struct file file = { 0 };
    struct err  ignored = { 0 };

    text_print(text, "tfprof: %s\n", err_format(err, line, sizeof line));
    if (err->code != ERR_USAGE || !err->line || !err->source[0] ||
        str_equal(str_from(err->source), STR("-")))
        return;
    if (file_open(&file, err->source, MOST_BYTES, &ignored))
        add_excerpt(text, line_of(file.bytes, err->line), err->column);
    file_close(&file);
}
