/* metrics: a step that trains counts predictions against many thresholds, or in bins. Curves,
 * precision at a recall and tables of confusion are made so; nobody reads them after each step.
 * Their ops stand right below the function that trains: those of layers, losses and gradients have
 * scopes. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */

struct finder {
    struct ledger *ledger;
    uint8_t       *kind;     /* by name of the profile: 1 + enum type_kind; 0 unknown */
    bool          *is_found; /* by unit */
    bool           has[8];   /* by enum type_kind: some unscoped op is of it */
    bool           trains;
};
/* What ops tell: two of a pair together count predictions. */
enum type_kind {
    TYPE_NONE,
    TYPE_TILED,
    TYPE_JOINED,
    TYPE_SUMMED,
    TYPE_BINNED,
    TYPE_COUNTED,
    TYPE_COMMON
};

static enum type_kind kind_of(struct str type)
{
    static const struct {
        const char    *type;
        enum type_kind kind;
    } kinds[] = {
        { "Tile", TYPE_TILED },           { "LogicalAnd", TYPE_JOINED },
        { "Cumsum", TYPE_SUMMED },        { "UnsortedSegmentSum", TYPE_BINNED },
        { "Bincount", TYPE_COUNTED },     { "DenseBincount", TYPE_COUNTED },
        { "InTopK", TYPE_COMMON },        { "InTopKV2", TYPE_COMMON },
        { "LogicalNot", TYPE_COMMON },    { "LogicalOr", TYPE_COMMON },
        { "Greater", TYPE_COMMON },       { "GreaterEqual", TYPE_COMMON },
        { "Less", TYPE_COMMON },          { "LessEqual", TYPE_COMMON },
        { "Equal", TYPE_COMMON },         { "Cast", TYPE_COMMON },
        { "Sum", TYPE_COMMON },           { "ArgMax", TYPE_COMMON },
        { "OneHot", TYPE_COMMON },        { "Transpose", TYPE_COMMON },
        { "_MklTranspose", TYPE_COMMON }, { "AssignAddVariableOp", TYPE_COMMON },
    };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (str_equal(type, str_from(kinds[i].type)))
            return kinds[i].kind;
    return TYPE_NONE;
}

static void look_at(struct finder *finder, size_t u)
{
    const struct ledger    *ledger = finder->ledger;
    const struct work_unit *unit = &ledger->units.items[u];
    const struct profile   *profile = ledger->study->profile;
    struct str              name;

    if (unit->kind != UNIT_OP || unit->op == NO_ID)
        return;
    name = profile_str(profile, profile->ops.items[unit->op].name);
    finder->trains |= str_starts(name, STR("gradient_tape/"));
    if (str_find(name, '/') < name.len)
        return;
    if (!finder->kind[unit->type])
        finder->kind[unit->type] = (uint8_t)(kind_of(unit_type(ledger, unit)) + 1);
    finder->has[finder->kind[unit->type] - 1] = true;
    finder->is_found[u] = finder->kind[unit->type] - 1 != TYPE_NONE;
}

static bool is_graph_op(const struct ledger *ledger, size_t u)
{
    return u < ledger->units.count && ledger->units.items[u].kind == UNIT_OP &&
           ledger->units.items[u].op != NO_ID;
}

/* Executors go from op to op for metrics as well: the part of those pauses that is theirs. */
static double share_of_ops(const struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    double               found_ns = 0, all_ns = 0;

    for (size_t u = 0; u < ledger->units.count; u++)
        if (is_graph_op(ledger, u)) {
            all_ns += ledger->units.items[u].ns;
            found_ns += finder->is_found[u] ? ledger->units.items[u].ns : 0;
        }
    return all_ns > 0 ? found_ns / all_ns : 0;
}

static double share_of(const struct finder *finder, size_t u, double of_pauses)
{
    const struct ledger *ledger = finder->ledger;

    if (finder->is_found[u])
        return RARE_SHARE;
    return ledger->units.items[u].kind == UNIT_PAUSE && u > 0 && is_graph_op(ledger, u - 1) &&
                   is_graph_op(ledger, u + 1)
               ? RARE_SHARE * of_pauses
               : 0;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    double         of_pauses = share_of_ops(finder);
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            share = share_of(finder, u, of_pauses);

        if (share <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "predictions are counted %s in the function that trains",
                              finder->has[TYPE_JOINED] ? "against thresholds" : "in bins"))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE ||
        ledger_is_jax(ledger))
        return true;
    finder.kind =
        arena_new_array(ledger->scratch, uint8_t, ledger->study->profile->names.count + 1);
    finder.is_found = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder.kind || !finder.is_found)
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        look_at(&finder, u);
    if (!finder.trains ||
        !((finder.has[TYPE_TILED] && finder.has[TYPE_JOINED]) ||
          (finder.has[TYPE_SUMMED] && finder.has[TYPE_BINNED]) || finder.has[TYPE_COUNTED]))
        return true;
    return claim(&finder, self);
}

const struct detector detector_metrics = { "metrics", CAUSE_RARE, GRADE_SIZES, find };
