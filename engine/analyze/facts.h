/*
 * facts: what analyses found, and all that rules and renderers see of a profile: named numbers and
 * named tables with typed columns. An analysis declares what it produces (name, unit, help), and
 * docs/facts.md, `needs` checks and error messages read those declarations.
 *
 * Names are dotted, lower case, and end in what they measure: "step.median_ns", "input.wait_share".
 * No value, no fact: a fact that could not be had is absent, with a reason.
 */
#ifndef TFPROF_ANALYZE_FACTS_H
#define TFPROF_ANALYZE_FACTS_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/macros.h"
#include "base/str.h"
#include "base/unit.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct fact_spec {
    const char *name;
    enum unit   unit;
    const char *help;
};
struct column_spec {
    const char *name;
    enum unit   unit; /* UNIT_NAME: an interned text */
    const char *help;
};
struct table_spec {
    const char               *name;
    const char               *help;
    const struct column_spec *columns;
    size_t                    column_count;
};

struct fact {
    const struct fact_spec *spec;
    double                  value; /* finite; UNIT_NAME: interned id in facts->names */
};
struct table {
    const struct table_spec *spec;
    size_t                   row_count, capacity;
    double                 **columns; /* [column][row]; NaN: this row has no such value */
};
struct absence { /* why a fact or table is not there; a name prefix stands for all behind it */
    const char *name;    /* "memory." or "step.median_ns" or a table's name */
    char       *reason;  /* "no memory events in the trace" */
    char       *capture; /* what to record next time, or NULL */
};

struct facts {
    struct arena  *arena;
    struct intern *names; /* texts of UNIT_NAME values; the profile's names plus more */
    VEC(struct fact)           list;    /* always sorted by name */
    VEC(struct table *)        tables;  /* sorted by name after facts_settle */
    VEC(struct absence)        absences;
};

void          facts_init(struct facts *facts, struct arena *arena, struct intern *names);
/* spec must be a row of the running analysis' produces[] (its address is kept). NaN and infinities
 * are refused (assert). Setting twice replaces. */
bool          facts_set(struct facts *facts, const struct fact_spec *spec, double value);
bool          facts_set_text(struct facts *facts, const struct fact_spec *spec, struct str text);
struct table *facts_table(struct facts *facts, const struct table_spec *spec); /* NULL: budget */
/* A new row of NaNs; its index, or SIZE_MAX past the budget. */
size_t        table_add(struct table *table, struct arena *arena);
int           table_column(const struct table *table, const char *name); /* -1: none */
/* Names with bars between them: "copies|copies.". */
bool          facts_absent(struct facts *facts, const char *names, const char *capture,
                           const char *reason_format, ...) CHECK_PRINTF(4, 5);

const struct fact  *facts_find(const struct facts *facts, const char *name); /* NULL: absent */
bool                facts_get(const struct facts *facts, const char *name, double *value);
const struct table *facts_find_table(const struct facts *facts, const char *name);
/* Why `name` (fact or table) is absent: the most specific absence, or NULL. */
const struct absence *facts_why_absent(const struct facts *facts, const char *name);
uint32_t            facts_name(struct facts *facts, struct str text); /* interns; NO_ID: budget */
/* Adds what was found beside these facts, in an arena that lives as long, with names of its own
 * above theirs. */
bool                facts_join(struct facts *facts, const struct facts *from);
/* Whether the number is of a step, which its help then says: "kernels a step", "a step's time in …". */
bool                fact_is_of_step(const struct fact_spec *spec);
/* Where no step is used, what is of a step is absent for the reason why "step.ns" is. */
bool                facts_drop_step(struct facts *facts);
/* After the last analysis: brings tables into an order that does not depend on which ran first. */
void                facts_settle(struct facts *facts);

#endif
