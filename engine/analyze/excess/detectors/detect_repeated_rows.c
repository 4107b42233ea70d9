/* repeated_rows: rows that are copies of few others, spread by a broadcast or looked up in a table
 * smaller than what it gives, are worked on one by one: a product or a decomposition of each gives
 * copies, too. Where such rows are one part of what a product sums over, that part of it is done
 * again for each. */
#include "analyze/excess/linear.h"
#include "base/macros.h"

#include <math.h>

static const double LEAST_SHARE = 0.03; /* of the steps */
static const double LEAST_COPIES = 3;
static const double LEAST_JOINED =
    0.75; /* below, adding up results of parts takes what is spared */

struct rows { /* of one result; count 0: each its own */
    uint32_t
           key; /* equal where two results repeat the same rows: the broadcast's or the lookup's */
    double copies;    /* of each row */
    double part;      /* of the elements that are copies; the rest lies beside them in each row */
    double length;    /* of a row, in elements */
    bool   is_made;   /* by a product or a decomposition of such rows */
    bool   is_joined; /* of several such results: their rows differ */
    bool   is_scaled; /* times or plus a number of each row's own: copies only to what is linear */
};
struct finder {
    struct waste *waste;
    struct rows  *rows;       /* by op */
    double       *later;      /* by op: of its rows so many can be added up before */
    bool          has_marked; /* something works on copies */
};

static const struct tensor *shape_of(const struct finder *finder, uint32_t op)
{
    const struct op *row = &finder->waste->profile->ops.items[op];

    return row->output_count ? &finder->waste->profile->tensors.items[row->first_output] : NULL;
}

/* A row is what lies behind the last axis that is new: axes of the operand are there in order. */
static double row_behind(const struct tensor *small, const struct tensor *large)
{
    double length = 1;
    int    at = small->rank - 1, axis = large->rank - 1;

    for (; axis >= 0 && at >= 0 && large->dims[axis] == small->dims[at]; axis--, at--)
        length *= (double)large->dims[axis];
    return axis < 0 ? 0 : length;
}

static struct rows of_broadcast(const struct finder *finder, uint32_t op)
{
    struct op_ids        producers = op_graph_producers(finder->waste->graph, op);
    const struct tensor *large = shape_of(finder, op), *small;
    double               from, to;

    if (producers.count != 1 || !large || !(small = shape_of(finder, producers.ids[0])))
        return (struct rows) { 0 };
    from = tensor_elements(small), to = tensor_elements(large);
    if (from <= 1 || to < LEAST_COPIES * from || row_behind(small, large) <= 1)
        return (struct rows) { 0 };
    return (struct rows) {
        .key = op + 1, .copies = to / from, .part = 1, .length = row_behind(small, large)
    };
}

/* Of a table with fewer rows than are looked up; equal numbers look up the same. */
static struct rows of_gather(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = finder->waste->compiled;
    struct op_ids          producers = op_graph_producers(finder->waste->graph, op);
    const struct op       *row = &finder->waste->profile->ops.items[op];
    const struct tensor   *of = &finder->waste->profile->tensors.items[row->first_input];
    double   table = compiled_operand(compiled, op, 0), to = compiled_elements(compiled, op);
    uint32_t key = op;

    if (table <= 1 || of->rank < 2 || to < LEAST_COPIES * table)
        return (struct rows) { 0 };
    for (size_t i = 0; i < producers.count; i++)
        if (compiled_elements(compiled, producers.ids[i]) != table)
            key = compiled_maker(compiled, producers.ids[i]);
    return (struct rows) {
        .key = key + 1, .copies = to / table, .part = 1, .length = table / (double)of->dims[0]
    };
}

/* Operands beside each other: the first that are copies are a part of each row; where nearly all
 * are, each of rows of its own, all of them. */
static struct rows of_concat(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    double        all = compiled_elements(finder->waste->compiled, op), needed = 0;
    struct rows   joined = { 0 }, first = { 0 };

    for (size_t i = 0; i < producers.count; i++) {
        struct rows rows = finder->rows[producers.ids[i]];
        double      own = compiled_elements(finder->waste->compiled, producers.ids[i]);

        if (!rows.key || rows.part < 1)
            continue;
        if (!joined.key)
            first = joined =
                (struct rows) { rows.key, rows.copies, own / all, rows.length * all / own,
                                false,    true,        false };
        else
            joined.part += own / all;
        needed += own / all / rows.copies;
    }
    joined.copies = needed > 0 ? joined.part / needed : 0;
    return joined.part - needed >= LEAST_JOINED ? joined : first;
}

