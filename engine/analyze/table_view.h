/*
 * table_view: which rows and columns of a table of facts someone asked for, in which order. Every
 * command and output that shows a table goes through it.
 */
#ifndef TFPROF_ANALYZE_TABLE_VIEW_H
#define TFPROF_ANALYZE_TABLE_VIEW_H

#include "analyze/facts.h"
#include "base/err.h"
#include "base/option.h"

struct table_query {
    struct option_list columns; /* names; none: all */
    struct option_list where;   /* "total_ns>1ms", "name~gemm"; all of them hold */
    const char        *sort;    /* a column, "-" before it turns the order; NULL: the table's own */
    int64_t            top;     /* rows; 0: all */
};
struct table_view {
    const struct facts *facts;
    const struct table *table;
    size_t             *columns; /* of the table, in the order asked for */
    size_t              column_count;
    size_t             *rows;    /* of the table */
    size_t              row_count, matched_count; /* shown, and before top */
};

/* Numbers sort from the largest, texts from A; rows without the value come last, equal ones keep the
 * table's order. ERR_USAGE names the columns there are. */
bool table_view_make(struct table_view *view, const struct facts *facts, const struct table *table,
                     const struct table_query *query, struct arena *arena, struct err *err);
/* Of a cell; NaN: this row has no such value. */
double     table_view_number(const struct table_view *view, size_t row, size_t column);
/* Of a cell in a column of texts; empty where there is none. */
struct str table_view_text(const struct table_view *view, size_t row, size_t column);
const struct column_spec *table_view_column(const struct table_view *view, size_t column);

#endif
