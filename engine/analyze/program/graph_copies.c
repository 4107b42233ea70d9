/* Copies that a graph makes to work on each of them: rows that are tiled and joined with others
 * before a product, which could multiply each part by its rows of the weight. */
#include "analyze/program/graph_patterns.h"

enum { MOST_STEPS = 3 };

static bool is_of_type(const struct profile *profile, uint32_t op, const char *types)
{
    return str_fits(profile_str(profile, profile->ops.items[op].type), types);
}

/* What an op hands on, or gives another shape: the one that made it. */
static uint32_t made_by(const struct profile *profile, uint32_t op)
{
    for (int steps = 0;
         steps < MOST_STEPS && is_of_type(profile, op, "Identity|Reshape|ExpandDims|Squeeze");
         steps++) {
        struct op_ids producers = op_graph_producers(profile->graph, op);
        uint32_t      next = NO_ID;

        for (size_t i = 0; i < producers.count; i++) /* not its new shape */
            if (!is_of_type(profile, producers.ids[i], "Const|Pack|Shape"))
                next = producers.ids[i];
        if (next == NO_ID)
            break;
        op = next;
    }
    return op;
}

static double bytes_of(const struct profile *profile, uint32_t op)
{
    return pattern_result_bytes(profile, &profile->ops.items[op]);
}

/* What of a joined array copies make, and the time that making them takes, there and back. */
static double copied_part(const struct pattern_search *search, uint32_t concat, double *ns)
{
    const struct profile *profile = search->profile;
    struct op_ids         producers = op_graph_producers(profile->graph, concat);
    double                whole = bytes_of(profile, concat), copied = 0;

    for (size_t i = 0; i < producers.count; i++) {
        uint32_t from = made_by(profile, producers.ids[i]);

        if (!is_of_type(profile, from, "Tile|BroadcastTo"))
            continue;
        copied += bytes_of(profile, from);
        *ns += search->ns[from] + search->gradient_ns[from];
    }
    return copied < whole ? copied / whole : 0;
}

bool patterns_find_copies(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        struct op_ids factors = op_graph_producers(profile->graph, op);

        if (search->ns[op] <= 0 || !pattern_is_type(profile, op, NAMES_TF_PRODUCT) ||
            str_starts(profile_str(profile, profile->ops.items[op].name), STR("gradients")))
            continue;
        for (size_t i = 0; i < factors.count; i++) {
            struct graph_pattern copies = { .name = "tiled-rows", .op = op, .count = 1 };
            uint32_t             concat = made_by(profile, factors.ids[i]);
            double               part;

            if (!is_of_type(profile, concat, "Concat|ConcatV2"))
                continue;
            part = copied_part(search, concat, &copies.ns);
            copies.bytes = part * bytes_of(profile, concat);
            copies.ns += part * (search->ns[op] + search->gradient_ns[op] + search->ns[concat] +
                                 search->gradient_ns[concat]);
            if (part > 0 && !pattern_add(search, copies))
                return false;
        }
    }
    return true;
}
