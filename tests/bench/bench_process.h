/* bench_process: runs a program and watches it. */
#ifndef TFPROF_BENCH_PROCESS_H
#define TFPROF_BENCH_PROCESS_H

#include <stdint.h>

struct process_cost {
    double   wall_s;
    uint64_t anonymous_bytes; /* the highest RssAnon seen, looked at every few milliseconds */
    int      status;          /* exit status; 128 and the signal's number when one ended it */
};
/* Standard output goes to /dev/null. */
struct process_cost process_run(char *const *arguments);

#endif
