/* network_prefix: a convolutional network is run anew for each depth at which its features are
 * taken, as of a loss that compares features: every run but the deepest is the beginning of that
 * one. Runs begin with the same convolution of an input of the same shape, and all of a shorter one
 * are the first layers of the deepest, which goes on from there with another convolution and takes
 * nothing else. As many runs go to each depth as inputs are compared. */
#include "analyze/excess/makers.h"
#include "analyze/excess/rounds.h"

enum { MOST_RUNS = 64, MOST_BEGINNINGS = 64, FEWEST_LAYERS = 2 };

struct layer { /* one that has weights, of a forward pass; keys are odd of those that are trained */
    uint32_t unit, key;
};
struct finder {
    struct ledger    *ledger;
    struct round_keys keys;
    VEC(struct layer) layers; /* of one step */
    uint32_t *looked_at;      /* by key: the pass that was looked at for runs that begin with it */
    uint32_t  pass;           /* counted from 1 */
    uint32_t  cell;
};
struct run { /* rows of layers; of a shorter run all are the first of the deepest */
    uint32_t first, length;
};
struct runs {
    struct run list[MOST_RUNS];
    uint32_t   count, deepest; /* row of list */
};

static bool is_layer(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit_is_forward_product(unit) &&
           (unit->op_class == OP_CONVOLUTION ||
            str_fits(unit_type(ledger, unit), "aten::linear|aten::addmm"));
}

static const struct work_unit *unit_of(const struct finder *finder, uint32_t row)
{
    return &finder->ledger->units.items[finder->layers.items[row].unit];
}

static bool are_alike(const struct finder *finder, uint32_t a, uint32_t b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (finder->layers.items[a + i].key != finder->layers.items[b + i].key)
            return false;
    return true;
}

/* Nothing but activations, pools and norms lies between a layer and the next: they take one array
 * of features. */
static bool goes_on(const struct finder *finder, uint32_t row)
{
    const struct ledger *ledger = finder->ledger;

    for (uint32_t u = finder->layers.items[row].unit + 1; u < finder->layers.items[row + 1].unit;
         u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *tensor;
        int                     arrays = 0;

        if (unit->kind != UNIT_OP || unit->op == NO_ID)
            continue;
        for (uint32_t i = 0; (tensor = unit_input(ledger, unit, i)); i++)
            arrays += tensor->rank >= 3;
        if (arrays != 1)
            return false;
    }
    return true;
}

/* Layers of the deepest run but one; 0: all go to one depth. */
static uint32_t second_length(const struct runs *runs)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->list[i].length < runs->list[runs->deepest].length &&
            runs->list[i].length > longest)
            longest = runs->list[i].length;
    return longest;
}

/* Pairs of a network and a head behind it, as of siamese networks, have the head as often. */
static bool repeats(const struct finder *finder, uint32_t first, uint32_t length, uint32_t times)
{
    return length % times == 0 &&
           are_alike(finder, first, first + length / times, length - length / times);
}

/* Each depth as often as the deepest. */
static bool is_balanced(const struct runs *runs)
{
    uint32_t deepest = 0;

    for (uint32_t i = 0; i < runs->count; i++)
        deepest += runs->list[i].length == runs->list[runs->deepest].length;
    for (uint32_t i = 0; i < runs->count; i++) {
        uint32_t same = 0;

        for (uint32_t j = 0; j < runs->count; j++)
            same += runs->list[j].length == runs->list[i].length;
        if (same != deepest)
            return false;
    }
    return true;
}

/* Blocks of a network look alike too, and each takes what the one before it makes. */
static bool may_take_own(const struct finder *finder, const struct run *run)
{
    const struct tensor *input = unit_left(finder->ledger, unit_of(finder, run->first));

    return !input ||
           unit_can_make(finder->ledger, unit_of(finder, run->first + run->length - 1), input);
}

static bool are_of_one_network(const struct finder *finder, const struct runs *runs)
{
    const struct run *deepest = &runs->list[runs->deepest];
    uint32_t          second = second_length(runs);

    if (second < FEWEST_LAYERS || !is_balanced(runs))
        return false;
    for (uint32_t i = 0; i < runs->count; i++)
        if (!are_alike(finder, runs->list[i].first, deepest->first, runs->list[i].length) ||
            may_take_own(finder, &runs->list[i]))
            return false;
    for (uint32_t i = 0; i <= second; i++)
        if (unit_of(finder, deepest->first + i)->op_class != OP_CONVOLUTION)
            return false;
    return goes_on(finder, deepest->first + second - 1) &&
           !repeats(finder, deepest->first + second, deepest->length - second, runs->count);
}

