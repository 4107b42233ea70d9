/*
 * sequences: short runs of ops that a thread repeats many times within a step: Python loops,
 * unrolled cells, optimiser updates parameter by parameter. Every run of 2 to 10 ops is counted
 * without overlaps (linear in events); of those that explain the same ops the one that
 * covers most time stays.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/step/own_lines.h"
#include "analyze/step/window.h"
#include "base/sort.h"

#include <stdlib.h>

enum sequence_fact { COUNT, TOP_REPEATS, TOP_NS, TOP_SHARE, TOP_OPS, FACT_COUNT };
static const struct fact_spec produces[] = {
    [COUNT] = { "sequences.count", UNIT_COUNT, "different repeated sequences of ops" },
    [TOP_REPEATS] = { "sequences.top_repeats", UNIT_COUNT,
                      "repeats a step of the one with the most time" },
    [TOP_NS] = { "sequences.top_ns", UNIT_NS, "its time a step, pauses included" },
    [TOP_SHARE] = { "sequences.top_share", UNIT_RATIO, "that over the step" },
    [TOP_OPS] = { "sequences.top_ops", UNIT_NAME, "its ops" },
};
enum sequences_column {
    OPS,
    LENGTH,
    REPEATS,
    TOTAL_NS,
    OP_NS,
    GAP_NS,
    MEAN_OP_NS,
    SHARE,
    INPUT_SHARE,
    THREAD,
    SOURCE_FILE,
    SOURCE_LINE,
    FIRST_OP
};
static const struct column_spec columns[] = {
    [OPS] = { "ops", UNIT_NAME, "ops in order, \" > \" between" },
    [LENGTH] = { "length", UNIT_COUNT, "ops in the sequence" },
    [REPEATS] = { "repeats", UNIT_COUNT, "times a step" },
    [TOTAL_NS] = { "total_ns", UNIT_NS, "from first to last op, a step" },
    [OP_NS] = { "self_ns", UNIT_NS, "inside its ops, a step" },
    [GAP_NS] = { "gap_ns", UNIT_NS, "between its ops, a step" },
    [MEAN_OP_NS] = { "mean_op_ns", UNIT_NS, "mean duration of one of its ops" },
    [SHARE] = { "share", UNIT_RATIO, "total time over the step" },
    [INPUT_SHARE] = { "input_share", UNIT_RATIO, "of its repeats, those inside of a loader" },
    [THREAD] = { "thread", UNIT_NAME, "thread it runs on" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the first op with a known line" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [FIRST_OP] = { "first_op", UNIT_NAME, "full name of its first op" },
};
static const struct table_spec tables[] = {
    { "sequences", "repeated sequences of ops", columns, ARRAY_COUNT(columns) },
};
enum {
    SHORTEST = 2,
    LONGEST = 10,
    FEWEST_REPEATS = 8, /* a step */
    MOST_CANDIDATES = 24,
    MOST_ROWS = 40,
};

struct item {        /* one op in the order of its thread */
    uint32_t symbol; /* type of the op; unique at the borders of windows */
    uint32_t event;
    int64_t  start_ns, end_ns;
    bool     is_border, is_taken;
    bool     is_input; /* what a loader does to give the next batch */
};
struct candidate {
    uint32_t first; /* item where it was first seen */
    uint32_t length, count;
    uint32_t next; /* no occurrence may start before this item: occurrences do not overlap */
    int64_t  total_ns;
};
struct visited {       /* an event of the thread */
    uint32_t item;     /* item that it made, NO_ID none */
    uint32_t dispatch; /* the outermost dispatch around it, or itself; NO_ID none */
    bool     is_in_op; /* or is one */
    bool     is_in_input;
};
struct run_count {
    uint32_t row;   /* of its candidate; NO_ID: it has none */
    uint32_t count; /* places where it begins, others' overlapped ones too */
};
struct counting {       /* runs of one length */
    struct id_map rows; /* of runs, by that of all items but the last, and the last one */
    VEC(struct run_count) runs;
    uint32_t length;
};
struct miner {
    struct study         *study;
    const struct windows *windows;
    struct table         *table;
    const bool           *is_user; /* by row of profile->sources */
    struct arena          scratch; /* of one thread */
    VEC(struct item) items;
    struct visited *visited; /* by event, from first_event on */
    uint32_t        first_event;
    VEC(struct candidate) candidates;
    uint32_t *run_of; /* by item: what begins there and comes often enough; NO_ID: nothing */
};

