/* wide_windows: an eager program pools windows that overlap, as boxes of a filter, and each result
 * looks at all values of its window. Along one axis and then along the other of what that gave,
 * sums and maxima are the same, and each looks at a row and a column. */
#include "analyze/excess/ledger.h"

/* What two passes cost is more than the values that they look at: the first one's result goes
 * through memory, and a window along rows takes values that lie apart. */
static const double PASSES_COST = 2.5;
static const double MOST_KEPT = 0.67;

/* What pooling along one axis after the other keeps of the cost; 1: it is as cheap at once, or not
 * known. */
static double kept_by_axes(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *from = unit_input(ledger, unit, 0);
    int64_t              window[2], stride[2], padding[2];
    double               in, left[2], once, apart;

    if (unit->kind != UNIT_OP || !from || from->rank < 3 ||
        !str_fits(unit_type(ledger, unit), "aten::avg_pool2d|aten::max_pool2d") ||
        unit_numbers(ledger, unit, 1, window, 2) != 2 ||
        unit_numbers(ledger, unit, 2, stride, 2) != 2 ||
        unit_numbers(ledger, unit, 3, padding, 2) != 2)
        return 1;
    for (int i = 0; i < 2; i++) {
        in = (double)from->dims[from->rank - 2 + i];
        if (window[i] < 2 || stride[i] < 1 || in < 1)
            return 1;
        left[i] = 1 + (in + 2 * (double)padding[i] - (double)window[i]) / (double)stride[i];
    }
    once = left[0] * left[1] * (double)window[0] * (double)window[1];
    apart = PASSES_COST * left[0] * (in * (double)window[0] + left[1] * (double)window[1]);
    return once > 0 && apart < MOST_KEPT * once ? apart / once : 1;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || ledger->is_of_device)
        return true;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        double  kept = kept_by_axes(ledger, &ledger->units.items[u]);
        int64_t window[2];

        if (kept == 1 || unit_numbers(ledger, &ledger->units.items[u], 1, window, 2) != 2)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[u], &cell,
                              "windows of %lld x %lld", (long long)window[0], (long long)window[1]))
            return false;
        ledger_claim(ledger, cell, &ledger->units.items[u], 1 - kept);
        if (!ledger_claim_way_back(ledger, cell, u, u, 1 - kept))
            return false;
    }
    return true;
}

const struct detector detector_wide_windows = { "wide-windows", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
