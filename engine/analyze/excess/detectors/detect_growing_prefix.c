/* growing_prefix: the same weights get a few rows more each round, and all rows of the round before
 * again: a generation without a cache of keys and values. Needed are the new rows alone. */
#include "analyze/excess/ledger.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_ROUNDS = 3 };

struct entry { /* a product: which weights, and of how many rows */
    uint32_t unit, key;
    double   rows;
};
struct run {              /* of one key: rounds whose rows grow by the same step */
    size_t first, rounds; /* row of firsts */
    double step;
};
struct finder {
    struct ledger *ledger;
    struct intern  keys;
    VEC(struct entry) entries; /* by key, in the order of units */
    VEC(struct entry) firsts;  /* of the key looked at: the first product of each round */
};

static double rows_of(const struct tensor *tensor)
{
    double elements = tensor_elements(tensor);

    return tensor->rank >= 2 && tensor->dims[tensor->rank - 1] > 0
               ? elements / (double)tensor->dims[tensor->rank - 1]
               : 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return IN_ORDER(COMPARE(a->key, b->key), COMPARE(a->unit, b->unit));
}

static bool list_products(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *left = unit_left(ledger, unit);
        const struct tensor    *right = unit_right(ledger, unit);
        struct entry            entry = { .unit = u };

        if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->phase != UNIT_FORWARD ||
            !left || !right || right->rank != 2 || rows_of(left) <= 0)
            continue;
        int64_t key[] = { unit->type, right->dims[0], right->dims[1] };

        entry.key = intern_add(&finder->keys, (struct str) { (const char *)key, sizeof key });
        entry.rows = rows_of(left);
        if (entry.key == NO_ID || !vec_push(&finder->entries, ledger->scratch, entry))
            return false;
    }
    if (finder->entries.count)
        qsort(finder->entries.items, finder->entries.count, sizeof(struct entry), compare_entries);
    return true;
}

/* Behind the last entry that has the key of this one. */
static size_t key_end(const struct finder *finder, size_t from)
{
    size_t to = from;

    while (to < finder->entries.count &&
           finder->entries.items[to].key == finder->entries.items[from].key)
        to++;
    return to;
}

/* Fills firsts with the rounds of the key whose entries begin at `from`. */
static bool list_firsts(struct finder *finder, size_t from)
{
    size_t to = key_end(finder, from);

    finder->firsts.count = 0;
    for (size_t i = from; i < to; i++) {
        const struct entry *entry = &finder->entries.items[i];
        size_t              count = finder->firsts.count;

        if ((!count || finder->firsts.items[count - 1].rows != entry->rows) &&
            !vec_push(&finder->firsts, finder->ledger->scratch, *entry))
            return false;
    }
    return true;
}

/* The rounds from `first` on that grow by one step. */
static struct run run_at(const struct finder *finder, size_t first)
{
    const struct entry *firsts = finder->firsts.items;
    struct run          run = { first, 1, 0 };

    if (first + 1 < finder->firsts.count)
        run.step = firsts[first + 1].rows - firsts[first].rows;
    while (run.step > 0 && first + run.rounds < finder->firsts.count &&
           firsts[first + run.rounds].rows - firsts[first + run.rounds - 1].rows == run.step)
        run.rounds++;
    return run;
}

static bool tell(struct finder *finder, const struct detector *self, const struct run *run,
                 uint32_t *cell)
{
    const struct entry *rounds = &finder->firsts.items[run->first];

    if (*cell != NO_ID)
        return true;
    *cell = ledger_cell(finder->ledger, self, &finder->ledger->units.items[rounds[1].unit]);
    return *cell != NO_ID &&
           ledger_tell(finder->ledger, *cell,
                       "the same weights take %.0f, %.0f, %.0f … rows, %zu rounds", rounds[0].rows,
                       rounds[1].rows, rounds[2].rows, run->rounds);
}

/* Rows that are cut off right behind their product go with either fix: those of every other round
 * are left to that. */
static bool is_left(const struct ledger *ledger, uint32_t u, size_t round)
{
    return round % 2 && ledger->units.items[u].op_class == OP_PRODUCT &&
           unit_kept_rows(ledger, u) < 1;
}

/* The last round is as long as the one before it, but does not reach into the next step. */
static void claim(struct finder *finder, const struct run *run, uint32_t cell)
{
    struct ledger      *ledger = finder->ledger;
    const struct entry *rounds = &finder->firsts.items[run->first];

    for (size_t r = 1; r < run->rounds; r++) {
        uint32_t first = rounds[r].unit;
        uint32_t end =
            r + 1 < run->rounds ? rounds[r + 1].unit : first + (first - rounds[r - 1].unit);

        for (uint32_t u = first; u < end && u < ledger->units.count; u++) {
            struct work_unit *unit = &ledger->units.items[u];
            double            start_ns = unit_start_ns(ledger, u);

            /* On an accelerator the new rows' ops are still to be started one by one. */
            if (unit->kind == UNIT_OP && unit->ns > start_ns && unit->phase == UNIT_FORWARD &&
                unit->op_class != OP_SORT && unit->step == ledger->units.items[first].step &&
                !is_left(ledger, u, r))
                ledger_claim(ledger, cell, unit,
                             fmin(1 - run->step / rounds[r].rows, 1 - start_ns / unit->ns));
        }
    }
}

/* Each request has a run of its own. */
static bool claim_runs(struct finder *finder, const struct detector *self, double step)
{
    uint32_t cell = NO_ID;

    for (size_t i = 0; i < finder->firsts.count;) {
        struct run run = run_at(finder, i);

        i += run.rounds;
        if (run.rounds < FEWEST_ROUNDS || run.step != step)
            continue;
        if (!tell(finder, self, &run, &cell))
            return false;
        claim(finder, &run, cell);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    struct run    best = { 0 };
    size_t        chosen = 0;

    if (!ledger->is_torch || ledger->has_backward)
        return true;
    if (!intern_init(&finder.keys, ledger->scratch) || !list_products(&finder))
        return false;
    for (size_t from = 0; from < finder.entries.count; from = key_end(&finder, from)) {
        if (!list_firsts(&finder, from))
            return false;
        for (size_t i = 0; i < finder.firsts.count;) {
            struct run run = run_at(&finder, i);

            i += run.rounds;
            if (run.rounds > best.rounds)
                best = run, chosen = from;
        }
    }
    return best.rounds < FEWEST_ROUNDS ||
           (list_firsts(&finder, chosen) && claim_runs(&finder, self, best.step));
}

const struct detector detector_growing_prefix = { "growing-prefix", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
