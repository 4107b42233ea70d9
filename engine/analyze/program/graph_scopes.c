/* Patterns that scopes of names tell: batch norms in small ops, cells written out step by step. */
#include "analyze/program/graph_patterns.h"

#include <string.h>

static bool is_norm_component(struct str part)
{
    char   lowered[64];
    size_t used = 0;

    for (size_t i = 0; i < part.len && used < sizeof lowered; i++)
        if (part.data[i] != '_')
            lowered[used++] = (char)(part.data[i] >= 'A' && part.data[i] <= 'Z' ? part.data[i] + 32
                                                                                : part.data[i]);
    return str_contains((struct str) { .data = lowered, .len = used }, STR("batchnorm"));
}

/* "gradients/a/BatchNorm/b_grad/Mul" -> "a/BatchNorm"; empty where no part is a batch norm. Names
 * of single ops ("a/BatchNorm") are no scopes. */
static struct str norm_scope(struct str name)
{
    struct str whole = name, rest;

    if (str_starts(name, STR("gradients/")))
        whole = str_slice(name, STR("gradients/").len, name.len);
    rest = whole;
    while (rest.len) {
        struct str part = str_cut(&rest, '/');

        if (rest.len && is_norm_component(part))
            return str_slice(whole, 0, (size_t)(part.data - whole.data) + part.len);
    }
    return (struct str) { 0 };
}

struct norm {
    uint32_t op; /* its Rsqrt */
    double   ns;
    bool     is_fused, has_rsqrt;
};

bool patterns_find_batch_norms(struct pattern_search *search)
{
    const struct profile *profile = search->profile;
    struct intern         scopes;
    VEC(struct norm) norms = { 0 };

    if (!intern_init(&scopes, search->arena))
        return false;
    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        struct str   scope = norm_scope(profile_str(profile, profile->ops.items[op].name));
        uint32_t     id = scope.len ? intern_add(&scopes, scope) : 0;
        struct norm *norm;

        if (!scope.len)
            continue;
        if (id == NO_ID ||
            (id > norms.count && !vec_push(&norms, search->arena, (struct norm) { .op = NO_ID })))
            return false;
        norm = &norms.items[id - 1];
        norm->ns += search->ns[op];
        norm->is_fused |= pattern_is_type(profile, op, NAMES_TF_FUSED_NORM);
        if (pattern_is_type(profile, op, NAMES_TF_RSQRT)) {
            norm->has_rsqrt = true;
            norm->op = op;
        }
    }
    for (uint32_t i = 0; i < norms.count; i++) {
        struct graph_pattern pattern = { .name = "unfused-batch-norm",
                                         .op = norms.items[i].op,
                                         .count = 1,
                                         .ns = norms.items[i].ns };

        if (norms.items[i].is_fused || !norms.items[i].has_rsqrt || pattern.ns <= 0)
            continue;
        pattern.subject = intern_add(search->names, intern_str(&scopes, i + 1));
        if (pattern.subject == NO_ID || !pattern_add(search, pattern))
            return false;
    }
    return true;
}

static bool is_inference(const struct profile *profile, const struct op *op)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("is_training")))
            return str_equal(profile_str(profile, attr->value), STR("false"));
    }
    return false;
}

/* Convolution, bias, batch norm: the norm subtracts the mean, and the bias with it. */
bool patterns_find_biases(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        struct op_ids        producers = op_graph_producers(profile->graph, op);
        struct op_ids        consumers = op_graph_consumers(profile->graph, op);
        struct graph_pattern pattern = { .name = "bias-before-norm", .op = op, .count = 1 };
        bool                 has_convolution = false, has_norm = false;

        if (search->ns[op] <= 0 || !pattern_is_type(profile, op, NAMES_TF_BIAS_ADD))
            continue;
        for (size_t i = 0; i < producers.count; i++)
            has_convolution |=
                pattern_is_type(profile, producers.ids[i], NAMES_TF_FORWARD_CONVOLUTION);
        for (size_t i = 0; i < consumers.count; i++) {
            const struct op *consumer = &profile->ops.items[consumers.ids[i]];

            has_norm |= pattern_is_type(profile, consumers.ids[i], NAMES_TF_FUSED_NORM) &&
                        !is_inference(profile, consumer);
        }
        pattern.ns = search->ns[op] + search->gradient_ns[op];
        if (has_convolution && has_norm && !pattern_add(search, pattern))
            return false;
    }
    return true;
}

/* "rnn/cell_12/MatMul_3" -> "rnn/cell/MatMul", from the byte `from` on: names of ops made again get
 * numbers. */
static struct str without_numbers(struct str name, size_t from, char *room, size_t bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < name.len && used < bytes; i++) {
        size_t end = i + 1;

        while (i >= from && name.data[i] == '_' && end < name.len && name.data[end] >= '0' &&
               name.data[end] <= '9')
            end++;
        if (end > i + 1 && (end == name.len || name.data[end] == '/')) {
            i = end - 1;
            continue;
        }
        room[used++] = name.data[i];
    }
    return (struct str) { .data = room, .len = used };
}

struct cell {
    uint32_t op, last_depth;
    double   ns, count, depths;
};

