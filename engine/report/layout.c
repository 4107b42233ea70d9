/* layout: wrapping, columns and bars. */
#include "report/layout.h"

#include <math.h>

struct layout layout_make(struct text *text, unsigned width, bool is_colored)
{
    return (struct layout) {
        .text = text, .arena = text->arena, .width = width, .is_colored = is_colored
    };
}

struct str layout_clean(struct arena *arena, struct str s)
{
    struct text clean = { .arena = arena };

    text_add_clean(&clean, s);
    return text_str(&clean);
}

struct str layout_words(const struct layout *layout, const char *text)
{
    return layout_clean(layout->arena, str_from(text));
}

static bool next_word(struct str *rest, struct str *word)
{
    while (rest->len > 0 && (rest->data[0] == ' ' || rest->data[0] == '\n'))
        *rest = str_slice(*rest, 1, rest->len);
    if (rest->len == 0)
        return false;
    size_t len = 0;
    while (len < rest->len && rest->data[len] != ' ' && rest->data[len] != '\n')
        len++;
    *word = str_slice(*rest, 0, len);
    *rest = str_slice(*rest, len, rest->len);
    return true;
}

/* "212.4", "(+3", "1/2": what a unit may follow. */
static bool is_number(struct str word)
{
    size_t last = word.len > 0 ? word.len - 1 : 0;

    for (size_t i = 0; i < word.len; i++) { /* "±" is none: of bytes beyond ASCII */
        unsigned char byte = (unsigned char)word.data[i];

        if (byte >= 'A' && byte < 0x80)
            return false;
    }
    return word.len > 0 && word.data[last] >= '0' && word.data[last] <= '9';
}

/* The next word with its unit where it is a number: lines do not part the two. */
static bool next_piece(struct str *rest, struct str *word)
{
    struct str after, unit;

    if (!next_word(rest, word))
        return false;
    after = *rest;
    if (!is_number(*word) || !str_starts(after, STR(" ")) || !next_word(&after, &unit) ||
        unit.data != rest->data + 1) /* a line of the text ends between them */
        return true;
    while (unit.len > 1 && str_find(STR(".,;:)"), unit.data[unit.len - 1]) < 5)
        unit.len--;
    if (unit_is_suffix(unit)) {
        word->len = (size_t)(after.data - word->data);
        *rest = after;
    }
    return true;
}

/* Puts the head and fills up to `indent`; returns the column. */
static size_t put_head(struct layout *layout, unsigned head_indent, const char *head,
                       unsigned indent)
{
    size_t column = head_indent + text_width(str_from(head));

    text_fill(layout->text, ' ', head_indent);
    text_add(layout->text, str_from(head));
    if (*head && column < indent) {
        text_fill(layout->text, ' ', indent - column);
        return indent;
    }
    if (*head) {
        text_add_byte(layout->text, ' ');
        column++;
    }
    return column;
}

/* A word wider than a line, cut where lines end; returns the column behind it. */
static size_t put_long_word(struct layout *layout, size_t column, unsigned indent, struct str word)
{
    while (word.len > 0) {
        size_t     length = str_letter_bytes(word);
        struct str character = str_slice(word, 0, length > 0 ? length : 1);
        size_t     width = text_width(character);

        if (column + width > layout->width) {
            text_add_byte(layout->text, '\n');
            text_fill(layout->text, ' ', indent);
            column = indent;
        }
        text_add(layout->text, character);
        column += width;
        word = str_slice(word, character.len, word.len);
    }
    return column;
}

/* Without the final newline; returns the column behind the last word. */
static size_t wrap_words(struct layout *layout, size_t column, unsigned indent, struct str s)
{
    struct str rest = s, word;
    bool       is_first = true;

    while (next_piece(&rest, &word)) {
        struct str shown = layout_clean(layout->arena, word);
        size_t     width = text_width(shown);
        bool       is_long = indent + width > layout->width;

        if (!is_first && !is_long && column + 1 + width > layout->width) {
            text_add_byte(layout->text, '\n');
            text_fill(layout->text, ' ', indent);
            column = indent;
        } else if (!is_first) {
            text_add_byte(layout->text, ' ');
            column++;
        }
        if (is_long) {
            column = put_long_word(layout, column, indent, shown);
        } else {
            text_add(layout->text, shown);
            column += width;
        }
        is_first = false;
    }
    return column;
}

void layout_wrap(struct layout *layout, unsigned head_indent, const char *head, unsigned indent,
                 struct str s)
{
    wrap_words(layout, put_head(layout, head_indent, head, indent), indent, s);
    layout_line(layout);
}

