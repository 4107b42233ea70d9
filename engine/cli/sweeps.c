#include "cli/sweeps.h"

#include "analyze/schedule/event_schedule.h"
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

/* Of a graph that is there to be scheduled again, and again. */
struct sweeping {
    struct sweeps            *sweeps;
    const struct event_graph *graph;
    struct arena             *arena;
};

static bool is_worth_it(const struct whatif *whatif)
{
    return fabs(whatif->error) <= MOST_ERROR &&
           saved_ns(whatif) >= LEAST_SAVED * whatif->now.step_ns &&
           saved_ns(whatif) <= MOST_SAVED * whatif->now.step_ns;
}

/* *is_run: false where nothing is selected. */
static bool run(struct whatif *whatif, const struct sweeping *sweeping, bool *is_run,
                struct err *err)
{
    struct err why = { 0 };

    whatif->on_rank = -1;
    *is_run = whatif_run_on(whatif, sweeping->graph, sweeping->arena, &why);
    if (*is_run || why.code == ERR_USAGE || why.code == ERR_INCONCLUSIVE)
        return true;
    *err = why;
    return false;
}

/* Its last point tells whether a sweep is worth it. */
static bool add_sweep(struct sweeping *sweeping, const char *what, struct err *err)
{
    struct whatif     *whatif = arena_new(sweeping->arena, struct whatif), probe = { 0 };
    const char        *text = arena_text(sweeping->arena, "%s=0", what);
    struct whatif_edit edit;
    struct err         why = { 0 };
    bool               is_run;

    if (!whatif || !text)
        return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
    if (!whatif_edit_scan(&edit, WHATIF_SCALE, text, sweeping->arena, &why) ||
        !sweep_scan(whatif, what, sweeping->arena, &why)) {
        if (why.code == ERR_USAGE || why.code == ERR_INCONCLUSIVE)
            return true;
        *err = why;
        return false;
    }
    if (!vec_push(&probe.edits, sweeping->arena, edit))
        return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
    if (!run(&probe, sweeping, &is_run, err))
        return false;
    if (!is_run || !is_worth_it(&probe))
        return true;
    return run(whatif, sweeping, &is_run, err) &&
           (vec_push(&sweeping->sweeps->list, sweeping->arena, whatif) ||
            err_set(err, ERR_LIMIT, "the page does not fit the memory limit"));
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
static bool add_ops(struct sweeping *sweeping, size_t room, struct err *err)
{
    const struct study *study = sweeping->graph->study;
    struct arena       *arena = sweeping->arena;
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
        if (!add_sweep(sweeping, what, err))
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

static bool add_all(struct sweeping *sweeping, size_t room, struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(targets) && i < room; i++)
        if (!add_sweep(sweeping, targets[i], err))
            return false;
    return room <= ARRAY_COUNT(targets) || add_ops(sweeping, room - ARRAY_COUNT(targets), err);
}

bool sweeps_make(struct sweeps *sweeps, const struct study *study, struct arena *arena,
                 struct err *err)
{
    const struct steps_schedule *made = steps_schedule_of(study);
    struct event_graph           fresh;
    struct sweeping              sweeping = { sweeps, made ? &made->graph : &fresh, arena };
    struct arena                 scratch = { .budget_bytes = arena->budget_bytes };
    size_t                       room = room_for(study);
    bool ok = made || room == 0 || event_graph_make(&fresh, study, NO_ID, &scratch, err);

    *sweeps = (struct sweeps) { 0 };
    ok = ok && (room == 0 || !sweeping.graph->windows.count || add_all(&sweeping, room, err));
    arena_free(&scratch);
    if (sweeps->list.count > 1)
        qsort(sweeps->list.items, sweeps->list.count, sizeof *sweeps->list.items, compare);
    if (sweeps->list.count > MOST_SWEEPS)
        sweeps->list.count = MOST_SWEEPS;
    return ok;
}
