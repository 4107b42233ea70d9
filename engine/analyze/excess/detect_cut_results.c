/* cut_results: of what a compiled program computes a part alone is taken: rows of logits that are
 * cut off, results of transforms far longer than what goes in and what is kept. */
#include "analyze/excess/linear.h"
#include "base/macros.h"

static const double LEAST_SHARE = 0.03; /* of the steps */
static const double LEAST_CUT = 0.5;    /* of a result: smaller cuts are how programs are written */
static const double FULL_LENGTH = 2;    /* times the data, that a transform may need */

struct cuts {
    struct waste *waste;
    double       *needed; /* by op: the part of its result that something takes */
    double       *filled; /* by op: the part of it that is not padding */
};

static bool is_among(const struct cuts *cuts, uint32_t op, const char *const *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (compiled_is_type(cuts->waste->compiled, op, types[i]))
            return true;
    return false;
}

/* Each element of the result comes from one of the operand, or from one row of it. */
static bool goes_by_rows(const struct cuts *cuts, uint32_t op)
{
    static const char *const types[] = { "bitcast",          "copy",      "transpose",
                                         "reshape",          "parameter", "call",
                                         "fusion",           "broadcast", "reduce",
                                         "get-tuple-element" };

    return linear_is_elementwise(cuts->waste, op) || is_among(cuts, op, types, ARRAY_COUNT(types));
}

/* In a loop each round cuts another part. */
static bool is_in_same(const struct cuts *cuts, uint32_t a, uint32_t b)
{
    const struct profile *profile = cuts->waste->profile;

    return profile->ops.items[compiled_timed(cuts->waste->compiled, a)].caller ==
           profile->ops.items[compiled_timed(cuts->waste->compiled, b)].caller;
}

/* What part of the result of `op` one that takes it needs. */
static double needed_by(const struct cuts *cuts, uint32_t op, uint32_t taker)
{
    static const char *const cutting[] = { "slice", "dynamic-slice" };
    const struct compiled   *compiled = cuts->waste->compiled;
    double                   elements = compiled_elements(compiled, op);

    if (is_among(cuts, taker, cutting, ARRAY_COUNT(cutting)))
        return elements > 0 && is_in_same(cuts, op, taker)
                   ? cuts->needed[taker] * compiled_elements(compiled, taker) / elements
                   : 1;
    return goes_by_rows(cuts, taker) ? cuts->needed[taker] : 1;
}

static double needed_of(const struct cuts *cuts, uint32_t op)
{
    struct op_ids consumers = op_graph_consumers(cuts->waste->graph, op);
    double        needed = 0;

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t taker = consumers.ids[i];

        if (compiled_holds(cuts->waste->compiled, taker) &&
            cuts->waste->compiled->root[taker] != op)
            continue; /* the parameter that stands for it */
        needed += needed_by(cuts, op, taker);
    }
    return !consumers.count || needed > 1 ? 1 : needed;
}

/* From users to makers, until nothing changes; parts only grow. */
static void find_needed(struct cuts *cuts)
{
    enum { MOST_ROUNDS = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = cuts->waste->graph->vertex_count; op-- > 0;) {
            double needed = needed_of(cuts, op);

            has_changed |= needed > cuts->needed[op];
            cuts->needed[op] = needed > cuts->needed[op] ? needed : cuts->needed[op];
        }
    }
    for (uint32_t op = 0; has_changed && op < cuts->waste->graph->vertex_count; op++)
        cuts->needed[op] = 1;
}

/* Padding that goes into a transform, through what hands it on. */
static double filled_of(const struct cuts *cuts, uint32_t op)
{
    const struct compiled *compiled = cuts->waste->compiled;
    uint32_t               maker = compiled_maker(compiled, op);
    double                 made = compiled_elements(compiled, maker);

    if (!compiled_is_type(compiled, maker, "pad") || made <= 0)
        return 1;
    return compiled_operand(compiled, maker, 0) > compiled_operand(compiled, maker, 1)
               ? compiled_operand(compiled, maker, 0) / made
               : compiled_operand(compiled, maker, 1) / made;
}

/* A transform of padded data, or one of which a part is kept, may be as long as twice the data. */
static void mark_transform(struct cuts *cuts, uint32_t op)
{
    struct op_ids producers = op_graph_producers(cuts->waste->graph, op);
    double        part = cuts->needed[op];

    for (size_t i = 0; i < producers.count; i++) {
        double filled = filled_of(cuts, producers.ids[i]);

        part = filled < part ? filled : part;
    }
    cuts->filled[op] = part * FULL_LENGTH < 1 ? part * FULL_LENGTH : 1;
    waste_mark(cuts->waste, op, 1 - cuts->filled[op]);
}

/* Between transforms that are too long all is: what takes their results, or gives them what they
 * take. */
static void mark_beside(struct cuts *cuts, uint32_t op)
{
    struct op_ids sides[] = { op_graph_producers(cuts->waste->graph, op),
                              op_graph_consumers(cuts->waste->graph, op) };
    double        part = 1;

    if (!goes_by_rows(cuts, op) && !compiled_is_type(cuts->waste->compiled, op, "pad"))
        return;
    for (size_t side = 0; side < ARRAY_COUNT(sides); side++)
        for (size_t i = 0; i < sides[side].count; i++) {
            double filled = cuts->filled[sides[side].ids[i]];

            part = filled > 0 && filled < part ? filled : part;
        }
    if (part < 1) {
        cuts->filled[op] = part;
        waste_mark(cuts->waste, op, 1 - part);
    }
}

static bool find_long(struct ledger *ledger, const struct detector *self)
{
    enum { NEIGHBOURS = 8 };
    struct waste waste;
    struct cuts  cuts = { .waste = &waste };
    size_t       count = ledger->study->profile->ops.count + 1;

    cuts.needed = arena_new_array(ledger->scratch, double, count);
    cuts.filled = arena_new_array(ledger->scratch, double, count);
    if (!cuts.needed || !cuts.filled || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    find_needed(&cuts);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (compiled_is_type(waste.compiled, op, "fft"))
            mark_transform(&cuts, op);
    for (int round = 0; round < NEIGHBOURS; round++)
        for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
            if (cuts.filled[op] <= 0)
                mark_beside(&cuts, op);
    return waste_claim(&waste, self, LEAST_SHARE, "a transform far longer than its data");
}

/* An element that nothing takes need not be computed; sorting, say, needs all. */
static bool works_by_element(const struct cuts *cuts, uint32_t op)
{
    static const char *const products[] = { "dot", "convolution" };

    return compiled_works(cuts->waste->compiled, op) &&
           (goes_by_rows(cuts, op) || is_among(cuts, op, products, ARRAY_COUNT(products)));
}

static bool find_cut(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    struct cuts  cuts = { .waste = &waste };

    cuts.needed = arena_new_array(ledger->scratch, double, ledger->study->profile->ops.count + 1);
    if (!cuts.needed || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    find_needed(&cuts);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (cuts.needed[op] > 0 && cuts.needed[op] <= LEAST_CUT && works_by_element(&cuts, op))
            waste_mark(&waste, op, 1 - cuts.needed[op]);
    return waste_claim(&waste, self, LEAST_SHARE, "a part of the result alone is taken");
}

const struct detector detector_cut_results = { "cut-results", CAUSE_UNUSED, GRADE_STRUCTURE,
                                               find_cut };
const struct detector detector_long_transform = { "long-transform", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find_long };
