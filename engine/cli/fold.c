#include "cli/fold.h"

enum { FURTHER_IN = 4 };

static size_t skip_blanks(struct str line, size_t at)
{
    while (at < line.len && line.data[at] == ' ')
        at++;
    return at;
}

static size_t end_of_word(struct str line, size_t at)
{
    while (at < line.len && line.data[at] != ' ')
        at++;
    return at;
}

/* Where the words end that fit behind `from`: after the first one even where it does not. */
static size_t fitting_end(struct str line, size_t from, size_t width)
{
    size_t columns = 0, end = from;

    while (end < line.len) {
        size_t next = end_of_word(line, skip_blanks(line, end));

        columns += text_width(str_slice(line, end, next));
        if (columns > width && skip_blanks(line, from) < end)
            break;
        end = next;
    }
    return end;
}

static void fold_line(struct str line, size_t width, struct text *folded)
{
    size_t indent = skip_blanks(line, 0) + FURTHER_IN, at;

    if (text_width(line) <= width) {
        text_add(folded, line);
        return;
    }
    if (indent > width / 2) /* deep lines have room left */
        indent = FURTHER_IN;
    at = fitting_end(line, 0, width);
    text_add(folded, str_slice(line, 0, at));
    for (at = skip_blanks(line, at); at < line.len;) {
        size_t end = fitting_end(line, at, width - indent);

        text_add_byte(folded, '\n');
        text_fill(folded, ' ', indent);
        text_add(folded, str_slice(line, at, end));
        at = skip_blanks(line, end);
    }
}

void fold_text(struct str text, size_t width, struct text *folded)
{
    while (text.len) {
        size_t end = str_find(text, '\n');

        fold_line(str_slice(text, 0, end), width, folded);
        if (end < text.len)
            text_add_byte(folded, '\n');
        text = str_slice(text, end + 1, text.len);
    }
}
