/* error_line: what the program says of an error before it ends. */
#ifndef TFPROF_CLI_ERROR_LINE_H
#define TFPROF_CLI_ERROR_LINE_H

#include "base/err.h"
#include "base/text.h"

/* "tfprof: what is wrong", and for a place in a file that people write that line and a mark below. */
void error_print(struct text *text, const struct err *err);

#endif
