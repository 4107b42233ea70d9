/* called_again, uncached_rounds: a network that is called several times in a step that does not
 * train, told by the names of ops alone, so that recordings without shapes show it too. The same
 * row of ops comes again at one distance. What sets a call apart from a layer is an op that is done
 * once for a call: ids looked up, a value picked, read or handed over; or many products.
 * Calls that write a text are rounds of a loop: where no round keeps keys and values, each runs all
 * words again. */
#include "analyze/excess/ledger.h"

enum {
    FEWEST_CALLS = 4,
    SHORTEST_CALL = 6,
    FEWEST_PRODUCTS = 2,
    MANY_PRODUCTS = 12, /* more than layers have */
    MOST_DISTANCES = 64
};
static const double SMALL_OP = 6; /* times the cost of starting one: the rest of it is work */
static const double ALIKE = 0.7;  /* of the ways from one op to the next of its type are as long */
static const double LONGEST_GAP = 3e5; /* between ops: more of it is work of its own */
static const double MOST_OF_ALL =
    0.8; /* a recording without steps, most of which are rounds: the rounds may be its steps */
static const double LEAST_LEFT = 0.5; /* for others have said what is wrong */
static const double LEAST_SHARE = 0.05;

struct finder {
    struct ledger *ledger;
    uint32_t      *ops; /* units of a step that are ops and no views */
    uint32_t       count;
};
struct stretch {
    uint32_t first, distance, calls; /* rows of ops */
};
struct traits { /* of a call */
    uint32_t products, attentions, cells, softmaxes;
    uint32_t joined, kept; /* all; in layers, joined or written, between the products */
    bool     looks_up, picks, picks_words, draws, reads, is_handed, ends_in_sums;
};

static const struct work_unit *op_at(const struct finder *finder, uint32_t row)
{
    return &finder->ledger->units.items[finder->ops[row]];
}

static bool is_product(const struct work_unit *unit)
{
    return unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
           unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL;
}

static bool is_pick(const struct finder *finder, const struct work_unit *unit)
{
    return unit->op_class == OP_SORT ||
           str_fits(unit_type(finder->ledger, unit), "*argm*|*multinomial*");
}

/* Halves that are put together behind a sign change are turned positions, no history. */
static bool is_turned(const struct finder *finder, uint32_t row)
{
    return row > 0 && str_ends(unit_type(finder->ledger, op_at(finder, row - 1)), STR("::neg"));
}

/* What is picked is looked up in the next call: no layer lies between. A row that is picked of the
 * results of this call goes on into other layers. */
static bool picks_words(const struct finder *finder, const struct stretch *stretch)
{
    uint32_t end = stretch->first + 2 * stretch->distance;
    bool     is_picked = false;

    for (uint32_t row = stretch->first; row < end && row < finder->count; row++) {
        const struct work_unit *unit = op_at(finder, row);

        if (is_picked && unit->op_class == OP_EMBEDDING)
            return true;
        is_picked = !is_product(unit) && (is_picked || is_pick(finder, unit));
    }
    return false;
}

static struct traits look_at(const struct finder *finder, const struct stretch *stretch)
{
    struct traits is = { .picks_words = picks_words(finder, stretch) };
    uint32_t      behind = 0; /* the last product */
    bool          joins;
    bool          is_told = false; /* what comes out is, in classes: sums of that are no state */

    for (uint32_t row = stretch->first; row < stretch->first + stretch->distance; row++) {
        const struct work_unit *unit = op_at(finder, row);
        struct str              type = unit_type(finder->ledger, unit);

        if (is_product(unit) || is_pick(finder, unit) || unit->op_class == OP_READBACK ||
            unit->op_class == OP_SOFTMAX) {
            is.ends_in_sums = false;
            is_told = !is_product(unit);
        } else if (unit->op_class == OP_ELEMENTWISE) {
            is.ends_in_sums = !is_told;
        }
        is.products += is_product(unit);
        is.attentions += unit->op_class == OP_ATTENTION;
        is.cells += unit->op_class == OP_CELL;
        is.softmaxes += unit->op_class == OP_SOFTMAX;
        is.looks_up |= unit->op_class == OP_EMBEDDING;
        is.picks |= is_pick(finder, unit);
        is.draws |= unit->op_class == OP_RANDOM && !str_contains(type, STR("dropout"));
        is.reads |= unit->op_class == OP_READBACK;
        is.is_handed |= str_ends(type, STR("::lift_fresh"));
        joins = str_fits(type, "*::cat|*::concat") && !is_turned(finder, row);
        is.joined += joins;
        behind += joins || str_fits(type, "*copy_") || unit->op_class == OP_SCATTER;
        if (!is_product(unit))
            continue;
        is.kept += is.products > 1 ? behind : 0;
        behind = 0;
    }
    return is;
}

