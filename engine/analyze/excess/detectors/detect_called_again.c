/* called_again, uncached_rounds: a network that is called several times in a step that does not
 * train, told by the names of ops alone, so that recordings without shapes show it too. The same
 * row of ops comes again at one distance. What sets a call apart from a layer is an op that is done
 * once for a call: ids looked up, a value picked, read or handed over; or many products; or that
 * dozens of them lie between a split and a join.
 * Calls that write a text are rounds of a loop: where no round keeps keys and values, each runs all
 * words again. */
#include "analyze/excess/calls.h"

enum {
    FEWEST_PRODUCTS = 2,
    MANY_PRODUCTS = 12, /* more than layers have */
    SOME_PRODUCTS = 4,  /* of windows whose results have places; stages have fewer */
};
static const double SMALL_OP = 6;      /* times the cost of starting one: the rest of it is work */
static const double LONGEST_GAP = 3e5; /* between ops: more of it is work of its own */
static const double MOST_OF_ALL =
    0.8; /* a recording without steps, most of which are rounds: the rounds may be its steps */
static const double LEAST_LEFT = 0.5; /* for others have said what is wrong */
static const double LEAST_SHARE = 0.05;

static bool is_call(const struct call_traits *is)
{
    return is->products >= FEWEST_PRODUCTS &&
           (is->looks_up || is->picks || is->reads || is->is_handed || is->takes_parts ||
            (is->is_placed && is->products >= SOME_PRODUCTS) || is->products >= MANY_PRODUCTS);
}

/* Words so far grow by one joined before the layers or behind them; keys and values would be
 * joined, or written, twice a layer. */
static bool keeps_nothing(const struct call_traits *is)
{
    uint32_t attentions = is->attentions;

    if (attentions == 0 && is->softmaxes > 1)
        attentions = is->softmaxes - 1;
    return calls_write_text(is) && attentions >= 2 && is->joined >= 1 && 2 * is->kept <= attentions;
}

/* What of an op or a pause the other calls could spare, where ops up to `small_ns` only start. */
typedef double share_of_unit(const struct work_unit *unit, double small_ns, uint32_t calls);

struct kind {
    bool (*fits)(const struct call_traits *is);
    share_of_unit *share_of;
    bool           keeps_first; /* it is needed as it is */
};

static bool may_be_steps(const struct call_rows *rows, const struct stretch *stretch)
{
    const struct ledger *ledger = rows->ledger;
    uint32_t             last = stretch->first + stretch->calls * stretch->distance - 1;
    double               ns = 0;

    if (ledger->study->steps.source != STEPS_WHOLE_TRACE)
        return false;
    for (uint32_t u = rows->ops[stretch->first]; u <= rows->ops[last]; u++)
        ns += ledger->units.items[u].ns;
    return ns > MOST_OF_ALL * ledger->total_ns;
}

static bool find_calls_at(struct call_rows *rows, const struct kind *kind, bool of_pairs,
                          struct stretch *best)
{
    uint32_t distances[MOST_DISTANCES], count;

    if (!calls_distances(rows, of_pairs, distances, &count))
        return false;
    for (uint32_t d = 0; d < count; d++) {
        struct stretch stretch = { 0 };

        while (calls_next(rows, stretch.first + stretch.calls * stretch.distance, distances[d],
                          &stretch)) {
            struct call_traits is = calls_look_at(rows, &stretch);

            if (stretch.calls * stretch.distance > best->calls * best->distance && is_call(&is) &&
                kind->fits(&is) && (is.takes_parts || is.is_placed || !of_pairs) &&
                (kind->keeps_first || !may_be_steps(rows, &stretch)))
                *best = stretch;
        }
    }
    return true;
}

/* Two ops in a row come by chance, too: they tell calls for parts of an array, or for its windows.
 */
static bool find_calls(struct call_rows *rows, const struct kind *kind, struct stretch *best)
{
    *best = (struct stretch) { 0 };
    return find_calls_at(rows, kind, false, best) &&
           (kind->keeps_first || find_calls_at(rows, kind, true, best));
}

static bool is_other_call(const struct call_traits *is)
{
    return !calls_write_text(is) && (is->is_placed || !calls_feed_themselves(is));
}

