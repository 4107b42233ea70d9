#include "cli/sweeps.h"

#include "analyze/table_view.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A schedule takes about 0.1 us a node: half a second for all of them. */
enum { MOST_SWEEPS = 8, MOST_OPS = 3, MOST_NODES = 5000000 };
/* Of the step: what saves less is not worth a slider, and what saves more is nearly all there is.
 */
static const double LEAST_SAVED = 0.02, MOST_SAVED = 0.9;
static const double MOST_ERROR = 0.05; /* of the schedule without a change */

static const char *const targets[] = {
#define TARGET(id, word, bearers) word,
#include "analyze/schedule/whatif_targets.def"
};

/* How many sweeps may be made of a graph of this size. */
static size_t room_for(const struct study *study)
{
    double nodes = 0;

    facts_get(&study->facts, "replay.nodes", &nodes);
    return nodes <= 0 ? 0 : (size_t)(MOST_NODES / nodes / (SWEEP_INTERVALS + 1));
}

static double saved_ns(const struct whatif *whatif)
{
    return whatif->each[whatif->edits.count - 1].saved_ns;
}

/* What selects nothing, and recordings that cannot be scheduled, have no sweep. */
static bool add_sweep(struct sweeps *sweeps, const struct study *study, const char *what,
                      struct arena *arena, struct err *err)
{
    struct whatif *whatif = arena_new(arena, struct whatif);
    struct err     why = { 0 };

    if (!whatif)
        return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
    whatif->on_rank = -1;
    if (!sweep_scan(whatif, what, arena, &why) || !whatif_run(whatif, study, arena, &why)) {
        if (why.code == ERR_USAGE || why.code == ERR_INCONCLUSIVE)
            return true;
        *err = why;
        return false;
    }
    return fabs(whatif->error) > MOST_ERROR ||
           saved_ns(whatif) < LEAST_SAVED * whatif->now.step_ns ||
           saved_ns(whatif) > MOST_SAVED * whatif->now.step_ns ||
           vec_push(&sweeps->list, arena, whatif) ||
           err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
}

/* "op:(^|/)aten::addmm(_[0-9]+)?$": names of graphs end in the type and a number. NULL: out of
 * memory. */
static char *op_called(struct str type, struct arena *arena)
{
    struct text text = { .arena = arena };

    text_add(&text, STR("op:(^|/)"));
    for (size_t i = 0; i < type.len; i++) {
        if (strchr("\\^$.|?*+()[]{}=", type.data[i]))
            text_add_byte(&text, '\\');
        text_add_byte(&text, type.data[i]);
    }
    text_add(&text, STR("(_[0-9]+)?$"));
    return text_is_whole(&text) ? text.data : NULL;
}

/* Types of ops by their own time. */
static bool add_ops(struct sweeps *sweeps, const struct study *study, size_t room,
                    struct arena *arena, struct err *err)
{
    const struct table *table = facts_find_table(&study->facts, "op_types");
    struct table_query  query = { .sort = "self_ns", .top = MOST_OPS };
    struct table_view   view;

    if (!table)
        return true;
    if (!vec_push(&query.columns.values, arena, "type"))
        return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
    if (!table_view_make(&view, &study->facts, table, &query, arena, err))
        return false;
    for (size_t row = 0; row < view.row_count && row < room; row++) {
        char *what = op_called(table_view_text(&view, row, 0), arena);

        if (!what)
            return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
        if (!add_sweep(sweeps, study, what, arena, err))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct whatif *left = *(const struct whatif *const *)a,
                        *right = *(const struct whatif *const *)b;

    return IN_ORDER(COMPARE(saved_ns(right), saved_ns(left)), strcmp(left->sweep, right->sweep));
}

bool sweeps_make(struct sweeps *sweeps, const struct study *study, struct arena *arena,
                 struct err *err)
{
    size_t room = room_for(study);

    *sweeps = (struct sweeps) { 0 };
    for (size_t i = 0; i < ARRAY_COUNT(targets) && i < room; i++)
        if (!add_sweep(sweeps, study, targets[i], arena, err))
            return false;
    if (room > ARRAY_COUNT(targets) &&
        !add_ops(sweeps, study, room - ARRAY_COUNT(targets), arena, err))
        return false;
    if (sweeps->list.count > 1)
        qsort(sweeps->list.items, sweeps->list.count, sizeof *sweeps->list.items, compare);
    if (sweeps->list.count > MOST_SWEEPS)
        sweeps->list.count = MOST_SWEEPS;
    return true;
}
