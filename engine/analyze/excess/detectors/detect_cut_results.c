/* cut_results: of what a compiled program computes a part alone is taken: rows of logits that are
 * cut off, there and back, results of transforms far longer than what goes in and what is kept.
 * slow_transform: such a one has a length that takes several times as long as the next good one.
 * masked_work: of results for all, a one-hot mask keeps one; or what a product multiplies is zero
 * but for one. */
#include "analyze/excess/parts.h"
#include "analyze/excess/transforms.h"
#include "base/macros.h"

#include <math.h>

static const double LEAST_SHARE = 0.03; /* of the steps */
static const double LEAST_CUT = 0.5;    /* of a result: smaller cuts are how programs are written */
static const double FULL_LENGTH = 2;    /* times the data, that a transform may need */

enum { BEHIND_PADDED = 1, BEFORE_CUT = 2 };
struct cuts {
    struct waste *waste;
    struct parts  parts;
    double       *filled;  /* by op: the part of it that is not padding */
    uint8_t      *reached; /* by op: from a transform of padding, to one that is cut */
    double       *needed;  /* by transform: the fullest data that what it makes meets */
};

/* Each element of the result comes from one of the operand, or from one row of it. */
static bool goes_by_rows(const struct cuts *cuts, uint32_t op)
{
    static const char types[] = "bitcast|copy|transpose|reshape|parameter|call|fusion|broadcast|"
                                "reduce|get-tuple-element|real|imag|complex";

    return linear_is_elementwise(cuts->waste, op) || waste_is(cuts->waste, op, types);
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

static bool is_transform(const struct cuts *cuts, uint32_t op)
{
    return compiled_is_type(cuts->waste->compiled, op, "fft");
}

static double filled_operand(const struct cuts *cuts, uint32_t transform)
{
    uint32_t operand = op_graph_operand(cuts->waste->graph, transform, 0);

    return operand == NO_ID ? 1 : filled_of(cuts, operand);
}

static bool is_complex(const struct cuts *cuts, uint32_t op)
{
    return compiled_is_complex(cuts->waste->compiled, op);
}

/* Complex numbers, and what takes them apart, from one transform to the next. */
static bool is_between_transforms(const struct cuts *cuts, uint32_t op)
{
    return is_transform(cuts, op) || is_complex(cuts, op) ||
           waste_is(cuts->waste, op, "real|imag|negate|tuple|fusion");
}

/* From `from` to `to`, of which `next` is reached. Into and out of a fusion by its contents. */
static bool goes_on(const struct cuts *cuts, uint32_t from, uint32_t to, uint32_t next)
{
    const struct compiled *compiled = cuts->waste->compiled;

    return (!compiled_holds(compiled, to) || compiled->root[to] == from) &&
           is_between_transforms(cuts, next);
}

/* Marks what is reached from transforms that `is_end` tells, on to the next ones: with the flow of
 * results, or against it. false: out of memory. */
static bool reach(struct cuts *cuts, uint8_t bit, bool is_against,
                  bool (*is_end)(const struct cuts *cuts, uint32_t op))
{
    const struct waste *waste = cuts->waste;
    VEC(uint32_t) open = { 0 };

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (is_transform(cuts, op) && is_end(cuts, op) &&
            !vec_push(&open, waste->ledger->scratch, op))
            return false;
    for (size_t i = 0; i < open.count; i++) {
        uint32_t      op = open.items[i];
        struct op_ids next = is_against ? op_graph_producers(waste->graph, op)
                                        : op_graph_consumers(waste->graph, op);

        for (size_t n = 0; n < next.count; n++) {
            uint32_t from = is_against ? next.ids[n] : op, to = is_against ? op : next.ids[n];

            if (cuts->reached[next.ids[n]] & bit || !goes_on(cuts, from, to, next.ids[n]))
                continue;
            cuts->reached[next.ids[n]] |= bit;
            if (!is_transform(cuts, next.ids[n]) &&
                !vec_push(&open, waste->ledger->scratch, next.ids[n]))
                return false;
        }
    }
    return true;
}

/* Hands the number of each transform on to the next ones, where the largest is kept. false: out of
 * memory. */
static bool hand_on(const struct cuts *cuts, const double *own, double *largest, bool is_against)
{
    const struct waste *waste = cuts->waste;
    VEC(uint32_t) open = { 0 };

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (is_transform(cuts, op) && !vec_push(&open, waste->ledger->scratch, op))
            return false;
    for (size_t i = 0; i < open.count; i++) {
        uint32_t      op = open.items[i];
        double        value = is_transform(cuts, op) ? own[op] : largest[op];
        struct op_ids next = is_against ? op_graph_producers(waste->graph, op)
                                        : op_graph_consumers(waste->graph, op);

        for (size_t n = 0; n < next.count; n++) {
            uint32_t from = is_against ? next.ids[n] : op, to = is_against ? op : next.ids[n];

            if (largest[next.ids[n]] >= value || !goes_on(cuts, from, to, next.ids[n]))
                continue;
            largest[next.ids[n]] = value;
            if (!is_transform(cuts, next.ids[n]) &&
                !vec_push(&open, waste->ledger->scratch, next.ids[n]))
                return false;
        }
    }
    return true;
}

/* A short kernel is padded to the length of the signal whose spectrum its own is multiplied with:
 * each transform needs what the fullest of those needs that meet before the next one. false: out of
 * memory. */
static bool find_needed(struct cuts *cuts)
{
    struct arena *scratch = cuts->waste->ledger->scratch;
    size_t        count = cuts->waste->graph->vertex_count;
    double       *own = arena_new_array(scratch, double, count + 1);
    double       *met = arena_new_array(scratch, double, count + 1);

    cuts->needed = arena_new_array(scratch, double, count + 1);
    if (!own || !met || !cuts->needed)
        return false;
    for (uint32_t op = 0; op < count; op++)
        own[op] = is_transform(cuts, op) ? filled_operand(cuts, op) : 0;
    return hand_on(cuts, own, met, false) && hand_on(cuts, met, cuts->needed, true);
}

static bool takes_padding(const struct cuts *cuts, uint32_t op)
{
    return filled_operand(cuts, op) < 1;
}

static bool is_cut(const struct cuts *cuts, uint32_t op)
{
    return parts_cut(&cuts->parts, op) < 1;
}

/* A transform of padded data, and the one behind it of which a part is kept, may be as long as
 * twice the data that meets in them. What lies before a transform of which few numbers are kept, or
 * behind one of few numbers, is the data itself. */
static void mark_transform(struct cuts *cuts, uint32_t op)
{
    double cut = cuts->reached[op] & BEHIND_PADDED ? parts_cut(&cuts->parts, op) : 1;
    double filled = cuts->reached[op] & BEFORE_CUT ? cuts->needed[op] : 1;
    double part = FULL_LENGTH * (cut < filled ? cut : filled);

    cuts->filled[op] = part < 1 ? part : 1;
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

/* needed stays NULL where no program has a transform. false: out of memory. */
static bool open_transforms(struct cuts *cuts, struct ledger *ledger)
{
    struct waste *waste = cuts->waste;
    bool          has_transform = false;
    size_t        count = ledger->study->profile->ops.count + 1;

    cuts->filled = arena_new_array(ledger->scratch, double, count);
    cuts->reached = arena_new_array(ledger->scratch, uint8_t, count);
    if (!cuts->filled || !cuts->reached || !waste_open(waste, ledger))
        return false;
    for (uint32_t op = 0; waste->graph && op < waste->graph->vertex_count && !has_transform; op++)
        has_transform = is_transform(cuts, op);
    return !has_transform ||
           (parts_open(&cuts->parts, waste) && reach(cuts, BEHIND_PADDED, false, takes_padding) &&
            reach(cuts, BEFORE_CUT, true, is_cut) && find_needed(cuts));
}

static bool find_long(struct ledger *ledger, const struct detector *self)
{
    enum { NEIGHBOURS = 8 };
    struct waste waste;
    struct cuts  cuts = { .waste = &waste };

    if (!open_transforms(&cuts, ledger))
        return false;
    if (!cuts.needed)
        return true;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (is_transform(&cuts, op))
            mark_transform(&cuts, op);
    for (int round = 0; round < NEIGHBOURS; round++)
        for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
            if (cuts.filled[op] <= 0)
                mark_beside(&cuts, op);
    return waste_claim(&waste, self, LEAST_SHARE, "a transform far longer than its data");
}

/* Of the last axis; one that goes to complex numbers or comes from them keeps half of it there. */
static int64_t transform_length(const struct cuts *cuts, uint32_t op)
{
    const struct profile *profile = cuts->waste->profile;
    const struct op      *row = &profile->ops.items[op];
    int64_t               length = 0;

    if (row->input_count > 0 && row->output_count > 0) {
        const struct tensor *sides[] = { &profile->tensors.items[row->first_input],
                                         &profile->tensors.items[row->first_output] };

        for (size_t i = 0; i < ARRAY_COUNT(sides); i++)
            if (sides[i]->rank > 0 && sides[i]->dims[sides[i]->rank - 1] > length)
                length = sides[i]->dims[sides[i]->rank - 1];
    }
    return length;
}

/* Where data is padded for a transform, or a part of what comes back is kept, its length is the
 * program's choice. */
static bool find_slow(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    struct cuts  cuts = { .waste = &waste };

    if (!open_transforms(&cuts, ledger))
        return false;
    for (uint32_t op = 0; cuts.needed && op < waste.graph->vertex_count; op++) {
        if (is_transform(&cuts, op) &&
            (cuts.reached[op] || takes_padding(&cuts, op) || is_cut(&cuts, op)))
            waste_mark(&waste, op, 1 - transform_kept(transform_length(&cuts, op)));
    }
    return !cuts.needed ||
           waste_claim(&waste, self, LEAST_SHARE, "a length with large prime factors");
}

/* An element that nothing takes need not be computed; sorting, say, needs all. */
static bool works_by_element(const struct cuts *cuts, uint32_t op)
{

    return compiled_works(cuts->waste->compiled, op) &&
           (goes_by_rows(cuts, op) || waste_is(cuts->waste, op, "dot|convolution"));
}

/* taken: the part of an instruction's work that something takes. */
static bool find_part(struct ledger *ledger, const struct detector *self, const char *detail,
                      double (*taken)(const struct parts *parts, uint32_t op))
{
    struct waste waste;
    struct cuts  cuts = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!parts_open(&cuts.parts, &waste))
        return false;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++) {
        double part = taken(&cuts.parts, op);

        if (part > 0 && part <= LEAST_CUT && works_by_element(&cuts, op))
            waste_mark(&waste, op, 1 - part);
    }
    return waste_claim(&waste, self, LEAST_SHARE, detail);
}