/* The next stretch of enough calls at that distance, from `row` on. false: there is none. */
static bool next_stretch(const struct finder *finder, uint32_t row, uint32_t distance,
                         struct stretch *stretch)
{
    for (uint32_t first = row; first + distance < finder->count; first = row + 1) {
        for (row = first; row + distance < finder->count &&
                          op_at(finder, row)->type == op_at(finder, row + distance)->type;)
            row++;
        *stretch = (struct stretch) { first, distance, (row - first) / distance + 1 };
        if (stretch->calls >= FEWEST_CALLS)
            return true;
    }
    return false;
}

/* How far most ops of a type are from the next of it; 0: no distance is that of most. */
static uint32_t usual_distance(const struct finder *finder, uint32_t first, const uint32_t *next)
{
    uint32_t usual = 0, votes = 0, same = 0, all = 0;

    for (uint32_t row = first; next[row] < finder->count; row = next[row]) {
        if (votes == 0)
            usual = next[row] - row;
        votes = next[row] - row == usual ? votes + 1 : votes - 1;
    }
    for (uint32_t row = first; next[row] < finder->count; row = next[row], all++)
        same += next[row] - row == usual;
    return (double)same >= ALIKE * all ? usual : 0;
}

/* Distances between ops that are done once for a call, of which it is one of those found here. */
static bool list_distances(struct finder *finder, uint32_t distances[MOST_DISTANCES],
                           uint32_t *count)
{
    struct ledger *ledger = finder->ledger;
    uint32_t      *next = arena_new_array(ledger->scratch, uint32_t, (size_t)finder->count + 1);
    struct id_map  first = { .arena = ledger->scratch }; /* by type */

    if (!next)
        return false;
    for (uint32_t row = finder->count; row-- > 0;) {
        uint32_t behind = id_map_get(&first, op_at(finder, row)->type);

        next[row] = behind == NO_ID ? finder->count : behind;
        if (!id_map_put(&first, op_at(finder, row)->type, row))
            return false;
    }
    *count = 0;
    for (uint32_t row = 0; row < finder->count && *count < MOST_DISTANCES; row++) {
        uint32_t distance, known = 0;

        if (id_map_get(&first, op_at(finder, row)->type) != row)
            continue;
        distance = usual_distance(finder, row, next);
        while (known < *count && distances[known] != distance)
            known++;
        if (distance >= SHORTEST_CALL && known == *count)
            distances[(*count)++] = distance;
    }
    return true;
}

static bool is_call(const struct traits *is)
{
    return is->products >= FEWEST_PRODUCTS && (is->looks_up || is->picks || is->reads ||
                                               is->is_handed || is->products >= MANY_PRODUCTS);
}

/* Words are picked of what comes out, by the program where a cell carries its state on. */
static bool writes_text(const struct traits *is)
{
    return is->looks_up && (is->picks_words || is->cells > 0);
}

/* Words so far grow by one joined before the layers or behind them; keys and values would be
 * joined, or written, twice a layer. */
static bool keeps_nothing(const struct traits *is)
{
    uint32_t attentions = is->attentions;

    if (attentions == 0 && is->softmaxes > 1)
        attentions = is->softmaxes - 1;
    return writes_text(is) && attentions >= 2 && is->joined >= 1 && 2 * is->kept <= attentions;
}

/* Each call takes what the one before made: steps of a solver, of a sampler of pictures; or what
 * somebody does with what was drawn. */
static bool feeds_itself(const struct traits *is)
{
    return (is->ends_in_sums && !is->looks_up) || is->draws;
}

static bool find_calls(struct finder  *finder, bool (*fits)(const struct traits *is),
                       struct stretch *best)
{
    uint32_t distances[MOST_DISTANCES], count;