void layout_wrap_right(struct layout *layout, const char *head, unsigned indent, struct str s,
                       struct str right, enum style style)
{
    size_t right_width = text_width(right), column;

    layout_style(layout, STYLE_STRONG);
    column = wrap_words(layout, put_head(layout, 0, head, indent), indent, s);
    layout_end(layout);
    if (right_width > 0) {
        if (column + 2 + right_width > layout->width) {
            layout_line(layout);
            column = 0;
        }
        if (column + right_width < layout->width)
            text_fill(layout->text, ' ', layout->width - column - right_width);
        layout_style(layout, style);
        text_add(layout->text, right);
        layout_end(layout);
    }
    layout_line(layout);
}

void layout_verbatim(struct layout *layout, unsigned head_indent, const char *head, unsigned indent,
                     struct str s)
{
    struct str rest = str_trim(s);

    put_head(layout, head_indent, head, indent);
    while (rest.len > 0) {
        text_add(layout->text, layout_clean(layout->arena, str_cut(&rest, '\n')));
        layout_line(layout);
        if (rest.len > 0)
            text_fill(layout->text, ' ', indent);
    }
}

void layout_pad(struct layout *layout, struct str s, unsigned width)
{
    size_t used = text_width(s);

    text_add(layout->text, s);
    if (used < width)
        text_fill(layout->text, ' ', width - used);
}

void layout_pad_left(struct layout *layout, struct str s, unsigned width)
{
    size_t used = text_width(s);

    if (used < width)
        text_fill(layout->text, ' ', width - used);
    text_add(layout->text, s);
}

void layout_bar(struct layout *layout, double share, unsigned cells)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    double                   clipped = fmin(1, fmax(0, share));
    unsigned                 count = (unsigned)lround(clipped * cells * 8);

    if (count > 0)
        text_add(layout->text, STR("  "));
    for (unsigned i = 0; i < count / 8; i++)
        text_add(layout->text, STR("█"));
    text_add(layout->text, str_from(eighths[count % 8]));
}

void layout_style(struct layout *layout, enum style style)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "0", [STYLE_STRONG] = "1",    [STYLE_FAINT] = "2",
        [STYLE_BAD] = "31",  [STYLE_DOUBTFUL] = "33", [STYLE_GOOD] = "32",
    };

    if (layout->is_colored)
        text_print(layout->text, "\x1b[%sm", codes[style]);
}

void layout_end(struct layout *layout)
{
    layout_style(layout, STYLE_PLAIN);
}

void layout_line(struct layout *layout)
{
    text_add_byte(layout->text, '\n');
}

/* The first character off `s`. */
static struct str cut_character(struct str *s)
{
    size_t     length = str_letter_bytes(*s);
    struct str character = str_slice(*s, 0, length > 0 ? length : 1);

    *s = str_slice(*s, character.len, s->len);
    return character;
}

struct str layout_shorten(struct arena *arena, struct str s, size_t columns)
{
    struct text text = { .arena = arena };
    size_t      used = 0;

    if (text_width(s) <= columns)
        return s;
    while (s.len > 0 && used + 1 < columns) {
        struct str character = cut_character(&s);

        text_add(&text, character);
        used += text_width(character);
    }
    text_add(&text, STR("…"));
    return text_str(&text);
}

struct str layout_shorten_middle(struct arena *arena, struct str s, size_t columns)
{
    struct text text = { .arena = arena };
    size_t      tail = columns / 2, width = text_width(s);

    if (width <= columns)
        return s;
    text_add(&text, layout_shorten(arena, s, columns - tail));
    while (width > tail)
        width -= text_width(cut_character(&s));
    text_add(&text, s);
    return text_str(&text);
}

struct str layout_value(struct arena *arena, double value, enum unit unit)
{
    struct text text = { .arena = arena };

    unit_print(&text, value, unit);
    return text_str(&text);
}

struct str layout_range(struct arena *arena, double low, double high, enum unit unit)
{
    struct str from = layout_value(arena, low, unit), to = layout_value(arena, high, unit);
    size_t     from_blank = str_find_last(from, ' '), to_blank = str_find_last(to, ' ');
    bool       has_unit = /* rather than a group of digits */
        to_blank + 1 < to.len && (to.data[to_blank + 1] < '0' || to.data[to_blank + 1] > '9');
    struct text text = { .arena = arena };

    if (str_equal(from, to))
        return from;
    if (has_unit &&
        str_equal(str_slice(from, from_blank, from.len), str_slice(to, to_blank, to.len)))
        from = str_slice(from, 0, from_blank);
    text_print(&text, "%.*s … %.*s", STR_ARG(from), STR_ARG(to));
    return text_str(&text);
}