/* A fusion computes what is asked of its result: what is cut off inside of it is not even begun. On
 * the way back the gradients of what was cut off are zeros. */
static double cut_behind_fusion(const struct parts *parts, uint32_t op)
{
    const struct waste *waste = parts->axes.waste;
    uint32_t            timed = compiled_timed(waste->compiled, op);
    bool is_fused = timed != op && compiled_is_type(waste->compiled, timed, "fusion") &&
                    !waste_is(waste, op, "dot|convolution");

    return fmin(parts_cut(parts, is_fused ? timed : op), parts_filled(parts, op));
}

static bool find_cut(struct ledger *ledger, const struct detector *self)
{
    return find_part(ledger, self, "a part of the result alone is taken", cut_behind_fusion);
}

static bool find_masked(struct ledger *ledger, const struct detector *self)
{
    return find_part(ledger, self, "a one-hot mask leaves one row of several", parts_picked);
}

const struct detector detector_cut_results = { "cut-results", CAUSE_UNUSED, GRADE_STRUCTURE,
                                               find_cut };
const struct detector detector_masked_work = { "masked-work", CAUSE_SHAPE, GRADE_STRUCTURE,
                                               find_masked };
const struct detector detector_long_transform = { "long-transform", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find_long };
const struct detector detector_slow_transform = { "slow-transform", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find_slow };
