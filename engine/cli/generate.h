/* generate: the man page and shell completions, from the tables of commands and options; the list of
 * facts, from those of the analyses; the rule API, from its own. */
#ifndef TFPROF_CLI_GENERATE_H
#define TFPROF_CLI_GENERATE_H

#include "base/text.h"

struct command;

void generate_man(struct text *text); /* tfprof.1 */
void generate_man_of(struct text *text, const struct command *command); /* tfprof-NAME.1 */
void generate_bash(struct text *text);
void generate_zsh(struct text *text);
void generate_fish(struct text *text);
void generate_facts(struct text *text); /* docs/facts.md */
void generate_annotations(struct text *text); /* share/tfprof/lua/tfprof.lua */
void generate_rule_api(struct text *text);    /* docs/rule-api.md */

#endif
