/* kept_window: a network that answers on the last frames of a stream takes all of them each time,
 * one a row, though between two answers only a few can have come: the others went through it
 * before, and what it made of them can be kept. Recordings name no tensors; that few came is told
 * by how many ops since the last window can have made one of its frames.
 */
#include "analyze/excess/ledger.h"
#include "analyze/excess/makers.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEWEST_ROWS = 4,
    FEWEST_WINDOWS = 3, /* with as many new rows each, so that it is no accident */
    FEWEST_PRODUCTS = 2 /* that take the window's rows: less is no network */
};

struct window {
    uint32_t unit; /* where its rows are joined */
    uint32_t end;  /* behind the network that takes them; 0: there is none */
    uint32_t rows, new_rows;
};
struct finder {
    struct ledger *ledger;
    VEC(struct window) windows;
    uint32_t *made; /* by name of the profile: ops of that name that can have made a row */
};

/* Tensors of the same shape that are joined along an axis of their own; they go to *row. 0: it
 * joins others. */
static uint32_t joined_rows(const struct ledger *ledger, const struct work_unit *unit,
                            const struct tensor **row)
{
    const struct tensor *next;
    uint32_t             count = 0;

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || unit->op_class != OP_CONCAT)
        return 0;
    *row = unit_input(ledger, unit, 0);
    if (!*row || (*row)->rank < 2 || tensor_count(*row) <= 0)
        return 0;
    if (!str_ends(unit_type(ledger, unit), STR("stack")) && (*row)->dims[0] != 1)
        return 0;
    while ((next = unit_input(ledger, unit, count)) && same_dims(next, *row))
        count++;
    return count;
}

/* Has it each of those dimensions, so that what is left of it can be the row? */
static bool has_dims_of(const struct tensor *tensor, const struct tensor *row)
{
    for (int8_t i = 0; i < row->rank; i++) {
        bool found = row->dims[i] == 1;

        for (int8_t k = 0; k < tensor->rank && !found; k++)
            found = tensor->dims[k] == row->dims[i];
        if (!found)
            return false;
    }
    return true;
}

/* Part of a tensor: a row of many, or a frame cut out of a larger one. */
static bool can_be_cut(const struct tensor *tensor, const struct tensor *row)
{
    if (tensor->rank < row->rank)
        return false;
    for (int8_t i = 1; i <= row->rank; i++)
        if (tensor->dims[tensor->rank - i] < row->dims[row->rank - i])
            return false;
    return true;
}

/* How many rows it can have made: all of them where it takes a tensor apart. */
static uint32_t can_make(const struct ledger *ledger, const struct work_unit *unit,
                         const struct tensor *row, uint32_t rows)
{
    const struct tensor *first = unit_input(ledger, unit, 0);
    struct str           type = unit_type(ledger, unit);
    int64_t              largest, sum = unit_operands(ledger, unit, &largest);

    switch (unit->op_class) {
    case OP_CONVOLUTION:
    case OP_POOL:
    case OP_PRODUCT:
    case OP_EMBEDDING:
    case OP_CONCAT:
    case OP_RANDOM:
        return unit_can_make(ledger, unit, row);
    case OP_REDUCE:
        return !first || has_dims_of(first, row);
    case OP_SLICE:
        if (!first || !can_be_cut(first, row))
            return 0;
        return str_fits(type, "*unbind*|*split*|*chunk*|*unstack*") ? rows : 1;
    default:
        return sum == 0 || largest == tensor_count(row);
    }
}

/* Each new frame goes through the same few ops, as long as all of these come as often; else each
 * op may have made another frame. */
static uint32_t count_new(struct finder *finder, uint32_t from, uint32_t end,
                          const struct tensor *row, uint32_t rows)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       sum = 0, most = 0, least = UINT32_MAX;

    for (uint32_t u = from; u < end; u++)
        finder->made[ledger->units.items[u].type] = 0;
    for (uint32_t u = from; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                made =
            unit->kind == UNIT_OP && unit->op != NO_ID ? can_make(ledger, unit, row, rows) : 0;

        finder->made[unit->type] += made;
        sum += made;
    }
    for (uint32_t u = from; u < end; u++) {
        uint32_t made = finder->made[ledger->units.items[u].type];

        most = made > most ? made : most;
        least = made && made < least ? made : least;
    }
    return most == least ? most : sum;
}

