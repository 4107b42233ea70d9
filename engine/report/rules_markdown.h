/* rules_markdown: a page of documentation made from what rules say of themselves. */
#ifndef TFPROF_REPORT_RULES_MARKDOWN_H
#define TFPROF_REPORT_RULES_MARKDOWN_H

#include "base/text.h"

struct rule_list;

void rules_markdown(const struct rule_list *list, struct text *text);

#endif
