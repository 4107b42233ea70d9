/*
 * traced_jacobian: derivatives are made for each unit vector, and of the square matrix that they
 * make only the diagonal is added up, as for the divergence of a field or the Laplacian of a
 * function. One product with a random vector gives that sum on average. Seen by what is made of
 * identity matrices by linear steps alone, of the vectors' and of that which masks the diagonal or
 * is its gradient: the two meet in products, and nothing else takes either.
 *
 * traced_hessian: the same of few coordinates, where the derivatives are those of a gradient, and
 * of entries that are picked out of the matrix as well, as by equations of physics. A second
 * derivative forwards along each coordinate gives the diagonal alone, without the gradient's way
 * back and the derivatives of that. In training both have a way back of their own, so what has
 * these in its scope is not needed. The gradient of picked entries is an array of zeros around
 * them.
 */
#include "analyze/excess/linear.h"
#include "base/macros.h"

static const double  LEAST_SHARE = 0.05;       /* of the steps */
static const int64_t SMALLEST = 8, FEWEST = 2; /* unit vectors; coordinates */
static const double  VECTORS = 2; /* that take about as long as one, which fills no batch */
enum { MOST_SEEDS = 64, MOST_PICKED = 8 };

struct traces {
    struct waste *waste;
    uint64_t     *seeds;  /* by op: bit by identity that it is made of by linear steps */
    uint32_t     *missed; /* by op: operands that were not looked at yet */
    uint32_t     *queue;  /* ops whose operands were all looked at */
    uint32_t     *met;    /* products of what is made of two identities */
    size_t        seed_count, queue_count, met_count;
    /* Arrays that entries are picked from. */
    const struct tensor *picked[MOST_PICKED];
    size_t               picked_count;
    bool                 may_pick;
    bool                 is_broken; /* something else takes derivatives */
};

/* One place of an axis of `size` is left of `whole` in `part`. */
static bool has_one_of(const struct tensor *whole, const struct tensor *part, int64_t size)
{
    bool is_found = false;

    if (!whole || !part || whole->rank != part->rank)
        return false;
    for (int8_t i = 0; i < whole->rank; i++)
        is_found |= whole->dims[i] == size && part->dims[i] == 1;
    return is_found;
}

static bool is_picked_from(const struct traces *traces, const struct tensor *whole)
{
    for (size_t i = 0; i < traces->picked_count; i++)
        if (same_dims(traces->picked[i], whole))
            return true;
    return false;
}

/* Takes entries or a row out of derivatives, and nothing else. */
static bool picks(struct traces *traces, uint32_t from, uint32_t op, int64_t size)
{
    const struct waste  *waste = traces->waste;
    const struct tensor *whole = compiled_result(waste->compiled, from);

    if (!traces->may_pick || !waste_is(waste, op, "slice|dynamic-slice") ||
        !has_one_of(whole, compiled_result(waste->compiled, op), size))
        return false;
    if (is_picked_from(traces, whole))
        return true;
    if (traces->picked_count == MOST_PICKED)
        return false;
    traces->picked[traces->picked_count++] = whole;
    return true;
}

/* The gradient of what was picked: zeros around it. */
static bool puts_back(const struct traces *traces, uint32_t op, int64_t size)
{
    const struct waste *waste = traces->waste;
    struct op_ids       producers = op_graph_producers(waste->graph, op);

    return traces->picked_count && waste_is(waste, op, "pad") &&
           compiled_result(waste->compiled, op) &&
           is_picked_from(traces, compiled_result(waste->compiled, op)) && producers.count &&
           has_one_of(compiled_result(waste->compiled, op),
                      compiled_result(waste->compiled, producers.ids[0]), size);
}

/* What becomes of the identities in its operands. */
static uint64_t seeds_of(struct traces *traces, uint32_t op, int64_t size)
{
    struct waste    *waste = traces->waste;
    struct op_ids    producers = op_graph_producers(waste->graph, op);
    uint32_t         root = waste->compiled->root[op], from = NO_ID;
    uint64_t         all = 0, common = 0;
    size_t           count = 0, thin = 0;
    enum linear_role role;

    if (root != NO_ID)
        return traces->seeds[root];
    for (size_t i = 0; i < producers.count; i++) {
        uint64_t seeds = traces->seeds[producers.ids[i]];

        thin += !seeds && linear_is_thin(waste, producers.ids[i]);
        if (!seeds)
            continue;
        common |= all & seeds;
        all |= seeds;
        count++;
        from = producers.ids[i];
    }
    if (!all || picks(traces, from, op, size))
        return 0;
    role = linear_role(waste, from, op);
    if (count > 1 && (role == LINEAR_PRODUCT || waste_is(waste, op, "multiply|select"))) {
        traces->is_broken |= common != 0; /* squares of derivatives need all of them */
        traces->met[traces->met_count++] = op;
        return 0;
    }
    if (role == LINEAR_SUM) /* of derivatives alone */
        traces->is_broken |= count + thin < producers.count;
    else if (role == LINEAR_NOT)
        traces->is_broken |= !waste_is(waste, op, "multiply|divide|select|broadcast|reduce-window");
    return all;
}

static bool is_result(const struct waste *waste, uint32_t op)
{
    return !op_graph_consumers(waste->graph, op).count || waste_is(waste, op, "tuple");
}

