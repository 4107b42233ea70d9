/* pair_vectors: a vector for each pair of places is looked up in a small table, one of the
 * distances between them, and multiplied with the one place's query: all distances' vectors
 * multiplied first give scores, of which each pair takes its own. What is larger than the scores is
 * made for nothing, and on the way back added up row after row. */
#include "analyze/excess/ledger.h"

enum { FARTHEST = 24 /* units behind the lookup */ };
static const double LEAST_COPIES = 8, LEAST_SHARE = 0.005 /* of the steps */;

/* The table of a lookup, or NULL. */
static const struct tensor *table_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *table = unit_input(ledger, unit, 0);

    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->is_trained && table &&
                   table->rank == 2 &&
                   str_fits(unit_type(ledger, unit), "aten::embedding|aten::index")
               ? table
               : NULL;
}

/* Vectors of a table for two axes of places, each of its rows many times. What an index takes is
 * not recorded, so what a product takes has to tell. */
static bool are_of_pairs(const struct tensor *vectors, const struct tensor *table)
{
    return vectors->rank == 3 && vectors->dims[2] == table->dims[1] &&
           (double)vectors->dims[0] * (double)vectors->dims[1] >=
               LEAST_COPIES * (double)table->dims[0];
}

/* The first product behind unit `u` takes vectors of pairs, and a query of their length gives a
 * score for each of the other places: less than they are. */
static bool gives_scores(const struct ledger *ledger, uint32_t u, const struct tensor *table)
{
    uint32_t end = ledger->first_unit[ledger->units.items[u].step + 1];

    for (uint32_t i = u + 1; i < end && i <= u + FARTHEST; i++) {
        const struct work_unit *unit = &ledger->units.items[i];
        const struct tensor    *queries = NULL, *vectors = NULL, *input;

        for (uint32_t k = 0; unit_is_forward_product(unit) && (input = unit_input(ledger, unit, k));
             k++) {
            if (are_of_pairs(input, table))
                vectors = input;
            else if (input->rank >= 3)
                queries = input;
        }
        if (vectors)
            return queries && queries->dims[queries->rank - 1] == vectors->dims[2] &&
                   tensor_elements(queries) / (double)vectors->dims[2] * (double)vectors->dims[1] <
                       tensor_elements(vectors);
    }
    return false;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t *lookups = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    uint32_t  cell = NO_ID;
    size_t    count = 0;
    double    ns = 0;

    if (!lookups)
        return false;
    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        const struct tensor *table = table_of(ledger, &ledger->units.items[u]);

        if (!table || !gives_scores(ledger, u, table))
            continue;
        lookups[count++] = u;
        ns += ledger->units.items[u].ns;
    }
    if (ns < LEAST_SHARE * ledger->total_ns)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (!ledger_cell_once(ledger, self, &ledger->units.items[lookups[i]], &cell,
                              "vectors that are looked up for pairs"))
            return false;
        ledger_claim(ledger, cell, &ledger->units.items[lookups[i]], 1);
        if (!ledger_claim_way_back(ledger, cell, lookups[i], lookups[i], 1))
            return false;
    }
    return true;
}

const struct detector detector_pair_vectors = { "pair-vectors", CAUSE_BYTES, GRADE_STRUCTURE,
                                                find };
