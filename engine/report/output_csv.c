/* output_csv: tables as comma-separated values. */
#include "report/output.h"
#include "report/table_report.h"

const struct output output_csv = {
    .name = "csv",
    .summary = "comma-separated values, for spreadsheets",
    .table = table_csv,
};