/* Depth of each op: ops on the longest chain that ends in it. NULL: scratch is exhausted. */
static uint32_t *find_depths(const struct pattern_search *search, struct op_ids *order)
{
    const struct op_graph *graph = search->profile->graph;
    uint32_t              *depths = arena_new_array(search->arena, uint32_t, graph->vertex_count);
    struct err             ignored = { 0 };
    bool                   is_acyclic;

    if (!depths || !op_graph_sort(graph, search->arena, order, &is_acyclic, &ignored))
        return NULL;
    for (size_t i = 0; i < order->count; i++) {
        struct op_ids producers = op_graph_producers(graph, order->ids[i]);

        for (size_t j = 0; j < producers.count; j++)
            if (depths[producers.ids[j]] >= depths[order->ids[i]])
                depths[order->ids[i]] = depths[producers.ids[j]] + 1;
    }
    return depths;
}

/* The first consumer with one of these types, or NO_ID. */
static uint32_t consumer_of(const struct pattern_search *search, uint32_t op, enum name_list types)
{
    struct op_ids consumers = op_graph_consumers(search->profile->graph, op);

    for (size_t i = 0; i < consumers.count; i++)
        if (pattern_is_type(search->profile, consumers.ids[i], types))
            return consumers.ids[i];
    return NO_ID;
}

/* A product that ran as one op with what is done to its result has its time under the name of the
 * last of these: the bias, or the activation behind it. */
static uint32_t runs_as(const struct pattern_search *search, uint32_t product)
{
    uint32_t bias, activation;

    if (search->ns[product] > 0)
        return product;
    bias = consumer_of(search, product, NAMES_TF_BIAS_ADD);
    if (bias == NO_ID || search->ns[bias] > 0)
        return bias == NO_ID ? product : bias;
    activation = consumer_of(search, bias, NAMES_TF_FUSED_ACTIVATION);
    return activation == NO_ID ? product : activation;
}

static bool is_cell_product(const struct pattern_search *search, uint32_t op)
{
    return search->ns[runs_as(search, op)] > 0 &&
           !str_starts(profile_str(search->profile, search->profile->ops.items[op].name),
                       STR("gradients/")) &&
           pattern_is_type(search->profile, op, NAMES_TF_MATMUL);
}

/* Where the numbers of a product's name begin that tell time steps apart: those of its last part,
 * where FEWEST_CELLS products differ in that alone (numbers before it are those of layers). */
enum { FEWEST_CELLS = 8 };
struct numbering {
    struct intern names;
    VEC(uint32_t) counts; /* by id of a name whose last part has no number */
};

static size_t numbers_begin(struct str name)
{
    size_t from = name.len;

    while (from > 0 && name.data[from - 1] != '/')
        from--;
    return from;
}

static bool count_numbered(const struct pattern_search *search, struct numbering *numbering)
{
    char room[512];

    if (!intern_init(&numbering->names, search->arena))
        return false;
    for (uint32_t op = 0; op < search->profile->graph->vertex_count; op++) {
        struct str name = profile_str(search->profile, search->profile->ops.items[op].name);
        uint32_t   id;

        if (!is_cell_product(search, op))
            continue;
        id = intern_add(&numbering->names,
                        without_numbers(name, numbers_begin(name), room, sizeof room));
        if (id == NO_ID ||
            (id > numbering->counts.count && !vec_push(&numbering->counts, search->arena, 0u)))
            return false;
        numbering->counts.items[id - 1]++;
    }
    return true;
}

/* What products of one cell have in common. The text is in `room`. */
static struct str cell_name(struct numbering *numbering, struct str name, char *room, size_t bytes)
{
    struct str alike = without_numbers(name, numbers_begin(name), room, bytes);
    uint32_t   id = intern_add(&numbering->names, alike);

    if (id != NO_ID && numbering->counts.items[id - 1] >= FEWEST_CELLS)
        return alike;
    return without_numbers(name, 0, room, bytes);
}

/* Products of one name that each wait for the one before: a cell written out for each time step. */
bool patterns_find_cells(struct pattern_search *search)
{
    const struct profile *profile = search->profile;
    struct op_ids         order = { 0 };
    uint32_t             *depths = find_depths(search, &order);
    struct numbering      numbering = { 0 };
    struct intern         groups;
    VEC(struct cell) cells = { 0 };
    char room[512];

    if (!depths || !intern_init(&groups, search->arena) || !count_numbered(search, &numbering))
        return false;
    for (size_t i = 0; i < order.count; i++) {
        uint32_t     op = order.ids[i], id;
        struct str   name = profile_str(profile, profile->ops.items[op].name);
        struct cell *cell;

        if (!is_cell_product(search, op))
            continue;
        id = intern_add(&groups, cell_name(&numbering, name, room, sizeof room));
        if (id == NO_ID ||
            (id > cells.count &&
             !vec_push(&cells, search->arena, (struct cell) { .op = op, .last_depth = NO_ID })))
            return false;
        cell = &cells.items[id - 1];
        cell->ns += search->ns[runs_as(search, op)] + search->gradient_ns[op];
        cell->count++;
        cell->depths += cell->last_depth == NO_ID || depths[op] > cell->last_depth;
        cell->last_depth = depths[op];
    }
    for (size_t i = 0; i < cells.count; i++) {
        const struct cell   *cell = &cells.items[i];
        struct graph_pattern pattern = {
            .name = "unrolled-cell", .op = cell->op, .count = cell->count, .ns = cell->ns
        };

        if (cell->count >= FEWEST_CELLS && cell->depths >= 0.9 * cell->count &&
            !pattern_add(search, pattern))
            return false;
    }
    return true;
}
