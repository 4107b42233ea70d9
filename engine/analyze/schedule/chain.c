#include "analyze/schedule/chain.h"

enum { STAGE_WORK, STAGE_DELAY, STAGE_WAY };

struct chain chain_from(const struct schedule *schedule, uint32_t row, int64_t at_ns)
{
    return (struct chain) { .schedule = schedule, .at_ns = at_ns, .row = row };
}

static bool take(struct chain *chain, enum part part, int64_t reached_ns, int64_t until_ns)
{
    if (reached_ns < until_ns)
        reached_ns = until_ns;
    chain->part = part;
    chain->ns = reached_ns < chain->at_ns ? chain->at_ns - reached_ns : 0;
    chain->at_ns -= chain->ns;
    return true;
}

/* How much later than its causes allow a node starts. */
static int64_t delay_ns(const struct chain *chain)
{
    const struct graph_changes *changes = chain->schedule->changes;

    if (changes && changes->flags[chain->row] & (CHANGE_NO_DELAY | CHANGE_GONE))
        return 0;
    return chain->schedule->graph->nodes.items[chain->row].delay_ns;
}

bool chain_step(struct chain *chain, int64_t until_ns)
{
    const struct schedule    *schedule = chain->schedule;
    const struct event_graph *graph = schedule->graph;
    const struct graph_node  *node = &graph->nodes.items[chain->row];
    int64_t                   start_ns = node->end_ns - node->own_ns;
    const struct graph_edge  *edge;

    chain->line = node->line;
    chain->is_work = chain->stage == STAGE_WORK;
    if (chain->stage == STAGE_WORK) {
        chain->stage = STAGE_DELAY;
        chain->recorded_from_ns = start_ns;
        chain->recorded_to_ns = node->end_ns;
        return take(chain, (enum part)node->class, schedule->start_ns[chain->row], until_ns);
    }
    if (schedule->cause[chain->row] == NO_ID)
        return false;
    if (chain->stage == STAGE_DELAY) {
        chain->stage = STAGE_WAY;
        chain->recorded_from_ns = start_ns - node->delay_ns;
        chain->recorded_to_ns = start_ns;
        return take(chain, PART_UNKNOWN, schedule->start_ns[chain->row] - delay_ns(chain),
                    until_ns);
    }
    edge = &graph->edges.items[schedule->cause[chain->row]];
    chain->stage = STAGE_WORK;
    chain->row = edge->from;
    chain->recorded_to_ns = start_ns - node->delay_ns;
    chain->recorded_from_ns = chain->recorded_to_ns - edge->lag_ns;
    return take(chain, graph_edge_class(edge),
                (edge->from_start ? schedule->start_ns : schedule->end_ns)[chain->row], until_ns);
}
