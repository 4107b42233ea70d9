/*
 * text: growing bytes, always terminated, the only printf into memory. Lives in an arena.
 * A text that ran past its arena's budget keeps what fitted and sets is_cut.
 */
#ifndef TFPROF_BASE_TEXT_H
#define TFPROF_BASE_TEXT_H

#include "base/arena.h"
#include "base/macros.h"
#include "base/str.h"

#include <stdarg.h>

struct text {
    struct arena *arena;
    char         *data; /* NULL until something was added */
    size_t        len, capacity;
    bool          is_cut;
};

void       text_add(struct text *text, struct str s);
void       text_add_byte(struct text *text, char byte);
/* What came from a profile, for a terminal or the log of a job: control characters as \x1b, those
 * that turn or break lines as \u202e, what is no UTF-8 as U+FFFD, and no "##[" or, at the
 * beginning, "::", which CI runners take for commands. */
void       text_add_clean(struct text *text, struct str s);
/* The same for lines that stand in the text already, from byte `from`: newlines and tabs stay. */
void       text_clean_lines(struct text *text, size_t from);
/* Everything that was wanted is there: nothing was cut, nor left out for want of memory. */
bool       text_is_whole(const struct text *text);
void       text_fill(struct text *text, char byte, size_t count);
void       text_print(struct text *text, const char *format, ...) CHECK_PRINTF(2, 3);
void       text_vprint(struct text *text, const char *format, va_list arguments)
    CHECK_PRINTF(2, 0);
/* With & < > " as entities of XML and HTML. */
void       text_add_xml(struct text *text, struct str s);
/* The shortest decimal that reads back equal; whole numbers below 2^53 without an exponent. */
void       text_add_exact(struct text *text, double number);
struct str text_str(const struct text *text); /* valid until the next addition */
/* Columns of a terminal that UTF-8 bytes take (wide East Asian 2, combining 0). */
size_t     text_width(struct str s);

#endif