/* One number for all elements. */
static bool is_uniform(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = finder->waste->compiled;
    uint32_t               maker = compiled_maker(compiled, op);
    struct op_ids          producers = op_graph_producers(finder->waste->graph, maker);

    return compiled_elements(compiled, maker) <= 1 ||
           (waste_is(finder->waste, maker, "broadcast") && producers.count == 1 &&
            compiled_elements(compiled, producers.ids[0]) <= 1);
}

/* Axes of a product, by sizes: b batch, c summed over. */
static double summed_over(const struct finder *finder, uint32_t op)
{
    double made = compiled_elements(finder->waste->compiled, op);

    return made > 0 ? (double)finder->waste->profile->ops.items[op].flops / 2 / made : 0;
}

static double batch_of(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = finder->waste->compiled;
    double                 pairs = (double)finder->waste->profile->ops.items[op].flops / 2;

    return pairs > 0 ? compiled_operand(compiled, op, 0) * compiled_operand(compiled, op, 1) *
                           compiled_elements(compiled, op) / (pairs * pairs)
                     : 0;
}

/* The rows that operands with copies have in common; none where one has rows of its own in their
 * place. */
static struct rows in_common(const struct finder *finder, uint32_t op, bool all_must)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    double        made = compiled_elements(finder->waste->compiled, op);
    struct rows   common = { 0 };

    for (size_t i = 0; i < producers.count; i++) {
        struct rows rows = finder->rows[producers.ids[i]];

        if (rows.key && common.key && rows.key != common.key)
            return (struct rows) { 0 };
        rows.is_scaled |= common.is_scaled;
        if (rows.key)
            common = rows;
    }
    for (size_t i = 0; i < producers.count && common.key; i++)
        if (!finder->rows[producers.ids[i]].key && all_must &&
            compiled_elements(finder->waste->compiled, producers.ids[i]) * LEAST_COPIES > made &&
            !linear_is_thin(finder->waste, producers.ids[i]))
            return (struct rows) { 0 };
    return common;
}

/* A product keeps rows that it does not sum over, and does not match with rows of another operand.
 */
static struct rows of_product(const struct finder *finder, uint32_t op)
{
    bool        has_batch = batch_of(finder, op) > 1.5;
    struct rows rows = in_common(finder, op, has_batch);
    double      inner = summed_over(finder, op);

    if (!rows.key || rows.is_joined || inner <= 0 || inner > rows.length)
        return (struct rows) { 0 };
    rows.length = compiled_elements(finder->waste->compiled, op) /
                  (compiled_operand(finder->waste->compiled, op, 0) / rows.length);
    rows.is_made = true;
    return rows.length >= 1 ? rows : (struct rows) { 0 };
}

/* Copies times numbers of their rows are still worked on once where what comes is linear: exp(t w)
 * is another row for each t. */
static struct rows element_by_element(const struct finder *finder, uint32_t op)
{
    static const char linear[] = "multiply|divide|add|subtract|negate|convert|select|and|or|not|"
                                 "bitcast|copy|reshape|transpose|parameter|call|fusion";
    struct rows       rows = in_common(finder, op, true);
    struct op_ids     producers = op_graph_producers(finder->waste->graph, op);

    if (rows.is_scaled && !waste_is(finder->waste, op, linear))
        return (struct rows) { 0 };
    for (size_t i = 0; i < producers.count && linear_is_elementwise(finder->waste, op); i++)
        rows.is_scaled |=
            !finder->rows[producers.ids[i]].key && !is_uniform(finder, producers.ids[i]);
    return rows;
}

static struct rows find_rows(const struct finder *finder, uint32_t op)
{
    static const char whole[] = "bitcast|copy|reshape|parameter|call|fusion|custom-call|"
                                "triangular-solve|cholesky";
    struct op_ids     producers = op_graph_producers(finder->waste->graph, op);
    bool is_kept = linear_is_elementwise(finder->waste, op) || waste_is(finder->waste, op, whole);

    if (waste_is(finder->waste, op, "broadcast"))
        return of_broadcast(finder, op);
    if (waste_is(finder->waste, op, "gather"))
        return of_gather(finder, op);
    if (waste_is(finder->waste, op, "concatenate"))
        return of_concat(finder, op);
    if (waste_is(finder->waste, op, "dot"))
        return of_product(finder, op);
    if (finder->waste->compiled->root[op] != NO_ID)
        return finder->rows[finder->waste->compiled->root[op]];
    if (waste_is(finder->waste, op, "transpose") && producers.count == 1) {
        const struct tensor *from = shape_of(finder, producers.ids[0]), *to = shape_of(finder, op);

        is_kept |= from && to && from->rank > 0 && to->rank > 0 && from->dims[0] == to->dims[0];
    }
    return is_kept ? element_by_element(finder, op) : (struct rows) { 0 };
}