/* How many rows an op works on; 0: it has none of its own, as what prepares a weight. */
static int64_t rows_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *tensor =
        unit_is_forward_product(unit) ? unit_left(ledger, unit) : unit_input(ledger, unit, 0);

    return tensor && tensor->rank >= 2 ? tensor->dims[0] : 0;
}

/* Behind the last product that takes rows of the window one by one. From the first op on that has
 * others, as one that goes over all frames, nothing is known. 0: too few products. */
static uint32_t rows_end(const struct ledger *ledger, uint32_t joined, uint32_t joined_rows,
                         uint32_t end)
{
    uint32_t products = 0, behind = 0;

    for (uint32_t u = joined + 1; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        int64_t                 rows = unit->kind == UNIT_OP ? rows_of(ledger, unit) : 0;

        if (!rows || unit->op_class == OP_VIEW)
            continue;
        if (rows != joined_rows || unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL)
            break;
        if (unit_is_forward_product(unit)) {
            products++;
            behind = u + 1;
        }
    }
    return products >= FEWEST_PRODUCTS ? behind : 0;
}

static bool list_joined(struct finder *finder)
{
    struct ledger       *ledger = finder->ledger;
    const struct tensor *row;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        uint32_t      rows = joined_rows(ledger, &ledger->units.items[u], &row);
        struct window window = { .unit = u, .rows = rows, .new_rows = rows };

        if (rows >= FEWEST_ROWS && !vec_push(&finder->windows, ledger->scratch, window))
            return false;
    }
    return true;
}

/* What the network makes of one window is no frame of the next. */
static void look_at_windows(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;

    for (size_t i = 0; i < finder->windows.count; i++) {
        struct window       *window = &finder->windows.items[i], *last = window - 1;
        const struct tensor *row, *last_row;
        uint32_t             end =
            i + 1 < finder->windows.count ? window[1].unit : (uint32_t)ledger->units.count;

        window->end = rows_end(ledger, window->unit, window->rows, end);
        if (i == 0 || !window->end || !last->end || last->rows != window->rows)
            continue;
        joined_rows(ledger, &ledger->units.items[window->unit], &row);
        joined_rows(ledger, &ledger->units.items[last->unit], &last_row);
        if (same_dims(row, last_row))
            window->new_rows = count_new(finder, last->end, window->unit, row, window->rows);
    }
}

/* What is left of an op for the new rows alone: starting it, and their share. */
static double kept_of(const struct ledger *ledger, const struct work_unit *unit,
                      const struct window *window)
{
    return fmin(
        1, fmax((double)window->new_rows / window->rows, ledger->start_ns / fmax(unit->ns, 1)));
}

static bool claim(struct finder *finder, const struct detector *self, const struct window *window,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!window->end)
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[window->unit], cell,
                          "%u frames go through the network each time, and at most %u of them can "
                          "have come since the last time",
                          window->rows, window->new_rows))
        return false;
    for (uint32_t u = window->unit; u < window->end; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->op_class != OP_VIEW)
            ledger_claim(ledger, *cell, unit, 1 - kept_of(ledger, unit, window));
    }
    return true;
}

/* Windows from row `first` on, behind whose first each has as many new rows, at most half. The
 * first, of which nobody saw what came before it, is like them. */
static size_t alike(const struct finder *finder, size_t first)
{
    const struct window *windows = finder->windows.items;
    size_t               count = 1;

    if (first + 1 >= finder->windows.count)
        return count;
    while (first + count < finder->windows.count &&
           windows[first + count].rows == windows[first].rows &&
           windows[first + count].new_rows == windows[first + 1].new_rows)
        count++;
    return windows[first + 1].new_rows >= 1 &&
                   2 * windows[first + 1].new_rows <= windows[first].rows
               ? count
               : 1;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    finder.made =
        arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->names.count + 1);
    if (!finder.made || !list_joined(&finder))
        return false;
    look_at_windows(&finder);
    for (size_t first = 0, count; first < finder.windows.count; first += count) {
        count = alike(&finder, first);
        if (count <= FEWEST_WINDOWS)
            continue;
        finder.windows.items[first].new_rows = finder.windows.items[first + 1].new_rows;
        for (size_t i = first; i < first + count; i++) {
            if (!claim(&finder, self, &finder.windows.items[i], &cell))
                return false;
        }
    }
    return true;
}

const struct detector detector_kept_window = { "kept-window", CAUSE_REPEAT, GRADE_SIZES, find };