    *best = (struct stretch) { 0 };
    if (!list_distances(finder, distances, &count))
        return false;
    for (uint32_t d = 0; d < count; d++) {
        struct stretch stretch = { 0 };

        while (next_stretch(finder, stretch.first + stretch.calls * stretch.distance, distances[d],
                            &stretch)) {
            struct traits is = look_at(finder, &stretch);

            if (stretch.calls * stretch.distance > best->calls * best->distance && is_call(&is) &&
                fits(&is))
                *best = stretch;
        }
    }
    return true;
}

static bool is_other_call(const struct traits *is)
{
    return !writes_text(is) && !feeds_itself(is);
}

/* With keys and values kept, each op is still to be started, for one word. */
static double share_of_words(const struct finder *finder, const struct work_unit *unit,
                             const struct stretch *stretch)
{
    double small_ns = SMALL_OP * finder->ledger->start_ns;

    (void)stretch;
    return unit->kind == UNIT_OP && unit->typical_ns > small_ns ? 1 - small_ns / unit->typical_ns
                                                                : 0;
}

/* Once for all calls small ops go; whether the work of large ones does is between what a batch
 * leaves, all of it, and what one call with the same inputs leaves. */
static double share_of_calls(const struct finder *finder, const struct work_unit *unit,
                             const struct stretch *stretch)
{
    double share = 1 - 1.0 / stretch->calls, small_ns = SMALL_OP * finder->ledger->start_ns;

    if (!unit_goes_with_ops(unit) || unit->typical_ns <= 0)
        return 0;
    if (unit->kind != UNIT_OP)
        return unit->typical_ns > LONGEST_GAP ? share * LONGEST_GAP / unit->typical_ns : share;
    return unit->typical_ns > small_ns ? share * (1 + small_ns / unit->typical_ns) / 2 : share;
}

struct kind {
    bool (*fits)(const struct traits *is);
    double (*share_of)(const struct finder *finder, const struct work_unit *unit,
                       const struct stretch *stretch);
    bool keeps_first; /* it is needed as it is */
};

static bool claim(struct finder *finder, const struct detector *self, const struct kind *kind,
                  const struct stretch *stretch, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       from = stretch->first + (kind->keeps_first ? stretch->distance : 0);
    uint32_t       first = finder->ops[from];
    uint32_t       end = finder->ops[stretch->first + stretch->calls * stretch->distance - 1] + 1;
    double         ns = 0, left_ns = 0, whole_ns = 0;

    for (uint32_t u = first; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        whole_ns += unit->ns;
        left_ns += unit->left_ns;
        ns += unit->left_ns * kind->share_of(finder, unit, stretch);
    }
    if (left_ns < LEAST_LEFT * whole_ns ||
        ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    if (ledger->study->steps.source == STEPS_WHOLE_TRACE && !kind->keeps_first &&
        whole_ns > MOST_OF_ALL * ledger->total_ns)
        return true;
    if (*cell == NO_ID) {
        struct traits is = look_at(finder, stretch);

        *cell = ledger_cell(ledger, self, &ledger->units.items[first]);
        if (*cell == NO_ID ||
            !ledger_tell(ledger, *cell, "the same %u ops, %u of them products, %u times in a row%s",
                         stretch->distance, is.products, stretch->calls,
                         kind->keeps_first ? ": words are joined, keys and values are not" : ""))
            return false;
    }
    for (uint32_t u = first; u < end; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u],
                     kind->share_of(finder, &ledger->units.items[u], stretch));
    return true;
}

static bool find_kind(struct ledger *ledger, const struct detector *self, const struct kind *kind)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward)
        return true;
    finder.ops = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    if (!finder.ops)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct stretch stretch;

        finder.count = 0;
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (ledger->units.items[u].kind == UNIT_OP &&
                ledger->units.items[u].op_class != OP_VIEW)
                finder.ops[finder.count++] = u;
        if (!find_calls(&finder, kind->fits, &stretch))
            return false;
        /* Those of several requests are as far from each other. */
        for (uint32_t row = 0;
             stretch.calls > 0 && next_stretch(&finder, row, stretch.distance, &stretch);
             row = stretch.first + stretch.calls * stretch.distance)
            if (!claim(&finder, self, kind, &stretch, &cell))
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
