/* table_answer: the rows and columns that a call of `table` asks for, for who shows them by himself. */
#ifndef TFPROF_CLI_TABLE_ANSWER_H
#define TFPROF_CLI_TABLE_ANSWER_H

#include "analyze/table_view.h"
#include "cli/command.h"

/* call->inputs[0] is read and call->subject names a table. ERR_INCONCLUSIVE: the recording has none. */
bool table_answer_view(struct call *call, struct table_view *view, struct err *err);

#endif