/* Until nothing changes: what is in a fusion stands before what goes into it. */
static void spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++) {
            struct rows rows = find_rows(finder, op);

            has_changed |= rows.key != finder->rows[op].key;
            finder->rows[op] = rows;
        }
    }
}

static bool is_heavy(const struct finder *finder, uint32_t op)
{
    enum op_class op_class = finder->waste->compiled->op_class[op];

    return !compiled_holds(finder->waste->compiled, op) &&
           (op_class == OP_PRODUCT || op_class == OP_DECOMPOSITION || op_class == OP_CONVOLUTION);
}

/* A decomposition of copies has its gradients for copies, too: sums of them do before it. They are
 * at its line, on as many rows. */
static bool is_gradient_of(const struct finder *finder, uint32_t op, uint32_t of)
{
    const struct profile *profile = finder->waste->profile;
    const struct tensor  *shape = shape_of(finder, op), *rows = shape_of(finder, of);

    return profile->ops.items[op].program == profile->ops.items[of].program &&
           profile->ops.items[op].source == profile->ops.items[of].source && shape && rows &&
           shape->rank > 1 && rows->rank > 1 && shape->dims[0] == rows->dims[0] &&
           str_contains(profile_str(profile, profile->ops.items[op].origin), STR("transpose("));
}

static void mark_gradients(struct finder *finder, uint32_t of)
{
    struct waste *waste = finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (is_gradient_of(finder, op, of))
            waste_mark(waste, op, waste->share[of]);
}

static bool sums_rows(double inner, double elements, const struct rows *rows)
{
    double count = elements / rows->length;

    return inner >= count && fmod(inner, count) == 0;
}

/* A product works within rows, or sums over all of them, and what of each it sums over with them:
 * then copies may be summed up before. Of a batch, only where all are copies. */
static bool is_of_rows(const struct finder *finder, uint32_t op, const struct rows *rows)
{
    double inner = summed_over(finder, op);

    return !waste_is(finder->waste, op, "dot") || inner <= rows->length ||
           sums_rows(inner, compiled_operand(finder->waste->compiled, op, 0), rows) ||
           sums_rows(inner, compiled_operand(finder->waste->compiled, op, 1), rows);
}

/* A gradient of rows that were spread is a sum over their copies: rows stay, and are fewer. */
static bool sums_copies(const struct waste *waste, uint32_t op, struct str origin)
{
    struct op_ids        producers = op_graph_producers(waste->graph, op);
    const struct op     *row = &waste->profile->ops.items[op];
    const struct tensor *from, *to;

    if (!waste_is(waste, op, "reduce") || !str_ends(origin, STR("/reduce_sum")) ||
        !str_contains(origin, STR("transpose(")) || !producers.count || !row->input_count ||
        !row->output_count)
        return false;
    from = &waste->profile->tensors.items[row->first_input];
    to = &waste->profile->tensors.items[row->first_output];
    return to->rank > 1 && from->rank > to->rank &&
           from->dims[from->rank - 1] == to->dims[to->rank - 1];
}

/* All that takes a result adds it up into fewer rows, as gradients of lookups and of rows that were
 * spread do: the sums go through the product as well. The share of its rows that those are less. */
static double summed_share(const struct finder *finder, uint32_t op)
{
    const struct waste *waste = finder->waste;
    struct linear_reach reach = { .count = 0 };
    double              summed = 0, into = 0;

    if (!linear_takers(waste, op, &reach))
        return 0;
    for (size_t i = 0; i < reach.count; i++) {
        uint32_t taker = reach.ops[i];
        bool     hands_on = compiled_hands_on(waste->compiled, taker) ||
                        waste->compiled->root[taker] != NO_ID || waste_is(waste, taker, "slice");
        struct str origin = profile_str(waste->profile, waste->profile->ops.items[taker].origin);

        if (waste_is(waste, taker, "scatter") && str_ends(origin, STR("scatter-add"))) {
            summed += compiled_operand(waste->compiled, taker, 2);
            into += compiled_elements(waste->compiled, taker);
        } else if (sums_copies(waste, taker, origin)) {
            summed += compiled_operand(waste->compiled, taker, 0);
            into += compiled_elements(waste->compiled, taker);
        } else if (!hands_on || !linear_takers(waste, taker, &reach)) {
            return 0;
        }
    }
    return summed >= LEAST_COPIES * into && into > 0 ? 1 - into / summed : 0;
}

