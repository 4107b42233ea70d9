/* padded_batches: the input pipeline pads each batch to its longest example and does not put
 * examples of like length together, and steps take unlike time. How long examples are no recording
 * tells: of lengths that differ as those of texts and recordings do, the longest of a batch is
 * twice the mean. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sample.h"

static const double PADDED_SHARE = 0.5; /* of what a step does for its batch */
static const double UNLIKE = 1.25; /* a long step over a short one, by upper and lower quarter */
enum { FEWEST_STEPS = 4 };

/* bucket_by_sequence_length puts examples of like length together by windows of a group. */
static bool pads_mixed_lengths(const struct profile *profile)
{
    bool pads = false;

    for (size_t a = 0; a < profile->activities.count; a++) {
        struct str name = profile_str(profile, profile->activities.items[a].name);

        if (profile->activities.items[a].kind != ACTIVITY_INPUT_STAGE)
            continue;
        pads |= str_contains(name, STR("PaddedBatch"));
        if (str_contains(name, STR("GroupByWindow")))
            return false;
    }
    return pads;
}

/* What grows with the batch's length; variables are as large in each step. */
static bool is_of_batch(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->op != NO_ID && unit->op_class != OP_UPDATE &&
           unit->op_class != OP_VARIABLE && unit->op_class != OP_INPUT;
}

/* false: out of memory. */
static bool are_unlike(const struct ledger *ledger, bool *are)
{
    double *ns = arena_new_array(ledger->scratch, double, ledger->step_count + 1);

    *are = false;
    if (!ns)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            ns[step] += is_of_batch(&ledger->units.items[u]) ? ledger->units.items[u].ns : 0;
    *are = ledger->step_count >= FEWEST_STEPS &&
           sample_quantile(ns, ledger->step_count, 0.75) >
               UNLIKE * sample_quantile(ns, ledger->step_count, 0.25);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;
    bool     are;

    if (ledger->study->profile->format != FORMAT_XSPACE ||
        !pads_mixed_lengths(ledger->study->profile))
        return true;
    if (!are_unlike(ledger, &are))
        return false;
    for (size_t u = 0; are && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_of_batch(unit))
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "batches are padded without grouping by length, and steps differ"))
            return false;
        ledger_claim(ledger, cell, unit, PADDED_SHARE);
    }
    return true;
}

const struct detector detector_padded_batches = { "padded-batches", CAUSE_SHAPE, GRADE_NAMES,
                                                  find };
