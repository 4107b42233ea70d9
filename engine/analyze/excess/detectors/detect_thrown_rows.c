/* thrown_rows: a product of which the next op keeps a few rows: the others were for nothing. */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 4 };
static const double MOST_KEPT = 0.5;

/* Of the product's result: as its left operand, with the columns of the right one. */
static bool result_of(const struct ledger *ledger, const struct work_unit *unit,
                      struct tensor *result)
{
    struct str           type = unit_type(ledger, unit);
    const struct tensor *left = unit_left(ledger, unit);
    const struct tensor *right = unit_right(ledger, unit);

    if (!left || !right || left->rank < 2 || right->rank != 2)
        return false;
    *result = *left;
    result->dims[left->rank - 1] = str_ends(type, STR("linear")) ? right->dims[0] : right->dims[1];
    return true;
}

/* The scalar at a place of "['', '1', '-1']". */
static bool scalar_at(struct str text, size_t place, int64_t *value)
{
    struct str part = { 0 };

    for (size_t i = 0; i <= place; i++)
        part = str_cut(&text, ',');
    for (size_t i = 0; i < 2; i++) {
        while (part.len && (part.data[0] < '0' || part.data[0] > '9') && part.data[0] != '-')
            part = str_slice(part, 1, part.len);
        while (part.len && (part.data[part.len - 1] < '0' || part.data[part.len - 1] > '9'))
            part = str_slice(part, 0, part.len - 1);
    }
    return part.len && str_to_int64(part, value);
}

/* Which part of `result` the op keeps; 1 where it is no cut across rows. */
static double kept_by(const struct ledger *ledger, const struct work_unit *unit,
                      const struct tensor *result)
{
    const struct profile *profile = ledger->study->profile;
    struct str            type = unit_type(ledger, unit), text;
    int64_t               name, dim, from, to, size;

    if (unit->frame == NO_ID || !same_dims(unit_input(ledger, unit, 0), result) ||
        !profile_stat(profile, STAT_CONCRETE_INPUTS, ledger->path->frames.items[unit->frame].event,
                      &name))
        return 1;
    text = profile_str(profile, (uint32_t)name);
    if (!scalar_at(text, 1, &dim))
        return 1;
    dim += dim < 0 ? result->rank : 0;
    if (dim < 0 || dim >= result->rank - 1 || result->dims[dim] <= 1)
        return 1;
    size = result->dims[dim];
    if (str_ends(type, STR("::select")))
        return 1.0 / (double)size;
    if (!str_ends(type, STR("::slice")) || !scalar_at(text, 2, &from) || !scalar_at(text, 3, &to))
        return 1;
    from += from < 0 ? size : 0;
    to = to > size ? size : to + (to < 0 ? size : 0);
    return from >= 0 && from < to ? (double)(to - from) / (double)size : 1;
}

double unit_kept_rows(const struct ledger *ledger, uint32_t at)
{
    struct tensor result;

    if (!result_of(ledger, &ledger->units.items[at], &result))
        return 1;
    for (uint32_t u = at + 1; u < ledger->units.count && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && same_dims(unit_input(ledger, unit, 0), &result))
            return unit->op_class == OP_SLICE ? kept_by(ledger, unit, &result) : 1;
    }
    return 1;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            kept;

        if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->phase != UNIT_FORWARD)
            continue;
        kept = unit_kept_rows(ledger, u);
        if (kept > MOST_KEPT)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "the op behind the product keeps 1 of %.0f rows", 1 / kept))
            return false;
        ledger_claim(ledger, cell, unit, 1 - kept);
    }
    return true;
}

const struct detector detector_thrown_rows = { "thrown-rows", CAUSE_UNUSED, GRADE_STRUCTURE, find };