/* What an event is called in a sequence: op types, and for eager execution the op it runs. Calls of
 * TensorFlow's C interface say nothing of their own. NO_ID: no part of any sequence. */
static uint32_t symbol_of(const struct profile *profile, uint32_t event, bool *is_op)
{
    const struct activity *activity = event_activity(profile, event);
    int64_t                eager_op;

    *is_op = activity->kind == ACTIVITY_OP;
    if (*is_op)
        return activity->op != NO_ID ? profile->ops.items[activity->op].type : activity->name;
    if (activity->kind != ACTIVITY_DISPATCH)
        return NO_ID;
    if (profile_stat(profile, STAT_EAGER_OP, event, &eager_op)) {
        *is_op = true;
        return (uint32_t)eager_op;
    }
    if (str_starts(profile_str(profile, activity->name), STR("TFE_")))
        return NO_ID;
    return activity->name;
}

/* A dispatch stands for its op only when nothing more telling runs inside it. */
static void drop_dispatch(struct miner *miner, uint32_t event)
{
    struct visited *dispatch = &miner->visited[event - miner->first_event];

    if (dispatch->item != NO_ID)
        miner->items.items[dispatch->item].symbol = NO_ID;
    dispatch->item = NO_ID;
}

static bool visit(struct miner *miner, uint32_t event, size_t *window)
{
    const struct profile *profile = miner->study->profile;
    int64_t               start_ns = event_start_ns(profile, event);
    uint32_t              around = miner->study->around[event];
    struct item           item = { .event = event,
                                   .start_ns = start_ns,
                                   .end_ns = event_end_ns(profile, event) };
    struct visited       *own = &miner->visited[event - miner->first_event];
    size_t                here;
    bool                  is_op;

    *own = around == NO_ID ? (struct visited) { .item = NO_ID, .dispatch = NO_ID }
                           : miner->visited[around - miner->first_event];
    own->item = NO_ID;
    own->is_in_input |= event_activity(profile, event)->kind == ACTIVITY_INPUT_WAIT;
    item.is_input = own->is_in_input;
    item.symbol = symbol_of(profile, event, &is_op);
    if (own->is_in_op || item.symbol == NO_ID || (!is_op && own->dispatch != NO_ID))
        return true;
    here = windows_find(miner->windows, start_ns);
    if (here != SIZE_MAX) {
        struct item border = { .is_border = true };

        if (own->dispatch != NO_ID)
            drop_dispatch(miner, own->dispatch);
        if (here != *window && !vec_push(&miner->items, &miner->scratch, border))
            return false;
        *window = here;
        own->item = (uint32_t)miner->items.count;
        if (!vec_push(&miner->items, &miner->scratch, item))
            return false;
    }
    own->is_in_op = is_op;
    if (!is_op)
        own->dispatch = event;
    return true;
}

static bool collect(struct miner *miner, const struct timeline *timeline)
{
    size_t window = SIZE_MAX, kept = 0;

    miner->first_event = timeline->first_event;
    miner->visited = arena_new_array(&miner->scratch, struct visited, timeline->event_count);
    if (!miner->visited)
        return false;
    for (uint32_t j = 0; j < timeline->event_count; j++)
        if (!visit(miner, timeline->first_event + j, &window))
            return false;
    for (size_t i = 0; i < miner->items.count; i++)
        if (miner->items.items[i].symbol != NO_ID)
            miner->items.items[kept++] = miner->items.items[i];
    miner->items.count = kept;
    return true;
}

static bool is_equal_run(const struct item *a, const struct item *b, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (a[i].symbol != b[i].symbol)
            return false;
    return true;
}

/* Runs that repeat a shorter one say nothing that the shorter one does not. */
static bool is_primitive(const struct item *items, uint32_t length)
{
    for (uint32_t period = 1; period <= length / 2; period++)
        if (is_equal_run(items, items + period, length - period))
            return length == SHORTEST; /* "a a" is how a loop over one op shows */
    return true;
}

/* Counts what begins at an item: the run there that is one shorter, and the next item. false: no
 * room. */
