#include "analyze/comm/rank_rows.h"

#include "analyze/comm/rank_times.h"
#include "analyze/emit.h"

const struct column_spec rank_columns[RANK_COLUMNS] = {
    [R_RANK] = { "rank", UNIT_COUNT, "rank" },
    [R_HOST] = { "host", UNIT_NAME, "host" },
    [R_STEP_NS] = { "step_ns", UNIT_NS, "median step" },
    [R_INPUT_NS] = { "input_ns", UNIT_NS, "waits for input a step" },
    [R_COMPUTE_NS] = { "compute_ns", UNIT_NS, "computing a step, on its devices, else in its ops" },
    [R_COMM_NS] = { "comm_ns", UNIT_NS, "time in collectives a step" },
    [R_COLLECTIVES] = { "collectives", UNIT_COUNT, "collectives matched with other ranks" },
    [R_LATE_NS] = { "late_ns", UNIT_NS, "mean lateness at a collective" },
    [R_LAST_SHARE] = { "last_share", UNIT_SHARE, "share of collectives it is the last to join" },
};

static double host_comm_ns(const struct collective_list *list, uint32_t host)
{
    double total_ns = 0;

    for (size_t i = 0; i < list->items.count; i++)
        if (list->items.items[i].host == host)
            total_ns += (double)(list->items.items[i].end_ns - list->items.items[i].start_ns);
    return total_ns;
}

bool ranks_fill(const struct rank_rows *rows, struct arena *scratch, struct table **made)
{
    struct study         *study = rows->study;
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, rows->spec);
    double                steps = (double)rows->windows->count;

    *made = table;
    for (uint32_t host = 0; table && host < profile->hosts.count; host++) {
        const struct host_lateness *lateness = &rows->list->hosts[host];
        double                      step_ns = rank_step_ns(study, host, scratch);
        size_t                      row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        if (profile->hosts.items[host].rank >= 0)
            emit_number(table, R_RANK, row, profile->hosts.items[host].rank);
        emit_name(table, R_HOST, row, profile->hosts.items[host].name);
        if (step_ns > 0)
            emit_number(table, R_STEP_NS, row, step_ns);
        emit_number(table, R_INPUT_NS, row,
                    rank_kind_ns(study, rows->windows, host, ACTIVITY_INPUT_WAIT) / steps);
        emit_number(table, R_COMPUTE_NS, row, rank_compute_ns(study, rows->windows, host) / steps);
        emit_number(table, R_COMM_NS, row, host_comm_ns(rows->list, host) / steps);
        emit_number(table, R_COLLECTIVES, row, lateness->count);
        if (lateness->count > 0) {
            emit_number(table, R_LATE_NS, row, lateness->late_ns / lateness->count);
            emit_number(table, R_LAST_SHARE, row, lateness->last_count / lateness->count);
        }
    }
    return table != NULL;
}

double ranks_spread(const struct table *table, int column)
{
    double least = 0, most = 0, sum = 0;

    for (size_t row = 0; row < table->row_count; row++) {
        double value = table->columns[column][row];

        if (!(value >= 0))
            return -1;
        least = row == 0 || value < least ? value : least;
        most = value > most ? value : most;
        sum += value;
    }
    return sum > 0 ? (most - least) * (double)table->row_count / sum : -1;
}
