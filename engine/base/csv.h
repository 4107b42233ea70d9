/* csv: fields of comma-separated values (RFC 4180), safe to open in a spreadsheet. */
#ifndef TFPROF_BASE_CSV_H
#define TFPROF_BASE_CSV_H

#include "base/text.h"

/* A text as text_add_clean shows it, quoted where it must be. One that a spreadsheet would take for a formula (it begins with
 * = + - @, a tab or a return) gets an apostrophe before it. */
void csv_text(struct text *text, struct str value);
/* Shortest decimal that reads back equal; NaN is an empty field. */
void csv_number(struct text *text, double number);

#endif
