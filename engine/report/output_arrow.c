/* output_arrow: tables for pandas, Polars, DuckDB and the like, as an Arrow file. */
#include "report/arrow.h"
#include "report/output.h"

const struct output output_arrow = {
    .name = "arrow",
    .summary = "tables as an Arrow file, for data frames",
    .table = arrow_file,
};
