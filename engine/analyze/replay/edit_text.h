/*
 * edit_text: edits as text, so that a finding can show what it was priced by and anyone can try it:
 *     scale parts=host kinds=dispatch name=.*Foo factor=0.5
 * The kind comes first; what is not said means "any", or 0. A value with a blank or a double quote
 * stands in double quotes, where a quote is written twice.
 */
#ifndef TFPROF_ANALYZE_EDIT_TEXT_H
#define TFPROF_ANALYZE_EDIT_TEXT_H

#include "analyze/replay/replay.h"
#include "base/text.h"

extern const char *const edit_words[EDIT_KIND_COUNT]; /* "scale", … */

void edit_print(const struct edit *edit, struct text *text);
/* ERR_USAGE with what was expected. Patterns live in `arena` and were not compiled yet. */
bool edit_scan(struct edit *edit, struct str text, struct arena *arena, struct err *err);

#endif
