/* table_hosts: a table of facts, summed over all hosts of a recording. */
#ifndef TFPROF_CLI_TABLE_HOSTS_H
#define TFPROF_CLI_TABLE_HOSTS_H

#include "analyze/facts.h"
#include "cli/command.h"
#include "cli/input.h"

/* The same table, whose help says which of several hosts it is of, and of how many devices the
 * mean. */
const struct table *table_hosts_one(struct call *call, const struct table *table);
/* Reads each host by itself and adds rows of equal names up: counts, times and bytes are summed,
 * means are over all calls, of least and most the least and the most; other numbers stay where all
 * hosts have the same. A table with a column "host" holds all of them as it is. NULL: the error. */
const struct table *table_hosts_sum(struct call *call, const struct input_values *values,
                                    const struct table *table, struct err *err);

#endif
