/*
 * layout: lines of plain text for people: wrapped at a width, indented, in columns, with bars.
 * Everything that came from a profile passes layout_clean, so that no control character reaches a
 * terminal. Colours never carry meaning.
 */
#ifndef TFPROF_REPORT_LAYOUT_H
#define TFPROF_REPORT_LAYOUT_H

#include "base/text.h"
#include "base/unit.h"

#include <stdbool.h>

enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_BAD, STYLE_DOUBTFUL, STYLE_GOOD };

struct layout {
    struct text  *text;
    struct arena *arena; /* for pieces of a line */
    unsigned      width;
    bool          is_colored;
};

/* Lines at the end of `text`, in its arena. */
struct layout layout_make(struct text *text, unsigned width, bool is_colored);

/* A copy on one line, as text_add_clean makes it. */
struct str layout_clean(struct arena *arena, struct str s);
struct str layout_words(const struct layout *layout, const char *text); /* the same of a text */
/* Words of `s` in lines that start at column `indent`, the first one behind `head`, which starts at
 * column `head_indent` and is followed by a blank unless empty; ends in a newline. A number and its
 * unit stay on one line. */
void layout_wrap(struct layout *layout, unsigned head_indent, const char *head, unsigned indent,
                 struct str s);
/* As layout_wrap, and `right` flush right on the last line, or on a line of its own. */
void layout_wrap_right(struct layout *layout, const char *head, unsigned indent, struct str s,
                       struct str right, enum style style);
/* Lines of `s` as they are, each indented; the first one behind `head`. */
void layout_verbatim(struct layout *layout, unsigned head_indent, const char *head, unsigned indent,
                     struct str s);
/* `s` and blanks up to `width` columns. */
void layout_pad(struct layout *layout, struct str s, unsigned width);
void layout_pad_left(struct layout *layout, struct str s, unsigned width);
/* Two blanks and `share` of `cells` as a bar in eighths of a cell; nothing for less than one. */
void layout_bar(struct layout *layout, double share, unsigned cells);
void layout_style(struct layout *layout, enum style style);
void layout_end(struct layout *layout);  /* back to plain */
void layout_line(struct layout *layout); /* newline */

/* The beginning of `s` and an ellipsis when it is wider than that. */
struct str layout_shorten(struct arena *arena, struct str s, size_t columns);
/* Its beginning, an ellipsis and its end: for names that share a scope and differ behind it. */
struct str layout_shorten_middle(struct arena *arena, struct str s, size_t columns);

/* "12.3 ms" in the arena. */
struct str layout_value(struct arena *arena, double value, enum unit unit);
/* "52 … 61 ms", or one value when both print alike. */
struct str layout_range(struct arena *arena, double low, double high, enum unit unit);

#endif
