/* costly_class: classes of ops of which a program that computes rarely needs much: what they take,
 * less a usual need. Names of classes prove nothing, so it is an upper bound, and comes last. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

#include <math.h>

static const double LEAST_SHARE = 0.08;       /* of the step: smaller cells are not worth a look */
static const double PASSES_PER_PRODUCT = 1.5; /* passes over memory may take that of products */
static const double PASSES_SHARE = 0.8;       /* of what they take beyond */
/* Where as many numbers are drawn as are computed with, they are needed, and other generators or
 * fewer draws spare half. */
static const double DRAWN_SHARE = 0.5;

/* What of a class's time can usually be had without. */
static const struct {
    uint8_t           op_class;
    enum excess_cause cause;
    double            share;
} rows[] = {
    { OP_DECOMPOSITION, CAUSE_REPEAT, 0.9 }, { OP_SORT, CAUSE_SHAPE, 0.8 },
    { OP_ONE_HOT, CAUSE_SHAPE, 0.95 },       { OP_RANDOM, CAUSE_SHAPE, 0.9 },
    { OP_SCAN, CAUSE_SHAPE, 0.6 },           { OP_COPY, CAUSE_BYTES, 0.6 },
    { OP_TRANSPOSE, CAUSE_BYTES, 0.6 },      { OP_CAST, CAUSE_BYTES, 0.9 },
    { OP_CONCAT, CAUSE_BYTES, 0.7 },         { OP_SLICE, CAUSE_BYTES, 0.5 },
    { OP_GATHER, CAUSE_BYTES, 0.3 },         { OP_SCATTER, CAUSE_BYTES, 0.5 },
    { OP_CONTROL, CAUSE_DISPATCH, 0.5 },     { OP_ELEMENTWISE, CAUSE_BYTES, 0 },
    { OP_REDUCE, CAUSE_BYTES, 0 },           { OP_ACTIVATION, CAUSE_BYTES, 0 },
    { OP_SOFTMAX, CAUSE_BYTES, 0 },          { OP_NORMALISATION, CAUSE_BYTES, 0 },
};

struct place { /* of one class: neighbouring lines of the program */
    uint32_t                op_class, file, line, cell;
    double                  ns, largest_ns; /* claimed; of all units of an op */
    const struct work_unit *largest;        /* one of that op's */
};
struct finder {
    struct ledger *ledger;
    double         share[OP_CLASS_COUNT]; /* to claim of each class; 0: none, or another cause's */
    double         product_elements;      /* of the largest array that a product makes or takes */
    double        *op_ns;                 /* by row of profile->ops: of its units so far */
    VEC(struct place) places;
};

/* Passes over memory beside products are what the program is made of; without them, or far more of
 * them, they show arrays written and read again. */
static void set_shares(struct finder *finder, enum excess_cause cause)
{
    const struct ledger *ledger = finder->ledger;
    double               ns[OP_CLASS_COUNT] = { 0 }, products, passes = 0, surplus;

    for (size_t u = 0; u < ledger->units.count; u++)
        if (ledger->units.items[u].kind == UNIT_OP)
            ns[ledger->units.items[u].op_class] += ledger->units.items[u].left_ns;
    products = ns[OP_PRODUCT] + ns[OP_CONVOLUTION] + ns[OP_ATTENTION] + ns[OP_CELL];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        passes += rows[i].share > 0 ? 0 : ns[rows[i].op_class];
    surplus = passes > 0 ? PASSES_SHARE * (1 - PASSES_PER_PRODUCT * products / passes) : 0;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].cause == cause)
            finder->share[rows[i].op_class] = rows[i].share > 0 ? rows[i].share
                                              : surplus > 0     ? surplus
                                                                : 0;
}

/* Elements of the largest array that a unit's op makes or takes; 0: not known. */
static double elements_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;
    const struct op      *op = unit->op == NO_ID ? NULL : &profile->ops.items[unit->op];
    double                most = 0;

    for (uint32_t i = 0; op && i < op->input_count + op->output_count; i++)
        most = fmax(most, tensor_elements(&profile->tensors.items[op->first_input + i]));
    return most;
}

