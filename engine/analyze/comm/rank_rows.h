/* rank_rows: ranks side by side, as a table. */
#ifndef TFPROF_ANALYZE_RANK_ROWS_H
#define TFPROF_ANALYZE_RANK_ROWS_H

#include "analyze/comm/collective_list.h"

enum ranks_column {
    R_RANK,
    R_HOST,
    R_STEP_NS,
    R_INPUT_NS,
    R_COMPUTE_NS,
    R_COMM_NS,
    R_COLLECTIVES,
    R_LATE_NS,
    R_LAST_SHARE,
    RANK_COLUMNS
};
extern const struct column_spec rank_columns[RANK_COLUMNS];

struct rank_rows {
    struct study                 *study;
    const struct windows         *windows;
    const struct collective_list *list;
    const struct table_spec      *spec; /* of those columns */
};

/* A row a host, in their order. false: memory is exhausted. O(hosts * events). */
bool ranks_fill(const struct rank_rows *rows, struct arena *scratch, struct table **made);
/* (most - least) / mean of a column; < 0 unknown. */
double ranks_spread(const struct table *table, int column);

#endif