static void mark(struct finder *finder, uint32_t op)
{
    bool        has_batch = waste_is(finder->waste, op, "dot") && batch_of(finder, op) > 1.5;
    struct rows rows = in_common(finder, op, has_batch || !waste_is(finder->waste, op, "dot"));

    if (rows.is_scaled && finder->waste->compiled->op_class[op] == OP_DECOMPOSITION)
        return;
    if (rows.key && rows.part > 0 && is_of_rows(finder, op, &rows))
        waste_mark(finder->waste, op, rows.part * (1 - 1 / rows.copies));
    if (waste_is(finder->waste, op, "dot") && !has_batch)
        waste_mark(finder->waste, op, summed_share(finder, op));
    if (finder->waste->share[op] > 0 && finder->waste->compiled->op_class[op] == OP_DECOMPOSITION)
        mark_gradients(finder, op);
}

/* What is done element by element to results of copies, and what puts copies beside other rows. */
static void mark_passes(struct finder *finder, uint32_t op)
{
    const struct rows *rows = &finder->rows[op];

    if (rows->key && rows->is_made && rows->part >= 1 && linear_is_elementwise(finder->waste, op))
        waste_mark(finder->waste, op, 1 - 1 / rows->copies);
    if (rows->key && finder->has_marked && waste_is(finder->waste, op, "broadcast"))
        waste_mark(finder->waste, op, 1 - 1 / rows->copies);
    if (rows->key && finder->has_marked && waste_is(finder->waste, op, "concatenate") &&
        rows->part * (1 - 1 / rows->copies) >= LEAST_JOINED)
        waste_mark(finder->waste, op, 1);
}

/* Changes places with a sum over copies of its rows: times copies or thin numbers, or a sum. */
static bool sums_later(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    size_t        own = 0;

    if (compiled_hands_on(finder->waste->compiled, op) ||
        finder->waste->compiled->root[op] != NO_ID || waste_is(finder->waste, op, "add|subtract"))
        return true;
    if (waste_is(finder->waste, op, "dot"))
        return batch_of(finder, op) < 1.5;
    for (size_t i = 0; i < producers.count; i++)
        own +=
            !finder->rows[producers.ids[i]].key && !linear_is_thin(finder->waste, producers.ids[i]);
    return waste_is(finder->waste, op, "multiply") && own <= 1;
}

/* How many rows can be added up before what takes them: gradients of what is the same for copies
 * are summed over them in the end, with the copies in a product. 0: they are needed one by one. */
static double summed_later(const struct finder *finder, uint32_t op)
{
    const struct waste *waste = finder->waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);
    double              fewest = 0;

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t taker = consumers.ids[i];
        double   copies = finder->later[taker];

        if (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op)
            continue;
        if (waste_is(waste, taker, "dot") && waste->share[taker] > 0) {
            struct rows rows = in_common(finder, taker, false);

            if (rows.key && !rows.is_joined && summed_over(finder, taker) > rows.length)
                copies = rows.copies;
        }
        if (copies <= 0 || finder->rows[op].key)
            return 0;
        fewest = fewest > 0 && fewest < copies ? fewest : copies;
    }
    return sums_later(finder, op) ? fewest : 0;
}

static void mark_later(struct finder *finder)
{
    enum { MOST_ROUNDS = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = finder->waste->graph->vertex_count; op-- > 0;)
            if (finder->later[op] <= 0 && (finder->later[op] = summed_later(finder, op)) > 0)
                has_changed = true;
    }
    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (finder->later[op] > 0 && compiled_works(finder->waste->compiled, op))
            waste_mark(finder->waste, op, 1 - 1 / finder->later[op]);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };

    finder.rows =
        arena_new_array(ledger->scratch, struct rows, ledger->study->profile->ops.count + 1);
    finder.later = arena_new_array(ledger->scratch, double, ledger->study->profile->ops.count + 1);
    if (!finder.rows || !finder.later || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    spread(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (is_heavy(&finder, op) && waste_calls(&waste, op) > 0)
            mark(&finder, op), finder.has_marked |= waste.share[op] > 0;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (!is_heavy(&finder, op) || waste_calls(&waste, op) <= 0)
            mark_passes(&finder, op);
    mark_later(&finder);
    return waste_claim(&waste, self, LEAST_SHARE, "rows that are copies of a few");
}

const struct detector detector_repeated_rows = { "repeated-rows", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
