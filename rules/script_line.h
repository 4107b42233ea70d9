/* script_line: where something stands in a rule's script, and a message with that line. */
#ifndef TFPROF_RULES_SCRIPT_LINE_H
#define TFPROF_RULES_SCRIPT_LINE_H

#include "base/str.h"
#include "base/text.h"

#include <stdint.h>

/* "file:line:column: message", the line, and a mark under the place. `at`: offset in the script;
 * beyond its end the message stands alone. */
void script_line_print(struct text *report, const char *file, struct str script, size_t at,
                       const char *message);
/* The same of a message "file:line: …" that Lua made, or "file: …": at what it quotes or names. */
void   script_error_print(struct text *report, const char *file, struct str script,
                          const char *error);
size_t script_find_quoted(struct str script, const char *text); /* behind the quote; SIZE_MAX: nowhere */
size_t script_find_key(struct str script, const char *key);     /* before "="; SIZE_MAX: nowhere */

#endif
