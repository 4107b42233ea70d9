/* generate: the man page and shell completions, from the tables of commands and options. */
#ifndef TFPROF_CLI_GENERATE_H
#define TFPROF_CLI_GENERATE_H

#include "base/text.h"

void generate_man(struct text *text);
void generate_bash(struct text *text);
void generate_zsh(struct text *text);
void generate_fish(struct text *text);

#endif
