/* state_saved: all parameters of a model are handed out one after the other, and then nothing runs
 * for long: its state is written. */
#include "analyze/excess/pause_kinds.h"

enum { FEWEST_TENSORS = 4 };
static const double SHORTEST_NS = 1e6; /* less is not a file */

struct finder {
    struct ledger *ledger;
    uint8_t       *kinds; /* by unit: enum pause_kind */
};

/* What reading the state of a model, and of counters in it, calls on each tensor. */
static bool hands_out(const struct ledger *ledger, const struct work_unit *unit)
{
    static const char types[] = "aten::detach|aten::item|aten::to|aten::contiguous|aten::cpu";

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD)
        return false;
    return str_fits(unit_type(ledger, unit), types);
}

/* Behind the last op of the row that begins at `from`. */
static uint32_t row_end(const struct ledger *ledger, uint32_t from, uint32_t end, uint32_t *tensors)
{
    uint32_t behind = from;

    *tensors = 0;
    for (uint32_t u = from; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *tensor = unit_input(ledger, unit, 0);

        if (unit->kind == UNIT_PAUSE)
            continue;
        if (!hands_out(ledger, unit))
            break;
        *tensors += str_equal(unit_type(ledger, unit), STR("aten::detach")) &&
                    (!tensor || tensor->rank != 0);
        behind = u + 1;
    }
    return behind;
}

/* Inside of a transformation of functions, as torch.func's grad and vmap are: what hands parameters
 * over there computes with them, and the pause is its own Python. */
static bool is_transforming(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;

    for (uint32_t frame = unit->frame; frame != NO_ID;
         frame = ledger->path->frames.items[frame].parent) {
        uint32_t event = ledger->path->frames.items[frame].event;

        if (str_starts(profile_str(profile, event_activity(profile, event)->name),
                       STR("torch/_functorch/")))
            return true;
    }
    return false;
}

/* Long pauses between what is handed out and the next op. */
static double go_over(struct finder *finder, uint32_t from, uint32_t end, uint32_t cell)
{
    struct ledger *ledger = finder->ledger;
    double         ns = 0;

    for (uint32_t u = from; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_PAUSE || unit->phase != UNIT_FORWARD)
            break;
        if (unit->left_ns < SHORTEST_NS || finder->kinds[u] == PAUSE_CHANCE ||
            is_transforming(ledger, unit))
            continue;
        ns += unit->left_ns;
        if (cell != NO_ID)
            ledger_claim(ledger, cell, unit, 1);
    }
    return ns;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       end = ledger->first_unit[step + 1], tensors;

    for (uint32_t u = ledger->first_unit[step], behind; u<end; u = behind> u ? behind : u + 1) {
        behind = hands_out(ledger, &ledger->units.items[u]) ? row_end(ledger, u, end, &tensors) : u;
        if (behind == u || tensors < FEWEST_TENSORS || go_over(finder, behind, end, NO_ID) <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[behind], cell,
                              "%u tensors are copied out, and nothing runs behind that", tensors))
            return false;
        go_over(finder, behind, end, *cell);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch)
        return true;
    finder.kinds = pause_kinds_find(ledger, SHORTEST_NS);
    if (!finder.kinds)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_state_saved = { "state-copied", CAUSE_WAIT_IO, GRADE_SIZES, find };
