/* page_program: what the page tells of compiled programs: instructions of the one that takes most
 * time, with what needs what. */
#ifndef TFPROF_REPORT_PAGE_PAGE_PROGRAM_H
#define TFPROF_REPORT_PAGE_PAGE_PROGRAM_H

#include "base/json_writer.h"

struct study;

/* Adds the member "program", unless the recording holds none. False: memory ran out. */
bool page_put_program(struct json_writer *json, const struct study *study);

#endif