static bool count_run(struct miner *miner, struct arena *scratch, struct counting *counting,
                      uint32_t i)
{
    const struct item *items = miner->items.items;
    uint32_t           length = counting->length;
    uint64_t           key = (uint64_t)miner->run_of[i] << 32 | items[i + length - 1].symbol;
    uint32_t           run = id_map_get(&counting->rows, key);
    struct candidate  *found;

    if (run == NO_ID) {
        struct candidate candidate = { .first = i, .length = length };
        struct run_count fresh = { .row = NO_ID };

        run = (uint32_t)counting->runs.count;
        if (is_primitive(&items[i], length)) {
            fresh.row = (uint32_t)miner->candidates.count;
            if (!vec_push(&miner->candidates, &miner->scratch, candidate))
                return false;
        }
        if (!vec_push(&counting->runs, scratch, fresh) || !id_map_put(&counting->rows, key, run))
            return false;
    }
    miner->run_of[i] = run;
    counting->runs.items[run].count++;
    if (counting->runs.items[run].row == NO_ID)
        return true;
    found = &miner->candidates.items[counting->runs.items[run].row];
    if (i < found->next)
        return true;
    found->count++;
    found->next = i + length;
    found->total_ns += items[i + length - 1].end_ns - items[i].start_ns;
    return true;
}

/* Of a run that comes often enough all parts do: those that are one item longer begin where two
 * that come so often begin one behind the other. */
static bool count_length(struct miner *miner, struct arena *scratch, uint32_t length,
                         uint64_t fewest)
{
    struct counting counting = { .rows.arena = scratch, .length = length };
    uint32_t        count = (uint32_t)miner->items.count, *run_of = miner->run_of;

    for (uint32_t i = 0; i < count; i++) {
        if (run_of[i + 1] == NO_ID)
            run_of[i] = NO_ID;
        if (run_of[i] != NO_ID && !count_run(miner, scratch, &counting, i))
            return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (run_of[i] != NO_ID && counting.runs.items[run_of[i]].count < fewest)
            run_of[i] = NO_ID;
    return true;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    uint64_t                left_covers = (uint64_t)left->count * left->length;
    uint64_t                right_covers = (uint64_t)right->count * right->length;

    return IN_ORDER(COMPARE(right_covers, left_covers), COMPARE(left->length, right->length),
                    COMPARE(left->first, right->first));
}

/* Occurrences of a candidate among the items no other sequence has taken, summed up. */
struct found_sequence {
    uint32_t first, length, count, source;
    uint32_t inputs; /* of `count`, those of a loader */
    double   total_ns, op_ns;
};

/* What the op itself says, or the innermost line of the user's around it. */
static uint32_t line_of(const struct miner *miner, uint32_t event)
{
    uint32_t source = event_activity(miner->study->profile, event)->source;

    return source != NO_ID ? source : own_line(miner->study, miner->is_user, event);
}

static struct found_sequence take(struct miner *miner, const struct candidate *candidate)
{
    struct item          *items = miner->items.items;
    struct found_sequence found = { .first = candidate->first,
                                    .length = candidate->length,
                                    .source = NO_ID };

    for (uint32_t i = candidate->first; i + candidate->length <= miner->items.count;) {
        bool is_free = is_equal_run(&items[candidate->first], &items[i], candidate->length);

        for (uint32_t j = 0; is_free && j < candidate->length; j++)
            is_free = !items[i + j].is_taken;
        if (!is_free) {
            i++;
            continue;
        }
        found.count++;
        found.inputs += items[i].is_input;
        found.total_ns += (double)(items[i + candidate->length - 1].end_ns - items[i].start_ns);
        for (uint32_t j = 0; j < candidate->length; j++) {
            items[i + j].is_taken = true;
            found.op_ns += (double)(items[i + j].end_ns - items[i + j].start_ns);
            if (found.source == NO_ID)
                found.source = line_of(miner, items[i + j].event);
        }
        i += candidate->length;
    }
    return found;
}

static uint32_t name_sequence(struct miner *miner, const struct found_sequence *found)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    uint32_t     name;

    for (uint32_t i = 0; i < found->length; i++) {
        struct str symbol =
            profile_str(miner->study->profile, miner->items.items[found->first + i].symbol);

        text_print(&text, "%s%.*s", i > 0 ? " > " : "", STR_ARG(symbol));
    }
    name = facts_name(&miner->study->facts, text_str(&text));
    arena_free(&scratch);
    return name;
}

