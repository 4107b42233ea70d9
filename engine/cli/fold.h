/* fold: long lines of an answer broken at blanks, for a window that would break them anywhere. */
#ifndef TFPROF_CLI_FOLD_H
#define TFPROF_CLI_FOLD_H

#include "base/text.h"

/* Adds the text to `folded`, no line of it wider than width columns unless one of its words is. What
 * is broken off stands four columns further in than the line. Other bytes than blanks at the breaks
 * are those of the text. */
void fold_text(struct str text, size_t width, struct text *folded);

#endif
