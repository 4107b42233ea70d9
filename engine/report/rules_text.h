/* rules_text: the catalogue of rules, and one rule explained, for people. */
#ifndef TFPROF_REPORT_RULES_TEXT_H
#define TFPROF_REPORT_RULES_TEXT_H

#include "base/text.h"

struct output_options;
struct rule_explanation;
struct rule_info;
struct rule_list;

void rules_text(const struct rule_list *list, const struct output_options *options,
                struct text *text);
void explain_text(const struct rule_explanation *explanation, const char *profile_name,
                  const struct output_options *options, struct text *text);

/* The summary is the title again, but for a full stop. */
bool rules_says_title(const struct rule_info *rule);

#endif