/* With keys and values kept, each op is still to be started, for one word. */
static double share_of_words(const struct work_unit *unit, double small_ns, uint32_t calls)
{
    (void)calls;
    return unit->kind == UNIT_OP && unit->typical_ns > small_ns ? 1 - small_ns / unit->typical_ns
                                                                : 0;
}

/* Parts of an array are as large as somebody chose, and all of them are worked on: what an op takes
 * above its start stays. */
static double share_of_parts(const struct work_unit *unit, double small_ns, uint32_t calls)
{
    double share = 1 - 1.0 / calls;
    double most_ns = unit->kind == UNIT_OP ? small_ns : LONGEST_GAP;

    if (!unit_goes_with_ops(unit) || unit->typical_ns <= 0)
        return 0;
    return unit->typical_ns > most_ns ? share * most_ns / unit->typical_ns : share;
}

/* Once for all calls small ops go; whether the work of large ones does is between what a batch
 * leaves, all of it, and what one call with the same inputs leaves. */
static double share_of_calls(const struct work_unit *unit, double small_ns, uint32_t calls)
{
    double share = share_of_parts(unit, small_ns, calls);

    return unit->kind == UNIT_OP && share > 0 ? (share + 1 - 1.0 / calls) / 2 : share;
}

static bool claim(struct call_rows *rows, const struct detector *self, const struct kind *kind,
                  const struct stretch *stretch, uint32_t *cell)
{
    struct ledger     *ledger = rows->ledger;
    uint32_t           from = stretch->first + (kind->keeps_first ? stretch->distance : 0);
    uint32_t           first = rows->ops[from];
    uint32_t           end = rows->ops[stretch->first + stretch->calls * stretch->distance - 1] + 1;
    struct call_traits is = calls_look_at(rows, stretch);
    bool               takes_parts = !kind->keeps_first && is.takes_parts;
    share_of_unit     *share_of = takes_parts ? share_of_parts : kind->share_of;
    double             small_ns = (takes_parts ? 1 : SMALL_OP) * ledger->start_ns;
    double             ns = 0, left_ns = 0, whole_ns = 0;

    if (!kind->keeps_first && may_be_steps(rows, stretch))
        return true;
    for (uint32_t u = first; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        whole_ns += unit->ns;
        left_ns += unit->left_ns;
        ns += unit->left_ns * share_of(unit, small_ns, stretch->calls);
    }
    if (left_ns < LEAST_LEFT * whole_ns ||
        ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    if (*cell == NO_ID) {
        *cell = ledger_cell(ledger, self, &ledger->units.items[first]);
        if (*cell == NO_ID ||
            !ledger_tell(ledger, *cell, "the same %u ops, %u of them products, %u times in a row%s",
                         stretch->distance, is.products, stretch->calls,
                         kind->keeps_first ? ": words are joined, keys and values are not" : ""))
            return false;
    }
    for (uint32_t u = first; u < end; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u],
                     share_of(&ledger->units.items[u], small_ns, stretch->calls));
    return true;
}

static bool find_kind(struct ledger *ledger, const struct detector *self, const struct kind *kind)
{
    struct call_rows rows;
    uint32_t         cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward)
        return true;
    if (!calls_open(&rows, ledger))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct stretch stretch;

        calls_of_step(&rows, step);
        if (!find_calls(&rows, kind, &stretch))
            return false;
        /* Those of several requests are as far from each other. */
        for (uint32_t row = 0;
             stretch.calls > 0 && calls_next(&rows, row, stretch.distance, &stretch);
             row = stretch.first + stretch.calls * stretch.distance)
            if (!claim(&rows, self, kind, &stretch, &cell))
                return false;
    }
    return true;
}

static bool find_rounds(struct ledger *ledger, const struct detector *self)
{
    static const struct kind rounds = { keeps_nothing, share_of_words, true };

    /* Where shapes are known they tell whether rows grow. */
    return ledger->study->profile->has_shapes || find_kind(ledger, self, &rounds);
}

static bool find_again(struct ledger *ledger, const struct detector *self)
{
    static const struct kind calls = { is_other_call, share_of_calls, false };

    return find_kind(ledger, self, &calls);
}

const struct detector detector_uncached_rounds = { "growing-prefix", CAUSE_REPEAT, GRADE_NAMES,
                                                   find_rounds };
const struct detector detector_called_again = { "called-again", CAUSE_DISPATCH, GRADE_NAMES,
                                                find_again };
