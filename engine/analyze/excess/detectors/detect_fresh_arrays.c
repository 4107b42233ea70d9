/* fresh_arrays: on the host and without gradients, ops that each make an array of more than 32 MiB.
 * The C library gives such arrays back to the system as soon as they are free, which clears the
 * pages of the next one when they are first written. Ops over arrays as large that make none, in
 * place or to a few numbers, show what passing over them takes here; what is far beyond is for new
 * pages. */
#include "analyze/excess/ledger.h"

#include <math.h>

static const double FRESH_BYTES = 32 << 20; /* up to which the C library keeps freed memory */
static const double LEAST_SHARE = 0.05;     /* of the steps */
static const double MUCH_LONGER = 2.5;      /* than the traffic takes at the rate seen */
static const double MOST_OF_PRODUCT = 0.9;

struct finder {
    struct ledger *ledger;
    double         rate;     /* bytes a ns of ops that make no large array; 0 unknown */
    double         page_ns;  /* beyond that, for a new byte */
    double         new_size; /* bytes made by the ops that tell */
};

static double input_bytes(const struct ledger *ledger, const struct work_unit *unit)
{
    double bytes = 0;

    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        bytes += tensor_bytes(unit_input(ledger, unit, i));
    return bytes;
}

/* What an op that works element by element makes: its operands spread over each other. */
static double spread_bytes(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *first = unit_input(ledger, unit, 0), *input;
    struct tensor        result = { 0 };

    for (uint32_t i = 0; (input = unit_input(ledger, unit, i)) != NULL; i++) {
        int8_t rank = input->rank > result.rank ? input->rank : result.rank;

        for (int8_t back = 1; back <= rank; back++) {
            int64_t  in = back <= input->rank ? input->dims[input->rank - back] : 1;
            int64_t *out = &result.dims[TENSOR_MAX_RANK - back];

            *out = back > result.rank || in > *out ? in : *out;
        }
        result.rank = rank;
    }
    double elements = result.rank > 0 ? 1 : 0;

    for (int8_t back = 1; back <= result.rank; back++)
        elements *= (double)result.dims[TENSOR_MAX_RANK - back];
    return first ? elements * (double)dtype_bits((enum dtype)first->dtype) / 8 : 0;
}

static double product_bytes(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);
    double               inner;

    if (!left || !right || left->rank < 1 || right->rank != 2 ||
        unit_input(ledger, unit, unit_first_factor(ledger, unit) + 2))
        return 0;
    inner = (double)left->dims[left->rank - 1];
    return inner > 0 ? tensor_bytes(left) / inner * tensor_elements(right) / inner : 0;
}

static bool is_unrecorded(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && !unit->is_trained;
}

/* Bytes of the new array that the op makes; 0: none, or one that is not known. */
static double made_by(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    if (!is_unrecorded(unit) || str_ends(type, STR("_")))
        return 0;
    if (unit->op_class == OP_PRODUCT)
        return product_bytes(ledger, unit);
    if ((unit->op_class != OP_ELEMENTWISE && unit->op_class != OP_ACTIVATION) ||
        str_fits(type, "*::eq|*::ne|*::lt|*::le|*::gt|*::ge|*::is*|*::logical_*|*::to"))
        return 0;
    return spread_bytes(ledger, unit);
}

static double excess_of(const struct finder *finder, const struct work_unit *unit, double made)
{
    double passing_ns = (input_bytes(finder->ledger, unit) + made) / finder->rate;

    return unit->ns > MUCH_LONGER * passing_ns ? unit->ns - passing_ns : 0;
}

/* An op that passes over its operands and makes no array as large. */
static bool only_passes(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    if (unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_ACTIVATION)
        return str_ends(type, STR("_"));
    return unit->op_class == OP_REDUCE ||
           str_fits(type, "*::amin|*::amax|*::argmin|*::argmax|*::min|*::max");
}

/* What it takes to pass over a large array, and beyond that to make one. */
static void measure(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        double                  bytes = input_bytes(ledger, unit);

        if (is_unrecorded(unit) && bytes > FRESH_BYTES && unit->ns > 0 && only_passes(ledger, unit))
            finder->rate = fmax(finder->rate, bytes / unit->ns);
    }
    for (size_t u = 0; u < ledger->units.count && finder->rate > 0; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        double                  made = made_by(ledger, unit);

        if (made <= FRESH_BYTES || unit->op_class == OP_PRODUCT)
            continue;
        finder->page_ns += excess_of(finder, unit, made);
        finder->new_size += made;
    }
    finder->page_ns = finder->new_size > 0 ? finder->page_ns / finder->new_size : 0;
}

static bool claim(struct finder *finder, const struct detector *self, struct work_unit *unit,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    double         made = made_by(ledger, unit), ns;

    if (made <= FRESH_BYTES || unit->ns <= 0)
        return true;
    ns = unit->op_class == OP_PRODUCT ? fmin(made * finder->page_ns, MOST_OF_PRODUCT * unit->ns)
                                      : excess_of(finder, unit, made);
    if (ns <= 0)
        return true;
    if (!ledger_cell_once(ledger, self, unit, cell, "an array of %.0f MiB is made anew",
                          made / (1 << 20)))
        return false;
    ledger_claim(ledger, *cell, unit, ns / unit->ns);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->path->has_device)
        return true;
    measure(&finder);
    if (finder.page_ns * finder.new_size < LEAST_SHARE * ledger->total_ns)
        return true;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (!claim(&finder, self, &ledger->units.items[u], &cell))
            return false;
    return true;
}

const struct detector detector_fresh_arrays = { "fresh-arrays", CAUSE_BYTES, GRADE_SIZES, find };
