/* enlarged_pictures: pictures are enlarged and then go through convolutions: most of the places
 * that these work on hold nothing that the smaller pictures do not. Not where the program makes
 * pictures itself, as those that restore or draw them, and those that give each place a few
 * classes. */
#include "analyze/excess/ledger.h"

enum {
    MOST_CHANNELS = 4, /* of a picture */
    FARTHEST = 96,     /* ops from where it is enlarged to the first convolution */
    FEWEST_LAYERS = 4  /* convolutions behind it */
};
static const double LEAST_RATIO = 2; /* of places: less may be cut to a size that layers need */

static bool is_forward_op(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD;
}

static bool is_picture(const struct tensor *tensor)
{
    return tensor && tensor->rank == 4 && tensor->dims[1] >= 1 && tensor->dims[1] <= MOST_CHANNELS;
}

static double places(const struct tensor *tensor)
{
    return (double)tensor->dims[2] * (double)tensor->dims[3];
}

static bool is_convolution(const struct work_unit *unit)
{
    return is_forward_op(unit) && unit->op_class == OP_CONVOLUTION;
}

static bool makes_pictures(const struct ledger *ledger, uint32_t begin, uint32_t end)
{
    for (uint32_t u = begin; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *weight = unit_right(ledger, unit);

        if (is_convolution(unit) && weight && weight->rank == 4 && weight->dims[0] <= MOST_CHANNELS)
            return true;
    }
    return false;
}

/* The first convolution behind unit `at` works on more places than the picture that is enlarged
 * there. NO_ID: it does not. */
static uint32_t find_entry(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    const struct tensor *small = unit_input(ledger, &ledger->units.items[at], 0);
    uint32_t             seen = 0;

    if (!is_forward_op(&ledger->units.items[at]) || !is_picture(small) ||
        !str_fits(unit_type(ledger, &ledger->units.items[at]),
                  "aten::upsample_*|aten::_upsample_*"))
        return NO_ID;
    for (uint32_t u = at + 1; u < end && seen < FARTHEST; u++) {
        const struct tensor *large;

        seen += ledger->units.items[u].kind == UNIT_OP;
        if (!is_convolution(&ledger->units.items[u]))
            continue;
        large = unit_left(ledger, &ledger->units.items[u]);
        return is_picture(large) && large->dims[1] == small->dims[1] &&
                       places(large) >= LEAST_RATIO * places(small)
                   ? u
                   : NO_ID;
    }
    return NO_ID;
}

/* Its work is by the places of maps of the batch. */
static bool works_by_place(const struct ledger *ledger, const struct work_unit *unit, int64_t batch)
{
    const struct tensor *maps = unit_input(ledger, unit, 0);

    return is_forward_op(unit) && maps && maps->rank == 4 && maps->dims[0] == batch &&
           places(maps) > 1 &&
           (unit->op_class == OP_CONVOLUTION || unit->op_class == OP_NORMALISATION ||
            unit->op_class == OP_ACTIVATION || unit->op_class == OP_ELEMENTWISE ||
            unit->op_class == OP_POOL);
}

/* The network that begins at unit `entry` ends before the next pictures go in. */
static uint32_t find_end(const struct ledger *ledger, uint32_t entry, uint32_t end,
                         uint32_t *layers)
{
    *layers = 0;
    for (uint32_t u = entry + 1; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (is_convolution(unit) && is_picture(unit_left(ledger, unit)))
            return u;
        *layers += is_convolution(unit);
    }
    return end;
}

static bool claim(struct ledger *ledger, uint32_t cell, uint32_t entry, uint32_t end, double share)
{
    int64_t batch = unit_left(ledger, &ledger->units.items[entry])->dims[0];

    for (uint32_t u = entry; u < end; u++) {
        if (!works_by_place(ledger, &ledger->units.items[u], batch))
            continue;
        ledger_claim(ledger, cell, &ledger->units.items[u], share);
        if (!ledger_claim_way_back(ledger, cell, u, u, share))
            return false;
    }
    return true;
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    uint32_t begin = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    bool     is_looked_at = false;

    for (uint32_t u = begin; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                entry = find_entry(ledger, u, end), network_end, layers;
        double                  kept;

        if (entry == NO_ID)
            continue;
        if (!is_looked_at && makes_pictures(ledger, begin, end))
            return true;
        is_looked_at = true;
        network_end = find_end(ledger, entry, end, &layers);
        if (layers < FEWEST_LAYERS)
            continue;
        kept = places(unit_input(ledger, unit, 0)) /
               places(unit_left(ledger, &ledger->units.items[entry]));
        if (!ledger_cell_once(ledger, self, &ledger->units.items[entry], cell,
                              "%.1f times as many places as the pictures have", 1 / kept) ||
            !claim(ledger, *cell, entry, network_end, 1 - kept))
            return false;
        u = entry;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (size_t step = 0; ledger->is_torch && step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_enlarged_pictures = { "enlarged-pictures", CAUSE_SHAPE, GRADE_SIZES,
                                                     find };
