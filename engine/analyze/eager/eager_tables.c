#include "analyze/eager/eager_tables.h"

#include "base/vec.h"

/* Rows for each lookup, from which a gradient is of rows that nobody looked up. */
static const double TALL = 10;

bool eager_tables_add(struct eager_tables *tables, const struct profile *profile,
                      const struct eager_call *call, struct arena *arena)
{
    const struct tensor *table = profile_op_input(profile, call->op, 0);
    const struct tensor *ids = table ? profile_op_input(profile, call->op, 1) : NULL;
    struct eager_table   found = { .lookups = 1 };

    if (!ids || table->rank != 2 || ids->rank < 0)
        return true;
    found.rows = table->dims[0];
    found.width = table->dims[1];
    for (int8_t i = 0; i < ids->rank; i++)
        found.lookups *= (double)ids->dims[i];
    for (size_t i = 0; i < tables->list.count; i++) {
        struct eager_table *known = &tables->list.items[i];

        if (known->rows != found.rows || known->width != found.width)
            continue;
        if (found.lookups > known->lookups)
            known->lookups = found.lookups;
        return true;
    }
    return vec_push(&tables->list, arena, found);
}

static double handed_over(const struct eager_table *table, const struct profile *profile,
                          const struct eager_calls *calls)
{
    double count = 0;

    for (uint32_t op = 0; op < profile->ops.count; op++) {
        const struct tensor *gradient = calls->handed[op] ? profile_op_input(profile, op, 0) : NULL;

        if (gradient && gradient->rank == 2 && gradient->dims[0] == table->rows &&
            gradient->dims[1] == table->width)
            count += calls->handed[op];
    }
    return count / (double)calls->windows.count;
}

struct eager_tables_sum eager_tables_sum(const struct eager_tables *tables,
                                         const struct profile      *profile,
                                         const struct eager_calls  *calls)
{
    struct eager_tables_sum sum = { 0 };

    for (size_t i = 0; i < tables->list.count; i++) {
        const struct eager_table *table = &tables->list.items[i];
        double                    rows = (double)table->rows, count;

        if (rows > sum.rows || (rows == sum.rows && table->lookups > sum.lookups)) {
            sum.rows = rows;
            sum.lookups = table->lookups;
        }
        if (rows < TALL * table->lookups)
            continue;
        count = handed_over(table, profile, calls);
        sum.elements += (count > 0 ? count : 1) * rows * (double)table->width;
    }
    return sum;
}
