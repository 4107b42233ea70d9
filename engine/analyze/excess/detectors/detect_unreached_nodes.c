/* unreached_nodes: layers of a graph network pass messages between all nodes, and of the result a
 * few nodes are taken. Each layer brings what is one edge away, so that the others, and the edges
 * between them, are for nothing, there and back. */
#include "analyze/excess/ledger.h"

enum { FEWEST_NODES = 1024 };
static const double MOST_REACHED = 0.5;
static const double LEAST_EDGES = 2; /* a node: neighbourhoods that were cut out are near trees */

struct network {
    int64_t  nodes, edges, layers; /* layers: sums over edges */
    int64_t  picked;               /* nodes that something takes in the end */
    uint32_t first, at;            /* units: its first op on nodes or edges, and what takes a few */
};

static bool has_rows(const struct ledger *ledger, const struct work_unit *unit, int64_t rows)
{
    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        if (unit_input(ledger, unit, i)->rank > 0 && unit_input(ledger, unit, i)->dims[0] == rows)
            return true;
    return false;
}

static bool is_forward(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID;
}

/* Rows of edges that unit `u` adds up by node; 0: it does not. */
static int64_t summed_edges(const struct ledger *ledger, const struct work_unit *unit,
                            int64_t nodes)
{
    const struct tensor *sums = unit_input(ledger, unit, 0), *edges;

    if (!is_forward(unit) || unit->op_class != OP_SCATTER || !sums || sums->rank != 2 ||
        sums->dims[0] != nodes)
        return 0;
    for (uint32_t i = 1; (edges = unit_input(ledger, unit, i)); i++)
        if (edges->rank == 2 && edges->dims[0] > nodes && edges->dims[1] == sums->dims[1])
            return edges->dims[0];
    return 0;
}

/* The layers before `network->at`, if all sums of the step are by its nodes and before it. */
static bool find_layers(const struct ledger *ledger, size_t step, struct network *network)
{
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        int64_t                 edges = summed_edges(ledger, unit, network->nodes);

        if (u > network->at && is_forward(unit) && has_rows(ledger, unit, network->nodes) &&
            unit->op_class != OP_GATHER)
            return false;
        if (!edges || (network->edges && network->edges != edges))
            continue;
        network->edges = edges;
        network->layers++;
        if (u > network->at)
            return false;
    }
    for (uint32_t u = network->at; network->layers && u-- > ledger->first_unit[step];)
        if (is_forward(&ledger->units.items[u]) &&
            (has_rows(ledger, &ledger->units.items[u], network->nodes) ||
             has_rows(ledger, &ledger->units.items[u], network->edges)))
            network->first = u;
    return network->layers > 0;
}

/* Share of the nodes that those picked are made of, with the average of edges a node. */
static double reached(const struct network *network)
{
    double degree = (double)network->edges / (double)network->nodes;
    double ring = (double)network->picked, sum = ring;

    for (int64_t layer = 0; layer < network->layers && sum < (double)network->nodes; layer++) {
        ring *= degree;
        sum += ring;
    }
    return degree < LEAST_EDGES ? 1 : sum / (double)network->nodes;
}

static bool is_lookup(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *table = unit_input(ledger, unit, 0);

    return is_forward(unit) && unit->op_class == OP_GATHER && table && table->rank == 2 &&
           table->dims[0] >= FEWEST_NODES && table->dims[1] > 1;
}

/* By all lookups of the step in such a table, but for those by edges. */
static int64_t count_picked(const struct ledger *ledger, size_t step, const struct tensor *table)
{
    int64_t  sum = 0;
    uint32_t end = ledger->first_unit[step + 1];

    for (uint32_t u = ledger->first_unit[step]; u < end && sum < table->dims[0]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        int64_t picked = is_lookup(ledger, unit) && same_dims(unit_input(ledger, unit, 0), table)
                             ? unit_picked_rows(ledger, u, end)
                             : 0;

        sum += picked < table->dims[0] ? picked : 0;
    }
    return sum;
}

static bool find_network(const struct ledger *ledger, size_t step, struct network *network)
{
    uint32_t end = ledger->first_unit[step + 1];

    for (uint32_t u = ledger->first_unit[step]; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *table = unit_input(ledger, unit, 0);

        if (!is_lookup(ledger, unit) || unit_picked_rows(ledger, u, end) >= table->dims[0])
            continue;
        *network = (struct network) { .nodes = table->dims[0], .first = u, .at = u };
        network->picked = count_picked(ledger, step, table);
        return (double)network->picked < MOST_REACHED * (double)network->nodes &&
               find_layers(ledger, step, network);
    }
    return false;
}

/* The graph of the data is the same in all steps; what is cut out of it for a batch is not. */
static bool is_one_graph(const struct ledger *ledger, struct network *networks)
{
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!find_network(ledger, step, &networks[step]) ||
            networks[step].nodes != networks[0].nodes || networks[step].edges != networks[0].edges)
            return false;
    return ledger->step_count > 1;
}

static bool goes_with(const struct ledger *ledger, const struct network *network, uint32_t u)
{
    const struct work_unit *unit = &ledger->units.items[u];

    if (unit->phase != UNIT_BACKWARD)
        return u >= network->first && u < network->at && unit_goes_with_ops(unit);
    return unit->kind == UNIT_OP && unit->op != NO_ID &&
           (has_rows(ledger, unit, network->nodes) || has_rows(ledger, unit, network->edges));
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct network *networks;
    uint32_t        cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    networks = arena_new_array(ledger->scratch, struct network, ledger->step_count + 1);
    if (!networks)
        return false;
    if (!is_one_graph(ledger, networks))
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        const struct network *network = &networks[step];
        double                needed = reached(network);

        for (uint32_t u = ledger->first_unit[step];
             needed <= MOST_REACHED && u < ledger->first_unit[step + 1]; u++) {
            struct work_unit *unit = &ledger->units.items[u];

            if (!goes_with(ledger, network, u))
                continue;
            if (!ledger_cell_once(ledger, self, unit, &cell,
                                  "%lld layers reach %.0f %% of %lld nodes from those taken",
                                  (long long)network->layers, 100 * needed,
                                  (long long)network->nodes))
                return false;
            ledger_claim(ledger, cell, unit, 1 - needed);
        }
    }
    return true;
}

const struct detector detector_unreached_nodes = { "unreached-nodes", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                   find };
