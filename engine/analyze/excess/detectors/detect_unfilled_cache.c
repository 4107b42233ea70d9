/* unfilled_cache: a cache of keys and values that is made in a step, or emptied, and gets few rows
 * in it, while attention goes over all that it has room for. */
#include "analyze/excess/ledger.h"

static const double LEAST_ROOM = 4; /* times the rows that are written */
enum {
    FEWEST_ROWS = 64, /* that a cache has room for */
    FARTHEST = 12,    /* units between making a cache and its first rows */
    MOST_OPERANDS = 5
};

struct cache { /* all of a step are alike */
    const struct tensor *like;
    int8_t               axis;            /* of its rows */
    uint32_t             first;           /* unit that writes first */
    uint32_t             writes, prompts; /* of those, with as many rows as the largest has */
    int64_t              rows, largest;   /* written by all; by one */
};

/* The axis along which `rows` fits into `whole`; -1: it does not, or along two. */
static int8_t axis_of_rows(const struct tensor *whole, const struct tensor *rows)
{
    int8_t axis = -1;

    if (!rows || rows->rank != whole->rank)
        return -1;
    for (int8_t d = 0; d < whole->rank; d++) {
        if (rows->dims[d] == whole->dims[d])
            continue;
        if (axis >= 0 || rows->dims[d] > whole->dims[d])
            return -1;
        axis = d;
    }
    return axis;
}

/* Rows of a cache that the unit writes; 0: it does not. */
static int64_t written_rows(const struct ledger *ledger, const struct work_unit *unit, int8_t *axis)
{
    const struct tensor *whole = unit_input(ledger, unit, 0), *rows;

    if (unit->kind != UNIT_OP || !whole || whole->rank < 3 ||
        !str_fits(unit_type(ledger, unit), "aten::index_copy_|aten::index_put_"))
        return 0;
    for (uint32_t i = 1; i < MOST_OPERANDS && (rows = unit_input(ledger, unit, i)); i++) {
        *axis = axis_of_rows(whole, rows);
        if (*axis >= 0)
            return whole->dims[*axis] >= FEWEST_ROWS ? rows->dims[*axis] : 0;
    }
    return 0;
}

static struct cache cache_of(const struct ledger *ledger, size_t step)
{
    struct cache cache = { 0 };

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        int8_t                  axis = -1;
        int64_t                 rows = written_rows(ledger, unit, &axis);

        if (rows <= 0 || (cache.like && (axis != cache.axis ||
                                         !same_dims(cache.like, unit_input(ledger, unit, 0)))))
            continue;
        if (!cache.like) {
            cache.like = unit_input(ledger, unit, 0);
            cache.axis = axis;
            cache.first = u;
        }
        cache.writes++;
        cache.rows += rows;
        cache.prompts = rows > cache.largest ? 1 : cache.prompts + (rows == cache.largest);
        cache.largest = rows > cache.largest ? rows : cache.largest;
    }
    return cache;
}

/* Makes an array of zeros, of a size that no operand tells, or makes one like the cache zero. */
static bool empties(const struct ledger *ledger, const struct work_unit *unit,
                    const struct cache *cache)
{
    struct str type = unit->kind == UNIT_OP ? unit_type(ledger, unit) : STR("");

    return str_fits(type, "aten::zeros|aten::new_zeros|aten::zeros_like") ||
           (str_fits(type, "aten::zero_|aten::fill_") &&
            same_dims(unit_input(ledger, unit, 0), cache->like));
}

/* Is the cache empty that unit `u` writes first? */
static bool is_emptied(const struct ledger *ledger, const struct cache *cache, uint32_t first,
                       uint32_t u)
{
    for (uint32_t i = 1; i <= FARTHEST && u >= first + i; i++)
        if (empties(ledger, &ledger->units.items[u - i], cache))
            return true;
    return false;
}

static bool is_over_all(const struct ledger *ledger, const struct work_unit *unit,
                        const struct cache *cache)
{
    const struct tensor *tensor;

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || unit->op_class == OP_VIEW ||
        unit->op == NO_ID)
        return false;
    for (uint32_t i = 0; i < MOST_OPERANDS && (tensor = unit_input(ledger, unit, i)); i++)
        for (int8_t d = 0; tensor->rank >= 3 && d < tensor->rank; d++)
            if (tensor->dims[d] == cache->like->dims[cache->axis])
                return true;
    return false;
}

static void claim_emptying(struct ledger *ledger, uint32_t cell, const struct cache *cache,
                           uint32_t first, uint32_t u, double share)
{
    for (uint32_t i = 1; i <= FARTHEST && u >= first + i; i++) {
        struct work_unit *unit = &ledger->units.items[u - i];

        if (empties(ledger, unit, cache) && unit->cell != cell)
            ledger_claim(ledger, cell, unit, share);
    }
}

static bool claim(struct ledger *ledger, const struct detector *self, size_t step,
                  const struct cache *cache, uint32_t *cell)
{
    int64_t  room = cache->like->dims[cache->axis], needed = cache->rows / cache->prompts;
    uint32_t first = ledger->first_unit[step];
    double   share = 1 - (double)needed / (double)room;

    for (uint32_t u = first; u < ledger->first_unit[step + 1]; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        int8_t            axis;
        bool              is_write = written_rows(ledger, unit, &axis) > 0;

        if (!is_write && !is_over_all(ledger, unit, cache))
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell, "%lld rows of %lld are written",
                              (long long)needed, (long long)room))
            return false;
        if (is_write)
            claim_emptying(ledger, *cell, cache, first, u, share);
        else if (unit->cell != *cell)
            ledger_claim(ledger, *cell, unit, share);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct cache cache = cache_of(ledger, step);

        if (cache.writes <= cache.prompts || cache.largest <= 1 ||
            LEAST_ROOM * (double)cache.rows / cache.prompts >
                (double)cache.like->dims[cache.axis] ||
            !is_emptied(ledger, &cache, ledger->first_unit[step], cache.first))
            continue;
        if (!claim(ledger, self, step, &cache, &cell))
            return false;
    }
    return true;
}

const struct detector detector_unfilled_cache = { "unfilled-cache", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find };
