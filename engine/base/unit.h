/*
 * unit: what a number means, and how people read it. Facts, table columns, rule parameters and
 * evidence share this list.
 */
#ifndef TFPROF_BASE_UNIT_H
#define TFPROF_BASE_UNIT_H

#include "base/str.h"
#include "base/text.h"

enum unit {
    UNIT_NONE, /* a plain number */
    UNIT_NS,   /* nanoseconds */
    UNIT_COUNT,
    UNIT_BYTES,
    UNIT_SHARE, /* 0..1, printed as percent */
    UNIT_RATIO, /* times as much */
    UNIT_FLOPS, /* floating point operations */
    UNIT_FLOPS_PER_S,
    UNIT_BYTES_PER_S,
    UNIT_HZ,   /* per second */
    UNIT_NAME, /* interned id of a text */
    UNIT_BOOL,
    UNIT_WHEN, /* to print points of a recording by, in ns; nothing declares it */
};

const char *unit_name(enum unit unit); /* "ns", "count", "share" … as in rules and JSON */
bool        unit_from_name(struct str name, enum unit *unit);
/* For people: three significant digits, fitting unit: "212.4 ms", "28.8 %", "1.53 GB", "1 234". */
void unit_print(struct text *text, double value, enum unit unit);
/* How to print what `name` names: a share that may be above 1 is a ratio to those who compute, and when something
 * began is a time that needs more digits than how long it took. */
enum unit unit_shown(enum unit unit, const char *name);
/* "ms", "%": what unit_print may write behind a number. */
bool unit_is_suffix(struct str text);
/* JSON and machines: time in ms; the unit's name there ("ms", "bytes", "share"). */
double      unit_to_json(double value, enum unit unit);
const char *unit_json_name(enum unit unit);
/* "50us", "1.5 ms", "5%", "64KiB", "0.05" -> value in the unit; false when it is none. */
bool unit_scan(struct str text, enum unit unit, double *value);

#endif
