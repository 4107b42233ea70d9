/* separate_tables: a graph that trains looks rows up in many tables, one for each field of its
 * input, and each has gradients and an update of its own: the same few ops once a table, most of
 * which is starting them. One table with an offset a field, or one for fields of the same width,
 * takes each op once. What the ops read and write stays. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "model/names.h"

static const double SMALL_OP = 6; /* times the cost of starting one: the rest of it is work */
static const double ALIKE = 0.75; /* of the tables have an op of the type */
enum {
    FEWEST_TABLES = 12,
    MOST_A_TABLE = 4 /* ops of a type for one table: what comes more often, as for each pair of
                      * fields, does not go with their number */
};

struct finder {
    struct ledger *ledger;
    uint32_t      *rows;     /* by name of the profile: ops of that type on the path */
    bool          *is_found; /* by row of profile->ops: on the path */
    uint32_t       lookups, updates;
};

/* Counts each op on the path once. */
static void count(struct finder *finder)
{
    const struct ledger  *ledger = finder->ledger;
    const struct profile *profile = ledger->study->profile;
    uint32_t              most = 0;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct str              type = unit_type(ledger, unit);

        if (unit->kind != UNIT_OP || unit->op == NO_ID || finder->is_found[unit->op])
            continue;
        finder->is_found[unit->op] = true;
        finder->rows[unit->type]++;
        if (name_is(type, NAMES_TF_ROW_UPDATE) && finder->rows[unit->type] > most)
            most = finder->rows[unit->type];
        finder->lookups +=
            name_is(type, NAMES_TF_ROW_LOOKUP) &&
            !graph_name_is_gradient(profile_str(profile, profile->ops.items[unit->op].name));
    }
    finder->updates = most;
}

static bool is_alike(const struct finder *finder, const struct work_unit *unit)
{
    uint32_t tables = finder->lookups > finder->updates ? finder->lookups : finder->updates;

    return unit->kind == UNIT_OP && unit->op != NO_ID &&
           finder->rows[unit->type] >= ALIKE * finder->updates &&
           finder->rows[unit->type] <= MOST_A_TABLE * tables;
}

/* Of an op, what is about starting it; between two of them, all. */
static double share_of(const struct finder *finder, const struct work_unit *unit)
{
    double small_ns = SMALL_OP * finder->ledger->start_ns, share = 1 - 1.0 / finder->updates;

    return unit->kind == UNIT_OP && unit->ns > small_ns ? share * small_ns / unit->ns : share;
}

/* Units from behind the last op on: a pause may be several. */
static bool claim_up_to(struct finder *finder, const struct detector *self, uint32_t from,
                        uint32_t op, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger_cell_once(ledger, self, &ledger->units.items[op], cell,
                          "rows of %u tables are updated apart", (unsigned)finder->updates))
        return false;
    for (uint32_t u = from; u <= op; u++)
        if (unit_goes_with_ops(&ledger->units.items[u]))
            ledger_claim(ledger, *cell, &ledger->units.items[u],
                         share_of(finder, &ledger->units.items[u]));
    return true;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID, behind = NO_ID; /* the last op, where it is one of these */

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        if (!is_alike(finder, unit)) {
            behind = NO_ID;
            continue;
        }
        if (behind != NO_ID && ledger->units.items[behind - 1].step != unit->step)
            behind = NO_ID;
        if (!claim_up_to(finder, self, behind == NO_ID ? u : behind, u, &cell))
            return false;
        behind = u + 1;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };

    if (ledger->is_torch || profile->format == FORMAT_KINETO || ledger_is_jax(ledger))
        return true;
    finder.rows = arena_new_array(ledger->scratch, uint32_t, profile->names.count + 1);
    finder.is_found = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    if (!finder.rows || !finder.is_found)
        return false;
    count(&finder);
    return finder.updates < FEWEST_TABLES || finder.lookups < FEWEST_TABLES || claim(&finder, self);
}

const struct detector detector_separate_tables = { "separate-tables", CAUSE_DISPATCH, GRADE_SIZES,
                                                   find };