/* Looks at each instruction behind those that it takes from. */
static void walk(struct traces *traces, int64_t size)
{
    const struct waste *waste = traces->waste;

    for (size_t at = 0; at < traces->queue_count && !traces->is_broken; at++) {
        uint32_t      op = traces->queue[at];
        struct op_ids consumers = op_graph_consumers(waste->graph, op);

        if ((linear_identity(waste, op) == size || puts_back(traces, op, size)) &&
            traces->seed_count < MOST_SEEDS)
            traces->seeds[op] = (uint64_t)1 << traces->seed_count++;
        else
            traces->seeds[op] = seeds_of(traces, op, size);
        traces->is_broken |= traces->seeds[op] && is_result(waste, op);
        for (size_t i = 0; i < consumers.count; i++)
            if (!--traces->missed[consumers.ids[i]])
                traces->queue[traces->queue_count++] = consumers.ids[i];
    }
}

/* Whether only sums of a diagonal, or entries, are taken of what is made of the identities. */
static bool look(struct traces *traces, uint32_t first, int64_t size)
{
    const struct waste *waste = traces->waste;

    traces->queue_count = traces->met_count = traces->seed_count = traces->picked_count = 0;
    traces->is_broken = false;
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        traces->seeds[op] = 0;
        traces->missed[op] = (uint32_t)op_graph_producers(waste->graph, op).count;
        if (!traces->missed[op] &&
            waste->profile->ops.items[op].program == waste->profile->ops.items[first].program)
            traces->queue[traces->queue_count++] = op;
    }
    walk(traces, size);
    return !traces->is_broken && (traces->met_count || traces->picked_count);
}

static void mark_jacobian(struct traces *traces, int64_t size)
{
    const struct waste *waste = traces->waste;
    double              excess = 1 - VECTORS / (double)size;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (traces->seeds[op])
            waste_mark(traces->waste, op, excess);
    for (size_t i = 0; i < traces->met_count; i++)
        waste_mark(traces->waste, traces->met[i], excess);
}

/* Whether an instruction is of a gradient that is itself differentiated forwards: its scope has a
 * transpose inside of a jvp that is not that of the transpose. */
static bool is_way_back(const struct profile *profile, uint32_t op)
{
    const struct str back = STR("transpose(jvp("), forward = STR("jvp(");
    struct str       left = profile_str(profile, profile->ops.items[op].origin);
    bool             is_forward = false;

    while (left.len) {
        bool is_back = str_starts(left, back);

        if (is_back && is_forward)
            return true;
        is_forward |= str_starts(left, forward);
        left = str_slice(left, is_back ? back.len : 1, left.len);
    }
    return false;
}

static bool is_forward(const struct profile *profile, uint32_t op)
{
    struct str origin = profile_str(profile, profile->ops.items[op].origin);

    return origin.len > 0 && !str_contains(origin, STR("transpose("));
}

/* Of derivatives forwards of a gradient, both of what it is made of and of its way back. */
static void mark_hessian(struct traces *traces, uint32_t first)
{
    const struct waste   *waste = traces->waste;
    const struct profile *profile = waste->profile;
    bool                  goes_forward = false, comes_back = false;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        goes_forward |= traces->seeds[op] && is_forward(profile, op);
        comes_back |= traces->seeds[op] && is_way_back(profile, op);
    }
    for (uint32_t op = 0; goes_forward && comes_back && op < waste->graph->vertex_count; op++)
        if (profile->ops.items[op].program == profile->ops.items[first].program &&
            is_way_back(profile, op))
            waste_mark(traces->waste, op, 1);
}

static bool find_traces(struct ledger *ledger, const struct detector *self, bool of_gradients)
{
    struct waste  waste;
    struct traces traces = { .waste = &waste, .may_pick = of_gradients };
    size_t        count = ledger->study->profile->ops.count + 1;
    uint32_t      last_program = NO_ID;
    int64_t       last_size = 0;

    traces.seeds = arena_new_array(ledger->scratch, uint64_t, count);
    traces.missed = arena_new_array(ledger->scratch, uint32_t, count);
    traces.queue = arena_new_array(ledger->scratch, uint32_t, count);
    traces.met = arena_new_array(ledger->scratch, uint32_t, count);
    if (!traces.seeds || !traces.missed || !traces.queue || !traces.met ||
        !waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        uint32_t program = waste.profile->ops.items[op].program;
        int64_t  size = linear_identity(&waste, op);

        if ((of_gradients ? size < FEWEST || size >= SMALLEST : size < SMALLEST) ||
            (program == last_program && size == last_size))
            continue;
        last_program = program, last_size = size;
        if (!look(&traces, op, size))
            continue;
        if (of_gradients)
            mark_hessian(&traces, op);
        else
            mark_jacobian(&traces, size);
    }
    return !waste.graph ||
           waste_claim(
               &waste, self, LEAST_SHARE,
               of_gradients
                   ? "a whole matrix of second derivatives, for its diagonal or entries of it"
                   : "a derivative for each unit vector, for the diagonal alone");
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    return find_traces(ledger, self, false);
}

static bool find_hessian(struct ledger *ledger, const struct detector *self)
{
    return find_traces(ledger, self, true);
}

const struct detector detector_traced_jacobian = { "traced-jacobian", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                   find };
const struct detector detector_traced_hessian = { "traced-hessian", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find_hessian };