static bool add_row(struct miner *miner, const struct timeline *timeline,
                    const struct found_sequence *found)
{
    const struct profile *profile = miner->study->profile;
    struct table         *table = miner->table;
    double                steps = (double)miner->windows->count;
    size_t                row = table_add(table, miner->study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, OPS, row, name_sequence(miner, found));
    emit_number(table, LENGTH, row, found->length);
    emit_number(table, REPEATS, row, found->count / steps);
    emit_number(table, TOTAL_NS, row, found->total_ns / steps);
    emit_number(table, OP_NS, row, found->op_ns / steps);
    emit_number(table, GAP_NS, row, (found->total_ns - found->op_ns) / steps);
    emit_number(table, MEAN_OP_NS, row, found->op_ns / found->count / found->length);
    emit_number(table, SHARE, row, found->total_ns / (double)miner->windows->total_ns);
    emit_number(table, INPUT_SHARE, row, (double)found->inputs / found->count);
    emit_name(table, THREAD, row, timeline->name);
    emit_name(table, FIRST_OP, row,
              event_activity(profile, miner->items.items[found->first].event)->name);
    emit_source(profile, table, SOURCE_FILE, row, found->source);
    return true;
}

static bool mine(struct miner *miner, const struct timeline *timeline)
{
    uint64_t fewest = (uint64_t)FEWEST_REPEATS * miner->windows->count;
    size_t   kept = 0;

    miner->run_of = arena_new_array(&miner->scratch, uint32_t, miner->items.count + 1);
    if (!miner->run_of)
        return false;
    for (size_t i = 0; i < miner->items.count; i++)
        miner->run_of[i] = miner->items.items[i].is_border ? NO_ID : miner->items.items[i].symbol;
    miner->run_of[miner->items.count] = NO_ID;
    for (uint32_t length = SHORTEST; length <= LONGEST; length++) {
        struct arena scratch = { 0 };
        size_t       first = kept;
        bool         is_counted;

        miner->candidates.count = kept;
        is_counted = count_length(miner, &scratch, length, fewest);
        arena_free(&scratch);
        if (!is_counted)
            return false;
        for (size_t i = first; i < miner->candidates.count; i++)
            if (miner->candidates.items[i].count >= fewest)
                miner->candidates.items[kept++] = miner->candidates.items[i];
    }
    if (kept > 1)
        qsort(miner->candidates.items, kept, sizeof *miner->candidates.items, compare_candidates);
    for (size_t i = 0; i < kept && i < MOST_CANDIDATES && miner->table->row_count < MOST_ROWS;
         i++) {
        struct found_sequence found = take(miner, &miner->candidates.items[i]);

        if (found.count >= fewest && !add_row(miner, timeline, &found))
            return false;
    }
    return true;
}

static bool mine_all(struct miner *miner)
{
    const struct profile *profile = miner->study->profile;
    bool                  is_mined = true;

    for (size_t i = 0; is_mined && i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != miner->windows->host || timeline->kind != TIMELINE_THREAD)
            continue;
        miner->items.items = NULL;
        miner->candidates.items = NULL;
        miner->items.count = miner->items.capacity = 0;
        miner->candidates.count = miner->candidates.capacity = 0;
        is_mined = collect(miner, timeline) && mine(miner, timeline);
        arena_free(&miner->scratch);
    }
    return is_mined;
}

static bool set_facts(struct study *study, const struct table *table)
{
    size_t top = 0;

    for (size_t row = 1; row < table->row_count; row++)
        if (table->columns[TOTAL_NS][row] > table->columns[TOTAL_NS][top])
            top = row;
    if (!facts_set(&study->facts, &produces[COUNT], (double)table->row_count))
        return false;
    if (table->row_count == 0)
        return facts_absent(&study->facts, "sequences.", NULL,
                            "no thread repeats a sequence of ops %d times a step", FEWEST_REPEATS);
    return facts_set(&study->facts, &produces[TOP_REPEATS], table->columns[REPEATS][top]) &&
           facts_set(&study->facts, &produces[TOP_NS], table->columns[TOTAL_NS][top]) &&
           facts_set(&study->facts, &produces[TOP_SHARE], table->columns[SHARE][top]) &&
           facts_set(&study->facts, &produces[TOP_OPS], table->columns[OPS][top]);
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct windows windows;
    struct miner   miner = { .study = study, .windows = &windows };
    bool           is_done;

    if (study->profile->event_count == 0)
        return (facts_absent(&study->facts, "sequences|sequences.", NULL,
                             "the recording has no timeline")) ||
               emit_limit("repeated sequences of ops", err);
    miner.table = facts_table(&study->facts, &tables[0]);
    miner.is_user = profile_user_sources(study->profile, &scratch);
    is_done = miner.table && miner.is_user && windows_make_called(study, &scratch, &windows) &&
              mine_all(&miner) && set_facts(study, miner.table);
    arena_free(&scratch);
    return is_done || emit_limit("repeated sequences of ops", err);
}

const struct analysis analysis_sequences = {
    .name = "sequences",
    .summary = "short sequences of ops that repeat within a step",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