static void find_products(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP &&
            (unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
             unit->op_class == OP_ATTENTION))
            finder->product_elements = fmax(finder->product_elements, elements_of(ledger, unit));
    }
}

/* What of a unit can usually be had without. Draws that are larger than anything the program
 * multiplies are mostly summed up or thrown away. */
static double share_of(const struct finder *finder, const struct work_unit *unit)
{
    double share = finder->share[unit->op_class], drawn;

    if (unit->op_class != OP_RANDOM)
        return share;
    drawn = elements_of(finder->ledger, unit);
    return drawn > 0 && drawn <= finder->product_elements ? fmin(share, DRAWN_SHARE) : share;
}

/* NULL: out of memory. */
static struct place *place_of(struct finder *finder, const struct work_unit *unit)
{
    enum { NEIGHBOURS = 8 }; /* lines */
    struct ledger            *ledger = finder->ledger;
    uint32_t                  source = ledger_source(ledger, unit);
    const struct source_line *line =
        source == NO_ID ? NULL : &ledger->study->profile->sources.items[source];
    struct place place = {
        unit->op_class, line ? line->file : 0, line ? line->line : 0, NO_ID, 0, 0, unit
    };

    for (size_t i = 0; i < finder->places.count; i++) {
        struct place *old = &finder->places.items[i];

        if (old->op_class == place.op_class && old->file == place.file &&
            old->line <= place.line + NEIGHBOURS && place.line <= old->line + NEIGHBOURS)
            return old;
    }
    return vec_push(&finder->places, ledger->scratch, place)
               ? &finder->places.items[finder->places.count - 1]
               : NULL;
}

static bool add(struct finder *finder, const struct work_unit *unit)
{
    struct place *place = place_of(finder, unit);
    double        ns = unit->ns;

    if (!place)
        return false;
    place->ns += unit->left_ns * share_of(finder, unit);
    if (unit->op != NO_ID)
        ns = finder->op_ns[unit->op] += unit->ns;
    if (ns > place->largest_ns) {
        place->largest_ns = ns;
        place->largest = unit;
    }
    return true;
}

static bool claim(struct finder *finder, const struct detector *self, struct work_unit *unit)
{
    struct ledger *ledger = finder->ledger;
    struct place  *place = place_of(finder, unit);

    if (!place)
        return false;
    if (place->ns < LEAST_SHARE * ledger->total_ns)
        return true;
    if (!ledger_cell_once(ledger, self, place->largest, &place->cell, "%s",
                          op_class_name((enum op_class)unit->op_class)))
        return false;
    ledger_claim(ledger, place->cell, unit, share_of(finder, unit));
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (ledger->study->profile->format == FORMAT_KINETO || ledger->path->has_device)
        return true;
    finder.op_ns = arena_new_array(ledger->scratch, double, ledger->study->profile->ops.count + 1);
    if (!finder.op_ns)
        return false;
    set_shares(&finder, self->cause);
    if (finder.share[OP_RANDOM] > 0)
        find_products(&finder);
    for (int is_claiming = 0; is_claiming < 2; is_claiming++)
        for (size_t u = 0; u < ledger->units.count; u++) {
            struct work_unit *unit = &ledger->units.items[u];

            if (unit->kind == UNIT_OP && finder.share[unit->op_class] > 0 &&
                !(is_claiming ? claim(&finder, self, unit) : add(&finder, unit)))
                return false;
        }
    return true;
}

const struct detector detector_costly_repeat = { "costly-class", CAUSE_REPEAT, GRADE_NAMES, find };
const struct detector detector_costly_shape = { "costly-class", CAUSE_SHAPE, GRADE_NAMES, find };
const struct detector detector_costly_bytes = { "costly-class", CAUSE_BYTES, GRADE_NAMES, find };
const struct detector detector_costly_dispatch = { "costly-class", CAUSE_DISPATCH, GRADE_NAMES,
                                                   find };