/* The last unit of a run that is as in the deepest, in which layer `length` comes behind it. */
static uint32_t last_alike(const struct finder *finder, const struct run *run, uint32_t deepest)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t last = finder->layers.items[run->first + run->length - 1].unit, u = last + 1;
    uint32_t d = finder->layers.items[deepest + run->length - 1].unit + 1;
    uint32_t end = finder->layers.items[deepest + run->length].unit;

    for (;; u++, d++) {
        while (u < ledger->units.count && ledger->units.items[u].kind != UNIT_OP)
            u++;
        while (d < end && ledger->units.items[d].kind != UNIT_OP)
            d++;
        if (d >= end || u >= ledger->units.count || finder->keys.same[u] != finder->keys.same[d])
            return last;
        last = u;
    }
}

static bool claim_run(struct finder *finder, const struct detector *self, const struct runs *runs,
                      const struct run *run)
{
    struct ledger          *ledger = finder->ledger;
    const struct work_unit *at = unit_of(finder, run->first);
    uint32_t                first = finder->layers.items[run->first].unit;
    uint32_t                last = last_alike(finder, run, runs->list[runs->deepest].first);

    if (!ledger_cell_once(ledger, self, at, &finder->cell,
                          "%u layers, and the same again in a run of %u", run->length,
                          runs->list[runs->deepest].length))
        return false;
    ledger_claim_ops(ledger, finder->cell, first, last, 1);
    return ledger_claim_way_back(ledger, finder->cell, first, last, 1);
}

/* Runs that begin with the layer in `row`, to the end of the pass. What is trained and what is not
 * are no one run. */
static bool list_runs(const struct finder *finder, uint32_t row, uint32_t end, struct runs *runs)
{
    uint32_t key = finder->layers.items[row].key;
    bool     is_open = false;

    *runs = (struct runs) { 0 };
    for (uint32_t i = row; i < end; i++) {
        if (finder->layers.items[i].key == key) {
            if (runs->count == MOST_RUNS)
                return false;
            runs->list[runs->count++].first = i;
            is_open = true;
        }
        is_open &= finder->layers.items[i].key % 2 == key % 2;
        runs->list[runs->count - 1].length += is_open;
    }
    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->list[i].length > runs->list[runs->deepest].length)
            runs->deepest = i;
    return runs->count > 1;
}

static bool look_at_pass(struct finder *finder, const struct detector *self, uint32_t first,
                         uint32_t end)
{
    uint32_t beginnings = 0;

    finder->pass++;
    for (uint32_t row = first; row < end && beginnings < MOST_BEGINNINGS; row++) {
        uint32_t   *looked_at = &finder->looked_at[finder->layers.items[row].key];
        struct runs runs;

        if (*looked_at == finder->pass)
            continue;
        *looked_at = finder->pass;
        beginnings++;
        if (!list_runs(finder, row, end, &runs) || !are_of_one_network(finder, &runs))
            continue;
        for (uint32_t i = 0; i < runs.count; i++)
            if (runs.list[i].length < runs.list[runs.deepest].length &&
                !claim_run(finder, self, &runs, &runs.list[i]))
                return false;
    }
    return true;
}

/* A pass ends where the way back or an update begins. */
static bool look_at_step(struct finder *finder, const struct detector *self, size_t step)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = 0;

    finder->layers.count = 0;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct layer            layer = { u, 2 * finder->keys.same[u] + unit->is_trained };

        if (unit->kind == UNIT_OP && unit->phase != UNIT_FORWARD && finder->layers.count > first) {
            if (!look_at_pass(finder, self, first, (uint32_t)finder->layers.count))
                return false;
            first = (uint32_t)finder->layers.count;
        }
        if (is_layer(ledger, unit) && !vec_push(&finder->layers, ledger->scratch, layer))
            return false;
    }
    return look_at_pass(finder, self, first, (uint32_t)finder->layers.count);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    if (!rounds_keys(ledger, &finder.keys))
        return false;
    finder.looked_at = arena_new_array(ledger->scratch, uint32_t, 2 * (size_t)finder.keys.count);
    for (size_t step = 0; finder.looked_at && step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step))
            return false;
    return finder.looked_at != NULL;
}

const struct detector detector_network_prefix = { "network-prefix", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                  find };
